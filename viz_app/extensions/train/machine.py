"""The devices of this machine, and how fast they train."""

import platform
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QSettings, QTimer, Signal
from PySide6.QtWidgets import QWidget

from augenmerk.core.extensions.training.duration import Speed, fastest, measure_speed

from ...worker.inference import InferenceWorker, Request
from ...worker.interpreter import interpreter_shared_fairly
from ...worker.jobs import ModelFreeJob, ShouldStop, Tell
from ..pictures.saving import import_matplotlib
from .run import settings as run_settings
from .worker import import_optimizers, leave_a_core_to_the_window

SPEEDS_AFTER_MS = 1_000
"""The page is in sight for so long before the speed of the machine is measured, which takes seconds
of a core."""


class Machine(QObject):
    """Finds the devices of this machine once, then measures their speeds, in a thread.

    Attributes:
        name: identifies the machine and its devices in settings; empty until they are found.
        worker: the thread.

    Signals:
        devices_found(dict): the labels of the devices, by name.
        speeds_changed(dict | None): the known speeds by name of the device; None while they are
            sought.
    """

    devices_found = Signal(object)
    speeds_changed = Signal(object)

    def __init__(self, settings: QSettings, is_training: Callable[[], bool], page: QWidget) -> None:
        """Args: is_training: whether a training keeps the devices busy. page: speeds are measured
        while it is visible.
        """
        super().__init__(page)
        self._settings, self._is_training, self._page = settings, is_training, page
        self.name = ""
        self.worker = InferenceWorker(parent=self)
        self._is_asked = False
        self._until_speeds = QTimer(self, singleShot=True, interval=SPEEDS_AFTER_MS)
        self._until_speeds.timeout.connect(self._measure_speeds)

    def find_devices(self) -> None:
        """Looks for devices; later calls do nothing. A broken driver leaves the default devices."""
        if self._is_asked:
            return
        self._is_asked = True
        self.speeds_changed.emit(None)
        request = Request(
            DevicesJob(),
            self,
            self._on_devices,
            on_error=lambda _failure: self.speeds_changed.emit({}),
        )
        self.worker.submit(request)

    def close(self) -> bool:
        """Measures nothing more; returns whether the thread has ended in time."""
        self._until_speeds.stop()
        return self.worker.close()

    def _on_devices(self, labels: dict[str, str]) -> None:
        self.devices_found.emit(labels)
        self.worker.close()
        self.name = f"{platform.node()} {sorted(labels.items())}"
        self.speeds_changed.emit(run_settings.load_speeds(self._settings, self.name) or None)
        self._until_speeds.start()

    def _measure_speeds(self) -> None:
        # the speed of a busy device would be measured
        if self._page.isVisible() and not self._is_training():
            self.worker = InferenceWorker(parent=self)
            request = Request(
                SpeedsJob(self._is_training),
                self,
                self._on_speeds,
                on_error=lambda _failure: self._on_speeds({}),
            )
            self.worker.submit(request)
        else:
            self._on_speeds({})

    def _on_speeds(self, speeds: dict[str, Speed]) -> None:
        self.worker.close()
        best = known = run_settings.load_speeds(self._settings, self.name)
        if speeds and not self._is_training():
            best = {
                name: fastest((speed, known.get(name, speed))) for name, speed in speeds.items()
            }
            run_settings.save_speeds(self._settings, self.name, best)
        self.speeds_changed.emit(best)


class DevicesJob(ModelFreeJob):
    """Finds the devices of this machine: importing torch takes seconds.

    Also imports matplotlib for the charts.
    """

    def work(self, progress: Tell, should_stop: ShouldStop) -> dict[str, str]:
        """See `find_devices`."""
        import_matplotlib()
        return find_devices()


@dataclass(frozen=True, eq=False)
class SpeedsJob(ModelFreeJob):
    """Measures how fast the default device and the CPU train, once a session; takes seconds.

    Attributes:
        is_training: tells whether a training has begun, which ends the measurement.
    """

    is_training: Callable[[], bool]

    def work(self, progress: Tell, should_stop: ShouldStop) -> dict[str, Speed]:
        """The speeds by name of the device, as in `find_devices`."""
        from augenmerk.core.device import choose_device

        import_optimizers()
        leave_a_core_to_the_window()
        speeds: dict[str, Speed] = {}
        default = choose_device("auto").name
        with interpreter_shared_fairly():
            for device in dict.fromkeys((default, "cpu")):
                speed = measure_speed(device, lambda: should_stop() or self.is_training())
                if speed is not None:
                    speeds |= dict.fromkeys(
                        (device, "auto") if device == default else (device,), speed
                    )
        return speeds


def find_devices() -> dict[str, str]:
    """The labels of this machine's devices, by name as in `core.device`. Imports torch."""
    import torch

    from augenmerk.core.device import choose_device

    devices = {"auto": f"auto · {choose_device('auto').name}", "cpu": "cpu"}
    if torch.cuda.is_available():
        names = map(torch.cuda.get_device_name, range(torch.cuda.device_count()))
        devices |= {f"cuda:{index}": f"cuda:{index} · {name}" for index, name in enumerate(names)}
    if torch.backends.mps.is_available():
        devices["mps"] = "mps · Apple GPU"
    return devices
