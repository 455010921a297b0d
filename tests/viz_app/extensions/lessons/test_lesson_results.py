"""All scenes of a lesson computed for an export: their answers, and what happens if something more
urgent waits."""

from dataclasses import replace

import pytest

from augenmerk.core.errors import ExperimentFileError
from augenmerk.core.extensions.lessons.lesson_file import Lesson, Scene
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment, HeadScaled
from augenmerk.core.translation.experiment_file import ModelReference, SavedExperiment
from augenmerk.core.translation.result import TranslationStoppedError
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.lessons.lesson_export import LessonResultsJob, scene_parts
from augenmerk.viz_app.extensions.lessons.scene_answers import CANNOT, answer_now
from augenmerk.viz_app.state.model_info import ModelInfo

pytestmark = pytest.mark.heavy
HEAD = Head("cross", 1, 4)
SENTENCE = "Ein Mann steht auf einer Leiter."


def model_of(translator: Translator) -> ModelInfo:
    return ModelInfo(
        "bundled", None, translator.run_config, translator.device, 1, digest=translator.digest
    )


def scene(translator: Translator, check: str, answer: str = "", **view: object) -> Scene:
    saved = SavedExperiment(
        Experiment(SENTENCE),
        ModelReference("bundled", translator.digest),
        {"head": ("cross", 1, 4), **view},
    )
    return Scene("Title", "", saved, "What happens?", answer, check)


def test_computed_answers_are_part_of_an_exported_lesson(bundled_translator: Translator) -> None:
    model = model_of(bundled_translator)
    lesson = Lesson(
        "x",
        (
            scene(bundled_translator, "without-head", "Look twice."),
            scene(bundled_translator, "chosen-head", head=("encoder", 0, 0)),
            scene(bundled_translator, "num-tokens"),
        ),
    )
    results = LessonResultsJob(lesson.scenes, model, answer_now).run(
        bundled_translator, lambda _: None, lambda: False
    )
    without, impossible, tokens = (result.answer for result in results)
    plain = bundled_translator.run(Experiment(SENTENCE))
    changed = bundled_translator.run(Experiment(SENTENCE, interventions=(HeadScaled(HEAD),)))
    assert without is not None
    assert without.choices[without.right].startswith("The words stay") == (
        plain.text == changed.text
    )
    assert impossible is not None
    assert (impossible.choices, impossible.text) == ((), CANNOT)
    assert tokens is not None
    num_tokens, num_words = len(plain.source_tokens), len(plain.source_words)
    assert f"{num_tokens} tokens for {num_words} words" in tokens.because
    assert len(tokens.choices) == 3
    first, second, _third = scene_parts(lesson, results, model)
    assert first.answer == f"{without.text} Look twice."
    assert second.answer == CANNOT


def test_an_interrupted_export_starts_over_instead_of_answering_with_a_part(
    bundled_translator: Translator,
) -> None:
    job = LessonResultsJob(
        (scene(bundled_translator, "", measure="rollout"),),
        model_of(bundled_translator),
        answer_now,
    )
    stopped = 0
    for number in range(1, 40):
        calls = iter([False] * number)
        try:
            job.run(bundled_translator, lambda _: None, lambda calls=calls: next(calls, True))
        except TranslationStoppedError:
            stopped += 1
        else:
            break
    assert stopped > 2


def test_a_scene_that_cannot_be_computed_is_named(bundled_translator: Translator) -> None:
    good = scene(bundled_translator, "")
    empty = replace(
        good, title="Nothing here", saved=replace(good.saved, experiment=Experiment(""))
    )
    job = LessonResultsJob((good, empty), model_of(bundled_translator))
    with pytest.raises(ExperimentFileError, match="Scene 2, “Nothing here”, cannot be computed"):
        job.run(bundled_translator, lambda _: None, lambda: False)
