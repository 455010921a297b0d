"""How a model is trained."""

from dataclasses import dataclass
from typing import Literal, get_args

from core.config.settings import (
    Settings,
    require_boolean,
    require_choice,
    require_digest,
    require_fraction,
    require_integer,
    require_not_negative,
    require_positive,
)
from core.errors import ConfigError

Schedule = Literal["constant", "noam"]
BatchUnit = Literal["sentences", "tokens"]
Batching = Literal["random", "bucketed", "annotated"]
ScheduleUnit = Literal["optimizer-steps", "micro-batches"]
Precision = Literal["auto", "float32", "bfloat16"]


@dataclass(frozen=True)
class TrainingConfig(Settings):
    """Optimiser, schedule, loss and batches.

    Attributes:
        num_epochs: passes over the training split.
        max_steps: stop after this many optimiser steps; None for no limit.
        batch_unit: whether `batch_size` counts sentence pairs or (padded) tokens.
        batch_size: in `batch_unit`; a token batch grows until max(n × longest source, n × (longest target + 2))
            reaches it (The Annotated Transformer, 2018).
        batching: which pairs share a batch: "random": any, in random order; "bucketed": pairs of similar length;
            "annotated": pairs of similar length, sorted by source length, then by target length (The Annotated
            Transformer, 2018).
        num_accumulated: micro-batches whose gradients are summed, weighted by their tokens, for one optimiser step.
        pad_to: pad every sequence to this length instead of the longest of its batch; None for the longest.
        schedule: "constant" or "noam".
        learning_rate: the rate of the constant schedule.
        noam_factor, warmup_steps: factor · width^−0.5 · min(step^−0.5, step · warmup^−1.5) (Vaswani et al. 2017, 5.3).
        schedule_unit: what a step of the schedule is: an optimiser step, or a micro-batch, of which `num_accumulated`
            make one optimiser step (The Annotated Transformer, 2022): the warm-up is then as many times shorter.
        cooldown_epochs: over this many last epochs the rate falls linearly to zero, in any schedule; 0 for none.
            Improves short runs (Hägele et al. 2024).
        fit_schedule: in a run that is too short for them, the warm-up is shortened to a quarter of its steps (the rate
            still rises to the same height), and the cool-down to half of its epochs (`core.training.schedules`). Not
            set in the published presets, nor in runs of earlier versions.
        adam_beta1, adam_beta2, adam_epsilon: Adam's constants.
        label_smoothing: ε, spread evenly over the V − 2 words that are neither true nor padding.
        clip_norm: largest gradient norm; None for no clipping.
        subword_dropout: probability that a merge is left out when a training sentence is split into subwords, again in
            each epoch (BPE-dropout, Provilkov et al. 2020); 0 for none. Needs a subword vocabulary.
        r_drop: α, the weight of the divergence between two passes over each batch, which differ in what dropout leaves
            out (R-Drop, Liang et al. 2021); 0 for one pass. A step then takes twice as long. Needs dropout.
        source_noise: share of the batches whose sources are distorted as people type (`core.text.distortions`), anew in
            each epoch; 0 for none.
        distillation: λ, how much of the loss is the divergence from the distribution of teachers (word-level
            distillation, Kim & Rush 2016); 0 for none. The rest is the loss of the data.
        teachers: digests of these models, separated by spaces; their distributions are averaged. None for none.
        initial_model: digest of the model whose weights the run begins with (`core.checkpoint.digest`), to train it
            further; None for random weights.
        precision: numbers of the matrix products: "float32", "bfloat16" (weights, sums and losses stay 32-bit), or
            "auto": bfloat16 where the device has instructions for it.
        compile: compile the model with `torch.compile`, where its tools are installed.
        deterministic: a GPU computes with algorithms that give the same bits each time, where PyTorch has them.
        seed: of all random numbers of a run.
        checkpoint_steps: the last checkpoint is written every this many optimiser steps, and at the end of each epoch.
        keep_best, keep_last: how many checkpoints are kept: the best by validation loss, and the newest.
        patience: the run ends after this many epochs without a better validation loss; None for never.
        sample_size: validation sentences that are translated at each validation, for BLEU and examples; 0 for none.
    """

    num_epochs: int = 10
    max_steps: int | None = None
    batch_unit: BatchUnit = "sentences"
    batch_size: int = 128
    batching: Batching = "bucketed"
    num_accumulated: int = 1
    pad_to: int | None = None
    schedule: Schedule = "constant"
    learning_rate: float = 5e-4
    noam_factor: float = 1.0
    warmup_steps: int = 4000
    schedule_unit: ScheduleUnit = "optimizer-steps"
    cooldown_epochs: int = 0
    fit_schedule: bool = False
    adam_beta1: float = 0.9
    adam_beta2: float = 0.999
    adam_epsilon: float = 1e-8
    label_smoothing: float = 0.0
    clip_norm: float | None = None
    subword_dropout: float = 0.0
    r_drop: float = 0.0
    source_noise: float = 0.0
    distillation: float = 0.0
    teachers: str | None = None
    initial_model: str | None = None
    precision: Precision = "float32"
    compile: bool = False
    deterministic: bool = False
    seed: int = 1234
    checkpoint_steps: int = 500
    keep_best: int = 1
    keep_last: int = 1
    patience: int | None = None
    sample_size: int = 100

    def __post_init__(self) -> None:
        require_integer(
            "training",
            num_epochs=self.num_epochs,
            batch_size=self.batch_size,
            num_accumulated=self.num_accumulated,
            warmup_steps=self.warmup_steps,
            checkpoint_steps=self.checkpoint_steps,
            keep_best=self.keep_best,
            keep_last=self.keep_last,
        )
        require_integer("training", minimum=0, cooldown_epochs=self.cooldown_epochs, sample_size=self.sample_size)
        for name in ("max_steps", "pad_to", "patience"):
            if (value := getattr(self, name)) is not None:
                require_integer("training", **{name: value})
        require_choice("training", ("sentences", "tokens"), batch_unit=self.batch_unit)
        require_choice("training", get_args(Batching), batching=self.batching)
        require_choice("training", ("constant", "noam"), schedule=self.schedule)
        require_choice("training", ("optimizer-steps", "micro-batches"), schedule_unit=self.schedule_unit)
        require_positive(
            "training",
            learning_rate=self.learning_rate,
            noam_factor=self.noam_factor,
            adam_epsilon=self.adam_epsilon,
        )
        require_fraction(
            "training",
            adam_beta1=self.adam_beta1,
            adam_beta2=self.adam_beta2,
            label_smoothing=self.label_smoothing,
            subword_dropout=self.subword_dropout,
            source_noise=self.source_noise,
            distillation=self.distillation,
        )
        require_not_negative("training", r_drop=self.r_drop)
        if self.teachers is not None:
            if not isinstance(self.teachers, str) or not self.teachers.split():
                raise ConfigError(
                    f"training: teachers is {self.teachers!r}; digests of models, separated by spaces, were expected. "
                    "Correct or remove it."
                )
            for digest in self.teachers.split():
                require_digest("training", teachers=digest)
        if self.distillation and self.r_drop:
            raise ConfigError(
                f"training: distillation is {self.distillation} and r_drop {self.r_drop}; one of the two was expected. "
                "Set the other to 0."
            )
        if self.initial_model is not None:
            require_digest("training", initial_model=self.initial_model)
        require_choice("training", ("auto", "float32", "bfloat16"), precision=self.precision)
        require_boolean(
            "training", compile=self.compile, deterministic=self.deterministic, fit_schedule=self.fit_schedule
        )
        if self.clip_norm is not None:
            require_positive("training", clip_norm=self.clip_norm)
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or not 0 <= self.seed < 2**63:
            raise ConfigError(
                f"training: seed is {self.seed!r}; a whole number from 0 to 2^63 − 1 was expected. Choose one."
            )
