"""Source words that the translation probably left out are pale, once the model has checked them."""

import re
import threading
from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from augenmerk.core.translation.experiment import SourceWordRemoved, SourceWordReplaced
from augenmerk.viz_app.extensions.words.left_out_part import MANY, LeftOutWordsJob
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.state.experiment_editor import intervene, undo
from augenmerk.viz_app.state.sentence_text import Span
from augenmerk.viz_app.theme import current_theme
from augenmerk.viz_app.worker.jobs import OpenTranslator
from tests.conftest import open_once
from tests.core.extensions.test_missing_words import LIST
from tests.viz_app.conftest import MakeWindow

SENTENCE = "Eine Frau strickt gemütlich und wartet geduldig auf ihren Vater."
COZILY, PATIENTLY = Span(18, 27), Span(39, 47)
TIP = "No word of the translation depends on “geduldig”: it was probably left out."
pytestmark = pytest.mark.heavy


def pale(window: MainWindow) -> list[Span]:
    return sorted(
        window.translate_page.sentence.input.marker.marks.left_out, key=lambda span: span.start
    )


def wait_until_checked(qtbot: QtBot, window: MainWindow) -> None:
    page = window.translate_page
    qtbot.waitUntil(
        lambda: (
            page.state.current is not None
            and page.state.current.experiment == page.state.experiment
            and page.sentence.marks.has_pale_words(page.state.current)
        )
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sentences that the model was asked about."""
    texts: list[str] = []
    run: Callable[..., object] = LeftOutWordsJob.run

    def recording(job: LeftOutWordsJob, *arguments: object) -> object:
        texts.append(job.translation.source_text)
        return run(job, *arguments)

    monkeypatch.setattr(LeftOutWordsJob, "run", recording)
    return texts


def test_left_out_words_become_pale_and_say_why(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window(None, sentence=SENTENCE, loader=open_once)
    wait_until_checked(qtbot, window)
    field = window.translate_page.sentence.input
    assert pale(window) == [COZILY, PATIENTLY]
    assert field.marker.marks.tips[PATIENTLY].splitlines()[-1] == TIP
    assert "left-out word" in field.property("terms").split(", ")
    assert TIP in field.accessibleDescription()
    looks = {
        selection.cursor.selectedText(): selection.format.foreground().color().name()
        for selection in field.extraSelections()
        if selection.format.hasProperty(selection.format.Property.ForegroundBrush)
    }
    assert looks == dict.fromkeys(("gemütlich", "geduldig"), current_theme().color("muted").name())


def test_the_picture_does_not_wait_for_them(
    make_window: MakeWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer to an older sentence is never shown."""
    may_answer, run = threading.Event(), LeftOutWordsJob.run

    def waiting(
        job: LeftOutWordsJob, translator: OpenTranslator, *others: Callable[..., object]
    ) -> object:
        assert may_answer.wait(30)
        return run(job, translator, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(LeftOutWordsJob, "run", waiting)
    window = make_window(None, sentence=SENTENCE, loader=open_once)  # the translation is shown
    assert pale(window) == []
    window.translate_page.sentence.input.set_text("Zwei Hunde spielen im Schnee.")
    may_answer.set()
    wait_until_checked(qtbot, window)
    assert window.translate_page.state.translation is not None
    assert window.translate_page.state.translation.text.startswith("Two dogs")
    assert pale(window) == []


def test_they_are_computed_once_for_a_result_and_follow_edits(
    make_window: MakeWindow, qtbot: QtBot, asked: list[str]
) -> None:
    window = make_window(None, sentence=SENTENCE, loader=open_once)
    wait_until_checked(qtbot, window)
    state = window.translate_page.state
    state.result_changed.emit(state.shown)
    qtbot.wait(50)  # a second question would be answered
    assert (asked, pale(window)) == ([SENTENCE], [COZILY, PATIENTLY])
    state.submit(intervene(SourceWordRemoved(3)))
    wait_until_checked(qtbot, window)
    assert COZILY not in pale(window), "it is struck out"
    state.submit(undo)
    wait_until_checked(qtbot, window)
    assert pale(window) == [COZILY, PATIENTLY]
    state.submit(intervene(SourceWordReplaced(6, "Hund")))
    wait_until_checked(qtbot, window)
    assert PATIENTLY not in pale(window), "“Hund” stands in its place"


def test_many_left_out_words_are_reported_until_there_is_another_sentence(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    long = (
        "Ein Mann in einem blauen Hemd steht auf einer Leiter und putzt ein Fenster, während zwei "
        "Hunde im Garten spielen und eine Frau mit einem roten Hut auf einer Bank sitzt und ein "
        "Buch liest, und im Hintergrund fährt ein Junge auf einem Fahrrad an einem großen Haus "
        "vorbei."
    )
    window = make_window(None, sentence=SENTENCE, loader=open_once)
    note = window.translate_page.sentence.note
    wait_until_checked(qtbot, window)
    assert note.text() == "", "two words are marked"
    window.translate_page.sentence.input.set_text(long)
    wait_until_checked(qtbot, window)
    translation = window.state.translation
    assert translation is not None
    assert re.fullmatch(
        r"The translation is much shorter than the text: it probably left out about \d+ words\. "
        r"Some are pale\.",
        note.text(),
    ), "twice the same word is not missed, so that there are more"
    window.translate_page.sentence.input.set_text(SENTENCE)
    wait_until_checked(qtbot, window)
    assert note.text() == ""


def test_a_translation_that_is_much_shorter_is_reported_though_few_words_are_pale(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window(None, sentence=LIST, loader=open_once)
    wait_until_checked(qtbot, window)
    assert 1 < len(pale(window)) < MANY
    assert re.fullmatch(
        r"The translation is much shorter than the text: .* about \d+ words\. Some are pale\.",
        window.translate_page.sentence.note.text(),
    )
