"""The introduction in place of the charts before the first run: what a training does, step by step."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from augenmerk.viz_app.theme import PANEL_MARGIN, scales, set_role
from augenmerk.viz_app.train.run.choices import RunChoices
from augenmerk.viz_app.widgets.layouts import column_of

WIDTH_PX = 600  # lines of about 80 characters


class Intro(QFrame):
    """A panel that lists in numbered steps what Start does with the current settings."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "panel")
        self._steps = QGridLayout()
        self._labels: dict[tuple[int, int], QLabel] = {}
        self._steps.setHorizontalSpacing(14)
        self._steps.setVerticalSpacing(2)
        self._steps.setColumnStretch(1, 1)
        title = QLabel("Train a Transformer, and watch it learn")
        set_role(title, "title")
        title.setWordWrap(True)
        words = QWidget()
        scales(words.setMaximumWidth, WIDTH_PX)
        words.setLayout(column_of(title, self._steps, spacing=22))
        outer = QGridLayout(self)
        scales(outer.setContentsMargins, PANEL_MARGIN, PANEL_MARGIN, PANEL_MARGIN, PANEL_MARGIN)
        outer.setRowStretch(0, 2)
        outer.addWidget(words, 1, 1)
        outer.setRowStretch(2, 3)
        outer.setColumnStretch(0, 1)
        outer.setColumnStretch(1, 1000)  # up to its width; the rest is split between both sides
        outer.setColumnStretch(2, 1)

    def show_choices(self, choices: RunChoices) -> None:
        """Shows the steps for these settings."""
        for number, (name, text) in enumerate(steps_of(choices)):
            self._label(2 * number, 0, "step").setText(str(number + 1))
            self._label(2 * number, 1, "heading").setText(name)
            self._label(2 * number + 1, 1, "muted").setText(text)

    def _label(self, row: int, column: int, role: str) -> QLabel:
        """The label in this cell, created if missing."""
        label = self._labels.get((row, column))
        if label is None:
            label = self._labels[row, column] = QLabel()
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(role != "step")
            if role == "muted":
                scales(label.setContentsMargins, 0, 0, 0, 12)
            set_role(label, role)
            self._steps.addWidget(label, row, column)
        return label


def steps_of(choices: RunChoices) -> list[tuple[str, str]]:
    """What Start does, as (name, description)."""
    if choices.is_copy_task:
        read = "Generate the data", "Random sequences of symbols, to be copied unchanged. Nothing is downloaded."
        number = "Number the symbols", "Each symbol is its own word."
    else:
        if choices.data_kind == "multi30k":
            text = "29,000 image captions in German and English, downloaded once and verified by checksum."
            read = "Read Multi30k", text
        else:
            read = (
                "Read your sentence pairs",
                "Source and target, line by line. Both files need the same number of lines.",
            )
        number = "Tokenize once", "Text becomes token ids. The vocabularies are built from the training split only."
    num_epochs = choices.value("training.num_epochs")
    epochs = "One epoch" if num_epochs == 1 else f"{num_epochs:,} epochs"
    look = (
        "The validation loss is measured; the best and the last checkpoint are saved. "
        "Try the best one on the Translate page while training continues."
    )
    return [
        read,
        number,
        ("Train", f"{epochs}, in the background. Loss and learning rate are plotted here."),
        ("Validate after each epoch", look),
        ("Stop at any time", "The model is saved, and Resume continues from there."),
    ]
