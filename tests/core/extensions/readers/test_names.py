"""Names of weights are those of the model, whatever a trainer put around it."""

import pytest

from augenmerk.core.extensions.readers.names import plain_names

NOTEBOOK = ("encoder.tok_embedding.weight", "decoder.fc_out.bias")
ANNOTATED = ("src_embed.0.lut.weight", "encoder.layers.0.self_attn.linears.0.weight")
JOEYNMT = ("src_embed.lut.weight", "decoder.output_layer.weight")
MARIAN = (
    "model.shared.weight",
    "model.encoder.layers.0.self_attn.q_proj.weight",
    "final_logits_bias",
)


@pytest.mark.parametrize("names", [NOTEBOOK, ANNOTATED, JOEYNMT, MARIAN])
@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "_orig_mod.",
        "module.",
        "module._orig_mod.",
        "model.",
        "model._orig_mod.",
        "lit.seq2seq.",
        "_forward_module.",
    ],
)
def test_prefixes_are_left_out(names: tuple[str, ...], prefix: str) -> None:
    stored = [prefix + name for name in names]
    assert plain_names(stored) == dict(zip(names, stored, strict=True))


def test_wrappers_of_parts_are_left_out() -> None:
    assert list(
        plain_names(["encoder._orig_mod.tok_embedding.weight", "decoder.module.fc_out.bias"])
    ) == list(NOTEBOOK)


def test_values_beside_the_model_are_left_out() -> None:
    assert list(
        plain_names(["loss.weight", *(f"model.{name}" for name in MARIAN), "metric.total"])
    ) == list(MARIAN)


def test_names_of_no_known_family_stay() -> None:
    assert list(plain_names(["module.linear.weight", "model.x"])) == ["linear.weight", "model.x"]


def test_the_usual_one_of_several_models_is_taken() -> None:
    assert list(
        plain_names([f"{prefix}.{name}" for prefix in ("ema", "model") for name in NOTEBOOK])
    ) == list(NOTEBOOK)


@pytest.mark.parametrize("prefixes", [("teacher.", "student."), ("model.", "net.")])
def test_several_models_are_refused(prefixes: tuple[str, ...]) -> None:
    with pytest.raises(
        ValueError,
        match=rf"several models \({prefixes[0][:-1]}, {prefixes[1][:-1]}\)\. Save the wei",
    ):
        plain_names([prefix + name for prefix in prefixes for name in NOTEBOOK])


def test_a_name_that_comes_twice_is_refused() -> None:
    with pytest.raises(ValueError, match=r"holds encoder\.tok_embedding\.weight twice"):
        plain_names([NOTEBOOK[0], f"module.{NOTEBOOK[0]}"])
