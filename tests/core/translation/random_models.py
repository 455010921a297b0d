"""Small models of every shape with weights that were never trained."""

import random
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from augenmerk.core.checkpoint.file import Checkpoint
from augenmerk.core.config import DecodingConfig, RunConfig
from augenmerk.core.device import DeviceChoice
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.learning import (
    learn_codecs,
    vocabulary_of_copy_task,
)
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.text.codec import CodecPair
from augenmerk.core.translation.translator import Translator

SOURCE_WORDS = "ein der mann hund junge steht liegt rennt auf im am gras strand see rot blau drei zwei und".split()
TARGET_WORDS = "a the man dog boy stands lies runs on in at grass beach sea red blue three two and some".split()
MAX_POSITIONS = 22
NUM_SUBWORDS = 48
NUM_SYMBOLS = 24

_SHAPE = {
    "width": 16,
    "num_heads": 2,
    "num_encoder_layers": 2,
    "num_decoder_layers": 2,
    "feed_forward_width": 24,
    "max_positions": MAX_POSITIONS,
}


@dataclass(frozen=True)
class RandomModel:
    """How a model differs from its preset, and its weights.

    Strength and seed are chosen so that outputs differ much, in length too, while rounding makes no
    difference of 1e-5.
    """

    preset: str
    seed: int
    strength: float
    model: dict[str, Any]
    data: dict[str, Any] = field(default_factory=dict)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)


MODELS = {
    "words, post-norm, learned positions": RandomModel(
        "notebook", 13, 1.3, {"num_heads": 4, "num_decoder_layers": 3}
    ),
    "words, post-norm and final, annotated norm, waves": RandomModel(
        "notebook",
        21,
        1.3,
        {
            "final_norm": True,
            "norm_kind": "annotated",
            "positions": "sinusoidal",
            "scale_embeddings": False,
        },
    ),
    "words, pre-norm without a final one": RandomModel(
        "notebook",
        0,
        1.3,
        {"norm_position": "pre", "num_encoder_layers": 1, "width": 24, "num_heads": 3},
    ),
    "words, annotated pre-norm, source not wrapped": RandomModel(
        "annotated-2018",
        6,
        1.6,
        {
            "num_encoder_layers": 3,
            "num_decoder_layers": 1,
            "num_heads": 4,
            "tied_embeddings": "output",
        },
    ),
    "subwords, pre-norm, all tied": RandomModel(
        "multi30k", 1, 2.0, {"width": 32, "num_heads": 4}, {"num_subwords": NUM_SUBWORDS}
    ),
    "subwords, post-norm, learned positions": RandomModel(
        "multi30k",
        1,
        1.3,
        {
            "norm_position": "post",
            "final_norm": False,
            "positions": "learned",
            "tied_embeddings": "none",
        },
        {"num_subwords": NUM_SUBWORDS},
    ),
    "words, post-norm, Marian's shape": RandomModel(
        "notebook",
        3,
        1.3,
        {
            "num_heads": 4,
            "num_decoder_heads": 2,
            "decoder_feed_forward_width": 20,
            "activation": "swish",
            "positions": "sinusoidal-halves",
            "scale_embeddings": False,
        },
    ),
    "words, pre-norm, JoeyNMT's shape": RandomModel(
        "notebook",
        5,
        1.6,
        {
            "norm_position": "pre",
            "final_norm": True,
            "norm_kind": "torch-1e-6",
            "positions": "sinusoidal",
            "output_bias": False,
        },
        decoding=DecodingConfig(forbidden_ids=(2,), steps_per_source_token=1.5, min_steps=3),
    ),
    "copy task": RandomModel("copy-task-small", 23, 1.6, {}),
    "copy task, post-norm": RandomModel(
        "copy-task-small",
        22,
        1.6,
        {"norm_position": "post", "final_norm": False, "norm_kind": "torch", "num_heads": 4},
    ),
}


def make_translator(name: str) -> Translator:
    """One of `MODELS`."""
    settings = MODELS[name]
    base = preset(settings.preset)
    run = replace(
        base,
        model=base.model.replace(**{**_SHAPE, **settings.model}),
        data=base.data.replace(min_frequency=1, **settings.data),
    )
    codecs = _codecs(run)
    source, target = codecs.source.vocabulary, codecs.target.vocabulary
    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        model = Transformer(run.model, len(source), len(target), target.padding_id)
        _draw_weights(model, settings.strength, target.end_id)
    checkpoint = Checkpoint(run, codecs, dict(model.named_parameters()), decoding=settings.decoding)
    return Translator(checkpoint, DeviceChoice("cpu", "requested"))


def _codecs(run: RunConfig) -> CodecPair:
    if run.is_copy_task:
        vocabulary = vocabulary_of_copy_task(NUM_SYMBOLS)
        return CodecPair.build(run.data, vocabulary, vocabulary, None)
    generator = random.Random(0)
    sides = [
        [generator.choices(words, k=6) for _ in range(50)] + [[word] for word in words]
        for words in (SOURCE_WORDS, TARGET_WORDS)
    ]
    return learn_codecs(run.data, *sides)


@torch.no_grad()
def _draw_weights(model: Transformer, strength: float, end_id: int | None) -> None:
    """What attention brings outweighs what goes around it, so that source, history and place sway
    each choice."""
    config, root = model.config, model.config.width**0.5
    nothing_scales_the_output = config.norm_position == "pre" and not config.final_norm
    for name, parameter in model.named_parameters():
        if name.endswith("positions"):
            parameter.normal_(std=2)
        elif "tokens" in name:
            parameter.normal_(std=0.7 / (root if config.scale_embeddings else 1))
        elif name == "output.weight":
            parameter.normal_(std=(0.25 if nothing_scales_the_output else 2.5) / root)
        elif parameter.dim() == 2:
            relative = 0.4 if "feed_forward" in name else 0.8 if "out_proj" in name else 1.0
            parameter.normal_(std=strength * relative / root)
        elif "norm" in name:
            parameter.add_(torch.randn_like(parameter), alpha=0.1)
        else:
            parameter.normal_(std=0.1)
    if config.tied_embeddings != "none":
        model.decoder_norm.weight.mul_(2.5 / 0.7)
    if end_id is not None:
        model.output.weight[end_id] *= 2  # so that it wins now and then


def all_heads(translator: Translator) -> list[Head]:
    config = translator.checkpoint.run.model
    shapes = {"encoder": (config.num_encoder_layers, config.num_heads)}
    decoder = config.num_decoder_layers, config.decoder_heads
    return [
        Head(kind, layer, head)
        for kind in ATTENTION_KINDS
        for layer in range(shapes.get(kind, decoder)[0])
        for head in range(shapes.get(kind, decoder)[1])
    ]
