"""One line under the translation: what became of it with heads switched off."""

import html

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from viz_app.state.switchboard import Switchboard, SwitchedOff, in_order, name_heads
from viz_app.theme import Theme, set_role
from viz_app.views.marked_text import marked, number

HINT = "Right-click a head, or press O, to switch it off and see what the translation becomes."


class SwitchLine(QLabel):
    """Shows a `Switchboard`: a hint while every head is on, else the other translation, its new words bold."""

    def __init__(self, board: Switchboard, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._board = board
        self._theme = theme
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setContentsMargins(3, 0, 0, 0)
        self.rebuild()

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self._theme = theme
        self.rebuild()

    def rebuild(self) -> None:
        """Heads were switched, or an answer came."""
        board = self._board
        set_role(self, "warm" if board.off else "small")
        self.setText(self._text())
        names = ", ".join(map(str, in_order(board.off)))
        self.setToolTip(_tip(names, board.effect) if board.off else "")

    def _text(self) -> str:
        board = self._board
        if not board.off:
            return HINT
        what = f"with {name_heads(board.off)} off:"
        if board.problem:
            return f"{what} {html.escape(board.problem)}"
        if board.effect is None:
            return f"{what} …"
        return f"{what} {effect_html(board.effect, self._theme.palette.text, self._theme.palette.muted)}"


def effect_html(effect: SwitchedOff, text_color: str, muted: str) -> str:
    """The model's new sentence, marked by what is not in its old one, and what became of the log-probability of the
    sentence that is shown: the old one, or a given one, which the new one is not compared with.
    """
    is_given = effect.before.is_given
    of_what = "· the given translation: " if is_given else ""
    difference = f"{of_what}Δ log-probability {number(effect.difference, signed=True)}"
    change = f"<span style='white-space:nowrap'>&nbsp;&nbsp;{difference}</span>"
    if effect.after.text == effect.own.text:
        return ("the model's own" if is_given else "the") + f" translation stays the same{change}"
    pieces = marked(effect.own, effect.after, text_color, muted) or "nothing: the model ends at once"
    return ("the model's own: " if is_given else "") + pieces + change


def _tip(names: str, effect: SwitchedOff | None) -> str:
    lines = [f"Off: {names}."]
    if effect is not None:
        before, now = (
            f"{value:.2f}".replace("-", "−") for value in (effect.before.log_probability, effect.log_probability)
        )
        which = "given translation" if effect.before.is_given else "translation"
        lines.append(f"The {which} above had log-probability {before}; with these heads off the model gives it {now}.")
    lines.append("The maps are those of the translation above, with every head on.")
    return "\n".join(lines)
