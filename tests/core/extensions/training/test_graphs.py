"""Batches in the few shapes of CUDA graphs: the same loss and gradients.

`test_on_a_gpu.py` records graphs.
"""

import pytest
import torch

from augenmerk.core.extensions.training.corpora.batches import Batch, collate
from augenmerk.core.extensions.training.corpora.prepared import PreparedCorpus
from augenmerk.core.extensions.training.device_choices import choose_launches
from augenmerk.core.extensions.training.graphs import to_common_shape
from augenmerk.core.extensions.training.loss import LossSum
from augenmerk.core.extensions.training.session import TrainingSession
from tests.core.extensions.training.runs import text_corpus, text_run

pytestmark = pytest.mark.training

PADDING = 1


@pytest.fixture(scope="module")
def corpus() -> PreparedCorpus:
    return text_corpus(text_run(), number=40)


@pytest.fixture
def session(corpus: PreparedCorpus) -> TrainingSession:
    return TrainingSession(text_run({"dropout": 0.0}, label_smoothing=0.1), corpus, "cpu")


def gradients(
    loss_sum: LossSum, source: torch.Tensor, target: torch.Tensor
) -> tuple[float, dict[str, torch.Tensor]]:
    loss_sum.model.zero_grad()
    loss = loss_sum(source, target)
    loss.backward()
    return float(loss.detach()), {
        name: p.grad.clone() for name, p in loss_sum.model.named_parameters() if p.grad is not None
    }


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize(
    "change", [{}, {"distillation": 0.7}, {"r_drop": 3.0, "token_cutoff": 0.9999999}]
)
def test_padding_that_is_kept_changes_neither_loss_nor_gradients(
    session: TrainingSession, corpus: PreparedCorpus, smoothing: float, change: dict[str, float]
) -> None:
    settings = session.run.training.replace(label_smoothing=smoothing, **change)
    has_teacher = "distillation" in change
    teachers = (
        [TrainingSession(text_run({"dropout": 0.0}, seed=2), corpus, "cpu").model]
        if has_teacher
        else []
    )
    batch = collate(corpus.train, range(21), PADDING)
    cut, padded = (
        LossSum(
            session.model,
            session.model.hidden_states,
            settings,
            teachers,
            keeps_padding=keeps,
            unknown_ids=(0, 0),
        )
        for keeps in (False, True)
    )
    expected_loss, expected = gradients(cut, batch.source, batch.target)
    loss, padded_gradients = gradients(padded, *to_common_shape(batch, PADDING, 100))
    assert loss == pytest.approx(expected_loss, rel=1e-5)
    for name, gradient in expected.items():
        torch.testing.assert_close(
            padded_gradients[name], gradient, rtol=1e-4, atol=1e-5 * expected_loss
        )


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((21, 9, 12), (32, 16, 17)), ((32, 72, 73), (32, 72, 73)), ((16, 99, 100), (16, 100, 101))],
)
def test_shapes_are_rounded_up(shape: tuple[int, int, int], expected: tuple[int, int, int]) -> None:
    rows, source_length, target_length = shape
    batch = Batch(
        torch.full((rows, source_length), 5),
        torch.full((rows, target_length), 6),
        rows * target_length,
    )
    source, target = to_common_shape(batch, PADDING, 100)
    assert (len(source), source.size(1), target.size(1)) == expected
    assert bool((source[:rows, :source_length] == 5).all())
    assert bool((source[rows:, 0] == 5).all()), "a source of padding alone has no weights"
    assert int((target != PADDING).sum()) == rows * target_length


def test_graphs_need_a_cuda_device_and_settings_that_they_support() -> None:
    training = text_run().training
    assert not choose_launches(training, torch.device("cpu")).is_graph
    assert choose_launches(training, torch.device("cuda:0")).is_graph
    for change in ({"compile": True}, {"deterministic": True}):
        (setting,) = change
        choice = choose_launches(training.replace(**change), torch.device("cuda:0"))
        assert not choice.is_graph
        assert setting in choice.reason
