"""The three panels of the Translate page: the sentence, all heads, one head."""

from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QGuiApplication
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QRadioButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from viz_app.examples import example_sentences
from viz_app.state.spans import ignored_span, unknown_spans
from viz_app.state.translate_state import Scale, TranslateState
from viz_app.theme import PANEL_MARGIN, Theme, set_role
from viz_app.widgets.chips import WordChips
from viz_app.widgets.eliding_label import ElidingLabel
from viz_app.widgets.head_grid import HeadGrid, HeadGridArea
from viz_app.widgets.heatmap import Heatmap
from viz_app.widgets.sentence_input import SentenceInput

BUSY_DELAY_MS = 250
LONG_TEXT = 150
SCALE_NAMES: dict[Scale, str] = {"shared": "scale: shared 0–1 ▾", "own": "scale: each its own ▾"}


class SentencePanel(QFrame):
    """Source, translation, word chips, and what there is to say about them.

    Attributes:
        input: the sentence to translate.
        sentence: the translation as a sentence.
        chips: its words.
        note: what happened to the text: unknown words, an end left out, a refusal.
        facts: log-probability and time.
        examples: the button that holds the example sentences.
    """

    def __init__(self, state: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._state = state
        self.input = SentenceInput(theme)
        self.sentence = _label("sentence", wraps=True)
        self.sentence.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.chips = WordChips(state, theme)
        self.note = _label("warm", wraps=True)
        self.facts = _label("small")
        self.facts.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.facts.setContentsMargins(0, 8, 7, 0)
        self._examples: tuple[str, ...] = ()
        self.examples = flat_button("examples ▾", "Choose an example")
        self.examples.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.set_examples(example_sentences())
        self.copy_button = flat_button("copy", "Copy the translation")
        self.copy_button.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.sentence.text()))
        self._busy_timer = QTimer(self)
        self._busy_timer.setSingleShot(True)
        self._busy_timer.setInterval(BUSY_DELAY_MS)
        self._busy_timer.timeout.connect(lambda: self.facts.setText("translating …"))
        self._is_dense = False
        self._source_name, self._target_name = _label("muted"), _label("muted")
        self._no_name = QWidget()
        self.set_languages(*state.languages)
        self._lay_out()
        self.show_hint("")

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self.input.apply_theme(theme)
        self.chips.apply_theme(theme)

    def set_languages(self, source: str, target: str) -> None:
        """Names the two sides."""
        self._source_name.setText(source.capitalize())
        self._target_name.setText(target.capitalize())
        width = max(label.sizeHint().width() for label in (self._source_name, self._target_name))
        for label in (self._source_name, self._target_name, self._no_name):
            label.setFixedWidth(width)
        self.input.setPlaceholderText(f"Type a {source} sentence" if source != "source" else "Type numbers with spaces")

    def set_busy(self, is_busy: bool) -> None:
        """Says so if an answer takes longer than a moment."""
        if is_busy:
            self._busy_timer.start()
        else:
            self._busy_timer.stop()

    def show_result(self) -> None:
        """Shows the state's translation, its notes, and its marks in the input if the text is still the same."""
        translation = self._state.translation
        assert translation is not None
        self.set_busy(False)
        self._adapt_density(max(len(translation.text), len(self.input.text)))
        set_role(self.sentence, "dense" if self._is_dense else "sentence")
        self.sentence.setText(translation.text)
        number = f"{translation.log_probability:.2f}".replace("-", "−")
        self.facts.setText(f"log-probability {number}\n{_duration(translation.seconds)}")
        self._say("\n".join(translation.notes))
        self.copy_button.setVisible(True)
        if self.input.text == translation.source_text:
            self.input.mark(unknown_spans(translation), ignored_span(translation))
        self.chips.setVisible(bool(translation.target_words))
        self.chips.rebuild()

    def show_problem(self, message: str) -> None:
        """Says why the text was refused; the typed text and the earlier translation stay."""
        self.set_busy(False)
        if self.facts.text() == "translating …":
            self.facts.clear()
        self._say(message)

    def show_hint(self, text: str) -> None:
        """No translation: a muted line where it would stand."""
        self.set_busy(False)
        set_role(self.sentence, "muted")
        self.sentence.setText(text)
        self.facts.clear()
        self.copy_button.setVisible(False)
        self._say("")
        self.chips.setVisible(False)
        self.chips.rebuild()

    def _adapt_density(self, num_characters: int) -> None:
        """Long sentences get smaller letters, so that the maps keep their room."""
        is_dense = num_characters > (LONG_TEXT - 20 if self._is_dense else LONG_TEXT)
        if is_dense != self._is_dense:
            self._is_dense = is_dense
            self.input.set_dense(is_dense)
            self.chips.set_dense(is_dense)

    def _say(self, text: str) -> None:
        self.note.setText(text)
        self.note.setVisible(bool(text))

    def set_examples(self, sentences: tuple[str, ...]) -> bool:
        """Offers other examples. One that stands in the input, untouched, gives way to the first of them: then True."""
        is_untouched = self.input.text in self._examples and self.input.text not in sentences
        self._examples = sentences
        menu = QMenu(self.examples)
        for sentence in sentences:
            menu.addAction(sentence).triggered.connect(partial(self.input.set_text, sentence))
        self.examples.setMenu(menu)
        self.examples.setEnabled(bool(sentences))
        if not (sentences and is_untouched):
            return False
        self.input.set_text(sentences[0])
        return True

    def _lay_out(self) -> None:
        self._source_name.setContentsMargins(0, 7, 0, 0)
        self._target_name.setContentsMargins(0, 5, 0, 0)
        self.sentence.setContentsMargins(3, 1, 0, 1)
        self.sentence.setMinimumHeight(26)
        self.note.setContentsMargins(self._no_name.width() + 15, 2, 0, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(PANEL_MARGIN, 10, PANEL_MARGIN - 6, 10)
        column.setSpacing(5)
        column.addLayout(_row(self._source_name, self.input, self.examples))
        column.addLayout(_row(self._target_name, self.sentence, self.copy_button))
        column.addLayout(_row(self._no_name, self.chips, self.facts))
        column.addWidget(self.note)


class HeadsPanel(QFrame):
    """All heads as thumbnails.

    Attributes:
        grid: the thumbnails.

    Signals:
        scale_chosen(str): "shared" or "own".
    """

    scale_chosen = Signal(str)

    def __init__(self, state: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._state = state
        self.grid = HeadGrid(state, theme)
        self.area = HeadGridArea(self.grid)
        self.scale_button = self._make_scale_button()
        hint = ElidingLabel("small", "← → heads   ↑ ↓ layers   (from the sentence: Esc first, or hold Alt)")
        title = _label("heading")
        title.setText("All heads")
        header = QHBoxLayout()
        header.addWidget(title)
        header.addStretch(1)
        header.addWidget(self.scale_button)
        header.addSpacing(4)
        column = QVBoxLayout(self)
        column.setContentsMargins(PANEL_MARGIN, 8, 4, 8)
        column.setSpacing(4)
        column.addLayout(header)
        column.addWidget(self.area, 1)
        column.addWidget(hint)

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self.grid.apply_theme(theme)

    def rebuild(self) -> None:
        """The translation or the scale changed."""
        self.scale_button.setText(SCALE_NAMES[self._state.scale])
        self.grid.rebuild()

    def show_choice(self) -> None:
        """Another head was chosen."""
        self.grid.update()
        self.area.show_choice(self._state.choice)

    def _make_scale_button(self) -> QToolButton:
        button = flat_button(SCALE_NAMES[self._state.scale], "How far the colours reach")
        menu = QMenu(button)
        group = QActionGroup(menu)
        texts: dict[Scale, str] = {
            "shared": "Shared: the last colour is weight 1 everywhere",
            "own": "Each its own: the last colour is the largest weight of that head",
        }
        for scale, text in texts.items():
            action = QAction(text, group, checkable=True, checked=scale == self._state.scale)
            action.triggered.connect(lambda _=False, chosen=scale: self.scale_chosen.emit(chosen))
            menu.addAction(action)
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        return button


class HeadPanel(QFrame):
    """The chosen head, large, with what its rows mean.

    Attributes:
        heatmap: the map.
        title, meaning: which head it is, and what a row of it means.
        read_button, predicted_button, hide_wrapping: how rows are named, and which are left out.

    Signals:
        label_mode_chosen(str): "read" or "predicted".
        hide_wrapping_chosen(bool)
    """

    label_mode_chosen = Signal(str)
    hide_wrapping_chosen = Signal(bool)

    def __init__(self, state: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._state = state
        self.heatmap = Heatmap(state, theme)
        self.title = _label("heading")
        self.meaning = _label("muted", wraps=True)
        self.read_button = QRadioButton("token read")
        self.predicted_button = QRadioButton("token predicted")
        self.hide_wrapping = QCheckBox("hide start and end tokens")
        self._group = QButtonGroup(self)
        self._group.addButton(self.read_button)
        self._group.addButton(self.predicted_button)
        (self.read_button if state.label_mode == "read" else self.predicted_button).setChecked(True)
        self.hide_wrapping.setChecked(state.hides_wrapping)
        self._rows_label = _label("muted")
        self._rows_label.setText("rows:")
        self._hidden_share = _label("small")
        self.read_button.toggled.connect(
            lambda is_read: self.label_mode_chosen.emit("read" if is_read else "predicted")
        )
        self.hide_wrapping.toggled.connect(self.hide_wrapping_chosen)
        self._lay_out()

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        self.heatmap.apply_theme(theme)

    def rebuild(self) -> None:
        """Another translation, head, label mode or scale."""
        state = self._state
        self.title.setText(state.choice.title)
        self.meaning.setText(state.meaning_of_rows())
        is_encoder = state.choice.kind == "encoder"
        for button in (self.read_button, self.predicted_button):
            button.setEnabled(not is_encoder)
            button.setToolTip("The encoder predicts nothing: its rows are the tokens it reads." if is_encoder else "")
        self.heatmap.rebuild()
        view = state.view()
        is_hiding = view is not None and state.hides_wrapping
        share = view.hidden_share if view is not None else 0.0
        self._hidden_share.setText(f"{100 * share:.0f} % of the attention goes there" if is_hiding else "")

    def _lay_out(self) -> None:
        controls = QHBoxLayout()
        controls.setSpacing(12)
        for widget in (self._rows_label, self.read_button, self.predicted_button):
            controls.addWidget(widget)
        controls.addSpacing(16)
        controls.addWidget(self.hide_wrapping)
        controls.addWidget(self._hidden_share, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(PANEL_MARGIN, 10, PANEL_MARGIN, 10)
        column.setSpacing(4)
        column.addWidget(self.title)
        column.addWidget(self.meaning)
        column.addSpacing(6)
        column.addWidget(self.heatmap, 1)
        column.addLayout(controls)


def _duration(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _row(name: QWidget, content: QWidget, button: QWidget) -> QHBoxLayout:
    """What it is, the thing itself, and what can be done with it."""
    row = QHBoxLayout()
    row.setSpacing(12)
    top = Qt.AlignmentFlag.AlignTop
    row.addWidget(name, 0, top)
    row.addWidget(content, 1)
    row.addWidget(button, 0, top | Qt.AlignmentFlag.AlignRight)
    return row


def flat_button(text: str, tip: str) -> QToolButton:
    """A word that can be pressed."""
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setProperty("role", "flat")
    return button


def _label(role: str, *, wraps: bool = False) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setProperty("role", role)
    label.setWordWrap(wraps)
    return label
