"""The form of the Train page: preset, the most important settings, data, device, probe sentence and folder."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QLabel,
    QLayout,
    QLineEdit,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from augenmerk.core.config import PRESETS, preset
from augenmerk.core.config.presets import dotted_settings
from augenmerk.core.errors import AugenmerkError, ConfigError
from augenmerk.viz_app.theme import scales, set_role
from augenmerk.viz_app.train.run.choices import (
    DATA_KINDS,
    DataKind,
    RunChoices,
    key_settings,
    new_run_folder,
    rate_name,
    schedule_note,
    with_tilde,
)
from augenmerk.viz_app.train.run.devices import DEFAULT_DEVICES, DeviceOption
from augenmerk.viz_app.views.sentence_input import one_line_edit
from augenmerk.viz_app.widgets.buttons import ChoiceMenu, flat_button
from augenmerk.viz_app.widgets.labels import ElidingLabel, label
from augenmerk.viz_app.widgets.layouts import column_of, row_of

_DATA_LABELS: dict[DataKind, str] = {
    "multi30k": "Multi30k",
    "folder": "a folder of parallel files…",
    "file": "a prepared file…",
}
_COPY_LABEL = "copy task (random data)"
_DATA_HINTS: dict[DataKind, str] = {
    "multi30k": "29,000 captions, downloaded once",
    "folder": "",
    "file": "",
}

NUM_EDITABLE_ROWS = 2
"""The first rows of `key_settings` are layers and width, which the form has fields for."""
SHORT_EDIT_PX = 64
MAX_PATH_LINES = 4
"""Of a folder that the form names; most can be read whole then."""


class RunForm(QWidget):
    """Shows and edits `RunChoices`.

    Attributes:
        settings_button: whether all settings are shown, too.

    Signals:
        changed(): a choice changed.
    """

    changed = Signal()

    def __init__(self, choices: RunChoices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choices = choices
        self.setProperty("role", "form")
        self.preset_menu = value_menu("preset", [(name, name) for name in PRESETS])
        self.data_menu = value_menu("data")
        self.device_menu = value_menu("device")
        self.epochs_edit = number_edit("epochs")
        self.patience_edit = number_edit("patience")
        self.seed_edit = number_edit("seed")
        self.probe_edit = one_line_edit(
            "probe sentence",
            "The sentence for the film of attention: it is translated at each validation, and the maps of every head "
            "are saved. Empty: one of the validation sentences.",
            "probe: a validation sentence",
        )
        self.layers_edit = _short_edit("layers")
        self.width_edit = _short_edit("width")
        self.heads_edit = _short_edit("heads")
        self.rate_edit = _short_edit("rate")
        self.source_language_edit = _short_edit("source language")
        self.target_language_edit = _short_edit("target language")
        self.settings_button = flat_button("All settings…", "Shows every setting of a run, with its description")
        self.settings_button.setCheckable(True)
        set_role(self.settings_button, "value")
        self._rate_name = label("muted")
        self._rate_name.setBuddy(self.rate_edit)
        self.folder_button = QToolButton(self)
        self.folder_button.setText("Save to…")
        self.folder_button.setAccessibleName("choose the folder for runs")
        set_role(self.folder_button, "value")
        self._description = label("small", wraps=True)
        self.note = label("warm", wraps=True)
        self._languages = QWidget()
        self._settings = NumberTable("small")
        self._data_path = ElidingLabel("small", elide=Qt.TextElideMode.ElideMiddle)
        self._folder_path = ElidingLabel("small", elide=Qt.TextElideMode.ElideMiddle)
        for path in (self._data_path, self._folder_path):
            path.set_max_lines(MAX_PATH_LINES)
        self._lay_out()
        self.set_devices(DEFAULT_DEVICES)
        self._show_choices()
        self._connect()

    def choices(self) -> RunChoices:
        """The values in the form."""
        return self._choices

    def set_choices(self, choices: RunChoices) -> None:
        """Fills in the form."""
        self._choices = choices
        self._show_choices()
        self.changed.emit()

    def edit_settings(self, text: str, *names: str) -> None:
        """Takes over what was typed for these settings; an empty text restores the preset's values."""
        self._choices = self._choices.with_settings(text, *names)
        self._change()

    def restore_all(self) -> None:
        """Resets all settings to the preset."""
        self._change(settings={})

    def set_devices(self, options: Sequence[DeviceOption]) -> None:
        """Offers these devices. A chosen one that is not among them stays: starting reports what is available."""
        self.device_menu.set_entries(device_entries(options))
        self.device_menu.show_choice(self._choices.device)

    def refresh_folder(self) -> None:
        """Shows the folder that a new run would get."""
        folder = new_run_folder(self._choices.parent_folder, self._choices.preset)
        self._folder_path.setText(with_tilde(folder))

    def _edits(self) -> dict[QLineEdit, tuple[str, ...]]:
        """The fields of settings, with their dotted names."""
        return {
            self.layers_edit: ("model.num_encoder_layers", "model.num_decoder_layers"),
            self.width_edit: ("model.width",),
            self.heads_edit: ("model.num_heads",),
            self.rate_edit: (rate_name(self._choices),),
            self.epochs_edit: ("training.num_epochs",),
            self.patience_edit: ("training.patience",),
            self.seed_edit: ("training.seed",),
            self.source_language_edit: ("data.source_language",),
            self.target_language_edit: ("data.target_language",),
        }

    def _connect(self) -> None:
        self.preset_menu.chosen.connect(self._on_preset)
        self.data_menu.chosen.connect(self._on_data)
        self.device_menu.chosen.connect(lambda device: self._change(device=device))
        self.probe_edit.textEdited.connect(lambda text: self._change(probe=text))
        for edit in self._edits():
            edit.textEdited.connect(lambda text, edit=edit: self.edit_settings(text, *self._edits()[edit]))
        self.folder_button.clicked.connect(self._on_folder)

    def _lay_out(self) -> None:
        text = label("muted", "languages")
        text.setBuddy(self.source_language_edit)
        languages = self.source_language_edit, label("muted", "→"), self.target_language_edit
        row_of(text, 1, *languages, within=self._languages)
        numbers = QGridLayout()  # in two pairs of columns
        numbers.setVerticalSpacing(4)
        numbers.setColumnMinimumWidth(2, 18)
        for column in (0, 3):
            numbers.setColumnStretch(column, 1)
        pairs = (
            (label("muted", "layers"), self.layers_edit),
            (label("muted", "heads"), self.heads_edit),
            (label("muted", "width"), self.width_edit),
            (self._rate_name, self.rate_edit),
        )
        for place, (name, edit) in enumerate(pairs):
            name.setBuddy(edit)
            numbers.addWidget(name, place // 2, place % 2 * 3)
            numbers.addWidget(edit, place // 2, place % 2 * 3 + 1)
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        rows: tuple[tuple[str, QWidget] | QWidget | QLayout, ...] = (
            ("preset", self.preset_menu),
            self._description,
            numbers,
            self._settings,
            row_of(1, self.settings_button),
            ("data", self.data_menu),
            self._data_path,
            self._languages,
            ("device", self.device_menu),
            ("epochs", self.epochs_edit),
            ("patience", self.patience_edit),
            ("seed", self.seed_edit),
            self.probe_edit,
            ("folder", self.folder_button),
            self._folder_path,
            self.note,
        )
        for number, content in enumerate(rows):
            if isinstance(content, tuple):
                add_row(grid, number, *content)
            elif isinstance(content, QWidget):
                grid.addWidget(content, number, 0, 1, 2)
            else:
                grid.addLayout(content, number, 0, 1, 2)
        column_of(grid, within=self)

    def _show_choices(self) -> None:
        choices = self._choices
        self.preset_menu.show_choice(choices.preset)
        self._description.setText(preset(choices.preset).description)
        self._show_settings()
        kinds = [("copy", _COPY_LABEL)] if choices.is_copy_task else [(kind, _DATA_LABELS[kind]) for kind in DATA_KINDS]
        self.data_menu.set_entries(_entries(kinds))
        self.data_menu.show_choice("copy" if choices.is_copy_task else choices.data_kind)
        if choices.is_copy_task:
            hint = "random sequences of symbols; nothing to download"
        else:
            hint = _DATA_HINTS[choices.data_kind] or with_tilde(Path(choices.data_path))
        self._data_path.setText(hint)
        self.device_menu.show_choice(choices.device)
        if self.probe_edit.text() != choices.probe:
            self.probe_edit.setText(choices.probe)
        for edit, names in self._edits().items():
            show_setting(edit, choices, *names)
        self._languages.setVisible(choices.has_languages)
        self.refresh_folder()
        self._show_note()

    def _show_note(self) -> None:
        """What a person should know before the run is started."""
        try:
            text = schedule_note(self._choices.run_config(), self._choices.source())
        except AugenmerkError:  # a number is wrong, or no folder was chosen: that is said elsewhere
            text = ""
        self.note.setText(text)
        self.note.setVisible(bool(text))

    def _show_settings(self) -> None:
        """The settings in short; the last ones that fitted together."""
        is_noam = rate_name(self._choices) == "training.noam_factor"
        self._rate_name.setText("rate ×" if is_noam else "rate")
        try:
            run = self._choices.run_config()
        except ConfigError:
            if self._settings.has_rows:
                return
            run = preset(self._choices.preset)
        feed_forward = ("feed-forward", f"{run.model.feed_forward_width:,}")
        self._settings.show_rows([feed_forward, *key_settings(run)[NUM_EDITABLE_ROWS:]])

    def _change(self, **changes: object) -> None:
        self._choices = replace(self._choices, **changes)  # type: ignore[arg-type]
        self._show_choices()
        self.changed.emit()

    def _on_preset(self, name: str) -> None:
        self._choices = self._choices.with_preset(name)
        self._change()

    def _on_data(self, key: str) -> None:
        if key == "folder":
            path = QFileDialog.getExistingDirectory(
                self, "A folder with train.de, train.en, val.de, val.en, or in other languages"
            )
        elif key == "file":
            path, _ = QFileDialog.getOpenFileName(self, "A file made by “augenmerk data prepare”")
        else:
            path = self._choices.data_path
        if key in ("folder", "file") and not path:  # the dialog was cancelled
            self._show_choices()
        elif key in _DATA_LABELS:
            self._change(data_kind=key, data_path=path)

    def _on_folder(self) -> None:
        start = self._choices.parent_folder
        path = QFileDialog.getExistingDirectory(self, "Folder for runs", str(start if start.is_dir() else Path.home()))
        if path:
            self._change(parent_folder=Path(path))


class NumberTable(QWidget):
    """Names at the left, values at the right."""

    def __init__(self, role: str) -> None:
        """`role`: of the values, see `viz_app.theme`; small values have small names."""
        super().__init__()
        self._roles = ("small", "small") if role == "small" else ("muted", role)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)
        self._names: dict[str, QLabel] = {}
        self._values: dict[str, ElidingLabel] = {}
        self._rows: dict[str, int] = {}

    @property
    def has_rows(self) -> bool:
        """Whether anything was shown yet."""
        return bool(self._values)

    def show_rows(self, rows: list[tuple[str, str]]) -> None:
        """Shows (name, value) pairs from top to bottom; the rows of names that are missing are hidden."""
        for name in self._values.keys() - {name for name, _ in rows}:
            self._set_shown(name, False)
        for row, (name, value) in enumerate(rows):
            if name not in self._values:
                self._add(name)
            self._put(row, name)
            self._set_shown(name, True)
            self._values[name].setText(value)

    def _add(self, name: str) -> None:
        shown, value = label(self._roles[0], name), ElidingLabel(self._roles[1])
        value.setAccessibleName(name)
        value.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._names[name], self._values[name] = shown, value

    def _put(self, row: int, name: str) -> None:
        """Moves a name to another row if rows above it were added or removed."""
        if self._rows.get(name) == row:
            return
        self._rows[name] = row
        for column, widget in enumerate((self._names[name], self._values[name])):
            self._grid.removeWidget(widget)
            self._grid.addWidget(widget, row, column)

    def _set_shown(self, name: str, is_shown: bool) -> None:
        self._names[name].setVisible(is_shown)
        self._values[name].setVisible(is_shown)


def add_row(grid: QGridLayout, row: int, name: str, control: QWidget) -> None:
    """Adds a name at the left and its control at the right."""
    text = label("muted", name)
    text.setBuddy(control)
    grid.addWidget(text, row, 0)
    grid.addWidget(control, row, 1, Qt.AlignmentFlag.AlignRight)


def value_menu(name: str, options: Sequence[tuple[str, str]] = ()) -> ChoiceMenu:
    """A menu of values, with the keys of a form."""
    menu = ChoiceMenu("", _entries(options), has_arrow_keys=True)
    menu.setProperty("role", "value")
    menu.setAccessibleName(name)
    menu.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    menu.setCursor(Qt.CursorShape.PointingHandCursor)
    menu.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    return menu


def device_entries(options: Sequence[DeviceOption]) -> dict[str, tuple[str, str]]:
    """The devices as entries of a `ChoiceMenu`."""
    return _entries([(option.name, option.label) for option in options])


def _entries(options: Sequence[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """The entries of a `ChoiceMenu`, from keys and labels."""
    return {key: (text, text) for key, text in options}


def show_setting(edit: QLineEdit, choices: RunChoices, *names: str) -> None:
    """Shows what was typed for these settings in one field, with the preset's value as its placeholder.

    Settings that were typed differently are shown as the placeholder, joined.
    """
    typed, described = {choices.text(name) for name in names}, dotted_settings()[names[0]]
    if edit.text() not in typed or len(typed) > 1:
        edit.setText(typed.pop() if len(typed) == 1 else "")
    values = list(dict.fromkeys(choices.text(name) or choices.preset_text(name) for name in names))
    edit.setPlaceholderText(" + ".join(values) if len(values) > 1 else choices.preset_text(names[0]))
    edit.setToolTip(f"{described.description} Empty: the preset's value. Enter {described.expected}.")


def _short_edit(name: str) -> QLineEdit:
    edit = number_edit(name)
    scales(edit.setFixedWidth, SHORT_EDIT_PX)
    return edit


def number_edit(name: str) -> QLineEdit:
    """A field for a number."""
    edit = QLineEdit()
    edit.setAccessibleName(name)
    edit.setAlignment(Qt.AlignmentFlag.AlignRight)
    scales(edit.setFixedWidth, 96)
    return edit
