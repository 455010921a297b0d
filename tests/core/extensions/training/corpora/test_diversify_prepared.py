"""More training pairs out of the training pairs alone: `python -m tools.diversify_prepared`, and
BLEU of the models."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.extensions.training.corpora.parallel import SentencePairs
from augenmerk.core.extensions.training.corpora.prepared import (
    EncodedPairs,
    PreparedCorpus,
    load_prepared,
    prepare,
    save_prepared,
)
from augenmerk.core.extensions.training.session import TrainingSession
from augenmerk.core.padding import pad
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.translation.translator import Translator
from tests.core.extensions.training.runs import text_corpus, text_run
from tools import validation_bleu
from tools.diversify_prepared import Ensemble, diversify, main, reversed_corpus

GERMAN = (
    "Zwei Hunde spielen im Schnee.",
    "Ein Mann steht auf einer Leiter.",
    "Eine Frau liest ein Buch.",
)
ENGLISH = ("Two dogs are playing in the snow.", "A man is standing on a ladder.", "A woman reads.")
START, END = 2, 3


@pytest.fixture(scope="module")
def corpus() -> PreparedCorpus:
    """Three pairs, read with the vocabulary of the bundled model."""
    checkpoint, pairs = load_checkpoint(bundled_model_path()), SentencePairs(GERMAN, ENGLISH)
    return prepare(
        "captions", checkpoint.run.data, pairs, pairs, lambda phase: None, codecs=checkpoint.codecs
    )


@pytest.fixture
def data(corpus: PreparedCorpus, tmp_path: Path) -> Path:
    path = tmp_path / "data.safetensors"
    save_prepared(corpus, path)
    return path


def english(corpus: PreparedCorpus, ids: list[int]) -> str:
    return corpus.codecs.target.text_of(ids)


def test_pairs_that_were_there_before_and_empty_sides_are_left_out() -> None:
    one, two, both = ([START, word, END] for word in (5, 6, 7))
    nothing = [START, END]
    pairs = diversify(
        [
            EncodedPairs([one, two], [one, two]),
            EncodedPairs([one, two], [one, both]),
            EncodedPairs([nothing], [one]),
        ]
    )
    assert (pairs.source, pairs.target) == ([one, two, two], [one, two, both])


@pytest.mark.heavy
def test_the_file_gets_what_a_model_and_an_ensemble_say_of_the_sources(
    corpus: PreparedCorpus, data: Path, tmp_path: Path
) -> None:
    model, out = str(bundled_model_path()), tmp_path / "more.safetensors"
    assert (
        main([str(data), "--out", str(out), "--forward", model, "--beam", "4", "--device", "cpu"])
        == 0
    )
    prepared = load_prepared(out)
    assert prepared.train.source[:3] == corpus.train.source
    assert prepared.train.target[:3] == corpus.train.target
    assert prepared.word_counts is not None
    assert corpus.word_counts is not None
    assert dict(prepared.word_counts.counts) == dict(corpus.word_counts.counts), (
        "a translation is no evidence for words"
    )
    expected = Translator.load(device="cpu").translate_corpus(GERMAN, beam=4, length_penalty=0.6)
    new = {
        tuple(ids): english(corpus, target)
        for ids, target in zip(prepared.train.source, prepared.train.target, strict=True)
    }
    assert [new[tuple(ids)] for ids in corpus.train.source] == [
        hypothesis.text for hypothesis in expected
    ]
    together = tmp_path / "together.safetensors"
    words = [str(data), "--out", str(together), "--forward", model, model, "--device", "cpu"]
    assert main(words) == 0
    assert vars(load_prepared(together).train) == vars(prepared.train), (
        "a model and itself are the model"
    )


@pytest.mark.training
def test_an_ensemble_predicts_by_the_mean_of_the_distributions_also_after_rows_moved() -> None:
    run, rows = text_run(), torch.tensor([2, 0])
    corpus = text_corpus(run, number=40)
    models = [
        TrainingSession(run.with_training(seed=seed), corpus, "cpu").model.eval() for seed in (1, 2)
    ]
    source = pad(corpus.train.source[:3], 1)
    ensemble = Ensemble(models)
    with torch.inference_mode():
        state = ensemble.start_decoding(ensemble.encode(source), 9)
        state.read(torch.tensor([2, 2, 2]))
        state.select(rows)
        log_probabilities = state.read(torch.tensor([5, 6])).log_softmax(dim=-1)
        read = torch.tensor([[2, 5], [2, 6]])
        expected = (
            sum(model(source[rows], read).logits[:, -1].softmax(dim=-1) for model in models) / 2
        )
    torch.testing.assert_close(log_probabilities.exp(), expected, rtol=1e-4, atol=1e-6)


def test_files_are_merged_in_their_order(
    corpus: PreparedCorpus, data: Path, tmp_path: Path
) -> None:
    other, out = tmp_path / "other.safetensors", tmp_path / "merged.safetensors"
    swapped = EncodedPairs(corpus.train.source[:1], corpus.train.target[1:2])
    save_prepared(replace(corpus, train=swapped), other)
    assert main([str(data), str(other), "--out", str(out)]) == 0
    assert load_prepared(out).train.source == [*corpus.train.source, corpus.train.source[0]]
    assert load_prepared(out).train.target == [*corpus.train.target, corpus.train.target[1]]


def test_the_other_direction_has_sides_languages_and_case_exchanged(
    corpus: PreparedCorpus, data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "back.safetensors"
    assert main([str(data), "--out", str(out), "--reverse"]) == 0
    back = load_prepared(out)
    assert back.train.source == corpus.train.target
    assert back.train.target == corpus.train.source
    assert (back.config.source_language, back.config.target_case) == (
        "en",
        corpus.config.source_case,
    )
    assert back.validation_texts == SentencePairs(ENGLISH, GERMAN)
    assert vars(reversed_corpus(back).train) == vars(corpus.train)


def test_another_vocabulary_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "words.safetensors", tmp_path / "more.safetensors"
    save_prepared(text_corpus(text_run(), number=40), path)
    assert (
        main(
            [
                str(path),
                "--out",
                str(out),
                "--forward",
                str(bundled_model_path()),
                "--device",
                "cpu",
            ]
        )
        == 2
    )
    assert "has another vocabulary than made up" in capsys.readouterr().err
    assert main([str(path), "--out", str(out), "--reverse"]) == 2
    assert "has no joint vocabulary" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.heavy
def test_bleu_of_prepared_data_is_that_of_the_text(
    data: Path, corpus: PreparedCorpus, capsys: pytest.CaptureFixture[str]
) -> None:
    translated = Translator.load(device="cpu").translate_corpus(GERMAN)
    own = prepare(
        "own", corpus.config, SentencePairs(GERMAN, ENGLISH), SentencePairs(GERMAN, tuple(h.text for h in translated)),
        lambda phase: None, codecs=corpus.codecs,
    )  # fmt: skip
    save_prepared(own, data)
    model = str(bundled_model_path())
    assert validation_bleu.main([str(data), model, "--device", "cpu"]) == 0
    assert validation_bleu.main([str(data), model, model, "--together", "--device", "cpu"]) == 0
    assert [line.rpartition(": ")[2] for line in capsys.readouterr().out.splitlines()] == [
        "100.00",
        "100.00",
    ]
