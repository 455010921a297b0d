"""The notice that an earlier window crashed, above the page."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QDialog, QFrame, QPlainTextEdit, QPushButton

from augenmerk.core.quantities import counted

from ...crash_reports import CrashReport
from ...theme import PANEL_MARGIN, set_role
from ...widgets.buttons import flat_button
from ...widgets.labels import ElidingLabel, label
from ...widgets.layouts import column_of, row_of

HINT = (
    "This report stays on this computer. It helps to find the cause: copy it when you report the "
    "problem."
)


class CrashNotice(QFrame):
    """One line, with buttons to see, copy and delete the reports, and one that does nothing but
    close it.

    Attributes:
        text: the message.
        view_button: opens the report.
        copy_button: copies the report.
        delete_button: deletes the report.
        close_button: closes the notice.
        dialog: the reports, while they are shown; else None.

    Signals:
        done(str): a short message that reports were copied or deleted.
    """

    done = Signal(str)

    def __init__(self, reports: Sequence[CrashReport]) -> None:
        super().__init__()
        set_role(self, "panel")
        self._reports = tuple(reports)
        self.dialog: QDialog | None = None
        self.text = ElidingLabel("warm", summary_of(self._reports))
        self.view_button = flat_button("View", "Show the report")
        self.copy_button = flat_button("Copy", "Copy it to the clipboard")
        self.delete_button = flat_button("Delete", "Delete it from this computer")
        self.close_button = flat_button("✕", "Keep it, and do not offer it again")
        self.close_button.setAccessibleName("Close this notice")
        self.view_button.clicked.connect(self._view)
        self.copy_button.clicked.connect(self._copy)
        self.delete_button.clicked.connect(self._delete)
        self.close_button.clicked.connect(self._dismiss)
        buttons = (self.view_button, self.copy_button, self.delete_button, self.close_button)
        row_of(
            (self.text, 1), *buttons, margins=(PANEL_MARGIN, 4, PANEL_MARGIN - 6, 4), within=self
        )

    @property
    def report(self) -> str:
        """The text of all reports, the newest first."""
        return "\n\n".join(f"{report.path.name}\n{report.text.strip()}" for report in self._reports)

    def _view(self) -> None:
        if self.dialog is None:
            self.dialog = self._make_dialog()
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.report)
        self.done.emit("copied the crash report")

    def _delete(self) -> None:
        for report in self._reports:
            report.delete()
        self.done.emit("deleted the crash report")
        self._close()

    def _dismiss(self) -> None:
        for report in self._reports:
            report.mark_seen()
        self._close()

    def _close(self) -> None:
        if self.dialog is not None:
            self.dialog.close()
        self.hide()
        self.deleteLater()

    def _make_dialog(self) -> QDialog:
        dialog = QDialog(self)
        dialog.setWindowTitle("Crash report")
        text = QPlainTextEdit(self.report)
        text.setReadOnly(True)
        text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        buttons = []
        for name, act in (("Copy", self._copy), ("Delete", self._delete), ("Close", dialog.close)):
            button = QPushButton(name)
            button.setAutoDefault(name == "Close")
            button.clicked.connect(act)
            buttons.append(button)
        margins = PANEL_MARGIN, PANEL_MARGIN, PANEL_MARGIN, PANEL_MARGIN
        column_of(
            label("muted", HINT, wraps=True),
            (text, 1),
            row_of(1, *buttons),
            margins=margins,
            within=dialog,
        )
        dialog.setWindowModality(Qt.WindowModality.NonModal)
        dialog.resize(820, 520)
        return dialog


def summary_of(reports: Sequence[CrashReport]) -> str:
    """A description in one line."""
    newest = reports[0]
    when = f"{newest.ended:%d %b %Y, %H:%M}"
    if newest.is_fatal:
        text = f"Augenmerk crashed on {when}. A report was saved on this computer."
    else:
        text = f"An unexpected error occurred on {when}. A report was saved on this computer."
    others = len(reports) - 1
    return text + (f" {counted(others, 'earlier report')} too." if others else "")
