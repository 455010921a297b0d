"""A stream of sentences: each line is answered as it is done, in order; one that is refused ends
nothing.
"""

import gc
import io
import json
import os
import re
import subprocess
import sys
import threading
import time
import tracemalloc
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.cli.lines import arriving_lines, run_lines
from augenmerk.core.cli.main import main
from augenmerk.core.errors import CorpusError
from augenmerk.core.extensions.training.corpora.parallel import read_lines
from augenmerk.core.plain_text import MAX_LINE_CHARACTERS
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.translator import Translator
from tests.builders import command_line

REPOSITORY = Path(__file__).resolve().parents[3]
SENTENCES = ["Ein Mann steht auf einer Leiter.", "ein hund .", "Leiter", "Ein Mann steht."]


@pytest.fixture
def set_input(monkeypatch: pytest.MonkeyPatch):
    """A function that makes a text the standard input."""
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


def stream(data: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")


def test_lines_are_cut_at_any_line_end_wherever_the_bytes_are_cut() -> None:
    data = "\ufeffeins\r\nzwei\u2028noch zwei\r\r\nvier ä😀\n\n\x85sechs\x0c".encode()
    expected = ["eins", "zwei\u2028noch zwei", "", "vier ä😀", "", "\x85sechs\x0c"]

    class InPieces(io.BytesIO):
        def read1(self, size: int | None = -1) -> bytes:
            return super().read1(3)

    whole = [line for lines in arriving_lines(stream(data)) for line in lines]
    wrapped = io.TextIOWrapper(InPieces(data), encoding="utf-8")
    assert whole == [line for lines in arriving_lines(wrapped) for line in lines] == expected
    assert [
        line for lines in arriving_lines(io.StringIO(data.decode())) for line in lines
    ] == expected
    assert list(arriving_lines(stream(b""))) == []


NOT_UTF_8 = {
    "Latin-1": (
        "Ein Mann.\nZwei M\xe4nner.\nDrei.\n".encode("latin-1"),
        "byte 7 of line 2 is 0xe4",
        1,
    ),
    "UTF-16 with a mark": (
        b"\xff\xfe" + "Ein Mann.\n".encode("utf-16-le"),
        "byte 1 of line 1 is 0xff",
        0,
    ),
    "UTF-16 without a mark": (
        "Ein Mann.\nZwei.\n".encode("utf-16-le"),
        "UTF-16: line 1 contains a zero byte",
        0,
    ),
    "a letter cut in two": ("eins\nzwei\nÄ".encode()[:-1], "byte 1 of line 3 is 0xc3", 2),
}


def test_later_batches_keep_no_more_objects_than_earlier_ones(
    untrained_checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Maps of a batch take much memory, so they are gone before the next one begins."""
    monkeypatch.setattr("augenmerk.core.cli.lines.NUM_TOGETHER", 4)
    translator = Translator.load(untrained_checkpoint, "cpu")
    translations: list[weakref.ref[Translation]] = []
    num_alive, num_objects = [], []

    def arriving() -> Iterator[list[str]]:
        for _ in range(8):
            yield SENTENCES
            gc.collect()
            num_alive.append(sum(translation() is not None for translation in translations))
            translations.clear()
            num_objects.append(len(gc.get_objects()))

    for outcome in run_lines(translator, arriving(), Experiment("")):
        assert outcome.translation is not None
        translations.append(weakref.ref(outcome.translation))
    assert set(num_alive) == {1}, "the last one of each batch, which the loop still has"
    # a lazy import or cache may add one at any time; each sentence of five batches would add more
    assert num_objects[-1] < num_objects[2] + 5, num_objects


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize("name", NOT_UTF_8)
def test_a_stream_in_another_encoding_is_refused_like_a_file_after_the_lines_before(
    tmp_path: Path, name: str, encoding: str
) -> None:
    data, message, num_before = NOT_UTF_8[name]
    lines: list[str] = []
    with pytest.raises(CorpusError, match=message) as refused:
        for group in arriving_lines(io.TextIOWrapper(io.BytesIO(data), encoding=encoding)):
            lines += group
    assert len(lines) == num_before
    assert "Standard input" in str(refused.value)
    (tmp_path / "same").write_bytes(data)
    with pytest.raises(CorpusError, match=message):
        read_lines(tmp_path / "same")


def test_the_encoding_of_the_terminal_does_not_count() -> None:
    latin = io.TextIOWrapper(io.BytesIO("Männer\n".encode()), encoding="latin-1")
    assert list(arriving_lines(latin)) == [["Männer"]]


@pytest.mark.parametrize(
    "command",
    [
        ["translate", "-"],
        ["translate", "-", "--json"],
        ["translate", "-", "--jsonl"],
        ["translate", "-", "--target", "a man ."],
        ["analyze", "-"],
        ["analyze", "-", "--statistics"],
        ["align", "--text", "-", "--head", "cross:1:1"],
        ["figure", "--text", "-", "--out", "map.html"],
    ],
    ids=" ".join,
)
def test_every_command_refuses_standard_input_in_another_encoding(
    untrained_checkpoint: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys,
    command: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", stream("M\xe4nner\n".encode("latin-1")))
    arguments = [*command, "--checkpoint", str(untrained_checkpoint)]
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "Standard input cannot be read: it is not UTF-8: byte 2 of line 1 is 0xe4" in output.err
    assert not list(tmp_path.iterdir())


def test_lines_before_one_in_another_encoding_are_answered(
    untrained_checkpoint: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr("sys.stdin", stream("Ein Mann.\nM\xe4nner\nLeiter\n".encode("latin-1")))
    assert main(["translate", "-", "--jsonl", "--checkpoint", str(untrained_checkpoint)]) == 2
    output = capsys.readouterr()
    (line,) = output.out.splitlines()
    assert json.loads(line)["source"] == "Ein Mann."
    assert "byte 2 of line 2 is 0xe4" in output.err


@pytest.mark.heavy
def test_a_line_without_an_end_takes_no_memory_and_the_next_ones_are_read() -> None:
    class Endless(io.RawIOBase):
        num_bytes = 5_000_000

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: bytearray) -> int:
            num_bytes = min(len(buffer), self.num_bytes)
            self.num_bytes -= num_bytes
            buffer[:num_bytes] = ("ä" * num_bytes).encode()[:num_bytes]
            return num_bytes or os.readv(reading, [buffer])

    reading, writing = os.pipe()
    os.write(writing, b"\nzwei\ndrei")
    os.close(writing)
    tracemalloc.start()
    first, second, third = (
        line
        for lines in arriving_lines(
            io.TextIOWrapper(io.BufferedReader(Endless()), encoding="utf-8")
        )
        for line in lines
    )
    assert tracemalloc.get_traced_memory()[1] < 2_500_000
    tracemalloc.stop()
    os.close(reading)
    assert MAX_LINE_CHARACTERS < len(first) <= 2 * MAX_LINE_CHARACTERS
    assert set(first) == {"ä"}, "no letter is cut in two"
    assert (second, third) == ("zwei", "drei")


@pytest.mark.parametrize(
    "command",
    [["analyze", "-", "--out", "maps.json"], ["align", "--head", "cross:1:1", "--text", "-"]],
)
def test_a_huge_sentence_is_refused(
    untrained_checkpoint: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("a" * 300_000))
    assert main([*command, "--checkpoint", str(untrained_checkpoint)]) == 2
    assert "The text has more than 20,000 characters" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "problem"),
    [("a" * 1_000_000, "more than 20,000 characters"), ("ab " * 333_333, "more than 1,000 words")],
)
def test_a_line_of_which_only_the_beginning_was_kept_is_not_counted(
    untrained_checkpoint: Path,
    set_input,
    capsys: pytest.CaptureFixture[str],
    line: str,
    problem: str,
) -> None:
    set_input(line + "\n")
    assert main(["translate", "-", "--checkpoint", str(untrained_checkpoint)]) == 2
    assert f"line 1: The text has {problem}. " in capsys.readouterr().err


def test_lines_that_have_arrived_are_there_before_others_are_written() -> None:
    reading, writing = os.pipe()
    with (
        os.fdopen(reading, encoding="utf-8") as source,
        os.fdopen(writing, "wb", buffering=0) as sink,
    ):
        sink.write(b"eins\nzwei\ndr")
        arriving = arriving_lines(source)
        assert next(arriving) == ["eins", "zwei"]
        sink.write(b"ei\n")
        assert next(arriving) == ["drei"]
        sink.close()
        assert list(arriving) == []


@pytest.mark.heavy
def test_each_sentence_is_a_line_of_json_with_its_maps(
    untrained_checkpoint: Path, tmp_path: Path, set_input, capsys
) -> None:
    set_input("\n".join(SENTENCES))
    folder = tmp_path / "new" / "maps"
    arguments = ["translate", "-", "--jsonl", "--attention", str(folder), "--head-off", "cross:1:1"]
    assert main([*arguments, "--checkpoint", str(untrained_checkpoint)]) == 0
    results = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [values["source"] for values in results] == SENTENCES
    assert sorted(path.name for path in folder.iterdir()) == [
        *(f"{number:06d}.npz" for number in (1, 2, 3, 4)),
        "lines.jsonl",
    ]
    translator = Translator.load(untrained_checkpoint)
    for values in results:
        assert len(values["interventions"]) == 1
        experiment = Experiment(values["source"], interventions=_off())
        expected = translator.run(experiment)
        assert values["predicted_tokens"] == list(expected.predicted_tokens)
        with np.load(values["attention"], allow_pickle=False) as arrays:
            np.testing.assert_allclose(arrays["cross"], expected.maps.cross, atol=1e-5)
            assert arrays["source_tokens"].tolist() == values["source_tokens"]


@pytest.mark.heavy
def test_a_folder_holds_the_maps_of_one_run(
    untrained_checkpoint: Path, tmp_path: Path, set_input, capsys
) -> None:
    folder = tmp_path / "maps"
    folder.mkdir()
    (folder / "notes.txt").write_bytes(b"of the user")
    command = command_line(
        "translate - --jsonl --attention {} --checkpoint {}", folder, untrained_checkpoint
    )
    set_input("\n".join(SENTENCES))
    assert main(command) == 0
    before = {path: path.read_bytes() for path in folder.iterdir()}
    set_input("Leiter\n")
    capsys.readouterr()
    assert main(command) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert (
        f"{folder} already contains 000001.npz, perhaps the maps of another run. Continue an "
        "interrupted one with --resume, choose an empty or" in output.err
    )
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.heavy
@pytest.mark.parametrize("num_together", [1, 2, 4])
def test_an_interrupted_run_into_a_folder_is_continued(
    untrained_checkpoint: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    num_together: int,
) -> None:
    lines = ["Ein Mann.", "", *SENTENCES, " "]
    command = ["translate", "-", "--jsonl", "--checkpoint", str(untrained_checkpoint)]

    def printed(text: str, *options: str) -> list[str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        monkeypatch.setattr("augenmerk.core.cli.lines.NUM_TOGETHER", num_together)
        main([*command, "--attention", *options])
        lines = capsys.readouterr().out.splitlines()
        return [re.sub(r'"(seconds|attention)": [^,}]*', "", line) for line in lines]

    whole_folder, folder = tmp_path / "whole", tmp_path / "parts"
    text = "\n".join(lines)
    whole = printed(text, str(whole_folder))
    assert printed(text, str(folder)) == whole
    written = (folder / "lines.jsonl").read_bytes().splitlines(keepends=True)
    last_number = len(lines) - 1
    for num_done in (0, 1, 3):  # the run was killed before it had written the next line in full
        (folder / "lines.jsonl").write_bytes(b"".join(written[:num_done]) + written[num_done][:9])
        (folder / f"{last_number:06d}.npz").unlink()
        half = folder / f".{last_number:06d}.npz.v3h18vel.part"
        half.touch()
        assert printed(text, str(folder), "--resume") == whole[num_done:], "to the last digit"
        assert not half.exists()
        for path in whole_folder.glob("*.npz"):
            with np.load(path) as expected, np.load(folder / path.name) as arrays:
                assert arrays.files == expected.files
                for name in expected.files:
                    np.testing.assert_array_equal(arrays[name], expected[name])
        lines_of = [
            [json.loads(line)["source"] for line in path.read_text("utf-8").splitlines()]
            for path in (whole_folder / "lines.jsonl", folder / "lines.jsonl")
        ]
        assert lines_of[0] == lines_of[1] == lines
    names = [sorted(path.name for path in place.iterdir()) for place in (whole_folder, folder)]
    assert names[0] == names[1]
    assert "000002.npz" not in names[0], "a refused line has no maps"
    assert printed(text, str(folder), "--resume") == [], "all is done"


@pytest.mark.heavy
def test_a_run_is_only_continued_with_the_same_input_model_and_options(
    untrained_checkpoint: Path, tmp_path: Path, set_input, capsys
) -> None:
    folder = tmp_path / "maps"
    command = ["translate", "-", "--jsonl", "--checkpoint", str(untrained_checkpoint)]
    command += ["--attention", str(folder)]

    def refusal(lines: Sequence[str], *options: str) -> str:
        set_input("\n".join(lines))
        before = {path: path.read_bytes() for path in folder.iterdir()}
        assert main([*command, "--resume", *options]) == 2
        assert {path: path.read_bytes() for path in folder.iterdir()} == before
        output = capsys.readouterr()
        assert output.out == ""
        return output.err

    set_input("\n".join(SENTENCES))
    assert main([*command, "--resume"]) == 0, "nothing is there yet"
    capsys.readouterr()
    told = refusal([SENTENCES[0], "Leiter", *SENTENCES[2:]])
    assert f"Line 2 is “Leiter”, but was “{SENTENCES[1]}” in the run to be continued." in told
    told = refusal(SENTENCES[:-1])
    assert f"Line {len(SENTENCES)} is missing, but was “{SENTENCES[-1]}” in the run" in told
    assert "other options for decoding or other changes" in refusal(SENTENCES, "--beam", "2")
    assert "other changes" in refusal(SENTENCES, "--head-off", "cross:1")
    path = folder / "lines.jsonl"
    content = path.read_text("utf-8")
    path.write_text(re.sub('"digest": "[^"]*"', '"digest": "ab"', content), "utf-8")
    assert "is by another model than untrained" in refusal(SENTENCES)
    for damaged in ("damaged\n", "[]\n", '{"source": 1}\n', '{"translation": "a"}\n'):
        path.write_text(damaged, "utf-8")
        told = refusal(SENTENCES)
        assert "is not a file of an earlier run" in told or "Line 1 is" in told
    path.unlink()
    assert "already contains 000001.npz" in refusal(SENTENCES)
    assert main([*command[:-2], "--resume"]) == 2
    assert "Add both" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["two.npz", "TWO.NPZ"])
def test_a_folder_with_maps_under_any_name_is_refused(
    untrained_checkpoint: Path, tmp_path: Path, set_input, capsys, name: str
) -> None:
    checkpoint = ["--checkpoint", str(untrained_checkpoint)]
    assert (
        main(
            [
                *command_line(
                    "translate {} --attention {}", SENTENCES[0], tmp_path / "maps" / "two.npz"
                ),
                *checkpoint,
            ]
        )
        == 0
    )
    (tmp_path / "maps" / "two.npz").rename(tmp_path / "maps" / name)
    capsys.readouterr()
    set_input(SENTENCES[1])
    assert (
        main(["translate", "-", "--jsonl", "--attention", str(tmp_path / "maps"), *checkpoint]) == 2
    )
    output = capsys.readouterr()
    assert output.out == ""
    assert (
        f"already contains {name}, perhaps the maps of another run. Continue an interrupted one "
        "with --resume, choose an empty or new folder" in output.err
    )


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.subprocess
def test_of_two_runs_into_an_empty_folder_one_is_refused(
    untrained_checkpoint: Path, tmp_path: Path, set_input, capsys
) -> None:
    folder = tmp_path / "maps"
    command = command_line(
        "translate - --jsonl --attention {} --checkpoint {}", folder, untrained_checkpoint
    )
    first = subprocess.Popen(
        [sys.executable, "-m", "augenmerk", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=REPOSITORY,
    )
    assert first.stdin is not None
    deadline = time.monotonic() + 30
    while not (folder / "run.lock").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    set_input("Leiter\n")
    assert main(command) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert f"Another translation is running in {folder} (process {first.pid} on" in output.err
    printed, _ = first.communicate("\n".join(SENTENCES).encode(), timeout=60)
    assert first.returncode == 0
    assert [json.loads(line)["source"] for line in printed.splitlines()] == SENTENCES
    files = sorted(path.name for path in folder.iterdir())
    assert files == [*(f"{number:06d}.npz" for number in range(1, 5)), "lines.jsonl"]


def _off():  # type: ignore[no-untyped-def]
    from augenmerk.core.model.heads import Head
    from tests.interventions import heads_switched_off

    return heads_switched_off([Head("cross", 0, 0)])


def test_refused_lines_have_an_error_and_the_others_are_done(
    untrained_checkpoint: Path, set_input, capsys
) -> None:
    lines = [SENTENCES[0], "", "Wort " * 1_001, " \t", "Leiter Mann."]
    set_input("\n".join(lines) + "\n")
    assert main(["translate", "-", "--jsonl", "--checkpoint", str(untrained_checkpoint)]) == 2
    output = capsys.readouterr()
    results = [json.loads(line) for line in output.out.splitlines()]
    assert [values["source"] for values in results] == lines
    assert ["error" in values for values in results] == [False, True, True, True, False]
    assert "the text is empty" in results[1]["error"]
    assert "more than 1,000 words" in results[2]["error"]
    assert "3 of 5 lines were refused (number 2, 3, 4)" in output.err


def test_an_intervention_that_does_not_fit_one_line_refuses_that_line(
    untrained_checkpoint: Path, set_input, capsys
) -> None:
    set_input("Ein Mann steht.\nMann\n")
    arguments = command_line(
        "translate - --jsonl --remove-word 3 --checkpoint {}", untrained_checkpoint
    )
    assert main(arguments) == 2
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert first["source_tokens"] == ["<sos>", "ein", "mann", ".", "<eos>"]
    assert "word 2" in second["error"], "JSON counts from 0"
    set_input("Ein Mann steht.\nMann\n")
    assert main([*arguments, "--head-off", "cross:9:9"]) == 2
    output = capsys.readouterr()
    assert (output.out, "no cross layer 9 head 9" in output.err) == ("", True), (
        "no line can have this head"
    )


def test_plain_lines_stay_beside_each_other(untrained_checkpoint: Path, set_input, capsys) -> None:
    lines = ["", SENTENCES[0], "Wort " * 1_001, "", SENTENCES[1]]
    set_input("\n".join(lines) + "\n")
    assert main(["translate", "-", "--checkpoint", str(untrained_checkpoint)]) == 2
    output = capsys.readouterr()
    translated = output.out.splitlines()
    assert [bool(line) for line in translated] == [False, True, False, False, True]
    assert "augenmerk: line 3: The text has more than 1,000 words" in output.err
    assert "1 of 5 lines was refused (number 3)" in output.err
    assert main(["translate", SENTENCES[0], "--checkpoint", str(untrained_checkpoint)]) == 0
    assert capsys.readouterr().out.splitlines() == [translated[1]]


@pytest.mark.parametrize("text", ["", "\n", " \n\n"])
@pytest.mark.parametrize("form", [[], ["--json"], ["--jsonl"]])
def test_nothing_at_all(
    untrained_checkpoint: Path, set_input, capsys, text: str, form: list[str]
) -> None:
    set_input(text)
    status = main(["translate", "-", *form, "--checkpoint", str(untrained_checkpoint)])
    output = capsys.readouterr()
    if form == ["--jsonl"]:
        lines = output.out.splitlines()
        assert (status, len(lines)) == (2 if text else 0, text.count("\n"))
        assert all("is empty" in json.loads(line)["error"] for line in lines)
    else:
        assert status == 2
        assert "There is nothing to translate" in output.err


def test_a_list_of_json_holds_errors_too(untrained_checkpoint: Path, set_input, capsys) -> None:
    set_input(f"{SENTENCES[0]}\n\n{'Wort ' * 1_001}\n\n\n")
    assert main(["translate", "-", "--json", "--checkpoint", str(untrained_checkpoint)]) == 2
    first, second, third = json.loads(capsys.readouterr().out)
    assert (first["source"], second, "more than 1,000 words" in third["error"]) == (
        SENTENCES[0],
        None,
        True,
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["translate", "-", "--jsonl", "--target", "a man ."], "Use --json instead"),
        (
            ["translate", "-", "--target", "a man ."],
            "Standard input has 2 lines, but --target can only be used with one sentence",
        ),
        (
            ["translate", "-", "--attention", "maps.npz"],
            "--attention can only be used with one sentence",
        ),
        (["analyze", "-", "--out", "x.json"], "--out can only be used with one sentence"),
        (["analyze", "-", "--statistics"], "--statistics can only be used with one sentence"),
        (["analyze", "-", "--target", "a man ."], "--target can only be used with one sentence"),
    ],
)
def test_what_is_about_one_sentence_refuses_several(
    untrained_checkpoint: Path,
    tmp_path: Path,
    monkeypatch,
    set_input,
    capsys,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    set_input("Ein Mann.\nZwei.\n")
    assert main([*arguments, "--checkpoint", str(untrained_checkpoint)]) == 2
    output = capsys.readouterr()
    assert message in output.err
    assert output.out == ""
    assert not list(tmp_path.iterdir())


def test_one_line_of_standard_input_can_be_a_dash(
    untrained_checkpoint: Path, set_input, capsys
) -> None:
    for text in ("-", "\n-\n\n"):
        set_input(text)
        assert (
            main(
                command_line(
                    "translate - --target {} --json --checkpoint {}",
                    "a man .",
                    untrained_checkpoint,
                )
            )
            == 0
        )
        assert json.loads(capsys.readouterr().out)["source"] == "-"


def test_numbers_of_each_line(untrained_checkpoint: Path, set_input, capsys) -> None:
    set_input("\n".join([*SENTENCES[:2], "", "?!"]))
    checkpoint = ["--checkpoint", str(untrained_checkpoint)]
    assert main(["analyze", "-", "--hide", "start", "end", "punctuation", *checkpoint]) == 2
    output = capsys.readouterr()
    results = [json.loads(line) for line in output.out.splitlines()]
    assert [values["source"] for values in results] == [*SENTENCES[:2], "", "?!"]
    assert "hides every row" in results[3]["error"]
    assert "is empty" in results[2]["error"]
    assert "2 of 4 lines were refused (number 3, 4)" in output.err
    for values in results[:2]:
        assert (
            main(
                ["analyze", values["source"], "--hide", "start", "end", "punctuation", *checkpoint]
            )
            == 0
        )
        alone = json.loads(capsys.readouterr().out)
        assert set(alone) == set(values)
        np.testing.assert_allclose(values["cross"], alone["cross"], atol=1e-5)
        assert values["predicted_tokens"] == alone["predicted_tokens"]


@pytest.mark.subprocess
@pytest.mark.slow
def test_a_slow_writer_gets_each_answer_before_it_writes_on(untrained_checkpoint: Path) -> None:
    command = command_line(
        "{} -m augenmerk translate - --jsonl --checkpoint {}", sys.executable, untrained_checkpoint
    )
    with subprocess.Popen(
        command,
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        bufsize=1,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        watch = threading.Timer(120, process.kill)
        watch.start()
        try:
            for sentence in SENTENCES:
                process.stdin.write(sentence + "\n")
                process.stdin.flush()
                assert json.loads(process.stdout.readline())["source"] == sentence
            process.stdin.close()
            assert process.stdout.read() == ""
            assert process.wait() == 0
        finally:
            watch.cancel()
            watch.join()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.heavy
@pytest.mark.parametrize("form", [["--jsonl"], ["--json"], []])
def test_lines_of_standard_input_show_progress_with_a_rate(
    form: list[str],
    untrained_checkpoint: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdin", io.StringIO("Ein Mann.\n" * 3))
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main(["translate", "-", *form, "--checkpoint", str(untrained_checkpoint)]) == 0
    assert " sentences/s]" in terminal.getvalue() or "s/ sentences]" in terminal.getvalue()
    assert "sentences/s" not in capsys.readouterr().out


@pytest.mark.heavy
def test_results_in_a_terminal_are_not_mixed_with_progress(
    untrained_checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(sys, stream, terminal)
    monkeypatch.setattr(sys, "stdin", io.StringIO("Ein Mann.\n" * 3))
    assert main(["translate", "-", "--jsonl", "--checkpoint", str(untrained_checkpoint)]) == 0
    assert "sentences" not in terminal.getvalue().replace("sentences are", "")
