"""Set-up that tests of the window share: widgets on the screen, states with a result, clicks on
heads."""

from dataclasses import replace
from typing import Any, TypeVar

from PySide6.QtCore import QCoreApplication, QPoint, QPointF, Qt
from PySide6.QtGui import QFontMetrics, QWheelEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Intervention
from augenmerk.viz_app.heatmap.head_grid import HeadGrid
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view_settings import MapViewSettings
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.widgets.labels import ElidingLabel
from tests.viz_app.synthetic import NUM_HEADS, NUM_LAYERS, make_result, make_translation

AnyWidget = TypeVar("AnyWidget", bound=QWidget)


def shown(qtbot: QtBot, widget: AnyWidget, size: tuple[int, int] | None = None) -> AnyWidget:
    """The widget, on the screen, in this size if one is given. It is closed after the test."""
    qtbot.addWidget(widget)
    if size is not None:
        widget.resize(*size)
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


def state_of(
    source: str = "ein mann steht auf einer leiter .",
    target: str = "a man is standing on a ladder .",
    *changes: Intervention,
    head: Head | None = None,
    model: ModelInfo | None = None,
    num_layers: int = NUM_LAYERS,
    num_heads: int = NUM_HEADS,
    **view: Any,
) -> ExperimentState:
    """A state with the translation of a sentence, under `changes` if there are any.

    `head` is shown large, `model` is in use, and `view` are fields of `MapViewSettings`.
    """
    state = ExperimentState(MapViewSettings(**view))
    if model is not None:
        state.begin_model(model)
    state.prepare_text(source.replace("|", ""))
    original = make_translation(source, target, num_layers=num_layers, num_heads=num_heads)
    changed = replace(original, experiment=original.experiment.with_interventions(*changes))
    state.accept(make_result(changed, original) if changes else make_result(original))
    if head is not None:
        state.intents.choose_head(head)
    return state


def center_of(grid: HeadGrid, head: Head) -> QPoint:
    """The center of a head's thumbnail."""
    thumbnail = grid.place_of(head)
    assert thumbnail is not None, f"{head} is not in sight"
    return thumbnail.center()


def click(
    qtbot: QtBot,
    grid: HeadGrid,
    head: Head,
    button: Qt.MouseButton = Qt.MouseButton.LeftButton,
    modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    """Click the thumbnail of a head."""
    qtbot.mouseClick(grid, button, modifier, center_of(grid, head))


def turn_wheel(widget: QWidget, delta: int) -> bool:
    """Turns the mouse wheel over the middle of `widget`, down if negative; whether it was used."""
    middle = QPointF(widget.rect().center())
    wheel = QWheelEvent(
        middle,
        widget.mapToGlobal(middle),
        QPoint(),
        QPoint(0, delta),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(widget, wheel)
    return wheel.isAccepted()


def text_in(widget: QWidget) -> str:
    """The labels of a widget that can be seen, one below the other."""
    labels = widget.findChildren(QLabel)
    return "\n".join(label.text() for label in labels if label.isVisible())


def cut_off(window: QWidget) -> list[str]:
    """Texts of labels and buttons in sight that need more room than they have."""
    texts = []
    for widget in window.findChildren(QWidget):
        if not widget.isVisible():
            continue
        if isinstance(widget, QAbstractButton) and widget.text():
            metrics = QFontMetrics(widget.font())
            lines = widget.text().strip().split("\n")
            needed_width = max(map(metrics.horizontalAdvance, lines))
            lacks = needed_width > widget.width() or len(lines) * metrics.height() > widget.height()
        elif isinstance(widget, QLabel) and widget.text() and not isinstance(widget, ElidingLabel):
            needed = (
                widget.heightForWidth(widget.width())
                if widget.wordWrap()
                else widget.sizeHint().height()
            )
            lacks = needed > widget.height() + 1
            lacks = lacks or (
                not widget.wordWrap() and widget.sizeHint().width() > widget.width() + 1
            )
        else:
            continue
        if lacks:
            texts.append(f"{type(widget).__name__} {widget.text()!r} in {widget.size().toTuple()}")
    return texts


def settle_layout() -> None:
    """Let layouts settle: each round of events may post the next one."""
    for _ in range(5):
        QCoreApplication.processEvents()
