"""Every test gets its own settings, no screen, and checks of logs, threads and timers."""

import gc
import logging
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import costs

if TYPE_CHECKING:
    from augenmerk.core.translation.translator import Translator

REPOSITORY = Path(__file__).resolve().parent.parent
GRACE_SECONDS = 2.0  # for what a test has told to end and which is about to
# for a thread of the window that imports torch on a busy machine: a window leaves it behind
IMPORT_SECONDS = 30.0
NUM_UNMARKED = 10
_CPU_SECONDS_BEFORE = pytest.StashKey[float]()

if sys.platform.startswith("linux") and not os.environ.get("AUGENMERK_TEST_SCREEN"):
    os.environ["QT_QPA_PLATFORM"] = "offscreen"

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tiny models: more threads only wait for each other


def _isolate_user_folders() -> Path:
    """Redirect settings, caches and data to a scratch folder, so that no test reads or changes
    those of the user."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    # building its list of fonts takes seconds
    os.environ.setdefault("MPLCONFIGDIR", str(cache / "matplotlib"))
    scratch = Path(tempfile.mkdtemp(prefix="augenmerk-tests-"))
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        os.environ[name] = str(scratch / name.lower())
    return scratch


_SCRATCH = _isolate_user_folders()


@pytest.hookimpl(tryfirst=True)  # before pytest chooses tests by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that use a costly fixture."""
    for item in items:
        for name, mark in costs.FIXTURES.items():
            if name in getattr(item, "fixturenames", ()):
                item.add_marker(mark)


@pytest.hookimpl(tryfirst=True)  # before fixtures are set up
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Read the processor clock, for `_marked_for_what_it_costs`."""
    item.stash[_CPU_SECONDS_BEFORE] = time.process_time()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Pauses the garbage collector: to import the tests makes half a million objects, and nearly
    all stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Spares the garbage collector what was imported, and lets it search less often than it does by
    default.

    The loggers of torch propagate: pytest attaches its two handlers to each of the 40 that do not,
    three times a test.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)
    for name, logger in logging.root.manager.loggerDict.items():
        if name.startswith("torch") and isinstance(logger, logging.Logger):
            logger.propagate = True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the tests that are too heavy for `make test-quick`, or too slow for `make test`."""
    ended = [
        report
        for report in terminalreporter.stats.get("", ())
        if getattr(report, "when", None) == "teardown"
    ]
    for mark, seconds, marks in (
        ("heavy", costs.HEAVY_CPU_SECONDS, costs.LEFT_OUT),
        ("slow", costs.SLOW_CPU_SECONDS, ("slow",)),
    ):
        if tests := costs.unmarked(ended, seconds, marks):
            terminalreporter.section(f"computed for {seconds} s or more, and not marked {mark}")
            for cpu_seconds, name in tests[:NUM_UNMARKED]:
                terminalreporter.line(f"{cpu_seconds:.2f} s  {name}")


def pytest_unconfigure() -> None:
    """Remove the scratch folder."""
    shutil.rmtree(_SCRATCH, ignore_errors=True)


@pytest.fixture(scope="session")
def multi30k_folder() -> Path:
    """The real corpus: the folder AUGENMERK_MULTI30K, or `../shared/data/multi30k` next to the
    checkout."""
    folder = Path(
        os.environ.get("AUGENMERK_MULTI30K") or REPOSITORY.parent / "shared" / "data" / "multi30k"
    )
    if not (folder / "train.de.gz").is_file():
        pytest.skip(
            f"needs Multi30k: no train.de.gz in {folder}; set AUGENMERK_MULTI30K to a folder "
            "that has it"
        )
    return folder


@pytest.fixture(scope="session")
def untrained_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small German–English checkpoint that translates instantly, into nonsense."""
    from tests.checkpoints import write_untrained_checkpoint

    return write_untrained_checkpoint(
        tmp_path_factory.mktemp("checkpoint") / "untrained.safetensors"
    )


@cache
def open_once(path: Path | None, device: str) -> "Translator":
    """A loader for tests of something else: each file is opened once, since requests do not change
    a translator."""
    from augenmerk.core.translation.translator import Translator

    translator = Translator.load(path, device)
    translator.warm_up()
    return translator


@pytest.fixture(scope="session")
def bundled_translator() -> "Translator":
    """The bundled model."""
    return open_once(None, "cpu")


@pytest.fixture(scope="session", autouse=True)
def _costs_noticed() -> Iterator[None]:
    with costs.noticed():
        yield


@pytest.fixture(autouse=True)
def _marked_for_what_it_costs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that starts a process, trains or computes for long without the corresponding
    mark.

    Its fixtures count, too.
    """
    yield
    for mark in costs.seen_since_last_asked():
        is_marked = request.node.get_closest_marker(mark)
        assert is_marked, (
            f"it {costs.MEANINGS[mark]}: mark it @pytest.mark.{mark}, as make test-quick leaves "
            "it out"
        )
    cpu_seconds = time.process_time() - request.node.stash[_CPU_SECONDS_BEFORE]
    request.node.user_properties.append((costs.PROPERTY, cpu_seconds))
    excess = costs.too_heavy(request.node, cpu_seconds)
    assert excess is None, excess


@pytest.fixture(autouse=True)
def _no_unexpected_log_warnings(
    request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> Iterator[None]:
    """Fail a test that logs at WARNING or above, unless it is marked `allow_log_warnings`."""
    yield
    if request.node.get_closest_marker("allow_log_warnings"):
        return
    records = [*caplog.get_records("setup"), *caplog.get_records("call")]
    unexpected = [
        f"{record.levelname} {record.name}: {record.getMessage()}"
        for record in records
        if record.levelno >= logging.WARNING
        and not record.name.startswith("matplotlib.font_manager")
    ]
    assert not unexpected, f"unexpected in the log: {unexpected}"


@pytest.fixture(autouse=True)
def _no_threads_left_behind() -> Iterator[None]:
    """Fail a test that leaves a Python thread running."""
    before = set(threading.enumerate())
    yield
    began = time.monotonic()
    while left := _started_since(before):
        grace = (
            IMPORT_SECONDS
            if all(thread.name.startswith("augenmerk-") for thread in left)
            else GRACE_SECONDS
        )
        if time.monotonic() > began + grace:
            break
        left[0].join(timeout=0.05)
    assert not left, f"threads left behind: {left}"


def _started_since(before: set[threading.Thread]) -> list[threading.Thread]:
    """Threads not in `before`, without two kinds that cannot be ended.

    These are tqdm's monitor and Python's records of foreign threads (Qt's are checked below).
    """
    started = [thread for thread in threading.enumerate() if thread not in before]
    return [
        thread for thread in started if type(thread).__name__ not in {"_DummyThread", "TMonitor"}
    ]


@pytest.fixture(autouse=True)
def _no_qt_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test with a `QApplication` that leaves a widget, a running QThread or an active
    QTimer."""
    if "qapp" not in request.fixturenames:
        yield
        return
    from tests.qt_watch import watch_threads_and_timers, watch_widgets

    with watch_widgets(), watch_threads_and_timers(GRACE_SECONDS):
        yield
