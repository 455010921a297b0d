"""The tab *Steps*: decoding token by token, and what becomes of it if something is chosen or set otherwise."""

from typing import ClassVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from core.errors import AnalysisError
from core.model.heads import FixedRow
from core.translation.steps import DecodingStep, ForcedToken
from viz_app.analysis.steps.job import StepsJob
from viz_app.analysis.steps.state import Decoded, StepsState
from viz_app.analysis.steps.token_line import TokenArea, TokenChip, TokenLine
from viz_app.analysis.tab import LabTab, scrolled
from viz_app.state.switchboard import name_heads
from viz_app.state.translate_state import TranslateState
from viz_app.theme import Theme
from viz_app.views.marked_text import before_and_after
from viz_app.widgets.bars import Bar, BarList
from viz_app.widgets.parts import flat_button, label
from viz_app.worker import Failure

PLAY_INTERVAL_MS = 700
HOW_TO_SET = "Click a word or a bar to set this row."
NO_ROW = "Choose a cross-attention head to see, and to set, the row that this step used."


class StepsTab(LabTab):
    """The step player.

    Attributes:
        state: what the tab knows.
        back, forward, play, undo, reset: buttons.
        tokens: the decoding, in `tokens_area`; a click goes to a step.
        candidates: what this step could choose; a click forces it.
        row: the weights that this step used in the chosen cross head; clicks set them by hand.
        decode: decodes again with the row as it was set.
        outcome: the model's own translation and what it has become.
    """

    name: ClassVar[str] = "Steps"
    tip: ClassVar[str] = "Go through decoding token by token; force another token; set a row of attention"
    meaning: ClassVar[str] = (
        "One decoding step at a time: what the model could say next, and how probable. Click another candidate, or "
        "set the row of the chosen head, and it goes on from there. Greedy: a beam might have chosen otherwise."
    )

    def __init__(self, page: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        self.state = StepsState(page)
        super().__init__(page, theme, self.state.awaited, parent)
        self.back = flat_button("◀", "One step back")
        self.forward = flat_button("▶", "One step forward")
        self.play = flat_button("play", "Go through all steps, one after the other")
        self.play.setCheckable(True)
        self.undo = flat_button("undo", "Take the last change back")
        self.reset = flat_button("reset", "Take every change back: the model's own translation")
        self.tokens = TokenLine(theme, "Tokens of the translation")
        self.tokens_area = TokenArea(self.tokens)
        self.candidates = BarList(theme, "Candidates", "Click a token to force it here; the model goes on from there")
        self.row = BarList(
            theme,
            "Attention of this step",
            "Click a word: all attention on it. Click into its bar: that much; the row is then scaled to sum to 1",
        )
        self.decode = QPushButton("Decode again")
        self.decode.setToolTip("Decode again from this step with the row as you set it")
        self.discard = flat_button("as it was", "Forget what you set")
        self._row_hint = label("small", wraps=True)
        self._row_hint.setText(HOW_TO_SET)
        self._row_tools = QStackedWidget()  # as high with the hint as with the buttons: nothing moves under the mouse
        self._place = label("muted")
        self._row_title = label("small", wraps=True)
        self._candidates_title = label("small", wraps=True)
        self.outcome = QLabel()
        self.outcome.setTextFormat(Qt.TextFormat.RichText)
        self.outcome.setWordWrap(True)
        self._timer = QTimer(self, interval=PLAY_INTERVAL_MS)
        self._lay_out()
        self._connect()

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        for part in (self.tokens, self.candidates, self.row):
            part.apply_theme(theme)
        super().apply_theme(theme)

    def forget_sentence(self) -> None:
        """Another translation is shown, or none."""
        self.stop_playing()
        self.state.forget()
        self.page.step_row = None

    def refresh(self) -> None:
        """Asks for the decoding if it is not there."""
        translation = self.page.translation
        if self.state.off != self.page.switchboard.off:
            self.cancel()
            self.stop_playing()
            self.state.follow_switches()
        if self.state.is_lacking and translation is not None:
            self.job_wanted.emit(StepsJob(translation.source_text, off=self.state.off))
        self.state.draft = None
        self.redraw()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nothing plays out of sight, and no row is marked for it."""
        self.stop_playing()
        self.page.step_row = None
        self.marks_changed.emit()
        super().hideEvent(event)

    def in_the_circumstances(self) -> str:
        """Heads that are off are off here; the steps are those of the model, whatever is given."""
        off, translation = self.page.switchboard.off, self.page.translation
        parts = [f"With {name_heads(off)} off."] if off else []
        if translation is not None and translation.is_given:
            parts.append("These are the steps of the model's own translation, not of the given one.")
        return " ".join(parts)

    def take(self, result: object) -> None:
        """A decoding."""
        assert isinstance(result, Decoded)
        self.state.take(result)

    def refuse(self, request_id: int, failure: Failure, /) -> None:
        """The decoding stays as it was."""
        if request_id == self.awaited.request_id:
            self.state.fail()
        super().refuse(request_id, failure)

    def stop_playing(self) -> None:
        """Stays where it is."""
        self._timer.stop()
        self.play.setChecked(False)

    def redraw(self) -> None:
        """Shows the state."""
        super().redraw()
        state, path, step = self.state, self.state.path, self.state.step
        count = len(path.steps) if path else 0
        self._place.setText(f"step {state.position + 1} of {count}" if count else "decoding …")
        self.back.setEnabled(state.position > 0)
        self.forward.setEnabled(state.position + 1 < count)
        self.play.setEnabled(count > 1)
        for button in (self.undo, self.reset):
            button.setEnabled(state.is_changed)
        self._body.setVisible(step is not None)
        self.page.step_row = state.row_of_map() if self.isVisible() else None
        self.marks_changed.emit()
        if step is None or path is None or state.decoded is None:
            return
        self.tokens.show_chips([self._chip(each) for each in path.steps])
        self.tokens_area.show_now(state.position)
        self.outcome.setText(before_and_after(state.decoded.own.translation, path.translation, self.theme))
        self.outcome.setVisible(state.is_changed)
        self._show_candidates(step)
        self._show_row()

    def _chip(self, step: DecodingStep) -> TokenChip:
        is_changed = step.is_forced or bool(step.overridden)
        tip = f"reads {step.read} · {100 * step.chosen.probability:.1f} %" + (" · forced" if step.is_forced else "")
        tip += " · a row was set by hand" if step.overridden else ""
        is_now = step.step == self.state.position
        return TokenChip(step.chosen.token, "changed" if is_changed else "plain", tip, is_now)

    def _show_candidates(self, step: DecodingStep) -> None:
        self._candidates_title.setText(f"after “{step.read}”\nentropy {step.entropy_bits:.2f} bits")
        found = list(step.candidates)
        if all(each.token_id != step.chosen.token_id for each in found):
            found[-1] = step.chosen
        self.candidates.show_bars(
            [
                Bar(
                    each.token,
                    each.probability,
                    f"{100 * each.probability:.1f} %" if each.probability >= 0.001 else "< 0.1 %",
                    is_lit=each.token_id == step.chosen.token_id,
                    is_changed=step.is_forced and each.token_id == step.chosen.token_id,
                )
                for each in found
            ]
        )
        self._shown_candidates = [each.token_id for each in found]

    def _show_row(self) -> None:
        row, translation = self.state.row(), self.state.path.translation if self.state.path else None
        has_row = row is not None and translation is not None
        self.row.setVisible(has_row)
        is_drawn = self.state.draft is not None
        self._row_tools.setVisible(has_row)
        self._row_tools.setCurrentIndex(1 if is_drawn else 0)
        if row is None or translation is None:
            self._row_title.setText(NO_ROW)
            return
        choice, step = self.page.choice, self.state.step
        is_set = step is not None and (choice.layer, choice.head) in step.overridden
        how = "set by hand" if is_set else "being set: scaled to sum to 1" if is_drawn else "as used here"
        self._row_title.setText(f"cross layer {choice.layer + 1} head {choice.head + 1}\n{how}")
        values = self.state.draft or row.tolist()
        self.row.show_bars(
            [
                Bar(word, value, f"{value:.2f}", is_changed=is_set or (is_drawn and value != float(before)))
                for word, value, before in zip(translation.source_tokens, values, row.tolist(), strict=True)
            ]
        )

    def _ask(self) -> None:
        translation = self.page.translation
        if translation is not None:
            self.stop_playing()
            self.job_wanted.emit(StepsJob(translation.source_text, self.state.actions, self.state.off))

    def _go(self, position: int) -> None:
        if self.state.go(position):
            self.redraw()

    def _on_candidate(self, index: int) -> None:
        if self.state.force(self._shown_candidates[index]):
            self._ask()

    def _on_row(self, index: int, share: float | None) -> None:
        self.state.draw(index, share)
        self.redraw()

    def _on_decode(self) -> None:
        try:
            self.state.set_row()
        except AnalysisError as error:
            self.awaited.problem = str(error)
            self.redraw()
            return
        self._ask()

    def _on_discard(self) -> None:
        self.state.draft, self.awaited.problem = None, ""
        self.redraw()

    def _on_undo(self) -> None:
        """Goes to the step whose change is taken back."""
        edit = self.state.actions[-1]
        assert isinstance(edit, ForcedToken | FixedRow)
        self.state.go(edit.step)
        self.state.undo()
        self._ask()

    def _on_reset(self) -> None:
        self.state.reset()
        self._ask()

    def _on_play(self, is_on: bool) -> None:
        if not is_on:
            self._timer.stop()
            return
        if self.state.path is not None and self.state.position + 1 >= len(self.state.path.steps):
            self._go(0)
        self._timer.start()

    def _on_tick(self) -> None:
        self._go(self.state.position + 1)
        if self.state.path is None or self.state.position + 1 >= len(self.state.path.steps):
            self.stop_playing()

    def _connect(self) -> None:
        self.back.clicked.connect(lambda: self._go(self.state.position - 1))
        self.forward.clicked.connect(lambda: self._go(self.state.position + 1))
        self.play.toggled.connect(self._on_play)
        self._timer.timeout.connect(self._on_tick)
        self.undo.clicked.connect(self._on_undo)
        self.reset.clicked.connect(self._on_reset)
        self.tokens.clicked.connect(self._go)
        self.candidates.label_clicked.connect(self._on_candidate)
        self.candidates.bar_clicked.connect(lambda index, _: self._on_candidate(index))
        self.row.label_clicked.connect(lambda index: self._on_row(index, None))
        self.row.bar_clicked.connect(self._on_row)
        self.decode.clicked.connect(self._on_decode)
        self.discard.clicked.connect(self._on_discard)

    def _lay_out(self) -> None:
        controls = QHBoxLayout()
        controls.setSpacing(2)
        for button in (self.back, self.forward, self.play):
            controls.addWidget(button)
        controls.addSpacing(6)
        controls.addWidget(self._place)
        controls.addStretch(1)
        controls.addWidget(self.undo)
        controls.addWidget(self.reset)
        self._body = QWidget()
        body = QVBoxLayout(self._body)
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(8)
        body.addWidget(self.tokens_area)
        body.addWidget(self.outcome)
        columns = QHBoxLayout()
        columns.setSpacing(14)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(0, 0, 0, 0)
        buttons.addWidget(self.decode)
        buttons.addWidget(self.discard)
        buttons.addStretch(1)
        both = QWidget()
        both.setLayout(buttons)
        for page in (self._row_hint, both):
            self._row_tools.addWidget(page)
        self._row_tools.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        for title, bars, extra in (
            (self._candidates_title, self.candidates, None),
            (self._row_title, self.row, self._row_tools),
        ):
            column = QVBoxLayout()
            column.setSpacing(4)
            column.addWidget(title)
            if extra is not None:
                column.addWidget(extra)
            column.addWidget(bars)
            column.addStretch(1)
            columns.addLayout(column, 1)
        body.addLayout(columns)
        body.addStretch(1)
        self.column.addLayout(controls)
        self.column.addWidget(scrolled(self._body), 1)
