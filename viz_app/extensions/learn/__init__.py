"""The Learn page: chapters of text next to live figures, about the reader's own sentence."""
