"""A lesson as a worksheet: sentences, maps and questions with space to write, without the scenes' texts. No Qt.

The map of a scene is an SVG drawing within the page, or a table of percentages in Markdown. The pinned cell
is not marked.
"""

import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from augenmerk.core.model.heads import AttentionKind, Head
from augenmerk.core.plain_text import one_line
from augenmerk.core.quantities import percent
from augenmerk.core.storage import write_text
from augenmerk.core.translation.experiment import GivenTarget, HeadScaled, Intervention
from augenmerk.core.translation.experiment_file import Lesson, Scene
from augenmerk.viz_app.heatmap.drawing import (
    PRINT_COLORS,
    VEIL_OPACITY,
    Box,
    Drawing,
    Shape,
    mark_shapes,
    marked_labels,
)

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
LABEL_GAP, MARKS_BELOW = 8, 14
GRID_COLOR, HATCH_COLOR = "#d8dbe0", "#9aa0a8"


@dataclass(frozen=True, eq=False)
class SceneMap:
    """The printed contents of a scene, except its text.

    Attributes:
        drawing: the map, as the window would show it, without the cell that the scene points to.
        measure: the meaning of a cell.
        meaning: the meaning of a row.
        translation: in words.
        is_share: whether its numbers are shares of a query's weight, from 0 to 1.
        other_model: the name of the model that computed the map, if the scene was made with another one; else empty.
    """

    drawing: Drawing
    measure: str
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
    drawing = scene_map.drawing
    caption = f"{drawing.title}. {scene_map.meaning}".strip()
    return f"<figure>\n{map_svg(drawing)}\n<figcaption>{_escaped(caption)}</figcaption>\n</figure>\n"


def map_svg(drawing: Drawing) -> str:
    """A map as an SVG element of a page."""
    rows, columns = (
        [label if len(label) <= MAX_LABEL else f"{label[: MAX_LABEL - 1]}…" for label in map(one_line, labels)]
        for labels in (drawing.row_labels, drawing.column_labels)
    )
    left = round(max(map(len, rows), default=0) * LETTER) + LABEL_GAP + 4
    top = round(max(map(len, columns), default=0) * LETTER * 0.75) + LABEL_GAP + 8
    width, height = left + len(columns) * CELL_WIDTH + 60, top + len(rows) * CELL_HEIGHT + MARKS_BELOW
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} aria-label="{_escaped(drawing.title)}">']
    for place, (label, color) in enumerate(zip(columns, _label_colors(drawing, is_row=False), strict=True)):
        x, y = left + (place + 0.6) * CELL_WIDTH, top - LABEL_GAP
        turned = f'transform="rotate(-50 {x:.0f} {y})"'
        parts.append(f'<text x="{x:.0f}" y="{y}" {turned}{color}>{_escaped(label)}</text>')
    for place, (label, color) in enumerate(zip(rows, _label_colors(drawing, is_row=True), strict=True)):
        baseline = top + (place + 0.75) * CELL_HEIGHT
        parts.append(
            f'<text x="{left - LABEL_GAP}" y="{baseline:.0f}" text-anchor="end"{color}>{_escaped(label)}</text>'
        )
    missing = set(drawing.missing())
    for row, colors in enumerate(drawing.colors().tolist()):
        for column, color in enumerate(colors):
            x, y = left + column * CELL_WIDTH, top + row * CELL_HEIGHT
            parts.append(
                f'<rect x="{x}" y="{y}" width="{CELL_WIDTH}" height="{CELL_HEIGHT}" fill="#{bytes(color).hex()}" '
                f'stroke="{GRID_COLOR}"/>'
            )
            if (row, column) in missing:
                ends = f"M{x} {y + CELL_HEIGHT}l{CELL_WIDTH} {-CELL_HEIGHT}"
                parts.append(f'<path d="{ends}" stroke="{HATCH_COLOR}" fill="none"/>')
    whole = Box(0, 0, len(columns) * CELL_WIDTH, len(rows) * CELL_HEIGHT)
    parts += [_shape_svg(shape, left, top) for shape in mark_shapes(drawing.marks, (CELL_WIDTH, CELL_HEIGHT), whole)]
    return f"{''.join(parts)}</svg>"


def _label_colors(drawing: Drawing, *, is_row: bool) -> list[str]:
    """An attribute of each label of the rows or columns; empty where it has the usual colour."""
    count = len(drawing.row_labels if is_row else drawing.column_labels)
    colors = marked_labels(drawing.marks, count, is_row=is_row)
    return [f' style="fill:{PRINT_COLORS[color]}"' if color else "" for color in colors]


def _shape_svg(shape: Shape, left: float, top: float) -> str:
    x, y, width, height = left + shape.box.left, top + shape.box.top, shape.box.width, shape.box.height
    color = PRINT_COLORS[shape.color]
    if shape.kind == "line":
        ends = f"M{x:g} {y:g}l{width:g} {height:g}"
        return f'<path d="{ends}" stroke="{color}" stroke-width="{shape.pen_px:g}" fill="none"/>'
    radius = f' rx="{width / 2:g}" ry="{height / 2:g}"' if shape.kind in ("dot", "ring") else ""
    ink = f'fill="{color}"'
    if shape.kind == "veil":
        ink = f'fill="#fff" fill-opacity="{VEIL_OPACITY}"'
    if shape.kind in ("frame", "ring"):
        ink = f'fill="none" stroke="{color}" stroke-width="{shape.pen_px:g}"'
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"{radius} {ink}/>'


def _table(scene_map: SceneMap) -> str:
    """The map as a table, shares as whole percentages; zeros are omitted, so that other numbers are easier to see."""
    drawing, is_share = scene_map.drawing, scene_map.is_share
    unit = "Numbers are percentages." if is_share else f"Numbers: {_marked(scene_map.measure)}."
    lines = [
        f"{_marked(drawing.title)}. {_marked(scene_map.meaning)} {unit}\n",
        f"| | {' | '.join(map(_marked, drawing.column_labels))} |",
        f"|---|{'---|' * len(drawing.column_labels)}",
    ]
    for label, row in zip(drawing.row_labels, drawing.values.tolist(), strict=True):
        rounded = (
            "" if math.isnan(value) else percent(value).rstrip("%") if is_share else f"{value:.2f}" for value in row
        )
        cells = ("" if cell in ("0", "< 1", "0.00", "-0.00") else cell for cell in rounded)
        lines.append(f"| **{_marked(label)}** | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n\n"


def _notes(scene: Scene, scene_map: SceneMap | None) -> list[str]:
    """The experiment without its sentence: the place to look at, the changes, the translation."""
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
        notes.append(f"Map and translation come from another model than that of the scene: {scene_map.other_model}")
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
    """The text with Markdown's special characters escaped by backslashes."""
    return _MARKDOWN_SIGN.sub(r"\\\1", one_line(text))
