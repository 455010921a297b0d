"""`python -m tests.viz_app.soak_window --minutes 60`: one window, used for an hour; does it grow?

Round after round: sentences are typed letter by letter, one of them of words that were never typed
before, heads switched off and on, changes undone and redone, every analysis tab, every chapter of
Learn and both themes shown, models opened, a small model trained, its film played, its files
discarded. Between the rounds the memory that was written to, threads, open and mapped files,
temporary files and Python's objects are counted. The first half is the warm-up, in which caches
fill up to their bounds. In the second memory must not rise by more than 1 MB an hour (the median of
the slopes between all pairs of measurements), and threads and files must not rise at all. Exit
status 1 if they do.
"""

import argparse
import gc
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_lowercase

import numpy as np
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QSettings, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from augenmerk.core.model.heads import Head
from augenmerk.core.process import return_free_memory, share_one_heap, tune_process
from augenmerk.core.translation.experiment import HeadScaled
from augenmerk.viz_app.extensions.train.state import Status
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import intervene, redo, reset, toggle, undo
from augenmerk.viz_app.theme import Theme, ThemeChoice
from augenmerk.viz_app.worker.interpreter import interpreter_shared_fairly
from tests.checkpoints import write_untrained_checkpoint
from tests.viz_app.parts import LEARN, TRAIN, TRANSLATE, learn_page_of, train_page_of

SENTENCES = (
    "Zwei Hunde spielen im Schnee.",
    "Ein Mann in einem blauen Hemd steht auf einer Leiter.",
    "Drei Kinder laufen über eine grüne Wiese.",
    "Eine Frau liest ein Buch im Park 🙂.",
)
MAX_MB_PER_HOUR = 1.0
STEP_LIMIT_SECONDS = 180.0
WARM_UP_SHARE = 0.5
NUM_RESAMPLES = 400


@dataclass(frozen=True)
class Counts:
    """What a process holds, at one moment."""

    seconds: float
    memory_mb: float
    threads: int
    handles: int
    mapped: int
    temporary_files: int
    objects: int


class Soak:
    """A window, and the person who uses it.

    Args:
        folder: for settings, runs and temporary files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._temporary = folder / "temporary"
        fill_cache_of_small_arrays()
        self._rng = random.Random(4)
        self._num_rounds = 0
        self._began = time.monotonic()
        self._loop, self._timer = QEventLoop(), QTimer(singleShot=True)
        # once: PySide keeps 53 bytes of every connection to a method
        self._timer.timeout.connect(self._loop.quit)
        preferences = Preferences(
            QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)
        )
        preferences.theme = "light"
        Theme.of_choice("light").apply(application())
        self._other = write_untrained_checkpoint(folder / "other.safetensors")
        self.window = MainWindow(preferences, sentence=SENTENCES[0])
        self.window.resize(1280, 800)
        self.window.show()
        self._wait_until(lambda: self.window.state.result is not None)

    def round(self) -> None:
        """All that is done, once."""
        self._type(" ".join("".join(self._rng.choices(ascii_lowercase, k=k)) for k in (7, 4, 9)))
        self._type(SENTENCES[self._num_rounds % len(SENTENCES)])
        self._num_rounds += 1
        self._switch_heads()
        self._show_tabs()
        self._change_looks()
        self._open_models()
        self._learn()
        self._train()
        self.window.pages.show(TRANSLATE)

    def count(self) -> Counts:
        """What is left when everything that can be freed has been."""
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        clear_cache_of_attributes()
        gc.collect()
        return_free_memory()
        return Counts(
            seconds=time.monotonic() - self._began,
            memory_mb=resident_mb(),
            threads=num_entries(Path("/proc/self/task")),
            handles=num_entries(Path("/proc/self/fd")),
            mapped=num_mapped(),
            temporary_files=sum(1 for _ in self._temporary.rglob("*")),
            objects=len(gc.get_objects()),
        )

    def close(self) -> None:
        self.window.close()

    def _type(self, text: str) -> None:
        field = self.window.translate_page.sentence.input
        field.setFocus()
        field.selectAll()
        for word in text.split(" "):
            for letter in f"{word} ":
                if letter.isascii():
                    QTest.keyClick(field, letter)
                else:  # no key of a keyboard
                    field.insertPlainText(letter)
                self._wait(8)
            self._settle()
        field.set_text(text)
        self._settle()

    def _switch_heads(self) -> None:
        state = self.window.state
        for _ in range(3):
            state.submit(toggle(Head("cross", self._rng.randrange(2), self._rng.randrange(4))))
            self._settle()
        state.submit(intervene(HeadScaled(Head("encoder", 0, 0), 0.5)))
        self._settle()
        for act in (undo, undo, redo, reset):
            state.submit(act)
            self._settle()

    def _show_tabs(self) -> None:
        page = self.window.translate_page
        page.arrangement.toggle_analysis()
        for index in range(len(self.window.analysis.tabs)):
            self.window.analysis.show_tab(index)
            self._settle()
            self._wait(300)
        self.window.analysis.show_tab(0)
        page.arrangement.toggle_analysis()

    def _change_looks(self) -> None:
        themes: tuple[ThemeChoice, ...] = ("dark", "light")
        for theme in themes:
            self.window.appearance.set_theme(theme)
            self._wait(50)
        for size in ((1000, 660), (1280, 800)):
            self.window.resize(*size)
            self._wait(50)

    def _open_models(self) -> None:
        for path in (self._other, None):
            self.window.open_model(path)
            self._wait_until(lambda path=path: self._is_open(path))  # type: ignore[misc]
            self._settle()

    def _is_open(self, path: Path | None) -> bool:
        model = self.window.loader.model
        return model is not None and (path is None) == (
            model.path is None or model.path != self._other
        )

    def _learn(self) -> None:
        self.window.pages.show(LEARN)
        page = learn_page_of(self.window)
        assert page is not None
        self._wait_until(lambda: page.view is not None)
        for index in range(len(page.chapters)):
            page.open_chapter(index)
            self._wait_until(lambda: not page.state.request.is_running)
            self._wait(150)

    def _train(self) -> None:
        self.window.pages.show(TRAIN)
        page = train_page_of(self.window)
        assert page is not None
        choices = page.form.choices()
        choices = replace(
            choices, preset="copy-task-small", settings={"training.num_epochs": "1"}, device="cpu"
        )
        page.form.set_choices(replace(choices, parent_folder=self._folder / "runs"))
        page.run_actions.start()
        self._wait_until(lambda: not page.is_running())
        assert page.state.run.status is Status.FINISHED, page.notice_bar.text()
        assert page.run_view is not None
        page.run_view.film.play()
        self._wait(400)
        page.controller.discard()
        self._wait_until(lambda: not any((self._folder / "runs").iterdir()))

    def _settle(self) -> None:
        """Until what was asked has been answered."""
        field = self.window.translate_page.sentence.input
        self._wait_until(lambda: field.is_committed and not self.window.state.request.is_running)

    def _wait_until(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + STEP_LIMIT_SECONDS
        self._wait(5)
        while not is_so():
            assert time.monotonic() < deadline, "something that was asked for did not come"
            self._wait(10)

    def _wait(self, milliseconds: int) -> None:
        self._timer.start(milliseconds)
        self._loop.exec()


def application() -> QApplication:
    """The one of this process."""
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    return app


def fill_cache_of_small_arrays() -> None:
    """NumPy keeps up to seven blocks of each size below 1,024 bytes of a thread: 3.5 MB, which take
    hours to gather."""
    arrays = [np.empty(size, np.uint8) for size in range(1, 1024) for _ in range(8)]
    del arrays


def clear_cache_of_attributes() -> None:
    """Python keeps the names of up to 4,096 attributes that were looked up, which libraries make
    anew each time."""
    clear = getattr(sys, "_clear_internal_caches", None) or getattr(sys, "_clear_type_cache", None)
    if clear is not None:
        clear()


def num_entries(folder: Path) -> int:
    """How many there are in a folder."""
    return sum(1 for _ in folder.iterdir())


def resident_mb() -> float:
    """Memory that this process has written to.

    Not what it has of files: pages of PyTorch's libraries count as its own ("Private_Clean") as
    soon as the last other process that uses them has ended, which looked like growth. Files that
    stay mapped are counted by `num_mapped`.
    """
    text = Path("/proc/self/smaps_rollup").read_text()
    fields = {line.split(":")[0]: line.split()[1] for line in text.splitlines()[1:]}
    return (int(fields["Anonymous"]) + int(fields.get("Pss_Shmem", 0))) / 1024


def num_mapped() -> int:
    """How many pieces of files this process has in its memory: libraries, and models that are
    read."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return sum(
        1
        for line in lines
        if line.split(maxsplit=5)[5:6] and line.split(maxsplit=5)[5].startswith("/")
    )


def slope_per_hour(seconds: np.ndarray, values: np.ndarray) -> float:
    """The median of the slopes between all pairs: a single outlier does not move it (Theil 1950,
    Sen 1968)."""
    first, second = np.triu_indices(len(seconds), 1)
    keeps = seconds[second] > seconds[first]
    slopes = (values[second] - values[first])[keeps] / (seconds[second] - seconds[first])[keeps]
    return 3600 * float(np.median(slopes)) if len(slopes) else 0.0


def slope_interval(seconds: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Where 90 of 100 resampled series have their slope."""
    rng = np.random.default_rng(1)
    drawn = (np.sort(rng.integers(0, len(seconds), len(seconds))) for _ in range(NUM_RESAMPLES))
    slopes = [slope_per_hour(seconds[chosen], values[chosen]) for chosen in drawn]
    low, high = np.quantile(slopes, (0.05, 0.95))
    return float(low), float(high)


def verdict(counts: list[Counts]) -> list[str]:
    """What grew after the warm-up; empty if nothing did. Prints the slopes."""
    counted = counts[int(len(counts) * WARM_UP_SHARE) :]
    seconds = np.array([round_counts.seconds for round_counts in counted])
    problems = []
    for name in ("memory_mb", "threads", "handles", "mapped", "temporary_files", "objects"):
        values = np.array([float(getattr(round_counts, name)) for round_counts in counted])
        slope, (low, high) = slope_per_hour(seconds, values), slope_interval(seconds, values)
        ends = f"{values[0]:12.1f} → {values[-1]:12.1f}"
        print(f"{name:16s} {ends}   {slope:+10.2f} an hour, from {low:+.2f} to {high:+.2f}")
        limit = MAX_MB_PER_HOUR if name == "memory_mb" else 0.0
        if name != "objects" and slope > limit:
            problems.append(f"{name} rises by {slope:.2f} an hour; at most {limit:g} was expected")
    return problems


def soak(minutes: float, rounds: int | None) -> list[str]:
    """Uses a window for so long, or so many rounds; returns what grew."""
    with tempfile.TemporaryDirectory(prefix="augenmerk-soak-") as name:
        folder = Path(name)
        (folder / "temporary").mkdir()
        tempfile.tempdir = os.environ["TMPDIR"] = str(folder / "temporary")
        used = Soak(folder)
        counts: list[Counts] = []
        deadline = time.monotonic() + 60 * minutes
        while len(counts) < rounds if rounds else time.monotonic() < deadline:
            used.round()
            counts.append(used.count())
            last = counts[-1]
            print(
                f"round {len(counts):4d}  {last.seconds / 60:6.1f} min  {last.memory_mb:8.2f} MB  "
                f"{last.threads} threads  {last.handles} handles  {last.mapped} mapped  "
                f"{last.temporary_files} temporary files  {last.objects:,} objects",
                flush=True,
            )
        used.close()
        tempfile.tempdir = None
        shutil.rmtree(folder / "temporary")
    return verdict(counts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="for how long (60)")
    parser.add_argument("--rounds", type=int, help="so many rounds instead")
    options = parser.parse_args()
    if not sys.platform.startswith("linux"):
        parser.error("it counts memory, threads and files as Linux tells them")
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    tune_process()  # as `viz_app.launch` does, before torch is loaded and any thread takes memory
    share_one_heap()
    application()
    with interpreter_shared_fairly():
        problems = soak(options.minutes, options.rounds)
    print("\n".join(problems) or "Nothing grew.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
