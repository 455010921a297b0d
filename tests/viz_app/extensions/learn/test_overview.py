"""The drawing of the model comes first: its boxes lead to chapters, and each chapter marks its
parts."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from augenmerk.core.extensions.info.size import MODULES, Module
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.learn.chapter import (
    ChapterError,
    chapters_folder,
    read_chapter,
    read_chapters,
)
from augenmerk.viz_app.extensions.learn.figures.one_page import OnePageFigure
from augenmerk.viz_app.extensions.learn.figures.stack import StackDrawing, StackPicture
from augenmerk.viz_app.extensions.learn.page import LearnPage
from augenmerk.viz_app.theme import Theme, current_theme
from augenmerk.viz_app.worker.inference import InferenceWorker
from tests.viz_app.builders import shown

pytestmark = pytest.mark.heavy  # each test makes a window with a model

TIMEOUT_MS = 20_000
LARGE_PAGE, SMALL_PAGE = (1874, 1010), (1064, 640)
"""What a window of 1920 × 1080 and one of 1100 × 700 leave the page."""


@pytest.fixture
def page(qtbot: QtBot, theme: Theme, bundled_translator: Translator) -> Iterator[LearnPage]:
    page = LearnPage(InferenceWorker(lambda path, device: bundled_translator))
    shown(qtbot, page, LARGE_PAGE)
    qtbot.waitUntil(lambda: page.view is not None, timeout=TIMEOUT_MS)
    qtbot.waitUntil(lambda: not page.state.request.is_running, timeout=TIMEOUT_MS)
    yield page
    page.shutdown()


def place_in(stack: StackDrawing, module: Module) -> QPoint:
    """The middle of the first box of this module."""
    return next(
        picture_of(stack).place_of(side, index).center().toPoint()
        for side, boxes in stack.boxes.items()
        for index, box in enumerate(boxes)
        if box.module == module
    )


def picture_of(stack: StackDrawing) -> StackPicture:
    assert stack.picture is not None
    return stack.picture


def figure_of(page: LearnPage) -> OnePageFigure:
    assert page.view is not None
    (figure,) = page.view.figures
    assert isinstance(figure, OnePageFigure)
    return figure


def test_the_first_chapter_draws_the_model_and_a_box_leads_to_its_chapter(
    qtbot: QtBot, page: LearnPage
) -> None:
    assert page.chapters[page.place].name == "overview"
    figure = figure_of(page)
    assert not figure.chapter_button.isEnabled()
    qtbot.mouseClick(
        figure.stack, Qt.MouseButton.LeftButton, pos=place_in(figure.stack, "encoder feed-forward")
    )
    assert "ReLU" in figure.says.text()
    qtbot.mouseClick(figure.chapter_button, Qt.MouseButton.LeftButton)
    assert page.chapters[page.place].name == "feed-forward"


@pytest.mark.slow
def test_each_chapter_marks_its_parts_in_the_small_drawing(page: LearnPage) -> None:
    marked = {}
    for index, chapter in enumerate(page.chapters):
        page.open_chapter(index)
        marked[chapter.name] = page.list.diagram.marked
    assert marked["weight"] == {"cross-attention"}
    assert marked["mask"] == {"decoder self-attention"}
    assert marked["decoding"] == {"output"}
    assert marked["training"] == set(MODULES)
    assert all(parts or name == "overview" for name, parts in marked.items())


def test_a_marked_box_is_filled(page: LearnPage) -> None:
    page.open_named("weight")
    diagram = page.list.diagram
    picture = diagram.grab().toImage()
    colors = {
        module: picture.pixelColor(place_in(diagram, module) - QPoint(0, 6)) for module in MODULES
    }
    accent = current_theme().color("accent")
    assert [module for module, color in colors.items() if color == accent] == ["cross-attention"]


def test_a_click_in_the_small_drawing_opens_the_chapter_of_the_part(
    qtbot: QtBot, page: LearnPage
) -> None:
    diagram = page.list.diagram
    for module, name in (
        ("source positions", "positions"),
        ("cross-attention", "weight"),
        ("output", "decoding"),
    ):
        qtbot.mouseClick(diagram, Qt.MouseButton.LeftButton, pos=place_in(diagram, module))  # type: ignore[arg-type]
        assert page.chapters[page.place].name == name
    assert {part for chapter in page.chapters for part in chapter.parts} == set(MODULES), (
        "every box leads somewhere"
    )


def test_the_drawing_uses_the_height_of_a_large_page_and_fits_a_small_one(
    qtbot: QtBot, page: LearnPage
) -> None:
    figure = figure_of(page)

    def box_height() -> float:
        return picture_of(figure.stack).place_of("decoder", 0).height()

    qtbot.waitUntil(lambda: figure.stack.height() > 600, timeout=TIMEOUT_MS)
    large = box_height()
    page.resize(*SMALL_PAGE)
    qtbot.waitUntil(lambda: figure.stack.height() < 500, timeout=TIMEOUT_MS)
    assert large > 1.8 * box_height()
    stack = figure.stack
    places = [
        picture_of(stack).place_of(side, index)
        for side, boxes in stack.boxes.items()
        for index in range(len(boxes))
    ]
    assert all(stack.rect().toRectF().contains(box) for box in places)
    assert page.height() == SMALL_PAGE[1]
    assert figure.visibleRegion().boundingRect().height() == figure.height(), (
        "nothing of it is scrolled away"
    )


def test_the_question_counts_runs_of_the_decoder(qtbot: QtBot, page: LearnPage) -> None:
    assert page.view is not None
    (prediction,) = page.view.text.predictions
    prediction.choices["both"].click()
    prediction.look.click()
    translation = page.state.translation
    assert translation is not None
    assert prediction.verdict.text().startswith("No: only the decoder more than once.")
    assert f"The decoder runs {len(translation.predicted_ids)} times" in prediction.verdict.text()


def test_texts_refer_to_chapters_by_titles_that_exist() -> None:
    chapters = read_chapters()
    titles = {chapter.title for chapter in chapters}
    texts = "\n".join(
        path.read_text(encoding="utf-8") for path in sorted(chapters_folder().glob("*.md"))
    )
    references = re.findall(r"chapter\s+\*([^*]+)\*", texts)
    assert references
    assert {" ".join(title.split()) for title in references} <= titles
    assert not re.search(r"chapter\s+\d", texts), "numbers change"


def test_an_unknown_part_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    path = tmp_path / "01-here.md"
    path.write_text('# Here\n> Now.\n\n::: parts "cross attention"\n', encoding="utf-8")
    with pytest.raises(ChapterError, match=r"there is a part 'cross attention'.*cross-attention"):
        read_chapter(path)
