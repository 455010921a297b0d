"""Files that are no checkpoints are reported in the words of the extension that recognizes them."""

from pathlib import Path

import pytest

from augenmerk.core import registry
from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.errors import CheckpointError
from augenmerk.core.recognizers import RECOGNIZERS, Recognized, Recognizer, advice, recognize
from augenmerk.core.registry import Registry
from augenmerk.core.resources import bundled_model_path


@pytest.fixture(autouse=True)
def _no_extensions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "installed_entry_points", lambda group: {})
    empty: Registry[Recognizer] = Registry(RECOGNIZERS.group, Recognizer, RECOGNIZERS.noun)
    monkeypatch.setattr("augenmerk.core.recognizers.RECOGNIZERS", empty)


def add(name: str, answer: Recognized | None) -> list[Path]:
    """Adds a recognizer that always answers so; returns the paths that it is asked about."""
    asked: list[Path] = []

    def answer_to(path: Path) -> Recognized | None:
        asked.append(path)
        return answer

    from augenmerk.core import recognizers

    recognizers.RECOGNIZERS[name] = Recognizer(answer_to)
    return asked


def test_the_first_answer_counts(tmp_path: Path) -> None:
    path = tmp_path / "sculpture.stone"
    path.write_bytes(b"marble")
    add("paintings", None)
    add("sculptures", Recognized(f"{path} is a sculpture. Choose a model.", source=path))
    unasked = add("stones", Recognized("a stone"))
    assert recognize(path) == Recognized(f"{path} is a sculpture. Choose a model.", source=path)
    assert not unasked
    with pytest.raises(
        CheckpointError, match=r"sculpture\.stone is a sculpture\. Choose a model\.$"
    ):
        load_checkpoint(path)


def test_without_an_extension_a_file_is_simply_no_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "sculpture.stone"
    path.write_bytes(b"marble")
    with pytest.raises(CheckpointError, match="cannot be read as a checkpoint"):
        load_checkpoint(path)
    with pytest.raises(CheckpointError, match="cannot be read as a checkpoint"):
        load_checkpoint(tmp_path)
    assert advice() == "Choose a checkpoint (*.safetensors)."
    with pytest.raises(CheckpointError, match=r"There is no file .*missing\. Check the path"):
        load_checkpoint(tmp_path / "missing")


def test_nobody_is_asked_about_a_checkpoint_even_if_it_is_damaged(tmp_path: Path) -> None:
    asked = add("everything", Recognized("anything"))
    assert recognize(bundled_model_path()) is None
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(bundled_model_path().read_bytes()[:100_000])
    with pytest.raises(CheckpointError, match="cannot be read as a checkpoint"):
        load_checkpoint(damaged)
    assert not asked
