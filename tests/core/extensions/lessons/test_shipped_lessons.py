"""The answers of the shipped lessons are what the bundled model does; `tools.claims` checks their
texts.
"""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.extensions.lessons.lesson_file import Lesson, Scene, read_lesson_file
from augenmerk.core.model.heads import Head, heads_of
from augenmerk.core.resources import resource_path
from augenmerk.core.translation.experiment import HeadScaled
from augenmerk.core.translation.result import ExperimentResult
from augenmerk.core.translation.translator import Translator
from tools.make_lessons import COOK, DOGS, LESSONS, MARKET, off, scene_of

PATHS = sorted(resource_path("lessons").glob("*.augenmerk"))
MAX_SENTENCE_WORDS = 25


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(device="cpu")


@pytest.fixture(scope="module")
def results(translator: Translator) -> dict[tuple[str, int], ExperimentResult]:
    return {
        (path.stem, index): translator.compare(scene.saved.experiment)
        for path in PATHS
        for index, scene in enumerate(read_lesson_file(path).scenes)
    }


def scenes() -> list[tuple[str, int, Scene]]:
    return [
        (path.stem, index, scene)
        for path in PATHS
        for index, scene in enumerate(read_lesson_file(path).scenes)
    ]


def quoted(text: str) -> list[str]:
    return re.findall("“(.*?)”", text)


def weights_of(scene: Scene, result: ExperimentResult) -> np.ndarray:
    kind, layer, head = scene.saved.view["head"]  # type: ignore[misc]
    at = Head(kind, layer, head)  # type: ignore[arg-type]
    return result.changed.maps.of_kind(at.kind)[at.layer, at.head]


@pytest.mark.heavy
def test_four_lessons_ship_as_they_were_written(translator: Translator) -> None:
    assert [path.stem for path in PATHS] == list(LESSONS)
    for path, (title, drafts) in zip(PATHS, LESSONS.values(), strict=True):
        lesson = read_lesson_file(path)
        assert lesson.title == title
        for scene, draft in zip(lesson.scenes, drafts, strict=True):
            assert scene.saved.model.digest == translator.digest, "run python -m tools.make_lessons"
            expected = scene_of(draft, translator, scene.saved.model)
            assert replace(scene, saved=expected.saved) == expected
    assert [len(read_lesson_file(path).scenes) for path in PATHS] == [5, 6, 6, 5]


@pytest.mark.parametrize("path", PATHS, ids=[path.stem for path in PATHS])
def test_texts_are_short(path: Path) -> None:
    lesson: Lesson = read_lesson_file(path)
    for scene in lesson.scenes:
        assert scene.question.endswith((".", "?"))
        for sentence in re.split(r"(?<=[.?:])[”]? ", scene.text):
            assert len(sentence.split()) <= MAX_SENTENCE_WORDS, sentence


def test_pinned_tokens_are_named(results: dict[tuple[str, int], ExperimentResult]) -> None:
    for name, index, scene in scenes():
        if (pinned := scene.saved.view.get("pinned")) is None:
            continue
        query, key = pinned  # type: ignore[misc]
        changed, kind = results[name, index].changed, scene.saved.view["head"][0]  # type: ignore[index]
        queries = changed.source_tokens if kind == "encoder" else changed.predicted_tokens
        keys = changed.read_tokens if kind == "decoder" else changed.source_tokens
        assert keys[key] in quoted(scene.text), scene.title
        assert queries[query] in quoted(scene.text) or queries[query] == ".", scene.title


Results = dict[tuple[str, int], ExperimentResult]


def answered(results: Results, title: str) -> tuple[ExperimentResult, np.ndarray, list[str]]:
    """Of a scene: its result, the map of its head, and what its answer quotes."""
    name, index, scene = scene_named(title)
    result = results[name, index]
    return result, weights_of(scene, result), quoted(scene.answer)


def percentages(title: str) -> list[int]:
    return [int(number) for number in re.findall(r"(\d+)%", scene_named(title)[2].answer)]


def test_every_scene_has_an_answer() -> None:
    assert all(scene.answer.endswith((".", "”")) for _, _, scene in scenes())


def test_answers_about_the_first_lesson_hold(translator: Translator, results: Results) -> None:
    result, weights, words = answered(results, "One cell")
    row = result.changed.predicted_tokens.index("ladder")
    assert words == [result.changed.source_tokens[weights[row].argmax()]]
    result, weights, _ = answered(results, "One row")
    largest = result.changed.maps.cross[:, :, row].max(axis=-1)
    spread = [f"{layer + 1}·{head + 1}" for layer, head in np.argwhere(largest <= 0.4)]
    assert spread == ["1·6", "3·4", "3·7"], "the first is the scene's own head"
    assert all(percentage in scene_named("One row")[2].answer for percentage in spread[1:])
    result, weights, _ = answered(results, "Looking back")
    assert not np.triu(weights, k=1).any()
    result, _, _ = answered(results, "Without cross-attention")
    for sentence in (DOGS, MARKET, COOK):
        other = translator.run(replace(result.changed.experiment, source_text=sentence))
        assert other.text == result.changed.text, sentence


def test_answers_about_word_order_hold(results: Results) -> None:
    result, weights, words = answered(results, "The same order")
    columns = weights.argmax(axis=-1)
    rows = [row for row in range(1, len(columns)) if columns[row] <= columns[row - 1]]
    assert list(dict.fromkeys(words))[:2] == [result.changed.predicted_tokens[row] for row in rows]
    assert [result.changed.source_tokens[columns[row]] for row in rows] == ["schnee", "."]
    assert [columns[row] - columns[row - 1] for row in rows] == [0, -1]

    result, weights, words = answered(results, "The verb before its subject")
    source, target = result.changed.source_tokens, result.changed.predicted_tokens
    assert tuple(words[:3]) == target[: target.index("selling")]
    assert all(source.index(word) > source.index(words[-1]) for word in words[3:6])
    assert source[weights[target.index("selling")].argmax()] == words[-1] == "verkauft"
    _, _, words = answered(results, "The place moves to the end")
    assert sorted(words) == sorted(target[: target.index(".")]), "each English word once"

    result, weights, words = answered(results, "The object moves forward")
    source, row = result.changed.source_tokens, result.changed.predicted_tokens.index("vegetables")
    diagonal = row + 1  # after the start token
    assert source[diagonal] == words[-1]
    assert list(source[diagonal + 1 : weights[row].argmax()]) == words[:2]

    result, _, words = answered(results, "The verb at the end of a clause")
    row, column = (
        result.changed.predicted_tokens.index("wearing"),
        result.changed.source_tokens.index("trägt"),
    )
    heads = np.argwhere(result.changed.maps.cross[:, :, row].argmax(axis=-1) == column)
    names = [f"{layer + 1}·{head + 1}" for layer, head in heads]
    answer = scene_named("The verb at the end of a clause")[2].answer
    assert re.findall(r"\d·\d", answer) == [name for name in names if name != "2·8"] != names

    result, weights, words = answered(results, "One verb in two places")
    row = weights[result.changed.predicted_tokens.index("holding")]
    shares = [round(100 * row[result.changed.source_tokens.index(word)]) for word in words]
    assert shares == percentages("One verb in two places")
    assert row.argmax() == result.changed.source_tokens.index(words[0])


def test_answers_about_different_heads_hold(translator: Translator, results: Results) -> None:
    result, weights, words = answered(results, "The token before")
    source, columns = result.changed.source_tokens, weights.argmax(axis=-1)
    others = [row for row in range(1, len(source)) if columns[row] != row - 1]
    assert [source[row] for row in others] == [*words[:2], words[3]] == ["mann", "in", "<eos>"]
    assert [source[columns[row]] for row in others] == [words[2], words[2], words[4]]
    assert columns[others[2]] == others[2] - 2

    result, weights, words = answered(results, "The noun ahead")
    for token, seen, share in zip(
        words[::2], words[1::2], percentages("The noun ahead"), strict=True
    ):
        row = weights[source.index(token)]
        assert (source[row.argmax()], round(100 * row.max())) == (seen, share)

    result, weights, words = answered(results, "The word that is translated")
    target = result.changed.predicted_tokens
    columns = weights.argmax(axis=-1)
    shared = [
        row
        for row in range(len(target))
        if (columns == columns[row]).sum() > 1 and source[columns[row]] != "<eos>"
    ]
    assert [source[columns[target.index(".")]], *(target[row] for row in shared)] == words[:3]
    assert {source[columns[row]] for row in shared} == {words[3]}

    result, weights, words = answered(results, "Nothing to look at")
    row = weights[target.index(words[0])]
    assert [round(100 * row[source.index(words[1])])] == percentages("Nothing to look at")

    result, _, _ = answered(results, "Eight heads fewer")
    experiment = result.changed.experiment
    for layers in ((0, 1), (0, 2), (1, 2)):
        off_layers = replace(experiment, interventions=off("cross", *layers))
        assert translator.run(off_layers).text == result.original.text, layers
    assert (
        "ladder"
        not in translator.run(replace(experiment, interventions=off("cross", 0, 1, 2))).text
    )


def test_answers_about_explanation_hold(translator: Translator, results: Results) -> None:
    result, _, words = answered(results, "Without the head")
    before, after = (
        np.exp(translation.log_probabilities) for translation in (result.original, result.changed)
    )
    step = int(np.abs(after - before).argmax())
    assert result.changed.predicted_tokens[step] == words[0]
    assert [round(100 * before[step]), round(100 * after[step])] == percentages("Without the head")

    result, _, _ = answered(results, "A head that matters")
    source = result.original.source_tokens
    row, column = source.index("·ger"), source.index("·äum")
    looking = [
        head for head in range(8) if result.original.maps.encoder[0, head, row].argmax() == column
    ]
    assert looking == [0, 1, 2, 3, 4, 5, 7], "all but the seventh"
    for head in looking:
        changed = replace(
            result.original.experiment, interventions=(HeadScaled(Head("encoder", 0, head)),)
        )
        assert (translator.run(changed).text == result.original.text) == (head != 3)

    result, _, words = answered(results, "Look, change, compare")
    for kind, text in (("cross", words[0]), ("encoder", result.original.text)):
        changed = replace(result.changed.experiment, interventions=off(kind, 0, 1, 2))
        assert translator.run(changed).text == text


def scene_named(title: str) -> tuple[str, int, Scene]:
    return next(scene for scene in scenes() if scene[2].title == title)


def test_scenes_about_interventions_say_what_they_do(
    translator: Translator, results: dict[tuple[str, int], ExperimentResult]
) -> None:
    def texts(title: str) -> tuple[str, str]:
        name, index, _ = scene_named(title)
        result = results[name, index]
        return result.original.text, result.changed.text

    for title in ("Eight heads fewer", "Without the head", "Without the word"):
        before, after = texts(title)
        assert before == after == quoted(scene_named(title)[2].text)[-1], title
    before, after = texts("A head that matters")
    assert before.replace("a messy", "an unfined") == after != before
    before, after = texts("Look, change, compare")
    assert before == after
    assert "standing on a ladder" in before
    _, _, scene = scene_named("Look, change, compare")
    decoder = {head for head in heads_of(translator.model.config) if head.kind == "decoder"}
    assert scene.saved.experiment.heads_off == decoder
    assert f"All {len(decoder)} heads of decoder self-attention are off, and" in scene.text
    before, after = texts("Without cross-attention")
    assert not {"standing", "ladder"} & set(after.split())
    assert after.startswith(quoted(scene_named("Without cross-attention")[2].question)[0])
    assert texts("A large weight")[0] == "A man is wearing a shirt."


def test_the_other_claims_hold(results: dict[tuple[str, int], ExperimentResult]) -> None:
    name, index, scene = scene_named("The same order")
    weights = weights_of(scene, results[name, index])
    best = [int(weights[row].argmax()) for row in range(4)]
    assert all(after > before for before, after in pairwise(best)), (
        "the largest weight moves to the right"
    )

    name, index, scene = scene_named("The token before")
    weights = weights_of(scene, results[name, index])
    assert (
        sum(int(weights[row].argmax()) == row - 1 for row in range(1, len(weights)))
        > len(weights) / 2
    )

    name, index, scene = scene_named("Another place for the same word")
    changed = results[name, index].changed
    row = changed.predicted_tokens.index("in")
    assert changed.source_tokens[changed.maps.cross[1, 7, row].argmax()] == "in"

    name, index, scene = scene_named("Looking back")
    assert np.triu(weights_of(scene, results[name, index]), 1).max() == 0, "later tokens are masked"

    name, index, scene = scene_named("The object moves forward")
    changed = results[name, index].changed
    assert changed.target_words[4].text.lower() == "vegetables"
    assert [word.text.lower() for word in changed.source_words if word.text.isalpha()][
        -1
    ] == "gemüse"
