"""Widgets that show one translation: its words, the grid of heads, one head large, the products behind a weight."""
