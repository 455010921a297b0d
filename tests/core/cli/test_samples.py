"""`analyze` of samples without a sentence, and of word pairs: the numbers of the library, and
refusals."""

import json
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.cli.main import main
from augenmerk.core.extensions.analyses.cli import analyze
from augenmerk.core.extensions.analyses.importance import head_importance
from augenmerk.core.extensions.analyses.pairs import attribute_pairs, pairs_importance, read_pairs
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.translation.experiment import FeedForwardScaled, HeadScaled, SoftmaxTemperature
from augenmerk.core.translation.experiment_file import part_to_json
from augenmerk.core.translation.translator import Translator
from tests.builders import command_line

GERMAN, ENGLISH = ["Ein Mann steht.", "Leiter."], ["A man stands.", "Ladder."]
CHANGES = (
    HeadScaled(Head("encoder", 0, 0)),
    FeedForwardScaled(Network("decoder", 1)),
    SoftmaxTemperature(Head("cross", 1, 0), 3.0),
)
OPTIONS = command_line(
    "--head-off encoder:1:1 --feed-forward-off decoder:2 --temperature cross:2:1=3"
)


@pytest.fixture(scope="module")
def translator(untrained_checkpoint: Path) -> Translator:
    return Translator.load(untrained_checkpoint, "cpu")


@pytest.fixture
def sample(tmp_path: Path) -> list[str]:
    for name, lines in (("some.de", GERMAN), ("some.en", ENGLISH)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ["--sample", str(tmp_path / "some.de"), str(tmp_path / "some.en")]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text(
        "Ein Mann steht.\tA man\tstands\tladder\nLeiter\t\tladder\tman\n", encoding="utf-8"
    )
    return path


def printed(capsys: pytest.CaptureFixture[str], checkpoint: Path, *arguments: str) -> dict:
    capsys.readouterr()
    assert main(["analyze", "--checkpoint", str(checkpoint), "--device", "cpu", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.heavy
def test_importance_of_heads_and_networks_needs_no_sentence(
    untrained_checkpoint: Path, translator: Translator, sample: list[str], capsys
) -> None:
    fields = printed(capsys, untrained_checkpoint, *sample, "--importance", *OPTIONS)
    expected = head_importance(translator, GERMAN, ENGLISH, changes=CHANGES)
    assert fields["sample_loss"] == pytest.approx(expected.before, abs=1e-5)
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(fields[f"{kind}_importance"], expected.of_kind(kind), atol=1e-5)
    for side in ("encoder", "decoder"):
        np.testing.assert_allclose(
            fields[f"{side}_feed_forward_importance"], expected.of_networks(side), atol=1e-5
        )
    assert fields["interventions"] == [part_to_json(intervention) for intervention in CHANGES]
    assert fields["model"]["digest"] == translator.digest
    assert "translation" not in fields
    assert fields["sample_sentences"] == 2


@pytest.mark.heavy
@pytest.mark.parametrize(
    "form", ["{de}\t{en}", '{{"translation": {{"en": "{en}", "de": "{de}"}}}}']
)
def test_a_sample_may_be_one_file_of_pairs(
    untrained_checkpoint: Path,
    sample: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    form: str,
) -> None:
    pairs, sources = tmp_path / "pairs.txt", sample[1]
    lines = [
        form.format(de=german, en=english) for german, english in zip(GERMAN, ENGLISH, strict=True)
    ]
    pairs.write_text("\n".join(lines), encoding="utf-8")
    assert printed(capsys, untrained_checkpoint, "--sample", str(pairs)) == printed(
        capsys, untrained_checkpoint, *sample
    )
    of_pairs = printed(capsys, untrained_checkpoint, "--statistics", str(pairs))
    assert of_pairs == printed(capsys, untrained_checkpoint, "--statistics", sources), (
        "translated by the model"
    )


def test_a_sentence_behind_the_files_of_a_sample_is_asked_to_go_before(
    sample: list[str], capsys
) -> None:
    with pytest.raises(SystemExit):
        main(["analyze", *sample, "Ein Mann steht."])
    assert "put a sentence before this option" in capsys.readouterr().err


@pytest.mark.heavy
def test_word_pairs_give_the_metric_its_parts_and_its_importance(
    untrained_checkpoint: Path, translator: Translator, pairs: Path, tmp_path: Path, capsys
) -> None:
    command = [str(pairs), "--metric", "difference", "--importance", *OPTIONS]
    fields = printed(capsys, untrained_checkpoint, *command)
    expected = attribute_pairs(translator, read_pairs(pairs), changes=CHANGES)
    np.testing.assert_allclose(fields["differences"], expected.differences, atol=1e-5)
    assert fields["mean_difference"] == pytest.approx(expected.differences.mean(), abs=1e-5)
    assert fields["parts"]["components"] == [str(component) for component in expected.components]
    np.testing.assert_allclose(fields["parts"]["values"], expected.parts.mean(axis=0), atol=1e-5)
    total = sum(fields["parts"]["values"]) + fields["parts"]["remainder"]
    assert total == pytest.approx(fields["parts"]["explained"], abs=1e-5)
    effects = pairs_importance(translator, read_pairs(pairs), changes=CHANGES)
    np.testing.assert_allclose(fields["cross_importance"], effects.of_kind("cross"), atol=1e-5)
    np.testing.assert_allclose(
        fields["decoder_feed_forward_importance"], effects.of_networks("decoder"), atol=1e-5
    )
    assert (
        fields["importance_is"]
        == "mean difference without the head or network − mean difference with it, in nats"
    )
    assert fields["interventions"] == [part_to_json(intervention) for intervention in CHANGES]
    path = tmp_path / "numbers.npz"
    assert (
        main(["analyze", *command, "--checkpoint", str(untrained_checkpoint), "--out", str(path)])
        == 0
    )
    with np.load(path, allow_pickle=False) as arrays:
        np.testing.assert_allclose(arrays["parts/values"], fields["parts"]["values"], atol=1e-6)
    one = printed(
        capsys, untrained_checkpoint, str(pairs), "--metric", "difference", "--num-sentences", "1"
    )
    assert one["pairs"] == len(one["differences"]) == 1


@pytest.mark.heavy
def test_every_pair_of_a_long_file_is_measured(
    untrained_checkpoint: Path, pairs: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr(analyze, "SAMPLE_SIZE", 1)
    fields = printed(capsys, untrained_checkpoint, str(pairs), "--metric", "difference")
    assert fields["pairs"] == len(fields["differences"]) == len(read_pairs(pairs)) > 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--statistics", "--target", "A man."],
            "A sample cannot be combined with --target, which needs a sentence",
        ),
        (
            ["--statistics", "--source-share", "--lens"],
            "cannot be combined with --source-share and --lens",
        ),
        (["--statistics", "--force", "2=man"], "cannot be combined with --force"),
        (
            ["--statistics", "--word", "3", "--foil", "dog"],
            "with --word and --foil, which need a sentence",
        ),
        (["--statistics", "--beam", "4"], "A sample cannot be combined with --beam"),
        (["--statistics", "--measure", "norm", "--hide", "end"], "with --measure and --hide"),
        (
            ["p.tsv", "--metric", "difference", "--word", "3"],
            "word pairs cannot be combined with --word, which needs",
        ),
        (
            ["p.tsv", "--metric", "difference", "--beam", "4"],
            "word pairs cannot be combined with --beam",
        ),
        (
            ["x", "--target", "A dog.", "--beam", "3"],
            "--beam has no effect on the given translation. Omit --beam or",
        ),
        (
            ["x", "--target", "A dog.", "--length-penalty", "1"],
            "--length-penalty has no effect on the given",
        ),
        (["--statistics", "--head-off", "cross:9:1"], "no cross layer 9 head 1"),
        (["--metric", "difference"], "needs a file of word pairs"),
        (
            ["p.tsv", "--metric", "difference", "--statistics"],
            "needs a file of word pairs, and no other sample",
        ),
        (
            ["Zwei Hunde.", "--metric", "difference"],
            (
                "--metric difference reads a file of word pairs. There is no file “Zwei Hunde.”. "
                "Check the path."
            ),
        ),
        (["--importance"], "--importance needs a sample"),
        (
            ["x", "--num-sentences", "9"],
            "--num-sentences needs a sample. Add --statistics or --sample.",
        ),
    ],
)
def test_options_that_need_a_sentence_or_a_file_are_refused(
    untrained_checkpoint: Path, capsys, arguments: list[str], message: str
) -> None:
    assert main(["analyze", "--checkpoint", str(untrained_checkpoint), *arguments]) == 2
    output = capsys.readouterr()
    assert message in output.err
    assert output.out == ""


def test_a_file_of_pairs_is_not_translated(pairs: Path, untrained_checkpoint: Path, capsys) -> None:
    assert main(["analyze", "--checkpoint", str(untrained_checkpoint), str(pairs)]) == 2
    assert (
        f"{pairs} is a file. For its word pairs add --metric difference" in capsys.readouterr().err
    )


def test_a_wrong_line_of_pairs_is_named(untrained_checkpoint: Path, pairs: Path, capsys) -> None:
    pairs.write_text("Leiter\t\tladder\tman\nLeiter\t\tqqqq\tman\n", encoding="utf-8")
    assert (
        main(
            command_line(
                "analyze {} --metric difference --checkpoint {}", pairs, untrained_checkpoint
            )
        )
        == 2
    )
    assert f"{pairs}, line 2: The vocabulary of this model has no 'qqqq'" in capsys.readouterr().err


def test_info_takes_its_checkpoint_by_place_or_by_name(untrained_checkpoint: Path, capsys) -> None:
    told = []
    for arguments in ([str(untrained_checkpoint)], ["--checkpoint", str(untrained_checkpoint)]):
        assert main(["info", *arguments]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert str(untrained_checkpoint) in told[0]
    assert main(["info", "a.safetensors", "--checkpoint", "b.safetensors"]) == 2
    assert "There are two checkpoints: a.safetensors and b.safetensors" in capsys.readouterr().err


def test_help_groups_the_options(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["analyze", "--help"])
    told = capsys.readouterr().out
    headings = [
        "maps:",
        "what the words depend on:",
        "why this word:",
        "samples:",
        "changes to the model:",
    ]
    places = [told.index(f"\n{heading}\n") for heading in (*headings, "decoding:", "model:")]
    assert places == sorted(places)
