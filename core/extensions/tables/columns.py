"""Results as columns: one table for pandas and for notebooks. All counting starts at 0."""

from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError
from ...maps.comparing import MapDifference
from ...maps.selection import Axis, LabelledMap
from ...model.heads import ATTENTION_KINDS, Head, Network
from ...translation.result import AttentionMaps, ExperimentResult, Translation
from ..analyses.alignment_ranking import AlignerRanking
from ..analyses.contributions import Contributions
from ..analyses.decoder_lens import DecoderLens
from ..analyses.importance import HeadImportance
from ..analyses.logit_lens import LogitLens
from ..analyses.occlusion import SourceOcclusion
from ..analyses.pairs import PairAttribution
from ..analyses.parts import CellParts, Component, PartsTable, RowParts
from ..analyses.parts_of_words import EncoderParts, WordParts
from ..training.scores import CorpusScores, ScoreDifference, SystemComparison

Columns = Mapping[str, Sequence[Any] | NDArray[Any]]
"""Values of equal length, by the names of the columns."""
LEADING = {0: (), 1: ("layer",), 2: ("layer", "head")}
"""The dimensions before queries and keys, by their number."""


@singledispatch
def columns_of(result: object) -> Columns:
    """The table of a result. Raises `AnalysisError` if it is none."""
    raise AnalysisError(
        f"{type(result).__name__} has no table. Use its attributes, or `to_dict()`."
    )


@columns_of.register
def _(translation: Translation) -> Columns:
    """One row for each decoding step."""
    count = len(translation.predicted_tokens)
    return {
        "step": range(count),
        "read_token": translation.read_tokens,
        "predicted_token": translation.predicted_tokens,
        "log_probability": translation.log_probabilities,
        "probability": np.exp(translation.log_probabilities),
        "rank": translation.ranks or [None] * count,
        "entropy": translation.entropies or [None] * count,
    }


@columns_of.register
def _(result: ExperimentResult) -> Columns:
    """One row for each decoding step of the original, with and without the changes."""
    before = np.array(result.original.log_probabilities)
    after = np.array(result.original_log_probabilities)
    return {
        "step": range(len(before)),
        "predicted_token": result.original.predicted_tokens,
        "log_probability": before,
        "log_probability_changed": after,
        "effect": after - before,
    }


@columns_of.register
def _(maps: AttentionMaps) -> Columns:
    """One row for each cell of each head; a `LabelledMap` has the tokens, too."""
    by_kind = {kind: _cells(maps.of_kind(kind)) for kind in ATTENTION_KINDS}
    kinds = np.repeat(list(by_kind), [len(cells["weight"]) for cells in by_kind.values()])
    names = by_kind["cross"]
    return {"kind": kinds} | {
        name: np.concatenate([cells[name] for cells in by_kind.values()]) for name in names
    }


@columns_of.register
def _(labelled: LabelledMap) -> Columns:
    """One row for each cell."""
    return _cells(labelled.weights, labelled.queries, labelled.keys)


@columns_of.register
def _(difference: MapDifference) -> Columns:
    """One row for each cell."""
    return _cells(difference.values, difference.queries, difference.keys, "difference")


def _cells(
    values: NDArray[Any],
    queries: Axis | None = None,
    keys: Axis | None = None,
    name: str = "weight",
) -> dict[str, NDArray[Any]]:
    dimensions = dimensions_of(values)
    indices = np.indices(values.shape, dtype=np.int32)
    columns: dict[str, NDArray[Any]] = {
        dimension: index.ravel() for dimension, index in zip(dimensions, indices, strict=True)
    }
    for dimension, axis in (("query", queries), ("key", keys)):
        if axis is not None:
            labels = np.array(axis.labels, dtype=object)
            columns[f"{dimension}_token"] = labels[columns[dimension]]
    return {**columns, name: values.ravel()}


def dimensions_of(maps: NDArray[Any]) -> tuple[str, ...]:
    """The names of the dimensions of maps [..., Q, M].

    Raises `AnalysisError` if they are more than layers of heads.
    """
    num_leading = maps.ndim - 2
    if num_leading not in LEADING:
        raise AnalysisError(
            f"These maps have the shape {list(maps.shape)}. Choose maps [layer, head, query, key] "
            "or a part of them."
        )
    return (*LEADING[num_leading], "query", "key")


@columns_of.register
def _(lens: LogitLens) -> Columns:
    """One row for each depth and step."""
    depths, steps = (index.ravel() for index in np.indices(lens.ranks.shape))
    tokens = lens.translation.predicted_tokens
    places = list(zip(depths.tolist(), steps.tolist(), strict=True))
    best = [next(iter(lens.candidates[depth][step]), None) for depth, step in places]
    return {
        "depth": [str(lens.depths[depth]) for depth in depths],
        "layer": [lens.depths[depth].layer for depth in depths],
        "step": steps,
        "predicted_token": [tokens[step] for step in steps],
        "log_probability": lens.log_probabilities.ravel(),
        "rank": lens.ranks.ravel(),
        "entropy": lens.entropies.ravel(),
        "best_token": [None if token is None else token.token for token in best],
        "best_log_probability": [
            None if token is None else token.log_probability for token in best
        ],
    }


@columns_of.register
def _(lens: DecoderLens) -> Columns:
    """One row for the embedding and for each layer of the encoder."""
    return {
        "layer": [None, *range(len(lens.layers) - 1)],
        "text": [translation.text for translation in lens.layers],
        "log_probability": [translation.log_probability for translation in lens.layers],
    }


@columns_of.register
def _(parts: WordParts) -> Columns:
    """One row for each component."""
    return {**component_columns(parts.components), "value": parts.values}


@columns_of.register
def _(parts: EncoderParts) -> Columns:
    """One row for each head of cross-attention, component of the encoder, and position."""
    layers, heads, places, positions = (
        index.ravel() for index in np.indices(parts.values.shape, dtype=np.int32)
    )
    tokens = np.array(parts.parts.translation.source_tokens, dtype=object)
    return {
        "layer": layers,
        "head": heads,
        "component": np.array([str(part) for part in parts.components], dtype=object)[places],
        "position": positions,
        "source_token": tokens[positions],
        "value": parts.values.ravel(),
    }


@columns_of.register
def _(contributions: Contributions) -> Columns:
    """One row for each step and source token, then for each step and token read up to it."""
    translation = contributions.translation
    tables = []
    for side, shares, tokens in (
        ("source", contributions.source, translation.source_tokens),
        ("prefix", contributions.prefix, translation.read_tokens),
    ):
        steps, positions = (index.ravel() for index in np.indices(shares.shape, dtype=np.int32))
        tables.append(
            {
                "step": steps,
                "predicted_token": np.array(translation.predicted_tokens, dtype=object)[steps],
                "side": np.repeat(side, shares.size),
                "position": positions,
                "token": np.array(tokens, dtype=object)[positions],
                "share": shares.ravel(),
            }
        )
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


@columns_of.register
def _(occlusion: SourceOcclusion) -> Columns:
    """One row for each changed source word."""
    return {
        "place": [word.edit.place for word in occlusion.words],
        "word": [word.word.text for word in occlusion.words],
        "effect": [occlusion.change_of(word) for word in occlusion.words],
        "text": [word.translation.text for word in occlusion.words],
    }


@columns_of.register
def _(importance: HeadImportance) -> Columns:
    """One row for each head and network."""
    return {
        **component_columns(tuple(importance.effects)),
        "effect": list(importance.effects.values()),
    }


@columns_of.register
def _(ranking: AlignerRanking) -> Columns:
    """One row for each aligner, best first, then for each baseline."""
    scores = *ranking.scores, *ranking.baselines
    aligners = [score.aligner for score in scores]
    return {
        "name": [score.name if score.aligner is None else str(score.aligner) for score in scores],
        **{
            name: [None if aligner is None else getattr(aligner, name) for aligner in aligners]
            for name in ("measure", "layer", "head", "label_mode")
        },
        "aer_choosing": [score.choosing.aer for score in scores],
        "aer": [score.reporting.aer for score in scores],
        "precision": [score.reporting.precision for score in scores],
        "recall": [score.reporting.recall for score in scores],
    }


@columns_of.register
def _(attribution: PairAttribution) -> Columns:
    """One row for each pair and component."""
    pairs, places = (index.ravel() for index in np.indices(attribution.parts.shape, dtype=np.int32))
    components = component_columns(attribution.components)
    return {
        "pair": pairs,
        "difference": attribution.differences[pairs],
        **{name: np.array(values, dtype=object)[places] for name, values in components.items()},
        "part": attribution.parts.ravel(),
    }


@columns_of.register
def _(row: RowParts) -> Columns:
    """One row for each key that the query sees."""
    return {"key": range(len(row.scores)), "score": row.scores}


@columns_of.register
def _(cell: CellParts) -> Columns:
    """One row for each component of the query and of the key."""
    return _products(cell.row.query_components, cell.row.key_components, cell.products)


@columns_of.register
def _(table: PartsTable) -> Columns:
    """One row for each cell of the table."""
    rows, columns = ([group.name for group in groups] for groups in (table.rows, table.columns))
    return _products(rows, columns, table.values)


def _products(
    queries: Sequence[object], keys: Sequence[object], products: NDArray[np.float64]
) -> Columns:
    rows, columns = (index.ravel().tolist() for index in np.indices(products.shape))
    return {
        "query_component": [str(queries[row]) for row in rows],
        "key_component": [str(keys[column]) for column in columns],
        "value": products.ravel(),
    }


@columns_of.register
def _(scores: CorpusScores) -> Columns:
    """One row for each score."""
    return {
        "metric": [name for name, _, _ in scores.metrics],
        "score": [score for _, score, _ in scores.metrics],
        "low": [low for _, _, (low, _) in scores.metrics],
        "high": [high for _, _, (_, high) in scores.metrics],
    }


@columns_of.register
def _(comparison: SystemComparison) -> Columns:
    """One row for each score."""
    return _differences(comparison.scores)


@columns_of.register
def _(difference: ScoreDifference) -> Columns:
    """One row."""
    return _differences([difference])


def _differences(scores: Sequence[ScoreDifference]) -> Columns:
    return {
        **{
            name: [getattr(score, name) for score in scores]
            for name in ("metric", "first", "second", "difference")
        },
        "low": [score.interval[0] for score in scores],
        "high": [score.interval[1] for score in scores],
        "p_value": [score.p_value for score in scores],
    }


def _kind_of(part: Component) -> str | None:
    if isinstance(part, Head):
        return part.kind
    return f"{part.side} network" if isinstance(part, Network) else None


def component_columns(components: Sequence[Component]) -> Columns:
    """What components are, in columns that say None where one does not apply."""
    return {
        "component": [str(part) for part in components],
        "kind": [_kind_of(part) for part in components],
        "layer": [getattr(part, "layer", None) for part in components],
        "head": [part.head if isinstance(part, Head) else None for part in components],
    }
