"""What a part of another package may do: open files of its kind, keep and restore what it shows."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent

from augenmerk.core.translation.experiment import Experiment
from augenmerk.viz_app.extensions.documents.part import DocumentsPart
from augenmerk.viz_app.extensions.documents.session import SESSION
from augenmerk.viz_app.extensions.help.part import HelpPart
from augenmerk.viz_app.extensions.lessons.part import LessonsPart
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.pages import TRANSLATE
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import open_experiment
from augenmerk.viz_app.window_part import PARTS, Part, WindowPart
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import LEARN, part

pytestmark = pytest.mark.heavy
KEPT = "last.notes"


class NotesPart(WindowPart):
    """Shows the sentence in a file *.notes, and keeps the last one."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.begun: list[tuple[Path | None, bool]] = []
        self.num_welcomes = 0

    @property
    def kept(self) -> Path:
        return self.window.preferences.own_file(KEPT)

    def opens(self, path: Path) -> bool:
        return path.suffix == ".notes"

    def open_file(self, path: Path) -> None:
        self.window.state.submit(open_experiment(Experiment(path.read_text())))

    def restore(self, *, shows_screen: bool) -> bool:
        if not shows_screen or not self.kept.exists():
            return False
        self.open_file(self.kept)
        return True

    def begin_session(self, model_path: Path | None, *, is_restored: bool) -> None:
        self.begun.append((model_path, is_restored))

    def save(self) -> None:
        self.kept.write_text(f"{self.window.state.experiment.source_text} !")

    def welcome(self) -> None:
        self.num_welcomes += 1


@pytest.fixture
def declare(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Declares the part with this order."""

    def declare(order: int) -> None:
        monkeypatch.setitem(
            PARTS._declarations, "notes", Part(f"{__name__}:NotesPart", order=order)
        )

    return declare


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "one.notes"
    path.write_text("Zwei Hunde .")
    return path


def test_a_dropped_file_is_shown_by_the_part_that_opens_its_kind(
    declare: Callable[[int], None], make_window: MakeWindow, path: Path
) -> None:
    declare(100)
    window = make_window()
    window.pages.show(LEARN)
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile(str(path))])
    copy, left, none = (
        Qt.DropAction.CopyAction,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(QDropEvent(QPointF(5, 5), copy, files, left, none))
    assert window.pages.current == TRANSLATE
    assert window.state.experiment.source_text == "Zwei Hunde ."


def test_a_file_of_the_command_line_is_shown_with_the_last_model_and_nobody_is_greeted(
    declare: Callable[[int], None], make_window: MakeWindow, preferences: Preferences, path: Path
) -> None:
    declare(100)
    preferences.model = Path("model.safetensors")
    window = make_window(path, sentence=None)
    window.welcome()
    notes = part(window, NotesPart)
    assert window.state.experiment.source_text == "Zwei Hunde ."
    assert notes.begun == [(preferences.model, False)], "nothing was kept"
    assert notes.num_welcomes == 0


@pytest.mark.parametrize(("order", "sentence"), [(1, "Ein Mann . !"), (100, "Ein Mann .")])
def test_the_first_part_that_kept_an_experiment_restores_the_screen(
    declare: Callable[[int], None],
    make_window: MakeWindow,
    preferences: Preferences,
    order: int,
    sentence: str,
) -> None:
    declare(order)
    preferences.model = Path("model.safetensors").absolute()
    make_window(preferences.model).close()
    window = make_window(None, sentence=None)
    assert window.state.experiment.source_text == sentence
    assert part(window, NotesPart).begun == [(preferences.model, True)]


def test_a_start_with_a_sentence_restores_nothing_and_says_so(
    declare: Callable[[int], None], make_window: MakeWindow
) -> None:
    declare(1)
    make_window().close()
    window = make_window(sentence="Ein Hund .")
    assert window.state.experiment.source_text == "Ein Hund ."
    assert part(window, NotesPart).begun == [(Path("model.safetensors"), False)]


@pytest.mark.allow_log_warnings
def test_without_the_part_for_documents_the_window_opens_without_lessons(
    make_window: MakeWindow, monkeypatch: pytest.MonkeyPatch, preferences: Preferences
) -> None:
    monkeypatch.setitem(PARTS._declarations, "documents", None)
    window = make_window(sentence="Zwei Hunde .")
    assert window.part(DocumentsPart) is None
    assert window.part(LessonsPart) is None
    assert (
        "Lessons need the extension “documents”, which is missing." in window.top_bar.status.text()
    )
    part(window, HelpPart).show_palette()
    window.close()
    assert not preferences.own_file(SESSION).exists()
