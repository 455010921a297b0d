"""Where every head's thumbnail stands in the grid."""

from dataclasses import dataclass

from PySide6.QtCore import QRect, QSize

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import MAP_KINDS, MapKind
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.theme import Theme

MIN_THUMBNAIL = 25  # below this height the grid scrolls, with thumbnails of a comfortable size
SCROLLING_THUMBNAIL = 46
MAX_THUMBNAIL = 96
MAX_ASPECT = 1.4
MAX_TALL_ASPECT = 1.8  # in a narrow panel thumbnails grow in height, to use what is there
SPACING = 5
HEADER_HEIGHT = 20
NUMBERS_HEIGHT = 18
SECTION_SPACING = 7


@dataclass(frozen=True)
class GridLayout:
    """Places in the grid, in pixels.

    Attributes:
        places: of every thumbnail, in reading order; none of folded kinds.
        headers: of each kind's title.
        lines: a place and a name at the left of each line of thumbnails.
        left: where thumbnails begin.
        size: of a thumbnail.
        height: of all of it.
        framed: every thumbnail with its hairline.
    """

    places: dict[Head, QRect]
    headers: dict[MapKind, QRect]
    lines: tuple[tuple[QRect, str], ...]
    left: int
    size: QSize
    height: int
    framed: tuple[QRect, ...]


def lay_out_grid(state: ExperimentState, available: QSize, width: int, theme: Theme) -> GridLayout:
    """Kind under kind; in each a line for each layer, or lines in the order that was chosen; of a folded one its title.

    Args:
        state: whose heads.
        available: room, a scroll bar left out.
        width: of the widget.
        theme: for the size of its letters.
    """
    left = theme.base_px * 5 + 4
    size = _thumbnail_size(state, available, left, theme)
    places: dict[Head, QRect] = {}
    headers: dict[MapKind, QRect] = {}
    lines: list[tuple[QRect, str]] = []
    y = theme.scaled(NUMBERS_HEIGHT)
    for kind in MAP_KINDS:
        headers[kind] = QRect(0, y, width, theme.scaled(HEADER_HEIGHT))
        y += theme.scaled(HEADER_HEIGHT)
        for line in state.roles.lines_of_heads(kind) if kind not in state.settings.folded_kinds else ():
            lines.append((QRect(0, y, left - 10, size.height()), _name(state, line)))
            for column, head in enumerate(line):
                place = QRect(left + column * (size.width() + theme.scaled(SPACING)), y, size.width(), size.height())
                places[head] = place
            y += size.height() + theme.scaled(SPACING)
        y += theme.scaled(SECTION_SPACING)
    has_maps = any(state.maps.shape(kind)[0] for kind in MAP_KINDS)
    framed = tuple(place.adjusted(-1, -1, 0, 0) for place in places.values())
    return GridLayout(places, headers, tuple(lines), left, size, y if has_maps else 0, framed)


def _name(state: ExperimentState, line: tuple[Head, ...]) -> str:
    """A layer, or the role with which a line begins; nothing where heads are ordered by how clearly they point."""
    order = state.settings.order
    if order == "layer":
        return f"layer {line[0].layer + 1}"
    if order == "clarity":
        return ""
    roles = [state.roles.of(head) for head in line]
    return roles[0] + (" …" if len(set(roles)) > 1 else "")


def _thumbnail_size(state: ExperimentState, available: QSize, left: int, theme: Theme) -> QSize:
    """As large as width and height allow, a little wider than high, or higher than wide, if need be."""
    shown = [kind for kind in MAP_KINDS if kind not in state.settings.folded_kinds]
    num_heads = max(1, *(state.maps.shape(kind)[1] for kind in MAP_KINDS))
    num_layers = max(1, sum(state.maps.shape(kind)[0] for kind in shown))
    spacing = theme.scaled(SPACING)
    fixed = theme.scaled(NUMBERS_HEIGHT) + len(MAP_KINDS) * theme.scaled(HEADER_HEIGHT + SECTION_SPACING)
    by_width = (available.width() - left - 4) // num_heads - spacing
    by_height = (available.height() - fixed) // num_layers - spacing
    by_height = by_height if by_height >= theme.scaled(MIN_THUMBNAIL) else theme.scaled(SCROLLING_THUMBNAIL)
    height = max(min(int(by_width * MAX_TALL_ASPECT), by_height, theme.scaled(MAX_THUMBNAIL)), 10)
    return QSize(max(min(by_width, int(height * MAX_ASPECT)), 10), height)
