"""Arrays of results with the names of their dimensions, as xarray takes them.

Tokens repeat, so they are coordinates along a dimension, not its index.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError
from ...maps.comparing import MapDifference
from ...maps.selection import Axis, LabelledMap
from ...model.heads import SIDES, AttentionKind
from ...translation.result import AttentionMaps, Translation
from ..analyses.contributions import Contributions
from ..analyses.importance import HeadImportance
from ..analyses.logit_lens import LogitLens
from ..analyses.occlusion import SourceOcclusion
from ..analyses.pairs import PairAttribution
from ..analyses.parts import CellParts, PartsTable, RowParts
from ..analyses.parts_of_words import EncoderParts, WordParts
from .columns import dimensions_of

Variables = Mapping[str, tuple[Sequence[str], NDArray[Any]]]
"""The dimensions of each array, and the array."""
MAPS: Mapping[AttentionKind, tuple[str, ...]] = {
    "encoder": ("encoder_layer", "encoder_head", "source", "source_key"),
    "decoder": ("layer", "head", "step", "read_step"),
    "cross": ("layer", "head", "step", "source"),
}
"""The dimensions of maps; the encoder can have other numbers of layers and heads."""


@dataclass(frozen=True)
class Arrays:
    """The arrays of a result.

    Attributes:
        variables: with their dimensions, by name.
        coordinates: tokens and names along one dimension each.
        attributes: texts about the whole.
    """

    variables: Variables
    coordinates: Variables = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)


@singledispatch
def arrays_of(result: object) -> Arrays:
    """The arrays of a result. Raises `AnalysisError` if it has none with named dimensions."""
    raise AnalysisError(
        f"{type(result).__name__} has no arrays with named dimensions. Use its attributes, or "
        "`to_dict()`."
    )


@arrays_of.register
def _(translation: Translation) -> Arrays:
    """The maps, if there are any, and the numbers of each step."""
    maps: Variables = (
        {} if translation.attention is None else arrays_of(translation.attention).variables
    )
    numbers = {
        "log_probability": translation.log_probabilities,
        "rank": translation.ranks,
        "entropy": translation.entropies,
    }
    steps: Variables = {
        name: (("step",), np.array(values)) for name, values in numbers.items() if values
    }
    return Arrays({**maps, **steps}, _tokens(translation), _about(translation))


@arrays_of.register
def _(maps: AttentionMaps) -> Arrays:
    return Arrays({kind: (dimensions, getattr(maps, kind)) for kind, dimensions in MAPS.items()})


@arrays_of.register
def _(labelled: LabelledMap) -> Arrays:
    return _map("weight", labelled.weights, labelled.queries, labelled.keys)


@arrays_of.register
def _(difference: MapDifference) -> Arrays:
    return _map("difference", difference.values, difference.queries, difference.keys)


def _map(name: str, values: NDArray[Any], queries: Axis, keys: Axis) -> Arrays:
    coordinates = {"query_token": ("query", queries.labels), "key_token": ("key", keys.labels)}
    return Arrays({name: (dimensions_of(values), values)}, _coordinates(coordinates))


@arrays_of.register
def _(lens: LogitLens) -> Arrays:
    names = "log_probabilities", "ranks", "entropies"
    depths = {"depth_name": ("depth", tuple(map(str, lens.depths)))}
    return Arrays(
        {name: (("depth", "step"), getattr(lens, name)) for name in names},
        {**_tokens(lens.translation, "step"), **_coordinates(depths)},
        _about(lens.translation),
    )


@arrays_of.register
def _(contributions: Contributions) -> Arrays:
    return Arrays(
        {
            "source_share": (("step", "source"), contributions.source),
            "prefix_share": (("step", "read_step"), contributions.prefix),
            "encoder_share": (("source", "source_key"), contributions.encoder),
        },
        _tokens(contributions.translation),
        _about(contributions.translation),
    )


@arrays_of.register
def _(parts: WordParts) -> Arrays:
    components = {"component_name": ("component", tuple(map(str, parts.components)))}
    return Arrays(
        {
            "value": (("component",), parts.values),
            "value_by_source": (("layer", "head", "source"), parts.keys),
        },
        {**_coordinates(components), **_tokens(parts.translation, "source")},
        _about(parts.translation),
    )


@arrays_of.register
def _(parts: EncoderParts) -> Arrays:
    components = {"component_name": ("component", tuple(map(str, parts.components)))}
    translation = parts.parts.translation
    return Arrays(
        {"value": (("layer", "head", "component", "source"), parts.values)},
        {**_coordinates(components), **_tokens(translation, "source")},
        _about(translation),
    )


@arrays_of.register
def _(attribution: PairAttribution) -> Arrays:
    components = {"component_name": ("component", tuple(map(str, attribution.components)))}
    return Arrays(
        {
            "difference": (("pair",), attribution.differences),
            "explained": (("pair",), attribution.explained),
            "part": (("pair", "component"), attribution.parts),
        },
        _coordinates(components),
    )


@arrays_of.register
def _(occlusion: SourceOcclusion) -> Arrays:
    translation = occlusion.translation
    words = {
        "target_text": (
            "target_word",
            (*(word.text for word in translation.target_words), "end"),
        ),
        "source_text": ("source_word", tuple(word.word.text for word in occlusion.words)),
    }
    return Arrays(
        {"effect": (("target_word", "source_word"), occlusion.effects)}, _coordinates(words)
    )


@arrays_of.register
def _(importance: HeadImportance) -> Arrays:
    heads: Variables = {
        kind: (dimensions[:2], importance.of_kind(kind)) for kind, dimensions in MAPS.items()
    }
    networks: Variables = {
        f"{side}_network": ((MAPS[side][0],), importance.of_networks(side)) for side in SIDES
    }
    return Arrays({**heads, **networks})


@arrays_of.register
def _(row: RowParts) -> Arrays:
    """The score of each key, and the parts of queries and keys whose products it sums."""
    return Arrays(
        {
            "score": (("key",), row.scores),
            "query_part": (("query_component", "width"), row.queries),
            "key_part": (("key", "key_component", "width"), row.keys),
        },
        _components(row.query_components, row.key_components),
        {"head": str(row.head), "query": str(row.query), "model_digest": row.model_digest},
    )


@arrays_of.register
def _(cell: CellParts) -> Arrays:
    row = cell.row
    about = {
        "head": str(row.head),
        "query": str(row.query),
        "key": str(cell.key),
        "baseline": str(cell.baseline),
        "model_digest": row.model_digest,
    }
    return Arrays(
        {"value": (("query_component", "key_component"), cell.products)},
        _components(row.query_components, row.key_components),
        about,
    )


@arrays_of.register
def _(table: PartsTable) -> Arrays:
    names = [[group.name for group in groups] for groups in (table.rows, table.columns)]
    return Arrays(
        {"value": (("query_component", "key_component"), table.values)}, _components(*names)
    )


def _components(queries: Sequence[object], keys: Sequence[object]) -> Variables:
    """The names of the components of query and key."""
    return _coordinates(
        {
            "query_component_name": ("query_component", tuple(map(str, queries))),
            "key_component_name": ("key_component", tuple(map(str, keys))),
        }
    )


def _tokens(translation: Translation, *dimensions: str) -> Variables:
    """The tokens along these dimensions; along all if none is named."""
    tokens = {
        "predicted_token": ("step", translation.predicted_tokens),
        "read_token": ("step", translation.read_tokens),
        "source_token": ("source", translation.source_tokens),
        "source_key_token": ("source_key", translation.source_tokens),
        "read_key_token": ("read_step", translation.read_tokens),
    }
    return _coordinates(
        {
            name: (dimension, labels)
            for name, (dimension, labels) in tokens.items()
            if not dimensions or dimension in dimensions
        }
    )


def _coordinates(labels: Mapping[str, tuple[str, tuple[str, ...]]]) -> Variables:
    return {
        name: ((dimension,), np.array(texts, dtype=object))
        for name, (dimension, texts) in labels.items()
    }


def _about(translation: Translation) -> Mapping[str, str]:
    return {
        "source_text": translation.source_text,
        "text": translation.text,
        "model_digest": translation.model_digest,
    }
