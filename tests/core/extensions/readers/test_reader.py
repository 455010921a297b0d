"""A reader that is added is asked: about its folders and files, and by everything that lists what
can be imported."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from augenmerk.core.errors import ModelImportError, StorageError
from augenmerk.core.extensions.readers.foreign_files import recognize
from augenmerk.core.extensions.readers.importing import import_model
from augenmerk.core.extensions.readers.model import check_target
from augenmerk.core.extensions.readers.reader import (
    READERS,
    FileReader,
    FolderReader,
    Reader,
    importable,
    patterns_of_files,
)

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
        *("*.safetensors", "*.pt", "*.pth", "*.bin", "*.ckpt", "*.lines"),
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
