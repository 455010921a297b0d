"""Files that name a measure or a view of an extension that is not installed here."""

from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from augenmerk.core.extensions.lessons.lesson_file import (
    Lesson,
    Scene,
    read_lesson_file,
    write_lesson_file,
)
from augenmerk.core.translation.experiment_file import read_experiment_file, write_experiment_file
from augenmerk.viz_app.extensions.documents.reading import saved_experiment
from augenmerk.viz_app.main_window import MainWindow
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import documents_of, exports_of, lessons_of

pytestmark = pytest.mark.heavy


def settle(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(
        lambda: not window.state.request.is_running and window.state.current is not None
    )


def test_an_experiment_with_a_missing_measure_shows_weights_says_so_and_keeps_it(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window, path = make_window(), tmp_path / "saved.augenmerk"
    saved = saved_experiment(window.state)
    write_experiment_file(replace(saved, view={**saved.view, "measure": "entropy-flow"}), path)
    documents_of(window).open(path)
    settle(qtbot, window)
    assert window.state.maps.shown_measure("cross") == "weight"
    said = (
        "There is no measure “entropy-flow” here: its extension is not installed. The weights "
        "are shown."
    )
    assert said in window.translate_page.head.meaning.text()
    documents_of(window).save(path)
    assert read_experiment_file(path).view["measure"] == "entropy-flow"


def test_an_experiment_with_a_missing_drawing_shows_the_heatmap_says_so_and_keeps_it(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window, path = make_window(), tmp_path / "saved.augenmerk"
    saved = saved_experiment(window.state)
    write_experiment_file(replace(saved, view={**saved.view, "picture": "hairs"}), path)
    documents_of(window).open(path)
    settle(qtbot, window)
    head = window.translate_page.head
    assert head.heatmap.isVisible()
    said = "There is no drawing “hairs” here: its extension is not installed. The heatmap is shown."
    assert said in head.meaning.text()
    exports_of(window).aboutToShow.emit()
    assert "as a heatmap" in exports_of(window).entries["map"].text()
    documents_of(window).save(path)
    assert read_experiment_file(path).view["picture"] == "hairs"
    head.picture_menu.actions_by_name["lines"].trigger()
    assert said not in head.meaning.text()


def test_a_lesson_with_a_missing_view_shows_the_map_says_so_and_keeps_it(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window, path = make_window(), tmp_path / "lesson.augenmerk"
    saved = saved_experiment(window.state)
    write_lesson_file(
        Lesson("Other tabs", (Scene("First", "Text.", saved, page="entropy-flow"),)), path
    )
    documents_of(window).open(path)
    settle(qtbot, window)
    lessons = lessons_of(window)
    assert lessons.lesson.scene is not None
    assert "There is no view “entropy-flow” here" in window.top_bar.status.text()
    lessons.lesson.rename("Other title")
    lessons.save()
    assert read_lesson_file(path).scenes[0].page == "entropy-flow"


def test_an_experiment_with_contents_of_a_missing_tab_says_so_and_keeps_them(
    make_window: MakeWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    window, path = make_window(), tmp_path / "saved.augenmerk"
    saved = saved_experiment(window.state)
    contents = {"entropy-flow_unit": "bits", "entropy-flow_head": ("cross", 1)}
    write_experiment_file(replace(saved, view={**saved.view, **contents}), path)
    documents_of(window).open(path)
    settle(qtbot, window)
    assert "not installed here: “entropy-flow”." in window.state.notice
    documents_of(window).save(path)
    assert contents.items() <= read_experiment_file(path).view.items()
    write_experiment_file(saved, path)
    documents_of(window).open(path)
    settle(qtbot, window)
    assert not contents.keys() & saved_experiment(window.state).view.keys(), "of another file"
