"""Scenes for a page that runs its model: which are live, what each of them says, and whose model
they need."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from augenmerk.core.errors import ExperimentFileError
from augenmerk.core.extensions.lessons.lesson_file import Lesson, Scene, read_lesson_file
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import (
    Beam,
    CausalMaskLifted,
    Experiment,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    Output,
)
from augenmerk.core.translation.experiment_file import (
    ModelReference,
    SavedExperiment,
    experiment_from_json,
)
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.lessons.lesson_documents import shipped_lessons
from augenmerk.viz_app.extensions.lessons.lesson_export import LessonResultsJob, web_page_scenes
from augenmerk.viz_app.extensions.lessons.scene_answers import answer_now
from augenmerk.viz_app.extensions.pictures.page_lesson import (
    PageLesson,
    PageScene,
    check_model,
    lesson_style,
    why_recorded,
)
from augenmerk.viz_app.extensions.pictures.page_parts import part
from augenmerk.viz_app.state.model_info import ModelInfo
from tests.core.translation.random_models import make_translator
from tests.viz_app.extensions.pictures.test_html_page import Parts

OFF = HeadScaled(Head("cross", 1, 4))
SENTENCE = "Ein Mann steht auf einer Leiter."
DIGEST = "a" * 64
GREEDY = Greedy()


def scene(
    output: Output = GREEDY,
    changes: tuple[Any, ...] = (),
    view: Mapping[str, Any] | None = None,
    page: str = "",
) -> Scene:
    saved = SavedExperiment(
        Experiment(SENTENCE, output, changes), ModelReference("mine", DIGEST), view or {}
    )
    return Scene("Title", "Text", saved, page=page)


def computed(lesson: Lesson, translator: Translator) -> list[PageScene]:
    model = ModelInfo(
        "mine", None, translator.run_config, translator.device, 1, digest=translator.digest
    )
    own = ModelReference("mine", translator.digest)
    lesson = replace(
        lesson,
        scenes=tuple(
            replace(scene, saved=replace(scene.saved, model=own)) for scene in lesson.scenes
        ),
    )
    results = LessonResultsJob(lesson.scenes, model, answer_now).run(
        translator, lambda _: None, lambda: False
    )
    return web_page_scenes(lesson, results, model)


@pytest.mark.parametrize(
    ("recorded", "reason"),
    [
        (scene(Beam(4)), "beam search"),
        (scene(GivenTarget("A man.")), "a given translation"),
        (scene(GivenTarget("A man."), (CausalMaskLifted(),)), "a lifted mask"),
        (scene(view={"measure": "rollout"}), "the measure “rollout”"),
        (scene(page="alignment"), "the view “alignment”"),
        (scene(page="chapter heads"), "the view “chapter heads”"),
        (scene(view={"hides_wrapping": True}), "hidden tokens"),
        (scene(view={"hides_punctuation": True}), "hidden tokens"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_scenes_beyond_the_page_are_recorded_for_a_reason(recorded: Scene, reason: str) -> None:
    assert why_recorded(recorded) == reason


@pytest.mark.parametrize(
    "live",
    [
        scene(),
        scene(changes=(OFF,)),
        scene(changes=(OFF,), view={"shown": "difference"}),
        scene(changes=(OFF,), view={"shown": "original"}),
        scene(
            view={
                "measure": "weight",
                "merges_words": True,
                "picture": "lines",
                "scope": "layer",
                "zoom": 12.0,
            }
        ),
    ],
)
def test_scenes_that_the_page_computes_are_live(live: Scene) -> None:
    assert why_recorded(live) == ""


@pytest.mark.heavy
def test_a_scene_says_everything_that_the_page_shows(bundled_translator: Translator) -> None:
    asked = replace(
        scene(
            changes=(OFF,),
            view={
                "head": ("cross", 1, 4),
                "pinned": (2, 3),
                "pointer": ("cell", "ring"),
                "label_mode": "read",
                "shown": "original",
            },
        ),
        question="What?",
        answer="Look again.",
        check="without-head",
    )
    together = scene(view={"scope": "layer", "head": ("cross", 2, 0), "merges_words": False})
    first, second = computed(Lesson("Lesson", (asked, together)), bundled_translator)
    (text,) = Parts(PageLesson("Lesson", [first, second]).html()).scripts
    data = json.loads(text)
    assert data["title"] == "Lesson"
    described = data["scenes"][0]
    assert experiment_from_json(described.pop("experiment")) == asked.saved.experiment
    plain, off = (
        bundled_translator.run(Experiment(SENTENCE, interventions=interventions))
        for interventions in ((), (OFF,))
    )
    is_same = plain.text == off.text
    assert described["choices"][described["right"]] == (
        "The words stay the same" if is_same else "Other words"
    )
    assert described["answer"].endswith(" Look again.")
    assert {
        key: described[key]
        for key in ("title", "text", "question", "reason", "note", "head", "mode", "shown")
    } == {
        "title": "Title",
        "text": "Text",
        "question": "What?",
        "reason": "",
        "note": "",
        "head": ["cross", 1, 4],
        "mode": "read",
        "shown": "original",
    }
    assert (described["pinned"], described["pointer"]) == ([2, 3], ["cell", "ring"])
    assert (first.recorded, second.recorded) == (None, None)
    assert "mean of 8 heads" in data["scenes"][1]["note"]
    assert data["scenes"][1]["choices"] == []
    assert [scene["merges"] for scene in data["scenes"]] == [True, False]


@pytest.mark.heavy
def test_a_recorded_scene_holds_the_maps_that_the_window_shows(
    bundled_translator: Translator,
) -> None:
    lesson = Lesson(
        "x",
        (scene(Beam(4)), scene(view={"measure": "rollout"}), scene(GivenTarget("A dog."), (OFF,))),
    )
    beam, rollout, given = computed(lesson, bundled_translator)
    assert beam.recorded is not None
    assert (
        beam.recorded.translation.text == bundled_translator.run(Experiment(SENTENCE, Beam(4))).text
    )
    assert rollout.recorded is not None
    assert rollout.recorded.measure == "rollout"
    assert given.recorded is not None
    assert given.recorded.translation.is_given
    assert [scene.reason for scene in (beam, rollout, given)] == [
        why_recorded(scene) for scene in lesson.scenes
    ]


@pytest.mark.heavy
def test_words_of_a_lesson_are_never_markup(bundled_translator: Translator) -> None:
    bad = "</script><b>&@DATA@"
    asked = replace(scene(Beam(4)), title=bad, text=bad, question=bad, answer=bad)
    page = PageLesson(bad, computed(Lesson(bad, (asked,)), bundled_translator)).html()
    tags = [tag for tag, _ in Parts(page).tags]
    assert tags.count("script") == 2, "the recorded maps and the lesson"
    assert "b" not in tags
    data = json.loads(Parts(page).scripts[-1])
    assert (data["title"], data["scenes"][0]["text"], data["scenes"][0]["answer"]) == (
        bad,
        bad,
        bad,
    )


def test_the_style_of_recorded_maps_can_stand_within_the_style_of_another_page() -> None:
    rules = re.sub(r"\{[^{}]*\}", "", part("scene.css"))
    assert not re.search(r"@page|(?<![\w.#-])(html|body|:root)\b|\.scene\b", rules)
    assert re.search(r"@page|\bbody\b", re.sub(r"\{[^{}]*\}", "", part("page.css")))
    assert f".scene {{\n{part('scene.css')}}}" in lesson_style()


def test_scenes_of_another_model_are_refused_by_name() -> None:
    lesson = Lesson("Heads", (scene(), scene()))
    check_model(lesson, "mine", DIGEST)
    with pytest.raises(
        ExperimentFileError, match=r"Scene 1 of “Heads”, “Title”, was made with.*“mine”.*“its”"
    ):
        check_model(lesson, "its", "b" * 64)
    with pytest.raises(
        ExperimentFileError, match="would run another model of this name, with other weights"
    ):
        check_model(lesson, "mine", "b" * 64)


def test_a_change_that_a_scene_drops_is_reported_as_on_handouts() -> None:
    translator = make_translator("subwords, pre-norm, all tied")
    lesson = Lesson("Title", (scene(changes=(ForcedToken(0, "nosuchword"),)),))
    (computed_scene,) = computed(lesson, translator)
    assert (
        computed_scene.note
        == "Dropped because it does not fit this model or sentence: step 1: nosuchword."
    )


def test_scenes_of_a_page_are_computed_with_the_weights_that_it_holds() -> None:
    translator = make_translator("subwords, pre-norm, all tied")
    halves = {name: value.half().float() for name, value in translator.checkpoint.weights.items()}
    expected = Translator(replace(translator.checkpoint, weights=halves), translator.device)
    info = ModelInfo("mine", None, translator.run_config, translator.device, 1)
    for rounds, own in ((True, expected), (False, translator)):
        job = LessonResultsJob([scene()], info, rounds=rounds)
        (computed_scene,) = job.run(translator, lambda _: None, lambda: False)
        assert (
            computed_scene.result.changed.log_probabilities
            == own.run(Experiment(SENTENCE)).log_probabilities
        )


@pytest.mark.heavy
@pytest.mark.parametrize("path", shipped_lessons(), ids=[path.stem for path in shipped_lessons()])
def test_every_scene_of_the_shipped_lessons_is_live(
    path: Any, bundled_translator: Translator
) -> None:
    lesson = read_lesson_file(path)
    scenes = computed(lesson, bundled_translator)
    assert [scene.reason for scene in scenes] == [""] * len(lesson.scenes)
    assert [scene.experiment for scene in scenes] == [
        scene.saved.experiment for scene in lesson.scenes
    ]
