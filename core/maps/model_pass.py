"""One pass of a model over a sentence pair, as measures see it. Shape legend: `core.maps`.

Nothing is computed, and torch is not imported, before something is asked of the model.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..counting import Index
from ..errors import AnalysisError
from ..model.heads import AttentionKind, Side
from ..translation.result import (
    AttentionMaps,
    FloatArray,
    Translation,
    TranslationStoppedError,
    read_only,
)
from .trace import HeadTrace, Trace

if TYPE_CHECKING:
    from torch import Tensor

    from ..model.sites import PairPass, Sublayer
    from ..translation.translator import Translator


class Pass:
    """The values inside a model for one sentence pair, computed when they are first asked for.

    Args:
        pair: the model, the ids and the interventions.
        maps: the attention weights, if they are known.
        should_stop: see `check_stop`.

    Attributes:
        pair: see above.
    """

    def __init__(
        self,
        pair: "PairPass",
        maps: AttentionMaps | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.pair = pair
        self._maps, self._should_stop = maps, should_stop
        self._checked: set[tuple[AttentionKind, int]] = set()

    @classmethod
    def of(
        cls,
        translator: "Translator",
        translation: Translation,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> "Pass":
        """A pass over a translation, with its maps if the model made it.

        See `Translator.pass_over`.
        """
        maps = translation.attention if translator.has_made(translation) else None
        return cls(translator.pass_over(translation), maps, should_stop)

    def check_stop(self) -> None:
        """Raises `TranslationStoppedError` if the work is to stop, for measures that take long."""
        if self._should_stop():
            raise TranslationStoppedError

    def weights(self, kind: AttentionKind) -> FloatArray:
        """The attention weights of a kind, [L, H, Q, M].

        Costs nothing if the translation has them.
        """
        return self.trace.of_kind(kind).weights if self._maps is None else self._maps.of_kind(kind)

    def heads(self, kind: AttentionKind) -> HeadTrace:
        """Queries, keys, values and weights of all heads of a kind.

        Takes one more pass, the first time.
        """
        return self.trace.of_kind(kind)

    @cached_property
    def trace(self) -> Trace:
        """The heads of all kinds."""
        from .capture import trace_pair

        return trace_pair(self.pair)

    def value(self, site: str) -> FloatArray:
        """The value at a site of `core.model.sites` without the batch.

        Takes one more pass, the first time.

        Values inside an attention module, such as its query, take a pass for each site. `heads` has
        those of all layers after one.

        Raises:
            AnalysisError: the model has no such site.
        """
        if site not in self._values:
            self._values.update(self._read([site]))
        return read_only(self._values[site][0].float().cpu().numpy())

    def attention_output(self, kind: AttentionKind, layer: int) -> FloatArray:
        """What the attention of a layer adds to the residual stream, [Q, D]."""
        return self.value(f"{_place_of(kind, layer)}.output")

    def layer_output(
        self, kind: AttentionKind, layer: int, attention_output: FloatArray
    ) -> FloatArray:
        """The output of a layer if its attention of a kind added this to the residual stream.

        What comes later in the layer is computed by the model's modules, under the interventions of
        the pass.

        Args:
            kind: of the attention.
            layer: counted from 0.
            attention_output: [N, Q, D], N of them at once.

        Returns:
            [N, Q, D].

        Raises:
            AnalysisError: the layer computes something else, for instance because a hook changes
                it.
        """
        side, _ = _SUBLAYERS[kind]
        if (kind, layer) not in self._checked:
            (output,) = self._layer_output(kind, layer, self.attention_output(kind, layer)[None])
            expected = self.value(f"{side}.{layer}.feed_forward.after")
            is_close = np.allclose(
                output, expected, rtol=1e-3, atol=1e-3 * float(np.abs(expected).max())
            )
            if not is_close or self._is_output_hooked(kind, layer):
                raise AnalysisError(
                    "The {side} layer {layer} of this model computes something else than its "
                    "parts do, for instance because a hook changes it. Choose a measure that "
                    "needs no output of layers.",
                    side=side,
                    layer=Index(layer),
                )
            self._checked.add((kind, layer))
        return self._layer_output(kind, layer, attention_output)

    def _is_output_hooked(self, kind: AttentionKind, layer: int) -> bool:
        """Whether hooks change what an attention makes of its weights and values."""
        side, sublayer = _SUBLAYERS[kind]
        attention = getattr(getattr(self.pair.model, f"{side}_layers")[layer], sublayer)
        return bool(
            attention._forward_hooks
            or attention.out_proj._forward_hooks
            or attention.out_proj._forward_pre_hooks
        )

    def _layer_output(
        self, kind: AttentionKind, layer: int, attention_output: FloatArray
    ) -> FloatArray:
        import torch

        from ..model.interventions import scaled
        from ..model.sites import SUBLAYERS

        side, sublayer = _SUBLAYERS[kind]
        interventions = self.pair.interventions
        module = getattr(self.pair.model, f"{side}_layers")[layer]
        before = self._values[f"{_place_of(kind, layer)}.before"]
        with torch.inference_mode():
            added = torch.tensor(attention_output).to(before)
            states = getattr(module, SUBLAYERS[side][sublayer])(before, added)
            if kind == "decoder":
                memory = self._values[f"{_place_of('cross', layer)}.memory"].expand(
                    len(states), -1, -1
                )
                changes = interventions.of("cross", layer).select(
                    torch.zeros(len(states), dtype=torch.long)
                )
                attended, _ = module.cross_attention(
                    module.cross_residual.before(states), memory, None, changes=changes
                )
                states = module.cross_residual(states, attended)
            network_output = module.feed_forward(module.feed_forward_residual.before(states))
            factor = interventions.factor_of(side, layer)
            output: Tensor = module.feed_forward_residual(states, scaled(network_output, factor))
        return output.float().cpu().numpy()

    @cached_property
    def _values(self) -> "dict[str, Tensor]":
        """The values at all sites; those inside attention modules only once they were requested."""
        from ..model.sites import STEPS, sites_of

        return self._read(
            [site for site in sites_of(self.pair.model) if site.rpartition(".")[2] not in STEPS]
        )

    def _read(self, sites: Sequence[str]) -> "dict[str, Tensor]":
        import torch

        from ..model.sites import trace_sites

        with torch.inference_mode():
            return trace_sites(self.pair, sites)


_SUBLAYERS: "dict[AttentionKind, tuple[Side, Sublayer]]" = {
    "encoder": ("encoder", "self_attention"),
    "decoder": ("decoder", "self_attention"),
    "cross": ("decoder", "cross_attention"),
}


def _place_of(kind: AttentionKind, layer: int) -> str:
    """The beginning of the sites of an attention."""
    side, sublayer = _SUBLAYERS[kind]
    return f"{side}.{layer}.{sublayer}"
