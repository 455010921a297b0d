"""Experiments as files: saving, opening, and restoring at the next start."""
