"""Words that the training data hardly had are underlined by dots, with the reason under the mouse,
and told of."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QApplication, QMenu, QToolTip
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.text.phrases import phrase
from augenmerk.core.translation.experiment import HeadScaled
from augenmerk.core.translation.result import Coverage, RareWord, RespelledWord, Translation
from augenmerk.viz_app.extensions.help.explain import entries_in, entries_of, own_text
from augenmerk.viz_app.extensions.imports.import_dialog import HubDialog
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.state.experiment_editor import edit_text, toggle
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.sentence_text import Span, rare_spans, respelled_spans
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.translate.page import DimmingOverlay
from augenmerk.viz_app.views.sentence import UNLIKE, SentencePanel
from augenmerk.viz_app.views.sentence_input import SentenceInput, SentenceMarks
from tests.conftest import open_once
from tests.viz_app.builders import settle_layout, shown
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import imports_of
from tests.viz_app.synthetic import FakeTranslator, make_result, make_translation

TIP = "“gestern”: not in the training data; the model guesses from its pieces: ges·tern"
GESTERN = RareWord("gestern", 0, 3, 5, ("ges", "tern"))
CAPTIONS = "This model knows picture captions. For other text, import a bigger model."


def covered(
    *rare: RareWord, is_unlike: bool = False, text: str = "Er hat gestern 🙂 gelesen"
) -> Translation:
    translation = make_translation("er hat ges|tern 🙂 gelesen", text=text)
    return replace(translation, coverage=Coverage(rare, is_unlike, "picture captions"))


@pytest.fixture
def field(qtbot: QtBot, theme: Theme) -> SentenceInput:
    field = shown(qtbot, SentenceInput(), (500, 40))
    field.show_text("Er hat gestern 🙂 gelesen")
    return field


@pytest.fixture
def panel(qtbot: QtBot, theme: Theme) -> SentencePanel:
    return shown(qtbot, SentencePanel(ExperimentState()), (900, 260))


def show(panel: SentencePanel, translation: Translation) -> None:
    panel.input.show_text(translation.source_text)
    panel.state.accept(make_result(translation))


def place_of(field: SentenceInput, span: Span) -> QRect:
    """The place of a word that lies in one line of the viewport."""
    cursor = QTextCursor(field.document())
    ends = []
    for position in (span.start, span.end):
        cursor.setPosition(position)
        ends.append(field.cursorRect(cursor))
    return QRect(ends[0].topLeft(), ends[1].bottomLeft())


def num_warm(field: SentenceInput, start: int, end: int, color: str = "warm") -> int:
    """Pixels of the colour of dots below the characters from `start` to `end`."""
    image = field.viewport().grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    ratio = image.devicePixelRatio()
    warm = QColor(getattr(Theme.light().palette, color))
    box = place_of(field, Span(start, end))
    count = 0
    for x in range(int(box.left() * ratio), int(box.right() * ratio)):
        for y in range(int((box.bottom() - field.fontMetrics().descent()) * ratio), image.height()):
            color = image.pixelColor(x, y)
            apart = (
                getattr(color, part)() - getattr(warm, part)() for part in ("red", "green", "blue")
            )
            count += sum(map(abs, apart)) < 60  # the edges of letters are coloured, too
    return count


def point_at(field: SentenceInput, point: QPoint) -> None:
    QToolTip.hideText()
    position = field.viewport().mapToGlobal(point)
    QApplication.sendEvent(field.viewport(), QHelpEvent(QEvent.Type.ToolTip, point, position))


def middle_of(field: SentenceInput, span: Span) -> QPoint:
    return place_of(field, span).center()


@pytest.fixture(autouse=True)
def no_tip_is_left() -> Iterator[None]:
    yield
    QToolTip.hideText()


def test_rare_words_are_found_where_they_were_typed() -> None:
    reading = RareWord("gelesen", 2, 6, 7, ("gelesen",))
    assert rare_spans(covered(GESTERN, reading)) == {Span(7, 14): GESTERN, Span(18, 25): reading}
    assert rare_spans(covered()) == {}
    assert rare_spans(make_translation()) == {}, "of a model whose file does not tell"


def test_dots_stand_below_the_rare_word_alone(field: SentenceInput) -> None:
    assert num_warm(field, 0, 25) == 0
    field.marker.mark(SentenceMarks(rare={Span(7, 14): TIP}))
    assert num_warm(field, 7, 14) > 10
    assert num_warm(field, 0, 6) == 0
    assert num_warm(field, 18, 25) == 0
    (dotted,) = field.extraSelections()
    assert not dotted.format.hasProperty(QTextCharFormat.Property.ForegroundBrush), (
        "unknown words alone are coloured"
    )


@pytest.mark.parametrize("scale", [0.8, 1.0, 2.0])
@pytest.mark.parametrize("make_theme", [Theme.light, Theme.dark])
@pytest.mark.heavy
def test_dots_are_seen_at_every_size_and_in_both_themes(
    qapp: QApplication, theme: Theme, field: SentenceInput, make_theme, scale: float
) -> None:
    make_theme(scale).apply(qapp)
    field.resize(1200, 80)
    for rare in ({}, {Span(7, 14): TIP}):
        field.marker.mark(SentenceMarks(rare=rare))
        image = field.viewport().grab().toImage()
        warm = QColor(make_theme(scale).palette.warm)
        count = sum(
            image.pixelColor(x, y).rgb() == warm.rgb()
            for x in range(image.width())
            for y in range(image.height())
        )
        assert (count >= 5) is bool(rare), count
    theme.apply(qapp)


def test_words_read_in_another_spelling_are_found_where_they_were_typed() -> None:
    word = RespelledWord("gelesen", "gelehsen", 6, 7)
    translation = covered(GESTERN)
    assert translation.coverage is not None
    respelled = replace(
        translation, coverage=replace(translation.coverage, respelled_words=(word,))
    )
    assert respelled_spans(respelled) == {Span(18, 25): word}
    assert respelled_spans(covered(GESTERN)) == {}
    assert respelled_spans(make_translation()) == {}


def test_words_read_in_another_spelling_have_grey_dots_unless_they_are_rare(
    field: SentenceInput,
) -> None:
    read_as = "read as “gestärn”: “gestern” is not in the training data"
    field.marker.mark(SentenceMarks(respelled={Span(7, 14): read_as}))
    assert num_warm(field, 7, 14) == 0
    assert num_warm(field, 7, 14, "muted") > 10
    assert num_warm(field, 18, 25, "muted") == 0
    assert field.accessibleDescription() == read_as
    assert [entry.title for entry in entries_in(own_text(field))] == ["restored spelling"]
    field.marker.mark(SentenceMarks(rare={Span(7, 14): TIP}, respelled={Span(7, 14): read_as}))
    assert num_warm(field, 7, 14) > 10
    assert field.accessibleDescription() == f"{read_as}; {TIP}"


@pytest.mark.heavy
def test_the_spelling_that_was_read_stands_under_the_mouse(panel: SentencePanel) -> None:
    translation = covered()
    assert translation.coverage is not None
    word = RespelledWord("gelesen", "gelehsen", 6, 7)
    show(
        panel, replace(translation, coverage=replace(translation.coverage, respelled_words=(word,)))
    )
    point_at(panel.input, middle_of(panel.input, Span(18, 25)))
    assert QToolTip.text() == "read as “gelehsen”: “gelesen” is not in the training data"


def test_dots_go_with_the_next_key(qtbot: QtBot, field: SentenceInput) -> None:
    field.marker.mark(SentenceMarks(rare={Span(7, 14): TIP}))
    assert field.property("terms") == "rare word"
    assert TIP in field.accessibleDescription()
    qtbot.keyClicks(field, "!")
    assert num_warm(field, 0, 25) == 0
    assert field.property("terms") == ""
    assert field.accessibleDescription() == ""
    field.cancel()


def test_a_word_broken_over_lines_has_dots_in_each(qtbot: QtBot, field: SentenceInput) -> None:
    word = "w" * 200
    field.resize(300, 200)
    field.show_text(f"Ein {word}")
    field.marker.mark(SentenceMarks(rare={Span(4, 204): TIP, Span(900, 910): "beyond the end"}))
    lines = field.document().firstBlock().layout()
    assert lines.lineCount() > 2
    image, height = field.viewport().grab().toImage(), field.fontMetrics().lineSpacing()
    warm = QColor(Theme.light().palette.warm).rgb()
    for line in range(2):
        rows = range(4 + line * height, 4 + (line + 1) * height)
        assert any(image.pixelColor(x, y).rgb() == warm for x in range(10, 100) for y in rows)


@pytest.mark.heavy
def test_the_reason_stands_under_the_mouse_on_the_word_and_nowhere_else(
    qtbot: QtBot, field: SentenceInput
) -> None:
    field.marker.mark(SentenceMarks(rare={Span(7, 14): TIP}))
    point_at(field, middle_of(field, Span(7, 14)))
    assert QToolTip.text() == TIP
    point_at(field, middle_of(field, Span(0, 2)))
    qtbot.waitUntil(lambda: not QToolTip.isVisible())
    point_at(field, QPoint(field.width() - 4, 5))
    settle_layout()
    assert not QToolTip.isVisible()


def test_the_glossary_explains_it(field: SentenceInput) -> None:
    field.marker.mark(SentenceMarks(rare={Span(7, 14): TIP}))
    assert "rare word" in [entry.title for entry in entries_in(own_text(field))]


def test_the_sentence_shows_its_rare_words(panel: SentencePanel) -> None:
    show(panel, covered(GESTERN))
    assert panel.input.marker.marks.rare == {Span(7, 14): TIP}
    assert not panel.coverage_notice.isVisible()
    show(panel, covered())
    assert panel.input.marker.marks.rare == {}


def test_unknown_and_rare_words_have_one_line_of_dots_and_unknown_ones_their_colour(
    panel: SentencePanel,
) -> None:
    translation = replace(covered(GESTERN), unknown_source_positions=(3,))
    show(panel, translation)
    (selection,) = panel.input.extraSelections()
    assert selection.cursor.selectedText() == "gestern"
    assert num_warm(panel.input, 7, 14) > 10


def test_a_sentence_unlike_the_training_data_is_told_in_one_line(
    panel: SentencePanel, qtbot: QtBot
) -> None:
    notice = panel.coverage_notice
    show(panel, covered(GESTERN, is_unlike=True))
    assert notice.isVisible()
    assert notice.whole == "This model knows picture captions.", "no other model can be opened here"
    assert not notice.button.isVisible()
    menu = QMenu(panel)
    notice.button.setMenu(menu)
    show(panel, covered(GESTERN, is_unlike=True))
    settle_layout()
    assert notice.whole == CAPTIONS
    assert notice.height() < 2 * notice.fontMetrics().lineSpacing()
    assert notice.button.isVisible()
    assert notice.button.menu() is menu
    for width in (720, 1000):
        panel.resize(width, panel.height())
        settle_layout()
        assert notice.button.isVisible() == (width == 1000), "the message comes first"
        assert notice.shown_text() in notice.text().split("\n"), "nothing is cut"
    assert notice.button.isVisible()
    assert entries_of(notice)[0].title == "rare word"
    show(panel, covered(GESTERN, text="Er hat"))
    assert not notice.isVisible()
    show(panel, covered(GESTERN, is_unlike=True))
    panel.state.clear()
    assert not notice.isVisible()


def test_a_hint_to_type_another_sentence_offers_no_bigger_models(panel: SentencePanel) -> None:
    notice, told = panel.coverage_notice, "This looks like English. Enter a German sentence."
    notice.button.setMenu(QMenu(panel))
    for is_unlike in (False, True):
        show(
            panel,
            replace(covered(GESTERN, is_unlike=is_unlike), hint=told, notes=("Lower-cased.", told)),
        )
        assert notice.text() == told
        assert panel.notes.label.text() == "Lower-cased.", "it is shown once"
        assert not notice.button.isVisible()
    show(panel, covered(GESTERN, is_unlike=True))
    assert notice.button.isVisible()


class KnowingTranslator(FakeTranslator):
    """Has seen captions alone: each word of "foreign…" is rare."""

    def run(self, experiment, *, should_stop=lambda: False) -> Translation:
        translation = super().run(experiment, should_stop=should_stop)
        is_foreign = experiment.source_text.startswith("foreign")
        rare = tuple(
            RareWord(word.text, 0, word.start, word.end, (word.text,))
            for word in translation.source_words
            if is_foreign
        )
        return replace(translation, coverage=Coverage(rare, is_foreign, "picture captions"))


@pytest.mark.heavy
def test_in_the_window_the_notice_opens_the_menu_of_models(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window: MainWindow = make_window(loader=KnowingTranslator)
    sentence = window.translate_page.sentence
    assert not sentence.coverage_notice.isVisible()
    with qtbot.waitSignal(window.translation_shown):
        sentence.input.set_text("foreign text")
    assert sentence.coverage_notice.isVisible()
    assert list(sentence.input.marker.marks.rare) == [Span(0, 7), Span(8, 12)]
    button = sentence.coverage_notice.button
    menu = button.menu()
    offered: list[str] = []
    menu.aboutToShow.connect(lambda: offered.extend(action.text() for action in menu.actions()))
    menu.aboutToShow.connect(menu.close, Qt.ConnectionType.QueuedConnection)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    names = [text.partition("\t")[0] for text in offered]
    assert names[:3] == ["Open a model…", "Open a model folder…", "Open a model from Hugging Face…"]
    assert "Open the bundled model" not in names
    next(action for action in menu.actions() if "from Hugging Face" in action.text()).trigger()
    assert isinstance(imports_of(window).dialog, HubDialog)
    imports_of(window).dialog.reject()
    with qtbot.waitSignal(window.translation_shown):
        sentence.input.set_text("known text")
    assert not sentence.coverage_notice.isVisible()


@pytest.mark.heavy
def test_the_notice_is_about_what_was_typed_not_about_what_is_changed(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window: MainWindow = make_window(sentence="foreign text", loader=KnowingTranslator)
    page = window.translate_page
    with qtbot.waitSignal(window.translation_shown):
        page.state.submit(toggle(page.state.selection.head))
    assert page.sentence.coverage_notice.isVisible()
    assert len(page.sentence.input.marker.marks.rare) == 2


HINT = "This looks like English. Enter a German sentence."
ENGLISH = "the man is here"


def foreign(hint: str = "") -> Translation:
    coverage = Coverage((), True, "picture captions", is_foreign=True)
    translation = make_translation(ENGLISH, text=ENGLISH)
    return replace(translation, coverage=coverage, hint=hint, notes=(hint,) if hint else ())


def type_text(panel: SentencePanel, translation: Translation) -> None:
    panel.input.show_text(translation.source_text)
    panel.state.submit(edit_text(translation.source_text))
    panel.state.accept(make_result(translation))


@pytest.mark.parametrize("is_folded", [False, True])
def test_a_message_takes_the_place_of_a_translation_that_is_withheld(
    panel: SentencePanel, qtbot: QtBot, is_folded: bool
) -> None:
    panel.rows.fold(is_folded)
    type_text(panel, make_translation())
    settle_layout()
    before = {button: button.geometry() for button in (panel.copy_button, panel.edit_button)}
    height, facts = panel.sizeHint().height(), panel.facts.geometry()
    type_text(panel, foreign(HINT))
    settle_layout()
    notice = panel.withheld_notice
    assert notice.isVisible()
    assert notice.label.shown_text() == f"Not translated. {HINT}"
    assert not panel.interventions.hint.isVisible(), "there is no word to point at"
    assert not panel.coverage_notice.isVisible(), "it is said once"
    assert panel.note.text() == ""
    for part in (panel.chips_area, *([] if is_folded else [panel.sentence])):
        place = QRect(part.mapTo(panel, QPoint(0, 0)), part.size())
        assert notice.geometry().contains(place), "no old word is left"
    assert {button: button.geometry() for button in before} == before
    assert (panel.sizeHint().height(), panel.facts.geometry()) == (height, facts)
    assert panel.facts.text().strip() == ""
    assert not panel.copy_button.isEnabled()
    qtbot.mouseClick(notice.button, Qt.MouseButton.LeftButton)
    assert not notice.isVisible()
    assert panel.copy_button.isEnabled()
    assert panel.coverage_notice.text() == HINT
    assert panel.state.result is not None
    assert panel.state.result.experiment.source_text == ENGLISH


def test_a_withheld_first_sentence_has_its_message_and_its_marks(panel: SentencePanel) -> None:
    rare = RareWord("man", 0, 2, 3, ("man",))
    coverage = Coverage((rare,), True, "picture captions", is_foreign=True)
    type_text(panel, replace(foreign(), coverage=coverage))
    assert panel.withheld_notice.isVisible()
    assert "This model knows picture captions." in panel.withheld_notice.label.text()
    assert list(panel.input.marker.marks.rare) == [Span(4, 7)]


def test_nothing_about_an_earlier_translation_is_left_next_to_the_message(
    panel: SentencePanel,
) -> None:
    off = HeadScaled(Head("cross", 0, 0))
    original = make_translation()
    changed = replace(original, experiment=original.experiment.with_interventions(off))
    panel.input.show_text(original.source_text)
    panel.state.submit(edit_text(original.source_text))
    panel.state.submit(toggle(off.head))
    panel.state.accept(make_result(changed, original))
    settle_layout()
    assert panel.original_line.isVisible()
    assert panel.shown_switch.isVisible()
    type_text(panel, foreign())
    assert panel.withheld_notice.isVisible()
    assert not panel.original_line.isVisible()
    assert not panel.shown_switch.isVisible()


def test_notes_on_a_translation_are_shown_with_it(panel: SentencePanel) -> None:
    cut_off = phrase("cut_off", count=52)
    type_text(panel, make_translation())
    type_text(panel, replace(foreign(), notes=(cut_off,)))
    assert panel.withheld_notice.isVisible()
    assert panel.note.text() == "", "there is no translation that the note could be about"
    panel.state.show_withheld()
    assert panel.note.text() == cut_off
    type_text(panel, replace(foreign(), notes=(cut_off,)))
    panel.state.clear()
    type_text(panel, replace(foreign(), notes=(cut_off,)))
    assert panel.note.text() == "", "nor without an earlier translation"


def test_a_message_has_the_room_of_controls_that_are_not_shown(
    panel: SentencePanel, qtbot: QtBot
) -> None:
    notice = panel.coverage_notice
    show(panel, covered(GESTERN, is_unlike=True))
    settle_layout()
    end = panel.contentsRect().right() - panel.shown_switch.sizeHint().width()
    assert notice.mapTo(panel, notice.rect().topRight()).x() > end
    before = panel.interventions.undo_button.geometry()
    notice.button.setMenu(QMenu(panel))
    show(panel, covered(GESTERN, is_unlike=True))
    panel.resize(1000, panel.height())
    settle_layout()
    button = notice.button.mapTo(panel, QPoint(0, 0))
    assert button.x() + notice.button.width() < panel.width() - panel.shown_switch.width()
    panel.state.submit(toggle(Head("cross", 0, 0)))
    settle_layout()
    assert notice.button.mapTo(panel, QPoint(0, 0)) == button, "it keeps its place"
    assert panel.interventions.undo_button.geometry() == before


def test_bigger_models_are_offered_below_the_message(panel: SentencePanel) -> None:
    panel.coverage_notice.button.setMenu(QMenu(panel))
    type_text(panel, foreign())
    assert panel.coverage_notice.text() == "For other text, import a bigger model."
    assert panel.coverage_notice.button.isVisible()


def test_no_model_is_advised_for_a_text_without_words(panel: SentencePanel) -> None:
    panel.coverage_notice.button.setMenu(QMenu(panel))
    coverage = Coverage((), True, "picture captions", is_foreign=True, lacks="no_words")
    type_text(panel, replace(foreign(), coverage=coverage))
    assert phrase("no_words") in panel.withheld_notice.label.text()
    assert not panel.coverage_notice.isVisible()
    assert not panel.coverage_notice.button.isVisible()
    panel.state.show_withheld()
    assert panel.coverage_notice.text() == "\n".join([phrase("no_words"), UNLIKE])
    assert not panel.coverage_notice.button.isVisible()


@pytest.mark.heavy
def test_the_window_dims_the_maps_of_the_last_sentence(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window: MainWindow = make_window(None, sentence="Ein Mann schläft.", loader=open_once)
    page, state = window.translate_page, window.state
    field = page.sentence.input

    def is_dimmed() -> bool:
        return any(overlay.isVisible() for overlay in page.head.findChildren(DimmingOverlay))

    assert not is_dimmed()
    field.set_text("The man is standing on a ladder.")
    qtbot.waitUntil(lambda: state.withheld is not None)
    assert is_dimmed()
    assert state.translation is not None
    assert state.translation.source_text == "Ein Mann schläft."
    field.set_text("Eine Frau schläft.")
    qtbot.waitUntil(lambda: state.current is not None)
    assert not is_dimmed()
    assert not page.sentence.withheld_notice.isVisible()


@pytest.mark.heavy
def test_a_window_that_begins_with_english_says_so_and_offers_to_translate(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    text = "The man is standing on a ladder."
    window: MainWindow = make_window(None, sentence=text, loader=open_once, wait=False)
    page, state = window.translate_page, window.state
    qtbot.waitUntil(lambda: state.withheld is not None)
    assert page.sentence.withheld_notice.isVisible()
    assert page.message.isVisible()
    assert "Translating" not in page.message.label.text()
    page.sentence.withheld_notice.button.click()
    assert page.arrangement.isVisible()
    assert state.translation is not None
    assert state.translation.source_text == text
