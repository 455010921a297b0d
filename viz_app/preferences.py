"""Settings that the windows keep between two starts, with a type for each entry."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import unquote_to_bytes

from platformdirs import user_data_path, user_state_path
from PySide6.QtCore import QByteArray, QSettings

from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.resources import is_bundled_model
from augenmerk.core.storage import is_file

from .state.map_view_settings import choices_of, remembered
from .theme import SCALES, THEME_CHOICES, ThemeChoice

MAX_RECENT = 8
MAX_IMPORTS = 64
OptionsT = TypeVar("OptionsT")
ValueT = TypeVar("ValueT")


def _text_of(path: Path) -> str:
    """An absolute path as Qt can keep it: as a URI if its name is not UTF-8."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return path.as_uri()
    return str(path)


def _path_of(text: str) -> Path:
    """The path of a text made by `_text_of`."""
    is_uri = text.startswith("file:///")
    return (
        Path(os.fsdecode(unquote_to_bytes(text.removeprefix("file://")))) if is_uri else Path(text)
    )


class RecentFiles:
    """Recently saved or opened files of one kind.

    Args:
        settings: their storage.
        key: their entry there.
    """

    def __init__(self, settings: QSettings, key: str) -> None:
        self._settings, self._key = settings, key

    @property
    def paths(self) -> tuple[Path, ...]:
        """At most `MAX_RECENT`, newest first."""
        stored = self._settings.value(self._key, [])
        paths = stored if isinstance(stored, list) else [stored]
        return tuple(_path_of(path) for path in paths if isinstance(path, str) and path)[
            :MAX_RECENT
        ]

    @property
    def folder(self) -> Path | None:
        """The folder of the newest; None if there is none."""
        return self.paths[0].parent if self.paths else None

    def remember(self, path: Path) -> None:
        """Puts a file first on the list."""
        path = path.absolute()
        self._store([path, *(recent for recent in self.paths if recent != path)][:MAX_RECENT])

    def forget(self, path: Path) -> None:
        """Removes a file from the list."""
        self._store([recent for recent in self.paths if recent != path.absolute()])

    def _store(self, paths: Sequence[Path]) -> None:
        self._settings.setValue(self._key, [_text_of(path) for path in paths])


class ImportedModels:
    """The checkpoints made from models of other projects.

    Args:
        settings: their storage.
    """

    def __init__(self, settings: QSettings) -> None:
        self._settings = settings

    def file_of(self, source: str | Path) -> Path | None:
        """The checkpoint of an imported model; None if there is none, or the file is missing."""
        path = self._files.get(str(source))
        return Path(path) if path is not None and is_file(path) else None

    def remember(self, source: str | Path, path: Path) -> None:
        """Records the checkpoint of an imported model."""
        others = {
            key: value
            for key, value in self._files.items()
            if key != str(source) and Path(value) != path
        }
        newest = [(str(source), str(path.absolute())), *others.items()][:MAX_IMPORTS]
        self._settings.setValue("imports", [text for pair in newest for text in pair])

    @property
    def _files(self) -> dict[str, str]:
        stored = self._settings.value("imports", [])
        texts = (
            [text for text in stored if isinstance(text, str)] if isinstance(stored, list) else []
        )
        return dict(zip(texts[::2], texts[1::2], strict=False))


class Preference(Generic[ValueT]):
    """An attribute of `Preferences` that the settings file keeps.

    Args:
        key: of its entry.
        default: its value without a valid entry.
        read: the value of an entry; None if it is invalid.
        write: the entry of a value.
        earlier_key: the key in files of earlier versions.
    """

    def __init__(
        self,
        key: str,
        default: ValueT,
        read: Callable[[object], ValueT | None],
        write: Callable[[ValueT], object] = lambda value: value,
        earlier_key: str = "",
    ) -> None:
        self._key, self._earlier_key, self._default = key, earlier_key, default
        self._read, self._write = read, write

    def __get__(self, owner: "Preferences", _type: type | None = None) -> ValueT:
        stored = owner.settings.value(self._key)
        if stored is None and self._earlier_key:
            stored = owner.settings.value(self._earlier_key)
        value = self._read(stored)
        return self._default if value is None else value

    def __set__(self, owner: "Preferences", value: ValueT) -> None:
        owner.settings.setValue(self._key, self._write(value))


def _one_of(choices: Iterable[ValueT]) -> Callable[[object], ValueT | None]:
    """Reads one of these values."""
    by_text = {str(choice): choice for choice in choices}
    return lambda stored: by_text.get(str(stored))


def _text(stored: object) -> str | None:
    return stored if isinstance(stored, str) else None


def _number(stored: object) -> int | None:
    text = str(stored)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


def _flag(stored: object) -> bool | None:
    return {"true": True, "false": False}.get(str(stored).lower())


def _flag_text(value: bool) -> str:
    return "true" if value else "false"


def _path(stored: object) -> Path | None:
    return _path_of(stored) if isinstance(stored, str) and stored else None


def _head(stored: object) -> Head | None:
    parts = str(stored).split("/")
    kind = next((kind for kind in ATTENTION_KINDS if kind == parts[0]), None)
    layer, head = map(_number, parts[1:]) if len(parts) == 3 else (None, None)
    return (
        Head(kind, layer, head)
        if kind is not None and layer is not None and head is not None
        else None
    )


class Preferences:
    """The settings of the windows, each entry declared once.

    Attributes:
        settings: the storage.
        recent_models: checkpoints that were opened.
        recent_experiments: experiment files that were opened.
        imports: models of other projects.
        theme: light, dark, or the same as the system.
        scale: the size of everything, in percent.
        model: the checkpoint that was opened last; None for the bundled one.
        head: the head that was chosen last; None if none ever was.
        lesson_name: the lesson that is open; empty for none.
        lesson_place: its scene, from 0.
        has_taken_quick_tour: whether the quick tour was taken or skipped.
        learn_language: code of the language of the Learn page.
        exports_captions: whether exported pictures have a caption.
        is_analysis_open: whether the analysis tabs are shown.
        analysis_tab: the name of the last one, or empty.
    """

    theme = Preference[ThemeChoice]("theme", "system", _one_of(THEME_CHOICES))
    scale = Preference[int]("scale", 100, _one_of(SCALES))
    model = Preference[Path | None](
        "translate/model",
        None,
        _path,
        lambda path: _text_of(path.absolute()) if path is not None else "",
    )
    head = Preference[Head | None](
        "translate/head",
        None,
        _head,
        lambda head: f"{head.kind}/{head.layer}/{head.head}" if head is not None else "",
    )
    lesson_name = Preference[str]("lesson/file", "", _text)
    lesson_place = Preference[int]("lesson/place", 0, _number)
    has_taken_quick_tour = Preference[bool](
        "quick_tour/taken", False, _flag, _flag_text, "translate/first_steps"
    )
    learn_language = Preference[str]("learn/language", "en", _text)
    exports_captions = Preference[bool]("export/caption", True, _flag, _flag_text)
    is_analysis_open = Preference[bool]("analysis/open", False, _flag, _flag_text, "translate/lab")
    analysis_tab = Preference[str]("analysis/tab", "", _text, earlier_key="translate/lab_tab")

    def __init__(self, settings: QSettings) -> None:
        self.settings = settings
        self.recent_models = RecentFiles(settings, "recent")
        self.recent_experiments = RecentFiles(settings, "recent_experiments")
        self.imports = ImportedModels(settings)

    def is_stand_in(self, path: Path | None) -> bool:
        """Whether the bundled model stands in for another: see `ModelLoader.stand_in`."""
        return is_bundled_model(path) and not is_bundled_model(self.model)

    def restored(self, options: OptionsT) -> OptionsT:
        """The same options with their stored values; see `viz_app.state.map_view_settings`."""
        choices = choices_of(type(options))
        for option in remembered(options):
            stored = self.settings.value(option.metadata["key"])
            known = choices[option.name]
            value = _flag(stored) if False in known else _one_of(known)(stored)
            if value is not None:
                setattr(options, option.name, value)
        return options

    def save(self, options: Any) -> None:
        """Stores changed options. Others follow the defaults of later versions."""
        known = self.restored(type(options)())
        for option in remembered(options):
            value = getattr(options, option.name)
            if value != getattr(known, option.name):
                self.settings.setValue(
                    option.metadata["key"], _flag_text(value) if isinstance(value, bool) else value
                )

    def own_file(self, name: str) -> Path:
        """A file that the window writes for its next start: next to settings that are a file."""
        return self._folder(user_state_path("augenmerk")) / name

    @property
    def models_folder(self) -> Path:
        """The folder of imported models: next to the settings if these are a file."""
        return self._folder(user_data_path("augenmerk", appauthor=False)) / "models"

    def _folder(self, usual: Path) -> Path:
        is_file = self.settings.format() == QSettings.Format.IniFormat
        return Path(self.settings.fileName()).parent if is_file else usual

    def bytes(self, name: str) -> QByteArray:
        """The geometry of a window or splitter; empty if there is none."""
        stored = self.settings.value(f"geometry/{name}")
        return stored if isinstance(stored, QByteArray) else QByteArray()

    def set_bytes(self, name: str, value: QByteArray) -> None:
        """Remembers a geometry."""
        self.settings.setValue(f"geometry/{name}", value)
