"""The import in the window refuses what the command refuses."""

from pathlib import Path

import pytest

from augenmerk.core.errors import StorageError
from augenmerk.viz_app.extensions.imports.import_dialog import ImportJob


@pytest.mark.heavy  # the first to import torch
def test_no_file_of_the_original_is_written_over(tmp_path: Path) -> None:
    folder, link = tmp_path / "model", tmp_path / "link"
    folder.mkdir()
    weights = folder / "model.safetensors"
    weights.write_bytes(b"original")
    (folder / "config.json").write_text("{}")
    link.symlink_to(weights)
    for source, target in (
        (folder, weights),
        (folder, link),
        (weights, link),
        (str(folder), folder / "config.json"),
    ):
        with pytest.raises(StorageError, match=r"Cannot write .*: it is"):
            ImportJob(source, target).work(lambda progress: None, lambda: False)
    assert weights.read_bytes() == b"original"
