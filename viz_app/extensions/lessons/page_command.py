"""Write a model as one HTML file.

Any current browser runs it: without an installation, a server or a network.
"""

import argparse
from pathlib import Path

from augenmerk.core.cli.lines import print_note
from augenmerk.core.cli.outputs import WEB_PAGE, OutputFile
from augenmerk.core.errors import ConfigError
from augenmerk.core.resources import bundled_model_path, is_bundled_model

SUFFIXES = (".html", ".htm")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `page`."""
    parser.epilog = (
        "A link such as lab.html#text=Zwei Hunde.&off=cross:2:5&replace-word=2=Katzen opens the "
        "page with this experiment: changes are written as for “augenmerk translate”. “Copy "
        "link” in the page makes such links."
    )
    parser.add_argument(
        "model",
        nargs="?",
        type=Path,
        metavar="MODEL",
        help="a checkpoint (default: the bundled one)",
    )
    parser.add_argument(
        "--out",
        type=OutputFile(WEB_PAGE),
        required=True,
        metavar="FILE",
        help="a name that ends in .html",
    )
    parser.add_argument(
        "--lesson",
        type=Path,
        metavar="FILE",
        help="a lesson (*.augenmerk) made with this model: its scenes, with questions and "
        "answers, above the model",
    )
    parser.add_argument(
        "--text", default="", metavar="SENTENCE", help="the sentence that the page shows first"
    )
    parser.add_argument(
        "--bits",
        type=int,
        choices=(16, 32),
        default=16,
        help="of the weights. 16 (default): 2.4 bytes per parameter, and the page says if any "
        "was rounded; 32: all digits of a model saved with 32, 4.5 bytes per parameter. The "
        "bundled model has 16, so nothing is rounded",
    )


def run(options: argparse.Namespace) -> int:
    """Packs the model and writes the page. Raises `AugenmerkError`."""
    if options.out.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"--out {options.out}: choose a file name that ends in .html.")
    if options.lesson is not None and options.text:
        raise ConfigError("--lesson shows the sentences of its scenes. Omit --text.")
    from augenmerk.core.checkpoint.file import load_checkpoint
    from augenmerk.core.maps.roles import read_sample_roles

    from ..examples.gallery import gallery
    from ..pictures.page_parts import FirstView
    from ..pictures.running_page import save_running_page
    from .lesson_for_page import lesson_for_page

    path = options.model or bundled_model_path()
    examples = gallery() if is_bundled_model(path) else ()
    bits: int = options.bits
    lesson = (
        lesson_for_page(options.lesson, path, bits == 16) if options.lesson is not None else None
    )
    checkpoint = load_checkpoint(path)
    roles = read_sample_roles(path, checkpoint.run.model)
    packed = save_running_page(
        checkpoint,
        path.stem,
        options.out,
        FirstView(options.text),
        examples,
        lesson,
        roles,
        bits=bits,
    )
    if packed.note:
        print_note(packed.note)
    print_note(f"{options.out}: {options.out.stat().st_size / 1e6:.1f} MB")
    return 0
