"""The bundled model can be trained again: `make model`."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.cli.main import make_parser
from augenmerk.core.extensions.training.cli.train import configured_run
from augenmerk.core.extensions.training.corpora.parallel import read_lines
from augenmerk.core.extensions.training.folder import read_starts, summarize
from augenmerk.core.extensions.training.inputs import RunModels
from augenmerk.core.run_files import LAST
from tests.builders import command_line
from tools.train_bundled_model import RECIPE, RESULT, Stage, main, read_recipe

ROOT = RECIPE.parent.parent
STAGES = read_recipe(RECIPE, [])
TRAININGS = [stage for stage in STAGES if stage.is_training]


@pytest.mark.parametrize("stage", TRAININGS, ids=[stage.name for stage in TRAININGS])
def test_each_training_has_settings_that_exist(stage: Stage) -> None:
    run = configured_run(make_parser().parse_args(list(stage.command[1:])), RunModels())
    assert (run.data.source_language, run.data.target_language) == stage.languages


def test_each_stage_uses_only_files_of_earlier_ones() -> None:
    known = {"corpus"}
    for stage in STAGES:
        _, _, *options = stage.command
        used = {word.partition("/")[0] for word in options if word.endswith(LAST)} | {
            stage.pairs or "corpus"
        }
        assert used - {stage.name} <= known
        known.add(stage.name)


def test_trainings_differ_in_their_seed() -> None:
    seeds = [
        word for stage in TRAININGS for word in stage.command if word.startswith("training.seed=")
    ]
    assert len(set(seeds)) == len(seeds) == len(TRAININGS)


def test_the_recipe_trains_the_architecture_of_the_bundled_model() -> None:
    run = configured_run(make_parser().parse_args(list(TRAININGS[-1].command[1:])), RunModels())
    assert run.model == load_checkpoint(ROOT / "resources" / RESULT).run.model


def test_a_folder_of_another_recipe_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    for folder in (data, out):
        folder.mkdir()
    for name in ("train.de", "train.en", "val.de", "val.en"):
        (data / name).write_text("Ein Hund.\n", encoding="utf-8")
    record = {"command": "augenmerk train --out backward-1", "attempts": []}
    (out / f"{STAGES[0].name}.json").write_text(json.dumps(record), encoding="utf-8")
    assert main(["--data", str(data), "--out", str(out)]) == 2
    assert (
        "was made by another command: augenmerk train --out backward-1. Choose"
        in capsys.readouterr().err
    )


def test_a_file_that_is_no_recipe_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("[forward]\ndata = 'corpus'\n", encoding="utf-8")
    assert main(["--recipe", str(recipe), "--out", str(tmp_path / "out")]) == 2
    assert "recipe.toml is not a recipe: KeyError('seed')" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.training
@pytest.mark.subprocess
@pytest.mark.corpus
@pytest.mark.timeout(2400)
@pytest.mark.skipif(sys.platform == "win32", reason="kills a group of processes")
def test_one_percent_of_the_recipe_survives_a_kill_and_a_stop(
    tmp_path: Path, multi30k_folder: Path
) -> None:
    """All stages of the recipe on 1% of the pairs, with a smaller model; killed in one stage and
    stopped in another.
    """
    recipe, out = tmp_path / "recipe.toml", tmp_path / "out"
    small = r"\1model.width = 32\nmodel.feed_forward_width = 64\n"
    recipe.write_text(
        re.sub(r"(\.settings\]\n)", small, RECIPE.read_text(encoding="utf-8")), encoding="utf-8"
    )

    def begin() -> "subprocess.Popen[bytes]":
        words = command_line(
            "--dry-run --recipe {} --data {} --out {}", recipe, multi30k_folder, out
        )
        command = [sys.executable, "-m", "tools.train_bundled_model", *words]
        with (tmp_path / "log").open("ab") as log:
            return subprocess.Popen(
                command, cwd=ROOT, start_new_session=True, stdout=log, stderr=log
            )

    def wait_for_checkpoint(stage: str, process: "subprocess.Popen[bytes]") -> None:
        while not (out / stage / LAST).is_file():
            assert process.poll() is None, (tmp_path / "log").read_text()
            time.sleep(0.05)

    for stage, stop in (("forward", _kill_group), ("last", subprocess.Popen.terminate)):
        process = begin()
        try:
            wait_for_checkpoint(stage, process)
        finally:
            stop(process)
        assert process.wait() in (-signal.SIGKILL, 1)
        # a killed child ends a little later than its parent
        while summarize(out / stage).state == "running":
            time.sleep(0.05)
    assert "last, unfinished" in (out / "table.md").read_text()
    process = begin()
    assert process.wait() == 0, (tmp_path / "log").read_text()

    for stage in TRAININGS:
        run = summarize(out / stage.name)
        assert run.state == "finished"
        starts = read_starts(out / stage.name)
        assert [start["first_step"] > 0 for start in starts] == [False, True][: len(starts)]
        assert len(starts) == (2 if stage.name in ("forward", "last") else 1), (
            "finished stages do not run again"
        )
    assert (out / "first" / LAST).stat().st_size > (out / RESULT).stat().st_size
    num_pairs = len(read_lines(out / "corpus" / "train.de"))
    assert num_pairs == 290
    assert len(list((out / "diversified").glob("by-*.txt"))) == 3
    assert num_pairs < len(read_lines(out / "diversified" / "train.de")) <= 4 * num_pairs
    rows = [line for line in (out / "table.md").read_text().splitlines() if line.startswith("| ")][
        1:
    ]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == [
        stage.name for stage in STAGES
    ]
    assert "unfinished" not in "".join(rows)


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    os.killpg(process.pid, signal.SIGKILL)
