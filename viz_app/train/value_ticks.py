"""The figures beside the axis of the values. Importing this module imports matplotlib."""

from collections.abc import Sequence

from matplotlib.ticker import Formatter

_MIN_DIGITS, _MAX_DIGITS = 3, 9


class ValueFormatter(Formatter):
    """Three significant digits, and more where two ticks would read the same."""

    def __call__(self, value: float, _position: int | None = None) -> str:
        """The figure beside a tick that stands alone."""
        return _figure(value, _MIN_DIGITS)

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """The figures beside all ticks."""
        labels: list[str] = []
        for digits in range(_MIN_DIGITS, _MAX_DIGITS + 1):
            labels = [_figure(value, digits) for value in values]
            if len(set(labels)) == len(set(values)):
                break
        return labels


def _figure(value: float, digits: int) -> str:
    return f"{value:,.{digits - _MIN_DIGITS}f}" if abs(value) >= 1000 else f"{value:.{digits}g}"
