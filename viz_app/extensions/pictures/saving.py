"""Saves the contents of a page: pictures of maps and of the page, numbers, web pages."""

import csv
import html
import io
import json
import math
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QPoint, QRect, QSize, QSizeF, Qt
from PySide6.QtGui import (
    QFont,
    QFontInfo,
    QFontMetrics,
    QImage,
    QPageLayout,
    QPageSize,
    QPaintDevice,
    QPainter,
    QPdfWriter,
    QRegion,
)
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

from augenmerk.core.counting import Counted, display_text
from augenmerk.core.errors import StorageError
from augenmerk.core.extensions.provenance import (
    Provenance,
    provenance,
    provenance_values,
    save_beside_table,
    with_provenance,
)
from augenmerk.core.maps.measures import MEASURES
from augenmerk.core.model.heads import ATTENTION_KINDS
from augenmerk.core.plain_text import one_line, printable
from augenmerk.core.quantities import percent
from augenmerk.core.storage import atomic_path
from augenmerk.core.translation.experiment_file import SavedExperiment

from ...heatmap.drawing import Drawing, large_map
from ...state import map_text
from ...state.experiment_state import ExperimentState
from ...state.map_drawings import DRAWINGS
from ...state.map_source import hides_nothing
from ...state.map_view import MapView
from ...state.marks import query_sum
from ...state.number_table import NumberTable
from ...theme import Theme
from ...views.export_source import ExportSource
from .film import Film, FilmHeads
from .html_page import save_web_page
from .page_content import facts_of, page_content
from .printed_maps import small_maps
from .qt_pdf import pdf_file

NUMBER_FORMATS = ("csv", "json", "npz")
MIDDLE_GREY = 128
OF_ONE_MAP = ("map", "hidden", "picked")
"""Facts that are true of the large map alone."""
Paint = Callable[[QPainter], None]
MARGIN = 12
SCALE = 2
POINTS_PER_PIXEL = 0.75
PIXELS_PER_INCH = 96
FONT_FAMILY = re.compile(rb'(<[a-z]+\b[^<>]*?\bfont-family=")([^"]*)(")')
FALLBACK_FAMILIES = ("DejaVu Sans", "Segoe UI", "Helvetica", "Arial", "sans-serif")
_importing = threading.Lock()


class RunSource(Protocol):
    """The exportable contents of a training run."""

    @property
    def name(self) -> str:
        """Of the run."""

    @property
    def has_film(self) -> bool:
        """Whether there is a film."""

    @property
    def origin(self) -> Mapping[str, Any]:
        """What its files say about their origin."""

    def film_name(self, heads: FilmHeads) -> str:
        """A name for the film's file."""

    def save_charts(self, target: Path, *, has_caption: bool) -> None:
        """The charts in sight as PNG, SVG or PDF. Raises `StorageError`."""

    def save_metrics(self, target: Path) -> None:
        """Every step's metrics as CSV. Raises `StorageError`."""

    def film(self, heads: FilmHeads, *, has_caption: bool) -> Film | None:
        """The film of these heads; None if there is none."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One map and the facts that identify it.

    Attributes:
        drawing: values, labels, marks.
        view: the map that is drawn.
        facts: model, sentence, translation, experiment, kind, layer, head, measure, label mode and
            the like, as far as they apply. They count from 0: see `CountedText`.
        file_name: a name for files made of it, without an ending.
    """

    drawing: Drawing
    view: MapView
    facts: dict[str, str]
    file_name: str


def as_file_name(title: str) -> str:
    """A title without signs that file names cannot have."""
    return "".join(letter if letter.isalnum() or letter in " -_" else "-" for letter in title)


def take_snapshot(state: ExperimentState, model: str) -> Snapshot | None:
    """The large map in its current state; None while there is none."""
    view = state.maps.view()
    drawing = large_map(state)
    head = state.selection.head
    settings = state.settings
    if view is None or drawing is None:
        return None
    title = drawing.title
    facts = {
        **facts_of(state, model),
        "map": map_text.counted_title(state),
        "measure": MEASURES[state.maps.shown_measure(head.kind)].name,
        f"{view.query_band_name}s": "source token"
        if head.kind == "encoder"
        else f"token {settings.label_mode}",
    }
    if settings.selection.hide and hides_nothing(state.maps):
        facts["hidden"] = "nothing: no token would be left"
    elif settings.selection.hide:
        facts["hidden"] = (
            f"{percent(view.labelled.hidden_share, 1)} of the attention, the rest scaled up to its former "
            "sum"
        )
    if settings.merges_words and map_text.splits_words(state):
        facts["words"] = "pieces merged: keys summed, queries averaged"
    total = query_sum(state)
    if total is not None:
        facts["picked"] = total.sentences[0]
    words = re.findall(r"\w+", title.lower())
    shown = state.maps.shown
    if (
        state.result is not None
        and state.result.is_changed
        and (shown != "difference" or drawing.scale.is_signed)
    ):
        words.append(shown)
    return Snapshot(replace(drawing, caption=in_one_line(facts)), view, facts, "-".join(words))


def in_one_line(facts: Mapping[str, str]) -> str:
    """Facts as a caption."""
    return " · ".join(f"{name}: {display_text(value)}" for name, value in facts.items())


def as_table(view: MapView, delimiter: str = ",") -> str:
    """Values with labels, as drawn: the first line names the columns, each other line begins with
    its row's.

    Args:
        view: values and labels; cells without a value are empty.
        delimiter: between two cells.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(map(one_line, view.table_header))
    for label, row in zip(view.row_labels, view.values.tolist(), strict=True):
        writer.writerow(
            [one_line(label), *("" if math.isnan(value) else f"{value:.8g}" for value in row)]
        )
    return text.getvalue()


def save_numbers(snapshot: Snapshot, state: ExperimentState, target: Path) -> None:
    """Writes the map as CSV, as drawn, or as JSON, [Q, M], or all maps of all kinds as NPZ, by the
    name's ending. The facts about a CSV file are in a file next to it.

    Raises:
        StorageError: the ending is another, or the file cannot be written.
    """
    kind = target.suffix.lower().removeprefix(".")
    if kind not in NUMBER_FORMATS:
        raise StorageError(f"{target.name}: choose a file name that ends in .csv, .json or .npz.")
    view = snapshot.view
    facts = {
        **_facts_of_numbers(snapshot),
        **provenance_values(provenance_of(state, snapshot.facts["model"])),
    }
    with atomic_path(target) as temporary:
        if kind == "csv":
            temporary.write_text(as_table(view), encoding="utf-8")
            save_beside_table(facts, target)
        elif kind == "json":
            described = {
                **facts,
                "row_labels": view.labelled.queries.labels,
                "column_labels": view.labelled.keys.labels,
                "weights": [
                    [None if math.isnan(value) else value for value in row]
                    for row in view.weights.tolist()
                ],
            }
            temporary.write_text(
                json.dumps(described, ensure_ascii=False, indent=1, allow_nan=False),
                encoding="utf-8",
            )
        else:
            # a file that cannot be written must not be left to a half-made archive
            content = io.BytesIO()
            np.savez_compressed(content, **_arrays(snapshot, state))
            temporary.write_bytes(content.getbuffer())


def _facts_of_numbers(snapshot: Snapshot) -> dict[str, str]:
    """The facts about numbers of which each row is a query, even if the map is drawn transposed."""
    drawn = f"{snapshot.view.query_band_name}s"
    return {"rows" if name == drawn else name: fact for name, fact in snapshot.facts.items()}


def provenance_of(state: ExperimentState, model: str) -> SavedExperiment | None:
    """The provenance of what the window shows; None while there is no result."""
    return None if state.result is None else provenance(state.result.changed, model)


def save_rows(table: NumberTable, facts: Mapping[str, Any], target: Path) -> None:
    """Writes a table as CSV, which counts from 1, or with its facts and these as JSON, by the
    name's ending. The facts about a CSV file are in a file next to it.

    Raises:
        StorageError: the ending is another, or the file cannot be written.
    """
    kind = target.suffix.lower()
    if kind not in (".csv", ".json"):
        raise StorageError(f"{target.name}: choose a file name that ends in .csv or .json.")
    facts = {**facts, **table.facts}
    with atomic_path(target) as temporary:
        if kind == ".json":
            rows = [dict(zip(table.headings, row, strict=True)) for row in table.rows]
            described = {**facts, "rows": rows}
            temporary.write_text(
                json.dumps(described, ensure_ascii=False, indent=1, allow_nan=False),
                encoding="utf-8",
            )
            return
        with temporary.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(map(display_text, table.headings))
            for row in table.rows:
                texts = (
                    display_text(value) if isinstance(value, Counted) else value for value in row
                )
                writer.writerow(
                    [one_line(value) if isinstance(value, str) else value for value in texts]
                )
        save_beside_table(facts, target)


def _arrays(snapshot: Snapshot, state: ExperimentState) -> dict[str, Any]:
    """The map, its labels, and every head: encoder, decoder, cross, each [L, H, Q, M].

    These are weights of whole maps, with nothing merged or hidden: of the original translation if
    its maps are shown, else of the changed one; with a difference, also those of the original, such
    as original_cross. If another measure is shown, there are also its maps, such as norm_cross.
    """
    translation = state.maps.translation
    maps = state.maps
    assert translation is not None
    assert state.result is not None
    view = snapshot.view
    measured = {
        f"{state.settings.measure}_{kind}": maps.maps_of(translation, kind)
        for kind in ATTENTION_KINDS
        if maps.shown_measure(kind) != "weight"
    }
    original = state.result.original if maps.shown == "difference" else None
    return {
        "map": view.weights,
        "row_labels": np.array(view.labelled.queries.labels),
        "column_labels": np.array(view.labelled.keys.labels),
        "caption": np.array(in_one_line(_facts_of_numbers(snapshot))),
        "provenance": np.array(
            json.dumps(provenance_values(provenance_of(state, snapshot.facts["model"])))
        ),
        "source_tokens": np.array(translation.source_tokens),
        "read_tokens": np.array(translation.read_tokens),
        "predicted_tokens": np.array(translation.predicted_tokens),
        **{kind: translation.maps.of_kind(kind) for kind in ATTENTION_KINDS},
        **(
            {f"original_{kind}": original.maps.of_kind(kind) for kind in ATTENTION_KINDS}
            if original is not None
            else {}
        ),
        **measured,
    }


def import_matplotlib() -> None:
    """Imports matplotlib for the charts, without its Qt part.

    Call this before any other import of matplotlib.
    """
    with _importing:
        import matplotlib.backends.backend_agg
        import matplotlib.figure  # noqa: F401


class Saving:
    """Writes files; without a map, none about maps.

    Attributes:
        source: the contents in view.
        has_caption: whether pictures have captions.
    """

    def __init__(self, source: ExportSource, *, has_caption: bool = True) -> None:
        self.source, self.has_caption = source, has_caption

    @property
    def snapshot(self) -> Snapshot | None:
        """The large map in its current state; None while there is none."""
        return (
            take_snapshot(self.source.state, self.source.model)
            if self.source.state is not None
            else None
        )

    @property
    def origin(self) -> Provenance | None:
        """The provenance of the experiment whose maps are shown, or else of the run."""
        state = self.source.state
        if state is not None:
            return provenance_of(state, self.source.model)
        return None if self.source.run is None else self.source.run.origin

    def save_map(self, target: Path) -> None:
        """The large map as a picture, drawn as on the screen. Raises `StorageError`."""
        snapshot = self.snapshot
        state = self.source.state
        if snapshot is None or state is None:
            return
        caption = self._caption(snapshot.drawing.caption)
        theme = Theme.light()
        painted = (
            DRAWINGS[state.settings.known_picture].load().exported(state, theme, snapshot.view)
        )
        if painted is not None:
            caption = "\n".join(filter(None, (snapshot.drawing.title, caption)))
            save_painted(painted.paint, painted.size, caption, theme, target, self.origin)
            return
        from .saving import import_matplotlib

        import_matplotlib()
        from .figures import map_figure, save_figure

        figure = map_figure(replace(snapshot.drawing, caption=caption))
        save_figure(figure, target, self.origin)

    def save_heads(self, target: Path) -> None:
        """All heads as a picture. Raises `StorageError`."""
        from .saving import import_matplotlib

        import_matplotlib()
        from .figures import grid_figure, save_figure

        snapshot = self.snapshot
        state = self.source.state
        if snapshot is None or state is None:
            return
        queries = f"{snapshot.view.query_band_name}s"
        facts = {
            name: value
            for name, value in snapshot.facts.items()
            if name not in (*OF_ONE_MAP, queries)
        }
        facts[queries] = f"token {state.settings.label_mode}, in encoder maps source token"
        blocks = [small_maps(state, kind) for kind in ATTENTION_KINDS]
        figure = grid_figure(blocks, self._caption(in_one_line(facts)))
        save_figure(figure, target, self.origin)

    def save_page(self, target: Path) -> None:
        """Saves the page as shown in the window, with a caption. Raises `StorageError`."""
        page = self.source.page
        snapshot = self.snapshot
        caption = self.source.caption or (snapshot.drawing.caption if snapshot is not None else "")

        def paint(painter: QPainter) -> None:
            page.render(painter, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)

        theme = (
            Theme.dark()
            if page.palette().window().color().lightness() < MIDDLE_GREY
            else Theme.light()
        )
        caption = self._caption(caption)
        save_painted(paint, page.size(), caption, theme, target, self.origin)

    def save_table(self, target: Path) -> None:
        """The large map as numbers; as NPZ, those of all heads. Raises `StorageError`."""
        snapshot = self.snapshot
        state = self.source.state
        if snapshot is not None and state is not None:
            save_numbers(snapshot, state, target)

    def save_analysis(self, target: Path) -> None:
        """The numbers of the analysis tab in sight. Raises `StorageError`."""
        table, state = self.source.table, self.source.state
        if table is not None and state is not None:
            facts = facts_of(state, self.source.model)
            save_rows(table, {**facts, **provenance_values(self.origin)}, target)

    def save_html(self, target: Path) -> None:
        """The maps of all heads, in the measure that is shown, as one page for the browser.

        Raises `StorageError`.
        """
        state = self.source.state
        content = page_content(state, self.source.model) if state is not None else None
        if content is not None:
            save_web_page(content, target, self.origin)

    def save_charts(self, target: Path) -> None:
        """The charts of a run as a picture. Raises `StorageError`."""
        if self.source.run is not None:
            from .saving import import_matplotlib

            import_matplotlib()
            self.source.run.save_charts(target, has_caption=self.has_caption)

    def save_metrics(self, target: Path) -> None:
        """Saves the metrics of every step of a run. Raises `StorageError`."""
        if self.source.run is not None:
            self.source.run.save_metrics(target)

    def film(self, heads: FilmHeads) -> Film | None:
        """The film in sight, to be written in a thread of its own; None if there is none."""
        return (
            self.source.run.film(heads, has_caption=self.has_caption)
            if self.source.run is not None
            else None
        )

    def _caption(self, text: str) -> str:
        return text if self.has_caption else ""


def save_painted(
    paint: Paint,
    size: QSize,
    caption: str,
    theme: Theme,
    target: Path,
    saved: Provenance | None = None,
) -> None:
    """Writes a picture by the name's ending; SVG and PDF keep shapes and text.

    Args:
        paint: draws into a rectangle of `size` at the origin.
        size: in pixels.
        caption: written below, in several lines if needed.
        theme: for ground and caption.
        target: the file.
        saved: its provenance.

    Raises:
        StorageError: the ending is another, or the file cannot be written.
    """
    kind = target.suffix.lower()
    if kind not in (".png", ".svg", ".pdf"):
        raise StorageError(f"{target.name}: choose a file name that ends in .png, .svg or .pdf.")
    metrics = QFontMetrics(theme.font("small"))
    words = int(Qt.TextFlag.TextWordWrap)
    room = (
        metrics.boundingRect(QRect(0, 0, size.width(), 10_000), words, caption).height()
        if caption
        else 0
    )
    whole = QSize(
        size.width() + 2 * MARGIN, size.height() + 2 * MARGIN + (room + MARGIN if room else 0)
    )

    def draw(device: QPaintDevice) -> None:
        painter = QPainter()
        if not painter.begin(device):
            raise StorageError(
                f"Cannot draw {target.name}: a picture of {whole.width()} × {whole.height()} "
                "pixels needs too much memory. Make the window smaller and try again."
            )
        painter.fillRect(QRect(0, 0, whole.width(), whole.height()), theme.color("panel"))
        painter.translate(MARGIN, MARGIN)
        painter.save()
        paint(painter)
        painter.restore()
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("muted"))
        painter.drawText(QRect(0, size.height() + MARGIN, size.width(), room), words, caption)
        painter.end()

    with atomic_path(target) as temporary:
        temporary.write_bytes(with_provenance(_drawn(draw, kind, whole), saved))


def _drawn(draw: Callable[[QPaintDevice], None], kind: str, size: QSize) -> bytes:
    """The file's content. Qt's writers do not report a full disk, so they write to memory."""
    if kind == ".pdf":
        return pdf_file(lambda writer: draw(_of_size(writer, size)))
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if kind == ".png":
        image = QImage(size * SCALE, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(SCALE)
        draw(image)
        image.save(buffer, "PNG")  # type: ignore[call-overload]
        return bytes(buffer.data().data())
    draw(_svg(buffer, size))
    # Qt writes control characters, which XML refuses
    text = printable(bytes(buffer.data().data()).decode("utf-8", errors="replace"))
    return FONT_FAMILY.sub(_known_family, text.encode("utf-8"))


def _known_family(match: re.Match[bytes]) -> bytes:
    """The real name of the drawn font, then others of its kind for viewers without it.

    Qt writes the name that the desktop gave, such as "Sans Serif", which browsers do not know: they
    take a serif font.
    """
    name = html.unescape(match[2].decode("utf-8"))
    families = (QFontInfo(QFont(name)).family(), *FALLBACK_FAMILIES)
    return (
        match[1]
        + html.escape(", ".join(dict.fromkeys(families)), quote=True).encode("utf-8")
        + match[3]
    )


def _svg(buffer: QBuffer, size: QSize) -> QSvgGenerator:
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    generator.setViewBox(QRect(0, 0, size.width(), size.height()))
    generator.setTitle("Attention")
    return generator


def _of_size(writer: QPdfWriter, size: QSize) -> QPdfWriter:
    """The writer, with a page of this size in pixels."""
    writer.setResolution(PIXELS_PER_INCH)
    points = QSizeF(size.width() * POINTS_PER_PIXEL, size.height() * POINTS_PER_PIXEL)
    sheet = QPageSize(points, QPageSize.Unit.Point, "", QPageSize.SizeMatchPolicy.ExactMatch)
    writer.setPageLayout(QPageLayout(sheet, QPageLayout.Orientation.Portrait, QMarginsF()))
    return writer
