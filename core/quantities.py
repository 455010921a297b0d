"""Numbers, durations and shares as text."""

import math

UNKNOWN = "–"


def number(value: float, decimals: int = 2, *, signed: bool = False) -> str:
    """The rounded value with a typographic minus sign; zero never has one."""
    value = round(value, decimals) + 0.0
    return f"{value:{'+' if signed else ''}.{decimals}f}".replace("-", "−")


def counted(count: int, noun: str, plural: str = "") -> str:
    """A count and its noun: "1 epoch", "1,200 epochs".

    `plural`: of the noun, unless it ends in -s only.
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def duration(seconds: float, *, exact: bool = False) -> str:
    """A duration such as "41 s" or "2 h 07 min"; a dash for unknown ones (NaN, infinite).

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


_ROUNDED = (
    (0, "second", 1, 10),
    (55, "minute", 60, 1),
    (12 * 60, "minute", 60, 5),
    (55 * 60, "hour", 3600, 1),
    (36 * 3600, "day", 86400, 1),
)
"""Seconds from which on a unit is used, the unit, its seconds, and what it is rounded to."""


def about(seconds: float) -> str:
    """A rounded duration for an estimate, such as "a few seconds" or "about 8 hours"."""
    if seconds < 8:
        return "a few seconds"
    _, unit, size, multiple = next(row for row in reversed(_ROUNDED) if seconds >= row[0])
    rounded = multiple * max(1, round(seconds / size / multiple))
    return f"about {counted(rounded, unit)}"


def percent(share: float, decimals: int = 0) -> str:
    """A share from 0 to 1 in percent: "30%", or "0.5%" with one decimal.

    Only all is 100%, and only nothing is 0%: 0.999 is "> 99%", or "99.9%" with one decimal.
    """
    least = 10.0**-decimals
    rounded = round(100 * share, decimals) + 0.0
    if rounded <= 0 < share:
        return f"< {least:.{decimals}f}%"
    if share < 1 and rounded >= 100:
        return f"> {100 - least:.{decimals}f}%"
    return f"{rounded:.{decimals}f}%"


def percent_in_words(share: float) -> str:
    """The same for a sentence: "less than 1%", "more than 99%"."""
    return percent(share).replace("<", "less than").replace(">", "more than")
