"""Options of several commands, and the model and experiment they describe.

Commands count from 1, Python from 0.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ..counting import display_text
from ..errors import AnalysisError, ConfigError, ExperimentError
from ..model.heads import ATTENTION_KINDS, SIDES, Head, HeadGroup, Network, heads_of
from ..process import collector_paused
from ..strict_json import MAX_DIGITS
from ..text.languages import chosen_code, sentence_with_code
from ..translation.experiment import (
    DEFAULT_LENGTH_PENALTY,
    MAX_INDEX,
    AttentionRow,
    Beam,
    CausalMaskLifted,
    FeedForwardScaled,
    ForcedToken,
    General,
    GivenTarget,
    Greedy,
    HeadScaled,
    Intervention,
    Output,
    SoftmaxTemperature,
    SourceWordRemoved,
    SourceWordReplaced,
    check_beam,
    in_canonical_order,
    site_of,
)
from ..translation.experiment_file import SavedExperiment, read_experiment_file
from .command import require_characters, shown
from .lines import STANDARD_INPUT, arriving_lines, print_note

if TYPE_CHECKING:
    from ..config import RunConfig
    from ..text.codec import TextCodec
    from ..translation.translator import Translator


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Add `--checkpoint` and `--device`."""
    group = parser.add_argument_group("model")
    group.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="the model (default: the bundled one, German to English)",
    )
    add_device(group)


def add_into(parser: argparse.ArgumentParser) -> None:
    """Add `--into`. See `into_language`."""
    parser.add_argument(
        "--into",
        metavar="CODE",
        help="the target language, for a model of several: a code that augenmerk info lists, "
        "such as fra. It becomes the first word of the sentence, in place of a code that is "
        "there",
    )


CHOOSE_TARGET = "Or choose its target language: --into."
"""The advice of `require_languages_of_sample` at the command line."""


def into_language(options: argparse.Namespace, text: str) -> str:
    """The text with the code of `--into`, which `load_translator` completes; “” stays empty."""
    return sentence_with_code(text, options.into)


def arriving_sentences(options: argparse.Namespace) -> Iterator[list[str]]:
    """The lines of standard input as they arrive, each with the code of `--into`."""
    for lines in arriving_lines(sys.stdin):
        yield [into_language(options, line) for line in lines]


def load_translator(options: argparse.Namespace) -> "Translator":
    """The model of `--checkpoint`, else that of `--experiment`, else the bundled one.

    That of an experiment is used if it is the bundled one or next to the experiment's file.

    It completes the options: its own beam size and length penalty, the heads of groups, and the
    code of the target language. A note names a model that was not found.

    Raises:
        AugenmerkError: the model cannot be used, has no head of a group, or does not translate into
            the language.
    """
    with collector_paused(for_good=True):
        from ..checkpoint.file import find_checkpoint
        from ..translation.translator import Translator

    translator = Translator.load(options.checkpoint, options.device)
    saved: SavedExperiment | None = getattr(options, "saved", None)
    if saved is not None and translator.digest != saved.model.digest:
        neighbours = sorted(options.experiment.absolute().parent.glob("*.safetensors"))
        path = (
            find_checkpoint(saved.model.digest, neighbours) if options.checkpoint is None else None
        )
        if path is not None:
            translator = Translator.load(path, options.device)
        else:
            which = (
                "another version of the model"
                if saved.model.name == translator.name
                else "the model"
            )
            advice = " Add --checkpoint with its file." if options.checkpoint is None else ""
            print_note(
                f"{options.experiment} was made with {which} “{saved.model.name}”. It runs with "
                f"{translator.name}.{advice}"
            )
    own = translator.checkpoint.decoding
    if getattr(options, "beam", 1) is None:
        options.beam = own.beam
    if getattr(options, "length_penalty", 0) is None and options.beam > 1:
        options.length_penalty = own.length_penalty
    if getattr(options, "head_off", None):
        options.head_off = _single_heads(options.head_off, heads_of(translator.run_config.model))
    if getattr(options, "into", None) is not None:
        _check_word_numbers(options)
        options.into = into_code(options.into, translator.target_codes, translator.run_config)
        _check_sentence(options, into_language(options, getattr(options, "text", None) or ""))
    return translator


def _check_word_numbers(options: argparse.Namespace) -> None:
    """Raises `ConfigError` for options next to `--into` that number the words of the sentence."""
    numbering = [
        f"--{name}-word" for name in ("remove", "replace") if getattr(options, f"{name}_word", None)
    ]
    if numbering:
        raise ConfigError(
            "--into adds a first word to the sentence, so the numbers of "
            f"{' and '.join(numbering)} would be unclear. Omit --into, and write the code into "
            "the sentence, as word 1."
        )


def into_code(language: str, codes: Sequence[str], run: "RunConfig") -> str:
    """The token `>>xx<<` of the language of --into.

    Raises `ConfigError` unless the model has one for it.
    """
    try:
        return chosen_code(language, codes, run)
    except ConfigError as error:
        raise ConfigError(f"--into: {error}") from error


def _single_heads(named: Sequence[Head | HeadGroup], heads: Sequence[Head]) -> list[Head]:
    """The named heads, and those of named groups; `heads` are all of the model."""
    single = [part for part in named if isinstance(part, Head)]
    for group in (part for part in named if isinstance(part, HeadGroup)):
        members = [head for head in heads if head in group]
        if not members:
            raise AnalysisError(
                f"This model has no {display_text(group)}. `augenmerk info` shows its numbers of "
                "layers and heads."
            )
        single += [head for head in members if head not in single]
    return single


def add_device(parser: argparse._ActionsContainer) -> None:
    """Add `--device`."""
    parser.add_argument(
        "--device", default="auto", help="auto, cpu, cuda, cuda:N or mps (default: auto)"
    )


def add_beam(parser: argparse.ArgumentParser) -> None:
    """Add `--beam` and `--length-penalty`."""
    group = parser.add_argument_group("decoding")
    group.add_argument(
        "--beam",
        type=int,
        metavar="K",
        help="beam size (default: 1, greedy decoding; imported models may have their own)",
    )
    group.add_argument(
        "--length-penalty",
        type=float,
        metavar="X",
        help="for beams: 0 compares plain probabilities, larger values favour longer "
        "translations (Wu et al. 2016; default: 1.5; imported models may have their own)",
    )


def read_beam(options: argparse.Namespace) -> tuple[int, float]:
    """Beam size and length penalty; by default 1, greedy decoding. Raises `ConfigError`."""
    beam = 1 if options.beam is None else options.beam
    length_penalty = (
        DEFAULT_LENGTH_PENALTY if options.length_penalty is None else options.length_penalty
    )
    check_beam(beam, length_penalty)
    # of its own; it is loaded later
    may_have_beam = options.beam is None and options.checkpoint is not None
    if beam == 1 and options.length_penalty is not None and not may_have_beam:
        raise ConfigError(
            f"--length-penalty {options.length_penalty:g} has no effect on greedy decoding. Add "
            "--beam 4, or omit it."
        )
    return beam, length_penalty


def add_general(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options for changes that fit every sentence; `--off` is a former name.

    Returns their group.
    """
    group = parser.add_argument_group("changes to the model")
    switch_off = partial(group.add_argument, nargs="+", action="extend", default=[])
    head_off = partial(switch_off, dest="head_off", type=parse_heads, metavar="HEAD")
    head_off(
        "--head-off",
        help="switch heads off; cross:2:5 is layer 2, head 5 of cross-attention, cross:2 all of "
        "the layer, cross:*:5 head 5 of all layers, cross all of the kind",
    )
    head_off("--off", help=argparse.SUPPRESS)
    switch_off(
        "--feed-forward-off",
        type=parse_network,
        metavar="LAYER",
        help="switch feed-forward networks off; decoder:2 is the one of decoder layer 2",
    )
    _add_repeatable(
        group,
        "--scale-head",
        "HEAD=FACTOR",
        "a head and a factor",
        "cross:2:5=0.5",
        lambda head, factor: HeadScaled(parse_head(head), _number(factor)),
        "multiply the output of a head by a factor, such as cross:2:5=0.5; repeatable, like the "
        "options below",
    )
    _add_repeatable(
        group,
        "--scale-feed-forward",
        "LAYER=FACTOR",
        "a layer and a factor",
        "decoder:2=0.5",
        lambda network, factor: FeedForwardScaled(parse_network(network), _number(factor)),
        "multiply the output of the feed-forward network of a layer by a factor, such as "
        "decoder:2=0.5",
    )
    _add_repeatable(
        group,
        "--temperature",
        "HEAD=T",
        "a head and a temperature",
        "cross:2:5=2",
        lambda head, temperature: SoftmaxTemperature(parse_head(head), float(temperature)),
        "divide the attention scores of a head by T before the softmax, such as cross:2:5=2; "
        "above 1, weights become more even, below 1 sharper",
    )
    return group


def add_interventions(parser: argparse.ArgumentParser) -> None:
    """Add every option that changes what the model does with a sentence."""
    group = add_general(parser)
    group.add_argument(
        "--lift-mask",
        action="store_true",
        help="let decoder self-attention see later target tokens; only with --target",
    )
    _add_repeatable(
        group,
        "--set-row",
        "HEAD:ROW=W,W,…",
        "a head, a row and weights separated by commas",
        "cross:2:5:3=0,1,0",
        _attention_row,
        "set one row of attention weights, such as cross:2:5:3=0,1,0. A row is a source token in "
        "the encoder, otherwise a decoding step. Give one weight per source token, including "
        "<sos> and <eos>; in the decoder, one per target token read so far, including <sos>",
    )
    _add_repeatable(
        group,
        "--force",
        "STEP=WORD",
        "a step and a word",
        "3=dog",
        lambda step, word: (parse_index(step), word),
        "force this word at a decoding step, such as 3=dog; a word of several pieces takes "
        "several steps; <eos> ends the sentence",
    )
    _add_repeatable(
        group,
        "--force-token",
        "STEP=TOKEN",
        "a step and a token",
        "3=▁dog",
        lambda step, token: ForcedToken(parse_index(step), token),
        "force a token, written as in the vocabulary",
    )
    _add_repeatable(
        group,
        "--remove-word",
        "N",
        "the number of a word",
        "2",
        lambda number: SourceWordRemoved(parse_index(number)),
        "leave out the Nth word of the sentence",
    )
    _add_repeatable(
        group,
        "--replace-word",
        "N=TEXT",
        "the number of a word and a text",
        "2=Katze",
        lambda number, text: SourceWordReplaced(parse_index(number), text),
        "replace the Nth word, such as 2=Katze; <unk> stands for an unknown word",
    )


def add_experiment(parser: argparse.ArgumentParser, use: str) -> None:
    """Add `--experiment`; `use` says what of the file is used. See `take_experiment`."""
    parser.add_argument("--experiment", type=Path, metavar="FILE.augenmerk", help=use)


EXPERIMENT_HELP = (
    "use the sentence, the decoding and the changes of this file. Options override what they "
    "change in it. Another sentence needs changes that fit every sentence: to heads and networks"
)


def take_experiment(options: argparse.Namespace) -> None:
    """Take from the file of `--experiment` the sentence and the decoding, unless options give them.

    Keeps the file in `options.saved`, from which `read_general` and `read_interventions` take its
    changes. Call it before reading these options. Commands without an option `text` read many
    sentences.

    Raises:
        ExperimentFileError: the file cannot be used.
        ConfigError: the file has changes that do not fit another sentence.
    """
    if options.experiment is None:
        return
    options.saved = saved = read_experiment_file(options.experiment)
    # before the decoding of the file is taken, because `load_translator` checks the sentence again
    options.overrides_target = any(
        getattr(options, name, None) is not None for name in ("beam", "target")
    )
    experiment = saved.experiment
    text = getattr(options, "text", STANDARD_INPUT)
    if text is None:
        # a space, because a lone “-” would mean standard input
        options.text = " -" if experiment.source_text == STANDARD_INPUT else experiment.source_text
    else:
        _check_sentence(options, text)
    output = experiment.output
    if isinstance(output, GivenTarget):
        if not options.overrides_target:
            options.target = output.text
        return
    if options.beam is None:
        options.beam = output.size if isinstance(output, Beam) else 1
    if isinstance(output, Beam) and options.beam > 1 and options.length_penalty is None:
        options.length_penalty = output.length_penalty


def _check_sentence(options: argparse.Namespace, text: str) -> None:
    """Raises `ConfigError` if changes of `--experiment` fit only another sentence than this one."""
    saved: SavedExperiment | None = getattr(options, "saved", None)
    if saved is not None and (text == STANDARD_INPUT or text != saved.experiment.source_text):
        experiment = saved.experiment
        own = [
            display_text(change) for change in experiment.without(*experiment.general).interventions
        ]
        if isinstance(experiment.output, GivenTarget) and not options.overrides_target:
            own.append(f"the translation “{experiment.output.text[:60]}”")
        if own:
            remedy = ", or use its own sentence" if hasattr(options, "text") else ""
            raise ConfigError(
                f"{options.experiment} has changes that fit only its own sentence: "
                f"{', '.join(own)}. Remove them from the experiment{remedy}."
            )


def require_text(options: argparse.Namespace, name: str = "a sentence") -> None:
    """Raises `ConfigError` if there is no sentence, after `take_experiment`."""
    if options.text is None:
        raise ConfigError(
            f"There is nothing to translate. Add {name}, or --experiment with a file that has one."
        )


def read_general(options: argparse.Namespace) -> tuple[General, ...]:
    """The changes of `add_general`, and those of `--experiment` that they do not override.

    Raises:
        ExperimentError: a head or network is named twice.
    """
    off = (*map(HeadScaled, options.head_off), *map(FeedForwardScaled, options.feed_forward_off))
    own = in_canonical_order(
        [*off, *options.scale_head, *options.scale_feed_forward, *options.temperature]
    )
    saved: SavedExperiment | None = getattr(options, "saved", None)
    return own if saved is None else saved.experiment.edited("").with_interventions(*own).general


def read_interventions(
    options: argparse.Namespace, target_codec: "TextCodec"
) -> tuple[Intervention, ...]:
    """The changes of `add_interventions` and `--experiment`.

    Words are forced as tokens of this vocabulary.

    Raises:
        ExperimentError: a word cannot be written with this vocabulary, or a head is named twice.
    """
    from ..translation.compilation import forced_word

    words = [
        token for step, text in options.force for token in forced_word(step, text, target_codec)
    ]
    edits = (*options.remove_word, *options.replace_word)
    mask = (CausalMaskLifted(),) if options.lift_mask else ()
    own = (*edits, *options.set_row, *mask, *words, *options.force_token)
    saved: SavedExperiment | None = getattr(options, "saved", None)
    from_file = (
        () if saved is None else saved.experiment.without(*saved.experiment.general).interventions
    )
    sites = {site_of(intervention) for intervention in own}
    others = (intervention for intervention in from_file if site_of(intervention) not in sites)
    return (*others, *read_general(options), *own)


def read_output(options: argparse.Namespace) -> Output:
    """Greedy or beam decoding, by `--beam`. Raises `ConfigError`."""
    beam, length_penalty = read_beam(options)
    return Greedy() if beam == 1 else Beam(beam, length_penalty)


def parse_head(text: str) -> Head:
    """The head named kind:layer:head, counted from 1. Raises `argparse.ArgumentTypeError`."""
    named = _heads_named(text)
    if not isinstance(named, Head):
        form = "a head. Write kind:layer:head, such as cross:2:5"
        _refuse(text, f"{form}, with a kind of {', '.join(ATTENTION_KINDS)} and numbers from 1")
    return named


def parse_heads(text: str) -> Head | HeadGroup:
    """The head named like cross:2:5, or a group: cross:2, cross:*:5, cross.

    Raises:
        argparse.ArgumentTypeError: the text names neither.
    """
    named = _heads_named(text)
    if named is None:
        form = (
            "Write cross:2:5 for one head, cross:2 for a layer, cross:*:5 for a head of all "
            "layers or cross for all"
        )
        kinds = ", ".join(ATTENTION_KINDS)
        _refuse(
            text, f"a head or a group of heads. {form}, with a kind of {kinds} and numbers from 1"
        )
    return named


def _heads_named(text: str) -> Head | HeadGroup | None:
    name, *numbers = text.split(":")
    kind = next((known for known in ATTENTION_KINDS if known == name), None)
    try:
        layer, head = [
            None if number == "*" else parse_index(number)
            for number in (*numbers, "*", "*")[: max(len(numbers), 2)]
        ]
    except ValueError:
        return None
    if kind is None:
        return None
    return (
        HeadGroup(kind, layer, head) if layer is None or head is None else Head(kind, layer, head)
    )


def _refuse(text: str, expected: str) -> NoReturn:
    """Raises `argparse.ArgumentTypeError`, with a hint if the text may be the sentence."""
    hint = ". Put the sentence before this option." if " " in text else ""
    raise argparse.ArgumentTypeError(f"{shown(text)} is not {expected}{hint}")


def parse_network(text: str) -> Network:
    """The network named side:layer, counted from 1. Raises `argparse.ArgumentTypeError`."""
    name, _, layer = text.partition(":")
    side = next((known for known in SIDES if known == name), None)
    with suppress(ValueError):
        if side is not None:
            return Network(side, parse_index(layer))
    form = "a feed-forward network. Write side:layer, such as decoder:2"
    _refuse(text, f"{form}, with a side of {' or '.join(SIDES)} and a number from 1")


def parse_index(text: str) -> int:
    """Convert a number counted from 1 to an index counted from 0. Raises `ValueError`."""
    number = int(text) if text.isdecimal() and len(text) <= MAX_DIGITS else 0
    if not 1 <= number <= MAX_INDEX + 1:
        raise ValueError(f"{shown(text)} is not a whole number from 1 to {MAX_INDEX + 1:,}")
    return number - 1


def _add_repeatable(
    parser: argparse._ActionsContainer,
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
        require_characters(value)
        try:
            parts = value.split("=", example.count("="))
            if len(parts) <= example.count("=") or not all(parts):
                raise ValueError
            return make(*parts)
        except ExperimentError as error:
            raise argparse.ArgumentTypeError(f"{shown(value)}: {display_text(error)}") from error
        except ValueError as error:
            reason = f": {error}" if str(error) else ""
            message = f"{shown(value)} cannot be read{reason}. Write {form}, such as {example}"
            raise argparse.ArgumentTypeError(message) from error

    parser.add_argument(name, action="append", type=read, default=[], metavar=metavar, help=text)


def _attention_row(head_and_row: str, weights: str) -> AttentionRow:
    head, _, row = head_and_row.rpartition(":")
    if not head:
        raise ValueError
    return AttentionRow(parse_head(head), parse_index(row), tuple(map(_number, weights.split(","))))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{shown(text)} is not a number") from None
