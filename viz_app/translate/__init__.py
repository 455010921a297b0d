"""The Translate page: what is its own alone."""
