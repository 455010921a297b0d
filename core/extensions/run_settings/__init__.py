"""Settings of runs for people: the named presets, dotted names such as model.width, and TOML files.

No torch.
"""
