"""What a model is made of: its settings, and the size of its parts."""
