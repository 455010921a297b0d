"""A model that cannot fit is refused with the numbers, before a corpus is read or anything is
built."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from augenmerk.core.cli.main import main
from augenmerk.core.errors import ConfigError, TrainingError
from augenmerk.core.extensions import memory_limits
from augenmerk.core.extensions.memory_limits import MemoryLimit, memory_limit
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training import checks, loop
from augenmerk.core.extensions.training.checks import check_address_space, check_memory_for_training
from augenmerk.core.extensions.training.corpora.prepared import prepare_copy_task
from augenmerk.core.memory import is_out_of_memory
from tests.builders import command_line, run_process


def test_the_presets_fit() -> None:
    for name in ("notebook", "multi30k", "annotated-2018", "annotated-2022", "copy-task"):
        check_memory_for_training(preset(name).model, "cpu", 10_000, 10_000)


@pytest.mark.parametrize(
    "settings",
    [
        {"width": 2**17},
        {"feed_forward_width": 2**18, "width": 2**12, "num_encoder_layers": 1_000},
        {"max_positions": 10**7, "width": 2**12},
        {"max_positions": 10**7, "width": 2**12, "positions": "sinusoidal"},
    ],
    ids=str,
)
def test_a_config_that_cannot_fit_is_refused_with_the_numbers(
    tmp_path: Path, settings: dict[str, int | str], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [f"{name} = {value!r}".replace("'", '"') for name, value in settings.items()]
    config = tmp_path / "run.toml"
    config.write_text('preset = "notebook"\n[model]\n' + "\n".join(lines))
    assert (
        main(
            command_line("train --config {} --data {} --out {}", config, tmp_path, tmp_path / "out")
        )
        == 2
    )
    message = capsys.readouterr().err
    assert "The model cannot be trained here" in message
    assert "parameters, which take" in message
    assert "GB" in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("count", [1_001, 10**6, 10**9, 10**30])
def test_layers_by_the_million_are_refused(
    tmp_path: Path, count: int, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "run.toml"
    config.write_text(f'preset = "notebook"\n[model]\nnum_encoder_layers = {count}\n')
    assert (
        main(["train", "--config", str(config), "--data", "copy", "--out", str(tmp_path / "out")])
        == 2
    )
    assert "num_encoder_layers is" in capsys.readouterr().err


def test_the_tightest_limit_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = [
        MemoryLimit(3 * 10**9, "this machine has 3.0 GB"),
        None,
        MemoryLimit(10**8, "the limit leaves 0.1 GB"),
    ]
    for name, limit in zip(("_of_machine", "_of_container", "_of_process"), limits, strict=True):
        monkeypatch.setattr(memory_limits, name, lambda limit=limit: limit)
    assert memory_limit() == limits[2]
    with pytest.raises(TrainingError, match=r"the limit leaves 0\.1 GB.*ulimit -v"):
        check_address_space()
    with pytest.raises(
        ConfigError, match=r"9,\d\d\d,\d\d\d parameters, which take 0\.1 GB .* but the limit leaves"
    ):
        check_memory_for_training(preset("notebook").model, "cpu", 7_853, 5_893)


def test_a_model_for_a_gpu_is_held_against_the_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    class Small:
        total_memory = 10**8

    monkeypatch.setattr(checks.torch.cuda, "get_device_properties", lambda name: Small)
    with pytest.raises(ConfigError, match=r"but cuda:0 has 0\.1 GB"):
        check_memory_for_training(preset("notebook").model, "cuda:0", 7_853, 5_893)


def test_lack_of_memory_while_building_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError(
            "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 5 "
            "bytes"
        )

    monkeypatch.setattr(loop, "TrainingSession", fails)
    run = preset("copy-task-small")
    with pytest.raises(TrainingError, match="not enough memory to build the model"):
        loop.build_session(run, prepare_copy_task(run.data, 1), "cpu")
    assert is_out_of_memory(RuntimeError("std::bad_alloc"))
    assert is_out_of_memory(RuntimeError("can't start new thread"))
    assert not is_out_of_memory(RuntimeError("shapes differ"))


def test_an_adam_beta_of_zero_is_a_beta() -> None:
    """Written 0, not 0.0, which PyTorch refuses."""
    from augenmerk.core.extensions.training.session import TrainingSession

    run = preset("copy-task-small")
    run = replace(run, training=run.training.replace(adam_beta1=0, adam_beta2=0))
    session = TrainingSession(run, prepare_copy_task(run.data, 1), "cpu")
    assert session.optimizer.param_groups[0]["betas"] == (0.0, 0.0)


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.skipif(sys.platform != "linux", reason="address spaces are limited so on Linux")
@pytest.mark.parametrize("kilobytes", [900_000, 1_100_000, 1_300_000])
def test_a_process_with_little_memory_ends_with_a_message(tmp_path: Path, kilobytes: int) -> None:
    """Not by a signal, and not by a traceback."""
    training = "train --preset copy-task --data copy --max-steps 2"
    command = f'ulimit -v {kilobytes}; exec "$0" -m augenmerk {training} --out "$1"'
    ended = run_process(["sh", "-c", command, sys.executable, str(tmp_path / "out")], timeout=200)
    expected = (2,) if kilobytes < 1_000_000 else (0, 2)  # some need a little less
    assert ended.returncode in expected, (ended.returncode, ended.stderr[-2_000:])
    assert ended.returncode == 0 or "memory" in ended.stderr
    assert "Traceback" not in ended.stderr
