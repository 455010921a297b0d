"""`augenmerk align` end to end: the ranking as a table and as JSON, word links of a sentence, and
what it refuses."""

import json
from pathlib import Path

import pytest

from augenmerk.core import __version__
from augenmerk.core.cli.main import main
from augenmerk.core.extensions.analyses.alignment import read_ibm_1
from augenmerk.core.extensions.analyses.alignment_ranking import Aligner, align, rank_aligners
from augenmerk.core.extensions.analyses.cli.align import NUM_SHOWN
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import (
    Beam,
    Experiment,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    SourceWordRemoved,
)
from augenmerk.core.translation.experiment_file import (
    ModelReference,
    SavedExperiment,
    part_to_json,
    write_experiment_file,
)
from augenmerk.core.translation.translator import Translator
from tests.builders import command_line
from tests.core.extensions.analyses.test_alignment_ranking import TEXTS

SENTENCE = "Ein Mann steht auf einer Leiter."
TARGET = "A man stands on a ladder."


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    rows = [
        f"{line}\t{german}\t{english}\t1-1 2?2\n"
        for line, (german, english) in enumerate(TEXTS, start=1)
    ]
    path = tmp_path / "gold.tsv"
    path.write_text("".join(["line\tgerman\tenglish\tlinks\n", *rows]), encoding="utf-8")
    return path


def told(capsys: pytest.CaptureFixture[str], checkpoint: Path, *arguments: object) -> str:
    capsys.readouterr()
    assert (
        main(["align", "--checkpoint", str(checkpoint), "--device", "cpu", *map(str, arguments)])
        == 0
    )
    return capsys.readouterr().out


@pytest.mark.heavy
def test_the_ranking_is_that_of_the_library(untrained_checkpoint: Path, gold: Path, capsys) -> None:
    from augenmerk.core.extensions.analyses.alignment import read_gold

    fields = json.loads(told(capsys, untrained_checkpoint, "--gold", gold, "--json"))
    ranking = rank_aligners(Translator.load(untrained_checkpoint, "cpu"), read_gold(gold))
    assert (fields["pairs_choosing"], fields["pairs_reporting"], fields["pairs_skipped"]) == (
        3,
        2,
        0,
    )
    assert len(fields["aligners"]) == len(ranking.scores)
    assert fields["model"]["name"] == "untrained"
    for one, other in zip(fields["aligners"], ranking.scores, strict=True):
        assert one["choosing"]["aer"] == pytest.approx(other.choosing.aer, abs=1e-6)
        assert one["reporting"]["recall"] == pytest.approx(other.reporting.recall, abs=1e-6)
        assert one["layer"] == other.aligner.layer
        assert (one["rows"], one["measure"]) == (other.aligner.label_mode, other.aligner.measure)
    # no IBM model for these pairs
    assert [baseline["name"] for baseline in fields["baselines"]] == ["diagonal"]


def test_the_table_shows_the_best_and_the_baselines(
    untrained_checkpoint: Path, gold: Path, capsys
) -> None:
    head, columns, *rows = told(capsys, untrained_checkpoint, "--gold", gold).splitlines()
    assert "chosen on 3 pairs, reported on 2 others" in head
    assert columns.split() == ["chosen", "reported", "precision", "recall"]
    assert rows.index("baselines") == NUM_SHOWN
    assert rows[-1].endswith("diagonal")


def test_ibm_1_is_trained_on_what_is_given_and_written(
    untrained_checkpoint: Path, gold: Path, tmp_path: Path, capsys
) -> None:
    for suffix, side in (("de", 0), ("en", 1)):
        (tmp_path / f"some.{suffix}").write_text(
            "".join(f"{pair[side]}\n" for pair in TEXTS), encoding="utf-8"
        )
    out = tmp_path / "ibm.tsv"
    arguments = command_line(
        "--gold {} --ibm-1 {} {} --write-ibm-1 {} --json",
        gold,
        tmp_path / "some.de",
        tmp_path / "some.en",
        out,
    )
    fields = json.loads(told(capsys, untrained_checkpoint, *arguments))
    assert [baseline["name"] for baseline in fields["baselines"]] == ["diagonal", "IBM model 1"]
    links = read_ibm_1(out)
    assert set(links) == {1, 2, 3, 4, 5}
    assert links[5] == {(1, 0), (0, 1), (2, 2)}  # "steht mann ." and "man stands ."


def test_ibm_1_is_trained_on_one_file_of_pairs(
    untrained_checkpoint: Path, gold: Path, tmp_path: Path, capsys
) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"{pair[0]}\t{pair[1]}\n" for pair in TEXTS), encoding="utf-8")
    out = tmp_path / "ibm.tsv"
    told(capsys, untrained_checkpoint, "--gold", gold, "--ibm-1", pairs, "--write-ibm-1", out)
    assert read_ibm_1(out)[5] == {(1, 0), (0, 1), (2, 2)}


def test_a_sentences_links_by_a_head_are_those_of_the_library(
    untrained_checkpoint: Path, capsys
) -> None:
    arguments = command_line(
        "--text {} --target {} --head cross:2:1 --rows read --measure norm", SENTENCE, TARGET
    )
    fields = json.loads(told(capsys, untrained_checkpoint, *arguments, "--json"))
    translator = Translator.load(untrained_checkpoint, "cpu")
    links = align(
        translator,
        translator.run(Experiment(SENTENCE, GivenTarget(TARGET))),
        Aligner(1, 0, "read", "norm"),
    )
    assert [(link["source"], link["target"]) for link in fields["links"]] == [
        (one.source, one.target) for one in links
    ]
    assert (fields["aligner"]["layer"], fields["aligner"]["head"], fields["aligner"]["rows"]) == (
        1,
        0,
        "read",
    ), "as links do, from 0"
    assert len(fields["target"]) == len(links) == 7
    assert fields["model"] == {"name": translator.name, "digest": translator.digest}
    assert fields["version"] == __version__
    lines = told(capsys, untrained_checkpoint, *arguments).splitlines()
    assert lines[0] == "layer 2 head 1, norm ‖α·f(x)‖, token read"
    assert lines[1].split()[0] == fields["target"][0]
    assert lines[1].split()[1] == fields["source"][links[0].source]


def test_the_links_of_an_experiment_file_are_those_of_its_translation(
    untrained_checkpoint: Path, tmp_path: Path, capsys
) -> None:
    translator = Translator.load(untrained_checkpoint, "cpu")
    experiment = Experiment(
        SENTENCE,
        Beam(2, 0.5),
        (SourceWordRemoved(3), HeadScaled(Head("encoder", 0, 0)), ForcedToken(1, "ladder")),
    )
    path = tmp_path / "my.augenmerk"
    write_experiment_file(
        SavedExperiment(experiment, ModelReference(translator.name, translator.digest)), path
    )
    fields = json.loads(
        told(capsys, untrained_checkpoint, "--experiment", path, "--head", "cross:2:1", "--json")
    )
    translation = translator.run(experiment)
    assert fields["interventions"] == [
        part_to_json(intervention) for intervention in experiment.interventions
    ]
    assert fields["source"] == ["ein", "mann", "steht", "einer", "leiter", "."]
    assert fields["target"] == [word.text for word in translation.target_words]
    links = align(translator, translation, Aligner(1, 0, "predicted", "weight"))
    assert [(link["source"], link["target"]) for link in fields["links"]] == [
        (one.source, one.target) for one in links
    ]


@pytest.mark.heavy
def test_the_ranking_is_that_of_the_changed_model(
    untrained_checkpoint: Path, gold: Path, capsys
) -> None:
    from augenmerk.core.extensions.analyses.alignment import read_gold

    off = HeadScaled(Head("encoder", 0, 0))
    fields = json.loads(
        told(capsys, untrained_checkpoint, "--gold", gold, "--json", "--head-off", "encoder:1:1")
    )
    translator = Translator.load(untrained_checkpoint, "cpu")
    ranking, whole = (
        rank_aligners(translator, read_gold(gold), changes=changes) for changes in ([off], [])
    )
    assert [one["choosing"]["aer"] for one in fields["aligners"]] == pytest.approx(
        [score.choosing.aer for score in ranking.scores], abs=1e-6
    )
    assert [score.choosing for score in ranking.scores] != [
        score.choosing for score in whole.scores
    ]
    assert fields["interventions"] == [part_to_json(off)]
    assert "Changed: encoder 1·1 off." in told(
        capsys, untrained_checkpoint, "--gold", gold, "--head-off", "encoder:1:1"
    )


def test_without_a_head_the_best_aligner_is_used(
    untrained_checkpoint: Path, gold: Path, capsys
) -> None:
    best = json.loads(told(capsys, untrained_checkpoint, "--gold", gold, "--json"))["aligners"][0]
    fields = json.loads(
        told(capsys, untrained_checkpoint, "--gold", gold, "--text", SENTENCE, "--json")
    )
    assert fields["aligner"] == {
        name: best[name] for name in ("kind", "layer", "head", "rows", "measure")
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--target", "A man."],
            "A ranking cannot be combined with --target, which needs a sentence.",
        ),
        (
            ["--head", "cross:1:1", "--rows", "read"],
            "with --head and --rows, which need a sentence.",
        ),
        (
            ["--text", SENTENCE, "--measure", "norm"],
            "--rows and --measure need a head. Add --head, such as cross:2:5.",
        ),
        (
            ["--force", "1=dog"],
            "A ranking cannot be combined with --force, which needs a sentence.",
        ),
        (
            ["--text", SENTENCE, "--target", TARGET, "--beam", "4"],
            "--beam has no effect on the given translation",
        ),
        (["--text", SENTENCE, "--head", "encoder:1:1"], "only heads of cross-attention connect"),
        (["--text", SENTENCE, "--head", "cross:3:1"], "layers 1 to 2"),
        (["--write-ibm-1", "x.tsv"], "Add --ibm-1"),
        (["--gold", "missing.tsv"], "missing.tsv"),
        (["--ibm-1", "missing.de", "missing.en"], "missing.de"),
        (["--text", " "], "nothing to translate"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_message(
    untrained_checkpoint: Path, capsys, arguments: list[str], message: str
) -> None:
    assert main(["align", "--checkpoint", str(untrained_checkpoint), *arguments]) == 2
    output = capsys.readouterr()
    assert message in output.err
    assert output.out == ""
