"""One self-describing file: weights as tensors, everything else as JSON in the header. safetensors; no pickle."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import init
from torch.overrides import TorchFunctionMode

from core import __version__
from core.checkpoint.history import EpochRecord
from core.checkpoint.origin import Origin
from core.config import DecodingConfig, RunConfig
from core.errors import AugenmerkError, CheckpointError
from core.model.transformer import Transformer
from core.storage import atomic_path
from core.text.codec import CodecPair

FORMAT_NAME = "augenmerk-checkpoint"
FORMAT_VERSION = 1
SUFFIX = ".safetensors"
_WEIGHTS, _STATE = "model.", "state."


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A trained model and how it was trained.

    Attributes:
        run: all settings.
        codecs: text to ids and back.
        weights: parameters by name, shared ones once.
        corpus: name of what it was trained on.
        history: one record for each validated epoch.
        state: tensors needed to resume training (optimiser, random numbers); empty in a file for translation only.
        progress: numbers needed to resume; empty likewise.
        written_by: version of Augenmerk.
        decoding: what the model's own settings say of decoding.
        origin: where an imported model comes from; None for one that was trained here.
    """

    run: RunConfig
    codecs: CodecPair
    weights: Mapping[str, Tensor]
    corpus: str = ""
    history: tuple[EpochRecord, ...] = ()
    state: Mapping[str, Tensor] = field(default_factory=dict)
    progress: Mapping[str, Any] = field(default_factory=dict)
    written_by: str = __version__
    decoding: DecodingConfig = field(default_factory=DecodingConfig)
    origin: Origin | None = None

    def build_model(self) -> Transformer:
        """The Transformer with these weights, in single precision, on the CPU, ready to translate.

        Raises:
            CheckpointError: the weights do not fit the configuration.
        """
        source, target = self.codecs.source.vocabulary, self.codecs.target.vocabulary

        def empty_model() -> Transformer:
            return Transformer(self.run.model, len(source), len(target), source.padding_id)

        with _NoRandomNumbers():
            with torch.device("meta"):
                outline = empty_model()
            check_parameters(
                outline, self.weights
            )  # before allocating: a damaged width could ask for any amount of memory
            model = empty_model()
        fill_parameters(model, self.weights)
        return model.eval()


class _NoRandomNumbers(TorchFunctionMode):
    """Skips random initialization: weights will be loaded, and initializing on "meta" imports half of torch."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Calls every other function unchanged."""
        given = kwargs or {}
        if func in _DRAWING:
            return args[0] if args else given["tensor"]
        return func(*args, **given)


_DRAWING = (Tensor.uniform_, Tensor.normal_, init.uniform_, init.normal_, init.kaiming_uniform_, init.xavier_uniform_)


def check_parameters(model: Transformer, weights: Mapping[str, Tensor]) -> None:
    """Raises `CheckpointError` if a name is missing or extra, a shape differs, or a value is not a finite number."""
    parameters = dict(model.named_parameters())
    problems = [f"{name} is missing" for name in parameters.keys() - weights.keys()]
    problems += [f"{name} is not known" for name in weights.keys() - parameters.keys()]
    problems += [
        f"{name} is {list(weights[name].shape)}, not {list(parameters[name].shape)}"
        for name in parameters.keys() & weights.keys()
        if weights[name].shape != parameters[name].shape
    ]
    problems += [f"{name} is not finite" for name, value in weights.items() if not bool(torch.isfinite(value).all())]
    if problems:
        raise CheckpointError(
            f"The weights do not fit the configuration beside them: {'; '.join(sorted(problems)[:3])}"
            f"{' …' if len(problems) > 3 else ''}. A checkpoint of this architecture was expected; use another file."
        )


def fill_parameters(model: Transformer, weights: Mapping[str, Tensor]) -> None:
    """Copies `weights` into the model's parameters, and recomputes the buffers.

    Raises:
        CheckpointError: as `check_parameters`.
    """
    check_parameters(model, weights)
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(weights[name])
    model.reset_constants()


def save_checkpoint(checkpoint: Checkpoint, path: Path, *, half_precision: bool = False) -> None:
    """Writes `checkpoint` to `path`, atomically.

    Args:
        half_precision: weights as 16-bit floats: half the size, the same translations but for rare ties.

    Raises:
        StorageError: the file cannot be written; an older one stays as it was.
    """
    dtype = torch.float16 if half_precision else torch.float32
    tensors = {_WEIGHTS + name: _on_cpu(value).to(dtype) for name, value in checkpoint.weights.items()}
    tensors |= {_STATE + name: _on_cpu(value) for name, value in checkpoint.state.items()}
    metadata = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "written_by": __version__,
        "run": checkpoint.run.to_dict(),
        "codecs": checkpoint.codecs.to_dict(),
        "corpus": checkpoint.corpus,
        "history": [asdict(record) for record in checkpoint.history],
        "progress": dict(checkpoint.progress),
    }
    if checkpoint.decoding != DecodingConfig():
        metadata["decoding"] = checkpoint.decoding.to_dict()
    if checkpoint.origin is not None:
        metadata["origin"] = asdict(checkpoint.origin)
    with atomic_path(path) as temporary:
        try:
            save_file(tensors, temporary, metadata={"augenmerk": json.dumps(metadata, ensure_ascii=False)})
        except SafetensorError as error:
            raise OSError(str(error)) from error  # a full disk, in the words of safetensors


def _on_cpu(tensor: Tensor) -> Tensor:
    return tensor.detach().cpu().contiguous()


def load_checkpoint(path: Path, *, with_state: bool = False) -> Checkpoint:
    """Reads a checkpoint.

    Args:
        path: the file.
        with_state: read what is needed to resume training too.

    Raises:
        CheckpointError: the file is missing, empty, cut off, foreign, damaged, or from a newer version.
    """
    metadata, tensors = _read(Path(path), with_state)
    try:
        run = RunConfig.from_dict(metadata["run"])
        return Checkpoint(
            run=run,
            codecs=CodecPair.from_dict(run.data, metadata["codecs"]),
            weights=_with_prefix(tensors, _WEIGHTS),
            corpus=str(metadata.get("corpus", "")),
            history=tuple(EpochRecord.from_dict(record) for record in metadata["history"]),
            decoding=DecodingConfig.from_dict(metadata.get("decoding", {})),
            origin=Origin.from_dict(metadata["origin"]) if "origin" in metadata else None,
            state=_with_prefix(tensors, _STATE),
            progress=dict(metadata.get("progress", {})),
            written_by=str(metadata.get("written_by", "?")),
        )
    except (AugenmerkError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(
            f"{path} says that it is a checkpoint, but its description is damaged ({error}). "
            "A complete file was expected; use another copy."
        ) from error


def _with_prefix(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _read(path: Path, with_state: bool) -> tuple[dict[str, Any], dict[str, Tensor]]:
    try:
        with path.open("rb") as file:  # the system's own words for a folder or a forbidden file; safetensors has none
            if not file.read(1):
                raise CheckpointError(f"{path} is empty. A checkpoint (*{SUFFIX}) was expected; use another copy.")
        with safe_open(path, framework="pt") as tensors:
            metadata = json.loads((tensors.metadata() or {}).get("augenmerk", "{}"))
            _check_format(path, metadata)
            names = [name for name in tensors.keys() if with_state or name.startswith(_WEIGHTS)]  # noqa: SIM118
            return metadata, {name: tensors.get_tensor(name) for name in names}
    except FileNotFoundError as error:
        raise CheckpointError(
            f"There is no file {path}. A checkpoint (*{SUFFIX}) was expected; check the path."
        ) from error
    except (OSError, SafetensorError, ValueError, RecursionError) as error:
        raise CheckpointError(
            f"{path} cannot be read as a checkpoint ({error}). A complete file (*{SUFFIX}) that Augenmerk wrote was "
            "expected; it may be cut off or of another kind. Use another copy."
        ) from error


def _check_format(path: Path, metadata: Any) -> None:
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT_NAME:
        raise CheckpointError(
            f"{path} is a safetensors file, but not one of Augenmerk's checkpoints. A file that `augenmerk train` or "
            "the Train page wrote was expected; choose another."
        )
    version = metadata.get("version")
    if not isinstance(version, int):
        raise CheckpointError(
            f"{path} says that it is a checkpoint, but not of which format: {version!r}. A number up to "
            f"{FORMAT_VERSION} was expected; the file is damaged, use another copy."
        )
    if version > FORMAT_VERSION:
        raise CheckpointError(
            f"{path} was written by a newer Augenmerk (format {version}, this one reads up to {FORMAT_VERSION}). "
            "Update Augenmerk, or use a file of this version."
        )
