"""The window as a person uses it: real keys and clicks, a translator of thin air."""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

import augenmerk.viz_app.main_window
import augenmerk.viz_app.models.loader
from augenmerk.core.errors import TextError
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.model.heads import Head
from augenmerk.core.resources import example_sentences
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.result import ExperimentResult, Translation, TranslationStoppedError
from augenmerk.viz_app.extensions.train.part import TrainPart
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import force, toggle
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from augenmerk.viz_app.state.sentence_text import MAX_CHARACTERS
from augenmerk.viz_app.theme import PAGE_MARGIN, Theme, current_theme
from augenmerk.viz_app.translate.page import TranslatePage
from tests.viz_app.builders import click, settle_layout
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import (
    LEARN,
    TRAIN,
    TRANSLATE,
    close_in_training,
    examples_of,
    part,
    train_page_of,
)
from tests.viz_app.synthetic import FakeTranslator


def _dialogs(window: MainWindow) -> list[QMessageBox]:
    return [box for box in window.findChildren(QMessageBox) if box.isVisible()]


def _row_labels(page: TranslatePage) -> tuple[str, ...]:
    view = page.state.maps.view()
    assert view is not None
    return view.row_labels


def _type(qtbot: QtBot, window: MainWindow, text: str) -> None:
    field = window.translate_page.sentence.input
    field.selectAll()
    qtbot.keyClicks(field, text)


@pytest.mark.heavy
def test_the_names_of_the_languages_are_whole_before_a_model_is_open(
    make_window: MakeWindow,
) -> None:
    window = make_window(None, wait=False)
    for name in window.translate_page.sentence.findChildren(QLabel):
        if name.text() in ("German", "English"):
            assert name.width() >= name.sizeHint().width()


@pytest.mark.heavy
def test_the_window_opens_with_a_translated_sentence(make_window: MakeWindow) -> None:
    window = make_window(sentence="Ein Mann .")
    page = window.translate_page
    assert page.sentence.sentence.text == "Ein mann."
    assert page.heads.grid.isVisible()
    assert page.head.heatmap.isVisible()
    assert "model · 3 + 3 layers · 8 heads" in window.top_bar.model_button.text()
    assert window.top_bar.device.text() == "CPU"
    assert "cpu, no CUDA device found" in window.top_bar.model_button.toolTip()


@pytest.mark.heavy
def test_nothing_is_opened_before_the_first_paint(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window(wait=False)
    assert window.worker._thread.ident is None
    qtbot.waitSignal(window.translation_shown).wait()


class LayoutRequests(QObject):
    """Counts those of all widgets, by class."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.of: Counter[str] = Counter()
        parent.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.LayoutRequest:
            self.of[type(watched).__name__] += 1
        return False


@pytest.mark.heavy
@pytest.mark.parametrize(("width", "scale"), [(1000, 1.5), (1440, 1.0)])
def test_a_window_that_nobody_uses_lays_nothing_out(
    make_window: MakeWindow, qtbot: QtBot, qapp: QApplication, width: int, scale: float
) -> None:
    """A layout that asks for itself again takes a whole processor, and shows nothing of it."""
    window = make_window(sentence="Ein Mann .")
    window.resize(width, 800)
    Theme.light(scale).apply(qapp)
    requests = LayoutRequests(qapp)
    for page in (TRANSLATE, LEARN, TRAIN):
        window.pages.show(page)
        for _ in range(40):  # until what the page has begun is done
            requests.of.clear()
            qtbot.wait(100)
            if not requests.of:
                break
        assert not requests.of, page
    requests.deleteLater()


@pytest.mark.heavy
def test_typing_translates_by_itself(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    with qtbot.waitSignal(window.translation_shown):
        _type(qtbot, window, "Zwei Hunde")
    assert window.translate_page.sentence.sentence.text == "Zwei hunde"


@pytest.mark.heavy
def test_clicking_a_thumbnail_shows_that_head_large(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    grid = window.translate_page.heads.grid
    click(qtbot, grid, Head("encoder", 2, 5))
    panel = window.translate_page.head
    assert panel.title.whole == "Encoder self-attention · layer 3 · head 6"
    assert not panel.controls.boxes["read"].isEnabled()


@pytest.mark.heavy
def test_arrows_walk_heads_once_the_sentence_is_left(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    window.activateWindow()
    page = window.translate_page
    page.state.intents.choose_head(Head("encoder", 2, 0))
    qtbot.keyClick(page.sentence.input, Qt.Key.Key_Escape)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Left):
        qtbot.keyClick(page.heads.grid, key)
    assert page.state.selection.head == Head("decoder", 0, 1)


@pytest.mark.heavy
def test_rows_are_named_by_the_word_predicted_until_a_person_chooses_otherwise(
    make_window: MakeWindow, preferences: Preferences
) -> None:
    page = make_window().translate_page
    page.state.intents.choose_head(Head("cross", 0, 0))
    assert page.head.controls.boxes["predicted"].isChecked()
    assert _row_labels(page) == ("ein", "mann", ".", "<eos>")
    assert "while it predicts that English token" in page.head.meaning.text()
    page.head.controls.boxes["read"].setChecked(True)
    page.save()
    assert preferences.restored(MapViewSettings()).label_mode == "read"
    again = make_window().translate_page
    assert again.head.controls.boxes["read"].isChecked()
    assert _row_labels(again) == ("<sos>", "ein", "mann", ".")
    assert "while it reads that English token" in again.head.meaning.text()


@pytest.mark.heavy
def test_row_labels_follow_the_switch(
    make_window: MakeWindow, qtbot: QtBot, preferences: Preferences
) -> None:
    window = make_window()
    page = window.translate_page
    page.state.intents.choose_head(Head("cross", 0, 0))
    page.head.controls.boxes["read"].setChecked(True)
    qtbot.mouseClick(
        page.head.controls.boxes["predicted"], Qt.MouseButton.LeftButton, pos=QPoint(8, 8)
    )
    assert _row_labels(page)[-1] == "<eos>"
    assert "predicts" in page.head.meaning.text()
    window.close()
    assert preferences.restored(MapViewSettings()).label_mode == "predicted"


@pytest.mark.heavy
def test_a_hovered_chip_and_a_hovered_row_find_each_other(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    page = make_window(sentence="Ein Mann schläft .").translate_page
    page.state.intents.choose_head(Head("cross", 0, 0))
    chips, heatmap = page.sentence.chips, page.head.heatmap
    word, box = chips.boxes[1]
    plain = heatmap.grab().toImage()
    qtbot.mouseMove(chips, box.center())
    qtbot.waitUntil(lambda: page.state.selection.hovered_word == word)
    assert heatmap.grab().toImage() != plain
    qtbot.mouseMove(chips, chips.rect().bottomRight())
    unlit = chips.grab().toImage()
    cell = heatmap.cell_rect(Pair(2, 1))
    assert cell is not None
    qtbot.mouseMove(heatmap, cell.center().toPoint())
    qtbot.waitUntil(lambda: page.state.selection.hovered == Pair(2, 1))
    lit, (other, place_of_other) = chips.grab().toImage(), chips.boxes[2]
    assert other.text == "schläft"
    assert lit.copy(place_of_other) != unlit.copy(place_of_other)
    assert lit.copy(box) == unlit.copy(box)


@pytest.mark.heavy
def test_a_pinned_cell_is_let_go_by_a_second_click_or_escape(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    page = make_window().translate_page
    page.state.intents.choose_head(Head("cross", 0, 0))
    box, selection = page.head.heatmap.cell_rect(Pair(1, 2)), page.state.selection
    assert box is not None
    for expected in (Pair(1, 2), None, Pair(1, 2)):
        qtbot.mouseClick(page.head.heatmap, Qt.MouseButton.LeftButton, pos=box.center().toPoint())
        assert selection.pinned == expected
    qtbot.keyClick(page.head.heatmap, Qt.Key.Key_Escape)
    assert selection.pinned is None


class _Endless(FakeTranslator):
    def compare(self, *_, should_stop=lambda: False, **__) -> ExperimentResult:
        while not should_stop():
            time.sleep(0.01)
        raise TranslationStoppedError


@pytest.mark.heavy
def test_a_first_translation_that_takes_long_is_no_model_that_is_being_opened(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window(loader=_Endless, wait=False)
    qtbot.waitUntil(lambda: window.loader.model is not None)
    assert window.translate_page.message.isVisible()
    assert window.translate_page.message.label.text().startswith("Translating…")


@pytest.mark.heavy
def test_the_hint_to_type_gives_way_to_what_is_typed(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    field, message = window.translate_page.sentence.input, window.translate_page.message
    field.clear()
    qtbot.waitUntil(lambda: message.label.text().startswith("Type"))
    qtbot.keyClick(field, "z")
    assert message.label.text() == "The translation follows when you pause."
    qtbot.waitUntil(lambda: not message.isVisible())


def test_escape_cancels_a_translation_that_takes_long_from_the_top_bar_too(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    window.state.request.begin()
    button = window.top_bar.model_button
    button.setFocus()
    qtbot.waitUntil(lambda: "Cancel</a> (Esc)" in window.translate_page.sentence.facts.text())
    qtbot.keyClick(button, Qt.Key.Key_Escape)
    assert not window.state.request.is_running


def test_a_missing_analysis_tab_that_was_open_is_reported(
    make_window: MakeWindow, preferences: Preferences
) -> None:
    preferences.analysis_tab = "gone"
    preferences.is_analysis_open = True
    assert "no analysis tab “gone”" in make_window().top_bar.status.text()


def test_escape_cancels_an_analysis_that_takes_long_from_the_maps_and_the_top_bar_too(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    page, panel = window.translate_page, window.analysis
    page.arrangement.toggle_analysis()
    panel.open_tab("compare")
    tab, pair = panel.tab, Pair(1, 1)
    assert tab.job_bar is not None
    for widget in (page.head.heatmap, window.top_bar.model_button):
        window.state.selection.pinned = pair
        tab.request.begin()
        qtbot.waitUntil(tab.job_bar.stop.isVisible)
        widget.setFocus()
        qtbot.keyClick(widget, Qt.Key.Key_Escape)
        assert tab.request.problem == "Comparing was cancelled."
        tab.request.finish()
        assert window.state.selection.pinned == pair, "the key has done its work"


@pytest.mark.heavy
def test_an_emptied_field_gets_a_hint_and_no_dialog(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    window.translate_page.sentence.input.clear()
    qtbot.waitUntil(lambda: window.translate_page.message.isVisible())
    assert "Type a German sentence" in window.translate_page.message.label.text()
    assert _dialogs(window) == []


@pytest.mark.heavy
def test_enter_on_spaces_gets_the_hint_too_and_the_experiment_is_kept(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    page = window.translate_page
    page.state.submit(toggle(Head("cross", 0, 1)))
    asked = page.state.experiment
    _type(qtbot, window, "   ")
    qtbot.keyClick(page.sentence.input, Qt.Key.Key_Return)
    assert "Type a German sentence" in page.message.label.text()
    assert _dialogs(window) == []
    assert page.sentence.input.text == "   "
    assert page.state.experiment == asked


class _CopyTranslator(FakeTranslator):
    """A model of the copy task, by its file's name, reads numbers alone."""

    def __init__(self, path: Path | None, device: str) -> None:
        super().__init__(path, device)
        self.run_config = preset("copy-task-small" if self.name == "copy" else "notebook")

    def run(
        self, experiment: Experiment, *, should_stop: Callable[[], bool] = lambda: False
    ) -> Translation:
        if self.name == "copy" and not experiment.source_text.replace(" ", "").isdigit():
            raise TextError("Nothing of it can be read. Numbers were expected.")
        return super().run(experiment, should_stop=should_stop)


@pytest.mark.heavy
def test_a_sentence_that_another_model_cannot_read_is_kept_and_the_reason_told_once(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window = make_window(sentence=None, loader=_CopyTranslator)
    page = window.translate_page
    field = page.sentence.input
    with qtbot.waitSignal(window.translation_shown):
        field.set_text("Zwei Hunde .")  # asked for outright, as an example is
    with qtbot.waitSignal(window.failed):
        window.open_model(tmp_path / "copy.safetensors")
    assert _dialogs(window) == []
    assert (
        page.message.label.text()
        == "Nothing of it can be read. Numbers were expected. Or choose an example."
    )
    assert page.sentence.sentence.placeholderText() == ""
    assert not page.sentence.note.isVisible(), "it is told already"
    assert field.text == "Zwei Hunde ."
    with qtbot.waitSignal(window.failed):
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert _dialogs(window) == []
    assert field.text == "Zwei Hunde ."
    with qtbot.waitSignal(window.translation_shown):
        _type(qtbot, window, "5 6 7")
    assert not page.message.isVisible()
    with qtbot.waitSignal(window.failed):
        _type(qtbot, window, "five")
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert _dialogs(window) == []
    assert "Nothing of it can be read." in page.sentence.note.text(), "beside the maps, which stay"


@pytest.mark.allow_log_warnings
@pytest.mark.heavy
def test_an_unexpected_error_opens_a_dialog_with_details(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    with qtbot.waitSignal(window.failed):
        _type(qtbot, window, "BOOM")
    (dialog,) = _dialogs(window)
    assert "ZeroDivisionError" in dialog.detailedText()
    dialog.accept()


@pytest.mark.heavy
def test_a_broken_checkpoint_leaves_the_model_and_the_translation(
    make_window: MakeWindow, qtbot: QtBot, preferences: Preferences, tmp_path: Path
) -> None:
    window = make_window()
    preferences.recent_models.remember(tmp_path / "broken.safetensors")
    with qtbot.waitSignal(window.failed):
        window.open_model(tmp_path / "broken.safetensors")
    (dialog,) = _dialogs(window)
    assert "cut off" in dialog.informativeText()
    dialog.accept()
    assert "model · 3 + 3" in window.top_bar.model_button.text()
    assert window.translate_page.head.heatmap.isVisible()
    assert tmp_path / "broken.safetensors" not in preferences.recent_models.paths
    with qtbot.waitSignal(window.translation_shown):
        _type(qtbot, window, "Hund")


@pytest.mark.heavy
def test_a_model_that_opened_is_the_one_that_is_remembered_though_another_was_asked_for_meanwhile(
    make_window: MakeWindow, qtbot: QtBot, preferences: Preferences, tmp_path: Path
) -> None:
    window = make_window()
    window.open_model(tmp_path / "good.safetensors")
    deadline = time.monotonic() + 10
    # it is open; no event is processed meanwhile, so none is delivered
    while not window.worker._outcomes.qsize():
        assert time.monotonic() < deadline
        time.sleep(0.001)
    with qtbot.waitSignal(window.failed):
        window.open_model(tmp_path / "broken.safetensors")
    (dialog,) = _dialogs(window)
    dialog.accept()
    assert window.loader.model is not None
    assert window.loader.model.name == "good"
    assert preferences.model == tmp_path / "good.safetensors"
    assert tmp_path / "broken.safetensors" not in preferences.recent_models.paths


@pytest.mark.heavy
def test_a_dropped_file_is_opened_and_remembered(
    make_window: MakeWindow, qtbot: QtBot, preferences: Preferences, tmp_path: Path
) -> None:
    window = make_window()
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile(str(tmp_path / "dropped.safetensors"))])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        files,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    with qtbot.waitSignal(window.model_opened):
        window.dropEvent(event)
    assert window.loader.model is not None
    assert window.loader.model.name == "dropped"
    assert preferences.recent_models.paths[0] == tmp_path / "dropped.safetensors"
    qtbot.waitUntil(lambda: not window.state.request.is_running)


@pytest.mark.heavy
def test_without_a_bundled_model_the_window_says_so_and_offers_a_way(
    make_window: MakeWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, qtbot: QtBot
) -> None:
    monkeypatch.setattr(
        augenmerk.viz_app.models.loader, "bundled_model_path", lambda: tmp_path / "none.safetensors"
    )
    window = make_window(None, wait=False)
    qtbot.waitUntil(lambda: window.translate_page.open_button.isVisible())
    assert "The bundled model is missing" in window.translate_page.message.label.text()
    assert _dialogs(window) == []


@pytest.mark.slow
@pytest.mark.heavy
def test_last_choices_come_back(
    make_window: MakeWindow, qtbot: QtBot, preferences: Preferences
) -> None:
    first = make_window(sentence="Zwei Hunde .")
    first.translate_page.state.intents.choose_head(Head("decoder", 1, 3))
    first.appearance.set_theme("dark")
    first.resize(1111, 777)
    first.close()
    second = make_window(sentence=None)
    assert second.translate_page.sentence.input.text == "Zwei Hunde ."
    assert second.translate_page.state.selection.head == Head("decoder", 1, 3)
    assert preferences.theme == "dark"
    assert current_theme().is_dark


@pytest.mark.heavy
def test_examples_and_copy_button_work(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    panel = window.translate_page.sentence
    actions = {action.text(): action for action in examples_of(window).menu().actions()}
    assert list(actions) == list(example_sentences()), (
        "the gallery is about the bundled model, which this one is not"
    )
    sentence = example_sentences()[1]
    with qtbot.waitSignal(window.translation_shown):
        actions[sentence].trigger()
    assert panel.input.text == sentence
    qtbot.mouseClick(panel.copy_button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == panel.sentence.text


@pytest.mark.heavy
def test_the_train_page_is_made_when_it_is_wanted(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    assert train_page_of(window) is None
    window.pages.show(TRAIN)
    assert train_page_of(window) is not None
    assert train_page_of(window).isVisible()
    assert window.top_bar.tabs[TRAIN].isChecked()


class RunningPage:
    """A Train page whose training ends after so many questions whether it runs; None: never."""

    def __init__(self, num_polls: int | None, save_seconds: float = 0.0) -> None:
        self.num_polls = num_polls
        self.num_asked_to_stop = 0
        self.limit_to_end_s = 60.0
        self.save_seconds = save_seconds
        self.is_stopping = False

    def is_running(self) -> bool:
        if self.num_polls is not None and self.num_asked_to_stop:
            self.num_polls -= 1
        return self.num_polls is None or self.num_polls > 0

    def request_stop(self) -> None:
        self.num_asked_to_stop += 1

    def shutdown(self, *, waits_for_training: bool) -> bool:
        assert not waits_for_training
        return not self.is_running()


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("save_seconds", "said"),
    [(0.0, "a few seconds"), (0.2, "The last save took less than a second."), (12.3, "took 12 s")],
)
def test_closing_while_training_asks_first_and_stops_it(
    make_window: MakeWindow, qtbot: QtBot, save_seconds: float, said: str
) -> None:
    window = make_window()
    page = RunningPage(num_polls=3, save_seconds=save_seconds)
    part(window, TrainPart).widget = page  # type: ignore[assignment]
    window.close()
    window.close()  # a double click
    (box,) = window.findChildren(QMessageBox)
    assert box.isVisible()
    assert said in box.informativeText()
    assert "resume" in box.informativeText()
    qtbot.keyClick(box, Qt.Key.Key_Escape)
    assert window.isVisible()
    assert page.num_asked_to_stop == 0, "the training goes on"
    qtbot.waitUntil(lambda: not isValid(box))
    close_in_training(window)
    assert window.isVisible()
    assert page.num_asked_to_stop == 1
    assert "saving the model" in window.top_bar.status.text()
    qtbot.waitUntil(lambda: not window.isVisible())


@pytest.mark.heavy
def test_closing_asks_nothing_about_a_training_that_stops(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    page = RunningPage(num_polls=3)
    page.is_stopping = True
    part(window, TrainPart).widget = page  # type: ignore[assignment]
    window.close()
    assert window.isVisible()
    assert not window.findChildren(QMessageBox)
    qtbot.waitUntil(lambda: not window.isVisible())


@pytest.mark.slow
@pytest.mark.heavy
def test_a_training_that_does_not_stop_can_be_left_after_a_while(
    make_window: MakeWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(augenmerk.viz_app.main_window, "ANSWER_SECONDS", 0.4)
    window = make_window()
    page = RunningPage(num_polls=None)
    part(window, TrainPart).widget = page  # type: ignore[assignment]
    close_in_training(window)
    window.close()  # impatiently
    assert window.isVisible()
    qtbot.waitUntil(lambda: "Close again to quit without it" in window.top_bar.status.text())
    assert window.isVisible()
    window.close()
    assert not window.isVisible()
    assert page.num_asked_to_stop == 1


@pytest.mark.slow
@pytest.mark.heavy
def test_a_training_that_does_not_stop_is_left_behind_in_the_end(
    make_window: MakeWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(augenmerk.viz_app.main_window, "ANSWER_SECONDS", 0.1)
    window = make_window()
    page = RunningPage(num_polls=None)
    part(window, TrainPart).widget = page  # type: ignore[assignment]
    page.limit_to_end_s = 0.5
    close_in_training(window)
    assert window.isVisible()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=3000)


@pytest.mark.heavy
def test_a_refusal_is_shown_under_the_chips_until_another_text_is_asked_for(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    panel, facts = window.translate_page.sentence, window.translate_page.sentence.facts.text()
    assert not panel.note.isVisible()
    with qtbot.waitSignal(window.failed):
        window.state.submit(force(0, "unknown"))
    assert panel.note.isVisible()
    assert "not in this model's vocabulary" in panel.note.text()
    assert panel.facts.text() == facts
    assert _dialogs(window) == []
    with qtbot.waitSignal(window.translation_shown):
        window.state.submit(force(0, "Zwei"))
    assert not panel.note.isVisible()


@pytest.mark.parametrize("width", [1280, 1440])
@pytest.mark.heavy
def test_nothing_jumps_while_a_sentence_is_translated(make_window: MakeWindow, width: int) -> None:
    window = make_window()
    window.resize(width, 1080)
    panel = window.translate_page.sentence
    assert panel.rows.is_folded == (width == 1280)
    height = panel.facts.sizeHint().height()
    panel.facts._busy_timer.timeout.emit()
    assert "translating" in panel.facts.text()
    assert panel.facts.sizeHint().height() == height


def _bundled_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bundled.safetensors").touch()
    monkeypatch.setattr(
        augenmerk.viz_app.models.loader,
        "bundled_model_path",
        lambda: tmp_path / "bundled.safetensors",
    )


@pytest.mark.heavy
def test_the_last_model_comes_back_with_its_sentence(
    make_window: MakeWindow, tmp_path: Path
) -> None:
    make_window(tmp_path / "copy.safetensors", sentence="5 6 7").close()
    again = make_window(None, sentence=None)
    assert again.loader.model is not None
    assert (again.loader.model.name, again.translate_page.sentence.input.text) == ("copy", "5 6 7")
    again.close()
    other = make_window(tmp_path / "other.safetensors", sentence=None)
    assert other.translate_page.sentence.input.text != "5 6 7"


@pytest.mark.heavy
def test_a_million_characters_are_cut_and_the_window_says_so_until_there_is_room(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window(sentence="x" * 1_000_000)
    panel = window.translate_page.sentence
    said = f"at most {MAX_CHARACTERS:,} characters; 995,000 more characters were left out"
    assert said in panel.note.text()
    assert panel.note.isVisible()
    assert len(window.state.experiment.source_text) == MAX_CHARACTERS
    _type(qtbot, window, "Ein Hund")
    assert "characters" not in panel.note.text()


@pytest.mark.heavy
def test_where_the_last_model_is_broken_the_bundled_one_opens_and_the_reason_is_told(
    make_window: MakeWindow,
    preferences: Preferences,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    _bundled_is_there(monkeypatch, tmp_path)
    make_window(tmp_path / "copy.safetensors", sentence="5 6 7").close()
    preferences.model = tmp_path / "broken.safetensors"
    window = make_window(None, sentence=None)
    assert window.loader.model is not None
    assert window.loader.model.name == "bundled"
    assert window.translate_page.sentence.input.text != "5 6 7"
    assert preferences.model is None
    (dialog,) = _dialogs(window)
    assert "cut off" in dialog.informativeText()
    dialog.accept()


def _are_in_one_line(one: QWidget, other: QWidget) -> bool:
    return abs(one.mapTo(one.window(), QPoint()).y() - other.mapTo(one.window(), QPoint()).y()) < 10


@pytest.mark.heavy
@pytest.mark.parametrize("is_analysis_open", [False, True])
def test_a_small_window_shows_all_rows_of_a_long_sentence(
    make_window: MakeWindow, qtbot: QtBot, is_analysis_open: bool
) -> None:
    """40 words: all rows are in sight, and no scrolling sideways."""
    window = make_window(sentence=" ".join(["Leiter", "und", "Hund", "im"] * 10) + " .")
    page = window.translate_page
    if is_analysis_open:
        page.arrangement.toggle_analysis()
    window.resize(1100, 700)
    qtbot.waitUntil(lambda: window.width() == 1100 and page.head.controls.menu_button.isVisible())
    qtbot.waitUntil(lambda: _are_in_one_line(page.head.title, page.head.measure_menu))
    settle_layout()
    layout, view = page.head.heatmap.layout_now, page.state.maps.view()
    assert layout is not None
    assert view is not None
    assert len(view.row_labels) == 42
    assert len(layout.rows_in_sight) == 42
    assert layout.row_step == 2
    assert layout.font.pixelSize() >= 12
    assert layout.hidden.width() == 0
    assert "Each row" in page.head.meaning.text()
    position = page.head.map.mapTo(window, QPoint())
    page.state.submit(toggle(Head("cross", 0, 1)))
    qtbot.waitUntil(page.sentence.shown_switch.isVisible)
    settle_layout()
    assert page.head.map.mapTo(window, QPoint()) == position, "nothing moves"
    assert page.sentence.original_line.isVisible()
    line = page.sentence.original_line
    assert line.width() > 100
    assert "probable" in line.shown_text(), "the measured change is not cut"


@pytest.mark.heavy
def test_the_tabs_take_a_third_of_a_wide_window_until_the_user_chooses_a_width(
    make_window: MakeWindow, qtbot: QtBot, preferences: Preferences
) -> None:
    window = make_window()
    page = window.translate_page
    page.arrangement.show_analysis(True)
    for width, expected in ((1100, 430), (1920, (1920 - 2 * PAGE_MARGIN) / 3), (1280, 430)):
        window.resize(width, 800)
        qtbot.waitUntil(lambda width=width: window.width() == width)  # type: ignore[misc]
        assert page.analysis.width() == pytest.approx(expected, abs=25)
        for button in page.analysis.buttons:
            assert not button.visibleRegion().isEmpty()
            assert button.geometry().right() <= page.analysis.width(), f"{button.text()} is cut off"
        assert len({button.y() for button in page.analysis.buttons}) <= 2, "the rest is for the tab"
    page.save()
    assert not preferences.bytes("lab_splitter"), "the width was not chosen"
    splitter = page.arrangement
    splitter.moveSplitter(splitter.widget(1).x() - 100, 1)
    chosen = page.analysis.width()
    assert chosen > 500
    window.resize(1300, 800)
    qtbot.waitUntil(lambda: window.width() == 1300)
    assert page.analysis.width() == chosen
    page.save()
    assert preferences.bytes("lab_splitter")


@pytest.mark.heavy
def test_one_button_swaps_the_thumbnails_and_the_tabs_that_take_their_place(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    page = window.translate_page
    window.resize(1100, 700)
    settle_layout()
    place = page.analysis_button.geometry()
    page.arrangement.toggle_analysis()
    qtbot.waitUntil(page.analysis.isVisible)
    assert page.heads.isHidden()
    assert page.analysis_button.geometry() == place
    qtbot.mouseClick(page.analysis_button, Qt.MouseButton.LeftButton)
    assert page.heads.isVisible()
    assert page.analysis.isHidden()
    page.arrangement.toggle_analysis()
    window.resize(1600, 900)
    qtbot.waitUntil(page.heads.isVisible)
    assert page.analysis.isVisible(), "both have room"


@pytest.mark.heavy
def test_long_sentences_leave_the_maps_their_room_on_a_low_page(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window(sentence=" ".join(["Leiter"] * 98) + " .")
    page, sentence = window.translate_page, window.translate_page.sentence
    for height in (800, 1080, 800):
        window.resize(1280, height)
        qtbot.waitUntil(lambda expected=height: window.height() == expected)
        qtbot.waitUntil(lambda: sentence.chips_area.height() == 2 * sentence.chips.line_height)
        assert sentence.sentence.height() < 3 * sentence.sentence.fontMetrics().lineSpacing()
        assert sentence.chips.height() > sentence.chips_area.height()  # the others scroll
    qtbot.waitUntil(lambda: page.head.map.height() >= 220)
    assert page.sentence.height() < 0.4 * page.height()


REQUESTED = ("Ein Mann wartet .", example_sentences()[1])


class _PaintedTexts(QObject):
    """Collects the texts with which a label is painted."""

    def __init__(self, watched: QLabel) -> None:
        super().__init__(watched)
        self.texts: set[str] = set()
        self._watched = watched
        watched.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Paint:
            self.texts.add(self._watched.text())
        return False


@pytest.mark.heavy
@pytest.mark.parametrize("sentence", REQUESTED, ids=["own", "example"])
def test_a_requested_sentence_that_the_last_model_cannot_read_is_translated_by_the_bundled_one_with_the_reason(
    make_window: MakeWindow,
    qtbot: QtBot,
    preferences: Preferences,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    sentence: str,
) -> None:
    _bundled_is_there(monkeypatch, tmp_path)
    preferences.model = tmp_path / "copy.safetensors"
    window = make_window(None, sentence=sentence, loader=_CopyTranslator, wait=False)
    message = _PaintedTexts(window.translate_page.message.label)
    with qtbot.waitSignal(window.translation_shown):
        pass
    assert window.loader.model is not None
    assert window.loader.model.name == "bundled"
    assert window.state.translation is not None
    assert (
        window.state.translation.source_text
        == window.translate_page.sentence.input.text
        == sentence
    )
    note = window.translate_page.sentence.note
    assert note.isVisible()
    assert (
        note.text() == "The model “copy” cannot read this sentence, so the bundled model is used."
    )
    assert _dialogs(window) == []
    assert message.texts, "the label is painted while models are opened"
    assert not [text for text in message.texts if "Nothing of it can be read." in text]
    with qtbot.waitSignal(window.translation_shown):
        _type(qtbot, window, "Ein Hund")
    assert not note.isVisible()


@pytest.mark.heavy
def test_the_last_model_comes_back_with_its_sentence_after_the_bundled_one_stood_in_for_it(
    make_window: MakeWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _bundled_is_there(monkeypatch, tmp_path)
    make_window(tmp_path / "copy.safetensors", sentence="5 6 7", loader=_CopyTranslator).close()
    make_window(None, sentence="Ein Mann wartet .", loader=_CopyTranslator).close()
    again = make_window(None, sentence=None, loader=_CopyTranslator)
    assert again.loader.model is not None
    assert (again.loader.model.name, again.translate_page.sentence.input.text) == ("copy", "5 6 7")


@pytest.mark.heavy
def test_a_bundled_model_that_the_user_opens_after_it_stood_in_is_the_last_model(
    make_window: MakeWindow,
    qtbot: QtBot,
    preferences: Preferences,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    _bundled_is_there(monkeypatch, tmp_path)
    preferences.model = tmp_path / "copy.safetensors"
    window = make_window(None, sentence="Ein Mann wartet .", loader=_CopyTranslator)
    with qtbot.waitSignal(window.translation_shown):
        window.open_model(None)
    assert preferences.model is None
    assert not window.translate_page.sentence.note.isVisible()


@pytest.mark.heavy
def test_the_reason_of_the_last_model_is_shown_if_the_bundled_one_that_should_stand_in_is_missing(
    make_window: MakeWindow,
    qtbot: QtBot,
    preferences: Preferences,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(
        augenmerk.viz_app.models.loader,
        "bundled_model_path",
        lambda: tmp_path / "bundled.safetensors",
    )
    preferences.model = tmp_path / "copy.safetensors"
    window = make_window(None, sentence="Ein Mann wartet .", loader=_CopyTranslator, wait=False)
    label = window.translate_page.message.label
    qtbot.waitUntil(lambda: "Nothing of it can be read." in label.text())
    (dialog,) = _dialogs(window)
    assert "The bundled model is missing" in dialog.informativeText()
    dialog.accept()
    assert not window.translate_page.sentence.note.isVisible()
    assert preferences.model == tmp_path / "copy.safetensors"


@pytest.mark.heavy
@pytest.mark.parametrize("sentence", REQUESTED, ids=["own", "example"])
def test_a_requested_sentence_that_the_named_model_cannot_read_stays_with_the_reason(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path, sentence: str
) -> None:
    window = make_window(
        tmp_path / "copy.safetensors", sentence=sentence, loader=_CopyTranslator, wait=False
    )
    with qtbot.waitSignal(window.failed):
        pass
    page = window.translate_page
    assert page.sentence.input.text == sentence
    assert page.message.isVisible()
    assert "Nothing of it can be read." in page.message.label.text()
    assert window.loader.model is not None
    assert window.loader.model.name == "copy"


def test_the_hint_to_type_goes_as_soon_as_a_sentence_is_translated(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    page = window.translate_page
    page.sentence.input.set_text("")
    assert "Type a German sentence" in page.message.label.text()
    page.sentence.input.set_text("Ein Hund .")
    assert page.message.label.text().startswith("Translating…")
    assert page.cancel_button.isVisible()
    qtbot.waitUntil(lambda: not page.message.isVisible())
