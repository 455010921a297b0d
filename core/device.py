"""Choose the device for tensors, with a reason."""

from dataclasses import dataclass

from augenmerk.core.errors import DeviceError


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

    cuda_names = [f"cuda:{index}" for index in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    has_mps = torch.backends.mps.is_available()
    if requested == "auto":
        if cuda_names:
            return DeviceChoice(cuda_names[0], torch.cuda.get_device_name(0))
        if has_mps:
            return DeviceChoice("mps", "Apple GPU")
        return DeviceChoice("cpu", "no CUDA device found")
    if requested == "cpu":
        return DeviceChoice("cpu", "requested")
    if requested == "mps" and has_mps:
        return DeviceChoice("mps", "Apple GPU, requested")
    name = "cuda:0" if requested == "cuda" else requested
    if name in cuda_names:
        return DeviceChoice(name, f"{torch.cuda.get_device_name(int(name.split(':')[1]))}, requested")
    available = ", ".join(["auto", "cpu", *cuda_names, *(["mps"] if has_mps else [])])
    raise DeviceError(f"This machine has no device {requested!r}. Choose one of: {available}.")
