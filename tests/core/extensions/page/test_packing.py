"""The data of a page: nothing is lost, models that a page cannot run are refused, and patterns keep
their meaning."""

import gzip
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from augenmerk.core.checkpoint.file import Checkpoint, load_checkpoint
from augenmerk.core.errors import CheckpointError
from augenmerk.core.extensions.page import packing
from augenmerk.core.extensions.page.packing import BYTES_PER_PARAMETER, engine_script, pack_model
from augenmerk.core.extensions.page.patterns import SPACE, javascript_pattern
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.text.tokenizers import SHIPPED, rules_of
from tests.core.translation.random_models import make_translator

SUBWORDS = "subwords, pre-norm, all tied"


def unpacked(packed: packing.PackedModel) -> dict[str, np.ndarray]:
    """The weights, read by the definition of planes."""
    described, data = (
        json.loads(gzip.decompress(packed.description)),
        gzip.decompress(packed.weights),
    )
    tensors, first = {}, 0
    for size in (2, 4):
        group = [tensor for tensor in described["tensors"] if tensor["bytes"] == size]
        total = sum(int(np.prod(tensor["shape"])) for tensor in group)
        planes = [
            data[first + plane * total : first + (plane + 1) * total] for plane in range(size)
        ]
        numbers = np.frombuffer(
            bytes(byte for bytes_ in zip(*planes, strict=True) for byte in bytes_), f"<f{size}"
        )
        first += total * size
        for tensor in group:
            count = int(np.prod(tensor["shape"]))
            tensors[tensor["name"]], numbers = (
                numbers[:count].reshape(tensor["shape"]),
                numbers[count:],
            )
    assert first == len(data)
    return tensors


def changed(checkpoint: Checkpoint, **data: object) -> Checkpoint:
    return replace(
        checkpoint, run=replace(checkpoint.run, data=replace(checkpoint.run.data, **data))
    )


def test_weights_are_kept_to_the_last_bit_where_16_bits_do_not_suffice() -> None:
    checkpoint = make_translator(SUBWORDS).checkpoint
    packed = pack_model(checkpoint, "mine", bits=32)
    tensors = unpacked(packed)
    assert tensors.keys() == checkpoint.weights.keys()
    for name, value in checkpoint.weights.items():
        assert np.array_equal(tensors[name], value.detach().numpy()), name
    assert re.search(
        r"^\d+ of \d+ tensors of this model need 32 bits, so it takes \d+\.\d bytes per ",
        packed.note,
    )


def test_weights_that_16_bits_hold_take_16_without_a_note() -> None:
    checkpoint = make_translator(SUBWORDS).checkpoint
    halves = {name: value.detach().half() for name, value in checkpoint.weights.items()}
    for weights in (halves, {name: value.float() for name, value in halves.items()}):
        packed = pack_model(replace(checkpoint, weights=weights), "mine")
        assert {value.dtype for value in unpacked(packed).values()} == {np.dtype("<f2")}
        assert all(
            np.array_equal(value, halves[name].numpy()) for name, value in unpacked(packed).items()
        )
        assert packed.note == ""


def test_a_rounded_model_takes_half_and_says_so() -> None:
    checkpoint = make_translator(SUBWORDS).checkpoint
    packed, exact = pack_model(checkpoint, "mine"), pack_model(checkpoint, "mine", bits=32)
    assert len(packed.weights) < 0.55 * len(exact.weights)
    assert packed.terms.endswith("The weights in this page are rounded to 16 bits.")
    assert packed.note.startswith(packed.terms)
    assert "“augenmerk page --bits 32” keeps them exactly" in packed.note
    assert "“--bits 16” rounds them" in exact.note
    assert exact.terms == ""
    halves = replace(
        checkpoint, weights={name: value.half() for name, value in checkpoint.weights.items()}
    )
    assert pack_model(halves, "mine").texts == pack_model(halves, "mine", bits=32).texts, (
        "nothing is rounded"
    )


def test_numbers_that_are_too_large_for_16_bits_keep_32() -> None:
    checkpoint = make_translator(SUBWORDS).checkpoint
    name = next(iter(checkpoint.weights))
    weights = {**checkpoint.weights, name: checkpoint.weights[name].detach() + 1e6}
    tensors = unpacked(pack_model(replace(checkpoint, weights=weights), "mine"))
    assert np.array_equal(tensors[name], weights[name].numpy())
    assert {value.dtype for value in tensors.values()} == {np.dtype("<f2"), np.dtype("<f4")}


def test_the_same_model_gives_the_same_bytes() -> None:
    checkpoint = make_translator(SUBWORDS).checkpoint
    assert pack_model(checkpoint, "mine").texts == pack_model(checkpoint, "mine").texts


@pytest.mark.slow
@pytest.mark.heavy
def test_the_bundled_model_takes_at_most_two_point_four_bytes_per_parameter_and_names_its_terms() -> (
    None
):
    packed = pack_model(load_checkpoint(bundled_model_path()), "multi30k-de-en")
    assert packed.num_bytes <= BYTES_PER_PARAMETER * packed.num_parameters
    assert packed.note == ""
    described = json.loads(gzip.decompress(packed.description))
    assert described["name"] == "multi30k-de-en"
    assert "non-commercial research and education" in described["terms"]
    assert {tensor["bytes"] for tensor in described["tensors"]} == {2}


def test_models_that_a_page_cannot_run_are_refused_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checkpoint = make_translator(SUBWORDS).checkpoint
    for reason, model in {
        "pages have no JavaScript for its codec": changed(checkpoint, tokenization="imported"),
        "word rules for de and en, not for fr": changed(checkpoint, target_language="fr"),
    }.items():
        with pytest.raises(CheckpointError, match=re.escape(reason)):
            pack_model(model, "mine")
    monkeypatch.setattr(packing, "MAX_PARAMETERS", 1_000)
    with pytest.raises(
        CheckpointError, match=r"parameters, and the limit is 1,000\. Choose another model"
    ):
        pack_model(checkpoint, "mine")


def test_the_script_is_one_classic_script_that_asks_nothing_of_a_network() -> None:
    script = engine_script()
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)
    assert not re.search(r"fetch\(|XMLHttpRequest|WebSocket|https?://|</script", script)


def test_a_class_of_white_space_holds_what_python_calls_so() -> None:
    ours = re.compile(f"[{SPACE}]")
    everything = [chr(code) for code in range(0x1_0000)]
    assert [character for character in everything if ours.match(character)] == [
        character for character in everything if re.match(r"\s", character)
    ]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"(?u)\!$|\'", "!$|'"),
        (r"[\w\-\.[]", r"[\p{L}\p{N}_\-\.\[]"),
        (r"\d\U0001F600", r"[\p{Nd}]\u{1f600}"),
        (r"(?<=[0-9])\-\$", r"(?<=[0-9])-\$"),
        (r"[\U00020000-\U000215FF]", r"[\u{20000}-\u{215ff}]"),
    ],
)
def test_patterns_are_written_as_javascript_accepts_them(pattern: str, expected: str) -> None:
    assert javascript_pattern(pattern) == expected


@pytest.mark.parametrize("pattern", [r"\bword", r"[\S]", r"\A"])
def test_escapes_with_another_meaning_in_javascript_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="has no translation"):
        javascript_pattern(pattern)


@pytest.mark.parametrize("language", SHIPPED)
def test_all_shipped_patterns_have_a_translation(language: str) -> None:
    for pattern in rules_of(language)[0].values():
        assert javascript_pattern(pattern)
