"""The choices of a run for its device: number format, compilation, micro-batches, random numbers,
determinism.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from ...config.groups import Precision, TrainingConfig
from ...model.transformer import Transformer

HiddenStates = Callable[[Tensor, Tensor], Tensor]
WORKSPACE, WORKSPACE_SIZE = "CUBLAS_WORKSPACE_CONFIG", ":4096:8"
"""Without a workspace of fixed size, cuBLAS may sum in another order each time; it reads this when
it starts.
"""
_BFLOAT16_INSTRUCTIONS = ("avx512_bf16", "amx_bf16", "arm_bf16", "bf16")
_TRIAL_SENTENCES = 32
_FLOATING_POINT_OPERATIONS = 4e11
"""Operations of a micro-batch. One forward and backward pass takes 2 to 6 s on one core."""
_TOKENS_TO_ADD_GRADIENTS, _OPERATIONS_TO_CALL_FUNCTIONS = 100, 1.5e9
"""Measured: with 64 to 256 tokens in all, steps of `notebook` and `annotated-2022` are equally
fast."""
_MIN_TOKENS = 256
"""With fewer, matrix products become inefficient."""


@dataclass(frozen=True)
class PrecisionChoice:
    """The chosen number format.

    Attributes:
        name: "float32" or "bfloat16".
        reason: the reason for the user.
    """

    name: Literal["float32", "bfloat16"]
    reason: str

    def computing(self, device: torch.device) -> AbstractContextManager[None]:
        """Within this context matrix products use the chosen format; sums and norms stay 32-bit."""
        is_mixed = self.name == "bfloat16"
        context: AbstractContextManager[None] = torch.autocast(
            device.type, dtype=torch.bfloat16, enabled=is_mixed
        )
        return context


def choose_precision(requested: Precision, device: torch.device) -> PrecisionChoice:
    """The number format for a device.

    "auto" selects bfloat16 only where the device has instructions for it: elsewhere it is emulated,
    many times slower. The choice depends only on the device, never on a measurement, so that a
    resumed run computes as before.
    """
    if requested != "auto":
        return PrecisionChoice(requested, "the settings ask for it")
    if device.type == "cuda":
        if torch.cuda.is_bf16_supported(including_emulation=False):
            return PrecisionChoice("bfloat16", "this GPU computes in it")
        return PrecisionChoice("float32", "this GPU would have to emulate bfloat16")
    if device.type == "cpu":
        capabilities = torch.cpu.get_capabilities()
        if any(capabilities.get(name) for name in _BFLOAT16_INSTRUCTIONS):
            return PrecisionChoice("bfloat16", "this processor has instructions for it")
        return PrecisionChoice("float32", "this processor has no instructions for bfloat16")
    return PrecisionChoice("float32", f"bfloat16 was not tried on {device.type}")


@dataclass(frozen=True, eq=False)
class CompileChoice:
    """The function that computes the hidden states.

    Attributes:
        hidden_states: the model's own method, or a compiled form of it.
        reason: the reason for the user; "" if compiling was not requested.
    """

    hidden_states: HiddenStates
    reason: str = ""


def choose_compiled(
    is_requested: bool, model: Transformer, device: torch.device, precision: PrecisionChoice
) -> CompileChoice:
    """Compiles the model for sentences of any length, if requested.

    Runs it at once on short sentences, forward and backward, because missing tools (a C++ compiler
    on a CPU, Triton on a GPU) show only then; random numbers are restored afterwards. The trial
    uses as many sentences as a small batch, of two lengths, the target without its last token:
    otherwise the first step would compile again.
    """
    if not is_requested:
        return CompileChoice(model.hidden_states)
    compiled: HiddenStates = torch.compile(model.hidden_states, dynamic=True)
    devices = [device] if device.type == "cuda" else []
    source, target = (
        torch.full((_TRIAL_SENTENCES, length), model.padding_id + 1, device=device)
        for length in (5, 8)
    )
    with torch.random.fork_rng(devices):
        try:
            with precision.computing(device):
                total = compiled(source, target[:, :-1]).sum()
            total.backward()
        except Exception as error:  # any error of the compiler: training continues without it
            torch._dynamo.reset()
            message = (str(error).strip() or type(error).__name__).splitlines()[0]
            return CompileChoice(
                model.hidden_states, f"not compiled: the compiler failed ({message})"
            )
        finally:
            model.zero_grad(set_to_none=True)
    return CompileChoice(compiled, "compiled, as requested in the settings")


@dataclass(frozen=True)
class LaunchChoice:
    """How the kernels of a step are launched.

    Attributes:
        is_graph: together, as a CUDA graph for each shape of batch.
        reason: the reason for the user; "" where there are no graphs.
    """

    is_graph: bool
    reason: str


def choose_launches(training: TrainingConfig, device: torch.device) -> LaunchChoice:
    """Graphs on a CUDA device, unless a setting needs shapes or kernels that they do not have."""
    if device.type != "cuda":
        return LaunchChoice(False, "")
    for is_set, setting in (
        (training.compile, "compile"),
        (training.deterministic, "deterministic"),
    ):
        if is_set:
            return LaunchChoice(
                False, f"Kernels are launched one by one: graphs do not support {setting}"
            )
    return LaunchChoice(
        True, "Launching all kernels of a batch at once, as a CUDA graph: faster for small models"
    )


def max_tokens_at_once(num_parameters: int, device: torch.device) -> int | None:
    """The padded tokens of a micro-batch, from the size of the model; None on a GPU, which computes
    whole batches.

    A token costs about six operations for each parameter: two forward, four backward (Kaplan et al.
    2020, section 2.1).
    """
    if device.type != "cpu":
        return None
    return max(_MIN_TOKENS, int(_FLOATING_POINT_OPERATIONS / (6 * num_parameters)))


def tokens_per_pass(num_parameters: int) -> float:
    """How many tokens take as long on a CPU as a forward and backward pass takes by itself.

    It calls a thousand functions and adds up the gradients of all parameters.
    """
    return _TOKENS_TO_ADD_GRADIENTS + _OPERATIONS_TO_CALL_FUNCTIONS / (6 * num_parameters)


def random_states(device: torch.device) -> dict[str, Tensor]:
    """The states of the CPU's generator and of the device's, by their names in checkpoints."""
    states = {"random.cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["random.cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        states["random.mps"] = torch.mps.get_rng_state()
    return states


def restore_random_states(device: torch.device, states: Mapping[str, Tensor]) -> None:
    """Restores the result of `random_states`; that of another device is ignored."""
    torch.set_rng_state(states["random.cpu"])
    if device.type == "cuda" and "random.cuda" in states:
        torch.cuda.set_rng_state(states["random.cuda"], device)
    elif device.type == "mps" and "random.mps" in states:
        torch.mps.set_rng_state(states["random.mps"])


def random_state(device: torch.device) -> Tensor:
    """[N] bytes: the values of `random_states`."""
    return torch.cat(list(random_states(device).values()))


def set_random_state(device: torch.device, state: Tensor) -> None:
    """Restores the result of `random_state` for a device of the same type."""
    size = len(torch.get_rng_state())
    states = {f"random.{device.type}": state[size:].clone(), "random.cpu": state[:size].clone()}
    restore_random_states(device, states)


@contextmanager
def random_state_restored(device: str) -> Iterator[None]:
    """The caller's random numbers continue after this context as if nothing had been drawn or
    seeded within it.
    """
    before = random_state(torch.device(device))
    try:
        yield
    finally:
        set_random_state(torch.device(device), before)


@contextmanager
def deterministic(is_requested: bool, device: str) -> Iterator[str]:
    """Within this context a GPU uses deterministic algorithms, where PyTorch has them.

    PyTorch warns if an operation has none. The flags of the process are restored at the end.

    Args:
        is_requested: whether the settings request it.
        device: "cpu", "cuda:0" …

    Yields:
        The measures and the reason for them, for the user; "" if not requested.
    """
    kind = device.partition(":")[0]
    if not is_requested:
        yield ""
        return
    if kind == "cpu":
        yield "Deterministic, as requested: on a CPU always, for the same number of threads"
        return
    if kind != "cuda":
        yield (
            "Not guaranteed to be deterministic: PyTorch guarantees that for cuda only, not for "
            f"{kind}"
        )
        return
    before = (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )
    benchmark = torch.backends.cudnn.benchmark
    workspace = os.environ.get(WORKSPACE)
    is_late = workspace is None and torch.cuda.is_initialized()
    try:
        os.environ.setdefault(WORKSPACE, WORKSPACE_SIZE)
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.backends.cudnn.benchmark = False
        reason = "Deterministic on the GPU, at some cost in speed, as requested"
        yield (
            f"{reason}; except possibly cuBLAS, because CUDA was initialized before"
            if is_late
            else reason
        )
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
        torch.backends.cudnn.benchmark = benchmark
        if workspace is None:
            os.environ.pop(WORKSPACE, None)
