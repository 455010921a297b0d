"""Pages and worksheets of a lesson: every scene computed with the current model, as in the window."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from augenmerk.core.analysis.measures import MEASURES, MeasuredMaps
from augenmerk.core.translation.experiment_file import Lesson, Scene
from augenmerk.core.translation.result import ExperimentResult, TranslationStoppedError
from augenmerk.viz_app.documents.lesson import AnswerNow, ComputedAnswer
from augenmerk.viz_app.documents.reading import apply_view
from augenmerk.viz_app.export.html_page import ScenePart
from augenmerk.viz_app.export.page_lesson import PageScene, check_model, why_recorded
from augenmerk.viz_app.export.page_parts import changes_in_words
from augenmerk.viz_app.export.saving import SHOWN_NAMES, page_content
from augenmerk.viz_app.export.worksheet import SheetScene
from augenmerk.viz_app.heatmap.drawing import large_map
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.state.experiment_editor import open_experiment
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view import Pointed
from augenmerk.viz_app.state.marks import marks_of_large_map
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.worker.inference import (
    Job,
    JobInterrupted,
    JobScope,
    MeasureJob,
    OpenTranslator,
    ShouldStop,
    Tell,
)


@dataclass(frozen=True, eq=False)
class SceneResult:
    """A scene computed.

    Attributes:
        result: of its experiment, without parts that do not fit the model.
        measured: the maps in other measures, if the scene shows one.
        answer: computed; None if the scene has no such question.
    """

    result: ExperimentResult
    measured: tuple[MeasuredMaps, ...] = ()
    answer: ComputedAnswer | None = None


@dataclass(frozen=True, eq=False)
class LessonResultsJob(Job):
    """Computes all scenes of a lesson.

    Attributes:
        scenes: of the lesson.
        model: the current one.
        answer: computes the answer to a question; None: questions stay unanswered.
    """

    scenes: Sequence[Scene]
    model: ModelInfo
    answer: AnswerNow | None = None
    scope: ClassVar[JobScope] = "model"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> tuple[SceneResult, ...]:
        """See `viz_app.worker.inference.Job.run`."""

        def run(job: Job) -> Any:
            try:
                return job.run(translator, progress, should_stop)
            except JobInterrupted as interruption:  # its rest is not the rest of this job, which starts over
                raise TranslationStoppedError from interruption

        return tuple(self._computed(scene, translator, run, should_stop) for scene in self.scenes)

    def _computed(
        self, scene: Scene, translator: OpenTranslator, run: Callable[[Job], Any], should_stop: ShouldStop
    ) -> SceneResult:
        result = translator.compare(scene.saved.experiment, drops_misfits=True, should_stop=should_stop)
        translations = (result.changed, result.original) if result.is_changed else (result.changed,)
        is_measured = scene.saved.view.get("measure", "weight") != "weight"
        found = SceneResult(result, tuple(run(MeasureJob(each)) for each in translations) if is_measured else ())
        if not scene.check or self.answer is None:
            return found
        return replace(found, answer=self.answer(_state_of(scene, found, self.model), scene.check, run))


def scene_parts(lesson: Lesson, results: Sequence[SceneResult], model: ModelInfo) -> list[ScenePart]:
    """The scenes of the page, each with the view that was saved with it."""
    return [_part(scene, result, model) for scene, result in zip(lesson.scenes, results, strict=True)]


def sheet_scenes(lesson: Lesson, results: Sequence[SceneResult], model: ModelInfo) -> list[SheetScene]:
    """The scenes of a printed sheet, each with its map as the window would show it."""
    return [_sheet_scene(scene, result, model) for scene, result in zip(lesson.scenes, results, strict=True)]


def _sheet_scene(scene: Scene, computed: SceneResult, model: ModelInfo) -> SheetScene:
    state = _state_of(scene, computed, model)
    drawing, result, shown = large_map(state), computed.result, state.maps.translation or computed.result.changed
    measure = MEASURES[state.maps.shown_measure(state.selection.head.kind)]
    is_other = scene.saved.model.digest != model.digest
    meaning = map_text.meaning_of_query(state)
    difference = f" Colours: {SHOWN_NAMES['difference']}." if drawing is not None and drawing.is_signed else ""
    return SheetScene(
        scene.title,
        scene.saved.experiment.source_text,
        scene.text,
        scene.question,
        _answer(scene, computed),
        shown.text,
        shown.is_given,
        result.original.text if result.is_changed and shown is not result.original else "",
        changes_in_words(result.experiment, result.original),
        f"It comes from another model than that of the scene: {model.title}" if is_other else "",
        drawing,
        f"{meaning}{difference or f' Colours: {measure.name}.'}",
        measure.rows_sum_to_one,
        measure.name,
    )


def _state_of(scene: Scene, computed: SceneResult, model: ModelInfo) -> ExperimentState:
    """The state of a window showing the scene."""
    state = ExperimentState()
    state.begin_model(model)
    state.submit(open_experiment(scene.saved.experiment, forgets_history=True), asks=False)
    apply_view(state, scene.saved.view)
    state.accept(computed.result)
    for measured in computed.measured:
        state.measuring.take(measured)
    return state


def page_scenes(lesson: Lesson, results: Sequence[SceneResult], model: ModelInfo) -> list[PageScene]:
    """The scenes of a page that runs the model.

    Raises:
        ExperimentFileError: a scene was made with another model.
    """
    check_model(lesson, model.title, model.digest)
    return [_page_scene(scene, result, model) for scene, result in zip(lesson.scenes, results, strict=True)]


def _page_scene(scene: Scene, computed: SceneResult, model: ModelInfo) -> PageScene:
    state, reason, note = _state_of(scene, computed, model), why_recorded(scene), ""
    if state.settings.scope != "head":
        note = (
            f"In the app, this scene shows several heads together: {map_text.title(state)}. Here it shows one of them."
        )
    answer = computed.answer
    return PageScene(
        scene.title,
        scene.text,
        scene.question,
        computed.result.experiment,
        state.selection.head,
        state.settings.label_mode,
        state.selection.pinned,
        state.selection.pointer,
        _answer(scene, computed),
        answer.choices if answer is not None else (),
        answer.right if answer is not None else 0,
        _part(scene, computed, model).content if reason else None,
        reason,
        note,
    )


def _part(scene: Scene, computed: SceneResult, model: ModelInfo) -> ScenePart:
    state = _state_of(scene, computed, model)
    content = page_content(state, model.title)
    assert content is not None
    view, pinned = state.maps.view(), state.selection.pinned
    place = view.place_of(pinned) if view is not None and pinned is not None else None
    pointed, pointer = marks_of_large_map(state, view).pointed if view is not None else None, state.selection.pointer
    if pointer is not None and pointer.target == "head":
        pointed = Pointed(pointer.style)
    facts = dict(content.facts)
    if scene.saved.model.digest != model.digest:
        facts["the scene was made with the model"] = scene.saved.model.name
    content = replace(content, facts=facts, pinned=place, pointed=pointed)
    return ScenePart(scene.title, scene.text, content, scene.question, _answer(scene, computed))


def _answer(scene: Scene, computed: SceneResult) -> str:
    """The computed answer before the typed one, as in the window."""
    return " ".join(filter(None, (computed.answer.text if computed.answer is not None else "", scene.answer)))
