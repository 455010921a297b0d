from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from augenmerk.core.device import DeviceChoice
from augenmerk.core.errors import ConfigError, CorpusError
from augenmerk.core.extensions.run_settings.dotted import dotted_settings
from augenmerk.core.extensions.run_settings.presets import PRESETS, preset
from augenmerk.viz_app.extensions.train.page import steps_of
from augenmerk.viz_app.extensions.train.run.choices import (
    BEGINNERS_PRESET,
    RunChoices,
    key_settings,
    new_run_folder,
    schedule_note,
    with_tilde,
)
from augenmerk.viz_app.state.model_info import ModelInfo


@pytest.fixture
def choices(tmp_path: Path) -> RunChoices:
    return replace(RunChoices.default(), preset="notebook", parent_folder=tmp_path)


def test_typed_settings_reach_the_run_and_all_others_are_those_of_the_preset(
    choices: RunChoices,
) -> None:
    typed = choices.with_settings(" 7 ", "training.num_epochs").with_settings(
        "none", "training.clip_norm"
    )
    run = typed.run_config()
    assert run == preset("notebook").with_training(num_epochs=7, clip_norm=None)
    assert typed.differences() == ["training.num_epochs", "training.clip_norm"]


@pytest.mark.parametrize("name", list(dotted_settings()))
def test_a_setting_typed_as_in_the_preset_is_no_difference(choices: RunChoices, name: str) -> None:
    typed = choices.with_settings(choices.preset_text(name), name)
    assert typed.differences() == []
    assert typed.run_config() == choices.run_config()


@pytest.mark.parametrize("typed", ["-3", "0", "ten", "1.5", "٣x", "none"])
def test_a_refused_number_is_named_with_what_to_enter(choices: RunChoices, typed: str) -> None:
    refused = choices.with_settings(typed, "training.num_epochs")
    expected = f"training.num_epochs is '{typed}'. Enter a whole number of at least 1."
    assert refused.problem("training.num_epochs") == expected
    assert refused.value("training.num_epochs") == 10, "that of the preset"
    with pytest.raises(ConfigError) as caught:
        refused.run_config()
    assert str(caught.value) == expected


def test_settings_that_do_not_fit_together_are_refused_as_by_the_configuration(
    choices: RunChoices,
) -> None:
    typed = choices.with_settings("5", "model.num_heads")
    assert typed.problem("model.num_heads") == "", "5 heads suit another width"
    with pytest.raises(
        ConfigError,
        match=r"width \(256\) must be a multiple of the number of heads \(5\), for example 255",
    ):
        typed.run_config()
    assert typed.with_settings("60", "model.width").run_config().model.head_width == 12


def test_an_empty_text_restores_the_value_of_the_preset(choices: RunChoices) -> None:
    typed = choices.with_settings("2", "model.num_encoder_layers", "model.num_decoder_layers")
    assert len(typed.differences()) == 2
    assert (
        typed.with_settings(" ", "model.num_encoder_layers", "model.num_decoder_layers") == choices
    )


def test_another_preset_comes_with_its_own_settings_and_keeps_the_seed(choices: RunChoices) -> None:
    typed = choices.with_settings("64", "model.width").with_settings("7", "training.seed")
    assert typed.with_preset("copy-task").run_config() == preset("copy-task").with_training(seed=7)


def test_copy_presets_make_their_own_data(choices: RunChoices) -> None:
    copy = replace(choices, preset="copy-task-small", data_kind="folder", data_path="/somewhere")
    assert copy.source() == "copy"


def test_folder_that_was_not_chosen_is_refused(choices: RunChoices) -> None:
    with pytest.raises(CorpusError, match="Choose a folder"):
        replace(choices, data_kind="folder").source()
    assert replace(choices, data_kind="file", data_path="/data/x.bin").source() == Path(
        "/data/x.bin"
    )
    assert choices.source() == "multi30k"


def test_each_run_gets_a_folder_of_its_own(tmp_path: Path) -> None:
    now = datetime(2025, 3, 4, 5, 6)
    first = new_run_folder(tmp_path, "notebook", lambda: now)
    assert first == tmp_path / "notebook-2025-03-04-0506"
    first.mkdir()
    second = new_run_folder(tmp_path, "notebook", lambda: now)
    assert second.name == "notebook-2025-03-04-0506-2"


@pytest.mark.parametrize("name", list(PRESETS))
def test_every_preset_shows_its_key_settings_and_steps(name: str, choices: RunChoices) -> None:
    rows = dict(key_settings(preset(name)))
    assert set(rows) == {"layers", "width", "norm", "vocabulary", "batch", "rate", "smoothing"}
    assert all(len(value) < 36 for value in rows.values())
    assert len(steps_of(replace(choices, preset=name))) == 5


def test_the_batch_row_says_which_pairs_share_one_and_the_rate_row_counts_optimizer_steps() -> None:
    shown = {
        name: dict(key_settings(preset(name)))
        for name in ("notebook", "annotated-2018", "annotated-2022")
    }
    assert shown["notebook"]["batch"] == "128 sentences · random"
    assert shown["annotated-2018"]["batch"] == "12,000 tokens · by length"
    assert shown["annotated-2022"]["batch"] == "32 sentences × 10 · random"
    assert shown["annotated-2022"]["rate"] == "Noam · warm-up 300"


def test_home_folder_is_written_as_a_tilde() -> None:
    assert with_tilde(Path.home() / "runs") == str(Path("~") / "runs")
    assert with_tilde(Path("/elsewhere/runs")) == str(Path("/elsewhere/runs"))


@pytest.mark.parametrize(
    ("num_heads", "in_decoder", "words"),
    [(1, None, "1 head"), (8, None, "8 heads"), (8, 4, "8 + 4 heads")],
)
def test_heads_are_counted_in_words(num_heads: int, in_decoder: int | None, words: str) -> None:
    run = preset("notebook")
    run = replace(run, model=replace(run.model, num_heads=num_heads, num_decoder_heads=in_decoder))
    assert dict(key_settings(run))["layers"].endswith(f"· {words}")
    info = ModelInfo("a", None, run, DeviceChoice("cpu", "requested"), 1)
    assert info.summary.endswith(f"layers · {words}")


def test_what_becomes_of_the_schedule_of_a_short_run_is_said_before_it_starts() -> None:
    own, short = Path("own-data"), preset("multi30k").with_training(num_epochs=3)
    assert schedule_note(preset("multi30k"), own) == ("", "")
    assert "the rate falls to zero over the last 1.5 epochs" in schedule_note(short, own)[0]
    assert "warm-up" not in schedule_note(short, own)[0], "its number of steps is not known yet"
    assert "short for a warm-up of 400" in schedule_note(short, "multi30k")[0]
    copy_task = preset("copy-task").with_training(num_epochs=1, cooldown_epochs=5)
    assert schedule_note(copy_task, "copy") == ("", "")
    assert schedule_note(preset("annotated-2018"), "multi30k")[1] == (
        "The rate ends at 24% of the highest."
    )


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [("", "", ("de", "en")), ("", "French", ("de", "fr")), (" cs ", "fr", ("cs", "fr"))],
)
def test_languages_are_those_of_the_data(
    choices: RunChoices, source: str, target: str, expected: tuple[str, str]
) -> None:
    typed = replace(choices, data_kind="folder")
    typed = typed.with_settings(source, "data.source_language").with_settings(
        target, "data.target_language"
    )
    data = typed.run_config().data
    assert (data.source_language, data.target_language) == expected
    for other in (replace(typed, data_kind="multi30k"), replace(typed, preset="copy-task-small")):
        assert not other.has_languages
        assert other.differences() == []
        assert other.run_config().data == preset(other.preset).data, (
            "these have languages of their own, or none"
        )


def test_a_language_without_rules_is_refused_by_its_name(choices: RunChoices) -> None:
    typed = replace(choices, data_kind="folder").with_settings("Klingon", "data.target_language")
    with pytest.raises(
        ConfigError, match=r"target_language is 'Klingon'\. Use a language code such as de or en"
    ):
        typed.run_config()


def test_the_first_run_needs_neither_data_nor_hours() -> None:
    choices = RunChoices.default()
    assert choices.preset == BEGINNERS_PRESET
    assert choices.source() == "copy"
