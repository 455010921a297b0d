"""A worksheet has the sentences and the questions of a lesson, space to write, and nothing that answers."""

from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.errors import StorageError
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment, GivenTarget, HeadScaled
from augenmerk.core.translation.experiment_file import Lesson, ModelReference, SavedExperiment, Scene, read_lesson_file
from augenmerk.viz_app.documents.lesson_documents import shipped_lessons
from augenmerk.viz_app.export.worksheet import (
    NO_QUESTION,
    NUM_LINES,
    SceneMap,
    save_worksheet,
    worksheet_html,
    worksheet_markdown,
)
from augenmerk.viz_app.heatmap.drawing import PAPER, Drawing

MODEL = ModelReference("one", "a" * 64)
OFF = HeadScaled(Head("cross", 1, 4))
LESSON = Lesson(
    "Order & <b>sense</b> *",
    (
        Scene(
            "First",
            "The answer is blue.",
            SavedExperiment(
                Experiment("Ein <script> & *Hund*.", interventions=(OFF,)), MODEL, {"head": ("cross", 1, 4)}
            ),
            "Which word is <it>?",
        ),
        Scene("Second", "Secret.", SavedExperiment(Experiment("Zwei Hunde.", GivenTarget("Two dogs.")), MODEL)),
    ),
)


class Text(HTMLParser):
    """The text of a page, its tags, and how many lines to write on it has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self.tags, self.num_lines = "", set(), 0
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.tags.add(tag)
        self.num_lines += ("class", "line") in attributes

    def handle_data(self, text: str) -> None:
        self.text += text


def scene_map(values: Sequence[Sequence[float]] = ((0.25, 0.75), (0.999, 0.001)), **facts: object) -> SceneMap:
    weights = np.array(values, dtype=np.float32)
    drawing = Drawing(weights, ("<b>a</b>", "dog"), ("ein", "Hund|"), title="Cross 2·5")
    return SceneMap(drawing, "norm", "Each row: where.", "A dog.", **facts)


NO_MAPS = (None, None)


def test_the_page_has_questions_and_no_answers() -> None:
    page = Text(worksheet_html(LESSON, NO_MAPS))
    for part in (
        "Order & <b>sense</b> *",
        "1. First",
        "Ein <script> & *Hund*.",
        "Which word is <it>?",
        "Head: cross, layer 2, head 5",
        "Changed: cross 2·5 off",
        "2. Second",
        "Zwei Hunde.",
        "Given translation: Two dogs.",
        NO_QUESTION,
    ):
        assert part in page.text
    assert "blue" not in page.text
    assert "Secret" not in page.text
    assert page.num_lines == 2 * NUM_LINES
    assert not {"script", "b", "img", "link"} & page.tags


def test_markdown_has_the_same_and_takes_no_text_for_a_sign() -> None:
    text = worksheet_markdown(LESSON, NO_MAPS)
    assert text.startswith("# Order \\& \\<b\\>sense\\</b\\> \\*\n")
    assert "> Ein \\<script\\> \\& \\*Hund\\*.\n" in text
    assert "Which word is \\<it\\>?" in text
    assert "blue" not in text
    assert text.count("\\_" * 40) == 2 * NUM_LINES


@pytest.mark.parametrize("path", shipped_lessons(), ids=[path.stem for path in shipped_lessons()])
def test_shipped_lessons_make_worksheets_without_their_sentences(path: Path, tmp_path: Path) -> None:
    lesson = read_lesson_file(path)
    for name in ("sheet.html", "sheet.md"):
        save_worksheet(lesson, [scene_map()] * len(lesson.scenes), tmp_path / name)
        text = (tmp_path / name).read_text(encoding="utf-8")
        shown = Text(text).text if name.endswith("html") else text.replace("\\", "")
        for scene in lesson.scenes:
            assert scene.question in shown
            assert scene.saved.experiment.source_text in shown
            assert scene.text not in shown


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(StorageError):
        save_worksheet(LESSON, NO_MAPS, tmp_path / "folder.html")


def test_the_heads_of_a_layer_that_are_off_are_named_together() -> None:
    heads = [Head("cross", 0, place) for place in range(8)] + [Head("cross", 1, place) for place in (0, 2, 3)]
    off = tuple(HeadScaled(head) for head in heads)
    changes = (*off, HeadScaled(Head("encoder", 0, 1)), HeadScaled(Head("encoder", 0, 2), 0.5))
    scene = LESSON.scenes[0]
    saved = replace(scene.saved, experiment=replace(scene.saved.experiment, interventions=changes))
    page = Text(worksheet_html(replace(LESSON, scenes=(replace(scene, saved=saved),)), (None,)))
    expected = (
        "encoder 1·3 scaled 0.5",
        "encoder 1·2 off",
        "cross, layer 1: heads 1–8 off",
        "cross, layer 2: heads 1, 3–4 off",
    )
    assert f"Changed: {'; '.join(expected)}\n" in page.text


def test_the_map_that_is_asked_about_is_printed() -> None:
    text = worksheet_html(LESSON, (scene_map(other_model="two"), None))
    page = Text(text)
    assert text.count("<rect ") == 4
    table = PAPER.rgb
    for share, times in ((0.25, 1), (0.75, 1), (1.0, 1), (0.0, 1)):
        assert text.count(f'fill="#{bytes(table[round(255 * share)]).hex()}"') == times, share
    for part in ("<b>a</b>", "dog", "ein", "Hund|", "Cross 2·5. Each row: where.", "Translation: A dog."):
        assert part in page.text
    assert "another model than that of the scene: two" in page.text
    assert not {"script", "b", "img", "link"} & page.tags


def test_markdown_has_the_map_as_a_table_of_percentages() -> None:
    text = worksheet_markdown(LESSON, (scene_map(), None))
    assert "| | ein | Hund\\| |\n|---|---|---|\n" in text
    assert "| **\\<b\\>a\\</b\\>** | 25 | 75 |\n| **dog** | > 99 |  |\n" in text
    assert "Numbers are percentages." in text
    text = worksheet_markdown(LESSON, (scene_map(is_share=False), None))
    assert "Numbers: norm." in text
    assert "| **dog** | 1.00 |  |" in text
