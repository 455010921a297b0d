"""Augenmerk's windows, its figures, and the console script.

Imports nothing, so that starting is instant.
"""
