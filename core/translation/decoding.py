"""Choosing target tokens one by one. Shape legend: `core.model`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from augenmerk.core.config import DecodingConfig
from augenmerk.core.inference.compiled import Model, plain_form
from augenmerk.core.model.finite import non_finite
from augenmerk.core.model.transformer import Encoding
from augenmerk.core.text.codec import TextCodec
from augenmerk.core.text.vocabulary import Vocabulary
from augenmerk.core.translation.result import TranslationStoppedError

ForcedIds = Mapping[int, int]
"""Ids that are chosen whatever the model prefers, by decoding step."""


@dataclass(frozen=True)
class DecodingRules:
    """What a decoder has to know of its task.

    Attributes:
        start_id: read first.
        end_id: ends a row; None if rows end by length alone.
        forbidden_ids: never chosen.
        max_steps: the most tokens of a translation, the end token included; None for a limit by the source's length.
        steps_per_source_token: that limit, for each source token; None for a generous one.
        min_steps: tokens that are chosen before the end token may be.
        forces_end: whether the last of them is the end token, whatever the model prefers.
    """

    start_id: int
    end_id: int | None
    forbidden_ids: tuple[int, ...] = ()
    max_steps: int | None = None
    forces_end: bool = False
    steps_per_source_token: float | None = None
    min_steps: int = 0

    @classmethod
    def of_vocabulary(cls, vocabulary: Vocabulary, *, forbid_unknown: bool) -> "DecodingRules":
        """Padding and the start mark are never chosen, nor is the unknown token if `forbid_unknown`."""
        kept = {vocabulary.end_id} | (set() if forbid_unknown else {vocabulary.unknown_id})
        forbidden = (mark for mark in vocabulary.special_ids if mark not in kept)
        return cls(vocabulary.start_id, vocabulary.end_id, tuple(sorted(forbidden)))

    @classmethod
    def of_codec(cls, codec: TextCodec, config: DecodingConfig) -> "DecodingRules":
        """What a model's own settings say, and for the rest `of_vocabulary`."""
        rules = cls.of_vocabulary(codec.vocabulary, forbid_unknown=codec.has_pieces)
        forbidden = rules.forbidden_ids if config.forbidden_ids is None else config.forbidden_ids
        return replace(
            rules,
            forbidden_ids=forbidden,
            max_steps=config.max_steps,
            forces_end=config.force_end,
            steps_per_source_token=config.steps_per_source_token,
            min_steps=config.min_steps,
        )

    def read_ids(self, predicted: Sequence[int]) -> tuple[int, ...]:
        """What the decoder reads while it predicts these ids."""
        return (self.start_id, *predicted[:-1])

    def forbidden_at(self, step: int) -> tuple[int, ...]:
        """What is not chosen at this step, counted from 0: the end token neither, while it is too early."""
        if step >= self.min_steps or self.end_id is None:
            return self.forbidden_ids
        return (*self.forbidden_ids, self.end_id)

    def forced_ends(self, limits: Sequence[int], forced: Sequence[ForcedIds] | None) -> Sequence[ForcedIds] | None:
        """`forced` with the end token at each source's last step, where these rules ask for it."""
        if not self.forces_end or self.end_id is None:
            return forced
        end_id = self.end_id
        given: Sequence[ForcedIds] = [{}] * len(limits) if forced is None else forced
        return [{limit - 1: end_id, **ids} for limit, ids in zip(limits, given, strict=True)]


@torch.inference_mode()
def greedy_search(
    model: Model,
    encoding: Encoding,
    max_steps: Sequence[int],
    rules: DecodingRules,
    should_stop: Callable[[], bool] = lambda: False,
    forced: Sequence[ForcedIds] | None = None,
) -> list[list[int]]:
    """The most probable token at each step.

    Args:
        model: in evaluation mode.
        encoding: of B sources.
        max_steps: for each source the largest number of tokens to choose.
        rules: start, end and forbidden tokens.
        should_stop: called before each step.
        forced: for each source its forced tokens by step.

    Returns:
        For each source the chosen ids, the end token included if it came.

    Raises:
        TranslationStoppedError: `should_stop` returned True.
        NonFiniteError: the model's logits are not finite.
    """
    states = encoding.states
    state = model.start_decoding(encoding, max(max_steps))
    forbidden = forbidding(model, rules, states)
    ids_by_step = [
        torch.tensor(rules.forbidden_at(step), dtype=torch.long, device=states.device) for step in (0, rules.min_steps)
    ]
    tokens = torch.full((len(states),), rules.start_id, dtype=torch.long, device=states.device)
    chosen: list[list[int]] = [[] for _ in max_steps]
    rows = list(range(len(chosen)))
    going_on = [True] * len(rows)
    while any(going_on):
        if should_stop():
            raise TranslationStoppedError
        if sum(going_on) <= _MAX_GOING_ON * len(rows):
            places = [place for place, is_open in enumerate(going_on) if is_open]
            kept = torch.tensor(places, dtype=torch.long, device=states.device)
            tokens = tokens[kept]
            state.select(kept)
            rows, going_on = [rows[place] for place in places], [True] * len(places)
        step = state.step
        here = None if forced is None else only(forbidden.at(step), forced, rows, step)
        logits = state.read(tokens)
        if here is None:  # adding to all logits would take as long as finding the largest
            logits.index_fill_(1, ids_by_step[step >= rules.min_steps], float("-inf"))
        else:
            logits.add_(here)
        tokens = best_tokens(logits)
        is_finite = logits.gather(1, tokens[:, None]).isfinite()  # the best one is NaN if any logit is
        if not is_finite.all():
            for row, is_open, is_fine in zip(rows, going_on, is_finite.tolist(), strict=True):
                if is_open and not is_fine[0]:
                    raise non_finite(plain_form(model), encoding, row, [rules.start_id, *chosen[row]])
        for place, (row, token) in enumerate(zip(rows, tokens.tolist(), strict=True)):
            if going_on[place]:
                chosen[row].append(token)
                going_on[place] = token != rules.end_id and len(chosen[row]) < max_steps[row]
    return chosen


_MAX_GOING_ON = 0.85
"""Share of rows that still go on at which the others are left out: moving all that is cached takes time, too."""


def best_tokens(logits: Tensor) -> Tensor:
    """The place of the largest number in each row of [N, V], ids [N], the first of equals."""
    if logits.device.type != "cpu":
        return logits.argmax(dim=-1)
    # NumPy compares many numbers at a time where PyTorch finds the place one by one, which takes ten times as long
    return torch.from_numpy(logits.float().numpy().argmax(axis=-1))


@dataclass(frozen=True, eq=False)
class ForbiddenTokens:
    """What is added to logits: minus infinity where a token is forbidden, else zero.

    Attributes:
        early: at the first `min_steps` steps, [V].
        later: at the others, [V].
        min_steps: of the rules.
    """

    early: Tensor
    later: Tensor
    min_steps: int

    def at(self, step: int) -> Tensor:
        """[V]; steps count from 0."""
        return self.early if step < self.min_steps else self.later

    def add_to(self, logits: Tensor) -> Tensor:
        """`logits` [B, T, V] of the first T steps with what is forbidden at each."""
        allowed = logits + self.later
        if self.min_steps:
            allowed[:, : self.min_steps] += self.early
        return allowed

    def best_of(self, logits: Tensor) -> Tensor:
        """The best allowed tokens by logits [B, T, V] of the first T steps: ids [B, T], the first of equals."""
        best = best_tokens(logits.flatten(0, 1)).view(logits.shape[:2])
        if self.later[best].any() or self.early[best[:, : self.min_steps]].any():
            best = best_tokens(self.add_to(logits).flatten(0, 1)).view(logits.shape[:2])
        return best  # nearly always the first: to add to all logits takes several times as long


def forbidding(model: Model, rules: DecodingRules, like: Tensor) -> ForbiddenTokens:
    """What the rules forbid, on the device of `like`."""

    def penalty(ids: Iterable[int]) -> Tensor:
        places = torch.tensor(list(ids), dtype=torch.long, device=like.device)
        return torch.zeros(plain_form(model).output.out_features, device=like.device).index_fill_(0, places, -torch.inf)

    later = penalty(rules.forbidden_ids)
    return ForbiddenTokens(penalty(rules.forbidden_at(0)) if rules.min_steps else later, later, rules.min_steps)


def only(forbidden: Tensor, forced: Sequence[ForcedIds], sources: Sequence[int], step: int, repeats: int = 1) -> Tensor:
    """`forbidden` [V] for this step of these sources, `repeats` rows each: where a token is forced, all others are.

    Returns:
        [V] if nothing is forced here, else [sources · repeats, V].
    """
    here = [forced[source].get(step) for source in sources]
    if all(token is None for token in here):
        return forbidden
    rows = forbidden.repeat(len(here), 1)
    for row, token in zip(rows, here, strict=True):
        if token is not None:
            row.fill_(float("-inf"))
            row[token] = 0
    return rows.repeat_interleave(repeats, dim=0)


def batches_by_length(lengths: Sequence[int], batch_size: int) -> Iterable[list[int]]:
    """Indices in groups of like length, the longest first, so that little is padded."""
    order = sorted(range(len(lengths)), key=lambda index: lengths[index], reverse=True)
    for first in range(0, len(order), batch_size):
        yield order[first : first + batch_size]
