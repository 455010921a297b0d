import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.widgets.labels import ElidingLabel, StableHeightLabel, label


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
    label = ElidingLabel(
        "small", "~/.local/share/augenmerk/runs/notebook-1", elide=Qt.TextElideMode.ElideMiddle
    )
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


def test_of_several_forms_the_longest_that_fits_two_lines_is_shown(
    qtbot: QtBot, theme: Theme
) -> None:
    forms = ("one two three four five six seven eight nine ten", "one two three four five", "one")
    label = ElidingLabel("small", "\n".join(forms))
    qtbot.addWidget(label)
    label.set_max_lines(2)
    for form, width in zip(forms, (0.75, 0.75, 1.1), strict=True):
        label.resize(int(label.fontMetrics().horizontalAdvance(form) * width), label.height())
        assert " ".join(label.shown_text().split()) == form


SHORT, LONG = "one line", " ".join(["many words"] * 30)


@pytest.fixture
def text_label(qtbot: QtBot) -> StableHeightLabel:
    made = StableHeightLabel(label("muted", wraps=True))
    qtbot.addWidget(made)
    return made


def test_it_keeps_the_height_of_the_longest_text_until_the_width_changes(
    text_label: StableHeightLabel,
) -> None:
    text_label.show_text(SHORT, 300)
    low = text_label.minimumHeight()
    text_label.show_text(LONG, 300)
    high = text_label.minimumHeight()
    assert 0 < low < high
    text_label.show_text(SHORT, 300)
    assert text_label.minimumHeight() == text_label.maximumHeight() == high
    text_label.show_text(SHORT, 301)
    assert text_label.minimumHeight() == low


def test_without_a_width_it_has_no_height(text_label: StableHeightLabel) -> None:
    text_label.show_text(SHORT, 0)
    assert text_label.minimumHeight() >= 0


@pytest.mark.parametrize("pixels", [12, 13, 15])
def test_a_form_is_never_cut_where_a_shorter_one_fits(
    qtbot: QtBot, theme: Theme, pixels: int
) -> None:
    longest = "Click a cell to pin it, words on an axis to sum them (Ctrl, Shift: several)"
    label = ElidingLabel("small", f"{longest}\nClick a cell", elide=Qt.TextElideMode.ElideMiddle)
    qtbot.addWidget(label)
    label.setStyleSheet(f"font-size: {pixels}px")
    label.ensurePolished()
    for width in range(label.whole_width() - 3, label.whole_width() + 3):
        label.resize(width, 30)
        assert label.shown_text() in (longest, "Click a cell")
