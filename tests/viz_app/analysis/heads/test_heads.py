"""What every head is worth, and what it does: over samples, chunk by chunk, with interruptions."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QPainter, QRegion
from pytestqt.qtbot import QtBot
from viz_app.state.translate_state import HeadChoice

from benchmarks.lag import lags, percentile
from core.analysis.importance import head_importance
from core.errors import AnalysisError, CorpusError
from core.resources import bundled_model_path
from core.translation.result import MAP_KINDS, TranslationStoppedError
from core.translation.translator import Translator
from tests.core.translators import ENGLISH, GERMAN
from tests.viz_app.analysis.conftest import MakeRealWindow, OpenTab
from viz_app.analysis.heads.job import CHUNK, HeadWorthJob, StatisticsJob, with_translations
from viz_app.analysis.heads.samples import read_sample
from viz_app.analysis.heads.state import HeadWorth, SampleChoice, blocks
from viz_app.analysis.heads.view import HeadsTab
from viz_app.heatmap.head_grid_paint import GridPainter
from viz_app.state.progress import Progress
from viz_app.worker import JobInterrupted

NUM = 2 * CHUNK + 3
TICK_MS = 5
MIXED = (("mixed",) * 8,) * 3


@pytest.fixture
def sample_file(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    lines = [f"{german}\t{english}" for german, english in zip(GERMAN[::5], ENGLISH[::5], strict=True)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def translator(model_files: dict[str, Path]) -> Translator:
    return Translator.load(model_files["words"], "cpu")


def _quiet(_: Progress) -> None:
    """Nobody wants to know."""


def _assert_same(worth: HeadWorth, other: HeadWorth) -> None:
    assert (worth.num_sentences, worth.num_tokens) == (other.num_sentences, other.num_tokens)
    assert worth.loss == pytest.approx(other.loss, abs=1e-6)
    for kind in MAP_KINDS:
        np.testing.assert_allclose(worth.increase[kind], other.increase[kind], atol=1e-6)


def test_chunks_add_up_to_the_whole_sample(translator: Translator, sample_file: Path) -> None:
    partial: list[Progress] = []
    found = HeadWorthJob(SampleChoice("file", sample_file), NUM).run(translator, partial.append, lambda: False)
    sample = read_sample(SampleChoice("file", sample_file), NUM)
    assert sample.targets is not None
    whole = head_importance(translator, sample.sources, sample.targets)
    assert (found.num_sentences, found.num_tokens) == (NUM, whole.num_tokens)
    assert found.loss == pytest.approx(whole.loss, abs=1e-5)
    for kind in MAP_KINDS:
        np.testing.assert_allclose(found.increase[kind], whole.of_kind(kind), atol=2e-5)
    assert [each.partial.num_sentences for each in partial if isinstance(each.partial, HeadWorth)] == [
        CHUNK,
        2 * CHUNK,
        NUM,
    ]


def test_an_interrupted_measurement_goes_on_where_it_was(translator: Translator, sample_file: Path) -> None:
    job = HeadWorthJob(SampleChoice("file", sample_file), NUM)
    whole = job.run(translator, _quiet, lambda: False)
    before: list[Progress] = []
    asked = 0

    def at_the_second_chunk() -> bool:
        nonlocal asked
        asked += 1
        return asked > 90

    with pytest.raises(JobInterrupted) as interruption:
        job.run(translator, before.append, at_the_second_chunk)
    rest = interruption.value.rest
    assert isinstance(rest, HeadWorthJob)
    assert 0 < rest.done < NUM
    seen: list[Progress] = []
    _assert_same(rest.run(translator, seen.append, lambda: False), whole)
    assert seen[0].done == before[-1].done, "it goes on with the very head"


def test_interrupted_statistics_go_on_where_they_were(translator: Translator, sample_file: Path) -> None:
    job = StatisticsJob(SampleChoice("file", sample_file), 10)
    whole = job.run(translator, _quiet, lambda: False)
    asked = iter(range(100))
    with pytest.raises(JobInterrupted) as interruption:
        StatisticsJob(SampleChoice("file", sample_file), 10).run(translator, _quiet, lambda: next(asked) == 4)
    rest = interruption.value.rest
    assert isinstance(rest, StatisticsJob)
    assert rest.done == 4
    again = rest.run(translator, _quiet, lambda: False)
    assert again.num_sentences == whole.num_sentences == 10
    np.testing.assert_allclose(again.cross.entropy, whole.cross.entropy, rtol=1e-5)


def test_a_sample_that_the_model_refuses_is_told(translator: Translator, tmp_path: Path) -> None:
    path = tmp_path / "long.tsv"
    path.write_text("a " * 200 + "\t" + "b " * 200, encoding="utf-8")
    with pytest.raises(AnalysisError, match="could read none"):
        HeadWorthJob(SampleChoice("file", path), 5).run(translator, _quiet, lambda: False)


@pytest.mark.parametrize(("text", "message"), [("\n\n", "only empty lines"), ("ein\tone\nzwei", "a tab in some lines")])
def test_a_file_that_is_no_sample_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError, match=message):
        read_sample(SampleChoice("file", path), 5)


def test_without_translations_the_models_own_count(translator: Translator, tmp_path: Path) -> None:
    path = tmp_path / "german.txt"
    path.write_text("\n".join(GERMAN[:3]), encoding="utf-8")
    sample = read_sample(SampleChoice("file", path), 5)
    assert sample.targets is None
    found = with_translations(translator, sample, lambda: False)
    assert found.targets == tuple(each.text for each in translator.translate_corpus(GERMAN[:3]))
    with pytest.raises(TranslationStoppedError):
        with_translations(translator, sample, lambda: True)


def test_shipped_samples_have_as_many_sentences_as_asked_for() -> None:
    gold = read_sample(SampleChoice("gold"), 60)
    assert len(gold.sources) == 60
    assert gold.targets is not None
    assert len(read_sample(SampleChoice("examples"), 3).sources) == 3


def test_shares_are_drawn_as_blocks() -> None:
    assert blocks(np.array([0, 0.5, 1, 1.2], dtype=np.float32)) == "▁▅██"


def _measured(window, open_tab: OpenTab, qtbot: QtBot, sample_file: Path) -> HeadsTab:  # type: ignore[no-untyped-def]
    tab = open_tab(window, "Heads")
    assert isinstance(tab, HeadsTab)
    tab.use_file(sample_file)
    tab.state.num_sentences = 9
    qtbot.mouseClick(tab.job.start, Qt.MouseButton.LeftButton)
    assert tab.awaited.is_awaiting
    qtbot.waitUntil(lambda: tab.awaited.is_awaiting is False, timeout=30_000)
    return tab


@pytest.mark.parametrize("name", ["words", "single"])
def test_a_click_on_a_cell_switches_the_head_off(
    make_real_window: MakeRealWindow,
    model_files: dict[str, Path],
    open_tab: OpenTab,
    qtbot: QtBot,
    sample_file: Path,
    name: str,
) -> None:
    window = make_real_window(model_files[name], GERMAN[0])
    tab = _measured(window, open_tab, qtbot, sample_file)
    assert tab.state.worth is not None
    assert tab.state.worth.num_sentences == 9
    head = HeadChoice("cross", 0, 0)
    qtbot.mouseClick(tab.cells, Qt.MouseButton.LeftButton, pos=tab.cells.place_of(head).center())
    assert window.translate_page.state.is_off(head)
    qtbot.waitUntil(lambda: window.translate_page.state.switchboard.effect is not None)


def test_a_row_of_the_statistics_chooses_the_head(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot, sample_file: Path
) -> None:
    window = make_real_window(model_files["words"], GERMAN[0])
    tab = open_tab(window, "Heads")
    assert isinstance(tab, HeadsTab)
    qtbot.mouseClick(tab.question_buttons["statistics"], Qt.MouseButton.LeftButton)
    tab = _measured(window, open_tab, qtbot, sample_file)
    assert tab.table.isVisible()
    tab.table.sortItems(2, Qt.SortOrder.DescendingOrder)
    item = tab.table.item(0, 0)
    assert item is not None
    entropies = [float(tab.table.item(row, 2).text()) for row in range(tab.table.rowCount())]  # type: ignore[union-attr]
    assert entropies == sorted(entropies, reverse=True)
    qtbot.mouseClick(tab.table.viewport(), Qt.MouseButton.LeftButton, pos=tab.table.visualItemRect(item).center())
    choice = window.translate_page.state.choice
    kinds = {"enc": "encoder", "dec": "decoder", "cross": "cross"}
    kind, place = item.text().split()
    assert (choice.kind, f"{choice.layer + 1}·{choice.head + 1}") == (kinds[kind], place)


def test_the_grid_goes_by_the_roles_of_a_measured_sample_until_another_model_is_opened(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot, sample_file: Path
) -> None:
    window = make_real_window(model_files["words"], GERMAN[0])
    page = window.translate_page
    state = page.state
    assert state.sample_roles is None
    assert page.heads.role_menu.toolTip().endswith("in this sentence")
    tab = open_tab(window, "Heads")
    assert isinstance(tab, HeadsTab)
    qtbot.mouseClick(tab.question_buttons["statistics"], Qt.MouseButton.LeftButton)
    tab = _measured(window, open_tab, qtbot, sample_file)
    assert state.translation is not None
    rows = tab.state.rows()
    assert [cells[1] for _, cells in rows] == [state.role(state.translation, head) for head, _ in rows]
    assert page.heads.role_menu.toolTip().endswith("on 9 sentences of pairs.tsv")
    assert page.head.role.toolTip().startswith("Over 9 sentences of pairs.tsv")
    assert sum(state.count_roles(state.translation).values()) == len(rows)
    qtbot.waitUntil(lambda: not tab.awaited.is_awaiting)
    with qtbot.waitSignal(window.translation_shown, timeout=30_000):
        window.open_model(model_files["pieces"])
    assert state.sample_roles is None
    assert page.heads.role_menu.toolTip().endswith("in this sentence")


def test_a_measurement_that_was_cancelled_leaves_the_roles_of_the_sentence(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot, sample_file: Path
) -> None:
    window = make_real_window(model_files["words"], GERMAN[0])
    tab = open_tab(window, "Heads")
    assert isinstance(tab, HeadsTab)
    found = StatisticsJob(SampleChoice("file", sample_file), 3).run(
        Translator.load(model_files["words"], "cpu"), _quiet, lambda: False
    )
    tab.await_job(10_001)
    tab.follow(10_001, Progress(3, 9, "", partial=found))
    tab.cancel()
    tab.accept(10_001, found)
    assert window.translate_page.state.sample_roles is None


def test_the_bundled_model_has_roles_of_a_sample_at_once(
    make_real_window: MakeRealWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = make_real_window(bundled_model_path(), "Zwei Hunde spielen im Schnee.").translate_page
    page.choose(HeadChoice("encoder", 1, 1))
    assert page.head.role.text() == "previous"
    assert page.head.role.toolTip().startswith("Over 200 pairs of the validation split")
    assert "aligner (10)" in page.heads.role_menu.actions_by_name["aligner"].text()
    page.heads.role_menu.actions_by_name["aligner"].trigger()
    filtered = page.heads.grid.grab().toImage()
    roles = page.state.sample_roles
    assert roles is not None
    qtbot.wait(50)  # nothing is left to be painted
    painted: list[int] = []
    paint = GridPainter.paint_marks

    def watched(grid: GridPainter, painter: QPainter, region: QRegion, hovered: HeadChoice | None) -> None:
        painted.append(region.boundingRect().height())
        paint(grid, painter, region, hovered)

    monkeypatch.setattr(GridPainter, "paint_marks", watched)
    page.state.take_roles(replace(roles, by_kind={**roles.by_kind, "cross": MIXED}))
    page.heads.rebuild()
    qtbot.waitUntil(lambda: page.heads.grid.visibleRegion().boundingRect().height() in painted)
    assert page.heads.grid.grab().toImage() != filtered, "pale heads follow the roles of the sample"


def test_a_sentence_is_translated_in_the_middle_and_the_measurement_can_be_cancelled(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot, sample_file: Path
) -> None:
    window = make_real_window(model_files["words"], GERMAN[0])
    tab = open_tab(window, "Heads")
    assert isinstance(tab, HeadsTab)
    qtbot.mouseClick(tab.job.start, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(window.translation_shown, timeout=10_000):
        window.translate_page.sentence.input.set_text("Ein Hund .")
    assert tab.awaited.is_awaiting
    assert tab.job.stop.isVisible()
    qtbot.mouseClick(tab.job.stop, Qt.MouseButton.LeftButton)
    assert not tab.awaited.is_awaiting
    assert tab.job.start.isVisible()


def test_the_window_stays_responsive_while_heads_are_measured_and_the_measurement_ends_when_cancelled(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot, sample_file: Path
) -> None:
    window = make_real_window(model_files["words"], GERMAN[0])
    tab = open_tab(window, "Heads")
    assert isinstance(tab, HeadsTab)
    tab.use_file(sample_file)
    ticks: list[float] = []
    timer = QTimer(window, interval=TICK_MS)
    timer.timeout.connect(lambda: ticks.append(time.perf_counter()))
    timer.start()
    qtbot.mouseClick(tab.job.start, Qt.MouseButton.LeftButton)
    seen: list[int] = []
    for _ in range(400):
        qtbot.wait(5)
        if tab.awaited.progress is not None and tab.awaited.progress.done not in seen:
            seen.append(tab.awaited.progress.done)
            assert tab.job.bar.value() == seen[-1]
        if len(seen) >= 2 or not tab.awaited.is_awaiting:
            break
    timer.stop()
    assert len(seen) >= 2, "progress is told more than once"
    assert percentile(lags(ticks, TICK_MS / 1000), 0.9) < 0.1, "seconds: nobody notices"
    assert tab.job.stop.isVisible()
    qtbot.mouseClick(tab.job.stop, Qt.MouseButton.LeftButton)
    assert not tab.awaited.is_awaiting
    with qtbot.waitSignal(window.translation_shown, timeout=5_000):  # the thread is free again
        window.translate_page.sentence.input.set_text("Ein Hund .")
    assert tab.job.start.isVisible()


def test_the_window_closes_in_the_middle_of_a_measurement(
    make_real_window: MakeRealWindow, model_files: dict[str, Path], open_tab: OpenTab, qtbot: QtBot
) -> None:
    window = make_real_window(model_files["words"], GERMAN[0])
    tab = open_tab(window, "Heads")
    assert isinstance(tab, HeadsTab)
    qtbot.mouseClick(tab.job.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: tab.awaited.progress is not None, timeout=20_000)
    window.close()
    assert not window._worker._thread.is_alive()
