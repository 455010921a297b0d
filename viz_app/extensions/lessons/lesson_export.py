"""Pages and worksheets of a lesson: every scene computed with the current model, as in the
window.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from augenmerk.core.counting import display_text
from augenmerk.core.errors import AugenmerkError, ExperimentFileError
from augenmerk.core.extensions.lessons.lesson_file import Lesson, Scene
from augenmerk.core.extensions.provenance import facts_of_experiments
from augenmerk.core.maps.measures import MEASURES, MeasuredMaps
from augenmerk.core.translation.result import ExperimentResult, TranslationStoppedError

from ...heatmap.drawing import large_map
from ...state import map_text
from ...state.experiment_editor import dropped_notice, open_experiment
from ...state.experiment_state import ExperimentState
from ...state.model_info import ModelInfo
from ...worker.jobs import (
    Job,
    JobInterrupted,
    JobScope,
    MeasureJob,
    OpenTranslator,
    ShouldStop,
    Tell,
)
from ..documents.reading import apply_view, heads_missing
from ..pictures.html_page import ScenePart
from ..pictures.legend import marks_note, meaning_of_colors
from ..pictures.page_content import page_content
from ..pictures.page_lesson import PageScene, check_model, why_recorded
from ..pictures.page_parts import changes_in_words
from ..pictures.scene_notes import OutlinedText, notes_on, translation_line
from ..pictures.worksheet import SheetScene
from .lesson import AnswerNow, ComputedAnswer

_SEVERAL = (
    "In the app, this scene shows several heads together: {title}. Here it shows one of them."
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
        rounds: whether weights are rounded as in a page that runs the model.
    """

    scenes: Sequence[Scene]
    model: ModelInfo
    answer: AnswerNow | None = None
    rounds: bool = False
    scope: ClassVar[JobScope] = "model"

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> tuple[SceneResult, ...]:
        """See `viz_app.worker.jobs.Job.run`.

        Raises `ExperimentFileError`, which names the scene.
        """
        translator = _rounded(translator) if self.rounds else translator

        def run(job: Job) -> Any:
            try:
                return job.run(translator, progress, should_stop)
            # its rest is not the rest of this job, which starts over
            except JobInterrupted as interruption:
                raise TranslationStoppedError from interruption

        results = []
        for number, scene in enumerate(self.scenes, start=1):
            try:
                results.append(self._computed(scene, translator, run, should_stop))
            except AugenmerkError as error:
                raise ExperimentFileError(
                    f"Scene {number}, “{scene.title}”, cannot be computed. {display_text(error)} "
                    "Nothing was written."
                ) from error
        return tuple(results)

    def _computed(
        self,
        scene: Scene,
        translator: OpenTranslator,
        run: Callable[[Job], Any],
        should_stop: ShouldStop,
    ) -> SceneResult:
        result = translator.compare(
            scene.saved.experiment, drops_misfits=True, should_stop=should_stop
        )
        translations = (result.changed, result.original) if result.is_changed else (result.changed,)
        measure = str(scene.saved.view.get("measure", "weight"))
        measured = (
            ()
            if measure == "weight"
            else tuple(run(MeasureJob(translation, measure)) for translation in translations)
        )
        scene_result = SceneResult(result, measured)
        if not scene.check or self.answer is None:
            return scene_result
        return replace(
            scene_result,
            answer=self.answer(_state_of(scene, scene_result, self.model), scene.check, run),
        )


def _rounded(translator: OpenTranslator) -> OpenTranslator:
    """The model with the weights that a page holds; the translator itself if they are its own."""
    # loads torch, in the worker's thread
    from augenmerk.core.extensions.page.packing import rounded

    checkpoint = rounded(translator.checkpoint)
    if checkpoint is translator.checkpoint:
        return translator
    return type(translator)(checkpoint, translator.device, translator.path)


def origin_of(results: Sequence[SceneResult], model: ModelInfo) -> dict[str, Any]:
    """What a file of the scenes says about its origin."""
    experiments = [computed.result.experiment for computed in results]
    return facts_of_experiments(model.title, model.digest, experiments)


def scene_parts(
    lesson: Lesson,
    results: Sequence[SceneResult],
    model: ModelInfo,
    views: Mapping[str, str] | None = None,
) -> list[ScenePart]:
    """The scenes of the page, each with the view that was saved with it; `views`: titles of the
    app's other parts.
    """
    return [
        _part(scene, result, model, views or {})
        for scene, result in zip(lesson.scenes, results, strict=True)
    ]


def sheet_scenes(
    lesson: Lesson,
    results: Sequence[SceneResult],
    model: ModelInfo,
    views: Mapping[str, str] | None = None,
) -> list[SheetScene]:
    """The scenes of a printed sheet, each with its map as the window would show it; `views` as in
    `scene_parts`.
    """
    pairs = zip(lesson.scenes, results, strict=True)
    return [_sheet_scene(scene, result, model, views or {}) for scene, result in pairs]


def _sheet_scene(
    scene: Scene, computed: SceneResult, model: ModelInfo, views: Mapping[str, str]
) -> SheetScene:
    state = _state_of(scene, computed, model)
    kind = state.selection.head.kind
    pointer = state.selection.pointer
    measure = MEASURES[state.maps.shown_measure(kind)]
    is_difference = state.maps.is_signed(kind)
    is_share = measure.rows_sum_to_one and not is_difference
    if not is_share:
        state.settings.scale = "own"  # there is no other map on paper
    colors = meaning_of_colors(state.maps.shown_measure(kind), is_signed=is_difference)
    drawing = large_map(state)
    marks = marks_note(drawing.marks) if drawing is not None else ""
    title = " · ".join(map_text.titles(state))
    caption = f". {' '.join(filter(None, (map_text.meaning_of_query(state), colors, marks)))}"
    is_outlined = pointer is not None and pointer.target == "head"
    changes = "; ".join(changes_in_words(computed.result.experiment, computed.result.original))
    notes = (f"Changed: {changes}" if changes else "", *_notes(scene, state, model, views))
    return SheetScene(
        scene.title,
        scene.saved.experiment.source_text,
        scene.text,
        scene.question,
        _answer(scene, computed),
        (translation_line(state), *(OutlinedText(note) for note in notes if note)),
        drawing,
        OutlinedText("", title, caption) if is_outlined else OutlinedText(title + caption),
        is_share,
        measure.name,
    )


def _notes(
    scene: Scene, state: ExperimentState, model: ModelInfo, views: Mapping[str, str]
) -> tuple[str, ...]:
    view, made_with = scene.saved.view, scene.saved.model
    other = (
        f"The scene was made with the model “{made_with.name}”; the maps are those of "
        f"“{model.title}”."
    )
    notes = (
        *notes_on(state, views.get(scene.page, scene.page)),
        other if made_with.digest != model.digest else "",
        heads_missing(view, model.run.model),
    )
    return tuple(filter(None, notes))


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


def web_page_scenes(
    lesson: Lesson, results: Sequence[SceneResult], model: ModelInfo
) -> list[PageScene]:
    """The scenes of a page that runs the model.

    Raises:
        ExperimentFileError: a scene was made with another model.
    """
    check_model(lesson, model.title, model.digest)
    return [
        _web_page_scene(scene, result, model)
        for scene, result in zip(lesson.scenes, results, strict=True)
    ]


def _web_page_scene(scene: Scene, computed: SceneResult, model: ModelInfo) -> PageScene:
    state = _state_of(scene, computed, model)
    reason = why_recorded(scene)
    answer = computed.answer
    several = _SEVERAL.format(title=map_text.title(state)) if state.settings.scope != "head" else ""
    note = " ".join(
        filter(None, (several, dropped_notice(computed.result.dropped, is_of_former=False)))
    )
    return PageScene(
        scene.title,
        scene.text,
        scene.question,
        computed.result.experiment,
        state.selection.head,
        state.settings.label_mode,
        state.settings.merges_words,
        state.settings.shown,
        state.selection.pinned,
        state.selection.pointer,
        _answer(scene, computed),
        answer.choices if answer is not None else (),
        answer.right if answer is not None else 0,
        _part(scene, computed, model, {}).content if reason else None,
        reason,
        "" if reason else note,  # recorded maps have such notes themselves
    )


def _part(
    scene: Scene, computed: SceneResult, model: ModelInfo, views: Mapping[str, str]
) -> ScenePart:
    state = _state_of(scene, computed, model)
    content = page_content(state, model.title)
    assert content is not None
    several = (
        (_SEVERAL.format(title=map_text.title(state)),) if state.settings.scope != "head" else ()
    )
    notes = (*_notes(scene, state, model, views), *several)
    content = replace(
        content, notes=notes, pinned=state.selection.pinned, pointer=state.selection.pointer
    )
    return ScenePart(scene.title, scene.text, content, scene.question, _answer(scene, computed))


def _answer(scene: Scene, computed: SceneResult) -> str:
    """The computed answer before the typed one, as in the window."""
    return " ".join(
        filter(None, (computed.answer.text if computed.answer is not None else "", scene.answer))
    )
