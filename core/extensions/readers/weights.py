"""The tensors of other projects: read from safetensors and PyTorch files, checked, and given the
names used here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from torch import Tensor

from ...config import ModelConfig
from ...config.groups import Tying
from ...errors import ModelImportError
from ...model.non_finite import is_finite
from ...tensor_file import open_foreign_tensors
from ..memory_limits import available_memory
from .foreign_files import kind_of_other_file
from .names import plain_names
from .pickled import is_pytorch_file, read_pickled

MATRICES = ("source_embedding.tokens.weight", "target_embedding.tokens.weight", "output.weight")
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
_WIDER_FLOATS = ("BF16", "F32", "F64")
_RESERVE_BYTES = 256 * 2**20


def read_safetensors(path: Path) -> dict[str, Tensor]:
    """All tensors of a safetensors file. Raises `ModelImportError`."""
    try:
        with open_foreign_tensors(path, "pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 — not a dictionary
    except (OSError, SafetensorError, ValueError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> ModelImportError:
    other = kind_of_other_file(path)
    if other and other != "empty":
        return ModelImportError(f"{path} is {other}. Use a safetensors file.")
    return ModelImportError(
        f"{path} cannot be read ({error}). It may be cut off: use another copy."
    )


def holds_half_precision(path: Path) -> bool:
    """Whether all matrices of a safetensors file are of 16-bit floats, by its header.

    Raises `ModelImportError`.
    """
    try:
        with open_foreign_tensors(path, "pt") as file:
            slices = (file.get_slice(name) for name in file.keys())  # noqa: SIM118 — not a dictionary
            return not any(
                part.get_dtype() in _WIDER_FLOATS for part in slices if len(part.get_shape()) >= 2
            )
    except (OSError, SafetensorError, ValueError) as error:
        raise _unreadable(path, error) from error


def read_values(path: Path, should_stop: Callable[[], bool]) -> Mapping[str, Tensor | None]:
    """The tensors in a file with weights by name, and None for other values in it.

    Raises:
        ModelImportError: it cannot be read.
        ImportStoppedError: `should_stop` returned True.
    """
    return (
        read_pickled(path, should_stop=should_stop)
        if is_pytorch_file(path)
        else read_safetensors(path)
    )


def weights_among(path: Path, values: Mapping[str, Tensor | None]) -> dict[str, Tensor]:
    """The weights of the model by their plain names, see `plain_names`.

    Other values and single numbers are left out.

    Args:
        path: of the file with the values, for messages.
        values: as of `read_values`, of one file or several.

    Raises:
        ModelImportError: there are none, or those of several models.
    """
    tensors = {name: value for name, value in values.items() if value is not None}
    try:
        plain = {name: tensors[stored] for name, stored in plain_names(tensors).items()}
    except ValueError as error:
        raise ModelImportError(f"{path} {error}.") from error
    # others count steps
    weights = {name: value for name, value in plain.items() if "." in name or value.numel() != 1}
    if not weights:
        names = ", ".join(sorted(values)[:3]) or "nothing"
        raise ModelImportError(
            f"{path} holds no weights, only {names}. Choose a state dict, which maps names to "
            "tensors."
        )
    return weights


def check_memory(path: Path, num_bytes: int) -> None:
    """Raises `ModelImportError` if a model from `path` that takes `num_bytes` does not fit into
    free memory.
    """
    free = available_memory()
    if free is not None and num_bytes + _RESERVE_BYTES > free:
        raise ModelImportError(
            f"{path} needs about {(num_bytes + _RESERVE_BYTES) / 1e9:.1f} GB of memory, and "
            f"{free / 1e9:.1f} GB are free. Close other programs, or use a smaller model."
        )


def check_finite(
    path: Path | str, weights: Mapping[str, Tensor], *, half_precision: bool = False
) -> None:
    """Raises `ModelImportError` if a weight is not a finite number, or would not be one once
    stored.

    Args:
        path: of the file, or what else the message names.
        weights: as in the file; tensors that are not of floats are passed over.
        half_precision: whether they will be stored as 16-bit floats.
    """
    for name, value in weights.items():
        if value.dtype not in FLOATS:
            continue
        if not is_finite(value):
            raise ModelImportError(f"{path}: {name} is not finite. Use another copy.")
        advice_by_type = {torch.float32: "Use another copy"}
        if half_precision:
            advice_by_type[torch.float16] = (
                "Store the weights in 32 bits (under “Weights” in the dialog, with --no-half in "
                "the terminal)"
            )
        for dtype, advice in advice_by_type.items():
            if not _fits(value, dtype):
                info = torch.finfo(dtype)
                raise ModelImportError(
                    f"{path}: {_largest(name, value)}, which {info.bits}-bit floats cannot hold, "
                    f"{info.max:.3g} at most. {advice}."
                )


def too_large_for_half(weights: Mapping[str, Tensor]) -> str | None:
    """The first weight that 16-bit floats cannot hold, in words; None if they can hold all."""
    floats = ((name, value) for name, value in weights.items() if value.dtype in FLOATS)
    return next(
        (_largest(name, value) for name, value in floats if not _fits(value, torch.float16)), None
    )


def _largest(name: str, value: Tensor) -> str:
    return f"{name} holds {float(value.abs().max()):.3g}"


def _fits(value: Tensor, dtype: torch.dtype) -> bool:
    """Whether finite values stay finite in another precision."""
    return torch.finfo(value.dtype).max <= torch.finfo(dtype).max or is_finite(value.to(dtype))


def check_shapes(
    path: Path, weights: Mapping[str, Tensor], expected: Mapping[str, Sequence[int]]
) -> None:
    """Raises `ModelImportError` unless every expected tensor is there, is of floats and has its
    shape.
    """
    for name, shape in expected.items():
        if name not in weights:
            raise ModelImportError(
                f"{path} has no {name}, a tensor of the shape {list(shape)} by the "
                "configuration. Use another copy."
            )
        value = weights[name]
        if list(value.shape) != list(shape):
            raise ModelImportError(
                f"{path}: {name} has the shape {list(value.shape)}, not {list(shape)} as in the "
                "configuration. Use files that belong together."
            )
        if value.dtype not in FLOATS:
            raise ModelImportError(
                f"{path}: {name} holds numbers of the kind {value.dtype}. Use a copy that is not "
                "quantized."
            )


def check_all_known(path: Path, weights: Mapping[str, Tensor], known: Sequence[str]) -> None:
    """Raises `ModelImportError` for a tensor that this architecture does not have."""
    # others count
    unknown = sorted(name for name in set(weights) - set(known) if weights[name].dtype in FLOATS)
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise ModelImportError(
            f"{path} holds {unknown[0]}{more}, which the configured architecture does not have. "
            "Use files that belong together."
        )


def are_half_precision(weights: Mapping[str, Tensor]) -> bool:
    """Whether all matrices are of 16-bit floats, so that nothing is lost if they are stored so; the
    rest fits too.
    """
    return all(
        value.dtype == torch.float16 if value.dim() >= 2 else _fits(value, torch.float16)
        for value in weights.values()
        if value.dtype in FLOATS
    )


def tied(
    config: ModelConfig, weights: dict[str, Tensor], *, one_vocabulary: bool = True
) -> ModelConfig:
    """The configuration with `tied_embeddings` according to `weights`.

    Removes copies of a matrix from `weights`.

    Args:
        config: of the model.
        weights: by their names here.
        one_vocabulary: whether source and target can share their embeddings.
    """
    source, target, output = (weights[name] for name in MATRICES)
    tying: Tying = "none"
    if _same(target, output):
        tying = "all" if one_vocabulary and _same(source, target) else "output"
    for name in {"none": (), "output": MATRICES[2:], "all": MATRICES[1:]}[tying]:
        del weights[name]
    if tying == "none" and source is target:  # sharing these two alone is not stored
        weights[MATRICES[1]] = target.clone()
    return config.replace(tied_embeddings=tying)


def with_positions(
    config: ModelConfig,
    weights: dict[str, Tensor],
    tables: Sequence[Tensor | None],
    waves: Tensor,
    tolerance: Tensor,
) -> ModelConfig:
    """The configuration with positions as in the file; tables that are not these waves are put into
    `weights`.

    Args:
        config: of the model.
        weights: by their names here.
        tables: of source and target, [P, D]; None if the file has none.
        waves: the usual tables, [P, D].
        tolerance: of each wave.
    """
    if all(
        table is None or bool(((table.float() - waves).abs() <= tolerance).all())
        for table in tables
    ):
        return config
    for side, table in zip(("source", "target"), tables, strict=True):
        weights[f"{side}_embedding.positions"] = (
            waves if table is None else table.to(torch.float32, copy=True)
        )
    return config.replace(positions="learned")


def _same(one: Tensor, other: Tensor) -> bool:
    return one is other or (one.shape == other.shape and torch.equal(one, other))


@dataclass(frozen=True)
class LayerNames:
    """The names of the parameters of a layer in another project.

    Attributes:
        attentions: self-attention of the encoder and of the decoder, cross-attention.
        projections: of an attention: queries, keys, values, output.
        feed_forward: the expanding and the contracting matrix.
        encoder_norms: of self-attention and feed-forward.
        decoder_norms: of self-attention, cross-attention and feed-forward.
        scale_and_shift: of a norm.
        prefix: of all names.
    """

    attentions: tuple[str, str, str]
    projections: tuple[str, str, str, str]
    feed_forward: tuple[str, str]
    encoder_norms: tuple[str, str]
    decoder_norms: tuple[str, str, str]
    scale_and_shift: tuple[str, str] = ("weight", "bias")
    prefix: str = ""


class WeightMap:
    """The parameters of the file that make up each parameter here, with their shapes.

    Args:
        config: of the model.
        names: of its layers in the file.
    """

    def __init__(self, config: ModelConfig, names: LayerNames) -> None:
        self.parts: dict[str, dict[str, tuple[int, ...]]] = {}
        self._width = config.width
        self._names = names
        in_encoder, in_decoder, cross = names.attentions
        encoder = (("attention_residual", "self_attention", in_encoder),)
        decoder = (
            ("self_residual", "self_attention", in_decoder),
            ("cross_residual", "cross_attention", cross),
        )
        for layer in range(config.num_encoder_layers):
            self._layer(
                f"encoder_layers.{layer}", encoder, names.encoder_norms, config.feed_forward_width
            )
        for layer in range(config.num_decoder_layers):
            self._layer(
                f"decoder_layers.{layer}", decoder, names.decoder_norms, config.decoder_inner_width
            )

    def add(self, ours: str, theirs: str, *shape: int) -> None:
        """One parameter."""
        self.parts[ours] = {theirs: shape}

    def linear(self, ours: str, theirs: str, rows: int, columns: int) -> None:
        """Weight and bias of a linear layer."""
        self.add(f"{ours}.weight", f"{theirs}.weight", rows, columns)
        self.add(f"{ours}.bias", f"{theirs}.bias", rows)

    def norm(self, ours: str, theirs: str) -> None:
        """Scale and shift of a norm."""
        for part, name in zip(("weight", "bias"), self._names.scale_and_shift, strict=True):
            self.add(f"{ours}.{part}", f"{theirs}.{name}", self._width)

    def _layer(
        self,
        ours: str,
        attentions: Sequence[tuple[str, str, str]],
        norms: Sequence[str],
        inner: int,
    ) -> None:
        names, width = self._names, self._width
        theirs = names.prefix + ours.replace("_", ".")
        for (residual, attention, name), norm in zip(attentions, norms[:-1], strict=True):
            *projections, output = (f"{theirs}.{name}.{part}" for part in names.projections)
            for part, shape in (("weight", (width, width)), ("bias", (width,))):
                self.parts[f"{ours}.{attention}.in_proj_{part}"] = {
                    f"{projection}.{part}": shape for projection in projections
                }
            self.linear(f"{ours}.{attention}.out_proj", output, width, width)
            self.norm(f"{ours}.{residual}.norm", f"{theirs}.{norm}")
        self.linear(
            f"{ours}.feed_forward.expand", f"{theirs}.{names.feed_forward[0]}", inner, width
        )
        self.linear(
            f"{ours}.feed_forward.contract", f"{theirs}.{names.feed_forward[1]}", width, inner
        )
        self.norm(f"{ours}.feed_forward_residual.norm", f"{theirs}.{norms[-1]}")

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each parameter of the file."""
        return {name: shape for group in self.parts.values() for name, shape in group.items()}

    def convert(
        self, path: Path, weights: Mapping[str, Tensor], ignored: Sequence[str] = ()
    ) -> dict[str, Tensor]:
        """The parameters by Augenmerk's names, in single precision.

        Args:
            path: of the file, for messages.
            weights: as in the file.
            ignored: names of further tensors that may exist.

        Raises:
            ModelImportError: a tensor is missing, of another shape, or unknown.
        """
        check_shapes(path, weights, self.shapes)
        check_all_known(path, weights, [*self.shapes, *ignored])
        converted = {}
        for ours, parts in self.parts.items():
            values = [weights[part].to(torch.float32, copy=True) for part in parts]
            converted[ours] = values[0] if len(values) == 1 else torch.cat(values)
        return converted
