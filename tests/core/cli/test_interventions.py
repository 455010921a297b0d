"""Options that change what the model does: counted from 1, refused in one message, the same result
as from Python."""

import io
import json
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core import __version__
from augenmerk.core.cli.main import main, make_parser
from augenmerk.core.model.heads import Head, HeadGroup, Network, heads_of
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Beam,
    Experiment,
    FeedForwardScaled,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.experiment_file import experiment_from_json, part_to_json
from augenmerk.core.translation.translator import Translator
from tests.builders import command_line

SENTENCE = "Ein Mann steht auf einer Leiter."
TARGET = "A man stands on a ladder."
OPTIONS = [
    "--head-off", "cross:2:1", "encoder:1:2", "--scale-head", "decoder:1:1=-0.5",
    "--feed-forward-off", "decoder:2", "--scale-feed-forward", "encoder:1=0.5",
    "--set-row", "cross:1:2:3=1,2,3,0,0,0,0,1", "--set-row", "decoder:1:2:1=1",
    "--force", "3=ladder", "--force", "1=a man", "--force-token", "4=<eos>",
    "--remove-word", "4", "--replace-word", "2=Leiter",
]  # fmt: skip
INTERVENTIONS = (
    SourceWordRemoved(3),
    SourceWordReplaced(1, "Leiter"),
    HeadScaled(Head("encoder", 0, 1)),
    HeadScaled(Head("cross", 1, 0)),
    HeadScaled(Head("decoder", 0, 0), -0.5),
    FeedForwardScaled(Network("decoder", 1)),
    FeedForwardScaled(Network("encoder", 0), 0.5),
    AttentionRow(Head("decoder", 0, 1), 0, (1,)),
    AttentionRow(Head("cross", 0, 1), 2, (1, 2, 3, 0, 0, 0, 0, 1)),
    ForcedToken(0, "a"),
    ForcedToken(1, "man"),
    ForcedToken(2, "ladder"),
    ForcedToken(3, "<eos>"),
)


@pytest.fixture(scope="module")
def translator(untrained_checkpoint: Path) -> Translator:
    return Translator.load(untrained_checkpoint, "cpu")


def run(
    capsys: pytest.CaptureFixture[str],
    checkpoint: Path,
    *arguments: str,
    command: str = "translate",
) -> dict:
    """The JSON that a command printed about the sentence."""
    capsys.readouterr()
    more = ["--json"] if command == "translate" else []
    assert (
        main(
            [
                *command_line("{} {} --checkpoint {} --device cpu", command, SENTENCE, checkpoint),
                *more,
                *arguments,
            ]
        )
        == 0
    )
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("--head-off", "cross:2:5", Head("cross", 1, 4)),
        ("--head-off", "cross", HeadGroup("cross")),
        ("--head-off", "cross:2", HeadGroup("cross", 1)),
        ("--head-off", "cross:*:5", HeadGroup("cross", None, 4)),
        ("--scale-head", "cross:2:5=-1e-3", HeadScaled(Head("cross", 1, 4), -0.001)),
        ("--feed-forward-off", "decoder:2", Network("decoder", 1)),
        ("--scale-feed-forward", "encoder:1=2", FeedForwardScaled(Network("encoder", 0), 2)),
        ("--set-row", "cross:2:5:3=0,1,0", AttentionRow(Head("cross", 1, 4), 2, (0, 1, 0))),
        ("--force", "3=dog", (2, "dog")),
        ("--force", "3==", (2, "=")),
        ("--force-token", "3=a=b", ForcedToken(2, "a=b")),
        ("--remove-word", "2", SourceWordRemoved(1)),
        ("--replace-word", "2=eine  Katze", SourceWordReplaced(1, "eine Katze")),
    ],
)
def test_each_option_is_parsed(option: str, text: str, value: object) -> None:
    options = make_parser(["translate"]).parse_args(["translate", SENTENCE, option, text])
    assert getattr(options, option.removeprefix("--").replace("-", "_")) == [value]


@pytest.mark.parametrize("beam", [[], ["--beam", "3", "--length-penalty", "0.5"]])
def test_all_interventions_at_once_are_those_of_python(
    untrained_checkpoint: Path, translator: Translator, tmp_path: Path, capsys, beam: list[str]
) -> None:
    output = Beam(3, 0.5) if beam else Experiment("").output
    expected = translator.run(Experiment(SENTENCE, output, INTERVENTIONS))
    fields = run(
        capsys, untrained_checkpoint, *OPTIONS, *beam, "--attention", str(tmp_path / "maps.npz")
    )
    assert fields["predicted_tokens"] == list(expected.predicted_tokens)
    assert fields["log_probabilities"] == pytest.approx(expected.log_probabilities, abs=1e-5)
    assert fields["predicted_tokens"] == ["a", "man", "ladder", "<eos>"]
    assert fields["source_tokens"] == [
        "<sos>",
        "ein",
        "leiter",
        "steht",
        "einer",
        "leiter",
        ".",
        "<eos>",
    ]
    assert fields["interventions"] == [
        part_to_json(intervention) for intervention in expected.experiment.interventions
    ]
    assert fields["output"] == part_to_json(output)
    told = {
        "source_text": fields["source"],
        "output": fields["output"],
        "interventions": fields["interventions"],
    }
    assert experiment_from_json(told) == expected.experiment
    with np.load(tmp_path / "maps.npz", allow_pickle=False) as arrays:
        np.testing.assert_allclose(arrays["cross"], expected.maps.cross, atol=1e-6)
        np.testing.assert_allclose(
            arrays["cross"][0, 1, 2], np.array([1, 2, 3, 0, 0, 0, 0, 1]) / 7, atol=1e-6
        )
        assert [json.loads(text) for text in arrays["interventions"]] == fields["interventions"]
        assert arrays["baseline/translation"] == fields["baseline"]["translation"]


def test_a_group_of_heads_is_switched_off_as_its_heads(
    untrained_checkpoint: Path, translator, capsys
) -> None:
    heads = heads_of(translator.run_config.model)
    for named, expected in (
        (["cross"], {head for head in heads if head.kind == "cross"}),
        (["encoder:2"], {head for head in heads if (head.kind, head.layer) == ("encoder", 1)}),
        (
            ["cross:*:2", "cross:1", "cross:1:1"],
            {
                head
                for head in heads
                if head.kind == "cross" and (head.head == 1 or head.layer == 0)
            },
        ),
    ):
        fields = run(capsys, untrained_checkpoint, "--head-off", *named)
        result = translator.run(
            Experiment(SENTENCE, interventions=tuple(map(HeadScaled, expected)))
        )
        assert fields["interventions"] == [
            part_to_json(intervention) for intervention in result.experiment.interventions
        ]
        assert fields["log_probabilities"] == pytest.approx(result.log_probabilities, abs=1e-5)


def test_numbers_of_a_changed_sentence(
    untrained_checkpoint: Path, translator: Translator, capsys
) -> None:
    fields = run(capsys, untrained_checkpoint, *OPTIONS, "--rows", "read", command="analyze")
    expected = translator.run(Experiment(SENTENCE, interventions=INTERVENTIONS))
    np.testing.assert_allclose(fields["cross"], expected.maps.cross, atol=1e-6)
    assert fields["interventions"] == [
        part_to_json(intervention) for intervention in expected.experiment.interventions
    ]


def test_a_given_target_is_read_under_the_same_changes(
    untrained_checkpoint: Path, translator, capsys
) -> None:
    fields = run(
        capsys,
        untrained_checkpoint,
        "--target",
        TARGET,
        "--head-off",
        "cross:2:1",
        "--remove-word",
        "1",
    )
    changes = (HeadScaled(Head("cross", 1, 0)), SourceWordRemoved(0))
    scored = translator.run(Experiment(SENTENCE, GivenTarget(TARGET), changes))
    assert fields["given"]["log_probabilities"] == pytest.approx(scored.log_probabilities, abs=1e-5)
    assert fields["given"]["output"] == {"type": "given", "text": TARGET}
    assert fields["interventions"] == fields["given"]["interventions"] != []


def test_nothing_is_listed_where_nothing_is_changed(untrained_checkpoint: Path, capsys) -> None:
    fields = run(capsys, untrained_checkpoint)
    assert (fields["interventions"], fields["unreached"], fields["output"]) == (
        [],
        [],
        {"type": "greedy"},
    )


def test_what_lies_beyond_the_end_is_listed_and_noted(untrained_checkpoint: Path, capsys) -> None:
    fields = run(capsys, untrained_checkpoint, "--force", "2=<eos>", "--force", "9=man")
    assert fields["unreached"] == [{"type": "forced_token", "step": 8, "token": "man"}]
    assert (
        fields["notes"][-1] == "Beyond the end of the translation, so without effect: step 8: man."
    )
    arguments = command_line(
        "translate {} --checkpoint {} --force 2=<eos>", SENTENCE, untrained_checkpoint
    )
    assert main([*arguments, "--force", "9=man"]) == 0
    assert (
        "note: Beyond the end of the translation, so without effect: step 9: man."
        in capsys.readouterr().err
    )


@pytest.mark.heavy
def test_a_word_of_several_pieces_beyond_the_end_is_noted_once_at_the_requested_step(
    capsys,
) -> None:
    assert main(["translate", "Ein Hund.", "--force", "99=x"]) == 0
    assert "so without effect: step 99: x.\n" in capsys.readouterr().err


def test_a_row_of_the_encoder_lies_beyond_the_end_of_the_source(
    untrained_checkpoint: Path, capsys
) -> None:
    num_tokens = len(run(capsys, untrained_checkpoint)["source_tokens"])
    row = f"encoder:1:1:{num_tokens + 1}={','.join(['1'] * num_tokens)}"
    assert (
        main(["translate", SENTENCE, "--checkpoint", str(untrained_checkpoint), "--set-row", row])
        == 0
    )
    told = capsys.readouterr().err
    assert "note: Beyond the end of the source, so without effect: " in told
    assert "end of the translation" not in told


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--head-off", "cross:9:1"], "no cross layer 9 head 1"),
        (["--head-off", "cross:9"], "no cross layer 9"),
        (["--head-off", "encoder:*:9"], "no encoder head 9 in all layers"),
        (
            ["--head-off", "cross", "--scale-head", "cross:1:1=2"],
            "Two interventions change the same thing",
        ),
        (["--feed-forward-off", "decoder:9"], "no feed-forward network of decoder layer 9"),
        (
            ["--feed-forward-off", "decoder:1", "--scale-feed-forward", "decoder:1=2"],
            "Two interventions change the same",
        ),
        (
            ["--head-off", "cross:1:1", "--scale-head", "cross:1:1=2"],
            "Two interventions change the same thing",
        ),
        (
            ["--head-off", "cross:1:1", "encoder:1:1", "--off", "cross:1:1"],
            "“cross 1·1 off” and “cross 1·1 off”",
        ),
        (
            ["--scale-head", "cross:1:1=2", "--scale-head", "cross:1:1=2"],
            "Two interventions change the same thing",
        ),
        (["--force", "100001=a man"], "'a man', forced at step 100,001, takes 2 steps"),
        (["--force", "3=man", "--force", "3=ladder"], "Two interventions change the same thing"),
        (
            ["--remove-word", "2", "--replace-word", "2=Mann"],
            "Two interventions change the same thing",
        ),
        (["--force", "3=zebra"], "The vocabulary of this model has no 'zebra'"),
        (["--force-token", "3=Man"], "'Man' forced at step 3 is not in this model's vocabulary"),
        (["--force-token", "3=<pad>"], "can never be chosen"),
        (
            ["--set-row", "cross:1:1:1=1,0"],
            "has 2 weights. It needs one for each of the 9 source tokens",
        ),
        (["--remove-word", "8"], "word 8"),
        (["--force", "3=man", "--target", TARGET], "A token is forced"),
        (["--length-penalty", "2"], "has no effect on greedy decoding"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_message(
    untrained_checkpoint: Path, capsys, arguments: list[str], message: str
) -> None:
    assert main(["translate", SENTENCE, "--checkpoint", str(untrained_checkpoint), *arguments]) == 2
    output = capsys.readouterr()
    assert message in output.err
    assert output.out == ""
    assert "Traceback" not in output.err


@pytest.mark.parametrize("command", ["translate", "analyze"])
@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--head-off", "cross:0:1", "is not a head"),
        ("--off", "cross:0:1", "is not a head"),
        ("--head-off", "Zwei Hunde", "Put the sentence before this option"),
        ("--scale-head", "cross:1:1", "a head and a factor, such as cross:2:5=0.5"),
        ("--scale-head", "cross:1:1=much", "'much' is not a number"),
        ("--scale-head", "cross:1:1=nan", "Choose a number from -1000 to 1000"),
        ("--scale-head", "cross:1=1", "is not a head"),
        ("--feed-forward-off", "cross:1", "is not a feed-forward network"),
        ("--feed-forward-off", "decoder:0", "is not a feed-forward network"),
        ("--feed-forward-off", "Zwei Hunde", "Put the sentence before this option"),
        ("--scale-feed-forward", "decoder:1", "a layer and a factor, such as decoder:2=0.5"),
        ("--set-row", "cross:1:1=0,1", "is not a head"),
        ("--set-row", "cross:1:1:0=0,1", "is not a whole number from 1 to 100,001"),
        ("--set-row", "cross:1:1:2=0,,1", "'' is not a number"),
        ("--set-row", "cross:1:1:2=0,-1", "Use numbers of 0 or more"),
        ("--set-row", "cross:1:1:2=0,0", "at least one token"),
        ("--set-row", "decoder:1:1:2=1", "the 2 target tokens read so far"),
        ("--set-row", "1", "such as cross:2:5:3=0,1,0"),
        ("--force", "dog", "a step and a word, such as 3=dog"),
        ("--force", "0=dog", "is not a whole number from 1 to 100,001"),
        ("--force", "3=", "a step and a word"),
        ("--force-token", "-3=dog", "is not a whole number from 1 to 100,001"),
        ("--force-token", "100002=dog", "'100002' is not a whole number from 1 to 100,001"),
        ("--force", "100002=dog", "'100002' is not a whole number from 1 to 100,001"),
        ("--remove-word", "100002", "'100002' is not a whole number from 1 to 100,001"),
        ("--set-row", "cross:1:1:100002=1", "'100002' is not a whole number from 1 to 100,001"),
        ("--head-off", "cross:100002:1", "is not a head"),
        ("--head-off", "cross:1:2:3", "is not a head"),
        ("--head-off", "cross:", "is not a head"),
        ("--head-off", "cross:0", "is not a head"),
        ("--scale-head", "cross:*:1=2", "is not a head"),
        ("--head-off", "cross:1:" + "1" * 9_000, "is not a head"),
        ("--remove-word", "two", "the number of a word, such as 2"),
        ("--replace-word", "2", "such as 2=Katze"),
        ("--replace-word", "2= ", "The replacement of source word 2 is empty"),
        ("--remove-word", "9" * 5_000, "the number of a word"),
    ],
)
def test_bad_syntax_is_refused_before_anything_is_loaded(
    capsys, command: str, option: str, value: str, message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, SENTENCE, "--checkpoint", "nowhere", f"{option}={value}"])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert message in told
    assert f"argument {option}" in told
    assert "invalid parse" not in told


def test_links_with_heads_off(untrained_checkpoint: Path, capsys) -> None:
    align = ["align", "--checkpoint", str(untrained_checkpoint)]
    text = ["--text", SENTENCE, "--target", TARGET, "--head", "cross:2:2", "--json"]
    told = []
    for more in ([], ["--head-off", "cross:1:1", "encoder:1:1"]):
        assert main([*align, *text, *more]) == 0
        told.append(json.loads(capsys.readouterr().out)["links"])
    assert told[0] != told[1]


@pytest.mark.heavy
def test_statistics_are_those_of_the_changed_model(
    untrained_checkpoint: Path, capsys, tmp_path: Path
) -> None:
    (tmp_path / "some.de").write_text("Ein Mann steht.\nLeiter.\n", encoding="utf-8")
    arguments = ["--statistics", str(tmp_path / "some.de")]
    whole = run(capsys, untrained_checkpoint, *arguments, command="analyze")
    changed = run(
        capsys, untrained_checkpoint, *arguments, "--head-off", "encoder:1:1", command="analyze"
    )
    assert whole["encoder_entropy"][0] == changed["encoder_entropy"][0], (
        "before the head nothing changes"
    )
    assert whole["encoder_entropy"][1] != changed["encoder_entropy"][1]


@pytest.mark.heavy
def test_scores_are_those_of_the_changed_model(
    untrained_checkpoint: Path, capsys, tmp_path: Path
) -> None:
    german, english = tmp_path / "some.de", tmp_path / "some.en"
    german.write_text("Ein Mann steht.\nLeiter.\nEin Hund .\n", encoding="utf-8")
    english.write_text("A man stands.\nLadder.\nA dog .\n", encoding="utf-8")
    evaluate = command_line(
        "evaluate --source {} --reference {} --hypotheses {}", german, english, tmp_path / "h"
    )
    evaluate += ["--checkpoint", str(untrained_checkpoint)]
    heads = (HeadScaled(Head("encoder", 0, 0)), HeadScaled(Head("cross", 1, 1), -2.0))
    scalings = (*heads, FeedForwardScaled(Network("decoder", 0)))
    translator, told = Translator.load(untrained_checkpoint, "cpu"), []
    for option in ("--head-off", "--off"):
        network_off = ["--feed-forward-off", "decoder:1"]
        assert (
            main(
                [
                    *evaluate,
                    *command_line("--json {} encoder:1:1 --scale-head cross:2:2=-2", option),
                    *network_off,
                ]
            )
            == 0
        )
        told.append(json.loads(capsys.readouterr().out))
        lines = german.read_text(encoding="utf-8").splitlines()
        expected = [translator.run(Experiment(line, interventions=scalings)).text for line in lines]
        assert (tmp_path / "h").read_text(encoding="utf-8").splitlines() == expected
    assert told[0] | {"seconds": 0} == told[1] | {"seconds": 0}
    assert told[0]["interventions"] == [part_to_json(scaling) for scaling in scalings]
    assert told[0]["model"] == {"name": translator.name, "digest": translator.digest}
    assert told[0]["version"] == __version__
    scores = [
        translator.run(Experiment(line, GivenTarget(target), scalings)).log_probabilities
        for line, target in zip(
            lines, english.read_text(encoding="utf-8").splitlines(), strict=True
        )
    ]
    assert told[0]["loss"]["token_weighted"] == pytest.approx(
        -sum(map(sum, scores)) / sum(map(len, scores)), abs=1e-5
    )
    assert main([*evaluate, "--head-off", "encoder:1:1"]) == 0
    assert "changed                              encoder 1·1 off\n" in capsys.readouterr().out
    assert main([*evaluate, "--head-off", "cross:1"]) == 0
    assert "changed                              cross layer 1 off\n" in capsys.readouterr().out
    assert main(evaluate) == 0
    assert "changed  " not in capsys.readouterr().out
    assert main([*evaluate, "--head-off", "encoder:1:1", "--scale-head", "encoder:1:1=0.5"]) == 2
    assert "Two interventions change the same thing" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--force-token", "2=no-such-token"],
            "'no-such-token' forced at step 2 is not in this model's vocabulary",
        ),
        (["--head-off", "cross:9:1"], "no cross layer 9 head 1"),
    ],
)
@pytest.mark.parametrize(
    "command", [["translate"], ["translate", "--jsonl"], ["translate", "--json"], ["analyze"]]
)
def test_what_fits_no_line_is_told_once(
    untrained_checkpoint: Path,
    capsys,
    monkeypatch,
    command: list[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Ein Mann steht.\nLeiter.\n\n"))
    name, *form = command
    assert main([name, "-", *form, "--checkpoint", str(untrained_checkpoint), *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count(message) == 1


def test_the_former_name_of_an_option_is_not_advertised(capsys) -> None:
    for command in ("translate", "analyze", "align", "evaluate"):
        with pytest.raises(SystemExit):
            make_parser().parse_args([command, "--help"])
        told = capsys.readouterr().out
        assert "--head-off" in told
        assert "--off" not in told
