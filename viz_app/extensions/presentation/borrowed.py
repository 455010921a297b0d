"""A widget of the window that fills the screen for a while."""

from PySide6.QtWidgets import QBoxLayout, QWidget

from ...widgets.layouts import take_out


class Borrowed:
    """A widget of a row or column, or of one inside it, that stands in another one until it is
    given back.
    """

    def __init__(self, widget: QWidget, into: QBoxLayout) -> None:
        owner = widget.parentWidget()
        outer = owner.layout() if owner is not None else None
        boxes = (outer, *outer.findChildren(QBoxLayout)) if outer is not None else ()
        self._widget = widget
        self._box = next(
            box for box in boxes if isinstance(box, QBoxLayout) and box.indexOf(widget) >= 0
        )
        self._place = self._box.indexOf(widget)
        self._was_hidden = widget.isHidden()
        self._stretch = self._box.stretch(self._place)
        self._box.removeWidget(widget)
        into.addWidget(widget)
        widget.setVisible(True)

    def give_back(self) -> None:
        """Puts the widget back into its place."""
        take_out(self._widget)
        self._box.insertWidget(self._place, self._widget, self._stretch)
        self._widget.setVisible(not self._was_hidden)
