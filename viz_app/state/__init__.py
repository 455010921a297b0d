"""The state of the pages, without Qt: tested without a window."""
