"""What the gallery says of the bundled model is what the model does; choosing an example shows
it."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

import augenmerk.viz_app.extensions.examples.gallery
from augenmerk.core.resources import example_sentences
from augenmerk.core.translation.experiment import Beam, Experiment, Greedy
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.examples.gallery import Example, GalleryError, gallery
from augenmerk.viz_app.extensions.examples.menu import ExamplesMenu, GalleryPopup, cell_of
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.widgets.layouts import VerticalScrollArea
from tests.conftest import open_once
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import LEARN, TRANSLATE, examples_of, learn_page_of, target_menu_of
from tools.check_gallery import weights_of

TRANSLATIONS = {
    "Ein Mann trägt kein Hemd.": "A man is wearing a shirt.",
    "Die Frau lacht nicht.": "The woman is laughing.",
    "Den Ball fängt der Hund.": "The ball is catching the dog.",
    "Die Bank hat heute geschlossen.": "The bench has just got out of a good time.",
}
"""What the lines about failures speak of."""


@pytest.mark.parametrize("example", gallery(), ids=lambda example: example.text)
def test_the_head_looks_where_the_example_says(
    bundled_translator: Translator, example: Example
) -> None:
    translation = bundled_translator.run(example.experiment)
    assert weights_of(translation, example)[example.head] > 0.6
    assert cell_of(translation, example) is not None
    assert example.is_failure == example.hint.startswith("A failure")
    assert len(example.hint) < 150
    assert translation.text == TRANSLATIONS.get(example.text, translation.text)


def test_groups_stand_together_and_failures_are_told() -> None:
    groups = [example.group for example in gallery()]
    assert len(gallery()) >= 10
    assert sorted(set(groups), key=groups.index) == [
        group for index, group in enumerate(groups) if index == 0 or groups[index - 1] != group
    ]
    assert sum(example.is_failure for example in gallery()) >= 4
    assert set(TRANSLATIONS) <= {example.text for example in gallery() if example.is_failure}


def test_a_wider_beam_finds_what_the_last_example_says(bundled_translator: Translator) -> None:
    example = gallery()[-1]
    texts = [
        bundled_translator.run(Experiment(example.text, output)).text
        for output in (Greedy(), Beam(4))
    ]
    assert ["some kind of" in text for text in texts] == [False, True]
    assert "some kind of" in example.in_app


def test_a_broken_gallery_is_refused_and_a_missing_one_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        augenmerk.viz_app.extensions.examples.gallery, "resource_path", lambda name: tmp_path / name
    )
    assert gallery() == ()
    for broken in (
        "example = 3",
        "[[example]]\ntext = 'a'",
        "no toml",
        "[[example]]\nhead = 'cross'\n",
    ):
        (tmp_path / "gallery.toml").write_text(broken, encoding="utf-8")
        with pytest.raises(GalleryError, match=r"gallery\.toml"):
            gallery()


@pytest.mark.parametrize("scale", [0.8, 1.0, 1.5, 2.0])
def test_the_gallery_is_as_wide_as_its_lines_at_every_scale(
    qapp: QApplication, qtbot: QtBot, scale: float
) -> None:
    Theme.light(scale).apply(qapp)
    button = QPushButton("examples")
    qtbot.addWidget(button)
    popup = GalleryPopup(gallery(), button)
    popup.open_below(button)
    (area,) = popup.findChildren(VerticalScrollArea)
    free = area.viewport().width() - area.widget().width()
    assert 0 <= free < 30 * scale, "neither clipped nor a strip left free"
    popup.close()
    Theme.light().apply(qapp)


@pytest.mark.slow
@pytest.mark.heavy
def test_an_example_is_shown_with_its_head_and_cell(make_window: MakeWindow, qtbot: QtBot) -> None:
    window = make_window(None, sentence=example_sentences()[1], loader=open_once)
    panel, state = window.translate_page.sentence, window.state
    examples_of(window).menu().actions()[0].trigger()
    (popup,) = panel.findChildren(GalleryPopup)
    index = next(index for index, example in enumerate(gallery()) if "kein Hemd" in example.text)
    qtbot.keyClick(popup, Qt.Key.Key_Down)
    state.settings.label_mode = "read"
    with qtbot.waitSignal(window.translation_shown, timeout=20_000):
        qtbot.mouseClick(popup.buttons[index], Qt.MouseButton.LeftButton)
    example = gallery()[index]
    assert state.settings.label_mode == "predicted", "the hints refer to these rows"
    assert panel.input.text == example.text
    assert state.selection.head == example.head
    assert state.translation is not None
    assert state.selection.pinned == cell_of(state.translation, example)
    assert example.hint in panel.note.text()
    assert panel.note.property("role") == "warm", "a failure deserves a second look"
    with qtbot.waitSignal(window.translation_shown, timeout=20_000):
        examples_of(window).show_example(gallery()[0])
    assert panel.note.text() == gallery()[0].hint
    assert panel.note.property("role") == "muted"
    qtbot.waitUntil(lambda: not panel.findChildren(GalleryPopup))
    panel.input.set_text("Zwei Hunde spielen im Schnee.")
    qtbot.waitUntil(lambda: state.translation.text.startswith("Two dogs"), timeout=20_000)  # type: ignore[union-attr]
    assert panel.note.text() == ""


@pytest.mark.heavy
def test_the_note_of_an_example_goes_with_its_sentence(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window(None, sentence=example_sentences()[1], loader=open_once)
    panel = window.translate_page.sentence
    examples_of(window).show_example(next(example for example in gallery() if example.is_failure))
    qtbot.waitUntil(panel.note.isVisible, timeout=20_000)
    panel.input.selectAll()
    qtbot.keyClick(panel.input, Qt.Key.Key_Backspace)
    qtbot.waitUntil(window.translate_page.message.isVisible)
    assert not panel.note.isVisible()
    qtbot.mouseClick(panel.interventions.undo_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.state.result is not None, timeout=20_000)
    assert not panel.note.isVisible()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_enter_chooses_in_the_gallery_as_in_a_menu(qtbot: QtBot, key: Qt.Key) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    popup = GalleryPopup(gallery()[:3], parent)
    chosen: list[Example] = []
    popup.chosen.connect(chosen.append)
    popup.open_below(parent)
    popup.buttons[1].setFocus()
    qtbot.keyClick(popup.buttons[1], key)
    assert chosen == [gallery()[1]]
    assert not popup.isVisible()


def test_the_gallery_is_listed_after_the_other_commands_of_the_sentence(
    make_window: MakeWindow,
) -> None:
    titles = [command.title for command in make_window().commands.commands]
    assert titles[titles.index("Redo") + 1] == "Gallery of examples"


@pytest.mark.heavy
def test_each_page_with_a_sentence_has_one_menu_of_examples_next_to_its_field(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window()
    for name in (LEARN, TRANSLATE, LEARN):
        window.pages.show(name)
    learn = learn_page_of(window)
    assert learn is not None
    for panel in (window.translate_page.sentence, learn.sentence):
        (menu,) = panel.findChildren(ExamplesMenu)
        assert target_menu_of(panel).nextInFocusChain() is menu, "Tab reaches it after the field"
    assert learn.sentence.rows.is_folded == window.translate_page.sentence.rows.is_folded
    qtbot.waitUntil(menu.isVisible)
    assert (
        menu.mapTo(learn.sentence, menu.rect().topLeft()).x()
        > learn.sentence.input.geometry().right()
    )
    more = menu.menu().actions()[-1].menu()
    more.actions()[-1].trigger()
    assert learn.sentence.input.text == example_sentences()[-1]
