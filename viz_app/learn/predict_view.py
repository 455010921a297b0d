"""A question that the reader answers before looking; *Look* computes the answer."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QLabel, QPushButton, QRadioButton, QWidget

from augenmerk.viz_app.learn.actions import ChapterActions
from augenmerk.viz_app.learn.chapter import Predict
from augenmerk.viz_app.learn.checks import CHECKS, Check, Verdict
from augenmerk.viz_app.learn.figures.figure import LearnContext
from augenmerk.viz_app.learn.values import UNKNOWN, values_of
from augenmerk.viz_app.state.experiment_state import RequestState
from augenmerk.viz_app.theme import scaled
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.layouts import FlowLayout, column_of

CHOICE_SPACING = 10
NO_SUCH_HEAD = "the head that you click on"


class PredictView(QFrame):
    """A question, its choices, *Look*, and the verdict.

    Attributes:
        question: the text.
        choices: one button for each, by its name.
        look: asks; enabled once there is a choice and a result.
        verdict: what turned out; empty before.
        request: the answer that is awaited.

    Signals:
        judged(): what turned out is told now.
    """

    judged = Signal()

    def __init__(self, predict: Predict, context: LearnContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._predict, self._context = predict, context
        self._state = context.state
        self.request = RequestState()
        self._looked_text: str | None = None
        self._asked_of = self._subject
        self.setProperty("role", "card")
        self.question = QLabel()
        self.question.setTextFormat(Qt.TextFormat.MarkdownText)
        self.question.setProperty("role", "reading")
        self.question.setWordWrap(True)
        self._group = QButtonGroup(self)
        self.choices: dict[str, QRadioButton] = {}
        self.look = QPushButton("Look")
        self.look.clicked.connect(self._look)
        self.verdict = label("accent", wraps=True)
        self.verdict.setVisible(False)
        choices = FlowLayout(scaled(CHOICE_SPACING))
        for name, text in predict.choices.items():
            button = QRadioButton(text)
            button.toggled.connect(self._allow)
            self._group.addButton(button)
            self.choices[name] = button
            choices.addWidget(button)
        choices.addWidget(self.look)
        heading = label("heading", "Predict, then look")
        column_of(heading, self.question, choices, self.verdict, spacing=6, margins=(14, 10, 14, 12), within=self)
        self.request.changed.connect(self._allow)
        self.request.changed.connect(self._show_problem)
        self._state.result_changed.connect(self._on_result)
        self.refresh()

    @property
    def check(self) -> str:
        """The name of the check that answers the question."""
        return self._predict.check

    @property
    def chosen(self) -> str | None:
        """The name of the selected choice."""
        return next((name for name, button in self.choices.items() if button.isChecked()), None)

    def refresh(self) -> None:
        """Fills in the values of the question; it stays as asked while the sentence is shown that *Look* made of it."""
        if self._shows_looked_text:
            self._allow()
            return
        subject = self._subject
        if self._is_another(subject):
            self._tell("")
        if UNKNOWN not in subject:
            self._asked_of = subject
        text = self._predict.question
        values = values_of(self._state, text.values)
        if "head" in values and not self._has_head:
            values["head"] = NO_SUCH_HEAD
        self.question.setText(text.filled(values))
        self._allow()

    @property
    def _subject(self) -> tuple[str, ...]:
        """The subject of the question: the sentence, and the head and query if they matter."""
        names = values_of(self._state, {"head", "query"} & {*self._predict.question.values, *self._check.about})
        return self._state.experiment.source_text, *(names[name] for name in sorted(names))

    def _is_another(self, subject: tuple[str, ...]) -> bool:
        """Whether the subject has changed; parts that are currently unknown count as unchanged."""
        pairs = zip(subject, self._asked_of, strict=True)
        return any(now != before and UNKNOWN not in (now, before) for now, before in pairs)

    @property
    def _check(self) -> Check:
        return CHECKS[self._predict.check]

    @property
    def _is_askable(self) -> bool:
        """Whether the subject exists; a sentence may lack such a word, or no cell may be pinned."""
        return UNKNOWN not in values_of(self._state, {"source-text", *self._predict.question.values}).values()

    @property
    def _has_head(self) -> bool:
        """Whether the question applies to the chosen head."""
        return self._predict.options.get("kind", self._state.selection.head.kind) == self._state.selection.head.kind

    def _allow(self) -> None:
        is_ready = self._is_askable and not self.request.is_running and self._has_head
        self.look.setEnabled(is_ready and self.chosen is not None)

    def _on_result(self) -> None:
        """Another sentence is another question; what looking itself changed is not."""
        if not self._shows_looked_text:
            self._looked_text = None
            if not self._state.experiment.interventions:
                self._tell("")
        self.refresh()

    def _look(self) -> None:
        job = self._check.ask(self._state, self._predict.options)
        if job is None:
            self._judge(None)
        else:
            self._context.controller.ask(job, self.request, partial(self._judge_if_same, self._subject))

    def _judge_if_same(self, subject: tuple[str, ...], answer: object) -> None:
        """The answer may come after another head or sentence was chosen."""
        if subject == self._subject:
            self._judge(answer)

    def _judge(self, answer: object) -> None:
        found: Verdict = self._check.judge(self._state, self._predict.options, answer)
        is_right = found.choice == self.chosen
        right = self._predict.choices[found.choice]
        self._tell(f"{'Right.' if is_right else f'No: {right[:1].lower()}{right[1:]}.'} {found.because}")
        before = self._state.experiment.source_text
        self._context.answers.give(self._predict.check, before)
        ChapterActions(self._state, self._context.own).perform(self._predict.options)
        after = self._state.experiment.source_text
        self._looked_text = after if after != before else None

    @property
    def _shows_looked_text(self) -> bool:
        """Whether the sentence is the one that *Look* typed, such as shuffled words."""
        return self._looked_text is not None and self._looked_text == self._state.experiment.source_text

    def _tell(self, text: str) -> None:
        self.verdict.setText(text)
        self.verdict.setVisible(bool(text))
        if text:
            self.judged.emit()

    def _show_problem(self) -> None:
        if self.request.problem:
            self._tell(self.request.problem)
