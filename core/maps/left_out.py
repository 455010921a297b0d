"""Source words that a translation probably left out, found by translating without each of them.

No torch.
"""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arguments import checks_arguments
from ..counting import Index
from ..errors import AnalysisError
from ..text.languages import FUNCTION_WORDS, two_letter_code
from ..translation.experiment import (
    GivenTarget,
    Greedy,
    SourceEdit,
    SourceWordRemoved,
    SourceWordReplaced,
)
from ..translation.result import FloatArray, Translation, Word

if TYPE_CHECKING:
    from ..translation.compilation import CompiledExperiment
    from ..translation.translator import Translator

LEAST_FACTOR = 1.5
"""Least factor by which the translation becomes more probable without a word that was left out.

No token becomes that much less probable. Chosen on `val`, and checked on other sentences:
tests/core/maps/test_left_out_words.py.
"""


@checks_arguments
def left_out_words(
    translator: "Translator",
    translation: Translation,
    *,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[Word, ...]:
    """The content words of the source that the model probably left out; see `LEAST_FACTOR`.

    If no token needs a word, but the translation fits the sentence better without it, then its
    meaning is missing. A gain is required because a word may also be needless if the sentence says
    the same twice.

    Returns:
        some of `source_words`; none for a given translation, text in another language than the
            model's, models of other projects, for which the rule was not checked, or a language
            without known function words.

    Raises:
        AnalysisError: the vocabularies differ.
        TranslationStoppedError: `should_stop`, checked before each batch, returned True.
    """
    return left_out_words_of(translator, [translation], should_stop=should_stop)[0]


def left_out_words_of(
    translator: "Translator",
    translations: Sequence[Translation],
    *,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[tuple[Word, ...]]:
    """The `left_out_words` of many translations, computed side by side.

    Most words are needed by the token that attends to them most. So the translations up to this
    token are scored first; whole translations are scored without the few words that remain.
    Translations without maps are scored as a whole in both cases.
    """
    function_words, digest = function_words_of(translator), translator.digest
    candidates: list[_Candidate] = []
    for index, translation in enumerate(translations):
        translator.check_vocabularies(translation)
        sources = _sources_without(translator, translation, function_words)
        if sources is not None:
            is_own = translation.model_digest in ("", digest) and not sources.left_out
            before = translation.log_probabilities if is_own else sources.baseline(should_stop)
            maps = translation.attention
            attended = np.zeros((1, 0)) if maps is None else maps.cross.mean(axis=(0, 1))
            for edit, without in zip(sources.edits, sources.compiled, strict=True):
                word = sources.words[edit.place]
                last = attended[:, word.start : word.end].sum(axis=1).argmax()
                num_steps = len(before) if maps is None else int(last) + 1
                candidates.append(_Candidate(index, word, without, before, num_steps))
    model = translator.current_model()

    def gains_of(candidates: Sequence[_Candidate]) -> list[FloatArray]:
        targets = [
            translations[candidate.number].predicted_ids[: candidate.num_steps]
            for candidate in candidates
        ]
        sources = [candidate.without for candidate in candidates]
        scores = translator.runner.scores(model, targets, sources, should_stop)
        return [
            np.subtract(after, candidate.before[: candidate.num_steps])
            for candidate, after in zip(candidates, scores, strict=True)
        ]

    limit = math.log(LEAST_FACTOR)
    candidates = [
        candidate._replace(num_steps=len(candidate.before))
        for candidate, gains in zip(candidates, gains_of(candidates), strict=True)
        if gains.min() > -limit
    ]
    left_out: list[tuple[Word, ...]] = [()] * len(translations)
    for candidate, gains in zip(candidates, gains_of(candidates), strict=True):
        if gains.sum() >= limit and gains.min() > -limit:
            left_out[candidate.number] += (candidate.word,)
    return left_out


class _Candidate(NamedTuple):
    """A content word that may have been left out.

    Attributes:
        number: of its translation.
        word: the word.
        without: the experiment without it.
        before: the log-probabilities of the translation with it.
        num_steps: the steps of the translation to score.
    """

    number: int
    word: Word
    without: "CompiledExperiment"
    before: Sequence[float]
    num_steps: int


def _sources_without(
    translator: "Translator", translation: Translation, function_words: Collection[str]
) -> "ChangedSources | None":
    """The experiments without each content word; None where the rule does not apply."""
    words = words_by_place(translation)
    places = [
        place
        for place, word in words.items()
        if _is_content(_spelling(word, translation), function_words)
    ]
    is_checked = bool(function_words) and not (translation.is_given or translation.hint)
    if not (is_checked and places) or len(words) == 1:
        return None
    return ChangedSources(translator, translation, None, places)


def function_words_of(translator: "Translator") -> list[str]:
    """Words that may be left out; empty if the rule is unchecked for this model or language."""
    if translator.run_config.data.is_imported:
        return []
    return FUNCTION_WORDS.get(
        two_letter_code(translator.checkpoint.codecs.source.language), ""
    ).split()


def left_out_note(word: str) -> str:
    """A sentence for the reader on one of `left_out_words`."""
    return f"No word of the translation depends on “{word}”: it was probably left out."


def _is_content(word: str, function_words: Collection[str]) -> bool:
    return any(map(str.isalnum, word)) and word.lower() not in function_words


def _spelling(word: Word, translation: Translation) -> str:
    """The word in the spelling that the model reads."""
    respelled = translation.coverage.respelled_words if translation.coverage is not None else ()
    return next((entry.read_as for entry in respelled if entry.start == word.start), word.text)


class ChangedSources:
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
        self.words = words_by_place(translation)
        chosen = sorted(self.words if places is None else set(places))
        missing = [index for index in chosen if index not in self.words]
        if missing or not chosen:
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
            SourceWordRemoved(index)
            if replacement is None
            else SourceWordReplaced(index, replacement)
            for index in chosen
        ]
        self.compiled: list[CompiledExperiment] = [
            translator.compile(self._experiment.with_interventions(edit)) for edit in self.edits
        ]

    def baseline(self, should_stop: Callable[[], bool] = lambda: False) -> tuple[float, ...]:
        """The log-probabilities of the old translation without the rows in `left_out`."""
        if not self.left_out and self._translator.has_made(self._translation):
            return self._translation.log_probabilities
        return self._translator.score_many(
            self._translation, [self._experiment], should_stop=should_stop
        )[0]


def words_by_place(translation: Translation) -> dict[int, Word]:
    """The source words, with the words of one place joined."""
    words: dict[int, Word] = {}
    places: Iterable[int] = translation.source_places or range(len(translation.source_words))
    for index, word in zip(places, translation.source_words, strict=True):
        earlier = words.get(index)
        words[index] = (
            word
            if earlier is None
            else Word(f"{earlier.text} {word.text}", earlier.start, word.end)
        )
    return words
