"""All settings of a run, edited with real clicks and keys."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QSettings, Qt
from PySide6.QtWidgets import QApplication, QCheckBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.core.extensions.run_settings.dotted import dotted_settings, value_of, with_dotted
from augenmerk.core.extensions.run_settings.presets import PRESETS, preset
from augenmerk.core.extensions.run_settings.toml_file import read_toml
from augenmerk.core.run_files import RUN_SETTINGS
from augenmerk.viz_app.extensions.train.page import TrainPage
from augenmerk.viz_app.extensions.train.run.form import AllSettings, SettingRow
from augenmerk.viz_app.extensions.train.state import Status
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.widgets.buttons import ChoiceMenu
from tests.viz_app.builders import settle_layout

MakePage = Callable[[], TrainPage]


@pytest.fixture
def make_page(qtbot: QtBot, tmp_path: Path, theme: Theme) -> Iterator[MakePage]:
    """Opens Train pages with the settings of the previous one, at the size that they have in a
    small window."""
    pages = []

    def make() -> TrainPage:
        page = TrainPage(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))
        qtbot.addWidget(page)
        page.resize(1064, 640)
        with qtbot.waitExposed(page):
            page.show()
        pages.append(page)
        return page

    yield make
    for page in pages:
        page.shutdown()


@pytest.fixture
def page(make_page: MakePage, tmp_path: Path) -> TrainPage:
    page = make_page()
    choices = replace(
        page.form.choices(), preset="copy-task-small", device="cpu", parent_folder=tmp_path / "runs"
    )
    page.form.set_choices(choices)
    return page


def opened(page: TrainPage, qtbot: QtBot) -> AllSettings:
    qtbot.mouseClick(page.form.settings_button, Qt.MouseButton.LeftButton)
    assert page.all_settings is not None
    assert page.all_settings.isVisible()
    return page.all_settings


def type_into(qtbot: QtBot, control: QWidget, text: str) -> None:
    assert isinstance(control, QLineEdit)
    control.selectAll()
    qtbot.keyClick(control, Qt.Key.Key_Delete)
    qtbot.keyClicks(control, text)


def shown(row: SettingRow) -> str:
    """The value in the field, as it would be typed."""
    control = row.control
    if isinstance(control, QCheckBox):
        return str(control.isChecked()).lower()
    return (
        control.choice
        if isinstance(control, ChoiceMenu)
        else control.text() or control.placeholderText()
    )


@pytest.mark.heavy
def test_every_setting_that_the_command_line_accepts_has_a_field_and_no_other(
    page: TrainPage, qtbot: QtBot
) -> None:
    settings = opened(page, qtbot)
    assert list(settings.rows) == list(dotted_settings())
    words = [f"{name}={shown(row)}" for name, row in settings.rows.items()]
    assert with_dotted(preset("notebook"), words).model == preset("copy-task-small").model


@pytest.mark.heavy
def test_the_settings_of_a_preset_are_shown_as_published(page: TrainPage, qtbot: QtBot) -> None:
    settings = opened(page, qtbot)
    for name, run in PRESETS.items():
        page.form.set_choices(page.form.choices().with_preset(name))
        for dotted, row in settings.rows.items():
            assert dotted_settings()[dotted].read(shown(row)) == value_of(run, dotted), name
            assert not row.restore_button.isVisible(), name
        assert not settings.restore_button.isEnabled(), name
        assert page.form.choices().run_config() == run


@pytest.mark.heavy
def test_a_wrong_value_is_explained_next_to_its_field_while_typing_and_start_is_disabled(
    page: TrainPage, qtbot: QtBot
) -> None:
    row = opened(page, qtbot).rows["model.dropout"]
    start = page.panel.start_button
    assert start.isEnabled()
    type_into(qtbot, row.control, "1.5")
    assert "number of at least 0 and less than 1." in row.problem.shown_text()
    assert (
        page.panel.message.text()
        == "model.dropout is '1.5'. Enter a number of at least 0 and less than 1."
    )
    assert row.problem.isVisible()
    assert not start.isEnabled()
    type_into(qtbot, row.control, "0.15")
    assert not row.problem.isVisible()
    assert not page.panel.message.isVisible()
    assert start.isEnabled()


@pytest.mark.heavy
def test_settings_that_do_not_fit_together_are_explained_as_by_the_configuration(
    page: TrainPage, qtbot: QtBot
) -> None:
    settings = opened(page, qtbot)
    type_into(qtbot, settings.rows["model.num_heads"].control, "5")
    assert (
        "The width (64) must be a multiple of the number of heads (5), for example 60."
        in settings.problem.text()
    )
    assert settings.problem.isVisible()
    assert settings.problem.text() == page.panel.message.text()
    assert not page.panel.start_button.isEnabled()
    type_into(qtbot, settings.rows["model.width"].control, "60")
    assert settings.problem.text() == ""
    assert page.panel.start_button.isEnabled()


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "text"), [("model.width", "1"), ("model.width", "none"), ("model.dropout", "1.5")]
)
def test_a_message_moves_no_row_while_typing_and_keeps_a_right_margin(
    page: TrainPage, qtbot: QtBot, name: str, text: str
) -> None:
    settings = opened(page, qtbot)
    row = settings.rows[name]
    type_into(qtbot, row.control, "0")
    settle_layout()

    def positions() -> list[int]:
        return [row.mapTo(settings, QPoint()).y() for row in settings.rows.values()]

    type_into(qtbot, row.control, row.restore_button.text().removeprefix("↺ "))
    settle_layout()
    before = positions()
    type_into(qtbot, row.control, text)
    settle_layout()
    shown_problems = [
        label for label in (settings.problem, row.problem) if label.text() and label.isVisible()
    ]
    assert len(shown_problems) == 1
    problem = shown_problems[0]
    assert positions() == before
    assert problem.mapTo(settings, QPoint(problem.width(), 0)).x() <= settings.width() - 12


@pytest.mark.slow
@pytest.mark.heavy
def test_reopened_settings_are_all_shown(page: TrainPage, qtbot: QtBot) -> None:
    settings = opened(page, qtbot)
    qtbot.keyClicks(settings.filter_edit, "dropout")
    qtbot.mouseClick(settings.close_button, Qt.MouseButton.LeftButton)
    opened(page, qtbot)
    assert settings.filter_edit.text() == ""
    assert all(row.isVisibleTo(settings) for row in settings.rows.values())


@pytest.mark.heavy
def test_what_differs_is_marked_and_restored_one_by_one_or_all_at_once(
    page: TrainPage, qtbot: QtBot
) -> None:
    settings = opened(page, qtbot)
    dropout, smoothing = settings.rows["model.dropout"], settings.rows["training.label_smoothing"]
    norm, scale = settings.rows["model.norm_position"], settings.rows["model.scale_embeddings"]
    type_into(qtbot, dropout.control, "0.3")
    type_into(qtbot, smoothing.control, "0.2")
    qtbot.keyClick(norm.control, Qt.Key.Key_Up)
    qtbot.keyClick(scale.control, Qt.Key.Key_Space)
    for row in (dropout, smoothing, norm, scale):
        assert row.restore_button.isVisible()
        assert row.name.property("role") == "warm"
    assert [shown(row) for row in (dropout, smoothing, norm, scale)] == [
        "0.3",
        "0.2",
        "post",
        "false",
    ]
    assert settings.restore_button.text() == "Restore all (4)"
    assert settings.restore_button.toolTip() == "Reset all settings to the preset"
    assert dropout.restore_button.text() == "↺ 0.1"
    qtbot.mouseClick(dropout.restore_button, Qt.MouseButton.LeftButton)
    assert shown(dropout) == "0.1"
    assert not dropout.restore_button.isVisible()
    assert settings.restore_button.text() == "Restore all (3)"
    qtbot.mouseClick(settings.restore_button, Qt.MouseButton.LeftButton)
    assert page.form.choices().run_config() == preset("copy-task-small")
    assert [shown(row) for row in (smoothing, norm, scale)] == ["0", "pre", "true"]


@pytest.mark.heavy
def test_both_parts_of_the_form_show_the_same_settings(page: TrainPage, qtbot: QtBot) -> None:
    form, settings = page.form, opened(page, qtbot)
    type_into(qtbot, form.layers_edit, "3")
    layers = settings.rows["model.num_encoder_layers"], settings.rows["model.num_decoder_layers"]
    assert [shown(row) for row in layers] == ["3", "3"]
    type_into(qtbot, layers[1].control, "4")
    assert (form.layers_edit.text(), form.layers_edit.placeholderText()) == ("", "3 + 4")
    qtbot.keyClick(settings.rows["training.schedule"].control, Qt.Key.Key_Up)
    assert settings.rows["training.schedule"].restore_button.isVisible()
    type_into(qtbot, form.rate_edit, "1e-3")
    assert shown(settings.rows["training.learning_rate"]) == "1e-3"


@pytest.mark.heavy
def test_settings_are_found_by_name_and_description(page: TrainPage, qtbot: QtBot) -> None:
    settings = opened(page, qtbot)
    assert QApplication.focusWidget() is settings.filter_edit
    qtbot.keyClicks(settings.filter_edit, "rate rises during")
    names = [name for name, row in settings.rows.items() if row.isVisible()]
    assert names == ["training.schedule", "training.warmup_steps"]
    settings.filter_edit.clear()
    assert all(row.isVisibleTo(settings) for row in settings.rows.values())


@pytest.mark.heavy
def test_each_field_is_reached_by_tab_and_scrolled_into_sight(
    page: TrainPage, qtbot: QtBot
) -> None:
    settings = opened(page, qtbot)
    last = list(settings.rows.values())[-1].control
    controls = {row.control for row in settings.rows.values()}
    reached = set()
    for _ in range(3 * len(controls)):
        focused = QApplication.focusWidget()
        assert focused is not None
        if focused in controls:
            reached.add(focused)
            assert not focused.visibleRegion().isEmpty()
        if focused is last:
            break
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    assert reached == {control for control in controls if control.isEnabled()}


@pytest.mark.heavy
def test_languages_that_follow_from_the_data_cannot_be_edited(
    page: TrainPage, qtbot: QtBot, tmp_path: Path
) -> None:
    settings = opened(page, qtbot)
    page.form.set_choices(replace(page.form.choices(), preset="multi30k"))
    language = settings.rows["data.target_language"].control
    assert not language.isEnabled()
    page.form.set_choices(replace(page.form.choices(), data_kind="folder", data_path=str(tmp_path)))
    assert language.isEnabled()


@pytest.mark.heavy
def test_all_settings_are_hidden_at_first_and_give_way_to_the_run(
    page: TrainPage, qtbot: QtBot
) -> None:
    assert page.all_settings is None
    settings = opened(page, qtbot)
    qtbot.mouseClick(settings.close_button, Qt.MouseButton.LeftButton)
    assert not settings.isVisible()
    opened(page, qtbot)
    qtbot.mouseClick(page.panel.start_button, Qt.MouseButton.LeftButton)
    assert not settings.isVisible()
    page.controller.stop("discard")
    qtbot.waitUntil(lambda: not page.is_running(), timeout=120_000)


@pytest.mark.training
@pytest.mark.slow
def test_a_run_is_trained_resumed_and_repeated_with_the_edited_settings(
    page: TrainPage, make_page: MakePage, qtbot: QtBot
) -> None:
    settings = opened(page, qtbot)
    type_into(qtbot, page.form.epochs_edit, "40")
    for name, text in (
        ("data.copy_training_pairs", "120"),
        ("model.feed_forward_width", "32"),
        ("training.label_smoothing", "0.1"),
        ("training.clip_norm", "1"),
        ("training.warmup_steps", "5"),
        ("training.sample_size", "0"),
    ):
        type_into(qtbot, settings.rows[name].control, text)
    qtbot.keyClick(settings.rows["model.norm_position"].control, Qt.Key.Key_Up)
    qtbot.keyClick(settings.rows["training.deterministic"].control, Qt.Key.Key_Space)
    expected = page.form.choices().run_config()
    assert expected.model.norm_position == "post"
    assert expected.training.deterministic
    qtbot.mouseClick(page.panel.start_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(page.state.run.curves.training_loss) >= 1, timeout=120_000)
    qtbot.mouseClick(page.panel.pause_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.is_running(), timeout=120_000)
    assert page.state.run.folder is not None
    assert read_toml(page.state.run.folder / RUN_SETTINGS) == expected
    assert page.state.run.is_paused
    qtbot.mouseClick(page.panel.resume_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.is_running(), timeout=120_000)
    assert page.state.run.status is Status.FINISHED, page.notice_bar.text()
    assert page.state.run.finish is not None
    assert page.state.run.finish.reason == "completed"
    assert read_toml(page.state.run.folder / RUN_SETTINGS) == expected
    qtbot.mouseClick(page.panel.switch_button, Qt.MouseButton.LeftButton)
    assert page.form.choices().run_config() == expected, "New run… repeats the settings"
    assert make_page().form.choices().run_config() == expected, "and so does the next start"
