"""The grid of heads: where every thumbnail stands, and how thumbnails, marks, switches and names are painted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter, QPen, QPixmap, QRegion

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import MAP_KINDS, MapKind
from augenmerk.viz_app.heatmap.drawing import SMALL_SCALE, Box, mark_shapes
from augenmerk.viz_app.heatmap.map_image import draw_thumbnail, paint_shapes
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_source import MapSource
from augenmerk.viz_app.state.map_text import KIND_DIRECTIONS, KIND_NAMES
from augenmerk.viz_app.state.map_view import Band
from augenmerk.viz_app.state.marks import lit_keys, lit_queries, marks_of_heads
from augenmerk.viz_app.theme import Theme

MIN_THUMBNAIL = 25  # below this height the grid scrolls, with thumbnails of a comfortable size
SCROLLING_THUMBNAIL = 46
MAX_THUMBNAIL = 96
MAX_ASPECT = 1.4
MAX_TALL_ASPECT = 1.8  # in a narrow panel thumbnails grow in height, to use what is there
SPACING = 5
HEADER_HEIGHT = 20
NUMBERS_HEIGHT = 18
SECTION_SPACING = 7


@dataclass(frozen=True)
class GridLayout:
    """Places in the grid, in pixels.

    Attributes:
        places: of every thumbnail, in reading order; none of folded kinds.
        headers: of each kind's title.
        lines: a place and a name at the left of each line of thumbnails.
        left: where thumbnails begin.
        size: of a thumbnail.
        height: of all of it.
        framed: every thumbnail with its hairline.
    """

    places: dict[Head, QRect]
    headers: dict[MapKind, QRect]
    lines: tuple[tuple[QRect, str], ...]
    left: int
    size: QSize
    height: int
    framed: tuple[QRect, ...]


def lay_out_grid(state: ExperimentState, available: QSize, width: int, theme: Theme) -> GridLayout:
    """Kind under kind; in each a line for each layer, or lines in the order that was chosen; of a folded one its title.

    Args:
        state: whose heads.
        available: room, a scroll bar left out.
        width: of the widget.
        theme: for the size of its letters.
    """
    left = theme.base_px * 5 + 4
    size = _thumbnail_size(state, available, left, theme)
    places: dict[Head, QRect] = {}
    headers: dict[MapKind, QRect] = {}
    lines: list[tuple[QRect, str]] = []
    y = theme.scaled(NUMBERS_HEIGHT)
    for kind in MAP_KINDS:
        headers[kind] = QRect(0, y, width, theme.scaled(HEADER_HEIGHT))
        y += theme.scaled(HEADER_HEIGHT)
        for line in state.roles.lines_of_heads(kind) if kind not in state.settings.folded_kinds else ():
            lines.append((QRect(0, y, left - 10, size.height()), _name(state, line)))
            for column, head in enumerate(line):
                place = QRect(left + column * (size.width() + theme.scaled(SPACING)), y, size.width(), size.height())
                places[head] = place
            y += size.height() + theme.scaled(SPACING)
        y += theme.scaled(SECTION_SPACING)
    has_maps = any(state.maps.shape(kind)[0] for kind in MAP_KINDS)
    framed = tuple(place.adjusted(-1, -1, 0, 0) for place in places.values())
    return GridLayout(places, headers, tuple(lines), left, size, y if has_maps else 0, framed)


def _name(state: ExperimentState, line: tuple[Head, ...]) -> str:
    """A layer, or the role with which a line begins; nothing where heads are ordered by how clearly they point."""
    order = state.settings.order
    if order == "layer":
        return f"layer {line[0].layer + 1}"
    if order == "clarity":
        return ""
    roles = [state.roles.of(head) for head in line]
    return roles[0] + (" …" if len(set(roles)) > 1 else "")


def _thumbnail_size(state: ExperimentState, available: QSize, left: int, theme: Theme) -> QSize:
    """As large as width and height allow, a little wider than high, or higher than wide, if need be."""
    shown = [kind for kind in MAP_KINDS if kind not in state.settings.folded_kinds]
    num_heads = max(1, *(state.maps.shape(kind)[1] for kind in MAP_KINDS))
    num_layers = max(1, sum(state.maps.shape(kind)[0] for kind in shown))
    spacing = theme.scaled(SPACING)
    fixed = theme.scaled(NUMBERS_HEIGHT) + len(MAP_KINDS) * theme.scaled(HEADER_HEIGHT + SECTION_SPACING)
    by_width = (available.width() - left - 4) // num_heads - spacing
    by_height = (available.height() - fixed) // num_layers - spacing
    by_height = by_height if by_height >= theme.scaled(MIN_THUMBNAIL) else theme.scaled(SCROLLING_THUMBNAIL)
    height = max(min(int(by_width * MAX_TALL_ASPECT), by_height, theme.scaled(MAX_THUMBNAIL)), 10)
    return QSize(max(min(by_width, int(height * MAX_ASPECT)), 10), height)


SWITCH_SIZE = 15
MIN_WITH_SWITCH = 24
NO_DIFFERENCE = "no difference"
FOLDED, UNFOLDED = "▸", "▾"
VEIL = 0.62


def numbered_heads(num_heads: int, pitch: int, number_width: int) -> range:
    """The columns that have their number above them: all, or every second and so on where numbers would touch.

    Args:
        num_heads: columns of the grid.
        pitch: pixels from one column to the next.
        number_width: pixels of the widest number and the gap beside it.
    """
    return range(0, num_heads, max(1, -(-number_width // max(1, pitch))))


@dataclass(frozen=True)
class Thumbnail:
    """One head's picture and where it stands, without its hairline and with it."""

    head: Head
    image: QImage
    place: QRect
    framed: QRect


@dataclass
class GridPainter:
    """Paints the heads of a state.

    Attributes:
        state: what is chosen, lit, off.
        theme: colours and fonts.
        layout: where things stand.
        thumbnails: all heads.
    """

    state: ExperimentState
    theme: Theme
    layout: GridLayout
    thumbnails: Sequence[Thumbnail]

    def paint_heads(self, painter: QPainter, clip: QRegion) -> None:
        """Names, pictures and hairlines: what follows from layout, theme and images alone."""
        self._paint_labels(painter, clip)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        for item in self.thumbnails:
            if clip.intersects(item.framed):
                draw_thumbnail(painter, item.place, item.image)
        self._paint_hairlines(painter, clip)

    def paint_marks(self, painter: QPainter, clip: QRegion, hovered: Head | None) -> None:
        """What is chosen, lit, off: all the rest but the numbers over the columns."""
        if self._paint_lit(painter):
            self._paint_hairlines(painter, clip)
        self._paint_dimmed(painter)
        self._paint_marked(painter)
        if self.state.settings.order != "layer":
            self._paint_tags(painter)
        self._paint_frame(painter, hovered, 1)
        self._paint_combined(painter)
        self._paint_frame(painter, self.state.selection.head, 3)
        self._paint_switch(painter, hovered)

    def paint_numbers(self, painter: QPainter, top: int, width: int) -> None:
        """Head numbers stay at the top while the layers scroll under them."""
        if top > 0:
            painter.fillRect(0, top, width, self.theme.scaled(NUMBERS_HEIGHT), self.theme.color("panel"))
        if self.state.settings.order != "layer":
            return
        painter.setPen(self.theme.color("muted"))
        painter.setFont(self.theme.font("small"))
        size, num_heads = self.layout.size, max(self.state.maps.shape(kind)[1] for kind in MAP_KINDS)
        pitch = size.width() + self.theme.scaled(SPACING)
        for head in numbered_heads(num_heads, pitch, painter.fontMetrics().horizontalAdvance(f" {num_heads}")):
            place = QRect(
                self.layout.left + head * pitch,
                top,
                size.width(),
                self.theme.scaled(NUMBERS_HEIGHT),
            )
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, str(head + 1))

    def switch_of(self, head: Head) -> QRect | None:
        """Where a head's switch stands: in the upper right corner; None if its thumbnail is too small for one."""
        place = self.layout.places.get(head)
        if place is None or min(place.width(), place.height()) < MIN_WITH_SWITCH:
            return None
        return QRect(place.right() - SWITCH_SIZE, place.top() + 1, SWITCH_SIZE, SWITCH_SIZE)

    def _paint_hairlines(self, painter: QPainter, clip: QRegion) -> None:
        painter.setPen(QPen(self.theme.color("border"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRects([item.framed for item in self.thumbnails if clip.intersects(item.framed)])

    def _paint_labels(self, painter: QPainter, clip: QRegion) -> None:
        theme, middle = self.theme, Qt.AlignmentFlag.AlignVCenter
        for kind, header in self.layout.headers.items():
            if not clip.intersects(header):
                continue
            painter.setPen(theme.color("text"))
            painter.setFont(theme.font("body", bold=True))
            is_folded = kind in self.state.settings.folded_kinds
            title = f"{FOLDED if is_folded else UNFOLDED} {KIND_NAMES[kind]}"
            painter.drawText(header, middle, title)
            left = max(self.layout.left, painter.fontMetrics().horizontalAdvance(f"{title}  "))
            painter.setPen(theme.color("muted"))
            painter.setFont(theme.font("small"))
            painter.drawText(header.adjusted(left, 0, 0, 0), middle, self._about(kind, is_folded))
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        if self.state.settings.order != "layer":  # names of roles are long; looking for breaks takes time
            flags |= Qt.TextFlag.TextWordWrap
        painter.setPen(theme.color("muted"))
        painter.setFont(theme.font("small"))
        for place, name in (line for line in self.layout.lines if clip.intersects(line[0])):
            painter.drawText(place, flags, name)

    def _about(self, kind: MapKind, is_folded: bool) -> str:
        """Behind the name of a kind: the direction, and how many heads are folded away."""
        parts = [KIND_DIRECTIONS[kind]]
        if lacks_difference(self.state.maps, kind):
            parts = [f"{KIND_DIRECTIONS[kind]}: {NO_DIFFERENCE}"]
        if is_folded:
            num_layers, num_heads = self.state.maps.shape(kind)
            parts.append(f"{num_layers} layers × {num_heads} heads")
        return " · ".join(parts)

    def _paint_lit(self, painter: QPainter) -> bool:
        """Queries of pinned and picked tokens keep their colours, others stand back; keys are marked at the edge.

        Returns:
            Whether there are any.
        """
        state = self.state
        if state.result is None or not state.selection.has_marks:
            return False
        for kind in MAP_KINDS:
            view = state.maps.view_all(kind)
            queries = view.query_bands(view.query_entries(lit_queries(state, kind)))
            keys = view.key_bands(view.key_entries(lit_keys(state, kind)))
            if not queries and not keys:
                continue
            shape = QSize(len(view.columns), len(view.rows))
            for item in self.thumbnails:
                if item.head.kind == kind:
                    self._paint_lit_of(painter, QRectF(item.place), queries or keys, [*queries, *keys], shape)
        return True

    def _paint_lit_of(
        self, painter: QPainter, place: QRectF, kept: Sequence[Band], marked: Sequence[Band], shape: QSize
    ) -> None:
        """Veils all but the rows, or columns, that are kept; marks some at the edge.

        Args:
            painter: of the grid.
            place: the thumbnail's.
            kept: rows or columns, not both, first to last.
            marked: rows and columns.
            shape: number of columns and of rows.
        """
        height, width = place.height() / max(shape.height(), 1), place.width() / max(shape.width(), 1)
        veil, accent = self.theme.color("panel", VEIL), self.theme.color("accent")
        is_row = kept[0].is_row
        for first, last in _gaps([band.index for band in kept], shape.height() if is_row else shape.width()):
            if is_row:
                gap = QRectF(place.left(), place.top() + first * height, place.width(), (last - first) * height)
            else:
                gap = QRectF(place.left() + first * width, place.top(), (last - first) * width, place.height())
            painter.fillRect(gap, veil)
        for band in marked:
            if band.is_row:
                mark = QRectF(place.left() - 3, place.top() + band.index * height, 3, max(height, 2.0))
            else:
                mark = QRectF(place.left() + band.index * width, place.top() - 3, max(width, 2.0), 3)
            painter.fillRect(mark, accent)

    def _paint_tags(self, painter: QPainter) -> None:
        """Out of the order of layers, every head says which it is."""
        painter.setFont(self.theme.font("small"))
        metrics = QFontMetrics(painter.font())
        for item in self.thumbnails:
            text = f"{item.head.layer + 1}·{item.head.head + 1}"
            width = metrics.horizontalAdvance(text) + 4
            place = QRect(item.place.left(), item.place.bottom() - metrics.height() + 4, width, metrics.height() - 3)
            painter.fillRect(place, self.theme.color("panel", 0.88))
            painter.setPen(self.theme.color("text"))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_frame(self, painter: QPainter, head: Head | None, width: int) -> None:
        place = self.layout.places.get(head) if head is not None else None
        if place is None:
            return
        margin = width // 2 + 1
        pen = QPen(self.theme.color("accent"), width)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(place).adjusted(-margin, -margin, margin, margin))

    def _paint_marked(self, painter: QPainter) -> None:
        """Marks of the experiment: a head that is off is pale and struck through; bars stand beside changed rows."""
        state = self.state
        if state.result is None or not (state.result.is_changed or state.experiment.heads_off):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for kind in MAP_KINDS:
            view, marks = state.maps.view_all(kind), marks_of_heads(state, kind)
            for place, each in marks.items():
                rectangle = self.layout.places.get(Head(kind, *place))
                if rectangle is None:
                    continue
                if each.is_off:
                    painter.fillRect(rectangle, self.theme.color("panel", 0.82))
                width, height = rectangle.width(), rectangle.height()
                cell = width / max(len(view.columns), 1), height / max(len(view.rows), 1)
                of_experiment = replace(each, lit=frozenset(), pinned=None)
                shapes = mark_shapes(of_experiment, cell, Box(0, 0, width, height), SMALL_SCALE)
                paint_shapes(painter, shapes, QRectF(rectangle).topLeft(), self.theme)
        painter.restore()

    def _paint_combined(self, painter: QPainter) -> None:
        """Heads that are shown together are framed together."""
        if self.state.settings.scope != "head":
            for layer, head in self.state.maps.heads():
                self._paint_frame(painter, Head(self.state.selection.head.kind, layer, head), 2)

    def _paint_dimmed(self, painter: QPainter) -> None:
        """Heads of other roles than the one looked for are pale, and those without the difference that is shown."""
        role = self.state.settings.shown_role
        without_difference = {kind for kind in MAP_KINDS if lacks_difference(self.state.maps, kind)}
        for item in self.thumbnails if without_difference else ():
            if item.head.kind in without_difference:
                painter.fillRect(item.place, self.theme.color("panel", 0.8))
        if self.state.result is None or role is None:
            return
        for item in self.thumbnails:
            if self.state.roles.of(item.head) != role:
                painter.fillRect(item.place, self.theme.color("panel", 0.8))

    def _paint_switch(self, painter: QPainter, hovered: Head | None) -> None:
        """The sign of a power switch, on the head under the mouse."""
        switch = self.switch_of(hovered) if hovered is not None else None
        if switch is None or hovered is None:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self.theme.color("border"), 1))
        painter.setBrush(self.theme.color("panel"))
        painter.drawRoundedRect(switch, 4, 4)
        pen = QPen(self.theme.color("warm" if hovered in self.state.experiment.heads_off else "text"), 1.4)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        circle, middle = QRectF(switch).adjusted(4, 4.5, -4, -3.5), QRectF(switch).center()
        painter.drawArc(circle, 125 * 16, 290 * 16)
        painter.drawLine(QPointF(middle.x(), switch.top() + 3), QPointF(middle.x(), middle.y()))
        painter.restore()


def lacks_difference(maps: MapSource, kind: MapKind) -> bool:
    """Whether a difference is requested and maps of a kind have none: they are the changed ones, and greyed out."""
    return maps.shown == "difference" and bool(maps.difference_problem(kind))


def _gaps(lit: Sequence[int], count: int) -> list[tuple[int, int]]:
    """The stretches between lit entries, half-open."""
    edges = [-1, *lit, count]
    return [(before + 1, after) for before, after in pairwise(edges) if after > before + 1]


NUM_SHEETS = 6


@dataclass(frozen=True, eq=False)
class _Sheet:
    """A picture, and the very layout and lists of images that it was painted from."""

    key: tuple[object, ...]
    layout: GridLayout
    images: tuple[list[QImage], ...]
    picture: QPixmap

    def is_of(self, key: tuple[object, ...], layout: GridLayout, images: tuple[list[QImage], ...]) -> bool:
        return (
            self.layout is layout
            and self.key == key
            and len(self.images) == len(images)
            and all(one is other for one, other in zip(self.images, images, strict=True))
        )


class HeadSheets:
    """The newest `NUM_SHEETS` of them: going back to a scale or a measure copies a picture."""

    def __init__(self) -> None:
        self._sheets: list[_Sheet] = []

    def paint(
        self, painter: QPainter, places: QRegion, grid: GridPainter, images: Iterable[list[QImage]], size: QSize
    ) -> None:
        """Paints the part of the grid that lies in `places`, names and hairlines included.

        Args:
            painter: of a widget or an image of pixels.
            places: what to paint, in the grid's coordinates.
            grid: what paints the sheet if there is none yet.
            images: the lists that the grid's thumbnails are taken from.
            size: of the whole grid.
        """
        device = painter.device()
        ratio = device.devicePixelRatioF() if device is not None else 1.0
        picture = self._picture(grid, tuple(images), size, ratio)
        for each in places:  # type: ignore[attr-defined]  # the old and the new frame may stand far from each other
            place = QRectF(each)
            painter.drawPixmap(place, picture, QRectF(place.topLeft() * ratio, place.size() * ratio))

    def _picture(self, grid: GridPainter, images: tuple[list[QImage], ...], size: QSize, ratio: float) -> QPixmap:
        theme: Theme = grid.theme
        key = theme, size.toTuple(), ratio
        for sheet in self._sheets:
            if sheet.is_of(key, grid.layout, images):
                return sheet.picture
        picture = QPixmap(size * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(theme.color("panel"))
        painter = QPainter(picture)
        grid.paint_heads(painter, QRegion(QRect(0, 0, size.width(), size.height())))
        painter.end()
        self._sheets = [_Sheet(key, grid.layout, images, picture), *self._sheets[: NUM_SHEETS - 1]]
        return picture
