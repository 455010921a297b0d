"""Message boxes show all of their text."""

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.widgets.dialogs import show_failure
from augenmerk.viz_app.worker.inference import Failure
from tests.viz_app.builders import shown

LONG_PATH = "/home/somebody/" + "a-long-name-of-a-folder-" * 2 + "/model.safetensors"


@pytest.mark.parametrize("text", ["It is no checkpoint.", f"{LONG_PATH} is no checkpoint."])
def test_the_text_of_a_message_is_not_cut(qtbot: QtBot, theme: Theme, text: str) -> None:
    window = shown(qtbot, QWidget(), (1000, 700))
    box = show_failure(window, "The model was not opened", Failure(text))
    (told,) = (label for label in box.findChildren(QLabel) if label.text() == text)
    longest = max(map(told.fontMetrics().horizontalAdvance, text.split()))
    assert (longest > 400) == (LONG_PATH in text), "wider than Qt makes such a box"
    assert told.width() >= longest
    assert told.height() >= told.heightForWidth(told.width())
    box.close()
