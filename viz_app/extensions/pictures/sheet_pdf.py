"""A lesson on paper as a PDF file, painted by Qt's own writer: two scenes on a page.

Maps stay shapes and text.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, cast

from PySide6.QtCore import QByteArray, QLocale, QMarginsF, QPointF, QRectF
from PySide6.QtGui import (
    QColor,
    QFont,
    QPageLayout,
    QPageSize,
    QPainter,
    QPdfWriter,
    QPen,
    QTextLayout,
    QTextOption,
)
from PySide6.QtSvg import QSvgRenderer

from augenmerk.core.errors import StorageError
from augenmerk.core.extensions.provenance import Provenance, with_provenance
from augenmerk.core.storage import atomic_path

from ...heatmap.drawing import Drawing
from .map_svg import INK, SOFT, map_svg, svg_height
from .printed_maps import PRINT_COLORS
from .qt_pdf import pdf_file
from .scene_notes import OutlinedText
from .worksheet import NAME, Role, Sheet, SheetScene, sheet_title

DOTS_PER_INCH, PIXELS_PER_INCH = 1200, 96
"""Of the writer, and of all lengths here."""
MARGIN_MM = 13
GAP, SCENE_GAP, LINE_HEIGHT, NAME_WIDTH = 5.0, 16.0, 26.0, 240.0
MIN_MAP, LEAST_MAP, MAX_MAP = 100, 160, 340
"""Heights of a map: the smallest one, the smallest one that two scenes on a page leave, and the
largest one, unless the map has many rows."""
READABLE = 0.85
"""The least scale at which labels can be read."""
LINE_COLOR = "#9aa0a8"
RING_PX = 1.6
RING_RADIUS = 6
TITLE_PX, HEADING_PX, BODY_PX, NOTE_PX = 19, 15, 13, 11
WRAPPED = QTextOption()
WRAPPED.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)


class Style(NamedTuple):
    """The look of a line: the size of its letters, whether they are bold, and their colour."""

    pixels: int = BODY_PX
    is_bold: bool = False
    color: str = INK


STYLES: dict[Role, Style] = {
    "title": Style(HEADING_PX, is_bold=True),
    "text": Style(),
    "sentence": Style(HEADING_PX),
    "note": Style(NOTE_PX, color=SOFT),
    "caption": Style(NOTE_PX, color=SOFT),
    "question": Style(is_bold=True),
    "answer": Style(),
}
INTRODUCING: frozenset[Role] = frozenset({"title", "sentence", "question"})
"""They stay on a page with what follows them, of a text with its first lines."""
FIRST_LINES = 40
"""Height of the first two lines of a text."""


def save_sheet_pdf(
    title: str,
    scenes: Sequence[SheetScene],
    sheet: Sheet,
    target: Path,
    saved: Provenance | None = None,
    size: QPageSize.PageSizeId | None = None,
) -> None:
    """Writes a sheet.

    Args:
        title: of the lesson.
        scenes: its scenes.
        sheet: what they contain; maps of solutions, and differences, have numbers in their cells.
        target: the file.
        saved: its provenance.
        size: of the paper; None: Letter where it is common, else A4.

    Raises:
        StorageError: the file cannot be written.
    """
    is_american = QLocale.system().measurementSystem() == QLocale.MeasurementSystem.ImperialUSSystem
    default = QPageSize.PageSizeId.Letter if is_american else QPageSize.PageSizeId.A4

    def draw(writer: QPdfWriter) -> None:
        writer.setResolution(DOTS_PER_INCH)
        writer.setTitle(sheet_title(title, sheet))
        margins = QMarginsF(MARGIN_MM, MARGIN_MM, MARGIN_MM, MARGIN_MM)
        layout = QPageLayout(QPageSize(size or default), QPageLayout.Orientation.Portrait, margins)
        writer.setPageLayout(
            QPageLayout(
                layout.pageSize(), layout.orientation(), margins, QPageLayout.Unit.Millimeter
            )
        )
        painter = QPainter()
        if not painter.begin(writer):
            raise StorageError(
                f"Cannot draw {target.name}. Export the lesson as HTML, and print that."
            )
        painter.scale(DOTS_PER_INCH / PIXELS_PER_INCH, DOTS_PER_INCH / PIXELS_PER_INCH)
        _SheetPainter(writer, painter, sheet).paint(title, scenes)
        painter.end()

    content = pdf_file(draw)
    with atomic_path(target) as temporary:
        temporary.write_bytes(with_provenance(content, saved))


class _SheetPainter:
    """Paints a sheet, page after page."""

    def __init__(self, writer: QPdfWriter, painter: QPainter, sheet: Sheet) -> None:
        self._writer, self._painter, self._sheet = writer, painter, sheet
        scale = PIXELS_PER_INCH / DOTS_PER_INCH
        self._width = writer.width() * scale
        self._height = writer.height() * scale
        self._top = 0.0

    def paint(self, title: str, scenes: Sequence[SheetScene]) -> None:
        """Paints the heading and all scenes: two on a page if their maps have room, else one."""
        self._paint_text(
            Style(TITLE_PX, is_bold=True), OutlinedText(sheet_title(title, self._sheet))
        )
        if self._sheet == "worksheet":
            self._paint_text(STYLES["note"], OutlinedText(NAME))
            self._rule(45.0, NAME_WIDTH)
        left = list(enumerate(scenes, start=1))
        while left:
            page = left[:2]
            least = max(_least_height(scene) for _, scene in page)
            if self._room(page) < min(least, self._room(page[:1])):
                page = page[:1]
            room = int(max(MIN_MAP, min(self._room(page), max(MAX_MAP, 1.5 * least))))
            for number, scene in page:
                self._paint_scene(number, scene, room)
            left = left[len(page) :]
            if left:
                self._begin_page()

    def _room(self, page: Sequence[tuple[int, SheetScene]]) -> float:
        """The height of each map, if these scenes are on the rest of the page."""
        parts = [part for number, scene in page for part in scene.parts(number, self._sheet)]
        words = sum(self._height_of(role, line) for role, line in parts)
        maps = sum(role == "map" for role, _ in parts)
        return (self._height - self._top - words - len(page) * (SCENE_GAP + GAP)) / max(1, maps)

    def _paint_scene(self, number: int, scene: SheetScene, room: int) -> None:
        self._top += SCENE_GAP
        parts = scene.parts(number, self._sheet)
        for index, (role, line) in enumerate(parts):
            if index or number > 1:  # the heading of the sheet would be alone otherwise
                self._make_room(min(self._height, self._height_together(parts[index:], room)))
            if role == "map" and scene.drawing is not None:
                self._paint_map(scene.drawing, room)
            elif role == "line":
                self._make_room(LINE_HEIGHT)
                self._top += LINE_HEIGHT
                self._rule(0.0, self._width)
            else:
                self._paint_text(STYLES[role], line)

    def _paint_map(self, drawing: Drawing, room: int) -> None:
        """The map, smaller if its cells do not fit otherwise."""
        # shades of grey hide signs
        has_numbers = self._sheet == "solutions" or drawing.scale.is_signed
        drawn = map_svg(
            drawing, has_numbers=has_numbers, width=int(self._width), height=room - int(GAP)
        )
        renderer = QSvgRenderer(QByteArray(drawn.encode()))
        size = renderer.defaultSize()
        scale = min(1.0, self._width / size.width(), max(room, MIN_MAP) / size.height())
        width = size.width() * scale
        height = size.height() * scale
        self._make_room(height + GAP)
        renderer.render(self._painter, QRectF(0, self._top + GAP, width, height))
        self._top += height + GAP

    def _paint_text(self, style: Style, line: OutlinedText) -> None:
        """Paints the line, wrapped, and its ring; goes on to the next page if needed."""
        first = _num_units(line.before)
        last = first + _num_units(line.outlined)
        layout = self._laid_out(style, line)
        for row in (layout.lineAt(number) for number in range(layout.lineCount())):
            self._make_room(row.height())
            self._painter.setPen(QColor(style.color))
            row.draw(self._painter, QPointF(0, self._top - row.y()))
            begin, end = max(first, row.textStart()), min(last, row.textStart() + row.textLength())
            if begin < end:
                left, right = (
                    cast("tuple[float, int]", row.cursorToX(index))[0] for index in (begin, end)
                )
                self._painter.setPen(QPen(QColor(PRINT_COLORS["pointer"]), RING_PX))
                ring = QRectF(left, self._top, right - left, row.height())
                self._painter.drawRoundedRect(ring.adjusted(-3, 0, 3, 0), RING_RADIUS, RING_RADIUS)
            self._top += row.height()
        self._top += 1

    def _laid_out(self, style: Style, line: OutlinedText) -> QTextLayout:
        font = QFont("sans-serif")
        font.setPixelSize(style.pixels)
        font.setBold(style.is_bold)
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        layout = QTextLayout(line.text, font, self._writer)
        top = 0.0
        layout.setTextOption(WRAPPED)
        layout.beginLayout()
        while (row := layout.createLine()).isValid():
            row.setLineWidth(self._width)
            row.setPosition(QPointF(0, top))
            top += row.height()
        layout.endLayout()
        return layout

    def _height_of(self, role: Role, line: OutlinedText) -> float:
        if role == "line":
            return LINE_HEIGHT
        return (
            self._laid_out(STYLES[role], line).boundingRect().height() + 1 if role != "map" else 0.0
        )

    def _height_together(self, parts: Sequence[tuple[Role, OutlinedText]], room: int) -> float:
        """The height of a part with the beginning of what it introduces: a heading ends no page."""
        height = 0.0
        for role, line in parts:
            if role in INTRODUCING:
                height += self._height_of(role, line)
                continue
            return height + (
                room if role == "map" else min(FIRST_LINES, self._height_of(role, line))
            )
        return height

    def _rule(self, left: float, right: float) -> None:
        """A line to write on, above the present place."""
        self._painter.fillRect(QRectF(left, self._top - 1, right - left, 0.7), QColor(LINE_COLOR))

    def _make_room(self, height: float) -> None:
        """Begins a page if this one has no room of this height."""
        if self._top > 0 and self._top + height > self._height:
            self._begin_page()

    def _begin_page(self) -> None:
        self._writer.newPage()
        self._top = 0.0


def _least_height(scene: SheetScene) -> float:
    """The height below which the labels of the map cannot be read."""
    if scene.drawing is None:
        return LEAST_MAP
    return max(LEAST_MAP, READABLE * svg_height(scene.drawing, 0))


def _num_units(text: str) -> int:
    """The length of a text as Qt counts, in units of UTF-16."""
    return sum(1 + (ord(letter) > 0xFFFF) for letter in text)
