"""`augenmerk info --size`: the table of parameters and floating-point operations."""

from pathlib import Path

import pytest

from augenmerk.core.cli.main import main
from augenmerk.core.extensions.info.size import MODULES, size_rows, total
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.translation.translator import Translator


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, list[str]]:
    """The numbers of each line, by its name."""
    assert main(["info", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {
        name: line[26:]
        for name in (*MODULES, "all")
        for line in lines
        if line.startswith(f"{name:26} ")
    }
    return {name: row.replace(" %", "%").split() for name, row in rows.items()}


def test_the_published_system_has_its_published_number_of_parameters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = printed(capsys, "--preset", "notebook", "--source-tokens", "30", "--target-tokens", "7")
    assert list(table) == [*MODULES, "all"]
    assert table["all"][0] == "9,038,341"
    assert table["all"][1] == table["all"][3] == "100.0%"
    rows = size_rows(preset("notebook").model, 7853, 5893, 30, 7)
    assert table["cross-attention"][2] == f"{total(rows, 'cross-attention').num_flops:,}"


def test_a_checkpoint_is_measured_with_its_own_vocabularies(
    untrained_checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = printed(capsys, str(untrained_checkpoint), "--size")
    translator = Translator.load(untrained_checkpoint, "cpu")
    assert table["all"][0] == f"{translator.num_parameters:,}"
    assert translator.vocabulary_sizes[1] == translator.model.output.out_features


def test_a_shared_matrix_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    table = printed(capsys, "--preset", "multi30k")
    assert table["output"][0] == "0"
    assert " ".join(table["output"]).endswith("shared with the source embedding")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["--preset", "notebook", "--source-tokens", "0"],
            "--source-tokens (now 0) and --target-tokens (now 20)",
        ),
        (["--preset", "notebook", "--target-tokens", "101"], "1 to 100 tokens on each side"),
        (
            ["some.safetensors", "--preset", "notebook"],
            "A checkpoint and --preset cannot be combined",
        ),
    ],
)
def test_what_cannot_be_measured_is_refused(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", *arguments]) == 2
    assert expected in " ".join(capsys.readouterr().err.split())
