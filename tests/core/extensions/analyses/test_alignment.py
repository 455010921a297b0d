"""Word alignment: error rates on cases with a known answer, files that are sound and files that are
not."""

from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.analyses.alignment import (
    AlignmentScore,
    GoldPair,
    Links,
    diagonal_links,
    format_links,
    parse_links,
    read_gold,
    read_ibm_1,
    score_links,
)
from augenmerk.core.resources import resource_path
from augenmerk.core.text.tokenizers import SpacyTokenizer

SURE = {(0, 0), (1, 2)}
POSSIBLE = SURE | {(1, 1), (2, 1)}


@pytest.mark.parametrize(
    ("hypothesis", "aer", "precision", "recall"),
    [
        (SURE, 0, 1, 1),
        (POSSIBLE, 0, 1, 1),  # possible links cost nothing …
        # … but do not stand for a sure one that is missed
        ({(0, 0), (1, 1)}, 1 - (1 + 2) / (2 + 2), 1, 1 / 2),
        ({(0, 0), (1, 2), (2, 2)}, 1 - (2 + 2) / (3 + 2), 2 / 3, 1),
        ({(2, 0), (0, 2)}, 1, 0, 0),
        (set(), 1, 1, 0),
    ],
)
def test_error_rate_precision_and_recall_of_textbook_cases(
    hypothesis, aer, precision, recall
) -> None:
    score = score_links(hypothesis, SURE, POSSIBLE)
    assert (score.aer, score.precision, score.recall) == pytest.approx((aer, precision, recall))


def test_sure_links_count_as_possible_whether_named_or_not() -> None:
    assert score_links(SURE, SURE, POSSIBLE - SURE) == score_links(SURE, SURE, POSSIBLE)


def test_swapping_both_sides_changes_nothing() -> None:
    hypothesis = {(0, 0), (1, 1), (2, 2)}

    def swapped(links: set) -> set:
        return {(target, source) for source, target in links}

    assert score_links(hypothesis, SURE, POSSIBLE) == score_links(
        swapped(hypothesis), swapped(SURE), swapped(POSSIBLE)
    )


def test_with_sure_links_alone_the_error_rate_is_one_minus_f1() -> None:
    score = score_links({(0, 0), (1, 1), (1, 2)}, SURE, SURE)
    assert score.aer == pytest.approx(
        1 - 2 * score.precision * score.recall / (score.precision + score.recall)
    )


def test_the_error_rate_is_not_the_share_of_wrong_links() -> None:
    score = score_links({(0, 0)}, sure={(0, 0), (1, 1)}, possible=set())
    assert score.precision == 1, "no link is wrong"
    assert score.aer == pytest.approx(1 / 3), "but one is missing"


def test_pairs_add_up_by_their_links() -> None:
    total = score_links(SURE, SURE, POSSIBLE) + score_links(set(), {(0, 0), (1, 1)}, set())
    assert total == AlignmentScore(num_links=2, num_sure=4, sure_found=2, possible_found=2)
    assert total.aer == pytest.approx(1 - 4 / 6)
    assert AlignmentScore().aer == 0


def test_the_diagonal_gives_each_target_word_one_source_word() -> None:
    assert diagonal_links(3, 3) == {(0, 0), (1, 1), (2, 2)}
    assert diagonal_links(5, 3) == {(0, 0), (2, 1), (4, 2)}
    assert diagonal_links(2, 3) == {(0, 0), (1, 1), (1, 2)}
    assert diagonal_links(4, 1) == {(0, 0)}


def test_links_are_written_as_they_are_read() -> None:
    sure, possible = parse_links("2-1 1-1 10?3", "here")
    assert (sure, possible) == ({(0, 0), (1, 0)}, {(0, 0), (1, 0), (9, 2)})
    assert format_links(sure, possible) == "1-1 2-1 10?3"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1-1 2", "'2' is not a link"),
        ("0-1", "'0-1' is not a link"),
        ("1-1 1?1", "linked twice"),
        ("1–2", "is not a link"),
    ],
)
def test_links_of_another_form_are_refused(text: str, message: str) -> None:
    with pytest.raises(AnalysisError, match=message):
        parse_links(text, "here")


def test_the_gold_pairs_are_sound() -> None:
    gold = read_gold()
    assert len(gold) >= 60
    assert len({pair.line for pair in gold}) == len(gold)
    for pair in gold:
        assert pair.sure <= pair.possible, pair.line
        assert all(
            0 <= source < len(pair.source) and 0 <= target < len(pair.target)
            for source, target in pair.possible
        )
        assert 2 * len({target for _, target in pair.sure}) >= len(pair.target), (
            pair.line
        )  # most words have a sure link
        final = len(pair.source) - 1, len(pair.target) - 1
        assert pair.source[-1] != "." or pair.target[-1] != "." or final in pair.sure


@pytest.mark.heavy
def test_the_words_of_the_gold_pairs_are_those_of_the_tokenizers() -> None:
    german, english = SpacyTokenizer("de"), SpacyTokenizer("en")
    for pair in read_gold():
        assert tuple(token.text for token in german(pair.source_text)) == pair.source
        assert tuple(token.text for token in english(pair.target_text)) == pair.target


HEADING = "line\tgerman\tenglish\tlinks\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "contains no sentence pair"),
        (HEADING, "contains no sentence pair"),
        ("Ein Hund\tA dog\n", "line 1: found .* Write the columns line, source, target, links"),
        (HEADING + "3\tEin Hund\tA dog\n", "line 2: found"),
        (HEADING + "x\tEin Hund\tA dog\t1-1\n", "'x' is not a line number"),
        (HEADING + "3\tEin Hund\tA dog\t1-1 2-3\n", "line 2: the link 2-3 leads out"),
        (HEADING + "3\tEin Hund\t\t\n", "a sentence is empty"),
        (HEADING + "3\tEin Hund\tA dog\tone\n", "line 2: 'one' is not a link"),
        (HEADING + "9" * 5_000 + "\tEin Hund\tA dog\t1-1\n", "line 2: .* is not a line number"),
        (HEADING + "3\tEin Hund\tA dog\t1-1\n" * 300_000, "it has more than 5,000,000 bytes"),
    ],
)
def test_damaged_gold_files_are_told(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "gold.tsv").write_text(text, encoding="utf-8")
    with pytest.raises(AnalysisError, match=message):
        read_gold(tmp_path / "gold.tsv")


def test_gold_files_may_have_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "gold.tsv").write_text(
        HEADING + "3\tEin Hund\tA dog\t1-1 2-2\n", encoding="utf-8-sig"
    )
    (pair,) = read_gold(tmp_path / "gold.tsv")
    assert pair.source == ("Ein", "Hund")


def test_a_gold_file_names_its_own_languages(tmp_path: Path) -> None:
    (tmp_path / "gold.tsv").write_text(
        "line\tfrançais\tdeutsch\tlinks\n3\tUn chien\tEin Hund\t1-1\n", encoding="utf-8"
    )
    (pair,) = read_gold(tmp_path / "gold.tsv")
    assert pair.target == ("Ein", "Hund")


def test_missing_and_foreign_gold_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match="Cannot read the alignments") as caught:
        read_gold(tmp_path / "missing.tsv")
    assert str(caught.value).endswith(
        "Use a text file with the columns line, source, target, links, separated by tabs."
    )
    (tmp_path / "gold.tsv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(AnalysisError, match="not UTF-8: byte 1 of line 1 is 0xff"):
        read_gold(tmp_path / "gold.tsv")


Table = Counter[tuple[int, int]]


def classes_of(pair: GoldPair, *readings: tuple[Links, Links]) -> list[tuple[int, ...]]:
    """For every pair of words 2 for sure, 1 for possible, 0 for none, in each reading."""
    cells = product(range(len(pair.source)), range(len(pair.target)))
    return [tuple(sum(cell in links for links in of) for of in readings) for cell in cells]


def f1(table: Table, least: int) -> float:
    both = sum(count for (one, other), count in table.items() if min(one, other) >= least)
    return (
        2
        * both
        / sum(count * ((one >= least) + (other >= least)) for (one, other), count in table.items())
    )


def kappa(table: Table) -> float:
    """Cohen's, in three classes."""
    size = table.total()
    observed = sum(table[same, same] for same in range(3)) / size
    shares = [
        [sum(n for cell, n in table.items() if cell[side] == c) / size for c in range(3)]
        for side in (0, 1)
    ]
    chance = sum(one * other for one, other in zip(*shares, strict=True))
    return (observed - chance) / (1 - chance)


def readme_of_the_gold() -> str:
    return " ".join((resource_path("alignments") / "README.md").read_text(encoding="utf-8").split())


def readings_of(name: str) -> dict[int, list[tuple[Links, Links]]]:
    lines = (resource_path("alignments") / name).read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return {
        int(line): [parse_links(reading, line) for reading in readings] for line, *readings in rows
    }


def test_the_agreement_of_both_readings_is_as_the_readme_says() -> None:
    """F1 over sure links and over all, and Cohen's kappa over all pairs of words in three
    classes."""
    readings = readings_of("val.readings.tsv")
    table: Table = Counter()
    num_decided: Counter[str] = Counter()
    for pair in read_gold():
        for one, two, gold in classes_of(pair, *readings[pair.line], (pair.sure, pair.possible)):
            table[one, two] += 1
            assert gold in (one, two)  # what both say stands
            if one != two:
                num_decided["first" if gold == one else "second"] += 1
    assert set(readings) == {pair.line for pair in read_gold()}
    text = readme_of_the_gold()
    assert f"have an F1 of {f1(table, 2):.3f}" in text
    assert f"all links {f1(table, 1):.3f}" in text
    assert f"all {table.total():,} pairs of words" in text
    assert f"none, is {kappa(table):.3f}" in text
    assert (
        f"{num_decided['second']} as in the second reading, {num_decided['first']} as in the first"
        in text
    )
    num_sure = sum(len(pair.sure) for pair in read_gold())
    num_more = sum(len(pair.possible) for pair in read_gold()) - num_sure
    assert f"({num_sure} sure, {num_more} more possible)" in text


def test_the_agreement_of_the_blind_reading_is_as_the_readme_says() -> None:
    """The same against the gold, and the error rate of either's sure links against the other."""
    readings = readings_of("val.third.tsv")
    read = [pair for pair in read_gold() if pair.line in readings]
    assert [pair.line for pair in read] == [pair.line for pair in read_gold()][1::3]
    table: Table = Counter()
    rates = [AlignmentScore(), AlignmentScore()]
    for pair in read:
        (third,) = readings[pair.line]
        table.update(classes_of(pair, third, (pair.sure, pair.possible)))
        rates[0] += score_links(third[0], pair.sure, pair.possible)
        rates[1] += score_links(pair.sure, *third)
    text = readme_of_the_gold()
    assert f"it has an F1 of {f1(table, 2):.3f} over sure links" in text
    assert f"and of {f1(table, 1):.3f} over all links" in text
    assert f"kappa over {table.total():,} pairs of words is {kappa(table):.3f}" in text
    assert (
        f"error rate of {100 * rates[0].aer:.1f}% against the gold, and so have the gold's" in text
    )
    assert f"{rates[0].aer:.3f}" == f"{rates[1].aer:.3f}"


def test_ibm_1_has_links_for_every_word_of_the_gold_pairs(tmp_path: Path) -> None:
    links = read_ibm_1()
    for pair in read_gold():
        assert sorted(target for _, target in links[pair.line]) == list(range(len(pair.target)))
        assert all(source < len(pair.source) for source, _ in links[pair.line])
    (tmp_path / "ibm.tsv").write_text("line\tlinks\n3\t1-1\tx\n", encoding="utf-8")
    with pytest.raises(AnalysisError, match=r"line 2: found .* Write the columns line, links"):
        read_ibm_1(tmp_path / "ibm.tsv")
