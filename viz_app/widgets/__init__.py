"""Widgets that draw state and hold none."""
