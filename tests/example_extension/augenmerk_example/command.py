"""Print the heads of cross-attention, those that look at one token alone first."""

import argparse

from augenmerk.core.cli.options import add_checkpoint, load_translator
from augenmerk.core.counting import display_text
from augenmerk_example.sharpness import sharpness


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("text", help="the sentence")
    add_checkpoint(parser)


def run(options: argparse.Namespace) -> int:
    """Translate and print. Raises `AugenmerkError`."""
    translation = load_translator(options).translate(options.text)
    for head, value in sharpness(translation, "cross"):
        print(f"{value:.2f}  {display_text(head.short_name)}")
    return 0
