"""Translating on a CPU faster than by calling the modules of a `Transformer`, with equal results.

`compiled` builds an immutable form of a finished model, `products` chooses the kernels of its matrix products, and
`validity` decides whether that form still computes what the model does. Shape legend: `core.model`.
"""
