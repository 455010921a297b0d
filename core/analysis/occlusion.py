"""Occlusion: the translation without a source word, or with another in its place. No torch here.

Unlike a map of attention, this is an experiment: an input changes, and the output is observed. The method is old
(Zeiler and Fergus 2014 for pictures; Li, Monroe and Jurafsky 2016, "Understanding Neural Networks through
Representation Erasure").
"""

import difflib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from augenmerk.core.errors import AnalysisError
from augenmerk.core.text.vocabulary import UNKNOWN
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Experiment,
    GivenTarget,
    Greedy,
    SourceEdit,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.result import FloatArray, Translation, TranslationStoppedError, Word, read_only

if TYPE_CHECKING:
    from augenmerk.core.translation.translator import Translator

__all__ = [
    "UNKNOWN",
    "OccludedWord",
    "SourceChanges",
    "SourceOcclusion",
    "changed_words",
    "occlude_source_words",
    "score_without_source_words",
    "translate_without_source_words",
]

BATCH_SIZE = 8
"""Number of changed sentences per batch, between two checks of `should_stop`."""


@dataclass(frozen=True, eq=False)
class OccludedWord:
    """One source word that was removed or replaced.

    Attributes:
        edit: the change.
        word: the word in the original source.
        translation: the translation of the changed sentence, without maps.
        gone: indices of words of the old translation that are missing or in another order.
        new: indices of new words in the new translation.
        log_probabilities: natural logs of the probabilities of the tokens of the *old* translation, given the changed
            sentence, T values.
    """

    edit: SourceEdit
    word: Word
    translation: Translation
    gone: tuple[int, ...]
    new: tuple[int, ...]
    log_probabilities: tuple[float, ...]

    @property
    def place(self) -> int:
        """The place of the word in the sentence as typed."""
        return self.edit.place

    @property
    def text(self) -> str:
        """The new translation, for people."""
        return self.translation.text

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the new translation."""
        return tuple(word.text for word in self.translation.target_words)

    @property
    def is_same(self) -> bool:
        """Whether the translation stayed as it was."""
        return not self.gone and not self.new

    @property
    def log_probability(self) -> float:
        """Natural log of the probability of the whole old translation after the change."""
        return sum(self.log_probabilities)


@dataclass(frozen=True, eq=False)
class SourceOcclusion:
    """The source words of one translation, changed one at a time.

    Attributes:
        translation: the old one.
        words: one entry for each changed word, by place.
        is_complete: whether all requested words are included; False if stopped.
        log_probabilities: natural logs of the probabilities of the tokens of the old translation without the rows in
            `left_out`, T values, the baseline of `words`.
        left_out: rows of attention that the experiment sets over the source. They do not fit a shorter sentence, so
            both the changed sentences and the baseline do without them.
    """

    translation: Translation
    words: tuple[OccludedWord, ...]
    is_complete: bool
    log_probabilities: tuple[float, ...]
    left_out: tuple[AttentionRow, ...] = ()

    def change_of(self, word: OccludedWord) -> float:
        """How much the log-probability of the old translation changed, in nats; below 0 if it became less probable."""
        return word.log_probability - sum(self.log_probabilities)

    @property
    def effects(self) -> FloatArray:
        """[target words + 1, occluded words]: how much log-probability each old target word loses, in nats.

        Above 0 where the target word depended on the source word. The last row is the end token.
        """
        old = np.array(self.log_probabilities, dtype=np.float64)
        losses = np.array([old - np.array(word.log_probabilities) for word in self.words]).reshape(-1, len(old))
        words = self.translation.target_words
        last = words[-1].end if words else 0
        rows = [losses[:, word.start : word.end].sum(axis=1) for word in words]
        return read_only(np.stack([*rows, losses[:, last:].sum(axis=1)]).astype(np.float32))


@dataclass(frozen=True, eq=False)
class SourceChanges:
    """What a translation loses without each word of its source.

    Attributes:
        translation: the old one.
        changes: by place of a word, the change of the old translation's log-probability without it, in nats; below 0
            if it becomes less probable.
        left_out: see `SourceOcclusion.left_out`.
    """

    translation: Translation
    changes: Mapping[int, float]
    left_out: tuple[AttentionRow, ...] = ()


def occlude_source_words(
    translator: "Translator",
    translation: Translation,
    *,
    replacement: str | None = None,
    places: Collection[int] | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> SourceOcclusion:
    """Change one source word at a time, under all other interventions of the translation's experiment.

    Removing words drops rows of attention over the source; see `SourceOcclusion.left_out`. The ids of all other words
    stay unchanged. The changed sentence is decoded like the old one, or greedily if that was given. Not thread-safe
    with other uses of the model.

    Args:
        translator: the model.
        translation: a translation by this model, or a given one.
        replacement: a word, or `UNKNOWN`, the token for unknown words (which a subword model never saw in training, so
            the result means less); None removes the word.
        places: the places of words in the sentence as typed; None for all.
        on_progress: called with the number of finished words and their total.
        should_stop: checked before each decoding step; finished words are returned.

    Raises:
        AnalysisError: a word does not exist.
        ExperimentError: the replacement cannot be read, nothing would be left, or the row weights that the experiment
            sets do not fit the sentence with a replacement.
    """
    words = _words_by_place(translation)
    wanted = _checked_places(words, places)
    experiment, left_out = _experiment_without_misfits(translation, replacement)
    edits = _edits(wanted, replacement)
    found: list[OccludedWord] = []
    before = translation.log_probabilities
    on_progress(0, len(edits))
    try:
        if left_out:
            before = translator.score_many(translation, [experiment], should_stop=should_stop)[0]
        for group in _batched(edits, BATCH_SIZE):
            compiled = [translator.compile(experiment.with_interventions(edit)) for edit in group]
            changed = list(translator.run_many(compiled, need_maps=False, draft=translation, should_stop=should_stop))
            scores = translator.score_many(translation, compiled, should_stop=should_stop)
            for edit, new, log_probabilities in zip(group, changed, scores, strict=True):
                gone, added = changed_words(
                    [word.text for word in translation.target_words], [word.text for word in new.target_words]
                )
                found.append(OccludedWord(edit, words[edit.place], new, gone, added, log_probabilities))
            on_progress(len(found), len(edits))
    except TranslationStoppedError:
        pass
    return SourceOcclusion(translation, tuple(found), len(found) == len(edits), before, left_out)


def score_without_source_words(
    translator: "Translator", translation: Translation, *, should_stop: Callable[[], bool] = lambda: False
) -> SourceChanges:
    """The change of the translation's probability without each source word, in one pass without translating again.

    Otherwise like `occlude_source_words`.

    Raises:
        ExperimentError: nothing would be left.
        TranslationStoppedError: `should_stop`, asked before each batch, said so.
    """
    words = _words_by_place(translation)
    experiment, left_out = _experiment_without_misfits(translation, None)
    edits = _edits(sorted(words), None)
    before = translation.log_probabilities
    if left_out:
        before = translator.score_many(translation, [experiment], should_stop=should_stop)[0]
    compiled = [translator.compile(experiment.with_interventions(edit)) for edit in edits]
    scores = translator.score_many(translation, compiled, should_stop=should_stop)
    changes = {edit.place: sum(after) - sum(before) for edit, after in zip(edits, scores, strict=True)}
    return SourceChanges(translation, changes, left_out)


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
        TranslationStoppedError: `should_stop`, asked before each decoding step, said so.
    """
    experiment, _ = _experiment_without_misfits(translation, None)
    edits = _edits(_checked_places(_words_by_place(translation), places), None)
    compiled = [translator.compile(experiment.with_interventions(edit)) for edit in edits]
    return list(translator.run_many(compiled, need_maps=False, draft=translation, should_stop=should_stop))


def _edits(places: Sequence[int], replacement: str | None) -> list[SourceEdit]:
    return [
        SourceWordRemoved(place) if replacement is None else SourceWordReplaced(place, replacement) for place in places
    ]


def _experiment_without_misfits(
    translation: Translation, replacement: str | None
) -> tuple[Experiment, tuple[AttentionRow, ...]]:
    """The experiment for changed sentences, and the rows of attention that do not fit them."""
    experiment = translation.experiment
    if isinstance(experiment.output, GivenTarget):
        experiment = replace(experiment, output=Greedy())
    rows = tuple(row for row in experiment.attention_rows if row.head.kind != "decoder")
    left_out = rows if replacement is None else ()
    return experiment.without(*left_out), left_out


def _batched(edits: Sequence[SourceEdit], size: int) -> Iterator[Sequence[SourceEdit]]:
    for first in range(0, len(edits), size):
        yield edits[first : first + size]


def _words_by_place(translation: Translation) -> dict[int, Word]:
    """The source words, with the words of one place joined."""
    found: dict[int, Word] = {}
    places: Iterable[int] = translation.source_places or range(len(translation.source_words))
    for place, word in zip(places, translation.source_words, strict=True):
        earlier = found.get(place)
        found[place] = word if earlier is None else Word(f"{earlier.text} {word.text}", earlier.start, word.end)
    return found


def _checked_places(words: dict[int, Word], places: Collection[int] | None) -> list[int]:
    wanted = sorted(words if places is None else set(places))
    if not wanted or any(place not in words for place in wanted):
        raise AnalysisError(
            f"The source words {[place + 1 for place in wanted]} cannot be left out. Choose from "
            f"{', '.join(str(place + 1) for place in words)}."
        )
    return wanted


def changed_words(old: Sequence[str], new: Sequence[str]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Indices of words of `old` missing in `new`, and of words of `new` missing in `old`, in order."""
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    kept_old = {block.a + place for block in blocks for place in range(block.size)}
    kept_new = {block.b + place for block in blocks for place in range(block.size)}
    return (
        tuple(place for place in range(len(old)) if place not in kept_old),
        tuple(place for place in range(len(new)) if place not in kept_new),
    )
