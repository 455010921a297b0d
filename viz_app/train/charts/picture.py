"""The lines and limits of a chart. No Qt, no matplotlib.

Limits change seldom, because a new axis costs a full redraw: the step axis grows in jumps, and the value axis stays
while the curves fill half of it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from augenmerk.viz_app.train.charts.settings import QUANTITY_NAMES, SMOOTHED, SMOOTHING_STEPS, ChartSettings, Quantity
from augenmerk.viz_app.train.curves import Points, RunCurves, smoothed

Look = Literal["raw", "curve", "points", "reference"]
Limits = tuple[float, float]
FALLBACK_LIMITS: dict[Quantity, Limits] = {
    "loss": (0, 10),
    "perplexity": (1, 1000),
    "learning_rate": (0, 1e-3),
    "gradient_norm": (0, 2),
    "tokens_per_second": (0, 1000),
    "bleu": (0, 50),
}


class Compared(Protocol):
    """A run shown for comparison, see `viz_app.train.charts.comparison`."""

    @property
    def name(self) -> str:
        """Its name for display."""
        ...

    @property
    def slot(self) -> int:
        """The index of its colour."""
        ...

    @property
    def curves(self) -> RunCurves:
        """Its curves."""
        ...

    @property
    def is_batch_mean(self) -> bool:
        """Whether only means of batch means are known, so that others are drawn as such."""
        ...


@dataclass(frozen=True, eq=False)
class ChartLine:
    """One line.

    Attributes:
        key: constant from picture to picture, so that the artist can be reused.
        name: for display.
        color: a colour of the theme's palette, or "run 0", "run 1" … for compared runs.
        look: "raw" values in the background, a "curve", "points" joined by a thin line, or the curve of another run
            ("reference").
        xs, ys: [n] each.
    """

    key: str
    name: str
    color: str
    look: Look
    xs: Points
    ys: Points


@dataclass(frozen=True, eq=False)
class ChartPicture:
    """Everything that one chart draws.

    Attributes:
        lines: from back to front.
        x_limits, y_limits: ends of the axes.
        is_log: whether the value axis is logarithmic.
        best: (step, value, label) of the best validation, if it is on this chart.
        moment: the step shown in the film of attention; None without a film.
        message: stands in place of curves that have no points; empty if there are some.
    """

    lines: tuple[ChartLine, ...]
    x_limits: Limits
    y_limits: Limits
    is_log: bool
    best: tuple[float, float, str] | None = None
    moment: float | None = None
    message: str = ""


@dataclass(frozen=True, eq=False)
class ShownChart:
    """A chart in sight: what it shows, and how."""

    settings: ChartSettings
    picture: ChartPicture


def picture_of(
    curves: RunCurves,
    choices: ChartSettings,
    num_steps_shown: int,
    compared: Sequence[Compared] = (),
    *,
    y_before: Limits | None = None,
    moment: float | None = None,
    is_live: bool = True,
) -> ChartPicture:
    """The picture of `curves`.

    Args:
        curves, choices, num_steps_shown, compared: what is drawn.
        y_before: the value limits of the previous picture of the same kind.
        moment: the step shown in the film.
        is_live: whether values may still come.
    """
    x_limits = _x_limits(curves, choices, num_steps_shown, compared)
    is_log = choices.scale == "log"
    as_batch_means = any(run.is_batch_mean for run in compared)
    others = [line for run in compared for line in _compared_lines(run, choices, as_batch_means)]
    own = list(_own_lines(curves, choices, x_limits[0], as_batch_means))
    lines = tuple(sorted(others + own, key=lambda line: line.look != "raw"))  # raw values at the back
    extent = _extent(lines, x_limits, is_log)
    y_limits = _y_limits(extent, choices, is_log, y_before)
    best = _best(curves, choices.quantity, as_batch_means)
    message = "" if any(len(line.xs) for line in lines) else _why_empty(choices.quantity, is_live)
    return ChartPicture(lines, x_limits, y_limits, is_log, best, moment, message)


def _why_empty(quantity: Quantity, is_live: bool) -> str:
    name = QUANTITY_NAMES[quantity]
    name = name if quantity == "bleu" else name[0].lower() + name[1:]
    if not is_live:
        return f"No {name} was recorded in this run."
    if quantity == "bleu":
        return "BLEU appears after the first validation."
    what = "Tokens / s appear" if quantity == "tokens_per_second" else f"The {name} appears"
    return f"{what} after the first step."


def validation_name(curves: RunCurves, as_batch_means: bool) -> str:
    """The name of the validation line of `curves`."""
    return "validation, mean of batches" if as_batch_means and curves.has_batch_means else "validation"


def _own_lines(curves: RunCurves, choices: ChartSettings, first_x: float, as_batch_means: bool) -> Iterator[ChartLine]:
    quantity = choices.quantity
    if quantity == "bleu":
        yield ChartLine("bleu", "BLEU", "warm", "points", *_bleu_points(curves))
        return
    xs, ys, stride = _step_points(curves, quantity, first_x)
    name = "training" if quantity in ("loss", "perplexity") else QUANTITY_NAMES[quantity].lower()
    if quantity in SMOOTHED and choices.smoothing != "none":
        yield ChartLine("raw", "each step", "faint_accent", "raw", xs, ys)
        ys = _smoothed(ys, quantity, SMOOTHING_STEPS[choices.smoothing], stride)
    yield ChartLine("curve", name, "accent", "curve", xs, ys)
    if quantity in ("loss", "perplexity"):
        name = validation_name(curves, as_batch_means)
        yield ChartLine("validation", name, "warm", "points", *_validation_points(curves, quantity, as_batch_means))


def _compared_lines(run: Compared, choices: ChartSettings, as_batch_means: bool) -> Iterator[ChartLine]:
    quantity, color = choices.quantity, f"run {run.slot}"
    if quantity == "bleu":
        yield ChartLine(f"{color} bleu", run.name, color, "points", *_bleu_points(run.curves))
        return
    xs, ys, stride = _step_points(run.curves, quantity, 0.0)
    if quantity in SMOOTHED:
        ys = _smoothed(ys, quantity, SMOOTHING_STEPS[choices.smoothing], stride)
    if len(xs) and not (quantity in ("loss", "perplexity") and len(xs) <= len(run.curves.validations)):
        yield ChartLine(f"{color} curve", f"{run.name}, training", color, "reference", xs, ys)
    if quantity in ("loss", "perplexity"):
        points = _validation_points(run.curves, quantity, as_batch_means)
        yield ChartLine(f"{color} validation", run.name, color, "points", *points)


def _step_points(curves: RunCurves, quantity: Quantity, first_x: float) -> tuple[Points, Points, int]:
    series = {
        "learning_rate": curves.learning_rate,
        "gradient_norm": curves.gradient_norm,
        "tokens_per_second": curves.tokens_per_second,
    }.get(quantity, curves.training_loss)
    xs, ys, stride = series.since(first_x)
    return xs, np.exp(np.minimum(ys, 50.0)) if quantity == "perplexity" else ys, stride


def _smoothed(values: Points, quantity: Quantity, longest: int, stride: int) -> Points:
    """The running mean; for perplexities that of the losses, so that both charts agree."""
    if quantity == "perplexity":
        return np.exp(smoothed(np.log(values), longest, stride))
    return smoothed(values, longest, stride)


def _validation_points(curves: RunCurves, quantity: Quantity, as_batch_means: bool) -> tuple[Points, Points]:
    known = curves.validation_losses(as_batch_means=as_batch_means)
    losses = np.array([loss for _, loss in known])
    ys = np.exp(np.minimum(losses, 50.0)) if quantity == "perplexity" else losses
    return np.array([float(point.step) for point, _ in known]), ys


def _bleu_points(curves: RunCurves) -> tuple[Points, Points]:
    return np.array([float(step) for step, _ in curves.bleu]), np.array([bleu for _, bleu in curves.bleu])


def _best(curves: RunCurves, quantity: Quantity, as_batch_means: bool) -> tuple[float, float, str] | None:
    if quantity == "bleu" and curves.bleu:
        step, bleu = max(curves.bleu, key=lambda entry: entry[1])
        return step, bleu, f"best {bleu:.1f}"
    known = curves.validation_losses(as_batch_means=as_batch_means)
    if not known or quantity not in ("loss", "perplexity"):
        return None
    best, loss = min(known, key=lambda entry: entry[1])
    value = loss if quantity == "loss" else math.exp(min(loss, 50.0))
    return best.step, value, f"best {value:.3f} · epoch {best.epoch}"


def _x_limits(curves: RunCurves, choices: ChartSettings, end: int, compared: Sequence[Compared]) -> Limits:
    """The ends of the step axis, which grow in jumps."""
    last = max(curves.last_step, 1)
    if choices.shown == "zoom":
        return choices.zoom
    if choices.shown == "epoch":
        start = curves.epoch_start()
        length = max((later.step - earlier.step for earlier, later in _neighbours(curves)), default=0)
        length = length or (start or end)
        return start, max(start + length, _jump(last, max(1, length // 4)))
    if choices.shown in ("500", "5000"):
        width = int(choices.shown)
        right = max(width, _jump(last, width // 5))
        return right - width, right
    others = max((run.curves.last_step for run in compared), default=0)
    return 0, max(end, others)


def _neighbours(curves: RunCurves) -> Iterator[tuple["_HasStep", "_HasStep"]]:
    yield from zip(curves.validations, curves.validations[1:], strict=False)


class _HasStep(Protocol):
    @property
    def step(self) -> int: ...


def _jump(value: int, size: int) -> int:
    """The next multiple of `size` from `value` up."""
    return -(-value // size) * size


def _extent(lines: Sequence[ChartLine], x_limits: Limits, is_log: bool) -> Limits | None:
    """Lowest and highest value between the ends of the step axis; None if there is none."""
    parts = []
    for line in lines:
        inside = line.ys[(line.xs >= x_limits[0]) & (line.xs <= x_limits[1])]
        parts.append(inside[inside > 0] if is_log else inside)
    values = np.concatenate(parts) if parts else np.empty(0)
    return (float(values.min()), float(values.max())) if len(values) else None


def _y_limits(extent: Limits | None, choices: ChartSettings, is_log: bool, before: Limits | None) -> Limits:
    """The ends of the value axis; those of `before` as long as the curves are inside and fill half of it."""
    if extent is None:
        low, high = before or FALLBACK_LIMITS[choices.quantity]
        return (max(low, high / 1e4), high) if is_log else (low, high)
    low, high = extent
    if is_log:
        low, high = math.log10(low), math.log10(high)
        if before is not None:
            before = (math.log10(max(before[0], 1e-12)), math.log10(max(before[1], 1e-12)))
    from_zero = not is_log and choices.shown == "all"  # a falling loss needs no new axis
    if not from_zero and high - low <= 1e-6 * max(abs(high), 1e-6):  # a constant is drawn in the middle
        margin = 0.5 if is_log else 0.25 * max(abs(high), 1e-6)
        low, high = low - margin, high + margin
    spread = max(high - (0.0 if from_zero else low), 0.02 if is_log else 1e-6 * max(abs(high), 1e-6))
    if before is not None and before[0] <= low and high <= before[1] and spread >= 0.55 * (before[1] - before[0]):
        limits = before
    elif from_zero:
        limits = (0.0, 1.08 * high if high > 0 else 1.0)
    else:
        limits = (low - 0.08 * spread, high + 0.12 * spread)
    return (10 ** limits[0], 10 ** limits[1]) if is_log else limits
