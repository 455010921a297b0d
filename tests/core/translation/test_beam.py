"""Beam search: against greedy, against trying everything, against the same search written down
plainly."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

import pytest
import torch

from augenmerk.core.errors import ConfigError
from augenmerk.core.inference.compiled import CompiledTransformer
from augenmerk.core.model.outputs import Encoding
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.translation.beam import _largest, beam_search, length_penalty_of
from augenmerk.core.translation.decoding import DecodingRules, ForcedIds
from augenmerk.core.translation.experiment import check_beam
from tests.builders import first_quick
from tests.core.model.small_models import END, KINDS, PADDING, PRE, START
from tests.core.translation.greedy_search import greedy
from tests.core.translation.wild_models import padded, random_sources, wild_model

RULES = DecodingRules(START, END, (0, PADDING, START))
NO_END = DecodingRules(START, None, (PADDING,))
every_kind = pytest.mark.parametrize("kind", KINDS)


@torch.inference_mode()
def search(
    model, source: torch.Tensor, limits: list[int], rules=RULES, beam: int = 4, alpha: float = 0.6
):
    compiled = CompiledTransformer(model)
    return beam_search(compiled, compiled.encode(source), limits, rules, beam, alpha)


@torch.inference_mode()
def next_log_probabilities(model: Transformer, source: torch.Tensor, ids: list[int]) -> list[float]:
    """Of every token after `ids`, with the whole decoder run anew."""
    return model(source, torch.tensor([[START, *ids]])).logits[0, -1].log_softmax(dim=-1).tolist()


def plain_search(
    model: Transformer,
    source: torch.Tensor,
    limit: int,
    rules: DecodingRules,
    beam: int,
    alpha: float,
) -> list[int]:
    """Beam search over a Transformer, with the whole decoder run anew at each step."""
    return search_plainly(
        lambda ids: next_log_probabilities(model, source, ids), limit, rules, beam, alpha, {}
    )


def search_plainly(
    after: Callable[[list[int]], list[float]],
    limit: int,
    rules: DecodingRules,
    beam: int,
    alpha: float,
    forced: ForcedIds,
) -> list[int]:
    """Beam search as one would explain it: lists, one sentence, nothing cached.

    Args:
        after: takes the ids of a hypothesis, returns log-probabilities of the next token.
    """
    live, ended = [(0.0, [])], []
    while True:
        step = len(live[0][1])
        if rules.forces_end and step == limit - 1 and step not in forced:
            ended += [
                (score / ((5 + limit) / 6) ** alpha, [*ids, rules.end_id]) for score, ids in live
            ]
            return max(ended, key=lambda one: one[0])[1]
        continued = []
        for score, ids in live:
            log_probabilities = after(ids)
            forbidden = {*rules.forbidden_ids, *([rules.end_id] if step < rules.min_steps else [])}
            choices = [token for token in range(len(log_probabilities)) if token not in forbidden]
            choices = [forced[step]] if step in forced else choices
            continued += [(score + log_probabilities[token], [*ids, token]) for token in choices]
        continued = sorted(continued, key=lambda one: -one[0])[: 2 * beam]
        continued = [one for one in continued if one[0] > -math.inf]
        ended += [
            (score / ((5 + len(ids)) / 6) ** alpha, ids)
            for score, ids in continued[:beam]
            if ids[-1] == rules.end_id
        ]
        live = [one for one in continued if one[1][-1] != rules.end_id][:beam]
        best = max(ended, key=lambda one: one[0], default=None)
        overtaken = best is not None and (
            not live or best[0] >= live[0][0] / ((5 + limit) / 6) ** alpha
        )
        if len(ended) >= beam or overtaken or len(live[0][1]) == limit:
            return best[1] if best else live[0][1]


@pytest.mark.heavy
@every_kind
@pytest.mark.parametrize("rules", [RULES, NO_END], ids=["end token", "no end token"])
def test_a_beam_of_one_is_greedy(kind: str, rules: DecodingRules) -> None:
    model = wild_model(kind)
    sources = padded(random_sources(20))
    limits = [3 + row % 17 for row in range(20)]
    for alpha in (0.0, 0.6, 5.0):
        assert search(model, sources, limits, rules, beam=1, alpha=alpha) == greedy(
            model, sources, limits, rules
        )


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 3.0])
def test_a_beam_that_holds_everything_finds_the_best_of_all_translations(alpha: float) -> None:
    num_tokens, limit = 6, 4
    rules = DecodingRules(START, END, (PADDING, START))
    words = (0, 4, 5)
    hypotheses = [
        [*ids, END] for length in range(limit) for ids in itertools.product(words, repeat=length)
    ]  # those of `limit` tokens without an end never win: others did end
    better_than_greedy = 0
    for seed in range(2):
        model = wild_model(PRE, seed, num_tokens)
        for source in random_sources(4):
            scores = []
            for ids in hypotheses:
                with torch.inference_mode():
                    logits = model(source, torch.tensor([[START, *ids[:-1]]])).logits[0]
                total = float(
                    logits.log_softmax(dim=-1).gather(1, torch.tensor(ids)[:, None]).sum()
                )
                scores.append(total / ((5 + len(ids)) / 6) ** alpha)
            best = hypotheses[max(range(len(scores)), key=scores.__getitem__)]
            assert search(model, source, [limit], rules, beam=num_tokens**limit, alpha=alpha) == [
                best
            ]
            better_than_greedy += best != greedy(model, source, [limit], rules)[0]
    assert better_than_greedy > 1


@pytest.mark.heavy
@every_kind
@pytest.mark.parametrize(("beam", "alpha"), first_quick([(2, 0.6), (3, 0.0), (5, 1.0)]))
def test_batched_and_cached_search_is_the_plain_search(kind: str, beam: int, alpha: float) -> None:
    model = wild_model(kind)
    sources = random_sources(8)
    limits = [4 + row % 6 for row in range(8)]
    expected = [
        plain_search(model, source, limit, RULES, beam, alpha)
        for source, limit in zip(sources, limits, strict=True)
    ]
    assert search(model, padded(sources), limits, RULES, beam, alpha) == expected
    assert expected != greedy(model, padded(sources), limits, RULES)
    assert len({len(row) for row in expected}) > 2


@pytest.mark.heavy
@pytest.mark.parametrize("beam", [2, 4])
def test_a_batch_gives_what_each_source_gives_alone(beam: int) -> None:
    model = wild_model("pre", seed=1)
    sources = random_sources(16)
    alone = [search(model, source, [12], beam=beam)[0] for source in sources]
    assert search(model, padded(sources), [12] * 16, beam=beam) == alone
    assert len({len(row) for row in alone}) > 2


@pytest.mark.heavy
def test_without_an_end_token_the_most_probable_of_full_length_is_kept() -> None:
    model = wild_model("post")
    sources = random_sources(10)
    limits = [1 + row % 5 for row in range(10)]
    expected = [
        plain_search(model, source, limit, NO_END, 3, 0.6)
        for source, limit in zip(sources, limits, strict=True)
    ]
    rows = search(model, padded(sources), limits, NO_END, beam=3)
    assert rows == expected
    assert [len(row) for row in rows] == limits


def test_rows_keep_to_their_limit_and_hold_no_forbidden_token() -> None:
    model = wild_model("pre")
    limits = [1 + row % 6 for row in range(30)]
    rows = search(model, padded(random_sources(30)), limits)
    for row, limit in zip(rows, limits, strict=True):
        assert 1 <= len(row) <= limit
        assert not set(row) & {0, PADDING, START}
        assert END not in row[:-1]


Table = Mapping[str, Mapping[str, float]]
"""Probabilities of the next letter after each beginning."""


class TableState:
    """The face of `DecoderState`, as beam search uses it."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def select(self, rows: torch.Tensor) -> None:
        pass

    def read_hypotheses(self, prefixes: torch.Tensor, parents: torch.Tensor) -> torch.Tensor:
        rows = [log_probabilities(self.table, ids[1:]) for ids in prefixes.flatten(0, 1).tolist()]
        return torch.stack(rows).unflatten(0, prefixes.shape[:2])


class TableModel:
    """Knows no source: the probabilities of what follows each hypothesis stand in a table; what is
    not there, ends.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.output = torch.nn.Linear(1, 9)

    def start_decoding(self, encoding: Encoding, max_steps: int) -> TableState:
        return TableState(self.table)


def as_ids(letters: str) -> list[int]:
    return [".abcde".index(letter) + END for letter in letters]


def as_letters(ids: list[int] | tuple[int, ...]) -> str:
    return "".join(".abcde"[token - END] for token in ids)


def log_probabilities(table: Table, ids: list[int] | tuple[int, ...]) -> torch.Tensor:
    """[V]; what is not in the table ends."""
    probabilities = torch.zeros(9)
    for letter, probability in table.get(as_letters(ids), {".": 1.0}).items():
        probabilities[as_ids(letter)[0]] = probability
    return probabilities.log()


def search_table(
    table: Table,
    beam: int,
    alpha: float = 0.0,
    limit: int = 8,
    rules: DecodingRules = RULES,
    forced: ForcedIds | None = None,
) -> str:
    (ids,) = search_tables(table, beam, alpha, [limit], rules, None if forced is None else [forced])
    return as_letters(ids)


def search_tables(
    table: Table,
    beam: int,
    alpha: float,
    limits: Sequence[int],
    rules: DecodingRules,
    forced: Sequence[ForcedIds] | None = None,
) -> list[list[int]]:
    """For each limit the hypothesis of the same table."""
    num_rows = len(limits)
    encoding = Encoding(
        torch.zeros(num_rows, 1, dtype=torch.long), torch.zeros(num_rows, 1, 1), None
    )
    return beam_search(TableModel(table), encoding, limits, rules, beam, alpha, forced=forced)


def test_a_finished_hypothesis_is_kept_while_better_beginnings_go_on() -> None:
    table = {"": {"a": 0.5, ".": 0.3, "b": 0.2}, "a": {"c": 0.5, "d": 0.5}, "b": {"e": 1.0}}
    assert search_table(table, beam=1) == "ac."
    assert search_table(table, beam=3) == "."  # 0.3 against 0.25, 0.25 and 0.2


def test_what_greedy_leaves_behind_at_once_is_found() -> None:
    table = {"": {"a": 0.6, "b": 0.4}, "a": {"a": 0.3, "b": 0.3, "c": 0.4}, "b": {"d": 1.0}}
    assert search_table(table, beam=1) == "ac."
    assert search_table(table, beam=2) == "bd."


def test_the_length_penalty_makes_translations_longer() -> None:
    table = {"": {"a": 0.55, ".": 0.45}, "a": {"b": 0.8, "c": 0.2}}  # "." has 0.45, "ab." 0.44
    assert search_table(table, beam=4, alpha=0.0) == "."
    assert search_table(table, beam=4, alpha=0.6) == "ab."


def test_a_search_goes_on_while_a_longer_translation_could_still_win() -> None:
    table = {"": {"a": 0.45, ".": 0.55}, **{"a" * length: {"a": 1.0} for length in range(1, 5)}}
    assert search_table(table, beam=3, alpha=1.0) == "aaaaa."  # -0.80 / 1.83 against -0.60
    assert search_table(table, beam=3, alpha=0.1) == "."


def test_a_search_cut_off_prefers_what_has_ended() -> None:
    table = {"": {"a": 0.9, ".": 0.1}, "a": {"a": 1.0}, "aa": {"a": 1.0}}
    assert search_table(table, beam=2, limit=3) == "."
    assert search_table(table, beam=1, limit=3) == "aaa"


def test_at_the_limit_every_hypothesis_gets_an_end_whose_probability_does_not_count() -> None:
    rules = replace(RULES, forces_end=True)
    table = {"": {"a": 0.6, "b": 0.4}, "a": {"c": 0.5, "d": 0.5}, "b": {"e": 0.9, "a": 0.1}}
    table |= {"be": {"a": 1.0}, "ac": {".": 1.0}, "ad": {".": 1.0}}
    assert search_table(table, 2, limit=3) == "ac."
    assert search_table(table, 2, limit=3, rules=rules) == "be."
    assert search_table(table, 2, limit=3, rules=rules, forced={2: as_ids("a")[0]}) == "bea"
    endless = replace(rules, end_id=None)
    assert search_table({"": {"a": 1.0}, "a": {"b": 1.0}}, 2, limit=2, rules=endless) == "ab"
    # its length includes the end: log 0.45 = −0.80 against log p / (8 / 6)
    for probability, expected in ((0.37, "ab."), (0.32, ".")):
        table = {"": {".": 0.45, "a": probability, "b": 0.1}, "a": {"b": 1.0}, "ab": {"c": 1.0}}
        assert search_table(table, 4, alpha=1.0, limit=3, rules=rules) == expected


class RandomTable(dict[str, dict[str, float]]):
    """Random probabilities after each beginning; after some of them, an end is improbable."""

    def get(self, beginning: str, default: object = None) -> dict[str, float]:  # type: ignore[override]  # never missing
        random = Random(f"{self['seed']} {beginning}")
        weights = {letter: random.random() ** 3 for letter in ".abcde"}
        if random.random() < 0.3:
            weights["."] /= 1000
        total = sum(weights.values())
        return {letter: weight / total for letter, weight in weights.items()}


@pytest.mark.parametrize("seed", range(6))
def test_limits_forced_tokens_and_ends_are_those_of_the_plain_search(seed: int) -> None:
    random = Random(seed)
    table = RandomTable(seed=seed)  # type: ignore[arg-type]
    results = set()
    for beam in (1, 2, 3, 8):
        rules = DecodingRules(
            START,
            END,
            (0, PADDING, START, *random.sample(as_ids("abcd"), 1)),
            forces_end=random.random() < 0.5,
            min_steps=random.randrange(3),
        )
        alpha = random.choice([0.0, 0.6, 1.5])
        limits = [random.randrange(3, 8) for _ in range(5)]
        forced = [
            {random.randrange(limit): random.choice(as_ids(".abcde"))}
            if random.random() < 0.6
            else {}
            for limit in limits
        ]
        expected = [
            search_plainly(
                lambda ids: log_probabilities(table, ids).tolist(), limit, rules, beam, alpha, ids
            )
            for limit, ids in zip(limits, forced, strict=True)
        ]
        assert search_tables(table, beam, alpha, limits, rules, forced) == expected
        results |= {tuple(ids) for ids in expected}
    assert len(results) > 5


def test_of_equals_the_token_with_the_smallest_id_wins() -> None:
    even = {"a": 0.25, "b": 0.25, "c": 0.25, "d": 0.25}
    assert search_table({"": even, "a": even, "b": even, "c": even, "d": even}, beam=3) == "aa."
    model = wild_model("pre")
    torch.nn.init.zeros_(model.output.weight)
    torch.nn.init.zeros_(model.output.bias)
    sources = random_sources(4)
    for beam in (1, 3, 40):
        assert search(model, padded(sources), [4] * 4, NO_END, beam) == [[0, 0, 0, 0]] * 4


@pytest.mark.parametrize("num_columns", [50, 640, 700])
def test_the_largest_come_in_order_and_of_equals_the_leftmost(num_columns: int) -> None:
    generator = torch.Generator().manual_seed(0)
    for num_kinds in (2, 5, 1000):
        values = torch.randint(num_kinds, (20, num_columns), generator=generator).float()
        values[:, 7] = float("-inf")
        for count in (1, 3, num_columns - 1, num_columns):
            best, places = _largest(values, count)
            expected, expected_places = values.sort(dim=-1, descending=True, stable=True)
            assert torch.equal(best, expected[:, :count])
            assert torch.equal(places, expected_places[:, :count])
            assert torch.equal(places[:, 0], values.argmax(dim=-1))


def test_a_vocabulary_smaller_than_the_beam_is_enough() -> None:
    model = wild_model(PRE, num_target=5)
    rules = DecodingRules(START, END, (0, PADDING, START))
    source = random_sources(1)[0]
    assert search(model, source, [3], rules, beam=50) == [
        plain_search(model, source, 3, rules, 50, 0.6)
    ]


def test_the_length_penalty_is_that_of_wu_et_al() -> None:
    assert length_penalty_of(1, 0.6) == 1
    assert length_penalty_of(13, 1.0) == pytest.approx(3)
    assert length_penalty_of(19, 0.5) == pytest.approx(2)
    assert length_penalty_of(100, 0.0) == 1


@pytest.mark.parametrize("beam", [0, -1, 101, 10**9])
def test_a_beam_out_of_range_is_refused(beam: int) -> None:
    with pytest.raises(ConfigError, match=rf"The beam size is {beam}\. .*from 1 .* to 100"):
        check_beam(beam, 0.6)


@pytest.mark.parametrize("alpha", [-0.1, 11, math.inf, -math.inf, math.nan])
def test_a_length_penalty_out_of_range_is_refused(alpha: float) -> None:
    with pytest.raises(ConfigError, match=r"length penalty is .*from 0 .* to 10"):
        check_beam(4, alpha)
