"""The worth of heads and networks against a loss computed pair by pair on a model whose weights
were deleted."""

import copy
from pathlib import Path

import numpy as np
import pytest
import torch

from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.analyses import importance
from augenmerk.core.extensions.analyses.importance import head_importance
from augenmerk.core.model.heads import ATTENTION_KINDS, Head, heads_of, networks_of
from augenmerk.core.model.sites import attentions_of
from augenmerk.core.translation.experiment import General, HeadScaled, SoftmaxTemperature
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


def loss_pair_by_pair(translator: Translator, *changes: General) -> float:
    """Nats per token, from the probabilities of one pair after the other."""
    values: list[float] = []
    for source, target in zip(SOURCES, TARGETS, strict=True):
        if source:
            values += read_given(translator, source, target, *changes).log_probabilities
    return -sum(values) / len(values)


@pytest.mark.heavy
def test_the_worth_of_a_head_is_the_loss_without_its_columns(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importance, "BATCH_SIZE", 2)  # several batches, padded ones among them
    measured = head_importance(translator, SOURCES, TARGETS)
    assert measured.before == pytest.approx(loss_pair_by_pair(translator), abs=1e-5)
    assert (measured.num_sentences, measured.num_skipped) == (3, 1)
    for head in heads_of(translator.model.config):
        without = copy.copy(translator)
        without.model = copy.deepcopy(translator.model)
        module = attentions_of(without.model)[head.kind][head.layer]
        module.out_proj.weight.data[
            :, head.head * module.head_width : (head.head + 1) * module.head_width
        ] = 0
        expected = loss_pair_by_pair(without) - measured.before
        assert measured.of_kind(head.kind)[head.layer, head.head] == pytest.approx(
            expected, abs=1e-5
        ), head
        assert measured.effects[head] == measured.of_kind(head.kind)[head.layer, head.head]
        assert abs(expected) > 1e-4
    for network in networks_of(translator.model.config):
        without = copy.copy(translator)
        without.model = copy.deepcopy(translator.model)
        layers = {"encoder": without.model.encoder_layers, "decoder": without.model.decoder_layers}[
            network.side
        ]
        for parameter in layers[network.layer].feed_forward.contract.parameters():
            parameter.data[:] = 0
        expected = loss_pair_by_pair(without) - measured.before
        assert measured.effects[network] == pytest.approx(expected, abs=1e-5), network
        assert abs(expected) > 1e-4


@pytest.mark.heavy
def test_worth_is_measured_under_the_scalings_that_are_given(translator: Translator) -> None:
    changes = (
        HeadScaled(Head("encoder", 1, 0), 0.0),
        HeadScaled(Head("decoder", 0, 1), 2.0),
        HeadScaled(Head("cross", 1, 0), -0.5),
        SoftmaxTemperature(Head("cross", 0, 1), 3.0),
    )
    measured = head_importance(translator, SOURCES, TARGETS, changes=changes)
    assert measured.before == pytest.approx(loss_pair_by_pair(translator, *changes), abs=1e-5)
    assert measured.before != pytest.approx(loss_pair_by_pair(translator), abs=1e-3)
    for head in heads_of(translator.model.config):
        others = (
            change
            for change in changes
            if change.head != head or isinstance(change, SoftmaxTemperature)
        )
        expected = loss_pair_by_pair(translator, *others, HeadScaled(head)) - measured.before
        assert measured.of_kind(head.kind)[head.layer, head.head] == pytest.approx(
            expected, abs=1e-5
        ), head
    assert measured.of_kind("encoder")[1, 0] == pytest.approx(0, abs=1e-6), "it is off already"
    assert measured.of_kind("decoder")[0, 1] != pytest.approx(0, abs=1e-4)


def test_a_sample_that_cannot_be_read_is_refused(translator: Translator) -> None:
    with pytest.raises(AnalysisError, match="Not one of 1"):
        head_importance(translator, [""], ["A man."])
    with pytest.raises(AnalysisError, match="1 sentence and 2 translations"):
        head_importance(translator, ["Ein Mann."], ["A man.", "A man."])


def test_it_can_pause_before_every_pass(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importance, "BATCH_SIZE", 2)
    reported: list[tuple[int, int]] = []
    whole = head_importance(
        translator, SOURCES, TARGETS, on_progress=lambda *now: reported.append(now)
    )
    assert reported == [(done, 34) for done in range(35)], "2 batches, 12 heads, 4 networks"
    steps = list(importance.importance_by_pass(translator, SOURCES, TARGETS))
    assert [result is None for _, _, result in steps] == [done < 17 for done in range(35)]
    part, last = steps[17][2], steps[-1][2]
    assert part is not None
    assert last is not None
    assert (part.num_sentences, part.num_skipped) == (2, 1)
    longest_first = sorted(
        zip(SOURCES, TARGETS, strict=True), key=lambda pair: -len(pair[1].split())
    )
    longest = [pair for pair in longest_first if pair[0]][:2]
    expected = head_importance(translator, *(list(side) for side in zip(*longest, strict=True)))
    np.testing.assert_allclose(
        part.of_networks("decoder"), expected.of_networks("decoder"), atol=1e-6
    )
    for kind in ATTENTION_KINDS:
        np.testing.assert_allclose(part.of_kind(kind), expected.of_kind(kind), atol=1e-6)
        np.testing.assert_array_equal(last.of_kind(kind), whole.of_kind(kind))


def test_the_largest_importance_is_the_end_of_the_scale(translator: Translator) -> None:
    importance = head_importance(translator, SOURCES, TARGETS)
    assert importance.largest == pytest.approx(
        max(np.abs(importance.of_kind(kind)).max() for kind in ATTENTION_KINDS)
    )
