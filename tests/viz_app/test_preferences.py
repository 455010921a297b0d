import os
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QRect

from augenmerk.core.model.heads import Head
from augenmerk.viz_app.extensions.learn.chapter import read_chapters
from augenmerk.viz_app.preferences import MAX_RECENT, Preference, Preferences
from augenmerk.viz_app.state.map_view_settings import (
    MapViewSettings,
    choices_of,
    option,
    remembered,
)


def test_choices_are_remembered(preferences: Preferences) -> None:
    preferences.theme = "dark"
    settings = MapViewSettings(
        label_mode="read", scale="own", hides_wrapping=True, merges_words=False
    )
    preferences.save(settings)
    preferences.head = Head("decoder", 2, 5)
    preferences.settings.sync()
    again = Preferences(preferences.settings)
    assert again.theme == "dark"
    assert again.restored(MapViewSettings()) == settings
    assert again.head == Head("decoder", 2, 5)


def test_settings_of_earlier_versions_are_read(preferences: Preferences) -> None:
    stored = {
        "translate/rows": "read",
        "translate/scale": "layer",
        "translate/hide_wrapping": "true",
        "translate/hide_punctuation": "true",
        "translate/merge_words": "false",
    }
    for key, value in stored.items():
        preferences.settings.setValue(key, value)
    settings = preferences.restored(MapViewSettings())
    assert (settings.label_mode, settings.scale) == ("read", "layer")
    assert settings.hides_wrapping
    assert settings.hides_punctuation
    assert not settings.merges_words


def test_entries_that_have_a_new_key_are_read_under_the_earlier_one_until_they_are_set(
    preferences: Preferences,
) -> None:
    for key, value in {
        "translate/lab": "true",
        "translate/lab_tab": "word",
        "translate/first_steps": "true",
    }.items():
        preferences.settings.setValue(key, value)
    assert preferences.is_analysis_open
    assert preferences.analysis_tab == "word"
    assert preferences.has_taken_quick_tour
    preferences.is_analysis_open = False
    preferences.analysis_tab = "heads"
    assert not preferences.is_analysis_open
    assert preferences.analysis_tab == "heads"
    assert preferences.settings.value("translate/lab_tab") == "word", (
        "an older version finds its own"
    )


def test_an_option_that_settings_cannot_keep_is_refused_where_it_is_declared() -> None:
    assert all(
        option.name in choices_of(MapViewSettings) for option in remembered(MapViewSettings())
    )
    with pytest.raises(TypeError, match="Omit its key"):
        option(0.5, "maps", key="translate/contrast")


def test_what_nobody_chose_is_not_stored(preferences: Preferences) -> None:
    preferences.save(MapViewSettings(scale="own"))
    assert preferences.settings.allKeys() == ["translate/scale"]
    preferences.save(MapViewSettings())
    assert preferences.restored(MapViewSettings()).scale == "shared", "chosen again"


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
    assert preferences.theme == "system"
    assert preferences.restored(MapViewSettings()) == MapViewSettings()
    assert preferences.head is None
    assert preferences.bytes("window").isEmpty()


NONSENSE: dict[str, object] = {
    "nothing": None,
    "empty": "",
    "text": "nonsense/1/x",
    "control characters": "a\0b\n",
    "endless number": "9" * 5000,
    "endless head": f"cross/{'9' * 5000}/1",
    "no path": "file:///%00%ff",
    "endless path": "/" + "a" * 5000,
    "list": ["a", "b"],
    "list of lists": [["a"], {"b": 1}],
    "bytes": QByteArray(b"\0\xff"),
    "rectangle": QRect(1, 2, 3, 4),
}

ENTRIES = [entry for entry in vars(Preferences).values() if isinstance(entry, Preference)]
KEYS = [entry._key for entry in ENTRIES]
KEYS += [option.metadata["key"] for option in remembered(MapViewSettings())]
KEYS += ["recent", "recent_experiments", "imports", "geometry/window"]


@pytest.mark.parametrize("name", NONSENSE)
def test_every_entry_may_be_anything(preferences: Preferences, tmp_path: Path, name: str) -> None:
    for key in KEYS:
        preferences.settings.setValue(key, NONSENSE[name])
    for entry in ENTRIES:
        entry.__get__(preferences)
    preferences.restored(MapViewSettings())
    preferences.bytes("window")
    assert preferences.imports.file_of("a") is None
    for recent in (preferences.recent_models, preferences.recent_experiments):
        recent.remember(tmp_path / "one")
        assert recent.paths[0] == tmp_path / "one"
    assert read_chapters(preferences.learn_language)


def test_recent_checkpoints_are_newest_first_once_and_few(
    preferences: Preferences, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{number}.safetensors" for number in range(MAX_RECENT + 2)]
    for path in [*paths, paths[5]]:
        preferences.recent_models.remember(path)
    assert preferences.recent_models.paths[0] == paths[5]
    assert (
        len(preferences.recent_models.paths)
        == MAX_RECENT
        == len(set(preferences.recent_models.paths))
    )
    preferences.recent_models.forget(paths[5])
    assert paths[5] not in preferences.recent_models.paths


def test_one_recent_checkpoint_survives_the_file(preferences: Preferences, tmp_path: Path) -> None:
    preferences.recent_models.remember(tmp_path / "one.safetensors")
    preferences.settings.sync()
    assert Preferences(
        type(preferences.settings)(preferences.settings.fileName(), preferences.settings.format())
    ).recent_models.paths == (tmp_path / "one.safetensors",)


def test_a_path_that_is_not_utf8_survives_the_file(
    preferences: Preferences, tmp_path: Path
) -> None:
    path = tmp_path / os.fsdecode(b"m\xf6dell %41.safetensors")
    preferences.model = path
    preferences.recent_models.remember(path)
    preferences.settings.sync()
    read = Preferences(
        type(preferences.settings)(preferences.settings.fileName(), preferences.settings.format())
    )
    assert read.model == path
    assert read.recent_models.paths == (path,)
