"""All heads of all layers of all three kinds, as thumbnails in one widget."""

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import (
    QHelpEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPaintEngine,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import MAP_KINDS, MapKind
from augenmerk.viz_app.heatmap.head_grid_paint import (
    HEADER_HEIGHT,
    NUMBERS_HEIGHT,
    SPACING,
    GridLayout,
    GridPainter,
    HeadSheets,
    Thumbnail,
    lay_out_grid,
)
from augenmerk.viz_app.heatmap.map_image import ImageStore, ramp_of, signed_ramp_of
from augenmerk.viz_app.state.evented_options import on_redraw
from augenmerk.viz_app.state.experiment_editor import toggle_head
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.head_roles import role_in_short
from augenmerk.viz_app.state.map_source import top_values
from augenmerk.viz_app.theme import Theme, current_theme, is_theme_change, scaled
from augenmerk.viz_app.widgets.scroll_areas import VerticalScrollArea

SCROLL_BAR_WIDTH = 12
NUM_PAINTERS = 6
FRAME_WIDTH = 6  # what a frame may take around a thumbnail


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
        """What there is to explain at a point; see `viz_app.widgets.explain.HasTermsAt`."""
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
