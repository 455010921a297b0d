"""What `augenmerk analyze` tells beside the maps is what Python tells; `translate --target` sets
two side by side.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.cli.main import main
from augenmerk.core.extensions.analyses.alti import contributions_of
from augenmerk.core.extensions.analyses.head_profiles import profile_heads
from augenmerk.core.extensions.analyses.occlusion import occlude_source_words
from augenmerk.core.maps.comparing import difference
from augenmerk.core.maps.selection import Selection
from augenmerk.core.model.heads import Head
from augenmerk.core.quantities import percent
from augenmerk.core.resources import example_sentences
from augenmerk.core.translation.experiment import Experiment, GivenTarget, HeadScaled
from augenmerk.core.translation.translator import Translator
from tests.builders import command_line

SENTENCE = "Ein Mann steht auf einer Leiter."
TARGET = "A man stands on a ladder."


@pytest.fixture
def translator(untrained_checkpoint: Path) -> Translator:
    return Translator.load(untrained_checkpoint, "cpu")


def printed(
    capsys: pytest.CaptureFixture[str], checkpoint: Path, *arguments: str, command: str = "analyze"
) -> dict:
    capsys.readouterr()
    assert (
        main([command, SENTENCE, "--checkpoint", str(checkpoint), "--device", "cpu", *arguments])
        == 0
    )
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("words", [True, False])
def test_contributions_are_those_of_the_library(
    untrained_checkpoint: Path, translator, capsys, words: bool
) -> None:
    arguments = ["--head-off", "cross:1:1", *(["--words"] if words else [])]
    fields = printed(capsys, untrained_checkpoint, "--target", TARGET, "--source-share", *arguments)
    off = HeadScaled(Head("cross", 0, 0))
    translation = translator.run(Experiment(SENTENCE, GivenTarget(TARGET), (off,)))
    expected = contributions_of(translator, translation)
    np.testing.assert_allclose(
        fields["contribution_of_source"], expected.of_source(words=words).weights, atol=1e-6
    )
    np.testing.assert_allclose(
        fields["contribution_of_prefix"], expected.of_prefix(words=words).weights, atol=1e-6
    )
    np.testing.assert_allclose(
        fields["source_share"], np.sum(fields["contribution_of_source"], axis=1), atol=1e-5
    )
    assert fields["contribution_rows"] == ["a", "man", "stands", "on", "a", "ladder", ".", "<eos>"]
    assert fields["contribution_prefix_columns"][0] == "<sos>"
    assert "ALTI+" in fields["contribution_method"]


@pytest.mark.parametrize(
    ("arguments", "replacement"), [([], None), (["mann"], "mann"), (["<unk>"], "<unk>")]
)
def test_words_are_left_out_or_replaced_as_in_the_library(
    untrained_checkpoint: Path, translator, capsys, arguments: list[str], replacement: str | None
) -> None:
    fields = printed(
        capsys, untrained_checkpoint, "--target", TARGET, "--without-words", *arguments
    )
    scored = translator.run(Experiment(SENTENCE, GivenTarget(TARGET)))
    expected = occlude_source_words(translator, scored, replacement=replacement)
    assert fields["without_words"] == [word.text for word in scored.source_words]
    assert fields["without_translations"] == [word.translation.text for word in expected.words]
    np.testing.assert_allclose(fields["without_effects"], expected.effects, atol=1e-5)
    assert fields["without_changes"] == pytest.approx(
        [expected.change_of(word) for word in expected.words], abs=1e-5
    )
    assert len(fields["without_effect_rows"]) == len(fields["without_effects"])


def test_a_second_sentence_is_compared(untrained_checkpoint: Path, translator, capsys) -> None:
    other = "Ein Mann steht auf einer Mann Leiter."
    fields = printed(capsys, untrained_checkpoint, "--compare", other)
    maps = [
        Selection().apply(translation.maps.encoder, translation, "encoder")
        for translation in (translator.translate(SENTENCE), translator.translate(other))
    ]
    np.testing.assert_allclose(fields["difference_encoder"], difference(*maps).values, atol=1e-6)
    assert fields["compared_with"] == other
    assert "mann" in fields["difference_encoder_columns"]


@pytest.mark.heavy
def test_statistics_of_the_examples_or_of_a_file(
    untrained_checkpoint: Path, translator, tmp_path: Path, capsys
) -> None:
    fields = printed(capsys, untrained_checkpoint, "--statistics", "--num-sentences", "3")
    expected = profile_heads(translator, example_sentences()[:3])
    np.testing.assert_allclose(fields["cross_entropy"], expected.cross.entropy, atol=1e-6)
    np.testing.assert_allclose(fields["encoder_end_share"], expected.encoder.end_share, atol=1e-6)
    np.testing.assert_allclose(fields["decoder_distances"], expected.decoder.distances, atol=1e-6)
    assert np.shape(fields["cross_roles"]) == (2, 2)
    (tmp_path / "mine.de").write_text("Ein Mann steht.\nLeiter.\n", encoding="utf-8")
    fields = printed(capsys, untrained_checkpoint, "--statistics", str(tmp_path / "mine.de"))
    assert fields["sample_sentences"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--statistics", "missing.de"], "missing.de"),
        (["--statistics", "--sample", "a.de", "b.en"], "Use one of them"),
        (["--compare", "  "], "nothing to translate"),
        (["--compare", "Leiter"], "no word in common"),
        (["--without-words", " "], "The replacement of source word 1 is empty"),
    ],
)
def test_what_cannot_be_done_is_said(
    untrained_checkpoint: Path, capsys, arguments: list[str], message: str
) -> None:
    text = "Ein Mann" if "Leiter" in arguments else SENTENCE
    assert main(["analyze", text, "--checkpoint", str(untrained_checkpoint), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_given_translation_stands_beside_the_models_own(
    untrained_checkpoint: Path, translator, capsys
) -> None:
    own, scored = (
        translator.translate(SENTENCE),
        translator.run(Experiment(SENTENCE, GivenTarget(TARGET))),
    )
    arguments = command_line(
        "translate {} --target {} --checkpoint {}", SENTENCE, TARGET, untrained_checkpoint
    )
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [own.text, TARGET]
    for line, translation in zip(lines[2:], (own, scored), strict=True):
        assert f"{translation.log_probability:8.3f} nats" in line
        assert (
            f"{percent(math.exp(translation.log_probability / len(translation.log_probabilities)), 1)} "
            "a token" in line
        )


def test_a_given_translation_is_told_in_json_and_its_maps_are_saved(
    untrained_checkpoint: Path, translator, tmp_path: Path, capsys
) -> None:
    target = tmp_path / "maps.npz"
    scored = translator.run(Experiment(SENTENCE, GivenTarget(TARGET)))
    fields = printed(
        capsys,
        untrained_checkpoint,
        "--target",
        TARGET,
        "--json",
        "--attention",
        str(target),
        command="translate",
    )
    assert fields["given"]["translation"] == TARGET
    assert fields["given"]["log_probability"] == pytest.approx(scored.log_probability, abs=1e-5)
    assert fields["translation"] == translator.translate(SENTENCE).text
    with np.load(target, allow_pickle=False) as arrays:
        np.testing.assert_allclose(arrays["cross"], scored.maps.cross, atol=1e-6)


def test_a_target_that_cannot_be_read_is_refused(untrained_checkpoint: Path, capsys) -> None:
    assert (
        main(["translate", SENTENCE, "--target", " ", "--checkpoint", str(untrained_checkpoint)])
        == 2
    )
    assert "no word of the given translation" in capsys.readouterr().err
