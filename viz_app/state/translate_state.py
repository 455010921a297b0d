"""What the Translate page knows: which head is chosen, how its rows are read, which result is awaited and shown."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.model.heads import Head
from core.translation.result import MAP_KINDS, FloatArray, MapKind, Translation, Word
from viz_app.state.switchboard import Switchboard

LabelMode = Literal["read", "predicted"]
Scale = Literal["shared", "own"]
Direction = Literal["left", "right", "up", "down", "first", "last"]

START_AND_END = ("<sos>", "<eos>")
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


@dataclass(frozen=True)
class Cell:
    """A query and a key, as indices into a whole map (hidden rows and columns counted)."""

    row: int
    column: int


@dataclass(frozen=True, eq=False)
class MapView:
    """What the large heatmap shows: one map, perhaps without its wrapping tokens.

    Attributes:
        weights: [rows, columns], as they are in the whole map: hiding a column does not rescale the others.
        row_labels, column_labels: one token each.
        rows, columns: index of each in the whole map.
        hidden_share: the part of the shown rows' attention that goes to hidden columns, from 0 to 1.
    """

    weights: FloatArray
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    hidden_share: float


class TranslateState:
    """Selection and result of the Translate page.

    Attributes:
        choice: the chosen head.
        was_chosen: whether a person chose it; if not, the first translation of a model picks one that shows something.
        label_mode: whether a decoder row is named by the token read or by the token predicted there.
        scale: "shared": colours run from 0 to 1 everywhere; "own": up to each map's own maximum.
        hides_wrapping: whether start and end tokens are left out of the large heatmap.
        translation: what is shown, or None.
        awaited_id: id of the newest request, None if its answer has come.
        languages: what source and target are called in sentences: "German" and "English".
        hovered, pinned: cells of the large heatmap.
        highlighted_word: a word of the translation that the mouse or a click picked out.
        switchboard: which heads are off, and what that did.
    """

    def __init__(self) -> None:
        self.choice = HeadChoice("cross", 0, 0)
        self.was_chosen = False
        self._has_picked = False
        self.label_mode: LabelMode = "read"
        self.scale: Scale = "shared"
        self.hides_wrapping = False
        self.languages = ("German", "English")
        self.translation: Translation | None = None
        self.awaited_id: int | None = None
        self.hovered: Cell | None = None
        self.pinned: Cell | None = None
        self.highlighted_word: Word | None = None
        self.switchboard = Switchboard()

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
        self.translation = translation
        self.switchboard.forget_effect()
        self.hovered = self.pinned = self.highlighted_word = None
        if not (self.was_chosen or self._has_picked):
            self.choice = HeadChoice("cross", *clearest_head(translation.maps.cross))
            self._has_picked = True
        num_layers, num_heads = self.shape(self.choice.kind)
        self.choice = replace(
            self.choice, layer=min(self.choice.layer, num_layers - 1), head=min(self.choice.head, num_heads - 1)
        )

    def begin_model(self, source: str, target: str) -> None:
        """Another model answers from now on, between these two languages."""
        self.languages = (source, target)
        self.switchboard.reset()
        self._has_picked = False

    def clear(self) -> None:
        """Shows nothing and awaits nothing."""
        self.translation = self.awaited_id = None
        self.switchboard.forget_effect()
        self.hovered = self.pinned = self.highlighted_word = None

    def choose(self, choice: HeadChoice) -> None:
        """Chooses a head. A pinned cell stays pinned within the same kind of map."""
        if choice.kind != self.choice.kind:
            self.pinned = None
        self.hovered = None
        self.choice, self.was_chosen = choice, True

    def is_off(self, choice: HeadChoice) -> bool:
        """Whether a head is switched off."""
        return choice in self.switchboard.off

    def move(self, direction: Direction) -> bool:
        """Walks to a neighbouring head, or up and down through layers and on through the kinds. False at an edge."""
        if self.translation is None:
            return False
        stops = [(kind, layer) for kind in MAP_KINDS for layer in range(self.shape(kind)[0])]
        here = stops.index((self.choice.kind, self.choice.layer))
        num_heads = self.shape(self.choice.kind)[1]
        head = {"left": self.choice.head - 1, "right": self.choice.head + 1, "first": 0, "last": num_heads - 1}.get(
            direction, self.choice.head
        )
        stop = here + {"up": -1, "down": 1}.get(direction, 0)
        if not (0 <= stop < len(stops) and 0 <= head < num_heads):
            return False
        self.choose(HeadChoice(*stops[stop], head))
        return True

    def shape(self, kind: MapKind) -> tuple[int, int]:
        """Number of layers and of heads of one kind; zeros while nothing is shown."""
        if self.translation is None:
            return 0, 0
        num_layers, num_heads = self.translation.maps.of_kind(kind).shape[:2]
        return num_layers, num_heads

    def top_weight(self, weights: FloatArray) -> float:
        """The weight that gets the last colour."""
        return 1.0 if self.scale == "shared" else float(weights.max(initial=0.0)) or 1.0

    def view(self) -> MapView | None:
        """The chosen map with its labels; None while nothing is shown."""
        if self.translation is None:
            return None
        weights = self.translation.maps.of_kind(self.choice.kind)[self.choice.layer, self.choice.head]
        row_labels, column_labels = self.row_labels(), self.column_labels()
        rows = self._shown(row_labels, self._wrapping_rows())
        columns = self._shown(column_labels, self._wrapping_columns())
        shown_rows = weights[list(rows)]
        mass = float(shown_rows.sum())
        kept = shown_rows[:, list(columns)]
        return MapView(
            weights=kept,
            row_labels=tuple(row_labels[row] for row in rows),
            column_labels=tuple(column_labels[column] for column in columns),
            rows=rows,
            columns=columns,
            hidden_share=1.0 - float(kept.sum()) / mass if mass > 0 else 0.0,
        )

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
        """A cell in two lines: the tokens and the weight. None if there is no such cell."""
        if self.translation is None:
            return None
        weights = self.translation.maps.of_kind(self.choice.kind)[self.choice.layer, self.choice.head]
        if not (cell.row < weights.shape[0] and cell.column < weights.shape[1]):
            return None
        verb = "predicting" if self.label_mode == "predicted" and self.choice.kind != "encoder" else "reading"
        tokens = f"{verb}  {self.row_labels()[cell.row]} → {self.column_labels()[cell.column]}"
        return tokens, f"weight {weights[cell.row, cell.column]:.3f}"

    def rows_of_word(self, word: Word) -> tuple[int, ...]:
        """The rows in which a word of the translation is read, or predicted; none in encoder maps."""
        if self.translation is None or self.choice.kind == "encoder":
            return ()
        shift = 1 if self.label_mode == "read" else 0
        num_rows = len(self.translation.read_tokens)
        return tuple(row for row in range(word.start + shift, word.end + shift) if row < num_rows)

    def word_of_row(self, row: int) -> Word | None:
        """The word of the translation that a row stands for, if any."""
        if self.translation is None:
            return None
        return next((word for word in self.translation.target_words if row in self.rows_of_word(word)), None)

    def _wrapping_rows(self) -> set[int]:
        assert self.translation is not None
        if self.choice.kind == "encoder":
            return self._wrapping_source()
        return _wrapping(self.row_labels())

    def _wrapping_columns(self) -> set[int]:
        return _wrapping(self.column_labels()) if self.choice.kind == "decoder" else self._wrapping_source()

    def _wrapping_source(self) -> set[int]:
        """Source positions that belong to no word."""
        assert self.translation is not None
        inside = {position for word in self.translation.source_words for position in range(word.start, word.end)}
        return set(range(len(self.translation.source_tokens))) - inside

    def _shown(self, labels: tuple[str, ...], wrapping: set[int]) -> tuple[int, ...]:
        """What is left after hiding; everything, if nothing would be left."""
        everything = tuple(range(len(labels)))
        if not self.hides_wrapping:
            return everything
        return tuple(index for index in everything if index not in wrapping) or everything


def _wrapping(labels: tuple[str, ...]) -> set[int]:
    """The start or end token among target tokens; the copy task has none, its start symbol is part of the answer."""
    return {index for index in (0, len(labels) - 1) if labels and labels[index] in START_AND_END}


def clearest_head(maps: FloatArray) -> tuple[int, int]:
    """Layer and head, from 0, that point with large weights at many different columns. `maps` is [L, H, T, S]."""
    strength: NDArray[np.float64] = maps.max(axis=-1).mean(axis=-1, dtype=np.float64)
    targets = maps.argmax(axis=-1)
    num_layers, num_heads, num_rows = targets.shape
    variety = np.array(
        [[len(set(targets[layer, head].tolist())) for head in range(num_heads)] for layer in range(num_layers)]
    )
    best = int((strength * variety / max(num_rows, 1)).argmax())
    return best // num_heads, best % num_heads
