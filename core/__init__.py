"""Augenmerk's engine: text, corpora, the Transformer, training, translation, evaluation.

Packages import one way only, in the order of the table in `docs/architecture.md`; nothing here knows a screen.
This module imports nothing, so `import augenmerk` is instant and the window appears before torch is loaded.
"""

__version__ = "0.1.0"
