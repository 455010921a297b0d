"""All heads of all layers of all three kinds, as thumbnails in one widget: layout, painting, mouse and keys."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFontMetrics,
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPaintEngine,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QRegion,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import MAP_KINDS, MapKind
from augenmerk.viz_app.heatmap.drawing import SMALL_SCALE, Box, mark_shapes
from augenmerk.viz_app.heatmap.map_image import ImageStore, draw_thumbnail, paint_shapes, ramp_of, signed_ramp_of
from augenmerk.viz_app.state.experiment_editor import toggle_head
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.head_roles import role_in_short
from augenmerk.viz_app.state.map_source import MapSource, top_values
from augenmerk.viz_app.state.map_text import KIND_DIRECTIONS, KIND_NAMES
from augenmerk.viz_app.state.map_view import Band
from augenmerk.viz_app.state.map_view_settings import on_redraw
from augenmerk.viz_app.state.marks import lit_keys, lit_queries, marks_of_heads
from augenmerk.viz_app.theme import Theme, current_theme, is_theme_change, scaled
from augenmerk.viz_app.widgets.layouts import VerticalScrollArea

MIN_THUMBNAIL = 25  # below this height the grid scrolls, with thumbnails of a comfortable size
SCROLLING_THUMBNAIL = 46
MAX_THUMBNAIL = 96
MAX_ASPECT = 1.4
MAX_TALL_ASPECT = 1.8  # in a narrow panel thumbnails grow in height, to use what is there
SPACING = 5
HEADER_HEIGHT = 20
NUMBERS_HEIGHT = 18
SECTION_SPACING = 7
SWITCH_SIZE = 15
MIN_WITH_SWITCH = 24
NO_DIFFERENCE = "no difference"
FOLDED, UNFOLDED = "▸", "▾"
VEIL = 0.62
NUM_SHEETS = 6
SCROLL_BAR_WIDTH = 12
NUM_PAINTERS = 6
FRAME_WIDTH = 6  # what a frame may take around a thumbnail


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
            queries = view.bands(queries=lit_queries(state, kind))
            keys = view.bands(keys=lit_keys(state, kind))
            if not queries and not keys:
                continue
            shape = QSize(len(view.column_labels), len(view.row_labels))
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
                cell = width / max(len(view.column_labels), 1), height / max(len(view.row_labels), 1)
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


class HeadGrid(QWidget):
    """Draws every head of an experiment's result; the chosen one is framed.

    A click chooses a head; with Ctrl it joins those that are shown together, or leaves them. A right click, or a click
    on the small switch that the thumbnail under the mouse has in its corner, switches a head off, or on again. A click
    on the title of a kind folds its heads, or unfolds them.

    Attributes:
        can_switch: whether heads can be switched off here.
        state: whose heads these are.
        available: room for the grid, a scroll bar left out, whether there is one or not.
    """

    can_switch = True

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.state = state
        self._theme = current_theme()
        self._painter: GridPainter | None = None
        self._hovered: Head | None = None
        self._pictures = GridPictures(state)
        self._look: tuple[object, ...] = ()
        self._sheets = HeadSheets()
        self._painted_head: Head | None = None
        self._was_plain = False
        self.available = QSize()
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # or every change paints the page below it again
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("All heads")
        self.setAccessibleDescription("Arrow keys step through heads and layers; O switches the chosen head off or on.")
        for changed in (state.result_changed, state.measuring.changed, state.roles_changed):
            changed.connect(self.rebuild)
        state.experiment_changed.connect(self.show_marks)
        on_redraw(state.settings, ("maps", "grid"), self.rebuild)
        state.selection.events.head.connect(self.show_choice, max_args=0)
        for mark in ("pinned", "picked", "picked_key"):
            getattr(state.selection.events, mark).connect(self.show_marks, max_args=0)

    def changeEvent(self, event: QEvent) -> None:
        """Other colours."""
        super().changeEvent(event)
        if is_theme_change(event) and self._theme != current_theme():
            self._theme = current_theme()
            self.rebuild()

    def rebuild(self) -> None:
        """Makes the pictures anew: the translation, the scale, the theme or the size changed.

        Where nothing of this shows in the grid, as often with another label mode, nothing is painted.
        """
        old, old_images, old_look = self._painter, self._pictures.images, self._look
        self._painter = None
        state = self.state
        if state.result is not None:
            self._painter = self._pictures.painter(old, self)
            self._look = (
                self._theme,
                state.settings.order,
                state.settings.shown_role,
                state.settings.folded_kinds,
                state.roles.sample,
                state.experiment.heads_off,
                (state.result.experiment.interventions, state.settings.label_mode) if state.result.is_changed else (),
            )
            is_plain = self._was_plain and _is_plain(state) and self._look == old_look
            if old is not None and is_plain and self._painter.layout is old.layout:
                if any(self._pictures.images[kind] is not old_images.get(kind) for kind in MAP_KINDS):
                    layout = self._painter.layout
                    place = layout.left - FRAME_WIDTH, scaled(NUMBERS_HEIGHT), self.width(), layout.height
                    self.update(*place)  # one rectangle
                self.show_choice()
                return
        self.setFixedHeight(max(self._painter.layout.height if self._painter else 0, 1))
        self.update()

    def show_choice(self) -> None:
        """Another head was chosen. Only the frame moves, unless something is lit or several heads are framed."""
        if not (self._was_plain and _is_plain(self.state)):
            self.update()
            return
        chosen = self.state.selection.head
        for head in {self._painted_head, chosen} if self._painted_head != chosen else ():
            place = self.place_of(head) if head is not None else None
            if place is not None:
                self.update(place.adjusted(-FRAME_WIDTH, -FRAME_WIDTH, FRAME_WIDTH, FRAME_WIDTH))

    def show_marks(self) -> None:
        """Something was pinned or picked, or a head switched off."""
        self.update()

    def show_together(self, head: Head) -> None:
        """Shows a head together with those shown now, or without it if it is one of them."""
        settings, chosen = self.state.settings, self.state.selection.head
        settings.show_together(head, chosen)
        if settings.several:
            self.state.selection.choose(chosen if chosen in settings.several else min(settings.several))

    def place_of(self, head: Head) -> QRect | None:
        """Where a head's thumbnail stands, in the widget's coordinates."""
        return self._painter.layout.places.get(head) if self._painter else None

    def head_at(self, point: QPoint) -> Head | None:
        """The head whose thumbnail holds a point."""
        places = self._painter.layout.places.items() if self._painter else ()
        return next((head for head, place in places if place.contains(point)), None)

    def header_at(self, point: QPoint) -> MapKind | None:
        """The kind on whose title a point lies; none where the numbers over the columns cover it."""
        if self._painter is None or point.y() < max(0, -self.y()) + scaled(NUMBERS_HEIGHT):
            return None
        headers = self._painter.layout.headers.items()
        return next((kind for kind, place in headers if place.contains(point)), None)

    def terms_at(self, point: QPoint) -> str:
        """The terms of what is drawn at a point, for `viz_app.widgets.explain`."""
        head, kind = self.head_at(point), self.header_at(point)
        if head is not None:
            return f"head {head.kind}"
        return kind or ""

    def switch_of(self, head: Head) -> QRect | None:
        """Where a head's switch stands: in the upper right corner; None if its thumbnail is too small for one."""
        return self._painter.switch_of(head) if self._painter and self.can_switch else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click chooses; a right click, or one on the switch, switches."""
        point = event.position().toPoint()
        head = self.head_at(point)
        if head is None:
            kind = self.header_at(point) if event.button() == Qt.MouseButton.LeftButton else None
            if kind is not None:
                self.state.settings.toggle_fold(kind)
            return
        switch = self.switch_of(head)
        is_on_switch = switch is not None and switch.contains(point)
        if event.button() == Qt.MouseButton.RightButton or (
            is_on_switch and event.button() == Qt.MouseButton.LeftButton
        ):
            if self.can_switch:
                self.state.submit(toggle_head(head))
        elif event.button() == Qt.MouseButton.LeftButton:
            is_added = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            (self.show_together if is_added else self.state.intents.choose_head)(head)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """The press said it all."""
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The thumbnail under the mouse gets a thin frame."""
        point = event.position().toPoint()
        self._hover(self.head_at(point))
        can_click = self._hovered is not None or self.header_at(point) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if can_click else Qt.CursorShape.ArrowCursor)

    def leaveEvent(self, event: QEvent) -> None:
        """No frame once the mouse is gone."""
        self._hover(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrow keys belong to the page."""
        event.ignore()

    def event(self, event: QEvent) -> bool:
        """Tool tips name the head under the mouse."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            head = self.head_at(event.pos())
            kind = self.header_at(event.pos())
            if head is not None:
                QToolTip.showText(event.globalPos(), self._tip(head), self)
            elif kind is not None:
                is_folded = kind in self.state.settings.folded_kinds
                QToolTip.showText(event.globalPos(), f"Click: {'show' if is_folded else 'fold'} these heads", self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Labels, thumbnails, frames."""
        painter = QPainter(self)
        self._painted_head, self._was_plain = self.state.selection.head, _is_plain(self.state)
        if self._painter is None:
            painter.fillRect(event.rect(), self._theme.color("panel"))
            return
        if painter.paintEngine().type() == QPaintEngine.Type.Raster:
            self._sheets.paint(painter, event.region(), self._painter, self._pictures.images.values(), self.size())
        else:  # letters stay letters in a vector picture
            painter.fillRect(event.rect(), self._theme.color("panel"))
            self._painter.paint_heads(painter, event.region())
        self._painter.paint_marks(painter, event.region(), self._hovered)
        top = max(0, -self.y())
        if event.region().intersects(QRect(0, top, self.width(), scaled(NUMBERS_HEIGHT))):
            self._painter.paint_numbers(painter, top, self.width())

    def _tip(self, head: Head) -> str:
        what = role_in_short(self.state.roles, head)
        switch = (
            "Switched off. Right-click: switch it on"
            if head in self.state.experiment.heads_off
            else "Right-click: switch off"
        )
        return f"{head.title}\n{what}\n{switch} · Ctrl-click: show several together"

    def _hover(self, head: Head | None) -> None:
        if head != self._hovered:
            self._hovered = head
            self.update()


class GridPictures:
    """Pictures of a grid's thumbnails, and its painters: made again only where something changed.

    Attributes:
        images: of all heads of each kind, layer by layer.
    """

    def __init__(self, state: ExperimentState) -> None:
        self._state = state
        self._store = ImageStore()
        self.images: dict[MapKind, list[QImage]] = {}
        self._layout_key: tuple[object, ...] = ()
        self._painters: list[tuple[tuple[object, ...], GridPainter]] = []

    def painter(self, old: GridPainter | None, grid: HeadGrid) -> GridPainter:
        """What paints a grid now; `old` is what painted it before."""
        theme = current_theme()
        layout = self._lay_out(old, grid.available, grid.width(), theme)
        max_pixels = int(layout.size.height() * grid.devicePixelRatioF())
        is_same = old is not None and layout is old.layout and old.theme == theme
        before, self.images = self.images, self._make_images(max_pixels, theme)
        if old is not None and is_same and all(self.images[kind] is before.get(kind) for kind in MAP_KINDS):
            return old
        return self._painter_of(layout, theme)

    def _lay_out(self, old: GridPainter | None, available: QSize, width: int, theme: Theme) -> GridLayout:
        """The layout there is, as long as all that it follows from stays."""
        state = self._state
        key = (
            available.toTuple(),
            width,
            theme,
            state.settings.order,
            state.settings.folded_kinds,
            tuple(state.maps.shape(kind) for kind in MAP_KINDS),
        )
        if old is not None and key == self._layout_key and state.settings.order == "layer":
            return old.layout
        self._layout_key = key
        return lay_out_grid(state, available, width, theme)

    def _make_images(self, max_pixels: int, theme: Theme) -> dict[MapKind, list[QImage]]:
        maps = self._state.maps
        return {
            kind: self._store.images_of(
                maps.view_all(kind).values,
                top_values(maps, kind),
                signed_ramp_of(theme) if maps.is_signed(kind) else ramp_of(theme),
                max_pixels,
            )
            for kind in MAP_KINDS
        }

    def _painter_of(self, layout: GridLayout, theme: Theme) -> GridPainter:
        """The painter there was for these very images in this layout, or a new one."""
        of = theme, layout, *self.images.values()
        for known, painter in self._painters:
            if len(known) == len(of) and all(one is other for one, other in zip(known, of, strict=True)):
                return painter
        num_heads = {kind: self._state.maps.shape(kind)[1] for kind in MAP_KINDS}
        thumbnails = [
            Thumbnail(head, self.images[head.kind][head.layer * num_heads[head.kind] + head.head], place, framed)
            for (head, place), framed in zip(layout.places.items(), layout.framed, strict=True)
        ]
        painter = GridPainter(self._state, theme, layout, thumbnails)
        self._painters = [(of, painter), *self._painters[: NUM_PAINTERS - 1]]
        return painter


def _is_plain(state: ExperimentState) -> bool:
    """Whether nothing but the frame depends on which head is chosen."""
    return state.settings.scope == "head" and not state.selection.has_marks


class HeadGridArea(VerticalScrollArea):
    """Scrolls the grid when it has more layers than fit, and keeps the chosen head in sight."""

    def __init__(self, grid: HeadGrid, parent: QWidget | None = None) -> None:
        super().__init__(grid, parent)
        self._grid = grid
        self.verticalScrollBar().valueChanged.connect(grid.update)
        state = grid.state
        state.result_changed.connect(self.show_choice)
        state.selection.events.head.connect(self.show_choice, max_args=0)

    def resizeEvent(self, event: QEvent) -> None:
        """Tells the grid how much room there is."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._grid.available = QSize(self.width() - SCROLL_BAR_WIDTH, self.height())
        self._grid.rebuild()
        self.show_choice()

    def show_choice(self) -> None:
        """Scrolls as little as is needed to see the chosen head, and its kind's title if it is in the first layer."""
        head = self._grid.state.selection.head
        place = self._grid.place_of(head)
        if place is not None:
            margin = scaled(NUMBERS_HEIGHT) + scaled(HEADER_HEIGHT if head.layer == 0 else SPACING)
            self.ensureVisible(place.center().x(), place.center().y(), 0, place.height() // 2 + margin)

    def minimumSizeHint(self) -> QSize:
        """Small enough for small screens."""
        return QSize(280, 200)
