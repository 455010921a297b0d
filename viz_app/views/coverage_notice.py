"""One line below a sentence that the model's training data do not cover, with a button that opens another model."""

from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from augenmerk.core.translation.coverage import Coverage
from augenmerk.viz_app.widgets.eliding_label import ElidingLabel
from augenmerk.viz_app.widgets.layouts import row_of
from augenmerk.viz_app.widgets.menu_button import MenuButton


class CoverageNotice(QWidget):
    """Hidden for a sentence that is like the training data, and for models whose file does not tell.

    Attributes:
        label: the notice.
        button: opens the menu of models; hidden as long as there is none, and no other model is spoken of then.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = ElidingLabel("warm")
        self.label.setProperty("terms", "training data")
        self.button = MenuButton("Open a bigger model…", "Open a model trained on more or other text")
        self.button.hide()
        row_of(self.label, self.button, 1, spacing=8, within=self)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.hide()

    def offer(self, menu: QMenu) -> None:
        """The button opens this menu."""
        self.button.setMenu(menu)
        self.button.show()

    def show_coverage(self, coverage: Coverage | None) -> None:
        """Says what there is to say of a sentence."""
        notice = coverage.notice if coverage is not None else ""
        if coverage is not None and notice and self.button.menu() is None:
            notice = coverage.known
        self.label.setText(notice)
        self.setVisible(bool(notice))
