"""What a run says of its model at each validation, and that asking leaves no trace."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.device import DeviceChoice
from augenmerk.core.errors import TextError
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.parallel import SentencePairs
from augenmerk.core.extensions.training.corpora.prepared import prepare
from augenmerk.core.extensions.training.evaluation import evaluate
from augenmerk.core.extensions.training.events import EpochDone, Noted, SampleTranslated
from augenmerk.core.extensions.training.film import FilmFrame, frame_paths, read_film
from augenmerk.core.extensions.training.session import TrainingSession
from augenmerk.core.extensions.training.validation import (
    NUM_EXAMPLES,
    ValidationStoppedError,
    Validator,
)
from augenmerk.core.inference.compiled import CachedState
from augenmerk.core.model.outputs import Encoding
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.run_files import HISTORY, LAST
from augenmerk.core.translation.translator import Translator
from tests.core.extensions.training.runs import (
    copy_corpus,
    copy_run,
    record,
    sentences,
    text_corpus,
    text_run,
)

pytestmark = pytest.mark.training

HERE = DeviceChoice("cpu", "requested")


@pytest.mark.slow
def test_losses_and_weights_are_the_same_whether_or_not_samples_are_translated(
    tmp_path: Path,
) -> None:
    """With dropout: the translations between draw no random number and leave the mode as it was."""
    run, quiet = copy_run(num_epochs=2), copy_run(num_epochs=2, sample_size=0)
    _, loud = record(run, tmp_path / "loud")
    _, silent = record(quiet, tmp_path / "silent")
    assert len(loud.of(SampleTranslated)) == 2
    assert not silent.of(SampleTranslated)
    assert loud.losses == silent.losses
    one, other = (
        load_checkpoint(tmp_path / name / LAST, with_state=True) for name in ("loud", "silent")
    )
    assert all(bool((one.state[name] == other.state[name]).all()) for name in one.state)


@pytest.mark.slow
def test_the_score_of_the_sample_is_that_of_evaluating_the_same_sentences(tmp_path: Path) -> None:
    run = text_run(num_epochs=8, learning_rate=5e-3, sample_size=12)
    corpus = text_corpus(run)
    finished, said = record(run, tmp_path / "run", corpus=corpus)
    samples = said.of(SampleTranslated)
    assert [sample.num_sentences for sample in samples] == [12] * 8
    shown = [
        [(example.source, example.reference) for example in sample.examples] for sample in samples
    ]
    assert all(pairs == shown[0] for pairs in shown), "the same ones each time"
    assert len(shown[0]) == NUM_EXAMPLES
    texts = corpus.validation_texts
    assert set(shown[0]) <= set(zip(texts.source, texts.target, strict=True))
    validator = Validator(TrainingSession(run, corpus, "cpu"), HERE, None)
    translator = Translator.load(finished.last_checkpoint, "cpu")
    scores, hypotheses = evaluate(translator, validator.sources, validator.references)
    assert samples[-1].bleu == pytest.approx(scores.bleu_tokenized_lowercased)
    assert samples[-1].bleu > 10, "else the test shows too little"
    assert [example.hypothesis for example in samples[-1].examples] == [
        hypothesis.text for hypothesis in hypotheses[:NUM_EXAMPLES]
    ]
    assert [event.bleu for event in said.of(EpochDone)] == [sample.bleu for sample in samples]
    assert load_checkpoint(finished.last_checkpoint).history[-1].bleu == samples[-1].bleu
    assert f",{samples[-1].bleu}\n" in (tmp_path / "run" / HISTORY).read_text()


def test_the_copy_task_is_scored_with_the_symbol_that_is_given() -> None:
    run = copy_run(sample_size=10)
    validator = Validator(TrainingSession(run, copy_corpus(run), "cpu"), HERE, None)
    sample = validator.translate_sample()
    assert sample.num_sentences == 10
    for example in sample.examples:
        assert example.source == example.reference
        assert example.hypothesis.split()[0] == "1"
        assert len(example.hypothesis.split()) == run.data.copy_length


def test_the_sample_does_not_depend_on_the_seed_of_the_run() -> None:
    corpus = text_corpus(text_run())
    samples = [
        Validator(
            TrainingSession(text_run(seed=seed, sample_size=7), corpus, "cpu"), HERE, None
        ).references
        for seed in (1, 2)
    ]
    assert samples[0] == samples[1]


def test_a_sample_says_what_translate_says_about_its_sentences(tmp_path: Path) -> None:
    run = text_run(num_epochs=1, sample_size=30)
    strange = SentencePairs(("ein elefant rennt .",), ("a elephant runs .",))
    corpus = prepare("made up", run.data, sentences(120), strange, lambda text: None)
    finished, said = record(run, tmp_path / "run", corpus=corpus)
    (sample,) = said.of(SampleTranslated)
    (note, *_) = Translator.load(finished.last_checkpoint, "cpu").translate(strange.source[0]).notes
    assert "elefant" in note
    assert (
        sample.notes[0] == f"1 of 1 sample sentences is read with unknown words (number 0). {note}"
    )


class TestStop:
    """What takes long asks before each step whether to stop, not only between batches."""

    @pytest.mark.parametrize("what", ["sample", "probe"])
    def test_a_translation_stops_before_the_next_decoding_step(
        self, what: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = copy_run(sample_size=10)
        validator = Validator(TrainingSession(run, copy_corpus(run), "cpu"), HERE, None)
        num_steps = 0
        read = CachedState._read

        def count(state: CachedState, *arguments: Any) -> Tensor:
            nonlocal num_steps
            num_steps += 1
            return read(state, *arguments)

        monkeypatch.setattr(CachedState, "_read", count)

        def should_stop() -> bool:
            return num_steps == 3

        with pytest.raises(ValidationStoppedError):
            if what == "sample":
                validator.translate_sample(should_stop)
            else:
                validator.translate_probe(None, should_stop)
        assert num_steps == 3

    def test_the_loss_stops_within_a_batch_that_takes_long(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = copy_run()
        validator = Validator(TrainingSession(run, copy_corpus(run), "cpu"), HERE, None)
        whole = validator.loss()
        num_tokens: list[int] = []
        encode = Transformer.encode

        def note(model: Transformer, source: Tensor, **options: Any) -> Encoding:
            num_tokens.append(source.numel())
            return encode(model, source, **options)

        monkeypatch.setattr(Transformer, "encode", note)
        limit = max(batch.source.numel() for batch in validator._batches) // 3
        monkeypatch.setattr(validator, "_tokens_in_a_second", lambda: limit)
        assert validator.loss().token_weighted == pytest.approx(whole.token_weighted, rel=1e-5)
        assert validator.loss().batch_mean == pytest.approx(whole.batch_mean, rel=1e-5)
        assert max(num_tokens) <= limit
        num_tokens.clear()
        with pytest.raises(ValidationStoppedError):
            validator.loss(lambda: len(num_tokens) == 2)
        assert len(num_tokens) == 2

    def test_what_follows_a_stop_takes_about_a_second(self) -> None:
        """As many multiplications as a core does in one: 2 a parameter and token, of 0.7e11."""
        run = preset("multi30k")
        run = dataclasses.replace(run, data=copy_run().data)
        session = TrainingSession(run, copy_corpus(run), "cpu")
        limit = Validator(session, HERE, None)._tokens_in_a_second()
        assert limit is not None
        assert 2 * session.model.num_parameters * limit < 0.7e11


class TestFilm:
    def test_a_probe_in_another_language_is_noted(self, tmp_path: Path) -> None:
        _, said = record(text_run(max_steps=1), tmp_path / "run", probe="the dog is in the ball .")
        texts = [event.text for event in said.of(Noted)]
        assert (
            "The sentence of the film: This looks like English. Enter a German sentence." in texts
        )
        _, said = record(text_run(max_steps=1), tmp_path / "other", probe="ein hund rennt .")
        assert not any("The sentence of the film" in event.text for event in said.of(Noted))

    def test_the_probe_is_translated_before_the_first_step_and_at_each_validation(
        self, tmp_path: Path
    ) -> None:
        finished, said = record(text_run(), tmp_path / "run", probe="ein hund rennt .")
        film = read_film(tmp_path / "run")
        shots = said.of(FilmFrame)
        assert [shot.step for shot in film] == [shot.step for shot in shots] == [0, 8, 16]
        assert [shot.epoch for shot in film] == [0, 1, 2]
        losses = [None, *(event.validation_loss for event in said.of(EpochDone))]
        assert [shot.validation_loss for shot in film] == losses
        assert {shot.translation.source_text for shot in film} == {"ein hund rennt ."}
        expected = Translator.load(finished.last_checkpoint, "cpu").translate("ein hund rennt .")
        last = film[-1].translation
        assert last.predicted_ids == expected.predicted_ids
        assert last.maps.cross == pytest.approx(expected.maps.cross, abs=1e-3)
        assert film[0].translation.maps.encoder != pytest.approx(last.maps.encoder, abs=1e-2)

    def test_left_to_itself_it_takes_a_sentence_of_the_validation_split(
        self, tmp_path: Path
    ) -> None:
        run = text_run(max_steps=1)
        corpus = text_corpus(run)
        record(run, tmp_path / "run", corpus=corpus)
        (text,) = {frame.translation.source_text for frame in read_film(tmp_path / "run")}
        assert text in corpus.validation_texts.source

    def test_for_the_copy_task_it_takes_the_symbols_in_order(self, tmp_path: Path) -> None:
        record(copy_run(max_steps=1), tmp_path / "run")
        assert read_film(tmp_path / "run")[0].translation.source_text == "1 2 3 4 5 6 7 8 9 10"

    @pytest.mark.slow
    def test_a_resumed_run_goes_on_with_the_same_film(self, tmp_path: Path) -> None:
        run, folder = text_run(num_epochs=3), tmp_path / "run"
        record(run, folder, probe="ein hund rennt .", stop_after=8)
        record(run, folder, resume=True)
        film = read_film(folder)
        assert [frame.step for frame in film] == [0, 8, 16, 24]
        assert {frame.translation.source_text for frame in film} == {"ein hund rennt ."}

    def test_frames_of_a_future_that_was_lost_are_made_anew(self, tmp_path: Path) -> None:
        run, folder = text_run(num_epochs=3), tmp_path / "run"
        record(run, folder, stop_after=9)
        stray = list(frame_paths(folder).values())[-1]
        stray.rename(stray.with_name("frame-00000016.safetensors"))
        record(run, folder, resume=True, stop_after=2)
        assert [frame.step for frame in read_film(folder)] == [0, 8, 11]

    def test_a_probe_that_cannot_be_read_is_refused_before_anything_is_written(
        self, tmp_path: Path
    ) -> None:
        with pytest.raises(TextError, match="nothing to translate"):
            record(text_run(), tmp_path / "run", probe="  ")
        assert not (tmp_path / "run").exists()
