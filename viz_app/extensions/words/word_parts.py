"""The parts of a word's lead over a foil: a sentence, and bars of all parts on one scale."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QMenu

from augenmerk.core.counting import CountedText, Index, display_text
from augenmerk.core.extensions.analyses.parts import Component, Origin, name_in_stack
from augenmerk.core.extensions.analyses.parts_of_words import WordParts
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.quantities import counted, number
from augenmerk.core.translation.result import Alternative

from ...state.experiment_editor import toggle
from ...state.experiment_state import ExperimentState
from ...state.number_table import NumberTable, Value
from ...state.sentence_text import visible
from ...views.cell_menu import add_switch
from ...widgets.commands import Command, run_by_key
from ..widgets.bars import Bar, BarList
from ..widgets.labelled_matrix import CHOOSE, IN_TABLES, WALK

NUM_SHOWN, NUM_POSITIONS = 16, 6
"""Lines of parts and of positions at first; the others are summed in one line."""
LEAST_SHOWN = 0.005
"""A smaller remainder or position would be shown as 0.00."""
MAX_LOG_RATIO = 20.0
BARS_TIP = (
    "Orange: for the word, blue: for its foil\n"
    "Click a head to choose it; a head of cross-attention opens. Right-click: switch off"
)
ORIGIN_TIPS = {
    Origin.TOKEN: "The vector of the token that the decoder reads",
    Origin.POSITION: "The vector of the position",
    Origin.BIAS: "Learned constants, the same for every sentence",
}
FIXED = "It cannot be switched off"


@dataclass(frozen=True)
class PartLine:
    """A line of the bars.

    Attributes:
        subject: a component; the line of the others, or the remainder; or a position in the
            encoder.
        bar: as drawn.
    """

    subject: Component | Literal["others", "remainder"] | int
    bar: Bar


class PartBars(BarList):
    """Bars of all parts, the largest first, with a measured value next to each if there is one.

    A click on a head chooses it; a head of cross-attention opens into the positions of the encoder.
    A right-click offers to switch a head or network off.

    Attributes:
        num_shown: the number of lines at first, without that of the others.
        lines: those shown.
        shows_all: whether small parts have lines of their own.
        opened: the heads of cross-attention that are open.

    Signals:
        reached(QPoint): a line was reached by a key; its place in the widget.
    """

    reached = Signal(QPoint)

    def __init__(self, state: ExperimentState, num_shown: int = NUM_SHOWN) -> None:
        super().__init__("Parts of the word's lead", BARS_TIP, is_signed=True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.num_shown = num_shown
        self._state = state
        self._parts: WordParts | None = None
        self._measured: Mapping[Component, float] = {}
        self._before: WordParts | None = None
        self.lines: tuple[PartLine, ...] = ()
        self.shows_all = False
        self.opened: frozenset[Head] = frozenset()
        self.label_clicked.connect(self._on_clicked)
        self.bar_clicked.connect(lambda index, _: self._on_clicked(index))
        self.menu_requested.connect(self._show_menu)

    def show_parts(
        self,
        parts: WordParts | None,
        measured: Mapping[Component, float] = {},
        before: WordParts | None = None,
    ) -> None:
        """Shows the parts of a word.

        Args:
            parts: of the word; None for none.
            measured: the change of the lead without a component; NaN if it cannot be switched off.
            before: the parts of the same word in the original, for comparison.
        """
        self._parts, self._measured, self._before = parts, measured, before
        self._rebuild()

    def light_head(self) -> None:
        """Emphasizes the chosen head."""
        head = self._state.selection.head
        self.bars = tuple(
            bar
            if bar.is_lit == (line.subject == head)
            else replace(bar, is_lit=line.subject == head)
            for line, bar in zip(self.lines, self.bars, strict=True)
        )
        self.update()

    def menu_of(self, index: int) -> QMenu | None:
        """The actions on the head or network of a line; None if there are none."""
        part = self.lines[index].subject
        if not isinstance(part, Head | Network):
            return None
        menu = QMenu(self)
        add_switch(menu, self._state, display_text(part.short_name), part)
        return menu

    def walk(self, by: int) -> None:
        """Highlights the next line (1) or the previous one (-1), which scrolls into view."""
        last = len(self.lines) - 1
        index = 0 if self.highlighted is None else max(0, min(last, self.highlighted + by))
        if last >= 0:
            self.highlight(index)
            self.reached.emit(self.label_place(index).center().toPoint())

    def act(self) -> bool:
        """Does what a click on the highlighted line does; False if none is highlighted."""
        if (index := self.highlighted) is not None:
            self._on_clicked(index)
        return index is not None

    def switch(self) -> bool:
        """Switches the highlighted head or network off or on; False if the line is neither."""
        part = self.lines[self.highlighted].subject if self.highlighted is not None else None
        if not isinstance(part, Head | Network):
            return False
        self._state.submit(toggle(part))
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not run_by_key(event, (command.on(self) for command in BAR_COMMANDS)):
            super().keyPressEvent(event)

    @property
    def _off(self) -> frozenset[Head | Network]:
        return self._state.experiment.heads_off | self._state.experiment.networks_off

    def _rebuild(self) -> None:
        self.lines = tuple(self._lines_of(self._parts)) if self._parts is not None else ()
        self.show_bars([line.bar for line in self.lines])

    def _lines_of(self, parts: WordParts) -> list[PartLine]:
        lines: list[PartLine] = []
        values = parts.values.tolist()
        before = self._before.values.tolist() if self._before is not None else values
        order = sorted(
            range(len(values)), key=lambda index: -max(abs(values[index]), abs(before[index]))
        )
        num_shown = len(order) if len(order) <= self.num_shown + 1 else self.num_shown
        largest, smaller = order[:num_shown], order[num_shown:]

        def add(indices: Sequence[int]) -> None:
            for index in indices:
                component = parts.components[index]
                lines.append(PartLine(component, self._bar(parts, component, values[index])))
                if component in self.opened:
                    lines.extend(_position_lines(parts, component))

        add(largest)
        if smaller:
            rest = sum(values[index] for index in smaller)
            name = "show fewer" if self.shows_all else counted(len(smaller), "other")
            text = "" if self.shows_all else number(rest, signed=True)
            tip = (
                "Click to show only the largest"
                if self.shows_all
                else "The sum of the smaller parts. Click to open"
            )
            # above the parts that it opens, so that a second click at the same place closes them
            bar = Bar(name, 0.0 if self.shows_all else rest, text, tip=tip)
            lines.append(PartLine("others", bar))
            if self.shows_all:
                add(smaller)
        if abs(parts.remainder) >= LEAST_SHOWN:
            tip = (
                "The difference between the lead and the sum of all parts: rounding, or the "
                "effect of hooks"
            )
            text = number(parts.remainder, signed=True)
            lines.append(PartLine("remainder", Bar("remainder", parts.remainder, text, tip=tip)))
        return lines

    def _bar(self, parts: WordParts, component: Component, value: float) -> Bar:
        measured = self._measured.get(component)
        is_off = component in self._off
        before = self._before.value_of(component) if self._before is not None else None
        note = ""
        if measured is not None:
            note = "–" if math.isnan(measured) else f"off {number(measured, signed=True)}"
        return Bar(
            name_of(component, parts),
            value,
            "off" if is_off else number(value, signed=True),
            note,
            is_lit=component == self._state.selection.head,
            is_struck=is_off,
            tip=_tip_of(component, measured),
            before=before,
            before_text=number(before, signed=True) if before is not None else "",
        )

    def _on_clicked(self, index: int) -> None:
        subject = self.lines[index].subject
        if subject == "others":
            self.shows_all = not self.shows_all
        elif isinstance(subject, Head):
            if subject.kind == "cross":
                self.opened ^= {subject}
            self._state.intents.choose_head(subject)
        self._rebuild()

    def _show_menu(self, index: int, position: QPoint) -> None:
        if (menu := self.menu_of(index)) is not None:
            menu.popup(position)


_OF_BARS = partial(Command[PartBars], group=IN_TABLES)
BAR_COMMANDS = (
    _OF_BARS("Next part", lambda bars: bars.walk(1), local_keys=("Down",), line=WALK),
    _OF_BARS("Previous part", lambda bars: bars.walk(-1), local_keys=("Up",), line=WALK),
    _OF_BARS(
        "Choose the part, or open it", PartBars.act, local_keys=("Return", "Enter"), line=CHOOSE
    ),
    _OF_BARS("Switch the part off or on", PartBars.switch, local_keys=("O",)),
)


def name_of(component: Component, parts: WordParts) -> str:
    """The name of a component in a list of parts."""
    if component is Origin.TOKEN:
        return f"token “{visible(parts.translation.read_tokens[parts.step])}”"
    return display_text(name_in_stack(component))


def lead_text(parts: WordParts, *, is_foil_whole: bool = False) -> str:
    """The word's probability in terms of its foil's, and the sum of the bars: of the first pieces
    that differ.

    `is_foil_whole`: the foil is a whole word. Else it may be the first piece of one, and is
    compared with a piece.
    """
    word = parts.chosen_word
    foil = parts.foil_word
    names = (visible(parts.chosen.token), visible(parts.foil.token))
    total = number(parts.difference, signed=True)
    if word.entry == parts.chosen.entry and foil.entry == parts.foil.entry:
        return (
            f"{_comparison(word, foil)}. The parts sum to the difference of their logits: {total}."
        )
    if not is_foil_whole and foil.entry == parts.foil.entry:
        piece = f"“{names[0]}”, the first piece of “{visible(word.token)}”,"
        return (
            f"{_comparison(parts.chosen, foil, piece)}. The parts sum to the difference of "
            f"their logits: {total}. Log-probability of “{visible(word.token)}”: "
            f"{number(word.log_probability)}."
        )
    is_reversed = (word.log_probability > foil.log_probability) != (parts.difference > 0)
    other_sign = " The later pieces outweigh it." if is_reversed else ""
    return (
        f"{_comparison(word, foil)} (log-probabilities {number(word.log_probability)} and "
        f"{number(foil.log_probability)}). The parts sum to the difference of the logits of "
        f"“{names[0]}” and “{names[1]}”, the first pieces that differ: {total}.{other_sign}"
    )


def _comparison(word: Alternative, foil: Alternative, name: str = "") -> str:
    log_ratio = word.log_probability - foil.log_probability
    times = math.exp(min(abs(log_ratio), MAX_LOG_RATIO))
    shown = f"{times:,.0f}" if times < 1e6 else "over a million"
    if times < 10:
        shown = f"{times:.1f}"
    comparison = "as probable as" if log_ratio >= 0 else "less probable than"
    how = "about as probable as" if times < 1.05 else f"{shown} times {comparison}"
    return f"{name or f'“{visible(word.token)}”'} is {how} “{visible(foil.token)}”"


def table_of(parts: WordParts, measured: Mapping[Component, float]) -> NumberTable:
    """The parts as numbers, in the order of the model, and the remainder to the difference.

    Heads of cross-attention also have their parts by position of the encoder.
    """
    word, foil = parts.chosen_word, parts.foil_word
    facts: dict[str, Value] = {
        "word": word.token,
        "foil": foil.token,
        "log_probability": word.log_probability,
        "foil_log_probability": foil.log_probability,
        "step": Index(parts.step),
        "token": parts.chosen.token,
        "foil_token": parts.foil.token,
        "difference": parts.difference,
        "remainder": parts.remainder,
        "positions": " ".join(parts.translation.source_tokens),
    }
    num_positions = parts.keys.shape[-1]
    nowhere: list[Value] = [None] * num_positions
    rows: list[tuple[Value, ...]] = []
    for component, value in zip(parts.components, parts.values.tolist(), strict=True):
        effect = measured.get(component, math.nan)
        positions = nowhere
        if isinstance(component, Head) and component.kind == "cross":
            positions = parts.keys[component.layer, component.head].tolist()
        rows.append(
            (
                CountedText("{component}", component=component),
                value,
                None if math.isnan(effect) else effect,
                *positions,
            )
        )
    rows.append(("remainder", parts.remainder, None, *nowhere))
    names = (
        CountedText("position_{place}", place=Index(position)) for position in range(num_positions)
    )
    return NumberTable(
        "parts", facts, ("component", "part", "change_when_off", *names), tuple(rows)
    )


def _position_lines(parts: WordParts, head: Head) -> list[PartLine]:
    """The encoder's positions that a cross-attention head reads, the largest parts first."""
    values: NDArray[np.float64] = parts.keys[head.layer, head.head]
    order = sorted(range(len(values)), key=lambda position: -abs(values[position]))
    shown = [
        position for position in order[:NUM_POSITIONS] if abs(values[position]) >= LEAST_SHOWN
    ] or order[:1]
    lines = [
        _position_line(position, float(values[position]), parts.translation.source_tokens)
        for position in shown
    ]
    if rest := order[len(shown) :]:
        value = float(values[rest].sum())
        bar = Bar(f"    {counted(len(rest), 'other')}", value, number(value, signed=True))
        lines.append(PartLine(len(values), bar))
    return lines


def _position_line(position: int, value: float, tokens: Sequence[str]) -> PartLine:
    name = f"    position {position + 1} ({visible(tokens[position])})"
    tip = "A position of the encoder; its vector already mixes several words"
    return PartLine(position, Bar(name, value, number(value, signed=True), tip=tip))


def _tip_of(component: Component, measured: float | None) -> str:
    if isinstance(component, Origin):
        return ORIGIN_TIPS[component] + (f". {FIXED}" if measured is not None else "")
    effect = (
        ""
        if measured is None
        else f"\nSwitched off, it changes the lead by {number(measured, signed=True)}"
    )
    how = "Click to choose it. " if isinstance(component, Head) else ""
    return f"{display_text(component.title)}{effect}\n{how}Right-click to switch it off or on"
