"""Ranking of aligners: the right one wins, the figures are those of one aligner at a time, and
halves stay apart."""

from itertools import count
from pathlib import Path

import pytest

from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.analyses.alignment import (
    AlignmentScore,
    GoldPair,
    diagonal_links,
    score_links,
)
from augenmerk.core.extensions.analyses.alignment_ranking import (
    Aligner,
    AlignerRanking,
    AlignerScore,
    align,
    rank_aligners,
)
from augenmerk.core.translation.translator import Translator
from tests.core.translators import read_given

TEXTS = (
    ("ein mann steht auf einer leiter .", "a man stands on a ladder ."),
    ("mann auf leiter", "a man on ladder"),
    ("einer leiter steht .", "ladder stands ."),
    ("auf einer leiter steht ein mann .", "a man on a ladder ."),
    ("steht mann .", "man stands ."),
)
WINNER = Aligner(1, 0, "predicted", "weight")


@pytest.fixture(scope="module")
def translator(untrained_checkpoint: Path) -> Translator:
    return Translator.load(untrained_checkpoint, "cpu")


def links_of(
    translator: Translator, source: str, target: str, aligner: Aligner
) -> frozenset[tuple[int, int]]:
    links = align(translator, read_given(translator, source, target), aligner)
    return frozenset((link.source, link.target) for link in links)


@pytest.fixture(scope="module")
def gold(translator: Translator) -> tuple[GoldPair, ...]:
    """Pairs whose gold links are what `WINNER` says, all sure."""
    pairs = []
    for line, (source, target) in enumerate(TEXTS, start=1):
        links = links_of(translator, source, target, WINNER)
        pairs.append(GoldPair(line, tuple(source.split()), tuple(target.split()), links, links))
    return tuple(pairs)


@pytest.fixture(scope="module")
def ranking(translator: Translator, gold: tuple[GoldPair, ...]) -> AlignerRanking:
    return rank_aligners(translator, gold)


def score_of(ranking: AlignerRanking, aligner: Aligner) -> AlignerScore:
    """The score of one aligner."""
    return next(score for score in ranking.scores if score.aligner == aligner)


def test_an_aligner_that_is_right_wins(ranking: AlignerRanking) -> None:
    assert ranking.best is not None
    assert (ranking.best.choosing.aer, ranking.best.reporting.aer) == (0, 0)
    score = score_of(ranking, WINNER)
    assert (score.choosing.aer, score.reporting.aer) == (0, 0)
    assert ranking.scores[-1].choosing.aer > 0


def test_every_layer_head_label_mode_and_measure_is_ranked_once(ranking: AlignerRanking) -> None:
    aligners = [score.aligner for score in ranking.scores]
    assert len(set(aligners)) == len(aligners)
    by_measure = dict.fromkeys(("weight", "norm", "rollout"), 2 * (2 * 2 + 2 + 1)) | {
        "norm-layer": 2 * (2 + 1)
    }
    for measure, expected in by_measure.items():
        assert (
            sum(aligner is not None and aligner.measure == measure for aligner in aligners)
            == expected
        ), measure
    rates = [score.choosing.aer for score in ranking.scores]
    assert rates == sorted(rates)


@pytest.mark.parametrize(
    "aligner",
    [
        Aligner(0, 1, "read", "weight"),
        Aligner(1, None, "predicted", "norm-layer"),
        Aligner(1, None, "read", "rollout"),
        Aligner(None, None, "predicted", "norm"),
    ],
)
def test_figures_are_those_of_one_aligner_at_a_time(
    translator: Translator, gold: tuple[GoldPair, ...], ranking: AlignerRanking, aligner: Aligner
) -> None:
    halves = [AlignmentScore(), AlignmentScore()]
    for index, pair in enumerate(gold):
        links = links_of(translator, pair.source_text, pair.target_text, aligner)
        assert len(links) == len(pair.target)
        halves[index % 2] += score_links(links, pair.sure, pair.possible)
    score = score_of(ranking, aligner)
    assert [score.choosing, score.reporting] == halves


def test_possible_links_cost_less_than_none(
    translator: Translator, gold: tuple[GoldPair, ...]
) -> None:
    half_sure = [
        GoldPair(pair.line, pair.source, pair.target, frozenset(sorted(pair.sure)[:1]), pair.sure)
        for pair in gold
    ]
    score = score_of(rank_aligners(translator, half_sure), WINNER)
    assert score.choosing.precision == 1
    assert score.choosing.aer == 0
    assert score.choosing.num_links > score.choosing.num_sure


def test_pairs_take_turns_and_what_is_reported_cannot_choose(
    translator: Translator, gold: tuple[GoldPair, ...]
) -> None:
    spoilt = [
        pair
        if index % 2 == 0
        else GoldPair(pair.line, pair.source, pair.target, frozenset(), frozenset())
        for index, pair in enumerate(gold)
    ]
    before, after = rank_aligners(translator, gold), rank_aligners(translator, spoilt)
    assert (after.num_choosing, after.num_reporting) == (3, 2)
    assert [score.aligner for score in after.scores] == [score.aligner for score in before.scores]
    assert after.scores[0].reporting.aer == 1


def test_baselines_stand_beside(translator: Translator, gold: tuple[GoldPair, ...]) -> None:
    perfect = {pair.line: pair.sure for pair in gold}
    ranking = rank_aligners(translator, gold, {"by hand": perfect})
    diagonal, by_hand = ranking.baselines
    assert (diagonal.name, by_hand.name, by_hand.choosing.aer, by_hand.reporting.aer) == (
        "diagonal",
        "by hand",
        0,
        0,
    )
    expected = AlignmentScore()
    for pair in gold[1::2]:
        expected += score_links(
            diagonal_links(len(pair.source), len(pair.target)), pair.sure, pair.possible
        )
    assert diagonal.reporting == expected
    del perfect[3]
    with pytest.raises(AnalysisError, match="by hand has no links for line 3"):
        rank_aligners(translator, gold, {"by hand": perfect})


def test_pairs_that_the_model_cuts_into_other_words_are_skipped(
    translator: Translator, gold: tuple[GoldPair, ...]
) -> None:
    odd = GoldPair(9, ("ein mann", "steht"), ("a",), frozenset({(0, 0)}), frozenset({(0, 0)}))
    ranking = rank_aligners(translator, [*gold, odd])
    assert (ranking.num_skipped, ranking.num_choosing, ranking.is_complete) == (1, 3, True)
    with pytest.raises(AnalysisError, match="can read 1 of 2 gold pairs"):
        rank_aligners(translator, [gold[0], odd])


def test_ranking_tells_its_progress_and_can_be_stopped(
    translator: Translator, gold: tuple[GoldPair, ...]
) -> None:
    told: list[tuple[int, int]] = []
    rank_aligners(translator, gold, on_progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 5) for done in range(1, 6)]
    asked = count()
    stopped = rank_aligners(translator, gold, should_stop=lambda: next(asked) == 3)
    assert (stopped.num_choosing, stopped.num_reporting, stopped.is_complete) == (2, 1, False)
    assert stopped.scores
    at_once = rank_aligners(translator, gold, should_stop=lambda: True)
    assert (at_once.scores, at_once.baselines, at_once.best, at_once.is_complete) == (
        (),
        (),
        None,
        False,
    )


def test_an_aligner_that_the_model_lacks_is_refused(translator: Translator) -> None:
    translation = read_given(translator, *TEXTS[0])
    for aligner in (Aligner(2, 0, "read", "weight"), Aligner(0, 2, "read", "norm")):
        with pytest.raises(AnalysisError, match="layers 0 to 1 and heads 0 to 1"):
            align(translator, translation, aligner)


def test_aligners_are_named_for_people() -> None:
    assert str(Aligner(2, 7, "predicted", "weight")) == "layer 2 head 7, weight α, token predicted"
    assert (
        str(Aligner(None, None, "read", "rollout"))
        == "all layers mean of heads, rollout, token read"
    )
    assert "all heads at once" in str(Aligner(0, None, "read", "norm-layer"))
