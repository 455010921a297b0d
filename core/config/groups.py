"""Groups of settings of a run: architecture, data, training, and an imported model's decoding."""

import math
from dataclasses import dataclass
from typing import Literal

from ..errors import ConfigError
from .settings import (
    COUNT,
    COUNT_OR_ZERO,
    FRACTION,
    NOT_NEGATIVE,
    POSITIVE,
    Limits,
    Settings,
    is_digest,
    is_language_code,
    require_language,
    setting,
)

NormPosition = Literal["post", "pre"]
NormKind = Literal["torch", "torch-1e-6", "annotated"]
Positions = Literal["learned", "sinusoidal", "sinusoidal-halves"]
Activation = Literal["relu", "gelu", "gelu-tanh", "swish"]
Tying = Literal["none", "output", "all"]
Initialization = Literal["xavier", "xavier-normal-embeddings"]
Tokenization = Literal["spacy", "symbols", "imported"]
LetterCase = Literal["keep", "lower", "sentence"]
Schedule = Literal["constant", "noam"]
BatchUnit = Literal["sentences", "tokens"]
Batching = Literal["random", "bucketed", "annotated"]
ScheduleUnit = Literal["optimizer-steps", "micro-batches"]
Precision = Literal["auto", "float32", "bfloat16"]
MAX_LAYERS = 1_000
"""Maximum per stack: the depth of the deepest published Transformers (DeepNet, Wang et al. 2022).
"""
MAX_WIDTH = 2**18
MAX_POSITIONS = 10_000_000
MAX_SUBWORDS = 1_000_000
MAX_COPIED = 100_000_000
"""Maximum number of symbols that the copy task draws for an epoch."""
_LAYERS, _WIDTH = Limits(1, MAX_LAYERS), Limits(1, MAX_WIDTH)
MAX_LENGTH_PENALTY = 10.0
_LANGUAGE = "a language code such as de or en"
_COPIED = Limits(2, 1_000_000)
"""Limits of the symbols of the copy task: a start symbol and one to copy, at least."""


@dataclass(frozen=True)
class ModelConfig(Settings, owner="model"):
    """Architecture of an encoder–decoder Transformer (Vaswani et al. 2017) but vocabulary sizes."""

    width: int = setting(
        256, "width", "D, the size of each token's vector. The heads share it equally.", _WIDTH
    )
    num_encoder_layers: int = setting(
        3, "encoder layers", "Number of layers of the encoder, L.", _LAYERS
    )
    num_decoder_layers: int = setting(
        3, "decoder layers", "Number of layers of the decoder.", _LAYERS
    )
    num_heads: int = setting(
        8, "heads", "Number of heads of each attention, H. Must divide the width.", _WIDTH
    )
    num_decoder_heads: int | None = setting(
        None,
        "decoder heads",
        "Heads of the decoder's two attentions. None: as many as in the encoder.",
        _WIDTH,
    )
    feed_forward_width: int = setting(
        512, "feed-forward width", "Inner size of the position-wise feed-forward network.", _WIDTH
    )
    decoder_feed_forward_width: int | None = setting(
        None,
        "decoder feed-forward width",
        "The inner size in the decoder. None: the same as in the encoder.",
        _WIDTH,
    )
    activation: Activation = setting(
        "relu",
        "activation",
        "Function between the two layers of the feed-forward network. relu: max(0, x); gelu: "
        "exact (Hendrycks and Gimpel 2016); gelu-tanh: their approximation of it by a hyperbolic "
        "tangent; swish: x · sigmoid(x) (Ramachandran et al. 2017).",
    )
    dropout: float = setting(
        0.1,
        "dropout",
        "Probability that a number is set to 0 during training: after embeddings, in the "
        "feed-forward network, in sublayer outputs and attention weights.",
        FRACTION,
    )
    norm_position: NormPosition = setting(
        "post", "norm position", "post: norm(x + sublayer(x)); pre: x + sublayer(norm(x))."
    )
    norm_kind: NormKind = setting(
        "torch",
        "norm kind",
        "torch: nn.LayerNorm; torch-1e-6: the same with an epsilon of 1e-6 instead of 1e-5; "
        "annotated: unbiased standard deviation, epsilon outside the root.",
        earlier_values={"joeynmt": "torch-1e-6"},
    )
    final_norm: bool = setting(
        False, "final norm", "Adds a norm after the last layer of each stack (needed by pre-norm)."
    )
    positions: Positions = setting(
        "learned",
        "positions",
        "learned: a table; sinusoidal: fixed waves, sines in even and cosines in odd columns; "
        "sinusoidal-halves: the same waves, all sines in the left half and all cosines in the "
        "right one (Marian).",
    )
    max_positions: int = setting(
        100,
        "longest sequence",
        "Rows of the position table: the longest sequence that fits, wrapping tokens included.",
        Limits(1, MAX_POSITIONS),
        unit="tokens",
    )
    scale_embeddings: bool = setting(
        True, "scaled embeddings", "Multiplies token embeddings by √width."
    )
    tied_embeddings: Tying = setting(
        "none",
        "tied embeddings",
        "output: decoder embedding and output layer share one matrix; all: so does the source "
        "embedding (needs a joint vocabulary).",
    )
    output_bias: bool = setting(True, "output bias", "Whether the output layer adds a bias.")
    initialization: Initialization = setting(
        "xavier",
        "initialization",
        "xavier: Xavier uniform for each matrix; xavier-normal-embeddings: the same, but "
        "embeddings from N(0, 1/width), which suits tied embeddings.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        unit = math.lcm(self.num_heads, self.decoder_heads)
        if self.width % unit:
            is_one = self.num_heads == self.decoder_heads
            of_heads = (
                f"number of heads ({self.num_heads})"
                if is_one
                else f"numbers of heads ({self.num_heads} and {self.decoder_heads})"
            )
            if self.positions == "sinusoidal":
                unit = math.lcm(unit, 2)
            nearest = max(1, (self.width + unit // 2) // unit) * unit
            raise ConfigError(
                f"The width ({self.width}) must be a multiple of the {of_heads}, for example "
                f"{nearest}."
            )
        if self.positions == "sinusoidal" and self.width % 2:
            raise ConfigError(
                f"model: width is {self.width}; sinusoidal positions need an even width. Choose "
                "one."
            )

    @property
    def head_width(self) -> int:
        """K, the share of the width that one head of the encoder works on."""
        return self.width // self.num_heads

    @property
    def decoder_heads(self) -> int:
        """H of the decoder's attentions."""
        return self.num_heads if self.num_decoder_heads is None else self.num_decoder_heads

    @property
    def decoder_inner_width(self) -> int:
        """Inner size of the decoder's feed-forward networks."""
        return (
            self.feed_forward_width
            if self.decoder_feed_forward_width is None
            else self.decoder_feed_forward_width
        )


@dataclass(frozen=True)
class DataConfig(Settings, owner="data"):
    """Settings that determine how text becomes ids."""

    tokenization: Tokenization = setting(
        "spacy",
        "tokenization",
        "How lines are split into words. spacy: by spaCy's rules for the language; symbols: at "
        "spaces (copy task); imported: by the tokenizer of an imported model.",
        earlier_values={"marian": "imported", "joeynmt": "imported"},
    )
    source_language: str = setting(
        "de",
        "source language",
        "Code of the source language, for spaCy's rules and the file suffixes of a corpus folder.",
        values=_LANGUAGE,
        fits=is_language_code,
    )
    target_language: str = setting(
        "en",
        "target language",
        "Code of the target language, for spaCy's rules and the file suffixes of a corpus folder.",
        values=_LANGUAGE,
        fits=is_language_code,
    )
    target_code: str | None = setting(
        None,
        "target code",
        "Code of the target language, such as >>fra<<, that each source sentence begins with. "
        "Only for imported models that translate into several languages.",
        values="a code such as >>fra<<",
        fits=lambda text: text.startswith(">>") and text.endswith("<<"),
    )
    source_case: LetterCase = setting(
        "lower",
        "source case",
        "keep: unchanged; lower: lower-cased; sentence: only the first letter of the sentence is "
        "lower-cased, and restored on output.",
    )
    target_case: LetterCase = setting("lower", "target case", "The same for the target language.")
    keep_spaces: bool = setting(
        True,
        "keep spaces",
        "Whether white space that spaCy makes a token (a double space, a no-break space) counts "
        "as a word, as in the published systems.",
    )
    min_frequency: int = setting(
        2,
        "minimum frequency",
        "Words rarer than this in the training split become <unk> (word vocabularies only).",
        COUNT,
        unit="occurrences",
    )
    num_subwords: int | None = setting(
        None,
        "subwords",
        "Size of one joint BPE vocabulary over both languages. None: a vocabulary of whole words.",
        Limits(1, MAX_SUBWORDS),
    )
    wrap_source: bool = setting(
        True, "wrap source", "Whether the source is wrapped in <sos> … <eos> like the target."
    )
    end_source: bool = setting(
        False,
        "end source",
        "Whether the source ends with <eos> without being wrapped (imported models).",
    )
    max_length: int | None = setting(
        None,
        "longest sentence",
        "Pairs with more tokens than this on either side are left out. None: all pairs are kept.",
        COUNT,
        unit="tokens",
    )
    copy_length: int = setting(
        10,
        "copy task: length",
        "Length of the sequences of the copy task.",
        _COPIED,
        unit="symbols",
    )
    copy_symbols: int = setting(
        10, "copy task: symbols", "The largest symbol of the copy task.", _COPIED
    )
    copy_training_pairs: int = setting(
        600,
        "copy task: training pairs",
        "Sequences drawn for each epoch of the copy task.",
        COUNT,
        unit="pairs",
    )
    copy_validation_pairs: int = setting(
        150,
        "copy task: validation pairs",
        "Sequences drawn once for validation.",
        COUNT,
        unit="pairs",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.is_imported:
            require_language(
                "data", source_language=self.source_language, target_language=self.target_language
            )
            if self.target_code is not None:
                raise ConfigError(
                    f"data: target_code is {self.target_code}, but no imported model reads the "
                    "text. Leave it out."
                )
        num_copied = (self.copy_training_pairs + self.copy_validation_pairs) * self.copy_length
        if num_copied > MAX_COPIED:
            raise ConfigError(
                "data: copy_training_pairs, copy_validation_pairs and copy_length ask for "
                f"{num_copied:,} symbols. Lower one of them: at most {MAX_COPIED:,} symbols are "
                "possible."
            )

    @property
    def languages(self) -> tuple[str, str]:
        """The codes of source and target."""
        return self.source_language, self.target_language

    @property
    def is_imported(self) -> bool:
        """Whether an imported model brings its own text processing, so that none is learned."""
        return self.tokenization == "imported"


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
        "sentences",
        "batch unit",
        "Whether the batch size counts sentence pairs or (padded) tokens.",
    )
    batch_size: int = setting(
        128,
        "batch size",
        "Sentence pairs or tokens per batch (see batch unit). A batch of tokens grows until "
        "max(n × longest source, n × (longest target + 2)) reaches it (The Annotated "
        "Transformer, 2018).",
        COUNT,
        unit="sentence pairs or tokens",
    )
    batching: Batching = setting(
        "bucketed",
        "batching",
        "Which pairs share a batch. random: any, in random order; bucketed: pairs of similar "
        "length; annotated: pairs of similar length, sorted by source length, then by target "
        "length (The Annotated Transformer, 2018).",
    )
    num_accumulated: int = setting(
        1,
        "accumulated batches",
        "Micro-batches whose gradients are summed, weighted by their tokens, for one optimizer "
        "step.",
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
        "How the learning rate changes. constant: the same at each step; noam: rises during the "
        "warm-up, then falls with the root of the step (Vaswani et al. 2017).",
    )
    learning_rate: float = setting(
        5e-4, "learning rate", "The rate of the constant schedule.", POSITIVE
    )
    noam_factor: float = setting(
        1.0,
        "Noam factor",
        "Factor of the Noam schedule: factor · width^−0.5 · min(step^−0.5, step · warmup^−1.5) "
        "(Vaswani et al. 2017, 5.3).",
        POSITIVE,
    )
    warmup_steps: int = setting(
        4000,
        "warm-up",
        "Steps during which the rate of the Noam schedule rises.",
        COUNT,
        unit="steps",
    )
    schedule_unit: ScheduleUnit = setting(
        "optimizer-steps",
        "schedule unit",
        "What counts as a step of the schedule: an optimizer step, or a micro-batch (The "
        "Annotated Transformer, 2022). With micro-batches, the warm-up is shorter by a factor of "
        "accumulated batches.",
    )
    cooldown_epochs: int = setting(
        0,
        "cool-down",
        "The rate falls linearly to zero over this many last epochs, with either schedule; 0: "
        "none. Improves short runs (Hägele et al. 2024).",
        COUNT_OR_ZERO,
        unit="epochs",
    )
    fit_schedule: bool = setting(
        False,
        "fitted schedule",
        "Shortens the warm-up to a quarter of the run's steps (the rate still reaches the same "
        "peak) and the cool-down to half of its epochs, if the run is too short for them. Off in "
        "the published presets.",
    )
    adam_beta1: float = setting(
        0.9, "Adam β₁", "Decay of Adam's running mean of the gradients.", FRACTION
    )
    adam_beta2: float = setting(
        0.999, "Adam β₂", "Decay of Adam's running mean of their squares.", FRACTION
    )
    adam_epsilon: float = setting(
        1e-8, "Adam ε", "Added to the root of that mean, to avoid division by 0.", POSITIVE
    )
    label_smoothing: float = setting(
        0.0,
        "label smoothing",
        "ε, the share of the target probability spread evenly over the V − 2 words that are "
        "neither true nor padding.",
        FRACTION,
    )
    clip_norm: float | None = setting(
        None, "gradient clipping", "Largest norm of the gradient. None: no clipping.", POSITIVE
    )
    subword_dropout: float = setting(
        0.0,
        "subword dropout",
        "Probability that a merge is skipped when a training sentence is split into subwords, "
        "drawn again in each epoch (BPE-dropout, Provilkov et al. 2020); 0: none. Needs a "
        "subword vocabulary.",
        FRACTION,
    )
    r_drop: float = setting(
        0.0,
        "R-Drop",
        "α, the weight of the divergence between two passes over each batch with different "
        "dropout (Liang et al. 2021). Each step takes twice as long. 0: one pass. Needs dropout.",
        NOT_NEGATIVE,
    )
    token_cutoff: float = setting(
        0.0,
        "token cutoff",
        "Share of the tokens that R-Drop's second pass reads as unknown ones, so that both "
        "passes agree with fewer tokens, too (SimCut, Gao et al. 2022); 0: none. Needs R-Drop.",
        FRACTION,
    )
    source_noise: float = setting(
        0.0,
        "source noise",
        "Share of the batches whose source sentences get typing noise, drawn again in each "
        "epoch; 0: none.",
        FRACTION,
    )
    distillation: float = setting(
        0.0,
        "distillation",
        "λ, the weight of the divergence from the teachers' distribution in the loss (word-level "
        "distillation, Kim & Rush 2016); 0: none. The loss on the data has the weight 1 − λ.",
        FRACTION,
    )
    teachers: str | None = setting(
        None,
        "teachers",
        "Digests of the teachers, separated by spaces; their distributions are averaged. "
        "augenmerk train --teacher sets them.",
        values="space-separated digests of models (64 hexadecimal digits each)",
        fits=lambda text: text.split() and all(map(is_digest, text.split())),
    )
    initial_model: str | None = setting(
        None,
        "initial model",
        "Digest of the model whose weights the run starts with, to train it further. None: "
        "random weights. augenmerk train --initial-model sets it.",
        values="the 64 hexadecimal digits of a model's digest",
        fits=is_digest,
    )
    precision: Precision = setting(
        "float32",
        "precision",
        "Number format of the matrix products. bfloat16: 16 bits (weights, sums and losses stay "
        "32-bit); auto: bfloat16 where the device has instructions for it.",
    )
    compile: bool = setting(
        False, "compile", "Compiles the model with torch.compile, where its tools are installed."
    )
    deterministic: bool = setting(
        False,
        "deterministic",
        "Uses GPU algorithms that give bit-identical results, where PyTorch has them.",
    )
    seed: int = setting(
        1234,
        "seed",
        "Determines all random numbers: initial weights, order of the sentences, dropout. The "
        "same seed repeats a run.",
        Limits(0, 2**63 - 1),
    )
    checkpoint_steps: int = setting(
        500,
        "checkpoint interval",
        "The last checkpoint is saved after each interval of this many optimizer steps, and at "
        "the end of each epoch.",
        COUNT,
        unit="steps",
    )
    keep_best: int = setting(
        1, "best checkpoints", "How many of the checkpoints with the lowest loss are kept.", COUNT
    )
    keep_last: int = setting(
        1, "newest checkpoints", "How many of the newest checkpoints are kept.", COUNT
    )
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
        "Validation sentences that are translated at each validation, for BLEU and examples; 0: "
        "none.",
        COUNT_OR_ZERO,
        unit="sentences",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.distillation and self.r_drop:
            raise ConfigError(
                f"training: distillation is {self.distillation} and r_drop {self.r_drop}. Set "
                "one of the two to 0."
            )
        if self.token_cutoff and not self.r_drop:
            raise ConfigError(
                f"training: token_cutoff is {self.token_cutoff}, but r_drop is 0: there is no "
                "second pass. Set r_drop to 1 or more, or token_cutoff to 0."
            )


@dataclass(frozen=True)
class DecodingConfig(Settings, owner="decoding"):
    """Decoding according to a model's own settings. Models trained here have the defaults.

    `forbidden_ids` are target ids that are never chosen; None for padding, the start mark and, with
    subwords, the unknown token.
    """

    forbidden_ids: tuple[int, ...] | None = None
    max_steps: int | None = setting(
        None,
        "longest translation",
        "The most tokens of a translation, the end token included. None: limited by the length "
        "of the source.",
        COUNT,
        unit="tokens",
    )
    steps_per_source_token: float | None = setting(
        None,
        "tokens per source token",
        "The limit for each source token. None: a generous one.",
        POSITIVE,
    )
    min_steps: int = setting(
        0,
        "shortest translation",
        "Tokens of a translation before the end token.",
        COUNT_OR_ZERO,
        unit="tokens",
    )
    force_end: bool = setting(
        False,
        "forced end",
        "Whether the last possible token is the end token, whatever the model prefers.",
    )
    beam: int = setting(1, "beam size", "The beam size used by default; 1 is greedy.", COUNT)
    length_penalty: float | None = setting(
        None,
        "length penalty",
        "The length penalty α of beams used by default, see `core.translation.beam`. None: the "
        "usual one.",
        Limits(0, MAX_LENGTH_PENALTY),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        ids = self.forbidden_ids
        if ids is not None and not (isinstance(ids, tuple) and all(map(_is_id, ids))):
            raise ConfigError(
                f"decoding: forbidden_ids is {repr(ids)[:80]}. Use a list of whole numbers of at "
                "least 0."
            )


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and COUNT_OR_ZERO.include(value)
