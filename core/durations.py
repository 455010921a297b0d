"""How long something takes, in words, the same everywhere."""

import math

UNKNOWN = "–"


def duration(seconds: float, *, exact: bool = False) -> str:
    """Seconds as people say them: "41 s", "3 min 05 s", "2 h 07 min"; a dash for what nobody knows (NaN, infinite).

    With `exact`, times under ten seconds keep what matters: "410 ms", "3.2 s".
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
