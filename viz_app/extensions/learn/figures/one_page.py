"""The whole model on one page: each box explains itself and leads to its chapter."""

from collections.abc import Mapping

from PySide6.QtWidgets import QPushButton, QWidget

from ....widgets.labels import label
from ....widgets.layouts import add_parts, row_of
from .figure import ChapterFigure, LearnContext
from .stack import MeasuredModel, StackDrawing, about

CLICK = "Click on a box to read what it does."


class OnePageFigure(ChapterFigure):
    """The model of this page as boxes.

    Attributes:
        stack: the boxes.
        says: explains the chosen one.
        chapter_button: opens the chapter about it.
    """

    caption = "The model. Read it from the bottom"
    takes_height = True

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.stack = StackDrawing("plain")
        self.stack.chosen.connect(self._explain)
        self.says = label("", CLICK, wraps=True)
        self.chapter_button = QPushButton("Open its chapter")
        self.chapter_button.clicked.connect(
            lambda: self.stack.module and context.open_part(self.stack.module)
        )
        self.chapter_button.setEnabled(False)
        add_parts(self.column, (self.stack, 1), row_of((self.says, 1), self.chapter_button))

    def redraw(self) -> None:
        """Shows the model at the length of the sentence."""
        model = self.state.model
        translation = self.translation
        if model is not None and translation is not None:
            lengths = len(translation.source_tokens), len(translation.predicted_tokens)
            self.stack.show_model(MeasuredModel.of(model, lengths))
            self._explain()

    def _explain(self) -> None:
        module = self.stack.module
        model = self.state.model
        self.chapter_button.setEnabled(module is not None)
        if module is None or model is None:
            self.says.setText(CLICK)
        else:
            self.says.setText(about(module, model.run.model, MeasuredModel.of(model).rows))
