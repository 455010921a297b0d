from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

import pytest
import torch

from augenmerk.core.extensions.training.corpora.learning import vocabulary_of_copy_task
from augenmerk.core.inference.compiled import CompiledTransformer
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.text.vocabulary import SPECIALS, Vocabulary
from augenmerk.core.translation.decoding import (
    DecodeRequest,
    DecodingRules,
    ForcedIds,
    batches_by_length,
    best_tokens,
    greedy_search,
    verified_greedy,
)
from tests.core.model.small_models import (
    END,
    KINDS,
    NUM_SOURCE,
    NUM_TARGET,
    PADDING,
    START,
    random_ids,
)
from tests.core.translation.greedy_search import greedy, greedy_uncached
from tests.core.translation.wild_models import padded, random_sources, wild_model

RULES = DecodingRules(START, END, (0, PADDING, START))
NO_END = DecodingRules(START, None, (PADDING,))
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.mark.heavy
@every_kind
@pytest.mark.slow
def test_cached_and_uncached_decoding_choose_the_same_tokens(kind: str) -> None:
    model = wild_model(kind)
    sentences = [greedy(model, source, [20], RULES)[0] for source in random_sources(40)]
    assert sentences == [greedy_uncached(model, source, 20, RULES) for source in random_sources(40)]
    # the model says more than one thing,
    assert len({token for row in sentences for token in row}) > 10
    assert len({len(row) for row in sentences}) > 3  # and ends when it likes


@pytest.mark.heavy
@every_kind
def test_a_batch_gives_what_each_source_gives_alone(kind: str) -> None:
    model = wild_model(kind)
    sources = random_sources(16)
    alone = [greedy(model, source, [20], RULES)[0] for source in sources]
    assert greedy(model, padded(sources), [20] * 16, RULES) == alone
    assert len({len(row) for row in alone}) > 2


@pytest.mark.heavy
@every_kind
@torch.inference_mode()
def test_maps_of_one_pass_are_those_of_decoding_step_by_step(kind: str) -> None:
    model = wild_model(kind)
    for source in random_sources(3):
        chosen = greedy(model, source, [12], NO_END)[0]
        read = torch.tensor([[START, *chosen[:-1]]])
        output = model.decode(model.encode(source, need_maps=True), read, need_maps=True)
        assert torch.equal(
            output.encoder_maps, model(source, read[:, :1], need_maps=True).encoder_maps
        )
        for step in range(len(chosen)):
            # the decoder as it stands at this step: it has read nothing beyond it, and its last row
            # is what is new
            then = model(source, read[:, : step + 1], need_maps=True)
            one_pass = output.decoder_maps[..., step, :]
            torch.testing.assert_close(
                one_pass[..., : step + 1], then.decoder_maps[..., step, :], rtol=0, atol=1e-5
            )
            assert not one_pass[..., step + 1 :].any()
            one_pass = output.cross_maps[..., step, :]
            torch.testing.assert_close(one_pass, then.cross_maps[..., step, :], rtol=0, atol=1e-5)
            torch.testing.assert_close(
                output.logits[:, step], then.logits[:, -1], rtol=0, atol=1e-4
            )
            best = then.logits[0, -1].index_fill(0, torch.tensor([PADDING]), float("-inf")).argmax()
            assert int(best) == chosen[step]


def test_rows_end_with_the_end_token_and_hold_no_other() -> None:
    model = wild_model("post")
    rows = greedy(model, padded(random_sources(40)), [20] * 40, RULES)
    ended = [row for row in rows if row[-1] == END]
    assert ended
    assert all(END not in row[:-1] for row in rows)
    assert all(len(row) == 20 for row in rows if row[-1] != END)


@pytest.mark.heavy
def test_forbidden_tokens_are_never_chosen() -> None:
    model = wild_model("pre")
    sources = random_sources(20)

    def run(rules: DecodingRules) -> list[list[int]]:
        return greedy(model, padded(sources), [12] * 20, rules)

    favourites = [
        token for token, _ in Counter(t for row in run(NO_END) for t in row).most_common(3)
    ]
    forbidden = DecodingRules(START, None, (PADDING, *favourites))
    assert not {token for row in run(forbidden) for token in row} & set(forbidden.forbidden_ids)


def test_each_row_keeps_to_its_own_limit() -> None:
    model = wild_model("pre")
    sources = random_sources(8)
    limits = [1, 7, 3, 1, 12, 5, 2, 9]
    rows = greedy(model, padded(sources), limits, NO_END)
    assert [len(row) for row in rows] == limits
    for row, source, limit in zip(rows, sources, limits, strict=True):
        assert row == greedy_uncached(model, source, limit, NO_END)


def test_without_an_end_token_the_length_is_exact() -> None:
    """The end token is a property of the task: id 3 is a symbol like any other on the copy task."""
    vocabulary = vocabulary_of_copy_task(10)
    rules = DecodingRules.of_vocabulary(vocabulary, forbid_unknown=False)
    assert (rules.start_id, rules.end_id, rules.forbidden_ids) == (1, None, (0,))
    torch.manual_seed(0)
    model = Transformer(KINDS["pre"], 11, 11, 0).eval()
    with torch.no_grad():
        model.output.bias[END] += 100
        model.output.bias[0] += 200
    source = torch.randint(1, 11, (3, 10))
    assert greedy(model, source, [9] * 3, rules) == [[END] * 9] * 3
    assert greedy_uncached(model, source[:1], 9, rules) == [END] * 9


def drafts_of(ids: list[int], position: int) -> list[Sequence[int]]:
    """Right, wrong in one place, cut, a token too few or too many, with more after its end, noise,
    ids of another model, and none."""
    other = ids[position] % (NUM_TARGET - 4) + 4
    return [
        ids,
        [*ids[:position], other, *ids[position + 1 :]],
        ids[:position],
        [*ids[:position], *ids[position + 1 :]],
        [*ids[:position], other, *ids[position:]],
        [*ids, *ids],
        range(4, NUM_TARGET),
        [*ids[:position], NUM_TARGET],
        [*ids[:position], -1],
        [],
    ]


@pytest.mark.parametrize("form", [CompiledTransformer, lambda model: model], ids=["fast", "plain"])
@pytest.mark.parametrize(
    "rules", [replace(RULES, min_steps=3), replace(RULES, forbidden_ids=(0, PADDING, START, 6, 8))]
)
@torch.inference_mode()
def test_whatever_the_draft_every_token_is_the_best_one(
    rules: DecodingRules, form: Callable[[Transformer], Any]
) -> None:
    model = wild_model("pre")
    served = form(model)
    sources = random_sources(4, seed=1)
    limits = [12, 5, 9, 12]
    forced: list[ForcedIds] = [{}, {2: 7}, {3: END, 5: 9}, {0: 5, 1: 6}]
    expected = [
        greedy_uncached(model, *asked, rules, ids)
        for *asked, ids in zip(sources, limits, forced, strict=True)
    ]
    assert len({pair for ids in expected for pair in pairwise(ids)}) > 10, "hard to guess"
    assert greedy_search(served, served.encode(padded(sources)), limits, rules, forced) == (
        expected
    )
    requests = [
        [DecodeRequest(limit, ids, draft) for draft in drafts_of(chosen, len(chosen) // 2)]
        for limit, ids, chosen in zip(limits, forced, expected, strict=True)
    ]
    num_drafts = len(requests[0])
    side_by_side = verified_greedy(
        served,
        served.encode(padded(sources).repeat_interleave(num_drafts, dim=0)),
        list(chain.from_iterable(requests)),
        rules,
    )
    for index, target_pass in enumerate(side_by_side):
        source, ids = sources[index // num_drafts], expected[index // num_drafts]
        assert target_pass.ids == ids
        logits = model(source, torch.tensor([rules.read_ids(ids)])).logits[0]
        torch.testing.assert_close(target_pass.logits, logits, rtol=0, atol=1e-3)
    for request in requests[0]:
        (alone,) = verified_greedy(served, served.encode(sources[0]), [request], rules)
        assert alone.ids == expected[0]


def test_an_end_is_forced_at_the_last_step_unless_another_token_is() -> None:
    rules = replace(RULES, forces_end=True)
    forced = [{}, {0: 7}, {4: 7}]
    assert rules.forced_ends([3, 1, 5], forced) == [{2: END}, {0: 7}, {4: 7}]
    assert rules.forced_ends([4, 4, 4], forced) == [{3: END}, {0: 7, 3: END}, {4: 7, 3: END}]
    for without in (RULES, replace(rules, end_id=None)):
        assert without.forced_ends([3, 1, 5], forced) == forced


def test_rules_of_a_vocabulary_of_words_and_of_subwords() -> None:
    vocabulary = Vocabulary.with_specials([*SPECIALS, "a"])
    assert DecodingRules.of_vocabulary(vocabulary, forbid_unknown=False) == DecodingRules(
        2, 3, (1, 2)
    )
    assert DecodingRules.of_vocabulary(vocabulary, forbid_unknown=True) == DecodingRules(
        2, 3, (0, 1, 2)
    )


def test_the_least_room_for_a_position_table_is_used_to_its_end() -> None:
    model = wild_model("post")  # 40 learned positions
    source = random_ids(1, 40, NUM_SOURCE)
    assert len(greedy(model, source, [40], NO_END)[0]) == 40


def test_batches_hold_every_index_once_the_longest_first() -> None:
    lengths = [3, 9, 1, 9, 4, 4, 7]
    groups = list(batches_by_length(lengths, 3))
    assert [len(group) for group in groups] == [3, 3, 1]
    assert sorted(index for group in groups for index in group) == list(range(7))
    ordered = [lengths[index] for group in groups for index in group]
    assert ordered == sorted(lengths, reverse=True)
    assert list(batches_by_length([], 3)) == []


def test_no_gradient_is_kept() -> None:
    model = wild_model("pre")
    assert model.output.out_features == NUM_TARGET
    with torch.enable_grad():
        greedy(model, random_ids(1, 5, NUM_SOURCE), [5], RULES)
    assert all(parameter.grad is None for parameter in model.parameters())


@pytest.mark.parametrize("num_tokens", [1, 63, 64, 65, 200])
def test_the_best_token_is_the_first_of_the_largest(num_tokens: int) -> None:
    logits = torch.randint(
        0, 3, (50, num_tokens), generator=torch.Generator().manual_seed(num_tokens)
    ).float()
    logits[0] = float("-inf")
    assert torch.equal(best_tokens(logits), logits.argmax(dim=-1))
