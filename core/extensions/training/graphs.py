"""Loss and gradients of a batch as one CUDA graph.

A training step of a small model launches some two thousand kernels, and Python takes longer to
launch most of them than an NVIDIA GPU to compute them. A recorded graph launches all of them at
once. It reads and writes tensors of fixed shape at fixed places: batches are padded to few shapes,
and gradients are added to existing ones.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from ...memory import is_out_of_memory
from .corpora.batches import Batch

LENGTHS_IN_STEPS_OF = 8
"""Attention needs lengths of this multiple for its fastest kernels in 16 bits."""
_ROWS_IN_STEPS_OF = 16
_log = logging.getLogger(__name__)


def to_common_shape(batch: Batch, padding_id: int, max_length: int) -> tuple[Tensor, Tensor]:
    """Source and target of a batch [B, S] and [B, T], padded so that few shapes occur.

    B becomes a multiple of 16, S and T − 1, which the decoder reads, multiples of 8, but at most
    `max_length`, the number of the model's positions. Additional rows have the first source and an
    empty target: a source of padding alone would have no weights.
    """
    source, target = batch.source, batch.target
    rows = -len(source) % _ROWS_IN_STEPS_OF
    source = torch.cat((source, source[:1].expand(rows, -1)))
    columns = _missing(source.size(1), max_length)
    source = torch.nn.functional.pad(source, (0, columns), value=padding_id)
    columns = _missing(target.size(1) - 1, max_length)
    return source, torch.nn.functional.pad(target, (0, columns, 0, rows), value=padding_id)


def _missing(length: int, max_length: int) -> int:
    return min(-length % LENGTHS_IN_STEPS_OF, max(0, max_length - length))


@dataclass(frozen=True, eq=False)
class _Recorded:
    """A graph, its input and its output."""

    graph: torch.cuda.CUDAGraph
    source: Tensor
    target: Tensor
    weight: Tensor
    loss: Tensor


class GraphedBackward:
    """Computes batches by graphs. A shape is recorded when it occurs for the second time.

    The first batch of a shape is computed kernel by kernel, which also creates the gradients and
    initializes libraries. If a graph cannot be recorded, all batches are computed like this, and
    the log says so.

    Args:
        backward: adds the gradients of (source [B, S], target [B, T], weight []) to those of the
            parameters and returns the weighted loss; its shapes must not depend on values.
            Gradients must not be replaced between calls.
        padding_id: of both sides.
        max_length: see `to_common_shape`.
        device: a CUDA device.
    """

    def __init__(
        self,
        backward: Callable[[Tensor, Tensor, Tensor], Tensor],
        padding_id: int,
        max_length: int,
        device: torch.device,
    ) -> None:
        self._backward = backward
        self._max_length = max_length
        self._padding_id = padding_id
        self._device = device
        self._stream = torch.cuda.Stream(device)
        self._pool = torch.cuda.graph_pool_handle()
        self._recorded: dict[tuple[torch.Size, torch.Size], _Recorded | None] = {}
        self._is_recording = True

    def __call__(self, batch: Batch, weight: float) -> Tensor:
        """Adds the gradients of a batch; returns its weighted loss, a scalar."""
        source, target = to_common_shape(batch, self._padding_id, self._max_length)
        shape = source.shape, target.shape
        current = torch.cuda.current_stream(self._device)
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            if self._is_recording and shape in self._recorded:
                recorded = self._recorded[shape] or self._record(source, target)
                self._recorded[shape] = recorded
            else:
                self._recorded[shape] = recorded = None
            if recorded is None:
                inputs = source.to(self._device), target.to(self._device)
                loss = self._backward(*inputs, torch.tensor(weight, device=self._device))
            else:
                recorded.source.copy_(source)
                recorded.target.copy_(target)
                recorded.weight.fill_(weight)
                recorded.graph.replay()
                loss = recorded.loss.clone()
        current.wait_stream(self._stream)
        return loss

    def _record(self, source: Tensor, target: Tensor) -> _Recorded | None:
        """The graph for batches of this shape; None if it cannot be recorded."""
        inputs = (
            source.to(self._device),
            target.to(self._device),
            torch.ones((), device=self._device),
        )
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize(self._device)
        try:
            graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
            try:
                loss = self._backward(*inputs)
            finally:
                graph.capture_end()
        except RuntimeError as error:
            if is_out_of_memory(error):
                raise
            self._is_recording = False
            self._recorded.clear()
            _log.warning(
                "Training without CUDA graphs, several times slower: %s", str(error).splitlines()[0]
            )
            return None
        return _Recorded(graph, *inputs, loss)
