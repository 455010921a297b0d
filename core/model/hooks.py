"""Whether the user has changed how a model is called: by hooks and parametrizations.

The fast paths (cached keys and values, the last encoding, drafts in 8 bits) read weights without calling modules. They
are used only while there are no hooks; otherwise every module is called, with all tokens (docs/hooks.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

from torch import nn
from torch.nn.modules import module as of_all_modules


def is_hooked(model: nn.Module) -> bool:
    """Whether a forward hook, a forward pre-hook or a parametrization is registered on any module, or on all modules.

    Backward hooks do not count: translating computes no gradients. Takes microseconds.
    """
    if of_all_modules._global_forward_hooks or of_all_modules._global_forward_pre_hooks:
        return True
    known = _known.get(model)
    if known is None or list(chain.from_iterable(map(dict.values, known.containers))) != known.children:
        known = _known[model] = _Modules.of(model)
    return known.are_parametrized or any(known.hooks)


@dataclass(frozen=True, eq=False)
class _Modules:
    """The modules of a model. Looking for them takes as long as a layer.

    Attributes:
        containers: where each module keeps its submodules.
        children: what was in them.
        hooks: where each module keeps its hooks.
        are_parametrized: whether any of them is.
    """

    containers: list[dict[str, nn.Module | None]]
    children: list[nn.Module | None]
    hooks: list[Mapping[int, Any]]
    are_parametrized: bool

    @classmethod
    def of(cls, model: nn.Module) -> "_Modules":
        """Those that the model has now."""
        modules = list(model.modules())
        containers = [module._modules for module in modules]
        return cls(
            containers,
            list(chain.from_iterable(map(dict.values, containers))),
            [hooks for module in modules for hooks in (module._forward_hooks, module._forward_pre_hooks)],
            any("parametrizations" in container for container in containers),
        )


_known: WeakKeyDictionary[nn.Module, _Modules] = WeakKeyDictionary()
