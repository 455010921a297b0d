from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.duration import Speed
from augenmerk.core.extensions.training.events import TrainingRequest
from augenmerk.viz_app.extensions.train.run import settings as run_settings
from augenmerk.viz_app.extensions.train.run.choices import RunChoices


@pytest.fixture
def settings(tmp_path: Path) -> QSettings:
    return QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)


def reopened(settings: QSettings) -> QSettings:
    """The same settings as a later start of the app reads them from the disk."""
    settings.sync()
    return QSettings(settings.fileName(), QSettings.Format.IniFormat)


def test_choices_are_as_they_were_at_the_next_start(settings: QSettings, tmp_path: Path) -> None:
    typed = {"training.num_epochs": "7", "model.dropout": "much", "data.target_language": "fr"}
    choices = RunChoices(
        "notebook", "folder", "/data/pairs", "cuda:1", tmp_path / "runs", settings=typed
    )
    run_settings.save_choices(settings, choices)
    assert run_settings.load_choices(reopened(settings)) == choices


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"model.width": 3, "model.widht": "8", "model.heads": ""}', "[" * 10**5]
)
def test_damaged_or_unknown_settings_are_those_of_the_preset(
    settings: QSettings, text: str
) -> None:
    run_settings.save_choices(settings, RunChoices.default())
    settings.setValue("train/settings", text)
    assert run_settings.load_choices(settings) == RunChoices.default()


def test_first_start_finds_the_default(settings: QSettings) -> None:
    assert run_settings.load_choices(settings) == RunChoices.default()


def test_preset_that_is_gone_gives_the_default(settings: QSettings) -> None:
    run_settings.save_choices(settings, replace(RunChoices.default(), preset="notebook"))
    settings.setValue("train/preset", "no-such-preset")
    assert run_settings.load_choices(settings) == RunChoices.default()


def test_unfinished_run_is_found_again_as_long_as_its_checkpoint_stands(
    settings: QSettings, tmp_path: Path
) -> None:
    last = tmp_path / "last.safetensors"
    last.write_bytes(b"")
    unfinished = run_settings.UnfinishedRun(
        TrainingRequest(preset("notebook"), "multi30k", tmp_path), last, None
    )
    run_settings.save_unfinished(settings, unfinished)
    assert run_settings.load_unfinished(reopened(settings)) == unfinished
    last.unlink()
    assert run_settings.load_unfinished(reopened(settings)) is None


def test_forgotten_run_is_not_found(settings: QSettings, tmp_path: Path) -> None:
    last = tmp_path / "last.safetensors"
    last.write_bytes(b"")
    run_settings.save_unfinished(
        settings,
        run_settings.UnfinishedRun(
            TrainingRequest(preset("copy-task"), "copy", tmp_path), last, tmp_path / "best"
        ),
    )
    run_settings.forget_unfinished(settings, tmp_path / "another")
    assert run_settings.load_unfinished(settings) is not None, "another run ended"
    run_settings.forget_unfinished(settings, tmp_path)
    assert run_settings.load_unfinished(settings) is None


@pytest.mark.parametrize("text", ["{", "[]", '{"last_checkpoint": 3}', '{"run": {}}'])
def test_damaged_note_of_a_run_is_ignored(settings: QSettings, text: str) -> None:
    settings.setValue("train/unfinished", text)
    assert run_settings.load_unfinished(settings) is None


def test_speeds_are_those_of_the_machine_that_was_measured(settings: QSettings) -> None:
    speeds = {"cpu": Speed(0.001, 1 / 50e9), "auto": Speed(0.0, 1 / 9e12)}
    run_settings.save_speeds(settings, "desk", speeds)
    assert run_settings.load_speeds(settings, "desk") == speeds
    assert run_settings.load_speeds(settings, "another desk") == {}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"machine": "desk"}', '{"machine": "desk", "speeds": {"cpu": [1]}}']
)
def test_damaged_speeds_are_measured_again(settings: QSettings, text: str) -> None:
    settings.setValue("train/speeds", text)
    assert run_settings.load_speeds(settings, "desk") == {}
