"""JavaScript modules joined to one classic script. No torch."""

import re
from collections.abc import Iterable
from pathlib import Path

_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_COMMENT = re.compile(r"^ */\*\*(?:(?!\*/).)*\*/\n", re.MULTILINE | re.DOTALL)
_EXPORT = re.compile("^export ", re.MULTILINE)


def joined_script(modules: Iterable[Path], names: Iterable[str]) -> str:
    """An expression whose value is an object with some exported names.

    A page opened from disk may not import modules, nor start a worker from a file. So modules are
    joined to one classic script, which a page writes into an element or a Blob for a worker, and
    which leaves no name behind. Doc comments are left out.

    Args:
        modules: their files, each after those that it imports.
        names: what the object holds.
    """
    body = "\n".join(
        _IMPORT.sub("", _COMMENT.sub("", path.read_text(encoding="utf-8"))) for path in modules
    )
    return f'(() => {{\n"use strict";\n{_EXPORT.sub("", body)}\nreturn {{ {", ".join(names)} }};\n}})()'
