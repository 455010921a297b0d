"""The worth of each head against a loss computed pair by pair on a model whose columns were deleted."""

import copy
from pathlib import Path

import numpy as np
import pytest
import torch

from augenmerk.core.analysis import importance
from augenmerk.core.analysis.importance import head_importance
from augenmerk.core.errors import AnalysisError
from augenmerk.core.model.heads import Head
from augenmerk.core.model.interventions import all_heads, attentions_of
from augenmerk.core.translation.experiment import HeadScaled
from augenmerk.core.translation.result import MAP_KINDS
from augenmerk.core.translation.translator import Translator
from tests.core.translators import read_given

SOURCES = ["Ein Mann steht.", "Ein Mann steht auf einer Leiter.", "", "Leiter auf Mann"]
TARGETS = ["A man stands.", "A man stands on a ladder.", "Nothing.", "Ladder on man"]


@pytest.fixture(scope="module")
def translator(untrained_checkpoint: Path) -> Translator:
    """Small weights were drawn: made larger, so that each head matters."""
    translator = Translator.load(untrained_checkpoint, "cpu")
    torch.manual_seed(0)
    for parameter in translator.model.parameters():
        parameter.data += 0.2 * torch.randn_like(parameter)
    return translator


def loss_pair_by_pair(translator: Translator, *scalings: HeadScaled) -> float:
    """Nats per token, from the probabilities of one pair after the other."""
    values: list[float] = []
    for source, target in zip(SOURCES, TARGETS, strict=True):
        if source:
            values += read_given(translator, source, target, *scalings).log_probabilities
    return -sum(values) / len(values)


@pytest.mark.heavy
def test_the_worth_of_a_head_is_the_loss_without_its_columns(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importance, "BATCH_SIZE", 2)  # several batches, padded ones among them
    found = head_importance(translator, SOURCES, TARGETS)
    assert found.loss == pytest.approx(loss_pair_by_pair(translator), abs=1e-5)
    assert (found.num_sentences, found.num_skipped, found.is_complete) == (3, 1, True)
    for head in all_heads(translator.model):
        without = copy.copy(translator)
        without.model = copy.deepcopy(translator.model)
        module = attentions_of(without.model)[head.kind][head.layer]
        module.out_proj.weight.data[:, head.head * module.head_width : (head.head + 1) * module.head_width] = 0
        expected = loss_pair_by_pair(without) - found.loss
        assert found.of_kind(head.kind)[head.layer, head.head] == pytest.approx(expected, abs=1e-5), head
        assert abs(expected) > 1e-4


@pytest.mark.heavy
def test_worth_is_measured_under_the_scalings_that_are_given(translator: Translator) -> None:
    scalings = (
        HeadScaled(Head("encoder", 1, 0), 0.0),
        HeadScaled(Head("decoder", 0, 1), 2.0),
        HeadScaled(Head("cross", 1, 0), -0.5),
    )
    found = head_importance(translator, SOURCES, TARGETS, scalings=scalings)
    assert found.loss == pytest.approx(loss_pair_by_pair(translator, *scalings), abs=1e-5)
    assert found.loss != pytest.approx(loss_pair_by_pair(translator), abs=1e-3)
    for head in all_heads(translator.model):
        others = (each for each in scalings if each.head != head)
        expected = loss_pair_by_pair(translator, *others, HeadScaled(head)) - found.loss
        assert found.of_kind(head.kind)[head.layer, head.head] == pytest.approx(expected, abs=1e-5), head
    assert found.encoder[1, 0] == pytest.approx(0, abs=1e-6), "it is off already"
    assert found.of_kind("decoder")[0, 1] != pytest.approx(0, abs=1e-4)


def test_heads_are_ranked_by_their_worth(translator: Translator) -> None:
    found = head_importance(translator, SOURCES, TARGETS)
    ranked = found.ranked()
    assert len(ranked) == len(all_heads(translator.model))
    assert [worth for _, worth in ranked] == sorted((worth for _, worth in ranked), reverse=True)
    best, worth = ranked[0]
    assert found.of_kind(best.kind)[best.layer, best.head] == pytest.approx(worth)


def test_progress_is_told_and_the_work_can_be_stopped(translator: Translator) -> None:
    told: list[tuple[int, int]] = []
    found = head_importance(
        translator, SOURCES, TARGETS, on_progress=lambda *now: told.append(now), should_stop=lambda: len(told) > 3
    )
    assert told == [(0, 12), (1, 12), (2, 12), (3, 12)]
    assert not found.is_complete
    assert np.isfinite(found.encoder).sum() == 3
    assert np.isnan(found.cross).all()
    assert {head for head, _ in found.ranked()} == {Head("encoder", 0, 0), Head("encoder", 0, 1), Head("encoder", 1, 0)}


def test_what_was_found_before_a_stop_is_not_read_again(translator: Translator) -> None:
    whole = head_importance(translator, SOURCES, TARGETS)
    told: list[tuple[int, int]] = []
    begun = head_importance(
        translator, SOURCES, TARGETS, on_progress=lambda *now: told.append(now), should_stop=lambda: len(told) > 3
    )
    assert not begun.is_complete
    again: list[tuple[int, int]] = []
    found = head_importance(translator, SOURCES, TARGETS, begun=begun, on_progress=lambda *now: again.append(now))
    assert again[0] == told[-1]
    assert len(again) == again[-1][1] - again[0][0] + 1, "only the heads that were left"
    assert found.is_complete
    assert found.loss == begun.loss
    for kind in MAP_KINDS:
        np.testing.assert_allclose(found.of_kind(kind), whole.of_kind(kind), atol=1e-6)


def test_stopping_at_once_leaves_everything_open(translator: Translator) -> None:
    found = head_importance(translator, SOURCES, TARGETS, should_stop=lambda: True)
    assert np.isnan(found.loss)
    assert found.ranked() == []


def test_a_sample_that_cannot_be_read_is_refused(translator: Translator) -> None:
    with pytest.raises(AnalysisError, match="Not one of 1"):
        head_importance(translator, [""], ["A man."])
    with pytest.raises(AnalysisError, match="1 sentences and 2 translations"):
        head_importance(translator, ["Ein Mann."], ["A man.", "A man."])


def test_two_samples_joined_are_as_one(translator: Translator) -> None:
    scalings = (HeadScaled(Head("cross", 1, 0)),)
    whole = head_importance(translator, SOURCES, TARGETS, scalings=scalings)
    parts = [
        head_importance(translator, SOURCES[part], TARGETS[part], scalings=scalings)
        for part in (slice(0, 1), slice(1, None))
    ]
    for joined in (parts[0].joined(parts[1]), parts[1].joined(parts[0])):
        assert joined.loss == pytest.approx(whole.loss, abs=1e-5)
        for kind in MAP_KINDS:
            np.testing.assert_allclose(joined.of_kind(kind), whole.of_kind(kind), atol=1e-5)
        counts = (joined.num_sentences, joined.num_tokens, joined.num_skipped)
        assert counts == (whole.num_sentences, whole.num_tokens, whole.num_skipped)
        assert joined.is_complete
        assert joined.scalings == whole.scalings == scalings
        assert joined.largest == pytest.approx(max(np.abs(whole.of_kind(kind)).max() for kind in MAP_KINDS), abs=1e-5)
