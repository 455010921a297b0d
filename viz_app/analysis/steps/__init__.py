"""Decoding step by step."""
