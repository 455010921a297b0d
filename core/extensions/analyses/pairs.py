"""A metric of the user's own: log P(word) − log P(foil), over sentences and beginnings of their
translations.

Such a difference tests one ability, for instance to choose between *play* and *plays*, as in Wang
et al. 2022, "Interpretability in the Wild". Shape legend: `core.maps`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...arguments import CheckedFields, checks_arguments
from ...counting import CountedText, Index
from ...errors import AnalysisError, AugenmerkError, CorpusError, ExperimentError, TextError
from ...quantities import counted
from ...translation.compilation import forced_word
from ...translation.experiment import Experiment, ForcedToken, General
from ...translation.result import ReadOnlyArrays
from ...translation.translator import Translator
from ..note_summaries import summaries
from ..training.corpora.parallel import read_lines
from .importance import (
    HeadImportance,
    ScoredTarget,
    importance_of_targets,
    last_importance,
)
from .logit_attribution import require_one_word, word_parts
from .parts import Component

NUM_FIELDS = 4
_FIELDS = "sentence, tab, beginning of the translation (may be empty), tab, word, tab, foil"


@dataclass(frozen=True)
class WordPair(CheckedFields):
    """Two words that could follow the beginning of a translation.

    Attributes:
        source: the sentence.
        prefix: the beginning of its translation; may be empty.
        word: a word, or a piece as in the vocabulary (`▁dog`, `·ing`).
        foil: another one, likewise.
        place: file and line, for messages; empty for none.
    """

    source: str
    prefix: str
    word: str
    foil: str
    place: str = ""


@checks_arguments
def read_pairs(path: Path | str) -> tuple[WordPair, ...]:
    """The pairs in a UTF-8 file, one a line, with four tab-separated fields.

    Empty lines are skipped.

    Raises:
        CorpusError: the file cannot be read, has no pair, or a line is something else; the message
            names the line.
    """
    pairs = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        location = f"{path}, line {number}"
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) != NUM_FIELDS:
            raise CorpusError(
                f"{location}: found {counted(len(fields), 'field')} instead of {NUM_FIELDS}. "
                f"Write {_FIELDS}."
            )
        for name, field in zip(("sentence", "word", "foil"), (fields[0], *fields[2:]), strict=True):
            if not field:
                raise CorpusError(f"{location}: the {name} is empty. Write {_FIELDS}.")
        if fields[2] == fields[3]:
            raise CorpusError(
                f"{location}: word and foil are both “{fields[2]}”. Choose two words."
            )
        source, prefix, word, foil = fields
        pairs.append(WordPair(source, prefix, word, foil, location))
    if not pairs:
        raise CorpusError(f"{path} has no pair of words. Write lines of {_FIELDS}.")
    return tuple(pairs)


@dataclass(frozen=True, eq=False)
class PairAttribution(ReadOnlyArrays):
    """The metric of N pairs, and its parts by direct logit attribution.

    Attributes:
        differences: [N], log P(word) − log P(foil) of the whole words after the same beginning, in
            nats.
        explained: [N], the part of it that the logits of the first tokens that differ decide; all
            of it for words of one token.
        components: P of them, see `WordParts`.
        parts: [N, P], which sum to `explained` but for rounding, or the effect of a user's hook.
        changes: heads and networks that were changed.
        model_digest: of the model.
        notes: notes for the reader on the sentences, see `summaries`.
    """

    differences: NDArray[np.float64]
    explained: NDArray[np.float64]
    components: tuple[Component, ...]
    parts: NDArray[np.float64]
    changes: tuple[General, ...] = ()
    model_digest: str = ""
    notes: tuple[str, ...] = ()


@checks_arguments
def attribute_pairs(
    translator: Translator,
    pairs: Sequence[WordPair],
    *,
    changes: Sequence[General] = (),
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> PairAttribution:
    """The metric of each pair and its parts. Takes a few passes for each. See `word_parts`.

    Args:
        translator: provides the model.
        pairs: at least one.
        changes: heads and networks that are changed throughout.
        on_progress: called with the number of finished pairs and their total.

    Raises:
        AnalysisError: there is no pair, or the model cannot read one; the message names its place,
            or its index.
    """
    translator.check(Experiment("", interventions=tuple(changes)))
    encoded = _encode(translator, pairs)
    end_id = translator.rules.end_id
    vocabulary = translator.checkpoint.codecs.target.vocabulary
    parts_by_pair = []
    for index, (pair, (_, prefix, word, _)) in enumerate(zip(pairs, encoded, strict=True)):
        ids = (*prefix, *word)
        if end_id is not None and end_id not in word:
            ids = (*ids, end_id)
        forced = [ForcedToken(step, vocabulary.tokens[token]) for step, token in enumerate(ids)]
        try:
            translation = translator.run(Experiment(pair.source, interventions=(*changes, *forced)))
            if translation.predicted_ids[: len(ids)] != ids:
                raise AnalysisError(
                    "The beginning and the word are too long for this sentence. Shorten them."
                )
            parts_by_pair.append(word_parts(translator, translation, len(prefix), pair.foil))
        except (AnalysisError, ExperimentError, TextError) as error:
            raise _about(pair, index, error) from error
        on_progress(index + 1, len(pairs))
    words = [
        (parts.chosen_word.log_probability, parts.foil_word.log_probability)
        for parts in parts_by_pair
    ]
    return PairAttribution(
        np.array([word - foil for word, foil in words]),
        np.array([parts.difference for parts in parts_by_pair]),
        parts_by_pair[0].components,
        np.array([parts.values for parts in parts_by_pair]),
        tuple(changes),
        translator.digest,
        summaries([translator.try_compile(Experiment(pair.source))[1] for pair in pairs]),
    )


@checks_arguments
def pairs_importance(
    translator: Translator,
    pairs: Sequence[WordPair],
    *,
    changes: Sequence[General] = (),
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> HeadImportance:
    """The effect of switching off each head and feed-forward network on the mean of the metric.

    It is below 0 for a part that helps. Arguments and errors as for `attribute_pairs`;
    `on_progress` counts passes over batches.
    """
    targets = []
    for source, prefix, word, foil in _encode(translator, pairs):
        targets.append(
            ScoredTarget(source, (*prefix, *word), weight=-1, count=1, start=len(prefix))
        )
        targets.append(ScoredTarget(source, (*prefix, *foil), weight=1, count=0, start=len(prefix)))
    importance = last_importance(importance_of_targets(translator, targets, changes), on_progress)
    return replace(importance, num_sentences=len(pairs))


Ids = tuple[int, ...]


def _encode(translator: Translator, pairs: Sequence[WordPair]) -> list[tuple[Ids, Ids, Ids, Ids]]:
    """The ids of sentence, beginning, word and foil."""
    if not pairs:
        raise AnalysisError("There is no pair of words. Pass at least one.")
    encoded = []
    for index, pair in enumerate(pairs):
        try:
            source = translator.compile(Experiment(pair.source)).source.ids
            prefix = _ids_of(translator, 0, pair.prefix) if pair.prefix.strip() else ()
            if translator.rules.end_id in prefix:
                raise AnalysisError(
                    f"The beginning “{pair.prefix}” contains the end of the sentence. Remove it."
                )
            word, foil = (
                _word_ids(translator, len(prefix), text) for text in (pair.word, pair.foil)
            )
            if word == foil:
                raise AnalysisError(
                    f"“{pair.word}” and “{pair.foil}” are the same for this model. Choose two "
                    "words."
                )
            longest = len(prefix) + max(len(word), len(foil))
            if longest >= translator.run_config.model.max_positions:
                raise AnalysisError(
                    f"The translation has {longest} tokens, too many for this model. Shorten it."
                )
        except (AnalysisError, ExperimentError, TextError) as error:
            raise _about(pair, index, error) from error
        encoded.append((source, prefix, word, foil))
    return encoded


def _word_ids(translator: Translator, step: int, text: str) -> Ids:
    ids = _ids_of(translator, step, text)
    require_one_word(translator.checkpoint.codecs.target, ids, text)
    return ids


def _ids_of(translator: Translator, step: int, text: str) -> Ids:
    if not text.strip():
        raise AnalysisError("A word is empty. Name a word and its foil.")
    codec = translator.checkpoint.codecs.target
    ids = tuple(codec.vocabulary.ids[forced.token] for forced in forced_word(step, text, codec))
    if not set(ids).isdisjoint(translator.rules.forbidden_ids):
        raise AnalysisError(f"“{text}” can never be chosen. Choose other words.")
    return ids


def _about(pair: WordPair, index: int, error: AugenmerkError) -> AnalysisError:
    """The error with the pair's place: its line in a file, or its index."""
    location = pair.place or CountedText("Pair {index}", index=Index(index))
    return AnalysisError("{place}: {error}", place=location, error=error)
