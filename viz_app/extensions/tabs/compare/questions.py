"""What the tab compares with."""

from typing import Literal

CompareQuestion = Literal["sentence", "checkpoint"]
"""Another sentence, or another checkpoint."""
