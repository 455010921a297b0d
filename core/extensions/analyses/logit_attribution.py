"""Why this word? Contrastive direct logit attribution. Shape legend: `core.maps`.

The logit of a token is a dot product with the decoder's last vector, which is a sum of components.
So every logit is a sum with one part for each of these (Elhage et al. 2021, "A Mathematical
Framework for Transformer Circuits"). A constant added to all logits changes no probability.
Therefore two tokens are compared, as in Yin and Neubig 2022, "Interpreting Language Models with
Contrastive Explanations": the predicted one and a foil.

A part is the *direct* effect alone. Later layers also read a head's output; that effect is among
their parts. `measure_parts` measures both together.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...arguments import checks_arguments
from ...counting import Index
from ...errors import AnalysisError, ExperimentError, NonFiniteError
from ...inference.compiled import plain_form
from ...maps.capture import AttentionPass
from ...model.non_finite import is_finite, require_finite
from ...text.codec import TextCodec
from ...text.vocabulary import END
from ...translation.compilation import forced_word
from ...translation.experiment import Experiment, factors_of, scaling
from ...translation.result import (
    Alternative,
    ExperimentResult,
    Translation,
    TranslationStoppedError,
)
from ...translation.running import EXPERIMENT_BATCH
from ...translation.translator import Translator
from .parts import Component, Origin
from .parts_of_words import ChangeEffect, EncoderParts, WordParts
from .residual import residual_streams


@checks_arguments
def word_parts(
    translator: Translator,
    translation: Translation,
    step: int,
    foil: str | Alternative | None = None,
) -> WordParts:
    """Direct logit attribution of a word of a translation against a foil.

    Takes one more pass over the pair.

    The translation's experiment applies. If word and foil begin alike, the first token that
    differs is explained. If one is the beginning of the other, the next token decides: the one that
    follows the word, or the most probable one that does not continue the foil. Not thread-safe
    with other uses of the model.

    Args:
        translator: provides the model.
        translation: by this model, written by the user, or by a model with the same vocabularies;
            its tokens are read under this model.
        step: the first step of the word; at a later step, the rest of the word is compared.
        foil: a word, an entry of the vocabulary (`▁dog`, `·ing`), one of the translation's
            alternatives, or None for the most probable other token that may be chosen here.

    Raises:
        AnalysisError: there is no such step; the foil is empty, unknown, several words or the word
            itself, or can never be chosen; or as `Translator.pass_over`.
    """
    translation.check_step(step)
    comparer = _Comparer(translator, translation)
    return comparer.explain([comparer.compare(step, foil)])[0]


@checks_arguments
def logit_parts(translator: Translator, translation: Translation) -> tuple[WordParts, ...]:
    """Direct logit attribution of each predicted token against the runner-up: T results from one
    pass.

    See `word_parts`.
    """
    comparer = _Comparer(translator, translation)
    return comparer.explain(
        [comparer.compare(step, None) for step in range(len(translation.predicted_ids))]
    )


@checks_arguments
def encoder_parts(translator: Translator, parts: WordParts) -> EncoderParts:
    """The parts of cross-attention heads, split by what the encoder's positions are made of.

    Takes one more pass.

    A part is again a direct effect: weights of attention and the deviations of norms stay as they
    are.

    Args:
        translator: the model of `parts`, or one with the same vocabularies, whose own parts are
            split then.
        parts: of a word.

    Raises:
        AnalysisError: as `Translator.pass_over`.
        NonFiniteError: the model's states are not finite.
    """
    model = translator.model
    streams = residual_streams(translator.pass_over(parts.translation))
    ids = translator.checkpoint.codecs.target.vocabulary.ids
    row = slice(parts.step, parts.step + 1)
    layers: list[Tensor] = []

    def open_positions(attention: AttentionPass, carried: Tensor) -> None:
        directions, shifts = _memory_directions(attention, carried[0], parts.step)
        split = streams.encoder.split(directions)  # [C, H, S]
        split[-1] += shifts
        layers.insert(0, split.transpose(0, 1))

    with torch.inference_mode():
        direction = (
            model.output.weight[ids[parts.chosen.entry]]
            - model.output.weight[ids[parts.foil.entry]]
        )
        streams.decoder.split(direction[None].double(), row, on_cross=open_positions)
        values = torch.stack(layers).cpu().numpy()
    return EncoderParts(parts, streams.encoder.components, values, translator.digest)


@checks_arguments
def measure_parts(
    translator: Translator,
    parts: WordParts,
    components: Sequence[Component] | None = None,
    *,
    should_stop: Callable[[], bool] = lambda: False,
) -> NDArray[np.float64]:
    """The change of the difference when each component is switched off alone.

    The same tokens are read again. A direct effect alone predicts the part with its sign reversed.

    Args:
        translator: the model of `parts`, or one with the same vocabularies, which reads the same
            tokens.
        parts: of a word.
        components: some of them, of the encoder too; None for all of `parts`.
        should_stop: called before each batch.

    Returns:
        The changes in nats, in the order of `components`. NaN for token, position and biases, which
            cannot be
        switched off.

    Raises:
        TranslationStoppedError: `should_stop` returned True.
        AnalysisError: the model has no such head or network, or other vocabularies.
    """
    translator.check_vocabularies(parts.translation)
    measured = parts.components if components is None else tuple(components)
    switches = {
        component: scaling(component) for component in measured if not isinstance(component, Origin)
    }
    experiment = parts.translation.experiment
    ids = translator.checkpoint.codecs.target.vocabulary.ids
    experiments = [
        experiment,
        *(experiment.with_interventions(switch) for switch in switches.values()),
    ]
    chosen, foil = ids[parts.chosen.entry], ids[parts.foil.entry]
    differences = [
        difference
        for logits in _logits_after(
            translator, parts.translation.read_ids, experiments, should_stop
        )
        for difference in (
            logits[:, parts.step, chosen].double() - logits[:, parts.step, foil].double()
        ).tolist()
    ]
    changes = dict(zip(switches, differences[1:], strict=True))
    return np.array(
        [
            changes[component] - differences[0] if component in changes else np.nan
            for component in measured
        ]
    )


def effect_of_changes(
    translator: Translator, result: ExperimentResult, step: int | None = None
) -> ChangeEffect:
    """The parts of a word of the original translation with the changes, compared with those without
    them.

    Both passes read the original translation, and compare the word with the same foil.

    Args:
        translator: the model of the result.
        result: of an experiment with interventions.
        step: of the word in the original; None for the word whose probability changed most.
    """
    original, changed = result.original, result.changed
    if step is None:
        now = result.original_log_probabilities
        steps = [
            step for word in original.target_words for step in range(word.start, word.end)
        ] or range(len(now))
        step = max(steps, key=lambda step: abs(now[step] - original.log_probabilities[step]))
    before = word_parts(translator, original, step)
    read = replace(original, experiment=changed.experiment, source_ids=changed.source_ids)
    return ChangeEffect.of(
        before,
        word_parts(translator, read, step, before.foil),
        factors_of(changed.experiment.scalings),
    )


def require_one_word(codec: TextCodec, ids: Sequence[int], text: str) -> None:
    """Raises `AnalysisError` if these ids of a typed text are several words, which compare with no
    single one.
    """
    if text != END and len(codec.decode(ids)) > 1:
        raise AnalysisError(f"“{text}” is more than one word. Write the first word alone.")


def _logits_after(
    translator: Translator,
    read_ids: Sequence[int],
    experiments: Sequence[Experiment],
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Tensor]:
    """The logits [B, T, V] after the same T ids under many experiments, B at a time.

    Args:
        translator: the model.
        read_ids: read by the decoder, the start token first.
        experiments: their outputs and forced tokens are ignored.
        should_stop: called before each batch.

    Raises:
        TranslationStoppedError: `should_stop` returned True.
        NonFiniteError: the logits are not finite.
    """
    compiled = [translator.compile(experiment) for experiment in experiments]
    model = translator.current_model()
    for first in range(0, len(compiled), EXPERIMENT_BATCH):
        if should_stop():
            raise TranslationStoppedError
        group = compiled[first : first + EXPERIMENT_BATCH]
        with torch.inference_mode():
            encoding = translator.runner.encode(model, group, need_maps=False)
            read = torch.tensor([list(read_ids)] * len(group), device=encoding.states.device)
            logits = model.decode(encoding, read).logits.float()
            require_finite(plain_form(model), encoding, read, logits)
        yield logits


@dataclass(frozen=True)
class _Comparison:
    """The ids of two tokens to compare at a step, and the words that they belong to."""

    step: int
    chosen: int
    foil: int
    chosen_word: Alternative
    foil_word: Alternative


class _Comparer:
    """One translation, read by a model.

    Args:
        translator: provides the model.
        translation: see `word_parts`.
    """

    def __init__(self, translator: Translator, translation: Translation) -> None:
        self._translator, self._translation = translator, translation
        self._codec = translator.checkpoint.codecs.target
        self._streams = residual_streams(translator.pass_over(translation))
        self._log_probabilities = self._streams.logits.float().log_softmax(dim=-1)  # [T, V]

    def compare(self, step: int, foil: str | Alternative | None) -> _Comparison:
        """The word from `step` on and a foil: its ids, up to the first that differ."""
        words = (word for word in self._translation.target_words if word.start <= step < word.end)
        end = next((word.end for word in words), step + 1)
        chosen = self._translation.predicted_ids[step:end]
        others = (self._runner_up(step, chosen[0]),) if foil is None else self._ids_of(step, foil)
        if others == chosen:
            raise AnalysisError(
                f"“{self._text(chosen)}” is the word itself. Choose another word to compare it "
                "with."
            )
        pairs = enumerate(zip(chosen, others, strict=False))
        offset = next(
            (index for index, (mine, other) in pairs if mine != other),
            min(len(chosen), len(others)),
        )
        at = step + offset
        if at >= len(self._translation.predicted_ids):
            raise AnalysisError(
                f"The translation ends with “{self._text(chosen)}”, the beginning of "
                f"“{self._text(others)}”: nothing after it can be compared. Choose another word."
            )
        return _Comparison(
            at,
            self._translation.predicted_ids[at],
            others[offset]
            if offset < len(others)
            else self._runner_up(at, chosen[offset], ends=others),
            self._word(step, chosen),
            self._word(step, others),
        )

    def explain(self, comparisons: Sequence[_Comparison]) -> tuple[WordParts, ...]:
        """The parts of each comparison."""
        streams = self._streams
        model = self._translator.model
        steps, chosen, foils = torch.tensor(
            [(comparison.step, comparison.chosen, comparison.foil) for comparison in comparisons],
            device=streams.logits.device,
        ).T
        with torch.inference_mode():
            # [N, D]
            directions = (model.output.weight[chosen] - model.output.weight[foils]).double()
            by_key: list[Tensor] = []

            def open_heads(attention: AttentionPass, carried: Tensor) -> None:
                by_key.insert(0, _parts_by_key(attention, carried, steps))

            values = streams.decoder.split(directions, steps, on_cross=open_heads)
            if model.output.bias is not None:
                values[-1] += (model.output.bias[chosen] - model.output.bias[foils]).double()
            differences = (
                streams.logits[steps, chosen].double() - streams.logits[steps, foils].double()
            ).tolist()
            if not is_finite(values):
                raise NonFiniteError("the parts of the logits")
            # [N, P], [L, H, N, S]
            parts = values.T.cpu().numpy().copy()
            keys = torch.stack(by_key).cpu().numpy()
        digest = self._translator.digest
        return tuple(
            WordParts(
                self._translation,
                comparison.step,
                self._token(comparison.step, comparison.chosen),
                self._token(comparison.step, comparison.foil),
                comparison.chosen_word,
                comparison.foil_word,
                difference,
                streams.decoder.components,
                parts[index],
                difference - float(parts[index].sum()),
                keys[:, :, index].copy(),
                digest,
            )
            for index, (comparison, difference) in enumerate(
                zip(comparisons, differences, strict=True)
            )
        )

    def _ids_of(self, step: int, foil: str | Alternative) -> tuple[int, ...]:
        ids = self._codec.vocabulary.ids
        foil_ids: tuple[int, ...]
        if isinstance(foil, Alternative):
            if foil.entry not in ids:
                raise AnalysisError(
                    f"The vocabulary of this model has no {foil.token!r}. Choose another word."
                )
            foil_ids = (ids[foil.entry],)
        elif not foil.strip():
            raise AnalysisError("The foil is empty. Enter a word to compare with.")
        else:
            try:
                foil_ids = tuple(
                    ids[forced.token] for forced in forced_word(step, foil, self._codec)
                )
            except ExperimentError as error:
                raise AnalysisError("{error}", error=error) from error
            require_one_word(self._codec, foil_ids, foil)
        room = self._translator.model.config.max_positions - step
        if len(foil_ids) > room:
            raise AnalysisError(
                f"The foil has {len(foil_ids)} tokens. From step {{step}} on, this model reads "
                f"{room}. Enter a shorter word.",
                step=Index(step),
            )
        if not set(foil_ids).isdisjoint(self._translator.rules.forbidden_at(step)):
            raise AnalysisError(
                "“{word}” can never be chosen at step {step}. Choose another word.",
                word=self._text(foil_ids),
                step=Index(step),
            )
        return foil_ids

    def _runner_up(self, step: int, chosen: int, ends: Sequence[int] = ()) -> int:
        """The most probable allowed token except `chosen`; it never continues `ends`."""
        allowed = self._log_probabilities[step].clone()
        allowed[[chosen, *self._translator.rules.forbidden_at(step)]] = float("-inf")
        if not ends:
            return int(allowed.argmax())
        num_words = len(self._codec.decode(ends))
        order = allowed.argsort(descending=True).tolist()
        return next(
            token_id
            for token_id in order
            if token_id in self._codec.vocabulary.special_ids
            or len(self._codec.decode([*ends, token_id])) > num_words
        )

    def _token(self, step: int, token: int) -> Alternative:
        entry = self._codec.vocabulary.tokens[token]
        label = self._codec.labels[token]
        return Alternative(label, float(self._log_probabilities[step, token]), entry)

    def _word(self, step: int, ids: Sequence[int]) -> Alternative:
        """A word from `step` on and its log-probability."""
        if len(ids) == 1:
            return self._token(step, ids[0])
        if tuple(ids) == self._translation.predicted_ids[step : step + len(ids)]:
            log_probabilities = self._log_probabilities[step : step + len(ids)]
        else:
            read_ids = [*self._translation.read_ids[: step + 1], *ids[:-1]]
            (logits,) = _logits_after(self._translator, read_ids, [self._translation.experiment])
            log_probabilities = logits[0, step:].log_softmax(dim=-1)
        places = torch.tensor(ids, device=log_probabilities.device)
        return Alternative(
            self._text(ids), float(log_probabilities.gather(1, places[:, None]).sum())
        )

    def _text(self, ids: Sequence[int]) -> str:
        words = self._codec.decode(ids)
        return " ".join(word.text for word in words) or "".join(
            self._codec.labels[token_id] for token_id in ids
        )


def _parts_by_key(attention: AttentionPass, directions: Tensor, rows: Tensor) -> Tensor:
    """The part of each key in the dot products of `directions` [N, D] with what each head adds to N
    rows: [H, N, M].
    """
    unmixed = torch.einsum("nd,hkd->hnk", directions, attention.module.mixing.double())
    return attention.weights[0][:, rows].double() * (unmixed @ attention.values.double().mT)


def _memory_directions(
    attention: AttentionPass, direction: Tensor, row: int
) -> tuple[Tensor, Tensor]:
    """`_parts_by_key` of one row as dot products with the vectors that the keys are made of.

    Returns:
        The directions [H, M, D], and the summands [H, M] that come from the bias of the values.
    """
    module = attention.module
    changes = attention.changes
    unmixed = torch.einsum("d,hkd->hk", direction, module.mixing.double())
    weights = changes.scaled(attention.weights)[0, :, row].double()
    projection, bias = (
        tensor.double().chunk(3)[2].unflatten(0, (module.num_heads, -1))
        for tensor in (module.in_proj_weight, module.in_proj_bias)
    )  # [H, K, D], [H, K]
    shift = (unmixed * bias).sum(dim=-1, keepdim=True)
    return torch.einsum("hm,hk,hkd->hmd", weights, unmixed, projection), weights * shift
