"""Without any entry point, what the kernel promises still works.

Import contracts cannot see names in strings.
"""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.subprocess, pytest.mark.heavy]
WITHOUT_EXTENSIONS = (
    "from augenmerk.core import registry\nregistry.installed_entry_points = lambda group: {}\n"
)
COMMAND = (
    f"{WITHOUT_EXTENSIONS}import sys\n"
    "from augenmerk.viz_app.launch import main\n"
    "sys.exit(main(sys.argv[1:]))\n"
)
WINDOW = f"""
{WITHOUT_EXTENSIONS}
import logging, sys, tempfile
from pathlib import Path
from PySide6.QtCore import QEventLoop, QSettings, QTimer
from PySide6.QtWidgets import QApplication, QFileDialog
logging.basicConfig(level=logging.WARNING, format="WARNED %(message)s")
app = QApplication([])
from augenmerk.core.model.heads import Head
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_editor import toggle
from augenmerk.viz_app.theme import Theme
Theme.light().apply(app)
target = Path(sys.argv[1])
settings = QSettings(str(target / "settings.ini"), QSettings.Format.IniFormat)
settings.setValue("analysis/open", True)
settings.setValue("analysis/tab", "Word")
window = MainWindow(Preferences(settings), sentence="Zwei Hunde spielen im Schnee.")

def wait_for_translation(act):
    loop = QEventLoop()
    window.translation_shown.connect(loop.quit)
    QTimer.singleShot(60_000, loop.quit)
    act()
    loop.exec()
    window.translation_shown.disconnect(loop.quit)

wait_for_translation(window.show)
page = window.translate_page
print("translated:", window.state.translation.text)
wait_for_translation(lambda: window.state.submit(toggle(Head("cross", 1, 4))))
print("changed:", window.state.result.is_changed)
page.head.explain_button.click()
page.head.ask_where_to_save()
dialog = page.head.findChild(QFileDialog)
dialog.fileSelected.emit(str(target / "map.png"))
dialog.close()
print("last commands:", *(bound.title for bound in window.commands.commands[-2:]))
for shown in app.topLevelWidgets():
    if shown is not window:
        shown.close()
print("drawings:", *page.head.drawings, "menu:", page.head.picture_menu.isVisible())
print("pages:", *window.top_bar.tabs, "parts:", len(window.parts), "analysis:", page.analysis.isVisible())
window.shutdown.end()
print("remembered:", Preferences(settings).analysis_tab)
"""


def run(*arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", *arguments], capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    assert "WARNED" not in ended.stderr
    return ended.stdout


def test_the_command_line_helps_and_translates() -> None:
    text = run(COMMAND, "--help")
    assert "translate a text" in text
    assert "train a model" not in text
    assert "describe a checkpoint" not in text
    assert (
        run(COMMAND, "translate", "Zwei Hunde spielen im Schnee.").strip()
        == "Two dogs play in the snow."
    )


def test_the_window_translates_shows_and_explains_maps_and_saves_a_picture(tmp_path: Path) -> None:
    told = run(WINDOW, str(tmp_path))
    assert "translated: Two dogs play in the snow." in told
    assert "changed: True" in told
    assert "last commands: Full screen Quit" in told
    assert "pages: translate parts: 0 analysis: False" in told
    assert "drawings: heatmap menu: False" in told
    assert "remembered: Word" in told, "a tab that is missing today is there tomorrow"
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
