"""Training and evaluation by the public functions."""

from pathlib import Path
from typing import Any

import pytest

import augenmerk as api
from augenmerk.core.extensions.training.events import StepDone
from tests.core.translators import ENGLISH, GERMAN

SMALL = (
    "training.num_epochs=1",
    "training.max_steps=2",
    "training.batch_size=8",
    "training.warmup_steps=1",
)


@pytest.mark.training
@pytest.mark.heavy
def test_a_model_is_trained_and_opened(tmp_path: Path) -> None:
    for side, lines in (("de", GERMAN), ("en", ENGLISH)):
        (tmp_path / f"train.{side}").write_text("\n".join(lines), encoding="utf-8")
    events: list[api.TrainingEvent] = []
    finished = api.train(
        "notebook",
        tmp_path,
        tmp_path / "run",
        settings=[*SMALL, "model.width=32", "model.num_heads=4", "model.feed_forward_width=32"],
        device="cpu",
        on_event=events.append,
    )
    assert finished.reason == "max_steps"
    assert events[-1] is finished
    translator = api.Translator.load(finished.best_checkpoint)
    assert translator.run_config.model.width == 32
    with pytest.raises(api.TrainingError, match=r"already contains a run\. Resume that run"):
        api.train("notebook", tmp_path, tmp_path / "run", device="cpu")


@pytest.mark.training
@pytest.mark.heavy
def test_a_run_is_resumed_as_its_error_advises(tmp_path: Path) -> None:
    for side, lines in (("de", GERMAN), ("en", ENGLISH)):
        (tmp_path / f"train.{side}").write_text("\n".join(lines), encoding="utf-8")
    model = ["model.width=32", "model.num_heads=4", "model.feed_forward_width=32"]

    def train(*settings: str, **more: Any) -> api.TrainingFinished:
        out = tmp_path / "run"
        return api.train(
            "notebook", tmp_path, out, settings=[*settings, *model], device="cpu", **more
        )

    with pytest.raises(api.CheckpointError, match="no run to resume"):
        train(*SMALL, resume=True)
    train(*SMALL)
    longer = [setting.replace("max_steps=2", "max_steps=3") for setting in SMALL]
    steps: list[int] = []

    def note(event: api.TrainingEvent) -> None:
        if isinstance(event, StepDone):
            steps.append(event.step)

    assert train(*longer, "training.clip_norm=0.5", resume=True, on_event=note).reason == (
        "max_steps"
    )
    assert steps == [3]
    model[0] = "model.width=64"
    with pytest.raises(api.CheckpointError, match="width"):
        train(*longer, resume=True)


@pytest.mark.parametrize(
    ("config", "data", "words"),
    [
        ("notebok", "copy", "There is no preset 'notebok'"),
        ("missing.toml", "copy", "missing.toml"),
        ("notebook", "nowhere", "nowhere"),
    ],
)
def test_wrong_inputs_are_named(tmp_path: Path, config: str, data: str, words: str) -> None:
    with pytest.raises(api.AugenmerkError, match=words):
        api.train(config, data, tmp_path / "run", device="cpu")
    assert not (tmp_path / "run").exists()


@pytest.mark.heavy
def test_pairs_are_scored(word_translator: api.Translator) -> None:
    pairs = list(zip(GERMAN[:3], ENGLISH[:3], strict=True))
    own = [(german, word_translator.translate(german).text) for german, _ in pairs]
    progress: list[tuple[int, int]] = []
    scores = api.evaluate(
        word_translator, own, on_progress=lambda done, total: progress.append((done, total))
    )
    assert scores.sentences == 3
    assert scores.sacrebleu == pytest.approx(100)
    assert progress[-1] == (3, 3)
    assert api.evaluate(word_translator, pairs).sacrebleu < 100
    with pytest.raises(api.CorpusError):
        api.evaluate(word_translator, [])
