"""The watch over Qt that every test of a window gets: it fails what it is there for, and nothing
else."""

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow, QPushButton, QVBoxLayout, QWidget

from tests.qt_watch import top_widgets, watch_threads_and_timers, watch_widgets

pytestmark = pytest.mark.slow


class _Window(QMainWindow):
    """Held by its own button, as windows of an application are."""

    def __init__(self) -> None:
        super().__init__()
        self.button = QPushButton("close")
        self.button.clicked.connect(lambda: self.close())
        self.setCentralWidget(self.button)


def test_a_window_that_is_closed_and_forgotten_is_left_behind(qapp: QApplication) -> None:
    def close_and_forget() -> None:
        with watch_widgets():
            window = _Window()
            window.show()
            window.close()
            del window

    with pytest.raises(AssertionError, match=r"widgets left behind.*_Window.*with 1 widgets in it"):
        close_and_forget()
    windows = [widget for widget in top_widgets() if isinstance(widget, _Window)]
    assert len(windows) == 1, "the garbage collector cannot end it"
    windows[0].deleteLater()


def test_a_window_that_is_told_to_go_is_not_left_behind(qapp: QApplication) -> None:
    with watch_widgets():
        window = _Window()
        window.show()
        window.close()
        window.deleteLater()


def test_a_widget_that_nothing_refers_to_is_not_left_behind(qapp: QApplication) -> None:
    with watch_widgets():
        widget = QWidget()
        column = QVBoxLayout(widget)
        widget.column = column  # type: ignore[attr-defined]  # a cycle that the garbage collector sees
        column.addWidget(QPushButton("press"))
        del widget, column


def test_a_widget_of_an_earlier_test_is_not_counted_again(qapp: QApplication) -> None:
    earlier = _Window()
    with watch_widgets():
        pass
    earlier.deleteLater()


def test_a_timer_that_goes_on_is_left_behind(qapp: QApplication) -> None:
    timer = QTimer()
    with (
        pytest.raises(AssertionError, match=r"left behind.*every 50 ms"),
        watch_threads_and_timers(0.1),
    ):
        timer.start(50)
    timer.stop()
