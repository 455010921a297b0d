"""The wheel carries everything it needs. `test_plain_install.py` runs it."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.builders import command_line

pytestmark = pytest.mark.subprocess

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def unpacked_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like the site-packages into which the wheel was installed."""
    pytest.importorskip("hatchling", reason="needs the set-up of `make test`")
    folder = tmp_path_factory.mktemp("wheel")
    build = command_line(
        "{} -m build --wheel --no-isolation --outdir {} {}", sys.executable, folder, REPOSITORY
    )
    result = subprocess.run(build, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    (wheel,) = folder.glob("augenmerk-*-py3-none-any.whl")
    installed = folder / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    return installed


@pytest.mark.slow
def test_wheel_names_its_script_and_its_terms(unpacked_wheel: Path) -> None:
    (information,) = unpacked_wheel.glob("augenmerk-*.dist-info")
    assert (
        "augenmerk = augenmerk.viz_app.launch:main"
        in (information / "entry_points.txt").read_text()
    )
    assert {path.name for path in (information / "licenses").iterdir()} == {
        "LICENSE",
        "THIRD-PARTY.md",
    }


def test_wheel_installs_one_package_that_is_typed(unpacked_wheel: Path) -> None:
    assert {path.name for path in unpacked_wheel.iterdir() if path.suffix != ".dist-info"} == {
        "augenmerk"
    }
    assert (unpacked_wheel / "augenmerk" / "py.typed").is_file()


def test_wheel_carries_all_resources(unpacked_wheel: Path) -> None:
    def files_under(folder: Path) -> set[str]:
        return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}

    assert files_under(unpacked_wheel / "augenmerk" / "core" / "_resources") == files_under(
        REPOSITORY / "resources"
    )


def test_wheel_carries_the_script_that_runs_a_model_in_a_page(unpacked_wheel: Path) -> None:
    folder = unpacked_wheel / "augenmerk" / "core" / "extensions" / "page"
    for path in (REPOSITORY / "core" / "extensions" / "page").glob("*.js"):
        assert (folder / path.name).read_bytes() == path.read_bytes()
    assert (folder / "translator.js").is_file()


def test_wheel_carries_the_parts_of_the_page_for_the_browser(unpacked_wheel: Path) -> None:
    parts = {
        path.name
        for path in (REPOSITORY / "viz_app" / "extensions" / "pictures" / "page").iterdir()
    }
    assert {"page.html", "page.css", "drawing.js", "maps.js", "recorded.js"} <= parts
    assert {
        path.name
        for path in (
            unpacked_wheel / "augenmerk" / "viz_app" / "extensions" / "pictures" / "page"
        ).iterdir()
    } == parts
