"""Chapters as text: Markdown with directives, read from `resources/learn/LANGUAGE/NN-name.md`.

No Qt.

The English files determine the chapters and their order; in other languages a chapter has the same
name.

A chapter consists of its title, its claim, and then paragraphs and directives, in this form:

    # One weight, end to end
    > A head compares one query with every key.

    When it predicts **{query}**, it looks at **{key}**.

    ::: parts "cross-attention"
    ::: begin head=clearest pin=strongest
    ::: figure one-weight
    ::: try "Make the softmax softer" temperature=4

    ::: predict largest-weight temperature=4
    The scores are divided by 4. What happens to the largest weight?
    - rises: It rises
    - falls: It falls
    :::

    ::: textbook "Attention in one formula"
    **softmax(QKᵀ) V**
    :::

Words in braces are values of the displayed experiment (`values`). `parts` names the modules of the
model that the chapter is about (`core.extensions.info.size`), or `all`. `begin` lists the actions
on entering the chapter, `try` those of a button (`actions`). `figure` names a live figure
(`figures.registry`), `predict` a question whose answer is computed (`checks`). A `textbook` text is
folded until the reader opens it.
"""

import logging
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from augenmerk.core.errors import AugenmerkError
from augenmerk.core.extensions.info.size import MODULES, Module
from augenmerk.core.resources import resource_path

LANGUAGE = "en"
CHAPTER_FILES = "[0-9][0-9]-*.md"
MARK = ":::"
logger = logging.getLogger(__name__)
VALUE = re.compile(r"\{([a-z-]+)\}")


class ChapterError(AugenmerkError):
    """A chapter's text is not in the form described above."""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of Markdown, with values in braces."""

    markdown: str

    @property
    def values(self) -> tuple[str, ...]:
        """The names of the values in it."""
        return tuple(VALUE.findall(self.markdown))

    def filled(self, values: Mapping[str, str]) -> str:
        """The Markdown with a text for each value."""
        return VALUE.sub(lambda match: values[match[1]], self.markdown)


@dataclass(frozen=True)
class Figure:
    """A live figure.

    Attributes:
        name: of the figure.
        options: by name.
    """

    name: str
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Try:
    """A button that changes the experiment.

    Attributes:
        label: on the button.
        actions: performed in this order.
    """

    label: str
    actions: Mapping[str, str]


@dataclass(frozen=True)
class Predict:
    """A question that the reader answers before looking.

    Attributes:
        check: computes the answer.
        options: by name.
        question: in Markdown, with values.
        choices: the possible answers, by the names that the check knows.
    """

    check: str
    options: Mapping[str, str]
    question: Paragraph
    choices: Mapping[str, str]


@dataclass(frozen=True)
class Textbook:
    """The same in the formulas and words of textbooks, with further reading; folded at first.

    Attributes:
        title: its subject.
        paragraphs: of the text.
    """

    title: str
    paragraphs: tuple[Paragraph, ...]


Block = Paragraph | Try | Predict | Textbook


@dataclass(frozen=True)
class Chapter:
    """One chapter.

    Attributes:
        name: of its file, without number and ending.
        title: its first line.
        claim: its second line.
        parts: of the model, which the chapter is about.
        begin: the actions on entering it.
        figures: on the right, from top to bottom.
        blocks: on the left, from top to bottom.
    """

    name: str
    title: str
    claim: Paragraph
    parts: tuple[Module, ...]
    begin: Mapping[str, str]
    figures: tuple[Figure, ...]
    blocks: tuple[Block, ...]


def chapters_folder(language: str = LANGUAGE) -> Path:
    """The folder with the texts of a language."""
    return resource_path("learn") / language


def languages() -> tuple[str, ...]:
    """The codes of the available languages, English first."""
    try:
        folders = sorted(path for path in resource_path("learn").iterdir() if path.is_dir())
    except OSError:
        return (LANGUAGE,)
    others = [
        path.name for path in folders if path.name != LANGUAGE and any(path.glob(CHAPTER_FILES))
    ]
    return (LANGUAGE, *others)


def read_chapters(language: str = LANGUAGE) -> tuple[Chapter, ...]:
    """All chapters, in the order of their files' names; empty if the texts are missing.

    Chapters without a text in this language, or with an invalid one, are in English; so are all in
    an unknown language.

    Raises:
        ChapterError: an English text is not in the form described above.
    """
    language = language if language in languages() else LANGUAGE
    return tuple(
        _in_language(path, language) for path in sorted(chapters_folder().glob(CHAPTER_FILES))
    )


def _in_language(path: Path, language: str) -> Chapter:
    """The chapter of an English file, in another language if available, even under an earlier
    number.
    """
    own = next(chapters_folder(language).glob(f"[0-9][0-9]{path.name[2:]}"), None)
    if language != LANGUAGE and own is not None:
        try:
            return read_chapter(own)
        except ChapterError as error:
            logger.info("%s It is shown in English.", error)
    return read_chapter(path)


def read_chapter(path: Path) -> Chapter:
    """One chapter. Raises `ChapterError`, which names file and line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ChapterError(f"{path}: it cannot be read: {error}. Restore the file.") from error
    return _read(path, tuple(lines))


@cache
def _read(path: Path, lines: tuple[str, ...]) -> Chapter:
    """The chapter of these lines, interpreted once: the palette names all chapters whenever it
    opens.
    """
    return _Reader(path, lines).read()


class _Reader:
    """Goes through the lines of one text."""

    def __init__(self, path: Path, lines: Sequence[str]) -> None:
        self._path, self._lines = path, lines
        self._next = 0
        self._parts: tuple[Module, ...] = ()
        self._begin: dict[str, str] = {}
        self._figures: list[Figure] = []
        self._blocks: list[Block] = []
        self._paragraphs: list[str] = []

    def read(self) -> Chapter:
        title = self._heading("# ", "a title, such as “# One weight, end to end”")
        claim = self._heading(
            "> ", "a claim, such as “> A head compares one query with every key.”"
        )
        while self._next < len(self._lines):
            line = self._take()
            if line.startswith(MARK):
                self._end_paragraphs()
                self._read_directive(line.removeprefix(MARK))
            else:
                self._paragraphs.append(line)
        self._end_paragraphs()
        name = re.sub(r"^\d+-", "", self._path.stem)
        figures, blocks = tuple(self._figures), tuple(self._blocks)
        return Chapter(name, title, Paragraph(claim), self._parts, self._begin, figures, blocks)

    def _heading(self, start: str, expected: str) -> str:
        while self._next < len(self._lines) and not self._lines[self._next].strip():
            self._next += 1
        line = self._take() if self._next < len(self._lines) else ""
        if not line.startswith(start):
            raise self._error(f"it has {line!r}", expected)
        text = line.removeprefix(start).strip()
        while (
            start == "> "
            and self._next < len(self._lines)
            and self._lines[self._next].startswith(start)
        ):
            text += " " + self._take().removeprefix(start).strip()
        return text

    def _take(self) -> str:
        self._next += 1
        return self._lines[self._next - 1]

    def _end_paragraphs(self) -> None:
        self._blocks += _paragraphs(self._paragraphs)
        self._paragraphs = []

    def _read_directive(self, text: str) -> None:
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise self._error(
                f"the directive {text.strip()!r} has {error}", "quotation marks in pairs"
            ) from error
        name, *arguments = words or [""]
        match name:
            case "parts":
                if unknown := set(arguments).difference(MODULES, ["all"]):
                    raise self._error(
                        f"there is a part {min(unknown)!r}", f"all, or of {', '.join(MODULES)}"
                    )
                self._parts = tuple(
                    part for part in MODULES if part in arguments or "all" in arguments
                )
            case "begin":
                self._begin |= self._options(arguments)
            case "figure":
                figure = self._first(arguments, "a figure")
                self._figures.append(Figure(figure, self._options(arguments[1:])))
            case "try":
                self._blocks.append(
                    Try(self._first(arguments, "a label"), self._options(arguments[1:]))
                )
            case "predict":
                self._blocks.append(
                    self._predict(self._first(arguments, "a check"), self._options(arguments[1:]))
                )
            case "textbook":
                title = self._first(arguments, "a title")
                self._blocks.append(
                    Textbook(title, _paragraphs(self._lines_inside("a textbook text")))
                )
            case _:
                raise self._error(
                    f"there is a directive {name!r}",
                    "parts, begin, figure, try, predict or textbook",
                )

    def _first(self, arguments: Sequence[str], what: str) -> str:
        if not arguments or "=" in arguments[0]:
            raise self._error(f"the directive says {' '.join(arguments)!r}", f"{what} first")
        return arguments[0]

    def _options(self, arguments: Sequence[str]) -> dict[str, str]:
        options: dict[str, str] = {}
        for argument in arguments:
            name, equals, value = argument.partition("=")
            if not name or (equals and not value) or name in options:
                raise self._error(
                    f"there is an option {argument!r}", "name or name=value, each name once"
                )
            options[name] = value
        return options

    def _lines_inside(self, what: str) -> Iterator[str]:
        """The lines up to the one that ends a directive."""
        while self._next < len(self._lines):
            if (line := self._take()).strip() == MARK:
                return
            yield line
        raise self._error(f"{what} does not end", f"a line {MARK} after it")

    def _predict(self, check: str, options: Mapping[str, str]) -> Predict:
        question: list[str] = []
        choices: dict[str, str] = {}
        for line in self._lines_inside("a question"):
            if line.startswith("- "):
                name, colon, text = line.removeprefix("- ").partition(": ")
                if not colon or name in choices:
                    raise self._error(
                        f"there is a choice {line!r}", "“- name: text”, each name once"
                    )
                choices[name] = text.strip()
            else:
                question.append(line)
        if len(choices) < 2:
            raise self._error(
                f"a question has {len(choices)} choices",
                "two or more lines such as “- rises: It rises”",
            )
        return Predict(check, options, Paragraph("\n".join(question).strip()), choices)

    def _error(self, problem: str, expected: str) -> ChapterError:
        return ChapterError(f"{self._path}, line {self._next}: {problem}. Expected: {expected}.")


def _paragraphs(lines: Iterable[str]) -> tuple[Paragraph, ...]:
    """The stretches of lines between empty ones."""
    stretches = re.split(r"\n\s*\n", "\n".join(lines))
    return tuple(Paragraph(markdown.strip()) for markdown in stretches if markdown.strip())
