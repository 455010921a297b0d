"""A model whose numbers overflow: the window refuses its translations, and goes on; `augenmerk
figure` says why.
"""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from augenmerk.core.checkpoint.file import save_checkpoint
from augenmerk.core.resources import bundled_model_path
from augenmerk.viz_app.launch import main
from tests.core.translation.random_models import make_translator
from tests.core.translation.test_not_finite import MARIAN, with_huge
from tests.viz_app.conftest import MakeWindow

PLACE = "first in encoder layer 1, feed-forward network"


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("broken") / "broken.safetensors"
    save_checkpoint(
        with_huge(make_translator(MARIAN), "encoder_layers.0.feed_forward.").checkpoint, path
    )
    return path


@pytest.mark.heavy
def test_the_window_refuses_and_goes_on_with_another_model(
    make_window: MakeWindow, qtbot: QtBot, broken: Path
) -> None:
    window = make_window(broken, sentence="ein mann steht", loader=None, wait=False)
    state = window.state
    qtbot.waitUntil(lambda: PLACE in state.request.problem, timeout=30_000)
    assert state.result is None
    with qtbot.waitSignal(window.translation_shown, timeout=30_000):
        window.open_model(bundled_model_path())
    assert state.request.problem == ""
    assert state.result is not None


@pytest.mark.parametrize("name", ["a.png", "a.html"])
@pytest.mark.heavy
def test_a_figure_is_refused(
    broken: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    out = tmp_path / name
    assert (
        main(["figure", "--text", "ein mann steht", "--checkpoint", str(broken), "--out", str(out)])
        == 2
    )
    assert PLACE in capsys.readouterr().err
    assert not out.exists()
