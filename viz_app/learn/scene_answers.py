"""The questions of the chapters for scenes of lessons, answered as in *Predict* for the sentence on the screen."""

from collections.abc import Callable
from typing import Any

from augenmerk.viz_app.learn.chapter import Predict, read_chapters
from augenmerk.viz_app.learn.checks import CHECKS, Question
from augenmerk.viz_app.learn.values import UNKNOWN, pair_tokens, values_of
from augenmerk.viz_app.state.experiment_state import RequestState
from augenmerk.viz_app.worker.inference import ExperimentController

CANNOT = "The answer cannot be computed for this sentence and head."


class SceneAnswers:
    """Computes answers for the experiment of a controller."""

    def __init__(self, controller: ExperimentController) -> None:
        self._controller, self._state = controller, controller.state

    def questions(self) -> dict[str, str]:
        """The questions with their choices, each in one line, by the names of their checks."""
        return {name: self._in_words(predict) for name, predict in _questions().items()}

    def compute(self, name: str, use: Callable[[str], None]) -> None:
        """Calls `use` with the answer of a check, or with the reason if there is none.

        Without a current result, or if another experiment interrupts the computation, it is not called.
        """
        predict, state = _questions().get(name), self._state
        if predict is None:
            use(f"This version cannot compute “{name}”.")
            return
        kind = state.selection.head.kind
        if predict.options.get("kind", kind) != kind or UNKNOWN in self._in_words(predict):
            use(CANNOT)
            return
        check, choices, question = CHECKS[name], predict.choices, self._question(predict)

        def judge(answer: Any) -> None:
            verdict = check.judge(state, question, answer)
            choice = choices[verdict.choice].removesuffix(".")
            use(verdict.because if verdict.because.startswith(choice) else f"{choice}. {verdict.because}")

        job = check.ask(state, question)
        if job is None:
            judge(None)
            return
        request = RequestState()
        request.changed.connect(lambda _phase: use(request.problem) if request.problem else None)
        self._controller.ask(job, request, judge)

    def _question(self, predict: Predict) -> Question:
        return Question(predict.options).following(self._state, CHECKS[predict.check].about)

    def _in_words(self, predict: Predict) -> str:
        original, pinned = self._state.original, self._question(predict).pinned
        values = values_of(self._state, predict.question.values, original)
        if original is not None and pinned is not None:
            values["query"] = pair_tokens(original, self._state.selection.head.kind)[0][pinned.query]
        text = " ".join(predict.question.filled(values).replace("**", "").split())
        return f"{text} {' · '.join(predict.choices.values())}"


def _questions() -> dict[str, Predict]:
    blocks = (block for chapter in read_chapters() for block in chapter.blocks)
    return {block.check: block for block in blocks if isinstance(block, Predict)}
