"""The commands that point at a part of the picture, for an audience."""

from collections.abc import Mapping

from PySide6.QtWidgets import QMenu

from ...state.experiment_state import ExperimentState
from ...state.map_view import Pointer, PointerStyle, PointerTarget
from ...widgets.buttons import MenuButton
from ...widgets.commands import Command

_TARGETS: Mapping[PointerTarget, str] = {
    "cell": "the pinned cell",
    "row": "the query of the pinned cell",
    "head": "the chosen head",
    "word": "the word of the pinned cell",
}
_STYLES: Mapping[PointerStyle, str] = {
    "ring": "ring around",
    "arrow": "arrow at",
    "dim": "dim all but",
}


def _pointing(pointer: Pointer | None) -> Command[ExperimentState]:
    """The command that sets the pointer."""
    name = "none" if pointer is None else f"{_STYLES[pointer.style]} {_TARGETS[pointer.target]}"

    def is_offered(state: ExperimentState) -> bool:
        if pointer is None:
            return state.selection.pointer is not None
        return state.result is not None and (
            pointer.target == "head" or state.selection.pinned is not None
        )

    return Command[ExperimentState](
        f"Pointer: {name}",
        lambda state: setattr(state.selection, "pointer", pointer),
        group="Files",
        is_offered=is_offered,
    )


POINTER_COMMANDS = (
    *(_pointing(Pointer(target, style)) for style in _STYLES for target in _TARGETS),
    _pointing(None),
)


def pointer_button(state: ExperimentState) -> MenuButton:
    """A button whose menu has the commands; those that need a pinned cell are enabled while there
    is one.
    """
    button = MenuButton("Pointer ▾", "Direct the eye of the audience to a part of the picture")
    menu = QMenu(button)
    button.setMenu(menu)
    for command in POINTER_COMMANDS:
        command.on(state).add_to(menu, command.title.partition(": ")[2])

    def allow() -> None:
        for action, command in zip(menu.actions(), POINTER_COMMANDS, strict=True):
            action.setEnabled(command.is_offered(state))

    menu.aboutToShow.connect(allow)
    return button
