"""An experiment is a value: the same however it was written down, and refused with a reason where
it says nothing."""

import itertools
import json
import math
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from augenmerk.core.counting import display_text
from augenmerk.core.errors import ConfigError, ExperimentError
from augenmerk.core.model.heads import Head, HeadGroup, Network
from augenmerk.core.translation.experiment import (
    MAX_FACTOR,
    MAX_INDEX,
    AttentionRow,
    Beam,
    CausalMaskLifted,
    Experiment,
    FeedForwardScaled,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    Intervention,
    SoftmaxTemperature,
    SourceWordRemoved,
    SourceWordReplaced,
    in_groups,
    shares_of,
    site_of,
)
from augenmerk.core.translation.experiment_file import experiment_from_json, experiment_to_json

TEXT = "Ein Mann steht."
REMOVED = SourceWordRemoved(2)
REPLACED = SourceWordReplaced(0, "der große")
OFF = HeadScaled(Head("encoder", 1, 3))
DOUBLED = HeadScaled(Head("cross", 0, 0), 2)
NETWORK_OFF = FeedForwardScaled(Network("encoder", 2))
NETWORK_HALVED = FeedForwardScaled(Network("decoder", 0), 0.5)
ROW = AttentionRow(Head("decoder", 0, 2), 1, (1, 3))
FORCED = ForcedToken(4, "▁dog")
CANONICAL = (REPLACED, REMOVED, OFF, DOUBLED, NETWORK_OFF, ROW, FORCED)
"""Source words, heads, networks, rows, steps; each by its place, its kind, layer and head, its
step.
"""


@pytest.mark.subprocess
def test_nothing_here_imports_torch() -> None:
    code = (
        "import sys, augenmerk.core.translation.experiment; print(sorted({'torch', 'spacy'} & "
        "set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_interventions_are_in_canonical_order_whatever_order_was_given() -> None:
    written = {Experiment(TEXT, interventions=order) for order in itertools.permutations(CANONICAL)}
    assert written == {Experiment(TEXT, Greedy(), CANONICAL)}
    (experiment,) = written
    assert experiment.interventions == CANONICAL
    assert experiment.source_edits == (REPLACED, REMOVED)
    assert experiment.scalings == (OFF, DOUBLED, NETWORK_OFF)
    assert experiment.heads_off == {OFF.head}
    assert experiment.networks_off == {NETWORK_OFF.network}
    assert experiment.attention_rows == (ROW,)
    assert experiment.forced == (FORCED,)


def test_sites_are_in_the_order_of_kinds_layers_heads_rows_and_steps() -> None:
    ordered: list[Intervention] = [
        *(SourceWordRemoved(index) for index in (0, 2, 10)),
        *(
            HeadScaled(Head(kind, layer, head))
            for kind in ("encoder", "decoder", "cross")
            for layer in (0, 1)
            for head in (0, 3)
        ),
        *(
            FeedForwardScaled(Network(side, layer))
            for side in ("encoder", "decoder")
            for layer in (0, 2, 10)
        ),
        *(AttentionRow(Head("encoder", 0, 0), row, (1,)) for row in (0, 9, 10)),
        AttentionRow(Head("cross", 0, 0), 0, (1,)),
        *(ForcedToken(step, "x") for step in (0, 2, 11)),
    ]
    assert Experiment(TEXT, interventions=tuple(reversed(ordered))).interventions == tuple(ordered)
    assert len({site_of(intervention) for intervention in ordered}) == len(ordered)


HEADS = [
    Head(kind, layer, head)
    for kind in ("encoder", "cross")
    for layer in range(3)
    for head in range(4)
]


def off(*heads: Head, factor: float = 0.0) -> list[Intervention]:
    return [HeadScaled(head, factor) for head in heads]


def members(group: HeadGroup) -> list[Head]:
    return [head for head in HEADS if head in group]


@pytest.mark.parametrize(
    ("interventions", "texts"),
    [
        (off(*members(HeadGroup("cross"))), ["all cross-attention off"]),
        (off(*members(HeadGroup("encoder"))), ["all encoder self-attention off"]),
        (off(*members(HeadGroup("cross", 1))), ["cross layer 2 off"]),
        (
            off(*members(HeadGroup("cross", None, 3)), factor=0.5),
            ["cross head 4 in all layers scaled 0.5"],
        ),
        (
            off(*members(HeadGroup("cross", 1))[1:]),
            ["cross 2·2 off", "cross 2·3 off", "cross 2·4 off"],
        ),
        (
            [*off(*members(HeadGroup("cross", 1))[1:]), HeadScaled(Head("cross", 1, 0), 2)],
            ["cross 2·1 scaled 2", "cross 2·2 off", "cross 2·3 off", "cross 2·4 off"],
        ),
        (
            [NETWORK_OFF, FORCED, *off(*members(HeadGroup("encoder", 0))), REMOVED, DOUBLED],
            [
                "word 3 removed",
                "encoder layer 1 off",
                "cross 1·1 scaled 2",
                "feed-forward encoder 3 off",
                "step 5: dog",
            ],
        ),
    ],
)
def test_heads_of_a_complete_group_with_the_same_factor_are_one_text(
    interventions: list[Intervention], texts: list[str]
) -> None:
    groups = in_groups(interventions, HEADS)
    assert [text for text, _ in groups] == texts
    assert sorted(
        (intervention for _, of_text in groups for intervention in of_text), key=site_of
    ) == sorted(interventions, key=site_of)


def test_groups_are_in_the_order_of_their_first_heads() -> None:
    column = off(*members(HeadGroup("cross", None, 0)), factor=0.5)
    groups = in_groups([HeadScaled(Head("cross", 1, 2)), *column], HEADS)
    assert [text for text, _ in groups] == [
        "cross head 1 in all layers scaled 0.5",
        "cross 2·3 off",
    ]


def test_a_layer_and_a_column_that_share_a_head_have_a_text_each() -> None:
    both = {*members(HeadGroup("cross", 1)), *members(HeadGroup("cross", None, 2))}
    layer, column = in_groups(off(*both), HEADS)[::-1]
    assert (layer[0], column[0]) == ("cross layer 2 off", "cross head 3 in all layers off")
    assert {intervention.head for intervention in column[1]} == {
        Head("cross", 0, 2),
        Head("cross", 2, 2),
    }
    assert len(layer[1]) == 4


def test_forced_pieces_of_a_word_are_one_text() -> None:
    forced = [
        ForcedToken(step, token)
        for step, token in enumerate(("▁c", "a", "ts", "▁run", "<eos>", "s"), start=1)
    ]
    later = [(8, "t"), (10, "▁do"), (11, "gs"), (13, "s")]
    apart = [ForcedToken(step, token) for step, token in later]
    groups = in_groups([*forced, *apart], HEADS)
    assert [text for text, _ in groups] == [
        "steps 2–4: cats",
        "step 5: run",
        "step 6: <eos>",
        "step 7: s",
        "step 9: t",
        "steps 11–12: dogs",
        "step 14: s",
    ]
    assert groups[0][1] == tuple(forced[:3])


def test_without_knowing_the_heads_each_intervention_has_its_text() -> None:
    assert [text for text, _ in in_groups([OFF, FORCED], [])] == [
        display_text(OFF),
        display_text(FORCED),
    ]


def test_equal_experiments_have_equal_hashes_and_different_ones_differ() -> None:
    first = Experiment(TEXT, Beam(4), (OFF, ROW))
    again = Experiment(
        TEXT, Beam(4, 1.5), (AttentionRow(ROW.head, 1, (0.25, 0.75)), HeadScaled(OFF.head, 0))
    )
    assert first == again
    assert hash(first) == hash(again)
    others = {
        first,
        Experiment(TEXT),
        Experiment(TEXT, Beam(4)),
        Experiment(TEXT, Beam(5), (OFF, ROW)),
        Experiment(TEXT, Beam(4, 1.0), (OFF, ROW)),
        Experiment(TEXT, GivenTarget("A man."), (OFF, ROW)),
        Experiment(TEXT + "!", Beam(4), (OFF, ROW)),
        Experiment(TEXT, Beam(4), (HeadScaled(OFF.head, 0.5), ROW)),
        Experiment(TEXT, Beam(4), (OFF, AttentionRow(ROW.head, 1, (0.75, 0.25)))),
        Experiment(TEXT, Beam(4), (OFF,)),
    }
    assert len(others) == 10
    assert again in others


def test_what_looks_equal_is_equal() -> None:
    assert HeadScaled(OFF.head, 1) == HeadScaled(OFF.head, 1.0)
    assert str(HeadScaled(OFF.head, 1)) == str(HeadScaled(OFF.head, 1.0))
    assert AttentionRow(ROW.head, 1, (2, 6)) == ROW
    assert AttentionRow(ROW.head, 1, [0.25, 0.75]) == ROW  # type: ignore[arg-type]
    assert isinstance(hash(AttentionRow(ROW.head, 1, [0.25, 0.75])), int)  # type: ignore[arg-type]
    assert SourceWordReplaced(0, "  der \n große ") == REPLACED


def test_experiments_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Experiment(TEXT).source_text = "x"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("intervention", "shown"),
    [
        (REMOVED, "word 3 removed"),
        (REPLACED, "word 1 → der große"),
        (OFF, "encoder 2·4 off"),
        (DOUBLED, "cross 1·1 scaled 2"),
        (HeadScaled(Head("cross", 1, 4), -0.5), "cross 2·5 scaled -0.5"),
        (ROW, "decoder 1·3 row 2 set"),
        (NETWORK_OFF, "feed-forward encoder 3 off"),
        (NETWORK_HALVED, "feed-forward decoder 1 scaled 0.5"),
        (FORCED, "step 5: dog"),
        (ForcedToken(0, "▁"), "step 1: ▁"),
        (ForcedToken(0, "<eos>"), "step 1: <eos>"),
    ],
)
def test_people_are_shown_counts_from_1(intervention: Intervention, shown: str) -> None:
    assert display_text(intervention) == shown


PAIRS_FOR_ONE_SITE = [
    (SourceWordRemoved(2), SourceWordReplaced(2, "Hund")),
    (SourceWordRemoved(2), SourceWordRemoved(2)),
    (HeadScaled(Head("cross", 1, 0)), HeadScaled(Head("cross", 1, 0), 2.0)),
    (NETWORK_HALVED, FeedForwardScaled(NETWORK_HALVED.network)),
    (AttentionRow(Head("cross", 1, 0), 3, (1, 0)), AttentionRow(Head("cross", 1, 0), 3, (0, 1))),
    (ForcedToken(3, "a"), ForcedToken(3, "b")),
]


def test_interventions_may_come_from_a_generator() -> None:
    experiment = Experiment(TEXT, interventions=(part for part in CANONICAL))  # type: ignore[arg-type]
    assert experiment.interventions == CANONICAL


@pytest.mark.parametrize(("first", "second"), PAIRS_FOR_ONE_SITE)
def test_two_interventions_on_one_site_are_refused(
    first: Intervention, second: Intervention
) -> None:
    assert site_of(first) == site_of(second)
    with pytest.raises(ExperimentError, match=f"“{first}” and “{second}”"):
        Experiment(TEXT, interventions=(ForcedToken(0, "x"), first, OFF, second))
    with pytest.raises(ExperimentError, match="Two interventions change the same thing"):
        Experiment(TEXT).with_interventions(first, second)


def test_neighbours_of_a_site_stand_beside_it() -> None:
    head = Head("cross", 1, 0)
    beside = (
        HeadScaled(head),
        HeadScaled(Head("cross", 0, 0)),
        HeadScaled(Head("cross", 1, 1)),
        HeadScaled(Head("decoder", 1, 0)),
        AttentionRow(head, 3, (1, 0)),
        AttentionRow(head, 4, (1, 0)),
        AttentionRow(Head("encoder", 1, 0), 3, (1, 0)),
        SourceWordRemoved(3),
        ForcedToken(3, "a"),
    )
    assert len(Experiment(TEXT, interventions=beside).interventions) == len(beside)


def test_the_causal_mask_is_lifted_only_over_a_given_target() -> None:
    for output in (Greedy(), Beam(4)):
        with pytest.raises(ExperimentError, match="only be lifted for a given translation"):
            Experiment(TEXT, output, (CausalMaskLifted(),))
    lifted = Experiment(TEXT, GivenTarget("A man."), (CausalMaskLifted(), OFF))
    assert lifted.interventions == (OFF, CausalMaskLifted())
    assert lifted.edited("Ein Hund.").interventions == (OFF,)


@pytest.mark.parametrize("temperature", [0, 0.009, -1, 101, math.inf, math.nan, "warm", True])
def test_a_temperature_is_a_number_within_bounds(temperature: Any) -> None:
    with pytest.raises(ExperimentError, match="number"):
        SoftmaxTemperature(OFF.head, temperature)


def test_a_temperature_belongs_to_its_head_not_to_the_sentence() -> None:
    warm = SoftmaxTemperature(OFF.head, 2)
    assert Experiment(TEXT, interventions=(warm, OFF, FORCED)).edited(
        "Ein Hund."
    ).interventions == (OFF, warm)


def test_a_token_cannot_be_forced_in_a_given_target() -> None:
    output = GivenTarget("A man.")
    with pytest.raises(
        ExperimentError, match=r"A token is forced \(“step 4: dog”\) while the whole translation is"
    ):
        Experiment(TEXT, output, (OFF, FORCED))
    with pytest.raises(ExperimentError, match="Remove the forced token"):
        Experiment(TEXT, output).with_interventions(FORCED)
    assert Experiment(TEXT, output, (OFF, ROW, REMOVED)).interventions == (REMOVED, OFF, ROW)


@pytest.mark.parametrize("index", [-1, MAX_INDEX + 1, 1.0, True, "1", None])
def test_indices_that_are_none_are_refused(index: Any) -> None:
    for build, name in (
        (lambda: SourceWordRemoved(index), "place of a source word"),
        (lambda: SourceWordReplaced(index, "Hund"), "place of a source word"),
        (lambda: AttentionRow(Head("cross", 0, 0), index, (1.0,)), "row"),
        (lambda: ForcedToken(index, "a"), "decoding step"),
    ):
        with pytest.raises(
            ExperimentError, match=rf"The {name} is .*Use a whole number from 0 to 100,000"
        ):
            build()


@pytest.mark.parametrize(
    "factor", [math.nan, math.inf, -math.inf, MAX_FACTOR * 1.01, -1e30, 10**400, -(10**400)]
)
def test_factors_that_are_no_numbers_or_too_large_are_refused(factor: float) -> None:
    with pytest.raises(
        ExperimentError, match=r"The factor of encoder layer 1 head 3 is .*0 switches the head off"
    ):
        HeadScaled(OFF.head, factor)
    assert HeadScaled(OFF.head, -MAX_FACTOR).factor == -MAX_FACTOR


@pytest.mark.parametrize("text", ["", "  ", "\n\t"])
def test_an_empty_replacement_is_refused(text: str) -> None:
    with pytest.raises(ExperimentError, match="The replacement of source word 2 is empty"):
        SourceWordReplaced(2, text)


@pytest.mark.parametrize(
    ("beam", "length_penalty", "message"),
    [
        (0, 1.0, "The beam size is 0"),
        (101, 1.0, "The beam size is 101"),
        (4, -0.1, "The length penalty is -0.1"),
        (4, "1.5", "The length penalty is '1.5'"),
        (4, True, "The length penalty is True"),
        ("four", 1.0, "The beam size is 'four'"),
        (True, 1.0, "The beam size is True"),
    ],
)
def test_a_beam_out_of_range_is_refused(beam: Any, length_penalty: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Beam(beam, length_penalty)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ((), "All weights of the row are 0"),
        ((0.0, 0.0), "All weights of the row are 0"),
        ((-0.0, 0.0), "All weights of the row are 0"),
        ((1.0, -1e-9), "negative or not a number"),
        ((1.0, math.nan), "negative or not a number"),
        ((math.inf, 1.0), "negative or not a number"),
        ((10**400, 1), "negative or not a number"),
        ((1, -(10**400)), "negative or not a number"),
    ],
)
def test_rows_that_are_no_weights_are_refused(weights: tuple[float, ...], message: str) -> None:
    with pytest.raises(ExperimentError, match=message):
        shares_of(weights)
    with pytest.raises(ExperimentError, match=message):
        AttentionRow(Head("cross", 0, 0), 0, weights)


def test_a_row_of_the_decoder_sees_what_was_read_so_far() -> None:
    head = Head("decoder", 0, 2)
    assert AttentionRow(head, 2, (1, 1, 2)).weights == (0.25, 0.25, 0.5)
    for weights in ((1.0, 1.0), (1.0, 1.0, 1.0, 1.0)):
        with pytest.raises(
            ExperimentError,
            match=rf"The row of step 2 in {head} has {len(weights)} weights\. It needs one for",
        ):
            AttentionRow(head, 2, weights)


def test_shares_are_exact_quotients_and_what_sums_to_1_stays_to_the_last_bit() -> None:
    for weights in ((1, 1, 1), (3, 1, 0), (0.1,) * 7, (5,), (1e-300, 3e-300), (1, 2, 4, 8, 16)):
        shares = shares_of(weights)
        exact = [Fraction(weight) / sum(map(Fraction, weights)) for weight in weights]
        assert shares == pytest.approx([float(share) for share in exact], rel=1e-15)
        assert math.fsum(shares) == pytest.approx(1, abs=1e-15)
        assert shares_of(shares) == shares
    untouched = (0.1, 0.2, 0.7)
    assert math.fsum(untouched) != sum(map(Fraction, untouched))
    assert shares_of(untouched) == untouched
    assert AttentionRow(Head("cross", 0, 0), 0, untouched).weights == untouched


@pytest.mark.parametrize("size", [1e308, 1e-308, 5e-324])
def test_huge_and_tiny_weights_are_scaled(size: float) -> None:
    assert shares_of([size] * 8) == (0.125,) * 8
    assert shares_of([size, 0.0]) == (1.0, 0.0)


def test_shares_take_any_numbers_of_python() -> None:
    assert shares_of([Fraction(1), 3]) == (0.25, 0.75)
    assert all(type(share) is float for share in shares_of([1, 0]))


def test_the_baseline_has_the_same_sentence_and_output() -> None:
    experiment = Experiment(TEXT, Beam(3), CANONICAL)
    assert experiment.baseline == Experiment(TEXT, Beam(3))
    baseline = experiment.baseline
    assert baseline.baseline is baseline


def test_added_interventions_take_the_place_of_those_on_the_same_site() -> None:
    experiment = Experiment(TEXT, Beam(3), CANONICAL)
    replacement, further = HeadScaled(OFF.head, 0.5), ForcedToken(0, "a")
    changed = experiment.with_interventions(replacement, further)
    assert changed == Experiment(
        TEXT, Beam(3), (REPLACED, REMOVED, replacement, *CANONICAL[3:5], ROW, further, FORCED)
    )
    assert changed.with_interventions(OFF).without(further) == experiment
    removed = experiment.with_interventions(SourceWordRemoved(0))
    assert removed.source_edits == (SourceWordRemoved(0), REMOVED)
    assert experiment.with_interventions() == experiment
    assert experiment.interventions == CANONICAL, "the old one is as it was"


def test_those_that_are_not_there_are_passed_over() -> None:
    experiment = Experiment(TEXT, Beam(3), CANONICAL)
    assert experiment.without(ROW, REMOVED).interventions == (
        REPLACED,
        OFF,
        DOUBLED,
        NETWORK_OFF,
        FORCED,
    )
    assert experiment.without(HeadScaled(OFF.head, 0.5), ForcedToken(4, "▁cat")) == experiment
    assert experiment.without(*CANONICAL) == experiment.baseline


@pytest.mark.parametrize(
    ("output", "expected_output"),
    [(Greedy(), Greedy()), (Beam(3, 0.5), Beam(3, 0.5)), (GivenTarget("A man."), Greedy())],
)
def test_an_edited_sentence_keeps_its_scalings_alone(output: Any, expected_output: Any) -> None:
    interventions = tuple(
        intervention
        for intervention in CANONICAL
        if intervention != FORCED or not isinstance(output, GivenTarget)
    )
    edited = Experiment(TEXT, output, interventions).edited("Ein Hund.")
    assert edited == Experiment("Ein Hund.", expected_output, (OFF, DOUBLED, NETWORK_OFF))


def test_broken_characters_of_texts_are_replaced() -> None:
    assert Experiment("Ein \ud800 Mann.").source_text == "Ein \N{REPLACEMENT CHARACTER} Mann."
    assert GivenTarget("A \udfff man.").text == "A \N{REPLACEMENT CHARACTER} man."
    assert SourceWordReplaced(0, "\ud800").text == "\N{REPLACEMENT CHARACTER}"
    assert Experiment("Ein 🙂 Mann.").source_text == "Ein 🙂 Mann."


@pytest.mark.parametrize(
    "make",
    [
        lambda: Experiment("Ein Hund.", (ForcedToken(0, "▁three"),)),  # type: ignore[arg-type]
        lambda: Experiment("Ein Hund.", "A dog."),  # type: ignore[arg-type]
        lambda: Experiment("Ein Hund.", interventions=("cross:2:5",)),  # type: ignore[arg-type]
        lambda: Experiment(None),  # type: ignore[arg-type]
        lambda: GivenTarget(None),  # type: ignore[arg-type]
        lambda: HeadScaled("cross:2:5"),  # type: ignore[arg-type]
        lambda: HeadScaled(Head("cross", -1, 0)),
        lambda: HeadScaled(Head("cross", 0, 0), "0.5"),  # type: ignore[arg-type]
        lambda: HeadScaled(Head("cross", 0, 0), None),  # type: ignore[arg-type]
        lambda: FeedForwardScaled(Head("decoder", 0, 0)),  # type: ignore[arg-type]
        lambda: FeedForwardScaled(Network("decoder", -1)),
        lambda: FeedForwardScaled(Network("decoder", 0), float("nan")),
        lambda: FeedForwardScaled(Network("decoder", 0), 1e9),
        lambda: AttentionRow(Head("cross", 0, 0), 0, [None]),  # type: ignore[arg-type, list-item]
        lambda: AttentionRow(Head("cross", 0, 0), 0, "12"),  # type: ignore[arg-type]
        lambda: SourceWordReplaced(0, 3),  # type: ignore[arg-type]
        lambda: ForcedToken(0, ""),
        lambda: ForcedToken(0, 17),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_part_of_an_experiment_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ExperimentError, match=r"Choose|Use|Enter|Name|not a number|at least one"):
        make()


@pytest.mark.parametrize("size", [2.5, "4", True, None])
def test_a_beam_size_that_is_no_whole_number_is_refused(size: object) -> None:
    with pytest.raises(ConfigError, match="whole number from 1"):
        Beam(size)  # type: ignore[arg-type]


def test_whole_numbers_of_numpy_are_taken_as_what_they_are() -> None:
    forced = ForcedToken(np.argmax([0, 3, 1]), "▁dog")  # type: ignore[arg-type]
    off = HeadScaled(Head("cross", np.int64(1), np.int64(0)))  # type: ignore[arg-type]
    experiment = Experiment("Ein Hund.", Beam(np.int64(4)), (forced, off))  # type: ignore[arg-type]
    assert (
        experiment_from_json(json.loads(json.dumps(experiment_to_json(experiment)))) == experiment
    )


def test_broken_bytes_in_a_forced_token_become_the_sign_for_them() -> None:
    assert ForcedToken(0, "caf\udce9").token == "caf\N{REPLACEMENT CHARACTER}"
