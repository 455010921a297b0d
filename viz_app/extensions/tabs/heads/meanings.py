"""What the views of the tab show, and what they do not show."""

from collections.abc import Mapping
from typing import Literal

HeadsQuestion = Literal["importance", "behaviour"]
SampleKind = Literal["gold", "examples", "multi30k", "file"]
"""The sentences to measure on; scenes of lessons do not keep the path of a file."""

MEANINGS: Mapping[HeadsQuestion, str] = {
    "importance": (
        "How much worse the model predicts a sample of translations with one head or "
        "feed-forward network off at a time: above 0, it helps. This is the immediate effect. It "
        "does not show what others could take over, or what the head does."
    ),
    "behaviour": (
        "What each head does on average over a sample: entropy (nats), largest weight, share on "
        "the end token, distances from 3 back to 3 ahead, role. This shows where heads look, not "
        "whether it matters."
    ),
}
