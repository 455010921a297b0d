"""Draw docs/images/train.png: the Train page during a real training of copy-task-small.

python -m tools.train_picture [PICTURE.png [WIDTHxHEIGHT [light|dark]]]
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

NUM_EPOCHS = 10
EPOCHS_SHOWN = 8
STEPS_LATER = 15
LIMIT_SECONDS = 600.0
PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "train.png"


def main(words: list[str]) -> int:
    """Train, save a picture after some epochs, and stop.

    The exit status is 1 if there is no picture.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QSettings
    from PySide6.QtWidgets import QApplication

    from augenmerk.viz_app.extensions.train.page import TrainPage
    from augenmerk.viz_app.main_window import MainWindow
    from augenmerk.viz_app.preferences import Preferences
    from augenmerk.viz_app.theme import Theme
    from augenmerk.viz_app.widgets.pictures import save_picture

    target = Path(words[0]) if words else PICTURE
    width, height = (int(part) for part in (words[1] if len(words) > 1 else "1440x900").split("x"))
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    with tempfile.TemporaryDirectory() as folder:
        preferences = Preferences(
            QSettings(str(Path(folder) / "settings.ini"), QSettings.Format.IniFormat)
        )
        preferences.theme = "dark" if words[2:] == ["dark"] else "light"
        Theme.of_choice(preferences.theme).apply(app)
        window = MainWindow(preferences, sentence="Ein Mann .")
        window.resize(width, height)
        window.show()
        window.pages.show("train")
        page: TrainPage = window.pages.parts["train"].widget  # type: ignore[assignment]
        choices = replace(page.form.choices(), preset="copy-task-small", device="cpu")
        choices = replace(choices, parent_folder=Path(folder))
        page.form.set_choices(choices.with_settings(str(NUM_EPOCHS), "training.num_epochs"))
        page.run_actions.start()
        is_there = wait_until(
            lambda: len(page.state.playback.frames) > EPOCHS_SHOWN and page.is_running()
        )
        wait_until(
            lambda: (
                page.state.run.curves.last_step
                >= page.state.run.curves.validations[-1].step + STEPS_LATER
            )
        )
        if is_there:
            save_picture(window, target)
            print(target)
        page.controller.stop("discard")
        wait_until(lambda: not page.is_running())
        window.close()
        window.deleteLater()
    return 0 if is_there else 1


def wait_until(is_done: Callable[[], bool]) -> bool:
    """Run the event loop until `is_done`; False after a timeout."""
    from PySide6.QtCore import QEventLoop, QTimer

    loop = QEventLoop()
    end = time.monotonic() + LIMIT_SECONDS
    look = QTimer(loop, interval=50)
    look.timeout.connect(lambda: loop.quit() if is_done() or time.monotonic() > end else None)
    look.start()
    loop.exec()
    look.stop()
    return is_done()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
