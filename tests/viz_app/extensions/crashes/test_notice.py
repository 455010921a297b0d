"""What went wrong in an earlier window is offered in the next one."""

from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit
from pytestqt.qtbot import QtBot

from augenmerk.viz_app.crash_reports import END_OF_HEADER, earlier_reports
from augenmerk.viz_app.extensions.crashes.notice import CrashNotice
from tests.viz_app.conftest import MakeWindow


class TestNotice:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        folder = tmp_path / "crashes"
        folder.mkdir()
        text = b"Fatal Python error: Segmentation fault\n  File here, line 1"
        (folder / "2026-11-22-034101-1.log").write_bytes(b"Augenmerk" + END_OF_HEADER + text)
        return folder

    @pytest.fixture
    def notice(self, folder: Path, make_window: MakeWindow) -> CrashNotice:
        window = make_window()
        for part in window.parts:
            part.offer_reports(earlier_reports(folder))
        (notice,) = window.findChildren(CrashNotice)
        return notice

    def test_it_says_what_happened_and_is_in_nobodys_way(
        self, notice: CrashNotice, qtbot: QtBot
    ) -> None:
        assert notice.isVisible()
        assert notice.height() < 50
        assert "Augenmerk crashed on" in notice.text.text()
        assert QGuiApplication.modalWindow() is None

    @pytest.mark.heavy
    def test_view_shows_it_and_copy_takes_it(self, notice: CrashNotice) -> None:
        notice.view_button.click()
        assert notice.dialog is not None
        assert notice.dialog.isVisible()
        assert not notice.dialog.isModal()
        shown = notice.dialog.findChild(QPlainTextEdit)
        assert shown is not None
        assert "Segmentation fault" in shown.toPlainText()
        notice.copy_button.click()
        assert "Segmentation fault" in QGuiApplication.clipboard().text()

    def test_delete_removes_it(self, notice: CrashNotice, folder: Path) -> None:
        notice.view_button.click()
        notice.delete_button.click()
        assert list(folder.iterdir()) == []
        assert not notice.isVisible()

    def test_closed_it_is_kept_and_not_offered_again(
        self, notice: CrashNotice, folder: Path
    ) -> None:
        notice.close_button.click()
        assert not notice.isVisible()
        assert earlier_reports(folder) == []
        (path,) = folder.iterdir()
        assert path.name.endswith(".seen.log")
