"""The wheel alone, in an environment without extras and outside of the checkout, does what the
README says.

`make test-wheel` makes that environment, build/wheel-venv, and runs these tests. Models of other
projects are written here, with random weights, by tools that the environment lacks.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import get_args

import pytest
from packaging.utils import canonicalize_name
from PIL import Image
from safetensors.torch import save_file

from augenmerk.core.translation.experiment import (
    AttentionRow,
    CausalMaskLifted,
    FeedForwardScaled,
    ForcedToken,
    HeadScaled,
    Intervention,
    SoftmaxTemperature,
    SourceWordRemoved,
    SourceWordReplaced,
)
from tests.core.extensions.readers import joeynmt_models, marian_models
from tests.core.extensions.readers.published import NotebookSeq2Seq, shaken
from tests.core.extensions.readers.test_state_dicts import SHAPE, data, sizes  # noqa: F401  # `data` is a fixture
from tests.test_pins import installed_requirements

pytestmark = [pytest.mark.slow, pytest.mark.subprocess]

SENTENCE = "Zwei Hunde spielen im Schnee."
TRANSLATION = "Two dogs play in the snow."
REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def environment() -> Path:
    """The virtual environment."""
    folder = os.environ.get("AUGENMERK_WHEEL_VENV")
    if not folder:
        pytest.skip("needs an environment with the wheel alone: make test-wheel")
    return Path(folder).absolute()


class Installed:
    """The installed commands, run in a folder of their own.

    Attributes:
        folder: where they run.
    """

    def __init__(self, environment: Path, folder: Path) -> None:
        self.folder = folder / "empty"
        self.folder.mkdir()
        self._bin = environment / "bin"
        system = {
            name: os.environ[name] for name in ("OMP_NUM_THREADS", "TMPDIR") if name in os.environ
        }
        self._variables = {
            **system,
            "HOME": str(folder / "home"),
            "LANG": "C.UTF-8",
            "PATH": f"{self._bin}:/usr/bin:/bin",
            "QT_QPA_PLATFORM": "offscreen",
        }

    def run(self, command: str, *arguments: str | Path) -> str:
        """Standard output of a command of the environment, which must succeed."""
        done = subprocess.run(
            [self._bin / command, *arguments],
            cwd=self.folder,
            env=self._variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    def augenmerk(self, *arguments: str | Path) -> str:
        return self.run("augenmerk", *arguments)


@pytest.fixture
def installed(environment: Path, tmp_path: Path) -> Installed:
    return Installed(environment, tmp_path)


@pytest.fixture(scope="module")
def trained(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Where copy-task-small was trained for an epoch, into `run`."""
    installed = Installed(environment, tmp_path_factory.mktemp("trained"))
    settings = ("--device", "cpu", "--set", "training.num_epochs=1")
    installed.augenmerk("train", "--preset", "copy-task-small", "--out", "run", *settings)
    return installed


def test_the_environment_holds_the_wheel_and_what_it_requires_and_nothing_else(
    environment: Path, installed: Installed
) -> None:
    listed = (
        "import importlib.metadata as m, json; print(json.dumps([d.name for d in "
        "m.distributions()]))"
    )
    names = {canonicalize_name(name) for name in json.loads(installed.run("python", "-c", listed))}
    required = installed_requirements("augenmerk", ())
    assert names - {"augenmerk", "pip", "setuptools"} <= required.keys()
    assert not names & {"protobuf", "pytest", "transformers", "huggingface-hub", "tensorboard"}
    places = installed.run(
        "python", "-c", "import augenmerk, sys; print(augenmerk.__file__, *sys.path, sep='\\n')"
    ).splitlines()
    assert Path(places[0]).is_relative_to(environment)
    assert str(REPOSITORY) not in places


def test_it_translates_and_writes_maps(installed: Installed) -> None:
    assert (
        installed.augenmerk("translate", SENTENCE, "--attention", "maps.npz").strip() == TRANSLATION
    )
    assert (installed.folder / "maps.npz").stat().st_size > 1000


CHANGES: dict[type, tuple[str, ...]] = {
    SourceWordRemoved: ("--remove-word", "2"),
    SourceWordReplaced: ("--replace-word", "2=Kinder"),
    HeadScaled: ("--scale-head", "cross:2:5=0.5"),
    FeedForwardScaled: ("--feed-forward-off", "decoder:2"),
    SoftmaxTemperature: ("--temperature", "cross:2:5=2"),
    AttentionRow: ("--set-row", "cross:2:5:1=0,1,0,0,0,0,0,0"),
    CausalMaskLifted: ("--lift-mask", "--target", "Two dogs play in snow."),
    ForcedToken: ("--force", "3=run"),
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_it_translates_with_each_kind_of_intervention(installed: Installed, change: type) -> None:
    fields = json.loads(installed.augenmerk("translate", SENTENCE, "--json", *CHANGES[change]))
    assert len(fields.get("given", fields)["interventions"]) == 1


def test_there_is_a_case_for_each_kind_of_intervention() -> None:
    assert CHANGES.keys() == set(get_args(Intervention))


def write_marian(folder: Path, _data: Path) -> tuple[Path, ...]:
    return (marian_models.make_folder(folder / "marian"),)


def write_joeynmt(folder: Path, _data: Path) -> tuple[Path, ...]:
    settings = {"side": {"level": "bpe", "lowercase": True}}  # by SentencePiece
    return (joeynmt_models.make_folder(folder / "joeynmt", **settings).folder,)


def write_notebook_6(folder: Path, data: Path) -> tuple[Path | str, ...]:  # noqa: F811
    save_file(
        shaken(NotebookSeq2Seq(*sizes("notebook", data), **SHAPE)).state_dict(),
        folder / "tut6-model.pt",
    )
    return folder / "tut6-model.pt", "--data", data, "--heads", "4"


@pytest.mark.parametrize(
    "write", [write_marian, write_joeynmt, write_notebook_6], ids=lambda write: write.__name__
)
def test_it_imports_models_of_other_projects_and_translates_with_them(
    installed: Installed,
    data: Path,  # noqa: F811
    tmp_path: Path,
    write,
) -> None:
    installed.augenmerk("import", *write(tmp_path, data), "--out", "imported.safetensors")
    fields = json.loads(
        installed.augenmerk(
            "translate", "ein Mann sieht Kinder .", "--checkpoint", "imported.safetensors", "--json"
        )
    )
    assert fields["source_tokens"]
    assert fields["predicted_tokens"]


@pytest.mark.parametrize(
    ("ending", "begins"),
    [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("html", b"<!doctype html")],
)
def test_it_draws_figures_and_pages(installed: Installed, ending: str, begins: bytes) -> None:
    installed.augenmerk("figure", "--text", SENTENCE, "--out", f"figure.{ending}")
    assert (installed.folder / f"figure.{ending}").read_bytes().lower().startswith(begins.lower())


@pytest.mark.parametrize(
    ("ending", "begins"),
    [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("csv", b"step"), ("gif", b"GIF8")],
)
def test_it_trains_and_draws_charts_of_the_run(
    trained: Installed, ending: str, begins: bytes
) -> None:
    trained.augenmerk("charts", "run", "--out", f"charts.{ending}")
    assert (trained.folder / f"charts.{ending}").read_bytes().startswith(begins)


def test_it_translates_with_what_it_trained(trained: Installed) -> None:
    assert trained.augenmerk(
        "translate", "3 1 4 1 5", "--checkpoint", "run/best.safetensors"
    ).strip()


def test_the_window_draws_a_screenshot(installed: Installed) -> None:
    installed.augenmerk("app", "--sentence", SENTENCE, "--screenshot", "window.png")
    with Image.open(installed.folder / "window.png") as picture:
        assert picture.width >= 960
        assert len(picture.convert("RGB").getcolors(1 << 24)) > 100, "it is empty"


@pytest.mark.parametrize(
    "command",
    [
        ("analyze", SENTENCE, "--source-share", "--without-words"),
        (
            "analyze",
            SENTENCE,
            "--lens",
            "--decoder-lens",
            "--parts",
            "--query-key",
            "cross:2:5",
            "3",
            "4",
        ),
        ("align", "--text", SENTENCE),
        ("info", "--size"),
    ],
    ids=" ".join,
)
def test_other_commands_run(installed: Installed, command: tuple[str, ...]) -> None:
    assert installed.augenmerk(*command).strip()


def test_folders_of_the_user_named_like_ours_do_no_harm(installed: Installed) -> None:
    for name in ("core", "viz_app"):
        (installed.folder / name).mkdir()
        (installed.folder / name / "__init__.py").write_text(
            "raise ImportError('a module of the user')"
        )
    (installed.folder / "script.py").write_text(
        f"import augenmerk\nprint(augenmerk.Translator.load().translate({SENTENCE!r}).text)"
    )
    assert installed.run("python", "script.py").strip() == TRANSLATION
    assert installed.run("python", "-m", "augenmerk", "translate", SENTENCE).strip() == TRANSLATION
