"""A model is trained further, or teaches, on other data than its own: these are read with its
vocabulary."""

import dataclasses
from pathlib import Path

import pytest

from augenmerk.core.checkpoint.file import Checkpoint, load_checkpoint, model_digest
from augenmerk.core.cli.main import main
from augenmerk.core.config import RunConfig
from augenmerk.core.errors import CheckpointError, ConfigError
from augenmerk.core.extensions.run_settings.toml_file import read_toml, to_toml
from augenmerk.core.extensions.training.corpora.loading import load_corpus
from augenmerk.core.extensions.training.corpora.prepared import (
    PreparedCorpus,
    prepare,
    save_prepared,
)
from augenmerk.core.extensions.training.events import ChangedDataError, StepDone, TrainingEvent
from augenmerk.core.extensions.training.inputs import codecs_to_keep
from augenmerk.core.run_files import BEST, LAST, RUN_SETTINGS
from tests.builders import command_line
from tests.core.extensions.training.runs import record, sentences, text_run

RUN = text_run({"dropout": 0.1}, num_epochs=2)
FURTHER = dataclasses.replace(RUN, training=RUN.training.replace(num_epochs=3, learning_rate=1e-4))
TAUGHT = dataclasses.replace(FURTHER, training=FURTHER.training.replace(distillation=0.5))
OTHER_WORDS = {"hund": "kater", "dog": "tomcat", "zug": "bus", "train": "bus"}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    record(RUN, folder)
    return folder / BEST


@pytest.fixture
def other_data(tmp_path: Path) -> Path:
    """A folder of fewer sentences, with words that the model has not met."""
    folder = tmp_path / "other"
    folder.mkdir()
    for split, pairs in (("train", sentences(60, seed=5)), ("val", sentences(20, seed=6))):
        for language, lines in (("de", pairs.source), ("en", pairs.target)):
            words = [
                " ".join(OTHER_WORDS.get(word, word) for word in line.split()) for line in lines
            ]
            (folder / f"{split}.{language}").write_text("\n".join(words) + "\n", encoding="utf-8")
    return folder


def read(data: Path, run: RunConfig, model: Checkpoint) -> PreparedCorpus:
    return load_corpus(data, run, codecs=codecs_to_keep(run, data / "no run", initial=model))


@pytest.mark.training
def test_other_data_are_read_with_the_vocabulary_of_the_model(
    tmp_path: Path, trained: Path, other_data: Path
) -> None:
    model = load_checkpoint(trained)
    corpus = read(other_data, FURTHER, model)
    assert (
        corpus.codecs.to_dict()
        == model.codecs.to_dict()
        != load_corpus(other_data, FURTHER).codecs.to_dict()
    )
    record(FURTHER, tmp_path / "run", corpus=corpus, initial=model)
    known = load_checkpoint(tmp_path / "run" / LAST)
    assert known.codecs.to_dict() == model.codecs.to_dict()
    assert known.run.training.initial_model == model_digest(model)
    assert model.word_counts is not None
    assert known.word_counts is not None
    assert model.word_counts.counts.items() <= known.word_counts.counts.items(), (
        "it is larger: its counts stay"
    )
    assert known.word_counts.counts["kater"] > 0 == model.word_counts.of("kater")


@pytest.mark.slow
@pytest.mark.training
@pytest.mark.parametrize("taught", [False, True])
def test_the_run_is_resumed_to_the_last_bit_without_naming_the_initial_model(
    tmp_path: Path, trained: Path, other_data: Path, taught: bool
) -> None:
    """Teachers are named again; the vocabulary is that of the run's own checkpoint either way."""
    model = load_checkpoint(trained)
    run, teachers = (TAUGHT, [model]) if taught else (FURTHER, [])
    initial = None if taught else model
    corpus = load_corpus(
        other_data, run, codecs=codecs_to_keep(run, tmp_path, initial=initial, teachers=teachers)
    )
    _, whole = record(run, tmp_path / "whole", corpus=corpus, initial=initial, teachers=teachers)
    folder = tmp_path / "parts"
    _, parts = record(run, folder, corpus=corpus, initial=initial, teachers=teachers, stop_after=5)
    for settings in (run, read_toml(folder / RUN_SETTINGS)):
        again = load_corpus(
            other_data, settings, codecs=codecs_to_keep(settings, folder, resume=True)
        )
        assert again.digest == corpus.digest
        _, more = record(
            settings, folder, corpus=again, resume=True, teachers=teachers, stop_after=3
        )
        parts.events += more.events
    assert parts.losses == whole.losses[:11]


@pytest.mark.training
def test_every_run_that_is_resumed_keeps_its_vocabulary_and_notices_other_data(
    tmp_path: Path, other_data: Path
) -> None:
    record(RUN, tmp_path, stop_after=2)
    codecs = codecs_to_keep(RUN, tmp_path, resume=True)
    assert codecs is not None
    assert codecs.to_dict() == load_checkpoint(tmp_path / LAST).codecs.to_dict()
    corpus = load_corpus(other_data, RUN, codecs=codecs)
    with pytest.raises(
        ChangedDataError, match=r"The training data \(other\) has changed since this run"
    ):
        record(RUN, tmp_path, corpus=corpus, resume=True)
    wider = dataclasses.replace(RUN, model=RUN.model.replace(width=64))
    with pytest.raises(CheckpointError, match=r"model\.width was 32 and is now 64"):
        codecs_to_keep(wider, tmp_path, resume=True)
    with pytest.raises(
        CheckpointError, match=r"There is nothing to resume from: .*last\.safetensors"
    ):
        codecs_to_keep(RUN, tmp_path / "none", resume=True)


@pytest.mark.slow
@pytest.mark.training
def test_a_run_of_an_earlier_version_keeps_its_vocabulary_and_its_batches(
    tmp_path: Path, other_data: Path
) -> None:
    """The source vocabulary of `annotated-2018` had a start and an end token that its sentences do
    not have."""
    wrapped, bare = RUN.data, RUN.data.replace(wrap_source=False)
    run = dataclasses.replace(
        RUN, data=bare, training=RUN.training.replace(batch_unit="tokens", batch_size=80)
    )
    codecs = load_corpus(other_data, dataclasses.replace(run, data=wrapped)).codecs
    corpus = load_corpus(other_data, run, codecs=codecs)
    _, whole = record(run, tmp_path / "whole", corpus=corpus)
    folder = tmp_path / "parts"
    _, first = record(run, folder, corpus=corpus, stop_after=5)
    settings = read_toml(folder / RUN_SETTINGS)
    again = load_corpus(other_data, settings, codecs=codecs_to_keep(settings, folder, resume=True))
    assert again.digest == corpus.digest
    assert (
        len(again.codecs.source.vocabulary)
        == len(load_corpus(other_data, run).codecs.source.vocabulary) + 2
    )
    _, second = record(settings, folder, corpus=again, resume=True)
    assert [*first.losses, *second.losses] == whole.losses


@pytest.mark.training
def test_a_run_that_ended_before_its_first_checkpoint_takes_the_vocabulary_of_the_model_that_is_named_again(
    tmp_path: Path, trained: Path, other_data: Path
) -> None:
    def crash(event: TrainingEvent) -> None:
        if isinstance(event, StepDone):
            raise KeyboardInterrupt

    model = load_checkpoint(trained)
    with pytest.raises(KeyboardInterrupt):
        record(
            FURTHER,
            tmp_path / "run",
            corpus=read(other_data, FURTHER, model),
            initial=model,
            on_event=crash,
        )
    own = read_toml(tmp_path / "run" / RUN_SETTINGS)
    with pytest.raises(
        ConfigError, match=r"initial_model is [0-9a-f]{64}, but no model was given\. Give its file"
    ):
        codecs_to_keep(own, tmp_path / "run", resume=True)
    assert codecs_to_keep(own, tmp_path / "run", resume=True, initial=model) is model.codecs


@pytest.mark.training
def test_other_data_settings_are_refused_and_named(tmp_path: Path, trained: Path) -> None:
    model = load_checkpoint(trained)

    def refusal(**data: object) -> str:
        run = dataclasses.replace(TAUGHT, data=RUN.data.replace(**data))
        messages = []
        for models in ({"initial": model}, {"teachers": [model]}):
            with pytest.raises(CheckpointError) as caught:
                codecs_to_keep(run, tmp_path, **models)  # type: ignore[arg-type]  # as named
            messages.append(str(caught.value).partition(" reads text with other settings: "))
        assert [message[0] for message in messages] == ["The model to begin with", "Teacher 1"]
        assert messages[0][2] == messages[1][2]
        return messages[0][2]

    said = refusal(source_case="keep", num_subwords=90, max_length=50)
    assert said.startswith(
        "source_case is 'lower' there and 'keep' here; num_subwords is None there and 90 here. Its"
    )
    assert "leave these out, as it brings them along, or choose another model" in said
    assert "source_language is 'de' there and 'fr' here. Its vocabulary" in refusal(
        source_language="fr"
    )
    assert "min_frequency is 2 there and 1 here. Its vocabulary" in refusal(min_frequency=1)
    shorter = dataclasses.replace(RUN, data=RUN.data.replace(max_length=50))
    assert codecs_to_keep(shorter, tmp_path, initial=model) is model.codecs, (
        "which pairs there are is free"
    )


@pytest.mark.training
def test_settings_that_change_no_vocabulary_are_refused_too_if_they_change_ids(
    tmp_path: Path, trained: Path
) -> None:
    run = dataclasses.replace(FURTHER, data=RUN.data.replace(wrap_source=False))
    model = load_checkpoint(trained)
    corpus = prepare(
        "made up",
        run.data,
        sentences(120),
        sentences(30, seed=1),
        lambda text: None,
        codecs=model.codecs,
    )
    with pytest.raises(
        CheckpointError, match=r"model to begin with reads text with .* wrap_source is True there"
    ):
        record(run, tmp_path / "run", corpus=corpus, initial=model)
    taught = dataclasses.replace(TAUGHT, data=run.data)
    with pytest.raises(
        CheckpointError, match="Teacher 1 reads text with other settings: wrap_source is True there"
    ):
        record(taught, tmp_path / "run", corpus=corpus, teachers=[model])


@pytest.mark.slow
@pytest.mark.training
def test_on_the_command_line(
    tmp_path: Path, trained: Path, other_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "further.toml").write_text(to_toml(FURTHER), encoding="utf-8")
    (tmp_path / "taught.toml").write_text(to_toml(TAUGHT), encoding="utf-8")
    vocabulary = load_checkpoint(trained).codecs.to_dict()

    def train(out: str, *more: object, data: Path = other_data) -> int:
        words = ["train", "--data", data, "--out", tmp_path / out, "--device", "cpu", *more]
        return main([str(word) for word in words])

    begun = ["--config", tmp_path / "further.toml", "--initial-model", trained]
    assert train("run", *begun, "--max-steps", 2) == 0
    assert train("run", "--resume", "--max-steps", 4) == 0
    known = load_checkpoint(tmp_path / "run" / LAST, with_state=True)
    assert (known.progress["step"], known.codecs.to_dict()) == (4, vocabulary)

    taught = ["--config", tmp_path / "taught.toml", "--teacher", trained]
    assert train("student", *taught, "--max-steps", 2) == 0
    assert train("student", "--resume", "--teacher", trained, "--max-steps", 4) == 0
    assert load_checkpoint(tmp_path / "student" / LAST).codecs.to_dict() == vocabulary

    pair = command_line(
        "--source {} --target {} --out {}",
        other_data / "train.de",
        other_data / "train.en",
        tmp_path / "pair",
    )
    assert (
        main([str(word) for word in ["train", *pair, "--device", "cpu", *begun, "--max-steps", 1]])
        == 0
    )
    assert load_checkpoint(tmp_path / "pair" / LAST).codecs.to_dict() == vocabulary

    capsys.readouterr()
    assert train("refused", *begun, "--set", "data.target_case=keep") == 2
    assert "target_case is 'lower' there and 'keep' here" in capsys.readouterr().err
    save_prepared(load_corpus(other_data, FURTHER), tmp_path / "prepared.safetensors")
    assert train("refused", *begun, data=tmp_path / "prepared.safetensors") == 2
    said = capsys.readouterr().err
    assert (
        "The corpus gives another vocabulary than that of the initial model. Use text (a folder, "
        "or two files)" in said
    )
    assert not (tmp_path / "refused").exists() or not list((tmp_path / "refused").iterdir())
