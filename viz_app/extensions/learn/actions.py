"""Changes that chapters make to the experiment: on entry, by a button, after a prediction.

No Qt.
"""

import random
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from augenmerk.core.maps.roles import ROLES
from augenmerk.core.maps.selection import LABEL_MODES
from augenmerk.core.model.heads import ATTENTION_KINDS, Head, Network, heads_in, networks_of
from augenmerk.core.translation.experiment import (
    CausalMaskLifted,
    FeedForwardScaled,
    GivenTarget,
    HeadScaled,
    SourceWordRemoved,
)
from augenmerk.core.translation.result import Translation

from ...state import experiment_editor
from ...state.experiment_state import ExperimentState
from ...state.head_roles import clarity, clearest_head
from ...state.map_view import Pair
from ...state.map_view_settings import SHOWN_MAPS
from ..rows import moving
from .sentence import OwnSentence
from .values import pair_tokens, place_to_remove, unsure_step

NEARLY = 0.95
"""Weights of at least this share of the largest are nearly as large."""


def choose_head(state: ExperimentState, value: str) -> None:
    """Chooses a head; see `find_head`."""
    if (head := find_head(state, value)) is not None:
        state.intents.choose_head(head)


def switch_off(state: ExperimentState, value: str) -> None:
    """Switches a head off (see `find_head`), or all heads of a kind, such as `cross`."""
    heads = [head for head in state.maps.all_heads if head.kind == value]
    if not heads and (head := find_head(state, value)) is not None:
        heads = [head]
    state.submit(experiment_editor.intervene(*map(HeadScaled, heads)))


def move_row(state: ExperimentState, value: str) -> None:
    """Gives all weight of a row of the chosen head to one key, and pins this cell.

    Args:
        state: the experiment.
        value: the tokens that name the row and the key, such as `with:im`; `pinned` for the pinned
            cell.
    """
    translation = state.translation
    head = state.selection.head
    pair = state.selection.pinned
    if translation is None:
        return
    if value != "pinned":
        queries, keys = pair_tokens(translation, head.kind)
        query, _, key = value.partition(":")
        pair = (
            Pair(queries.index(query), keys.index(key))
            if query in queries and key in keys
            else None
        )
    if pair is not None and (head.kind != "decoder" or pair.key <= pair.query):
        state.selection.pinned = pair
        num_keys = translation.maps.of_kind(head.kind).shape[-1]
        state.submit(moving.move_row(head, pair.query, pair.key, num_keys))


def find_networks(state: ExperimentState, value: str) -> tuple[Network, ...]:
    """The feed-forward networks of a side, such as `decoder`; of one layer for `decoder:1`."""
    if state.model is None:
        return ()
    side, _, number = value.partition(":")
    networks = networks_of(state.model.run.model)
    return tuple(
        network
        for network in networks
        if network.side == side and number in ("", str(network.layer + 1))
    )


def switch_networks_off(state: ExperimentState, value: str) -> None:
    """Switches feed-forward networks off; see `find_networks`."""
    state.submit(experiment_editor.intervene(*map(FeedForwardScaled, find_networks(state, value))))


def pin(state: ExperimentState, value: str) -> None:
    """`strongest`: the largest weight of the chosen head between real tokens; `row`: that set by
    hand; or `none`.
    """
    if value == "row" and (rows := state.experiment.attention_rows):
        state.selection.pinned = Pair(rows[-1].row, int(np.argmax(rows[-1].weights)))
        return
    translation = state.translation if value == "strongest" else None
    state.selection.pinned = (
        strongest_pair(translation, state.selection.head) if translation is not None else None
    )


def pin_with_result(state: ExperimentState, pair: Pair | None) -> None:
    """Pins a cell of the awaited result, or now if none is awaited; None changes nothing.

    The result would move or drop a pin of the maps before it.
    """
    if pair is not None and state.request.is_running:
        state.intents.pin_with_next_result(pair)
    elif pair is not None:
        state.selection.pinned = pair


def type_text(state: ExperimentState, value: str) -> None:
    """Shows another sentence, without the changes to the one before."""
    reset(state, "")
    state.submit(experiment_editor.edit_text(value))


def shuffle_words(state: ExperimentState, value: str) -> None:
    """Shuffles the words of the sentence; see `shuffled`."""
    state.submit(experiment_editor.edit_text(shuffled(state.experiment.source_text, value)))


def set_temperature(state: ExperimentState, value: str) -> None:
    """Sets the softmax temperature of the chosen head; 1 is the original."""
    state.submit(experiment_editor.temper(state.selection.head, float(value)))


def give_own_translation(state: ExperimentState, value: str) -> None:
    """Forces the model's own translation instead of decoding word by word."""
    if state.original is not None and not isinstance(state.experiment.output, GivenTarget):
        state.submit(experiment_editor.set_output(GivenTarget(state.original.text)))


def lift_mask(state: ExperimentState, value: str) -> None:
    """Lifts the causal mask, with the model's own translation forced."""
    give_own_translation(state, "")
    if isinstance(state.experiment.output, GivenTarget):
        state.submit(experiment_editor.intervene(CausalMaskLifted()))


def remove_word(state: ExperimentState, value: str) -> None:
    """Removes a word from the sentence; the translation of the whole sentence is forced."""
    index = place_to_remove(state.original) if state.original is not None else None
    if index is not None:
        give_own_translation(state, "")
        state.submit(experiment_editor.intervene(SourceWordRemoved(index)))


def force_second(state: ExperimentState, value: str) -> None:
    """Forces the second-best token where the model is least certain."""
    if state.original is not None and (step := unsure_step(state.original)) is not None:
        state.submit(experiment_editor.force(step, state.original.alternatives[step][1].entry))


def show_maps(state: ExperimentState, value: str) -> None:
    """`original`, `changed` or `difference`."""
    state.settings.shown = next(shown for shown in SHOWN_MAPS if shown == value)


def name_rows(state: ExperimentState, value: str) -> None:
    """Rows of decoder and cross maps are named by the token `read` or `predicted`."""
    state.settings.label_mode = next(mode for mode in LABEL_MODES if mode == value)


def reset(state: ExperimentState, value: str) -> None:
    """Resets all changes, including a forced translation and the pin of a row set by hand."""
    pinned, changed = state.selection.pinned, state.experiment.attention_rows
    if pinned and (state.selection.head, pinned.query) in ((row.head, row.row) for row in changed):
        state.selection.pinned = None
    state.submit(experiment_editor.reset)


ACTIONS: Final[dict[str, Callable[[ExperimentState, str], None]]] = {
    "head": choose_head,
    "off": switch_off,
    "network-off": switch_networks_off,
    "pin": pin,
    "text": type_text,
    "shuffle": shuffle_words,
    "temperature": set_temperature,
    "row": move_row,
    "given": give_own_translation,
    "lift-mask": lift_mask,
    "remove-word": remove_word,
    "force": force_second,
    "shown": show_maps,
    "rows": name_rows,
    "reset": reset,
}
VIEW_ACTIONS = frozenset({"head", "pin", "shown", "rows"})
"""Those that change how a result is shown, not the experiment."""


class ChapterActions:
    """Performs the actions of a chapter; sentences that they show do not become the reader's."""

    def __init__(self, state: ExperimentState, own: OwnSentence) -> None:
        self._state, self._own = state, own
        self._left: dict[str, str] = {}

    def perform(self, actions: Mapping[str, str]) -> None:
        """Performs the listed actions in order, skipping unknown names.

        Heads and cells cannot be found in maps that an earlier action has just replaced: `go_on`
        does the rest.
        """
        self._left = dict(actions)
        with self._own.trying():
            for name, value in actions.items():
                if self._state.request.is_running and _is_found_in_maps(name, value):
                    return
                del self._left[name]
                if name in ACTIONS:
                    ACTIONS[name](self._state, value)

    def go_on(self) -> None:
        """Performs the remaining actions on a new result."""
        if self._left:
            self.perform(self._left)

    def forget(self) -> None:
        """Drops the remaining actions."""
        self._left = {}


def _is_found_in_maps(name: str, value: str) -> bool:
    """True if the action searches the result for a head or a cell."""
    if name in ("row", "pin"):
        return value != "none"
    return name in ("head", "off") and value != "chosen" and value.count(":") < 2


def shuffled(text: str, seed: str) -> str:
    """The words of a text in another order, always the same for a seed; the last sign stays at the
    end.
    """
    sign = text[-1:] if text[-1:] in ".!?" else ""
    words = text.removesuffix(sign).split() if sign else text.split()
    if len(set(words)) < 2:
        return text
    order = list(words)
    generator = random.Random(seed)
    while order == words:
        generator.shuffle(order)
    return " ".join(order) + sign


def find_head(state: ExperimentState, name: str) -> Head | None:
    """The head of this name; None if the model has no such head.

    Args:
        state: provides the maps. The search uses those without interventions, so that it always
            finds the same head.
        name: `kind:layer:head`, counted from 1; `chosen`; `clearest`, of the cross-attention; or a
            role such as `aligner` or, of one kind, `encoder:previous`, for the clearest head with
            this role.
    """
    translation = state.original
    if translation is None:
        return None
    if name == "chosen":
        return state.selection.head
    if name == "clearest":
        return Head("cross", *clearest_head(translation.maps.cross))
    role = name.rpartition(":")[2]
    if role in ROLES:
        kinds = [kind for kind in ATTENTION_KINDS if name in (role, f"{kind}:{role}")]
        clarities = {kind: clarity(translation.maps.of_kind(kind)) for kind in kinds}
        heads = [head for kind in kinds for head in heads_in(kind, *clarities[kind].shape)]
        return max(
            (head for head in heads if state.roles.of(head) == role),
            key=lambda head: clarities[head.kind][head.layer, head.head],
            default=None,
        )
    kind, layer, head = name.split(":")
    named = Head(
        next(known for known in ATTENTION_KINDS if known == kind), int(layer) - 1, int(head) - 1
    )
    num_layers, num_heads = state.maps.shape(named.kind)
    return named if named.layer < num_layers and named.head < num_heads else None


def strongest_pair(translation: Translation, head: Head) -> Pair:
    """A query and key with a large weight in a head, without start and end if there are others.

    Of the weights nearly as large as the largest, it is that of the longest query: articles say
    little.
    """
    weights = translation.maps.of_kind(head.kind)[head.layer, head.head].copy()
    num_queries, num_keys = weights.shape
    if num_queries > 2 and num_keys > 2:
        weights[-1] = -1  # the end token rarely depends on a particular token
        weights[:, 0] = -1
        weights[:, -1] = -1
        if head.kind == "encoder":
            weights[0] = -1
    queries = translation.source_tokens if head.kind == "encoder" else translation.predicted_tokens
    pairs = [
        Pair(int(query), int(key)) for query, key in np.argwhere(weights >= NEARLY * weights.max())
    ]
    return max(
        pairs, key=lambda pair: (len(queries[pair.query]), float(weights[pair.query, pair.key]))
    )
