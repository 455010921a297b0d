"""Cross-entropy and perplexity of a model on a corpus, teacher-forced."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch.nn import functional

from core.corpora.batches import Batch
from core.model.transformer import Transformer


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


def corpus_loss(model: Transformer, batches: Iterable[Batch]) -> CorpusLoss:
    """The model's loss over `batches`, without dropout. The model is left in the mode it was in."""
    was_training = model.training
    model.eval()
    sums, counts = [], []
    with torch.inference_mode():
        for batch in batches:
            logits = model(batch.source, batch.target[:, :-1]).logits
            loss = functional.cross_entropy(
                logits.flatten(0, 1).float(),
                batch.target[:, 1:].flatten(),
                ignore_index=model.padding_id,
                reduction="sum",
            )
            sums.append(float(loss))
            counts.append(batch.num_target_tokens)
    model.train(was_training)
    return CorpusLoss(
        token_weighted=sum(sums) / sum(counts),
        batch_mean=sum(total / count for total, count in zip(sums, counts, strict=True)) / len(sums),
        num_tokens=sum(counts),
    )
