"""Learning rates over the steps of a training, and the targets of label smoothing."""

from collections.abc import Mapping

import numpy as np
from PySide6.QtWidgets import QWidget

from augenmerk.core.training.schedules import noam_rate, rates_of_run
from augenmerk.viz_app.learn.figures.figure import ChapterFigure, LearnContext
from augenmerk.viz_app.learn.job import Smoothing, SmoothingJob
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.theme import scales
from augenmerk.viz_app.widgets.bars import Bar, BarList
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.line_chart import Curve, LineChart
from augenmerk.viz_app.worker.inference import Job

SETTINGS = ((512, 4000), (512, 8000), (256, 4000))
"""Width and warm-up steps: the three curves of The Annotated Transformer."""
NUM_STEPS, STRIDE = 20_000, 50
LOSS_OF_ODDS = "The loss, when the model gives the right word these odds against each of the others."
WAITING_FOR_ANSWER = "Answer the question to see the curve with smoothing."


class RatesFigure(ChapterFigure):
    """The rates of The Annotated Transformer's three settings, and those that the model had which is open.

    Attributes:
        chart: the curves.
    """

    caption = "The learning rate over the steps (names: width of the model, warm-up steps)"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self.chart = LineChart("Learning rates", "step", "rate")
        scales(self.chart.setMinimumHeight, 170)
        self.column.addWidget(self.chart)

        self._model: ModelInfo | None = None

    def redraw(self) -> None:
        """Another model was trained otherwise: its curve ends with its last step."""
        model = self.state.model
        if self.chart.curves and model is self._model:
            return  # the chart itself follows the theme
        self._model = model
        steps = np.arange(1, NUM_STEPS + 1, STRIDE, dtype=np.float64)
        curves = [
            Curve(
                f"{width}, {warmup:,}",
                steps,
                np.array([noam_rate(int(step), width, 1.0, warmup) for step in steps]),
            )
            for width, warmup in SETTINGS
        ]
        if model is not None:
            run = model.run
            rates = rates_of_run(model.history, run.model, run.training)
            if rates.size:  # an imported model has no training of ours
                curves.append(Curve("this model", np.arange(1, rates.size + 1, dtype=np.float64), rates))
        top = max(float(curve.y.max()) for curve in curves)
        self.chart.show_curves(
            curves, x_range=(0, max(NUM_STEPS, *(curve.x[-1] for curve in curves))), y_range=(0, top)
        )


class SmoothingFigure(ChapterFigure):
    """A smoothed target distribution, and the loss of a model that grows ever more certain of the right word.

    What smoothing does to this loss is a question of the chapter: its curve is drawn once it was answered.

    Attributes:
        bars: the distribution.
        chart: the loss with and without smoothing.
        smoothing: the numbers; None while nothing is known.
    """

    caption = "Label smoothing: the right word gets 0.9, not 1"
    question = "smoothing"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(context, options, parent)
        self.smoothing: Smoothing | None = None
        self.bars = BarList("Target distribution", "What the loss asks for")
        self._below = label("small", wraps=True)
        self.chart = LineChart("Loss of over-confidence", "odds of the right word", "loss")
        scales(self.chart.setMinimumHeight, 150)
        for widget in (self.bars, self._below, self.chart):
            self.column.addWidget(widget)

    def to_ask(self) -> tuple[object, Job] | None:
        """The numbers depend on nothing that is shown."""
        return "model", SmoothingJob()

    def take(self, answer: Smoothing) -> None:
        """Keeps the answer."""
        self.smoothing = answer

    def redraw(self) -> None:
        """Bars and curves."""
        found = self.smoothing
        if found is None:
            return
        names = ("padding", "dog", "cat (right)", "mouse", "horse")
        self.bars.show_bars(
            [
                Bar(name, float(share), f"{share:.3f}", is_lit="right" in name)
                for name, share in zip(names, found.target, strict=True)
            ]
        )
        odds = found.odds.astype(np.float64)
        curves = [Curve("no smoothing", odds, found.plain_loss)]
        is_answered = self.context.answers.has(self.question)
        if is_answered:
            curves.insert(0, Curve("smoothing 0.1", odds, found.smoothed_loss))
        self._below.setText(LOSS_OF_ODDS if is_answered else f"{LOSS_OF_ODDS} {WAITING_FOR_ANSWER}")
        top = float(max(found.smoothed_loss.max(), found.plain_loss.max()))  # the axis tells nothing before the answer
        self.chart.show_curves(curves, x_range=(0, float(odds[-1])), y_range=(0, top))
