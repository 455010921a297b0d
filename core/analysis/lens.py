"""The logit lens: the decoder's predictions if it stopped after each of its layers. No torch here.

nostalgebraist 2020, "interpreting GPT: the logit lens": the states after a layer go through the final norm and the
output layer, as if it were the last layer. After the last layer this is the model's own prediction; before, it is a
reading that the model was not trained for. `core.analysis.layer_logits` computes it. Shape legend: `core.analysis`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from augenmerk.core.translation.result import Alternative, FloatArray, Translation, read_only


@dataclass(frozen=True, eq=False)
class LogitLens:
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

    def __post_init__(self) -> None:
        read_only(self.log_probabilities)
        self.ranks.setflags(write=False)

    def decided_at(self, step: int) -> int | None:
        """The depth from which on the predicted token is the most probable; None if it is not in the end."""
        is_best = (self.ranks[:, step] == 1).tolist()
        depth = len(is_best)
        while depth and is_best[depth - 1]:
            depth -= 1
        return depth if depth < len(is_best) else None
