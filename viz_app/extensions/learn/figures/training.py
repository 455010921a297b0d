"""Training: learning rates, label smoothing, and a small Transformer that learns to copy on this
page.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QSizePolicy, QSpinBox, QWidget

from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.events import (
    PhaseStarted,
    StepDone,
    TrainingEvent,
    TrainingRequest,
    TrainingStarted,
)
from augenmerk.core.extensions.training.film import FilmFrame
from augenmerk.core.extensions.training.schedules import noam_rate, rates_of_run
from augenmerk.core.quantities import percent_in_words
from augenmerk.core.translation.result import FloatArray, Translation

from ....heatmap.map_image import map_image
from ....state.color_scale import color_table
from ....theme import current_theme, scaled, scales
from ....widgets.labels import ElidingLabel, label
from ....widgets.layouts import add_parts, row_of, wrapping_row
from ....worker.jobs import Job
from ...train.worker import TrainingFailure, TrainingRun
from ...widgets.bars import Bar, BarList
from ...widgets.line_chart import Curve, LineChart
from ..job import Smoothing, SmoothingJob
from .figure import ChapterFigure, LearnContext

SETTINGS = ((512, 4000), (512, 8000), (256, 4000))
"""Width and warm-up steps: the three curves of The Annotated Transformer."""
NUM_STEPS, STRIDE = 20_000, 50
LOSS_OF_ODDS = (
    "The loss, when the model gives the right word these odds against each of the others. Its "
    "smallest possible value is subtracted, so 0 is the best."
)
WAITING_FOR_ANSWER = "Answer the question to see the curve with smoothing."
LEAST_ODDS = 8
"""The losses of less certain models are so large that the end of the curves would look flat."""


class RatesFigure(ChapterFigure):
    """The rates of The Annotated Transformer's three settings, and the model's own.

    Attributes:
        chart: the curves.
    """

    is_about_sentence = False
    caption = "The learning rate over the steps (names: width of the model, warm-up steps)"

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.chart = LineChart("Learning rates", "step", "rate")
        scales(self.chart.setMinimumHeight, 170)
        self.column.addWidget(self.chart)

    def redraw(self) -> None:
        """Computes the curves once: they depend only on the model, which stays the same."""
        model = self.state.model
        if self.chart.curves or model is None:
            return
        steps = np.arange(1, NUM_STEPS + 1, STRIDE, dtype=np.float64)
        curves = [
            Curve(
                f"{width}, {warmup:,}",
                steps,
                np.array([noam_rate(int(step), width, 1.0, warmup) for step in steps]),
            )
            for width, warmup in SETTINGS
        ]
        rates = rates_of_run(model.history, model.run.model, model.run.training)
        if rates.size:
            curves.append(
                Curve("this model", np.arange(1, rates.size + 1, dtype=np.float64), rates)
            )
        top = max(float(curve.y.max()) for curve in curves)
        self.chart.show_curves(curves, x_range=(0, max(NUM_STEPS, rates.size)), y_range=(0, top))


class SmoothingFigure(ChapterFigure):
    """A smoothed target distribution, and the loss of a model that becomes more and more certain of
    the right word.

    The chapter asks for the effect of smoothing on this loss. Its curve is drawn once the reader
    has answered.

    Attributes:
        bars: the distribution.
        chart: the loss with and without smoothing.
    """

    is_about_sentence = False
    caption = "Label smoothing: the right word gets 0.9, not 1"
    question = "smoothing"
    answer: Smoothing | None

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.bars = BarList("Target distribution", "What the loss asks for")
        self._below = label("muted", wraps=True)
        self.chart = LineChart("Loss of over-confidence", "odds of the right word", "loss")
        scales(self.chart.setMinimumHeight, 150)
        add_parts(self.column, self.bars, self._below, self.chart)

    def job(self) -> Job | None:
        """The numbers, which depend on nothing that is shown."""
        return SmoothingJob()

    def redraw(self) -> None:
        """Shows the bars and the curves."""
        smoothing = self.answer
        if smoothing is None:
            return
        names = ("dog", "cat (right)", "mouse", "horse")
        self.bars.show_bars(
            [
                Bar(name, float(share), f"{share:.3f}", is_lit="right" in name)
                # the first, padding, is never asked for
                for name, share in zip(names, smoothing.target[1:], strict=True)
            ]
        )
        is_drawn = smoothing.odds >= LEAST_ODDS
        odds = smoothing.odds[is_drawn].astype(np.float64)
        smoothed = smoothing.smoothed_loss[is_drawn]
        plain = smoothing.plain_loss[is_drawn]
        curves = [Curve("no smoothing", odds, plain)]
        is_answered = self.context.answers.has(self.question)
        if is_answered:
            curves.insert(0, Curve("smoothing 0.1", odds, smoothed))
        self._below.setText(LOSS_OF_ODDS if is_answered else f"{LOSS_OF_ODDS} {WAITING_FOR_ANSWER}")
        top = float(max(smoothed.max(), plain.max()))  # the axis must not reveal the answer
        self.chart.show_curves(curves, x_range=(0, float(odds[-1])), y_range=(0, top))


PRESET = "copy-task-small"
APPEARED = 0.5
"""The diagonal has appeared if a head gives this share of its weight to the symbol to copy."""
PICTURE, GAP, TEXT_HEIGHT = 92, 8, 42
WAIT_S = 3.0


class TrainHereFigure(ChapterFigure):
    """A guess, a button, and a picture for each epoch.

    Attributes:
        guess: the epoch in which the reader expects the diagonal to appear.
        button: starts the training, or stops it.
        progress: the current phase or step.
        pictures: the clearest cross-attention map before the training and after each epoch.
        verdict: compares the guess with the result.
        run: the training; None before the first.
    """

    is_about_sentence = False
    caption = (
        "A small Transformer learns to copy. Below each map: how much of its weight is on the "
        "diagonal"
    )

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.run: TrainingRun | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._settings = preset(PRESET)
        self.guess = QSpinBox()
        self.guess.setRange(1, self._settings.training.num_epochs)
        self.guess.setValue(self._settings.training.num_epochs // 2)
        self.guess.setAccessibleName("Epoch in which the diagonal appears")
        self.button = QPushButton("Try: train it")
        self.button.setProperty("role", "primary")
        self.button.clicked.connect(self._start_or_stop)
        self.progress = ElidingLabel("muted")
        # a long step must not widen the figure, and rewrap the text beside it
        self.progress.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.verdict = label("accent", wraps=True)
        self.pictures = [
            EpochPicture(epoch) for epoch in range(self._settings.training.num_epochs + 1)
        ]
        criterion = label(
            "muted",
            f"The diagonal counts as present once a head gives it {percent_in_words(APPEARED)} "
            "of its weight, averaged over the steps.",
            wraps=True,
        )
        question = label("muted", "The diagonal appears in epoch")
        row = row_of(question, self.guess, self.button, (self.progress, 1))
        add_parts(
            self.column,
            criterion,
            row,
            self.verdict,
            wrapping_row(self.pictures, spacing=scaled(GAP)),
        )

    @property
    def appeared_in(self) -> int | None:
        """The first epoch with the diagonal; None if there is none so far."""
        return next((picture.epoch for picture in self.pictures if picture.share >= APPEARED), None)

    def shutdown(self) -> None:
        """Ends the training, if one runs, and removes its files."""
        if self.run is not None and self.run.is_running:
            self.run.stop("discard")
            self.run.wait(WAIT_S)
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _start_or_stop(self) -> None:
        if self.run is not None and self.run.is_running:
            self.run.stop("keep")
            return
        self.shutdown()
        self._folder = tempfile.TemporaryDirectory(
            prefix="augenmerk-learn-", ignore_cleanup_errors=True
        )
        for picture in self.pictures:
            picture.show_map(None, 0.0)
        self.verdict.setText("")
        self.problem.setVisible(False)
        request = TrainingRequest(
            self._settings, "copy", Path(self._folder.name) / "run", device="cpu"
        )
        self.run = TrainingRun(request, self)
        self.run.events.connect(self._on_events)
        self.run.finished.connect(self._on_finished)
        self.guess.setEnabled(False)
        self.button.setText("Stop")
        self.run.start()

    def _on_events(self, events: list[TrainingEvent]) -> None:
        for event in events:
            match event:
                case FilmFrame(epoch=epoch, translation=translation):
                    self.pictures[epoch].show_map(*best_copier(translation))
                case PhaseStarted(text):
                    self.progress.setText(f"{text}…")
                case TrainingStarted(num_parameters=number):
                    self.progress.setText(f"{number:,} parameters")
                case StepDone(step=step, epoch=epoch, loss=loss):
                    self.progress.setText(
                        f"epoch {epoch}, step {step}, loss {loss:.2f}\n"
                        f"epoch {epoch}, loss {loss:.2f}\nepoch {epoch}"
                    )
        self._judge()

    def _judge(self) -> None:
        appeared = self.appeared_in
        guess = self.guess.value()
        if appeared is not None and not self.verdict.text():
            outcome = (
                f"It appeared in epoch {appeared}."
                if appeared
                else "It was there before the first step."
            )
            answer = "Your guess was right." if guess == appeared else f"Your guess was {guess}."
            self.verdict.setText(f"{outcome} {answer}")

    def _on_finished(self, result: object) -> None:
        self.guess.setEnabled(True)
        self.button.setText("Train again")
        done = [picture.epoch for picture in self.pictures if picture.weights is not None]
        num_done = max(done, default=0)
        self.progress.setText(f"{num_done} epoch{'' if num_done == 1 else 's'} done")
        if isinstance(result, TrainingFailure):
            self.problem.setText(result.message)
            self.problem.setVisible(True)
        elif self.appeared_in is None and done:
            self.verdict.setText("The diagonal has not appeared.")


class EpochPicture(QWidget):
    """The map after an epoch, with the share of its weight on the diagonal; an empty frame if there
    is none yet.

    Attributes:
        epoch: 0 is before the first step.
        weights: [T, S]; None if there are none yet.
        share: the weight on the diagonal.
    """

    def __init__(self, epoch: int) -> None:
        super().__init__()
        self.epoch = epoch
        self.show_map(None, 0.0)
        scales(self.setFixedSize, PICTURE, PICTURE + TEXT_HEIGHT)

    def show_map(self, weights: FloatArray | None, share: float) -> None:
        """Shows this map, or an empty frame."""
        self.weights, self.share = weights, share
        name = f"epoch {self.epoch}" if self.epoch else "before"
        self._text = name if weights is None else f"{name}\n{percent_in_words(share)}"
        self.setAccessibleName(f"Cross-attention, {self._text}")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current_theme()
        painter = QPainter(self)
        side = self.width()
        frame = QRectF(1, 1, side - 2, side - 2)
        color = "grid"
        if self.weights is not None:
            painter.drawImage(frame, map_image(self.weights, color_table(is_dark=theme.is_dark)))
            color = "accent" if self.share >= APPEARED else "border"
        painter.setPen(QPen(theme.color(color), 2))
        painter.drawRect(frame)
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("muted" if self.weights is None else "text"))
        painter.drawText(
            QRectF(0, side + 2, side, self.height() - side), Qt.AlignmentFlag.AlignLeft, self._text
        )


def best_copier(translation: Translation) -> tuple[FloatArray, float]:
    """The cross-attention map with the largest mean weight on the symbol to copy next, and this
    weight.

    Step t copies the symbol after the one that it reads: source position t + 1.
    """
    cross = translation.maps.cross
    num_steps = min(cross.shape[2], cross.shape[3] - 1)
    steps = np.arange(num_steps)
    shares = cross[:, :, steps, steps + 1].mean(axis=-1)
    layer, head = np.unravel_index(int(shares.argmax()), shares.shape)
    return cross[layer, head], float(shares[layer, head])
