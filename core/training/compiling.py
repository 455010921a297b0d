"""`torch.compile` of the model, where that is wished for and can be done, and why not otherwise."""

from dataclasses import dataclass

import torch

from core.model.transformer import Transformer
from core.training.gradients import HiddenStates
from core.training.precision import PrecisionChoice

_SENTENCES = 32


@dataclass(frozen=True, eq=False)
class CompileChoice:
    """What computes the hidden states.

    Attributes:
        hidden_states: the model's own method, or a compiled form of it.
        reason: why, for people; "" if nobody asked for compiling.
    """

    hidden_states: HiddenStates
    reason: str = ""


def choose_compiled(wish: bool, model: Transformer, device: torch.device, precision: PrecisionChoice) -> CompileChoice:
    """Compiles the model for sentences of any length, if it is wished for.

    It is tried at once on short sentences, forward and backward, because what is missing (a C++ compiler on a CPU,
    Triton on a GPU) shows only then. Random numbers go on as if nothing had been tried. The sentences are as many as
    a small batch has, of two lengths, the target without its last token: else the first step would compile anew.
    """
    if not wish:
        return CompileChoice(model.hidden_states)
    compiled: HiddenStates = torch.compile(model.hidden_states, dynamic=True)
    devices = [device] if device.type == "cuda" else []
    source, target = (torch.full((_SENTENCES, length), model.padding_id + 1, device=device) for length in (5, 8))
    with torch.random.fork_rng(devices):
        try:
            with precision.computing(device):
                total = compiled(source, target[:, :-1]).sum()
            total.backward()
        except Exception as error:  # whatever the compiler's tools raise: training goes on without them
            torch._dynamo.reset()
            message = (str(error).strip() or type(error).__name__).splitlines()[0]
            return CompileChoice(model.hidden_states, f"not compiled: the compiler failed ({message})")
        finally:
            model.zero_grad(set_to_none=True)
    return CompileChoice(compiled, "compiled, as the settings ask for")
