"""`--experiment FILE` of the commands: the same result as the file's experiment in Python, options
first, refusals."""

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core import __version__
from augenmerk.core.cli.main import main
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Beam,
    CausalMaskLifted,
    Experiment,
    FeedForwardScaled,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    SoftmaxTemperature,
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

SENTENCE = "Ein Mann steht auf einer Leiter."
GENERAL = (
    HeadScaled(Head("cross", 1, 0), 0.5),
    FeedForwardScaled(Network("decoder", 1)),
    SoftmaxTemperature(Head("encoder", 0, 1), 3.0),
)
OWN = (SourceWordRemoved(3), AttentionRow(Head("decoder", 0, 0), 0, (1,)), ForcedToken(1, "ladder"))


@pytest.fixture(scope="module")
def translator(untrained_checkpoint: Path) -> Translator:
    return Translator.load(untrained_checkpoint, "cpu")


@pytest.fixture
def saved(tmp_path: Path, translator: Translator):
    """Writes an experiment of the model to a file, and returns its name."""

    def write(
        *interventions, output=None, text: str = SENTENCE, model: ModelReference | None = None
    ) -> str:
        path = tmp_path / "my.augenmerk"
        reference = model or ModelReference(translator.name, translator.digest)
        write_experiment_file(
            SavedExperiment(Experiment(text, output or Greedy(), interventions), reference), path
        )
        return str(path)

    return write


def printed(capsys: pytest.CaptureFixture[str], checkpoint: Path, *arguments: str) -> dict:
    capsys.readouterr()
    assert main([*arguments, "--checkpoint", str(checkpoint), "--device", "cpu"]) == 0
    output = capsys.readouterr()
    assert "was made with" not in output.err
    return json.loads(output.out)


@pytest.mark.parametrize("output", [Greedy(), Beam(3, 0.5), Beam(1)])
def test_translate_runs_the_experiment_of_the_file(
    untrained_checkpoint: Path, translator: Translator, saved, capsys, output
) -> None:
    fields = printed(
        capsys,
        untrained_checkpoint,
        "translate",
        "--json",
        "--experiment",
        saved(*GENERAL, *OWN, output=output),
    )
    expected = translator.run(
        Experiment(SENTENCE, Greedy() if output == Beam(1) else output, (*GENERAL, *OWN))
    )
    assert fields["predicted_tokens"] == list(expected.predicted_tokens)
    assert fields["log_probabilities"] == pytest.approx(expected.log_probabilities, abs=1e-5)
    assert fields["output"] == part_to_json(expected.experiment.output)
    assert fields["interventions"] == [
        part_to_json(intervention) for intervention in expected.experiment.interventions
    ]


def test_a_given_target_is_that_of_the_file(
    untrained_checkpoint: Path, translator, saved, capsys
) -> None:
    target, changes = GivenTarget("A man on a ladder."), (*GENERAL, CausalMaskLifted())
    path = saved(*changes, output=target)
    expected = translator.run(Experiment(SENTENCE, target, changes))
    given = printed(capsys, untrained_checkpoint, "translate", "--json", "--experiment", path)[
        "given"
    ]
    assert given["log_probabilities"] == pytest.approx(expected.log_probabilities, abs=1e-5)
    fields = printed(capsys, untrained_checkpoint, "analyze", "--experiment", path)
    np.testing.assert_allclose(fields["decoder"], expected.maps.decoder, atol=1e-6)


def test_options_override_what_they_change_and_no_more(
    untrained_checkpoint: Path, translator: Translator, saved, capsys
) -> None:
    path = saved(*GENERAL, *OWN, output=Beam(3, 0.5))
    options = command_line("--scale-head cross:2:1=2 --force 2=man --remove-word 1 --beam 2")
    fields = printed(
        capsys,
        untrained_checkpoint,
        "translate",
        SENTENCE,
        "--json",
        "--experiment",
        path,
        *options,
    )
    changes = (
        SourceWordRemoved(0),
        SourceWordRemoved(3),
        HeadScaled(Head("cross", 1, 0), 2),
        *GENERAL[1:],
    )
    expected = Experiment(SENTENCE, Beam(2, 0.5), (*changes, OWN[1], ForcedToken(1, "man")))
    assert fields["interventions"] == [
        part_to_json(intervention) for intervention in expected.interventions
    ]
    assert fields["output"] == {"type": "beam", "size": 2, "length_penalty": 0.5}
    assert fields["predicted_tokens"] == list(translator.run(expected).predicted_tokens)


@pytest.mark.parametrize(
    ("output", "options", "expected"),
    [
        (Beam(3, 0.5), ["--beam", "2"], Beam(2, 0.5)),
        (Beam(3, 0.5), ["--length-penalty", "0.7"], Beam(3, 0.7)),
        (Beam(3, 0.5), ["--beam", "2", "--length-penalty", "0.7"], Beam(2, 0.7)),
        (Beam(3, 0.5), ["--beam", "1"], Greedy()),
        (Greedy(), ["--beam", "2"], Beam(2)),
        (Beam(3, 0.5), ["--target", "A man."], Beam(3, 0.5)),
    ],
)
def test_an_option_of_decoding_leaves_the_others_of_the_file(
    untrained_checkpoint: Path, saved, capsys, output, options: list[str], expected
) -> None:
    path = saved(output=output)
    fields = printed(
        capsys, untrained_checkpoint, "translate", "--json", "--experiment", path, *options
    )
    assert fields["output"] == part_to_json(expected)


def test_a_beam_takes_the_place_of_a_given_target(
    untrained_checkpoint: Path, translator: Translator, saved, capsys
) -> None:
    path = saved(*GENERAL, output=GivenTarget("A man on a ladder."))
    command = ["translate", "Leiter", "--json", "--beam", "2", "--experiment", path]
    fields = printed(capsys, untrained_checkpoint, *command)
    expected = translator.run(Experiment("Leiter", Beam(2), GENERAL))
    assert "given" not in fields
    assert fields["predicted_tokens"] == list(expected.predicted_tokens)


@pytest.mark.parametrize("command", [["translate", "--json"], ["analyze"]])
def test_another_target_lets_the_file_be_used_for_another_sentence(
    untrained_checkpoint: Path, translator: Translator, saved, capsys, command
) -> None:
    path = saved(*GENERAL, output=GivenTarget("A man on a ladder."))
    fields = printed(
        capsys,
        untrained_checkpoint,
        *command,
        "Leiter",
        "--target",
        "A ladder.",
        "--experiment",
        path,
    )
    expected = translator.run(Experiment("Leiter", GivenTarget("A ladder."), GENERAL))
    assert fields.get("given", fields)["log_probabilities"] == pytest.approx(
        expected.log_probabilities, abs=1e-5
    )


def test_another_sentence_takes_changes_that_fit_every_sentence(
    untrained_checkpoint: Path, translator: Translator, saved, capsys, monkeypatch
) -> None:
    path = saved(*GENERAL)
    fields = printed(
        capsys, untrained_checkpoint, "translate", "Leiter", "--json", "--experiment", path
    )
    expected = translator.run(Experiment("Leiter", interventions=GENERAL))
    assert fields["log_probabilities"] == pytest.approx(expected.log_probabilities, abs=1e-5)
    monkeypatch.setattr("sys.stdin", io.StringIO("Leiter\n"))
    assert (
        main(
            command_line(
                "translate - --jsonl --checkpoint {} --experiment {}", untrained_checkpoint, path
            )
        )
        == 0
    )
    line = json.loads(capsys.readouterr().out)
    assert line["predicted_ids"] == list(expected.predicted_ids)
    assert line["interventions"] == [part_to_json(intervention) for intervention in GENERAL]


@pytest.mark.parametrize(
    "command", [["translate", "Leiter"], ["translate", "-"], ["analyze", "Leiter"], ["evaluate"]]
)
@pytest.mark.parametrize(
    ("changes", "output", "message"),
    [
        (
            (*GENERAL, *OWN),
            None,
            "only its own sentence: word 4 removed, decoder 1·1 row 1 set, step 2: ladder.",
        ),
        ((), GivenTarget("A man."), "only its own sentence: the translation “A man.”."),
    ],
)
def test_changes_of_one_sentence_are_refused_by_name_for_others(
    untrained_checkpoint: Path, saved, capsys, command: list[str], changes, output, message: str
) -> None:
    more = ["--source", "no.de", "--reference", "no.en"] if command == ["evaluate"] else []
    path = saved(*changes, output=output)
    assert (
        main([*command, *more, "--experiment", path, "--checkpoint", str(untrained_checkpoint)])
        == 2
    )
    told = capsys.readouterr().err
    assert message in told
    assert path in told
    assert ("use its own sentence" in told) == (command != ["evaluate"]), "evaluate has no sentence"


@pytest.mark.heavy
def test_evaluate_scores_the_model_with_heads_networks_and_temperatures_changed(
    untrained_checkpoint: Path, translator: Translator, saved, tmp_path: Path, capsys
) -> None:
    german, english = ["Ein Mann steht.", "Leiter."], ["A man stands.", "Ladder."]
    for name, lines in (("some.de", german), ("some.en", english)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    evaluate = command_line(
        "evaluate --source {} --reference {} --json", tmp_path / "some.de", tmp_path / "some.en"
    )
    evaluate += command_line(
        "--hypotheses {} --experiment {}", tmp_path / "h", saved(*GENERAL, output=Beam(2, 0.7))
    )
    fields = printed(capsys, untrained_checkpoint, *evaluate)
    assert (fields["beam"], fields["length_penalty"]) == (2, 0.7)
    assert fields["interventions"] == [part_to_json(intervention) for intervention in GENERAL]
    expected = [translator.run(Experiment(line, Beam(2, 0.7), GENERAL)).text for line in german]
    assert (tmp_path / "h").read_text(encoding="utf-8").splitlines() == expected
    scores = [
        translator.run(Experiment(line, GivenTarget(target), GENERAL)).log_probabilities
        for line, target in zip(german, english, strict=True)
    ]
    assert fields["loss"]["token_weighted"] == pytest.approx(
        -sum(map(sum, scores)) / sum(map(len, scores)), abs=1e-5
    )
    warmer = printed(capsys, untrained_checkpoint, *evaluate, "--temperature", "encoder:1:2=9")
    assert warmer["interventions"][2]["temperature"] == 9
    assert warmer["loss"]["token_weighted"] != fields["loss"]["token_weighted"]


def test_another_model_is_noted(untrained_checkpoint: Path, saved, capsys) -> None:
    for name, which in (
        ("other", "the model “other”"),
        ("untrained", "another version of the model “untrained”"),
    ):
        path = saved(model=ModelReference(name, "0" * 64))
        assert (
            main(["translate", "--experiment", path, "--checkpoint", str(untrained_checkpoint)])
            == 0
        )
        output = capsys.readouterr()
        assert f"note: {path} was made with {which}. It runs with untrained." in output.err
        assert output.out.strip()


@pytest.mark.heavy
def test_the_model_next_to_the_file_is_found(
    untrained_checkpoint: Path, translator, saved, tmp_path, capsys
) -> None:
    (tmp_path / "broken.safetensors").write_bytes(b"no")
    shutil.copy(untrained_checkpoint, tmp_path / "here.safetensors")
    assert main(["translate", "--json", "--experiment", saved(), "--device", "cpu"]) == 0
    output = capsys.readouterr()
    assert "was made with" not in output.err
    assert json.loads(output.out)["model"] == {"name": "here", "digest": translator.digest}


@pytest.mark.parametrize("command", ["translate", "analyze"])
def test_a_missing_sentence_is_asked_for(capsys, command: str) -> None:
    assert main([command]) == 2
    assert (
        "There is nothing to translate. Add a sentence, or --experiment" in capsys.readouterr().err
    )


def test_a_file_that_is_no_experiment_is_refused(tmp_path: Path, capsys) -> None:
    (tmp_path / "no.augenmerk").write_text("{}", encoding="utf-8")
    for name in ("no.augenmerk", "missing.augenmerk"):
        assert main(["translate", "--experiment", str(tmp_path / name)]) == 2
        assert name in capsys.readouterr().err


def test_a_sentence_of_one_hyphen_is_not_standard_input(
    untrained_checkpoint: Path, saved, capsys
) -> None:
    assert (
        printed(
            capsys, untrained_checkpoint, "translate", "--json", "--experiment", saved(text="-")
        )["source"]
        == " -"
    )


@pytest.mark.parametrize("command", [["translate", "--json"], ["analyze"]])
def test_json_has_the_tokens_the_model_and_the_baseline(
    untrained_checkpoint: Path, translator: Translator, saved, capsys, command: list[str]
) -> None:
    fields = printed(capsys, untrained_checkpoint, *command, "--experiment", saved(*GENERAL, *OWN))
    expected = translator.compare(Experiment(SENTENCE, Greedy(), (*GENERAL, *OWN)))
    entries = translator.checkpoint.codecs.target.vocabulary.tokens
    for name in ("source_ids", "read_ids", "predicted_ids", "ranks"):
        assert fields[name] == list(getattr(expected.changed, name))
    assert fields["predicted_entries"] == [
        entries[token] for token in expected.changed.predicted_ids
    ]
    assert fields["entropies"] == pytest.approx(expected.changed.entropies, abs=1e-5)
    assert fields["version"] == __version__
    assert fields["model"] == {"name": "untrained", "digest": translator.digest}
    baseline, original = fields["baseline"], expected.original
    assert baseline["translation"] == original.text
    assert baseline["predicted_tokens"] == list(original.predicted_tokens)
    assert baseline["predicted_ids"] == list(original.predicted_ids)
    assert baseline["log_probabilities"] == pytest.approx(original.log_probabilities, abs=1e-5)
    changed = expected.original_log_probabilities
    assert baseline["changed_log_probabilities"] == pytest.approx(changed, abs=1e-5)
    assert np.abs(np.subtract(changed, original.log_probabilities)).max() > 1e-3
    assert "baseline" not in printed(
        capsys, untrained_checkpoint, *command, "--experiment", saved()
    )
