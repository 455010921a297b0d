"""A lesson as one HTML file: its scenes one below the other, each with live maps; no network, no other file. No Qt.

Each scene is the body of `page/page.html` with the script of `page/page.js`, which looks for elements of its own scene
alone: they have the attribute `data-part` in place of an id.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from augenmerk.core.plain_text import one_line
from augenmerk.core.storage import write_text
from augenmerk.viz_app.export.html_page import PARTS, PageContent, data_text

_BODY = re.compile(r"<body>\n(.*)<noscript>", re.DOTALL)
_ID = re.compile(r'\bid="([a-z]+)"')
_UNIT = re.compile(r"(?<=\d) (?=%)")
NO_BREAK_SPACE = "\u00a0"
_STYLE = """
section.scene { margin: 1.6rem 0 3rem; padding-top: 1rem; border-top: 2px solid var(--line); }
section.scene > p { font-size: 1.05rem; max-width: 60rem; margin: .2rem 0 1rem; overflow-wrap: anywhere; }
section.scene > h2 { font-size: 1.15rem; }
section.scene header h3 { font-size: 1.15rem; margin: 0; overflow-wrap: anywhere; }
[data-part="theme"] { display: none; }
@media print { section.scene { break-inside: avoid; margin: 0; border-top-width: 0; } }
"""


@dataclass(frozen=True, eq=False)
class ScenePart:
    """A scene of the page.

    Attributes:
        title, text: its words.
        content: its maps.
    """

    title: str
    text: str
    content: PageContent


def save_lesson_page(title: str, parts: Sequence[ScenePart], target: Path) -> None:
    """Writes the page. Raises `StorageError`."""
    write_text(target, lesson_page_html(title, parts))


def lesson_page_html(title: str, parts: Sequence[ScenePart]) -> str:
    """The page as text."""
    style, script, page, lesson = (
        (PARTS / name).read_text(encoding="utf-8") for name in ("page.css", "page.js", "page.html", "lesson.html")
    )
    found = _BODY.search(page)
    assert found is not None
    body = found[1].replace("<h1 ", "<h3 ").replace("</h1>", "</h3>").replace("<h2 ", "<h3 ").replace("</h2>", "</h3>")
    body = body.replace("<h2>", "<h3>").replace("<main>", "<div>").replace("</main>", "</div>")
    for name in _ID.findall(body):
        style = re.sub(rf"#{name}\b", f'[data-part="{name}"]', style)
    body = _ID.sub(r'data-part="\1"', body)
    scenes = "\n".join(_scene_html(number, part, body) for number, part in enumerate(parts, start=1))
    values = {
        "TITLE": html.escape(one_line(title)),
        "STYLE": style + _STYLE,
        "SCENES": scenes,
        "SCRIPT": script.replace('"use strict";\n', ""),
    }
    return re.sub("@([A-Z]+)@", lambda found: values[found[1]], lesson)


def unbroken(text: str) -> str:
    """Keep a number and a percent sign after a space on one line."""
    return _UNIT.sub(NO_BREAK_SPACE, text)


def _scene_html(number: int, part: ScenePart, body: str) -> str:
    title, text = html.escape(one_line(part.title)), html.escape(unbroken(one_line(part.text)))
    return (
        f'<section class="scene">\n<h2>{number}. {title}</h2>\n<p>{text}</p>\n{body}'
        f'<script type="application/json" data-part="data">{data_text(part.content)}</script>\n</section>'
    )
