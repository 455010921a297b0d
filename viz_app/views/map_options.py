"""The options below the large map: one table that makes the boxes, their menu and their tips."""

from dataclasses import dataclass
from functools import partial
from itertools import groupby

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QMenu, QRadioButton, QWidget

from ..state import map_text
from ..state.experiment_state import ExperimentState
from ..state.map_view_settings import on_redraw
from ..widgets.buttons import MenuButton
from ..widgets.labels import label
from ..widgets.layouts import row_of, wrapping_row


@dataclass(frozen=True)
class MapOption:
    """A box that switches a setting on and off, or one of the buttons that choose its value.

    Attributes:
        setting: a field of `MapViewSettings`.
        text: next to the box.
        tip: what it does.
        group: the name of its group of boxes; neighbouring rows with one name are one group.
        in_menu: its text in the menu, which has no names of groups; empty if `text` is clear
            without one.
        value: the value of the setting that a button chooses; empty for a box.
    """

    setting: str
    text: str
    tip: str
    group: str
    in_menu: str = ""
    value: str = ""

    @property
    def name(self) -> str:
        """A name for code: the value that it chooses, or the setting that it switches."""
        return self.value or self.setting


MAP_OPTIONS = (
    MapOption(
        "label_mode",
        "token predicted",
        "Names the word that comes out: where did the model look while it chose this word?",
        group="name",
        in_menu="Name the token predicted",
        value="predicted",
    ),
    MapOption(
        "label_mode",
        "token read",
        "Names the word that goes in: where does the model look to choose the word after it?",
        group="name",
        in_menu="Name the token read",
        value="read",
    ),
    MapOption(
        "hides_wrapping",
        "start and end",
        "Hide the start and end tokens; the remaining weights are scaled up to the same sum",
        group="hide",
        in_menu="Hide start and end",
    ),
    MapOption(
        "hides_punctuation",
        "punctuation",
        "Hide punctuation; the remaining weights are scaled up to the same sum",
        group="hide",
        in_menu="Hide punctuation",
    ),
    MapOption("merges_words", "merge subwords", map_text.MERGING_TIP, group="map"),
    MapOption(
        "transposes",
        "transpose",
        "Draw the tokens looked at from top to bottom, and those that look from left to right",
        group="map",
    ),
)
ENCODER_TIP = "The encoder predicts nothing: its queries are the tokens it reads."
NOTHING_SPLIT_TIP = "No word of this sentence or its translation is split into subwords."


class MapOptionControls(QWidget):
    """A box or button for each of `MAP_OPTIONS`, in one or two lines, or as a menu.

    Attributes:
        boxes: the controls by `MapOption.name`.
        menu_button: opens a menu of the same choices; `actions_by_name` are its entries.
    """

    def __init__(self, state: ExperimentState) -> None:
        super().__init__()
        self._state = state
        self.boxes: dict[str, QAbstractButton] = {}
        self.actions_by_name: dict[str, QAction] = {}
        self.menu_button = MenuButton(
            "Tokens ▾", "Which token a query is named by, and which tokens are hidden"
        )
        menu = QMenu(self.menu_button)
        groups = list[QWidget]()
        menu.setToolTipsVisible(True)
        self.menu_button.setMenu(menu)
        for group, options in groupby(MAP_OPTIONS, lambda option: option.group):
            menu.addSeparator()
            groups.append(self._make_group(group, list(options), menu))
        wrapping_row(groups, spacing=12, within=self)
        self.rebuild()
        state.result_changed.connect(self.rebuild)
        state.selection.events.head.connect(self.rebuild, max_args=0)
        on_redraw(state.settings, ("maps",), self.rebuild)

    def _make_group(self, name: str, options: list[MapOption], menu: QMenu) -> QWidget:
        widget = QWidget()
        one_value = QActionGroup(menu)
        for option in options:
            box = self.boxes[option.name] = (
                QRadioButton(option.text) if option.value else QCheckBox(option.text)
            )
            action = self.actions_by_name[option.name] = menu.addAction(
                option.in_menu or option.text.capitalize()
            )
            action.setCheckable(True)
            if option.value:
                one_value.addAction(action)
            box.toggled.connect(action.setChecked)
            action.toggled.connect(partial(self._choose, option))
        row_of(
            label("muted", f"{name}:"),
            *(self.boxes[option.name] for option in options),
            spacing=10,
            within=widget,
        )
        return widget

    def rebuild(self) -> None:
        """Updates the controls to the result and the settings."""
        settings = self._state.settings
        is_encoder = self._state.selection.head.kind == "encoder"
        for option in MAP_OPTIONS:
            is_needless = is_encoder and option.setting == "label_mode"
            tip = ENCODER_TIP if is_needless else option.tip
            if option.setting == "merges_words" and not map_text.splits_words(self._state):
                is_needless, tip = True, NOTHING_SPLIT_TIP
            for control in (self.actions_by_name[option.name], self.boxes[option.name]):
                control.setChecked(getattr(settings, option.setting) == (option.value or True))
                control.setEnabled(not is_needless)
                if tip != control.toolTip():
                    control.setToolTip(tip)

    def _choose(self, option: MapOption, is_chosen: bool) -> None:
        """Changes the setting; of two radio buttons that do, only the one that is chosen."""
        if is_chosen or not option.value:
            setattr(self._state.settings, option.setting, option.value or is_chosen)
