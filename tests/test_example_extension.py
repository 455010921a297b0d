"""The example of docs/extending.md, installed into a folder and found there by its entry points.

`make test-wheel` runs it with the wheel in an environment without extras, AUGENMERK_WHEEL_VENV.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from augenmerk.core.checkpoint.file import load_checkpoint

pytestmark = [pytest.mark.slow, pytest.mark.subprocess, pytest.mark.heavy]
SOURCE = Path(__file__).parent / "example_extension"
SENTENCE = "Zwei Hunde spielen im Schnee."
SHOW_WINDOW = """
import sys
from pathlib import Path
from PySide6.QtCore import QEventLoop, QSettings, QTimer
from PySide6.QtWidgets import QApplication
app = QApplication([])
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.theme import Theme
Theme.light().apply(app)
window = MainWindow(Preferences(QSettings(sys.argv[1], QSettings.Format.IniFormat)), sentence=sys.argv[2])
loop = QEventLoop()
window.translation_shown.connect(loop.quit)
QTimer.singleShot(60_000, loop.quit)
window.show()
loop.exec()
"""
WINDOW = f"""
{SHOW_WINDOW}
print("augenmerk_example.tab" in sys.modules)
window.analysis.open_tab("sharpest")
app.processEvents()
tab = window.analysis.tab
print(type(tab).__module__, len(tab.bars.bars), tab.bars.bars[0].text)
window.state.settings.measure = "above-uniform"
print(window.translate_page.head.measure_menu.text())
window.shutdown.end()
"""

IMPORT_IN_WINDOW = f"""
{SHOW_WINDOW}
print(window.loader.name_filter())
window.loader.loaded.connect(lambda info: (print(info.path), loop.quit()))
QTimer.singleShot(60_000, loop.quit)
window.open_model(Path(sys.argv[3]))
dialog = window.loader.importer.dialog
print(dialog.source)
while not dialog.import_button.isEnabled():
    app.processEvents()
dialog.import_button.click()
loop.exec()
window.shutdown.end()
"""


NEIGHBOUR = """
from augenmerk.core.extensions.readers.reader import FileReader, FolderReader
BEFORE = FolderReader(name="Before", code="none:none", order=105, settings_file="b.json", weights="b")
AFTER = FolderReader(name="After", code="none:none", order=300, settings_file="a.json", weights="a")
FILE = FileReader(name="Neighbour", code="none:none", order=300, weight="n", files="*.neighbour")
"""
NEIGHBOUR_ENTRY_POINTS = """
[augenmerk.readers]
before = neighbour:BEFORE
after = neighbour:AFTER
neighbour = neighbour:FILE
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment variables with which Python finds the installed example, next to another
    extension.
    """
    folder = tmp_path_factory.mktemp("installed")
    options = (
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--disable-pip-version-check",
    )
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", folder, SOURCE], check=True
    )
    about = folder / "neighbour-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: neighbour\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(NEIGHBOUR_ENTRY_POINTS)
    (folder / "neighbour.py").write_text(NEIGHBOUR)
    return {**os.environ, "PYTHONPATH": str(folder)}


def run(installed: dict[str, str], *arguments: str) -> str:
    environment = os.environ.get("AUGENMERK_WHEEL_VENV")
    python = Path(environment).absolute() / "bin" / "python" if environment else sys.executable
    folder = installed["PYTHONPATH"]  # outside of the checkout
    done = subprocess.run(
        [python, *arguments],
        cwd=folder,
        env=installed,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "cannot be used" not in done.stderr
    return done.stdout


def test_its_command_is_listed_and_runs(installed: dict[str, str]) -> None:
    assert "print the heads that look at one token alone" in run(
        installed, "-m", "augenmerk", "--help"
    )
    lines = run(installed, "-m", "augenmerk", "sharpest", SENTENCE).splitlines()
    assert len(lines) == 24
    values = [float(line.split()[0]) for line in lines]
    assert values == sorted(values, reverse=True)
    assert "cross" in lines[0]


@pytest.fixture(params=["file", "folder"])
def model_of_the_example(
    request: pytest.FixtureRequest, untrained_checkpoint: Path, tmp_path: Path
) -> Path:
    """A model in the format of the example: a file, or a folder."""
    checkpoint = load_checkpoint(untrained_checkpoint)
    folder = tmp_path / "toy"
    folder.mkdir()
    facts = {"model": checkpoint.run.model.to_dict(), "data": checkpoint.run.data.to_dict()}
    facts["vocabularies"] = checkpoint.codecs.to_dict()
    if request.param == "folder":
        save_file(checkpoint.weights, folder / "weights.safetensors")
        (folder / "example.json").write_text(json.dumps(facts), encoding="utf-8")
        return folder
    save_file(
        {f"example/{name}": weight for name, weight in checkpoint.weights.items()},
        folder / "one.example",
    )
    (folder / "one.json").write_text(json.dumps(facts), encoding="utf-8")
    return folder / "one.example"


def test_its_readers_import_a_model(
    installed: dict[str, str],
    model_of_the_example: Path,
    untrained_checkpoint: Path,
    tmp_path: Path,
) -> None:
    ours = tmp_path / "ours.safetensors"
    said = run(
        installed, "-m", "augenmerk", "import", str(model_of_the_example), "--out", str(ours)
    )
    assert "The example of docs/extending.md" in said
    imported, original = load_checkpoint(ours), load_checkpoint(untrained_checkpoint)
    assert imported.run.data == original.run.data
    assert imported.weights.keys() == original.weights.keys()
    assert all(
        torch.equal(imported.weights[name], weight) for name, weight in original.weights.items()
    )


def test_its_models_are_recognized_without_torch(
    installed: dict[str, str], model_of_the_example: Path
) -> None:
    program = """
import sys
from pathlib import Path
from augenmerk.core.recognizers import recognize
for path in map(Path, sys.argv[1:]):
    recognized = recognize(path)
    print(recognized.source, recognized.message)
print("torch" in sys.modules, "augenmerk_example.reader" in sys.modules)
"""
    said = run(installed, "-c", program, str(model_of_the_example)).splitlines()
    name = "Example" if model_of_the_example.is_dir() else "the example"
    assert said[0].startswith(
        f"{model_of_the_example} {model_of_the_example} is a model of {name}. Import it first: "
    )
    assert said[1] == "False False"


def test_its_models_are_listed_where_one_can_be_chosen(
    installed: dict[str, str], tmp_path: Path
) -> None:
    help_text = " ".join(run(installed, "-m", "augenmerk", "import", "--help").split())
    assert re.search(r"the folder of a [^;]*\bJoeyNMT\b[^;]*\bExample\b[^;]* model", help_text)
    program = """
import sys
from augenmerk import AugenmerkError, import_model
try:
    import_model(sys.argv[1])
except AugenmerkError as error:
    print(error)
"""
    said = run(installed, "-c", program, str(tmp_path))
    assert re.search(r"and no example\.json\b.*; it holds nothing\. Choose the folder", said)
    assert re.search(r"JoeyNMT\b.*\bExample\b.* model, or a file of .*\bthe example\b", said)


def test_its_models_are_imported_in_the_window(
    installed: dict[str, str], model_of_the_example: Path, tmp_path: Path
) -> None:
    said = run(
        installed,
        "-c",
        IMPORT_IN_WINDOW,
        str(tmp_path / "settings.ini"),
        SENTENCE,
        str(model_of_the_example),
    ).splitlines()
    patterns = said[0].removeprefix("Models (").partition(")")[0].split()
    assert {"*.safetensors", "*.example", "config.json", "example.json"} <= set(patterns)
    assert said[1] == str(model_of_the_example)
    assert said[2].endswith(
        "toy.safetensors" if model_of_the_example.is_dir() else "one.safetensors"
    )


def test_its_measure_is_one_of_python_and_the_terminal(installed: dict[str, str]) -> None:
    program = f"""
from augenmerk import Translator, measure
translator = Translator.load()
translation = translator.translate({SENTENCE!r})
times = measure(translator, translation, "above-uniform", "cross").weights
assert (times == translation.maps.cross * translation.maps.cross.shape[-1]).all()
print("as computed")
"""
    assert "as computed" in run(installed, "-c", program)
    assert "above-uniform" in run(installed, "-m", "augenmerk", "analyze", "--help")


def test_its_tab_and_measure_are_in_the_window(installed: dict[str, str], tmp_path: Path) -> None:
    loaded, tab, button = run(
        installed, "-c", WINDOW, str(tmp_path / "settings.ini"), SENTENCE
    ).splitlines()
    assert loaded == "False", "its code is imported when the tab is shown"
    assert tab.startswith("augenmerk_example.tab 24 0.")
    assert button == "times uniform ▾"
