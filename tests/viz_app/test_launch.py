import os
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from augenmerk.core.errors import CheckpointError
from augenmerk.viz_app import launch, system_libraries
from augenmerk.viz_app.system_libraries import can_load


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Stands in for the window; holds what it was opened with."""
    calls: list[tuple[Any, ...]] = []
    application = types.ModuleType("augenmerk.viz_app.application")
    application.run_app = lambda *arguments: calls.append(arguments) or 0  # type: ignore[attr-defined]
    application.end_process = lambda status: status  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "augenmerk.viz_app.application", application)
    monkeypatch.setattr(system_libraries, "prepare_display", lambda **_: None)
    return calls


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Stands in for the command line; holds what it was asked."""
    calls: list[list[str]] = []
    monkeypatch.setattr(launch, "run_command", lambda arguments: calls.append(arguments) or 0)
    return calls


def test_alone_it_opens_the_window_with_the_bundled_model(opened: list[tuple[Any, ...]]) -> None:
    assert launch.main([]) == 0
    assert opened == [(None, None, None)]


def test_a_backend_of_pyplot_which_is_not_used_does_not_reach_matplotlib(
    monkeypatch: pytest.MonkeyPatch, commands: list[list[str]]
) -> None:
    monkeypatch.setenv("MPLBACKEND", "module://of_a_notebook")
    monkeypatch.setattr(launch, "leave", lambda status: None)
    launch.main(["figure"])
    assert commands == [["figure"]]
    assert "MPLBACKEND" not in os.environ


def test_qt_orders_the_fonts_of_a_pdf_alike_each_time(
    monkeypatch: pytest.MonkeyPatch, opened: list[tuple[Any, ...]]
) -> None:
    monkeypatch.delenv("QT_HASH_SEED", raising=False)
    launch.main([])
    assert os.environ["QT_HASH_SEED"] == "0"


def test_app_passes_on_file_sentence_and_screenshot(opened: list[tuple[Any, ...]]) -> None:
    assert (
        launch.main(["app", "a.safetensors", "--sentence", "Ein Hund.", "--screenshot", "out.png"])
        == 0
    )
    assert opened == [(Path("a.safetensors"), "Ein Hund.", Path("out.png"))]


def test_options_of_the_window_open_it_without_the_word_app(opened: list[tuple[Any, ...]]) -> None:
    assert launch.main(["--sentence", "Ein Hund."]) == 0
    assert launch.main(["--screenshot", "out.png", "a.safetensors"]) == 0
    assert opened == [(None, "Ein Hund.", None), (Path("a.safetensors"), None, Path("out.png"))]


def test_an_option_that_there_is_not_is_refused(
    opened: list[tuple[Any, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        launch.main(["--sentense", "Ein Hund."])
    assert ended.value.code == 2
    assert "augenmerk app: error" in capsys.readouterr().err
    assert opened == []


def test_a_file_or_a_sentence_alone_is_told_what_to_type(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model.safetensors"
    path.touch()
    for argument, hint in (
        (str(path), "augenmerk app FILE"),
        (str(tmp_path), "augenmerk app FOLDER"),
        ("Ein Hund.", "augenmerk translate SENTENCE"),
        (300 * "Hund ", "augenmerk translate SENTENCE"),
    ):
        with pytest.raises(SystemExit):
            launch.main([argument])
        told = capsys.readouterr().err
        assert "Commands: app, translate, analyze," in told
        assert hint in told


def test_everything_else_goes_to_the_command_line(
    opened: list[tuple[Any, ...]], commands: list[list[str]]
) -> None:
    assert launch.main(["translate", "Ein Hund.", "--json"]) == 0
    assert commands == [["translate", "Ein Hund.", "--json"]]
    assert opened == []


def test_help_tells_of_the_window_before_the_commands(
    commands: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert launch.main(["--help"]) == 0
    assert "app [FILE]" in capsys.readouterr().out
    assert commands == [["--help"]]


def test_a_user_error_ends_with_status_2_and_its_message(
    opened: list[tuple[Any, ...]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(*_: object) -> int:
        raise CheckpointError("nothing there")

    monkeypatch.setattr(sys.modules["augenmerk.viz_app.application"], "run_app", refuse)
    assert launch.main(["app", "missing.safetensors"]) == 2
    assert "nothing there" in capsys.readouterr().err


linux_only = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="elsewhere there is always a screen"
)


@pytest.fixture
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.setenv(name, "")  # so that the end of the test restores it
        monkeypatch.delenv(name)


@linux_only
@pytest.mark.usefixtures("no_screen")
def test_without_a_screen_a_window_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert launch.main([]) == 2
    assert "There is no screen" in capsys.readouterr().err


@linux_only
@pytest.mark.usefixtures("no_screen")
def test_without_a_screen_a_picture_is_drawn_offscreen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert system_libraries.prepare_display(picture_only=True) is None
    assert launch.os.environ["QT_QPA_PLATFORM"] == "offscreen"


@linux_only
def test_missing_libraries_are_named_before_qt_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "augenmerk.viz_app.system_libraries.missing_packages", lambda _: ["libegl1"]
    )
    assert launch.main([]) == 2
    assert "apt-get install" in capsys.readouterr().err


@linux_only
@pytest.mark.skipif(not can_load("libxcb.so.1"), reason="needs X11's library, to ask a display")
@pytest.mark.usefixtures("no_screen")
@pytest.mark.parametrize("platform", [None, "xcb"])
def test_a_screen_that_does_not_answer_is_named_before_qt_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], platform: str | None
) -> None:
    monkeypatch.setattr("augenmerk.viz_app.system_libraries.missing_packages", lambda _: [])
    monkeypatch.setenv("DISPLAY", ":987")
    if platform is not None:
        monkeypatch.setenv("QT_QPA_PLATFORM", platform)
    assert launch.main([]) == 2
    assert "The screen DISPLAY=:987 does not answer" in capsys.readouterr().err
