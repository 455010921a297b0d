"""The cases of what the tab *Word* shows below its question. No Qt, no torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from augenmerk.core.extensions.analyses.parts import Component
from augenmerk.core.extensions.analyses.parts_of_words import WordParts

if TYPE_CHECKING:  # torch belongs to the worker thread
    from augenmerk.core.extensions.analyses.decoder_lens import DecoderLens
    from augenmerk.core.extensions.analyses.logit_lens import LogitLens


@dataclass(frozen=True)
class NoAnswer:
    """There is no answer, and none is being computed: without a translation, or after a problem."""


@dataclass(frozen=True)
class Waiting:
    """The first answer of the view is being computed."""


@dataclass(frozen=True)
class PreviousAnswer:
    """A new answer is being computed. The previous one stays on the screen until then."""


@dataclass(frozen=True)
class PartsAnswer:
    """The parts of a word's lead.

    Attributes:
        parts: of the word.
        measured: the change of the lead without each component; empty before it is measured.
        parts_of_original: the same comparison in the original; None if nothing is changed, or if it
            is unknown.
        lead: sentences about the lead.
    """

    parts: WordParts
    measured: Mapping[Component, float]
    parts_of_original: WordParts | None
    lead: str


@dataclass(frozen=True)
class LensAnswer:
    """The predictions after each sublayer.

    Attributes:
        lens: the predictions.
        step: the decoding step of the explained word.
    """

    lens: "LogitLens"
    step: int


@dataclass(frozen=True)
class LayersAnswer:
    """The translations from each layer of the encoder.

    Attributes:
        lens: the translations.
    """

    lens: "DecoderLens"


ShownAnswer = NoAnswer | Waiting | PreviousAnswer | PartsAnswer | LensAnswer | LayersAnswer
