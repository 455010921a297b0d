"""The large map in words: its title, notes, cells, and an explanation in a few sentences. No Qt."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from augenmerk.core.counting import CountedText, Index, display_text
from augenmerk.core.maps.measure import MeasureName
from augenmerk.core.maps.measures import MEASURES
from augenmerk.core.maps.selection import Combination, LabelMode
from augenmerk.core.model.heads import KIND_TITLES, AttentionKind, Network, Side
from augenmerk.core.quantities import number, percent, percent_in_words
from augenmerk.core.text.vocabulary import MARKS
from augenmerk.core.translation.experiment import Experiment, factors_of

from .experiment_state import ExperimentState
from .head_roles import role_in_words
from .map_drawings import DRAWINGS, DrawingName
from .map_source import hides_nothing, top_value
from .map_view import NO_MARKS, SHORTENED, Band, MapView, Pair, scaling_text
from .map_view_settings import ShownMaps
from .marks import experiment_of_marks, marks_of_large_map, query_sum
from .sentence_text import elided

KIND_NAMES: dict[AttentionKind, str] = {
    "encoder": "Encoder",
    "decoder": "Decoder",
    "cross": "Cross",
}
KIND_DIRECTIONS: dict[AttentionKind, str] = {
    "encoder": "source → source",
    "decoder": "target → target",
    "cross": "target → source",
}
COMBINATION_NAMES: dict[Combination, str] = {"mean": "mean", "max": "maximum"}
OFF_NOTE = "Switched off: its weights are still computed, but its output is dropped."


def title(state: ExperimentState) -> str:
    """The title of the large map."""
    return display_text(counted_title(state))


def counted_title(state: ExperimentState) -> CountedText:
    """The same for files: it counts from 0, see `CountedText`."""
    head = state.selection.head
    settings = state.settings
    num_heads = len(state.maps.heads())
    if state.result is None or settings.scope == "head" or num_heads == 1:
        return head.title
    how = COMBINATION_NAMES[settings.combination]
    kind = KIND_TITLES[head.kind]
    if settings.scope == "layer":
        return CountedText(
            f"{kind} · layer {{layer}} · {how} of {num_heads} heads", layer=Index(head.layer)
        )
    return CountedText(
        f"{kind} · {how} of {num_heads} heads"
        + (" in all layers" if settings.scope == "all" else "")
    )


def titles(state: ExperimentState) -> list[str]:
    """The title of the large map, and "off" or a factor if its heads are scaled."""
    view = state.maps.view()
    marks = marks_of_large_map(state, view) if view is not None else NO_MARKS
    return [*filter(None, (title(state), scaling_text(marks.factor)))]


def network_note(experiment: Experiment, side: Side, layer: int) -> str:
    """A few letters on the feed-forward network of a layer; empty if it is unchanged."""
    scaling = scaling_text(factors_of(experiment.scalings).get(Network(side, layer), 1.0))
    return f"FFN {scaling}" if scaling else ""


def meaning_of_query(state: ExperimentState, picture: DrawingName = "heatmap") -> str:
    """One sentence on the meaning of a query's row, or of its lines, on the large map."""
    lifts_mask = state.translation is not None and state.translation.experiment.lifts_mask
    view = state.maps.view()
    band_name = view.query_band_name if view is not None else "row"
    row = DRAWINGS[picture].row.format(row=band_name)
    kind = state.selection.head.kind
    mode = state.settings.label_mode
    return row_meaning(kind, mode, state.languages, row, lifts_mask=lifts_mask)


def row_meaning(
    kind: AttentionKind,
    label_mode: LabelMode,
    languages: tuple[str, str],
    row: str = "Each row",
    *,
    lifts_mask: bool = False,
) -> str:
    """The same for a kind of map with names of source and target."""
    source, target = languages
    if kind == "encoder":
        return (
            f"{row}: where the encoder looks in the whole {source} sentence while it reads that "
            f"{source} token."
        )
    where = (
        f"at the {target}{'' if lifts_mask else ' so far'}"
        if kind == "decoder"
        else f"at the {source}"
    )
    if label_mode == "read":
        return (
            f"{row}: where the model looks {where} while it reads that {target} token, to "
            "predict the next."
        )
    return f"{row}: where the model looks {where} while it predicts that {target} token."


def off_note(state: ExperimentState) -> str:
    """One sentence on why a head that is off has a map; empty if the large map shows none."""
    is_shown = (
        state.result is not None
        and state.settings.scope == "head"
        and state.maps.shown != "original"
    )
    if not (is_shown and state.selection.head in experiment_of_marks(state).heads_off):
        return ""
    return OFF_NOTE


def drawing_note(state: ExperimentState) -> str:
    """One sentence if the chosen way to draw the large map is not there; else empty."""
    name = state.settings.picture
    if name in DRAWINGS:
        return ""
    return (
        f"There is no drawing “{name}” here: its extension is not installed. The heatmap is shown."
    )


FAINT_SHARE = 0.2
HELPFUL_SHARE = 0.5
FAINT_ON_SCALE = "This map is faint on the present scale."


def scale_note(state: ExperimentState) -> str:
    """One sentence if most of the large map is near the first colour of its scale; else empty.

    It is `FAINT_ON_SCALE` if the map's own scale would change that.
    """
    view, head = state.maps.view(), state.selection.head
    if view is None or not view.weights.size:
        return ""
    row_maxima = np.nan_to_num(np.abs(view.weights)).max(axis=-1, initial=0.0)
    last_color = top_value(state.maps, head, view.weights)
    if not 0 < np.median(row_maxima) < FAINT_SHARE * last_color:
        return ""
    if row_maxima.max() < HELPFUL_SHARE * last_color:
        return FAINT_ON_SCALE
    return "Most of this map is faint, as a few of its values are far larger than the others."


def measure_note(state: ExperimentState) -> str:
    """One sentence on the measure, if it is not the weight or is not there; else empty."""
    measure = state.settings.measure
    kind = state.selection.head.kind
    if state.result is None or measure == "weight":
        return ""
    if measure not in MEASURES:
        return (
            f"There is no measure “{measure}” here: its extension is not installed. The weights "
            "are shown."
        )
    if kind not in MEASURES[measure].kinds:
        return f"There is no {MEASURES[measure].name} for these maps: the weights are shown."
    if state.maps.shown_measure(kind) != measure:
        if state.measuring.request.problem:
            return (
                f"{MEASURES[measure].name.capitalize()} could not be computed; the weights are "
                "shown."
            )
        return f"Computing: {MEASURES[measure].name}…"
    description = MEASURES[measure]
    one = "" if kind in description.per_head else " One map per layer, the same for all heads."
    return (
        f"{MEASURES[measure].name}: {description.meaning[0].lower()}{description.meaning[1:]}{one}"
    )


def hiding_note(state: ExperimentState) -> str:
    """One sentence on the tokens hidden in the large map; empty if the settings hide none."""
    settings = state.settings
    view = state.maps.view() if settings.selection.hide else None
    if view is None:
        return ""
    if hides_nothing(state.maps):
        ends = "start, end and" if settings.hides_punctuation else "start and end"
        kinds = (
            f"{ends * settings.hides_wrapping}{' punctuation' * settings.hides_punctuation}".strip()
        )
        return f"Without {kinds} nothing would be left of this map, so nothing is hidden."
    return f"{percent(view.labelled.hidden_share)} of their attention lies on hidden tokens."


SHOWN_NOTES: dict[ShownMaps, str] = {
    "original": "These are the maps of the original translation, without changes.",
    "changed": "These are the maps under this change.",
    "difference": "Changed minus original.",
}
HATCHED = "Hatched: tokens that the original lacks."
NO_DIFFERENCE = "There is no difference to show; these are the changed maps."
MERGING_TIP = (
    "Words instead of pieces: summed over the pieces of a key, averaged over those of a query"
)


def difference_note(state: ExperimentState) -> str:
    """One sentence on the difference shown, or why there is none; empty if none is requested."""
    if state.maps.shown != "difference":
        return ""
    problem = state.maps.difference_problem(state.selection.head.kind)
    if problem:
        return f"{NO_DIFFERENCE} {problem}"
    view = state.maps.view()
    is_hatched = view is not None and bool(np.isnan(view.values).any())
    return f"{SHOWN_NOTES['difference']}{f' {HATCHED}' if is_hatched else ''}"


def value_name(state: ExperimentState) -> str:
    """The short name of a cell's value in the large map."""
    how = (
        ""
        if state.settings.scope == "head"
        else f"{COMBINATION_NAMES[state.settings.combination]} "
    )
    change = "change of " if state.maps.is_signed(state.selection.head.kind) else ""
    return change + how + MEASURES[state.maps.shown_measure(state.selection.head.kind)].name


@dataclass(frozen=True)
class CellText:
    """A cell in words: changes of its query, names of query and key, name and value."""

    verb: str
    query: str
    key: str
    value_name: str
    value: str

    @property
    def valued(self) -> str:
        """The value with its name."""
        return f"{self.value_name} {self.value}".strip()


def cell_text(state: ExperimentState, pair: Pair) -> CellText | None:
    """A cell in words. None if no such cell is shown."""
    view = state.maps.view()
    cell = view.cell(pair) if view is not None else None
    if cell is None:
        return None
    is_predicting = (
        state.settings.label_mode == "predicted" and state.selection.head.kind != "encoder"
    )
    verb = "predicting" if is_predicting else "reading"
    query, key, value = cell
    if np.isnan(value):
        return CellText(verb, query, key, "", "not in the original")
    is_signed = state.maps.is_signed(state.selection.head.kind)
    return CellText(verb, query, key, value_name(state), number(value, 3, signed=is_signed))


def describe(state: ExperimentState, pair: Pair) -> tuple[str, str] | None:
    """A cell in two lines: the tokens and the value. None if no such cell is shown."""
    cell = cell_text(state, pair)
    return (f"{cell.query} → {cell.key}", cell.valued) if cell is not None else None


def marks_in_words(state: ExperimentState) -> str:
    """The pinned cell or picked tokens in words; empty if there are none.

    Lines after the first are ever shorter forms, for use if there is too little room. Each has the
    value; words are shortened last.
    """
    selection = state.selection
    total = query_sum(state)
    if total is not None:
        return "\n".join(dict.fromkeys(total.sentences))
    cell = cell_text(state, selection.pinned) if selection.pinned is not None else None
    if cell is not None:
        words = f"{cell.query} → {cell.key}"
        named = [
            f"{beginning}{words}, {cell.valued}"
            for beginning in (f"Pinned: {cell.verb} ", f"{cell.verb} ", "")
        ]
        short = [f"{elided(cell.query, num)} → {elided(cell.key, num)}" for num in SHORTENED]
        bare = [f"{form}, {cell.value}" for form in (words, *short)]
        return "\n".join(dict.fromkeys((*named, *bare, cell.value)))
    return "The picked tokens are highlighted in rows and columns." if selection.has_marks else ""


def label_tip(view: MapView, band: Band) -> str:
    """The label of a row or column, and the effect of a click on it."""
    name = "row" if band.is_row else "column"
    if not view.is_query(band):
        return f"{view.label_of(band)}\nClick: mark this {name} here and in all heads."
    return (
        f"{view.label_of(band)}\n"
        f"Click: pick this {name}. With Ctrl: one more {name}. With Shift: up to here. Picked "
        f"{name}s are summed."
    )


def splits_words(state: ExperimentState) -> bool:
    """Whether any word shown is made of several tokens."""
    shown = state.maps.translation
    return shown is not None and any(
        word.end - word.start > 1 for word in (*shown.source_words, *shown.target_words)
    )


BEWARE = (
    "Weights show where the model looks, not why it chose a word. To see what a head does, "
    "switch it off. Large weights on the start, the end or the full stop often mean that a head "
    "has nothing to do there."
)
SHARES = {
    "head": "{when}, this head gives {share} of its attention to “{key}”.",
    "max": "{when}, one of these {num_heads} heads gives {share} of its attention to “{key}”.",
    "mean": "{when}, these {num_heads} heads give on average {share} of their attention to “{key}”.",
}
CHANGES = {
    "head": "{when}, this head gives “{key}” {points} percentage points {more} of its attention "
    "than in the original.",
    "max": "{when}, one of these {num_heads} heads gives “{key}” {points} percentage points "
    "{more} of its attention than in the original.",
    "mean": "{when}, these {num_heads} heads give “{key}” on average {points} percentage points "
    "{more} of their attention than in the original.",
}


class HeadedText(NamedTuple):
    """A paragraph of whole sentences with a heading of a word or two."""

    about: str
    text: str


def explain(state: ExperimentState) -> tuple[HeadedText, ...]:
    """The current map explained in a few paragraphs; empty while no map is shown."""
    view = state.maps.view()
    settings = state.settings
    if view is None:
        return ()
    drawing = DRAWINGS[settings.known_picture]
    queries = f"{view.query_band_name.capitalize()}s"
    keys = f"{view.key_band_name.capitalize()}s"
    headings = (heading.format(queries=queries, keys=keys) for heading in drawing.headings)
    parts = _of_experiment(state)
    parts.append(HeadedText("For example:", _example(state, view)))
    values = " ".join(filter(None, (drawing.explain(state), _cells(state))))
    texts = _queries(state), _keys(state), values
    parts += map(HeadedText, headings, texts)
    if settings.scope == "head":
        parts.append(HeadedText("This head:", _head(state)))
    if settings.merges_words and splits_words(state):
        merged = (
            "A word of several pieces has the sum of its pieces as a key, and their mean as a "
            "query."
        )
        parts.append(HeadedText("Words:", merged))
    if settings.selection.hide and hides_nothing(state.maps):
        parts.append(HeadedText("Hidden:", hiding_note(state)))
    elif settings.selection.hide:
        share = percent_in_words(view.labelled.hidden_share)
        hidden = (
            f"The hidden tokens received {share} of the attention. The rest is scaled up to its "
            "full sum."
        )
        parts.append(HeadedText("Hidden:", hidden))
    parts.append(HeadedText("Beware:", BEWARE))
    return tuple(parts)


def _of_experiment(state: ExperimentState) -> list[HeadedText]:
    """The changes, and the translation whose maps are shown; empty without changes."""
    if state.result is None or not state.result.is_changed:
        return []
    changes = ", ".join(map(display_text, state.result.experiment.interventions))
    shown = difference_note(state) or SHOWN_NOTES[state.maps.shown]
    return [HeadedText("Changed:", f"{changes}. {shown}")]


def _example(state: ExperimentState, view: MapView) -> str:
    """A sentence about the largest cell, preferring cells between two words."""
    settings = state.settings
    head = state.selection.head
    weights, query_labels, key_labels = (
        view.weights,
        view.labelled.queries.labels,
        view.labelled.keys.labels,
    )
    words = np.outer(
        [_is_word(label) for label in query_labels], [_is_word(label) for label in key_labels]
    )
    sizes = np.abs(np.nan_to_num(weights))
    sizes = np.where(words, sizes, -1) if words.any() else sizes
    query, key = np.unravel_index(int(sizes.argmax()), sizes.shape)
    value = float(np.nan_to_num(weights[query, key]))
    looked_at = key_labels[key]
    predicts = head.kind != "encoder" and settings.label_mode == "predicted"
    label = query_labels[query]
    when = f"While the model predicts “{label}”" if predicts else f"While the model reads “{label}”"
    measure = _measure(state)
    more = "more" if value >= 0 else "less"
    if measure != "weight":
        name = MEASURES[measure].name
        if not _is_signed(state):
            return f"{when}, “{looked_at}” counts most: {value:.2f} by {name}."
        return (
            f"{when}, “{looked_at}” counts {abs(value):.2f} {more} than in the original by {name}."
        )
    num_heads = len(state.maps.heads())
    heads = "head" if settings.scope == "head" or num_heads == 1 else settings.combination
    if not _is_signed(state):
        return SHARES[heads].format(
            when=when, num_heads=num_heads, share=percent_in_words(value), key=looked_at
        )
    points = f"{100 * abs(value):.0f}"
    return CHANGES[heads].format(
        when=when, num_heads=num_heads, points=points, more=more, key=looked_at
    )


def _is_word(label: str) -> bool:
    return label not in MARKS and any(letter.isalnum() for letter in label)


def _measure(state: ExperimentState) -> MeasureName:
    return state.maps.shown_measure(state.selection.head.kind)


def _head(state: ExperimentState) -> str:
    head = state.selection.head
    text = role_in_words(state.roles, head)
    if head in experiment_of_marks(state).heads_off and state.maps.shown != "original":
        text += (
            " It is switched off: the model computes these weights but does not use the head's "
            "output."
        )
    return text


def _cells(state: ExperimentState) -> str:
    description = MEASURES[_measure(state)]
    num_heads = len(state.maps.heads())
    if _is_signed(state):
        value = (
            f"Each value is the change in {description.name} from the original to the changed "
            "translation."
        )
    else:
        value = f"Each value is the {description.name}."
    sentences = [value, description.meaning, description.caveat]
    if state.settings.scope != "head" and num_heads > 1:
        is_mean = state.settings.combination == "mean"
        over_heads = f"The mean over {num_heads} heads is shown."
        sentences.append(
            over_heads if is_mean else f"The largest value among {num_heads} heads is shown."
        )
    return " ".join(sentences)


def _is_signed(state: ExperimentState) -> bool:
    return state.maps.is_signed(state.selection.head.kind)


def _queries(state: ExperimentState) -> str:
    source, target = state.languages
    if state.selection.head.kind == "encoder":
        return f"These are the {source} tokens that the encoder reads."
    if state.settings.label_mode == "predicted":
        return (
            f"Each is named by the {target} token that the decoder predicts there, after reading "
            "the previous one."
        )
    return (
        f"Each is named by the {target} token that the decoder reads there, before predicting "
        "the next one."
    )


def _keys(state: ExperimentState) -> str:
    source, target = state.languages
    if state.selection.head.kind == "decoder":
        return f"These are the {target} tokens read so far. Attention is divided among them."
    return f"These are the {source} tokens. Attention is divided among them."
