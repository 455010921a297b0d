"""Whether the user has changed how a model is called: by hooks, parametrizations, or modules of their own.

The fast paths (cached keys and values, the last encoding, drafts in 8 bits) read weights without calling modules. They
are used only while nothing is changed; otherwise every module is called, with all tokens (docs/hooks.md).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from weakref import WeakKeyDictionary

from torch import nn
from torch.nn.modules import module as of_all_modules


def remember_modules(model: nn.Module) -> None:
    """Takes the model as it is now as its own: `is_hooked` reports modules that are replaced later."""
    _known[model] = _Modules.of(model)


def is_hooked(model: nn.Module) -> bool:
    """Whether calling the model's modules may give something else than reading its weights.

    True while a forward hook, a forward pre-hook or a parametrization is registered on any module, or on all modules;
    while a module has a `forward` of its own instance; and while a module is replaced, added or removed. Backward
    hooks do not count: translating computes no gradients. Takes some 20 microseconds.
    """
    if of_all_modules._global_forward_hooks or of_all_modules._global_forward_pre_hooks:
        return True
    if model not in _known:
        remember_modules(model)
    known = _known[model]
    modules = (model, *known.descendants)
    return (
        known.are_parametrized
        or _children_of(modules) != known.children
        or any(module._forward_hooks or module._forward_pre_hooks or "forward" in module.__dict__ for module in modules)
    )


@dataclass(frozen=True, eq=False)
class _Modules:
    """The modules of a model. Finding them takes as long as a layer.

    Attributes:
        descendants: all but the model itself, which is the key of a weak dictionary.
        children: the submodules of the model and its descendants, one module after the other.
        are_parametrized: whether any of them is.
    """

    descendants: list[nn.Module]
    children: list[nn.Module | None]
    are_parametrized: bool

    @classmethod
    def of(cls, model: nn.Module) -> "_Modules":
        """Those that the model has now."""
        modules = list(model.modules())
        are_parametrized = any("parametrizations" in module._modules for module in modules)
        return cls(modules[1:], _children_of(modules), are_parametrized)


def _children_of(modules: Iterable[nn.Module]) -> list[nn.Module | None]:
    return list(chain.from_iterable(module._modules.values() for module in modules))


_known: WeakKeyDictionary[nn.Module, _Modules] = WeakKeyDictionary()
