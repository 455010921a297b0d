"""A lesson on paper has its sentences, experiments, maps and questions; only the solutions have
answers.
"""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.errors import StorageError
from augenmerk.core.extensions.lessons.lesson_file import read_lesson_file
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.lessons.lesson_documents import shipped_lessons
from augenmerk.viz_app.extensions.lessons.lesson_export import LessonResultsJob, sheet_scenes
from augenmerk.viz_app.extensions.pictures.map_svg import map_svg
from augenmerk.viz_app.extensions.pictures.printed_maps import PRINT_COLORS
from augenmerk.viz_app.extensions.pictures.scene_notes import OutlinedText
from augenmerk.viz_app.extensions.pictures.worksheet import (
    NO_QUESTION,
    NUM_LINES,
    SheetScene,
    save_sheet,
    sheet_html,
    sheet_markdown,
)
from augenmerk.viz_app.heatmap.drawing import Drawing
from augenmerk.viz_app.state.color_scale import PAPER, ColorScale
from augenmerk.viz_app.state.map_view import Band, Marks, Place, Pointed
from augenmerk.viz_app.state.model_info import ModelInfo

TITLE = "Order & <b>sense</b> *"
FIRST = SheetScene(
    "First",
    "Ein <script> & *Hund*.",
    text="The text is green.",
    question="Which word is <it>?",
    answer="The answer is blue.",
    notes=tuple(
        map(
            OutlinedText,
            ("Translation: A dog.", "Original translation: A cat.", "Changed: cross 2·5 off"),
        )
    ),
)
SECOND = SheetScene(
    "Second",
    "Zwei Hunde.",
    text="Secret.",
    notes=(OutlinedText("Given translation: ", "Two <", "b> dogs."),),
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


def with_map(
    values: Sequence[Sequence[float]] = ((0.25, 0.75), (0.999, 0.001)), **facts: object
) -> SheetScene:
    drawing = Drawing(
        np.array(values, dtype=np.float32),
        ("<b>a</b>", "dog"),
        ("ein", "Hund|"),
        row_axis="token read",
        column_axis="source token",
        title="Cross 2·5",
    )
    return replace(
        FIRST,
        drawing=drawing,
        caption=OutlinedText("Cross 2·5. Each row: where."),
        measure="norm",
        **facts,
    )


def test_a_worksheet_has_the_experiment_and_the_question_and_no_answer() -> None:
    page = Text(sheet_html(TITLE, (FIRST, SECOND), "worksheet"))
    for part in (
        "Order & <b>sense</b> *",
        "1. First",
        "Ein <script> & *Hund*.",
        "Which word is <it>?",
        "Translation: A dog.",
        "Original translation: A cat.",
        "Changed: cross 2·5 off",
        "2. Second",
        "Zwei Hunde.",
        "Given translation: Two <b> dogs.",
        NO_QUESTION,
    ):
        assert part in page.text
    for secret in ("blue", "green", "Secret"):
        assert secret not in page.text
    assert page.num_lines == 2 * NUM_LINES
    assert not {"script", "b", "img", "link"} & page.tags


def test_solutions_have_answers_in_place_of_lines_and_the_text_where_there_is_none() -> None:
    page = Text(sheet_html(TITLE, (FIRST, SECOND), "solutions"))
    for part in ("· Solutions", "Which word is <it>?", "The answer is blue.", "Secret."):
        assert part in page.text
    assert "green" not in page.text
    assert page.num_lines == 0


def test_scenes_have_their_texts_questions_and_answers() -> None:
    page = Text(sheet_html(TITLE, (FIRST, SECOND), "scenes"))
    for part in ("The text is green.", "Which word is <it>?", "The answer is blue.", "Secret."):
        assert part in page.text
    assert NO_QUESTION not in page.text


def test_a_word_that_is_pointed_at_is_ringed() -> None:
    assert "Given translation: <mark>Two &lt;</mark>b&gt; dogs." in sheet_html(
        TITLE, (SECOND,), "worksheet"
    )
    assert "Given translation: **Two \\<**b\\> dogs." in sheet_markdown(
        TITLE, (SECOND,), "worksheet"
    )


def test_markdown_has_the_same_and_takes_no_text_for_a_sign() -> None:
    text = sheet_markdown(TITLE, (FIRST, SECOND), "worksheet")
    assert text.startswith("# Order \\& \\<b\\>sense\\</b\\> \\*\n")
    assert "> Ein \\<script\\> \\& \\*Hund\\*.\n" in text
    assert "Which word is \\<it\\>?" in text
    assert "blue" not in text
    assert text.count("\\_" * 40) == 2 * NUM_LINES
    assert "The answer is blue." in sheet_markdown(TITLE, (FIRST, SECOND), "solutions")


@pytest.fixture(scope="module")
def model(bundled_translator: Translator) -> ModelInfo:
    run, device, digest = (
        bundled_translator.run_config,
        bundled_translator.device,
        bundled_translator.digest,
    )
    return ModelInfo("bundled", None, run, device, 1, digest=digest)


@pytest.mark.parametrize("path", shipped_lessons(), ids=[path.stem for path in shipped_lessons()])
def test_shipped_lessons_make_sheets_with_the_marks_of_their_scenes(
    path: Path, tmp_path: Path, bundled_translator: Translator, model: ModelInfo
) -> None:
    lesson = read_lesson_file(path)
    results = LessonResultsJob(lesson.scenes, model).run(
        bundled_translator, lambda _: None, lambda: False
    )
    scenes = sheet_scenes(lesson, results, model)
    for scene, printed in zip(lesson.scenes, scenes, strict=True):
        assert printed.drawing is not None
        assert (printed.drawing.marks.pinned is None) == (scene.saved.view.get("pinned") is None)
        has_changes = any(note.text.startswith("Changed: ") for note in printed.notes)
        assert has_changes == bool(scene.saved.experiment.interventions)
    for name in ("sheet.html", "sheet.md"):
        save_sheet(lesson.title, scenes, "worksheet", tmp_path / name)
        text = (tmp_path / name).read_text(encoding="utf-8")
        shown = Text(text).text if name.endswith("html") else text.replace("\\", "")
        for scene in lesson.scenes:
            assert scene.question in shown
            assert scene.saved.experiment.source_text in shown
            assert scene.text not in shown


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(StorageError):
        save_sheet(TITLE, (FIRST,), "worksheet", tmp_path / "folder.html")


def test_a_map_is_printed_with_axes_and_the_scale_of_its_colours() -> None:
    text = sheet_html(TITLE, (with_map(), SECOND), "worksheet")
    page = Text(text)
    for share in (0.25, 0.75, 1.0, 0.0):
        assert f'fill="#{bytes(PAPER.rgb[round(255 * share)]).hex()}"' in text, share
    assert "token read ↓" in page.text
    assert "source token →" in page.text
    assert ">1.00</text>" in text, "the upper end of the scale"
    assert ">0</text>" in text
    for part in (
        "<b>a</b>",
        "dog",
        "ein",
        "Hund|",
        "Cross 2·5. Each row: where.",
        "Translation: A dog.",
    ):
        assert part in page.text
    assert not {"script", "b", "img", "link"} & page.tags


def test_all_marks_of_a_scene_are_printed() -> None:
    scene = with_map()
    assert scene.drawing is not None
    first, second = (frozenset({Band(index, is_row=True)}) for index in (0, 1))
    marks = Marks(
        factor=0.0, pinned=Place(0, 1), set=second, forced=first, pointed=Pointed("ring", 0, 1)
    )
    marked = replace(scene, drawing=replace(scene.drawing, marks=marks))
    plain, text = (
        sheet_html(TITLE, (sheet_scene,), "worksheet") for sheet_scene in (scene, marked)
    )
    # line, bar, dot; ring; frame and both labels
    for role, times in (("warm", 3), ("pointer", 1), ("accent", 3)):
        assert text.count(PRINT_COLORS[role]) - plain.count(PRINT_COLORS[role]) == times, role
    assert 'fill="none" stroke="#fff"' in text, "the frame is seen in grey, too"


def test_numbers_in_cells_are_shown_on_request_without_a_script_and_at_first_where_they_have_a_sign() -> (
    None
):
    text = sheet_html(TITLE, (with_map(),), "worksheet")
    assert '<g class="numbers">' in text
    assert ">.25</text>" in text
    assert "#numbers:not(:checked) ~ section .numbers { display: none; }" in text
    assert 'type="checkbox" id="numbers"' in text
    signed = with_map(((0.25, -0.75), (0.0, 0.001)))
    assert signed.drawing is not None
    text = sheet_html(
        TITLE,
        (replace(signed, drawing=replace(signed.drawing, scale=ColorScale(is_signed=True))),),
        "worksheet",
    )
    assert 'id="numbers" checked>' in text, "the reader can switch them off"
    assert 'id="numbers">' in sheet_html(TITLE, (signed,), "worksheet")
    assert text.count('<g class="numbers">') == 1
    for part in (">+.25</text>", ">−.75</text>", ">−1.00</text>", ">+1.00</text>"):
        assert part in text, part


def test_two_scenes_share_a_printed_page_in_colours() -> None:
    page = sheet_html(TITLE, (FIRST, SECOND, FIRST, SECOND, FIRST), "worksheet")
    for rule in ("break-inside: avoid", "print-color-adjust: exact"):
        assert rule in page


@pytest.mark.parametrize(
    ("num_rows", "num_words"), [(3, 0), (14, 0), (14, 40), (14, 170), (40, 0), (40, 60)]
)
def test_a_map_has_half_a_printed_page_or_a_whole_one_and_rows_that_can_be_read(
    num_rows: int, num_words: int
) -> None:
    names = [f"row{index}" for index in range(num_rows)]
    drawing = Drawing(np.eye(num_rows, dtype=np.float32), names, names, title="x")
    scene = replace(FIRST, drawing=drawing, text="word " * num_words)
    sizes = re.search(
        r'<svg [^>]*width="(\d+)" height="(\d+)"', sheet_html(TITLE, (scene,), "scenes")
    )
    assert sizes is not None
    _, height = map(int, sizes.groups())
    text_px = 16 * (7 + 5 * num_words / 95)
    assert height >= 9 * num_rows
    assert height + text_px < (458 if num_rows <= 14 and num_words < 100 else 916)
    if num_rows == 14 and not num_words:
        assert height > 0.6 * 458, "the map takes most of its half page"


def test_markdown_has_the_map_as_a_table_of_percentages() -> None:
    text = sheet_markdown(TITLE, (with_map(), SECOND), "worksheet")
    assert "| | ein | Hund\\| |\n|---|---|---|\n" in text
    assert "| **\\<b\\>a\\</b\\>** | 25 | 75 |\n| **dog** | > 99 |  |\n" in text
    assert "Numbers are percentages." in text
    text = sheet_markdown(TITLE, (with_map(is_share=False), SECOND), "worksheet")
    assert "Numbers: norm." in text
    assert "| **dog** | 1.00 |  |" in text


def test_markdown_marks_the_pinned_cell_and_rows_that_are_set_or_forced() -> None:
    scene = with_map()
    assert scene.drawing is not None
    first, second = (frozenset({Band(index, is_row=True)}) for index in (0, 1))
    for pinned, row in (
        (Place(1, 0), "| **dog** set | **> 99** |  |"),
        (Place(1, 1), "| **dog** set | > 99 | **0** |"),
    ):
        marks = Marks(pinned=pinned, set=second, forced=first)
        text = sheet_markdown(
            TITLE, (replace(scene, drawing=replace(scene.drawing, marks=marks)),), "worksheet"
        )
        assert "Numbers are percentages. The pinned cell is bold.\n" in text
        assert "| **\\<b\\>a\\</b\\>** forced | 25 | 75 |" in text
        assert row in text


def test_the_ends_of_a_scale_and_the_names_of_axes_have_room_on_a_map() -> None:
    drawing = Drawing(
        np.zeros((2, 2)),
        ("a", "b"),
        ("<sos>", "b"),
        row_axis="row",
        column_axis="column",
        scale=ColorScale(0.01, is_signed=True),
    )
    drawn = map_svg(drawing)
    letter, high = 7.0, 9.0  # of a wide font
    width = float(re.search(r'width="(\d+)"', drawn)[1])  # type: ignore[index]
    places = {
        text: (float(x), float(y))
        for x, y, text in re.findall(r'<text x="(.*?)" y="(.*?)".*?>(.*?)</text>', drawn)
    }
    assert places["+0.0100"][0] + 7 * letter <= width
    top_of_label = (
        places["&lt;sos&gt;"][1]
        - 5 * letter * math.sin(math.radians(50))
        - high * math.cos(math.radians(50))
    )
    assert places["column →"][1] <= top_of_label


def test_labels_of_many_rows_do_not_overlap() -> None:
    rows = [f"row{index}" for index in range(30)]
    for count, size in ((5, 11), (30, 9)):
        drawing = Drawing(
            np.zeros((count, 4), dtype=np.float32), rows[:count], ["a", "b", "c", "d"]
        )
        labels = re.findall(r'<text [^>]*y="(\d+)"[^>]*font-size="(\d+)">row', map_svg(drawing))
        places = [int(y) for y, _ in labels]
        assert {int(label_size) for _, label_size in labels} == {size}
        assert min(after - before for before, after in itertools.pairwise(places)) >= size
