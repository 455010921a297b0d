"""`annotated-2018` has the vocabularies and batches of the original, whose iterator and fields run
here on Multi30k."""

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from torchtext import data

from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.batches import training_batches, validation_batches
from augenmerk.core.extensions.training.corpora.loading import load_corpus
from augenmerk.core.extensions.training.corpora.parallel import read_folder
from augenmerk.core.extensions.training.corpora.prepared import PreparedCorpus
from augenmerk.core.text.tokenizers import SpacyTokenizer

RUN = preset("annotated-2018")
BLANK, START, END = "<blank>", "<s>", "</s>"


class TokenCounter:
    """`batch_size_fn` of the original, with its two globals as attributes."""

    def __init__(self) -> None:
        self.max_src_in_batch = self.max_tgt_in_batch = 0

    def __call__(self, new: Any, count: int, sofar: int) -> int:
        if count == 1:
            self.max_src_in_batch = self.max_tgt_in_batch = 0
        self.max_src_in_batch = max(self.max_src_in_batch, len(new.src))
        self.max_tgt_in_batch = max(self.max_tgt_in_batch, len(new.trg) + 2)
        return max(count * self.max_src_in_batch, count * self.max_tgt_in_batch)


class MyIterator(data.Iterator):  # type: ignore[misc]  # torchtext has no types
    """As in The Annotated Transformer, 2018 (MIT licence)."""

    def create_batches(self) -> None:
        if self.train:

            def pool(d: Any, random_shuffler: Any) -> Iterator[Any]:
                for p in data.batch(d, self.batch_size * 100):
                    p_batch = data.batch(
                        sorted(p, key=self.sort_key), self.batch_size, self.batch_size_fn
                    )
                    yield from random_shuffler(list(p_batch))

            self.batches = pool(self.data(), self.random_shuffler)
        else:
            self.batches = []
            for b in data.batch(self.data(), self.batch_size, self.batch_size_fn):
                self.batches.append(sorted(b, key=self.sort_key))


Words = dict[tuple[str, str], list[str]]


@pytest.fixture(scope="module")
def corpus_and_words(multi30k_folder: Path) -> tuple[PreparedCorpus, Words]:
    """The prepared corpus, and the words of each line by language: splitting it twice would take
    seconds."""
    words: Words = {}
    pipe = SpacyTokenizer.pipe

    def recording(tokenizer: SpacyTokenizer, lines: Iterable[str]) -> Iterator[list[str]]:
        lines = list(lines)
        for line, split in zip(lines, pipe(tokenizer, lines), strict=True):
            words[tokenizer.language, line] = split
            yield split

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SpacyTokenizer, "pipe", recording)
        return load_corpus(multi30k_folder, RUN), words


@pytest.fixture(scope="module")
def corpus(corpus_and_words: tuple[PreparedCorpus, Words]) -> PreparedCorpus:
    return corpus_and_words[0]


@pytest.fixture(scope="module")
def original(
    multi30k_folder: Path, corpus_and_words: tuple[PreparedCorpus, Words]
) -> tuple[data.Field, data.Field, data.Dataset, data.Dataset]:
    """Source field, target field, training and validation split; `spacy.load` split into the same
    tokens.
    """
    texts = read_folder(multi30k_folder, "de", "en")
    src = data.Field(tokenize=str.split, pad_token=BLANK)
    tgt = data.Field(tokenize=str.split, init_token=START, eos_token=END, pad_token=BLANK)
    fields = [("src", src), ("trg", tgt), ("index", data.RawField())]
    words, splits = corpus_and_words[1], []
    for pairs in (texts.train, texts.validation):
        examples = [
            data.Example.fromlist([words["de", source], words["en", target], index], fields)
            for index, (source, target) in enumerate(zip(pairs.source, pairs.target, strict=True))
        ]
        splits.append(
            data.Dataset(
                examples, fields, filter_pred=lambda x: len(x.src) <= 100 and len(x.trg) <= 100
            )
        )
    train, validation = splits
    src.build_vocab(train.src, min_freq=2)
    tgt.build_vocab(train.trg, min_freq=2)
    return src, tgt, train, validation


@pytest.mark.slow
@pytest.mark.heavy
class TestAgainstTheOriginal:
    def test_the_vocabularies_are_those_of_its_fields(
        self, corpus: PreparedCorpus, original: Any
    ) -> None:
        src, tgt, *_ = original
        source, target = corpus.codecs.source.vocabulary, corpus.codecs.target.vocabulary
        assert (len(source), len(target)) == (8012, 6191)
        assert src.vocab.itos[:2] == ["<unk>", BLANK]
        assert source.tokens == ("<unk>", "<pad>", *src.vocab.itos[2:])
        assert tgt.vocab.itos[:4] == ["<unk>", BLANK, START, END]
        assert target.tokens == ("<unk>", "<pad>", "<sos>", "<eos>", *tgt.vocab.itos[4:])

    def test_the_ids_are_those_of_its_fields(self, corpus: PreparedCorpus, original: Any) -> None:
        src, tgt, train, _ = original
        assert corpus.train.source == [
            tuple(src.vocab.stoi[word] for word in words) for words in train.src
        ]
        assert corpus.train.target == [
            (2, *(tgt.vocab.stoi[word] for word in words), 3) for words in train.trg
        ]

    @pytest.mark.parametrize(("batch_size", "num_batches"), [(12_000, 47), (3_000, 160)])
    def test_the_training_batches_are_those_of_its_iterator(
        self, corpus: PreparedCorpus, original: Any, batch_size: int, num_batches: int
    ) -> None:
        """At 3,000, several epochs fit into the recorded steps (docs/annotated-runs.md)."""
        training, epoch = RUN.training.replace(batch_size=batch_size), 2
        iterator = MyIterator(
            original[2],
            batch_size=batch_size,
            repeat=False,
            sort_key=lambda x: (len(x.src), len(x.trg)),
            batch_size_fn=TokenCounter(),
            train=True,
        )
        random.seed(f"{training.seed}-{epoch}")
        iterator.random_shuffler = type(iterator.random_shuffler)()  # takes its state from `random`
        iterator.init_epoch()
        expected = [[example.index for example in batch] for batch in iterator.batches if batch]
        batches = training_batches(corpus.train, training, epoch)
        assert batches == expected
        assert len(batches) == num_batches

    def test_the_validation_batches_are_those_of_its_iterator(
        self, corpus: PreparedCorpus, original: Any
    ) -> None:
        iterator = MyIterator(
            original[3],
            batch_size=12_000,
            repeat=False,
            sort_key=lambda x: (len(x.src), len(x.trg)),
            batch_size_fn=TokenCounter(),
            train=False,
        )
        iterator.init_epoch()
        expected = [[example.index for example in batch] for batch in iterator.batches if batch]
        assert validation_batches(corpus.validation, RUN.training) == expected
