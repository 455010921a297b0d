"""Draw docs/images/learn.png: a chapter of the Learn page with its live figures.

python -m tools.learn_picture [PICTURE.png [WIDTHxHEIGHT [light|dark [CHAPTER]]]]
"""

import os
import sys
import tempfile
from pathlib import Path

from tools.train_picture import wait_until

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "learn.png"
CHAPTER = "weight"


def main(words: list[str]) -> int:
    """Open the chapter and save a picture of its complete figures.

    The exit status is 1 if they do not complete.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QSettings
    from PySide6.QtWidgets import QApplication

    from augenmerk.viz_app.extensions.learn.part import LearnPart
    from augenmerk.viz_app.main_window import MainWindow
    from augenmerk.viz_app.preferences import Preferences
    from augenmerk.viz_app.theme import Theme
    from augenmerk.viz_app.widgets.pictures import save_picture

    target = Path(words[0]) if words else PICTURE
    width, height = (int(part) for part in (words[1] if len(words) > 1 else "1440x1020").split("x"))
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    with tempfile.TemporaryDirectory() as folder:
        preferences = Preferences(
            QSettings(str(Path(folder) / "settings.ini"), QSettings.Format.IniFormat)
        )
        preferences.theme = "dark" if words[2:3] == ["dark"] else "light"
        Theme.of_choice(preferences.theme).apply(app)
        window = MainWindow(preferences)
        window.resize(width, height)
        window.show()
        learn = window.part(LearnPart)
        assert learn is not None
        learn.open_chapter(words[3] if len(words) > 3 else CHAPTER)
        page = learn.widget
        assert page is not None

        def is_complete() -> bool:
            view = page.view
            return view is not None and not any(
                figure.request.is_running for figure in view.figures
            )

        is_there = wait_until(is_complete)
        wait_until(lambda: not page.state.request.is_running)
        if is_there:
            save_picture(window, target)
            print(target)
        window.close()
        window.deleteLater()
    return 0 if is_there else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
