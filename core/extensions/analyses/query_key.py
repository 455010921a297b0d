"""Why does this head look there? Attention scores as sums of products. Shape legend: `core.maps`.

The score of a cell is query · key / √K (Vaswani et al. 2017, equation 1), and both vectors are
linear in their residual streams, whose norms are frozen. So the score is a sum with one product for
each component of the query and each of the key (Elhage et al. 2021, "A Mathematical Framework for
Transformer Circuits", on the QK circuit).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from ...arguments import checks_arguments
from ...config import ModelConfig
from ...counting import Index
from ...errors import AnalysisError, NonFiniteError
from ...maps.capture import AttentionPass
from ...model.attention import MultiHeadAttention
from ...model.heads import Head, attention_shapes
from ...model.non_finite import is_finite
from ...translation.result import Translation, TranslationStoppedError
from ...translation.translator import Translator
from .parts import Component, RowParts
from .residual import ResidualStream, ResidualStreams, residual_streams
from .weight_origin import check_cell

CHUNK = 16
"""Keys that are split together: few, so that the numbers stay in the processor's cache."""


@checks_arguments
def query_key_parts(
    translator: Translator,
    translation: Translation,
    head: Head,
    query: int,
    *,
    should_stop: Callable[[], bool] = lambda: False,
) -> RowParts:
    """The parts of all attention scores of one query. Takes one more pass over the pair.

    The translation's experiment applies. Biases include those of the projections. Not thread-safe
    with other uses of the model.

    Args:
        translator: provides the model.
        translation: by this model, written by the user, or by a model with the same vocabularies;
            its tokens are read under this model.
        head: the head.
        query: the position of the query: a row of the map.
        should_stop: called before each 16 keys; a large model takes seconds for a long text.

    Raises:
        AnalysisError: the head or row does not exist, or the row was set by hand; or as
            `Translator.pass_over`.
        TranslationStoppedError: `should_stop` returned True.
    """
    _require_row(translator.model.config, translation, head, query)
    streams = residual_streams(translator.pass_over(translation))
    query_input, key_input = _inputs(head, streams)
    attention = query_input.stream.sublayers[_depth(head)].attention
    assert attention is not None
    sees_all = head.kind != "decoder" or translation.experiment.lifts_mask
    num_visible = attention.weights.size(-1) if sees_all else query + 1
    scale = _score_scale(attention, head)
    with torch.inference_mode():
        query_projection, key_projection = _projections(attention.module, head)
        queries = _parts(query_input, query_projection, slice(query, query + 1))  # [P, K, 1]
        chunks = []
        for first in range(0, num_visible, CHUNK):
            if should_stop():
                raise TranslationStoppedError
            positions = slice(first, min(first + CHUNK, num_visible))
            chunks.append(_parts(key_input, key_projection, positions))
        keys = torch.cat(chunks, dim=-1)  # [C, K, M]
        query_vectors = attention.queries[head.head].double()
        key_vectors = attention.keys[head.head].double()
        scores = key_vectors[:num_visible] @ query_vectors[query] / scale
    if not (is_finite(queries) and is_finite(keys)):
        raise NonFiniteError("the parts of queries and keys")
    return RowParts(
        head,
        query,
        query_input.components,
        key_input.components,
        (queries[..., 0] / scale).cpu().numpy(),
        keys.permute(2, 0, 1).contiguous().cpu().numpy(),
        scores.cpu().numpy(),
        translator.digest,
    )


@dataclass(frozen=True, eq=False)
class _Input:
    """A residual stream as queries or keys are made from it.

    Attributes:
        stream: of encoder or decoder.
        depth: of the sublayer that reads it; None for the output of the stack.
    """

    stream: ResidualStream
    depth: int | None

    @property
    def components(self) -> tuple[Component, ...]:
        return self.stream.components_before(self.depth)


def _depth(head: Head) -> int:
    """The index of the head's sublayer in its stack."""
    if head.kind == "encoder":
        return 2 * head.layer
    return 3 * head.layer + (head.kind == "cross")


def _inputs(head: Head, streams: ResidualStreams) -> tuple[_Input, _Input]:
    """What the queries of the head are made from, and what its keys are."""
    own = _Input(streams.encoder if head.kind == "encoder" else streams.decoder, _depth(head))
    return own, _Input(streams.encoder, None) if head.kind == "cross" else own


def _score_scale(attention: AttentionPass, head: Head) -> float:
    """√K, times the temperature of the head."""
    scale = math.sqrt(attention.module.head_width)
    if attention.changes.temperatures is not None:
        scale *= float(attention.changes.temperatures[0, head.head])
    return scale


def _projections(module: MultiHeadAttention, head: Head) -> list[tuple[Tensor, Tensor]]:
    """Weight [K, D] and bias [K] by which the head makes queries, and those for keys."""
    rows = slice(head.head * module.head_width, (head.head + 1) * module.head_width)
    weights, biases = (
        parameter.double().chunk(3) for parameter in (module.in_proj_weight, module.in_proj_bias)
    )
    return [(weights[index][rows], biases[index][rows]) for index in (0, 1)]


def _parts(source: _Input, projection: tuple[Tensor, Tensor], positions: slice) -> Tensor:
    """The parts of the queries or keys at M positions, [P, K, M]."""
    weight, bias = projection
    directions = weight[:, None].expand(-1, positions.stop - positions.start, -1)
    parts = source.stream.split(directions, positions, source.depth)
    parts[-1] += bias[:, None]
    return parts


def _require_row(config: ModelConfig, translation: Translation, head: Head, query: int) -> None:
    """Raises `AnalysisError` if the head or row does not exist, or the row was set by hand."""
    num_source, num_read = len(translation.source_ids), len(translation.read_ids)
    num_queries, num_keys = {
        "encoder": (num_source, num_source),
        "decoder": (num_read, num_read),
        "cross": (num_read, num_source),
    }[head.kind]
    check_cell(head, query, 0, (*attention_shapes(config)[head.kind], num_queries, num_keys))
    if any(
        (attention_row.head, attention_row.row) == (head, query)
        for attention_row in translation.experiment.attention_rows
    ):
        raise AnalysisError(
            "Row {row} of {head} was set by hand: its weights do not come from queries and keys. "
            "Choose another row, or remove the change.",
            row=Index(query),
            head=head,
        )
