"""Settings by their dotted names."""

import dataclasses

import pytest

from augenmerk.core.errors import ConfigError
from augenmerk.core.extensions.run_settings.dotted import dotted_settings, with_dotted
from augenmerk.core.extensions.run_settings.presets import preset

RUN = preset("notebook")


def test_each_kind_of_setting_is_read_in_its_own_type() -> None:
    words = [
        "model.width=64", "model.num_heads=4", "model.dropout=0", "model.final_norm=true", "model.positions=sinusoidal",
        "data.target_language=fr", "data.num_subwords=8000", "training.clip_norm=none", "training.patience= 3",
        "training.learning_rate=1e-3",
    ]  # fmt: skip
    changed = with_dotted(RUN, words)
    assert changed.model == RUN.model.replace(
        width=64, num_heads=4, dropout=0.0, final_norm=True, positions="sinusoidal"
    )
    assert changed.data == RUN.data.replace(target_language="fr", num_subwords=8000)
    assert changed.training == RUN.training.replace(clip_norm=None, patience=3, learning_rate=0.001)
    assert isinstance(changed.model.dropout, float)
    assert with_dotted(RUN, []) == RUN


def test_every_setting_of_every_part_has_a_name_and_can_be_given_its_own_value() -> None:
    words = []
    for name in dotted_settings():
        part, setting = name.split(".")
        value = getattr(getattr(RUN, part), setting)
        words.append(
            f"{name}={'none' if value is None else str(value).lower() if isinstance(value, bool) else value}"
        )
    assert len(words) == sum(
        len(dataclasses.fields(part)) for part in (RUN.model, RUN.data, RUN.training)
    )
    assert with_dotted(RUN, words) == RUN


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["model.widht=64"],
            "There is no setting 'model.widht'. The nearest are model.width",
        ),
        (["width=64"], "The nearest are model.width"),
        (["training.width=64"], "The nearest are model.width"),
        (["xyzzy=1"], "The nearest are model.width, data.num_subwords, training.seed"),
        (["model.width"], "Use NAME=VALUE, such as model.width=64"),
        (["model.width=64.0"], "model.width is '64.0'. Enter a whole number from 1 to 262,144."),
        (["model.width="], "model.width is ''. Enter a whole number from 1 to 262,144."),
        (["model.width=" + "9" * 5000], "Enter a whole number from 1 to 262,144."),
        (["model.dropout=nan"], "Enter a number of at least 0 and less than 1."),
        (["model.final_norm=yes"], "Enter true or false."),
        (["model.positions=rotary"], "Enter one of learned, sinusoidal, sinusoidal-halves."),
        (["training.patience=never"], "Enter a whole number of at least 1 or none."),
        (
            ["training.num_epochs=none"],
            "training.num_epochs is 'none'. Enter a whole number of at least 1.",
        ),
        (
            ["training.batch_size=3000000000"],
            "Enter a whole number of at least 1, at most 2,147,483,647.",
        ),
        (["model.width=60"], "The width (60) must be a multiple of the number of heads (8)"),
        (
            ["model.dropout=1.5"],
            "model.dropout is '1.5'. Enter a number of at least 0 and less than 1.",
        ),
        (["model.width=64", "model.width=64"], "model.width is set twice"),
        (["training.seed=2"], "training.seed is set twice"),
        (
            ["data.source_language=lex_attrs"],
            "source_language is 'lex_attrs'. Use a language code such as",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_what_was_expected(words: list[str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        with_dotted(RUN, words, taken=["training.seed"])
    assert message in str(caught.value)
