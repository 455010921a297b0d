"""Parameters and floating-point operations by module are those of the real model, as it is built
and as it computes."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

from augenmerk.core.config import ModelConfig
from augenmerk.core.extensions.info.size import (
    MODULES,
    MULTI30K_VOCABULARY_SIZES,
    Module,
    preset_vocabulary_sizes,
    size_rows,
    total,
)
from augenmerk.core.extensions.run_settings.presets import PRESETS, preset
from augenmerk.core.extensions.training.corpora.loading import load_corpus
from augenmerk.core.model.shapes import NoRandomNumbers
from augenmerk.core.model.transformer import Transformer
from tests.builders import first_quick
from tests.core.model.small_models import KINDS, NUM_SOURCE, NUM_TARGET, PADDING, SMALL, make_model

OPUS_MT = ModelConfig(
    width=512,
    num_encoder_layers=6,
    num_decoder_layers=6,
    feed_forward_width=2048,
    activation="swish",
    positions="sinusoidal-halves",
    max_positions=512,
    tied_embeddings="all",
)
"""The shape of OPUS-MT's models of German and English, of which the vocabulary has 58,101
tokens."""
UNEVEN = SMALL.replace(
    num_encoder_layers=3,
    num_decoder_layers=1,
    num_decoder_heads=2,
    decoder_feed_forward_width=96,
    activation="gelu",
    tied_embeddings="output",
    output_bias=False,
)
PATTERNS: dict[Module, str] = {
    "source embedding": r"source_embedding\.tokens\.",
    "source positions": r"source_embedding\.positions",
    "encoder self-attention": r"encoder_layers\.\d+\.self_attention\.",
    "encoder feed-forward": r"encoder_layers\.\d+\.feed_forward\.",
    "encoder norms": r"encoder_layers\.\d+\.\w+_residual\.norm\.|encoder_norm\.",
    "target embedding": r"target_embedding\.tokens\.",
    "target positions": r"target_embedding\.positions",
    "decoder self-attention": r"decoder_layers\.\d+\.self_attention\.",
    "cross-attention": r"decoder_layers\.\d+\.cross_attention\.",
    "decoder feed-forward": r"decoder_layers\.\d+\.feed_forward\.",
    "decoder norms": r"decoder_layers\.\d+\.\w+_residual\.norm\.|decoder_norm\.",
    "output": r"output\.",
}
"""Of names of parameters."""


def shapes() -> list[Any]:
    of_presets = [
        pytest.param(run.model, *sizes, id=name)
        for name, run in PRESETS.items()
        for sizes in [preset_vocabulary_sizes(run)]
        if sizes is not None
    ]
    of_kinds = [
        pytest.param(config, NUM_SOURCE, NUM_TARGET, id=name) for name, config in KINDS.items()
    ]
    others = [
        pytest.param(OPUS_MT, 58_101, 58_101, id="opus-mt"),
        pytest.param(
            OPUS_MT.replace(tied_embeddings="none", num_decoder_layers=2),
            900,
            1100,
            id="shallow decoder",
        ),
        pytest.param(UNEVEN, NUM_SOURCE, NUM_TARGET, id="uneven"),
    ]
    return of_presets + of_kinds + others


def build(config: ModelConfig, num_source: int, num_target: int) -> Transformer:
    """Without memory, and so of any size."""
    with NoRandomNumbers(), torch.device("meta"):
        return Transformer(config, num_source, num_target, PADDING).eval()


def module_of(name: str) -> Module:
    (module,) = [module for module, pattern in PATTERNS.items() if re.match(pattern, name)]
    return module


def count(
    model: Transformer, source_length: int, target_length: int, *, need_maps: bool
) -> FlopCounterMode:
    """What one pass of this model computes, counted while it does."""
    device = model.output.weight.device

    def flops_of_kernel(queries: Any, keys: Any, values: Any, *others: Any, **named: Any) -> int:
        return sdpa_flop_count(queries, keys, values)  # of three shapes

    # FlopCounterMode knows those of GPUs alone
    kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    counter = FlopCounterMode(display=False, custom_mapping={kernel: flops_of_kernel})
    source, target = (
        torch.full((1, length), 5, device=device) for length in (source_length, target_length)
    )
    with torch.inference_mode(), counter:
        model(source, target, need_maps=need_maps)
    return counter


def test_every_preset_is_among_the_shapes() -> None:
    assert {shape.id for shape in shapes()} >= set(PRESETS)


@pytest.mark.parametrize(("config", "num_source", "num_target"), shapes())
def test_parameters_of_each_module_are_those_of_the_model(
    config: ModelConfig, num_source: int, num_target: int
) -> None:
    model = build(config, num_source, num_target)
    rows = size_rows(config, num_source, num_target, 1, 1)
    counted: Counter[Module] = Counter()
    for name, parameter in model.named_parameters():
        counted[module_of(name)] += parameter.numel()
    assert {module: total(rows, module).num_parameters for module in MODULES} == {
        module: counted[module] for module in MODULES
    }
    assert total(rows).num_parameters == model.num_parameters


@pytest.mark.parametrize(("config", "num_source", "num_target"), shapes())
def test_a_shared_matrix_is_told_where_it_is_used_again(
    config: ModelConfig, num_source: int, num_target: int
) -> None:
    model = build(config, num_source, num_target)
    matrices: dict[Module, torch.Tensor] = {
        "source embedding": model.source_embedding.tokens.weight,
        "target embedding": model.target_embedding.tokens.weight,
        "output": model.output.weight,
    }
    shared = {
        row.module: row.shared_with for row in size_rows(config, num_source, num_target, 1, 1)
    }
    for module, matrix in matrices.items():
        first = next(name for name, other in matrices.items() if other is matrix)
        assert shared[module] == (None if first == module else first)


@pytest.mark.parametrize(("config", "num_source", "num_target"), first_quick(shapes()))
def test_operations_are_those_that_pytorch_counts_in_a_pass(
    config: ModelConfig, num_source: int, num_target: int
) -> None:
    """Those with maps, which are as many, are counted below."""
    source_length, target_length = 9, 7
    counter = count(
        build(config, num_source, num_target), source_length, target_length, need_maps=False
    )
    rows = size_rows(config, num_source, num_target, source_length, target_length)
    counted: Counter[Module] = Counter({"output": counter.get_total_flops()})
    for name, flops in counter.get_flop_counts().items():
        path = name.removeprefix("Transformer.") + "."
        if re.fullmatch(r"(en|de)coder_layers\.\d+\.\w+\.", path):
            counted[module_of(path)] += sum(flops.values())
            counted["output"] -= sum(flops.values())  # a product outside all submodules
    assert {module: total(rows, module).num_flops for module in MODULES} == {
        module: counted[module] for module in MODULES
    }
    assert total(rows).num_flops == counter.get_total_flops()


@pytest.mark.parametrize("need_maps", [False, True])
@pytest.mark.parametrize("kind", ["pre", "marian"])
@pytest.mark.parametrize(("source_length", "target_length"), [(1, 1), (5, 11), (30, 2)])
def test_the_same_holds_for_numbers_on_this_processor(
    kind: str, need_maps: bool, source_length: int, target_length: int
) -> None:
    counter = count(make_model(KINDS[kind]), source_length, target_length, need_maps=need_maps)
    rows = size_rows(KINDS[kind], NUM_SOURCE, NUM_TARGET, source_length, target_length)
    assert total(rows).num_flops == counter.get_total_flops()


def test_attention_alone_grows_with_the_square_of_the_length() -> None:
    config = preset("multi30k").model
    short, long = (size_rows(config, 8000, 8000, length, length) for length in (100, 200))
    for before, after in zip(short, long, strict=True):
        is_square = before.part.startswith(("scores", "weights"))
        assert after.num_flops == before.num_flops * (4 if is_square else 2)
        assert after.num_parameters == before.num_parameters


def test_a_run_that_is_none_of_the_presets_has_no_known_vocabulary() -> None:
    assert preset_vocabulary_sizes(preset("copy-task")) == (11, 11)
    assert preset_vocabulary_sizes(preset("notebook")) == (7853, 5893)
    own = preset("notebook").to_dict() | {"preset": "my own"}
    assert preset_vocabulary_sizes(type(preset("notebook")).from_dict(own)) is None


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize("name", MULTI30K_VOCABULARY_SIZES)
def test_presets_learn_vocabularies_of_these_sizes(name: str, multi30k_folder: Path) -> None:
    codecs = load_corpus(multi30k_folder, preset(name)).codecs
    sizes = len(codecs.source.vocabulary), len(codecs.target.vocabulary)
    assert sizes == MULTI30K_VOCABULARY_SIZES[name]


@pytest.mark.parametrize("name", ["copy-task", "copy-task-small"])
def test_copy_tasks_have_vocabularies_of_these_sizes(name: str) -> None:
    codecs = load_corpus("copy", preset(name)).codecs
    sizes = len(codecs.source.vocabulary), len(codecs.target.vocabulary)
    assert sizes == preset_vocabulary_sizes(preset(name))
