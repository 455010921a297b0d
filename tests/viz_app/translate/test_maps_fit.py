"""The large map: up to 20 rows have their labels in every window, and none is ever behind a scroll
bar."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QFontMetricsF, QPolygonF, QTransform
from pytestqt.qtbot import QtBot

from augenmerk.core.extensions.lessons.lesson_file import Scene
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import Coverage
from augenmerk.viz_app.extensions.documents.reading import saved_experiment
from augenmerk.viz_app.heatmap.heatmap import elided, thinned
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.state.experiment_editor import toggle
from tests.builders import first_quick
from tests.viz_app.builders import settle_layout
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import lessons_of
from tests.viz_app.synthetic import FakeTranslator

WORDS = (
    "Ein kleines Mädchen mit rotem Hut und blauem Kleid spielt mit einem großen braunen Hund im "
    "grünen Gras"
).split()
SMALLEST = 960, 620
SIZES = (1280, 800), (1366, 768), (1280, 720), (1100, 700), SMALLEST
LEAST_LETTERS_PX = 12


class Unfamiliar(FakeTranslator):
    """Every sentence is unlike the training data, so that the notice takes its line."""

    def run(self, experiment, **options):
        return replace(
            super().run(experiment, **options), coverage=Coverage((), True, "picture captions")
        )


def sentence_of(num_rows: int) -> str:
    """Words whose map has this number of rows, with the end."""
    return " ".join([*(WORDS * 4)[: num_rows - 2], "."])


def is_in_sight(window: MainWindow, max_step: int) -> bool:
    """Whether all rows are in sight, and at least every so many of them have a label."""
    heatmap = window.translate_page.head.heatmap
    layout = heatmap.layout_now
    assert layout is not None
    bottom = heatmap.mapTo(window, QPoint(0, round(layout.map.bottom()))).y()
    return layout.hidden.isNull() and bottom <= window.height() and layout.row_step <= max_step


@pytest.mark.heavy
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("num_rows", first_quick([13, 20, 40]))
def test_no_row_is_cropped_in_any_window(
    make_window: MakeWindow, qtbot: QtBot, num_rows: int, is_open: bool
) -> None:
    """With a notice, chips of changes, and the analysis tabs open or closed."""
    window = make_window(sentence=sentence_of(num_rows), loader=Unfamiliar)
    page, state = window.translate_page, window.state
    page.arrangement.show_analysis(is_open)
    for changes in (
        (),
        (Head("cross", 0, 0), Head("decoder", 0, 1), Head("decoder", 2, 3), Head("encoder", 1, 4)),
    ):
        if changes:
            state.submit(toggle(*changes))
            qtbot.waitUntil(lambda: state.result is not None and state.result.is_changed)
        for size in SIZES:
            window.resize(*size)
            max_step = 1 if num_rows <= 20 and size != SMALLEST else 5
            qtbot.waitUntil(lambda most=max_step: is_in_sight(window, most), timeout=3000)
            view, layout = state.maps.view(), page.head.heatmap.layout_now
            assert view is not None
            assert layout is not None
            assert len(view.row_labels) == num_rows
            assert page.sentence.coverage_notice.isVisible()
            assert layout.font.pixelSize() >= LEAST_LETTERS_PX
            assert layout.row_step * layout.cell.y() >= LEAST_LETTERS_PX * 0.9, (
                "labels do not overlap"
            )


@pytest.mark.heavy
@pytest.mark.parametrize("is_edited", [False, True])
@pytest.mark.parametrize("has_changes", [False, True])
def test_every_row_has_its_label_below_a_scene_with_question_and_answer(
    make_window: MakeWindow, qtbot: QtBot, has_changes: bool, is_edited: bool
) -> None:
    window = make_window(sentence=sentence_of(20))
    state, text = (
        window.state,
        "The model reads the article twice: once for the noun, and once for the adjective. " * 3,
    )
    if has_changes:
        state.submit(
            toggle(
                Head("cross", 0, 0),
                Head("decoder", 0, 1),
                Head("decoder", 2, 3),
                Head("encoder", 1, 4),
            )
        )
        qtbot.waitUntil(lambda: state.result is not None and state.result.is_changed)
    scene = Scene(
        "Articles",
        text.strip(),
        saved_experiment(state),
        "Where does this head look? " * 3 + "Where?",
        "At the noun. " * 5 + "Yes.",
    )
    lessons_of(window).lesson.add(scene)
    lessons_of(window).bar.step_scene(1)
    assert lessons_of(window).bar.answer.isVisible()
    lessons_of(window).bar.edit_button.setChecked(is_edited)
    for size in (size for size in SIZES if size != SMALLEST):
        window.resize(*size)
        qtbot.waitUntil(lambda: is_in_sight(window, 1), timeout=3000)
    lessons_of(window).lesson.mark_saved()


@pytest.mark.heavy
def test_a_caption_yields_to_the_rows_and_a_shortened_one_has_its_whole_text_as_a_tip(
    make_window: MakeWindow, qtbot: QtBot
) -> None:
    window = make_window(sentence=sentence_of(20))
    meaning = window.translate_page.head.meaning
    window.resize(*SMALLEST)
    qtbot.waitUntil(lambda: is_in_sight(window, 1))
    qtbot.waitUntil(lambda: meaning.isVisible() and meaning.text().endswith("…"))
    assert meaning.toolTip().startswith(meaning.text()[:-1])
    assert meaning.height() < 2 * meaning.fontMetrics().lineSpacing()
    window.resize(1920, 1080)
    qtbot.waitUntil(lambda: not meaning.toolTip())
    assert meaning.text().startswith(
        "Each row: where the model looks at the German while it predicts that"
    )


FOUR_SIZES = (1100, 700), (1280, 800), (1440, 900), (1920, 1080)


def column_labels(window: MainWindow) -> list[QPolygonF]:
    """The places of the letters of all labels of columns, slanted as they are drawn."""
    heatmap = window.translate_page.head.heatmap
    layout, view = heatmap.layout_now, window.state.maps.view()
    assert layout is not None
    assert view is not None
    metrics, font = QFontMetricsF(layout.font), layout.font.toString()
    places = []
    for index in thinned(len(view.column_labels), layout.column_step, []):
        text = elided(view.column_labels[index], font, layout.column_label_length)
        x = layout.map.left() + (index + 0.5) * layout.cell.x()
        slant = QTransform().translate(x, layout.window.top()).rotate(-math.degrees(layout.angle))
        letters = metrics.tightBoundingRect(text).translated(0, metrics.ascent() * 0.38)
        places.append(slant.map(QPolygonF(letters)))
    return places


@pytest.mark.heavy
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("num_tokens", first_quick([51, 20, 40, 100]))
def test_labels_of_columns_do_not_touch(
    make_window: MakeWindow, qtbot: QtBot, num_tokens: int, is_open: bool
) -> None:
    window = make_window(sentence=sentence_of(num_tokens))
    window.translate_page.arrangement.show_analysis(is_open)
    for size in FOUR_SIZES:
        window.resize(*size)
        settle_layout()
        places = column_labels(window)
        assert len(places) > 5
        touching = [
            index
            for index, (one, next_one) in enumerate(pairwise(places))
            if one.intersects(next_one)
        ]
        assert touching == [], size
