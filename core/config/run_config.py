"""All settings of a run: their dotted names such as model.width, the named presets, and TOML files.

TOML is written without a library: there are only strings, numbers and booleans in three tables.
"""

import dataclasses
import difflib
import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import ConfigError
from ..plain_text import EncodingError
from ..storage import read_text, reason_of
from ..strict_json import shown
from .groups import DataConfig, ModelConfig, TrainingConfig
from .settings import NOTHING, Setting, Settings, require_mapping

PARTS: dict[str, type[Settings]] = {group.owner: group for group in (ModelConfig, DataConfig, TrainingConfig)}
"""The groups of settings of a run, by name."""
_NUM_PROPOSED = 3
MAX_BYTES = 1_000_000
MAXPARTS = 32
"""Maximum parts of a key; `model.width` has two. The library takes quadratic time: an hour for a file of dots."""
_STRING_OR_COMMENT = re.compile(
    r"""\"{3}(?:[^"\\]|\\.|"(?!""))*+(?:\"{3}|\Z|\\)|'{3}(?:[^']|'(?!''))*+(?:'{3}|\Z)|"""
    r""""(?:[^"\\\n]|\\.)*+"?|'[^'\n]*+'?|#[^\n]*+""",
    re.DOTALL,
)
_LONG_KEY = re.compile(rf"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++){{{MAXPARTS}}}")
_ADDED_LATER = frozenset(
    (
        *("compile", "deterministic", "batching", "schedule_unit", "r_drop", "source_noise"),
        "token_cutoff",
        *("fit_schedule", "initial_model", "distillation", "teachers"),
        *("num_decoder_heads", "decoder_feed_forward_width", "activation", "end_source", "target_code"),
    )
)
"""Settings that are missing from complete files of earlier versions."""
_HEADER = (
    "# A run of Augenmerk. To repeat it: augenmerk train --config FILE.toml --data … --out …\n"
    "# Settings not listed keep the preset's values.\n"
)


@dataclass(frozen=True)
class RunConfig:
    """All settings of a training run.

    Attributes:
        preset: the name it started from.
        description: one line for display.
        model, data, training: the three groups of settings.
    """

    preset: str
    description: str
    model: ModelConfig
    data: DataConfig
    training: TrainingConfig

    def __post_init__(self) -> None:
        if self.training.subword_dropout and self.data.num_subwords is None:
            raise ConfigError(
                f"training: subword_dropout is {self.training.subword_dropout}, but data: num_subwords is None: there "
                "are no subwords to cut in another way. Set num_subwords, or subword_dropout to 0."
            )
        if self.training.r_drop and not self.model.dropout:
            raise ConfigError(
                f"training: r_drop is {self.training.r_drop}, but model: dropout is {self.model.dropout}: two passes "
                "over a batch would not differ. Raise dropout, or set r_drop to 0."
            )
        if self.training.source_noise and self.is_copy_task:
            raise ConfigError(
                f"training: source_noise is {self.training.source_noise}, but the data are symbols, not "
                "sentences. Set source_noise to 0, or choose another preset."
            )
        is_joint = self.data.num_subwords is not None or self.data.tokenization != "spacy"
        if self.model.tied_embeddings == "all" and not is_joint:
            raise ConfigError(
                "model: tied_embeddings is 'all', but data: num_subwords is None: source and target have separate "
                "vocabularies. Set num_subwords, or tie the output only."
            )

    @property
    def is_copy_task(self) -> bool:
        """Whether the run generates its own data: random sequences of symbols."""
        return self.data.tokenization == "symbols"

    def with_training(self, **settings: Any) -> "RunConfig":
        """The run with other training settings. Raises `ConfigError` if one is unknown or refused."""
        return replace(self, training=self.training.replace(**settings))

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON-ready values."""
        parts = {part: getattr(self, part).to_dict() for part in PARTS}
        return {"preset": self.preset, "description": self.description, **parts}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "RunConfig":
        """The run that `values` describes. Raises `ConfigError` for unknown or refused settings."""
        require_mapping("A run", values)
        known = ("preset", "description", *PARTS)
        unknown = sorted(repr(name) for name in values if name not in known)
        if unknown:
            raise ConfigError(
                f"A run has no part {', '.join(unknown)}. Use preset, description, model, data and training."
            )
        for name in ("preset", "description"):
            if not isinstance(values.get(name, ""), str):
                raise ConfigError(f"A run's {name} is {shown(values[name])}. Use a text, between quotation marks.")
        parts: dict[str, Any] = {part: group.from_dict(values.get(part, {})) for part, group in PARTS.items()}
        return cls(values.get("preset", "custom"), values.get("description", ""), **parts)


@cache
def dotted_settings() -> Mapping[str, Setting]:
    """Every setting of a run by its dotted name: model.width, …, training.sample_size."""
    return {f"{part}.{name}": each for part, group in PARTS.items() for name, each in group.described().items()}


def value_of(run: RunConfig, name: str) -> Any:
    """The value of the setting with this dotted name."""
    part, _, setting = name.partition(".")
    return getattr(getattr(run, part), setting)


def read_value(name: str, text: str) -> Any:
    """The value of the setting that a text states. Raises `ConfigError` if it states none."""
    try:
        return dotted_settings()[name].read(text)
    except ConfigError as error:
        raise ConfigError(f"{name} {error}") from None


def with_dotted(run: RunConfig, given: Sequence[str], taken: Collection[str] = ()) -> RunConfig:
    """The run with settings changed, all at once: a width may need another number of heads.

    Args:
        run: the run to change.
        given: NAME=VALUE each, with a dotted name; the value `none` for a setting that may be left open.
        taken: dotted names that are set in another way.

    Raises:
        ConfigError: there is no such setting, it is set twice, or its value is refused.
    """
    changes = read_settings(given, taken)
    return replace(run, **{part: getattr(run, part).replace(**changed) for part, changed in changes.items() if changed})


def read_settings(given: Sequence[str], taken: Collection[str] = ()) -> dict[str, dict[str, Any]]:
    """The values of settings, by part and name. Arguments and errors are those of `with_dotted`."""
    changes: dict[str, dict[str, Any]] = {part: {} for part in PARTS}
    for word in given:
        name, sign, text = (each.strip() for each in word.partition("="))
        if not sign:
            raise ConfigError(f"{word!r} has no value. Use NAME=VALUE, such as model.width=64.")
        part, _, setting = _known(name).partition(".")
        if setting in changes[part] or name in taken:
            raise ConfigError(f"{name} is set twice. Leave one of the two out.")
        changes[part][setting] = read_value(name, text)
    return changes


def _known(name: str) -> str:
    names = dotted_settings()
    if name in names:
        return name
    nearest = [each for each in names if each.partition(".")[2] == name.rpartition(".")[2]]
    nearest += difflib.get_close_matches(name, names, n=_NUM_PROPOSED, cutoff=0.5)
    proposed = list(dict.fromkeys(nearest))[:_NUM_PROPOSED] or ["model.width", "data.num_subwords", "training.seed"]
    raise ConfigError(
        f"There is no setting {name!r}. The nearest are {', '.join(proposed)}; augenmerk train --list-settings lists "
        "all."
    )


_ANNOTATED_MODEL = ModelConfig(
    width=512,
    num_encoder_layers=6,
    num_decoder_layers=6,
    feed_forward_width=2048,
    norm_position="pre",
    norm_kind="annotated",
    final_norm=True,
    positions="sinusoidal",
    max_positions=5000,
)
_ANNOTATED_TRAINING = TrainingConfig(
    schedule="noam",
    adam_beta2=0.98,
    adam_epsilon=1e-9,
    label_smoothing=0.1,
)
_COPY_TRAINING = _ANNOTATED_TRAINING.replace(warmup_steps=400, label_smoothing=0.0, batch_size=30, num_epochs=10)
_COPY_DATA = DataConfig(tokenization="symbols", source_case="keep", target_case="keep", wrap_source=False)

PRESETS: dict[str, RunConfig] = {
    run.preset: run
    for run in (
        RunConfig(
            preset="multi30k",
            description="The bundled model's architecture, trained in one stage: joint BPE, tied embeddings.",
            model=ModelConfig(
                feed_forward_width=1024,
                dropout=0.25,
                norm_position="pre",
                final_norm=True,
                positions="sinusoidal",
                max_positions=256,
                tied_embeddings="all",
                output_bias=False,
                initialization="xavier-normal-embeddings",
            ),
            data=DataConfig(source_case="lower", target_case="sentence", keep_spaces=False, num_subwords=8000),
            training=_ANNOTATED_TRAINING.replace(
                batch_unit="tokens",
                batch_size=2500,
                num_epochs=30,
                cooldown_epochs=10,
                fit_schedule=True,
                noam_factor=0.5,
                warmup_steps=400,
                clip_norm=1.0,
                precision="auto",
            ),
        ),
        RunConfig(
            preset="notebook",
            description="pytorch-seq2seq, notebook 6: post-norm, learned positions, constant rate.",
            model=ModelConfig(),
            data=DataConfig(),
            training=TrainingConfig(batching="random", clip_norm=1.0),
        ),
        RunConfig(
            preset="annotated-2018",
            description="The Annotated Transformer, 2018: pre-norm, Noam rate, token batches.",
            model=_ANNOTATED_MODEL,
            data=DataConfig(source_case="keep", target_case="keep", wrap_source=False, max_length=100),
            training=_ANNOTATED_TRAINING.replace(
                batch_unit="tokens", batch_size=12000, batching="annotated", warmup_steps=2000
            ),
        ),
        RunConfig(
            preset="annotated-2022",
            description="The Annotated Transformer, 2022: small batches, gradients accumulated over ten.",
            model=_ANNOTATED_MODEL,
            data=DataConfig(source_case="keep", target_case="keep", max_length=70),
            training=_ANNOTATED_TRAINING.replace(
                batch_size=32,
                batching="random",
                num_accumulated=10,
                pad_to=72,
                warmup_steps=3000,
                schedule_unit="micro-batches",
                num_epochs=8,
            ),
        ),
        RunConfig(
            preset="copy-task",
            description="Learn to repeat ten symbols: the first example of The Annotated Transformer.",
            model=_ANNOTATED_MODEL.replace(num_encoder_layers=2, num_decoder_layers=2),
            data=_COPY_DATA,
            training=_COPY_TRAINING,
        ),
        RunConfig(
            preset="copy-task-small",
            description="The copy task at width 64: a Transformer that learns while you watch.",
            model=_ANNOTATED_MODEL.replace(
                width=64, num_encoder_layers=2, num_decoder_layers=2, num_heads=4, feed_forward_width=256
            ),
            data=_COPY_DATA.replace(copy_training_pairs=1800),
            training=_COPY_TRAINING,
        ),
    )
}
DEFAULT_PRESET = "multi30k"
RATE_OF_FURTHER_TRAINING = 1e-4
"""A rate at which a model that is trained further keeps what it has learned."""


def preset(name: str) -> RunConfig:
    """The preset called `name`. Raises `ConfigError` if there is none."""
    try:
        return PRESETS[name]
    except KeyError:
        raise ConfigError(f"There is no preset {name!r}. Choose from: {', '.join(PRESETS)}.") from None


def further(model: RunConfig) -> RunConfig:
    """The settings for training a model further, from those that it was trained or imported with.

    It keeps its architecture and text processing, and gets the training settings of its preset (of `DEFAULT_PRESET`, if
    it has none) at a constant, low rate.
    """
    training = PRESETS.get(model.preset, PRESETS[DEFAULT_PRESET]).training
    return replace(model, training=training.replace(schedule="constant", learning_rate=RATE_OF_FURTHER_TRAINING))


def to_toml(run: RunConfig) -> str:
    """Every setting of `run` as TOML, for `from_toml`."""
    values = run.to_dict()
    lines = [_HEADER, f"preset = {_value(values['preset'])}\n", f"description = {_value(values['description'])}\n"]
    for part in PARTS:
        lines.append(f"\n[{part}]\n")
        lines += [f"{name} = {_value(value)}\n" for name, value in values[part].items()]
    return "".join(lines)


def _value(value: str | int | float | bool | None) -> str:
    """The value as JSON, which is valid TOML for these types if the delete character is escaped, too."""
    return json.dumps(NOTHING if value is None else value, ensure_ascii=False).replace("\x7f", "\\u007F")


def read_toml(path: Path, parts: Mapping[str, Settings] | None = None) -> RunConfig:
    """The run that the file at `path` describes; `parts` as for `from_toml`.

    Raises:
        ConfigError: it is missing or not TOML, or a setting is unknown or refused.
    """
    try:
        text = read_text(path, MAX_BYTES)
    except (OSError, EncodingError) as error:
        raise ConfigError(
            f"{path} cannot be read: {reason_of(error)}. Name a TOML file with the settings of a run, such as run.toml "
            "in a run's folder."
        ) from error
    try:
        return from_toml(text, parts)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def from_toml(text: str, parts: Mapping[str, Settings] | None = None) -> RunConfig:
    """The run that `text` describes. Missing settings come from `parts`, or from the preset that it names, if any.

    A file that lacks only newer settings is a complete file of an earlier version. These settings take their defaults,
    which keep the earlier behaviour, even if the preset has changed since.

    Args:
        text: TOML.
        parts: groups of settings by name, such as those of a model to train further.

    Raises:
        ConfigError: it is not TOML, or a setting is unknown or refused.
    """
    if found := _LONG_KEY.search(_STRING_OR_COMMENT.sub("_", text)):
        raise ConfigError(
            f"This is not TOML of a run: a name of more than {MAXPARTS} parts, {found.group()[:20]}… Use names "
            "such as model.width."
        )
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: of TOML, or a number of thousands of digits
        raise ConfigError(f"This is not TOML: {error}. Use lines such as batch_size = 64 below [training].") from error
    base = PRESETS.get(str(values.get("preset", "")))
    defaults: Mapping[str, Settings] = (vars(base) if base else {}) | dict(parts or {})
    merged: dict[str, Any] = {"preset": "custom", "description": ""} | values
    if base is not None and "description" not in values:
        merged["description"] = base.description
    for part, settings in PARTS.items():
        given = values.get(part, {})
        require_mapping(f"[{part}]", given)
        rest = defaults[part].to_dict() if part in defaults and not _is_whole(settings, given) else {}
        merged[part] = rest | _with_nothing(settings, given)
    return RunConfig.from_dict(merged)


def _is_whole(settings: type[Settings], given: dict[str, Any]) -> bool:
    """Whether the file that gives these settings was complete for the version that wrote it."""
    return {field.name for field in dataclasses.fields(settings)} - given.keys() <= _ADDED_LATER  # type: ignore[arg-type]


def _with_nothing(settings: type[Settings], given: dict[str, Any]) -> dict[str, Any]:
    """Converts `NOTHING` to None where None is allowed."""
    can_be_none = {field.name for field in dataclasses.fields(settings) if field.default is None}  # type: ignore[arg-type]
    return {name: None if value == NOTHING and name in can_be_none else value for name, value in given.items()}
