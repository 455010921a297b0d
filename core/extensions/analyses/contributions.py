"""The share of each output word that comes from the source, and from the words already written.

No torch.

`core.extensions.analyses.alti` computes it. Shape legend: `core.maps`.
"""

from dataclasses import dataclass

import numpy as np

from ...arguments import checks_arguments
from ...maps.selection import LabelledMap, is_hidden, label_map, merge_words
from ...quantities import percent
from ...translation.result import FloatArray, ReadOnlyArrays, Translation

METHOD = "ALTI+ (Ferrando et al. 2022)"
"""The name shown in the window."""
COLLAPSED_SHARE = 0.4
"""Words below this share depend on the source so little that they deserve a look.

With the bundled model it is the lowest hundredth of the words in reference translations (the 72
pairs of `resources/alignments`, 979 words: 1% lie below 0.40, 5% below 0.51, half below 0.73; 200
other pairs of the validation split give 0.40, 0.50 and 0.73). The end token is excluded: it depends
on what is written and has about 0.24. This does not detect wrong translations: with an unrelated
source, the same words lose 0.07 on average, and only 6% of them fall this low. Other models have
other distributions.
"""


@checks_arguments
@dataclass(frozen=True, eq=False)
class Contributions(ReadOnlyArrays):
    """The shares of source and prefix in each step of a translation.

    Attributes:
        translation: the translation.
        source: [T, S], the share of each source token in the prediction of step t.
        prefix: [T, T], the share of each token read up to step t; 0 above the diagonal. The rows of
            both together sum to 1.
        encoder: [S, S], the share of each source token in each position of the encoder's output;
            rows sum to 1.
        model_digest: of the model that computed them.
    """

    translation: Translation
    source: FloatArray
    prefix: FloatArray
    encoder: FloatArray
    model_digest: str = ""

    @property
    def source_share(self) -> FloatArray:
        """[T], the share of the whole source in each predicted token."""
        return self.source.sum(axis=1)

    def of_source(self, *, words: bool = True) -> LabelledMap:
        """Source tokens in the columns, predicted tokens in the rows; or words: keys summed,
        queries averaged.
        """
        labelled = label_map(self.source, self.translation, "cross", "predicted")
        return merge_words(labelled) if words else labelled

    def of_prefix(self, *, words: bool = True) -> LabelledMap:
        """The same with the tokens read so far in the columns, starting with the start token."""
        labelled = label_map(self.prefix, self.translation, "decoder", "predicted")
        return merge_words(labelled) if words else labelled

    def source_share_of_words(self) -> FloatArray:
        """The share of the whole source in each row of `of_source`: words of the output, then the
        end token.
        """
        return self.of_source().weights.sum(axis=1)


@dataclass(frozen=True)
class ShareWarning:
    """A word of the translation that depends very little on the source.

    Attributes:
        word: as shown.
        steps: its decoding steps.
        source_share: from 0 to 1.
    """

    word: str
    steps: tuple[int, ...]
    source_share: float

    @property
    def message(self) -> str:
        """One sentence for people."""
        return (
            f"Only {percent(self.source_share)} of “{self.word}” comes from the source (less "
            f"than {percent(COLLAPSED_SHARE)} is rare): the model wrote it mostly because of the "
            "words before it."
        )


def share_warnings(contributions: Contributions) -> tuple[ShareWarning, ...]:
    """The words of a translation whose share of the source is below `COLLAPSED_SHARE`, from first
    to last.
    """
    queries = contributions.of_source().queries
    shares = contributions.source_share_of_words()
    return tuple(
        ShareWarning(queries.labels[query], queries.positions[query], float(shares[query]))
        for query in np.flatnonzero(shares < COLLAPSED_SHARE)
        if not is_hidden(queries.labels[query], {"end"})
    )
