"""Training: learning rates, label smoothing, and a small Transformer that learns to copy on this page."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QSizePolicy, QSpinBox, QWidget

from augenmerk.core.config import preset
from augenmerk.core.quantities import percent_in_words
from augenmerk.core.training.events import PhaseStarted, StepDone, TrainingEvent, TrainingRequest, TrainingStarted
from augenmerk.core.training.film import FilmFrame
from augenmerk.core.training.schedules import noam_rate, rates_of_run
from augenmerk.core.translation.result import FloatArray, Translation
from augenmerk.viz_app.heatmap.drawing import color_table
from augenmerk.viz_app.heatmap.map_image import map_image
from augenmerk.viz_app.learn.figures.figure import ChapterFigure, LearnContext
from augenmerk.viz_app.learn.job import Smoothing, SmoothingJob
from augenmerk.viz_app.state.model_info import ModelInfo
from augenmerk.viz_app.theme import current_theme, scaled, scales
from augenmerk.viz_app.widgets.bars import Bar, BarList
from augenmerk.viz_app.widgets.labels import label
from augenmerk.viz_app.widgets.layouts import row_of
from augenmerk.viz_app.widgets.line_chart import Curve, LineChart
from augenmerk.viz_app.worker.inference import Job
from augenmerk.viz_app.worker.training import TrainingFailure, TrainingRun

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


PRESET = "copy-task-small"
APPEARED = 0.5
"""The diagonal is there once some head gives this much of its weight to the symbol that it has to copy."""
MIN_PICTURE, MAX_PICTURE, GAP, TEXT_HEIGHT, MARGIN = 76, 110, 8, 42, 2
WAIT_S = 3.0


class TrainHereFigure(ChapterFigure):
    """A guess, a button, and a picture for each epoch.

    Attributes:
        guess: the epoch in which the diagonal appears, says the reader.
        criterion: when it has appeared; told before the guess.
        button: begins the training, or stops it.
        progress: how far it is.
        pictures: the clearest cross-attention map after each epoch.
        verdict: what came of the guess.
        run: the training; None before the first.
    """

    caption = "A small Transformer learns to copy. Below each map: how much of its weight is on the diagonal"

    def __init__(self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None) -> None:
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
        self.progress = label("small")
        self.verdict = label("accent", wraps=True)
        self.pictures = EpochPictures(self._settings.training.num_epochs + 1)
        self.criterion = label("muted", wraps=True)
        self.criterion.setText(
            f"The diagonal counts as present once a head gives it {percent_in_words(APPEARED)} of its weight, "
            "averaged over the steps."
        )
        question = label("muted", "I think the diagonal appears in epoch")
        self.column.addWidget(self.criterion)
        self.column.addLayout(row_of(question, self.guess, self.button, (self.progress, 1)))
        self.column.addWidget(self.verdict)
        self.column.addWidget(self.pictures)

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
        self._folder = tempfile.TemporaryDirectory(prefix="augenmerk-learn-", ignore_cleanup_errors=True)
        self.pictures.clear()
        self.verdict.setText("")
        self.problem.setVisible(False)
        request = TrainingRequest(self._settings, "copy", Path(self._folder.name) / "run", device="cpu")
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
                    self.pictures.add(epoch, translation)
                case PhaseStarted(text):
                    self.progress.setText(f"{text}…")
                case TrainingStarted(num_parameters=number):
                    self.progress.setText(f"{number:,} parameters")
                case StepDone(step=step, epoch=epoch, loss=loss):
                    self.progress.setText(f"epoch {epoch}, step {step}, loss {loss:.2f}")
        self._judge()

    def _judge(self) -> None:
        appeared = self.pictures.appeared_in
        if appeared is not None and not self.verdict.text():
            guess = self.guess.value()
            told = f"It appeared in epoch {appeared}. " if appeared else "It was there before the first step. "
            self.verdict.setText(told + ("Your guess was right." if guess == appeared else f"Your guess was {guess}."))

    def _on_finished(self, result: object) -> None:
        self.guess.setEnabled(True)
        self.button.setText("Train again")
        num_done = max((epoch for epoch, _, _ in self.pictures.epochs), default=0)
        self.progress.setText(f"{num_done} epoch{'' if num_done == 1 else 's'} done")
        if isinstance(result, TrainingFailure):
            self.problem.setText(result.message)
            self.problem.setVisible(True)
        elif self.pictures.appeared_in is None and self.pictures.epochs:
            self.verdict.setText("The diagonal has not appeared.")


class EpochPictures(QWidget):
    """One map for each epoch, side by side.

    Attributes:
        epochs: what is shown: epoch, map [T, S], and the weight on the diagonal.
    """

    def __init__(self, num_pictures: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._num_pictures = num_pictures
        self.epochs: list[tuple[int, FloatArray, float]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Cross-attention after each epoch")
        self._fit()

    @property
    def appeared_in(self) -> int | None:
        """The first epoch with the diagonal; None if there is none so far."""
        return next((epoch for epoch, _, share in self.epochs if share >= APPEARED), None)

    def clear(self) -> None:
        """Shows nothing."""
        self.epochs = []
        self.update()

    def add(self, epoch: int, translation: Translation) -> None:
        """One more epoch."""
        self.epochs.append((epoch, *best_copier(translation)))
        self.setAccessibleDescription(
            ", ".join(f"epoch {each}: {percent_in_words(share)}" for each, _, share in self.epochs)
        )
        self.update()

    def place_of(self, index: int) -> QRectF:
        """Where a picture stands."""
        side = self._side()
        row, column = divmod(index, self._num_columns())
        margin = scaled(MARGIN)
        return QRectF(margin + column * (side + scaled(GAP)), margin + row * (side + scaled(TEXT_HEIGHT)), side, side)

    def sizeHint(self) -> QSize:
        """Room for all epochs."""
        return QSize(400, self.height())

    def resizeEvent(self, event: object) -> None:
        """As large as the width allows."""
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Maps, and below each its epoch and the weight on the diagonal; empty frames for what is still to come."""
        theme, painter = current_theme(), QPainter(self)
        painter.setFont(theme.font("small"))
        for index in range(len(self.epochs), self._num_pictures):
            place = self.place_of(index)
            painter.setPen(QPen(theme.color("grid"), 1))
            painter.drawRect(place)
            painter.setPen(theme.color("muted"))
            painter.drawText(self._text_below(place), int(Qt.AlignmentFlag.AlignLeft), name_of(index))
        for index, (epoch, weights, share) in enumerate(self.epochs):
            place = self.place_of(index)
            painter.drawImage(place, map_image(weights, color_table(is_dark=theme.is_dark)))
            painter.setPen(QPen(theme.color("accent" if share >= APPEARED else "border"), 2))
            painter.drawRect(place)
            painter.setPen(theme.color("text"))
            text = f"{name_of(epoch)}\n{percent_in_words(share)}"
            painter.drawText(self._text_below(place), int(Qt.AlignmentFlag.AlignLeft), text)

    def _text_below(self, place: QRectF) -> QRectF:
        """Two lines: a picture is too narrow for both in one."""
        return QRectF(place.left(), place.bottom() + 3, place.width() + scaled(GAP), scaled(TEXT_HEIGHT) - 3)

    def _num_columns(self) -> int:
        """As many as make two lines of them, if that leaves them large enough."""
        fitting = max(1, int((self._inner_width() + scaled(GAP)) // (scaled(MIN_PICTURE) + scaled(GAP))))
        return min(-(-self._num_pictures // 2), fitting)

    def _side(self) -> float:
        num_columns = self._num_columns()
        return min((self._inner_width() - (num_columns - 1) * scaled(GAP)) / num_columns, scaled(MAX_PICTURE))

    def _inner_width(self) -> float:
        """What frames may take, half of whose pen is outside of the picture."""
        return self.width() - 2 * scaled(MARGIN)

    def _fit(self) -> None:
        num_rows = -(-self._num_pictures // self._num_columns())
        self.setFixedHeight(int(scaled(MARGIN) + num_rows * (self._side() + scaled(TEXT_HEIGHT))))


def name_of(epoch: int) -> str:
    """Below a picture."""
    return f"epoch {epoch}" if epoch else "before"


def best_copier(translation: Translation) -> tuple[FloatArray, float]:
    """The cross-attention map that looks most at the symbol which has to be copied next, and how much: mean weight.

    Step t has to copy the symbol after the one that it reads: source position t + 1.
    """
    cross = translation.maps.cross
    num_steps = min(cross.shape[2], cross.shape[3] - 1)
    steps = np.arange(num_steps)
    shares = cross[:, :, steps, steps + 1].mean(axis=-1)
    layer, head = np.unravel_index(int(shares.argmax()), shares.shape)
    return cross[layer, head], float(shares[layer, head])
