"""The settings of a run as typed into the form, and the configuration they give.

No Qt, no torch.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from augenmerk.core.config import RunConfig
from augenmerk.core.counting import display_text
from augenmerk.core.errors import AugenmerkError, ConfigError, CorpusError
from augenmerk.core.extensions.run_settings.dotted import (
    dotted_settings,
    read_value,
    value_of,
    with_dotted,
)
from augenmerk.core.extensions.run_settings.presets import PRESETS, preset
from augenmerk.core.extensions.training.corpora.parallel import DataSource
from augenmerk.core.extensions.training.duration import Speed, steps_per_epoch, work_of
from augenmerk.core.extensions.training.folder import default_runs_folder
from augenmerk.core.extensions.training.schedules import (
    describe_schedule,
    schedule_in_short,
    warmup_optimizer_steps,
)
from augenmerk.core.quantities import about, counted
from augenmerk.core.text.languages import language_code

from ....state.model_info import heads_in_words

DataKind = Literal["multi30k", "folder", "file"]
DATA_KINDS: tuple[DataKind, ...] = ("multi30k", "folder", "file")
BEGINNERS_PRESET = "copy-task-small"
"""The preset of the first run, which the menu offers first: it learns while you watch, without
data."""
_LANGUAGES = ("data.source_language", "data.target_language")
_OF_EVERY_PRESET = (*_LANGUAGES, "training.seed", "training.patience")
"""Settings that stay when another preset is chosen."""


@dataclass(frozen=True)
class RunChoices:
    """The values of the form. Settings are still text, so that mistakes can be shown and corrected.

    Attributes:
        preset: name of the configuration to start from.
        data_kind: the source of sentence pairs; ignored by the copy presets, which generate their
            own.
        data_path: the folder or file; empty if none was chosen yet.
        device: "auto", "cpu", "cuda:0" …
        parent_folder: each run gets a folder of its own in it.
        probe: the sentence of the film of attention; empty for one of the validation sentences.
        settings: edited settings by dotted name, as typed and never empty. All others are those of
            the preset.
    """

    preset: str
    data_kind: DataKind
    data_path: str
    device: str
    parent_folder: Path
    probe: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def default(cls) -> "RunChoices":
        """The choices of the first run."""
        return cls(BEGINNERS_PRESET, "multi30k", "", "auto", default_runs_folder())

    @property
    def is_copy_task(self) -> bool:
        """Whether the run generates its own data."""
        return self.preset in PRESETS and self.value("data.tokenization") == "symbols"

    @property
    def has_languages(self) -> bool:
        """Whether the user provides the data, so that its languages can differ."""
        return not self.is_copy_task and self.data_kind != "multi30k"

    def is_settled(self, name: str) -> bool:
        """Whether the setting follows from the data, and cannot be edited: the languages of
        Multi30k.
        """
        return name in _LANGUAGES and not self.has_languages

    def text(self, name: str) -> str:
        """The text typed for the setting; empty for the preset's value."""
        return "" if self.is_settled(name) else self.settings.get(name, "")

    def preset_text(self, name: str) -> str:
        """The preset's value of the setting, as it would be typed."""
        return dotted_settings()[name].write(value_of(preset(self.preset), name))

    def value(self, name: str) -> Any:
        """The value of the setting; the preset's, if the typed one is refused."""
        return value_of(preset(self.preset), name) if self.problem(name) else self._value(name)

    def problem(self, name: str) -> str:
        """The reason if the typed text is refused; else empty."""
        try:
            self._value(name)
        except ConfigError as error:
            return display_text(error)
        return ""

    def differs(self, name: str) -> bool:
        """Whether the setting is not as in the preset."""
        return bool(self.problem(name)) or self._value(name) != value_of(preset(self.preset), name)

    def differences(self) -> list[str]:
        """The settings that are not as in the preset."""
        return [name for name in dotted_settings() if self.differs(name)]

    def with_settings(self, text: str, *names: str) -> "RunChoices":
        """These settings as typed; an empty text restores the preset's values."""
        settings = {name: value for name, value in self.settings.items() if name not in names}
        return replace(
            self, settings=settings | (dict.fromkeys(names, text) if text.strip() else {})
        )

    def with_preset(self, name: str) -> "RunChoices":
        """Another preset and its settings; languages, seed, patience and other choices stay."""
        settings = {
            setting: text for setting, text in self.settings.items() if setting in _OF_EVERY_PRESET
        }
        return replace(self, preset=name, settings=settings)

    def run_config(self) -> RunConfig:
        """The preset with the edited settings.

        Raises `ConfigError` if one of them is refused, or all together.
        """
        typed = {name: self._as_code(name) for name in self.settings if self.text(name)}
        return with_dotted(preset(self.preset), [f"{name}={text}" for name, text in typed.items()])

    def _value(self, name: str) -> Any:
        return (
            read_value(name, self._as_code(name))
            if self.text(name)
            else value_of(preset(self.preset), name)
        )

    def _as_code(self, name: str) -> str:
        """The typed text; the English name of a language as its code."""
        text = self.text(name).strip()
        return (language_code(text) or text) if name in _LANGUAGES else text

    def source(self) -> str | Path:
        """The source for `load_corpus`. Raises `CorpusError` if no folder or file was chosen."""
        if self.is_copy_task:
            return "copy"
        if self.data_kind == "multi30k":
            return "multi30k"
        noun = (
            "folder of parallel files" if self.data_kind == "folder" else "file of sentence pairs"
        )
        if not self.data_path.strip():
            raise CorpusError(f"Choose a {noun} under “data”, or use Multi30k.")
        return Path(self.data_path).expanduser()


def rate_name(choices: RunChoices) -> str:
    """The setting of the learning rate; with a Noam schedule, its factor."""
    is_noam = choices.value("training.schedule") == "noam"
    return "training.noam_factor" if is_noam else "training.learning_rate"


def new_run_folder(parent: Path, name: str, now: Callable[[], datetime] = datetime.now) -> Path:
    """A path under `parent` that does not exist: name and time, with a number if two runs start in
    one minute.
    """
    stem = f"{name}-{now():%Y-%m-%d-%H%M}"
    folder = parent / stem
    count = 2
    while _exists(folder):
        folder = parent / f"{stem}-{count}"
        count += 1
    return folder


def _exists(path: Path) -> bool:
    """Whether the path exists; False if it cannot be read (starting the run will report that)."""
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
    elif data.is_imported:
        vocabulary = "that of the imported model"
    else:
        vocabulary = f"words seen {data.min_frequency}× or more"
    return [
        (
            "layers",
            f"{model.num_encoder_layers} + {model.num_decoder_layers} · {heads_in_words(model)}",
        ),
        ("width", f"{model.width} · feed-forward {model.feed_forward_width:,}"),
        ("norm", f"{model.norm_position}-norm · {model.positions} positions"),
        ("vocabulary", vocabulary),
        ("batch", batch),
        ("rate", rate),
        ("smoothing", f"{training.label_smoothing:g} · dropout {model.dropout:g}"),
    ]


def schedule_note(run: RunConfig, source: str | Path) -> tuple[str, str]:
    """A note on the warm-up and cool-down of a short run, and a summary of it; empty if they are
    complete.

    The copy task was published that short.
    """
    if run.is_copy_task:
        return "", ""
    num_steps = steps_per_epoch(run, source)
    note = describe_schedule(run.training, num_steps) or ""
    return note, schedule_in_short(run.training, num_steps)


MEASURING = "measuring the duration…"


def estimated_duration(choices: RunChoices, speeds: Mapping[str, Speed] | None) -> str:
    """A rough duration of the run, such as "about 1 minute"; empty if it is unknown, or if the run
    is refused.

    `speeds`: by the name of the device; None while they are measured.
    """
    try:
        work = work_of(choices.run_config(), choices.source(), choices.device)
    except AugenmerkError:
        return ""
    if speeds is None:
        return MEASURING if work is not None else ""
    speed = speeds.get(choices.device)
    return about(speed.seconds(work)) if speed is not None and work is not None else ""


def data_name(source: DataSource) -> str:
    """The name of the training data for display."""
    if isinstance(source, tuple):
        return " and ".join(map(with_tilde, source))
    return {"multi30k": "Multi30k", "copy": "copy task"}.get(str(source)) or with_tilde(
        Path(source)
    )


def run_summary_rows(
    run: RunConfig, source: DataSource, probe: str | None
) -> list[tuple[str, str]]:
    """The settings of a run as (name, value) for display."""
    training = run.training
    rows = [
        ("preset", run.preset),
        *key_settings(run),
        ("data", data_name(source)),
        ("epochs", f"{training.num_epochs:,}"),
    ]
    if training.patience is not None:
        rows.append(("patience", counted(training.patience, "epoch")))
    rows.append(("seed", str(training.seed)))
    if probe:
        rows.append(("film sentence", probe))
    return rows


def whole_number(name: str, text: str, at_least: int) -> int:
    """The typed number. Raises `ConfigError`, which names the field of the form."""
    number: int | None
    try:
        number = int(text.strip().replace(",", "").replace(" ", ""))
    except ValueError:
        number = None
    if number is None or number < at_least:
        raise ConfigError(
            f"{name} is “{text.strip()}”. Enter a whole number of at least {at_least}, then start."
        )
    return number
