"""How much of each output word comes from the source, and how much from the words already written. No torch here.

`core.analysis.alti` computes it. Shape legend: `core.analysis`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from augenmerk.core.analysis.selection import LabelledMap, is_hidden, label_map, merge_words
from augenmerk.core.errors import AnalysisError
from augenmerk.core.percent import percent
from augenmerk.core.translation.result import FloatArray, Translation

METHOD = "ALTI+ (Ferrando et al. 2022)"
"""As a window names it."""
COLLAPSED_SHARE = 0.38
"""Below this a word depends on the source so little that it deserves a look.

With the bundled model it is the lowest hundredth of the words in reference translations (the 72 pairs of
`resources/alignments`, 979 words: 1% lie below 0.38, 5% below 0.46, half below 0.66; 200 other pairs of the
validation split give 0.39, 0.46 and 0.66). The end token is left out: it is decided by what is written, at about 0.27.
It is no test of a translation's being wrong: read with a foreign source, the same words lose 0.04 on average, and 2%
of them fall this low. Another model has another distribution: `share_floor` finds its hundredth.
"""
FLOOR_PERCENT = 1.0


@dataclass(frozen=True, eq=False)
class Contributions:
    """The shares of source and prefix in each step of one translation.

    Attributes:
        translation: whose.
        source: [T, S], the share of each source token in the prediction of step t.
        prefix: [T, T], the share of each token read up to step t; 0 above the diagonal. The rows of both together sum
            to 1.
        encoder: [S, S], the share of each source token in each position of the encoder's output; rows sum to 1.
    """

    translation: Translation
    source: FloatArray
    prefix: FloatArray
    encoder: FloatArray

    @property
    def source_share(self) -> FloatArray:
        """[T], what the whole source gives to each predicted token."""
        return self.source.sum(axis=1)

    def of_source(self, *, words: bool = True) -> LabelledMap:
        """Source tokens in the columns, predicted tokens in the rows; or words: keys summed, queries averaged."""
        labelled = label_map(self.source, self.translation, "cross", "predicted")
        return merge_words(labelled) if words else labelled

    def of_prefix(self, *, words: bool = True) -> LabelledMap:
        """The same with the tokens read so far in the columns, the start token first."""
        labelled = label_map(self.prefix, self.translation, "decoder", "predicted")
        return merge_words(labelled) if words else labelled

    def source_share_of_words(self) -> FloatArray:
        """What the whole source gives to each row of `of_source`: words of the output, then the end token."""
        return self.of_source().weights.sum(axis=1)


@dataclass(frozen=True)
class ShareWarning:
    """A word of the translation that depends on the source very little.

    Attributes:
        word: as it is shown.
        steps: the decoding steps that made it.
        source_share: from 0 to 1.
        floor: what it was measured by.
    """

    word: str
    steps: tuple[int, ...]
    source_share: float
    floor: float

    @property
    def message(self) -> str:
        """One sentence for people."""
        return (
            f"Only {percent(self.source_share)} of “{self.word}” comes from the source "
            f"(less than {percent(self.floor)} is rare): the model wrote it mostly because of the words before it."
        )


def share_warnings(contributions: Contributions, floor: float = COLLAPSED_SHARE) -> tuple[ShareWarning, ...]:
    """The words of a translation whose share of the source has collapsed, from first to last.

    Args:
        contributions: of the translation.
        floor: shares below it are told.
    """
    queries = contributions.of_source().queries
    shares = contributions.source_share_of_words()
    return tuple(
        ShareWarning(queries.labels[query], queries.positions[query], float(shares[query]), floor)
        for query in np.flatnonzero(shares < floor)
        if not is_hidden(queries.labels[query], {"end"})
    )


def share_floor(sample: Sequence[Contributions], percent: float = FLOOR_PERCENT) -> float:
    """The share of the source that so many percent of a sample's words fall below, the end tokens left out.

    Raises:
        AnalysisError: there is no word in the sample.
    """
    shares = [
        share
        for contributions in sample
        for label, share in zip(
            contributions.of_source().queries.labels, contributions.source_share_of_words(), strict=True
        )
        if not is_hidden(label, {"end"})
    ]
    if not shares:
        raise AnalysisError("There is no word in the sample. At least one translation with a word in it was expected.")
    return float(np.percentile(shares, percent))
