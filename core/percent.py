"""Shares as percentages."""


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
