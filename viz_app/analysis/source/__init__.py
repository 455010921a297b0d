"""The share of the source in each output word, and what depends on each source word."""
