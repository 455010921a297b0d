"""Explains the pinned weight: query times key, and what both are made of."""
