"""The presets are the published systems, to the letter."""

import json
from typing import Any

import pytest

from augenmerk.core.config import RunConfig
from augenmerk.core.errors import ConfigError
from augenmerk.core.extensions.run_settings.presets import DEFAULT_PRESET, PRESETS, preset


def has(settings: object, **expected: object) -> None:
    """Every named setting has the value of the published text."""
    assert {name: getattr(settings, name) for name in expected} == expected


def test_every_preset_that_was_promised_is_there_under_its_own_name() -> None:
    assert {"notebook", "annotated-2018", "annotated-2022", "copy-task", "copy-task-small"} <= set(
        PRESETS
    )
    assert all(run.preset == name and run.description for name, run in PRESETS.items())
    assert DEFAULT_PRESET in PRESETS


def test_an_unknown_preset_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError) as caught:
        preset("anotated-2018")
    assert "no preset 'anotated-2018'" in str(caught.value)
    assert all(name in str(caught.value) for name in PRESETS)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_survives_the_way_through_json(name: str) -> None:
    assert RunConfig.from_dict(json.loads(json.dumps(preset(name).to_dict()))) == preset(name)


@pytest.mark.parametrize("name", PRESETS)
def test_embeddings_are_shared_only_over_one_joint_vocabulary(name: str) -> None:
    run = preset(name)
    assert run.model.tied_embeddings != "all" or run.data.num_subwords is not None


@pytest.mark.parametrize("name", PRESETS)
def test_the_stacks_of_pre_norm_end_in_a_norm(name: str) -> None:
    assert preset(name).model.final_norm == (preset(name).model.norm_position == "pre")


@pytest.mark.parametrize("name", PRESETS)
def test_every_training_sentence_has_a_position(name: str) -> None:
    run = preset(name)
    longest = {"symbols": run.data.copy_length, "spacy": run.data.max_length or 44}[
        run.data.tokenization
    ]
    assert longest + 2 <= run.model.max_positions


def test_notebook_is_the_published_one() -> None:
    run = preset("notebook")
    has(
        run.model,
        width=256,
        num_encoder_layers=3,
        num_decoder_layers=3,
        num_heads=8,
        feed_forward_width=512,
        dropout=0.1,
        norm_position="post",
        norm_kind="torch",
        final_norm=False,
        positions="learned",
        max_positions=100,
        scale_embeddings=True,
        tied_embeddings="none",
        output_bias=True,
        initialization="xavier",
    )
    has(
        run.data,
        tokenization="spacy",
        source_language="de",
        target_language="en",
        source_case="lower",
        target_case="lower",
        min_frequency=2,
        num_subwords=None,
        wrap_source=True,
        max_length=None,
    )
    has(
        run.training,
        num_epochs=10,
        batch_unit="sentences",
        batch_size=128,
        batching="random",
        num_accumulated=1,
        schedule="constant",
        learning_rate=5e-4,
        adam_beta1=0.9,
        adam_beta2=0.999,
        adam_epsilon=1e-8,
        label_smoothing=0.0,
        clip_norm=1.0,
    )


ANNOTATED_MODEL: dict[str, Any] = {
    "width": 512,
    "num_heads": 8,
    "feed_forward_width": 2048,
    "dropout": 0.1,
    "norm_position": "pre",
    "norm_kind": "annotated",
    "final_norm": True,
    "positions": "sinusoidal",
    "max_positions": 5000,
    "scale_embeddings": True,
    "tied_embeddings": "none",
    "output_bias": True,
    "initialization": "xavier",
}
ANNOTATED_OPTIMIZER: dict[str, Any] = {
    "schedule": "noam",
    "noam_factor": 1.0,
    "adam_beta1": 0.9,
    "adam_beta2": 0.98,
    "adam_epsilon": 1e-9,
    "clip_norm": None,
}


def test_annotated_2018_is_the_published_one() -> None:
    run = preset("annotated-2018")
    has(run.model, **ANNOTATED_MODEL, num_encoder_layers=6, num_decoder_layers=6)
    has(
        run.data,
        source_case="keep",
        target_case="keep",
        max_length=100,
        wrap_source=False,
        num_subwords=None,
    )
    has(
        run.training,
        **ANNOTATED_OPTIMIZER,
        num_epochs=10,
        batch_unit="tokens",
        batch_size=12_000,
        batching="annotated",
        warmup_steps=2000,
        schedule_unit="optimizer-steps",
        label_smoothing=0.1,
        num_accumulated=1,
        pad_to=None,
    )


def test_annotated_2022_is_the_published_one() -> None:
    run = preset("annotated-2022")
    has(run.model, **ANNOTATED_MODEL, num_encoder_layers=6, num_decoder_layers=6)
    has(run.data, source_case="keep", target_case="keep", wrap_source=True, num_subwords=None)
    has(
        run.training,
        **ANNOTATED_OPTIMIZER,
        num_epochs=8,
        batch_unit="sentences",
        batch_size=32,
        batching="random",
        num_accumulated=10,
        pad_to=72,
        warmup_steps=3000,
        schedule_unit="micro-batches",
        label_smoothing=0.1,
    )


def test_the_copy_task_is_the_published_one() -> None:
    run = preset("copy-task")
    has(run.model, **ANNOTATED_MODEL, num_encoder_layers=2, num_decoder_layers=2)
    has(
        run.data,
        tokenization="symbols",
        wrap_source=False,
        copy_length=10,
        copy_symbols=10,
        copy_training_pairs=30 * 20,
        copy_validation_pairs=30 * 5,
    )
    has(
        run.training,
        **ANNOTATED_OPTIMIZER,
        num_epochs=10,
        batch_unit="sentences",
        batch_size=30,
        warmup_steps=400,
        label_smoothing=0.0,
    )


def test_the_small_copy_task_is_the_same_task_at_width_64() -> None:
    small, full = preset("copy-task-small"), preset("copy-task")
    assert small.model.width == 64
    assert small.training == full.training
    assert small.data.replace(copy_training_pairs=full.data.copy_training_pairs) == full.data


def test_only_the_copy_tasks_make_their_own_data() -> None:
    assert {name for name, run in PRESETS.items() if run.is_copy_task} == {
        "copy-task",
        "copy-task-small",
    }


def test_changing_the_dictionary_of_a_run_leaves_the_preset_alone() -> None:
    values = preset("notebook").to_dict()
    values["model"]["width"] = 8
    assert preset("notebook").model.width == 256


def test_no_preset_has_r_drop_or_source_noise() -> None:
    assert all(
        not run.training.r_drop and not run.training.source_noise for run in PRESETS.values()
    )
