"""The settings of a run as typed into the form, and the configuration they give. No Qt, no torch."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from core.config import DEFAULT_PRESET, PRESETS, RunConfig, preset
from core.errors import ConfigError, CorpusError
from core.training.folder import default_runs_folder
from core.training.schedules import warmup_optimizer_steps
from viz_app.state.model_info import heads_in_words

DataKind = Literal["multi30k", "folder", "file"]
DATA_KINDS: tuple[DataKind, ...] = ("multi30k", "folder", "file")


@dataclass(frozen=True)
class RunChoices:
    """The values of the form. Numbers are still text, so that mistakes can be shown and corrected.

    Attributes:
        preset: name of the configuration to start from.
        data_kind: where sentence pairs come from; ignored by the copy presets, which generate their own.
        data_path: the folder or prepared file; empty if none was chosen yet.
        device: "auto", "cpu", "cuda:0" …
        num_epochs, seed: whole numbers as typed.
        patience: epochs without a better validation loss after which the run stops, as typed; empty for never.
        probe: the sentence of the film of attention; empty for one of the validation sentences.
        parent_folder: each run gets a folder of its own in it.
    """

    preset: str
    data_kind: DataKind
    data_path: str
    device: str
    num_epochs: str
    seed: str
    parent_folder: Path
    patience: str = ""
    probe: str = ""

    @classmethod
    def default(cls) -> "RunChoices":
        """The defaults."""
        training = preset(DEFAULT_PRESET).training
        return cls(
            preset=DEFAULT_PRESET,
            data_kind="multi30k",
            data_path="",
            device="auto",
            num_epochs=str(training.num_epochs),
            seed=str(training.seed),
            parent_folder=default_runs_folder(),
        )

    @property
    def is_copy_task(self) -> bool:
        """Whether the preset generates its own data."""
        return self.preset in PRESETS and preset(self.preset).is_copy_task

    def run_config(self) -> RunConfig:
        """The preset with the numbers that were typed. Raises `ConfigError` if one of them is invalid."""
        run = preset(self.preset)
        training = run.training.replace(
            num_epochs=_whole_number("epochs", self.num_epochs, at_least=1),
            seed=_whole_number("seed", self.seed, at_least=0),
            patience=_whole_number("patience", self.patience, at_least=1) if self.patience.strip() else None,
        )
        return replace(run, training=training)

    def source(self) -> str | Path:
        """What `load_corpus` is to read. Raises `CorpusError` if no folder or file was chosen."""
        if self.is_copy_task:
            return "copy"
        if self.data_kind == "multi30k":
            return "multi30k"
        noun = "folder of parallel files" if self.data_kind == "folder" else "prepared file"
        if not self.data_path.strip():
            raise CorpusError(f"No {noun} was chosen. Choose one under “data”, or use Multi30k.")
        return Path(self.data_path).expanduser()


def new_run_folder(parent: Path, name: str, now: Callable[[], datetime] = datetime.now) -> Path:
    """A path under `parent` that does not exist: name and time, with a number if two runs start in one minute."""
    stem = f"{name}-{now():%Y-%m-%d-%H%M}"
    folder = parent / stem
    count = 2
    while _exists(folder):
        folder = parent / f"{stem}-{count}"
        count += 1
    return folder


def _exists(path: Path) -> bool:
    """Whether the path exists; False if it may not be read (starting the run will report that)."""
    try:
        return path.exists()
    except OSError:
        return False


def with_tilde(path: Path) -> str:
    """A path with the home folder as ~."""
    try:
        return str(Path("~") / path.relative_to(Path.home()))
    except ValueError:
        return str(path)


def key_settings(run: RunConfig) -> list[tuple[str, str]]:
    """The settings in which the presets differ most, as (name, value) for display."""
    model, data, training = run.model, run.data, run.training
    batch = f"{training.batch_size:,} {training.batch_unit}"
    if training.num_accumulated > 1:
        batch += f" × {training.num_accumulated}"
    batch += " · random" if training.batching == "random" else " · by length"
    if training.schedule == "noam":
        rate = f"Noam · warm-up {warmup_optimizer_steps(training):,}"
        if training.noam_factor != 1:
            rate += f" · × {training.noam_factor:g}"
    else:
        rate = f"constant · {training.learning_rate:g}"
    if run.is_copy_task:
        vocabulary = f"{data.copy_symbols + 1} symbols, length {data.copy_length}"
    elif data.num_subwords:
        vocabulary = f"{data.num_subwords:,} joint subwords"
    else:
        vocabulary = f"words seen {data.min_frequency}× or more"
    return [
        ("layers", f"{model.num_encoder_layers} + {model.num_decoder_layers} · {heads_in_words(model.num_heads)}"),
        ("width", f"{model.width} · feed-forward {model.feed_forward_width:,}"),
        ("norm", f"{model.norm_position}-norm · {model.positions} positions"),
        ("vocabulary", vocabulary),
        ("batch", batch),
        ("rate", rate),
        ("smoothing", f"{training.label_smoothing:g} · dropout {model.dropout:g}"),
    ]


def data_name(source: str | Path) -> str:
    """The name of the training data for display."""
    return {"multi30k": "Multi30k", "copy": "copy task"}.get(str(source)) or with_tilde(Path(source))


def run_summary_rows(run: RunConfig, source: str | Path, probe: str | None) -> list[tuple[str, str]]:
    """The settings of a run as (name, value) for display."""
    training = run.training
    rows = [
        ("preset", run.preset),
        *key_settings(run),
        ("data", data_name(source)),
        ("epochs", f"{training.num_epochs:,}"),
    ]
    if training.patience is not None:
        rows.append(("patience", f"{training.patience} epoch{'' if training.patience == 1 else 's'}"))
    rows.append(("seed", str(training.seed)))
    if probe:
        rows.append(("probe", probe))
    return rows


def _whole_number(name: str, text: str, at_least: int) -> int:
    """The number that was typed. Raises `ConfigError`, which names the field of the form."""
    number: int | None
    try:
        number = int(text.strip().replace(",", "").replace(" ", ""))
    except ValueError:
        number = None
    if number is None or number < at_least:
        raise ConfigError(
            f"{name} is “{text.strip()}”; a whole number of at least {at_least} was expected. Correct it, then start."
        )
    return number
