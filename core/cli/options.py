"""Options and checks that several commands share."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from augenmerk.core.config import RunConfig
from augenmerk.core.errors import ConfigError
from augenmerk.core.imports import collector_paused
from augenmerk.core.translation.experiment import DEFAULT_LENGTH_PENALTY, check_beam

if TYPE_CHECKING:
    from augenmerk.core.checkpoint.file import Checkpoint
    from augenmerk.core.corpora.prepared import PreparedCorpus
    from augenmerk.core.text.codec import CodecPair
    from augenmerk.core.translation.translator import Translator


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """`--checkpoint` and `--device`."""
    parser.add_argument(
        "--checkpoint", type=Path, metavar="FILE", help="a checkpoint (left out: the bundled model, German to English)"
    )
    add_device(parser)


def load_translator(options: argparse.Namespace) -> "Translator":
    """The model that `add_checkpoint` asked for; where no beam size is asked for, the model's own is used.

    Raises:
        AugenmerkError: it cannot be used.
    """
    with collector_paused(for_good=True):
        from augenmerk.core.translation.translator import Translator

    translator = Translator.load(options.checkpoint, options.device)
    if getattr(options, "beam", 1) is None:
        options.beam = translator.checkpoint.decoding.beam
    return translator


def add_device(parser: argparse.ArgumentParser) -> None:
    """`--device`."""
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:N or mps (default: auto)")


def add_beam(parser: argparse.ArgumentParser) -> None:
    """`--beam` and `--length-penalty`."""
    parser.add_argument(
        "--beam",
        type=int,
        metavar="K",
        help="with beam size K (default: 1, greedy; an imported model may have its own)",
    )
    parser.add_argument(
        "--length-penalty",
        type=float,
        metavar="X",
        help="with a beam: 0 compares plain probabilities, more than 0 makes translations longer (Wu et al. 2016; "
        "default: 1.5)",
    )


def read_beam(options: argparse.Namespace) -> tuple[int, float]:
    """Beam and length penalty that the options name; greedy if they name none. Raises `ConfigError`."""
    beam = 1 if options.beam is None else options.beam
    length_penalty = DEFAULT_LENGTH_PENALTY if options.length_penalty is None else options.length_penalty
    check_beam(beam, length_penalty)
    if beam == 1 and options.length_penalty is not None:
        raise ConfigError(
            f"A length penalty of {options.length_penalty:g} was given without a beam: greedy decoding compares "
            "nothing that it could change. Add --beam 4, or leave it out."
        )
    return beam, length_penalty


def add_settings(parser: argparse.ArgumentParser) -> None:
    """`--set`."""
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other setting by its dotted name: model.width=64; can be repeated (augenmerk train --list-settings)",
    )


def add_corpus(parser: argparse.ArgumentParser) -> None:
    """`--data`, or `--source` with `--target`."""
    parser.add_argument(
        "--data",
        metavar="DIR|FILE|multi30k|copy",
        help="a folder with train.de and train.en, or whichever the languages are (plain or .gz, val.* beside them if "
        "there are any), a file of prepared data, multi30k (downloaded once; for non-commercial use), or copy (the "
        "copy task)",
    )
    parser.add_argument("--source", type=Path, metavar="FILE", help="instead of --data: source lines, with --target")
    parser.add_argument("--target", type=Path, metavar="FILE", help="instead of --data: their translations")
    for side, of_preset in (("source", "de"), ("target", "en")):
        parser.add_argument(
            f"--{side}-language", metavar="CODE", help=f"the language of the {side} (the preset's: {of_preset})"
        )


def with_languages(run: RunConfig, options: argparse.Namespace) -> RunConfig:
    """The run in the languages that `--source-language` and `--target-language` name. Raises `ConfigError`."""
    names = ("source_language", "target_language")
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if given and run.is_copy_task:
        raise ConfigError(f"The preset {run.preset} has no languages: it copies symbols. Leave them out.")
    return replace(run, data=run.data.replace(**given))


def read_corpus(
    options: argparse.Namespace, run: RunConfig, on_phase: Callable[[str], None], codecs: "CodecPair | None" = None
) -> "PreparedCorpus":
    """The corpus that the options name.

    Args:
        options: of `add_corpus`.
        run: its data settings determine how text becomes ids.
        on_phase: called with a description of each phase.
        codecs: of a model whose vocabularies are kept; None to learn them from the text.

    Raises:
        ConfigError: none, or two, are named.
        CorpusError: it cannot be read.
    """
    from augenmerk.core.corpora.loading import COPY, load_corpus, load_pair

    pair: Sequence[Path | None] = (options.source, options.target)
    if options.data is None and all(pair):
        return load_pair(options.source, options.target, run, on_phase, codecs)
    if any(pair):
        raise ConfigError("Either --data, or --source together with --target, was expected. Give one of the two.")
    if options.data is None and not run.is_copy_task:
        raise ConfigError(
            f"The preset {run.preset} needs sentence pairs and none were given. Expected --data with a folder, a "
            "prepared file or the word multi30k; or --source and --target."
        )
    return load_corpus(options.data or COPY, run, on_phase, codecs=codecs)


def read_training_corpus(
    options: argparse.Namespace,
    run: RunConfig,
    on_phase: Callable[[str], None],
    initial: "Checkpoint | None",
    teachers: "Sequence[Checkpoint]",
) -> "PreparedCorpus":
    """The corpus that the options of `train` name, read with the vocabularies of the models that are given.

    Raises:
        CheckpointError: such a model reads text with other settings, or there is no run to resume.
        AugenmerkError: as for `read_corpus`.
    """
    from augenmerk.core.training.loop import codecs_to_keep

    codecs = codecs_to_keep(run, options.out, resume=options.resume, initial=initial, teachers=teachers)
    return read_corpus(options, run, on_phase, codecs)


def load_given_models(options: argparse.Namespace) -> "tuple[Checkpoint | None, list[Checkpoint]]":
    """The models of `--initial-model` and `--teacher`. Raises `CheckpointError`."""
    from augenmerk.core.checkpoint.file import load_checkpoint

    initial = None if options.initial_model is None else load_checkpoint(options.initial_model)
    return initial, [load_checkpoint(path) for path in options.teacher]
