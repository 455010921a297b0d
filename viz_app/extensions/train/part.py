"""The page Train as a part of the window. Its code is imported when the page is first shown."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QMessageBox, QWidget

from augenmerk.core.quantities import duration

from ...widgets.commands import BoundCommand, Command
from ...widgets.dialogs import open_box
from ...window_part import WindowPage
from ..pictures.part import ExportsPart
from ..presentation.presentation import Presentable, ViewProvider

if TYPE_CHECKING:
    from .page import TrainPage

NAME, VIEW = "train", "training"
CLOSING = (
    "The training is paused and saved before the window closes. {time} At the next start, the "
    "Train page offers to resume the run."
)
ENDED = "Its files are saved, and nothing has to be paused. The window can close at once."
FAILED = "The Train page says why. Nothing has to be paused: the window can close at once."


class TrainPart(WindowPage, ViewProvider):
    """A training with live charts and the film of its attention."""

    widget: "TrainPage | None" = None
    stopping = "stopping the training, saving the model…"
    _may_close = False

    def begin(self) -> None:
        """Offers a training where there is no model."""
        button = self.window.translate_page.add_model_button("Train a model")
        button.clicked.connect(lambda: self.window.pages.show(NAME))

    def make(self) -> "TrainPage":
        """See `WindowPage`."""
        from .page import TrainPage  # matplotlib comes with it

        window = self.window
        page = TrainPage(window.preferences.settings, window.pages.stack)
        page.run_actions.model_ready.connect(window.try_model)
        page.status_changed.connect(window.top_bar.show_status)
        page.controller.ended.connect(self._say_in_question_that_it_ended)
        exports = window.part(ExportsPart)
        if exports is not None:
            page.offer_export(exports.menu)
        return page

    def sheet(self) -> Sequence[Command[Any]]:
        """See `WindowPart`."""
        from .film import FILM_COMMANDS

        return FILM_COMMANDS

    def views(self) -> list[Presentable]:
        """Charts and film."""
        title = "Charts and film of the training"
        return [
            Presentable(VIEW, title, self._open, keys=self._film_keys, set_presented=self._present)
        ]

    @property
    def view_in_sight(self) -> str:
        """Charts and film."""
        return VIEW

    @property
    def is_running(self) -> bool:
        """See `WindowPart`."""
        return self.widget is not None and self.widget.is_running()

    @property
    def limit_to_end_s(self) -> float:  # type: ignore[override]
        """See `WindowPart`."""
        return self.widget.limit_to_end_s if self.widget is not None else 0.0

    @property
    def has_unsaved_changes(self) -> bool:
        """Whether a training would be paused that nobody has stopped; the end of a session does not
        wait for an answer.
        """
        app = QGuiApplication.instance()
        is_session_ending = isinstance(app, QGuiApplication) and app.isSavingSession()
        if self.widget is None or self._may_close or is_session_ending:
            return False
        return self.is_running and not self.widget.is_stopping

    def once_saved(self, act: Callable[[], object]) -> None:
        """Asks whether to pause the training; it goes on until the user has answered."""
        if self._question is not None:
            self._question.raise_()
            return
        title = "A training is running"
        box = QMessageBox(QMessageBox.Icon.Question, title, title, parent=self.window)
        box.setObjectName(NAME)
        pause = box.addButton("Pause and close", QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(pause)
        seconds = self.widget.save_seconds if self.widget is not None else 0.0
        last = duration(seconds, exact=True) if seconds >= 1 else "less than a second"
        time = f"The last save took {last}." if seconds else "This usually takes a few seconds."

        def close() -> None:
            self._may_close = True
            act()

        pause.clicked.connect(close)
        open_box(box, CLOSING.format(time=time))

    @property
    def _question(self) -> QMessageBox | None:
        """The question that is open; None without one."""
        boxes = self.window.findChildren(QMessageBox, NAME)
        return next((box for box in boxes if box.isVisible()), None)

    def _say_in_question_that_it_ended(self) -> None:
        """A training may end while the question is open. It stays: who wanted to go on looking at
        the run must not lose the window to a run that ends at this moment.
        """
        from .state import Status  # imported with the page

        question = self._question
        if question is None or self.widget is None:
            return
        has_failed = self.widget.state.run.status is Status.FAILED
        for text in question.findChildren(QLabel):
            text.setMinimumHeight(text.height())  # so that the buttons stay in place
        title = "The training has failed" if has_failed else "The training has ended"
        question.setWindowTitle(title)
        question.setText(title)
        question.setInformativeText(FAILED if has_failed else ENDED)
        close = question.defaultButton()
        assert close is not None
        close.setMinimumWidth(close.width())
        close.setText("Close")

    def request_stop(self) -> None:
        """See `WindowPart`."""
        if self.widget is not None:
            self.widget.request_stop()

    def shutdown(self, *, waits: bool) -> None:
        """See `WindowPart`."""
        if self.widget is not None:
            self.widget.shutdown(waits_for_training=waits)

    def _open(self) -> QWidget:
        self.window.pages.show(NAME)
        assert self.widget is not None
        return self.widget.show_alone()

    def _present(self, is_presented: bool) -> None:
        assert self.widget is not None, "its view was opened"
        self.widget.set_presented(is_presented)

    def _film_keys(self) -> tuple[BoundCommand, ...]:
        from .film import FILM_COMMANDS

        view = self.widget.run_view if self.widget is not None else None
        return (
            tuple(command.on(view.film.strip) for command in FILM_COMMANDS)
            if view is not None
            else ()
        )
