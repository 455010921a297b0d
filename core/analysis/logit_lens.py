"""The logit lens: the decoder's predictions if it stopped after each of its layers.

nostalgebraist 2020, "interpreting GPT: the logit lens": the states after a layer go through the final norm and the
output layer, as if it were the last layer. After the last layer this is the model's own prediction; the others
are readings that the model was not trained for. Shape legend: `core.analysis`.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from augenmerk.core.errors import NonFiniteError
from augenmerk.core.model.interventions import Interventions
from augenmerk.core.model.transformer import Transformer, is_finite, require_finite
from augenmerk.core.translation.compilation import interventions_of
from augenmerk.core.translation.result import Alternative, FloatArray, ReadOnlyArrays, Translation
from augenmerk.core.translation.running import Runner
from augenmerk.core.translation.translator import Translator


@dataclass(frozen=True, eq=False)
class LogitLens(ReadOnlyArrays):
    """The decoder's predictions after each layer, at each step of one translation.

    Depth 0 is the embedding of the token read, before any layer; depth L is the model's own prediction.

    Attributes:
        translation: whose steps these are.
        log_probabilities: [L + 1, T], natural logs for the token predicted in the end.
        ranks: [L + 1, T], its rank among all tokens that may be chosen, 1 for the most probable.
        candidates: the most probable tokens that may be chosen, best first, by depth and step.
    """

    translation: Translation
    log_probabilities: FloatArray
    ranks: NDArray[np.int64]
    candidates: tuple[tuple[tuple[Alternative, ...], ...], ...]

    def decided_at(self, step: int) -> int | None:
        """The depth from which on the predicted token is the most probable; None if it is not in the end."""
        is_best = (self.ranks[:, step] == 1).tolist()
        depth = len(is_best)
        while depth and is_best[depth - 1]:
            depth -= 1
        return depth if depth < len(is_best) else None


def logit_lens(translator: Translator, translation: Translation) -> LogitLens:
    """The decoder's predictions after each layer, under the translation's experiment. Takes one more pass.

    Not thread-safe with other uses of the model.

    Args:
        translator: provides the model.
        translation: by this model, written by the user, or by a model with the same vocabularies.

    Raises:
        AnalysisError: the experiment changes a head that this model lacks.
    """
    interventions = interventions_of(translator.model, translation.experiment)
    logits = layer_logits(translator.model, translation.source_ids, translation.read_ids, interventions)
    runner = Runner(translator.checkpoint, translator.rules)
    steps = [runner.describe_steps(of_depth, translation.predicted_ids) for of_depth in logits]
    return LogitLens(
        translation,
        np.array([each.log_probabilities for each in steps], dtype=np.float32),
        np.array([each.ranks for each in steps]),
        tuple(each.alternatives for each in steps),
    )


@torch.inference_mode()
def layer_logits(
    model: Transformer,
    source_ids: Sequence[int],
    read_ids: Sequence[int],
    interventions: Interventions | None = None,
) -> Tensor:
    """Logits read off the decoder's embedding, then off each of its layers: [L + 1, T, V].

    Args:
        model: in evaluation mode.
        source_ids, read_ids: S and T ids, without padding.
        interventions: for one sentence.
    """
    device = model.output.weight.device
    caught: list[Tensor] = []

    def catch_input(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        caught.append(inputs[0])

    def catch_output(module: nn.Module, inputs: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:
        caught.append(output[0])

    with ExitStack() as hooks:
        hooks.callback(model.decoder_layers[0].register_forward_pre_hook(catch_input).remove)
        for layer in model.decoder_layers:
            hooks.callback(layer.register_forward_hook(catch_output).remove)
        encoding = model.encode(torch.tensor([source_ids], device=device), interventions=interventions)
        read = torch.tensor([read_ids], device=device)
        of_model = model.decode(encoding, read).logits
    require_finite(model, encoding, read, of_model)
    logits: Tensor = model.output(model.decoder_norm(torch.cat(caught)))
    for depth, of_depth in enumerate(logits):
        if not is_finite(of_depth):
            raise NonFiniteError(f"the logits read off decoder layer {depth}" if depth else "the target embedding")
    return logits
