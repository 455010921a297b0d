"""What the tabs of the laboratory know, without Qt: tested without a window."""
