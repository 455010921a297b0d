"""The film of attention and the sample translations: one frame, and one sample, for each
validation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from PySide6.QtCore import QPointF, QRectF, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QHideEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QSlider,
    QStackedLayout,
    QWidget,
)

from augenmerk.core.counting import display_text
from augenmerk.core.extensions.training.events import SampleTranslated
from augenmerk.core.extensions.training.film import FilmFrame
from augenmerk.core.maps.roles import ROLES
from augenmerk.core.model.heads import ATTENTION_KINDS, KIND_TITLES, AttentionKind, Head
from augenmerk.core.quantities import counted

from ...heatmap.head_grid import HeadGrid, HeadGridArea
from ...heatmap.heatmap import Heatmap
from ...heatmap.map_image import draw_map, map_image
from ...state import map_text
from ...state.color_scale import color_table
from ...theme import PANEL_MARGIN, current_theme, scaled, scales, set_role
from ...widgets.buttons import ChoiceMenu, choice_buttons, flat_button
from ...widgets.canvas import Canvas
from ...widgets.commands import Command, run_by_key
from ...widgets.labels import ElidingLabel, EmptyState, label, show_text
from ...widgets.layouts import Space, VerticalScrollArea, column_of, row_of, set_visible
from ..widgets.max_lines_label import MaxLinesLabel
from .playback import Playback, frame_name, short_name
from .state import TrainState

LowerPanel = Literal["film", "samples"]
LOWER_NAMES: dict[LowerPanel, str] = {"film": "Film of attention", "samples": "Sample translations"}
PICTURE_PX = 56
GAP_PX = 8
LABEL_PX = 17
MARGIN_PX = 3
SMALL_GAP_PX = 3
MOST_COMPLETE = 31
"""Up to 30 epochs, and the untrained model: the strip shows every frame of such a film, smaller if
necessary."""
MAX_STRIP_ROWS = 3
LEAST_SHARE_IN_ONE_ROW = 0.65
"""Of the side of pictures in several rows: one row of smaller ones has room for their epochs
below."""
PLAY_SECONDS = 7.0
"""Duration of a film, unless it has very few or very many frames."""
FILM_WAITING = (
    "The probe sentence is translated before the first step and at each validation, and the maps "
    "of every head are saved. Drag the slider to see how the attention of a head develops during "
    "training."
)
MAX_LINES = 3
"""Of the translation; a longer one scrolls."""
TALL_PX = 245
"""From this height of the panel on, the translation may use all of them."""
LOW_PX = 205
"""Below this height of the panel, only the pictures name the frame."""
PART_STRETCHES = 1, 2
"""Of the strip, and of thumbnails and map together."""
NO_FILM = "This run has no film."
SAMPLES_WAITING = (
    "At each validation a sample of the validation sentences is translated: its BLEU and five "
    "translations."
)
NO_SAMPLES = "This run has no saved translations."
NOT_KEPT = (
    "A run saves only the BLEU of this sample. Its translations were shown until the window was "
    "closed or another run was opened."
)
SCORE_TIP = "BLEU-4, tokenized and lower-cased, of greedy translations; always the same sentences."
NOT_TRANSLATED = "No sample was translated at this validation."


class PanelTabs(QWidget):
    """The header of the panel `own`: tabs, as both panels share one area.

    Signals:
        chosen(str): show this panel.
    """

    chosen = Signal(str)

    def __init__(self, own: LowerPanel) -> None:
        super().__init__()
        self._own = own
        self.tabs = choice_buttons(
            self, {lower: (name, "") for lower, name in LOWER_NAMES.items()}, self._choose
        )
        self.tabs[own].setChecked(True)
        row_of(*self.tabs.values(), 1, spacing=2, within=self)

    def _choose(self, lower: LowerPanel) -> None:
        self.tabs[self._own].setChecked(True)  # the other panel has its own tabs
        self.chosen.emit(lower)


@dataclass(frozen=True)
class Picture:
    """One frame on the strip: its number, its map, its position."""

    index: int
    image: QImage
    place: QRectF


class FilmStrip(Canvas):
    """Draws the frames, smaller and in several rows if one does not hold them all.

    Of a film with more than `MOST_COMPLETE` frames, it draws as many as fit, evenly spaced,
    including the shown one.

    Signals:
        frame_chosen(int): the number of a frame, from 0.
    """

    frame_chosen = Signal(int)

    def __init__(self, playback: Playback) -> None:
        super().__init__()
        self._playback = playback
        self.pictures: list[Picture] = []
        self.has_labels = self._has_large_pictures = True
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Film of attention")
        self.setAccessibleDescription(
            "The chosen head's map at each validation. Left and right go through the frames."
        )

    def sizeHint(self) -> QSize:
        """One row of pictures with their labels."""
        return QSize(
            8 * (scaled(PICTURE_PX) + scaled(GAP_PX)),
            scaled(PICTURE_PX) + scaled(LABEL_PX) + 2 * scaled(MARGIN_PX),
        )

    def minimumSizeHint(self) -> QSize:
        """Room for three pictures."""
        return QSize(3 * (scaled(PICTURE_PX) + scaled(GAP_PX)), self.sizeHint().height())

    def rebuild(self) -> None:
        """Draws the pictures again: a new frame, another head or frame shown, or another size."""
        num_frames = len(self._playback.frames)
        num_columns = self._num_slots()
        side, gap = scaled(PICTURE_PX), scaled(GAP_PX)
        indices: Sequence[int] = range(num_frames)
        self._has_large_pictures = self.has_labels = (
            num_frames <= num_columns or num_frames > MOST_COMPLETE
        )
        if self._has_large_pictures:
            indices = shown_frames(num_frames, num_columns, self._playback.frame_index)
        else:
            gap = scaled(SMALL_GAP_PX)
            sizes = [self._small_size(rows) for rows in range(1, MAX_STRIP_ROWS + 1)]
            metrics, largest = QFontMetrics(current_theme().font("small")), max(sizes)
            widest = max(
                metrics.horizontalAdvance(self._name(frame)) for frame in self._playback.frames
            )
            self.has_labels = sizes[0][0] >= max(widest, LEAST_SHARE_IN_ONE_ROW * largest[0])
            side, num_columns = sizes[0] if self.has_labels else largest
        self.pictures = []
        for slot, index in enumerate(indices):
            row, column = divmod(slot, num_columns)
            x, y = (scaled(MARGIN_PX) + number * (side + gap) for number in (column, row))
            self.pictures.append(
                Picture(index, self._image(self._playback.frames[index]), QRectF(x, y, side, side))
            )
        self.update()

    def _small_size(self, num_rows: int) -> tuple[int, int]:
        """Side of a picture, and number of columns, with all frames in this many rows."""
        num_columns = -(-len(self._playback.frames) // num_rows)
        width, height = (
            (length - scaled(MARGIN_PX)) // num
            for length, num in ((self.width(), num_columns), (self.sizeHint().height(), num_rows))
        )
        return max(1, min(width, height, scaled(PICTURE_PX)) - scaled(SMALL_GAP_PX)), num_columns

    def frame_at(self, x_px: float, y_px: float = 0.0) -> int | None:
        """The frame nearest to a position; between two pictures, one of the frames left out
        there.
        """
        if not self.pictures:
            return None
        if len(self.pictures) == len(self._playback.frames):
            point = QPointF(x_px, y_px)
            near = min(
                self.pictures,
                key=lambda picture: (picture.place.center() - point).manhattanLength(),
            )
            return near.index
        slot = (x_px - scaled(MARGIN_PX) - scaled(PICTURE_PX) / 2) / (
            scaled(PICTURE_PX) + scaled(GAP_PX)
        )
        slot = max(0.0, min(slot, len(self.pictures) - 1))
        left = self.pictures[int(slot)].index
        right = self.pictures[min(int(slot) + 1, len(self.pictures) - 1)].index
        return round(left + (slot - int(slot)) * (right - left))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.rebuild()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._choose_at(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._choose_at(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right walk through the frames."""
        if not run_by_key(event, (command.on(self) for command in FILM_COMMANDS)):
            super().keyPressEvent(event)

    def step(self, by: int) -> bool:
        """Chooses the next or previous frame; False if no frame is shown."""
        shown = self._playback.frame_index
        if shown is not None and 0 <= shown + by < len(self._playback.frames):
            self.frame_chosen.emit(shown + by)
        return shown is not None

    def tip_at(self, position: QPointF) -> str:
        """The translation of the frame under the mouse."""
        index = self.frame_at(position.x(), position.y())
        if index is None:
            return ""
        frame = self._playback.frames[index]
        return f"{frame_name(frame)}: {frame.translation.text}"

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = current_theme()
        painter.setFont(theme.font("small"))
        shown = self._playback.frame_index
        for picture in self.pictures:
            draw_map(painter, picture.place, picture.image)
            is_shown = picture.index == shown
            painter.setPen(
                QPen(theme.color("accent" if is_shown else "border"), 3 if is_shown else 1)
            )
            margin = 1.5 if is_shown else 0.5
            painter.drawRect(picture.place.adjusted(-margin, -margin, margin, margin))
            if not self.has_labels:
                continue
            painter.setPen(theme.color("accent" if is_shown else "muted"))
            below = QRectF(
                picture.place.left() - scaled(GAP_PX) / 2,
                picture.place.bottom() + 3,
                picture.place.width() + scaled(GAP_PX),
                scaled(LABEL_PX),
            )
            painter.drawText(
                below,
                Qt.AlignmentFlag.AlignCenter,
                self._name(self._playback.frames[picture.index]),
            )
        changed = set(self._playback.changes_of_text())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(theme.color("warm"))
        for picture in self.pictures:
            if picture.index in changed:
                painter.drawEllipse(
                    QPointF(picture.place.right() - 1, picture.place.top() + 1), 3, 3
                )

    def _name(self, frame: FilmFrame) -> str:
        """The epoch below a picture; below a small one, only its number."""
        return short_name(frame) if self._has_large_pictures else str(frame.epoch)

    def _image(self, frame: FilmFrame) -> QImage:
        pixels = int(scaled(PICTURE_PX) * self.devicePixelRatioF())
        return map_image(
            self._playback.map_of(frame), color_table(is_dark=current_theme().is_dark), 1.0, pixels
        )

    def _num_slots(self) -> int:
        """The number of pictures that fit."""
        return max(
            1,
            (self.width() - 2 * scaled(MARGIN_PX) + scaled(GAP_PX))
            // (scaled(PICTURE_PX) + scaled(GAP_PX)),
        )

    def _choose_at(self, event: QMouseEvent) -> None:
        index = self.frame_at(event.position().x(), event.position().y())
        if index is not None and index != self._playback.frame_index:
            self.frame_chosen.emit(index)


def shown_frames(num_frames: int, num_slots: int, shown: int | None) -> list[int]:
    """The frames to draw, by rising number: evenly spaced, including the first, the last and the
    shown one.
    """
    if num_frames <= num_slots:
        return list(range(num_frames))
    if num_slots == 1:
        return [shown if shown is not None else num_frames - 1]
    indices = [round(slot * (num_frames - 1) / (num_slots - 1)) for slot in range(num_slots)]
    if shown is not None and shown not in indices:
        nearest = min(range(num_slots), key=lambda slot: abs(indices[slot] - shown))
        # the first and last frames are always drawn
        if nearest in (0, num_slots - 1) and num_slots > 2:
            nearest = 1 if nearest == 0 else num_slots - 2
        indices[nearest] = shown
    return sorted(indices)


class FilmPanel(QFrame):
    """Strip, slider and play button; the head's map at the shown step; all heads to choose from.

    Attributes:
        tabs: this panel and its neighbour.
        strip: the thumbnails.
        slider: chooses the frame.
        play_button: plays the film.
        heatmap: the head's map.
        grid: all heads of the kind shown, to choose from.
        kind_menu: the kind of the head shown.
        layer_menu: its layer.
        head_menu: its number.
    """

    def __init__(self, state: TrainState) -> None:
        super().__init__()
        set_role(self, "panel")
        self._state = state
        self._playback = playback = state.playback
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._advance)
        self.tabs = PanelTabs("film")
        self.probe = ElidingLabel("small")
        self.kind_menu = ChoiceMenu(
            "Kind of attention", {kind: (KIND_TITLES[kind],) * 2 for kind in ATTENTION_KINDS}
        )
        self.layer_menu = ChoiceMenu("Layer", {})
        self.head_menu = ChoiceMenu("Head", {})
        self.play_button = QPushButton("▶  Play")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setProperty("role", "film")
        self.strip = FilmStrip(playback)
        self.frame_label = ElidingLabel("muted")
        self.text = MaxLinesLabel("sentence", MAX_LINES)
        self.heatmap = Heatmap(playback.maps)
        self.grid = FilmGrid(playback.maps)
        self.area = HeadGridArea(self.grid)
        scales(self.area.setMinimumSize, 180, 120)
        scales(self.heatmap.setMinimumSize, 200, 110)
        self.meaning = ElidingLabel("small")
        self._is_presented = self._is_narrow = False
        self.empty_state = EmptyState()
        self._set_tips()
        self._lay_out()
        self._connect()
        self._show_playback()

    def _show_playback(self) -> None:
        """Shows the current frame."""
        playback = self._playback
        has_film = playback.frame is not None
        self._stack.setCurrentIndex(1 if has_film else 0)
        for control in (self.kind_menu, self.layer_menu, self.head_menu, self.probe):
            control.setVisible(has_film)
        if not has_film:
            self.stop_playing()
            self._show_why_empty()
        if playback.frame is not None:
            self._show_frame()

    def _show_why_empty(self) -> None:
        if self._playback.frame is None:
            self.empty_state.show_text(
                FILM_WAITING if self._state.run.status.is_running else NO_FILM
            )

    @property
    def is_playing(self) -> bool:
        """Whether the film is playing."""
        return self._timer.isActive()

    def play(self) -> None:
        """Plays from the shown frame to the end; from the beginning if it is at the end."""
        frames, shown = self._playback.frames, self._playback.frame_index
        if len(frames) < 2 or shown is None:
            return
        if shown == len(frames) - 1:
            self._playback.show_frame(0)
        self._timer.start(int(1000 * min(0.8, max(0.06, PLAY_SECONDS / len(frames)))))
        self.play_button.setText("❚❚  Pause")

    def stop_playing(self) -> None:
        """Stays at the shown frame."""
        self._timer.stop()
        self.play_button.setText("▶  Play")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low panel the translation has fewer lines."""
        super().resizeEvent(event)
        self._fit()

    def arrange(self, *, is_presented: bool, is_narrow: bool) -> None:
        """Shows the map below strip and translation: a presented one as large as possible, without
        thumbnails of other heads, or with them where they do not fit next to the strip.
        """
        self._is_presented, self._is_narrow = is_presented, is_narrow
        self._fit()

    def _fit(self) -> None:
        is_column = self._is_presented or self._is_narrow
        directions = QBoxLayout.Direction
        for layout in (self._head, self._parts):
            layout.setDirection(directions.TopToBottom if is_column else directions.LeftToRight)
        for index, stretch in enumerate(PART_STRETCHES):
            self._parts.setStretch(index, index if is_column else stretch)
        self.frame_label.setVisible(self.height() >= scaled(LOW_PX))
        set_visible(self.area, not self._is_presented, focus_to=self.strip)
        self.text.set_max_lines(MAX_LINES if self.height() >= scaled(TALL_PX) else 1)

    def hideEvent(self, event: QHideEvent) -> None:
        """Stops playing while hidden."""
        super().hideEvent(event)
        self.stop_playing()

    def _show_frame(self) -> None:
        playback = self._playback
        frame, index = playback.frame, playback.frame_index
        assert frame is not None
        assert index is not None
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, len(playback.frames) - 1)
            self.slider.setValue(index)
        self.slider.setEnabled(len(playback.frames) > 1)
        self.play_button.setEnabled(len(playback.frames) > 1)
        self.probe.setText(f"sentence: {frame.translation.source_text}")
        newest = " · the newest" if playback.follows and len(playback.frames) > 1 else ""
        forms = [frame_name(frame), frame_name(frame, has_step=False), short_name(frame)]
        self.frame_label.setText("\n".join([f"{form}{newest}" for form in forms] + forms[1:]))
        self.text.set_text(frame.translation.text or "(empty translation)")
        self._show_head()
        self.strip.rebuild()

    def _show_head(self) -> None:
        state = self._playback.maps
        head = state.selection.head
        num_layers, num_heads = state.maps.shape(head.kind)
        if (
            len(self.layer_menu.actions_by_name) != num_layers
            or len(self.head_menu.actions_by_name) != num_heads
        ):
            self.layer_menu.set_entries(
                {str(n): (f"layer {n + 1}",) * 2 for n in range(num_layers)}
            )
            self.head_menu.set_entries({str(n): (f"head {n + 1}",) * 2 for n in range(num_heads)})
        self.kind_menu.show_choice(head.kind)
        self.layer_menu.show_choice(str(head.layer))
        self.head_menu.show_choice(str(head.head))
        language = state.languages[0 if head.kind == "encoder" else 1]
        self.meaning.setText(
            f"{map_text.meaning_of_query(state)}\n"
            f"Each row: attention of one {language} token\n"
            f"Each row: one {language} token"
        )

    def _advance(self) -> None:
        shown = self._playback.frame_index
        if shown is None or shown >= len(self._playback.frames) - 1:
            self.stop_playing()
        else:
            self._playback.show_frame(shown + 1)

    def _toggle(self) -> None:
        if self.is_playing:
            self.stop_playing()
        else:
            self.play()

    def _choose_frame(self, index: int) -> None:
        self.stop_playing()
        self._playback.show_frame(index)

    def _choose_head(self, **change: object) -> None:
        state = self._playback.maps
        chosen = state.selection.head
        kind = cast(AttentionKind, change.get("kind", chosen.kind))
        num_layers, num_heads = state.maps.shape(kind)
        layer = min(int(str(change.get("layer", chosen.layer))), num_layers - 1)
        head = min(int(str(change.get("head", chosen.head))), num_heads - 1)
        state.selection.choose(Head(kind, layer, head))

    def _on_head_chosen(self) -> None:
        if self._playback.frame is not None:
            self._show_head()
            self.strip.rebuild()
            self.grid.rebuild()
            self.area.show_choice()

    def _connect(self) -> None:
        self._playback.changed.connect(self._show_playback)
        self._state.run_changed.connect(self._show_why_empty, max_args=0)
        self.play_button.clicked.connect(self._toggle)
        self.slider.valueChanged.connect(self._choose_frame)
        self.strip.frame_chosen.connect(self._choose_frame)
        self._playback.maps.selection.events.head.connect(self._on_head_chosen, max_args=0)
        self.kind_menu.chosen.connect(lambda kind: self._choose_head(kind=kind))
        self.layer_menu.chosen.connect(lambda layer: self._choose_head(layer=layer))
        self.head_menu.chosen.connect(lambda head: self._choose_head(head=head))

    def _set_tips(self) -> None:
        self.play_button.setToolTip(
            "Plays the film from here. The dotted line in the chart marks the shown step."
        )
        self.slider.setToolTip(
            "Choose a validation. The dotted line in the chart marks the shown step."
        )
        self.slider.setAccessibleName("Training step")
        self.strip.setToolTip("Orange dot: the translation changed here.")
        self.text.setToolTip("The translation of the probe sentence at this step.")

    def _lay_out(self) -> None:
        menus = self.kind_menu, self.layer_menu, self.head_menu
        self._head = row_of(
            self.tabs, Space(8), (self.probe, 1), row_of(*menus, 1, spacing=4), spacing=4
        )
        transport = row_of(self.play_button, (self.slider, 1), spacing=10)
        left = column_of(self.strip, transport, self.frame_label, self.text, 1, spacing=4)
        right = column_of((self.heatmap, 1), self.meaning, spacing=2)
        film = QWidget()
        maps = row_of((self.area, 1), (right, 1), spacing=PANEL_MARGIN)
        parts = zip((left, maps), PART_STRETCHES, strict=True)
        self._parts = row_of(*parts, spacing=PANEL_MARGIN, within=film)
        self._stack = QStackedLayout()
        column_of(
            self._head,
            (self._stack, 1),
            spacing=4,
            margins=(PANEL_MARGIN, 6, PANEL_MARGIN - 6, 6),
            within=self,
        )
        # in a stack that is nowhere yet, the first would be a window of its own for a moment
        self._stack.addWidget(self.empty_state)
        self._stack.addWidget(film)


class FilmGrid(HeadGrid):
    """The heads of the chosen kind, read-only: heads of an earlier step cannot be switched off; one
    head at a time.
    """

    can_switch = False

    @property
    def kinds(self) -> tuple[AttentionKind, ...]:
        """The kind of the chosen head, so that its layers have the whole height."""
        return (self.state.selection.head.kind,)

    def show_together(self, head: Head) -> None:
        """Shows this head alone."""
        self.state.intents.choose_head(head)

    def _hover(self, head: Head | None) -> None:
        """No frame and no switch on the head under the mouse."""
        self.setCursor(Qt.CursorShape.PointingHandCursor if head else Qt.CursorShape.ArrowCursor)

    def _tip(self, head: Head) -> str:
        role = self.state.roles.of(head)
        what = (
            f"{role}: {ROLES[role]}, at this step"
            if role != "mixed"
            else "no clear role at this step"
        )
        return f"{display_text(head.title)}\n{what}"


class SamplesPanel(QFrame):
    """A table: source, reference, and translation at the shown step.

    The buttons go one validation forward or back.
    """

    def __init__(self, state: TrainState) -> None:
        super().__init__()
        set_role(self, "panel")
        self._state = state
        self._drawn: SampleTranslated | None = None
        self.tabs = PanelTabs("samples")
        self.score = label("muted")
        self.back_button = flat_button("◀", "Previous validation")
        self.forward_button = flat_button("▶", "Next validation")
        self.waiting = label("muted", wraps=True)
        self.notes = label("small", wraps=True)
        self._grid = QGridLayout()
        self._cells: list[list[QLabel]] = []
        self._lay_out()
        self.back_button.clicked.connect(lambda: state.playback.walk(-1))
        self.forward_button.clicked.connect(lambda: state.playback.walk(1))
        state.playback.changed.connect(self._show_playback)
        state.run_changed.connect(self._show_playback, max_args=0)
        self._show_playback()

    def _show_playback(self) -> None:
        """Shows the sample of the shown step."""
        playback = self._state.playback
        sample, steps, shown = playback.sample, playback.steps, playback.shown_step
        for control in (self.back_button, self.forward_button):
            control.setVisible(len(steps) > 1)
        self.back_button.setEnabled(bool(steps) and shown != steps[0])
        self.forward_button.setEnabled(bool(steps) and shown != steps[-1])
        self._table.setVisible(sample is not None)
        self.waiting.setVisible(sample is None)
        show_text(self.notes, "" if sample is None else "\n".join(map(display_text, sample.notes)))
        if sample is None:
            self._show_why_none()
        elif sample is not self._drawn:
            self._show_sample(sample)
        self._drawn = sample

    def _show_why_none(self) -> None:
        """Says why there is no sample for the shown step, and shows its BLEU if it is known.

        Validations of an earlier session are known from the history of the run.
        """
        run, playback = self._state.run, self._state.playback
        validation = run.curves.validation_at(playback.shown_step or 0)
        self.score.setText("")
        self.score.setToolTip("")
        if validation is not None and validation.bleu is not None:
            self.score.setText(f"epoch {validation.epoch} · BLEU {validation.bleu:.1f}")
            self.score.setToolTip(SCORE_TIP)
            self.waiting.setText(NOT_KEPT)
        elif validation is not None:
            self.waiting.setText(NOT_TRANSLATED)
        elif playback.samples or (playback.shown_step is not None and run.curves.validations):
            self.waiting.setText("Not translated before the first validation.")
        else:
            self.waiting.setText(SAMPLES_WAITING if run.status.is_running else NO_SAMPLES)

    def texts(self) -> list[tuple[str, ...]]:
        """The rows as shown: source, reference, hypothesis."""
        return [tuple(cell.text() for cell in row) for row in self._cells if not row[0].isHidden()]

    def _show_sample(self, sample: SampleTranslated) -> None:
        self.score.setText(
            f"epoch {sample.epoch} · BLEU {sample.bleu:.1f} on "
            f"{counted(sample.num_sentences, 'sentence')}"
        )
        self.score.setToolTip(SCORE_TIP)
        while len(self._cells) < len(sample.examples):
            self._add_row()
        for row, cells in enumerate(self._cells):
            is_used = row < len(sample.examples)
            for cell in cells:
                cell.setVisible(is_used)
            if is_used:
                example = sample.examples[row]
                for cell, text in zip(
                    cells, (example.source, example.reference, example.hypothesis), strict=True
                ):
                    cell.setText(text or "–")

    def _add_row(self) -> None:
        row = len(self._cells) + 1
        cells = [label(role, wraps=True) for role in ("muted", "muted", "")]
        for column, cell in enumerate(cells):
            cell.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._grid.addWidget(cell, row, column, Qt.AlignmentFlag.AlignTop)
        self._cells.append(cells)

    def _lay_out(self) -> None:
        head = row_of(
            self.tabs, Space(8), self.score, 1, self.back_button, self.forward_button, spacing=4
        )
        for number, name in enumerate(("source", "reference", "translation")):
            self._grid.addWidget(label("small", name), 0, number)
            self._grid.setColumnStretch(number, 1)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(8)
        scales(self._grid.setContentsMargins, 0, 0, 8, 0)
        content = QWidget()
        content.setProperty("role", "transparent")
        column_of(self._grid, 1, within=content)
        self._table = VerticalScrollArea(content, takes_keys=True)
        margins = PANEL_MARGIN, 8, PANEL_MARGIN - 6, 8
        column_of(
            head,
            self.waiting,
            (self._table, 1),
            self.notes,
            spacing=6,
            margins=margins,
            within=self,
        )


_GROUP, _LINE = "In the film of a training", "Previous and next frame"
FILM_COMMANDS = (
    Command[FilmStrip](
        "Previous frame",
        lambda strip: strip.step(-1),
        local_keys=("Left",),
        group=_GROUP,
        line=_LINE,
    ),
    Command[FilmStrip](
        "Next frame", lambda strip: strip.step(1), local_keys=("Right",), group=_GROUP, line=_LINE
    ),
)
