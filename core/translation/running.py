"""Batches of experiments, from ids to words, probabilities and maps; and of a corpus.

Shape legend: `core.model`.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from ..checkpoint.file import Checkpoint
from ..config import RunConfig
from ..inference.compiled import CompiledTransformer, Model, plain_form
from ..model.intervention_tensors import compile_interventions
from ..model.non_finite import is_finite, non_finite, require_finite
from ..model.outputs import Encoding
from ..model.transformer import Transformer
from ..padding import pad
from ..short_repr import ShortRepr
from ..text.phrases import phrase
from .beam import beam_search
from .compilation import CompiledExperiment, compile_general, max_steps
from .decoding import (
    DecodeRequest,
    DecodingRules,
    TargetPass,
    batches_by_length,
    greedy_search,
    verified_greedy,
)
from .experiment import (
    AttentionRow,
    Beam,
    FeedForwardScaled,
    General,
    GivenTarget,
    Greedy,
    HeadScaled,
    Intervention,
    Output,
    SoftmaxTemperature,
)
from .notes import Note, texts_of
from .result import (
    Alternative,
    AttentionMaps,
    FloatArray,
    Translation,
    TranslationStoppedError,
    read_only,
)
from .typed_text import EncodedTarget, cover

EXPERIMENT_BATCH = 16
"""Experiments that are computed together: few, so that little is padded."""
MAX_BEAM_ROWS = 256
"""Partial translations that are continued together; a wide beam takes fewer sentences at once."""
_SCORED_SOURCES = 64
"""Sources that are encoded together to score targets."""
NUM_ALTERNATIVES = 10
CORPUS_BATCH = 192
"""Sentences that are translated side by side without maps."""
_MAX_LOGITS = 2**27
"""Maximum number of logits of a batch, of which a plain model computes all at each step."""


@dataclass(frozen=True)
class Hypothesis(ShortRepr):
    """A translation without its maps, as corpora need it.

    Attributes:
        text: the sentence for display.
        words: tokens of the model's output, in its own case.
        notes: notes for the reader on the source and the translation.
    """

    text: str
    words: tuple[str, ...]
    notes: tuple[Note, ...] = field(default=(), compare=False)


@dataclass(frozen=True, eq=False)
class Steps:
    """The predictions at each of T decoding steps; see `Translation`."""

    log_probabilities: tuple[float, ...]
    alternatives: tuple[tuple[Alternative, ...], ...]
    ranks: tuple[int, ...]
    entropies: tuple[float, ...]


class Runner:
    """Runs experiments with one kind of output together, and describes the results.

    Attributes:
        rules: of the decoder.

    Args:
        checkpoint: of the model.
        rules: see above.
    """

    def __init__(self, checkpoint: Checkpoint, rules: DecodingRules) -> None:
        self._codecs = checkpoint.codecs
        self._codec = checkpoint.codecs.target
        self._word_counts = checkpoint.word_counts
        self.rules = rules
        self._kept: tuple[Model, object, Encoding] | None = None

    def run(
        self,
        model: Model,
        digest: str,
        batch: Sequence[CompiledExperiment],
        need_maps: bool,
        should_stop: Callable[[], bool],
        draft: Translation | None = None,
        encoding: Encoding | None = None,
    ) -> list[Translation]:
        """The results of a batch, see `Translator.run`.

        `digest` is the model's; an encoding replaces that of the sources.
        """
        began = time.perf_counter()
        with torch.inference_mode():
            encoding = self.encode(model, batch, need_maps) if encoding is None else encoding
            passes = self._find_targets(model, batch, encoding, need_maps, should_stop, draft)
            for row, target_pass in enumerate(passes):
                if not is_finite(target_pass.logits):
                    raise non_finite(
                        plain_form(model), encoding, row, self.rules.read_ids(target_pass.ids)
                    )
            steps = [
                self.describe_steps(target_pass.logits, target_pass.ids) for target_pass in passes
            ]
        seconds = (time.perf_counter() - began) / len(batch)
        return [
            self._translation(compiled, target_pass, predictions, need_maps, seconds, digest)
            for compiled, target_pass, predictions in zip(batch, passes, steps, strict=True)
        ]

    def encode(
        self, model: Model, batch: Sequence[CompiledExperiment], need_maps: bool
    ) -> Encoding:
        """Encodes each source once for experiments with the same changes in the encoder.

        The encoding of one source without changes in the encoder, as with most interventions, is
        kept for the next call; not that of a plain model, which may have hooks.
        """
        plain = plain_form(model)
        device = plain.output.weight.device
        interventions = compile_interventions(
            plain, [compiled.experiment.changes for compiled in batch]
        )
        keys = [_encoder_key(compiled) for compiled in batch]
        is_kept = len(batch) == 1 and not keys[0][1] and isinstance(model, CompiledTransformer)
        if is_kept and self._kept is not None and self._kept[:2] == (model, keys[0]):
            encoding = self._kept[2]
            if encoding.maps is not None or not need_maps:
                return encoding.with_interventions(interventions)
        first_of = {key: index for index, key in reversed(list(enumerate(keys)))}
        different = sorted(first_of.values())
        ids = pad([batch[index].source.ids for index in different], plain.padding_id).to(device)
        of_different = compile_interventions(
            plain, [batch[index].experiment.changes for index in different]
        )
        encoding = model.encode(ids, need_maps=need_maps, interventions=of_different)
        if is_kept:
            self._kept = model, keys[0], encoding
        if len(different) < len(batch):
            encoding = encoding.select(
                torch.tensor([different.index(first_of[key]) for key in keys], device=device)
            )
        return encoding.with_interventions(interventions)

    def scores(
        self,
        model: Model,
        targets: Sequence[Sequence[int]],
        compiled: Sequence[CompiledExperiment],
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[tuple[float, ...]]:
        """The log-probabilities of the ids of one target for each experiment.

        Those of similar length are computed side by side.

        Args:
            model: in evaluation mode.
            targets: ids, as many targets as experiments.
            compiled: their outputs and forced tokens are ignored.
            should_stop: called before each batch.

        Raises:
            TranslationStoppedError: `should_stop` returned True.
            NonFiniteError: the logits are not finite.
        """
        scores: dict[int, tuple[float, ...]] = {}
        padding_id = plain_form(model).padding_id
        lengths = [len(experiment.source.ids) for experiment in compiled]
        for group in batches_by_length(lengths, _SCORED_SOURCES):
            with torch.inference_mode():
                encoding = self.encode(model, [compiled[index] for index in group], need_maps=False)
                lengths = [len(targets[index]) for index in group]
                for rows in batches_by_length(lengths, EXPERIMENT_BATCH):
                    if should_stop():
                        raise TranslationStoppedError
                    ids = [targets[group[row]] for row in rows]
                    device = encoding.states.device
                    read = pad(list(map(self.rules.read_ids, ids)), padding_id).to(device)
                    selected = encoding.select(torch.tensor(rows, device=device))
                    logits = model.decode(selected, read).logits.float()
                    require_finite(plain_form(model), selected, read, logits)
                    chosen = pad(ids, 0).to(device)[:, :, None]
                    values = logits.log_softmax(dim=-1).gather(2, chosen)[:, :, 0].tolist()
                    for row, target, numbers in zip(rows, ids, values, strict=True):
                        scores[group[row]] = tuple(numbers[: len(target)])
        return [scores[index] for index in range(len(compiled))]

    def _find_targets(
        self,
        model: Model,
        batch: Sequence[CompiledExperiment],
        encoding: Encoding,
        need_maps: bool,
        should_stop: Callable[[], bool],
        draft: Translation | None,
    ) -> list[TargetPass]:
        """The target of each experiment, chosen or given, and the pass over it."""
        limits = [compiled.max_steps for compiled in batch]
        forced = [compiled.forced for compiled in batch]
        output = batch[0].experiment.output
        if isinstance(output, Greedy):
            known = () if draft is None else draft.predicted_ids
            requests = [
                DecodeRequest(limit, ids, known)
                for limit, ids in zip(limits, self.rules.forced_ends(limits, forced), strict=True)
            ]
            return verified_greedy(
                model, encoding, requests, self.rules, need_maps=need_maps, should_stop=should_stop
            )
        if isinstance(output, Beam):
            rows = forced if any(forced) else None
            size, penalty = output.size, output.length_penalty
            chosen: Sequence[Sequence[int]] = beam_search(
                model,
                encoding,
                limits,
                self.rules,
                size,
                penalty,
                forced=rows,
                should_stop=should_stop,
            )
        elif should_stop():
            raise TranslationStoppedError
        else:
            chosen = [compiled.given.ids for compiled in batch if compiled.given is not None]
        read = pad([self.rules.read_ids(ids) for ids in chosen], plain_form(model).padding_id)
        passed = model.decode(encoding, read.to(encoding.states.device), need_maps=need_maps)
        return [TargetPass(list(ids), passed, row) for row, ids in enumerate(chosen)]

    # --- text for people --------------------------------------------------------------------------

    def hypothesis(self, chosen: Sequence[int], limit: int, notes: Sequence[Note]) -> Hypothesis:
        """The translation with these ids, of up to `limit` tokens; `notes`: those on its source."""
        target = self._chosen_target(chosen, limit)
        return Hypothesis(
            target.text, tuple(word.text for word in target.words), (*notes, *target.notes)
        )

    def _chosen_target(self, chosen: Sequence[int], limit: int) -> EncodedTarget:
        """The ids that the model chose, with a note if the translation did not end."""
        words = tuple(self._codec.decode(chosen))
        notes: tuple[Note, ...] = ()
        if self.rules.end_id is not None and chosen[-1] != self.rules.end_id:
            notes = (Note("cut_off", phrase("cut_off", count=limit)),)
        elif self.rules.forces_end and len(chosen) == limit:
            notes = (Note("ended", phrase("ended", count=limit)),)
        elif not words:
            notes = (Note("empty", phrase("empty")),)
        labels = tuple(self._codec.label(token) for token in chosen)
        return EncodedTarget(tuple(chosen), labels, words, self._codec.text_of(chosen), notes)

    def _translation(
        self,
        compiled: CompiledExperiment,
        target_pass: TargetPass,
        steps: Steps,
        need_maps: bool,
        seconds: float,
        digest: str,
    ) -> Translation:
        source = compiled.source
        target = compiled.given or self._chosen_target(target_pass.ids, compiled.max_steps)
        return Translation(
            experiment=compiled.experiment,
            text=target.text,
            source_tokens=source.labels,
            read_tokens=(self._codec.label(self.rules.start_id), *target.labels[:-1]),
            predicted_tokens=target.labels,
            source_words=source.words,
            target_words=target.words,
            unknown_source_positions=source.unknown_positions,
            ignored_text=source.ignored_text,
            notes=texts_of((*source.notes, *target.notes)),
            attention=_maps(target_pass, len(source.ids)) if need_maps else None,
            seconds=seconds,
            source_ids=source.ids,
            read_ids=self.rules.read_ids(target.ids),
            predicted_ids=target.ids,
            source_places=source.places,
            unreached=compiled.unreached(len(target.ids)),
            coverage=cover(source, self._word_counts),
            hint=source.hint,
            model_digest=digest,
            vocabulary_digest=self._codecs.vocabulary_digest,
            **vars(steps),
        )

    def describe_steps(self, logits: Tensor, ids: Sequence[int]) -> Steps:
        """The predictions at each step of one sentence, by its logits [T, V], for T ids."""
        log_probabilities = logits.float().log_softmax(dim=-1)
        # [T, 1]
        chosen = log_probabilities.gather(1, torch.tensor(ids, device=logits.device)[:, None])
        entropies = _entropies(log_probabilities)
        forbidden = torch.tensor(self.rules.forbidden_ids, dtype=torch.long, device=logits.device)
        allowed = log_probabilities.index_fill_(1, forbidden, float("-inf"))
        if self.rules.end_id is not None:
            allowed[: self.rules.min_steps, self.rules.end_id] = float("-inf")
        best, tokens = allowed.topk(
            min(NUM_ALTERNATIVES, allowed.size(1) - len(self.rules.forbidden_at(0)))
        )
        # if every chosen token is among the best ones, so are all that are better, and few need be
        # compared
        compared = best if bool((chosen >= best[:, -1:]).all()) else allowed
        return Steps(
            log_probabilities=tuple(chosen[:, 0].tolist()),
            alternatives=self._alternatives(best, tokens),
            ranks=tuple((1 + (compared > chosen).sum(dim=-1)).tolist()),
            entropies=tuple(entropies.tolist()),
        )

    def _alternatives(
        self, log_probabilities: Tensor, ids: Tensor
    ) -> tuple[tuple[Alternative, ...], ...]:
        """The best tokens of each of T steps, given their ids [T, N]."""
        labels = self._codec.labels
        tokens = self._codec.vocabulary.tokens
        return tuple(
            tuple(
                Alternative(labels[token], value, tokens[token])
                for token, value in zip(chosen, values, strict=True)
            )
            for chosen, values in zip(ids.tolist(), log_probabilities.tolist(), strict=True)
        )


def _maps(target_pass: TargetPass, num_source: int) -> AttentionMaps:
    """The maps of this sentence, without padding."""
    num_steps = len(target_pass.ids)

    def array(maps: Tensor | None, num_queries: int, num_keys: int) -> FloatArray:
        assert maps is not None
        here = maps[target_pass.row, :, :, :num_queries, :num_keys]
        return read_only(np.ascontiguousarray(here.float().cpu().numpy()))

    return AttentionMaps(
        array(target_pass.output.encoder_maps, num_source, num_source),
        array(target_pass.output.decoder_maps, num_steps, num_steps),
        array(target_pass.output.cross_maps, num_steps, num_source),
    )


def _entropies(log_probabilities: Tensor) -> Tensor:
    """[T], in nats, of the distributions [T, V], 0 · log 0 being 0."""
    sums = torch.linalg.vecdot(log_probabilities.exp(), log_probabilities)
    if sums.isnan().any():
        sums = torch.linalg.vecdot(log_probabilities.exp(), log_probabilities.clamp(min=-1e30))
    return -sums.clamp(max=0)


def groups_to_run(compiled: Sequence[CompiledExperiment]) -> Iterator[list[int]]:
    """Groups of indices of experiments with the same kind of output and similar lengths."""
    by_output: dict[Output | type[GivenTarget], list[int]] = {}
    for index, request in enumerate(compiled):
        output = request.experiment.output
        by_output.setdefault(GivenTarget if isinstance(output, GivenTarget) else output, []).append(
            index
        )
    for kind, indices in by_output.items():
        lengths = [len(compiled[index].source.ids) for index in indices]
        size = max(
            1,
            min(
                EXPERIMENT_BATCH,
                MAX_BEAM_ROWS // kind.size if isinstance(kind, Beam) else MAX_BEAM_ROWS,
            ),
        )
        for group in batches_by_length(lengths, size):
            yield [indices[position] for position in group]


def _encoder_key(compiled: CompiledExperiment) -> tuple[tuple[int, ...], tuple[Intervention, ...]]:
    """The source and the changes in the encoder, on which the encoder's output depends."""
    return compiled.source.ids, tuple(filter(_is_in_encoder, compiled.experiment.interventions))


def _is_in_encoder(intervention: Intervention) -> bool:
    match intervention:
        case (
            HeadScaled(part)
            | FeedForwardScaled(part)
            | SoftmaxTemperature(part)
            | AttentionRow(part)
        ):
            return part.side == "encoder"
        case _:
            return False


def batch_size_for(model: Model, beam: int, longest: int) -> int:
    """The number of sentences to translate together, of translations of up to `longest` tokens."""
    size = min(CORPUS_BATCH, MAX_BEAM_ROWS // beam)
    if isinstance(model, Transformer):
        size = min(size, _MAX_LOGITS // (beam * longest * model.output.out_features))
    return max(1, size)


@torch.inference_mode()
def translate_ids(
    model: Model,
    sources: Sequence[Sequence[int]],
    run: RunConfig,
    rules: DecodingRules,
    *,
    beam: int = 1,
    length_penalty: float = 0.0,
    changes: Sequence[General] = (),
    should_stop: Callable[[], bool] = lambda: False,
) -> list[list[int]]:
    """The ids of the translations of a batch of sources, with these changes.

    Raises `TranslationStoppedError` if `should_stop`, called before each step, returned True.
    """
    plain = plain_form(model)
    padded = pad(sources, plain.padding_id).to(plain.output.weight.device)
    encoding = model.encode(padded, interventions=compile_general(plain, changes, len(sources)))
    limits = [max_steps(len(row), run, rules) for row in sources]
    if beam > 1:
        return beam_search(
            model, encoding, limits, rules, beam, length_penalty, should_stop=should_stop
        )
    ends = rules.forced_ends(limits, [{}] * len(limits)) if rules.forces_end else None
    return greedy_search(model, encoding, limits, rules, ends, should_stop)
