"""Example sentences: the button that offers them, and the gallery as a list by topic."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from augenmerk.core.maps.selection import DEFAULT_LABEL_MODE
from augenmerk.core.resources import example_sentences
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.result import Translation

from ...state.experiment_editor import show_experiment
from ...state.languages import language_names
from ...state.map_view import Pair
from ...state.model_info import ModelInfo
from ...theme import scaled, scales
from ...views.cell_menu import Popup
from ...views.sentence import SentencePanel
from ...widgets.buttons import MenuButton, flat_button
from ...widgets.labels import ElidingLabel, label
from ...widgets.layouts import VerticalScrollArea, column_of
from .gallery import Example, copy_examples, gallery

GALLERY_ENTRY = "What attention shows: a gallery…"
MORE_SENTENCES = "More sentences, without notes"
GALLERY_OF_ANOTHER_MODEL = "The gallery describes the bundled model. Open it to use the gallery."
EXAMPLES_LANGUAGE = "German"
WIDTH, MAX_HEIGHT, MARGIN, BESIDE = 560, 560, 8, 16
"""`BESIDE`: the width of the frame and a scroll bar."""


class GalleryPopup(Popup):
    """Opens below a button, and closes with a choice, Escape, or a click elsewhere.

    Attributes:
        buttons: one for each example, in their order.

    Signals:
        chosen(Example)
    """

    chosen = Signal(object)

    def __init__(self, examples: Sequence[Example], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAccessibleName("Examples")
        self.buttons: list[QToolButton] = []
        content = QWidget()
        column = column_of(spacing=2, margins=(MARGIN,) * 4, within=content)
        for group, members in groupby(examples, key=lambda example: example.group):
            heading = label("heading", group)
            scales(heading.setContentsMargins, MARGIN, MARGIN, 0, 0)
            column.addWidget(heading)
            for example in members:
                button = _button(example)
                button.clicked.connect(partial(self._choose, example))
                self.buttons.append(button)
                column.addWidget(button)
        column.addStretch(1)
        column_of(VerticalScrollArea(content), margins=(1,) * 4, within=self)
        self._content = content

    def open_below(self, button: QWidget) -> None:
        """Opens below the button, right-aligned with it, within the screen."""
        width, inner = scaled(WIDTH), scaled(WIDTH - BESIDE)
        self._content.setFixedWidth(inner)
        height = min(self._content.heightForWidth(inner) + 4, scaled(MAX_HEIGHT))
        self.resize(width, height)
        self.show_at(button.mapToGlobal(QPoint(button.width() - width, button.height())))
        if self.buttons:
            self.buttons[0].setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows walk from one to the next; Enter chooses, as in a menu."""
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
        focused = next(
            (index for index, button in enumerate(self.buttons) if button.hasFocus()), None
        )
        if focused is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.buttons[focused].click()
        elif step is None or focused is None:
            super().keyPressEvent(event)
        else:
            self.buttons[(focused + step) % len(self.buttons)].setFocus()

    def _choose(self, example: Example) -> None:
        self.close()
        self.chosen.emit(example)


class ExamplesMenu(MenuButton):
    """Offers sentences that suit the model, next to the field of a sentence: by topic, or in a
    plain list.
    """

    def __init__(self, panel: SentencePanel) -> None:
        super().__init__("Examples ▾", "Choose an example")
        self._panel = panel
        self._state = panel.state
        self._field = panel.input
        self._sentences: tuple[str, ...] = ()
        self._is_bundled: bool | None = None
        self._shown: Example | None = None
        self._kind: tuple[bool, str] | None = None
        self._own_texts: dict[tuple[bool, str] | None, str] = {}
        self._offered_texts: set[str] = set()
        panel.rows.add_beside_field(self)
        panel.other_way = lambda: "choose an example" if self.isEnabled() else ""
        if self._state.model is None:
            self._offer(example_sentences())
        else:
            self._on_model(self._state.model)
        self._state.model_changed.connect(self._on_model)

    def open_gallery(self) -> None:
        """Offers the examples by topic; the chosen one is translated, and its head and cell are
        shown.

        Not for another model, as the hints may not hold there.
        """
        model = self._state.model
        if model is not None and not model.is_bundled:
            self._state.report(GALLERY_OF_ANOTHER_MODEL)
            return
        popup = GalleryPopup(gallery(), self)
        popup.chosen.connect(self.show_example)
        popup.open_below(self)

    def show_example(self, example: Example) -> None:
        """Translates an example; its head is chosen, its cell pinned once it is known."""
        self._field.show_text(example.text)
        if self._shown is None:
            self._state.result_changed.connect(self._point_at_example)
        self._shown = example
        self._state.submit(show_experiment(example.experiment))

    def _show_plain(self, sentence: str, _checked: bool = False) -> None:
        """Translates a sentence, without the changes that belong to an example of the gallery."""
        if self._state.experiment.source_text in {example.text for example in gallery()}:
            self._field.show_text(sentence)
            self._state.submit(show_experiment(Experiment(sentence)))
        else:
            self._field.set_text(sentence)

    def _point_at_example(self) -> None:
        """Shows head and cell of the example once its translation arrives."""
        example = self._shown
        translation = self._state.translation
        if example is None or translation is None or translation.experiment != example.experiment:
            return
        self._shown = None
        self._state.result_changed.disconnect(self._point_at_example)
        self._panel.notes.expect_plain("" if example.is_failure else example.hint)
        self._state.report(example.hint)
        self._state.settings.label_mode = DEFAULT_LABEL_MODE  # the hints refer to these rows
        self._state.intents.choose_head(example.head)
        self._state.selection.pinned = cell_of(translation, example)

    def _on_model(self, model: ModelInfo) -> None:
        self._restore_own_text((model.run.is_copy_task, language_names(model.run)[0]))
        if model.run.is_copy_task:
            self._offer(copy_examples(model.run.data.copy_symbols))
        else:
            self._offer(
                example_sentences() if language_names(model.run)[0] == EXAMPLES_LANGUAGE else ()
            )

    def _restore_own_text(self, kind: tuple[bool, str]) -> None:
        """Shows the last sentence for models of this kind again after those of another kind.

        It also replaces a sentence that came with the model before.
        """
        text, panel = self._state.experiment.source_text, self._panel
        is_offered = text in self._offered_texts
        if self._kind is not None and not is_offered:
            self._own_texts[self._kind] = text
        self._offered_texts.add(panel.offered_text)
        own = self._own_texts.get(kind, text)
        if (is_offered or kind != self._kind) and own != text and self._field.is_committed:
            self._state.prepare_text(own)
        self._kind = kind

    def _offer(self, sentences: tuple[str, ...]) -> None:
        """Offers other examples.

        An untouched example in the input gives way to the first of them, unless requested.
        """
        model = self._state.model
        text = self._state.experiment.source_text
        is_bundled = model is None or model.is_bundled
        if (sentences, is_bundled) == (self._sentences, self._is_bundled):
            return
        is_old_example = (
            text in (*self._sentences, self._panel.offered_text) and text not in sentences
        )
        is_untouched = (
            is_old_example and text != self._panel.requested_text and self._field.is_committed
        )
        self._sentences, self._is_bundled = sentences, is_bundled
        plain = menu = QMenu(self)
        if is_bundled and sentences == example_sentences() and gallery():
            menu.addAction(GALLERY_ENTRY).triggered.connect(self.open_gallery)
            plain = menu.addMenu(MORE_SENTENCES)
            of_gallery = {example.text for example in gallery()}
        else:
            of_gallery = set()
        for sentence in sentences:
            if sentence not in of_gallery:
                plain.addAction(sentence).triggered.connect(partial(self._show_plain, sentence))
        old = self.menu()
        self.setMenu(menu)
        if old is not None:
            old.deleteLater()
        self.setEnabled(bool(sentences))
        if sentences and is_untouched:
            self._state.prepare_text(sentences[0])


def _button(example: Example) -> QToolButton:
    """A button with the sentence and, below it, the hint."""
    button = flat_button("", "")
    button.setAccessibleName(example.text)
    button.setAccessibleDescription(example.hint)
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    see = label("warm" if example.is_failure else "small", example.hint, wraps=True)
    column_of(
        ElidingLabel("number", example.text), see, spacing=0, margins=(MARGIN,) * 4, within=button
    )
    return button


def cell_of(translation: Translation, example: Example) -> Pair | None:
    """The cell of the example's two words; None if the translation lacks one of them."""
    targets = [word for word in translation.target_words if word.text.lower() == example.target]
    sources = [word for word in translation.source_words if word.text.lower() == example.source]
    return Pair(targets[0].start, sources[0].start) if targets and sources else None
