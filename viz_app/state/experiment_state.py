"""One experiment on the screen: what is asked, what is known of it, and what the user does to it. No Qt.

Any number of these live side by side: the Translate page has one, the Compare tab a second, the film a third.
"""

from dataclasses import replace

from psygnal import Signal

from augenmerk.core.analysis.measures import MeasuredMaps
from augenmerk.core.analysis.sample_roles import SampleRoles
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import (
    CausalMaskLifted,
    Experiment,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    Intervention,
    Output,
)
from augenmerk.core.translation.result import ExperimentResult, Translation
from augenmerk.viz_app.state.experiment_history import ExperimentHistory
from augenmerk.viz_app.state.head_roles import HeadRoles, clearest_head
from augenmerk.viz_app.state.languages import NEUTRAL, code_of, language_names, language_of
from augenmerk.viz_app.state.map_selection import MapSelection
from augenmerk.viz_app.state.map_source import MapSource
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.state.map_view_settings import MapViewSettings, ShownMaps
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.state.request_state import RequestState
from augenmerk.viz_app.state.token_partners import pair_in

GIVEN_DROPPED = "Dropped: the given translation, as the model chooses the other words itself. Undo brings it back."


class ExperimentState:
    """What is asked of the model, and what it answered.

    Attributes:
        settings: how maps are shown.
        selection: what is chosen and marked on them.
        maps: the maps that follow from result, settings and selection.
        roles: what their heads do.
        request: the answer that is awaited.
        measuring: the maps in other measures that are awaited.
        model: the model in use; None before the first.
        shown_model: the model that made what is shown; None while there is nothing, or where no model is known.
        result: what is shown; None while there is nothing.
        is_of_earlier_model: what is shown was made by the model before; nothing more can be asked about it.
        notice: what was dropped by the last change of text or model, in a sentence; empty if nothing was.

    Signals (psygnal):
        experiment_asked: somebody has to compute the experiment, and then call `accept` or `refuse`.
        experiment_cancelled: nobody waits for the experiment any more.
        measuring_cancelled: nobody waits for maps in another measure any more.
        experiment_changed: another experiment is in use.
        result_changed: another result is shown, or none.
        model_changed: another model answers from now on.
        roles_changed: what heads do over a sample has become known.
        measured_changed: maps in another measure have become known.
        notice_changed: there is another notice.
    """

    experiment_asked = Signal()
    experiment_cancelled = Signal()
    measuring_cancelled = Signal()
    experiment_changed = Signal()
    result_changed = Signal()
    model_changed = Signal()
    roles_changed = Signal()
    measured_changed = Signal()
    notice_changed = Signal()

    def __init__(self, settings: MapViewSettings | None = None) -> None:
        self.settings = settings or MapViewSettings()
        self.selection = MapSelection()
        self.maps = MapSource(self.settings, self.selection)
        self.roles = HeadRoles(self.maps)
        self.request, self.measuring = RequestState(), RequestState()
        self.model: ModelInfo | None = None
        self.shown_model: ModelInfo | None = None
        self._languages = self._shown_languages = ("German", "English")
        self.result: ExperimentResult | None = None
        self.is_of_earlier_model = False
        self.notice = ""
        self._history = ExperimentHistory(Experiment(""))
        self._model_roles: SampleRoles | None = None
        self._has_picked_head = False
        self._drops_misfits = self._tells_kept = False
        self._prepared_notice = ""
        self._pin_next: Pair | None = None
        self._head_next: Head | None = None
        self.settings.events.shown.connect(self._on_shown)

    # --- the experiment ------------------------------------------------------------------------------------------

    @property
    def experiment(self) -> Experiment:
        """What is asked for."""
        return self._history.current

    @property
    def languages(self) -> tuple[str, str]:
        """What source and target of what is shown are called in sentences: "German" and "English".

        They are those of the model that made it, also while another one, that is in use by now, translates.
        """
        if self.result is None:
            return self.languages_in_use
        return _languages_of(self.shown_model, self._shown_languages, self.result.experiment.source_text)

    @languages.setter
    def languages(self, names: tuple[str, str]) -> None:
        self._languages = self._shown_languages = names

    @property
    def languages_in_use(self) -> tuple[str, str]:
        """What source and target of what is asked for are called: those of the model in use."""
        return _languages_of(self.model, self._languages, self.experiment.source_text)

    @property
    def target_code(self) -> str | None:
        """The token `>>xx<<` by which the sentence says into which language; None if it says nothing."""
        if self.model is None or not self.model.target_codes:
            return None
        return code_of(self.experiment.source_text, self.model.target_codes)

    @property
    def drops_misfits(self) -> bool:
        """Whether interventions that do not fit are to be left out rather than refused: another model is in use."""
        return self._drops_misfits

    def set_experiment(self, experiment: Experiment, *, drops_misfits: bool = False) -> None:
        """Asks for another experiment; it can be undone."""
        if experiment == self.experiment and not self.request.problem and self.result is not None:
            return
        self._history.push(experiment)
        self._ask(drops_misfits=drops_misfits)

    def edit_text(self, text: str) -> None:
        """Another sentence: head scalings are kept; what belonged to the words of the old one is dropped, and named."""
        if text == self.experiment.source_text:
            return
        self.set_experiment(self._edited(text))

    def begin_text(self, text: str) -> None:
        """A sentence before a model is open; nothing is asked for yet. A restored experiment changes as by an edit."""
        if text == self.experiment.source_text:
            return
        if not self.experiment.interventions:
            self._history = ExperimentHistory(Experiment(text, self.experiment.output))
            return
        self._history.push(self._edited(text))

    def prepare_text(self, text: str) -> None:
        """The same as `edit_text`, but asked for once the model that is in use from now on is asked.

        What was never asked for, as the first example at the start, is nothing to go back to.
        """
        if self.result is None and not self.experiment.interventions and not self.can_undo:
            self._history = ExperimentHistory(self._edited(text))
        else:
            self._history.push(self._edited(text))
        self._prepared_notice = self.notice

    def _edited(self, text: str) -> Experiment:
        """The experiment with another sentence; what is dropped with the old one is named."""
        edited = replace(self.experiment.edited(text), output=self.own_output)
        dropped = [each for each in self.experiment.interventions if each not in edited.interventions]
        whose = "it belongs" if len(dropped) == 1 else "they belong"
        self._set_notice(_dropped(f"with the sentence that {whose} to", dropped))
        return edited

    def open_experiment(self, experiment: Experiment, *, asks: bool = True, forgets_history: bool = False) -> None:
        """An experiment that was saved; what does not fit the model in use is dropped, and named.

        Args:
            experiment: the saved one.
            asks: whether it is asked for now, rather than when a model has been opened.
            forgets_history: whether it is the first one, with nothing to go back to.
        """
        self._set_notice("")
        if forgets_history:
            self._history = ExperimentHistory(experiment)
        else:
            self._history.push(experiment)
        if asks:
            self._ask(drops_misfits=True)

    def set_history_aside(self) -> ExperimentHistory:
        """Begins a history of its own with the experiment in use; `resume_history` takes the former up again."""
        former, self._history = self._history, ExperimentHistory(self.experiment)
        self.experiment_changed.emit()
        return former

    def resume_history(self, former: ExperimentHistory) -> None:
        """The history from before `set_history_aside`, with the experiment in use as its newest step."""
        current = self.experiment
        former.restore()  # another model may have come into use meanwhile
        former.push(current)
        self._history = former
        self.experiment_changed.emit()

    def tell(self, notice: str) -> None:
        """Something that the user should know about what is shown."""
        self._set_notice(notice)

    def intervene(self, *interventions: Intervention) -> None:
        """Changes something; what changed the same thing before gives way.

        A changed source has other tokens: rows of attention over it that were set no longer fit, and are dropped.

        Raises:
            ExperimentError: two of them change the same thing, or a token is forced while the target is given.
        """
        experiment = self.experiment.with_interventions(*interventions)
        self._set_source_checked(experiment)

    def remove(self, *interventions: Intervention) -> None:
        """Takes interventions back."""
        self._set_source_checked(self.experiment.without(*interventions))

    def reset(self) -> None:
        """Takes all interventions back."""
        self._set_notice("")
        self.set_experiment(self.experiment.baseline)

    def toggle_head(self, head: Head) -> None:
        """Switches a head off, or on again."""
        scaled = next((each for each in self.experiment.head_scalings if each.head == head), None)
        if scaled is None:
            self.intervene(HeadScaled(head))
        else:
            self.remove(scaled)

    def force(self, step: int, *tokens: str) -> None:
        """Chooses tokens of the vocabulary from a step on. Where the target is given, the model decodes again."""
        experiment = self.experiment
        is_given = isinstance(experiment.output, GivenTarget)
        if is_given:
            kept = experiment.without(CausalMaskLifted()).interventions
            experiment = Experiment(experiment.source_text, self.own_output, kept)
        self._set_notice(GIVEN_DROPPED if is_given else "")
        forced = [ForcedToken(step + offset, token) for offset, token in enumerate(tokens)]
        self.set_experiment(experiment.with_interventions(*forced))

    def set_output(self, output: Output) -> None:
        """Finds the target in another way; forced tokens are dropped where it is given."""
        is_given = isinstance(output, GivenTarget)
        misfit = ForcedToken if is_given else CausalMaskLifted
        kept = tuple(each for each in self.experiment.interventions if not isinstance(each, misfit))
        dropped = [each for each in self.experiment.interventions if each not in kept]
        whose = "the whole translation is given" if is_given else "the model chooses its own tokens"
        self._set_notice(_dropped(f"because {whose}", dropped))
        self.set_experiment(Experiment(self.experiment.source_text, output, kept))

    @property
    def own_output(self) -> Output:
        """How the model itself finds the target; while a target is given, how it did before."""
        return self._history.newest_own_output or Greedy()

    def use_own_output(self) -> None:
        """The model's own translation again, in place of a given one."""
        self.set_output(self.own_output)

    @property
    def can_undo(self) -> bool:
        """Whether there is an earlier experiment."""
        return self._history.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether something was undone."""
        return self._history.can_redo

    def undo(self) -> None:
        """The experiment before this one."""
        if self._history.undo():
            self._set_notice("")
            self._ask(drops_misfits=True)

    def redo(self) -> None:
        """What was undone."""
        if self._history.redo():
            self._set_notice("")
            self._ask(drops_misfits=True)

    def choose_head(self, head: Head) -> None:
        """Shows one head, in place of another or of several; one that the maps shown lack, with the next result."""
        self.settings.show_one()
        num_layers, num_heads = self.maps.shape(head.kind)
        is_there = self.result is None or (head.layer < num_layers and head.head < num_heads)
        self._head_next = None if is_there else head
        if is_there:
            self.selection.choose(head)

    def is_off(self, head: Head) -> bool:
        """Whether a head is switched off."""
        return head in self.experiment.heads_off

    def _set_source_checked(self, experiment: Experiment) -> None:
        dropped: list[Intervention] = []
        if experiment.source_edits != self.experiment.source_edits:
            dropped = [row for row in experiment.attention_rows if row.head.kind != "decoder"]
            experiment = experiment.without(*dropped)
        self._set_notice(_dropped("because the source has other tokens now", dropped))
        self.set_experiment(experiment)

    def _ask(self, *, drops_misfits: bool, tells_kept: bool = False) -> None:
        self._tells_kept = tells_kept
        self._drops_misfits = drops_misfits or self.is_of_earlier_model
        self.experiment_asked.emit()
        self.experiment_changed.emit()

    # --- the answer ----------------------------------------------------------------------------------------------

    @property
    def translation(self) -> Translation | None:
        """The result under the interventions, which text and tables show; None while there is none."""
        return self.result.changed if self.result is not None else None

    @property
    def original(self) -> Translation | None:
        """The result with nothing changed; the same as `translation` where nothing is."""
        return self.result.original if self.result is not None else None

    def accept(self, result: ExperimentResult) -> None:
        """Shows a result. What it left out is named, and no longer asked for.

        Where another model left it out, undo asks for it again: of use once the former model is open again.
        """
        self.request.finish()
        told = ""
        if result.dropped:
            (self._history.push if self.is_of_earlier_model else self._history.fit)(result.experiment)
            undo = "With the former model, undo brings" if self.is_of_earlier_model else ""
            why = f"because {'it does' if len(result.dropped) == 1 else 'they do'} not fit this model or sentence"
            told = _dropped(why, list(result.dropped), undo)
        kept = _kept(result.experiment, self._history.previous) if self._tells_kept else ""
        if told or kept:
            before = self._prepared_notice if self.notice == self._prepared_notice else ""
            self._set_notice(" ".join(filter(None, (before, told, kept))))
        self._prepared_notice = ""
        self._show(result)

    def refuse(self, problem: str) -> None:
        """There is no result: what is shown stays, and its experiment is in use again. The refused one is forgotten.

        Where nothing of this model is shown yet, the plain sentence is asked for instead, unless it was that already.
        """
        refused = self.experiment
        if self.result is not None and not self.is_of_earlier_model:
            shown = self.result.experiment
            self.request.finish(problem if refused == shown else f"{problem}\n{_refused(refused, shown)}")
            if refused != shown:
                self._history.withdraw(shown)
                self.experiment_changed.emit()
            return
        self.request.finish(problem)
        plain = Experiment(refused.source_text)
        if refused != plain:
            (self._history.push if self.is_of_earlier_model else self._history.replace)(plain)
            self._set_notice(f"{_refused(refused, plain)} {problem}")
            self._ask(drops_misfits=True)

    def cancel(self) -> None:
        """Nobody waits for the experiment any more: what is shown stays, and its experiment is in use again.

        Where nothing of this model is shown yet, the experiment is kept; `ask_again` asks for it.
        """
        if not self.request.is_running:
            return
        given_up = self.experiment
        shown = self.result.experiment if self.result is not None and not self.is_of_earlier_model else given_up
        self.request.finish(_cancelled(given_up, shown))
        if given_up != shown:
            self._history.withdraw(shown)
            self.experiment_changed.emit()
        self.experiment_cancelled.emit()

    @property
    def is_measure_awaited(self) -> bool:
        """Whether maps in the chosen measure are to come, and weights shown until then."""
        return self.measuring.is_running and self.maps.lacking_measure() is not None

    def cancel_measuring(self) -> bool:
        """Nobody waits for maps in the chosen measure any more: weights are chosen again. False if none are awaited."""
        if not self.is_measure_awaited:
            return False
        self.measuring.finish()
        self.measuring_cancelled.emit()
        self.settings.measure = "weight"
        return True

    def show_translation(self, translation: Translation) -> None:
        """Shows a translation that is there already, with nothing changed."""
        self._history.replace(translation.experiment)
        self._show(ExperimentResult.of(translation))

    def clear(self) -> None:
        """Shows nothing."""
        self.result = self.shown_model = None
        self.maps.show(None)
        self.selection.clear_marks()
        self.result_changed.emit()

    def pin_with_next_result(self, pair: Pair | None) -> None:
        """Pins a cell as soon as the next result is shown, if it has such a cell."""
        self._pin_next = pair

    def _pin_what_was_asked(self) -> None:
        pair, self._pin_next = self._pin_next, None
        view = self.maps.view() if pair is not None else None
        if pair is None or view is None:
            return
        if view.place_of(pair) is not None:
            self.selection.pinned = pair
        else:
            told = f"The cell to be pinned, query {pair.query + 1} and key {pair.key + 1}, is not in this map."
            self._set_notice(" ".join(filter(None, (self.notice, told))))

    def _kept_pin(self, before: Translation | None) -> Pair | None:
        """What is pinned in the maps that were shown, if the maps that are shown now have the same two tokens."""
        pinned, after = self.selection.pinned, self.maps.translation
        if pinned is None or before is None or after is None:
            return None
        return pair_in(after, before, self.selection.head.kind, pinned, self.settings.label_mode)

    def _on_shown(self, shown: ShownMaps, before: ShownMaps) -> None:
        """The maps of the other translation are shown: what is pinned stands for the same two tokens there."""
        if self.result is not None and self.selection.pinned is not None and "original" in (shown, before):
            is_original = before == "original"
            self.selection.pinned = self._kept_pin(self.result.original if is_original else self.result.changed)

    def _show(self, result: ExperimentResult) -> None:
        """The chosen head is kept where it exists; if nobody chose one, the cross head that points most clearly is."""
        before, shown_before = self.result, self.maps.translation
        self.result, self.is_of_earlier_model = result, False
        self.shown_model, self._shown_languages = self.model, self._languages
        self.roles.sample = self._model_roles
        self.maps.show(result)
        self.measuring.finish()
        if before is None or before.changed is not result.changed:
            self.selection.clear_marks(pinned=self._kept_pin(shown_before))
        selection = self.selection
        head_next, self._head_next = self._head_next, None
        selection.was_chosen = selection.was_chosen or head_next is not None
        if not (selection.was_chosen or self._has_picked_head):
            selection.head = Head("cross", *clearest_head(result.changed.maps.cross))
            self._has_picked_head = True
        head = head_next or selection.head
        num_layers, num_heads = self.maps.shape(head.kind)
        selection.head = Head(head.kind, min(head.layer, num_layers - 1), min(head.head, num_heads - 1))
        self._pin_what_was_asked()
        self.result_changed.emit()

    # --- the model -----------------------------------------------------------------------------------------------

    def begin_model(self, model: ModelInfo) -> None:
        """Another model answers from now on; its roles hold from its first answer on."""
        if self.model is not None:
            self._set_notice("")  # about the previous model; a notice from before the first one is about the sentence
        self.model, self._languages = model, language_names(model.run)
        self._model_roles = model.roles
        self._history.restore()
        self.is_of_earlier_model = self.result is not None
        self._has_picked_head = False
        self.model_changed.emit()

    def ask_again(self) -> None:
        """The same experiment, of the model that is in use now; what does not fit it is dropped."""
        self._ask(drops_misfits=True, tells_kept=self.is_of_earlier_model)

    def take_roles(self, roles: SampleRoles) -> None:
        """A sample was measured with the model in use."""
        self._model_roles = roles
        if not self.is_of_earlier_model:
            self.roles.sample = roles
            self.roles_changed.emit()

    def take_measured(self, measured: MeasuredMaps) -> None:
        """Maps in the other measures have become known."""
        self.measuring.finish()
        self.maps.add_measured(measured)
        self.measured_changed.emit()

    def _set_notice(self, notice: str) -> None:
        if notice != self.notice:
            self.notice = notice
            self.notice_changed.emit()


def _languages_of(model: ModelInfo | None, names: tuple[str, str], text: str) -> tuple[str, str]:
    """What source and target are called; of a model of several target languages, the text says into which.

    Args:
        model: the model; None if it is not known.
        names: of the languages of its settings.
        text: the sentence that it translates.
    """
    if model is None or not model.target_codes:
        return names
    code = code_of(text, model.target_codes)
    return names[0], NEUTRAL[1] if code is None else language_of(code)


def _dropped(why: str, interventions: list[Intervention], undo: str = "Undo brings") -> str:
    """What was left out, in a sentence; empty if nothing was. `undo` begins the one on how it comes back."""
    if not interventions:
        return ""
    it = "it" if len(interventions) == 1 else "them"
    return f"Dropped {why}: {', '.join(map(str, interventions))}." + (f" {undo} {it} back." if undo else "")


def _kept(experiment: Experiment, previous: Experiment | None) -> str:
    """What another model takes over from the one before, in a sentence; empty if there is nothing.

    Args:
        experiment: what is asked of the model that is in use now.
        previous: what undo goes back to. It takes the changes back if they were the last step.
    """
    if not experiment.interventions:
        return ""
    it = "it" if len(experiment.interventions) == 1 else "them"
    by = "Undo" if previous == experiment.baseline else "“reset”"
    return f"Kept from the model before: {', '.join(map(str, experiment.interventions))}. {by} takes {it} back."


def _refused(refused: Experiment, kept: Experiment) -> str:
    """What was refused and is not in use, in a sentence."""
    if refused.source_text != kept.source_text:
        return "The sentence before it is still shown."
    return f"Refused, and taken back: {_taken_back(refused, kept)}."


def _cancelled(given_up: Experiment, kept: Experiment) -> str:
    """What was cancelled, and what is in use now."""
    if given_up == kept:
        return "Translating was cancelled. Press Enter in the sentence to translate it after all, or type another one."
    if given_up.source_text != kept.source_text:
        return (
            "Translating was cancelled; the sentence before it is still shown. Press Enter to translate it after all."
        )
    return f"Translating was cancelled; taken back: {_taken_back(given_up, kept)}."


def _taken_back(experiment: Experiment, kept: Experiment) -> str:
    names = [str(each) for each in experiment.interventions if each not in kept.interventions]
    if isinstance(experiment.output, GivenTarget) and experiment.output != kept.output:
        names.append("the given translation")
    return ", ".join(names) or "the last change"
