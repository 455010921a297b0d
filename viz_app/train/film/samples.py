"""Translations of a few validation sentences beside their references, at each validation."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from augenmerk.core.training.events import SampleTranslated
from augenmerk.viz_app.theme import PANEL_MARGIN, scales, set_role
from augenmerk.viz_app.train.film.tabs import PanelTabs
from augenmerk.viz_app.train.state import TrainState
from augenmerk.viz_app.widgets.buttons import flat_button
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.layouts import Space, VerticalScrollArea, column_of, row_of

WAITING = "At each validation a sample of the validation sentences is translated: its BLEU and five translations."
EMPTY = "This run has no saved translations."


class SamplesPanel(QFrame):
    """A table: source, reference, and translation at the shown step.

    The buttons go one validation forward or back.
    """

    def __init__(self, state: TrainState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "panel")
        self._state = state
        self._drawn: SampleTranslated | None = None
        self.tabs = PanelTabs("samples")
        self.score = label("muted")
        self.back_button = flat_button("◀", "Previous validation")
        self.forward_button = flat_button("▶", "Next validation")
        self.waiting = label("muted", wraps=True)
        self._grid = QGridLayout()
        self._cells: list[list[QLabel]] = []
        self._lay_out()
        self.back_button.clicked.connect(lambda: state.playback.walk(-1))
        self.forward_button.clicked.connect(lambda: state.playback.walk(1))
        state.playback.changed.connect(self._show_playback)
        state.run_changed.connect(self._show_playback, max_args=0)
        self._show_playback()

    def _show_playback(self) -> None:
        """Shows the sample of the shown step."""
        playback, is_live = self._state.playback, self._state.run.status.is_running
        sample, steps, shown = playback.sample, playback.steps, playback.shown_step
        for control in (self.back_button, self.forward_button):
            control.setVisible(len(steps) > 1)
        self.back_button.setEnabled(bool(steps) and shown != steps[0])
        self.forward_button.setEnabled(bool(steps) and shown != steps[-1])
        self._table.setVisible(sample is not None)
        self.waiting.setVisible(sample is None)
        if sample is None:
            is_before = bool(playback.samples)
            self.waiting.setText("Not translated before the first validation." if is_before else WAITING)
            if not is_live and not playback.samples:
                self.waiting.setText(EMPTY)
            self.score.setText("")
        elif sample is not self._drawn:
            self._show_sample(sample)
        self._drawn = sample

    def texts(self) -> list[tuple[str, ...]]:
        """The rows as shown: source, reference, hypothesis."""
        return [tuple(cell.text() for cell in row) for row in self._cells if not row[0].isHidden()]

    def _show_sample(self, sample: SampleTranslated) -> None:
        self.score.setText(f"epoch {sample.epoch} · BLEU {sample.bleu:.1f} on {sample.num_sentences} sentences")
        self.score.setToolTip("BLEU-4, tokenized and lower-cased, of greedy translations; always the same sentences.")
        while len(self._cells) < len(sample.examples):
            self._add_row()
        for row, cells in enumerate(self._cells):
            is_used = row < len(sample.examples)
            for cell in cells:
                cell.setVisible(is_used)
            if is_used:
                example = sample.examples[row]
                for cell, text in zip(cells, (example.source, example.reference, example.hypothesis), strict=True):
                    cell.setText(text or "–")

    def _add_row(self) -> None:
        row = len(self._cells) + 1
        cells = [label(role, wraps=True) for role in ("muted", "muted", "")]
        for column, cell in enumerate(cells):
            cell.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._grid.addWidget(cell, row, column, Qt.AlignmentFlag.AlignTop)
        self._cells.append(cells)

    def _lay_out(self) -> None:
        head = row_of(self.tabs, Space(8), self.score, 1, self.back_button, self.forward_button, spacing=4)
        for number, name in enumerate(("source", "reference", "translation")):
            self._grid.addWidget(label("small", name), 0, number)
            self._grid.setColumnStretch(number, 1)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(8)
        scales(self._grid.setContentsMargins, 0, 0, 8, 0)
        content = QWidget()
        content.setProperty("role", "transparent")
        column_of(self._grid, 1, within=content)
        self._table = VerticalScrollArea(content, takes_keys=True)
        margins = PANEL_MARGIN, 8, PANEL_MARGIN - 6, 8
        column_of(head, self.waiting, (self._table, 1), spacing=6, margins=margins, within=self)
