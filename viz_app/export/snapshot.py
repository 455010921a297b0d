"""The displayed map as numbers with a caption. No Qt, no matplotlib."""

import csv
import io
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from augenmerk.core.analysis.measures import MEASURES
from augenmerk.core.errors import StorageError
from augenmerk.core.plain_text import one_line
from augenmerk.core.storage import atomic_path
from augenmerk.core.translation.result import MAP_KINDS
from augenmerk.viz_app.heatmap.drawing import Drawing, large_map
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_source import hides_nothing
from augenmerk.viz_app.state.map_view import MapView
from augenmerk.viz_app.state.map_view_settings import ShownMaps
from augenmerk.viz_app.state.marks import query_sum

NUMBER_FORMATS = ("csv", "json", "npz")
SHOWN_NAMES: dict[ShownMaps, str] = {
    "original": "original, with nothing changed",
    "changed": "changed",
    "difference": "changed minus original",
}


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One map and the facts that identify it.

    Attributes:
        drawing: values, labels, marks.
        view: the map that is drawn.
        facts: model, sentence, translation, experiment, kind, layer, head, measure, label mode and the like; what does
            not apply is left out.
        file_name: a name for files made of it, without an ending.
    """

    drawing: Drawing
    view: MapView
    facts: dict[str, str]
    file_name: str


def take_snapshot(state: ExperimentState, model: str) -> Snapshot | None:
    """The large map as it is shown now; None while there is none."""
    view, drawing, head, settings = state.maps.view(), large_map(state), state.selection.head, state.settings
    if view is None or drawing is None:
        return None
    title = drawing.title
    facts = {
        **facts_of(state, model),
        "map": title,
        "measure": MEASURES[state.maps.shown_measure(head.kind)].name,
        "rows": "source token" if head.kind == "encoder" else f"token {settings.label_mode}",
    }
    if settings.selection.hide and hides_nothing(state.maps):
        facts["hidden"] = "nothing: no token would be left"
    elif settings.selection.hide:
        facts["hidden"] = f"{100 * view.hidden_share:.1f}% of the attention, rows scaled up to their former sum"
    if settings.merges_words and map_text.splits_words(state):
        facts["words"] = "pieces merged: columns summed, rows averaged"
    total = query_sum(state)
    if total is not None:
        facts["picked"] = total.sentence
    words = re.findall(r"\w+", title.lower())
    shown = state.maps.shown
    if state.result is not None and state.result.is_changed and (shown != "difference" or drawing.is_signed):
        words.append(shown)
    return Snapshot(replace(drawing, caption=in_one_line(facts)), view, facts, "-".join(words))


def facts_of(state: ExperimentState, model: str) -> dict[str, str]:
    """The facts about all displayed maps: model, sentence, translation, changes."""
    translation, result = state.maps.translation, state.result
    if translation is None or result is None:
        return {"model": model}
    facts = {
        "model": model,
        "sentence": translation.source_text,
        "given translation" if translation.is_given else "translation": translation.text,
    }
    if result.is_changed:
        facts["experiment"] = "; ".join(map(str, result.experiment.interventions))
        facts["maps"] = SHOWN_NAMES[state.maps.shown]
        problem = state.maps.difference_problem(state.selection.head.kind)
        if state.maps.shown == "difference" and problem:
            facts["maps"] = f"{SHOWN_NAMES['changed']}; there is no difference"
        elif state.maps.shown == "difference":
            facts["original translation"] = result.original.text
    return facts


def in_one_line(facts: Mapping[str, str]) -> str:
    """Facts as a caption."""
    return " · ".join(f"{name}: {value}" for name, value in facts.items())


def as_table(view: MapView, delimiter: str = ",") -> str:
    """Values with labels, as they are drawn: the first line names the columns, each other line begins with its row's.

    Args:
        view: values and labels; where there is no value, its cell is empty.
        delimiter: between two cells.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["query \\ key", *map(one_line, view.column_labels)])
    for label, row in zip(view.row_labels, view.values.tolist(), strict=True):
        writer.writerow([one_line(label), *("" if math.isnan(value) else f"{value:.8g}" for value in row)])
    return text.getvalue()


def save_numbers(snapshot: Snapshot, state: ExperimentState, target: Path) -> None:
    """Writes the map as CSV or JSON, or all maps of all kinds as NPZ, by the name's ending.

    Raises:
        StorageError: the ending is another, or the file cannot be written.
    """
    kind = target.suffix.lower().removeprefix(".")
    if kind not in NUMBER_FORMATS:
        raise StorageError(f"{target.name}: choose a file name that ends in .csv, .json or .npz.")
    view = snapshot.view
    with atomic_path(target) as temporary:
        if kind == "csv":
            temporary.write_text(as_table(view), encoding="utf-8")
        elif kind == "json":
            described = {
                **snapshot.facts,
                "row_labels": view.row_labels,
                "column_labels": view.column_labels,
                "weights": [[None if math.isnan(value) else value for value in row] for row in view.values.tolist()],
            }
            temporary.write_text(json.dumps(described, ensure_ascii=False, indent=1, allow_nan=False), encoding="utf-8")
        else:
            content = io.BytesIO()  # a file that cannot be written must not be left to a half-made archive
            np.savez_compressed(content, **_arrays(snapshot, state))
            temporary.write_bytes(content.getbuffer())


def _arrays(snapshot: Snapshot, state: ExperimentState) -> dict[str, Any]:
    """The map, its labels, and every head: encoder, decoder, cross, each [L, H, Q, M].

    These are weights of whole maps, with nothing merged or hidden: of the original translation if its maps are shown,
    else of the changed one; beside a difference, those of the original too, such as original_cross. If another measure
    is shown, there are also its maps, such as norm_cross.
    """
    translation, maps = state.maps.translation, state.maps
    assert translation is not None
    assert state.result is not None
    view = snapshot.view
    measured = {
        f"{state.settings.measure}_{kind}": maps.maps_of(translation, kind)
        for kind in MAP_KINDS
        if maps.shown_measure(kind) != "weight"
    }
    original = state.result.original if maps.shown == "difference" else None
    return {
        "map": view.values,
        "row_labels": np.array(view.row_labels),
        "column_labels": np.array(view.column_labels),
        "caption": np.array(snapshot.drawing.caption),
        "source_tokens": np.array(translation.source_tokens),
        "read_tokens": np.array(translation.read_tokens),
        "predicted_tokens": np.array(translation.predicted_tokens),
        **{kind: translation.maps.of_kind(kind) for kind in MAP_KINDS},
        **({f"original_{kind}": original.maps.of_kind(kind) for kind in MAP_KINDS} if original is not None else {}),
        **measured,
    }
