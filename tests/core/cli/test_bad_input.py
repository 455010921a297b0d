"""Whatever is wrong is refused with a message before anything is overwritten; what ends a run can
be gone on from.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.config import RunConfig
from augenmerk.core.extensions.run_settings.toml_file import to_toml
from augenmerk.core.extensions.training.corpora.prepared import save_prepared
from augenmerk.core.extensions.training.folder import locked
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.run_files import LAST
from tests.builders import first_quick
from tests.core.extensions.training.runs import copy_run, text_corpus, text_run

pytestmark = pytest.mark.training

Train = Callable[..., int]


def settings_file(folder: Path, run: RunConfig, *replacements: tuple[str, str]) -> str:
    """A file of settings; each pair of texts is (what is to be replaced, with what)."""
    text = to_toml(run)
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    path = folder / "settings.toml"
    path.write_text(text)
    return str(path)


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def train(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Train:
    """The command, for the run in the folder `run`."""

    def run(*arguments: str, data: Path | None = None) -> int:
        capsys.readouterr()
        more = [] if data is None else ["--data", str(data)]
        return main(["train", *arguments, *more, "--out", str(tmp_path / "run"), "--device", "cpu"])

    return run


RUN = copy_run(num_epochs=2, sample_size=0, schedule="constant", learning_rate=1e-3)
RATE = "learning_rate = 0.001"
WRONG_FILES: dict[str, tuple[list[tuple[str, str]], str, str]] = {
    "unknown key": ([(RATE, "learning_rte = 0.001")], "no setting 'learning_rte'", "learning_rate"),
    "rate 0": ([(RATE, "learning_rate = 0")], "learning_rate is 0", "a number greater than 0"),
    "rate -1": ([(RATE, "learning_rate = -1")], "learning_rate is -1", "a number greater than 0"),
    "heads": (
        [("num_heads = 2", "num_heads = 3")],
        "The width (16) must be a multiple of the number of heads (3)",
        "heads",
    ),
    "batch": (
        [("batch_size = 8", "batch_size = 57")],
        "training.batch_size was 8 and is now 57",
        "another folder",
    ),
    "architecture": (
        [("width = 16", "width = 32")],
        "model.width was 16 and is now 32",
        "another folder",
    ),
    "symbols": (
        [("copy_symbols = 10", "copy_symbols = 9")],
        "data.copy_symbols was 10",
        "another folder",
    ),
}
"""What is wrong in the file, and two parts of the message: what was given, and what was expected or
can be done."""


@pytest.mark.parametrize("mistake", first_quick(WRONG_FILES))
def test_a_wrong_setting_is_refused_and_the_run_stays_byte_for_byte(
    tmp_path: Path, train: Train, capsys: pytest.CaptureFixture[str], mistake: str
) -> None:
    assert train("--config", settings_file(tmp_path, RUN), "--max-steps", "3") == 0
    before = files(tmp_path / "run")
    replacements, quoted, to_do = WRONG_FILES[mistake]
    wrong = settings_file(tmp_path, RUN, *replacements)
    assert train("--config", wrong, "--resume") == 2
    told = capsys.readouterr().err
    assert quoted in told
    assert to_do in told
    assert "Traceback" not in told
    assert files(tmp_path / "run") == before
    assert train("--config", wrong) == 2, "nor is anything begun over it"
    assert files(tmp_path / "run") == before
    assert train("--resume") == 0, "it can be resumed as it was"


def test_another_vocabulary_is_refused_and_the_run_stays_byte_for_byte(
    tmp_path: Path, train: Train, capsys: pytest.CaptureFixture[str]
) -> None:
    run = text_run(num_epochs=1, sample_size=0, batch_size=8)
    config = settings_file(tmp_path, run)
    own, other = tmp_path / "own.safetensors", tmp_path / "other.safetensors"
    save_prepared(text_corpus(run), own)
    save_prepared(text_corpus(run, number=9), other)
    assert train("--config", config, "--max-steps", "2", data=own) == 0
    before = files(tmp_path / "run")
    assert train("--config", config, "--resume", data=other) == 2
    told = capsys.readouterr().err
    assert (
        f"{other} is not the data of this run, which is {own}: it even has another vocabulary"
        in told
    )
    assert "Resume with the original data" in told
    assert files(tmp_path / "run") == before
    assert train("--config", config, "--resume", data=own) == 0


@pytest.mark.parametrize("more", [[], ["--resume"]])
def test_two_trainings_at_once_into_one_folder_are_refused(
    tmp_path: Path, train: Train, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    config = settings_file(tmp_path, RUN)
    if more:
        assert train("--config", config, "--max-steps", "3") == 0
    with locked(tmp_path / "run"):
        before = files(tmp_path / "run")
        assert train("--config", config, *more) == 2
        told = capsys.readouterr().err
        assert f"Another training is running in {tmp_path / 'run'} (process" in told
        assert "Wait until it has ended, stop it, or choose another folder" in told
        assert files(tmp_path / "run") == before
    assert train("--config", config, *more) == 0


def proposed(told: str) -> list[str]:
    """The options that the message says to go on with."""
    match = re.search(r"--resume( --change \S+=[^\s.]+(\.\d+)?)+", told)
    assert match, told
    return match[0].split()


def test_an_absurd_rate_ends_in_a_proposal_and_the_last_good_checkpoint_stands(
    tmp_path: Path, train: Train, capsys: pytest.CaptureFixture[str]
) -> None:
    """The weights overflow within a step; saving after each one must not replace good weights by
    such.
    """
    config = settings_file(tmp_path, RUN)
    assert train("--config", config, "--max-steps", "7") == 0
    good = (tmp_path / "run" / LAST).read_bytes()
    assert (
        train(
            "--resume",
            "--max-steps",
            "99",
            "--checkpoint-steps",
            "1",
            "--change",
            "learning_rate=1e39",
        )
        == 2
    )
    told = capsys.readouterr().err
    assert "values that are not finite" in told
    assert f"Resume from step 7 ({LAST}) with a learning rate of 5e+38 instead of 1e+39" in told
    assert "Traceback" not in told
    assert (tmp_path / "run" / LAST).read_bytes() == good
    options = proposed(told)
    assert options == ["--resume", "--change", "learning_rate=5e+38", "--change", "clip_norm=1"]
    assert train("--max-steps", "99", *options) == 2, "still absurd, and said so again"
    assert "a learning rate of 2.5e+38" in capsys.readouterr().err
    assert (tmp_path / "run" / LAST).read_bytes() == good
    assert (
        train(
            "--max-steps",
            "99",
            "--resume",
            "--change",
            "learning_rate=0.001",
            "--change",
            "clip_norm=1",
        )
        == 0
    )
    assert load_checkpoint(tmp_path / "run" / LAST, with_state=True).progress["step"] == 14


def test_memory_used_up_in_a_forward_pass_ends_in_a_proposal_that_works(
    tmp_path: Path,
    train: Train,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forward, largest = Transformer.hidden_states, 8

    def hidden_states(self: Transformer, source: torch.Tensor, *others: Any) -> torch.Tensor:
        if (
            self.training
            and len(source) >= largest
            and forward_calls.append(1) is None
            and len(forward_calls) > 3
        ):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
        return forward(self, source, *others)

    forward_calls: list[int] = []
    monkeypatch.setattr(Transformer, "hidden_states", hidden_states)
    assert train("--config", settings_file(tmp_path, RUN), "--checkpoint-steps", "2") == 2
    told = capsys.readouterr().err
    assert (
        "At step 4 there was not enough memory (CUDA out of memory. Tried to allocate 20.00 GiB.)"
        in told
    )
    assert f"Resume from step 2 ({LAST}) with a batch size of 4 instead of 8" in told
    assert "Traceback" not in told
    assert train(*proposed(told)) == 0
    assert load_checkpoint(tmp_path / "run" / LAST).run.training.batch_size == 4
