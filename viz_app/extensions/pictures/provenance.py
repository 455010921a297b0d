"""Provenance of exported files: the experiment, the model, the options and the versions.

It is an experiment file, compressed, as one word of ASCII that no format escapes or breaks:
`augenmerk:` and Base64. PNG has it as text chunk, SVG in its metadata, PDF in its information
dictionary, HTML in its head. JSON and NPZ have the same as values, CSV in a file next to it. No Qt,
no matplotlib.
"""

import base64
import binascii
import json
import re
import zlib
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from augenmerk.core import __version__
from augenmerk.core.errors import ExperimentFileError
from augenmerk.core.storage import open_file, write_text
from augenmerk.core.translation.experiment_file import (
    MAX_BYTES,
    ModelReference,
    SavedExperiment,
    ViewValue,
    experiment_to_json,
    from_bytes,
    to_bytes,
)
from augenmerk.core.translation.result import Translation

MAX_FILE_BYTES = 200_000_000
VERSIONS = "versions"
"""Name of the versions in `SavedExperiment.view`; the other names are options of the figure."""
_MARK = "augenmerk:"
_WORD = rb"(augenmerk:[A-Za-z0-9_=-]+)"
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_HEADER_BYTES = len(_PNG) + 25
_PDF_TRAILER = re.compile(rb"trailer\s*<<(.*?)>>\s*startxref\s+(\d{1,12})\s+%%EOF\s*\Z", re.DOTALL)
# texts of the picture are escaped, so no sentence can look like these
_PATTERNS = {
    "svg": re.compile(rb'<metadata id="augenmerk">' + _WORD + rb"</metadata>"),
    "pdf": re.compile(rb"/Keywords \(" + _WORD + rb"\)"),
    "html": re.compile(rb'<meta name="augenmerk" content="' + _WORD + rb'">'),
}


def versions() -> str:
    """The versions that the bytes of a picture depend on."""
    with suppress(PackageNotFoundError):  # a page needs no matplotlib
        return f"augenmerk {__version__}, matplotlib {version('matplotlib')}"
    return f"augenmerk {__version__}"


def provenance(
    translation: Translation, model: str, options: Mapping[str, ViewValue] | None = None
) -> SavedExperiment | None:
    """What a file says about its origin; None for a translation of unknown origin.

    Args:
        translation: the result that is exported.
        model: name of the model.
        options: of the figure; None for a file that `augenmerk figure --again` cannot draw.
    """
    if not translation.model_digest:
        return None
    reference = ModelReference(model, translation.model_digest)
    return SavedExperiment(
        translation.experiment, reference, {VERSIONS: versions(), **(options or {})}
    )


def provenance_values(saved: SavedExperiment | None) -> dict[str, Any]:
    """The same for exported numbers, as JSON values."""
    if saved is None:
        return {}
    return {
        "version": __version__,
        "model_digest": saved.model.digest,
        "experiment_values": experiment_to_json(saved.experiment),
    }


def save_beside_table(facts: Mapping[str, Any], target: Path) -> None:
    """Writes the facts of a CSV file, with its provenance, as JSON next to it.

    The name is that of CSV on the Web (W3C), `NAME.csv-metadata.json`. In the table, such lines
    would be rows or columns for pandas, R and spreadsheets.

    Raises:
        StorageError: the file cannot be written.
    """
    text = json.dumps({"url": target.name, **facts}, ensure_ascii=False, indent=1, allow_nan=False)
    write_text(target.with_name(f"{target.name}-metadata.json"), text)


def with_provenance(content: bytes, saved: SavedExperiment | None) -> bytes:
    """A finished PNG, SVG, PDF or HTML file that also holds its provenance.

    Raises `ExperimentFileError` if the experiment is too large for that.
    """
    if saved is None:
        return content
    word = _MARK.encode() + base64.urlsafe_b64encode(zlib.compress(to_bytes(saved), 9))
    kind = _kind_of(content)
    if kind == "png":
        text = _chunk(b"Software\0" + f"Augenmerk {__version__}".encode("latin-1", "replace"))
        chunks = text + _chunk(b"Augenmerk\0" + word)
        return content[:_PNG_HEADER_BYTES] + chunks + content[_PNG_HEADER_BYTES:]
    if kind == "svg":
        element = b'\n<metadata id="augenmerk">' + word + b"</metadata>"
        return re.sub(rb"<svg\b[^>]*>", lambda tag: tag[0] + element, content, count=1)
    if kind == "pdf":
        return content + _pdf_update(content, word)
    element = b'<head>\n<meta name="augenmerk" content="' + word + b'">'
    return content.replace(b"<head>", element, 1)


def read_provenance(path: Path) -> SavedExperiment:
    """The provenance in a file.

    Raises:
        ExperimentFileError: the file cannot be read, or has none, or it is damaged.
    """
    try:
        with open_file(path) as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ExperimentFileError(
            f"{path} cannot be read: {error.strerror or error}. Choose a picture by Augenmerk."
        ) from error
    if len(content) > MAX_FILE_BYTES:
        raise ExperimentFileError(f"{path} is too large for a picture by Augenmerk.")
    kind = _kind_of(content)
    if not kind:
        raise ExperimentFileError(
            f"{path} is no PNG, SVG, PDF or HTML file. Choose a picture by Augenmerk."
        )
    words = [_png_word(content)] if kind == "png" else _PATTERNS[kind].findall(content)
    if len(words) != 1 or not words[0]:
        raise ExperimentFileError(
            f"{path} does not say how it was drawn. It was made with --no-provenance, by another "
            "program or by an earlier version, or a program removed its metadata."
        )
    return from_bytes(_unpacked(words[0], path), path)


def _unpacked(word: bytes, path: Path) -> bytes:
    """The experiment file in a word, cut off after the limit, which its reader reports."""
    try:
        packed = base64.b64decode(word.removeprefix(_MARK.encode()), b"-_", validate=True)
        return zlib.decompressobj().decompress(packed, MAX_BYTES + 1)
    except (binascii.Error, zlib.error) as error:
        raise ExperimentFileError(
            f"{path} has damaged metadata, which cannot be unpacked. Choose another copy of it."
        ) from error


def _kind_of(content: bytes) -> str:
    """The kind of a file by its first bytes; empty for another."""
    start = content[:4096].lstrip().lower()
    if content.startswith(_PNG):
        return "png"
    if start.startswith(b"%pdf"):
        return "pdf"
    if start.startswith(b"<!doctype html"):
        return "html"
    return "svg" if start.startswith(b"<") and b"<svg" in start else ""


def _chunk(text: bytes) -> bytes:
    """A text chunk of a PNG."""
    body = b"tEXt" + text
    return len(text).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")


def _png_word(content: bytes) -> bytes:
    """The word in a PNG; empty without one. Compressed texts are not unpacked."""
    start = len(_PNG)
    while start + 8 <= len(content):
        size = int.from_bytes(content[start : start + 4], "big")
        name = content[start + 4 : start + 8]
        text = content[start + 8 : start + 8 + size]
        if name == b"tEXt" and text.startswith(b"Augenmerk\0"):
            word = text.removeprefix(b"Augenmerk\0")
            return word if re.fullmatch(_WORD, word) else b""
        start += size + 12
    return b""


def _pdf_update(content: bytes, word: bytes) -> bytes:
    """An incremental update of a PDF (ISO 32000-1, 7.5.6) with another information dictionary.

    Raises `ExperimentFileError` if the file is not written as matplotlib and Qt do.
    """
    trailer = _PDF_TRAILER.search(content[-2048:])
    size = re.search(rb"/Size\s+(\d{1,9})", trailer[1]) if trailer else None
    root = re.search(rb"/Root\s+\d+\s+\d+\s+R", trailer[1]) if trailer else None
    if trailer is None or size is None or root is None:
        raise ExperimentFileError(
            "This PDF file cannot hold its provenance. Export it without, or as SVG."
        )
    number = int(size[1])
    producer = f"Augenmerk {__version__}".encode("ascii", "replace")
    gap = b"" if content.endswith(b"\n") else b"\n"
    start = len(content) + len(gap)
    entry = b"%d 0 obj\n<< /Producer (%s) /Keywords (%s) >>\nendobj\n" % (number, producer, word)
    table = b"xref\n%d 1\n%010d 00000 n \n" % (number, start)
    end = b"trailer\n<< /Size %d %s /Info %d 0 R /Prev %s >>\nstartxref\n%d\n%%%%EOF\n" % (
        number + 1,
        root[0],
        number,
        trailer[2],
        start + len(entry),
    )
    return gap + entry + table + end
