"""The large map as lines: alone, and in its panel."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QFontMetrics
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import ForcedToken
from augenmerk.core.translation.result import ExperimentResult
from augenmerk.viz_app.extensions.lines.view import LinesPainter, LinesView
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view import Band
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.views.large_map_panel import HeadPanel
from tests.viz_app.builders import shown, state_of
from tests.viz_app.parts import lines_of
from tests.viz_app.synthetic import make_translation


@pytest.fixture
def state() -> ExperimentState:
    return state_of(head=Head("cross", 1, 2), label_mode="read")


@pytest.fixture
def panel(qtbot: QtBot, theme: Theme, state: ExperimentState) -> HeadPanel:
    return shown(qtbot, HeadPanel(state), (760, 620))


def _changed() -> ExperimentResult:
    """A word is new in the translation."""
    original = make_translation()
    changed = make_translation(
        target="a man now is standing on a ladder .", interventions=(ForcedToken(2, "now"),)
    )
    return ExperimentResult(changed, original, original.log_probabilities)


@pytest.mark.heavy
def test_lines_of_a_difference_are_told_apart_by_colour(
    qtbot: QtBot, theme: Theme, state: ExperimentState
) -> None:
    state.settings.picture, state.settings.line_threshold = "lines", 0.0
    lines = shown(qtbot, LinesView(state), (640, 420))
    state.accept(_changed())
    usual = lines.grab().toImage()
    state.settings.shown = "difference"
    painter, view = lines._painter, state.maps.view()
    assert painter is not None
    assert view is not None
    picture = lines.grab().toImage()
    assert picture != usual
    np.testing.assert_allclose(
        painter.strength(),
        np.abs(np.nan_to_num(view.values)) / painter.scale.top,
        rtol=1e-4,
        atol=1e-6,
    )
    middle = range(int(painter.left) + 20, int(painter.right) - 20, 3)
    colors = [picture.pixelColor(x, y) for x in middle for y in range(30, 400, 2)]
    assert any(color.red() > color.blue() + 40 for color in colors)
    assert any(color.blue() > color.red() + 40 for color in colors)


@pytest.mark.parametrize("width", [320, 640, 1200])
def test_the_titles_of_the_lines_are_never_cut(
    state: ExperimentState, theme: Theme, width: int
) -> None:
    # the shorter the words, the narrower the columns
    state.accept(ExperimentResult.of(make_translation("a b", "c d")))
    view = state.maps.view()
    assert view is not None
    painter = LinesPainter(state, theme, view, QSize(width, 300))
    metrics = QFontMetrics(theme.font("small"))
    places = painter.title_places("token predicted", "looks at")
    for box, title in zip(places, ("token predicted", "looks at"), strict=True):
        assert box.width() >= metrics.horizontalAdvance(title)
    assert places[0].left() >= 0
    assert places[1].right() <= width
    assert places[0].right() < places[1].left()


def test_a_token_under_the_mouse_shows_its_lines_alone(
    panel: HeadPanel, state: ExperimentState, qtbot: QtBot
) -> None:
    state.settings.label_mode, state.settings.picture, state.settings.line_threshold = (
        "read",
        "lines",
        0.0,
    )
    qtbot.wait(30)
    painter, view = lines_of(panel)._painter, state.maps.view()
    assert painter is not None
    assert view is not None
    np.testing.assert_allclose(painter.strength(), view.values, rtol=1e-5)
    left = QPoint(int(painter.left - 20), int(painter.y_of(Band(2, is_row=True))))
    qtbot.mouseMove(lines_of(panel), left)
    assert state.selection.hovered_label == Band(2, is_row=True)
    strength = painter.strength()
    np.testing.assert_allclose(strength[2], view.values[2], rtol=1e-5)
    assert strength[[0, 1, 3]].max() == 0
    qtbot.mouseClick(lines_of(panel), Qt.MouseButton.LeftButton, pos=left)
    state.selection.clear_hovered()
    assert panel.pick_line.label.text().startswith("Row man → ")
    qtbot.mouseClick(panel.pick_line.clear_button, Qt.MouseButton.LeftButton)
    assert not state.selection.has_marks
    assert "to sum their lines" in panel.pick_line.label.text()


@pytest.mark.parametrize(
    "setting", ["transposes", "hides_wrapping", "hides_punctuation", "label_mode"]
)
@pytest.mark.parametrize("is_row", [True, False])
def test_a_token_under_the_mouse_goes_with_its_place(
    panel: HeadPanel, state: ExperimentState, qtbot: QtBot, setting: str, is_row: bool
) -> None:
    state.settings.label_mode, state.settings.picture = "read", "lines"
    qtbot.wait(30)
    view = state.maps.view()
    assert view is not None
    labels = view.row_labels if is_row else view.column_labels
    state.selection.hovered_label = Band(len(labels) - 1, is_row=is_row)
    setattr(state.settings, setting, "predicted" if setting == "label_mode" else True)
    now = state.maps.view()
    assert state.selection.hovered_label is None or (now.row_labels, now.column_labels) == (
        view.row_labels,
        view.column_labels,
    )
    assert not lines_of(panel).grab().isNull()
