"""Augenmerk's windows, its figures, and the console script. Imports nothing by itself, so that starting is instant."""
