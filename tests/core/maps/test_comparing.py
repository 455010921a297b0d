"""Differences of maps: same rows and columns are subtracted, what has no partner is left out and
counted."""

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

from augenmerk.core.errors import AnalysisError
from augenmerk.core.maps.comparing import common_subsequence, difference
from augenmerk.core.maps.selection import LabelledMap, Selection
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.result import AttentionMaps, Translation, Word
from augenmerk.core.translation.translator import Translator
from tests.core.translators import read_given


def tokens_of(text: str, first: int) -> tuple[list[str], tuple[Word, ...]]:
    """The pieces of the words, cut at each "|", and where the words stand if the first token is
    number `first`."""
    tokens: list[str] = []
    words: list[Word] = []
    for word in text.split():
        pieces = word.split("|")
        start = first + len(tokens)
        words.append(Word("".join(pieces), start, start + len(pieces)))
        tokens += pieces
    return tokens, tuple(words)


def random_maps(num_rows: int, num_columns: int, *, is_causal: bool = False) -> np.ndarray:
    weights = (
        np.random.default_rng(num_rows).random((3, 4, num_rows, num_columns), dtype=np.float32)
        + 0.01
    )
    weights = np.tril(weights) if is_causal else weights
    return weights / weights.sum(axis=-1, keepdims=True)


def make_translation(source: str, target: str) -> Translation:
    source_pieces, source_words = tokens_of(source, 1)
    target_pieces, target_words = tokens_of(target, 0)
    num_source, num_steps = len(source_pieces) + 2, len(target_pieces) + 1
    return Translation(
        experiment=Experiment(source.replace("|", "")),
        text=" ".join(word.text for word in target_words),
        source_tokens=("<sos>", *source_pieces, "<eos>"),
        read_tokens=("<sos>", *target_pieces),
        predicted_tokens=(*target_pieces, "<eos>"),
        log_probabilities=(-0.5,) * num_steps,
        alternatives=((),) * num_steps,
        source_words=source_words,
        target_words=target_words,
        unknown_source_positions=(),
        ignored_text="",
        notes=(),
        attention=AttentionMaps(
            random_maps(num_source, num_source),
            random_maps(num_steps, num_steps, is_causal=True),
            random_maps(num_steps, num_source),
        ),
        seconds=0.0,
    )


FIRST = make_translation("der hund spielt im schnee .", "the dog plays in snow .")
SECOND = make_translation("der kleine hund spielt im garten .", "the small dog plays in garden .")


def labelled(translation, kind="cross", mode="read", **choices) -> LabelledMap:
    return Selection(mode, **choices).apply(translation.maps.of_kind(kind), translation, kind)


@pytest.mark.parametrize("mode", ["read", "predicted"])
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_a_map_minus_itself_is_zero_and_nothing_is_left_out(kind, mode) -> None:
    compared = difference(labelled(FIRST, kind, mode), labelled(FIRST, kind, mode))
    assert compared.values.shape == FIRST.maps.of_kind(kind).shape
    assert not compared.values.any()
    assert (compared.queries_left_out, compared.keys_left_out, compared.note) == (
        (0, 0),
        (0, 0),
        "",
    )
    assert compared.largest == 0
    np.testing.assert_allclose(compared.mass_left_out, 0, atol=1e-6)


def test_partners_are_words_in_common_and_the_difference_is_signed() -> None:
    compared = difference(labelled(FIRST), labelled(SECOND))
    assert compared.keys.labels == ("<sos>", "der", "hund", "spielt", "im", ".", "<eos>")
    assert compared.queries.labels == ("<sos>", "the", "dog", "plays", "in", ".")
    assert (compared.queries_left_out, compared.keys_left_out) == ((1, 2), (1, 2))
    for row, (first_row, second_row) in enumerate(compared.query_pairs):
        for column, (first_column, second_column) in enumerate(compared.key_pairs):
            np.testing.assert_allclose(
                compared.values[..., row, column],
                SECOND.maps.cross[..., second_row, second_column]
                - FIRST.maps.cross[..., first_row, first_column],
                atol=1e-6,
            )
    assert compared.values.min() < 0 < compared.values.max()
    assert compared.largest == np.abs(compared.values).max()
    snow = FIRST.maps.cross[..., [first for first, _ in compared.query_pairs], 5]
    np.testing.assert_allclose(compared.mass_left_out[0], snow, atol=1e-6)
    assert "1 and 2 queries" in compared.note
    swapped = difference(labelled(SECOND), labelled(FIRST))
    np.testing.assert_array_equal(swapped.values, -compared.values)


def test_pieces_are_merged_before_two_vocabularies_are_compared() -> None:
    cut = make_translation("der hu|nd spielt im sch|nee .", "the dog pl|ays in snow .")
    words = difference(labelled(FIRST, merge_words=True), labelled(cut, merge_words=True))
    assert words.keys.labels == FIRST.source_tokens
    assert words.queries.labels == FIRST.read_tokens
    assert words.note == ""
    pieces = difference(labelled(FIRST), labelled(cut))
    assert pieces.keys_left_out == (2, 4)


def test_case_does_not_part_words() -> None:
    shouted = replace(FIRST, source_tokens=tuple(token.upper() for token in FIRST.source_tokens))
    shouted = replace(shouted, source_tokens=("<sos>", *shouted.source_tokens[1:-1], "<eos>"))
    assert difference(labelled(FIRST), labelled(shouted)).note == ""


def test_sentences_with_nothing_but_marks_in_common_are_refused() -> None:
    other = make_translation("eine katze schläft", "cat sleeps")
    with pytest.raises(AnalysisError, match="queries of the two maps have no word in common"):
        difference(labelled(FIRST), labelled(other))
    same_target = make_translation("eine katze schläft", "the dog plays in snow .")
    with pytest.raises(AnalysisError, match="keys of the two maps have no word in common"):
        difference(labelled(FIRST), labelled(same_target))


def test_maps_of_different_things_are_refused() -> None:
    with pytest.raises(AnalysisError, match="queries of the first map are named by token read,"):
        difference(labelled(FIRST), labelled(FIRST, mode="predicted"))
    one_head = replace(labelled(FIRST), weights=labelled(FIRST).weights[0, 0])
    with pytest.raises(AnalysisError, match="one head with one head"):
        difference(labelled(FIRST), one_head)


@pytest.mark.parametrize("seed", range(6))
def test_the_subsequence_is_the_longest_there_is(seed: int) -> None:
    random = np.random.default_rng(seed)
    first, second = ("".join(random.choice(list("abc"), size)) for size in (7, 8))
    pairs = common_subsequence(first, second)
    assert all(first[i] == second[j] for i, j in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    longest = max(
        size
        for size in range(8)
        for chosen in combinations(first, size)
        if "".join(chosen) in {"".join(other) for other in combinations(second, size)}
    )
    assert len(pairs) == longest


def test_one_sentence_in_two_checkpoints(
    word_translator: Translator, subword_translator: Translator
) -> None:
    text, target = "Ein Mann steht auf einer Leiter.", "A man stands on a ladder."
    maps = [
        labelled(read_given(translator, text, target), merge_words=True)
        for translator in (word_translator, subword_translator)
    ]
    compared = difference(*maps)
    assert compared.keys.labels == (
        "<sos>",
        "ein",
        "mann",
        "steht",
        "auf",
        "einer",
        "leiter",
        ".",
        "<eos>",
    )
    assert compared.values.shape[-2:] == (8, 9)
    np.testing.assert_allclose(compared.values.sum(-1), 0, atol=1e-5)


def test_words_without_end_are_shortened_in_the_message() -> None:
    whole = "d" * 20
    first, second, third = (
        make_translation("ein hund", target)
        for target in ("fune" * 40, f"{whole} a dog in snow", f"{whole}d b cat on ice .")
    )
    with pytest.raises(
        AnalysisError,
        match=rf"have no word in common: “<sos> (fune){{5}}…” and “<sos> {whole} a dog in snow”\.",
    ) as raised:
        difference(labelled(first), labelled(second))
    assert len(str(raised.value)) < 200
    with pytest.raises(AnalysisError, match=rf"and “<sos> {whole}… b cat on ice …”\."):
        difference(labelled(second), labelled(third))
