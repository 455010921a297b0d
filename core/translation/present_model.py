"""The fastest form and the digest of a model in its present state."""

from dataclasses import replace
from functools import cache, partial
from secrets import token_hex

import torch
from torch import Tensor

from ..checkpoint.file import Checkpoint, model_digest
from ..inference.compiled import CompiledTransformer, Compiler, Model
from ..model.transformer import Transformer


class PresentModel:
    """Follows a model whose weights, modules and hooks may be changed between two calls.

    Attributes:
        model: the model, made from a checkpoint.
    """

    def __init__(self, checkpoint: Checkpoint, model: Transformer) -> None:
        self.model = model
        self._checkpoint = checkpoint
        self._compiler = Compiler(model)
        self._digested: tuple[object | None, str] = None, ""
        self._loaded_digest = cache(partial(model_digest, checkpoint))

    def current(self) -> Model:
        """The fastest form of the model, see `Compiler.current`."""
        return self._compiler.current()

    @property
    def digest(self) -> str:
        """The digest of the model, see `Translator.digest`."""
        return self._digest_in(self._compiler.state())

    def digest_of(self, current: Model) -> str:
        """The digest of what `current` returned last; for a compiled model this costs nothing."""
        is_compiled = isinstance(current, CompiledTransformer)
        return self._digest_in(self._compiler.compiled_state) if is_compiled else self.digest

    def _digest_in(self, state: object | None) -> str:
        if state is None or state != self._digested[0]:
            self._digested = state, self._computed_digest()
        return self._digested[1]

    def _computed_digest(self) -> str:
        if self._compiler.must_call_modules():
            return token_hex(32)
        loaded = self._checkpoint.weights
        weights = dict(self.model.named_parameters())
        if weights.keys() == loaded.keys() and all(
            _is_equal(weights[name], loaded[name]) for name in weights
        ):
            return self._loaded_digest()
        return model_digest(replace(self._checkpoint, weights=weights))


def _is_equal(parameter: Tensor, weights: Tensor) -> bool:
    """Whether a parameter has these weights, in single precision."""
    return parameter.dtype == torch.float32 and torch.equal(
        parameter.detach(), weights.to(parameter)
    )
