"""What the views of the tab show, and what they do not show."""

from collections.abc import Mapping
from typing import Literal

WordView = Literal["parts", "lens", "layers"]
"""The parts of the logit, the predictions after each sublayer, or the translations from each
encoder layer."""

MEANINGS: Mapping[WordView, str] = {
    "parts": (
        "Direct logit attribution: the parts sum to the word's lead. Orange parts favour the "
        "word, blue ones its foil, with which it is compared. A part counts the direct effect "
        "alone; later layers may react when it is switched off. Measure shows both effects "
        "together."
    ),
    "lens": (
        "Logit lens: the vector after each sublayer (self-attention, cross-attention, "
        "feed-forward network), read as if it were the last. The model was not trained for these "
        "earlier readings."
    ),
    "layers": "DecoderLens: the translation when the decoder reads the encoder's vectors after "
    "fewer layers.",
}
