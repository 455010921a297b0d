"""Shares of source and prefix, and source words removed or replaced by clicks on small real
models."""

import time
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from augenmerk.core.extensions.analyses.alti import contributions_of
from augenmerk.core.extensions.analyses.contributions import METHOD
from augenmerk.core.extensions.analyses.occlusion import SourceChanges, occlude_source_words
from augenmerk.core.model.heads import Head
from augenmerk.core.quantities import percent
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Experiment,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.result import Translation, TranslationStoppedError
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.tabs.source.state import SourceFindings, SourceState
from augenmerk.viz_app.extensions.tabs.source.view import (
    CANCELLED,
    WAITING,
    SourceJob,
    SourceTab,
    WithoutWordsJob,
)
from augenmerk.viz_app.state.experiment_editor import edit_text, intervene, toggle, undo
from augenmerk.viz_app.state.experiment_state import ExperimentState, Progress
from augenmerk.viz_app.worker.inference import Request
from augenmerk.viz_app.worker.jobs import JobInterrupted, JobScope, OpenTranslator, ShouldStop, Tell
from tests.builders import first_quick
from tests.viz_app.builders import settle_layout, text_in
from tests.viz_app.extensions.tabs.conftest import SENTENCE, MakeContext, ShowTab, settle


@pytest.fixture(params=["words", "pieces", "single"])
def tab(request: pytest.FixtureRequest, make_context: MakeContext, show_tab: ShowTab) -> SourceTab:
    return show_tab(make_context(request.param), SourceTab)


@pytest.fixture
def words_tab(make_context: MakeContext, show_tab: ShowTab) -> SourceTab:
    return show_tab(make_context("words"), SourceTab)


def _click_word(qtbot: QtBot, tab: SourceTab, index: int) -> None:
    center = tab.words.label_place(index).center().toPoint()
    qtbot.mouseClick(tab.words, Qt.MouseButton.LeftButton, pos=center)
    settle(qtbot, tab)


def _replace_by(qtbot: QtBot, tab: SourceTab, text: str) -> None:
    tab.replacement.clear()
    qtbot.keyClicks(tab.replacement, text)
    qtbot.mouseClick(tab.replace, Qt.MouseButton.LeftButton)
    settle(qtbot, tab)


def test_every_output_word_has_its_share_and_the_method_its_name(tab: SourceTab) -> None:
    translation = tab.state.translation
    assert translation is not None
    assert METHOD in tab.explanation.text()
    shares = tab.source.shares()
    assert [share.word for share in shares][: len(translation.target_words)] == [
        word.text for word in translation.target_words
    ]
    assert all(0 <= share.source <= 1 for share in shares)
    assert [bar.value for bar in tab.shares.bars] == pytest.approx(
        [share.source for share in shares]
    )
    assert sum(share for _, share in shares[0].parts) <= shares[0].source + 1e-5
    assert f"{percent(tab.source.findings.mean_share())} on average" in text_in(tab)


def test_a_warning_stands_where_the_source_collapses(tab: SourceTab) -> None:
    warned = [share for share in tab.source.shares() if share.warning is not None]
    assert tab.warnings.isVisible() == bool(warned)
    assert [bar.is_changed for bar in tab.shares.bars] == [
        share.warning is not None for share in tab.source.shares()
    ]
    for share in warned[:3]:
        assert share.warning is not None
        assert share.warning.message in tab.warnings.text()


@pytest.mark.heavy
def test_a_click_removes_a_word_from_the_experiment_and_another_puts_it_back(
    tab: SourceTab, qtbot: QtBot, translators: dict[str, Translator], request: pytest.FixtureRequest
) -> None:
    translator = translators[request.node.callspec.params["tab"]]
    original = tab.state.original
    assert original is not None
    labels = [word.text for word in original.source_words]
    assert [bar.label for bar in tab.words.bars] == labels
    before = tab.words.label_place(1)
    assert tab.words.bars[1].tip.startswith(f"without {labels[1]}: ")
    without = tab.source.words()[1].without
    _click_word(qtbot, tab, 1)
    assert tab.state.experiment.interventions == (SourceWordRemoved(1),)
    translation = tab.state.translation
    assert translation is not None
    assert translation.text == without
    assert [bar.label for bar in tab.words.bars] == labels
    assert [bar.is_struck for bar in tab.words.bars] == [index == 1 for index in range(len(labels))]
    assert [bar.is_new for bar in tab.words.bars] == [index == 1 for index in range(len(labels))], (
        "it is a change"
    )
    assert tab.words.bars[1].text == "removed"
    assert tab.words.label_place(1).top() == before.top(), "it stays under the mouse"
    removed = Experiment(SENTENCE, interventions=(SourceWordRemoved(1),))
    expected = occlude_source_words(translator, translator.run(removed))
    changes = [word.change for word in tab.source.words() if word.edit is None]
    assert changes == pytest.approx([expected.change_of(word) for word in expected.words], abs=1e-3)
    _click_word(qtbot, tab, 1)
    assert tab.state.experiment.interventions == ()
    assert not any(bar.is_struck for bar in tab.words.bars)


@pytest.mark.heavy
def test_another_word_stands_in_its_place(
    words_tab: SourceTab, qtbot: QtBot, translators: dict[str, Translator]
) -> None:
    tab = words_tab
    assert not tab.replacement.isEnabled()
    _click_word(qtbot, tab, 1)
    assert "“hund”" in tab.replacement.placeholderText()
    _replace_by(qtbot, tab, "Mann")
    assert tab.state.experiment.interventions == (SourceWordReplaced(1, "Mann"),)
    translation = tab.state.translation
    assert translation is not None
    assert translation.text == translators["words"].translate("Ein Mann schläft im Gras .").text
    assert tab.words.bars[1].label == "→ Mann"
    assert "hund → Mann" in tab.words.bars[1].tip
    assert tab.words.bars[1].is_changed
    assert tab.words.bars[1].text not in ("", WAITING, "removed"), "what depends on the new word"
    _replace_by(qtbot, tab, "Mann")
    assert tab.state.translation is translation, "it is there already"
    _replace_by(qtbot, tab, "Junge")
    assert tab.state.experiment.interventions == (SourceWordReplaced(1, "Junge"),)
    _click_word(qtbot, tab, 1)
    assert tab.state.experiment.interventions == ()
    assert tab.words.bars[1].label == "hund"


@pytest.mark.slow
@pytest.mark.heavy
def test_two_words_may_be_changed_at_once_and_undone_one_by_one(
    words_tab: SourceTab, qtbot: QtBot
) -> None:
    tab = words_tab
    _click_word(qtbot, tab, 1)
    _click_word(qtbot, tab, 3)
    _replace_by(qtbot, tab, "auf")
    assert tab.state.experiment.interventions == (
        SourceWordRemoved(1),
        SourceWordReplaced(3, "auf"),
    )
    assert tab.state.translation.source_places == (0, 2, 3, 4, 5)  # type: ignore[union-attr]
    assert [bar.label for bar in tab.words.bars] == ["ein", "hund", "schläft", "→ auf", "gras", "."]
    tab.state.submit(undo)
    settle(qtbot, tab)
    assert tab.state.experiment.interventions == (SourceWordRemoved(1), SourceWordRemoved(3))
    assert [bar.is_struck for bar in tab.words.bars] == [False, True, False, True, False, False]


@pytest.mark.heavy
def test_a_replacement_that_cannot_be_read_leaves_what_is_shown(
    words_tab: SourceTab, qtbot: QtBot
) -> None:
    tab = words_tab
    _click_word(qtbot, tab, 1)
    shown = tab.state.translation
    tab.replacement.setText("Hund " * 30)
    qtbot.keyClick(tab.replacement, Qt.Key.Key_Return)
    settle(qtbot, tab)
    assert "the model has room for" in tab.state.request.problem
    assert tab.state.translation is shown
    assert tab.words.bars[1].is_struck, "as the translation that is shown has it"
    _click_word(qtbot, tab, 1)
    assert tab.state.request.problem == ""
    assert tab.state.experiment.interventions == ()


@pytest.mark.heavy
def test_the_only_word_stays(make_context: MakeContext, show_tab: ShowTab, qtbot: QtBot) -> None:
    tab = show_tab(make_context("words", "Hund"), SourceTab)
    assert "Without its only word, the source would be empty." in text_in(tab)
    assert tab.problem.text() == ""
    assert tab.shares.bars[0].text.endswith("%")
    shown = tab.state.translation
    _click_word(qtbot, tab, 0)
    assert "too little of 'Hund' is left to read" in tab.state.request.problem
    assert tab.state.translation is shown
    assert [bar.is_struck for bar in tab.words.bars] == [False]
    _replace_by(qtbot, tab, "Mann")
    assert tab.state.request.problem == ""
    assert [bar.label for bar in tab.words.bars] == ["→ Mann"]


@pytest.mark.heavy
def test_words_are_removed_without_the_rows_that_are_set_over_the_source_and_this_is_said(
    words_tab: SourceTab, qtbot: QtBot
) -> None:
    tab = words_tab
    translation = tab.state.translation
    assert translation is not None
    assert not tab._note_on_words.isVisible()
    weights = tuple(float(index == 0) for index in range(len(translation.source_tokens)))
    tab.state.submit(intervene(AttentionRow(Head("cross", 0, 0), 0, weights)))
    settle(qtbot, tab)
    assert tab.source.findings is not None
    assert tab.source.findings.problem == ""
    assert all(word.change is not None for word in tab.source.words())
    assert [bar.text for bar in tab.words.bars] != [""] * 6
    assert tab._note_on_words.isVisible()
    assert "without your rows of attention" in text_in(tab)
    assert tab.shares.bars[0].text.endswith("%")
    _click_word(qtbot, tab, 2)
    assert tab.state.experiment.interventions == (SourceWordRemoved(2),)
    assert "Dropped" in tab.state.notice
    assert not tab._note_on_words.isVisible()


@pytest.mark.parametrize(
    ("change", "length"), first_quick([(-0.004, 0.008), (-0.25, 0.5), (-2.0, 1.0), (0.25, 0.5)])
)
def test_a_change_has_a_bar_unless_it_rounds_to_nothing(
    tab: SourceTab, change: float, length: float
) -> None:
    findings = tab.source.findings
    assert findings is not None
    by_place = {index: change if index == 0 else 0.0 for index in findings.changes.by_place}
    tab._take(SourceFindings(findings.contributions, SourceChanges(by_place)))
    values = [bar.value for bar in tab.words.bars]
    assert values == pytest.approx([length] + [0.0] * (len(values) - 1), abs=1e-4)
    assert [bar.is_changed for bar in tab.words.bars] == [change > 0] + [False] * (
        len(values) - 1
    ), "a gain is orange"


def test_words_stand_where_they_are_while_an_answer_is_awaited(
    words_tab: SourceTab, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = words_tab
    places = [tab.words.label_place(index).top() for index in range(6)]
    heights = tab.words.height(), tab.words.mapTo(tab, tab.words.rect().topLeft()).y()
    seen: list[object] = []
    take = tab.source.take

    def look_first(findings: SourceFindings) -> None:
        texts = {bar.text for bar in (*tab.words.bars, *tab.shares.bars)}
        seen.append(
            (
                tab._body.isVisible(),
                texts,
                [tab.words.label_place(index).top() for index in range(6)],
            )
        )
        take(findings)

    monkeypatch.setattr(tab.source, "take", look_first)
    tab.state.submit(toggle(Head("cross", 0, 0)))
    qtbot.waitUntil(lambda: bool(seen), timeout=10_000)
    assert seen[0] == (True, {WAITING}, places)
    settle(qtbot, tab)
    assert (tab.words.height(), tab.words.mapTo(tab, tab.words.rect().topLeft()).y()) == heights


@pytest.mark.heavy
def test_another_sentence_has_its_own_words(words_tab: SourceTab, qtbot: QtBot) -> None:
    tab = words_tab
    _click_word(qtbot, tab, 1)
    assert tab.source.place == 1
    tab.state.submit(edit_text("Ein Mann wartet ."))
    settle(qtbot, tab)
    assert [bar.label for bar in tab.words.bars] == ["ein", "mann", "wartet", "."]
    assert tab.source.place is None
    assert not tab.replacement.isEnabled()


def test_nothing_is_asked_out_of_sight(
    words_tab: SourceTab, qtbot: QtBot, translators: dict[str, Translator]
) -> None:
    tab = words_tab
    tab.hide()
    tab.state.submit(toggle(Head("cross", 0, 0)))
    settle(qtbot, tab)
    assert tab.source.findings is None
    tab.show()
    settle(qtbot, tab)
    findings, translation = tab.source.findings, tab.state.translation
    assert findings is not None
    assert translation is not None
    assert findings.contributions.translation is translation
    expected = contributions_of(
        translators["words"], translators["words"].run(translation.experiment)
    )
    np.testing.assert_allclose(findings.contributions.source, expected.source, atol=1e-5)


@pytest.mark.parametrize("width", [340, 430])
@pytest.mark.heavy
def test_nothing_is_cut_however_narrow(
    make_context: MakeContext, show_tab: ShowTab, qtbot: QtBot, width: int
) -> None:
    tab = show_tab(make_context("words"), SourceTab, width=width)
    assert isinstance(tab, SourceTab)
    _click_word(qtbot, tab, 1)
    settle_layout()
    for text in (tab.explanation, tab._hint, tab._words_title, tab._shares_title):
        assert text.height() >= text.heightForWidth(text.width()), text.text()
        assert text.visibleRegion().contains(text.rect()), text.text()
    assert tab.replace.width() >= tab.replace.sizeHint().width()
    hint = tab.replacement.placeholderText()
    assert (
        tab.replacement.fontMetrics().horizontalAdvance(hint)
        < tab.replacement.contentsRect().width() - 20
    )
    for bars in (tab.shares, tab.words):
        assert bars.bar_place(0).right() + bars.texts_width < bars.width()


def test_nothing_is_known_before_an_answer() -> None:
    state = SourceState(ExperimentState())
    assert state.shares() == []
    assert state.words() == []
    assert not state.replace("Mann"), "no word is chosen"


def test_the_original_stands_beside_as_ticks(words_tab: SourceTab, qtbot: QtBot) -> None:
    plain = words_tab.source.findings
    assert plain is not None
    assert not any(
        bar.before_text or bar.is_new for bar in (*words_tab.shares.bars, *words_tab.words.bars)
    )
    words_tab.state.submit(toggle(Head("cross", 0, 0)))
    settle(qtbot, words_tab)
    findings, source = words_tab.source.findings, words_tab.source
    assert findings is not None
    assert findings.original is plain  # it is not computed again
    before = [*plain.changes.by_place.values()]
    assert [word.before for word in source.words()] == pytest.approx(before)
    assert any(word.change != word.before for word in source.words())
    old = plain.contributions.source_share_of_words().tolist()
    ticks = [share.before for share in source.shares() if share.before is not None]
    assert ticks
    assert set(ticks) <= set(old)
    assert [bar.before for bar in words_tab.shares.bars] == [
        share.before for share in source.shares()
    ]
    assert [bar.is_new for bar in words_tab.shares.bars] == [
        share.before is None for share in source.shares()
    ]
    assert all(bar.before_text for bar in words_tab.words.bars)
    assert f"on average, was {percent(np.mean(old[:-1]))}" in text_in(words_tab)


def test_what_it_asked_ends_when_it_is_left_and_is_asked_again_when_it_is_back(
    words_tab: SourceTab, qtbot: QtBot
) -> None:
    words_tab.hide()
    words_tab.state.submit(toggle(Head("cross", 0, 0)))
    settle(qtbot, words_tab)
    words_tab.show()
    assert words_tab.request.is_running
    asked = words_tab._asked
    assert asked is not None
    words_tab.hide()
    assert asked.is_over
    assert not words_tab.request.is_running
    words_tab.show()
    settle(qtbot, words_tab)
    assert words_tab.source.findings is not None


def test_what_is_read_at_once_is_shown_before_what_takes_a_search_for_each_word(
    make_context: MakeContext, show_tab: ShowTab, qtbot: QtBot, translators: dict[str, Translator]
) -> None:
    tab = show_tab(make_context("words"), SourceTab)
    expected = occlude_source_words(
        translators["words"], translators["words"].run(Experiment(SENTENCE))
    )
    shown = tab._show_words
    tips = []

    def show() -> None:
        shown()
        tips.append([bar.tip for bar in tab.words.bars])

    tab._show_words = show  # type: ignore[method-assign]
    tab.hide()
    tab.source.follow_result()
    tab.show()
    settle(qtbot, tab)
    waiting = [tip for tip in tips if "is being translated" in tip[0]]
    assert waiting, "numbers stand there before the translations"
    assert all("is being translated" in tip for tip in waiting[0])
    assert [word.without for word in tab.source.words()] == [
        word.translation.text for word in expected.words
    ]
    half = [tip for tip in tips if "is being" not in tip[0] and "is being" in tip[-1]]
    assert half, "they come a few at a time"


class _Long:
    """A question about the model that is asked while the translations without each word are
    sought."""

    scope: ClassVar[JobScope] = "model"

    def run(self, _translator: OpenTranslator, _progress: Tell, _should_stop: ShouldStop) -> str:
        return "measured"


def test_translations_without_each_word_give_way_to_whatever_is_asked_next(
    make_context: MakeContext, show_tab: ShowTab, qtbot: QtBot
) -> None:
    context = make_context("words")
    tab = show_tab(context, SourceTab)
    order: list[str] = []
    tab.hide()
    tab.source.follow_result()
    tab.source.take = lambda findings: (  # type: ignore[method-assign,assignment]
        SourceState.take(tab.source, findings),
        context.controller._worker.submit(Request(_Long(), context, on_result=order.append)),
    )
    taken = tab._take_translations

    def take(texts: Mapping[int, str]) -> None:
        taken(texts)
        order.append(f"{len(texts)} words")

    tab._take_translations = take  # type: ignore[method-assign]
    tab.show()
    settle(qtbot, tab)
    qtbot.waitUntil(lambda: "measured" in order)
    assert order.index("measured") < order.index("6 words")


def test_going_on_after_giving_way_computes_no_word_twice(
    translators: dict[str, Translator], monkeypatch: pytest.MonkeyPatch
) -> None:
    translator = translators["words"]
    translation = translator.run(Experiment(SENTENCE))
    told: list[Progress] = []
    job = WithoutWordsJob(translation, tuple(range(6)))
    with pytest.raises(JobInterrupted) as interrupted:
        job.run(translator, told.append, lambda: bool(told))
    rest = interrupted.value.rest
    assert isinstance(rest, WithoutWordsJob)
    assert sorted(rest.found) == [0, 1, 2, 3]
    asked: list[int] = []
    run_many = translator.run_many
    monkeypatch.setattr(
        translator,
        "run_many",
        lambda experiments, **options: (
            asked.append(len(experiments)),
            run_many(experiments, **options),
        )[1],
    )
    texts = rest.run(translator, told.append, lambda: False)
    assert asked == [2]
    assert dict(texts) == job.run(translator, told.append, lambda: False)


def test_findings_that_take_long_can_be_cancelled_and_asked_for_again(
    qtbot: QtBot, words_tab: SourceTab, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab, bar, is_slow = words_tab, words_tab.job_bar, [True]
    assert bar is not None
    find = SourceJob._find

    def patient(
        self: SourceJob,
        translation: Translation,
        translator: OpenTranslator,
        should_stop: ShouldStop,
    ) -> SourceFindings:
        while is_slow[0]:
            if should_stop():
                raise TranslationStoppedError
            time.sleep(0.002)
        return find(self, translation, translator, should_stop)

    qtbot.waitUntil(lambda: not tab.request.is_running)
    assert not bar.isVisible(), "nobody waits for the translations without each word"
    monkeypatch.setattr(SourceJob, "_find", patient)
    tab.state.submit(edit_text("Eine Katze schläft ."))
    qtbot.waitUntil(bar.stop.isVisible, timeout=10_000)
    qtbot.keyClick(tab, Qt.Key.Key_Escape)
    assert not tab.request.is_running
    assert tab.problem.isVisible()
    assert tab.problem.text() == CANCELLED
    is_slow[0] = False
    qtbot.mouseClick(bar.start, Qt.MouseButton.LeftButton)
    settle(qtbot, tab)
    assert tab.source.findings is not None
    assert not tab.problem.isVisible()
    assert not bar.isVisible()
