"""The terms of the interface are explained where they stand, and everything with a name or a key can be found."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import (
    QAction,
    QCursor,
    QGuiApplication,
    QHelpEvent,
    QKeySequence,
    QShortcut,
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

import augenmerk.viz_app
from augenmerk.core.model.heads import Head
from augenmerk.viz_app.glossary import GlossaryError, entries_in, glossary, parse_glossary
from augenmerk.viz_app.heatmap.colormap import signed_rgb_table
from augenmerk.viz_app.learn.chapter import read_chapters
from augenmerk.viz_app.learn.keys import KEYS_OF_STACK
from augenmerk.viz_app.main_window import KEYS_BY_GROUP, LEARN, TRAIN, MainWindow
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.train.keys import KEYS_OF_FILM
from augenmerk.viz_app.translate.first_steps import KEYS_OF_FIRST_STEPS
from augenmerk.viz_app.translate.keys import KEYS_OF_MAPS
from augenmerk.viz_app.translate.presentation import KEYS_OF_PRESENTATION
from augenmerk.viz_app.views.sentence_input import KEYS_OF_SENTENCE
from augenmerk.viz_app.widgets.commands import Command, CommandPalette, ShortcutSheet, matching, shown_keys
from augenmerk.viz_app.widgets.explain import as_html, at_scale, entries_of, explanation_of, own_text
from augenmerk.viz_app.widgets.scroll_areas import VerticalScrollArea
from tests.viz_app.conftest import MakeWindow

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
    less, more = signed_rgb_table(is_dark=is_dark)[[0, -1]].astype(int)
    names = {"orange" if red > blue else "blue": which for which, (red, _, blue) in (("less", less), ("more", more))}
    for name, which in names.items():
        assert re.search(rf"{name} where (a query|it) looks {which}\b", entry.text)


def test_an_entry_that_says_nothing_is_refused() -> None:
    (entry,) = parse_glossary("# Glossary\n\n## head, heads\nOne of several.\nformula: α·v\nlearn: heads\n")
    assert (entry.terms, entry.text, entry.formula, entry.chapter) == (
        ("head", "heads"),
        "One of several.",
        "α·v",
        "heads",
    )
    with pytest.raises(GlossaryError, match="head"):
        parse_glossary("## head, heads\nlearn: heads\n")


def test_terms_are_found_as_whole_words_the_longer_first() -> None:
    assert [entry.title for entry in entries_in("Cross-attention · layer 2 · head 6")] == ["cross", "layer", "head"]
    assert [entry.title for entry in entries_in("heading, monolayer")] == []
    assert [entry.title for entry in entries_in("The model that is open")] == ["model"]
    line = "Each row: where the model looks at the German while it predicts that token."
    assert [entry.title for entry in entries_in(line)] == ["row", "attention", "token"]
    assert [entry.title for entry in entries_in("<sos> and weight α")] == ["<sos>", "attention"]
    assert [entry.title for entry in entries_in("beam search with beam size 4")] == ["beam"]


@pytest.mark.heavy
def test_what_is_this_explains_and_leads_to_the_learn_page(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    qtbot.keyClick(window, Qt.Key.Key_F1)
    assert QWhatsThis.inWhatsThisMode()
    QWhatsThis.leaveWhatsThisMode()
    title = window.translate_page.head.title
    place = title.mapToGlobal(QPoint(3, 3))
    QCursor.setPos(place)
    asked = QHelpEvent(QEvent.Type.QueryWhatsThis, QPoint(3, 3), place)
    assert QApplication.sendEvent(title, asked)
    assert asked.isAccepted()
    html = as_html(entries_of(title))
    assert "chapter:heads" in html
    QApplication.sendEvent(title, QHelpEvent(QEvent.Type.WhatsThis, QPoint(3, 3), place))
    popups = [each for each in QApplication.topLevelWidgets() if each.windowType() == Qt.WindowType.Popup]
    assert any(each.isVisible() for each in popups)
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
    assert window.learn_page is not None
    assert window.learn_page.isVisible()
    assert window.learn_page.chapters[window.learn_page.place].name == "heads"


@pytest.mark.heavy
def test_a_short_label_without_a_tip_is_explained_by_its_terms(qtbot: QtBot, make_window: MakeWindow) -> None:
    window = make_window()
    label = QLabel("entropy", window)
    label.show()
    place = label.mapToGlobal(QPoint(2, 2))
    QApplication.sendEvent(label, QHelpEvent(QEvent.Type.ToolTip, QPoint(2, 2), place))
    qtbot.waitUntil(lambda: "The uncertainty of a choice" in QToolTip.text())
    QToolTip.hideText()


@pytest.mark.heavy
def test_terms_are_explained_in_dialogs_too(qtbot: QtBot, make_window: MakeWindow) -> None:
    dialog = QDialog(make_window())
    label, field = QLabel("entropy", dialog), QLineEdit(dialog)
    field.move(0, 60)
    dialog.open()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    QApplication.sendEvent(label, QHelpEvent(QEvent.Type.ToolTip, QPoint(2, 2), label.mapToGlobal(QPoint(2, 2))))
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
    assert [entry.title for entry in entries_of(button)] == ["ablation"], "a key of the keyboard is none of attention"


def test_what_is_this_grows_with_the_interface(qapp: QApplication, qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    heights = []
    for scale in (1.0, 2.0):
        Theme.light(scale).apply(qapp)
        QWhatsThis.showText(QPoint(), at_scale("<p>log-probability</p>"), window)
        (popup,) = (each for each in QApplication.topLevelWidgets() if each.inherits("QWhatsThat") and each.isVisible())
        heights.append(popup.height())
        QWhatsThis.hideText()
        qtbot.waitUntil(lambda: not any(each.inherits("QWhatsThat") for each in QApplication.topLevelWidgets()))
    Theme.light().apply(qapp)
    assert heights[1] > 1.5 * heights[0]


def shown_words(window: QWidget) -> set[str]:
    """The words of all labels and buttons in sight."""
    texts = [
        widget.text()
        for widget in window.findChildren(QWidget)
        if isinstance(widget, QLabel | QAbstractButton) and widget.isVisible() and len(widget.text()) <= 60
    ]
    return {word.lower() for text in texts for word in re.findall(r"[^\W\d_]{2,}", re.sub(r"<[^>]+>", "", text))}


@pytest.mark.heavy
def test_every_word_of_the_interface_is_plain_or_explained(
    make_window: MakeWindow, qtbot: QtBot, untrained_checkpoint: Path
) -> None:
    """A new technical term in a label needs an entry in the glossary; a plain word, a line in `plain_words.txt`."""
    window = make_window(untrained_checkpoint, sentence="ein mann steht .", loader=None)
    found = shown_words(window)
    window.translate_page.toggle_analysis()
    for index in range(len(window.analysis.tabs)):
        window.analysis.show_tab(index)
        found |= shown_words(window)
    window.show_page(TRAIN)
    found |= shown_words(window)
    plain = set(PLAIN_WORDS.read_text(encoding="utf-8").split())
    explained = {word.lower() for entry in glossary() for term in entry.terms for word in re.findall(r"\w+", term)}
    missing = sorted(found - plain - explained)
    assert not missing, " ".join(missing)
    assert not plain & {term.lower() for entry in glossary() for term in entry.terms}, "nothing is both"


def test_commands_are_found_by_any_of_their_words() -> None:
    commands = [Command("Open a model", print), Command("Learn: Heads", print), Command("Head, next", print)]
    assert [command.name for command in matching(commands, "head")] == ["Head, next", "Learn: Heads"]
    assert [command.name for command in matching(commands, "MODEL op")] == ["Open a model"]
    assert matching(commands, "nothing of it") == []
    assert matching(commands, "") == commands


def palette(window: MainWindow) -> CommandPalette:
    (found,) = window.findChildren(CommandPalette)
    return found


@pytest.mark.heavy
def test_the_palette_does_what_is_typed(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    dialog = palette(window)
    qtbot.keyClicks(dialog.field, "learn mask")
    assert [dialog.results.item(row).text() for row in range(dialog.results.count())] == ["Learn: The causal mask"]
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    assert window.learn_page is not None
    assert window.learn_page.chapters[window.learn_page.place].name == "mask"
    qtbot.waitUntil(lambda: not window.findChildren(CommandPalette))
    next(command for command in window.commands if command.name == "Commands").act()
    dialog = palette(window)
    qtbot.keyClicks(dialog.field, "page")
    names = [dialog.results.item(row).text() for row in range(dialog.results.count())]
    qtbot.keyClick(dialog.field, Qt.Key.Key_Down)
    assert dialog.results.currentRow() == 1
    assert any("Learn page" in name for name in names)
    dialog.close()


@pytest.mark.heavy
def test_every_key_of_the_window_stands_on_the_sheet(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    qtbot.keyClick(window.translate_page.heads.grid, Qt.Key.Key_Question)
    (sheet,) = window.findChildren(ShortcutSheet)
    texts = {shown.text() for shown in sheet.findChildren(QLabel)}
    for command in window.commands:
        if command.keys:
            assert command.name in texts
            assert command.keys_shown in texts
            assert not QKeySequence(command.keys).isEmpty()
    assert len({command.keys for command in window.commands if command.keys}) == len(
        [command for command in window.commands if command.keys]
    ), "a key does one thing"
    in_menus = {
        action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        for action in window.findChildren(QAction)
        if not action.shortcut().isEmpty()
    }
    assert {"Ctrl+E", "Ctrl+Shift+O", "Ctrl+S", "Ctrl+Shift+C"} <= in_menus
    assert in_menus <= texts
    sheet.close()


@pytest.mark.heavy
def test_the_sheet_of_keys_fits_the_smallest_window(make_window: MakeWindow) -> None:
    window = make_window()
    window.resize(window.minimumSize())
    next(command for command in window.commands if command.name == "All keys").act()
    (sheet,) = window.findChildren(ShortcutSheet)
    size = sheet.sizeHint()
    assert size.width() <= window.width()
    assert size.height() <= window.height()
    sheet.close()


@pytest.mark.heavy
def test_the_palette_saves_and_copies_experiments(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    next(command for command in window.commands if command.name == "Commands").act()
    dialog = palette(window)
    qtbot.keyClicks(dialog.field, "python")
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    assert "augenmerk" in QGuiApplication.clipboard().text()


@pytest.mark.heavy
def test_the_palette_offers_exports_only_of_what_there_is(make_window: MakeWindow) -> None:
    def offered(window: MainWindow) -> set[str]:
        next(command for command in window.commands if command.name == "Commands").act()
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
    window.show_page(TRAIN)
    assert [name.partition(" (")[0] for name in offered(window)] == ["Export: The whole page"]


@pytest.mark.heavy
def test_a_question_mark_can_be_typed(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    field = window.translate_page.sentence.input
    field.setFocus()
    qtbot.keyClicks(field, " Wo?")
    assert field.text.endswith("Wo?")
    assert window.findChildren(ShortcutSheet) == []


@pytest.mark.heavy
def test_the_window_fills_the_screen_and_comes_back(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    qtbot.keyClick(window, Qt.Key.Key_F11)
    assert window.isFullScreen()
    qtbot.keyClick(window, Qt.Key.Key_F11)
    assert not window.isFullScreen()


@pytest.mark.heavy
def test_other_pages_know_their_own_terms(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window()
    window.show_page(LEARN)
    assert window.learn_page is not None
    widget = window.learn_page
    assert "heads" in own_text(next(b for b in widget.findChildren(QAbstractButton) if "Heads" in b.toolTip())).lower()


KEYS_TOLD_ELSEWHERE = {
    "viz_app/views/gallery.py": "arrows in a list that is open",
    "viz_app/widgets/choice_menu.py": "arrows on a button that has a menu",
    "viz_app/widgets/commands.py": "arrows and Enter in the list of commands",
}


def test_every_key_that_the_code_names_stands_on_the_sheet() -> None:
    """Of each module that handles keys, all keys are in the lines that the sheet takes from it."""
    root = Path(augenmerk.viz_app.__file__).parent
    lines_of = {
        "viz_app/views/sentence_input.py": (*KEYS_OF_SENTENCE, *KEYS_OF_MAPS),
        "viz_app/translate/keys.py": KEYS_OF_MAPS,
        "viz_app/analysis/tab.py": KEYS_OF_MAPS,
        "viz_app/translate/first_steps.py": KEYS_OF_FIRST_STEPS,
        "viz_app/translate/presentation.py": KEYS_OF_PRESENTATION,
        "viz_app/train/keys.py": KEYS_OF_FILM,
        "viz_app/learn/keys.py": KEYS_OF_STACK,
    }
    assert {id(line) for lines in lines_of.values() for line in lines} <= {
        id(line) for lines in KEYS_BY_GROUP.values() for line in lines
    }
    found: dict[str, set[int]] = {}
    for path in root.rglob("*.py"):
        names = re.findall(r"Qt\.Key\.(Key_\w+)", path.read_text(encoding="utf-8"))
        if names:
            found[path.relative_to(root.parent).as_posix()] = {getattr(Qt.Key, name) for name in names}
    assert set(found) == {*lines_of, *KEYS_TOLD_ELSEWHERE}
    for name, lines in lines_of.items():
        assert found[name] <= {key for keys, _ in lines for key in keys}, name


@pytest.mark.heavy
def test_every_shortcut_of_the_window_stands_on_the_sheet(make_window: MakeWindow) -> None:
    window = make_window()
    next(command for command in window.commands if command.name == "All keys").act()
    (sheet,) = window.findChildren(ShortcutSheet)
    texts = {text for shown in sheet.findChildren(QLabel) for text in re.split(r", | ", shown.text())}
    shortcuts = [shortcut for shortcut in window.findChildren(QShortcut) if shortcut.keys()]
    assert len(shortcuts) > 15
    for shortcut in shortcuts:
        names = {shown_keys([key.toString()]) for key in shortcut.keys()}  # noqa: SIM118 - no mapping
        names |= {key.toString(QKeySequence.SequenceFormat.NativeText) for key in shortcut.keys()}  # noqa: SIM118 - no mapping
        assert any(set(re.split(r", | ", name)) <= texts for name in names), names
    sheet.close()


def test_keys_are_named_as_on_a_keyboard() -> None:
    assert shown_keys((Qt.Key.Key_Left, Qt.Key.Key_Right)) == "← →"
    assert shown_keys((Qt.Key.Key_Return, Qt.Key.Key_Enter, "Left")) == "Enter, ←"
    assert shown_keys(("Shift+Left", "PgUp", Qt.Key.Key_D)) == "Shift+←, Page Up, D"


@pytest.mark.heavy
@pytest.mark.parametrize(("size", "scale"), [((960, 620), 100), ((1440, 900), 200), ((1920, 1080), 150)])
def test_the_sheet_of_keys_needs_no_sideways_scrolling(
    make_window: MakeWindow, size: tuple[int, int], scale: int
) -> None:
    window = make_window()
    window.resize(*size)
    window.set_scale(scale)
    next(command for command in window.commands if command.name == "All keys").act()
    (sheet,) = window.findChildren(ShortcutSheet)
    QApplication.processEvents()
    (area,) = sheet.findChildren(VerticalScrollArea)
    assert area.widget().minimumSizeHint().width() <= area.viewport().width()
    assert sheet.width() <= window.width()
    assert sheet.height() <= window.height()
    sheet.close()
    window.set_scale(100)


def test_the_palette_says_that_nothing_matches(qtbot: QtBot) -> None:
    dialog = CommandPalette([Command("Open a model", print)])
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.results.isVisible()
    qtbot.keyClicks(dialog.field, "xyz ")
    assert not dialog.results.isVisible()
    assert dialog.nothing.isVisible()
    assert dialog.nothing.label.text() == "No command matches “xyz”."
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    dialog.field.setText("y" * 1_000)
    assert len(dialog.nothing.label.text()) < 80
    dialog.field.setText("model")
    assert dialog.results.isVisible()
