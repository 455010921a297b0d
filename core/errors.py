"""Errors that a person can act on.

Every message says three things: what was given, what was expected, and what to do. The command line prints the
message and exits with status 2; the app shows it and keeps what was there before.
"""


class AugenmerkError(Exception):
    """Something the user gave or asked for cannot be used as it is. The message is meant to be read by them."""


class ConfigError(AugenmerkError):
    """A setting is unknown, out of range, or does not fit another setting."""


class TextError(AugenmerkError):
    """A text cannot be translated: empty, or far too long."""


class CorpusError(AugenmerkError):
    """A corpus is missing, unreadable, uneven or empty."""


class CheckpointError(AugenmerkError):
    """A checkpoint is missing, damaged, foreign, or from a newer version."""


class ModelImportError(CheckpointError):
    """A model of another project is missing, half, damaged, of an architecture that is not read, or too big."""


class DeviceError(AugenmerkError):
    """A device was asked for that this machine does not have."""


class TrainingError(AugenmerkError):
    """Training cannot start or go on."""


class AnalysisError(AugenmerkError):
    """A head, token or measure was asked for that is not there."""


class NonFiniteError(AugenmerkError):
    """A model computes numbers that are infinite or undefined (NaN).

    Args:
        place: where they appear first: "encoder layer 2, feed-forward network".
    """

    def __init__(self, place: str) -> None:
        super().__init__(
            f"The model computes numbers that are infinite or undefined (NaN), first in {place}. Its weights, or "
            "changes to its heads, are too large. Use another copy of the model, or reset the changes."
        )


class ExperimentError(AugenmerkError):
    """An experiment or one of its interventions contradicts itself, or does not fit the sentence or the model."""


class ExperimentFileError(ExperimentError):
    """A file is no experiment that this version can read, or an experiment cannot be written as one."""


class StorageError(AugenmerkError):
    """A file could not be written; whatever stood there before is untouched."""
