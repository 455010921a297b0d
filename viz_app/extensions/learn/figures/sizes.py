"""The size of the model: both stacks as boxes, with parameters and cost of each module."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QLabel, QSlider, QWidget

from augenmerk.core.config import ModelConfig
from augenmerk.core.extensions.info.size import Module, Size, preset_vocabulary_sizes, total
from augenmerk.core.extensions.run_settings.presets import PRESETS, preset
from augenmerk.core.quantities import percent

from ....widgets.buttons import ChoiceMenu
from ....widgets.labels import label
from ....widgets.layouts import add_parts, row_of
from ...widgets.bars import Bar, BarList
from ..checks import part_sizes
from .figure import ChapterFigure, LearnContext
from .stack import MeasuredModel, StackDrawing, about

Group = Literal["embeddings and positions", "attention", "feed-forward", "norms", "output"]
GROUPS: Final[dict[Group, tuple[Module, ...]]] = {
    "embeddings and positions": (
        "source embedding",
        "source positions",
        "target embedding",
        "target positions",
    ),
    "attention": ("encoder self-attention", "decoder self-attention", "cross-attention"),
    "feed-forward": ("encoder feed-forward", "decoder feed-forward"),
    "norms": ("encoder norms", "decoder norms"),
    "output": ("output",),
}
"""The sums in the table if no module is chosen."""


OWN, OPEN = "this page's model", "open model"
"""Names of choices other than presets."""
MAX_LENGTH = 1_000
HEADINGS = ("", "parameters", "", "FLOPs", "")


class SizesFigure(ChapterFigure):
    """Boxes to click, a table about the chosen one, sliders for the lengths, and a choice of
    models.

    The sliders follow the reader's sentence until the reader moves them.

    Attributes:
        menu: the choice of models.
        sliders: the numbers of source and target tokens.
        stack: the boxes.
        lines: the texts of the table: the parts of the chosen module, or groups of modules, and
            their sum.
        says: explains the chosen module.
        measured: the model drawn; None while no model is open.
    """

    is_about_sentence = False
    caption = "Parameters and FLOPs. Click a box; click it again for the whole"
    takes_height = True

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.measured: MeasuredModel | None = None
        self.lines: list[tuple[str, ...]] = []
        self._has_moved = False
        self.menu = ChoiceMenu("Which model is drawn", {}, has_arrow_keys=True)
        self.menu.choice = OWN
        self.menu.chosen.connect(self._choose_model)
        self.sliders = tuple(self._make_slider(name) for name in ("Source tokens", "Target tokens"))
        self._lengths = tuple(label("muted") for _ in self.sliders)
        for shown in self._lengths:
            shown.setMinimumWidth(self.fontMetrics().horizontalAdvance(f"S = {MAX_LENGTH:,}"))
        self.stack = StackDrawing()
        self.stack.chosen.connect(self._show_table)
        self._table = QLabel()
        self.says = label("", wraps=True)
        (source, target), (source_length, target_length) = self.sliders, self._lengths
        row = row_of(self.menu, source_length, (source, 1), target_length, (target, 1))
        add_parts(self.column, row, (self.stack, 1), self._table, self.says)
        if context.window_state is not None:
            context.window_state.model_changed.connect(self.redraw_in_sight)

    def redraw(self) -> None:
        """Shows the chosen model at the lengths of the sliders."""
        models = self._models()
        self.menu.set_entries({name: (title, text) for name, (title, text, _) in models.items()})
        choice = self.menu.choice if self.menu.choice in models else OWN
        self.menu.show_choice(choice)
        if choice not in models:
            return
        model = models[choice][2]
        self._fit_sliders(model.config)
        lengths = (self.sliders[0].value(), self.sliders[1].value())
        for shown, name, length in zip(self._lengths, ("S", "T"), lengths, strict=True):
            shown.setText(f"{name} = {length:,}")
        self.measured = replace(model, lengths=lengths)
        self.stack.show_model(self.measured)
        self._show_table()

    def _models(self) -> dict[str, tuple[str, str, MeasuredModel]]:
        """By name: the text of the button, that of the menu, and the model."""
        models: dict[str, tuple[str, str, MeasuredModel]] = {}
        own = self.state.model
        opened = self.context.window_state.model if self.context.window_state is not None else None
        if opened is not None and own is not None and opened.digest == own.digest:
            opened = None
        for name, info, where in (
            (OWN, own, "of this page"),
            (OPEN, opened, "that is open in Translate"),
        ):
            if info is not None:
                models[name] = (
                    info.title,
                    f"{info.title}: the model {where}",
                    MeasuredModel.of(info),
                )
        for name, run in PRESETS.items():
            if (sizes := preset_vocabulary_sizes(run)) is not None:
                models[name] = name, f"{name}: {run.description}", MeasuredModel(run.model, sizes)
        return models

    def _make_slider(self, name: str) -> QSlider:
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setProperty("role", "film")
        slider.setRange(1, MAX_LENGTH)
        slider.setAccessibleName(name)
        slider.setToolTip(f"{name} of one sentence pair")
        slider.valueChanged.connect(self._on_moved)
        return slider

    def _fit_sliders(self, config: ModelConfig) -> None:
        """Limits the sliders to the model's positions.

        Until they are moved, they have the sentence's lengths.
        """
        lengths = [slider.value() for slider in self.sliders]
        if self.translation is not None and not self._has_moved:
            lengths = [len(self.translation.source_tokens), len(self.translation.predicted_tokens)]
        for slider, length in zip(self.sliders, lengths, strict=True):
            with QSignalBlocker(slider):
                slider.setRange(1, min(MAX_LENGTH, config.max_positions))
                slider.setPageStep(max(1, slider.maximum() // 10))
                slider.setValue(length)

    def _on_moved(self) -> None:
        self._has_moved = True
        self.redraw()

    def _choose_model(self, name: str) -> None:
        self.menu.choice = name
        self.redraw()

    def _show_table(self) -> None:
        if self.measured is None:
            return
        rows = self.measured.rows
        module = self.stack.module
        whole = total(rows)
        if module is None:
            sizes = {name: total(rows, *modules) for name, modules in GROUPS.items()} | {
                "all": whole
            }
            self.says.setText(
                "FLOPs: of one pass over S source and T target tokens. Products of matrices "
                "count, a multiplication with its addition as two."
            )
        else:
            sizes = {
                f"{row.part} · {row.num_layers} layers" if row.num_layers > 1 else row.part: Size(
                    row.num_parameters, row.num_flops
                )
                for row in rows
                if row.module == module
            }
            sizes[f"{module}, of the whole"] = total(rows, module)
            self.says.setText(about(module, self.measured.config, rows))
        self.lines = [
            (
                name,
                f"{size.num_parameters:,}",
                percent(size.num_parameters / whole.num_parameters, 1),
                f"{size.num_flops:,}",
                percent(size.num_flops / whole.num_flops, 1),
            )
            for name, size in sizes.items()
        ]
        # as wide as with the longest numbers: the sliders must not move the page
        source, target = (slider.maximum() for slider in self.sliders)
        most = total(replace(self.measured, lengths=(source, target)).rows).num_flops
        longest = [(*line[:3], f"{most:,}", "100.0%") for line in self.lines]
        self._table.setText(_in_html(longest))
        self._table.setMinimumWidth(self._table.sizeHint().width())
        self._table.setText(_in_html(self.lines))


def _in_html(lines: Sequence[tuple[str, ...]]) -> str:
    """A table of these lines, the last one bold."""
    html = ""
    for line in (HEADINGS, *lines):
        tag = "th" if line is lines[-1] else "td"
        name, *numbers = (f"{text}</{tag}>" for text in line)
        cells = (f'<{tag} align="right" style="padding-left: 12px">{text}' for text in numbers)
        html += f'<tr><{tag} align="left">{name}{"".join(cells)}</tr>'
    return f'<table cellspacing="0">{html}</table>'


PART_NAMES = {"tokens": "tables", "attention": "attention", "feed-forward": "networks"}


class PartSizesFigure(ChapterFigure):
    """Bars for the parameters of three parts: of this page's model, and, once the reader has
    answered, of a preset.

    The option `preset` names it.

    Attributes:
        own: the bars of this page's model.
        asked: the bars of the preset, once the reader has answered.
    """

    is_about_sentence = False
    caption = "Parameters of each part"
    question = "largest-part"
    options_known = frozenset({"preset"})

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.own, self.asked = (
            BarList(name, "Share of the parameters") for name in ("This page's model", "Preset")
        )
        self._below = label("", wraps=True)
        add_parts(self.column, self.own, self._below, self.asked)

    def redraw(self) -> None:
        """Shows the bars."""
        if self.state.model is None:
            return
        self.title.setText(f"Parameters of each part: {self.state.model.title}")
        self.own.show_bars(_part_bars(MeasuredModel.of(self.state.model)))
        name = self.options["preset"]
        is_answered = self.context.answers.has(self.question)
        self._below.setText(f"{name}:" if is_answered else f"Answer the question to see {name}.")
        run = preset(name)
        sizes = preset_vocabulary_sizes(run)
        assert sizes is not None, "the preset has vocabularies of a fixed size"
        self.asked.show_bars(_part_bars(MeasuredModel(run.model, sizes)) if is_answered else [])
        self.asked.setVisible(is_answered)


def _part_bars(measured: MeasuredModel) -> list[Bar]:
    whole = total(measured.rows).num_parameters
    parts = part_sizes(measured.rows)
    largest = max(parts.values())
    return [
        Bar(
            PART_NAMES[name],
            size / whole,
            f"{size:,}",
            percent(size / whole, 1),
            is_lit=size == largest,
        )
        for name, size in parts.items()
    ]
