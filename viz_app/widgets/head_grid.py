"""All heads of all layers of all three kinds, as thumbnails in one widget."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QScrollArea, QSizePolicy, QToolTip, QWidget

from core.analysis.roles import ROLES
from core.translation.result import MAP_KINDS, MapKind
from viz_app.state.translate_state import KIND_DIRECTIONS, KIND_NAMES, HeadChoice, TranslateState
from viz_app.theme import Theme
from viz_app.widgets.map_image import draw_map, map_image, ramp_of

SCROLL_BAR_WIDTH = 12
MIN_THUMBNAIL = 25  # below this height the grid scrolls, with thumbnails of a comfortable size
SCROLLING_THUMBNAIL = 46
MAX_THUMBNAIL = 96
MAX_ASPECT = 1.4
SPACING = 5
HEADER_HEIGHT = 20
NUMBERS_HEIGHT = 18
SECTION_SPACING = 7
SWITCH_SIZE = 15
MIN_WITH_SWITCH = 24


@dataclass(frozen=True)
class Thumbnail:
    """One head's picture and where it stands."""

    choice: HeadChoice
    image: QImage
    place: QRect


class HeadGrid(QWidget):
    """Draws every head of a translation; the chosen one is framed.

    Signals:
        chosen(HeadChoice): a thumbnail was clicked.
        switched(HeadChoice): a head is to be switched off, or on again: a right click, or a click on the small switch
            that the thumbnail under the mouse has in its corner.
        added(HeadChoice): Ctrl and a click: the head joins those that are shown together, or leaves them.
    """

    chosen = Signal(object)
    switched = Signal(object)
    added = Signal(object)

    def __init__(self, state: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self._theme = theme
        self._thumbnails: list[Thumbnail] = []
        self._hovered: HeadChoice | None = None
        self.available = QSize()  # room for the grid, a scroll bar left out, whether there is one or not
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("All heads")
        self.setAccessibleDescription("Arrow keys walk through heads and layers; O switches the chosen head off or on.")

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self._theme = theme
        self.rebuild()

    def rebuild(self) -> None:
        """Makes the pictures anew: the translation, the scale, the theme or the size changed."""
        self._thumbnails = [] if self._state.translation is None else self._make_thumbnails()
        self.setFixedHeight(max(self._content_height(), 1))
        self.update()

    @property
    def choice(self) -> HeadChoice:
        """The framed head."""
        return self._state.choice

    def place_of(self, choice: HeadChoice) -> QRect | None:
        """Where a head's thumbnail stands, in the widget's coordinates."""
        return next((thumbnail.place for thumbnail in self._thumbnails if thumbnail.choice == choice), None)

    def head_at(self, point: QPoint) -> HeadChoice | None:
        """The head whose thumbnail holds a point."""
        return next((item.choice for item in self._thumbnails if item.place.contains(point)), None)

    def switch_of(self, choice: HeadChoice) -> QRect | None:
        """Where a head's switch stands: in the upper right corner; None if its thumbnail is too small for one."""
        place = self.place_of(choice)
        if place is None or min(place.width(), place.height()) < MIN_WITH_SWITCH:
            return None
        return QRect(place.right() - SWITCH_SIZE, place.top() + 1, SWITCH_SIZE, SWITCH_SIZE)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click chooses; a right click, or one on the switch, switches."""
        point = event.position().toPoint()
        choice = self.head_at(point)
        if choice is None:
            return
        switch = self.switch_of(choice)
        is_on_switch = switch is not None and switch.contains(point)
        if event.button() == Qt.MouseButton.RightButton or (
            is_on_switch and event.button() == Qt.MouseButton.LeftButton
        ):
            self.switched.emit(choice)
        elif event.button() == Qt.MouseButton.LeftButton:
            is_added = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            (self.added if is_added else self.chosen).emit(choice)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """The press said it all."""
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """The thumbnail under the mouse gets a thin frame."""
        self._hover(self.head_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        """No frame once the mouse is gone."""
        self._hover(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrow keys belong to the page."""
        event.ignore()

    def event(self, event: QEvent) -> bool:
        """Tool tips name the head under the mouse."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            choice = self.head_at(event.pos())
            if choice is None:
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), self._tip(choice), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Labels, thumbnails, frames."""
        if not self._thumbnails:
            return
        painter = QPainter(self)
        self._paint_labels(painter)
        painter.setPen(QPen(self._theme.color("border"), 1))
        for item in self._thumbnails:
            if event.rect().intersects(item.place):
                draw_map(painter, QRectF(item.place), item.image)
                painter.drawRect(item.place.adjusted(-1, -1, 0, 0))
        self._paint_dimmed(painter)
        self._paint_switched_off(painter)
        self._paint_frame(painter, self._hovered, 1)
        self._paint_combined(painter)
        self._paint_frame(painter, self._state.choice, 3)
        self._paint_switch(painter)
        self._paint_numbers(painter)

    def _paint_numbers(self, painter: QPainter) -> None:
        """Head numbers stay at the top while the layers scroll under them."""
        size, top = self._thumbnail_size(), max(0, -self.y())
        if top > 0:
            painter.fillRect(0, top, self.width(), NUMBERS_HEIGHT, self._theme.color("panel"))
        painter.setPen(self._theme.color("muted"))
        painter.setFont(self._theme.font("small"))
        for head in range(max(self._state.shape(kind)[1] for kind in MAP_KINDS)):
            left = self._label_width() + head * (size.width() + SPACING)
            place = QRect(left, top, size.width(), NUMBERS_HEIGHT)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, str(head + 1))

    def _paint_labels(self, painter: QPainter) -> None:
        theme, left = self._theme, self._label_width()
        size = self._thumbnail_size()
        for kind, top in self._section_tops().items():
            painter.setPen(theme.color("text"))
            painter.setFont(theme.font("body", bold=True))
            header = QRect(0, top, self.width(), HEADER_HEIGHT)
            painter.drawText(header, Qt.AlignmentFlag.AlignVCenter, KIND_NAMES[kind])
            painter.setPen(theme.color("muted"))
            painter.setFont(theme.font("small"))
            painter.drawText(header.adjusted(left, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, KIND_DIRECTIONS[kind])
            for layer in range(self._state.shape(kind)[0]):
                y = top + HEADER_HEIGHT + layer * (size.height() + SPACING)
                place = QRect(0, y, left - 10, size.height())
                flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
                painter.drawText(place, flags, f"layer {layer + 1}")

    def _paint_frame(self, painter: QPainter, choice: HeadChoice | None, width: int) -> None:
        place = self.place_of(choice) if choice is not None else None
        if place is None:
            return
        margin = width // 2 + 1
        pen = QPen(self._theme.color("accent"), width)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.drawRect(QRectF(place).adjusted(-margin, -margin, margin, margin))

    def _paint_switched_off(self, painter: QPainter) -> None:
        """A head that is off is pale and struck through."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("warm"), 2))
        for item in self._thumbnails:
            if self._state.is_off(item.choice):
                painter.fillRect(item.place, self._theme.color("panel", 0.82))
                inner = item.place.adjusted(2, 2, -2, -2)
                painter.drawLine(inner.topLeft(), inner.bottomRight())
        painter.restore()

    def _paint_combined(self, painter: QPainter) -> None:
        """Heads that are shown together are framed together."""
        choice = self._state.choice
        together = self._state.heads(choice, self._state.shape(choice.kind))
        if self._state.scope != "head":
            for layer, head in together:
                self._paint_frame(painter, HeadChoice(choice.kind, layer, head), 2)

    def _paint_dimmed(self, painter: QPainter) -> None:
        """Heads of other roles than the one looked for are pale."""
        translation, role = self._state.translation, self._state.shown_role
        if translation is None or role is None:
            return
        for item in self._thumbnails:
            if self._state.role(translation, item.choice) != role:
                painter.fillRect(item.place, self._theme.color("panel", 0.8))

    def _paint_switch(self, painter: QPainter) -> None:
        """The sign of a power switch, on the head under the mouse."""
        switch = self.switch_of(self._hovered) if self._hovered is not None else None
        if switch is None or self._hovered is None:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("border"), 1))
        painter.setBrush(self._theme.color("panel"))
        painter.drawRoundedRect(switch, 4, 4)
        pen = QPen(self._theme.color("warm" if self._state.is_off(self._hovered) else "text"), 1.4)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        circle, middle = QRectF(switch).adjusted(4, 4.5, -4, -3.5), QRectF(switch).center()
        painter.drawArc(circle, 125 * 16, 290 * 16)
        painter.drawLine(QPointF(middle.x(), switch.top() + 3), QPointF(middle.x(), middle.y()))
        painter.restore()

    def _tip(self, choice: HeadChoice) -> str:
        translation = self._state.translation
        assert translation is not None
        role = self._state.role(translation, choice)
        what = f"{role}: {ROLES[role]}, in this sentence" if role != "mixed" else "no clear role in this sentence"
        switch = "Switched off. Right-click: switch it on" if self._state.is_off(choice) else "Right-click: switch off"
        return f"{choice.title}\n{what}\n{switch} · Ctrl-click: show several together"

    def _make_thumbnails(self) -> list[Thumbnail]:
        translation = self._state.translation
        assert translation is not None
        size, left, ramp = self._thumbnail_size(), self._label_width(), ramp_of(self._theme)
        max_pixels = int(size.height() * self.devicePixelRatioF())
        thumbnails = []
        for kind, top in self._section_tops().items():
            maps = self._state.thumbnails(translation, kind)
            for layer in range(maps.shape[0]):
                y = top + HEADER_HEIGHT + layer * (size.height() + SPACING)
                for head in range(maps.shape[1]):
                    weights = maps[layer, head]
                    choice = HeadChoice(kind, layer, head)
                    image = map_image(weights, ramp, self._state.top_weight(weights, choice), max_pixels)
                    place = QRect(left + head * (size.width() + SPACING), y, size.width(), size.height())
                    thumbnails.append(Thumbnail(choice, image, place))
        return thumbnails

    def _section_tops(self) -> dict[MapKind, int]:
        tops: dict[MapKind, int] = {}
        y = NUMBERS_HEIGHT
        for kind in MAP_KINDS:
            tops[kind] = y
            y += (
                HEADER_HEIGHT
                + self._state.shape(kind)[0] * (self._thumbnail_size().height() + SPACING)
                + SECTION_SPACING
            )
        return tops

    def _content_height(self) -> int:
        num_layers = sum(self._state.shape(kind)[0] for kind in MAP_KINDS)
        return self._fixed_height() + num_layers * (self._thumbnail_size().height() + SPACING) if num_layers else 0

    def _fixed_height(self) -> int:
        """The height that headers take, thumbnails apart."""
        return NUMBERS_HEIGHT + len(MAP_KINDS) * (HEADER_HEIGHT + SECTION_SPACING)

    def _thumbnail_size(self) -> QSize:
        """As large as width and height allow, a little wider than high if need be."""
        num_heads = max(1, *(self._state.shape(kind)[1] for kind in MAP_KINDS))
        num_layers = max(1, sum(self._state.shape(kind)[0] for kind in MAP_KINDS))
        by_width = (self.available.width() - self._label_width() - 4) // num_heads - SPACING
        by_height = (self.available.height() - self._fixed_height()) // num_layers - SPACING
        height = min(by_width, by_height if by_height >= MIN_THUMBNAIL else SCROLLING_THUMBNAIL, MAX_THUMBNAIL)
        height = max(height, 10)
        return QSize(max(height, min(by_width, int(height * MAX_ASPECT))), height)

    def _label_width(self) -> int:
        return self._theme.base_px * 5 + 4

    def _hover(self, choice: HeadChoice | None) -> None:
        if choice != self._hovered:
            self._hovered = choice
            self.setCursor(Qt.CursorShape.PointingHandCursor if choice else Qt.CursorShape.ArrowCursor)
            self.update()


class HeadGridArea(QScrollArea):
    """Scrolls the grid when it has more layers than fit, and keeps the chosen head in sight."""

    def __init__(self, grid: HeadGrid, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = grid
        self.setWidget(grid)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().valueChanged.connect(grid.update)
        self.viewport().setAutoFillBackground(False)
        grid.setAutoFillBackground(False)

    def resizeEvent(self, event: QEvent) -> None:
        """Tells the grid how much room there is."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._grid.available = QSize(self.width() - SCROLL_BAR_WIDTH, self.height())
        self._grid.rebuild()
        self.show_choice(self._grid.choice)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrow keys belong to the page; it scrolls to the head they lead to."""
        event.ignore()

    def show_choice(self, choice: HeadChoice) -> None:
        """Scrolls as little as is needed to see a head, and its kind's title if it is in the first layer."""
        place = self._grid.place_of(choice)
        if place is not None:
            margin = NUMBERS_HEIGHT + (HEADER_HEIGHT if choice.layer == 0 else SPACING)
            self.ensureVisible(place.center().x(), place.center().y(), 0, place.height() // 2 + margin)

    def minimumSizeHint(self) -> QSize:
        """Small enough for small screens."""
        return QSize(280, 200)
