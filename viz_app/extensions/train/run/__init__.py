"""The form of a new run, the run itself, and its controls."""
