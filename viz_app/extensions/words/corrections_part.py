"""Offers to correct typing errors, in the line for messages."""

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QStyle, QStyleOptionToolButton, QStylePainter, QToolButton

from augenmerk.core.extensions.corrections import with_case_of
from augenmerk.core.translation.result import Translation

from ...state.experiment_state import RequestState
from ...state.sentence_text import word_ranges
from ...theme import set_role
from ...views.sentence import SentencePanel
from ...widgets.layouts import set_visible
from .corrections import CorrectionsJob
from .sentence_part import SentencePart

TIP = "Replace words that the training data lacks by known ones"


class Offer:
    """Looks for corrections of each sentence that is translated.

    Attributes:
        button: corrects the sentence; hidden without need.
    """

    def __init__(self, panel: SentencePanel) -> None:
        self._panel = panel
        self._request = RequestState()
        self._corrected = ""
        self.button = _ElidingButton()
        self.button.clicked.connect(self._correct)
        self.button.hide()
        panel.interventions.add_button(self.button)
        panel.state.result_changed.connect(self._look, max_args=0)
        panel.input.textChanged.connect(self._hide)

    def _look(self) -> None:
        self._hide()
        result, controller = self._panel.state.current, self._panel.controller
        coverage = result.original.coverage if result is not None else None
        if result is None or controller is None or coverage is None:
            return
        if any(not word.count for word in coverage.rare_words):
            show = partial(self._show, result.original)
            controller.ask(CorrectionsJob(result.original), self._request, show)

    def _show(self, translation: Translation, corrections: Mapping[str, str]) -> None:
        text = translation.source_text
        if not corrections or text != self._panel.input.text:
            return
        offered: dict[str, None] = {}
        corrected, end = "", 0
        for word, (first, last) in word_ranges(translation).items():
            if word.text in corrections:
                written = with_case_of(text[first:last], corrections[word.text])
                offered[f"“{written}”"] = None
                corrected += text[end:first] + written
                end = last
        self._corrected = corrected + text[end:]
        question = f"Did you mean {', '.join(offered)}?"
        self.button.setText(question)
        self.button.setToolTip(f"{question}\n{TIP}")
        self.button.setVisible(bool(offered))

    def _hide(self) -> None:
        set_visible(self.button, False, focus_to=self._panel.input)

    def _correct(self) -> None:
        self._panel.input.set_text(self._corrected)


class _ElidingButton(QToolButton):
    """Shows the beginning of its text where it is narrower."""

    def __init__(self) -> None:
        super().__init__()
        set_role(self, "message")

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        missing = self.sizeHint().width() - self.width()
        if missing > 0:
            metrics = self.fontMetrics()
            room = metrics.horizontalAdvance(self.text()) - missing
            option.text = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, room)
        QStylePainter(self).drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option)


class CorrectionsPart(SentencePart[Offer]):
    """Offers corrections on each page that has a sentence."""

    make = Offer
