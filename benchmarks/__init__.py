"""Benchmarks, each timed against a reference in the same run. `make bench` prints the table."""
