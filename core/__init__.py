"""Augenmerk's engine: text, the Transformer, translations with their maps, measures.

`extensions` has the rest.

Packages import one way only, in the order of the diagram in `docs/architecture.md`; nothing here
knows a screen. This module imports nothing, so `import augenmerk` is instant and the window appears
before torch is loaded.
"""

__version__ = "0.1.0"
