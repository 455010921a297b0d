"""A sortable table of short texts; a click chooses a row."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QTableWidget, QTableWidgetItem

from ...theme import scaled, scales

ROW_HEIGHT = 22
CELL_PADDING = 12


class Table(QTableWidget):
    """Rows of texts under headings; numbers sort as numbers.

    Signals:
        row_chosen(int): the original index of a row, independent of the sort order.
    """

    row_chosen = Signal(int)

    def __init__(self, headings: Mapping[str, str]) -> None:
        """`headings`: tool tips of the columns by heading."""
        super().__init__(0, len(headings))
        for column, (text, tip) in enumerate(headings.items()):
            item = QTableWidgetItem(text)
            item.setToolTip(f"{tip}. Click to sort.")
            self.setHorizontalHeaderItem(column, item)
        self.verticalHeader().hide()
        scales(self.verticalHeader().setDefaultSectionSize, ROW_HEIGHT)
        self.horizontalHeader().setStretchLastSection(True)
        self.horizontalHeader().setHighlightSections(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrap(False)
        self.cellClicked.connect(self._on_clicked)

    def show_rows(self, rows: Sequence[Sequence[str]]) -> None:
        """Fills the table, in this order."""
        self.setSortingEnabled(False)
        self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setRowCount(len(rows))
        for index, row in enumerate(rows):
            for column, text in enumerate(row):
                item = _Item(text)
                item.setData(Qt.ItemDataRole.UserRole, index)
                self.setItem(index, column, item)
        self.setSortingEnabled(True)
        self._fit_columns(rows)

    def _fit_columns(self, rows: Sequence[Sequence[str]]) -> None:
        """Column widths from the texts; the sort indicator takes no extra width."""
        metrics = self.fontMetrics()
        for column in range(self.columnCount()):
            heading = self.horizontalHeaderItem(column)
            texts = [row[column] for row in rows] + (
                [heading.text()] if heading is not None else []
            )
            self.setColumnWidth(
                column, max(map(metrics.horizontalAdvance, texts)) + scaled(CELL_PADDING)
            )

    def _on_clicked(self, row: int, column: int) -> None:
        item = self.item(row, column)
        if item is not None:
            self.row_chosen.emit(int(item.data(Qt.ItemDataRole.UserRole)))


class _Item(QTableWidgetItem):
    """Sorts by the number at the beginning of its text, if there is one."""

    def __lt__(self, other: QTableWidgetItem) -> bool:
        return _key(self.text()) < _key(other.text())


def _key(text: str) -> tuple[int, float, str]:
    try:
        return 0, float(text.split()[0].replace("−", "-")), text
    except (ValueError, IndexError):
        return 1, 0.0, text
