"""Pictures say how they were drawn, and are drawn again from that alone."""

import base64
import json
import shutil
import struct
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from augenmerk.core.errors import ExperimentFileError
from augenmerk.core.extensions import provenance as module
from augenmerk.core.extensions.provenance import (
    facts_of_experiments,
    read_provenance,
    read_provenance_values,
    text_with_provenance,
    with_provenance,
)
from augenmerk.core.storage import write_text
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.experiment_file import ModelReference, SavedExperiment, to_bytes
from augenmerk.viz_app.launch import main

SENTENCE = "Ein Mann steht <b> & \\(auf) einer Leiter augenmerk:abc."
DIGEST = "ab" * 32
SAVED = SavedExperiment(Experiment(SENTENCE), ModelReference("model", DIGEST))
ENDINGS = ("png", "svg", "pdf", "html")


def draw(*arguments: str) -> int:
    return main(["figure", "--device", "cpu", *arguments])


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    content = BytesIO()
    Image.new("RGB", (2, 2)).save(content, "PNG")
    return content.getvalue()[:33] + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def word(data: bytes) -> bytes:
    return b"augenmerk:" + base64.urlsafe_b64encode(zlib.compress(data, 9))


@pytest.mark.figures
@pytest.mark.heavy
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    "options",
    [
        ["--layer", "2", "--head", "1", "--rows", "read", "--hide", "punctuation", "end"],
        ["--grid", "--words", "--own-scale", "--head-off", "cross:1:1", "--beam", "2"],
    ],
    ids=["map", "grid"],
)
def test_a_picture_is_drawn_again_byte_for_byte(
    ending: str,
    options: list[str],
    untrained_checkpoint: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, again = tmp_path / f"first.{ending}", tmp_path / f"again.{ending}"
    model = ["--checkpoint", str(untrained_checkpoint)]
    assert draw("--text", SENTENCE, *options, *model, "--out", str(first)) == 0
    saved = read_provenance(first)
    assert saved.experiment.source_text == SENTENCE
    assert bool(saved.experiment.interventions) is ("--head-off" in options)
    capsys.readouterr()
    assert draw("--again", str(first), *model, "--out", str(again)) == 0
    assert capsys.readouterr().err == ""
    assert first.read_bytes() == again.read_bytes()


@pytest.mark.figures
@pytest.mark.heavy
def test_the_model_is_found_next_to_the_picture_and_another_is_refused(
    untrained_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, again = tmp_path / "first.png", tmp_path / "again.svg"
    model = ["--checkpoint", str(untrained_checkpoint)]
    assert draw("--text", SENTENCE, *model, "--out", str(first)) == 0
    assert draw("--again", str(first), "--out", str(again)) == 2
    message = capsys.readouterr().err
    assert "was drawn with the model “untrained” (digest " in message
    assert "changed or hooked in Python cannot be found" in message
    shutil.copy(untrained_checkpoint, tmp_path / "other name.safetensors")
    assert draw("--again", str(first), "--out", str(again)) == 0
    assert read_provenance(again).model.digest == read_provenance(first).model.digest
    assert draw("--again", str(first), "--grid", *model, "--out", str(again)) == 2
    assert "Omit --grid" in capsys.readouterr().err


@pytest.mark.figures
@pytest.mark.heavy
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_model_of_another_name_draws_the_same_bytes(
    ending: str, untrained_checkpoint: Path, tmp_path: Path
) -> None:
    first, again = tmp_path / f"first.{ending}", tmp_path / f"again.{ending}"
    renamed = shutil.copy(untrained_checkpoint, tmp_path / "renamed.safetensors")
    model = ["--checkpoint", str(untrained_checkpoint)]
    assert draw("--text", "Ein Mann.", *model, "--out", str(first)) == 0
    assert draw("--again", str(first), "--checkpoint", str(renamed), "--out", str(again)) == 0
    assert first.read_bytes() == again.read_bytes()


@pytest.mark.figures
@pytest.mark.heavy
def test_a_style_of_the_user_is_said_not_to_be_recorded(
    untrained_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ["--checkpoint", str(untrained_checkpoint)]
    for style, is_told in (([], False), (["--user-style"], True)):
        first = tmp_path / "first.png"
        assert draw("--text", "Ein Mann.", *model, *style, "--out", str(first)) == 0
        capsys.readouterr()
        assert draw("--again", str(first), *model, "--out", str(tmp_path / "again.png")) == 0
        said = "was drawn in the style of a matplotlibrc, which it does not hold"
        assert (said in capsys.readouterr().err) is is_told


@pytest.mark.figures
@pytest.mark.heavy
def test_other_versions_are_named(
    untrained_checkpoint: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = tmp_path / "first.png"
    model = ["--checkpoint", str(untrained_checkpoint)]
    assert draw("--text", SENTENCE, *model, "--out", str(first)) == 0
    monkeypatch.setattr(module, "__version__", "9.9.9")
    name = "augenmerk.viz_app.extensions.pictures.figure_command.versions"
    monkeypatch.setattr(name, module.versions)
    assert draw("--again", str(first), *model, "--out", str(tmp_path / "again.png")) == 0
    message = capsys.readouterr().err
    assert "was drawn with augenmerk 0." in message
    assert "This is augenmerk 9.9.9, matplotlib " in message
    saved = read_provenance(first)
    unknown = SavedExperiment(saved.experiment, saved.model, {**saved.view, "versions": None})
    first.write_bytes(with_provenance(png((b"IEND", b"")), unknown))
    assert draw("--again", str(first), *model, "--out", str(tmp_path / "again.png")) == 0
    assert "does not name the versions that drew it. This is" in capsys.readouterr().err


@pytest.mark.figures
@pytest.mark.heavy
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_picture_without_provenance_holds_none_and_is_refused(
    ending: str, untrained_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = tmp_path / f"first.{ending}"
    model = ["--checkpoint", str(untrained_checkpoint)]
    assert draw("--text", "Ein Mann.", *model, "--no-provenance", "--out", str(first)) == 0
    assert b"augenmerk:" not in first.read_bytes()
    assert draw("--again", str(first), *model, "--out", str(tmp_path / "again.png")) == 2
    assert "does not say how it was drawn" in capsys.readouterr().err


def test_a_picture_of_the_window_is_refused_with_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "window.png").write_bytes(with_provenance(png((b"IEND", b"")), SAVED))
    assert draw("--again", str(tmp_path / "window.png"), "--out", str(tmp_path / "a.png")) == 2
    assert "was not drawn by `augenmerk figure`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "sideways"),
        ("layer", True),
        ("grid", 1),
        ("hide", "end"),
        ("hide", (("end",),)),
        ("measure", ("weight",)),
        ("more", 1),
    ],
)
def test_options_of_wrong_types_are_refused(
    name: str, value: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    view = {
        "kind": "cross", "layer": None, "head": None, "combine": "mean", "grid": False,
        "measure": "weight", "label": "read", "words": False, "hide": (), "own_scale": False,
        "user_style": False, name: value,
    }  # fmt: skip
    saved = SavedExperiment(SAVED.experiment, SAVED.model, view)  # type: ignore[arg-type]
    (tmp_path / "a.png").write_bytes(with_provenance(png((b"IEND", b"")), saved))
    assert draw("--again", str(tmp_path / "a.png"), "--out", str(tmp_path / "b.png")) == 2
    assert "options that this version does not know" in capsys.readouterr().err


BOMB = zlib.compress(b"[" * 50_000_000, 9)
ENTITIES = b"""<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa">%s]><svg>
<metadata id="augenmerk">&z;</metadata></svg>""" % b"".join(
    b'<!ENTITY %c "%s">' % (letter, b"&%c;" % (letter - 1) * 10) for letter in range(98, 123)
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (png((b"iTXt", b"Augenmerk\0\0\0\0\0" + b"a" * 20_000_000)), "does not say how"),
        (png((b"zTXt", b"Augenmerk\0\0" + BOMB)), "does not say how"),
        (png((b"tEXt", b"Augenmerk\0" + word(b"[" * 30_000_000))), "more than 1,000,000 bytes"),
        (png((b"tEXt", b"Augenmerk\0" + word(b"[" * 100_000))), "cannot be used"),
        (png((b"tEXt", b"Augenmerk\0augenmerk:abc")), "damaged metadata"),
        (png((b"tEXt", b"Augenmerk\0augenmerk:" + b"A" * 100)), "damaged metadata"),
        (png((b"tEXt", b"Augenmerk\0" + word(b'{"format": "augenmerk"}'))), "cannot be used"),
        (png() + b"\xff\xff\xff\xfftEXtAugenmerk\0augenmerk:", "does not say how"),
        (ENTITIES, "does not say how"),
        (b"<svg><text>augenmerk:abc</text></svg>", "does not say how"),
        (b"<!doctype html><head></head>", "does not say how"),
        (b"%PDF-1.4\ntrailer << >>", "does not say how"),
        (b"", "is no PNG, SVG, PDF, HTML, GIF, MP4 or Markdown file"),
        (b"GIF89a", "does not say how"),
        (b"GIF89a" + b"\xff" * 7 + b"!\xfe\xffaugenmerk:", "does not say how"),
        (b"GIF89a" + bytes(7) + b"!\xfe\x0eaugenmerk:abc!", "does not say how"),
        (bytes(4) + b"ftyp" + b"data" + bytes(8) + b"augenmerk:abc", "does not say how"),
        (b"# <!-- augenmerk:abc --> <!-- augenmerk:abc -->", "does not say how"),
        (b"# <!-- " + word(b'{"format": "augenmerk"}') + b" -->", "cannot be used"),
    ],
    ids="iTXt zTXt bomb nested base64 zlib types size entities text html pdf empty "
    "gif blocks comment mp4 twice markdown".split(),
)
def test_hostile_metadata_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(content)
    with pytest.raises(ExperimentFileError, match=message):
        read_provenance(tmp_path / "a.bin")


@pytest.mark.parametrize("value", ['"origin": []', '"origin": {}, "other": 1', '"other": {}'])
def test_hostile_facts_are_refused(value: str, tmp_path: Path) -> None:
    document = f'{{"format": "augenmerk", "version": 1, "kind": "origin", {value}}}'
    (tmp_path / "a.png").write_bytes(png((b"tEXt", b"Augenmerk\0" + word(document.encode()))))
    with pytest.raises(ExperimentFileError, match="cannot be used"):
        read_provenance_values(tmp_path / "a.png")


def test_a_page_with_a_name_that_is_not_utf_8_has_its_origin(tmp_path: Path) -> None:
    facts = facts_of_experiments("l\udce4ufe", DIGEST, [SAVED.experiment])
    page = text_with_provenance("<!doctype html><head></head>l\udce4ufe", facts)
    write_text(tmp_path / "a.html", page)
    assert read_provenance_values(tmp_path / "a.html") == facts
    assert facts["model"] == "l?ufe"


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.png", tmp_path):
        with pytest.raises(ExperimentFileError, match="cannot be read"):
            read_provenance(path)


def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 50)
    (tmp_path / "a.png").write_bytes(png() + bytes(100))
    with pytest.raises(ExperimentFileError, match="too large"):
        read_provenance(tmp_path / "a.png")


def test_a_newer_version_is_named(tmp_path: Path) -> None:
    values = json.loads(to_bytes(SAVED)) | {"version": 99}
    newer = png((b"tEXt", b"Augenmerk\0" + word(json.dumps(values).encode())))
    (tmp_path / "a.png").write_bytes(newer)
    with pytest.raises(ExperimentFileError, match="written by a newer Augenmerk"):
        read_provenance(tmp_path / "a.png")


def test_readers_of_pictures_still_read_them(tmp_path: Path) -> None:
    content = BytesIO()
    Image.new("RGB", (3, 2)).save(content, "PNG")
    picture = Image.open(BytesIO(with_provenance(content.getvalue(), SAVED)))
    picture.load()
    assert picture.size == (3, 2)
    assert picture.info["Augenmerk"].startswith("augenmerk:")
    assert picture.info["Software"].startswith("Augenmerk ")
