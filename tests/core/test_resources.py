from pathlib import Path

import pytest

import augenmerk.core.resources
from augenmerk.core.extensions.training.corpora.parallel import read_lines
from augenmerk.core.resources import bundled_model_path, example_sentences, resource_path

REPOSITORY = Path(__file__).resolve().parents[2]


def test_a_checkout_reads_its_resources_folder() -> None:
    assert resource_path("examples.txt") == REPOSITORY / "resources" / "examples.txt"
    assert resource_path("examples.txt").is_file()


def test_an_installed_wheel_reads_the_folder_inside_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "core" / "_resources").mkdir(parents=True)
    monkeypatch.setattr(
        augenmerk.core.resources, "__file__", str(tmp_path / "core" / "resources.py")
    )
    assert resource_path("icon.png") == tmp_path.resolve() / "core" / "_resources" / "icon.png"


def test_the_bundled_model_is_a_resource() -> None:
    assert bundled_model_path() == resource_path("multi30k-de-en.safetensors")


def test_the_examples_of_notebook_6_are_among_those_to_be_tried(multi30k_folder: Path) -> None:
    """It shows attention for train 8, validation 6 and test 10, counted from 0."""
    places = {"train": 8, "val": 6, "test_2016_flickr": 10}
    shown = tuple(
        read_lines(multi30k_folder / f"{split}.de.gz")[index] for split, index in places.items()
    )
    assert example_sentences()[-3:] == shown
    assert len(set(example_sentences())) == len(example_sentences())
