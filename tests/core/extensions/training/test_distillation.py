"""Learning the distribution of teachers, besides that of the data (word-level distillation, Kim &
Rush 2016)."""

import dataclasses
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional

import augenmerk.core.extensions.training.loss as loss_module
from augenmerk.core.checkpoint.file import Checkpoint, load_checkpoint, model_digest
from augenmerk.core.config import RunConfig
from augenmerk.core.errors import CheckpointError, ConfigError
from augenmerk.core.extensions.run_settings.toml_file import read_toml
from augenmerk.core.extensions.training.corpora.batches import collate
from augenmerk.core.extensions.training.loss import SoftTargets, output_layer_loss, smoothed_loss
from augenmerk.core.extensions.training.session import TrainingSession
from augenmerk.core.run_files import BEST, LAST, RUN_SETTINGS
from tests.core.extensions.training.runs import record, text_corpus, text_run

RUN = text_run({"dropout": 0.0}, num_epochs=6)
NUM_TOKENS, PADDING = 13, 1


def taught_run(share: float = 0.6, **training: object) -> RunConfig:
    return dataclasses.replace(
        RUN, training=RUN.training.replace(num_epochs=2, distillation=share, **training)
    )


@pytest.fixture(scope="module")
def teachers(tmp_path_factory: pytest.TempPathFactory) -> list[Checkpoint]:
    """Of different sizes, but of the same vocabulary."""
    checkpoints = []
    for number, width in enumerate((16, 48)):
        folder = tmp_path_factory.mktemp(f"teacher{number}")
        record(text_run({"width": width, "num_heads": 2}, num_epochs=3, seed=number), folder)
        checkpoints.append(load_checkpoint(folder / BEST))
    return checkpoints


def outputs(number: int, *, with_bias: bool) -> list[tuple[Tensor, Tensor, Tensor | None]]:
    generator = torch.Generator().manual_seed(5)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.double)

    return [
        (drawn(number, width), drawn(NUM_TOKENS, width), drawn(NUM_TOKENS) if with_bias else None)
        for width in (4, 6)
    ]


@pytest.mark.parametrize("number", [1, 5, 40])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("with_bias", [True, False])
def test_loss_and_gradients_are_those_of_the_equation(
    monkeypatch: pytest.MonkeyPatch, number: int, smoothing: float, with_bias: bool
) -> None:
    """Also where the rows do not fill the last chunk."""
    monkeypatch.setattr(loss_module, "_CHUNK_ROWS", {"cpu": 12})
    hidden, weight, bias = (
        None if tensor is None else tensor.requires_grad_()
        for tensor in outputs(number, with_bias=with_bias)[0]
    )
    assert hidden is not None
    assert weight is not None
    learned = [tensor for tensor in (hidden, weight, bias) if tensor is not None]
    targets = torch.randint(2, NUM_TOKENS, (number,), generator=torch.Generator().manual_seed(6))
    of_teachers = outputs(number, with_bias=with_bias)[::-1]
    actual = output_layer_loss(
        hidden,
        weight,
        bias,
        targets,
        smoothing,
        PADDING,
        soft_targets=SoftTargets(0.3, of_teachers),
    )
    logits = functional.linear(hidden, weight, bias)
    mean = torch.stack([functional.linear(*output).softmax(-1) for output in of_teachers]).mean(0)
    divergence = functional.kl_div(logits.log_softmax(-1), mean, reduction="sum")
    expected = 0.7 * smoothed_loss(logits, targets, smoothing, PADDING) + 0.3 * divergence
    assert actual.item() == pytest.approx(expected.item(), rel=1e-6)
    for one, other in zip(
        torch.autograd.grad(actual, learned), torch.autograd.grad(expected, learned), strict=True
    ):
        assert torch.allclose(one, other, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
@pytest.mark.training
def test_a_step_comes_nearer_to_the_mean_of_the_teachers_and_leaves_them_alone(
    teachers: list[Checkpoint],
) -> None:
    corpus = text_corpus(RUN)
    session = TrainingSession(taught_run(0.95, learning_rate=1e-3), corpus, "cpu")
    session.learn_from(teachers)
    batch = collate(corpus.train, range(40), session.padding_id)
    models = [teacher.build_model().eval() for teacher in teachers]

    def divergence() -> float:
        with torch.no_grad():
            means = torch.stack(
                [model(batch.source, batch.target[:, :-1]).logits.softmax(-1) for model in models]
            )
            own = session.model(batch.source, batch.target[:, :-1]).logits.log_softmax(-1)
        real = batch.target[:, 1:] != session.padding_id
        return float(functional.kl_div(own[real], means.mean(0)[real], reduction="batchmean"))

    before = divergence()
    for _ in range(30):
        session.step([batch])
    assert divergence() < 0.5 * before
    for model, used in zip(models, session._teachers, strict=True):
        assert not used.training
        for (name, weight), other in zip(model.named_parameters(), used.parameters(), strict=True):
            assert torch.equal(weight, other), name
            assert other.grad is None
    assert len(list(session.gradients._loss_sum.parameters())) == len(
        list(session.model.parameters())
    )


@pytest.mark.slow
@pytest.mark.training
def test_the_run_names_them_and_is_resumed_with_them_to_the_last_bit(
    tmp_path: Path, teachers: list[Checkpoint]
) -> None:
    _, whole = record(taught_run(), tmp_path / "whole", teachers=teachers)
    _, first = record(taught_run(), tmp_path / "run", teachers=teachers, stop_after=5)
    own = read_toml(tmp_path / "run" / RUN_SETTINGS)
    assert own.training.teachers == " ".join(model_digest(teacher) for teacher in teachers)
    assert load_checkpoint(tmp_path / "run" / LAST).run.training.teachers == own.training.teachers
    for others in ([], teachers[:1], teachers[::-1]):
        with pytest.raises(
            (CheckpointError, ConfigError), match=r"teacher was given|those given are"
        ):
            record(own, tmp_path / "run", resume=True, teachers=others)
    _, second = record(own, tmp_path / "run", resume=True, teachers=teachers)
    assert [*first.losses, *second.losses] == whole.losses
    _, alone = record(taught_run(0.0), tmp_path / "alone")
    assert alone.losses[0] != whole.losses[0]


@pytest.mark.training
def test_what_cannot_teach_is_refused_before_anything_is_written(
    tmp_path: Path, teachers: list[Checkpoint]
) -> None:
    with pytest.raises(ConfigError, match=r"distillation is 0\.6, but no teacher was given"):
        record(taught_run(), tmp_path)
    with pytest.raises(ConfigError, match="distillation is 0, so that nothing would be learned"):
        record(taught_run(0.0), tmp_path, teachers=teachers)
    with pytest.raises(
        CheckpointError, match="Teacher 1 and the corpus have different vocabularies"
    ):
        record(taught_run(), tmp_path, teachers=teachers, corpus=text_corpus(RUN, 20))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"distillation": 1.0}, "distillation is 1.0. Use a number of at least 0 and less than 1"),
        ({"distillation": 0.5, "r_drop": 2.0}, "Set one of the two to 0"),
        ({"teachers": ""}, "space-separated digests of models"),
        ({"teachers": 5}, "space-separated digests of models"),
        ({"teachers": "0" * 64 + " 12"}, "space-separated digests of models"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        RUN.training.replace(**settings)
