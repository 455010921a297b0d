"""Lessons in a page that runs their model, in Chromium: scenes give the results of Python, can be
changed and reset."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.counting import display_text
from augenmerk.core.extensions.lessons.lesson_file import Lesson, Scene, read_lesson_file
from augenmerk.core.extensions.page.packing import pack_model
from augenmerk.core.model.heads import KIND_TITLES, Head
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.translation.experiment import Beam, Experiment
from augenmerk.core.translation.experiment_file import ModelReference, SavedExperiment
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.examples.gallery import gallery
from augenmerk.viz_app.extensions.lessons.lesson_documents import shipped_lessons
from augenmerk.viz_app.extensions.pictures.page_lesson import PageLesson
from augenmerk.viz_app.extensions.pictures.running_page import running_page_html
from tests.viz_app.extensions.pictures.browser import Browser
from tests.viz_app.extensions.pictures.test_page_lesson import computed

pytestmark = [pytest.mark.slow, pytest.mark.heavy, pytest.mark.subprocess]
SENTENCE = "Ein Mann steht auf einer Leiter."
SHIPPED = tuple(scene for path in shipped_lessons() for scene in read_lesson_file(path).scenes)
DESK, PHONE = (1440, 900), (360, 740)
VIEW = {"head": ("cross", 1, 4), "pinned": (2, 3), "label_mode": "predicted", "merges_words": False}


def own_scene(title: str, experiment: Experiment, **view: object) -> Scene:
    return Scene(
        title, "Text", SavedExperiment(experiment, ModelReference("x", "0" * 64), VIEW | view)
    )


PLAIN = Experiment(SENTENCE)
OWN = (
    own_scene("Recorded", Experiment(SENTENCE, Beam(4))),
    replace(own_scene("Choices", PLAIN), question="What happens without it?", check="without-head"),
    replace(own_scene("Typed", PLAIN), question="Why?", answer="Because of <b>it</b>."),
    own_scene("OutlinedText", Experiment(SENTENCE, Beam(4)), pointer=("word", "ring")),
    own_scene("Ring", PLAIN, pointer=("cell", "ring")),
    own_scene("Arrow", PLAIN, pointer=("head", "arrow")),
    own_scene("Word", PLAIN, pointer=("word", "ring")),
)
PLACES = {scene.title: len(SHIPPED) + index for index, scene in enumerate(OWN)}


@pytest.fixture(scope="module")
def page(bundled_translator: Translator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With all scenes of the lessons that ship, and a few more."""
    path, checkpoint = (
        tmp_path_factory.mktemp("page") / "lesson.html",
        load_checkpoint(bundled_model_path()),
    )
    lesson = PageLesson("All", computed(Lesson("All", (*SHIPPED, *OWN)), bundled_translator))
    packed = pack_model(checkpoint, "bundled")
    path.write_text(
        running_page_html(checkpoint, "bundled", packed, examples=gallery(), lesson=lesson),
        encoding="utf-8",
    )
    return path


@pytest.fixture
def opened(session: Browser, page: Path) -> Browser:
    """The page at its first scene, at a desk."""
    session.show_as(*DESK)
    session.open(page)
    return session


def go(browser: Browser, index: int) -> None:
    """Chooses a scene in the list."""
    source = "const list = document.querySelector('#scene-list'); list.value = arguments[0];"
    browser.script(f"{source} list.dispatchEvent(new Event('change'))", str(index))
    browser.settle()


def is_shown(browser: Browser, selector: str) -> bool:
    is_visible: bool = browser.script(
        "return document.querySelector(arguments[0]).checkVisibility()", selector
    )
    return is_visible


def test_every_scene_of_the_shipped_lessons_gives_the_results_of_python(
    opened: Browser, bundled_translator: Translator
) -> None:
    for index, scene in enumerate(SHIPPED):
        if index:
            opened.click("#scene-next")
        translation = bundled_translator.run(scene.saved.experiment)
        assert opened.text("#translation") == translation.text, scene.title
        assert opened.text("#scene-text") == scene.text
        assert opened.text("#hint") == "", (
            "an example with the same sentence refers to another head or experiment"
        )
        kind, layer, head = scene.saved.view["head"]  # type: ignore[misc]
        assert opened.text("#map-title").startswith(
            f"{KIND_TITLES[kind]} · layer {layer + 1} · head {head + 1}"
        )
        if "pinned" in scene.saved.view:
            weight = translation.maps.of_kind(kind)[layer, head][scene.saved.view["pinned"]]
            match = re.search(r": (\d\.\d+)$", opened.text("#reading"))
            assert match is not None, opened.text("#reading")
            assert float(match[1]) == pytest.approx(weight, abs=1.5e-4), scene.title
        assert opened.text("#scene-changed") == ""
        assert opened.script("return location.hash") == f"#scene={index + 1}"
    assert [entry for entry in opened.logged("browser") if entry["level"] == "SEVERE"] == []


def test_changes_last_until_the_scene_is_reset(
    opened: Browser, bundled_translator: Translator
) -> None:
    before = opened.text("#translation")
    assert not is_shown(opened, "#scene-reset")
    opened.click("#factor button")
    assert is_shown(opened, "#scene-reset")
    assert "Reset to scene" in opened.text("#scene-changed")
    assert opened.script("return location.hash").startswith("#scene=1&text=")
    opened.type("#text", "Zwei Hunde.")
    opened.press("\ue007")
    opened.settle()
    assert opened.text("#translation") != before
    opened.click("#scene-reset")
    assert (opened.text("#translation"), opened.text("#scene-changed")) == (before, "")
    assert opened.texts("#chips li") == []
    assert opened.script("return document.activeElement.id") == "scene", (
        "the focus is not lost with the button"
    )
    opened.click("#factor button")
    opened.click("#scene-next")
    opened.click("#scene-back")
    assert (opened.text("#translation"), opened.text("#scene-changed")) == (before, "")


def test_an_address_opens_a_scene_with_changes(
    session: Browser, page: Path, bundled_translator: Translator
) -> None:
    session.open(page, f"#scene={PLACES['Typed'] + 1}&text=Zwei Hunde.&off=cross")
    assert (
        session.script("return document.querySelector('#scene-list').selectedIndex")
        == PLACES["Typed"]
    )
    assert len(session.texts("#chips li")) == 1
    assert session.script("return document.querySelector('#text').value") == "Zwei Hunde."
    assert is_shown(session, "#scene-reset")


def test_a_scene_that_the_page_cannot_compute_shows_recorded_maps(
    opened: Browser, bundled_translator: Translator
) -> None:
    go(opened, PLACES["Recorded"])
    assert opened.text("#scene-recorded") == "Recorded: this page cannot compute beam search."
    assert not is_shown(opened, "#laboratory")
    recorded = f'section.scene[data-place="{PLACES["Recorded"]}"]'
    assert is_shown(opened, recorded)
    beam = bundled_translator.run(Experiment(SENTENCE, Beam(4)))
    assert opened.text(f'{recorded} [data-part="target"]').endswith(
        f" with 4 hypotheses: {beam.text}"
    )
    assert opened.text(f'{recorded} [data-part="title"]') == display_text(Head("cross", 1, 4).title)
    assert opened.script(f"return document.querySelector('{recorded} canvas').width > 100")
    opened.click("#scene-next")
    assert is_shown(opened, "#laboratory")
    assert not is_shown(opened, recorded)


def test_a_question_with_choices_is_judged_as_by_python(
    opened: Browser, bundled_translator: Translator
) -> None:
    (expected,) = (
        scene for scene in computed(Lesson("x", OWN), bundled_translator) if scene.choices
    )
    go(opened, PLACES["Choices"])
    opened.click("#question button")
    assert opened.text("#question .verdict") == "Choose an answer first."
    for choice in range(len(expected.choices)):
        opened.click(f'#question input[value="{choice}"]')
        opened.click("#question button")
        verdict = "Right." if choice == expected.right else "No."
        assert opened.text("#question .verdict") == f"{verdict} {expected.answer}"
    assert opened.texts("#question label") == list(expected.choices)


def test_a_typed_answer_is_kept_and_the_teachers_is_shown_as_text(opened: Browser) -> None:
    go(opened, PLACES["Typed"])
    assert opened.text("#question .verdict") == ""
    opened.type("#question textarea", "I think so.")
    opened.click("#question button")
    assert opened.text("#question .verdict") == "Because of <b>it</b>."
    opened.click("#scene-next")
    opened.click("#scene-back")
    assert (
        opened.script("return document.querySelector('#question textarea').value") == "I think so."
    )


COUNT = """
const canvas = document.querySelector(arguments[0]), probe = document.createElement("canvas").getContext("2d");
probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--pointer");
probe.fillRect(0, 0, 1, 1);
const color = probe.getImageData(0, 0, 1, 1).data.join();
const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
let found = 0;
for (let i = 0; i < data.length; i += 4) if (data.slice(i, i + 4).join() === color) found++;
return found * (canvas.clientWidth / canvas.width) ** 2;
"""
"""Pixels on the screen in the colour of pointers."""


def test_the_pointer_of_a_scene_is_drawn(opened: Browser) -> None:
    large, small = "#map", '[aria-label="Cross-attention · layer 2 · head 5"] canvas'
    go(opened, PLACES["Typed"])
    assert opened.script(COUNT, large) == 0
    go(opened, PLACES["Ring"])
    assert opened.script(COUNT, large) > 50
    assert opened.texts("#translation .pointed") == []
    go(opened, PLACES["Word"])
    assert opened.script(COUNT, large) == 0
    assert len(opened.texts("#translation .pointed")) == 1
    go(opened, PLACES["Arrow"])
    # thumbnails are drawn in slices
    opened.script("return new Promise((done) => setTimeout(done, 200))")
    assert opened.script(COUNT, small) > 25, "as large as on other maps"


def test_a_recorded_scene_fits_the_window_and_rings_a_word_within_its_line(opened: Browser) -> None:
    go(opened, PLACES["OutlinedText"])
    section = f'section.scene[data-place="{PLACES["OutlinedText"]}"]'
    assert (
        opened.script(
            "return getComputedStyle(document.querySelector(arguments[0])).display", f"{section} p"
        )
        == "block"
    )
    assert opened.text(f"{section} mark") == "standing"
    box = "return document.querySelector(arguments[0]).getBoundingClientRect().bottom"
    assert opened.script(box, f'{section} [data-part="map"]') < DESK[1]


def test_no_scene_scrolls_sideways_on_a_phone(opened: Browser) -> None:
    opened.show_as(*PHONE, is_phone=True)
    for index in range(len(SHIPPED) + len(OWN)):
        go(opened, index)
        assert opened.script("return document.documentElement.scrollWidth - innerWidth") <= 0, index


BOXES = """
const boxOf = (id) => document.getElementById(id).getBoundingClientRect();
return [...arguments].map(boxOf).map((box) => [box.top, box.bottom]);
"""


@pytest.mark.parametrize("size", [DESK, (1920, 1080)])
def test_question_translation_and_map_are_in_sight_together(
    opened: Browser, size: tuple[int, int]
) -> None:
    opened.show_as(*size)
    for index, scene in enumerate(SHIPPED):
        go(opened, index)
        boxes = opened.script(BOXES, "question", "translation", "map", "reading")
        assert all(0 <= top <= bottom <= size[1] for top, bottom in boxes), (scene.title, boxes)
    assert opened.script("return scrollY") == 0


def test_a_projector_shows_the_map_next_to_the_lesson(opened: Browser) -> None:
    opened.show_as(1024, 768)
    go(opened, 0)
    boxes = opened.script(BOXES, "question", "translation", "map", "reading")
    assert all(0 <= top <= bottom <= 768 for top, bottom in boxes), boxes


def test_on_a_phone_the_question_stays_in_sight_above_the_map(opened: Browser) -> None:
    opened.show_as(*PHONE, is_phone=True)
    for index, scene in enumerate(SHIPPED):
        go(opened, index)
        opened.click('[title="Cross-attention · layer 3 · head 8"]')
        question, large = opened.script(BOXES, "question", "map")
        assert 0 <= question[0] <= question[1] <= large[0] < large[1] <= PHONE[1], (
            scene.title,
            question,
            large,
        )
