import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QInputMethodEvent, QTextCharFormat
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.state.sentence_text import MAX_CHARACTERS, Span
from augenmerk.viz_app.theme import SCALES, Theme, current_theme
from augenmerk.viz_app.views.sentence_input import DEBOUNCE_MS, SentenceInput, SentenceMarks
from tests.conftest import open_once
from tests.viz_app.builders import settle_layout, shown
from tests.viz_app.conftest import MakeWindow


@pytest.fixture
def field(qtbot: QtBot, theme: Theme) -> SentenceInput:
    return shown(qtbot, SentenceInput(), (500, 40))


@pytest.mark.heavy
def test_typing_asks_once_a_moment_after_the_last_key(qtbot: QtBot, field: SentenceInput) -> None:
    asked: list[tuple[str, bool]] = []
    field.text_committed.connect(lambda text, is_asked: asked.append((text, is_asked)))
    qtbot.keyClicks(field, "Zwei Hunde")
    assert asked == []
    qtbot.waitUntil(lambda: bool(asked), timeout=DEBOUNCE_MS * 5)
    qtbot.wait(DEBOUNCE_MS // 2)
    assert asked == [("Zwei Hunde", False)]


def test_enter_asks_at_once_and_writes_nothing(qtbot: QtBot, field: SentenceInput) -> None:
    qtbot.keyClicks(field, "Hund")
    with qtbot.waitSignal(field.text_committed, timeout=DEBOUNCE_MS // 2) as settled:
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert settled.args == ["Hund", True]
    assert field.text == "Hund"


def test_a_longer_text_has_smaller_letters_and_scrolls_in_a_field_of_the_same_height(
    qtbot: QtBot, field: SentenceInput
) -> None:
    height, letters = field.height(), field.font().pixelSize()
    sizes = []
    for num_words in range(1, 60):
        qtbot.keyClicks(field, "Wort ")
        assert field.height() == height
        inside = field.viewport().rect()
        assert inside.contains(field.cursorRect().adjusted(0, 2, 0, -2)), f"{num_words} words"
        sizes.append(field.font().pixelSize())
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == letters > sizes[-1]
    assert field.document().size().height() > 4
    assert field.verticalScrollBar().isVisible()
    field.set_text("Wort")
    assert field.font().pixelSize() == letters
    assert not field.verticalScrollBar().isVisible()


def test_undo_and_redo_are_left_to_whoever_knows_the_experiments(
    qtbot: QtBot, field: SentenceInput
) -> None:
    qtbot.keyClicks(field, "meins")
    with qtbot.waitSignal(field.undo_requested):
        qtbot.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert field.text == "meins"
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    with qtbot.waitSignal(field.redo_requested):
        qtbot.keyClick(field, Qt.Key.Key_Z, modifiers)
    field.cancel()


def test_a_text_is_settled_once_it_was_told(qtbot: QtBot, field: SentenceInput) -> None:
    qtbot.keyClicks(field, "meins")
    assert not field.is_committed
    field.commit()
    assert field.is_committed
    field.show_text("etwas anderes")
    assert field.is_committed, "shown, not typed"


def test_marks_go_as_soon_as_the_text_changes(qtbot: QtBot, field: SentenceInput) -> None:
    field.set_text("🙂 Xylofon und noch viel mehr")
    field.marker.mark(SentenceMarks((Span(3, 10),), Span(11, 28), edited=(Span(0, 2),)))
    unknown, ignored, edited = field.extraSelections()
    assert unknown.format.underlineStyle() == QTextCharFormat.UnderlineStyle.DotLine
    assert unknown.cursor.selectedText() == "Xylofon"
    assert ignored.cursor.selectedText() == "und noch viel mehr"[:17]
    assert ignored.format.fontStrikeOut()
    assert edited.cursor.selectedText() == "🙂"
    assert edited.format.fontStrikeOut()
    assert edited.format.foreground().color() == current_theme().color("warm"), (
        "the colour of changes"
    )
    qtbot.keyClicks(field, "!")
    assert field.extraSelections() == []
    field.cancel()


def test_files_are_left_to_the_window(field: SentenceInput) -> None:
    files, text = QMimeData(), QMimeData()
    files.setUrls([QUrl.fromLocalFile("/tmp/model.safetensors")])
    text.setText("ein Satz")
    assert not field.canInsertFromMimeData(files)
    assert field.canInsertFromMimeData(text)


def paste(field: SentenceInput, text: str) -> None:
    data = QMimeData()
    data.setText(text)
    field.insertFromMimeData(data)


def test_a_pasted_million_characters_are_cut_before_they_are_laid_out(
    qtbot: QtBot, field: SentenceInput
) -> None:
    qtbot.keyClicks(field, "ab")
    sizes: list[int] = []
    field.document().contentsChange.connect(
        lambda *_: sizes.append(field.document().characterCount())
    )
    with qtbot.waitSignal(field.shortened) as shortened:
        paste(field, "x" * 1_000_000)
    assert max(sizes) == MAX_CHARACTERS + 1, "a document ends in a mark"
    assert shortened.args == [1_000_002 - MAX_CHARACTERS]
    assert field.text == "ab" + "x" * (MAX_CHARACTERS - 2)
    field.cancel()


def test_a_marked_text_gives_way_to_pasted_text_of_several_lines(
    qtbot: QtBot, field: SentenceInput
) -> None:
    """Smaller letters within a layout have crashed Qt."""
    for text in ("Ein Schneemann.", "Zwei Hunde spielen im Schnee. " * 12, "Hund") * 4:
        field.selectAll()
        paste(field, text)
        field.marker.mark(SentenceMarks(unknown=(Span(0, 3), Span(4, len(text) - 1))))
        field.marker.shade({Span(0, 3): 0.5})
        field.grab()
        assert field.text == text


@pytest.mark.parametrize("scale", SCALES)
def test_two_lines_are_both_in_sight_with_the_cursor_at_the_end(
    qtbot: QtBot, qapp: QApplication, field: SentenceInput, scale: int
) -> None:
    Theme.light(scale / 100).apply(qapp)
    field.resize(4 * current_theme().base_px * 20, field.height())
    words = "Zwei Hunde".split()
    while field.document().size().height() < 2:
        field.show_text(" ".join(words))
        words.append("spielen")
        settle_layout()
    assert field.property("role") == "dense"
    assert field.textCursor().atEnd()
    assert field.verticalScrollBar().value() == field.verticalScrollBar().maximum() == 0


def test_a_full_field_takes_no_key_but_what_is_selected_can_be_written_over(
    qtbot: QtBot, field: SentenceInput
) -> None:
    full = "w" * MAX_CHARACTERS
    field.show_text(full)
    with qtbot.waitSignal(field.shortened) as shortened:
        qtbot.keyClick(field, Qt.Key.Key_Q)
    assert shortened.args == [1]
    assert field.text == full
    qtbot.keyClick(field, Qt.Key.Key_Backspace)
    qtbot.keyClick(field, Qt.Key.Key_Q)
    assert field.text == full[1:] + "q"
    field.selectAll()
    qtbot.keyClicks(field, "neu")
    assert field.text == "neu"
    field.cancel()


def test_an_input_method_cannot_write_more_than_there_is_room_for(
    qtbot: QtBot, field: SentenceInput
) -> None:
    field.show_text("w" * (MAX_CHARACTERS - 1))
    for text, num_characters in (("漢字", MAX_CHARACTERS - 1), ("漢", MAX_CHARACTERS)):
        event = QInputMethodEvent("", [])
        event.setCommitString(text)
        QApplication.sendEvent(field, event)
        assert len(field.text) == num_characters
    field.cancel()


LONG = " ".join(["Ein Mann und ein Hund spielen im Schnee"] * 40)
"""320 words; the bundled model has room for 254 tokens."""


@pytest.mark.heavy
def test_what_the_model_has_no_room_for_is_struck_before_it_is_translated(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window: MainWindow = make_window(None, sentence="Ein Mann schläft.", loader=open_once)
    panel, state = window.translate_page.sentence, window.state
    field = panel.input
    field.cancel()
    field.setPlainText(LONG)
    field.cancel()  # not translated yet
    qtbot.waitUntil(lambda: field.marker.marks.ignored is not None)
    struck = field.marker.marks.ignored
    assert struck is not None
    assert struck.end == len(LONG)
    assert panel.note.text() == "The model reads up to 254 tokens; the rest is left out."
    assert state.translation is not None
    assert state.translation.source_text == "Ein Mann schläft."
    field.commit()
    qtbot.waitUntil(lambda: state.experiment.source_text == LONG and state.current is not None)
    qtbot.waitUntil(lambda: not state.request.is_running)
    assert field.marker.marks.ignored == struck, "as announced"
    assert panel.note.text().startswith("Only the beginning was translated")
    assert "reads up to" not in panel.note.text()
    field.setPlainText("Ein Hund schläft.")
    field.cancel()
    assert field.marker.marks.ignored is None
