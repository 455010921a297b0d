"""The changes of a translation, for an audience."""

from PySide6.QtWidgets import QLabel, QWidget

from ...state.experiment_state import ExperimentState
from ...views.chips import CHIP_SPACING, change_texts
from ...widgets.labels import label
from ...widgets.layouts import FlowLayout, replace_widgets


class ChangeLabels(QWidget):
    """The changes of the translation shown as the chips name them, for an audience: nothing removes
    them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._labels = list[QLabel]()
        self._flow = FlowLayout(CHIP_SPACING, self)

    @property
    def texts(self) -> list[str]:
        """The changes."""
        return [label.text() for label in self._labels]

    def show_changes(self, state: ExperimentState) -> None:
        """Shows those of the translation of this state."""
        shown = state.translation
        texts = change_texts(state, shown.experiment) if shown is not None else []
        if texts == self.texts:
            return
        old = self._labels
        self._labels = [label("chip", text) for text in texts]
        replace_widgets(self._flow, old, self._labels)
        self.updateGeometry()
