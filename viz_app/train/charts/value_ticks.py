"""Tick labels of the value axis. Importing this module imports matplotlib."""

from collections.abc import Sequence

from matplotlib.ticker import Formatter

_MIN_DIGITS, _MAX_DIGITS = 3, 9


class ValueFormatter(Formatter):
    """Three significant digits, and more where two labels would be equal."""

    def __call__(self, value: float, _position: int | None = None) -> str:
        """The label of a single tick."""
        return _label(value, _MIN_DIGITS)

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """The labels of all ticks."""
        labels: list[str] = []
        for digits in range(_MIN_DIGITS, _MAX_DIGITS + 1):
            labels = [_label(value, digits) for value in values]
            if len(set(labels)) == len(set(values)):
                break
        return labels


def _label(value: float, digits: int) -> str:
    return f"{value:,.{digits - _MIN_DIGITS}f}" if abs(value) >= 1000 else f"{value:.{digits}g}"
