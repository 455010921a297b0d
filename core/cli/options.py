"""Options of several commands, and the model and experiment they describe. Commands count from 1, Python from 0."""

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from augenmerk.core.cli.command import shown
from augenmerk.core.errors import AnalysisError, ConfigError, ExperimentError
from augenmerk.core.model.heads import ATTENTION_KINDS, SIDES, Head, HeadGroup, Network, heads_of
from augenmerk.core.process import collector_paused
from augenmerk.core.strict_json import MAX_DIGITS
from augenmerk.core.translation.experiment import (
    DEFAULT_LENGTH_PENALTY,
    MAX_INDEX,
    AttentionRow,
    Beam,
    CausalMaskLifted,
    Experiment,
    FeedForwardScaled,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    Intervention,
    Output,
    Scaling,
    SoftmaxTemperature,
    SourceWordRemoved,
    SourceWordReplaced,
    check_beam,
    in_canonical_order,
)

if TYPE_CHECKING:
    from augenmerk.core.text.codec import TextCodec
    from augenmerk.core.translation.translator import Translator


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Add `--checkpoint` and `--device`."""
    parser.add_argument(
        "--checkpoint", type=Path, metavar="FILE", help="the model (default: the bundled one, German to English)"
    )
    add_device(parser)


def load_translator(options: argparse.Namespace) -> "Translator":
    """The model of `--checkpoint`. It completes the options: its own beam size, and the heads of groups.

    Raises:
        AugenmerkError: the model cannot be used, or has no head of a group.
    """
    with collector_paused(for_good=True):
        from augenmerk.core.translation.translator import Translator

    translator = Translator.load(options.checkpoint, options.device)
    if getattr(options, "beam", 1) is None:
        options.beam = translator.checkpoint.decoding.beam
    if getattr(options, "head_off", None):
        options.head_off = _single_heads(options.head_off, heads_of(translator.run_config.model))
    return translator


def _single_heads(named: Sequence[Head | HeadGroup], heads: Sequence[Head]) -> list[Head]:
    """The named heads, and those of groups that are not named otherwise. `heads`: all of the model."""
    found = [each for each in named if isinstance(each, Head)]
    for group in (each for each in named if isinstance(each, HeadGroup)):
        members = [head for head in heads if head in group]
        if not members:
            raise AnalysisError(f"This model has no {group}. `augenmerk info` shows its numbers of layers and heads.")
        found += [head for head in members if head not in found]
    return found


def add_device(parser: argparse.ArgumentParser) -> None:
    """Add `--device`."""
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:N or mps (default: auto)")


def add_beam(parser: argparse.ArgumentParser) -> None:
    """Add `--beam` and `--length-penalty`."""
    parser.add_argument(
        "--beam",
        type=int,
        metavar="K",
        help="beam size (default: 1, greedy decoding; imported models may have their own)",
    )
    parser.add_argument(
        "--length-penalty",
        type=float,
        metavar="X",
        help="for beams: 0 compares plain probabilities, larger values favour longer translations (Wu et al. 2016; "
        "default: 1.5)",
    )


def read_beam(options: argparse.Namespace) -> tuple[int, float]:
    """Beam size and length penalty; by default 1, greedy decoding. Raises `ConfigError`."""
    beam = 1 if options.beam is None else options.beam
    length_penalty = DEFAULT_LENGTH_PENALTY if options.length_penalty is None else options.length_penalty
    check_beam(beam, length_penalty)
    if beam == 1 and options.length_penalty is not None:
        raise ConfigError(
            f"--length-penalty {options.length_penalty:g} has no effect on greedy decoding. Add --beam 4, or omit it."
        )
    return beam, length_penalty


def add_scalings(parser: argparse.ArgumentParser) -> None:
    """Add the options that switch off or scale heads and feed-forward networks; `--off` is a former name."""
    switch_off = partial(parser.add_argument, nargs="+", action="extend", default=[])
    head_off = partial(switch_off, dest="head_off", type=parse_heads, metavar="HEAD")
    head_off(
        "--head-off",
        help="switch heads off; cross:2:5 is layer 2, head 5 of cross-attention, cross:2 all of the layer, cross:*:5 "
        "head 5 of all layers, cross all of the kind",
    )
    head_off("--off", help=argparse.SUPPRESS)
    switch_off(
        "--feed-forward-off",
        type=parse_network,
        metavar="LAYER",
        help="switch feed-forward networks off; decoder:2 is the one of decoder layer 2",
    )
    _add_repeatable(
        parser,
        "--scale-head",
        "HEAD=FACTOR",
        "a head and a factor",
        "cross:2:5=0.5",
        lambda head, factor: HeadScaled(parse_head(head), _number(factor)),
        "multiply the output of a head by a factor, such as cross:2:5=0.5; repeatable, like the options below",
    )
    _add_repeatable(
        parser,
        "--scale-feed-forward",
        "LAYER=FACTOR",
        "a layer and a factor",
        "decoder:2=0.5",
        lambda network, factor: FeedForwardScaled(parse_network(network), _number(factor)),
        "multiply the output of the feed-forward network of a layer by a factor, such as decoder:2=0.5",
    )


def add_interventions(parser: argparse.ArgumentParser) -> None:
    """Add every option that changes what the model does with a sentence."""
    add_scalings(parser)
    _add_repeatable(
        parser,
        "--temperature",
        "HEAD=T",
        "a head and a temperature",
        "cross:2:5=2",
        lambda head, temperature: SoftmaxTemperature(parse_head(head), float(temperature)),
        "divide the attention scores of a head by T before the softmax, such as cross:2:5=2; above 1, weights become "
        "more even, below 1 sharper",
    )
    parser.add_argument(
        "--lift-mask",
        action="store_true",
        help="let decoder self-attention see later target tokens; only with --target",
    )
    _add_repeatable(
        parser,
        "--set-row",
        "HEAD:ROW=W,W,…",
        "a head, a row and weights separated by commas",
        "cross:2:5:3=0,1,0",
        _attention_row,
        "set one row of attention weights, such as cross:2:5:3=0,1,0. A row is a source token in the encoder, "
        "otherwise a decoding step. Give one weight per source token, including <sos> and <eos>; in the decoder, one "
        "per target token read so far, including <sos>",
    )
    _add_repeatable(
        parser,
        "--force",
        "STEP=WORD",
        "a step and a word",
        "3=dog",
        lambda step, word: (parse_index(step), word),
        "force this word at a decoding step, such as 3=dog; a word of several pieces takes several steps; <eos> ends "
        "the sentence",
    )
    _add_repeatable(
        parser,
        "--force-token",
        "STEP=TOKEN",
        "a step and a token",
        "3=▁dog",
        lambda step, token: ForcedToken(parse_index(step), token),
        "force a token, written as in the vocabulary",
    )
    _add_repeatable(
        parser,
        "--remove-word",
        "N",
        "the number of a word",
        "2",
        lambda number: SourceWordRemoved(parse_index(number)),
        "leave out the Nth word of the sentence",
    )
    _add_repeatable(
        parser,
        "--replace-word",
        "N=TEXT",
        "the number of a word and a text",
        "2=Katze",
        lambda number, text: SourceWordReplaced(parse_index(number), text),
        "replace the Nth word, such as 2=Katze; <unk> stands for an unknown word",
    )


def read_scalings(options: argparse.Namespace) -> tuple[Scaling, ...]:
    """The values of the options of `add_scalings`. Raises `ExperimentError` if a head or network is named twice."""
    off = (*map(HeadScaled, options.head_off), *map(FeedForwardScaled, options.feed_forward_off))
    return in_canonical_order([*off, *options.scale_head, *options.scale_feed_forward])


def read_interventions(options: argparse.Namespace, target_codec: "TextCodec") -> tuple[Intervention, ...]:
    """The values of the options of `add_interventions`. Words are forced as tokens of this vocabulary.

    Raises:
        ExperimentError: a word cannot be written with this vocabulary, or a head is named twice.
    """
    from augenmerk.core.translation.compilation import forced_word

    words = [token for step, text in options.force for token in forced_word(step, text, target_codec)]
    edits = (*options.remove_word, *options.replace_word)
    mask = (CausalMaskLifted(),) if options.lift_mask else ()
    heads = (*read_scalings(options), *options.temperature, *options.set_row)
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
    found = _heads_named(text)
    if not isinstance(found, Head):
        raise argparse.ArgumentTypeError(
            f"{shown(text)} is not a head. Write kind:layer:head, such as cross:2:5, with a kind of "
            f"{', '.join(ATTENTION_KINDS)} and numbers from 1{_misplaced(text)}"
        )
    return found


def parse_heads(text: str) -> Head | HeadGroup:
    """The head named like cross:2:5, or a group: cross:2, cross:*:5, cross. Raises `argparse.ArgumentTypeError`."""
    found = _heads_named(text)
    if found is None:
        raise argparse.ArgumentTypeError(
            f"{shown(text)} is not a head or a group of heads. Write cross:2:5 for one head, cross:2 for a layer, "
            f"cross:*:5 for a head of all layers or cross for all, with a kind of {', '.join(ATTENTION_KINDS)} and "
            f"numbers from 1{_misplaced(text)}"
        )
    return found


def _heads_named(text: str) -> Head | HeadGroup | None:
    name, *places = text.split(":")
    kind = next((known for known in ATTENTION_KINDS if known == name), None)
    try:
        layer, head = [
            None if place == "*" else parse_index(place) for place in (*places, "*", "*")[: max(len(places), 2)]
        ]
    except ValueError:
        return None
    if kind is None:
        return None
    return HeadGroup(kind, layer, head) if layer is None or head is None else Head(kind, layer, head)


def _misplaced(text: str) -> str:
    """A hint for a sentence in place of the value of an option."""
    return ". Put the sentence before this option." if " " in text else ""


def parse_network(text: str) -> Network:
    """The network named side:layer, counted from 1. Raises `argparse.ArgumentTypeError`."""
    name, _, layer = text.partition(":")
    side = next((known for known in SIDES if known == name), None)
    try:
        index = parse_index(layer)
    except ValueError:
        side = None
    if side is None:
        raise argparse.ArgumentTypeError(
            f"{shown(text)} is not a feed-forward network. Write side:layer, such as decoder:2, with a side of "
            f"{' or '.join(SIDES)} and a number from 1{_misplaced(text)}"
        )
    return Network(side, index)


def parse_index(text: str) -> int:
    """Convert a number counted from 1 to an index counted from 0. Raises `ValueError`."""
    number = int(text) if text.isdecimal() and len(text) <= MAX_DIGITS else 0
    if not 1 <= number <= MAX_INDEX + 1:
        raise ValueError(f"{shown(text)} is not a whole number from 1 to {MAX_INDEX + 1:,}")
    return number - 1


def _add_repeatable(
    parser: argparse.ArgumentParser,
    name: str,
    metavar: str,
    form: str,
    example: str,
    make: Callable[..., Any],
    text: str,
) -> None:
    """Add an option that may be given several times. Its value is a list.

    Args:
        parser: receives the option.
        name: of the option.
        metavar: the form of a value, in capitals.
        form: the same in words, for messages.
        example: of a value. Values are split at the first “=” if the example contains one.
        make: called with the parts of each value.
        text: the help.
    """

    def read(value: str) -> object:
        try:
            parts = value.split("=", example.count("="))
            if len(parts) <= example.count("=") or not all(parts):
                raise ValueError
            return make(*parts)
        except ExperimentError as error:
            raise argparse.ArgumentTypeError(f"{shown(value)}: {error}") from error
        except ValueError as error:
            reason = f": {error}" if str(error) else ""
            message = f"{shown(value)} cannot be read{reason}. Write {form}, such as {example}"
            raise argparse.ArgumentTypeError(message) from error

    parser.add_argument(name, action="append", type=read, default=[], metavar=metavar, help=text)


def _attention_row(place: str, weights: str) -> AttentionRow:
    head, _, row = place.rpartition(":")
    if not head:
        raise ValueError
    return AttentionRow(parse_head(head), parse_index(row), tuple(map(_number, weights.split(","))))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{shown(text)} is not a number") from None
