"""`python -m tests.viz_app.driven_window CHECKPOINT [DEED]`: the app as it is, and somebody who
uses it.

A sentence is typed once the window stands, and left before it is translated. DEED: "train" trains
the small copy task; "stuck" asks a question whose answer never comes; "stuck-load" opens a model
that never opens; "stuck-train" begins a training that reads its data for ever; "lesson" begins a
lesson and does not save it; "tell-lesson" tells what is open; "crash" reads where there is no
memory; "close" closes the window after the others. Deeds are joined by "+". Lines on the standard
output tell how far it is: "typed", "step N", "stuck".
"""

import ctypes
import sys
import time
from dataclasses import replace
from typing import ClassVar, NoReturn

from PySide6.QtCore import QTimer
from PySide6.QtGui import QTextCursor

from augenmerk.core.extensions.lessons.lesson_file import Scene
from augenmerk.core.extensions.training.events import StepDone
from augenmerk.viz_app import application, launch, main_window
from augenmerk.viz_app.extensions.documents.reading import saved_experiment
from augenmerk.viz_app.worker import inference
from augenmerk.viz_app.worker.inference import Request
from augenmerk.viz_app.worker.jobs import JobScope, OpenTranslator, ShouldStop, Tell
from tests.viz_app.parts import TRAIN, close_in_training, lessons_of, train_page_of

SENTENCE = "Ein Satz, der noch nicht übersetzt ist"


class StuckJob:
    """A question that nobody can answer, and that does not notice that nobody waits."""

    scope: ClassVar[JobScope] = "model"

    def run(self, _translator: OpenTranslator, _progress: Tell, _should_stop: ShouldStop) -> object:
        return never_end()


class DrivenWindow(main_window.MainWindow):
    """The window of the app, used by a person who is quick."""

    deeds: tuple[str, ...] = ()

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self.translation_shown.connect(self._drive_soon)
        self._is_driven = False

    def _drive_soon(self, _translation: object) -> None:
        if not self._is_driven:
            self._is_driven = True
            QTimer.singleShot(0, self, self._drive)

    def _drive(self) -> None:
        for deed in self.deeds:
            getattr(self, f"_do_{deed.replace('-', '_')}")()
        field = self.translate_page.sentence.input
        field.selectAll()
        field.moveCursor(QTextCursor.MoveOperation.End)
        field.setPlainText(SENTENCE)
        field._timer.setInterval(3_600_000)  # it is still being typed
        field._timer.start()
        say("typed")

    def _do_close(self) -> None:
        QTimer.singleShot(5000, self, lambda: close_in_training(self))

    def _do_crash(self) -> None:
        QTimer.singleShot(200, self, lambda: ctypes.string_at(0))

    def _do_lesson(self) -> None:
        saved = saved_experiment(self.state)
        for title in ("First", "Second"):
            lessons_of(self).lesson.add(Scene(title, "Not saved yet.", saved))
            say(f"scene {title}")

    def _do_tell_lesson(self) -> None:
        lesson = lessons_of(self).lesson
        titles = ", ".join(scene.title for scene in lesson.scenes)
        say(
            f"lesson {titles}; unsaved {lessons_of(self).has_unsaved_changes}; "
            f"{lessons_of(self).bar.title.text()}"
        )

    def _do_stuck(self) -> None:
        self.worker.submit(Request(StuckJob(), self, on_result=print))

    def _do_stuck_load(self) -> None:
        self.worker._loader = never_end
        self.open_model(None)

    def _do_stuck_train(self) -> None:
        import augenmerk.core.extensions.training.corpora.loading

        augenmerk.core.extensions.training.corpora.loading.load_corpus = never_end
        self._do_train()

    def _do_train(self) -> None:
        self.pages.show(TRAIN)
        page = train_page_of(self)
        assert page is not None
        choices = replace(page.form.choices(), preset="copy-task-small", device="cpu")
        page.form.set_choices(choices.with_settings("1000", "training.num_epochs"))
        page.run_actions.start()
        run = page.controller._training
        assert run is not None
        run.events.connect(
            lambda events: [
                say(f"step {event.step}") for event in events if isinstance(event, StepDone)
            ]
        )


def never_end(*_: object) -> NoReturn:
    """In place of something that takes for ever and cannot be interrupted."""
    say("stuck")
    while True:
        time.sleep(0.01)


def say(text: str) -> None:
    """Tells how far it is."""
    print(f"{text}\n", end="", flush=True)  # at once: two threads write


if __name__ == "__main__":
    DrivenWindow.deeds = tuple(deed for deed in "".join(sys.argv[2:3]).split("+") if deed)
    application.MainWindow = DrivenWindow  # type: ignore[misc]
    assert inference.ANSWER_SECONDS < 10
    sys.exit(launch.main(["app", sys.argv[1]]))
