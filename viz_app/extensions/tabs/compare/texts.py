"""The two sentences and translations of a comparison, as rich text."""

import html

from augenmerk.core.quantities import number

from ....palette import Palette
from ...widgets.changed_words import breakable, changed_pieces, pieces_of, styled
from .state import CompareState, source_as_read


def texts_in_html(comparing: CompareState, is_presented: bool, colors: Palette) -> str:
    """A table of both, changes marked, and the change of the log-probability.

    Args:
        comparing: has a comparison.
        is_presented: whether few words are shown.
        colors: of the marks.
    """
    comparison = comparing.comparison
    assert comparison is not None
    first = comparison.first.changed
    second = comparing.second.translation
    assert second is not None
    muted = f"<span style='color:{colors.muted}'>"
    rows = [("first sentence", "second sentence")]
    if comparing.question == "checkpoint":
        own = comparing.state.shown.model.title if comparing.state.shown.model is not None else ""
        other = comparing.model.name if comparing.model is not None else ""
        rows = [
            (
                f"first: {html.escape(breakable(own))}",
                f"second: {html.escape(breakable(other))}",
            )
        ]
    cells = [tuple(f"{muted}{name}</span>" for name in rows[0])]
    if comparing.question == "sentence":
        cells = [] if is_presented else cells  # the maps are named first and second, too
        before, after = (
            [word.text for word in translation.source_words] for translation in (first, second)
        )
        source = styled(pieces_of(before, after, second.source_text), colors)
        cells.append((html.escape(breakable(source_as_read(comparison.first))), source))
    words = (
        styled(changed_pieces(first, second), colors)
        if second.target_words
        else "nothing: it ends at once"
    )
    facts = [f"{muted}({number(translation.log_probability)}" for translation in (first, second)]
    reads = ", reads the first" if comparing.reads_first else ", given"
    notes = [", given" if first.is_given else "", reads if second.is_given else ""]
    old = html.escape(breakable(first.text)) or "nothing"
    cells.append((f"{old} {facts[0]}{notes[0]})</span>", f"{words} {facts[1]}{notes[1]})</span>"))
    between = "</td><td width='3%'></td><td width='49%'>"
    table = "".join(f"<tr><td width='48%'>{between.join(row)}</td></tr>" for row in cells)
    change = comparing.change_of_log_probability
    tokens = "" if comparison.is_same_vocabulary else " (cut into other pieces)"
    outcome = (
        f"<p style='margin:4px 0 0 0'>{muted}Δ log-probability of the first translation "
        f"there{tokens}:</span> {number(change, signed=True)}</p>"
        if change is not None and not is_presented
        else ""
    )
    return f"<table width='100%' cellspacing='0' cellpadding='2'>{table}</table>{outcome}"
