"""Import a model of another project as a checkpoint."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ...cli.command import tell
from ...cli.outputs import OutputFile
from ...plain_text import one_line
from ...storage import writable
from ...text.languages import language_in_words
from ..training.cli.outputs import CHECKPOINT
from .reader import importable

if TYPE_CHECKING:
    from .model import ImportSummary  # torch comes with it


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `import`."""
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help=f"{importable()}, or the name of a Hugging Face repository, such as "
        "Helsinki-NLP/opus-mt-de-en",
    )
    parser.add_argument(
        "--out",
        type=OutputFile(CHECKPOINT),
        required=True,
        metavar="FILE",
        help="the checkpoint to write",
    )
    parser.add_argument(
        "--source-language",
        metavar="CODE",
        help="language of the source if the files do not name it: de or German",
    )
    parser.add_argument("--target-language", metavar="CODE", help="language of the target")
    parser.add_argument(
        "--revision", metavar="COMMIT", help="revision of the repository (default: the newest)"
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="Multi30k folder, to rebuild the vocabularies of notebook 6 and The Annotated "
        "Transformer",
    )
    parser.add_argument(
        "--heads",
        type=int,
        metavar="N",
        help="number of heads of these two, which their files do not contain; 8 in the published "
        "models",
    )
    parser.add_argument(
        "--half",
        action=argparse.BooleanOptionalAction,
        help="store weights in 16 or 32 bits (default: 16 if the files use 16 or if 32 would take "
        "over 100 MB)",
    )


def run(options: argparse.Namespace) -> int:
    """Import, write and describe the model. Raises `AugenmerkError`."""
    from .importing import import_model
    from .model import ImportOptions, check_target

    import_options = ImportOptions(
        revision=options.revision or "",
        source_language=options.source_language,
        target_language=options.target_language,
        data=options.data,
        num_heads=options.heads,
        half_precision=options.half,
    )
    with writable(options.out), _Progress() as progress:
        # before minutes are spent in vain
        check_target(options.out, (options.source, options.data))
        model = import_model(
            options.source,
            import_options,
            on_summary=lambda summary: progress.tell(f"augenmerk: {_plan(summary)}"),
            on_phase=progress.phase,
            on_download=progress.download,
        )
        progress.phase(f"Writing {options.out.name}")
        model.save(options.out)
    summary = model.summary
    origin = model.checkpoint.origin
    source, target = map(language_in_words, summary.languages)
    assert origin is not None
    print(f"{one_line(options.out)}: {summary.name} ({summary.format}), {source} to {target}")
    print(
        f"  {summary.num_parameters:,} parameters, {options.out.stat().st_size / 1e6:.1f} MB, "
        f"{summary.bits}-bit"
    )
    if origin.revision:
        print(f"  revision {origin.revision}")
    if origin.licence:
        print(f"  licence {origin.licence}")
    if summary.target_codes:
        print(
            "  start a text with the code of its target language, or use --into: "
            f"{' '.join(summary.target_codes)}"
        )
    for note in (*summary.notes, *filter(None, (summary.precision_note,))):
        tell(note)
    return 0


def _plan(summary: "ImportSummary") -> str:
    """One line on the precision and size of the file, and on the alternative."""
    other = "--no-half" if summary.half_precision else "--half"
    sizes = (summary.disk_bytes, summary.disk_bytes_in(half_precision=not summary.half_precision))
    chosen, otherwise = (f"{max(size / 1e6, 0.1):,.1f} MB" for size in sizes)
    return (
        f"{summary.name} will be stored in {summary.bits} bits, about {chosen} "
        f"({otherwise} in {48 - summary.bits} bits: {other})"
    )


class _Progress:
    """Shows phases and downloads on standard error, as a bar if it is a terminal."""

    def __enter__(self) -> "_Progress":
        from tqdm import tqdm

        self._bar = tqdm(
            total=0, unit="B", unit_scale=True, disable=None, leave=False, file=sys.stderr
        )
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def tell(self, text: str) -> None:
        """Print a line above the bar."""
        self._bar.write(one_line(text), file=sys.stderr)

    def phase(self, text: str) -> None:
        """Show the current phase."""
        self._bar.set_description_str(text)

    def download(self, name: str, done_bytes: int, total_bytes: int) -> None:
        """Show how much of a file has been downloaded."""
        self._bar.set_description_str(f"Downloading {name}")
        self._bar.total = total_bytes
        self._bar.n = done_bytes
        self._bar.refresh()
