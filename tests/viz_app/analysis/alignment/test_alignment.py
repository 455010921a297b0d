"""Word links: the state without a window, and the tab with a mouse."""

from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot
from viz_app.state.translate_state import HeadChoice, TranslateState

from core.translation.result import AttentionMaps
from tests.viz_app.analysis.conftest import MakeRealWindow, OpenTab
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.synthetic import make_translation
from viz_app.analysis.alignment.state import AlignmentState
from viz_app.analysis.alignment.view import AlignmentTab


def _state(source: str = "ein mann schläft", target: str = "a man sleeps") -> TranslateState:
    state = TranslateState()
    state.label_mode = "read"
    state.await_result(1)
    state.accept(1, make_translation(source, target, num_layers=1, num_heads=2))
    state.choose(HeadChoice("cross", 0, 0))
    return state


def _with_cross(state: TranslateState, rows: list[list[float]]) -> None:
    translation = state.translation
    assert translation is not None
    cross = np.zeros_like(translation.maps.cross)
    cross[:, :] = np.array(rows, dtype=np.float32)
    object.__setattr__(translation, "maps", AttentionMaps(translation.maps.encoder, translation.maps.decoder, cross))


# Columns <sos> ein mann schläft <eos>; rows read <sos> a man sleeps and predict a man sleeps <eos>.
ROWS = [[0.1, 0.7, 0.1, 0.1, 0], [0, 0.6, 0.4, 0, 0], [0.5, 0, 0.3, 0.2, 0], [0, 0, 0, 0.25, 0.75]]


def test_links_follow_the_label_mode() -> None:
    page = _state()
    _with_cross(page, ROWS)
    page.label_mode = "predicted"
    links = AlignmentState(page).links()
    assert links is not None
    assert (links.sources, links.targets) == (("ein", "mann", "schläft"), ("a", "man", "sleeps"))
    assert links.best == (0, 0, 1)
    page.label_mode = "read"
    links = AlignmentState(page).links()
    assert links is not None
    assert links.targets == ("a", "man", "sleeps")
    assert links.best == (0, 1, 2)


def test_what_lay_on_start_and_end_is_left_out_and_the_rest_scaled_up() -> None:
    page = _state()
    _with_cross(page, ROWS)
    links = AlignmentState(page).links()
    assert links is not None
    np.testing.assert_allclose(links.strengths, [[0.6, 0.4, 0], [0, 0.6, 0.4], [0, 0, 1]], atol=1e-6)


def test_the_strongest_link_of_a_word_is_shown_whatever_the_threshold() -> None:
    page = _state()
    _with_cross(page, ROWS)
    links = AlignmentState(page).links()
    assert links is not None
    assert [link[:2] for link in links.shown(0.9)] == [(0, 0), (1, 1), (2, 2)]
    assert [link[:2] for link in links.shown(0.3)] == [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]


def test_pieces_of_a_word_have_one_link() -> None:
    page = _state("ein haus|boot", "a house|boat")
    links = AlignmentState(page).links()
    assert links is not None
    assert links.sources == ("ein", "hausboot")
    assert links.targets == ("a", "houseboat")


def test_there_are_no_links_within_one_language() -> None:
    page = _state()
    page.choose(HeadChoice("encoder", 0, 0))
    assert AlignmentState(page).links() is None


def test_the_tab_draws_the_links_of_the_head_that_is_chosen(
    make_window: MakeWindow, open_tab: OpenTab, qtbot: QtBot
) -> None:
    window = make_window(sentence="Ein Mann schläft .")
    page = window.translate_page
    page.choose(HeadChoice("cross", 0, 0))
    tab = open_tab(window, "Alignment")
    assert isinstance(tab, AlignmentTab)
    assert tab.links.isVisible()
    before = tab.links.grab().toImage()
    page.choose(HeadChoice("cross", 0, 3))
    assert tab.links.grab().toImage() != before
    page.choose(HeadChoice("encoder", 0, 0))
    assert not tab.links.isVisible()


def test_the_word_under_the_mouse_tells_its_links(make_window: MakeWindow, open_tab: OpenTab, qtbot: QtBot) -> None:
    window = make_window(sentence="Ein Mann schläft .")
    window.translate_page.choose(HeadChoice("cross", 0, 0))
    tab = open_tab(window, "Alignment")
    assert isinstance(tab, AlignmentTab)
    qtbot.mouseMove(tab.links, tab.links.place_of("target", 1).center().toPoint())
    assert tab.links.hovered == ("target", 1)
    assert tab.links.toolTip().startswith("mann\n")
    qtbot.mouseMove(tab.links, QPoint(tab.links.width() // 2, 1))
    assert tab.links.hovered is None


def test_the_threshold_is_set_by_hand(make_window: MakeWindow, open_tab: OpenTab, qtbot: QtBot) -> None:
    window = make_window(sentence="Ein Mann schläft .")
    window.translate_page.choose(HeadChoice("cross", 0, 5))
    tab = open_tab(window, "Alignment")
    assert isinstance(tab, AlignmentTab)
    before = tab.links.grab().toImage()
    tab.threshold.setFocus()
    qtbot.keyClick(tab.threshold, Qt.Key.Key_Home)
    assert tab.state.threshold == 0.02
    assert tab.links.grab().toImage() != before


def test_the_ranking_is_shown_and_a_click_shows_what_a_row_reads(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot
) -> None:
    window = make_real_window(model_files["words"], "Ein Hund schläft im Gras .")
    tab = open_tab(window, "Alignment")
    assert isinstance(tab, AlignmentTab)
    assert not tab.table.isVisible()
    qtbot.mouseClick(tab.ranker.start, Qt.MouseButton.LeftButton)
    assert tab.ranker.stop.isVisible()
    qtbot.waitUntil(lambda: tab.state.ranking is not None, timeout=60_000)
    ranking = tab.state.ranking
    assert ranking is not None
    rows = ranking.in_order
    assert tab.table.rowCount() == len(rows)
    assert [each.choosing for each in rows] == sorted(each.choosing for each in rows)
    assert "diagonal" in {each.name for each in rows}
    index = next(place for place, each in enumerate(rows) if each.head == 2 and each.measure == "norm")
    item = tab.table.item(index, 0)
    tab.table.scrollToItem(item)
    qtbot.mouseClick(tab.table.viewport(), Qt.MouseButton.LeftButton, pos=tab.table.visualItemRect(item).center())
    state = window.translate_page.state
    assert (state.choice.kind, state.choice.layer, state.choice.head) == ("cross", rows[index].layer, 2)
    assert (state.measure, state.label_mode, state.scope) == ("norm", rows[index].label_mode, "head")
    qtbot.waitUntil(lambda: state.measured is not None)
    mean = next(place for place, each in enumerate(rows) if each.measure == "weight" and each.layer is None)
    tab.aligner_chosen.emit(rows[mean])
    assert (state.scope, state.combination, state.measure) == ("all", "mean", "weight")


def test_a_ranking_can_be_cancelled(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot
) -> None:
    window = make_real_window(model_files["words"], "Ein Hund .")
    tab = open_tab(window, "Alignment")
    assert isinstance(tab, AlignmentTab)
    qtbot.mouseClick(tab.ranker.start, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(tab.ranker.stop, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(window.translation_shown):
        window.translate_page.sentence.input.set_text("Ein Mann .")
    assert tab.state.ranking is None
    assert tab.ranker.start.isVisible()
