"""The result of the last session: written when the window closes, shown at the next start before a
model is open."""

import os
import re
import threading
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from augenmerk.core.model.heads import Head
from augenmerk.core.resources import bundled_model_path, example_sentences, resource_path
from augenmerk.core.translation.experiment import (
    AttentionRow,
    CausalMaskLifted,
    Experiment,
    ForcedToken,
    GivenTarget,
    Greedy,
    HeadScaled,
    SoftmaxTemperature,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.result import ExperimentResult
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.documents import last_result, session
from augenmerk.viz_app.extensions.documents.last_result import (
    FIRST_RESULT,
    key_of_content,
    read_last_result,
    write_last_result,
)
from augenmerk.viz_app.extensions.documents.session import LAST_RESULT, SESSION
from augenmerk.viz_app.main_window import MainWindow
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_state import Current, Stale
from augenmerk.viz_app.state.map_view import Pair
from augenmerk.viz_app.translate.page import DimmingOverlay
from augenmerk.viz_app.worker.jobs import describe
from tests.checkpoints import write_untrained_checkpoint
from tests.conftest import open_once
from tests.viz_app.conftest import MakeWindow

SENTENCE = "ein mann steht dort ."
INTERVENTIONS = (
    SourceWordRemoved(1),
    SourceWordReplaced(2, "läuft"),
    HeadScaled(Head("cross", 1, 0), 0.5),
    SoftmaxTemperature(Head("encoder", 0, 1), 2.0),
    AttentionRow(Head("decoder", 1, 1), 1, (0.25, 0.75)),
    ForcedToken(1, "man"),
    ForcedToken(30, "man"),
)
EXPERIMENTS = {
    "plain": Experiment(SENTENCE),
    "changed": Experiment(SENTENCE, Greedy(), INTERVENTIONS),
    "given": Experiment(SENTENCE, GivenTarget("a man stands ."), (CausalMaskLifted(),)),
    "unknown words": Experiment("xyzzy >>fra<< ß „quux“"),
}
DAMAGES = {
    "empty": lambda data: b"",
    "cut off": lambda data: data[:-100],
    "one letter": lambda data: data.replace(b"mann", b"Mann", 1),
    "checksum": lambda data: b"0" * 64 + data[64:],
    "not JSON": lambda data: last_result._checksum(b"[") + b"[",
    "no fields": lambda data: last_result._checksum(b"{}") + b"{}",
    "text for a number": lambda data: _with_checksum(
        re.sub(rb'("seconds": )[^,]+', rb'\1"1"', data[64:])
    ),
    "number for a text": lambda data: _with_checksum(
        data[64:].replace(b'"ignored_text": ""', b'"ignored_text": 5')
    ),
    "shape": lambda data: _with_checksum(data[64:].replace(b'"shape": [', b'"shape": [7, ', 1)),
}


def _with_checksum(content: bytes) -> bytes:
    return last_result._checksum(content) + content


@pytest.fixture
def checkpoint(untrained_checkpoint: Path, tmp_path: Path) -> Path:
    """A copy, which a test may change."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(untrained_checkpoint.read_bytes())
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "last-result.txt"


def _assert_equal(actual: object, expected: object) -> None:
    """The same types and values, down to the bits of arrays, which cannot be written."""
    assert type(actual) is type(expected)
    if isinstance(expected, np.ndarray) and isinstance(actual, np.ndarray):
        assert (actual.dtype, actual.shape, actual.tobytes()) == (
            expected.dtype,
            expected.shape,
            expected.tobytes(),
        )
        assert not actual.flags.writeable
    elif is_dataclass(expected):
        for field in fields(expected):
            _assert_equal(getattr(actual, field.name), getattr(expected, field.name))
    else:
        assert actual == expected


def _assert_close(actual: object, expected: object) -> None:
    """The same types and texts; numbers that differ by rounding on another processor.

    A logit of the bundled model is a sum of 256 products, of a size up to 20, of states that passed
    six layers: a thousand roundings of 2e-6 that mostly cancel.
    """
    assert type(actual) is type(expected)
    if isinstance(expected, (float, np.ndarray)):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)
    elif is_dataclass(expected):
        for field in fields(expected):
            if field.name != "seconds":
                _assert_close(getattr(actual, field.name), getattr(expected, field.name))
    elif isinstance(expected, tuple) and isinstance(actual, tuple):
        assert len(actual) == len(expected)
        for own, other in zip(actual, expected, strict=True):
            _assert_close(own, other)
    else:
        assert actual == expected


def _written(
    checkpoint: Path, path: Path, experiment: Experiment
) -> tuple[ExperimentResult, Translator]:
    translator = Translator.load(checkpoint, "cpu")
    result = translator.compare(experiment)
    write_last_result(path, result, describe(translator))
    return result, translator


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_stored_result_is_the_computed_one(name: str, checkpoint: Path, path: Path) -> None:
    result, translator = _written(checkpoint, path, EXPERIMENTS[name])
    stored, model = read_last_result(path, checkpoint)
    _assert_equal(stored, result)
    assert (stored.changed is stored.original) == (not EXPERIMENTS[name].interventions)
    assert bool(stored.changed.unreached) == (name == "changed")
    assert model == describe(translator)


def test_a_result_of_the_bundled_model_keeps_its_roles_and_coverage(
    path: Path, bundled_translator: Translator
) -> None:
    result = bundled_translator.compare(Experiment("Die Strasse und eine Giraffe."))
    write_last_result(path, result, describe(bundled_translator))
    assert bundled_translator.path is not None
    stored, model = read_last_result(path, bundled_translator.path)
    _assert_equal(stored, result)
    assert stored.original.coverage is not None
    assert stored.original.coverage.rare_words
    assert model.roles is not None
    assert model == describe(bundled_translator)


@pytest.mark.heavy
def test_the_shipped_result_is_that_of_the_first_example_by_the_bundled_model(
    bundled_translator: Translator, checkpoint: Path
) -> None:
    path = resource_path(FIRST_RESULT)
    stored = read_last_result(path, bundled_model_path(), key_of_content)
    assert stored is not None, "run tools/first_result.py"
    result, model = stored
    _assert_close(result, bundled_translator.compare(Experiment(example_sentences()[0])))
    assert result.changed is result.original
    assert model == replace(describe(bundled_translator), device=model.device)
    assert read_last_result(path, checkpoint, key_of_content) is None
    assert str(resource_path("")).encode() not in path.read_bytes(), "it works on every machine"


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_is_refused(name: str, checkpoint: Path, path: Path) -> None:
    _written(checkpoint, path, EXPERIMENTS["plain"])
    path.write_bytes(DAMAGES[name](path.read_bytes()))
    with pytest.raises((LookupError, TypeError, ValueError, AttributeError)):
        read_last_result(path, checkpoint)


def test_a_file_of_another_version_or_model_is_none(
    checkpoint: Path, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _written(checkpoint, path, EXPERIMENTS["plain"])
    twin = tmp_path / "twin.safetensors"
    twin.write_bytes(checkpoint.read_bytes())
    assert read_last_result(path, twin) is None
    with monkeypatch.context() as patch:
        patch.setattr(last_result, "__version__", "0.0")
        assert read_last_result(path, checkpoint) is None
    status = checkpoint.stat()
    os.utime(checkpoint, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert read_last_result(path, checkpoint) is None
    checkpoint.unlink()
    assert read_last_result(path, checkpoint) is None


def test_a_result_that_is_too_large_is_not_kept(
    checkpoint: Path, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _written(checkpoint, path, EXPERIMENTS["plain"])
    # measured times vary in length
    monkeypatch.setattr(last_result, "MAX_BYTES", path.stat().st_size // 2)
    with pytest.raises(OSError, match="bytes"):
        read_last_result(path, checkpoint)
    _written(checkpoint, path, EXPERIMENTS["plain"])
    assert not path.exists()


class _WaitingLoader:
    """Opens a model when `may_open` is set."""

    def __init__(self) -> None:
        self.may_open = threading.Event()

    def __call__(self, path: Path | None, device: str) -> Translator:
        self.may_open.wait(30)
        return Translator.load(path, "cpu")


@pytest.fixture
def loader() -> Iterator[_WaitingLoader]:
    loader = _WaitingLoader()
    yield loader
    loader.may_open.set()


def _close_first_session(make_window: MakeWindow, checkpoint: Path) -> ExperimentResult:
    window = make_window(checkpoint, sentence=SENTENCE, loader=None)
    result = window.state.result
    assert result is not None
    window.close()
    return result


def _is_covered(window: MainWindow) -> bool:
    return any(not overlay.isHidden() for overlay in window.findChildren(DimmingOverlay))


def _is_current(window: MainWindow) -> bool:
    return isinstance(window.state.shown, Current) and not window.state.request.is_running


@pytest.mark.heavy
def test_the_last_result_is_shown_before_the_model_is_open_and_confirmed_quietly(
    qtbot: QtBot, make_window: MakeWindow, checkpoint: Path, loader: _WaitingLoader
) -> None:
    result = _close_first_session(make_window, checkpoint)
    window = make_window(None, sentence=None, loader=loader, wait=False)
    state, page = window.state, window.translate_page
    qtbot.waitUntil(lambda: "opening" in window.top_bar.model_button.text())
    assert page.sentence.sentence.text == result.changed.text
    assert page.heads.isVisible()
    assert not page.message.isVisible()
    assert isinstance(state.shown, Stale)
    _assert_equal(state.result, result)
    state.selection.pin(Pair(2, 1))
    state.selection.hovered = Pair(0, 1)
    head, were_covered = state.selection.head, []
    state.model_changed.connect(lambda model: were_covered.append(_is_covered(window)))
    loader.may_open.set()
    qtbot.waitUntil(lambda: _is_current(window), timeout=10_000)
    assert were_covered == [False]
    assert not _is_covered(window)
    assert state.notice == ""
    assert (state.selection.head, state.selection.pinned, state.selection.hovered) == (
        head,
        Pair(2, 1),
        Pair(0, 1),
    )
    _assert_equal(replace(state.result.changed, seconds=0.0), replace(result.changed, seconds=0.0))


@pytest.mark.heavy
@pytest.mark.parametrize("is_killed", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_very_first_start_shows_the_first_example_before_the_model_is_open(
    qtbot: QtBot,
    make_window: MakeWindow,
    loader: _WaitingLoader,
    preferences: Preferences,
    is_killed: bool,
) -> None:
    window = make_window(None, sentence=None, loader=loader, wait=False)
    if is_killed:  # then the next start restores the experiment, without its result
        window.shutdown.save()
        assert preferences.own_file(SESSION).exists()
        window = make_window(None, sentence=None, loader=loader, wait=False)
    qtbot.waitUntil(lambda: "opening" in window.top_bar.model_button.text())
    stored = window.state.result
    assert isinstance(window.state.shown, Stale)
    assert stored is not None
    assert stored.experiment == Experiment(example_sentences()[0])
    assert window.translate_page.heads.isVisible()
    assert not window.translate_page.message.isVisible()
    assert not _is_covered(window)
    loader.may_open.set()
    qtbot.waitUntil(lambda: _is_current(window))
    _assert_close(window.state.result, stored)
    assert not _is_covered(window)


@pytest.mark.heavy
def test_a_first_result_that_cannot_be_read_is_left_out(
    make_window: MakeWindow, loader: _WaitingLoader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / FIRST_RESULT).write_bytes(resource_path(FIRST_RESULT).read_bytes()[:-1])
    monkeypatch.setattr(session, "resource_path", lambda name: tmp_path / name)
    window = make_window(None, sentence=None, loader=loader, wait=False)
    assert window.state.result is None
    assert window.state.experiment == Experiment(example_sentences()[0])


@pytest.mark.heavy
def test_a_sentence_typed_while_the_model_opens_is_translated_next(
    qtbot: QtBot, make_window: MakeWindow, checkpoint: Path, loader: _WaitingLoader
) -> None:
    _close_first_session(make_window, checkpoint)
    window = make_window(None, sentence=None, loader=loader, wait=False)
    field = window.translate_page.sentence.input
    field.selectAll()
    qtbot.keyClicks(field, "zwei hunde .")
    qtbot.waitUntil(lambda: window.state.experiment.source_text == "zwei hunde .")
    loader.may_open.set()
    qtbot.waitUntil(lambda: _is_current(window), timeout=10_000)
    assert window.state.result.experiment == Experiment("zwei hunde .")


@pytest.mark.slow
@pytest.mark.heavy
def test_nothing_is_shown_for_another_model_sentence_or_experiment(
    make_window: MakeWindow,
    checkpoint: Path,
    tmp_path: Path,
    preferences: Preferences,
    loader: _WaitingLoader,
) -> None:
    _close_first_session(make_window, checkpoint)
    data = preferences.own_file(LAST_RESULT).read_bytes()
    other = tmp_path / "other.safetensors"
    write_untrained_checkpoint(other)

    def shown(checkpoint: Path | None = None, sentence: str | None = None) -> object:
        window = make_window(checkpoint, sentence=sentence, loader=loader, wait=False)
        result = window.state.result
        window.deleteLater()
        return result

    assert shown() is not None
    assert shown(other) is None
    assert shown(sentence=SENTENCE) is None
    session = preferences.own_file(SESSION).read_text()
    preferences.own_file(SESSION).write_text(session.replace("steht", "läuft"))
    assert shown() is None
    preferences.own_file(SESSION).write_text(session)
    preferences.own_file(LAST_RESULT).write_bytes(data[:-1])
    assert shown() is None
    assert not preferences.own_file(LAST_RESULT).with_suffix(".unreadable").exists()


@pytest.mark.heavy
def test_a_damaged_file_is_replaced_when_the_window_closes(
    make_window: MakeWindow, checkpoint: Path, preferences: Preferences
) -> None:
    result = _close_first_session(make_window, checkpoint)
    preferences.own_file(LAST_RESULT).write_bytes(b"damaged")
    window = make_window(None, sentence=None, loader=None)
    window.close()
    stored, _ = read_last_result(preferences.own_file(LAST_RESULT), checkpoint)
    assert stored.changed.text == result.changed.text


@pytest.mark.heavy
def test_the_last_result_goes_if_the_model_cannot_be_opened(
    qtbot: QtBot, make_window: MakeWindow, checkpoint: Path, loader: _WaitingLoader
) -> None:
    _close_first_session(make_window, checkpoint)
    window = make_window(None, sentence=None, loader=loader, wait=False)
    assert window.state.result is not None
    checkpoint.unlink()
    with qtbot.waitSignal(window.failed, timeout=10_000):
        loader.may_open.set()
    assert window.state.result is None


@pytest.mark.heavy
def test_an_opened_model_with_other_weights_covers_the_last_result(
    qtbot: QtBot, make_window: MakeWindow, checkpoint: Path
) -> None:
    _close_first_session(make_window, checkpoint)
    window = make_window(None, sentence=None, loader=None, wait=False)
    model = window.state.shown.model
    assert model is not None
    window.state.begin_model(replace(model, digest="0" * 64))
    assert _is_covered(window)


@pytest.mark.heavy
@pytest.mark.parametrize("was_shown", [False, True])
def test_a_withheld_translation_stays_withheld_and_one_that_was_shown_is_shown_again(
    qtbot: QtBot, make_window: MakeWindow, was_shown: bool
) -> None:
    window = make_window(None, sentence="Ein Mann schläft.", loader=open_once)
    window.translate_page.sentence.input.set_text("The man is standing on a ladder.")
    qtbot.waitUntil(lambda: window.state.withheld is not None)
    if was_shown:
        window.state.show_withheld()
    window.close()
    state = make_window(None, sentence=None, loader=open_once, wait=False).state
    qtbot.waitUntil(lambda: state.model is not None and not state.request.is_running)
    assert state.experiment.source_text == "The man is standing on a ladder."
    assert (state.current is not None, state.withheld is None) == (was_shown, was_shown)
