"""One experiment from the mouse to the screen, in whole windows with a real model of a few
dimensions."""

import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.translation.experiment import (
    Experiment,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    Intervention,
    SourceWordRemoved,
)
from augenmerk.core.translation.experiment_file import (
    ModelReference,
    SavedExperiment,
    write_experiment_file,
)
from augenmerk.core.translation.result import ExperimentResult, Translation, Word
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.documents.session import SESSION
from augenmerk.viz_app.extensions.tabs.source.view import SourceTab
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import intervene, toggle
from augenmerk.viz_app.state.experiment_state import Stale
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.translate.page import DimmingOverlay, TranslatePage
from tests.builders import run_process
from tests.checkpoints import write_untrained_checkpoint
from tests.conftest import open_once
from tests.viz_app.builders import click, settle_layout
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import lines_of, weight_card_of
from tests.viz_app.synthetic import FakeTranslator

SENTENCE = "ein mann steht ."
OFF, FORCED, REMOVED = HeadScaled(Head("cross", 1, 0)), ForcedToken(1, "man"), SourceWordRemoved(1)
CHIPS = {OFF: "cross 2·1 off", FORCED: "step 2: man", REMOVED: "word 2 removed"}
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture(scope="module")
def translator(untrained_checkpoint: Path) -> Translator:
    """The same model as in the window, for the results that are expected."""
    return Translator.load(untrained_checkpoint, "cpu")


@pytest.fixture
def window(make_window: MakeWindow, untrained_checkpoint: Path) -> MainWindow:
    window = make_window(untrained_checkpoint, sentence=SENTENCE, loader=open_once)
    window.resize(1440, 900)
    window.activateWindow()
    return window


def _settle(qtbot: QtBot, window: MainWindow) -> None:
    """Until what is shown is what was asked for."""
    qtbot.waitUntil(lambda: _is_settled(window), timeout=10_000)


def _is_settled(window: MainWindow) -> bool:
    state = window.state
    return (
        not state.request.is_running
        and not isinstance(state.shown, Stale)
        and state.result is not None
        and state.result.experiment == state.experiment
    )


def _chips(page: TranslatePage) -> list[str]:
    return [chip.text().removesuffix("×").strip() for chip in page.sentence.interventions.chips]


def _expected_chips(expected: ExperimentResult) -> list[str]:
    unreached = expected.changed.unreached
    return [
        CHIPS[intervention] + " (not reached)" * (intervention in unreached)
        for intervention in expected.experiment.interventions
    ]


def _check(window: MainWindow, expected: ExperimentResult) -> None:
    """All of the page shows the result that is expected."""
    page, panel = window.translate_page, window.translate_page.sentence
    changed, original = expected.changed, expected.original
    assert window.state.experiment == expected.experiment
    assert panel.input.text == expected.experiment.source_text
    assert panel.sentence.text == changed.text
    assert [word.text for word, _ in panel.chips.boxes] == [
        word.text for word in changed.target_words
    ]
    assert sorted(_chips(page)) == sorted(_expected_chips(expected))
    if expected.is_changed and changed.text != original.text:
        assert panel.original_line.whole.startswith(f"Original: {original.text} · ")
        assert panel.original_line.isVisible()
    for kind in ATTENTION_KINDS:
        np.testing.assert_allclose(
            page.state.maps.view_all(kind).values, changed.maps.of_kind(kind), atol=1e-5
        )


def _switch_off_by_right_click(qtbot: QtBot, window: MainWindow) -> None:
    page = window.translate_page
    click(qtbot, page.heads.grid, OFF.head, Qt.MouseButton.RightButton)


def _force_by_the_link_of_the_card(qtbot: QtBot, window: MainWindow) -> None:
    chips, translation = window.translate_page.sentence.chips, window.state.translation
    assert translation is not None
    word = next(word for word in translation.target_words if word.start == FORCED.step)
    _point_at(qtbot, window, word)
    rank = [alternative.entry for alternative in translation.alternatives[FORCED.step]].index(
        FORCED.token
    )
    link = _place_of_link(chips.card.label, f"{FORCED.step}:{rank}")
    qtbot.mouseClick(chips.card.label, Qt.MouseButton.LeftButton, pos=link)
    assert not chips.card.isVisible()


def _point_at(qtbot: QtBot, window: MainWindow, word: Word) -> None:
    chips = window.translate_page.sentence.chips
    box = dict(chips.boxes)[word]
    # where the mouse stands already it does not move
    for point in (chips.rect().bottomRight(), box.center()):
        qtbot.mouseMove(chips, point)
    qtbot.waitUntil(chips.card.isVisible)


def _place_of_link(label: QLabel, link: str) -> QPoint:
    """Where the mouse stands on a link, found as a person finds it."""
    hovered = [""]
    label.linkHovered.connect(hovered.append)
    button, keys = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    for y, x in itertools.product(range(0, label.height(), 5), range(0, label.width(), 12)):
        point = QPointF(x, y)
        move = QMouseEvent(
            QEvent.Type.MouseMove, point, label.mapToGlobal(point), button, button, keys
        )
        # the offscreen platform never raises the card over the window
        QApplication.sendEvent(label, move)
        if hovered[-1] == link:
            return QPoint(x, y)
    raise AssertionError(f"no link {link} in {label.text()}")


def _remove_by_a_click_in_the_source_tab(qtbot: QtBot, window: MainWindow) -> None:
    if window.analysis.isHidden():
        qtbot.keyClick(window, Qt.Key.Key_4, CTRL)
    names = [type(tab) for tab in window.analysis.tabs]
    qtbot.mouseClick(window.analysis.buttons[names.index(SourceTab)], Qt.MouseButton.LeftButton)
    tab = window.analysis.tab
    assert isinstance(tab, SourceTab)
    qtbot.waitUntil(lambda: tab.source.findings is not None, timeout=10_000)
    center = tab.words.label_place(REMOVED.place).center().toPoint()
    qtbot.mouseClick(tab.words, Qt.MouseButton.LeftButton, pos=center)


ACTS = {
    OFF: _switch_off_by_right_click,
    FORCED: _force_by_the_link_of_the_card,
    REMOVED: _remove_by_a_click_in_the_source_tab,
}


def _change_everything(qtbot: QtBot, window: MainWindow) -> None:
    for act in ACTS.values():
        act(qtbot, window)
        _settle(qtbot, window)


@pytest.mark.slow
@pytest.mark.heavy
def test_three_interventions_at_once_by_mouse_and_undone_and_redone_by_keys(
    qtbot: QtBot, window: MainWindow, translator: Translator
) -> None:
    experiments = [Experiment(SENTENCE)]
    for intervention, act in ACTS.items():
        experiments.append(experiments[-1].with_interventions(intervention))
        act(qtbot, window)
        _settle(qtbot, window)
        _check(window, translator.compare(experiments[-1]))
    assert window.translate_page.sentence.interventions.undo_button.isEnabled()
    for experiment in reversed(experiments[:-1]):
        qtbot.keyClick(window, Qt.Key.Key_Z, CTRL)
        _settle(qtbot, window)
        _check(window, translator.compare(experiment))
    assert not window.state.editor.can_undo
    for experiment in experiments[1:]:
        qtbot.keyClick(window, Qt.Key.Key_Z, CTRL | SHIFT)
        _settle(qtbot, window)
        _check(window, translator.compare(experiment))
    assert not window.state.editor.can_redo


@pytest.mark.slow
@pytest.mark.heavy
def test_chips_take_single_changes_back_and_reset_all_of_them(
    qtbot: QtBot, window: MainWindow, translator: Translator
) -> None:
    _change_everything(qtbot, window)
    interventions = window.translate_page.sentence.interventions
    assert _chips(window.translate_page) == [CHIPS[OFF], CHIPS[FORCED], CHIPS[REMOVED]]
    qtbot.mouseClick(interventions.chips[0], Qt.MouseButton.LeftButton)
    _settle(qtbot, window)
    _check(window, translator.compare(Experiment(SENTENCE, Greedy(), (FORCED, REMOVED))))
    qtbot.mouseClick(interventions.reset_button, Qt.MouseButton.LeftButton)
    _settle(qtbot, window)
    _check(window, translator.compare(Experiment(SENTENCE)))
    qtbot.waitUntil(interventions.hint.isVisible)  # with the next layout


@pytest.mark.heavy
def test_typed_text_and_changes_are_one_history(
    qtbot: QtBot, window: MainWindow, translator: Translator
) -> None:
    _switch_off_by_right_click(qtbot, window)
    _settle(qtbot, window)
    field = window.translate_page.sentence.input
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "ein mann .")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    _settle(qtbot, window)
    with_text = Experiment("ein mann .", Greedy(), (OFF,))
    _check(window, translator.compare(with_text))
    for experiment in (Experiment(SENTENCE, Greedy(), (OFF,)), Experiment(SENTENCE)):
        qtbot.keyClick(field, Qt.Key.Key_Z, CTRL)
        _settle(qtbot, window)
        _check(window, translator.compare(experiment))
    for _ in range(2):
        qtbot.keyClick(field, Qt.Key.Key_Z, CTRL | SHIFT)
    _settle(qtbot, window)
    _check(window, translator.compare(with_text))


@pytest.mark.heavy
def test_the_switch_decides_whose_maps_the_thumbnails_and_the_large_map_are(
    qtbot: QtBot, window: MainWindow, translator: Translator
) -> None:
    """A head of the first encoder layer is off: its own map stays, those of the second layer are
    others."""
    page, off, head = window.translate_page, Head("encoder", 0, 0), Head("encoder", 1, 1)
    switch = page.sentence.shown_switch
    click(qtbot, page.heads.grid, head)
    assert not switch.isVisible()
    click(qtbot, page.heads.grid, off, Qt.MouseButton.RightButton)
    _settle(qtbot, window)
    assert switch.isVisible()
    settle_layout()  # it takes its place above the map
    result = translator.compare(Experiment(SENTENCE, Greedy(), (HeadScaled(off),)))
    original, changed = result.original.maps.encoder, result.changed.maps.encoder
    expected = {"original": original, "changed": changed, "difference": changed - original}
    pictures = {}
    for shown, maps in expected.items():
        qtbot.mouseClick(switch.buttons[shown], Qt.MouseButton.LeftButton)
        view = page.state.maps.view()
        assert view is not None
        np.testing.assert_allclose(page.state.maps.view_all("encoder").values, maps, atol=1e-5)
        np.testing.assert_allclose(view.values, maps[1, 1], atol=1e-5)
        assert page.head.title.whole.endswith({"changed": "head 2"}.get(shown, shown))
        box = page.heads.grid.place_of(head)
        assert box is not None
        pictures[shown] = (
            page.head.heatmap.grab().toImage(),
            page.heads.grid.grab().toImage().copy(box),
        )
    for one, other in itertools.combinations(pictures.values(), 2):
        assert all(
            picture != other_picture for picture, other_picture in zip(one, other, strict=True)
        )
    assert page.sentence.sentence.text == result.changed.text, (
        "text and chips are always those of the changed one"
    )


@pytest.mark.heavy
def test_focus_goes_to_the_map_or_the_sentence_when_what_had_it_hides(
    qtbot: QtBot, window: MainWindow
) -> None:
    page, heatmap = window.translate_page, window.translate_page.head.heatmap
    window.resize(1100, 700)
    qtbot.waitUntil(window.isActiveWindow)
    page.heads.grid.setFocus()
    page.arrangement.toggle_analysis()  # in a narrow page the tabs take the place of the thumbnails
    assert not page.heads.isVisible()
    assert heatmap.hasFocus()
    page.analysis.close_button.setFocus()
    page.arrangement.toggle_analysis()
    assert heatmap.hasFocus(), "it came from there"
    page.state.selection.pin(Pair(1, 1))
    page.head.pick_line.clear_button.setFocus()
    qtbot.keyClick(page.head.pick_line.clear_button, Qt.Key.Key_Space)
    assert not page.state.selection.has_marks
    assert heatmap.hasFocus()
    page.state.settings.picture = "lines"
    weight_card_of(page.head).explanation.is_open = True
    weight_card_of(page.head).close_button.setFocus()
    qtbot.keyClick(weight_card_of(page.head).close_button, Qt.Key.Key_Space)
    assert lines_of(page.head).hasFocus()
    page.head.export_button.setFocus()
    page.show_message("Nothing is shown.")
    assert page.sentence.input.hasFocus()


@pytest.mark.heavy
def test_a_key_goes_through_original_changed_and_difference(
    qtbot: QtBot, window: MainWindow
) -> None:
    page = window.translate_page
    _switch_off_by_right_click(qtbot, window)
    _settle(qtbot, window)
    page.heads.grid.setFocus()
    seen = []
    for _ in range(3):
        qtbot.keyClick(page.heads.grid, Qt.Key.Key_D)
        seen.append(page.state.maps.shown)
        assert page.sentence.shown_switch.buttons[page.state.maps.shown].isChecked()
    assert seen == ["difference", "original", "changed"]


class _Dutch(FakeTranslator):
    """ "dutch.safetensors" translates into Dutch, once it is let."""

    may_translate = threading.Event()

    def __init__(self, path: Path | None, device: str) -> None:
        super().__init__(path, device)
        if self.name == "dutch":
            run = self.run_config
            self.run_config = replace(run, data=replace(run.data, target_language="nl"))

    def run(
        self, experiment: Experiment, *, should_stop: Callable[[], bool] = lambda: False
    ) -> Translation:
        assert self.name != "dutch" or self.may_translate.wait(20)
        return super().run(experiment)


@pytest.mark.heavy
@pytest.mark.parametrize("width", [1280, 1440], ids=["folded", "whole"])
def test_what_is_shown_keeps_its_language_and_its_model_until_the_next_one_has_translated(
    qtbot: QtBot, make_window: MakeWindow, width: int
) -> None:
    window = make_window(loader=_Dutch)
    window.resize(width, 900)
    page, panel = window.translate_page, window.translate_page.sentence
    page.head.explain_button.click()

    def told() -> list[str]:
        """All that names the language of the target, wherever it stands."""
        labels = [label.text() for label in window.findChildren(QLabel) if label.isVisible()]
        return [text for text in labels if "English" in text or "Dutch" in text]

    before = told()
    assert len(before) >= 3, (
        "the name of the translation, the caption of the map, and what it explains"
    )
    assert page.export_source().model == "model"
    _Dutch.may_translate.clear()
    with qtbot.waitSignal(window.model_opened, timeout=10_000):
        window.open_model(Path("dutch.safetensors"))
    qtbot.waitUntil(lambda: "Cancel" in panel.facts.text())
    assert told() == before
    assert page.export_source().model == "model", "an export tells whose maps these are"
    _Dutch.may_translate.set()
    _settle(qtbot, window)
    assert told() == [text.replace("English", "Dutch") for text in before]
    assert page.export_source().model == "dutch"


@pytest.mark.slow
@pytest.mark.heavy
def test_another_model_dims_what_is_shown_and_drops_and_names_what_does_not_fit(
    qtbot: QtBot, window: MainWindow, untrained_checkpoint: Path, tmp_path: Path
) -> None:
    _change_everything(qtbot, window)
    page, before = window.translate_page, window.state.result
    page.arrangement.toggle_analysis()
    covered = page.heads, page.head, page.sentence.sentence, page.sentence.chips_area
    # in place of the facts stands "cancel"
    outdated = *covered, page.analysis, page.sentence.original_line
    clear = [part.grab().toImage() for part in covered]
    one_layer = write_untrained_checkpoint(tmp_path / "shallow.safetensors", seed=1, num_layers=1)
    with qtbot.waitSignal(window.model_opened, timeout=10_000):
        window.open_model(one_layer)
    assert "shallow" in window.windowTitle()
    assert window.state.result is before, "the answer is still to come"
    assert isinstance(window.state.shown, Stale)
    assert all(
        part.grab().toImage() != picture for part, picture in zip(covered, clear, strict=True)
    )
    directly = Qt.FindChildOption.FindDirectChildrenOnly
    assert [part.findChild(DimmingOverlay, options=directly).isHidden() for part in outdated] == [
        False
    ] * 6  # type: ignore[union-attr]
    _settle(qtbot, window)
    fitting = Experiment(SENTENCE, Greedy(), (FORCED, REMOVED))
    _check(window, Translator.load(one_layer, "cpu").compare(fitting))
    assert all(overlay.isHidden() for overlay in page._overlays)
    assert page.sentence.note.isVisible()
    assert "does not fit this model or sentence: cross 2·1 off." in page.sentence.note.text()

    with qtbot.waitSignal(window.model_opened, timeout=10_000):
        window.open_model(untrained_checkpoint)
    _settle(qtbot, window)
    qtbot.keyClick(window, Qt.Key.Key_Z, CTRL)
    _settle(qtbot, window)
    _check(
        window,
        Translator.load(untrained_checkpoint, "cpu").compare(
            Experiment(SENTENCE, Greedy(), tuple(ACTS))
        ),
    )


@pytest.mark.slow
@pytest.mark.heavy
def test_a_restart_restores_what_was_on_the_screen(
    qtbot: QtBot, window: MainWindow, make_window: MakeWindow, translator: Translator
) -> None:
    _change_everything(qtbot, window)
    state, page = window.state, window.translate_page
    click(qtbot, page.heads.grid, Head("decoder", 1, 1))
    qtbot.mouseClick(page.sentence.shown_switch.buttons["difference"], Qt.MouseButton.LeftButton)
    page.heads.scale_menu.actions_by_name["own"].trigger()
    cell = page.head.heatmap.cell_rect(Pair(1, 0))
    assert cell is not None
    qtbot.mouseClick(page.head.heatmap, Qt.MouseButton.LeftButton, pos=cell.center().toPoint())
    assert state.selection.pinned == Pair(1, 0)
    experiment = state.experiment
    window.close()

    again = make_window(None, sentence=None, loader=None)
    assert again.state.experiment == experiment
    _check_shown_as_before(again)
    again.state.settings.shown = "changed"
    _check(again, translator.compare(experiment))
    assert not again.state.editor.can_undo
    assert not again.analysis.isHidden()
    assert isinstance(again.analysis.tab, SourceTab)


def _check_shown_as_before(window: MainWindow) -> None:
    settings, selection = window.state.settings, window.state.selection
    assert (settings.shown, settings.scale) == ("difference", "own")
    assert selection.head == Head("decoder", 1, 1)
    assert selection.pinned == Pair(1, 0)
    assert "Decoder" in window.translate_page.head.title.whole
    assert window.translate_page.head.pick_line.label.text().startswith("Pinned: ")


@pytest.mark.heavy
def test_text_that_was_just_typed_comes_back_too(
    qtbot: QtBot, make_window: MakeWindow, preferences: Preferences
) -> None:
    window = make_window(sentence="Ein Mann .")
    field = window.translate_page.sentence.input
    field.selectAll()
    qtbot.keyClicks(field, "Zwei Hunde .")
    window.close()
    assert make_window(sentence=None).translate_page.sentence.sentence.text == "Zwei hunde."


@pytest.mark.heavy
@pytest.mark.parametrize(
    "content", [b"", b'{"format": "augenmerk", "version": 99}', b"\x00\xff" * 500]
)
def test_a_damaged_session_is_set_aside_and_the_window_starts(
    make_window: MakeWindow, preferences: Preferences, content: bytes
) -> None:
    first = make_window(sentence="Zwei Hunde .")
    first.state.submit(toggle(OFF.head))
    first.close()
    preferences.own_file(SESSION).write_bytes(content)
    window = make_window(sentence=None)
    assert window.state.result is not None
    assert window.state.experiment.interventions == ()
    assert window.findChildren(QMessageBox) == []
    assert preferences.own_file("session.augenmerk.unreadable").read_bytes() == content
    window.close()
    assert preferences.own_file(SESSION).exists(), "and keeps the next one"


def _save(path: Path, translator: Translator, *interventions, view=None) -> Experiment:
    experiment = Experiment(SENTENCE, Greedy(), interventions or tuple(ACTS))
    model = ModelReference(translator.name, translator.digest)
    write_experiment_file(SavedExperiment(experiment, model, view or {"shown": "original"}), path)
    return experiment


def _drop(window: MainWindow, path: Path) -> None:
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile(str(path))])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        files,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(event)
    assert event.isAccepted()


@pytest.mark.heavy
def test_a_dropped_experiment_is_opened_by_its_content_and_can_be_undone(
    qtbot: QtBot,
    window: MainWindow,
    translator: Translator,
    tmp_path: Path,
    preferences: Preferences,
) -> None:
    path = tmp_path / "looks like a.safetensors"
    experiment = _save(path, translator)
    _drop(window, path)
    _settle(qtbot, window)
    assert window.state.settings.shown == "original"
    window.state.settings.shown = "changed"
    _check(window, translator.compare(experiment))
    assert preferences.recent_experiments.paths == (path,)
    assert path not in preferences.recent_models.paths
    qtbot.keyClick(window, Qt.Key.Key_Z, CTRL)
    _settle(qtbot, window)
    _check(window, translator.compare(Experiment(SENTENCE)))


@pytest.mark.heavy
def test_a_dropped_experiment_that_is_damaged_leaves_the_screen(
    qtbot: QtBot, window: MainWindow, translator: Translator, tmp_path: Path
) -> None:
    path = tmp_path / "damaged.augenmerk"
    _save(path, translator, view={"scale": "huge"})
    with qtbot.waitSignal(window.failed):
        _drop(window, path)
    (dialog,) = window.findChildren(QMessageBox)
    assert "view.scale" in dialog.informativeText()
    dialog.accept()
    _check(window, translator.compare(Experiment(SENTENCE)))


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("refused", "reason"),
    [
        (SourceWordRemoved(99), "word 100 removed"),
        (ForcedToken(1, "no-such-token"), "step 2: no-such-token"),
        (HeadScaled(Head("cross", 7, 0)), "cross 8·1 off"),
    ],
)
def test_a_refused_change_is_named_and_all_of_the_page_goes_on_with_what_it_shows(
    qtbot: QtBot, window: MainWindow, translator: Translator, refused: Intervention, reason: str
) -> None:
    window.state.submit(intervene(OFF))
    _settle(qtbot, window)
    with qtbot.waitSignal(window.failed):
        window.state.submit(intervene(refused))
    note = window.translate_page.sentence.note
    assert f"Not applied: {reason}." in note.text()
    assert note.isVisible()
    _check(window, translator.compare(Experiment(SENTENCE, Greedy(), (OFF,))))
    qtbot.keyClick(window, Qt.Key.Key_Z, CTRL)
    _settle(qtbot, window)
    _check(window, translator.compare(Experiment(SENTENCE)))


@pytest.mark.heavy
@pytest.mark.parametrize(
    "output", [GivenTarget("man " * 1200), GivenTarget(" ")], ids=["too long", "empty"]
)
def test_an_experiment_file_that_the_model_refuses_leaves_the_screen_and_says_why(
    qtbot: QtBot, window: MainWindow, translator: Translator, tmp_path: Path, output: GivenTarget
) -> None:
    path = tmp_path / "refused.augenmerk"
    experiment = Experiment("zwei hunde", output, (OFF,))
    model = ModelReference(translator.name, translator.digest)
    write_experiment_file(SavedExperiment(experiment, model, {}), path)
    with qtbot.waitSignal(window.failed):
        _drop(window, path)
    assert "The previous sentence is still shown." in window.translate_page.sentence.note.text()
    _check(window, translator.compare(Experiment(SENTENCE)))


@pytest.mark.heavy
def test_a_session_that_the_model_refuses_starts_with_its_plain_sentence(
    qtbot: QtBot,
    window: MainWindow,
    make_window: MakeWindow,
    translator: Translator,
    preferences: Preferences,
) -> None:
    window.close()
    model = ModelReference(translator.name, translator.digest)
    experiment = Experiment(SENTENCE, GivenTarget("man " * 1200), (OFF,))
    write_experiment_file(SavedExperiment(experiment, model, {}), preferences.own_file(SESSION))
    again = make_window(None, sentence=None, loader=None)
    _check(again, translator.compare(Experiment(SENTENCE)))
    assert "the given translation" in again.translate_page.sentence.note.text()


@pytest.fixture(scope="module")
def experiment_file(
    tmp_path_factory: pytest.TempPathFactory, untrained_checkpoint: Path, translator
) -> Path:
    """An experiment with its model beside it, under a name that says nothing."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "model.safetensors").write_bytes(untrained_checkpoint.read_bytes())
    _save(folder / "experiment", translator)
    return folder / "experiment"


@pytest.mark.heavy
@pytest.mark.parametrize("is_early", [False, True])
def test_an_experiment_of_a_larger_model_is_dropped_on_the_maps_of_a_smaller_one(
    make_window: MakeWindow,
    qtbot: QtBot,
    untrained_checkpoint: Path,
    translator: Translator,
    tmp_path: Path,
    is_early: bool,
) -> None:
    """Also while the smaller one is only being opened."""
    shallow = write_untrained_checkpoint(tmp_path / "shallow.safetensors", seed=1, num_layers=1)
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "deep.safetensors").write_bytes(untrained_checkpoint.read_bytes())
    path = tmp_path / "beside" / "one.augenmerk"
    experiment = _save(
        path, translator, view={"head": ["cross", 1, 1], "pinned": [1, 2], "shown": "changed"}
    )
    window = make_window(shallow, sentence="ein mann .", loader=None, wait=not is_early)
    _drop(window, path)
    qtbot.waitUntil(
        lambda: window.loader.model is not None and window.loader.model.name == "deep",
        timeout=20_000,
    )
    _settle(qtbot, window)
    assert window.state.experiment == experiment
    assert window.state.selection.head == Head("cross", 1, 1)
    assert window.state.selection.pinned == Pair(1, 2)


TAKE_A_PICTURE = """
import sys
from augenmerk.core.counting import display_text
from augenmerk.viz_app import application
from augenmerk.viz_app.launch import main

save = application.save_picture


def save_and_tell(window, target, finish):
    print(window.loader.model.name, [display_text(change) for change in window.state.experiment.interventions])
    print(window.translate_page.sentence.sentence.text)
    save(window, target, finish)


application.save_picture = save_and_tell
sys.exit(main(["app", sys.argv[1], "--screenshot", sys.argv[2]]))
"""


def _take_a_picture(file: Path, picture: Path) -> subprocess.CompletedProcess[str]:
    return run_process(
        [sys.executable, "-c", TAKE_A_PICTURE, str(file), str(picture)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        timeout=120,
    )


@pytest.mark.subprocess
@pytest.mark.slow
def test_the_app_opens_an_experiment_from_the_command_line_with_the_model_beside_it(
    experiment_file: Path, translator: Translator, tmp_path: Path
) -> None:
    taken = _take_a_picture(experiment_file, tmp_path / "window.png")
    result = translator.compare(Experiment(SENTENCE, Greedy(), tuple(ACTS)))
    names = [CHIPS[intervention] for intervention in result.experiment.interventions]
    assert taken.stdout == f"model {names}\n{result.changed.text}\n", taken.stderr
    assert taken.returncode == 0
    assert (tmp_path / "window.png").stat().st_size > 10_000


@pytest.mark.subprocess
@pytest.mark.slow
def test_an_experiment_that_cannot_be_opened_from_the_command_line_ends_with_its_problem(
    experiment_file: Path, tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged.augenmerk"
    damaged.write_text(
        experiment_file.read_text(encoding="utf-8").replace('"original"', '"sideways"'), "utf-8"
    )
    taken = _take_a_picture(damaged, tmp_path / "window.png")
    assert taken.returncode == 2, taken.stderr
    assert "view.shown" in taken.stderr
    assert not (tmp_path / "window.png").exists()
