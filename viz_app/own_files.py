"""Files that the app wrote for its own comfort. Nothing in them can keep the app from starting."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ASIDE = ".unreadable"
logger = logging.getLogger(__name__)


def free_aside(path: Path) -> Path:
    """Where to set a file aside without replacing one that was set aside before."""
    aside = path.with_name(path.name + ASIDE)
    number = 1
    while os.path.lexists(aside):
        number += 1
        aside = path.with_name(f"{path.name}{ASIDE}-{number}")
    return aside


def set_aside(path: Path) -> Path:
    """Renames a file that cannot be restored, so that the user can look at it.

    Returns where it is now.
    """
    try:
        return path.replace(free_aside(path))
    except OSError as refusal:
        logger.info("%s could not be set aside: %s", path, refusal)
        return path


@contextmanager
def restoring(path: Path) -> Iterator[None]:
    """A context in which the content of an own file is read and shown.

    Any error is logged and sets the file aside.
    """
    try:
        yield
    except Exception as error:  # whatever the file contains
        logger.info("%s cannot be restored: %s", path, error, exc_info=True)
        set_aside(path)
