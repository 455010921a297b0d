"""The tab *Heads*: importance and behaviour of every head over a sample of sentences."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, get_args

import numpy as np
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from augenmerk.core.counting import display_text
from augenmerk.core.errors import AnalysisError, TextError
from augenmerk.core.extensions.analyses.head_profiles import SampleProfiler
from augenmerk.core.maps.roles import SampleProfiles, SampleRoles, write_sample_roles
from augenmerk.core.model.heads import ATTENTION_KINDS, SIDES, Head, Network, heads_of, networks_of
from augenmerk.core.quantities import number
from augenmerk.core.translation.experiment import Experiment, General, Greedy
from augenmerk.core.translation.result import TranslationStoppedError

from ....state.experiment_editor import toggle
from ....state.experiment_state import Progress, RequestState
from ....state.languages import target_code
from ....state.map_text import KIND_NAMES
from ....state.tabs import Tab
from ....theme import scales
from ....translate.analysis_tab import AnalysisContext
from ....widgets.buttons import ChoiceMenu, choice_buttons
from ....widgets.dialogs import ask_what_to_open
from ....widgets.labels import ElidingLabel, label, show_text
from ....widgets.layouts import (
    VerticalScrollArea,
    add_parts,
    keep_room,
    row_of,
    set_visible,
    take_out,
    wrapping_row,
)
from ....worker.jobs import Job, JobInterrupted, JobScope, OpenTranslator, ShouldStop, Tell
from ...widgets.labelled_matrix import LabelledMatrix, Matrix, MatrixCell, MatrixStyle
from ...widgets.table import Table
from ..computing_tab import ComputingTab
from .meanings import MEANINGS, HeadsQuestion, SampleKind
from .state import (
    HeadsState,
    Sample,
    SampleChoice,
    check_sample,
    in_words,
    multi30k_files,
    read_sample,
)

if TYPE_CHECKING:
    from augenmerk.core.extensions.analyses.importance import HeadImportance
    from augenmerk.core.translation.translator import Translator


@dataclass(frozen=True, eq=False)
class SampleJob(Job):
    """A question about a sample of sentences.

    Attributes:
        choice: the sentences.
        num_sentences: their greatest number.
        changes: heads and networks that are scaled or off throughout.
        target_code: the token `>>xx<<` of the target language, for a model of several; None if none
            is chosen. A sentence may begin with another.
    """

    choice: SampleChoice
    num_sentences: int
    changes: tuple[General, ...] = ()
    target_code: str | None = None
    scope: ClassVar[JobScope] = "model"

    def sample(self, translator: OpenTranslator) -> Sample:
        """The sentences.

        Raises `AugenmerkError` if they cannot be read, or are of other languages than the model.
        """
        check_sample(self.choice, translator, self.target_code)
        languages = translator.run_config.data.languages
        return read_sample(self.choice, self.num_sentences, self.target_code, languages)


@dataclass(frozen=True, eq=False)
class ImportanceJob(SampleJob):
    """The loss on a sample with each head off. Continues after an interruption.

    Attributes:
        passes: the passes over the sample that are left; None before the first.
    """

    passes: "Iterator[tuple[int, int, HeadImportance | None]] | None" = None

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> "HeadImportance":
        """See `Job.run`."""
        job = self if self.passes is not None else self._begun(translator, should_stop)
        assert job.passes is not None
        importance = shown = None
        config = translator.run_config.model
        num_parts = len(heads_of(config)) + len(networks_of(config))
        for done, total, importance in job.passes:
            num_read = importance.num_sentences if importance is not None else 0
            text = f"Importance: {num_read} of {job.num_sentences} sentences"
            num_off = done % (num_parts + 1)
            if num_off:
                text = f"{text}, part {num_off} of {num_parts} off"
            partial = importance if importance is not shown else None
            shown = importance
            progress(Progress(done, total, text, partial))
            if done < total and should_stop():
                raise JobInterrupted(job)
        assert importance is not None
        return importance

    def _begun(self, translator: OpenTranslator, should_stop: ShouldStop) -> "ImportanceJob":
        # torch: only in the thread
        from augenmerk.core.extensions.analyses.importance import importance_by_pass

        sources, targets = self.sample(translator)
        targets = targets or own_translations(translator, sources, self.changes, should_stop)
        passes = importance_by_pass(translator, sources, targets, self.changes)
        return replace(self, num_sentences=len(sources), passes=passes)


def own_translations(
    translator: "Translator",
    sources: Sequence[str],
    changes: tuple[General, ...],
    should_stop: ShouldStop,
) -> tuple[str, ...]:
    """The model's translations; empty where it refuses a sentence."""
    compiled = {}
    targets = [""] * len(sources)
    for index, source in enumerate(sources):
        with suppress(TextError):
            compiled[index] = translator.compile(Experiment(source, Greedy(), changes))
    translations = translator.run_many(compiled.values(), need_maps=False, should_stop=should_stop)
    for index, translation in zip(compiled, translations, strict=True):
        targets[index] = translation.text
    return tuple(targets)


@dataclass(frozen=True, eq=False)
class StatisticsJob(SampleJob):
    """Averages of each head over a sample. Continues after an interruption.

    Attributes:
        profiler: the averages so far; None before the first sentence.
    """

    profiler: SampleProfiler | None = None

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> SampleProfiles:
        """See `Job.run`."""
        sample = self.sample(translator)
        profiler = self.profiler or SampleProfiler(self.changes)
        total = len(sample.sources)

        def report(done: int) -> None:
            partial = profiler.result() if profiler.num_sentences else None
            progress(Progress(done, total, f"Behaviour: {done} of {total} sentences", partial))

        try:
            profiler.read(translator, *sample, on_progress=report, should_stop=should_stop)
        except TranslationStoppedError:
            raise JobInterrupted(replace(self, profiler=profiler)) from None
        return profiler.result()


@dataclass(frozen=True, eq=False)
class KeepRolesJob(Job):
    """Writes the roles of heads next to the file of their model."""

    roles: SampleRoles
    scope: ClassVar[JobScope] = "model"

    def run(self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop) -> Path:
        """The file.

        Raises `AugenmerkError` if it cannot be written, or if the model's file holds another model
        now.
        """
        from augenmerk.core.checkpoint.file import load_checkpoint, model_digest

        assert translator.path is not None
        if model_digest(load_checkpoint(translator.path)) != translator.digest:
            raise AnalysisError(
                f"{translator.path} has changed since it was opened. Open the file again and "
                "repeat the measurement."
            )
        return write_sample_roles(self.roles, translator.path)


QUESTIONS: dict[HeadsQuestion, tuple[str, str]] = {
    "importance": (
        "Importance",
        f"<p>The loss without each head or network.</p><p>{MEANINGS['importance']}</p>",
    ),
    "behaviour": (
        "Behaviour",
        f"<p>Entropy, confidence, distances, role.</p><p>{MEANINGS['behaviour']}</p>",
    ),
}
SAMPLES: Mapping[str, tuple[str, str]] = {
    "gold": ("validation pairs", "The shipped sentence pairs of the validation split"),
    "examples": ("examples", "The example sentences, with the model's own translations"),
    "multi30k": ("Multi30k validation", "200 pairs of Multi30k's validation split, if downloaded"),
    "file": (
        "a file…",
        "A text file with a sentence per line, or pairs: sentence, tab, translation; or JSON lines",
    ),
}
HEADINGS = {
    "head": "Kind, layer and head",
    "role": "What it does most",
    "entropy": "Mean entropy of a row in nats: 0 if one key has all the weight",
    "largest": "Mean of the largest weight in a row",
    "end": "Mean weight on the end token",
    "distance": "Weight on keys from 3 before to 3 after the row's own position; both ends "
    "include all beyond",
}
CELL_HEIGHT = 21
MEASURING_HEIGHT = 34
"""Pixels of the button that measures, and of a warning of two lines at its side."""
MAX_NAME = 24


class HeadsTab(ComputingTab):
    """Head importance and behaviour.

    Attributes:
        heads: the state.
        question_buttons: importance, and behaviour.
        sample_menu: the choice of sentences.
        job: starts and cancels the measurement.
        cells: the importance of each head and network. A click switches it off, or on again.
        table: the behaviour. A click on a row chooses the head.
    """

    def __init__(self, context: AnalysisContext, tab: Tab) -> None:
        super().__init__(context, tab)
        self.heads = HeadsState(self.state)
        self.question_buttons = choice_buttons(
            self, QUESTIONS, partial(setattr, self.heads, "question")
        )
        self.sample_menu = ChoiceMenu("Which sentences", SAMPLES, "sample: ")
        self.sample_menu.actions_by_name["multi30k"].setEnabled(
            all(path.is_file() for path in multi30k_files())
        )
        self.job = self.add_job_bar(
            "Measure",
            "This may take a minute, or several for a large model; partial results appear "
            "meanwhile",
            self._on_start,
        )
        self._keeping, self._measured_sample = RequestState(), SampleChoice()
        self._partial: SampleProfiles | None = None
        self._is_kept = False
        self._summary = label("small", wraps=True)
        self._warning = ElidingLabel("warm")
        self._warning.set_max_lines(2)
        self._notes = label("warm", wraps=True)
        self._saved = label("small", "Saved next to the model's file.")
        self.cells = LabelledMatrix(
            "Importance of each head and feed-forward network",
            MatrixStyle(
                colors="signed",
                cell_heights=(CELL_HEIGHT, CELL_HEIGHT),
                aimed_height=0,
                has_slanted_columns=False,
                cell_text=thousandths,
                is_clickable=True,
                legend=lambda top: (
                    f"≤ −{1000 * top:.0f} better without",
                    "0",
                    f"worse without ≥ {1000 * top:.0f}",
                ),
            ),
        )
        self.cells.tip_of = self._tip
        self.table = Table(HEADINGS)
        self._lay_out()
        self.sample_menu.chosen.connect(self._on_sample)
        self._keeping.changed.connect(self.redraw_in_sight)
        self.cells.clicked.connect(self._on_cell)
        self.table.row_chosen.connect(self._on_row)
        for changed in (self.state.experiment_changed, self.state.tabs.changed):
            changed.connect(self.redraw_in_sight, max_args=0)
        self.request.changed.connect(self.redraw_in_sight)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low panel the answer gets the lines of the explanation."""
        super().resizeEvent(event)
        self.redraw_in_sight()

    def begin_model(self) -> None:
        """Forgets the results of the previous model."""
        self.cancel()
        self._keeping.forget_problem()
        self._partial = None
        self._is_kept = False
        self.heads.forget_model()
        self._show_answer()

    def set_presented(self, is_presented: bool) -> None:
        """Presented, it measures what is not known yet."""
        super().set_presented(is_presented)
        is_known = (
            self.translation_to_ask_about is None
            or self.heads.has_answer
            or self.request.is_running
        )
        if is_presented and not is_known:
            self.job.start.click()

    def on_stopped(self) -> None:
        """The behaviour over the sentences read so far is the result."""
        if self._partial is not None:
            self._take_whole_behaviour(self._partial)

    def redraw(self) -> None:
        """Shows the result, and whether it fits the experiment."""
        question = self.heads.question
        heads = self.heads
        is_running = self.request.is_running
        self.explanation.setText(MEANINGS[question])
        self.explanation.setVisible(not (heads.has_answer and self.is_low))
        self.question_buttons[question].setChecked(True)
        self.sample_menu.show_choice(heads.sample.kind)
        if heads.sample.path is not None:
            self.sample_menu.setText(f"sample: {shortened(heads.sample.path.name)} ▾")
        self.job.start.setText("Measure again" if heads.is_outdated else "Measure")
        set_visible(self.sample_menu, not is_running, focus_to=self.job.stop)
        is_behaviour = question == "behaviour"
        not_kept = f"Not saved: {self._keeping.problem}" if self._keeping.problem else ""
        notes = filter(None, (heads.notes(), not_kept if is_behaviour else ""))
        show_text(self._summary, heads.summary())
        show_text(self._notes, " ".join(notes))
        self._saved.setVisible(self._is_kept and is_behaviour)
        show_text(self._warning, "" if is_running else heads.warning())
        has_importance = question == "importance" and heads.has_answer
        has_table = is_behaviour and heads.has_answer
        if has_importance:
            self._mark_cells()
        self._area.setVisible(has_importance)
        set_visible(self.table, has_table, focus_to=self.job.start)

    def choose_file(self) -> None:
        """Opens a dialog to choose a text file."""
        filters = "Text (*.txt *.tsv *.jsonl *.de *.gz);;All files (*)"
        ask_what_to_open(self, "Choose sentences", None, self.use_file, filters).rejected.connect(
            self.redraw
        )

    def use_file(self, path: Path) -> None:
        """Takes the sentences of a file."""
        self.heads.sample = SampleChoice("file", path)
        self.redraw()

    def _mark_cells(self) -> None:
        experiment = self.state.experiment
        chosen = cell_of(self.state.selection.head)
        off = [*map(cell_of, experiment.heads_off), *map(cell_of, experiment.networks_off)]
        self.cells.mark(
            framed=[chosen] if self.cells.has_cell(chosen) else [],
            struck=[cell for cell in off if self.cells.has_cell(cell)],
        )

    def _show_answer(self) -> None:
        importance = self.heads.importance
        if importance is not None:
            matrices = [
                Matrix(
                    importance.of_kind(kind),
                    tuple(
                        f"layer {layer + 1}" for layer in range(importance.of_kind(kind).shape[0])
                    ),
                    tuple(str(head + 1) for head in range(importance.of_kind(kind).shape[1])),
                    KIND_NAMES[kind],
                )
                for kind in ATTENTION_KINDS
            ]
            networks = [importance.of_networks(side) for side in SIDES]
            num_layers = max(map(len, networks))
            values = np.array(
                [[*network, *[np.nan] * (num_layers - len(network))] for network in networks],
                dtype=np.float32,
            )
            layers = tuple(f"layer {layer + 1}" for layer in range(num_layers))
            matrices.append(Matrix(values, SIDES, layers, "Feed-forward networks"))
            self.cells.show_matrices(matrices, importance.largest or 1.0)
        self.table.show_rows([cells for _, cells in self.heads.rows()])
        self.redraw_in_sight()

    def _take_importance(self, importance: "HeadImportance") -> None:
        self.heads.importance = importance
        self._show_answer()

    def _take_behaviour(self, profiles: SampleProfiles) -> None:
        self.heads.behaviour = self._partial = profiles
        self._show_answer()

    def _take_whole_behaviour(self, profiles: SampleProfiles) -> None:
        """Adopts the roles from a sample, and saves them next to the model's file unless it is the
        bundled one.

        Roles from a later sample replace them.
        """
        self._take_behaviour(profiles)
        what = self._measured_sample.what
        roles = SampleRoles.of(
            profiles, f"{what}, {in_words(profiles.changes)}" if profiles.changes else what
        )
        self.state.take_roles(roles)
        model = self.state.model
        if (
            model is not None
            and model.path is not None
            and not model.is_bundled
            and not profiles.changes
        ):
            self.controller.ask(KeepRolesJob(roles), self._keeping, self._on_kept)

    def _on_kept(self, _path: object) -> None:
        self._is_kept = True
        self.redraw_in_sight()

    def _tip(self, cell: MatrixCell) -> str:
        head = part_of(cell)
        assert self.heads.importance is not None
        value = self.heads.importance.effects[head]
        is_off = head in self.state.experiment.heads_off | self.state.experiment.networks_off
        what = "Switched off: click to switch it on" if is_off else "Click to switch it off"
        change = number(value, 4, signed=True)
        return (
            f"{display_text(head.title)}\n"
            f"the loss changes by {change} nats per token without it\n"
            f"{what}"
        )

    def _on_sample(self, name: str) -> None:
        if name == "file":
            self.choose_file()
            return
        self.heads.sample = SampleChoice(
            next(kind for kind in get_args(SampleKind) if kind == name)
        )
        self.redraw()

    def _on_start(self) -> None:
        sample = self.heads.sample
        count = self.heads.num_sentences
        changes = self.state.experiment.general
        self._measured_sample = sample
        self._partial = None
        if self.heads.question == "behaviour":
            self._is_kept = False
        code = target_code(self.state.model, self.state.experiment.source_text)
        if self.heads.question == "importance":
            job: SampleJob = ImportanceJob(sample, count, changes, code)
            self.ask(job, self._take_importance, on_partial=self._take_importance)
        else:
            job = StatisticsJob(sample, count, changes, code)
            self.ask(job, self._take_whole_behaviour, on_partial=self._take_behaviour)

    def _on_cell(self, cell: MatrixCell) -> None:
        self.state.submit(toggle(part_of(cell)))

    def _on_row(self, index: int) -> None:
        head, _ = self.heads.rows()[index]
        self.state.intents.choose_head(head)

    def _lay_out(self) -> None:
        keep_room(self.sample_menu)
        choices = wrapping_row((*self.question_buttons.values(), self.sample_menu), spacing=2)
        self._area = VerticalScrollArea(self.cells)
        # the warning comes and goes with a click on a cell, which must not move
        measuring = QWidget()
        scales(measuring.setMinimumHeight, MEASURING_HEIGHT)
        row_of(self.job, (self._warning, 1), spacing=10, within=measuring)
        take_out(self.problem)
        self.column.insertWidget(0, choices)
        self.column.insertWidget(1, measuring)  # the first result replaces the explanation below
        add_parts(
            self.column,
            self.problem,
            self._summary,
            (self._area, 1),
            (self.table, 1),
            0,
            self._notes,
            self._saved,
        )


def shortened(name: str) -> str:
    """A file name, short enough for the panel."""
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME // 2]}…{name[-MAX_NAME // 2 :]}"


def part_of(cell: MatrixCell) -> Head | Network:
    """The head or network of a cell."""
    if cell.matrix == len(ATTENTION_KINDS):
        return Network(SIDES[cell.row], cell.column)
    return Head(ATTENTION_KINDS[cell.matrix], cell.row, cell.column)


def cell_of(part: Head | Network) -> MatrixCell:
    """The cell of a head or network."""
    if isinstance(part, Network):
        return MatrixCell(len(ATTENTION_KINDS), SIDES.index(part.side), part.layer)
    return MatrixCell(ATTENTION_KINDS.index(part.kind), part.layer, part.head)


def thousandths(value: float) -> str:
    """A number in thousandths, signed: "+12"."""
    return number(1000 * value, 0, signed=True) if round(1000 * value) else "0"
