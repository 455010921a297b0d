"""Some five hundred damaged files, always the same, as `make fuzz` tries them by the thousand."""

import sys
from random import Random

import pytest

from augenmerk.core.resources import bundled_model_path
from tests.builders import command_line, run_process
from tests.fuzz.mutants import MUTATIONS, Parts, mutant

pytestmark = pytest.mark.slow


@pytest.mark.subprocess
@pytest.mark.skipif(sys.platform != "linux", reason="limits and watches are those of Linux")
def test_some_five_hundred_damaged_files_are_refused_or_of_use() -> None:
    command = command_line(
        "{} -m tests.fuzz --checkpoints 400 --bundled 20 --others 80 --folders 60", sys.executable
    )
    ended = run_process([*command, "--seed", "12", "--jobs", "2"], timeout=280)
    assert ended.returncode == 0, ended.stdout[-5_000:] + ended.stderr[-2_000:]
    assert "560 damaged files, 0 findings" in ended.stdout
    counts = {line.split()[0]: line for line in ended.stdout.splitlines()[:-1]}
    for kind in ("words", "subwords", "copy", "resumable", "bundled", "marian", "marian-folder"):
        assert "taken" in counts[kind], (
            "none was of use: the damage is too coarse to reach what lies behind the reader"
        )
        assert "refused" in counts[kind]


@pytest.mark.heavy
def test_a_seed_gives_the_same_damage_and_others_give_other() -> None:
    whole = bundled_model_path().read_bytes()
    assert Parts.of(whole).to_bytes()[8:20] == whole[8:20]
    assert mutant(whole, "1-1") == mutant(whole, "1-1")
    assert len({mutant(whole, f"1-{index}") for index in range(6)}) == 6


@pytest.mark.heavy
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_every_kind_of_damage_damages(mutation) -> None:
    kind = "words" if mutation.__name__ in ("change_special_ids", "change_tokens") else "subwords"
    codecs = {
        "source": {"tokens": ["<unk>", "<pad>", "a"], "padding_id": 1},
        "target": {"tokens": ["b"], "start_id": 0},
    }
    changed = 0
    whole = bundled_model_path().read_bytes()
    for seed in range(6):
        parts = Parts.of(whole)
        if kind == "words":
            parts.description["codecs"] = {side: dict(value) for side, value in codecs.items()}
        before = parts.to_bytes()
        mutation(parts, Random(seed))
        changed += parts.to_bytes() != before
    assert changed > 1
