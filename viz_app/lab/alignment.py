"""The tab *Alignment*: which word belongs to which."""

from typing import ClassVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSlider, QWidget

from viz_app.lab.state.alignment import AlignmentState
from viz_app.lab.tab import LabTab, scrolled
from viz_app.lab.word_links import WordLinks
from viz_app.panels.parts import label
from viz_app.state.translate_state import TranslateState
from viz_app.theme import Theme

NO_LINKS = "Choose a cross-attention head: its rows are target words, its columns source words."


class AlignmentTab(LabTab):
    """Word links of the chosen head or measure.

    Attributes:
        state: what the tab knows.
        links: the words and the curves between them.
        threshold: how strong a link must be to be drawn.
    """

    name: ClassVar[str] = "Alignment"
    tip: ClassVar[str] = "Word links of the chosen head or measure; find the head that aligns best"
    meaning: ClassVar[str] = (
        "Solid: the source word at which the chosen head, in the chosen measure and label mode, looks most. Dashed: "
        "weaker. A link shows where the model looks; it need not be the word's translation."
    )

    def __init__(self, page: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        self.state = AlignmentState(page)
        super().__init__(page, theme, self.state.awaited, parent)
        self.links = WordLinks(theme)
        self._what = label("heading")
        self._hint = label("muted", wraps=True)
        self._hint.setText(NO_LINKS)
        self.threshold = QSlider(Qt.Orientation.Horizontal)
        self.threshold.setRange(2, 100)
        self.threshold.setValue(round(100 * self.state.threshold))
        self.threshold.setToolTip("Weaker links are not drawn, but for the strongest of each target word")
        self.threshold.valueChanged.connect(self._on_threshold)
        self._threshold_text = label("small")
        row = QHBoxLayout()
        row.addWidget(self._threshold_text)
        row.addWidget(self.threshold, 1)
        self._area = scrolled(self.links)
        self.column.addWidget(self._what)
        self.column.addWidget(self._hint)
        self.column.addWidget(self._area, 1)
        self.column.addLayout(row)

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self.links.apply_theme(theme)
        super().apply_theme(theme)

    def redraw(self) -> None:
        """Shows the state."""
        super().redraw()
        links = self.state.links()
        self._what.setText(self.page.title() if links is not None else "")
        self._what.setVisible(links is not None)
        self._hint.setVisible(links is None)
        self._area.setVisible(links is not None)
        self._threshold_text.setText(f"links from {self.state.threshold:.2f}")
        self.links.show_links(links, self.state.threshold)

    def _on_threshold(self, percent: int) -> None:
        self.state.threshold = percent / 100
        self.redraw()
