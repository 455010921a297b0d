"""How the Translate page shares its room out: all heads, one head, and the laboratory beside them."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget

from viz_app.analysis.area import USUAL_WIDTH, Laboratory
from viz_app.preferences import Preferences
from viz_app.theme import GAP
from viz_app.widgets.parts import flat_button


class Arrangement(QSplitter):
    """The maps at the left, the laboratory at the right; both can be made wider with the mouse.

    Attributes:
        maps: all heads, and one head large.
        lab: the laboratory.
        lab_button: opens and closes it.
    """

    def __init__(
        self, heads: QWidget, head: QWidget, lab: Laboratory, preferences: Preferences, parent: QWidget | None = None
    ) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._preferences = preferences
        self.lab = lab
        self.lab_button = flat_button("", "Go through decoding, align, compare, see what hangs on what (Ctrl+3)")
        self.maps = QSplitter(Qt.Orientation.Horizontal)
        self.maps.addWidget(heads)
        self.maps.addWidget(head)
        self.maps.setHandleWidth(GAP)
        self.maps.setChildrenCollapsible(False)
        self.maps.setSizes([560, 840])
        self.maps.setStretchFactor(0, 2)
        self.maps.setStretchFactor(1, 3)
        self.maps.restoreState(preferences.bytes("translate_splitter"))
        for index, widget in enumerate((self.maps, lab)):
            self.addWidget(widget)
            self.setStretchFactor(index, 1 - index)
            self.setCollapsible(index, False)
        self.setHandleWidth(GAP)
        self.setSizes([1000, USUAL_WIDTH])
        self.restoreState(preferences.bytes("lab_splitter"))
        self.show_lab(preferences.is_lab_open)
        self.lab_button.clicked.connect(self.toggle_lab)
        lab.closed.connect(lambda: self.show_lab(False))

    def show_lab(self, is_shown: bool) -> None:
        """Opens or closes the laboratory, and remembers it."""
        self._preferences.is_lab_open = is_shown
        self.lab.setVisible(is_shown)
        self.lab_button.setText("Laboratory ▾" if is_shown else "Laboratory ▸")

    def toggle_lab(self) -> None:
        """Opens the laboratory if it is closed, and the other way round."""
        self.show_lab(self.lab.isHidden())

    def save(self) -> None:
        """Remembers who has how much room."""
        self._preferences.set_bytes("translate_splitter", self.maps.saveState())
        if not self.lab.isHidden():
            self._preferences.set_bytes("lab_splitter", self.saveState())
