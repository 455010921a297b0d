"""Log P(word) − log P(foil) and its parts, against the probabilities of the plain model, pair by
pair."""

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from augenmerk.core.counting import display_text
from augenmerk.core.errors import AnalysisError, CorpusError
from augenmerk.core.extensions.analyses import importance
from augenmerk.core.extensions.analyses.pairs import (
    WordPair,
    attribute_pairs,
    pairs_importance,
    read_pairs,
)
from augenmerk.core.model.heads import Head, heads_of, networks_of
from augenmerk.core.model.sites import attentions_of
from augenmerk.core.translation.experiment import Experiment, HeadScaled, SoftmaxTemperature
from augenmerk.core.translation.translator import Translator
from tests.core.translation.random_models import MODELS, make_translator

PAIRS = (
    WordPair("Ein Mann steht auf einer Leiter.", "A man", "stands", "ladder"),
    WordPair("Leiter", "", "ladder", "man"),
    WordPair("Ein Mann steht.", "A man stands on a", "ladder", "<eos>"),
    WordPair("Ein Mann steht.", "A man", "<eos>", "stands"),
)
CHANGES = (HeadScaled(Head("cross", 1, 0), -0.5), SoftmaxTemperature(Head("decoder", 0, 1), 2.0))


@pytest.fixture(scope="module")
def translator(untrained_checkpoint: Path) -> Translator:
    """Small weights were drawn: made larger, so that each head matters."""
    translator = Translator.load(untrained_checkpoint, "cpu")
    torch.manual_seed(0)
    for parameter in translator.model.parameters():
        parameter.data += 0.2 * torch.randn_like(parameter)
    return translator


def log_probability(translator: Translator, source: str, prefix: str, word: str) -> float:
    """Of the pieces of a word, by the plain model, which reads one pair."""
    codec, rules = translator.checkpoint.codecs.target, translator.rules
    source_ids = translator.compile(Experiment(source)).source.ids

    def ids_of(text: str) -> list[int]:
        if text in codec.vocabulary.ids and (not codec.has_pieces or text.startswith(("▁", "<"))):
            return [codec.vocabulary.ids[text]]
        return [token for word in codec.encode_text(text) for token in word.ids] if text else []

    first, pieces = ids_of(prefix), ids_of(word)
    read = torch.tensor([[rules.start_id, *first, *pieces[:-1]]])
    with torch.no_grad():
        log_probabilities = (
            translator.model(torch.tensor([source_ids]), read).logits[0].log_softmax(dim=-1)
        )
    return sum(
        float(log_probabilities[len(first) + index, piece]) for index, piece in enumerate(pieces)
    )


def differences(translator: Translator, pairs: tuple[WordPair, ...]) -> list[float]:
    return [
        log_probability(translator, pair.source, pair.prefix, pair.word)
        - log_probability(translator, pair.source, pair.prefix, pair.foil)
        for pair in pairs
    ]


@pytest.mark.heavy
def test_differences_are_those_of_the_plain_model_and_parts_add_up(translator: Translator) -> None:
    done: list[tuple[int, int]] = []
    attribution = attribute_pairs(translator, PAIRS, on_progress=lambda *now: done.append(now))
    np.testing.assert_allclose(attribution.differences, differences(translator, PAIRS), atol=1e-4)
    np.testing.assert_allclose(
        attribution.explained, attribution.differences, atol=1e-4, err_msg="words of one token"
    )
    np.testing.assert_allclose(attribution.parts.sum(axis=1), attribution.explained, atol=1e-4)
    assert attribution.parts.shape == (len(PAIRS), len(attribution.components))
    assert done == [(number, len(PAIRS)) for number in range(1, len(PAIRS) + 1)]


@pytest.mark.heavy
@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_model_is_measured(name: str) -> None:
    translator = make_translator(name)
    text = "1 5 9 4 3" if name.startswith("copy") else "Ein Mann steht auf einer Leiter."
    codec = translator.checkpoint.codecs.target
    entries = [
        entry
        for entry in codec.vocabulary.tokens
        if entry not in codec.specials
        and (not codec.has_pieces or entry.startswith("▁"))
        and codec.encode_text(entry)
    ]
    pairs = (
        WordPair(text, "", entries[0], entries[1]),
        WordPair(text, entries[2], entries[3], entries[4]),
    )
    attribution = attribute_pairs(translator, pairs)
    expected = differences(translator, pairs)
    np.testing.assert_allclose(attribution.differences, expected, atol=1e-3)
    np.testing.assert_allclose(attribution.parts.sum(axis=1), attribution.explained, atol=1e-3)
    assert pairs_importance(translator, pairs).before == pytest.approx(np.mean(expected), abs=1e-3)


@pytest.mark.heavy
def test_words_of_several_pieces_count_whole(subword_translator: Translator) -> None:
    codec = subword_translator.checkpoint.codecs.target
    words = ["dogs", "playing", "ladders", "standing"]
    num_pieces = {word: len(codec.encode_text(word)[0].ids) for word in words}
    word = max(words, key=lambda candidate: num_pieces[candidate])
    assert num_pieces[word] > 1
    foil = next(candidate for candidate in words if candidate[0] != word[0])
    pairs = (WordPair("Ein Mann steht.", "a", word, foil),)
    attribution = attribute_pairs(subword_translator, pairs)
    np.testing.assert_allclose(
        attribution.differences, differences(subword_translator, pairs), atol=1e-4
    )
    assert abs(attribution.differences[0] - attribution.explained[0]) > 1e-3, (
        "later pieces count too"
    )
    before = pairs_importance(subword_translator, pairs).before
    assert before == pytest.approx(differences(subword_translator, pairs)[0], abs=1e-4)


@pytest.mark.heavy
def test_effects_are_the_mean_without_the_weights_minus_the_mean_with_them(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    # word and foil of a pair in different batches
    monkeypatch.setattr(importance, "BATCH_SIZE", 4)
    measured = pairs_importance(translator, PAIRS)
    whole = np.mean(differences(translator, PAIRS))
    assert measured.before == pytest.approx(whole, abs=1e-5)
    assert measured.num_sentences == len(PAIRS)
    changes = []
    for part in (*heads_of(translator.model.config), *networks_of(translator.model.config)):
        without = copy.copy(translator)
        without.model = copy.deepcopy(translator.model)
        if isinstance(part, Head):
            module = attentions_of(without.model)[part.kind][part.layer]
            module.out_proj.weight.data[
                :, part.head * module.head_width : (part.head + 1) * module.head_width
            ] = 0
        else:
            layers = {
                "encoder": without.model.encoder_layers,
                "decoder": without.model.decoder_layers,
            }[part.side]
            for parameter in layers[part.layer].feed_forward.contract.parameters():
                parameter.data[:] = 0
        changes.append(np.mean(differences(without, PAIRS)) - whole)
        assert measured.effects[part] == pytest.approx(changes[-1], abs=1e-4), part
    assert np.abs(changes).max() > 0.1


@pytest.mark.heavy
def test_changes_apply_to_the_metric_its_parts_and_its_importance(translator: Translator) -> None:
    attribution = attribute_pairs(translator, PAIRS, changes=CHANGES)
    assert (
        np.abs(attribution.differences - attribute_pairs(translator, PAIRS).differences).max()
        > 1e-3
    )
    np.testing.assert_allclose(attribution.parts.sum(axis=1), attribution.explained, atol=1e-4)
    importance_of_parts = pairs_importance(translator, PAIRS, changes=CHANGES)
    assert importance_of_parts.before == pytest.approx(attribution.differences.mean(), abs=1e-4)
    assert importance_of_parts.changes == attribution.changes == CHANGES


def test_a_file_is_read_with_its_line_numbers(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(
        "\ufeffZwei Hunde.\tTwo\tdogs\tcats\n\nStraße\t\tStreet\t·ing\r\n", encoding="utf-8"
    )
    assert read_pairs(path) == (
        WordPair("Zwei Hunde.", "Two", "dogs", "cats", f"{path}, line 1"),
        WordPair("Straße", "", "Street", "·ing", f"{path}, line 3"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"a\tb\tc\td\na b c\n", "line 2: found 1 field instead of 4. Write sentence, tab"),
        (b"a\tb\tc\td\te\n", "line 1: found 5 fields"),
        (b"\tb\tc\td\n", "line 1: the sentence is empty"),
        (b"a\t\t\td\n", "line 1: the word is empty"),
        (b"a\t\tc\t \n", "line 1: the foil is empty"),
        (b"a\t\tc\tc\n", "line 1: word and foil are both “c”"),
        (b"\n \n", "has no pair of words"),
        (b"\xff\xfe\n", "pairs.tsv"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(text)
    with pytest.raises(CorpusError, match=message):
        read_pairs(path)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (
            WordPair("Ein Mann.", "A", "zzzyx", "man", "x.tsv, line 7"),
            "The vocabulary of this model has no 'zzzyx'",
        ),
        (
            WordPair("Ein Mann.", "A qqqq", "ladder", "man", "x.tsv, line 8"),
            "The vocabulary of this model has no 'A qqqq'",
        ),
        (
            WordPair("Ein Mann.", "A", "man stands", "man", "x.tsv, line 9"),
            "“man stands” is more than one word",
        ),
        (WordPair("Ein Mann.", "A", "man", "Man", "x.tsv, line 2"), "“man” and “Man” are the same"),
        (
            WordPair("Ein Mann.", "A", "<sos>", "man", "x.tsv, line 3"),
            "“<sos>” can never be chosen",
        ),
        (
            WordPair("Ein Mann.", "<eos>", "ladder", "man", "x.tsv, line 6"),
            "The beginning “<eos>” contains the end",
        ),
        (WordPair(" ", "A", "ladder", "man", "x.tsv, line 4"), ""),
        (
            WordPair("Ein Mann.", "a " * 300, "ladder", "man", "x.tsv, line 5"),
            "The translation has 301 tokens",
        ),
    ],
)
def test_a_pair_that_the_model_cannot_read_is_named_by_its_place(
    translator: Translator, pair: WordPair, message: str
) -> None:
    for function in (attribute_pairs, pairs_importance):
        with pytest.raises(AnalysisError) as refused:
            function(translator, [PAIRS[0], pair])
        assert str(refused.value).startswith(f"{pair.place}: {message}")
        with pytest.raises(AnalysisError) as refused:
            function(translator, [PAIRS[0], replace(pair, place="")])
        assert str(refused.value).startswith(f"Pair 1: {message}")
        assert display_text(refused.value).startswith(f"Pair 2: {message}")


def test_no_pairs_are_refused(translator: Translator) -> None:
    with pytest.raises(AnalysisError, match="no pair of words"):
        attribute_pairs(translator, [])
