"""Joint byte-pair encoding over words (Sennrich et al. 2016), by sentencepiece."""

import base64
import heapq
import io
import math
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

import sentencepiece

from ..errors import CorpusError, Misfit, UnfitCorpusError
from .subword_check import check_model
from .vocabulary import END, PADDING, SPECIALS, START, UNKNOWN, Vocabulary


class BpeDropout:
    """Splits words with merges left out at random (Provilkov et al. 2020).

    As in sentencepiece, a skipped merge is reconsidered when one of its two neighbours has changed. sentencepiece's own
    sampler draws random numbers from the process, so a second process or a resumed run would get other pieces.

    Args:
        scores: of each piece of the model; the merge with the highest score comes first.
    """

    def __init__(self, scores: Mapping[str, float]) -> None:
        self._scores = scores
        self._usual: dict[str, tuple[str, ...]] = {}

    def sample(self, text: str, dropout: float, generator: random.Random) -> tuple[str, ...]:
        """The pieces of `text`, in which each merge is left out with probability `dropout`, in [0, 1)."""
        usual = self._usual.get(text)
        if usual is None:
            usual = self._usual[text] = self._split(text, dropout=0.0, generator=generator)
        # one random number says which merge of the usual ones is the first to be left out; mostly none is
        num_merges, drawn = len(text) - len(usual), generator.random()
        num_kept, probability = 0, 1.0 - dropout
        while num_kept < num_merges and drawn < probability:
            num_kept += 1
            probability *= 1.0 - dropout
        if num_kept == num_merges:
            return usual
        return self._split(text, dropout, generator, num_kept)

    def _split(
        self, text: str, dropout: float, generator: random.Random, first_left_out: int | None = None
    ) -> tuple[str, ...]:
        """The pieces; merges before number `first_left_out` are kept, that one is left out, later ones are drawn."""
        symbols = list(text)
        before, after = list(range(-1, len(text) - 1)), list(range(1, len(text) + 1))
        agenda: list[tuple[float, int, int, str]] = []

        def add(left: int, right: int) -> None:
            if left >= 0 and right < len(symbols):
                joined = symbols[left] + symbols[right]
                if (score := self._scores.get(joined)) is not None:
                    heapq.heappush(agenda, (-score, left, right, joined))

        for left in range(len(text) - 1):
            add(left, left + 1)
        number = -1
        while agenda:
            _, left, right, joined = heapq.heappop(agenda)
            if not symbols[left] or not symbols[right] or symbols[left] + symbols[right] != joined:
                continue  # one of the two has been merged with another
            number += 1
            if first_left_out is not None and number <= first_left_out:
                is_left_out = number == first_left_out
            else:
                is_left_out = dropout > 0.0 and generator.random() < dropout
            if is_left_out:
                continue
            symbols[left], symbols[right] = joined, ""
            after[left] = after[right]
            if after[right] < len(symbols):
                before[after[right]] = left
            add(before[left], left)
            add(left, after[left])
        return tuple(symbol for symbol in symbols if symbol)


WORD_MARK = "▁"
"""sentencepiece's mark at the beginning of a word."""


class Subwords:
    """Splits words into pieces of a fixed vocabulary; the first piece of each word begins with `WORD_MARK`.

    Args:
        model: a serialized sentencepiece model.
    """

    def __init__(self, model: bytes) -> None:
        self.model = model
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        self.pieces_of = lru_cache(maxsize=100_000)(self._pieces_of)

    @classmethod
    def learn(cls, sentences: Collection[Sequence[str]], num_subwords: int) -> "Subwords":
        """Learns merges from sentences of words, of both languages together.

        Raises:
            UnfitCorpusError: the text has too few pieces for so many subwords, or too many characters. It proposes
                the geometric mean of the fewest, the characters, and the most, of which nearly all occur once.
            CorpusError: the text cannot be learned from.
        """
        try:
            return cls(_learned(sentences, num_subwords))
        except RuntimeError as error:
            refusal = error
        characters = set("".join(chain.from_iterable(sentences)))
        if all(character.isspace() for character in characters):
            raise CorpusError("Subwords cannot be learned from this text: it has no words. Use another.") from refusal
        smallest = len(SPECIALS) + len(characters | {WORD_MARK})
        if num_subwords < smallest:
            raise _unfit(num_subwords, smallest, f"its characters alone need {smallest:,}") from refusal
        largest = len(cls(_learned(sentences, num_subwords, hard_vocab_limit=False)).vocabulary)
        pieces = f"it has pieces for {smallest:,} to {largest:,}, but nearly all of the last occur only once"
        raise _unfit(num_subwords, math.isqrt(smallest * largest), pieces) from refusal

    @property
    def vocabulary(self) -> Vocabulary:
        """All pieces, the four specials first."""
        count = self._processor.get_piece_size()
        return Vocabulary.with_specials([self._processor.id_to_piece(index) for index in range(count)])

    def _pieces_of(self, word: str) -> tuple[str, ...]:
        """The pieces of one word; unseen characters are kept."""
        return tuple(self._processor.encode(word.replace(WORD_MARK, "_"), out_type=str))

    def sample_pieces(self, words: Sequence[str], dropout: float, seed: int) -> list[tuple[str, ...]]:
        """The pieces of every word with each merge left out at random (BPE-dropout, Provilkov et al. 2020).

        Args:
            words: of known characters.
            dropout: probability that a merge is left out, in [0, 1).
            seed: the same seed gives the same pieces, in any process.
        """
        generator = random.Random(seed)
        written = ("".join(self.pieces_of(word)) for word in words)  # as sentencepiece normalizes it, with `WORD_MARK`
        return [self._bpe_dropout.sample(text, dropout, generator) for text in written]

    @cached_property
    def scores(self) -> Mapping[str, float]:
        """The scores of all pieces but the specials; of two merges the one with the higher score comes first."""
        count, processor = self._processor.get_piece_size(), self._processor
        indices = [index for index in range(count) if not (processor.is_control(index) or processor.is_unknown(index))]
        return {processor.id_to_piece(index): processor.get_score(index) for index in indices}

    @cached_property
    def _bpe_dropout(self) -> BpeDropout:
        return BpeDropout(self.scores)

    def to_text(self) -> str:
        """The model in base64, for JSON."""
        return base64.b64encode(self.model).decode("ascii")

    @classmethod
    def from_text(cls, text: str) -> "Subwords":
        """The inverse of `to_text`. Raises `ValueError`, `TypeError` or `RuntimeError` if it is damaged."""
        if not isinstance(text, str):
            raise TypeError("the subwords are not text")
        model = base64.b64decode(text, validate=True)
        if not model:
            raise ValueError("the subwords are empty")
        check_model(model, is_own=True)
        subwords = cls(model)
        if subwords.vocabulary.tokens[: len(SPECIALS)] != SPECIALS:
            raise ValueError(f"the subwords do not begin with {' '.join(SPECIALS)}")
        return subwords


def _unfit(num_subwords: int, fitting: int, reason: str) -> UnfitCorpusError:
    problem = f"{num_subwords:,} subwords cannot be learned from this text: {reason}."
    misfit = Misfit(problem, "data.num_subwords", fitting, f"{fitting:,} subwords")
    use = "fewer" if fitting < num_subwords else "more"
    return UnfitCorpusError(misfit, f"Use {use} (--set {misfit.name}={fitting}), or another corpus.")


def _learned(sentences: Iterable[Sequence[str]], num_subwords: int, **options: Any) -> bytes:
    """A serialized model of so many pieces. Raises `RuntimeError`."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(" ".join(words) for words in sentences),
        model_writer=written,
        model_type="bpe",
        vocab_size=num_subwords,
        character_coverage=1.0,
        normalization_rule_name="identity",
        num_threads=1,
        max_sentence_length=100_000,
        minloglevel=2,
        unk_id=0,
        pad_id=1,
        bos_id=2,
        eos_id=3,
        unk_piece=UNKNOWN,
        pad_piece=PADDING,
        bos_piece=START,
        eos_piece=END,
        **options,
    )
    return written.getvalue()
