"""Values in the texts of stations."""

import pytest

from viz_app.learn.values import percent


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.0, "0 %"),
        (0.004, "less than 1 %"),
        (0.25, "25 %"),
        (0.994, "99 %"),
        (0.999, "more than 99 %"),
        (1.0, "100 %"),
    ],
)
def test_a_share_is_rounded_to_all_or_nothing_only_if_it_is(share: float, expected: str) -> None:
    assert percent(share) == expected
