"""The logit lens: the decoder's predictions if it stopped at an earlier depth.

nostalgebraist 2020, "interpreting GPT: the logit lens": the residual stream after a sublayer goes
through the final norm and the output layer, as if it were the decoder's last. At the last depth
this is the model's own prediction; the others are readings that the model was not trained for.
Shape legend: `core.maps`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...arguments import checks_arguments
from ...counting import Counted
from ...errors import NonFiniteError
from ...model.non_finite import is_finite
from ...model.sites import SUBLAYERS, PairPass, Sublayer, trace_sites
from ...translation.result import Alternative, FloatArray, ReadOnlyArrays, Translation
from ...translation.translator import Translator

_MAX_LOGITS = 2**22
"""Logits that are computed in one product."""


@dataclass(frozen=True)
class Depth(Counted):
    """A point of the decoder's residual stream: the embedding, or after a sublayer (in post-norm
    models: its norm).

    Attributes:
        layer: counted from 0; None for the embedding.
        sublayer: the name of the module.
    """

    layer: int | None = None
    sublayer: Sublayer | Literal["embedding"] = "embedding"

    def text_from(self, first: int) -> str:
        """“layer 2 cross-attention”; see `Counted`."""
        name = self.sublayer.replace("_", "-")
        return name if self.layer is None else f"layer {self.layer + first} {name}"

    @property
    def ends_layer(self) -> bool:
        """Whether nothing else of the layer follows. The embedding counts as layer 0."""
        return self.sublayer in {"embedding", "feed_forward"}

    @property
    def site(self) -> str:
        """The name of the value there; see `core.model.sites`."""
        return (
            "decoder.embedding"
            if self.layer is None
            else f"decoder.{self.layer}.{self.sublayer}.after"
        )


@checks_arguments
@dataclass(frozen=True, eq=False)
class LogitLens(ReadOnlyArrays):
    """The decoder's predictions at each of P depths and T steps of one translation.

    Attributes:
        translation: whose steps these are.
        depths: the embedding of the token read first; the model's own prediction last.
        log_probabilities: [P, T], natural logs for the token predicted in the end.
        ranks: [P, T], its rank among all tokens that may be chosen, 1 for the most probable.
        entropies: [P, T], of the distribution over all tokens, in nats.
        candidates: the most probable tokens that may be chosen, best first, by depth and step.
        model_digest: of the model that computed them.
    """

    translation: Translation
    depths: tuple[Depth, ...]
    log_probabilities: FloatArray
    ranks: NDArray[np.int64]
    entropies: FloatArray
    candidates: tuple[tuple[tuple[Alternative, ...], ...], ...]
    model_digest: str = ""

    @property
    def whole_layers(self) -> "LogitLens":
        """The embedding and the ends of layers alone: P = L + 1."""
        rows = [row for row, depth in enumerate(self.depths) if depth.ends_layer]
        return replace(
            self,
            depths=tuple(self.depths[row] for row in rows),
            log_probabilities=self.log_probabilities[rows],
            ranks=self.ranks[rows],
            entropies=self.entropies[rows],
            candidates=tuple(self.candidates[row] for row in rows),
        )

    def decided_at(self, step: int) -> int | None:
        """The row from which on the predicted token is the most probable; None if it is not in the
        end.

        Raises `AnalysisError` if there is no such step.
        """
        self.translation.check_step(step)
        is_best = (self.ranks[:, step] == 1).tolist()
        row = len(is_best)
        while row and is_best[row - 1]:
            row -= 1
        return row if row < len(is_best) else None


@checks_arguments
def logit_lens(translator: Translator, translation: Translation) -> LogitLens:
    """The decoder's predictions at each depth, under the translation's experiment.

    Takes one more pass.

    Not thread-safe with other uses of the model.

    Args:
        translator: provides the model.
        translation: by this model, written by the user, or by a model with the same vocabularies;
            its tokens are read under this model.

    Raises:
        AnalysisError: as `Translator.pass_over`.
    """
    steps = {
        depth: translator.runner.describe_steps(logits, translation.predicted_ids)
        for depth, logits in logits_by_depth(translator.pass_over(translation))
    }
    return LogitLens(
        translation,
        tuple(steps),
        np.array([step.log_probabilities for step in steps.values()], dtype=np.float32),
        np.array([step.ranks for step in steps.values()]),
        np.array([step.entropies for step in steps.values()], dtype=np.float32),
        tuple(step.alternatives for step in steps.values()),
        translator.digest,
    )


@torch.inference_mode()
def logits_by_depth(pair: PairPass) -> Iterator[tuple[Depth, Tensor]]:
    """The logits [T, V] at each depth, a few at a time: together they could take gigabytes.

    Raises:
        NonFiniteError: logits are not finite.
    """
    model = pair.model
    layers = range(len(pair.model.decoder_layers))
    depths = [
        Depth(),
        *(Depth(layer, sublayer) for layer in layers for sublayer in SUBLAYERS["decoder"]),
    ]
    values_by_site = trace_sites(pair, [*(depth.site for depth in depths), "logits"])
    per_product = max(1, _MAX_LOGITS // values_by_site["logits"].numel())
    for first in range(0, len(depths) - 1, per_product):
        group = depths[first : min(first + per_product, len(depths) - 1)]
        states = torch.cat([values_by_site[depth.site] for depth in group])  # [depths, T, D]
        for depth, logits in zip(group, model.output(model.decoder_norm(states)), strict=True):
            if not is_finite(logits):
                description = (
                    "the target embedding"
                    if depth.layer is None
                    else "the logits read off decoder {depth}"
                )
                raise NonFiniteError(description, depth=depth)
            yield depth, logits
    yield depths[-1], values_by_site["logits"][0]
