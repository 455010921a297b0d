"""The lesson bar: the current scene, its text, navigation, and in edit mode the editing
commands.
"""

from collections.abc import Callable, Mapping
from textwrap import shorten

from PySide6.QtCore import QMimeData, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QFrame,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from augenmerk.core.extensions.lessons.lesson_file import (
    MAX_TEXT_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    Scene,
)

from ...theme import PANEL_MARGIN, scaled, scales, set_role
from ...widgets.buttons import flat_button
from ...widgets.commands import BoundCommand, add_shortcut
from ...widgets.labels import ElidingLabel, label, show_text
from ...widgets.layouts import FlowLayout, Space, column_of, keep_room, row_of, set_visible
from ..widgets.max_lines_label import MaxLinesLabel
from ..widgets.steady import text_height
from .lesson import OpenLesson, SceneAnswer, as_line, as_title
from .scene_commands import SCENE_COMMANDS

MAX_LINES, MAX_LINES_IF_LOW, MAX_LINES_IF_EDITED, LOW_WINDOW = 3, 2, 1, 740
"""Lines of a text; fewer in a window below this height, in pixels at 100%."""
NUM_ANSWER_LINES = 2
"""Lines that an answer has room for before it is shown."""
TEXT_MARGIN, TEXT_SPACING, ANSWER_SPACING = 8, 2, 10
BUSY_DELAY_MS = 250
CHANGED, AWAITED, COMPUTING = "changed", "translating…", "computing the answer…"
NO_SCENE = (
    "Add scene saves the current screen here: the sentence, its changes and the view of the maps."
)
TEXTS = (
    ("Explanation", "What to look at (optional)"),
    ("Question", "Asked before the answer is shown, and on the worksheet (optional)"),
    ("Answer", "Shown on request (optional)"),
)
NEEDS_TITLE, NEEDS_QUESTION = "Enter a title", "An answer needs a question"
MAX_QUESTION = 70
"""Characters of a question in the list of computed answers."""
TYPED, LARGE_MAP = "typed above, or none", "large map"


class LessonBar(QFrame):
    """Shows an `OpenLesson`; hidden while none is open.

    Attributes:
        back_button: leads to the previous scene; always there.
        on_button: leads to the next scene; always there.
        edit_button: changes the lesson; always there.
        close_button: closes the lesson; always there.
        question: the question of the scene.
        answer: its answer; `reveal_button` shows it.
        changes: a note that the screen differs from the scene, with `update_button` and
            `revert_button`, or that the scene is being computed.
        other_model: a note if the scene belongs to another model.
        edit_row: the buttons of the edit mode, by their texts in `edit_buttons`.
        is_wanted: returns whether an open lesson is shown on the current page.
        focus_to: the widget that gets the focus of a hidden bar.
        leave: calls a function that shows another scene, perhaps after asking about changes on the
            screen.
        scroll_scene: scrolls a presented scene a page forward or back, with a shown answer; False
            if nothing is left.

    Signals:
        arrows_changed(): `takes_arrows` may have changed.
    """

    arrows_changed = Signal()

    def __init__(self, lesson: OpenLesson, shown_answer: SceneAnswer) -> None:
        super().__init__()
        set_role(self, "panel")
        self._lesson, self._shown_answer = lesson, shown_answer
        self._arrow_keys: list[QShortcut] = []
        self.focus_to: QWidget | None = None
        self.is_wanted: Callable[[], bool] = lambda: True
        previous, following = SCENE_COMMANDS
        self.back_button = flat_button("◀", previous.tip_with_keys())
        self.back_button.setAccessibleName(previous.title)
        self.on_button = flat_button("▶", following.tip_with_keys())
        self.on_button.setAccessibleName(following.title)
        self.place = label("number")
        self.title = ElidingLabel("heading")
        self.text = MaxLinesLabel("", MAX_LINES)
        self.question, self.answer = (
            MaxLinesLabel("heading", MAX_LINES),
            MaxLinesLabel("accent", MAX_LINES),
        )
        self.reveal_button = flat_button(
            "Show the answer", following.tip_with_keys("Show the answer")
        )
        self.other_model = ElidingLabel("warm")
        self.other_model.hide()
        self.changes = label("warm", CHANGED)
        self.changes.setToolTip("The screen differs from this scene")
        self.update_button, self.revert_button = (
            flat_button("Update", ""),
            flat_button("Revert", ""),
        )
        self._wait_timer = QTimer(self, interval=BUSY_DELAY_MS, singleShot=True)
        self._wait_timer.timeout.connect(lambda: self._show_status(AWAITED))
        self.leave: Callable[[Callable[[], None]], None] = lambda act: act()
        self.scroll_scene: Callable[[int, bool], bool] = lambda by, is_answered: False
        self.edit_button = flat_button("Edit", "Add, change, order and delete scenes")
        self.edit_button.setCheckable(True)
        self.close_button = flat_button("✕", "Close the lesson")
        self.close_button.setAccessibleName("Close the lesson")
        self.edit_row = QWidget()
        self.edit_buttons: dict[str, QToolButton] = {}
        self._edit_commands: dict[str, BoundCommand] = {}
        self._lay_out()
        self._connect()
        self.rebuild()

    @property
    def is_editing(self) -> bool:
        """True if the buttons that change the lesson are there."""
        return self.edit_button.isChecked()

    @property
    def takes_arrows(self) -> bool:
        """True if ← and → step through scenes rather than heads: while a lesson is shown and not
        edited.
        """
        return self._lesson.lesson is not None and not self.is_editing

    def step_scene(self, by: int) -> bool:
        """Moves by a number of scenes, after all of this one was shown; False if no scene is
        shown.
        """
        lesson = self._lesson
        if self.scroll_scene(by, not self._shown_answer.can_show):
            return True
        if by > 0 and self._shown_answer.can_show:
            self._shown_answer.show()
        elif lesson.can_step_back if by < 0 else lesson.can_step_on:
            self.leave(lambda: lesson.step(by))
        return bool(lesson.scenes)

    @property
    def shows_changes(self) -> bool:
        """True if the screen differs from the scene."""
        return not self.update_button.isHidden()

    def show_changes(self, has_changes: bool, *, is_awaited: bool = False) -> None:
        """Shows whether the screen differs from the scene, or that the scene is awaited, after a
        moment.
        """
        if is_awaited and not self._wait_timer.isActive() and self.changes.text() != AWAITED:
            self._wait_timer.start()
        elif not is_awaited:
            self._wait_timer.stop()
        if not is_awaited or self.changes.text() != AWAITED:
            self._show_status(CHANGED if has_changes else "")

    def _show_status(self, text: str) -> None:
        show_text(self.changes, text)
        for button in (self.update_button, self.revert_button):
            set_visible(button, text == CHANGED, focus_to=self.on_button)

    def rebuild(self) -> None:
        """Updates the bar to the lesson."""
        lesson, answer = self._lesson, self._shown_answer
        set_visible(
            self,
            lesson.lesson is not None and self.is_wanted(),
            focus_to=self.focus_to or self.window(),
        )
        if lesson.lesson is None:
            self.edit_button.setChecked(False)
            return
        scene = lesson.scene
        self.place.setText(lesson.place_text)
        star = " *" if lesson.is_changed else ""
        # "Rename lesson" changes it
        names = [lesson.lesson.title] if scene is None or self.is_editing else []
        self.title.setText(" · ".join(names + ([scene.title] if scene is not None else [])) + star)
        self.title.setToolTip("")
        texts = (
            (NO_SCENE, "", "") if scene is None else (scene.text, scene.question, answer.text or "")
        )
        for part, text in zip((self.text, self.question, self.answer), texts, strict=True):
            part.set_text(text)
            part.setVisible(bool(text))
        if answer.is_computing:
            self.answer.set_text(COMPUTING)
            self.answer.setVisible(True)
        self._share_width(scene)
        set_visible(self.reveal_button, answer.can_show, focus_to=self.on_button)
        self.place.setToolTip(
            f"The lesson “{lesson.lesson.title}”{', not saved' if lesson.is_changed else ''}"
        )
        arrows = (
            (self.back_button, self.on_button, lesson.can_step_back),
            (self.on_button, self.back_button, lesson.can_step_on or answer.can_show),
        )
        for button, other, is_enabled in sorted(arrows, key=lambda arrow: not arrow[2]):
            had_focus = button.hasFocus()
            button.setEnabled(is_enabled)
            if had_focus and not is_enabled and other.isEnabled():
                other.setFocus()  # else Qt chooses, and the space bar would press something else
        self.edit_row.setVisible(self.is_editing)
        self._fit_texts()
        for shortcut in self._arrow_keys:
            shortcut.setEnabled(self.takes_arrows)
        for text, command in self._edit_commands.items():
            self.edit_buttons[text].setEnabled(command.is_offered)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_texts()

    def _share_width(self, scene: Scene | None) -> None:
        """Gives question and answer their widths, shown or not: the question must not wrap again
        when its answer appears.

        Both wrap to about as many lines. A computed answer, not known yet, gets half of the width.
        """
        self._answer_side.setVisible(scene is not None and scene.has_answer)
        if scene is None:
            return
        for index, (part, text) in enumerate(self._questions_and_answers(scene)):
            width = part.label.fontMetrics().horizontalAdvance(text)
            self._answered.setStretch(index, width + 1)

    def _questions_and_answers(self, scene: Scene) -> list[tuple[MaxLinesLabel, str]]:
        answer = scene.question if scene.check else scene.answer
        return [(self.question, scene.question), (self.answer, answer)]

    def _fit_texts(self) -> None:
        """In a low window the texts leave the maps their room: one line each above the buttons of
        the edit mode.
        """
        most = MAX_LINES
        if self.window().height() < scaled(LOW_WINDOW):
            most = MAX_LINES_IF_EDITED if self.is_editing else MAX_LINES_IF_LOW
        for part in (self.text, self.question, self.answer):
            part.set_max_lines(most)
        # the maps below stay in their place when the answer or another scene appears
        scenes = self._lesson.scenes
        room = max((self._height_of(scene, most) for scene in scenes), default=0)
        self._words.setMinimumHeight(room)
        scene = self._lesson.scene
        self._answered_row.setMinimumHeight(self._answered_height(scene, most) if scene else 0)

    def _height_of(self, scene: Scene, most: int) -> int:
        """The height that the texts of a scene need, with its answer, in pixels."""
        text = self._lines_height(self.text, scene.text, self._text_width, most)
        answered = self._answered_height(scene, most)
        return text + answered + (scaled(TEXT_SPACING) if text and answered else 0)

    def _answered_height(self, scene: Scene, most: int) -> int:
        """The height of a question next to its answer, which has room for some lines at least."""
        if not scene.has_answer:
            return self._lines_height(self.question, scene.question, self._text_width, most)
        width = self._text_width - scaled(ANSWER_SPACING)
        parts = self._questions_and_answers(scene)
        lengths = [part.label.fontMetrics().horizontalAdvance(text) + 1 for part, text in parts]
        heights = [
            self._lines_height(part, text, width * length // sum(lengths), most)
            for (part, text), length in zip(parts, lengths, strict=True)
        ]
        return max(*heights, min(most, NUM_ANSWER_LINES) * self.answer.line_height())

    def _lines_height(self, part: MaxLinesLabel, text: str, width: int, most: int) -> int:
        """The height of a text in a part of this width, in whole lines."""
        if not text:
            return 0
        metrics = part.label.fontMetrics()
        num_lines = round(text_height(metrics, text, width) / metrics.lineSpacing())
        return min(most, num_lines) * part.line_height()

    @property
    def _text_width(self) -> int:
        return self._words.contentsRect().width() - 2 * scaled(TEXT_MARGIN)

    def offer_editing(self, commands: Mapping[str, BoundCommand], *others: QWidget) -> None:
        """Fills the row of the edit mode with a button for each command, by its text, and other
        buttons.
        """
        flow = FlowLayout(2)
        self.edit_row.setLayout(flow)
        for text, command in commands.items():
            button = flat_button(text, command.command.tip)
            button.clicked.connect(lambda _=False, command=command: command.run())
            self._edit_commands[text], self.edit_buttons[text] = command, button
            flow.addWidget(button)
        for other in others:
            flow.addWidget(other)
        self.rebuild()

    def show_other_model(self, name: str) -> None:
        """Shows that the scene belongs to the model of this name, which is not open; hides it if
        empty.
        """
        show_text(
            self.other_model,
            f"This scene uses the model “{name}”, but another model is open." if name else "",
        )

    def _lay_out(self) -> None:
        before = self.back_button, self.place, self.on_button, Space(10)
        after = (
            self.changes,
            self.update_button,
            self.revert_button,
            self.reveal_button,  # in one place in all scenes, whatever their texts
            self.edit_button,
            self.close_button,
        )
        header = row_of(*before, (self.title, 1), *after, spacing=6)
        keep_room(self.reveal_button)
        top = Qt.AlignmentFlag.AlignTop
        self._answered_row, self._answer_side = QWidget(), QWidget()
        column_of((self.answer, 1, top), within=self._answer_side)
        parts = [(part, 1, top) for part in (self.question, self._answer_side)]
        self._answered = row_of(*parts, spacing=ANSWER_SPACING, within=self._answered_row)
        for part, *_ in parts:  # the stretch alone shares the width
            part.setSizePolicy(QSizePolicy.Policy.Ignored, part.sizePolicy().verticalPolicy())
        self._words = QWidget()
        column_of(
            self.text,
            self._answered_row,
            1,
            self.other_model,
            spacing=TEXT_SPACING,
            margins=(TEXT_MARGIN, 0, TEXT_MARGIN, 0),
            within=self._words,
        )
        margins = PANEL_MARGIN - 8, 3, PANEL_MARGIN - 8, 6
        # above the texts, which have more lines in some scenes
        column_of(header, self.edit_row, self._words, spacing=2, margins=margins, within=self)

    def _connect(self) -> None:
        lesson = self._lesson
        lesson.changed.connect(self.rebuild)
        self.back_button.clicked.connect(lambda: self.step_scene(-1))
        self.on_button.clicked.connect(lambda: self.step_scene(1))
        self._shown_answer.changed.connect(self.rebuild)
        self.reveal_button.clicked.connect(self._shown_answer.show)
        self.edit_button.toggled.connect(lambda _: self.rebuild())
        self.edit_button.toggled.connect(lambda _: self.arrows_changed.emit())
        lesson.changed.connect(self.arrows_changed.emit)
        inside = Qt.ShortcutContext.WidgetWithChildrenShortcut  # a button would take arrows
        self._arrow_keys = [
            add_shortcut(self, command.on(self), command.local_keys[:1], inside)
            for command in SCENE_COMMANDS
        ]


class LessonTextDialog(QDialog):
    """Asks for the title of a lesson, or for the texts of a scene.

    Attributes:
        title: the field of the title.
        texts: the fields of explanation, question and answer; none for a lesson.
        computed: the choice of a computed answer; its question replaces one of another choice, or
            an empty one.
        view: the choice of the part of the window that the scene shows.
        missing: names what OK still needs.
        buttons: OK, enabled once there is a title, and Cancel.

    Signals:
        given(list[str]): the title, which is not empty, then for a scene the texts and the names of
            check and view.
    """

    given = Signal(list)

    def __init__(
        self,
        heading: str,
        title: str,
        parent: QWidget,
        *,
        scene: Scene | None = None,
        questions: Mapping[str, tuple[str, str]] | None = None,
        views: Mapping[str, str] | None = None,
    ) -> None:
        """Args:
        heading: the title of the dialog.
        title: of the lesson or scene.
        parent: the window.
        scene: its other texts; None for a lesson.
        questions: chapter and text of those with computed answers, by their checks.
        views: the titles of the parts of the window, by name.
        """
        super().__init__(parent)
        self.setWindowTitle(heading)
        texts = () if scene is None else (scene.text, scene.question, scene.answer)
        self.title = QLineEdit(title)
        self.texts = [_ShortText(text) for text in texts]
        self._asked = questions or {}
        self._questions = {name: question for name, (_, question) in self._asked.items()}
        self.computed, self.view = QComboBox(), QComboBox()
        self.title.setMaxLength(MAX_TITLE_CHARACTERS)
        self.title.setPlaceholderText("Required")
        self.title.selectAll()  # typing replaces it
        self.buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self.missing = label("warm")
        self.buttons.accepted.connect(self._give)
        self.buttons.rejected.connect(self.reject)
        self.title.textChanged.connect(lambda _: self._fit())
        form = QFormLayout(self)
        form.addRow("Title", self.title)
        for field, (name, hint) in zip(self.texts, TEXTS, strict=False):
            field.setTabChangesFocus(True)
            field.setFixedHeight(5 * field.fontMetrics().lineSpacing())
            field.setPlaceholderText(hint)
            field.textChanged.connect(self._fit)
            form.addRow(name, field)
        if scene is not None:
            short = {
                name: shorten(f"{chapter}: {question}", MAX_QUESTION, placeholder="…")
                for name, (chapter, question) in self._asked.items()
            }
            self.computed = _choice(scene.check, {"": TYPED, **short})
            self.computed.activated.connect(self._ask_computed)
            self.view = _choice(scene.page, {"": LARGE_MAP, **(views or {})})
            form.addRow("Computed answer", self.computed)
            form.addRow("Shows", self.view)
        form.addRow(self.missing)
        form.addRow(self.buttons)
        scales(self.setMinimumWidth, 530)
        self._before = self._given()
        self._fit()

    def _fit(self) -> None:
        title, *texts = self._given()
        can_ask = not texts or bool(texts[1]) or not any(texts[2:4])
        for field in self.texts[1:2]:
            field.setPlaceholderText(TEXTS[1][1] if can_ask else NEEDS_QUESTION)
        missing = "" if can_ask else NEEDS_QUESTION
        if not title:
            missing = NEEDS_TITLE
        self.missing.setText(missing)
        ok = self.buttons.button(QDialogButtonBox.StandardButton.Ok)
        ok.setEnabled(not missing)
        ok.setToolTip(missing)

    def _ask_computed(self) -> None:
        """Asks the question of the computed answer, unless the user typed another one."""
        question = self.texts[1]
        if question.toPlainText() in ("", *self._questions.values()):
            question.setPlainText(self._questions.get(self.computed.currentData(), ""))
        self._fit()

    def _given(self) -> list[str]:
        texts = [as_line(text.toPlainText()) for text in self.texts]
        names = [self.computed.currentData(), self.view.currentData()] if texts else []
        return [as_title(self.title.text()), *texts, *names]

    def _give(self) -> None:
        self.given.emit(self._given())
        self.accept()

    def reject(self) -> None:
        """Closes the dialog, after asking if that would discard typed text."""
        if self._given() == self._before:
            super().reject()
            return
        buttons = QMessageBox.StandardButton
        question = QMessageBox(
            QMessageBox.Icon.Question,
            self.windowTitle(),
            "Discard the changes to these texts?",
            buttons.Discard | buttons.Cancel,
            self,
        )
        question.button(buttons.Discard).clicked.connect(
            lambda: self.done(QDialog.DialogCode.Rejected)
        )
        question.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        question.open()


class _ShortText(QPlainTextEdit):
    """A field for a text of a scene."""

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Pastes text only, and no more than a scene can have: laying out megabytes takes
        seconds.
        """
        self.insertPlainText(source.text()[:MAX_TEXT_CHARACTERS])


def _choice(chosen: str, entries: Mapping[str, str]) -> QComboBox:
    """A choice of a name by its title; a chosen name that is unknown is an entry, too."""
    box = QComboBox()
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    for name, title in ({chosen: chosen} | dict(entries)).items():
        box.addItem(title, name)
    box.setCurrentIndex(box.findData(chosen))
    return box
