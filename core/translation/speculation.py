"""Greedy translations whose one pass over the finished pair also chooses their tokens (docs/adr/0010).

A translation needs that pass in any case: it yields maps, probabilities and alternatives. Row t of it tells which token
is best after the first t, for all t at once. So a **draft**, a guess at the translation, is put through it and taken as
far as each token is the best one of its row. The best token at the first difference is right too, as it was read behind
right ones. From there a new draft is made step by step, until it meets the old one or the end, and put through another
pass (Stern et al. 2018, "Blockwise Parallel Decoding for Deep Autoregressive Models"; Xia et al. 2023, "Speculative
Decoding").

Whatever the draft, every token of the result is the best one of its row in the pass that the result is described by,
under all interventions, forbidden tokens left out, the lowest id of equals. A draft only changes how long it takes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from augenmerk.core.corpora.batches import pad
from augenmerk.core.inference.compiled import Model, State, plain_form
from augenmerk.core.model.transformer import Encoding, ModelOutput
from augenmerk.core.translation.decoding import DecodingRules, ForbiddenTokens, ForcedIds, best_tokens, forbidding
from augenmerk.core.translation.result import TranslationStoppedError

MEETING_LENGTH = 2
"""Tokens that a new draft must have in common with the old one to go on like it."""
MIN_REST = 3
"""Tokens that the old draft must still have there: making fewer step by step is quicker than failing once."""


NEAR_TIE = 0.025
"""A guess whose two best tokens are less apart, in standard deviations of its logits, is left to the model itself.

Below it every fourth guess of a `Drafter` is wrong, above it one of 700 (3,500 steps of the bundled model, 5,400 with
random weights): a wrong one costs a pass, which takes as long as three steps of the model.
"""


@dataclass(frozen=True)
class DecodeRequest:
    """A request to decode one sentence.

    Attributes:
        limit: the largest number of tokens to choose.
        forced: ids by step.
        draft: what its translation may be like; empty if nobody knows.
        last: the token that probably is the last one before the end; None if nobody knows.
    """

    limit: int
    forced: ForcedIds = field(default_factory=dict)
    draft: Sequence[int] = ()
    last: int | None = None


@dataclass(frozen=True, eq=False)
class VerifiedTranslation:
    """Tokens, and the pass in which each is the best one of its row.

    Attributes:
        ids: the end token included if it came.
        output, row: the pass, and which row of its batch this is. What lies behind the length of `ids` says nothing.
    """

    ids: list[int]
    output: ModelOutput
    row: int


@dataclass
class _Sentence:
    """How far one sentence is.

    Attributes:
        index: in the batch.
        limit: the largest number of tokens.
        forced: ids by step.
        draft: what is put through the next pass.
        num_right: how many of its tokens are known to be right.
        old: the draft that was given.
        last: the end is guessed behind this token, without a step; None once that was wrong.
    """

    index: int
    limit: int
    forced: ForcedIds
    draft: list[int]
    old: list[int]
    last: int | None
    num_right: int = 0

    @classmethod
    def begin(cls, index: int, request: DecodeRequest, num_tokens: int, end_id: int | None) -> "_Sentence":
        """With the draft, unless it has tokens that the model does not have: those of another model."""
        draft = list(request.draft) if all(0 <= token < num_tokens for token in request.draft) else []
        fitted = _fitted(draft, request.limit, request.forced, end_id)
        return cls(index, request.limit, request.forced, fitted, draft, request.last)

    def ends(self, end_id: int | None) -> bool:
        """Whether nothing comes after the draft."""
        return len(self.draft) >= self.limit or (bool(self.draft) and self.draft[-1] == end_id)

    def meets_old(self, end_id: int | None) -> bool:
        """Goes on like the old draft if the last tokens stand in it with enough behind them, at the nearest place."""
        last, length = self.draft[-MEETING_LENGTH:], len(self.draft)
        ends = range(MEETING_LENGTH, len(self.old) - MIN_REST + 1)
        found = [end for end in ends if self.old[end - MEETING_LENGTH : end] == last]
        if not found:
            return False
        nearest = min(found, key=lambda end: abs(end - length))
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
) -> list[VerifiedTranslation]:
    """The most probable token at each step, for each of B sources, with the pass that shows it.

    Args:
        model: in evaluation mode.
        encoding: of the sources, with its maps if the results are to have some.
        requests: one for each source.
        rules: start, end and forbidden tokens.
        need_maps: whether the passes hold maps.
        should_stop: asked before each step and each pass.

    Raises:
        TranslationStoppedError: `should_stop` said so.
    """
    plain = plain_form(model)
    num_tokens, limit = plain.output.out_features, max(each.limit for each in requests)
    sentences = [_Sentence.begin(index, each, num_tokens, rules.end_id) for index, each in enumerate(requests)]
    forbidden = forbidding(model, rules, encoding.states)
    found: dict[int, VerifiedTranslation] = {}
    longest, state = 0, model.start_decoding(encoding, limit)
    guesses = _Guesses(forbidden)
    while sentences:
        _complete(guesses, state.restarted(), sentences, rules, should_stop)
        if should_stop():
            raise TranslationStoppedError
        output, best = _pass(state, sentences, rules, forbidden, need_maps, longest, plain.padding_id)
        left = []
        for row, (sentence, tokens) in enumerate(zip(sentences, best, strict=True)):
            before = sentence.num_right
            _take_right_ones(sentence, tokens)
            if sentence.ends(rules.end_id) and sentence.num_right == len(sentence.draft):
                found[sentence.index] = VerifiedTranslation(sentence.draft, output, row)
            else:
                left.append(row)
                if sentence.num_right <= before:  # two passes of different shapes round differently, and differ on it
                    longest = limit  # then all that follow are of one shape
        if left and len(left) < len(sentences):
            state.select(torch.tensor(left, device=encoding.states.device))
        sentences = [sentences[row] for row in left]
    return [found[index] for index in range(len(found))]


def _fitted(draft: Sequence[int], limit: int, forced: ForcedIds, end_id: int | None) -> list[int]:
    """The draft with what is forced, up to its end or the limit."""
    ids = [forced.get(step, token) for step, token in enumerate(draft[:limit])]
    return ids[: ids.index(end_id) + 1] if end_id in ids else ids


def _complete(
    guesses: "_Guesses",
    state: State,
    sentences: Sequence[_Sentence],
    rules: DecodingRules,
    should_stop: Callable[[], bool],
) -> None:
    """Adds to the drafts, step by step, until they end or meet the old ones."""
    is_open = [each.num_right == len(each.draft) and not each.ends(rules.end_id) for each in sentences]
    state.step = min((each.num_right for each, going_on in zip(sentences, is_open, strict=True) if going_on), default=0)
    rows = list(range(len(sentences)))
    while any(is_open):
        if should_stop():
            raise TranslationStoppedError
        if not all(is_open):
            kept = [place for place, going_on in enumerate(is_open) if going_on]
            state.select(torch.tensor(kept, device=guesses.device))
            rows = [rows[place] for place in kept]
        here, step = [sentences[row] for row in rows], state.step
        read = [each.draft[step - 1] if step else rules.start_id for each in here]
        tokens = guesses.next_tokens(torch.tensor(read, device=guesses.device), state)
        is_open = [_goes_on(each, step, token, rules.end_id) for each, token in zip(here, tokens, strict=True)]


@dataclass
class _Guesses:
    """What chooses the tokens of drafts.

    Attributes:
        forbidden: see `forbidding`.
        near_tie: logits that are less apart are a near-tie; as they were at the first step, 0 before it.
    """

    forbidden: ForbiddenTokens
    near_tie: float = 0.0

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return self.forbidden.later.device

    def next_tokens(self, read: Tensor, state: State) -> list[int]:
        """The guessed id of each of B rows.

        A near-tie of a single sentence is decided by the model: a wrong guess would cost a whole pass, and all steps
        behind it. Of several sentences each pass is shared, and a step by the model would be made for all.
        """
        if not state.has_guesses:
            return self._exact(read, state)
        forbidden = self.forbidden.at(state.step)
        logits = state.guess(read)
        if len(read) > 1:
            return _best(logits.add_(forbidden))
        self.near_tie = self.near_tie or NEAR_TIE * float(logits.std())
        row = logits.add_(forbidden)[0].numpy()
        best = int(row.argmax())
        first, row[best] = float(row[best]), -np.inf
        if first - float(row.max()) >= self.near_tie:
            return [best]
        state.step -= 1
        return self._exact(read, state)

    def _exact(self, read: Tensor, state: State) -> list[int]:
        forbidden = self.forbidden.at(state.step)
        return _best(state.read(read).add_(forbidden))


def _best(logits: Tensor) -> list[int]:
    found: list[int] = best_tokens(logits).tolist()
    return found


def _goes_on(sentence: _Sentence, step: int, token: int, end_id: int | None) -> bool:
    """Puts the token at the end of the draft, and tells whether another one is wanted there."""
    if step < len(sentence.draft):  # this sentence is known further than others of its batch
        return True
    sentence.draft.append(sentence.forced.get(step, token))
    if end_id is not None and sentence.draft[-1] == sentence.last:
        sentence.draft = _fitted([*sentence.draft, end_id], sentence.limit, sentence.forced, end_id)
    return not (sentence.ends(end_id) or sentence.meets_old(end_id))


def _pass(
    state: State,
    sentences: Sequence[_Sentence],
    rules: DecodingRules,
    forbidden: ForbiddenTokens,
    need_maps: bool,
    longest: int,
    padding_id: int,
) -> tuple[ModelOutput, list[list[int]]]:
    """One pass over the drafts, at least `longest` tokens long; the best token after each."""
    read = [[rules.start_id, *sentence.draft[:-1]] for sentence in sentences]
    padded = pad(read, padding_id, longest)
    output = state.read_all(padded.to(forbidden.later.device), need_maps=need_maps)
    best = forbidden.best_of(output.logits).tolist()
    return output, [
        [sentence.forced.get(step, token) for step, token in enumerate(tokens[: len(sentence.draft)])]
        for sentence, tokens in zip(sentences, best, strict=True)
    ]


def _take_right_ones(sentence: _Sentence, best: Sequence[int]) -> None:
    """Cuts the draft behind its first token that is not the best one, with the best one in its place."""
    differing = (step for step, (mine, right) in enumerate(zip(sentence.draft, best, strict=True)) if mine != right)
    first = next(differing, None)
    if first is not None:
        sentence.draft, sentence.last = [*sentence.draft[:first], best[first]], None
    sentence.num_right = len(sentence.draft)
