"""Values inside the model: each site against a second implementation, and the gradients that reach
it."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from augenmerk.core.errors import AnalysisError
from augenmerk.core.model.attention import MultiHeadAttention
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.model.sites import STEPS
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Experiment,
    FeedForwardScaled,
    GivenTarget,
    HeadScaled,
    Intervention,
    SoftmaxTemperature,
)
from augenmerk.core.translation.translator import Translator
from tests.builders import first_quick
from tests.core.translation.naive import NaiveModel
from tests.core.translation.random_models import MODELS, make_translator

ROUNDING = 1e-4
CHANGES: tuple[Intervention, ...] = (
    HeadScaled(Head("cross", 0, 1), 0.5),
    HeadScaled(Head("encoder", 0, 0)),
    FeedForwardScaled(Network("decoder", 0), 2),
    SoftmaxTemperature(Head("cross", 0, 0), 3),
    AttentionRow(Head("decoder", 0, 0), 1, (0.25, 0.75)),
)


@pytest.fixture(params=first_quick(MODELS))
def translator(request: pytest.FixtureRequest) -> Translator:
    return make_translator(request.param)


@pytest.fixture
def pre() -> Translator:
    return make_translator("words, pre-norm, JoeyNMT's shape")


def text_for(translator: Translator) -> str:
    return "3 7 2 5" if translator.run_config.is_copy_task else "ein mann steht"


def attentions(translator: Translator) -> Iterator[tuple[str, MultiHeadAttention]]:
    """All attention modules by the beginnings of their sites."""
    for name, module in translator.model.named_modules():
        if isinstance(module, MultiHeadAttention):
            yield name.replace("_layers", ""), module


@pytest.mark.parametrize("changes", [(), CHANGES], ids=["unchanged", "changed"])
def test_every_site_has_the_value_of_a_second_implementation(
    translator: Translator, changes: tuple[Intervention, ...]
) -> None:
    translation = translator.run(Experiment(text_for(translator), interventions=changes))
    sites = translator.sites
    values = translator.trace(translation.experiment, sites)
    naive = NaiveModel(translator, translation.experiment, keeps_heads=True)
    naive.decode(list(translation.read_ids), naive.encode(list(translation.source_ids))[0])
    assert list(values) == list(sites)
    assert values.keys() == naive.values.keys()
    for site, expected in naive.values.items():
        torch.testing.assert_close(
            values[site][0].double(), expected, rtol=ROUNDING, atol=ROUNDING, msg=site
        )


def test_one_site_alone_has_the_same_value_as_among_all(translator: Translator) -> None:
    translation = translator.translate(text_for(translator))
    together = translator.trace(translation, translator.sites)
    for site, expected in together.items():
        (alone,) = translator.trace(translation, [site]).values()
        # An element near zero is a sum of larger ones, and as exact as they are.
        largest = float(expected.detach()[expected.isfinite()].abs().max())
        torch.testing.assert_close(alone, expected, rtol=1e-5, atol=1e-5 * max(1.0, largest))


def test_gradients_at_sites_sum_to_those_of_the_biases_that_are_added_there(
    translator: Translator,
) -> None:
    """The biases' gradients come from a pass without a trace."""
    model = translator.model
    translation = translator.translate(text_for(translator))
    places = [name for name, _ in attentions(translator)]
    networks = [
        site.rpartition(".")[0] for site in translator.sites if site.endswith("feed_forward.output")
    ]
    sites = [
        f"{module_name}.{value}"
        for module_name in places
        for value in ("query", "key", "value", "head_output", "output")
    ]
    sites += [f"{module_name}.output" for module_name in networks]
    values = translator.trace(translation, [*sites, "logits"])
    step, chosen = len(translation.predicted_ids) - 1, translation.predicted_ids[-1]
    gradients = dict(
        zip(
            sites,
            torch.autograd.grad(values["logits"][0, step, chosen], [values[s] for s in sites]),
            strict=True,
        )
    )
    plain = model(
        torch.tensor([translation.source_ids]), torch.tensor([translation.read_ids])
    ).logits
    plain[0, step, chosen].backward()
    for module_name, module in attentions(translator):
        of_parts = [
            gradients[f"{module_name}.{value}"].sum(dim=2).flatten()
            for value in ("query", "key", "value")
        ]
        assert_gradient(torch.cat(of_parts), module.in_proj_bias)
        assert_gradient(gradients[f"{module_name}.output"].sum(dim=(0, 1)), module.out_proj.bias)
        for of_head in gradients[f"{module_name}.head_output"][0]:
            assert_gradient(of_head.sum(dim=0), module.out_proj.bias)
    for module_name in networks:
        side, layer, _ = module_name.split(".")
        network = model.get_submodule(f"{side}_layers.{layer}.feed_forward")
        assert_gradient(gradients[f"{module_name}.output"].sum(dim=(0, 1)), network.contract.bias)


def assert_gradient(gradient: Tensor, parameter: nn.Parameter) -> None:
    assert parameter.grad is not None
    scale = float(parameter.grad.abs().max().clamp(min=1))
    torch.testing.assert_close(gradient, parameter.grad, rtol=ROUNDING, atol=ROUNDING * scale)


def test_gradients_pass_from_weights_to_scores_as_through_a_softmax(pre: Translator) -> None:
    for module_name, _ in attentions(pre):
        values = pre.trace(
            Experiment("ein mann steht"),
            [f"{module_name}.score", f"{module_name}.weight", "logits"],
        )
        score, weight, logits = values.values()
        of_score, of_weight = torch.autograd.grad(logits[0, -1, 5], [score, weight])
        expected = weight * (of_weight - (weight * of_weight).sum(dim=-1, keepdim=True))
        torch.testing.assert_close(of_score, expected, rtol=ROUNDING, atol=1e-6)
        torch.testing.assert_close(score.softmax(dim=-1), weight)


def test_a_gradient_predicts_the_effect_of_a_small_change_in_the_residual_stream(
    pre: Translator,
) -> None:
    translation = pre.translate("ein mann steht")
    pre.model.double()
    by_site = pre.trace(translation, ["decoder.0.cross_attention.after", "logits"])
    stream, logits = by_site.values()
    (gradient,) = torch.autograd.grad(logits[0, -1, 5], stream)
    direction, step = torch.randn_like(stream), 1e-6
    residual = pre.model.decoder_layers[0].cross_residual
    values = []
    for sign in (1, -1):
        handle = residual.register_forward_hook(
            lambda module, inputs, output, by=sign * step: output + by * direction
        )
        values.append(pre.trace(translation, ["logits"])["logits"][0, -1, 5])
        handle.remove()
    slope = (values[0] - values[1]) / (2 * step)
    torch.testing.assert_close((gradient * direction).sum(), slope, rtol=1e-5, atol=1e-7)


def test_gradients_reach_a_leaf_that_the_user_makes_while_parameters_need_none(
    pre: Translator,
) -> None:
    pre.model.requires_grad_(False)
    leaves: list[Tensor] = []

    def make_leaf(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        leaves.append(output.detach().requires_grad_())
        return leaves[-1]

    handle = pre.model.source_embedding.register_forward_hook(make_leaf)
    values = pre.trace(pre.translate("ein mann steht"), ["encoder.embedding", "logits"])
    handle.remove()
    assert values["encoder.embedding"] is leaves[-1]
    values["logits"][0, 0, 5].backward()
    assert leaves[-1].grad is not None
    assert leaves[-1].grad.abs().max() > 0


def test_no_gradients_are_recorded_where_they_are_disabled(pre: Translator) -> None:
    with torch.no_grad():
        values = pre.trace(Experiment("ein mann steht"), pre.sites)
    assert not any(value.requires_grad for value in values.values())
    assert not any(value.is_inference() for value in values.values())


def test_hooks_on_the_output_projection_act_between_the_heads_and_the_output(
    pre: Translator,
) -> None:
    module_name, module = "decoder.1.cross_attention", pre.model.decoder_layers[1].cross_attention
    width = module.head_width

    def without_first_head(_module: nn.Module, inputs: tuple[Tensor]) -> Tensor:
        return torch.cat([torch.zeros_like(inputs[0][..., :width]), inputs[0][..., width:]], dim=-1)

    translation = pre.translate("ein mann steht")
    sites = [f"{module_name}.{value}" for value in (*STEPS, "weight", "output")]
    before = pre.trace(translation, sites)
    handles = [
        module.out_proj.register_forward_pre_hook(without_first_head),
        module.out_proj.register_forward_hook(lambda module, inputs, output: output * 2),
    ]
    try:
        values = pre.trace(translation, [*sites, "logits"])
        with torch.inference_mode():
            source, read = (
                torch.tensor([translation.source_ids]),
                torch.tensor([translation.read_ids]),
            )
            expected = pre.model(source, read).logits
    finally:
        for handle in handles:
            handle.remove()
    torch.testing.assert_close(values["logits"], expected, rtol=0, atol=1e-5)
    for value in ("query", "key", "value", "score", "weight"):
        assert torch.equal(values[f"{module_name}.{value}"], before[f"{module_name}.{value}"])
    outputs = values[f"{module_name}.head_output"]
    assert not outputs[:, 0].any()
    torch.testing.assert_close(outputs[:, 1:], before[f"{module_name}.head_output"][:, 1:])
    torch.testing.assert_close(
        values[f"{module_name}.output"], 2 * (outputs.sum(dim=1) + module.out_proj.bias)
    )
    (gradient,) = torch.autograd.grad(values["logits"][0, -1, 5], outputs)
    assert gradient.abs().max() > 0


def test_a_trace_leaves_no_hooks(pre: Translator) -> None:
    before = pre.translate("ein mann steht").log_probabilities
    pre.trace(Experiment("ein mann steht"), pre.sites)
    assert_no_hooks(pre)
    assert pre.translate("ein mann steht").log_probabilities == before


def assert_no_hooks(translator: Translator) -> None:
    assert not any(
        module._forward_hooks or module._forward_pre_hooks for module in translator.model.modules()
    )
    assert all(module.keep is None for _, module in attentions(translator))


def test_a_trace_that_fails_leaves_no_hooks(pre: Translator) -> None:
    translation = pre.translate("ein mann steht")
    handle = pre.model.output.register_forward_hook(lambda module, inputs, output: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        pre.trace(translation, pre.sites)
    handle.remove()
    assert_no_hooks(pre)


def test_an_attention_that_computes_in_its_own_way_gives_its_output_and_no_values_inside(
    pre: Translator,
) -> None:
    translation, module = (
        pre.translate("ein mann steht"),
        pre.model.decoder_layers[1].cross_attention,
    )
    weights = torch.ones(
        1, module.num_heads, len(translation.read_ids), len(translation.source_ids)
    )
    module.forward = lambda states, memory, mask, **options: (states * 2, weights)
    sites = [f"decoder.1.cross_attention.{value}" for value in ("input", "output", "weight")]
    states, output, read_weights = pre.trace(translation, sites).values()
    assert torch.equal(output, states * 2)
    assert read_weights is weights
    for value in ("query", "joined", "head_output"):
        with pytest.raises(
            AnalysisError,
            match=f"did not reach decoder.1.cross_attention.{value}, because a module",
        ):
            pre.trace(translation, [f"decoder.1.cross_attention.{value}"])


def test_a_given_target_is_read(pre: Translator) -> None:
    translation = pre.run(Experiment("ein mann steht", GivenTarget("a man stands")))
    logits = pre.trace(translation.experiment, ["logits"])["logits"][0].detach().log_softmax(dim=-1)
    log_probabilities = [
        float(logits[step, token]) for step, token in enumerate(translation.predicted_ids)
    ]
    assert log_probabilities == pytest.approx(translation.log_probabilities, abs=1e-4)


def test_a_single_site_needs_no_list(pre: Translator) -> None:
    translation = pre.run(Experiment("ein mann steht"))
    values = pre.trace(translation, "decoder.output")
    assert list(values) == ["decoder.output"]
    assert torch.equal(
        values["decoder.output"], pre.trace(translation, ["decoder.output"])["decoder.output"]
    )


@pytest.mark.parametrize(
    "site",
    [
        "decoder.2.cross_attention.query",
        "encoder.0.cross_attention.query",
        "decoder.0.feed_forward.query",
        "output",
        "",
    ],
)
def test_an_unknown_site_is_refused_with_a_list_of_sites(pre: Translator, site: str) -> None:
    with pytest.raises(AnalysisError, match=f"no site “{site}”") as refused:
        pre.trace(Experiment("ein mann steht"), ["decoder.output", site])
    message = str(refused.value)
    assert "0 to 1 in the encoder" in message
    for known in pre.sites:
        assert all(part in message for part in known.split(".") if not part.isdigit())
