"""Ways to draw the large map: the heatmap, and those that extensions add.

No Qt. See docs/extending.md.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from pkgutil import resolve_name
from typing import Any

from augenmerk.core.registry import Registry

DrawingName = str
"""A name in `DRAWINGS`; files may also contain names that belong to extensions not installed here.
"""


@dataclass(frozen=True, eq=False)
class MapDrawing:
    """The declaration of a way to draw the large map, and what texts say about it.

    Attributes:
        code: the full name of a subclass of `LargeMap`, as “module:Class”.
        order: the place in the menu.
        name: on the button and in the menu.
        tip: on the button and in the menu.
        exported_as: in the menu of exports.
        row: the subject of the sentence on the meaning of a query; `{row}` is its row or column in
            a heatmap.
        hint: what a click does: a whole sentence, then shorter ones, each in a line.
        headings: of the paragraphs on queries, keys and values; `{queries}` and `{keys}` are rows
            and columns.
        explain: returns sentences to come before those on the values of an `ExperimentState`.
        elsewhere: a sentence for pages and sheets, which show a heatmap; empty for none.
    """

    code: str
    order: int
    _: KW_ONLY
    name: str
    tip: str
    exported_as: str
    row: str
    hint: str
    headings: tuple[str, str, str]
    explain: Callable[[Any], str] = lambda _state: ""
    elsewhere: str = ""

    def load(self) -> Any:
        """Imports the class."""
        return resolve_name(self.code)


HEATMAP = MapDrawing(
    "augenmerk.viz_app.heatmap.heatmap:Heatmap",
    order=0,
    name="heatmap",
    tip="Heatmap: a cell for each pair of tokens",
    exported_as="as a heatmap",
    row="Each {row}",
    hint="""Click a cell to pin it, words on an axis to sum them (Ctrl, Shift: several)
Click a cell to pin it, words on an axis to sum them
Click a cell or a word
Click a cell""",
    headings=("{queries}:", "{keys}:", "Cells:"),
)
DRAWINGS: Registry[MapDrawing] = Registry(
    "augenmerk.drawings", MapDrawing, "drawing of maps", {"heatmap": HEATMAP}
)
"""Every way to draw the large map, by its name in files."""
