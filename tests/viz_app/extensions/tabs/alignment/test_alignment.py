"""Word links: the state without a window, and the tab with a mouse."""

from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from augenmerk.core.checkpoint.file import load_checkpoint, save_checkpoint
from augenmerk.core.counting import CountedText, Index
from augenmerk.core.extensions.analyses.alignment import AlignmentScore
from augenmerk.core.extensions.analyses.alignment_ranking import (
    Aligner,
    AlignerRanking,
    AlignerScore,
)
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import ForcedToken, HeadScaled
from augenmerk.core.translation.result import AttentionMaps, ExperimentResult, Translation
from augenmerk.viz_app.extensions.tabs.alignment.state import AlignmentState, summary
from augenmerk.viz_app.extensions.tabs.alignment.view import AlignmentTab
from augenmerk.viz_app.state.experiment_editor import edit_text, toggle
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view_settings import SHOWN_MAPS
from augenmerk.viz_app.theme import Theme
from tests.viz_app.builders import text_in
from tests.viz_app.extensions.tabs.conftest import MakeContext, ShowTab, load, settle
from tests.viz_app.synthetic import make_result, make_translation

# Columns <sos> ein mann schläft <eos>; rows read <sos> a man sleeps and predict a man sleeps <eos>.
ROWS = [[0.1, 0.7, 0.1, 0.1, 0], [0, 0.6, 0.4, 0, 0], [0.5, 0, 0.3, 0.2, 0], [0, 0, 0, 0.25, 0.75]]
OTHER_ROWS = [[0, 0, 0.5, 0.5, 0]] * 4


def _translation(rows: list[list[float]], **changes: object) -> Translation:
    made = make_translation(
        "ein mann schläft", "a man sleeps", num_layers=1, num_heads=2, **changes
    )  # type: ignore[arg-type]
    cross = np.zeros_like(made.maps.cross)
    cross[:, :] = np.array(rows, dtype=np.float32)
    return replace(made, attention=AttentionMaps(made.maps.encoder, made.maps.decoder, cross))


def _alignment(result: ExperimentResult | None = None) -> AlignmentState:
    state = ExperimentState()
    state.settings.label_mode = "read"
    state.accept(result or make_result(_translation(ROWS)))
    state.selection.choose(Head("cross", 0, 0))
    return AlignmentState(state)


def test_links_follow_the_label_mode() -> None:
    alignment = _alignment()
    alignment.state.settings.label_mode = "predicted"
    links = alignment.links()
    assert links is not None
    assert (links.sources, links.targets) == (("ein", "mann", "schläft"), ("a", "man", "sleeps"))
    assert links.best == (0, 0, 1)
    alignment.state.settings.label_mode = "read"
    links = alignment.links()
    assert links is not None
    assert links.targets == ("a", "man", "sleeps")
    assert links.best == (0, 1, 2)


def test_what_lay_on_start_and_end_is_left_out_and_the_rest_scaled_up() -> None:
    links = _alignment().links()
    assert links is not None
    np.testing.assert_allclose(
        links.strengths, [[0.6, 0.4, 0.0], [0.0, 0.6, 0.4], [0.0, 0.0, 1.0]], atol=1e-6
    )


def test_the_strongest_link_of_a_word_is_shown_whatever_the_threshold() -> None:
    links = _alignment().links()
    assert links is not None
    assert [link[:2] for link in links.shown(0.9)] == [(0, 0), (1, 1), (2, 2)]
    assert [link[:2] for link in links.shown(0.3)] == [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]


def test_pieces_of_a_word_have_one_link_whatever_the_large_map_shows() -> None:
    alignment = _alignment(make_result(make_translation("ein haus|boot .", "a house|boat .")))
    settings = alignment.state.settings
    settings.merges_words, settings.hides_punctuation = False, True
    links = alignment.links()
    assert links is not None
    assert links.sources == ("ein", "hausboot", ".")
    assert links.targets == ("a", "houseboat", ".")


def test_there_are_no_links_within_one_language_and_none_of_no_word() -> None:
    alignment = _alignment()
    alignment.state.selection.choose(Head("encoder", 0, 0))
    assert alignment.links() is None
    assert _alignment(make_result(make_translation("ein mann", ""))).links() is None
    assert AlignmentState(ExperimentState()).links() is None


def test_links_are_those_of_the_maps_that_are_shown() -> None:
    original = _translation(ROWS)
    changed = _translation(OTHER_ROWS, interventions=(HeadScaled(Head("cross", 0, 1)),))
    alignment = _alignment(make_result(changed, original))
    best = {}
    for shown in SHOWN_MAPS:
        alignment.state.settings.shown = shown
        links = alignment.links()
        assert links is not None
        best[shown] = (links.best, alignment.which_maps)
    assert best["original"] == ((0, 1, 2), "Links of the original maps.")
    assert best["changed"] == ((1, 1, 1), "Links of the changed maps.")
    assert best["difference"][0] == (1, 1, 1)
    assert "Links of the changed maps" in best["difference"][1]
    assert _alignment().which_maps == "", "there is one translation only"


def test_words_that_the_original_does_not_have_are_known() -> None:
    changed = make_translation(
        "ein mann schläft", "a dog sleeps", interventions=(ForcedToken(1, "dog"),)
    )
    original = make_translation("ein mann schläft", "a man sleeps")
    alignment = _alignment(make_result(changed, original))
    links = alignment.links()
    assert links is not None
    assert (links.targets, links.new_targets, links.new_sources) == (
        ("a", "dog", "sleeps"),
        {1},
        frozenset(),
    )
    alignment.state.settings.shown = "original"
    links = alignment.links()
    assert links is not None
    assert (links.targets, links.new_targets) == (("a", "man", "sleeps"), frozenset())


@pytest.fixture
def tab(make_context: MakeContext, show_tab: ShowTab) -> AlignmentTab:
    shown = show_tab(make_context(), AlignmentTab)
    assert isinstance(shown, AlignmentTab)
    shown.state.intents.choose_head(Head("cross", 0, 0))
    return shown


@pytest.mark.heavy
def test_the_tab_draws_the_links_of_the_large_map(tab: AlignmentTab) -> None:
    def picture() -> bytes:
        image = tab.links.grab().toImage()
        return bytes(image.constBits())

    assert tab.links.isVisible()
    pictures = [picture()]
    tab.state.intents.choose_head(Head("cross", 0, 3))
    pictures.append(picture())
    tab.state.settings.label_mode = (
        "read" if tab.state.settings.label_mode == "predicted" else "predicted"
    )
    pictures.append(picture())
    tab.state.settings.scope = "all"
    pictures.append(picture())
    assert len(set(pictures)) == 4
    tab.state.intents.choose_head(Head("encoder", 0, 0))
    assert not tab.links.isVisible()
    assert not tab.threshold.isVisible()


def test_the_word_under_the_mouse_tells_its_links(tab: AlignmentTab, qtbot: QtBot) -> None:
    tab.state.accept(make_result(make_translation("ein mann schläft .", "ein mann schläft .")))
    tab.state.intents.choose_head(Head("cross", 0, 0))
    center = tab.links.place_of("target", 1).center()
    qtbot.mouseMove(tab.links, center.toPoint())
    assert tab.links.hovered == ("target", 1)
    assert tab.links.tip_at(center).startswith("mann\n")
    qtbot.mouseMove(tab.links, QPoint(tab.links.width() // 2, 1))
    assert tab.links.hovered is None


def test_the_gaps_between_words_yield_before_the_links_scroll(
    tab: AlignmentTab, qtbot: QtBot
) -> None:
    words = " ".join(["wort"] * 20)
    tab.state.accept(make_result(make_translation(words, words)))
    tab.state.intents.choose_head(Head("cross", 0, 0))
    panel, bar = tab.window(), tab._area.verticalScrollBar()
    panel.resize(430, 900)
    qtbot.waitUntil(lambda: tab.links.height() == tab.links.maximumHeight())
    assert tab.explanation.isVisible()
    panel.resize(430, 560)
    qtbot.waitUntil(lambda: tab.links.height() < tab.links.maximumHeight())
    assert bar.maximum() == 0
    assert not tab.explanation.isVisible()
    places = [tab.links.place_of("target", index) for index in range(20)]
    assert all(above.bottom() <= below.top() + 0.01 for above, below in pairwise(places))
    assert places[-1].bottom() <= tab.links.height()
    panel.resize(430, 400)
    qtbot.waitUntil(lambda: bar.maximum() > 0)


def test_the_threshold_is_set_by_hand(tab: AlignmentTab, qtbot: QtBot) -> None:
    tab.state.accept(make_result(make_translation("ein mann schläft .", "ein mann schläft .")))
    tab.state.intents.choose_head(Head("cross", 0, 5))
    before = tab.links.grab().toImage()
    tab.threshold.setFocus()
    qtbot.keyClick(tab.threshold, Qt.Key.Key_Home)
    assert tab.alignment.threshold == 0.02
    assert tab.links.grab().toImage() != before


@pytest.mark.heavy
def test_the_links_take_the_colours_of_another_theme(
    tab: AlignmentTab, qapp: QApplication, theme: Theme
) -> None:
    before = tab.links.grab().toImage()
    Theme.dark().apply(qapp)
    after = tab.links.grab().toImage()
    theme.apply(qapp)
    assert after != before


@pytest.mark.slow
@pytest.mark.heavy
def test_the_ranking_is_shown_and_a_click_shows_what_a_row_reads(
    tab: AlignmentTab, qtbot: QtBot
) -> None:
    assert not tab.table.isVisible()
    qtbot.mouseClick(tab.ranker.start, Qt.MouseButton.LeftButton)
    assert tab.ranker.stop.isVisible()
    qtbot.waitUntil(lambda: tab.alignment.ranking is not None, timeout=60_000)
    rows = tab.alignment.ranked()
    assert tab.table.rowCount() == len(rows)
    rates = [row.choosing.aer for row in rows]
    assert rates == sorted(rates)
    assert "diagonal" in {row.name for row in rows}
    aligners = [row.aligner for row in rows]
    index = next(
        index
        for index, aligner in enumerate(aligners)
        if aligner is not None and aligner.head == 2 and aligner.layer and aligner.measure == "norm"
    )
    item = tab.table.item(index, 0)
    assert item is not None
    tab.table.scrollToItem(item)
    qtbot.mouseClick(
        tab.table.viewport(), Qt.MouseButton.LeftButton, pos=tab.table.visualItemRect(item).center()
    )
    state, aligner = tab.state, aligners[index]
    assert aligner is not None
    assert aligner.layer is not None
    assert state.selection.head == Head("cross", aligner.layer, 2)
    assert (state.settings.measure, state.settings.label_mode) == ("norm", aligner.label_mode)
    assert state.settings.scope == "head"
    qtbot.waitUntil(lambda: state.maps.shown_measure("cross") == "norm")
    mean = next(
        index
        for index, aligner in enumerate(aligners)
        if aligner is not None and aligner.layer is None
    )
    tab.table.row_chosen.emit(mean)
    assert (state.settings.scope, state.settings.combination) == ("all", "mean")
    baseline = aligners.index(None)
    before = asdict(state.settings)
    tab.table.row_chosen.emit(baseline)
    assert asdict(state.settings) == before, "there is no map of a baseline"


@pytest.mark.slow
@pytest.mark.heavy
def test_a_ranking_can_be_cancelled_and_is_of_one_model(
    tab: AlignmentTab, model_files: dict[str, Path], qtbot: QtBot
) -> None:
    qtbot.mouseClick(tab.ranker.start, Qt.MouseButton.LeftButton)
    assert "(Esc)" in tab.ranker.stop.toolTip()
    qtbot.keyClick(tab.ranker.stop, Qt.Key.Key_Escape)
    assert not tab.request.is_running
    qtbot.mouseClick(tab.ranker.start, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(tab.ranker.stop, Qt.MouseButton.LeftButton)
    tab.state.submit(edit_text("Ein Mann ."))
    settle(qtbot, tab)
    assert tab.alignment.ranking is None
    assert tab.ranker.start.isVisible()
    qtbot.mouseClick(tab.ranker.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: tab.alignment.ranking is not None, timeout=60_000)
    tab.table.setFocus()
    load(tab.context, model_files["single"])
    qtbot.waitUntil(lambda: tab.alignment.ranking is None, timeout=10_000)
    assert tab.table.rowCount() == 0
    assert not tab.table.isVisible()
    assert tab.ranker.start.hasFocus(), "focus stays in the tab"


@pytest.mark.heavy
def test_a_model_of_other_languages_is_not_ranked_on_the_shipped_pairs(
    tab: AlignmentTab, model_files: dict[str, Path], tmp_path: Path, qtbot: QtBot
) -> None:
    checkpoint = load_checkpoint(model_files["words"])
    data = checkpoint.run.data.replace(source_language="en", target_language="de")
    path = tmp_path / "en-de.safetensors"
    save_checkpoint(replace(checkpoint, run=replace(checkpoint.run, data=data)), path)
    load(tab.context, path)
    qtbot.waitUntil(
        lambda: tab.state.model is not None and tab.state.model.path == path, timeout=10_000
    )
    settle(qtbot, tab)
    qtbot.mouseClick(tab.ranker.start, Qt.MouseButton.LeftButton)
    settle(qtbot, tab)
    assert tab.alignment.ranking is None
    assert "translates English to German; the sample is German to English" in tab.request.problem
    assert "augenmerk align --gold FILE" in tab.request.problem


@pytest.mark.slow
@pytest.mark.heavy
def test_a_ranking_goes_on_while_another_experiment_is_computed(
    tab: AlignmentTab, qtbot: QtBot
) -> None:
    qtbot.mouseClick(tab.ranker.start, Qt.MouseButton.LeftButton)
    before = tab.state.translation
    tab.state.submit(toggle(Head("cross", 0, 0)))
    qtbot.waitUntil(lambda: tab.state.translation is not before, timeout=10_000)
    assert tab.request.is_running
    qtbot.waitUntil(lambda: tab.alignment.ranking is not None, timeout=60_000)
    assert "Links of the changed maps." in text_in(tab)


@pytest.mark.parametrize(
    ("num_skipped", "told"), [(0, ""), (1, " 1 pair was skipped:"), (2, " 2 pairs were skipped:")]
)
def test_the_summary_counts_the_pairs_that_were_left_out(num_skipped: int, told: str) -> None:
    aligner, score = Aligner(None, None, "read", "weight"), AlignmentScore(4, 4, 3, 3)
    ranking = AlignerRanking(
        (AlignerScore(aligner, str(aligner), score, score),),
        (),
        3,
        3,
        num_skipped,
        is_complete=True,
    )
    assert ("skipped" in summary(ranking)) == bool(num_skipped)
    assert told in summary(ranking)
    note = CountedText("Number {index} is cut.", index=Index(1))
    assert summary(replace(ranking, notes=(note,))).endswith("\nNumber 2 is cut.")
