"""Experiments as text: files (`*.augenmerk`) and JSON. No torch.

UTF-8 JSON of at most 1 MB, read strictly: one unexpected field, and the whole file is refused with
a message that names it. The file holds the name of its model, never a path, because people pass
files on. All counting starts at 0.

    {"format": "augenmerk", "version": 1, "kind": "experiment",
     "experiment": {
         "source_text": "Zwei Hunde.",
         "output": {"type": "beam", "size": 4, "length_penalty": 1.5},
         "interventions": [
             {"type": "source_word_removed", "place": 0},
             {"type": "source_word_replaced", "place": 1, "text": "Katze"},
             {"type": "head_scaled", "head": {"kind": "cross", "layer": 1, "head": 4}, "factor": 0},
             {"type": "feed_forward_scaled", "network": {"side": "decoder", "layer": 1},
              "factor": 0.5},
             {"type": "softmax_temperature", "head": {"kind": "cross", "layer": 1, "head": 5},
              "temperature": 2.0},
             {"type": "attention_row", "head": {"kind": "decoder", "layer": 0, "head": 0},
              "row": 1, "weights": [0.25, 0.75]},
             {"type": "forced_token", "step": 2, "token": "▁dog"}]},
     "view": {"layer": 1, "words": true},
     "model": {"name": "multi30k-de-en", "digest": "5d04…"}}

Other outputs are `{"type": "greedy"}` and `{"type": "given", "text": "Two dogs."}`. In an output or
an intervention, the field `type` names the dataclass, and the other fields are those of the
dataclass. `--json` of the commands and the kept session use the same form.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from ..arguments import CheckedFields, checks_arguments
from ..config.groups import MAX_LENGTH_PENALTY
from ..errors import AugenmerkError, ExperimentError, ExperimentFileError
from ..model.heads import ATTENTION_KINDS, SIDES, AttentionKind, Head, Network, Side
from ..storage import atomic_path, open_file
from ..strict_json import Field, JsonError, parse
from .experiment import (
    INTERVENTION_TYPES,
    MAX_BEAM,
    MAX_FACTOR,
    MAX_INDEX,
    MAX_TEMPERATURE,
    MIN_TEMPERATURE,
    Beam,
    Experiment,
    GivenTarget,
    Greedy,
    Intervention,
    Output,
)

MAX_INTERVENTIONS = 10_000
PartT = TypeVar("PartT", bound=Output | Intervention)

_OUTPUTS: Mapping[str, type[Output]] = {"greedy": Greedy, "beam": Beam, "given": GivenTarget}
# such as head_scaled; old files need the same names
_INTERVENTIONS: Mapping[str, type[Intervention]] = {
    re.sub("(?<!^)(?=[A-Z])", "_", kind.__name__).lower(): kind for kind in INTERVENTION_TYPES
}
_TYPE_NAMES = {kind: name for name, kind in (*_OUTPUTS.items(), *_INTERVENTIONS.items())}


@checks_arguments
def experiment_to_json(experiment: Experiment) -> dict[str, Any]:
    """The experiment as dictionaries, lists, texts and numbers."""
    return {
        "source_text": experiment.source_text,
        "output": part_to_json(experiment.output),
        "interventions": [part_to_json(intervention) for intervention in experiment.interventions],
    }


def part_to_json(value: Output | Intervention) -> dict[str, Any]:
    """An output or an intervention; the field `type` names which one it is."""
    return {"type": _TYPE_NAMES[type(value)]} | asdict(value, dict_factory=_with_lists)


def _with_lists(members: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in members}


@checks_arguments
def experiment_from_json(value: object, path: str = "experiment") -> Experiment:
    """The experiment that `experiment_to_json` described.

    Args:
        value: any JSON value.
        path: what messages call this value, such as “experiment”; not a file.

    Raises:
        ExperimentError: it does not describe an experiment; the message names the field by its
            path.
    """
    try:
        return _experiment(Field(value, path))
    except JsonError as error:
        raise ExperimentError(f"{error} Correct this field.") from error


def intervention_from_json(value: object) -> Intervention:
    """The intervention that `part_to_json` described. Raises `ExperimentError`."""
    try:
        return _part(Field(value, "intervention"), _INTERVENTIONS)
    except JsonError as error:
        raise ExperimentError(f"{error} Correct this field.") from error


def _experiment(field: Field) -> Experiment:
    members = field.members("source_text", "output", "interventions")
    interventions = tuple(
        _part(item, _INTERVENTIONS) for item in members["interventions"].items(MAX_INTERVENTIONS)
    )
    text = members["source_text"].text()
    output = _part(members["output"], _OUTPUTS)
    return _made(field, lambda: Experiment(text, output, interventions))


def _part(field: Field, kinds: Mapping[str, type[PartT]]) -> PartT:
    """The value of the dataclass that the field `type` names.

    Checks that depend on several fields are those of its constructor. They are reported for its
    last field.
    """
    names = tuple(field.value) if isinstance(field.value, dict) else ()
    kind = kinds[field.members("type", optional=names)["type"].choice(kinds)]
    attributes = [attribute.name for attribute in fields(kind)]
    members = field.members("type", *attributes)
    values = {name: _READERS[name](members[name]) for name in attributes}
    return _made(members[attributes[-1] if attributes else "type"], lambda: kind(**values))


def _head(field: Field) -> Head:
    members = field.members("kind", "layer", "head")
    kind = cast(AttentionKind, members["kind"].choice(ATTENTION_KINDS))
    return Head(kind, _index(members["layer"]), _index(members["head"]))


def _network(field: Field) -> Network:
    members = field.members("side", "layer")
    return Network(cast(Side, members["side"].choice(SIDES)), _index(members["layer"]))


def _index(field: Field) -> int:
    return field.whole_number(0, MAX_INDEX)


def _weights(field: Field) -> tuple[float, ...]:
    return tuple(item.number(0, math.inf) for item in field.items(MAX_INDEX + 1))


_READERS: Mapping[str, Callable[[Field], Any]] = {
    "size": lambda field: field.whole_number(1, MAX_BEAM),
    "length_penalty": lambda field: field.number(0, MAX_LENGTH_PENALTY),
    "text": Field.text,
    "place": _index,
    "head": _head,
    "network": _network,
    "factor": lambda field: field.number(-MAX_FACTOR, MAX_FACTOR),
    "temperature": lambda field: field.number(MIN_TEMPERATURE, MAX_TEMPERATURE),
    "row": _index,
    "weights": _weights,
    "step": _index,
    "token": Field.text,
}
"""The reader of each field of an output or intervention. A name means the same in all of them."""


def _made(field: Field, make: Callable[[], PartT | Experiment]) -> Any:
    """The result of `make`; its errors are reported with the path of the field."""
    try:
        return make()
    except AugenmerkError as error:
        raise JsonError(f"{field.path}: {error}") from error


FORMAT_NAME = "augenmerk"
FORMAT_VERSION = 1
KIND = "experiment"
DOCUMENT_FIELDS = ("format", "version", "kind")
SAVED_FIELDS = ("experiment", "view", "model")
SUFFIX = ".augenmerk"
MAX_BYTES = 1_000_000
MAX_DEPTH = 10
"""Maximum depth of nested lists and objects. An experiment needs six, a lesson eight."""
MAX_NAME_CHARACTERS = 255
MAX_VIEW_SETTINGS = 200
MAX_VIEW_ITEMS = 1_000
MAX_VIEW_CHARACTERS = 10_000
MAX_VIEW_NUMBER = 2**53
_MAX_CHECKPOINT_HEADER = 100_000_000
"""Maximum bytes of JSON at the beginning of a safetensors file, by its format."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_DIGEST = re.compile("[0-9a-f]{64}")

ViewScalar = str | int | float | bool | None
ViewValue = ViewScalar | tuple["ViewScalar | tuple[ViewScalar, ...]", ...]
FileKind = Literal["experiment", "checkpoint", "unknown"]


@dataclass(frozen=True)
class ModelReference(CheckedFields):
    """The model that an experiment was made with.

    Attributes:
        name: for people; not a path: everything before a slash or backslash is dropped.
        digest: of weights and vocabularies, see `core.checkpoint.file`; 64 hexadecimal digits.
    """

    name: str
    digest: str

    def __post_init__(self) -> None:
        super().__post_init__()
        name = re.split(r"[/\\]", self.name)[-1][:MAX_NAME_CHARACTERS]
        # of undecodable file names
        object.__setattr__(self, "name", _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", name))


@dataclass(frozen=True)
class SavedExperiment(CheckedFields):
    """The content of an experiment file.

    Attributes:
        experiment: the sentence, its output, its interventions.
        model: the model it was made with.
        view: settings of the window by name, which only the window interprets: texts, finite
            numbers, true, false, None, and short tuples of these.
    """

    experiment: Experiment
    model: ModelReference
    view: Mapping[str, ViewValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(
            self, "view", {name: _as_tuples(value) for name, value in self.view.items()}
        )


@checks_arguments
def write_experiment_file(
    saved: SavedExperiment, path: Path | str, *, durable: bool = True
) -> None:
    """Writes the file, atomically; `durable` as in `atomic_path`.

    Raises:
        ExperimentFileError: it would be too large, or could not be read back.
        StorageError: the file cannot be written; an older one stays intact.
    """
    data = to_bytes(saved)
    with atomic_path(path, durable=durable) as temporary:
        temporary.write_bytes(data)


def to_bytes(saved: SavedExperiment) -> bytes:
    """The content of the file. Raises `ExperimentFileError`."""
    return document_to_bytes(KIND, saved_to_json(saved), lambda data: _read(data) == saved)


def document_to_bytes(
    kind: str, values: Mapping[str, Any], comes_back: Callable[[bytes], bool]
) -> bytes:
    """The content of a file.

    Args:
        kind: of the file, for the file itself and for messages.
        values: its fields beside `DOCUMENT_FIELDS`.
        comes_back: whether the content is read as what is written. Raises `JsonError`.

    Raises:
        ExperimentFileError: it would be too large, or could not be read back.
    """
    whole = {"format": FORMAT_NAME, "version": FORMAT_VERSION, "kind": kind, **values}
    try:
        data = (json.dumps(whole, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode(
            "utf-8"
        )
        if not comes_back(data):
            raise JsonError("It could not be read back unchanged.")
    except (ValueError, TypeError) as error:
        if isinstance(error, UnicodeEncodeError):
            error = JsonError("A text holds an invalid character (lone surrogate).")
        reason = str(error).rstrip(".")
        raise ExperimentFileError(
            f"This {kind} cannot be written to a file: {reason}. Nothing was written; change the "
            f"{kind}."
        ) from error
    return data


def saved_to_json(saved: SavedExperiment) -> dict[str, Any]:
    """The fields `SAVED_FIELDS` of a file, or of a scene of a lesson."""
    return {
        "experiment": experiment_to_json(saved.experiment),
        "view": dict(saved.view),
        "model": {"name": saved.model.name, "digest": saved.model.digest},
    }


@checks_arguments
def read_experiment_file(path: Path | str) -> SavedExperiment:
    """Reads an experiment file.

    Raises:
        ExperimentFileError: the file is missing, of another kind, damaged, or from a newer version.
    """
    return from_bytes(content_of(path), path)


def from_bytes(data: bytes, path: Path | str) -> SavedExperiment:
    """The experiment in the content of a file. Raises `ExperimentFileError`."""
    with naming_the_file(path, "an experiment"):
        return _read(data)


@contextmanager
def naming_the_file(path: Path | str, expected: str) -> Iterator[None]:
    """A context in which errors of reading a file become an `ExperimentFileError`.

    Args:
        path: of the file.
        expected: what it should be, such as "an experiment".
    """
    try:
        yield
    # the latter of a value that the reader let through
    except (JsonError, AugenmerkError) as error:
        raise ExperimentFileError(
            f"{path} cannot be used as {expected}. {error} Nothing was opened; correct the file, "
            "or choose another."
        ) from error


def content_of(path: Path | str) -> bytes:
    """The content of a file, cut off after the limit, which its reader reports.

    Raises `ExperimentFileError`.
    """
    return _head_of(Path(path), MAX_BYTES + 1)


def kind_of_file(path: Path | str) -> FileKind:
    """The kind of a file by its content, not its name; the reader of that kind reports errors.

    A lesson counts as an experiment here, until it is read.

    Raises:
        ExperimentFileError: it is missing, not a regular file, or not readable.
    """
    head = _head_of(Path(path), 4096)
    if (
        len(head) > 8
        and head[8:9] == b"{"
        and int.from_bytes(head[:8], "little") <= _MAX_CHECKPOINT_HEADER
    ):
        return "checkpoint"
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{":
        return "experiment"
    return "unknown"


def _head_of(path: Path, num_bytes: int) -> bytes:
    """At most `num_bytes` from the beginning of a file; only regular ones, as others can block."""
    advice = f"Choose an experiment (*{SUFFIX}) or a checkpoint (*.safetensors)."
    try:
        with open_file(path) as file:
            return file.read(num_bytes)
    except FileNotFoundError as error:
        raise ExperimentFileError(f"There is no file {path}. {advice}") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise ExperimentFileError(f"{path} cannot be read: {reason}. {advice}") from error


def _read(data: bytes) -> SavedExperiment:
    """The experiment in a file. Raises `JsonError`."""
    return read_saved(document_in(data, KIND)[1].members(*DOCUMENT_FIELDS, *SAVED_FIELDS))


def document_in(data: bytes, *kinds: str) -> tuple[str, Field]:
    """The kind of a file, one of `kinds`, and its fields, unchecked but for `DOCUMENT_FIELDS`.

    Raises `JsonError`.
    """
    if len(data) > MAX_BYTES:
        raise JsonError(f"It has more than {MAX_BYTES:,} bytes, the limit.")
    whole = parse(data, max_depth=MAX_DEPTH)
    _header(whole, "format").choice([FORMAT_NAME])
    version = _header(whole, "version").whole_number(1, MAX_VIEW_NUMBER)
    if version > FORMAT_VERSION:
        raise JsonError(
            f"It was written by a newer Augenmerk: version is {version}, above {FORMAT_VERSION}. "
            "Update Augenmerk."
        )
    return _header(whole, "kind").choice(kinds), whole


def read_saved(members: Mapping[str, Field]) -> SavedExperiment:
    """The experiment in the fields `SAVED_FIELDS`. Raises `JsonError`."""
    return SavedExperiment(
        _experiment(members["experiment"]),
        _model(members["model"]),
        {
            name: _view_value(value, 2)
            for name, value in members["view"].any_members(MAX_VIEW_SETTINGS).items()
        },
    )


def _header(whole: Field, name: str) -> Field:
    """One field, the others unchecked: a newer version may have other fields."""
    return whole.members(
        name, optional=tuple(whole.value) if isinstance(whole.value, dict) else ()
    )[name]


def _model(field: Field) -> ModelReference:
    members = field.members("name", "digest")
    name = members["name"].text(MAX_NAME_CHARACTERS)
    digest = members["digest"].text()
    reference = ModelReference(name, digest)
    if reference.name != name:
        members["name"].refuse("a name without / and \\")
    if not _DIGEST.fullmatch(digest):
        members["digest"].refuse("64 lower-case hexadecimal digits")
    return reference


def _view_value(field: Field, depth: int) -> Any:
    """A scalar, or lists of them to this depth, as tuples."""
    value = field.value
    if isinstance(value, list) and depth:
        return tuple(_view_value(item, depth - 1) for item in field.items(MAX_VIEW_ITEMS))
    if isinstance(value, str):
        return field.text(MAX_VIEW_CHARACTERS)
    if isinstance(value, list | dict):
        field.refuse(
            "a text, a number, true, false or null" + (", or a list of these" if depth else "")
        )
    if isinstance(value, int) and not isinstance(value, bool):
        return field.whole_number(-MAX_VIEW_NUMBER, MAX_VIEW_NUMBER)
    return value


def _as_tuples(value: Any) -> Any:
    return tuple(_as_tuples(item) for item in value) if isinstance(value, list | tuple) else value
