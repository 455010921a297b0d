"""Beam search: the best translation among the K best partial ones, instead of the best next token.

A finished hypothesis Y is judged by its log-probability divided by the length penalty of Wu et al.
2016 ("Google's Neural Machine Translation System", equation 14; its coverage penalty is left out):

    score(Y) = log P(Y | X) / lp(Y),    lp(Y) = ((5 + |Y|) / 6) ** α

with |Y| the number of tokens, the end token included. α = 0 compares plain probabilities, which
favours short translations; the larger α, the longer they become. Hugging Face transformers divide
by |Y| ** α instead, so that their default α = 1 compares means: only α = 0 is the same there and
here. JoeyNMT's `beam_alpha` is our α (α ≤ 0: none), but its search keeps finished hypotheses in the
beam, so it looks at fewer others. Its beam search never chooses padding, and its greedy search may;
here the greedy rule of an imported model holds for both.

Shape legend: `core.model`, and N sentences still searched, R hypotheses (rows) of each, C
candidates for each.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional

from ..inference.compiled import Model, State, plain_form
from ..model.non_finite import non_finite
from ..model.outputs import Encoding
from .decoding import DecodingRules, ForcedIds, forbidding, only
from .experiment import DEFAULT_LENGTH_PENALTY
from .result import TranslationStoppedError


def length_penalty_of(num_tokens: int, alpha: float) -> float:
    """lp(Y) = ((5 + |Y|) / 6) ** α (Wu et al. 2016, equation 14)."""
    return float(((5 + num_tokens) / 6) ** alpha)


@dataclass
class _Sentence:
    """One sentence's search.

    Attributes:
        index: among all sentences.
        limit: the largest number of tokens.
        forced: its forced tokens by step.
        ended: finished hypotheses with their scores, in the order of their ends.
        chosen: the ids of the best hypothesis, once the search is over.
    """

    index: int
    limit: int
    forced: ForcedIds
    ended: list[tuple[float, list[int]]] = field(default_factory=list)
    chosen: list[int] = field(default_factory=list)

    def best_ended(self) -> tuple[float, list[int]]:
        """Score and ids of the best finished hypothesis, the first of equals.

        Without any: minus infinity and [].
        """
        return max(self.ended, key=lambda ended: ended[0], default=(-math.inf, []))


@dataclass(frozen=True)
class _Candidates:
    """Hypotheses with one more token, best first.

    Attributes:
        scores: log-probabilities, [N, C]; minus infinity where there is none.
        parents: the row of its sentence that each one continues, [N, C].
        tokens: its last token, [N, C].
    """

    scores: Tensor
    parents: Tensor
    tokens: Tensor

    def at(self, ranks: Tensor) -> "_Candidates":
        """Those of these ranks [N, C'] in each sentence."""
        return _Candidates(
            *(values.gather(1, ranks) for values in (self.scores, self.parents, self.tokens))
        )


@dataclass
class _Search:
    """The sentences still searched, with their live hypotheses.

    Attributes:
        sentences: N of them.
        state: the cached keys and values of all rows.
        prefixes: the ids of the hypotheses, [N, R, T]; they begin with the start token.
        parents: the hypotheses that they continue, by index, [N, R].
        scores: their log-probabilities, [N, R].
    """

    sentences: list[_Sentence]
    state: State
    prefixes: Tensor
    parents: Tensor
    scores: Tensor

    @property
    def step(self) -> int:
        """The tokens of each hypothesis so far, without the start token."""
        return self.prefixes.size(2) - 1

    def end_at_limits(self, end_id: int, length_penalty: float) -> bool:
        """Ends all hypotheses of sentences with room for one more token that is not forced.

        Returns:
            Whether there were any.
        """
        penalty = length_penalty_of(self.prefixes.size(2), length_penalty)
        open_indices = []
        for index, sentence in enumerate(self.sentences):
            if self.step != sentence.limit - 1 or self.step in sentence.forced:
                open_indices.append(index)
                continue
            for score, prefix in zip(
                self.scores[index].tolist(), self.prefixes[index, :, 1:].tolist(), strict=True
            ):
                if score > -math.inf:
                    sentence.ended.append((score / penalty, [*prefix, end_id]))
            sentence.chosen = sentence.best_ended()[1]
        is_ended = len(open_indices) < len(self.sentences)
        if is_ended:
            self._keep(open_indices, self.parents, self.prefixes, self.scores)
        return is_ended

    def extend(self, live: _Candidates, beam: int, length_penalty: float) -> None:
        """Goes on with these hypotheses, of sentences that are not done."""
        extended = _extend(self.prefixes, live)
        open_indices = []
        for index, (sentence, leader) in enumerate(
            zip(self.sentences, live.scores[:, 0].tolist(), strict=True)
        ):
            if _is_done(sentence, self.step + 1, leader, beam, length_penalty):
                sentence.chosen = sentence.best_ended()[1] or extended[index, 0, 1:].tolist()
            else:
                open_indices.append(index)
        self._keep(open_indices, live.parents, extended, live.scores)

    def _keep(
        self, indices: Sequence[int], parents: Tensor, prefixes: Tensor, scores: Tensor
    ) -> None:
        """Keeps the sentences at `indices`, with these hypotheses [N, R']."""
        selected = torch.tensor(indices, dtype=torch.long, device=scores.device)
        if len(indices) < len(self.sentences):
            self.state.select(selected)
        self.sentences = [self.sentences[index] for index in indices]
        self.prefixes = prefixes[selected]
        self.parents = parents[selected]
        self.scores = scores[selected]


@dataclass(frozen=True)
class BeamStep:
    """The hypotheses after one step of the search for one sentence.

    Attributes:
        live: ids and log-probability of the hypotheses that continue, best first.
        ended: the same of those that ended at this step, the end token included.
    """

    live: tuple[tuple[tuple[int, ...], float], ...]
    ended: tuple[tuple[tuple[int, ...], float], ...]

    @classmethod
    def of(
        cls,
        candidates: _Candidates,
        live: _Candidates,
        prefixes: Tensor,
        end_id: int | None,
        beam: int,
    ) -> "BeamStep":
        """The step of the only sentence; `prefixes` [1, R, T] begin with the start token."""

        def hypotheses(ranked: _Candidates, count: int) -> list[tuple[tuple[int, ...], float]]:
            rows = zip(
                ranked.scores[0].tolist(),
                ranked.parents[0].tolist(),
                ranked.tokens[0].tolist(),
                strict=True,
            )
            return [
                ((*prefixes[0, parent, 1:].tolist(), token), score)
                for score, parent, token in list(rows)[:count]
                if score > -math.inf
            ]

        ended = [
            hypothesis for hypothesis in hypotheses(candidates, beam) if hypothesis[0][-1] == end_id
        ]
        return cls(tuple(hypotheses(live, beam)), tuple(ended))


@torch.inference_mode()
def beam_search(  # noqa: PLR0913 - all but the first six have defaults
    model: Model,
    encoding: Encoding,
    max_steps: Sequence[int],
    rules: DecodingRules,
    beam: int,
    length_penalty: float = DEFAULT_LENGTH_PENALTY,
    *,
    forced: Sequence[ForcedIds] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    on_step: Callable[["BeamStep"], None] | None = None,
) -> list[list[int]]:
    """The best hypothesis of each sentence.

    All hypotheses of all sentences are read side by side, with cached keys.

    At each step the 2 K best continuations of a sentence's K live hypotheses are ranked by
    log-probability, equals by the rank of what they continue and then by token id. Those among the
    first K that end are kept as finished; the first K of the others live on. A sentence is done
    when K hypotheses have finished, when no live one could still overtake the best of them, or at
    its limit. A live one is only returned if none has finished, so where nothing marks the end, or
    at the limit. With K = 1 this is `greedy`, token for token.

    Args:
        model: in evaluation mode.
        encoding: of B sources.
        max_steps: for each source the largest number of tokens to choose.
        rules: start, end and forbidden tokens. If they force the end at the limit, live hypotheses
            get an end token, whose probability does not count, as in Hugging Face transformers.
        beam: the beam size, K ≥ 1.
        length_penalty: α ≥ 0 of Wu et al. 2016, see above.
        forced: for each source its forced tokens by step, with which every hypothesis continues.
            Their probabilities count as the model gives them.
        should_stop: called before each step.
        on_step: receives the hypotheses after each step; for one source only.

    Returns:
        For each source the chosen ids, including the end token if there is one.

    Raises:
        TranslationStoppedError: `should_stop` returned True.
        NonFiniteError: the model's logits are not finite.
    """
    search = _begin(model, encoding, max_steps, rules.start_id, beam, forced)
    sentences = search.sentences
    forbidden = forbidding(model, rules, encoding.states)
    while search.sentences:
        if should_stop():
            raise TranslationStoppedError
        if (
            rules.forces_end
            and rules.end_id is not None
            and search.end_at_limits(rules.end_id, length_penalty)
        ):
            continue
        step = search.step
        indices = [sentence.index for sentence in search.sentences]
        forbidden_here = forbidden.at(step)
        if forced is not None:
            num_rows = search.scores.size(1)
            forbidden_here = only(forbidden_here, forced, indices, step, num_rows)
        logits = search.state.read_hypotheses(search.prefixes, search.parents)
        candidates = _rank(logits.flatten(0, 1), forbidden_here, search.scores, 2 * beam)
        _require_numbers(model, encoding, candidates, search.prefixes, indices)
        _keep_ended(search, candidates, rules.end_id, beam, length_penalty)
        live = _without_ended(candidates, rules.end_id, beam)
        if on_step is not None:
            on_step(BeamStep.of(candidates, live, search.prefixes, rules.end_id, beam))
        search.extend(live, beam, length_penalty)
    return [sentence.chosen for sentence in sentences]


def _begin(
    model: Model,
    encoding: Encoding,
    max_steps: Sequence[int],
    start_id: int,
    beam: int,
    forced: Sequence[ForcedIds] | None,
) -> _Search:
    """The search before its first step: each sentence has one hypothesis, the start token."""
    sentences = [
        _Sentence(index, limit, {} if forced is None else forced[index])
        for index, limit in enumerate(max_steps)
    ]
    device = encoding.states.device
    prefixes = torch.full((len(sentences), 1, 1), start_id, dtype=torch.long, device=device)
    parents = torch.zeros(len(sentences), 1, dtype=torch.long, device=device)
    scores = torch.zeros(len(sentences), 1, device=device)
    state = model.start_decoding(encoding, beam * max(max_steps))
    return _Search(sentences, state, prefixes, parents, scores)


def _rank(logits: Tensor, forbidden: Tensor, scores: Tensor, count: int) -> _Candidates:
    """The `count` best continuations of each sentence, fewer if there are not as many.

    Args:
        logits: [N · R, V].
        forbidden: [V] or [N · R, V], minus infinity where a token may not be chosen, else zero.
        scores: log-probabilities of the rows, [N, R].
        count: C.
    """
    num_sentences, num_rows = scores.shape
    log_probabilities = logits.log_softmax(dim=-1).add_(forbidden)
    best, tokens = _largest(log_probabilities, min(count, logits.size(1)))
    totals = scores.view(-1, 1) + best
    num_per_row = tokens.size(1)
    ranked, indices = totals.view(num_sentences, -1).sort(dim=-1, descending=True, stable=True)
    indices = indices[:, :count]
    return _Candidates(
        ranked[:, :count],
        indices // num_per_row,
        tokens.view(num_sentences, num_rows * num_per_row).gather(1, indices),
    )


def _require_numbers(
    model: Model,
    encoding: Encoding,
    candidates: _Candidates,
    prefixes: Tensor,
    sources: Sequence[int],
) -> None:
    """Raises `NonFiniteError` if a best score is NaN, as any NaN or infinite logit makes it."""
    is_missing = candidates.scores[:, 0].isnan()
    if is_missing.any():
        index = int(is_missing.nonzero()[0])
        raise non_finite(
            plain_form(model),
            encoding,
            sources[index],
            prefixes[index, candidates.parents[index, 0]].tolist(),
        )


_BLOCK = 64
"""Columns of which `_largest` first compares the maximum only."""


def _largest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The `count` largest of each row of [N, V], the leftmost of equals, and their columns.

    `topk` leaves the order of equals open, so results could depend on the machine.
    """
    num_considered = min(count + 1, values.size(1))
    if missing := -values.size(1) % _BLOCK:
        values = functional.pad(values, (0, missing), value=-math.inf)
    blocks = values.unflatten(1, (-1, _BLOCK))
    rows = torch.arange(len(values), device=values.device)[:, None]
    # a block holds none of the largest if enough others have a larger maximum
    chosen = blocks.amax(dim=2).topk(min(num_considered, blocks.size(1))).indices
    best, columns = blocks[rows, chosen].flatten(1).topk(num_considered)
    columns = chosen.gather(1, columns // _BLOCK) * _BLOCK + columns % _BLOCK
    # all are needed, or equals are on both sides of the edge: rare
    if num_considered == count or bool((best[:, -1] == best[:, -2]).any()):
        best, columns = values.sort(dim=-1, descending=True, stable=True)
    best = best[:, :count]
    columns, by_column = columns[:, :count].sort(dim=-1)
    best, by_value = best.gather(1, by_column).sort(dim=-1, descending=True, stable=True)
    return best, columns.gather(1, by_value)


def _keep_ended(
    search: _Search, candidates: _Candidates, end_id: int | None, beam: int, length_penalty: float
) -> None:
    """Adds those of the first `beam` candidates that end to the finished hypotheses."""
    if end_id is None:
        return
    first_scores = candidates.scores[:, :beam]
    is_ended = (candidates.tokens[:, :beam] == end_id) & (first_scores > -math.inf)
    # the start token is not part of a hypothesis, the end token is
    num_tokens = search.prefixes.size(2)
    for index, rank in is_ended.nonzero().tolist():
        parent = candidates.parents[index, rank]
        score = float(first_scores[index, rank]) / length_penalty_of(num_tokens, length_penalty)
        search.sentences[index].ended.append(
            (score, [*search.prefixes[index, parent, 1:].tolist(), end_id])
        )


def _without_ended(candidates: _Candidates, end_id: int | None, beam: int) -> _Candidates:
    """The first `beam` candidates of each sentence that do not end."""
    if end_id is None:
        return _Candidates(
            candidates.scores[:, :beam], candidates.parents[:, :beam], candidates.tokens[:, :beam]
        )
    going_on = candidates.scores.masked_fill(candidates.tokens == end_id, -math.inf)
    scores, ranks = going_on.sort(dim=-1, descending=True, stable=True)
    live = candidates.at(ranks[:, :beam])
    return _Candidates(scores[:, :beam], live.parents, live.tokens)


def _extend(prefixes: Tensor, live: _Candidates) -> Tensor:
    """The live hypotheses as token sequences [N, R', T + 1], from those they continue [N, R, T]."""
    parents = live.parents[:, :, None].expand(-1, -1, prefixes.size(2))
    return torch.cat([prefixes.gather(1, parents), live.tokens[:, :, None]], dim=2)


def _is_done(
    sentence: _Sentence, num_tokens: int, leader: float, beam: int, length_penalty: float
) -> bool:
    """Whether to stop, with `leader` the log-probability of the best live hypothesis.

    The leader can only lose log-probability, and the length penalty is largest at the limit. No
    live hypothesis can exceed the resulting score.
    """
    if num_tokens >= sentence.limit or len(sentence.ended) >= beam:
        return True
    return sentence.best_ended()[0] >= leader / length_penalty_of(sentence.limit, length_penalty)
