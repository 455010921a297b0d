"""What people leave out or type otherwise, one way at a time."""

import random
from collections import Counter

import pytest

from augenmerk.core.extensions.training.distortions import (
    DISTORTIONS,
    Distortion,
    distort,
)

LINE = "Eine große Frau fährt über die Straße."


def distort_line(line: str, kind: Distortion, rng: random.Random) -> str:
    return " ".join(filter(None, distort(line.split(), kind, rng)))


@pytest.mark.parametrize(
    ("kind", "typed"),
    [
        ("no-final-stop", "Eine große Frau fährt über die Straße"),
        ("lower-case", "eine große frau fährt über die straße."),
        ("upper-case", "EINE GROSSE FRAU FÄHRT ÜBER DIE STRASSE."),
        ("ss", "Eine grosse Frau fährt über die Strasse."),
        ("umlauts", "Eine große Frau faehrt ueber die Straße."),
    ],
)
def test_a_line_as_somebody_types_it(kind: Distortion, typed: str) -> None:
    assert distort_line(LINE, kind, random.Random(1)) == typed


def test_tokens_are_distorted_as_a_line_is_and_stay_as_many() -> None:
    words = ["ein", "öder", "fußweg", "."]
    assert distort(words, "no-final-stop", random.Random(1)) == ["ein", "öder", "fußweg", ""]
    assert distort(words, "umlauts", random.Random(1)) == ["ein", "oeder", "fußweg", "."]
    assert distort(words, "ss", random.Random(1)) == ["ein", "öder", "fussweg", "."]


def test_only_the_last_word_loses_a_stop() -> None:
    assert (
        distort_line("Dr. Kim lacht ... laut!", "no-final-stop", random.Random(1))
        == "Dr. Kim lacht ... laut"
    )
    assert distort_line("Er liest .", "no-final-stop", random.Random(1)) == "Er liest"
    assert distort_line("Er liest", "no-final-stop", random.Random(1)) == "Er liest"


def test_capital_umlauts_and_a_capital_sharp_s_are_typed_too() -> None:
    assert distort_line("Übung Ärger Öl", "umlauts", random.Random(1)) == "Uebung Aerger Oel"
    assert distort_line("GROẞ", "ss", random.Random(1)) == "GROSS"


def test_a_typo_changes_one_long_word_by_one_slip() -> None:
    words = ["der", "hund", "schläft", "auf", "42000", "!!!!"]
    changed: Counter[int] = Counter()
    for seed in range(200):
        typed = distort(words, "typo", random.Random(seed))
        different = [
            index for index, (old, new) in enumerate(zip(words, typed, strict=True)) if old != new
        ]
        assert different in ([1], [2], []), "letters exchanged may be the same ones"
        changed.update(different)
        for index in different:
            old, new = words[index], typed[index]
            assert new[0] == old[0]
            assert abs(len(new) - len(old)) <= 1
            assert len(new) != len(old) or Counter(new) == Counter(old)
    assert set(changed) == {1, 2}
    assert changed.total() > 190


def test_a_typo_depends_on_the_random_numbers_alone() -> None:
    assert distort_line(LINE, "typo", random.Random(3)) == distort_line(
        LINE, "typo", random.Random(3)
    )
    assert len({distort_line(LINE, "typo", random.Random(seed)) for seed in range(20)}) > 5


@pytest.mark.parametrize("kind", DISTORTIONS)
def test_nothing_and_little_can_be_distorted(kind: Distortion) -> None:
    assert distort([], kind, random.Random(1)) == []
    assert len(distort(["a"], kind, random.Random(1))) == 1
