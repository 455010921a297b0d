"""Occlusion: the translation without a source word, or with another in its place. No torch.

An effect is the log-probability after a change minus the one before it.

Unlike a map of attention, this is an experiment: an input changes, and the output is observed. The method is old
(Zeiler and Fergus 2014 for pictures; Li, Monroe and Jurafsky 2016, "Understanding Neural Networks through
Representation Erasure").
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from augenmerk.core.arguments import checks_arguments
from augenmerk.core.counting import Index
from augenmerk.core.errors import AnalysisError
from augenmerk.core.text.languages import FUNCTION_WORDS, two_letter_code
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Experiment,
    GivenTarget,
    Greedy,
    SourceEdit,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.notes import Note
from augenmerk.core.translation.result import FloatArray, Translation, Word, read_only

if TYPE_CHECKING:
    from augenmerk.core.translation.compilation import CompiledExperiment
    from augenmerk.core.translation.translator import Translator

BATCH_SIZE = 8
"""Number of changed sentences between two reports of progress."""
LEAST_FACTOR = 1.5
"""Without a word that was left out, the translation becomes at least 1.5 times as probable, and no token becomes 1.5
times less probable. Chosen on `val`, and checked on other sentences: tests/core/analysis/test_left_out_words.py."""


@dataclass(frozen=True, eq=False)
class OccludedWord:
    """One source word that was removed or replaced.

    Attributes:
        edit: the change.
        word: the word in the original source.
        translation: the translation of the changed sentence, without maps.
        log_probabilities: natural logs of the probabilities of the tokens of the *old* translation, given the changed
            sentence, T values.
    """

    edit: SourceEdit
    word: Word
    translation: Translation
    log_probabilities: tuple[float, ...]


@checks_arguments
@dataclass(frozen=True, eq=False)
class SourceOcclusion:
    """The source words of one translation, changed one at a time.

    Attributes:
        translation: the old one.
        words: one entry for each changed word, by place.
        log_probabilities: natural logs of the probabilities of the tokens of the old translation without the rows in
            `left_out`, T values, the baseline of `words`.
        left_out: rows of attention that the experiment sets over the source. They do not fit a shorter sentence, so
            both the changed sentences and the baseline do without them.
        model_digest: of the model that computed the changes.
    """

    translation: Translation
    words: tuple[OccludedWord, ...]
    log_probabilities: tuple[float, ...]
    left_out: tuple[AttentionRow, ...] = ()
    model_digest: str = ""

    def change_of(self, word: OccludedWord) -> float:
        """The change of the old translation's log-probability, in nats; below 0 if it became less probable.

        Raises `AnalysisError` if the word is not one of `words`.
        """
        if word not in self.words:
            raise AnalysisError("This word belongs to another result. Choose one of `words`.")
        return sum(word.log_probabilities) - sum(self.log_probabilities)

    @property
    def effects(self) -> FloatArray:
        """The changes of the log-probability of each old target word, in nats: [target words + 1, occluded words].

        Below 0 where the target word depended on the source word. The last row is the end token.
        """
        before = np.array(self.log_probabilities, dtype=np.float64)
        changes = np.array([word.log_probabilities for word in self.words]).reshape(-1, len(before)) - before
        words = self.translation.target_words
        last = words[-1].end if words else 0
        rows = [changes[:, word.start : word.end].sum(axis=1) for word in words]
        return read_only(np.stack([*rows, changes[:, last:].sum(axis=1)]).astype(np.float32))


@dataclass(frozen=True, eq=False)
class SourceChanges:
    """The changes of a translation's log-probability without each word of its source.

    Attributes:
        by_place: by place of a word, the change of the old translation's log-probability without it, in nats; below 0
            if it becomes less probable.
        left_out: see `SourceOcclusion.left_out`.
    """

    by_place: Mapping[int, float]
    left_out: tuple[AttentionRow, ...] = ()


@checks_arguments
def occlude_source_words(
    translator: "Translator",
    translation: Translation,
    *,
    replacement: str | None = None,
    places: Collection[int] | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> SourceOcclusion:
    """Change one source word at a time, under all other interventions of the translation's experiment.

    Removing words drops rows of attention over the source; see `SourceOcclusion.left_out`. The ids of all other words
    stay unchanged. The changed sentence is decoded like the old one, or greedily if that was given. Not thread-safe
    with other uses of the model.

    Args:
        translator: the model.
        translation: by this model, written by the user, or by a model with the same vocabularies; its tokens are read
            under this model.
        replacement: a word, or `UNKNOWN`, the token for unknown words (which a subword model never saw in training, so
            the result means less); None removes the word.
        places: the places of words in the sentence as typed; None for all.
        on_progress: called with the number of finished words and their total.

    Raises:
        AnalysisError: a word does not exist, or the vocabularies differ.
        ExperimentError: the replacement cannot be read, nothing would be left, or the row weights that the experiment
            sets do not fit the sentence with a replacement.
    """
    sources = _ChangedSources(translator, translation, replacement, places)
    found: list[OccludedWord] = []
    on_progress(0, len(sources.edits))
    for first in range(0, len(sources.edits), BATCH_SIZE):
        group = slice(first, first + BATCH_SIZE)
        changed = translator.run_many(sources.compiled[group], need_maps=False, draft=translation)
        scores = translator.score_many(translation, sources.compiled[group])
        for edit, new, log_probabilities in zip(sources.edits[group], changed, scores, strict=True):
            found.append(OccludedWord(edit, sources.words[edit.place], new, log_probabilities))
        on_progress(len(found), len(sources.edits))
    return SourceOcclusion(translation, tuple(found), sources.baseline(), sources.left_out, translator.digest)


def score_without_source_words(
    translator: "Translator", translation: Translation, *, should_stop: Callable[[], bool] = lambda: False
) -> SourceChanges:
    """The change of the translation's probability without each source word, in one pass without translating again.

    Otherwise like `occlude_source_words`.

    Raises:
        ExperimentError: nothing would be left.
        TranslationStoppedError: `should_stop`, checked before each batch, returned True.
    """
    sources = _ChangedSources(translator, translation, None, None)
    before = sum(sources.baseline(should_stop))
    scores = translator.score_many(translation, sources.compiled, should_stop=should_stop)
    changes = {edit.place: sum(after) - before for edit, after in zip(sources.edits, scores, strict=True)}
    return SourceChanges(changes, sources.left_out)


def translate_without_source_words(
    translator: "Translator",
    translation: Translation,
    places: Sequence[int],
    *,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Translation]:
    """The translations of the source without the words in these places, one at a time, without maps.

    Otherwise like `occlude_source_words`.

    Raises:
        AnalysisError: a word does not exist.
        ExperimentError: nothing would be left.
        TranslationStoppedError: `should_stop`, checked before each decoding step, returned True.
    """
    compiled = _ChangedSources(translator, translation, None, places).compiled
    return list(translator.run_many(compiled, need_maps=False, draft=translation, should_stop=should_stop))


@checks_arguments
def left_out_words(
    translator: "Translator", translation: Translation, *, should_stop: Callable[[], bool] = lambda: False
) -> tuple[Word, ...]:
    """The content words of the source that the model probably left out of its translation; see `LEAST_FACTOR`.

    If no token needs a word, but the translation fits the sentence better without it, then its meaning is missing. A
    gain is required because a word may also be needless if the sentence says the same twice.

    Returns:
        some of `source_words`; none for a given translation, text in another language than the model's, models of
        other projects, for which the rule was not checked, or a language without known function words.

    Raises:
        AnalysisError: the vocabularies differ.
        TranslationStoppedError: `should_stop`, checked before each batch, returned True.
    """
    translator.check_vocabularies(translation)
    function_words = _function_words(translator)
    words = _words_by_place(translation)
    places = [place for place, word in words.items() if _is_content(_spelling(word, translation), function_words)]
    is_checked = bool(function_words) and not (translation.is_given or translation.hint)
    if not (is_checked and places) or len(words) == 1:
        return ()
    sources = _ChangedSources(translator, translation, None, places)
    before, found = np.array(sources.baseline(should_stop)), []
    scores = translator.score_many(translation, sources.compiled, should_stop=should_stop)
    for place, after in zip(places, scores, strict=True):
        gains = np.array(after) - before
        if gains.sum() >= math.log(LEAST_FACTOR) and gains.min() > -math.log(LEAST_FACTOR):
            found.append(words[place])
    return tuple(found)


def notes_on_left_out_words(
    translator: "Translator",
    experiments: Sequence[Experiment],
    *,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[tuple[Note, ...]]:
    """For each of many sentences, the notes on its `left_out_words`. It is translated again for that.

    Args:
        translator: the model.
        experiments: the sentences, with the decoding and the changes; those that are refused have no notes.
        on_progress: called with the number of finished sentences and their total.
    """
    notes: list[tuple[Note, ...]] = [()] * len(experiments)
    if not _function_words(translator):
        return notes
    tried = {index: translator.try_compile(experiment)[0] for index, experiment in enumerate(experiments)}
    compiled = {index: accepted for index, accepted in tried.items() if accepted is not None}
    translations = translator.run_many(compiled.values(), need_maps=False)
    for index, translation in zip(compiled, translations, strict=True):
        words = left_out_words(translator, translation)
        notes[index] = tuple(Note("left_out", left_out_note(word.text)) for word in words)
        on_progress(index + 1, len(experiments))
    return notes


def _function_words(translator: "Translator") -> list[str]:
    """Words that may be left out; empty if the rule was not checked for this model or its language."""
    if translator.run_config.data.is_imported:
        return []
    return FUNCTION_WORDS.get(two_letter_code(translator.checkpoint.codecs.source.language), "").split()


def left_out_note(word: str) -> str:
    """A sentence for the reader on one of `left_out_words`."""
    return f"No word of the translation depends on “{word}”: it was probably left out."


def _is_content(word: str, function_words: Collection[str]) -> bool:
    return any(map(str.isalnum, word)) and word.lower() not in function_words


def _spelling(word: Word, translation: Translation) -> str:
    """The word in the spelling that the model reads."""
    respelled = translation.coverage.respelled_words if translation.coverage is not None else ()
    return next((each.read_as for each in respelled if each.start == word.start), word.text)


class _ChangedSources:
    """The experiments of a translation with one source word removed or replaced.

    Attributes:
        words: the source words by place.
        edits: the changes, by place.
        compiled: the experiment with each change.
        left_out: see `SourceOcclusion.left_out`.
    """

    def __init__(
        self,
        translator: "Translator",
        translation: Translation,
        replacement: str | None,
        places: Collection[int] | None,
    ) -> None:
        translator.check_vocabularies(translation)
        self.words = _words_by_place(translation)
        wanted = sorted(self.words if places is None else set(places))
        missing = [place for place in wanted if place not in self.words]
        if missing or not wanted:
            raise AnalysisError(
                "These source words cannot be left out: {places}. Choose from {choice}.",
                places=tuple(map(Index, missing)) or "none",
                choice=tuple(map(Index, self.words)),
            )
        experiment = translation.experiment
        if isinstance(experiment.output, GivenTarget):
            experiment = replace(experiment, output=Greedy())
        rows = tuple(row for row in experiment.attention_rows if row.head.kind != "decoder")
        self.left_out = rows if replacement is None else ()
        self._translator, self._translation = translator, translation
        self._experiment = experiment.without(*self.left_out)
        self.edits: list[SourceEdit] = [
            SourceWordRemoved(place) if replacement is None else SourceWordReplaced(place, replacement)
            for place in wanted
        ]
        self.compiled: list[CompiledExperiment] = [
            translator.compile(self._experiment.with_interventions(edit)) for edit in self.edits
        ]

    def baseline(self, should_stop: Callable[[], bool] = lambda: False) -> tuple[float, ...]:
        """The log-probabilities of the old translation under this model, without the rows in `left_out`."""
        if not self.left_out and self._translator.has_made(self._translation):
            return self._translation.log_probabilities
        return self._translator.score_many(self._translation, [self._experiment], should_stop=should_stop)[0]


def _words_by_place(translation: Translation) -> dict[int, Word]:
    """The source words, with the words of one place joined."""
    found: dict[int, Word] = {}
    places: Iterable[int] = translation.source_places or range(len(translation.source_words))
    for place, word in zip(places, translation.source_words, strict=True):
        earlier = found.get(place)
        found[place] = word if earlier is None else Word(f"{earlier.text} {word.text}", earlier.start, word.end)
    return found
