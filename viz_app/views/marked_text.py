"""Two translations as rich text: what changed from one to the other is marked."""

import html
from collections.abc import Sequence

from augenmerk.core.translation.result import Translation
from augenmerk.viz_app.state.sentence_text import Piece, breakable, changed_pieces


def marked(before: Translation, after: Translation, text_color: str, muted: str, new: str = "") -> str:
    """The sentence of `after`: new words bold, lost ones struck through; empty if it has no words."""
    return styled(changed_pieces(before, after), text_color, muted, new) if after.target_words else ""


def styled(pieces: Sequence[Piece], text_color: str, muted: str, new: str = "") -> str:
    """Pieces as rich text."""
    styles = {
        "same": f"color:{text_color}",
        "new": f"font-weight:bold{f';color:{new}' if new else ''}",
        "gone": f"color:{muted};text-decoration:line-through",
    }
    return "".join(
        f"<span style='{styles[piece.mark]}'>{html.escape(breakable(piece.text))}</span>" for piece in pieces
    )


def number(value: float, *, signed: bool = False) -> str:
    """Two decimal places, with a typographic minus; no minus before nothing."""
    value = round(value, 2) + 0.0
    return (f"{value:+.2f}" if signed else f"{value:.2f}").replace("-", "−")
