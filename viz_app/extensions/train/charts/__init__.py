"""The charts of a run, and the runs on the disk that they compare."""
