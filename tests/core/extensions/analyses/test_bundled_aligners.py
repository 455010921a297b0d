"""What the bundled model's cross heads do on the pairs that were aligned by hand."""

import numpy as np
import pytest

from augenmerk.core.extensions.analyses.alignment import IBM_1_NAME, GoldPair, read_gold, read_ibm_1
from augenmerk.core.extensions.analyses.alignment_ranking import AlignerRanking, rank_aligners
from augenmerk.core.extensions.analyses.head_profiles import profile_heads
from augenmerk.core.maps.roles import roles_of
from augenmerk.core.translation.translator import Translator


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(None, "cpu")


@pytest.fixture(scope="module")
def gold() -> tuple[GoldPair, ...]:
    return read_gold()


@pytest.fixture(scope="module")
def ranking(translator: Translator, gold: tuple[GoldPair, ...]) -> AlignerRanking:
    return rank_aligners(translator, gold, {IBM_1_NAME: read_ibm_1()})


@pytest.mark.slow
@pytest.mark.heavy
def test_every_gold_pair_is_read_word_by_word(
    ranking: AlignerRanking, gold: tuple[GoldPair, ...]
) -> None:
    assert (ranking.num_skipped, ranking.num_choosing + ranking.num_reporting) == (0, len(gold))
    assert abs(ranking.num_choosing - ranking.num_reporting) <= 1


@pytest.mark.heavy
def test_the_chosen_aligner_beats_the_diagonal_on_the_other_half(ranking: AlignerRanking) -> None:
    assert ranking.best is not None
    diagonal, ibm_1 = ranking.baselines
    assert ranking.best.reporting.aer < diagonal.reporting.aer - 0.05
    assert ibm_1.reporting.aer < diagonal.reporting.aer - 0.05


@pytest.mark.slow
@pytest.mark.heavy
def test_heads_called_aligners_align_better_than_the_others(
    translator: Translator, gold: tuple[GoldPair, ...], ranking: AlignerRanking
) -> None:
    sample = profile_heads(
        translator, [pair.source_text for pair in gold], [pair.target_text for pair in gold]
    )
    best: dict[tuple[int, int], float] = {}  # of both label modes
    for score in ranking.scores:
        layer, head = score.aligner.layer, score.aligner.head
        if score.aligner.measure == "weight" and layer is not None and head is not None:
            best[layer, head] = min(score.reporting.aer, best.get((layer, head), 1.0))
    rates: dict[bool, list[float]] = {True: [], False: []}
    roles = roles_of(sample.cross)
    for (layer, head), rate in best.items():
        rates[roles[layer][head] == "aligner"].append(rate)
    assert rates[True], "no head is an aligner"
    assert 2 * len(rates[False]) >= len(rates[True]), (
        "nearly every head is an aligner: the badge says little"
    )
    assert np.mean(rates[True]) < np.mean(rates[False]) - 0.05
