"""Example sentences: the gallery of the bundled model, and sequences for the copy task. No Qt."""

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from augenmerk.core.errors import AugenmerkError
from augenmerk.core.model.heads import ATTENTION_KINDS, SIDES, Head, Network
from augenmerk.core.resources import resource_path
from augenmerk.core.translation.experiment import Experiment, FeedForwardScaled


class GalleryError(AugenmerkError):
    """`resources/gallery.toml` is not in its form."""


@dataclass(frozen=True)
class Example:
    """A sentence that shows something in the bundled model.

    Attributes:
        group: its topic.
        text: the sentence.
        see: a hint in one line; empty if only `in_app` has one.
        head: the head to look at.
        target: the word of the translation whose cell is pinned.
        source: the word of the sentence whose cell is pinned.
        is_failure: whether the translation is wrong.
        off: a feed-forward network that is switched off, or None.
        in_app: a hint at parts of the app that a page lacks; may be empty.
    """

    group: str
    text: str
    head: Head
    target: str
    source: str
    see: str = ""
    is_failure: bool = False
    off: Network | None = None
    in_app: str = ""

    @property
    def hint(self) -> str:
        """The hint as the app shows it."""
        return " ".join(filter(None, (self.see, self.in_app)))

    @property
    def experiment(self) -> Experiment:
        """The sentence, with the network switched off."""
        return Experiment(
            self.text, interventions=() if self.off is None else (FeedForwardScaled(self.off),)
        )


def gallery() -> tuple[Example, ...]:
    """The examples of `resources/gallery.toml`; none if the file is missing.

    Raises:
        GalleryError: the file is not in its form.
    """
    path = resource_path("gallery.toml")
    try:
        return _read_gallery(path, path.stat().st_mtime_ns)
    except OSError:
        return ()


@lru_cache(maxsize=1)
def _read_gallery(path: Path, _: int) -> tuple[Example, ...]:
    """The examples of a file; cached until the file changes, as each sentence reads them."""
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))["example"]
        return tuple(
            Example(**{**entry, "head": _head(entry["head"]), "off": _network(entry.get("off"))})
            for entry in entries
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise GalleryError(f"{path}: it cannot be read: {error}. Restore the file.") from error


def _head(name: str) -> Head:
    kind, layer, head = name.split(":")
    return Head(
        next(known for known in ATTENTION_KINDS if known == kind), int(layer) - 1, int(head) - 1
    )


def _network(name: str | None) -> Network | None:
    if name is None:
        return None
    side, layer = name.split(":")
    return Network(next(known for known in SIDES if known == side), int(layer) - 1)


def copy_examples(num_symbols: int) -> tuple[str, ...]:
    """Sequences of the symbols 1 to `num_symbols` for the copy task; each begins with 1."""
    patterns = (range(2, 11), (9, 2, 8, 3, 7, 4, 6, 5, 10), (7, 7, 3, 3, 5, 5, 2, 2, 4))
    return tuple(
        " ".join(["1", *(str((symbol - 1) % num_symbols + 1) for symbol in row)])
        for row in patterns
    )
