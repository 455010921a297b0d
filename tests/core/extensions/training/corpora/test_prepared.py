"""A corpus becomes numbers once, and stays what it was on the way through a file."""

import dataclasses
import gc
import json
import random
import re
import signal
import subprocess
import sys
from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from augenmerk.core.config import DataConfig
from augenmerk.core.errors import CorpusError, StorageError
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.learning import words_of_pairs
from augenmerk.core.extensions.training.corpora.parallel import SentencePairs, read_folder
from augenmerk.core.extensions.training.corpora.prepared import (
    EncodedPairs,
    PreparedCorpus,
    load_prepared,
    prepare,
    prepare_copy_task,
    save_prepared,
)
from augenmerk.core.text import tokenizers
from augenmerk.core.text.codec import CodecPair
from augenmerk.core.text.tokenizers import SpacyTokenizer
from tests.builders import run_process

REPOSITORY = Path(__file__).resolve().parents[5]
TRAIN = SentencePairs(
    (
        "Ein Mann in einem blauen Hemd.",
        "Ein Hund rennt.",
        "Zwei Männer und ein Hund.",
        "Ein Mann rennt.",
    ),
    ("A man in a blue shirt.", "A dog runs.", "Two men and a dog.", "A man runs."),
)
VALIDATION = SentencePairs(
    ("Ein Elefant rennt.", "Ein Elefant."), ("An elephant runs.", "An elephant.")
)
WORDS = DataConfig(min_frequency=1)
SUBWORDS = DataConfig(num_subwords=50, keep_spaces=False, target_case="sentence")


def prepared(config: DataConfig = WORDS, train: SentencePairs = TRAIN) -> PreparedCorpus:
    return prepare("tiny", config, train, VALIDATION, lambda text: None)


def spelled(codecs: CodecPair, ids: list[int]) -> list[str]:
    return [codecs.target.vocabulary.tokens[token_id] for token_id in ids]


def test_the_garbage_collector_does_not_search_the_sentences_of_a_corpus(tmp_path: Path) -> None:
    """It would hold up a window in which the corpus is trained."""
    corpus = prepared()
    save_prepared(corpus, tmp_path / "tiny.safetensors")
    copied = prepare_copy_task(preset("copy-task-small").data, seed=1)
    words, _ = words_of_pairs(WORDS, TRAIN.source, TRAIN.target)
    read = load_prepared(tmp_path / "tiny.safetensors")
    gc.collect()
    sentences = [words]
    for pairs in (corpus.train, corpus.validation, read.train, copied.train, copied.validation):
        sentences += [pairs.source, pairs.target]
    assert not any(map(gc.is_tracked, chain.from_iterable(sentences)))


class TestDigest:
    def test_it_is_of_the_ids_whatever_way_the_corpus_came(self, tmp_path: Path) -> None:
        corpus = prepared()
        assert corpus.digest == "9aff42ec99734dfff3866ab10c67c130eeae521c7e73df92f1968d40c12cfa8c"
        save_prepared(corpus, tmp_path / "tiny.safetensors")
        assert (
            load_prepared(tmp_path / "tiny.safetensors").digest
            == prepared().digest
            == corpus.digest
        )

    @pytest.mark.parametrize("split", ["train", "validation"])
    def test_it_changes_with_any_id_and_with_the_order(self, split: str) -> None:
        corpus = prepared()
        pairs = getattr(corpus, split)
        one, *others = pairs.source
        for source, target in (
            ([[*one[:-1], one[-1] ^ 1], *others], pairs.target),
            ([*others, one], pairs.target),
            (others, pairs.target[1:]),
            ([[*one, others[0][0]], others[0][1:], *others[1:]], pairs.target),
            (pairs.target, pairs.source),
        ):
            assert (
                dataclasses.replace(corpus, **{split: EncodedPairs(source, target)}).digest
                != corpus.digest
            )


class TestPreparing:
    def test_vocabularies_come_from_the_training_split_alone(self) -> None:
        """The text of 2022 builds them on training, validation and test together."""
        corpus = prepared()
        for codec, known, new in (
            (corpus.codecs.source, "hund", "elefant"),
            (corpus.codecs.target, "dog", "elephant"),
        ):
            assert known in codec.vocabulary.ids
            assert new not in codec.vocabulary.ids
            assert codec.encode_words([new]) == [codec.vocabulary.unknown_id]
        assert spelled(corpus.codecs, corpus.validation.target[0]) == [
            "<sos>",
            "<unk>",
            "<unk>",
            "runs",
            ".",
            "<eos>",
        ]

    def test_frequencies_are_those_of_the_training_split_alone(self) -> None:
        corpus = prepare("tiny", WORDS.replace(min_frequency=2), TRAIN, TRAIN, lambda text: None)
        assert "zwei" not in corpus.codecs.source.vocabulary.ids, (
            "once in training, once more in validation"
        )

    def test_subwords_are_learned_from_the_training_split_alone(self) -> None:
        other = SentencePairs(("Äpfel überall " * 20,), ("Quick zebras jump " * 20,))
        subwords = prepare(
            "tiny", SUBWORDS, TRAIN, other, lambda text: None
        ).codecs.source.vocabulary
        assert subwords == prepared(SUBWORDS).codecs.source.vocabulary

    def test_both_sides_are_wrapped(self) -> None:
        corpus = prepared()
        for ids in (
            *corpus.train.source,
            *corpus.train.target,
            *corpus.validation.source,
            *corpus.validation.target,
        ):
            assert (ids[0], ids[-1]) == (2, 3)
            assert not {2, 3} & set(ids[1:-1])

    def test_the_source_can_go_bare_and_the_target_never_does(self) -> None:
        bare, wrapped = prepared(WORDS.replace(wrap_source=False)), prepared()
        without_marks = [
            tuple(token_id - 2 for token_id in ids[1:-1]) for ids in wrapped.train.source
        ]
        assert bare.train.source == without_marks, "its vocabulary has no start and no end token"
        assert bare.train.target == wrapped.train.target

    def test_pairs_too_long_on_either_side_are_left_out_and_counted(self) -> None:
        train = SentencePairs(("a a a", "a a a a", "a", "a"), ("b b b", "b", "b b b b", "b"))
        for wrap_source in (True, False):
            corpus = prepared(WORDS.replace(max_length=3, wrap_source=wrap_source), train)
            assert [len(ids) - 2 for ids in corpus.train.target] == [3, 1]
            assert corpus.left_out.too_long == 2
            assert (len(corpus.validation), corpus.validation_left_out.too_long) == (1, 1)
        assert prepared(WORDS, train).left_out.too_long == 0

    def test_a_limit_that_leaves_nothing_is_refused(self) -> None:
        with pytest.raises(CorpusError) as caught:
            prepared(WORDS.replace(max_length=1))
        assert (
            "No training pair of tiny is left: all 4 are longer than 1 tokens. Raise max_length"
            in str(caught.value)
        )

    def test_phases_say_what_is_being_done(self) -> None:
        phases: list[str] = []
        prepare("tiny", WORDS, TRAIN, VALIDATION, phases.append)
        assert phases == [
            "Tokenizing 4 sentence pairs",
            "Building vocabularies",
            "Turning words into numbers",
        ]

    def test_each_sentence_is_tokenized_once(self, monkeypatch) -> None:
        lines: list[str] = []
        original = SpacyTokenizer.pipe

        def counting(self, texts):
            texts = list(texts)
            lines.extend(texts)
            return original(self, texts)

        monkeypatch.setattr(SpacyTokenizer, "pipe", counting)
        prepared()
        assert sorted(lines) == sorted(
            (*TRAIN.source, *TRAIN.target, *VALIDATION.source, *VALIDATION.target)
        )

    def test_the_rules_of_each_language_are_loaded_once(self, monkeypatch) -> None:
        loaded: list[str] = []
        original = tokenizers.shipped_rules
        monkeypatch.setattr(tokenizers, "_idle_rules", defaultdict(list))
        monkeypatch.setattr(
            tokenizers, "shipped_rules", lambda name: (loaded.append(name), original(name))[1]
        )
        prepared()
        assert sorted(loaded) == ["de", "en"]


@pytest.fixture(scope="module")
def notebook(multi30k_folder: Path) -> PreparedCorpus:
    texts = read_folder(multi30k_folder, "de", "en")
    return prepare(
        "multi30k", preset("notebook").data, texts.train, texts.validation, lambda text: None
    )


@pytest.mark.slow
class TestMulti30k:
    def test_vocabularies_have_the_published_sizes(self, notebook: PreparedCorpus) -> None:
        assert len(notebook.codecs.source.vocabulary) == 7853
        assert len(notebook.codecs.target.vocabulary) == 5893
        assert notebook.codecs.source.vocabulary.tokens[:5] == (
            "<unk>",
            "<pad>",
            "<sos>",
            "<eos>",
            ".",
        )

    def test_splits_have_the_published_sizes(self, notebook: PreparedCorpus) -> None:
        assert (len(notebook.train), len(notebook.validation), notebook.left_out_note) == (
            29_000,
            1014,
            "",
        )

    def test_subwords_spell_every_training_word_and_know_every_letter(
        self, multi30k_folder: Path
    ) -> None:
        texts = read_folder(multi30k_folder, "de", "en")
        train = SentencePairs(texts.train.source[:4000], texts.train.target[:4000])
        config = preset("multi30k").data.replace(num_subwords=4000)
        corpus = prepare("multi30k", config, train, texts.validation, lambda text: None)
        codec = corpus.codecs.source
        assert codec.subwords is not None
        words = {
            word
            for lines in (train.source, train.target)
            for line in lines
            for word in line.split()
        }
        for word in words:
            assert "".join(codec.subwords.pieces_of(word)) == "▁" + word
        unknown = codec.vocabulary.unknown_id
        assert not any(unknown in ids for ids in (*corpus.train.source, *corpus.train.target))
        for ids, line in zip(corpus.train.target[:200], train.target, strict=False):
            decoded = [word.text for word in corpus.codecs.target.decode(ids)]
            assert "".join(decoded).lower() == "".join(line.split()).lower()


class TestCopyTask:
    RUN = preset("copy-task-small")

    def test_source_and_target_are_the_same_sequence_without_marks(self) -> None:
        corpus = prepare_copy_task(self.RUN.data, seed=1)
        assert corpus.train.source == corpus.train.target
        assert {len(ids) for ids in corpus.train.source} == {10}
        assert {ids[0] for ids in corpus.train.source} == {1}
        assert (len(corpus.train), len(corpus.validation)) == (1800, 150)

    def test_each_epoch_draws_its_own_and_the_seed_decides(self) -> None:
        corpus = prepare_copy_task(self.RUN.data, seed=1)
        first, second = corpus.training_pairs(1, 1), corpus.training_pairs(2, 1)
        assert first.source == corpus.train.source
        assert first.source != second.source
        assert corpus.training_pairs(2, 1).source == second.source
        assert corpus.training_pairs(2, 5).source != second.source
        assert (
            prepare_copy_task(self.RUN.data, seed=5).validation.source != corpus.validation.source
        )

    def test_the_pairs_of_a_text_are_the_same_in_each_epoch(self) -> None:
        corpus = prepared()
        assert corpus.training_pairs(1, 1) is corpus.training_pairs(9, 2) is corpus.train


@pytest.fixture(params=["words", "subwords", "bare source"])
def corpus(request) -> PreparedCorpus:
    config = {
        "words": WORDS,
        "subwords": SUBWORDS,
        "bare source": WORDS.replace(wrap_source=False, max_length=5),
    }
    return prepared(config[request.param])


def test_a_corpus_survives_the_way_through_a_file(corpus: PreparedCorpus, tmp_path: Path) -> None:
    path = tmp_path / "tiny.safetensors"
    save_prepared(corpus, path)
    again = load_prepared(path)
    assert (again.name, again.config, again.left_out) == (
        corpus.name,
        corpus.config,
        corpus.left_out,
    )
    for before, after in ((corpus.train, again.train), (corpus.validation, again.validation)):
        assert (after.source, after.target) == (before.source, before.target)
    assert again.codecs.to_dict() == corpus.codecs.to_dict()
    assert again.validation_texts == corpus.validation_texts


class TestWordCounts:
    def test_they_are_of_the_source_words_of_the_training_split_alone(self) -> None:
        counts = prepared().word_counts
        assert counts is not None
        assert (counts.of("ein"), counts.of("hund"), counts.of("."), counts.of("elefant")) == (
            4,
            2,
            4,
            0,
        )
        assert counts.of("a") == 0, "a target word"
        subwords = prepared(SUBWORDS).word_counts
        assert subwords is not None
        assert subwords.of("hund") == 2, "words, not their pieces"

    def test_case_is_folded_as_the_model_reads(self) -> None:
        unchanged, sentence = (
            prepared(WORDS.replace(source_case=case)).word_counts for case in ("keep", "sentence")
        )
        assert unchanged is not None
        assert sentence is not None
        assert (
            unchanged.of("Ein"),
            unchanged.of("ein"),
            sentence.of("Ein"),
            sentence.of("ein"),
        ) == (3, 1, 0, 4)

    def test_pairs_that_are_left_out_count_nothing(self) -> None:
        train = SentencePairs(("a a a", "b b b b", "a"), ("x", "x", "x"))
        counts = prepared(WORDS.replace(max_length=3), train).word_counts
        assert counts is not None
        assert dict(counts.counts) == {"a": 4}

    def test_white_space_that_counts_as_a_word_in_training_is_none(self) -> None:
        counts = prepared(WORDS, SentencePairs(("ein  mann", "ein mann"), ("a", "a"))).word_counts
        assert counts is not None
        assert dict(counts.counts) == {"ein": 2, "mann": 2}

    def test_the_copy_task_has_none(self) -> None:
        assert prepare_copy_task(preset("copy-task-small").data, seed=1).word_counts is None

    def test_they_survive_the_way_through_a_file(self, tmp_path: Path) -> None:
        corpus = prepare("tiny", WORDS, TRAIN, VALIDATION, lambda text: None, "tales")
        save_prepared(corpus, tmp_path / "x")
        again = load_prepared(tmp_path / "x").word_counts
        assert corpus.word_counts is not None
        assert again is not None
        assert (dict(again.counts), again.kind) == (dict(corpus.word_counts.counts), "tales")
        assert again.pack() == corpus.word_counts.pack()

    def test_a_file_of_an_earlier_version_has_none(self, tmp_path: Path) -> None:
        corpus = dataclasses.replace(prepared(), word_counts=None)
        save_prepared(corpus, tmp_path / "x")
        assert load_prepared(tmp_path / "x").word_counts is None

    @pytest.mark.parametrize(
        ("array", "metadata"),
        [
            (None, {}),
            (np.zeros(0, dtype=np.uint8), {}),
            (np.zeros(9, dtype=np.uint8), {}),
            (np.zeros(9, dtype=np.int32), {}),
            (np.zeros((3, 3), dtype=np.uint8), {}),
            (..., {"word_counts": None}),
            (..., {"word_counts": {"kind": "", "least": 1, "num_words": 1, "unusual_below": 0}}),
        ],
        ids=str,
    )
    def test_damaged_ones_are_refused(
        self, file: Path, array: Any, metadata: dict[str, Any]
    ) -> None:
        rewrite(file, {} if array is ... else {"train.source.counts": array}, **metadata)
        assert "cannot be read as prepared data" in refusal(file)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.safetensors"
    save_prepared(prepared(), path)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(CorpusError) as caught:
        load_prepared(path)
    message = str(caught.value)
    assert str(path) in message, "what was given"
    assert re.search("Choose|Check|Use another|again|Update Augenmerk", message)
    return message


def rewrite(path: Path, arrays: dict[str, Any] | None = None, **metadata: Any) -> None:
    """Writes the file again with other arrays or other metadata."""
    with safe_open(path, framework="numpy") as opened:
        old = json.loads(opened.metadata()["augenmerk"])
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    tensors |= arrays or {}
    save_file(
        {name: value for name, value in tensors.items() if value is not None},
        path,
        metadata={"augenmerk": json.dumps(old | metadata)},
    )


class TestRefusals:
    def test_missing(self, tmp_path: Path) -> None:
        assert "There is no file" in refusal(tmp_path / "none.safetensors")

    def test_empty(self, file: Path) -> None:
        file.write_bytes(b"")
        assert "cannot be read as prepared data" in refusal(file)

    def test_a_folder(self, tmp_path: Path) -> None:
        refusal(tmp_path)

    def test_cut_off_anywhere(self, file: Path) -> None:
        whole = file.read_bytes()
        for length in (
            *range(1, 20),
            *range(20, len(whole), max(1, len(whole) // 40)),
            len(whole) - 1,
        ):
            file.write_bytes(whole[:length])
            assert "cannot be read as prepared data" in refusal(file)

    def test_noise(self, file: Path) -> None:
        for seed in range(20):
            file.write_bytes(random.Random(seed).randbytes(2000))
            refusal(file)

    def test_a_text(self, file: Path) -> None:
        file.write_text("Ein Mann.\n" * 100)
        refusal(file)

    @pytest.mark.parametrize(
        "metadata", [None, {"augenmerk": "[]"}, {"augenmerk": "5"}, {"other": "{}"}]
    )
    def test_of_another_kind(self, file: Path, metadata: dict[str, str] | None) -> None:
        save_file({"weights": np.zeros(3, dtype=np.float32)}, file, metadata=metadata)
        assert "is a safetensors file, but not prepared data" in refusal(file)

    @pytest.mark.parametrize("text", ["{", "", '{"format": ', "[" * 100_000])
    def test_a_description_that_is_not_json(self, file: Path, text: str) -> None:
        save_file({"weights": np.zeros(3, dtype=np.float32)}, file, metadata={"augenmerk": text})
        refusal(file)

    def test_of_a_newer_version(self, file: Path) -> None:
        rewrite(file, version=2)
        message = refusal(file)
        assert "was written by a newer Augenmerk (format 2, this one reads up to 1)" in message
        assert message.count(str(file)) == 1, "said once"

    @pytest.mark.parametrize(
        "metadata",
        [
            {"version": "one"},
            {"version": None},
            {"data": {"min_frequency": -1}},
            {"data": {"no_such_setting": 1}},
            {"data": None},
            {"codecs": {}},
            {"codecs": "x"},
            {"num_left_out": "many"},
            {"left_out": {}},
            {"left_out": [{"too_long": -1}, {}]},
            {"left_out": [{"lost": 1}, {}]},
            {"left_out": [3, 4]},
            {"validation_source": 5},
            {"validation_source": ["one more"]},
        ],
        ids=str,
    )
    def test_a_damaged_description(self, file: Path, metadata: dict[str, Any]) -> None:
        rewrite(file, **metadata)
        assert "cannot be read as prepared data" in refusal(file)

    @pytest.mark.parametrize(
        "arrays",
        [
            {"train.source.ids": None},
            {"validation.target.lengths": None},
            {"train.source.ids": np.full(29, 99, dtype=np.int32)},
            {"train.source.ids": np.full(29, -1, dtype=np.int32)},
            {"train.source.ids": np.full(28, 5, dtype=np.int32)},
            {"train.source.lengths": np.array([3], dtype=np.int32)},
            {
                "train.source.lengths": np.array([], dtype=np.int32),
                "train.source.ids": np.array([], dtype=np.int32),
            },
            {
                "train.target.lengths": np.array([4, 4], dtype=np.int32),
                "train.target.ids": np.full(8, 5, dtype=np.int32),
            },
        ],
        ids=lambda arrays: " ".join(arrays),
    )
    def test_numbers_that_contradict_each_other(self, file: Path, arrays: dict[str, Any]) -> None:
        assert sum(map(len, load_prepared(file).train.source)) == 29
        rewrite(file, arrays)
        assert "cannot be read as prepared data" in refusal(file)


def test_a_failing_write_leaves_the_older_file(file: Path, monkeypatch) -> None:
    before = file.read_bytes()

    def fails(*args: Any, **kwargs: Any) -> None:
        Path(args[1]).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("augenmerk.core.extensions.training.corpora.prepared.save_file", fails)
    with pytest.raises(StorageError, match="No space left on device"):
        save_prepared(dataclasses.replace(prepared(), name="other"), file)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.subprocess
@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs a limit on the size of files")
def test_a_full_disk_is_a_storage_error(tmp_path: Path) -> None:
    """safetensors has an error of its own for it; a limit on the size of files acts like a full
    disk.
    """
    code = """
import sys
from pathlib import Path
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.prepared import prepare_copy_task, save_prepared
from augenmerk.core.errors import StorageError
from tests.limits import limit_files
corpus = prepare_copy_task(preset("copy-task-small").data, 1)
limit_files(10_000)
try:
    save_prepared(corpus, Path(sys.argv[1]))
except StorageError as error:
    print(error)
"""
    result = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "x")],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Cannot write" in result.stdout
    assert "too large" in result.stdout
    assert not list(tmp_path.iterdir())


TRAIN_WITH_MODULES_HIDDEN = """
import dataclasses, sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"spacy", "thinc", "PySide6", "shiboken6", "matplotlib"}:
            raise ModuleNotFoundError(f"hidden by the test: {name}", name=name)

sys.meta_path.insert(0, Hidden())
from pathlib import Path
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.loading import load_corpus
from augenmerk.core.extensions.training.loop import train

run = preset("notebook")
run = dataclasses.replace(
    run,
    data=run.data.replace(min_frequency=1),
    model=run.model.replace(width=16, num_heads=2, num_encoder_layers=1, num_decoder_layers=1, feed_forward_width=16),
    training=run.training.replace(max_steps=2, batch_size=2),
)
print(train(run, load_corpus(sys.argv[1], run), Path(sys.argv[2]), device="cpu").reason)
"""


@pytest.mark.subprocess
@pytest.mark.slow
def test_a_machine_without_spacy_and_without_a_screen_trains_from_the_file(
    file: Path, tmp_path: Path
) -> None:
    result = run_process(
        [sys.executable, "-c", TRAIN_WITH_MODULES_HIDDEN, str(file), str(tmp_path / "run")]
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "max_steps\n"
