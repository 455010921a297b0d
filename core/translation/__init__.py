"""Greedy decoding with a cache, and a sentence's translation with everything the model did on the way."""
