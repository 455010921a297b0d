"""What the windows remember between two starts, with a type for each entry."""

from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

from core.analysis.selection import DEFAULT_LABEL_MODE, LABEL_MODES, LabelMode
from core.model.heads import Head
from core.translation.result import MAP_KINDS
from viz_app.state.map_view_settings import SCALES, Scale
from viz_app.theme import THEME_CHOICES, ThemeChoice

MAX_RECENT = 8


class Preferences:
    """A typed face of `QSettings`. An entry that makes no sense reads as if it were not there."""

    def __init__(self, settings: QSettings) -> None:
        self.settings = settings

    @property
    def theme(self) -> ThemeChoice:
        """Light, dark, or as the desktop has it."""
        stored = self.settings.value("theme", "system")
        return next((choice for choice in THEME_CHOICES if choice == stored), "system")

    @theme.setter
    def theme(self, choice: ThemeChoice) -> None:
        self.settings.setValue("theme", choice)

    @property
    def sentence(self) -> str:
        """The sentence that was typed last."""
        return str(self.settings.value("translate/sentence", ""))

    @sentence.setter
    def sentence(self, text: str) -> None:
        self.settings.setValue("translate/sentence", text)

    @property
    def model(self) -> Path | None:
        """The checkpoint that was opened last, the one the sentence was typed for; None for the bundled one."""
        stored = self.settings.value("translate/model", "")
        return Path(stored) if isinstance(stored, str) and stored else None

    @model.setter
    def model(self, path: Path | None) -> None:
        self.settings.setValue("translate/model", str(path.absolute()) if path is not None else "")

    @property
    def label_mode(self) -> LabelMode:
        """What names the rows."""
        stored = self.settings.value("translate/rows")
        return next((mode for mode in LABEL_MODES if mode == stored), DEFAULT_LABEL_MODE)

    @label_mode.setter
    def label_mode(self, mode: LabelMode) -> None:
        self.settings.setValue("translate/rows", mode)

    @property
    def scale(self) -> Scale:
        """How far the colours reach."""
        stored = self.settings.value("translate/scale")
        return next((scale for scale in SCALES if scale == stored), "shared")

    @scale.setter
    def scale(self, scale: Scale) -> None:
        self.settings.setValue("translate/scale", scale)

    @property
    def hides_wrapping(self) -> bool:
        """Whether start and end tokens are hidden."""
        return self._flag("translate/hide_wrapping", default=False)

    @hides_wrapping.setter
    def hides_wrapping(self, is_on: bool) -> None:
        self._set_flag("translate/hide_wrapping", is_on)

    @property
    def hides_punctuation(self) -> bool:
        """Whether punctuation is hidden."""
        return self._flag("translate/hide_punctuation", default=False)

    @hides_punctuation.setter
    def hides_punctuation(self, is_on: bool) -> None:
        self._set_flag("translate/hide_punctuation", is_on)

    @property
    def merges_words(self) -> bool:
        """Whether words are shown instead of their pieces."""
        return self._flag("translate/merge_words", default=True)

    @merges_words.setter
    def merges_words(self, is_on: bool) -> None:
        self._set_flag("translate/merge_words", is_on)

    @property
    def head_choice(self) -> Head | None:
        """The head that was chosen last, None if none ever was."""
        parts = str(self.settings.value("translate/head", "")).split("/")
        kind = next((kind for kind in MAP_KINDS if kind == parts[0]), None)
        if kind is None or len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts[1:]):
            return None
        return Head(kind, int(parts[1]), int(parts[2]))

    @head_choice.setter
    def head_choice(self, choice: Head) -> None:
        self.settings.setValue("translate/head", f"{choice.kind}/{choice.layer}/{choice.head}")

    @property
    def exports_captions(self) -> bool:
        """Whether exported pictures have a caption."""
        return self._flag("export/caption", default=True)

    @exports_captions.setter
    def exports_captions(self, is_on: bool) -> None:
        self._set_flag("export/caption", is_on)

    @property
    def is_lab_open(self) -> bool:
        """Whether the laboratory is shown."""
        return self._flag("translate/lab", default=False)

    @is_lab_open.setter
    def is_lab_open(self, is_open: bool) -> None:
        self._set_flag("translate/lab", is_open)

    @property
    def lab_tab(self) -> str:
        """The name of the laboratory's tab that was used last; empty if none was."""
        return str(self.settings.value("translate/lab_tab", ""))

    @lab_tab.setter
    def lab_tab(self, name: str) -> None:
        self.settings.setValue("translate/lab_tab", name)

    @property
    def recent(self) -> tuple[Path, ...]:
        """Checkpoints opened before, newest first."""
        stored = self.settings.value("recent", [])
        paths = [stored] if isinstance(stored, str) else stored if isinstance(stored, list) else []
        return tuple(Path(path) for path in paths if isinstance(path, str) and path)[:MAX_RECENT]

    def remember(self, path: Path) -> None:
        """Puts a checkpoint at the head of the recent list."""
        path = path.absolute()
        paths = [path, *(each for each in self.recent if each != path)][:MAX_RECENT]
        self.settings.setValue("recent", [str(each) for each in paths])

    def forget(self, path: Path) -> None:
        """Takes a checkpoint that cannot be opened off the recent list."""
        self.settings.setValue("recent", [str(each) for each in self.recent if each != path.absolute()])

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
