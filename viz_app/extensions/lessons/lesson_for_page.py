"""A lesson file for a page that runs a model, computed without the window."""

from pathlib import Path

from augenmerk.core.translation.translator import Translator

from ...state.experiment_state import ExperimentState
from ...worker.jobs import describe
from ..documents.reading import read_lesson
from ..pictures.page_lesson import PageLesson, check_model
from .lesson_export import LessonResultsJob, web_page_scenes
from .scene_answers import answer_now


def lesson_for_page(path: Path, checkpoint: Path, rounds: bool) -> PageLesson:
    """The lesson of a file with the results of a model, or of the model with rounded weights.

    Raises:
        AugenmerkError: the lesson cannot be read, a scene was made with another model, or cannot be
            computed.
    """
    lesson = read_lesson(ExperimentState(), path)
    translator = Translator.load(checkpoint, "cpu")
    model = describe(translator)
    check_model(lesson, model.title, model.digest)
    job = LessonResultsJob(lesson.scenes, model, answer_now, rounds)
    return PageLesson(
        lesson.title,
        web_page_scenes(lesson, job.run(translator, lambda _: None, lambda: False), model),
    )
