"""A thin progress bar."""

from PySide6.QtWidgets import QProgressBar

from ...theme import scales


class ProgressLine(QProgressBar):
    """A thin bar that shows a fraction, or a moving segment if the amount of work is unknown."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextVisible(False)
        self.setAccessibleName("progress")
        scales(self.setFixedHeight, 6)

    def set_fraction(self, fraction: float | None) -> None:
        """Shows a fraction from 0 to 1; None for an unknown amount of work."""
        self.setRange(0, 0 if fraction is None else 1000)
        self.setValue(round(1000 * (fraction or 0.0)))
