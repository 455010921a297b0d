"""Lessons as a part of the window."""

from dataclasses import dataclass
from typing import Any

from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QMenu

from augenmerk.core.errors import MissingExtensionError

from ...pages import TRANSLATE
from ...views.all_heads_panel import KEYS
from ...widgets.commands import BoundCommand, add_shortcut
from ...widgets.dialogs import show_failure
from ...window_part import WindowPart
from ...worker.inference import Failure
from ..documents.part import DocumentsPart
from ..learn.part import LearnPart
from ..presentation.presentation import PresentationPart
from .lesson_bar import LessonBar
from .lesson_documents import LESSON_COMMANDS, SAVE_LESSON, LessonDocuments, make_lesson_menu
from .scene_answers import SceneAnswers
from .scene_commands import KEYS_BESIDE_SCENES, SCENE_COMMANDS

SAVE_KEY = QKeySequence("Ctrl+S")


@dataclass(frozen=True)
class _ScenesByArrows:
    """The scenes while ← and → step through them rather than through heads."""

    bar: LessonBar

    def step_scene(self, by: int) -> bool:
        return self.bar.takes_arrows and self.bar.step_scene(by)


class LessonsPart(WindowPart):
    """The lesson that is shown above the Translate page.

    Attributes:
        documents: opens, edits and saves lessons.
    """

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        experiments = window.part(DocumentsPart)
        if experiments is None:
            raise MissingExtensionError("Lessons need the extension “documents”, which is missing.")
        documents = LessonDocuments(
            window.state, window.worker, experiments.documents, window.preferences, window
        )
        self.documents = documents
        self.bar = documents.bar
        self._failure: Failure | None = None
        window.commands.add(documents.bar, SCENE_COMMANDS, documents.bar)
        window.commands.add(documents, LESSON_COMMANDS)
        documents.done.connect(window.top_bar.show_notice)
        self._save_shortcut = add_shortcut(window, SAVE_LESSON.on(documents), ("Ctrl+S",))
        self._save_shortcut.setEnabled(False)

    def begin(self) -> None:
        """Connects the lesson with the pages, the chapters, and the presentation."""
        window = self.window
        lessons = self.documents
        bar = self.documents.bar
        pages = window.pages
        page = window.translate_page
        controller = window.translate_page.controller
        pages.shown.connect(lambda _name: bar.rebuild())
        lessons.experiments.lesson_read.connect(lambda *_: pages.show(TRANSLATE))
        bar.edit_button.toggled.connect(lambda _: self._take_save_key())
        lessons.lesson.changed.connect(self._take_save_key)
        bar.focus_to = page.heads.grid
        bar.is_wanted = self._is_in_sight
        bar.arrows_changed.connect(
            lambda: page.heads.hint.setText(KEYS_BESIDE_SCENES if bar.takes_arrows else KEYS)
        )
        page.sentence.undo_before = lessons.editing.restore_scene
        page.key_commands += [command.on(_ScenesByArrows(bar)) for command in SCENE_COMMANDS]
        page.own_settings = lambda: lessons.own_settings
        lessons.screen.answers = SceneAnswers(controller.state, controller.ask)
        learn = window.part(LearnPart)
        if learn is not None:
            learn.lessons = lessons.listed
        presenting = window.part(PresentationPart)
        if presenting is not None:
            self._present(presenting)

    def _take_save_key(self) -> None:
        """Ctrl+S saves the lesson while it is edited; else it does what another part does."""
        for shortcut in self.window.findChildren(QShortcut):
            if SAVE_KEY in shortcut.keys():  # noqa: SIM118 — of a QShortcut
                is_own = shortcut is self._save_shortcut
                shortcut.setEnabled(is_own == self.documents.bar.is_editing)

    def _present(self, presenting: PresentationPart) -> None:
        lessons = self.documents
        shown = presenting.presentation
        lessons.views = presenting.views
        shown.scene_words = lessons.scene_words
        shown.scene_commands = [command.on(lessons.bar) for command in SCENE_COMMANDS]
        lessons.bar.scroll_scene = shown.scroll_scene
        for changed in (lessons.lesson.changed, lessons.answer.changed):
            changed.connect(shown.show_scene)

    def menus(self) -> tuple[QMenu, ...]:
        """See `WindowPart`."""
        return (make_lesson_menu(self.documents, self.window),)

    def palette(self) -> list[BoundCommand]:
        """A command for each lesson."""
        return self.documents.listed()

    def restore(self, *, shows_screen: bool) -> bool:
        """See `WindowPart`."""
        self._failure = self.documents.restore(shows_scene=shows_screen)
        return bool(self.documents.lesson.scenes)

    def shown(self) -> None:
        """Shows all heads if the scene does; reports that the last lesson could not be opened."""
        scene, views = self.documents.lesson.scene, self.documents.views
        if scene is not None and not scene.page and views is not None:
            views.make_room_for_heads()
        if self._failure is not None:
            show_failure(self.window, "The last lesson was not opened", self._failure)

    @property
    def has_unsaved_changes(self) -> bool:
        """See `WindowPart`."""
        return self.documents.has_unsaved_changes

    def once_saved(self, act: Any) -> None:
        """See `WindowPart`."""
        self.documents.once_saved(act)

    def _is_in_sight(self) -> bool:
        """Whether the current page belongs to the lesson: the Translate page, or another one that
        its scene shows.
        """
        scene = self.documents.lesson.scene
        return self.window.pages.current == TRANSLATE or (scene is not None and bool(scene.page))
