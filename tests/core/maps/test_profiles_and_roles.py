"""Statistics and roles of heads whose maps are made by hand, so that the answer is known."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from augenmerk.core.maps.roles import (
    ALIGNER_CONFIDENCE,
    ALIGNER_COVERAGE,
    BROAD_RELATIVE_ENTROPY,
    POSITION_SHARE,
    REACH,
    ROLES,
    SINK_SHARE,
    HeadProfiler,
    HeadProfiles,
    Role,
    SampleProfiles,
    fitting_rows,
    role_of,
    roles_of,
)
from augenmerk.core.model.heads import ATTENTION_KINDS, AttentionKind, Head
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.result import AttentionMaps, Translation

S, T = 6, 5


def made_up(encoder: np.ndarray, decoder: np.ndarray, cross: np.ndarray) -> Translation:
    """A translation with one layer; each argument holds the maps [H, Q, M] of one kind."""
    num_source, num_target = encoder.shape[-1], decoder.shape[-1]
    predicted = (*(f"w{n}" for n in range(num_target - 1)), "<eos>")
    return Translation(
        experiment=Experiment(""),
        text="",
        source_tokens=("<sos>", *(f"s{n}" for n in range(num_source - 2)), "<eos>")[-num_source:],
        read_tokens=("<sos>", *predicted[:-1]),
        predicted_tokens=predicted,
        log_probabilities=(0.0,) * num_target,
        alternatives=((),) * num_target,
        source_words=(),
        target_words=(),
        unknown_source_positions=(),
        ignored_text="",
        notes=(),
        attention=AttentionMaps(
            *(maps[None].astype(np.float32) for maps in (encoder, decoder, cross))
        ),
        seconds=0.0,
    )


def pointing(
    num_rows: int, num_keys: int, where: Callable[[int], int], share: float = 1.0
) -> np.ndarray:
    """Row t gives `share` to key where(t), kept inside the map, and the rest to all others
    alike."""
    weights = np.full((num_rows, num_keys), (1 - share) / (num_keys - 1))
    for row in range(num_rows):
        weights[row, min(max(where(row), 0), num_keys - 1)] = share
    return weights


def even(num_rows: int, num_keys: int, *, causal: bool = False) -> np.ndarray:
    weights = np.tril(np.ones((num_rows, num_keys))) if causal else np.ones((num_rows, num_keys))
    return weights / weights.sum(-1, keepdims=True)


@pytest.fixture(scope="module")
def profiles() -> SampleProfiles:
    """Heads in the order of `EXPECTED`."""
    encoder = [
        pointing(S, S, lambda t: t - 1),
        pointing(S, S, lambda t: t + 1),
        pointing(S, S, lambda t: t),
        pointing(S, S, lambda t: S - 1, 0.7),
        pointing(S, S, lambda t: 0, 0.7),
        even(S, S),
        pointing(S, S, lambda t: t - 2, 0.7),
    ]
    decoder = [
        pointing(T, T, lambda t: t - 1),
        pointing(T, T, lambda t: t),
        pointing(T, T, lambda t: 0),
        even(T, T, causal=True),
    ]
    cross = [
        pointing(T, S, lambda t: t + 1, 0.8),
        pointing(T, S, lambda t: S - 1, 0.8),
        pointing(T, S, lambda t: 2, 0.8),
        even(T, S),
    ]
    profiler = HeadProfiler()
    profiler.add(made_up(np.stack(encoder), np.stack(decoder), np.stack(cross)))
    return profiler.result()


EXPECTED: dict[str, tuple[Role, ...]] = {
    "encoder": ("previous", "next", "self", "end-token sink", "start-token sink", "broad", "mixed"),
    "decoder": ("previous", "self", "start-token sink", "broad"),
    "cross": ("aligner", "end-token sink", "mixed", "broad"),
}


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_made_up_heads_get_the_role_they_were_made_for(profiles: SampleProfiles, kind) -> None:
    assert roles_of(profiles.of_kind(kind)) == (EXPECTED[kind],)
    assert set(EXPECTED[kind]) <= set(ROLES)


def fits_by_loop(role: Role, translation: Translation, head: Head) -> list[bool]:
    """`fitting_rows`, number by number."""
    keys = translation.read_tokens if head.kind == "decoder" else translation.source_tokens
    roles = []
    for query, row in enumerate(
        translation.maps.of_kind(head.kind)[head.layer, head.head].tolist()
    ):
        seen = row[: query + 1] if head.kind == "decoder" else row
        if len(seen) < 2:
            continue
        by_key = dict(enumerate(row))
        entropy = -sum(weight * math.log(weight) for weight in seen if weight > 0)
        largest = max(by_key, key=lambda key: by_key[key])
        is_sharp = row[largest] >= ALIGNER_CONFIDENCE and keys[largest] not in ("<sos>", "<eos>")
        fits = {
            "previous": by_key.get(query - 1, 0) >= POSITION_SHARE,
            "self": by_key.get(query, 0) >= POSITION_SHARE,
            "next": by_key.get(query + 1, 0) >= POSITION_SHARE,
            "end-token sink": "<eos>" in keys and row[keys.index("<eos>")] >= SINK_SHARE,
            "start-token sink": row[keys.index("<sos>")] >= SINK_SHARE,
            "aligner": is_sharp,
            "broad": entropy / math.log(len(seen)) >= BROAD_RELATIVE_ENTROPY,
            "mixed": True,
        }
        roles.append(fits[role])
    return roles


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
@pytest.mark.parametrize("role", ROLES)
def test_a_row_fits_a_role_by_its_own_weights(role: Role, kind: AttentionKind) -> None:
    random = np.random.default_rng(3)
    sharp = {
        (T, S): random.dirichlet([0.1] * S, (40, T)),
        (S, S): random.dirichlet([0.1] * S, (40, S)),
    }
    decoder = np.zeros((40, T, T))
    for query in range(T):
        decoder[:, query, : query + 1] = random.dirichlet([0.4] * (query + 1), 40)
    broad = random.dirichlet([2.0] * S, (40, S))
    encoder = np.where(np.arange(40)[:, None, None] < 20, sharp[S, S], broad)
    translation = made_up(encoder, decoder, sharp[T, S])
    rows = [fitting_rows(role, translation, Head(kind, 0, head)).tolist() for head in range(40)]
    assert rows == [fits_by_loop(role, translation, Head(kind, 0, head)) for head in range(40)]
    if role not in ("aligner", "end-token sink", "mixed", "next"):
        assert {fit for row in rows for fit in row} == {True, False}


def test_entropy_and_confidence_of_even_and_pointing_heads(profiles: SampleProfiles) -> None:
    encoder = profiles.encoder
    assert encoder.entropy[0, 5] == pytest.approx(math.log(S), abs=1e-5)
    assert encoder.relative_entropy[0, 5] == pytest.approx(1, abs=1e-5)
    assert encoder.confidence[0, 5] == pytest.approx(1 / S)
    assert encoder.entropy[0, 2] == 0  # 0 · log 0 is 0
    assert encoder.confidence[0, 2] == 1


def test_rows_without_a_choice_are_not_counted(profiles: SampleProfiles) -> None:
    assert profiles.decoder.num_rows == T - 1  # step 0 can see only <sos>
    assert profiles.encoder.num_rows == S
    assert profiles.decoder.relative_entropy[0, 3] == pytest.approx(1, abs=1e-5)
    # the step before the first choice would have been all self
    assert profiles.decoder.self_share[0, 0] == 0


def test_shares_of_marks_are_sums_over_their_columns(profiles: SampleProfiles) -> None:
    assert profiles.encoder.end_share[0, 3] == pytest.approx(0.7)
    assert profiles.encoder.start_share[0, 3] == pytest.approx(0.3 / (S - 1))
    assert (profiles.decoder.end_share == 0).all()  # <eos> is never read


def test_distances_sum_to_one_and_hold_what_is_far_at_their_ends(profiles: SampleProfiles) -> None:
    for kind in ATTENTION_KINDS:
        distances = profiles.of_kind(kind).distances
        assert distances.shape[-1] == 2 * REACH + 1
        np.testing.assert_allclose(distances.sum(-1), 1, atol=1e-5)
    uniform = profiles.encoder.distances[0, 5]
    # 3 or more to the right
    assert uniform[-1] == pytest.approx(sum(range(1, S - REACH + 1)) / S**2)


def test_cross_distances_are_counted_from_the_diagonal() -> None:
    profiler = HeadProfiler()
    diagonal = pointing(4, 7, lambda t: 2 * t)[None]
    profiler.add(made_up(even(7, 7)[None], even(4, 4, causal=True)[None], diagonal))
    assert profiler.result().cross.self_share[0, 0] == pytest.approx(1)


def test_coverage_counts_different_words_and_no_marks(profiles: SampleProfiles) -> None:
    # all four words, the last step points at <eos>
    assert profiles.cross.coverage[0, 0] == pytest.approx(1)
    assert profiles.cross.coverage[0, 1] == 0
    assert profiles.cross.coverage[0, 2] == pytest.approx(1 / 4)


def test_sentences_count_by_their_rows() -> None:
    profiler = HeadProfiler()
    long, short = even(8, 8)[None], pointing(2, 2, lambda t: t)[None]
    profiler.add(made_up(long, even(3, 3, causal=True)[None], even(3, 8)[None]))
    profiler.add(made_up(short, even(3, 3, causal=True)[None], even(3, 2)[None]))
    result = profiler.result()
    assert result.num_sentences == 2
    assert result.encoder.confidence[0, 0] == pytest.approx((8 / 8 + 2 * 1) / 10)


def test_one_token_on_each_side_is_no_division_by_zero() -> None:
    profiler = HeadProfiler()
    one = np.ones((1, 1, 1))
    profiler.add(made_up(one, one, one))
    result = profiler.result()
    for kind in ATTENTION_KINDS:
        profile = result.of_kind(kind)
        assert profile.num_rows == 0
        assert np.isfinite(profile.entropy).all()
        assert np.isfinite(profile.distances).all()


def profile_with(**changed: float) -> HeadProfiles:
    """One encoder head that is nothing in particular, but for what is given."""
    values = dict.fromkeys(
        ("entropy", "relative_entropy", "confidence", "start_share", "end_share", "coverage"), 0.1
    )
    values |= {name: value for name, value in changed.items() if name in values}
    distances = np.zeros((1, 1, 2 * REACH + 1), dtype=np.float32)
    for index, name in enumerate(("previous", "self", "next"), start=REACH - 1):
        distances[..., index] = changed.get(name, 0)
    arrays = {name: np.full((1, 1), value, dtype=np.float32) for name, value in values.items()}
    return HeadProfiles("encoder", 10, distances=distances, **arrays)


@pytest.mark.parametrize(
    ("name", "threshold", "role"),
    [
        ("previous", POSITION_SHARE, "previous"),
        ("next", POSITION_SHARE, "next"),
        ("self", POSITION_SHARE, "self"),
        ("end_share", SINK_SHARE, "end-token sink"),
        ("start_share", SINK_SHARE, "start-token sink"),
        ("relative_entropy", BROAD_RELATIVE_ENTROPY, "broad"),
    ],
)
def test_roles_begin_at_their_thresholds(name: str, threshold: float, role: Role) -> None:
    assert role_of(profile_with(**{name: threshold + 1e-4}), 0, 0) == role
    assert role_of(profile_with(**{name: threshold - 1e-4}), 0, 0) == "mixed"


@pytest.mark.parametrize(
    ("name", "threshold"), [("confidence", ALIGNER_CONFIDENCE), ("coverage", ALIGNER_COVERAGE)]
)
def test_an_aligner_is_both_pointed_and_wandering(name: str, threshold: float) -> None:
    def role(value: float) -> Role:
        both = {"confidence": 0.9, "coverage": 0.9} | {name: value}
        return role_of(replace(profile_with(**both), kind="cross"), 0, 0)

    assert role(threshold + 1e-4) == "aligner"
    assert role(threshold - 1e-4) == "mixed"


def test_a_position_goes_before_a_sink() -> None:
    assert role_of(profile_with(previous=0.5, end_share=0.5), 0, 0) == "previous"


def test_of_two_positions_the_one_with_more_weight_counts() -> None:
    assert role_of(profile_with(previous=0.35, self=0.45), 0, 0) == "self"
    assert role_of(profile_with(previous=0.45, self=0.35), 0, 0) == "previous"


def test_a_broad_head_is_not_positional() -> None:
    assert role_of(profile_with(previous=0.35, relative_entropy=0.9), 0, 0) == "broad"
    assert role_of(profile_with(end_share=0.6, relative_entropy=0.9), 0, 0) == "end-token sink"
