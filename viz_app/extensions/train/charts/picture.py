"""Settings, lines, limits and colours of a chart. No Qt, no matplotlib.

Limits change seldom, because a new axis costs a full redraw: the step axis grows in jumps, and the
value axis stays while the curves fill half of it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from ..curves import Points, RunCurves, smoothed
from ..run_files import NUM_RUNS, ComparedRun

Quantity = Literal[
    "loss", "perplexity", "learning_rate", "gradient_norm", "tokens_per_second", "bleu"
]
Scale = Literal["linear", "log"]
Smoothing = Literal["none", "light", "medium", "strong"]
Shown = Literal["all", "epoch", "500", "5000", "zoom"]

QUANTITY_NAMES: dict[Quantity, str] = {
    "loss": "Loss",
    "perplexity": "Perplexity",
    "learning_rate": "Learning rate",
    "gradient_norm": "Gradient norm",
    "tokens_per_second": "Tokens / s",
    "bleu": "BLEU",
}
QUANTITY_TIPS: dict[Quantity, str] = {
    "loss": "Cross-entropy per target token, natural logarithm. Training: the loss that is "
    "minimised, with dropout and label smoothing if the run uses them, and its running "
    "mean. Validation: without both, so it often lies below.",
    "perplexity": "exp(loss): the model is as uncertain as if it chose between this many equally "
    "likely tokens.",
    "learning_rate": "The step size of the optimizer.",
    "gradient_norm": "Norm of the gradient before clipping. Sudden peaks are a sign of instability.",
    "tokens_per_second": "Target tokens processed per second, a running average.",
    "bleu": "BLEU on a sample of the validation sentences: greedy translations, compared as tokens.",
}
TRAINING_TIP = (
    "Training: measured while dropout sets numbers to 0, and with label smoothing, if the run "
    "uses them."
)
VALIDATION_TIP = (
    "Validation: the whole model, without dropout and label smoothing, on sentences that it does "
    "not learn from. So it often lies below training. If it rises while training falls, the "
    "model is overfitting."
)
SMOOTHING_STEPS: dict[Smoothing, int] = {"none": 1, "light": 10, "medium": 50, "strong": 250}
SMOOTHED: tuple[Quantity, ...] = ("loss", "perplexity", "gradient_norm")
VALIDATED: tuple[Quantity, ...] = ("loss", "perplexity")
"""Quantities with a curve of the validations."""
LARGEST_EXPONENT = 50.0


@dataclass
class ChartSettings:
    """The settings of one chart.

    Attributes:
        quantity: the plotted one.
        scales: linear or logarithmic, for each quantity.
        smoothing: the window of the running mean.
        shown: the steps shown: all, those of this epoch, the last 500 or 5,000, or the range of
            `zoom`.
        zoom: first and last step, for "zoom".
    """

    quantity: Quantity = "loss"
    scales: dict[Quantity, Scale] = field(default_factory=lambda: {"perplexity": "log"})
    smoothing: Smoothing = "medium"
    shown: Shown = "all"
    zoom: tuple[float, float] = (0.0, 100.0)

    @property
    def scale(self) -> Scale:
        """Linear or logarithmic, for the quantity shown."""
        return self.scales.get(self.quantity, "linear")

    @scale.setter
    def scale(self, scale: Scale) -> None:
        self.scales[self.quantity] = scale

    @property
    def is_smoothed(self) -> bool:
        """Whether a running mean is drawn."""
        return self.quantity in SMOOTHED and self.smoothing != "none"


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


@dataclass(frozen=True, eq=False)
class ChartLine:
    """One line.

    Attributes:
        key: constant from picture to picture, so that the artist can be reused.
        name: for display.
        color: a colour of the theme's palette, or "run 0", "run 1" … for compared runs.
        look: "raw" values in the background, a "curve", "points" joined by a thin line, or the
            curve of another run ("reference").
        xs: [n].
        ys: [n].
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
        settings: those of the chart at the time of drawing.
        lines: from back to front.
        x_limits: ends of the horizontal axis.
        y_limits: ends of the vertical axis.
        best: (step, value, label) of the best validation, if it is on this chart.
        shown_step: the step shown in the film of attention; None without a film.
        message: replaces curves without points; empty if there are some.
    """

    settings: ChartSettings
    lines: tuple[ChartLine, ...]
    x_limits: Limits
    y_limits: Limits
    best: tuple[float, float, str] | None = None
    shown_step: float | None = None
    message: str = ""

    @property
    def is_log(self) -> bool:
        """Whether the value axis is logarithmic."""
        return self.settings.scale == "log"


def picture_of(
    curves: RunCurves,
    choices: ChartSettings,
    num_steps_shown: int,
    compared: Sequence[ComparedRun] = (),
    *,
    y_before: Limits | None = None,
    shown_step: float | None = None,
    is_live: bool = True,
) -> ChartPicture:
    """The picture of `curves`.

    Args:
        curves, choices, num_steps_shown, compared: the contents.
        y_before: the value limits of the previous picture of the same kind.
        shown_step: the step shown in the film.
        is_live: whether values may still come.
    """
    x_limits = _x_limits(curves, choices, num_steps_shown, compared)
    as_batch_means = any(run.is_batch_mean for run in compared)
    others = [
        line for run in compared for line in _lines(run.curves, choices, 0.0, as_batch_means, run)
    ]
    own = _lines(curves, choices, x_limits[0], as_batch_means)
    # raw values at the back
    lines = tuple(sorted((*others, *own), key=lambda line: line.look != "raw"))
    extent = _extent(lines, x_limits, is_log=choices.scale == "log")
    y_limits = _y_limits(extent, choices, y_before)
    best = _best(curves, choices.quantity, as_batch_means)
    message = "" if any(len(line.xs) for line in lines) else _why_empty(choices.quantity, is_live)
    settings = replace(choices, scales=dict(choices.scales))
    return ChartPicture(settings, lines, x_limits, y_limits, best, shown_step, message)


def _why_empty(quantity: Quantity, is_live: bool) -> str:
    name = QUANTITY_NAMES[quantity]
    name = name if quantity == "bleu" else name[0].lower() + name[1:]
    if not is_live:
        return f"No {name} was recorded in this run."
    if quantity == "bleu":
        return "BLEU appears\nafter the first validation."
    what = "Tokens / s appear" if quantity == "tokens_per_second" else f"The {name} appears"
    return f"{what}\nafter the first step."  # one line is cut in a narrow window


def validation_name(*, as_batch_means: bool) -> str:
    """The name of the validation line of the run on the page."""
    return "validation, mean of batches" if as_batch_means else "validation"


def _lines(
    curves: RunCurves,
    choices: ChartSettings,
    first_x: float,
    as_batch_means: bool,
    compared: ComparedRun | None = None,
) -> Iterator[ChartLine]:
    """The lines of the run on the page, from `first_x` on, or of a compared run."""
    quantity = choices.quantity
    color, key = (
        (f"run {compared.slot}", f"run {compared.slot} ") if compared is not None else ("", "")
    )
    if quantity == "bleu":
        name = compared.name if compared is not None else "BLEU"
        yield ChartLine(f"{key}bleu", name, color or "warm", "points", *_bleu_points(curves))
        return
    xs, ys, stride = _step_points(curves, quantity, first_x)
    if choices.is_smoothed:
        if compared is None:
            yield ChartLine("raw", "each step", "faint_accent", "raw", xs, ys)
        ys = _smoothed(ys, quantity, SMOOTHING_STEPS[choices.smoothing], stride)
    if compared is None:
        name = "training" if quantity in VALIDATED else QUANTITY_NAMES[quantity].lower()
        yield ChartLine("curve", name, "accent", "curve", xs, ys)
    elif len(xs) and not (quantity in VALIDATED and len(xs) <= len(curves.validations)):
        yield ChartLine(f"{key}curve", f"{compared.name}, training", color, "reference", xs, ys)
    if quantity in VALIDATED:
        name = validation_name(as_batch_means=as_batch_means) if compared is None else compared.name
        points = _validation_points(curves, quantity, as_batch_means)
        yield ChartLine(f"{key}validation", name, color or "warm", "points", *points)


def _step_points(
    curves: RunCurves, quantity: Quantity, first_x: float
) -> tuple[Points, Points, int]:
    series = {
        "learning_rate": curves.learning_rate,
        "gradient_norm": curves.gradient_norm,
        "tokens_per_second": curves.tokens_per_second,
    }.get(quantity, curves.training_loss)
    xs, ys, stride = series.since(first_x)
    return xs, _shown_loss(ys, quantity), stride


def _smoothed(values: Points, quantity: Quantity, longest: int, stride: int) -> Points:
    """The running mean; for perplexities that of the losses, so that both charts agree."""
    if quantity == "perplexity":
        return np.exp(smoothed(np.log(values), longest, stride))
    return smoothed(values, longest, stride)


def _shown_loss(losses: Points, quantity: Quantity) -> Points:
    """Perplexities instead of losses where these are shown; values of other quantities are
    unchanged.
    """
    return np.exp(np.minimum(losses, LARGEST_EXPONENT)) if quantity == "perplexity" else losses


def _validation_points(
    curves: RunCurves, quantity: Quantity, as_batch_means: bool
) -> tuple[Points, Points]:
    known = curves.validation_losses(as_batch_means=as_batch_means)
    losses = np.array([loss for _, loss in known])
    return np.array([float(point.step) for point, _ in known]), _shown_loss(losses, quantity)


def _bleu_points(curves: RunCurves) -> tuple[Points, Points]:
    steps, bleu = np.array(curves.bleu, dtype=float).reshape(-1, 2).T
    return steps, bleu


def _best(
    curves: RunCurves, quantity: Quantity, as_batch_means: bool
) -> tuple[float, float, str] | None:
    if quantity == "bleu" and curves.bleu:
        step, bleu = max(curves.bleu, key=lambda entry: entry[1])
        return step, bleu, f"best {bleu:.1f}"
    known = curves.validation_losses(as_batch_means=as_batch_means)
    if not known or quantity not in VALIDATED:
        return None
    best, loss = min(known, key=lambda entry: entry[1])
    value = loss if quantity == "loss" else math.exp(min(loss, LARGEST_EXPONENT))
    return best.step, value, f"best {value:.3f} · epoch {best.epoch}"


def _x_limits(
    curves: RunCurves, choices: ChartSettings, end: int, compared: Sequence[ComparedRun]
) -> Limits:
    """The ends of the step axis, which grow in jumps."""
    last = max(curves.last_step, 1)
    if choices.shown == "zoom":
        return choices.zoom
    if choices.shown == "epoch":
        start = curves.epoch_start()
        length = max(
            (later.step - earlier.step for earlier, later in pairwise(curves.validations)),
            default=0,
        )
        length = length or (start or end)
        return start, max(start + length, _jump(last, max(1, length // 4)))
    if choices.shown in ("500", "5000"):
        width = int(choices.shown)
        right = max(width, _jump(last, width // 5))
        return right - width, right
    others = max((run.curves.last_step for run in compared), default=0)
    return 0, max(end, others)


def _jump(value: int, size: int) -> int:
    """The next multiple of `size` from `value` up."""
    return -(-value // size) * size


def _extent(lines: Sequence[ChartLine], x_limits: Limits, *, is_log: bool) -> Limits | None:
    """Lowest and highest value between the ends of the step axis; None if there is none."""
    inside = [line.ys[(line.xs >= x_limits[0]) & (line.xs <= x_limits[1])] for line in lines]
    values = np.concatenate(inside) if inside else np.empty(0)
    values = values[values > 0] if is_log else values
    return (float(values.min()), float(values.max())) if len(values) else None


def _y_limits(extent: Limits | None, choices: ChartSettings, before: Limits | None) -> Limits:
    """The ends of the value axis; those of `before` as long as the curves are inside and fill half
    of it.
    """
    is_log = choices.scale == "log"
    if extent is None:
        low, high = before or FALLBACK_LIMITS[choices.quantity]
        return (max(low, high / 1e4), high) if is_log else (low, high)
    low, high = extent
    if is_log:
        low, high = math.log10(low), math.log10(high)
        if before is not None:
            before = (math.log10(max(before[0], 1e-12)), math.log10(max(before[1], 1e-12)))
    from_zero = not is_log and choices.shown == "all"  # a falling loss needs no new axis
    # a constant is drawn in the middle
    if not from_zero and high - low <= 1e-6 * max(abs(high), 1e-6):
        margin = 0.5 if is_log else 0.25 * max(abs(high), 1e-6)
        low = low - margin
        high = high + margin
    spread = max(
        high - (0.0 if from_zero else low), 0.02 if is_log else 1e-6 * max(abs(high), 1e-6)
    )
    if (
        before is not None
        and before[0] <= low
        and high <= before[1]
        and spread >= 0.55 * (before[1] - before[0])
    ):
        limits = before
    elif from_zero:
        limits = (0.0, 1.08 * high if high > 0 else 1.0)
    else:
        limits = (low - 0.08 * spread, high + 0.12 * spread)
    return (10 ** limits[0], 10 ** limits[1]) if is_log else limits


# Colours and markers of curves, in the window and in saved figures. Those of compared runs are from
# the set of Okabe and Ito ("Color Universal Design", 2008), without those close to the accent and
# the warm colour of the themes.
RUN_COLORS_LIGHT = ("#00795a", "#b0528c", "#7a6a00", "#4a4f57")
RUN_COLORS_DARK = ("#2fc79f", "#e08fc0", "#f0e442", "#c9cdd3")
RUN_MARKERS = ("s", "^", "D", "v")
assert len(RUN_COLORS_LIGHT) == len(RUN_COLORS_DARK) == len(RUN_MARKERS) == NUM_RUNS
PAPER_COLORS = {
    "text": "#1b1e23",
    "muted": "#61676f",
    "border": "#dfe1e5",
    "grid": "#e8eaed",
    "accent": "#2a63cc",
    "faint_accent": "#b7cbf1",
    "warm": "#a84c08",
}
"""For saved figures, which are always light: those of the light theme; a test compares them."""


def line_color(
    name: str, palette: Mapping[str, str] = PAPER_COLORS, *, is_dark: bool = False
) -> str:
    """The colour "#rrggbb" of a name: "run 0", "run 1" … or a key of `palette`."""
    if name.startswith("run "):
        return (RUN_COLORS_DARK if is_dark else RUN_COLORS_LIGHT)[int(name[4:]) % NUM_RUNS]
    return palette[name]


def marker_of(name: str) -> str:
    """matplotlib's name of the marker for points in this colour."""
    return RUN_MARKERS[int(name[4:]) % NUM_RUNS] if name.startswith("run ") else "o"
