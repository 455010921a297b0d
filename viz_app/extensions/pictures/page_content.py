"""The maps of the window, and the facts about them, for pages and captions. No Qt."""

from augenmerk.core.counting import joined
from augenmerk.core.maps.measure import MeasureName
from augenmerk.core.model.heads import ATTENTION_KINDS, AttentionKind
from augenmerk.core.translation.result import FloatArray, Translation

from ...state.experiment_state import ExperimentState
from .html_page import PageContent
from .legend import SHOWN_NAMES
from .scene_notes import notes_on, translation_line


def facts_of(state: ExperimentState, model: str) -> dict[str, str]:
    """The facts about all displayed maps: model, sentence, translation, changes; see
    `CountedText`.
    """
    translation = state.maps.translation
    result = state.result
    if translation is None or result is None:
        return {"model": model}
    facts = {
        "model": model,
        "sentence": translation.source_text,
        "given translation" if translation.is_given else "translation": translation.text,
    }
    if result.is_changed:
        facts["experiment"] = joined(result.experiment.interventions, "; ")
        facts["maps"] = SHOWN_NAMES[state.maps.shown]
        problem = state.maps.difference_problem(state.selection.head.kind)
        if state.maps.shown == "difference" and problem:
            facts["maps"] = f"{SHOWN_NAMES['changed']}; there is no difference"
        elif state.maps.shown == "difference":
            facts["original translation"] = result.original.text
    return facts


def page_content(state: ExperimentState, model: str) -> PageContent | None:
    """The maps of all heads, in the measure that is shown, for a page; None while there is no
    result.
    """
    if state.result is None or state.maps.translation is None:
        return None
    measure = state.maps.shown_measure(state.selection.head.kind)
    original = (
        state.result.original
        if state.result.is_changed and state.maps.shown != "original"
        else None
    )
    return PageContent(
        state.maps.translation,
        _maps_of(state, state.maps.translation, measure),
        measure,
        state.settings.selection,
        facts_of(state, model),
        state.selection.head,
        None if original is None else (original, _maps_of(state, original, measure)),
        is_difference=state.maps.shown == "difference",
        line=translation_line(state),
        notes=notes_on(state),
        languages=state.languages,
    )


def _maps_of(
    state: ExperimentState, translation: Translation, measure: MeasureName
) -> dict[AttentionKind, FloatArray]:
    """The maps of a translation in one measure; weights of every kind, or the kinds that the
    measure exists for.
    """
    if measure == "weight":
        return {kind: translation.maps.of_kind(kind) for kind in ATTENTION_KINDS}
    return {
        kind: state.maps.maps_of(translation, kind)
        for kind in ATTENTION_KINDS
        if state.maps.shown_measure(kind) == measure
    }
