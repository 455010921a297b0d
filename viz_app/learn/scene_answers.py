"""The questions of the chapters for scenes of lessons, answered as in *Predict* for the sentence on the screen."""

from collections.abc import Callable
from typing import Any

from augenmerk.viz_app.learn.chapter import Predict, read_chapters
from augenmerk.viz_app.learn.checks import CHECKS
from augenmerk.viz_app.learn.values import UNKNOWN, values_of
from augenmerk.viz_app.state.experiment_state import RequestState
from augenmerk.viz_app.worker.inference import ExperimentController

CANNOT = "The answer cannot be computed for this sentence and head."


class SceneAnswers:
    """Computes answers for the experiment of a controller.

    Attributes:
        request: the answer that is awaited.
    """

    def __init__(self, controller: ExperimentController) -> None:
        self._controller, self.request = controller, RequestState()

    def questions(self) -> dict[str, str]:
        """The questions with their choices, each in one line, by the names of their checks."""
        return {name: self._in_words(predict) for name, predict in _questions().items()}

    def compute(self, name: str, use: Callable[[str], None]) -> None:
        """Calls `use` with the answer of a check, or with the reason if there is none."""
        predict, state = _questions().get(name), self._controller.state
        if predict is None:
            use(f"This version cannot compute “{name}”.")
            return
        kind = predict.options.get("kind", state.selection.head.kind)
        if state.current is None or kind != state.selection.head.kind or UNKNOWN in self._in_words(predict):
            use(CANNOT)
            return
        check, asked = CHECKS[name], predict

        def judge(answer: Any) -> None:
            verdict = check.judge(state, asked.options, answer)
            use(f"{asked.choices[verdict.choice].removesuffix('.')}. {verdict.because}")

        job = check.ask(state, predict.options)
        if job is None:
            judge(None)
        else:
            self._controller.ask(job, self.request, judge)

    def _in_words(self, predict: Predict) -> str:
        values = values_of(self._controller.state, predict.question.values)
        text = " ".join(predict.question.filled(values).replace("**", "").split())
        return f"{text} {' · '.join(predict.choices.values())}"


def _questions() -> dict[str, Predict]:
    blocks = (block for chapter in read_chapters() for block in chapter.blocks)
    return {block.check: block for block in blocks if isinstance(block, Predict)}
