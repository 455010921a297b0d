"""The example sentences that ship with the product."""

from core.resources import resource_path


def example_sentences() -> tuple[str, ...]:
    """The sentences of `resources/examples.txt`; empty if the file is missing."""
    try:
        lines = resource_path("examples.txt").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
