"""Labels, merged words, hidden tokens and combined heads, on maps made by hand."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from augenmerk.core.errors import AnalysisError
from augenmerk.core.maps.selection import (
    Selection,
    combine,
    hide,
    is_hidden,
    label_map,
    merge_words,
    sum_queries,
)
from augenmerk.core.model.heads import ATTENTION_KINDS, AttentionKind
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.result import AttentionMaps, Translation, Word


def random_maps(*shape: int, causal: bool = False) -> np.ndarray:
    """Rows that sum to 1."""
    weights = np.random.default_rng(0).random(shape, dtype=np.float32)
    if causal:
        weights = np.tril(weights)
    return weights / weights.sum(-1, keepdims=True)


@pytest.fixture
def translation() -> Translation:
    """Source <sos> leit ·er . <eos>; target lad ·der ! <eos>; 2 layers of 3 heads."""
    return Translation(
        experiment=Experiment("Leiter."),
        text="Ladder!",
        source_tokens=("<sos>", "leit", "·er", ".", "<eos>"),
        read_tokens=("<sos>", "lad", "·der", "!"),
        predicted_tokens=("lad", "·der", "!", "<eos>"),
        log_probabilities=(-0.1,) * 4,
        alternatives=((),) * 4,
        source_words=(Word("leiter", 1, 3), Word(".", 3, 4)),
        target_words=(Word("ladder", 0, 2), Word("!", 2, 3)),
        unknown_source_positions=(),
        ignored_text="",
        notes=(),
        attention=AttentionMaps(
            random_maps(2, 3, 5, 5), random_maps(2, 3, 4, 4, causal=True), random_maps(2, 3, 4, 5)
        ),
        seconds=0.0,
    )


def test_rows_say_whether_they_are_read_or_predicted(translation: Translation) -> None:
    read = label_map(translation.maps.cross, translation, "cross", "read")
    predicted = label_map(translation.maps.cross, translation, "cross", "predicted")
    assert (read.queries.meaning, read.queries.labels) == ("token read", translation.read_tokens)
    assert (predicted.queries.meaning, predicted.queries.labels) == (
        "token predicted",
        translation.predicted_tokens,
    )
    assert read.keys.meaning == "source token"


def test_keys_of_the_decoder_are_tokens_read_in_either_mode(translation: Translation) -> None:
    for mode in ("read", "predicted"):
        labelled = label_map(translation.maps.decoder, translation, "decoder", mode)
        assert (labelled.keys.meaning, labelled.keys.labels) == (
            "token read",
            translation.read_tokens,
        )


def test_rows_of_the_encoder_do_not_depend_on_the_mode(translation: Translation) -> None:
    assert (
        label_map(translation.maps.encoder, translation, "encoder", "predicted").queries.meaning
        == "source token"
    )


def test_words_sum_over_key_pieces_and_average_over_query_pieces(translation: Translation) -> None:
    weights = translation.maps.cross
    read = merge_words(label_map(weights, translation, "cross", "read"))
    assert read.queries.labels == ("<sos>", "ladder", "!")
    assert read.queries.positions == ((0,), (1, 2), (3,))
    assert read.keys.labels == ("<sos>", "leiter", ".", "<eos>")
    both_rows = weights[1, 2, 1:3].mean(axis=0)
    np.testing.assert_allclose(read.weights[1, 2, 1, 1], both_rows[1] + both_rows[2], rtol=1e-6)
    predicted = merge_words(label_map(weights, translation, "cross", "predicted"))
    assert predicted.queries.labels == ("ladder", "!", "<eos>")
    np.testing.assert_allclose(
        predicted.weights[0, 0, 0, 0], weights[0, 0, 0:2, 0].mean(), rtol=1e-6
    )


def test_decoder_words_as_keys_lie_one_further_on_than_predicted_rows(
    translation: Translation,
) -> None:
    weights = translation.maps.decoder
    merged = merge_words(label_map(weights, translation, "decoder", "predicted"))
    assert merged.queries.labels == ("ladder", "!", "<eos>")
    assert merged.keys.labels == ("<sos>", "ladder", "!")
    np.testing.assert_allclose(merged.weights[0, 0, 2, 1], weights[0, 0, 3, 1:3].sum(), rtol=1e-6)


@pytest.mark.parametrize("kind", ATTENTION_KINDS)
def test_merged_rows_keep_their_sums_and_merging_again_changes_nothing(
    translation: Translation, kind: AttentionKind
) -> None:
    merged = merge_words(label_map(translation.maps.of_kind(kind), translation, kind))
    np.testing.assert_allclose(merged.weights.sum(-1), 1, atol=1e-6)
    again = merge_words(merged)
    assert again.queries == merged.queries
    assert np.array_equal(again.weights, merged.weights)


def test_a_word_that_was_cut_off_is_read_only_in_part(translation: Translation) -> None:
    cut = replace(
        translation,
        read_tokens=("<sos>", "lad"),
        predicted_tokens=("lad", "·der"),
        target_words=(Word("ladder", 0, 2),),
    )
    merged = merge_words(label_map(random_maps(2, 5), cut, "cross", "read"))
    assert merged.queries.labels == ("<sos>", "ladder")
    assert merged.queries.positions == ((0,), (1,))


@pytest.mark.parametrize(
    ("label", "kinds", "expected"),
    [
        ("<sos>", {"start"}, True),
        ("<sos>", {"end", "punctuation"}, False),
        ("<eos>", {"end"}, True),
        ("<eos>", {"punctuation"}, False),
        (".", {"punctuation"}, True),
        ("·,", {"punctuation"}, True),
        ("«…»", {"punctuation"}, True),
        ("·er", {"punctuation"}, False),
        ("t-shirt", {"punctuation"}, False),
        ("·", {"punctuation"}, True),
        ("7", {"punctuation"}, False),
        (".", set(), False),
    ],
)
def test_kinds_of_token_are_told_by_their_labels(label: str, kinds: set, expected: bool) -> None:
    assert is_hidden(label, kinds) is expected


def test_hidden_rows_sum_to_one_again_and_tell_what_was_hidden(translation: Translation) -> None:
    weights = translation.maps.cross
    shown = hide(label_map(weights, translation, "cross", "read"), {"start", "end", "punctuation"})
    assert shown.queries.labels == ("lad", "·der")
    assert shown.keys.labels == ("leit", "·er")
    np.testing.assert_allclose(shown.weights.sum(-1), 1, atol=1e-6)
    expected = weights[:, :, 1:3][..., [0, 3, 4]].sum(-1)
    np.testing.assert_allclose(shown.hidden_mass, expected, atol=1e-6)
    np.testing.assert_allclose(shown.hidden_mass_in_all, expected.mean(-1), atol=1e-6)
    np.testing.assert_allclose(
        shown.weights, weights[:, :, 1:3, 1:3] / (1 - expected)[..., None], rtol=1e-5
    )


def test_hiding_twice_tells_the_mass_hidden_in_both_steps(translation: Translation) -> None:
    labelled = label_map(translation.maps.cross, translation, "cross")
    twice = hide(hide(labelled, {"start"}), {"end", "punctuation", "start"})
    once = hide(labelled, {"start", "end", "punctuation"})
    np.testing.assert_allclose(twice.weights, once.weights, rtol=1e-5)
    np.testing.assert_allclose(twice.hidden_mass, once.hidden_mass, atol=1e-6)


def test_a_row_that_saw_only_hidden_keys_becomes_zero_not_noise(translation: Translation) -> None:
    shown = hide(
        label_map(translation.maps.decoder, translation, "decoder", "predicted"), {"start"}
    )
    assert shown.queries.labels[0] == "lad"  # its step saw <sos> alone
    assert not shown.weights[:, :, 0].any()
    assert (shown.hidden_mass[:, :, 0] == 1).all()


def test_hiding_everything_leaves_an_empty_map(translation: Translation) -> None:
    one = replace(
        translation, source_tokens=("<sos>", ".", "<eos>"), source_words=(Word(".", 1, 2),)
    )
    shown = hide(label_map(random_maps(3, 3), one, "encoder"), {"start", "end", "punctuation"})
    assert shown.weights.shape == (0, 0)
    assert shown.hidden_mass_in_all == 0


def test_unnormalised_rows_keep_their_former_sums_when_tokens_are_hidden(
    translation: Translation,
) -> None:
    norms = translation.maps.cross * 3
    shown = hide(label_map(norms, translation, "cross"), {"end"})
    np.testing.assert_allclose(shown.weights.sum(-1), 3, rtol=1e-5)


def test_selection_merges_first_and_hides_then(translation: Translation) -> None:
    chosen = Selection("predicted", merge_words=True, hide=frozenset({"start", "end"}))
    shown = chosen.apply(translation.maps.cross, translation, "cross")
    assert (shown.queries.labels, shown.keys.labels) == (("ladder", "!"), ("leiter", "."))
    by_hand = hide(
        merge_words(label_map(translation.maps.cross, translation, "cross", "predicted")),
        {"start", "end"},
    )
    assert np.array_equal(shown.weights, by_hand.weights)


def test_one_map_is_treated_as_all_of_them_are(translation: Translation) -> None:
    chosen = Selection(merge_words=True, hide=frozenset({"end"}))
    all_heads = chosen.apply(translation.maps.cross, translation, "cross")
    one_head = chosen.apply(translation.maps.cross[1, 0], translation, "cross")
    np.testing.assert_allclose(one_head.weights, all_heads.weights[1, 0], rtol=1e-6)
    np.testing.assert_allclose(one_head.hidden_mass, all_heads.hidden_mass[1, 0], rtol=1e-6)


def test_rows_of_several_tokens_are_summed(translation: Translation) -> None:
    labelled = label_map(translation.maps.cross, translation, "cross", "read")
    summed = sum_queries(labelled, [1, 3])
    assert summed.queries.labels == ("lad + !",)
    assert summed.queries.positions == ((1, 3),)
    np.testing.assert_allclose(
        summed.weights[..., 0, :], translation.maps.cross[..., [1, 3], :].sum(-2), rtol=1e-6
    )


@pytest.mark.parametrize("entries", [[], [4], [-1]])
def test_rows_that_are_not_there_are_refused(translation: Translation, entries: list[int]) -> None:
    with pytest.raises(AnalysisError, match="0 to 3"):
        sum_queries(label_map(translation.maps.cross, translation, "cross"), entries)


def test_heads_are_combined_by_mean_and_maximum(translation: Translation) -> None:
    maps = translation.maps.cross
    np.testing.assert_allclose(combine(maps), maps.mean(axis=(0, 1)), rtol=1e-6)
    np.testing.assert_allclose(combine(maps, "max"), maps.max(axis=(0, 1)))
    chosen = combine(maps, "mean", [(0, 2), (1, 1), (0, 2)])
    np.testing.assert_allclose(chosen, (maps[0, 2] + maps[1, 1]) / 2, rtol=1e-6)
    np.testing.assert_allclose(combine(maps, "max", {(0, 1)}), maps[0, 1])


@pytest.mark.parametrize("heads", [[], [(2, 0)], [(0, 3)], [(-1, 0)]])
def test_heads_that_are_not_there_are_refused(translation: Translation, heads: list) -> None:
    with pytest.raises(AnalysisError, match="layers 0 to 1 and heads 0 to 2"):
        combine(translation.maps.cross, heads=heads)


def test_maps_of_another_sentence_are_refused(translation: Translation) -> None:
    with pytest.raises(AnalysisError, match="4 queries and 5 keys"):
        label_map(translation.maps.encoder, translation, "cross")


@pytest.mark.subprocess
def test_selecting_needs_neither_torch_nor_spacy() -> None:
    code = (
        "import sys, augenmerk.core.maps.selection; assert not {'torch', 'spacy', 'torchtext'} & "
        "set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_is_hidden_of_a_query_without_weight(translation: Translation) -> None:
    """A head that is off has no values: its tokens hide no attention."""
    shape = len(translation.predicted_tokens), len(translation.source_tokens)
    hidden = Selection(hide=frozenset({"start", "end"})).apply(
        np.zeros(shape, dtype=np.float32), translation, "cross"
    )
    assert hidden.hidden_share == 0.0
    assert not hidden.weights.any()
