from pathlib import Path

from viz_app.preferences import MAX_RECENT, Preferences
from viz_app.state.translate_state import HeadChoice


def test_choices_are_remembered(preferences: Preferences) -> None:
    preferences.theme = "dark"
    preferences.label_mode = "predicted"
    preferences.scale = "own"
    preferences.hides_wrapping = True
    preferences.sentence = "Zwei Hunde"
    preferences.head_choice = HeadChoice("decoder", 2, 5)
    preferences.settings.sync()
    again = Preferences(preferences.settings)
    assert (again.theme, again.label_mode, again.scale, again.hides_wrapping) == ("dark", "predicted", "own", True)
    assert again.sentence == "Zwei Hunde"
    assert again.head_choice == HeadChoice("decoder", 2, 5)


def test_nonsense_reads_as_if_it_were_not_there(preferences: Preferences) -> None:
    for key in (
        "theme",
        "translate/rows",
        "translate/scale",
        "translate/hide_wrapping",
        "translate/head",
        "geometry/window",
    ):
        preferences.settings.setValue(key, "nonsense/1/x")
    assert (preferences.theme, preferences.label_mode, preferences.scale) == ("system", "predicted", "shared")
    assert not preferences.hides_wrapping
    assert preferences.head_choice is None
    assert preferences.bytes("window").isEmpty()


def test_recent_checkpoints_are_newest_first_once_and_few(preferences: Preferences, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.safetensors" for number in range(MAX_RECENT + 2)]
    for path in [*paths, paths[5]]:
        preferences.remember(path)
    assert preferences.recent[0] == paths[5]
    assert len(preferences.recent) == MAX_RECENT == len(set(preferences.recent))
    preferences.forget(paths[5])
    assert paths[5] not in preferences.recent


def test_one_recent_checkpoint_survives_the_file(preferences: Preferences, tmp_path: Path) -> None:
    preferences.remember(tmp_path / "one.safetensors")
    preferences.settings.sync()
    assert Preferences(
        type(preferences.settings)(preferences.settings.fileName(), preferences.settings.format())
    ).recent == (tmp_path / "one.safetensors",)
