"""Lessons in the window: opened, shown scene by scene, edited, saved, closed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QDialog, QMenu, QMessageBox, QWidget

from augenmerk.core.errors import AugenmerkError, ExperimentFileError
from augenmerk.core.extensions.lessons.lesson_file import (
    Lesson,
    Scene,
    read_lesson_file,
    write_lesson_file,
)
from augenmerk.core.quantities import counted
from augenmerk.core.resources import resource_path
from augenmerk.core.translation.experiment_file import (
    SUFFIX,
)

from ...preferences import Preferences
from ...state.experiment_editor import Edit
from ...state.experiment_state import ExperimentState
from ...state.map_view_settings import MapViewSettings
from ...state.model_info import ModelInfo
from ...views.commands import UNDO
from ...widgets.commands import BoundCommand, Command
from ...widgets.dialogs import ask_where_to_save, open_box, show_failure
from ...worker.inference import Failure, InferenceWorker, Request
from ..documents.experiment_documents import NOTHING, ExperimentDocuments
from ..documents.reading import (
    SHIPPED_LESSONS,
    is_shipped,
    saved_experiment,
    with_contents,
)
from ..pictures.html_page import save_lesson_page
from ..pictures.menu import WebPageJob, WritingDialog
from ..pictures.page_lesson import PageLesson, check_model
from ..pictures.page_parts import NOTHING_CHOSEN
from ..pictures.saving import as_file_name
from ..pictures.sheet_pdf import save_sheet_pdf
from ..pictures.worksheet import Sheet, save_sheet
from ..presentation.pointer import pointer_button
from .kept_lesson import BEFORE_LESSON, KeptLesson, ScreenBeforeLesson
from .lesson import OpenLesson, SceneAnswer, Views, as_title
from .lesson_bar import COMPUTING, LessonBar, LessonTextDialog
from .lesson_export import (
    LessonResultsJob,
    SceneResult,
    origin_of,
    scene_parts,
    sheet_scenes,
    web_page_scenes,
)
from .scene_answers import answer_now
from .scene_on_screen import SceneOnScreen

FORMATS = {SUFFIX.removeprefix("."): f"Lessons (*{SUFFIX})", "": "All files (*)"}
PREFIX = "Lesson: "
"""Prefix of titles in the palette."""
LESSON_FILES = {"html": "Page for the browser (*.html)", "pdf": "PDF (*.pdf)"}
RUNNING_PAGES = {"html": "Page that runs the model (*.html)"}
SCENE_TEXTS = "title", "text", "question", "answer", "check", "page"
"""The fields of a scene that its dialog asks for."""
SHEETS = {
    "html": "Page for the browser and the printer (*.html)",
    "pdf": "PDF (*.pdf)",
    "md": "Markdown (*.md)",
}
SHEET_NAMES: dict[Sheet, str] = {
    "worksheet": "a worksheet",
    "solutions": "the solutions of a worksheet",
    "scenes": "the scenes",
}


class LessonEditing:
    """Asks in dialogs and changes the lesson; a dialog reports a failure."""

    def __init__(self, documents: "LessonDocuments") -> None:
        self._documents = documents
        self._state = documents.state
        self._lesson = documents.lesson

    def add_scene(self) -> None:
        """Asks for the text of a new scene of the current experiment, and begins editing."""
        if not self._state.is_translated:
            self._documents.done.emit(NOTHING)
            return
        saved = saved_experiment(self._state)

        def add(*texts: str) -> None:
            shown = with_contents(saved, self._state, texts[-1])
            self._documents.keep_screen()
            self._lesson.add(Scene(saved=shown, **dict(zip(SCENE_TEXTS, texts, strict=True))))
            self._documents.bar.edit_button.setChecked(True)

        views = self._documents.views
        page = (
            views.presentable
            if views is not None and views.presentable in views.view_titles()
            else ""
        )
        self._ask("Add a scene", "", Scene("", "", saved, page=page), add)

    def update_scene(self) -> None:
        """Replaces the scene's experiment and view by those on the screen."""
        scene = self._lesson.scene
        state = self._state
        if scene is not None and state.result is not None:
            saved = with_contents(saved_experiment(state), state, scene.page)
            self._try(lambda: self._lesson.change_scene(saved=saved))

    def delete_scene(self) -> None:
        """Deletes the current scene; undo restores it."""
        if (scene := self._lesson.scene) is not None:
            self._lesson.delete()
            self._documents.done.emit(f"Deleted “{scene.title}”. {UNDO.shown_keys} restores it")

    def restore_scene(self) -> None:
        """Restores the scene that was deleted last."""

        def restore() -> None:
            if self._lesson.restore_deleted() and (scene := self._lesson.scene) is not None:
                self._documents.done.emit(f"Restored “{scene.title}”")

        self._try(restore)

    def ask_for_texts(self) -> None:
        """Asks for other texts of the current scene."""
        scene = self._lesson.scene
        if scene is None:
            return

        def change(*texts: str) -> None:
            is_other = texts[-1] != scene.page
            saved = with_contents(scene.saved, self._state, texts[-1]) if is_other else scene.saved
            self._lesson.change_scene(saved=saved, **dict(zip(SCENE_TEXTS, texts, strict=True)))

        self._ask("The texts of this scene", scene.title, scene, change)

    def ask_for_title(self) -> None:
        """Asks for another title of the lesson."""
        if self._lesson.lesson is not None:
            self._ask("Rename the lesson", self._lesson.lesson.title, None, self._lesson.rename)

    def _ask(self, heading: str, title: str, scene: Scene | None, act: Callable[..., None]) -> None:
        answers = self._documents.screen.answers
        views = self._documents.views
        questions = answers.questions() if answers is not None else None
        titles = views.view_titles() if views is not None else None
        dialog = LessonTextDialog(
            heading, title, self._documents.window, scene=scene, questions=questions, views=titles
        )
        dialog.given.connect(lambda words: self._try(lambda: act(*words)))
        self._documents.show_dialog(dialog)

    def _try(self, act: Callable[[], object]) -> None:
        try:
            act()
        except ExperimentFileError as error:
            show_failure(self._documents.window, "The lesson was not changed", Failure.of(error))


class LessonExport:
    """Computes all scenes with the current model and writes files of them; a dialog reports a
    failure.
    """

    def __init__(self, documents: "LessonDocuments", worker: InferenceWorker) -> None:
        self._documents, self._worker = documents, worker

    def ask_for_web_page(self) -> None:
        """Asks for the path of the page."""
        self._documents.ask_for_file("Export the lesson", LESSON_FILES, self.save_web_page, "page")

    def save_web_page(self, path: Path) -> None:
        """Writes a page with all scenes; as PDF, without a script."""
        if path.suffix.lower() == ".pdf":
            self.save_sheet("scenes", path)
            return

        def write(lesson: Lesson, results: Sequence[SceneResult], model: ModelInfo) -> None:
            parts = scene_parts(lesson, results, model, self._view_titles)
            save_lesson_page(lesson.title, parts, path, origin_of(results, model))

        self._compute_then("page", path, write)

    def ask_for_sheet(self, sheet: Sheet) -> None:
        """Asks for the path and format of a sheet."""
        self._documents.ask_for_file(
            f"Export {SHEET_NAMES[sheet]}", SHEETS, partial(self.save_sheet, sheet), sheet
        )

    def save_sheet(self, sheet: Sheet, path: Path) -> None:
        """Writes the lesson for print."""
        save = save_sheet_pdf if path.suffix.lower() == ".pdf" else save_sheet

        def write(lesson: Lesson, results: Sequence[SceneResult], model: ModelInfo) -> None:
            scenes = sheet_scenes(lesson, results, model, self._view_titles)
            save(lesson.title, scenes, sheet, path, origin_of(results, model))

        self._compute_then(SHEET_NAMES[sheet].split(maxsplit=1)[1], path, write)

    @property
    def _view_titles(self) -> Mapping[str, str]:
        views = self._documents.views
        return views.view_titles() if views is not None else {}

    def ask_for_running_page(self) -> None:
        """Asks for the path of a page that runs the model."""
        self._documents.ask_for_file(
            "Export a page that runs", RUNNING_PAGES, self.save_running_page, "lab"
        )

    def save_running_page(self, path: Path) -> None:
        """Writes a page that runs the model, with all scenes."""
        lesson = self._documents.lesson.lesson
        model = self._documents.state.model
        if lesson is not None and model is not None:
            try:
                check_model(lesson, model.title, model.digest)
            except AugenmerkError as error:
                show_failure(self._documents.window, "The page was not saved", Failure.of(error))
                return

        def write(
            lesson: Lesson, results: Sequence[SceneResult], model: ModelInfo
        ) -> WritingDialog:
            scenes = web_page_scenes(lesson, results, model)
            return WritingDialog(
                WebPageJob(model, NOTHING_CHOSEN, path, PageLesson(lesson.title, scenes)),
                self._documents.window,
            )

        self._compute_then("page", path, write, rounds=True)

    def _compute_then(
        self,
        what: str,
        path: Path,
        write: Callable[[Lesson, Sequence[SceneResult], ModelInfo], WritingDialog | None],
        *,
        rounds: bool = False,
    ) -> None:
        """Calls `write` with the results; the dialog that it may return writes the file."""
        documents = self._documents
        lesson = documents.lesson.lesson
        model = documents.state.model
        if lesson is None or model is None:
            documents.done.emit(NOTHING)
            return

        def use(results: Sequence[SceneResult]) -> None:
            try:
                dialog = write(lesson, results, model)
            except AugenmerkError as error:
                refuse(Failure.of(error))
                return
            if dialog is None:
                report()
                return
            dialog.saved.connect(report)
            dialog.failed.connect(refuse)
            dialog.begin()

        def report(note: str = "") -> None:
            documents.done.emit(f"saved {path.name}{f': {note}' if note else ''}")

        def refuse(failure: Failure) -> None:
            show_failure(documents.window, f"The {what} was not saved", failure)

        documents.done.emit(f"computing {counted(len(lesson.scenes), 'scene')}…")
        answers = documents.screen.answers
        job = LessonResultsJob(
            lesson.scenes, model, answer_now if answers is not None else None, rounds
        )
        self._worker.submit(Request(job, self, on_result=use, on_error=refuse))


class LessonDocuments(QObject):
    """The open lesson, its bar, its menu.

    Each scene has its own undo history. Closing the lesson restores the screen before it: the
    experiment with its history, the view, and the model.

    Attributes:
        state: the state on the screen.
        window: the parent of dialogs.
        experiments: opens files, of lessons too.
        lesson: the open lesson, without Qt.
        answer: the answer to the question of its scene.
        bar: shows the lesson.
        screen: compares the screen with the scene.
        editing: changes the lesson.
        export: writes pages and worksheets of the lesson.
        views: shows the parts of the window; None if there is only the large map.
        dialog: a dialog about the lesson that is open, or None.

    Signals:
        done(str): a short message that something was saved.
    """

    done = Signal(str)

    def __init__(
        self,
        state: ExperimentState,
        worker: InferenceWorker,
        experiments: ExperimentDocuments,
        preferences: Preferences,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self.state, self._preferences, self.window = state, preferences, window
        self.experiments = experiments
        self._before_lesson: ScreenBeforeLesson | None = None
        self.lesson = OpenLesson()
        self._kept = KeptLesson(self.lesson, preferences, self.done.emit)
        self.answer = SceneAnswer(self.lesson)
        self.bar = LessonBar(self.lesson, self.answer)
        self.screen = SceneOnScreen(self.lesson, self.answer, self.bar, state)
        self.dialog: QDialog | None = None
        self.views: Views | None = None
        self.editing, self.export = LessonEditing(self), LessonExport(self, worker)
        self.lesson.scene_chosen.connect(self._show)
        self.lesson.changed.connect(self._kept.keep)
        experiments.lesson_read.connect(self.open)
        self.bar.close_button.clicked.connect(lambda: self.close())
        for button, command in (
            (self.bar.update_button, UPDATE_SCENE),
            (self.bar.revert_button, REVERT_SCENE),
        ):
            button.setToolTip(command.tip)
            button.clicked.connect(lambda _=False, act=command.act: act(self))
        self.bar.leave = self._once_updated
        edit_row = {text: command.on(self) for text, command in EDIT_ROW.items()}
        self.bar.offer_editing(edit_row, pointer_button(state))

    @property
    def own_settings(self) -> MapViewSettings:
        """The user's map settings; during a lesson, those in use before the lesson."""
        return (
            self._before_lesson.settings if self._before_lesson is not None else self.state.settings
        )

    @property
    def has_unsaved_changes(self) -> bool:
        """Whether closing the lesson would lose a change: of the lesson, or in edit mode of the
        screen.
        """
        return self.lesson.is_changed or self._has_unsaved_screen

    @property
    def _has_unsaved_screen(self) -> bool:
        return self.bar.is_editing and self.bar.shows_changes

    def scene_words(self) -> tuple[str, ...] | None:
        """Place and title, text, question and shown answer of the current scene; None without a
        lesson.
        """
        scene = self.lesson.scene
        if scene is None:
            return None
        heading = f"{self.lesson.place_text} · {scene.title}"
        answer = COMPUTING if self.answer.is_computing else self.answer.text or ""
        return heading, scene.text, scene.question, answer

    def listed(self) -> list[BoundCommand]:
        """A command for each lesson that opens it: recent ones, then those that ship.

        Reads all files.
        """
        paths = (*self._preferences.recent_experiments.paths, *shipped_lessons())
        titles = {path: title for path in paths if (title := _title_of(path)) is not None}
        return [
            Command[Path](
                f"{PREFIX}{_distinct_title(path, titles)}",
                self.experiments.open,
                group="Files",
                tip=path.name,
            ).on(path)
            for path in titles
        ]

    # --- opening and closing ----------------------------------------------------------------------

    def open(self, lesson: Lesson, path: Path) -> None:
        """Shows the lesson of a file, after asking about unsaved changes."""

        def show() -> None:
            self.lesson.open(lesson, path)
            self.bar.edit_button.setChecked(not lesson.scenes)
            (self.bar.on_button if self.lesson.can_step_on else self.bar.close_button).setFocus()

        self.once_saved(show)

    def restore(self, *, shows_scene: bool) -> Failure | None:
        """Reopens the previous session's lesson at its scene; returns the reason if that fails,
        once.

        Changes that a crash kept from being saved are in it, and still unsaved.

        Args:
            shows_scene: whether to show the scene as saved; else the screen stays unchanged.
        """
        kept = self._kept
        try:
            lesson = kept.read(self.state)
            if lesson is None:
                return None
            self._before_lesson = ScreenBeforeLesson.kept(self.state, self._preferences)
            kept.reopen(lesson)
            if shows_scene and lesson.scenes:
                self.lesson.go_to(self.lesson.place)
        except Exception as error:  # whatever the file contains
            failure = Failure.of(error)
            if kept.has_unsaved:
                message = f"{failure.message} The file is now {kept.set_aside()}."
                failure = replace(failure, message=message)
            self._before_lesson = None
            self.lesson.close()
            return failure
        if kept.has_unsaved:
            self.done.emit(
                f"Restored unsaved changes of the lesson “{lesson.title}”. Save it, or close it "
                "to discard them"
            )
        return None

    def close(self) -> None:
        """Closes the lesson after asking about unsaved changes, and restores the screen before
        it.
        """

        def close() -> None:
            self.screen.wait(False)
            self.lesson.close()
            previous = self._before_lesson
            self._before_lesson = None
            self._preferences.own_file(BEFORE_LESSON).unlink(missing_ok=True)
            if self.views is not None:
                self.views.restore_analysis()
            if previous is not None and previous.saved.experiment.source_text.strip():
                # another model may be in use now
                history = previous.editor.restored()
                self.state.submit(lambda _editor: Edit(history), asks=False)
                self.experiments.show(previous.saved, None, opened_from="earlier screen")

        self.once_saved(close)

    def once_saved(self, act: Callable[[], object]) -> None:
        """Calls a function that ends the lesson; asks the user first if there are unsaved
        changes.
        """
        if not self.has_unsaved_changes:
            act()
            return
        assert self.lesson.lesson is not None
        question = f"Save the changes to the lesson “{self.lesson.lesson.title}”?"

        def save() -> None:
            if self._has_unsaved_screen:
                self.editing.update_scene()
            self.save(then=act)

        def discard() -> None:
            self.bar.edit_button.setChecked(False)
            self.lesson.mark_saved()
            act()

        self._decide("Unsaved lesson", question, "Save", save, discard)

    def _once_updated(self, act: Callable[[], object]) -> None:
        """Calls a function that shows another scene; in edit mode, asks about changes on the screen
        first.
        """
        scene = self.lesson.scene
        if scene is None or not self._has_unsaved_screen:
            act()
            return

        def update() -> None:
            self.editing.update_scene()
            act()

        self._decide(
            "Changed scene",
            f"Update the scene “{scene.title}” from the screen?",
            "Update",
            update,
            act,
        )

    def _decide(
        self,
        title: str,
        question: str,
        name: str,
        accept: Callable[[], object],
        discard: Callable[[], object],
    ) -> None:
        """Asks whether to keep changes; the button `name` keeps them."""
        if self.dialog is not None:
            self.dialog.raise_()
            return
        buttons = QMessageBox.StandardButton
        shown = buttons.Save | buttons.Discard | buttons.Cancel
        box = QMessageBox(QMessageBox.Icon.Question, title, question, shown, self.window)
        box.button(buttons.Save).setText(name)

        def decide(result: int) -> None:
            self.dialog = None
            if result == buttons.Save:
                accept()
            elif result == buttons.Discard:
                discard()

        box.finished.connect(decide)
        self.dialog = open_box(box, "Otherwise the changes will be lost.")

    def keep_screen(self) -> None:
        """Keeps the screen for the end of the lesson, unless that was done before."""
        if self._before_lesson is None:
            saved = with_contents(saved_experiment(self.state), self.state)
            self._before_lesson = ScreenBeforeLesson(
                saved, self.state.editor, self.state.settings.with_changes()
            )
            self._before_lesson.keep(self._preferences)

    def _show(self, scene: Scene) -> None:
        self.keep_screen()
        self.screen.wait(True)
        if self.views is not None:
            self.views.show_view(scene.page)
        self.experiments.show(scene.saved, self.lesson.path, opened_from="scene")

    # --- saving -----------------------------------------------------------------------------------

    def save(self, *, then: Callable[[], object] = lambda: None) -> None:
        """Writes the lesson to its file, or asks for one; calls `then` once it is written."""
        path = self.lesson.path
        if path is None or is_shipped(path):
            self.ask_where_to_save(then=then)
        else:
            self.save_to(path, then=then)

    def ask_where_to_save(self, *, then: Callable[[], object] = lambda: None) -> None:
        """Asks for a file and saves the lesson in it."""
        self.ask_for_file("Save the lesson", FORMATS, lambda path: self.save_to(path, then=then))

    def ask_for_file(
        self,
        title: str,
        formats: Mapping[str, str],
        act: Callable[[Path], object],
        kind: str = "",
    ) -> None:
        """Asks for the path of a file of the open lesson, if there is one.

        `kind` is added to the proposed name, so that no export proposes the file of another.
        """
        if self.lesson.lesson is None:
            return
        recent = self._preferences.recent_experiments.paths
        folder = recent[0].parent if recent else Path()
        name = as_file_name(self.lesson.lesson.title) + (f" - {kind}" if kind else "")
        self.show_dialog(ask_where_to_save(self.window, title, folder / name, act, formats))

    def save_to(self, path: Path, *, then: Callable[[], object] = lambda: None) -> None:
        """Writes the lesson; a dialog reports a failure."""
        lesson = self.lesson.lesson
        if lesson is None:
            return
        try:
            write_lesson_file(lesson, path)
        except AugenmerkError as error:
            show_failure(self.window, "The lesson was not saved", Failure.of(error))
            return
        self._preferences.recent_experiments.remember(path)
        self.lesson.mark_saved(path)
        self.done.emit(f"saved {path.name}")
        then()

    def show_dialog(self, dialog: QDialog) -> None:
        """Opens a dialog about the lesson, without waiting for its answer."""
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.finished.connect(self._forget_dialog)
        self.dialog = dialog
        dialog.open()

    def _forget_dialog(self) -> None:
        self.dialog = None


def _is_open(documents: LessonDocuments) -> bool:
    return documents.lesson.lesson is not None


def _has_scenes(documents: LessonDocuments) -> bool:
    return bool(documents.lesson.scenes)


def _command(
    title: str,
    act: Callable[[LessonDocuments], object],
    tip: str = "",
    is_offered: Callable[[LessonDocuments], bool] = _has_scenes,
) -> Command[LessonDocuments]:
    return Command(title, act, group="Files", tip=tip, is_offered=is_offered)


ADD_SCENE = _command(
    "Add scene to lesson…",
    lambda documents: documents.editing.add_scene(),
    "Add the current screen as a new scene after this one",
    lambda _: True,
)
SAVE_LESSON = _command(
    "Save lesson",
    lambda documents: documents.save(),
    "Save the lesson to its file, or ask for one",
    lambda documents: documents.lesson.is_changed,
)
UPDATE_SCENE = _command(
    "Lesson: update this scene from the screen",
    lambda documents: documents.editing.update_scene(),
    "Replace this scene by the current screen, keeping its texts",
)
REVERT_SCENE = _command(
    "Lesson: revert to this scene",
    lambda documents: documents.lesson.go_to(documents.lesson.place),
    "Show this scene as it was saved, without later changes",
)
EDIT_ROW: dict[str, Command[LessonDocuments]] = {
    "Add scene…": ADD_SCENE,
    "Texts…": _command(
        "Lesson: change the texts of this scene",
        lambda documents: documents.editing.ask_for_texts(),
        "The title, explanation, question and answer of this scene, and what it shows",
    ),
    "Earlier": _command(
        "Lesson: move this scene earlier",
        lambda documents: documents.lesson.move(-1),
        "Move this scene one place towards the beginning",
        lambda documents: documents.lesson.can_step_back,
    ),
    "Later": _command(
        "Lesson: move this scene later",
        lambda documents: documents.lesson.move(1),
        "Move this scene one place towards the end",
        lambda documents: documents.lesson.can_step_on,
    ),
    "Delete scene": _command(
        "Lesson: delete this scene",
        lambda documents: documents.editing.delete_scene(),
        "Delete this scene from the lesson",
    ),
    "Restore deleted": _command(
        "Lesson: restore the deleted scene",
        lambda documents: documents.editing.restore_scene(),
        "Restore the scene that was deleted last",
        lambda documents: bool(documents.lesson.deleted),
    ),
    "Rename lesson…": _command(
        "Lesson: rename",
        lambda documents: documents.editing.ask_for_title(),
        "Change the title of the lesson",
        _is_open,
    ),
    "Save": SAVE_LESSON,
}
"""The buttons of the edit mode, by their texts."""
OPEN_LESSON = _command(
    "Open lesson…",
    lambda documents: documents.experiments.ask_what_to_open(),
    is_offered=lambda _: True,
)
EDIT_LESSON = _command(
    "Edit lesson", lambda documents: documents.bar.edit_button.toggle(), is_offered=_is_open
)
LESSON_MENU = (
    EDIT_LESSON,
    SAVE_LESSON,
    _command(
        "Save lesson as…", lambda documents: documents.ask_where_to_save(), is_offered=_is_open
    ),
    _command(
        "Export lesson as a page (HTML, PDF)…",
        lambda documents: documents.export.ask_for_web_page(),
    ),
    _command(
        "Export lesson as a page that runs…",
        lambda documents: documents.export.ask_for_running_page(),
    ),
    _command(
        "Export lesson as a worksheet…",
        lambda documents: documents.export.ask_for_sheet("worksheet"),
    ),
    _command(
        "Export the solutions of the worksheet…",
        lambda documents: documents.export.ask_for_sheet("solutions"),
    ),
    _command("Close lesson", LessonDocuments.close, is_offered=_is_open),
)
LESSON_COMMANDS = (
    ADD_SCENE,
    OPEN_LESSON,
    UPDATE_SCENE,
    REVERT_SCENE,
    *LESSON_MENU,
    *(command for command in EDIT_ROW.values() if command not in (ADD_SCENE, SAVE_LESSON)),
)


def make_lesson_menu(documents: LessonDocuments, parent: QWidget) -> QMenu:
    """The menu of lessons."""
    lessons = QMenu("Lesson", parent)
    lessons.aboutToShow.connect(lambda: _fill(lessons, documents, documents.listed()))
    _fill(lessons, documents, ())  # so that it is not empty, which disables it on some platforms
    return lessons


def _fill(menu: QMenu, documents: LessonDocuments, listed: Sequence[BoundCommand]) -> None:
    menu.clear()
    ADD_SCENE.on(documents).add_to(menu)
    OPEN_LESSON.on(documents).add_to(menu)
    menu.addSeparator()
    for command in listed:
        command.add_to(menu, command.title.removeprefix(PREFIX))
    menu.addSeparator()
    for entry in LESSON_MENU:
        action = entry.on(documents).add_to(menu)
        action.setEnabled(entry.is_offered(documents))
        if entry is EDIT_LESSON:
            action.setCheckable(True)
            action.setChecked(documents.bar.is_editing)


def shipped_lessons() -> tuple[Path, ...]:
    """The lessons that ship, in the order of their file names."""
    folder = resource_path(SHIPPED_LESSONS)
    return tuple(sorted(folder.glob(f"*{SUFFIX}"))) if folder.is_dir() else ()


def _distinct_title(path: Path, titles: Mapping[Path, str]) -> str:
    """The title of a lesson, with the name of its file if another one has the same title.

    The lessons that ship keep their titles.
    """
    title = titles[path]
    is_unique = list(titles.values()).count(title) == 1
    return title if is_unique or path in shipped_lessons() else f"{title} ({path.stem})"


def _title_of(path: Path) -> str | None:
    """The title of a lesson; None if the file is missing, damaged or no lesson."""
    try:
        return as_title(read_lesson_file(path).title)
    except ExperimentFileError:
        return None
