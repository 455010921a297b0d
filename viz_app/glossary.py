"""The terms of the interface, each explained in a sentence or two. No Qt.

They are read from `resources/learn/LANGUAGE/glossary.md`.

An entry in that file:

    ## query, queries
    The position that looks.
    formula: q·k
    learn: weight
"""

import re
from dataclasses import dataclass
from functools import cache

from augenmerk.core.errors import AugenmerkError
from augenmerk.core.resources import resource_path


class GlossaryError(AugenmerkError):
    """The glossary is not in the form described above."""


@dataclass(frozen=True)
class Entry:
    """One term.

    Attributes:
        terms: the term, then its other forms.
        text: what it means.
        formula: one line; empty if none helps.
        chapter: of the Learn page, by its name; empty if none shows it.
    """

    terms: tuple[str, ...]
    text: str
    formula: str = ""
    chapter: str = ""

    @property
    def title(self) -> str:
        """The term itself."""
        return self.terms[0]


def parse_glossary(text: str) -> tuple[Entry, ...]:
    """The entries of a glossary. Raises `GlossaryError`."""
    entries = []
    for block in re.split(r"^## ", text, flags=re.M)[1:]:
        heading, _, body = block.partition("\n")
        terms = tuple(term.strip() for term in heading.split(",") if term.strip())
        fields = {"formula": "", "learn": ""}
        sentences = []
        for line in filter(None, (line.strip() for line in body.splitlines())):
            name, colon, value = line.partition(": ")
            if colon and name in fields:
                fields[name] = value
            else:
                sentences.append(line)
        if not terms or not sentences:
            raise GlossaryError(f"The entry {heading!r} is incomplete. Write a term and its meaning.")
        entries.append(Entry(terms, " ".join(sentences), fields["formula"], fields["learn"]))
    return tuple(entries)


@cache
def glossary(language: str = "en") -> tuple[Entry, ...]:
    """The entries that ship; none if the file is missing."""
    try:
        return parse_glossary((resource_path("learn") / language / "glossary.md").read_text(encoding="utf-8"))
    except OSError:
        return ()


def entries_in(text: str) -> list[Entry]:
    """The entries of the terms in a text, in their order there, each once; of terms within terms, the longer."""
    found: list[Entry] = []
    for match in _pattern().finditer(text):
        entry = _by_term()[match[0].lower()]
        if entry not in found:
            found.append(entry)
    return found


@cache
def _by_term() -> dict[str, Entry]:
    return {term.lower(): entry for entry in glossary() for term in entry.terms}


@cache
def _pattern() -> re.Pattern[str]:
    longest_first = sorted(_by_term(), key=len, reverse=True)
    return re.compile("|".join(_whole(term) for term in longest_first) or "(?!)", re.IGNORECASE)


def _whole(term: str) -> str:
    """The term as a word of its own."""
    before = r"(?<!\w)" if term[0].isalnum() else ""
    after = r"(?!\w)" if term[-1].isalnum() else ""
    return before + re.escape(term) + after
