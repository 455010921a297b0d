"""`torch.compile` of the model where it is requested and possible, and the reason where it is not."""

from dataclasses import dataclass

import torch

from augenmerk.core.model.transformer import Transformer
from augenmerk.core.training.gradients import HiddenStates
from augenmerk.core.training.precision import PrecisionChoice

_SENTENCES = 32


@dataclass(frozen=True, eq=False)
class CompileChoice:
    """The function that computes the hidden states.

    Attributes:
        hidden_states: the model's own method, or a compiled form of it.
        reason: why, for the user; "" if compiling was not requested.
    """

    hidden_states: HiddenStates
    reason: str = ""


def choose_compiled(
    is_requested: bool, model: Transformer, device: torch.device, precision: PrecisionChoice
) -> CompileChoice:
    """Compiles the model for sentences of any length, if requested.

    Runs it at once on short sentences, forward and backward, because missing tools (a C++ compiler on a CPU, Triton on
    a GPU) show only then; random numbers are restored afterwards. The trial uses as many sentences as a small batch,
    of two lengths, the target without its last token: otherwise the first step would compile again.
    """
    if not is_requested:
        return CompileChoice(model.hidden_states)
    compiled: HiddenStates = torch.compile(model.hidden_states, dynamic=True)
    devices = [device] if device.type == "cuda" else []
    source, target = (torch.full((_SENTENCES, length), model.padding_id + 1, device=device) for length in (5, 8))
    with torch.random.fork_rng(devices):
        try:
            with precision.computing(device):
                total = compiled(source, target[:, :-1]).sum()
            total.backward()
        except Exception as error:  # whatever the compiler raises: training continues without it
            torch._dynamo.reset()
            message = (str(error).strip() or type(error).__name__).splitlines()[0]
            return CompileChoice(model.hidden_states, f"not compiled: the compiler failed ({message})")
        finally:
            model.zero_grad(set_to_none=True)
    return CompileChoice(compiled, "compiled, as requested in the settings")
