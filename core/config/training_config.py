"""How a model is trained."""

from dataclasses import dataclass
from typing import Literal

from augenmerk.core.config.settings import (
    COUNT,
    COUNT_OR_ZERO,
    FRACTION,
    NOT_NEGATIVE,
    POSITIVE,
    Limits,
    Settings,
    require_digest,
    setting,
)
from augenmerk.core.errors import ConfigError

Schedule = Literal["constant", "noam"]
BatchUnit = Literal["sentences", "tokens"]
Batching = Literal["random", "bucketed", "annotated"]
ScheduleUnit = Literal["optimizer-steps", "micro-batches"]
Precision = Literal["auto", "float32", "bfloat16"]


@dataclass(frozen=True)
class TrainingConfig(Settings, owner="training"):
    """Optimizer, schedule, loss and batches."""

    num_epochs: int = setting(10, "epochs", "Passes over the training split.", COUNT, unit="epochs")
    max_steps: int | None = setting(
        None,
        "step limit",
        "Stops after this many optimizer steps. None: no limit.",
        COUNT,
        unit="steps",
    )
    batch_unit: BatchUnit = setting(
        "sentences", "batch unit", "Whether the batch size counts sentence pairs or (padded) tokens."
    )
    batch_size: int = setting(
        128,
        "batch size",
        "Sentence pairs or tokens per batch (see batch unit). A batch of tokens grows until "
        "max(n × longest source, n × (longest target + 2)) reaches it (The Annotated Transformer, 2018).",
        COUNT,
        unit="sentence pairs or tokens",
    )
    batching: Batching = setting(
        "bucketed",
        "batching",
        "Which pairs share a batch. random: any, in random order; bucketed: pairs of similar length; annotated: pairs "
        "of similar length, sorted by source length, then by target length (The Annotated Transformer, 2018).",
    )
    num_accumulated: int = setting(
        1,
        "accumulated batches",
        "Micro-batches whose gradients are summed, weighted by their tokens, for one optimizer step.",
        COUNT,
    )
    pad_to: int | None = setting(
        None,
        "padded length",
        "Pads each sequence to this length. None: to the longest of its batch.",
        COUNT,
        unit="tokens",
    )
    schedule: Schedule = setting(
        "constant",
        "schedule",
        "How the learning rate changes. constant: the same at each step; noam: rises during the warm-up, then falls "
        "with the root of the step (Vaswani et al. 2017).",
    )
    learning_rate: float = setting(5e-4, "learning rate", "The rate of the constant schedule.", POSITIVE)
    noam_factor: float = setting(
        1.0,
        "Noam factor",
        "Factor of the Noam schedule: factor · width^−0.5 · min(step^−0.5, step · warmup^−1.5) (Vaswani et al. 2017, "
        "5.3).",
        POSITIVE,
    )
    warmup_steps: int = setting(
        4000, "warm-up", "Steps during which the rate of the Noam schedule rises.", COUNT, unit="steps"
    )
    schedule_unit: ScheduleUnit = setting(
        "optimizer-steps",
        "schedule unit",
        "What counts as a step of the schedule: an optimizer step, or a micro-batch (The Annotated Transformer, 2022). "
        "With micro-batches, the warm-up is shorter by a factor of accumulated batches.",
    )
    cooldown_epochs: int = setting(
        0,
        "cool-down",
        "The rate falls linearly to zero over this many last epochs, with either schedule; 0: none. Improves short "
        "runs (Hägele et al. 2024).",
        COUNT_OR_ZERO,
        unit="epochs",
    )
    fit_schedule: bool = setting(
        False,
        "fitted schedule",
        "Shortens the warm-up to a quarter of the run's steps (the rate still reaches the same peak) and the cool-down "
        "to half of its epochs, if the run is too short for them. Off in the published presets and in runs of earlier "
        "versions.",
    )
    adam_beta1: float = setting(0.9, "Adam β₁", "Decay of Adam's running mean of the gradients.", FRACTION)
    adam_beta2: float = setting(0.999, "Adam β₂", "Decay of Adam's running mean of their squares.", FRACTION)
    adam_epsilon: float = setting(1e-8, "Adam ε", "Added to the root of that mean, to avoid division by 0.", POSITIVE)
    label_smoothing: float = setting(
        0.0,
        "label smoothing",
        "ε, the share of the target probability spread evenly over the V − 2 words that are neither true nor padding.",
        FRACTION,
    )
    clip_norm: float | None = setting(
        None, "gradient clipping", "Largest norm of the gradient. None: no clipping.", POSITIVE
    )
    subword_dropout: float = setting(
        0.0,
        "subword dropout",
        "Probability that a merge is skipped when a training sentence is split into subwords, drawn again in each "
        "epoch (BPE-dropout, Provilkov et al. 2020); 0: none. Needs a subword vocabulary.",
        FRACTION,
    )
    r_drop: float = setting(
        0.0,
        "R-Drop",
        "α, the weight of the divergence between two passes over each batch with different dropout (Liang et al. "
        "2021). Each step takes twice as long. 0: one pass. Needs dropout.",
        NOT_NEGATIVE,
    )
    source_noise: float = setting(
        0.0,
        "source noise",
        "Share of the batches whose source sentences get typing noise, drawn again in each epoch; 0: none.",
        FRACTION,
    )
    distillation: float = setting(
        0.0,
        "distillation",
        "λ, the weight of the divergence from the teachers' distribution in the loss (word-level distillation, Kim & "
        "Rush 2016); 0: none. The loss on the data has the weight 1 − λ.",
        FRACTION,
    )
    teachers: str | None = setting(
        None,
        "teachers",
        "Digests of the teachers, separated by spaces; their distributions are averaged. augenmerk train --teacher "
        "sets them.",
        values="digests of models, separated by spaces,",
    )
    initial_model: str | None = setting(
        None,
        "initial model",
        "Digest of the model whose weights the run starts with, to train it further. None: random weights. augenmerk "
        "train --initial-model sets it.",
        values="the 64 hexadecimal digits of a model's digest",
    )
    precision: Precision = setting(
        "float32",
        "precision",
        "Number format of the matrix products. bfloat16: 16 bits (weights, sums and losses stay 32-bit); auto: "
        "bfloat16 where the device has instructions for it.",
    )
    compile: bool = setting(False, "compile", "Compiles the model with torch.compile, where its tools are installed.")
    deterministic: bool = setting(
        False,
        "deterministic",
        "Uses GPU algorithms that give bit-identical results, where PyTorch has them.",
    )
    seed: int = setting(
        1234, "seed", "Seed of all random numbers: the same seed gives the same run.", Limits(0, 2**63 - 1)
    )
    checkpoint_steps: int = setting(
        500,
        "checkpoint interval",
        "The last checkpoint is saved after each interval of this many optimizer steps, and at the end of each epoch.",
        COUNT,
        unit="steps",
    )
    keep_best: int = setting(1, "best checkpoints", "How many of the checkpoints with the lowest loss are kept.", COUNT)
    keep_last: int = setting(1, "newest checkpoints", "How many of the newest checkpoints are kept.", COUNT)
    patience: int | None = setting(
        None,
        "patience",
        "Stops the run after this many epochs without a better validation loss. None: never.",
        COUNT,
        unit="epochs",
    )
    sample_size: int = setting(
        100,
        "sample size",
        "Validation sentences that are translated at each validation, for BLEU and examples; 0: none.",
        COUNT_OR_ZERO,
        unit="sentences",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.teachers is not None:
            if not self.teachers.split():
                raise ConfigError(
                    f"training: teachers is {self.teachers!r}. Use digests of models, separated by spaces."
                )
            for digest in self.teachers.split():
                require_digest("training", teachers=digest)
        if self.distillation and self.r_drop:
            raise ConfigError(
                f"training: distillation is {self.distillation} and r_drop {self.r_drop}. Set one of the two to 0."
            )
        if self.initial_model is not None:
            require_digest("training", initial_model=self.initial_model)
