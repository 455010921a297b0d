"""The memory of a window in which several models are trained."""

import sys
from pathlib import Path

import pytest

from tests.builders import run_process
from tests.core.extensions.training.runs import sentences

TEN_TRAININGS = """
import sys
from pathlib import Path
from PySide6.QtCore import QEventLoop, QTimer
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.events import TrainingRequest
from augenmerk.viz_app import application, launch, main_window
from tests.viz_app.parts import TRAIN, train_page_of
from tests.viz_app.soak_window import resident_mb

folder = Path(sys.argv[1])

def wait(is_done):
    loop = QEventLoop()
    look = QTimer(loop, interval=20)
    look.timeout.connect(lambda: loop.quit() if is_done() else None)
    look.start()
    loop.exec()

class Window(main_window.MainWindow):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        QTimer.singleShot(0, self, self.train)

    def train(self):
        wait(lambda: self.state.current is not None)
        self.pages.show(TRAIN)
        wait(lambda: self.pages.current == TRAIN)
        page = train_page_of(self)
        for number in range(10):
            run = preset("notebook")
            run = run.with_training(num_epochs=1, sample_size=0)
            request = TrainingRequest(run, folder, folder / f"run {number}", "cpu")
            page.run_actions.begin(request)
            wait(lambda: page.state.run.latest_step is not None or not page.is_running())
            page.controller.stop("discard")
            wait(lambda: not page.is_running())
            assert not page.state.run.error, page.state.run.error_details
            print(resident_mb(), flush=True)
        QTimer.singleShot(0, self, self.close)

application.MainWindow = Window
sys.exit(launch.main(["app"]))
"""


@pytest.mark.subprocess
@pytest.mark.training
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")
def test_ten_trainings_leave_less_than_a_gigabyte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CONFIG", "STATE", "DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    for name, number in (("train", 600), ("val", 40)):
        pairs = sentences(number, seed=number)
        (tmp_path / f"{name}.de").write_text("\n".join(pairs.source) + "\n")
        (tmp_path / f"{name}.en").write_text("\n".join(pairs.target) + "\n")
    process = run_process([sys.executable, "-c", TEN_TRAININGS, tmp_path])
    assert process.returncode == 0, process.stderr
    megabytes = [float(line) for line in process.stdout.split()]
    assert len(megabytes) == 10
    assert max(megabytes) < 1_000
    assert megabytes[-1] < megabytes[1] + 60, megabytes
