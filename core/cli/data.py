"""Tokenize a corpus once, so that a machine without spaCy can train from the file."""

import argparse
import sys
from pathlib import Path

from augenmerk.core.cli.options import add_corpus, add_settings, read_corpus, with_languages
from augenmerk.core.config import DEFAULT_PRESET, PRESETS, preset
from augenmerk.core.config.dotted import with_dotted


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `data`."""
    parser = commands.add_parser("data", help="prepare a corpus for training elsewhere", description=__doc__)
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    prepare = actions.add_parser("prepare", help="tokenize a corpus and store its ids", description=__doc__)
    add_corpus(prepare)
    prepare.add_argument(
        "--preset", choices=PRESETS, default=DEFAULT_PRESET, help="tokenize as this preset does (default: %(default)s)"
    )
    add_settings(prepare)
    prepare.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file to write (.safetensors)")
    prepare.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Prepare and write. Raises `AugenmerkError`."""
    from augenmerk.core.corpora.prepared import save_prepared

    run_config = with_languages(with_dotted(preset(options.preset), options.settings), options)
    corpus = read_corpus(options, run_config, lambda text: print(text, file=sys.stderr))
    save_prepared(corpus, options.out)
    vocabularies = len(corpus.codecs.source.vocabulary), len(corpus.codecs.target.vocabulary)
    print(
        f"{options.out}: {len(corpus.train):,} training and {len(corpus.validation):,} validation pairs, vocabularies "
        f"of {vocabularies[0]:,} and {vocabularies[1]:,}, for the preset {options.preset}"
    )
    return 0
