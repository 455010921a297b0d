"""The questions of the chapters for scenes of lessons, answered as in *Predict* for the sentence on
the screen.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from augenmerk.core.counting import display_text
from augenmerk.core.errors import AugenmerkError

from ...state.experiment_state import ExperimentState, RequestState
from ...worker.jobs import Job
from ..learn.chapter import Predict, read_chapters
from ..learn.checks import CHECKS, Question
from ..learn.values import UNKNOWN, pair_tokens, values_of
from .lesson import ComputedAnswer

CANNOT = "The answer cannot be computed for this sentence and head."


Ask: TypeAlias = Callable[[Job, RequestState, Callable[[Any], object]], object]
"""See `viz_app.worker.inference.ExperimentController.ask`."""


class SceneAnswers:
    """Computes answers for the experiment of a state.

    Args:
        state: of the experiment.
        ask: answers jobs for its model.
    """

    def __init__(self, state: ExperimentState, ask: Ask) -> None:
        self._state, self._ask = state, ask

    def questions(self) -> dict[str, tuple[str, str]]:
        """Their chapters, and the questions with their choices in one line, by the names of their
        checks.
        """
        return {
            name: (chapter, _in_words(self._state, asked))
            for name, (chapter, asked) in _questions().items()
        }

    def compute(self, name: str, use: Callable[[str], None]) -> None:
        """Calls `use` with the answer of a check, or with the reason if there is none.

        Without a current result, or if another experiment interrupts the computation, it is not
        called.
        """
        prepared = _prepared(self._state, name)
        if isinstance(prepared, ComputedAnswer):
            use(prepared.text)
            return
        job, judge = prepared
        request = RequestState()
        request.changed.connect(lambda _phase: use(request.problem) if request.problem else None)
        self._ask(job, request, lambda answer: use(judge(answer).text))


def answer_now(state: ExperimentState, name: str, run: Callable[[Job], Any]) -> ComputedAnswer:
    """The answer of a check for the result of a state, or the reason if there is none.

    Args:
        state: with a current result.
        name: of the check.
        run: answers jobs for the model.
    """
    prepared = _prepared(state, name)
    if isinstance(prepared, ComputedAnswer):
        return prepared
    job, judge = prepared
    try:
        return judge(run(job))
    except AugenmerkError as error:
        return ComputedAnswer(display_text(error))


def _prepared(
    state: ExperimentState, name: str
) -> ComputedAnswer | tuple[Job, Callable[[Any], ComputedAnswer]]:
    """The answer of a check, or the job for the model and the function that judges its answer."""
    _, predict = _questions().get(name, ("", None))
    if predict is None:
        return ComputedAnswer(f"This version cannot compute “{name}”.")
    kind = state.selection.head.kind
    if predict.options.get("kind", kind) != kind or UNKNOWN in _in_words(state, predict):
        return ComputedAnswer(CANNOT)
    check = CHECKS[name]
    question = _question(state, predict)
    names = tuple(predict.choices)

    def judge(answer: Any) -> ComputedAnswer:
        verdict = check.judge(state, question, answer)
        return ComputedAnswer(
            verdict.because, tuple(predict.choices.values()), names.index(verdict.choice)
        )

    job = check.ask(state, question)
    return judge(None) if job is None else (job, judge)


def _question(state: ExperimentState, predict: Predict) -> Question:
    return Question(predict.options).following(state, CHECKS[predict.check].about)


def _in_words(state: ExperimentState, predict: Predict) -> str:
    original = state.original
    pinned = _question(state, predict).pinned
    values = values_of(state, predict.question.values, original)
    if original is not None and pinned is not None:
        values["query"] = pair_tokens(original, state.selection.head.kind)[0][pinned.query]
    text = " ".join(predict.question.filled(values).replace("**", "").split())
    return f"{text} {' · '.join(predict.choices.values())}"


def _questions() -> dict[str, tuple[str, Predict]]:
    blocks = ((chapter.title, block) for chapter in read_chapters() for block in chapter.blocks)
    return {block.check: (title, block) for title, block in blocks if isinstance(block, Predict)}
