from pathlib import Path

import pytest

import core.resources
from core.resources import bundled_model_path, resource_path


def test_a_checkout_reads_its_resources_folder() -> None:
    assert resource_path("examples.txt") == Path(core.__file__).parent.parent / "resources" / "examples.txt"
    assert resource_path("examples.txt").is_file()


def test_an_installed_wheel_reads_the_folder_inside_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "core" / "_resources").mkdir(parents=True)
    monkeypatch.setattr(core.resources, "__file__", str(tmp_path / "core" / "resources.py"))
    assert resource_path("icon.png") == tmp_path.resolve() / "core" / "_resources" / "icon.png"


def test_the_bundled_model_is_a_resource() -> None:
    assert bundled_model_path() == resource_path("multi30k-de-en.safetensors")
