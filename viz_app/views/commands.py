"""The commands about the experiment in sight: its sentence, its heads, its maps."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from PySide6.QtGui import QKeySequence

from augenmerk.core.model.heads import Head, HeadGroup, Network

from ..state.experiment_editor import reset, toggle
from ..state.experiment_state import ExperimentState
from ..state.head_roles import Direction
from ..state.map_view_settings import SHOWN_MAPS
from ..widgets.commands import Command

SENTENCE, MAPS = "Sentence", "Maps, also in the presentation"
"""Headings of the sheet of keys."""


def show_next_maps(state: ExperimentState) -> bool:
    """Shows the next of original, changed and difference, in a cycle; False without changes."""
    if not _is_changed(state):
        return False
    shown = SHOWN_MAPS.index(state.settings.shown)
    state.settings.shown = SHOWN_MAPS[(shown + 1) % len(SHOWN_MAPS)]
    return True


def _switch_head(state: ExperimentState) -> bool:
    if state.is_translated:
        state.submit(toggle(state.selection.head))
    return state.is_translated


def _switch_group(state: ExperimentState, group_of: Callable[[Head], HeadGroup]) -> None:
    group = group_of(state.selection.head)
    state.submit(toggle(*(head for head in state.maps.all_heads if head in group)))


def _switch_network(state: ExperimentState) -> None:
    head = state.selection.head
    state.submit(toggle(Network(head.side, head.layer)))


def _walk(state: ExperimentState, direction: Direction) -> bool:
    """Chooses the neighbouring head; False if no heads are shown."""
    if (head := state.roles.neighbour(direction)) is not None:
        state.intents.choose_head(head)
    return state.result is not None


def _is_translated(state: ExperimentState) -> bool:
    return state.is_translated


def _is_changed(state: ExperimentState) -> bool:
    return state.withheld is None and state.result is not None and state.result.is_changed


def _walking(
    direction: Direction, title: str, line: str, keys: tuple[str, ...], *local_keys: str
) -> Command[ExperimentState]:
    act = partial(_walk, direction=direction)
    return Command(title, act, keys=keys, local_keys=local_keys, group=MAPS, line=line)


class EditedSentence(Protocol):
    """A sentence whose changes can be undone."""

    def undo(self) -> object:
        """Undoes the last change."""

    def redo(self) -> object:
        """Redoes it."""


class Pages(Protocol):
    """The pages of the window, such as `PageHost`."""

    @property
    def sentence(self) -> EditedSentence | None:
        """That of the page that is shown."""

    def toggle_analysis(self) -> None:
        """Opens or closes the analysis panel."""


class LargeHead(Protocol):
    """The panel that shows one head."""

    def scale_head(self) -> None:
        """Opens the editor of the head."""


UNDO = Command[Pages](
    "Undo",
    lambda pages: pages.sentence.undo() if pages.sentence is not None else None,
    keys=(QKeySequence.StandardKey.Undo,),
    group=SENTENCE,
)
REDO = Command[Pages](
    "Redo",
    lambda pages: pages.sentence.redo() if pages.sentence is not None else None,
    keys=("Ctrl+Shift+Z", "Ctrl+Y"),
    unlisted_keys=(QKeySequence.StandardKey.Redo,),
    group=SENTENCE,
)
RESET = Command[ExperimentState](
    "Reset all changes",
    lambda state: state.submit(reset),
    group=SENTENCE,
    is_offered=lambda state: bool(state.experiment.interventions),
)
TOGGLE_ANALYSIS = Command[Pages](
    "Open or close the analysis panel",
    lambda pages: pages.toggle_analysis(),
    keys=("Ctrl+4",),
    group="Pages",
)
SWITCH_HEAD = Command[ExperimentState](
    "Switch the chosen head off or on",
    _switch_head,
    local_keys=("O", "Space"),
    group=MAPS,
    is_offered=_is_translated,
)
NEXT_MAPS = Command[ExperimentState](
    "Next of original, changed, difference",
    show_next_maps,
    keys=("D",),
    local_keys=("D",),
    group=MAPS,
    is_offered=_is_changed,
)
HEAD_COMMANDS = (
    _walking("left", "Next head: left", "Other heads", ("Alt+Left",), "Left", "Shift+Left"),
    _walking("right", "Next head: right", "Other heads", ("Alt+Right",), "Right", "Shift+Right"),
    _walking("up", "Next head: up", "Other layers", ("Alt+Up",), "Up"),
    _walking("down", "Next head: down", "Other layers", ("Alt+Down",), "Down"),
    _walking("first", "First head of the layer", "First and last head of the layer", (), "Home"),
    _walking("last", "Last head of the layer", "First and last head of the layer", (), "End"),
    SWITCH_HEAD,
)
_GROUPS: dict[str, Callable[[Head], HeadGroup]] = {
    "Switch all heads of the chosen layer off or on": lambda head: HeadGroup(head.kind, head.layer),
    "Switch the chosen head off or on in all layers": lambda head: HeadGroup(
        head.kind, None, head.head
    ),
    "Switch all heads of the chosen kind off or on": lambda head: HeadGroup(head.kind),
}
PART_COMMANDS = (
    *(
        Command[ExperimentState](
            title, partial(_switch_group, group_of=group_of), is_offered=_is_translated
        )
        for title, group_of in _GROUPS.items()
    ),
    Command[ExperimentState](
        "Switch the feed-forward network of the chosen layer off or on",
        _switch_network,
        is_offered=_is_translated,
    ),
)
"""Commands on more than one head, and on networks."""
HEAD_PANEL_COMMANDS = (
    Command[LargeHead](
        "Scale the chosen head or change its temperature…", lambda panel: panel.scale_head()
    ),
)
