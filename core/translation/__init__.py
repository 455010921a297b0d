"""From an experiment to a translation with its maps: by search or from a given one. Its files."""
