"""All maps of one translation as one HTML file: no network, no other file, a small script of its
own. No Qt.

Without scripts, a page shows the chosen map, as on paper.

The page holds weights as base64 of whole numbers from 0 to 65,535 (one part in 65,535 of the
largest). Differences use 0 to 65,534, with 0 in the middle, and 65,535 for missing values. Readers
can choose kind, layer and head, the labels of rows and the scale of colours, and read every value.
"""

import base64
import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from augenmerk.core.counting import display_text
from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.provenance import Provenance, text_with_provenance
from augenmerk.core.maps.comparing import difference
from augenmerk.core.maps.measure import MeasureName
from augenmerk.core.maps.measures import MEASURES
from augenmerk.core.maps.selection import LABEL_MODES, LabelledMap, LabelMode, Selection
from augenmerk.core.model.heads import ATTENTION_KINDS, KIND_TITLES, AttentionKind, Head
from augenmerk.core.plain_text import one_line
from augenmerk.core.quantities import percent
from augenmerk.core.storage import write_text
from augenmerk.core.translation.result import Alternative, FloatArray, Translation

from ...heatmap.drawing import Drawing
from ...state.color_scale import ColorScale
from ...state.languages import NEUTRAL
from ...state.map_source import LEAST_DIFFERENCE, new_entries, selected, spread
from ...state.map_text import network_note, row_meaning
from ...state.map_view import Band, MapView, Marks, Pair, Pointed, Pointer, scaling_text
from ...state.marks import marks_of_experiment, pointed_at
from ...state.sentence_text import visible
from .legend import MARK_MEANINGS, marks_note, meaning_of_colors
from .map_svg import map_svg
from .page_parts import (
    DIRECTION_STYLE,
    SCRIPTS,
    cell_colors,
    changes_in_words,
    json_in_page,
    page_policy,
    page_script,
    palette_style,
    part,
)
from .scene_notes import OutlinedText
from .worksheet import (
    HALF_PAGE_PX,
    NUM_LINES,
    SheetScene,
    lines_html,
    room_on_paper,
)

LARGEST = 65_535
ZERO, MISSING = 32_767, 65_535
"""Of differences."""
NUM_ALTERNATIVES = 5
"""Of each token."""
MODULES = ("theme.js", "sentence.js", "drawing.js", "maps.js", "recorded.js")
"""Of the page's script."""
SCRIPTLESS = (
    "#theme, .scene > :is(header, form, .large, aside, .alternatives, footer) { display: none; }"
)
"""The style without scripts: parts that a script fills are left out."""
_UNIT = re.compile(r"(?<=\d) (?=%)")
NO_BREAK_SPACE = "\u00a0"


LINES = f'<div class="lines">{"<div></div>" * NUM_LINES}</div>\n'
"""To write on, in print."""


@dataclass(frozen=True, eq=False)
class PageContent:
    """The content of a page.

    Attributes:
        translation: the translation of the maps.
        maps: [L, H, Q, M] by kind, in one measure; kinds that are missing are left out of the page.
        measure: the meaning of a cell.
        selection: words merged, tokens hidden, and the label mode that is chosen when the page
            opens.
        facts: model and the like for the caption; sentence, translation and measure are put in by
            the page.
        shown: the head that is chosen when the page opens.
        original: the translation with nothing changed and its maps; None if nothing is changed.
        is_difference: whether the page shows `maps` minus those of the original, if there is one.
        pinned: the query and the key that are pinned when the page opens.
        pointer: at that cell or at its row while it is pinned, or at the head that is shown; None
            if there is none.
        line: the translation and its origin; None: the translation alone.
        notes: on the experiment and its maps.
        languages: names of source and target.
    """

    translation: Translation
    maps: Mapping[AttentionKind, FloatArray]
    measure: MeasureName
    selection: Selection
    facts: Mapping[str, str]
    shown: Head
    original: tuple[Translation, Mapping[AttentionKind, FloatArray]] | None = None
    is_difference: bool = True
    pinned: Pair | None = None
    pointer: Pointer | None = None
    line: OutlinedText | None = None
    notes: tuple[str, ...] = ()
    languages: tuple[str, str] = NEUTRAL

    def row_meaning(self, kind: AttentionKind, mode: LabelMode) -> str:
        """The meaning of a row in a sentence."""
        return row_meaning(
            kind, mode, self.languages, lifts_mask=self.translation.experiment.lifts_mask
        )


def save_web_page(content: PageContent, target: Path, saved: Provenance | None = None) -> None:
    """Writes the page, with its provenance if that is known. Raises `StorageError`."""
    write_text(target, text_with_provenance(page_html(content), saved))


def page_html(content: PageContent) -> str:
    """The page as text."""
    title = f"Attention · {content.translation.source_text}"
    return _page(
        title, f'<section class="scene">\n{maps_html(content, opens_alternatives=True)}\n</section>'
    )


def data_text(content: PageContent) -> str:
    """The recorded maps as JSON that cannot end its element."""
    return json_in_page(_data(content))


def _page(title: str, body: str) -> str:
    """A page with recorded maps."""
    parts = {
        "POLICY": page_policy(SCRIPTS),
        "TITLE": html.escape(one_line(title)),
        "STYLE": palette_style() + DIRECTION_STYLE + part("page.css") + part("scene.css"),
        "SCRIPTLESS": SCRIPTLESS,
        "BODY": body,
        "COLORS": json_in_page(cell_colors()),
        "SCRIPT": page_script(MODULES, ("showRecordedMaps",)),
    }
    return re.sub("@([A-Z]+)@", lambda match: parts[match[1]], part("page.html"))


def maps_html(content: PageContent, *, opens_alternatives: bool = False) -> str:
    """Recorded maps within a page, as `RecordedScene` of `recorded.js` reads them."""
    parts = {
        "STILL": _without_scripts(content),
        "DATA": data_text(content),
        "OPEN": " open" if opens_alternatives else "",
    }
    return re.sub("@([A-Z]+)@", lambda match: parts[match[1]], part("scene.html"))


def _without_scripts(content: PageContent) -> str:
    """The sentence, its translation and changes, and the chosen map, as on paper."""
    shown = content.shown
    mode = content.selection.label_mode
    view, is_signed, new = _view(content, shown.kind, mode)
    translation = content.translation
    values = view.values[shown.layer, shown.head]
    marks = marks_of_experiment(view, translation, shown.kind, [(shown.layer, shown.head)], mode)
    is_share = MEASURES[content.measure].rows_sum_to_one and not is_signed
    title = " · ".join(filter(None, (display_text(shown.title), scaling_text(marks.factor))))
    marks = replace(
        marks,
        changed=frozenset(view.bands_at(*new)),
        pinned=view.place_of(content.pinned) if content.pinned is not None else None,
        pointed=pointed_at(view, content.pointer, content.pinned),
    )
    colors = meaning_of_colors(content.measure, is_signed=is_signed)
    caption = (
        ". "
        f"{' '.join(filter(None, (content.row_meaning(shown.kind, mode), colors, marks_note(marks))))}"
    )
    row_axis, column_axis = (axis.meaning for axis in view.axes)
    drawing = Drawing(
        values,
        view.row_labels,
        view.column_labels,
        ColorScale(1.0 if is_share else _top(values, is_signed=is_signed), is_signed),
        row_axis,
        column_axis,
        display_text(shown.title),
        marks=marks,
    )
    changes = "; ".join(changes_in_words(translation.experiment, translation))
    notes = (f"Changed: {changes}" if changes else "", *content.notes)
    is_outlined = content.pointer is not None and content.pointer.target == "head"
    sheet = SheetScene(
        "",
        translation.source_text,
        notes=(
            content.line or OutlinedText(translation.text),
            *(OutlinedText(note) for note in notes if note),
        ),
        drawing=drawing,
        caption=OutlinedText("", title, caption) if is_outlined else OutlinedText(title + caption),
    )
    parts = [part for part in sheet.parts(1, "scenes") if part[0] != "title"]
    return lines_html(parts, map_svg(drawing, has_numbers=False, height=HALF_PAGE_PX))


def _data(content: PageContent) -> dict[str, Any]:
    described = MEASURES[content.measure]
    blocks: list[str] = []
    view, _, _ = _view(content, content.shown.kind, content.selection.label_mode)
    pointed = pointed_at(view, content.pointer, content.pinned)
    if content.pointer is not None and content.pointer.target == "head":
        pointed = Pointed(content.pointer.style)
    kinds = [_kind(content, kind, blocks) for kind in ATTENTION_KINDS if kind in content.maps]
    facts = {
        **{name: display_text(fact) for name, fact in content.facts.items()},
        "sentence": content.translation.source_text,
        "given translation"
        if content.translation.is_given
        else "translation": content.translation.text,
        "measure": MEASURES[content.measure].name,
    }
    return {
        "facts": facts,
        "meaning": described.meaning,
        "caveat": described.caveat,
        "isShare": described.rows_sum_to_one
        and not (content.original is not None and content.is_difference),
        "kinds": kinds,
        "blocks": blocks,
        "mode": content.selection.label_mode,
        "shown": [content.shown.kind, content.shown.layer, content.shown.head],
        "pinned": view.place_of(content.pinned) if content.pinned is not None else None,
        "pointed": astuple(pointed) if pointed is not None else None,
        "changes": changes_in_words(content.translation.experiment, content.translation),
        "line": content.line or OutlinedText(content.translation.text),
        "notes": content.notes,
        "markMeanings": MARK_MEANINGS,
        "steps": _steps(content.translation),
    }


def _steps(translation: Translation) -> list[tuple[str, str, list[str]]]:
    """Each predicted token, its probability, and the next best ones with theirs, in words."""

    def words(others: Sequence[Alternative]) -> list[str]:
        named = others[:NUM_ALTERNATIVES]
        pairs = [f"{visible(other.token)} ({percent(other.probability)})" for other in named]
        return [pair.replace(" ", NO_BREAK_SPACE) for pair in pairs]

    steps = zip(
        translation.predicted_tokens,
        translation.log_probabilities,
        translation.alternatives,
        strict=True,
    )
    return [
        (
            visible(token),
            percent(math.exp(log)),
            words([alternative for alternative in alternatives if alternative.token != token]),
        )
        for token, log, alternatives in steps
    ]


def _kind(content: PageContent, kind: AttentionKind, blocks: list[str]) -> dict[str, Any]:
    """One kind; its weights go to `blocks`, those of both label modes together if they are the
    same.
    """
    modes: dict[str, Any] = {}
    for mode in LABEL_MODES:
        view, is_signed, new = _view(content, kind, mode)
        rows_are, columns_are = (axis.meaning for axis in view.axes)
        block, top = _packed(view.values, is_signed=is_signed)
        if block not in blocks:
            blocks.append(block)
        modes[mode] = {
            "rows": view.row_labels,
            "columns": view.column_labels,
            "rowsAre": rows_are,
            "columnsAre": columns_are,
            "meaning": content.row_meaning(kind, mode),
            "colors": meaning_of_colors(content.measure, is_signed=is_signed),
            "shape": view.values.shape,
            "top": top,
            "least": LEAST_DIFFERENCE if is_signed else 0,
            "signed": is_signed,
            "block": blocks.index(block),
            "hidden": _hidden(view.labelled),
            "changed": _bands(view.bands_at(*new)),
            "marks": _marks(content, kind, mode, view),
        }
    experiment = content.translation.experiment
    side = Head(kind, 0, 0).side
    networks = [
        network_note(experiment, side, layer) for layer in range(content.maps[kind].shape[0])
    ]
    return {"kind": kind, "title": KIND_TITLES[kind], "modes": modes, "networks": networks}


def _view(
    content: PageContent, kind: AttentionKind, mode: LabelMode
) -> tuple[MapView, bool, tuple[frozenset[int], frozenset[int]]]:
    """The maps of a kind, whether they are differences, and their new rows and columns."""
    selection = Selection(mode, content.selection.merge_words, content.selection.hide)
    labelled = selected(selection, content.maps[kind], content.translation, kind)
    is_signed = False
    new = (frozenset[int](), frozenset[int]())
    if content.original is not None:
        original = selected(selection, content.original[1][kind], content.original[0], kind)
        # without common tokens the changed maps are shown, as in the window
        with suppress(AnalysisError):
            change = difference(original, labelled)
            new = new_entries(change, labelled)
            is_signed = content.is_difference
            labelled = spread(change, labelled) if is_signed else labelled
    return MapView(labelled), is_signed, new


def _marks(
    content: PageContent, kind: AttentionKind, mode: LabelMode, view: MapView
) -> list[list[dict[str, Any]]]:
    """The experiment's changes to each map: [L][H]."""
    num_layers, num_heads = content.maps[kind].shape[:2]
    marks = [
        [
            marks_of_experiment(view, content.translation, kind, [(layer, head)], mode)
            for head in range(num_heads)
        ]
        for layer in range(num_layers)
    ]
    return [[_marks_in_json(of_head) for of_head in of_layer] for of_layer in marks]


def _marks_in_json(marks: Marks) -> dict[str, Any]:
    return {"factor": marks.factor, "set": _bands(marks.set), "forced": _bands(marks.forced)}


def _bands(bands: Iterable[Band]) -> list[dict[str, Any]]:
    return [{"index": band.index, "isRow": band.is_row} for band in sorted(bands)]


def _packed(values: FloatArray, *, is_signed: bool) -> tuple[str, float]:
    """Values as base64 of little-endian 16-bit numbers, and the largest value, or the largest
    absolute difference.
    """
    top = _top(values, is_signed=is_signed)
    largest, zero = (ZERO, ZERO) if is_signed else (LARGEST, 0)
    numbers = (
        np.rint(np.nan_to_num(values).astype(np.float64) * (largest / top)).clip(-zero, largest)
        + zero
    )
    packed = np.where(np.isnan(values), MISSING, numbers).astype("<u2")
    return base64.b64encode(packed.tobytes()).decode("ascii"), top


def _top(values: FloatArray, *, is_signed: bool) -> float:
    """The largest value, or the largest absolute difference."""
    return float(np.nanmax(np.abs(values), initial=LEAST_DIFFERENCE if is_signed else 0.0)) or 1.0


def _hidden(labelled: LabelledMap) -> list[list[float]]:
    """[L, H], the mean share of the rows that lies on hidden columns."""
    rows: list[list[float]] = np.round(labelled.hidden_mass_in_all.astype(np.float64), 4).tolist()
    return rows


@dataclass(frozen=True, eq=False)
class ScenePart:
    """A scene of the page.

    Attributes:
        title: the heading.
        text: the words below it.
        content: its maps.
        question: shown below the text; may be empty.
        answer: shown on request; may be empty.
    """

    title: str
    text: str
    content: PageContent
    question: str = ""
    answer: str = ""


def save_lesson_page(
    title: str, parts: Sequence[ScenePart], target: Path, saved: Provenance | None = None
) -> None:
    """Writes the page, with its provenance if that is given. Raises `StorageError`."""
    write_text(target, text_with_provenance(lesson_page_html(title, parts), saved))


def lesson_page_html(title: str, parts: Sequence[ScenePart]) -> str:
    """The page as text."""
    scenes = "\n".join(_scene_html(number, scene) for number, scene in enumerate(parts, start=1))
    return _page(title, f"<h1>{html.escape(one_line(title))}</h1>\n{scenes}")


def unbroken(text: str) -> str:
    """Keep a number and a percent sign after a space on one line."""
    return _UNIT.sub(NO_BREAK_SPACE, text)


def _scene_html(number: int, scene: ScenePart) -> str:
    texts = (scene.title, scene.text, scene.question, scene.answer)
    title, text, question, answer = (html.escape(unbroken(one_line(plain))) for plain in texts)
    question = f"<p><strong>{question}</strong></p>\n" if question else ""
    answer = (
        f"<details><summary>Show the answer</summary><p>{answer}</p></details>\n" if answer else ""
    )
    words = f"<h2>{number}. {title}</h2>\n<p>{text}</p>\n{question}{answer}"
    lines = LINES if question else ""
    content = scene.content
    written = [
        scene.title,
        scene.text,
        scene.question,
        content.translation.source_text,
        content.translation.text,
    ]
    written += [
        *content.notes,
        "; ".join(changes_in_words(content.translation.experiment, content.translation)),
    ]
    num_rows = content.maps[content.shown.kind].shape[-2]
    room = room_on_paper(
        [*written, "title", "scale", "gap"], NUM_LINES if question else 0, num_rows
    )
    begins = f'<section class="scene of-lesson" style="{room.style}">'
    return f"{begins}\n{words}{maps_html(content)}{lines}\n</section>"
