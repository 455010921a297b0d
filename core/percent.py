"""Shares as people write them, the same everywhere."""


def percent(share: float, decimals: int = 0) -> str:
    """A share, 1 for the whole, in per cent: "30 %", or "0.5 %" with one decimal."""
    return f"{100 * share:.{decimals}f} %"
