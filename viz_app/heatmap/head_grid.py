"""All heads of all layers and kinds as thumbnails in one widget: layout, painting, mouse, keys."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetrics,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QRegion,
)
from PySide6.QtWidgets import QSizePolicy

from augenmerk.core.counting import display_text
from augenmerk.core.model.heads import ATTENTION_KINDS, AttentionKind, Head, HeadGroup
from augenmerk.core.quantities import counted

from ..state.experiment_editor import toggle
from ..state.experiment_state import ExperimentState
from ..state.head_roles import role_in_short
from ..state.map_source import Cache, MapSource, color_scales
from ..state.map_text import KIND_DIRECTIONS, KIND_NAMES, network_note
from ..state.map_view import Band
from ..state.map_view_settings import on_redraw
from ..state.marks import experiment_of_marks, lit_keys, lit_queries, marks_of_heads
from ..theme import Theme, scaled
from ..widgets.canvas import Canvas
from ..widgets.layouts import VerticalScrollArea
from .drawing import DIMMED_OPACITY, SMALL_SCALE, Box, mark_shapes
from .map_image import draw_thumbnail, draws_shapes, map_images, paint_shapes

MIN_THUMBNAIL = 25  # below this height the grid scrolls, with thumbnails of a comfortable size
SCROLLING_THUMBNAIL = 46
MAX_THUMBNAIL = 96
MAX_ASPECT = 1.4
MAX_TALL_ASPECT = 1.8  # in a narrow panel thumbnails grow in height, to use the room
SPACING = 5
HEADER_HEIGHT = 20
NUMBERS_HEIGHT = 18
SECTION_SPACING = 7
SWITCH_SIZE = 15
MIN_WITH_SWITCH = 24
NO_DIFFERENCE = "no difference"
FOLDED, UNFOLDED = "▸", "▾"
UNPICKED_OPACITY = 0.62
SCROLL_BAR_WIDTH = 12
NUM_KEPT = 40
"""Layouts, lists of images and pictures of the grid that are kept, so that returning is fast."""


@dataclass(frozen=True, eq=False)
class GridLayout:
    """Places in the grid, in pixels.

    Attributes:
        places: of every thumbnail, in reading order; none of folded kinds.
        headers: of each kind's title.
        lines: a place and a name at the left of each line of thumbnails.
        left: the left edge of the thumbnails.
        thumbnail: size of one.
        size: of all of it.
    """

    places: dict[Head, QRect]
    headers: dict[AttentionKind, QRect]
    lines: tuple[tuple[QRect, str], ...]
    left: int
    thumbnail: QSize
    size: QSize


Line = tuple[str, tuple[Head, ...]]
"""The name of a line of thumbnails, and its heads."""


def lines_of(state: ExperimentState, kind: AttentionKind) -> tuple[Line, ...]:
    """A line for each layer, or lines in the chosen order; none of a folded kind."""
    if kind in state.settings.folded_kinds:
        return ()
    return tuple((_name(state, heads), heads) for heads in state.roles.lines_of_heads(kind))


def lay_out_grid(
    state: ExperimentState,
    available: QSize,
    width: int,
    theme: Theme,
    kinds: Sequence[AttentionKind] = ATTENTION_KINDS,
) -> GridLayout:
    """Kind under kind; of a folded one its title. A single kind has none.

    Args:
        state: its heads are drawn.
        available: room, a scroll bar left out.
        width: of the widget.
        theme: for the size of its letters.
        kinds: those that are drawn.
    """
    lines = {kind: lines_of(state, kind) for kind in kinds}
    num_heads = max(state.maps.shape(kind)[1] for kind in ATTENTION_KINDS)
    left = theme.base_px * 5 + 4
    texts = _height_of_texts(theme, len(kinds))
    size = _thumbnail_size(sum(map(len, lines.values())), num_heads, available, left, texts, theme)
    places: dict[Head, QRect] = {}
    headers: dict[AttentionKind, QRect] = {}
    named: list[tuple[QRect, str]] = []
    y = theme.scaled(NUMBERS_HEIGHT)
    for kind in kinds:
        if len(kinds) > 1:
            headers[kind] = QRect(0, y, width, theme.scaled(HEADER_HEIGHT))
            y += theme.scaled(HEADER_HEIGHT)
        for name, heads in lines[kind]:
            named.append((QRect(0, y, left - 10, size.height()), name))
            for column, head in enumerate(heads):
                x = left + column * (size.width() + theme.scaled(SPACING))
                places[head] = QRect(QPoint(x, y), size)
            y += size.height() + theme.scaled(SPACING)
        y += theme.scaled(SECTION_SPACING)
    return GridLayout(places, headers, tuple(named), left, size, QSize(width, y))


def _name(state: ExperimentState, heads: tuple[Head, ...]) -> str:
    """A layer, or the role with which a line begins; empty for heads ordered by clarity."""
    order = state.settings.order
    if order == "layer":
        return f"layer {heads[0].layer + 1}"
    if order == "clarity":
        return ""
    roles = [state.roles.of(head) for head in heads]
    return roles[0] + (" …" if len(set(roles)) > 1 else "")


def _thumbnail_size(
    num_lines: int, num_heads: int, available: QSize, left: int, texts: int, theme: Theme
) -> QSize:
    """As large as width and height allow, a little wider than high, or higher if need be."""
    spacing = theme.scaled(SPACING)
    by_width = (available.width() - left - 4) // max(num_heads, 1) - spacing
    by_height = (available.height() - texts) // max(num_lines, 1) - spacing
    by_height = (
        by_height if by_height >= theme.scaled(MIN_THUMBNAIL) else theme.scaled(SCROLLING_THUMBNAIL)
    )
    height = max(min(int(by_width * MAX_TALL_ASPECT), by_height, theme.scaled(MAX_THUMBNAIL)), 10)
    return QSize(max(min(by_width, int(height * MAX_ASPECT)), 10), height)


def _height_of_texts(theme: Theme, num_kinds: int) -> int:
    """Of everything but the lines of thumbnails."""
    header = theme.scaled(HEADER_HEIGHT) if num_kinds > 1 else 0
    return theme.scaled(NUMBERS_HEIGHT) + num_kinds * (header + theme.scaled(SECTION_SPACING))


def numbered_heads(num_heads: int, pitch: int, number_width: int) -> range:
    """The columns with their number above them: every second and so on where numbers would touch.

    Args:
        num_heads: columns of the grid.
        pitch: pixels from one column to the next.
        number_width: pixels of the widest number and the gap next to it.
    """
    return range(0, num_heads, max(1, -(-number_width // max(1, pitch))))


@dataclass
class GridPainter:
    """Paints the heads of a state.

    Attributes:
        state: for the heads that are chosen, lit and off.
        theme: colours and fonts.
        layout: places of everything.
        images: of all heads of each kind, layer by layer.
    """

    state: ExperimentState
    theme: Theme
    layout: GridLayout
    images: dict[AttentionKind, list[QImage]]

    def paint_heads(self, painter: QPainter) -> None:
        """Draws names, pictures and hairlines, which depend on layout, theme and images alone.

        The layout follows order and folding.
        """
        self._paint_labels(painter)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        for head, thumbnail in self.layout.places.items():
            images = self.images[head.kind]
            _, num_heads = self.state.maps.shape(head.kind)
            draw_thumbnail(painter, thumbnail, images[head.layer * num_heads + head.head])
        self._paint_hairlines(painter)
        self.paint_numbers(painter, 0)

    def paint_marks(self, painter: QPainter, hovered: Head | None) -> None:
        """Marks chosen, lit and switched-off heads: all but the numbers over columns."""
        if self.state.selection.has_marks:
            self._paint_lit(painter)
            self._paint_hairlines(painter)
        self._paint_dimmed(painter)
        self._paint_marked(painter)
        self._paint_networks(painter)
        if self.state.settings.order != "layer":
            self._paint_tags(painter)
        self._paint_frame(painter, hovered, 1)
        if self.state.settings.scope != "head":  # heads that are shown together are framed together
            for layer, head in self.state.maps.heads():
                self._paint_frame(painter, Head(self.state.selection.head.kind, layer, head), 2)
        self._paint_frame(painter, self.state.selection.head, 3)
        self._paint_switch(painter, hovered)

    def paint_numbers(self, painter: QPainter, top: int) -> None:
        """Head numbers stay at the top while the layers scroll under them."""
        height = self.theme.scaled(NUMBERS_HEIGHT)
        painter.fillRect(0, top, self.layout.size.width(), height, self.theme.color("panel"))
        if self.state.settings.order != "layer":
            return
        painter.setPen(self.theme.color("muted"))
        painter.setFont(self.theme.font("small"))
        width = self.layout.thumbnail.width()
        num_heads = max(self.state.maps.shape(kind)[1] for kind in ATTENTION_KINDS)
        pitch = width + self.theme.scaled(SPACING)
        for head in numbered_heads(
            num_heads, pitch, painter.fontMetrics().horizontalAdvance(f" {num_heads}")
        ):
            number_box = QRect(self.layout.left + head * pitch, top, width, height)
            painter.drawText(number_box, Qt.AlignmentFlag.AlignCenter, str(head + 1))

    def layer_at(self, point: QPoint) -> HeadGroup | None:
        """The layer on whose name a point lies."""
        named = next(
            (name_box for name_box, _ in self.layout.lines if name_box.contains(point)), None
        )
        if named is None or self.state.settings.order != "layer":
            return None
        head = next(
            head for head, thumbnail in self.layout.places.items() if thumbnail.top() == named.top()
        )
        return HeadGroup(head.kind, head.layer)

    def columns_at(self, x: int) -> tuple[HeadGroup, ...]:
        """The heads of each kind in the column at a horizontal place."""
        if self.state.settings.order != "layer":
            return ()
        column = (x - self.layout.left) // (
            self.layout.thumbnail.width() + self.theme.scaled(SPACING)
        )
        groups = (HeadGroup(kind, None, column) for kind in ATTENTION_KINDS)
        return tuple(group for group in groups if any(head in group for head in self.layout.places))

    def switch_of(self, head: Head) -> QRect | None:
        """The box of a head's switch at the upper right; None if the thumbnail is too small."""
        thumbnail = self.layout.places.get(head)
        if thumbnail is None or min(thumbnail.width(), thumbnail.height()) < MIN_WITH_SWITCH:
            return None
        return QRect(thumbnail.right() - SWITCH_SIZE, thumbnail.top() + 1, SWITCH_SIZE, SWITCH_SIZE)

    def _paint_hairlines(self, painter: QPainter) -> None:
        painter.setPen(QPen(self.theme.color("border"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRects(
            [thumbnail.adjusted(-1, -1, 0, 0) for thumbnail in self.layout.places.values()]
        )

    def _paint_labels(self, painter: QPainter) -> None:
        theme = self.theme
        centred = Qt.AlignmentFlag.AlignVCenter
        for kind, header in self.layout.headers.items():
            painter.setPen(theme.color("text"))
            painter.setFont(theme.font("body", bold=True))
            is_folded = kind in self.state.settings.folded_kinds
            title = f"{FOLDED if is_folded else UNFOLDED} {KIND_NAMES[kind]}"
            painter.drawText(header, centred, title)
            left = max(self.layout.left, painter.fontMetrics().horizontalAdvance(f"{title}  "))
            painter.setPen(theme.color("muted"))
            painter.setFont(theme.font("small"))
            painter.drawText(header.adjusted(left, 0, 0, 0), centred, self._about(kind, is_folded))
        painter.setPen(theme.color("muted"))
        painter.setFont(theme.font("small"))
        flags = centred | Qt.AlignmentFlag.AlignRight
        # only names of roles are long enough to wrap; looking for breaks takes time
        if self.state.settings.order != "layer":
            flags |= Qt.TextFlag.TextWordWrap
        for name_box, name in self.layout.lines:
            painter.drawText(name_box, flags, name)

    def _about(self, kind: AttentionKind, is_folded: bool) -> str:
        """The text after the name of a kind: its direction, and the number of folded heads."""
        parts = [KIND_DIRECTIONS[kind]]
        if lacks_difference(self.state.maps, kind):
            parts = [f"{KIND_DIRECTIONS[kind]}: {NO_DIFFERENCE}"]
        if is_folded:
            num_layers, num_heads = self.state.maps.shape(kind)
            parts.append(f"{counted(num_layers, 'layer')} × {counted(num_heads, 'head')}")
        return " · ".join(parts)

    def _paint_lit(self, painter: QPainter) -> None:
        """Dims all but the queries, or else keys, of pinned and picked tokens; marks both."""
        ground = self.theme.color("panel", UNPICKED_OPACITY)
        accent = self.theme.color("accent")
        for kind in ATTENTION_KINDS:
            view = self.state.maps.view_all(kind)
            queries = view.bands(queries=lit_queries(self.state, kind))
            keys = view.bands(keys=lit_keys(self.state, kind))
            shape = view.values.shape[-2:]
            for thumbnail in self._places_of(kind) if queries or keys else ():
                dimmed = QRegion(thumbnail)
                for band in queries or keys:
                    dimmed -= QRegion(_band_rect(thumbnail, band, shape))
                for rect in dimmed:  # type: ignore[attr-defined]
                    painter.fillRect(rect, ground)
                for band in (*queries, *keys):
                    lit = _band_rect(thumbnail, band, shape)
                    edge = QRect(lit.left() - 3, lit.top(), 3, lit.height())
                    painter.fillRect(
                        edge if band.is_row else QRect(lit.left(), lit.top() - 3, lit.width(), 3),
                        accent,
                    )

    def _places_of(self, kind: AttentionKind) -> Iterator[QRect]:
        return (thumbnail for head, thumbnail in self.layout.places.items() if head.kind == kind)

    def _paint_tags(self, painter: QPainter) -> None:
        """The layer and number of each head, which do not follow from its place."""
        painter.setFont(self.theme.font("small"))
        metrics = painter.fontMetrics()
        for head, thumbnail in self.layout.places.items():
            text = f"{head.layer + 1}·{head.head + 1}"
            width = metrics.horizontalAdvance(text) + 4
            tag = QRect(
                thumbnail.left(),
                thumbnail.bottom() - metrics.height() + 4,
                width,
                metrics.height() - 3,
            )
            painter.fillRect(tag, self.theme.color("panel", 0.88))
            painter.setPen(self.theme.color("text"))
            painter.drawText(tag, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_frame(self, painter: QPainter, head: Head | None, width: int) -> None:
        thumbnail = self.layout.places.get(head) if head is not None else None
        if thumbnail is None:
            return
        margin = width // 2 + 1
        pen = QPen(self.theme.color("accent"), width)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(thumbnail).adjusted(-margin, -margin, margin, margin))

    def _paint_marked(self, painter: QPainter) -> None:
        """Fades heads that are off and strikes them through; marks changed rows by bars."""
        state = self.state
        is_marked = experiment_of_marks(state).heads_off or state.selection.pointer is not None
        if state.result is None or not (state.result.is_changed or is_marked):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width, height = self.layout.thumbnail.width(), self.layout.thumbnail.height()
        for kind in ATTENTION_KINDS:
            num_rows, num_columns = state.maps.view_all(kind).values.shape[-2:]
            cell = width / max(num_columns, 1), height / max(num_rows, 1)
            for (layer, head), marks in marks_of_heads(state, kind).items():
                thumbnail = self.layout.places.get(Head(kind, layer, head))
                if thumbnail is None:
                    continue
                if marks.is_off:
                    painter.fillRect(thumbnail, self.theme.color("panel", 0.82))
                of_experiment = replace(marks, lit=frozenset(), pinned=None)
                shapes = mark_shapes(of_experiment, cell, Box(0, 0, width, height), SMALL_SCALE)
                paint_shapes(painter, shapes, QPointF(thumbnail.topLeft()), self.theme)
                if marks.scaling:
                    self._paint_factor(painter, thumbnail, marks.scaling)
        painter.restore()

    def _paint_factor(self, painter: QPainter, thumbnail: QRect, text: str) -> None:
        """The factor of a scaled head in a corner of its map, smaller if the map is narrow."""
        font = self.theme.font("small", bold=True)
        width = QFontMetrics(font).horizontalAdvance(text) + 3
        font.setPixelSize(max(1, font.pixelSize() * min(thumbnail.width(), width) // width))
        painter.setFont(font)
        box = painter.fontMetrics().tightBoundingRect(text).adjusted(-1, -1, 2, 2)
        box.moveBottomRight(thumbnail.bottomRight())
        painter.fillRect(box, self.theme.color("panel", DIMMED_OPACITY))
        painter.setPen(self.theme.color("warm"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_networks(self, painter: QPainter) -> None:
        """A note under the name of each layer whose feed-forward network is scaled or off."""
        experiment = experiment_of_marks(self.state)
        if self.state.settings.order != "layer" or not experiment.scalings:
            return
        painter.setFont(self.theme.font("small"))
        painter.setPen(self.theme.color("warm"))
        height = painter.fontMetrics().height()
        for name_box, _ in self.layout.lines:
            group = self.layer_at(name_box.center())
            if group is None or group.layer is None:
                continue
            note = network_note(experiment, group.side, group.layer)
            middle = name_box.translated(0, height - 1)
            painter.drawText(
                middle, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, note
            )

    def _paint_dimmed(self, painter: QPainter) -> None:
        """Fades heads without the highlighted role or the requested difference."""
        role = self.state.settings.shown_role
        pale = {kind for kind in ATTENTION_KINDS if lacks_difference(self.state.maps, kind)}
        for head, thumbnail in self.layout.places.items() if pale or role is not None else ():
            if head.kind in pale or (role is not None and self.state.roles.of(head) != role):
                painter.fillRect(thumbnail, self.theme.color("panel", 0.8))

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
        pen = QPen(
            self.theme.color(
                "warm" if hovered in experiment_of_marks(self.state).heads_off else "text"
            ),
            1.4,
        )
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        circle = QRectF(switch).adjusted(4, 4.5, -4, -3.5)
        middle = QRectF(switch).center()
        painter.drawArc(circle, 125 * 16, 290 * 16)
        painter.drawLine(QPointF(middle.x(), switch.top() + 3), QPointF(middle.x(), middle.y()))
        painter.restore()


def lacks_difference(maps: MapSource, kind: AttentionKind) -> bool:
    """Whether a difference is requested that a kind has not: its changed maps are greyed out."""
    return maps.shown == "difference" and bool(maps.difference_problem(kind))


def _band_rect(thumbnail: QRect, band: Band, shape: tuple[int, ...]) -> QRect:
    """A band of a thumbnail with this number of rows and columns; at least two pixels wide."""
    size = (thumbnail.height() if band.is_row else thumbnail.width()) / shape[
        0 if band.is_row else 1
    ]
    first, last = round(band.index * size), round((band.index + 1) * size)
    if band.is_row:
        return QRect(
            thumbnail.left(), thumbnail.top() + first, thumbnail.width(), max(last - first, 2)
        )
    return QRect(
        thumbnail.left() + first, thumbnail.top(), max(last - first, 2), thumbnail.height()
    )


class HeadGrid(Canvas):
    """Draws every head of an experiment's result; the chosen one is framed.

    A click chooses a head; with Ctrl it joins those that are shown together, or leaves them. A
    right click, or a click on the small switch that the thumbnail under the mouse has in its
    corner, switches a head off, or on again. A click on the title of a kind folds its heads, or
    unfolds them. The menus of titles, layers and columns switch all of their heads.

    Attributes:
        can_switch: whether heads can be switched off here.
        state: the experiment whose heads are drawn.
        available: room for the grid, a scroll bar left out, whether there is one or not.

    Signals:
        menu_requested(tuple[HeadGroup, ...], QPoint): of the groups at a point, in the widget's
            coordinates.
    """

    menu_requested = Signal(object, QPoint)
    can_switch = True

    def __init__(self, state: ExperimentState) -> None:
        super().__init__()
        self.state = state
        self._painter: GridPainter | None = None
        self._hovered: Head | None = None
        self._is_outlined = False
        self._kept = Cache(NUM_KEPT)
        self._sheet_key: tuple[object, ...] = ()
        self.available = QSize()
        # otherwise every change also repaints the page below
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("All heads")
        self.setAccessibleDescription(
            "Arrow keys step through heads and layers; O switches the chosen head off or on."
        )
        for changed in (state.result_changed, state.measuring.changed, state.roles_changed):
            changed.connect(self.rebuild)
        state.experiment_changed.connect(self.update, max_args=0)
        on_redraw(state.settings, ("maps", "grid"), self.rebuild)
        for mark in ("head", "pinned", "picked", "picked_key"):
            getattr(state.selection.events, mark).connect(self.update, max_args=0)

    def rebuild(self) -> None:
        """Updates layout and images: the translation, a setting, the theme or the size changed."""
        self._painter = self._make_painter() if self.state.maps.result is not None else None
        self.setFixedHeight(self._painter.layout.size.height() if self._painter else 1)
        self.update()

    def least_height(self) -> int:
        """The height from which the whole grid fits."""
        num_lines = sum(len(lines_of(self.state, kind)) for kind in self.kinds)
        line = self.theme.scaled(MIN_THUMBNAIL) + self.theme.scaled(SPACING)
        return _height_of_texts(self.theme, len(self.kinds)) + num_lines * line

    @property
    def kinds(self) -> tuple[AttentionKind, ...]:
        """The kinds of attention whose heads are drawn."""
        return ATTENTION_KINDS

    def _make_painter(self) -> GridPainter:
        state = self.state
        maps = self.state.maps
        theme = self.theme
        order, folded = state.settings.order, state.settings.folded_kinds
        lines = () if order == "layer" else tuple(lines_of(state, kind) for kind in ATTENTION_KINDS)
        shapes = tuple(maps.shape(kind) for kind in ATTENTION_KINDS)
        room, kinds = (self.available.toTuple(), self.width()), self.kinds
        layout = self._kept.kept(
            (*room, theme, shapes, order, folded, lines, kinds),
            lambda: lay_out_grid(state, self.available, self.width(), theme, kinds),
        )
        views = {kind: maps.view_all(kind) for kind in ATTENTION_KINDS}
        max_pixels = int(layout.thumbnail.height() * self.devicePixelRatioF())
        scales = {kind: color_scales(maps, kind) for kind in ATTENTION_KINDS}
        look = theme, max_pixels
        self._sheet_key = (layout, *views.values(), *scales.values(), *look)

        def images_of(kind: AttentionKind) -> list[QImage]:
            values = views[kind].values
            of_kind = [scale for layer in scales[kind] for scale in layer]
            tops = np.array([scale.top for scale in of_kind], dtype=np.float32)
            return map_images(
                values.reshape(-1, *values.shape[2:]),
                of_kind[0].table(is_dark=theme.is_dark),
                tops,
                max_pixels,
            )

        images = {
            kind: self._kept.kept((view, scales[kind], *look), partial(images_of, kind))
            for kind, view in views.items()
        }
        return GridPainter(state, theme, layout, images)

    def _make_sheet(self, grid: GridPainter, ratio: float) -> QPixmap:
        """The picture of all heads without marks."""
        sheet = QPixmap(grid.layout.size * ratio)
        sheet.setDevicePixelRatio(ratio)
        sheet.fill(grid.theme.color("panel"))
        painter = QPainter(sheet)
        grid.paint_heads(painter)
        painter.end()
        return sheet

    def show_together(self, head: Head) -> None:
        """Shows a head together with those shown now, or without it if it is one of them."""
        settings = self.state.settings
        chosen = self.state.selection.head
        settings.show_together(head, chosen)
        if settings.several:
            self.state.selection.choose(
                chosen if chosen in settings.several else min(settings.several)
            )

    def place_of(self, head: Head) -> QRect | None:
        """The place of a head's thumbnail, in the widget's coordinates."""
        return self._painter.layout.places.get(head) if self._painter else None

    def head_at(self, point: QPoint) -> Head | None:
        """The head whose thumbnail holds a point."""
        places = self._painter.layout.places.items() if self._painter else ()
        return next((head for head, thumbnail in places if thumbnail.contains(point)), None)

    def groups_at(self, point: QPoint) -> tuple[HeadGroup, ...]:
        """The heads of the title, layer's name or column's number at a point."""
        if self._painter is None or not self.can_switch:
            return ()
        top = max(0, -self.y())
        if top <= point.y() < top + scaled(NUMBERS_HEIGHT):
            return self._painter.columns_at(point.x())
        kind = self.header_at(point)
        layer = self._painter.layer_at(point)
        return tuple(filter(None, (HeadGroup(kind) if kind is not None else layer,)))

    def header_at(self, point: QPoint) -> AttentionKind | None:
        """The kind on whose title a point lies; None where head numbers cover it."""
        if self._painter is None or point.y() < max(0, -self.y()) + scaled(NUMBERS_HEIGHT):
            return None
        headers = self._painter.layout.headers.items()
        return next((kind for kind, header in headers if header.contains(point)), None)

    def terms_at(self, point: QPoint) -> str:
        """The terms of the part drawn at a point, which the window may explain."""
        head, kind = self.head_at(point), self.header_at(point)
        if head is not None:
            return f"head {head.kind}"
        return kind or ""

    def switch_of(self, head: Head) -> QRect | None:
        """The box of a head's switch at the upper right; None if the thumbnail is too small."""
        return self._painter.switch_of(head) if self._painter and self.can_switch else None

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click chooses; a right click, or one on the switch, switches."""
        point = event.position().toPoint()
        head = self.head_at(point)
        if head is None:
            kind, groups = self.header_at(point), self.groups_at(point)
            if kind is not None and event.button() == Qt.MouseButton.LeftButton:
                self.state.settings.toggle_fold(kind)
            elif groups:
                self.menu_requested.emit(groups, point)
            return
        switch = self.switch_of(head)
        is_on_switch = switch is not None and switch.contains(point)
        if event.button() == Qt.MouseButton.RightButton or (
            is_on_switch and event.button() == Qt.MouseButton.LeftButton
        ):
            if self.can_switch:
                self.state.submit(toggle(head))
        elif event.button() == Qt.MouseButton.LeftButton:
            is_added = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            (self.show_together if is_added else self.state.intents.choose_head)(head)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Handled by the press."""
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        self._hover(self.head_at(point))
        can_click = (
            self._hovered is not None
            or self.header_at(point) is not None
            or bool(self.groups_at(point))
        )
        self.setCursor(
            Qt.CursorShape.PointingHandCursor if can_click else Qt.CursorShape.ArrowCursor
        )

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)

    def tip_at(self, position: QPointF) -> str:
        """Names the head or the groups under the mouse."""
        point = position.toPoint()
        if (head := self.head_at(point)) is not None:
            return self._tip(head)
        kind = self.header_at(point)
        return tip_of_groups(self.groups_at(point), kind, kind in self.state.settings.folded_kinds)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        grid = self._painter
        if grid is None:
            painter.fillRect(event.rect(), self.theme.color("panel"))
            return
        if draws_shapes(painter):  # letters stay letters in a vector picture
            painter.fillRect(event.rect(), self.theme.color("panel"))
            grid.paint_heads(painter)
        else:
            # a wrapper of the device can be of another one, and crash
            ratio = self.devicePixelRatioF()
            sheet = self._kept.kept(
                (*self._sheet_key, ratio), lambda: self._make_sheet(grid, ratio)
            )
            painter.drawPixmap(0, 0, sheet)
        grid.paint_marks(painter, self._hovered)
        if self.y() < 0:
            grid.paint_numbers(painter, -self.y())
        if self._is_outlined:
            painter.setPen(self.theme.color("accent"))
            painter.drawRect(self.visibleRegion().boundingRect().adjusted(0, 0, -1, -1))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Outlines the grid if keys brought the focus, as buttons do."""
        self._is_outlined = event.reason() in (
            Qt.FocusReason.TabFocusReason,
            Qt.FocusReason.BacktabFocusReason,
        )
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._is_outlined = False
        super().focusOutEvent(event)

    def _tip(self, head: Head) -> str:
        what = role_in_short(self.state.roles, head)
        switch = (
            "Switched off. Right-click: switch it on"
            if head in experiment_of_marks(self.state).heads_off
            else "Right-click: switch off"
        )
        return f"{display_text(head.title)}\n{what}\n{switch} · Ctrl-click: show several together"

    def _hover(self, head: Head | None) -> None:
        if head != self._hovered:
            self._hovered = head
            self.update()


def tip_of_groups(groups: Sequence[HeadGroup], kind: AttentionKind | None, is_folded: bool) -> str:
    """The tip of the title of a kind, of a layer or of a column; empty elsewhere."""
    if kind is not None:
        fold = f"Click: {'show' if is_folded else 'fold'} these heads"
        return f"{fold}\nRight-click: switch them all off" if groups else fold
    if not groups:
        return ""
    of_layer = "Click: switch this layer's heads or its feed-forward network (FFN) off"
    return of_layer if groups[0].layer is not None else "Click: switch this head off in all layers"


class HeadGridArea(VerticalScrollArea):
    """Scrolls the grid when it has more layers than fit, and keeps the chosen head in sight."""

    def __init__(self, grid: HeadGrid) -> None:
        super().__init__(grid)
        self._grid = grid
        self.verticalScrollBar().valueChanged.connect(grid.update)
        state = grid.state
        state.result_changed.connect(self.show_choice)
        state.selection.events.head.connect(self.show_choice, max_args=0)

    def resizeEvent(self, event: QEvent) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._grid.available = QSize(self.width() - SCROLL_BAR_WIDTH, self.height())
        self._grid.rebuild()
        self.show_choice()

    def show_choice(self) -> None:
        """Scrolls to the chosen head; in the first layer, also to the title of its kind."""
        head = self._grid.state.selection.head
        thumbnail = self._grid.place_of(head)
        if thumbnail is not None:
            margin = scaled(NUMBERS_HEIGHT) + scaled(HEADER_HEIGHT if head.layer == 0 else SPACING)
            self.ensureVisible(
                thumbnail.center().x(), thumbnail.center().y(), 0, thumbnail.height() // 2 + margin
            )

    def minimumSizeHint(self) -> QSize:
        """Small enough for small screens."""
        return QSize(scaled(280), scaled(200))
