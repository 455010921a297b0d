"""All heads of a sentence drawn by the window against one matplotlib figure of eight labelled
maps.
"""

import os

import numpy as np

from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.result import AttentionMaps, FloatArray, Translation
from augenmerk.viz_app.state.experiment_state import ExperimentState
from benchmarks.ratio import Ratio, paired_medians

LENGTH, LAYERS, HEADS = 15, 3, 8


def run() -> list[Ratio]:
    """72 maps of 15 × 15, created and painted, against 8 with token labels."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QSize
    from PySide6.QtGui import QPixmap
    from PySide6.QtWidgets import QApplication

    from augenmerk.viz_app.heatmap.head_grid import HeadGrid

    app = QApplication.instance() or QApplication([])
    translation = made_up_translation()
    arriving = iter([made_up_translation(seed) for seed in range(1, 20)])
    state = ExperimentState()
    state.show_translation(translation)
    grid = HeadGrid(state)
    grid.available = QSize(540, 640)
    grid.resize(540, 640)
    picture = QPixmap(grid.size())

    def ours() -> None:
        # the grid makes its pictures: each time another one, none is there yet
        state.show_translation(next(arriving))
        grid.render(picture)

    ours_seconds, other_seconds = paired_medians(
        ours, lambda: matplotlib_figure(translation), repeats=7
    )
    grid.deleteLater()
    app.processEvents()
    name = "72 maps in the window / 8 labelled maps by matplotlib"
    return [Ratio(name, ours_seconds, other_seconds, 100, 150, "CPU seconds")]


def made_up_translation(
    seed: int = 0, *, num_layers: int = LAYERS, num_heads: int = HEADS
) -> Translation:
    """Random maps whose rows sum to 1."""
    numbers = np.random.default_rng(seed)

    def maps() -> FloatArray:
        weights = numbers.random((num_layers, num_heads, LENGTH, LENGTH), dtype=np.float32) ** 8
        return weights / weights.sum(axis=-1, keepdims=True)

    tokens = tuple(f"token{index}" for index in range(LENGTH))
    return Translation(
        experiment=Experiment(" ".join(tokens)),
        text=" ".join(tokens),
        source_tokens=tokens,
        read_tokens=tokens,
        predicted_tokens=tokens,
        log_probabilities=(-0.1,) * LENGTH,
        alternatives=((),) * LENGTH,
        source_words=(),
        target_words=(),
        unknown_source_positions=(),
        ignored_text="",
        notes=(),
        attention=AttentionMaps(maps(), maps(), maps()),
        seconds=0.0,
    )


def matplotlib_figure(translation: Translation) -> None:
    """A figure as in a notebook: the heads of one layer with their tokens, in two rows."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(16, 8))
    canvas = FigureCanvasAgg(figure)
    for head in range(HEADS):
        axes = figure.add_subplot(2, 4, head + 1)
        axes.matshow(translation.maps.cross[-1, head], cmap="viridis")
        axes.set_xticks(range(LENGTH), translation.source_tokens, rotation=45)
        axes.set_yticks(range(LENGTH), translation.read_tokens)
    canvas.draw()
