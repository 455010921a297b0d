"""Batches: every pair once an epoch, at random or by length, sizes as the published systems count
them."""

import itertools
import random
from collections import Counter
from typing import ClassVar

import pytest
import torch
from torchtext.data import BucketIterator, Dataset, interleave_keys

from augenmerk.core.config import TrainingConfig
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.batches import (
    Batch,
    collate,
    numeric_examples,
    regrouped,
    training_batches,
    validation_batches,
)
from augenmerk.core.extensions.training.corpora.prepared import EncodedPairs
from augenmerk.core.padding import pad

SENTENCES = TrainingConfig(batch_size=16)
RANDOM = SENTENCES.replace(batching="random")
TOKENS = TrainingConfig(batch_unit="tokens", batch_size=120)


def pairs_of(number: int, seed: int = 0, longest: int = 30) -> EncodedPairs:
    """Pairs like those of a corpus: like lengths on both sides, both marks around both."""
    rng = random.Random(seed)
    source_lengths = [rng.randint(1, longest) for _ in range(number)]
    target_lengths = [max(1, length + rng.randint(-3, 3)) for length in source_lengths]
    return EncodedPairs(
        [[2, *([9] * length), 3] for length in source_lengths],
        [[2, *([8] * length), 3] for length in target_lengths],
    )


PAIRS = pairs_of(3000)
PADDING = 1


def padded_size(pairs: EncodedPairs, indices: list[int]) -> int:
    """The rule of 2018: max(n × longest source, n × (longest target, both marks counted))."""
    longest_source = max(len(pairs.source[index]) for index in indices)
    longest_target = max(len(pairs.target[index]) - 2 for index in indices) + 2
    return len(indices) * max(longest_source, longest_target)


def interleaved(first: int, second: int) -> int:
    """Bits of two numbers in turn: torchtext's key for sorting by both lengths at once."""
    return sum(
        ((first >> bit & 1) << (2 * bit + 1)) | ((second >> bit & 1) << (2 * bit))
        for bit in range(16)
    )


def greedily(
    pairs: EncodedPairs, order: list[int], limit: int, *, count_tokens: bool
) -> list[list[int]]:
    """Fills one batch after the other, in `order`, up to `limit`: another way to write what
    torchtext does."""
    batches: list[list[int]] = [[]]
    for index in order:
        longer = [*batches[-1], index]
        if batches[-1] and (padded_size(pairs, longer) if count_tokens else len(longer)) > limit:
            batches.append([index])
        else:
            batches[-1] = longer
    return batches


def expected_batches(pairs: EncodedPairs, config: TrainingConfig, epoch: int) -> list[list[int]]:
    """Shuffled; cut into pools of a hundred batches; each, sorted or not, cut into batches, and
    these shuffled.
    """
    rng, count_tokens = random.Random(f"{config.seed}-{epoch}"), config.batch_unit == "tokens"
    order = rng.sample(range(len(pairs)), len(pairs))
    batches = []
    for pool in greedily(pairs, order, 100 * config.batch_size, count_tokens=count_tokens):
        if config.batching == "bucketed":
            pool.sort(
                key=lambda index: interleaved(len(pairs.source[index]), len(pairs.target[index]))
            )
        of_pool = greedily(pairs, pool, config.batch_size, count_tokens=count_tokens)
        batches += rng.sample(of_pool, len(of_pool))
    return batches


@pytest.mark.parametrize(
    "config", [SENTENCES, TOKENS, RANDOM], ids=["sentences", "tokens", "random"]
)
class TestTrainingBatches:
    def test_every_pair_comes_exactly_once_in_an_epoch(self, config: TrainingConfig) -> None:
        for epoch in (1, 2):
            indices = [index for batch in training_batches(PAIRS, config, epoch) for index in batch]
            assert Counter(indices) == Counter(range(len(PAIRS)))

    def test_no_batch_is_empty(self, config: TrainingConfig) -> None:
        assert all(training_batches(PAIRS, config, 1))

    def test_each_epoch_has_its_own_order(self, config: TrainingConfig) -> None:
        orders = [training_batches(PAIRS, config, epoch) for epoch in (1, 2, 3)]
        assert orders[0] != orders[1] != orders[2] != orders[0]
        members = [{frozenset(batch) for batch in order} for order in orders]
        assert len(members[0] & members[1]) < 0.1 * len(members[0]), (
            "other company too, not only another order"
        )

    def test_the_seed_and_the_epoch_alone_decide_the_order(self, config: TrainingConfig) -> None:
        first = training_batches(PAIRS, config, 3)
        random.seed(99)
        assert training_batches(PAIRS, config, 3) == first
        assert training_batches(PAIRS, config.replace(seed=99), 3) != first

    @pytest.mark.heavy
    def test_random_numbers_of_others_are_left_alone(self, config: TrainingConfig) -> None:
        random.seed(5)
        expected = random.random()
        random.seed(5)
        training_batches(PAIRS, config, 1)
        assert random.random() == expected

    @pytest.mark.heavy
    def test_they_are_those_of_an_independent_count(self, config: TrainingConfig) -> None:
        assert training_batches(PAIRS, config, 7) == expected_batches(PAIRS, config, 7)

    def test_only_batches_by_length_need_little_padding(self, config: TrainingConfig) -> None:
        batches = training_batches(PAIRS, config, 1)
        real = sum(len(ids) for ids in PAIRS.source)
        padded = sum(
            len(batch) * max(len(PAIRS.source[index]) for index in batch) for batch in batches
        )
        if config.batching == "bucketed":
            assert padded < 1.2 * real
        else:
            assert padded > 1.5 * real

    def test_short_and_long_batches_alternate(self, config: TrainingConfig) -> None:
        """Batches themselves are shuffled: the model does not see all short sentences first."""
        lengths = [len(PAIRS.source[batch[0]]) for batch in training_batches(PAIRS, config, 1)]
        assert (
            sum(after < before for before, after in itertools.pairwise(lengths)) > len(lengths) // 4
        )


def torchtext_batches(
    pairs: EncodedPairs, config: TrainingConfig, epoch: int, **options: bool
) -> list[list[int]]:
    """One epoch of torchtext's own iterator, made with these options, from the same random
    state."""
    iterator = BucketIterator.splits(
        (Dataset(numeric_examples(pairs), []),),
        batch_size=config.batch_size,
        sort_key=lambda example: interleave_keys(len(example.source), len(example.target)),
        device=torch.device("cpu"),
        **options,
    )[0]
    assert iterator.train
    random.seed(f"{config.seed}-{epoch}")
    # takes its state from `random`, as the first one did
    iterator.random_shuffler = type(iterator.random_shuffler)()
    iterator.init_epoch()
    return [[example.index for example in batch] for batch in iterator.batches]


class TestAgainstTorchtextItself:
    """The iterator as its users call it is the measure, not what its name or its documentation
    promise."""

    def test_left_to_itself_it_does_not_sort_for_training(self) -> None:
        """Notebook 6 leaves `sort_within_batch` unset: that is the batching of the presets it is
        reproduced by."""
        for epoch in (1, 2):
            assert training_batches(PAIRS, RANDOM, epoch) == torchtext_batches(PAIRS, RANDOM, epoch)

    def test_told_to_sort_within_batches_it_sorts_its_pools(self) -> None:
        expected = torchtext_batches(PAIRS, SENTENCES, 3, sort_within_batch=True)
        assert training_batches(PAIRS, SENTENCES, 3) == expected
        assert expected != torchtext_batches(PAIRS, SENTENCES, 3)

    def test_batches_drawn_at_random_differ_little_in_their_tokens(self) -> None:
        """On Multi30k a batch of 128 pairs has 1806 ± 49 target tokens; by length it would have
        1802 ± 502.
        """
        spread = {}
        for config in (RANDOM, SENTENCES):
            batches = [
                batch
                for batch in training_batches(PAIRS, config, 1)
                if len(batch) == config.batch_size
            ]
            tokens = torch.tensor(
                [float(sum(len(PAIRS.target[index]) for index in batch)) for batch in batches]
            )
            spread[config.batching] = float(tokens.std() / tokens.mean())
        assert spread["random"] < 0.2 < 0.5 < spread["bucketed"]

    @pytest.mark.heavy
    def test_a_token_batch_can_be_drawn_at_random_too(self) -> None:
        config = TOKENS.replace(batching="random")
        batches = training_batches(PAIRS, config, 1)
        assert batches == expected_batches(PAIRS, config, 1)
        assert max(padded_size(PAIRS, batch) for batch in batches) <= config.batch_size


def test_the_presets_of_notebook_6_and_of_2022_draw_at_random_and_no_other() -> None:
    names = ("notebook", "annotated-2022", "annotated-2018", "multi30k", "copy-task")
    drawn = [name for name in names if preset(name).training.batching == "random"]
    assert drawn == ["notebook", "annotated-2022"]


def test_validation_is_read_by_length_however_training_is() -> None:
    assert validation_batches(PAIRS, RANDOM) == validation_batches(PAIRS, SENTENCES)


@pytest.mark.parametrize("config", [SENTENCES, RANDOM], ids=["sentences", "random"])
def test_a_batch_of_sentences_has_the_size_asked_for(config: TrainingConfig) -> None:
    sizes = Counter(map(len, training_batches(PAIRS, config, 1)))
    assert set(sizes) <= {16, 3000 % 1600 % 16 or 16}
    assert sizes[16] >= 3000 // 16


def test_a_batch_of_tokens_obeys_the_rule_of_2018_and_is_full() -> None:
    batches = training_batches(PAIRS, TOKENS, 1)
    sizes = [padded_size(PAIRS, batch) for batch in batches]
    assert max(sizes) <= 120
    assert sum(size > 120 - 35 for size in sizes) > 0.7 * len(sizes), (
        "a batch grows until no more fits"
    )


def test_a_target_longer_than_its_source_counts() -> None:
    pairs = EncodedPairs([[2, 9, 3]] * 8, [[2, *[8] * 10, 3]] * 8)
    batches = training_batches(pairs, TOKENS.replace(batch_size=24), 1)
    assert [len(batch) for batch in batches] == [2, 2, 2, 2]


def test_a_source_longer_than_its_target_counts() -> None:
    pairs = EncodedPairs([[9] * 12] * 8, [[2, 8, 3]] * 8)
    batches = training_batches(pairs, TOKENS.replace(batch_size=24), 1)
    assert [len(batch) for batch in batches] == [2, 2, 2, 2]


def test_a_pair_larger_than_a_whole_batch_stands_alone() -> None:
    pairs = pairs_of(50, longest=10)
    pairs.source[7] = [2, *[9] * 200, 3]
    batches = training_batches(pairs, TOKENS, 1)
    assert [7] in batches
    assert Counter(index for batch in batches for index in batch) == Counter(range(50))


@pytest.mark.parametrize("config", [SENTENCES, TOKENS], ids=["sentences", "tokens"])
def test_validation_is_read_by_length_always_in_the_same_order(config: TrainingConfig) -> None:
    batches = validation_batches(PAIRS, config)
    order = [index for batch in batches for index in batch]
    keys = [interleaved(len(PAIRS.source[index]), len(PAIRS.target[index])) for index in order]
    assert keys == sorted(keys)
    assert sorted(order) == list(range(len(PAIRS)))
    assert batches == validation_batches(PAIRS, config.replace(seed=5))
    assert batches == greedily(
        PAIRS, order, config.batch_size, count_tokens=config.batch_unit == "tokens"
    )


class TestCollate:
    PAIRS = EncodedPairs([[2, 5, 3], [2, 6, 7, 3], [4]], [[2, 8, 9, 9, 3], [2, 3], [2, 9, 3]])

    def test_pairs_are_padded_on_the_right_to_the_longest_of_each_side(self) -> None:
        batch = collate(self.PAIRS, [1, 0], padding_id=1)
        assert batch.source.tolist() == [[2, 6, 7, 3], [2, 5, 3, 1]]
        assert batch.target.tolist() == [[2, 3, 1, 1, 1], [2, 8, 9, 9, 3]]
        assert batch.source.dtype == batch.target.dtype == torch.long

    def test_what_is_predicted_is_counted_without_padding_and_without_the_start(self) -> None:
        batch = collate(self.PAIRS, [0, 1, 2], padding_id=1, pad_to=9)
        assert batch.num_target_tokens == int((batch.target[:, 1:] != 1).sum()) == 4 + 1 + 2

    def test_all_can_be_padded_to_one_length(self) -> None:
        batch = collate(self.PAIRS, [2], padding_id=0, pad_to=6)
        assert batch.source.tolist() == [[4, 0, 0, 0, 0, 0]]
        assert batch.target.tolist() == [[2, 9, 3, 0, 0, 0]]

    def test_a_pair_longer_than_that_is_kept_whole(self) -> None:
        batch = collate(self.PAIRS, [0], padding_id=1, pad_to=4)
        assert batch.target.tolist() == [[2, 8, 9, 9, 3]]
        assert batch.source.tolist() == [[2, 5, 3, 1]]

    def test_it_can_be_moved(self) -> None:
        batch = collate(self.PAIRS, [0, 1], padding_id=1)
        moved = batch.to("meta")
        assert moved.source.device.type == moved.target.device.type == "meta"
        assert moved.num_target_tokens == batch.num_target_tokens

    def test_sentences_of_one_length_need_no_padding(self) -> None:
        assert pad([[1, 2], [3, 4]], padding_id=0).tolist() == [[1, 2], [3, 4]]


def test_examples_know_their_place() -> None:
    examples = numeric_examples(PAIRS)
    assert [example.index for example in examples] == list(range(len(PAIRS)))
    assert examples[5].source is PAIRS.source[5]
    assert examples[5].target is PAIRS.target[5]


class TestSplit:
    PAIRS = EncodedPairs(
        [[5] * length for length in (9, 7, 4, 4, 2)],
        [[2, *[6] * length, 3] for length in (6, 6, 5, 1, 1)],
    )

    def whole(self) -> Batch:
        return collate(self.PAIRS, range(5), 0)

    def test_parts_have_all_pairs_in_their_order(self) -> None:
        batch = self.whole()
        parts = batch.split(20, 0)
        assert [len(part.source) for part in parts] == [2, 2, 1]
        assert sum(part.num_target_tokens for part in parts) == batch.num_target_tokens
        rows = [[word for word in row if word] for part in parts for row in part.source.tolist()]
        assert rows == [list(ids) for ids in self.PAIRS.source]

    def test_no_part_holds_more_tokens_than_allowed_unless_it_is_one_pair(self) -> None:
        for limit in (1, 9, 18, 20, 1000):
            for part in self.whole().split(limit, 0):
                assert (
                    max(part.source.numel(), part.target.numel()) <= limit or len(part.source) == 1
                )

    def test_padding_that_a_part_does_not_need_is_cut_off(self) -> None:
        parts = self.whole().split(20, 0)
        assert [tuple(part.source.shape) for part in parts] == [(2, 9), (2, 4), (1, 2)]
        assert [tuple(part.target.shape) for part in parts] == [(2, 8), (2, 7), (1, 3)]

    def test_a_batch_that_is_small_enough_stays_as_it_is(self) -> None:
        batch = self.whole()
        assert batch.split(45, 0) == [batch]


def rows_of(batches: list[Batch]) -> Counter[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The pairs without padding."""

    def words(ids: torch.Tensor) -> tuple[int, ...]:
        return tuple(ids[ids != PADDING].tolist())

    both = (pair for part in batches for pair in zip(part.source, part.target, strict=True))
    return Counter((words(source), words(target)) for source, target in both)


def time_of(batches: list[Batch], tokens_per_pass: float) -> float:
    return sum(
        len(part.source) * (part.source.size(1) + part.target.size(1) - 1) + tokens_per_pass
        for part in batches
    )


class TestRegrouped:
    BATCHES: ClassVar = [
        collate(PAIRS, range(first, first + 20), PADDING, pad_to=40) for first in (0, 20, 40)
    ]

    @pytest.mark.parametrize("max_tokens", [1, 100, 10_000])
    @pytest.mark.parametrize("tokens_per_pass", [0.0, 30.0, 1e9])
    def test_all_pairs_are_there_and_no_part_is_larger_than_allowed(
        self, max_tokens: int, tokens_per_pass: float
    ) -> None:
        parts = regrouped(self.BATCHES, max_tokens, tokens_per_pass, PADDING)
        assert rows_of(parts) == rows_of(self.BATCHES)
        assert sum(part.num_target_tokens for part in parts) == sum(
            batch.num_target_tokens for batch in self.BATCHES
        )
        for part in parts:
            assert (
                len(part.source) == 1 or max(part.source.numel(), part.target.numel()) <= max_tokens
            )
            assert bool((part.source != PADDING).any(dim=0).all()), "no column is all padding"
            assert bool((part.target != PADDING).any(dim=0).all())
            assert max(part.source.numel(), part.target.numel()) <= 20 * 40, (
                "no larger than the batches themselves"
            )
        if tokens_per_pass == 1e9 and max_tokens == 10_000:
            assert len(parts) < 4
        if max_tokens == 1:
            assert len(parts) == 60

    @pytest.mark.parametrize("tokens_per_pass", [5.0, 40.0])
    def test_no_other_cuts_of_the_pairs_by_length_take_less_time(
        self, tokens_per_pass: float
    ) -> None:
        batch = collate(PAIRS, range(9), PADDING)
        order = sorted(
            range(9), key=lambda index: (len(PAIRS.target[index]), len(PAIRS.source[index]))
        )
        times = []
        for number in range(9):
            for cuts in itertools.combinations(range(1, 9), number):
                places = itertools.pairwise([0, *cuts, 9])
                parts = [collate(PAIRS, order[first:end], PADDING) for first, end in places]
                times.append(time_of(parts, tokens_per_pass))
        passes = regrouped([batch], 10_000, tokens_per_pass, PADDING)
        assert time_of(passes, tokens_per_pass) == min(times)
        assert 1 < len(passes) < 9

    def test_sentences_of_one_length_stay_the_batch_they_are(self) -> None:
        batch = Batch(torch.full((8, 5), 9), torch.full((8, 6), 8), 40)
        (part,) = regrouped([batch], 10_000, 100.0, PADDING)
        assert part is batch

    def test_a_random_batch_of_sentences_needs_much_less_time(self) -> None:
        batch = collate(PAIRS, range(128), PADDING)
        assert time_of(regrouped([batch], 10_000, 128.0, PADDING), 128.0) < 0.75 * time_of(
            [batch], 128.0
        )
