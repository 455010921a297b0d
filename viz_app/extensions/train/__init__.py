"""The Train page: choose a run, start it, watch it learn, stop and resume it."""
