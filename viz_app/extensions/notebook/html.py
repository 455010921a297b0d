"""What a notebook shows of each result. Numbers of layers and heads count from 0, as in Python."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from augenmerk.core.extensions.analyses.alignment_ranking import AlignerRanking
from augenmerk.core.extensions.analyses.contributions import Contributions
from augenmerk.core.extensions.analyses.decoder_lens import DecoderLens
from augenmerk.core.extensions.analyses.importance import HeadImportance
from augenmerk.core.extensions.analyses.logit_lens import LogitLens
from augenmerk.core.extensions.analyses.occlusion import SourceOcclusion
from augenmerk.core.extensions.analyses.pairs import PairAttribution
from augenmerk.core.extensions.analyses.parts import CellParts, Component, PartsTable, RowParts
from augenmerk.core.extensions.analyses.parts_of_words import EncoderParts, WordParts
from augenmerk.core.extensions.training.scores import (
    CorpusScores,
    ScoreDifference,
    SystemComparison,
)
from augenmerk.core.maps.comparing import MapDifference
from augenmerk.core.maps.selection import Axis, LabelledMap, label_map
from augenmerk.core.model.heads import ATTENTION_KINDS, KIND_TITLES, SIDES, AttentionKind, Head
from augenmerk.core.quantities import counted
from augenmerk.core.translation.experiment import HeadScaled, factors_of
from augenmerk.core.translation.result import (
    AttentionMaps,
    ExperimentResult,
    FloatArray,
    Translation,
    Word,
)

from ...state.color_scale import ColorScale
from ...state.sentence_text import LOW_PROBABILITY, new_words
from .frame import escaped, framed
from .maps import Block, maps_html
from .tables import Cell, table_html

MAX_BYTES = 200_000
"""The size of an output, of which a notebook can hold a hundred."""


class Limits(NamedTuple):
    """How much of a translation is shown: tokens on each side of a map, layers, heads, words."""

    tokens: int
    layers: int
    heads: int
    words: int


LIMITS = (
    Limits(64, 12, 16, 80),
    Limits(48, 12, 16, 80),
    Limits(32, 12, 16, 60),
    Limits(24, 12, 12, 40),
    Limits(24, 6, 8, 40),
    Limits(16, 6, 8, 20),
    Limits(8, 4, 4, 5),
)
"""The first with which the output is small enough is used."""
Texts = Callable[[Limits], list[str]]
"""Paragraphs above maps."""
MAX_ROWS, MAX_COLUMNS, MAX_HEADS, MAX_LAYERS = 12, 24, 16, 12
"""Of tables."""
MAX_ALTERNATIVES, MAX_NOTES, MAX_NOTE = 5, 4, 300


def to_html(result: object) -> str | None:
    """The result for a notebook, at most `MAX_BYTES`; None for one that its `repr` shows best."""
    return _html_of(result)


@singledispatch
def _html_of(result: object) -> str | None:
    return None


@_html_of.register
def _(translation: Translation) -> str:
    return _with_maps(
        translation,
        lambda limits: [
            _source(translation),
            _words(translation, limits.words),
            *_notes(translation),
        ],
    )


@_html_of.register
def _(result: ExperimentResult) -> str:
    if not result.is_changed:
        return _html_of(result.original) or ""
    changed = result.changed
    interventions = "; ".join(map(str, changed.experiment.interventions))
    added = new_words(result.original, changed)
    return _with_maps(
        changed,
        lambda limits: [
            _source(changed),
            f'<p><span class="s">original</span> <bdi>{_word_list(result.original, limits.words)}</bdi></p>',
            f'<p><span class="s">changed</span> <bdi>{_word_list(changed, limits.words, added)}</bdi></p>',
            f'<p class="s">{escaped(interventions)}</p>',
            *_notes(changed),
        ],
    )


def _source(translation: Translation) -> str:
    return f'<p dir="auto">{escaped(translation.source_text)}</p>'


def _words(translation: Translation, num_words: int) -> str:
    return (
        f'<p><bdi>{_word_list(translation, num_words)}</bdi><span class="s">log-probability '
        f"{_signed(translation.log_probability, '.2f')}</span></p>"
    )


def _word_list(
    translation: Translation, num_words: int, marked: Collection[Word] | None = None
) -> str:
    """The words with their probabilities, and the alternatives to their first tokens as tips.

    Marked are some words, or those that are improbable.
    """
    words = translation.target_words[:num_words]
    parts = []
    for word in words:
        probability = math.exp(translation.word_log_probability(word))
        is_marked = probability < LOW_PROBABILITY if marked is None else word in marked
        others = ", ".join(
            f"{alternative.token} {alternative.probability:.0%}"
            for alternative in translation.alternatives[word.start][:MAX_ALTERNATIVES]
        )
        parts.append(
            f'<bdi class="w{" u" if is_marked else ""}" title="{escaped(others, 200)}">'
            f"{escaped(word.text, 60)} <small>{probability:.0%}</small></bdi> "
        )
    num_left_out = len(translation.target_words) - len(words)
    if num_left_out:
        parts.append(f'<span class="s">and {num_left_out:,} more words </span>')
    return "".join(parts)


def _notes(translation: Translation) -> list[str]:
    notes = translation.all_notes[:MAX_NOTES]
    return [f'<p class="s">{escaped(note, MAX_NOTE)}</p>' for note in notes]


def _with_maps(translation: Translation, texts: Texts) -> str:
    """The texts, then the maps of a translation."""
    if translation.attention is None:
        note = "Computed without attention maps. <code>run</code> has them."
        return framed("".join([*texts(LIMITS[0]), f'<p class="s">{note}</p>']))
    factors = factors_of(translation.experiment.scalings)
    blocks = [_block_of(translation, kind, factors) for kind in ATTENTION_KINDS]
    return _maps(blocks, texts, _head_shown(translation, blocks))


def _block_of(translation: Translation, kind: AttentionKind, factors: Mapping[Any, float]) -> Block:
    maps = translation.maps.of_kind(kind)
    labelled = label_map(maps, translation, kind)
    heads = [
        [Head(kind, layer, head) for head in range(maps.shape[1])] for layer in range(len(maps))
    ]
    return Block(
        KIND_TITLES[kind],
        maps,
        labelled.queries.labels,
        labelled.keys.labels,
        [[_name(head, factors.get(head, 1.0)) for head in line] for line in heads],
        pale=frozenset(
            (head.layer, head.head)
            for line in heads
            for head in line
            if factors.get(head, 1.0) == 0
        ),
    )


def _name(head: Head, factor: float) -> str:
    """The code that names the head, to copy, and its factor."""
    name = f'Head("{head.kind}", {head.layer}, {head.head})'
    if factor == 1:
        return name
    return f"{name} · off" if factor == 0 else f"{name} · ×{factor:g}"


def _head_shown(translation: Translation, blocks: Sequence[Block]) -> tuple[int, int, int]:
    """The first head that the experiment changes; else one of the last but one cross-attention."""
    changed = [
        change.head
        for change in translation.experiment.interventions
        if isinstance(change, HeadScaled)
    ]
    for head in changed:
        index = ATTENTION_KINDS.index(head.kind)
        if head.layer < len(blocks[index].maps) and head.head < blocks[index].maps.shape[1]:
            return index, head.layer, head.head
    index = ATTENTION_KINDS.index("cross")
    return index, max(len(blocks[index].maps) - 2, 0), 0


def _maps(blocks: Sequence[Block], texts: Texts, shown: tuple[int, int, int]) -> str:
    """Texts and maps, as much of them as fits into `MAX_BYTES`."""
    for limits in LIMITS:
        cut = [block.cut(limits.tokens, limits.layers, limits.heads) for block in blocks]
        index, layer, head = shown
        is_cut = layer >= limits.layers or head >= limits.heads
        views, variables = maps_html(cut, (index, 0, 0) if is_cut else shown)
        page = framed("".join([*texts(limits), *_left_out(blocks, cut), views]), variables)
        if len(page.encode()) <= MAX_BYTES:
            break
    return page


def _left_out(blocks: Sequence[Block], cut: Sequence[Block]) -> list[str]:
    """What is not shown, and where it is."""
    sizes, cut_sizes = ([_size(block) for block in group] for group in (blocks, cut))
    texts = [
        f"{max(shown)} of {max(size):,} {name}"
        for name, size, shown in zip(
            ("layers", "heads of a layer", "tokens"),
            zip(*sizes, strict=True),
            zip(*cut_sizes, strict=True),
            strict=True,
        )
        if shown < size
    ]
    if not texts:
        return []
    sentence = f"Shown are the first {', '.join(texts)}. <code>plot_map</code> draws whole maps."
    return [f'<p class="s">{sentence}</p>']


def _size(block: Block) -> tuple[int, int, int]:
    num_layers, num_heads, *cells = block.maps.shape
    return num_layers, num_heads, max(cells)


@_html_of.register
def _(maps: AttentionMaps) -> str:
    blocks = [_plain_block(KIND_TITLES[kind], maps.of_kind(kind), kind) for kind in ATTENTION_KINDS]
    return _maps(blocks, lambda limits: [], (2, 0, 0))


def _plain_block(title: str, maps: FloatArray, kind: AttentionKind) -> Block:
    rows, columns = (tuple(map(str, range(count))) for count in maps.shape[2:])
    names = [
        [_name(Head(kind, layer, head), 1.0) for head in range(maps.shape[1])]
        for layer in range(len(maps))
    ]
    return Block(title, maps, rows, columns, names)


@_html_of.register
def _(labelled: LabelledMap) -> str | None:
    top = float(np.nan_to_num(labelled.weights).max(initial=0.0))
    is_signed = bool(np.nan_to_num(labelled.weights).min(initial=0.0) < 0)
    scale = ColorScale(1.0 if 0.2 < top <= 1 else top or 1.0, is_signed)
    return _one_map("", labelled.weights, labelled.queries, labelled.keys, scale)


@_html_of.register
def _(difference: MapDifference) -> str | None:
    scale = ColorScale(difference.largest or 1.0, is_signed=True)
    note = f"Second minus first. {difference.note}"
    return _one_map(note, difference.values, difference.queries, difference.keys, scale)


def _one_map(
    note: str, values: FloatArray, queries: Axis, keys: Axis, scale: ColorScale
) -> str | None:
    """Maps [..., Q, M] of up to two dimensions before queries and keys; None of others."""
    if values.ndim > 4 or not values.size:
        return None
    maps = values.reshape((1,) * (4 - values.ndim) + values.shape)
    names = [
        [f"[{layer}, {head}]" if values.ndim > 2 else "" for head in range(maps.shape[1])]
        for layer in range(len(maps))
    ]
    low = f"−{scale.top:.2g}" if scale.is_signed else "0"
    title = f"{queries.meaning} × {keys.meaning}, {low} to {scale.top:.2g}"
    block = Block(title, maps, queries.labels, keys.labels, names, scale)
    texts = [f'<p class="s">{escaped(note)}</p>'] if note else []
    return _maps([block], lambda limits: texts, (0, 0, 0))


@_html_of.register
def _(contributions: Contributions) -> str:
    translation = contributions.translation
    blocks = []
    for title, labelled in (
        ("Shares of source tokens", contributions.of_source(words=False)),
        ("Shares of tokens read", contributions.of_prefix(words=False)),
    ):
        axes = labelled.queries.labels, labelled.keys.labels
        blocks.append(Block(title, labelled.weights[None, None], *axes, [[title]]))
    share = f"{contributions.source_share.mean():.0%} of the prediction comes from the source."
    return _maps(
        blocks,
        lambda limits: [
            _source(translation),
            _words(translation, limits.words),
            f'<p class="s">{share}</p>',
        ],
        (0, 0, 0),
    )


@_html_of.register
def _(lens: LogitLens) -> str:
    """The most probable token at each depth, coloured by the probability of the one predicted."""
    few = lens if len(lens.depths) <= MAX_COLUMNS else lens.whole_layers
    steps = range(min(len(lens.translation.predicted_tokens), MAX_COLUMNS))
    rows = []
    for row in range(len(few.depths))[-MAX_COLUMNS:]:
        cells = [Cell(str(few.depths[row]))]
        for step in steps:
            probability = float(np.exp(few.log_probabilities[row, step]))
            candidates = few.candidates[row][step]
            token = candidates[0].token if candidates else ""
            cells.append(Cell(token, probability, f"{probability:.1%}"))
        rows.append(cells)
    header = ["", *(lens.translation.predicted_tokens[step] for step in steps)]
    caption = (
        "The most probable token at each depth; the darker, the more probable is the token "
        "predicted in the end."
    )
    return _table(caption, header, rows, lens.ranks.size, len(rows) * len(steps), "cells")


@_html_of.register
def _(lens: DecoderLens) -> str:
    names = ["embedding", *(f"layer {layer}" for layer in range(len(lens.layers) - 1))]
    rows = [
        [Cell(name), Cell(translation.text), _number(translation.log_probability)]
        for name, translation in zip(names, lens.layers, strict=True)
    ]
    header = ["encoder", "translation", "log-probability"]
    return _table("", header, rows[-MAX_COLUMNS:], len(rows), min(len(rows), MAX_COLUMNS))


@_html_of.register
def _(parts: WordParts) -> str:
    caption = (
        f"“{parts.chosen_word.token}” rather than “{parts.foil_word.token}”: "
        f"{_signed(parts.difference, '+.2f')} nats, as a sum of parts."
    )
    return _components(caption, parts.components, parts.values)


@_html_of.register
def _(parts: EncoderParts) -> str:
    caption = "Parts through all heads of cross-attention and all positions, in nats."
    return _components(caption, parts.components, parts.values.sum(axis=(0, 1, 3)))


@_html_of.register
def _(attribution: PairAttribution) -> str:
    count = len(attribution.differences)
    caption = (
        f"Mean of {count:,} pairs: {_signed(attribution.differences.mean(), '+.2f')} nats, of which these "
        f"parts explain {_signed(attribution.explained.mean(), '+.2f')}."
    )
    return _components(caption, attribution.components, attribution.parts.mean(axis=0))


def _components(caption: str, components: Sequence[Component], values: NDArray[np.float64]) -> str:
    """The largest parts, largest first."""
    order = np.argsort(-np.abs(values), kind="stable")[:MAX_ROWS].tolist()
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    rows = [[Cell(str(components[index])), _number(values[index], largest)] for index in order]
    return _table(caption, ["component", "part"], rows, len(components), len(rows))


@_html_of.register
def _(importance: HeadImportance) -> str:
    """A row for each layer and kind, a column for each head, the network last."""
    largest = importance.largest or 1.0
    rows = []
    for kind in ATTENTION_KINDS:
        for layer, effects in enumerate(importance.of_kind(kind)):
            name = f"{kind} layer {layer}"
            rows.append([Cell(name), *(_number(effect, largest) for effect in effects[:MAX_HEADS])])
    for side in SIDES:
        effects = importance.of_networks(side)
        rows += [
            [Cell(f"{side} network {layer}"), _number(effect, largest)]
            for layer, effect in enumerate(effects)
        ]
    num_heads = importance.of_kind("cross").shape[1]
    caption = (
        f"Effects of switching off, in nats, on {importance.before:.3f} of "
        f"{importance.num_sentences:,} sentences."
    )
    header = ["", *map(str, range(min(num_heads, MAX_HEADS)))]
    shown = rows[: 4 * MAX_LAYERS]
    num_shown = sum(len(row) - 1 for row in shown)
    return _table(caption, header, shown, len(importance.effects), num_shown, "effects")


@_html_of.register
def _(occlusion: SourceOcclusion) -> str:
    """A row for each source word, a column for each word of the translation."""
    effects = occlusion.effects[:MAX_COLUMNS]
    largest = float(np.abs(occlusion.effects).max(initial=0.0)) or 1.0
    names = [*(word.text for word in occlusion.translation.target_words), "end"]
    rows = [
        [
            Cell(word.word.text),
            *(_number(value, largest) for value in effects[:, column]),
            _number(occlusion.change_of(word)),
        ]
        for column, word in enumerate(occlusion.words[:MAX_COLUMNS])
    ]
    caption = "Change of log-probability without each source word."
    header = ["without", *names[: len(effects)], "sum"]
    num_shown = effects.shape[0] * len(rows)
    return _table(caption, header, rows, occlusion.effects.size, num_shown, "effects")


@_html_of.register
def _(ranking: AlignerRanking) -> str:
    scores = *ranking.scores[:MAX_ROWS], *ranking.baselines[:MAX_ROWS]
    rows = [
        [
            Cell(score.name if score.aligner is None else str(score.aligner)),
            _number(score.reporting.aer, 1.0),
            _number(score.reporting.precision),
            _number(score.reporting.recall),
        ]
        for score in scores
    ]
    caption = (
        f"Alignment error rates on {ranking.num_reporting:,} pairs, of aligners ranked on "
        f"{ranking.num_choosing:,} others."
    )
    count = len(ranking.scores) + len(ranking.baselines)
    return _table(caption, ["aligner", "AER", "precision", "recall"], rows, count, len(rows))


@_html_of.register
def _(row: RowParts) -> str:
    largest = float(np.abs(row.scores).max(initial=0.0)) or 1.0
    keys = range(min(len(row.scores), MAX_COLUMNS))
    rows = [[Cell(str(key)), _number(row.scores[key], largest)] for key in keys]
    caption = f"Attention scores of query {row.query} in {row.head}."
    return _table(caption, ["key", "score"], rows, len(row.scores), len(rows))


@_html_of.register
def _(cell: CellParts) -> str:
    subtrahend = {"mean": "minus the mean of the row", "none": ""}.get(
        str(cell.baseline), f"minus that of key {cell.baseline}"
    )
    caption = f"Score of query {cell.row.query} and key {cell.key} {subtrahend}: {_signed(cell.total, '+.2f')}."
    return _parts_table(caption, cell.table())


@_html_of.register
def _(table: PartsTable) -> str:
    return _parts_table("Products of components of query (rows) and key (columns).", table)


def _parts_table(caption: str, table: PartsTable) -> str:
    largest = float(np.abs(table.values).max(initial=0.0)) or 1.0
    rows = [
        [Cell(group.name), *(_number(value, largest) for value in values[:MAX_COLUMNS])]
        for group, values in zip(table.rows[:MAX_COLUMNS], table.values, strict=False)
    ]
    header = ["", *(group.name for group in table.columns[:MAX_COLUMNS])]
    num_shown = sum(len(row) - 1 for row in rows)
    return _table(caption, header, rows, table.values.size, num_shown, "cells")


@_html_of.register
def _(scores: CorpusScores) -> str:
    rows = [
        [Cell(name), _score(score), Cell(_interval(interval), is_number=True)]
        for name, score, interval in scores.metrics
    ]
    count = counted(scores.sentences, "sentence")
    caption = " ".join([f"Scores of {count}, from 0 to 100.", *scores.warnings])
    return _table(caption, ["score", "", "95% interval"], rows, len(rows), len(rows))


@_html_of.register
def _(comparison: SystemComparison) -> str:
    caption = (
        f"{counted(comparison.num_sentences, 'sentence')}, {comparison.num_different:,} translated "
        f"differently. {' '.join(comparison.warnings)}"
    )
    return _differences(caption, comparison.scores)


@_html_of.register
def _(difference: ScoreDifference) -> str:
    return _differences("", [difference])


def _differences(caption: str, scores: Sequence[ScoreDifference]) -> str:
    rows = [
        [
            Cell(score.metric),
            _score(score.first),
            _score(score.second),
            Cell(_signed(score.difference, "+.2f"), is_number=True),
            Cell(_interval(score.interval, "+.2f"), is_number=True),
            Cell(f"{score.p_value:.3f}", is_number=True),
        ]
        for score in scores
    ]
    header = ["score", "first", "second", "difference", "95% interval", "p"]
    return _table(caption, header, rows, len(rows), len(rows))


def _score(value: float) -> Cell:
    return Cell(f"{value:.2f}", is_number=True)


def _interval(ends: tuple[float, float], form: str = ".2f") -> str:
    return " to ".join(_signed(end, form) for end in ends)


def _number(value: float, largest: float = math.inf) -> Cell:
    """A number, coloured by its share of the largest absolute value."""
    strength = float(value) / largest
    return Cell(_signed(value, ".3f"), strength, is_number=True)


def _signed(value: float, form: str) -> str:
    """A number with a minus sign rather than a hyphen."""
    return format(value, form).replace("-", "−")


def _table(
    caption: str,
    header: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    count: int,
    num_shown: int,
    noun: str = "rows",
) -> str:
    """A table, with a sentence about what is left out of it."""
    parts = [f"<p>{escaped(caption)}</p>"] if caption else []
    parts.append(table_html(header, rows))
    if num_shown < count:
        parts.append(
            f'<p class="s">Shown are {num_shown:,} of {count:,} {noun}. <code>to_frame()</code> '
            "has all.</p>"
        )
    return framed("".join(parts))
