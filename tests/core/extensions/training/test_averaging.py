"""Averaging checkpoints."""

from pathlib import Path

import pytest
import torch

from augenmerk.core.checkpoint.file import load_checkpoint, save_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.errors import CheckpointError
from augenmerk.core.extensions.training.averaging import average
from augenmerk.core.extensions.training.corpora.learning import learn_codecs
from tests.checkpoints import SOURCE_WORDS, TARGET_WORDS, write_untrained_checkpoint


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    return tuple(
        write_untrained_checkpoint(tmp_path / f"{seed}.safetensors", seed=seed) for seed in (1, 2)
    )


def test_weights_are_the_mean(two: tuple[Path, Path]) -> None:
    first, second = (load_checkpoint(path) for path in two)
    mean = average(two)
    for name, value in mean.weights.items():
        torch.testing.assert_close(value, (first.weights[name] + second.weights[name]) / 2)
    assert not torch.equal(mean.weights["output.weight"], first.weights["output.weight"])
    mean.build_model()


def test_half_precision_halves_the_size(two: tuple[Path, Path], tmp_path: Path) -> None:
    full, half = tmp_path / "full.safetensors", tmp_path / "half.safetensors"
    assert main(["average", *map(str, two), "--out", str(full)]) == 0
    assert main(["average", *map(str, two), "--out", str(half), "--half"]) == 0
    weights = load_checkpoint(full).weights
    assert load_checkpoint(half).weights["output.weight"].dtype == torch.float16
    saved = sum(value.numel() for value in weights.values()) * 2
    assert full.stat().st_size - half.stat().st_size == pytest.approx(saved, rel=0.05)


def test_different_vocabularies_are_refused(two: tuple[Path, Path], tmp_path: Path) -> None:
    import dataclasses

    other = load_checkpoint(two[0])
    renamed = [[f"{word}x" for word in words] for words in (SOURCE_WORDS, TARGET_WORDS)]
    codecs = learn_codecs(other.run.data, [renamed[0]], [renamed[1]])
    foreign = tmp_path / "foreign.safetensors"
    save_checkpoint(dataclasses.replace(other, codecs=codecs), foreign)
    with pytest.raises(CheckpointError, match="differ in model or vocabulary"):
        average([two[1], foreign])


def test_nothing_to_average_is_refused() -> None:
    with pytest.raises(CheckpointError, match="one or more checkpoints"):
        average([])


@pytest.mark.parametrize("damaged", [0, 1])
def test_weights_that_are_not_finite_are_refused_before_anything_is_written(
    two: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], damaged: int
) -> None:
    checkpoint = load_checkpoint(two[damaged])
    checkpoint.weights["output.weight"][3, 2] = float("nan")
    save_checkpoint(checkpoint, two[damaged])
    target = tmp_path / "mean.safetensors"
    for paths in (two, two[damaged : damaged + 1]):
        assert main(["average", *map(str, paths), "--out", str(target)]) == 2
        message = capsys.readouterr().err
        assert str(two[damaged]) in message
        assert "output.weight has values that are NaN or infinite" in message
        assert not target.exists()


def test_one_checkpoint_is_not_called_a_mean(
    two: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["average", str(two[0]), "--half", "--out", str(tmp_path / "half.safetensors")]) == 0
    )
    assert ": 1 checkpoint," in capsys.readouterr().out
