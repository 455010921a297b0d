"""Texts next to a presented view, as rich text."""

from html import escape

from augenmerk.core.translation.result import Translation

from ...state.experiment_state import ExperimentState
from ...state.marks import pointed_word
from ...theme import current_theme
from ..widgets.changed_words import changed_pieces

FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"


def scene_text(heading: str, text: str, question: str, answer: str) -> str:
    """The words of a scene as rich text."""
    color = current_theme().palette.text
    plain = f'<span style="color: {color}">{escape(text, quote=False)}</span>' if text else ""
    # the choices of a computed question follow it on the same line
    question, mark, choices = question.partition("? ") if " · " in question else (question, "", "")
    asked = (
        f'<b style="color: {color}">{escape(question + mark.strip(), quote=False)}</b>'
        if question
        else ""
    )
    asked += (
        f'<br><span style="color: {color}">{escape(choices, quote=False)}</span>' if choices else ""
    )
    answered = f"<b>{escape(answer, quote=False)}</b>" if answer else ""
    return "<br>".join(filter(None, (escape(heading, quote=False), plain, asked, answered)))


def caption_with_pointer(state: ExperimentState, caption: str) -> str | None:
    """The caption with a mark at the name of a head, whose small map is not in sight; None if the
    pointer is not at it.
    """
    pointer = state.selection.pointer
    (title, *rest) = caption.split("\n")
    is_head = bool(title) and state.settings.scope == "head"
    if pointer is None or pointer.target != "head" or not is_head:
        return None
    colors = current_theme().palette
    style = f"background: {colors.pointer}; color: {colors.panel};"
    return "<br>".join((f'<span style="{style}">{escape(title)}</span>', *map(escape, rest)))


def sentence_pair(source_text: str, marked: str) -> str:
    """A sentence and its translation in one line, as rich text.

    Each is isolated: one that is written from right to left leaves the other and the arrow in their
    places.
    """
    color = current_theme().palette.muted
    source = f"{FIRST_STRONG_ISOLATE}{escape(source_text)}{POP_ISOLATE}"
    target = f"{FIRST_STRONG_ISOLATE}{marked}{POP_ISOLATE}"
    return f'<span style="color: {color}">{source} → </span>{target}'


def marked_translation(state: ExperimentState, shown: Translation) -> str:
    """The translation as rich text: new words are coloured, and the pointer is at its word."""
    colors = current_theme().palette
    pointer = state.selection.pointer
    pointed = pointed_word(state)
    words = list(shown.target_words)
    texts = []
    for piece in changed_pieces(state.original or shown, shown):
        is_word = (
            piece.mark != "gone"
            and bool(words)
            and piece.text.strip().lower() == words[0].text.lower()
        )
        is_at = is_word and words.pop(0) == pointed
        style = f"color: {colors.warm};" if piece.mark == "new" else ""
        if is_at and pointer is not None and pointer.style != "dim":
            style = f"background: {colors.pointer}; color: {colors.panel};"
        elif pointed is not None and pointer is not None and pointer.style == "dim" and not is_at:
            style = f"color: {colors.border};"
        if piece.mark != "gone":
            texts.append(
                f'<span style="{style}">{escape(piece.text)}</span>'
                if style
                else escape(piece.text)
            )
    return "".join(texts)
