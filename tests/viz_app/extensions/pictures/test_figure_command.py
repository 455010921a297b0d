"""`augenmerk figure`: what is drawn are the numbers of the library, captions say all, refusals are
one message."""

import os
import shutil
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from augenmerk.core.maps.measures import measure_maps
from augenmerk.core.maps.model_pass import Pass
from augenmerk.core.maps.selection import Selection
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment, GivenTarget
from augenmerk.core.translation.experiment_file import (
    ModelReference,
    SavedExperiment,
    write_experiment_file,
)
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.pictures import figures
from augenmerk.viz_app.launch import main
from tests.builders import command_line, first_quick
from tests.interventions import heads_switched_off
from tests.test_import_rules import modules_imported_by

SENTENCE = "Ein Mann steht auf einer Leiter."
TARGET = "A man stands on a ladder."


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list:
    """What is handed to matplotlib, one entry for each figure."""
    calls: list = []
    for name in ("map_figure", "grid_figure"):
        original = getattr(figures, name)
        monkeypatch.setattr(
            figures,
            name,
            lambda *arguments, original=original: calls.append(arguments) or original(*arguments),
        )
    return calls


def draw(checkpoint: Path, *arguments: str) -> int:
    return main(
        [
            *command_line("figure --text {} --checkpoint {} --device cpu", SENTENCE, checkpoint),
            *arguments,
        ]
    )


@pytest.mark.figures
@pytest.mark.parametrize(
    ("name", "magic"),
    first_quick(
        [
            ("a.png", b"\x89PNG"),
            ("a.svg", b"<?xml"),
            ("a.PDF", b"%PDF"),
            ("a.html", b"<!doctype html>"),
        ]
    ),
)
@pytest.mark.parametrize("grid", [[], ["--grid"]], ids=["map", "grid"])
def test_the_ending_says_what_is_written(
    untrained_checkpoint: Path, tmp_path: Path, name, magic, grid
) -> None:
    assert (
        draw(
            untrained_checkpoint,
            "--layer",
            "1",
            "--head",
            "2",
            "--out",
            str(tmp_path / name),
            *grid,
        )
        == 0
    )
    assert (tmp_path / name).read_bytes().startswith(magic)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.figures
def test_the_style_of_the_user_is_an_option(
    untrained_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / f"{name}.svg" for name in ("plain", "own", "users")]
    assert draw(untrained_checkpoint, "--out", str(files[0])) == 0
    with matplotlib.rc_context({"axes.facecolor": "#123456", "text.usetex": True}):
        assert draw(untrained_checkpoint, "--out", str(files[1])) == 0
        assert draw(untrained_checkpoint, "--user-style", "--out", str(files[2])) == 0
    assert [b"#123456" in file.read_bytes() for file in files] == [False, False, True]
    assert files[0].read_bytes() == files[1].read_bytes()
    assert draw(untrained_checkpoint, "--user-style", "--out", str(tmp_path / "page.html")) == 2
    assert "--user-style has no effect on .html files. Omit it." in capsys.readouterr().err


@pytest.mark.figures
@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "html"])
def test_files_may_have_names_that_are_not_utf8(
    untrained_checkpoint: Path, tmp_path: Path, ending: str
) -> None:
    checkpoint = tmp_path / os.fsdecode(b"m\xf6dell.safetensors")
    shutil.copy(untrained_checkpoint, checkpoint)
    target = tmp_path / (os.fsdecode(b"b\xeeld.") + ending)
    assert draw(checkpoint, "--out", str(target)) == 0
    assert target.is_file()
    assert ending not in ("svg", "html") or "m\ufffddell" in target.read_text(encoding="utf-8")


@pytest.mark.figures
def test_a_map_is_that_of_the_library_and_its_caption_says_what_it_is(
    untrained_checkpoint: Path, tmp_path: Path, drawn: list
) -> None:
    arguments = command_line("--target {} --kind cross --layer 2 --head 1 --measure norm", TARGET)
    arguments += ["--label", "predicted", "--words", "--hide", "end", "--head-off", "encoder:1:1"]
    assert draw(untrained_checkpoint, *arguments, "--out", str(tmp_path / "map.svg")) == 0
    (picture,) = drawn[0]
    translator = Translator.load(untrained_checkpoint, "cpu")
    off = heads_switched_off([Head("encoder", 0, 0)])
    translation = translator.run(Experiment(SENTENCE, GivenTarget(TARGET), off))
    maps = measure_maps(Pass.of(translator, translation), "norm", "cross")
    expected = Selection("predicted", True, frozenset({"end"})).apply(
        maps[1, 0], translation, "cross"
    )
    np.testing.assert_allclose(picture.values, expected.weights, atol=1e-6)
    assert picture.row_labels == expected.queries.labels
    assert picture.scale.top == pytest.approx(expected.weights.max())
    said = (tmp_path / "map.svg").read_text(encoding="utf-8")
    for words in ("untrained", "layer 2", "head 1", "norm", "predicted", "ladder"):
        assert words in said, words
    for words in (
        SENTENCE,
        TARGET,
        "rows: token predicted",
        "hidden: end",
        "% of the attention",
        "experiment: encoder 1·1 off",
    ):
        assert words in picture.caption, words


@pytest.mark.figures
def test_the_earlier_name_of_the_option_still_works(
    untrained_checkpoint: Path, tmp_path: Path, drawn: list
) -> None:
    for name in ("--head-off", "--off"):
        assert (
            draw(
                untrained_checkpoint,
                name,
                "cross:1:2",
                "decoder:2:1",
                "--out",
                str(tmp_path / "map.png"),
            )
            == 0
        )
    (first,), (second,) = drawn
    assert first.caption == second.caption
    assert "experiment: decoder 2·1 off; cross 1·2 off" in first.caption
    np.testing.assert_array_equal(first.values, second.values)


@pytest.mark.figures
def test_a_file_gives_sentence_and_changes(
    untrained_checkpoint: Path, tmp_path: Path, drawn: list
) -> None:
    translator = Translator.load(untrained_checkpoint, "cpu")
    experiment = Experiment(
        SENTENCE, GivenTarget(TARGET), heads_switched_off([Head("cross", 0, 1)])
    )
    saved = SavedExperiment(experiment, ModelReference(translator.name, translator.digest))
    write_experiment_file(saved, tmp_path / "my.augenmerk")
    common = command_line(
        "figure --checkpoint {} --device cpu --layer 2 --head 1", untrained_checkpoint
    )
    assert (
        main(
            [
                *common,
                *command_line(
                    "--experiment {} --out {}", tmp_path / "my.augenmerk", tmp_path / "map.png"
                ),
            ]
        )
        == 0
    )
    (picture,) = drawn[0]
    np.testing.assert_allclose(
        picture.values, translator.run(experiment).maps.cross[1, 0], atol=1e-6
    )
    assert TARGET in picture.caption
    assert "experiment: cross 1·2 off" in picture.caption


def test_a_missing_sentence_is_asked_for(
    untrained_checkpoint: Path, tmp_path: Path, capsys
) -> None:
    assert (
        main(
            command_line(
                "figure --checkpoint {} --out {}", untrained_checkpoint, tmp_path / "map.png"
            )
        )
        == 2
    )
    assert "Add --text with a sentence, or --experiment" in capsys.readouterr().err


@pytest.mark.figures
@pytest.mark.parametrize(
    ("arguments", "title", "count"),
    [
        (["--layer", "2"], "Cross-attention · layer 2 · mean of 2 heads", (1, 2)),
        ([], "Cross-attention · 2 layers · max of 4 heads", (2, 2)),
    ],
)
def test_heads_that_are_not_named_are_combined(
    untrained_checkpoint: Path,
    tmp_path: Path,
    drawn: list,
    arguments: list[str],
    title: str,
    count: tuple[int, int],
) -> None:
    how = "max" if not arguments else "mean"
    assert (
        draw(untrained_checkpoint, *arguments, "--combine", how, "--out", str(tmp_path / "map.png"))
        == 0
    )
    (picture,) = drawn[0]
    cross = (
        Translator.load(untrained_checkpoint, "cpu")
        .run(Experiment(SENTENCE))
        .maps.cross[2 - count[0] :]
    )
    expected = cross.max(axis=(0, 1)) if how == "max" else cross.mean(axis=(0, 1))
    np.testing.assert_allclose(picture.values, expected, atol=1e-6)
    assert picture.title == title
    assert picture.scale.top == 1


@pytest.mark.figures
def test_a_grid_holds_every_head_of_every_kind(
    untrained_checkpoint: Path, tmp_path: Path, drawn: list
) -> None:
    assert (
        draw(untrained_checkpoint, "--grid", "--own-scale", "--out", str(tmp_path / "grid.png"))
        == 0
    )
    kinds, caption = drawn[0]
    maps = Translator.load(untrained_checkpoint, "cpu").run(Experiment(SENTENCE)).maps
    for kind, block in zip(("encoder", "decoder", "cross"), kinds, strict=True):
        drawn_values = [[drawing.values for drawing in line] for line in block.lines]
        np.testing.assert_allclose(drawn_values, maps.of_kind(kind), atol=1e-6)
        tops = [[drawing.scale.top for drawing in line] for line in block.lines]
        np.testing.assert_allclose(tops, maps.of_kind(kind).max(axis=(-2, -1)), atol=1e-6)
    assert "weight α" in caption


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--layer", "9", "--out", "x.png"], "no layer 9 in cross-attention"),
        (["--layer", "0", "--out", "x.png"], "no layer 0"),
        (["--layer", "1", "--head", "3", "--out", "x.png"], "no head 3"),
        (["--head", "1", "--out", "x.png"], "needs a layer"),
        (["--out", "x.bmp"], "ends in one of .png"),
        (
            ["--kind", "decoder", "--measure", "rollout", "--out", "x.png"],
            "no measure 'rollout' for decoder",
        ),
        (["--off", "cross:9:9", "--out", "x.png"], "no cross layer 9 head 9"),
        (["--target", " ", "--out", "x.png"], "no word of the given translation"),
        (
            ["--target", "A dog.", "--beam", "3", "--out", "x.png"],
            "--beam has no effect on the given translation",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_message(
    untrained_checkpoint: Path,
    tmp_path: Path,
    monkeypatch,
    capsys,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert draw(untrained_checkpoint, *arguments) == 2
    output = capsys.readouterr()
    assert message in output.err
    assert "Traceback" not in output.err
    assert not list(tmp_path.iterdir())


@pytest.mark.figures
@pytest.mark.parametrize("name", ["map.png", "map.html"])
def test_a_folder_that_cannot_be_written_is_said(
    untrained_checkpoint: Path, tmp_path: Path, capsys, name: str
) -> None:
    (tmp_path / "file").write_text("")
    assert draw(untrained_checkpoint, "--out", str(tmp_path / "file" / name)) == 2
    assert "Cannot write" in capsys.readouterr().err


@pytest.mark.heavy
def test_a_text_with_all_tokens_hidden_is_refused(
    untrained_checkpoint: Path, tmp_path: Path, capsys
) -> None:
    arguments = command_line("figure --text . --target . --checkpoint {}", untrained_checkpoint)
    hide = ["--hide", "start", "end", "punctuation"]
    for name, grid in (("x.png", []), ("x.png", ["--grid"]), ("x.html", [])):
        assert main([*arguments, *hide, *grid, "--out", str(tmp_path / name)]) == 2
        assert "every token is hidden" in capsys.readouterr().err


def test_an_unknown_measure_is_refused(untrained_checkpoint: Path, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        draw(untrained_checkpoint, "--measure", "magic", "--out", "x.png")
    assert ended.value.code == 2
    assert "magic" in capsys.readouterr().err


def test_help_lists_the_command(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "    figure    draw a map" in capsys.readouterr().out


@pytest.mark.subprocess
def test_the_command_needs_no_qt() -> None:
    modules = modules_imported_by(
        "import augenmerk.viz_app.extensions.pictures.figure_command, augenmerk.viz_app.launch"
    )
    assert not {name for name in modules if name.split(".")[0] in {"PySide6", "shiboken6", "torch"}}
