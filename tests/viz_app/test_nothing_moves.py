"""Nothing moves unasked: typed text, notices and longer words leave every control in its place."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QRadioButton,
    QTableWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from augenmerk.core.extensions.lessons.lesson_file import read_lesson_file
from augenmerk.core.extensions.run_settings.presets import PRESETS
from augenmerk.core.model.heads import Head
from augenmerk.core.resources import resource_path
from augenmerk.viz_app.extensions.imports.import_dialog import HubDialog
from augenmerk.viz_app.extensions.learn.chapter_view import COMPUTING as COMPUTING_VERDICT
from augenmerk.viz_app.extensions.learn.chapter_view import ChapterView
from augenmerk.viz_app.extensions.learn.page import LearnPage
from augenmerk.viz_app.extensions.lessons.lesson_bar import COMPUTING
from augenmerk.viz_app.extensions.rows.editor import RowEditor
from augenmerk.viz_app.extensions.tabs.compare.view import CompareTab
from augenmerk.viz_app.extensions.tabs.heads.view import HeadsTab
from augenmerk.viz_app.extensions.tabs.source.view import SourceTab
from augenmerk.viz_app.extensions.tabs.steps.view import StepsTab
from augenmerk.viz_app.extensions.tour.quick_tour import QuickTour
from augenmerk.viz_app.extensions.train.page import TrainPage
from augenmerk.viz_app.extensions.train.run.panel import RunPanel
from augenmerk.viz_app.extensions.widgets.max_lines_label import MaxLinesLabel
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.state.experiment_editor import open_experiment, reset, toggle
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.tabs import TABS
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.widgets.canvas import Canvas
from tests.conftest import open_once
from tests.viz_app.builders import settle_layout
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import (
    LEARN,
    TRAIN,
    TRANSLATE,
    imports_of,
    learn_page_of,
    lessons_of,
    offer_tour_in,
    train_page_of,
)

EARLIER_RUN = Path(__file__).parents[1] / "earlier" / "run"
SIZES = ((1100, 700), (1280, 800), (1440, 900), (1920, 1080))
GERMAN, ENGLISH = "Ein Mann steht auf einer Leiter.", "The man is standing on a ladder today"
HEADS = [
    Head(kind, layer, head)
    for kind in ("encoder", "cross")
    for layer in (0, 1)
    for head in (1, 4, 6)
]
LONG = (
    "Ein kleines Mädchen in einem rosa Kleid sitzt auf einer Bank im Park und isst ein großes Eis, "
    "während ihr Bruder mit einem Ball spielt und der Vater eine Zeitung liest. "
)
OF_20_WORDS = (
    "Ein kleines Mädchen in einem rosa Kleid klettert die Treppe zu einem Holzhaus hinauf und "
    "lacht laut über ihren Hund."
)
TEXTS_WITH_BUTTONS = {
    "Der Hudn rennt im Garten.": "Did you mean",
    "Gestern stieg der Umsatz der Bahn wieder.": "Open a bigger model",
}
MOST_RESIZES = 6
"""Of the figures of a chapter that a result still reaches."""
SPLIT = "Ein Mann steht auf Xylophonquarz ☃."
"""It has an unknown character and words that are split into subwords."""
UNCERTAIN_STEP = 2
"""A step of the translation of `GERMAN` at which other words change what follows."""


def controls(window: QWidget) -> dict[QWidget, QRect]:
    """The place of each visible, enabled control, in pixels of the window."""
    kinds = (QAbstractButton, QComboBox, QLineEdit)
    return {
        control: _box_in(window, control)
        for control in window.findChildren(QWidget)
        if isinstance(control, kinds) and control.isVisible() and control.isEnabled()
    }


def _box_in(window: QWidget, part: QWidget) -> QRect:
    return QRect(part.mapTo(window, QPoint(0, 0)), part.size())


def moved(before: Mapping[QWidget, QRect], after: Mapping[QWidget, QRect]) -> list[str]:
    """The controls that have another place. A longer text may move one edge, not both."""
    return [
        f"{_name(control)}: {old.getRect()} → {new.getRect()}"
        for control, old in before.items()
        if (new := after.get(control, old)).top() != old.top()
        or (new.left() != old.left() and new.right() != old.right())
    ]


def expect_none(movements: Mapping[str, Sequence[str]]) -> None:
    """Fails with what moved after which deed, if anything did."""
    assert not any(movements.values()), {deed: parts for deed, parts in movements.items() if parts}


def _name(control: QWidget) -> str:
    text = control.text() if isinstance(control, QAbstractButton | QLineEdit | QLabel) else ""
    return f"{type(control).__name__} {text or control.accessibleName() or control.toolTip()}"


def _settle(qtbot: QtBot, state: ExperimentState) -> None:
    """Waits until the translation shown or withheld is the requested one, in the chosen measure."""

    def is_settled() -> bool:
        result = state.latest
        is_answered = result is not None and result.experiment == state.experiment
        return is_answered and not state.request.is_running and not state.measuring.is_awaited

    qtbot.waitUntil(is_settled)
    settle_layout()


@pytest.fixture
def window(make_window: MakeWindow) -> MainWindow:
    return make_window(None, sentence=GERMAN, loader=open_once)


def _deeds(qtbot: QtBot, window: MainWindow, qapp: QApplication) -> dict[str, Callable[[], object]]:
    """What a user does on the Translate page, by name."""
    state, bar = window.state, window.top_bar
    type_text = window.translate_page.sentence.input.set_text
    deeds: dict[str, Callable[[], object]] = {
        "type English": lambda: type_text(ENGLISH),
        "type an unknown word": lambda: type_text(SPLIT),
        "type three lines": lambda: type_text(LONG * 3),
        "type two lines": lambda: type_text(LONG),
        "type typing errors": lambda: type_text("Zwei Mnner spielen Fuball."),
        "type German": lambda: type_text(GERMAN),
        "dark": lambda: Theme.dark().apply(qapp),
        "light": lambda: Theme.light().apply(qapp),
        "long notice": lambda: bar.show_notice("Saved the attention maps of a long sentence.png"),
        "training status": lambda: bar.show_status("Training: step 200 of 5,000, loss 3.21"),
    }
    for head in (Head("encoder", 2, 5), Head("decoder", 0, 0), Head("cross", 1, 3)):
        deeds[str(head)] = lambda head=head: state.intents.choose_head(head)
    deeds["switch off"] = lambda: state.submit(toggle(state.selection.head))
    deeds["switch on"] = lambda: state.submit(toggle(state.selection.head))

    def type_until(text: str, button_text: str) -> None:
        """Types a text, and waits for the button of the message about it."""
        type_text(text)
        interventions = window.translate_page.sentence.interventions
        qtbot.waitUntil(
            lambda: any(
                button.isVisible() and button.text().startswith(button_text)
                for button in interventions.findChildren(QAbstractButton)
            )
        )

    for text, button_text in TEXTS_WITH_BUTTONS.items():
        for num_changes, head in enumerate(HEADS[:4]):
            deeds[f"{button_text} {num_changes}"] = partial(type_until, text, button_text)
            deeds[f"{button_text} {head}"] = lambda head=head: state.submit(toggle(head))
            deeds[f"German after {button_text} {num_changes}"] = lambda: type_text(GERMAN)
        deeds[f"{button_text}, reset"] = lambda: state.submit(reset)
    deeds["switch many off"] = lambda: state.submit(toggle(*HEADS))
    deeds["reset"] = lambda: state.submit(reset)
    deeds["edit the translation"] = window.translate_page.sentence.start_editing
    deeds["edit no longer"] = window.translate_page.sentence.stop_editing
    for name, values in (("measure", ("norm", "weight")), ("scope", ("layer", "all", "head"))):
        for value in values:
            deeds[f"{name} {value}"] = lambda name=name, value=value: setattr(
                state.settings, name, value
            )
    return deeds


@pytest.mark.slow
@pytest.mark.parametrize("has_analysis", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_no_control_of_the_translate_page_moves(
    qtbot: QtBot,
    qapp: QApplication,
    window: MainWindow,
    size: tuple[int, int],
    has_analysis: bool,
) -> None:
    window.resize(*size)
    window.translate_page.arrangement.show_analysis(has_analysis)
    _settle(qtbot, window.state)
    movements = {}
    for name, act in _deeds(qtbot, window, qapp).items():
        before = controls(window)
        act()
        _settle(qtbot, window.state)
        movements[name] = moved(before, controls(window))
    expect_none(movements)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_no_control_around_the_maps_moves_when_the_analysis_opens(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int]
) -> None:
    window.resize(*size)
    _settle(qtbot, window.state)
    sentence = window.translate_page.sentence
    for _ in range(2):  # opens it, closes it
        before = controls(window)
        window.translate_page.analysis_button.click()
        _settle(qtbot, window.state)
        of_sentence = {
            control: box for control, box in before.items() if sentence.isAncestorOf(control)
        }
        assert not moved(of_sentence, controls(window))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_the_tab_source_stays_in_place_when_its_numbers_come(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int]
) -> None:
    window.resize(*size)
    window.translate_page.arrangement.show_analysis(True)
    _settle(qtbot, window.state)
    window.analysis.open_tab("source")
    tab = window.analysis.tab
    assert isinstance(tab, SourceTab)
    settle_layout()
    before = {part: part.mapTo(tab, QPoint(0, 0)) for part in (tab.shares, tab.words)}
    qtbot.waitUntil(lambda: tab.source.findings is not None)
    settle_layout()
    assert {part: part.mapTo(tab, QPoint(0, 0)) for part in before} == before


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_two_clicks_at_one_place_in_a_tab_restore_what_was_there(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int]
) -> None:
    """Candidates, source words, parts and cells are changed by a click, and restored by another."""
    window.resize(*size)
    window.translate_page.arrangement.show_analysis(True)
    _settle(qtbot, window.state)
    movements = {}
    for name in TABS:
        window.analysis.open_tab(name)
        tab = window.analysis.tab
        _settle_tab(qtbot, window)
        if isinstance(tab, HeadsTab):
            tab.heads.num_sentences = 3
            tab.job.start.click()
        elif isinstance(tab, StepsTab):
            tab.steps.go(UNCERTAIN_STEP)
            tab.redraw()
        _settle_tab(qtbot, window)
        for canvas in tab.findChildren(Canvas):
            visible = canvas.visibleRegion().boundingRect()
            for share in (0.1, 0.4, 0.6, 0.9) if canvas.isVisible() else ():
                y = visible.top() + round(share * visible.height())
                point = canvas.mapTo(window, QPoint(visible.left() + visible.width() // 3, y))
                movements[f"{name}, {canvas.accessibleName()}, {share}"] = _moved_by_two_clicks(
                    qtbot, window, point
                )
    expect_none(movements)


def _moved_by_two_clicks(qtbot: QtBot, window: MainWindow, point: QPoint) -> list[str]:
    """What moves by the first click at a point of the window, and what is not back after two."""
    tab = window.analysis.tab
    experiment, before = window.state.experiment, _tops_in(tab)
    lines = []
    for _ in range(2):
        clicked = window.childAt(point)
        assert clicked is not None
        qtbot.mouseClick(clicked, Qt.MouseButton.LeftButton, pos=clicked.mapFrom(window, point))
        for card in QApplication.topLevelWidgets():
            if isinstance(card, RowEditor):
                card.close()
        _settle_tab(qtbot, window)
        tops = _tops_in(tab)
        lines += [
            f"{_name(part)}: {top} → {tops[part]}"
            for part, top in before.items()
            if tops.get(part, top) != top
        ]
    if window.state.experiment != experiment:
        lines.append("the second click hit something else")
        window.state.submit(open_experiment(experiment))
        _settle_tab(qtbot, window)
    return lines


def _settle_tab(qtbot: QtBot, window: MainWindow) -> None:
    _settle(qtbot, window.state)
    qtbot.waitUntil(lambda: not window.analysis.tab.request.is_running)
    settle_layout()


def _tops_in(tab: QWidget) -> dict[QWidget, int]:
    """Where the parts of a tab begin that can be clicked or read, in pixels from its top."""
    kinds = (Canvas, QAbstractButton, QLineEdit, QLabel, QTableWidget)
    return {
        part: part.mapTo(tab, QPoint(0, 0)).y()
        for part in tab.findChildren(QWidget)
        if isinstance(part, kinds) and part.isVisible()
    }


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_no_control_moves_when_sentences_are_compared(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int]
) -> None:
    window.resize(*size)
    window.translate_page.arrangement.show_analysis(True)
    window.analysis.open_tab("compare")
    _settle(qtbot, window.state)
    tab = window.analysis.tab
    assert isinstance(tab, CompareTab)
    movements = {}
    for text in ("Eine Frau steht auf einer Leiter.", "", GERMAN):
        settle_layout()
        before = controls(window)
        tab.sentence.setText(text)
        tab.compare.click()
        qtbot.waitUntil(lambda: not tab.request.is_running)
        settle_layout()
        movements[text] = moved(before, controls(window))
    expect_none(movements)


@pytest.mark.slow
def test_no_control_moves_when_a_model_cannot_be_fetched(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    for folder in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(folder, str(tmp_path / folder))
    part = imports_of(window)
    part.choose_name()
    dialog = part.dialog
    assert isinstance(dialog, HubDialog)
    settle_layout()
    before = controls(dialog)
    dialog.name_edit.setText("me/a-model-of-any-languages")
    settle_layout()
    assert not moved(before, controls(dialog))
    before = controls(dialog)
    dialog.import_button.click()
    settle_layout()
    assert not moved(before, controls(dialog))
    qtbot.waitUntil(dialog.problem.isVisible)
    settle_layout()
    assert not moved(before, controls(dialog))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_no_control_moves_in_the_quick_tour(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int]
) -> None:
    window.resize(*size)
    offer_tour_in(window)
    tour = window.findChild(QuickTour)
    assert tour is not None
    _settle(qtbot, window.state)
    qtbot.waitUntil(tour.isVisible)
    movements = {}
    for _ in range(4):
        settle_layout()
        before = controls(window)
        tour.go_on()
        _settle(qtbot, window.state)
        movements[f"step {tour.place + 1}"] = moved(before, controls(window))
    expect_none(movements)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_no_control_moves_when_an_answer_of_a_lesson_is_shown(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int]
) -> None:
    window.resize(*size)
    documents = lessons_of(window)
    movements = {}
    for path in sorted(resource_path("lessons").glob("*.augenmerk")):
        documents.open(read_lesson_file(path), path)
        for index, scene in enumerate(documents.lesson.scenes):
            if not scene.has_answer:
                continue
            documents.lesson.go_to(index)
            _settle(qtbot, window.state)
            question = documents.bar.question
            before = controls(window) | {question: _box_in(window, question)}
            documents.bar.reveal_button.click()
            qtbot.waitUntil(lambda: COMPUTING not in documents.bar.answer.text())
            settle_layout()
            after = controls(window) | {question: _box_in(window, question)}
            movements[f"{path.name}, {scene.title}"] = moved(before, after)
            if after[question].size() != before[question].size():
                movements[f"{path.name}, {scene.title}"].append("the question wraps again")
    assert movements
    expect_none(movements)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_the_buttons_of_a_lesson_have_one_place_in_all_scenes(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int]
) -> None:
    window.resize(*size)
    documents = lessons_of(window)
    bar = documents.bar
    places = set()
    rows = set()
    for path in sorted(resource_path("lessons").glob("*.augenmerk")):
        documents.open(read_lesson_file(path), path)
        pages = set()
        for index, scene in enumerate(documents.lesson.scenes):
            documents.lesson.go_to(index)
            _settle(qtbot, window.state)
            pages.add(_box_in(window, window.translate_page).getRect())
            if scene.has_answer:
                places.add(_box_in(window, bar.reveal_button).getRect())
            bar.edit_button.click()
            settle_layout()
            rows.add(_box_in(window, bar.edit_row).topLeft().toTuple())
            bar.edit_button.click()
        assert len(pages) == 1, f"the page below {path.name} has one place"
    assert len(places) == 1
    assert len(rows) == 1


@pytest.mark.slow
@pytest.mark.parametrize("sentence", [GERMAN, OF_20_WORDS], ids=["short", "long"])
@pytest.mark.parametrize("size", SIZES)
def test_no_text_of_a_chapter_moves_when_its_question_is_answered(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int], sentence: str
) -> None:
    """Apart from a text that scrolls until all of the answer is in sight."""
    window.resize(*size)
    page = _open_learn(qtbot, window)
    page.sentence.input.set_text(sentence)
    _settle(qtbot, page.state)
    movements = {}
    for index, chapter in enumerate(page.chapters):
        page.open_chapter(index)
        page.state.submit(reset)
        _settle(qtbot, page.state)
        view = page.view
        assert view is not None
        choices = [
            (prediction, choice)
            for prediction in view.text.predictions
            for choice in prediction.choices.values()
        ]
        for prediction, choice in choices:
            before, height = _places_in(view.text), view.text.height()
            next_place = view.next_button.geometry()
            choice.click()
            settle_layout()
            if not prediction.look.isEnabled():
                continue
            prediction.look.click()
            qtbot.waitUntil(lambda shown=view: not _is_looking(shown))
            _settle(qtbot, page.state)
            after = _places_in(view.text)
            movements[f"{chapter.title}, {choice.text()}"] = [
                part.text() for part, place in before.items() if after.get(part, place) != place
            ]
            assert view.text.height() == height  # at its end, it would scroll
            assert view.next_button.geometry() == next_place
    assert movements
    expect_none(movements)


class Resizes(QObject):
    """Counts how often a widget gets another size."""

    number = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        self.number += event.type() == QEvent.Type.Resize
        return super().eventFilter(watched, event)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "text",
    [
        "Zwei Kinder spielen mit einem braunen Hund am Strand.",
        "Eine Frau in einem roten Kleid tanzt auf der Straße.",
        "Ein Hund rennt.",
    ],
)
def test_figures_of_chapters_come_to_rest(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int], text: str
) -> None:
    """A scroll bar that makes a figure smaller must not disappear for that."""
    window.resize(*size)
    page = _open_learn(qtbot, window)
    page.sentence.input.set_text(text)
    _settle(qtbot, page.state)
    for index, chapter in enumerate(page.chapters):
        page.open_chapter(index)
        _settle(qtbot, page.state)
        view = page.view
        assert view is not None
        for prediction in view.text.predictions:
            next(iter(prediction.choices.values())).click()
            prediction.look.click()
            qtbot.waitUntil(lambda shown=view: not _is_looking(shown))
        _settle(qtbot, page.state)
        resizes = Resizes()
        for figure in view.figures:
            figure.installEventFilter(resizes)
        for _ in range(40):  # each would be a change of size
            QApplication.processEvents()
        assert resizes.number <= MOST_RESIZES, chapter.title


def _is_looking(view: ChapterView) -> bool:
    return any(question.verdict.text() == COMPUTING_VERDICT for question in view.text.predictions)


def _places_in(text: QWidget) -> dict[QLabel | QAbstractButton, QPoint]:
    """Where its labels and buttons begin, in pixels from the beginning of the text."""
    parts = [*text.findChildren(QLabel), *text.findChildren(QAbstractButton)]
    return {part: part.mapTo(text, QPoint(0, 0)) for part in parts if part.isVisible()}


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_no_chapter_moves_when_a_question_or_a_suggestion_is_answered(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int]
) -> None:
    window.resize(*size)
    page = _open_learn(qtbot, window)
    qtbot.waitUntil(lambda: page.state.result is not None)
    movements = {}

    def has_more_lines(text: str) -> bool:
        """Whether it shows a sentence that needs more lines, or trains."""
        return "longer" in text or "train" in text

    for index, chapter in enumerate(page.chapters):
        page.open_chapter(index)
        page.state.submit(reset)
        _settle(qtbot, page.state)
        view = page.view
        assert view is not None
        for text in ("Look", "Try: "):
            for choice in view.findChildren(QRadioButton):
                if choice.isVisible():
                    choice.click()
                    break
            button = next(
                (
                    button
                    for button in view.findChildren(QAbstractButton)
                    if button.text().startswith(text) and not has_more_lines(button.text())
                ),
                None,
            )
            if button is not None and button.isEnabled():
                before = _controls_outside(window, view)
                button.click()
                # the answer is computed first, then the change that it is about is made
                qtbot.waitUntil(lambda shown=view: not _is_looking(shown))
                _settle(qtbot, page.state)
                movements[f"{chapter.title}, {button.text()}"] = moved(
                    before, _controls_outside(window, view)
                )
    expect_none(movements)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_no_text_of_a_chapter_moves_when_its_suggestions_are_tried(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int]
) -> None:
    """Nor when the question is answered after that."""
    window.resize(*size)
    page = _open_learn(qtbot, window)
    movements = {}
    for index, chapter in enumerate(page.chapters):
        page.open_chapter(index)
        _settle(qtbot, page.state)
        view = page.view
        assert view is not None
        looks = []
        for prediction in view.text.predictions:
            next(iter(prediction.choices.values())).click()
            looks.append(prediction.look)
        for button in (*view.text.tries, *looks):
            if "rain" in button.text():  # it takes its time
                continue
            settle_layout()
            before = _places_in(view.text)
            button.click()
            qtbot.waitUntil(lambda shown=view: not _is_looking(shown))
            _settle(qtbot, page.state)
            after = _places_in(view.text)
            movements[f"{chapter.title}, {button.text()}"] = [
                f"{part.text()}: {place.toTuple()} → {after[part].toTuple()}"
                for part, place in before.items()
                if after.get(part, place) != place
            ]
    assert movements
    expect_none(movements)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_the_buttons_below_a_chapter_have_one_place_in_all_chapters(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int]
) -> None:
    window.resize(*size)
    page = _open_learn(qtbot, window)
    textbooks, beginnings = set(), set()
    for index in range(len(page.chapters)):
        page.open_chapter(index)
        _settle(qtbot, page.state)
        view = page.view
        assert view is not None
        textbooks |= {
            _box_in(window, textbook.button).getRect() for textbook in view.text.textbooks
        }
        if view.next_button.isVisible():
            beginnings.add(_box_in(window, view.next_button).topLeft().toTuple())
    assert len(textbooks) == 1
    assert len(beginnings) == 1


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_no_control_of_learn_moves_with_the_sentence_or_model_of_translate(
    qtbot: QtBot, make_window: MakeWindow, window: MainWindow, size: tuple[int, int]
) -> None:
    window.resize(*size)
    page = _open_learn(qtbot, window)
    _settle(qtbot, page.state)
    before = controls(window)
    page.sentence.input.set_text("Eine Frau trinkt Kaffee.")
    _settle(qtbot, page.state)
    assert page.use_button.isEnabled()
    assert not moved(before, controls(window))
    path = EARLIER_RUN / "best.safetensors"
    other = make_window(path, sentence=None, loader=open_once, wait=False)
    other.resize(*size)
    qtbot.waitUntil(lambda: other.state.model is not None)
    other_page = _open_learn(qtbot, other)
    _settle(qtbot, other_page.state)
    assert other_page.model_note.isVisible()
    for part in ("sentence", "list"):
        assert _box_in(other, getattr(other_page, part)) == _box_in(window, getattr(page, part))


def _open_learn(qtbot: QtBot, window: MainWindow) -> LearnPage:
    window.pages.show(LEARN)
    page = learn_page_of(window)
    assert page is not None
    qtbot.waitUntil(lambda: page.view is not None)
    return page


def _open_train(qtbot: QtBot, window: MainWindow) -> TrainPage:
    window.pages.show(TRAIN)
    page = train_page_of(window)
    assert page is not None
    qtbot.waitUntil(lambda: bool(page.machine.name))
    return page


def _controls_outside(window: MainWindow, view: QWidget) -> dict[QWidget, QRect]:
    return {
        control: box for control, box in controls(window).items() if not view.isAncestorOf(control)
    }


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_no_control_moves_when_tabs_and_pages_are_switched(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int]
) -> None:
    """What a tab or page shows is its own; all around it stays, and it comes back as it was."""
    window.resize(*size)
    window.translate_page.arrangement.show_analysis(True)
    _settle(qtbot, window.state)
    first_tab = window.analysis.tab_name
    first = controls(window)
    movements = {}
    for name in TABS:
        before = controls(window)
        window.analysis.open_tab(name)
        _settle(qtbot, window.state)
        movements[f"tab {name}"] = moved(before, controls(window))
    window.analysis.open_tab(first_tab)
    for name in (LEARN, TRAIN, TRANSLATE):
        before = controls(window)
        window.pages.show(name)
        settle_layout()
        movements[f"page {name}"] = moved(before, controls(window))
    _settle(qtbot, window.state)
    movements["back again"] = moved(first, controls(window))
    expect_none(movements)


@pytest.mark.slow
@pytest.mark.training
@pytest.mark.parametrize("size", SIZES)
def test_no_control_moves_while_a_model_is_trained(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int], tmp_path: Path
) -> None:
    window.resize(*size)
    page = _open_train(qtbot, window)
    choices = replace(
        page.form.choices(), preset="copy-task-small", settings={"training.num_epochs": "3"}
    )
    page.form.set_choices(replace(choices, device="cpu", parent_folder=tmp_path / "runs"))
    settle_layout()
    movements = {}
    before = controls(window)
    page.run_actions.start()
    settle_layout()
    labels = _labels_of(page.panel)
    while page.is_running():
        qtbot.wait(200)
        after = controls(window)
        movements[f"step {page.state.run.latest_step}"] = moved(before, after)
        before = after
    settle_layout()
    movements["end"] = moved(before, controls(window))
    assert _labels_of(page.panel).items() >= labels.items()
    page.panel.epochs_edit.setText("5")
    before = controls(window)
    page.panel.extend_button.click()
    qtbot.waitUntil(lambda: len(page.state.run.curves.validations) > 3)
    settle_layout()
    movements["longer"] = moved(before, controls(window))
    before = controls(window)
    page.panel.pause_button.click()
    qtbot.waitUntil(lambda: not page.is_running())
    settle_layout()
    movements["paused"] = moved(before, controls(window))
    assert _labels_of(page.panel).items() >= labels.items()
    lines = page.notice_bar.findChild(MaxLinesLabel)
    assert isinstance(lines, MaxLinesLabel)
    assert not lines.verticalScrollBar().isVisible(), lines.text()
    assert "checkpoint" in page.notice_bar.folder_button.toolTip()
    expect_none(movements)


def _labels_of(panel: RunPanel) -> dict[QLabel, QPoint]:
    """Where its labels of settings and numbers are, which it shows during a run and after it."""
    parts = panel._settings, panel._numbers
    return {
        label: label.mapTo(panel, QPoint(0, 0))
        for part in parts
        for label in part.findChildren(QLabel)
        if label.isVisible() and label.property("role") != "number"
    }


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_no_control_moves_when_the_form_of_a_run_is_filled_in(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int], tmp_path: Path
) -> None:
    window.resize(*size)
    page = _open_train(qtbot, window)
    form = page.form
    long_path = tmp_path / "sentence pairs of several years" / "German and English, cleaned twice"
    deeds: dict[str, Callable[[], object]] = {
        name: partial(form._on_preset, name) for name in PRESETS
    }
    deeds["data: a folder"] = lambda: form.set_choices(
        replace(form.choices(), preset="notebook", data_kind="folder", data_path=str(long_path))
    )
    deeds["data: a file"] = lambda: form.set_choices(
        replace(form.choices(), data_kind="file", data_path=str(tmp_path / "pairs.tsv"))
    )
    deeds["data: Multi30k"] = lambda: form.set_choices(
        replace(form.choices(), preset="multi30k", data_kind="multi30k")
    )
    deeds["a short schedule"] = lambda: form.edit_settings("2", "training.num_epochs")
    deeds["a wrong number"] = lambda: form.edit_settings("no", "training.seed")
    deeds["a number"] = lambda: form.edit_settings("7", "training.seed")
    deeds["a long folder"] = lambda: form.set_choices(
        replace(form.choices(), parent_folder=long_path)
    )
    bar = page.panel._area.verticalScrollBar()
    movements = {}
    for place in ("top", "bottom"):
        form._on_preset("copy-task-small")
        settle_layout()
        bar.setValue(bar.maximum() if place == "bottom" else 0)
        for name, act in deeds.items():
            settle_layout()
            before = controls(window)
            act()
            settle_layout()
            movements[f"{name}, {place}"] = moved(before, controls(window))
    expect_none(movements)
