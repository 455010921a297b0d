"""A checkpoint comes back as it was, or is refused with a message; it is whole or not there."""

import ast
import dataclasses
import gc
import json
import math
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from augenmerk.core import __version__
from augenmerk.core.checkpoint import file as file_module
from augenmerk.core.checkpoint.file import (
    Checkpoint,
    fill_parameters,
    load_checkpoint,
    model_digest,
    save_checkpoint,
)
from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.core.config import RunConfig
from augenmerk.core.errors import CheckpointError, StorageError
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.learning import learn_codecs
from augenmerk.core.extensions.training.corpora.word_counting import count_words
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.tensor_file import open_tensor_file

REPOSITORY = Path(__file__).resolve().parents[3]
GERMAN, ENGLISH = [["ein", "mann", "rennt"]] * 2, [["a", "man", "runs", "."]] * 2
RECORDS = (
    EpochRecord(1, 10, 3.0, 2.5, 2.6, 5e-4, 1.5),
    EpochRecord(2, 20, 2.0, 2.25, 2.3, 5e-4, 1.25),
)
TINY = preset("notebook").model.replace(
    width=16, num_heads=2, num_encoder_layers=2, num_decoder_layers=2, feed_forward_width=16
)


def run_with(**model: Any) -> RunConfig:
    return dataclasses.replace(preset("notebook"), model=TINY.replace(**model))


def make(run: RunConfig | None = None, **changes: Any) -> Checkpoint:
    run = run or run_with()
    codecs = learn_codecs(run.data, GERMAN, ENGLISH)
    torch.manual_seed(0)
    model = Transformer(
        run.model, len(codecs.source.vocabulary), len(codecs.target.vocabulary), padding_id=1
    )
    weights = dict(model.named_parameters())
    return Checkpoint(
        run, codecs, weights, **({"corpus": "multi30k", "history": RECORDS} | changes)
    )


def logits(model: Transformer) -> Tensor:
    with torch.inference_mode():
        return model(torch.tensor([[2, 4, 5, 3]]), torch.tensor([[2, 4, 5]])).logits


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    save_checkpoint(make(), path)
    return path


VARIANTS = {
    "notebook": {},
    "annotated": {
        "norm_position": "pre",
        "norm_kind": "annotated",
        "final_norm": True,
        "positions": "sinusoidal",
    },
    "tied output": {"tied_embeddings": "output", "output_bias": False},
}


class TestRoundTrip:
    def test_everything_comes_back(self, file: Path) -> None:
        before, after = make(), load_checkpoint(file)
        assert (after.run, after.corpus, after.history) == (
            before.run,
            before.corpus,
            before.history,
        )
        assert after.codecs.to_dict() == before.codecs.to_dict()
        assert after.written_by == __version__
        assert after.weights.keys() == before.weights.keys()
        assert all(
            torch.equal(after.weights[name], before.weights[name]) for name in before.weights
        )
        assert not after.state
        assert not after.progress

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_the_model_built_from_it_computes_the_same(self, tmp_path: Path, variant: str) -> None:
        checkpoint = make(run_with(**VARIANTS[variant]))
        save_checkpoint(checkpoint, tmp_path / "x")
        model = load_checkpoint(tmp_path / "x").build_model()
        original = Transformer(
            checkpoint.run.model,
            len(checkpoint.codecs.source.vocabulary),
            len(checkpoint.codecs.target.vocabulary),
            padding_id=1,
        )
        fill_parameters(original, checkpoint.weights)
        assert torch.equal(logits(model), logits(original.eval()))
        assert not model.training
        assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}

    def test_shared_matrices_are_kept_once_and_shared_again(self, tmp_path: Path) -> None:
        save_checkpoint(make(run_with(tied_embeddings="output")), tmp_path / "x")
        checkpoint = load_checkpoint(tmp_path / "x")
        assert "output.weight" not in checkpoint.weights
        model = checkpoint.build_model()
        assert model.output.weight is model.target_embedding.tokens.weight

    def test_half_precision_halves_the_weights_and_keeps_them_to_three_digits(
        self, tmp_path: Path, file: Path
    ) -> None:
        half = tmp_path / "half.safetensors"
        save_checkpoint(make(), half, half_precision=True)
        weights, exact = load_checkpoint(half).weights, load_checkpoint(file).weights
        assert {value.dtype for value in weights.values()} == {torch.float16}
        num_bytes = sum(value.numel() * 4 for value in exact.values())
        assert file.stat().st_size - half.stat().st_size == pytest.approx(num_bytes / 2, abs=100)
        for name, value in exact.items():
            assert torch.allclose(weights[name].float(), value, rtol=1e-3, atol=1e-6)
        model = load_checkpoint(half).build_model()
        assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
        assert torch.allclose(logits(model), logits(load_checkpoint(file).build_model()), atol=0.02)

    def test_what_resuming_needs_is_read_only_when_asked_for(self, tmp_path: Path) -> None:
        state, progress = (
            {"random.cpu": torch.get_rng_state()},
            {"epoch": 3, "best_validation_loss": None},
        )
        save_checkpoint(make(state=state, progress=progress), tmp_path / "x", half_precision=True)
        assert not load_checkpoint(tmp_path / "x").state
        loaded = load_checkpoint(tmp_path / "x", with_state=True)
        assert torch.equal(loaded.state["random.cpu"], state["random.cpu"])
        assert loaded.progress == progress

    def test_building_a_model_draws_no_random_numbers(self, file: Path) -> None:
        """A model tried out during a training must not change that training."""
        before = torch.get_rng_state()
        load_checkpoint(file).build_model()
        assert torch.equal(torch.get_rng_state(), before)


def refusal(path: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(path, with_state=True).build_model()
    message = str(caught.value)
    assert re.search("Use another|Choose|Check|Import it|Update Augenmerk|Install", message)
    return message


def rewrite(path: Path, weights: dict[str, Any] | None = None, **metadata: Any) -> None:
    """Writes the file again with other weights or other metadata; None takes away."""
    with safe_open(path, framework="pt") as opened:
        old = json.loads(opened.metadata()["augenmerk"])
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    tensors |= {f"model.{name}": value for name, value in (weights or {}).items()}
    description = {name: value for name, value in (old | metadata).items() if value is not ...}
    save_file(
        {name: value for name, value in tensors.items() if value is not None},
        path,
        metadata={"augenmerk": json.dumps(description)},
    )


def with_counts(path: Path) -> Path:
    save_checkpoint(make(word_counts=count_words(GERMAN, "tales")), path)
    return path


COUNTS = "word_counts.source"


class TestWordCounts:
    def test_they_come_back_with_the_weights_and_the_state(self, tmp_path: Path) -> None:
        path = with_counts(tmp_path / "x")
        for with_state in (False, True):
            counts = load_checkpoint(path, with_state=with_state).word_counts
            assert counts is not None
            assert dict(counts.counts) == {"ein": 2, "mann": 2, "rennt": 2}
            assert counts.kind == "tales"
        assert load_checkpoint(path).weights.keys() == make().weights.keys()

    def test_a_file_written_again_is_the_same_to_the_byte(self, tmp_path: Path) -> None:
        path = with_counts(tmp_path / "x")
        save_checkpoint(load_checkpoint(path), tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == path.read_bytes()

    def test_they_are_no_part_of_what_a_model_is_known_by(self, tmp_path: Path, file: Path) -> None:
        assert model_digest(load_checkpoint(with_counts(tmp_path / "x"))) == model_digest(
            load_checkpoint(file)
        )

    def test_a_file_without_them_is_read_as_ever(self, file: Path) -> None:
        assert load_checkpoint(file).word_counts is None

    @pytest.mark.parametrize(
        ("tensor", "metadata", "problem"),
        [
            (None, {}, "is missing"),
            (..., {"word_counts": ...}, "is missing"),
            (torch.zeros(0, dtype=torch.uint8), {}, "cut off"),
            (torch.zeros(40, dtype=torch.uint8), {}, "cannot be unpacked"),
            (torch.zeros(40), {}, "is F32 [40]"),
            (torch.zeros(4, 4, dtype=torch.uint8), {}, "is U8 [4, 4]"),
            (torch.tensor(1, dtype=torch.uint8), {}, "is U8 []"),
            (..., {"word_counts": None}, "word_counts is null"),
            (
                ...,
                {"word_counts": {"kind": "", "least": 1, "num_words": 4, "unusual_below": 0}},
                "not 4",
            ),
        ],
        ids=str,
    )
    def test_damaged_or_contradictory_ones_are_refused(
        self, tmp_path: Path, tensor: Any, metadata: dict[str, Any], problem: str
    ) -> None:
        path = with_counts(tmp_path / "x")
        with safe_open(path, framework="pt") as opened:
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
            description = json.loads(opened.metadata()["augenmerk"]) | metadata
        if tensor is None:
            del tensors[COUNTS]
        elif tensor is not ...:
            tensors[COUNTS] = tensor
        description = {
            name: value
            for name, value in description.items()
            if value is not ... and name != "checksums"
        }
        save_file(tensors, path, metadata={"augenmerk": json.dumps(description)})
        message = refusal(path)
        assert f"{path} is damaged in its word counts" in message
        assert problem in message

    def test_other_counts_than_were_written_are_noticed(self, tmp_path: Path) -> None:
        path = with_counts(tmp_path / "x")
        other = count_words([["ein", "hund", "rennt"]])
        assert other is not None
        with safe_open(path, framework="pt") as opened:
            metadata = opened.metadata()
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
        tensors[COUNTS] = torch.tensor(list(other.pack()), dtype=torch.uint8)
        save_file(tensors, path, metadata=metadata)
        assert "their checksum differs" in refusal(path)

    def test_the_copy_task_has_none(self, tmp_path: Path) -> None:
        path = with_counts(tmp_path / "x")
        run = preset("copy-task-small")
        description = run_with().to_dict() | {"data": run.data.to_dict()}
        rewrite(path, run=description, checksums=...)
        assert "symbols of the copy task are not words" in refusal(path) or "damaged" in refusal(
            path
        )


class TestRefusals:
    def test_missing(self, tmp_path: Path) -> None:
        message = refusal(tmp_path / "none.safetensors")
        assert message.startswith(f"There is no file {tmp_path / 'none.safetensors'}")
        assert "Check the path" in message

    def test_empty(self, file: Path) -> None:
        file.write_bytes(b"")
        assert f"{file} is empty" in refusal(file)

    def test_a_folder(self, tmp_path: Path) -> None:
        assert "cannot be read as a checkpoint" in refusal(tmp_path)

    def test_not_readable(self, file: Path, permissions_withheld) -> None:
        with permissions_withheld(file, 0o000):
            assert "cannot be read as a checkpoint" in refusal(file)

    def test_cut_off_anywhere(self, file: Path) -> None:
        whole = file.read_bytes()
        for length in (*range(1, 20), *range(20, len(whole), len(whole) // 40), len(whole) - 1):
            file.write_bytes(whole[:length])
            assert "cannot be read as a checkpoint" in refusal(file)

    def test_noise(self, file: Path) -> None:
        for seed in range(20):
            file.write_bytes(random.Random(seed).randbytes(2000))
            assert "cannot be read as a checkpoint" in refusal(file)

    def test_a_pickle(self, file: Path) -> None:
        """Protocol 4, a list; and the zip that PyTorch writes. Neither is unpacked."""
        for content in (
            b"\x80\x04]\x94." + bytes(100),
            b"PK\x03\x04" + bytes(200) + b"archive/data.pkl",
        ):
            file.write_bytes(content)
            assert f"{file} is a PyTorch file. Import it first" in refusal(file)

    @pytest.mark.parametrize(
        "metadata", [None, {"format": "pt"}, {"augenmerk": "[]"}, {"augenmerk": "5"}]
    )
    def test_a_foreign_safetensors_file(self, file: Path, metadata: dict[str, str] | None) -> None:
        save_file({"weight": torch.zeros(3)}, file, metadata=metadata)
        is_described = "augenmerk" in (metadata or {})
        kind = (
            "file, but not one of Augenmerk's checkpoints"
            if is_described
            else "file of another program. Import it"
        )
        assert f"{file} is a safetensors {kind}" in refusal(file)

    @pytest.mark.parametrize("text", ["{", "", '{"format": ', "[" * 100_000, "nul"])
    def test_a_description_that_is_not_json(self, file: Path, text: str) -> None:
        save_file({"weight": torch.zeros(3)}, file, metadata={"augenmerk": text})
        assert "cannot be read as a checkpoint" in refusal(file)

    def test_of_a_newer_version(self, file: Path) -> None:
        rewrite(file, version=2)
        message = refusal(file)
        assert (
            "was written by a newer Augenmerk (format 2, this one reads up to 1). Update Augenmerk"
            in message
        )

    @pytest.mark.parametrize("version", [..., None, "1", 1.5, True, 0, -1])
    def test_of_no_version(self, file: Path, version: Any) -> None:
        rewrite(file, version=version)
        assert "cannot be read as a checkpoint (its format version is" in refusal(file)

    @pytest.mark.parametrize(
        "metadata",
        [
            {"run": ...},
            {"run": None},
            {"run": []},
            {"run": {"model": {"width": -1}}},
            {"run": {"model": {"no_such_setting": 1}}},
            {"run": {"data": {"tokenization": "bytes"}}},
            {"codecs": ...},
            {"codecs": "x"},
            {"codecs": {"source": {"tokens": []}, "target": {}}},
            {"codecs": {"subwords": "AAAA"}},
            {"history": ...},
            {"history": 5},
            {"history": [5]},
            {"history": [{"epoch": 1}]},
            {"history": [dataclasses.asdict(RECORDS[0]) | {"epoch": "one"}]},
            {"history": [dataclasses.asdict(RECORDS[0]) | {"extra": 1}]},
            {"progress": 5},
            {"progress": "running"},
            {"progress": []},
            {"corpus": 5},
            {"corpus_digest": None},
            {"written_by": ["1.0"]},
            {"decoding": {"forbidden_ids": [8]}},
            {"origin": {"format": "marian"}},
            {"origin": {"format": "marian", "source": 5}},
        ],
        ids=str,
    )
    def test_a_damaged_description(self, file: Path, metadata: dict[str, Any]) -> None:
        rewrite(file, **metadata)
        message = refusal(file)
        assert f"{file} is a damaged checkpoint: its description cannot be read" in message
        assert "Use another copy" in message

    def test_a_codec_of_an_extension_that_is_not_installed(self, file: Path) -> None:
        rewrite(file, codecs={"klingon": {"source": {}, "target": {}}})
        message = refusal(file)
        assert (
            f"{file} needs an extension that is not installed here. There is no codec “klingon”."
            in message
        )
        assert "Install the extension that provides it." in message

    @pytest.mark.parametrize(
        ("weights", "problem"),
        [
            ({"output.bias": None}, "output.bias is missing"),
            ({"output.extra": torch.zeros(2)}, "output.extra is not known"),
            ({"output.bias": torch.zeros(3)}, "output.bias is [3], not ["),
            ({"output.weight": torch.zeros(16, 8)}, "output.weight is [16, 8], not [8, 16]"),
        ],
    )
    def test_weights_that_do_not_fit(
        self, file: Path, weights: dict[str, Any], problem: str
    ) -> None:
        rewrite(file, weights)
        message = refusal(file)
        assert "The weights do not fit the model's settings" in message
        assert problem in message

    def test_many_misfits_are_not_all_listed(self, file: Path) -> None:
        rewrite(file, run=run_with(width=32).to_dict())
        message = refusal(file)
        assert message.count(", not [") <= 6
        assert "…" in message

    @pytest.mark.heavy
    def test_a_byte_changed_in_the_header_is_never_a_traceback(self, file: Path) -> None:
        whole = bytearray(file.read_bytes())
        header = 8 + int.from_bytes(whole[:8], "little")
        rng = random.Random(7)
        for _ in range(150):
            damaged = bytearray(whole)
            damaged[rng.randrange(header)] = rng.randrange(256)
            file.write_bytes(bytes(damaged))
            try:
                load_checkpoint(file, with_state=True).build_model()
            except CheckpointError:
                continue


class TestWriting:
    def test_a_failing_write_leaves_the_older_file(self, file: Path, monkeypatch) -> None:
        before = file.read_bytes()

        def fails(tensors: Any, path: Path, metadata: Any) -> None:
            path.write_bytes(b"half")
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(file_module, "save_file", fails)
        with pytest.raises(StorageError, match="No space left on device"):
            save_checkpoint(make(corpus="other"), file)
        assert file.read_bytes() == before
        assert list(file.parent.iterdir()) == [file]

    def test_an_error_of_safetensors_is_one_of_storage(self, file: Path, monkeypatch) -> None:
        def fails(*args: Any, **kwargs: Any) -> None:
            raise SafetensorError(
                "Error while serializing: I/O error: No space left on device (os error 28)"
            )

        monkeypatch.setattr(file_module, "save_file", fails)
        with pytest.raises(StorageError, match=r"Cannot write .*No space left on device"):
            save_checkpoint(make(), file)
        assert load_checkpoint(file).corpus == "multi30k"

    def test_a_crash_while_writing_leaves_the_older_file(self, file: Path, monkeypatch) -> None:
        def crashes(*args: Any, **kwargs: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(file_module, "save_file", crashes)
        with pytest.raises(KeyboardInterrupt):
            save_checkpoint(make(corpus="other"), file)
        assert load_checkpoint(file).corpus == "multi30k"
        assert list(file.parent.iterdir()) == [file]

    def test_the_header_is_json_that_anyone_can_read(self, file: Path) -> None:
        with safe_open(file, framework="pt") as opened:
            description = json.loads(opened.metadata()["augenmerk"])
        assert description["format"] == "augenmerk-checkpoint"
        assert description["run"]["model"]["width"] == 16
        assert description["codecs"]["source"]["tokens"][:4] == ["<unk>", "<pad>", "<sos>", "<eos>"]
        assert description["history"][1]["validation_loss"] == 2.25


def _names_of(tree: ast.AST) -> set[str]:
    """Every imported module and every attribute, as dotted text."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {
                (node.module or "").split(".")[0],
                *(f"{node.module}.{alias.name}" for alias in node.names),
            }
        elif isinstance(node, ast.Attribute):
            names.add(ast.unparse(node))
    return names


@pytest.mark.heavy
def test_nothing_in_the_engine_pickles() -> None:
    forbidden = {
        "pickle",
        "cPickle",
        "dill",
        "joblib",
        "shelve",
        "marshal",
        "torch.load",
        "torch.save",
    }
    door = REPOSITORY / "core" / "extensions" / "readers" / "pickled.py"  # docs/adr/0002
    modules = [path for path in (REPOSITORY / "core").rglob("*.py") if path != door]
    assert len(modules) > 30
    names_by_path = {
        str(path): _names_of(ast.parse(path.read_text(encoding="utf-8"))) & forbidden
        for path in modules
    }
    assert not {path: names for path, names in names_by_path.items() if names}
    loads = [path for path in modules if "np.load(" in path.read_text(encoding="utf-8")]
    assert not loads, "np.load can unpickle"


def test_a_record_counts_losses_as_numbers() -> None:
    record = EpochRecord.from_dict(dataclasses.asdict(RECORDS[0]))
    assert record == RECORDS[0]
    assert math.isfinite(record.validation_loss)


def test_a_damaged_width_is_refused_before_memory_is_taken(untrained_checkpoint: Path) -> None:
    checkpoint = load_checkpoint(untrained_checkpoint)
    run = dataclasses.replace(checkpoint.run, model=checkpoint.run.model.replace(width=131_072))
    with pytest.raises(CheckpointError, match="do not fit"):
        dataclasses.replace(checkpoint, run=run).build_model()


def test_a_model_is_not_filled_with_weights_that_do_not_fit(file: Path) -> None:
    weights = load_checkpoint(file).weights
    model = load_checkpoint(file).build_model()
    before = {name: value.clone() for name, value in model.named_parameters()}
    doubled = {name: 2 * value for name, value in weights.items()}
    for changed, problem in (
        ({"output.bias": torch.zeros(3)}, r"output\.bias is \[3\], not \[8\]"),
        ({"output.more": torch.zeros(3)}, r"output\.more is not known"),
        ({"output.bias": torch.full((8,), torch.nan)}, r"NaN or infinite \(8 of 8\)"),
    ):
        with pytest.raises(CheckpointError, match=problem):
            fill_parameters(model, doubled | changed)
    with pytest.raises(CheckpointError, match=r"output\.bias is missing"):
        fill_parameters(
            model, {name: value for name, value in doubled.items() if name != "output.bias"}
        )
    assert all(torch.equal(value, before[name]) for name, value in model.named_parameters())


def test_weights_that_are_no_numbers_are_refused(untrained_checkpoint: Path) -> None:
    checkpoint = load_checkpoint(untrained_checkpoint)
    weights = {
        name: torch.full_like(value, float("nan")) for name, value in checkpoint.weights.items()
    }
    with pytest.raises(CheckpointError, match="NaN or infinite"):
        dataclasses.replace(checkpoint, weights=weights).build_model()


def test_a_file_one_may_not_read_is_not_called_missing(
    untrained_checkpoint: Path, permissions_withheld
) -> None:
    with (
        permissions_withheld(untrained_checkpoint, 0o000),
        pytest.raises(CheckpointError, match="denied"),
    ):
        load_checkpoint(untrained_checkpoint)


def test_a_folder_is_named_as_one(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="it is a folder"):
        load_checkpoint(tmp_path)


@pytest.mark.subprocess
@pytest.mark.slow
def test_a_model_is_built_without_the_half_of_torch_that_compiles() -> None:
    program = (
        "import sys\n"
        "from augenmerk.core.checkpoint.file import load_checkpoint\n"
        "from augenmerk.core.resources import bundled_model_path\n"
        "load_checkpoint(bundled_model_path()).build_model()\n"
        "print([name for name in ('torch._dynamo', 'sympy') if name in sys.modules])\n"
    )
    output = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    assert output.strip() == "[]"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere names are text")
def test_a_name_that_is_no_utf8_can_be_read_as_it_can_be_written(
    untrained_checkpoint: Path, tmp_path: Path
) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.safetensors"))
    original = load_checkpoint(untrained_checkpoint)
    save_checkpoint(original, path)
    assert model_digest(load_checkpoint(path)) == model_digest(original)


def test_reading_a_checkpoint_again_keeps_no_memory(file: Path) -> None:
    def objects_after_reading(times: int) -> int:
        for _ in range(times):
            load_checkpoint(file)
        gc.collect()
        return sys.getallocatedblocks()

    num_tensors = len(load_checkpoint(file).weights)
    before = objects_after_reading(3)
    # at least one is kept for each, ten times, if any is
    assert objects_after_reading(10) - before < num_tensors


def test_tensors_are_those_that_the_library_reads(tmp_path: Path) -> None:
    path = tmp_path / "tensors.safetensors"
    written = {
        "b": torch.randn(3, 5).to(torch.bfloat16),
        "bytes": torch.arange(7, dtype=torch.uint8),
        "empty": torch.zeros(0, 4),
        "f": torch.randn(2, 3),
        "i": torch.arange(5),
        "scalar": torch.tensor(2.5, dtype=torch.float64),
        "truth": torch.tensor([True, False]),
    }
    save_file(written, path)
    with open_tensor_file(path, "pt") as opened, safe_open(path, framework="pt") as library:
        assert set(opened.tensors) == set(written)
        for name, info in opened.tensors.items():
            tensor, expected = opened.read(name), library.get_tensor(name)
            assert tensor.dtype == expected.dtype
            assert tensor.shape == expected.shape == info.shape
            assert torch.equal(tensor, expected)
        opened.read("f").fill_(0)
    with open_tensor_file(path, "pt") as opened:
        assert torch.equal(opened.read("f"), written["f"])  # what is changed in memory stays there
