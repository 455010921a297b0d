"""Why the model chose a word: the parts of its logit, and what it would predict after each
sublayer.
"""
