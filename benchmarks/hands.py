"""Simulated input: typing, scrolling and switching heads without pause, at the speed of a fast
person.
"""

from collections.abc import Callable, Iterator
from itertools import cycle

from PySide6.QtCore import QObject, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from augenmerk.viz_app.main_window import MainWindow

ACTION_MS = 40
NOTCH = 120
SENTENCE = "Zwei Hunde spielen am Strand mit einem roten Ball ."


class Hands(QObject):
    """One action every `ACTION_MS`, in a fixed order: type a word, then step through heads and
    scroll.

    Attributes:
        num_typed: actions that typed.
        num_switched: actions that switched heads.
        num_scrolled: actions that scrolled.
        num_heads_seen: how often the chosen head changed.
        num_places_seen: how often the scroll position changed.
        typed: the expected text of the field.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._actions = self._all_actions()
        self.num_typed = self.num_switched = self.num_scrolled = 0
        self.num_heads_seen = self.num_places_seen = 0
        self.typed = ""
        self._timer = QTimer(self, interval=ACTION_MS)
        self._timer.timeout.connect(lambda: next(self._actions)())

    def start(self) -> None:
        """Clear the field and start."""
        page = self._window.translate_page
        page.sentence.input.setFocus()
        page.sentence.input.selectAll()
        QTest.keyClick(page.sentence.input, Qt.Key.Key_Delete)
        self.typed = ""
        self._timer.start()

    def stop(self) -> None:
        """Stop, leaving the text in the field."""
        self._timer.stop()

    def _all_actions(self) -> Iterator[Callable[[], None]]:
        notches = cycle((-NOTCH, -NOTCH, NOTCH, NOTCH))
        keys = cycle(
            (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Up)
        )
        while True:
            for word in SENTENCE.split():
                for letter in word + " ":
                    yield lambda letter=letter: self._type(letter)  # type: ignore[misc]
                for _ in range(6):  # the sentence settles, is translated, and its maps are drawn
                    yield lambda: self._switch(next(keys))
                    yield lambda: self._scroll(next(notches))
            yield self._clear

    def _type(self, letter: str) -> None:
        QTest.keyClicks(self._window.translate_page.sentence.input, letter)
        self.typed += letter
        self.num_typed += 1

    def _clear(self) -> None:
        field = self._window.translate_page.sentence.input
        field.selectAll()
        QTest.keyClick(field, Qt.Key.Key_Delete)
        self.typed = ""
        self.num_typed += 1

    def _switch(self, key: Qt.Key) -> None:
        page = self._window.translate_page
        before = page.state.selection.head
        QTest.keyClick(page.sentence.input, key, Qt.KeyboardModifier.AltModifier)
        self.num_switched += 1
        self.num_heads_seen += page.state.selection.head != before

    def _scroll(self, notch: int) -> None:
        scrolled = self._window.translate_page.heads.area
        area = scrolled.viewport()
        before = scrolled.verticalScrollBar().value()
        center = area.rect().center()
        event = QWheelEvent(
            QPointF(center),
            QPointF(area.mapToGlobal(center)),
            QPoint(0, 0),
            QPoint(0, notch),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(area, event)
        self.num_scrolled += 1
        self.num_places_seen += scrolled.verticalScrollBar().value() != before
