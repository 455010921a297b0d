"""What a file or folder is that cannot be opened: extensions recognize those of other projects.

No torch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .registry import Registry
from .tensor_file import has_description


@dataclass(frozen=True)
class Recognized:
    """What a file or folder is.

    Attributes:
        message: what it is and what to do, for an error.
        source: the file or folder to import instead; None if none can be imported.
    """

    message: str
    source: Path | None = None


@dataclass(frozen=True)
class Recognizer:
    """Recognizes files and folders of other projects.

    Attributes:
        recognize: what is at a path, or what is probably meant by a path where nothing is; None if
            it does not know.
        advice: what to choose in place of something that nobody recognizes, as a sentence.
    """

    recognize: Callable[[Path], Recognized | None]
    advice: Callable[[], str] | None = None


RECOGNIZERS: Registry[Recognizer] = Registry(
    "augenmerk.recognizers", Recognizer, "recognizer of files"
)
"""What recognizes files of other projects: all are extensions, asked in turn."""


def recognize(path: Path) -> Recognized | None:
    """The first answer of an extension; None without any, and at once for files of Augenmerk."""
    if has_description(path):
        return None
    answers = (recognizer.recognize(path) for recognizer in RECOGNIZERS.values())
    return next((answer for answer in answers if answer is not None), None)


def advice() -> str:
    """What to choose in place of something that nobody recognizes."""
    sentences = [recognizer.advice() for recognizer in RECOGNIZERS.values() if recognizer.advice]
    return " ".join(sentences) or "Choose a checkpoint (*.safetensors)."
