"""Roles over a sample, kept beside the checkpoint that they were measured on."""

import json
from collections import Counter
from pathlib import Path

import pytest

from augenmerk.core.config import ModelConfig
from augenmerk.core.extensions.analyses.alignment import read_gold
from augenmerk.core.extensions.analyses.head_profiles import profile_heads
from augenmerk.core.maps import roles as thresholds
from augenmerk.core.maps.roles import SampleRoles, read_sample_roles, roles_path, write_sample_roles
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.translation.translator import Translator

ROLES = SampleRoles(
    {
        "encoder": (("previous", "mixed"),),
        "decoder": (("self", "broad"),),
        "cross": (("aligner", "end-token sink"),),
    },
    "3 pairs",
)
SHAPE = ModelConfig(num_encoder_layers=1, num_decoder_layers=1, num_heads=2)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    path = tmp_path / "my.best.safetensors"
    path.write_bytes(b"weights")
    return path


def test_what_was_written_is_read(checkpoint: Path) -> None:
    assert (
        write_sample_roles(ROLES, checkpoint)
        == roles_path(checkpoint)
        == checkpoint.parent / "my.best.roles.json"
    )
    assert read_sample_roles(checkpoint, SHAPE) == ROLES
    assert ROLES.role(Head("cross", 0, 1)) == "end-token sink"


def test_other_weights_under_the_same_name_have_no_roles(checkpoint: Path) -> None:
    write_sample_roles(ROLES, checkpoint)
    checkpoint.write_bytes(b"weightS")
    assert read_sample_roles(checkpoint, SHAPE) is None


def test_other_thresholds_have_no_roles(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sample_roles(ROLES, checkpoint)
    monkeypatch.setattr(thresholds, "SINK_SHARE", 0.6)
    assert read_sample_roles(checkpoint, SHAPE) is None


@pytest.mark.parametrize("change", ["cut off", "no kind", "unknown role", "a list"])
def test_a_damaged_file_is_no_file(checkpoint: Path, change: str) -> None:
    path = write_sample_roles(ROLES, checkpoint)
    text = path.read_text(encoding="utf-8")
    roles = json.loads(text)
    damaged = {
        "cut off": text[:-20],
        "no kind": json.dumps({name: value for name, value in roles.items() if name != "cross"}),
        "unknown role": text.replace("aligner", "dreamer"),
        "a list": "[]",
    }
    path.write_text(damaged[change], encoding="utf-8")
    assert read_sample_roles(checkpoint, SHAPE) is None


@pytest.mark.parametrize(
    "other", [{"num_heads": 4}, {"num_decoder_heads": 4}, {"num_encoder_layers": 2}], ids=str
)
def test_roles_of_other_heads_are_no_roles_of_this_model(
    checkpoint: Path, other: dict[str, int]
) -> None:
    write_sample_roles(ROLES, checkpoint)
    assert read_sample_roles(checkpoint, SHAPE.replace(**other)) is None


def test_a_model_without_the_file_has_none(checkpoint: Path) -> None:
    assert read_sample_roles(checkpoint, SHAPE) is None
    assert read_sample_roles(None, SHAPE) is None


def test_the_bundled_model_has_the_roles_of_its_card() -> None:
    roles = read_sample_roles(bundled_model_path(), ModelConfig())
    assert roles is not None, "measure them again: python -m tools.head_roles"
    assert roles.sample == "200 pairs of the validation split"
    counts = {
        kind: Counter(role for layer in roles.by_kind[kind] for role in layer)
        for kind in ATTENTION_KINDS
    }
    assert counts["encoder"] == {"previous": 5, "next": 3, "broad": 4, "mixed": 12}
    assert counts["decoder"] == {"previous": 11, "self": 3, "broad": 2, "mixed": 8}
    assert counts["cross"] == {"aligner": 7, "broad": 1, "mixed": 16}


@pytest.mark.slow
@pytest.mark.heavy
def test_the_bundled_model_does_much_the_same_on_the_pairs_aligned_by_hand() -> None:
    stored_roles = read_sample_roles(bundled_model_path(), ModelConfig())
    assert stored_roles is not None
    gold = read_gold()
    sources, targets = [pair.source_text for pair in gold], [pair.target_text for pair in gold]
    roles = SampleRoles.of(profile_heads(Translator.load(None, "cpu"), sources, targets), "pairs")
    heads = [
        Head(kind, layer, head)
        for kind in ATTENTION_KINDS
        for layer in range(3)
        for head in range(8)
    ]
    assert sum(stored_roles.role(head) == roles.role(head) for head in heads) >= 66
