"""The parts that pages share: modules of their scripts, colours of cells, and the palette as a
style. No Qt.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from augenmerk.core import __version__
from augenmerk.core.extensions.page.scripts import joined_script
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.translation.experiment import Experiment, in_groups
from augenmerk.core.translation.result import Translation

from ...palette import DARK, LIGHT, Palette
from ...state.color_scale import color_table

PARTS = Path(__file__).parent / "page"
THEMES = {"light": LIGHT, "dark": DARK}
VARIABLES = {
    "ground": "background",
    "panel": "panel",
    "raised": "raised",
    "text": "text",
    "soft": "muted",
    "line": "border",
    "mark": "accent",
    "on-mark": "on_accent",
    "warm": "warm",
    "pointer": "pointer",
}
"""Colours of `Palette` by their names in a style."""
SCRIPTS, WORKERS = "script-src 'unsafe-inline'", "worker-src blob:"
"""What some pages contain: see `page_policy`."""


class FirstView(NamedTuple):
    """What a page shows when it is opened.

    Attributes:
        text: the sentence; empty for one that suits the model.
        head: the one in the large map; None for that of the first example.
    """

    text: str = ""
    head: Head | None = None


NOTHING_CHOSEN = FirstView()


def part(name: str) -> str:
    """The text of a file of the folder `page`."""
    return (PARTS / name).read_text(encoding="utf-8")


def page_policy(*contents: str) -> str:
    """The elements of a page's head that forbid all requests, and everything inside it but styles
    and `contents`; and name the program with its version.
    """
    rules = (
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        *contents,
        "base-uri 'none'",
        "form-action 'none'",
    )
    return (
        f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f'<meta name="generator" content="Augenmerk {__version__}">'
    )


def page_script(modules: Iterable[str], names: Iterable[str]) -> str:
    """Modules of the folder `page` as one script, see `joined_script`."""
    return joined_script([PARTS / name for name in modules], names)


def changes_in_words(experiment: Experiment, original: Translation) -> tuple[str, ...]:
    """The changes as the window names them, those of complete groups of heads together."""
    shapes = {kind: original.maps.of_kind(kind).shape[:2] for kind in ATTENTION_KINDS}
    heads = [
        Head(kind, layer, head)
        for kind, shape in shapes.items()
        for layer, head in np.ndindex(*shape)
    ]
    return tuple(name for name, _ in in_groups(experiment.interventions, heads))


def json_in_page(value: object) -> str:
    """JSON that cannot end its element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def cell_colors() -> dict[str, Any]:
    """The colours of cells by theme, as `ColorTable` of `drawing.js` reads them."""
    colors_by_theme = {}
    for name in THEMES:
        tables = {
            key: color_table(is_dark=name == "dark", is_signed=key == "signed")
            for key in ("weights", "signed")
        }
        colors = {
            key: [bytes(color).hex() for color in table.rgb.tolist()]
            for key, table in tables.items()
        }
        colors_by_theme[name] = colors | {"missing": bytes(tables["weights"].missing).hex()}
    return colors_by_theme


DIRECTION_STYLE = (
    "p:not([dir]), li, h1, h2, h3, blockquote, dd, td, th, figcaption "
    "{ unicode-bidi: plaintext; }\n"
)
"""Each text runs in the direction of its first letter: Arabic and Hebrew from right to left.

An attribute decides for words that are buttons, whose letters a style does not see.
"""


def palette_style() -> str:
    """The colours of both themes as variables; light without the attribute `data-theme` of the
    root.
    """
    return "".join(
        f"{root} {{ color-scheme: {name}; {_variables(THEMES[name])} }}\n"
        for root, name in ((":root", "light"), (':root[data-theme="dark"]', "dark"))
    )


def _variables(palette: Palette) -> str:
    return " ".join(f"--{name}: {getattr(palette, role)};" for name, role in VARIABLES.items())
