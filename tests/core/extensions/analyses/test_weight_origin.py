"""The products of each dimension against the scores that the model's own parameters give."""

import math

import numpy as np
import pytest
import torch

from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.analyses.weight_origin import query_key_detail
from augenmerk.core.maps.capture import trace_pair
from augenmerk.core.maps.trace import Trace
from augenmerk.core.model.heads import Head, SentenceChanges
from augenmerk.core.model.intervention_tensors import compile_interventions
from augenmerk.core.model.sites import PairPass, attentions_of
from augenmerk.core.model.transformer import Transformer
from tests.core.model.small_models import make_model

SOURCE, READ = [2, 5, 9, 4, 3], [2, 7, 6, 11]
HEAD_WIDTH = 8


@pytest.fixture(scope="module")
def model() -> Transformer:
    return make_model()


@pytest.fixture(scope="module")
def trace(model: Transformer) -> Trace:
    return trace_pair(PairPass(model, SOURCE, READ))


def score_by_hand(model: Transformer, head: Head, query: int, key: int) -> float:
    """From the parameters and the layer's inputs, in double precision."""
    module = attentions_of(model)[head.kind][head.layer]
    caught = []
    hook = module.register_forward_pre_hook(lambda _, inputs: caught.append(inputs))
    with torch.no_grad():
        model(torch.tensor([SOURCE]), torch.tensor([READ]))
    hook.remove()
    states = caught[0][0][0].double()
    memory = states if caught[0][1] is None else caught[0][1][0].double()
    weight, bias = module.in_proj_weight.detach().double(), module.in_proj_bias.detach().double()
    rows = slice(head.head * HEAD_WIDTH, (head.head + 1) * HEAD_WIDTH)
    query_weight, key_weight, _ = weight.chunk(3)
    query_bias, key_bias, _ = bias.chunk(3)
    projected = (
        query_weight[rows] @ states[query] + query_bias[rows],
        key_weight[rows] @ memory[key] + key_bias[rows],
    )
    return float(projected[0] @ projected[1]) / math.sqrt(HEAD_WIDTH)


@pytest.mark.parametrize(
    "head", [Head("encoder", 1, 3), Head("decoder", 2, 0), Head("cross", 0, 2)], ids=str
)
@pytest.mark.parametrize(("query", "key"), [(3, 0), (2, 2), (1, 3)])
def test_products_sum_to_the_score(
    model: Transformer, trace: Trace, head: Head, query: int, key: int
) -> None:
    detail = query_key_detail(trace, head, query, key)
    assert detail.products.shape == (HEAD_WIDTH,)
    assert detail.products.sum() == pytest.approx(detail.score, abs=1e-5)
    assert detail.score == pytest.approx(score_by_hand(model, head, query, key), abs=1e-5)


@pytest.mark.parametrize(
    "head", [Head("encoder", 1, 3), Head("decoder", 2, 0), Head("cross", 0, 2)], ids=str
)
def test_the_softmax_of_the_scores_is_the_row_of_the_map(trace: Trace, head: Head) -> None:
    row = [
        query_key_detail(trace, head, 2, key)
        for key in range(trace.of_kind(head.kind).weights.shape[-1])
    ]
    powers = np.array([math.exp(detail.score) if detail.is_visible else 0.0 for detail in row])
    np.testing.assert_allclose([detail.weight for detail in row], powers / powers.sum(), atol=1e-5)


def test_a_key_in_the_future_has_a_score_but_no_weight(trace: Trace) -> None:
    detail = query_key_detail(trace, Head("decoder", 0, 0), 1, 3)
    assert (detail.weight, detail.is_visible) == (0, False)
    assert detail.score != 0


def test_a_temperature_divides_the_scores_before_the_softmax(model: Transformer) -> None:
    head = Head("cross", 1, 2)
    interventions = compile_interventions(model, [SentenceChanges(temperatures={head: 4.0})])
    trace = trace_pair(PairPass(model, SOURCE, READ, interventions))
    row = [query_key_detail(trace, head, 2, key) for key in range(len(SOURCE))]
    powers = np.array([math.exp(detail.score / 4) for detail in row])
    np.testing.assert_allclose([detail.weight for detail in row], powers / powers.sum(), atol=1e-5)
    assert {detail.temperature for detail in row} == {4.0}
    assert query_key_detail(trace, Head("cross", 1, 1), 2, 0).temperature == 1


def test_without_the_causal_mask_the_future_has_weight(model: Transformer) -> None:
    interventions = compile_interventions(model, [SentenceChanges(lifts_mask=True)])
    trace = trace_pair(PairPass(model, SOURCE, READ, interventions))
    row = [query_key_detail(trace, Head("decoder", 0, 0), 1, key) for key in range(len(READ))]
    powers = np.array([math.exp(detail.score) for detail in row])
    np.testing.assert_allclose([detail.weight for detail in row], powers / powers.sum(), atol=1e-5)
    assert all(detail.is_visible and detail.weight > 0 for detail in row)


@pytest.mark.parametrize(
    ("head", "query", "key"),
    [
        (Head("encoder", 2, 0), 0, 0),
        (Head("cross", 0, 4), 0, 0),
        (Head("cross", 0, 0), 4, 0),
        (Head("cross", 0, 0), 0, 5),
        (Head("decoder", 0, 0), 0, -1),
    ],
)
def test_what_is_not_there_is_refused(trace: Trace, head: Head, query: int, key: int) -> None:
    with pytest.raises(AnalysisError, match=r"[Cc]hoose from"):
        query_key_detail(trace, head, query, key)
