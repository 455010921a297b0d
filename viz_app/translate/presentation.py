"""One map, large, with its sentence and translation, for people who sit far away. Without controls: keys only."""

from collections.abc import Callable
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QKeyEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QLabel, QStackedWidget, QWidget

from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import Translation
from augenmerk.viz_app.heatmap.heatmap import Heatmap
from augenmerk.viz_app.heatmap.lines_view import LinesArea, LinesView
from augenmerk.viz_app.state import map_text
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.map_view_settings import on_redraw
from augenmerk.viz_app.state.sentence_text import changed_pieces
from augenmerk.viz_app.theme import current_theme
from augenmerk.viz_app.views.commands import HEAD_COMMANDS, NEXT_MAPS, SCENE_COMMANDS
from augenmerk.viz_app.widgets.commands import Command, run_by_key
from augenmerk.viz_app.widgets.layouts import column_of

USUAL_SIZE = 800, 520
"""Of a window in which the letters are as large as in the interface at 100%."""
WORDS_LARGER = 1.7
"""Than the labels of the map."""
_OTHER_KEYS = "O off or on · D original, changed, difference · Esc back"
KEYS = f"Page Up, Page Down or ← → ↑ ↓ heads and layers · {_OTHER_KEYS}"
KEYS_OF_SCENES = f"← → or Page Up, Page Down scenes · Shift+← → heads · ↑ ↓ layers · {_OTHER_KEYS}"


class Presentation(QWidget):
    """A full screen with the contents of the Translate page, for the same experiment.

    Page Up, Page Down, ← and → step through the scenes of the lesson that is open, or without one through the heads.

    Attributes:
        step_scene: moves by a number of scenes and returns True; False if no lesson is shown.
        scene_words: number, title and text of the scene; None if no lesson is shown.
        scene: those of a lesson; hidden without one.
        source, target: the sentence, and the words of the translation; new words are marked.
        heatmap, lines: the map, in the form chosen on the page.
        caption: the name of the head, and the meaning of a row; `hint` names the keys until one is used.
    """

    def __init__(self, state: ExperimentState, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle("Presentation – Augenmerk")
        self._state = state
        self.step_scene: Callable[[int], bool] = lambda by: False
        self.scene_words: Callable[[], str | None] = lambda: None
        self.scene, self.source, self.target, self.caption, self.hint = (QLabel() for _ in range(5))
        self.heatmap, self.lines = Heatmap(state), LinesView(state)
        self.map = QStackedWidget()
        self.map.addWidget(self.heatmap)
        self.map.addWidget(LinesArea(self.lines))
        self._sizes = {self.source: WORDS_LARGER, self.target: WORDS_LARGER, self.hint: 0.7}
        roles = "accent", "muted", "", "", "muted"
        texts = self.scene, self.source, self.target, self.caption, self.hint
        for words, role in zip(texts, roles, strict=True):
            words.setWordWrap(True)
            words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            words.setProperty("role", role)
            words.setTextFormat(Qt.TextFormat.RichText if words is self.target else Qt.TextFormat.PlainText)
        self.target.setAccessibleName("Translation")
        self._column = column_of(*texts[:3], (self.map, 1), *texts[3:], within=self)
        self.setBackgroundRole(QPalette.ColorRole.Base)  # as the map
        self.setAutoFillBackground(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        for map_widget in (self.heatmap, self.lines):
            map_widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        for changed in (state.result_changed, state.experiment_changed, state.roles_changed, state.measuring.changed):
            changed.connect(self.rebuild)
        on_redraw(state.settings, ("maps", "large map"), self.rebuild)
        state.selection.events.head.connect(self.rebuild, max_args=0)

    def begin(self) -> None:
        """Fills the screen of the window."""
        self.hint.setVisible(True)
        parent = self.parentWidget()
        if parent is not None:
            self.setGeometry(parent.screen().geometry())
        self.rebuild()
        self.showFullScreen()
        self.activateWindow()
        self.setFocus()

    def show_scene(self) -> None:
        """Another scene of the lesson, by whichever key."""
        self.rebuild()
        self.hint.setVisible(False)

    def rebuild(self) -> None:
        """Updates the map and the texts."""
        state = self._state
        shown = state.maps.translation
        scene = self.scene_words()
        self.scene.setText(scene or "")
        self.scene.setVisible(scene is not None)
        self.hint.setText(KEYS if scene is None else KEYS_OF_SCENES)
        self.source.setText(shown.experiment.source_text if shown is not None else "")
        self.target.setText(self._words(shown) if shown is not None else "There is no translation yet.")
        self.map.setCurrentIndex(1 if state.settings.picture == "lines" else 0)
        self.map.setVisible(shown is not None)
        self.caption.setText(caption(state) if shown is not None else "")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows walk through heads and layers, or with a lesson ← and → through scenes: see `KEYS`."""
        own = (command.on(self) for command in (*SCENE_COMMANDS, *PRESENTATION_COMMANDS))
        of_state = (command.on(self._state) for command in (*HEAD_COMMANDS, NEXT_MAPS))
        if run_by_key(event, (*own, *of_state)):
            self.hint.setVisible(False)

    def step_head(self, by: int) -> bool:
        """Chooses the next or previous head, across layers; False if none are shown."""
        head = self._state.selection.head
        num_layers, num_heads = self._state.maps.shape(head.kind)
        place = head.layer * num_heads + head.head + by
        if 0 <= place < num_layers * num_heads:
            self._state.intents.choose_head(Head(head.kind, *divmod(place, num_heads)))
        return self._state.result is not None

    def resizeEvent(self, event: QResizeEvent) -> None:
        """All letters grow with the screen."""
        super().resizeEvent(event)
        scale = max(1.0, min(self.width() / USUAL_SIZE[0], self.height() / USUAL_SIZE[1]))
        body = current_theme().at_scale(scale).base_px
        for words in (self.scene, self.source, self.target, self.caption, self.hint):
            words.setStyleSheet(f"font-size: {round(body * self._sizes.get(words, 1.0))}px")
        self._column.setContentsMargins(2 * body, 2 * body, 2 * body, body)
        self._column.setSpacing(body // 2)
        self.heatmap.set_scale(scale)
        self.lines.set_scale(scale)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Back to the window."""
        super().closeEvent(event)
        if (parent := self.parentWidget()) is not None:
            parent.activateWindow()

    def _words(self, shown: Translation) -> str:
        original, warm = self._state.original, current_theme().palette.warm
        if original is None or shown is original:
            return escape(shown.text)
        return "".join(
            f'<span style="color: {warm}">{escape(piece.text)}</span>' if piece.mark == "new" else escape(piece.text)
            for piece in changed_pieces(original, shown)
            if piece.mark != "gone"
        )


def caption(state: ExperimentState) -> str:
    """A line on the head and its maps, and one on the meaning of a row."""
    head, maps = state.selection.head, state.maps
    parts = [map_text.title(state)]
    is_one = state.settings.scope == "head"
    if is_one and head in state.experiment.heads_off:
        parts.append("off")
    if is_one and state.roles.sample is not None and (role := state.roles.of(head)) != "mixed":
        parts.append(role)
    if state.result is not None and state.result.is_changed:
        parts.append(maps.shown)
    notes = map_text.meaning_of_query(state, state.settings.picture), map_text.off_note(state)
    return f"{' · '.join(parts)}\n{' '.join(filter(None, notes))}"


_GROUP, _HEADS = "In the presentation", "Previous and next head"
PRESENTATION_COMMANDS = (
    Command[Presentation](
        "Previous head", lambda part: part.step_head(-1), local_keys=("PgUp",), group=_GROUP, line=_HEADS
    ),
    Command[Presentation](
        "Next head", lambda part: part.step_head(1), local_keys=("PgDown",), group=_GROUP, line=_HEADS
    ),
    Command[Presentation]("Back to the window", Presentation.close, local_keys=("Esc", "F5"), group=_GROUP),
)
"""Keys in addition to those of heads, maps and scenes."""
