"""The effect of changes on the parts of a word, as text."""

from augenmerk.core.extensions.analyses.parts_of_words import ChangeEffect
from augenmerk.core.model.heads import Head, Network
from augenmerk.viz_app.extensions.words.effect_part import increased_parts


def test_parts_that_increased_are_named_with_their_growth() -> None:
    network = Network("decoder", 2)
    effect = ChangeEffect("mann", ((Head("cross", 1, 4), 0.314), (network, 0.1)), network)
    assert (
        increased_parts(effect)
        == "parts that increased for “mann”: cross 2·5 +0.31, feed-forward decoder 3 +0.10"
    )


def test_without_increased_parts_nothing_is_added() -> None:
    assert increased_parts(ChangeEffect("mann", (), Network("decoder", 2))) == ""
