"""Options for interventions, and the experiment they describe. Commands count from 1, Python from 0."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from augenmerk.core.cli.options import read_beam
from augenmerk.core.errors import ExperimentError
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.strict_json import MAX_DIGITS
from augenmerk.core.translation.experiment import (
    MAX_INDEX,
    AttentionRow,
    Beam,
    CausalMaskLifted,
    Experiment,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    Intervention,
    Output,
    SoftmaxTemperature,
    SourceWordRemoved,
    SourceWordReplaced,
    in_canonical_order,
)

MAX_SHOWN = 60
"""Maximum number of characters of an argument shown in a message."""

if TYPE_CHECKING:
    from augenmerk.core.text.codec import TextCodec


def add_head_scalings(parser: argparse.ArgumentParser) -> None:
    """Add `--head-off` (and `--off`, its former name) and `--scale-head`."""
    for name, text in (
        ("--head-off", "switch heads off; cross:2:5 is layer 2, head 5 of cross-attention"),
        ("--off", argparse.SUPPRESS),
    ):
        parser.add_argument(
            name,
            dest="head_off",
            nargs="+",
            action="extend",
            type=parse_head,
            default=[],
            metavar="HEAD",
            help=text,
        )
    parser.add_argument(
        "--scale-head",
        action="append",
        type=parse_head_scaled,
        default=[],
        metavar="HEAD=FACTOR",
        help="multiply the output of a head by a factor, such as cross:2:5=0.5; repeatable, like the options below",
    )


def add_interventions(parser: argparse.ArgumentParser) -> None:
    """Add every option that changes what the model does with a sentence."""
    add_head_scalings(parser)
    parser.add_argument(
        "--temperature",
        action="append",
        type=parse_temperature,
        default=[],
        metavar="HEAD=T",
        help="divide the attention scores of a head by T before the softmax, such as cross:2:5=2; above 1, weights "
        "become more even, below 1 sharper",
    )
    parser.add_argument(
        "--lift-mask",
        action="store_true",
        help="let decoder self-attention see later target tokens; only with --target",
    )
    parser.add_argument(
        "--set-row",
        action="append",
        type=parse_attention_row,
        default=[],
        metavar="HEAD:ROW=W,W,…",
        help="set one row of attention weights, such as cross:2:5:3=0,1,0. A row is a source token in the encoder, "
        "otherwise a decoding step. Give one weight per source token, including <sos> and <eos>; in the decoder, one "
        "per target token read so far, including <sos>",
    )
    parser.add_argument(
        "--force",
        action="append",
        type=parse_forced_word,
        default=[],
        metavar="STEP=WORD",
        help="force this word at a decoding step, such as 3=dog; a word of several pieces takes several steps; <eos> "
        "ends the sentence",
    )
    parser.add_argument(
        "--force-token",
        action="append",
        type=parse_forced_token,
        default=[],
        metavar="STEP=TOKEN",
        help="force a token, written as in the vocabulary",
    )
    parser.add_argument(
        "--remove-word",
        action="append",
        type=parse_word_removed,
        default=[],
        metavar="N",
        help="leave out the Nth word of the sentence",
    )
    parser.add_argument(
        "--replace-word",
        action="append",
        type=parse_word_replaced,
        default=[],
        metavar="N=TEXT",
        help="replace the Nth word, such as 2=Katze; <unk> stands for an unknown word",
    )


def read_head_scalings(options: argparse.Namespace) -> tuple[HeadScaled, ...]:
    """The values of the options of `add_head_scalings`. Raises `ExperimentError` if a head is named twice."""
    return in_canonical_order([*map(HeadScaled, options.head_off), *options.scale_head])


def read_interventions(options: argparse.Namespace, target_codec: "TextCodec") -> tuple[Intervention, ...]:
    """The values of the options of `add_interventions`. Words are forced as tokens of this vocabulary.

    Raises:
        ExperimentError: a word cannot be written with this vocabulary, or a head is named twice.
    """
    from augenmerk.core.translation.compilation import forced_word

    words = [token for step, text in options.force for token in forced_word(step, text, target_codec)]
    edits = (*options.remove_word, *options.replace_word)
    mask = (CausalMaskLifted(),) if options.lift_mask else ()
    heads = (*read_head_scalings(options), *options.temperature, *options.set_row)
    return (*edits, *heads, *mask, *words, *options.force_token)


def read_output(options: argparse.Namespace) -> Output:
    """Greedy or beam decoding, by `--beam`. Raises `ConfigError`."""
    beam, length_penalty = read_beam(options)
    return Greedy() if beam == 1 else Beam(beam, length_penalty)


def read_experiment(options: argparse.Namespace, text: str, target_codec: "TextCodec") -> Experiment:
    """The experiment that the options of `translate` describe, with `--target` as its target.

    Raises:
        ConfigError, ExperimentError: options contradict each other or do not fit the vocabulary.
    """
    output = read_output(options) if options.target is None else GivenTarget(options.target)
    return Experiment(text, output, read_interventions(options, target_codec))


def parse_head(text: str) -> Head:
    """The head named kind:layer:head, counted from 1. Raises `argparse.ArgumentTypeError`."""
    name, *places = text.split(":")
    kind = next((known for known in ATTENTION_KINDS if known == name), None)
    try:
        layer, head = map(parse_index, places)
    except ValueError:
        kind = None
    if kind is None:
        raise argparse.ArgumentTypeError(
            f"{_shown(text)} is not a head. Write kind:layer:head, such as cross:2:5, with a kind of "
            f"{', '.join(ATTENTION_KINDS)} and numbers from 1"
            + (". Put the sentence before this option." if " " in text else "")
        )
    return Head(kind, layer, head)


def parse_head_scaled(text: str) -> HeadScaled:
    """Parse HEAD=FACTOR. Raises `argparse.ArgumentTypeError`."""
    with _form(text, "a head and a factor", "cross:2:5=0.5"):
        head, factor = _two_parts(text)
        return HeadScaled(parse_head(head), _number(factor))


def parse_temperature(text: str) -> SoftmaxTemperature:
    """Parse HEAD=T. Raises `argparse.ArgumentTypeError`."""
    with _form(text, "a head and a temperature", "cross:2:5=2"):
        head, temperature = _two_parts(text)
        return SoftmaxTemperature(parse_head(head), float(temperature))


def parse_attention_row(text: str) -> AttentionRow:
    """Parse HEAD:ROW=WEIGHTS. Raises `argparse.ArgumentTypeError`."""
    with _form(text, "a head, a row and weights separated by commas", "cross:2:5:3=0,1,0"):
        place, weights = _two_parts(text)
        head, _, row = place.rpartition(":")
        if not head:
            raise ValueError
        return AttentionRow(parse_head(head), parse_index(row), tuple(map(_number, weights.split(","))))


def parse_forced_word(text: str) -> tuple[int, str]:
    """Parse STEP=WORD; the returned step counts from 0. Raises `argparse.ArgumentTypeError`."""
    with _form(text, "a step and a word", "3=dog"):
        step, word = _two_parts(text)
        return parse_index(step), word


def parse_forced_token(text: str) -> ForcedToken:
    """Parse STEP=TOKEN. Raises `argparse.ArgumentTypeError`."""
    with _form(text, "a step and a token", "3=▁dog"):
        step, token = _two_parts(text)
        return ForcedToken(parse_index(step), token)


def parse_word_removed(text: str) -> SourceWordRemoved:
    """Parse N. Raises `argparse.ArgumentTypeError`."""
    with _form(text, "the number of a word", "2"):
        return SourceWordRemoved(parse_index(text))


def parse_word_replaced(text: str) -> SourceWordReplaced:
    """Parse N=TEXT. Raises `argparse.ArgumentTypeError`."""
    with _form(text, "the number of a word and a text", "2=Katze"):
        place, replacement = _two_parts(text)
        return SourceWordReplaced(parse_index(place), replacement)


@contextmanager
def _form(text: str, what: str, example: str) -> Iterator[None]:
    """Turn errors inside the context into `argparse.ArgumentTypeError`, with the form that `text` must have."""
    try:
        yield
    except ExperimentError as error:
        raise argparse.ArgumentTypeError(f"{_shown(text)}: {error}") from error
    except ValueError as error:
        reason = f": {error}" if str(error) else ""
        message = f"{_shown(text)} cannot be read{reason}. Write {what}, such as {example}"
        raise argparse.ArgumentTypeError(message) from error


def _two_parts(text: str) -> tuple[str, str]:
    first, equals, second = text.partition("=")
    if not (first and equals and second):
        raise ValueError
    return first, second


def parse_index(text: str) -> int:
    """Convert a number counted from 1 to an index counted from 0. Raises `ValueError`."""
    number = int(text) if text.isdecimal() and len(text) <= MAX_DIGITS else 0
    if not 1 <= number <= MAX_INDEX + 1:
        raise ValueError(f"{_shown(text)} is not a whole number from 1 to {MAX_INDEX + 1:,}")
    return number - 1


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{_shown(text)} is not a number") from None


def _shown(text: str) -> str:
    return repr(text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…")
