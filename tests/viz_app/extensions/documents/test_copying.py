"""An experiment copied as Python or as a command is the same experiment when it is run."""

import os
import random
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.checkpoint.file import save_checkpoint
from augenmerk.core.cli.main import main, make_parser
from augenmerk.core.errors import ExperimentError
from augenmerk.core.extensions.analyses.cli.options import read_experiment
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.resources import bundled_model_path
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
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.documents.copying import to_command, to_python
from tests.core.translation.random_experiments import (
    TOKENS,
    AnyValues,
    ValuesForModel,
    random_experiment,
)
from tests.core.translation.random_models import make_translator
from tests.core.translators import subword_translator  # noqa: F401

REPOSITORY = Path(__file__).resolve().parents[4]
SENTENCE = "Ein Mann steht auf einer Leiter."
INTERVENTIONS = (
    SourceWordRemoved(3),
    SourceWordReplaced(1, "Leiter"),
    HeadScaled(Head("cross", 1, 0)),
    HeadScaled(Head("encoder", 0, 1)),
    HeadScaled(Head("decoder", 0, 0), -0.5),
    FeedForwardScaled(Network("encoder", 0)),
    FeedForwardScaled(Network("decoder", 0)),
    FeedForwardScaled(Network("decoder", 1), 0.5),
    AttentionRow(Head("cross", 0, 1), 2, (1, 2, 3, 0, 0, 0, 0, 1)),
    AttentionRow(Head("decoder", 0, 1), 0, (1,)),
    ForcedToken(0, "ladder"),
    ForcedToken(2, "man"),
    ForcedToken(4, "<eos>"),
)
RUNNABLE = {
    "all kinds": Experiment(
        SENTENCE, Beam(3, 0.7), (*INTERVENTIONS, ForcedToken(1, "a"), ForcedToken(3, "a"))
    ),
    "nothing": Experiment(SENTENCE),
    "given": Experiment(
        "Ein 'Mann' \"steht\" $HOME", GivenTarget("-a `man` \\ stands"), INTERVENTIONS[2:4]
    ),
    "an option": Experiment("--json", Greedy(), INTERVENTIONS[2:3]),
    "a dash": Experiment("-", Greedy(), INTERVENTIONS[10:]),
}


def run_as_python(source: str) -> dict[str, object]:
    names: dict[str, object] = {}
    exec(source, names)
    return names


@pytest.mark.heavy
def test_python_gives_the_same_experiment_to_the_last_bit() -> None:
    random_numbers = random.Random(5)
    for _ in range(400):
        experiment = random_experiment(random_numbers, AnyValues())
        source = to_python(experiment, "a 'b'.safetensors")
        load = "translator = Translator.load(\"a 'b'.safetensors\")\n"
        assert load in source
        until_run, run = source.replace(load, "").split("translation = ")
        copied = run_as_python(until_run)["experiment"]
        assert repr(copied) == repr(experiment)
        assert run == "translator.run(experiment)\nprint(translation.text)\n"
        assert {
            line.split()[1] for line in source.splitlines() if line.startswith(("from ", "import "))
        } == {"augenmerk"}


@pytest.mark.parametrize("name", RUNNABLE)
def test_python_runs_and_gives_what_the_app_gives(
    untrained_checkpoint: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    names = run_as_python(to_python(RUNNABLE[name], untrained_checkpoint))
    expected = Translator.load(untrained_checkpoint).run(RUNNABLE[name])
    translation = names["translation"]
    assert capsys.readouterr().out == expected.text + "\n"
    assert translation.predicted_ids == expected.predicted_ids
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_array_equal(translation.maps.of_kind(kind), expected.maps.of_kind(kind))


@pytest.mark.subprocess
@pytest.mark.slow
def test_python_is_what_a_person_would_write(untrained_checkpoint: Path) -> None:
    assert to_python(
        Experiment(
            "Zwei Hunde.", Beam(4), (HeadScaled(Head("cross", 1, 4)), ForcedToken(2, "▁dog"))
        )
    ) == (
        "from augenmerk import Beam, Experiment, ForcedToken, Head, HeadScaled, Translator\n"
        "\n"
        "# Layers, heads, rows, steps and words are counted from 0 here, and from 1 in the window.\n"
        "translator = Translator.load()\n"
        "experiment = Experiment(\n"
        '    "Zwei Hunde.",\n'
        "    Beam(4, length_penalty=1.5),\n"
        "    (\n"
        '        HeadScaled(Head("cross", 1, 4), 0.0),\n'
        '        ForcedToken(2, "▁dog"),\n'
        "    ),\n"
        ")\n"
        "translation = translator.run(experiment)\n"
        "print(translation.text)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", to_python(RUNNABLE["all kinds"], untrained_checkpoint)],
        cwd=REPOSITORY, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert (
        done.stdout == Translator.load(untrained_checkpoint).run(RUNNABLE["all kinds"]).text + "\n"
    )


@pytest.mark.heavy
def test_a_command_is_parsed_into_the_same_experiment(subword_translator: Translator) -> None:  # noqa: F811
    codec = subword_translator.checkpoint.codecs.target
    tokens = (
        *codec.vocabulary.tokens[3:],
        *(token for token in TOKENS if not token.startswith("▁")),
    )
    random_numbers, parser = random.Random(6), make_parser()
    for _ in range(400):
        experiment = random_experiment(random_numbers, AnyValues(tokens))
        if isinstance(experiment.output, Beam) and experiment.output.size == 1:
            continue
        words = shlex.split(to_command(experiment, "-x y.safetensors"))
        if experiment.source_text == "-":
            assert words[:4] == ["printf", "%s", "-", "|"]
            words = words[4:]
        assert words[:2] == ["augenmerk", "translate"]
        options = parser.parse_args(words[1:])
        assert options.text == experiment.source_text
        assert options.checkpoint == Path("-x y.safetensors")
        assert read_experiment(options, options.text, codec) == experiment


def test_a_beam_of_size_one_is_greedy() -> None:
    assert to_command(Experiment("x", Beam(1, 2.0))) == "augenmerk translate x"


def test_a_command_is_what_a_person_would_type() -> None:
    experiment = Experiment(
        "Zwei Hunde spielen.",
        Beam(4),
        (
            SourceWordRemoved(0),
            SourceWordReplaced(1, "eine Katze"),
            HeadScaled(Head("cross", 1, 4)),
            HeadScaled(Head("encoder", 0, 0)),
            HeadScaled(Head("cross", 2, 0), 0.5),
            AttentionRow(Head("cross", 1, 4), 2, (0, 1, 0)),
            ForcedToken(2, "▁dog"),
            ForcedToken(3, "s"),
            ForcedToken(4, "<eos>"),
        ),
    )
    assert to_command(experiment, Path("my model.safetensors")) == (
        "augenmerk translate 'Zwei Hunde spielen.' --beam 4 --length-penalty 1.5 --head-off "
        "encoder:1:1 cross:2:5 --remove-word 1 --replace-word '2=eine Katze' --scale-head "
        "cross:3:1=0.5 --set-row cross:2:5:3=0,1,0 --force '3=▁dog' --force-token 4=s --force "
        "'5=<eos>' --checkpoint 'my model.safetensors'"
    )
    assert (
        to_command(Experiment("--json", GivenTarget("-x")))
        == "augenmerk translate --target=-x -- --json"
    )
    assert (
        to_command(Experiment("-", GivenTarget("x")))
        == "printf %s - | augenmerk translate - --target x"
    )


@pytest.mark.slow
@pytest.mark.heavy
def test_the_bundled_model_is_not_named_by_its_path_on_this_machine(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = bundled_model_path()
    if not path.is_file():
        pytest.skip("the bundled model is not here")
    experiment = Experiment("Zwei Hunde spielen.", interventions=(HeadScaled(Head("cross", 1, 4)),))
    link = tmp_path / "link.safetensors"
    link.symlink_to(path)
    monkeypatch.chdir(path.parent)
    for name in (path, str(path), Path(path.name), link):
        assert to_python(experiment, name) == to_python(experiment)
        assert to_command(experiment, name) == to_command(experiment)
    monkeypatch.chdir(tmp_path)
    expected = Translator.load().run(experiment).text
    run_as_python(to_python(experiment, path))
    assert capsys.readouterr().out == f"{expected}\n"
    assert main(shlex.split(to_command(experiment, path))[1:]) == 0
    assert capsys.readouterr().out.splitlines()[0] == expected


@pytest.mark.parametrize("experiment", [Experiment("a\0b"), Experiment("a", GivenTarget("a\0b"))])
def test_what_no_command_can_hold_is_refused(experiment: Experiment) -> None:
    with pytest.raises(ExperimentError, match="copy the experiment as Python"):
        to_command(experiment)
    assert "Experiment(" in to_python(experiment)


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize(
    "name", ["words, post-norm, learned positions", "subwords, pre-norm, all tied", "copy task"]
)
def test_every_command_runs_and_gives_what_the_app_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    translator, generator = make_translator(name), random.Random(7)
    path = tmp_path / "model.safetensors"
    save_checkpoint(translator.checkpoint, path)
    drawn = [random_experiment(generator, ValuesForModel(translator)) for _ in range(12)]
    with_targets = [
        experiment for experiment in drawn if isinstance(experiment.output, GivenTarget)
    ]
    lifted = [
        experiment if experiment.lifts_mask else experiment.with_interventions(CausalMaskLifted())
        for experiment in with_targets
    ]
    assert lifted
    for experiment in (*drawn, *lifted):
        expected = translator.run(experiment)
        capsys.readouterr()
        words = shlex.split(to_command(experiment, path))
        assert main([*words[1:], "--device", "cpu"]) == 0, experiment
        lines = capsys.readouterr().out.splitlines()
        if isinstance(experiment.output, GivenTarget):
            assert lines[1] == expected.text
            assert f"{expected.log_probability:8.3f} nats" in lines[3]
        else:
            assert lines[0] == expected.text


@pytest.mark.subprocess
@pytest.mark.skipif(os.name != "posix", reason="the command is for a POSIX shell")
@pytest.mark.parametrize("name", ["given", "a dash"])
@pytest.mark.slow
def test_a_shell_runs_the_command_and_prints_the_same(
    untrained_checkpoint: Path, tmp_path: Path, name: str
) -> None:
    program = tmp_path / "augenmerk"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m augenmerk "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["/bin/sh", "-c", to_command(RUNNABLE[name], untrained_checkpoint)],
        cwd=REPOSITORY, env=environment, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    expected = Translator.load(untrained_checkpoint).run(RUNNABLE[name])
    lines = done.stdout.splitlines()
    assert lines[1 if name == "given" else 0] == expected.text
    if name == "given":
        assert f"{expected.log_probability:8.3f} nats" in lines[3]
