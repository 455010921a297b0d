"""What the pages know, without Qt: tested without a window."""
