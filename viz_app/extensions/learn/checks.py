"""Answers to the questions of chapters, computed from the current model and sentence. No Qt."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from psygnal import Signal

from augenmerk.core.counting import display_text
from augenmerk.core.extensions.info.size import (
    Module,
    SizeRow,
    preset_vocabulary_sizes,
    size_rows,
    total,
)
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.model.heads import Head
from augenmerk.core.quantities import counted, number, percent_in_words
from augenmerk.core.translation.experiment import (
    CausalMaskLifted,
    Experiment,
    FeedForwardScaled,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    Intervention,
    SoftmaxTemperature,
    SourceWordRemoved,
)
from augenmerk.core.translation.result import Translation

from ...state.experiment_state import ExperimentState, pair_in
from ...state.head_roles import role_in_words
from ...state.map_view import Pair
from ...state.sentence_text import elided
from ...worker.jobs import Job
from ..weights.explanation import SUPERSCRIPT
from ..words.jobs import LensJob
from .actions import find_networks, shuffled, strongest_pair
from .job import RunJob, Smoothing, SmoothingJob
from .values import place_to_remove, unsure_step

if TYPE_CHECKING:  # torch belongs to the worker thread
    from augenmerk.core.extensions.analyses.logit_lens import LogitLens

MANY_TIMES = 1e6
LONGEST_EXPLANATION = 165
"""Characters of the longest explanation of a verdict: quotes are shortened to fit."""
SAME_LOG_RATIO = math.log(1.05)
"""Probabilities this near to each other, in nats, are “about as probable” in words: their ratio is
written as 1.0."""
SAME_WEIGHT, SAME_LOG_PROBABILITY, SAME_LOSS = 0.005, 0.01, 0.001


@dataclass(frozen=True)
class Question:
    """The subject of a question, in the translation without changes.

    Attributes:
        options: of the question, by name.
        text: the sentence.
        head: the chosen head; None if the question is about no head.
        pinned: a query and a key of its map; None if the question is about none.
    """

    options: Mapping[str, str]
    text: str = ""
    head: Head | None = None
    pinned: Pair | None = None

    def following(self, state: ExperimentState, about: frozenset[str]) -> "Question":
        """The question about the sentence and head shown; `about` as in `Check`.

        The pair follows the pinned one only while nothing is changed. A change can reorder or
        replace the words, and the question keeps its word.
        """
        result = state.result
        shown = state.maps.translation
        head = state.selection.head
        if result is None or shown is None:
            return self
        original = result.original
        now = replace(self, text=original.source_text, head=head if "head" in about else None)
        if "query" not in about or (now == self and result.is_changed and self.pinned is not None):
            return now
        pinned = state.selection.pinned
        if pinned is not None:
            pinned = pair_in(original, shown, head.kind, pinned, state.settings.label_mode)
        return replace(now, pinned=pinned or strongest_pair(original, head))


@dataclass(frozen=True)
class Verdict:
    """The answer to a question.

    Attributes:
        choice: the name of the right choice.
        because: the numbers for it, in whole sentences.
        pinned: the cell that the numbers are about, in the maps of the change; None if they are
            about no cell.
    """

    choice: str
    because: str
    pinned: Pair | None = None


@dataclass(frozen=True)
class Check:
    """The computation of one answer.

    Attributes:
        choices: the names of all possible answers; a question offers each of them.
        judge: returns the verdict from the job's result (None without a job).
        ask: returns the job for the model; None if the displayed result suffices.
        about: the values that the answer depends on besides the sentence: `head`, `query`.
        is_about_sentence: whether it depends on the sentence.
    """

    choices: frozenset[str]
    judge: Callable[[ExperimentState, Question, Any], Verdict]
    ask: Callable[[ExperimentState, Question], Job | None] = lambda state, question: None
    about: frozenset[str] = frozenset()
    is_about_sentence: bool = True


class GivenAnswers:
    """The questions answered so far; figures that would reveal an answer wait for it.

    Signals (psygnal):
        changed(): another question was answered.
    """

    changed = Signal()

    def __init__(self) -> None:
        self._given: set[tuple[str, str]] = set()

    def give(self, check: str, text: str) -> None:
        """Records that the reader answered the question named `check` about a sentence."""
        self._given.add((check, text))
        self.changed.emit()

    def has(self, check: str, text: str | None = None) -> bool:
        """True if a question was answered about this sentence; about any if `text` is None."""
        return any(answered == check and text in (None, about) for answered, about in self._given)


def _direction(change: float, same: float) -> str:
    """“rises”, “falls”, or for at most a change of `same`, “stays”."""
    if change > same:
        return "rises"
    return "falls" if change < -same else "stays"


def _original_and(state: ExperimentState, *changes: Intervention) -> RunJob:
    """The sentence without and with these interventions."""
    baseline = state.experiment.baseline
    return RunJob((baseline, baseline.with_interventions(*changes)))


def _given_and(state: ExperimentState, *changes: Intervention) -> RunJob:
    """The same with the model's own translation forced."""
    original = _original(state)
    experiment = Experiment(original.source_text, GivenTarget(original.text))
    return RunJob((experiment, experiment.with_interventions(*changes)))


def _judge_runs(state: ExperimentState, question: Question, answer: None) -> Verdict:
    translation = _original(state)
    num_source, num_steps = len(translation.source_tokens), len(translation.predicted_ids)
    source, target = state.languages
    return Verdict(
        "decoder" if num_steps > 1 else "once",
        f"The encoder runs once and reads all {num_source} {source} tokens. The decoder runs "
        f"{counted(num_steps, 'time')}: each {target} token depends on those before it. The last "
        "one is the end mark.",
    )


def _judge_tokens(state: ExperimentState, question: Question, answer: None) -> Verdict:
    translation = _original(state)
    num_words = translation.num_source_words
    num_tokens = len(translation.source_tokens)
    split = [word for word in translation.source_words if word.end - word.start > 1]
    added = num_tokens - sum(word.end - word.start for word in translation.source_words)
    counts = (
        f"The encoder reads {num_tokens} tokens for {counted(num_words, 'word')}, punctuation "
        "marks included."
    )
    marks = f"Tokens that mark the start and the end: {added}." if added else ""
    pieces = [f"{word.text} ({word.end - word.start} pieces)" for word in split]
    beginning = "Words in pieces: "
    room = LONGEST_EXPLANATION - len(f"{counts} {beginning}. {marks}")
    listed = f"{beginning}{_listed(pieces, room)}." if pieces else ""
    because = " ".join(filter(None, (counts, listed, marks)))
    difference = _direction(num_tokens - num_words, 0)
    choice = {"rises": "more", "falls": "fewer", "stays": "same"}[difference]
    return Verdict(choice, because)


def _listed(items: Sequence[str], length: int) -> str:
    """The first of these items that fit, and the number of the others."""
    shown = list(items)
    while shown:
        num_others = len(items) - len(shown)
        text = ", ".join(shown) + (f" and {num_others} more" if num_others else "")
        if len(text) <= length:
            return text
        shown.pop()
    return str(len(items))


def quoted(text: str, length: int, first: int = 0) -> str:
    """A text in quotation marks; where it has more than `length` characters, a few of its words.

    `first`: the index of the first of these words.
    """
    if len(text) > length:
        words = text.split()
        start = "… " if first else ""
        end = first + 1
        while end < len(words) and len(f"{start}{' '.join(words[first : end + 1])} …") <= length:
            end += 1
        text = f"{start}{' '.join(words[first:end])}{' …' if end < len(words) else ''}"
    return f"“{elided(text, max(length, 3))}”"  # one word may be longer


def _quoting(beginning: str, answer: tuple[Translation, ...], rest: str) -> str:
    """A sentence that ends in the changed translation, from the first change on if it is long.

    `rest`: of the explanation, which leaves it room.
    """
    words_before, words = (translation.text.split() for translation in answer)
    pairs = zip(words_before, words, strict=False)
    num_same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    room = LONGEST_EXPLANATION - len(f"{beginning} “”. {rest}")
    quote = quoted(answer[1].text, room, min(num_same, len(words) - 1))
    return _ended(f"{beginning} {quote}")


def _ended(sentence: str) -> str:
    """The sentence with a full stop, unless its quote ends in one."""
    return sentence if sentence.removesuffix("”").endswith((".", "!", "?")) else f"{sentence}."


def _with_temperature(state: ExperimentState, question: Question) -> RunJob:
    assert question.head is not None
    return _given_and(
        state, SoftmaxTemperature(question.head, float(question.options["temperature"]))
    )


def _judge_largest_weight(
    state: ExperimentState, question: Question, answer: tuple[Translation, ...]
) -> Verdict:
    head, pinned = question.head, question.pinned
    assert head is not None
    assert pinned is not None
    # a made-up word has other pieces
    row = pair_in(answer[0], _original(state), head.kind, pinned, "predicted") or pinned
    weights = [
        translation.maps.of_kind(head.kind)[head.layer, head.head, row.query]
        for translation in answer
    ]
    before, after = (float(row_weights.max()) for row_weights in weights)
    choice = _direction(after - before, SAME_WEIGHT)
    return Verdict(
        choice,
        f"The weight went from {percent_in_words(before)} to {percent_in_words(after)}. Divided "
        "scores lie closer together, so the weights become more even.",
        Pair(row.query, int(weights[-1].argmax())),
    )


def _shuffled(state: ExperimentState, question: Question) -> RunJob:
    return RunJob(
        (
            Experiment(question.text),
            Experiment(shuffled(question.text, question.options["shuffle"])),
        )
    )


def _judge_shuffled(
    state: ExperimentState, question: Question, answer: tuple[Translation, ...]
) -> Verdict:
    before, after = answer
    has_same_words = Counter(before.predicted_ids) == Counter(after.predicted_ids)
    choice = "order" if has_same_words else "words"
    if before.predicted_ids == after.predicted_ids:
        choice = "same"
    if choice == "same":
        return Verdict(
            choice,
            "The positions were added to other words. This changed the log-probability from "
            f"{number(before.log_probability)} to {number(after.log_probability)}, but no word.",
        )
    because = {
        "order": "The positions were added to other words, and the order of the output follows.",
        "words": "The positions were added to other words: for the model, this is another sentence.",
    }[choice]
    room = (LONGEST_EXPLANATION - len(f"“” becomes “”. {because}")) // 2
    texts = (quoted(translation.text, room) for translation in answer)
    return Verdict(choice, f"{_ended(' becomes '.join(texts))} {because}")


def _judge_mask(
    state: ExperimentState, question: Question, answer: tuple[Translation, ...]
) -> Verdict:
    masked, lifted = answer
    num_more = sum(
        after > before
        for before, after in zip(masked.log_probabilities, lifted.log_probabilities, strict=True)
    )
    change = lifted.log_probability - masked.log_probability
    return Verdict(
        _direction(change, SAME_LOG_PROBABILITY),
        f"{_compared(change)} {_share(num_more, len(masked.log_probabilities))} became more "
        "probable. In training, the decoder never saw later tokens.",
    )


def _without_word(state: ExperimentState, question: Question) -> RunJob:
    return _given_and(state, SourceWordRemoved(place_to_remove(_original(state)) or 0))


def _judge_cross_shape(
    state: ExperimentState, question: Question, answer: tuple[Translation, ...]
) -> Verdict:
    before, after = (translation.maps.cross.shape[-2:] for translation in answer)
    has_fewer_rows, has_fewer_columns = (
        now < then for now, then in zip(after, before, strict=True)
    )
    if has_fewer_rows and has_fewer_columns:
        choice = "both"
    elif has_fewer_rows:
        choice = "rows"
    else:
        choice = "columns"
    source, target = state.languages
    return Verdict(
        choice,
        f"Each map had {before[0]} rows and {before[1]} columns, and now has {after[0]} and "
        f"{after[1]}. Rows are queries, one for each {target} token. Columns are keys, one for "
        f"each {source} token.",
    )


def _judge_head(state: ExperimentState, question: Question, answer: None) -> Verdict:
    head = question.head
    assert head is not None
    choice = "yes" if state.roles.of(head) == question.options["role"] else "no"
    return Verdict(choice, role_in_words(state.roles, head))


def _with_second_choice(state: ExperimentState, question: Question) -> RunJob:
    original = _original(state)
    step = unsure_step(original)
    assert step is not None, "the question names the token"
    return _original_and(state, ForcedToken(step, original.alternatives[step][1].entry))


def _judge_second_choice(
    state: ExperimentState, question: Question, answer: tuple[Translation, ...]
) -> Verdict:
    before, after = answer
    step = unsure_step(before)
    assert step is not None
    rest_before = before.predicted_ids[step + 1 :]
    rest_after = after.predicted_ids[step + 1 :]
    # “is standing on” becomes “standing on” or “stands on”: the same words follow
    skips_a_word = rest_before[1:] == rest_after
    choice = "same" if rest_after == rest_before or skips_a_word else "other"
    change = after.log_probability - before.log_probability
    because = {
        "same": f"The words after “{after.predicted_tokens[step]}” do not depend on this choice.",
        "other": "Each token is chosen given all tokens before it.",
    }[choice]
    compared = _compared(change, "The new", "the old one")
    reads = _quoting("It reads", answer, f"{compared} {because}")
    return Verdict(choice, f"{compared} {reads} {because}")


def _share(number: int, among: int) -> str:
    names = {among: "All", 0: "None"}
    return f"{names.get(number, number)} of {among} tokens"


def _compared(change: float, which: str = "The whole", than: str = "before") -> str:
    """A sentence about a change of the translation's log-probability, in nats."""
    if abs(change) < SAME_LOG_RATIO:
        return f"{which} translation is about as probable as {than}."
    if abs(change) > math.log(MANY_TIMES):
        times = f"over 10{str(int(abs(change) / math.log(10))).translate(SUPERSCRIPT)}"
    else:
        ratio = math.exp(abs(change))
        times = f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}"
        if ratio >= 1000:
            times = f"about {float(f'{ratio:.2g}'):,.0f}"
    return (
        f"{which} translation is {times} times {'more' if change > 0 else 'less'} probable than "
        f"{than}."
    )


WITHOUT_HEAD = {
    "falls": "The other heads pass on enough for the same words.",
    "stays": "Other heads do the same work, or nothing later uses what this one passes on.",
    "rises": "What this head passes on speaks against some of these words.",
}


def _judge_without_chosen(
    state: ExperimentState, question: Question, answer: tuple[Translation, ...]
) -> Verdict:
    before, after = answer
    assert question.head is not None
    if before.predicted_ids == after.predicted_ids:
        change = after.log_probability - before.log_probability
        return Verdict(
            "same", f"{_compared(change)} {WITHOUT_HEAD[_direction(change, SAME_LOG_RATIO)]}"
        )
    beginning = f"Without {display_text(question.head.short_name)}, the translation becomes"
    because = "No other head makes up for it."
    return Verdict("other", f"{_quoting(beginning, answer, because)} {because}")


def _without_head(state: ExperimentState, question: Question) -> RunJob:
    assert question.head is not None
    return _original_and(state, HeadScaled(question.head))


def _without_networks(state: ExperimentState, question: Question) -> RunJob:
    return _original_and(
        state, *map(FeedForwardScaled, find_networks(state, question.options["network-off"]))
    )


def _judge_without_networks(
    state: ExperimentState, question: Question, answer: tuple[Translation, ...]
) -> Verdict:
    before, after = answer
    if before.predicted_ids == after.predicted_ids:
        because = "Attention alone suffices here; for most captions it does not."
        return Verdict(
            "same", f"{_compared(after.log_probability - before.log_probability)} {because}"
        )
    num_before, num_after = map(_num_repeated, answer)
    is_repeating = num_after > num_before
    because = NETWORKS
    if is_repeating:
        places = "1 place" if num_after == 1 else f"{num_after} places"
        because = f"In {places}, a token follows itself. {NETWORKS}"
    return Verdict(
        "repeats" if is_repeating else "other",
        f"{_quoting('It becomes', answer, because)} {because}",
    )


NETWORKS = "Attention only mixes vectors; the networks compute something new from each."


def _num_repeated(translation: Translation) -> int:
    """The number of tokens that equal the one before them."""
    return sum(first == second for first, second in itertools.pairwise(translation.predicted_ids))


def _judge_smoothing(state: ExperimentState, question: Question, smoothing: Smoothing) -> Verdict:
    best = int(smoothing.smoothed_loss.argmin())
    right = smoothing.target.max()
    other = smoothing.target[smoothing.target > 0].min()
    return Verdict(
        "rises"
        if smoothing.smoothed_loss[-1] > smoothing.smoothed_loss[best] + SAME_LOSS
        else "falls",
        f"With smoothing, the loss is smallest at the odds of the target: {right:.3f} to "
        f"{other:.3f}, or {smoothing.odds[best]:.0f} to 1. A surer model has a larger loss: "
        f"{smoothing.smoothed_loss[-1]:.3f} at {smoothing.odds[-1]:.0f} to 1.",
    )


def _judge_decided(state: ExperimentState, question: Question, lens: "LogitLens") -> Verdict:
    lens = lens.whole_layers
    num_layers = len(lens.ranks) - 1
    num_steps = lens.ranks.shape[1]
    depths = [lens.decided_at(step) for step in range(num_steps)]
    late = sum(depth is None or depth >= num_layers for depth in depths)
    early = num_steps - late
    return Verdict(
        "last" if late > num_steps / 2 else "earlier",
        f"{early} of {num_steps} tokens take the lead before the last of the {num_layers} layers "
        "and keep it. "
        f"{'Later layers do not overturn them.' if early else 'Until then, other tokens lead.'}",
    )


def _judge_largest_part(state: ExperimentState, question: Question, answer: None) -> Verdict:
    run = preset(question.options["preset"])
    sizes = preset_vocabulary_sizes(run)
    assert sizes is not None
    parts = part_sizes(size_rows(run.model, *sizes, 1, 1))
    return Verdict(
        max(parts, key=lambda name: parts[name]),
        f"Tables of tokens and positions and the output have {parts['tokens']:,} parameters, "
        f"attention {parts['attention']:,}, feed-forward {parts['feed-forward']:,}. Each table "
        "has a vector for every token.",
    )


def part_sizes(rows: tuple[SizeRow, ...]) -> dict[str, int]:
    """Parameters of a model's tables and output ("tokens"), attention, and networks."""
    modules: dict[str, tuple[Module, ...]] = {
        "tokens": (
            "source embedding",
            "source positions",
            "target embedding",
            "target positions",
            "output",
        ),
        "attention": ("encoder self-attention", "decoder self-attention", "cross-attention"),
        "feed-forward": ("encoder feed-forward", "decoder feed-forward"),
    }
    return {name: total(rows, *members).num_parameters for name, members in modules.items()}


class _DecidedJob(LensJob):
    """Of another type, so that it does not replace the job of the figure."""

    @classmethod
    def of(cls, state: ExperimentState, question: Question) -> "_DecidedJob":
        """About the translation without changes."""
        return cls(_original(state))


def _original(state: ExperimentState) -> Translation:
    assert state.original is not None, "a question is answered only after the first result"
    return state.original


RISE_OR_FALL = frozenset({"rises", "falls", "stays"})
SAME_OR_OTHER = frozenset({"same", "other"})
CHECKS: Final[dict[str, Check]] = {
    "runs": Check(frozenset({"once", "decoder", "both"}), _judge_runs),
    "num-tokens": Check(frozenset({"more", "same", "fewer"}), _judge_tokens),
    "shuffled-words": Check(frozenset({"same", "order", "words"}), _judge_shuffled, _shuffled),
    "chosen-head": Check(frozenset({"yes", "no"}), _judge_head, about=frozenset({"head"})),
    "lifted-mask": Check(
        RISE_OR_FALL, _judge_mask, lambda state, question: _given_and(state, CausalMaskLifted())
    ),
    "cross-shape": Check(frozenset({"rows", "columns", "both"}), _judge_cross_shape, _without_word),
    "largest-weight": Check(
        RISE_OR_FALL, _judge_largest_weight, _with_temperature, frozenset({"head", "query"})
    ),
    "second-choice": Check(SAME_OR_OTHER, _judge_second_choice, _with_second_choice),
    "without-head": Check(SAME_OR_OTHER, _judge_without_chosen, _without_head, frozenset({"head"})),
    "without-networks": Check(
        frozenset({"same", "repeats", "other"}), _judge_without_networks, _without_networks
    ),
    "smoothing": Check(
        frozenset({"rises", "falls"}),
        _judge_smoothing,
        lambda state, question: SmoothingJob(),
        is_about_sentence=False,
    ),
    "largest-part": Check(
        frozenset({"tokens", "attention", "feed-forward"}),
        _judge_largest_part,
        is_about_sentence=False,
    ),
    "decided-at": Check(frozenset({"last", "earlier"}), _judge_decided, _DecidedJob.of),
}
