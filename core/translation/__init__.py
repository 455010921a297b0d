"""From an experiment, by greedy or beam search or a given translation, to a translation with its
maps; its files.
"""
