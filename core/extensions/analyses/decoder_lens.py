"""The DecoderLens: translations from the encoder's earlier layers. Shape legend: `core.maps`.

Langedijk et al. 2023, "DecoderLens: Layerwise Interpretation of Encoder-Decoder Transformers": the
decoder reads the states after an earlier layer of the encoder as if they were its output. In models
with a final norm they pass through it. After the last layer this is the model's greedy translation;
the decoder was not trained for the others. All have the same limit of length, so that layers differ
only in words that the decoder chose.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import torch

from ...arguments import checks_arguments
from ...conversions import Result
from ...maps.comparing import common_subsequence
from ...model.intervention_tensors import compile_interventions
from ...model.outputs import Encoding
from ...model.sites import PairPass, trace_sites
from ...translation.experiment import CausalMaskLifted, Greedy
from ...translation.result import Translation
from ...translation.translator import Translator

Places = tuple[int, ...]
"""Indices of words of a translation."""


@dataclass(frozen=True, eq=False)
class DecoderLens(Result):
    """The greedy translations of one sentence from the encoder's embedding and from each of its L
    layers.

    Attributes:
        translation: of the sentence and experiment in question.
        layers: L + 1 translations without maps: from the embedding, then after each layer. The last
            one is the model's greedy translation, up to 2 S + 10 tokens of it; a beam may have
            found another.
        added: for each of them, the words that the previous one lacks; none for the first.
        removed: for each of them, the words that the next one lacks; none for the last.
        model_digest: of the model that computed the layers.
    """

    translation: Translation
    layers: tuple[Translation, ...]
    added: tuple[Places, ...]
    removed: tuple[Places, ...]
    model_digest: str = ""

    @property
    def settled_at(self) -> int:
        """The number of encoder layers from which on the greedy translation stays the same."""
        texts = [layer.predicted_ids for layer in self.layers]
        return next(depth for depth in range(len(texts)) if len(set(texts[depth:])) == 1)


@checks_arguments
def decoder_lens(
    translator: Translator,
    translation: Translation,
    *,
    should_stop: Callable[[], bool] = lambda: False,
) -> DecoderLens:
    """The greedy translations from each encoder layer, under the translation's experiment.

    A beam or a given target is replaced by greedy decoding. Each translation has at most 2 S + 10
    tokens. Not thread-safe with other uses of the model.

    Args:
        translator: provides the model.
        translation: of the sentence, by this model or by one with the same vocabularies.
        should_stop: called before each decoding step.

    Raises:
        TranslationStoppedError: `should_stop` returned True.
        ExperimentError, AnalysisError: the experiment does not fit this model, or the vocabularies
            differ.
    """
    translator.check_vocabularies(translation)
    model = translator.model
    applicable = [
        intervention
        for intervention in translation.experiment.interventions
        if not isinstance(intervention, CausalMaskLifted)
    ]
    compiled = translator.compile(
        replace(translation.experiment, output=Greedy(), interventions=tuple(applicable))
    )
    source_ids = compiled.source.ids
    compiled = replace(compiled, max_steps=min(compiled.max_steps, 2 * len(source_ids) + 10))
    batch = [compiled] * (len(model.encoder_layers) + 1)
    interventions = compile_interventions(
        model, [sentence.experiment.changes for sentence in batch]
    )
    depths = [
        "encoder.embedding",
        *(f"encoder.{layer}.feed_forward.after" for layer in range(len(batch) - 2)),
    ]
    with torch.inference_mode():
        own = compile_interventions(model, [compiled.experiment.changes])
        pair = PairPass(model, source_ids, [translator.rules.start_id], own)
        states = trace_sites(pair, [*depths, "encoder.output"])
        outputs = [
            *(model.encoder_norm(states[depth]) for depth in depths),
            states["encoder.output"],
        ]
        source = torch.tensor([source_ids] * len(batch), device=model.output.weight.device)
        encoding = Encoding(
            source, torch.cat(outputs), model.source_mask(source), None, interventions
        )
    current = translator.current_model()
    digest = translator.digest
    layers = translator.runner.run(
        current, digest, batch, False, should_stop, translation, encoding
    )
    return DecoderLens(
        translation,
        tuple(layers),
        ((), *(_lacking(after, before) for before, after in pairwise(layers))),
        (*(_lacking(before, after) for before, after in pairwise(layers)), ()),
        digest,
    )


def _lacking(translation: Translation, other: Translation) -> Places:
    """The words of `translation` outside the longest common subsequence with `other`."""
    words, others = (
        [word.text for word in compared.target_words] for compared in (translation, other)
    )
    common = {index for index, _ in common_subsequence(words, others)}
    return tuple(index for index in range(len(words)) if index not in common)
