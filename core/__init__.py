"""Augenmerk's engine: text, corpora, the Transformer, training, translation, evaluation.

Packages import one way only, in the order of the table in `docs/architecture.md`; nothing here knows a screen.
This package imports nothing by itself, so that `import augenmerk` is instant and the window can stand before torch.
"""

__version__ = "0.1.0"
