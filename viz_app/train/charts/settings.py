"""What a chart shows and how, as chosen by the user. No Qt, no matplotlib."""

from dataclasses import dataclass, field
from typing import Literal

Quantity = Literal["loss", "perplexity", "learning_rate", "gradient_norm", "tokens_per_second", "bleu"]
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
    "loss": "Cross-entropy per target token, natural logarithm. Training: the loss that is minimised, with label "
    "smoothing if the run uses it, and its running mean. Validation: without label smoothing.",
    "perplexity": "exp(loss): the model is as uncertain as if it chose between this many equally likely tokens.",
    "learning_rate": "The step size of the optimizer.",
    "gradient_norm": "Norm of the gradient before clipping. Sudden peaks are a sign of instability.",
    "tokens_per_second": "Target tokens processed per second, a running average.",
    "bleu": "BLEU on a sample of the validation sentences: greedy translations, compared as tokens.",
}
SMOOTHING_STEPS: dict[Smoothing, int] = {"none": 1, "light": 10, "medium": 50, "strong": 250}
NUM_RUNS = 4
"""How many runs can be compared: more colours could not be told apart."""
SMOOTHED: tuple[Quantity, ...] = ("loss", "perplexity", "gradient_norm")


@dataclass
class ChartSettings:
    """The settings of one chart.

    Attributes:
        quantity: what is plotted.
        scales: linear or logarithmic, for each quantity.
        smoothing: the window of the running mean.
        shown: which steps: all, those of this epoch, the last 500 or 5,000, or the range of `zoom`.
        zoom: first and last step, for "zoom".
    """

    quantity: Quantity = "loss"
    scales: dict[Quantity, Scale] = field(default_factory=lambda: {"perplexity": "log"})
    smoothing: Smoothing = "medium"
    shown: Shown = "all"
    zoom: tuple[float, float] = (0.0, 100.0)

    @property
    def scale(self) -> Scale:
        """Linear or logarithmic, for the quantity that is shown."""
        return self.scales.get(self.quantity, "linear")

    @scale.setter
    def scale(self, scale: Scale) -> None:
        self.scales[self.quantity] = scale

    @property
    def is_smoothed(self) -> bool:
        """Whether a running mean is drawn."""
        return self.quantity in SMOOTHED and self.smoothing != "none"

    def zoom_to(self, first: float, last: float) -> None:
        """Shows these steps only."""
        self.shown, self.zoom = "zoom", (min(first, last), max(first, last))
