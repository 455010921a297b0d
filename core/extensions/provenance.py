"""Provenance of exported files: the experiment, the model, the options and the versions.

It is an experiment file, or the facts about several experiments or a training as JSON, compressed,
as one word of ASCII that no format escapes or breaks: `augenmerk:` and Base64. PNG has it as text
chunk, SVG in its metadata, PDF in its information dictionary, HTML in its head, GIF and Markdown in
a comment, MP4 in the comment of the film. JSON and NPZ have the same as values, CSV and plain text
in a file next to it. No Qt, no matplotlib.
"""

import base64
import binascii
import hashlib
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .. import __version__
from ..config import RunConfig
from ..counting import Counted, display_text
from ..errors import ExperimentFileError
from ..maps.measure import MeasureName
from ..maps.selection import Combination, HiddenKind, LabelMode
from ..model.heads import AttentionKind
from ..storage import open_file, write_text
from ..strict_json import Field
from ..translation.experiment import Experiment
from ..translation.experiment_file import (
    DOCUMENT_FIELDS,
    KIND,
    MAX_BYTES,
    ModelReference,
    SavedExperiment,
    ViewValue,
    document_in,
    document_to_bytes,
    experiment_to_json,
    from_bytes,
    naming_the_file,
    to_bytes,
)
from ..translation.result import Translation

Provenance = SavedExperiment | Mapping[str, Any]
"""Of one experiment; or the facts about a file that shows several, or a training."""
ORIGIN = "origin"
"""Kind of a document that holds such facts, and its field."""
MAX_FILE_BYTES = 200_000_000
MAX_FACTS = 100
EXPORTS = (".png", ".svg", ".pdf", ".html", ".htm", ".gif", ".mp4", ".md")
"""Endings of files that have their provenance in them."""
VERSIONS = "versions"
"""Name of the versions in `SavedExperiment.view`; the other names are options of the figure."""
BESIDE_TABLE = "-metadata.json"
"""End of the name of the file next to a CSV or text file."""
DRAWN_BY = "drawn_by"
"""Name of the function that drew a figure in Python, in `SavedExperiment.view`."""
_MARK = "augenmerk:"
_WORD = rb"(augenmerk:[A-Za-z0-9_=-]+)"
_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_HEADER_BYTES = len(_PNG) + 25
_PDF_TRAILER = re.compile(rb"trailer\s*<<(.*?)>>\s*startxref\s+(\d{1,12})\s+%%EOF\s*\Z", re.DOTALL)
# UTF-16, as Qt writes it; an empty title is left out
_PDF_TITLE = re.compile(rb"/Title \(\xfe\xff(?:\\.|[^\\()])+\)", re.DOTALL)
# texts of the picture are escaped, so no sentence can look like these
_PATTERNS = {
    "svg": re.compile(rb'<metadata id="augenmerk">' + _WORD + rb"</metadata>"),
    "pdf": re.compile(rb"/Keywords \(" + _WORD + rb"\)"),
    "html": re.compile(rb'<meta name="augenmerk" content="' + _WORD + rb'">'),
    "md": re.compile(rb"<!-- " + _WORD + rb" -->"),
    "mp4": re.compile(rb"data\x00{3}\x01\x00{4}" + _WORD),
}
_GIF_COMMENT = b"!\xfe"


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


def figure_options(  # noqa: PLR0913 - one for each option of `augenmerk figure`
    *,
    kind: AttentionKind,
    layer: int | None,
    head: int | None,
    measure: MeasureName,
    label: LabelMode,
    words: bool,
    hide: Sequence[HiddenKind],
    combine: Combination = "mean",
    grid: bool = False,
    own_scale: bool = False,
    user_style: bool = False,
) -> dict[str, ViewValue]:
    """What a file of maps says about its drawing, under the names of the options of `augenmerk
    figure`. Layer and head count from 1; None for all.
    """
    return {
        "kind": kind,
        "layer": layer,
        "head": head,
        "combine": combine,
        "grid": grid,
        "measure": measure,
        "label": label,
        "words": words,
        "hide": tuple(hide),
        "own_scale": own_scale,
        "user_style": user_style,
    }


def provenance_values(saved: Provenance | None) -> dict[str, Any]:
    """The same for exported numbers, as JSON values, with the versions that it names."""
    if saved is None:
        return {}
    if not isinstance(saved, SavedExperiment):
        return dict(saved)
    options = dict(saved.view)
    values = {
        **_versions_in(str(options.pop(VERSIONS, ""))),
        "model": saved.model.name,
        "model_digest": saved.model.digest,
        "experiment_values": experiment_to_json(saved.experiment),
        "options": options,
    }
    return {name: value for name, value in values.items() if value}


def _versions_in(text: str) -> dict[str, str]:
    """The versions that `versions` wrote; `version` is that of Augenmerk."""
    pairs = [part.partition(" ") for part in text.split(", ") if part]
    return {
        "version" if name == "augenmerk" else f"{name}_version": number for name, _, number in pairs
    }


def facts_of_experiments(
    model: str, digest: str, experiments: Sequence[Experiment]
) -> dict[str, Any]:
    """What a file says that shows any number of experiments with one model: its name and digest."""
    return {
        "version": __version__,
        "model": _in_utf_8(model),
        "model_digest": digest,
        "experiments": [experiment_to_json(experiment) for experiment in experiments],
    }


def facts_of_maps(maps: Sequence[SavedExperiment]) -> dict[str, Any]:
    """What a file says that shows several maps: the same about each as a file of that map."""
    values = json.loads(json.dumps([provenance_values(saved) for saved in maps]))  # lists only
    return {"version": __version__, "maps": values}


def facts_of_run(
    name: str, settings: RunConfig | None, translation: Translation | None = None
) -> dict[str, Any]:
    """What a file about a training says.

    Args:
        name: of the run.
        settings: of the run; None if they are not known.
        translation: the last one in the file, which has the digest of the model at that step; None
            if the file shows none.
    """
    values = settings.to_dict() if settings is not None else None
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode("utf-8")).hexdigest()
    saved = provenance(translation, name) if translation is not None else None
    return {
        "version": __version__,
        "run": _in_utf_8(name),
        "settings": values,
        "settings_digest": digest if values is not None else None,
        **provenance_values(saved),
    }


def save_beside_table(facts: Mapping[str, Any], target: Path) -> None:
    """Writes the facts of a CSV or text file, with its provenance, as JSON next to it.

    The name is that of CSV on the Web (W3C), `NAME.csv-metadata.json`. In the table, such lines
    would be rows or columns for pandas, R and spreadsheets. Layers, heads and steps count from 1,
    as in the table. Call this before the new table replaces an older one, which stays if this
    fails.

    Raises:
        StorageError: the file cannot be written.
    """
    counted = {
        name: display_text(value) if isinstance(value, Counted) else value
        for name, value in facts.items()
    }
    text = json.dumps(
        {"url": target.name, **counted}, ensure_ascii=False, indent=1, allow_nan=False
    )
    write_text(beside_table(target), text)


def beside_table(table: Path) -> Path:
    """The file with the facts about a CSV or text file."""
    return table.with_name(table.name + BESIDE_TABLE)


def as_word(saved: Provenance) -> bytes:
    """The provenance as one word of ASCII. Raises `ExperimentFileError` if it is too large."""
    content = to_bytes(saved) if isinstance(saved, SavedExperiment) else _facts_to_bytes(saved)
    return _MARK.encode() + base64.urlsafe_b64encode(zlib.compress(content, 9))


def with_provenance(content: bytes, saved: Provenance | None) -> bytes:
    """A finished PNG, SVG, PDF, HTML, GIF or Markdown file that also holds its provenance.

    Raises `ExperimentFileError` if the provenance is too large for that.
    """
    if not saved:
        return content
    word = as_word(saved)
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
    if kind == "gif":
        start = _gif_header_bytes(content)
        return content[:start] + _gif_comment(word) + content[start:]
    if kind == "md":
        return content + b"\n<!-- " + word + b" -->\n"
    element = b'<head>\n<meta name="augenmerk" content="' + word + b'">'
    return content.replace(b"<head>", element, 1)


def text_with_provenance(text: str, saved: Provenance | None) -> str:
    """The same for a page or Markdown, which may hold names of files that are not UTF-8."""
    content = with_provenance(text.encode("utf-8", "surrogatepass"), saved)
    return content.decode("utf-8", "surrogatepass")


def read_provenance(path: Path) -> SavedExperiment:
    """The experiment in the provenance of a file.

    Raises:
        ExperimentFileError: the file cannot be read, or has none, or it is damaged, or of several
            experiments or a training.
    """
    content = _provenance_of(path)
    with naming_the_file(path, "a picture of one experiment"):
        kind, _ = document_in(content, KIND, ORIGIN)
    if kind == ORIGIN:
        raise ExperimentFileError(
            f"{path} does not show just one map, or all heads, of one experiment, so it cannot be "
            "drawn again. Choose a picture that does."
        )
    return from_bytes(content, path)


def read_provenance_values(path: Path) -> dict[str, Any]:
    """The provenance of a file as JSON values, whatever it shows. Raises `ExperimentFileError`."""
    content = _provenance_of(path)
    with naming_the_file(path, "a file by Augenmerk"):
        kind, document = document_in(content, KIND, ORIGIN)
        if kind == ORIGIN:
            return _facts_in(document)
    return provenance_values(from_bytes(content, path))


def content_of(path: Path, meaning: str) -> bytes:
    """The bytes of a file; `meaning`: what it should be. Raises `ExperimentFileError`."""
    try:
        with open_file(path) as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ExperimentFileError(
            f"{path} cannot be read: {error.strerror or error}. Choose {meaning}."
        ) from error
    if len(content) > MAX_FILE_BYTES:
        raise ExperimentFileError(f"{path} is too large for {meaning}.")
    return content


def _in_utf_8(name: str) -> str:
    """The name of a file, without bytes that are not UTF-8."""
    return name.encode("utf-8", "replace").decode("utf-8")


def _facts_to_bytes(facts: Mapping[str, Any]) -> bytes:
    def comes_back(data: bytes) -> bool:
        return _facts_in(document_in(data, ORIGIN)[1]) == facts

    return document_to_bytes(ORIGIN, {ORIGIN: facts}, comes_back)


def _facts_in(document: Field) -> dict[str, Any]:
    """The facts in a document of kind `ORIGIN`. Raises `JsonError`."""
    facts = document.members(*DOCUMENT_FIELDS, ORIGIN)[ORIGIN].any_members(MAX_FACTS)
    return {name: field.value for name, field in facts.items()}


def _provenance_of(path: Path) -> bytes:
    """The document in a file. Raises `ExperimentFileError`."""
    content = content_of(path, "a picture by Augenmerk")
    kind = _kind_of(content)
    if not kind:
        raise ExperimentFileError(
            f"{path} is no PNG, SVG, PDF, HTML, GIF, MP4 or Markdown file. Choose a picture by Augenmerk."
        )
    if kind in _PATTERNS:
        words = _PATTERNS[kind].findall(content)
    else:
        words = [_png_word(content) if kind == "png" else _gif_word(content)]
    if len(words) != 1 or not words[0]:
        raise ExperimentFileError(
            f"{path} does not say how it was drawn. It was made with --no-provenance, in Python "
            "without save_figure, by another program or by an earlier version, or a program "
            "removed its metadata."
        )
    return _unpacked(words[0], path)


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
    if content.startswith(b"GIF89a"):
        return "gif"
    if content[4:8] == b"ftyp":
        return "mp4"
    if content.startswith(b"# "):
        return "md"
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


def _gif_header_bytes(content: bytes) -> int:
    """The size of the header of a GIF with its palette."""
    flags = content[10] if len(content) > 10 else 0
    return 13 + (3 << ((flags & 7) + 1) if flags & 128 else 0)


def _gif_comment(word: bytes) -> bytes:
    """A comment of a GIF, in blocks of at most 255 bytes."""
    parts = [word[start : start + 255] for start in range(0, len(word), 255)]
    return _GIF_COMMENT + b"".join(bytes([len(part)]) + part for part in parts) + b"\0"


def _gif_word(content: bytes) -> bytes:
    """The word in the comment after the header of a GIF; empty without one."""
    start = _gif_header_bytes(content)
    word = bytearray()
    if content[start : start + 2] != _GIF_COMMENT:
        return b""
    start += 2
    while start < len(content) and content[start]:
        word += content[start + 1 : start + 1 + content[start]]
        start += 1 + content[start]
    return bytes(word) if re.fullmatch(_WORD, word) else b""


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
    title = _PDF_TITLE.search(content)
    producer = f"Augenmerk {__version__}".encode("ascii", "replace")
    gap = b"" if content.endswith(b"\n") else b"\n"
    start = len(content) + len(gap)
    entry = b"%d 0 obj\n<< /Producer (%s) /Keywords (%s)%s >>\nendobj\n" % (
        number,
        producer,
        word,
        b" " + title[0] if title is not None else b"",
    )
    table = b"xref\n%d 1\n%010d 00000 n \n" % (number, start)
    end = b"trailer\n<< /Size %d %s /Info %d 0 R /Prev %s >>\nstartxref\n%d\n%%%%EOF\n" % (
        number + 1,
        root[0],
        number,
        trailer[2],
        start + len(entry),
    )
    return gap + entry + table + end
