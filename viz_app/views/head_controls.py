"""The controls under the large map: what its rows are called, what is left out, how large it is."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QCheckBox,
    QHBoxLayout,
    QMenu,
    QRadioButton,
    QSlider,
    QWidget,
)

from viz_app.state import map_text
from viz_app.state.evented_options import on_redraw
from viz_app.state.experiment_state import ExperimentState
from viz_app.state.zoom import FIT
from viz_app.widgets.menu_button import MenuButton
from viz_app.widgets.parts import flat_button, label

MAX_THRESHOLD_PERCENT = 60
HIDE_WRAPPING_TIP = "Leave out the start and end tokens; what stays of a row is scaled up to its sum"
HIDE_PUNCTUATION_TIP = "Leave out punctuation; what stays of a row is scaled up to its sum"
MERGE_TIP = "Words instead of pieces: columns are summed, rows averaged"
ENCODER_TIP = "The encoder predicts nothing: its rows are the tokens it reads."
PREDICTED_TIP = "A row is named by the word that comes out: where did the model look while it chose this word?"
READ_TIP = "A row is named by the word that goes in: where does the model look once it has read it, to choose the next?"


class HeadControls(QWidget):
    """One line, or two where there is no room.

    Attributes:
        read_button, predicted_button, hide_wrapping, hide_punctuation, merge_words: how rows and columns are named,
            and which are left out.
    """

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.read_button = QRadioButton("token read")
        self.predicted_button = QRadioButton("token predicted")
        self.hide_wrapping = QCheckBox("start and end")
        self.hide_wrapping.setToolTip(HIDE_WRAPPING_TIP)
        self.hide_punctuation = QCheckBox("punctuation")
        self.hide_punctuation.setToolTip(HIDE_PUNCTUATION_TIP)
        self.merge_words = QCheckBox("merge subwords")
        self.merge_words.setToolTip(MERGE_TIP)
        self._group = QButtonGroup(self)
        self._group.addButton(self.read_button)
        self._group.addButton(self.predicted_button)
        self._rows_label, self._hide_label = label("muted"), label("muted")
        self._rows_label.setText("rows:")
        self._hide_label.setText("hide:")
        self.rebuild()
        self.read_button.toggled.connect(self._choose_label_mode)
        self.hide_wrapping.toggled.connect(partial(setattr, state.settings, "hides_wrapping"))
        self.hide_punctuation.toggled.connect(partial(setattr, state.settings, "hides_punctuation"))
        self.merge_words.toggled.connect(partial(setattr, state.settings, "merges_words"))
        self._lay_out()
        state.result_changed.connect(self.rebuild)
        state.selection.events.head.connect(self.rebuild, max_args=0)
        on_redraw(state.settings, ("maps",), self.rebuild)

    def rebuild(self) -> None:
        """Another result, another kind of map, or another choice."""
        settings, is_encoder = self._state.settings, self._state.selection.head.kind == "encoder"
        (self.read_button if settings.label_mode == "read" else self.predicted_button).setChecked(True)
        self.hide_wrapping.setChecked(settings.hides_wrapping)
        self.hide_punctuation.setChecked(settings.hides_punctuation)
        self.merge_words.setChecked(settings.merges_words)
        for button, tip in ((self.read_button, READ_TIP), (self.predicted_button, PREDICTED_TIP)):
            button.setEnabled(not is_encoder)
            button.setToolTip(ENCODER_TIP if is_encoder else tip)
        self.merge_words.setVisible(map_text.splits_words(self._state))

    def fit(self, width: int) -> None:
        """One line if it fits into this width, else two."""
        self._line.invalidate()
        needed = self._rows.sizeHint().width() + self._columns.sizeHint().width() + 18
        fits = needed <= width
        direction = QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom
        if direction != self._line.direction():
            self._line.setDirection(direction)
            self._line.setSpacing(18 if fits else 4)

    def _choose_label_mode(self, is_read: bool) -> None:
        self._state.settings.label_mode = "read" if is_read else "predicted"

    def _lay_out(self) -> None:
        self._rows, self._columns = QHBoxLayout(), QHBoxLayout()
        for group in (self._rows, self._columns):
            group.setSpacing(10)
        for widget in (self._rows_label, self.predicted_button, self.read_button):
            self._rows.addWidget(widget)
        for choice in (self._hide_label, self.hide_wrapping, self.hide_punctuation, self.merge_words):
            self._columns.addWidget(choice)
        self._rows.addStretch(0)
        self._columns.addStretch(1)
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._line.setContentsMargins(0, 0, 0, 0)
        self._line.setSpacing(18)
        self._line.addLayout(self._rows)
        self._line.addLayout(self._columns, 1)


class TokensMenu(MenuButton):
    """The same choices as a menu, for where there is no room for `HeadControls`.

    Attributes:
        actions_by_name: "predicted", "read", and the names of the settings of what is left out and merged.
    """

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__("tokens ▾", "By which token rows are named, which tokens are left out", parent)
        self._state = state
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        self.actions_by_name: dict[str, QAction] = {}
        group = QActionGroup(menu)
        for mode in ("predicted", "read"):
            action = self._add(menu, mode, f"Rows: token {mode}")
            action.setActionGroup(group)
            action.triggered.connect(partial(self._choose_label_mode, mode))
        menu.addSeparator()
        for name, text, tip in (
            ("hides_wrapping", "Hide start and end", HIDE_WRAPPING_TIP),
            ("hides_punctuation", "Hide punctuation", HIDE_PUNCTUATION_TIP),
            ("merges_words", "Merge subwords", MERGE_TIP),
        ):
            action = self._add(menu, name, text)
            action.setToolTip(tip)
            action.toggled.connect(partial(setattr, state.settings, name))
        self.setMenu(menu)
        self.rebuild()
        state.result_changed.connect(self.rebuild)
        state.selection.events.head.connect(self.rebuild, max_args=0)
        on_redraw(state.settings, ("maps",), self.rebuild)

    def rebuild(self) -> None:
        """Another result, another kind of map, or another choice."""
        settings, actions = self._state.settings, self.actions_by_name
        is_encoder = self._state.selection.head.kind == "encoder"
        for mode, tip in (("predicted", PREDICTED_TIP), ("read", READ_TIP)):
            actions[mode].setChecked(settings.label_mode == mode)
            actions[mode].setEnabled(not is_encoder)
            actions[mode].setToolTip(ENCODER_TIP if is_encoder else tip)
        for name in ("hides_wrapping", "hides_punctuation", "merges_words"):
            actions[name].setChecked(getattr(settings, name))
        actions["merges_words"].setVisible(map_text.splits_words(self._state))

    def _add(self, menu: QMenu, name: str, text: str) -> QAction:
        action = menu.addAction(text)
        action.setCheckable(True)
        self.actions_by_name[name] = action
        return action

    def _choose_label_mode(self, mode: str, _: bool = True) -> None:
        self._state.settings.label_mode = "read" if mode == "read" else "predicted"


class SizeControls(QWidget):
    """How large the map's cells are; or, of lines, from which weight on they are drawn.

    Attributes:
        zoom_out, zoom_fit, zoom_in: of the heatmap.
        threshold: of the lines, in percent of the last colour's weight.

    Signals:
        zoomed(int): the map is to be larger by a step, or smaller: by how much depends on how large it is.
    """

    zoomed = Signal(int)

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.zoom_out = flat_button("−", "Smaller cells (Ctrl and the wheel)")
        self.zoom_fit = flat_button("fit", "The whole map, whatever its size")
        self.zoom_in = flat_button("+", "Larger cells (Ctrl and the wheel); the map scrolls")
        self.zoom_out.clicked.connect(lambda: self.zoomed.emit(-1))
        self.zoom_fit.clicked.connect(self._fit)
        self.zoom_in.clicked.connect(lambda: self.zoomed.emit(1))
        self.threshold = QSlider(Qt.Orientation.Horizontal)
        self.threshold.setRange(0, MAX_THRESHOLD_PERCENT)
        self.threshold.setFixedWidth(110)
        self.threshold.setToolTip("Weaker lines are left out")
        self.threshold.setAccessibleName("Weakest line that is drawn")
        self.threshold.valueChanged.connect(self._choose_threshold)
        self._caption = label("small")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        for widget in (self.zoom_out, self.zoom_fit, self.zoom_in, self._caption, self.threshold):
            row.addWidget(widget)
        self.rebuild()
        for changed in (state.settings.events.picture, state.settings.events.line_threshold):
            changed.connect(self.rebuild, max_args=0)

    def rebuild(self) -> None:
        """The picture or the threshold was changed."""
        settings = self._state.settings
        is_lines = settings.picture == "lines"
        for button in (self.zoom_out, self.zoom_fit, self.zoom_in):
            button.setVisible(not is_lines)
        self._caption.setText(f"from {settings.line_threshold:.2f}")
        self.threshold.setValue(round(100 * settings.line_threshold))
        for widget in (self._caption, self.threshold):
            widget.setVisible(is_lines)

    def _fit(self) -> None:
        self._state.settings.zoom = FIT

    def _choose_threshold(self, percent: int) -> None:
        self._state.settings.line_threshold = percent / 100
