"""Our validation curve of `notebook` and the published one, as a figure: matplotlib, no Qt."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from augenmerk.core.checkpoint.history import EpochRecord
from augenmerk.viz_app.train.charts.comparison import PUBLISHED_LOSSES

OURS_COLOR, PUBLISHED_COLOR, MUTED = "#2a63cc", "#b4520a", "#646a73"


def published_figure(records: Sequence[EpochRecord]) -> Figure:
    """Both curves over epochs, as means of batch means like the published one; the best epoch of each is circled."""
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    ours = [record.validation_loss_batch_mean for record in records]
    epochs = [record.epoch for record in records]
    _draw(axes, range(1, len(PUBLISHED_LOSSES) + 1), PUBLISHED_LOSSES, "published", PUBLISHED_COLOR, marker="s")
    _draw(axes, epochs, ours, "trained by Augenmerk", OURS_COLOR, marker="o")
    axes.set_title("notebook: validation loss after each epoch", loc="left", fontsize=10, fontweight="bold")
    axes.set_xlabel("epoch", color=MUTED, fontsize=9)
    axes.set_ylabel("mean of batch means", color=MUTED, fontsize=9)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(colors=MUTED, labelsize=9, length=0)
    axes.grid(True, color="#e8eaee")
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color("#dfe1e5")
    axes.legend(frameon=False, fontsize=9)
    return figure


def _draw(axes: Axes, epochs: Sequence[int], losses: Sequence[float], name: str, color: str, *, marker: str) -> None:
    best = min(range(len(losses)), key=losses.__getitem__)
    label = f"{name}: best {losses[best]:.3f} in epoch {epochs[best]}"
    axes.plot(epochs, losses, color=color, marker=marker, markersize=5, linewidth=1.8, label=label)
    axes.plot(epochs[best], losses[best], color=color, marker="o", markersize=11, fillstyle="none")
