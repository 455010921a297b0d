"""The origin of a single attention weight: the products of a query and a key. No torch.

Shape legend: `core.maps`.
"""

from dataclasses import dataclass

import numpy as np

from ...counting import Index
from ...errors import AnalysisError
from ...maps.trace import Trace
from ...model.heads import Head
from ...quantities import counted
from ...translation.result import FloatArray, ReadOnlyArrays


@dataclass(frozen=True, eq=False)
class QueryKeyDetail(ReadOnlyArrays):
    """One head, one query token and one key token.

    Attributes:
        head: the head.
        query: position of the query's token, the row of the map.
        key: position of the key's token, the column.
        query_vector: [K], as projected, not yet divided by √K.
        key_vector: [K].
        products: [K], query · key / √K of each dimension; they sum to `score`.
        score: the attention score of this pair, before the softmax (Vaswani et al. 2017, equation
            1).
        temperature: the divisor of this head's scores before the softmax, by default 1.
        weight: the resulting weight; 0 if the mask hides the key.
        is_visible: whether the mask lets the query see the key.
    """

    head: Head
    query: int
    key: int
    query_vector: FloatArray
    key_vector: FloatArray
    products: FloatArray
    score: float
    weight: float
    is_visible: bool
    temperature: float = 1.0


def query_key_detail(trace: Trace, head: Head, query: int, key: int) -> QueryKeyDetail:
    """The products that yield one cell of a map, and their sum.

    Args:
        trace: of the pair.
        head: the head.
        query, key: row and column, of tokens (not of merged words).

    Raises:
        AnalysisError: the head, row or column does not exist.
    """
    heads = trace.of_kind(head.kind)
    check_cell(head, query, key, heads.weights.shape)
    index = head.layer, head.head
    query_vector = heads.queries[(*index, query)]
    key_vector = heads.keys[(*index, key)]
    products: FloatArray = query_vector * key_vector / np.float32(np.sqrt(len(query_vector)))
    return QueryKeyDetail(
        head=head,
        query=query,
        key=key,
        query_vector=query_vector,
        key_vector=key_vector,
        products=products,
        score=float(products.sum(dtype=np.float64)),
        weight=float(heads.weights[(*index, query, key)]),
        is_visible=head.kind != "decoder" or key <= query or trace.lifts_mask,
        temperature=float(heads.temperatures[index]),
    )


def check_cell(head: Head, query: int, key: int, shape: tuple[int, ...]) -> None:
    """Raises `AnalysisError` unless head, row and column exist in maps [L, H, Q, M]."""
    num_layers, num_heads, num_queries, num_keys = shape
    if head.layer not in range(num_layers) or head.head not in range(num_heads):
        raise AnalysisError(
            f"There is no {{head}}. Choose from {counted(num_layers, 'layer')} of "
            f"{counted(num_heads, 'head')}, counted from {{first}}.",
            head=head,
            first=Index(0),
        )
    if query not in range(num_queries) or key not in range(num_keys):
        raise AnalysisError(
            "There is no weight of query {query} on key {key}: choose from queries {first} to "
            "{last_query} and keys {first} to {last_key}.",
            query=Index(query),
            key=Index(key),
            first=Index(0),
            last_query=Index(num_queries - 1),
            last_key=Index(num_keys - 1),
        )
