"""The named presets: all settings of runs to start from."""

from dataclasses import replace

from ...config import DataConfig, ModelConfig, RunConfig, TrainingConfig
from ...errors import ConfigError

_ANNOTATED_MODEL = ModelConfig(
    width=512,
    num_encoder_layers=6,
    num_decoder_layers=6,
    feed_forward_width=2048,
    norm_position="pre",
    norm_kind="annotated",
    final_norm=True,
    positions="sinusoidal",
    max_positions=5000,
)
_ANNOTATED_TRAINING = TrainingConfig(
    schedule="noam",
    adam_beta2=0.98,
    adam_epsilon=1e-9,
    label_smoothing=0.1,
)
_COPY_TRAINING = _ANNOTATED_TRAINING.replace(
    warmup_steps=400, label_smoothing=0.0, batch_size=30, num_epochs=10
)
_COPY_DATA = DataConfig(
    tokenization="symbols", source_case="keep", target_case="keep", wrap_source=False
)

PRESETS: dict[str, RunConfig] = {
    run.preset: run
    for run in (
        RunConfig(
            preset="multi30k",
            description="The bundled model's architecture, trained in one stage: joint BPE, tied "
            "embeddings.",
            model=ModelConfig(
                feed_forward_width=1024,
                dropout=0.25,
                norm_position="pre",
                final_norm=True,
                positions="sinusoidal",
                max_positions=256,
                tied_embeddings="all",
                output_bias=False,
                initialization="xavier-normal-embeddings",
            ),
            data=DataConfig(
                source_case="lower", target_case="sentence", keep_spaces=False, num_subwords=8000
            ),
            training=_ANNOTATED_TRAINING.replace(
                batch_unit="tokens",
                batch_size=2500,
                num_epochs=30,
                cooldown_epochs=10,
                fit_schedule=True,
                noam_factor=0.5,
                warmup_steps=400,
                clip_norm=1.0,
                precision="auto",
            ),
        ),
        RunConfig(
            preset="notebook",
            description="pytorch-seq2seq, notebook 6: post-norm, learned positions, constant rate.",
            model=ModelConfig(),
            data=DataConfig(),
            training=TrainingConfig(batching="random", clip_norm=1.0),
        ),
        RunConfig(
            preset="annotated-2018",
            description="The Annotated Transformer, 2018: pre-norm, Noam rate, token batches.",
            model=_ANNOTATED_MODEL,
            data=DataConfig(
                source_case="keep", target_case="keep", wrap_source=False, max_length=100
            ),
            training=_ANNOTATED_TRAINING.replace(
                batch_unit="tokens", batch_size=12000, batching="annotated", warmup_steps=2000
            ),
        ),
        RunConfig(
            preset="annotated-2022",
            description="The Annotated Transformer, 2022: small batches, gradients accumulated over ten.",
            model=_ANNOTATED_MODEL,
            data=DataConfig(source_case="keep", target_case="keep", max_length=70),
            training=_ANNOTATED_TRAINING.replace(
                batch_size=32,
                batching="random",
                num_accumulated=10,
                pad_to=72,
                warmup_steps=3000,
                schedule_unit="micro-batches",
                num_epochs=8,
            ),
        ),
        RunConfig(
            preset="copy-task",
            description="Learn to repeat ten symbols: the first example of The Annotated Transformer.",
            model=_ANNOTATED_MODEL.replace(num_encoder_layers=2, num_decoder_layers=2),
            data=_COPY_DATA,
            training=_COPY_TRAINING,
        ),
        RunConfig(
            preset="copy-task-small",
            description="The copy task at width 64: a Transformer that learns while you watch.",
            model=_ANNOTATED_MODEL.replace(
                width=64,
                num_encoder_layers=2,
                num_decoder_layers=2,
                num_heads=4,
                feed_forward_width=256,
            ),
            data=_COPY_DATA.replace(copy_training_pairs=1800),
            training=_COPY_TRAINING,
        ),
    )
}
DEFAULT_PRESET = "multi30k"
RATE_OF_FURTHER_TRAINING = 1e-4
"""A rate at which a model that is trained further keeps what it has learned."""


def preset(name: str) -> RunConfig:
    """The preset called `name`. Raises `ConfigError` if there is none."""
    try:
        return PRESETS[name]
    except KeyError:
        raise ConfigError(
            f"There is no preset {name!r}. Choose from: {', '.join(PRESETS)}."
        ) from None


def further(model: RunConfig) -> RunConfig:
    """The settings for training a model further, from those that it was trained or imported with.

    It keeps its architecture and text processing, and gets the training settings of its preset (of
    `DEFAULT_PRESET`, if it has none) at a constant, low rate.
    """
    training = PRESETS.get(model.preset, PRESETS[DEFAULT_PRESET]).training
    return replace(
        model,
        training=training.replace(schedule="constant", learning_rate=RATE_OF_FURTHER_TRAINING),
    )
