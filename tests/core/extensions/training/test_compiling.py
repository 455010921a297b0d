"""`torch.compile` of the model: the same step, or a reason why not; random numbers never notice."""

import functools
from typing import Any

import pytest
import torch

from augenmerk.core.extensions.training.corpora.batches import collate
from augenmerk.core.extensions.training.corpora.prepared import PreparedCorpus
from augenmerk.core.extensions.training.device_choices import choose_compiled
from augenmerk.core.extensions.training.session import TrainingSession
from tests.core.extensions.training.runs import text_corpus, text_run

pytestmark = pytest.mark.training


@pytest.fixture(scope="module")
def corpus() -> PreparedCorpus:
    return text_corpus(text_run(), number=40)


@pytest.fixture
def tracing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Compiling up to the traced graph, which needs no C++ compiler and takes a second."""
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="eager"))
    yield
    torch._dynamo.reset()


@pytest.mark.usefixtures("tracing")
@pytest.mark.slow
def test_a_compiled_model_takes_the_same_steps(corpus: PreparedCorpus) -> None:
    plain = TrainingSession(text_run({"dropout": 0.0}), corpus, "cpu")
    compiled = TrainingSession(text_run({"dropout": 0.0}, compile=True), corpus, "cpu")
    assert "Model compiled, as requested in the settings" in compiled.describe_device_choices()
    assert compiled.compiled.hidden_states != compiled.model.hidden_states
    for first in (0, 10):
        batch = collate(corpus.train, range(first, first + 10), plain.padding_id)
        one, other = plain.step([batch]), compiled.step([batch])
        assert one is not None
        assert other is not None
        assert other.loss == pytest.approx(one.loss, abs=1e-6)
        assert other.gradient_norm == pytest.approx(one.gradient_norm, abs=1e-5)


@pytest.mark.usefixtures("tracing")
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.slow
def test_what_was_compiled_before_the_first_step_serves_batches_of_any_length(
    corpus: PreparedCorpus, precision: str
) -> None:
    # takes seconds to import: not for those who run other tests
    from torch._dynamo.utils import counters

    before = counters["stats"]["unique_graphs"]
    session = TrainingSession(text_run(compile=True, precision=precision), corpus, "cpu")
    assert counters["stats"]["unique_graphs"] == before + 1
    for indices in (range(10), range(10, 25), range(25, 28)):
        session.step([collate(corpus.train, indices, session.padding_id)])
    assert counters["stats"]["unique_graphs"] == before + 1


@pytest.mark.usefixtures("tracing")
@pytest.mark.slow
def test_trying_the_compiler_draws_no_random_number_of_the_run(corpus: PreparedCorpus) -> None:
    session = TrainingSession(text_run(), corpus, "cpu")
    before = torch.get_rng_state()
    choose_compiled(True, session.model, session.device, session.precision)
    assert torch.equal(torch.get_rng_state(), before)
    assert all(parameter.grad is None for parameter in session.model.parameters())


def test_without_the_tools_it_trains_as_it_is_and_says_why(
    corpus: PreparedCorpus, monkeypatch
) -> None:
    def failing(*args: Any, **options: Any) -> Any:
        def call(*ids: Any) -> Any:
            raise RuntimeError("No working C++ compiler found\nand a long story")

        return call

    monkeypatch.setattr(torch, "compile", failing)
    session = TrainingSession(text_run(compile=True), corpus, "cpu")
    assert session.compiled.hidden_states == session.model.hidden_states
    assert (
        "Model not compiled: the compiler failed (No working C++ compiler found)"
        in session.describe_device_choices()
    )


def test_nobody_asked_nothing_is_said(corpus: PreparedCorpus) -> None:
    session = TrainingSession(text_run(), corpus, "cpu")
    assert session.compiled.reason == ""
    assert not any("compiled" in line for line in session.describe_device_choices())
