"""`python -m tests.viz_app.training_window OUT DATA`: the app as it is, and somebody who trains in
it on a GPU.

Opens the real window with settings of its own, off screen if there is no screen, and starts the
presets `notebook` and `multi30k` in turn, by clicks, with the corpus in the folder DATA. Looks at
charts, recording and maps, translates meanwhile, pauses, resumes and stops, compares the memory
before and after, and closes the window during a training. Writes pictures and `report.json` with
figures and checks to OUT. Exit status 1 if a check fails.

With `--rehearse` both presets are tiny and train on the CPU, so that this script is tested where
there is no GPU.
"""

import argparse
import itertools
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from augenmerk.core.process import share_one_heap, tune_process

tune_process()
share_one_heap()

from PySide6.QtCore import QEventLoop, QPoint, Qt, QTimer  # noqa: E402
from PySide6.QtTest import QTest  # noqa: E402
from PySide6.QtWidgets import (  # noqa: E402
    QApplication,
    QDialogButtonBox,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPushButton,
    QScrollArea,
    QWidget,
)

from augenmerk.core.extensions.run_settings.presets import PRESETS  # noqa: E402
from augenmerk.core.run_files import LAST  # noqa: E402
from augenmerk.viz_app import application, launch, main_window  # noqa: E402
from augenmerk.viz_app.extensions.train.page import TrainPage  # noqa: E402
from augenmerk.viz_app.extensions.train.state import Status  # noqa: E402
from augenmerk.viz_app.extensions.widgets.late_clicks import guard_ms  # noqa: E402
from augenmerk.viz_app.widgets.buttons import ChoiceMenu  # noqa: E402
from tests.viz_app.parts import TRAIN, TRANSLATE, close_in_training  # noqa: E402

SENTENCES = ("Zwei Hunde spielen im Schnee.", "Eine Frau liest ein Buch.", "Ein Kind lacht.")
TICK_MS = 10
LARGEST_STALL_MS = 100.0
"""In the first seconds of a training on a GPU; a busy machine without one is only reported."""
MEMORY_KEPT_MIB = 64.0
"""On the GPU, after a training: buffers of the libraries."""
SCREEN = {
    "screens": [
        {"name": "one", "x": 0, "y": 0, "width": 1920, "height": 1080}
        | {"logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}
    ]
}


class Person:
    """Uses the window by clicks and keys, and notes what it shows.

    Args:
        window: the app's window, which is about to be shown.
        out: folder for pictures.
        data: folder of the corpus.
        is_rehearsal: on a CPU, with tiny presets.

    Attributes:
        report: what `report.json` will hold.
        folder: of the run that is trained when the window closes.
    """

    def __init__(
        self, window: main_window.MainWindow, out: Path, data: Path, *, is_rehearsal: bool
    ) -> None:
        self._window, self._out, self._data = window, out, data
        self._is_rehearsal = is_rehearsal
        self._device = "cpu" if is_rehearsal else "cuda:0"
        self._ticks: list[float] = []
        self._pulse = QTimer(window, interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._pulse.timeout.connect(lambda: self._ticks.append(time.perf_counter()))
        self._pollers: list[QTimer] = []
        self.checks: dict[str, object] = {}
        self.report: dict[str, object] = {"checks": self.checks}
        self.folder: Path | None = None

    def use(self) -> None:
        """Does everything in turn; then closes the window during a training."""
        try:
            self._open()
            before = self._memory("before the first training")
            self._begin_run("notebook")
            self._translate("while notebook trains")
            self._try_model()
            self._pause_and_resume()
            self._stop()
            self._check_returned("the first training", before)
            self._begin_run("multi30k")
            self._translate("while multi30k trains")
            self._stop()
            self._check_returned("the second training", before)
            self._resume()
        except Exception:
            self.check("everything is done", False, traceback.format_exc())
            self._picture("failed")
        self.folder = self._page.state.run.folder if self._has_page else None
        self._pulse.stop()
        QTimer.singleShot(0, self._window, lambda: close_in_training(self._window))

    def check(self, name: str, is_met: bool, detail: object = "") -> None:
        """Notes whether something was as it should be."""
        self.checks[name] = {"is_met": bool(is_met), "detail": str(detail)}
        print("ok  " if is_met else "FAIL", name, detail, flush=True)

    # --- parts of it ------------------------------------------------------------------------------

    def _open(self) -> None:
        state = self._window.state
        self._wait(lambda: state.current is not None, "the first translation")
        for button in self._window.findChildren(QPushButton):
            if button.text() == "Skip" and button.isVisible():
                self._click(button)
        model = self._window.loader.model
        assert model is not None
        self.check("the window translates", bool(state.translation), model.device)
        if not self._is_rehearsal:
            self.check("it translates on the GPU", model.device.name.startswith("cuda"))
        self._click(self._window.top_bar.tabs[TRAIN])
        menu = self._page.form.device_menu
        self._wait(lambda: self._device in menu._entries, "the devices")

    def _begin_run(self, preset: str) -> None:
        """Fills the form and starts; looks at the first ten seconds."""
        page = self._page
        if self._window.pages.current != TRAIN:
            self._click(self._window.top_bar.tabs[TRAIN])
        if not page.panel.shows_form:
            self._click(page.panel.switch_button)
        form = page.form
        self._choose(form.preset_menu, preset)
        if form.choices().data_path != str(self._data):
            self._later(lambda: self._top(QFileDialog) is not None, self._fill_folder_dialog)
            self._choose(form.data_menu, "folder")
            self._wait(lambda: form.choices().data_path == str(self._data), "the data folder")
        self._choose(form.device_menu, self._device)
        self._click(form.epochs_edit)
        form.epochs_edit.selectAll()
        QTest.keyClicks(form.epochs_edit, "400")
        began = time.perf_counter()
        with self._stalls(f"{preset}, first seconds"):
            self._click(page.panel.start_button)
            self._wait(lambda: page.state.run.latest_step is not None, "the first step", 120)
            self.report[f"{preset}: seconds to the first step"] = time.perf_counter() - began
            self._wait(
                lambda: page.state.run.best_checkpoint is not None or not page.is_running(),
                "the first validation",
                300,
            )
            self._pump(0.5 if self._is_rehearsal else 10.0)
        run = page.state.run
        assert run.started is not None
        self.check(f"{preset} trains", page.is_running(), run.error)
        self.check(f"{preset} trains on the device", run.started.device == self._device)
        self._check_page(preset)

    def _check_page(self, name: str) -> None:
        """Charts and recording have content, and are in sight."""
        view = self._page.run_view
        assert view is not None
        for panel in (view.charts.main, view.charts.second):
            picture = panel.chart.picture
            nums_points = [len(line.xs) for line in picture.lines] if picture is not None else []
            self.check(
                f"{name}: chart of {panel.choices.quantity}",
                panel.chart.isVisible() and max(nums_points, default=0) > 1,
                nums_points,
            )
        frames = self._page.state.playback.frames
        self.check(
            f"{name}: recording",
            view.film.isVisible() and len(frames) > 1,
            f"{len(frames)} frames",
        )
        step = self._page.state.run.latest_step
        assert step is not None
        self.report[f"{name}: tokens per second"] = step.tokens_per_second
        self.report[f"{name}: loss"] = step.loss
        self._memory(name)
        self._picture(name)

    def _translate(self, when: str) -> None:
        """Types sentences on the Translate page, and looks at the maps."""
        page, state = self._window.translate_page, self._window.state
        step = self._step
        if self._window.pages.current != TRANSLATE:
            self._click(self._window.top_bar.tabs[TRANSLATE])
        field = page.sentence.input
        with self._stalls(f"translating {when}"):
            for text in SENTENCES:
                self._click(field)
                field.selectAll()
                QTest.keyClicks(field, text, Qt.KeyboardModifier.NoModifier, 15)

                def is_answered(text: str = text) -> bool:
                    result = state.withheld or state.current
                    return result is not None and result.changed.source_text == text

                self._wait(is_answered, f"“{text}” {when}")
                if state.withheld is not None:  # its corpus has none of these words
                    self._click(page.sentence.withheld_notice.button)
                    self._wait(is_answered, f"“{text}” anyway, {when}")
                    self.check(f"“{text}” is shown anyway, {when}", state.withheld is None)
        self._wait(lambda: self._step > step, "a further step")
        assert state.translation is not None
        self.check(f"maps {when}", page.heads.isVisible() and state.translation.maps.cross.any())
        self._picture(f"translate {when}")

    def _try_model(self) -> None:
        """Opens the model that learns, while it learns."""
        self._click(self._window.top_bar.tabs[TRAIN])
        run = self._page.state.run
        self._click(self._page.notice_bar.try_button)
        loader, state = self._window.loader, self._window.state
        self._wait(
            lambda: (
                loader.model is not None
                and loader.model.path == run.best_checkpoint
                and state.current is not None
            ),
            "the model that learns",
        )
        self._translate("with the model that learns")

    def _pause_and_resume(self) -> None:
        self._click(self._window.top_bar.tabs[TRAIN])
        self._end_by(self._page.panel.pause_button, "paused")
        self._resume()

    def _resume(self) -> None:
        page = self._page
        finish = page.state.run.finish
        assert finish is not None
        self._click(page.panel.resume_button)
        self._wait(
            lambda: page.state.run.status is Status.TRAINING and self._step > finish.step,
            "the resumed training",
            120,
        )
        started = page.state.run.started
        assert started is not None
        self.check("resumed where it ended", started.first_step == finish.step, finish.step)

    def _stop(self) -> None:
        if self._window.pages.current != TRAIN:
            self._click(self._window.top_bar.tabs[TRAIN])
        self._end_by(self._page.panel.stop_button, "stopped")

    def _end_by(self, button: QPushButton, reason: str) -> None:
        page = self._page
        began = time.perf_counter()
        self._click(button)
        self._wait(lambda: not page.is_running(), f"the training is {reason}", 60)
        self.report[f"{page.state.run.folder}: seconds until {reason}"] = (
            time.perf_counter() - began
        )
        self._see_new_buttons()
        finish = page.state.run.finish
        self.check(f"{reason} by a click", finish is not None and finish.reason == reason)
        assert finish is not None
        self.check(f"{reason}: it can be resumed", finish.last_checkpoint.is_file())

    def _see_new_buttons(self) -> None:
        """Buttons that appear by themselves ignore clicks that were meant for others."""
        self._pump(2 * guard_ms() / 1000)

    def _check_returned(self, name: str, before: dict[str, float]) -> None:
        after = self._memory(f"after {name}")
        if "gpu_mib" in before:
            kept = after["gpu_mib"] - before["gpu_mib"]
            self.check(f"memory of the GPU is returned after {name}", kept < MEMORY_KEPT_MIB, kept)

    # --- the window -------------------------------------------------------------------------------

    @property
    def _has_page(self) -> bool:
        return TRAIN in self._window.pages.parts

    @property
    def _page(self) -> TrainPage:
        page = self._window.pages.parts[TRAIN].widget
        assert isinstance(page, TrainPage)
        return page

    @property
    def _step(self) -> int:
        step = self._page.state.run.latest_step
        return 0 if step is None else step.step

    def _memory(self, name: str) -> dict[str, float]:
        """Megabytes of the process, and those in use on the GPU."""
        import torch

        pages = int(Path("/proc/self/statm").read_text().split()[1])
        used = {"process_mib": pages * os.sysconf("SC_PAGE_SIZE") / 2**20}
        if torch.cuda.is_available():
            used["gpu_mib"] = torch.cuda.memory_allocated() / 2**20
        self.report[f"memory, {name}"] = used
        return used

    @contextmanager
    def _stalls(self, name: str) -> Iterator[None]:
        """Notes the longest times in which the window did not react."""
        self._ticks.clear()
        self._pulse.start()
        yield
        self._pulse.stop()
        gaps = sorted(
            (1e3 * (after - before) - TICK_MS for before, after in itertools.pairwise(self._ticks)),
            reverse=True,
        )
        self.report[f"longest stalls in ms, {name}"] = [round(gap, 1) for gap in gaps[:5]]
        if not self._is_rehearsal:
            self.check(f"no stall, {name}", not gaps or gaps[0] < LARGEST_STALL_MS, gaps[:5])

    def _picture(self, name: str) -> None:
        self._pump(0.2)
        self._window.grab().save(str(self._out / f"{name.replace(' ', '-')}.png"))

    # --- hands ------------------------------------------------------------------------------------

    def _pump(self, seconds: float, is_done: Callable[[], bool] = lambda: False) -> None:
        """Runs the event loop for a time, or until something is so."""
        end = time.monotonic() + seconds
        loop = QEventLoop()
        look = QTimer(loop, interval=20)
        look.timeout.connect(lambda: loop.quit() if is_done() or time.monotonic() > end else None)
        look.start()
        loop.exec()
        look.stop()

    def _wait(self, is_done: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
        """Raises `TimeoutError` if it does not happen."""
        self._pump(seconds, is_done)
        if not is_done():
            raise TimeoutError(f"not within {seconds} s: {what}")

    def _click(self, widget: QWidget, position: QPoint | None = None) -> None:
        """Clicks on the place of the window where the widget is, after scrolling to it."""
        assert widget.isVisible(), f"{widget} is not visible"
        assert widget.isEnabled(), f"{widget} is not enabled"
        parent = widget.parentWidget()
        while parent is not None:
            if isinstance(parent, QScrollArea):
                parent.ensureWidgetVisible(widget)
            parent = parent.parentWidget()
        self._pump(0.05)
        window = widget.window()
        place = widget.mapTo(window, position or widget.rect().center())
        QTest.mouseClick(
            window.windowHandle(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place
        )
        self._pump(0.1)

    def _choose(self, button: ChoiceMenu, name: str) -> None:
        """Opens a menu by a click, and clicks on an entry."""
        self._later(lambda: self._top(QMenu) is not None, lambda: self._pick(button, name))
        self._click(button)
        self._wait(lambda: self._top(QMenu) is None, f"the menu of {name} closes")

    def _pick(self, button: ChoiceMenu, name: str) -> None:
        menu = self._top(QMenu)
        assert isinstance(menu, QMenu)
        place = menu.actionGeometry(button.actions_by_name[name]).center()
        QTest.mouseMove(menu.windowHandle(), place)
        QTest.mouseClick(
            menu.windowHandle(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place
        )

    def _fill_folder_dialog(self) -> None:
        dialog = self._top(QFileDialog)
        assert isinstance(dialog, QFileDialog)
        edit = dialog.findChild(QLineEdit, "fileNameEdit")
        assert isinstance(edit, QLineEdit)
        edit.setText(str(self._data))
        self._pump(0.5)  # a thread reads the folder
        buttons = dialog.findChild(QDialogButtonBox)
        assert isinstance(buttons, QDialogButtonBox)
        accept = next(
            button
            for button in buttons.buttons()
            if buttons.buttonRole(button) == QDialogButtonBox.ButtonRole.AcceptRole
        )
        QTest.mouseClick(accept, Qt.MouseButton.LeftButton)

    def _top(self, kind: type[QWidget]) -> QWidget | None:
        """The menu or dialog in front, if it is of this kind."""
        widget = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        return widget if isinstance(widget, kind) else None

    def _later(self, is_ready: Callable[[], bool], act: Callable[[], None]) -> None:
        """Acts within the loop of a menu or dialog that is about to open."""
        timer = QTimer(self._window, interval=40)

        def look() -> None:
            if is_ready():
                timer.stop()
                act()

        timer.timeout.connect(look)
        timer.start()
        self._pollers.append(timer)


def make_presets_tiny() -> None:
    """Presets of the same names, for a rehearsal."""
    for name in ("notebook", "multi30k"):
        run = PRESETS[name]
        model = run.model.replace(
            width=16,
            num_heads=2,
            num_encoder_layers=1,
            num_decoder_layers=1,
            feed_forward_width=16,
        )
        data = run.data if run.data.num_subwords is None else run.data.replace(num_subwords=60)
        training = run.training.replace(sample_size=4, checkpoint_steps=10_000)
        PRESETS[name] = replace(run, model=model, data=data, training=training)


def end_at(seconds: float) -> None:
    """Ends the process if it takes longer, with the places at which its threads are."""

    def end() -> None:
        import faulthandler

        faulthandler.dump_traceback(sys.stderr)
        os._exit(4)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


def main() -> int:
    """Opens the window and uses it. The exit status is 1 if a check fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT")
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--rehearse", action="store_true")
    parser.add_argument("--limit", type=float, default=600.0, metavar="SECONDS")
    options = parser.parse_args()
    out = options.out.absolute()
    own = out / "own"
    own.mkdir(parents=True, exist_ok=True)
    for name in ("CONFIG", "STATE", "DATA", "CACHE"):
        os.environ[f"XDG_{name}_HOME"] = str(own / name.lower())
    if not os.environ.get("DISPLAY") or os.environ.get("QT_QPA_PLATFORM") == "offscreen":
        (own / "screen.json").write_text(json.dumps(SCREEN))
        os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={own / 'screen.json'}"
    end_at(options.limit)
    if options.rehearse:
        make_presets_tiny()
    people: list[Person] = []

    class Window(main_window.MainWindow):
        """The window of the app, with somebody in front of it."""

        def __init__(self, *arguments: object, **choices: object) -> None:
            super().__init__(*arguments, **choices)  # type: ignore[arg-type]
            self.resize(1440, 900)
            person = Person(self, out, options.data.absolute(), is_rehearsal=options.rehearse)
            people.append(person)
            QTimer.singleShot(0, self, person.use)

    application.MainWindow = Window  # type: ignore[misc]
    status = launch.main(["app"])
    (person,) = people
    person.check("the app ends with status 0", status == 0, status)
    checkpoint = None if person.folder is None else person.folder / LAST
    person.check(
        "closing the window during a training keeps it",
        checkpoint is not None and checkpoint.is_file(),
        checkpoint,
    )
    (out / "report.json").write_text(json.dumps(person.report, indent=1, default=str))
    return 0 if all(check["is_met"] for check in person.checks.values()) else 1  # type: ignore[index]


if __name__ == "__main__":
    sys.exit(main())
