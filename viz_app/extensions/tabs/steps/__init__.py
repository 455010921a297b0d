"""The current experiment, decoding step by decoding step."""
