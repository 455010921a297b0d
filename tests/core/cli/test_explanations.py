"""`augenmerk analyze` about words and weights: lenses and parts, as Python computes them."""

import json
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.cli.main import main
from augenmerk.core.extensions.analyses.decoder_lens import decoder_lens
from augenmerk.core.extensions.analyses.logit_attribution import (
    encoder_parts,
    logit_parts,
    word_parts,
)
from augenmerk.core.extensions.analyses.logit_lens import logit_lens
from augenmerk.core.translation.experiment import Experiment, GivenTarget
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.translator import Translator

SENTENCE = "Ein Mann steht auf einer Leiter."
TARGET = "A man stands on a ladder."


@pytest.fixture
def translator(untrained_checkpoint: Path) -> Translator:
    return Translator.load(untrained_checkpoint, "cpu")


@pytest.fixture
def scored(translator: Translator) -> Translation:
    return translator.run(Experiment(SENTENCE, GivenTarget(TARGET)))


def printed(capsys: pytest.CaptureFixture[str], checkpoint: Path, *arguments: str) -> dict:
    capsys.readouterr()
    common = ["--target", TARGET, "--checkpoint", str(checkpoint), "--device", "cpu"]
    assert main(["analyze", SENTENCE, *common, *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_lens_has_the_numbers_of_every_sublayer(
    untrained_checkpoint, translator, scored, capsys
) -> None:
    printed_lens = printed(capsys, untrained_checkpoint, "--lens")["lens"]
    lens = logit_lens(translator, scored)
    assert printed_lens["depths"] == [str(depth) for depth in lens.depths]
    assert printed_lens["depths"][:3] == [
        "embedding",
        "layer 0 self-attention",
        "layer 0 cross-attention",
    ]
    assert printed_lens["tokens"] == list(scored.predicted_tokens)
    assert printed_lens["ranks"] == lens.ranks.tolist()
    np.testing.assert_allclose(printed_lens["log_probabilities"], lens.log_probabilities, atol=1e-6)
    np.testing.assert_allclose(
        printed_lens["log_probabilities"][-1], scored.log_probabilities, atol=1e-4
    )
    np.testing.assert_allclose(printed_lens["entropies"], lens.entropies, atol=1e-6)
    assert printed_lens["best_tokens"][-1] == [
        alternative[0].token for alternative in scored.alternatives
    ]
    best = [alternative[0].log_probability for alternative in scored.alternatives]
    np.testing.assert_allclose(printed_lens["best_log_probabilities"][-1], best, atol=1e-4)


def test_the_decoder_lens_has_the_translation_of_every_layer(
    untrained_checkpoint, translator, scored, capsys
) -> None:
    printed_lens = printed(capsys, untrained_checkpoint, "--decoder-lens")["decoder_lens"]
    lens = decoder_lens(translator, scored)
    assert printed_lens["translations"] == [layer.text for layer in lens.layers]
    assert printed_lens["translations"][-1] == translator.translate(SENTENCE).text
    np.testing.assert_allclose(
        printed_lens["log_probabilities"],
        [layer.log_probability for layer in lens.layers],
        atol=1e-5,
    )
    counts = [[len(text.split()) for text in printed_lens[name]] for name in ("added", "removed")]
    assert counts == [[len(places) for places in marks] for marks in (lens.added, lens.removed)]


def test_the_parts_of_every_word_add_up(untrained_checkpoint, translator, scored, capsys) -> None:
    printed_parts = printed(capsys, untrained_checkpoint, "--parts")["parts"]
    assert printed_parts["words"] == ["a", "man", "stands", "on", "a", "ladder", ".", "<eos>"]
    parts = logit_parts(translator, scored)
    assert printed_parts["foils"] == [part.foil_word.token for part in parts]
    assert printed_parts["components"] == [str(component) for component in parts[0].components]
    np.testing.assert_allclose(printed_parts["values"], [part.values for part in parts], atol=1e-6)
    totals = np.sum(printed_parts["values"], axis=1) + printed_parts["remainder"]
    np.testing.assert_allclose(totals, printed_parts["difference"], atol=1e-5)
    differences = np.subtract(
        printed_parts["word_log_probabilities"], printed_parts["foil_log_probabilities"]
    )
    np.testing.assert_allclose(printed_parts["difference"], differences, atol=1e-5)
    heads = [
        index for index, name in enumerate(printed_parts["components"]) if name.startswith("cross")
    ]
    by_head = np.sum(printed_parts["keys"], axis=-1).reshape(len(printed_parts["words"]), -1)
    np.testing.assert_allclose(by_head, np.array(printed_parts["values"])[:, heads], atol=1e-5)
    assert len(printed_parts["key_tokens"]) == np.shape(printed_parts["keys"])[-1]


def test_one_word_is_compared_with_a_foil(untrained_checkpoint, translator, scored, capsys) -> None:
    printed_parts = printed(
        capsys, untrained_checkpoint, "--parts", "--word", "2", "--foil", "ladder"
    )["parts"]
    expected = word_parts(translator, scored, 1, "ladder")
    assert (printed_parts["words"], printed_parts["foils"], printed_parts["steps"]) == (
        ["man"],
        ["ladder"],
        [1],
    )
    np.testing.assert_allclose(printed_parts["values"], [expected.values], atol=1e-6)
    assert printed_parts["difference"] == pytest.approx([expected.difference], abs=1e-6)
    opened = encoder_parts(translator, expected)
    assert printed_parts["encoder_components"] == [
        str(component) for component in opened.components
    ]
    np.testing.assert_allclose(printed_parts["encoder_values"], [opened.values], atol=1e-6)
    np.testing.assert_allclose(
        np.sum(printed_parts["encoder_values"], axis=3), printed_parts["keys"], atol=1e-5
    )


def test_the_end_of_the_sentence_is_the_word_after_the_last(
    untrained_checkpoint, translator, scored, capsys
) -> None:
    for foil, option in ((None, ""), ("ladder", "--foil"), ("ladder", "--rival")):
        options = [] if foil is None else [option, foil]
        printed_parts = printed(capsys, untrained_checkpoint, "--parts", "--word", "8", *options)[
            "parts"
        ]
        expected = word_parts(translator, scored, 7, foil)
        assert (printed_parts["words"], printed_parts["steps"]) == (["<eos>"], [7])
        assert printed_parts["foils"] == [expected.foil_word.token]
        np.testing.assert_allclose(printed_parts["values"], [expected.values], atol=1e-6)


def test_the_parts_of_an_attention_score_add_up(untrained_checkpoint, capsys) -> None:
    warmer = "--temperature", "cross:2:1=2"
    fields = printed(capsys, untrained_checkpoint, "--query-key", "cross:2:1", "4", "5", *warmer)
    parts = fields["query_key_parts"]
    assert fields["query_key_temperature"] == 2
    assert parts["score"] == pytest.approx(fields["query_key_score"] / 2, abs=1e-5)
    for kind in ("", "_minus_mean"):
        products = np.array(parts[f"products{kind}"])
        assert products.shape == (len(parts["query_components"]), len(parts["key_components"]))
        total = products.sum() + parts[f"remainder{kind}"]
        assert total == pytest.approx(parts[f"score{kind}"], abs=1e-4)
    weights = fields["cross"][1][0][3]
    assert parts["score_minus_mean"] == pytest.approx(
        np.log(weights[4]) - np.log(weights).mean(), abs=1e-4
    )


def test_a_row_set_by_hand_has_products_and_a_note_in_place_of_parts(
    untrained_checkpoint, capsys
) -> None:
    common = ["--target", TARGET, "--checkpoint", str(untrained_checkpoint), "--device", "cpu"]
    row = ["--set-row", "decoder:1:1:2=0.5,0.5", "--query-key", "decoder:1:1", "2", "1"]
    assert main(["analyze", SENTENCE, *common, *row]) == 0
    printed = capsys.readouterr()
    fields = json.loads(printed.out)
    assert "query_key_products" in fields
    assert "query_key_parts" not in fields
    assert (
        "No parts of the attention score: Row 2 of decoder layer 1 head 1 was set by hand"
        in printed.err
    )


def test_npz_has_the_same_numbers_with_slashes(untrained_checkpoint, tmp_path, capsys) -> None:
    options = ["--lens", "--decoder-lens", "--parts", "--query-key", "encoder:1:2", "2", "3"]
    fields = printed(capsys, untrained_checkpoint, *options)
    path = tmp_path / "numbers.npz"
    common = ["--target", TARGET, "--checkpoint", str(untrained_checkpoint), "--device", "cpu"]
    assert main(["analyze", SENTENCE, *common, *options, "--out", str(path)]) == 0
    with np.load(path, allow_pickle=False) as arrays:
        nested = [name for name in arrays if "/" in name]
        objects = {"lens", "decoder_lens", "parts", "query_key_parts", "model", "output"}
        assert {name.partition("/")[0] for name in nested} == objects
        for name in nested:
            group, _, member = name.partition("/")
            expected = fields[group][member]
            if arrays[name].dtype.kind == "f":
                np.testing.assert_allclose(arrays[name], expected, atol=1e-6)
            else:
                assert arrays[name].tolist() == expected
        assert sum(len(fields[group]) for group in objects) == len(nested)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--word", "2"], "--word names the word for --parts. Add --parts."),
        (
            ["--parts", "--foil", "dog"],
            "--foil needs a word to compare with. Add --parts and --word N.",
        ),
        (
            ["--parts", "--word", "9"],
            "The translation has no word 9. Choose from words 1 to 8: a man stands on",
        ),
        (
            ["--parts", "--word", "0"],
            "no word 0. Choose from words 1 to 8: a man stands on a ladder . <eos>",
        ),
        (["--parts", "--word", "2", "--foil", "man"], "is the word itself"),
        (["--parts", "--word", "2", "--foil", " "], "The foil is empty"),
    ],
)
def test_options_that_fit_nothing_are_refused(
    untrained_checkpoint, capsys, arguments: list[str], expected: str
) -> None:
    common = ["--target", TARGET, "--checkpoint", str(untrained_checkpoint), "--device", "cpu"]
    assert main(["analyze", SENTENCE, *common, *arguments]) == 2
    printed = capsys.readouterr()
    assert expected in printed.err
    assert not printed.out
