"""Files that claim what is not true, each found by trying: refused with a message, at once, before
memory is taken."""

import base64
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from augenmerk.core.checkpoint.file import load_checkpoint, model_digest, save_checkpoint
from augenmerk.core.device import DeviceChoice
from augenmerk.core.errors import AugenmerkError, CheckpointError
from augenmerk.core.extensions.training.folder import describe_checkpoint
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.translator import Translator
from tests.fuzz.mutants import Parts, join_message, split_message

Change = Callable[[dict[str, Any]], None]


def change(path: Path, changed: Change, *, keep_checksums: bool = False) -> Path:
    """Changes the description in a checkpoint; without checksums it is as earlier versions wrote
    it.
    """
    parts = Parts.of(path.read_bytes())
    changed(parts.description)
    if not keep_checksums:
        parts.description.pop("checksums", None)
    path.write_bytes(parts.to_bytes())
    return path


@pytest.fixture
def file(tmp_path: Path, untrained_checkpoint: Path) -> Path:
    return Path(shutil.copyfile(untrained_checkpoint, tmp_path / "model.safetensors"))


def refusal(path: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(path)
    return str(caught.value)


def subword_checkpoint(path: Path) -> Path:
    """The bundled model is the one at hand that has subwords."""
    path.write_bytes(bundled_model_path().read_bytes())
    return path


@pytest.mark.parametrize("count", [3, 1_000, 10**6, 10**9, 2**63, 10**30])
@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_layers_that_are_claimed_but_not_there_are_refused_at_once(
    file: Path, stack: str, count: int
) -> None:
    change(file, lambda values: values["run"]["model"].update({f"num_{stack}_layers": count}))
    message = refusal(file)
    assert (
        f"{count:,} {stack} layers are claimed, and 2 are there" in message
        or f"num_{stack}_layers" in message
    )


@pytest.mark.parametrize("positions", ["learned", "sinusoidal"])
@pytest.mark.parametrize("count", [10**7, 10**9, 2**63, 10**30])
def test_positions_that_no_file_holds_are_refused_before_a_table_is_made(
    file: Path, positions: str, count: int
) -> None:
    change(
        file,
        lambda values: values["run"]["model"].update(max_positions=count, positions=positions),
    )
    if positions == "sinusoidal":  # whose tables are in no file
        parts = Parts.of(file.read_bytes())
        parts.header = {
            name: entry for name, entry in parts.header.items() if not name.endswith(".positions")
        }
        _place_in_a_row(parts)
        file.write_bytes(parts.to_bytes())
    message = refusal(file)
    assert "positions" in message


def _place_in_a_row(parts: Parts) -> None:
    """Closes the gaps that tensors leave which were taken away."""
    body = bytearray()
    for entry in sorted(parts.header.values(), key=lambda entry: entry["data_offsets"][0]):
        start, end = entry["data_offsets"]
        entry["data_offsets"] = [len(body), len(body) + end - start]
        body += parts.body[start:end]
    parts.body = body


@pytest.mark.parametrize("count", [2**18, 2**31, 2**63])
@pytest.mark.parametrize("setting", ["width", "num_heads", "feed_forward_width"])
def test_widths_that_are_claimed_but_not_there_are_refused(
    file: Path, setting: str, count: int
) -> None:
    change(file, lambda values: values["run"]["model"].update({setting: count}))
    assert refusal(file)


@pytest.mark.parametrize(
    "mark", [1.0, 0.0, 2.5, True, False, "1", 99, -1, 2**63, 10**30, float("nan"), [1]]
)
@pytest.mark.parametrize("name", ["padding_id", "start_id", "end_id", "unknown_id"])
@pytest.mark.parametrize("side", ["source", "target"])
def test_special_ids_that_are_no_ids_are_refused(
    file: Path, side: str, name: str, mark: Any
) -> None:
    change(file, lambda values: values["codecs"][side].update({name: mark}))
    assert "damaged" in refusal(file) or "cannot be read" in refusal(file)


def test_two_special_tokens_with_one_id_are_refused(file: Path) -> None:
    change(file, lambda values: values["codecs"]["target"].update(end_id=1))
    assert "two special tokens have the same id" in refusal(file)


def test_sides_that_are_padded_differently_are_refused(file: Path) -> None:
    change(file, lambda values: values["codecs"]["source"].update(padding_id=0, unknown_id=1))
    assert "padded by different ids" in refusal(file)


def test_a_token_with_a_lone_surrogate_is_refused(file: Path) -> None:
    change(file, lambda values: values["codecs"]["target"]["tokens"].__setitem__(5, "\ud800"))
    assert "lone surrogate" in refusal(file)


@pytest.mark.parametrize("value", [1.0, 1.5, True, "1", None, -1, 2**63, 10**30])
@pytest.mark.parametrize("name", ["epoch", "step"])
def test_an_epoch_that_is_no_count_is_refused(file: Path, name: str, value: Any) -> None:
    record = {
        "epoch": 1,
        "step": 2,
        "training_loss": 1.0,
        "validation_loss": 1.0,
        "validation_loss_batch_mean": 1.0,
    }
    record |= {"learning_rate": 0.1, "seconds": 1.0, "bleu": None}
    change(file, lambda values: values.update(history=[record | {name: value}]))
    assert refusal(file)
    describe_checkpoint(file)


def test_a_loss_that_is_not_finite_is_history_all_the_same(file: Path) -> None:
    record = {"epoch": 1, "step": 2, "training_loss": float("nan"), "validation_loss": float("inf")}
    record |= {
        "validation_loss_batch_mean": 1.0,
        "learning_rate": 0.1,
        "seconds": 1.0,
        "bleu": None,
    }
    change(file, lambda values: values.update(history=[record]))
    assert load_checkpoint(file).history[0].validation_loss == float("inf")


@pytest.mark.parametrize(
    "language", ["lex_attrs", "char_classes", "tokenizer_exceptions", "os", "no_such"]
)
def test_a_language_that_is_none_gives_an_error_of_the_product(file: Path, language: str) -> None:
    change(file, lambda values: values["run"]["data"].update(source_language=language))
    with pytest.raises(AugenmerkError, match="language"):
        translate(file)


def translate(path: Path) -> str:
    translator = Translator(load_checkpoint(path), DeviceChoice("cpu", "requested"), path)
    return translator.run(Experiment("Ein Mann steht auf einer Leiter.")).text


@pytest.mark.parametrize("damage", ["flip", "nan", "state"])
def test_overwritten_bytes_are_noticed(tmp_path: Path, file: Path, damage: str) -> None:
    checkpoint = load_checkpoint(file)
    state = {"optimizer.exp_avg.output.bias": torch.zeros(5), "random.cpu": torch.get_rng_state()}
    path = tmp_path / "last.safetensors"
    progress = {"epoch": 1, "step": 3}
    save_checkpoint(
        type(checkpoint)(
            checkpoint.run, checkpoint.codecs, checkpoint.weights, state=state, progress=progress
        ),
        path,
    )
    load_checkpoint(path, with_state=True)
    parts = Parts.of(path.read_bytes())
    name = "state.optimizer.exp_avg.output.bias" if damage == "state" else "model.output.weight"
    start, _ = parts.header[name]["data_offsets"]
    if damage == "flip":
        parts.body[start] ^= 1
    else:
        parts.body[start : start + 4] = b"\x00\x00\xc0\x7f"
    path.write_bytes(parts.to_bytes())
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(path, with_state=True)
    message = str(caught.value)
    assert "not those that were written: their checksum differs" in message
    if damage != "flip":
        assert f"{name.partition('.')[2]} has values that are NaN or infinite (1 of " in message
    if damage == "state":
        load_checkpoint(path)  # without the state, which is not needed to translate


@pytest.mark.slow
def test_every_byte_of_a_resumable_checkpoint_counts(tmp_path: Path, file: Path) -> None:
    """Whatever byte is overwritten by another: it is noticed before a run goes on from it."""
    checkpoint = load_checkpoint(file)
    path = tmp_path / "last.safetensors"
    progress = {
        "epoch": 1,
        "group": 0,
        "step": 3,
        "learning_rate": 0.25,
        "best_validation_loss": None,
    }
    state = {"random.cpu": torch.get_rng_state()}
    save_checkpoint(
        type(checkpoint)(
            checkpoint.run, checkpoint.codecs, checkpoint.weights, state=state, progress=progress
        ),
        path,
    )
    whole, rng = path.read_bytes(), random.Random(3)
    for _ in range(120):
        position = rng.randrange(8, len(whole))
        other = rng.choice([byte for byte in range(256) if byte != whole[position]])
        path.write_bytes(whole[:position] + bytes([other]) + whole[position + 1 :])
        with pytest.raises(CheckpointError):
            _ = load_checkpoint(path, with_state=True)


def test_the_numbers_a_run_goes_on_from_are_guarded_too(tmp_path: Path, file: Path) -> None:
    change(file, lambda values: values.update(progress={"step": 130}), keep_checksums=True)
    with pytest.raises(CheckpointError, match="the checksum of its description differs"):
        load_checkpoint(file, with_state=True)


def test_a_file_of_an_earlier_version_has_no_checksums_and_is_read(file: Path) -> None:
    before = translate(file)
    change(file, lambda values: None)
    assert "checksums" not in Parts.of(file.read_bytes()).description
    load_checkpoint(file, with_state=True)
    assert translate(file) == before


def test_a_state_that_is_not_finite_is_named(tmp_path: Path, file: Path) -> None:
    """By its tensor, not by a rate that would have been too high, also where a file was written
    so."""
    checkpoint = load_checkpoint(file)
    state = {"optimizer.exp_avg_sq.output.bias": torch.tensor([0.0, float("inf")])}
    path = tmp_path / "last.safetensors"
    save_checkpoint(
        type(checkpoint)(checkpoint.run, checkpoint.codecs, checkpoint.weights, state=state), path
    )
    with pytest.raises(
        CheckpointError,
        match=r"optimizer\.exp_avg_sq\.output\.bias has values that are NaN or infinite \(1 of 2\)",
    ):
        load_checkpoint(path, with_state=True)


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = {"pipe": tmp_path / "pipe", "device": Path("/dev/zero"), "folder": tmp_path}[kind]
    if kind == "pipe":
        if not hasattr(os, "mkfifo"):
            pytest.skip("pipes with names are those of POSIX systems")
        os.mkfifo(path)
    assert "device, a pipe or a socket" in refusal(path) or "it is a folder" in refusal(path)
    assert describe_checkpoint(path) is None


def test_a_header_of_a_hundred_megabytes_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.safetensors"
    with path.open("wb") as large:
        large.write((90_000_000).to_bytes(8, "little") + b"{")
        large.truncate(90_000_100)  # a hole: it takes no room on the disk
    assert "its header has 90,000,000 bytes" in refusal(path)


def test_a_text_is_called_no_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text("# A text, which is longer than eight bytes")
    assert "it is not a safetensors file" in refusal(path)


@pytest.mark.heavy
def test_a_description_of_a_million_empty_lists_is_refused(file: Path) -> None:
    change(file, lambda values: values.update(more=[[]] * 1_000_000))
    assert "more than 200,000 lists and objects" in refusal(file)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.int64, torch.bool, torch.uint8])
def test_weights_of_other_types_are_refused(file: Path, dtype: torch.dtype) -> None:
    with safe_open(file, framework="pt") as opened:
        metadata = opened.metadata()
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    tensors["model.output.bias"] = tensors["model.output.bias"].to(dtype)
    save_file(tensors, file, metadata=metadata)
    assert "is of the type" in refusal(file)


class TestSubwords:
    """What sentencepiece would follow without a check."""

    @staticmethod
    def changed(path: Path, change_model: Callable[[list[tuple[int, int, Any]]], None]) -> Path:
        def changes(values: dict[str, Any]) -> None:
            fields = split_message(base64.b64decode(values["codecs"]["subwords"]))
            change_model(fields)
            values["codecs"]["subwords"] = base64.b64encode(join_message(fields)).decode()

        return change(subword_checkpoint(path), changes)

    @pytest.mark.heavy
    def test_untouched_they_are_read(self, tmp_path: Path) -> None:
        load_checkpoint(self.changed(tmp_path / "x.safetensors", lambda fields: None))

    def test_a_table_of_normalization_is_refused(self, tmp_path: Path) -> None:
        """It is an array of offsets that are followed unchecked."""
        table = join_message([(1, 2, b"identity"), (2, 2, b"\x10\x00\x00\x00" + b"\xff" * 64)])

        def change_model(fields: list[tuple[int, int, Any]]) -> None:
            fields[-1] = (3, 2, table)

        path = self.changed(tmp_path / "x.safetensors", change_model)
        assert "it normalizes text" in refusal(path)

    @pytest.mark.parametrize("number", [4, 5, 200])
    @pytest.mark.heavy
    def test_parts_that_are_never_written_are_refused(self, tmp_path: Path, number: int) -> None:
        path = self.changed(
            tmp_path / "x.safetensors", lambda fields: fields.append((number, 2, b"\x0a\x00"))
        )
        assert f"an unknown field {number}" in refusal(path)

    @pytest.mark.parametrize("model_type", [1, 3, 4, 99])
    @pytest.mark.heavy
    def test_another_kind_of_model_is_refused(self, tmp_path: Path, model_type: int) -> None:
        def change_model(fields: list[tuple[int, int, Any]]) -> None:
            index = next(index for index, field in enumerate(fields) if field[0] == 2)
            trainer = split_message(fields[index][2])
            trainer[0] = (3, 0, model_type)
            fields[index] = (2, 2, join_message(trainer))

        assert f"its kind {model_type} is unknown" in refusal(
            self.changed(tmp_path / "x.safetensors", change_model)
        )

    @pytest.mark.parametrize(
        ("piece", "problem"),
        [
            ([(1, 2, b""), (2, 5, bytes(4))], "has no text"),
            ([(1, 2, b"\xff\xfe"), (2, 5, bytes(4))], "damaged"),
            ([(1, 2, b"x" * 5_000), (2, 5, bytes(4))], "has no text"),
            ([(1, 2, b"xq"), (2, 5, b"\x00\x00\xc0\x7f")], "not a finite number"),
            ([(1, 2, b"xq"), (2, 5, bytes(4)), (3, 0, 6)], "must name a byte"),
        ],
        ids=["empty", "no UTF-8", "too long", "not finite", "of bytes"],
    )
    @pytest.mark.heavy
    def test_a_damaged_piece_is_refused(
        self, tmp_path: Path, piece: list[tuple[int, int, Any]], problem: str
    ) -> None:
        path = self.changed(
            tmp_path / "x.safetensors",
            lambda fields: fields.__setitem__(100, (1, 2, join_message(piece))),
        )
        assert problem in refusal(path)


@pytest.mark.heavy
def test_a_file_of_an_earlier_version_without_checksums_and_word_counts_is_read_as_ever(
    tmp_path: Path,
) -> None:
    parts = Parts.of(bundled_model_path().read_bytes())
    for name in ("checksums", "word_counts", "corpus_digest"):
        del parts.description[name]
    del parts.header["word_counts.source"]
    _place_in_a_row(parts)
    path = tmp_path / "old.safetensors"
    path.write_bytes(parts.to_bytes())
    checkpoint = load_checkpoint(path)
    assert checkpoint.build_model().num_parameters == 7_578_624
    assert checkpoint.word_counts is None
    assert model_digest(checkpoint) == model_digest(load_checkpoint(bundled_model_path()))
