"""tools/set_up.sh chooses the build of torch: real pip, a real environment, small packages from a
local server."""

import inspect
import os
import shutil
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.builders import command_line

REPOSITORY = Path(__file__).resolve().parent.parent
HAS_DRIVER = any(
    Path(path).exists() for path in ("/proc/driver/nvidia", "/dev/nvidia0")
) or shutil.which("nvidia-smi")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.subprocess,
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere torch has one build"),
    pytest.mark.skipif(
        bool(HAS_DRIVER), reason="an NVIDIA driver is installed here, and cannot be hidden"
    ),
]

PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "demo"
version = "1"
"""
BACKEND = """

def build_editable(folder, *_):
    return write_wheel(folder, "demo", "1", "Requires-Dist: torch")
"""


def write_wheel(folder: str | Path, name: str, version: str, more: str = "") -> str:
    """Writes a package without content, and returns the name of the file."""
    file, about = f"{name}-{version}-py3-none-any.whl", f"{name}-{version}.dist-info"
    with zipfile.ZipFile(Path(folder) / file, "w") as archive:
        archive.writestr(
            f"{about}/METADATA",
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}\n",
        )
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}/RECORD", "")
    return file


class Index:
    """A server with two package indexes: `pypi` has one build of torch, `cpu` another.

    Attributes:
        address: of the server.
        asked: the paths that were requested.
    """

    def __init__(self, folder: Path) -> None:
        for name, version in (("pypi", "2.13.0"), ("cpu", "2.13.0+cpu")):
            (folder / name / "torch").mkdir(parents=True)
            write_wheel(folder / name / "torch", "torch", version)
        self.asked: list[str] = []
        asked = self.asked

        class Handler(SimpleHTTPRequestHandler):
            def __init__(self, *arguments: Any) -> None:
                super().__init__(*arguments, directory=str(folder))

            def do_GET(self) -> None:
                asked.append(self.path)
                super().do_GET()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    running = Index(tmp_path / "index")
    yield running
    running.close()


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script, a small project in place of the product, and an environment."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("tools/set_up.sh", "viz_app/system_libraries.py"):
        (folder / name).parent.mkdir()
        shutil.copy(REPOSITORY / name, folder / name)
    (folder / "pyproject.toml").write_text(PROJECT)
    imports = "import zipfile\nfrom pathlib import Path\n"
    (folder / "backend.py").write_text(imports + inspect.getsource(write_wheel) + BACKEND)
    for name in ("constraints.txt", "constraints-dev.txt"):
        (folder / name).write_text("torch==2.13.0\n")
    subprocess.run([sys.executable, "-m", "venv", folder / ".venv"], check=True)
    return folder


SetUp = Callable[..., tuple[str, str]]


@pytest.fixture
def set_up(checkout: Path, index: Index, tmp_path: Path) -> SetUp:
    """Runs the script and returns the version of torch that it installed, and what it said."""
    pip = [checkout / ".venv" / "bin" / "python", "-m", "pip"]
    subprocess.run(
        [*pip, "uninstall", "-q", "-y", "torch", "demo"], check=True, capture_output=True
    )

    def run(**variables: str) -> tuple[str, str]:
        of_pip = {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_INDEX_URL": f"{index.address}/pypi/",
            "PIP_NO_CACHE_DIR": "1",
        }
        system = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PIP_", "TORCH"))
        }
        done = subprocess.run(
            ["sh", "tools/set_up.sh", "app"],
            cwd=checkout,
            env={
                **system,
                "PYTHON": sys.executable,
                "TORCH_INDEX": f"{index.address}/cpu",
                **of_pip,
                **variables,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        shown = subprocess.run([*pip, "show", "torch"], check=True, capture_output=True, text=True)
        return shown.stdout.split("Version: ")[1].split()[0], done.stderr

    return run


@pytest.fixture
def path_with_driver(tmp_path: Path) -> str:
    """A search path on which there is an `nvidia-smi`."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvidia-smi").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "nvidia-smi").chmod(0o755)
    return f"{tmp_path / 'bin'}:{os.environ['PATH']}"


def test_without_a_driver_the_cpu_build_is_installed_and_only_torch_is_asked_for_there(
    set_up: SetUp, index: Index
) -> None:
    version, said = set_up()
    assert version == "2.13.0+cpu"
    assert "No NVIDIA driver found: installing the CPU build of torch" in said
    assert {path.split("/")[2] for path in index.asked if path.startswith("/cpu")} == {"torch"}


def test_with_a_driver_pip_chooses(set_up: SetUp, index: Index, path_with_driver: str) -> None:
    version, said = set_up(PATH=path_with_driver)
    assert version == "2.13.0"
    assert "CPU" not in said
    assert not any(path.startswith("/cpu") for path in index.asked)


def test_the_cuda_build_can_be_chosen(set_up: SetUp, index: Index) -> None:
    assert set_up(TORCH="cuda")[0] == "2.13.0"
    assert not any(path.startswith("/cpu") for path in index.asked)


def test_the_cpu_build_can_be_chosen_where_there_is_a_driver(
    set_up: SetUp, path_with_driver: str
) -> None:
    assert set_up(TORCH="cpu", PATH=path_with_driver)[0] == "2.13.0+cpu"


def test_an_installed_torch_stays(set_up: SetUp, index: Index) -> None:
    set_up(TORCH="cuda")
    index.asked.clear()
    assert set_up()[0] == "2.13.0"
    assert not index.asked


def test_an_older_torch_gives_way_to_the_cpu_build(
    set_up: SetUp, checkout: Path, tmp_path: Path
) -> None:
    older = tmp_path / write_wheel(tmp_path, "torch", "2.12.0")
    install = command_line(
        "{} -m pip install -q --no-index {}", checkout / ".venv" / "bin" / "python", older
    )
    subprocess.run(install, check=True)
    assert set_up()[0] == "2.13.0+cpu"


def assert_falls_back(set_up: SetUp, address: str) -> None:
    version, said = set_up(TORCH_INDEX=address)
    assert version == "2.13.0"
    assert [line for line in said.splitlines() if address in line] == [
        f"No torch from {address}: installing the build that pip finds"
    ]
    assert "Alarm clock" not in said, "the shell reports how the probe ended"


def test_where_nothing_listens_pip_chooses(set_up: SetUp) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert_falls_back(set_up, f"http://127.0.0.1:{port}/cpu")


def test_where_a_server_never_answers_pip_chooses(set_up: SetUp) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert_falls_back(set_up, f"http://127.0.0.1:{silent.getsockname()[1]}/cpu")


def test_where_a_server_has_no_torch_pip_chooses(set_up: SetUp, index: Index) -> None:
    assert_falls_back(set_up, f"{index.address}/nothing")


def test_another_value_of_torch_is_refused(checkout: Path) -> None:
    done = subprocess.run(
        ["sh", "tools/set_up.sh", "app"],
        cwd=checkout,
        env={**os.environ, "TORCH": "gpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Use TORCH=cpu or TORCH=cuda" in done.stderr
