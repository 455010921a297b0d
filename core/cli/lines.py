"""Sentences from standard input, a line each: results in their order, as they are done; a refused one ends nothing."""

import codecs
import io
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TextIO

from augenmerk.core.errors import AugenmerkError, ConfigError, ExperimentError, TextError
from augenmerk.core.translation.experiment import Experiment

if TYPE_CHECKING:
    from augenmerk.core.translation.compilation import CompiledExperiment
    from augenmerk.core.translation.result import Translation
    from augenmerk.core.translation.translator import Translator

STANDARD_INPUT = "-"
NUM_TOGETHER = 64
"""Lines that are prepared before the first of them is translated."""
_CHUNK_BYTES = 65_536
_MAX_LISTED = 20
REFUSED = 2
"""The exit status when lines were refused: that of any user's error."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one line: a translation or an error, never both.

    Attributes:
        number: of the line, counted from 1.
        text: the line.
        translation: the result; None for a refused line.
        error: why it was refused.
    """

    number: int
    text: str
    translation: "Translation | None"
    error: AugenmerkError | None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing but white space in the line."""
        return not self.text.strip()


@dataclass
class Refusals:
    """Which lines were refused, to be told when all are done.

    Attributes:
        ignore_empty: whether an empty line is as good as any.
        num_lines: that were seen.
        num_empty: of them that held nothing.
        numbers: of refused lines, counted from 1.
    """

    ignore_empty: bool = False
    num_lines: int = 0
    num_empty: int = 0
    numbers: list[int] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """One more line."""
        self.num_lines += 1
        self.num_empty += outcome.is_empty
        if outcome.error is not None and not (self.ignore_empty and outcome.is_empty):
            self.numbers.append(outcome.number)

    def exit_status(self) -> int:
        """0; or 2, after a message on standard error, if any line was refused."""
        if not self.numbers:
            return 0
        listed = ", ".join(map(str, self.numbers[:_MAX_LISTED])) + (" …" if len(self.numbers) > _MAX_LISTED else "")
        print(
            f"augenmerk: {len(self.numbers):,} of {self.num_lines:,} lines were refused (number {listed}); the message "
            "of each says why. The others are done.",
            file=sys.stderr,
        )
        return REFUSED


def arriving_lines(stream: TextIO) -> Iterator[list[str]]:
    """The lines of a stream, those together that have arrived: a slow writer gets an answer to each.

    Lines end with LF, CR LF or CR; a byte-order mark before the first is left out; bytes that are no text become
    replacement characters.
    """
    rest: list[str] = []
    is_first = True
    for text in _arriving_text(stream):
        if is_first and text:
            text, is_first = text.removeprefix("\ufeff"), False
        first, *others = text.split("\n")
        rest.append(first)
        if others:
            yield ["".join(rest), *others[:-1]]
            rest = [others[-1]]
    if last := "".join(rest):
        yield [last]


def _arriving_text(stream: TextIO) -> Iterator[str]:
    buffer = getattr(stream, "buffer", None)
    if buffer is None:  # text that is there already
        yield io.IncrementalNewlineDecoder(None, translate=True).decode(stream.read(), final=True)
        return
    decoder = io.IncrementalNewlineDecoder(
        codecs.getincrementaldecoder(stream.encoding or "utf-8")("replace"), translate=True
    )
    while data := buffer.read1(_CHUNK_BYTES):
        yield decoder.decode(data)
    yield decoder.decode(b"", final=True)


def read_all_lines(text: str) -> list[str]:
    """`text` alone; where it is “-”, the lines of standard input, without empty ones at the end, but at least one."""
    if text != STANDARD_INPUT:
        return [text]
    lines = [line for lines in arriving_lines(sys.stdin) for line in lines]
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    return lines or [""]


def read_one_line(text: str, options: str) -> str:
    """The same where there must be one, because these options were given. Raises `ConfigError` if there are several."""
    lines = read_all_lines(text)
    while len(lines) > 1 and not lines[0].strip():
        lines.pop(0)
    if len(lines) > 1:
        raise ConfigError(
            f"Standard input has {len(lines):,} lines, but {options} asks about one sentence. Give one line, or leave "
            "that out."
        )
    return lines[0]


def run_lines(
    translator: "Translator",
    arriving: Iterable[list[str]],
    asked: Experiment,
    *,
    need_maps: bool,
) -> "Iterator[Outcome]":
    """The outcome of each line, in their order; lines that have arrived together are translated side by side.

    Args:
        translator: of the model.
        arriving: lines, those together that need not wait for each other.
        asked: of each line; its own text is not used.
        need_maps: whether translations hold attention maps.

    Raises:
        ExperimentError, AnalysisError: the model has no such head or no such token, whatever the line.
    """
    translator.check(asked)
    number = 0
    for lines in arriving:
        for first in range(0, len(lines), NUM_TOGETHER):
            group = lines[first : first + NUM_TOGETHER]
            compiled = [_compiled(translator, replace(asked, source_text=line)) for line in group]
            results = translator.run_many(
                [each for each in compiled if not isinstance(each, TextError | ExperimentError)], need_maps=need_maps
            )
            for line, each in zip(group, compiled, strict=True):
                number += 1
                if isinstance(each, TextError | ExperimentError):
                    yield Outcome(number, line, None, each)
                else:
                    yield Outcome(number, line, next(results), None)


def _compiled(translator: "Translator", experiment: Experiment) -> "CompiledExperiment | TextError | ExperimentError":
    try:
        return translator.compile(experiment)
    except (TextError, ExperimentError) as error:
        return error
