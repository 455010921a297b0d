"""Occlusion: the translation without a source word, or with another in its place. No torch.

An effect is the log-probability after a change minus the one before it.

Unlike a map of attention, this is an experiment: an input changes, and the output is observed. The
method is old (Zeiler and Fergus 2014 for pictures; Li, Monroe and Jurafsky 2016, "Understanding
Neural Networks through Representation Erasure").
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...arguments import checks_arguments
from ...conversions import Result
from ...errors import AnalysisError
from ...maps.left_out import ChangedSources
from ...translation.experiment import (
    AttentionRow,
    SourceEdit,
)
from ...translation.result import FloatArray, Translation, Word, read_only

if TYPE_CHECKING:
    from ...translation.translator import Translator

BATCH_SIZE = 8
"""Number of changed sentences between two reports of progress."""


@dataclass(frozen=True, eq=False)
class OccludedWord(Result):
    """One source word that was removed or replaced.

    Attributes:
        edit: the change.
        word: the word in the original source.
        translation: the translation of the changed sentence, without maps.
        log_probabilities: natural logs of the probabilities of the tokens of the *old* translation,
            given the changed sentence, T values.
    """

    edit: SourceEdit
    word: Word
    translation: Translation
    log_probabilities: tuple[float, ...]


@checks_arguments
@dataclass(frozen=True, eq=False)
class SourceOcclusion(Result):
    """The source words of one translation, changed one at a time.

    Attributes:
        translation: the old one.
        words: one entry for each changed word, by place.
        log_probabilities: natural logs of the probabilities of the tokens of the old translation
            without the rows in `left_out`, T values, the baseline of `words`.
        left_out: rows of attention that the experiment sets over the source. They do not fit a
            shorter sentence, so both the changed sentences and the baseline do without them.
        model_digest: of the model that computed the changes.
    """

    translation: Translation
    words: tuple[OccludedWord, ...]
    log_probabilities: tuple[float, ...]
    left_out: tuple[AttentionRow, ...] = ()
    model_digest: str = ""

    def change_of(self, word: OccludedWord) -> float:
        """The change of the old translation's log-probability, in nats; below 0 if it became less
        probable.

        Raises `AnalysisError` if the word is not one of `words`.
        """
        if word not in self.words:
            raise AnalysisError("This word belongs to another result. Choose one of `words`.")
        return sum(word.log_probabilities) - sum(self.log_probabilities)

    @property
    def effects(self) -> FloatArray:
        """The changes of the log-probability of each old target word, in nats: [target words + 1,
        occluded words].

        Below 0 where the target word depended on the source word. The last row is the end token.
        """
        before = np.array(self.log_probabilities, dtype=np.float64)
        changes = (
            np.array([word.log_probabilities for word in self.words]).reshape(-1, len(before))
            - before
        )
        words = self.translation.target_words
        last = words[-1].end if words else 0
        rows = [changes[:, word.start : word.end].sum(axis=1) for word in words]
        return read_only(np.stack([*rows, changes[:, last:].sum(axis=1)]).astype(np.float32))


@dataclass(frozen=True, eq=False)
class SourceChanges:
    """The changes of a translation's log-probability without each word of its source.

    Attributes:
        by_place: by place of a word, the change of the old translation's log-probability without
            it, in nats; below 0 if it becomes less probable.
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
    """Change one source word at a time, under all other interventions of the experiment.

    Removing words drops rows of attention over the source; see `SourceOcclusion.left_out`. The ids
    of all other words stay unchanged. The changed sentence is decoded like the old one, or greedily
    if that was given. Not thread-safe with other uses of the model.

    Args:
        translator: the model.
        translation: by this model, written by the user, or by a model with the same vocabularies;
            its tokens are read under this model.
        replacement: a word, or `UNKNOWN`, the token for unknown words (which a subword model never
            saw in training, so the result means less); None removes the word.
        places: the places of words in the sentence as typed; None for all.
        on_progress: called with the number of finished words and their total.

    Raises:
        AnalysisError: a word does not exist, or the vocabularies differ.
        ExperimentError: the replacement cannot be read, nothing would be left, or the row weights
            that the experiment sets do not fit the sentence with a replacement.
    """
    sources = ChangedSources(translator, translation, replacement, places)
    occluded_words: list[OccludedWord] = []
    on_progress(0, len(sources.edits))
    for first in range(0, len(sources.edits), BATCH_SIZE):
        group = slice(first, first + BATCH_SIZE)
        changed = translator.run_many(sources.compiled[group], need_maps=False, draft=translation)
        scores = translator.score_many(translation, sources.compiled[group])
        for edit, new, log_probabilities in zip(sources.edits[group], changed, scores, strict=True):
            occluded_words.append(
                OccludedWord(edit, sources.words[edit.place], new, log_probabilities)
            )
        on_progress(len(occluded_words), len(sources.edits))
    return SourceOcclusion(
        translation, tuple(occluded_words), sources.baseline(), sources.left_out, translator.digest
    )


def score_without_source_words(
    translator: "Translator",
    translation: Translation,
    *,
    should_stop: Callable[[], bool] = lambda: False,
) -> SourceChanges:
    """The change of the translation's probability without each source word, in one pass without
    translating again.

    Otherwise like `occlude_source_words`.

    Raises:
        ExperimentError: nothing would be left.
        TranslationStoppedError: `should_stop`, checked before each batch, returned True.
    """
    sources = ChangedSources(translator, translation, None, None)
    before = sum(sources.baseline(should_stop))
    scores = translator.score_many(translation, sources.compiled, should_stop=should_stop)
    changes = {
        edit.place: sum(after) - before for edit, after in zip(sources.edits, scores, strict=True)
    }
    return SourceChanges(changes, sources.left_out)


def translate_without_source_words(
    translator: "Translator",
    translation: Translation,
    places: Sequence[int],
    *,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Translation]:
    """The translations of the source without the words in these places, one at a time, without
    maps.

    Otherwise like `occlude_source_words`.

    Raises:
        AnalysisError: a word does not exist.
        ExperimentError: nothing would be left.
        TranslationStoppedError: `should_stop`, checked before each decoding step, returned True.
    """
    compiled = ChangedSources(translator, translation, None, places).compiled
    return list(
        translator.run_many(compiled, need_maps=False, draft=translation, should_stop=should_stop)
    )
