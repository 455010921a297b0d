"""The film of attention: the probe sentence translated at each validation, with the maps of every head."""

from typing import cast

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QSlider, QStackedLayout, QWidget

from augenmerk.core.analysis.roles import ROLES
from augenmerk.core.model.heads import KIND_TITLES, Head
from augenmerk.core.translation.result import MAP_KINDS, MapKind
from augenmerk.viz_app.heatmap.head_grid import HeadGrid, HeadGridArea
from augenmerk.viz_app.heatmap.heatmap import Heatmap
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.theme import PANEL_MARGIN, scaled, scales, set_role
from augenmerk.viz_app.train.film.strip import FilmStrip
from augenmerk.viz_app.train.film.tabs import PanelTabs
from augenmerk.viz_app.train.playback import moment_name
from augenmerk.viz_app.train.state import TrainState
from augenmerk.viz_app.widgets.buttons import ChoiceMenu
from augenmerk.viz_app.widgets.labels import ElidingLabel, EmptyState, MaxLinesLabel, label
from augenmerk.viz_app.widgets.layouts import Space, column_of, row_of, set_visible

PLAY_SECONDS = 7.0
"""Duration of a film, unless it has very few or very many frames."""
WAITING = (
    "The probe sentence is translated before the first step and at each validation, and the maps of every head are "
    "saved. Drag the slider to see how the attention of a head develops during training."
)
MAX_LINES = 3
"""Of the translation; a longer one scrolls, so that the heads below stay visible."""
TALL_PX = 400
"""From this height of the panel on, the translation may use all of them."""
LOW_PX = 256
"""Below it there is no room for thumbnails; heads are chosen by the menus."""
EMPTY = "This run has no film."


class FilmPanel(QFrame):
    """Strip, slider and play button; the head's map at the shown moment; all heads to choose from.

    Attributes:
        tabs: title, or tabs in a narrow window.
        strip, slider, play_button, heatmap, grid: the parts.
        kind_menu, layer_menu, head_menu: the head that is shown.
    """

    def __init__(self, state: TrainState, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "panel")
        self._state = state
        self._playback = playback = state.playback
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._advance)
        self.tabs = PanelTabs("film")
        self.probe = ElidingLabel("small")
        self.kind_menu = ChoiceMenu("Kind of attention", {kind: (KIND_TITLES[kind],) * 2 for kind in MAP_KINDS})
        self.layer_menu = ChoiceMenu("Layer", {})
        self.head_menu = ChoiceMenu("Head", {})
        self.play_button = QPushButton("▶  Play")
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setProperty("role", "film")
        self.strip = FilmStrip(playback)
        self.moment = ElidingLabel("muted")
        self.text = MaxLinesLabel("sentence", MAX_LINES)
        self.heatmap = Heatmap(playback.maps)
        self.grid = FilmGrid(playback.maps)
        self.area = HeadGridArea(self.grid)
        scales(self.area.setMinimumSize, 200, 50)
        scales(self.heatmap.setMinimumSize, 260, 150)
        self.meaning = label("small", wraps=True)
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
            self.empty_state.show_text(WAITING if self._state.run.status.is_running else EMPTY)

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
        """In a low panel the translation has fewer lines, and there are no thumbnails."""
        super().resizeEvent(event)
        set_visible(self.area, self.height() >= scaled(LOW_PX), focus_to=self.strip)
        self.text.set_max_lines(
            MAX_LINES if self.height() >= scaled(TALL_PX) else 2 if self.height() >= scaled(TALL_PX) - 70 else 1
        )

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
        self.probe.setText(f"probe: {frame.translation.source_text}")
        newest = " · the newest" if playback.follows and len(playback.frames) > 1 else ""
        self.moment.setText(f"{moment_name(frame)}{newest}")
        self.text.set_text(frame.translation.text or "(empty translation)")
        self._show_head()
        self.strip.rebuild()

    def _show_head(self) -> None:
        state = self._playback.maps
        head = state.selection.head
        num_layers, num_heads = state.maps.shape(head.kind)
        if len(self.layer_menu.actions_by_name) != num_layers or len(self.head_menu.actions_by_name) != num_heads:
            self.layer_menu.set_entries({str(n): (f"layer {n + 1}",) * 2 for n in range(num_layers)})
            self.head_menu.set_entries({str(n): (f"head {n + 1}",) * 2 for n in range(num_heads)})
        self.kind_menu.show_choice(head.kind)
        self.layer_menu.show_choice(str(head.layer))
        self.head_menu.show_choice(str(head.head))
        self.meaning.setText(map_text.meaning_of_query(state))

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

    def _choose_moment(self, index: int) -> None:
        self.stop_playing()
        self._playback.show_frame(index)

    def _choose_head(self, **change: object) -> None:
        state = self._playback.maps
        chosen = state.selection.head
        kind = cast(MapKind, change.get("kind", chosen.kind))
        num_layers, num_heads = state.maps.shape(kind)
        layer = min(int(str(change.get("layer", chosen.layer))), num_layers - 1)
        head = min(int(str(change.get("head", chosen.head))), num_heads - 1)
        state.selection.choose(Head(kind, layer, head))

    def _on_head_chosen(self) -> None:
        if self._playback.frame is not None:
            self._show_head()
            self.strip.rebuild()

    def _connect(self) -> None:
        self._playback.changed.connect(self._show_playback)
        self._state.run_changed.connect(self._show_why_empty, max_args=0)
        self.play_button.clicked.connect(self._toggle)
        self.slider.valueChanged.connect(self._choose_moment)
        self.strip.frame_chosen.connect(self._choose_moment)
        self._playback.maps.selection.events.head.connect(self._on_head_chosen, max_args=0)
        self.kind_menu.chosen.connect(lambda kind: self._choose_head(kind=kind))
        self.layer_menu.chosen.connect(lambda layer: self._choose_head(layer=layer))
        self.head_menu.chosen.connect(lambda head: self._choose_head(head=head))

    def _set_tips(self) -> None:
        self.play_button.setToolTip("Plays the film from here. The dotted line in the chart marks the shown step.")
        self.slider.setToolTip("Choose a validation. The dotted line in the chart marks the shown step.")
        self.slider.setAccessibleName("Training step")
        self.strip.setToolTip("Orange dot: the translation changed here.")
        self.text.setToolTip("The translation of the probe sentence at this step.")

    def _lay_out(self) -> None:
        menus = self.kind_menu, self.layer_menu, self.head_menu
        head = row_of(self.tabs, Space(8), (self.probe, 1), *menus, spacing=4)
        transport = row_of(self.play_button, (self.slider, 1), spacing=10)
        left = column_of(self.strip, transport, self.moment, self.text, (self.area, 1), spacing=4)
        right = column_of((self.heatmap, 1), self.meaning, spacing=2)
        film = QWidget()
        row_of((left, 5), (right, 5), spacing=PANEL_MARGIN, within=film)
        self._stack = QStackedLayout()
        self._stack.addWidget(self.empty_state)
        self._stack.addWidget(film)
        column_of(head, (self._stack, 1), spacing=4, margins=(PANEL_MARGIN, 8, PANEL_MARGIN - 6, 8), within=self)


class FilmGrid(HeadGrid):
    """The grid of heads, read-only: heads of an earlier step cannot be switched off; one head at a time."""

    can_switch = False

    def show_together(self, head: Head) -> None:
        """Shows this head alone."""
        self.state.intents.choose_head(head)

    def _hover(self, head: Head | None) -> None:
        """No frame and no switch on the head under the mouse."""
        self.setCursor(Qt.CursorShape.PointingHandCursor if head else Qt.CursorShape.ArrowCursor)

    def _tip(self, head: Head) -> str:
        role = self.state.roles.of(head)
        what = f"{role}: {ROLES[role]}, at this step" if role != "mixed" else "no clear role at this step"
        return f"{head.title}\n{what}"
