"""Greedy decoding: the most probable token at each step. Shape legend: `core.model`.

`greedy_search` decodes many sentences step by step. `verified_greedy` also returns the one pass
over the finished pair that yields maps, probabilities and alternatives (docs/adr/0010). Row t of
this pass shows which token is best after the first t, for all t at once. So a **draft**, a guess at
the translation, is put through the pass and accepted as far as each token is the best one of its
row. The best token at the first difference is right too, because all tokens before it are. From
there a new draft is made step by step, until it meets the old one or the end, and is put through
another pass (Stern et al. 2018, "Blockwise Parallel Decoding for Deep Autoregressive Models"; Xia
et al. 2023, "Speculative Decoding").

A draft only affects the time: for any draft, every token of the result is the best one of its row
in the pass that describes the result, under all interventions, without forbidden tokens, the lowest
id of equals.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from ..config import DecodingConfig
from ..inference.compiled import CachedState, Model, State, plain_form
from ..model.non_finite import is_finite, non_finite
from ..model.outputs import Encoding, ModelOutput
from ..padding import pad
from ..short_repr import ShortRepr
from ..text.codec import TextCodec
from ..text.vocabulary import Vocabulary
from .result import TranslationStoppedError

ForcedIds = Mapping[int, int]
"""Ids chosen by the caller instead of the model, by decoding step."""


@dataclass(frozen=True)
class DecodingRules(ShortRepr):
    """The rules of a decoder: start, end, limits and forbidden tokens.

    Attributes:
        start_id: read first.
        end_id: ends a row; None if rows end by length alone.
        forbidden_ids: never chosen.
        max_steps: the most tokens of a translation, the end token included; None for a limit by the
            source's length.
        steps_per_source_token: that limit, for each source token; None for a generous one.
        min_steps: tokens that are chosen before the end token may be.
        forces_end: whether the end token is forced at the last possible step.
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
        """Rules that forbid padding, the start mark and, on request, the unknown token."""
        allowed = {vocabulary.end_id} | (set() if forbid_unknown else {vocabulary.unknown_id})
        forbidden = (mark for mark in vocabulary.special_ids if mark not in allowed)
        return cls(vocabulary.start_id, vocabulary.end_id, tuple(sorted(forbidden)))

    @classmethod
    def of_codec(cls, codec: TextCodec, config: DecodingConfig) -> "DecodingRules":
        """The rules in a model's own settings, and for the rest `of_vocabulary`."""
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
        """The ids that the decoder reads while it predicts these."""
        return (self.start_id, *predicted[:-1])

    def forbidden_at(self, step: int) -> tuple[int, ...]:
        """The ids forbidden at this step, counted from 0; in the first `min_steps` the end, too."""
        if step >= self.min_steps or self.end_id is None:
            return self.forbidden_ids
        return (*self.forbidden_ids, self.end_id)

    def forced_ends(
        self, limits: Sequence[int], forced: Sequence[ForcedIds]
    ) -> Sequence[ForcedIds]:
        """`forced` with the end token at each source's last step, if these rules force it."""
        if not self.forces_end or self.end_id is None:
            return forced
        end_id = self.end_id
        return [{limit - 1: end_id, **ids} for limit, ids in zip(limits, forced, strict=True)]


@torch.inference_mode()
def greedy_search(
    model: Model,
    encoding: Encoding,
    max_steps: Sequence[int],
    rules: DecodingRules,
    forced: Sequence[ForcedIds] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[list[int]]:
    """The most probable token at each step.

    Args:
        model: in evaluation mode.
        encoding: of B sources.
        max_steps: for each source the largest number of tokens to choose.
        rules: start, end and forbidden tokens.
        forced: for each source its forced tokens by step.
        should_stop: called before each step.

    Returns:
        For each source the chosen ids, including the end token if there is one.

    Raises:
        NonFiniteError: the model's logits are not finite.
        TranslationStoppedError: `should_stop` returned True.
    """
    states = encoding.states
    state = model.start_decoding(encoding, max(max_steps))
    forbidden = forbidding(model, rules, states)
    ids_by_step = [
        torch.tensor(rules.forbidden_at(step), dtype=torch.long, device=states.device)
        for step in (0, rules.min_steps)
    ]
    tokens = torch.full((len(states),), rules.start_id, dtype=torch.long, device=states.device)
    chosen: list[list[int]] = [[] for _ in max_steps]
    rows = list(range(len(chosen)))
    going_on = [True] * len(rows)
    while any(going_on):
        if should_stop():
            raise TranslationStoppedError
        if sum(going_on) <= _MAX_GOING_ON * len(rows):
            open_indices = [index for index, is_open in enumerate(going_on) if is_open]
            selected = torch.tensor(open_indices, dtype=torch.long, device=states.device)
            tokens = tokens[selected]
            state.select(selected)
            rows = [rows[index] for index in open_indices]
            going_on = [True] * len(rows)
        step = state.step
        here = None if forced is None else only(forbidden.at(step), forced, rows, step)
        logits = state.read(tokens)
        if here is None:  # adding to all logits would take as long as finding the largest
            logits.index_fill_(1, ids_by_step[step >= rules.min_steps], float("-inf"))
        else:
            logits.add_(here)
        tokens = best_tokens(logits)
        # the best one is NaN if any logit is
        is_finite = logits.gather(1, tokens[:, None]).isfinite()
        if not is_finite.all():
            for row, is_open, is_fine in zip(rows, going_on, is_finite.tolist(), strict=True):
                if is_open and not is_fine[0]:
                    raise non_finite(
                        plain_form(model), encoding, row, [rules.start_id, *chosen[row]]
                    )
        for index, (row, token) in enumerate(zip(rows, tokens.tolist(), strict=True)):
            if going_on[index]:
                chosen[row].append(token)
                going_on[index] = token != rules.end_id and len(chosen[row]) < max_steps[row]
    return chosen


_MAX_GOING_ON = 0.85
"""Largest share of unfinished rows at which finished ones are removed from the caches.

Moving the cached values takes time, too.
"""


def best_tokens(logits: Tensor) -> Tensor:
    """The place of the largest number in each row of [..., V], ids [...], the first of equals."""
    if logits.device.type != "cpu":
        return logits.argmax(dim=-1)
    # NumPy compares many numbers at a time where PyTorch finds the place one by one, which takes
    # ten times as long
    return torch.from_numpy(logits.float().numpy().argmax(axis=-1))


@dataclass(frozen=True, eq=False)
class ForbiddenTokens:
    """Terms added to logits: minus infinity for a forbidden token, else zero.

    Attributes:
        early: at the first `min_steps` steps, [V].
        later: at the others, [V].
        min_steps: of the rules.
    """

    early: Tensor
    later: Tensor
    min_steps: int

    def at(self, step: int) -> Tensor:
        """The terms of one step, counted from 0: [V]."""
        return self.early if step < self.min_steps else self.later

    def applied_to(self, logits: Tensor) -> Tensor:
        """A copy of `logits` [B, T, V] of the first T steps, without forbidden tokens.

        Those have minus infinity.
        """
        allowed = logits + self.later
        if self.min_steps:
            allowed[:, : self.min_steps] += self.early
        return allowed

    def best_of(self, logits: Tensor) -> Tensor:
        """The best allowed tokens, ids [B, T], by logits [B, T, V]; the first of equals."""
        best = best_tokens(logits)
        if self.later[best].any() or self.early[best[:, : self.min_steps]].any():
            best = best_tokens(self.applied_to(logits))
        return best  # nearly always the first: to add to all logits takes several times as long


def forbidding(model: Model, rules: DecodingRules, like: Tensor) -> ForbiddenTokens:
    """The tokens that the rules forbid, on the device of `like`."""

    def penalty(ids: Iterable[int]) -> Tensor:
        places = torch.tensor(list(ids), dtype=torch.long, device=like.device)
        return torch.zeros(plain_form(model).output.out_features, device=like.device).index_fill_(
            0, places, -torch.inf
        )

    later = penalty(rules.forbidden_ids)
    return ForbiddenTokens(
        penalty(rules.forbidden_at(0)) if rules.min_steps else later, later, rules.min_steps
    )


def only(
    forbidden: Tensor,
    forced: Sequence[ForcedIds],
    sources: Sequence[int],
    step: int,
    repeats: int = 1,
) -> Tensor:
    """`forbidden` [V] for this step of these sources, `repeats` rows each, with forced tokens.

    Where a token is forced, all others are forbidden.

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
    """Indices in groups of similar length, the longest first, so that little is padded."""
    order = sorted(range(len(lengths)), key=lambda index: lengths[index], reverse=True)
    for first in range(0, len(order), batch_size):
        yield order[first : first + batch_size]


MEETING_LENGTH = 2
"""Tokens that a new draft must have in common with the old one to continue with it."""
MIN_REST = 3
"""Tokens that the old draft must have left: making fewer takes less time than failing once."""


@dataclass(frozen=True)
class DecodeRequest:
    """A request to decode one sentence.

    Attributes:
        limit: the largest number of tokens to choose.
        forced: ids by step.
        draft: a guess at its translation; empty if there is none.
    """

    limit: int
    forced: ForcedIds = field(default_factory=dict)
    draft: Sequence[int] = ()


@dataclass(frozen=True, eq=False)
class TargetPass:
    """A target and the pass over it.

    Attributes:
        ids: T of them, including the end token if there is one.
        output: the pass. Positions after T are meaningless.
        row: the row of this sentence in its batch.
    """

    ids: list[int]
    output: ModelOutput
    row: int

    @property
    def logits(self) -> Tensor:
        """The logits of its steps, [T, V]."""
        return self.output.logits[self.row, : len(self.ids)]


class _Sentence:
    """The state of one sentence.

    Attributes:
        draft: the input of the next pass.
        num_right: the number of its tokens that are known to be right.
    """

    def __init__(
        self, index: int, request: DecodeRequest, num_tokens: int, end_id: int | None
    ) -> None:
        # false for ids of another model
        is_known = all(0 <= token < num_tokens for token in request.draft)
        self.index = index
        self.limit = request.limit
        self.forced = request.forced
        self.old = list(request.draft) if is_known else []
        self.draft = _fitted(self.old, self.limit, self.forced, end_id)
        self.num_right = 0

    def ends(self, end_id: int | None) -> bool:
        """Whether the draft is at its end."""
        return len(self.draft) >= self.limit or (bool(self.draft) and self.draft[-1] == end_id)

    def meets_old(self, end_id: int | None) -> bool:
        """Continues with the old draft at the nearest place with the same last tokens.

        Returns:
            Whether there is one, with enough tokens after it.
        """
        last = self.draft[-MEETING_LENGTH:]
        length = len(self.draft)
        ends = range(MEETING_LENGTH, len(self.old) - MIN_REST + 1)
        meetings = [end for end in ends if self.old[end - MEETING_LENGTH : end] == last]
        if not meetings:
            return False
        nearest = min(meetings, key=lambda end: abs(end - length))
        self.draft = _fitted(self.draft + self.old[nearest:], self.limit, self.forced, end_id)
        return True


@torch.inference_mode()
def verified_greedy(
    model: Model,
    encoding: Encoding,
    requests: Sequence[DecodeRequest],
    rules: DecodingRules,
    *,
    need_maps: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[TargetPass]:
    """The most probable token at each step, for each of B sources, with the pass that shows it.

    Args:
        model: in evaluation mode.
        encoding: of the sources, with maps if the results need them.
        requests: one for each source.
        rules: start, end and forbidden tokens.
        need_maps: whether the passes hold maps.
        should_stop: called before each step and each pass.

    Raises:
        NonFiniteError: passes disagree because the model's logits are not finite.
        TranslationStoppedError: `should_stop` returned True.
    """
    plain = plain_form(model)
    num_tokens = plain.output.out_features
    limit = max(request.limit for request in requests)
    sentences = [
        _Sentence(index, request, num_tokens, rules.end_id)
        for index, request in enumerate(requests)
    ]
    forbidden = forbidding(model, rules, encoding.states)
    passes: dict[int, TargetPass] = {}
    longest = 0
    right_rows: ModelOutput | None = None
    state = model.start_decoding(encoding, limit)
    # of several sentences, the right ones end at different tokens
    can_keep_rows = len(sentences) == 1 and isinstance(state, CachedState)
    while sentences:
        _complete(forbidden, state.restarted(), sentences, rules, should_stop)
        if should_stop():
            raise TranslationStoppedError
        output, best = _pass(
            state, sentences, rules, forbidden, need_maps, longest, plain.padding_id, right_rows
        )
        left = []
        for row, (sentence, tokens) in enumerate(zip(sentences, best, strict=True)):
            before = sentence.num_right
            _take_right_ones(sentence, tokens)
            if sentence.ends(rules.end_id) and sentence.num_right == len(sentence.draft):
                passes[sentence.index] = TargetPass(sentence.draft, output, row)
            else:
                left.append(row)
                # two passes of different shapes round differently, and differ on it
                if sentence.num_right <= before:
                    longest = limit  # then all that follow are of one shape
                    right_rows = None
                    # NaN differs however often it is computed
                    if not is_finite(output.logits[row, : len(tokens)]):
                        raise non_finite(
                            plain, encoding, sentence.index, [rules.start_id, *sentence.draft]
                        )
        if left and len(left) < len(sentences):
            state.select(torch.tensor(left, device=encoding.states.device))
        sentences = [sentences[row] for row in left]
        if can_keep_rows and sentences and not longest:
            right_rows = output.first_rows(sentences[0].num_right)
    return [passes[index] for index in range(len(passes))]


def _fitted(draft: Sequence[int], limit: int, forced: ForcedIds, end_id: int | None) -> list[int]:
    """The draft with its forced tokens, up to its end or the limit."""
    ids = [forced.get(step, token) for step, token in enumerate(draft[:limit])]
    return ids[: ids.index(end_id) + 1] if end_id in ids else ids


def _complete(
    forbidden: ForbiddenTokens,
    state: State,
    sentences: Sequence[_Sentence],
    rules: DecodingRules,
    should_stop: Callable[[], bool],
) -> None:
    """Adds to the drafts, step by step, until they end or meet the old ones."""
    is_open = [
        sentence.num_right == len(sentence.draft) and not sentence.ends(rules.end_id)
        for sentence in sentences
    ]
    state.step = min(
        (
            sentence.num_right
            for sentence, going_on in zip(sentences, is_open, strict=True)
            if going_on
        ),
        default=0,
    )
    rows = list(range(len(sentences)))
    while any(is_open):
        if should_stop():
            raise TranslationStoppedError
        if not all(is_open):
            open_indices = [index for index, going_on in enumerate(is_open) if going_on]
            state.select(torch.tensor(open_indices, device=forbidden.later.device))
            rows = [rows[index] for index in open_indices]
        here = [sentences[row] for row in rows]
        step = state.step
        read = [sentence.draft[step - 1] if step else rules.start_id for sentence in here]
        logits = state.guess(torch.tensor(read, device=forbidden.later.device))
        tokens = best_tokens(logits.add_(forbidden.at(step)))
        is_open = [
            _goes_on(sentence, step, token, rules.end_id)
            for sentence, token in zip(here, tokens.tolist(), strict=True)
        ]


def _goes_on(sentence: _Sentence, step: int, token: int, end_id: int | None) -> bool:
    """Appends the token to the draft. Returns whether the draft needs another one."""
    if step < len(sentence.draft):  # this sentence is known further than others of its batch
        return True
    sentence.draft.append(sentence.forced.get(step, token))
    return not (sentence.ends(end_id) or sentence.meets_old(end_id))


def _pass(
    state: State,
    sentences: Sequence[_Sentence],
    rules: DecodingRules,
    forbidden: ForbiddenTokens,
    need_maps: bool,
    longest: int,
    padding_id: int,
    right_rows: ModelOutput | None,
) -> tuple[ModelOutput, list[list[int]]]:
    """One pass over the drafts, at least `longest` tokens long; the best token after each.

    `right_rows` of an earlier pass are not computed again.
    """
    read = [[rules.start_id, *sentence.draft[:-1]] for sentence in sentences]
    padded = pad(read, padding_id, longest)
    if right_rows is None or not isinstance(state, CachedState):
        output = state.read_all(padded.to(forbidden.later.device), need_maps=need_maps)
    else:
        output = state.read_all(padded, need_maps=need_maps, before=right_rows)
    best = forbidden.best_of(output.logits).tolist()
    return output, [
        [
            sentence.forced.get(step, token)
            for step, token in enumerate(tokens[: len(sentence.draft)])
        ]
        for sentence, tokens in zip(sentences, best, strict=True)
    ]


def _take_right_ones(sentence: _Sentence, best: Sequence[int]) -> None:
    """Cuts the draft after its first token that is not the best one, and puts that in its place."""
    differing = (
        step
        for step, (mine, right) in enumerate(zip(sentence.draft, best, strict=True))
        if mine != right
    )
    first = next(differing, None)
    if first is not None:
        sentence.draft = [*sentence.draft[:first], best[first]]
    sentence.num_right = len(sentence.draft)
