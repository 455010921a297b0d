"""One optimizer step: gradients of all micro-batches, one rate, one clipping; and the whole of a
run to and fro.
"""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import torch

from augenmerk.core.checkpoint.file import Checkpoint, load_checkpoint, save_checkpoint
from augenmerk.core.config import RunConfig
from augenmerk.core.errors import CheckpointError, TrainingError
from augenmerk.core.extensions.training.corpora.batches import Batch, collate
from augenmerk.core.extensions.training.corpora.prepared import PreparedCorpus
from augenmerk.core.extensions.training.schedules import learning_rate, noam_rate
from augenmerk.core.extensions.training.session import TrainingSession
from augenmerk.core.text.word_counts import WordCounts
from tests.core.extensions.training.runs import copy_corpus, copy_run, text_corpus, text_run

pytestmark = pytest.mark.training

PARTS = [[0, 1, 2], [3], [4, 5, 6, 7]]
JOINED = list(range(8))
WITHOUT_DROPOUT = {"dropout": 0.0}


@pytest.fixture(scope="module")
def corpus() -> PreparedCorpus:
    return text_corpus(text_run(), number=40)


def batches(
    corpus: PreparedCorpus, parts: list[list[int]], pad_to: int | None = None
) -> list[Batch]:
    return [collate(corpus.train, part, 1, pad_to) for part in parts]


def session_of(corpus: PreparedCorpus, run: RunConfig) -> TrainingSession:
    return TrainingSession(run, corpus, "cpu")


def weights_of(session: TrainingSession) -> dict[str, torch.Tensor]:
    return {
        name: parameter.detach().clone() for name, parameter in session.model.named_parameters()
    }


def difference(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> float:
    return max(float((one[name] - other[name]).abs().max()) for name in one)


class TestAccumulation:
    """The text of 2022 does not divide, steps after the first micro-batch, and moves the schedule
    on each."""

    RUN = text_run(
        WITHOUT_DROPOUT, num_accumulated=3, schedule="noam", warmup_steps=10, label_smoothing=0.1
    )

    def test_micro_batches_are_one_joined_batch(self, corpus: PreparedCorpus) -> None:
        """A large ε keeps Adam from making whole steps of gradients that are nothing but
        rounding."""
        run = dataclasses.replace(self.RUN, training=self.RUN.training.replace(adam_epsilon=1e-3))
        apart, joined = session_of(corpus, run), session_of(corpus, run)
        for _ in range(3):
            one = apart.step(batches(corpus, PARTS))
            other = joined.step(batches(corpus, [JOINED]))
            assert one.loss == pytest.approx(other.loss, rel=1e-6)
            assert one.gradient_norm == pytest.approx(other.gradient_norm, rel=1e-5)
            assert one.num_tokens == other.num_tokens
        assert difference(weights_of(apart), weights_of(joined)) < 1e-6

    def test_tokens_weigh_the_same_whatever_batch_they_are_in(self, corpus: PreparedCorpus) -> None:
        """A mean of the micro-batches' means would give the single pair of the second one a third
        of the weight."""
        orders = [PARTS, [[0, 1, 2, 3], [4], [5, 6, 7]]]
        gradients = []
        for parts in orders:
            session = session_of(corpus, self.RUN)
            session.step(batches(corpus, parts))
            gradients.append(
                {
                    name: p.grad.clone()
                    for name, p in session.model.named_parameters()
                    if p.grad is not None
                }
            )
        assert difference(*gradients) < 1e-6

    def test_weights_move_only_after_the_last_micro_batch(
        self, corpus: PreparedCorpus, monkeypatch
    ) -> None:
        session = session_of(corpus, self.RUN)
        session.gradients.max_tokens = 1  # a micro-batch for each pair
        before = weights_of(session)
        moved: list[float] = []
        original = session.gradients._backward

        def watching(batch: Batch, weight: float) -> torch.Tensor:
            moved.append(difference(before, weights_of(session)))
            return original(batch, weight)

        monkeypatch.setattr(session.gradients, "_backward", watching)
        session.step(batches(corpus, PARTS))
        assert moved == [0.0] * len(JOINED)
        assert difference(before, weights_of(session)) > 0

    def test_the_schedule_counts_optimizer_steps(self, corpus: PreparedCorpus) -> None:
        session = session_of(corpus, self.RUN)
        rates = [session.step(batches(corpus, PARTS)).learning_rate for _ in range(3)]
        assert rates == [noam_rate(step, 32, 1.0, 10) for step in (1, 2, 3)]
        assert session.progress.step == session.progress.group == 3

    def test_nothing_of_a_step_is_left_for_the_next(self, corpus: PreparedCorpus) -> None:
        session = session_of(corpus, text_run(WITHOUT_DROPOUT, learning_rate=1e-12))
        norms = [session.step(batches(corpus, PARTS)).gradient_norm for _ in range(2)]
        assert norms[0] == pytest.approx(norms[1], rel=1e-4)


class TestOptimizer:
    def test_the_first_step_is_that_of_adam_by_hand(self, corpus: PreparedCorpus) -> None:
        """m̂ = g and v̂ = g² after one step: θ − rate · g / (|g| + ε), for any β."""
        run = text_run(
            WITHOUT_DROPOUT, learning_rate=1e-3, adam_epsilon=1e-3, adam_beta1=0.5, adam_beta2=0.7
        )
        session = session_of(corpus, run)
        before = weights_of(session)
        session.step(batches(corpus, PARTS))
        for name, parameter in session.model.named_parameters():
            gradient = parameter.grad
            assert gradient is not None
            expected = before[name] - 1e-3 * gradient / (gradient.abs() + 1e-3)
            assert torch.allclose(parameter, expected, atol=1e-6)

    def test_its_constants_are_those_of_the_settings(self, corpus: PreparedCorpus) -> None:
        run = text_run(adam_beta1=0.9, adam_beta2=0.98, adam_epsilon=1e-9)
        (group,) = session_of(corpus, run).optimizer.param_groups
        assert (group["betas"], group["eps"], group["weight_decay"]) == ((0.9, 0.98), 1e-9, 0)
        assert not group["amsgrad"]

    def test_shared_matrices_are_moved_once(self, corpus: PreparedCorpus) -> None:
        session = session_of(corpus, text_run({"tied_embeddings": "output"}))
        parameters = session.optimizer.param_groups[0]["params"]
        assert len(parameters) == len(set(map(id, parameters)))

    def test_a_gradient_longer_than_the_limit_is_scaled_down_to_it(
        self, corpus: PreparedCorpus
    ) -> None:
        results = {}
        for limit in (None, 0.05, 1000.0):
            session = session_of(corpus, text_run(WITHOUT_DROPOUT, clip_norm=limit))
            result = session.step(batches(corpus, PARTS))
            grads = [p.grad for p in session.model.parameters() if p.grad is not None]
            results[limit] = (
                result.gradient_norm,
                float(torch.linalg.vector_norm(torch.cat([g.flatten() for g in grads]))),
            )
        assert len({round(reported, 4) for reported, _ in results.values()}) == 1, (
            "reported as it was before clipping"
        )
        reported, unclipped = results[None]
        assert reported > 0.05
        assert unclipped == pytest.approx(reported, rel=1e-5)
        assert results[0.05][1] == pytest.approx(0.05, rel=1e-3)
        assert results[1000.0][1] == pytest.approx(reported, rel=1e-5)


class TestLoss:
    def test_it_is_that_of_the_formed_logits_per_target_token(self, corpus: PreparedCorpus) -> None:
        session = session_of(corpus, text_run(WITHOUT_DROPOUT))
        (batch,) = batches(corpus, [JOINED])
        with torch.no_grad():
            logits = session.model(batch.source, batch.target[:, :-1]).logits
        expected = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), batch.target[:, 1:].flatten(), ignore_index=1
        )
        assert session.step([batch]).loss == pytest.approx(float(expected), rel=1e-6)

    @pytest.mark.parametrize("smoothing", [0.0, 0.1])
    def test_padding_gives_nothing(self, corpus: PreparedCorpus, smoothing: float) -> None:
        """Neither to the loss nor to the weights, however much of it there is."""
        run = text_run(WITHOUT_DROPOUT, label_smoothing=smoothing)
        plain, padded = session_of(corpus, run), session_of(corpus, run)
        one, other = (
            plain.step(batches(corpus, PARTS)),
            padded.step(batches(corpus, PARTS, pad_to=40)),
        )
        assert other.loss == pytest.approx(one.loss, rel=1e-6)
        assert other.num_tokens == one.num_tokens
        for (name, p), q in zip(
            plain.model.named_parameters(), padded.model.parameters(), strict=True
        ):
            assert p.grad is not None
            assert q.grad is not None
            assert torch.allclose(p.grad, q.grad, atol=1e-6), name

    def test_the_model_is_trained_with_dropout(self, corpus: PreparedCorpus) -> None:
        session = session_of(corpus, text_run({"dropout": 0.5}, learning_rate=1e-12))
        losses = {session.step(batches(corpus, PARTS)).loss for _ in range(3)}
        assert len(losses) == 3

    def test_a_loss_that_is_no_number_is_refused_and_changes_nothing(
        self, corpus: PreparedCorpus
    ) -> None:
        session = session_of(corpus, text_run())
        session.step(batches(corpus, PARTS))
        with torch.no_grad():
            session.model.target_embedding.tokens.weight[5, 0] = float("nan")
        before = weights_of(session)
        state = session.optimizer.state[session.model.output.weight]["exp_avg"].clone()
        with pytest.raises(TrainingError) as caught:
            session.step(batches(corpus, [list(range(40))]))
        message = str(caught.value)
        assert "At step 2 the loss became nan" in message
        assert "not finite" in message
        assert session.progress.step == 1
        for name, value in weights_of(session).items():
            assert torch.equal(value, before[name]) or name == "target_embedding.tokens.weight"
        assert torch.equal(session.optimizer.state[session.model.output.weight]["exp_avg"], state)


class TestRestoring:
    RUN = copy_run()

    def trained(self, **changes: Any) -> Checkpoint:
        corpus = copy_corpus(self.RUN)
        session = session_of(corpus, self.RUN)
        for _ in range(2):
            session.step([collate(corpus.train, [0, 1, 2], 0)])
        return dataclasses.replace(session.resumable_snapshot(), **changes)

    def refusal(self, checkpoint: Checkpoint, run: RunConfig | None = None) -> str:
        run = run or self.RUN
        with pytest.raises(CheckpointError) as caught:
            session_of(copy_corpus(run), run).restore(checkpoint)
        return str(caught.value)

    def test_the_next_step_is_the_same_to_the_last_bit(self, tmp_path: Path) -> None:
        corpus = copy_corpus(self.RUN)
        original = session_of(corpus, self.RUN)
        batch = collate(corpus.train, [0, 1, 2], 0)
        for _ in range(2):
            original.step([batch])
        save_checkpoint(original.resumable_snapshot(), tmp_path / "last")
        expected = original.step([batch])
        resumed = session_of(corpus, self.RUN)
        torch.manual_seed(99)
        resumed.restore(load_checkpoint(tmp_path / "last", with_state=True))
        assert resumed.step([batch]) == expected
        assert difference(weights_of(resumed), weights_of(original)) == 0

    def test_a_checkpoint_for_translation_is_refused(self) -> None:
        for changes in ({"state": {}}, {"progress": {}}):
            message = self.refusal(self.trained(**changes))
            assert "for translation only" in message
            assert "last.safetensors of a run" in message

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"learning_rate": 1e-4}, "training.learning_rate was 0.0005 and is now 0.0001"),
            ({"seed": 5}, "training.seed was 1234 and is now 5"),
            ({"batch_size": 9}, "training.batch_size was 8 and is now 9"),
        ],
    )
    def test_other_settings_are_refused_and_named(self, changes: dict[str, Any], said: str) -> None:
        message = self.refusal(self.trained(), copy_run(**changes))
        assert said in message
        assert "Resume with the same settings" in message
        assert "or start a new run in another folder" in message

    def test_another_architecture_is_refused(self) -> None:
        message = self.refusal(self.trained(), copy_run({"width": 32}))
        assert "model.width was 16 and is now 32" in message

    def test_only_the_length_of_a_run_may_differ(self) -> None:
        run = copy_run(num_epochs=99, max_steps=7, checkpoint_steps=3)
        session = session_of(copy_corpus(run), run)
        session.restore(self.trained())
        assert session.progress.step == 2

    def test_another_vocabulary_is_refused(self) -> None:
        run = text_run()
        session = session_of(text_corpus(run), run)
        (batch,) = batches(session.corpus, [[0, 1]])
        session.step([batch])
        other = session_of(text_corpus(run, number=2), run)
        with pytest.raises(CheckpointError, match="it even has another vocabulary"):
            other.restore(session.resumable_snapshot())

    def test_missing_or_misshapen_state_of_the_optimizer_is_refused(self) -> None:
        """Adam begun anew in the middle of a run would be silent and wrong."""
        state = dict(self.trained().state)
        name = next(name for name in state if name.startswith("optimizer.exp_avg."))
        without = {key: value for key, value in state.items() if key != name}
        square, step = (name.replace("exp_avg.", f"{key}.") for key in ("exp_avg_sq", "step"))
        for damaged in (
            without,
            state | {name: torch.zeros(3)},
            state | {"random.cpu": torch.zeros(3)},
            state | {name: state[name].double()},
            state | {square: state[square] - 1},
            state | {step: torch.zeros(5)},
        ):
            message = self.refusal(self.trained(state=damaged))
            assert "The resume state in this checkpoint is damaged" in message
            assert "Use another copy" in message

    @pytest.mark.parametrize(
        "damage", [{"step": "two"}, {"epoch": None}, {"extra": 1}, {"step": True}]
    )
    def test_damaged_progress_is_refused(self, damage: dict[str, Any]) -> None:
        progress = dict(self.trained().progress) | damage
        assert "The resume state in this checkpoint is damaged" in self.refusal(
            self.trained(progress=progress)
        )

    def test_a_run_that_has_not_begun_can_be_taken_up(self) -> None:
        session = session_of(copy_corpus(self.RUN), self.RUN)
        again = session_of(copy_corpus(self.RUN), self.RUN)
        again.restore(session.resumable_snapshot())
        assert again.progress == session.progress


def test_the_same_seed_gives_the_same_weights_and_another_gives_others(
    corpus: PreparedCorpus,
) -> None:
    one, same = (weights_of(session_of(corpus, text_run())) for _ in range(2))
    other = weights_of(session_of(corpus, text_run(seed=5)))
    assert difference(one, same) == 0
    assert difference(one, other) > 0


def test_the_rate_of_a_step_is_the_one_that_adam_used(corpus: PreparedCorpus) -> None:
    run = text_run(schedule="noam", warmup_steps=5)
    session = session_of(corpus, run)
    for step in range(1, 8):
        result = session.step(batches(corpus, [[0, 1]]))
        assert result.learning_rate == learning_rate(step, run.model, run.training)
        assert session.optimizer.param_groups[0]["lr"] == result.learning_rate


def test_checkpoints_hold_the_word_counts_of_the_corpus(
    corpus: PreparedCorpus, tmp_path: Path
) -> None:
    session = session_of(corpus, text_run())
    session.step(batches(corpus, PARTS))
    assert corpus.word_counts is not None
    for checkpoint in (session.snapshot(()), session.resumable_snapshot()):
        save_checkpoint(checkpoint, tmp_path / "x")
        counts = load_checkpoint(tmp_path / "x").word_counts
        assert counts is not None
        assert dict(counts.counts) == dict(corpus.word_counts.counts)


def test_spellings_that_noise_makes_are_not_counted_nor_is_anything_twice_by_resuming(
    corpus: PreparedCorpus, tmp_path: Path
) -> None:
    counts = WordCounts({"straße": 1_000})
    noisy = dataclasses.replace(corpus, word_counts=counts)
    session = session_of(noisy, text_run(source_noise=0.3))
    session.step(batches(corpus, PARTS))
    first = session.snapshot(()).word_counts
    assert first is not None
    assert dict(first.counts) == {"straße": 1_000}
    save_checkpoint(session.resumable_snapshot(), tmp_path / "last")
    again = session_of(noisy, text_run(source_noise=0.3))
    again.restore(load_checkpoint(tmp_path / "last", with_state=True))
    save_checkpoint(again.resumable_snapshot(), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "last").read_bytes()


def test_a_run_resumed_from_data_without_counts_keeps_those_it_had(
    corpus: PreparedCorpus, tmp_path: Path
) -> None:
    session = session_of(corpus, text_run())
    session.step(batches(corpus, PARTS))
    save_checkpoint(session.resumable_snapshot(), tmp_path / "last")
    again = session_of(dataclasses.replace(corpus, word_counts=None), text_run())
    again.restore(load_checkpoint(tmp_path / "last", with_state=True))
    assert again.snapshot(()).word_counts is not None
