"""Cross-entropy and perplexity of a model on a corpus, teacher-forced."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch.nn import functional

from augenmerk.core.corpora.batches import Batch, collate, validation_batches
from augenmerk.core.corpora.prepared import EncodedPairs, encode_lines, encode_pairs
from augenmerk.core.inference.compiled import Model, plain_form
from augenmerk.core.model.transformer import compile_head_factors, require_finite
from augenmerk.core.text.codec import split_lines
from augenmerk.core.text.tokenizers import make_tokenizer
from augenmerk.core.translation.experiment import HeadScaled
from augenmerk.core.translation.translator import Translator


@dataclass(frozen=True)
class CorpusLoss:
    """Natural-log cross-entropies per target token, without label smoothing.

    Attributes:
        token_weighted: every token counts the same.
        batch_mean: mean of the batches' means, as the published `notebook` curve counts it.
        num_tokens: predictions counted.
    """

    token_weighted: float
    batch_mean: float
    num_tokens: int

    @property
    def perplexity(self) -> float:
        """exp of the token-weighted loss."""
        return math.exp(min(self.token_weighted, 700.0))


def corpus_loss(model: Model, batches: Iterable[Batch], scalings: Sequence[HeadScaled] = ()) -> CorpusLoss:
    """The model's loss over `batches`, without dropout. The mode of the model is restored.

    Raises:
        AnalysisError: a scaled head does not exist.
    """
    factors = {scaling.head: scaling.factor for scaling in scalings}
    plain = plain_form(model)
    was_training = plain.training
    plain.eval()
    sums, counts = [], []
    with torch.inference_mode():
        for batch in batches:
            interventions = compile_head_factors(plain, factors, len(batch.source))
            encoding = model.encode(batch.source, interventions=interventions)
            logits = model.decode(encoding, batch.target[:, :-1]).logits
            loss = functional.cross_entropy(
                logits.flatten(0, 1).float(),
                batch.target[:, 1:].flatten(),
                ignore_index=plain.padding_id,
                reduction="sum",
            )
            sums.append(float(loss))
            counts.append(batch.num_target_tokens)
    plain.train(was_training)
    return CorpusLoss(
        token_weighted=sum(sums) / sum(counts),
        batch_mean=sum(total / count for total, count in zip(sums, counts, strict=True)) / len(sums),
        num_tokens=sum(counts),
    )


def reference_loss(
    translator: Translator, sources: Sequence[str], references: Sequence[str], scalings: Sequence[HeadScaled] = ()
) -> CorpusLoss | None:
    """The loss of `references`, teacher-forced, in the batches of the model's own training settings.

    Sources are read as in translation, with restored spellings (`TextCodec.restoring_spelling`), unlike in training.
    For a checkpoint of `notebook` on the test split, `batch_mean` corresponds to the published test loss.

    Args:
        sources, references: of the same length.
        scalings: heads that are scaled or off.

    Returns:
        The loss over the pairs that fit into the model's positions; None if there is none.

    Raises:
        NonFiniteError: the model's logits are not finite.
    """
    run, codecs, model = translator.run_config, translator.checkpoint.codecs, translator.model
    config, room = run.data, run.model.max_positions
    if config.is_imported:
        encoded = encode_lines(codecs, sources, references)
    else:
        source_words = split_lines(sources, make_tokenizer(config, config.source_language), config.source_case)
        target_words = split_lines(references, make_tokenizer(config, config.target_language), config.target_case)
        encoded = encode_pairs(codecs, config, list(source_words), list(target_words))
    fitting = [
        (source, target)
        for source, target in zip(encoded.source, encoded.target, strict=True)
        if len(source) <= room and 2 <= len(target) <= room + 1
    ]
    if not fitting:
        return None
    pairs = EncodedPairs([source for source, _ in fitting], [target for _, target in fitting])

    def batches() -> Iterator[Batch]:
        for indices in validation_batches(pairs, run.training):
            yield collate(pairs, indices, model.padding_id).to(translator.device.name)

    loss = corpus_loss(translator.current_model(), batches(), scalings)
    if not math.isfinite(loss.token_weighted):
        factors = {scaling.head: scaling.factor for scaling in scalings}
        for batch in batches():
            with torch.inference_mode():
                encoding = model.encode(
                    batch.source, interventions=compile_head_factors(model, factors, len(batch.source))
                )
                read = batch.target[:, :-1]
                require_finite(model, encoding, read, model.decode(encoding, read).logits)
    return loss
