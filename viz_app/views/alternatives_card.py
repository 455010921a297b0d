"""A card beside a word: how probable it was, and what else the model thought of; a click on one of these forces it."""

import html
import math

from PySide6.QtCore import QEvent, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from augenmerk.core.translation.result import Translation, Word
from augenmerk.viz_app.state.sentence_text import visible
from augenmerk.viz_app.widgets.layouts import column_of

NUM_SHOWN = 5
CLOSE_DELAY_MS = 250
"""The mouse has so long to come from the word to its card."""
FORCE_HINT = "Click a word to choose it instead"


class AlternativesCard(QFrame):
    """Shows the likeliest tokens of each step of a word.

    Attributes:
        label: the text, with a link for each token.

    Signals:
        force_requested(int, str): a token, as it stands in the vocabulary, is to be chosen at this step.
    """

    force_requested = Signal(int, str)

    def __init__(self, parent: QWidget) -> None:
        self._chips = parent
        super().__init__(parent, Qt.WindowType.ToolTip)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setProperty("role", "card")
        self._translation: Translation | None = None
        self.label = QLabel(self)
        self.label.setTextFormat(Qt.TextFormat.RichText)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.LinksAccessibleByMouse)
        self.label.linkActivated.connect(self._on_link)
        column_of(self.label, margins=(12, 8, 12, 10), within=self)
        self._timer = QTimer(self, singleShot=True, interval=CLOSE_DELAY_MS)
        self._timer.timeout.connect(self.hide)

    def show_word(self, translation: Translation, word: Word, position: QPoint, color: str) -> None:
        """Fills and shows the card at a global position, moved to stay on the screen; links have this colour."""
        self._timer.stop()
        self._translation = translation
        self.label.setText(alternatives_html(translation, word, color))
        self.adjustSize()
        screen = self._chips.screen().availableGeometry()
        x = min(position.x(), screen.right() - self.width())
        y = position.y() if position.y() + self.height() < screen.bottom() else position.y() - self.height() - 50
        self.move(max(x, screen.left()), max(y, screen.top()))
        self.show()
        self.raise_()

    def hide_soon(self) -> None:
        """Goes away, unless the mouse comes upon it first."""
        self._timer.start()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Stays while the mouse is on it."""
        self._timer.stop()

    def leaveEvent(self, event: QEvent) -> None:
        """Goes when the mouse does."""
        self.hide()

    def hideEvent(self, event: QEvent) -> None:
        """Nothing is left to be done."""
        self._timer.stop()
        super().hideEvent(event)  # type: ignore[arg-type]

    def _on_link(self, link: str) -> None:
        step, rank = (int(part) for part in link.split(":"))
        self.hide()
        if self._translation is not None:
            self.force_requested.emit(step, self._translation.alternatives[step][rank].entry)


def alternatives_html(translation: Translation, word: Word, color: str) -> str:
    """The text of the card; each token but the chosen one is a link "step:rank"."""
    log_probability = translation.word_log_probability(word)
    title, number = html.escape(visible(word.text)), _minus(f"{log_probability:.2f}")
    lines = [f"<b>{title}</b> &nbsp; {_percent(log_probability)} &nbsp; log-probability {number}"]
    for step in range(word.start, word.end):
        chosen = translation.predicted_tokens[step]
        if word.end - word.start > 1:
            lines.append(
                f"<p style='margin:6px 0 0 0'>piece <b>{html.escape(visible(chosen))}</b> &nbsp; "
                f"{_minus(f'{translation.log_probabilities[step]:.2f}')}</p>"
            )
        rows = "".join(
            f"<tr><td>{_name(each.token, chosen, f'{step}:{rank}', color)}</td>"
            f"<td align='right' style='padding-left:18px'>{_minus(f'{each.log_probability:.2f}')}</td>"
            f"<td align='right' style='padding-left:12px'>{_percent(each.log_probability)}</td></tr>"
            for rank, each in enumerate(translation.alternatives[step][:NUM_SHOWN])
        )
        lines.append(f"<table cellspacing='0' cellpadding='1' style='margin-top:4px'>{rows}</table>")
    lines.append(f"<p style='margin:6px 0 0 0'>{FORCE_HINT}</p>")
    return "".join(lines)


def _name(token: str, chosen: str, link: str, color: str) -> str:
    if token == chosen:
        return f"<b>{html.escape(visible(token))}</b>"
    return f"<a href='{link}' style='color:{color};text-decoration:none'>{html.escape(visible(token))}</a>"


def _percent(log_probability: float) -> str:
    percent = 100 * math.exp(log_probability)
    if percent < 0.1:
        return "&lt; 0.1%"
    return f"{percent:.1f}%"


def _minus(number: str) -> str:
    """A typographic minus; no minus before nothing."""
    return "0.00" if number == "-0.00" else number.replace("-", "−")
