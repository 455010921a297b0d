"""Widgets that show one translation: its words, the grid of heads, and one head in a large map."""
