"""What people see of a finished pass: words, probabilities, alternatives and maps. Shape legend: `core.model`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from augenmerk.core.checkpoint.file import Checkpoint
from augenmerk.core.model.transformer import ModelOutput
from augenmerk.core.translation.compilation import CompiledExperiment
from augenmerk.core.translation.decoding import DecodingRules
from augenmerk.core.translation.result import Alternative, AttentionMaps, FloatArray, Translation, Word, read_only
from augenmerk.core.translation.source import cover
from augenmerk.core.translation.target import EncodedTarget

NUM_ALTERNATIVES = 10


@dataclass(frozen=True)
class Hypothesis:
    """A translation without its maps, as corpora need it.

    Attributes:
        text: as people read it.
        words: as the model produced them, tokenized, in its own case.
    """

    text: str
    words: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Steps:
    """What each of T decoding steps knew; see `Translation`."""

    log_probabilities: tuple[float, ...]
    alternatives: tuple[tuple[Alternative, ...], ...]
    ranks: tuple[int, ...]
    entropies: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class FoundTarget:
    """A target, and the pass over it.

    Attributes:
        target: T tokens, chosen or given.
        output, row: the pass, and the row of this sentence in its batch. Positions after T say nothing.
    """

    target: EncodedTarget
    output: ModelOutput
    row: int

    @property
    def logits(self) -> Tensor:
        """[T, V]."""
        return self.output.logits[self.row, : len(self.target.ids)]

    def maps(self, num_source: int) -> AttentionMaps:
        """The maps of this sentence, without padding."""
        num_steps = len(self.target.ids)

        def array(maps: Tensor | None, num_queries: int, num_keys: int) -> FloatArray:
            assert maps is not None
            here = maps[self.row, :, :, :num_queries, :num_keys]
            return read_only(np.ascontiguousarray(here.float().cpu().numpy()))

        return AttentionMaps(
            array(self.output.encoder_maps, num_source, num_source),
            array(self.output.decoder_maps, num_steps, num_steps),
            array(self.output.cross_maps, num_steps, num_source),
        )


class Describer:
    """Turns ids and logits of one model into what people see.

    Args:
        checkpoint: of the model.
        rules: of its decoder.
    """

    def __init__(self, checkpoint: Checkpoint, rules: DecodingRules) -> None:
        self._codec = checkpoint.codecs.target
        self._word_counts = checkpoint.word_counts
        self._rules = rules

    def hypothesis(self, chosen: Sequence[int]) -> Hypothesis:
        """The translation with these ids."""
        return Hypothesis(self._codec.text_of(chosen), tuple(word.text for word in self._codec.decode(chosen)))

    def chosen_target(self, chosen: Sequence[int], limit: int) -> EncodedTarget:
        """The ids that the model chose, with a note if it did not come to an end."""
        words = tuple(Word(word.text, word.start, word.end) for word in self._codec.decode(chosen))
        notes: tuple[str, ...] = ()
        if self._rules.end_id is not None and chosen[-1] != self._rules.end_id:
            notes = (f"The translation was cut off after {limit} tokens: the model did not end it.",)
        elif self._rules.forces_end and len(chosen) == limit:
            notes = (f"The translation was ended at {limit} tokens, the most that this model's settings allow.",)
        elif not words:
            notes = ("The translation is empty: the model ended it before its first word.",)
        labels = tuple(self._codec.label(token) for token in chosen)
        return EncodedTarget(tuple(chosen), labels, words, self._codec.text_of(chosen), notes, is_given=False)

    def translation(
        self, compiled: CompiledExperiment, found: FoundTarget, steps: Steps, need_maps: bool, seconds: float
    ) -> Translation:
        """The result of an experiment."""
        source, target = compiled.source, found.target
        start = self._codec.label(self._rules.start_id)
        return Translation(
            experiment=compiled.experiment,
            text=target.text,
            source_tokens=source.labels,
            read_tokens=(start, *target.labels[:-1]),
            predicted_tokens=target.labels,
            log_probabilities=steps.log_probabilities,
            alternatives=steps.alternatives,
            source_words=source.words,
            target_words=target.words,
            unknown_source_positions=source.unknown_positions,
            ignored_text=source.ignored_text,
            notes=(*source.notes, *target.notes),
            attention=found.maps(len(source.ids)) if need_maps else None,
            seconds=seconds,
            source_ids=source.ids,
            read_ids=self._rules.read_ids(target.ids),
            predicted_ids=target.ids,
            source_places=source.places,
            ranks=steps.ranks,
            entropies=steps.entropies,
            unreached=compiled.unreached(len(target.ids)),
            coverage=cover(source, self._word_counts),
        )

    def steps(self, logits: Tensor, ids: Sequence[int]) -> Steps:
        """What each decoding step of one sentence knew, from its logits [T, V], when it chose these T ids."""
        log_probabilities = logits.float().log_softmax(dim=-1)
        chosen = log_probabilities.gather(1, torch.tensor(ids, device=logits.device)[:, None])  # [T, 1]
        entropies = _entropies(log_probabilities)
        forbidden = torch.tensor(self._rules.forbidden_ids, dtype=torch.long, device=logits.device)
        allowed = log_probabilities.index_fill_(1, forbidden, float("-inf"))
        if self._rules.end_id is not None:
            allowed[: self._rules.min_steps, self._rules.end_id] = float("-inf")
        best, tokens = allowed.topk(min(NUM_ALTERNATIVES, allowed.size(1) - len(self._rules.forbidden_at(0))))
        # if every chosen token is among the best ones, so are all that are better, and few need be compared
        compared = best if bool((chosen >= best[:, -1:]).all()) else allowed
        return Steps(
            log_probabilities=tuple(chosen[:, 0].tolist()),
            alternatives=self._alternatives(best, tokens),
            ranks=tuple((1 + (compared > chosen).sum(dim=-1)).tolist()),
            entropies=tuple(entropies.tolist()),
        )

    def _alternatives(self, log_probabilities: Tensor, ids: Tensor) -> tuple[tuple[Alternative, ...], ...]:
        """For each of T steps its best tokens, of which these are [T, N]."""
        labels, tokens = self._codec.labels, self._codec.vocabulary.tokens
        return tuple(
            tuple(Alternative(labels[token], value, tokens[token]) for token, value in zip(chosen, values, strict=True))
            for chosen, values in zip(ids.tolist(), log_probabilities.tolist(), strict=True)
        )


def _entropies(log_probabilities: Tensor) -> Tensor:
    """[T], in nats, of the distributions [T, V], 0 · log 0 being 0."""
    sums = torch.linalg.vecdot(log_probabilities.exp(), log_probabilities)
    if sums.isnan().any():
        sums = torch.linalg.vecdot(log_probabilities.exp(), log_probabilities.clamp(min=-1e30))
    return -sums.clamp(max=0)
