"""Where matrix products are computed in bfloat16, and what that leaves as it was."""

import dataclasses

import pytest
import torch
from torch.nn import functional

from augenmerk.core.extensions.training.corpora.batches import collate
from augenmerk.core.extensions.training.device_choices import choose_precision
from augenmerk.core.extensions.training.loss import output_layer_loss
from augenmerk.core.extensions.training.session import TrainingSession
from tests.core.extensions.training.runs import text_corpus, text_run

CPU = torch.device("cpu")


class TestChoice:
    @pytest.mark.parametrize("wish", ["float32", "bfloat16"])
    def test_what_is_asked_for_is_taken(self, wish: str) -> None:
        choice = choose_precision(wish, CPU)  # type: ignore[arg-type]
        assert choice.name == wish
        assert "ask" in choice.reason

    @pytest.mark.parametrize(
        ("capabilities", "expected"),
        [
            ({"avx512_bf16": True}, "bfloat16"),
            ({"amx_bf16": True, "avx512_bf16": False}, "bfloat16"),
            ({"avx512_bf16": False, "avx2": True}, "float32"),
            ({}, "float32"),
        ],
    )
    def test_a_processor_is_judged_by_its_instructions(
        self, monkeypatch, capabilities, expected
    ) -> None:
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
        choice = choose_precision("auto", CPU)
        assert choice.name == expected
        assert "instructions" in choice.reason

    @pytest.mark.parametrize(("is_native", "expected"), [(True, "bfloat16"), (False, "float32")])
    def test_a_gpu_that_would_emulate_it_computes_in_float32(
        self, monkeypatch, is_native, expected
    ) -> None:
        def is_supported(*, including_emulation: bool) -> bool:
            return is_native or including_emulation

        monkeypatch.setattr(torch.cuda, "is_bf16_supported", is_supported)
        assert choose_precision("auto", torch.device("cuda")).name == expected

    def test_other_devices_compute_in_float32(self) -> None:
        assert choose_precision("auto", torch.device("mps")).name == "float32"


class TestMixedStep:
    @pytest.mark.training
    def test_the_loss_is_that_of_float32_to_two_digits_and_weights_stay_32_bit(self) -> None:
        run = text_run(model={"dropout": 0.0}, label_smoothing=0.1)
        corpus = text_corpus(run)
        losses = {}
        for precision in ("float32", "bfloat16"):
            chosen = dataclasses.replace(run, training=run.training.replace(precision=precision))
            session = TrainingSession(chosen, corpus, "cpu")
            batch = collate(corpus.train, range(16), session.padding_id)
            losses[precision] = [session.step([batch]).loss for _ in range(8)]
            assert {parameter.dtype for parameter in session.model.parameters()} == {torch.float32}
            assert {
                parameter.grad.dtype
                for parameter in session.model.parameters()
                if parameter.grad is not None
            } == {torch.float32}
        assert losses["bfloat16"] != losses["float32"], "nothing was computed in bfloat16"
        assert losses["bfloat16"] == pytest.approx(losses["float32"], rel=0.01)

    @pytest.mark.parametrize("has_bias", [True, False])
    def test_the_gradients_of_the_output_layer_are_those_of_float32_to_two_digits(
        self, has_bias: bool
    ) -> None:
        generator = torch.Generator().manual_seed(0)
        hidden = torch.randn(700, 32, generator=generator)
        weight = torch.randn(90, 32, generator=generator) / 5
        targets = torch.randint(2, 90, (700,), generator=generator)
        gradients = {}
        for is_mixed in (False, True):
            inputs = [hidden.clone().requires_grad_(), weight.clone().requires_grad_()]
            bias = torch.zeros(90, requires_grad=True) if has_bias else None
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=is_mixed):
                loss = output_layer_loss(inputs[0], inputs[1], bias, targets, 0.1, 1)
            loss.backward()
            gradients[is_mixed] = [tensor.grad for tensor in (*inputs, bias) if tensor is not None]
        for mixed, full in zip(gradients[True], gradients[False], strict=True):
            assert mixed.dtype == torch.float32
            assert not torch.equal(mixed, full)
            assert functional.cosine_similarity(mixed.flatten(), full.flatten(), dim=0) > 0.999


def test_subword_dropout_gives_each_epoch_other_pieces_of_the_same_pairs() -> None:
    run = text_run()
    run = dataclasses.replace(run, data=run.data.replace(num_subwords=60, keep_spaces=False))
    corpus = text_corpus(run)
    plain = TrainingSession(run, corpus, "cpu")
    assert plain.training_pairs(1) is corpus.train
    run = dataclasses.replace(run, training=run.training.replace(subword_dropout=0.3))
    session = TrainingSession(run, corpus, "cpu")
    assert session.training_pairs(1).source != session.training_pairs(2).source
    assert (
        session.training_pairs(1).source
        == TrainingSession(run, corpus, "cpu").training_pairs(1).source
    )
