"""How the Translate page divides its space: all heads, one head, and the analysis tabs beside them."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QWidget

from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.theme import GAP, scaled
from augenmerk.viz_app.views.commands import TOGGLE_ANALYSIS
from augenmerk.viz_app.widgets.layouts import row_of
from augenmerk.viz_app.widgets.parts import flat_button, set_visible

NARROW = 1240
"""Pixels below which thumbnails, large map and tabs do not fit side by side."""
STACKED = 880
"""Pixels below which nothing stands side by side: the large map is at the top, all heads or the tabs below it."""
HEIGHTS_STACKED = 340, 240, 420
"""The least of the large map, all heads, and the tabs."""
THUMBNAILS_TIP = TOGGLE_ANALYSIS.tip_with_keys(
    "All heads as thumbnails. A narrow window shows either them or the analysis tabs"
)


class Arrangement(QSplitter):
    """The maps at the left, the analysis tabs at the right; both can be made wider with the mouse.

    Attributes:
        maps: all heads, and one head large.
        analysis: the tabs.
        analysis_button: opens and closes them.
        thumbnails_button: brings all heads back, where the tabs have taken their place.
        buttons: both, of which one is shown: where the tabs took the heads' place, closing them is bringing these back.
    """

    def __init__(
        self,
        heads: QWidget,
        head: QWidget,
        analysis: QWidget,
        preferences: Preferences,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._preferences = preferences
        self._heads, self._head = heads, head
        self._sizes_beside: tuple[list[int], list[int]] = ([], [])
        self.analysis = analysis
        self.analysis_button = flat_button("", TOGGLE_ANALYSIS.tip_with_keys("Analysis tabs next to the maps"))
        self.thumbnails_button = flat_button("Thumbnails ▸", THUMBNAILS_TIP)
        self.thumbnails_button.setVisible(False)
        self.buttons = QWidget()
        row_of(self.thumbnails_button, self.analysis_button, spacing=2, within=self.buttons)
        self.maps = QSplitter(Qt.Orientation.Horizontal)
        self.maps.addWidget(heads)
        self.maps.addWidget(head)
        self.maps.setHandleWidth(GAP)
        self.maps.setChildrenCollapsible(False)
        self.maps.setSizes([560, 840])
        self.maps.setStretchFactor(0, 2)
        self.maps.setStretchFactor(1, 3)
        self.maps.restoreState(preferences.bytes("translate_splitter"))
        for index, widget in enumerate((self.maps, analysis)):
            self.addWidget(widget)
            self.setStretchFactor(index, 1 - index)
            self.setCollapsible(index, False)
        self.setHandleWidth(GAP)
        self.setSizes([1000, analysis.sizeHint().width()])
        self.restoreState(preferences.bytes("lab_splitter"))
        self.show_analysis(preferences.is_analysis_open)
        self.analysis_button.clicked.connect(self.toggle_analysis)
        self.thumbnails_button.clicked.connect(lambda: self.show_analysis(False))

    def show_analysis(self, is_shown: bool) -> None:
        """Opens or closes the analysis tabs, and remembers it."""
        self._preferences.is_analysis_open = is_shown
        self.analysis.setVisible(is_shown)
        self.analysis_button.setText("Analysis ▾" if is_shown else "Analysis ▸")
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrow page has no room for thumbnails beside the tabs, a very narrow one for anything beside the map."""
        super().resizeEvent(event)
        self._stack(self.width() < scaled(STACKED))
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        """In sight again."""
        super().showEvent(event)
        self._keep_heights()

    def hideEvent(self, event: QHideEvent) -> None:
        """What is out of sight makes no page higher."""
        super().hideEvent(event)
        self._keep_heights()

    def _keep_heights(self) -> None:
        for part, height in zip((self._head, self._heads, self.analysis), HEIGHTS_STACKED, strict=True):
            part.setMinimumHeight(scaled(height) if self.is_stacked and self.isVisible() else 0)

    @property
    def is_stacked(self) -> bool:
        """Whether everything stands one below the other."""
        return self.orientation() == Qt.Orientation.Vertical

    def _stack(self, is_stacked: bool) -> None:
        if is_stacked == self.is_stacked:
            self._keep_heights()  # perhaps at another scale
            return
        if is_stacked:
            self._sizes_beside = self.maps.sizes(), self.sizes()
        orientation = Qt.Orientation.Vertical if is_stacked else Qt.Orientation.Horizontal
        self.maps.insertWidget(0, self._head if is_stacked else self._heads)
        for splitter in (self, self.maps):
            splitter.setOrientation(orientation)
        self._keep_heights()
        if is_stacked:
            self.maps.setSizes(list(HEIGHTS_STACKED[:2]))
            self.setSizes([HEIGHTS_STACKED[0], HEIGHTS_STACKED[2]])
        else:
            self.maps.setSizes(self._sizes_beside[0])
            self.setSizes(self._sizes_beside[1])

    def _fit(self) -> None:
        """In a narrow page the tabs take the place of the thumbnails: the large map and the texts keep their room."""
        has_room = self.analysis.isHidden() or self.width() >= scaled(NARROW)
        set_visible(self._heads, has_room, focus_to=self._head)
        shown, hidden = self.analysis_button, self.thumbnails_button
        if not has_room:
            shown, hidden = hidden, shown
        shown.setVisible(True)
        set_visible(hidden, False, focus_to=shown)

    def toggle_analysis(self) -> None:
        """Opens the analysis tabs if they are closed, and the other way round."""
        self.show_analysis(self.analysis.isHidden())

    def save(self) -> None:
        """Remembers the sizes; not those of a window so narrow that everything is stacked."""
        if self.is_stacked:
            return
        self._preferences.set_bytes("translate_splitter", self.maps.saveState())
        if not self.analysis.isHidden():
            self._preferences.set_bytes("lab_splitter", self.saveState())
