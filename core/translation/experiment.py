"""An experiment: a sentence, its decoding method, and interventions. No torch here.

An `Experiment` contains everything that determines a `Translation`, except model and device. Its
interventions are independent of each other: each concerns a head, a feed-forward network, a row of
attention, a decoding step or a source word, and none of these twice. All counting starts at 0;
`display_text` counts from 1, for window and terminal.
"""

import itertools
import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar, get_args

from ..arguments import checks_arguments
from ..config.groups import MAX_LENGTH_PENALTY
from ..counting import Counted, Index, display_text
from ..errors import ConfigError, ExperimentError
from ..model.heads import ATTENTION_KINDS, SIDES, Head, HeadGroup, Network, SentenceChanges
from ..short_repr import ShortRepr
from ..text.phrases import phrase
from ..text.subwords import WORD_MARK

DEFAULT_LENGTH_PENALTY = 1.5
"""Default α of the length penalty, chosen for the bundled model: see `docs/model-notebook.md`.

Vaswani et al. 2017 took 0.6.
"""
MAX_BEAM = 100
MAX_FACTOR = 1_000.0
MIN_TEMPERATURE, MAX_TEMPERATURE = 0.01, 100.0
MAX_INDEX = 100_000
"""Maximum of a step, row or place: far above any model's number of positions."""
SHARES_TOLERANCE = 1e-9
_LONE_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")
"""Characters that a terminal or clipboard leaves in place of broken bytes."""

KindOfIntervention = TypeVar("KindOfIntervention")
AnyT = TypeVar("AnyT")


def check_beam(size: int, length_penalty: float) -> None:
    """Raises `ConfigError` for a beam or a length penalty that makes no sense."""
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MAX_BEAM:
        raise ConfigError(
            f"The beam size is {size!r}. Choose a whole number from 1 (greedy) to {MAX_BEAM}; 4 "
            "is usual, and above about 10 translations get slower but no better."
        )
    is_number = isinstance(length_penalty, int | float) and not isinstance(length_penalty, bool)
    # not-a-number fails this too
    if not is_number or not 0 <= length_penalty <= MAX_LENGTH_PENALTY:
        shown = f"{length_penalty:g}" if is_number else repr(length_penalty)
        raise ConfigError(
            f"The length penalty is {shown}. Choose a number from 0 (none) to "
            f"{MAX_LENGTH_PENALTY:g}; {DEFAULT_LENGTH_PENALTY:g} is usual."
        )


@dataclass(frozen=True)
class Greedy:
    """The most probable token at each step."""


@dataclass(frozen=True)
class Beam:
    """Beam search; see `core.translation.beam`.

    Attributes:
        size: number of partial translations kept at each step.
        length_penalty: α of Wu et al. 2016.

    Raises:
        ConfigError: one of them is out of range.
    """

    size: int
    length_penalty: float = DEFAULT_LENGTH_PENALTY

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", _whole(self.size))
        check_beam(self.size, self.length_penalty)


@dataclass(frozen=True)
class GivenTarget(ShortRepr):
    """A given translation, read by teacher forcing.

    Attributes:
        text: as people write it.
    """

    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", _as_text(self.text, "given translation"))


Output = Greedy | Beam | GivenTarget


@dataclass(frozen=True)
class SourceWordRemoved(Counted):
    """A source word is left out; the ids of all other words stay unchanged.

    Attributes:
        place: of the word in the sentence as typed.
    """

    place: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", _as_index(self.place, "place of a source word"))

    def text_from(self, first: int) -> str:
        """See `Counted`."""
        return phrase("change_removed", place=self.place + first)


@dataclass(frozen=True)
class SourceWordReplaced(ShortRepr, Counted):
    """Another word, or several, in place of a source word; the ids of all others stay unchanged.

    Attributes:
        place: of the word in the sentence as typed.
        text: the text read instead, or `<unk>` for the token of unknown words.
    """

    place: int
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", _as_index(self.place, "place of a source word"))
        object.__setattr__(
            self, "text", " ".join(_as_text(self.text, "replacement of a source word").split())
        )
        if not self.text:
            raise ExperimentError(
                "The replacement of source word {place} is empty. Enter a word, or remove the "
                "source word.",
                place=Index(self.place),
            )

    def text_from(self, first: int) -> str:
        """See `Counted`."""
        return phrase("change_replaced", place=self.place + first, text=self.text)


@dataclass(frozen=True)
class HeadScaled(Counted):
    """The output of a head is multiplied by a factor; 0 switches it off (Michel et al. 2019).

    Attributes:
        head: the head.
        factor: any finite number; 1 changes nothing.
    """

    head: Head
    factor: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "head", _as_head(self.head))
        object.__setattr__(self, "factor", _as_factor(self.factor, self.head))

    def text_from(self, first: int) -> str:
        """See `Counted`."""
        return _scaled_text(self.head.short_name.text_from(first), self.factor)

    @property
    def part(self) -> Head:
        """The head."""
        return self.head


@dataclass(frozen=True)
class FeedForwardScaled(Counted):
    """The output of a feed-forward network is multiplied by a factor before it is added.

    Attributes:
        network: the network.
        factor: any finite number; 0 switches the network off, 1 changes nothing.
    """

    network: Network
    factor: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "network", _as_network(self.network))
        object.__setattr__(self, "factor", _as_factor(self.factor, self.network))

    def text_from(self, first: int) -> str:
        """See `Counted`."""
        return _scaled_text(self.network.short_name.text_from(first), self.factor)

    @property
    def part(self) -> Network:
        """The network."""
        return self.network


@dataclass(frozen=True)
class AttentionRow(ShortRepr, Counted):
    """One row of attention weights that a head uses instead of those of its softmax.

    Attributes:
        head: the head.
        row: the position of the query: a source token for the encoder, a decoding step otherwise.
        weights: of each key that the query sees: all S source tokens, or the `row + 1` target
            tokens read so far (decoder). Given as any numbers of 0 or more, and scaled to sum to 1.

    Raises:
        ExperimentError: they are not weights, or not as many as a query of the decoder sees.
    """

    head: Head
    row: int
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "head", _as_head(self.head))
        object.__setattr__(self, "row", _as_index(self.row, "row"))
        object.__setattr__(self, "weights", shares_of(self.weights))
        if self.head.kind == "decoder" and len(self.weights) != self.row + 1:
            raise ExperimentError(
                "The row of step {row} in {head} has {count} weights. It needs one for each of "
                "the {needed} target tokens read so far.",
                row=Index(self.row),
                head=self.head,
                count=len(self.weights),
                needed=self.row + 1,
            )

    def text_from(self, first: int) -> str:
        """See `Counted`."""
        return phrase(
            "change_row", part=self.head.short_name.text_from(first), row=self.row + first
        )


@dataclass(frozen=True)
class SoftmaxTemperature(Counted):
    """The scores of a head are divided by a temperature before the softmax (Hinton et al. 2015).

    Attributes:
        head: the head.
        temperature: above 1 makes its weights more even, below 1 sharper; 1 changes nothing.
    """

    head: Head
    temperature: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "head", _as_head(self.head))
        object.__setattr__(self, "temperature", _as_float(self.temperature))
        # not-a-number fails this too
        if not MIN_TEMPERATURE <= self.temperature <= MAX_TEMPERATURE:
            raise ExperimentError(
                f"The softmax temperature of {{head}} is {self.temperature:g}. Choose a number "
                f"from {MIN_TEMPERATURE:g} to {MAX_TEMPERATURE:g}; 1 changes nothing.",
                head=self.head,
            )

    def text_from(self, first: int) -> str:
        """See `Counted`."""
        return phrase(
            "change_temperature",
            part=self.head.short_name.text_from(first),
            temperature=f"{self.temperature:g}",
        )


@dataclass(frozen=True)
class CausalMaskLifted(Counted):
    """Every query of the decoder's self-attention also sees later target tokens.

    This needs a given target: while the model chooses its tokens, there are no later ones. Rows of
    attention that are set stay unchanged, with weight 0 for later tokens.
    """

    def text_from(self, first: int) -> str:
        """See `Counted`."""
        return "causal mask lifted"


@dataclass(frozen=True)
class ForcedToken(ShortRepr, Counted):
    """A token that is set at a decoding step, independent of the model's choice.

    It may end the sentence.

    Attributes:
        step: the step.
        token: as in the target vocabulary.
    """

    step: int
    token: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "step", _as_index(self.step, "decoding step"))
        object.__setattr__(self, "token", _as_text(self.token, "forced token"))
        if not self.token:
            raise ExperimentError(
                "The forced token is empty. Name a token of the target vocabulary."
            )

    def text_from(self, first: int) -> str:
        """See `Counted`."""
        return phrase(
            "change_forced",
            step=self.step + first,
            token=self.token.replace(WORD_MARK, "") or self.token,
        )


Intervention = (
    SourceWordRemoved
    | SourceWordReplaced
    | HeadScaled
    | FeedForwardScaled
    | SoftmaxTemperature
    | AttentionRow
    | CausalMaskLifted
    | ForcedToken
)
INTERVENTION_TYPES: Final[tuple[type[Intervention], ...]] = get_args(Intervention)
SourceEdit = SourceWordRemoved | SourceWordReplaced
Scaling = HeadScaled | FeedForwardScaled
General = HeadScaled | FeedForwardScaled | SoftmaxTemperature
"""An intervention that fits every sentence."""
AnyIntervention = TypeVar("AnyIntervention", bound=Intervention)


def site_of(intervention: Intervention) -> tuple[int, ...]:
    """What an intervention changes; two with the same site exclude each other.

    Sites are ordered.
    """
    match intervention:
        case SourceWordRemoved(index) | SourceWordReplaced(index):
            return (0, index)
        case HeadScaled(head):
            return (1, *_order_of(head))
        case FeedForwardScaled(network):
            return (2, SIDES.index(network.side), network.layer)
        case SoftmaxTemperature(head):
            return (3, *_order_of(head))
        case AttentionRow(head, row):
            return (4, *_order_of(head), row)
        case CausalMaskLifted():
            return (5,)
        case ForcedToken(step):
            return (6, step)


def factors_of(scalings: Iterable[Scaling]) -> dict[Head | Network, float]:
    """The factor of each head and network that is scaled or off."""
    return {change.part: change.factor for change in scalings}


def scaling(part: Head | Network, factor: float = 0.0) -> Scaling:
    """The intervention that multiplies the output of a head or network by a factor."""
    return HeadScaled(part, factor) if isinstance(part, Head) else FeedForwardScaled(part, factor)


def in_groups(
    interventions: Iterable[Intervention], heads: Sequence[Head]
) -> tuple[tuple[str, tuple[Intervention, ...]], ...]:
    """Texts for window and terminal, each with its interventions.

    The heads of a group with the same factor have one text, and so have the forced pieces of a
    word. All count from 1.

    Args:
        interventions: any; each is in one of the groups.
        heads: all heads of the model.
    """
    entries: dict[tuple[int, ...], tuple[str, tuple[Intervention, ...]]] = {}
    left = list(interventions)
    by_head = {
        intervention.head: intervention
        for intervention in interventions
        if isinstance(intervention, HeadScaled)
    }
    scaled = [by_head[head] for head in heads if head in by_head]
    for group in _groups_of(heads) if scaled else ():
        members = [change for change in scaled if change.head in group]
        rest = tuple(member for member in members if member in left)
        is_complete = len(members) == sum(head in group for head in heads) > 1
        if rest and is_complete and len({member.factor for member in members}) == 1:
            entries[site_of(rest[0])] = (_scaled_text(display_text(group), members[0].factor), rest)
            left = [intervention for intervention in left if intervention not in rest]
    entries |= {site_of(word[0]): (_text_of(word), word) for word in _forced_words(left)}
    return tuple(entries[site] for site in sorted(entries))


def _forced_words(interventions: Iterable[Intervention]) -> list[tuple[Intervention, ...]]:
    """Each alone, but forced tokens together that continue the word of the one before."""
    words: list[tuple[Intervention, ...]] = []
    for intervention in sorted(interventions, key=site_of):
        word = words[-1] if words else ()
        first, last = (word[0], word[-1]) if word else (None, None)
        if (
            isinstance(intervention, ForcedToken)
            and isinstance(first, ForcedToken)
            and isinstance(last, ForcedToken)
            and intervention.step == last.step + 1
            and first.token.startswith(WORD_MARK)
            and not intervention.token.startswith((WORD_MARK, "<"))
        ):
            words[-1] = (*word, intervention)
        else:
            words.append((intervention,))
    return words


def _text_of(word: tuple[Intervention, ...]) -> str:
    pieces = [piece for piece in word if isinstance(piece, ForcedToken)]
    if len(pieces) < 2:
        return display_text(word[0])
    text = "".join(piece.token for piece in pieces).replace(WORD_MARK, "")
    return phrase(
        "change_forced_word", first=pieces[0].step + 1, last=pieces[-1].step + 1, token=text
    )


def _groups_of(heads: Sequence[Head]) -> list[HeadGroup]:
    """The groups that these heads belong to: kinds, then layers, then columns."""
    kinds = dict.fromkeys(head.kind for head in heads)
    layers = dict.fromkeys((head.kind, head.layer) for head in heads)
    columns = dict.fromkeys((head.kind, head.head) for head in heads)
    return [
        *(HeadGroup(kind) for kind in kinds),
        *(HeadGroup(kind, layer) for kind, layer in layers),
        *(HeadGroup(kind, None, column) for kind, column in columns),
    ]


def in_canonical_order(interventions: Iterable[AnyIntervention]) -> tuple[AnyIntervention, ...]:
    """Sorts interventions: source words, heads, networks, temperatures, rows, the mask, steps.

    Raises `ExperimentError` if two change the same thing.
    """
    ordered = tuple(sorted(interventions, key=site_of))
    for first, second in itertools.pairwise(ordered):
        if site_of(first) == site_of(second):
            raise ExperimentError(
                "Two interventions change the same thing: “{one}” and “{other}”. Remove one of "
                "them.",
                one=first,
                other=second,
            )
    return ordered


@checks_arguments
@dataclass(frozen=True)
class Experiment(ShortRepr):
    """Everything that determines a translation, except model and device.

    Attributes:
        source_text: as typed.
        output: the decoding method, or a given target.
        interventions: sorted: source words, heads, networks, temperatures, rows, the mask, steps.

    Raises:
        ExperimentError: two interventions change the same thing; a token is forced while the target
            is given, or the causal mask lifted while it is not; or source text, output or an
            intervention has another type.
    """

    source_text: str
    output: Output = field(default_factory=Greedy)
    interventions: tuple[Intervention, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "source_text", _as_text(self.source_text, "source text"))
        if not isinstance(self.output, Greedy | Beam | GivenTarget):
            raise ExperimentError(
                f"The output is {self.output!r}. Use Greedy(), Beam(size) or GivenTarget(text), "
                "and pass interventions by name: interventions=(…)."
            )
        interventions = _as_tuple(self.interventions, "interventions are")
        for index, intervention in enumerate(interventions):
            if not isinstance(intervention, INTERVENTION_TYPES):
                names = ", ".join(known.__name__ for known in INTERVENTION_TYPES)
                raise ExperimentError(
                    "Intervention {index} is {value}. Use one of {names}.",
                    index=Index(index),
                    value=repr(intervention),
                    names=names,
                )
        object.__setattr__(self, "interventions", in_canonical_order(interventions))
        if isinstance(self.output, GivenTarget) and self.forced:
            raise ExperimentError(
                "A token is forced (“{forced}”) while the whole translation is given. Remove the "
                "forced token, or let the model translate.",
                forced=self.forced[0],
            )
        if self.lifts_mask and not isinstance(self.output, GivenTarget):
            raise ExperimentError(
                "The causal mask can only be lifted for a given translation: while the model "
                "chooses tokens, there are no later ones to see. Give a translation, or keep the "
                "mask."
            )

    @property
    def baseline(self) -> "Experiment":
        """The same sentence and output with nothing changed."""
        return replace(self, interventions=()) if self.interventions else self

    @property
    def source_edits(self) -> tuple[SourceEdit, ...]:
        """Words that are removed or replaced, from first to last."""
        return tuple(
            intervention
            for intervention in self.interventions
            if isinstance(intervention, SourceWordRemoved | SourceWordReplaced)
        )

    @property
    def scalings(self) -> tuple[Scaling, ...]:
        """Heads and feed-forward networks whose output is scaled or switched off."""
        return (*self._of_type(HeadScaled), *self._of_type(FeedForwardScaled))

    @property
    def temperatures(self) -> tuple[SoftmaxTemperature, ...]:
        """Heads with another softmax temperature."""
        return self._of_type(SoftmaxTemperature)

    @property
    def general(self) -> tuple[General, ...]:
        """Interventions that fit every sentence: changes to whole heads and networks."""
        return (*self.scalings, *self.temperatures)

    @property
    def lifts_mask(self) -> bool:
        """Whether the causal mask of the decoder is lifted."""
        return bool(self._of_type(CausalMaskLifted))

    @property
    def attention_rows(self) -> tuple[AttentionRow, ...]:
        """Rows of attention that are set."""
        return self._of_type(AttentionRow)

    @property
    def forced(self) -> tuple[ForcedToken, ...]:
        """Tokens that are forced, from the first step to the last."""
        return self._of_type(ForcedToken)

    @property
    def heads_off(self) -> frozenset[Head]:
        """The heads that are switched off."""
        return frozenset(change.head for change in self._of_type(HeadScaled) if change.factor == 0)

    @property
    def networks_off(self) -> frozenset[Network]:
        """The feed-forward networks that are switched off."""
        return frozenset(
            change.network for change in self._of_type(FeedForwardScaled) if change.factor == 0
        )

    @property
    def changes(self) -> SentenceChanges:
        """The changes in the model's passes over the sentence."""
        return SentenceChanges(
            factors_of(self.scalings),
            {(row.head, row.row): row.weights for row in self.attention_rows},
            {temperature.head: temperature.temperature for temperature in self.temperatures},
            self.lifts_mask,
        )

    def _of_type(self, kind: type[KindOfIntervention]) -> tuple[KindOfIntervention, ...]:
        return tuple(
            intervention for intervention in self.interventions if isinstance(intervention, kind)
        )

    def with_interventions(self, *added: Intervention) -> "Experiment":
        """The experiment with these interventions, which replace those of the same sites.

        Raises:
            ExperimentError: two of those added change the same thing, a token would be forced in a
                given target, or the causal mask lifted without one.
        """
        sites = {site_of(intervention) for intervention in added}
        others = (
            intervention
            for intervention in self.interventions
            if site_of(intervention) not in sites
        )
        return replace(self, interventions=(*others, *added))

    def without(self, *removed: Intervention) -> "Experiment":
        """The experiment without these interventions; missing ones are ignored."""
        return replace(
            self,
            interventions=tuple(
                intervention for intervention in self.interventions if intervention not in removed
            ),
        )

    def edited(self, source_text: str) -> "Experiment":
        """The experiment with another sentence.

        Changes to whole heads and networks stay; those to words, rows and steps are lost.
        A given target belongs to its sentence too: the model translates the new one greedily.
        """
        output = Greedy() if isinstance(self.output, GivenTarget) else self.output
        return Experiment(source_text, output, self.general)


def shares_of(weights: Sequence[float]) -> tuple[float, ...]:
    """Weights scaled to sum to 1. Weights that already do so stay unchanged, to the last bit.

    Raises:
        ExperimentError: they are not numbers of 0 or more, at least one of them above 0.
    """
    values = [_as_float(weight) for weight in _as_tuple(weights, "weights of the row are")]
    if not all(math.isfinite(value) and value >= 0 for value in values):
        raise ExperimentError(
            "A weight of the row is negative or not a number. Use numbers of 0 or more."
        )
    largest = max(values, default=0.0)
    if largest == 0:
        raise ExperimentError(
            "All weights of the row are 0. Give some weight to at least one token."
        )
    if largest <= 1 and abs(math.fsum(values) - 1) <= SHARES_TOLERANCE:
        return tuple(values)
    scaled = [value / largest for value in values]  # first to at most 1, so that no sum overflows
    total = math.fsum(scaled)
    return tuple(value / total for value in scaled)


def _order_of(head: Head) -> tuple[int, int, int]:
    return (ATTENTION_KINDS.index(head.kind), head.layer, head.head)


def _as_float(number: float) -> float:
    """The number; a whole one that no float can hold becomes infinite, and is refused like that."""
    if isinstance(number, str | bytes | bool):
        raise ExperimentError(f"{number!r} is not a number.")
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
    except (TypeError, ValueError) as error:
        raise ExperimentError(f"{number!r} is not a number.") from error


def _as_factor(factor: float, part: Head | Network) -> float:
    factor = _as_float(factor)
    if not abs(factor) <= MAX_FACTOR:  # not-a-number fails this too
        name, what = ("{part}", "head") if isinstance(part, Head) else ("the {part}", "network")
        raise ExperimentError(
            f"The factor of {name} is {factor:g}. Choose a number from {-MAX_FACTOR:g} to "
            f"{MAX_FACTOR:g}; 0 switches the {what} off.",
            part=part,
        )
    return factor


def _scaled_text(part: str, factor: float) -> str:
    return phrase("change_scaled" if factor else "change_off", part=part, factor=f"{factor:g}")


def _as_tuple(values: Iterable[AnyT], subject: str) -> tuple[AnyT, ...]:
    if not isinstance(values, Iterable):
        raise ExperimentError(
            f"The {subject} {values!r}. Use a list or tuple, for a single one too."
        )
    return tuple(values)


def _as_index(index: int, name: str) -> int:
    number = _whole(index)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MAX_INDEX:
        raise ExperimentError(
            f"The {name} is {index!r}. Use a whole number from 0 to {MAX_INDEX:,}."
        )
    return number


def _whole(number: int) -> int:
    """NumPy's whole numbers as Python's; anything else unchanged."""
    if isinstance(number, bool):
        return number
    try:
        return operator.index(number)
    except TypeError:
        return number


def _as_text(text: str, name: str) -> str:
    if not isinstance(text, str):
        raise ExperimentError(f"The {name} is {text!r}. Use text.")
    return writable(text)


def writable(text: str) -> str:
    """The text with a replacement for lone surrogates, which tokenizers and files refuse."""
    return text.translate(_LONE_SURROGATES)


def _as_head(head: Head) -> Head:
    if not isinstance(head, Head):
        raise ExperimentError(f"The head is {head!r}. Use Head(kind, layer, head).")
    return Head(
        head.kind, _as_index(head.layer, "layer of a head"), _as_index(head.head, "head of a layer")
    )


def _as_network(network: Network) -> Network:
    if not isinstance(network, Network):
        raise ExperimentError(f"The feed-forward network is {network!r}. Use Network(side, layer).")
    return Network(network.side, _as_index(network.layer, "layer of a feed-forward network"))
