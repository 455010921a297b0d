"""Maps in figures of one's own."""

import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pytest
import torch
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import augenmerk as api
from augenmerk.core.errors import ExperimentFileError
from augenmerk.core.extensions.provenance import read_provenance, read_provenance_values
from augenmerk.core.maps.measures import MEASURES
from augenmerk.viz_app.launch import main
from augenmerk.viz_app.state.color_scale import PAPER
from tests.core.translators import GERMAN, subword_translator  # noqa: F401
from tests.viz_app.synthetic import make_translation


@pytest.fixture
def axes() -> Axes:
    """Of a figure that pyplot does not know."""
    return Figure().add_subplot()


def cells_of(axes: Axes) -> np.ndarray:
    """The values drawn."""
    (mesh,) = [part for part in axes.collections if isinstance(part, QuadMesh)]
    return np.asarray(mesh.get_array()).reshape(len(axes.get_yticks()), len(axes.get_xticks()))


def labels_of(axes: Axes) -> tuple[list[str], list[str]]:
    """Those of rows and columns."""
    return tuple(  # type: ignore[return-value]
        [label.get_text() for label in labels]
        for labels in (axes.get_yticklabels(), axes.get_xticklabels())
    )


def test_it_draws_the_cells_labels_and_colours_of_the_window(axes: Axes) -> None:
    translation = make_translation()
    assert api.plot_map(translation, "cross", 1, 4, axes) is axes
    np.testing.assert_array_equal(cells_of(axes), translation.maps.cross[1, 4])
    rows, columns = labels_of(axes)
    assert tuple(rows) == translation.predicted_tokens
    assert tuple(columns) == translation.source_tokens
    mesh = axes.collections[0]
    np.testing.assert_allclose(mesh.cmap(1.0)[:3], PAPER.rgb[-1] / 255)
    assert mesh.get_clim() == (0, 1)
    assert axes.get_title() == "Cross-attention · layer 1 · head 4"
    assert not axes.get_figure().texts, "a figure of one's own gets no caption"


@pytest.mark.figures
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_a_new_figure_saves_its_provenance(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(matplotlib.rcParams, "savefig.format", kind)
    translation = replace(make_translation(), model_digest="ab" * 32)
    target = tmp_path / f"map.{kind}"
    figure = api.plot_map(translation, "cross", 1, 4).figure
    figure.savefig(target)
    saved = read_provenance(target)
    assert saved.experiment == translation.experiment
    assert saved.model.digest == translation.model_digest
    content = io.BytesIO()
    figure.savefig(content, format=kind)
    (tmp_path / "stream").write_bytes(content.getvalue())
    assert read_provenance(tmp_path / "stream") == saved
    figure.savefig(str(tmp_path / "bare"))
    assert read_provenance(tmp_path / f"bare.{kind}") == saved
    private = api.plot_map(translation, "cross", 1, 4, provenance=False).figure
    private.savefig(target)
    with pytest.raises(ExperimentFileError, match="does not say how it was drawn"):
        read_provenance(target)
    pyplot.close("all")


def known_translation(source: str) -> api.Translation:
    """A translation of known origin."""
    return replace(make_translation(source), model_digest="ab" * 32)


@pytest.mark.figures
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_file_of_a_map_that_was_replaced_names_the_one_it_shows(
    kind: str, tmp_path: Path
) -> None:
    first, second = known_translation("ein mann ."), known_translation("zwei hunde .")
    axes = api.plot_map(first, "cross", 1, 4)
    axes.clear()
    api.plot_map(second, "encoder", 0, 1, axes)
    target = tmp_path / f"map.{kind}"
    axes.figure.savefig(target)
    assert read_provenance(target) == api.map_provenance(second, "encoder", 0, 1)
    axes.figure.clear()
    axes.figure.savefig(target)
    with pytest.raises(ExperimentFileError, match="does not say how it was drawn"):
        read_provenance(target)
    pyplot.close("all")


@pytest.mark.figures
def test_the_file_of_several_maps_names_all_or_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = known_translation("ein mann ."), known_translation("zwei hunde .")
    target = tmp_path / "maps.pdf"
    figure = api.plot_map(first, "cross", 1, 4).figure
    api.plot_map(second, "encoder", 0, 1, figure.add_subplot())
    figure.savefig(target)
    maps = read_provenance_values(target)["maps"]
    assert [part["experiment_values"]["source_text"] for part in maps] == [
        "ein mann .",
        "zwei hunde .",
    ]
    assert [part["options"]["head"] for part in maps] == [5, 2]
    assert main(["figure", "--again", str(target), "--out", str(tmp_path / "again.pdf")]) == 2
    assert "does not show just one map, or all heads, of one experiment" in capsys.readouterr().err
    assert main(["info", str(target)]) == 0
    assert "zwei hunde ." in capsys.readouterr().out
    private = api.plot_map(second, "encoder", 0, 1, figure.add_subplot(), provenance=False)
    figure.savefig(target)
    with pytest.raises(ExperimentFileError, match="does not say how it was drawn"):
        read_provenance(target)
    private.set_visible(False)
    figure.savefig(target)
    assert len(read_provenance_values(target)["maps"]) == 2
    pyplot.close("all")


@pytest.mark.figures
@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_a_new_figure_is_saved_with_a_given_origin_instead_of_its_own(
    kind: str, tmp_path: Path
) -> None:
    translation = known_translation("ein mann .")
    figure = api.plot_map(translation, "cross", 1, 4).figure
    target = tmp_path / f"map.{kind}"
    given = api.map_provenance(translation, "decoder")
    for origin, expected in (
        (given, given),
        (None, api.map_provenance(translation, "cross", 1, 4)),
    ):
        api.save_figure(figure, target, origin)
        assert read_provenance(target) == expected
    pyplot.close("all")


@pytest.mark.figures
def test_the_file_says_which_map_it_is(
    tmp_path: Path,
    subword_translator: api.Translator,  # noqa: F811
) -> None:
    translation = subword_translator.translate(GERMAN[0])
    target = tmp_path / "map.svg"
    selection = api.Selection("read", merge_words=True, hide=frozenset({"start", "end"}))
    axes = api.plot_map(
        translation,
        "cross",
        1,
        measure="norm",
        translator=subword_translator,
        selection=selection,
    )
    axes.figure.savefig(target)
    pyplot.close("all")
    values = read_provenance_values(target)
    assert values["model"] == subword_translator.name
    assert values["model_digest"] == translation.model_digest
    assert values["options"] == {
        "kind": "cross",
        "layer": 2,
        "head": None,
        "combine": "mean",
        "grid": False,
        "measure": "norm",
        "label": "read",
        "words": True,
        "hide": ("end", "start"),
        "own_scale": False,
        "user_style": True,
        "drawn_by": "plot_map",
    }


@pytest.mark.figures
def test_the_command_draws_the_same_map_from_the_file_and_says_so(
    tmp_path: Path,
    untrained_checkpoint: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    translator = api.Translator.load(untrained_checkpoint, "cpu")
    translation = translator.translate("Ein Mann steht.")
    target = tmp_path / "map.svg"
    figure = Figure()
    api.plot_map(translation, "cross", None, 1, figure.add_subplot())
    saved = api.map_provenance(translation, "cross", None, 1, translator=translator)
    api.save_figure(figure, target, saved)
    assert read_provenance(target) == saved
    again = tmp_path / "again.svg"
    model = ["--checkpoint", str(untrained_checkpoint), "--device", "cpu"]
    assert main(["figure", "--again", str(target), *model, "--out", str(again)]) == 0
    message = capsys.readouterr().err
    assert "was drawn in Python by plot_map. The new file has the same map" in message
    assert "head 2 · mean of " in again.read_text(encoding="utf-8")


@pytest.mark.figures
def test_a_figure_of_ones_own_is_saved_with_its_origin_in_its_own_style(tmp_path: Path) -> None:
    translation = replace(make_translation(), model_digest="ab" * 32)
    saved = api.map_provenance(translation, measure=api.Aligner(1, 2, "read", "weight"))
    assert saved is not None
    assert (saved.view["layer"], saved.view["head"], saved.view["label"]) == (2, 3, "read")
    files = []
    for name in ("first.pdf", "second.pdf"):
        with matplotlib.rc_context({"pdf.fonttype": 42}):
            figure = Figure()
            api.plot_map(translation, "cross", 1, 2, figure.add_subplot())
            api.save_figure(figure, str(tmp_path / name), saved)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]
    assert b"/FontFile2" in files[0]
    assert read_provenance(tmp_path / "first.pdf") == saved
    assert api.map_provenance(make_translation()) is None


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_without_a_head_it_draws_the_mean(axes: Axes, kind: str) -> None:
    translation = make_translation()
    api.plot_map(translation, kind, 2, ax=axes)
    mean = translation.maps.of_kind(kind)[2].mean(axis=0)
    np.testing.assert_allclose(cells_of(axes), mean, rtol=1e-6)
    assert axes.get_title().endswith("layer 2 · mean of 8 heads")


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_it_draws_every_measure(
    axes: Axes,
    subword_translator: api.Translator,  # noqa: F811
    name: str,
) -> None:
    translation = subword_translator.translate(GERMAN[0])
    api.plot_map(translation, "cross", 0, 0, axes, measure=name, translator=subword_translator)
    expected = api.measure(subword_translator, translation, name).weights[0, 0]
    np.testing.assert_allclose(cells_of(axes), expected, rtol=1e-5)


def test_the_mean_of_layers_names_its_head(axes: Axes) -> None:
    translation = make_translation()
    api.plot_map(translation, "cross", None, 4, axes)
    mean = translation.maps.cross[:, 4].mean(axis=0)
    np.testing.assert_allclose(cells_of(axes), mean, rtol=1e-6)
    assert axes.get_title() == "Cross-attention · head 4 · mean of 3 layers"


def test_it_draws_what_an_aligner_reads(
    axes: Axes,
    subword_translator: api.Translator,  # noqa: F811
) -> None:
    translation = subword_translator.translate(GERMAN[0])
    aligner = api.Aligner(1, None, "read", "norm")
    api.plot_map(translation, ax=axes, measure=aligner, translator=subword_translator)
    maps = api.measure(subword_translator, translation, "norm").weights
    np.testing.assert_allclose(cells_of(axes), maps[1].mean(axis=0), rtol=1e-5)
    assert tuple(labels_of(axes)[0]) == translation.read_tokens
    by_weight = api.Aligner(1, 2, "read", "weight")
    other = Figure().add_subplot()
    api.plot_map(translation, ax=other, measure=by_weight)
    np.testing.assert_array_equal(cells_of(other), translation.maps.cross[1, 2])


@pytest.mark.parametrize(
    ("kind", "layer", "head"), [("encoder", 1, 2), ("cross", 0, None), ("cross", 1, 0)]
)
def test_another_map_than_that_of_the_aligner_is_refused(
    axes: Axes, kind: str, layer: int, head: int | None
) -> None:
    aligner = api.Aligner(1, 2, "read", "weight")
    with pytest.raises(api.AnalysisError, match=r"reads cross maps, layer 1, head 2 \(None for"):
        api.plot_map(make_translation(), kind, layer, head, axes, measure=aligner)
    assert not axes.collections
    api.plot_map(make_translation(), "cross", 1, 2, axes, measure=aligner)
    assert axes.get_title() == "Cross-attention · layer 1 · head 2"


@pytest.mark.parametrize("name", ["weight", "norm"])
def test_a_model_that_was_changed_since_is_refused(
    axes: Axes,
    subword_translator: api.Translator,  # noqa: F811
    name: str,
) -> None:
    translation = subword_translator.translate(GERMAN[0])
    changed = api.Translator(subword_translator.checkpoint, subword_translator.device)
    with torch.no_grad():
        next(changed.model.parameters()).mul_(1.5)
    with pytest.raises(api.AnalysisError, match="Translate the sentence again"):
        api.plot_map(translation, "cross", 0, 0, axes, measure=name, translator=changed)
    assert not axes.collections
    again = changed.translate(GERMAN[0])
    api.plot_map(again, "cross", 0, 0, axes, measure=name, translator=changed)


def test_a_missing_model_is_asked_for(axes: Axes) -> None:
    with pytest.raises(api.AnalysisError, match="Pass it as `translator`"):
        api.plot_map(make_translation(), ax=axes, measure="norm")


def test_a_head_that_does_not_exist_is_refused(axes: Axes) -> None:
    with pytest.raises(api.AnalysisError, match="layers 0 to 2 and heads 0 to 7"):
        api.plot_map(make_translation(), "cross", 3, 0, axes)


def test_a_selection_hides_and_merges(axes: Axes) -> None:
    translation = make_translation("ein gro|ßer mann .", "a big man .")
    selection = api.Selection(merge_words=True, hide=frozenset({"start", "end"}))
    api.plot_map(translation, "cross", 0, 0, axes, selection=selection)
    assert labels_of(axes)[1] == ["ein", "großer", "mann", "."]


def test_a_head_that_is_off_is_struck_out(axes: Axes) -> None:
    head = api.Head("cross", 1, 4)
    api.plot_map(make_translation(interventions=(api.HeadScaled(head),)), "cross", 1, 4, axes)
    assert len(axes.lines) == 1
    forced = make_translation(interventions=(api.ForcedToken(2, "x"),))
    other = Figure().add_subplot()
    api.plot_map(forced, "cross", 1, 4, other)
    assert any(not isinstance(patch, Rectangle) for patch in other.patches), "a dot"


def test_dollars_are_no_formula_and_the_style_is_that_of_the_axes(axes: Axes) -> None:
    with matplotlib.rc_context({"xtick.labelsize": 5.0, "text.usetex": True}):
        axes = Figure().add_subplot()
        api.plot_map(make_translation("$a $b", "x_y c"), "cross", 0, 0, axes)
    axes.figure.draw_without_rendering()
    assert labels_of(axes)[1][1] == r"\$a"
    assert {label.get_size() for label in axes.get_xticklabels()} == {5.0}


@pytest.mark.subprocess
@pytest.mark.heavy
def test_pyplot_is_imported_only_for_a_figure_of_its_own() -> None:
    code = (
        "import sys\n"
        "from matplotlib.figure import Figure\n"
        "import augenmerk\n"
        "from tests.viz_app.synthetic import make_translation\n"
        "augenmerk.plot_map(make_translation(), ax=Figure().add_subplot())\n"
        "print('matplotlib.pyplot' in sys.modules, 'PySide6' in sys.modules)\n"
        "import matplotlib; matplotlib.use('agg')\n"
        "axes = augenmerk.plot_map(make_translation())\n"
        "import matplotlib.pyplot as plt\n"
        "print(plt.gcf() is axes.figure)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "True"]
