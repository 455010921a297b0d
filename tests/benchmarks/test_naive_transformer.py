"""What our step is measured against is a model of the same size that begins alike, only written
naively."""

import pytest

from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.batches import collate
from augenmerk.core.extensions.training.session import TrainingSession
from benchmarks.naive_transformer import PADDING, NaiveTrainer
from benchmarks.training import made_up_corpus


@pytest.mark.training
@pytest.mark.slow
def test_the_naive_step_has_the_parameters_and_the_first_loss_of_ours() -> None:
    corpus = made_up_corpus()
    run = preset("notebook")
    ours, naive = TrainingSession(run, corpus, "cpu"), NaiveTrainer()
    assert ours.model.num_parameters == sum(
        parameter.numel() for parameter in naive.model.parameters()
    )
    batch = collate(corpus.train, range(4), PADDING)
    result = ours.step([batch])
    assert result is not None
    assert abs(result.loss - naive.step(batch)) < 0.5, "both know nothing yet"


@pytest.mark.slow
@pytest.mark.training
def test_adam_of_the_naive_step_is_neither_fused_nor_joined() -> None:
    (group,) = NaiveTrainer().optimizer.param_groups
    assert (group["fused"], group["foreach"]) == (False, False)
