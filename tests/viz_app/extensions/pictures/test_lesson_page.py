"""The page of a lesson: all scenes with their own live maps, no network, and texts that cannot
break out."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.counting import display_text
from augenmerk.core.errors import StorageError
from augenmerk.core.model.heads import AttentionKind, Head
from augenmerk.core.translation.result import FloatArray
from augenmerk.viz_app.extensions.pictures.html_page import (
    ScenePart,
    lesson_page_html,
    save_lesson_page,
)
from augenmerk.viz_app.extensions.pictures.scene_notes import OutlinedText
from augenmerk.viz_app.extensions.pictures.worksheet import SheetScene, save_sheet
from augenmerk.viz_app.state.map_view import Pair
from tests.builders import command_line
from tests.viz_app.extensions.pictures.browser import Browser
from tests.viz_app.extensions.pictures.test_html_page import (
    SAID,
    SVG_NAME,
    TRANSLATION,
    Parts,
    content,
    read_by_the_script,
)
from tests.viz_app.extensions.pictures.test_sheet_pdf import SCENE
from tests.viz_app.synthetic import make_translation

OTHER = make_translation("zwei hunde .", "two dogs .", num_layers=2, num_heads=3)
PARTS = (
    ScenePart(
        "First", "It looks at “mann”.", content(shown=Head("cross", 1, 2), pinned=Pair(1, 2))
    ),
    ScenePart(
        "Second </script> & <b>",
        "@DATA@ <i>",
        content(
            translation=OTHER,
            maps={kind: OTHER.maps.of_kind(kind) for kind in ("encoder", "decoder", "cross")},
            shown=Head("encoder", 0, 1),
        ),
    ),
)


def test_every_scene_shows_its_own_sentence_head_and_pinned_cell(qapp) -> None:
    said = read_by_the_script(lesson_page_html("Title", PARTS), SAID)
    for text in (TRANSLATION.source_text, OTHER.source_text, TRANSLATION.text, OTHER.text):
        assert text in said
    assert any(text.endswith("layer 2 · head 3") for text in said)
    assert any(text.endswith("layer 1 · head 2") for text in said)
    weight = TRANSLATION.maps.cross[1, 2, 1, 2]
    assert [text for text in said if f": {weight:.4f} (pinned" in text]
    assert sum("Point at a cell to read it" in text for text in said) == 1, (
        "nothing is pinned in the second scene"
    )


def test_every_scene_has_the_parts_that_the_script_fills() -> None:
    page = lesson_page_html("Title", PARTS)
    ids = [attributes["id"] for _, attributes in Parts(page).tags if "id" in attributes]
    assert sorted(ids) == ["colors", "theme"]
    parts = [
        attributes["data-part"] for _, attributes in Parts(page).tags if "data-part" in attributes
    ]
    assert len(parts) == 2 * len(set(parts))
    filled = set(re.findall(r'\bpart\("([a-z]+)"\)', page))
    assert len(filled) > 10
    assert filled <= set(parts), "what the script looks for is there"


def test_the_words_of_the_lesson_are_escaped() -> None:
    page = lesson_page_html("A <b> title", PARTS)
    assert "<title>A &lt;b&gt; title</title>" in page
    assert "<h2>2. Second &lt;/script&gt; &amp; &lt;b&gt;</h2>" in page
    assert "<p>@DATA@ &lt;i&gt;</p>" in page
    assert len(Parts(page).scripts) == 4
    assert "</script> steht" not in page


def test_a_question_is_followed_by_its_answer_on_request() -> None:
    asked = replace(PARTS[0], question="Why <so>?", answer="Because & therefore.")
    page = lesson_page_html("Title", (asked, PARTS[1]))
    assert "<p><strong>Why &lt;so&gt;?</strong></p>" in page
    assert (
        "<details><summary>Show the answer</summary><p>Because &amp; therefore.</p></details>"
        in page
    )
    assert page.count("<details><summary>Show") == 1, "a scene without an answer has none"


def test_nothing_is_fetched() -> None:
    page = lesson_page_html("Title", PARTS)
    for tag, attributes in Parts(page).tags:
        assert not {"src", "href", "srcset", "action", "data"} & attributes.keys(), (
            tag,
            attributes,
        )
    own = page.replace(SVG_NAME, "")
    for data in Parts(page).scripts[:-2]:
        own = own.replace(data.strip(), "")
    assert not re.search(r"https?:|[\"'(]//|@import|url\(|fetch\(|XMLHttpRequest|import\(", own)
    assert "default-src 'none'" in page


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(StorageError):
        save_lesson_page("x", [replace(PARTS[0], title="y")], tmp_path / "folder.html")


def test_scenes_are_printed_two_on_a_page_with_room_for_answers() -> None:
    page = lesson_page_html("Title", (replace(PARTS[0], question="Why?", answer="So."), PARTS[1]))
    assert page.count('<div class="lines">') == 1, "below the question"
    printed = page.partition("@media print {")[2].partition("</style>")[0]
    for rule in (
        "print-color-adjust: exact",
        "break-inside: avoid",
        "details:not([open])",
        ".lines { display: flex;",
    ):
        assert rule in printed, rule


def heads_in(maps: Mapping[AttentionKind, FloatArray]) -> list[Head]:
    return [
        Head(kind, *index) for kind, array in maps.items() for index in np.ndindex(*array.shape[:2])
    ]


LONG = (
    "A sentence that is long enough for two lines on paper, even if its letters are small, as in "
    "a caption it is."
)


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.heavy
@pytest.mark.parametrize("notes", [(), ("A short note.",) * 6])
def test_a_browser_prints_two_scenes_on_a_page(notes: tuple[str, ...], tmp_path: Path) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("needs chromium: the package chromium of Debian")
    asked = [replace(part, question="Why?", answer="So.") for part in (*PARTS, *PARTS)]
    asked = [replace(scene, content=replace(scene.content, notes=notes)) for scene in asked]
    sheet = SheetScene(
        "Title", "Ein Satz.", "Text", "Why?", "So.", tuple(map(OutlinedText, notes)), SCENE.drawing
    )
    sheets = [replace(sheet, caption=OutlinedText(LONG)) for _ in asked]
    (tmp_path / "page.html").write_text(lesson_page_html("Title", asked), encoding="utf-8")
    save_sheet("Title", sheets, "worksheet", tmp_path / "sheet.html")
    for name in ("page", "sheet"):
        options = command_line(
            "--headless --no-sandbox --disable-gpu {} --no-pdf-header-footer",
            f"--user-data-dir={tmp_path}",
        )
        target = tmp_path / f"{name}.pdf"
        subprocess.run(
            [browser, *options, f"--print-to-pdf={target}", (tmp_path / f"{name}.html").as_uri()],
            check=True,
            capture_output=True,
            timeout=120,
        )
        assert len(re.findall(rb"/Type\s*/Page\b", target.read_bytes())) == 2, name


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.heavy
def test_recorded_scenes_fit_a_phone_and_name_their_heads(session: Browser, tmp_path: Path) -> None:
    long = make_translation("donaudampfschifffahrtsgesellschaft " * 9, "a very long name " * 4)
    maps = {kind: long.maps.of_kind(kind) for kind in ("encoder", "decoder", "cross")}
    signed = content(translation=long, maps=maps, original=(long, maps))
    parts = (*PARTS, replace(PARTS[0], content=signed))
    (tmp_path / "page.html").write_text(lesson_page_html("Title", parts), encoding="utf-8")
    session.show_as(360, 740, is_phone=True)
    session.command("/url", {"url": (tmp_path / "page.html").as_uri()})
    assert session.script("return [document.documentElement.scrollWidth, innerWidth]") == [360, 360]
    nodes = session.devtools("Accessibility.getFullAXTree")["nodes"]
    names = [
        node["name"]["value"]
        for node in nodes
        if node.get("role", {}).get("value") == "button" and "name" in node
    ]
    heads = [display_text(head.title) for part in parts for head in heads_in(part.content.maps)]
    assert [name for name in names if " · head " in name] == heads


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.heavy
def test_without_scripts_a_lesson_shows_a_map_of_each_scene_and_no_dead_controls(
    session: Browser, tmp_path: Path
) -> None:
    asked = (replace(PARTS[0], question="Why?", answer="So."), PARTS[1])
    (tmp_path / "page.html").write_text(lesson_page_html("Title", asked), encoding="utf-8")
    session.show_as(360, 740, is_phone=True)
    session.devtools("Emulation.setScriptExecutionDisabled", value=True)
    try:
        session.command("/url", {"url": (tmp_path / "page.html").as_uri()})
        nodes = session.devtools("Accessibility.getFullAXTree")["nodes"]
    finally:
        session.devtools("Emulation.setScriptExecutionDisabled", value=False)
    seen = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node["ignored"]
    ]
    maps = [name for role, name in seen if role in ("image", "img")]
    assert maps == [display_text(part.content.shown.title) for part in PARTS]
    texts = " ".join(name for role, name in seen if role == "StaticText")
    for text in (
        "Scripts are off here",
        "Why?",
        TRANSLATION.text,
        OTHER.text,
        "Each row: where the encoder looks",
    ):
        assert text in texts, text
    assert not {"button", "combobox", "checkbox", "Canvas"} & {role for role, _ in seen}
