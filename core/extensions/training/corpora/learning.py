"""Codecs learned from the training split: words, vocabularies, joint subwords."""

import io
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import sentencepiece

from ....config import DataConfig
from ....config.groups import LetterCase
from ....errors import CorpusError, Misfit, UnfitCorpusError
from ....text.codec import CodecPair, fold_case
from ....text.subwords import WORD_MARK, Subwords
from ....text.tokenizers import Tokenizer, make_tokenizer
from ....text.vocabulary import END, PADDING, SPECIALS, START, UNKNOWN, Vocabulary
from ..legacy import vocabulary_tokens


def learn_codecs(
    config: DataConfig, source_words: Sequence[Sequence[str]], target_words: Sequence[Sequence[str]]
) -> CodecPair:
    """Learns vocabularies, and subwords if the config asks for them, from the words of the training
    split.

    Raises:
        ConfigError: the config is that of an imported model, whose vocabularies cannot be learned.
        CorpusError: the text is too small for the number of subwords.
    """
    if config.num_subwords is None:
        source = vocabulary_of_words(
            source_words, config.min_frequency, is_wrapped=config.wrap_source
        )
        return CodecPair.build(
            config, source, vocabulary_of_words(target_words, config.min_frequency), None
        )
    subwords = learn_subwords([*source_words, *target_words], config.num_subwords)
    vocabulary = subwords.vocabulary
    return CodecPair.build(config, vocabulary, vocabulary, subwords)


# --- words ----------------------------------------------------------------------------------------


def words_of_pairs(
    config: DataConfig, sources: Iterable[str], targets: Iterable[str]
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The words of parallel lines, case folded.

    Raises `ConfigError` for the settings of an imported model.
    """
    source, target = (
        make_tokenizer(config, language)
        for language in (config.source_language, config.target_language)
    )
    source_words = list(split_lines(sources, source, config.source_case))
    return source_words, list(split_lines(targets, target, config.target_case))


def split_lines(
    lines: Iterable[str], tokenizer: Tokenizer, case: LetterCase
) -> Iterator[tuple[str, ...]]:
    """The words of each line, case folded."""
    for words in tokenizer.pipe(lines):
        yield tuple(fold_case(words, case))


def vocabulary_of_words(
    sentences: Iterable[Sequence[str]], min_frequency: int, *, is_wrapped: bool = True
) -> Vocabulary:
    """The words seen at least `min_frequency` times, after the specials in the order of `notebook`.

    Sentences that are not wrapped in a start and an end token have only two specials: unknown and
    padding.
    """
    counts: Counter[str] = Counter()
    for words in sentences:
        counts.update(words)
    if is_wrapped:
        return Vocabulary.with_specials(vocabulary_tokens(counts, min_frequency, SPECIALS))
    tokens = vocabulary_tokens(counts, min_frequency, (UNKNOWN, PADDING))
    return Vocabulary(tuple(tokens), padding_id=1, start_id=1, end_id=None, unknown_id=0)


def vocabulary_of_copy_task(num_symbols: int) -> Vocabulary:
    """Symbols 1 … `num_symbols`, 0 for padding; 1 starts every sequence and nothing ends it."""
    tokens = (PADDING, *(str(symbol) for symbol in range(1, num_symbols + 1)))
    return Vocabulary(tokens, padding_id=0, start_id=1, end_id=None, unknown_id=None)


# --- subwords -------------------------------------------------------------------------------------


def learn_subwords(sentences: Collection[Sequence[str]], num_subwords: int) -> Subwords:
    """Learns merges from sentences of words, of both languages together.

    Raises:
        UnfitCorpusError: the text has too few pieces for so many subwords, or too many characters.
            It proposes the geometric mean of the fewest, the characters, and the most, of which
            nearly all occur once.
        CorpusError: the text cannot be learned from.
    """
    try:
        return Subwords(_learned(sentences, num_subwords))
    except RuntimeError as error:
        refusal = error
    characters = set("".join(chain.from_iterable(sentences)))
    if all(character.isspace() for character in characters):
        raise CorpusError(
            "Subwords cannot be learned from this text: it has no words. Use another."
        ) from refusal
    smallest = len(SPECIALS) + len(characters | {WORD_MARK})
    if num_subwords < smallest:
        raise _unfit(num_subwords, smallest, f"its characters alone need {smallest:,}") from refusal
    largest = len(Subwords(_learned(sentences, num_subwords, hard_vocab_limit=False)).vocabulary)
    pieces = (
        f"it has pieces for {smallest:,} to {largest:,}, but nearly all of the last occur only once"
    )
    raise _unfit(num_subwords, math.isqrt(smallest * largest), pieces) from refusal


def _unfit(num_subwords: int, fitting: int, reason: str) -> UnfitCorpusError:
    problem = f"{num_subwords:,} subwords cannot be learned from this text: {reason}."
    misfit = Misfit(problem, "data.num_subwords", fitting, f"{fitting:,} subwords")
    use = "fewer" if fitting < num_subwords else "more"
    return UnfitCorpusError(
        misfit, f"Use {use} (--set {misfit.name}={fitting}), or another corpus."
    )


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
