"""The film as a strip of pictures: the chosen head's map at each validation. Click or drag to choose a frame."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from augenmerk.core.training.film import FilmFrame
from augenmerk.viz_app.heatmap.drawing import color_table
from augenmerk.viz_app.heatmap.map_image import draw_map, map_image
from augenmerk.viz_app.theme import current_theme, is_theme_change, scaled
from augenmerk.viz_app.train.playback import Playback, moment_name, short_name
from augenmerk.viz_app.widgets.commands import Command, run_by_key

PICTURE_PX = 56
GAP_PX = 8
LABEL_PX = 17
MARGIN_PX = 3


@dataclass(frozen=True)
class Picture:
    """One frame on the strip: its number, its map, its position."""

    index: int
    image: QImage
    place: QRectF


class FilmStrip(QWidget):
    """Draws as many frames as fit, evenly spaced, always including the shown one.

    Signals:
        frame_chosen(int): the number of a frame, from 0.
    """

    frame_chosen = Signal(int)

    def __init__(self, playback: Playback, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._playback = playback
        self._images: dict[tuple[object, ...], QImage] = {}
        self.pictures: list[Picture] = []
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Film of attention")
        self.setAccessibleDescription("The chosen head's map at each validation. Left and right go through the frames.")

    def sizeHint(self) -> QSize:
        """One row of pictures with their labels."""
        return QSize(
            8 * (scaled(PICTURE_PX) + scaled(GAP_PX)), scaled(PICTURE_PX) + scaled(LABEL_PX) + 2 * scaled(MARGIN_PX)
        )

    def minimumSizeHint(self) -> QSize:
        """Room for three pictures."""
        return QSize(3 * (scaled(PICTURE_PX) + scaled(GAP_PX)), self.sizeHint().height())

    def changeEvent(self, event: QEvent) -> None:
        """Other colours."""
        super().changeEvent(event)
        if is_theme_change(event):
            self._images.clear()
            self.rebuild()

    def rebuild(self) -> None:
        """Draws the pictures again: a new frame, another head or frame shown, or another size."""
        indices = shown_frames(len(self._playback.frames), self._num_slots(), self._playback.frame_index)
        kept: dict[tuple[object, ...], QImage] = {}
        self.pictures = []
        for slot, index in enumerate(indices):
            frame = self._playback.frames[index]
            key = (self._playback.maps.selection.head, frame.step, id(frame))
            kept[key] = self._images.get(key) or self._image(frame)
            place = QRectF(
                scaled(MARGIN_PX) + slot * (scaled(PICTURE_PX) + scaled(GAP_PX)),
                scaled(MARGIN_PX),
                scaled(PICTURE_PX),
                scaled(PICTURE_PX),
            )
            self.pictures.append(Picture(index, kept[key], place))
        self._images = kept
        self.update()

    def frame_at(self, x_px: float) -> int | None:
        """The frame at a position; between two pictures, one of the frames left out there."""
        if not self.pictures:
            return None
        slot = (x_px - scaled(MARGIN_PX) - scaled(PICTURE_PX) / 2) / (scaled(PICTURE_PX) + scaled(GAP_PX))
        slot = max(0.0, min(slot, len(self.pictures) - 1))
        left = self.pictures[int(slot)].index
        right = self.pictures[min(int(slot) + 1, len(self.pictures) - 1)].index
        return round(left + (slot - int(slot)) * (right - left))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another number of pictures fits."""
        super().resizeEvent(event)
        self.rebuild()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Goes to the frame that was clicked."""
        self._choose_at(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scrubs."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._choose_at(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right walk through the frames."""
        if not run_by_key(event, (command.on(self) for command in FILM_COMMANDS)):
            super().keyPressEvent(event)

    def step(self, by: int) -> bool:
        """Chooses the next frame or the one before; False if no frame is shown."""
        shown = self._playback.frame_index
        if shown is not None and 0 <= shown + by < len(self._playback.frames):
            self.frame_chosen.emit(shown + by)
        return shown is not None

    def event(self, event: QEvent) -> bool:
        """The tool tip shows the translation of the frame under the mouse."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            index = self.frame_at(event.pos().x())
            if index is not None:
                frame = self._playback.frames[index]
                QToolTip.showText(event.globalPos(), f"{moment_name(frame)}: {frame.translation.text}", self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Pictures, labels, and a frame around the shown one."""
        painter, theme = QPainter(self), current_theme()
        painter.setFont(theme.font("small"))
        shown = self._playback.frame_index
        for picture in self.pictures:
            draw_map(painter, picture.place, picture.image)
            is_shown = picture.index == shown
            painter.setPen(QPen(theme.color("accent" if is_shown else "border"), 3 if is_shown else 1))
            margin = 1.5 if is_shown else 0.5
            painter.drawRect(picture.place.adjusted(-margin, -margin, margin, margin))
            painter.setPen(theme.color("accent" if is_shown else "muted"))
            below = QRectF(
                picture.place.left() - scaled(GAP_PX) / 2,
                picture.place.bottom() + 3,
                scaled(PICTURE_PX) + scaled(GAP_PX),
                scaled(LABEL_PX),
            )
            text = short_name(self._playback.frames[picture.index])
            painter.drawText(below, Qt.AlignmentFlag.AlignCenter, text)
        changed = set(self._playback.changes_of_text())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(theme.color("warm"))
        for picture in self.pictures:
            if picture.index in changed:
                painter.drawEllipse(QPointF(picture.place.right() - 1, picture.place.top() + 1), 3, 3)

    def _image(self, frame: FilmFrame) -> QImage:
        pixels = int(scaled(PICTURE_PX) * self.devicePixelRatioF())
        return map_image(self._playback.map_of(frame), color_table(is_dark=current_theme().is_dark), 1.0, pixels)

    def _num_slots(self) -> int:
        """How many pictures fit."""
        return max(1, (self.width() - 2 * scaled(MARGIN_PX) + scaled(GAP_PX)) // (scaled(PICTURE_PX) + scaled(GAP_PX)))

    def _choose_at(self, event: QMouseEvent) -> None:
        index = self.frame_at(event.position().x())
        if index is not None and index != self._playback.frame_index:
            self.frame_chosen.emit(index)


def shown_frames(num_frames: int, num_slots: int, shown: int | None) -> list[int]:
    """The frames to draw, by rising number: evenly spaced, including the first, the last and the shown one."""
    if num_frames <= num_slots:
        return list(range(num_frames))
    if num_slots == 1:
        return [shown if shown is not None else num_frames - 1]
    indices = [round(slot * (num_frames - 1) / (num_slots - 1)) for slot in range(num_slots)]
    if shown is not None and shown not in indices:
        nearest = min(range(num_slots), key=lambda slot: abs(indices[slot] - shown))
        if nearest in (0, num_slots - 1) and num_slots > 2:  # the first and last frames are always drawn
            nearest = 1 if nearest == 0 else num_slots - 2
        indices[nearest] = shown
    return sorted(indices)


_GROUP, _LINE = "In the film of a training", "Previous and next frame"
FILM_COMMANDS = (
    Command[FilmStrip]("Previous frame", lambda strip: strip.step(-1), local_keys=("Left",), group=_GROUP, line=_LINE),
    Command[FilmStrip]("Next frame", lambda strip: strip.step(1), local_keys=("Right",), group=_GROUP, line=_LINE),
)
