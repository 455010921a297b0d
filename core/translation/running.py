"""Batches of experiments, from their ids to their results. Shape legend: `core.model`."""

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import torch

from augenmerk.core.checkpoint.file import Checkpoint
from augenmerk.core.corpora.batches import pad
from augenmerk.core.inference.compiled import CompiledTransformer, Model, plain_form
from augenmerk.core.model.finite import is_finite, non_finite
from augenmerk.core.model.interventions import compile_interventions
from augenmerk.core.model.transformer import Encoding
from augenmerk.core.translation.beam import beam_search
from augenmerk.core.translation.compilation import CompiledExperiment
from augenmerk.core.translation.decoding import DecodingRules, batches_by_length
from augenmerk.core.translation.description import Describer, FoundTarget
from augenmerk.core.translation.experiment import Beam, GivenTarget, Greedy, Output
from augenmerk.core.translation.result import Translation, TranslationStoppedError
from augenmerk.core.translation.source import EncodedSource
from augenmerk.core.translation.speculation import DecodeRequest, verified_greedy
from augenmerk.core.translation.target import EncodedTarget

EXPERIMENT_BATCH = 16
"""Experiments that are computed side by side: few, so that little is padded."""
MAX_BEAM_ROWS = 256
"""Partial translations that are continued side by side; a wide beam takes fewer sentences at once."""


class Runner:
    """Runs experiments with one kind of output side by side.

    Attributes:
        describer: turns their ids and logits into results.

    Args:
        checkpoint: of the model.
        rules: of its decoder.
    """

    def __init__(self, checkpoint: Checkpoint, rules: DecodingRules) -> None:
        self._codecs = checkpoint.codecs
        self._rules = rules
        self.describer = Describer(checkpoint, rules)
        self._last: _KeptEncoding | None = None

    def run(
        self,
        model: Model,
        batch: Sequence[CompiledExperiment],
        need_maps: bool,
        should_stop: Callable[[], bool],
        draft: Translation | None = None,
    ) -> list[Translation]:
        """The results of a batch. See `Translator.run`."""
        began = time.perf_counter()
        with torch.inference_mode():
            encoding = self.encode(model, batch, need_maps)
            if isinstance(batch[0].experiment.output, Greedy):
                found = self._decode_greedily(model, batch, encoding, need_maps, should_stop, draft)
            else:
                targets = self._targets(model, batch, encoding, should_stop)
                read = pad([self._rules.read_ids(target.ids) for target in targets], plain_form(model).padding_id)
                output = model.decode(encoding, read.to(encoding.states.device), need_maps=need_maps)
                found = [FoundTarget(target, output, row) for row, target in enumerate(targets)]
            for place, each in enumerate(found):
                if not is_finite(each.logits):
                    raise non_finite(plain_form(model), encoding, place, self._rules.read_ids(each.target.ids))
            steps = [self.describer.steps(each.logits, each.target.ids) for each in found]
        seconds = (time.perf_counter() - began) / len(batch)
        return [
            self.describer.translation(compiled, each, knew, need_maps, seconds)
            for compiled, each, knew in zip(batch, found, steps, strict=True)
        ]

    def encode(self, model: Model, batch: Sequence[CompiledExperiment], need_maps: bool) -> Encoding:
        """Each source once for all experiments that agree on it and on the changes in the encoder.

        The encoding of one source without changes in the encoder, as with most interventions, is kept for the next
        call; not that of a plain model, which may have hooks.
        """
        plain = plain_form(model)
        device = plain.output.weight.device
        interventions = compile_interventions(plain, [compiled.changes for compiled in batch])
        keys = [_encoder_key(compiled) for compiled in batch]
        is_kept = len(batch) == 1 and not any(keys[0][1]) and isinstance(model, CompiledTransformer)
        if is_kept and self._last is not None and self._last.serves(model, keys[0], need_maps):
            return self._last.encoding.with_interventions(interventions)
        first_of = {key: place for place, key in reversed(list(enumerate(keys)))}
        different = sorted(first_of.values())
        ids = pad([batch[place].source.ids for place in different], plain.padding_id).to(device)
        of_different = compile_interventions(plain, [batch[place].changes for place in different])
        encoding = model.encode(ids, need_maps=need_maps, interventions=of_different)
        if is_kept:
            self._last = _KeptEncoding(model, keys[0], encoding)
        if len(different) < len(batch):
            encoding = encoding.select(torch.tensor([different.index(first_of[key]) for key in keys], device=device))
        return encoding.with_interventions(interventions)

    def _decode_greedily(
        self,
        model: Model,
        batch: Sequence[CompiledExperiment],
        encoding: Encoding,
        need_maps: bool,
        should_stop: Callable[[], bool],
        draft: Translation | None,
    ) -> list[FoundTarget]:
        known = () if draft is None else draft.predicted_ids
        limits = [compiled.max_steps for compiled in batch]
        forced = self._rules.forced_ends(limits, [compiled.forced for compiled in batch]) or [{}] * len(batch)
        requests = [
            DecodeRequest(limit, ids, known, self.last_token(compiled.source))
            for compiled, limit, ids in zip(batch, limits, forced, strict=True)
        ]
        found = verified_greedy(model, encoding, requests, self._rules, need_maps=need_maps, should_stop=should_stop)
        return [
            FoundTarget(self.describer.chosen_target(each.ids, limit), each.output, each.row)
            for each, limit in zip(found, limits, strict=True)
        ]

    def last_token(self, source: EncodedSource) -> int | None:
        """The last token of a source if its translation may end with it too: a full stop, of one vocabulary for both.

        None if it stands in the source several times, or each side has its vocabulary.
        """
        vocabulary = self._codecs.source.vocabulary
        last = source.ids[source.words[-1].end - 1] if source.words else None
        is_joint = vocabulary is self._codecs.target.vocabulary
        return last if is_joint and source.ids.count(last) == 1 else None

    def _targets(
        self, model: Model, batch: Sequence[CompiledExperiment], encoding: Encoding, should_stop: Callable[[], bool]
    ) -> list[EncodedTarget]:
        given = [compiled.given for compiled in batch if compiled.given is not None]
        if given:
            if should_stop():
                raise TranslationStoppedError
            return given
        limits = [compiled.max_steps for compiled in batch]
        forced = [compiled.forced for compiled in batch] if any(compiled.forced for compiled in batch) else None
        output = batch[0].experiment.output
        assert isinstance(output, Beam)
        chosen = beam_search(
            model,
            encoding,
            limits,
            self._rules,
            output.size,
            output.length_penalty,
            forced=forced,
            should_stop=should_stop,
        )
        return [self.describer.chosen_target(ids, limit) for ids, limit in zip(chosen, limits, strict=True)]


def groups_to_run(compiled: Sequence[CompiledExperiment]) -> Iterator[list[int]]:
    """Places of experiments that are computed side by side: the same kind of output, and similar lengths."""
    by_output: dict[Output | type[GivenTarget], list[int]] = {}
    for place, each in enumerate(compiled):
        output = each.experiment.output
        by_output.setdefault(GivenTarget if isinstance(output, GivenTarget) else output, []).append(place)
    for kind, places in by_output.items():
        lengths = [len(compiled[place].source.ids) for place in places]
        size = max(1, min(EXPERIMENT_BATCH, MAX_BEAM_ROWS // kind.size if isinstance(kind, Beam) else MAX_BEAM_ROWS))
        for group in batches_by_length(lengths, size):
            yield [places[index] for index in group]


_EncoderKey = tuple[tuple[int, ...], tuple[tuple[Hashable, ...], ...]]


@dataclass(frozen=True, eq=False)
class _KeptEncoding:
    """The encoding of one source by a compiled model, whose weights cannot change."""

    model: Model
    key: _EncoderKey
    encoding: Encoding

    def serves(self, model: Model, key: _EncoderKey, need_maps: bool) -> bool:
        return self.model is model and self.key == key and (self.encoding.maps is not None or not need_maps)


def _encoder_key(compiled: CompiledExperiment) -> _EncoderKey:
    """What the encoder's output depends on: the source, and each kind of change in the encoder."""
    changes = compiled.changes
    factors = tuple((head, factor) for head, factor in changes.factors.items() if head.kind == "encoder")
    rows = tuple((site, tuple(weights)) for site, weights in changes.rows.items() if site[0].kind == "encoder")
    temperatures = tuple(each for each in changes.temperatures.items() if each[0].kind == "encoder")
    return compiled.source.ids, (factors, temperatures, rows)
