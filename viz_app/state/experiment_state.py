"""One experiment on the screen: the requests to the model, its answers, and the edits of the user.

No Qt.

Any number of these live side by side: the Translate page has one, the Compare tab a second, the
film a third.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, TypeAlias

from psygnal import Signal

from augenmerk.core.maps.comparing import common_subsequence
from augenmerk.core.maps.measures import MeasuredMaps
from augenmerk.core.maps.roles import SampleRoles
from augenmerk.core.model.heads import AttentionKind, Head
from augenmerk.core.translation.experiment import AttentionRow, Experiment
from augenmerk.core.translation.result import ExperimentResult, Translation

from .experiment_editor import (
    Edit,
    ExperimentEditor,
    Intent,
    Step,
    begin_text,
    cancelled_notice,
    dropped_notice,
    edit_text,
    kept_notice,
    moved_notice,
    refused_notice,
)
from .head_roles import HeadRoles, clearest_head
from .languages import languages_of
from .map_source import MapSource
from .map_view import MapSelection, Pair
from .map_view_settings import MapViewSettings, ShownMaps
from .model_info import ModelInfo
from .tab_contents import TabContents


@dataclass(frozen=True, eq=False)
class Progress:
    """The progress of a job.

    Attributes:
        done: the number done of what `text` names.
        total: the number in all; 0 if unknown.
        text: a few words.
        partial: the answer so far, or None.
    """

    done: int
    total: int
    text: str = ""
    partial: object = None


@dataclass(frozen=True)
class Idle:
    """Nothing is awaited."""


@dataclass(frozen=True)
class Waiting:
    """An answer is awaited. All instances are equal, so a newer question changes no phase.

    Attributes:
        question: the question; None if it is not needed.
    """

    question: object = field(default=None, compare=False)


@dataclass(frozen=True)
class Refused:
    """There is no answer.

    Attributes:
        problem: the reason, and what to do.
    """

    problem: str


class RequestState:
    """At most one answer is awaited.

    Attributes:
        phase: `Idle`, `Waiting` or `Refused`.
        progress: of the answer; None before the first report.

    Signals (psygnal):
        changed(phase): there is another phase.
        progressed(progress): there is another progress.
    """

    changed = Signal(object)
    progressed = Signal(object)

    def __init__(self) -> None:
        self.phase: Idle | Waiting | Refused = Idle()
        self.progress: Progress | None = None

    @property
    def is_running(self) -> bool:
        """Whether an answer is awaited."""
        return isinstance(self.phase, Waiting)

    @property
    def problem(self) -> str:
        """The reason if a request has no answer; else empty."""
        return self.phase.problem if isinstance(self.phase, Refused) else ""

    def begin(self, question: object = None) -> None:
        """Records that an answer was requested."""
        self._enter(Waiting(question))

    def advance(self, progress: Progress | None) -> None:
        """Reports progress."""
        self.progress = progress
        self.progressed.emit(progress)

    def finish(self, problem: str = "") -> None:
        """Ends the wait. A `problem` is the reason for a missing answer."""
        self._enter(Refused(problem) if problem else Idle())

    def forget_problem(self) -> None:
        """Clears the problem. A pending request stays pending."""
        if not self.is_running:
            self.finish()

    def _enter(self, phase: Idle | Waiting | Refused) -> None:
        before = self.phase
        self.phase = phase
        if self.progress is not None:
            self.advance(None)
        if phase != before:
            self.changed.emit(phase)


@dataclass(frozen=True)
class Empty:
    """Nothing is shown."""

    result: ClassVar[None] = None
    model: ClassVar[None] = None
    is_outdated: ClassVar[bool] = False


@dataclass(frozen=True, eq=False)
class Current:
    """A result of the model in use: questions can be asked about it.

    Attributes:
        result: the result shown.
        model: the model that made it; None if it is not known.
    """

    result: ExperimentResult
    model: ModelInfo | None = None
    is_outdated: ClassVar[bool] = False


@dataclass(frozen=True, eq=False)
class Stale:
    """A result of an earlier model or session, until the model in use has answered.

    Attributes:
        result: as of `Current`.
        model: as of `Current`.
        is_outdated: whether the model in use is another one, or the answer to the sentence in use
            is withheld; the result of the last session waits for its own.
    """

    result: ExperimentResult
    model: ModelInfo | None = None
    is_outdated: bool = True


Shown: TypeAlias = Empty | Current | Stale


@dataclass(frozen=True, eq=False)
class ExperimentRequest:
    """A request to the model.

    Attributes:
        experiment: to be computed.
        known: the result that is shown, if the same model made it.
        drops_misfits: whether interventions that do not fit are left out rather than refused.
        reports_kept: whether the answer comes with a notice on parts kept from the previous model.
    """

    experiment: Experiment
    known: ExperimentResult | None = None
    drops_misfits: bool = False
    reports_kept: bool = False


class ExperimentState:
    """An experiment: the request to the model and its answer.

    Attributes:
        settings: of the maps.
        selection: the chosen head, and the marks on the maps.
        maps: the maps that follow from result, settings and selection.
        tabs: the contents of the analysis tabs.
        opened: the names of the values that a file gave for the view of this sentence; empty for
            others.
        intents: the head and the cell to choose and pin with the next result.
        roles: of the heads of these maps.
        editor: the experiment in use, undo and redo.
        shown: the result on the screen: `Empty`, `Current` or `Stale`.
        withheld: the answer to a text that the model surely cannot read, in place of which a
            message is shown; None if there is none.
        request: the answer that is awaited.
        measuring: maps in other measures.
        model: the model in use; None before the first.
        with_next_model: shows what waits for the next model, once that is in use; None if nothing
            waits.
        languages_without_model: names of source and target where no model is known.
        notice: a sentence on parts that the last change left out or took over; empty if there are
            none.

    Signals (psygnal):
        experiment_asked(ExperimentRequest): it must be computed; then call `accept` or `refuse`.
        experiment_cancelled(): the request was cancelled.
        experiment_changed(Experiment): another experiment is in use.
        result_changed(Shown): another result is shown, or none.
        model_changed(ModelInfo): another model answers from now on.
        roles_changed(): the roles of heads over a sample have become known.
        notice_changed(str): there is another notice.
    """

    experiment_asked = Signal(object)
    experiment_cancelled = Signal()
    experiment_changed = Signal(object)
    result_changed = Signal(object)
    model_changed = Signal(object)
    roles_changed = Signal()
    notice_changed = Signal(str)

    def __init__(self, settings: MapViewSettings | None = None) -> None:
        self.settings = settings or MapViewSettings()
        self.selection, self.tabs = MapSelection(), TabContents()
        self.opened: frozenset[str] = frozenset()
        self.maps = MapSource(self.settings, self.selection)
        self.intents = ViewIntents(self.settings, self.selection, self.maps)
        self.roles = HeadRoles(self.maps)
        self.editor = ExperimentEditor()
        self.shown: Shown = Empty()
        self.withheld: ExperimentResult | None = None
        self.request, self.measuring = RequestState(), Measuring(self.maps)
        self.model: ModelInfo | None = None
        self.with_next_model: Callable[[], object] | None = None
        self.languages_without_model = ("German", "English")
        self.notice = ""
        self._of_previous_model: Step | None = None

    @property
    def experiment(self) -> Experiment:
        """The experiment in use."""
        return self.editor.experiment

    @property
    def result(self) -> ExperimentResult | None:
        """The result shown; None while there is none."""
        return self.shown.result

    @property
    def is_translated(self) -> bool:
        """Whether commands can act on the result shown: there is one, and the answer to the
        sentence in use is not withheld.
        """
        return self.result is not None and self.withheld is None

    @property
    def latest(self) -> ExperimentResult | None:
        """The last answer: the withheld one, else the result shown."""
        return self.withheld or self.shown.result

    @property
    def current(self) -> ExperimentResult | None:
        """The result shown, if the model in use made it and can answer questions about it; else
        None.
        """
        return self.shown.result if isinstance(self.shown, Current) else None

    @property
    def translation(self) -> Translation | None:
        """The translation with the interventions, for text and tables; None while there is none."""
        return self.result.changed if self.result is not None else None

    @property
    def original(self) -> Translation | None:
        """The translation without interventions; the same as `translation` if there are none."""
        return self.result.original if self.result is not None else None

    @property
    def languages(self) -> tuple[str, str]:
        """The names of source and target of the result shown: "German" and "English".

        They belong to the model that made it, even while another model is translating.
        """
        model, experiment = (
            (self.model, self.experiment)
            if self.result is None
            else (self.shown.model, self.result.experiment)
        )
        return (
            languages_of(model, experiment.source_text)
            if model is not None
            else self.languages_without_model
        )

    # --- the experiment ---------------------------------------------------------------------------

    def submit(self, intent: Intent, *, asks: bool = True) -> None:
        """Changes the experiment and requests it.

        An unchanged experiment is requested again only if there is no current result, or the last
        request was refused. Returning another editor, even an equal one, counts as a change.

        Args:
            intent: see `viz_app.state.experiment_editor`.
            asks: whether to request it now; else the caller calls `ask_again` later. Without a
                model, nothing is requested.

        Raises:
            ExperimentError: the change is impossible; nothing was changed.
        """
        edit = intent(self.editor)
        if edit.editor is not self.editor:
            self.editor = edit.editor
            if edit.notice is not None:
                self.report(edit.notice)
            if asks:
                self._ask(drops_misfits=edit.drops_misfits)
            # while a saved view is awaited, listeners hear of the experiment with its result
            if not self.intents.holds_back:
                self.experiment_changed.emit(self.experiment)
        elif asks and (self.current is None or self.request.problem):
            self.ask_again()

    def prepare_text(self, text: str) -> None:
        """Prepares another sentence, to be requested later from the model in use or the next one.

        A sentence that was never requested, such as the first example at the start, leaves nothing
        to undo.
        """
        before = self.editor
        is_unused = (
            self.result is None and not before.can_undo and not before.experiment.interventions
        )
        self.submit(begin_text(text) if is_unused else edit_text(text), asks=False)

    def ask_again(self) -> None:
        """Requests the same experiment from the model in use; parts that do not fit are dropped."""
        is_kept = self.shown.is_outdated and self.editor.step is self._of_previous_model
        self._ask(drops_misfits=True, reports_kept=is_kept)
        if not self.intents.holds_back:
            self.experiment_changed.emit(self.experiment)

    def report(self, notice: str) -> None:
        """Shows a notice about the experiment."""
        if notice != self.notice:
            self.notice = notice
            self.notice_changed.emit(notice)

    def _ask(self, *, drops_misfits: bool, reports_kept: bool = False) -> None:
        if self.model is None:
            return  # requested once a model is open
        drops_misfits = drops_misfits or isinstance(self.shown, Stale)
        asked = ExperimentRequest(self.experiment, self.current, drops_misfits, reports_kept)
        self.request.begin(asked)
        self.experiment_asked.emit(asked)

    # --- the answer -------------------------------------------------------------------------------

    def accept(self, result: ExperimentResult) -> None:
        """Shows or withholds a result. Parts that it left out are reported and no longer requested.

        If tokens with rows of attention moved, the experiment with these rows in the new places is
        requested instead.

        After a change of model, undo requests these parts again: useful once the previous model is
        open.
        """
        phase = self.request.phase
        is_outdated = self.shown.is_outdated and self.withheld is None
        asked = phase.question if isinstance(phase, Waiting) else None
        self.request.finish()
        if (
            self.current is not None
            and isinstance(asked, ExperimentRequest)
            and not asked.drops_misfits
        ):
            followed = follow_tokens(self.editor, self.current.changed, result.changed)
            if followed is not None:
                notice = " ".join(filter(None, (self.notice, followed.notice)))
                self.submit(lambda _editor: replace(followed, notice=notice))
                return  # the result of rows in other places is not shown
        reported = [dropped_notice(result.dropped, is_of_former=is_outdated)]
        if result.dropped:
            self.editor = (self.editor.push if is_outdated else self.editor.fit)(result.experiment)
        if isinstance(asked, ExperimentRequest) and asked.reports_kept:
            reported.append(kept_notice(result.experiment, self.editor.previous))
        self.report(" ".join(filter(None, (self.notice, *reported))))
        coverage = result.original.coverage
        if coverage is None or not coverage.is_unlike_training:
            self.editor = self.editor.showing_foreign(False)
        elif coverage.is_foreign and not self.editor.step.shows_foreign:
            self.withheld = result
            if self.shown.result is not None:
                self.shown = Stale(self.shown.result, self.shown.model)
            if self.intents.apply_view():
                self.experiment_changed.emit(self.experiment)
            self.result_changed.emit(self.shown)
            return
        self.show(Current(result, self.model))

    def show_withheld(self) -> None:
        """Shows the withheld result, and those of the texts typed next, until one is like the
        training data.
        """
        if self.withheld is not None:
            self.editor = self.editor.showing_foreign(True)
            self.show(Current(self.withheld, self.model))

    def refuse(self, problem: str) -> None:
        """Handles a refusal.

        The result shown stays, with its experiment in use; the refused one is forgotten.

        Without a result of this model, the plain sentence is requested instead. If that was
        refused, nothing is shown.
        """
        refused, shown = self.experiment, self.current
        plain = Experiment(refused.source_text)
        if shown is not None:
            now = shown.experiment
            self.intents.view_next = None
            in_full = f"{problem} {refused_notice(refused, now)}"
            # where both do not fit, the reason alone
            self.request.finish(problem if refused == now else f"{in_full}\n{problem}")
            self.submit(lambda editor: Edit(editor.withdraw(now), None), asks=False)
        elif refused == plain:
            self.request.finish(problem)
            self.clear()
        else:
            self.request.finish(problem)
            change = self.editor.push if isinstance(self.shown, Stale) else self.editor.replace
            self.editor = change(plain)
            self.report(f"{refused_notice(refused, plain)} {problem}")
            self._ask(drops_misfits=True)
            self.experiment_changed.emit(self.experiment)

    def cancel(self) -> None:
        """Cancels the request. The result shown stays, with its experiment in use.

        Without a result of this model, nothing is shown, and the experiment is kept for
        `ask_again`.
        """
        if not self.request.is_running:
            return
        now = self.current.experiment if self.current is not None else self.experiment
        self.intents.view_next = None
        self.request.finish(cancelled_notice(self.experiment, now))
        self.submit(lambda editor: Edit(editor.withdraw(now), None), asks=False)
        if self.current is None:
            self.clear()
        self.experiment_cancelled.emit()

    def show_translation(self, translation: Translation) -> None:
        """Shows an existing translation without changes."""
        self.editor = self.editor.replace(translation.experiment)
        self.show(Current(ExperimentResult.of(translation), self.model))

    def clear(self) -> None:
        """Shows nothing."""
        self.shown, self.withheld, self.editor = Empty(), None, self.editor.showing_foreign(False)
        self.maps.show(None)
        self.selection.clear_marks()
        self.result_changed.emit(self.shown)

    def show(self, shown: Current | Stale) -> None:
        """Shows a result.

        Keeps the chosen head if it exists; without a choice, takes the clearest cross head.
        """
        before = self.result
        self.shown, self.withheld = shown, None
        if (
            before is not None
            and before.experiment.source_text != shown.result.experiment.source_text
        ):
            self.opened = frozenset()
        if shown.model is not None:
            self.roles.sample = shown.model.roles
        is_opened = self.intents.view_next is not None
        problem = self.intents.show(shown.result)
        if is_opened:
            self.experiment_changed.emit(self.experiment)
        self.report(" ".join(filter(None, (self.notice, problem))))
        self.measuring.restart()
        self.result_changed.emit(self.shown)

    # --- the model --------------------------------------------------------------------------------

    def begin_model(self, model: ModelInfo) -> None:
        """Another model answers from now on; its roles hold from its first answer on."""
        if self.model is not None:
            # about the previous model; a notice from before the first one is about the sentence
            self.report("")
        self.model, self.withheld = model, None
        self.editor = self.editor.restored()
        self._of_previous_model = self.editor.step
        shown = self.shown
        if not isinstance(shown, Empty):
            is_same = shown.model is not None and shown.model.digest == model.digest
            is_outdated = isinstance(shown, Current) or shown.is_outdated or not is_same
            self.shown = Stale(shown.result, shown.model, is_outdated)
        self.intents.begin_model()
        self.model_changed.emit(model)
        show = self.with_next_model
        self.with_next_model = None
        if show is not None:
            show()

    def take_roles(self, roles: SampleRoles) -> None:
        """Takes over roles measured over a sample with the model in use."""
        if self.model is not None:
            self.model = replace(self.model, roles=roles)
        if not isinstance(self.shown, Stale):
            self.roles.sample = roles
            self.roles_changed.emit()


class Measuring:
    """Maps in the chosen measure.

    They are requested when needed; the weights are shown until they arrive.

    Attributes:
        maps: the maps that show them.
        request: the maps that are awaited.

    Signals (psygnal):
        asked(Translation, Measure): its maps must be measured; then call `take`.
        cancelled(): the request was cancelled.
        changed(): maps in another measure have become known.
    """

    asked = Signal(object, str)
    cancelled = Signal()
    changed = Signal()

    def __init__(self, maps: MapSource) -> None:
        self.maps = maps
        self.request = RequestState()
        for event in (maps.settings.events.measure, maps.settings.events.shown):
            event.connect(self._ask, max_args=0)

    @property
    def is_awaited(self) -> bool:
        """Whether maps in the chosen measure are awaited, and weights shown until then."""
        return self.request.is_running and self.maps.lacking_measure() is not None

    def restart(self) -> None:
        """Requests the maps of another result, if needed."""
        self.request.finish()
        self._ask()

    def take(self, measured: MeasuredMaps) -> None:
        """The maps of one translation are known; a difference needs those of two."""
        self.request.finish()
        self.maps.add_measured(measured)
        self.changed.emit()
        self._ask()

    def cancel(self) -> bool:
        """Chooses the weights again instead of waiting; False if nothing is awaited."""
        if not self.is_awaited:
            return False
        self.request.finish()
        self.cancelled.emit()
        self.maps.settings.measure = "weight"
        return True

    def _ask(self) -> None:
        lacking = self.maps.lacking_measure()
        if lacking is not None:
            self.asked.emit(lacking, self.maps.settings.measure)


class ViewIntents:
    """Keeps the chosen head and the pinned cell as results change; missing ones are chosen later.

    Attributes:
        settings: the options it changes.
        selection: the choices it changes.
        maps: the maps it reads.
        view_next: applies a saved view with the next result, so that sentence and maps change
            together; None without.
    """

    def __init__(self, settings: MapViewSettings, selection: MapSelection, maps: MapSource) -> None:
        self.settings, self.selection, self.maps = settings, selection, maps
        self._head_next: Head | None = None
        self._pin_next: Pair | None = None
        self.view_next: Callable[[], object] | None = None
        self._has_picked_head = False
        settings.events.shown.connect(self._on_shown)

    @property
    def holds_back(self) -> bool:
        """Whether the experiment shown stays until the result of the next one is there, with its
        view.
        """
        return self.view_next is not None and self.maps.result is not None

    def choose_head(self, head: Head) -> None:
        """Shows one head instead of the current ones.

        If the maps lack it, the next result shows it.
        """
        self.settings.show_one()
        num_layers, num_heads = self.maps.shape(head.kind)
        is_there = self.maps.result is None or (head.layer < num_layers and head.head < num_heads)
        self._head_next = None if is_there else head
        if is_there:
            self.selection.choose(head)

    def pin_with_next_result(self, pair: Pair | None) -> None:
        """Pins a cell as soon as the next result is shown, if it has such a cell."""
        self._pin_next = pair

    def begin_model(self) -> None:
        """Another model answers from now on: unless the user has chosen a head, its clearest one
        will be shown.
        """
        self._has_picked_head = False

    def apply_view(self) -> bool:
        """Applies the saved view that waits; False if none does."""
        apply_view, self.view_next = self.view_next, None
        if apply_view is not None:
            apply_view()
        return apply_view is not None

    def show(self, result: ExperimentResult) -> str:
        """Shows the maps of a result, with the head and the pin that belong to it.

        Returns:
            A sentence naming a cell that could not be pinned; else empty.
        """
        before, shown_before = self.maps.result, self.maps.translation
        self.apply_view()
        head = self.selection.head
        num_layers, num_heads = result.changed.maps.of_kind(head.kind).shape[:2]
        if head.layer >= num_layers or head.head >= num_heads:  # of a smaller model
            self.selection.clear_marks()  # while the maps still have the head
        self.maps.show(result)
        if before is None or not _has_same_tokens(before.changed, result.changed):
            self.selection.clear_marks(pinned=self._kept_pin(shown_before))
        selection = self.selection
        head_next, self._head_next = self._head_next, None
        selection.was_chosen = selection.was_chosen or head_next is not None
        if not (selection.was_chosen or self._has_picked_head):
            selection.head = Head("cross", *clearest_head(result.changed.maps.cross))
            self._has_picked_head = True
        head = head_next or selection.head
        num_layers, num_heads = self.maps.shape(head.kind)
        selection.head = Head(
            head.kind, min(head.layer, num_layers - 1), min(head.head, num_heads - 1)
        )
        pair, self._pin_next = self._pin_next, None
        view = self.maps.view() if pair is not None else None
        if pair is None or view is None:
            return ""
        if view.place_of(pair) is None:
            return (
                f"The pinned cell, query {pair.query + 1} and key {pair.key + 1}, is not in this "
                "map."
            )
        selection.pinned = pair
        return ""

    def _kept_pin(self, before: Translation | None) -> Pair | None:
        """The pinned pair of the previous maps, if the current maps have the same two tokens."""
        pinned = self.selection.pinned
        after = self.maps.translation
        if pinned is None or before is None or after is None:
            return None
        return pair_in(after, before, self.selection.head.kind, pinned, self.settings.label_mode)

    def _on_shown(self, shown: ShownMaps, before: ShownMaps) -> None:
        """Pins the same two tokens in the maps of the other translation."""
        result = self.maps.result
        if (
            result is not None
            and self.selection.pinned is not None
            and "original" in (shown, before)
        ):
            self.selection.pinned = self._kept_pin(
                result.original if before == "original" else result.changed
            )


def _has_same_tokens(before: Translation, after: Translation) -> bool:
    """Whether marks on the maps of one translation hold for those of the other."""
    names = "experiment", "source_tokens", "predicted_tokens"
    return all(getattr(before, name) == getattr(after, name) for name in names)


def follow_tokens(editor: ExperimentEditor, before: Translation, after: Translation) -> Edit | None:
    """Moves attention rows along with their target tokens; None if no row moves or is dropped.

    Rows are set for what the decoder reads at a step. Forcing a word, for example, moves the tokens
    after it. A row whose token is gone is dropped and reported.

    Args:
        editor: its experiment led to `after`.
        before: the previous translation; rows that it was made without are set on purpose where
            they are.
        after: the translation in which the tokens may have moved.
    """
    if before.source_text != after.source_text:
        return None
    places = dict(common_subsequence(before.read_tokens, after.read_tokens))
    experiment = editor.experiment
    moved, dropped = list[tuple[AttentionRow, AttentionRow]](), list[AttentionRow]()
    for row in experiment.attention_rows:
        if (
            row.head.kind == "encoder"
            or row not in before.experiment.attention_rows
            or row in before.unreached
        ):
            continue
        at = _row_at(row, places)
        if at is None:
            dropped.append(row)
        elif at != row:
            moved.append((row, at))
    if not (moved or dropped):
        return None
    edited = experiment.without(*dropped, *(row for row, _ in moved)).with_interventions(
        *(at for _, at in moved)
    )
    return Edit(editor.replace(edited), moved_notice(moved, dropped))


def _row_at(row: AttentionRow, places: Mapping[int, int]) -> AttentionRow | None:
    """The row where its token is now, by the new places of tokens; None without the token, or any
    that it looks at.
    """
    if row.row not in places:
        return None
    if row.head.kind == "cross":
        return replace(row, row=places[row.row])
    weights = [0.0] * (places[row.row] + 1)
    for key, weight in enumerate(row.weights):
        if key in places:
            weights[places[key]] = weight
    return AttentionRow(row.head, places[row.row], tuple(weights)) if any(weights) else None


def pair_in(
    after: Translation,
    before: Translation,
    kind: AttentionKind,
    pair: Pair,
    label_mode: Literal["read", "predicted"],
) -> Pair | None:
    """The same two tokens in another translation: at the same positions, or where a comparison of
    maps pairs them.

    Args:
        after: the translation to search.
        before: the translation in which it was pinned.
        kind: of the maps.
        pair: the query and key.
        label_mode: the token that names a query of the decoder.

    Returns:
        None if one of the two tokens has no partner.
    """
    query = partner(
        query_tokens(before, kind, label_mode), query_tokens(after, kind, label_mode), pair.query
    )
    key = partner(key_tokens(before, kind), key_tokens(after, kind), pair.key)
    return Pair(query, key) if query is not None and key is not None else None


def partner(before: Sequence[str], after: Sequence[str], index: int) -> int | None:
    """The index in `after` of a token of `before`; None if it is missing."""
    if index >= len(before):
        return None
    if index < len(after) and before[index] == after[index]:
        return index
    return dict(common_subsequence(before, after)).get(index)


def query_tokens(
    translation: Translation, kind: AttentionKind, label_mode: Literal["read", "predicted"]
) -> tuple[str, ...]:
    """The token that names each query of a kind of map."""
    if kind == "encoder":
        return translation.source_tokens
    return translation.read_tokens if label_mode == "read" else translation.predicted_tokens


def key_tokens(translation: Translation, kind: AttentionKind) -> tuple[str, ...]:
    """The token of each key of a kind of map."""
    return translation.read_tokens if kind == "decoder" else translation.source_tokens
