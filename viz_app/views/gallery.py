"""The gallery of examples: sentences by what they show, each with a line on what to see."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from augenmerk.viz_app.examples import Example
from augenmerk.viz_app.theme import scaled, scales
from augenmerk.viz_app.widgets.parts import label
from augenmerk.viz_app.widgets.scroll_areas import VerticalScrollArea
from augenmerk.viz_app.widgets.two_line_button import TwoLineButton

WIDTH, MAX_HEIGHT, MARGIN, BESIDE = 560, 560, 8, 16
"""What is beside the content: the frame and a scroll bar."""


class GalleryPopup(QFrame):
    """Opens below a button, and closes with a choice, Escape, or a click elsewhere.

    Attributes:
        buttons: one for each example, in their order.

    Signals:
        chosen(Example)
    """

    chosen = Signal(object)

    def __init__(self, examples: Sequence[Example], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "card")
        self.setAccessibleName("Examples")
        self.buttons: list[TwoLineButton] = []
        content = QWidget()
        column = QVBoxLayout(content)
        scales(column.setContentsMargins, MARGIN, MARGIN, MARGIN, MARGIN)
        scales(column.setSpacing, 2)
        for group, members in groupby(examples, key=lambda example: example.group):
            heading = label("heading")
            heading.setText(group)
            scales(heading.setContentsMargins, MARGIN, MARGIN, 0, 0)
            column.addWidget(heading)
            for example in members:
                button = TwoLineButton(example.text, example.see, is_warned=example.is_failure)
                button.clicked.connect(partial(self._choose, example))
                self.buttons.append(button)
                column.addWidget(button)
        column.addStretch(1)
        around = QVBoxLayout(self)
        scales(around.setContentsMargins, 1, 1, 1, 1)
        around.addWidget(VerticalScrollArea(content))
        self._content = content

    def open_below(self, button: QWidget) -> None:
        """Stands under the button, its right edge at the button's, within the screen."""
        width, inner = scaled(WIDTH), scaled(WIDTH - BESIDE)
        self._content.setFixedWidth(inner)
        height = min(self._content.heightForWidth(inner) + 4, scaled(MAX_HEIGHT))
        self.resize(width, height)
        corner = button.mapToGlobal(QPoint(button.width() - width, button.height()))
        area = button.screen().availableGeometry()
        left = min(max(corner.x(), area.left()), area.right() - width)
        top = min(max(corner.y(), area.top()), area.bottom() - height)
        self.move(left, top)
        self.show()
        if self.buttons:
            self.buttons[0].setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows walk from one to the next; Enter chooses, as in a menu."""
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
        place = next((place for place, button in enumerate(self.buttons) if button.hasFocus()), None)
        if place is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.buttons[place].click()
        elif step is None or place is None:
            super().keyPressEvent(event)
        else:
            self.buttons[(place + step) % len(self.buttons)].setFocus()

    def _choose(self, example: Example) -> None:
        self.close()
        self.chosen.emit(example)
