"""Finds the devices of this machine in a thread: importing torch takes seconds."""

import queue
import threading
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal

from augenmerk.viz_app.export.saving import import_matplotlib
from augenmerk.viz_app.worker.inference import THREAD_PREFIX

POLL_INTERVAL_MS = 100


@dataclass(frozen=True)
class DeviceOption:
    """A device to train on.

    Attributes:
        name: as used by `core.device`: "auto", "cpu", "cuda:0", "mps".
        label: for display: "cuda:0 · NVIDIA H200".
    """

    name: str
    label: str


DEFAULT_DEVICES = (DeviceOption("auto", "auto"), DeviceOption("cpu", "cpu"))


def find_devices() -> tuple[DeviceOption, ...]:
    """All devices of this machine, beginning with "auto" and the device it selects. Imports torch."""
    import torch

    from augenmerk.core.device import choose_device

    found = [DeviceOption("auto", f"auto · {choose_device('auto').name}"), DeviceOption("cpu", "cpu")]
    if torch.cuda.is_available():
        found += [
            DeviceOption(f"cuda:{index}", f"cuda:{index} · {torch.cuda.get_device_name(index)}")
            for index in range(torch.cuda.device_count())
        ]
    if torch.backends.mps.is_available():
        found.append(DeviceOption("mps", "mps · Apple GPU"))
    return tuple(found)


class DeviceFinder(QObject):
    """Searches once, in a thread; also imports what the charts need, so that they open without delay.

    Signals:
        found(tuple): the `DeviceOption`s.
    """

    found = Signal(tuple)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread: threading.Thread | None = None
        self._answers: queue.SimpleQueue[tuple[DeviceOption, ...]] = queue.SimpleQueue()
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_INTERVAL_MS)
        self._timer.timeout.connect(self._poll)

    def start(self) -> None:
        """Starts the search, the first time it is called."""
        if self._thread is None:
            self._thread = threading.Thread(target=_search, args=(self._answers,), name=f"{THREAD_PREFIX}devices")
            self._thread.start()
            self._timer.start()

    def join(self, timeout_s: float | None = None) -> bool:
        """Waits for the thread, if there is one; returns whether it has ended."""
        self._timer.stop()
        if self._thread is None:
            return True
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _poll(self) -> None:
        try:
            options = self._answers.get_nowait()
        except queue.Empty:
            return
        self.join()
        self.found.emit(options)


def _search(answers: "queue.SimpleQueue[tuple[DeviceOption, ...]]") -> None:
    import_matplotlib()
    try:
        answers.put(find_devices())
    except Exception:  # a broken driver must not leave the list empty
        answers.put(DEFAULT_DEVICES)
