from dataclasses import replace
from itertools import pairwise

from PySide6.QtGui import QTextDocumentFragment
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.viz_app.extensions.train.run.choices import run_summary_rows
from augenmerk.viz_app.extensions.train.run.form import NamedValues
from augenmerk.viz_app.extensions.train.run.panel import NoticeBar
from augenmerk.viz_app.extensions.train.state import TrainState
from tests.viz_app.builders import shown


def shown_rows(table: NamedValues) -> list[tuple[str, ...]]:
    """What can be read, from top to bottom; each row's labels from left to right."""
    labels = [label for label in table.findChildren(QLabel) if label.isVisibleTo(table)]
    tops = sorted({label.y() for label in labels})
    return [
        tuple(
            label.text()
            for label in sorted(labels, key=lambda label: label.x())
            if label.y() == top
        )
        for top in tops
    ]


def test_rows_stay_apart_and_in_order_when_one_comes_and_goes(qtbot: QtBot) -> None:
    run = preset("notebook")
    patient = replace(run, training=replace(run.training, patience=1))
    table = shown(qtbot, NamedValues("small"), (300, 250))
    for one in (run, patient, run, patient):
        rows = run_summary_rows(one, "multi30k", None)
        table.show_rows(rows)
        table.layout().activate()
        assert shown_rows(table) == rows
        labels = [
            label
            for label in table.findChildren(QLabel)
            if label.isVisibleTo(table) and label.x() == 0
        ]
        labels.sort(key=lambda label: label.y())
        assert all(upper.geometry().bottom() < lower.y() for upper, lower in pairwise(labels))


def test_one_epoch_of_patience_is_one_epoch() -> None:
    run = preset("notebook")
    for patience, said in ((1, "1 epoch"), (2, "2 epochs")):
        patient = replace(run, training=replace(run.training, patience=patience))
        assert dict(run_summary_rows(patient, "multi30k", None))["patience"] == said


def test_the_heading_of_a_notice_ends_before_its_text(qtbot: QtBot) -> None:
    state = TrainState()
    bar = shown(qtbot, NoticeBar(state), (600, 60))
    state.discard()
    (text,) = bar.findChildren(QLabel)
    read = QTextDocumentFragment.fromHtml(text.text()).toPlainText()
    assert read == "Discarded. The run was discarded: its files were deleted."
