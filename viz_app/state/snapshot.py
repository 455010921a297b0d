"""The map as it is shown, to be taken along: as numbers, with a caption. No Qt, no matplotlib."""

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import StorageError
from core.storage import atomic_path
from core.translation.result import MAP_KINDS
from viz_app.state.map_view import MapView
from viz_app.state.measuring import SHORT_NAMES
from viz_app.state.translate_state import TranslateState

NUMBER_FORMATS = ("csv", "json", "npz")


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One map and all that is needed to know what it is.

    Attributes:
        view: weights and labels.
        title: which head or heads.
        facts: model, sentence, translation, kind, layer, head, measure, label mode and the like; what does not
            apply is left out.
        file_name: a name for files made of it, without an ending.
    """

    view: MapView
    title: str
    facts: dict[str, str]
    file_name: str

    @property
    def caption(self) -> str:
        """The facts in one line."""
        return in_one_line(self.facts)


def take_snapshot(state: TranslateState, model: str) -> Snapshot | None:
    """The large map as it is shown now; None while there is none."""
    view, translation, choice = state.view(), state.translation, state.choice
    if view is None or translation is None:
        return None
    facts = {
        "model": model,
        "sentence": translation.source_text,
        "given translation" if translation.is_given else "translation": translation.text,
        "map": state.title(),
        "measure": SHORT_NAMES[state.measure_of_choice],
        "rows": "source token" if choice.kind == "encoder" else f"token {state.label_mode}",
    }
    if state.selection.hide and state.hides_nothing_of(translation, choice):
        facts["hidden"] = "nothing: no token would be left"
    elif state.selection.hide:
        facts["hidden"] = f"{100 * view.hidden_share:.1f} % of the attention, rows scaled up to their former sum"
    if state.merges_words and state.has_split_words:
        facts["words"] = "pieces merged: columns summed, rows averaged"
    if state.switchboard.off:
        facts["heads"] = state.switchboard.maps_fact
    total = state.row_sum()
    if total is not None:
        facts["picked"] = total.sentence
    words = re.findall(r"\w+", state.title().lower())
    return Snapshot(view, state.title(), facts, "-".join(words))


def in_one_line(facts: Mapping[str, str]) -> str:
    """Facts as a caption."""
    return " · ".join(f"{name}: {value}" for name, value in facts.items())


def as_table(view: MapView, delimiter: str = ",", corner: str = "") -> str:
    """Weights with labels: the first line holds the columns, each other line begins with its row's label.

    Args:
        view: weights and labels.
        delimiter: between two cells.
        corner: stands in the first cell of all.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow([corner, *view.column_labels])
    for label, row in zip(view.row_labels, view.weights.tolist(), strict=True):
        writer.writerow([label, *(f"{weight:.8g}" for weight in row)])
    return text.getvalue()


def save_numbers(snapshot: Snapshot, state: TranslateState, target: Path) -> None:
    """Writes the map as CSV or JSON, or all maps of all kinds as NPZ, by the name's ending.

    Raises:
        StorageError: the ending is another, or the file cannot be written.
    """
    kind = target.suffix.lower().removeprefix(".")
    if kind not in NUMBER_FORMATS:
        raise StorageError(f"{target.name} ends in none of .csv, .json, .npz. Give the numbers one of these endings.")
    view = snapshot.view
    with atomic_path(target) as temporary:
        if kind == "csv":
            temporary.write_text(as_table(view, corner=snapshot.caption), encoding="utf-8")
        elif kind == "json":
            described = {
                **snapshot.facts,
                "row_labels": view.row_labels,
                "column_labels": view.column_labels,
                "weights": view.weights.tolist(),
            }
            temporary.write_text(json.dumps(described, ensure_ascii=False, indent=1), encoding="utf-8")
        else:
            content = io.BytesIO()  # a file that cannot be written must not be left to a half-made archive
            np.savez_compressed(content, **_arrays(snapshot, state))
            temporary.write_bytes(content.getbuffer())


def _arrays(snapshot: Snapshot, state: TranslateState) -> dict[str, Any]:
    """The map, its labels, and every head: encoder, decoder, cross, each [L, H, Q, M].

    These are weights of whole maps, with nothing merged or hidden. If another measure is shown, there are also its
    maps, such as norm_cross.
    """
    translation = state.translation
    assert translation is not None
    view = snapshot.view
    measured = {
        f"{state.measure}_{kind}": state.maps(translation, kind)
        for kind in MAP_KINDS
        if state.shown_measure(translation, kind) != "weight"
    }
    return {
        "map": view.weights,
        "row_labels": np.array(view.row_labels),
        "column_labels": np.array(view.column_labels),
        "caption": np.array(snapshot.caption),
        "source_tokens": np.array(translation.source_tokens),
        "read_tokens": np.array(translation.read_tokens),
        "predicted_tokens": np.array(translation.predicted_tokens),
        **{kind: translation.maps.of_kind(kind) for kind in MAP_KINDS},
        **measured,
    }
