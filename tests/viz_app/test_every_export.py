"""Every file that leaves the program says which version and model made it, and of which experiment,
if it shows one.

What is exported is read from the menus and the commands, so a new export is tested, too.
"""

import argparse
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

import augenmerk.viz_app
from augenmerk.core import __version__
from augenmerk.core.cli.command import OptionParser
from augenmerk.core.cli.main import SUBCOMMANDS
from augenmerk.core.cli.main import main as run_command
from augenmerk.core.cli.outputs import OutputFile
from augenmerk.core.extensions.lessons.lesson_file import Lesson, Scene, write_lesson_file
from augenmerk.core.extensions.provenance import EXPORTS, read_provenance_values
from augenmerk.core.extensions.run_settings.toml_file import read_toml
from augenmerk.core.model.heads import Head
from augenmerk.core.run_files import RUN_SETTINGS
from augenmerk.core.translation.experiment import Experiment, HeadScaled
from augenmerk.core.translation.experiment_file import (
    ModelReference,
    SavedExperiment,
    experiment_to_json,
)
from augenmerk.viz_app.extensions.lessons.lesson_documents import (
    LESSON_FILES,
    RUNNING_PAGES,
    SHEET_NAMES,
    SHEETS,
)
from augenmerk.viz_app.extensions.pictures.menu import FILES, OF_RUNS
from augenmerk.viz_app.extensions.pictures.running_page import DEFAULT_TEXT
from augenmerk.viz_app.launch import main as run_window_command
from augenmerk.viz_app.launch import window_parser
from augenmerk.viz_app.main_window import MainWindow
from tests.conftest import open_once
from tests.core.extensions.training.runs import copy_run, record
from tests.made_once import made_once
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import TRAIN, documents_of, exports_of, lessons_of, train_page_of

pytestmark = [pytest.mark.heavy, pytest.mark.figures]

SENTENCE = "Ein Mann steht."
OFF = HeadScaled(Head("cross", 0, 0))
CHANGED = Experiment(SENTENCE, interventions=(OFF,))
NO_TRANSLATION = {
    ("align", "--write-ibm-1"): "links that no Transformer made",
    ("average", "--out"): "a model",
    ("data", "--out"): "a corpus, without a model",
    ("import", "--out"): "a model",
    ("info", "--json"): "the origin of another file",
    ("train", "--out"): "a model, which knows its version and settings",
}
ASKING_WHERE_TO_SAVE = {
    "extensions/documents/experiment_documents.py": "experiments",
    "extensions/imports/import_dialog.py": "models",
    "extensions/lessons/lesson_documents.py": "tested here",
    "extensions/pictures/menu.py": "tested here",
    "views/large_map_panel.py": "the kernel without its extensions",
}


def origin_in(path: Path) -> dict[str, Any]:
    """What a file, or the one next to it, says about its origin."""
    if path.suffix in EXPORTS:
        return read_provenance_values(path)
    if path.suffix == ".json":
        return dict(json.loads(path.read_text(encoding="utf-8")))
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            if "provenance" in arrays:
                return dict(json.loads(str(arrays["provenance"])))
            return of_arrays(arrays)
    beside = json.loads(path.with_name(f"{path.name}-metadata.json").read_text(encoding="utf-8"))
    assert beside["url"] == path.name
    return dict(beside)


def of_arrays(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """What the commands write, from NPZ as from JSON."""
    return {
        "version": str(arrays["version"]),
        "model": {"digest": str(arrays["model/digest"])},
        "source": str(arrays["source"]),
        "output": {"type": str(arrays["output/type"])},
        "interventions": [json.loads(text) for text in arrays["interventions"].tolist()],
    }


def digest_of(origin: Mapping[str, Any]) -> str:
    model = origin["model"] if isinstance(origin.get("model"), dict) else {}
    return str(model.get("digest") or origin.get("model_digest") or origin.get("settings_digest"))


def experiments_of(origin: Mapping[str, Any]) -> list[dict[str, Any]]:
    if "experiments" in origin:
        return list(origin["experiments"])
    if "experiment_values" in origin:
        return [origin["experiment_values"]]
    return [
        {
            "source_text": origin["source"],
            "output": origin["output"],
            "interventions": origin["interventions"],
        }
    ]


@pytest.fixture(scope="module")
def trained_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a few steps with its film."""
    folder = made_once(
        tmp_path_factory,
        "run-to-export",
        lambda path: record(copy_run(num_epochs=1), path / "copy"),
    )
    return folder / "copy"


@pytest.fixture
def window(make_window: MakeWindow, untrained_checkpoint: Path, qtbot: QtBot) -> MainWindow:
    return make_window(untrained_checkpoint, sentence=SENTENCE, loader=open_once)


def export(window: MainWindow, name: str, path: Path, qtbot: QtBot) -> None:
    """Exports what is in sight by an entry of the menu."""
    menu = exports_of(window)
    menu.ask(name)
    dialog = menu.dialog
    assert dialog is not None, f"there is nothing to export for “{name}”"
    with qtbot.waitSignal(menu.done):
        dialog.fileSelected.emit(str(path))
    dialog.reject()
    qtbot.waitUntil(lambda: menu.dialog is None and menu.writing_dialog is None)


def test_every_export_of_maps_names_version_model_and_experiment(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    state = window.state
    assert state.model is not None
    window.translate_page.analysis.open_tab("word")
    qtbot.waitUntil(lambda: window.translate_page.export_source().table is not None)
    for name in FILES.keys() - set(OF_RUNS):
        for ending in FILES[name].formats:
            path = tmp_path / f"{name}.{ending}"
            export(window, name, path, qtbot)
            origin = origin_in(path)
            assert origin["version"] == __version__, path
            assert digest_of(origin) == state.model.digest, path
            shown = Experiment(SENTENCE) if name == "running page" else state.experiment
            assert experiments_of(origin) == [experiment_to_json(shown)], path


@pytest.mark.training
def test_every_export_of_a_training_names_version_and_settings(
    window: MainWindow, trained_run: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    window.pages.show(TRAIN)
    page = train_page_of(window)
    assert page is not None
    page.run_actions.open_run(trained_run)
    qtbot.waitUntil(lambda: (run := page.export_source().run) is not None and run.has_film)
    settings = json.loads(json.dumps(read_toml(trained_run / RUN_SETTINGS).to_dict()))
    for name in (*OF_RUNS, "page"):
        # films as MP4, which start a process, are tested with the commands
        for ending in FILES[name].formats.keys() - {"mp4"}:
            path = tmp_path / f"{name}.{ending}"
            export(window, name, path, qtbot)
            origin = origin_in(path)
            assert origin["version"] == __version__, path
            assert len(digest_of(origin)) == 64, path
            if name != "page":
                assert (origin["run"], origin["settings"]) == ("copy", settings), path
            if name.startswith(("film", "page")):
                (experiment,) = experiments_of(origin)
                assert experiment["source_text"], path


def test_every_export_of_a_lesson_names_version_model_and_the_experiments(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    model = window.state.model
    assert model is not None
    reference = ModelReference(model.title, model.digest)
    experiments = (Experiment(SENTENCE), CHANGED)
    scenes = [
        Scene(f"Scene {number}", "", SavedExperiment(experiment, reference), question="Why?")
        for number, experiment in enumerate(experiments, start=1)
    ]
    lesson_path = tmp_path / "two.augenmerk"
    write_lesson_file(Lesson("Two -- scenes", tuple(scenes)), lesson_path)
    documents_of(window).open(lesson_path)
    qtbot.waitUntil(lambda: not window.state.request.is_running)
    lessons = lessons_of(window)
    writers: list[tuple[str, Callable[[Path], object], dict[str, str]]] = [
        ("page", lessons.export.save_web_page, LESSON_FILES),
        ("running", lessons.export.save_running_page, RUNNING_PAGES),
        *(
            (sheet, lambda path, sheet=sheet: lessons.export.save_sheet(sheet, path), SHEETS)
            for sheet in SHEET_NAMES
        ),
    ]
    for name, write, formats in writers:
        for ending in formats:
            path = tmp_path / f"{name}.{ending}"
            write(path)
            qtbot.waitUntil(path.exists)
            origin = origin_in(path)
            assert origin["version"] == __version__, path
            assert digest_of(origin) == model.digest, path
            assert experiments_of(origin) == list(map(experiment_to_json, experiments)), path


def test_no_other_part_of_the_window_asks_where_to_save() -> None:
    root = Path(augenmerk.viz_app.__path__[0])
    asking = re.compile(r"(?<!def )\bask_where_to_save\(|getSaveFileName|AcceptSave\b")
    modules = {
        str(path.relative_to(root).as_posix())
        for path in root.rglob("*.py")
        if asking.search(path.read_text(encoding="utf-8"))
    }
    assert modules - {"widgets/dialogs.py"} == set(ASKING_WHERE_TO_SAVE)


def written_by_commands() -> set[tuple[str, str]]:
    """The options of all commands that name a file to write, or ask for JSON."""
    parsers: dict[str, argparse.ArgumentParser] = {"app": window_parser()}
    for name in SUBCOMMANDS:
        parsers[name] = OptionParser()
        import_module(SUBCOMMANDS[name].module).add_options(parsers[name])
    return {
        (name, option)
        for name, parser in parsers.items()
        for action in actions_of(parser)
        for option in action.option_strings[-1:]
        if isinstance(action.type, OutputFile) or option in ("--json", "--jsonl")
    }


def actions_of(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Those of its own commands, too."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for own in action.choices.values():
                yield from actions_of(own)


ONE = (SENTENCE, "--head-off", "cross:1:1")
WRITTEN: dict[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...]]] = {
    ("align", "--json"): (("--text", *ONE, "--head", "cross:1:1"), ("",)),
    ("analyze", "--out"): (ONE, ("json", "npz")),
    ("app", "--screenshot"): (("MODEL", "--sentence", SENTENCE), ("png",)),
    ("charts", "--out"): (("RUN",), ("png", "svg", "pdf", "csv", "gif", "mp4")),
    ("evaluate", "--hypotheses"): (("--source", "CORPUS", "--head-off", "cross:1:1"), ("txt",)),
    ("evaluate", "--json"): (("--source", "CORPUS", "--head-off", "cross:1:1"), ("",)),
    ("figure", "--out"): (("--text", *ONE), ("png", "svg", "pdf", "html")),
    ("page", "--out"): (("MODEL",), ("html",)),
    ("translate", "--attention"): (ONE, ("npz",)),
    ("translate", "--json"): (ONE, ("",)),
    ("translate", "--jsonl"): (ONE, ("",)),
}
"""Arguments that make a command write by this option, and the endings of its files; without an
ending, it prints JSON."""
IN_A_PROCESS = (
    pytest.mark.subprocess,
    pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg"),
)
CHANGED_OF_ALL = ("evaluate",)
"""Commands of many sentences, which name only the changes."""


def test_every_command_that_writes_is_in_the_table() -> None:
    assert written_by_commands() == WRITTEN.keys() | NO_TRANSLATION.keys()


@pytest.mark.parametrize(
    ("command", "option", "ending"),
    [
        pytest.param(
            *key,
            ending,
            id=f"{' '.join(key)} {ending}".strip(),
            marks=IN_A_PROCESS if ending == "mp4" else (),
        )
        for key, (_, endings) in WRITTEN.items()
        for ending in endings
    ],
)
def test_what_a_command_writes_names_version_model_and_experiment(
    command: str,
    option: str,
    ending: str,
    untrained_checkpoint: Path,
    trained_run: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    corpus = tmp_path / "corpus.tsv"
    corpus.write_text("Ein Mann .\tA man .\n" * 2, encoding="utf-8")
    values = {"MODEL": str(untrained_checkpoint), "RUN": str(trained_run), "CORPUS": str(corpus)}
    arguments = [values.get(argument, argument) for argument in WRITTEN[command, option][0]]
    if command not in ("app", "charts", "page"):
        arguments += ["--checkpoint", str(untrained_checkpoint)]
    path = tmp_path / f"written.{ending}"
    arguments += [option, *([str(path)] if ending else [])]
    if command == "app":
        assert run_window_command([command, *arguments]) == 0
    else:
        assert run_command([command, *arguments]) == 0
    origin = origin_in(path) if ending else json.loads(capsys.readouterr().out)
    assert origin["version"] == __version__
    if command == "charts":
        assert origin["run"] == trained_run.name
        assert len(digest_of(origin)) == 64
        return
    assert digest_of(origin) == open_once(untrained_checkpoint, "cpu").digest
    if command in CHANGED_OF_ALL:
        assert origin["interventions"] == experiment_to_json(CHANGED)["interventions"]
        assert origin["beam"] == 1
        return
    experiments = experiments_of(origin | {"source": SENTENCE} if command == "align" else origin)
    shown = {"app": Experiment(SENTENCE), "page": Experiment(DEFAULT_TEXT)}.get(command, CHANGED)
    assert experiments == [experiment_to_json(shown)]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "csv", "gif"])
def test_a_file_of_a_training_without_provenance_says_nothing(
    ending: str, trained_run: Path, tmp_path: Path
) -> None:
    path = tmp_path / f"written.{ending}"
    assert run_command(["charts", str(trained_run), "--no-provenance", "--out", str(path)]) == 0
    assert path.is_file()
    assert b"augenmerk:" not in path.read_bytes()
    assert {file.name for file in tmp_path.iterdir()} == {path.name}


def test_info_prints_the_origin_of_a_file(
    trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "film.gif"
    assert run_command(["charts", str(trained_run), "--out", str(path)]) == 0
    capsys.readouterr()
    assert run_command(["info", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == read_provenance_values(path)
    (tmp_path / "other.gif").write_bytes(b"GIF89a" + bytes(20))
    assert run_command(["info", str(tmp_path / "other.gif")]) == 2
    assert "does not say how it was drawn" in capsys.readouterr().err


def test_a_chart_is_not_drawn_again_as_a_map(
    trained_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "chart.png"
    assert run_command(["charts", str(trained_run), "--out", str(path)]) == 0
    capsys.readouterr()
    again = ["figure", "--again", str(path), "--out", str(tmp_path / "again.png")]
    assert run_command(again) == 2
    assert "does not show just one map, or all heads, of one" in capsys.readouterr().err
