"""The film of attention: one sentence, translated at each validation. No torch here.

Each frame is a file in the folder `film` of the run: the maps of every head as 16-bit floats, the
rest as JSON in the header (safetensors). A frame is written atomically, so a film never holds half
a frame.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from ...errors import CheckpointError
from ...storage import reason_of
from ...tensor_file import open_tensor_file, write_tensor_file
from ...translation.experiment import Experiment
from ...translation.result import Alternative, AttentionMaps, Translation, Word
from .events import TrainingEvent

FILM = "film"
FORMAT_NAME = "augenmerk-film-frame"
FORMAT_VERSION = 1
_NOT_STORED = frozenset({"attention", "experiment", "unreached", "coverage", "hint"})
_FRAME_NAME = re.compile(r"frame-(\d+)\.safetensors")


@dataclass(frozen=True, eq=False)
class FilmFrame(TrainingEvent):
    """The probe sentence was translated, with the maps of every head: before the first step, and at
    each validation.

    Attributes:
        epoch: the epoch of the run; 0 before the first step.
        step: optimizer steps done.
        validation_loss: token-weighted; None before the first step.
        translation: of the probe sentence; its maps are exact to three decimal digits.
    """

    epoch: int
    step: int
    validation_loss: float | None
    translation: Translation


def write_frame(run_folder: Path, frame: FilmFrame) -> Path:
    """Adds `frame` to the film of the run in `run_folder`, or replaces the one of the same step.

    Returns its path.

    Raises:
        StorageError: it cannot be written; an older frame is intact.
    """
    path = frame_path(run_folder, frame.step)
    maps = frame.translation.maps
    arrays = {
        kind: np.ascontiguousarray(maps.of_kind(kind), dtype=np.float16)
        for kind in ("encoder", "decoder", "cross")
    }
    header = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "epoch": frame.epoch,
        "step": frame.step,
        "validation_loss": frame.validation_loss,
        "translation": _describe(frame.translation),
    }
    write_tensor_file(path, arrays, header, save_file)
    return path


def read_film(run_folder: Path) -> list[FilmFrame]:
    """The frames of the run in `run_folder`, by step; empty if it has none.

    Damaged frames are left out.
    """
    frames = []
    for path in frame_paths(run_folder).values():
        try:
            frames.append(read_frame(path))
        except CheckpointError:
            continue
    return frames


def frame_path(run_folder: Path, step: int) -> Path:
    """The path of the frame of `step`."""
    return Path(run_folder) / FILM / f"frame-{step:08d}.safetensors"


def frame_paths(run_folder: Path) -> dict[int, Path]:
    """The files of the film by step, in order."""
    try:
        paths = list((Path(run_folder) / FILM).iterdir())
    except OSError:
        return {}
    matched_paths = ((_FRAME_NAME.fullmatch(path.name), path) for path in paths)
    return dict(sorted((int(match[1]), path) for match, path in matched_paths if match))


def own_frame_paths(run_folder: Path) -> dict[int, Path]:
    """The files of the film that may be removed; none if the film's folder is a link to another
    place.
    """
    return {} if (Path(run_folder) / FILM).is_symlink() else frame_paths(run_folder)


def read_frame(path: Path) -> FilmFrame:
    """One frame.

    Raises `CheckpointError` if it is missing, damaged, foreign or of a newer version.
    """
    try:
        with open_tensor_file(path, "numpy") as file:
            header = file.description_of(FORMAT_NAME, FORMAT_VERSION, "a frame of a film")
            kinds = ("encoder", "decoder", "cross")
            if any(file.tensors[kind].dtype != "F16" for kind in kinds):
                raise ValueError("the maps are not 16-bit floats")
            arrays = {kind: file.read(kind) for kind in kinds}
        return FilmFrame(
            epoch=int(header["epoch"]),
            step=int(header["step"]),
            validation_loss=None
            if header["validation_loss"] is None
            else float(header["validation_loss"]),
            translation=_rebuild(header["translation"], arrays),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise CheckpointError(
            f"{path} cannot be read as a frame of a film ({reason_of(error)}). Remove it, or use "
            "another copy."
        ) from error


def _describe(translation: Translation) -> dict[str, Any]:
    """Everything but the maps, as JSON-ready values.

    The experiment changes nothing, so only its sentence is kept.
    """
    values = {name: value for name, value in vars(translation).items() if name not in _NOT_STORED}
    values["seconds"] = 0.0  # measured; two runs with the same seed have the same film
    values["source_text"] = translation.source_text
    values["alternatives"] = [
        [asdict(choice) for choice in choices] for choices in translation.alternatives
    ]
    values["source_words"] = [asdict(word) for word in translation.source_words]
    values["target_words"] = [asdict(word) for word in translation.target_words]
    return values


def _rebuild(values: Mapping[str, Any], arrays: Mapping[str, NDArray[np.float16]]) -> Translation:
    """The inverse of `_describe`.

    Raises `TypeError`, `KeyError` or `ValueError` if the values are damaged.
    """
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    plain["experiment"] = Experiment(plain.pop("source_text"))
    plain["alternatives"] = tuple(
        tuple(Alternative(**choice) for choice in row) for row in values["alternatives"]
    )
    for side in ("source_words", "target_words"):
        plain[side] = tuple(Word(**word) for word in values[side])
    maps = {name: array.astype(np.float32) for name, array in arrays.items()}
    translation = Translation(**plain, attention=AttentionMaps(**maps))
    translation.check()
    return translation
