"""Sentences from standard input, one per line, with the notes on their results.

Results come in order, one by one.
"""

import argparse
import codecs
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, TextIO

from ..counting import display_text
from ..errors import (
    AnalysisError,
    AugenmerkError,
    ConfigError,
    CorpusError,
    ExperimentError,
    TextError,
)
from ..maps.left_out import left_out_note, left_out_words_of
from ..plain_text import MAX_LINE_BYTES, EncodingError, decode_text
from ..process import return_free_memory
from ..quantities import counted
from ..translation.experiment import Experiment
from .command import refuse, tell

if TYPE_CHECKING:
    from ..translation.compilation import CompiledExperiment
    from ..translation.result import Translation, Word
    from ..translation.translator import Translator

STANDARD_INPUT = "-"
NUM_TOGETHER = 64
"""Number of lines prepared before the first of them is translated."""
_CHUNK_BYTES = 65_536
_MAX_LISTED = 20
_CUT_CHARACTER = re.compile("[\xc0-\xff][\x80-\xbf]{0,3}$")
"""The last letter of a text whose bytes are characters of Latin-1, if it has several bytes."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of one line: either a translation or an error.

    Attributes:
        number: of the line, counted from 1.
        text: the line.
        translation: the result; None for a refused line.
        error: the reason for refusing it.
        left_out: source words that were probably left out, see `left_out_words`.
    """

    number: int
    text: str
    translation: "Translation | None"
    error: AugenmerkError | None
    left_out: "tuple[Word, ...]" = ()

    @property
    def is_empty(self) -> bool:
        """True for white space only."""
        return not self.text.strip()

    @property
    def refusal(self) -> dict[str, str]:
        """The values of a refused line as JSON, which counts from 0."""
        return {"source": self.text, "error": str(self.error)}


@dataclass
class Refusals:
    """Counts refused lines, to report them at the end.

    Attributes:
        ignore_empty: whether empty lines are accepted.
        num_lines: number of lines so far.
        num_empty: number of empty lines among them.
        numbers: the numbers of refused lines, counted from 1.
    """

    ignore_empty: bool = False
    num_lines: int = 0
    num_empty: int = 0
    numbers: list[int] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Count one more line."""
        self.num_lines += 1
        self.num_empty += outcome.is_empty
        if outcome.error is not None and not (self.ignore_empty and outcome.is_empty):
            self.numbers.append(outcome.number)

    def exit_status(self) -> int:
        """0; or 2, after a message on standard error, if any line was refused."""
        if not self.numbers:
            return 0
        listed = ", ".join(map(str, self.numbers[:_MAX_LISTED])) + (
            " …" if len(self.numbers) > _MAX_LISTED else ""
        )
        verb = "was" if len(self.numbers) == 1 else "were"
        return refuse(
            f"{len(self.numbers):,} of {counted(self.num_lines, 'line')} {verb} refused (number "
            f"{listed}). See the message of each; the other lines are done."
        )


def arriving_lines(stream: TextIO) -> Iterator[list[str]]:
    """The lines of a stream, in the groups in which they arrive.

    So a slow writer gets an answer to each line.

    Lines end with LF, CR LF or CR. A leading byte-order mark is dropped. The stream is read as
    UTF-8, like a file, whatever its own encoding.

    Raises:
        CorpusError: a line is not UTF-8. The lines before it have been given.
    """
    rest = ""
    number = 1
    for text in _arriving_bytes(stream):
        first, *others = text.split("\n")
        rest += first
        if len(rest) > MAX_LINE_BYTES:  # such a line is refused, so the rest of it is not kept
            rest = _CUT_CHARACTER.sub("", rest[:MAX_LINE_BYTES])
        if others:
            lines = [rest, *others[:-1]]
            yield from _decoded(lines, number)
            number += len(lines)
            rest = others[-1]
    if rest:
        yield from _decoded([rest], number)


def _arriving_bytes(stream: TextIO) -> Iterator[str]:
    """The bytes of a stream as characters of Latin-1, one for each, with LF at the end of lines."""
    buffer = getattr(stream, "buffer", None)
    if buffer is None:  # text that has already been read
        buffer = io.BytesIO(stream.read().encode("utf-8", "surrogatepass"))
    decoder = io.IncrementalNewlineDecoder(
        codecs.getincrementaldecoder("latin-1")(), translate=True
    )
    while data := buffer.read1(_CHUNK_BYTES):
        yield decoder.decode(data)
    yield decoder.decode(b"", final=True)


def _decoded(lines: Sequence[str], first_number: int) -> Iterator[list[str]]:
    """These lines of `_arriving_bytes` as text, in one group.

    Raises `CorpusError` after those before a wrong line.
    """
    texts: list[str] = []
    for number, line in enumerate(lines, start=first_number):
        try:
            text = decode_text(line.encode("latin-1"), first_line=number)
        except EncodingError as error:
            if texts:
                yield texts
            raise CorpusError(
                f"Standard input cannot be read: {error}. Convert it to UTF-8, for example with "
                "iconv."
            ) from error
        texts.append(text.removeprefix("\ufeff") if number == 1 else text)
    yield texts


def read_all_lines(text: str) -> list[str]:
    """`text`, or for “-” the lines of standard input, at least one, without empty ones at the end.

    Raises:
        CorpusError: standard input is not UTF-8.
    """
    if text != STANDARD_INPUT:
        return [text]
    lines = [line for lines in arriving_lines(sys.stdin) for line in lines]
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    return lines or [""]


def options_in_use(options: argparse.Namespace, *names: str) -> str:
    """The names of the options in use, of these."""
    return " and ".join(f"--{name}" for name in names if getattr(options, name) is not None)


def read_one_line(text: str, options: str) -> str:
    """The only line of `text`, as these options require.

    Raises `ConfigError` if there are several.
    """
    lines = read_all_lines(text)
    while len(lines) > 1 and not lines[0].strip():
        lines.pop(0)
    if len(lines) > 1:
        raise ConfigError(
            f"Standard input has {len(lines):,} lines, but {options} can only be used with one "
            "sentence. Pass one line, or omit the option."
        )
    return lines[0]


def print_note(note: str) -> None:
    """Print a note on a result to standard error, counted from 1."""
    tell(f"note: {display_text(note)}")


def print_notes(
    translations: "Iterable[Translation]", where: str = "", *, left_out: "Iterable[Word]" = ()
) -> None:
    """Print all notes on these translations, each once.

    Args:
        translations: the notes are theirs.
        where: put before each note.
        left_out: source words that were probably left out, see `left_out_words`.
    """
    notes = [note for translation in translations for note in translation.all_notes]
    for note in dict.fromkeys((*notes, *(left_out_note(word.text) for word in left_out))):
        print_note(f"{where}{display_text(note)}")


@contextmanager
def show_progress(
    unit: str, num_done: int = 0, *, is_hidden: bool = False
) -> Iterator[Callable[[int, int | None], None]]:
    """A progress bar with the rate, on standard error if that is a terminal.

    `num_done` are done already. `is_hidden` is for results in the same terminal, which it would get
    in the way of. The function takes how much is done, and the total, or None if that is unknown.
    """
    from tqdm import tqdm

    with tqdm(unit=unit, initial=num_done, disable=is_hidden or None, leave=False) as bar:

        def show(done: int, total: int | None) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield show


def print_json_lines(
    translator: "Translator",
    arriving: Iterable[list[str]],
    request: Experiment,
    as_json: "Callable[[int, Translation, tuple[Word, ...]], str]",
    *,
    earlier: Sequence[str] = (),
    record: Callable[[str], None] = lambda line: None,
) -> int:
    """Print a line of JSON for each line as soon as it is done, and return the exit status.

    See `run_lines`.

    Args:
        translator, arriving, request, earlier: see `run_lines`.
        as_json: the JSON of the translation of a line with this number, and these words left out.
            It may refuse the line, too.
        record: called with each line of JSON before it is printed.
    """
    refusals = Refusals()
    for outcome in run_lines(translator, arriving, request, earlier=earlier):
        text = ""
        if outcome.translation is not None:
            try:
                text = as_json(outcome.number, outcome.translation, outcome.left_out)
            # an option does not fit this sentence
            except (AnalysisError, ExperimentError, TextError) as error:
                outcome = replace(outcome, translation=None, error=error)
        refusals.add(outcome)
        text = text or json.dumps(outcome.refusal, ensure_ascii=False)
        record(text)
        print(text, flush=True)
    return refusals.exit_status()


def run_lines(
    translator: "Translator",
    arriving: Iterable[list[str]],
    request: Experiment,
    *,
    earlier: Sequence[str] = (),
) -> "Iterator[Outcome]":
    """The outcome of each line, in order, with maps. Lines that arrive together are one batch.

    Args:
        translator: the model.
        arriving: groups of lines that need not wait for each other.
        request: the experiment for each line; its own text is ignored.
        earlier: lines at the beginning that an earlier run has done. They are left out, and the
            others are computed in the same batches as in one run.

    Raises:
        ExperimentError, AnalysisError: the model does not have the head or token, for any line.
        ConfigError: the lines do not begin with the earlier ones.
    """
    translator.check(request)
    num_done, number = len(earlier), 0
    with show_progress(" sentences", num_done, is_hidden=sys.stdout.isatty()) as show:
        for lines in arriving:
            _check_same(earlier[number : number + len(lines)], lines, number)
            for first in range(0, len(lines), NUM_TOGETHER):
                group = lines[first : first + NUM_TOGETHER]
                if number + len(group) <= num_done:
                    number += len(group)
                    continue
                for outcome in _outcomes_of(translator, request, group, number + 1):
                    number = outcome.number
                    if number > num_done:
                        yield outcome
                        show(number, None)
                if len(group) == NUM_TOGETHER:
                    return_free_memory()  # else 10,000 sentences take a fifth more than the first
    _check_same(earlier[number:], [], number)


def _outcomes_of(
    translator: "Translator", request: Experiment, lines: Sequence[str], first_number: int
) -> "Iterator[Outcome]":
    """The outcomes of one batch."""
    compiled = [_compiled(translator, replace(request, source_text=line)) for line in lines]
    fitting = [entry for entry in compiled if not isinstance(entry, AugenmerkError)]
    translations = list(translator.run_many(fitting))
    results = zip(translations, left_out_words_of(translator, translations), strict=True)
    for number, (line, entry) in enumerate(zip(lines, compiled, strict=True), first_number):
        if isinstance(entry, TextError | ExperimentError):
            yield Outcome(number, line, None, entry)
        else:
            translation, words = next(results)
            yield Outcome(number, line, translation, None, words)


def _check_same(earlier: Sequence[str], lines: Sequence[str], first: int) -> None:
    """Raises `ConfigError` if the lines after `first` do not begin with the earlier ones."""
    for number, (old, new) in enumerate(zip_longest(earlier, lines[: len(earlier)]), first + 1):
        if old != new:
            problem = "is missing" if new is None else f"is “{new[:60]}”"
            raise ConfigError(
                f"Line {number:,} {problem}, but was “{old[:60]}” in the run to be continued. Pass "
                "the same input, or choose an empty or new folder for another one."
            )


def _compiled(
    translator: "Translator", experiment: Experiment
) -> "CompiledExperiment | TextError | ExperimentError":
    try:
        return translator.compile(experiment)
    except (TextError, ExperimentError) as error:
        return error
