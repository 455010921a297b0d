from dataclasses import replace
from itertools import cycle
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font
from matplotlib.text import Text

from augenmerk.core import __version__
from augenmerk.core.errors import StorageError
from augenmerk.viz_app.extensions.pictures.figures import (
    _families_beyond,
    grid_figure,
    map_figure,
    save_figure,
    style_of_user,
)
from augenmerk.viz_app.extensions.pictures.printed_maps import DrawingBlock
from augenmerk.viz_app.extensions.train.charts.axes import charts_figure
from augenmerk.viz_app.extensions.train.charts.picture import ChartSettings, picture_of
from augenmerk.viz_app.extensions.train.curves import RunCurves
from augenmerk.viz_app.heatmap.drawing import Drawing
from augenmerk.viz_app.state.color_scale import ColorScale, color_table
from augenmerk.viz_app.state.map_view import Marks
from tests.builders import first_quick
from tests.test_import_rules import modules_imported_by


def _picture(rows: int = 2, columns: int = 3) -> Drawing:
    weights = np.linspace(0, 1, rows * columns, dtype=np.float32).reshape(rows, columns)
    names = [f"key{number}" for number in range(columns)]
    rows_of = [f"row{number}" for number in range(rows)]
    return Drawing(weights, rows_of, names, title="A head", caption="model: m · costs $5")


def _block(
    title: str, num_layers: int, num_heads: int, off: tuple[int, int] | None = None
) -> DrawingBlock:
    """Small maps of 4 × 5 cells."""
    values = np.ones((4, 5), dtype=np.float32)
    lines = [
        [
            Drawing(values, marks=Marks(factor=float((layer, head) != off)))
            for head in range(num_heads)
        ]
        for layer in range(num_layers)
    ]
    return DrawingBlock(title, lines)


def test_a_map_is_drawn_with_its_weights_labels_and_caption() -> None:
    figure = map_figure(_picture())
    axes = figure.axes[0]
    np.testing.assert_array_equal(np.asarray(axes.collections[0].get_array()), _picture().values)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["key0", "key1", "key2"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["row0", "row1"]


@pytest.mark.figures
@pytest.mark.parametrize(
    ("name", "magic"), [("map.png", b"\x89PNG"), ("map.svg", b"<?xml"), ("map.PDF", b"%PDF")]
)
def test_a_figure_is_saved_in_the_format_of_its_ending(
    tmp_path: Path, name: str, magic: bytes
) -> None:
    save_figure(map_figure(_picture()), tmp_path / name)
    assert f"Augenmerk {__version__}".encode() in (tmp_path / name).read_bytes()
    assert (tmp_path / name).read_bytes().startswith(magic)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_other_fonts_do_not_depend_on_the_order_in_which_they_were_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # not in the default font; fonts that come with matplotlib have the first two
    letters = "\u2312\u2203\u0e01\u4e00"
    default = findfont(FontProperties())
    families = [_families_beyond.__wrapped__(default, letters)]
    for order in (sorted, lambda fonts, key: sorted(fonts, key=key, reverse=True)):
        monkeypatch.setattr(
            fontManager, "ttflist", order(fontManager.ttflist, key=lambda font: font.fname)
        )
        families.append(_families_beyond.__wrapped__(default, letters))
    assert families[0]
    assert families[1:] == families[:1] * 2


@pytest.mark.figures
def test_text_stays_text_in_a_vector_picture(tmp_path: Path) -> None:
    save_figure(map_figure(_picture()), tmp_path / "map.svg")
    text = (tmp_path / "map.svg").read_text(encoding="utf-8")
    for words in ("key1", "row0", "A head", "costs $5"):
        assert words in text


def _curves() -> RunCurves:
    curves = RunCurves()
    for step in range(1, 21):
        curves.training_loss.append(step, 9.0 / step)
    curves.last_step = 20
    return curves


FIGURES = {
    "map": lambda: map_figure(_picture()),
    "grid": lambda: grid_figure([_block("Cross", 2, 2)], "caption"),
    "charts": lambda: charts_figure([picture_of(_curves(), ChartSettings(), 20)], "Run", "caption"),
}
OF_A_USER = {
    "text.usetex": True,
    "font.family": "monospace",
    "font.size": 30,
    "text.color": "red",
    "axes.facecolor": "black",
    "axes.grid": True,
    "axes.linewidth": 5,
    "lines.linestyle": "--",
    "hatch.color": "red",
    "image.cmap": "hot",
    "image.interpolation": "bilinear",
    "legend.fontsize": 30,
    "figure.dpi": 30,
    "savefig.bbox": "tight",
    "savefig.transparent": True,
    "svg.fonttype": "path",
    "pdf.compression": 0,
}


@pytest.mark.figures
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
@pytest.mark.parametrize("name", first_quick(FIGURES))
def test_a_style_of_the_user_changes_no_figure(tmp_path: Path, name: str, ending: str) -> None:
    plain, styled = tmp_path / f"plain.{ending}", tmp_path / f"styled.{ending}"
    save_figure(FIGURES[name](), plain)
    with matplotlib.rc_context(OF_A_USER):
        save_figure(FIGURES[name](), styled)
        assert {name: matplotlib.rcParams[name] for name in ("font.size", "text.usetex")} == {
            "font.size": 30,
            "text.usetex": True,
        }, "it is the user's for other figures"
    assert styled.read_bytes() == plain.read_bytes()


@pytest.mark.figures
@pytest.mark.parametrize("name", FIGURES)
def test_a_style_of_the_user_is_used_on_request(tmp_path: Path, name: str) -> None:
    plain, styled, again = (tmp_path / f"{which}.svg" for which in ("plain", "styled", "again"))
    save_figure(FIGURES[name](), plain)
    with matplotlib.rc_context(OF_A_USER):
        for path in (styled, again):
            with style_of_user():
                save_figure(FIGURES[name](), path)
        with style_of_user(is_used=False):
            save_figure(FIGURES[name](), tmp_path / "own.svg")
    assert "<text" in plain.read_text(encoding="utf-8")
    assert "<text" not in styled.read_text(encoding="utf-8"), "svg.fonttype is path"
    assert again.read_bytes() == styled.read_bytes()
    assert (tmp_path / "own.svg").read_bytes() == plain.read_bytes()


UNUSUAL = {
    "byte-order mark": "a\ufeffb",
    "emoji": "👨",
    "joined emoji": "👨\u200d👩\u200d👧",
    "combining": "e\u0301 \u0301",
    "Arabic": "مرحبا",
    "Chinese": "中文",
    "Hindi": "नमस्ते",
    "variation selectors": "a\ufe0f\U000e0100",
    "no width": "\u200b\u200d\u2060\u00ad",
    "private use": "\ue000\U0010ffff",
    "right to left": "\u202eabc",
    "no text": "\x1b\ud800",
    "formula": "$\\frac{",
}


@pytest.mark.slow
@pytest.mark.figures
@pytest.mark.heavy
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_any_texts_can_be_drawn_together_without_a_warning(tmp_path: Path, ending: str) -> None:
    texts = list(UNUSUAL.values())
    weights = np.full((len(texts), len(texts)), 0.5, dtype=np.float32)
    picture = replace(_picture(), values=weights, row_labels=texts, column_labels=texts)
    save_figure(map_figure(picture), tmp_path / f"map.{ending}")
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.figures
@pytest.mark.parametrize(
    ("text", "ending"),
    first_quick(list(zip(UNUSUAL.values(), cycle(["png", "svg", "pdf"]), strict=False))),
    ids=UNUSUAL,
)
def test_any_text_can_be_drawn_without_a_warning(tmp_path: Path, text: str, ending: str) -> None:
    picture = replace(
        _picture(),
        row_labels=[text, "a"],
        column_labels=["a", text, text],
        title=text,
        caption=text,
    )
    save_figure(map_figure(picture), tmp_path / f"map.{ending}")
    save_figure(grid_figure([_block(text, 1, 2)], text), tmp_path / f"grid.{ending}")
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("caption", ["Щ" * 60 + " iiii" * 30, "WWWW " * 30 + "iiii " * 30])
def test_every_line_of_a_caption_fits_into_the_picture(caption: str) -> None:
    figure = map_figure(replace(_picture(), caption=caption))
    width = figure.bbox.width
    lines = [text for text in figure.texts if text.get_text() and text.get_text() in caption]
    assert len(lines) >= 2
    assert all(text.get_window_extent().x1 <= width for text in lines)


@pytest.mark.figures
def test_a_character_is_drawn_in_an_installed_font_that_has_it(tmp_path: Path) -> None:
    arc = "\u2312"  # not in DejaVu Sans; matplotlib brings it along in another font
    figure = map_figure(replace(_picture(), row_labels=[arc, "a"], title=arc))
    save_figure(figure, tmp_path / "map.pdf")
    shown = [text for text in figure.findobj(Text) if text.get_text() == arc]
    assert len(shown) >= 2  # label and title
    for text in shown:
        fonts = [
            get_font(findfont(FontProperties(family=[family]))) for family in text.get_fontfamily()
        ]
        assert any(font.get_char_index(ord(arc)) for font in fonts)


def test_a_label_of_invisible_characters_is_named_by_its_code_points() -> None:
    axes = map_figure(replace(_picture(), row_labels=["\u200d", "\ufeff"])).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["U+200D", "U+FEFF"]


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"ends in \.png, \.svg or \.pdf"):
        save_figure(map_figure(_picture()), tmp_path / "map.bmp")


def test_all_heads_have_a_place_and_missing_ones_are_blank() -> None:
    figure = grid_figure([_block("Encoder", 1, 3), _block("Cross", 2, 2)], "caption")
    assert sum(len(axes.images) for axes in figure.axes) == 3 + 4


def test_heads_that_are_off_are_pale_and_struck_through() -> None:
    (axes,) = grid_figure([_block("Cross", 2, 3, off=(1, 2))], "").axes
    (line,), (dimmed,) = axes.lines, axes.patches
    left, right, bottom, top = axes.images[5].get_extent()
    assert left <= line.get_xdata()[0] < line.get_xdata()[1] <= right
    assert top <= line.get_ydata()[0] < line.get_ydata()[1] <= bottom
    assert dimmed.get_extents().get_points() == pytest.approx(
        axes.transData.transform([(left, bottom), (right, top)])
    ), "over its small map"
    assert axes.images[0].zorder < dimmed.get_zorder() < line.get_zorder()
    (axes,) = grid_figure([_block("Cross", 2, 3)], "").axes
    assert not axes.lines


def test_a_difference_has_its_zero_in_the_middle_and_what_is_missing_is_hatched() -> None:
    values = np.array([[-0.5, 0.25, 0.0], [np.nan, np.nan, np.nan]], dtype=np.float32)
    picture = replace(_picture(), values=values, scale=ColorScale(0.5, is_signed=True))
    axes = map_figure(picture).axes[0]
    (cells,) = (collection for collection in axes.collections if isinstance(collection, QuadMesh))
    assert cells.get_clim() == (-0.5, 0.5)
    zero = color_table(is_dark=False, is_signed=True).rgb[127] / 255
    np.testing.assert_allclose(cells.cmap(cells.norm(0.0))[:3], zero, atol=0.02)
    hatched = [patch for patch in axes.patches if patch.get_hatch()]
    assert [patch.get_xy() for patch in hatched] == [(-0.5, 0.5), (0.5, 0.5), (1.5, 0.5)]


def test_small_maps_of_a_difference_share_their_colours() -> None:
    values = np.array([[-0.5, 0.25], [np.nan, np.nan]], dtype=np.float32)
    (axes,) = grid_figure(
        [DrawingBlock("Cross", [[Drawing(values, scale=ColorScale(0.5, is_signed=True))]])], ""
    ).axes
    (image,) = axes.images
    assert image.get_clim() == (-0.5, 0.5)
    np.testing.assert_allclose(
        image.cmap(np.ma.masked)[:3], [0xD3 / 255, 0xD6 / 255, 0xDA / 255], atol=0.01
    )


@pytest.mark.slow
@pytest.mark.subprocess
def test_figures_need_no_qt() -> None:
    modules = modules_imported_by("import augenmerk.viz_app.extensions.pictures.figures")
    assert "matplotlib" in modules
    assert not {name for name in modules if name.split(".")[0] in {"PySide6", "shiboken6", "torch"}}
