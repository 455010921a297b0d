"""A lesson as a worksheet: sentences, maps and questions with space to write, without what the scenes say. No Qt.

The map of a scene is printed with it, as an SVG drawing within the page, or as a table of percentages in Markdown; the
cell that the scene points to is not marked.
"""

import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from augenmerk.core.model.heads import AttentionKind, Head
from augenmerk.core.plain_text import one_line
from augenmerk.core.storage import write_text
from augenmerk.core.translation.experiment import GivenTarget, HeadScaled, Intervention
from augenmerk.core.translation.lesson_file import Lesson, Scene
from augenmerk.viz_app.heatmap.colormap import PAPER, quantize, rgb_table, signed_indices, signed_rgb_table
from augenmerk.viz_app.state.snapshot import Snapshot

NUM_LINES = 3
"""To write on, below each question."""
MARKDOWN_LINE = "\\_" * 40
NO_QUESTION = "What do you see?"
_MARKDOWN_SIGN = re.compile(r"([\\`*_{}\[\]<>#|~&!])")
STYLE = """
body { max-width: 44rem; margin: 2rem auto; padding: 0 1.5rem; background: #fff; color: #1d2126; font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .4rem; }
section { break-inside: avoid; overflow-wrap: anywhere; }
blockquote { margin: .4rem 0; font-size: 1.1rem; }
p { margin: .4rem 0; }
.name { display: inline-block; width: 16rem; border-bottom: 1px solid #9aa0a8; }
.note { color: #5a626b; font-size: .9rem; }
.line { height: 2.2rem; border-bottom: 1px solid #9aa0a8; }
figure { margin: .6rem 0; }
figcaption { color: #5a626b; font-size: .9rem; }
svg { max-width: 90vw; height: auto; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
svg text { font: 11px system-ui, sans-serif; fill: #1d2126; }
"""  # noqa: E501
CELL_WIDTH, CELL_HEIGHT, LETTER, MAX_LABEL = 24, 16, 6.2, 16
"""Of the drawing, in pixels at its natural size; characters of a label."""
GRID_COLOR, MISSING_COLOR = "#d8dbe0", "#d3d6da"


@dataclass(frozen=True, eq=False)
class SceneMap:
    """What is printed of a scene besides its words.

    Attributes:
        snapshot: the map, as the window would show it.
        meaning: what a row says.
        translation: in words.
        is_share: whether its numbers are shares of what a query gives, from 0 to 1.
        other_model: the name of the model that computed the map, if the scene was made with another one; else empty.
    """

    snapshot: Snapshot
    meaning: str
    translation: str
    is_share: bool = True
    other_model: str = ""


def save_worksheet(lesson: Lesson, maps: Sequence[SceneMap | None], target: Path) -> None:
    """Writes the worksheet: as Markdown if the file's name ends so, else as HTML. Raises `StorageError`.

    Args:
        lesson: its sentences and questions.
        maps: one for each scene; None where there is none.
        target: the file.
    """
    make = worksheet_markdown if target.suffix.lower() == ".md" else worksheet_html
    write_text(target, make(lesson, maps))


def worksheet_html(lesson: Lesson, maps: Sequence[SceneMap | None]) -> str:
    """One page without scripts, for the printer and the browser."""
    lines = '<div class="line"></div>' * NUM_LINES
    parts = []
    for number, (scene, scene_map) in enumerate(zip(lesson.scenes, maps, strict=True), start=1):
        notes = "".join(f'<p class="note">{_escaped(note)}</p>\n' for note in _notes(scene, scene_map))
        parts.append(
            f"<section>\n<h2>{number}. {_escaped(scene.title)}</h2>\n"
            f'<blockquote lang="de">{_escaped(scene.saved.experiment.source_text)}</blockquote>\n{notes}'
            f"{_figure(scene_map) if scene_map is not None else ''}"
            f"<p>{_escaped(scene.question or NO_QUESTION)}</p>\n{lines}\n</section>\n"
        )
    title = _escaped(lesson.title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f'<p class="note">Name: <span class="name"></span></p>\n{"".join(parts)}</body>\n</html>\n'
    )


def worksheet_markdown(lesson: Lesson, maps: Sequence[SceneMap | None]) -> str:
    """The same as Markdown; maps are tables."""
    parts = [f"# {_marked(lesson.title)}\n\nName:\n"]
    for number, (scene, scene_map) in enumerate(zip(lesson.scenes, maps, strict=True), start=1):
        notes = "".join(f"{_marked(note)}\n\n" for note in _notes(scene, scene_map))
        parts.append(
            f"## {number}. {_marked(scene.title)}\n\n> {_marked(scene.saved.experiment.source_text)}\n\n{notes}"
            f"{_table(scene_map) if scene_map is not None else ''}"
            f"{_marked(scene.question or NO_QUESTION)}\n" + f"\n{MARKDOWN_LINE}\n" * NUM_LINES
        )
    return "\n".join(parts)


def _figure(scene_map: SceneMap) -> str:
    """The map as a drawing: columns have their labels above them, turned; rows at their left."""
    snapshot = scene_map.snapshot
    view = snapshot.view
    rows, columns = (
        [label if len(label) <= MAX_LABEL else f"{label[: MAX_LABEL - 1]}…" for label in map(one_line, labels)]
        for labels in (view.row_labels, view.column_labels)
    )
    left = round(max(map(len, rows), default=0) * LETTER) + 10
    top = round(max(map(len, columns), default=0) * LETTER * 0.75) + 14
    width, height = left + len(columns) * CELL_WIDTH + 60, top + len(rows) * CELL_HEIGHT + 2
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} aria-label="{_escaped(snapshot.title)}">']
    for place, label in enumerate(columns):
        x = left + (place + 0.6) * CELL_WIDTH
        parts.append(
            f'<text x="{x:.0f}" y="{top - 5}" transform="rotate(-50 {x:.0f} {top - 5})">{_escaped(label)}</text>'
        )
    for place, label in enumerate(rows):
        y = top + (place + 0.75) * CELL_HEIGHT
        parts.append(f'<text x="{left - 6}" y="{y:.0f}" text-anchor="end">{_escaped(label)}</text>')
    for row, colors in enumerate(_colors(snapshot)):
        for column, color in enumerate(colors):
            x, y = left + column * CELL_WIDTH, top + row * CELL_HEIGHT
            parts.append(
                f'<rect x="{x}" y="{y}" width="{CELL_WIDTH}" height="{CELL_HEIGHT}" fill="{color}" '
                f'stroke="{GRID_COLOR}"/>'
            )
    caption = f"{snapshot.title}. {scene_map.meaning}".strip()
    return f"<figure>\n{''.join(parts)}</svg>\n<figcaption>{_escaped(caption)}</figcaption>\n</figure>\n"


def _colors(snapshot: Snapshot) -> list[list[str]]:
    """[rows][columns], those of the light window."""
    values = snapshot.view.values
    if snapshot.is_signed:
        table, indices = signed_rgb_table(is_dark=False), signed_indices(values, snapshot.top)
    else:
        table, indices = rgb_table(PAPER), quantize(values, snapshot.top)
    names = [f"#{bytes(color).hex()}" for color in table.tolist()]
    return [
        [MISSING_COLOR if math.isnan(value) else names[index] for value, index in zip(*row, strict=True)]
        for row in zip(values.tolist(), indices.tolist(), strict=True)
    ]


def _table(scene_map: SceneMap) -> str:
    """The map as a table, shares as whole percentages; what rounds to 0 is left out, so that the others stand out."""
    view, is_share = scene_map.snapshot.view, scene_map.is_share
    unit = "Numbers are percentages." if is_share else f"Numbers: {_marked(scene_map.snapshot.facts['measure'])}."
    lines = [
        f"{_marked(scene_map.snapshot.title)}. {_marked(scene_map.meaning)} {unit}\n",
        f"| | {' | '.join(map(_marked, view.column_labels))} |",
        f"|---|{'---|' * len(view.column_labels)}",
    ]
    for label, row in zip(view.row_labels, view.values.tolist(), strict=True):
        rounded = ("" if math.isnan(value) else f"{100 * value:.0f}" if is_share else f"{value:.2f}" for value in row)
        cells = ("" if cell in ("0", "-0", "0.00", "-0.00") else cell for cell in rounded)
        lines.append(f"| **{_marked(label)}** | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n\n"


def _notes(scene: Scene, scene_map: SceneMap | None) -> list[str]:
    """What belongs to the experiment besides its sentence: where to look, what is changed, what comes of it."""
    experiment, view = scene.saved.experiment, scene.saved.view
    notes = []
    match view.get("head"):
        case (str() as kind, int() as layer, int() as head):
            notes.append(f"Head: {kind}, layer {layer + 1}, head {head + 1}")
    if isinstance(experiment.output, GivenTarget):
        notes.append(f"Given translation: {experiment.output.text}")
    elif scene_map is not None:
        notes.append(f"Translation: {scene_map.translation}")
    if experiment.interventions:
        notes.append(f"Changed: {'; '.join(_changes(experiment.interventions))}")
    if scene_map is not None and scene_map.other_model:
        notes.append(f"Map and translation are those of another model than the scene's: {scene_map.other_model}")
    return notes


def _changes(interventions: Sequence[Intervention]) -> list[str]:
    """One text for each change, but a single one for all heads of a layer that are switched off."""
    changes, off = [], dict[tuple[AttentionKind, int], list[int]]()
    for each in interventions:
        if isinstance(each, HeadScaled) and each.factor == 0:
            off.setdefault((each.head.kind, each.head.layer), []).append(each.head.head)
        else:
            changes.append(str(each))
    for (kind, layer), heads in off.items():
        if len(heads) == 1:
            changes.append(str(HeadScaled(Head(kind, layer, heads[0]))))
        else:
            changes.append(f"{kind}, layer {layer + 1}: heads {_ranges(sorted(heads))} off")
    return changes


def _ranges(places: Sequence[int]) -> str:
    """Places counted from 0, as people write them: 1–3, 5."""
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return ", ".join(f"{run[0] + 1}–{run[-1] + 1}" if len(run) > 1 else f"{run[0] + 1}" for run in runs)


def _escaped(text: str) -> str:
    return html.escape(one_line(text))


def _marked(text: str) -> str:
    """With a backslash before what Markdown would take for a sign."""
    return _MARKDOWN_SIGN.sub(r"\\\1", one_line(text))
