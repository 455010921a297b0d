"""Parsers that say what an option was given and what was expected, as every other message does."""

import argparse
from pathlib import Path
from typing import Any


class OptionParser(argparse.ArgumentParser):
    """Reads whole numbers, numbers and paths; an empty path is none: it would be the folder of the terminal."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.register("type", int, _whole_number)
        self.register("type", float, _number)
        self.register("type", Path, _path)


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{_shown(text)} was given. A whole number was expected; give one.") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{_shown(text)} was given. A number was expected; give one.") from None


def _path(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError(
            "it is empty. A path was expected; give one, or . for the folder that you are in. A variable of the shell "
            "may be empty."
        )
    return Path(text)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:59]}…")
