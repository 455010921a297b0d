"""The left side of a chapter: title, claim, paragraphs, buttons and questions."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from augenmerk.viz_app.learn.chapter import Chapter, Paragraph, Predict, Try
from augenmerk.viz_app.learn.figures.figure import LearnContext
from augenmerk.viz_app.learn.predict_view import PredictView
from augenmerk.viz_app.learn.values import values_of
from augenmerk.viz_app.theme import scaled
from augenmerk.viz_app.widgets.layouts import FlowLayout, column_of

TRY_SPACING = 8


class ChapterText(QWidget):
    """The text of a chapter; its values follow the current experiment.

    Attributes:
        title: the name of the chapter.
        texts: one label for each stretch of text, the claim first.
        tries: the buttons that change something.
        back_button: restores the reader's own sentence; shown while the chapter has put another in its place.
        predictions: the questions.
        end: a layout for the button to the next chapter.

    Signals:
        tried(dict): a button was clicked; its actions.
        judged(PredictView): a question has its verdict.
    """

    tried = Signal(dict)
    judged = Signal(object)

    def __init__(self, chapter: Chapter, context: LearnContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.texts: list[tuple[Paragraph, QLabel]] = []
        self.tries: list[QPushButton] = []
        self.predictions: list[PredictView] = []
        self.title = QLabel(chapter.title)
        self.title.setProperty("role", "title")
        self.title.setWordWrap(True)
        self.back_button = QPushButton("Back to your sentence", self)
        self.back_button.clicked.connect(context.own.restore)
        content = column_of(
            self.title, self._text(chapter.claim, "claim"), spacing=10, margins=(4, 0, 14, 10), within=self
        )
        buttons: FlowLayout | None = None
        last_buttons: FlowLayout | None = None
        for block in chapter.blocks:
            if isinstance(block, Try):
                if buttons is None:
                    buttons = last_buttons = FlowLayout(scaled(TRY_SPACING))
                    content.addLayout(buttons)
                buttons.addWidget(self._try(block))
                continue
            buttons = None
            content.addWidget(self._text(block, "reading") if isinstance(block, Paragraph) else self._question(block))
        if last_buttons is not None:
            last_buttons.addWidget(self.back_button)
        self.end = column_of()
        content.addLayout(self.end)
        content.addStretch(1)
        context.own.changed.connect(self._offer_way_back)
        self._offer_way_back()

    def refresh(self) -> None:
        """Fills in the values of all texts."""
        for text, shown in self.texts:
            shown.setText(text.filled(values_of(self._context.state, text.values)))
        for prediction in self.predictions:
            prediction.refresh()

    def _offer_way_back(self) -> None:
        self.back_button.setVisible(bool(self.tries) and not self._context.own.is_shown)

    def _question(self, block: Predict) -> PredictView:
        prediction = PredictView(block, self._context)
        prediction.judged.connect(partial(self.judged.emit, prediction))
        self.predictions.append(prediction)
        return prediction

    def _text(self, text: Paragraph, role: str) -> QLabel:
        shown = QLabel()
        shown.setTextFormat(Qt.TextFormat.MarkdownText)
        shown.setWordWrap(True)
        shown.setProperty("role", role)
        shown.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.texts.append((text, shown))
        return shown

    def _try(self, block: Try) -> QPushButton:
        button = QPushButton(f"Try: {block.label}")
        button.clicked.connect(partial(self.tried.emit, dict(block.actions)))
        self.tries.append(button)
        return button
