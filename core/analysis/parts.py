"""What a model's numbers are made of: the components of the residual stream, and their parts. No torch.

The vector of a position is a sum: the vectors of its token and of its position, the output of every head and of every
feed-forward network, and biases (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits").
`core.analysis.logit_attribution` and `core.analysis.query_key` compute the parts. Shape legend: `core.analysis`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from augenmerk.core.model.heads import Head, Network
from augenmerk.core.translation.result import Alternative, ReadOnlyArrays, Translation


class Origin(Enum):
    """A component that no layer computes. `BIAS` includes the biases after heads, of norms and of projections."""

    TOKEN = "token"
    POSITION = "position"
    BIAS = "bias"

    def __str__(self) -> str:
        return self.value

    @property
    def short_name(self) -> str:
        """“token”."""
        return self.value

    @property
    def title(self) -> str:
        """The same as a heading."""
        return {"token": "Vector of the token", "position": "Vector of the position", "bias": "Biases"}[self.value]


Component = Origin | Head | Network
"""A writer to the residual stream. The bias after a network belongs to the network."""


@dataclass(frozen=True)
class ComponentGroup:
    """Components that are summed.

    Attributes:
        name: for people: “heads of layer 2”.
        places: their indices among all components.
    """

    name: str
    places: tuple[int, ...]


def group_components(components: Sequence[Component]) -> tuple[ComponentGroup, ...]:
    """Token, position, the heads of each layer, the network of each layer, biases; in the order of `components`."""
    places: dict[str, list[int]] = {}
    for place, component in enumerate(components):
        match component:
            case Head():
                name = f"heads of layer {component.layer + 1}"
            case Network():
                name = f"feed-forward of layer {component.layer + 1}"
            case _:
                name = component.short_name
        places.setdefault(name, []).append(place)
    return tuple(ComponentGroup(name, tuple(found)) for name, found in places.items())


@dataclass(frozen=True, eq=False)
class WordParts(ReadOnlyArrays):
    """One token of a translation and a rival: the difference of their logits, and the parts of the difference.

    Attributes:
        translation: the translation.
        step: of the token; of the first that differs if word and rival begin alike.
        chosen, rival: the two tokens, with their probabilities at this step.
        chosen_word, rival_word: the words that they belong to, with the natural logs of their whole probabilities after
            the same beginning. The same tokens if these are whole words.
        difference: the logit of `chosen` minus that of `rival`, in nats: the logarithm of the ratio of their
            probabilities.
        components: P of them: token and position that the decoder reads here, heads and networks from the first layer
            up, biases.
        values: [P], the direct effect of each on the difference.
        remainder: `difference` minus the sum of `values`: rounding, or the effect of a user's hook.
        keys: [L, H, S], the parts of each head of cross-attention that come from each position of the encoder; they sum
            to its value. Positions rather than words: the encoder has mixed the words.
    """

    translation: Translation
    step: int
    chosen: Alternative
    rival: Alternative
    chosen_word: Alternative
    rival_word: Alternative
    difference: float
    components: tuple[Component, ...]
    values: NDArray[np.float64]
    remainder: float
    keys: NDArray[np.float64]

    def value_of(self, component: Component) -> float:
        """The part of one component."""
        return float(self.values[self.components.index(component)])
