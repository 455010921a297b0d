"""One chapter: text on the left, live figures on the right."""

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QPushButton, QWidget

from augenmerk.viz_app.learn.actions import ChapterActions
from augenmerk.viz_app.learn.chapter import Chapter
from augenmerk.viz_app.learn.chapter_text import ChapterText
from augenmerk.viz_app.learn.figures.figure import ChapterFigure, LearnContext
from augenmerk.viz_app.learn.figures.map import MapFigure
from augenmerk.viz_app.learn.figures.registry import FIGURES
from augenmerk.viz_app.learn.predict_view import PredictView
from augenmerk.viz_app.theme import GAP, current_theme, scaled
from augenmerk.viz_app.widgets.layouts import VerticalScrollArea, area_around, column_of, row_of, take_out

TEXT_SHARE, FIGURE_SHARE = 3, 4
STACKED = 800
"""Pixels below which text and figures do not stand side by side."""
FIGURE_HEIGHT_STACKED = 420
"""Of a figure then: the window scrolls, and all of a chapter is as high as it must be."""
SCROLL_BAR_WIDTH = 10


class ChapterView(QWidget):
    """Text and figures of one chapter; both follow the current experiment.

    Attributes:
        chapter: what is shown.
        text: at the left.
        figures: at the right.
        next_button: goes on to the next chapter.

    Signals:
        next_wanted()
    """

    next_wanted = Signal()

    def __init__(self, chapter: Chapter, context: LearnContext, next_title: str, parent: QWidget | None = None) -> None:
        """`next_title`: of the chapter after this one; empty if it is the last."""
        super().__init__(parent)
        self.chapter, self._context = chapter, context
        self._state = context.state
        self._actions = ChapterActions(context.state, context.own)
        self.text = ChapterText(chapter, context)
        self.text.tried.connect(self._actions.perform)
        self.text.judged.connect(self._show_whole)
        self.figures: list[ChapterFigure] = [FIGURES[each.name](context, each.options) for each in chapter.figures]
        self.next_button = QPushButton(f"Next: {next_title}", self)
        self.next_button.setProperty("role", "primary")
        self.next_button.setVisible(bool(next_title))
        self.next_button.clicked.connect(self.next_wanted)
        self._has_begun, self._is_stacked, self._base_px = False, False, current_theme().base_px
        self._lay_out()
        self._state.result_changed.connect(self._on_result, max_args=0)
        for field in (self._state.selection.events.head, self._state.selection.events.pinned):
            field.connect(self._refresh_in_sight, max_args=0)

    @property
    def large_map(self) -> QWidget | None:
        """The widget that draws a large map; None if no figure of this chapter does."""
        return next((figure.map for figure in self.figures if isinstance(figure, MapFigure)), None)

    def enter(self) -> None:
        """Prepares the chapter's experiment with the reader's sentence when the reader opens it."""
        self._has_begun = False
        self._context.own.restore()
        self._actions.forget()
        self._begin()
        if self._is_stacked and (area := area_around(self)) is not None:
            area.keep_in_sight(self.text.title)

    def refresh(self) -> None:
        """Fills in the values of all texts."""
        self.text.refresh()
        self._share_later()

    def shutdown(self) -> None:
        """Ends the figures' work when the page closes."""
        for figure in self.figures:
            figure.shutdown()

    def showEvent(self, event: QShowEvent) -> None:
        """In sight again."""
        super().showEvent(event)
        if not event.spontaneous():
            self._arrange()
            self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        """What is out of sight makes no page higher."""
        super().hideEvent(event)
        if not event.spontaneous():
            self._is_stacked = False
            self._fit_heights()
            if (area := area_around(self)) is not None:
                area.keep_in_sight(None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fits text and figures to the page; on a narrow page the figures are below the text."""
        super().resizeEvent(event)
        if self.isVisible():  # a picture of the window resizes what is hidden, too
            self._arrange()
        if self._base_px != current_theme().base_px:
            self._base_px = current_theme().base_px
            for _, shown in self.text.texts:
                shown.setText("")  # or the size of code in it would stay
            self.refresh()
        self._share_later()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Neither text nor figures are narrower than their widest part: they do not scroll sideways."""
        if event.type() == QEvent.Type.LayoutRequest:
            for area in (self._text_area, self._figure_area):
                if (content := area.widget()) is not None:
                    area.setMinimumWidth(content.minimumSizeHint().width() + scaled(SCROLL_BAR_WIDTH))
            self._fit_heights()
        return super().eventFilter(watched, event)

    def _arrange(self) -> None:
        self._is_stacked = self.width() < scaled(STACKED)
        self._row.setDirection(
            QBoxLayout.Direction.TopToBottom if self._is_stacked else QBoxLayout.Direction.LeftToRight
        )
        take_out(self.next_button)
        # What goes on to the next chapter is the last thing that is read.
        (self._row if self._is_stacked else self.text.end).addWidget(self.next_button, 0, Qt.AlignmentFlag.AlignLeft)
        self._fit_heights()

    def _fit_heights(self) -> None:
        """Below each other, texts and figures are as high as all of them: one thing scrolls, the window."""
        for figure in self.figures:
            if figure.takes_height:
                figure.setMinimumHeight(scaled(FIGURE_HEIGHT_STACKED) if self._is_stacked else 0)
        for area in (self._text_area, self._figure_area):
            content = area.widget()
            height = 0
            if self._is_stacked and content is not None:
                width = self.width()
                height = content.heightForWidth(width) if content.hasHeightForWidth() else content.sizeHint().height()
            area.setMinimumHeight(height)

    def _share_later(self) -> None:
        """When the figures have their widths, and their headings the lines that they need."""
        QTimer.singleShot(0, self, self._share_height)

    def _share_height(self) -> None:
        """Figures get the height of the page, in equal parts; beside a map, which takes the rest, they are lower."""
        self._fit_heights()
        height = self._figure_area.height() - scaled(GAP) * (len(self.figures) - 1)
        if self._is_stacked:
            height = scaled(FIGURE_HEIGHT_STACKED) * len(self.figures)
        others = [figure for figure in self.figures if not figure.takes_height]
        if len(others) == len(self.figures):
            for figure in self.figures:
                figure.set_available_height(height // max(1, len(self.figures)))
            return
        for map_figure in self.figures:
            if map_figure.takes_height:
                height -= map_figure.column.totalMinimumHeightForWidth(map_figure.width())
        for figure in others:
            figure.set_height_limit(height // len(others))

    def _begin(self) -> None:
        """Once there is a result: heads and cells are found in it."""
        if not self._has_begun and self._state.translation is not None:
            self._has_begun = True
            self._actions.perform(self.chapter.begin)

    def _on_result(self) -> None:
        if self.isVisible():
            self._begin()
            self._actions.go_on()
            self.refresh()

    def _refresh_in_sight(self) -> None:
        if self.isVisible():
            self.refresh()

    def _lay_out(self) -> None:
        takes_height = any(figure.takes_height for figure in self.figures)
        parts = [(figure, int(figure.takes_height)) for figure in self.figures]
        figures = QWidget()
        column_of(*parts, *([] if takes_height else [1]), spacing=GAP, within=figures)
        self._text_area = VerticalScrollArea(self.text, takes_keys=True)
        self._figure_area = VerticalScrollArea(figures)
        areas = (self._text_area, TEXT_SHARE), (self._figure_area, FIGURE_SHARE)
        self._row = row_of(*areas, spacing=GAP, within=self)
        for content in (self.text, figures):
            content.installEventFilter(self)

    def _show_whole(self, prediction: PredictView) -> None:
        """A verdict may be longer than what is free below its question; a figure that shows the answer may be below."""
        around = area_around(self)
        if self._is_stacked and around is not None:
            around.keep_in_sight(prediction, scaled(GAP))
            return
        self._text_area.keep_in_sight(prediction, scaled(GAP))
        for figure in self.figures:
            if figure.question == prediction.check:
                self._figure_area.keep_in_sight(figure)
