"""Options and checks shared by several commands."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from augenmerk.core.config import RunConfig
from augenmerk.core.errors import ConfigError
from augenmerk.core.process import collector_paused
from augenmerk.core.translation.experiment import DEFAULT_LENGTH_PENALTY, check_beam

if TYPE_CHECKING:
    from augenmerk.core.checkpoint.file import Checkpoint
    from augenmerk.core.corpora.prepared import PreparedCorpus
    from augenmerk.core.text.codec import CodecPair
    from augenmerk.core.translation.translator import Translator


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Add `--checkpoint` and `--device`."""
    parser.add_argument(
        "--checkpoint", type=Path, metavar="FILE", help="the model (default: the bundled one, German to English)"
    )
    add_device(parser)


def load_translator(options: argparse.Namespace) -> "Translator":
    """The model of `--checkpoint`. Without `--beam`, the beam size becomes the model's own.

    Raises:
        AugenmerkError: the model cannot be used.
    """
    with collector_paused(for_good=True):
        from augenmerk.core.translation.translator import Translator

    translator = Translator.load(options.checkpoint, options.device)
    if getattr(options, "beam", 1) is None:
        options.beam = translator.checkpoint.decoding.beam
    return translator


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


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add `--set`."""
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any setting by its dotted name, such as model.width=64; repeatable (see augenmerk train --list-settings)",
    )


def add_corpus(parser: argparse.ArgumentParser) -> None:
    """Add `--data`, `--source` and `--target`, and the languages."""
    parser.add_argument(
        "--data",
        metavar="DIR|FILE|multi30k|copy",
        help="a folder with train.de and train.en, or other languages (plain or .gz, optionally with val.*), a file of "
        "prepared data, multi30k (downloaded once; for non-commercial use), or copy (the copy task)",
    )
    parser.add_argument("--source", type=Path, metavar="FILE", help="source lines, instead of --data; needs --target")
    parser.add_argument("--target", type=Path, metavar="FILE", help="the translations of --source")
    for side, of_preset in (("source", "de"), ("target", "en")):
        parser.add_argument(
            f"--{side}-language", metavar="CODE", help=f"language of the {side} (default: the preset's, {of_preset})"
        )


def with_languages(run: RunConfig, options: argparse.Namespace) -> RunConfig:
    """The run with the languages of `--source-language` and `--target-language`. Raises `ConfigError`."""
    names = ("source_language", "target_language")
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if given and run.is_copy_task:
        raise ConfigError(
            f"The preset {run.preset} copies symbols and has no languages. Omit --source-language and "
            "--target-language."
        )
    return replace(run, data=run.data.replace(**given))


def read_corpus(
    options: argparse.Namespace, run: RunConfig, on_phase: Callable[[str], None], codecs: "CodecPair | None" = None
) -> "PreparedCorpus":
    """The corpus named by the options.

    Args:
        options: those of `add_corpus`.
        run: its data settings determine how text becomes ids.
        on_phase: called with a description of each phase.
        codecs: vocabularies to keep; None to learn them from the text.

    Raises:
        ConfigError: no corpus or two are named.
        CorpusError: it cannot be read.
    """
    from augenmerk.core.corpora.loading import COPY, load_corpus, load_pair

    pair: Sequence[Path | None] = (options.source, options.target)
    if options.data is None and all(pair):
        return load_pair(options.source, options.target, run, on_phase, codecs)
    if any(pair):
        raise ConfigError("Name the corpus either by --data or by --source and --target together.")
    if options.data is None and not run.is_copy_task:
        raise ConfigError(
            f"The preset {run.preset} needs sentence pairs. Add --data with a folder, a file of prepared data or the "
            "word multi30k; or --source and --target."
        )
    return load_corpus(options.data or COPY, run, on_phase, codecs=codecs)


def read_training_corpus(
    options: argparse.Namespace,
    run: RunConfig,
    on_phase: Callable[[str], None],
    initial: "Checkpoint | None",
    teachers: "Sequence[Checkpoint]",
) -> "PreparedCorpus":
    """The corpus named by the options of `train`, read with the vocabularies of the initial model or the teachers.

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
