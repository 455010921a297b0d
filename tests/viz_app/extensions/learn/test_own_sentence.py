"""Learn begins with the sentence of the Translate page where it can be used, and goes back to the
reader's own."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment, SoftmaxTemperature
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.learn.page import LearnPage
from augenmerk.viz_app.extensions.learn.sentence import FIRST_EXAMPLE
from augenmerk.viz_app.state.experiment_editor import intervene, show_experiment
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.translate.page import DimmingOverlay
from augenmerk.viz_app.worker.inference import InferenceWorker
from tests.viz_app.builders import shown

pytestmark = pytest.mark.heavy  # each test makes a window with a model

TIMEOUT_MS = 20_000
SENTENCE, OTHER = "Zwei Hunde spielen im Schnee.", "Ein Mann steht auf einer Leiter."
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


def test_english_leaves_the_chapter_with_the_last_sentence_dimmed(
    qtbot: QtBot, make_page: MakePage
) -> None:
    page = make_page(SENTENCE)
    (overlay,) = page.findChildren(DimmingOverlay)
    assert not overlay.isVisible()
    page.sentence.input.set_text("The two dogs play on the beach.")
    qtbot.waitUntil(lambda: page.state.withheld is not None, timeout=TIMEOUT_MS)
    assert overlay.isVisible()
    assert page.view is not None
    assert page.sentence.withheld_notice.isVisible()
    page.sentence.withheld_notice.button.click()
    assert not overlay.isVisible()
    page.sentence.input.set_text(SENTENCE)
    settle(qtbot, page)
    assert not overlay.isVisible()


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
