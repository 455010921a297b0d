"""What the readers of bare state dicts share: nothing in such a file says what it is of."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from augenmerk.core.checkpoint.file import Checkpoint, Origin
from augenmerk.core.config import ModelConfig, RunConfig
from augenmerk.core.corpora.parallel import read_lines
from augenmerk.core.errors import CorpusError, ModelImportError
from augenmerk.core.interop.model import ImportedModel, ImportOptions, ImportSummary, with_weights_read
from augenmerk.core.interop.pickled import is_pytorch_file
from augenmerk.core.interop.weights import check_all_known, check_shapes
from augenmerk.core.plain_text import name_of
from augenmerk.core.text.codec import CodecPair

WHERE_DATA_IS_NAMED = "under “Multi30k folder” in the dialog, with --data in the terminal"
DATA_NEEDED = (
    "Its vocabularies are not in the file. Name the Multi30k folder of its training (train.de, train.en …, plain or "
    f".gz): {WHERE_DATA_IS_NAMED}."
)


@dataclass(frozen=True)
class LayerNames:
    """What another project calls the parameters of its layers.

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
    """For each parameter here, those of the file that it is made of, with their shapes.

    Args:
        config: of the model.
        names: of its layers in the file.
    """

    def __init__(self, config: ModelConfig, names: LayerNames) -> None:
        self.parts: dict[str, dict[str, tuple[int, ...]]] = {}
        self._width, self._names = config.width, names
        in_encoder, in_decoder, cross = names.attentions
        encoder = (("attention_residual", "self_attention", in_encoder),)
        decoder = (("self_residual", "self_attention", in_decoder), ("cross_residual", "cross_attention", cross))
        for layer in range(config.num_encoder_layers):
            self._layer(f"encoder_layers.{layer}", encoder, names.encoder_norms, config.feed_forward_width)
        for layer in range(config.num_decoder_layers):
            self._layer(f"decoder_layers.{layer}", decoder, names.decoder_norms, config.decoder_inner_width)

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

    def _layer(self, ours: str, attentions: Sequence[tuple[str, str, str]], norms: Sequence[str], inner: int) -> None:
        names, width = self._names, self._width
        theirs = names.prefix + ours.replace("_", ".")
        for (residual, attention, name), norm in zip(attentions, norms[:-1], strict=True):
            *projections, output = (f"{theirs}.{name}.{part}" for part in names.projections)
            for part, shape in (("weight", (width, width)), ("bias", (width,))):
                self.parts[f"{ours}.{attention}.in_proj_{part}"] = {f"{each}.{part}": shape for each in projections}
            self.linear(f"{ours}.{attention}.out_proj", output, width, width)
            self.norm(f"{ours}.{residual}.norm", f"{theirs}.{norm}")
        self.linear(f"{ours}.feed_forward.expand", f"{theirs}.{names.feed_forward[0]}", inner, width)
        self.linear(f"{ours}.feed_forward.contract", f"{theirs}.{names.feed_forward[1]}", width, inner)
        self.norm(f"{ours}.feed_forward_residual.norm", f"{theirs}.{norms[-1]}")

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each parameter of the file."""
        return {name: shape for group in self.parts.values() for name, shape in group.items()}

    def convert(self, path: Path, weights: Mapping[str, Tensor], ignored: Sequence[str] = ()) -> dict[str, Tensor]:
        """The parameters by the names they have here, in single precision.

        Args:
            path: of the file, for messages.
            weights: as in the file.
            ignored: names that may be there.

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


def num_layers(weights: Mapping[str, Tensor], side: str) -> int:
    """Layers of the encoder or the decoder: one more than the largest number in a name."""
    found = [int(match[1]) for name in weights if (match := re.match(rf"{side}\.layers\.(\d{{1,4}})\.", name))]
    return max(found, default=-1) + 1


def size_of(path: Path, weights: Mapping[str, Tensor], name: str, dimension: int = 0) -> int:
    """A dimension of a matrix of the file. Raises `ModelImportError` if it is missing."""
    if name not in weights or weights[name].dim() != 2:
        raise ModelImportError(f"{path} has no matrix {name}. Use a whole state dict.")
    return weights[name].size(dimension)


def check_heads(path: Path, num_heads: int, width: int) -> None:
    """Raises `ModelImportError` unless so many heads, which the file does not tell, can share the width."""
    if num_heads < 1 or width % num_heads:
        raise ModelImportError(
            f"{path}: {num_heads} heads do not divide a width of {width}. Enter the number of heads that the model was "
            "trained with (--heads in the terminal)."
        )


def check_vocabularies(path: Path, codecs: CodecPair, sizes: tuple[int, int], data: Path) -> None:
    """Raises `ModelImportError` unless the vocabularies are as large as the embeddings of the file."""
    found = len(codecs.source.vocabulary), len(codecs.target.vocabulary)
    if found != sizes:
        raise vocabularies_do_not_fit(path, [found], sizes, data)


def vocabularies_do_not_fit(
    path: Path, found: Sequence[tuple[int, int]], sizes: tuple[int, int], data: Path
) -> ModelImportError:
    """What to raise where no way of building the vocabularies gives the sizes that the file has."""
    built = " or ".join(f"{source:,} and {target:,}" for source, target in found)
    return ModelImportError(
        f"{path} has {sizes[0]:,} source and {sizes[1]:,} target tokens, but the vocabularies built from {data} have "
        f"{built}. Name the folder with the text that it was trained on: {WHERE_DATA_IS_NAMED}."
    )


def split_lines_of(folder: Path, split_names: Sequence[str], language: str) -> list[str]:
    """The lines of the first of these splits that is in a folder, plain or gzip. Raises `ModelImportError`."""
    if not folder.is_dir():
        raise ModelImportError(f"{folder} is no folder. {DATA_NEEDED}")
    for name in split_names:
        for file in (f"{name}.{language}", f"{name}.{language}.gz"):
            if (folder / file).is_file():
                try:
                    return [line.strip() for line in read_lines(folder / file)]
                except CorpusError as error:
                    raise ModelImportError(str(error)) from error
    raise ModelImportError(f"{folder} has no {split_names[0]}.{language}, plain or .gz. {DATA_NEEDED}")


class StateDictModel:
    """A model whose weights are read and converted already.

    Args:
        checkpoint: without an origin.
        path: the file.
        options: its name.
        formats: its name for the origin, and for people.
        weights: as in the file.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        path: Path,
        options: ImportOptions,
        formats: tuple[str, str],
        weights: Mapping[str, Tensor],
    ) -> None:
        name = options.name or name_of(path)
        run: RunConfig = checkpoint.run
        num_parameters = sum(value.numel() for value in checkpoint.weights.values())
        self.summary = ImportSummary(
            name=name,
            format=formats[1],
            languages=(run.data.source_language, run.data.target_language),
            target_codes=(),
            num_parameters=num_parameters,
            memory_bytes=8 * num_parameters,
            read_bytes=path.stat().st_size,
            is_pickled=is_pytorch_file(path),
            has_half_precision=False,
            half_precision=False,
        )
        self.summary = with_weights_read(self.summary, options.half_precision, weights)
        origin = Origin(formats[0], name, options.revision)
        self._checkpoint = Checkpoint(
            run,
            checkpoint.codecs,
            checkpoint.weights,
            corpus=checkpoint.corpus,
            origin=origin,
            word_counts=checkpoint.word_counts,
        )

    def read(
        self,
        on_phase: Callable[[str], None] = lambda text: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> ImportedModel:
        """What was read already."""
        return ImportedModel(self._checkpoint, self.summary)
