"""Experiments as files: saving, opening, and what is kept until the next start."""
