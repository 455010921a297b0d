"""Translations and their coverage by the training data.

No torch: the window holds these before torch is imported.

Shape legend: S source length, T number of decoding steps, L layers, H heads.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arguments import checks_arguments
from ..conversions import Result
from ..counting import CountedText, Index, joined
from ..errors import AnalysisError
from ..model.heads import ATTENTION_KINDS, ByKind
from ..short_repr import ShortRepr, shortened
from ..text.languages import is_target_code
from ..text.phrases import phrase
from ..text.subwords import WORD_MARK
from ..text.text_codec import CONTINUATION
from ..text.text_codec import Word as Word
from .experiment import AttentionRow, Experiment, ForcedToken, GivenTarget, Intervention

OTHER_TEXT = "For other text, import a bigger model."


@dataclass(frozen=True)
class RareWord(ShortRepr):
    """A source word that the training data had fewer than `RARE_BELOW` times.

    Attributes:
        text: as the model reads it.
        count: occurrences in the training data.
        start: index of its first token in `Translation.source_tokens`.
        end: index after its last token.
        pieces: the pieces that the model reads.
        is_unknown: whether the vocabulary does not know all of it.
        is_exact: whether `count` is the number itself; else the most it can be.
    """

    text: str
    count: int
    start: int
    end: int
    pieces: tuple[str, ...]
    is_unknown: bool = False
    is_exact: bool = True

    @property
    def explanation(self) -> str:
        """For people: “not in the training data; the model guesses from its pieces: le·sen”."""
        exactly = "only" if self.count else "never"
        seen = phrase(exactly if self.is_exact else "at_most", times=_times(self.count))
        if self.is_unknown:
            return phrase("rare_unknown", seen=seen)
        if len(self.pieces) > 1:
            return phrase("rare_pieces", seen=seen, pieces=CONTINUATION.join(self.pieces))
        return seen if self.count else phrase("rare_guess", seen=seen)


@dataclass(frozen=True)
class RespelledWord(ShortRepr):
    """A source word read in another spelling, which is far more frequent in the training data.

    Attributes:
        text: as typed, case folded.
        read_as: the spelling that the model reads.
        start: index of its first token in `Translation.source_tokens`.
        end: index after its last token.
        count: occurrences as typed in the training data.
    """

    text: str
    read_as: str
    start: int
    end: int
    count: int = 0

    @property
    def explanation(self) -> str:
        """For people: read as “straße”: “strasse” is not in the training data."""
        seen = phrase("only", times=_times(self.count)) if self.count else phrase("never")
        return phrase("respelled", read_as=self.read_as, text=self.text, seen=seen)


@dataclass(frozen=True)
class Coverage(ShortRepr):
    """The coverage of a sentence by the training data.

    Attributes:
        rare_words: in the order of the sentence.
        is_unlike_training: whether most of its words are rare, or they are rarer together than
            those of nearly all training sentences, as in another language; or it has none.
        kind: the kind of text in the training data, see `WordCounts`; empty if unknown.
        respelled_words: in the order of the sentence; one of them is rare if the spelling that was
            read is.
        is_foreign: whether it is surely not what the model reads: it is unlike the training data,
            and looks like another language or has several words, all of them rare; or the model
            can read none, as in pictures, marks, numbers and other scripts.
        lacks: the phrase about a text that has no words, or none of the training data.
    """

    rare_words: tuple[RareWord, ...]
    is_unlike_training: bool
    kind: str = ""
    respelled_words: tuple[RespelledWord, ...] = ()
    is_foreign: bool = False
    lacks: Literal["no_words", "no_known_words"] | None = None

    @property
    def words(self) -> tuple[RareWord | RespelledWord, ...]:
        """All words named here."""
        return *self.rare_words, *self.respelled_words

    @property
    def notice(self) -> str:
        """The notice for a sentence that is unlike the training data; empty for others."""
        advice = f" {OTHER_TEXT}" if self.advises_model else ""
        return f"{self.known}{advice}" if self.is_unlike_training else ""

    @property
    def advises_model(self) -> bool:
        """Whether a bigger model may read it: it has words, and is unlike the training data."""
        return self.is_unlike_training and self.lacks != "no_words"

    @property
    def known(self) -> str:
        """The text that the model knows, or that this one is none, in a sentence."""
        if self.lacks is not None:
            return phrase(self.lacks)
        if self.kind:
            return f"This model knows {self.kind}."
        return "This model's training data had few of these words."


def unfamiliar(coverage: Coverage | None, hint: str) -> str:
    """The notice for a sentence unlike the training data; empty for others, and next to a hint."""
    return coverage.notice if coverage is not None and not hint else ""


def _times(count: int) -> str:
    return phrase("once") if count == 1 else phrase("times", count=count)


FloatArray = NDArray[np.float32]


def read_only(array: FloatArray) -> FloatArray:
    """The same array, read-only: results of the engine are shared by threads and caches."""
    array.setflags(write=False)
    return array


class ReadOnlyArrays(Result):
    """Base of results: the arrays among their attributes become read-only, also in copies."""

    def __post_init__(self) -> None:
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        ReadOnlyArrays.__post_init__(self)


class TranslationStoppedError(Exception):
    """A translation was stopped because `should_stop` returned True: the request was cancelled."""


@dataclass(frozen=True, eq=False)
class AttentionMaps(ReadOnlyArrays, ByKind[FloatArray]):
    """The attention weights of every head, without dropout.

    Rows are queries and sum to 1, columns are keys.

    Attributes:
        encoder: encoder self-attention, [L, H, S, S].
        decoder: decoder self-attention, [L, H, T, T]; zero above the diagonal.
        cross: cross-attention from target to source, [L, H, T, S].
    """

    encoder: FloatArray
    decoder: FloatArray
    cross: FloatArray

    def fits(self, num_source: int, num_steps: int) -> bool:
        """Whether these are maps of at least one head for S source tokens and T steps."""
        lengths = {
            "encoder": (num_source, num_source),
            "decoder": (num_steps,) * 2,
            "cross": (num_steps, num_source),
        }
        shapes = {kind: self.of_kind(kind).shape for kind in ATTENTION_KINDS}
        return all(
            len(shape) == 4 and min(shape) > 0 and shape[2:] == lengths[kind]
            for kind, shape in shapes.items()
        )

    def __repr__(self) -> str:
        shapes = ", ".join(f"{kind} {list(self.of_kind(kind).shape)}" for kind in ATTENTION_KINDS)
        return f"AttentionMaps({shapes})"


@dataclass(frozen=True)
class Alternative(ShortRepr):
    """A token that the model could have chosen at some step.

    Attributes:
        token: as shown.
        log_probability: natural log.
        entry: the same token in the vocabulary, as a `ForcedToken` names it.
    """

    token: str
    log_probability: float
    entry: str = ""

    @property
    def probability(self) -> float:
        """The probability, from 0 to 1."""
        return math.exp(self.log_probability)


@checks_arguments
@dataclass(frozen=True, eq=False)
class Translation(Result):
    """The result of an experiment: a sentence, its translation, and the numbers of each step.

    Row t of a decoder or cross map is computed while the decoder reads `read_tokens[t]` and
    predicts `predicted_tokens[t]`. All values include the effects of the interventions. Maps
    contain rows as they were set, and the weights of heads that are switched off, although their
    outputs are not used.

    Attributes:
        experiment: the request.
        text: the translation as a sentence for people (cased, detokenized).
        source_tokens: the S tokens the encoder reads, wrapping tokens included.
        read_tokens: the T tokens the decoder reads, the start token first.
        predicted_tokens: the T tokens it predicts, the end token last unless the length limit came
            first.
        log_probabilities: natural log of the probability of each predicted token, T values.
        alternatives: the ten most probable tokens of each step that may be chosen, best first, T
            tuples.
        source_words: the words of the source, wrapping tokens left out.
        target_words: the words of the translation, wrapping tokens left out.
        unknown_source_positions: indices into `source_tokens` that the vocabulary does not know.
        ignored_text: the end of the source that did not fit into the model's positions; empty if
            all of it did.
        notes: sentences for the reader on unknown words, text left out, or a length limit; not all,
            see `all_notes`.
        attention: of every layer and head; None if it was not requested (see `maps`).
        seconds: wall time from text to result.
        source_ids: ids of `source_tokens` in the source vocabulary.
        read_ids: ids of `read_tokens` in the target vocabulary.
        predicted_ids: ids of `predicted_tokens`, likewise.
        source_places: for each of `source_words` its place among the words as typed.
        ranks: the place of each predicted token among all that may be chosen, 1 for the best, T
            values.
        entropies: of the distribution over all tokens at each step, in nats, T values.
        unreached: interventions that lie beyond the end, and so changed nothing.
        coverage: source words that the training data rarely had; None without word counts in the
            model's file.
        hint: the one of `notes` that advises to type something else; empty if none does.
        model_digest: of the model, see `Translator.digest`.
        vocabulary_digest: of its vocabularies, in which the ids have a meaning.
    """

    experiment: Experiment
    text: str
    source_tokens: tuple[str, ...]
    read_tokens: tuple[str, ...]
    predicted_tokens: tuple[str, ...]
    log_probabilities: tuple[float, ...]
    alternatives: tuple[tuple[Alternative, ...], ...]
    source_words: tuple[Word, ...]
    target_words: tuple[Word, ...]
    unknown_source_positions: tuple[int, ...]
    ignored_text: str
    notes: tuple[str, ...]
    attention: AttentionMaps | None
    seconds: float
    source_ids: tuple[int, ...] = ()
    read_ids: tuple[int, ...] = ()
    predicted_ids: tuple[int, ...] = ()
    source_places: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()
    entropies: tuple[float, ...] = ()
    unreached: tuple[Intervention, ...] = ()
    coverage: Coverage | None = None
    hint: str = ""
    model_digest: str = ""
    vocabulary_digest: str = ""

    @property
    def source_text(self) -> str:
        """The typed text."""
        return self.experiment.source_text

    @property
    def is_given(self) -> bool:
        """Whether the target was given and read by teacher forcing, not chosen by the model."""
        return isinstance(self.experiment.output, GivenTarget)

    @property
    def notes_on_unreached(self) -> tuple[CountedText, ...]:
        """Notes for the reader on `unreached`."""
        of_source = [  # rows of the encoder are source tokens, all others are steps
            intervention
            for intervention in self.unreached
            if isinstance(intervention, AttentionRow) and intervention.head.kind == "encoder"
        ]
        of_translation = [
            intervention for intervention in self.unreached if intervention not in of_source
        ]
        return tuple(
            CountedText(
                f"Beyond the end of the {side}, so without effect: {{changes}}.",
                changes=_by_word(changes),
            )
            for side, changes in (("source", of_source), ("translation", of_translation))
            if changes
        )

    @property
    def all_notes(self) -> tuple[str, ...]:
        """`notes`, then those on interventions without effect and on unfamiliar sentences."""
        notice = unfamiliar(self.coverage, self.hint)
        return (*self.notes, *self.notes_on_unreached, *([notice] if notice else []))

    @property
    def maps(self) -> AttentionMaps:
        """The attention of every layer and head. Raises `AnalysisError` if it was not requested."""
        if self.attention is None:
            raise AnalysisError(
                f"The translation of {self.source_text[:60]!r} was computed without attention "
                "maps. Ask for them: `run`, or `run_many(…, need_maps=True)`."
            )
        return self.attention

    @property
    def log_probability(self) -> float:
        """Natural log of the probability of the whole translation."""
        return sum(self.log_probabilities)

    @property
    def num_source_words(self) -> int:
        """The number of source words; a code of the target language, such as `>>fra<<`, is none."""
        return sum(not is_target_code(word.text) for word in self.source_words)

    @property
    def words_by_step(self) -> dict[int, str]:
        """Words of the translation, and tokens outside words like its end, by their first steps."""
        inside = {step for word in self.target_words for step in range(word.start, word.end)}
        others = {
            step: token for step, token in enumerate(self.predicted_tokens) if step not in inside
        }
        return dict(
            sorted(({word.start: word.text for word in self.target_words} | others).items())
        )

    def check(self) -> None:
        """Raises `ValueError` if its parts do not fit together, as those of a damaged file."""
        num_source, num_steps = len(self.source_tokens), len(self.predicted_tokens)
        of_steps = (
            *(self.read_tokens, self.read_ids, self.predicted_ids),
            *(self.log_probabilities, self.alternatives, self.ranks, self.entropies),
        )
        of_source = *self.source_words, *(self.coverage.words if self.coverage is not None else ())
        chosen = (choice.log_probability for choices in self.alternatives for choice in choices)
        if not (
            all(len(values) == num_steps for values in of_steps)
            and len(self.source_ids) == num_source
            and len(self.source_places) == len(self.source_words)
            and all(0 <= word.start < word.end <= num_source for word in of_source)
            and all(0 <= word.start < word.end <= num_steps for word in self.target_words)
            and all(0 <= position < num_source for position in self.unknown_source_positions)
            and not any(value >= 1 for value in (*self.log_probabilities, *chosen))
            and (self.attention is None or self.attention.fits(num_source, num_steps))
        ):
            raise ValueError("the parts of a translation do not fit together")

    def check_step(self, step: int) -> None:
        """Raises `AnalysisError` unless there is such a decoding step."""
        count = len(self.predicted_ids)
        if step not in range(count):
            choice = {"step": Index(step), "first": Index(0), "last": Index(count - 1)}
            raise AnalysisError(
                "The translation has no step {step}. Choose from steps {first} to {last}.", **choice
            )

    def word_log_probability(self, word: Word) -> float:
        """Natural log of the probability of one target word, given all before it.

        Raises `AnalysisError` if it is not a word of this translation.
        """
        if not 0 <= word.start < word.end <= len(self.log_probabilities):
            raise AnalysisError(
                f"“{word.text}” is no word of this translation. Choose one of `target_words`."
            )
        return sum(self.log_probabilities[word.start : word.end])

    def __repr__(self) -> str:
        interventions = "".join(
            f", {intervention}" for intervention in self.experiment.interventions
        )
        return shortened(
            f"Translation({self.source_text[:60]!r} → {self.text[:60]!r}, "
            f"{len(self.source_tokens)} × {len(self.predicted_tokens)} tokens, log-probability "
            f"{self.log_probability:.3f}{interventions})"
        )


@dataclass(frozen=True, eq=False)
class ExperimentResult(Result):
    """The result of an experiment, next to that of its baseline.

    Attributes:
        changed: the result under the experiment's interventions.
        original: that of its baseline: the same sentence and output, nothing changed. The same
            object as `changed` if the experiment has no interventions.
        original_log_probabilities: natural logs of the probabilities of the tokens of `original`
            under the interventions, T values.
        own: while a target is given, the model's own greedy translation of the unchanged sentence;
            else None.
        dropped: requested interventions that were left out because they do not fit this model or
            sentence.
    """

    changed: Translation
    original: Translation
    original_log_probabilities: tuple[float, ...]
    own: Translation | None = None
    dropped: tuple[Intervention, ...] = ()

    @classmethod
    def of(cls, translation: Translation) -> "ExperimentResult":
        """The result of an experiment without interventions."""
        return cls(translation, translation, translation.log_probabilities)

    def check(self) -> None:
        """Raises `ValueError` if its parts do not fit together, see `Translation.check`."""
        for translation in (self.changed, self.original, self.own):
            if translation is not None:
                translation.check()
        if len(self.original_log_probabilities) != len(self.original.predicted_tokens):
            raise ValueError("the probabilities are those of another translation")

    @property
    def experiment(self) -> Experiment:
        """The experiment with its interventions."""
        return self.changed.experiment

    @property
    def is_changed(self) -> bool:
        """Whether there are interventions at all."""
        return self.changed is not self.original


def _by_word(interventions: Sequence[Intervention]) -> CountedText:
    """The interventions as text. The forced pieces of a word are one, at its first step."""
    words: list[Intervention] = []
    next_step = 0
    for intervention in interventions:
        last = words[-1] if words else None
        if isinstance(intervention, ForcedToken):
            is_next = intervention.step == next_step
            next_step = intervention.step + 1
            is_piece = is_next and not intervention.token.startswith((WORD_MARK, "<"))
            if is_piece and isinstance(last, ForcedToken) and last.token.startswith(WORD_MARK):
                words[-1] = ForcedToken(last.step, last.token + intervention.token)
                continue
        words.append(intervention)
    return joined(words, "; ")
