"""Word links from maps, and a ranking of heads as word aligners by their links on gold pairs.

Reference translations are forced, as in Kobayashi et al. 2020, section 5, and Chen et al. 2020,
"Accurate Word Alignment Induction from Neural Machine Translation". Shape legend: `core.maps`; I
source words, J target words.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from ...arguments import CheckedFields, checks_arguments
from ...conversions import Result
from ...counting import Counted, CountedText, Index
from ...errors import AnalysisError
from ...maps.measure import MeasureName
from ...maps.measures import MEASURES, measure_maps, measures_of
from ...maps.model_pass import Pass
from ...maps.selection import LABEL_MODES, LabelMode
from ...model.heads import AttentionKind
from ...model.interventions import Interventions
from ...model.sites import PairPass
from ...short_repr import ShortRepr
from ...text.languages import sentence_with_code
from ...translation.compilation import CompiledExperiment, compile_general
from ...translation.experiment import Experiment, General, GivenTarget
from ...translation.notes import Note
from ...translation.result import FloatArray, Translation, Word
from ...translation.translator import Translator
from ..note_summaries import summaries
from .alignment import AlignmentScore, GoldPair, Links, diagonal_links, score_links
from .samples import require_languages_of_sample


@dataclass(frozen=True)
class WordLink:
    """A link between two words.

    Attributes:
        source: index into `Translation.source_words`.
        target: index into `Translation.target_words`.
        share: the source word's share of the target word's row, from 0 to 1, without start and end
            tokens.
    """

    source: int
    target: int
    share: float


def word_maps(
    maps: FloatArray,
    source_words: Sequence[Word],
    target_words: Sequence[Word],
    label_mode: LabelMode,
) -> FloatArray:
    """Cross maps [..., T, S] between words instead of tokens, without start and end tokens: [...,
    J, I].

    Sums over the pieces of a key word, and means over those of a query word. Rows are not
    renormalized, which would not change the largest word. If rows are named by the token read, a
    word that was never read (the last one of a truncated translation) has a row of zeros.

    Args:
        maps: row t belongs to the step that predicts token t of the target and reads the previous
            one.
        source_words: ranges of columns.
        target_words: ranges of decoding steps, as in `Translation`.
        label_mode: whether a row belongs to the token read or to the token predicted.
    """
    num_steps, num_keys = maps.shape[-2:]
    shift = 1 if label_mode == "read" else 0
    keys, queries = (
        _membership(source_words, num_keys, 0),
        _membership(target_words, num_steps, shift),
    )
    merged: FloatArray = (queries / queries.sum(axis=0).clip(1)).T @ maps @ keys
    return merged


def _membership(words: Sequence[Word], num_tokens: int, shift: int) -> FloatArray:
    """[tokens, words]: 1 where a token is a piece of a word."""
    member = np.zeros((num_tokens, len(words)), dtype=np.float32)
    for index, word in enumerate(words):
        member[word.start + shift : word.end + shift, index] = 1
    return member


def word_links(
    weights: FloatArray, translation: Translation, label_mode: LabelMode
) -> tuple[WordLink, ...]:
    """One link per target word of a cross map [T, S], in the order of the target; among equal
    words, the first.

    A target word without weight on any source word has no link.

    Raises:
        AnalysisError: the map is not a cross map of this translation.
    """
    expected = (len(translation.predicted_tokens), len(translation.source_tokens))
    if weights.shape != expected:
        raise AnalysisError(
            f"This map has the shape {list(weights.shape)}, but a cross map of this translation "
            f"has {list(expected)}. Compute it again."
        )
    words = word_maps(weights, translation.source_words, translation.target_words, label_mode)
    if not words.shape[-1]:
        return ()
    totals = words.sum(axis=-1)
    best = words.argmax(axis=-1)
    return tuple(
        WordLink(int(source), target, float(words[target, source] / totals[target]))
        for target, source in enumerate(best)
        if totals[target] > 0
    )


Counts = NDArray[np.int64]
"""[4, C] for C aligners and baselines, in the order of `AlignmentScore`'s attributes."""


def aligning_measures() -> tuple[MeasureName, ...]:
    """The measures whose cross maps are ranked."""
    return tuple(name for name in measures_of("cross") if MEASURES[name].ranks_aligners)


@dataclass(frozen=True)
class Aligner(Counted, CheckedFields):
    """A way of reading word links off a model.

    Attributes:
        layer: counted from 0; None for the mean of all heads of all layers, then without a head.
        head: counted from 0; None for the mean of all heads of the layer, or where the measure has
            one map a layer.
        label_mode: whether row t belongs to the token read at step t, or to the one predicted.
        measure: the measure of the map's cells.
        kind: of the maps; only cross-attention links the two sentences.
    """

    layer: int | None
    head: int | None
    label_mode: LabelMode
    measure: MeasureName
    kind: AttentionKind = "cross"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind != "cross":
            raise AnalysisError(
                f'Maps of {self.kind} attention link no words of two sentences. Use "cross".'
            )
        if self.layer is None and self.head is not None:
            raise AnalysisError(
                "Head {head} needs a layer. Pass one, or None for both: the mean of all heads.",
                head=Index(self.head),
            )

    def text_from(self, first: int) -> str:
        """See `Counted`."""
        where = "all layers" if self.layer is None else f"layer {self.layer + first}"
        if self.head is not None:
            which = f"head {self.head + first}"
        else:
            which = (
                "mean of heads"
                if self.kind in MEASURES[self.measure].per_head
                else "all heads at once"
            )
        return f"{where} {which}, {MEASURES[self.measure].name}, token {self.label_mode}"


@dataclass(frozen=True)
class AlignerScore(ShortRepr):
    """The scores of an aligner or a baseline on both halves of the gold pairs.

    Attributes:
        aligner: None for a baseline, which reads no attention map.
        name: for people; counted from 0, see `CountedText`.
        choosing: the score to choose the best by.
        reporting: the score to report.
    """

    aligner: Aligner | None
    name: str
    choosing: AlignmentScore
    reporting: AlignmentScore


@dataclass(frozen=True)
class AlignerRanking(Result):
    """The scores of all aligners of a model, and of the baselines.

    Attributes:
        scores: best on the choosing half first; empty if stopped before each half had a pair.
        baselines: the diagonal, and others whose links were passed.
        num_choosing: pairs in the half that chooses.
        num_reporting: pairs in the half that reports.
        num_skipped: gold pairs that the model refused or cut into other words.
        is_complete: whether every pair was read.
        model_digest: of the model.
        notes: notes for the reader on the gold pairs, see `summaries`.
    """

    scores: tuple[AlignerScore, ...]
    baselines: tuple[AlignerScore, ...]
    num_choosing: int
    num_reporting: int
    num_skipped: int
    is_complete: bool
    model_digest: str = ""
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> AlignerScore | None:
        """The aligner with the lowest error rate on the choosing half; None without scores."""
        return self.scores[0] if self.scores else None


@checks_arguments
def rank_aligners(
    translator: Translator,
    gold: Sequence[GoldPair],
    others: Mapping[str, Mapping[int, Links]] | None = None,
    *,
    changes: Sequence[General] = (),
    target_code: str = "",
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> AlignerRanking:
    """Ranks layers × heads × label modes × measures, and means of heads, by their error rate.

    Gold pairs alternate: the first is for choosing, the second for reporting, and so on. Each
    target word gets one link, also in the diagonal. Not thread-safe with other uses of the model.

    Args:
        translator: provides the model.
        gold: manually linked pairs.
        others: baselines by name, each with its links by line of the corpus.
        changes: heads and networks that are changed throughout.
        target_code: for a model of several target languages, the one of the pairs: see
            `Translator.code_of_language`.
        on_progress: called with the number of finished pairs and their total.
        should_stop: called before each pair; if True, the pairs read so far are ranked.

    Raises:
        AnalysisError: the pairs have `languages` that are not the model's; it can read no pair, or
            lacks a scaled head; or a baseline lacks the links of a pair.
        ConfigError: the model has no such target language.
    """
    code = translator.code_of_language(target_code) if target_code else None
    _require_languages(translator, gold, code)
    interventions = compile_general(translator.model, changes, 1)
    halves: tuple[list[Counts], list[Counts]] = [], []
    candidates: list[Aligner | str] = []
    num_skipped = 0
    notes: list[tuple[Note, ...]] = []
    for index, pair in enumerate(gold):
        if should_stop():
            break
        source_text = sentence_with_code(pair.source_text, code)
        compiled, notes_on_pair = translator.try_compile(
            Experiment(source_text, GivenTarget(pair.target_text))
        )
        notes.append(notes_on_pair)
        forced = _force(translator, pair, compiled, interventions, has_code=code is not None)
        if forced is None:
            num_skipped += 1
        else:
            candidates, counts = _pair_counts(forced, pair, others or {})
            halves[index % 2].append(counts)
        on_progress(index + 1, len(gold))
    num_choosing, num_reporting = map(len, halves)
    is_complete = len(notes) == len(gold)
    if is_complete and not all(halves):
        raise AnalysisError(
            f"The model can read {num_choosing + num_reporting} of {len(gold)} gold pairs word "
            "by word. The ranking needs at least two. Choose pairs in the languages of the "
            "model, or another model."
        )
    scores = _scores(candidates, halves) if all(halves) else []
    ranked = sorted(
        (score for score in scores if score.aligner is not None),
        key=lambda score: score.choosing.aer,
    )
    return AlignerRanking(
        tuple(ranked),
        tuple(score for score in scores if score.aligner is None),
        num_choosing,
        num_reporting,
        num_skipped,
        is_complete,
        translator.digest,
        summaries(notes, "gold pairs"),
    )


def _require_languages(translator: Translator, gold: Sequence[GoldPair], code: str | None) -> None:
    """Raises `AnalysisError` if pairs name languages that are not the model's."""
    for languages in {pair.languages for pair in gold if pair.languages is not None}:
        advice = "Pass pairs of its languages, such as those of a file: read_gold(path)."
        choose = "Or choose its target language: target_code."
        require_languages_of_sample(
            translator, advice, choose, languages=languages, target_code=code
        )


def _scores(
    candidates: Sequence[Aligner | str], halves: tuple[list[Counts], list[Counts]]
) -> list[AlignerScore]:
    """The scores of aligners and named baselines, from their counts on the pairs of each half."""
    columns = zip(*(np.sum(half, axis=0).T.tolist() for half in halves), strict=True)
    return [
        AlignerScore(
            None if isinstance(candidate, str) else candidate,
            CountedText("{candidate}", candidate=candidate),
            AlignmentScore(*choosing),
            AlignmentScore(*reporting),
        )
        for candidate, (choosing, reporting) in zip(candidates, columns, strict=True)
    ]


def aligner_map(aligner: Aligner, model_pass: Pass) -> FloatArray:
    """The cross map [T, S] that an aligner reads.

    Raises `AnalysisError` if the model has no such head.
    """
    maps = measure_maps(model_pass, aligner.measure, "cross")
    layers, heads = maps.shape[:2]
    if aligner.layer is None:
        return maps.mean(axis=(0, 1))
    if aligner.layer not in range(layers) or (
        aligner.head is not None and aligner.head not in range(heads)
    ):
        last = {"last_layer": Index(layers - 1), "last_head": Index(heads - 1)}
        raise AnalysisError(
            "This model has no {aligner}. Choose from layers {first} to {last_layer} and heads "
            "{first} to {last_head}.",
            aligner=aligner,
            first=Index(0),
            **last,
        )
    chosen: FloatArray = (
        maps[aligner.layer].mean(axis=0)
        if aligner.head is None
        else maps[aligner.layer, aligner.head]
    )
    return chosen


@checks_arguments
def align(
    translator: Translator, translation: Translation, aligner: Aligner
) -> tuple[WordLink, ...]:
    """The word links of a translation, whose tokens are read under this model.

    Raises:
        AnalysisError: the model has no such head; or as `Translator.pass_over`.
    """
    return word_links(
        aligner_map(aligner, Pass.of(translator, translation)), translation, aligner.label_mode
    )


@dataclass(frozen=True, eq=False)
class _Forced:
    """A gold pair as the model read it."""

    model_pass: Pass
    source_words: tuple[Word, ...]
    target_words: tuple[Word, ...]


def _force(
    translator: Translator,
    pair: GoldPair,
    compiled: CompiledExperiment | None,
    interventions: Interventions,
    *,
    has_code: bool,
) -> _Forced | None:
    """Reads a pair by teacher forcing; None if the model refuses it or cuts it into other words.

    The target-language token is read but is not a word of the pair, so it gets no link.
    """
    if compiled is None or compiled.given is None or translator.rules.end_id is None:
        return None  # without an end token (the copy task) the last word is never read
    source, target = compiled.source, compiled.given
    source_words = source.words[1:] if has_code else source.words
    if (len(source_words), len(target.words)) != (len(pair.source), len(pair.target)):
        return None
    pair_pass = PairPass(
        translator.model, source.ids, translator.rules.read_ids(target.ids), interventions
    )
    return _Forced(Pass(pair_pass), source_words, target.words)


def _pair_counts(
    forced: _Forced, pair: GoldPair, others: Mapping[str, Mapping[int, Links]]
) -> tuple[list[Aligner | str], Counts]:
    """All aligners, then the names of the baselines, and their scores on this pair."""
    sure, possible = (_matrix(links, pair) for links in (pair.sure, pair.possible))
    targets = np.arange(len(pair.target))
    candidates: list[Aligner | str] = []
    hit_counts = []
    for measure in aligning_measures():
        maps = measure_maps(forced.model_pass, measure, "cross")
        num_layers, num_heads = maps.shape[:2]
        places: list[tuple[int | None, int | None]] = []
        stacked = []
        if num_layers > 1:
            places.append((None, None))
            stacked.append(maps.mean(axis=(0, 1))[None])
        if num_heads > 1:
            places += [(layer, None) for layer in range(num_layers)]
            stacked.append(maps.mean(axis=1))
        single = "cross" in MEASURES[measure].per_head
        places += [
            (layer, head if single else None)
            for layer in range(num_layers)
            for head in range(num_heads)
        ]
        stacked.append(maps.reshape(-1, *maps.shape[2:]))
        for mode in LABEL_MODES:
            words = word_maps(
                np.concatenate(stacked), forced.source_words, forced.target_words, mode
            )
            best = words.argmax(axis=-1)
            candidates += [Aligner(layer, head, mode, measure) for layer, head in places]
            hit_counts.append(
                np.stack([sure[targets, best].sum(axis=-1), possible[targets, best].sum(axis=-1)])
            )
    hits = np.concatenate(hit_counts, axis=1)
    totals = np.broadcast_to(np.array([[len(pair.target)], [len(pair.sure)]]), (2, len(candidates)))
    baselines = _baselines(pair, others)
    counts = [np.array([[value] for value in astuple(score)]) for score in baselines.values()]
    return [*candidates, *baselines], np.concatenate(
        [np.concatenate([totals, hits]), *counts], axis=1
    )


def _matrix(links: Links, pair: GoldPair) -> NDArray[np.bool_]:
    """Whether two words are linked: [J, I]."""
    matrix = np.zeros((len(pair.target), len(pair.source)), dtype=bool)
    for source, target in links:
        matrix[target, source] = True
    return matrix


def _baselines(
    pair: GoldPair, others: Mapping[str, Mapping[int, Links]]
) -> dict[str, AlignmentScore]:
    links_by_name = {"diagonal": diagonal_links(len(pair.source), len(pair.target))}
    for name, links in others.items():
        if pair.line not in links:
            raise AnalysisError(
                f"{name} has no links for line {pair.line} of the gold pairs. Compute the links "
                "of all pairs again."
            )
        links_by_name[name] = links[pair.line]
    return {
        name: score_links(links, pair.sure, pair.possible) for name, links in links_by_name.items()
    }
