"""Shares as people write them, the same everywhere."""


def percent(share: float, decimals: int = 0) -> str:
    """A share, 1 for the whole, in per cent: "30%", or "0.5%" with one decimal."""
    return f"{100 * share:.{decimals}f}%"


def percent_in_words(share: float) -> str:
    """The same in a sentence, which calls nearly all and nearly nothing neither 100% nor 0%."""
    if 0 < share < 0.005:
        return "less than 1%"
    if 0.995 <= share < 1:
        return "more than 99%"
    return percent(share)
