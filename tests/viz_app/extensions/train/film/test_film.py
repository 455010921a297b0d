from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from augenmerk.core.counting import CountedText, Index
from augenmerk.core.model.heads import Head
from augenmerk.viz_app.extensions.train.curves import RunCurves
from augenmerk.viz_app.extensions.train.film import (
    NOT_KEPT,
    NOT_TRANSLATED,
    FilmPanel,
    FilmStrip,
    SamplesPanel,
    shown_frames,
)
from augenmerk.viz_app.extensions.train.playback import Playback
from augenmerk.viz_app.extensions.train.state import Run, Status, TrainState
from augenmerk.viz_app.heatmap.head_grid import MIN_THUMBNAIL
from augenmerk.viz_app.theme import Theme
from tests.viz_app.builders import click, settle_layout, shown
from tests.viz_app.extensions.train.scripted import epoch_done, probe, request, sample, started


@pytest.fixture
def state() -> TrainState:
    """A film of five frames and four samples."""
    state = TrainState()
    for epoch in range(5):
        state.apply(probe(epoch, "a man ." if epoch > 1 else ". ."))
        if epoch:
            state.apply(sample(epoch))
    return state


@pytest.fixture
def playback(state: TrainState) -> Playback:
    return state.playback


@pytest.fixture
def panel(qtbot: QtBot, state: TrainState, theme: Theme) -> Iterator[FilmPanel]:
    panel = shown(qtbot, FilmPanel(state), (900, 420))
    yield panel
    panel.stop_playing()


@pytest.mark.parametrize(
    ("num_frames", "room", "shown", "expected"),
    [
        (3, 8, 1, [0, 1, 2]),
        (11, 6, 10, [0, 2, 4, 6, 8, 10]),
        (11, 6, 7, [0, 2, 4, 7, 8, 10]),
        (11, 6, 9, [0, 2, 4, 6, 9, 10]),
        (101, 3, 1, [0, 1, 100]),
        (5, 1, 3, [3]),
        (0, 6, None, []),
    ],
)
def test_strip_shows_evenly_chosen_frames_and_the_shown_one(
    num_frames: int, room: int, shown: int | None, expected: list[int]
) -> None:
    assert shown_frames(num_frames, room, shown) == expected


def test_every_frame_can_be_reached_on_a_strip_that_leaves_some_out(
    qtbot: QtBot, theme: Theme
) -> None:
    playback = Playback()
    for epoch in range(40):
        playback.add(probe(epoch))
    strip = FilmStrip(playback)
    qtbot.addWidget(strip)
    strip.resize(420, 80)
    strip.rebuild()
    assert len(strip.pictures) == 6
    assert {strip.frame_at(x) for x in range(421)} == set(range(40))


UNLABELLED = {(20, 300), (20, 420), (20, 496), (31, 300), (31, 420), (31, 496), (31, 700)}
"""Frames and width of the strips whose pictures have no room for their epochs."""


@pytest.mark.parametrize("width", [300, 420, 496, 700, 1200])
@pytest.mark.parametrize("num_frames", [8, 11, 20, 31])
def test_the_strip_of_a_run_of_up_to_30_epochs_omits_none(
    qtbot: QtBot, theme: Theme, num_frames: int, width: int
) -> None:
    playback = Playback()
    for epoch in range(num_frames):
        playback.add(probe(epoch))
    strip = FilmStrip(playback)
    qtbot.addWidget(strip)
    strip.resize(width, strip.sizeHint().height())
    strip.rebuild()
    assert [picture.index for picture in strip.pictures] == list(range(num_frames))
    places = [picture.place for picture in strip.pictures]
    assert all(QRectF(strip.rect()).contains(box.adjusted(-2, -2, 2, 2)) for box in places), (
        "with their frames"
    )
    assert not any(one.intersects(other) for one, other in combinations(places, 2))
    assert min(box.width() for box in places) >= 18
    for picture in strip.pictures:
        middle = picture.place.center()
        assert strip.frame_at(middle.x(), middle.y()) == picture.index
    assert strip.has_labels == ((num_frames, width) not in UNLABELLED)
    assert not strip.has_labels or len({box.top() for box in places}) == 1, (
        "in one row, with room below"
    )


def test_slider_scrubs_and_the_map_follows(panel: FilmPanel, playback: Playback) -> None:
    panel.slider.setValue(1)
    assert playback.frame is playback.frames[1]
    assert panel.text.text() == playback.frames[1].translation.text
    assert "epoch 1 · step 5 · validation loss 5.000" in panel.frame_label.text()
    assert panel.heatmap._view is not None
    assert panel.heatmap._view.row_labels == playback.frames[1].translation.predicted_tokens
    panel.slider.setValue(4)
    assert "newest" in panel.frame_label.text()


def test_texts_of_a_narrow_film_become_shorter_before_they_are_cut(
    panel: FilmPanel, playback: Playback
) -> None:
    panel.resize(900, 240)
    playback.show_frame(4)
    settle_layout()
    for text in (panel.frame_label, panel.meaning):
        assert text.isVisible()
        assert text.shown_text() != text.whole
        assert "…" not in text.shown_text()
    assert panel.frame_label.shown_text().startswith("epoch 4 · validation loss ")


def test_click_on_the_strip_goes_there(panel: FilmPanel, playback: Playback, qtbot: QtBot) -> None:
    center = panel.strip.pictures[2].place.center().toPoint()
    qtbot.mouseClick(panel.strip, Qt.MouseButton.LeftButton, pos=center)
    assert playback.frame_index == 2
    assert panel.slider.value() == 2
    qtbot.keyClick(panel.strip, Qt.Key.Key_Left)
    assert panel.slider.value() == 1


@pytest.mark.heavy
def test_film_plays_to_its_end_and_from_its_beginning_again(
    panel: FilmPanel, playback: Playback, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("augenmerk.viz_app.extensions.train.film.PLAY_SECONDS", 0.3)
    seen: list[int | None] = []
    playback.changed.connect(lambda: seen.append(playback.frame_index))
    qtbot.mouseClick(panel.play_button, Qt.MouseButton.LeftButton)
    assert panel.is_playing
    qtbot.waitUntil(lambda: not panel.is_playing)
    assert seen == [0, 1, 2, 3, 4]
    assert playback.follows


def test_scrubbing_and_hiding_stop_the_film(panel: FilmPanel) -> None:
    panel.play()
    panel.slider.setValue(2)
    assert not panel.is_playing
    panel.play()
    panel.hide()
    assert not panel.is_playing


def test_any_head_can_be_chosen_by_menu_and_by_picture(
    panel: FilmPanel, playback: Playback, qtbot: QtBot
) -> None:
    panel.kind_menu.actions_by_name["decoder"].trigger()
    panel.layer_menu.actions_by_name["2"].trigger()
    panel.head_menu.actions_by_name["5"].trigger()
    assert playback.maps.selection.head == Head("decoder", 2, 5)
    click(qtbot, panel.grid, Head("decoder", 0, 1))
    assert playback.maps.selection.head == Head("decoder", 0, 1)
    assert panel.kind_menu.text().startswith("Decoder self-attention")
    assert panel.head_menu.text().startswith("head 2")


def test_head_cannot_be_switched_off_in_the_past(panel: FilmPanel, qtbot: QtBot) -> None:
    box = panel.grid.place_of(Head("cross", 0, 1))
    assert box is not None
    qtbot.mouseMove(panel.grid, box.center())
    assert panel.grid.switch_of(Head("cross", 0, 1)) is None


def test_strip_wears_the_colours_of_the_theme(panel: FilmPanel, qapp: QApplication) -> None:
    corner = panel.strip.pictures[0].place.topLeft().toPoint() + QPoint(3, 3)
    light = panel.strip.grab().toImage().pixelColor(corner).lightness()
    Theme.dark().apply(qapp)
    dark = panel.strip.grab().toImage().pixelColor(corner).lightness()
    assert light != dark


def test_run_without_a_film_says_so(qtbot: QtBot, theme: Theme) -> None:
    state = TrainState()
    panel = FilmPanel(state)
    qtbot.addWidget(panel)
    state.begin(request(Path("run")))
    assert "Drag the slider" in panel.empty_state.label.text()
    state.fail("Out of memory.")
    assert panel.empty_state.label.text() == "This run has no film."
    panel.play()
    assert not panel.is_playing


def test_translations_stand_beside_their_references(
    qtbot: QtBot, state: TrainState, theme: Theme
) -> None:
    panel = shown(qtbot, SamplesPanel(state))
    assert panel.texts()[0] == ("Satz 1", "sentence 1", "sentence 1 in epoch 4")
    assert panel.score.text() == "epoch 4 · BLEU 40.0 on 100 sentences"
    assert not panel.forward_button.isEnabled()
    qtbot.mouseClick(panel.back_button, Qt.MouseButton.LeftButton)
    assert panel.texts()[1][2] == "sentence 2 in epoch 3"
    for _ in range(3):
        qtbot.mouseClick(panel.back_button, Qt.MouseButton.LeftButton)
    assert "before the first validation" in panel.waiting.text()
    assert not panel._table.isVisible()
    assert not panel.back_button.isEnabled()


def test_validations_of_an_earlier_session_show_their_score_and_why_there_is_no_translation(
    qtbot: QtBot, theme: Theme
) -> None:
    """A run saves no samples: those before it was resumed are gone with the window."""
    state = TrainState()
    curves = RunCurves()
    scored = [replace(epoch_done(epoch), bleu=6.0 * epoch) for epoch in (1, 2)]
    curves.add_run([*scored, epoch_done(3)], None)
    folder = Path("run")
    state.show_run(
        Run(Status.IDLE, request(folder), folder, curves), [probe(epoch) for epoch in range(4)]
    )
    panel = shown(qtbot, SamplesPanel(state))
    assert panel.waiting.text() == NOT_TRANSLATED
    assert not panel.score.text()
    state.begin(request(folder, resume=True))
    state.apply(started(folder, num_epochs=4, first_step=15), sample(4), probe(4), epoch_done(4))
    assert panel.texts()
    state.playback.show_frame(2)
    assert panel.waiting.text() == NOT_KEPT
    assert panel.score.text() == "epoch 2 · BLEU 12.0"
    assert not panel._table.isVisible()
    state.playback.show_frame(0)
    assert "before the first validation" in panel.waiting.text()
    assert not panel.score.text()
    state.playback.show_frame(4)
    assert panel.score.text().startswith("epoch 4 · BLEU 40.0")


def test_notes_on_the_sample_stand_below_it(qtbot: QtBot, state: TrainState, theme: Theme) -> None:
    panel = shown(qtbot, SamplesPanel(state))
    assert not panel.notes.isVisible()
    number = CountedText("Number {index} is empty.", index=Index(1))
    newest = state.playback.samples[-1]
    state.apply(replace(newest, step=newest.step + 1, notes=("One sentence was cut.", number)))
    assert panel.notes.isVisible()
    assert panel.notes.text() == "One sentence was cut.\nNumber 2 is empty."
    qtbot.mouseClick(panel.back_button, Qt.MouseButton.LeftButton)
    assert not panel.notes.isVisible()


@pytest.mark.parametrize("height", [211, 240, 420])
def test_the_heads_of_the_chosen_kind_are_whole_in_a_low_panel(
    panel: FilmPanel, playback: Playback, height: int
) -> None:
    panel.setFixedHeight(height)  # as low as the smallest window makes it
    settle_layout()
    assert panel.strip.height() >= panel.strip.sizeHint().height()
    for kind in ("encoder", "decoder", "cross"):
        panel.kind_menu.chosen.emit(kind)
        settle_layout()
        num_layers, num_heads = playback.maps.maps.shape(kind)  # type: ignore[arg-type]
        assert panel.grid.isVisible()
        for layer, number in product(range(num_layers), range(num_heads)):
            thumbnail = panel.grid.place_of(Head(kind, layer, number))  # type: ignore[arg-type]
            assert thumbnail is not None
            assert thumbnail.height() >= MIN_THUMBNAIL
            assert panel.grid.visibleRegion().contains(thumbnail)
    # the lines stay together
    assert panel.text.y() - panel.frame_label.geometry().bottom() < 10
