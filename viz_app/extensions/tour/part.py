"""The quick tour as a part of the window."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QTimer

from ...pages import TRANSLATE
from ...widgets.commands import BoundCommand, Command
from ...window_part import WindowPart
from ..learn.part import NAME as LEARN
from ..lessons.part import LessonsPart
from .quick_tour import QUICK_TOUR_COMMANDS, QuickTour


class TourPart(WindowPart):
    """Offers the quick tour to new users, and to all in the menu."""

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        (self._entry,) = window.commands.add(self, (TOUR,))

    def menu_entries(self) -> tuple[BoundCommand, ...]:
        """See `WindowPart`."""
        return (self._entry,)

    def sheet(self) -> Sequence[Command[Any]]:
        """See `WindowPart`."""
        return QUICK_TOUR_COMMANDS

    def welcome(self) -> None:
        """Offers the tour to new users."""
        if self.is_due:
            self.offer()

    @property
    def is_due(self) -> bool:
        """Whether the tour was never left, and neither changes nor a lesson were restored: it needs
        their place.
        """
        window = self.window
        return not (
            self._has_lesson
            or window.state.experiment.interventions
            or window.preferences.has_taken_quick_tour
        )

    def offer(self) -> None:
        """Shows the steps of the quick tour above the sentence, once there is a translation."""
        window = self.window
        page = self.window.translate_page
        window.pages.show(TRANSLATE)
        if page.findChildren(QuickTour):
            return
        if self._has_lesson:
            window.top_bar.show_notice("Close the lesson, then take the quick tour")
            return
        window.state.report("")  # a note about an example refers to another cell
        steps = QuickTour(window.state, page)
        text = page.sentence.input.text

        def end() -> None:
            window.preferences.has_taken_quick_tour = True
            steps.hide()
            steps.deleteLater()

        def take_keyboard() -> None:
            """Moves the focus unless the user has typed meanwhile."""
            if page.sentence.input.text == text:
                steps.next_button.setFocus()

        steps.begun.connect(take_keyboard)
        steps.ended.connect(end)
        if LEARN in window.pages.parts:
            steps.learn_wanted.connect(lambda: window.pages.show(LEARN))
        steps.typing_wanted.connect(window.pages.focus_sentence)
        page.show_above(steps)
        if steps.has_begun:
            take_keyboard()

    def begin(self) -> None:
        """Gives way to a lesson: one bar above the sentence is enough."""
        lessons = self.window.part(LessonsPart)
        if lessons is not None:
            lessons.documents.lesson.changed.connect(self._give_way)

    def _give_way(self) -> None:
        if self._has_lesson:
            for steps in self.window.translate_page.findChildren(QuickTour):
                QTimer.singleShot(0, steps, steps.ended.emit)

    @property
    def _has_lesson(self) -> bool:
        lessons = self.window.part(LessonsPart)
        return lessons is not None and lessons.documents.lesson.lesson is not None


TOUR = Command[TourPart]("Quick tour", TourPart.offer, group="Help")
