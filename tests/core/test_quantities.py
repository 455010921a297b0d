import math
import re
from pathlib import Path

import pytest

from augenmerk.core.quantities import about, counted, duration, percent, percent_in_words


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


def test_a_count_has_the_form_of_its_noun() -> None:
    assert [counted(count, "epoch") for count in (0, 1, 2, 1200)] == [
        "0 epochs",
        "1 epoch",
        "2 epochs",
        "1,200 epochs",
    ]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.41, "410 ms"), (0.9996, "1.0 s"), (3.21, "3.2 s"), (9.96, "10 s"), (61, "1 min 01 s")],
)
def test_short_times_keep_what_matters_where_it_is_asked_for(seconds: float, words: str) -> None:
    assert duration(seconds, exact=True) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, "a few seconds"),
        (29, "about 30 seconds"),
        (54, "about 50 seconds"),
        (56, "about 1 minute"),
        (100, "about 2 minutes"),
        (50 * 60, "about 50 minutes"),
        (56 * 60, "about 1 hour"),
        (8.4 * 3600, "about 8 hours"),
        (35.9 * 3600, "about 36 hours"),
        (60 * 3600, "about 2 days"),
    ],
)
def test_an_estimate_is_rounded_to_what_it_can_promise(seconds: float, words: str) -> None:
    assert about(seconds) == words


ROOT = Path(__file__).resolve().parents[2]
CODE = sorted(path for folder in ("core", "viz_app") for path in (ROOT / folder).rglob("*.py"))
TEXTS = [
    *(ROOT / "resources" / "learn").rglob("*.md"),
    *(ROOT / "resources" / "lessons").glob("*.augenmerk"),
    *(ROOT / "resources").glob("*.toml"),
    ROOT / "resources" / "MODEL_CARD.md",
    ROOT / "docs" / "model-notebook.md",
    ROOT / "README.md",
]
WITH_SPACE = re.compile(r"[\d}] %(?! …)")
"""Not the punctuation marks that the detokenizer lists."""


@pytest.mark.parametrize(
    ("share", "decimals", "expected"),
    [
        (0.3, 0, "30%"),
        (0.004, 1, "0.4%"),
        (1.0, 0, "100%"),
        (0.985, 0, "98%"),
        (0.0, 0, "0%"),
        (-0.001, 0, "0%"),
        (0.004, 0, "< 1%"),
        (0.0004, 1, "< 0.1%"),
        (0.999, 0, "> 99%"),
        (0.999, 1, "99.9%"),
        (0.99996, 1, "> 99.9%"),
    ],
)
def test_a_share_has_no_space_before_the_sign_and_is_all_or_nothing_only_if_it_is(
    share: float, decimals: int, expected: str
) -> None:
    assert percent(share, decimals) == expected


def test_no_text_writes_it_otherwise() -> None:
    lines = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in TEXTS
        for line in path.read_text("utf-8").splitlines()
        if WITH_SPACE.search(line)
    ]
    assert not lines


def test_no_message_writes_it_otherwise() -> None:
    lines = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in CODE
        for line in path.read_text("utf-8").splitlines()
        if WITH_SPACE.search(line)
    ]
    assert not lines


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.0, "0%"),
        (0.004, "less than 1%"),
        (0.25, "25%"),
        (0.994, "99%"),
        (0.999, "more than 99%"),
        (1.0, "100%"),
    ],
)
def test_a_share_in_a_sentence_is_written_out(share: float, expected: str) -> None:
    assert percent_in_words(share) == expected


def test_a_noun_agrees_with_its_count() -> None:
    assert [counted(count, "epoch") for count in (0, 1, 1200)] == [
        "0 epochs",
        "1 epoch",
        "1,200 epochs",
    ]
    assert [counted(count, "query", "queries") for count in (1, 2)] == ["1 query", "2 queries"]
