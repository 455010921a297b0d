"""The tab *Compare*: two sentences in one model, or one sentence in two checkpoints."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QGridLayout,
    QLabel,
    QMenu,
    QPushButton,
    QWidget,
)

from augenmerk.core.config import RunConfig
from augenmerk.core.counting import display_text
from augenmerk.core.errors import AnalysisError, AugenmerkError
from augenmerk.core.maps.selection import LabelledMap
from augenmerk.core.quantities import number
from augenmerk.core.text.languages import language_name
from augenmerk.core.translation.experiment import Experiment, ForcedToken, GivenTarget
from augenmerk.core.translation.result import ExperimentResult, Translation

from ....heatmap.heatmap import MIN_COLUMN_LABEL
from ....preferences import RecentFiles
from ....state.map_text import title
from ....state.map_view_settings import on_redraw
from ....state.tabs import Tab
from ....theme import scales
from ....translate.analysis_tab import AnalysisContext
from ....widgets.buttons import MenuButton, choice_buttons, flat_button
from ....widgets.dialogs import add_files, ask_what_to_open
from ....widgets.labels import label, show_text
from ....widgets.layouts import (
    VerticalScrollArea,
    add_parts,
    column_of,
    keep_room,
    row_of,
    set_visible,
    take_out,
)
from ....worker.jobs import Job, OpenTranslator, ShouldStop, Tell
from ...widgets.changed_words import breakable
from ...widgets.labelled_matrix import MAX_SLANTED, LabelledMatrix, Matrix, MatrixCell, MatrixStyle
from ...widgets.one_line_edit import one_line_edit
from ..computing_tab import ComputingTab
from .questions import CompareQuestion
from .state import (
    READS_FIRST,
    ComparedMaps,
    CompareState,
    Comparison,
    SecondModel,
)
from .texts import texts_in_html


@dataclass(frozen=True, eq=False)
class CompareJob(Job):
    """Runs an experiment with another sentence or another model.

    Attributes:
        first: the current result.
        experiment: the second one. Interventions that do not fit sentence or model are left out and
            reported.
        model: the second model; None for the current one.
    """

    first: ExperimentResult
    experiment: Experiment
    model: SecondModel | None = None

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> Comparison:
        """See `Job.run`. Raises `AnalysisError` if the two models translate other languages."""
        other = translator if self.model is None else self.model.translator(translator.device.name)
        _check_languages(translator.run_config, other.run_config, other.name)
        second = other.compare(self.experiment, drops_misfits=True, should_stop=should_stop)
        first = self.first.changed
        forced = None
        problem = ""
        try:
            forced = other.compare(
                reading(second.experiment, first), own=second.original, should_stop=should_stop
            )
        # the translation is empty, or too long for the second model
        except AugenmerkError as error:
            problem = display_text(error)
        is_same_vocabulary = other is translator or (
            other.checkpoint.codecs.vocabulary_digest
            == translator.checkpoint.codecs.vocabulary_digest
        )
        scored: float | None = None
        if is_same_vocabulary and len(first.read_ids) <= other.run_config.model.max_positions:
            scored = sum(other.score(first, second.experiment))
        elif forced is not None:
            scored = forced.changed.log_probability
        if forced is not None:
            forced = replace(forced, dropped=second.dropped)
        return Comparison(self.first, second, forced, problem, scored, is_same_vocabulary)


def reading(experiment: Experiment, first: Translation) -> Experiment:
    """The experiment with the first translation as its target, which has all forced tokens."""
    others = tuple(
        change for change in experiment.interventions if not isinstance(change, ForcedToken)
    )
    return Experiment(experiment.source_text, GivenTarget(first.text), others)


def _check_languages(one: RunConfig, other: RunConfig, name: str) -> None:
    first, second = _languages(one), _languages(other)
    if first != second:
        raise AnalysisError(
            f"{name} translates {second}, but the current model translates {first}. Choose a "
            "checkpoint for the same languages."
        )


def _languages(run: RunConfig) -> str:
    if run.is_copy_task:
        return "numbers (the copy task)"
    return f"{language_name(run.data.source_language)} to {language_name(run.data.target_language)}"


HINT = "Point at a cell to see its value in all three maps."
Cell = tuple[int, int]
Cells = tuple[Cell | None, Cell | None, Cell | None]
"""The same query and key in the first map, the second, and the difference."""
NO_CELLS: Cells = (None, None, None)
WEIGHTS = MatrixStyle("sequential", cell_heights=(9, 16), aimed_height=170)
CHANGE = MatrixStyle(
    "signed",
    cell_heights=(9, 20),
    aimed_height=230,
    legend=lambda top: (f"first +{top:.2f}", "0", f"second +{top:.2f}"),
)
PRESENTED_HEIGHTS, LARGEST_PRESENTED_CELL = (90, 420), 26
"""Of a presented map, and of its cells, in pixels at 100%."""
SLANTED_LIMITS = *range(MAX_SLANTED, MIN_COLUMN_LABEL - 1, -12), MAX_SLANTED
"""Of the column labels of a presented map: the first that leaves all rows their labels, else the
last."""


class CompareMaps(QWidget):
    """Draws `ComparedMaps`.

    Attributes:
        first: the first map.
        second: the second map.
        change: their difference.
        is_presented: whether they are shown in one row, with few words.
        value: the values under the mouse; without them, the head of presented maps; the owner
            places it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.first = LabelledMatrix("First map", WEIGHTS)
        self.second = LabelledMatrix("Second map", WEIGHTS)
        self.change = LabelledMatrix("Difference of the maps", CHANGE)
        self.value = label("small", wraps=True)
        self._maps: ComparedMaps | None = None
        self.is_presented = False
        self._title = label("heading", wraps=True)
        self._names = [label("small", text) for text in ("first", "second")]
        self._change_name = label("small", wraps=True)
        self._problem = label("warm", wraps=True)
        self._notes = label("small", wraps=True)
        self._lay_out()
        self._matrices = (self.first, self.second, self.change)
        for which, matrix in enumerate(self._matrices):
            matrix.hovered.connect(partial(self._on_hovered, which))

    def show_maps(self, maps: ComparedMaps, title: str) -> None:
        """Draw these maps; `title` names the head."""
        self._maps = maps
        change = maps.change
        self.first.show_matrices([matrix_of(maps.first)], maps.top)
        if maps.second is not None:
            self.second.show_matrices([matrix_of(maps.second)], maps.top)
        for part in (self.second, self._names[1]):
            part.setVisible(maps.second is not None)
        if change is not None:
            matrix = Matrix(change.values, change.queries.labels, change.keys.labels)
            self.change.show_matrices([matrix], maps.change_top)
            largest = f"{change.largest:.2f}"
            whole = f"second − first. Largest difference: {largest}, where a whole row is 1."
            self._change_name.setText(
                f"second − first, {largest} at most" if self.is_presented else whole
            )
        for part in (self.change, self._change_name):
            part.setVisible(change is not None)
        self._title.setText(title)
        self._title.setVisible(not self.is_presented)
        show_text(self._problem, maps.problem)
        self._notes.setText(" ".join(maps.notes))
        self._notes.setVisible(not self.is_presented)
        self._show_hovered()

    def set_presented(self, is_presented: bool) -> None:
        """Shows all maps in one row, with few words; or the difference above the others, in the
        usual heights.
        """
        self.is_presented = is_presented
        directions = QBoxLayout.Direction
        self._parts.setDirection(directions.RightToLeft if is_presented else directions.TopToBottom)
        self._parts.setStretch(0, 1 if is_presented else 0)
        self._parts.setStretch(1, 2 if is_presented else 0)
        if not is_presented:
            for matrix, style in (
                (self.first, WEIGHTS),
                (self.second, WEIGHTS),
                (self.change, CHANGE),
            ):
                matrix.set_heights(style.aimed_height, style.cell_heights[1])

    def set_presented_height(self, height: int, slanted_limit: int) -> None:
        """Another height of all cells of a presented map together, and another largest length of
        column labels.
        """
        for matrix in self._matrices:
            matrix.set_heights(height, LARGEST_PRESENTED_CELL, slanted_limit)

    @property
    def labels_all_rows(self) -> bool:
        """Whether every row of every map has its label."""
        return all(matrix.labels_all_rows for matrix in self._matrices)

    def _in_all(self, cell: Cell, which: int) -> Cells:
        """A cell of one of the maps in all three."""
        change = self._maps.change if self._maps is not None else None
        if which == 2 and change is not None:
            cell = (change.query_pairs[cell[0]][0], change.key_pairs[cell[1]][0])
            which = 0
        cells: list[Cell | None] = [None, None, None]
        cells[which] = cell
        if change is not None:
            row = next(
                (index for index, pair in enumerate(change.query_pairs) if pair[which] == cell[0]),
                None,
            )
            column = next(
                (index for index, pair in enumerate(change.key_pairs) if pair[which] == cell[1]),
                None,
            )
            if row is not None and column is not None:
                cells[1 - which] = (
                    change.query_pairs[row][1 - which],
                    change.key_pairs[column][1 - which],
                )
                cells[2] = row, column
        return cells[0], cells[1], cells[2]

    def _show_hovered(self) -> None:
        """Show the cell under the mouse in the current maps."""
        for which, matrix in enumerate(self._matrices):
            if matrix.isVisible() and matrix.hovered_cell is not None:
                self._on_hovered(which, matrix.hovered_cell)
                return
        self._on_hovered(0, None)

    def _on_hovered(self, which: int, cell: MatrixCell | None) -> None:
        self._show_cells(
            self._in_all((cell.row, cell.column), which) if cell is not None else NO_CELLS
        )

    def _show_cells(self, cells: Cells) -> None:
        for widget, cell in zip(self._matrices, cells, strict=True):
            widget.mark([MatrixCell(0, *cell)] if cell is not None else [])
        self.value.setText(
            self._in_words(cells) or (self._title.text() if self.is_presented else HINT)
        )

    def _in_words(self, cells: Cells) -> str:
        maps = self._maps
        if maps is None:
            return ""
        parts = []
        names = ""
        for name, labelled, cell in (
            ("first", maps.first, cells[0]),
            ("second", maps.second, cells[1]),
        ):
            if cell is None or labelled is None:
                continue
            names = names or f"{labelled.queries.labels[cell[0]]} → {labelled.keys.labels[cell[1]]}"
            parts.append(f"{name} {labelled.weights[cell]:.2f}")
        if cells[2] is not None and maps.change is not None:
            parts.append(f"difference {number(float(maps.change.values[cells[2]]), signed=True)}")
        elif parts and maps.change is not None:
            parts.append("no partner in the other map")
        return f"{names}:  " + "   ".join(parts) if parts else ""

    def _lay_out(self) -> None:
        both = row_of(
            *(
                (column_of(name, matrix, 1, spacing=2), 1)
                for name, matrix in zip(self._names, (self.first, self.second), strict=True)
            ),
            spacing=8,
        )
        change = column_of(self._change_name, self.change, 1, spacing=2)
        self._parts = column_of(change, both, spacing=6)
        column_of(self._problem, self._title, self._parts, self._notes, spacing=6, within=self)


def matrix_of(labelled: LabelledMap) -> Matrix:
    """A labelled map with queries in rows."""
    return Matrix(labelled.weights, labelled.queries.labels, labelled.keys.labels)


class CompareArea(VerticalScrollArea):
    """Scrolls the texts and maps of a comparison, unless they are presented.

    Args:
        content: the texts and maps.
        maps: the part that is fitted.
    """

    def __init__(self, content: QWidget, maps: CompareMaps) -> None:
        super().__init__(content)
        self._content, self._maps = content, maps
        self._timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(self.fit_maps)

    def fit_maps_later(self) -> None:
        """Calls `fit_maps` when the texts have their heights."""
        self._timer.start()

    def fit_maps(self) -> None:
        """Makes presented maps as high as there is room; column labels are short if rows would lose
        theirs.
        """
        if self.isHidden() or not self._maps.is_presented:
            return
        for slanted_limit in SLANTED_LIMITS:
            self._fit_heights(slanted_limit)
            if self._maps.labels_all_rows:
                break

    def _fit_heights(self, slanted_limit: int) -> None:
        room = self.viewport().size()
        (least, most) = PRESENTED_HEIGHTS
        while most - least > 1:
            middle = (least + most) // 2
            self._maps.set_presented_height(middle, slanted_limit)
            for part in (self._maps, self._content):  # layouts keep the previous heights until then
                if (layout := part.layout()) is not None:
                    layout.invalidate()
                    layout.activate()
            fits = self._content.heightForWidth(room.width()) <= room.height()
            least, most = (middle, most) if fits else (least, middle)
        self._maps.set_presented_height(least, slanted_limit)


CHECKPOINT_FILTER = "Checkpoints (*.safetensors);;All files (*)"
QUESTIONS: dict[CompareQuestion, tuple[str, str]] = {
    "sentence": ("another sentence", "Two sentences in one model"),
    "checkpoint": ("another checkpoint", "One sentence in two checkpoints"),
}
HINTS: dict[CompareQuestion, str] = {
    "sentence": "Change a word or two of this sentence, then press Compare.",
    "checkpoint": "Both models translate the sentence above. The second model is only opened for this tab.",
}
CANCELLED = "Comparing was cancelled."
LEAST_MESSAGE_HEIGHT = 34
"""Pixels below the second sentence for the hint, a problem or the progress."""
TEXTS_TIP = (
    "In brackets: the log-probability of the translation. Δ (difference): the change of the "
    "first translation's log-probability with the second sentence or checkpoint"
)
READS_FIRST_TIP = (
    "The second sentence or checkpoint reads the first translation (teacher forcing) instead of "
    "making its own. The rows are then equal, and the maps differ only in where the model looks"
)


class CompareTab(ComputingTab):
    """Two results side by side, the chosen head in both, and the difference.

    Attributes:
        comparing: the state.
        question_buttons: another sentence, another checkpoint.
        sentence: the second sentence; `compare` starts the comparison.
        checkpoint_button: its menu chooses the second checkpoint; `close_button` frees it.
        reads_first: shows the second with the words of the first translation.
        texts: both translations.
        maps: the chosen head in both.
    """

    stops_when_left: ClassVar[bool] = True

    def __init__(self, context: AnalysisContext, tab: Tab) -> None:
        super().__init__(context, tab)
        self.comparing = CompareState(self.state)
        self.question_buttons = choice_buttons(self, QUESTIONS, self._on_question)
        self.sentence = one_line_edit(
            "The second sentence",
            "The sentence to compare with: change a word or two",
            "the second sentence",
        )
        self.compare = QPushButton("Compare")
        self.compare.setToolTip("Translate the second sentence and compare (Enter)")
        self.checkpoint_button = MenuButton("", "Choose the checkpoint to compare with")
        self.checkpoint_menu = QMenu(self.checkpoint_button)
        self.checkpoint_menu.aboutToShow.connect(
            partial(
                _offer_checkpoints,
                self.checkpoint_menu,
                self.preferences.recent_models,
                self.use_checkpoint,
                self,
            )
        )
        self.checkpoint_button.setMenu(self.checkpoint_menu)
        self.close_button = flat_button(
            "close it", "Close the second checkpoint and free its memory"
        )
        self.reads_first = QCheckBox(READS_FIRST)
        self.reads_first.setToolTip(READS_FIRST_TIP)
        self.texts = QLabel()
        self.texts.setToolTip(TEXTS_TIP)
        self.texts.setTextFormat(Qt.TextFormat.RichText)
        self.texts.setWordWrap(True)
        # of the scrolled content: the height at the actual width is enough
        self.texts.setMinimumHeight(1)
        self._notes = label("warm", wraps=True)
        self.maps = CompareMaps()
        self._hint = label("muted", wraps=True)
        self._waiting = self.add_wait_bar(CANCELLED, "Compare again")
        self._lay_out()
        self._connect()
        self._show_text()

    def forget_result(self) -> None:
        """Forgets the comparison, and a sentence that the user has not typed."""
        self.comparing.forget_result()
        if "compare_text" in self.state.opened:
            self._show_text()
        elif not self.sentence.isModified():
            self.sentence.clear()

    def showEvent(self, event: QShowEvent) -> None:
        """A sentence that was deleted begins again as the first one."""
        if not event.spontaneous() and not self.sentence.text().strip():
            self.request.forget_problem()
            self.sentence.clear()
            self._show_text()
        super().showEvent(event)

    def _show_text(self) -> None:
        self.sentence.setText(self.comparing.text)
        self.sentence.setModified(bool(self.comparing.text))

    def refresh(self) -> None:
        """Requests the comparison if there is something to compare with."""
        translation = self.state.translation
        if translation is not None and not self.sentence.text() and not self.sentence.isModified():
            self.sentence.setText(translation.source_text)
            self.sentence.setCursorPosition(0)
        is_lacking = (
            self.comparing.comparison is None
            and not self.request.is_running
            and not self.request.problem
        )
        if is_lacking and self.comparing.has_second:
            self._ask()
        self.redraw()

    def set_presented(self, is_presented: bool) -> None:
        """See `AnalysisTab.set_presented`; the maps take the width of the screen."""
        self.maps.set_presented(is_presented)
        super().set_presented(is_presented)

    def on_stopped(self) -> None:
        """Keeps the checkpoint if it is open already."""
        candidate = self.comparing.candidate
        if candidate is not None and not candidate.is_open:
            self.comparing.drop_candidate()

    def use_checkpoint(self, path: Path | None) -> None:
        """Compares with a checkpoint, None for the bundled one; the previous one stays until this
        one is open.
        """
        if self.translation_to_ask_about is None:
            return
        self.comparing.try_model(SecondModel(path))
        self._ask()

    def close_checkpoint(self) -> None:
        """Frees the second checkpoint."""
        self.cancel()
        self.comparing.close_model()
        self.redraw()

    def redraw(self) -> None:
        """Shows the question and the comparison."""
        comparing = self.comparing
        is_running = self.request.is_running
        is_sentence = comparing.question == "sentence"
        has_room = not (self.is_presented and comparing.comparison)
        chosen = self.question_buttons[comparing.question]
        chosen.setChecked(True)
        for part in (self.explanation, self.reads_first, *self.question_buttons.values()):
            part.setVisible(has_room)
        for part in (self.sentence, self.compare):
            set_visible(part, is_sentence and has_room, focus_to=chosen)
        model = comparing.chosen_model
        self.checkpoint_button.setText(
            f"{model.name} ▾" if model is not None else "choose a checkpoint ▾"
        )
        set_visible(self.checkpoint_button, not is_sentence and has_room, focus_to=chosen)
        has_second = not is_sentence and has_room and model is not None
        set_visible(self.close_button, has_second, focus_to=self.checkpoint_button)
        is_opening = comparing.candidate is not None and not comparing.candidate.is_open
        doing = f"opening {model.name}…" if is_opening and model else "translating…"
        self._waiting.describe(doing, offers_start=not is_sentence)
        self._hint.setText(HINTS[comparing.question])
        self._hint.setVisible(not is_running and not self.request.problem)
        self._messages.setVisible(has_room or is_running or bool(self.request.problem))
        maps = comparing.maps()
        comparison = comparing.comparison
        set_visible(
            self._area,
            maps is not None,
            focus_to=self.compare if is_sentence else self.checkpoint_button,
        )
        self.maps.value.setVisible(maps is not None)
        if maps is None or comparison is None:
            return
        self.reads_first.setEnabled(comparison.forced is not None)
        self.reads_first.setToolTip(
            READS_FIRST_TIP if comparison.forced is not None else comparison.forced_problem
        )
        self.reads_first.setChecked(comparing.reads_first)
        self.texts.setText(texts_in_html(comparing, self.is_presented, self.theme.palette))
        notes = (comparing.dropped, *comparing.notes_on_second_sentence)
        show_text(self._notes, breakable(" ".join(filter(None, notes))))
        self.maps.show_maps(maps, title(self.state))
        self._area.fit_maps()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Presented maps are as high as there is room."""
        super().resizeEvent(event)
        self._area.fit_maps_later()

    def _ask(self) -> None:
        if self.translation_to_ask_about is not None and self.state.result is not None:
            experiment = self.comparing.second_experiment()
            self.ask(
                CompareJob(self.state.result, experiment, self.comparing.chosen_model), self._take
            )

    def _take(self, comparison: Comparison) -> None:
        candidate = self.comparing.candidate
        self.comparing.take(comparison)
        if candidate is not None and candidate.path is not None:
            self.preferences.recent_models.remember(candidate.path)
        self.redraw_in_sight()

    def _on_problem(self) -> None:
        """Forgets a checkpoint that cannot be read."""
        if not self.request.problem:
            return
        candidate = self.comparing.candidate
        if candidate is not None and candidate.path is not None and not candidate.is_open:
            self.preferences.recent_models.forget(candidate.path)
        self.comparing.fail()

    def _on_compare(self) -> None:
        text = self.sentence.text().strip()
        self.cancel()
        if not text:
            self.comparing.text = ""
            self.request.finish("The second sentence is empty. Enter a sentence.")
        else:
            self.comparing.text = text
            self._ask()
        self.redraw()

    def _on_question(self, question: CompareQuestion) -> None:
        self.cancel()
        self.request.forget_problem()
        self.comparing.ask_question(question)
        self.refresh()

    def _on_reads_first(self, is_on: bool) -> None:
        self.comparing.show_reading(is_on)
        self.redraw()

    def _connect(self) -> None:
        self.compare.clicked.connect(self._on_compare)
        self.sentence.returnPressed.connect(self._on_compare)
        self.close_button.clicked.connect(self.close_checkpoint)
        self.reads_first.clicked.connect(self._on_reads_first)
        self.request.changed.connect(self._on_problem)
        self.request.changed.connect(self.redraw_in_sight)
        on_redraw(self.state.settings, ("maps", "large map"), self.redraw_in_sight)

    def _lay_out(self) -> None:
        content = QWidget()
        column_of(
            self.reads_first,  # where the length of texts and notes does not move it
            self.texts,
            self._notes,
            self.maps,
            1,
            spacing=8,
            within=content,
        )
        self._area = CompareArea(content, self.maps)
        # all in one place, so that neither a problem nor the progress moves what is below
        self._messages = QWidget()
        messages = QGridLayout(self._messages)
        messages.setContentsMargins(0, 0, 0, 0)
        scales(messages.setRowMinimumHeight, 0, LEAST_MESSAGE_HEIGHT)
        take_out(self.problem)
        for message in (self._hint, self.problem, self._waiting):
            keep_room(message)
            messages.addWidget(message, 0, 0, Qt.AlignmentFlag.AlignTop)
        self.column.insertLayout(0, row_of(*self.question_buttons.values(), 1, spacing=2))
        add_parts(
            self.column,
            row_of((self.sentence, 1), self.compare, self.checkpoint_button, self.close_button, 0),
            self._messages,
            (self._area, 1),
            0,
            self.maps.value,
        )


def _offer_checkpoints(
    menu: QMenu, recent: RecentFiles, use: Callable[[Path | None], object], window: QWidget
) -> None:
    """Fills the menu with checkpoints to compare with; `window` is the parent of a dialog."""

    def choose_file() -> None:
        title = "Choose a checkpoint to compare with"
        ask_what_to_open(window, title, recent.folder, use, CHECKPOINT_FILTER)

    menu.clear()
    menu.addAction("Open a checkpoint…").triggered.connect(choose_file)
    menu.addAction("Bundled model").triggered.connect(lambda: use(None))
    if recent.paths:
        menu.addSeparator()
        menu.addAction("Opened before").setEnabled(False)
    names = {path: f"{path.stem}    {path.parent.name}" for path in recent.paths}
    add_files(menu, names, use)
