"""The Transformer (Vaswani et al. 2017), with every choice of the published systems as an option.

Shape legend, used in all of this package: B batch, S source length, T target length, Q query
length, M key length, D width, H heads, K head width, V vocabulary, L layers. Masks are boolean,
True where attention is allowed.
"""
