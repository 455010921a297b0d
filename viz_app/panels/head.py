"""One head, large."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QFrame, QHBoxLayout, QRadioButton, QVBoxLayout, QWidget

from viz_app.panels.parts import flat_button, label
from viz_app.state.translate_state import TranslateState
from viz_app.theme import PANEL_MARGIN, Theme
from viz_app.widgets.heatmap import Heatmap


class HeadPanel(QFrame):
    """The chosen head, large, with what its rows mean.

    Attributes:
        heatmap: the map.
        switch_button: switches the head off, or on again.
        title, meaning: which head it is, and what a row of it means.
        read_button, predicted_button, hide_wrapping: how rows are named, and which are left out.

    Signals:
        label_mode_chosen(str): "read" or "predicted".
        hide_wrapping_chosen(bool)
        switch_wanted(): the chosen head is to be switched off, or on again.
    """

    label_mode_chosen = Signal(str)
    hide_wrapping_chosen = Signal(bool)
    switch_wanted = Signal()

    def __init__(self, state: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._state = state
        self.heatmap = Heatmap(state, theme)
        self.title = label("heading")
        self.meaning = label("muted", wraps=True)
        self.switch_button = flat_button("switch off", "See what the translation becomes without this head (key O)")
        self.switch_button.clicked.connect(self.switch_wanted)
        self.read_button = QRadioButton("token read")
        self.predicted_button = QRadioButton("token predicted")
        self.hide_wrapping = QCheckBox("hide start and end tokens")
        self._group = QButtonGroup(self)
        self._group.addButton(self.read_button)
        self._group.addButton(self.predicted_button)
        (self.read_button if state.label_mode == "read" else self.predicted_button).setChecked(True)
        self.hide_wrapping.setChecked(state.hides_wrapping)
        self._rows_label = label("muted")
        self._rows_label.setText("rows:")
        self._hidden_share = label("small")
        self.read_button.toggled.connect(
            lambda is_read: self.label_mode_chosen.emit("read" if is_read else "predicted")
        )
        self.hide_wrapping.toggled.connect(self.hide_wrapping_chosen)
        self._lay_out()

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self.heatmap.apply_theme(theme)

    def rebuild(self) -> None:
        """Another translation, head, label mode or scale."""
        state = self._state
        self.show_switch()
        self.meaning.setText(state.meaning_of_rows())
        is_encoder = state.choice.kind == "encoder"
        for button in (self.read_button, self.predicted_button):
            button.setEnabled(not is_encoder)
            button.setToolTip("The encoder predicts nothing: its rows are the tokens it reads." if is_encoder else "")
        self.heatmap.rebuild()
        view = state.view()
        is_hiding = view is not None and state.hides_wrapping
        share = view.hidden_share if view is not None else 0.0
        self._hidden_share.setText(f"{100 * share:.0f} % of the attention goes there" if is_hiding else "")

    def show_switch(self) -> None:
        """The head was switched off or on."""
        is_off = self._state.is_off(self._state.choice)
        self.title.setText(self._state.choice.title + (" · switched off" if is_off else ""))
        self.switch_button.setText("switch on" if is_off else "switch off")

    def _lay_out(self) -> None:
        controls = QHBoxLayout()
        controls.setSpacing(12)
        for widget in (self._rows_label, self.read_button, self.predicted_button):
            controls.addWidget(widget)
        controls.addSpacing(16)
        controls.addWidget(self.hide_wrapping)
        controls.addWidget(self._hidden_share, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(PANEL_MARGIN, 10, PANEL_MARGIN, 10)
        column.setSpacing(4)
        header = QHBoxLayout()
        header.addWidget(self.title)
        header.addStretch(1)
        header.addWidget(self.switch_button)
        column.addLayout(header)
        column.addWidget(self.meaning)
        column.addSpacing(6)
        column.addWidget(self.heatmap, 1)
        column.addLayout(controls)
