"""Every question of every chapter, answered with mouse and keyboard, on an easy, a typical and a
long sentence."""

import math
import re
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.core.quantities import percent_in_words
from augenmerk.core.translation.experiment import (
    Experiment,
    GivenTarget,
    HeadScaled,
    SoftmaxTemperature,
)
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.learn.chapter import Predict, read_chapters
from augenmerk.viz_app.extensions.learn.chapter_view import (
    COMPUTING,
    NO_OTHER_ORDER,
    NO_SUCH_WORD,
    ChapterView,
    PredictView,
)
from augenmerk.viz_app.extensions.learn.checks import LONGEST_EXPLANATION, SAME_WEIGHT, quoted
from augenmerk.viz_app.extensions.learn.figures.decoding import UNCHANGED, BeamFigure
from augenmerk.viz_app.extensions.learn.figures.one_weight import OneWeightFigure
from augenmerk.viz_app.extensions.learn.page import LearnPage
from augenmerk.viz_app.main_window import MainWindow
from tests.builders import first_quick
from tests.viz_app.builders import settle_layout
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import LEARN, learn_page_of, open_chapter_in

pytestmark = pytest.mark.heavy

SENTENCES = (
    "Ein Hund schläft.",
    "Zwei Hunde spielen im Schnee mit einem roten Ball.",
    (
        "Ein kleines Mädchen in einem rosa Kleid klettert mit ihrem Bruder die Treppe zu einem "
        "alten Holzhaus hinauf, während ihre Eltern auf einer Bank im Garten sitzen, Kaffee "
        "trinken und mit den Nachbarn über das Wetter von gestern und morgen reden."
    ),
)
CHAPTERS = tuple(
    chapter.name
    for chapter in read_chapters()
    if any(isinstance(block, Predict) for block in chapter.blocks)
)


@pytest.fixture
def window(qtbot: QtBot, make_window: MakeWindow, bundled_translator: Translator) -> MainWindow:
    window = make_window(
        None, sentence="Ein Hund schläft.", loader=lambda path, device: bundled_translator
    )
    window.pages.show(LEARN)
    qtbot.waitUntil(lambda: page_of(window).view is not None)
    return window


def page_of(window: MainWindow) -> LearnPage:
    assert learn_page_of(window) is not None
    return learn_page_of(window)


def rest(qtbot: QtBot, window: MainWindow) -> None:
    """Waits until nothing is computed."""
    page = page_of(window)

    def is_idle() -> bool:
        view = page.view
        parts = () if view is None else (*view.figures, *view.text.predictions)
        return not page.state.request.is_running and not any(
            part.request.is_running for part in parts
        )

    qtbot.waitUntil(is_idle)
    settle_layout()
    qtbot.waitUntil(is_idle)


def open_chapter(qtbot: QtBot, window: MainWindow, name: str, sentence: str) -> ChapterView:
    """Types a sentence and opens a chapter."""
    page = page_of(window)
    page.sentence.input.set_text(sentence)
    qtbot.waitUntil(
        lambda: (
            page.state.translation is not None and page.state.translation.source_text == sentence
        )
    )
    open_chapter_in(window, name)
    rest(qtbot, window)
    assert page.view is not None
    return page.view


def focus_by_tab(qtbot: QtBot, window: MainWindow, widget: QWidget) -> None:
    """Presses Tab until a widget has the focus."""
    for _ in range(200):
        if widget.hasFocus():
            return
        qtbot.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Tab)
    raise AssertionError(f"Tab does not reach {widget}")


def answer_by_keys(qtbot: QtBot, window: MainWindow, prediction: PredictView, choice: str) -> None:
    """Chooses with Space or an arrow key, and looks with Space."""
    button = prediction.choices[choice]
    button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert button.isChecked()
    focus_by_tab(qtbot, window, prediction.look)
    qtbot.keyClick(prediction.look, Qt.Key.Key_Space)


def asked(prediction: PredictView) -> str:
    """The text of the question."""
    return prediction.question.text()


def has_verdict(prediction: PredictView) -> bool:
    """A verdict with a sentence of explanation."""
    return re.fullmatch(r"(Right\.|No: .+?\.) \S.+?[.!?]”?", prediction.verdict.text()) is not None


def assert_judged(window: MainWindow, prediction: PredictView, question: str) -> None:
    """The verdict explains, the question names what it named, and the focus is in the question."""
    text = prediction.verdict.text()
    assert has_verdict(prediction), text
    explanation = re.sub(r"^(Right\.|No: .+?\.) ", "", text)
    assert len(explanation) <= LONGEST_EXPLANATION, "there is no room for more"
    assert prediction.verdict.isVisible()
    assert prediction.question.text() == question
    focused = QApplication.focusWidget()
    assert focused is not None
    assert prediction.isAncestorOf(focused), focused


def test_a_long_quote_has_a_few_whole_words() -> None:
    text = "A man is standing on a ladder."
    assert quoted(text, 30) == f"“{text}”"
    assert quoted(text, 20) == "“A man is standing …”"
    assert quoted(text, 20, 4) == "“… on a ladder.”"
    assert quoted(text, 12, 3) == "“… standing …”"
    assert quoted("x" * 50, 12) == "“xxxxxx…xxxxx”", "a word without an end"
    assert quoted("", 12) == "“”"


@pytest.mark.parametrize("sentence", first_quick(SENTENCES, 1), ids=["easy", "typical", "long"])
@pytest.mark.parametrize("name", CHAPTERS)
def test_each_question_gets_a_verdict_and_keeps_word_and_focus(
    qtbot: QtBot, window: MainWindow, name: str, sentence: str
) -> None:
    view = open_chapter(qtbot, window, name, sentence)
    for prediction in view.text.predictions:
        question = prediction.question.text()
        for choice in prediction.choices:
            answer_by_keys(qtbot, window, prediction, choice)
            qtbot.waitUntil(lambda: has_verdict(prediction))  # noqa: B023 - called here
            assert_judged(window, prediction, question)
            rest(qtbot, window)
            assert_judged(window, prediction, question)
        assert "…" not in question


@pytest.mark.parametrize("name", first_quick(CHAPTERS))
def test_an_answer_wanted_while_an_experiment_is_computed_is_given_about_the_same_word(
    qtbot: QtBot, window: MainWindow, name: str
) -> None:
    view = open_chapter(qtbot, window, name, SENTENCES[1])
    state, predictions, judged = page_of(window).state, view.text.predictions, set[str]()
    for prediction in predictions:
        prediction.judged.connect(partial(judged.add, prediction.check))
    for button in view.text.tries:
        for prediction in predictions:
            qtbot.mouseClick(next(iter(prediction.choices.values())), Qt.MouseButton.LeftButton)
        text, head, questions = (
            state.experiment.source_text,
            state.selection.head,
            list(map(asked, predictions)),
        )
        judged.clear()
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        for prediction in predictions:
            qtbot.mouseClick(prediction.look, Qt.MouseButton.LeftButton)
        if (state.experiment.source_text, state.selection.head) != (text, head) or not predictions[
            0
        ].look.isEnabled():
            rest(qtbot, window)
            # another question, to be answered once it can be read, or none about such a head
            continue
        qtbot.waitUntil(lambda: judged == {prediction.check for prediction in predictions})
        rest(qtbot, window)
        assert list(map(asked, predictions)) == questions, button.text()
        assert all(map(has_verdict, predictions))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["words", "feed-forward", "decoding"])
def test_an_answer_wanted_while_another_sentence_is_translated_is_given_about_that_one(
    qtbot: QtBot, window: MainWindow, name: str
) -> None:
    view = open_chapter(qtbot, window, name, SENTENCES[0])
    prediction, state = view.text.predictions[0], page_of(window).state
    next(iter(prediction.choices.values())).click()
    view.text.tries[0].click()
    text = state.experiment.source_text
    assert text != SENTENCES[0]
    assert state.request.is_running
    prediction.look.click()
    qtbot.waitUntil(lambda: has_verdict(prediction))
    rest(qtbot, window)
    assert has_verdict(prediction)
    assert state.original is not None
    assert state.original.source_text == text


@pytest.mark.parametrize("name", ["positions", "weight", "training"])
def test_the_figure_of_a_question_comes_into_sight_with_the_answer(
    qtbot: QtBot, window: MainWindow, name: str
) -> None:
    window.resize(1100, 700)
    view = open_chapter(qtbot, window, name, SENTENCES[1])
    (prediction,) = view.text.predictions
    (figure,) = (figure for figure in view.figures if figure.question == prediction.check)
    assert figure.visibleRegion().boundingRect().height() < figure.height() / 2
    qtbot.mouseClick(next(iter(prediction.choices.values())), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: figure.visibleRegion().boundingRect().height() == figure.height())
    assert not prediction.verdict.text()


@pytest.mark.slow
def test_a_softer_softmax_that_shifts_the_words_is_judged_for_the_row_asked_about(
    qtbot: QtBot, window: MainWindow, bundled_translator: Translator
) -> None:
    sentence = "Drei Männer gehen auf einer Straße in den Bergen."
    view = open_chapter(qtbot, window, "weight", sentence)
    (prediction,), state = view.text.predictions, page_of(window).state
    original, head, pinned = state.original, state.selection.head, state.selection.pinned
    assert original is not None
    assert pinned is not None
    softer = SoftmaxTemperature(head, 4)
    freely = bundled_translator.run(Experiment(sentence, interventions=(softer,)))
    assert freely.predicted_tokens[pinned.query] != original.predicted_tokens[pinned.query]
    scored = bundled_translator.run(Experiment(sentence, GivenTarget(original.text), (softer,)))
    before, after, of_another_word = (
        translation.maps.cross[head.layer, head.head, pinned.query].max()
        for translation in (original, scored, freely)
    )
    assert percent_in_words(float(after)) != percent_in_words(float(of_another_word))
    right = (
        "falls"
        if after < before - SAME_WEIGHT
        else "rises"
        if after > before + SAME_WEIGHT
        else "stays"
    )
    view.text.tries[0].click()
    rest(qtbot, window)
    question = prediction.question.text()
    assert f"**{original.predicted_tokens[pinned.query]}**" in question
    prediction.choices[right].click()
    prediction.look.click()
    qtbot.waitUntil(lambda: has_verdict(prediction))
    rest(qtbot, window)
    assert prediction.verdict.text().startswith("Right.")
    assert (
        f"{percent_in_words(float(before))} to {percent_in_words(float(after))}"
        in prediction.verdict.text()
    )
    assert prediction.question.text() == question
    assert state.translation is not None
    assert state.translation.text == original.text, "the map has the row that the verdict is about"


def test_the_answer_after_a_row_was_set_by_hand_is_shown_in_the_row_asked_about(
    qtbot: QtBot, window: MainWindow
) -> None:
    view = open_chapter(qtbot, window, "weight", SENTENCES[0])
    (prediction,), state = view.text.predictions, page_of(window).state
    (figure,) = (part for part in view.figures if isinstance(part, OneWeightFigure))
    next(button for button in view.text.tries if "Move a row" in button.text()).click()
    rest(qtbot, window)
    question = prediction.question.text()
    assert "**garden**" in question
    assert "“garden”" in figure.title.text(), "the figure says which row the question is about"
    prediction.choices["falls"].click()
    prediction.look.click()
    qtbot.waitUntil(lambda: has_verdict(prediction))
    rest(qtbot, window)
    assert prediction.question.text() == question
    assert state.translation is not None
    pinned, head = state.selection.pinned, state.selection.head
    assert pinned is not None
    assert state.translation.predicted_tokens[pinned.query] == "garden"
    assert "“garden”" in figure.title.text()
    weight = float(state.translation.maps.cross[head.layer, head.head, pinned.query, pinned.key])
    assert f"to {percent_in_words(weight)}." in prediction.verdict.text()


def test_the_way_back_leaves_the_focus_in_the_chapter(qtbot: QtBot, window: MainWindow) -> None:
    view = open_chapter(qtbot, window, "words", SENTENCES[0])
    view.text.tries[0].click()
    rest(qtbot, window)
    view.text.back_button.setFocus()
    qtbot.keyClick(view.text.back_button, Qt.Key.Key_Space)
    rest(qtbot, window)
    focused = QApplication.focusWidget()
    assert view.text.back_button.isHidden()
    assert focused is not None
    assert view.text.isAncestorOf(focused)


def test_an_answer_that_comes_after_another_chapter_was_opened_changes_nothing_there(
    qtbot: QtBot, window: MainWindow
) -> None:
    (prediction,) = open_chapter(qtbot, window, "feed-forward", SENTENCES[0]).text.predictions
    prediction.choices["same"].click()
    prediction.look.click()
    open_chapter_in(window, "decoding")
    rest(qtbot, window)
    assert page_of(window).state.experiment.interventions == ()
    assert prediction.verdict.text() == ""


def test_a_question_says_that_it_computes(qtbot: QtBot, window: MainWindow) -> None:
    (prediction,) = open_chapter(qtbot, window, "feed-forward", SENTENCES[0]).text.predictions
    prediction.choices["same"].click()
    prediction.look.click()
    assert prediction.verdict.text() == COMPUTING
    assert prediction.verdict.isVisible()
    qtbot.waitUntil(lambda: has_verdict(prediction))


def test_another_sentence_clears_an_answer_that_was_judged(
    qtbot: QtBot, window: MainWindow
) -> None:
    view = open_chapter(qtbot, window, "words", SENTENCES[0])
    (prediction,) = view.text.predictions
    next(iter(prediction.choices.values())).click()
    prediction.look.click()
    qtbot.waitUntil(lambda: has_verdict(prediction))
    view.text.tries[0].click()
    rest(qtbot, window)
    assert prediction.chosen is None
    assert not prediction.look.isEnabled()
    assert not prediction.verdict.text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "reason"), [("positions", NO_OTHER_ORDER), ("kinds", NO_SUCH_WORD)]
)
def test_one_word_is_too_few_to_be_shuffled_or_removed(
    qtbot: QtBot, window: MainWindow, name: str, reason: str
) -> None:
    (prediction,) = open_chapter(qtbot, window, name, "Hund.").text.predictions
    next(iter(prediction.choices.values())).click()
    assert not prediction.look.isEnabled()
    assert prediction.verdict.text() == reason


def test_shuffling_by_the_button_keeps_the_question(qtbot: QtBot, window: MainWindow) -> None:
    view = open_chapter(qtbot, window, "positions", SENTENCES[0])
    (prediction,), state = view.text.predictions, page_of(window).state
    question = asked(prediction)
    assert SENTENCES[0] in question
    view.text.tries[0].click()
    rest(qtbot, window)
    shuffled_text = state.experiment.source_text
    assert shuffled_text != SENTENCES[0]
    assert asked(prediction) == question
    prediction.choices["same"].click()
    prediction.look.click()
    qtbot.waitUntil(lambda: has_verdict(prediction))
    rest(qtbot, window)
    assert state.experiment.source_text == shuffled_text
    verdict = prediction.verdict.text()
    assert verdict.count("The positions were added to other words") == 1, (
        "with a reason, whatever happens"
    )


def test_the_text_names_a_row_set_by_hand_and_the_word_that_it_predicted_before(
    qtbot: QtBot, window: MainWindow
) -> None:
    view = open_chapter(qtbot, window, "weight", SENTENCES[0])
    texts = [shown for _, shown in view.text.texts]
    assert any("Here **" in text.text() for text in texts)
    next(button for button in view.text.tries if "Move a row" in button.text()).click()
    rest(qtbot, window)
    assert any("Set by hand: **baut** gets **100%**." in text.text() for text in texts)
    assert any("predicts **yard (before the change: garden)**" in text.text() for text in texts)
    assert "it predicts **garden**" in asked(view.text.predictions[0])


@pytest.mark.slow
def test_a_verdict_goes_when_another_answer_is_chosen(qtbot: QtBot, window: MainWindow) -> None:
    view = open_chapter(qtbot, window, "words", SENTENCES[1])
    (prediction,) = view.text.predictions
    first, second, *_ = prediction.choices.values()
    first.click()
    prediction.look.click()
    qtbot.waitUntil(lambda: has_verdict(prediction))
    second.click()
    assert not prediction.verdict.text()
    prediction.look.click()
    qtbot.waitUntil(lambda: has_verdict(prediction))


@pytest.mark.slow
def test_return_looks_and_presses_buttons(qtbot: QtBot, window: MainWindow) -> None:
    view = open_chapter(qtbot, window, "words", SENTENCES[1])
    (prediction,) = view.text.predictions
    choice = next(iter(prediction.choices.values()))
    choice.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(choice, Qt.Key.Key_Return)
    assert not prediction.verdict.text(), "nothing is chosen"
    choice.click()
    for focused in (choice, prediction.look):
        prediction.refresh()
        prediction.verdict.setText("")
        focused.setFocus(Qt.FocusReason.TabFocusReason)
        qtbot.keyClick(focused, Qt.Key.Key_Return)
        assert has_verdict(prediction)
        assert focused.hasFocus()
    textbook = view.text.textbooks[0]
    textbook.button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(textbook.button, Qt.Key.Key_Enter)
    assert textbook.isVisible()
    view.next_button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(view.next_button, Qt.Key.Key_Return)
    assert page_of(window).view is not view


@pytest.mark.slow
@pytest.mark.parametrize(
    "sentence", ["Ein Koch schneidet in einer kleinen Küche Gemüse.", "Ein Hund schläft."]
)
def test_equal_words_are_explained_by_their_probability(
    qtbot: QtBot, window: MainWindow, bundled_translator: Translator, sentence: str
) -> None:
    """Also if it rises: the other heads do not replace one that was in the way."""
    view = open_chapter(qtbot, window, "not", sentence)
    state, (prediction,) = page_of(window).state, view.text.predictions
    head, text = state.selection.head, state.experiment.source_text
    without = bundled_translator.run(Experiment(text, interventions=(HeadScaled(head),)))
    original = bundled_translator.translate(text)
    assert without.text == original.text
    answer_by_keys(qtbot, window, prediction, "other")
    qtbot.waitUntil(lambda: has_verdict(prediction))
    change = without.log_probability - original.log_probability
    ratio = f"{math.exp(abs(change)):.1f}"
    expected, reason = (
        ("about as probable as", "do the same work")
        if ratio == "1.0"
        else (f"{ratio} times more probable than", "speaks against")
        if change > 0
        else (f"{ratio} times less probable than", "pass on enough")
    )
    text = prediction.verdict.text()
    assert text.startswith(
        f"No: the words stay the same. The whole translation is {expected} before. "
    )
    assert reason in text


def test_the_word_to_remove_is_named_as_typed(qtbot: QtBot, window: MainWindow) -> None:
    (prediction,) = open_chapter(qtbot, window, "kinds", SENTENCES[1]).text.predictions
    assert "**Ball**" in asked(prediction)


@pytest.mark.slow
def test_another_chapter_reports_no_loss_of_changes_to_the_sentence_of_the_one_before(
    qtbot: QtBot, window: MainWindow
) -> None:
    view = open_chapter(qtbot, window, "weight", SENTENCES[0])
    button = next(button for button in view.text.tries if "Move a row" in button.text())
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    rest(qtbot, window)
    state, noted = page_of(window).state, list[str]()
    assert state.experiment.attention_rows
    state.notice_changed.connect(noted.append)
    qtbot.mouseClick(view.next_button, Qt.MouseButton.LeftButton)
    rest(qtbot, window)
    assert state.experiment == Experiment(SENTENCES[0])
    assert not any(noted)


@pytest.mark.slow
def test_the_search_names_itself_unchanged_while_a_word_is_forced(
    qtbot: QtBot, window: MainWindow
) -> None:
    view = open_chapter(qtbot, window, "decoding", SENTENCES[1])
    figure = next(figure for figure in view.figures if isinstance(figure, BeamFigure))
    assert not figure.says.text().startswith(UNCHANGED)
    answer_by_keys(qtbot, window, view.text.predictions[0], "other")
    qtbot.waitUntil(lambda: has_verdict(view.text.predictions[0]))
    rest(qtbot, window)
    assert figure.says.text().startswith(UNCHANGED)
