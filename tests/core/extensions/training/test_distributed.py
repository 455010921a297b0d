"""Two processes that train one model: the same losses as one, one of them speaks and writes, both
end together."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import torch

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.errors import ConfigError, DeviceError
from augenmerk.core.extensions.training.distributed import SINGLE_PROCESS, World, process_group
from augenmerk.core.extensions.training.events import StepDone
from augenmerk.core.extensions.training.folder import read_starts
from augenmerk.core.folder_lock import LOCK
from augenmerk.core.run_files import LAST
from tests.builders import command_line, run_process
from tests.conftest import REPOSITORY
from tests.core.extensions.training.runs import record
from tests.core.extensions.training.two_processes import corpus_for, with_dropout, without_dropout
from tests.signals import use_default_signals

OF_TORCHRUN = {
    "WORLD_SIZE": "2",
    "RANK": "0",
    "LOCAL_RANK": "0",
    "MASTER_ADDR": "localhost",
    "MASTER_PORT": "29500",
}
LAUNCH = (
    sys.executable,
    "-m",
    "torch.distributed.run",
    "--nproc-per-node",
    "2",
    "--master-addr",
    "localhost",
)


def free_port() -> int:
    """A port that nobody listens at now; chosen by the system, so that two runs of the tests do not
    meet.
    """
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return int(listener.getsockname()[1])


def environment() -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
    return own | {"PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"}


def launch(*command: str) -> subprocess.CompletedProcess[str]:
    return run_process(
        [*LAUNCH, "--master-port", str(free_port()), *command], env=environment(), timeout=280
    )


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What two processes told of their runs."""
    folder, port = tmp_path_factory.mktemp("two"), str(free_port())
    command = [sys.executable, str(Path(__file__).with_name("two_processes.py")), str(folder)]
    with ExitStack() as running:  # as torchrun starts them, without its own process
        processes = [
            running.enter_context(
                subprocess.Popen(
                    command,
                    cwd=REPOSITORY,
                    env=environment()
                    | OF_TORCHRUN
                    | {"RANK": rank, "LOCAL_RANK": rank, "MASTER_PORT": port},
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for rank in "01"
        ]
        for process in processes:
            running.callback(process.kill)
        for process in processes:
            said = process.communicate(timeout=280)[1]
            assert process.returncode == 0, said
    main = json.loads((folder / "main.json").read_text(encoding="utf-8"))
    return main | {
        "worker": json.loads((folder / "worker.json").read_text(encoding="utf-8")),
        "folder": folder,
    }


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.training
@pytest.mark.skipif(
    not torch.distributed.is_available(), reason="this PyTorch was built without torch.distributed"
)
class TestTwoProcesses:
    def test_their_losses_are_those_of_one_with_the_same_batches(
        self, told: dict[str, Any], tmp_path: Path
    ) -> None:
        run = without_dropout()
        _, said = record(run, tmp_path / "one", corpus=corpus_for(run))
        plain = told["plain"]
        assert len(plain["losses"]) == len(said.losses) == 8
        assert plain["losses"] == pytest.approx(said.losses, abs=1e-5)
        assert plain["norms"] == pytest.approx(
            [event.gradient_norm for event in said.of(StepDone)], rel=1e-4
        )

    def test_a_resumed_run_is_the_uninterrupted_one_to_the_last_bit(
        self, told: dict[str, Any]
    ) -> None:
        """With dropout, of which each process draws its own."""
        assert with_dropout().model.dropout > 0
        assert told["parts"] == told["whole"]
        assert len(told["whole"]) == 14

    def test_the_failure_of_one_ends_both_with_its_reason(self, told: dict[str, Any]) -> None:
        assert "Another process of this run failed" in told["failure"]
        assert told["worker"] == "no memory left"


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.skipif(
    not torch.distributed.is_available(), reason="this PyTorch was built without torch.distributed"
)
def test_from_the_command_line_one_speaks_and_writes(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    options = (
        "--preset",
        "copy-task-small",
        "--data",
        "copy",
        "--max-steps",
        "3",
        "--device",
        "cpu",
    )
    done = launch("-m", "augenmerk", "train", *options, "--out", str(folder))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("The step limit is reached after step 3") == 1
    assert "2 processes share each batch: started by torchrun" in done.stderr
    refused = launch("-m", "augenmerk", "train", *options, "--out", str(folder))
    assert refused.returncode != 0
    assert refused.stderr.count("already contains a run") == 1


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.skipif(
    not torch.distributed.is_available(), reason="this PyTorch was built without torch.distributed"
)
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent as a signal")
@pytest.mark.parametrize(
    ("number", "from_terminal"),
    [
        (signal.SIGINT, False),
        (signal.SIGINT, True),
        (signal.SIGTERM, False),
        (getattr(signal, "SIGHUP", signal.SIGTERM), False),
    ],
)
def test_one_signal_ends_all_and_keeps_what_was_learned(
    tmp_path: Path, number: signal.Signals, from_terminal: bool
) -> None:
    """torchrun itself then ends with a trace, whatever its processes do.

    A terminal sends it to torchrun and to each of its processes; here a wrapper forwards it once
    more.
    """
    folder, said = tmp_path / "run", tmp_path / "said.txt"
    options = (
        "--preset",
        "copy-task-small",
        "--data",
        "copy",
        "--checkpoint-steps",
        "2",
        "--device",
        "cpu",
    )
    command = [
        *LAUNCH,
        *command_line("--master-port {} -m augenmerk train", free_port()),
        *options,
        *command_line("--out {}", folder),
    ]
    with (
        said.open("w") as stream,
        subprocess.Popen(
            command,
            cwd=REPOSITORY,
            env=environment(),
            stderr=stream,
            preexec_fn=use_default_signals,
            start_new_session=True,
        ) as running,
    ):
        try:
            wait_for(folder / LAST, running)
            if from_terminal:
                os.killpg(running.pid, number)
                time.sleep(0.05)
                os.killpg(running.pid, number)
            else:
                running.send_signal(number)
            running.wait(120)
        finally:
            running.kill()
    text = said.read_text()
    assert text.count("Stopped after step") == 1, text
    assert read_starts(folder)[-1]["reason"] == "stopped"
    step = load_checkpoint(folder / LAST, with_state=True).progress["step"]
    assert f"Stopped after step {step}" in text
    assert not (folder / LOCK).exists()


def wait_for(path: Path, running: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 200
    while not path.exists():
        assert running.poll() is None, "it ended before it was asked to"
        assert time.monotonic() < until
        time.sleep(0.1)


class TestDevices:
    def test_alone_the_device_is_the_one_asked_for(self) -> None:
        for name in ("auto", "cpu", "cuda", "cuda:1"):
            assert SINGLE_PROCESS.device(name) == name

    def test_each_process_has_a_gpu_of_its_own(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        world = World(rank=5, size=8, local_rank=1)
        assert [world.device(name) for name in ("auto", "cuda", "cpu")] == [
            "cuda:1",
            "cuda:1",
            "cpu",
        ]

    def test_one_gpu_for_all_is_refused(self) -> None:
        with pytest.raises(DeviceError, match="cannot share the device"):
            World(rank=1, size=2).device("cuda:0")


def test_outside_of_torchrun_a_process_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with process_group() as world:
        assert world is SINGLE_PROCESS
    assert not SINGLE_PROCESS.is_main
    assert SINGLE_PROCESS.all_reduce_max(1) == 1
    assert SINGLE_PROCESS.all_reduce_sum(torch.tensor(2.5)) == 2.5


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, None) for name in OF_TORCHRUN if name != "WORLD_SIZE"),
        ("WORLD_SIZE", "abc"),
        ("RANK", "-1"),
        ("LOCAL_RANK", "²"),
        ("MASTER_ADDR", ""),
        ("MASTER_PORT", "http"),
    ],
)
def test_an_environment_that_is_not_torchrun_s_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str | None
) -> None:
    monkeypatch.setattr(
        "torch.distributed.init_process_group", lambda *_, **__: pytest.fail("begun")
    )
    for variable, setting in OF_TORCHRUN.items():
        monkeypatch.setenv(variable, setting)
    if value is None:
        monkeypatch.delenv(name)
    else:
        monkeypatch.setenv(name, value)
    state = "is not set" if value is None else f"is '{value}'"
    with pytest.raises(ConfigError, match=f"but {name} {state}. Start with torchrun"):
        process_group("cpu").__enter__()


@pytest.mark.parametrize("size", ["", "0", "1"])
def test_a_world_of_one_process_needs_nothing_else(
    monkeypatch: pytest.MonkeyPatch, size: str
) -> None:
    for name in OF_TORCHRUN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WORLD_SIZE", size)
    with process_group() as world:
        assert world is SINGLE_PROCESS
