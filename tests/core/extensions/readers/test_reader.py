"""A reader that is added is asked: about its folders and files, and by everything that lists what
can be imported."""

import json
import math
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from augenmerk.core.checkpoint.file import Checkpoint, load_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.config import DataConfig, ModelConfig
from augenmerk.core.errors import ModelImportError, ReaderFaultError, StorageError
from augenmerk.core.extensions.readers.folder import ModelFolder
from augenmerk.core.extensions.readers.foreign_files import recognize
from augenmerk.core.extensions.readers.importing import import_model
from augenmerk.core.extensions.readers.model import (
    FolderModel,
    ImportedModel,
    ImportOptions,
    check_target,
    imported_from_file,
)
from augenmerk.core.extensions.readers.reader import (
    READERS,
    FileReader,
    FolderReader,
    Reader,
    importable,
    patterns_of_files,
)
from augenmerk.core.text.codec import CodecPair

HERE = "tests.core.extensions.readers.test_reader"
BART = FolderReader(
    name="BART",
    code=f"{HERE}:refuse",
    order=100,
    settings_file="config.json",
    settings={"model_type": ["bart"], "architectures": [None, ["BartModel"]]},
    weights="model.safetensors",
)
PLAIN = FolderReader(
    name="Plain {MT}",
    code=f"{HERE}:refuse",
    order=50,
    settings_file="Model.json",
    weights="weights.safetensors",
)
LINES = FileReader(
    name="Lines", code="no_such_module:read", order=60, weight="lines.first", files="*.lines"
)


def refuse(*arguments: object) -> None:
    """Says that this reader was asked."""
    raise ModelImportError("the reader was asked")


@pytest.fixture
def _added() -> Iterator[None]:
    added: dict[str, Reader] = {"bart": BART, "plain": PLAIN, "lines": LINES}
    READERS.update(added)
    yield
    for name in added:
        del READERS[name]


def message_about(path: Path) -> str:
    recognized = recognize(path)
    assert recognized is not None
    return recognized.message


@pytest.mark.usefixtures("_added")
def test_a_name_that_several_projects_use_is_told_apart_by_the_settings_in_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"x")
    (tmp_path / "config.json").write_text(
        json.dumps({"model_type": "bart", "architectures": ["BartModel"]})
    )
    assert message_about(tmp_path).startswith(f"{tmp_path} is a model of BART. Import it first")
    with pytest.raises(ModelImportError, match="the reader was asked"):
        import_model(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "marian"}))
    assert "is a model of Marian (OPUS-MT)." in message_about(tmp_path)
    (tmp_path / "config.json").write_text(
        json.dumps({"model_type": "bart", "architectures": ["BartForSums"]})
    )
    assert "is a model of the architecture BartForSums (type bart)." in message_about(tmp_path)


@pytest.mark.usefixtures("_added")
def test_a_folder_is_known_by_its_settings_and_its_files_belong_to_it(tmp_path: Path) -> None:
    save_file({"a.weight": torch.ones(1)}, tmp_path / "weights.safetensors")
    (tmp_path / "Model.json").write_text("{}")
    assert message_about(tmp_path).startswith(
        f"{tmp_path} is a model of Plain {{MT}}. Import it first"
    )
    for name in ("weights.safetensors", "Model.json"):
        recognized = recognize(tmp_path / name)
        assert recognized is not None
        assert recognized.source == tmp_path
        with pytest.raises(
            ModelImportError, match=f"only one of the files of a model. Choose .* model, {tmp_path}"
        ):
            import_model(tmp_path / name)
    (tmp_path / "weights.safetensors").unlink()
    assert "is a model of Plain" in message_about(tmp_path)
    with pytest.raises(StorageError, match="would be looked for in it"):
        check_target(tmp_path / "weights.safetensors", [tmp_path])


@pytest.mark.usefixtures("_added")
def test_all_that_can_be_imported_is_listed(tmp_path: Path) -> None:
    assert importable() == (
        "the folder of a Marian (OPUS-MT), JoeyNMT, Plain {MT} or BART model, "
        "or a file of notebook 6, The Annotated Transformer or Lines"
    )
    assert patterns_of_files() == [
        *("*.safetensors", "*.pt", "*.pth", "*model*.bin", "*.ckpt", "*.lines"),
        *("config.json", "config.yaml", "Model.json"),
    ]
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    assert message_about(tmp_path / "model.gguf").endswith(f"Choose {importable()}.")
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        ModelImportError,
        match=r"has no config\.json and no config\.yaml and no Model\.json; it holds",
    ):
        import_model(tmp_path / "empty")


@pytest.mark.usefixtures("_added")
def test_a_reader_whose_code_is_missing_is_reported(tmp_path: Path) -> None:
    save_file({"lines.first": torch.ones(1)}, tmp_path / "model.lines")
    assert "is a model of Lines. Import it first" in message_about(tmp_path / "model.lines")
    with pytest.raises(
        ModelImportError, match=r"The reader of Lines cannot be used \(.*\)\. Update or remove"
    ):
        import_model(tmp_path / "model.lines")


Change = Callable[[dict[str, Tensor]], object]


class CopiedFolder(FolderModel):
    """A checkpoint of this project as the model of another one, with the weights changed by a
    test.
    """

    kind, format = "copied", "Copies, by tests"
    change: ClassVar[Change]

    def __init__(self, folder: ModelFolder, options: ImportOptions) -> None:
        super().__init__(folder, options)
        self.files = [folder.file("weights.safetensors")]
        self.original = checkpoint_of(folder.path)
        self.codecs, self.data = self.original.codecs, self.original.run.data
        self.num_parameters = sum(
            math.prod(value.shape) for value in self.original.weights.values()
        )

    def convert(self, weights: Mapping[str, Tensor]) -> tuple[ModelConfig, dict[str, Tensor]]:
        converted = dict(weights)
        type(self).change(converted)
        return self.original.run.model, converted


def read_copied(path: Path, weights: Mapping[str, Tensor], options: ImportOptions) -> ImportedModel:
    """The same of a single file."""
    converted = dict(weights)
    del converted["lines.first"]
    CopiedFolder.change(converted)
    checkpoint = replace(checkpoint_of(path.parent), weights=converted)
    return imported_from_file(path, weights, options, CopiedFolder.format, checkpoint)


def checkpoint_of(folder: Path) -> Checkpoint:
    return load_checkpoint(folder / "original.checkpoint")


@pytest.fixture(params=["folder", "file"])
def copied(
    request: pytest.FixtureRequest,
    untrained_checkpoint: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """What the readers above read: a folder, or a file."""
    folder = replace(PLAIN, name="Copies", code=f"{HERE}:CopiedFolder")
    monkeypatch.setitem(READERS, "plain", folder)
    monkeypatch.setitem(READERS, "lines", replace(LINES, name="Copies", code=f"{HERE}:read_copied"))
    shutil.copy(untrained_checkpoint, tmp_path / "original.checkpoint")
    weights = checkpoint_of(tmp_path).weights
    if request.param == "folder":
        (tmp_path / "Model.json").write_text("{}")
        save_file(weights, tmp_path / "weights.safetensors")
        return tmp_path
    save_file({**weights, "lines.first": torch.ones(1)}, tmp_path / "model.lines")
    return tmp_path / "model.lines"


def rename(weights: dict[str, Tensor]) -> None:
    weights["encoder_norm.scale"] = weights.pop("output.weight")


def narrow(weights: dict[str, Tensor]) -> None:
    weights["output.weight"] = weights["output.weight"][:, 1:]


def overflow(weights: dict[str, Tensor]) -> None:
    weights["output.bias"] = torch.full_like(weights["output.bias"], math.inf)


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        (rename, "encoder_norm.scale is not known; output.weight is missing."),
        (narrow, r"output.weight is \[\d+, 15\], not \[\d+, 16\]."),
    ],
)
def test_converted_weights_that_fit_no_model_are_refused(
    copied: Path, change: Change, problems: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CopiedFolder, "change", change, raising=False)
    with pytest.raises(
        ModelImportError, match=f"The reader of “Copies, by tests” returned weights .*: {problems}"
    ):
        import_model(copied)


def test_a_file_is_written_only_of_finite_weights(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CopiedFolder, "change", overflow, raising=False)
    model = import_model(copied)
    with pytest.raises(ModelImportError, match=r"output\.bias is not finite"):
        model.save(tmp_path / "imported.safetensors")
    assert not (tmp_path / "imported.safetensors").exists()


def fail(*arguments: object) -> None:
    """A bug in a reader."""
    raise KeyError("oops")


def refuse_vocabularies(*arguments: object) -> None:
    """Refuses a damaged file with an error of the kernel."""
    CodecPair.from_dict(DataConfig(), {"source": 1})


@pytest.mark.parametrize("part", ["__init__", "summary", "convert"])
def test_a_bug_in_the_code_of_a_reader_is_a_fault_of_its_extension(
    copied: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        CopiedFolder, part, property(fail) if part == "summary" else fail, raising=False
    )
    monkeypatch.setattr(CopiedFolder, "change", fail, raising=False)
    with pytest.raises(ReaderFaultError) as raised:
        import_model(copied)
    assert str(raised.value) == (
        "The reader of Copies failed (KeyError: 'oops'). This is a fault of the extension, not of "
        "the model. Update the package that provides it, or report the fault to its authors."
    )
    assert isinstance(raised.value.__cause__, KeyError)


def test_a_fault_of_a_reader_names_its_package() -> None:
    reader = READERS["marian"]
    with (
        pytest.raises(ReaderFaultError, match="Update the package augenmerk, or report"),
        reader.running(),
    ):
        fail()


def test_a_reader_that_returns_nothing_is_at_fault(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("plain", "lines"):
        monkeypatch.setitem(READERS, name, replace(READERS[name], code="builtins:print"))
    with pytest.raises(ReaderFaultError, match="The reader of Copies failed"):
        import_model(copied)


def test_errors_of_the_kernel_in_a_reader_are_errors_of_the_import(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CopiedFolder, "change", refuse_vocabularies, raising=False)
    with pytest.raises(
        ModelImportError, match="The vocabularies in this file are damaged"
    ) as raised:
        import_model(copied)
    assert not isinstance(raised.value, ReaderFaultError)


def test_a_lack_of_memory_in_a_reader_is_not_its_fault(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def need_too_much(weights: object) -> None:
        raise MemoryError

    monkeypatch.setattr(CopiedFolder, "change", need_too_much, raising=False)
    with pytest.raises(MemoryError):
        import_model(copied)


def test_the_terminal_reports_a_fault_of_a_reader_without_a_traceback(
    copied: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(CopiedFolder, "change", fail, raising=False)
    assert main(["import", str(copied), "--out", str(tmp_path / "imported.safetensors")]) == 2
    message = capsys.readouterr().err.splitlines()[-1]
    assert message.startswith("augenmerk: The reader of Copies failed (KeyError: 'oops').")
    assert not (tmp_path / "imported.safetensors").exists()
