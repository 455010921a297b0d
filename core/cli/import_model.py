"""`augenmerk import`: a model of another project as a file of this one."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from augenmerk.core.storage import writable

if TYPE_CHECKING:
    from augenmerk.core.interop.model import ImportSummary  # torch comes with it


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds `import`."""
    parser = commands.add_parser(
        "import", help="import a model: Hugging Face Marian (OPUS-MT), JoeyNMT, notebook 6, the Annotated Transformer"
    )
    parser.description = __doc__
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help="a folder with a Marian model of Hugging Face or one of JoeyNMT, a PyTorch file of notebook 6 or of the "
        "Annotated Transformer, or the name of a repository at Hugging Face, such as Helsinki-NLP/opus-mt-de-en",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the checkpoint to write")
    parser.add_argument(
        "--source-language", metavar="CODE", help="the source's language, if the files do not say it: de, or German"
    )
    parser.add_argument("--target-language", metavar="CODE", help="the target's, likewise")
    parser.add_argument("--revision", metavar="COMMIT", help="of the repository (default: its newest)")
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="Multi30k, from which the vocabularies of notebook 6 and the Annotated Transformer are rebuilt",
    )
    parser.add_argument("--heads", type=int, metavar="N", help="heads of these two, whose files do not say it")
    parser.add_argument(
        "--half",
        action=argparse.BooleanOptionalAction,
        help="store weights in 16 bits, or in 32 (default: 16 if the files have 16, or if 32 would take over 100 MB)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Imports, writes and says what it was. Raises `AugenmerkError`."""
    from augenmerk.core.interop.importing import import_model
    from augenmerk.core.interop.model import ImportOptions
    from augenmerk.core.interop.target import check_target
    from augenmerk.core.text.languages import UNDETERMINED, language_name

    wanted = ImportOptions(
        revision=options.revision or "",
        source_language=options.source_language,
        target_language=options.target_language,
        data=options.data,
        num_heads=options.heads,
        half_precision=options.half,
    )
    with writable(options.out), _Progress() as progress:
        check_target(options.out, (options.source, options.data))  # before minutes are spent on what cannot be saved
        model = import_model(
            options.source,
            wanted,
            on_summary=lambda summary: progress.tell(f"augenmerk: {_plan(summary)}"),
            on_phase=progress.phase,
            on_download=progress.download,
        )
        progress.phase(f"Writing {options.out.name}")
        model.save(options.out)
    summary, origin = model.summary, model.checkpoint.origin
    source, target = (
        "a language that it does not name" if code == UNDETERMINED else language_name(code)
        for code in summary.languages
    )
    assert origin is not None
    print(f"{options.out}: {summary.name} ({summary.format}), {source} to {target}")
    print(f"  {summary.num_parameters:,} parameters, {options.out.stat().st_size / 1e6:.1f} MB, {summary.bits}-bit")
    if origin.revision:
        print(f"  revision {origin.revision}")
    if origin.licence:
        print(f"  licence {origin.licence}")
    if summary.target_codes:
        print(f"  begin a text with the language to translate into: {' '.join(summary.target_codes)}")
    for note in (*summary.notes, *filter(None, (summary.precision_note,))):
        print(f"augenmerk: {note}", file=sys.stderr)
    return 0


def _plan(summary: "ImportSummary") -> str:
    """What will be written, and what the other precision would take."""
    other = "--no-half" if summary.half_precision else "--half"
    sizes = (summary.disk_bytes, summary.disk_bytes_in(half_precision=not summary.half_precision))
    chosen, otherwise = (f"{max(size / 1e6, 0.1):,.1f} MB" for size in sizes)
    return (
        f"{summary.name} will be stored in {summary.bits} bits, about {chosen} "
        f"({otherwise} in {48 - summary.bits} bits: {other})"
    )


class _Progress:
    """Phases and downloads on standard error, as a bar where it is a terminal."""

    def __enter__(self) -> "_Progress":
        from tqdm import tqdm

        self._bar = tqdm(total=0, unit="B", unit_scale=True, disable=None, leave=False, file=sys.stderr)
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def tell(self, text: str) -> None:
        """A line that stays, above the bar."""
        self._bar.write(text, file=sys.stderr)

    def phase(self, text: str) -> None:
        """What is being done."""
        self._bar.set_description_str(text)

    def download(self, name: str, done_bytes: int, total_bytes: int) -> None:
        """How much of a file has arrived."""
        self._bar.set_description_str(f"Downloading {name}")
        self._bar.total = total_bytes
        self._bar.n = done_bytes
        self._bar.refresh()
