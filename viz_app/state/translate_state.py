"""What the Translate page knows: which head is chosen, how its rows are read, which result is awaited and shown."""

from dataclasses import dataclass, replace
from typing import Literal

from core.analysis.measures import MEASURES, Measure
from core.analysis.sample_roles import SampleRoles
from core.model.heads import Head
from core.translation.result import MAP_KINDS, FloatArray, MapKind, Translation
from viz_app.state.map_view import MapView
from viz_app.state.marking import Cell as Cell
from viz_app.state.marking import Marking
from viz_app.state.measuring import SHORT_NAMES
from viz_app.state.seeing import COMBINATION_NAMES, clearest_head, has_split_words
from viz_app.state.switchboard import Switchboard

Direction = Literal["left", "right", "up", "down", "first", "last"]

KIND_NAMES: dict[MapKind, str] = {"encoder": "Encoder", "decoder": "Decoder", "cross": "Cross"}
KIND_TITLES: dict[MapKind, str] = {
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Cross-attention",
}
KIND_DIRECTIONS: dict[MapKind, str] = {
    "encoder": "source → source",
    "decoder": "target → target",
    "cross": "target → source",
}


@dataclass(frozen=True)
class HeadChoice(Head):
    """One head of one layer of one kind; layer and head count from 0, and are shown from 1."""

    @property
    def title(self) -> str:
        """The head in words."""
        return f"{KIND_TITLES[self.kind]} · layer {self.layer + 1} · head {self.head + 1}"


class TranslateState(Marking):
    """Selection and result of the Translate page; how maps are shown is told by `Seeing`, what is marked by `Marking`.

    Attributes:
        choice: the chosen head.
        was_chosen: whether a person chose it; if not, the first translation of a model picks one that shows something.
        awaited_id: id of the newest request, None if its answer has come.
        languages: what source and target are called in sentences: "German" and "English".
        step_row: the decoding step that the laboratory looks at, a row of decoder and cross maps.
        own: the model's own translation of the sentence, while another one may be given.
        model_roles: what the heads of the model in use do over a sample, if that was measured.
        is_of_earlier_model: what is shown was made by the model before; nothing more can be asked about it.
        switchboard: which heads are off, and what that did.
    """

    def __init__(self) -> None:
        super().__init__()
        self.choice: HeadChoice = HeadChoice("cross", 0, 0)
        self.was_chosen = False
        self._has_picked = False
        self.languages = ("German", "English")
        self.awaited_id: int | None = None
        self.step_row: int | None = None
        self.switchboard = Switchboard()
        self.own: Translation | None = None
        self.model_roles: SampleRoles | None = None
        self.is_of_earlier_model = False

    def await_result(self, request_id: int) -> None:
        """From now on only the answer to this request counts."""
        self.awaited_id = request_id

    def settle(self, request_id: int) -> bool:
        """Whether this answer is the awaited one; if so, nothing is awaited any more."""
        if request_id != self.awaited_id:
            return False
        self.awaited_id = None
        return True

    def accept(self, request_id: int, translation: Translation) -> bool:
        """Shows a result if it is the awaited one; a stale one changes nothing and returns False."""
        if not self.settle(request_id):
            return False
        self.show(translation)
        return True

    def show(self, translation: Translation) -> None:
        """Replaces what is shown.

        The choice is kept where such a head exists. If nobody made one, the cross head that points most clearly at
        different words is taken, once.
        """
        self.translation, self.is_of_earlier_model = translation, False
        self.sample_roles = self.model_roles
        if not translation.is_given:
            self.own = translation
        elif self.own is not None and self.own.source_text != translation.source_text:
            self.own = None
        self.switchboard.forget_effect()
        self.measured = self.awaited_measure_id = None
        self.has_measuring_failed = False
        self.forget_marks()
        if not (self.was_chosen or self._has_picked):
            self.choice = HeadChoice("cross", *clearest_head(translation.maps.cross))
            self._has_picked = True
        num_layers, num_heads = self.shape(self.choice.kind)
        self.choice = replace(
            self.choice, layer=min(self.choice.layer, num_layers - 1), head=min(self.choice.head, num_heads - 1)
        )

    def begin_model(self, source: str, target: str, roles: SampleRoles | None = None) -> None:
        """Another model answers from now on, between these two languages; its roles hold from its first answer on."""
        self.languages, self.model_roles = (source, target), roles
        self.own, self.is_of_earlier_model = None, True
        self.switchboard.reset()
        self._has_picked = False

    def take_roles(self, roles: SampleRoles) -> None:
        """A sample was measured with the model in use."""
        self.model_roles = roles
        if not self.is_of_earlier_model:
            self.sample_roles = roles

    def clear(self) -> None:
        """Shows nothing and awaits nothing."""
        self.translation = self.awaited_id = None
        self.switchboard.forget_effect()
        self.measured = self.awaited_measure_id = None
        self.has_measuring_failed = False
        self.forget_marks()

    def choose(self, choice: HeadChoice) -> None:
        """Chooses a head. A pinned cell stays pinned within the same kind of map."""
        if choice.kind != self.choice.kind:
            self.pinned = None
        self.forget_hovered()
        self.forget_several()
        self.choice, self.was_chosen = choice, True

    def add(self, head: HeadChoice) -> None:
        """Shows a head together with those shown now, or without it if it is one of them."""
        before = self.choice
        self.forget_hovered()
        self.toggle_one_of_several(head, before)
        if head.kind != before.kind:
            self.pinned = None
        if self.several:
            first = min(self.several)
            chosen = before if before in self.several else HeadChoice(first.kind, first.layer, first.head)
            self.choice, self.was_chosen = chosen, True

    def is_off(self, choice: HeadChoice) -> bool:
        """Whether a head is switched off."""
        return choice in self.switchboard.off

    def move(self, direction: Direction) -> bool:
        """Walks to a neighbouring head, or up and down through layers and on through the kinds. False at an edge."""
        if self.translation is None:
            return False
        lines = [line for kind in MAP_KINDS for line in self.lines_of_heads(kind)]
        here = next(number for number, line in enumerate(lines) if self.choice in line)
        place, last = lines[here].index(self.choice), len(lines[here]) - 1
        place = {"left": place - 1, "right": place + 1, "first": 0, "last": last}.get(direction, place)
        here += {"up": -1, "down": 1}.get(direction, 0)
        if not (0 <= here < len(lines) and 0 <= place <= last):
            return False
        self.choose(lines[here][min(place, len(lines[here]) - 1)])
        return True

    def lines_of_heads(self, kind: MapKind) -> list[tuple[HeadChoice, ...]]:
        """The heads of a kind as the grid shows them, line by line; one line for each layer, or by another order."""
        if self.translation is None:
            return []
        heads = [HeadChoice(kind, *place) for place in self.in_order(self.translation, kind)]
        num_heads = max(self.shape(kind)[1], 1)
        return [tuple(heads[first : first + num_heads]) for first in range(0, len(heads), num_heads)]

    def shape(self, kind: MapKind) -> tuple[int, int]:
        """Number of layers and of heads of one kind; zeros while nothing is shown."""
        if self.translation is None:
            return 0, 0
        num_layers, num_heads = self.translation.maps.of_kind(kind).shape[:2]
        return num_layers, num_heads

    def top_weight(self, weights: FloatArray, head: HeadChoice | None = None) -> float:
        """The weight that gets the last colour in a map of a head, by default of the chosen one."""
        if self.translation is None:
            return 1.0
        return self.top(self.translation, head or self.choice, weights)

    def view(self) -> MapView | None:
        """The chosen map with its labels; None while nothing is shown."""
        return None if self.translation is None else self.view_of(self.translation, self.choice)

    @property
    def measure_of_choice(self) -> Measure:
        """The measure in which the large map is shown."""
        return "weight" if self.translation is None else self.shown_measure(self.translation, self.choice.kind)

    def measure_note(self) -> str:
        """One sentence on the measure, if it is not the weight or is not there; else empty."""
        if self.translation is None or self.measure == "weight":
            return ""
        if self.choice.kind not in MEASURES[self.measure].kinds:
            return f"There is no {SHORT_NAMES[self.measure]} for these maps: the weights are shown."
        if self.measure_of_choice != self.measure:
            if self.has_measuring_failed:
                return f"{SHORT_NAMES[self.measure].capitalize()} could not be computed; the weights are shown."
            return f"Computing: {SHORT_NAMES[self.measure]} …"
        description = MEASURES[self.measure]
        one = "" if self.choice.kind in description.per_head else " One map for each layer, whatever the head."
        return f"{SHORT_NAMES[self.measure]}: {description.meaning[0].lower()}{description.meaning[1:]}{one}"

    def hiding_note(self) -> str:
        """One sentence on what is hidden of the large map; empty if that is not asked for."""
        view = self.view()
        if view is None or self.translation is None or not self.selection.hide:
            return ""
        if self.hides_nothing_of(self.translation, self.choice):
            ends = "start, end and" if self.hides_punctuation else "start and end"
            kinds = f"{ends * self.hides_wrapping}{' punctuation' * self.hides_punctuation}".strip()
            return f"Without {kinds} nothing would be left of this map, so nothing is hidden."
        return f"{100 * view.hidden_share:.0f} % of their attention lies on hidden tokens."

    def value_name(self) -> str:
        """What a cell of the large map is called, in short."""
        name = {"weight": "weight", "norm": "‖α·f(x)‖", "norm-layer": "‖Σ α·f(x)‖", "rollout": "rollout"}
        how = "" if self.scope == "head" else f"{COMBINATION_NAMES[self.combination]} "
        return how + name[self.measure_of_choice]

    def title(self) -> str:
        """What the large map is, in words."""
        choice = self.choice
        num_heads = len(self.heads(choice, self.shape(choice.kind)))
        if self.translation is None or self.scope == "head" or num_heads == 1:
            return choice.title
        how, kind = COMBINATION_NAMES[self.combination], KIND_TITLES[choice.kind]
        if self.scope == "layer":
            return f"{kind} · layer {choice.layer + 1} · {how} of {num_heads} heads"
        return f"{kind} · {how} of {num_heads} heads" + (" in all layers" if self.scope == "all" else "")

    @property
    def has_split_words(self) -> bool:
        """Whether any word shown is made of several tokens."""
        return self.translation is not None and has_split_words(self.translation)

    def row_labels(self) -> tuple[str, ...]:
        """The name of every row of the chosen map."""
        assert self.translation is not None
        if self.choice.kind == "encoder":
            return self.translation.source_tokens
        return self.translation.read_tokens if self.label_mode == "read" else self.translation.predicted_tokens

    def column_labels(self) -> tuple[str, ...]:
        """The name of every column of the chosen map: the keys are always tokens that were read."""
        assert self.translation is not None
        return self.translation.read_tokens if self.choice.kind == "decoder" else self.translation.source_tokens

    def meaning_of_rows(self) -> str:
        """One sentence on what a row of the chosen map means."""
        source, target = self.languages
        if self.choice.kind == "encoder":
            return f"Each row: where the encoder looks, over all the {source}, while it reads that {source} token."
        where = f"at the {target} so far" if self.choice.kind == "decoder" else f"at the {source}"
        if self.label_mode == "read":
            return f"Each row: where the model looks {where} while it reads that {target} token, to predict the next."
        return f"Each row: where the model looks {where} while it predicts that {target} token."

    def describe(self, cell: Cell) -> tuple[str, str] | None:
        """A cell in two lines: the tokens and the weight. None if no such cell is shown."""
        if self.translation is None:
            return None
        view = self.view_of(self.translation, self.choice)
        row, column = view.row_of(cell.row), view.column_of(cell.column)
        if row is None or column is None:
            return None
        verb = "predicting" if self.label_mode == "predicted" and self.choice.kind != "encoder" else "reading"
        tokens = f"{verb}  {view.row_labels[row]} → {view.column_labels[column]}"
        return tokens, f"{self.value_name()} {view.weights[row, column]:.3f}"

    def marks_in_words(self) -> str:
        """What is pinned and picked; empty if nothing is."""
        pinned = self.describe(self.pinned) if self.pinned is not None else None
        total = self.row_sum()
        if total is not None:
            return total.sentence
        if pinned is not None:
            return f"Pinned: {' '.join(pinned[0].split())}, {pinned[1]}"
        return "What is picked is lit wherever it is a row or a column." if self.has_marks else ""
