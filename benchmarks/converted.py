"""Our models in CTranslate2's format (https://opennmt.net/CTranslate2), so that both decode the
same weights.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
from ctranslate2.specs import TransformerSpec
from ctranslate2.specs.attention_spec import MultiHeadAttentionSpec
from ctranslate2.specs.common_spec import LayerNormSpec, LinearSpec
from ctranslate2.specs.transformer_spec import FeedForwardSpec
from torch import Tensor

from augenmerk.core.model.layers import TokenAndPosition
from augenmerk.core.translation.translator import Translator


class TokenTranslator:
    """The translator's model in float32, decoding greedily on one thread.

    Tokens are named "0", "1" … by their ids.

    For pre-norm models with a final norm, ReLU and no output bias, such as the bundled one.
    """

    def __init__(self, translator: Translator, folder: Path) -> None:
        _write(translator, folder)
        self._translator = ctranslate2.Translator(
            str(folder), device="cpu", compute_type="float32", inter_threads=1, intra_threads=1
        )
        self._forbidden = [[str(token)] for token in translator.rules.forbidden_ids]

    def translate(
        self, sources: Sequence[Sequence[int]], batch_size: int = 64, beam: int = 1
    ) -> list[list[int]]:
        """The chosen ids, including the end token; with a beam, of the most probable hypothesis
        whatever its length.
        """
        results = self._translator.translate_batch(
            [[str(token) for token in source] for source in sources],
            beam_size=beam,
            length_penalty=0,
            max_batch_size=batch_size,
            suppress_sequences=self._forbidden,
            return_end_token=True,
        )
        return [[int(token) for token in result.hypotheses[0]] for result in results]


def _write(translator: Translator, folder: Path) -> None:
    model = translator.model
    config = translator.run_config.model
    spec = TransformerSpec.from_config(
        (config.num_encoder_layers, config.num_decoder_layers), config.num_heads, pre_norm=True
    )
    spec.encoder.scale_embeddings = spec.decoder.scale_embeddings = config.scale_embeddings
    _embed(spec.encoder.embeddings[0], spec.encoder.position_encodings, model.source_embedding)
    _embed(spec.decoder.embeddings, spec.decoder.position_encodings, model.target_embedding)
    layer: Any
    for layer, theirs in zip(model.encoder_layers, spec.encoder.layer, strict=True):
        _normalize(theirs.self_attention.layer_norm, layer.attention_residual.norm)
        _attend(theirs.self_attention, layer.self_attention)
        _feed_forward(theirs.ffn, layer.feed_forward_residual.norm, layer.feed_forward)
    for layer, theirs in zip(model.decoder_layers, spec.decoder.layer, strict=True):
        _normalize(theirs.self_attention.layer_norm, layer.self_residual.norm)
        _attend(theirs.self_attention, layer.self_attention)
        _normalize(theirs.attention.layer_norm, layer.cross_residual.norm)
        _attend(theirs.attention, layer.cross_attention, is_cross=True)
        _feed_forward(theirs.ffn, layer.feed_forward_residual.norm, layer.feed_forward)
    _normalize(spec.encoder.layer_norm, model.encoder_norm)
    _normalize(spec.decoder.layer_norm, model.decoder_norm)
    spec.decoder.projection.weight = _array(model.output.weight)
    names = [str(index) for index in range(model.output.out_features)]
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    vocabulary = translator.checkpoint.codecs.target.vocabulary
    spec.config.unk_token = str(vocabulary.unknown_id)
    spec.config.bos_token = spec.config.decoder_start_token = str(translator.rules.start_id)
    spec.config.eos_token = str(translator.rules.end_id)
    spec.validate()
    folder.mkdir(parents=True, exist_ok=True)
    spec.save(str(folder))


def _array(values: Tensor) -> Any:
    return np.ascontiguousarray(values.detach().numpy())


def _embed(tokens: Any, positions: Any, ours: TokenAndPosition) -> None:
    tokens.weight = _array(ours.tokens.weight)
    positions.encodings = _array(ours.positions)


def _normalize(theirs: LayerNormSpec, ours: Any) -> None:
    theirs.gamma, theirs.beta = _array(ours.weight), _array(ours.bias)


def _fill(theirs: LinearSpec, weight: Tensor, bias: Tensor) -> None:
    theirs.weight, theirs.bias = _array(weight), _array(bias)


def _attend(theirs: MultiHeadAttentionSpec, ours: Any, *, is_cross: bool = False) -> None:
    weight = ours.in_proj_weight
    bias = ours.in_proj_bias
    width = ours.in_proj_weight.size(1)
    parts = (
        [(weight[:width], bias[:width]), (weight[width:], bias[width:])]
        if is_cross
        else [(weight, bias)]
    )
    for linear, part in zip(
        theirs.linear, [*parts, (ours.out_proj.weight, ours.out_proj.bias)], strict=True
    ):
        _fill(linear, *part)


def _feed_forward(theirs: FeedForwardSpec, norm: Any, ours: Any) -> None:
    _normalize(theirs.layer_norm, norm)
    _fill(theirs.linear_0, ours.expand.weight, ours.expand.bias)
    _fill(theirs.linear_1, ours.contract.weight, ours.contract.bias)
