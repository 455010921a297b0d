"""One self-describing file for a model: weights as tensors, the rest as JSON in the header.

safetensors; no pickle.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from .. import __version__
from ..arguments import checks_arguments
from ..config import DecodingConfig, ModelConfig, RunConfig
from ..errors import AugenmerkError, CheckpointError, ConfigError, MissingExtensionError
from ..model.non_finite import is_finite
from ..model.shapes import MAX_TABLE_NUMBERS, NoRandomNumbers, num_table_numbers, parameter_shapes
from ..model.transformer import Transformer
from ..recognizers import recognize
from ..short_repr import ShortRepr
from ..storage import open_file, reason_of
from ..strict_json import shown
from ..tensor_file import TensorFile, UnsuitableFileError, open_tensor_file, write_tensor_file
from ..text.codec import CodecPair
from ..text.word_counts import MAX_PACKED_BYTES, WordCounts
from .history import EpochRecord

FORMAT_NAME = "augenmerk-checkpoint"
FORMAT_VERSION = 1
SUFFIX = ".safetensors"
_WEIGHTS, _STATE = "model.", "state."
_COUNTS = "word_counts.source"
_WEIGHT_TYPES = frozenset(("F16", "BF16", "F32", "F64"))
_STATE_TYPES = _WEIGHT_TYPES | {"U8", "I32", "I64"}


@dataclass(frozen=True)
class ModelOrigin:
    """The origin of an imported model.

    Attributes:
        format: of the files it was imported from, in one word, such as "marian".
        source: their name: of a repository at Hugging Face, or of the folder or file, without its
            path.
        revision: the repository's commit; empty for local files.
        licence: as stated by the repository; empty if it states none.
    """

    format: str
    source: str
    revision: str = ""
    licence: str = ""

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "ModelOrigin":
        """The origin that `asdict` gave. Raises `TypeError` if `values` are damaged."""
        names = {field.name for field in fields(cls)}
        if not isinstance(values, dict) or not all(
            isinstance(value, str) for value in values.values()
        ):
            raise TypeError(f"the origin is {values!r}, which is not a description of an origin")
        return cls(**{name: value for name, value in values.items() if name in names})


@dataclass(frozen=True, eq=False)
class Checkpoint(ShortRepr):
    """A trained model and how it was trained.

    Attributes:
        run: all settings.
        codecs: text to ids and back.
        weights: parameters by name, shared ones once.
        corpus: name of what it was trained on.
        corpus_digest: of its contents, `PreparedCorpus.digest`; empty for an imported model.
        history: one record for each validated epoch.
        state: tensors needed to resume training (optimizer, random numbers); empty in a file for
            translation only.
        progress: numbers needed to resume; empty in a file for translation only.
        written_by: version of Augenmerk.
        decoding: the model's own decoding settings.
        origin: the origin of an imported model; None for one that was trained here.
        word_counts: counts of the source words in the training data; None for models whose
            training data are not known or have no words.
        path: the file that it was read from; None if it was not read.
    """

    run: RunConfig
    codecs: CodecPair
    weights: Mapping[str, Tensor]
    corpus: str = ""
    history: tuple[EpochRecord, ...] = ()
    state: Mapping[str, Tensor] = field(default_factory=dict)
    progress: Mapping[str, Any] = field(default_factory=dict)
    written_by: str = __version__
    corpus_digest: str = ""
    decoding: DecodingConfig = field(default_factory=DecodingConfig)
    origin: ModelOrigin | None = None
    word_counts: WordCounts | None = None
    path: Path | None = None

    def build_model(self) -> Transformer:
        """The Transformer with these weights, in single precision, on the CPU, ready to translate.

        Raises:
            CheckpointError: the weights do not fit the configuration.
        """
        source = self.codecs.source.vocabulary
        target = self.codecs.target.vocabulary
        shapes = {name: tuple(value.shape) for name, value in self.weights.items()}
        # before allocating: a damaged width could ask for any amount
        check_shapes(self.run.model, self.codecs, shapes)
        with NoRandomNumbers():
            model = Transformer(self.run.model, len(source), len(target), source.padding_id)
        fill_parameters(model, self.weights)
        return model.eval()


def check_shapes(
    config: ModelConfig, codecs: CodecPair, shapes: Mapping[str, tuple[int, ...]]
) -> None:
    """Check that weights of these names and shapes fit the configuration and the vocabularies.

    The weights, not the claims of the configuration, bound its time and memory.

    Raises:
        CheckpointError: a name is missing or extra, a shape differs, or the computed positions are
            too many.
    """
    if problems := shape_problems(config, codecs, shapes):
        raise _misfit(problems)


def shape_problems(
    config: ModelConfig, codecs: CodecPair, shapes: Mapping[str, tuple[int, ...]]
) -> list[str]:
    """What `check_shapes` refuses, in words: one text for each parameter.

    Raises:
        CheckpointError: the settings do not fit the vocabularies.
    """
    for stack, num_layers in (
        ("encoder", config.num_encoder_layers),
        ("decoder", config.num_decoder_layers),
    ):
        present = {name.split(".")[1] for name in shapes if name.startswith(f"{stack}_layers.")}
        if num_layers > len(present):
            return [f"{num_layers:,} {stack} layers are claimed, and {len(present):,} are there"]
    if num_table_numbers(config) > MAX_TABLE_NUMBERS:
        claimed = f"{config.max_positions:,} positions of width {config.width:,}"
        return [f"{claimed} are claimed, more than {MAX_TABLE_NUMBERS:,} numbers"]
    try:
        expected = parameter_shapes(
            config, len(codecs.source.vocabulary), len(codecs.target.vocabulary)
        )
    except ConfigError as error:
        raise CheckpointError(str(error)) from error
    return _differences(expected, shapes)


def _differences(
    expected: Mapping[str, tuple[int, ...]], actual: Mapping[str, tuple[int, ...]]
) -> list[str]:
    problems = [f"{name} is missing" for name in expected.keys() - actual.keys()]
    problems += [f"{name} is not known" for name in actual.keys() - expected.keys()]
    problems += [
        f"{name} is {list(actual[name])}, not {list(expected[name])}"
        for name in expected.keys() & actual.keys()
        if actual[name] != expected[name]
    ]
    return problems


def first_of(problems: list[str]) -> str:
    """The first problems by name, for a message."""
    return f"{'; '.join(sorted(problems)[:3])}{' …' if len(problems) > 3 else ''}"


def _misfit(problems: list[str]) -> CheckpointError:
    return CheckpointError(
        "The weights do not fit the model's settings: "
        f"{first_of(problems)}. The file may be damaged. Use another copy."
    )


def not_finite(tensors: Mapping[str, Tensor]) -> list[str]:
    """A sentence about each tensor with values that are not finite, by name."""
    problems = []
    for name in sorted(tensors):
        value = tensors[name]
        if value.is_floating_point() and not is_finite(value):
            count = value.numel() - int(torch.isfinite(value).sum())
            problems.append(
                f"{name} has values that are NaN or infinite ({count:,} of {value.numel():,})"
            )
    return problems


def fill_parameters(model: Transformer, weights: Mapping[str, Tensor]) -> None:
    """Copies `weights` into the model's parameters, and recomputes the buffers.

    Raises:
        CheckpointError: a name is missing or extra, a shape differs, or a value is not finite.
    """
    parameters = dict(model.named_parameters())
    if problems := _differences(
        {name: tuple(parameter.shape) for name, parameter in parameters.items()},
        {name: tuple(value.shape) for name, value in weights.items()},
    ):
        raise _misfit(problems)
    if problems := not_finite(weights):
        raise CheckpointError(f"{problems[0]}. Use another copy or model.")
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])
    model.reset_constants()


def save_checkpoint(checkpoint: Checkpoint, path: Path, *, half_precision: bool = False) -> None:
    """Writes `checkpoint` to `path`, atomically.

    Args:
        half_precision: weights as 16-bit floats: half the size, the same translations but for rare
            ties.

    Raises:
        StorageError: the file cannot be written; an older one stays intact.
    """
    dtype = torch.float16 if half_precision else torch.float32
    weights = {name: _on_cpu(value).to(dtype) for name, value in checkpoint.weights.items()}
    state = {name: _on_cpu(value) for name, value in checkpoint.state.items()}
    tensors = {_WEIGHTS + name: value for name, value in weights.items()}
    tensors |= {_STATE + name: value for name, value in state.items()}
    metadata: dict[str, Any] = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "written_by": __version__,
        "run": checkpoint.run.to_dict(),
        "codecs": checkpoint.codecs.to_dict(),
        "corpus": checkpoint.corpus,
        "corpus_digest": checkpoint.corpus_digest,
        "history": [asdict(record) for record in checkpoint.history],
        "progress": dict(checkpoint.progress),
    }
    if checkpoint.decoding != DecodingConfig():
        metadata["decoding"] = checkpoint.decoding.to_dict()
    if checkpoint.origin is not None:
        metadata["origin"] = asdict(checkpoint.origin)
    counts: dict[str, Tensor] = {}
    if checkpoint.word_counts is not None:
        metadata["word_counts"] = checkpoint.word_counts.describe()
        counts[_COUNTS] = torch.frombuffer(
            bytearray(checkpoint.word_counts.pack()), dtype=torch.uint8
        )
    metadata["checksums"] = {
        "description": description_checksum(metadata),
        "weights": tensors_checksum(weights),
        "state": tensors_checksum(state),
    }
    if counts:
        metadata["checksums"]["word_counts"] = tensors_checksum(counts)
    tensors |= counts
    write_tensor_file(path, tensors, metadata, save_file)


def _on_cpu(tensor: Tensor) -> Tensor:
    return tensor.detach().cpu().contiguous()


def load_checkpoint(path: Path, *, with_state: bool = False) -> Checkpoint:
    """Reads a checkpoint.

    Everything in it is checked here, and sizes before anything of that size is made.

    Args:
        path: the file.
        with_state: also read the state for resuming.

    Raises:
        CheckpointError: the file is missing, empty, cut off, foreign, damaged, changed since it was
            written, or from a newer version.
    """
    path = Path(path)
    try:
        _check_not_empty(path)
        with open_tensor_file(path, "pt") as file:
            description = file.description_of(
                FORMAT_NAME,
                FORMAT_VERSION,
                "one of Augenmerk's checkpoints. Choose a file written by `augenmerk train` or "
                "the Train page.",
            )
            described = _described(path, description)
            try:
                check_shapes(
                    described.run.model, described.codecs, _shapes(file, _WEIGHTS, _WEIGHT_TYPES)
                )
                _shapes(file, _STATE, _STATE_TYPES)
            except CheckpointError as error:
                raise CheckpointError(f"{path}: {error}") from error
            word_counts = _read_word_counts(path, file, description, described.run)
            weights = _read(file, _WEIGHTS)
            state = _read(file, _STATE) if with_state else {}
    except (OSError, ValueError) as error:
        if (recognized := recognize(path)) is not None:
            raise CheckpointError(recognized.message) from error
        if isinstance(error, FileNotFoundError):
            raise CheckpointError(
                f"There is no file {path}. Check the path of the checkpoint (*{SUFFIX})."
            ) from error
        if isinstance(error, UnsuitableFileError):
            raise CheckpointError(f"{path} {error}") from error
        raise CheckpointError(
            f"{path} cannot be read as a checkpoint ({reason_of(error)}). It may be incomplete "
            f"or another kind of file. Use another copy, or a file *{SUFFIX} written by "
            "Augenmerk."
        ) from error
    _check_values(path, description, weights, state if with_state else None)
    return replace(described, weights=weights, state=state, word_counts=word_counts, path=path)


def _check_not_empty(path: Path) -> None:
    with open_file(path) as file:
        if not file.read(1):
            raise CheckpointError(f"{path} is empty. Use another copy.")


def _described(path: Path, description: dict[str, Any]) -> Checkpoint:
    """The checkpoint without its tensors. Raises `CheckpointError`."""
    try:
        for name in ("corpus", "corpus_digest", "written_by"):
            if not isinstance(description.get(name, ""), str):
                raise TypeError(f"{name} is {shown(description[name])}, which is not text")
        if not isinstance(description["history"], list) or not isinstance(
            description.get("progress", {}), dict
        ):
            raise TypeError("history is not a list, or progress is not a dictionary")
        run = RunConfig.from_dict(description["run"])
        codecs = CodecPair.from_dict(run.data, description["codecs"])
        decoding = DecodingConfig.from_dict(description.get("decoding", {}))
        if max(decoding.forbidden_ids or (0,)) >= len(codecs.target.vocabulary):
            raise ValueError("the id of a forbidden token is out of range")
        return Checkpoint(
            run=run,
            codecs=codecs,
            weights={},
            corpus=description.get("corpus", ""),
            history=tuple(EpochRecord.from_dict(record) for record in description["history"]),
            progress=dict(description.get("progress", {})),
            written_by=description.get("written_by", "?"),
            corpus_digest=description.get("corpus_digest", ""),
            decoding=decoding,
            origin=ModelOrigin.from_dict(description["origin"])
            if "origin" in description
            else None,
        )
    except MissingExtensionError as error:
        raise CheckpointError(
            f"{path} needs an extension that is not installed here. {error}"
        ) from error
    except (AugenmerkError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(
            f"{path} is a damaged checkpoint: its description cannot be read ({error}). Use "
            "another copy."
        ) from error


def _shapes(
    file: TensorFile, prefix: str, known_types: frozenset[str]
) -> dict[str, tuple[int, ...]]:
    """The shapes of tensors with this prefix. Raises `CheckpointError` for an unknown type."""
    tensors = {
        name.removeprefix(prefix): info
        for name, info in file.tensors.items()
        if name.startswith(prefix)
    }
    problems = [
        f"{name} is of the type {info.dtype}"
        for name, info in tensors.items()
        if info.dtype not in known_types
    ]
    if problems:
        raise _misfit(problems)
    return {name: info.shape for name, info in tensors.items()}


def _read(file: TensorFile, prefix: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): file.read(name)
        for name in file.tensors
        if name.startswith(prefix)
    }


def _read_word_counts(
    path: Path, file: TensorFile, description: dict[str, Any], run: RunConfig
) -> WordCounts | None:
    """The word counts; None if the file has none. Raises `CheckpointError`."""
    if _COUNTS not in file.tensors and "word_counts" not in description:
        return None
    try:
        if run.is_copy_task:
            raise ValueError("symbols of the copy task are not words")
        if "word_counts" not in description:
            raise ValueError("their description is missing")
        packed = file.read_row(_COUNTS, "U8", MAX_PACKED_BYTES)
        checksums = description.get("checksums")
        expected = checksums.get("word_counts") if isinstance(checksums, dict) else None
        if checksums and tensors_checksum({_COUNTS: packed}) != expected:
            raise ValueError("they are not those that were written: their checksum differs")
        return WordCounts.unpack(description["word_counts"], packed.numpy().tobytes())
    except (TypeError, ValueError) as error:
        raise CheckpointError(
            f"{path} is damaged in its word counts: {error}. Use another copy."
        ) from error


def _check_values(
    path: Path,
    description: Mapping[str, Any],
    weights: Mapping[str, Tensor],
    state: Mapping[str, Tensor] | None,
) -> None:
    """Raises `CheckpointError` if a value is not finite, or was changed after it was written.

    Args:
        path: of the file.
        description: with checksums by kind; a file without any is not compared.
        weights, state: by name; None for a state that was not read. With a state, the description
            is checked, too, because a run continues from its numbers.
    """
    checksums = description.get("checksums", {})
    if not isinstance(checksums, dict):
        raise CheckpointError(
            f"{path} is damaged: its checksums are {shown(checksums)}. Use another copy."
        )
    if (
        checksums
        and state is not None
        and description_checksum(description) != checksums.get("description")
    ):
        raise CheckpointError(
            f"{path} is damaged: the checksum of its description differs. Use another copy."
        )
    for kind, tensors in (("weights", weights), ("state", state)):
        if tensors is None:
            continue
        problems = not_finite(tensors)
        if checksums and tensors_checksum(tensors) != checksums.get(kind):
            what = "weights" if kind == "weights" else "resume state (optimizer, random numbers)"
            problems.insert(
                0, f"the {what} are not those that were written: their checksum differs"
            )
        if problems:
            raise CheckpointError(
                f"{path} is damaged: {'; '.join(problems[:3])}. Use another copy."
            )


@checks_arguments
def model_digest(checkpoint: Checkpoint) -> str:
    """SHA-256 of weights and vocabularies: identifies a model by its content.

    64 hexadecimal digits.

    It stays the same when a file is moved, copied or saved again, with or without the state for
    resuming. It differs for the same model in half precision, which has other weights.
    """
    digest = hashlib.sha256()
    _hash_tensors(digest, checkpoint.weights)
    digest.update(_json_line([checkpoint.codecs.to_dict()]))
    return digest.hexdigest()


def find_checkpoint(digest: str, paths: Iterable[Path]) -> Path | None:
    """The first file of a model with this digest, or None. Unreadable files are skipped."""
    for path in paths:
        try:
            if model_digest(load_checkpoint(path)) == digest:
                return path
        except AugenmerkError:
            continue
    return None


def tensors_checksum(tensors: Mapping[str, Tensor]) -> str:
    """The checksum of names, types, shapes and values in any order: 64 hexadecimal digits."""
    digest = hashlib.sha256()
    _hash_tensors(digest, tensors)
    return digest.hexdigest()


def description_checksum(description: Mapping[str, Any]) -> str:
    """The checksum of a description without its checksums."""
    return hashlib.sha256(
        _json_line({name: description[name] for name in description if name != "checksums"})
    ).hexdigest()


def _hash_tensors(digest: "hashlib._Hash", tensors: Mapping[str, Tensor]) -> None:
    """Adds the tensors to a digest, by name."""
    for name in sorted(tensors):
        values = tensors[name].detach().cpu().contiguous()
        digest.update(
            _json_line([name, str(values.dtype).removeprefix("torch."), list(values.shape)])
        )
        digest.update(values.reshape(-1).view(torch.uint8).numpy().data)


def _json_line(value: object) -> bytes:
    """The value as ASCII JSON in a canonical form."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii") + b"\n"
