"""The whole model on one page: both stacks as boxes, with parameters and cost of each module."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from PySide6.QtCore import QEvent, QPointF, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QLabel, QSizePolicy, QSlider, QWidget

from augenmerk.core.config import PRESETS, ModelConfig
from augenmerk.core.model.size import MODULES, Module, Size, SizeRow, preset_vocabulary_sizes, size_rows, total
from augenmerk.core.quantities import percent
from augenmerk.viz_app.learn.figures.figure import ChapterFigure, LearnContext
from augenmerk.viz_app.state.model_info import heads_in_words
from augenmerk.viz_app.theme import CHIP_RADIUS, current_theme, scaled
from augenmerk.viz_app.widgets.buttons import ChoiceMenu
from augenmerk.viz_app.widgets.commands import Command, run_by_key
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.layouts import add_parts, row_of

NORM: Final = "norm"
Side = Literal["encoder", "decoder"]
Group = Literal["embeddings and positions", "attention", "feed-forward", "norms", "output"]
GROUPS: Final[dict[Group, tuple[Module, ...]]] = {
    "embeddings and positions": ("source embedding", "source positions", "target embedding", "target positions"),
    "attention": ("encoder self-attention", "decoder self-attention", "cross-attention"),
    "feed-forward": ("encoder feed-forward", "decoder feed-forward"),
    "norms": ("encoder norms", "decoder norms"),
    "output": ("output",),
}
"""The sums in the table if no module is chosen."""


@dataclass(frozen=True)
class Box:
    """A module at one place of a stack.

    Attributes:
        module: the module.
        text: in the box.
        is_in_layer: whether each layer has it.
        begins_residual: whether a copy of its input is kept.
        ends_residual: whether that copy is added to its output.
    """

    module: Module
    text: str
    is_in_layer: bool = False
    begins_residual: bool = False
    ends_residual: bool = False


def boxes_of(config: ModelConfig, side: Side, num_tokens: int) -> tuple[Box, ...]:
    """The boxes of one stack, from its input up, a layer once.

    Args:
        config: the model.
        side: the stack.
        num_tokens: V of this side.
    """
    embedding: Module
    positions: Module
    feed_forward: Module
    norms: Module
    if side == "encoder":
        heads, inner_width = config.num_heads, config.feed_forward_width
        attentions: tuple[tuple[Module, str], ...] = (("encoder self-attention", "self-attention"),)
        embedding, positions = "source embedding", "source positions"
        feed_forward, norms = "encoder feed-forward", "encoder norms"
    else:
        heads, inner_width = config.decoder_heads, config.decoder_inner_width
        attentions = (("decoder self-attention", "masked self-attention"), ("cross-attention", "cross-attention"))
        embedding, positions = "target embedding", "target positions"
        feed_forward, norms = "decoder feed-forward", "decoder norms"
    sublayers = [(module, f"{name} · {heads_in_words(heads)}") for module, name in attentions]
    sublayers.append((feed_forward, f"feed-forward · {inner_width:,}"))
    boxes = [Box(embedding, f"embedding · {num_tokens:,} tokens"), Box(positions, f"positions · {config.positions}")]
    for module, text in sublayers:
        if config.norm_position == "pre":
            boxes.append(Box(norms, NORM, is_in_layer=True, begins_residual=True))
            boxes.append(Box(module, text, is_in_layer=True, ends_residual=True))
        else:
            boxes.append(Box(module, text, is_in_layer=True, begins_residual=True, ends_residual=True))
            boxes.append(Box(norms, NORM, is_in_layer=True))
    if config.final_norm:
        boxes.append(Box(norms, NORM))
    if side == "decoder":
        boxes.append(Box("output", f"output · {num_tokens:,} tokens"))
    return tuple(boxes)


def about(module: Module, config: ModelConfig, rows: tuple[SizeRow, ...]) -> str:
    """A description of a module and of the settings that determine its size."""
    shared = next((row.shared_with for row in rows if row.module == module and row.shared_with is not None), None)
    match module:
        case "source embedding" | "target embedding":
            text = f"A vector of {config.width:,} numbers for each token, looked up in a table without any product."
        case "source positions" | "target positions" if config.positions == "learned":
            text = f"A learned vector for each of {config.max_positions:,} positions, added to the embedding."
        case "source positions" | "target positions":
            text = "Waves that depend only on the position, added to the embedding. They are computed, not learned."
        case "encoder self-attention":
            text = (
                "Every source token looks at all source tokens. The scores grow with the square of the source length."
            )
        case "decoder self-attention":
            text = (
                "Every target token looks at those before it. The mask hides the others, but their scores count here."
            )
        case "cross-attention":
            text = "Every target token looks at all source tokens. The scores grow with both lengths multiplied."
        case "encoder feed-forward" | "decoder feed-forward":
            text = f"Two matrices with {_activation(config)} between, applied to each position separately."
        case "encoder norms" | "decoder norms":
            place = "before each sublayer" if config.norm_position == "pre" else "after each sublayer"
            kind = f"{config.norm_position}-norm"
            text = f"They are {place} ({kind}), each with two numbers for each of {config.width:,} columns."
        case "output":
            text = "A product with a vector for each token of the vocabulary, at every position of the target."
    return (
        text if shared is None else f"{text} The matrix is shared with the {shared}, where its parameters are counted."
    )


def _activation(config: ModelConfig) -> str:
    return {"relu": "ReLU", "gelu": "GELU", "gelu-tanh": "GELU by tanh", "swish": "Swish"}[config.activation]


OWN, OPEN = "this page's model", "open model"
"""Names of choices other than presets."""
MAX_LENGTH = 1_000
SIDES: tuple[Side, ...] = ("encoder", "decoder")
EDGE, BETWEEN, MAX_BOX, FRAME_SIDE = 36, 52, 250, 9
"""Widths in pixels: outside the stacks, between them, of a box, from a box to the frame of its layer."""
GAP, ADD_GAP, FRAME = 5, 12, 5
"""Heights in pixels: between boxes, where a residual is added, from a box to the frame."""
HEADINGS = ("", "parameters", "", "FLOPs", "")


@dataclass(frozen=True)
class MeasuredModel:
    """A model and one pass through it.

    Attributes:
        config: its settings.
        vocabulary_sizes: V of source and target.
        lengths: S and T.
    """

    config: ModelConfig
    vocabulary_sizes: tuple[int, int]
    lengths: tuple[int, int] = (1, 1)

    @property
    def rows(self) -> tuple[SizeRow, ...]:
        """Parameters and cost of the modules."""
        return size_rows(self.config, *self.vocabulary_sizes, *self.lengths)


class OnePageFigure(ChapterFigure):
    """Boxes to click, a table about the chosen one, sliders for the lengths, and a choice of models.

    The sliders follow the reader's sentence until the reader moves them.

    Attributes:
        menu: the choice of models.
        sliders: the numbers of source and target tokens.
        stack: the boxes.
        lines: the texts of the table: the parts of the chosen module, or groups of modules, and their sum.
        says: explains the chosen module.
        measured: the model drawn; None while no model is open.
    """

    caption = "The model on one page. Click a box; click it again for the whole"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self.measured: MeasuredModel | None = None
        self.lines: list[tuple[str, ...]] = []
        self._has_moved = False
        self.menu = ChoiceMenu("Which model is drawn", {}, has_arrow_keys=True)
        self.menu.choice = OWN
        self.menu.chosen.connect(self._choose_model)
        self.sliders = tuple(self._make_slider(name) for name in ("Source tokens", "Target tokens"))
        self._lengths = tuple(label("small") for _ in self.sliders)
        for shown in self._lengths:
            shown.setMinimumWidth(self.fontMetrics().horizontalAdvance(f"S = {MAX_LENGTH:,}"))
        self.stack = StackDrawing()
        self.stack.chosen.connect(self._show_table)
        self._table = QLabel()
        self.says = label("small", wraps=True)
        (source, target), (source_length, target_length) = self.sliders, self._lengths
        row = row_of(self.menu, source_length, (source, 1), target_length, (target, 1))
        add_parts(self.column, row, self.stack, self._table, self.says)
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
        found: dict[str, tuple[str, str, MeasuredModel]] = {}
        own = self.state.model
        opened = self.context.window_state.model if self.context.window_state is not None else None
        if opened is not None and own is not None and opened.digest == own.digest:
            opened = None
        for name, info, where in ((OWN, own, "of this page"), (OPEN, opened, "that is open in Translate")):
            if info is not None:
                model = MeasuredModel(info.run.model, info.vocabulary_sizes)
                found[name] = info.title, f"{info.title}: the model {where}", model
        for name, run in PRESETS.items():
            if (sizes := preset_vocabulary_sizes(run)) is not None:
                found[name] = name, f"{name}: {run.description}", MeasuredModel(run.model, sizes)
        return found

    def _make_slider(self, name: str) -> QSlider:
        slider = QSlider(Qt.Orientation.Horizontal)
        slider.setProperty("role", "film")
        slider.setRange(1, MAX_LENGTH)
        slider.setAccessibleName(name)
        slider.setToolTip(f"{name} of one sentence pair")
        slider.valueChanged.connect(self._on_moved)
        return slider

    def _fit_sliders(self, config: ModelConfig) -> None:
        """Limits the sliders to the model's positions. Until they are moved, they have the sentence's lengths."""
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
        rows, module = self.measured.rows, self.stack.module
        whole = total(rows)
        if module is None:
            sizes = {name: total(rows, *modules) for name, modules in GROUPS.items()} | {"all": whole}
            self.says.setText(
                "FLOPs: of one pass over S source and T target tokens. Products of matrices count, a multiplication "
                "with its addition as two."
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
        html = ""
        for line in (HEADINGS, *self.lines):
            tag = "th" if line is self.lines[-1] else "td"
            name, *numbers = (f"{text}</{tag}>" for text in line)
            html += f'<tr><{tag} align="left">{name}'
            html += "".join(f'<{tag} align="right" style="padding-left: 18px">{text}' for text in numbers) + "</tr>"
        self._table.setText(f'<table cellspacing="0">{html}</table>')


class StackDrawing(QWidget):
    """Draws encoder and decoder, from their inputs up, each layer once.

    The filled part of a box is its module's share of all parameters; a line at its bottom is its share of all FLOPs.

    Attributes:
        boxes: of both sides.
        module: the chosen one; None for none.

    Signals:
        chosen(): another module is chosen, or none.
    """

    chosen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.boxes: dict[Side, tuple[Box, ...]] = {}
        self.module: Module | None = None
        self._measured: MeasuredModel | None = None
        self._under: Module | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Encoder and decoder as boxes")

    def show_model(self, measured: MeasuredModel) -> None:
        """Shows a model."""
        self._measured = measured
        self.boxes = {
            side: boxes_of(measured.config, side, size)
            for side, size in zip(SIDES, measured.vocabulary_sizes, strict=True)
        }
        self.setAccessibleDescription(", ".join(box.text for side in SIDES for box in self.boxes[side]))
        self.setFixedHeight(self.sizeHint().height())
        self.update()

    def sizeHint(self) -> QSize:
        """As high as the higher stack."""
        highest = max((_height_of(boxes) for boxes in self.boxes.values()), default=200)
        return QSize(420, round(highest) + 2 * _text_height())

    def place_of(self, side: Side, index: int) -> QRectF:
        """The place of a box; index 0 is at the bottom."""
        height, between = _box_height(), scaled(BETWEEN)
        width = min(scaled(MAX_BOX), (self.width() - 2 * scaled(EDGE) - between) / 2)
        left = (self.width() - between) / 2 - width if side == "encoder" else (self.width() + between) / 2
        top = self.height() - _text_height() - _height_of(self.boxes[side], index) - height
        return QRectF(left, top, width, height)

    def choose(self, module: Module | None) -> None:
        """Chooses a module; None for none."""
        self.module = module
        self.chosen.emit()
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """A box under the mouse can be clicked."""
        self._hover(self._module_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        """No box is under the mouse."""
        self._hover(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on a box chooses its module. A click on the chosen one or elsewhere chooses none."""
        if event.button() == Qt.MouseButton.LeftButton:
            module = self._module_at(event.position())
            self.choose(None if module == self.module else module)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and down choose the next module, Escape none."""
        if not run_by_key(event, (command.on(self) for command in STACK_COMMANDS)):
            super().keyPressEvent(event)

    def step(self, by: int) -> None:
        """Chooses the next or previous module; between the last and the first, none."""
        shown = {box.module for side in SIDES for box in self.boxes.get(side, ())}
        modules: list[Module | None] = [None, *(module for module in MODULES if module in shown)]
        self.choose(modules[(modules.index(self.module) + by) % len(modules)])

    def choose_none(self) -> bool:
        """Chooses no module; False if none is chosen."""
        is_chosen = self.module is not None
        if is_chosen:
            self.choose(None)
        return is_chosen

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints frames of layers, lines and boxes."""
        if self._measured is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(current_theme().font("small"))
        config = self._measured.config
        for side, num_layers in zip(SIDES, (config.num_encoder_layers, config.num_decoder_layers), strict=True):
            self._paint_frame(painter, side, num_layers)
            self._paint_residuals(painter, side)
        self._paint_memory(painter)
        rows = self._measured.rows
        whole = total(rows)
        for side in SIDES:
            for index, box in enumerate(self.boxes[side]):
                self._paint_box(painter, self.place_of(side, index), box, total(rows, box.module), whole)
        self._paint_ends(painter)

    def _paint_box(self, painter: QPainter, place: QRectF, box: Box, size: Size, whole: Size) -> None:
        theme = current_theme()
        is_chosen = box.module == self.module
        color = "accent" if is_chosen else "text" if box.module == self._under else "border"
        painter.setPen(QPen(theme.color(color), 2 if is_chosen else 1))
        outline = QPainterPath()
        outline.addRoundedRect(place.adjusted(0.5, 0.5, -0.5, -0.5), CHIP_RADIUS, CHIP_RADIUS)
        painter.fillPath(outline, theme.color("raised"))
        if box.text != NORM:  # there are several boxes for one share
            painter.save()
            painter.setClipPath(outline)
            filled = QRectF(place.left(), place.top(), place.width() * size.num_parameters / whole.num_parameters, 99)
            painter.fillRect(filled, theme.color("faint_accent"))
            line = QRectF(place.left(), place.bottom() - 4, place.width() * size.num_flops / whole.num_flops, 4)
            painter.fillRect(line, theme.color("warm"))
            painter.restore()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(outline)
        painter.setPen(theme.color("text"))
        painter.setFont(theme.font("small", bold=is_chosen))
        metrics = painter.fontMetrics()
        text = metrics.elidedText(box.text, Qt.TextElideMode.ElideRight, int(place.width()) - 12)
        painter.drawText(place.adjusted(0, 0, 0, -3), int(Qt.AlignmentFlag.AlignCenter), text)

    def _paint_frame(self, painter: QPainter, side: Side, num_layers: int) -> None:
        """Paints a frame around the boxes of each layer, with the number of layers next to it."""
        theme = current_theme()
        inside = [index for index, box in enumerate(self.boxes[side]) if box.is_in_layer]
        frame = self.place_of(side, inside[-1]).united(self.place_of(side, inside[0]))
        above = scaled(ADD_GAP) - scaled(GAP) if self.boxes[side][inside[-1]].ends_residual else 0
        frame.adjust(-scaled(FRAME_SIDE), -scaled(FRAME) - above, scaled(FRAME_SIDE), scaled(FRAME))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("muted"), 1, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(frame, CHIP_RADIUS, CHIP_RADIUS)
        painter.setPen(theme.color("muted"))
        beside = QRectF(frame.left() - scaled(EDGE), frame.top(), scaled(EDGE) - 6, frame.height())
        sides = Qt.AlignmentFlag.AlignRight
        if side == "decoder":
            beside.moveLeft(frame.right() + 6)
            sides = Qt.AlignmentFlag.AlignLeft
        painter.drawText(beside, int(sides | Qt.AlignmentFlag.AlignVCenter), f"× {num_layers}")

    def _paint_residuals(self, painter: QPainter, side: Side) -> None:
        """Paints the line through the stack, and those around sublayers with the places of addition."""
        theme = current_theme()
        boxes = self.boxes[side]
        middle = self.place_of(side, 0).center().x()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("muted"), 1))
        top = self.place_of(side, len(boxes) - 1).top() - (0 if side == "encoder" else scaled(GAP))
        painter.drawLine(QPointF(middle, self.place_of(side, 0).bottom()), QPointF(middle, top))
        begin = 0.0
        for index, box in enumerate(boxes):
            place = self.place_of(side, index)
            if box.begins_residual:
                begin = place.bottom() + 2
            if not box.ends_residual:
                continue
            end, across = place.top() - scaled(ADD_GAP) / 2, place.right() + scaled(FRAME_SIDE) / 2
            path = QPainterPath(QPointF(middle, begin))
            for point in (QPointF(across, begin), QPointF(across, end), QPointF(middle, end)):
                path.lineTo(point)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(path)
            painter.setBrush(theme.color("panel"))
            painter.drawEllipse(QPointF(middle, end), 5, 5)
            painter.drawLine(QPointF(middle - 3, end), QPointF(middle + 3, end))
            painter.drawLine(QPointF(middle, end - 3), QPointF(middle, end + 3))

    def _paint_memory(self, painter: QPainter) -> None:
        """Paints the line from the top of the encoder into cross-attention."""
        encoder = self.place_of("encoder", len(self.boxes["encoder"]) - 1)
        into = next(index for index, box in enumerate(self.boxes["decoder"]) if box.module == "cross-attention")
        cross = self.place_of("decoder", into)
        above, end = encoder.top() - scaled(ADD_GAP), cross.center().y()
        between = (encoder.right() + cross.left()) / 2
        path = QPainterPath(QPointF(encoder.center().x(), encoder.top()))
        for x, y in ((encoder.center().x(), above), (between, above), (between, end), (cross.left(), end)):
            path.lineTo(x, y)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(current_theme().color("muted"), 1))
        painter.drawPath(path)
        for away in (-4, 4):
            painter.drawLine(QPointF(cross.left(), end), QPointF(cross.left() - 6, end + away))

    def _paint_ends(self, painter: QPainter) -> None:
        """Draws the inputs and the outputs."""
        assert self._measured is not None
        theme, height = current_theme(), _text_height()
        painter.setPen(theme.color("muted"))
        for side, name, letter, length in zip(
            SIDES, ("source", "target"), ("S", "T"), self._measured.lengths, strict=True
        ):
            below = self.place_of(side, 0)
            aside = scaled(BETWEEN) / 2  # the words may be wider than a box
            place = QRectF(below.left() - aside, self.height() - height + 2, below.width() + 2 * aside, height)
            painter.drawText(place, int(Qt.AlignmentFlag.AlignHCenter), f"{name}: {letter} = {length:,} tokens")
        top = self.place_of("decoder", len(self.boxes["decoder"]) - 1)
        aside = scaled(BETWEEN) / 2
        place = QRectF(top.left() - aside, top.top() - scaled(GAP) - height + 2, top.width() + 2 * aside, height)
        painter.drawText(place, int(Qt.AlignmentFlag.AlignHCenter), "scores of the next token")
        legend = 1.0
        painter.setFont(theme.font("small"))
        for name, thickness, text in (("faint_accent", 10, "parameters"), ("warm", 4, "FLOPs")):
            painter.fillRect(QRectF(legend, height / 2 - thickness / 2, 14, thickness), theme.color(name))
            painter.drawText(QPointF(legend + 19, height / 2 + painter.fontMetrics().ascent() / 2 - 1), text)
            legend += 32.0 + painter.fontMetrics().horizontalAdvance(text)

    def _hover(self, module: Module | None) -> None:
        if module != self._under:
            self._under = module
            self.setCursor(Qt.CursorShape.PointingHandCursor if module else Qt.CursorShape.ArrowCursor)
            self.update()

    def _module_at(self, point: QPointF) -> Module | None:
        return next(
            (
                box.module
                for side in SIDES
                for index, box in enumerate(self.boxes.get(side, ()))
                if self.place_of(side, index).contains(point)
            ),
            None,
        )


def _height_of(boxes: tuple[Box, ...], number: int | None = None) -> float:
    """Height of the lowest boxes of a stack with the gaps above them; of all if there is no `number`."""
    gaps = 0
    for box, above in zip(boxes[:number], [*boxes[1:], None], strict=False):
        gaps += scaled(ADD_GAP) if box.ends_residual else scaled(GAP)
        if above is not None and above.is_in_layer != box.is_in_layer:
            gaps += scaled(FRAME)
    return len(boxes[:number]) * _box_height() + gaps


def _box_height() -> int:
    return current_theme().pixel_size("small") + 10


def _text_height() -> int:
    return current_theme().pixel_size("small") + 6


_GROUP, _LINE = "Learn: the model on one page", "Next and previous module"
STACK_COMMANDS = (
    Command[StackDrawing]("Next module", lambda stack: stack.step(1), local_keys=("Up",), group=_GROUP, line=_LINE),
    Command[StackDrawing](
        "Previous module", lambda stack: stack.step(-1), local_keys=("Down",), group=_GROUP, line=_LINE
    ),
    Command[StackDrawing]("Deselect module", StackDrawing.choose_none, local_keys=("Esc",), group=_GROUP),
)
