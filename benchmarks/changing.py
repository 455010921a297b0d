"""Cost of a click on the Translate page (head, labels, scale, measure), against one map drawn by
matplotlib.

The whole page is shown off screen, so computing and painting both count.

Both run in turn, so a click finds the processor's caches as full of other things as a person's
does: it takes 1.5 to 2 times as long as one click after another. On a busy machine a click is 16 to
20 times as fast as the map (AMD EPYC, family 26 model 2, CPU seconds); 20 is the aim.
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from augenmerk.core.translation.result import Translation
from benchmarks.drawing import LENGTH, made_up_translation
from benchmarks.ratio import Ratio, paired_medians

if TYPE_CHECKING:
    from augenmerk.viz_app.translate.page import TranslatePage
    from augenmerk.viz_app.worker.inference import InferenceWorker

T = TypeVar("T")
REQUIRED, AIM = 15, 20
REPEATS = 15


def run() -> list[Ratio]:
    """The four changes, each back and forth."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    from augenmerk.viz_app.worker.inference import InferenceWorker

    app = QApplication.instance() or QApplication([])
    translation = made_up_translation()
    with TemporaryDirectory() as folder:
        worker = InferenceWorker()
        page = _page_of(translation, folder, worker)
        results = [_timed(name, change, translation) for name, change in _changes(page)]
        page.close()
        worker.close()
        page.deleteLater()
        app.processEvents()
    return results


def matplotlib_map(translation: Translation) -> None:
    """Draw one head with its tokens."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 6))
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.matshow(translation.maps.cross[-1, 0], cmap="viridis")
    axes.set_xticks(range(LENGTH), translation.source_tokens, rotation=45)
    axes.set_yticks(range(LENGTH), translation.read_tokens)
    canvas.draw()


def _page_of(translation: Translation, folder: str, worker: "InferenceWorker") -> "TranslatePage":
    """A page that shows this translation in every measure, with the analysis tabs."""
    from PySide6.QtCore import QSettings
    from PySide6.QtWidgets import QApplication

    from augenmerk.core.maps.measures import MEASURES, MeasuredMaps
    from augenmerk.viz_app.preferences import Preferences
    from augenmerk.viz_app.state.experiment_state import ExperimentState
    from augenmerk.viz_app.state.map_view_settings import MapViewSettings
    from augenmerk.viz_app.translate.analysis_panel import AnalysisPanel
    from augenmerk.viz_app.translate.analysis_tab import AnalysisContext
    from augenmerk.viz_app.translate.page import TranslatePage
    from augenmerk.viz_app.worker.inference import ExperimentController

    preferences = Preferences(QSettings(f"{folder}/settings.ini", QSettings.Format.IniFormat))
    state = ExperimentState(preferences.restored(MapViewSettings()))
    controller = ExperimentController(state, worker)
    page = TranslatePage(
        controller, AnalysisPanel(AnalysisContext(state, controller, preferences)), preferences
    )
    controller.setParent(page)
    page.resize(1280, 760)
    page.show()
    state.show_translation(translation)
    for measure in MEASURES:
        maps = {kind: np.sqrt(translation.maps.of_kind(kind)) for kind in MEASURES[measure].kinds}
        state.measuring.take(MeasuredMaps(translation, measure, maps))
    QApplication.processEvents()
    return page


def _changes(page: "TranslatePage") -> list[tuple[str, Callable[[], None]]]:
    from augenmerk.core.model.heads import Head

    state = page.state
    settings = page.state.settings
    heads = [Head("cross", layer, head) for layer in range(3) for head in range(8)]
    return [
        ("head", _in_turn(state.intents.choose_head, heads)),
        ("label mode", _in_turn(partial(setattr, settings, "label_mode"), ["predicted", "read"])),
        ("scale", _in_turn(partial(setattr, settings, "scale"), ["layer", "own", "shared"])),
        ("measure", _in_turn(partial(setattr, settings, "measure"), ["norm", "weight"])),
    ]


def _in_turn(choose: Callable[[T], object], values: Sequence[T]) -> Callable[[], None]:
    """A function that sets the next value and paints the result."""
    from PySide6.QtWidgets import QApplication

    following = cycle(values)

    def change() -> None:
        choose(next(following))
        QApplication.processEvents()

    return change


def _timed(name: str, change: Callable[[], None], translation: Translation) -> Ratio:
    ours, other = paired_medians(change, lambda: matplotlib_map(translation), repeats=REPEATS)
    return Ratio(
        f"another {name} / one labelled map by matplotlib",
        ours,
        other,
        REQUIRED,
        AIM,
        "CPU seconds",
    )
