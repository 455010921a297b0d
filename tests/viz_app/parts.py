"""The parts of a window that extensions add, by their classes."""

from PySide6.QtWidgets import QMessageBox, QSlider

from augenmerk.viz_app.extensions.documents.experiment_documents import ExperimentDocuments
from augenmerk.viz_app.extensions.documents.part import DocumentsPart
from augenmerk.viz_app.extensions.examples.menu import ExamplesMenu
from augenmerk.viz_app.extensions.examples.part import ExamplesPart
from augenmerk.viz_app.extensions.imports.part import ImportPart
from augenmerk.viz_app.extensions.learn.page import LearnPage
from augenmerk.viz_app.extensions.learn.part import NAME as LEARN
from augenmerk.viz_app.extensions.learn.part import LearnPart
from augenmerk.viz_app.extensions.lessons.lesson_documents import LessonDocuments
from augenmerk.viz_app.extensions.lessons.part import LessonsPart
from augenmerk.viz_app.extensions.lines.view import LinesView, ThresholdControl
from augenmerk.viz_app.extensions.pictures.menu import ExportMenu
from augenmerk.viz_app.extensions.pictures.part import ExportsPart
from augenmerk.viz_app.extensions.presentation.presentation import (
    Presentation,
    PresentationPart,
    Views,
)
from augenmerk.viz_app.extensions.tour.part import TourPart
from augenmerk.viz_app.extensions.train.page import TrainPage
from augenmerk.viz_app.extensions.train.part import NAME as TRAIN
from augenmerk.viz_app.extensions.train.part import TrainPart
from augenmerk.viz_app.extensions.weights.card import QueryKeyCard
from augenmerk.viz_app.extensions.words.target_menu import TargetMenu
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.pages import TRANSLATE
from augenmerk.viz_app.views.large_map_panel import HeadPanel
from augenmerk.viz_app.views.sentence import SentencePanel
from augenmerk.viz_app.window_part import PartT

__all__ = ["LEARN", "TRAIN", "TRANSLATE"]


def part(window: MainWindow, kind: type[PartT]) -> PartT:
    """The part of this class."""
    part_of_window = window.part(kind)
    assert part_of_window is not None, kind
    return part_of_window


def documents_of(window: MainWindow) -> ExperimentDocuments:
    return part(window, DocumentsPart).documents


def examples_of(window: MainWindow) -> ExamplesMenu:
    return part(window, ExamplesPart).menu


def target_menu_of(panel: SentencePanel) -> TargetMenu:
    (menu,) = panel.findChildren(TargetMenu)
    return menu


def imports_of(window: MainWindow) -> ImportPart:
    return part(window, ImportPart)


def lines_of(panel: HeadPanel) -> LinesView:
    lines = panel.drawings["lines"]
    assert isinstance(lines, LinesView)
    return lines


def threshold_of(panel: HeadPanel) -> QSlider:
    return panel.findChild(ThresholdControl).slider


def weight_card_of(panel: HeadPanel) -> QueryKeyCard:
    card = panel.findChild(QueryKeyCard)
    assert card is not None
    return card


def lessons_of(window: MainWindow) -> LessonDocuments:
    return part(window, LessonsPart).documents


def presentation_of(window: MainWindow) -> Presentation:
    return part(window, PresentationPart).presentation


def present_in(window: MainWindow, name: str = "") -> None:
    part(window, PresentationPart).present(name)


def views_of(window: MainWindow) -> Views:
    return part(window, PresentationPart).views


def exports_of(window: MainWindow) -> ExportMenu:
    return part(window, ExportsPart).menu


def learn_page_of(window: MainWindow) -> LearnPage | None:
    return part(window, LearnPart).widget


def open_chapter_in(window: MainWindow, name: str) -> None:
    part(window, LearnPart).open_chapter(name)


def train_page_of(window: MainWindow) -> TrainPage | None:
    return part(window, TrainPart).widget


def close_in_training(window: MainWindow) -> None:
    """Closes the window and agrees that this pauses the training, if one is running."""
    window.close()
    for box in window.findChildren(QMessageBox):
        if box.isVisible():
            next(button for button in box.buttons() if button.text() == "Pause and close").click()


def offer_tour_in(window: MainWindow) -> None:
    part(window, TourPart).offer()
