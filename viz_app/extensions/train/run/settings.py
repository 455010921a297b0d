"""The values of the form and the unfinished run, saved from one session to the next, as text."""

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from augenmerk.core.config import RunConfig
from augenmerk.core.errors import ConfigError
from augenmerk.core.extensions.run_settings.dotted import dotted_settings
from augenmerk.core.extensions.run_settings.presets import PRESETS
from augenmerk.core.extensions.training.corpora.parallel import DataSource
from augenmerk.core.extensions.training.duration import Speed
from augenmerk.core.extensions.training.events import TrainingRequest
from augenmerk.core.extensions.training.folder import read_run_inputs, source_of
from augenmerk.core.storage import is_file

from .choices import DATA_KINDS, RunChoices

if TYPE_CHECKING:
    from PySide6.QtCore import QSettings

_PREFIX = "train/"


_TEXTS = ("preset", "data_kind", "data_path", "device", "probe")


@dataclass(frozen=True)
class UnfinishedRun:
    """A run that can be resumed.

    Attributes:
        request: the one that started it, with the settings changed since.
        last_checkpoint: to resume from.
        best_checkpoint: None if there was no validation yet.
    """

    request: TrainingRequest
    last_checkpoint: Path
    best_checkpoint: Path | None


def save_choices(settings: "QSettings", choices: RunChoices) -> None:
    """Saves the form."""
    for name in _TEXTS:
        settings.setValue(_PREFIX + name, getattr(choices, name))
    settings.setValue(_PREFIX + "parent_folder", str(choices.parent_folder))
    settings.setValue(_PREFIX + "settings", json.dumps(dict(choices.settings)))


def load_choices(settings: "QSettings") -> RunChoices:
    """The saved form; missing or unknown values get their defaults."""
    default = RunChoices.default()

    def text(name: str, fallback: str) -> str:
        return str(settings.value(_PREFIX + name, fallback) or fallback)

    chosen_preset = text("preset", default.preset)
    data_kind = text("data_kind", default.data_kind)
    if chosen_preset not in PRESETS:
        return default
    return RunChoices(
        preset=chosen_preset,
        data_kind=next((kind for kind in DATA_KINDS if kind == data_kind), default.data_kind),
        data_path=text("data_path", ""),
        device=text("device", default.device),
        parent_folder=Path(text("parent_folder", str(default.parent_folder))),
        probe=text("probe", ""),
        settings={
            name: typed
            for name, typed in _load_texts(settings, "settings").items()
            if name in dotted_settings()
        },
    )


def save_unfinished(settings: "QSettings", unfinished: UnfinishedRun) -> None:
    """Saves the data for resuming in a later session."""
    request, best = unfinished.request, unfinished.best_checkpoint
    values = {
        "run": request.run.to_dict(),
        "source": str(request.source),
        "folder": str(request.folder),
        "device": request.device,
        "last_checkpoint": str(unfinished.last_checkpoint),
        "best_checkpoint": str(best) if best else "",
        "changes": dict(request.changes),
    }
    settings.setValue(_PREFIX + "unfinished", json.dumps(values))


def forget_unfinished(settings: "QSettings", folder: Path | None) -> None:
    """Removes the unfinished run if it is the one in `folder`."""
    earlier = load_unfinished(settings)
    if earlier is None or earlier.request.folder == folder:
        settings.remove(_PREFIX + "unfinished")


def load_source(settings: "QSettings", folder: Path) -> DataSource | None:
    """The data source of the run in `folder`; None if it is not known.

    Earlier versions kept it in the settings.
    """
    if (data := read_run_inputs(folder).data) is not None:
        return data
    source = _load_texts(settings, "sources").get(str(folder))
    return source_of(source) if source is not None else None


def save_speeds(settings: "QSettings", machine: str, speeds: Mapping[str, Speed]) -> None:
    """Saves the measured speeds of the devices of this machine."""
    values = {name: astuple(speed) for name, speed in speeds.items()}
    settings.setValue(_PREFIX + "speeds", json.dumps({"machine": machine, "speeds": values}))


def load_speeds(settings: "QSettings", machine: str) -> dict[str, Speed]:
    """The speeds measured on this machine, by name of the device; none if there are none."""
    values = _load(settings, "speeds")
    if values.get("machine") != machine:
        return {}
    try:
        return {
            name: Speed(float(layer), float(flop))
            for name, (layer, flop) in values["speeds"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _load(settings: "QSettings", key: str) -> dict[str, Any]:
    """Values by name, saved as JSON; none if they are damaged."""
    try:
        values = json.loads(str(settings.value(_PREFIX + key, "") or "{}"))
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _load_texts(settings: "QSettings", key: str) -> dict[str, str]:
    return {
        name: text for name, text in _load(settings, key).items() if isinstance(text, str) and text
    }


def load_unfinished(settings: "QSettings") -> UnfinishedRun | None:
    """The run that can be resumed; None if there is none, or its checkpoint is missing."""
    values = _load(settings, "unfinished")
    try:
        last = Path(values["last_checkpoint"])
        best = values["best_checkpoint"]
        folder = Path(values["folder"])
        request = TrainingRequest(
            run=RunConfig.from_dict(values["run"]),
            source=read_run_inputs(folder).data or source_of(values["source"]),
            folder=folder,
            device=str(values["device"]),
            changes=dict(values.get("changes", {})),
        )
        best_checkpoint = Path(best) if best and is_file(best) else None
    # saved by another version, or edited by hand
    except (ValueError, KeyError, TypeError, ConfigError):
        return None
    return UnfinishedRun(request, last, best_checkpoint) if is_file(last) else None
