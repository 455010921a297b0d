"""The model as a drawing: encoder and decoder as boxes, large with sizes or small with chapters'
parts marked.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from augenmerk.core.config import ModelConfig
from augenmerk.core.extensions.info.size import MODULES, Module, Size, SizeRow, size_rows, total
from augenmerk.core.model.heads import SIDES, Side
from augenmerk.core.quantities import counted

from ....state.model_info import ModelInfo
from ....theme import CHIP_RADIUS, current_theme, scaled
from ....widgets.commands import Command, run_by_key

NORM: Final = "norm"


@dataclass(frozen=True)
class ModuleBox:
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


def boxes_of(config: ModelConfig, side: Side, num_tokens: int) -> tuple[ModuleBox, ...]:
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
        attentions = (
            ("decoder self-attention", "masked self-attention"),
            ("cross-attention", "cross-attention"),
        )
        embedding, positions = "target embedding", "target positions"
        feed_forward, norms = "decoder feed-forward", "decoder norms"
    sublayers = [(module, f"{name} · {counted(heads, 'head')}") for module, name in attentions]
    sublayers.append((feed_forward, f"feed-forward · {inner_width:,}"))
    boxes = [
        ModuleBox(embedding, f"embedding · {num_tokens:,} tokens"),
        ModuleBox(positions, f"positions · {config.positions}"),
    ]
    for module, text in sublayers:
        if config.norm_position == "pre":
            boxes.append(ModuleBox(norms, NORM, is_in_layer=True, begins_residual=True))
            boxes.append(ModuleBox(module, text, is_in_layer=True, ends_residual=True))
        else:
            boxes.append(
                ModuleBox(module, text, is_in_layer=True, begins_residual=True, ends_residual=True)
            )
            boxes.append(ModuleBox(norms, NORM, is_in_layer=True))
    if config.final_norm:
        boxes.append(ModuleBox(norms, NORM))
    if side == "decoder":
        boxes.append(ModuleBox("output", f"output · {num_tokens:,} tokens"))
    return tuple(boxes)


def about(module: Module, config: ModelConfig, rows: tuple[SizeRow, ...]) -> str:
    """A description of a module and of the settings that determine its size."""
    shared = next(
        (row.shared_with for row in rows if row.module == module and row.shared_with is not None),
        None,
    )
    match module:
        case "source embedding" | "target embedding":
            text = (
                f"A vector of {config.width:,} numbers for each token, looked up in a table "
                "without any product."
            )
        case "source positions" | "target positions" if config.positions == "learned":
            text = (
                f"A learned vector for each of {config.max_positions:,} positions, added to the "
                "embedding."
            )
        case "source positions" | "target positions":
            text = (
                "Waves that depend only on the position, added to the embedding. They are "
                "computed, not learned."
            )
        case "encoder self-attention":
            text = (
                "Every source token looks at all source tokens. The scores grow with the square "
                "of the source length."
            )
        case "decoder self-attention":
            text = (
                "Every target token looks at those before it. The mask hides the others, but "
                "their scores count here."
            )
        case "cross-attention":
            text = (
                "Every target token looks at all source tokens. The scores grow with both "
                "lengths multiplied."
            )
        case "encoder feed-forward" | "decoder feed-forward":
            text = (
                f"Two matrices with {_activation(config)} between, applied to each position "
                "separately."
            )
        case "encoder norms" | "decoder norms":
            position = (
                "before each sublayer" if config.norm_position == "pre" else "after each sublayer"
            )
            kind = f"{config.norm_position}-norm"
            text = (
                f"They are {position} ({kind}), each with two numbers for each of "
                f"{config.width:,} columns."
            )
        case "output":
            text = (
                "A product with a vector for each token of the vocabulary, at every position of "
                "the target."
            )
    return (
        text
        if shared is None
        else f"{text} The matrix is shared with the {shared}, where its parameters are counted."
    )


def _activation(config: ModelConfig) -> str:
    return {"relu": "ReLU", "gelu": "GELU", "gelu-tanh": "GELU by tanh", "swish": "Swish"}[
        config.activation
    ]


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

    @classmethod
    def of(cls, info: ModelInfo, lengths: tuple[int, int] = (1, 1)) -> "MeasuredModel":
        """An open model."""
        return cls(info.run.model, info.vocabulary_sizes, lengths)


@dataclass(frozen=True)
class StackLengths:
    """Lengths of a drawing of both stacks, in pixels.

    Attributes:
        edge: width outside the stacks (of a large drawing: for the number of layers).
        between: width between the stacks.
        frame_side: from a box to the side of its layer's frame.
        gap: height between boxes.
        add_gap: height where a residual is added.
        frame: distance from a box to its layer's frame.
        text: height of a line above and below the boxes.
        boxes: least and greatest height of a box.
    """

    edge: int
    between: int
    frame_side: int
    gap: int
    add_gap: int
    frame: int
    text: int
    boxes: tuple[int, int]

    @classmethod
    def large(cls) -> "StackLengths":
        """Lengths for texts in all boxes."""
        body = current_theme().pixel_size("body")
        edge = scaled(36)
        between = scaled(52)
        side = scaled(9)
        boxes = body + scaled(6), body + scaled(44)
        return cls(
            edge, between, side, scaled(5), scaled(12), scaled(5), text=body + 6, boxes=boxes
        )

    @classmethod
    def small(cls, width: int) -> "StackLengths":
        """Lengths for a drawing of this width."""
        spacing = 1 if width < scaled(100) else scaled(3)
        return cls(
            2, max(6, width // 12), 2, spacing, 2 * spacing, spacing, text=0, boxes=(3, scaled(24))
        )

    def height_of(
        self, boxes: tuple[ModuleBox, ...], box_height: float, number: int | None = None
    ) -> float:
        """Height of the lowest boxes of a stack with the gaps above them; of all if there is no
        `number`.
        """
        gaps = 0
        for box, above in zip(boxes[:number], [*boxes[1:], None], strict=False):
            gaps += self.add_gap if box.ends_residual else self.gap
            if above is not None and above.is_in_layer != box.is_in_layer:
                gaps += self.frame
        return len(boxes[:number]) * box_height + gaps


MAX_BOX = 340
"""Greatest width of a box, in pixels."""


StackKind = Literal["sizes", "plain", "small"]


@dataclass(frozen=True)
class StackPicture:
    """A drawing of a model in a place of this size.

    Attributes:
        measured: the model.
        kind: with sizes, without, or small.
        size: of the place.
        marked: modules that are drawn filled.
        chosen: the chosen module.
        under: the module under the mouse.
    """

    measured: MeasuredModel
    kind: StackKind
    size: QSize
    marked: frozenset[Module] = frozenset()
    chosen: Module | None = None
    under: Module | None = None

    @cached_property
    def boxes(self) -> dict[Side, tuple[ModuleBox, ...]]:
        """The boxes of both sides."""
        sizes = self.measured.vocabulary_sizes
        return {
            side: boxes_of(self.measured.config, side, size)
            for side, size in zip(SIDES, sizes, strict=True)
        }

    @cached_property
    def lengths(self) -> StackLengths:
        """Lengths for the kind and the width."""
        return (
            StackLengths.small(self.size.width()) if self.kind == "small" else StackLengths.large()
        )

    def height_with(self, box_height: float) -> int:
        """The height of the whole drawing with boxes of this height."""
        lengths = self.lengths
        heights = (lengths.height_of(boxes, box_height) for boxes in self.boxes.values())
        return round(max(heights, default=0)) + 2 * lengths.text

    def place_of(self, side: Side, index: int) -> QRectF:
        """The place of a box; index 0 is at the bottom."""
        lengths = self.lengths
        num_boxes = max(map(len, self.boxes.values()))
        least, most = lengths.boxes
        height = min(max((self.size.height() - self.height_with(0)) / num_boxes, least), most)
        width = min(
            scaled(MAX_BOX),
            (self.size.width() - 2 * (lengths.edge + lengths.frame_side) - lengths.between) / 2,
        )
        left = (
            self.size.width()
            + (lengths.between if side == "decoder" else -lengths.between - 2 * width)
        ) / 2
        bottom = min(self.size.height(), self.height_with(height)) - lengths.text
        return QRectF(
            left,
            bottom - lengths.height_of(self.boxes[side], height, index) - height,
            width,
            height,
        )

    def module_at(self, point: QPointF) -> Module | None:
        """The module at a point; None if there is none."""
        for side in SIDES:
            for index, box in enumerate(self.boxes.get(side, ())):
                if self.place_of(side, index).contains(point):
                    return box.module
        return None

    def paint(self, painter: QPainter) -> None:
        """Paints frames of layers, lines and boxes; nothing in a place that is too low."""
        if self.size.height() < self.height_with(self.lengths.boxes[0]):
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(current_theme().font("small" if self.kind == "small" else "body"))
        config = self.measured.config
        for side, num_layers in zip(
            SIDES, (config.num_encoder_layers, config.num_decoder_layers), strict=True
        ):
            self._paint_frame(painter, side, num_layers)
            self._paint_residuals(painter, side)
        self._paint_memory(painter)
        rows = self.measured.rows
        whole = total(rows)
        for side in SIDES:
            for index, box in enumerate(self.boxes[side]):
                self._paint_box(
                    painter, self.place_of(side, index), box, total(rows, box.module), whole
                )
        if self.kind != "small":
            self._paint_ends(painter)

    def _paint_box(
        self, painter: QPainter, area: QRectF, box: ModuleBox, size: Size, whole: Size
    ) -> None:
        theme = current_theme()
        is_chosen = box.module == self.chosen
        is_marked = box.module in self.marked
        color = "text" if box.module == self.under else "border"
        if is_chosen:
            color = "accent"
        painter.setPen(QPen(theme.color(color), 2 if is_chosen else 1))
        outline = QPainterPath()
        radius = min(CHIP_RADIUS, area.height() / 3)
        outline.addRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        painter.fillPath(outline, theme.color("accent" if is_marked else "raised"))
        if self.kind == "sizes" and box.text != NORM:  # there are several boxes for one share
            painter.save()
            painter.setClipPath(outline)
            filled = QRectF(
                area.left(),
                area.top(),
                area.width() * size.num_parameters / whole.num_parameters,
                99,
            )
            painter.fillRect(filled, theme.color("faint_accent"))
            line = QRectF(
                area.left(), area.bottom() - 4, area.width() * size.num_flops / whole.num_flops, 4
            )
            painter.fillRect(line, theme.color("warm"))
            painter.restore()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(outline)
        painter.setPen(theme.color("on_accent" if is_marked else "text"))
        is_high = area.height() > 3 * theme.pixel_size("body")
        if self.kind == "small":
            painter.setFont(theme.font("small", bold=is_chosen))
        else:
            painter.setFont(theme.font("large" if is_high else "body", bold=is_chosen))
        metrics = painter.fontMetrics()
        text = self.text_of(box, metrics, area.width() - 6)
        if metrics.ascent() <= area.height():
            painter.drawText(area, int(Qt.AlignmentFlag.AlignCenter), text)

    def text_of(self, box: ModuleBox, metrics: QFontMetrics, room: float) -> str:
        """The longest form of a box's text that fits; a fact, such as “8 heads”, only if it fits in
        all boxes that have it.
        """
        name, _, fact = box.text.partition(" · ")
        alike = [
            other.text
            for boxes in self.boxes.values()
            for other in boxes
            if other.text.partition(" · ")[2] == fact
        ]
        longest = max(metrics.horizontalAdvance(text) for text in (box.text, *alike))
        if self.kind != "small" and longest <= room:
            return box.text
        forms = name, name.split()[-1], name.split()[0]
        return next((form for form in forms if metrics.horizontalAdvance(form) <= room), "")

    def _paint_frame(self, painter: QPainter, side: Side, num_layers: int) -> None:
        """Paints a frame around the boxes of each layer, with the number of layers next to it."""
        theme = current_theme()
        inside = [index for index, box in enumerate(self.boxes[side]) if box.is_in_layer]
        frame = self.place_of(side, inside[-1]).united(self.place_of(side, inside[0]))
        lengths = self.lengths
        above = lengths.add_gap - lengths.gap if self.boxes[side][inside[-1]].ends_residual else 0
        frame.adjust(-lengths.frame_side, -lengths.frame - above, lengths.frame_side, lengths.frame)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("muted"), 1, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(frame, CHIP_RADIUS, CHIP_RADIUS)
        if self.kind == "small":
            return
        painter.setPen(theme.color("muted"))
        beside = QRectF(frame.left() - lengths.edge, frame.top(), lengths.edge - 6, frame.height())
        sides = Qt.AlignmentFlag.AlignRight
        if side == "decoder":
            beside.moveLeft(frame.right() + 6)
            sides = Qt.AlignmentFlag.AlignLeft
        painter.drawText(beside, int(sides | Qt.AlignmentFlag.AlignVCenter), f"× {num_layers}")

    def _paint_residuals(self, painter: QPainter, side: Side) -> None:
        """Paints the line through the stack, and those around sublayers to the additions."""
        theme = current_theme()
        lengths = self.lengths
        boxes = self.boxes[side]
        middle = self.place_of(side, 0).center().x()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.color("muted"), 1))
        top = self.place_of(side, len(boxes) - 1).top() - (0 if side == "encoder" else lengths.gap)
        painter.drawLine(QPointF(middle, self.place_of(side, 0).bottom()), QPointF(middle, top))
        begin = 0.0
        for index, box in enumerate(boxes):
            area = self.place_of(side, index)
            if box.begins_residual:
                begin = area.bottom() + 2
            if not box.ends_residual:
                continue
            end = area.top() - lengths.add_gap / 2
            across = area.right() + lengths.frame_side / 2
            path = QPainterPath(QPointF(middle, begin))
            for point in (QPointF(across, begin), QPointF(across, end), QPointF(middle, end)):
                path.lineTo(point)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(path)
            if self.kind == "small":
                continue
            painter.setBrush(theme.color("panel"))
            painter.drawEllipse(QPointF(middle, end), 5, 5)
            painter.drawLine(QPointF(middle - 3, end), QPointF(middle + 3, end))
            painter.drawLine(QPointF(middle, end - 3), QPointF(middle, end + 3))

    def _paint_memory(self, painter: QPainter) -> None:
        """Paints the line from the top of the encoder into cross-attention."""
        encoder = self.place_of("encoder", len(self.boxes["encoder"]) - 1)
        into = next(
            index
            for index, box in enumerate(self.boxes["decoder"])
            if box.module == "cross-attention"
        )
        cross = self.place_of("decoder", into)
        above = encoder.top() - self.lengths.add_gap
        end = cross.center().y()
        between = (encoder.right() + cross.left()) / 2
        path = QPainterPath(QPointF(encoder.center().x(), encoder.top()))
        for x, y in (
            (encoder.center().x(), above),
            (between, above),
            (between, end),
            (cross.left(), end),
        ):
            path.lineTo(x, y)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(current_theme().color("muted"), 1))
        painter.drawPath(path)
        tip = (cross.left() - encoder.right()) / 9
        for away in (-tip * 2 / 3, tip * 2 / 3):
            painter.drawLine(QPointF(cross.left(), end), QPointF(cross.left() - tip, end + away))

    def _paint_ends(self, painter: QPainter) -> None:
        """Draws the inputs and the outputs."""
        theme = current_theme()
        lengths = self.lengths
        # the words may be wider than a box
        height = lengths.text
        aside = lengths.between / 2
        painter.setPen(theme.color("muted"))
        painter.setFont(theme.font("body"))
        for side, name, letter, length in zip(
            SIDES, ("source", "target"), ("S", "T"), self.measured.lengths, strict=True
        ):
            below = self.place_of(side, 0)
            area = QRectF(
                below.left() - aside, below.bottom() + 2, below.width() + 2 * aside, height
            )
            painter.drawText(
                area, int(Qt.AlignmentFlag.AlignHCenter), f"{name}: {letter} = {length:,} tokens"
            )
        top = self.place_of("decoder", len(self.boxes["decoder"]) - 1)
        area = QRectF(
            top.left() - aside,
            top.top() - lengths.gap - height + 2,
            top.width() + 2 * aside,
            height,
        )
        painter.drawText(area, int(Qt.AlignmentFlag.AlignHCenter), "logits of the next token")
        if self.kind != "sizes":
            return
        legend = 1.0
        for name, thickness, text in (("faint_accent", 10, "parameters"), ("warm", 4, "FLOPs")):
            painter.fillRect(
                QRectF(legend, height / 2 - thickness / 2, 14, thickness), theme.color(name)
            )
            painter.drawText(
                QPointF(legend + 19, height / 2 + painter.fontMetrics().ascent() / 2 - 1), text
            )
            legend += 32.0 + painter.fontMetrics().horizontalAdvance(text)


class StackDrawing(QWidget):
    """Draws encoder and decoder, from their inputs up, each layer once; higher boxes where there is
    room.

    With sizes, the filled part of a box is its module's share of all parameters; a line at its
    bottom is its share of all FLOPs.

    Attributes:
        module: the chosen one; None for none.
        marked: modules that are drawn filled.

    Signals:
        chosen(): another module is chosen, or none.
    """

    chosen = Signal()

    def __init__(self, kind: StackKind = "sizes", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.module: Module | None = None
        self.marked: frozenset[Module] = frozenset()
        self._kind = kind
        self._measured: MeasuredModel | None = None
        self._under: Module | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus if kind == "small" else Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Encoder and decoder as boxes")

    def show_model(self, measured: MeasuredModel) -> None:
        """Shows a model."""
        self._measured = measured
        self.setAccessibleDescription(
            ", ".join(box.text for side in SIDES for box in self.boxes[side])
        )
        self.updateGeometry()
        self.update()

    @property
    def picture(self) -> StackPicture | None:
        """The boxes and their places; None before there is a model."""
        if self._measured is None:
            return None
        return StackPicture(
            self._measured, self._kind, self.size(), self.marked, self.module, self._under
        )

    @property
    def boxes(self) -> dict[Side, tuple[ModuleBox, ...]]:
        """The boxes of both sides."""
        return self.picture.boxes if self.picture is not None else {}

    def paintEvent(self, event: QPaintEvent) -> None:
        if (picture := self.picture) is not None:
            picture.paint(QPainter(self))

    def mark(self, modules: Collection[Module]) -> None:
        """Draws these modules filled."""
        self.marked = frozenset(modules)
        self.update()

    def minimumSizeHint(self) -> QSize:
        """Room for the least height of all boxes.

        A small drawing is left out where it does not fit.
        """
        picture = self.picture
        if picture is None or self._kind == "small":
            return QSize(0, 0)
        return QSize(scaled(260), picture.height_with(picture.lengths.boxes[0]))

    def sizeHint(self) -> QSize:
        """No more: a page becomes as high as its parts like."""
        return self.minimumSizeHint()

    def choose(self, module: Module | None) -> None:
        """Chooses a module; None for none."""
        self.module = module
        self.chosen.emit()
        self.update()

    def event(self, event: QEvent) -> bool:
        """Names the module under the mouse in a small drawing, where it may have no room."""
        if (
            event.type() == QEvent.Type.ToolTip
            and isinstance(event, QHelpEvent)
            and self._kind == "small"
        ):
            QToolTip.showText(event.globalPos(), self._module_at(QPointF(event.pos())) or "", self)
            return True
        return super().event(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """A box under the mouse can be clicked."""
        self._hover(self._module_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on a box chooses its module.

        A click on the chosen one or elsewhere chooses none.
        """
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

    def _module_at(self, point: QPointF) -> Module | None:
        return self.picture.module_at(point) if self.picture is not None else None

    def _hover(self, module: Module | None) -> None:
        if module != self._under:
            self._under = module
            self.setCursor(
                Qt.CursorShape.PointingHandCursor if module else Qt.CursorShape.ArrowCursor
            )
            self.update()


_GROUP, _LINE = "Learn: the model on one page", "Next and previous module"
STACK_COMMANDS = (
    Command[StackDrawing](
        "Next module", lambda stack: stack.step(1), local_keys=("Up",), group=_GROUP, line=_LINE
    ),
    Command[StackDrawing](
        "Previous module",
        lambda stack: stack.step(-1),
        local_keys=("Down",),
        group=_GROUP,
        line=_LINE,
    ),
    Command[StackDrawing](
        "Deselect module", StackDrawing.choose_none, local_keys=("Esc",), group=_GROUP
    ),
)
