"""Choose the device for tensors, with a reason."""

from dataclasses import dataclass

from .errors import DeviceError


@dataclass(frozen=True)
class DeviceChoice:
    """A device and the reason for it.

    Attributes:
        name: "cpu", "cuda:0", "mps" …
        reason: for people: "no CUDA device found", "NVIDIA H200", "requested".
    """

    name: str
    reason: str


def choose_device(requested: str = "auto") -> DeviceChoice:
    """Resolve "auto", "cpu", "cuda", "cuda:N" or "mps".

    Raises:
        DeviceError: the name is not one of these, or this machine has no such device.
    """
    import torch

    indices = range(torch.cuda.device_count() if torch.cuda.is_available() else 0)
    devices = {f"cuda:{index}": torch.cuda.get_device_name(index) for index in indices}
    if torch.backends.mps.is_available():
        devices["mps"] = "Apple GPU"
    if requested == "auto":
        return DeviceChoice(*next(iter(devices.items()), ("cpu", "no CUDA device found")))
    if requested == "cpu":
        return DeviceChoice("cpu", "requested")
    name = "cuda:0" if requested == "cuda" else requested
    if name in devices:
        return DeviceChoice(name, f"{devices[name]}, requested")
    available = ", ".join(["auto", "cpu", *devices])
    raise DeviceError(f"This machine has no device {requested!r}. Choose one of: {available}.")
