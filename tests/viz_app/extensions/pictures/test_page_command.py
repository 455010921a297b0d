"""A page that runs a model: what its file holds, its policy, and the command that writes it."""

import base64
import gzip
import html
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from augenmerk.core.checkpoint.file import Checkpoint, load_checkpoint, save_checkpoint
from augenmerk.core.extensions.lessons.lesson_file import read_lesson_file, write_lesson_file
from augenmerk.core.extensions.page.packing import (
    BYTES_PER_PARAMETER,
    PackedModel,
    engine_script,
    pack_model,
)
from augenmerk.core.extensions.page.scripts import joined_script
from augenmerk.core.resources import bundled_model_path, resource_path
from augenmerk.viz_app.extensions.documents.reading import SHIPPED_LESSONS
from augenmerk.viz_app.extensions.examples.gallery import gallery
from augenmerk.viz_app.extensions.help.glossary import glossary
from augenmerk.viz_app.extensions.pictures.legend import MARK_MEANINGS
from augenmerk.viz_app.extensions.pictures.page_parts import PARTS, FirstView, page_script
from augenmerk.viz_app.extensions.pictures.running_page import (
    MODULES,
    TERMS,
    running_page_html,
    save_running_page,
)
from augenmerk.viz_app.launch import main
from tests.builders import command_line
from tests.core.translation.random_models import make_translator

ATTENTION = resource_path(SHIPPED_LESSONS) / "1-attention.augenmerk"
HOSTILE = "</script><script>alert(1)</script><!-- & “ü”"


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return make_translator("subwords, pre-norm, all tied").checkpoint


@pytest.fixture(scope="module")
def packed(checkpoint: Checkpoint) -> PackedModel:
    return pack_model(checkpoint, "mine")


def held(page: str, name: str) -> str:
    """The text of one of the page's script elements, which ends where a browser ends it."""
    match = re.search(rf'<script type="[^"]*" id="{name}">(.*?)</script', page, re.DOTALL)
    assert match is not None, name
    return match[1]


def test_the_page_holds_the_model_as_packed(checkpoint: Checkpoint, packed: PackedModel) -> None:
    page = running_page_html(checkpoint, "mine", packed)
    assert {name: held(page, name) for name in ("description", "weights")} == packed.texts
    assert (
        json.loads(gzip.decompress(base64.b64decode(held(page, "description"))))["name"] == "mine"
    )


def test_sentences_and_names_are_never_markup(checkpoint: Checkpoint, packed: PackedModel) -> None:
    page = running_page_html(checkpoint, HOSTILE, packed, FirstView(HOSTILE))
    plain = running_page_html(checkpoint, "mine", packed, FirstView("text"))
    assert json.loads(held(page, "data"))["text"] == HOSTILE
    assert page.count("<script") == plain.count("<script")
    assert page.count("</script") == plain.count("</script")
    assert page.count("<!--") == 0


def test_terms_and_marks_are_explained(checkpoint: Checkpoint, packed: PackedModel) -> None:
    page = running_page_html(checkpoint, "mine", packed)
    terms = {term.title: term.text for term in glossary() if term.title in TERMS}
    assert list(terms) == [term.title for term in glossary() if term.title in terms]
    assert len(terms) == len(TERMS)
    for term, text in terms.items():
        assert f"<dt>{html.escape(term)}</dt><dd>{html.escape(text)}</dd>" in page
    for meaning in MARK_MEANINGS.values():
        assert html.escape(meaning) in page


def test_no_script_reads_texts_as_markup_or_asks_a_network() -> None:
    scripts = (
        page_script(MODULES, ["showPage"])
        + engine_script()
        + joined_script([PARTS / "worker.js"], ["serve"])
    )
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", scripts
    )
    assert not re.search(r"fetch\(|XMLHttpRequest|WebSocket|https?://|</script|<!--", scripts)
    assert not re.search(r"^(import|export)\b", scripts, re.MULTILINE)


def test_examples_and_the_head_in_view_are_those_of_the_gallery(
    checkpoint: Checkpoint, packed: PackedModel
) -> None:
    data = json.loads(
        held(running_page_html(checkpoint, "mine", packed, examples=gallery()), "data")
    )
    assert [example["text"] for group in data["examples"] for example in group["members"]] == [
        e.text for e in gallery() if e.see
    ]
    assert data["head"] == vars(gallery()[0].head)
    assert data["text"] == gallery()[0].text
    without = json.loads(
        held(running_page_html(checkpoint, "mine", packed, FirstView("Ein Hund.")), "data")
    )
    assert (without["text"], without["examples"]) == ("Ein Hund.", [])


@pytest.mark.slow
@pytest.mark.heavy
def test_the_bundled_model_takes_at_most_two_point_four_bytes_per_parameter(tmp_path: Path) -> None:
    target = tmp_path / "lab.html"
    packed = save_running_page(
        load_checkpoint(bundled_model_path()), "multi30k-de-en", target, examples=gallery()
    )
    assert target.stat().st_size <= BYTES_PER_PARAMETER * packed.num_parameters
    page = target.read_text(encoding="utf-8")
    assert "non-commercial research and education" in page
    assert "multi30k-de-en" in page


def test_the_command_writes_the_page_and_prints_its_size(
    untrained_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "lab.html"
    assert (
        main(["page", str(untrained_checkpoint), "--out", str(target), "--text", "Ein Hund läuft."])
        == 0
    )
    assert json.loads(held(target.read_text(encoding="utf-8"), "data"))["text"].startswith(
        "Ein Hund "
    )
    assert f"{target}: " in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["lab.html"]


@pytest.mark.parametrize(("options", "is_rounded"), [([], True), (["--bits", "32"], False)])
def test_a_page_with_rounded_weights_says_so(
    options: list[str],
    is_rounded: bool,
    checkpoint: Checkpoint,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model, target = tmp_path / "mine.safetensors", tmp_path / "lab.html"
    save_checkpoint(checkpoint, model)
    assert main(["page", str(model), "--out", str(target), *options]) == 0
    for text in (target.read_text(encoding="utf-8"), capsys.readouterr().err):
        assert ("The weights in this page are rounded to 16 bits." in text) == is_rounded


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--out", "lab.txt"], "choose a file name that ends in .html"),
        (
            ["MODEL", "--out", "lab.html", "--lesson", "mine.augenmerk", "--text", "Ein Hund."],
            "Omit --text",
        ),
        (["missing.safetensors", "--out", "lab.html"], "missing.safetensors"),
        (["FRENCH", "--out", "lab.html"], "a page has word rules for de and en, not for fr"),
        (["MODEL", "--out", "french.safetensors/lab.html"], "french.safetensors/lab.html"),
    ],
)
def test_refusals_name_the_reason_and_write_nothing(
    arguments: list[str],
    reason: str,
    checkpoint: Checkpoint,
    untrained_checkpoint: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    french = replace(
        checkpoint,
        run=replace(checkpoint.run, data=replace(checkpoint.run.data, target_language="fr")),
    )
    save_checkpoint(french, tmp_path / "french.safetensors")
    named = {"MODEL": str(untrained_checkpoint), "FRENCH": "french.safetensors"}
    assert main(["page", *(named.get(argument, argument) for argument in arguments)]) == 2
    assert reason in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["french.safetensors"]


@pytest.mark.slow
@pytest.mark.heavy
def test_the_command_writes_a_lesson_into_the_page(tmp_path: Path) -> None:
    target = tmp_path / "lesson.html"
    assert main(["page", "--lesson", str(ATTENTION), "--out", str(target)]) == 0
    page, lesson = target.read_text(encoding="utf-8"), read_lesson_file(ATTENTION)
    data = json.loads(held(page, "lesson-data"))
    assert [scene["title"] for scene in data["scenes"]] == [scene.title for scene in lesson.scenes]
    assert [scene["answer"] for scene in data["scenes"]] == [
        scene.answer for scene in lesson.scenes
    ]
    assert f"<title>Augenmerk · {lesson.title}</title>" in page


WITHOUT_QT = """
import sys
sys.modules.update(dict.fromkeys(("PySide6", "shiboken6", "matplotlib")))  # every import of one raises ImportError
from augenmerk.viz_app.launch import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.subprocess
def test_a_server_without_qt_writes_a_page_with_every_kind_of_scene(tmp_path: Path) -> None:
    lesson = read_lesson_file(ATTENTION)
    first = lesson.scenes[0]
    rollout = replace(first, saved=replace(first.saved, view={"measure": "rollout"}))  # recorded
    predicted = replace(first, question="What happens?", check="without-head")
    path, target = tmp_path / "mine.augenmerk", tmp_path / "lesson.html"
    write_lesson_file(replace(lesson, scenes=(*lesson.scenes, rollout, predicted)), path)
    command = command_line(
        "{} -c {} page --lesson {} --out {}", sys.executable, WITHOUT_QT, path, target
    )
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *_, recorded, question = json.loads(held(target.read_text(encoding="utf-8"), "lesson-data"))[
        "scenes"
    ]
    assert recorded["reason"] == "the measure “rollout”"
    assert question["choices"]


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("lesson", "reason"),
    [
        (ATTENTION, "was made with the model “multi30k-de-en”, and the page would run"),
        (Path("missing.augenmerk"), "There is no file missing.augenmerk"),
        (bundled_model_path(), "cannot be used as an experiment or a lesson"),
    ],
    ids=["another model", "missing", "no lesson"],
)
def test_a_lesson_that_does_not_fit_is_refused_and_nothing_is_written(
    lesson: Path,
    reason: str,
    untrained_checkpoint: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = tmp_path / "lesson.html"
    assert (
        main(["page", str(untrained_checkpoint), "--lesson", str(lesson), "--out", str(target)])
        == 2
    )
    assert reason in capsys.readouterr().err
    assert not target.exists()
