"""What must be fast, measured against another way of doing it, in one run. `make bench` prints the table."""
