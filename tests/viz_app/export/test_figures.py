from pathlib import Path

import numpy as np
import pytest

from core.errors import StorageError
from tests.test_walls import modules_imported_by
from viz_app.export.figures import KindPicture, MapPicture, grid_figure, map_figure, save_figure


def _picture(rows: int = 2, columns: int = 3) -> MapPicture:
    weights = np.linspace(0, 1, rows * columns, dtype=np.float32).reshape(rows, columns)
    names = [f"key{number}" for number in range(columns)]
    return MapPicture(weights, [f"row{number}" for number in range(rows)], names, "A head", "model: m · costs $5")


def test_a_map_is_drawn_with_its_weights_labels_and_caption() -> None:
    figure = map_figure(_picture())
    axes = figure.axes[0]
    np.testing.assert_array_equal(np.asarray(axes.collections[0].get_array()), _picture().weights)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["key0", "key1", "key2"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["row0", "row1"]


@pytest.mark.figures
@pytest.mark.parametrize(("name", "magic"), [("map.png", b"\x89PNG"), ("map.svg", b"<?xml"), ("map.PDF", b"%PDF")])
def test_a_figure_is_saved_in_the_format_of_its_ending(tmp_path: Path, name: str, magic: bytes) -> None:
    save_figure(map_figure(_picture()), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(magic)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.figures
def test_text_stays_text_in_a_vector_picture(tmp_path: Path) -> None:
    save_figure(map_figure(_picture()), tmp_path / "map.svg")
    text = (tmp_path / "map.svg").read_text(encoding="utf-8")
    for words in ("key1", "row0", "A head", "costs $5"):
        assert words in text


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"none of \.png, \.svg, \.pdf"):
        save_figure(map_figure(_picture()), tmp_path / "map.bmp")


def test_all_heads_have_a_place_and_missing_ones_are_blank() -> None:
    kinds = [
        KindPicture("Encoder", np.zeros((1, 3, 4, 4), dtype=np.float32), [[1.0] * 3]),
        KindPicture("Cross", np.zeros((2, 2, 4, 5), dtype=np.float32), [[1.0] * 2] * 2),
    ]
    figure = grid_figure(kinds, "caption")
    assert sum(len(axes.images) for axes in figure.axes) == 3 + 4


@pytest.mark.subprocess
def test_figures_need_no_qt() -> None:
    modules = modules_imported_by("import viz_app.export.figures")
    assert "matplotlib" in modules
    assert not {name for name in modules if name.split(".")[0] in {"PySide6", "shiboken6", "torch"}}
