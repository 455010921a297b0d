"""The terms of the interface with their explanations, read from
`resources/learn/LANGUAGE/glossary.md`. No Qt.

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
        text: its meaning.
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
            raise GlossaryError(
                f"The entry {heading!r} is incomplete. Write a term and its meaning."
            )
        entries.append(Entry(terms, " ".join(sentences), fields["formula"], fields["learn"]))
    return tuple(entries)


@cache
def glossary() -> tuple[Entry, ...]:
    """The entries that ship; none if the file is missing."""
    try:
        return parse_glossary(resource_path("learn/en/glossary.md").read_text(encoding="utf-8"))
    except OSError:
        return ()
