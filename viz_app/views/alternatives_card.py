"""A card beside a word: how probable it was, and what else the model thought of."""

import html
import math

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from core.translation.result import Translation, Word


class AlternativesCard(QFrame):
    """A small card beside a chip: how probable the word was, and the five likeliest tokens of each of its steps."""

    def __init__(self, parent: QWidget) -> None:
        self._chips = parent
        super().__init__(parent, Qt.WindowType.ToolTip)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setProperty("role", "card")
        self.label = QLabel(self)
        self.label.setTextFormat(Qt.TextFormat.RichText)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 10)
        layout.addWidget(self.label)

    def show_word(self, translation: Translation, word: Word, position: QPoint) -> None:
        """Fills and shows the card at a global position, moved to stay on the screen."""
        self.label.setText(alternatives_html(translation, word))
        self.adjustSize()
        screen = self._chips.screen().availableGeometry()
        x = min(position.x(), screen.right() - self.width())
        y = position.y() if position.y() + self.height() < screen.bottom() else position.y() - self.height() - 50
        self.move(max(x, screen.left()), max(y, screen.top()))
        self.show()
        self.raise_()


def alternatives_html(translation: Translation, word: Word) -> str:
    """The text of the card."""
    log_probability = translation.word_log_probability(word)
    title, number = html.escape(word.text), _minus(f"{log_probability:.2f}")
    lines = [f"<b>{title}</b> &nbsp; {_percent(log_probability)} &nbsp; log-probability {number}"]
    for step in range(word.start, word.end):
        chosen = translation.predicted_tokens[step]
        if word.end - word.start > 1:
            lines.append(
                f"<p style='margin:6px 0 0 0'>piece <b>{html.escape(chosen)}</b> &nbsp; "
                f"{_minus(f'{translation.log_probabilities[step]:.2f}')}</p>"
            )
        rows = "".join(
            f"<tr><td>{'<b>' if each.token == chosen else ''}{html.escape(each.token)}"
            f"{'</b>' if each.token == chosen else ''}</td>"
            f"<td align='right' style='padding-left:18px'>{_minus(f'{each.log_probability:.2f}')}</td>"
            f"<td align='right' style='padding-left:12px'>{_percent(each.log_probability)}</td></tr>"
            for each in translation.alternatives[step]
        )
        lines.append(f"<table cellspacing='0' cellpadding='1' style='margin-top:4px'>{rows}</table>")
    return "".join(lines)


def _percent(log_probability: float) -> str:
    percent = 100 * math.exp(log_probability)
    if percent < 0.1:
        return "&lt; 0.1 %"
    return f"{percent:.1f} %"


def _minus(number: str) -> str:
    """A typographic minus; no minus before nothing."""
    return "0.00" if number == "-0.00" else number.replace("-", "−")
