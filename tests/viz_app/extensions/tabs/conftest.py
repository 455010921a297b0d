"""Experiments on small real models, and the Analysis panel that shows them: alone, without a main
window."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from augenmerk.core.checkpoint.file import save_checkpoint
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.preferences import Preferences
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.tabs import TABS, Tab
from augenmerk.viz_app.theme import Theme
from augenmerk.viz_app.translate.analysis_panel import AnalysisPanel
from augenmerk.viz_app.translate.analysis_tab import AnalysisContext, AnalysisTab
from augenmerk.viz_app.worker.inference import ExperimentController, InferenceWorker, Request
from augenmerk.viz_app.worker.jobs import LoadJob
from tests.core.translators import SHAPE, untrained
from tests.viz_app.builders import shown

SENTENCE = "Ein Hund schläft im Gras ."
MakeContext = Callable[..., AnalysisContext]
ShowTab = Callable[..., Any]  # the tab of the given class


@pytest.fixture(scope="session")
def model_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Untrained checkpoints: whole words, subwords, and one layer with one head."""
    folder = tmp_path_factory.mktemp("models")
    words, pieces = preset("notebook"), preset("multi30k")
    single = {**SHAPE, "num_heads": 1, "num_encoder_layers": 1, "num_decoder_layers": 1}
    runs = {
        "words": replace(words, model=words.model.replace(**SHAPE)),
        "pieces": replace(
            pieces, model=pieces.model.replace(**SHAPE), data=pieces.data.replace(num_subwords=160)
        ),
        "single": replace(words, model=words.model.replace(**single)),
    }
    for name, run in runs.items():
        save_checkpoint(untrained(run).checkpoint, folder / f"{name}.safetensors")
    return {name: folder / f"{name}.safetensors" for name in runs}


@pytest.fixture(scope="session")
def translators(model_files: dict[str, Path]) -> dict[str, Translator]:
    """The same, opened: for the results that are expected. No window uses them."""
    return {name: Translator.load(path, "cpu") for name, path in model_files.items()}


@pytest.fixture(scope="session")
def opened(model_files: dict[str, Path]) -> dict[Path | None, Translator]:
    """Once more, for the workers, which open a model by its file."""
    return {path: Translator.load(path, "cpu") for path in model_files.values()}


@pytest.fixture
def make_context(
    qtbot: QtBot,
    preferences: Preferences,
    theme: Theme,
    model_files: dict[str, Path],
    opened: dict[Path | None, Translator],
) -> Iterator[MakeContext]:
    """Opens a model in a worker of its own and waits for a sentence's translation; ends the
    worker."""
    workers: list[InferenceWorker] = []

    def make(model: str = "words", sentence: str = SENTENCE) -> AnalysisContext:
        worker = InferenceWorker(
            lambda path, device: opened.get(path) or Translator.load(path, device)
        )
        workers.append(worker)
        state = ExperimentState()
        state.prepare_text(sentence)
        context = AnalysisContext(state, ExperimentController(state, worker), preferences)
        load(context, model_files[model])
        qtbot.waitUntil(lambda: state.result is not None, timeout=30_000)
        return context

    yield make
    for worker in workers:
        worker.close()


def load(context: AnalysisContext, path: Path) -> None:
    """Opens another model, as a window would, and asks it for the experiment."""

    def begin(model: object) -> None:
        context.state.begin_model(model)  # type: ignore[arg-type]
        context.state.ask_again()

    context.controller._worker.submit(Request(LoadJob(path, "cpu"), context, on_result=begin))


def settle(qtbot: QtBot, tab: AnalysisTab) -> None:
    """Waits until the experiment is computed, and the tab has got its answer."""
    qtbot.waitUntil(
        lambda: not (tab.state.request.is_running or tab.request.is_running), timeout=10_000
    )


def declaration_of(tab: type[AnalysisTab]) -> Tab:
    """The declaration of one of this project's tabs."""
    return next(
        declaration for declaration in TABS.values() if resolve_name(declaration.code) is tab
    )


@pytest.fixture
def show_tab(qtbot: QtBot) -> ShowTab:
    """Shows one tab in a panel of its own, and waits for what it asks."""

    def show(
        context: AnalysisContext, tab: type[AnalysisTab], *, width: int = 430, height: int = 700
    ) -> AnalysisTab:
        panel = AnalysisPanel(context, {"shown": declaration_of(tab)})
        shown(qtbot, panel, (width, height))
        settle(qtbot, panel.tab)
        return panel.tab

    return show
