"""The settings of a run as typed into the form, and the configuration they give. No Qt, no torch."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from core.config import DEFAULT_PRESET, PRESETS, DataConfig, RunConfig, preset
from core.errors import ConfigError, CorpusError
from core.text.languages import language_code
from core.training.folder import default_runs_folder
from core.training.schedules import describe_schedule, warmup_optimizer_steps
from viz_app.state.model_info import heads_in_words

DataKind = Literal["multi30k", "folder", "file"]
DATA_KINDS: tuple[DataKind, ...] = ("multi30k", "folder", "file")
MULTI30K_PAIRS = 29_000
TOKENS_PER_PAIR_OF_SUBWORDS, TOKENS_PER_PAIR_OF_WORDS = 19.5, 19.4
"""Of Multi30k, in a batch counted in tokens: `multi30k` has 226 steps an epoch, `annotated-2018` 47."""
MAX_LAYERS, MAX_WIDTH = 48, 8_192
"""In the form, where a slip of the finger must not ask for a model that fills the memory."""


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
        layers, width, heads: of the model, as typed; empty for those of the preset.
        rate: the learning rate, or of a Noam schedule its factor, as typed; empty for that of the preset.
        source_language, target_language: of data of one's own, codes or English names as typed; empty for German and
            English, which Multi30k always is.
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
    layers: str = ""
    width: str = ""
    heads: str = ""
    rate: str = ""
    source_language: str = ""
    target_language: str = ""

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
        shape = {
            name: whole_number(said, typed, at_least=1)
            for name, said, typed in (
                ("num_encoder_layers", "layers", self.layers),
                ("num_decoder_layers", "layers", self.layers),
                ("width", "width", self.width),
                ("num_heads", "heads", self.heads),
            )
            if typed.strip()
        }
        if int(shape.get("num_encoder_layers", 1)) > MAX_LAYERS or int(shape.get("width", 1)) > MAX_WIDTH:
            raise ConfigError(
                f"At most {MAX_LAYERS} layers and a width of {MAX_WIDTH:,} were expected here: larger models are for "
                "“augenmerk train”. Correct it, then start."
            )
        rates = {rate_name(run): _positive_number("rate", self.rate)} if self.rate.strip() else {}
        training = run.training.replace(
            **rates,
            num_epochs=whole_number("epochs", self.num_epochs, at_least=1),
            seed=whole_number("seed", self.seed, at_least=0),
            patience=whole_number("patience", self.patience, at_least=1) if self.patience.strip() else None,
        )
        return replace(run, model=run.model.replace(**shape), training=training, data=self._data_config(run))

    @property
    def has_languages(self) -> bool:
        """Whether the data are one's own, so that they may be in any languages."""
        return not self.is_copy_task and self.data_kind != "multi30k"

    def _data_config(self, run: RunConfig) -> DataConfig:
        typed = {"source_language": self.source_language, "target_language": self.target_language}
        given = {name: text.strip() for name, text in typed.items() if text.strip() and self.has_languages}
        return run.data.replace(**{name: language_code(text) or text for name, text in given.items()})

    def with_preset(self, name: str) -> "RunChoices":
        """Another preset, with its own numbers; data, device, folder, seed and sentence stay."""
        run = preset(name)
        epochs = str(run.training.num_epochs)
        return replace(self, preset=name, num_epochs=epochs, layers="", width="", heads="", rate="")

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


def rate_name(run: RunConfig) -> Literal["noam_factor", "learning_rate"]:
    """The setting that says how high the rate is: with a Noam schedule a factor of it."""
    return "noam_factor" if run.training.schedule == "noam" else "learning_rate"


def preset_numbers(run: RunConfig) -> dict[str, str]:
    """The numbers that stand for fields that are left empty."""
    return {
        "layers": str(run.model.num_encoder_layers),
        "width": str(run.model.width),
        "heads": str(run.model.num_heads),
        "rate": f"{getattr(run.training, rate_name(run)):g}",
    }


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


def schedule_note(run: RunConfig, source: str | Path) -> str:
    """What becomes of the warm-up and the cool-down in a run so short; empty if there is nothing to tell.

    The copy task was published that short.
    """
    return "" if run.is_copy_task else describe_schedule(run.training, _steps_per_epoch(run, source)) or ""


def _steps_per_epoch(run: RunConfig, source: str | Path) -> int:
    """About how many optimiser steps an epoch has; 0 where that is known only when the data has been read."""
    if source != "multi30k":
        return 0
    training = run.training
    size = float(MULTI30K_PAIRS)
    if training.batch_unit == "tokens":
        size *= TOKENS_PER_PAIR_OF_SUBWORDS if run.data.num_subwords else TOKENS_PER_PAIR_OF_WORDS
    return max(1, round(size / (training.batch_size * training.num_accumulated)))


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


def whole_number(name: str, text: str, at_least: int) -> int:
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


def _positive_number(name: str, text: str) -> float:
    """The number that was typed. Raises `ConfigError`, which names the field of the form."""
    try:
        number = float(text.strip())
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise ConfigError(
            f"{name} is “{text.strip()}”; a number above 0 was expected, 0.0005 or 5e-4 for instance. Correct it, then "
            "start."
        )
    return number
