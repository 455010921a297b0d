"""The training loss and its gradients: whole batches by micro-batches, on one or more devices.

Cross-entropy with label smoothing as in The Annotated Transformer, R-Drop, and distillation. Shape
legend: `core.extensions.training.corpora.batches`.
"""

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

from ...config import TrainingConfig
from ...errors import TrainingError
from ...inference.products import product
from ...model.transformer import Transformer
from .corpora.batches import Batch, regrouped
from .device_choices import (
    HiddenStates,
    PrecisionChoice,
    max_tokens_at_once,
    tokens_per_pass,
)
from .distributed import FAILED, GO, STOP, World
from .graphs import GraphedBackward
from .kernels import product_serves, training_kernels


def smoothed_loss(logits: Tensor, targets: Tensor, smoothing: float, padding_id: int) -> Tensor:
    """KL divergence from the smoothed target distribution to the model's, summed over all rows.

    The smoothed distribution gives 1 − ε to the true word, ε / (V − 2) to every other word, nothing
    to padding (Szegedy et al. 2016; The Annotated Transformer). With ε = 0 it is the plain
    cross-entropy. Computed from one log-sum-exp of the logits: the distribution itself is never
    formed.

    Args:
        logits: [N, V], rows of real tokens only.
        targets: [N], none of them padding.
        smoothing: ε, in [0, 1).
        padding_id: the id that is never predicted.

    Returns:
        A scalar, in nats.
    """
    normalizer = logits.logsumexp(dim=-1).sum()
    return _smoothed_loss(logits, normalizer, targets, smoothing, padding_id, len(targets))


def _smoothed_loss(
    logits: Tensor,
    normalizer: Tensor,
    targets: Tensor,
    smoothing: float,
    padding_id: int,
    num_tokens: int | Tensor,
) -> Tensor:
    """The same with known log-sum-exps of the rows: `normalizer` is their sum.

    Rows of zeros do not count.
    """
    of_truth = logits.gather(1, targets[:, None]).sum()
    if smoothing == 0:
        return normalizer - of_truth
    share = smoothing / (logits.size(1) - 2)
    # Padding is left out rather than subtracted: so a logit of −∞ there has no effect, 0 · log 0 =
    # 0.
    of_others = logits[:, :padding_id].sum() + logits[:, padding_id + 1 :].sum() - of_truth
    negative_entropy = (1 - smoothing) * math.log(1 - smoothing) + smoothing * math.log(share)
    return (
        normalizer - (1 - smoothing) * of_truth - share * of_others + num_tokens * negative_entropy
    )


@dataclass(frozen=True, eq=False)
class SoftTargets:
    """Predictions of teachers for the tokens of a batch (word-level distillation, Kim & Rush 2016).

    Attributes:
        share: λ, in (0, 1]: weight of the divergence from the teachers' distribution to the model's
            in the loss.
        outputs: of each teacher its hidden states [N, its width], and weight [V, its width] and
            bias [V] of its output layer. Their distributions are averaged.
    """

    share: float
    outputs: Sequence[tuple[Tensor, Tensor, Tensor | None]]

    def distribution(self, rows: slice | Tensor) -> Tensor:
        """The mean distribution for these tokens: [rows, V]."""
        distributions = (
            functional.linear(hidden[rows].to(weight.dtype), weight, bias).softmax(dim=-1)
            for hidden, weight, bias in self.outputs
        )
        total = next(distributions)
        for distribution in distributions:
            total += distribution
        return total.div_(len(self.outputs))


def output_layer_loss(  # noqa: PLR0913 — all but the first six have defaults
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    targets: Tensor,
    smoothing: float,
    padding_id: int,
    r_drop: float = 0.0,
    soft_targets: SoftTargets | None = None,
    real: Tensor | None = None,
) -> Tensor:
    """`smoothed_loss` of the logits hidden · weightᵀ + bias, without ever holding all of them.

    Rows are processed `_CHUNK_ROWS` at a time, gradients included: the logits of a batch are larger
    than any cache, and writing and reading them several times costs more than the arithmetic. Under
    `torch.autocast` the three products use its format; softmax, loss and the gradient of the weight
    stay 32-bit.

    Args:
        hidden: [N, D], rows of real tokens only, unless `real` marks them.
        weight, bias: of the output layer, [V, D] and [V].
        targets: [N].
        smoothing: ε, in [0, 1).
        padding_id: the id that is never predicted.
        r_drop: α of R-Drop (Liang et al. 2021). If it is above 0, `hidden` and `targets` hold two
            passes over the same tokens, one below the other, and the loss is half of the paper's,
            so that it can be compared with that of one pass: ½ (L₁ + L₂) + α / 4 · (KL(P₁ ‖ P₂) +
            KL(P₂ ‖ P₁)), summed over the tokens.
        soft_targets: with them the loss is (1 − λ) L + λ KL(T ‖ P), T the teachers' distribution;
            not with R-Drop.
        real: [N], True for the rows that count; None for all.

    Returns:
        A scalar, in nats; differentiable once with respect to hidden, weight and bias.
    """
    objective = _Objective(smoothing, padding_id, r_drop, soft_targets, real)
    loss: Tensor = _OutputLayerLoss.apply(hidden, weight, bias, targets, objective)
    return loss


_CHUNK_ROWS = {"cpu": 256}
_CHUNK_ROWS_HALVED = {"cpu": 512}
"""For 16-bit formats: the weight is packed again for each product, which pays off only for more
rows."""
_CHUNK_ROWS_ELSEWHERE = 8192
_ROWS_IN_STEPS_OF = 32


@dataclass(frozen=True, eq=False)
class _Objective:
    """The loss of some tokens as a function of their logits; the fields are those of
    `output_layer_loss`.
    """

    smoothing: float
    padding_id: int
    r_drop: float
    soft_targets: SoftTargets | None
    real: Tensor | None

    def loss_and_gradient(
        self, logits: Tensor, targets: Tensor, rows: slice | Tensor
    ) -> tuple[Tensor, Tensor]:
        """The summed loss of these rows, and its gradient with respect to the logits [R, V].

        The logits are overwritten.
        """
        soft = self.soft_targets
        of_data = 1.0 if soft is None else 1 - soft.share
        share = of_data * self.smoothing / (logits.size(1) - 2)
        gradient, normalizers = _softmax_and_normalizers(logits)
        counts = None if self.real is None else self.real[rows, None]
        if counts is not None:
            logits *= counts
            normalizers *= counts
        num_tokens = len(logits) if counts is None else counts.sum()
        loss = _smoothed_loss(
            logits, normalizers.sum(), targets, self.smoothing, self.padding_id, num_tokens
        )
        if self.r_drop:
            divergence, pull = _divergence_of_halves(logits.sub_(normalizers), gradient)
            loss = 0.5 * loss + self.r_drop / 4 * divergence
        if soft is not None:
            soft_distribution = soft.distribution(rows)
            if counts is not None:
                soft_distribution *= counts
            negative_entropy = torch.xlogy(soft_distribution, soft_distribution).sum()
            divergence = negative_entropy - (soft_distribution * logits).sum() + normalizers.sum()
            loss = of_data * loss + soft.share * divergence
        # the model's distribution minus the smoothed one
        if self.smoothing:
            gradient -= share
            gradient[:, self.padding_id] += share
        gradient.scatter_add_(
            1,
            targets[:, None],
            gradient.new_full((len(gradient), 1), share + of_data * (self.smoothing - 1)),
        )
        if soft is not None:
            gradient.sub_(soft_distribution, alpha=soft.share)
        if self.r_drop:
            gradient.mul_(0.5).add_(pull, alpha=self.r_drop / 4)
        if counts is not None:
            gradient *= counts
        return loss, gradient


class _OutputLayerLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        objective: _Objective,
    ) -> Tensor:
        """The loss; its gradients are saved for `backward`."""
        kind = hidden.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
        total = hidden.new_zeros((), dtype=torch.float32)
        hidden_gradient, weight_gradient = torch.empty_like(hidden), torch.zeros_like(weight)
        bias_gradient = None if bias is None else torch.zeros_like(bias)
        is_halved = dtype.itemsize < weight.dtype.itemsize
        size = (_CHUNK_ROWS_HALVED if is_halved else _CHUNK_ROWS).get(kind, _CHUNK_ROWS_ELSEWHERE)
        with torch.autocast(kind, enabled=False):
            small_hidden = hidden.to(dtype)
            small_weight = weight.to(dtype)
            multiply = product if product_serves(small_hidden) else functional.linear
            for rows in (
                _chunks(len(hidden), size, hidden.device)
                if objective.r_drop
                else _slices(len(hidden), size)
            ):
                here = small_hidden[rows]
                padded = _with_rows_added(here)
                logits = multiply(padded, small_weight, None if is_halved else bias)[
                    : len(here)
                ].to(weight.dtype)
                if is_halved and bias is not None:
                    logits += bias
                loss, gradient = objective.loss_and_gradient(logits, targets[rows], rows)
                total += loss
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
        return hidden * outer, weight * outer, None if bias is None else bias * outer, None, None


def _slices(number: int, size: int) -> Iterator[slice]:
    """Slices of up to `size` rows."""
    return (slice(first, first + size) for first in range(0, number, size))


def _with_rows_added(rows: Tensor) -> Tensor:
    """`rows`, padded with zeros on a CPU: a batch may end with any number of rows, and each number
    needs a kernel.
    """
    missing = -len(rows) % _ROWS_IN_STEPS_OF
    return (
        functional.pad(rows, (0, 0, 0, missing)) if missing and rows.device.type == "cpu" else rows
    )


def _chunks(number: int, size: int, device: torch.device) -> Iterator[Tensor]:
    """Indices of up to `size` rows at a time; the second half are the tokens of the first half in
    the other pass.
    """
    half = number // 2
    for first in range(0, half, size // 2):
        one = torch.arange(first, min(first + size // 2, half), device=device)
        yield torch.cat((one, one + half))


def _softmax_and_normalizers(logits: Tensor) -> tuple[Tensor, Tensor]:
    """The softmax of each row, and the log-sum-exps [N, 1], read off it at the largest logit.

    There the probability is at least 1 / V, so its logarithm is exact to rounding; a pass over the
    logits is saved.
    """
    largest, index = logits.max(dim=-1, keepdim=True)
    probabilities = logits.softmax(dim=-1)
    return probabilities, largest - probabilities.gather(1, index).log()


def _divergence_of_halves(
    log_probabilities: Tensor, probabilities: Tensor
) -> tuple[Tensor, Tensor]:
    """KL(P ‖ Q) + KL(Q ‖ P) summed over the rows P of the upper half and Q of the lower half, and
    its gradient.

    Args:
        log_probabilities, probabilities: [2 N, V].

    Returns:
        A scalar, and its gradient with respect to the logits [2 N, V]: for P it is P (log P/Q −
            KL(P ‖ Q)) + P − Q.
    """
    (log_p, log_q), (p, q) = log_probabilities.chunk(2), probabilities.chunk(2)
    ratio = log_p - log_q
    difference = p - q
    from_p = (p * ratio).sum(dim=-1, keepdim=True)
    from_q = -(q * ratio).sum(dim=-1, keepdim=True)
    pull = torch.cat((p * (ratio - from_p) + difference, q * (-ratio - from_q) - difference))
    return (from_p + from_q).sum(), pull


def smoothed_distribution(
    target: int, num_tokens: int, smoothing: float, padding_id: int
) -> Tensor:
    """The target distribution when the true token is `target`: [V], all zero for padding."""
    if target == padding_id:
        return torch.zeros(num_tokens)
    distribution = torch.full((num_tokens,), smoothing / (num_tokens - 2))
    distribution[target] = 1 - smoothing
    distribution[padding_id] = 0.0
    return distribution


_NAMES = ("forward_sync_buffers", "broadcast_buffers")  # of newer and older versions of PyTorch
_CONSTANTS_STAY: dict[str, Any] = {
    next(
        name for name in _NAMES if name in inspect.signature(DistributedDataParallel).parameters
    ): False
}
"""Whether constants are broadcast at each step; ours are identical in every process."""


class LossSum(nn.Module):
    """The loss of a batch, summed over its target tokens; padding is removed before the output
    layer.

    Args:
        model: whose loss it is.
        hidden_states: the model's own method, or a compiled form of it.
        training: label smoothing, R-Drop (above 0 the batch is read twice in one pass, one copy
            below the other), the token cutoff of the second copy, and the share of the teachers in
            the loss.
        teachers: models whose distribution is learned, too; they do not change.
        keeps_padding: compute the output layer for padding, too, without counting it: then all
            shapes follow from those of the batch.
        unknown_ids: the ids of unknown tokens of source and target, for the token cutoff.
    """

    def __init__(
        self,
        model: Transformer,
        hidden_states: HiddenStates,
        training: TrainingConfig,
        teachers: Sequence[Transformer] = (),
        *,
        keeps_padding: bool = False,
        unknown_ids: tuple[int | None, int | None] = (None, None),
    ) -> None:
        super().__init__()
        self._unknown_ids = unknown_ids
        self.keeps_padding = keeps_padding
        # in a tuple, so that their weights do not belong to this module
        self._teachers = tuple(teachers)
        self.model = model
        self.hidden_states = hidden_states
        self.settings = training  # `training` is a flag of every module

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """A scalar, in nats, for the ids [B, S] and [B, T]."""
        padding_id, layer = self.model.padding_id, self.model.output
        read = target[:, :-1]
        targets = target[:, 1:].flatten()
        if self.settings.r_drop:
            of_source, of_target = self._unknown_ids
            source, read = self._twice(source, of_source), self._twice(read, of_target)
            targets = targets.repeat(2)
        real = targets != padding_id
        rows = slice(None) if self.keeps_padding else real
        return output_layer_loss(
            self.hidden_states(source, read).flatten(0, 1)[rows],
            layer.weight,
            layer.bias,
            targets[rows],
            self.settings.label_smoothing,
            padding_id,
            self.settings.r_drop,
            self._soft_targets(source, read, rows),
            real if self.keeps_padding else None,
        )

    def _twice(self, ids: Tensor, unknown_id: int | None) -> Tensor:
        """The ids [B, T] and below them a copy, of which the cutoff makes some unknown: [2 B,
        T].
        """
        if not self.settings.token_cutoff or unknown_id is None:
            return ids.repeat(2, 1)
        is_drawn = torch.rand(ids.shape, device=ids.device) < self.settings.token_cutoff
        return torch.cat(
            (ids, ids.masked_fill(is_drawn & (ids != self.model.padding_id), unknown_id))
        )

    def _soft_targets(
        self, source: Tensor, read: Tensor, rows: Tensor | slice
    ) -> SoftTargets | None:
        """Predictions of the teachers after the tokens read [B, T], for these rows of [B T]; None
        without teachers.
        """
        if not self._teachers:
            return None
        with torch.no_grad():
            return SoftTargets(
                self.settings.distillation,
                [
                    (
                        teacher.hidden_states(source, read).flatten(0, 1)[rows],
                        teacher.output.weight,
                        teacher.output.bias,
                    )
                    for teacher in self._teachers
                ],
            )


class Gradients:
    """Computes the gradients of a model; each target token of a step has the same weight.

    Args:
        loss_sum: of a model on `device`. If it keeps padding, batches are computed by CUDA graphs.
        device: of the model.
        precision: number format of the matrix products.
        world: the processes that share the work; of a batch, process r of n takes the pairs r, r +
            n, r + 2n …

    Attributes:
        max_tokens: padded tokens computed at once; None for whole batches.
    """

    def __init__(
        self, loss_sum: LossSum, device: torch.device, precision: PrecisionChoice, world: World
    ) -> None:
        self._device = device
        self._precision = precision
        self._world = world
        self._padding_id = loss_sum.model.padding_id
        self.max_tokens = max_tokens_at_once(loss_sum.model.num_parameters, device)
        self._num_passes = 2 if loss_sum.settings.r_drop else 1
        self._loss_sum = loss_sum
        self._exchanging: DistributedDataParallel | None = None
        if world.size > 1:
            ids = [device.index] if device.type == "cuda" else None
            self._exchanging = DistributedDataParallel(
                self._loss_sum, device_ids=ids, **_CONSTANTS_STAY
            )
        self._graphs: GraphedBackward | None = None
        if loss_sum.keeps_padding:
            max_length = loss_sum.model.config.max_positions
            self._graphs = GraphedBackward(self._add, self._padding_id, max_length, device)

    @property
    def keeps_tensors(self) -> bool:
        """Whether gradients must stay the same tensors from step to step."""
        return self._graphs is not None

    def fill(self, batches: Sequence[Batch], should_stop: Callable[[], object]) -> float | None:
        """Adds the gradients of the mean loss of all target tokens in `batches` to those of the
        parameters.

        Args:
            batches: for all processes together; each computes its share.
            should_stop: called between micro-batches.

        Returns:
            The loss per target token; None if `should_stop` interrupted it, in any process.

        Raises:
            TrainingError: another process failed.
        """
        num_tokens = sum(batch.num_target_tokens for batch in batches)
        *early, last = self._parts(batches)
        total = torch.zeros((), device=self._device)
        outcome = GO
        failure = None
        try:
            with self._without_synchronization():
                for batch, weight in early:
                    total += self._backward(batch, weight / num_tokens)
                    if should_stop():
                        outcome = STOP
                        break
        except Exception as error:  # raised once the others, which are waiting, know of it
            outcome, failure = FAILED, error
        outcome = self._world.all_reduce_max(outcome)
        if failure is not None:
            raise failure
        if outcome == FAILED:
            raise TrainingError(
                "Another process of this run failed and reports why. Fix the problem, then "
                "resume the run."
            )
        if outcome == STOP:
            return None
        batch, weight = last
        total += self._backward(batch, weight / num_tokens)
        return self._world.all_reduce_sum(total)

    def _parts(self, batches: Sequence[Batch]) -> list[tuple[Batch, float]]:
        """Micro-batches of this process and their weights; at least one, because the other
        processes wait for it.
        """
        parts = [(part, 1.0) for part in self._micro_batches(list(self._shares(batches)))]
        return parts or [(batches[0].rows(slice(0, 1), self._padding_id), 0.0)]

    def _shares(self, batches: Sequence[Batch]) -> Iterator[Batch]:
        if self._world.size == 1:
            yield from batches
            return
        for batch in batches:
            if len(batch.source) > self._world.rank:
                yield batch.rows(slice(self._world.rank, None, self._world.size), self._padding_id)

    def _micro_batches(self, batches: list[Batch]) -> list[Batch]:
        """On a CPU of similar lengths: padding takes as long as words."""
        if self.max_tokens is None or not batches:
            return batches
        num = self._num_passes
        model = self._loss_sum.model
        return regrouped(
            batches,
            self.max_tokens // num,
            tokens_per_pass(model.num_parameters) / num,
            self._padding_id,
        )

    def _backward(self, batch: Batch, weight: float) -> Tensor:
        """Adds the gradients of a micro-batch; returns its share of the loss."""
        if self._graphs is not None:
            return self._graphs(batch, weight)
        batch = batch.to(self._device)
        return self._add(batch.source, batch.target, weight)

    def _add(self, source: Tensor, target: Tensor, weight: float | Tensor) -> Tensor:
        """The same for ids on the device."""
        with self._kernels(), self._precision.computing(self._device):
            loss: Tensor = (self._exchanging or self._loss_sum)(source, target)
        loss = loss * weight
        (loss * self._world.size).backward()  # gradients are averaged over the processes
        return loss.detach()

    def _kernels(self) -> AbstractContextManager[object]:
        """The context with the faster kernels; none for a compiled model, which has its own."""
        is_compiled = self._loss_sum.hidden_states != self._loss_sum.model.hidden_states
        return nullcontext() if is_compiled else training_kernels(self._device)

    def _without_synchronization(self) -> AbstractContextManager[None]:
        return nullcontext() if self._exchanging is None else self._exchanging.no_sync()
