"""Options that several commands of analyses share."""

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....cli.lines import read_all_lines
from ....cli.options import into_language, read_interventions, read_output
from ....errors import ConfigError
from ....translation.experiment import Experiment, GivenTarget

if TYPE_CHECKING:
    from ....text.codec import TextCodec


class OneOrTwo(argparse.Action):
    """Takes one file of pairs, or two parallel files. For `nargs="+"`."""

    def __call__(
        self, parser: argparse.ArgumentParser, options: argparse.Namespace, values: Any, *_: Any
    ) -> None:
        """Store the files. Refuses more than two."""
        if len(values) > 2:
            parser.error(
                f"argument {self.option_strings[0]}: there are {len(values)} files. Name one of "
                "pairs or two parallel ones, and put a sentence before this option."
            )
        setattr(options, self.dest, values)


def read_text(text: str) -> str:
    """`text`, or if it is “-”, all of standard input as one text."""
    return "\n".join(read_all_lines(text))


CHANGES_OF_A_SENTENCE = (
    *(
        "lift_mask",
        "set_row",
        "force",
        "force_token",
        "remove_word",
        "replace_word",
        "beam",
        "length_penalty",
    ),
)
"""Options of `add_interventions` and `add_beam` that fit only one sentence."""


def check_target(options: argparse.Namespace) -> None:
    """Raises `ConfigError` for options of decoding next to `--target`.

    Call it before `take_experiment`.
    """
    if options.target is not None and (
        options.beam is not None or options.length_penalty is not None
    ):
        used = "--beam" if options.beam is not None else "--length-penalty"
        raise ConfigError(
            f"{used} has no effect on the given translation. Omit {used} or --target."
        )


def check_without_sentence(
    options: argparse.Namespace,
    add_options: Callable[[argparse.ArgumentParser], None],
    names: Sequence[str],
    problem: str,
) -> None:
    """Raises `ConfigError` for options that need a sentence. Call it before `take_experiment`.

    Args:
        options: of a command.
        add_options: the function that adds them.
        names: of the options that need a sentence.
        problem: the beginning of the message.
    """
    parser = argparse.ArgumentParser()
    add_options(parser)
    used = [name for name in names if getattr(options, name) != parser.get_default(name)]
    if flags := [f"--{name.replace('_', '-')}" for name in used]:
        needs = "which needs" if len(flags) == 1 else "which need"
        raise ConfigError(f"{problem} {' and '.join(flags)}, {needs} a sentence.")


def read_experiment(
    options: argparse.Namespace, text: str, target_codec: "TextCodec"
) -> Experiment:
    """The experiment that the options of one sentence describe, with `--target` as its target.

    Raises:
        ConfigError, ExperimentError: options contradict each other or do not fit the vocabulary.
    """
    output = read_output(options) if options.target is None else GivenTarget(options.target)
    return Experiment(
        into_language(options, text), output, read_interventions(options, target_codec)
    )
