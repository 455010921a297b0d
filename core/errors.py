"""Errors that a user can act on.

A message states what happened, in the reader's words, and what to do. The command line prints it
and exits with status 2; the window shows it and keeps its previous contents. Both show
`display_text(error)`, which counts from 1.
"""

from dataclasses import dataclass

from .counting import Counted, filled

MAX_MESSAGE_CHARACTERS = 4_000


class AugenmerkError(Counted, Exception):
    """An input or request cannot be used. The message is written for the user.

    It may quote input of any length: the middle of a very long message is left out.

    Args:
        message: the message, or with values a template that names them in braces.
        values: what the message is about, such as a `Head` or the `Index` of a word. The error has
            them, too.
    """

    def __init__(self, message: str, /, **values: object) -> None:
        self.template, self.values = message, values
        super().__init__(self.text_from(0))

    def text_from(self, first: int) -> str:
        """The message, with numbers that begin with `first`."""
        text = filled(self.template, self.values, first)
        half = MAX_MESSAGE_CHARACTERS // 2
        return text if len(text) <= MAX_MESSAGE_CHARACTERS else f"{text[:half]} … {text[-half:]}"


class ArgumentError(AugenmerkError):
    """An argument of a public function is not of the kind that the function takes."""


class ConfigError(AugenmerkError):
    """A setting is unknown, out of range, or does not fit another setting."""


class TextError(AugenmerkError):
    """A text cannot be translated: empty, or far too long."""


class CorpusError(AugenmerkError):
    """A corpus is missing, unreadable, uneven or empty."""


@dataclass(frozen=True)
class Misfit:
    """A setting that does not fit the corpus.

    Attributes:
        problem: one sentence.
        name: of the setting, dotted.
        value: one that fits.
        words: the value in words.
    """

    problem: str
    name: str
    value: int
    words: str


class UnfitCorpusError(CorpusError):
    """A corpus cannot be prepared with a setting, but can with another value.

    Attributes:
        misfit: the setting, and a value that fits.
    """

    def __init__(self, misfit: Misfit, advice: str) -> None:
        super().__init__(f"{misfit.problem} {advice}")
        self.misfit = misfit


class CheckpointError(AugenmerkError):
    """A checkpoint is missing, damaged, foreign, or from a newer version."""


class ModelImportError(CheckpointError):
    """A model of another project is missing, damaged, too large, or of unknown architecture."""


class ReaderFaultError(ModelImportError):
    """The code of a reader of models raised an error that it should not. That is its cause."""


class ImportStoppedError(ModelImportError):
    """The user stopped an import. Nothing was written."""

    def __init__(self) -> None:
        super().__init__(
            "The import was stopped. Nothing was written; start it again if it is wanted."
        )


class DeviceError(AugenmerkError):
    """The requested device does not exist on this machine."""


class TrainingError(AugenmerkError):
    """Training cannot start or continue."""


class AnalysisError(AugenmerkError):
    """The requested head, token or measure does not exist."""


class MissingExtensionError(AugenmerkError, KeyError):
    """No installed extension declares what a file or a request names."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would quote it


class NonFiniteError(AugenmerkError):
    """A model computes numbers that are infinite or undefined (NaN).

    Args:
        location: where they first appear, such as "{stack} layer {layer}, feed-forward network".
        values: see `AugenmerkError`.
    """

    def __init__(self, location: str, /, **values: object) -> None:
        super().__init__(
            "The model computes numbers that are infinite or undefined (NaN), first in "
            f"{location}. Its weights, or changes to its heads, are too large. Use another copy "
            "of the model, or reset the changes.",
            **values,
        )


class ExperimentError(AugenmerkError):
    """An experiment contradicts itself, or does not fit the sentence or the model."""


class ExperimentFileError(ExperimentError):
    """A file is not an experiment that this version can read, or an experiment cannot be saved."""


class StorageError(AugenmerkError):
    """A file could not be written. An existing file is unchanged."""
