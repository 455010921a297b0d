"""What the windows remember between two starts, with a type for each entry."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

from platformdirs import user_data_path, user_state_path
from PySide6.QtCore import QByteArray, QSettings

from augenmerk.core.model.heads import Head
from augenmerk.core.resources import is_bundled_model
from augenmerk.core.translation.result import MAP_KINDS
from augenmerk.viz_app.state.evented_options import remembered
from augenmerk.viz_app.theme import SCALES, THEME_CHOICES, ThemeChoice

MAX_RECENT = 8
MAX_IMPORTS = 64
OptionsT = TypeVar("OptionsT")


def _text_of(path: Path) -> str:
    """An absolute path as Qt can keep it: as a URI if its name is not UTF-8."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return path.as_uri()
    return str(path)


def _path_of(text: str) -> Path:
    """The path that `_text_of` was given."""
    is_uri = text.startswith("file:///")
    return Path(os.fsdecode(unquote_to_bytes(text.removeprefix("file://")))) if is_uri else Path(text)


class RecentFiles:
    """Files of one kind that were saved or opened before.

    Args:
        settings: where they are remembered.
        key: their entry there.
    """

    def __init__(self, settings: QSettings, key: str) -> None:
        self._settings, self._key = settings, key

    @property
    def paths(self) -> tuple[Path, ...]:
        """At most `MAX_RECENT`, newest first."""
        stored = self._settings.value(self._key, [])
        paths = [stored] if isinstance(stored, str) else stored if isinstance(stored, list) else []
        return tuple(_path_of(path) for path in paths if isinstance(path, str) and path)[:MAX_RECENT]

    def remember(self, path: Path) -> None:
        """Puts a file at the head of the list."""
        path = path.absolute()
        self._store([path, *(each for each in self.paths if each != path)][:MAX_RECENT])

    def forget(self, path: Path) -> None:
        """Takes a file that cannot be opened off the list."""
        self._store([each for each in self.paths if each != path.absolute()])

    def _store(self, paths: Sequence[Path]) -> None:
        self._settings.setValue(self._key, [_text_of(each) for each in paths])


class Preferences:
    """A typed face of `QSettings`. An entry that makes no sense reads as if it were not there.

    Attributes:
        settings: where everything is remembered.
        recent_models, recent_experiments: checkpoints, and experiment files.
    """

    def __init__(self, settings: QSettings) -> None:
        self.settings = settings
        self.recent_models = RecentFiles(settings, "recent")
        self.recent_experiments = RecentFiles(settings, "recent_experiments")

    @property
    def theme(self) -> ThemeChoice:
        """Light, dark, or as the desktop has it."""
        stored = self.settings.value("theme", "system")
        return next((choice for choice in THEME_CHOICES if choice == stored), "system")

    @theme.setter
    def theme(self, choice: ThemeChoice) -> None:
        self.settings.setValue("theme", choice)

    @property
    def scale(self) -> int:
        """How large everything is, in percent."""
        stored = str(self.settings.value("scale", "100"))
        return next((scale for scale in SCALES if stored == str(scale)), 100)

    @scale.setter
    def scale(self, percent: int) -> None:
        self.settings.setValue("scale", percent)

    @property
    def sentence(self) -> str:
        """The sentence that was typed last."""
        return str(self.settings.value("translate/sentence", ""))

    def forget_sentence(self) -> None:
        """Removes the sentence that an older version kept."""
        self.settings.remove("translate/sentence")

    @property
    def model(self) -> Path | None:
        """The checkpoint that was opened last, the one the sentence was typed for; None for the bundled one."""
        stored = self.settings.value("translate/model", "")
        return _path_of(stored) if isinstance(stored, str) and stored else None

    @model.setter
    def model(self, path: Path | None) -> None:
        self.settings.setValue("translate/model", _text_of(path.absolute()) if path is not None else "")

    def is_stand_in(self, path: Path | None) -> bool:
        """Whether this is the bundled model while the next start reopens another one; see `ModelLoader.stand_in`."""
        return is_bundled_model(path) and not is_bundled_model(self.model)

    def restored(self, options: OptionsT) -> OptionsT:
        """The same options with the values that were remembered; see `viz_app.state.evented_options`."""
        for each in remembered(options):
            default, choices = getattr(options, each.name), each.metadata["choices"]
            key = each.metadata["key"]
            if choices is None:
                value = self._flag(key, default=default)
            else:
                stored = self.settings.value(key)
                value = next((choice for choice in choices if choice == stored), default)
            setattr(options, each.name, value)
        return options

    def save(self, options: Any) -> None:
        """Remembers options. What nobody chose is not stored, and so follows the defaults of later versions."""
        known = self.restored(type(options)())
        for each in remembered(options):
            value = getattr(options, each.name)
            if value == getattr(known, each.name):
                continue
            if isinstance(value, bool):
                self._set_flag(each.metadata["key"], value)
            else:
                self.settings.setValue(each.metadata["key"], value)

    @property
    def head(self) -> Head | None:
        """The head that was chosen last, None if none ever was."""
        parts = str(self.settings.value("translate/head", "")).split("/")
        kind = next((kind for kind in MAP_KINDS if kind == parts[0]), None)
        if kind is None or len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts[1:]):
            return None
        return Head(kind, int(parts[1]), int(parts[2]))

    @head.setter
    def head(self, head: Head) -> None:
        self.settings.setValue("translate/head", f"{head.kind}/{head.layer}/{head.head}")

    @property
    def lesson(self) -> tuple[str, int] | None:
        """The lesson that was open, as its owner names it, and the place in it from 0; None if none was."""
        name, place = self.settings.value("lesson/file", ""), str(self.settings.value("lesson/place", "0"))
        if not isinstance(name, str) or not name:
            return None
        return name, int(place) if place.isascii() and place.isdigit() and len(place) < 9 else 0

    @lesson.setter
    def lesson(self, lesson: tuple[str, int] | None) -> None:
        if lesson is None:
            self.settings.remove("lesson")
        else:
            self.settings.setValue("lesson/file", lesson[0])
            self.settings.setValue("lesson/place", lesson[1])

    @property
    def has_taken_first_steps(self) -> bool:
        """Whether the first minute's sentences were read or skipped."""
        return self._flag("translate/first_steps", default=False)

    @has_taken_first_steps.setter
    def has_taken_first_steps(self, is_done: bool) -> None:
        self._set_flag("translate/first_steps", is_done)

    @property
    def learn_language(self) -> str:
        """The code of the language of the Learn page's texts."""
        return str(self.settings.value("learn/language", "en"))

    @learn_language.setter
    def learn_language(self, code: str) -> None:
        self.settings.setValue("learn/language", code)

    @property
    def exports_captions(self) -> bool:
        """Whether exported pictures have a caption."""
        return self._flag("export/caption", default=True)

    @exports_captions.setter
    def exports_captions(self, is_on: bool) -> None:
        self._set_flag("export/caption", is_on)

    @property
    def is_analysis_open(self) -> bool:
        """Whether the analysis tabs are shown."""
        return self._flag("translate/lab", default=False)

    @is_analysis_open.setter
    def is_analysis_open(self, is_open: bool) -> None:
        self._set_flag("translate/lab", is_open)

    @property
    def analysis_tab(self) -> str:
        """The name of the analysis tab that was used last; empty if none was."""
        return str(self.settings.value("translate/lab_tab", ""))

    @analysis_tab.setter
    def analysis_tab(self, name: str) -> None:
        self.settings.setValue("translate/lab_tab", name)

    @property
    def session_path(self) -> Path:
        """Where what is on the screen is kept between two starts: beside the settings where these are a file."""
        if self.settings.format() == QSettings.Format.IniFormat:
            return Path(self.settings.fileName()).with_name("session.augenmerk")
        return user_state_path("augenmerk") / "session.augenmerk"

    @property
    def models_folder(self) -> Path:
        """Where imported models are saved: beside the settings where these are a file."""
        if self.settings.format() == QSettings.Format.IniFormat:
            return Path(self.settings.fileName()).with_name("models")
        return user_data_path("augenmerk", appauthor=False) / "models"

    def imported_from(self, source: str | Path) -> Path | None:
        """The file that a model of another project became; None if it was never imported, or the file is gone."""
        path = self._imports.get(str(source))
        return Path(path) if path is not None and Path(path).is_file() else None

    def remember_import(self, source: str | Path, path: Path) -> None:
        """Keeps what became of a model of another project."""
        others = {key: value for key, value in self._imports.items() if key != str(source) and Path(value) != path}
        newest = [(str(source), str(path.absolute())), *others.items()][:MAX_IMPORTS]
        self.settings.setValue("imports", [text for pair in newest for text in pair])

    @property
    def _imports(self) -> dict[str, str]:
        stored = self.settings.value("imports", [])
        texts = [each for each in stored if isinstance(each, str)] if isinstance(stored, list) else []
        return dict(zip(texts[::2], texts[1::2], strict=False))

    def _flag(self, name: str, *, default: bool) -> bool:
        stored = str(self.settings.value(name, "")).lower()
        return stored == "true" if stored in ("true", "false") else default

    def _set_flag(self, name: str, is_on: bool) -> None:
        self.settings.setValue(name, "true" if is_on else "false")

    def bytes(self, name: str) -> QByteArray:
        """The geometry of a window or splitter; empty if there is none."""
        stored = self.settings.value(f"geometry/{name}")
        return stored if isinstance(stored, QByteArray) else QByteArray()

    def set_bytes(self, name: str, value: QByteArray) -> None:
        """Remembers a geometry."""
        self.settings.setValue(f"geometry/{name}", value)
