"""A lesson on paper as a PDF file, painted by Qt's own writer: two scenes on a page. Maps stay shapes and text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QLocale, QMarginsF, QRectF
from PySide6.QtGui import QColor, QFont, QPageLayout, QPageSize, QPainter, QPdfWriter, QTextOption
from PySide6.QtSvg import QSvgRenderer

from augenmerk.core.errors import StorageError
from augenmerk.core.plain_text import one_line
from augenmerk.core.storage import atomic_path
from augenmerk.viz_app.export.map_svg import INK, SOFT, map_svg
from augenmerk.viz_app.export.worksheet import NAME, NUM_LINES, Sheet, SheetScene, sheet_title

DOTS_PER_INCH, PIXELS_PER_INCH = 1200, 96
"""Of the writer, and of all lengths here."""
MARGIN_MM = 13
GAP, SCENE_GAP, LINE_HEIGHT, NAME_WIDTH = 5.0, 16.0, 26.0, 240.0
MIN_MAP, LEAST_MAP, MAX_MAP = 100, 160, 320
"""Heights of a map: the smallest one, the smallest one that two scenes on a page leave, and the largest one."""
LINE_COLOR = "#9aa0a8"
TITLE_PX, HEADING_PX, BODY_PX, NOTE_PX = 19, 15, 13, 11
WRAPPED = QTextOption()
WRAPPED.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)


@dataclass(frozen=True)
class Line:
    """A paragraph: its text, the size of its letters, and whether they are bold; or an empty line to write on."""

    text: str
    pixels: int = BODY_PX
    is_bold: bool = False
    color: str = INK


RULE = Line("", 0)
"""A line to write on."""


def save_sheet_pdf(
    title: str, scenes: Sequence[SheetScene], sheet: Sheet, target: Path, size: QPageSize.PageSizeId | None = None
) -> None:
    """Writes a sheet.

    Args:
        title: of the lesson.
        scenes: its scenes.
        sheet: what they contain; the maps of solutions have numbers in their cells.
        target: the file.
        size: of the paper; None: Letter where it is common, else A4.

    Raises:
        StorageError: the file cannot be written.
    """
    is_american = QLocale.system().measurementSystem() == QLocale.MeasurementSystem.ImperialUSSystem
    default = QPageSize.PageSizeId.Letter if is_american else QPageSize.PageSizeId.A4
    buffer = QBuffer()  # Qt's writer does not report a full disk
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(DOTS_PER_INCH)
    writer.setTitle(sheet_title(title, sheet))
    margins = QMarginsF(MARGIN_MM, MARGIN_MM, MARGIN_MM, MARGIN_MM)
    layout = QPageLayout(QPageSize(size or default), QPageLayout.Orientation.Portrait, margins)
    writer.setPageLayout(QPageLayout(layout.pageSize(), layout.orientation(), margins, QPageLayout.Unit.Millimeter))
    painter = QPainter()
    if not painter.begin(writer):
        raise StorageError(f"Cannot draw {target.name}. Export the lesson as HTML, and print that.")
    painter.scale(DOTS_PER_INCH / PIXELS_PER_INCH, DOTS_PER_INCH / PIXELS_PER_INCH)
    _SheetPainter(writer, painter, sheet).paint(title, scenes)
    painter.end()
    with atomic_path(target) as temporary:
        temporary.write_bytes(bytes(buffer.data().data()))


class _SheetPainter:
    """Paints a sheet, page after page."""

    def __init__(self, writer: QPdfWriter, painter: QPainter, sheet: Sheet) -> None:
        self._writer, self._painter, self._sheet = writer, painter, sheet
        scale = PIXELS_PER_INCH / DOTS_PER_INCH
        self._width, self._height = writer.width() * scale, writer.height() * scale
        self._top = 0.0

    def paint(self, title: str, scenes: Sequence[SheetScene]) -> None:
        """Paints the heading and all scenes: two on a page if their maps have room, else one."""
        self._paint_line(Line(sheet_title(title, self._sheet), TITLE_PX, is_bold=True))
        if self._sheet == "worksheet":
            self._paint_line(Line(NAME, NOTE_PX, color=SOFT))
            self._rule(45.0, NAME_WIDTH)
        left = list(enumerate(scenes, start=1))
        while left:
            page = left[:2]
            if self._room(page) < min(LEAST_MAP, self._room(page[:1])):
                page = page[:1]
            room = int(max(MIN_MAP, min(self._room(page), MAX_MAP)))
            for number, scene in page:
                self._paint_scene(number, scene, room)
            left = left[len(page) :]
            if left:
                self._writer.newPage()
                self._top = 0.0

    def _room(self, page: Sequence[tuple[int, SheetScene]]) -> float:
        """The height of each map, if these scenes are on the rest of the page."""
        words = sum(self._height_of(line) for number, scene in page for line in _lines(number, scene, self._sheet))
        maps = sum(scene.drawing is not None for _, scene in page)
        return (self._height - self._top - words - len(page) * (SCENE_GAP + GAP)) / max(1, maps)

    def _paint_scene(self, number: int, scene: SheetScene, room: int) -> None:
        self._top += SCENE_GAP
        for line in _before(number, scene, self._sheet):
            self._paint_line(line)
        if scene.drawing is not None:
            self._paint_map(scene, room)
        for line in _after(scene, self._sheet):
            self._paint_line(line)

    def _paint_map(self, scene: SheetScene, room: int) -> None:
        """The map, smaller if its cells do not fit otherwise."""
        assert scene.drawing is not None
        drawn = map_svg(
            scene.drawing, has_numbers=self._sheet == "solutions", width=int(self._width), height=room - int(GAP)
        )
        renderer = QSvgRenderer(QByteArray(drawn.encode()))
        size = renderer.defaultSize()
        scale = min(1.0, self._width / size.width(), max(room, MIN_MAP) / size.height())
        renderer.render(self._painter, QRectF(0, self._top + GAP, size.width() * scale, size.height() * scale))
        self._top += size.height() * scale + GAP

    def _paint_line(self, line: Line) -> None:
        height = self._height_of(line)
        if line is RULE:
            self._rule(0.0, self._width, height)
        else:
            self._painter.setFont(_font(line))
            self._painter.setPen(QColor(line.color))
            self._painter.drawText(QRectF(0, self._top, self._width, height), line.text, WRAPPED)
        self._top += height

    def _rule(self, left: float, right: float, below: float = 0.0) -> None:
        self._painter.fillRect(QRectF(left, self._top + below - 1, right - left, 0.7), QColor(LINE_COLOR))

    def _height_of(self, line: Line) -> float:
        if line is RULE:
            return LINE_HEIGHT
        self._painter.setFont(_font(line))
        return self._painter.boundingRect(QRectF(0, 0, self._width, 10_000), line.text, WRAPPED).height() + 1


def _font(line: Line) -> QFont:
    font = QFont("sans-serif")
    font.setPixelSize(line.pixels)
    font.setBold(line.is_bold)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


def _before(number: int, scene: SheetScene, sheet: Sheet) -> Iterator[Line]:
    """The words above the map."""
    yield Line(f"{number}. {one_line(scene.title)}", HEADING_PX, is_bold=True)
    if text := scene.words(sheet)[0]:
        yield Line(one_line(text))
    yield Line(one_line(scene.sentence), HEADING_PX)
    yield from (Line(one_line(note), NOTE_PX, color=SOFT) for note in scene.notes)


def _after(scene: SheetScene, sheet: Sheet) -> Iterator[Line]:
    """The words below the map."""
    if scene.drawing is not None:
        yield Line(one_line(f"{scene.drawing.title}. {scene.caption}"), NOTE_PX, color=SOFT)
    _, question, answer = scene.words(sheet)
    if question:
        yield Line(one_line(question), is_bold=True)
    if answer:
        yield Line(one_line(answer))
    if sheet == "worksheet":
        yield from [RULE] * NUM_LINES


def _lines(number: int, scene: SheetScene, sheet: Sheet) -> list[Line]:
    return [*_before(number, scene, sheet), *_after(scene, sheet)]
