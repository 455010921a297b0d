"""The command line end to end: what it prints, writes, refuses, and with which exit status."""

import contextlib
import errno
import gzip
import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augenmerk.core.checkpoint.file import load_checkpoint, save_checkpoint
from augenmerk.core.cli.command import run_guarded
from augenmerk.core.cli.main import SUBCOMMANDS, main
from augenmerk.core.cli.values import write_arrays
from augenmerk.core.errors import TextError
from augenmerk.core.extensions.training.cli.stopping import (
    ECHO_SECONDS,
    StopFlag,
    stop_on_interrupt,
)
from augenmerk.core.extensions.training.corpora.prepared import load_prepared
from augenmerk.core.extensions.training.folder import read_starts
from tests.builders import command_line, run_process
from tests.signals import use_default_signals
from tests.test_import_rules import modules_imported_by

REPOSITORY = Path(__file__).resolve().parents[3]
SENTENCE = "Ein Mann steht auf einer Leiter."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny parallel corpus: train.de.gz, train.en and a validation split."""
    german = ["Ein Mann steht.", "Eine Frau läuft.", "Zwei Hunde spielen.", "Ein Kind lacht."] * 8
    english = ["A man stands.", "A woman runs.", "Two dogs play.", "A child laughs."] * 8
    (tmp_path / "train.de.gz").write_bytes(gzip.compress("\n".join(german).encode()))
    (tmp_path / "train.en").write_text("\n".join(english), encoding="utf-8")
    (tmp_path / "val.de").write_text("\n".join(german[:4]), encoding="utf-8")
    (tmp_path / "val.en").write_text("\n".join(english[:4]), encoding="utf-8")
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The message of a command that must end with status 2 and print nothing else."""
    capsys.readouterr()
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "Traceback" not in output.err
    return output.err


def test_translate_prints_one_line(
    untrained_checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["translate", SENTENCE, "--checkpoint", str(untrained_checkpoint)]) == 0
    assert capsys.readouterr().out.count("\n") == 1


@pytest.mark.subprocess
@pytest.mark.slow
def test_translate_reads_standard_input(untrained_checkpoint: Path) -> None:
    command = command_line(
        "{} -m augenmerk translate - --json --checkpoint {}", sys.executable, untrained_checkpoint
    )
    done = subprocess.run(
        command, input=SENTENCE, capture_output=True, encoding="utf-8", cwd=REPOSITORY, check=True
    )
    assert json.loads(done.stdout)["source"] == SENTENCE


def test_json_and_attention_agree(
    untrained_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "maps.npz"
    arguments = command_line(
        "translate {} --checkpoint {} --json --attention {}", SENTENCE, untrained_checkpoint, target
    )
    assert main(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    with np.load(target, allow_pickle=False) as arrays:
        num_source, num_target = len(told["source_tokens"]), len(told["predicted_tokens"])
        assert arrays["encoder"].shape[-2:] == (num_source, num_source)
        assert arrays["decoder"].shape[-2:] == (num_target, num_target)
        assert arrays["cross"].shape[-2:] == (num_target, num_source)
        np.testing.assert_allclose(arrays["cross"].sum(-1), 1, atol=1e-5)
        for name in ("source_tokens", "read_tokens", "predicted_tokens"):
            assert arrays[name].tolist() == told[name]
        for name in (
            "version",
            "source",
            "translation",
            "predicted_entries",
            "predicted_ids",
            "interventions",
        ):
            assert arrays[name].tolist() == told[name]
        for name in ("log_probabilities", "ranks", "entropies"):
            np.testing.assert_allclose(arrays[name], told[name], atol=1e-5)
        assert (arrays["model/name"], arrays["model/digest"]) == tuple(told["model"].values())
    assert len(told["log_probabilities"]) == len(told["alternatives"]) == num_target


def test_notes_go_to_standard_error(
    untrained_checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["translate", "Ein Mann\nsteht.", "--checkpoint", str(untrained_checkpoint)]) == 0
    assert "Line breaks were read as spaces." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "empty"), ("  \n ", "empty"), ("Wort " * 10_000, "more than 1,000 words")],
    ids=["", "spaces", "long"],
)
def test_translate_refuses(
    untrained_checkpoint: Path, capsys: pytest.CaptureFixture[str], text: str, expected: str
) -> None:
    assert expected in refused(capsys, "translate", text, "--checkpoint", str(untrained_checkpoint))


def test_a_missing_checkpoint_and_device_are_named(
    untrained_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "nowhere.safetensors" in refused(
        capsys, "translate", "x", "--checkpoint", str(tmp_path / "nowhere.safetensors")
    )
    assert "cuda:99" in refused(
        capsys, "translate", "x", "--checkpoint", str(untrained_checkpoint), "--device", "cuda:99"
    )


def test_attention_that_cannot_be_written_is_refused(
    untrained_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("no folder")
    target = tmp_path / "file" / "maps.npz"
    message = refused(
        capsys,
        "translate",
        "x",
        "--checkpoint",
        str(untrained_checkpoint),
        "--attention",
        str(target),
    )
    assert "Cannot write" in message


def test_evaluate_gives_the_promised_keys(
    untrained_checkpoint: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hypotheses = folder / "hypotheses.txt"
    files = ["--source", str(folder / "val.de"), "--reference", str(folder / "val.en")]
    arguments = [
        "evaluate",
        *files,
        *command_line("--json --hypotheses {} --checkpoint {}", hypotheses, untrained_checkpoint),
    ]
    assert main(arguments) == 0
    scores = json.loads(capsys.readouterr().out)
    assert set(scores) == {
        "sentences", "bleu_tokenized_lowercased", "sacrebleu", "sacrebleu_signature", "chrf", "chrf_interval",
        "seconds",
        "bleu_tokenized_lowercased_interval", "sacrebleu_interval", "beam", "length_penalty", "loss", "interventions",
        "version", "model", "into", "notes", "empty_references", "too_long_pairs", "warnings",
    }  # fmt: skip
    assert scores["sentences"] == 4
    assert scores["warnings"][0].startswith("A bootstrap of 4 sentences says little")
    assert (scores["beam"], scores["length_penalty"]) == (1, 1.5)
    for name in ("bleu_tokenized_lowercased", "sacrebleu", "chrf"):
        low, high = scores[f"{name}_interval"]
        assert 0 <= low <= high <= 100
    assert "tok:13a" in scores["sacrebleu_signature"]
    assert len(hypotheses.read_text(encoding="utf-8").splitlines()) == 4


def test_evaluate_refuses_a_reference_that_is_the_source(
    untrained_checkpoint: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = str(folder / "val.de")
    files = ["--source", source, "--reference", source]
    message = refused(capsys, "evaluate", *files, "--checkpoint", str(untrained_checkpoint))
    assert f"{source} would be both the source and the target" in message


@pytest.mark.heavy
def test_evaluate_counts_what_was_cut_refused_and_left_out_of_the_loss(
    untrained_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "ein mann " * 75
    (tmp_path / "a.de").write_text(f"{SENTENCE}\n{long}\n\n \t\nEin Mann.\n", encoding="utf-8")
    (tmp_path / "a.en").write_text(
        "A man stands on a ladder.\na man\nA man.\nA man.\n \n", encoding="utf-8"
    )
    files = ["--source", str(tmp_path / "a.de"), "--reference", str(tmp_path / "a.en")]
    evaluate = ["evaluate", *files, "--checkpoint", str(untrained_checkpoint)]
    assert main([*evaluate, "--json"]) == 0
    output = capsys.readouterr()
    scores = json.loads(output.out)
    assert scores["sentences"] == 5
    assert (scores["notes"]["cut"], scores["notes"]["refused"], scores["empty_references"]) == (
        [1],
        [2, 3],
        [4],
    )
    assert (scores["loss"]["num_sentences"], scores["too_long_pairs"]) == (1, [1])
    assert main(["translate", long, "--checkpoint", str(untrained_checkpoint)]) == 0
    (cut,) = re.findall("Only the beginning .*", capsys.readouterr().err)
    notes = [
        (
            "note: 2 of 5 sentences are not translated (number 3, 4). The first: There is nothing to "
            "translate"
        ),
        f"note: 1 of 5 sentences is cut to fit into the model (number 2). {cut}\n",
        "note: 1 of 5 references is empty and left out of the loss (number 5).\n",
        "note: 1 of 5 pairs is too long for the model and left out of the loss (number 2).\n",
    ]
    assert [output.err.count(f"augenmerk: {note}") for note in notes] == [1, 1, 1, 1]
    assert main(evaluate) == 0
    output = capsys.readouterr()
    assert [(output.out + output.err).count(note) for note in notes] == [1, 1, 1, 1]
    assert "cut" not in output.err
    assert re.search(r"sentences +5\ndecoding", output.out)
    assert re.search(r"  sentences counted +1\n", output.out)


@pytest.mark.heavy
def test_evaluate_says_that_no_pair_fits(
    untrained_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "a", "b":
        (tmp_path / name).write_text("ein mann " * 75, encoding="utf-8")
    files = ["--source", str(tmp_path / "a"), "--reference", str(tmp_path / "b")]
    assert main(["evaluate", *files, "--checkpoint", str(untrained_checkpoint)]) == 0
    assert (
        "loss of the references, per token    –   no pair can be counted\n"
        in capsys.readouterr().out
    )


@pytest.mark.heavy
def test_evaluate_reads_one_file_of_pairs(
    untrained_checkpoint: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = [
        (folder / f"val.{language}").read_text(encoding="utf-8").splitlines()
        for language in ("de", "en")
    ]
    pairs = folder / "pairs.jsonl"
    lines = [
        json.dumps({"en": english, "de": german}) for german, english in zip(*sides, strict=True)
    ]
    pairs.write_text("\n".join(lines), encoding="utf-8")
    scores = []
    for files in (
        ["--reference", str(folder / "val.en"), "--source", str(folder / "val.de")],
        ["--source", str(pairs)],
    ):
        assert main(["evaluate", *files, "--json", "--checkpoint", str(untrained_checkpoint)]) == 0
        scores.append(json.loads(capsys.readouterr().out) | {"seconds": 0})
    assert scores[0] == scores[1]
    message = refused(
        capsys,
        "evaluate",
        "--source",
        str(folder / "val.de"),
        "--checkpoint",
        str(untrained_checkpoint),
    )
    assert "text in one language. Save the pairs as two columns" in message


@pytest.mark.heavy
def test_evaluate_says_how_it_decoded(
    untrained_checkpoint: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--source", str(folder / "val.de"), "--reference", str(folder / "val.en")]
    evaluate = ["evaluate", *files, "--checkpoint", str(untrained_checkpoint)]
    assert main(evaluate) == 0
    told = capsys.readouterr().out
    assert re.search(r"decoding +greedy\n", told)
    assert re.search(
        r"loss of the references, per token +\d+\.\d{3}   perplexity \d+\.\d\d\n", told
    )
    assert len(re.findall(r"95% bootstrap interval +\d+\.\d\d to \d+\.\d\d\n", told)) == 3
    assert main([*evaluate, "--beam", "3", "--length-penalty", "0.6"]) == 0
    assert re.search(r"decoding +beam 3, length penalty 0\.6\n", capsys.readouterr().out)


@pytest.mark.heavy
def test_translate_with_a_beam(
    untrained_checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    translate = ["translate", SENTENCE, "--json", "--checkpoint", str(untrained_checkpoint)]
    told = []
    for beam in ([], ["--beam", "1"], ["--beam", "4", "--length-penalty", "0"]):
        assert main([*translate, *beam]) == 0
        told.append(json.loads(capsys.readouterr().out)["predicted_tokens"])
    assert told[0] == told[1] != told[2]


@pytest.mark.heavy
def test_each_line_of_standard_input_is_a_sentence(
    untrained_checkpoint: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    translate = ["translate", "-", "--checkpoint", str(untrained_checkpoint)]
    alone = []
    for sentence in (SENTENCE, "ein hund ."):
        assert main(["translate", sentence, "--checkpoint", str(untrained_checkpoint)]) == 0
        alone.append(capsys.readouterr().out)
    text = f"\ufeff{SENTENCE}\r\n\nein hund .\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert main(translate) == 0
    assert capsys.readouterr().out == f"{alone[0]}\n{alone[1]}"
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert main([*translate, "--json"]) == 0
    first, second, third = json.loads(capsys.readouterr().out)
    assert (first["translation"] + "\n", second, third["source"]) == (alone[0], None, "ein hund .")


@pytest.mark.parametrize("options", [["--target", "a dog ."], ["--attention", "maps.npz"]])
def test_what_is_about_one_sentence_refuses_several(
    untrained_checkpoint: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("eins\nzwei\n"))
    message = refused(capsys, "translate", "-", "--checkpoint", str(untrained_checkpoint), *options)
    assert "2 lines" in message
    assert not (tmp_path / "maps.npz").exists()


def test_hypotheses_that_cannot_be_written_are_refused_before_translating(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--source", str(folder / "val.de"), "--reference", str(folder / "val.en")]
    message = refused(
        capsys, "evaluate", *files, "--checkpoint", "nowhere", "--hypotheses", str(folder)
    )
    assert f"Cannot write {folder}" in message


@pytest.mark.parametrize("command", ["translate", "evaluate"])
def test_a_length_penalty_without_a_beam_is_refused(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    what = (
        ["x"] if command == "translate" else ["--source", "nowhere.de", "--reference", "nowhere.en"]
    )
    assert "has no effect on greedy decoding" in refused(
        capsys, command, *what, "--length-penalty", "2"
    )


@pytest.mark.parametrize("command", ["translate", "evaluate"])
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--beam", "0"], "The beam size is 0"),
        (["--beam", "-3"], "The beam size is -3"),
        (["--beam", "1000000000"], "The beam size is 1000000000"),
        (["--length-penalty", "-1"], "The length penalty is -1"),
        (["--length-penalty", "1e9"], "The length penalty is 1e+09"),
        (["--length-penalty", "nan"], "The length penalty is nan"),
    ],
)
def test_a_beam_that_makes_no_sense_is_refused(
    capsys: pytest.CaptureFixture[str], command: str, arguments: list[str], expected: str
) -> None:
    what = (
        ["x"] if command == "translate" else ["--source", "nowhere.de", "--reference", "nowhere.en"]
    )
    message = refused(capsys, command, *what, *arguments)
    assert expected in message
    assert re.search("Choose|Add", message)


def test_evaluate_refuses_uneven_files(
    untrained_checkpoint: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--source", str(folder / "val.de"), "--reference", str(folder / "train.en")]
    message = refused(capsys, "evaluate", *files, "--checkpoint", str(untrained_checkpoint))
    assert "4 lines" in message
    assert "32" in message


@pytest.mark.training
@pytest.mark.slow
def test_prepare_then_train_then_resume_then_translate(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prepared, run = folder / "data.safetensors", folder / "run"
    assert (
        main(command_line("data prepare --data {} --preset notebook --out {}", folder, prepared))
        == 0
    )
    assert len(load_prepared(prepared).train) == 32
    train = command_line("train --preset notebook --data {} --out {} --device cpu", prepared, run)
    assert "batch_size is 128 sentence pairs, but the training split" in refused(capsys, *train)
    assert not run.exists()
    train += ["--batch-size", "8"]
    assert main([*train, "--max-steps", "2"]) == 0
    assert load_checkpoint(run / "last.safetensors").run.preset == "notebook"
    assert "or choose an empty" in refused(capsys, *train).replace("\n", " ")
    assert main([*train, "--max-steps", "3", "--resume"]) == 0
    assert load_checkpoint(run / "last.safetensors", with_state=True).progress["step"] == 3
    assert (
        main(["translate", "Ein Mann steht.", "--checkpoint", str(run / "best.safetensors")]) == 0
    )
    assert main(["info", str(run / "best.safetensors")]) == 0
    assert re.search(r"all +\d", capsys.readouterr().out)


@pytest.mark.training
def test_training_says_how_it_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = command_line(
        "train --preset copy-task-small --data copy --max-steps 3 --out {}", tmp_path / "r"
    )
    assert main(arguments) == 0
    told = capsys.readouterr().err
    for word in ("loss", "rate", "tokens/s", "left", "validation", "best.safetensors"):
        assert word in told


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--preset", "copy-task-small", "--epochs", "-1"], "num_epochs is -1"),
        (["--preset", "copy-task-small", "--seed", "-5"], "seed is -5"),
        (["--preset", "copy-task-small", "--max-steps", "0"], "max_steps is 0"),
        (["--preset", "copy-task-small", "--data", "multi30k"], "copy-task-small cannot learn"),
        (["--preset", "notebook"], "needs sentence pairs"),
        (["--preset", "notebook", "--source", "a.de"], "by --source and --target together"),
        (["--preset", "notebook", "--data", "does-not-exist"], "does-not-exist"),
        (["--preset", "copy-task-small", "--device", "abacus"], "abacus"),
        (["--preset", "copy-task-small", "--resume"], "last.safetensors"),
    ],
)
@pytest.mark.heavy
def test_train_refuses_before_it_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    out = tmp_path / "run"
    assert main(["train", *arguments, "--out", str(out)]) == 2
    assert expected in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.subprocess
@pytest.mark.parametrize(
    "numbers",
    [
        [signal.SIGINT],
        [signal.SIGINT] * 3,
        [signal.SIGTERM],
        [getattr(signal, "SIGHUP", signal.SIGTERM)],
        [getattr(signal, "SIGXCPU", signal.SIGTERM)] * 3,
    ],
    ids=lambda numbers: "-".join(number.name for number in numbers),
)
@pytest.mark.slow
def test_a_polite_kill_stops_and_keeps(tmp_path: Path, numbers: list[signal.Signals]) -> None:
    """A terminal, make and a wrapper may each forward one SIGINT; SIGXCPU comes every second."""
    run = tmp_path / "run"
    command = command_line(
        "{} -m augenmerk train --preset copy-task-small --out {}", sys.executable, run
    )
    preexec = None if sys.platform == "win32" else use_default_signals
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, cwd=REPOSITORY, encoding="utf-8", preexec_fn=preexec
    )
    assert process.stderr is not None
    deadline = time.monotonic() + 120
    shown = ""
    while "loss" not in shown and time.monotonic() < deadline:
        shown += process.stderr.read(1)
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.05)
    _, rest = process.communicate(timeout=120)
    assert process.returncode == 0
    assert "Stopped after step" in rest
    assert load_checkpoint(run / "last.safetensors", with_state=True).progress["step"] >= 1
    assert (run / "best.safetensors").exists()


TERMINAL = """
import os, pty, sys, time
folder, *command = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.execv(command[0], command)
shown = b""
while b"validation" not in shown:  # of the first epoch
    shown += os.read(terminal, 1000)
os.close(terminal)
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.subprocess
@pytest.mark.skipif(
    sys.platform == "win32", reason="a terminal that is closed sends SIGHUP on POSIX alone"
)
@pytest.mark.slow
def test_a_terminal_that_is_closed_stops_and_keeps(tmp_path: Path) -> None:
    """The bar cannot be drawn any more, either: writing to the terminal fails from then on."""
    run = tmp_path / "run"
    train = command_line(
        "{} -m augenmerk train --preset copy-task-small --out {}", sys.executable, run
    )
    command = [sys.executable, "-c", TERMINAL, str(run), *train]
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
        preexec_fn=use_default_signals,
    )
    assert done.stdout == "0\n"
    assert read_starts(run)[-1]["reason"] == "stopped"
    assert load_checkpoint(run / "last.safetensors", with_state=True).progress["step"] >= 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGHUP")
def test_signals_of_a_session_that_ends_are_one_request() -> None:
    with stop_on_interrupt() as flag:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGHUP, signal.SIGTERM):
            os.kill(os.getpid(), number)
        assert flag.requested
    with stop_on_interrupt() as flag:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGHUP)
        assert flag.requested


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGHUP")
def test_nohup_keeps_its_meaning() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stop_on_interrupt() as flag:
            os.kill(os.getpid(), signal.SIGHUP)
            assert not flag.requested
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_second_interrupt_acts_at_once() -> None:
    with pytest.raises(KeyboardInterrupt), stop_on_interrupt() as flag:
        os.kill(os.getpid(), signal.SIGINT)
        assert flag == StopFlag(requested=True)
        time.sleep(ECHO_SECONDS)
        os.kill(os.getpid(), signal.SIGINT)


STOPPABLE = """
import hashlib, sys, time
from augenmerk.core.extensions.training.cli.stopping import stop_on_interrupt
with stop_on_interrupt() as flag:
    print("ready", flush=True)
    while not flag.requested:
        time.sleep(0.01)
    if sys.argv[1] == "computes":
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2_000_000)  # Python calls no handler of a signal in here
    else:
        time.sleep(60)
print("kept")
"""


@pytest.fixture
def start_stoppable() -> Iterator[Callable[[str], "subprocess.Popen[str]"]]:
    """Starts a process that waits for a signal, then computes in one long call, or sleeps."""
    with contextlib.ExitStack() as stack:

        def start(what: str) -> "subprocess.Popen[str]":
            command = [sys.executable, "-c", STOPPABLE, what]
            pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            process = stack.enter_context(
                subprocess.Popen(command, cwd=REPOSITORY, text=True, **pipes)
            )
            stack.callback(process.kill)
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            return process

        yield start


def _interrupt_and_wait_for_answer(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    while process.stderr.readline() != "Stopping after this step and saving the model.\n":
        assert process.poll() is None


@pytest.mark.subprocess
@pytest.mark.skipif(sys.platform == "win32", reason="a process of its own cannot be sent SIGINT")
def test_interrupts_in_quick_succession_are_one_even_if_a_long_computation_delays_them(
    start_stoppable: Callable[[str], "subprocess.Popen[str]"],
) -> None:
    process = start_stoppable("computes")
    _interrupt_and_wait_for_answer(process)
    for _ in range(2):
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=60)
    assert (process.returncode, said, errors) == (0, "kept\n", "")


@pytest.mark.subprocess
@pytest.mark.skipif(sys.platform == "win32", reason="a process of its own cannot be sent SIGINT")
def test_a_later_interrupt_ends_the_process_at_once(
    start_stoppable: Callable[[str], "subprocess.Popen[str]"],
) -> None:
    process = start_stoppable("sleeps")
    _interrupt_and_wait_for_answer(process)
    time.sleep(2 * ECHO_SECONDS)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=30)
    assert (process.returncode, said) == (-signal.SIGINT, "")


@pytest.mark.skipif(
    not hasattr(signal, "SIGXCPU"), reason="this system has no limit on processor time"
)
def test_every_signal_about_the_limit_on_processor_time_is_one_request() -> None:
    with stop_on_interrupt() as flag:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGXCPU)
            time.sleep(ECHO_SECONDS)
        assert flag.requested


class FullOutput(io.RawIOBase):
    """Standard output on a full disk."""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_standard_output_on_a_full_disk_is_told(
    untrained_checkpoint: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    full = io.TextIOWrapper(io.BufferedWriter(FullOutput()))
    monkeypatch.setattr(sys, "stdout", full)
    assert main(["translate", SENTENCE, "--checkpoint", str(untrained_checkpoint)]) == 2
    assert sys.stdout is full
    message = capsys.readouterr().err
    assert "augenmerk: the output cannot be written: No space left on device" in message
    assert "Traceback" not in message
    with pytest.raises(OSError, match="No space left"):
        full.close()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EPIPE, errno.EIO])
def test_messages_that_nobody_can_read_change_neither_results_nor_exit_status(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    class Gone(io.TextIOBase):
        def write(self, text: str) -> int:
            raise OSError(number, os.strerror(number))

        def flush(self) -> None:
            self.write("")

    def command() -> int:
        print("note", file=sys.stderr, flush=True)
        print("result")
        raise TextError("refused")

    gone = Gone()
    monkeypatch.setattr(sys, "stderr", gone)
    assert run_guarded(command) == 2
    assert sys.stderr is gone
    assert capsys.readouterr().out == "result\n"


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a folder that is used cannot be removed")
def test_a_folder_that_is_gone_is_no_place_to_start_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert main(["info"]) == 2
    assert "the current folder no longer exists" in capsys.readouterr().err


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_what_an_encoding_has_no_character_for_is_escaped_as_in_json(
    monkeypatch: pytest.MonkeyPatch, errors: str
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii", errors=errors))
    text = "Mädchen 🙂"
    assert run_guarded(lambda: print(json.dumps([text], ensure_ascii=False)) or 0) == 0
    assert json.loads(written.getvalue()) == [text]
    assert run_guarded(lambda: print("\udcff") or 0) == 0
    assert written.getvalue().endswith(b"\\udcff\n")


@pytest.mark.subprocess
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("command", [["translate", SENTENCE], ["analyze", SENTENCE], ["info"]])
@pytest.mark.slow
def test_a_command_whose_output_finds_no_space_ends_with_one_message(
    untrained_checkpoint: Path, command: list[str]
) -> None:
    checkpoint = (
        [str(untrained_checkpoint)]
        if command == ["info"]
        else ["--checkpoint", str(untrained_checkpoint)]
    )
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "augenmerk", *command, *checkpoint],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=REPOSITORY,
            encoding="utf-8",
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith(
        "augenmerk: the output cannot be written: No space left on device."
    )
    assert done.stderr.count("\n") == 1


def test_a_failure_to_write_elsewhere_is_not_taken_for_one_of_the_output() -> None:
    def command() -> int:
        print("so far")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left"):
        run_guarded(command)


@pytest.mark.subprocess
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize(
    "arguments",
    [["translate", "--help"], ["--help"], ["--version"], ["app", "--help"], ["figure", "--help"]],
    ids=" ".join,
)
def test_help_that_finds_no_space_ends_with_one_message(arguments: list[str]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "augenmerk", *arguments]
        done = subprocess.run(
            command,
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=REPOSITORY,
            encoding="utf-8",
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith(
        "augenmerk: the output cannot be written: No space left on device."
    )
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tranlate", "x"], "Did you mean translate?"),
        (["Ein Mann steht."], "To translate a sentence: augenmerk translate SENTENCE."),
        (["--sentence", "Ein Mann steht."], "Put the command before its options."),
    ],
)
def test_what_is_no_command_is_told_with_what_was_meant(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert f"{arguments[0]!r} is not a command. Commands: app, translate, analyze," in told
    assert message in told


@pytest.mark.subprocess
def test_only_the_command_that_is_asked_for_is_imported() -> None:
    imported = modules_imported_by(
        "import augenmerk.core.cli.main as main; main.make_parser(['runs'])"
    )
    assert imported & {subcommand.module for subcommand in SUBCOMMANDS.values()} == {
        SUBCOMMANDS["runs"].module
    }
    assert not imported & {"numpy", "torch", "tqdm"}


@pytest.mark.subprocess
def test_the_list_of_commands_imports_none_of_them() -> None:
    imported = modules_imported_by(
        "import augenmerk.core.cli.main as main; main.make_parser(has_options=False)"
    )
    assert not imported & ({subcommand.module for subcommand in SUBCOMMANDS.values()} | {"numpy"})


def hostile_checkpoint(source: Path, target: Path, text: str) -> Path:
    """The same model, with this text wherever a file may hold one."""
    loaded = load_checkpoint(source)
    run = replace(loaded.run, preset=text, description=text)
    save_checkpoint(replace(loaded, run=run, corpus=text), target)
    return target


def test_info_prints_no_control_character_of_a_file(
    untrained_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = hostile_checkpoint(
        untrained_checkpoint, tmp_path / "hostile.safetensors", "\x1b]0;owned\x07\x9b2J\nfalse line"
    )
    assert main(["info", str(path)]) == 0
    told = capsys.readouterr().out
    assert not [
        character
        for character in told
        if unicodedata.category(character) == "Cc" and character != "\n"
    ]
    assert "\nfalse line" not in told
    assert r"trained on  \u001b]0;owned\u0007\u009b2J\nfalse line" in told
    assert re.search(r"encoder layer 1 +\d", told)
    assert "_layers." not in told


def test_a_language_that_is_a_module_of_spacy_is_refused(
    untrained_checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lexical.safetensors"
    content = untrained_checkpoint.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = content[8 : 8 + length].replace(
        b'source_language\\": \\"de\\"', b'source_language\\": \\"lex_attrs\\"'
    )
    assert len(header) == length + 7
    header += b" " * (-len(header) % 8)
    path.write_bytes(len(header).to_bytes(8, "little") + header + content[8 + length :])
    message = refused(capsys, "translate", SENTENCE, "--checkpoint", str(path))
    assert "source_language is 'lex_attrs'. Use a language code such as de or en" in message


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    told = capsys.readouterr().out
    for name in ("translate", "train", "evaluate", "data", "info"):
        assert name in told


def test_an_interrupt_while_the_bar_writes_only_asks_to_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class InterruptedWhileWriting(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            signal.raise_signal(signal.SIGINT)
            return len(data)

    monkeypatch.setattr(
        sys, "stderr", io.TextIOWrapper(io.BufferedWriter(InterruptedWhileWriting()))
    )
    with stop_on_interrupt() as flag:
        print("the bar", file=sys.stderr, flush=True)
        assert flag.requested
    monkeypatch.undo()


@pytest.mark.subprocess
@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot send itself SIGINT")
def test_an_interrupted_command_that_is_interrupted_again_at_its_end_prints_no_traceback() -> None:
    program = """
import atexit, os, signal
from augenmerk.core.cli.command import INTERRUPTED, leave

atexit.register(os.kill, os.getpid(), signal.SIGINT)
leave(INTERRUPTED)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (130, "")


def test_an_interrupt_while_a_library_writes_an_archive_ends_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every call that writing makes, also where `zipfile` then raises an error of its own."""
    # Python drops an interrupt in a destructor; the command then goes on
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: None)
    arrays = {"weights": np.zeros((2, 3)), "tokens": np.array(["a", "b"])}
    calls = 0

    def write_interrupted(moment: int, path: Path) -> int:
        nonlocal calls
        calls = 0

        def interrupt(*_: object) -> None:
            nonlocal calls
            calls += 1
            if calls == moment:
                sys.setprofile(None)
                raise KeyboardInterrupt

        sys.setprofile(interrupt)
        try:
            write_arrays(arrays, path)
        finally:
            sys.setprofile(None)
        return 0

    num_interrupted = 0
    for moment in itertools.count(1):
        path = tmp_path / f"{moment}.npz"
        status = run_guarded(partial(write_interrupted, moment, path))
        errors = capsys.readouterr().err
        assert (status, errors) in ((130, "augenmerk: interrupted\n"), (0, ""))
        if status == 0:
            assert np.load(path).files == list(arrays)
        if calls < moment:
            break
        num_interrupted += status == 130
    assert num_interrupted > 0.9 * (moment - 1)


def test_an_error_that_follows_another_error_is_no_interrupt() -> None:
    def fail() -> int:
        try:
            raise KeyError("first")
        except KeyError:
            raise ZeroDivisionError("second") from None

    with pytest.raises(ZeroDivisionError):
        run_guarded(fail)


@pytest.mark.subprocess
def test_a_command_leaves_without_freeing_one_by_one() -> None:
    program = """
import atexit
from augenmerk.core.cli.command import leave

class Loaded:
    def __del__(self):
        print("freed")

loaded = Loaded()
atexit.register(print, "registered")
print("written")
leave(3)
"""
    done = run_process([sys.executable, "-c", program])
    assert (done.returncode, done.stdout, done.stderr) == (3, "written\nregistered\n", "")


@pytest.mark.subprocess
def test_a_command_waits_for_a_thread_before_it_leaves() -> None:
    program = """
import threading, time
from augenmerk.core.cli.command import leave

threading.Thread(target=lambda: (time.sleep(0.3), print("done"))).start()
leave(3)
"""
    done = run_process([sys.executable, "-c", program])
    assert (done.returncode, done.stdout) == (3, "done\n")


@pytest.mark.subprocess
def test_an_interrupt_after_the_work_is_done_prints_no_traceback() -> None:
    program = """
import atexit, os, signal
from augenmerk.core.cli.command import leave

atexit.register(os.kill, os.getpid(), signal.SIGINT)
leave(0)
"""
    done = run_process([sys.executable, "-c", program])
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.subprocess
def test_a_command_of_the_process_leaves_so(tmp_path: Path) -> None:
    program = f"""
import runpy, sys
from augenmerk.viz_app import launch

launch.leave = lambda status: sys.exit(40 + status)
sys.argv = ["augenmerk", "runs", {str(tmp_path)!r}]
runpy.run_module("augenmerk", run_name="__main__")
"""
    done = run_process([sys.executable, "-c", program])
    # as the guard was told, and not by itself
    assert done.returncode >= 40, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.subprocess
def test_logs_that_torch_does_not_know_are_told() -> None:
    done = run_process(
        [sys.executable, "-m", "augenmerk", "translate", SENTENCE],
        env={**os.environ, "TORCH_LOGS": "nonsense"},
    )
    assert done.returncode == 2
    assert "TORCH_LOGS=nonsense" in done.stderr
    assert "Traceback" not in done.stderr
