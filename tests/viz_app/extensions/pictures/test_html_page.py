"""The page holds every weight, needs no network, and its script reads what was written."""

import html
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.counting import display_text
from augenmerk.core.errors import StorageError
from augenmerk.core.maps.comparing import difference
from augenmerk.core.maps.selection import Selection
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment, ForcedToken, GivenTarget, HeadScaled
from augenmerk.core.translation.result import Alternative
from augenmerk.viz_app.extensions.pictures.html_page import (
    MODULES,
    PageContent,
    page_html,
    save_web_page,
)
from augenmerk.viz_app.extensions.pictures.legend import MARK_MEANINGS, marks_note
from augenmerk.viz_app.extensions.pictures.page_parts import page_script
from augenmerk.viz_app.extensions.pictures.scene_notes import OutlinedText
from augenmerk.viz_app.extensions.pictures.worksheet import SheetScene, sheet_html
from augenmerk.viz_app.palette import DARK, LIGHT
from augenmerk.viz_app.state.color_scale import EMBER, PAPER, color_table
from augenmerk.viz_app.state.map_source import LEAST_DIFFERENCE, spread
from augenmerk.viz_app.state.map_view import Band, Marks, Pair, Place
from tests.test_import_rules import modules_imported_by
from tests.viz_app.synthetic import make_translation

TRANSLATION = make_translation(
    "ein mann </script> steh|t & <b> $5 .", "a man stand|s .", num_layers=2, num_heads=3
)
KINDS = ("encoder", "decoder", "cross")
SVG_NAME = 'xmlns="http://www.w3.org/2000/svg"'


def content(selection: Selection | None = None, scale: float = 1.0, **changes) -> PageContent:
    maps = {kind: TRANSLATION.maps.of_kind(kind) * np.float32(scale) for kind in KINDS}
    values = {
        "translation": TRANSLATION,
        "maps": maps,
        "measure": "weight",
        "selection": selection or Selection(),
        "facts": {"model": "m"},
        "shown": Head("cross", 1, 2),
    }
    return PageContent(**(values | changes))


class Parts(HTMLParser):
    """Tags with their attributes, and the text of each script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.scripts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, text: str) -> None:
        if self.tags and self.tags[-1][0] == "script" and self.scripts:
            self.scripts[-1] += text


def data_of(page: str) -> dict:
    return json.loads(Parts(page).scripts[0])


def colors_of(page: str) -> dict:
    return json.loads(Parts(page).scripts[-2])


STUBS = """
const said = [];
const stub = new Proxy(function () {}, {
  get: (_, name) => name === Symbol.toPrimitive ? () => 0 : stub,
  set: (_, name, value) => { if (name === "textContent") said.push(`${value}`); return true; },
  apply: () => stub, construct: () => stub,
});
const sections = DATAS.map((text) => ({
  querySelector: (name) => name === '[data-part="data"]' ? { textContent: text } : stub,
}));
const root = { dataset: {} };
const document = {
  querySelectorAll: () => sections, createElement: () => stub, documentElement: root,
  querySelector: (name) => name === "#colors" ? { textContent: COLORS } : stub,
};
const window = stub, Option = stub, ImageData = stub;
const matchMedia = () => ({ matches: false, addEventListener: () => null }), getComputedStyle = () => stub;
function atob(text) {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  let bits = 0, count = 0, out = "";
  for (const letter of text.replace(/=+$/, "")) {
    bits = (bits << 6) | letters.indexOf(letter); count += 6;
    if (count >= 8) { count -= 8; out += String.fromCharCode((bits >> count) & 255); }
  }
  return out;
}
"""
TELL = """
JSON.stringify(data.kinds.map((each) => ["read", "predicted"].map((mode) => {
  const [layers, heads] = each.modes[mode].shape, found = [], blocks = data.blocks.map(unpack);
  for (let layer = 0; layer < layers; layer++) for (let head = 0; head < heads; head++) {
    const { values } = recordedDrawing(each.modes[mode], blocks, layer, head, "kind");
    found.push(Array.from(values));
  }
  return found;
})))
"""
SAID = "JSON.stringify(said)"
NAMES = (
    "ColorTable",
    "drawSmallMap",
    "markShapes",
    "marksNote",
    "recordedDrawing",
    "RecordedScene",
    "scaleEnds",
    "shortNumber",
    "unpack",
)
"""Of the modules, for tests."""


def read_by_the_script(page: str, tell: str = TELL) -> list:
    """What the page's own script makes of its data, run by Qt's JavaScript engine with a document
    that does nothing.

    `tell` is an expression of `said`, the texts written into the page, `data` and `colors`, and
    `NAMES` of the modules.
    """
    from PySide6.QtQml import QJSEngine

    *datas, colors, script = Parts(page).scripts
    engine = QJSEngine()
    source = (
        f"const DATAS = {json.dumps(datas)}, COLORS = {json.dumps(colors)};{STUBS}{script}\n"
        "const data = JSON.parse(DATAS[0]), colors = JSON.parse(COLORS);\n"
        f"const {{ {', '.join(NAMES)} }} = {page_script(MODULES, NAMES)};\n{tell}"
    )
    # Qt's engine knows an older JavaScript
    result = engine.evaluate(source.replace("catch {", "catch (_) {"))
    assert not result.isError(), (
        f"line {result.property('lineNumber').toInt()}: {result.toString()}"
    )
    return json.loads(result.toString())


def without_scripts(page: str) -> str:
    """The part of the page's text that is only read without scripts."""
    return "".join(re.findall(r"<noscript>(.*?)</noscript>", page, re.DOTALL))


def test_the_name_of_a_head_says_that_it_is_off(qapp) -> None:
    head = Head("cross", 1, 2)
    changed = replace(
        TRANSLATION, experiment=Experiment("x", interventions=(HeadScaled(head, 0.0),))
    )
    assert f"{display_text(head.title)} · off" in read_by_the_script(
        page_html(content(translation=changed)), SAID
    )
    assert display_text(head.title) in read_by_the_script(page_html(content()), SAID)


def test_without_scripts_the_page_shows_the_chosen_map_with_marks_and_changes() -> None:
    head = Head("cross", 1, 2)
    changed = replace(
        TRANSLATION, experiment=Experiment("x", interventions=(HeadScaled(head, 0.0),))
    )
    still = without_scripts(
        page_html(content(translation=changed, pinned=Pair(1, 2), notes=("A note.",)))
    )
    for text in (TRANSLATION.text, "Changed: cross 2·3 off", "A note.", "<blockquote"):
        assert html.escape(text, quote=False) in still or text in still, text
    assert (
        f"{display_text(head.title)} · off. Each row: where the model looks at the source while "
        "it predicts that target" in still
    )
    assert (
        "Colours: weight α. Marks: frame: pinned cell; line through the map: head switched off."
        in still
    )
    assert still.count('aria-label="Cross-attention · layer 2 · head 3"') == 1
    assert 'stroke-width="2"' in still, "the line through the map, and the frame of the pinned cell"
    values = changed.maps.cross[1, 2]
    assert len(re.findall(r'<rect [^>]*stroke="#d8dbe0"', still)) == values.size
    assert "Scripts are off here" in still


MARKS = (
    Marks(),
    Marks(factor=0.0, pinned=Place(1, 2)),
    Marks(factor=0.5, changed=frozenset({Band(0, is_row=True)})),
    Marks(set=frozenset({Band(0, is_row=True)}), forced=frozenset({Band(1, is_row=True)})),
)


def test_marks_are_explained_as_in_the_app(qapp) -> None:
    described = [
        {
            "factor": marks.factor,
            "pinned": marks.pinned,
            **{
                name: [{"index": band.index, "isRow": True} for band in getattr(marks, name)]
                for name in ("changed", "set", "forced")
            },
        }
        for marks in MARKS
    ]
    tell = (
        f"JSON.stringify({json.dumps(described)}.map((each) => marksNote(each, "
        f"{json.dumps(MARK_MEANINGS)})))"
    )
    assert read_by_the_script(page_html(content()), tell) == [marks_note(marks) for marks in MARKS]
    assert marks_note(MARKS[3]) == (
        "Marks: bar after a row or below a column: set by hand; dot after a row or below a "
        "column: forced token."
    )


def test_without_scripts_differences_have_their_own_scale() -> None:
    maps = {kind: TRANSLATION.maps.of_kind(kind) for kind in KINDS}
    halves = {kind: weights / 2 for kind, weights in maps.items()}
    still = without_scripts(page_html(content(original=(TRANSLATION, halves))))
    assert "Colours: changed minus original." in still
    top = np.abs(maps["cross"][1, 2] / 2).max()
    assert f">+{top:#.3g}</text>" in still


@pytest.mark.parametrize(
    "selection", [Selection(), Selection("predicted", True, frozenset({"end"}))]
)
@pytest.mark.parametrize("scale", [1.0, 7.5])
def test_the_script_reads_every_weight(qapp, selection: Selection, scale: float) -> None:
    page = content(selection, scale)
    by_kind = read_by_the_script(page_html(page))
    for kind, modes in zip(KINDS, by_kind, strict=True):
        for mode, heads in zip(("read", "predicted"), modes, strict=True):
            chosen = Selection(mode, selection.merge_words, selection.hide)
            expected = chosen.apply(page.maps[kind], TRANSLATION, kind).weights
            np.testing.assert_allclose(
                np.array(heads).reshape(expected.shape),
                expected,
                atol=scale / 65_535,
                err_msg=f"{kind} {mode}",
            )


def test_a_given_translation_stands_in_the_page_as_the_model_s_own_does(qapp) -> None:
    assert TRANSLATION.text in read_by_the_script(page_html(content()), SAID)
    translation = replace(
        TRANSLATION,
        experiment=Experiment(TRANSLATION.source_text, GivenTarget("x")),
        text="Given by hand.",
    )
    assert "Given by hand." in read_by_the_script(page_html(content(translation=translation)), SAID)


def test_nothing_is_fetched() -> None:
    page = page_html(content())
    for tag, attributes in Parts(page).tags:
        assert not {"src", "href", "srcset", "action", "data"} & attributes.keys(), (
            tag,
            attributes,
        )
    own = page.replace(SVG_NAME, "").replace(Parts(page).scripts[0].strip(), "")
    assert not re.search(r"https?:|[\"'(]//|@import|url\(|fetch\(|XMLHttpRequest|import\(", own)
    assert "default-src 'none'" in page


def test_each_text_of_a_page_runs_in_its_own_direction() -> None:
    sheet = sheet_html("Lesson", (SheetScene("Scene", "אדם עומד"),), "worksheet")
    for page in (page_html(content()), sheet):
        rule = re.search(r"([^}>\n]+) { unicode-bidi: plaintext; }", page)
        assert rule is not None
        assert {"p:not([dir])", "blockquote", "td"} <= set(rule[1].split(", "))


def test_a_sentence_cannot_break_out_of_the_page() -> None:
    page = page_html(content())
    parts = Parts(page)
    assert len(parts.scripts) == 3
    assert json.loads(parts.scripts[0])["facts"]["sentence"] == TRANSLATION.source_text
    assert "</script> steht" not in page
    # names in the data are no places
    assert "@DATA@" in page_html(content(facts={"model": "@DATA@ @SCRIPT@"}))


def test_labels_say_what_rows_and_columns_are() -> None:
    data = data_of(page_html(content(Selection("predicted", merge_words=True))))
    assert data["mode"] == "predicted"
    assert data["shown"] == ["cross", 1, 2]
    cross = data["kinds"][2]["modes"]
    assert (cross["read"]["rowsAre"], cross["predicted"]["rowsAre"]) == (
        "token read",
        "token predicted",
    )
    assert cross["predicted"]["rows"] == ["a", "man", "stands", ".", "<eos>"]
    assert cross["read"]["rows"][0] == "<sos>"
    assert data["kinds"][0]["modes"]["read"]["rowsAre"] == "source token"
    assert data["facts"]["model"] == "m"


def test_weights_that_are_the_same_in_both_label_modes_are_written_once() -> None:
    assert len(data_of(page_html(content()))["blocks"]) == 3
    assert len(data_of(page_html(content(Selection(hide=frozenset({"end"})))))["blocks"]) == 5


def test_colours_are_those_of_the_window() -> None:
    page = page_html(content())
    for name, ramp, palette in (("light", PAPER, LIGHT), ("dark", EMBER, DARK)):
        assert [
            list(bytes.fromhex(color)) for color in colors_of(page)[name]["weights"]
        ] == ramp.rgb.tolist()
        assert f"--warm: {palette.warm};" in page


def test_hidden_mass_is_told() -> None:
    selection = Selection("read", hide=frozenset({"end"}))
    cross = data_of(page_html(content(selection)))["kinds"][2]["modes"]["read"]
    expected = selection.apply(TRANSLATION.maps.cross, TRANSLATION, "cross").hidden_mass_in_all
    np.testing.assert_allclose(cross["hidden"], expected, atol=1e-4)


def test_a_page_with_nothing_left_to_show_still_opens(qapp) -> None:
    hidden = frozenset({"start", "end", "punctuation"})
    dots = make_translation(". .", ".", num_layers=1, num_heads=1)
    maps = {kind: dots.maps.of_kind(kind) for kind in KINDS}
    read_by_the_script(
        page_html(
            content(Selection(hide=hidden), translation=dots, maps=maps, shown=Head("cross", 0, 0))
        )
    )


def test_one_hundred_tokens_stay_small() -> None:
    long = make_translation(
        " ".join(["wort"] * 98), " ".join(["word"] * 98), num_layers=3, num_heads=8
    )
    maps = {kind: long.maps.of_kind(kind) for kind in KINDS}
    assert len(page_html(content(translation=long, maps=maps))) < 3_000_000


def test_a_page_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    save_web_page(content(), tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page_html(content())
    with pytest.raises(StorageError, match="Cannot write"):
        save_web_page(content(), tmp_path / "page.html" / "inside.html")


@pytest.mark.subprocess
def test_the_page_needs_neither_qt_nor_torch_nor_matplotlib() -> None:
    modules = modules_imported_by("import augenmerk.viz_app.extensions.pictures.html_page")
    assert not {
        name
        for name in modules
        if name.split(".")[0] in {"PySide6", "shiboken6", "torch", "matplotlib"}
    }


CHANGED = make_translation(
    "ein mann </script> steh|t & <b> $5 .",
    "a man now stand|s .",
    num_layers=2,
    num_heads=3,
    interventions=(HeadScaled(Head("cross", 1, 2)), ForcedToken(2, "now")),
)


def of_difference(**changes) -> PageContent:
    original = TRANSLATION, {kind: TRANSLATION.maps.of_kind(kind) for kind in KINDS}
    maps = {kind: CHANGED.maps.of_kind(kind) for kind in KINDS}
    return content(translation=CHANGED, maps=maps, original=original, **changes)


@pytest.mark.parametrize("selection", [Selection(), Selection("predicted", True)])
def test_the_script_reads_every_difference_and_what_has_no_partner(
    qapp, selection: Selection
) -> None:
    by_kind = read_by_the_script(page_html(of_difference(selection=selection)))
    for kind, modes in zip(KINDS, by_kind, strict=True):
        for mode, heads in zip(("read", "predicted"), modes, strict=True):
            chosen = Selection(mode, selection.merge_words)
            changed = chosen.apply(CHANGED.maps.of_kind(kind), CHANGED, kind)
            original = chosen.apply(TRANSLATION.maps.of_kind(kind), TRANSLATION, kind)
            expected = spread(difference(original, changed), changed).weights
            read = np.array(heads, dtype=float).reshape(expected.shape)
            np.testing.assert_allclose(read, expected, atol=1e-4, err_msg=f"{kind} {mode}")
            assert np.isnan(read).any() == (kind != "encoder")


def test_a_difference_has_colours_of_its_own_and_says_so(qapp) -> None:
    page = page_html(of_difference(facts={"maps": "changed minus original"}))
    data, colors = data_of(page), colors_of(page)
    assert data["facts"]["maps"] == "changed minus original"
    assert not data["isShare"], "no scale up to 1"
    for name, is_dark in (("light", False), ("dark", True)):
        table = [list(bytes.fromhex(color)) for color in colors[name]["signed"]]
        assert table == color_table(is_dark=is_dark, is_signed=True).rgb.tolist()
    values = (
        "[-1, 0, 1, NaN].map((value) => new ColorTable(colors).colorOf(value, { top: 1, "
        "isSigned: true }))"
    )
    below, zero, above, missing = read_by_the_script(page, f"JSON.stringify({values})")
    assert [below, zero, above] == [colors["light"]["signed"][index] for index in (0, 127, 254)]
    assert missing not in colors["light"]["signed"]
    tell = "JSON.stringify(new ColorTable(colors).colorOf(1, { top: 1, isSigned: false }))"
    assert read_by_the_script(page, tell) == colors["light"]["weights"][-1]


def test_equal_maps_do_not_look_like_a_finding() -> None:
    same = {kind: TRANSLATION.maps.of_kind(kind) for kind in KINDS}
    data = data_of(page_html(content(original=(TRANSLATION, same))))
    modes = [mode for kind in data["kinds"] for mode in kind["modes"].values()]
    assert {(mode["signed"], round(mode["top"], 6), mode["least"]) for mode in modes} == {
        (True, *[LEAST_DIFFERENCE] * 2)
    }


def test_where_nothing_pairs_the_page_shows_the_changed_maps(qapp) -> None:
    other = make_translation("x y", "z", num_layers=2, num_heads=3)
    maps = {kind: other.maps.of_kind(kind) for kind in KINDS}
    page = page_html(content(original=(other, maps)))
    data = data_of(page)
    assert not any(mode["signed"] for kind in data["kinds"] for mode in kind["modes"].values())
    read = read_by_the_script(page)[2][0]
    np.testing.assert_allclose(
        np.array(read).reshape(TRANSLATION.maps.cross.shape), TRANSLATION.maps.cross, atol=2e-5
    )


COUNTED = """
JSON.stringify((() => {
  const made = [];
  RecordedScene.prototype.thumbnail = (kind, layer, head) => {
    made.push(`${data.kinds[kind].kind} ${layer} ${head}`);
  };
  new RecordedScene(sections[0], new ColorTable(colors));
  return made;
})())
"""


def test_all_heads_are_those_of_every_kind(qapp) -> None:
    made = read_by_the_script(page_html(content()), COUNTED)
    assert made == [
        f"{kind} {layer} {head}" for kind in KINDS for layer in range(2) for head in range(3)
    ]
    page = page_html(content())
    assert "`layer ${layer + 1}`" in page
    assert "`L$" not in page


def test_the_map_may_take_the_whole_width() -> None:
    styles = page_html(content()).partition("<style>")[2].partition("</style>")[0]
    body, *_ = re.findall(r"body \{[^}]*\}", styles)
    large = re.findall(r"\.large \{[^}]*\}", styles)
    assert large
    assert "max-width" not in "".join([body, *large])


def test_changes_and_notes_are_in_words(qapp) -> None:
    page = page_html(
        of_difference(
            line=OutlinedText("Translation: a ", "dog", " sits"), notes=("First.", "Second.")
        )
    )
    assert data_of(page)["changes"] == ["cross 2·3 off", "step 3: now"]
    said = read_by_the_script(page, SAID)
    assert {"Translation: a ", "First.", "Second."} <= set(said)
    unchanged = page_html(content())
    assert data_of(unchanged)["changes"] == []


def test_every_token_has_its_probability_and_the_next_best_ones() -> None:
    best = tuple(
        Alternative(token, math.log(share))
        for token, share in (("a", 0.5), ("the", 0.25), ("one", 0.125))
    )
    translation = replace(
        TRANSLATION,
        log_probabilities=(math.log(0.5), *TRANSLATION.log_probabilities[1:]),
        alternatives=(best, *TRANSLATION.alternatives[1:]),
    )
    page = page_html(content(translation=translation))
    steps = data_of(page)["steps"]
    assert [token for token, _, _ in steps] == list(translation.predicted_tokens)
    assert steps[0] == ["a", "50%", ["the\u00a0(25%)", "one\u00a0(13%)"]]
    assert '<details class="alternatives" open>' in page


POINTED = """
JSON.stringify((() => {
  const scene = new RecordedScene(sections[0], new ColorTable(colors)), marks = [];
  for (const pointed of [["dim", 1, 2], ["dim", null, null]]) {
    scene.data.pointed = pointed; scene.data.pinned = scene.pinned = [1, 2]; scene.draw();
    marks.push(scene.drawing.marks.pointed ?? null);
  }
  return marks;
})())
"""


def test_a_pointer_at_a_head_is_not_on_the_large_map(qapp) -> None:
    assert read_by_the_script(page_html(content()), POINTED) == [["dim", 1, 2], None]
