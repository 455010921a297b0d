"""Values: a word of a translation as a sum of components, and what changes do to its parts.

No torch.

`core.extensions.analyses.logit_attribution` computes them. Shape legend: `core.maps`.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arguments import checks_arguments
from ...errors import AnalysisError
from ...model.heads import Head, Network
from ...translation.result import Alternative, ReadOnlyArrays, Translation
from .parts import Component, Origin


@checks_arguments
@dataclass(frozen=True, eq=False)
class WordParts(ReadOnlyArrays):
    """One token of a translation and a foil: the difference of their logits, and the parts of the
    difference.

    Attributes:
        translation: the translation.
        step: of the token; of the first that differs if word and foil begin alike.
        chosen: the chosen token, with its probability at this step.
        foil: the foil token, likewise.
        chosen_word: the word of the chosen token, with the natural log of its whole probability
            after the same beginning. The token itself if it is a whole word.
        foil_word: the word of the foil token, likewise.
        difference: the logit of `chosen` minus that of `foil`, in nats: the logarithm of the ratio
            of their probabilities.
        components: P of them: token and position that the decoder reads here, heads and networks
            from the first layer up, biases.
        values: [P], the direct effect of each on the difference.
        remainder: `difference` minus the sum of `values`: rounding, or the effect of a user's hook.
        keys: [L, H, S], the parts of each head of cross-attention that come from each position of
            the encoder; they sum to its value. Positions rather than words: the encoder has mixed
            the words.
        model_digest: of the model that computed them.
    """

    translation: Translation
    step: int
    chosen: Alternative
    foil: Alternative
    chosen_word: Alternative
    foil_word: Alternative
    difference: float
    components: tuple[Component, ...]
    values: NDArray[np.float64]
    remainder: float
    keys: NDArray[np.float64]
    model_digest: str = ""

    def value_of(self, component: Component) -> float:
        """The part of one component. Raises `AnalysisError` if it is not among `components`."""
        if component not in self.components:
            raise AnalysisError(
                "{component} is not among the components of the decoder. Choose one of them.",
                component=component,
            )
        return float(self.values[self.components.index(component)])


@dataclass(frozen=True, eq=False)
class EncoderParts(ReadOnlyArrays):
    """The parts of cross-attention heads in the lead of a word, by what the encoder's positions are
    made of.

    Attributes:
        parts: of the word.
        components: C of the encoder: token and position, its heads and networks from the first
            layer up, biases, which include those of the values.
        values: [L, H, C, S], by layer and head of cross-attention, component and position; their
            sums over the components are `parts.keys`, if the model is the same.
        model_digest: of the model that computed them.
    """

    parts: WordParts
    components: tuple[Component, ...]
    values: NDArray[np.float64]
    model_digest: str = ""


LEAST_INCREASE = 0.1
MAX_INCREASED = 3


@dataclass(frozen=True)
class ChangeEffect:
    """The effect of an experiment's changes on the parts of one word of the original translation.

    Attributes:
        word: the word.
        increased: heads and networks, not changed themselves, whose direct effect on the word's
            lead over its foil grew by at least `LEAST_INCREASE` nats, with this growth; the
            `MAX_INCREASED` largest. This does not prove that they replace the changed ones.
        largest: the head or network with the largest direct effect under the changes; None if there
            is none above 0.
    """

    word: str
    increased: tuple[tuple[Head | Network, float], ...]
    largest: Head | Network | None

    @classmethod
    def of(
        cls, before: WordParts, after: WordParts, changed: Collection[Component]
    ) -> "ChangeEffect":
        """The effect, from parts of the same token and foil. `changed`: parts to leave out."""
        direct = dict(zip(after.components, map(float, after.values), strict=True))
        direct = {part: value for part, value in direct.items() if part not in changed}
        values = {part: value for part, value in direct.items() if not isinstance(part, Origin)}
        growth = {part: value - before.value_of(part) for part, value in values.items()}
        increased = sorted(
            (item for item in growth.items() if item[1] >= LEAST_INCREASE),
            key=lambda item: -item[1],
        )
        largest = max(values, key=lambda part: values[part], default=None)
        has_largest = largest is not None and values[largest] > 0
        return cls(
            before.chosen_word.token,
            tuple(increased[:MAX_INCREASED]),
            largest if has_largest else None,
        )
