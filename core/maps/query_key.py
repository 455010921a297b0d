"""Why does this head look there? Attention scores as sums of products. Shape legend: `core.maps`.

The score of a cell is query · key / √K (Vaswani et al. 2017, equation 1), and both vectors are
linear in their residual streams, whose norms are frozen. So the score is a sum with one product for
each component of the query and each of the key (Elhage et al. 2021, "A Mathematical Framework for
Transformer Circuits", on the QK circuit).
"""

import math
from collections.abc import Callable

import torch

from ..arguments import checks_arguments
from ..config import ModelConfig
from ..counting import Index
from ..errors import AnalysisError, NonFiniteError
from ..model.heads import Head, attention_shapes
from ..model.non_finite import is_finite
from ..translation.result import Translation, TranslationStoppedError
from ..translation.translator import Translator
from .parts import RowParts
from .residual import residual_streams
from .trace import check_cell

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
    model = translator.model
    experiment = translation.experiment
    _require_row(model.config, translation, head, query)
    streams = residual_streams(translator.pass_over(translation))
    own = streams.decoder
    depth = 3 * head.layer + (head.kind == "cross")
    if head.kind == "encoder":
        own = streams.encoder
        depth = 2 * head.layer
    read, read_depth = (streams.encoder, None) if head.kind == "cross" else (own, depth)
    attention = own.sublayers[depth].attention
    assert attention is not None
    sees_all = head.kind != "decoder" or experiment.lifts_mask
    num_visible = attention.maps.size(-1) if sees_all else query + 1
    module = attention.module
    width = attention.module.head_width
    rows = slice(head.head * width, (head.head + 1) * width)
    scale = math.sqrt(width)
    if attention.changes.temperatures is not None:
        scale *= float(attention.changes.temperatures[0, head.head])
    with torch.inference_mode():
        weights, biases = (
            parameter.double().chunk(3)
            for parameter in (module.in_proj_weight, module.in_proj_bias)
        )
        queries = own.split(weights[0][rows, None], slice(query, query + 1), depth)  # [P, K, 1]
        chunks = []
        for first in range(0, num_visible, CHUNK):
            if should_stop():
                raise TranslationStoppedError
            places = slice(first, min(first + CHUNK, num_visible))
            directions = weights[1][rows, None].expand(-1, places.stop - first, -1)
            chunks.append(read.split(directions, places, read_depth))
        keys = torch.cat(chunks, dim=-1)  # [C, K, M]
        queries[-1] += biases[0][rows, None]
        keys[-1] += biases[1][rows, None]
        query_vector, key_vectors = (
            attention.projected(part)[head.head].double() for part in (0, 1)
        )
        scores = key_vectors[:num_visible] @ query_vector[query] / scale
    if not (is_finite(queries) and is_finite(keys)):
        raise NonFiniteError("the parts of queries and keys")
    return RowParts(
        head,
        query,
        own.components_before(depth),
        read.components if read_depth is None else read.components_before(read_depth),
        (queries[..., 0] / scale).cpu().numpy(),
        keys.permute(2, 0, 1).contiguous().cpu().numpy(),
        scores.cpu().numpy(),
        translator.digest,
    )


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
