"""The share of the source in each output word."""
