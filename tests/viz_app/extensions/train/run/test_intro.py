from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.extensions.train.page import INTRO_PX, Intro
from augenmerk.viz_app.extensions.train.run.choices import RunChoices
from augenmerk.viz_app.theme import Theme


@pytest.mark.parametrize("width", [560, 598, 1100])
def test_the_steps_stay_inside_the_panel(qtbot: QtBot, theme: Theme, width: int) -> None:
    intro = Intro()
    qtbot.addWidget(intro)
    intro.show_choices(
        RunChoices(
            "multi30k", "multi30k", "", "auto", Path("runs"), settings={"training.num_epochs": "14"}
        )
    )
    intro.resize(width, 560)
    intro.show()
    for label in intro.findChildren(QLabel):
        right = label.mapTo(intro, label.rect().topRight()).x()
        assert right < width
        assert label.width() <= INTRO_PX
