"""Numbers, durations and shares as text."""

import math

UNKNOWN = "–"


def number(value: float, decimals: int = 2, *, signed: bool = False) -> str:
    """The rounded value with a typographic minus sign; zero never has one."""
    value = round(value, decimals) + 0.0
    return f"{value:{'+' if signed else ''}.{decimals}f}".replace("-", "−")


def duration(seconds: float, *, exact: bool = False) -> str:
    """A duration such as "41 s", "3 min 05 s" or "2 h 07 min"; a dash for unknown ones (NaN, infinite).

    With `exact`, durations under ten seconds are more precise: "410 ms", "3.2 s".
    """
    if not math.isfinite(seconds) or seconds < 0:
        return UNKNOWN
    if exact and seconds < 9.95:
        return f"{seconds * 1000:.0f} ms" if seconds < 0.9995 else f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def percent(share: float, decimals: int = 0) -> str:
    """A share from 0 to 1 in percent: "30%", or "0.5%" with one decimal."""
    return f"{100 * share:.{decimals}f}%"


def percent_in_words(share: float) -> str:
    """The same for a sentence, in which nearly all is not 100% and nearly nothing is not 0%."""
    if 0 < share < 0.005:
        return "less than 1%"
    if 0.995 <= share < 1:
        return "more than 99%"
    return percent(share)
