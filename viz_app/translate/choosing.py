"""What a person chooses on the Translate page: a head, several of them, and how maps are shown."""

from PySide6.QtCore import QObject, Signal

from core.analysis.measures import Measure
from core.analysis.roles import ROLES
from core.analysis.selection import Combination, LabelMode
from viz_app.analysis.alignment.state import RankedAligner
from viz_app.analysis.area import Laboratory
from viz_app.preferences import Preferences
from viz_app.state.seeing import Order, Scale, Scope
from viz_app.state.translate_state import Direction, HeadChoice, TranslateState
from viz_app.views.head import HeadPanel
from viz_app.views.heads import HeadsPanel
from viz_app.views.sentence import SentencePanel

REMEMBERED = ("label_mode", "scale", "hides_wrapping", "hides_punctuation", "merges_words")


class Choosing(QObject):
    """Turns choices made in the panels into changes of the state, remembers them, and draws what follows.

    Signals:
        measuring_wanted(Translation): its maps in all measures are needed.
    """

    measuring_wanted = Signal(object)

    def __init__(
        self,
        state: TranslateState,
        preferences: Preferences,
        panels: tuple[SentencePanel, HeadsPanel, HeadPanel],
        lab: Laboratory,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._state, self._preferences, self._lab = state, preferences, lab
        self._sentence, self._heads, self._head = panels
        self._connect()

    def choose(self, choice: HeadChoice) -> None:
        """Chooses a head and draws what follows from it."""
        self._state.choose(choice)
        self.show_choice()

    def save(self) -> None:
        """Remembers the choices: once, when the window closes, for a write to the disk costs more than a change."""
        for name in REMEMBERED:
            value = getattr(self._state, name)
            if value != getattr(self._preferences, name):  # what nobody chose follows the defaults of later versions
                setattr(self._preferences, name, value)
        if self._state.was_chosen:
            self._preferences.head_choice = self._state.choice

    def walk(self, direction: Direction | None) -> bool:
        """Takes one step to a neighbouring head; False if the key means nothing here."""
        if direction is None or self._state.translation is None:
            return False
        if self._state.move(direction):
            self.show_choice()
        return True

    def show_choice(self) -> None:
        """Draws what follows from the choice of heads."""
        self._heads.show_choice()
        self._head.rebuild()
        self._lab.refresh()
        self._sentence.show_picks()

    def rebuild_maps(self) -> None:
        """Draws all maps anew: they are shown in another way."""
        self._state.forget_hovered()
        self._heads.rebuild()
        self._head.rebuild()
        self._lab.refresh()
        self._sentence.show_picks()

    def ask_for_measures(self) -> None:
        """Asks for the maps in the chosen measure if they are not known."""
        translation = self._state.translation
        if translation is not None and not self._state.is_of_earlier_model and self._state.lacks_measure(translation):
            self.measuring_wanted.emit(translation)

    def show_aligner(self, aligner: RankedAligner) -> None:
        """Shows the map that an aligner reads: its head, or the mean of several; its label mode and its measure."""
        assert aligner.label_mode is not None
        assert aligner.measure is not None
        self.choose(HeadChoice("cross", aligner.layer or 0, aligner.head or 0))
        is_of_layer = aligner.measure == "norm-layer"
        self._state.combination = "mean"
        self._state.scope = "all" if aligner.layer is None else "layer" if aligner.head is None else "head"
        if is_of_layer and self._state.scope == "layer":
            self._state.scope = "head"  # the layer has one map, whatever the head
        rows = self._head.controls
        (rows.read_button if aligner.label_mode == "read" else rows.predicted_button).setChecked(True)
        self._on_measure_chosen(aligner.measure)

    def _connect(self) -> None:
        heads, head, controls = self._heads, self._head, self._head.controls
        heads.grid.chosen.connect(self.choose)
        heads.grid.added.connect(self._on_head_added)
        heads.scale_chosen.connect(self._on_scale_chosen)
        heads.role_chosen.connect(self._on_role_chosen)
        heads.order_chosen.connect(self._on_order_chosen)
        controls.label_mode_chosen.connect(self._on_label_mode_chosen)
        controls.hide_wrapping_chosen.connect(self._on_hide_wrapping_chosen)
        controls.hide_punctuation_chosen.connect(self._on_hide_punctuation_chosen)
        controls.merge_words_chosen.connect(self._on_merge_words_chosen)
        head.measure_chosen.connect(self._on_measure_chosen)
        head.scope_chosen.connect(self._on_scope_chosen)
        head.combination_chosen.connect(self._on_combination_chosen)

    def _on_label_mode_chosen(self, mode: LabelMode) -> None:
        self._state.label_mode = mode
        self.rebuild_maps()

    def _on_hide_wrapping_chosen(self, hides: bool) -> None:
        self._state.hides_wrapping = hides
        self.rebuild_maps()

    def _on_hide_punctuation_chosen(self, hides: bool) -> None:
        self._state.hides_punctuation = hides
        self.rebuild_maps()

    def _on_merge_words_chosen(self, merges: bool) -> None:
        self._state.merges_words = merges
        self.rebuild_maps()

    def _on_scale_chosen(self, scale: Scale) -> None:
        self._state.scale = scale
        self.rebuild_maps()

    def _on_role_chosen(self, name: str) -> None:
        self._state.shown_role = next((role for role in ROLES if role == name), None)
        self._heads.rebuild()

    def _on_order_chosen(self, order: Order) -> None:
        self._state.order = order
        self._heads.rebuild()

    def _on_head_added(self, choice: HeadChoice) -> None:
        self._state.add(choice)
        self.show_choice()

    def _on_measure_chosen(self, measure: Measure) -> None:
        self._state.measure = measure
        self.ask_for_measures()
        self.rebuild_maps()

    def _on_scope_chosen(self, scope: Scope) -> None:
        self._state.scope = scope
        self.show_choice()

    def _on_combination_chosen(self, combination: Combination) -> None:
        self._state.combination = combination
        self.show_choice()


def restore_choices(state: TranslateState, preferences: Preferences) -> None:
    """Takes over what was chosen the last time, before anything is drawn."""
    state.label_mode, state.scale = preferences.label_mode, preferences.scale
    state.hides_wrapping, state.hides_punctuation = preferences.hides_wrapping, preferences.hides_punctuation
    state.merges_words = preferences.merges_words
    if (choice := preferences.head_choice) is not None:
        state.choice, state.was_chosen = choice, True
