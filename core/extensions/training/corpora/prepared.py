"""A corpus as ids: tokenized and numericalized once, kept in one safetensors file.

A machine without spaCy can train from such a file.
"""

import hashlib
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from ....config import DataConfig
from ....errors import AugenmerkError, ConfigError, CorpusError, Misfit, UnfitCorpusError
from ....storage import reason_of
from ....strict_json import Field
from ....tensor_file import UnsuitableFileError, open_tensor_file, write_tensor_file
from ....text.codec import CodecPair, TextCodec
from ....text.languages import code_of, listed_codes, with_code
from ....text.vocabulary import Vocabulary
from ....text.word_counts import MAX_PACKED_BYTES, WordCounts
from ...wording import Wording
from .learning import learn_codecs, vocabulary_of_copy_task, words_of_pairs
from .parallel import DataSource, LeftOut, SentencePairs
from .word_counting import count_words

FORMAT_NAME = "augenmerk-prepared-data"
FORMAT_VERSION = 1
MAX_KEPT_VALIDATION_TEXTS = 1_100
_MAX_COUNT = 2**53
_SENTENCES_AT_ONCE = 10_000
_ARRAYS = [
    f"{split}.{side}.{kind}"
    for split in ("train", "validation")
    for side in ("source", "target")
    for kind in ("ids", "lengths")
]
_COUNTS = "train.source.counts"


@dataclass(frozen=True, eq=False)
class EncodedPairs:
    """Sentence pairs as ids, wrapping tokens included.

    Tuples of ids, which the garbage collector never searches: with lists, its searches of a corpus
    would stop a window in which it is trained for a tenth of a second and longer.

    Attributes:
        source: ids of each source sentence.
        target: ids of the translation of each.
        lines: the line of each pair in its files, from 1; empty if unknown.
    """

    source: Sequence[Sequence[int]]
    target: Sequence[Sequence[int]]
    lines: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.source)

    def take(self, indices: Iterable[int]) -> "EncodedPairs":
        """The pairs with these indices."""
        indices = list(indices)
        source, target = ([side[index] for index in indices] for side in (self.source, self.target))
        return EncodedPairs(
            source, target, tuple(self.lines[index] for index in indices) if self.lines else ()
        )

    def within(self, source_limit: int, target_limit: int) -> list[int]:
        """The indices of the pairs that have at most as many ids."""
        lengths = zip(map(len, self.source), map(len, self.target), strict=True)
        return [
            index
            for index, (one, other) in enumerate(lengths)
            if one <= source_limit and other <= target_limit
        ]


@dataclass(frozen=True, eq=False)
class PreparedCorpus:
    """A corpus prepared for training.

    Attributes:
        name: for people.
        config: the settings the ids were made with.
        codecs: text to ids and back.
        train: the training pairs as ids.
        validation: the validation pairs as ids.
        validation_texts: the validation split as text, for scores during training; may be empty.
        left_out: numbers of pairs that are not in `train`.
        validation_left_out: numbers of pairs that are not in `validation`.
        word_counts: counts of the words in the source side of `train`; None in files of earlier
            versions, for text with too many different words, for imported models, whose tokenizers
            count none, and for the copy task.
        source: what it was read from by `load_corpus`; None if it was made in another way.
    """

    name: str
    config: DataConfig
    codecs: CodecPair
    train: EncodedPairs
    validation: EncodedPairs
    validation_texts: SentencePairs = field(default_factory=lambda: SentencePairs((), ()))
    left_out: LeftOut = field(default_factory=LeftOut)
    validation_left_out: LeftOut = field(default_factory=LeftOut)
    word_counts: WordCounts | None = None
    source: DataSource | None = None

    @property
    def left_out_note(self) -> str:
        """“125 of 128 pairs: 2 empty, 1 too long”; empty if all pairs are used."""
        validation = self.validation_left_out.describe(len(self.validation))
        notes = self.left_out.describe(len(self.train)), validation and f"validation: {validation}"
        return "; ".join(filter(None, notes))

    @cached_property
    def digest(self) -> str:
        """Identifies the ids of both splits, in their order: hexadecimal digits, the same on every
        machine.
        """
        sha256 = hashlib.sha256()
        for pairs in (self.train, self.validation):
            for sentences in (pairs.source, pairs.target):
                sha256.update(len(sentences).to_bytes(8, "little"))
                for first in range(0, len(sentences), _SENTENCES_AT_ONCE):
                    some = sentences[first : first + _SENTENCES_AT_ONCE]
                    sha256.update(np.fromiter(map(len, some), dtype="<i4").tobytes())
                    sha256.update(np.fromiter(chain.from_iterable(some), dtype="<i4").tobytes())
        return sha256.hexdigest()

    def training_pairs(self, epoch: int, seed: int) -> EncodedPairs:
        """The pairs of one epoch: always the same, but for the copy task, which draws new ones."""
        if self.config.tokenization != "symbols":
            return self.train
        return _draw_copy_pairs(
            self.config, self.config.copy_training_pairs, f"{seed}-train-{epoch}"
        )


def prepare(
    name: str,
    config: DataConfig,
    train: SentencePairs,
    validation: SentencePairs,
    on_phase: Callable[[str], None],
    kind: str = "",
    codecs: CodecPair | None = None,
) -> PreparedCorpus:
    """Tokenizes and numericalizes both splits; vocabularies and word counts come from the training
    split alone.

    Args:
        name: for people.
        config: the settings for turning text into ids.
        train, validation: the splits.
        on_phase: called with a description of each phase.
        kind: of text, see `kind_of_text`.
        codecs: of a model whose vocabularies are kept, made with the same `config`; None to learn
            them.

    Raises:
        ConfigError: the config is that of an imported model, and its codecs are not given; or it
            has no such language.
        UnfitCorpusError: no pair of a split is left after the length limit, or the text is too
            small for the subwords.
        CorpusError: the model has several target languages, and neither the config nor the text
            says which.
    """
    if codecs is not None:
        train, validation = (
            _with_codes(pairs, config, codecs.source.target_codes) for pairs in (train, validation)
        )
    on_phase(f"Tokenizing {len(train):,} sentence pairs")
    source_words: list[tuple[str, ...]] | None = None
    if codecs is not None and config.is_imported:
        encoded = encode_lines(codecs, config, train.source, train.target)
    else:
        words = words_of_pairs(config, train.source, train.target)
        source_words = words[0]
        if codecs is None:
            on_phase("Learning subwords" if config.num_subwords else "Building vocabularies")
            codecs = learn_codecs(config, *words)
        on_phase("Turning words into numbers")
        encoded = _encode_words(codecs, config, *words)
    used = _some_within_length(encoded, config, f"training pair of {name}")
    validation_encoded = encode_lines(codecs, config, validation.source, validation.target)
    validation_used = _some_within_length(validation_encoded, config, f"validation pair of {name}")
    return PreparedCorpus(
        name=name,
        config=config,
        codecs=codecs,
        train=replace(encoded, lines=train.lines).take(used),
        validation=replace(validation_encoded, lines=validation.lines).take(validation_used),
        validation_texts=validation.take(validation_used),
        left_out=replace(train.left_out, too_long=len(train) - len(used)),
        validation_left_out=replace(
            validation.left_out, too_long=len(validation) - len(validation_used)
        ),
        word_counts=None
        if source_words is None
        else count_words([source_words[index] for index in used], kind),
    )


_CODE_IS_NAMED = Wording(
    "(with --into, in Python as data.target_code)", "(under “All settings…”, “target code”)"
)


def _with_codes(pairs: SentencePairs, config: DataConfig, codes: Sequence[str]) -> SentencePairs:
    """The pairs with the code of the target language before each source, for a model that has
    `codes`.
    """
    code = config.target_code
    if code is not None:
        if code not in codes:
            has = f"It has {listed_codes(codes)}" if codes else "It has none"
            raise ConfigError(
                f"data: target_code is {code}, which is no target language of the model. {has}."
            )
        return replace(pairs, source=tuple(with_code(text, code) for text in pairs.source))
    unclear = next(
        (index for index, text in enumerate(pairs.source) if code_of(text, codes) is None), None
    )
    if codes and unclear is not None:
        which = f"line {pairs.lines[unclear]:,}" if pairs.lines else f"pair {unclear + 1:,}"
        raise CorpusError(
            "The model translates into several languages, and {which} of the data does not say "
            "into which. Name the code {where}, or begin each line with a code such as {code}. The "
            "codes are {codes}.",
            which=which,
            where=_CODE_IS_NAMED,
            code=codes[0],
            codes=listed_codes(codes),
        )
    return pairs


def prepare_copy_task(config: DataConfig, seed: int) -> PreparedCorpus:
    """The copy task: symbols 1 … n, source equal to target, new sequences each epoch (The Annotated
    Transformer).
    """
    vocabulary = vocabulary_of_copy_task(config.copy_symbols)
    codecs = CodecPair.build(config, vocabulary, vocabulary, None)
    validation = _draw_copy_pairs(config, config.copy_validation_pairs, f"{seed}-validation")
    lines = tuple(" ".join(map(str, sequence)) for sequence in validation.source)
    first_epoch = _draw_copy_pairs(config, config.copy_training_pairs, f"{seed}-train-1")
    return PreparedCorpus(
        "copy task", config, codecs, first_epoch, validation, SentencePairs(lines, lines)
    )


def draw_sequences(
    num_pairs: int, length: int, num_symbols: int, rng: random.Random
) -> list[list[int]]:
    """`num_pairs` sequences of `length` symbols for the copy task; each is both source and target
    of one pair.

    Symbol 0 is padding. The first symbol of each is 1, the start, the others are uniform over 1 …
    `num_symbols` (both included), drawn from `rng`. There is no end token: the length of a sequence
    is known.
    """
    return [
        [1, *(rng.randint(1, num_symbols) for _ in range(length - 1))] for _ in range(num_pairs)
    ]


def _draw_copy_pairs(config: DataConfig, count: int, seed: str) -> EncodedPairs:
    rng = random.Random(seed)
    sequences = draw_sequences(count, config.copy_length, config.copy_symbols, rng)
    pairs = [tuple(sequence) for sequence in sequences]
    return EncodedPairs(pairs, pairs)


def encode_lines(
    codecs: CodecPair, config: DataConfig, sources: Sequence[str], targets: Sequence[str]
) -> EncodedPairs:
    """Lines of both sides to ids, wrapped as the config says; imported models read whole lines.

    Raises:
        ConfigError: the language needs a missing package.
    """
    if not config.is_imported:
        return _encode_words(codecs, config, *words_of_pairs(config, sources, targets))

    def ids_of(codec: TextCodec, line: str) -> list[int]:
        return [token for word in codec.encode_text(codec.one_line(line)) for token in word.ids]

    _, end = _marks(codecs.source.vocabulary)
    source = [(*ids_of(codecs.source, line), *end) for line in sources]
    start, end = _marks(codecs.target.vocabulary)
    return EncodedPairs(source, [(*start, *ids_of(codecs.target, line), *end) for line in targets])


def _encode_words(
    codecs: CodecPair,
    config: DataConfig,
    source_words: Sequence[Sequence[str]],
    target_words: Sequence[Sequence[str]],
) -> EncodedPairs:
    start, end = _marks(codecs.source.vocabulary) if config.wrap_source else ([], [])
    source = [(*start, *codecs.source.encode_words(words), *end) for words in source_words]
    start, end = _marks(codecs.target.vocabulary)
    target = [(*start, *codecs.target.encode_words(words), *end) for words in target_words]
    return EncodedPairs(source, target)


def _marks(vocabulary: Vocabulary) -> tuple[list[int], list[int]]:
    return [vocabulary.start_id], [] if vocabulary.end_id is None else [vocabulary.end_id]


def within_length(pairs: EncodedPairs, config: DataConfig) -> Sequence[int]:
    """The places of the pairs that are not longer than `max_length`."""
    if config.max_length is None:
        return range(len(pairs))
    return pairs.within(config.max_length + _num_source_marks(config), config.max_length + 2)


def _num_source_marks(config: DataConfig) -> int:
    return 2 if config.wrap_source else int(config.end_source)


def _some_within_length(pairs: EncodedPairs, config: DataConfig, what: str) -> Sequence[int]:
    """The same. Raises `UnfitCorpusError` if all are longer; `what` names one of them."""
    places = within_length(pairs, config)
    if not places and len(pairs):
        longest = max(
            max(map(len, pairs.source)) - _num_source_marks(config), max(map(len, pairs.target)) - 2
        )
        problem = (
            f"No {what} is left: all {len(pairs):,} are longer than {config.max_length:,} tokens."
        )
        misfit = Misfit(
            problem, "data.max_length", longest, f"sentences of at most {longest:,} tokens"
        )
        raise UnfitCorpusError(
            misfit, f"Raise max_length (--set data.max_length={longest}) or use another corpus."
        )
    return places


def limited(corpus: PreparedCorpus, config: DataConfig) -> PreparedCorpus:
    """The corpus with the lower `max_length` of `config`.

    Raises `UnfitCorpusError` if no pair of a split fits.
    """
    texts = corpus.validation_texts
    used = _some_within_length(corpus.train, config, f"training pair of {corpus.name}")
    validation_used = _some_within_length(
        corpus.validation, config, f"validation pair of {corpus.name}"
    )
    too_long = (len(corpus.train) - len(used), len(corpus.validation) - len(validation_used))
    return replace(
        corpus,
        config=config,
        train=corpus.train.take(used),
        validation=corpus.validation.take(validation_used),
        validation_texts=texts.take([index for index in validation_used if index < len(texts)]),
        left_out=replace(corpus.left_out, too_long=corpus.left_out.too_long + too_long[0]),
        validation_left_out=replace(
            corpus.validation_left_out, too_long=corpus.validation_left_out.too_long + too_long[1]
        ),
    )


def save_prepared(corpus: PreparedCorpus, path: Path) -> None:
    """Writes the corpus to one file, atomically. Raises `StorageError`."""
    arrays: dict[str, NDArray[Any]] = {}
    for split, pairs in (("train", corpus.train), ("validation", corpus.validation)):
        for side, sentences in (("source", pairs.source), ("target", pairs.target)):
            arrays[f"{split}.{side}.ids"] = np.array(
                [token for ids in sentences for token in ids], dtype=np.int32
            )
            arrays[f"{split}.{side}.lengths"] = np.array(
                [len(ids) for ids in sentences], dtype=np.int32
            )
    texts = corpus.validation_texts
    metadata = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "name": corpus.name,
        "data": corpus.config.to_dict(),
        "codecs": corpus.codecs.to_dict(),
        "num_left_out": corpus.left_out.too_long,
        "left_out": [asdict(split) for split in (corpus.left_out, corpus.validation_left_out)],
        "validation_source": list(texts.source[:MAX_KEPT_VALIDATION_TEXTS]),
        "validation_target": list(texts.target[:MAX_KEPT_VALIDATION_TEXTS]),
    }
    if corpus.word_counts is not None:
        metadata["word_counts"] = corpus.word_counts.describe()
        arrays[_COUNTS] = np.frombuffer(corpus.word_counts.pack(), dtype=np.uint8)
    write_tensor_file(path, arrays, metadata, save_file)


def load_prepared(path: Path) -> PreparedCorpus:
    """Reads what `save_prepared` wrote.

    Raises:
        CorpusError: the file is missing, damaged, foreign or from a newer version.
    """
    try:
        with open_tensor_file(path, "numpy") as file:
            metadata = file.description_of(
                FORMAT_NAME,
                FORMAT_VERSION,
                "prepared data. Choose a file written by `augenmerk data prepare`.",
            )
            arrays = {name: file.read_row(name, "I32", _MAX_COUNT) for name in _ARRAYS}
            word_counts = None
            if _COUNTS in file.tensors or "word_counts" in metadata:
                packed = file.read_row(_COUNTS, "U8", MAX_PACKED_BYTES).tobytes()
                word_counts = WordCounts.unpack(metadata["word_counts"], packed)
        too_long = Field(metadata["num_left_out"], "num_left_out").whole_number(0, _MAX_COUNT)
        names = [number.name for number in fields(LeftOut)]
        # earlier versions have one number
        numbers = metadata.get("left_out", [{"too_long": too_long}, {}])
        left_out, validation_left_out = (
            LeftOut(
                **{
                    name: number.whole_number(0, _MAX_COUNT)
                    for name, number in split.members(optional=names).items()
                }
            )
            for split in Field(numbers, "left_out").items(2)
        )

        def texts(name: str) -> tuple[str, ...]:
            return tuple(text.text() for text in Field(metadata[name], name).items(_MAX_COUNT))

        config = DataConfig.from_dict(metadata["data"])
        codecs = CodecPair.from_dict(config, metadata["codecs"])
        return PreparedCorpus(
            name=Field(metadata["name"], "name").text(),
            config=config,
            codecs=codecs,
            train=_unpack(arrays, "train", codecs),
            validation=_unpack(arrays, "validation", codecs),
            validation_texts=SentencePairs(texts("validation_source"), texts("validation_target")),
            left_out=left_out,
            validation_left_out=validation_left_out,
            word_counts=word_counts,
        )
    except UnsuitableFileError as error:
        raise CorpusError(f"{path} {error}") from error
    except FileNotFoundError as error:
        raise CorpusError(f"There is no file {path}. Check the path.") from error
    except (OSError, KeyError, ValueError, TypeError, AugenmerkError) as error:
        raise CorpusError(
            f"{path} cannot be read as prepared data ({reason_of(error)}). Choose a folder with "
            "training text, or create the file again by `augenmerk data prepare`."
        ) from error


def _unpack(arrays: dict[str, NDArray[np.int32]], split: str, codecs: CodecPair) -> EncodedPairs:
    """The sentences of a split.

    Raises `ValueError` if numbers of sentences, lengths and ids contradict each other.
    """

    def sentences(side: str, vocabulary: Vocabulary) -> list[tuple[int, ...]]:
        ids, lengths = arrays[f"{split}.{side}.ids"], arrays[f"{split}.{side}.lengths"]
        if not len(lengths) or lengths.min() < 1 or lengths.sum() != len(ids):
            raise ValueError(f"the lengths of the {split} {side} sentences do not fit their tokens")
        if ids.min() < 0 or ids.max() >= len(vocabulary):
            raise ValueError(
                f"the {split} {side} sentences hold ids that are not in the vocabulary"
            )
        return [tuple(part.tolist()) for part in np.split(ids, np.cumsum(lengths)[:-1])]

    pairs = EncodedPairs(
        sentences("source", codecs.source.vocabulary), sentences("target", codecs.target.vocabulary)
    )
    if len(pairs.source) != len(pairs.target):
        raise ValueError(
            f"{len(pairs.source)} {split} source sentences, but {len(pairs.target)} target "
            "sentences"
        )
    return pairs
