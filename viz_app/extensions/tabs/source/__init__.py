"""The share of the source in each output word, and the effect of each source word."""
