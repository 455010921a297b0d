from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.widgets.eliding_label import ElidingLabel


def test_a_long_text_ends_in_an_ellipsis_and_a_tool_tip(qtbot: QtBot, theme: Theme) -> None:
    label = ElidingLabel("muted", "training copy-task-small · epoch 3 of 500")
    qtbot.addWidget(label)
    label.resize(label.sizeHint())
    label.grab()
    assert label.shown_text() == label.text()
    assert label.toolTip() == ""
    label.resize(100, 20)
    label.grab()
    assert label.shown_text().endswith("…")
    assert label.toolTip() == label.text()


def test_a_path_is_cut_in_its_middle(qtbot: QtBot, theme: Theme) -> None:
    label = ElidingLabel("small", "~/.local/share/augenmerk/runs/notebook-1", elide=Qt.TextElideMode.ElideMiddle)
    qtbot.addWidget(label)
    label.resize(120, 20)
    assert label.shown_text().startswith("~/")
    assert label.shown_text().endswith("-1")


def test_the_longest_form_that_fits_is_shown_and_the_tip_has_the_whole(qtbot: QtBot) -> None:
    label = ElidingLabel("small", "a line with many words in it\na shorter line\nshort")
    qtbot.addWidget(label)
    label.resize(label.sizeHint())
    label.show()
    assert label.shown_text() == "a line with many words in it"
    assert label.sizeHint().height() == ElidingLabel("small", "one line").sizeHint().height()
    for form in ("a shorter line", "short"):
        label.resize(label.fontMetrics().horizontalAdvance(form) + 2, label.height())
        assert label.shown_text() == form
    label.grab()
    assert label.toolTip() == "a line with many words in it"


def test_a_path_of_several_lines_is_seen_whole_and_needs_no_tip(qtbot: QtBot, theme: Theme) -> None:
    path = "~/experiments/a_long_name_without_any_space_or_hyphen_in_it/notebook-2026-11-22-0718"
    label = ElidingLabel("small", path, elide=Qt.TextElideMode.ElideMiddle)
    qtbot.addWidget(label)
    label.set_max_lines(4)
    label.resize(200, label.heightForWidth(200))
    label.grab()
    lines = label.shown_text().split("\n")
    assert "".join(lines) == path
    assert 1 < len(lines) <= 4
    assert all(label.fontMetrics().horizontalAdvance(line) <= 200 for line in lines)
    assert label.toolTip() == ""
    label.set_max_lines(2)
    label.grab()
    assert "…" in label.shown_text()
    assert label.toolTip() == path
