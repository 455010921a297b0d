"""The commands that need no window, each a thin shell over the rooms below."""
