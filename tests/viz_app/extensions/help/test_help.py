"""The terms of the interface are explained where they stand, and everything with a name or a key
can be found."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import (
    QCursor,
    QGuiApplication,
    QHelpEvent,
    QWhatsThisClickedEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QToolTip,
    QWhatsThis,
    QWidget,
)
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.viz_app.extensions.help.explain import (
    as_html,
    at_scale,
    entries_in,
    entries_of,
    explanation_of,
    own_text,
)
from augenmerk.viz_app.extensions.help.glossary import GlossaryError, glossary, parse_glossary
from augenmerk.viz_app.extensions.help.key_sheet import ShortcutSheet
from augenmerk.viz_app.extensions.help.palette import CommandPalette, matching
from augenmerk.viz_app.extensions.learn.chapter import read_chapters
from augenmerk.viz_app.extensions.lessons.lesson_documents import shipped_lessons
from augenmerk.viz_app.extensions.pictures.menu import EXPORTS, OF_RUNS
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.state.color_scale import color_table
from augenmerk.viz_app.state.experiment_editor import toggle
from augenmerk.viz_app.state.map_view import Pair, Pointer
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.widgets.commands import Command
from augenmerk.viz_app.widgets.layouts import VerticalScrollArea
from tests.conftest import open_once
from tests.viz_app.builders import shown
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import LEARN, TRAIN, documents_of, learn_page_of, lessons_of

PLAIN_WORDS = Path(__file__).with_name("plain_words.txt")
"""Words of labels and buttons that need no explanation."""


def test_every_entry_is_short_and_leads_to_a_chapter() -> None:
    chapters = {chapter.name for chapter in read_chapters()}
    assert len(glossary()) > 40
    terms = [term.lower() for entry in glossary() for term in entry.terms]
    assert len(terms) == len(set(terms)), "a term stands once"
    for entry in glossary():
        assert entry.chapter in chapters, entry.title
        assert 1 <= len(re.findall(r"[.:](?:\s|$)", entry.text)) <= 4, entry.title
        assert len(entry.text) < 240, entry.title


@pytest.mark.parametrize("is_dark", [False, True])
def test_the_glossary_names_the_colours_of_a_difference(is_dark: bool) -> None:
    (entry,) = (entry for entry in glossary() if entry.title == "difference")
    less, more = color_table(is_dark=is_dark, is_signed=True).rgb[[0, -1]].astype(int)
    names = {
        "orange" if red > blue else "blue": which
        for which, (red, _, blue) in (("less", less), ("more", more))
    }
    for name, which in names.items():
        assert re.search(rf"{name} where (a query|it) looks {which}\b", entry.text)


def test_an_entry_that_says_nothing_is_refused() -> None:
    (entry,) = parse_glossary(
        "# Glossary\n\n## head, heads\nOne of several.\nformula: α·v\nlearn: heads\n"
    )
    assert (entry.terms, entry.text, entry.formula, entry.chapter) == (
        ("head", "heads"),
        "One of several.",
        "α·v",
        "heads",
    )
    with pytest.raises(GlossaryError, match="head"):
        parse_glossary("## head, heads\nlearn: heads\n")


def test_terms_are_found_as_whole_words_the_longer_first() -> None:
    assert [entry.title for entry in entries_in("Cross-attention · layer 2 · head 6")] == [
        "cross",
        "layer",
        "head",
    ]
    assert [entry.title for entry in entries_in("heading, monolayer")] == []
    assert [entry.title for entry in entries_in("The model that is open")] == ["model"]
    line = "Each row: where the model looks at the German while it predicts that token."
    assert [entry.title for entry in entries_in(line)] == ["row", "attention", "token"]
    assert [entry.title for entry in entries_in("<sos> and weight α")] == ["<sos>", "attention"]
    assert [entry.title for entry in entries_in("beam search with beam size 4")] == ["beam"]


@pytest.mark.heavy
def test_what_is_this_explains_and_leads_to_the_learn_page(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    qtbot.keyClick(window, Qt.Key.Key_F1)
    assert QWhatsThis.inWhatsThisMode()
    QWhatsThis.leaveWhatsThisMode()
    title = window.translate_page.head.title
    inside = title.mapToGlobal(QPoint(3, 3))
    QCursor.setPos(inside)
    asked = QHelpEvent(QEvent.Type.QueryWhatsThis, QPoint(3, 3), inside)
    assert QApplication.sendEvent(title, asked)
    assert asked.isAccepted()
    html = as_html(entries_of(title))
    assert "chapter:heads" in html
    QApplication.sendEvent(title, QHelpEvent(QEvent.Type.WhatsThis, QPoint(3, 3), inside))
    popups = [
        widget
        for widget in QApplication.topLevelWidgets()
        if widget.windowType() == Qt.WindowType.Popup
    ]
    assert any(popup.isVisible() for popup in popups)
    QWhatsThis.hideText()
    grid = window.translate_page.heads.grid
    corner = grid.place_of(Head("cross", 0, 0))
    assert corner is not None
    for kind, point in (("head", corner.center()), ("cross", QPoint(20, corner.top() - 6))):
        assert entries_of(grid, grid.mapToGlobal(point))[0].title == kind
    chips = window.translate_page.sentence.chips
    what = explanation_of(chips, chips.mapToGlobal(QPoint(3, 3)))
    assert "orange below 0.5" in what
    assert "chapter:" in what
    QApplication.sendEvent(window, QWhatsThisClickedEvent("chapter:heads"))
    assert learn_page_of(window) is not None
    assert learn_page_of(window).isVisible()
    assert learn_page_of(window).chapters[learn_page_of(window).place].name == "heads"


@pytest.mark.heavy
def test_a_short_label_without_a_tip_is_explained_by_its_terms(
    qtbot: QtBot, make_window: MakeWindow
) -> None:
    window = make_window()
    label = QLabel("entropy", window)
    label.show()
    point = label.mapToGlobal(QPoint(2, 2))
    QApplication.sendEvent(label, QHelpEvent(QEvent.Type.ToolTip, QPoint(2, 2), point))
    qtbot.waitUntil(lambda: "The uncertainty of a choice" in QToolTip.text())
    QToolTip.hideText()


@pytest.mark.heavy
def test_the_log_probability_is_explained_with_and_without_changes(
    qtbot: QtBot, make_window: MakeWindow
) -> None:
    window = make_window()
    facts, state = window.translate_page.sentence.facts, window.translate_page.state
    for change in (None, toggle(Head("cross", 0, 0))):
        if change is not None:
            state.submit(change)
            qtbot.waitUntil(lambda: "of the original" in facts.text())
        center = facts.rect().center()
        QApplication.sendEvent(
            facts, QHelpEvent(QEvent.Type.ToolTip, center, facts.mapToGlobal(center))
        )
        qtbot.waitUntil(
            lambda: QToolTip.text().startswith("log-probability: The probability of a token")
        )
        QToolTip.hideText()
        qtbot.waitUntil(lambda: not QToolTip.text() or not QToolTip.isVisible())


@pytest.mark.heavy
def test_terms_are_explained_in_dialogs_too(qtbot: QtBot, make_window: MakeWindow) -> None:
    dialog = QDialog(make_window())
    label, field = QLabel("entropy", dialog), QLineEdit(dialog)
    field.move(0, 60)
    dialog.open()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    QApplication.sendEvent(
        label, QHelpEvent(QEvent.Type.ToolTip, QPoint(2, 2), label.mapToGlobal(QPoint(2, 2)))
    )
    qtbot.waitUntil(lambda: "The uncertainty of a choice" in QToolTip.text())
    QToolTip.hideText()
    dialog.close()


def test_what_a_button_is_for_is_told_before_its_terms(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    button = QPushButton("copy", window)
    assert explanation_of(button, QPoint()) == ""
    button.setToolTip("Copy the <translation>")
    assert explanation_of(button, QPoint()) == "<p>Copy the &lt;translation&gt;</p>"
    button.setToolTip("Switch it off (key O)")
    what = explanation_of(button, QPoint())
    assert what.startswith("<p>Switch it off (key O)</p><p><b>ablation</b>")
    assert [entry.title for entry in entries_of(button)] == ["ablation"], (
        "a key of the keyboard is none of attention"
    )


def test_what_is_this_grows_with_the_interface(qapp: QApplication, qtbot: QtBot) -> None:
    window = shown(qtbot, QWidget())
    heights = []
    for scale in (1.0, 2.0):
        Theme.light(scale).apply(qapp)
        QWhatsThis.showText(QPoint(), at_scale("<p>log-probability</p>"), window)
        (popup,) = (
            widget
            for widget in QApplication.topLevelWidgets()
            if widget.inherits("QWhatsThat") and widget.isVisible()
        )
        heights.append(popup.height())
        QWhatsThis.hideText()
        qtbot.waitUntil(
            lambda: (
                not any(widget.inherits("QWhatsThat") for widget in QApplication.topLevelWidgets())
            )
        )
    Theme.light().apply(qapp)
    assert heights[1] > 1.5 * heights[0]


def shown_words(window: QWidget) -> set[str]:
    """The words of all labels and buttons in sight, without quotes: words of a translation."""
    texts = [
        widget.text()
        for widget in window.findChildren(QWidget)
        if isinstance(widget, QLabel | QAbstractButton)
        and widget.isVisible()
        and len(widget.text()) <= 60
    ]
    return {
        word.lower()
        for text in texts
        for word in re.findall(r"[^\W\d_]{2,}", re.sub(r"<[^>]+>|“[^”]*”", "", text))
    }


@pytest.mark.heavy
def test_every_word_of_the_interface_is_plain_or_explained(
    make_window: MakeWindow, qtbot: QtBot, untrained_checkpoint: Path
) -> None:
    """A new technical term in a label needs an entry in the glossary; a plain word, a line in
    `plain_words.txt`.
    """
    window = make_window(untrained_checkpoint, sentence="ein mann steht .", loader=open_once)
    words = shown_words(window)
    window.translate_page.arrangement.toggle_analysis()
    for index in range(len(window.analysis.tabs)):
        window.analysis.show_tab(index)
        words |= shown_words(window)
    window.pages.show(TRAIN)
    words |= shown_words(window)
    plain = set(PLAIN_WORDS.read_text(encoding="utf-8").split())
    explained = {
        word.lower()
        for entry in glossary()
        for term in entry.terms
        for word in re.findall(r"\w+", term)
    }
    missing = sorted(words - plain - explained)
    assert not missing, " ".join(missing)
    assert not plain & {term.lower() for entry in glossary() for term in entry.terms}, (
        "nothing is both"
    )


def test_commands_are_found_by_any_of_their_words() -> None:
    commands = [
        Command[None](title, print).on(None)
        for title in ("Open a model", "Learn: Heads", "Head, next")
    ]
    assert [command.title for command in matching(commands, "head")] == [
        "Head, next",
        "Learn: Heads",
    ]
    assert [command.title for command in matching(commands, "MODEL op")] == ["Open a model"]
    assert matching(commands, "nothing of it") == []
    assert matching(commands, "") == commands


def test_commands_are_found_by_search_words_after_those_found_by_their_titles() -> None:
    titles = {"Copy": "rows, columns", "One column": "", "Columns": "", "Rows": ""}
    commands = [
        Command[None](title, print, search_words=words).on(None) for title, words in titles.items()
    ]
    assert [command.title for command in matching(commands, "Column")] == [
        "Columns",
        "One column",
        "Copy",
    ]
    assert [command.title for command in matching(commands, "copy column")] == ["Copy"]
    assert matching(commands, "") == commands


def palette(window: MainWindow) -> CommandPalette:
    (dialog,) = window.findChildren(CommandPalette)
    return dialog


@pytest.mark.heavy
def test_the_palette_does_what_is_typed(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    dialog = palette(window)
    qtbot.keyClicks(dialog.field, "learn mask")
    titles = [dialog.results.item(row).text() for row in range(dialog.results.count())]
    assert titles == ["Learn: The causal mask"]
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    assert learn_page_of(window) is not None
    assert learn_page_of(window).chapters[learn_page_of(window).place].name == "mask"
    qtbot.waitUntil(lambda: not window.findChildren(CommandPalette))
    assert [command.title for command in matching(window.commands.commands, "column")] == [
        "Why does this head look there? Explain the pinned weight",
        "Copy the numbers as a table",
    ]
    window.commands.run("Commands")
    dialog = palette(window)
    qtbot.keyClicks(dialog.field, "page")
    names = [dialog.results.item(row).text() for row in range(dialog.results.count())]
    qtbot.keyClick(dialog.field, Qt.Key.Key_Down)
    assert dialog.results.currentRow() == 1
    assert any("Learn page" in name for name in names)
    dialog.close()
    qtbot.waitUntil(lambda: not window.findChildren(CommandPalette))
    window.commands.run("Commands")
    dialog = palette(window)
    qtbot.keyClicks(dialog.field, "glossary perplexity")
    assert [dialog.results.item(row).text() for row in range(dialog.results.count())] == [
        "Glossary: perplexity"
    ]
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    qtbot.waitUntil(
        lambda: any(widget.inherits("QWhatsThat") for widget in QApplication.topLevelWidgets())
    )
    QWhatsThis.hideText()


def lines_of_sheet(window: MainWindow) -> set[str]:
    """All texts of the sheet of keys."""
    window.commands.run("Keyboard shortcuts")
    (sheet,) = window.findChildren(ShortcutSheet)
    texts = {shown.text() for shown in sheet.findChildren(QLabel)}
    sheet.close()
    sheet.deleteLater()
    QApplication.sendPostedEvents(sheet, QEvent.Type.DeferredDelete)
    return texts


@pytest.mark.heavy
def test_the_question_mark_opens_the_sheet_of_keys(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    qtbot.keyClick(window.translate_page.heads.grid, Qt.Key.Key_Question)
    (sheet,) = window.findChildren(ShortcutSheet)
    sheet.close()


@pytest.mark.heavy
def test_every_command_is_in_the_palette_and_its_keys_are_on_the_sheet(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    """In a window where everything is offered but what needs a run, or another place in a
    lesson."""
    window = make_window()
    documents_of(window).open(next(iter(shipped_lessons())))
    qtbot.waitUntil(lessons_of(window).bar.isVisible)
    lessons_of(window).lesson.step(1)
    lessons_of(window).bar.edit_button.setChecked(True)
    lessons_of(window).lesson.rename("Changed")
    lessons_of(window).editing.delete_scene()
    window.state.submit(toggle(window.state.selection.head))
    qtbot.waitUntil(lambda: window.state.result is not None and window.state.result.is_changed)
    window.state.selection.pinned, window.state.selection.pointer = (
        Pair(0, 0),
        Pointer("cell", "ring"),
    )
    window.commands.run("Commands")
    dialog = palette(window)
    offered = [dialog.results.item(row).text() for row in range(dialog.results.count())]
    dialog.close()
    lessons_of(window).lesson.mark_saved()  # or the window asks whether to save it
    titles = [command.title for command in window.commands.commands]
    assert len(titles) == len(set(titles)), "a title stands once"
    of_runs = {EXPORTS[name].title for name in ("analysis", *OF_RUNS)}
    missing = {title for title in titles if not any(text.startswith(title) for text in offered)}
    assert "Lesson: Word order" in offered
    assert "Learn: Heads" in offered
    assert missing == of_runs
    texts = lines_of_sheet(window)
    for command in (entry.command for entry in window.commands.commands):
        if command.shown_keys:
            assert (command.line or command.title.removesuffix("…").partition(" (")[0]) in texts
            assert any(
                set(re.split(r", | ", command.shown_keys)) <= set(re.split(r", | ", text))
                for text in texts
            )


@pytest.mark.heavy
def test_the_sheet_of_keys_fits_the_smallest_window(make_window: MakeWindow) -> None:
    window = make_window()
    window.resize(window.minimumSize())
    window.commands.run("Keyboard shortcuts")
    (sheet,) = window.findChildren(ShortcutSheet)
    size = sheet.sizeHint()
    assert size.width() <= window.width()
    assert size.height() <= window.height()
    sheet.close()


@pytest.mark.heavy
def test_the_palette_saves_and_copies_experiments(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    window.commands.run("Commands")
    dialog = palette(window)
    qtbot.keyClicks(dialog.field, "python")
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    assert "augenmerk" in QGuiApplication.clipboard().text()


@pytest.mark.heavy
def test_the_palette_offers_exports_only_of_what_there_is(make_window: MakeWindow) -> None:
    def offered(window: MainWindow) -> set[str]:
        window.commands.run("Commands")
        dialog = palette(window)
        names = {dialog.results.item(row).text() for row in range(dialog.results.count())}
        dialog.close()
        dialog.deleteLater()
        QApplication.sendPostedEvents(dialog, QEvent.Type.DeferredDelete)
        return {name for name in names if name.startswith("Export: ")}

    window = make_window()
    with_maps = offered(window)
    assert any("large map" in name for name in with_maps)
    assert not any("charts" in name or "film" in name or "metrics" in name for name in with_maps)
    window.pages.show(TRAIN)
    assert [name.partition(" (")[0] for name in offered(window)] == ["Export: The whole page"]


@pytest.mark.heavy
def test_help_follows_the_views_in_the_menu_and_about_stands_above_quit(
    make_window: MakeWindow,
) -> None:
    actions = make_window().top_bar.menu_button.menu().actions()
    titles = [action.text().partition("\t")[0] for action in actions]
    assert titles[titles.index("Full screen") :] == [
        *(
            "Full screen",
            "Zoom in (window)",
            "Zoom out (window)",
            "Reset zoom (100%)",
            "",
        ),
        *("Quick tour", "What is this? Click on anything", "Keyboard shortcuts", "Commands", ""),
        *("About Augenmerk", "Quit", ""),
    ]


@pytest.mark.heavy
def test_a_question_mark_can_be_typed(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    field = window.translate_page.sentence.input
    field.setFocus()
    qtbot.keyClicks(field, " Wo?")
    assert field.text.endswith("Wo?")
    assert window.findChildren(ShortcutSheet) == []


@pytest.mark.heavy
def test_other_pages_know_their_own_terms(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    window.pages.show(LEARN)
    assert learn_page_of(window) is not None
    widget = learn_page_of(window)
    assert (
        "heads"
        in own_text(
            next(b for b in widget.findChildren(QAbstractButton) if "Heads" in b.toolTip())
        ).lower()
    )


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("size", "scale"), [((960, 620), 100), ((1440, 900), 200), ((1920, 1080), 150)]
)
def test_the_sheet_of_keys_needs_no_sideways_scrolling(
    make_window: MakeWindow, size: tuple[int, int], scale: int
) -> None:
    window = make_window()
    window.resize(*size)
    window.appearance.set_scale(scale)
    window.commands.run("Keyboard shortcuts")
    (sheet,) = window.findChildren(ShortcutSheet)
    QApplication.processEvents()
    (area,) = sheet.findChildren(VerticalScrollArea)
    assert area.widget().minimumSizeHint().width() <= area.viewport().width()
    assert sheet.width() <= window.width()
    assert sheet.height() <= window.height()
    sheet.close()
    window.appearance.set_scale(100)


@pytest.mark.heavy
def test_the_sheet_of_keys_is_no_wider_than_it_has_to_be(make_window: MakeWindow) -> None:
    window = make_window()
    widths = []
    for size in ((1440, 2000), (1440, 700)):
        window.resize(*size)
        window.commands.run("Keyboard shortcuts")
        sheet = window.findChildren(ShortcutSheet)[-1]
        assert sheet.height() < window.height()
        widths.append(sheet.width())
        sheet.close()
    assert widths[0] < 700 < widths[1] < 1100, "one column where it fits, else two"


def test_the_palette_has_two_columns_and_groups(qtbot: QtBot) -> None:
    long = "Explain what this map shows " * 8
    commands = [
        Command[None](long, print, group="Maps", keys=("Ctrl+E",)).on(None),
        Command[None]("Open a model", print, group="Files").on(None),
        Command[None]("Hide a map", print, group="Maps").on(None),
    ]
    dialog = shown(qtbot, CommandPalette(commands))
    results = dialog.results
    texts = [results.item(row).text() for row in range(results.count())]
    assert texts == ["Maps", long, "Hide a map", "Files", "Open a model"]
    assert results.currentRow() == 1
    for row in (2, 4, 4):
        qtbot.keyClick(dialog.field, Qt.Key.Key_Down)
        assert results.currentRow() == row, "headings are passed over"
    assert not results.horizontalScrollBar().isVisible()
    assert results.visualItemRect(results.item(1)).width() <= results.viewport().width()
    qtbot.keyClicks(dialog.field, "map")
    assert [results.item(row).text() for row in range(results.count())] == [long, "Hide a map"]


def test_the_palette_says_that_nothing_matches(qtbot: QtBot) -> None:
    dialog = shown(qtbot, CommandPalette([Command[None]("Open a model", print).on(None)]))
    qtbot.keyClicks(dialog.field, "xyz ")
    (nothing,) = dialog.results.findItems("", Qt.MatchFlag.MatchContains)
    assert nothing.text() == "No command matches “xyz”."
    assert not nothing.flags()
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    dialog.field.setText("y" * 1_000)
    assert len(dialog.results.item(0).text()) < 80
    dialog.field.setText("model")
    assert dialog.results.item(0).text() == "Open a model"
