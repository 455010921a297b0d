"""The importance of every head, and what it does: over samples, chunk by chunk, with
interruptions."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from augenmerk.core.checkpoint.file import save_checkpoint
from augenmerk.core.counting import CountedText, Index
from augenmerk.core.errors import AnalysisError, CorpusError
from augenmerk.core.extensions.analyses.head_profiles import profile_heads
from augenmerk.core.extensions.analyses.importance import (
    BATCH_SIZE,
    HeadImportance,
    head_importance,
)
from augenmerk.core.maps.roles import read_sample_roles, roles_path
from augenmerk.core.model.heads import ATTENTION_KINDS, Head, Network
from augenmerk.core.translation.experiment import Experiment, HeadScaled, scaling
from augenmerk.core.translation.result import TranslationStoppedError
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.tabs.heads.meanings import SampleKind
from augenmerk.viz_app.extensions.tabs.heads.state import (
    HeadsState,
    SampleChoice,
    blocks,
    check_sample,
    in_words,
    read_sample,
)
from augenmerk.viz_app.extensions.tabs.heads.view import (
    HeadsTab,
    ImportanceJob,
    StatisticsJob,
    cell_of,
    own_translations,
)
from augenmerk.viz_app.state.experiment_editor import edit_text, intervene, redo, toggle, undo
from augenmerk.viz_app.state.experiment_state import ExperimentState, Progress, Stale
from augenmerk.viz_app.translate.analysis_panel import MIN_WIDTH
from augenmerk.viz_app.worker.jobs import JobInterrupted
from benchmarks.lag import lags, percentile
from tests.core.extensions.analyses.test_samples import translating
from tests.core.translators import ENGLISH, GERMAN
from tests.viz_app.builders import settle_layout, text_in
from tests.viz_app.extensions.tabs.conftest import MakeContext, ShowTab, load, settle

NUM = 2 * BATCH_SIZE + 3
TICK_MS = 5
OFF = (HeadScaled(Head("cross", 0, 1)), HeadScaled(Head("encoder", 1, 0), 0.5))


@pytest.fixture
def sample_file(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    lines = [
        f"{german}\t{english}" for german, english in zip(GERMAN[::5], ENGLISH[::5], strict=True)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _roles_are_those_of_one_test(model_files: dict[str, Path]) -> Iterator[None]:
    """What a test measured is kept beside the models, which other tests open."""
    yield
    for path in model_files.values():
        roles_path(path).unlink(missing_ok=True)


@pytest.fixture
def translator(translators: dict[str, Translator]) -> Translator:
    return translators["words"]


def _quiet(_: Progress) -> None:
    """Nobody wants to know."""


def _assert_same(importance: HeadImportance, other: HeadImportance) -> None:
    assert (importance.num_sentences, importance.num_tokens) == (
        other.num_sentences,
        other.num_tokens,
    )
    assert (importance.num_skipped, importance.changes) == (other.num_skipped, other.changes)
    assert importance.before == pytest.approx(other.before, abs=1e-6)
    for kind in ATTENTION_KINDS:
        np.testing.assert_allclose(importance.of_kind(kind), other.of_kind(kind), atol=1e-6)


CUT = CountedText("1 of 2 sentences is cut (number {index}).", index=Index(1))


def test_notes_on_the_sentences_stand_with_the_result() -> None:
    heads = HeadsState(ExperimentState())
    assert heads.notes() == heads.warning() == ""
    heads.importance = HeadImportance(2.5, {}, 1, 3, 1, OFF, notes=(CUT,))
    assert heads.notes() == "1 of 2 sentences is cut (number 2)."
    assert heads.warning() == "The experiment now has every head on."
    heads.question = "behaviour"
    assert heads.notes() == heads.warning() == ""


@pytest.mark.parametrize("kind", ["gold", "examples", "multi30k"])
def test_a_model_of_other_languages_is_measured_on_a_file_alone(
    kind: SampleKind, sample_file: Path
) -> None:
    translator = translating("en", "de")
    with pytest.raises(
        AnalysisError, match=r"the sample is German.* Choose your own file as the sample\."
    ):
        check_sample(SampleChoice(kind), translator)
    check_sample(SampleChoice("file", sample_file), translator)


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("changes", [(), OFF])
def test_batches_add_up_to_the_whole_sample(
    translator: Translator, sample_file: Path, changes: tuple[HeadScaled, ...]
) -> None:
    partial: list[Progress] = []
    job = ImportanceJob(SampleChoice("file", sample_file), NUM, changes)
    importance = job.run(translator, partial.append, lambda: False)
    sample = read_sample(SampleChoice("file", sample_file), NUM)
    assert sample.targets is not None
    whole = head_importance(translator, sample.sources, sample.targets, changes=changes)
    assert (importance.num_sentences, importance.num_tokens) == (NUM, whole.num_tokens)
    assert importance.changes == changes
    assert importance.before == pytest.approx(whole.before, abs=1e-5)
    for kind in ATTENTION_KINDS:
        np.testing.assert_allclose(importance.of_kind(kind), whole.of_kind(kind), atol=2e-5)
    assert [
        update.partial.num_sentences
        for update in partial
        if isinstance(update.partial, HeadImportance)
    ] == [
        BATCH_SIZE,
        2 * BATCH_SIZE,
        NUM,
    ]
    num_parts = len(importance.effects)
    assert partial[0].text == f"Importance: 0 of {NUM} sentences"
    text = f"Importance: 0 of {NUM} sentences, part 7 of {num_parts} off"
    assert partial[7].text == text, "within a batch, too"
    assert partial[-1].text == f"Importance: {NUM} of {NUM} sentences"


@pytest.mark.slow
@pytest.mark.heavy
def test_an_interrupted_measurement_goes_on_where_it_was(
    translator: Translator, sample_file: Path
) -> None:
    job = ImportanceJob(SampleChoice("file", sample_file), NUM)
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
    assert isinstance(rest, ImportanceJob)
    assert 0 < before[-1].done < before[-1].total
    seen: list[Progress] = []
    _assert_same(rest.run(translator, seen.append, lambda: False), whole)
    assert seen[0].done == before[-1].done + 1, "it goes on with the very head"


def test_interrupted_statistics_go_on_where_they_were(
    translator: Translator, sample_file: Path
) -> None:
    job = StatisticsJob(SampleChoice("file", sample_file), NUM)
    whole = job.run(translator, _quiet, lambda: False)
    done: list[Progress] = []
    with pytest.raises(JobInterrupted) as interruption:
        job.run(translator, done.append, lambda: len(done) == 1)
    rest = interruption.value.rest
    assert isinstance(rest, StatisticsJob)
    assert rest.profiler is not None
    assert rest.profiler.num_sentences == BATCH_SIZE
    again = rest.run(translator, _quiet, lambda: False)
    assert again.num_sentences == whole.num_sentences == NUM
    np.testing.assert_allclose(again.cross.entropy, whole.cross.entropy, rtol=1e-5)


def test_statistics_are_those_of_the_model_with_its_heads_scaled(
    translator: Translator, sample_file: Path
) -> None:
    choice = SampleChoice("file", sample_file)
    sample = read_sample(choice, 5)
    assert sample.targets is not None
    expected = profile_heads(translator, sample.sources, sample.targets, changes=OFF)
    statistics = StatisticsJob(choice, 5, OFF).run(translator, _quiet, lambda: False)
    assert statistics.changes == expected.changes == OFF
    plain = StatisticsJob(choice, 5).run(translator, _quiet, lambda: False)
    np.testing.assert_allclose(statistics.cross.entropy, expected.cross.entropy, atol=1e-5)
    assert np.abs(statistics.cross.entropy - plain.cross.entropy).max() > 1e-3


def test_a_head_that_the_model_has_not_got_is_told(
    translator: Translator, sample_file: Path
) -> None:
    beyond = (HeadScaled(Head("cross", 7, 0)),)
    for job in (ImportanceJob, StatisticsJob):
        with pytest.raises(AnalysisError, match="no cross layer 7 head 0"):
            job(SampleChoice("file", sample_file), 5, beyond).run(translator, _quiet, lambda: False)


@pytest.mark.heavy
def test_pairs_that_the_model_refuses_are_counted(translator: Translator, tmp_path: Path) -> None:
    path = tmp_path / "some.tsv"
    bad = ["a " * 200 + "\t" + "b " * 200] * BATCH_SIZE
    good = [f"{german}\t{english}" for german, english in zip(GERMAN[:3], ENGLISH[:3], strict=True)]
    path.write_text("\n".join(bad + good), encoding="utf-8")
    importance = ImportanceJob(SampleChoice("file", path), 2 * BATCH_SIZE).run(
        translator, _quiet, lambda: False
    )
    assert (importance.num_sentences, importance.num_skipped) == (3, BATCH_SIZE)


def test_a_sample_that_the_model_refuses_is_told(translator: Translator, tmp_path: Path) -> None:
    path = tmp_path / "long.tsv"
    path.write_text("a " * 200 + "\t" + "b " * 200, encoding="utf-8")
    with pytest.raises(AnalysisError, match="Not one of 1"):
        ImportanceJob(SampleChoice("file", path), 5).run(translator, _quiet, lambda: False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\n", "only empty lines"),
        ("ein\tone\nzwei", "line 2 has 1 column "),
        ("ein\nzwei\ttwo", "a tab in some lines"),
    ],
)
def test_a_file_that_is_no_sample_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError, match=message):
        read_sample(SampleChoice("file", path), 5)


@pytest.mark.heavy
def test_without_translations_the_models_own_count(translator: Translator, tmp_path: Path) -> None:
    path = tmp_path / "german.txt"
    path.write_text("\n".join(GERMAN[:3]), encoding="utf-8")
    sample = read_sample(SampleChoice("file", path), 5)
    assert sample.targets is None
    translations = own_translations(translator, sample.sources, (), lambda: False)
    assert translations == tuple(
        translation.text for translation in translator.translate_corpus(GERMAN[:3])
    )
    changed = own_translations(translator, (*sample.sources, ""), OFF, lambda: False)
    assert changed == (
        *(translator.run(Experiment(german, interventions=OFF)).text for german in GERMAN[:3]),
        "",
    )
    with pytest.raises(TranslationStoppedError):
        own_translations(translator, sample.sources, (), lambda: True)


def test_shipped_samples_have_as_many_sentences_as_asked_for() -> None:
    gold = read_sample(SampleChoice("gold"), 60)
    assert len(gold.sources) == 60
    assert gold.targets is not None
    assert len(read_sample(SampleChoice("examples"), 3).sources) == 3


def test_shares_are_drawn_as_blocks() -> None:
    assert blocks(np.array([0, 0.5, 1, 1.2], dtype=np.float32)) == "▁▅██"


def test_scalings_are_told_in_words() -> None:
    assert in_words(()) == "with every head on"
    assert in_words(OFF) == "with cross 1·2 off, encoder 2·1 scaled 0.5"
    many = tuple(HeadScaled(Head("cross", 0, head)) for head in range(5))
    assert in_words(many) == "with cross 1·1 off, cross 1·2 off, cross 1·3 off and 2 more"


OpenHeads = Callable[..., HeadsTab]


@pytest.fixture
def open_heads(make_context: MakeContext, show_tab: ShowTab, sample_file: Path) -> OpenHeads:
    """Shows the tab on a small model, ready to measure a small sample."""

    def make(model: str = "words") -> HeadsTab:
        tab = show_tab(make_context(model, GERMAN[0]), HeadsTab)
        assert isinstance(tab, HeadsTab)
        tab.use_file(sample_file)
        tab.heads.num_sentences = 9
        return tab

    return make


def _measure(qtbot: QtBot, tab: HeadsTab) -> None:
    qtbot.mouseClick(tab.job.start, Qt.MouseButton.LeftButton)
    assert tab.request.is_running
    qtbot.waitUntil(lambda: not tab.request.is_running, timeout=30_000)
    assert tab.request.problem == ""


def _place(tab: HeadsTab, part: Head | Network) -> QPoint:
    return tab.cells.cell_rect(cell_of(part)).center().toPoint()


@pytest.mark.heavy
@pytest.mark.parametrize("model", ["words", "single"])
@pytest.mark.parametrize("part", [Head("cross", 0, 0), Network("decoder", 0)], ids=str)
def test_a_click_on_a_cell_switches_the_head_or_network_off_and_on(
    open_heads: OpenHeads, qtbot: QtBot, model: str, part: Head | Network
) -> None:
    tab = open_heads(model)
    _measure(qtbot, tab)
    assert tab.heads.importance is not None
    assert tab.heads.importance.num_sentences == 9
    assert f"{tab.heads.importance.effects[part]:+.4f}".replace("-", "−") in tab.cells.tip_of(
        cell_of(part)
    )
    qtbot.mouseClick(tab.cells, Qt.MouseButton.LeftButton, pos=_place(tab, part))
    settle(qtbot, tab)
    assert tab.state.translation is not None
    assert tab.state.translation.experiment.interventions == (scaling(part),)
    qtbot.mouseClick(tab.cells, Qt.MouseButton.LeftButton, pos=_place(tab, part))
    settle(qtbot, tab)
    assert not tab.state.experiment.interventions


@pytest.mark.heavy
def test_a_head_that_is_off_is_struck_out_at_once(open_heads: OpenHeads, qtbot: QtBot) -> None:
    tab = open_heads()
    _measure(qtbot, tab)
    tab.state.intents.choose_head(Head("cross", 1, 1))
    before = tab.cells.grab().toImage()
    tab.state.submit(toggle(Head("encoder", 0, 2)))
    off = tab.cells.grab().toImage()
    assert off != before
    tab.state.submit(undo)
    assert tab.cells.grab().toImage() == before
    tab.state.intents.choose_head(Head("cross", 0, 1))
    assert tab.cells.grab().toImage() != before, "the chosen head is framed"


@pytest.mark.heavy
def test_importance_is_measured_with_the_heads_of_the_experiment_and_says_so(
    open_heads: OpenHeads, translator: Translator, sample_file: Path, qtbot: QtBot
) -> None:
    tab = open_heads()
    off = HeadScaled(Head("cross", 1, 2))
    tab.state.submit(intervene(off))
    settle(qtbot, tab)
    _measure(qtbot, tab)
    sample = read_sample(SampleChoice("file", sample_file), 9)
    assert sample.targets is not None
    expected = head_importance(translator, sample.sources, sample.targets, changes=(off,))
    assert tab.heads.importance is not None
    np.testing.assert_allclose(
        tab.heads.importance.of_kind("decoder"), expected.of_kind("decoder"), atol=2e-5
    )
    assert "with cross 2·3 off" in text_in(tab)
    assert not tab._warning.isVisible()
    assert tab.job.start.text() == "Measure"


@pytest.mark.heavy
def test_an_answer_for_other_heads_stays_is_named_and_can_be_measured_again(
    open_heads: OpenHeads, qtbot: QtBot
) -> None:
    tab = open_heads()
    _measure(qtbot, tab)
    old = tab.heads.importance
    tab.state.submit(toggle(Head("cross", 1, 2)))
    settle(qtbot, tab)
    assert tab.heads.importance is old
    assert tab.cells.isVisible()
    assert "with every head on" in text_in(tab)
    assert tab._warning.isVisible()
    assert "The experiment now has cross 2·3 off." in text_in(tab)
    assert tab.job.start.text() == "Measure again"
    tab.state.submit(undo)
    assert not tab._warning.isVisible(), "it is of this very experiment again"
    tab.state.submit(redo)
    settle(qtbot, tab)
    _measure(qtbot, tab)
    assert tab.heads.importance is not None
    assert tab.heads.importance.changes == tab.state.experiment.general
    assert not tab._warning.isVisible()


@pytest.mark.heavy
def test_a_row_of_the_behaviour_chooses_the_head(open_heads: OpenHeads, qtbot: QtBot) -> None:
    tab = open_heads()
    qtbot.mouseClick(tab.question_buttons["behaviour"], Qt.MouseButton.LeftButton)
    _measure(qtbot, tab)
    assert tab.table.isVisible()
    tab.table.sortItems(2, Qt.SortOrder.DescendingOrder)
    item = tab.table.item(0, 0)
    assert item is not None
    entropies = [float(tab.table.item(row, 2).text()) for row in range(tab.table.rowCount())]  # type: ignore[union-attr]
    assert entropies == sorted(entropies, reverse=True)
    tab.state.settings.scope = "layer"
    qtbot.mouseClick(
        tab.table.viewport(), Qt.MouseButton.LeftButton, pos=tab.table.visualItemRect(item).center()
    )
    head = tab.state.selection.head
    kinds = {"enc": "encoder", "dec": "decoder", "cross": "cross"}
    kind, numbers = item.text().split()
    assert (head.kind, f"{head.layer + 1}·{head.head + 1}") == (kinds[kind], numbers)


@pytest.mark.heavy
def test_roles_of_a_measured_sample_hold_until_another_model_is_opened(
    open_heads: OpenHeads, model_files: dict[str, Path], qtbot: QtBot
) -> None:
    tab = open_heads()
    roles = tab.state.roles
    assert roles.where_they_hold == "in this sentence"
    told: list[str] = []
    tab.state.roles_changed.connect(lambda: told.append(roles.where_they_hold))
    qtbot.mouseClick(tab.question_buttons["behaviour"], Qt.MouseButton.LeftButton)
    _measure(qtbot, tab)
    rows = tab.heads.rows()
    assert [cells[1] for _, cells in rows] == [roles.of(head) for head, _ in rows]
    assert told == ["on 9 sentences of pairs.tsv"]
    assert sum(roles.count().values()) == len(rows)
    tab.state.submit(toggle(Head("cross", 0, 0)))
    settle(qtbot, tab)
    _measure(qtbot, tab)
    assert told[1:] == ["on 9 sentences of pairs.tsv, with cross 1·1 off"]
    old = tab.state.translation
    load(tab.context, model_files["pieces"])
    qtbot.waitUntil(lambda: tab.state.translation is not old, timeout=30_000)
    assert roles.where_they_hold == "in this sentence"
    assert tab.heads.behaviour is None
    assert not tab.table.isVisible()


@pytest.mark.heavy
def test_a_measurement_that_was_cancelled_holds_over_the_sentences_that_were_read(
    open_heads: OpenHeads, qtbot: QtBot
) -> None:
    tab = open_heads()
    tab.heads.num_sentences = 200
    tab.heads.sample = SampleChoice("gold")
    qtbot.mouseClick(tab.question_buttons["behaviour"], Qt.MouseButton.LeftButton)
    qtbot.mouseClick(tab.job.start, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(tab.job.stop, Qt.MouseButton.LeftButton)
    assert tab.state.roles.sample is None, "nothing is known"
    qtbot.mouseClick(tab.job.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: tab.heads.behaviour is not None, timeout=20_000)  # a part is known
    qtbot.mouseClick(tab.job.stop, Qt.MouseButton.LeftButton)
    assert tab.heads.behaviour is not None
    num_read = tab.heads.behaviour.num_sentences
    assert 0 < num_read < 200
    assert tab.state.roles.where_they_hold == f"on {num_read} pairs of the validation split"


@pytest.mark.heavy
def test_escape_cancels_a_measurement_and_what_was_read_holds(
    open_heads: OpenHeads, qtbot: QtBot
) -> None:
    tab = open_heads()
    tab.heads.num_sentences, tab.heads.sample = 200, SampleChoice("gold")
    assert "(Esc)" in tab.job.stop.toolTip()
    assert not tab.stop(), "nothing is measured"
    qtbot.mouseClick(tab.question_buttons["behaviour"], Qt.MouseButton.LeftButton)
    qtbot.mouseClick(tab.job.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: tab.heads.behaviour is not None, timeout=20_000)
    qtbot.keyClick(tab.job.stop, Qt.Key.Key_Escape)
    assert not tab.request.is_running
    assert tab.heads.behaviour is not None
    assert (
        tab.state.roles.where_they_hold
        == f"on {tab.heads.behaviour.num_sentences} pairs of the validation split"
    )


@pytest.mark.heavy
def test_what_heads_do_is_kept_beside_the_file_of_the_model(
    make_context: MakeContext, show_tab: ShowTab, sample_file: Path, translator: Translator, tmp_path: Path,
    qtbot: QtBot,
) -> None:  # fmt: skip
    file = tmp_path / "mine.safetensors"
    save_checkpoint(translator.checkpoint, file)
    context = make_context("words", GERMAN[0])
    load(context, file)
    tab = show_tab(context, HeadsTab)
    assert isinstance(tab, HeadsTab)
    state = tab.state
    qtbot.waitUntil(lambda: state.model is not None and state.model.path == file, timeout=30_000)
    qtbot.waitUntil(lambda: not isinstance(state.shown, Stale), timeout=30_000)
    tab.use_file(sample_file)
    tab.heads.num_sentences, tab.heads.question = 5, "behaviour"
    _measure(qtbot, tab)
    qtbot.waitUntil(roles_path(file).exists, timeout=30_000)
    stored_roles = read_sample_roles(file, translator.run_config.model)
    assert stored_roles == tab.state.roles.sample
    assert stored_roles is not None
    assert stored_roles.sample == "5 sentences of pairs.tsv"
    qtbot.waitUntil(lambda: not tab._keeping.is_running, timeout=30_000)
    assert "Saved next to the model's file." in text_in(tab)
    measured = tab.state.model
    load(context, file)
    qtbot.waitUntil(lambda: tab.state.model is not measured, timeout=30_000)
    assert tab.state.model is not None
    assert tab.state.model.roles == stored_roles
    roles_path(file).unlink()
    Path(file).write_bytes(b"no model any more")
    _measure(qtbot, tab)
    qtbot.waitUntil(lambda: tab._keeping.problem != "", timeout=30_000)
    assert not roles_path(file).exists()
    assert tab._notes.text().startswith("Not saved: ")


@pytest.mark.heavy
def test_an_experiment_is_computed_in_the_middle_and_the_measurement_goes_on_until_it_is_cancelled(
    open_heads: OpenHeads, qtbot: QtBot
) -> None:
    tab = open_heads()
    tab.heads.sample, tab.heads.num_sentences = SampleChoice("gold"), 60
    qtbot.mouseClick(tab.job.start, Qt.MouseButton.LeftButton)
    old = tab.state.translation
    tab.state.submit(edit_text("Ein Hund ."))
    qtbot.waitUntil(lambda: tab.state.translation is not old, timeout=10_000)
    assert tab.request.is_running
    assert tab.job.stop.isVisible()
    qtbot.mouseClick(tab.job.stop, Qt.MouseButton.LeftButton)
    assert not tab.request.is_running
    assert tab.job.start.isVisible()


@pytest.mark.heavy
def test_a_measurement_keeps_the_scalings_that_it_began_with(
    open_heads: OpenHeads, qtbot: QtBot
) -> None:
    tab = open_heads()
    tab.heads.num_sentences = 12
    qtbot.mouseClick(tab.job.start, Qt.MouseButton.LeftButton)
    tab.state.submit(toggle(Head("cross", 0, 0)))
    qtbot.waitUntil(
        lambda: not (tab.request.is_running or tab.state.request.is_running), timeout=30_000
    )
    assert tab.heads.importance is not None
    assert tab.heads.importance.changes == ()
    assert tab.job.start.text() == "Measure again"


@pytest.mark.heavy
def test_the_window_stays_responsive_while_heads_are_measured_and_the_measurement_ends_when_cancelled(
    open_heads: OpenHeads, qtbot: QtBot
) -> None:
    tab = open_heads()
    tab.heads.num_sentences = 200
    ticks: list[float] = []
    timer = QTimer(tab, interval=TICK_MS)
    timer.timeout.connect(lambda: ticks.append(time.perf_counter()))
    timer.start()
    qtbot.mouseClick(tab.job.start, Qt.MouseButton.LeftButton)
    seen: list[int] = []
    for _ in range(400):
        qtbot.wait(5)
        if tab.request.progress is not None and tab.request.progress.done not in seen:
            seen.append(tab.request.progress.done)
            assert tab.job.bar.value() == seen[-1]
        if len(seen) >= 2 or not tab.request.is_running:
            break
    timer.stop()
    assert len(seen) >= 2, "progress is told more than once"
    assert percentile(lags(ticks, TICK_MS / 1000), 0.5) < 0.1, "seconds: nobody notices"
    assert tab.job.stop.isVisible()
    qtbot.mouseClick(tab.job.stop, Qt.MouseButton.LeftButton)
    assert not tab.request.is_running
    tab.state.submit(edit_text("Ein Hund ."))  # the thread is free again
    qtbot.waitUntil(lambda: not tab.state.request.is_running, timeout=5_000)
    assert tab.job.start.isVisible()


@pytest.mark.heavy
def test_focus_stays_in_the_tab_from_the_beginning_of_a_measurement_to_its_end(
    open_heads: OpenHeads, qtbot: QtBot
) -> None:
    tab = open_heads()
    tab.window().activateWindow()
    qtbot.waitUntil(tab.window().isActiveWindow)
    tab.job.start.setFocus()
    qtbot.keyClick(tab.job.start, Qt.Key.Key_Space)
    assert QApplication.focusWidget() is tab.job.stop
    qtbot.waitUntil(lambda: not tab.request.is_running, timeout=30_000)
    assert QApplication.focusWidget() is tab.job.start
    tab.sample_menu.setFocus()
    tab.job.start.click()
    assert QApplication.focusWidget() is tab.job.stop
    tab.cancel()


def test_an_empty_tab_has_no_scroll_bars_and_cuts_no_text(open_heads: OpenHeads) -> None:
    tab = open_heads()
    for question in ("importance", "behaviour"):
        tab.question_buttons[question].click()
        assert not tab._area.isVisible()
        assert not tab.table.isVisible()
        settle_layout()
        assert tab.explanation.height() >= tab.explanation.heightForWidth(tab.explanation.width())


@pytest.mark.heavy
def test_no_step_of_a_measurement_makes_the_panel_wider(
    make_context: MakeContext, show_tab: ShowTab, sample_file: Path, qtbot: QtBot
) -> None:
    tab = show_tab(make_context(), HeadsTab, width=MIN_WIDTH)
    assert isinstance(tab, HeadsTab)
    tab.use_file(sample_file.rename(sample_file.with_name(f"{'a_file_with_a_long_name_' * 5}.tsv")))
    tab.heads.num_sentences = 4
    for button in tab.question_buttons.values():
        button.click()
        tab.job.start.click()
        tab.request.advance(Progress(900, 9000, "900 of 9000 sentences · head 128 of 1024"))
        settle_layout()
        assert tab.window().width() == MIN_WIDTH
        qtbot.waitUntil(lambda: not tab.request.is_running, timeout=30_000)
        tab.state.submit(toggle(Head("cross", 0, 0)))
        settle(qtbot, tab)
        settle_layout()
        assert tab.job.start.text() == "Measure again"
        assert tab.window().width() == MIN_WIDTH
