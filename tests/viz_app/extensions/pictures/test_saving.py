"""What is in the files: shapes and text in vector pictures, captions, and the very numbers that are
shown."""

import base64
import csv
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PySide6.QtGui import QImage

from augenmerk.core.counting import display_text
from augenmerk.core.extensions.info.number_files import origin_of_numbers
from augenmerk.core.extensions.provenance import read_provenance
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.translation.experiment import Experiment, ForcedToken, GivenTarget, HeadScaled
from augenmerk.core.translation.experiment_file import experiment_from_json
from augenmerk.core.translation.result import ExperimentResult, Translation
from augenmerk.viz_app.extensions.pictures.saving import Saving, take_snapshot
from augenmerk.viz_app.heatmap.map_image import map_image
from augenmerk.viz_app.state.color_scale import PAPER
from augenmerk.viz_app.state.map_source import top_value
from tests.builders import first_quick
from tests.viz_app.extensions.pictures.conftest import SENTENCE, MapsPage
from tests.viz_app.extensions.pictures.test_html_page import (
    SVG_NAME,
    Parts,
    data_of,
    read_by_the_script,
)
from tests.viz_app.synthetic import make_translation, measure_by_halves

CAPTION = (
    "model: model",
    SENTENCE,
    "Cross-attention · layer 2 · head 5",
    "weight α",
    "rows: token ",
)
SHAPES = {"path", "polyline", "rect", "line", "image", "use"}


def weights_of(page: MapsPage) -> np.ndarray:
    view = page.state.maps.view()
    assert view is not None
    return view.values


def svg_text(path: Path) -> tuple[str, dict[str, int]]:
    """All words of a picture in one line, and how many elements of each kind it has."""
    names = [element.tag.rpartition("}")[2] for element in ElementTree.parse(path).iter()]
    words = " ".join(
        "".join(element.itertext())
        for element in ElementTree.parse(path).iter()
        if element.tag.endswith("}text")
    )
    return " ".join(words.split()), {name: names.count(name) for name in names}


def pdf_streams(path: Path) -> list[bytes]:
    """The content of a PDF: drawing commands, fonts, and which sign stands for which letter."""
    matches = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", path.read_bytes(), re.DOTALL)
    streams = []
    for stream in matches:
        try:
            streams.append(zlib.decompress(stream))
        except zlib.error:
            streams.append(stream)
    return streams


def save(saving: Saving, page: MapsPage, what: str, target: Path) -> None:
    if what == "lines":
        page.head.picture_menu.actions_by_name["lines"].trigger()
    {
        "heatmap": saving.save_map,
        "lines": saving.save_map,
        "heads": saving.save_heads,
        "page": saving.save_page,
    }[what](target)


HOSTILE = "\x1b[31mein\x00 mann\x9b\x07 \x0b\ufffe <&> \x85\u2028 ."


def show_control_characters(page: MapsPage) -> None:
    """Tokens, sentence and translation with characters that no XML may hold."""
    made = make_translation("ein mann <&> .", "ein mann <&> .", text=HOSTILE)
    tokens = ("<sos>", "ein\x00\x1b[31m", "mann\x07\ufffe", "<&>\n", ".\x85", "<eos>")
    source, target = (
        tuple(replace(word, text=token) for word, token in zip(words, tokens[1:], strict=False))
        for words in (made.source_words, made.target_words)
    )
    page.state.show_translation(
        replace(
            made, text=HOSTILE, source_tokens=tokens, read_tokens=tokens[:-1], predicted_tokens=tokens[1:],
            source_words=source, target_words=target,
        )
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.figures
@pytest.mark.parametrize("what", ["heatmap", "lines", "heads", "page"])
def test_an_svg_of_control_characters_is_xml(
    page: MapsPage, saving: Saving, tmp_path: Path, what: str
) -> None:
    show_control_characters(page)
    save(saving, page, what, tmp_path / "picture.svg")
    words, _ = svg_text(tmp_path / "picture.svg")
    if what in ("heatmap", "lines"):
        assert r"ein\u0000\u001b[31m" in words.replace(" ", "")
        assert "<&>" in words


@pytest.mark.figures
@pytest.mark.parametrize("what", ["heatmap", "lines", "heads", "page"])
@pytest.mark.slow
def test_control_characters_leave_a_pdf_and_a_png_whole(
    page: MapsPage, saving: Saving, tmp_path: Path, what: str
) -> None:
    show_control_characters(page)
    for suffix in ("pdf", "png"):
        save(saving, page, what, tmp_path / f"picture.{suffix}")
    content = (tmp_path / "picture.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert content.rstrip().endswith(b"%%EOF")
    assert b"\x1b[31m" not in b"".join(pdf_streams(tmp_path / "picture.pdf"))
    assert not QImage(str(tmp_path / "picture.png")).isNull()


def test_control_characters_leave_tables_and_pages_readable(
    page: MapsPage, saving: Saving, tmp_path: Path
) -> None:
    show_control_characters(page)
    for suffix in ("csv", "json", "npz"):
        saving.save_table(tmp_path / f"numbers.{suffix}")
    with (tmp_path / "numbers.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    labels = [r"ein\u0000\u001b[31m", r"mann\u0007\ufffe", r"<&>\n", r".\u0085"]
    assert [label for label in header[1:] if label not in ("<sos>", "<eos>")] == labels
    assert [row[0] for row in rows if row[0] not in ("<sos>", "<eos>")] == labels
    assert (
        json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8"))["sentence"] == HOSTILE
    )
    with np.load(tmp_path / "numbers.npz", allow_pickle=False) as arrays:
        assert arrays["map"].shape == (len(rows), len(header) - 1)
    saving.save_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert data_of(text)["facts"]["sentence"] == HOSTILE
    assert not [character for character in text if ord(character) < 32 and character != "\n"]


@pytest.mark.slow
@pytest.mark.figures
@pytest.mark.parametrize("what", ["heatmap", "lines", "heads", "page"])
def test_an_svg_is_shapes_and_text_with_the_caption(
    page: MapsPage, saving: Saving, tmp_path: Path, what: str
) -> None:
    save(saving, page, what, tmp_path / "picture.svg")
    words, counts = svg_text(tmp_path / "picture.svg")
    assert sum(counts.get(name, 0) for name in SHAPES) > 8
    assert counts["text"] > 10 if what != "heads" else counts["text"] > 5
    letters = words.replace(" ", "")  # a caption may break anywhere
    for fact in CAPTION:
        if what != "heads" or "layer 2" not in fact:
            assert fact.replace(" ", "") in letters, fact
    if what != "heads":
        assert "straße" in words
        assert "überquert" in words


@pytest.mark.figures
@pytest.mark.parametrize("what", ["heatmap", "lines", "heads", "page"])
@pytest.mark.slow
def test_a_pdf_holds_lines_and_fonts_with_umlauts(
    page: MapsPage, saving: Saving, tmp_path: Path, what: str
) -> None:
    save(saving, page, what, tmp_path / "picture.pdf")
    assert (tmp_path / "picture.pdf").read_bytes().startswith(b"%PDF")
    streams = pdf_streams(tmp_path / "picture.pdf")
    drawing = b"\n".join(stream for stream in streams if re.search(rb"\bT[jJ]\b", stream))
    assert re.search(rb"\b(re|l|c)\b", drawing), "no shape is drawn"
    letters = b"".join(stream for stream in streams if b"begincmap" in stream).upper()
    for letter in "ßäöü":
        assert f"{ord(letter):04X}".encode() in letters, f"no {letter} in the fonts"


@pytest.mark.figures
@pytest.mark.parametrize("what", first_quick(["heatmap", "lines", "heads", "page"]))
def test_a_png_is_a_picture_of_many_colours(
    page: MapsPage, saving: Saving, tmp_path: Path, what: str
) -> None:
    save(saving, page, what, tmp_path / "picture.png")
    image = QImage(str(tmp_path / "picture.png")).convertToFormat(QImage.Format.Format_RGB32)
    assert min(image.width(), image.height()) > 300
    assert (
        len(
            {
                image.pixel(x, y)
                for x in range(0, image.width(), 5)
                for y in range(0, image.height(), 5)
            }
        )
        > 10
    )


@pytest.mark.figures
def test_the_large_map_in_an_svg_is_cells_not_a_bitmap(
    page: MapsPage, saving: Saving, tmp_path: Path
) -> None:
    saving.save_map(tmp_path / "picture.svg")
    _, counts = svg_text(tmp_path / "picture.svg")
    assert "image" not in counts
    assert counts["path"] + counts.get("use", 0) >= weights_of(page).size


def test_the_page_in_an_svg_has_no_bitmap_that_a_viewer_must_enlarge(
    page: MapsPage, saving: Saving, tmp_path: Path
) -> None:
    saving.save_page(tmp_path / "page.svg")
    elements = list(ElementTree.parse(tmp_path / "page.svg").iter())
    images = [element for element in elements if element.tag.endswith("}image")]
    num_heads = sum(np.prod(page.state.maps.shape(kind)) for kind in ATTENTION_KINDS)
    assert len(images) == num_heads, "the thumbnails, and nothing else"
    address = "{http://www.w3.org/1999/xlink}href"
    for image in images:
        encoded = QImage.fromData(base64.b64decode(image.attrib[address].partition(",")[2]))
        assert encoded.width() >= 2 * float(image.attrib["width"])


def test_the_large_map_of_the_page_is_drawn_as_rectangles_in_its_colours(
    page: MapsPage, saving: Saving, tmp_path: Path
) -> None:
    saving.save_page(tmp_path / "page.svg")
    text = (tmp_path / "page.svg").read_text(encoding="utf-8")
    image = map_image(
        weights_of(page),
        PAPER,
        top_value(page.state.maps, page.state.selection.head, weights_of(page)),
    )
    colors = {
        image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())
    }
    assert len(colors) > 5
    assert all(f'fill="{color}"' in text for color in colors)


def test_numbers_come_back_as_they_were(page: MapsPage, saving: Saving, tmp_path: Path) -> None:
    for name in ("map.csv", "map.json", "map.npz"):
        saving.save_table(tmp_path / name)
    snapshot, translation = saving.snapshot, page.state.translation
    assert snapshot is not None
    assert translation is not None
    with (tmp_path / "map.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    assert header == ["query \\ key", *snapshot.view.column_labels]
    assert tuple(row[0] for row in rows) == snapshot.view.row_labels
    np.testing.assert_allclose(
        np.array([row[1:] for row in rows], dtype=float), weights_of(page), rtol=1e-6
    )
    content = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
    np.testing.assert_allclose(content["weights"], weights_of(page), rtol=1e-6)
    assert content["map"] == "Cross-attention · layer 1 · head 4", "JSON counts from 0"
    assert content["sentence"] == SENTENCE
    with np.load(tmp_path / "map.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["map"], weights_of(page))
        assert str(arrays["caption"]) == snapshot.drawing.caption
        for kind in ("encoder", "decoder", "cross"):
            np.testing.assert_array_equal(arrays[kind], translation.maps.of_kind(kind))


def test_an_npz_holds_the_maps_in_the_measure_that_is_shown(
    page: MapsPage, saving: Saving, tmp_path: Path
) -> None:
    translation = page.state.translation
    assert translation is not None
    page.state.settings.measure = "rollout"
    measured = measure_by_halves(translation, "rollout")
    page.state.measuring.take(measured)
    saving.save_table(tmp_path / "map.npz")
    with np.load(tmp_path / "map.npz", allow_pickle=False) as arrays:
        expected = measured.maps["cross"]
        np.testing.assert_array_equal(
            arrays["rollout_cross"], np.broadcast_to(expected, arrays["cross"].shape)
        )
        assert not np.array_equal(arrays["rollout_cross"], arrays["cross"])
        assert "rollout_decoder" not in arrays  # there is none
        np.testing.assert_array_equal(arrays["decoder"], translation.maps.decoder)


def test_the_page_for_the_browser_holds_every_map_and_no_address(
    page: MapsPage, saving: Saving, tmp_path: Path
) -> None:
    saving.save_html(tmp_path / "maps.html")
    text = (tmp_path / "maps.html").read_text(encoding="utf-8")
    assert all(not {"src", "href"} & attributes.keys() for _, attributes in Parts(text).tags)
    assert not re.search(
        "https?:", text.replace(SVG_NAME, "").replace(Parts(text).scripts[0].strip(), "")
    )
    data = data_of(text)
    assert data["facts"]["model"] == "model"
    assert data["facts"]["sentence"] == SENTENCE
    assert data["shown"] == ["cross", 1, 4]
    translation = page.state.translation
    assert translation is not None
    encoder, _, cross = read_by_the_script(text)
    np.testing.assert_allclose(
        np.array(encoder[0][0]), translation.maps.encoder[0, 0].ravel(), atol=2e-5
    )
    head = 1 * translation.maps.cross.shape[1] + 4
    np.testing.assert_allclose(
        np.array(cross[0][head]), translation.maps.cross[1, 4].ravel(), atol=2e-5
    )


def test_the_page_for_the_browser_shows_the_measure_and_selection_of_the_window(
    page: MapsPage, saving: Saving, tmp_path: Path
) -> None:
    translation = page.state.translation
    assert translation is not None
    page.state.settings.measure = "rollout"
    measured = measure_by_halves(translation, "rollout")
    page.state.measuring.take(measured)
    page.state.settings.hides_wrapping, page.state.settings.label_mode = True, "predicted"
    saving.save_html(tmp_path / "maps.html")
    data = data_of((tmp_path / "maps.html").read_text(encoding="utf-8"))
    assert data["facts"]["measure"] == "rollout"
    assert [kind["kind"] for kind in data["kinds"]] == ["encoder", "cross"]
    assert data["mode"] == "predicted"
    assert data["kinds"][0]["modes"]["read"]["columns"][0] == "der"
    page.state.selection.choose(Head("decoder", 0, 0))  # has no rollout: its weights are shown
    saving.save_html(tmp_path / "maps.html")
    data = data_of((tmp_path / "maps.html").read_text(encoding="utf-8"))
    assert data["facts"]["measure"] == "weight α"
    assert len(data["kinds"]) == 3


def test_numbers_of_a_transposed_map_name_its_queries_rows(
    page: MapsPage, saving: Saving, tmp_path: Path
) -> None:
    page.state.settings.transposes = True
    saving.save_table(tmp_path / "map.json")
    described = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
    assert described["rows"] == f"token {page.state.settings.label_mode}"
    assert "columns" not in described
    view = page.state.maps.view()
    assert view is not None
    assert described["row_labels"] == list(view.labelled.queries.labels)
    saving.save_table(tmp_path / "map.npz")
    with np.load(tmp_path / "map.npz") as arrays:
        assert f"rows: token {page.state.settings.label_mode}" in str(arrays["caption"])


def test_a_caption_says_model_sentence_head_measure_and_label_mode(page: MapsPage) -> None:
    snapshot = take_snapshot(page.state, "model")
    assert snapshot is not None
    for words in CAPTION:
        assert words in snapshot.drawing.caption
    assert f"token {page.state.settings.label_mode}" in snapshot.drawing.caption
    page.state.settings.hides_wrapping = True
    page.state.selection.choose(Head("encoder", 0, 0))
    snapshot = take_snapshot(page.state, "model")
    assert snapshot is not None
    assert "source token" in snapshot.drawing.caption
    assert "hidden: " in snapshot.drawing.caption


def test_a_caption_says_what_was_picked_and_that_a_translation_was_given(page: MapsPage) -> None:
    page.state.settings.label_mode = "read"
    page.state.selection.pick_queries((1,), 1)
    snapshot = take_snapshot(page.state, "model")
    assert snapshot is not None
    assert "picked: Row der → " in snapshot.drawing.caption
    translation = page.state.translation
    assert translation is not None
    experiment = Experiment(SENTENCE, GivenTarget(translation.text))
    page.state.show_translation(replace(translation, experiment=experiment))
    snapshot = take_snapshot(page.state, "model")
    assert snapshot is not None
    assert "given translation: " in snapshot.drawing.caption


@pytest.mark.figures
@pytest.mark.slow
def test_a_picture_of_one_hundred_tokens_is_whole(
    saving: Saving, page: MapsPage, tmp_path: Path
) -> None:
    page.state.show_translation(make_translation(" ".join(["wort"] * 98), " ".join(["word"] * 98)))
    saving.save_map(tmp_path / "picture.svg")
    words, _ = svg_text(tmp_path / "picture.svg")
    assert words.count("wort") >= 98 * 2
    assert words.lower().count("word") >= 98 * 2


OFF, RUN = HeadScaled(Head("cross", 1, 4)), ForcedToken(2, "now")


@pytest.fixture
def changed(page: MapsPage, translation: Translation) -> Translation:
    """The page shows an experiment with two interventions."""
    words = SENTENCE.lower().split()
    target = " ".join([*words[:2], "now", *words[2:]])
    changed = make_translation(" ".join(words), target, text=SENTENCE, interventions=(OFF, RUN))
    page.state.accept(ExperimentResult(changed, translation, translation.log_probabilities))
    return changed


@pytest.mark.figures
@pytest.mark.slow
def test_files_name_the_interventions_in_plain_words(
    page: MapsPage, saving: Saving, changed: Translation, tmp_path: Path
) -> None:
    snapshot = saving.snapshot
    assert snapshot is not None
    assert display_text(snapshot.facts["experiment"]) == "cross 2·5 off; step 3: now"
    assert snapshot.facts["maps"] == "changed"
    assert snapshot.facts["translation"] == changed.text
    for what in (saving.save_map, saving.save_heads, saving.save_page):
        what(tmp_path / "picture.svg")
        letters = svg_text(tmp_path / "picture.svg")[0].replace(" ", "")
        assert "cross2·5off" in letters
        assert "step3:now" in letters
    saving.save_html(tmp_path / "maps.html")
    facts = data_of((tmp_path / "maps.html").read_text(encoding="utf-8"))["facts"]
    assert facts["experiment"] == "cross 2·5 off; step 3: now"
    page.state.settings.shown = "original"
    snapshot = saving.snapshot
    assert snapshot is not None
    assert snapshot.facts["maps"] == "original, with nothing changed"
    assert snapshot.facts["translation"] != changed.text
    assert snapshot.file_name == "cross-attention-layer-2-head-5-original"


@pytest.mark.slow
@pytest.mark.figures
def test_a_difference_is_exported_as_one(
    page: MapsPage, saving: Saving, changed: Translation, translation: Translation, tmp_path: Path
) -> None:
    page.state.settings.shown, page.state.settings.label_mode = "difference", "predicted"
    snapshot, values = saving.snapshot, weights_of(page)
    assert snapshot is not None
    assert np.isnan(values[2]).all()
    assert "maps: changed minus original" in snapshot.drawing.caption
    assert snapshot.facts["original translation"] == translation.text
    saving.save_table(tmp_path / "map.csv")
    with (tmp_path / "map.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    assert set(rows[2][1:]) == {""}
    np.testing.assert_allclose(np.array(rows[3][1:], dtype=float), values[3], rtol=1e-5, atol=1e-9)
    saving.save_table(tmp_path / "map.json")
    content = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
    assert set(content["weights"][2]) == {None}
    saving.save_table(tmp_path / "map.npz")
    with np.load(tmp_path / "map.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["map"], values)
        np.testing.assert_array_equal(arrays["cross"], changed.maps.cross)
        np.testing.assert_array_equal(arrays["original_cross"], translation.maps.cross)
    saving.save_html(tmp_path / "maps.html")
    data = data_of((tmp_path / "maps.html").read_text(encoding="utf-8"))
    assert all(mode["signed"] for kind in data["kinds"] for mode in kind["modes"].values())
    for name, save_it in (("map", saving.save_map), ("heads", saving.save_heads)):
        save_it(tmp_path / f"{name}.png")
        image = QImage(str(tmp_path / f"{name}.png"))
        colors = [
            image.pixelColor(x, y)
            for x in range(0, image.width(), 7)
            for y in range(0, image.height(), 7)
        ]
        assert any(color.red() > color.blue() + 40 for color in colors), name
        assert any(color.blue() > color.red() + 40 for color in colors), name
    page.state.settings.picture = "lines"
    saving.save_map(tmp_path / "lines.svg")
    assert "maps:changedminusoriginal" in svg_text(tmp_path / "lines.svg")[0].replace(" ", "")


def test_browsers_know_the_fonts_of_a_picture_of_the_page(saving: Saving, tmp_path: Path) -> None:
    saving.save_page(tmp_path / "page.svg")
    elements = list(ElementTree.parse(tmp_path / "page.svg").iter())
    families = {
        element.attrib["font-family"] for element in elements if "font-family" in element.attrib
    }
    assert families
    for family in families:
        names = [name.strip() for name in family.split(",")]
        assert names[-1] == "sans-serif"
        assert "Sans Serif" not in names
        assert len(names) > 2


@pytest.mark.heavy
def test_a_sentence_that_looks_like_a_font_is_left_alone(
    page: MapsPage, saving: Saving, tmp_path: Path
) -> None:
    words = '<g font-family="Sans Serif"'
    page.state.show_translation(make_translation(text=f"{words} >"))
    saving.save_page(tmp_path / "page.svg")
    assert words in svg_text(tmp_path / "page.svg")[0]


def show_known_model(page: MapsPage) -> ExperimentResult:
    assert page.state.translation is not None
    page.state.show_translation(replace(page.state.translation, model_digest="ab" * 32))
    assert page.state.result is not None
    return page.state.result


@pytest.mark.figures
@pytest.mark.heavy
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
@pytest.mark.parametrize("what", ["heatmap", "lines", "heads", "page"])
def test_every_picture_says_which_experiment_and_model_it_shows(
    page: MapsPage, saving: Saving, tmp_path: Path, what: str, ending: str
) -> None:
    path = tmp_path / f"picture.{ending}"
    result = show_known_model(page)
    save(saving, page, what, path)
    saved = read_provenance(path)
    assert saved.experiment == result.experiment
    assert saved.model.digest == result.changed.model_digest
    assert "augenmerk" in str(saved.view["versions"])
    if ending == "pdf":
        assert_is_pdf_with_update(path.read_bytes())


def assert_is_pdf_with_update(content: bytes) -> None:
    """Both tables of objects, and the added object, are where they are said to be."""
    starts = [int(number) for number in re.findall(rb"startxref\s+(\d+)", content)]
    assert all(content[start:].startswith(b"xref") for start in starts)
    assert len(starts) == 2
    assert re.search(rb"/Prev %d\b" % starts[0], content[starts[1] :])
    table = re.match(rb"xref\n(\d+) 1\n(\d{10}) 00000 n \ntrailer", content[starts[1] :])
    assert table is not None
    assert content[int(table[2]) :].startswith(table[1] + b" 0 obj\n<< /Producer (Augenmerk ")
    assert b"/Info " + table[1] + b" 0 R" in content[starts[1] :]


def test_numbers_and_the_page_for_the_browser_say_it_too(
    page: MapsPage, saving: Saving, tmp_path: Path
) -> None:
    result = show_known_model(page)
    for name in ("map.json", "map.npz"):
        saving.save_table(tmp_path / name)
    saving.save_html(tmp_path / "maps.html")
    assert read_provenance(tmp_path / "maps.html").experiment == result.experiment
    with np.load(tmp_path / "map.npz", allow_pickle=False) as arrays:
        values = json.loads(str(arrays["provenance"]))
    assert values["model_digest"] == result.changed.model_digest
    assert experiment_from_json(values["experiment_values"]) == result.experiment
    content = json.loads((tmp_path / "map.json").read_text(encoding="utf-8"))
    assert values.items() <= content.items()
    saving.save_table(tmp_path / "map.csv")
    beside = json.loads((tmp_path / "map.csv-metadata.json").read_text(encoding="utf-8"))
    assert values.items() <= beside.items()
    assert beside["url"] == "map.csv"
    for name in ("map.json", "map.npz", "map.csv", "map.csv-metadata.json"):
        origin = origin_of_numbers(tmp_path / name)
        assert values.items() <= origin.items()
        assert not {"weights", "row_labels", "column_labels"} & origin.keys()
