"""Tokenize a corpus once, so that a machine without spaCy can train from the file."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ....cli.outputs import OutputFile
from ....config import RunConfig
from ....errors import ConfigError
from ....plain_text import one_line
from ....storage import check_writable
from ...run_settings.dotted import with_dotted
from ...run_settings.presets import DEFAULT_PRESET, PRESETS, preset
from ..corpora.parallel import DataSource
from .outputs import PREPARED


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `data`."""
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    prepare = actions.add_parser(
        "prepare", help="tokenize a corpus and store its ids", description=__doc__
    )
    add_corpus(prepare)
    prepare.add_argument(
        "--preset",
        choices=PRESETS,
        default=DEFAULT_PRESET,
        help="tokenize as this preset does (default: %(default)s)",
    )
    add_settings(prepare)
    prepare.add_argument(
        "--out",
        type=OutputFile(PREPARED),
        required=True,
        metavar="FILE",
        help="the file to write (.safetensors)",
    )


def run(options: argparse.Namespace) -> int:
    """Prepare and write. Raises `AugenmerkError`."""
    from ..corpora.loading import load_corpus
    from ..corpora.prepared import save_prepared

    check_writable(options.out)  # before the text is tokenized
    run_config = with_languages(with_dotted(preset(options.preset), options.settings), options)
    corpus = load_corpus(
        corpus_source(options, run_config),
        run_config,
        lambda text: print(one_line(text), file=sys.stderr),
    )
    save_prepared(corpus, options.out)
    vocabularies = len(corpus.codecs.source.vocabulary), len(corpus.codecs.target.vocabulary)
    print(
        f"{one_line(options.out)}: {len(corpus.train):,} training and {len(corpus.validation):,} "
        f"validation pairs, vocabularies of {vocabularies[0]:,} and {vocabularies[1]:,}, for the "
        f"preset {options.preset}"
    )
    if corpus.left_out_note:
        print(corpus.left_out_note)
    return 0


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add `--set`."""
    parser.add_argument(
        "--set",
        dest="settings",
        action=_LaterSetting,
        default=[],
        metavar="NAME=VALUE",
        help="any setting by its dotted name, such as model.width=64; repeatable, the last "
        "counts (see augenmerk train --list-settings)",
    )


class _LaterSetting(argparse.Action):
    """Adds a setting, which replaces what earlier words say about it, so that a proposal can be
    appended.
    """

    def __call__(
        self, parser: argparse.ArgumentParser, options: argparse.Namespace, word: Any, *_: Any
    ) -> None:
        name = _name_of(word)
        options.settings = [
            *(earlier for earlier in options.settings if _name_of(earlier) != name),
            word,
        ]
        own_option = name.partition(".")[2]  # such as --batch-size
        # paths name a file, not a setting
        if isinstance(getattr(options, own_option, None), int | str):
            setattr(options, own_option, parser.get_default(own_option))


def _name_of(word: str) -> str:
    return word.partition("=")[0].strip()


def add_corpus(parser: argparse.ArgumentParser) -> None:
    """Add `--data`, `--source` and `--target`, and the languages."""
    parser.add_argument(
        "--data",
        metavar="DIR|FILE|multi30k|copy",
        help="a folder with train.de and train.en, or other languages (plain or .gz, optionally "
        "with val.*), a file of sentence pairs (two columns separated by a tab, or JSON "
        "lines with a field for each language), a file of prepared data, multi30k "
        "(downloaded once; for non-commercial use), or copy (the copy task)",
    )
    parser.add_argument(
        "--source",
        type=Path,
        metavar="FILE",
        help="source lines, instead of --data; needs --target",
    )
    parser.add_argument("--target", type=Path, metavar="FILE", help="the translations of --source")
    for side, of_preset in (("source", "de"), ("target", "en")):
        parser.add_argument(
            f"--{side}-language",
            metavar="CODE",
            help=f"language of the {side} (default: the preset's, {of_preset})",
        )


def with_languages(run: RunConfig, options: argparse.Namespace) -> RunConfig:
    """The run with the languages of the options. Raises `ConfigError`."""
    names = ("source_language", "target_language")
    languages = {
        name: getattr(options, name) for name in names if getattr(options, name) is not None
    }
    if languages and run.is_copy_task:
        raise ConfigError(
            f"The preset {run.preset} copies symbols and has no languages. Omit "
            "--source-language and --target-language."
        )
    return replace(run, data=run.data.replace(**languages))


def corpus_source(options: argparse.Namespace, run: RunConfig) -> DataSource:
    """The corpus named by the options of `add_corpus`, or the copy task.

    Raises:
        ConfigError: no corpus or two are named.
    """
    pair: Sequence[Path | None] = (options.source, options.target)
    if options.data is None and all(pair):
        return options.source, options.target
    if any(pair):
        raise ConfigError("Name the corpus either by --data or by --source and --target together.")
    source: DataSource | None = options.data or ("copy" if run.is_copy_task else None)
    if source is None:
        raise ConfigError(
            f"The preset {run.preset} needs sentence pairs. Add --data with a folder, a file or "
            "the word multi30k; or --source and --target."
        )
    return source
