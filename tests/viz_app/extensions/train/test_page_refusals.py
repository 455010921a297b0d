"""What the page does, training for real, with runs that are refused or that cannot go on."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.config import RunConfig
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.prepared import save_prepared
from augenmerk.core.extensions.training.events import TrainingRequest
from augenmerk.core.extensions.training.folder import locked
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.run_files import LAST
from augenmerk.viz_app.extensions.train.page import TrainPage
from augenmerk.viz_app.extensions.train.state import Status
from augenmerk.viz_app.extensions.widgets.max_lines_label import MaxLinesLabel
from augenmerk.viz_app.theme import Theme
from tests.core.extensions.training.runs import copy_run, record, sentences, text_corpus, text_run
from tests.viz_app.builders import settle_layout

pytestmark = pytest.mark.training

TIMEOUT_MS = 120_000
RUN = copy_run(num_epochs=2, sample_size=0, schedule="constant", learning_rate=1e-3)


@pytest.fixture
def page(qtbot: QtBot, tmp_path: Path) -> Iterator[TrainPage]:
    page = TrainPage(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))
    qtbot.addWidget(page)
    page.form.set_choices(
        replace(page.form.choices(), device="cpu", parent_folder=tmp_path / "runs")
    )
    page.resize(1200, 760)
    with qtbot.waitExposed(page):
        page.show()
    yield page
    page.shutdown()


def train(page: TrainPage, qtbot: QtBot, run: RunConfig, folder: Path, **more: Any) -> None:
    page.run_actions.begin(
        TrainingRequest(run, more.pop("source", "copy"), folder, device="cpu", **more)
    )
    wait_for_end(page, qtbot)


def wait_for_end(page: TrainPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not page.is_running(), timeout=TIMEOUT_MS)


def click_proposal(page: TrainPage, qtbot: QtBot) -> None:
    assert page.notice_bar.action_buttons[0].isVisible()
    qtbot.mouseClick(page.notice_bar.action_buttons[0], Qt.MouseButton.LeftButton)


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def begun(folder: Path, run: RunConfig = RUN) -> dict[Path, bytes]:
    """A run of 3 steps in `folder`, and the bytes of its files."""
    record(run, folder, stop_after=3)
    return files(folder)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run", "resume", "said"),
    [
        (
            copy_run({"width": 32}, schedule="constant", learning_rate=1e-3),
            True,
            "model.width was 16 and is now 32",
        ),
        (RUN, False, "already contains a run"),
        (
            replace(RUN, training=RUN.training.replace(batch_size=57)),
            True,
            "batch_size is 57 sentence pairs",
        ),
    ],
    ids=["another architecture", "a folder that holds a run", "a batch larger than the corpus"],
)
def test_what_is_refused_is_said_and_the_run_stays_byte_for_byte(
    page: TrainPage, qtbot: QtBot, tmp_path: Path, run: RunConfig, resume: bool, said: str
) -> None:
    before = begun(tmp_path / "run")
    train(page, qtbot, run, tmp_path / "run", resume=resume)
    assert page.state.run.status is Status.FAILED
    assert said in page.notice_bar.text()
    assert not page.notice_bar.details_button.isVisible(), (
        "it is an error for people, not of the program"
    )
    assert files(tmp_path / "run") == before


def test_a_failed_download_says_in_two_lines_what_to_do_in_the_window(
    page: TrainPage,
    qtbot: QtBot,
    qapp: QApplication,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Theme.light().apply(qapp)
    page.resize(1064, 620)  # in a window of 1100 × 700 pixels
    train(page, qtbot, preset("multi30k"), tmp_path / "run", source="multi30k")
    settle_layout()
    assert page.notice_bar.text() == (
        "Training failed\nThe download from raw.githubusercontent.com/…/train.de.gz failed: the "
        "connection to the server failed. Check the connection and try again, or choose your own "
        "copy under “data” in a new run."
    )
    lines = page.notice_bar.findChild(MaxLinesLabel)
    assert isinstance(lines, MaxLinesLabel)
    assert not lines.verticalScrollBar().isVisible()


@pytest.mark.parametrize(
    ("run", "source"),
    [
        (copy_run(distillation=0.5), "copy"),
        (copy_run(initial_model="0" * 64), "copy"),
        (text_run(num_epochs=1, sample_size=0, batch_size=8), "prepared"),
    ],
)
def test_a_refusal_names_no_option_of_a_command(
    page: TrainPage, qtbot: QtBot, tmp_path: Path, run: RunConfig, source: str
) -> None:
    data: str | Path = source
    if source == "prepared":
        data = tmp_path / "other.safetensors"
        save_prepared(text_corpus(run, number=9), data)
        run = replace(run, data=run.data.replace(min_frequency=7))
    train(page, qtbot, run, tmp_path / "run", source=data)
    assert page.state.run.status is Status.FAILED
    assert "--" not in page.notice_bar.text()


def test_another_vocabulary_is_said_and_the_run_stays_byte_for_byte(
    page: TrainPage, qtbot: QtBot, tmp_path: Path
) -> None:
    run = text_run(num_epochs=1, sample_size=0, batch_size=8)
    before = begun(tmp_path / "run", run)
    save_prepared(text_corpus(run, number=9), tmp_path / "other.safetensors")
    train(page, qtbot, run, tmp_path / "run", resume=True, source=tmp_path / "other.safetensors")
    assert "it even has another vocabulary" in page.notice_bar.text()
    assert files(tmp_path / "run") == before


@pytest.mark.slow
def test_settings_that_do_not_fit_a_small_corpus_are_corrected_by_one_click(
    page: TrainPage, qtbot: QtBot, tmp_path: Path
) -> None:
    pairs = sentences(128)
    for language, lines in (("de", list(pairs.source)), ("en", list(pairs.target))):
        lines[56] = " ".join(lines[:20])
        (tmp_path / f"train.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    typed = {
        "model.width": "16",
        "model.num_heads": "2",
        "model.max_positions": "40",
        "training.max_steps": "1",
    }
    choices = replace(
        page.form.choices(), preset="multi30k", data_kind="folder", data_path=str(tmp_path)
    )
    page.form.set_choices(replace(choices, settings=typed | {"training.batch_size": "9000"}))
    page.panel.start_button.click()
    wait_for_end(page, qtbot)
    assert page.state.run.status is Status.FAILED
    said = page.notice_bar.text()
    assert said.startswith("The data do not fit the settings")
    assert "8,000 subwords cannot be learned" in said
    assert "Line 57 of the training text" in said
    assert "--set" not in said
    assert said.endswith("tokens.")
    assert page.notice_bar.action_buttons[0].text() == "Start with these settings"
    click_proposal(page, qtbot)
    wait_for_end(page, qtbot)
    assert page.state.run.status is Status.FINISHED, page.notice_bar.text()
    assert (
        "Training uses 121 of 128 pairs: 1 too long, 6 held out for validation."
        in page.notice_bar.text()
    )
    settings = page.form.choices().settings
    assert settings["data.max_length"] == "38", "the form has them, too"
    assert settings.keys() == {
        *typed,
        "data.num_subwords",
        "data.max_length",
        "training.batch_size",
    }
    assert int(settings["training.batch_size"]) < 9000


def written(folder: Path, number: int = 40) -> Path:
    pairs = sentences(number)
    folder.mkdir()
    for language, lines in (("de", pairs.source), ("en", pairs.target)):
        (folder / f"train.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.mark.slow
def test_pairs_too_long_for_every_limit_are_corrected_by_one_click(
    page: TrainPage, qtbot: QtBot, tmp_path: Path
) -> None:
    typed = {
        "model.width": "16",
        "model.num_heads": "2",
        "model.max_positions": "4",
        "training.max_steps": "1",
    }
    choices = replace(
        page.form.choices(),
        preset="multi30k",
        data_kind="folder",
        data_path=str(written(tmp_path / "d")),
    )
    page.form.set_choices(replace(choices, settings=typed | {"data.max_length": "1"}))
    qtbot.mouseClick(page.panel.start_button, Qt.MouseButton.LeftButton)
    wait_for_end(page, qtbot)
    assert page.notice_bar.text().startswith(
        "The data do not fit the settings\n8,000 subwords cannot be learned"
    )
    assert (
        "No training pair of d is left: all 38 are longer than 1 tokens." in page.notice_bar.text()
    )
    click_proposal(page, qtbot)
    wait_for_end(page, qtbot)
    assert page.state.run.status is Status.FINISHED, page.notice_bar.text()
    page.run_actions.open_run(page.state.run.folder or tmp_path)
    assert "2 held out for validation." in page.notice_bar.text(), (
        "a run from the disk says it, too"
    )


@pytest.mark.slow
def test_a_run_whose_files_are_gone_says_what_to_do(
    page: TrainPage, qtbot: QtBot, tmp_path: Path
) -> None:
    train(page, qtbot, replace(RUN, training=RUN.training.replace(max_steps=2)), tmp_path / "run")
    (tmp_path / "run").rename(tmp_path / "elsewhere")
    qtbot.mouseClick(page.panel.resume_button, Qt.MouseButton.LeftButton)
    wait_for_end(page, qtbot)
    said = page.notice_bar.text()
    assert (
        f"There is nothing to resume from: {tmp_path / 'run' / LAST} is missing. Put it back"
        in said
    )
    (tmp_path / "elsewhere").rename(tmp_path / "run")
    qtbot.mouseClick(page.panel.resume_button, Qt.MouseButton.LeftButton)
    wait_for_end(page, qtbot)
    assert page.state.run.status is Status.FINISHED, page.notice_bar.text()


@pytest.mark.slow
def test_changed_data_are_accepted_by_one_click_without_options_of_the_terminal(
    page: TrainPage, qtbot: QtBot, tmp_path: Path
) -> None:
    run, data = (
        text_run(num_epochs=1, max_steps=2, sample_size=0, batch_size=8),
        written(tmp_path / "d"),
    )
    train(page, qtbot, run, tmp_path / "run", source=data)
    lines = (data / "train.de").read_text(encoding="utf-8").splitlines()
    (data / "train.de").write_text("\n".join(reversed(lines)) + "\n", encoding="utf-8")
    qtbot.mouseClick(page.panel.resume_button, Qt.MouseButton.LeftButton)
    wait_for_end(page, qtbot)
    assert page.notice_bar.text().endswith("or accept the new data.")
    click_proposal(page, qtbot)
    wait_for_end(page, qtbot)
    assert page.state.run.status is Status.FINISHED, page.notice_bar.text()


@pytest.mark.slow
def test_a_run_whose_two_files_moved_is_resumed_with_the_data_of_the_form(
    page: TrainPage, qtbot: QtBot, tmp_path: Path
) -> None:
    run, data = (
        text_run(num_epochs=1, max_steps=2, sample_size=0, batch_size=8),
        written(tmp_path / "d"),
    )
    train(page, qtbot, run, tmp_path / "run", source=(data / "train.de", data / "train.en"))
    data.rename(tmp_path / "moved")
    qtbot.mouseClick(page.panel.resume_button, Qt.MouseButton.LeftButton)
    wait_for_end(page, qtbot)
    assert "choose them under “data” in the form of a new run" in page.notice_bar.text()
    assert "--" not in page.notice_bar.text()
    moved = replace(
        page.form.choices(),
        preset="notebook",
        data_kind="folder",
        data_path=str(tmp_path / "moved"),
    )
    page.form.set_choices(moved)
    qtbot.mouseClick(page.panel.resume_button, Qt.MouseButton.LeftButton)
    wait_for_end(page, qtbot)
    assert page.state.run.status is Status.FINISHED, page.notice_bar.text()


@pytest.mark.slow
def test_a_folder_in_which_another_training_is_at_work_is_left_alone(
    page: TrainPage, qtbot: QtBot, tmp_path: Path
) -> None:
    begun(tmp_path / "run")
    with locked(tmp_path / "run"):
        before = files(tmp_path / "run")
        train(page, qtbot, RUN, tmp_path / "run", resume=True)
        assert page.state.run.status is Status.FAILED
        assert "Another training is running in" in page.notice_bar.text()
        assert files(tmp_path / "run") == before
    train(page, qtbot, RUN, tmp_path / "run", resume=True)
    assert page.state.run.status is Status.FINISHED


@pytest.mark.slow
def test_an_absurd_rate_offers_to_go_on_from_the_last_good_checkpoint(
    page: TrainPage, qtbot: QtBot, tmp_path: Path
) -> None:
    begun(tmp_path / "run")
    good = (tmp_path / "run" / LAST).read_bytes()
    absurd = replace(RUN, training=RUN.training.replace(learning_rate=1e39, checkpoint_steps=1))
    train(page, qtbot, absurd, tmp_path / "run", resume=True, changes={"learning_rate": 1e39})
    assert page.state.run.status is Status.FAILED
    assert "a learning rate of 5e+38 instead of 1e+39" in page.notice_bar.text()
    assert "--resume" not in page.notice_bar.text(), "options are for the terminal"
    assert (tmp_path / "run" / LAST).read_bytes() == good
    click_proposal(page, qtbot)
    wait_for_end(page, qtbot)
    assert "a learning rate of 2.5e+38 instead of 5e+38" in page.notice_bar.text(), (
        "still absurd, and said so again"
    )
    assert (tmp_path / "run" / LAST).read_bytes() == good


@pytest.mark.slow
def test_memory_used_up_in_a_forward_pass_offers_a_change_that_works(
    page: TrainPage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward, sizes = Transformer.hidden_states, list[int]()

    def hidden_states(self: Transformer, source: torch.Tensor, *others: Any) -> torch.Tensor:
        sizes.append(len(source))
        if self.training and len(source) == 8 and sizes.count(8) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
        return forward(self, source, *others)

    monkeypatch.setattr(Transformer, "hidden_states", hidden_states)
    run = replace(RUN, training=RUN.training.replace(checkpoint_steps=2))
    train(page, qtbot, run, tmp_path / "run")
    assert page.state.run.status is Status.FAILED
    assert "not enough memory" in page.notice_bar.text()
    assert "a batch size of 4 instead of 8" in page.notice_bar.text()
    assert load_checkpoint(tmp_path / "run" / LAST, with_state=True).progress["step"] == 2
    click_proposal(page, qtbot)
    wait_for_end(page, qtbot)
    assert page.state.run.status is Status.FINISHED, page.notice_bar.text()
    assert load_checkpoint(tmp_path / "run" / LAST).run.training.batch_size == 4
