"""An argument parser whose messages name the refused value and the remedy."""

import argparse
from pathlib import Path
from typing import Any


class OptionParser(argparse.ArgumentParser):
    """Reads whole numbers, numbers and paths. It refuses empty paths, which would mean the current folder."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.register("type", int, _whole_number)
        self.register("type", float, _number)
        self.register("type", Path, _path)


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{_shown(text)} is not a whole number.") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{_shown(text)} is not a number.") from None


def _path(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError(
            "the path is empty. Enter a path, or . for the current folder. A shell variable may be empty."
        )
    return Path(text)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:59]}…")
