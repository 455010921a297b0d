"""Paper and pages name everything about a scene that their maps do not show."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from augenmerk.core.extensions.lessons.lesson_file import Lesson, Scene
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Beam,
    Experiment,
    FeedForwardScaled,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    Intervention,
    Output,
)
from augenmerk.core.translation.experiment_file import ModelReference, SavedExperiment, ViewValue
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.lessons.lesson_export import (
    LessonResultsJob,
    scene_parts,
    sheet_scenes,
)
from augenmerk.viz_app.extensions.pictures.html_page import lesson_page_html, page_html
from augenmerk.viz_app.extensions.pictures.printed_maps import PRINT_COLORS
from augenmerk.viz_app.extensions.pictures.worksheet import sheet_html
from augenmerk.viz_app.state.color_scale import color_table
from augenmerk.viz_app.state.model_info import ModelInfo
from tests.builders import first_quick
from tests.viz_app.extensions.pictures.test_html_page import (
    SAID,
    TRANSLATION,
    Parts,
    content,
    read_by_the_script,
)
from tests.viz_app.extensions.pictures.test_worksheet import Text

pytestmark = pytest.mark.heavy
SENTENCE = "Ein Mann mit Hut spielt im Park Gitarre."
TEXT = "A man in a hat is playing guitar in the park."
OFF = HeadScaled(Head("cross", 1, 4))
GREEDY = Greedy()


@pytest.fixture
def written(bundled_translator: Translator, qapp):
    """The sheet as HTML, and the texts on the recorded page, of one scene."""

    def write(
        *changes: Intervention,
        view: Mapping[str, ViewValue] | None = None,
        output: Output = GREEDY,
        page: str = "",
    ) -> tuple[str, list[str]]:
        own = bundled_translator.digest
        model = ModelInfo(
            "m", None, bundled_translator.run_config, bundled_translator.device, 1, digest=own
        )
        saved = SavedExperiment(
            Experiment(SENTENCE, output, changes),
            ModelReference("m", own),
            {"head": ("cross", 1, 4)} | dict(view or {}),
        )
        lesson = Lesson("Lesson", (Scene("Title", "", saved, page=page),))
        results = LessonResultsJob(lesson.scenes, model).run(
            bundled_translator, lambda _: None, lambda: False
        )
        titles = {"word": "Word tab"}
        html = sheet_html("Lesson", sheet_scenes(lesson, results, model, titles), "worksheet")
        said = read_by_the_script(
            lesson_page_html("Lesson", scene_parts(lesson, results, model, titles)), SAID
        )
        return html, said

    return write


@pytest.mark.parametrize(
    ("changes", "options", "note"),
    first_quick(
        [
            (
                (HeadScaled(Head("cross", 4, 2)), ForcedToken(2, "nosuchword")),
                {},
                (
                    "Dropped because they do not fit this model or sentence: cross 5·3 off, step 3: "
                    "nosuchword."
                ),
            ),
            (
                (AttentionRow(Head("cross", 0, 0), 40, (1.0,) * 11),),
                {},
                "Beyond the end of the translation, so without effect",
            ),
            ((), {"output": Beam(4)}, f"Translation by beam search with 4 hypotheses: {TEXT}"),
            ((), {"output": GivenTarget("A man.")}, "Given translation: A man."),
            ((OFF,), {}, f"Translation, unchanged: {TEXT}"),
            ((ForcedToken(1, "▁woman"),), {}, f"Original translation: {TEXT}"),
            (
                (OFF,),
                {"view": {"shown": "original"}},
                "The map is that of the original translation, without the changes.",
            ),
            (
                (),
                {
                    "view": {
                        "head": ("cross", 0, 4),
                        "hides_wrapping": True,
                        "hides_punctuation": True,
                    }
                },
                "Hidden tokens (start, end, punctuation) get 16% of the attention.",
            ),
            ((), {"view": {"picture": "lines"}}, "In the app, lines show these values."),
            (
                (),
                {"view": {"head": ("cross", 8, 8)}},
                "The view has heads that this model lacks: cross 9·9.",
            ),
            (
                (),
                {"page": "word"},
                "In the app, this scene shows: Word tab. Here is the map of the same sentence.",
            ),
        ]
    ),
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_sheets_and_pages_name_what_the_map_does_not_show(
    written, changes, options, note: str
) -> None:
    sheet, page = written(*changes, **options)
    assert note in Text(sheet).text
    assert any(line.startswith(note) for line in page)


def test_a_scene_of_another_part_of_the_app_names_the_cell_to_look_at_there(written) -> None:
    sheet, _ = written(view={"pinned": (4, 4), "label_mode": "predicted"}, page="word")
    assert re.search(
        r"shows: Word tab\. Pinned: predicting hat → hut, weight α? ?0\.\d+\. Here is the map",
        sheet,
    )


def test_a_plain_scene_needs_no_note_but_its_translation(written) -> None:
    sheet, _ = written()
    assert sheet.count('class="note"') == 3, "name, translation, caption"


@pytest.mark.parametrize("style", ["ring", "arrow", "dim"])
def test_the_word_and_the_head_that_a_pointer_points_at_are_ringed(written, style: str) -> None:
    for query, outlined in ((3, "in <mark>a</mark> hat"), (10, "the <mark>park</mark>.")):
        sheet, _ = written(
            view={"pinned": (query, 3), "label_mode": "predicted", "pointer": ("word", style)}
        )
        assert outlined in sheet
        assert sheet.count("<mark>") == 1
    sheet, _ = written(view={"pointer": ("head", style)})
    assert "<mark>Cross-attention · layer 2 · head 5</mark>. Each row" in sheet


def test_a_mean_of_heads_is_named_where_one_head_is_drawn(written) -> None:
    sheet, page = written(
        view={"scope": "layer", "several": tuple(("cross", 1, head) for head in range(8))}
    )
    assert "Cross-attention · layer 2 · mean of 8 heads. Each row" in sheet
    note = (
        "In the app, this scene shows several heads together: Cross-attention · layer 2 · mean "
        "of 8 heads."
    )
    assert any(line.startswith(note) for line in page)


@pytest.mark.slow
def test_the_factor_of_a_scaled_head_stands_at_its_map(written) -> None:
    sheet, _ = written(HeadScaled(Head("cross", 1, 4), 0.5))
    assert "Cross-attention · layer 2 · head 5 · ×0.5. Each row" in sheet
    warm = rf'<text [^>]*fill="{PRINT_COLORS["warm"]}"[^>]*font-weight="bold">×0.5</text>'
    assert len(re.findall(warm, sheet)) == 1
    for others in ((), (OFF,), (HeadScaled(Head("cross", 1, 5), 0.5),)):
        assert not re.search(warm, written(*others)[0])
    several = {"scope": "layer", "several": (("cross", 1, 4), ("cross", 1, 5))}
    assert "×" not in written(HeadScaled(Head("cross", 1, 4), 0.5), view=several)[0]


def test_a_page_writes_the_factor_on_each_map_of_the_head(qapp) -> None:
    changed = replace(
        TRANSLATION, experiment=Experiment("x", GREEDY, (HeadScaled(Head("cross", 0, 1), -2.5),))
    )
    page = page_html(content(translation=changed))
    written_text = """JSON.stringify((() => {
      const texts = [], none = () => ({ width: 1 });
      const pen = new Proxy({ measureText: none, fillText: (text) => texts.push(text) }, {
        get: (found, name) => found[name] ?? (() => {}), set: () => true,
      });
      const canvas = { style: {}, getContext: () => pen };
      document.createElement = () => canvas;
      const blocks = data.blocks.map(unpack), table = new ColorTable(colors);
      for (const head of [0, 1, 2]) {
        drawSmallMap(canvas, recordedDrawing(data.kinds[2].modes.read, blocks, 0, head, "kind"), table);
        texts.push(`after ${head}`);
      }
      return texts;
    })())"""
    assert read_by_the_script(page, written_text) == ["after 0", "×−2.5", "after 1", "after 2"]


def test_the_colours_of_a_difference_reach_to_the_largest_value_on_the_sheet(written) -> None:
    off = HeadScaled(Head("cross", 0, 4))
    sheet, _ = written(off, view={"shown": "difference", "measure": "norm"})
    cells = [abs(float(value)) for value in re.findall(r">([+-]\d*\.\d+)</text>", sheet)]
    (top,) = {
        float(value)
        for value in re.findall(r">[−+](\d\.\d{3,}|\d\.\d\d)</text>", sheet)
        if len(value) > 3
    }
    assert top == pytest.approx(max(cells), abs=0.006)
    colors = color_table(is_dark=False, is_signed=True).rgb
    assert any(bytes(colors[index]).hex() in sheet for index in (0, 254)), (
        "the largest value has the last colour"
    )
    plain, _ = written()
    assert ">1.00</text>" in plain, "shares keep the scale up to 1"


def test_a_page_of_all_heads_names_networks_that_are_off_or_scaled(qapp) -> None:
    changes = (
        FeedForwardScaled(Network("encoder", 0)),
        FeedForwardScaled(Network("decoder", 1), 1.5),
    )
    changed = replace(TRANSLATION, experiment=Experiment("x", GREEDY, changes))
    kinds = json.loads(Parts(page_html(content(translation=changed))).scripts[0])["kinds"]
    assert [kind["networks"] for kind in kinds] == [
        ["FFN off", ""],
        ["", "FFN ×1.5"],
        ["", "FFN ×1.5"],
    ]
    plain = json.loads(Parts(page_html(content())).scripts[0])["kinds"]
    assert [scene["networks"] for scene in plain] == [["", ""]] * 3
