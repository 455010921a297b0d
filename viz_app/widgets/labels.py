"""Labels for texts that may not fit: one elides the text, one keeps room for it."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from ..theme import scales
from .layouts import add_parts, row_of

LEAST_CHARACTERS = 20
"""A text that is cut to fewer cannot be understood."""


class ElidingLabel(QLabel):
    """A label that can be narrower than its text, which its tool tip then has in full.

    Args:
        role: one of the roles of `viz_app.theme`.
        text: the text. Lines after the first are shorter forms of it, longest first: where the
            first does not fit, the longest that does is shown.
        elide: the place of the ellipsis; for paths best the middle.

    Attributes:
        symbol: shown where the text would be cut to very few characters; empty for no symbol.
    """

    def __init__(
        self, role: str, text: str = "", *, elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    ) -> None:
        super().__init__(text)
        self._elide = elide
        self._max_lines = 1
        self.symbol = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)

    @property
    def whole(self) -> str:
        """The longest form of the text."""
        return self.text().partition("\n")[0]

    def set_max_lines(self, max_lines: int) -> None:
        """Sets the greatest number of lines."""
        if max_lines != self._max_lines:
            self._max_lines = max_lines
            policy = self.sizePolicy()
            policy.setHeightForWidth(max_lines > 1)
            self.setSizePolicy(policy)
            self.updateGeometry()

    def whole_width(self) -> int:
        """The width of the longest form in one line."""
        return self._width_of(self.whole)

    def width_within(self, room: int) -> int:
        """The width of what is shown in this room."""
        return self._width_of(self._form_within(room))

    def _width_of(self, text: str) -> int:
        return self.fontMetrics().horizontalAdvance(text) + 1 if text else 0

    def hasHeightForWidth(self) -> bool:
        """Lines wrap, if there may be several."""
        return self._max_lines > 1

    def heightForWidth(self, width: int) -> int:
        if self._max_lines == 1:
            return -1
        margins = self.contentsMargins()
        lines = self.lines_of(width - margins.left() - margins.right())
        return (
            max(1, len(lines)) * self.fontMetrics().lineSpacing() + margins.top() + margins.bottom()
        )

    def lines_of(self, width: int) -> list[str]:
        """The longest form that fits in lines of this width, else the shortest, elided."""
        lines: list[str] = []
        for form in self.text().split("\n"):
            lines = self._wrapped(form, width)
            if len(lines) <= self._max_lines:
                break
        first = lines[: self._max_lines - 1]
        rest = "".join(lines[self._max_lines - 1 :])
        return [
            *map(str.rstrip, first),
            *([self.fontMetrics().elidedText(rest, self._elide, width)] if rest else []),
        ]

    def _wrapped(self, text: str, width: int) -> list[str]:
        layout = QTextLayout(text, self.font())
        option = layout.textOption()
        # the names in a path may be long
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        lines: list[str] = []
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(width, 1))
            lines.append(text[line.textStart() : line.textStart() + line.textLength()])
        layout.endLayout()
        return lines

    def minimumSizeHint(self) -> QSize:
        """The width of the symbol, and one line."""
        return QSize(self._width_of(self.symbol), self.sizeHint().height())

    def sizeHint(self) -> QSize:
        """The size of the longest form, in one line."""
        hint = super().sizeHint()
        lines = self.text().count("\n")
        return QSize(hint.width(), hint.height() - lines * self.fontMetrics().lineSpacing())

    def shown_text(self) -> str:
        """The text that fits the width, with line breaks."""
        if self._max_lines > 1:
            return "\n".join(self.lines_of(self.contentsRect().width()))
        return self._form_within(self.contentsRect().width())

    def _form_within(self, width: int) -> str:
        """The longest form that fits; else the beginning of the shortest one, or the symbol."""
        forms = self.text().split("\n")
        # a form may be cut although its advance, which is rounded, equals the width
        shown = [self.fontMetrics().elidedText(form, self._elide, width) for form in forms]
        cut = self.symbol if self.symbol and len(shown[-1]) < LEAST_CHARACTERS else shown[-1]
        return next((text for text, form in zip(shown, forms, strict=True) if text == form), cut)

    def paintEvent(self, event: QPaintEvent) -> None:
        shown = self.shown_text()
        tip = "" if "".join(shown.split()) == "".join(self.whole.split()) else self.whole
        if tip != self.toolTip():
            self.setToolTip(tip)
        painter = QPainter(self)
        painter.setPen(self.palette().windowText().color())
        painter.setFont(self.font())
        painter.drawText(
            self.contentsRect(), Qt.AlignmentFlag.AlignVCenter | self.alignment(), shown
        )


class StableHeightLabel(QWidget):
    """As high as the highest text so far at the current width and font.

    The label is in no layout, so that a new text does not cause a new layout of the page.

    Args:
        label: the label, with word wrap.
    """

    def __init__(self, label: QLabel) -> None:
        super().__init__()
        self._label = label
        self._width = 0
        self._font = ""
        self._heights: dict[str, int] = {}
        label.setParent(self)
        label.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)

    def show_text(self, text: str, width: int, longest: str = "", *, max_lines: int = 0) -> None:
        """Shows a text wrapped at `width` pixels, with room for a longer one to come.

        `max_lines`: the greatest number of lines; 0: as many as there are.
        """
        self._label.ensurePolished()
        font = self._label.font().toString()
        if (width, font) != (self._width, self._font):
            self._width = width
            self._font = font
            self._heights = {}
        for measured_text in (longest or text, text):
            if measured_text not in self._heights:
                self._label.setText(measured_text)
                height = self._label.heightForWidth(width)  # below 0 before there is a width
                self._heights[measured_text] = max(0, height)
        self._label.setText(text)
        needed = max(self._heights.values())
        if max_lines:
            needed = min(needed, max_lines * self._label.fontMetrics().lineSpacing())
        if needed != self.minimumHeight():
            self.setFixedHeight(needed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._label.resize(event.size())


def label(role: str, text: str = "", *, wraps: bool = False) -> QLabel:
    """A label of plain text; `role` is one of those of `viz_app.theme`."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setProperty("role", role)
    made.setWordWrap(wraps)
    return made


def show_text(shown: QLabel, text: str) -> None:
    """Shows a text, or hides the label if it is empty."""
    shown.setText(text)
    shown.setVisible(bool(text))


MAX_WIDTH_PX = 560
"""Maximum width of the message: lines of about 80 characters."""


class EmptyState(QFrame):
    """A message in the middle, and buttons below it.

    Attributes:
        label: the message.
    """

    def __init__(self) -> None:
        super().__init__()
        self.label = label("muted", wraps=True)
        self.label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        scales(self.label.setMaximumWidth, MAX_WIDTH_PX)
        self._buttons = QWidget()
        self._row = QHBoxLayout(self._buttons)
        # up to its greatest width; the rest is split between both sides
        row = row_of(1, (self.label, 1000), 1)
        add_parts(QVBoxLayout(self), 2, row, (self._buttons, 0, Qt.AlignmentFlag.AlignHCenter), 3)
        self._buttons.hide()

    def add_button(self, text: str, *, is_primary: bool = False) -> QPushButton:
        """A button below the message, shown while `show_text` says so."""
        button = QPushButton(text)
        button.setProperty("role", "primary" if is_primary else "")
        self._row.addWidget(button)
        return button

    def show_text(self, text: str, *, shows_buttons: bool = False) -> None:
        """Shows another message, with the buttons or without."""
        self.label.setText(text)
        self._buttons.setVisible(shows_buttons)
