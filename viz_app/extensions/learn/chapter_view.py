"""One chapter: text and questions on the left, live figures on the right."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QFrame,
    QLabel,
    QPushButton,
    QRadioButton,
    QToolButton,
    QWidget,
)

from ...heatmap.head_grid import FOLDED, UNFOLDED
from ...state.experiment_state import ExperimentState
from ...theme import GAP, current_theme, scaled
from ...translate.page import DimmingOverlay
from ...widgets.buttons import flat_button
from ...widgets.labels import label
from ...widgets.layouts import (
    FlowLayout,
    VerticalScrollArea,
    area_around,
    column_of,
    keep_in_sight,
    row_of,
    set_visible,
    take_out,
)
from ..widgets.steady import SCROLL_BAR_PX, SteadyLabel, SteadyScrollArea
from .actions import ACTIONS, VIEW_ACTIONS, ChapterActions, pin_with_result, shuffled
from .chapter import Chapter, Paragraph, Predict, Textbook, Try
from .checks import CHECKS, Check, Question, Verdict
from .figures.attention import MapFigure
from .figures.figure import ChapterFigure, LearnContext
from .figures.registry import FIGURES
from .values import UNKNOWN, longest_values, pair_tokens, values_of

TEXT_SHARE, FIGURE_SHARE = 3, 4
STACKED = 780
"""On a page that is narrower, in pixels, figures are below the text."""
FIGURE_HEIGHT_STACKED = 420
"""Height of a figure below the text. The window scrolls then."""
NOTE_MARGIN = 24
"""Pixels on either side of a note on dimmed figures."""
TRY_SPACING = 8
CHOICE_SPACING = 10
RETURN_KEYS = Qt.Key.Key_Return, Qt.Key.Key_Enter
NO_SUCH_HEAD = "the head that you click on"
NO_SUCH_WORD = "This sentence has no word for this question. Type a longer one."
NO_OTHER_ORDER = "One word has no other order. Type a sentence of several words."
NOT_TRANSLATED = "This sentence is not translated. Type another one."
NO_FIGURES = "The sentence above is not translated. Type another one to see the figures."
COMPUTING = "Computing…"
LONG_VERDICT = "The words stay, and the translation is as probable. " * 4
"""As long as the longest verdict (see `LONGEST_EXPLANATION`): with room for it, nothing moves at
*Look*.
"""


class LiveLabel(QLabel):
    """Markdown with values that change, and room for the longest of them: what is below stays."""

    def __init__(self, role: str) -> None:
        super().__init__()
        _make_markdown(self, role)
        self._longest = _markdown_label(role, self)
        self._longest.hide()

    def show_values(self, shown: str, longest: str) -> None:
        """Shows a text, with the room that another one needs."""
        self.setText(shown)
        if longest != self._longest.text():
            self._longest.setText(longest)
            self.updateGeometry()

    def heightForWidth(self, width: int) -> int:
        """The height of the longest text."""
        return max(super().heightForWidth(width), self._longest.heightForWidth(width))


class PredictView(QFrame):
    """A question, its choices, *Look*, and the verdict.

    Attributes:
        question: the text.
        choices: one button for each, by its name.
        look: computes the answer; enabled once there is a choice and a result.
        verdict: compares the choice with the result; empty before *Look*, with room for it.
        request: the pending answer, of this question or another one of the chapter.

    Signals:
        answered(): a choice is selected.
        judged(): a verdict or problem is shown.
    """

    answered, judged = Signal(), Signal()

    def __init__(
        self, predict: Predict, context: LearnContext, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._predict, self._context = predict, context
        self._state = context.state
        self.request = context.request
        self._asked = Question(predict.options)
        self._is_wanted, self._is_early, self._is_askable = False, False, False
        self._found: Verdict | None = None
        self._looked_text: str | None = None
        self.setProperty("role", "card")
        self.question = _markdown_label("reading")
        self._group = QButtonGroup(self)
        self.choices: dict[str, QRadioButton] = {}
        self.look = QPushButton("Look")
        self.look.clicked.connect(self._look)
        self.verdict = SteadyLabel("accent", [LONG_VERDICT])
        choices = FlowLayout(scaled(CHOICE_SPACING))
        for name, text in predict.choices.items():
            button = QRadioButton(text)
            button.toggled.connect(self._on_choice)
            button.clicked.connect(self.answered)
            self._group.addButton(button)
            self.choices[name] = button
            choices.addWidget(button)
        choices.addWidget(self.look)
        heading = label("heading", "Predict, then look")
        column_of(
            heading,
            self.question,
            choices,
            self.verdict,
            spacing=6,
            margins=(14, 6, 14, 6),
            within=self,
        )
        self.request.changed.connect(self._on_request, max_args=0)
        self._state.result_changed.connect(self._on_result, max_args=0)
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
        """Fills in the values of the question, unless the sentence is the one that *Look* has
        typed.
        """
        if self._is_locked:
            self._is_wanted = False
            self._show_verdict(NOT_TRANSLATED)
            self._allow()
            if not self.question.text():  # the chapter was not open before
                text = self._predict.question
                values = values_of(self._state, text.values, self._state.original)
                self.question.setText(text.filled(values))
            return
        if self.verdict.text() == NOT_TRANSLATED:
            self._show_verdict("")
            self._allow()
        if self._shows_looked_text:
            return
        before = self._asked
        self._asked = self._asked.following(self._state, self._check.about)
        if self._asked != before:
            # A look at a sentence on its way is a look at its result.
            self._is_wanted &= self._is_early and self._asked.text != before.text
            if self._found is not None and not self._is_wanted:
                self._forget_choice()
            self._found = None
            self._looked_text = self._shuffled_text
            self._show_verdict(COMPUTING if self._is_wanted else "")
        text = self._predict.question
        original = self._state.original
        values = values_of(self._state, text.values, original)
        if original is not None and self._asked.pinned is not None:
            head = self._state.selection.head
            query = self._asked.pinned.query
            values["query"] = pair_tokens(original, head.kind)[0][query]
        if "head" in values and not self._has_head:
            values["head"] = NO_SUCH_HEAD
        is_same = self._shuffled_text == self._asked.text
        self._is_askable = original is not None and UNKNOWN not in values.values() and not is_same
        if original is not None and not self._is_askable:
            self._show_verdict(NO_OTHER_ORDER if is_same else NO_SUCH_WORD)
        self.question.setText(text.filled(values))
        self._allow()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return looks, as Space does on *Look*."""
        if event.key() in RETURN_KEYS and self.look.isEnabled():
            self._look()
        else:
            super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Another chapter is open: *Look* must not change its experiment."""
        super().hideEvent(event)
        if not event.spontaneous() and self._is_wanted:
            self._is_wanted = False
            self._show_verdict("")

    @property
    def _check(self) -> Check:
        return CHECKS[self._predict.check]

    @property
    def _has_head(self) -> bool:
        """True if the question applies to the chosen head."""
        return (
            self._predict.options.get("kind", self._state.selection.head.kind)
            == self._state.selection.head.kind
        )

    def _allow(self) -> None:
        """Offers *Look*.

        It stays enabled during the computation: Qt would move the focus to another part.
        """
        is_ready = (
            self._is_askable and self._has_head and self.chosen is not None and not self._is_locked
        )
        if not is_ready and self.look.hasFocus():
            self.choices[self.chosen or next(iter(self.choices))].setFocus()
        self.look.setEnabled(is_ready)

    @property
    def _is_locked(self) -> bool:
        """Whether it is about a sentence that is not translated."""
        return self._state.shown.is_outdated and self._check.is_about_sentence

    def _on_choice(self) -> None:
        if self._is_askable and not self._is_wanted and not self._is_locked:
            self._show_verdict("")  # it was about another choice
        self._allow()

    def _on_result(self) -> None:
        self.refresh()
        self._is_early = False
        self._ask()

    def _look(self) -> None:
        self._is_wanted = True
        self._is_early = self._state.request.is_running
        if self._shows_looked_text and self._found is not None:
            self._present(self._found)
        else:
            self._show_verdict(COMPUTING)
            self._ask()

    def _ask(self) -> None:
        """Computes the wanted answer once the sentence is translated.

        Each new result interrupts the computation.
        """
        if not self._is_wanted or self._state.request.is_running or self.request.is_running:
            return
        judge = partial(self._judge, self._asked)
        job = self._check.ask(self._state, self._asked)
        if job is None:
            judge(None)
        else:
            self._context.controller.ask(job, self.request, judge)

    def _judge(self, asked: Question, answer: object) -> None:
        """Shows the verdict, unless another head, sentence or chapter was chosen in the
        meantime.
        """
        if not self._is_wanted or asked != self._asked:
            return
        self._found = self._check.judge(self._state, asked, answer)
        self._present(self._found)
        options = self._predict.options
        if (
            options.keys() & ACTIONS and not self._shows_looked_text
        ):  # the verdict is about one change, and so is the figure
            ChapterActions(self._state, self._context.own).perform({"reset": "", **options})
            pin_with_result(self._state, self._found.pinned)
        after = self._state.experiment.source_text
        self._looked_text = after if after != asked.text else None

    def _present(self, verdict: Verdict) -> None:
        self._is_wanted = False
        right = self._predict.choices[verdict.choice]
        says = "Right." if verdict.choice == self.chosen else f"No: {right[:1].lower()}{right[1:]}."
        self._show_verdict(f"{says} {verdict.because}")
        self.judged.emit()
        self._context.answers.give(self._predict.check, self._asked.text)

    @property
    def _shuffled_text(self) -> str | None:
        """The sentence that *Look*, or the same experiment, types instead of the one asked about;
        None for others.
        """
        seed = self._predict.options.get("shuffle")
        return shuffled(self._asked.text, seed) if seed is not None else None

    @property
    def _shows_looked_text(self) -> bool:
        """True if the sentence is the one that *Look* types, such as shuffled words."""
        original = self._state.original
        return original is not None and original.source_text == self._looked_text

    def _forget_choice(self) -> None:
        """Clears the answer to a question about another sentence."""
        self._group.setExclusive(False)
        for button in self.choices.values():
            button.setChecked(False)
        self._group.setExclusive(True)

    def _show_verdict(self, text: str) -> None:
        self.verdict.setText(text)

    def _on_request(self) -> None:
        if self.request.problem and self._is_wanted:
            self._is_wanted = False
            self._show_verdict(self.request.problem)
            self.judged.emit()
        else:
            QTimer.singleShot(0, self, self._ask)  # after the answer, if there is one


def _markdown_label(role: str, parent: QWidget | None = None) -> QLabel:
    made = QLabel(parent)
    _make_markdown(made, role)
    return made


def _make_markdown(made: QLabel, role: str) -> None:
    made.setProperty("role", role)
    made.setWordWrap(True)
    made.setTextFormat(Qt.TextFormat.MarkdownText)
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    made.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)


class TextbookView(QFrame):
    """A text that a button opens and closes.

    Attributes:
        button: next to the one for the next chapter.
    """

    def __init__(self, title: str, paragraphs: Sequence[QLabel]) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.button = flat_button("", f"In the formulas and words of textbooks: {title}")
        self.button.clicked.connect(lambda: self.show_text(is_open=self.isHidden()))
        heading = label("heading", f"In textbooks: {title}", wraps=True)
        column_of(heading, *paragraphs, spacing=8, margins=(14, 10, 14, 12), within=self)
        self.show_text(is_open=False)

    def show_text(self, *, is_open: bool) -> None:
        """Opens it and keeps it in sight, or closes it."""
        self.setVisible(is_open)
        self.button.setText(f"{UNFOLDED if is_open else FOLDED} Textbook")
        if is_open:
            keep_in_sight(self, scaled(GAP))


class ChapterText(QWidget):
    """The text of a chapter; its values follow the current experiment.

    Attributes:
        title: the name of the chapter.
        texts: one label for each stretch of text, the claim first.
        tries: the buttons that change the experiment.
        back_button: restores the reader's own sentence; hidden while that is shown.
        predictions: the questions.
        textbooks: the folded texts.
        end: a row for the button to the next chapter, before those of the folded texts; the
            chapter shows it below the text.
    """

    def __init__(self, chapter: Chapter, context: LearnContext, actions: ChapterActions) -> None:
        super().__init__()
        self._context, self._actions = context, actions
        self.texts: list[tuple[Paragraph, LiveLabel]] = []
        self._sentences = [
            block.actions["text"]
            for block in chapter.blocks
            if isinstance(block, Try) and "text" in block.actions
        ]
        self.tries: list[QPushButton] = []
        self._sentence_tries: list[QPushButton] = []
        self.predictions: list[PredictView] = []
        self.textbooks: list[TextbookView] = []
        self.title = label("title", chapter.title, wraps=True)
        self.back_button = QPushButton("Back to your sentence", self)
        policy = self.back_button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # nothing below moves under the pointer
        self.back_button.setSizePolicy(policy)
        self.back_button.hide()
        self.back_button.clicked.connect(context.own.restore)
        content = column_of(
            self.title,
            self._text(chapter.claim, "claim"),
            spacing=4,
            margins=(4, 0, 14, 6),
            within=self,
        )
        buttons: FlowLayout | None = None
        last_buttons: FlowLayout | None = None
        self.end = row_of(1, spacing=TRY_SPACING)
        for block in chapter.blocks:
            if isinstance(block, Textbook):
                self._add_textbook(block)
                continue
            if isinstance(block, Try):
                if buttons is None:
                    buttons = last_buttons = FlowLayout(scaled(TRY_SPACING))
                    content.addLayout(buttons)
                buttons.addWidget(self._try(block))
                continue
            buttons = None
            content.addWidget(
                self._text(block, "reading")
                if isinstance(block, Paragraph)
                else self._question(block)
            )
        if last_buttons is not None:
            last_buttons.addWidget(self.back_button)
        for textbook in self.textbooks:
            content.addWidget(textbook)
        content.addStretch(1)
        context.own.changed.connect(self._offer_way_back)
        self._offer_way_back()

    def refresh(self) -> None:
        """Fills in the values of all texts."""
        state = self._context.state
        sentences = [self._context.own.text, *self._sentences]
        for text, shown in self.texts:
            shown.show_values(
                text.filled(values_of(state, text.values, state.translation)),
                text.filled(longest_values(state, text.values, sentences)),
            )
        for button in self.tries:
            is_offered = button in self._sentence_tries or not state.shown.is_outdated
            button.setEnabled(is_offered)
            button.setToolTip("" if is_offered else NOT_TRANSLATED)
        for prediction in self.predictions:
            prediction.refresh()

    def _offer_way_back(self) -> None:
        if self.tries:
            set_visible(self.back_button, not self._context.own.is_shown, focus_to=self.tries[-1])

    def _question(self, block: Predict) -> PredictView:
        self.predictions.append(PredictView(block, self._context))
        return self.predictions[-1]

    def _add_textbook(self, block: Textbook) -> None:
        textbook = TextbookView(
            block.title, [self._text(paragraph, "reading") for paragraph in block.paragraphs]
        )
        self.textbooks.append(textbook)
        self.end.insertWidget(self.end.count() - 1, textbook.button)

    def _text(self, text: Paragraph, role: str) -> LiveLabel:
        self.texts.append((text, LiveLabel(role)))
        return self.texts[-1][1]

    def _try(self, block: Try) -> QPushButton:
        button = QPushButton(f"Try: {block.label}")
        button.clicked.connect(partial(self._actions.perform, block.actions))
        self.tries.append(button)
        if "text" in block.actions:
            self._sentence_tries.append(button)
        return button


class NextButton(QPushButton):
    """Leads to the next chapter; as wide in all chapters, so that its neighbour has one place."""

    def __init__(self, title: str, titles: Sequence[str], parent: QWidget) -> None:
        """`titles`: of all chapters."""
        super().__init__(f"Next: {title}", parent)
        self._title, self._titles = title, titles
        self.setProperty("role", "primary")

    def sizeHint(self) -> QSize:
        """The size for the longest title."""
        own, *widths = (
            self.fontMetrics().size(Qt.TextFlag.TextShowMnemonic, f"Next: {title}").width()
            for title in (self._title, *self._titles)
        )
        return super().sizeHint() + QSize(max(own, *widths) - own, 0)


class OutdatedOverlay(DimmingOverlay):
    """Dims figures of an earlier sentence, and names it; or says that there are none.

    Attributes:
        note: the words.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.note = label("", wraps=True)
        card = QFrame()
        card.setProperty("role", "card")
        column_of(self.note, margins=(14, 10, 14, 10), within=card)
        column_of(1, card, 1, margins=(NOTE_MARGIN, 0, NOTE_MARGIN, 0), within=self)

    def show_state(self, state: ExperimentState, figures: Sequence[ChapterFigure]) -> None:
        """Covers the figures while the sentence in use is not the one that they are about.

        Those that cannot say anything about the one before are hidden until then.
        """
        is_outdated = state.shown.is_outdated
        about_sentence = [figure for figure in figures if figure.is_about_sentence]
        for figure in about_sentence:
            figure.setVisible(not (is_outdated and figure.is_empty))
        if all(figure.isHidden() for figure in about_sentence):
            self.note.setText(NO_FIGURES)
        elif state.translation is not None:
            self.note.setText(
                "The sentence above is not translated. These figures are about the one before: "
                f"“{state.translation.source_text}”"
            )
        self.cover(is_outdated and bool(about_sentence))


class ChapterView(QWidget):
    """Text and figures of one chapter; both follow the current experiment.

    Attributes:
        chapter: the content.
        text: on the left.
        figures: on the right.
        overlay: dims them while they are about an earlier sentence.
        next_button: opens the next chapter.

    Signals:
        next_wanted()
    """

    next_wanted = Signal()

    def __init__(
        self,
        chapter: Chapter,
        context: LearnContext,
        titles: Sequence[str],
        parent: QWidget | None = None,
    ) -> None:
        """`titles`: of all chapters, in their order."""
        super().__init__(parent)
        self.chapter, self._context = chapter, context
        self._state = context.state
        self._actions = ChapterActions(context.state, context.own)
        self.text = ChapterText(chapter, context, self._actions)
        for prediction in self.text.predictions:
            prediction.judged.connect(partial(self._show_whole, prediction))
            prediction.answered.connect(partial(self._show_figure, prediction))
        self.figures: list[ChapterFigure] = [
            FIGURES[figure.name](context, figure.options) for figure in chapter.figures
        ]
        following = dict(pairwise((*titles, ""))).get(chapter.title, "")
        self.next_button = NextButton(following, titles, self)
        self.next_button.setVisible(bool(following))
        self.next_button.clicked.connect(self.next_wanted)
        self._has_begun, self._has_begun_earlier = False, False
        self._is_stacked = False
        self._base_px = current_theme().base_px
        self._lay_out()
        self._state.result_changed.connect(self._on_result, max_args=0)
        for field in (self._state.selection.events.head, self._state.selection.events.pinned):
            field.connect(self._refresh_in_sight, max_args=0)

    @property
    def large_map(self) -> QWidget | None:
        """The widget that draws a large map; None if no figure of this chapter does."""
        return next((figure.map for figure in self.figures if isinstance(figure, MapFigure)), None)

    def enter(self) -> None:
        """Prepares the chapter's experiment with the reader's sentence when the reader opens it."""
        self._has_begun, self._has_begun_earlier = False, False
        # or those of the chapter's sentence would be reported as dropped
        self._actions.perform({"reset": ""})
        self._context.own.restore()
        self._actions.forget()
        self._begin()
        if self._is_stacked and (area := area_around(self)) is not None:
            area.keep_in_sight(self.text.title)

    def refresh(self) -> None:
        """Fills in the values of all texts, and dims figures of an earlier sentence."""
        self.text.refresh()
        self.overlay.show_state(self._state, self.figures)
        self._share_later()

    def shutdown(self) -> None:
        """Ends the figures' work when the page closes."""
        for figure in self.figures:
            figure.shutdown()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return presses a button, as Space does."""
        focused = self.focusWidget()
        if (
            event.key() in RETURN_KEYS
            and isinstance(focused, QPushButton | QToolButton)
            and focused.hasFocus()
        ):
            focused.click()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self._arrange()
            self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        """Frees the height: a hidden chapter must not make the page higher."""
        super().hideEvent(event)
        if not event.spontaneous():
            self._is_stacked = False
            self._fit_heights()
            if (area := area_around(self)) is not None:
                area.keep_in_sight(None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fits text and figures to the page; on a narrow page the figures are below the text."""
        super().resizeEvent(event)
        if self.isVisible():  # a picture of the window resizes hidden chapters, too
            self._arrange()
        if self._base_px != current_theme().base_px:
            self._base_px = current_theme().base_px
            for _, shown in self.text.texts:
                shown.show_values("", "")  # or the size of code in it would stay
            self.refresh()
        self._share_later()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keeps text and figures as wide as their widest part, because they do not scroll
        sideways.
        """
        if event.type() == QEvent.Type.LayoutRequest:
            for area in (self._text_area, self._figure_area):
                if (content := area.widget()) is not None:
                    area.setMinimumWidth(content.minimumSizeHint().width() + SCROLL_BAR_PX)
            self._fit_heights()
        return super().eventFilter(watched, event)

    def _arrange(self) -> None:
        area = area_around(self) if self._is_stacked else None  # its bar disappears with the stack
        bar = area.verticalScrollBar() if area is not None else None
        own_bar = bar.width() if bar is not None and bar.isVisible() else 0
        self._is_stacked = self.width() + own_bar < scaled(STACKED)
        self._row.setDirection(
            QBoxLayout.Direction.TopToBottom
            if self._is_stacked
            else QBoxLayout.Direction.LeftToRight
        )
        take_out(self.next_button)
        # the button to the next chapter comes last
        row, index = (self._row, -1) if self._is_stacked else (self.text.end, 0)
        row.insertWidget(index, self.next_button, 0, Qt.AlignmentFlag.AlignLeft)
        self._fit_heights()

    def _fit_heights(self) -> None:
        """Gives text and figures their whole height if they are below each other; then only the
        window scrolls.
        """
        for figure in self.figures:
            if figure.takes_height:
                least = max(
                    scaled(FIGURE_HEIGHT_STACKED),
                    figure.column.totalMinimumHeightForWidth(self.width()),
                )
                figure.setMinimumHeight(least if self._is_stacked else 0)
        for area in (self._text_area, self._figure_area):
            content = area.widget()
            height = 0
            if self._is_stacked and content is not None:
                width = self.width()
                height = (
                    content.heightForWidth(width)
                    if content.hasHeightForWidth()
                    else content.sizeHint().height()
                )
                if area is self._figure_area and self.overlay.isVisible():
                    height = max(height, self.overlay.sizeHint().height())
            area.setMinimumHeight(height)

    def _share_later(self) -> None:
        """Shares the height after the figures and their headings have their widths."""
        QTimer.singleShot(0, self, self._share_height)

    def _share_height(self) -> None:
        """Gives each figure an equal part of the page's height, after the smallest size of a map if
        there is one.
        """
        self._fit_heights()
        height = self._figure_area.height() - scaled(GAP) * (len(self.figures) - 1)
        if self._is_stacked:
            height = scaled(FIGURE_HEIGHT_STACKED) * len(self.figures)
        others = []
        for figure in self.figures:
            if figure.takes_height:
                height -= figure.column.totalMinimumHeightForWidth(figure.width())
            else:
                others.append(figure)
        for figure in others:
            figure.set_available_height(height // len(others))

    def _begin(self) -> None:
        """Performs the first actions once there is a result, which they search for heads and
        cells.

        While that is about an earlier sentence, only those that change its view.
        """
        state, begin = self._state, self.chapter.begin
        if state.translation is None or self._has_begun:
            return
        if not state.shown.is_outdated:
            self._has_begun = True
            self._actions.perform(begin)
        elif not (self._has_begun_earlier or state.request.is_running):
            self._has_begun_earlier = True
            view = {name: value for name, value in begin.items() if name in VIEW_ACTIONS}
            self._actions.perform(view)

    def _on_result(self) -> None:
        if self.isVisible():
            self._begin()
            if not self._state.shown.is_outdated:
                self._actions.go_on()
            self.refresh()

    def _refresh_in_sight(self) -> None:
        if self.isVisible():
            self.refresh()

    def _lay_out(self) -> None:
        takes_height = any(figure.takes_height for figure in self.figures)
        parts = [(figure, int(figure.takes_height)) for figure in self.figures]
        figures = QWidget()
        column_of(*parts, *([] if takes_height else [1]), spacing=GAP, within=figures)
        self._text_area = VerticalScrollArea(self.text, self, takes_keys=True)
        # of one width: a figure with larger letters would bring the scroll bar, and lose it again
        self._figure_area = SteadyScrollArea(figures, self)
        self.overlay = OutdatedOverlay(self._figure_area.viewport())
        # in sight however far the text is scrolled
        text = column_of((self._text_area, 1), self.text.end, spacing=6)
        self._row = row_of(
            (text, TEXT_SHARE), (self._figure_area, FIGURE_SHARE), spacing=GAP, within=self
        )
        for content in (self.text, figures):
            content.installEventFilter(self)

    def _show_whole(self, prediction: PredictView) -> None:
        """Scrolls to a verdict that is not in sight, and to the figure that shows the answer."""
        if not prediction.verdict.is_in_sight:
            keep_in_sight(prediction, scaled(GAP))
        self._show_figure(prediction)

    def _show_figure(self, prediction: PredictView) -> None:
        """Scrolls to the figure that the question is about, unless that would hide the question."""
        for figure in self.figures:
            if figure.question == prediction.check and not self._is_stacked:
                self._figure_area.keep_in_sight(figure)
