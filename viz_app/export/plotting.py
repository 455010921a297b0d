"""Importing matplotlib from one thread at a time.

Its modules import each other in circles. When two threads enter such a circle at different places, Python hands one of
them a half-made module rather than let both wait for ever. So the first comes in alone, and the others wait.
"""

import threading

_importing = threading.Lock()


def import_matplotlib() -> None:
    """Imports matplotlib for the charts, without its Qt part. Call this before any other import of matplotlib."""
    with _importing:
        import matplotlib.backends.backend_agg
        import matplotlib.figure  # noqa: F401
