"""The window ends when it is told to, whatever its threads do, and what was typed and learned is
kept."""

import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings

from augenmerk.core.extensions.training.folder import list_runs
from augenmerk.core.translation.experiment_file import read_experiment_file
from augenmerk.viz_app.application import SIGNALS
from augenmerk.viz_app.crash_reports import earlier_reports
from augenmerk.viz_app.system_libraries import WINDOW_LIBRARIES, missing_packages
from tests.builders import run_process
from tests.signals import use_default_signals
from tests.viz_app.driven_window import SENTENCE

REPOSITORY = Path(__file__).resolve().parents[2]
START_SECONDS, END_SECONDS = 120, 60
FIRST_DISPLAY = 1000  # far above those of desktops
NUM_KILLS, SEED = (
    int(os.environ.get("AUGENMERK_KILLS", "3")),
    int(os.environ.get("AUGENMERK_SEED", "4")),
)
SLOW = pytest.mark.slow
pytestmark = [
    pytest.mark.subprocess,
    pytest.mark.skipif(sys.platform == "win32", reason="no signals to send"),
]


class Window:
    """A window in a process of its own, with folders of its own."""

    def __init__(self, folder: Path, checkpoint: Path, deeds: str, **environment: str) -> None:
        self.folder = folder
        names = ("config", "data", "state", "cache")
        env = {
            **os.environ,
            **{f"XDG_{name.upper()}_HOME": str(folder / name) for name in names},
            **environment,
        }
        self.errors = (folder / "errors").open("a+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.viz_app.driven_window", str(checkpoint), deeds],
            cwd=REPOSITORY,
            env=env,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            preexec_fn=use_default_signals,
        )
        self.lines: list[str] = []
        self._queue: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._queue.put(line.strip())
        self._queue.put(None)

    def wait_for(self, is_wanted: Callable[[str], bool]) -> str:
        """A line that it wrote, before or from now on: what two threads write comes in any
        order."""
        for line in self.lines:
            if is_wanted(line):
                return line
        deadline = time.monotonic() + START_SECONDS
        while True:
            line = self._queue.get(timeout=max(0.1, deadline - time.monotonic()))
            assert line is not None, f"it ended: {self.said()}"
            self.lines.append(line)
            if is_wanted(line):
                return line

    def wait_for_end(self, limit_s: float = END_SECONDS) -> int:
        """The exit status; fails if it does not come."""
        try:
            return self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            pytest.fail(f"it has not ended within {limit_s} s: {self.said()}")

    @property
    def num_steps(self) -> int:
        """The training steps that the window has shown."""
        while not self._queue.empty():
            self.lines.append(self._queue.get() or "")
        return max(
            (int(line.split()[1]) for line in self.lines if line.startswith("step ")), default=0
        )

    def said(self) -> str:
        self.errors.seek(0)
        return self.errors.read()

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.errors.close()


MakeWindow = Callable[..., Window]


@pytest.fixture
def make_window(tmp_path: Path, untrained_checkpoint: Path) -> Iterator[MakeWindow]:
    windows: list[Window] = []

    def make(deeds: str = "", *, folder: Path = tmp_path, **environment: str) -> Window:
        window = Window(folder, untrained_checkpoint, deeds, **environment)
        windows.append(window)
        return window

    yield make
    for window in windows:
        window.end()


def kept_sentence(folder: Path) -> str:
    return read_experiment_file(
        folder / "state" / "augenmerk" / "session.augenmerk"
    ).experiment.source_text


def assert_run_is_kept(folder: Path, num_steps: int) -> None:
    (run,) = list_runs(folder / "data" / "augenmerk" / "runs")
    assert run.state == "stopped"
    assert run.can_resume
    assert run.step >= num_steps > 0
    settings = QSettings(
        str(folder / "config" / "augenmerk" / "augenmerk.conf"), QSettings.Format.IniFormat
    )
    assert str(run.folder) in str(settings.value("train/unfinished"))


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, id=number.name, marks=() if number is signal.SIGTERM else SLOW)
        for number in map(signal.Signals, SIGNALS)
    ],
)
@pytest.mark.slow
def test_a_signal_saves_sentence_and_training_and_ends(
    make_window: MakeWindow, tmp_path: Path, number: signal.Signals
) -> None:
    window = make_window("train")
    window.wait_for(lambda line: line.startswith("step ") and int(line.split()[1]) >= 7)
    window.process.send_signal(number)
    assert window.wait_for_end() == 0
    assert kept_sentence(tmp_path) == SENTENCE
    assert_run_is_kept(tmp_path, window.num_steps)
    assert "Traceback" not in window.said()


@pytest.mark.slow
@pytest.mark.timeout(300 + 10 * NUM_KILLS)
def test_a_window_told_to_end_at_random_moments_loses_no_step(
    make_window: MakeWindow, tmp_path: Path
) -> None:
    rng = random.Random(SEED)
    for number in range(max(1, NUM_KILLS // 10)):
        (tmp_path / str(number)).mkdir()
        window = make_window("train", folder=tmp_path / str(number))
        window.wait_for(lambda line: line.startswith("step "))
        time.sleep(rng.uniform(0, 4))
        window.process.send_signal(rng.choice(SIGNALS))
        assert window.wait_for_end() == 0
        assert kept_sentence(window.folder) == SENTENCE
        assert_run_is_kept(window.folder, window.num_steps)
        print(f"window {number + 1}: ended after step {window.num_steps}")


@pytest.mark.parametrize(
    "deed",
    ["stuck", pytest.param("stuck-load", marks=SLOW), pytest.param("stuck-train", marks=SLOW)],
)
@pytest.mark.slow
def test_a_thread_that_never_ends_is_left_behind_when_the_window_is_closed(
    make_window: MakeWindow, tmp_path: Path, deed: str
) -> None:
    window = make_window(f"{deed}+close")
    window.wait_for(lambda line: line == "stuck")
    assert window.wait_for_end() == 0
    assert kept_sentence(tmp_path) == SENTENCE


@pytest.mark.slow
def test_a_signal_ends_a_window_whose_thread_never_ends(
    make_window: MakeWindow, tmp_path: Path
) -> None:
    window = make_window("stuck")
    window.wait_for(lambda line: line == "stuck")
    window.wait_for(lambda line: line == "typed")
    window.process.send_signal(signal.SIGTERM)
    assert window.wait_for_end() == 0
    assert kept_sentence(tmp_path) == SENTENCE


@pytest.mark.slow
def test_an_unsaved_lesson_survives_the_killing_of_the_process(make_window: MakeWindow) -> None:
    killed = make_window("lesson")
    killed.wait_for(lambda line: line == "scene Second")
    killed.process.kill()
    killed.process.wait()
    again = make_window("tell-lesson")
    told = again.wait_for(lambda line: line.startswith("lesson "))
    assert told.startswith("lesson First, Second; unsaved True")
    assert told.endswith(" *"), "the bar shows that it is not saved"


@pytest.fixture
def display() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The name of an X server of the test's own, and its process."""
    if shutil.which("Xvfb") is None:
        pytest.skip("needs Xvfb, to take a display away")
    if packages := missing_packages(WINDOW_LIBRARIES):
        pytest.skip(f"needs what a window on an X11 desktop needs: {', '.join(packages)}")
    reading, writing = os.pipe()
    # A number of its own: two servers that look for a free one at the same time can take each
    # other's socket away.
    number = FIRST_DISPLAY + os.getpid() % 10_000
    server = subprocess.Popen(
        ["Xvfb", f":{number}", "-displayfd", str(writing), "-screen", "0", "1300x900x24"],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as told:
        assert told.readline().strip() == str(number), "the X server has not started"
    name = f":{number}"
    yield name, server
    server.kill()
    server.wait()
    Path(f"/tmp/.X{number}-lock").unlink(missing_ok=True)


@pytest.mark.parametrize("deeds", ["", pytest.param("train", marks=SLOW)])
@pytest.mark.slow
def test_without_its_display_the_window_saves_and_ends(
    make_window: MakeWindow,
    tmp_path: Path,
    display: tuple[str, subprocess.Popen[bytes]],
    deeds: str,
) -> None:
    name, server = display
    window = make_window(deeds, DISPLAY=name, QT_QPA_PLATFORM="xcb")
    window.wait_for(lambda line: line == "typed")
    if deeds:
        window.wait_for(lambda line: line.startswith("step ") and int(line.split()[1]) >= 7)
    server.kill()
    assert window.wait_for_end() == 1
    assert kept_sentence(tmp_path) == SENTENCE
    if deeds:
        assert_run_is_kept(tmp_path, window.num_steps)


def test_to_be_asked_does_not_make_a_display_begin_anew(
    display: tuple[str, subprocess.Popen[bytes]],
) -> None:
    asked_again = (
        "import sys; from augenmerk.viz_app.system_libraries import answers_x11 as asked; "
        "sys.exit(not all(asked() "
    )
    result = subprocess.run(
        [sys.executable, "-c", f"{asked_again} for _ in range(100)))"],
        cwd=REPOSITORY,
        env={**os.environ, "DISPLAY": display[0]},
        check=False,
    )
    assert result.returncode == 0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Qt asks an X server there alone")
def test_a_display_that_goes_away_while_qt_is_imported_ends_the_start_with_one_message(
    tmp_path: Path,
) -> None:
    asked_before = (
        "import sys; from augenmerk.viz_app import launch, system_libraries; "
        "system_libraries.prepare_display = lambda **_: None; "
    )
    result = run_process(
        [sys.executable, "-c", f"{asked_before} sys.exit(launch.main(['app']))"],
        env={
            **os.environ,
            "DISPLAY": ":987",
            "QT_QPA_PLATFORM": "xcb",
            "XDG_CONFIG_HOME": str(tmp_path),
        },
        timeout=START_SECONDS,
    )
    assert result.returncode == 2, result.stderr  # -6 if Qt aborts
    (line,) = result.stderr.splitlines()
    assert line.startswith("augenmerk: Qt cannot open a window (")


@pytest.mark.slow
def test_a_crash_is_written_down_for_the_next_window(
    make_window: MakeWindow, tmp_path: Path
) -> None:
    window = make_window("crash")
    window.wait_for(lambda line: line == "typed")
    assert window.wait_for_end() < 0
    (report,) = earlier_reports(tmp_path / "data" / "augenmerk" / "crashes")
    assert "Segmentation fault" in report.text
    assert "driven_window.py" in report.text
