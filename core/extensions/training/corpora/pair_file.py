"""Lines that hold a sentence and its translation: two columns separated by a tab, or JSON lines."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ....errors import CorpusError
from ....quantities import counted
from ....strict_json import Field, JsonError, parse
from ....text.languages import language_code, language_name, two_letter_code

SUFFIXES = (".tsv", ".jsonl", ".json")
FORMS = 'two columns separated by a tab (TSV), or as JSON lines such as {"de": "…", "en": "…"}, in UTF-8'
_NESTED = "translation"
"""The field that holds both sentences in data sets of Hugging Face."""
_MAX_DEPTH = 16
_MAX_FIELDS = 1_000
_LINE_BREAKS = re.compile(r"[\r\n]+")


def is_of_pairs(lines: Sequence[str]) -> bool:
    """Whether the lines are pairs rather than sentences, by the first that is not empty."""
    first = _first(lines)
    return first.startswith("{") or "\t" in first


def numbered_pairs(
    path: Path, lines: Sequence[str], languages: tuple[str, str]
) -> Iterator[tuple[int, str, str]]:
    """The number of each pair's line, the sentence and its translation; empty ones too.

    The first column is the source, unless a heading names the languages. Fields of JSON lines are
    named after the languages, and may be in a field “translation”, as in data sets of Hugging Face.

    Args:
        path: of the file, for messages.
        lines: of the file.
        languages: the codes of source and target.

    Raises:
        CorpusError: a line is something else, or both languages are in the same column or field.
    """
    if not is_of_pairs(lines):
        raise CorpusError(
            f"{path} has no tab in its first line: it is CSV, or text in one language. Save the "
            f"pairs as {FORMS}; or write each language to its own file, such as "
            f"train.{languages[0]} and train.{languages[1]} in a folder."
        )
    split = _split_json if _first(lines).startswith("{") else _split_columns
    return split(path, lines, languages)


def _first(lines: Sequence[str]) -> str:
    """The first line that is not empty, without spaces at its start."""
    return next(filter(str.strip, lines), "").lstrip(" ")


def _split_columns(
    path: Path, lines: Sequence[str], languages: tuple[str, str]
) -> Iterator[tuple[int, str, str]]:
    names = lines[0].split("\t")
    codes = list(map(_code, languages))
    heading = list(map(_code, names))
    has_heading = set(codes) <= set(heading)
    if not has_heading and all(name.islower() and language_name(name) != name for name in names):
        raise CorpusError(
            f"The columns of {path} are {', '.join(names)}, not {' and '.join(languages)}. "
            "Choose these languages, or correct its first line."
        )
    num_columns = len(heading) if has_heading else 2
    source, target = map(heading.index, codes) if has_heading else (0, 1)
    if source == target:
        raise _same_side(path, f"column “{names[source]}”")
    for number, line in enumerate(lines, start=1):
        cells = line.split("\t") if line.strip() else [""] * num_columns
        if len(cells) != num_columns:
            raise CorpusError(
                f"{path}, line {number:,} has {counted(len(cells), 'column')} instead of "
                f"{num_columns}. Write a sentence, a tab and its translation, or a first line "
                f"that names the columns, among them {' and '.join(languages)}."
            )
        if number > 1 or not has_heading:
            yield number, cells[source], cells[target]


def _code(name: str) -> str:
    """The language that a column or field is named after: by code or English name."""
    return two_letter_code(language_code(name) or name)


def _split_json(
    path: Path, lines: Sequence[str], languages: tuple[str, str]
) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            fields = parse(line.encode("utf-8"), max_depth=_MAX_DEPTH).any_members(_MAX_FIELDS)
            if _NESTED in fields:
                fields = fields[_NESTED].any_members(_MAX_FIELDS)
            source, target = (_name_in(fields, language) for language in languages)
            if source == target:
                raise _same_side(path, f"field “{source}”")
            sentence, translation = (
                _LINE_BREAKS.sub(" ", fields[name].text()) for name in (source, target)
            )
        except JsonError as error:
            raise CorpusError(
                f"{path}, line {number:,}: {error} Write an object per line, with the fields "
                f"{' and '.join(languages)}."
            ) from error
        yield number, sentence, translation


def _same_side(path: Path, side: str) -> CorpusError:
    return CorpusError(
        f"The {side} of {path} would be both the source and the target. Choose two different "
        "languages."
    )


def _name_in(fields: dict[str, Field], language: str) -> str:
    """The name of the field in this language. Raises `JsonError`."""
    names = [name for name in fields if name == language or _code(name) == _code(language)]
    if not names:
        raise JsonError(f"There is no field “{language}” among {', '.join(fields) or 'none'}.")
    return names[0]
