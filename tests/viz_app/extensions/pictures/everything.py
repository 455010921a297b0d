"""Writes a file of every kind and format: `python -m tests.viz_app.extensions.pictures.everything
FOLDER`."""

import os
import shutil
import sys
from pathlib import Path

from PySide6.QtWidgets import QApplication

from augenmerk.core.checkpoint.file import load_checkpoint, save_checkpoint
from augenmerk.core.extensions.lessons.lesson_file import read_lesson_file, write_lesson_file
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment_file import read_experiment_file, write_experiment_file
from augenmerk.viz_app.extensions.pictures.film import formats
from augenmerk.viz_app.extensions.pictures.html_page import ScenePart, save_lesson_page
from augenmerk.viz_app.extensions.pictures.saving import Saving
from augenmerk.viz_app.extensions.pictures.sheet_pdf import save_sheet_pdf
from augenmerk.viz_app.extensions.pictures.worksheet import save_sheet
from augenmerk.viz_app.launch import run_command
from augenmerk.viz_app.theme import Theme
from tests.viz_app.extensions.pictures.conftest import SENTENCE, MapsPage
from tests.viz_app.extensions.pictures.test_html_page import content
from tests.viz_app.extensions.pictures.test_sheet_pdf import SCENE
from tests.viz_app.synthetic import make_translation

EARLIER = Path(__file__).parents[3] / "earlier"
TEXT = "Zwei Hunde 犬 ."
"""One character is in no font that matplotlib brings along."""


def write_from_the_window(folder: Path) -> None:
    """The pictures, numbers and pages that the window exports."""
    app = QApplication([])
    Theme.light().apply(app)
    page = MapsPage(Theme.light())
    page.resize(1280, 760)
    page.state.show_translation(make_translation(SENTENCE.lower(), SENTENCE.lower(), text=SENTENCE))
    page.state.selection.choose(Head("cross", 1, 4))
    saving = Saving(page.export_source())
    for picture in ("heatmap", "lines"):
        page.state.settings.picture = picture
        for ending in ("png", "svg", "pdf"):
            saving.save_map(folder / f"{picture}.{ending}")
            saving.save_heads(folder / f"heads.{ending}")
            saving.save_page(folder / f"page-{picture}.{ending}")
    for ending in ("csv", "json", "npz"):
        saving.save_table(folder / f"numbers.{ending}")
    saving.save_html(folder / "maps.html")
    save_lesson_page("Title", [ScenePart("First", "Text", content())], folder / "lesson.html")
    for ending in ("html", "md"):
        save_sheet("Title", [SCENE], "worksheet", folder / f"worksheet.{ending}")
    save_sheet_pdf("Title", [SCENE], "solutions", folder / "solutions.pdf")
    page.worker.close()


def write_by_commands(folder: Path) -> None:
    """The files that the commands write, in which no time is measured."""
    checkpoint = folder / "best.safetensors"
    shutil.copy(EARLIER / "run" / "best.safetensors", checkpoint)
    model = ("--checkpoint", str(checkpoint), "--device", "cpu")
    commands = [
        *(
            ("figure", "--text", TEXT, "--out", f"figure.{ending}", *model)
            for ending in ("png", "svg", "pdf", "html")
        ),
        *(
            ("figure", "--grid", "--text", TEXT, "--out", f"grid.{ending}", *model)
            for ending in ("png", "svg", "pdf")
        ),
        *(
            ("charts", str(EARLIER / "run"), "--out", f"charts.{ending}")
            for ending in ("png", "svg", "pdf", "csv")
        ),
        *(
            ("charts", str(EARLIER / "run"), "--all-heads", "--out", f"film.{ending}")
            for ending in formats()
        ),
        ("translate", TEXT, "--attention", "attention.npz", *model),
        *(("analyze", TEXT, "--out", f"analysis.{ending}", *model) for ending in ("npz", "json")),
        ("page", str(checkpoint), "--out", "running.html"),
        ("average", str(checkpoint), "--out", "average.safetensors"),
        (
            "data",
            "prepare",
            "--data",
            "copy",
            "--preset",
            "copy-task-small",
            "--out",
            "data.safetensors",
        ),
    ]
    for command in commands:
        assert run_command(list(command)) == 0, command
    save_checkpoint(load_checkpoint(checkpoint), folder / "again.safetensors")
    write_experiment_file(
        read_experiment_file(EARLIER / "experiment.augenmerk"), folder / "experiment.augenmerk"
    )
    write_lesson_file(read_lesson_file(EARLIER / "lesson.augenmerk"), folder / "lesson.augenmerk")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    os.chdir(target)
    write_from_the_window(target)
    write_by_commands(target)
