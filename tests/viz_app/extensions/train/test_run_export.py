"""What leaves the Train page: charts, every step's metrics, the film; a run opened again exports
the same.
"""

import csv
import os
import shutil
from functools import partial
from pathlib import Path

import matplotlib
import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDialogButtonBox, QLineEdit, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from augenmerk.core.extensions.training.events import StepDone
from augenmerk.core.extensions.training.film import read_film
from augenmerk.core.run_files import STEPS
from augenmerk.viz_app.extensions.help.palette import CommandPalette
from augenmerk.viz_app.extensions.learn.page import LearnPage
from augenmerk.viz_app.extensions.pictures.film import FilmHeads, formats
from augenmerk.viz_app.extensions.pictures.menu import FILES, MISSING, OF_RUNS
from augenmerk.viz_app.extensions.train.charts.picture import PAPER_COLORS
from augenmerk.viz_app.extensions.train.page import TrainPage
from augenmerk.viz_app.extensions.train.run_export import OF_STEPS
from augenmerk.viz_app.launch import main
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.palette import LIGHT
from tests.core.extensions.training.runs import Recorder, copy_run, record
from tests.test_import_rules import modules_imported_by
from tests.viz_app.conftest import MakeWindow
from tests.viz_app.parts import LEARN, TRAIN, TRANSLATE, exports_of, learn_page_of, train_page_of

pytestmark = pytest.mark.training


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Recorder]:
    """A real run of 7 steps an epoch, two epochs, with its film."""
    folder = tmp_path_factory.mktemp("runs") / "copy"
    return folder, record(copy_run(num_epochs=2), folder)[1]


@pytest.fixture
def window(make_window: MakeWindow, run: tuple[Path, Recorder], qtbot: QtBot) -> MainWindow:
    """With the run opened on the Train page."""
    window = make_window()
    window.pages.show(TRAIN)
    assert train_page_of(window) is not None
    train_page_of(window).run_actions.open_run(run[0])
    qtbot.waitUntil(
        lambda: (
            train_page_of(window) is not None
            and train_page_of(window).export_source().run is not None
        )
    )
    return window


@pytest.fixture
def page(window: MainWindow) -> TrainPage:
    assert train_page_of(window) is not None
    return train_page_of(window)


def choose(window: MainWindow, entry: str, target: Path) -> None:
    """Chooses an entry of the menu, and a file in its dialog."""
    exports_of(window).entries[entry].trigger()
    dialog = exports_of(window).dialog
    assert dialog is not None
    dialog.fileSelected.emit(str(target))
    dialog.reject()


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_has_exactly_the_numbers_of_every_step(
    window: MainWindow, run: tuple[Path, Recorder], tmp_path: Path
) -> None:
    choose(window, "metrics", tmp_path / "metrics.csv")
    steps: list[StepDone] = run[1].of(StepDone)
    rows = rows_of(tmp_path / "metrics.csv")
    assert len(rows) == len(steps) == 14
    for row, event in zip(rows, steps, strict=True):
        assert [float(row[name]) for name in OF_STEPS] == [
            getattr(event, name) for name in OF_STEPS
        ]
    validated = [row for row in rows if row["validation_loss"]]
    assert [int(row["step"]) for row in validated] == [7, 14]
    assert [float(row["validation_loss"]) for row in validated] == [
        pytest.approx(point.validation_loss)
        for point in train_page_of(window).state.run.curves.validations  # type: ignore[union-attr]
    ]


@pytest.mark.figures
@pytest.mark.slow
def test_pictures_show_the_charts_in_sight_as_they_are_shown(
    window: MainWindow, page: TrainPage, tmp_path: Path
) -> None:
    view = page.run_view
    assert view is not None
    view.charts.main.choose(quantity="perplexity")
    for ending, magic in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        choose(window, "charts", tmp_path / f"charts.{ending}")
        assert (tmp_path / f"charts.{ending}").read_bytes().startswith(magic)
    text = (tmp_path / "charts.svg").read_text(encoding="utf-8")
    assert ">Perplexity<" in text
    assert ">validation<" in text
    assert "perplexity: log, smoothing medium, all steps" in text
    assert ">Loss<" not in text, "it is not in sight"
    exports_of(window).entries["caption"].trigger()
    choose(window, "charts", tmp_path / "plain.svg")
    assert "smoothing medium" not in (tmp_path / "plain.svg").read_text(encoding="utf-8")


@pytest.mark.heavy
def test_the_film_is_written_in_a_thread_and_shows_every_frame_of_the_head(
    window: MainWindow, run: tuple[Path, Recorder], tmp_path: Path, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(exports_of(window).done, timeout=20_000):
        choose(window, "film", tmp_path / "film.gif")
    assert window.top_bar.status.text() == "saved film.gif"
    with Image.open(tmp_path / "film.gif") as file:
        assert file.n_frames == len(read_film(run[0])) == 3  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: exports_of(window).writing_dialog is None)


def test_a_film_that_is_cancelled_leaves_no_file(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    choose(window, "film", tmp_path / "film.gif")
    dialog = exports_of(window).writing_dialog
    assert dialog is not None
    dialog.findChild(QPushButton).click()
    assert exports_of(window).writing_dialog is None
    assert not list(tmp_path.glob("*.gif"))
    assert not list(tmp_path.glob(".*.part"))


def test_a_film_that_cannot_be_written_is_told(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "file").write_text("not a folder")
    choose(window, "film", tmp_path / "file" / "film.gif")
    qtbot.waitUntil(
        lambda: any(box.isVisible() for box in window.findChildren(QMessageBox)), timeout=20_000
    )
    (box,) = window.findChildren(QMessageBox)
    assert "Cannot write" in box.informativeText()
    box.accept()
    assert exports_of(window).writing_dialog is None


def test_a_window_that_is_closed_gives_a_film_up(window: MainWindow, tmp_path: Path) -> None:
    choose(window, "film", tmp_path / "film.gif")
    window.close()
    assert exports_of(window).writing_dialog is None
    assert not list(tmp_path.glob(".*.part"))


@pytest.mark.slow
@pytest.mark.parametrize("entry", ["charts", "metrics"])
@pytest.mark.figures
def test_a_full_disk_is_told_and_the_older_file_stays(
    window: MainWindow, tmp_path: Path, full_disk, entry: str
) -> None:
    target = tmp_path / ("charts.svg" if entry == "charts" else "metrics.csv")
    choose(window, entry, target)  # with room, which also imports what it needs
    assert target.stat().st_size > 300
    target.write_text("older")
    with full_disk(300):
        choose(window, entry, target)
    (box,) = window.findChildren(QMessageBox)
    assert "Cannot write" in box.informativeText()
    box.accept()
    assert target.read_text() == "older"
    assert not list(tmp_path.glob(".*.part"))


def test_only_a_page_with_a_run_offers_them(window: MainWindow, page: TrainPage) -> None:
    menu = exports_of(window)
    menu.aboutToShow.emit()
    assert all(menu.entries[name].isVisible() for name in OF_RUNS)
    assert page.run_view is not None
    assert page.run_view.charts.export_button.menu() is menu
    window.commands.run("Commands")
    (palette,) = window.findChildren(CommandPalette)
    names = [palette.results.item(row).text() for row in range(palette.results.count())]
    assert "Export: The metrics of every step (CSV)…" in names
    palette.close()
    window.pages.show(LEARN)
    menu.aboutToShow.emit()
    assert not any(menu.entries[name].isVisible() for name in OF_RUNS)
    menu.ask("charts")
    assert menu.dialog is None
    assert window.top_bar.status.text() == MISSING["charts"]


def test_without_ffmpeg_the_entry_says_so(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    exports_of(window).aboutToShow.emit()
    entry = exports_of(window).entries["film"]
    assert "MP4 needs ffmpeg" in entry.text()
    assert "not installed" in entry.toolTip()
    entry.trigger()
    assert exports_of(window).dialog is not None
    assert not any("mp4" in name_filter for name_filter in exports_of(window).dialog.nameFilters())
    exports_of(window).dialog.reject()


@pytest.mark.figures
def test_the_command_writes_what_the_window_writes(
    window: MainWindow, run: tuple[Path, Recorder], tmp_path: Path
) -> None:
    choose(window, "metrics", tmp_path / "window.csv")
    for name in ("command.csv", "charts.svg", "film.gif"):
        assert main(["charts", str(run[0]), "--out", str(tmp_path / name)]) == 0
    assert (tmp_path / "command.csv").read_bytes() == (tmp_path / "window.csv").read_bytes()
    text = (tmp_path / "charts.svg").read_text(encoding="utf-8")
    assert ">Loss<" in text
    assert ">Learning rate<" in text
    with Image.open(tmp_path / "film.gif") as file:
        assert file.n_frames == 3  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.figures
@pytest.mark.heavy
@pytest.mark.parametrize(
    ("name", "ending"),
    [("👨\u200d👩 中文", "pdf"), ("a\ufeffb $x_", "svg"), (os.fsdecode(b"l\xe4ufe"), "png")],
    ids=ascii,
)
def test_a_run_of_any_name_is_exported(
    run: tuple[Path, Recorder], tmp_path: Path, name: str, ending: str
) -> None:
    shutil.copytree(run[0], tmp_path / name)
    for target in (f"charts.{ending}", "film.gif", "metrics.csv"):
        assert (
            main(["charts", str(tmp_path / name), "--out", str(tmp_path / name / target)]) == 0
        ), target


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--out", "a.txt"], "ends in"),
        (["--out", "a.gif", "--layer", "1"], "belong together"),
        (["--out", "a.csv", "--user-style"], "--user-style has no effect on .csv files"),
        (["--out", "a.gif", "--layer", "9", "--head", "1"], "no layer 9"),
        (["--out", "a.gif", "--layer", "9", "--all-heads"], "no layer 9 in"),
        (["--out", "a.gif", "--layer", "1", "--head", "1", "--all-heads"], "cannot be combined"),
    ],
)
def test_the_command_refuses_in_one_message(
    run: tuple[Path, Recorder],
    arguments: list[str],
    expected: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["charts", str(run[0]), *arguments]) == 2
    assert expected in capsys.readouterr().err


def test_the_command_refuses_a_folder_without_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["charts", str(tmp_path), "--out", str(tmp_path / "a.csv")]) == 2
    assert "not the folder of a run" in capsys.readouterr().err


@pytest.mark.figures
def test_the_command_draws_in_the_style_of_the_user_on_request(
    run: tuple[Path, Recorder], tmp_path: Path
) -> None:
    target = tmp_path / "a.svg"
    with matplotlib.rc_context({"figure.facecolor": "#123456"}):
        for style, is_used in (([], False), (["--user-style"], True)):
            assert main(["charts", str(run[0]), "--out", str(target), *style]) == 0
            assert (b"#123456" in target.read_bytes()) == is_used


@pytest.mark.subprocess
def test_the_command_imports_no_qt() -> None:
    assert not {"PySide6", "torch"} & modules_imported_by(
        "import augenmerk.viz_app.extensions.train.charts_command"
    )


def test_a_run_whose_steps_were_not_recorded_exports_its_validations(
    run: tuple[Path, Recorder], tmp_path: Path
) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    for path in run[0].iterdir():
        if path.is_file() and path.name != STEPS:
            (folder / path.name).write_bytes(path.read_bytes())
    assert main(["charts", str(folder), "--out", str(tmp_path / "old.csv")]) == 0
    rows = rows_of(tmp_path / "old.csv")
    assert [row["step"] for row in rows] == ["7", "14"]
    assert all(row["validation_loss"] and not row["loss"] for row in rows)


def test_a_film_keeps_what_it_was_given(page: TrainPage, run: tuple[Path, Recorder]) -> None:
    source = page.export_source().run
    assert source is not None
    film = source.film("head", has_caption=True)
    assert film is not None
    assert not film.panels
    head = page.state.playback.maps.selection.head
    for shot, frame in zip(film.shots, read_film(run[0]), strict=True):
        weights = frame.translation.maps.of_kind(head.kind)[head.layer, head.head]
        assert (shot.drawings[0].values == weights).all()
        assert shot.drawings[0].column_labels == frame.translation.source_tokens


def test_a_film_of_all_heads_has_the_map_of_each(
    page: TrainPage, run: tuple[Path, Recorder]
) -> None:
    source = page.export_source().run
    assert source is not None
    head = page.state.playback.maps.selection.head
    ways: tuple[FilmHeads, ...] = ("layer", "kind")
    for heads in ways:
        film = source.film(heads, has_caption=True)
        assert film is not None
        for shot, frame in zip(film.shots, read_film(run[0]), strict=True):
            maps = frame.translation.maps.of_kind(head.kind)
            expected = maps[head.layer] if heads == "layer" else maps.reshape(-1, *maps.shape[2:])
            assert len(film.panels) == len(shot.drawings) == len(expected)
            assert all(
                (shown.values == weights).all()
                for shown, weights in zip(shot.drawings, expected, strict=True)
            )
            assert shot.drawings[0].column_labels == frame.translation.source_tokens
        assert source.film_name(heads) != source.film_name("head")


def has_result(page: LearnPage) -> bool:
    return page.state.result is not None


@pytest.mark.slow
def test_every_export_of_every_page_proposes_a_file_of_its_own(
    window: MainWindow, page: TrainPage, qtbot: QtBot
) -> None:
    exports = exports_of(window)
    proposals: dict[str, set[str]] = {}
    for place in (TRANSLATE, LEARN, TRAIN):
        window.pages.show(place)
        learn = learn_page_of(window)
        if learn is not None:
            qtbot.waitUntil(partial(has_result, learn))
        for name, export in FILES.items():
            if exports.offers(export.needs):
                exports.ask(name)
                assert exports.dialog is not None
                file_name = Path(exports.dialog.selectedFiles()[0]).name
                exports.dialog.reject()
                what = f"{name} of {place}" if name == "page" else name
                proposals.setdefault(file_name, set()).add(what)
    assert {file_name: names for file_name, names in proposals.items() if len(names) > 1} == {}
    assert len(set().union(*proposals.values())) >= len(FILES) - 1, "nearly all were offered"


@pytest.mark.heavy
def test_the_window_and_the_command_write_the_film_of_all_heads(
    window: MainWindow, run: tuple[Path, Recorder], tmp_path: Path, qtbot: QtBot
) -> None:
    exports_of(window).aboutToShow.emit()
    assert "all heads of cross-attention" in exports_of(window).entries["film of kind"].text()
    with qtbot.waitSignal(exports_of(window).done, timeout=20_000):
        choose(window, "film of kind", tmp_path / "window.gif")
    qtbot.waitUntil(lambda: exports_of(window).writing_dialog is None)
    assert main(["charts", str(run[0]), "--all-heads", "--out", str(tmp_path / "command.gif")]) == 0
    assert (tmp_path / "command.gif").read_bytes() == (tmp_path / "window.gif").read_bytes()


def test_colours_on_paper_are_those_of_the_light_theme() -> None:
    assert all(getattr(LIGHT, name) == color for name, color in PAPER_COLORS.items())


def click_through(window: MainWindow, qtbot: QtBot, entry: str, target: Path, ending: str) -> None:
    """As a user does: the menu, its entry, the format, a name typed into the dialog, its button.

    The dialog begins in the folder of the last export; a whole path is not typed: it might follow
    that.
    """
    button = window.top_bar.menu_button
    exports_of(window).folder = target.parent
    exports_of(window).popup(button.mapToGlobal(button.rect().bottomLeft()))
    qtbot.waitUntil(exports_of(window).isVisible)
    action = exports_of(window).entries[entry]
    assert action.isVisible()
    center = exports_of(window).actionGeometry(action).center()
    qtbot.mouseClick(exports_of(window), Qt.MouseButton.LeftButton, pos=center)
    dialog = exports_of(window).dialog
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog.isVisible() and Path(dialog.directory().path()) == target.parent)
    formats_box = dialog.findChild(QComboBox, "fileTypeCombo")
    assert formats_box is not None
    for _ in range(formats_box.count()):
        if f"*.{ending}" not in formats_box.currentText():
            qtbot.keyClick(formats_box, Qt.Key.Key_Down)
    field = dialog.findChild(QLineEdit, "fileNameEdit")
    assert field is not None
    # the list of names that it opens while one types would take the click on the button
    field.setCompleter(None)
    field.clear()
    qtbot.keyClicks(field, target.name)
    buttons = dialog.findChild(QDialogButtonBox)
    assert buttons is not None
    qtbot.mouseClick(
        buttons.button(QDialogButtonBox.StandardButton.Save), Qt.MouseButton.LeftButton
    )


@pytest.mark.slow
@pytest.mark.figures
@pytest.mark.heavy
@pytest.mark.parametrize(
    "choices",
    [
        (
            ("charts", "png", b"\x89PNG"),
            ("charts", "svg", b"<?xml"),
            ("charts", "pdf", b"%PDF"),
            ("metrics", "csv", b"step,epoch,"),
            ("film", "gif", b"GIF89a"),
        ),
        pytest.param((("film", "mp4", b"\x00\x00\x00"),), marks=pytest.mark.subprocess),
    ],
    ids=["files", "mp4"],
)
def test_charts_metrics_and_film_are_exported_by_clicks_from_the_menu_to_the_file(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, choices: tuple[tuple[str, str, bytes], ...]
) -> None:
    """The name is typed without an ending, so that the format that is chosen in the dialog
    counts."""
    for entry, ending, magic in choices:
        if ending == "mp4" and "mp4" not in formats():
            pytest.skip("no ffmpeg")
        folder = tmp_path / ending
        folder.mkdir()
        with qtbot.waitSignal(exports_of(window).done, timeout=15_000):
            click_through(window, qtbot, entry, folder / "exported", ending)
        target = folder / f"exported.{ending}"
        assert window.top_bar.status.text() == f"saved exported.{ending}"
        assert target.read_bytes().startswith(magic)
        beside = {f"{target.name}-metadata.json"} if ending == "csv" else set()
        assert {file.name for file in folder.iterdir()} == {target.name} | beside, (
            "nothing half-written beside it"
        )
    qtbot.waitUntil(lambda: exports_of(window).writing_dialog is None)
