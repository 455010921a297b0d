"""Rows and columns of widgets, each in one expression. Lengths are at 100% and follow the scale of the interface."""

from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

from augenmerk.viz_app.theme import scales


@dataclass(frozen=True)
class Space:
    """Empty space of this many pixels, between the parts of a row or column."""

    pixels: int


Part = QWidget | QLayout | Space | int | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag]
"""Of a row or column: a widget or layout, with its stretch and alignment if they matter; a number is empty space that
stretches by it."""
Margins = tuple[int, int, int, int]
NO_MARGINS: Margins = (0, 0, 0, 0)
Box = TypeVar("Box", bound=QBoxLayout)


def row_of(
    *parts: Part, spacing: int | None = None, margins: Margins = NO_MARGINS, within: QWidget | None = None
) -> QHBoxLayout:
    """A row of these parts, from left to right.

    Args:
        parts: see `Part`.
        spacing: pixels between them; None for that of the style.
        margins: pixels left, above, right and below.
        within: the widget that is laid out; None for a layout inside another one.
    """
    return _filled(QHBoxLayout() if within is None else QHBoxLayout(within), parts, spacing, margins)


def column_of(
    *parts: Part, spacing: int | None = None, margins: Margins = NO_MARGINS, within: QWidget | None = None
) -> QVBoxLayout:
    """A column of these parts, from top to bottom; see `row_of`."""
    return _filled(QVBoxLayout() if within is None else QVBoxLayout(within), parts, spacing, margins)


def _filled(layout: Box, parts: tuple[Part, ...], spacing: int | None, margins: Margins) -> Box:
    if margins == NO_MARGINS:
        layout.setContentsMargins(*margins)
    else:
        scales(layout.setContentsMargins, *margins)
    if spacing is not None:
        scales(layout.setSpacing, spacing)
    add_parts(layout, *parts)
    return layout


def add_parts(layout: QBoxLayout, *parts: Part) -> None:
    """Adds parts to a row or column that is there already."""
    for part in parts:
        if isinstance(part, int):
            layout.addStretch(part)
        elif isinstance(part, Space):
            layout.addSpacing(part.pixels)
        elif isinstance(part, QLayout):
            layout.addLayout(part)
        elif isinstance(part, QWidget):
            layout.addWidget(part)
        elif isinstance(part[0], QLayout):
            layout.addLayout(part[0], part[1])
        else:
            layout.addWidget(part[0], part[1], *part[2:])
