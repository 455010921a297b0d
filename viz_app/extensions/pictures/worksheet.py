"""A lesson on paper: as a worksheet, as its solutions, or as its scenes; pages without scripts, or
Markdown. No Qt.

A worksheet has sentences, maps and questions with space to write, the solutions have the answers
instead. Both leave out the texts of the scenes.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from augenmerk.core.extensions.provenance import Provenance, text_with_provenance
from augenmerk.core.plain_text import one_line
from augenmerk.core.quantities import percent
from augenmerk.core.storage import write_text

from ...heatmap.drawing import Drawing
from ...state.map_view import Band
from .map_svg import escaped, map_svg, svg_height
from .page_parts import DIRECTION_STYLE, page_policy
from .printed_maps import PRINT_COLORS
from .scene_notes import NO_WORDS, OutlinedText

Sheet = Literal["worksheet", "solutions", "scenes"]
Role = Literal["title", "text", "sentence", "note", "map", "caption", "question", "answer", "line"]
"""Of a part of a scene; "line" is a line to write on."""
HTML: dict[Role, str] = {
    "title": "<h2>{}</h2>",
    "text": "<p>{}</p>",
    "sentence": '<blockquote lang="de">{}</blockquote>',
    "note": '<p class="note">{}</p>',
    "map": "<figure>{}</figure>",
    "caption": '<p class="note">{}</p>',
    "question": '<p class="question">{}</p>',
    "answer": "<p>{}</p>",
    "line": '<div class="line"></div>',
}
NUM_LINES = 3
"""To write on, below each question."""
MARKDOWN: dict[Role, str] = {"title": "## {}", "sentence": "> {}", "line": "\\_" * 40}
HALF_PAGE_PX, LINE_PX, RULE_PX, LETTERS = 440, 15, 21, 95
"""Half a printed page of the smaller paper (Letter) without heading and gaps; heights of a line of
text and of a line to write on; letters in a line."""
LEAST_ROW_PX, LABELS_PX = 9, 72
"""Of a map: the height of a row that can be read, and of the labels above the map."""
NO_QUESTION = "What do you see?"
NAME = "Name:"
SOLUTIONS = "Solutions"
_MARKDOWN_SIGN = re.compile(r"([\\`*_{}\[\]<>#|~&!])")
STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
body { max-width: 45rem; margin: 1.5rem auto; padding: 0 1rem; background: #fff; color: #1d2126; font: 15px/1.4 system-ui, sans-serif; }
h1 { font-size: 1.35rem; margin: 0 0 .3rem; break-after: avoid; }
h2 { font-size: 1.05rem; margin: 0 0 .2rem; break-after: avoid; }
section { overflow-wrap: anywhere; margin: 1.4rem 0 2rem; }
blockquote { margin: .2rem 0; font-size: 1.05rem; }
p { margin: .2rem 0; }
.name { display: inline-block; width: 16rem; border-bottom: 1px solid #9aa0a8; }
.note { color: #5a626b; font-size: .85rem; }
.line { height: 1.7rem; border-bottom: 1px solid #9aa0a8; }
.question { font-weight: 600; margin-top: .3rem; }
mark { background: none; color: inherit; border: 2px solid @POINTER@; border-radius: .5em; padding: 0 .2em; }
figure { margin: .3rem 0; overflow-x: auto; }
svg { max-width: 100%; min-width: 34rem; height: auto; display: block; }
svg text { font-family: system-ui, sans-serif; }
#numbers:not(:checked) ~ section .numbers { display: none; }
@page { margin: 12mm; }
@media print {
  html { font-size: 12px; }
  body { max-width: none; margin: 0; padding: 0; font-size: 1rem; line-height: 1.3; }
  #numbers, label { display: none; }
  section { display: flex; flex-direction: column; min-height: var(--share); break-inside: avoid; margin: 0; padding-top: 2.5mm; }
  figure { position: relative; flex: 100 1 var(--least); min-height: var(--least); max-height: var(--most); }
  svg { position: absolute; height: 100%; min-width: 0; }
  .line { flex: 1 0 1.7rem; max-height: 2.6rem; }
  blockquote, .question { break-after: avoid; }
}
""".replace("@POINTER@", PRINT_COLORS["pointer"])  # noqa: E501


@dataclass(frozen=True, eq=False)
class SheetScene:
    """A scene on paper.

    Attributes:
        title: the heading.
        text: the words below it; may be empty.
        question: of the scene; may be empty.
        answer: of the question; may be empty.
        sentence: to be translated.
        notes: on the experiment and its map.
        drawing: the map, as the window shows it; None if there is none.
        caption: of the map.
        is_share: whether its numbers are shares of a query's weight, from 0 to 1.
        measure: the meaning of a cell.
    """

    title: str
    sentence: str
    text: str = ""
    question: str = ""
    answer: str = ""
    notes: tuple[OutlinedText, ...] = ()
    drawing: Drawing | None = None
    caption: OutlinedText = NO_WORDS
    is_share: bool = True
    measure: str = ""

    def parts(self, number: int, sheet: Sheet) -> list[tuple[Role, OutlinedText]]:
        """The lines of the scene on a sheet from top to bottom, and the place of its map."""
        answer = {"worksheet": "", "solutions": self.answer or self.text, "scenes": self.answer}[
            sheet
        ]
        parts: list[tuple[Role, OutlinedText]] = [
            ("title", OutlinedText(f"{number}. {self.title}")),
            ("text", OutlinedText(self.text if sheet == "scenes" else "")),
            ("sentence", OutlinedText(self.sentence)),
            *(("note", note) for note in self.notes),
            ("map", NO_WORDS),
            ("caption", self.caption),
            ("question", OutlinedText(self.question or ("" if sheet == "scenes" else NO_QUESTION))),
            ("answer", OutlinedText(answer)),
        ]
        has_map = self.drawing is not None
        shown = [
            (role, line.one_line())
            for role, line in parts
            if line.text or (role == "map" and has_map)
        ]
        return shown + [("line", NO_WORDS)] * (NUM_LINES if sheet == "worksheet" else 0)


def sheet_title(title: str, sheet: Sheet) -> str:
    """The heading of a sheet."""
    return f"{title} · {SOLUTIONS}" if sheet == "solutions" else title


def save_sheet(
    title: str,
    scenes: Sequence[SheetScene],
    sheet: Sheet,
    target: Path,
    saved: Provenance | None = None,
) -> None:
    """Writes a sheet: as Markdown if the file's name ends so, else as HTML.

    Args:
        title: of the lesson.
        scenes: its scenes.
        sheet: what they contain.
        target: the file.
        saved: its provenance.

    Raises:
        StorageError: the file cannot be written.
    """
    make = sheet_markdown if target.suffix.lower() == ".md" else sheet_html
    write_text(target, text_with_provenance(make(title, scenes, sheet), saved))


def sheet_html(title: str, scenes: Sequence[SheetScene], sheet: Sheet) -> str:
    """A web page without scripts. Two scenes fit on a printed page."""
    parts = "".join(
        _scene_html(number, scene, sheet) for number, scene in enumerate(scenes, start=1)
    )
    name = (
        f'<p class="note">{NAME} <span class="name"></span></p>\n' if sheet == "worksheet" else ""
    )
    heading = escaped(sheet_title(title, sheet))
    # differences need their numbers: a print in shades of grey hides their signs
    checked = " checked" * any(
        scene.drawing is not None and scene.drawing.scale.is_signed for scene in scenes
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{page_policy()}\n<title>{heading}</title>\n<style>{DIRECTION_STYLE}{STYLE}</style>\n</head>\n<body>\n<h1>{heading}</h1>\n{name}"
        f'<input type="checkbox" id="numbers"{checked}> <label for="numbers">Numbers in the maps</label>\n'
        f"{parts}</body>\n</html>\n"
    )


class PaperRoom(NamedTuple):
    """The room of a scene's map on paper, in pixels: the text around it takes more or less than was
    estimated.

    Attributes:
        least: the height below which its labels cannot be read.
        most: for which half a printed page, or else a whole page, has room.
        is_half: whether it is half a page.
    """

    least: int
    most: int
    is_half: bool

    @property
    def style(self) -> str:
        """The same as variables: the style of print gives the map what the text leaves of the share
        of the page.
        """
        return (
            f"--share: {47 if self.is_half else 94}vh; --least: {self.least}px; --most: "
            f"{self.most}px"
        )


def room_on_paper(lines: Sequence[str], num_rules: int, num_rows: int) -> PaperRoom:
    """The room of a map.

    Args:
        lines: of text around the map.
        num_rules: lines to write on.
        num_rows: of the map.
    """
    num_lines = sum(-(-len(line) // LETTERS) for line in lines)
    most = HALF_PAGE_PX - LINE_PX * num_lines - RULE_PX * num_rules
    least = LABELS_PX + LEAST_ROW_PX * num_rows
    return (
        PaperRoom(least, most, True)
        if most >= least
        else PaperRoom(least, most + HALF_PAGE_PX, False)
    )


def _scene_html(number: int, scene: SheetScene, sheet: Sheet) -> str:
    parts = scene.parts(number, sheet)
    num_rows = len(scene.drawing.row_labels) if scene.drawing is not None else 0
    room = room_on_paper(
        [line.text for _, line in parts], sum(role == "line" for role, _ in parts), num_rows
    )
    if scene.drawing is not None:
        room = room._replace(most=round(svg_height(scene.drawing, room.most)))
    drawn = map_svg(scene.drawing, height=room.most) if scene.drawing is not None else ""
    return f'<section style="{room.style}">\n{lines_html(parts, drawn)}\n</section>\n'


def lines_html(parts: Sequence[tuple[Role, OutlinedText]], drawn: str) -> str:
    """Lines of a scene as HTML, with its map as drawn."""
    written = []
    for role, (before, outlined, after) in parts:
        ring = f"<mark>{escaped(outlined)}</mark>" if outlined else ""
        written.append(
            HTML[role].format(f"{escaped(before)}{ring}{escaped(after)}{drawn * (role == 'map')}")
        )
    return "\n".join(written)


def sheet_markdown(title: str, scenes: Sequence[SheetScene], sheet: Sheet) -> str:
    """The same as Markdown; maps are tables, and rings are bold."""
    parts = [f"# {_marked(sheet_title(title, sheet))}\n"] + (
        [f"{NAME}\n"] if sheet == "worksheet" else []
    )
    for number, scene in enumerate(scenes, start=1):
        blocks = []
        for role, (before, outlined, after) in scene.parts(number, sheet):
            ring = f"**{_marked(outlined)}**" if outlined else ""
            table = (
                _table(scene, scene.drawing) if role == "map" and scene.drawing is not None else ""
            )
            blocks.append(
                MARKDOWN.get(role, "{}").format(f"{_marked(before)}{ring}{_marked(after)}{table}")
            )
        parts.append("\n\n".join(blocks) + "\n")
    return "\n".join(parts)


def _table(scene: SheetScene, drawing: Drawing) -> str:
    """The map as a table, shares as whole percentages.

    Zeros are omitted, so that other numbers are easier to see.
    """
    unit = "Numbers are percentages." if scene.is_share else f"Numbers: {_marked(scene.measure)}."
    pinned = drawing.marks.pinned
    lines = [
        f"{unit}{' The pinned cell is bold.' if pinned is not None else ''}\n",
        f"| | {' | '.join(_headings(drawing, drawing.column_labels, is_row=False))} |",
        f"|---|{'---|' * len(drawing.column_labels)}",
    ]
    headings = _headings(drawing, drawing.row_labels, is_row=True)
    for index, (heading, row) in enumerate(zip(headings, drawing.values.tolist(), strict=True)):
        rounded = (_rounded(value, is_share=scene.is_share) for value in row)
        cells = ["" if cell in ("0", "< 1", "0.00", "-0.00") else cell for cell in rounded]
        if pinned is not None and pinned.row == index:
            cells[pinned.column] = f"**{cells[pinned.column] or 0}**"
        lines.append(f"| {heading} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _rounded(value: float, *, is_share: bool) -> str:
    """A number of the table; empty if it is missing."""
    if math.isnan(value):
        return ""
    return percent(value).rstrip("%") if is_share else f"{value:.2f}"


def _headings(drawing: Drawing, labels: Sequence[str], *, is_row: bool) -> list[str]:
    """The labels of rows, in bold, or of columns, with notes on those that are set or forced."""
    notes = {"set": drawing.marks.set, "forced": drawing.marks.forced}
    headings = []
    for index, label in enumerate(labels):
        text = f"**{_marked(label)}**" if is_row else _marked(label)
        headings.append(
            " ".join(
                [text, *(name for name, bands in notes.items() if Band(index, is_row) in bands)]
            )
        )
    return headings


def _marked(text: str) -> str:
    """The text with Markdown's special characters escaped by backslashes."""
    return _MARKDOWN_SIGN.sub(r"\\\1", one_line(text))
