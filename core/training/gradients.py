"""Gradients of whole batches, by micro-batches, on one or more devices. Shape legend: `core.corpora.batches`."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from augenmerk.core.config import TrainingConfig
from augenmerk.core.corpora.batches import Batch
from augenmerk.core.errors import TrainingError
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.training.device_choices import HiddenStates, PrecisionChoice, max_tokens_at_once
from augenmerk.core.training.distributed import FAILED, GO, STOP, World
from augenmerk.core.training.kernels import training_kernels
from augenmerk.core.training.loss import SoftTargets, output_layer_loss

_NAMES = ("forward_sync_buffers", "broadcast_buffers")  # of newer and older versions of PyTorch
_CONSTANTS_STAY: dict[str, Any] = {
    next(name for name in _NAMES if name in inspect.signature(DistributedDataParallel).parameters): False
}
"""Whether constants are broadcast at each step; ours are identical in every process."""


class LossSum(nn.Module):
    """The loss of a batch, summed over its target tokens; padding is removed before the output layer.

    Args:
        model: whose loss it is.
        hidden_states: the model's own method, or a compiled form of it.
        training: label smoothing, R-Drop (above 0 the batch is read twice in one pass, one copy below the other) and
            the share of the teachers in the loss.
        teachers: models whose distribution is learned, too; they do not change.
    """

    def __init__(
        self,
        model: Transformer,
        hidden_states: HiddenStates,
        training: TrainingConfig,
        teachers: Sequence[Transformer] = (),
    ) -> None:
        super().__init__()
        self._teachers = tuple(teachers)  # in a tuple, their weights are none of this module
        self.model = model
        self.hidden_states = hidden_states
        self.settings = training  # `training` is a flag of every module

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """A scalar, in nats, for the ids [B, S] and [B, T]."""
        padding_id, layer = self.model.padding_id, self.model.output
        if self.settings.r_drop:
            source, target = source.repeat(2, 1), target.repeat(2, 1)
        hidden, targets = self.hidden_states(source, target[:, :-1]), target[:, 1:]
        real = targets != padding_id
        return output_layer_loss(
            hidden[real],
            layer.weight,
            layer.bias,
            targets[real],
            self.settings.label_smoothing,
            padding_id,
            self.settings.r_drop,
            self._soft_targets(source, target, real),
        )

    def _soft_targets(self, source: Tensor, target: Tensor, real: Tensor) -> SoftTargets | None:
        """What the teachers predict where `real`; None without teachers."""
        if not self._teachers:
            return None
        with torch.no_grad():
            return SoftTargets(
                self.settings.distillation,
                [
                    (teacher.hidden_states(source, target[:, :-1])[real], teacher.output.weight, teacher.output.bias)
                    for teacher in self._teachers
                ],
            )


class Gradients:
    """Computes the gradients of a model; each target token of a step has the same weight.

    Args:
        loss_sum: of a model on `device`.
        device: of the model.
        precision: number format of the matrix products.
        world: the processes that share the work; of a batch, process r of n takes the pairs r, r + n, r + 2n …

    Attributes:
        max_tokens: padded tokens computed at once; None for whole batches.
    """

    def __init__(self, loss_sum: LossSum, device: torch.device, precision: PrecisionChoice, world: World) -> None:
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
            self._exchanging = DistributedDataParallel(self._loss_sum, device_ids=ids, **_CONSTANTS_STAY)

    def fill(self, batches: Sequence[Batch], should_stop: Callable[[], object]) -> float | None:
        """Adds the gradients of the mean loss of all target tokens in `batches` to those of the parameters.

        Args:
            batches: for all processes together; each computes its share.
            should_stop: asked between micro-batches.

        Returns:
            The loss per target token; None if `should_stop` interrupted it, in any process.

        Raises:
            TrainingError: another process failed.
        """
        num_tokens = sum(batch.num_target_tokens for batch in batches)
        *early, last = self._parts(batches)
        total = torch.zeros((), device=self._device)
        outcome, failure = GO, None
        try:
            with self._without_synchronization():
                for batch, weight in early:
                    total += self._backward(batch, weight / num_tokens)
                    if should_stop():
                        outcome = STOP
                        break
        except Exception as error:  # the others are waiting: they are told before it is raised
            outcome, failure = FAILED, error
        outcome = self._world.all_reduce_max(outcome)
        if failure is not None:
            raise failure
        if outcome == FAILED:
            raise TrainingError(
                "Another process of this run failed and reports why. Fix the problem, then resume the run."
            )
        if outcome == STOP:
            return None
        batch, weight = last
        total += self._backward(batch, weight / num_tokens)
        return self._world.all_reduce_sum(total)

    def _parts(self, batches: Sequence[Batch]) -> list[tuple[Batch, float]]:
        """Micro-batches of this process and their weights; at least one, because the other processes wait for it."""
        parts = [(part, 1.0) for batch in self._shares(batches) for part in self._cut(batch)]
        return parts or [(batches[0].rows(slice(0, 1), self._padding_id), 0.0)]

    def _shares(self, batches: Sequence[Batch]) -> Iterator[Batch]:
        if self._world.size == 1:
            yield from batches
            return
        for batch in batches:
            if len(batch.source) > self._world.rank:
                yield batch.rows(slice(self._world.rank, None, self._world.size), self._padding_id)

    def _cut(self, batch: Batch) -> list[Batch]:
        return (
            [batch] if self.max_tokens is None else batch.split(self.max_tokens // self._num_passes, self._padding_id)
        )

    def _backward(self, batch: Batch, weight: float) -> Tensor:
        """Adds the gradients of a micro-batch; returns its share of the loss."""
        batch = batch.to(self._device)
        with self._kernels(), self._precision.computing(self._device):
            loss: Tensor = (self._exchanging or self._loss_sum)(batch.source, batch.target)
        loss = loss * weight
        (loss * self._world.size).backward()  # gradients are averaged over the processes
        return loss.detach()

    def _kernels(self) -> AbstractContextManager[object]:
        """A compiled model has kernels of its own."""
        is_compiled = self._loss_sum.hidden_states != self._loss_sum.model.hidden_states
        return nullcontext() if is_compiled else training_kernels(self._device)

    def _without_synchronization(self) -> AbstractContextManager[None]:
        return nullcontext() if self._exchanging is None else self._exchanging.no_sync()
