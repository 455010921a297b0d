"""Experiments as Python and as shell commands, which run the same experiment to the last bit.

No torch.
"""

import shlex
from dataclasses import fields, is_dataclass
from pathlib import Path

from augenmerk.core.errors import ExperimentError
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.resources import is_bundled_model
from augenmerk.core.text.subwords import WORD_MARK
from augenmerk.core.text.vocabulary import MARKS
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Beam,
    CausalMaskLifted,
    Experiment,
    FeedForwardScaled,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    Intervention,
    Output,
    SoftmaxTemperature,
    SourceWordRemoved,
    SourceWordReplaced,
)

COUNTED_FROM_0 = (
    "# Layers, heads, rows, steps and words are counted from 0 here, and from 1 in the window.\n"
)


def to_python(experiment: Experiment, checkpoint: Path | str | None = None) -> str:
    """Python source that runs the experiment and prints the translation.

    Args:
        experiment: any.
        checkpoint: the file of the model. The bundled one, by its path or as None, is omitted: its
            path belongs to this machine.
    """
    interventions = [_in_python(intervention) for intervention in experiment.interventions]
    names = {"Experiment", "Translator", type(experiment.output).__name__}
    names |= {type(intervention).__name__ for intervention in experiment.interventions}
    parts = (
        getattr(intervention, name)
        for intervention in experiment.interventions
        for name in vars(intervention)
    )
    names |= {type(part).__name__ for part in parts if isinstance(part, Head | Network)}
    arguments = [_text_in_python(experiment.source_text), _in_python(experiment.output)]
    if interventions:
        arguments.append(
            "(\n"
            + "".join(f"        {intervention},\n" for intervention in interventions)
            + "    )"
        )
    return (
        f"from augenmerk import {', '.join(sorted(names))}\n\n"
        + (COUNTED_FROM_0 if interventions else "")
        + "translator = "
        f"Translator.load({'' if is_bundled_model(checkpoint) else _text_in_python(str(checkpoint))})\n"
        + "experiment = Experiment(\n"
        + "".join(f"    {argument},\n" for argument in arguments)
        + ")\n"
        + "translation = translator.run(experiment)\n"
        + "print(translation.text)\n"
    )


def _in_python(value: object) -> str:
    """An output, an intervention, a head, or one of their fields."""
    if isinstance(value, str):
        return _text_in_python(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(_in_python, value))}{',' if len(value) == 1 else ''})"
    if not is_dataclass(value):
        return repr(value)
    arguments = {field.name: _in_python(getattr(value, field.name)) for field in fields(value)}
    named = (
        f"{name}={text}" if name == "length_penalty" else text for name, text in arguments.items()
    )
    return f"{type(value).__name__}({', '.join(named)})"


def _text_in_python(text: str) -> str:
    """Like `repr`, but in double quotes if that needs no escaping."""
    literal = repr(text)
    return f'"{literal[1:-1]}"' if literal[0] == "'" and '"' not in text else literal


def to_command(experiment: Experiment, checkpoint: Path | str | None = None) -> str:
    """The `augenmerk translate` command that runs the experiment; everything is counted from 1.

    A beam of size 1 is written as greedy decoding.

    Args:
        experiment: any.
        checkpoint: as for `to_python`.

    Raises:
        ExperimentError: a text holds a null character or a lone surrogate, which no command can be
            given.
    """
    options = [*_output_options(experiment.output)]
    off = [scaling for scaling in experiment.scalings if scaling.factor == 0]
    for option, kind in (("--head-off", HeadScaled), ("--feed-forward-off", FeedForwardScaled)):
        if parts := [
            _part_in_command(scaling.part) for scaling in off if isinstance(scaling, kind)
        ]:
            options += [option, *parts]
    for intervention in experiment.interventions:
        if intervention not in off:
            options += _intervention_options(intervention)
    if not is_bundled_model(checkpoint):
        options += _option("--checkpoint", str(checkpoint))
    text = experiment.source_text
    if text == "-":  # as an argument it would mean standard input, so the text comes from there
        words = ["-", *options]
        before = "printf %s - | "
    elif text.startswith("-"):
        words = [*options, "--", text]
        before = ""
    else:
        words = [text, *options]
        before = ""
    command = before + shlex.join(["augenmerk", "translate", *words])
    _check_can_be_typed(command)
    return command


def _option(name: str, value: str) -> list[str]:
    """An option and its value as two words, or as one if the value looks like an option."""
    return [f"{name}={value}"] if value.startswith("-") else [name, value]


def _output_options(output: Output) -> list[str]:
    match output:
        case Beam(size, length_penalty) if size > 1:
            return ["--beam", str(size), "--length-penalty", _number(length_penalty)]
        case GivenTarget(text):
            return _option("--target", text)
        case _:
            return []


def _intervention_options(intervention: Intervention) -> list[str]:
    match intervention:
        case SourceWordRemoved(place):
            return ["--remove-word", str(place + 1)]
        case SourceWordReplaced(place, text):
            return ["--replace-word", f"{place + 1}={text}"]
        case HeadScaled(head, factor):
            return ["--scale-head", f"{_part_in_command(head)}={_number(factor)}"]
        case FeedForwardScaled(network, factor):
            return ["--scale-feed-forward", f"{_part_in_command(network)}={_number(factor)}"]
        case SoftmaxTemperature(head, temperature):
            return ["--temperature", f"{_part_in_command(head)}={_number(temperature)}"]
        case CausalMaskLifted():
            return ["--lift-mask"]
        case AttentionRow(head, row, weights):
            return [
                "--set-row",
                f"{_part_in_command(head)}:{row + 1}={','.join(map(_number, weights))}",
            ]
        case ForcedToken(step, token):
            is_never_a_word = token.startswith(WORD_MARK) or token in MARKS
            return ["--force" if is_never_a_word else "--force-token", f"{step + 1}={token}"]


def _number(value: float) -> str:
    """The shortest text that is read as the same number."""
    return repr(value).removesuffix(".0")


def _part_in_command(part: Head | Network) -> str:
    if isinstance(part, Network):
        return f"{part.side}:{part.layer + 1}"
    return f"{part.kind}:{part.layer + 1}:{part.head + 1}"


def _check_can_be_typed(command: str) -> None:
    if "\0" in command or any("\ud800" <= character <= "\udfff" for character in command):
        raise ExperimentError(
            "This experiment has a null character or an invalid character (lone surrogate) in "
            "one of its texts, which no command can hold. Type that text again, or copy the "
            "experiment as Python."
        )
