"""What the rows of decoder and cross maps stand for, proven by changing one token of the decoder's
input."""

import numpy as np
import pytest

from augenmerk.core.maps.selection import Selection
from augenmerk.core.model.heads import AttentionKind
from augenmerk.core.translation.translator import Translator
from tests.core.translators import read_given

SOURCE = "Ein Mann steht auf einer Leiter."
ONE = "A man stands on a ladder."
OTHERS = ("A man sits on a ladder.", "A man stands in a ladder.", "A man stands on the ladder.")


@pytest.fixture(params=["word", "subword"])
def translator(request: pytest.FixtureRequest) -> Translator:
    return request.getfixturevalue(f"{request.param}_translator")  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", ["decoder", "cross"])
def test_a_changed_token_changes_the_row_of_its_name_and_no_earlier_one(
    translator: Translator, kind: AttentionKind
) -> None:
    one = read_given(translator, SOURCE, ONE)
    others = [read_given(translator, SOURCE, target) for target in OTHERS]
    other = next(
        candidate for candidate in others if len(candidate.read_tokens) == len(one.read_tokens)
    )
    pairs = zip(one.read_tokens, other.read_tokens, strict=True)
    changed = next(step for step, (before, after) in enumerate(pairs) if before != after)
    assert changed > 1
    for mode, row in (("read", changed), ("predicted", changed - 1)):
        labelled = [
            Selection(mode).apply(translation.maps.of_kind(kind), translation, kind)
            for translation in (one, other)
        ]
        assert [labels.queries.labels[row] for labels in labelled] == [
            one.read_tokens[changed],
            other.read_tokens[changed],
        ]
    first, second = (translation.maps.of_kind(kind) for translation in (one, other))
    np.testing.assert_array_equal(first[:, :, :changed], second[:, :, :changed])  # to the last bit
    assert (first[:, :, changed] != second[:, :, changed]).any(axis=-1).all()
