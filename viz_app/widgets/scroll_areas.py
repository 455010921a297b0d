"""Scroll areas: those of texts and lists scroll up and down only, that of a whole window both ways."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from augenmerk.viz_app.theme import scaled


class _GeometryWatch(QObject):
    """An event filter that tells when a widget was moved or resized."""

    def __init__(self, on_change: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._on_change = on_change

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Move, QEvent.Type.Resize):
            self._on_change()
        return super().eventFilter(watched, event)


class ScrollArea(QScrollArea):
    """Has no frame, and can keep a widget in sight while the layouts around it change."""

    def __init__(self, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kept: QWidget | None = None
        self._kept_margin = 0
        self._watch = _GeometryWatch(self._scroll_to_kept, self)
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)
        content.setAutoFillBackground(False)
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._scroll_to_kept)
        bar.actionTriggered.connect(self._on_user_scrolls)

    def keep_in_sight(self, widget: QWidget | None, margin: int = 0) -> None:
        """Scrolls to a widget now and whenever it is moved or resized, until the user scrolls.

        A widget whose content has just changed gets its new geometry only later, and after how many events depends on
        the layouts around it.

        Args:
            widget: in the layout of the content; None lets the one go that is kept in sight.
            margin: pixels above and below it that are to be seen, too.
        """
        if self._kept is not None:
            self._kept.removeEventFilter(self._watch)
        self._kept, self._kept_margin = widget, margin
        if widget is not None:
            widget.installEventFilter(self._watch)
            self._scroll_to_kept()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Less may be seen now."""
        super().resizeEvent(event)
        self._scroll_to_kept()

    def hideEvent(self, event: QHideEvent) -> None:
        """What was looked at before is no longer what the user comes for."""
        super().hideEvent(event)
        if not event.spontaneous():
            self.keep_in_sight(None)

    def focusNextPrevChild(self, is_next: bool) -> bool:
        """The keyboard focus goes elsewhere, and the area scrolls there."""
        self.keep_in_sight(None)
        return super().focusNextPrevChild(is_next)

    def _on_user_scrolls(self) -> None:
        self.keep_in_sight(None)

    def _scroll_to_kept(self) -> None:
        if self._kept is not None:
            self.ensureWidgetVisible(self._kept, 0, self._kept_margin)


class VerticalScrollArea(ScrollArea):
    """Shows a widget as wide as itself; what is behind it shows through.

    Args:
        content: the widget.
        takes_keys: whether it is scrolled with the keyboard, too; else keys are left to the page.
    """

    def __init__(self, content: QWidget, parent: QWidget | None = None, *, takes_keys: bool = False) -> None:
        super().__init__(content, parent)
        self._takes_keys = takes_keys
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus if takes_keys else Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """See `takes_keys`. Where all of it is in sight, the area around it is scrolled."""
        if not self._takes_keys:
            event.ignore()
            return
        around = area_around(self)
        if self.verticalScrollBar().maximum() > 0 or around is None:
            super().keyPressEvent(event)
        else:
            around.scroll_by_key(event)


def area_around(widget: QWidget) -> "WindowScrollArea | None":
    """The scroll area of the window that a widget is in; None if it is in none."""
    around = widget.parentWidget()
    while around is not None and not isinstance(around, WindowScrollArea):
        around = around.parentWidget()
    return around


class ContentHeightScrollArea(VerticalScrollArea):
    """As high as its content needs at this width, up to a greatest height; then it scrolls.

    Args:
        content: has a height for its width.
        max_height: the greatest height in pixels; called at each `fit`.
    """

    def __init__(self, content: QWidget, max_height: Callable[[], int], parent: QWidget | None = None) -> None:
        self._content, self._max_height = content, max_height
        super().__init__(content, parent)

    def fit(self) -> None:
        """Call it when the content changed. Width, font and style are followed without."""
        self.setFixedHeight(max(1, min(self.content_height(), self._max_height())))

    def content_height(self) -> int:
        """The height that the content needs at this width."""
        return self._content.heightForWidth(self.width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width, other lines."""
        super().resizeEvent(event)
        self.fit()

    def showEvent(self, event: QShowEvent) -> None:
        """The style is known now."""
        super().showEvent(event)
        self.fit()

    def changeEvent(self, event: QEvent) -> None:
        """Another font has other lines."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.fit()


class WindowScrollArea(ScrollArea):
    """Shows the whole content of a window: as large as the window, unless the content's smallest size is larger.

    In a window that is narrower than its smallest width the content becomes narrower, and as high as it must be: its
    parts stand one below the other then, and it scrolls up and down.

    Args:
        content: the widget.
        size: the smallest at 100%.
        narrow_size: the smallest at 100% in a narrow window; higher, where its parts need more.
    """

    def __init__(
        self, content: QWidget, size: tuple[int, int], narrow_size: tuple[int, int], parent: QWidget | None = None
    ) -> None:
        self._content, self._least, self._least_if_narrow = content, size, narrow_size
        super().__init__(content, parent)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width, or another scale."""
        self._set_least()
        super().resizeEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What is in the content has become higher, or lower."""
        if watched is self._content and event.type() == QEvent.Type.LayoutRequest:
            self._set_least()
        return super().eventFilter(watched, event)

    def _set_least(self) -> None:
        is_narrow = self.width() < scaled(self._least[0])
        width, height = map(scaled, self._least_if_narrow if is_narrow else self._least)
        layout = self._content.layout()
        if is_narrow and layout is not None:  # a size that is set stands in place of the layout's own
            height = max(height, layout.totalMinimumSize().height())
        self._content.setMinimumSize(width, height)

    def scroll_by_key(self, event: QKeyEvent) -> None:
        """Scrolls as a page does that has the keyboard; other keys are left."""
        super().keyPressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys that nobody wanted are left to the window: arrows walk through heads."""
        event.ignore()
