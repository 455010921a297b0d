"""The frame of everything that a notebook shows: its style, its colours, and its texts."""

import hashlib
import html
from functools import cache
from pathlib import Path

from augenmerk.core.plain_text import one_line

from ...palette import DARK, LIGHT, Palette
from ...state.sentence_text import elided, visible

MAX_TEXT = 600
"""Characters of a sentence."""
LIGHT_PAGES = ("data-jp-theme-light", "data-theme=light", "data-bs-theme=light")
"""Attributes by which pages of JupyterLab, Sphinx and others say that they have a theme."""
DARK_PAGES = (
    '[data-jp-theme-light="false"]',
    "body.vscode-dark",
    "[data-theme=dark]",
    "[data-bs-theme=dark]",
)


def escaped(text: object, length: int = MAX_TEXT) -> str:
    """One line of text for HTML, at most this long, with code points for what cannot be seen."""
    return html.escape(elided(visible(one_line(text)), length))


def framed(content: str, variables: str = "") -> str:
    """The content with its style, in a form: radio buttons of one output are a group of their own.

    Two outputs do not disturb each other, also of two versions: the class names the style. Enter
    would send a form with another method.
    """
    style, name = _style()
    attributes = f'class="{name}"' + (f' style="{variables}"' if variables else "")
    return f'<style>{style}</style><form method="dialog" {attributes}>{content}</form>'


@cache
def _style() -> tuple[str, str]:
    """The style for one class, and its name."""
    lines = (Path(__file__).parent / "style.css").read_text(encoding="utf-8").splitlines()
    template = "".join(line.strip() for line in lines if not line.startswith("/*"))
    template = "".join(
        [
            f"$ {{{_roles(LIGHT)}}}",
            f"{','.join(f'{page} $' for page in DARK_PAGES)}{{{_roles(DARK)}}}",
            f"@media (prefers-color-scheme:dark){{{_page_without_theme()} ${{{_roles(DARK)}}}}}",
            template,
        ]
    )
    name = f"augenmerk-{hashlib.sha256(template.encode()).hexdigest()[:8]}"
    return template.replace("$", f".{name}"), name


def _page_without_theme() -> str:
    names = "".join(f":not([{name}])" for name in LIGHT_PAGES)
    return f":root{names} body{names}:not(.vscode-light)"


def _roles(palette: Palette) -> str:
    """The colours of a theme, and which pictures belong to it."""
    is_dark = palette is DARK
    colors = (
        f"--g:{palette.panel};--t:{palette.text};--s:{palette.muted};--l:{palette.border};"
        f"--m:{palette.accent};--o:{palette.warm};--r:{palette.raised}"
    )
    pictures = "".join(f";--m{index}:var(--{'d' if is_dark else 'l'}{index})" for index in range(3))
    return f"color-scheme:{'dark' if is_dark else 'light'};{colors}{pictures}"
