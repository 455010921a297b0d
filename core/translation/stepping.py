"""Decoding token by token with its whole state in the open: choose otherwise, set a row of attention, undo.

Greedy throughout: the most probable token that may be chosen, unless someone forced another. Shape legend:
`core.translation.steps`.
"""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from core.errors import AnalysisError
from core.model.gates import heads_off
from core.model.heads import FixedRow, Head
from core.model.rows import ObservedStep, observed_step
from core.model.transformer import ModelOutput
from core.translation.decoding import forbidding
from core.translation.result import FloatArray, Translation, TranslationStoppedError
from core.translation.source import encode_source
from core.translation.steps import Candidate, DecodingPath, DecodingStep, Edit, ForcedToken, shares_of
from core.translation.translator import Translator

NUM_CANDIDATES = 10


def _never() -> bool:
    return False


class Stepper:
    """One sentence that is decoded step by step, and again from wherever something is changed.

    What lies before a change is kept as it is, to the last bit. Not for two threads at once, nor while another uses the
    model.

    Args:
        translator: whose model decodes.
        text: German.
        off: heads that are switched off throughout.
        num_candidates: how many candidates each step tells.
        should_stop: asked before each step.

    Raises:
        TextError: there is nothing to translate, or far too much.
        AnalysisError: the model has no such head.
        TranslationStoppedError: `should_stop` said so.
    """

    def __init__(
        self,
        translator: Translator,
        text: str,
        *,
        off: Collection[Head] = (),
        num_candidates: int = NUM_CANDIDATES,
        should_stop: Callable[[], bool] = _never,
    ) -> None:
        self._translator = translator
        self._off = tuple(off)
        self._num_candidates = num_candidates
        self._codec = translator.checkpoint.codecs.target
        self._source = encode_source(text, translator.checkpoint.codecs.source, translator.run)
        self._limit = translator.max_steps(len(self._source.ids))
        model = translator.model
        with torch.inference_mode(), heads_off(model, self._off):
            ids = torch.tensor([self._source.ids], device=translator.device.name)
            self._encoding = model.encode(ids, need_maps=True)
            self._state = model.start_decoding(self._encoding, self._limit)
            self._forbidden = forbidding(model, translator.rules, self._encoding.states)
        self._read: list[FloatArray] = []  # the rows of each step in the cache: they tell whose steps these are
        self._paths: list[DecodingPath] = []
        self._paths.append(self._go_on((), (), should_stop))

    @property
    def path(self) -> DecodingPath:
        """What the decoding is now."""
        return self._paths[-1]

    @property
    def can_undo(self) -> bool:
        """Whether anything was changed."""
        return len(self._paths) > 1

    def undo(self) -> DecodingPath:
        """Takes the last change back. Raises `AnalysisError` if there was none."""
        if not self.can_undo:
            raise AnalysisError(
                "Nothing was changed. A forced token or an overridden row was expected; make one first."
            )
        self._paths.pop()
        return self.path

    def reset(self) -> DecodingPath:
        """The model's own translation, as at the beginning; cannot be undone."""
        del self._paths[1:]
        return self.path

    def force(self, step: int, token_id: int, *, should_stop: Callable[[], bool] = _never) -> DecodingPath:
        """Chooses this token at this step and lets the model go on from there; later changes are gone.

        The token may be the one that ends the sentence.

        Raises:
            AnalysisError: there is no such step, or this token can never be chosen.
            TranslationStoppedError: `should_stop` said so; nothing has changed then.
        """
        here = self._step_at(step)
        self._check_token(token_id)
        chosen, rank = self._choice(here.log_probabilities, token_id)
        forced = replace(here, chosen=chosen, rank=rank, is_forced=True)
        kept = [
            edit
            for edit in self.path.edits
            if edit.step < step or (edit.step == step and not isinstance(edit, ForcedToken))
        ]
        return self._put((*self.path.steps[:step], forced), (*kept, ForcedToken(step, token_id)), should_stop)

    def override(
        self, layer: int, head: int, step: int, weights: Sequence[float], *, should_stop: Callable[[], bool] = _never
    ) -> DecodingPath:
        """Sets the row that a cross-attention head uses at a step, and decodes again from that step.

        A token forced at this very step stays so; later changes are gone.

        Args:
            layer, head, step: counted from 0.
            weights: S numbers of 0 or more, which are scaled to sum to 1.
            should_stop: asked before each step.

        Raises:
            AnalysisError: there is no such head or step, or these are no weights.
            TranslationStoppedError: `should_stop` said so; nothing has changed then.
        """
        here = self._step_at(step)
        row = FixedRow(layer, head, step, shares_of(weights, len(self._source.ids)))
        self._check_head(here, layer, head)
        return self._put(self.path.steps[:step], (*self._others(row), row), should_stop)

    def release(self, layer: int, head: int, step: int, *, should_stop: Callable[[], bool] = _never) -> DecodingPath:
        """Takes an overridden row back, whatever was done since, and decodes again from its step.

        Raises:
            AnalysisError: this row is not overridden.
            TranslationStoppedError: `should_stop` said so; nothing has changed then.
        """
        if (layer, head) not in self._step_at(step).overridden:
            raise AnalysisError(
                f"The row of step {step + 1} in {Head('cross', layer, head)} was not set by hand. One that was is "
                "expected; choose another."
            )
        return self._put(self.path.steps[:step], self._others(FixedRow(layer, head, step, ())), should_stop)

    def _others(self, row: FixedRow) -> tuple[Edit, ...]:
        """The changes up to the step of `row`, without one of the same row."""
        return tuple(
            edit
            for edit in self.path.edits
            if edit.step <= row.step
            and not (
                isinstance(edit, FixedRow) and (edit.layer, edit.head, edit.step) == (row.layer, row.head, row.step)
            )
        )

    def _put(
        self, kept: Sequence[DecodingStep], edits: tuple[Edit, ...], should_stop: Callable[[], bool]
    ) -> DecodingPath:
        self._paths.append(self._go_on(kept, edits, should_stop))
        return self.path

    def _go_on(
        self, kept: Sequence[DecodingStep], edits: tuple[Edit, ...], should_stop: Callable[[], bool]
    ) -> DecodingPath:
        """The steps kept, and as many more as it takes."""
        began = time.perf_counter()
        steps = list(kept)
        with torch.inference_mode(), heads_off(self._translator.model, self._off):
            self._refill_cache(steps, edits)
            while not self._is_over(steps):
                if should_stop():
                    raise TranslationStoppedError
                steps.append(self._next_step(steps, edits))
            translation = self._translation(steps, edits, began)
        return DecodingPath(tuple(steps), edits, translation, is_cut_off=not self._has_ended(steps))

    def _has_ended(self, steps: Sequence[DecodingStep]) -> bool:
        end_id = self._translator.rules.end_id
        return end_id is None or steps[-1].chosen.token_id == end_id

    def _is_over(self, steps: Sequence[DecodingStep]) -> bool:
        if not steps:
            return False
        return len(steps) >= self._limit or steps[-1].chosen.token_id == self._translator.rules.end_id

    def _refill_cache(self, steps: Sequence[DecodingStep], edits: Sequence[Edit]) -> None:
        """Makes the decoder's cache hold these steps and no others."""
        num_same = 0
        while num_same < min(len(steps), len(self._read)) and self._read[num_same] is steps[num_same].cross_rows:
            num_same += 1
        self._state.step = num_same
        del self._read[num_same:]
        for step in range(num_same, len(steps)):
            self._observe(steps[:step], edits)
            self._read.append(steps[step].cross_rows)

    def _observe(self, before: Sequence[DecodingStep], edits: Sequence[Edit]) -> ObservedStep:
        token_id = before[-1].chosen.token_id if before else self._translator.rules.start_id
        tokens = torch.tensor([token_id], device=self._translator.device.name)
        fixed = [edit for edit in edits if isinstance(edit, FixedRow)]
        return observed_step(self._translator.model, tokens, self._state, fixed)

    def _next_step(self, before: Sequence[DecodingStep], edits: Sequence[Edit]) -> DecodingStep:
        step = len(before)
        observed = self._observe(before, edits)
        log_probabilities = observed.logits[0].float().log_softmax(dim=-1)
        allowed = (log_probabilities + self._forbidden).cpu()
        best = allowed.topk(min(self._num_candidates, int(allowed.isfinite().sum())))
        values = log_probabilities.cpu().numpy()
        forced = next((edit for edit in edits if isinstance(edit, ForcedToken) and edit.step == step), None)
        chosen, rank = self._choice(values, int(allowed.argmax()) if forced is None else forced.token_id)
        cross_rows = observed.cross_rows[0].float().cpu().numpy()
        self._read.append(cross_rows)
        return DecodingStep(
            step=step,
            read=before[-1].chosen.token if before else self._codec.label(self._translator.rules.start_id),
            candidates=tuple(self._candidate(values, token_id) for token_id in best.indices.tolist()),
            chosen=chosen,
            rank=rank,
            is_forced=forced is not None,
            entropy=_entropy(log_probabilities),
            cross_rows=cross_rows,
            self_rows=observed.self_rows[0].float().cpu().numpy(),
            overridden=frozenset(
                (edit.layer, edit.head) for edit in edits if isinstance(edit, FixedRow) and edit.step == step
            ),
            log_probabilities=values,
        )

    def _choice(self, log_probabilities: FloatArray, token_id: int) -> tuple[Candidate, int]:
        """The token that is chosen, and its rank."""
        allowed = log_probabilities + self._forbidden.cpu().numpy()
        return self._candidate(log_probabilities, token_id), 1 + int((allowed > allowed[token_id]).sum())

    def _candidate(self, log_probabilities: FloatArray, token_id: int) -> Candidate:
        return Candidate(token_id, self._codec.label(token_id), float(log_probabilities[token_id]))

    def _translation(self, steps: Sequence[DecodingStep], edits: Sequence[Edit], began: float) -> Translation:
        """The steps as one translation; its maps are the rows that were used."""
        encoder_maps = self._encoding.maps
        assert encoder_maps is not None
        shape = (*steps[0].self_rows.shape[:2], len(steps), len(steps))
        decoder_maps = torch.zeros(1, *shape)
        for step in steps:
            decoder_maps[0, :, :, step.step, : step.step + 1] = torch.from_numpy(step.self_rows)
        output = ModelOutput(
            logits=torch.stack([torch.from_numpy(step.log_probabilities) for step in steps])[None],
            encoder_maps=encoder_maps,
            decoder_maps=decoder_maps,
            cross_maps=torch.stack([torch.from_numpy(step.cross_rows) for step in steps], dim=2)[None],
        )
        translator = self._translator
        target = translator.chosen_target([step.chosen.token_id for step in steps], self._limit)
        target = replace(target, notes=(*target.notes, *_notes(steps, edits)))
        return translator.describe(self._source, target, output, began)

    def _step_at(self, step: int) -> DecodingStep:
        steps = self.path.steps
        if step not in range(len(steps)):
            raise AnalysisError(
                f"There is no step {step + 1}: this translation has {len(steps)}. Choose one of them, counted from 1."
            )
        return steps[step]

    def _check_token(self, token_id: int) -> None:
        num_tokens = self._forbidden.numel()
        if token_id not in range(num_tokens):
            raise AnalysisError(
                f"There is no token number {token_id}. One from 0 to {num_tokens - 1} was expected; choose a candidate."
            )
        if token_id in self._translator.rules.forbidden_ids:
            raise AnalysisError(
                f"The token {self._codec.label(token_id)} can never be chosen: it is no part of a translation. Choose "
                "one of the candidates."
            )

    def _check_head(self, here: DecodingStep, layer: int, head: int) -> None:
        num_layers, num_heads = here.cross_rows.shape[:2]
        if layer not in range(num_layers) or head not in range(num_heads):
            raise AnalysisError(
                f"This model has no {Head('cross', layer, head)}. It has {num_layers} layers of {num_heads} heads; "
                "name one of these, counted from 1."
            )


def _entropy(log_probabilities: Tensor) -> float:
    """In nats, in double precision, 0 · log 0 being 0."""
    values = log_probabilities.double()
    return float(-(values.exp() * values.clamp(min=-1e30)).sum().clamp(max=0))


def _notes(steps: Sequence[DecodingStep], edits: Sequence[Edit]) -> list[str]:
    """What was done by hand, for the reader of the translation."""
    forced = [
        f"step {edit.step + 1}: {steps[edit.step].chosen.token}" for edit in edits if isinstance(edit, ForcedToken)
    ]
    rows = [
        f"step {edit.step + 1}: {Head('cross', edit.layer, edit.head)}" for edit in edits if isinstance(edit, FixedRow)
    ]
    notes = [f"Chosen by hand, not by the model: {'; '.join(forced)}."] if forced else []
    return [*notes, f"Attention set by hand: {'; '.join(rows)}."] if rows else notes
