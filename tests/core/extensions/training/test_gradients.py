"""Micro-batches: the gradients of the whole batch, and a step that can be left undone between
them."""

import dataclasses
from pathlib import Path
from typing import ClassVar

import pytest
import torch

from augenmerk.core.errors import ConfigError
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.batches import Batch, collate
from augenmerk.core.extensions.training.corpora.prepared import PreparedCorpus
from augenmerk.core.extensions.training.device_choices import max_tokens_at_once
from augenmerk.core.extensions.training.distributed import FAILED, World
from augenmerk.core.extensions.training.events import StepDone
from augenmerk.core.extensions.training.kernels import training_kernels
from augenmerk.core.extensions.training.loop import train
from augenmerk.core.extensions.training.loss import smoothed_distribution
from augenmerk.core.extensions.training.session import TrainingSession
from tests.core.extensions.training.runs import (
    Recorder,
    copy_corpus,
    copy_run,
    text_corpus,
    text_run,
)

pytestmark = pytest.mark.training

WITHOUT_DROPOUT = {"dropout": 0.0}
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def corpus() -> PreparedCorpus:
    return text_corpus(text_run(), number=40)


def whole_batch(corpus: PreparedCorpus) -> Batch:
    return collate(corpus.train, range(40), 1)


def gradients_of(session: TrainingSession) -> dict[str, torch.Tensor]:
    return {
        name: p.grad.clone() for name, p in session.model.named_parameters() if p.grad is not None
    }


class TestMicroBatches:
    @pytest.mark.parametrize("max_tokens", [1, 30, 100])
    def test_they_give_the_loss_and_gradients_of_the_whole_batch(
        self, corpus: PreparedCorpus, max_tokens: int
    ) -> None:
        run = text_run(WITHOUT_DROPOUT, label_smoothing=0.1)
        whole, cut = TrainingSession(run, corpus, "cpu"), TrainingSession(run, corpus, "cpu")
        cut.gradients.max_tokens = max_tokens
        assert len(cut.gradients._parts([whole_batch(corpus)])) > 3
        one, other = whole.step([whole_batch(corpus)]), cut.step([whole_batch(corpus)])
        assert one is not None
        assert other is not None
        assert other.loss == pytest.approx(one.loss, abs=1e-6)
        assert other.num_tokens == one.num_tokens
        expected = gradients_of(whole)
        for name, gradient in gradients_of(cut).items():
            assert float((gradient - expected[name]).abs().max()) < 1e-6, name

    def test_their_size_depends_on_that_of_the_model_alone(self) -> None:
        assert max_tokens_at_once(55_000_000, CPU) == 1212
        assert max_tokens_at_once(9_000_000, CPU) == 7407
        assert max_tokens_at_once(10**12, CPU) == 256
        assert max_tokens_at_once(55_000_000, torch.device("cuda")) is None

    def test_a_batch_of_12000_tokens_is_cut_and_one_of_the_notebook_is_not(self) -> None:
        limits = {"annotated-2018": 55_000_000, "notebook": 9_038_341}
        assert preset("annotated-2018").training.batch_size == 12000
        assert 12000 / (max_tokens_at_once(limits["annotated-2018"], CPU) or 0) > 9
        assert (max_tokens_at_once(limits["notebook"], CPU) or 0) > 128 * 50


def equation_of_r_drop(
    session: TrainingSession, batch: Batch, smoothing: float, alpha: float
) -> torch.Tensor:
    """Liang et al. 2021, halved, from whole logits with padding masked out: the mean over the
    batch's target tokens.
    """
    read_ids, expected = batch.target[:, :-1], batch.target[:, 1:]
    with training_kernels(CPU):  # which draw the same random numbers
        logits = session.model(batch.source.repeat(2, 1), read_ids.repeat(2, 1)).logits
    first, second = (part.log_softmax(-1) for part in logits.chunk(2))
    real = expected != session.padding_id
    both_ways = (first.exp() - second.exp()) * (first - second)
    smoothed = torch.stack(
        [
            smoothed_distribution(int(word), first.size(-1), smoothing, session.padding_id)
            for word in expected.flatten()
        ]
    ).view_as(first)
    cross_entropy = sum(
        (torch.xlogy(smoothed, smoothed) - smoothed * one).sum(-1) for one in (first, second)
    )
    total = (cross_entropy / 2 + alpha / 4 * both_ways.sum(-1))[real].sum()
    return total / batch.num_target_tokens


class TestRDrop:
    SETTINGS: ClassVar = {"label_smoothing": 0.1, "r_drop": 5.0}

    def test_a_step_minimises_the_equation_on_two_passes_with_the_same_dropout(
        self, corpus: PreparedCorpus
    ) -> None:
        """Sentences of different lengths: what is padded on either side counts for nothing."""
        session, naive = (
            TrainingSession(text_run(**self.SETTINGS), corpus, "cpu") for _ in range(2)
        )
        batch = whole_batch(corpus)
        assert bool((batch.target == 1).any())
        assert bool((batch.source == 1).any())
        torch.manual_seed(7)
        result = session.step([batch])
        torch.manual_seed(7)
        expected = equation_of_r_drop(naive, batch, 0.1, 5.0)
        expected.backward()
        assert result is not None
        assert result.loss == pytest.approx(expected.item(), rel=1e-5)
        assert result.num_tokens == batch.num_target_tokens, (
            "each token counts once, though it was read twice"
        )
        torch.nn.utils.clip_grad_norm_(naive.model.parameters(), 1.0)
        naive_gradients = gradients_of(naive)
        for name, gradient in gradients_of(session).items():
            assert float((gradient - naive_gradients[name]).abs().max()) < 1e-5, name

    def test_two_passes_differ_by_their_dropout(self, corpus: PreparedCorpus) -> None:
        weak, strong = (
            TrainingSession(text_run(label_smoothing=0.1, r_drop=a), corpus, "cpu")
            for a in (1e-9, 5.0)
        )
        losses = []
        for session in (weak, strong):
            torch.manual_seed(7)
            result = session.step([whole_batch(corpus)])
            assert result is not None
            losses.append(result.loss)
        assert losses[1] > losses[0] + 1e-4

    @pytest.mark.parametrize("max_tokens", [2, 60, 200])
    def test_micro_batches_keep_both_passes_of_a_pair_together(
        self, corpus: PreparedCorpus, max_tokens: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Gradients of the parts add up to those of the whole; both passes together are as large as
        one pass may be.
        """
        sizes: list[int] = []
        run = text_run(**self.SETTINGS)
        whole, cut = TrainingSession(run, corpus, "cpu"), TrainingSession(run, corpus, "cpu")
        hidden_states = cut.model.hidden_states

        def watch(source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
            sizes.append(max(source.numel(), source.size(0) * (target.size(1) + 1)))
            return hidden_states(source, target)

        cut.gradients._loss_sum.hidden_states = cut.model.hidden_states = watch  # type: ignore[assignment]
        cut.gradients.max_tokens = max_tokens
        monkeypatch.setattr(
            "augenmerk.core.extensions.training.kernels._CpuDropout.apply", half_of_the_rows_scaled
        )
        one, other = whole.step([whole_batch(corpus)]), cut.step([whole_batch(corpus)])
        assert one is not None
        assert other is not None
        assert len(sizes) > 3
        assert all(size <= max_tokens for size in sizes) or max_tokens == 2
        assert other.loss == pytest.approx(one.loss, rel=1e-5)
        expected = gradients_of(whole)
        for name, gradient in gradients_of(cut).items():
            assert float((gradient - expected[name]).abs().max()) < 1e-5, name

    def test_the_second_pass_reads_a_share_of_the_tokens_as_unknown(
        self, corpus: PreparedCorpus, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """On both sides, other ones in each step; the words to predict are unchanged, padding is
        not read.
        """
        session = TrainingSession(text_run(**self.SETTINGS, token_cutoff=0.3), corpus, "cpu")
        batch = whole_batch(corpus)
        seen: list[tuple[torch.Tensor, torch.Tensor]] = []
        hidden_states = session.model.hidden_states

        def watch(source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
            seen.append((source, target))
            return hidden_states(source, target)

        session.gradients._loss_sum.hidden_states = session.model.hidden_states = watch  # type: ignore[assignment]
        num_tokens = [
            result.num_tokens for _ in range(2) if (result := session.step([batch])) is not None
        ]
        assert num_tokens == [batch.num_target_tokens] * 2
        assert not torch.equal(seen[0][0], seen[1][0])
        for source, target in seen:
            for ids, original in ((source, batch.source), (target, batch.target[:, :-1])):
                first, second = ids.chunk(2)
                assert torch.equal(first, original)
                is_real, is_changed = original != session.padding_id, second != original
                assert bool((second[is_changed] == 0).all()), "the unknown token"
                assert not bool((is_changed & ~is_real).any())
                assert 0.15 < float(is_changed[is_real].float().mean()) < 0.45

    def test_without_a_second_pass_a_cutoff_is_refused(self) -> None:
        with pytest.raises(
            ConfigError, match=r"token_cutoff is 0\.05, but r_drop is 0: there is no second pass"
        ):
            text_run(token_cutoff=0.05)

    @pytest.mark.slow
    def test_a_run_with_it_resumes_to_the_last_bit(self, tmp_path: Path) -> None:
        run = text_run(num_epochs=2, r_drop=2.0, token_cutoff=0.2)
        whole, first, second = Recorder(), Recorder(stop_after=5), Recorder()
        train(run, text_corpus(run), tmp_path / "whole", device="cpu", on_event=whole)
        train(
            run,
            text_corpus(run),
            tmp_path / "run",
            device="cpu",
            on_event=first,
            should_stop=first.should_stop,
        )
        torch.manual_seed(99)
        train(run, text_corpus(run), tmp_path / "run", device="cpu", resume=True, on_event=second)
        assert [*first.losses, *second.losses] == whole.losses

    def test_without_dropout_it_is_refused(self) -> None:
        with pytest.raises(ConfigError, match=r"r_drop is 5\.0, but model: dropout is 0\.0"):
            text_run(WITHOUT_DROPOUT, **self.SETTINGS)


def half_of_the_rows_scaled(states: torch.Tensor, probability: float) -> torch.Tensor:
    """Stands for dropout: the second pass is scaled, the first is not, wherever the batch was
    cut."""
    factor = torch.ones(len(states), *[1] * (states.dim() - 1))
    factor[len(states) // 2 :] = 1 - probability
    return states * factor


class TestLeftUndone:
    """Stop in the middle of a step: as if the step had never begun, so that the run resumes to the
    last bit."""

    def test_weights_random_numbers_and_position_are_as_before(
        self, corpus: PreparedCorpus
    ) -> None:
        session, other = (TrainingSession(text_run(), corpus, "cpu") for _ in range(2))
        for current in (session, other):
            current.gradients.max_tokens = 30
            torch.manual_seed(7)
            current.step([whole_batch(corpus)])
            asked: list[int] = []

            def should_stop(asked: list[int] = asked) -> bool:
                asked.append(1)
                return len(asked) == 3

            if current is session:
                assert current.step([whole_batch(corpus)], 1.0, should_stop) is None
                assert len(asked) == 3
                assert current.progress.step == current.progress.group == 1
            last = current.step([whole_batch(corpus)])
            if current is session:
                expected = last
        assert last == expected
        for one, two in zip(session.model.parameters(), other.model.parameters(), strict=True):
            assert torch.equal(one, two)

    def test_a_batch_that_is_not_cut_is_finished(self, corpus: PreparedCorpus) -> None:
        session = TrainingSession(text_run(), corpus, "cpu")
        assert session.step([whole_batch(corpus)], 1.0, lambda: True) is not None

    @pytest.mark.slow
    def test_a_run_stopped_within_a_step_resumes_to_the_last_bit(
        self, tmp_path: Path, monkeypatch
    ) -> None:
        monkeypatch.setattr(
            "augenmerk.core.extensions.training.loss.max_tokens_at_once", lambda size, device: 20
        )
        run = copy_run(num_epochs=1)
        whole = Recorder()
        train(run, copy_corpus(run), tmp_path / "whole", device="cpu", on_event=whole)

        for calls_before_stop in (3, 4, 5):
            parts, calls = Recorder(), 0

            def should_stop(limit: int = calls_before_stop, parts: Recorder = parts) -> bool:
                nonlocal calls
                calls += bool(parts.losses)  # before the first step, the recording asks, too
                return calls > limit

            folder = tmp_path / str(calls_before_stop)
            train(
                run, copy_corpus(run), folder, device="cpu", on_event=parts, should_stop=should_stop
            )
            num_done = len(parts.of(StepDone))
            assert 0 < num_done < len(whole.losses)
            torch.manual_seed(99)
            train(run, copy_corpus(run), folder, device="cpu", resume=True, on_event=parts)
            assert parts.losses == whole.losses


class _Others(World):
    """A world in which another process, which does not exist, reports a failure."""

    def all_reduce_max(self, value: int) -> int:
        return max(value, FAILED)


def test_the_failure_of_another_process_ends_the_step(corpus: PreparedCorpus) -> None:
    session = TrainingSession(text_run(), corpus, "cpu")
    session.gradients._world = _Others()
    with pytest.raises(Exception, match="Another process of this run failed"):
        session.step([whole_batch(corpus)])


def test_each_choice_is_said_with_its_reason(corpus: PreparedCorpus, tmp_path: Path) -> None:
    run = dataclasses.replace(text_run(max_steps=1, sample_size=1))
    said = Recorder()
    train(run, corpus, tmp_path / "run", device="cpu", on_event=said)
    texts = [event.text for event in said.events if hasattr(event, "text")]
    assert "Computing in float32: the settings ask for it" in texts
    assert "Fused Adam, in one pass over all parameters: available for cpu" in texts
    assert any(text.startswith("Computing on ") for text in texts)
    assert any(
        text.endswith("tokens: little padding, and a stop acts within seconds") for text in texts
    )
