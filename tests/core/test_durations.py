import math

import pytest

from augenmerk.core.durations import duration


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (41.2, "41 s"),
        (59.7, "1 min 00 s"),
        (185, "3 min 05 s"),
        (7620, "2 h 07 min"),
        (math.inf, "–"),
        (math.nan, "–"),
        (-1, "–"),
    ],
)
def test_duration_is_said_as_people_say_it(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.41, "410 ms"), (0.9996, "1.0 s"), (3.21, "3.2 s"), (9.96, "10 s"), (61, "1 min 01 s")]
)
def test_short_times_keep_what_matters_where_it_is_asked_for(seconds: float, words: str) -> None:
    assert duration(seconds, exact=True) == words
