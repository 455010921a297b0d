"""Learn begins with the sentence of the Translate page where it can be used, and goes back to the
reader's own."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QRect
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment, SoftmaxTemperature
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.learn.chapter_view import (
    COMPUTING,
    NO_FIGURES,
    NOT_TRANSLATED,
)
from augenmerk.viz_app.extensions.learn.page import LearnPage
from augenmerk.viz_app.extensions.learn.sentence import FIRST_EXAMPLE
from augenmerk.viz_app.extensions.learn.values import UNKNOWN
from augenmerk.viz_app.state.experiment_editor import intervene, show_experiment
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.worker.inference import InferenceWorker
from tests.viz_app.builders import settle_layout, shown

pytestmark = pytest.mark.heavy  # each test makes a window with a model

TIMEOUT_MS = 20_000
SENTENCE, OTHER = "Zwei Hunde spielen im Schnee.", "Ein Mann steht auf einer Leiter."
ENGLISH = "The two dogs play on the beach."
MakePage = Callable[..., LearnPage]


@pytest.fixture
def make_page(qtbot: QtBot, theme: Theme, bundled_translator: Translator) -> Iterator[MakePage]:
    """A page in sight; `text` is that of the Translate page, `source` the language that its model
    reads.
    """
    pages = []

    def make(text: str, source: str = "de") -> LearnPage:
        run = bundled_translator.run_config
        run = replace(run, data=replace(run.data, source_language=source))
        window_state = ExperimentState()
        window_state.prepare_text(text)
        window_state.begin_model(ModelInfo("another", None, run, bundled_translator.device, 1))
        page = LearnPage(InferenceWorker(lambda path, device: bundled_translator), window_state)
        pages.append(page)
        shown(qtbot, page, (1400, 850))
        settle(qtbot, page)
        return page

    yield make
    for page in pages:
        page.shutdown()


def settle(qtbot: QtBot, page: LearnPage) -> None:
    qtbot.waitUntil(
        lambda: page.view is not None and not page.state.request.is_running, timeout=TIMEOUT_MS
    )


def window_state_of(page: LearnPage) -> ExperimentState:
    assert page._window_state is not None
    return page._window_state


def test_it_begins_with_the_sentence_of_translate(qtbot: QtBot, make_page: MakePage) -> None:
    page = make_page(SENTENCE)
    assert page.sentence.input.text == SENTENCE
    assert page.state.translation is not None
    assert page.state.translation.source_text == SENTENCE
    assert not page.use_button.isEnabled(), "it is the same sentence"
    assert page.state.notice == ""
    assert any(SENTENCE in shown.text() for _, shown in page.view.text.texts)  # type: ignore[union-attr]


def test_a_long_sentence_is_used_too(make_page: MakePage) -> None:
    text = "Ein " + "sehr " * 40 + "alter Hund."
    page = make_page(text)
    assert page.state.translation is not None
    assert page.state.translation.source_text == page.sentence.input.text == text
    assert page.state.notice == ""


@pytest.mark.parametrize(
    ("text", "source", "why"),
    [
        ("Two dogs play.", "en", "it is English, and Learn reads German"),
        ("The two dogs play on the beach.", "de", "the model cannot read it"),
    ],
    ids=["another language", "foreign text"],
)
def test_a_sentence_that_cannot_be_used_is_replaced_by_an_example_and_this_is_told(
    qtbot: QtBot, make_page: MakePage, text: str, source: str, why: str
) -> None:
    page = make_page(text, source)
    qtbot.waitUntil(
        lambda: (
            page.state.translation is not None
            and page.state.translation.source_text == FIRST_EXAMPLE
        ),
        timeout=TIMEOUT_MS,
    )
    assert page.sentence.input.text == FIRST_EXAMPLE == page.own.text
    assert why in page.sentence.note.text()
    assert page.use_button.isEnabled() == (source == "de"), (
        "the reader may see a long one all the same"
    )
    if source != "de":
        assert why in page.use_button.toolTip()


def test_the_refusal_of_a_sentence_goes_with_its_reason(qtbot: QtBot, make_page: MakePage) -> None:
    page = make_page("Two dogs play.", "en")
    qtbot.waitUntil(lambda: "cannot be used here" in page.sentence.note.text())
    page.hide()
    theirs, ours = window_state_of(page), page.state.model
    assert ours is not None
    theirs.begin_model(ours)
    theirs.submit(show_experiment(Experiment(SENTENCE)))
    page.show()
    settle(qtbot, page)
    assert page.use_button.isEnabled()
    assert page.sentence.note.text() == ""


def test_english_leaves_the_chapter_usable_with_the_figures_of_the_last_sentence_dimmed(
    qtbot: QtBot, make_page: MakePage
) -> None:
    page = make_page(SENTENCE)
    page.open_named("weight")
    settle(qtbot, page)
    assert page.view is not None
    overlay = page.view.overlay
    assert not overlay.isVisible()
    page.sentence.input.set_text(ENGLISH)
    qtbot.waitUntil(lambda: page.state.withheld is not None, timeout=TIMEOUT_MS)
    settle_layout()
    assert overlay.isVisible()
    assert SENTENCE in overlay.note.text(), "it says what the figures are about"
    covered = QRect(overlay.mapTo(page, QPoint(0, 0)), overlay.size())
    texts = [page.view.text, page.view.next_button]
    for part in texts:
        assert not covered.intersects(QRect(part.mapTo(page, QPoint(0, 0)), part.size()))
    question = page.view.text.predictions[0]
    next(iter(question.choices.values())).click()
    assert not question.look.isEnabled()
    assert question.verdict.text() == NOT_TRANSLATED
    for button in page.view.text.tries:
        is_about_another = "Garten" in button.text()
        assert button.isEnabled() == is_about_another, "the chapter types another sentence"
        assert button.toolTip() == ("" if is_about_another else NOT_TRANSLATED)
    before = page.place
    page.view.next_button.click()
    assert page.place == before + 1
    assert page.view.overlay.isVisible(), "a chapter opened later has the same figures"
    assert page.view.text.predictions[0].question.text()
    page.open_chapter(before)
    assert page.sentence.withheld_notice.isVisible()
    page.sentence.withheld_notice.button.click()
    settle_layout()
    assert not overlay.isVisible()
    assert question.verdict.text() == ""
    assert all(button.isEnabled() and not button.toolTip() for button in page.view.text.tries)
    page.sentence.input.set_text(SENTENCE)
    settle(qtbot, page)
    assert not overlay.isVisible()


def test_the_same_sentence_after_english_can_be_asked_about_again(
    qtbot: QtBot, make_page: MakePage
) -> None:
    page = make_page(SENTENCE)
    page.open_named("words")
    settle(qtbot, page)
    assert page.view is not None
    question = page.view.text.predictions[0]
    next(iter(question.choices.values())).click()
    question.look.click()
    qtbot.waitUntil(lambda: question.verdict.text() not in ("", COMPUTING), timeout=TIMEOUT_MS)
    answer = question.verdict.text()
    page.sentence.input.set_text(ENGLISH)
    qtbot.waitUntil(lambda: question.verdict.text() == NOT_TRANSLATED, timeout=TIMEOUT_MS)
    page.sentence.input.set_text(SENTENCE)
    qtbot.waitUntil(question.look.isEnabled, timeout=TIMEOUT_MS)
    assert question.verdict.text() == ""
    question.look.click()
    qtbot.waitUntil(lambda: question.verdict.text() == answer, timeout=TIMEOUT_MS)


def test_chapters_opened_during_english_show_what_there_is_of_the_last_sentence(
    qtbot: QtBot, make_page: MakePage
) -> None:
    page = make_page(SENTENCE)
    page.sentence.input.set_text(ENGLISH)
    qtbot.waitUntil(lambda: page.state.withheld is not None, timeout=TIMEOUT_MS)
    for index, chapter in enumerate(page.chapters):
        page.open_chapter(index)
        settle(qtbot, page)
        settle_layout()
        view = page.view
        assert view is not None
        about = [figure for figure in view.figures if figure.is_about_sentence]
        uses_no_sentence = chapter.name in ("training", "model")
        assert view.overlay.isHidden() is uses_no_sentence, chapter.name
        for figure in about:
            assert figure.isVisible() is not figure.needs_answer, (chapter.name, figure.caption)
        shown = any(figure.isVisible() for figure in about)
        if about:
            assert (view.overlay.note.text() == NO_FIGURES) is not shown, chapter.name
        texts = [shown.text() for _, shown in view.text.texts]
        if chapter.name == "weight":
            assert not [text for text in texts if UNKNOWN in text]
    page.sentence.input.set_text(OTHER)
    for index in range(len(page.chapters)):
        page.open_chapter(index)
        settle(qtbot, page)
        assert page.view is not None
        assert all(figure.isVisible() for figure in page.view.figures)


@pytest.mark.parametrize("name", ["training", "model"])
def test_questions_about_no_sentence_are_answered_during_english(
    qtbot: QtBot, make_page: MakePage, name: str
) -> None:
    page = make_page(SENTENCE)
    page.sentence.input.set_text(ENGLISH)
    qtbot.waitUntil(lambda: page.state.withheld is not None, timeout=TIMEOUT_MS)
    page.open_named(name)
    settle(qtbot, page)
    assert page.view is not None
    (question,) = page.view.text.predictions
    next(iter(question.choices.values())).click()
    assert question.look.isEnabled()
    question.look.click()
    qtbot.waitUntil(
        lambda: question.verdict.text().startswith(("Right.", "No: ")), timeout=TIMEOUT_MS
    )


def test_a_chapter_opened_during_english_begins_with_the_next_translation(
    qtbot: QtBot, make_page: MakePage
) -> None:
    page = make_page(SENTENCE)
    page.sentence.input.set_text(ENGLISH)
    qtbot.waitUntil(lambda: page.state.withheld is not None, timeout=TIMEOUT_MS)
    page.state.selection.pinned = None
    page.open_named("weight")
    qtbot.waitUntil(lambda: page.state.selection.pinned is not None, timeout=TIMEOUT_MS)
    page.state.selection.pinned = None
    assert page.state.experiment.source_text == ENGLISH
    page.sentence.input.set_text(SENTENCE)
    settle(qtbot, page)
    assert page.state.selection.pinned is not None


def test_the_sentence_of_translate_is_taken_over_later_by_a_button_and_never_by_itself(
    qtbot: QtBot, make_page: MakePage
) -> None:
    page = make_page(SENTENCE)
    page.sentence.input.set_text("Eine Katze schläft.")
    settle(qtbot, page)
    page.hide()
    window_state_of(page).submit(show_experiment(Experiment(OTHER)))
    page.show()
    settle(qtbot, page)
    assert page.sentence.input.text == "Eine Katze schläft.", "what was typed here stays"
    assert page.use_button.isEnabled()
    assert OTHER in page.use_button.toolTip()
    page.use_button.click()
    settle(qtbot, page)
    assert page.state.translation is not None
    assert page.state.translation.source_text == OTHER == page.sentence.input.text
    assert not page.use_button.isEnabled()
    page.sentence.undo()
    settle(qtbot, page)
    assert page.sentence.input.text == "Eine Katze schläft."


def test_what_is_typed_before_the_model_is_open_is_kept(
    qtbot: QtBot, theme: Theme, bundled_translator: Translator
) -> None:
    window_state = ExperimentState()
    window_state.prepare_text(SENTENCE)
    page = LearnPage(InferenceWorker(lambda path, device: bundled_translator), window_state)
    shown(qtbot, page)
    assert page.sentence.input.text == SENTENCE
    page.sentence.input.set_text(OTHER)
    settle(qtbot, page)
    assert page.sentence.input.text == OTHER == page.own.text
    page.shutdown()


def test_a_sentence_that_a_chapter_tries_gives_way_to_the_readers(
    qtbot: QtBot, make_page: MakePage
) -> None:
    page = make_page(SENTENCE)
    page.open_named("words")
    view = page.view
    assert view is not None
    assert not view.text.back_button.isVisible()
    view.text.tries[0].click()
    settle(qtbot, page)
    tried = page.sentence.input.text
    assert tried != SENTENCE == page.own.text
    assert view.text.back_button.isVisible()
    assert not page.use_button.isEnabled(), "it is still the reader's sentence"
    page.state.submit(intervene(SoftmaxTemperature(Head("cross", 0, 0), 4.0)))
    settle(qtbot, page)
    view.text.back_button.click()
    settle(qtbot, page)
    assert page.sentence.input.text == SENTENCE
    assert not page.state.experiment.interventions, "the change was to the other sentence"
    assert not view.text.back_button.isVisible()
    page.sentence.undo()
    settle(qtbot, page)
    assert (page.sentence.input.text, page.own.text) == (tried, SENTENCE), (
        "undo makes it no sentence of the reader's"
    )
    page.open_named("layers")
    settle(qtbot, page)
    assert page.sentence.input.text == SENTENCE, "each chapter begins with the reader's"
    page.sentence.input.set_text(tried)
    settle(qtbot, page)
    assert page.own.text == tried, "typed by the reader, it is the reader's"
