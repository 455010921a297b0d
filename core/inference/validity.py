"""Which form of a model to compute with: the compiled one, or the plain one where its modules must be called."""

import os
from collections.abc import Iterable
from itertools import chain
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.modules import module as of_all_modules

from augenmerk.core.inference.compiled import CompiledTransformer, Model
from augenmerk.core.model.transformer import Transformer

PLAIN_VARIABLE = "AUGENMERK_PLAIN"
"""With "1" in this environment variable, every translation calls the modules of the plain model."""


class Compiler:
    """Compiles a model on first use, and again once its weights have changed.

    Args:
        model: whose modules are now its own: `is_hooked` reports modules that are replaced later.
    """

    def __init__(self, model: Transformer) -> None:
        self._modules = list(model.modules())
        self._children = _children_of(self._modules)
        self._stamp: _Stamp | None = None
        self._compiled: CompiledTransformer | None = None
        self._model = model

    def is_for(self, model: Transformer) -> bool:
        """Whether this is the model that was given."""
        return self._model is model

    def current(self) -> Model:
        """The form that computes fastest what the model computes now. Takes 0.1 ms; for one call of a user.

        The plain model where `AUGENMERK_PLAIN=1`, on a GPU, in training mode, under autocast, while it is hooked, and
        for weights that are not of 32 bits or cannot be watched.
        """
        stamp = None if self._must_be_plain() else _stamp(self._model)
        if stamp is None:
            self._stamp = self._compiled = None
            return self._model
        if self._compiled is None or stamp != self._stamp:
            watch(self._model.parameters())
            self._stamp, self._compiled = stamp, CompiledTransformer(self._model)
        return self._compiled

    def _must_be_plain(self) -> bool:
        return (
            os.environ.get(PLAIN_VARIABLE) == "1"
            or self._model.training
            or torch.is_autocast_enabled("cpu")
            or self.is_hooked()
        )

    def is_hooked(self) -> bool:
        """Whether calling the model's modules may give something else than reading its weights.

        True while a forward hook, a forward pre-hook or a parametrization is registered on any module, or on all
        modules; while a module instance has its own `forward`; and while a module is replaced, added or removed.
        Backward hooks do not count: translating computes no gradients.
        """
        return bool(
            of_all_modules._global_forward_hooks
            or of_all_modules._global_forward_pre_hooks
            or _children_of(self._modules) != self._children
            or any(
                module._forward_hooks
                or module._forward_pre_hooks
                or "forward" in module.__dict__
                or "parametrizations" in module._modules
                for module in self._modules
            )
        )


def _children_of(modules: Iterable[nn.Module]) -> list[nn.Module | None]:
    return list(chain.from_iterable(module._modules.values() for module in modules))


_Stamp = tuple[tuple[int, int, int], ...]


def _stamp(model: Transformer) -> _Stamp | None:
    """Changes whenever weights may have: they lie elsewhere, or were written to. See `watch`.

    None if the weights cannot be compiled, or were made in inference mode, where PyTorch counts no changes.
    """
    weights = list(model.parameters())
    if any(each.is_inference() or each.dtype != torch.float32 or each.device.type != "cpu" for each in weights):
        return None
    return tuple((each.data_ptr(), each._version, getattr(each, "num_data_uses", 0)) for each in weights)


class _WatchedParameter(nn.Parameter):
    """A parameter that counts reads of `data`, through which it can be changed without a new version."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]  # as of its base class
    num_data_uses: ClassVar[int] = 0

    @property
    def data(self) -> Tensor:
        self.num_data_uses += 1  # type: ignore[misc]
        found: Tensor = nn.Parameter.data.__get__(self)  # type: ignore[attr-defined]
        return found

    @data.setter
    def data(self, values: Tensor) -> None:
        self.num_data_uses += 1  # type: ignore[misc]
        nn.Parameter.data.__set__(self, values)  # type: ignore[attr-defined]


def watch(parameters: Iterable[nn.Parameter]) -> None:
    """Lets `Compiler` notice every later change of them, except through another tensor or array of their memory."""
    for parameter in parameters:
        if type(parameter) is nn.Parameter:
            parameter.__class__ = _WatchedParameter
