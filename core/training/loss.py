"""The training loss: cross-entropy with label smoothing as in The Annotated Transformer, R-Drop, and distillation."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from augenmerk.core.inference.products import product
from augenmerk.core.training.kernels import product_serves


def smoothed_loss(logits: Tensor, targets: Tensor, smoothing: float, padding_id: int) -> Tensor:
    """KL divergence from the smoothed target distribution to the model's, summed over all rows.

    The smoothed distribution gives 1 − ε to the true word, ε / (V − 2) to every other word, nothing to padding
    (Szegedy et al. 2016; The Annotated Transformer). With ε = 0 it is the plain cross-entropy. Computed from one
    log-sum-exp of the logits: the distribution itself is never formed.

    Args:
        logits: [N, V], rows of real tokens only.
        targets: [N], none of them padding.
        smoothing: ε, in [0, 1).
        padding_id: the id that is never predicted.

    Returns:
        A scalar, in nats.
    """
    return _smoothed_loss(logits, logits.logsumexp(dim=-1).sum(), targets, smoothing, padding_id)


def _smoothed_loss(logits: Tensor, normalizer: Tensor, targets: Tensor, smoothing: float, padding_id: int) -> Tensor:
    """The same with known log-sum-exps of the rows: `normalizer` is their sum."""
    of_truth = logits.gather(1, targets[:, None]).sum()
    if smoothing == 0:
        return normalizer - of_truth
    share = smoothing / (logits.size(1) - 2)
    # Padding is left out rather than subtracted: so a logit of −∞ there has no effect, 0 · log 0 = 0.
    of_others = logits[:, :padding_id].sum() + logits[:, padding_id + 1 :].sum() - of_truth
    negative_entropy = (1 - smoothing) * math.log(1 - smoothing) + smoothing * math.log(share)
    return normalizer - (1 - smoothing) * of_truth - share * of_others + len(targets) * negative_entropy


@dataclass(frozen=True, eq=False)
class SoftTargets:
    """What teachers predict for the tokens of a batch (word-level distillation, Kim & Rush 2016).

    Attributes:
        share: λ, in (0, 1]: how much of the loss is the divergence from the teachers' distribution to the model's.
        outputs: of each teacher its hidden states [N, its width], and weight [V, its width] and bias [V] of its output
            layer. Their distributions are averaged.
    """

    share: float
    outputs: Sequence[tuple[Tensor, Tensor, Tensor | None]]

    def distribution(self, rows: slice | Tensor) -> Tensor:
        """The mean distribution for these tokens: [rows, V]."""
        each = (
            functional.linear(hidden[rows].to(weight.dtype), weight, bias).softmax(dim=-1)
            for hidden, weight, bias in self.outputs
        )
        total = next(each)
        for distribution in each:
            total += distribution
        return total.div_(len(self.outputs))


def output_layer_loss(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    smoothing: float,
    padding_id: int,
    r_drop: float = 0.0,
    soft_targets: SoftTargets | None = None,
) -> Tensor:
    """`smoothed_loss` of the logits hidden · weightᵀ + bias, without ever holding all of them.

    Rows are processed `_CHUNK_ROWS` at a time, gradients included: the logits of a batch are larger than any cache, and
    writing and reading them several times costs more than the arithmetic. Under `torch.autocast` the three products
    use its format; softmax, loss and the gradient of the weight stay 32-bit.

    Args:
        hidden: [N, D], rows of real tokens only.
        weight, bias: of the output layer, [V, D] and [V].
        targets: [N].
        smoothing: ε, in [0, 1).
        padding_id: the id that is never predicted.
        r_drop: α of R-Drop (Liang et al. 2021). If it is above 0, `hidden` and `targets` hold two passes over the same
            tokens, one below the other, and the loss is half of the paper's, so that it can be compared with that of
            one pass: ½ (L₁ + L₂) + α / 4 · (KL(P₁ ‖ P₂) + KL(P₂ ‖ P₁)), summed over the tokens.
        soft_targets: with them the loss is (1 − λ) L + λ KL(T ‖ P), T the teachers' distribution; not with R-Drop.

    Returns:
        A scalar, in nats; differentiable once with respect to hidden, weight and bias.
    """
    loss: Tensor = _OutputLayerLoss.apply(hidden, weight, bias, targets, smoothing, padding_id, r_drop, soft_targets)
    return loss


_CHUNK_ROWS = {"cpu": 256}
_CHUNK_ROWS_HALVED = {"cpu": 512}
"""For 16-bit formats: the weight is packed again for each product, which pays off only for more rows."""
_CHUNK_ROWS_ELSEWHERE = 8192
_ROWS_IN_STEPS_OF = 32


class _OutputLayerLoss(torch.autograd.Function):
    @staticmethod
    def forward(  # noqa: PLR0913 — autograd knows tensors by their place
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        smoothing: float,
        padding_id: int,
        r_drop: float,
        soft_targets: SoftTargets | None,
    ) -> Tensor:
        """The loss; its gradients are saved for `backward`."""
        kind = hidden.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
        of_data = 1.0 if soft_targets is None else 1 - soft_targets.share
        share = of_data * smoothing / (weight.size(0) - 2)
        total = hidden.new_zeros((), dtype=torch.float32)
        hidden_gradient, weight_gradient = torch.empty_like(hidden), torch.zeros_like(weight)
        bias_gradient = None if bias is None else torch.zeros_like(bias)
        is_halved = dtype.itemsize < weight.dtype.itemsize
        size = (_CHUNK_ROWS_HALVED if is_halved else _CHUNK_ROWS).get(kind, _CHUNK_ROWS_ELSEWHERE)
        with torch.autocast(kind, enabled=False):
            small_hidden, small_weight = hidden.to(dtype), weight.to(dtype)
            multiply = product if product_serves(small_hidden) else functional.linear
            for rows in _chunks(len(hidden), size, hidden.device) if r_drop else _slices(len(hidden), size):
                here = small_hidden[rows]
                padded = _with_rows_added(here)
                logits = multiply(padded, small_weight, None if is_halved else bias)[: len(here)].to(weight.dtype)
                if is_halved and bias is not None:
                    logits += bias
                gradient, normalizers = _softmax_and_normalizers(logits)
                loss = _smoothed_loss(logits, normalizers.sum(), targets[rows], smoothing, padding_id)
                if r_drop:
                    divergence, pull = _divergence_of_halves(logits.sub_(normalizers), gradient)
                    loss = 0.5 * loss + r_drop / 4 * divergence
                if soft_targets is not None:
                    wanted = soft_targets.distribution(rows)
                    divergence = torch.xlogy(wanted, wanted).sum() - (wanted * logits).sum() + normalizers.sum()
                    loss = of_data * loss + soft_targets.share * divergence
                total += loss
                # d loss / d logits: the model's distribution minus the smoothed one
                if smoothing:
                    gradient -= share
                    gradient[:, padding_id] += share
                gradient.scatter_add_(
                    1, targets[rows, None], gradient.new_full((len(gradient), 1), share + of_data * (smoothing - 1))
                )
                if soft_targets is not None:
                    gradient.sub_(wanted, alpha=soft_targets.share)
                if r_drop:
                    gradient.mul_(0.5).add_(pull, alpha=r_drop / 4)
                small_gradient = _with_rows_added(gradient.to(dtype))
                of_hidden = multiply(small_gradient, small_weight.t())[: len(here)]
                hidden_gradient[rows] = of_hidden.to(hidden.dtype)
                weight_gradient += multiply(small_gradient.t(), padded.t())
                if bias_gradient is not None:
                    bias_gradient += gradient.sum(dim=0)
        ctx.save_for_backward(hidden_gradient, weight_gradient, bias_gradient)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """The saved gradients, times the incoming one."""
        (outer,) = gradients
        hidden, weight, bias = ctx.saved_tensors
        return hidden * outer, weight * outer, None if bias is None else bias * outer, None, None, None, None, None


def _slices(number: int, size: int) -> Iterator[slice]:
    """Up to `size` rows at a time."""
    return (slice(first, first + size) for first in range(0, number, size))


def _with_rows_added(rows: Tensor) -> Tensor:
    """With rows of zeros below, on a CPU: the last rows of a batch may be any number, and a kernel is made for each."""
    missing = -len(rows) % _ROWS_IN_STEPS_OF
    return functional.pad(rows, (0, 0, 0, missing)) if missing and rows.device.type == "cpu" else rows


def _chunks(number: int, size: int, device: torch.device) -> Iterator[Tensor]:
    """Indices of up to `size` rows at a time; the second half are the tokens of the first half in the other pass."""
    half = number // 2
    for first in range(0, half, size // 2):
        one = torch.arange(first, min(first + size // 2, half), device=device)
        yield torch.cat((one, one + half))


def _softmax_and_normalizers(logits: Tensor) -> tuple[Tensor, Tensor]:
    """The softmax of each row, and the rows' log-sum-exps [N, 1], read off the softmax at the largest logit.

    There the probability is at least 1 / V, so its logarithm is exact to rounding; a pass over the logits is saved.
    """
    largest, place = logits.max(dim=-1, keepdim=True)
    probabilities = logits.softmax(dim=-1)
    return probabilities, largest - probabilities.gather(1, place).log()


def _divergence_of_halves(log_probabilities: Tensor, probabilities: Tensor) -> tuple[Tensor, Tensor]:
    """KL(P ‖ Q) + KL(Q ‖ P) summed over the rows P of the upper half and Q of the lower half, and its gradient.

    Args:
        log_probabilities, probabilities: [2 N, V].

    Returns:
        A scalar, and its gradient with respect to the logits [2 N, V]: for P it is P (log P/Q − KL(P ‖ Q)) + P − Q.
    """
    (log_p, log_q), (p, q) = log_probabilities.chunk(2), probabilities.chunk(2)
    ratio, difference = log_p - log_q, p - q
    from_p, from_q = (p * ratio).sum(dim=-1, keepdim=True), -(q * ratio).sum(dim=-1, keepdim=True)
    pull = torch.cat((p * (ratio - from_p) + difference, q * (-ratio - from_q) - difference))
    return (from_p + from_q).sum(), pull


def smoothed_distribution(target: int, num_tokens: int, smoothing: float, padding_id: int) -> Tensor:
    """The target distribution when the true token is `target`: [V], all zero for padding."""
    if target == padding_id:
        return torch.zeros(num_tokens)
    distribution = torch.full((num_tokens,), smoothing / (num_tokens - 2))
    distribution[target] = 1 - smoothing
    distribution[padding_id] = 0.0
    return distribution
