import pytest
import torch

from augenmerk.core.device import DeviceChoice, choose_device
from augenmerk.core.errors import DeviceError


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch):
    """Pretends that this machine has so many CUDA devices, and an Apple GPU or not."""

    def pretend(num_cuda: int = 0, *, has_mps: bool = False) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: num_cuda > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: num_cuda)
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda index: f"NVIDIA {'AB'[index]}")
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: has_mps)

    return pretend


def test_without_a_gpu_it_is_the_cpu_and_the_reason_is_given(machine) -> None:
    machine()
    assert choose_device() == DeviceChoice("cpu", "no CUDA device found")
    assert choose_device("cpu") == DeviceChoice("cpu", "requested")


def test_auto_takes_the_first_cuda_device_then_apples(machine) -> None:
    machine(2, has_mps=True)
    assert choose_device("auto") == DeviceChoice("cuda:0", "NVIDIA A")
    machine(0, has_mps=True)
    assert choose_device("auto") == DeviceChoice("mps", "Apple GPU")


def test_a_device_can_be_asked_for_by_name(machine) -> None:
    machine(2, has_mps=True)
    assert choose_device("cpu") == DeviceChoice("cpu", "requested")
    assert choose_device("cuda") == DeviceChoice("cuda:0", "NVIDIA A, requested")
    assert choose_device("cuda:1") == DeviceChoice("cuda:1", "NVIDIA B, requested")
    assert choose_device("mps") == DeviceChoice("mps", "Apple GPU, requested")


@pytest.mark.parametrize(
    "name", ["cuda:2", "cuda:-1", "cuda:", "cuda:x", "gpu", "CPU", "", "tpu", "meta"]
)
def test_a_device_that_is_not_there_is_refused_with_those_that_are(machine, name: str) -> None:
    machine(2)
    with pytest.raises(DeviceError) as caught:
        choose_device(name)
    message = str(caught.value)
    assert repr(name) in message
    assert "Choose one of: auto, cpu, cuda:0, cuda:1." in message
    assert "no device" in message


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "mps"])
def test_a_machine_without_gpus_offers_none(machine, name: str) -> None:
    machine()
    with pytest.raises(DeviceError, match=r"Choose one of: auto, cpu\.$"):
        choose_device(name)


def test_this_machine_has_a_device_that_works() -> None:
    assert torch.ones(2, device=choose_device().name).sum() == 2
