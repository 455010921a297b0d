"""The forms of a new run: preset, key settings, data, device, probe sentence and folder; and one of
all settings.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QFrame,
    QGridLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from augenmerk.core.config.run_config import PARTS
from augenmerk.core.config.settings import Setting
from augenmerk.core.counting import display_text
from augenmerk.core.errors import AugenmerkError, ConfigError
from augenmerk.core.extensions.run_settings.dotted import dotted_settings
from augenmerk.core.extensions.run_settings.presets import PRESETS, preset
from augenmerk.core.extensions.training.duration import Speed
from augenmerk.core.storage import is_folder

from ....theme import PANEL_MARGIN, scales, set_role
from ....widgets.buttons import ChoiceMenu, flat_button
from ....widgets.labels import ElidingLabel, label
from ....widgets.layouts import VerticalScrollArea, column_of, keep_room, row_of
from ...widgets.max_lines_label import MaxLinesLabel
from ...widgets.one_line_edit import one_line_edit
from ...widgets.steady import SteadyLabel, SteadyWidthLabel
from .choices import (
    BEGINNERS_PRESET,
    RunChoices,
    estimated_duration,
    key_settings,
    new_run_folder,
    rate_name,
    schedule_note,
    with_tilde,
)

_DATA_LABELS = {
    "multi30k": "Multi30k",
    "folder": "a folder of parallel files…",
    "file": "a file of pairs…",
}
_COPY_LABEL = "copy task (random data)"
DEFAULT_DEVICES = {"auto": "auto", "cpu": "cpu"}
"""Offered until the devices of this machine are known."""
NUM_EDITABLE_ROWS = 2
"""The first rows of `key_settings` are layers and width, which the form has fields for."""
SHORT_EDIT_PX = 64
NUM_PATH_LINES, NUM_NOTE_LINES = 3, 5
"""Of the folder and of the note below the form, which always have this room. Most can be read whole
then."""
NUM_DATA_LINES = 2
"""Of the path of the data, beside the languages."""
RATE_NAMES = "rate", "rate factor"
NAME_PX, CONTROL_PX = 190, 130
Edit = Callable[[str, str], None]


class RunForm(QWidget):
    """Shows and edits `RunChoices`.

    Attributes:
        settings_button: whether all settings are shown, too.
        note: about the schedule of the run, below all fields.
        note_summary: what the note says, in a line.

    Signals:
        changed(): a choice changed.
    """

    changed = Signal()

    def __init__(self, choices: RunChoices) -> None:
        super().__init__()
        self._choices = choices
        self._speeds: Mapping[str, Speed] | None = {}
        self.setProperty("role", "form")
        self.preset_menu = value_menu("preset")
        self.data_menu = value_menu("data")
        self.device_menu = value_menu("device")
        self.epochs_edit = number_edit("epochs")
        self.patience_edit = number_edit("patience")
        self.seed_edit = number_edit("seed")
        self.probe_edit = one_line_edit(
            "film sentence",
            "The probe sentence, for the film of attention: it is translated at each validation, "
            "and the maps of every head are saved. Empty: one of the validation sentences.",
            "film: a validation sentence",
        )
        self.layers_edit = _short_edit("layers")
        self.width_edit = _short_edit("width")
        self.heads_edit = _short_edit("heads")
        self.rate_edit = _short_edit("rate")
        self.source_language_edit = _short_edit("source language")
        self.target_language_edit = _short_edit("target language")
        self.settings_button = flat_button(
            "All settings…", "Shows every setting of a run, with its description"
        )
        self.settings_button.setCheckable(True)
        set_role(self.settings_button, "value")
        self._rate_name = SteadyWidthLabel("muted", RATE_NAMES)
        self._rate_name.setBuddy(self.rate_edit)
        self.folder_button = QToolButton(self)
        self.folder_button.setText("Save to…")
        self.folder_button.setAccessibleName("choose the folder for runs")
        set_role(self.folder_button, "value")
        self._description = SteadyLabel("small", (preset(name).description for name in PRESETS))
        self._note = MaxLinesLabel("warm", NUM_NOTE_LINES)
        self._note.keeps_height = True
        self.note = self._note.label
        self.note_summary = ""
        self._languages = QWidget()
        self._settings = NamedValues("small")
        self._data_path = SteadyPath(NUM_DATA_LINES)
        self._folder_path = SteadyPath(NUM_PATH_LINES)
        self._lay_out()
        self.set_devices(DEFAULT_DEVICES)
        self._show_choices()
        self._connect()

    def choices(self) -> RunChoices:
        """The values in the form."""
        return self._choices

    def set_choices(self, choices: RunChoices) -> None:
        """Fills in the form, and reports it."""
        self._choices = choices
        self._show_choices()
        self.changed.emit()

    def edit_settings(self, text: str, *names: str) -> None:
        """Takes over the typed values of these settings; an empty text restores the preset's
        values.
        """
        self.set_choices(self._choices.with_settings(text, *names))

    def restore_all(self) -> None:
        """Resets all settings to the preset."""
        self._change(settings={})

    def set_devices(self, labels: Mapping[str, str]) -> None:
        """Offers devices, by name.

        The chosen one stays even if it is missing: starting reports what is available.
        """
        self.device_menu.set_entries(entries_of(labels))
        self.device_menu.show_choice(self._choices.device)

    def set_speeds(self, speeds: Mapping[str, Speed] | None) -> None:
        """Shows durations on devices of these speeds; None while they are measured."""
        self._speeds = speeds
        self._change()

    @property
    def duration(self) -> str:
        """A rough duration of the run, such as "about 1 minute"; empty if unknown."""
        return estimated_duration(self._choices, self._speeds)

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
            edit.textEdited.connect(
                lambda text, edit=edit: self.edit_settings(text, *self._edits()[edit])
            )
        self.folder_button.clicked.connect(self._on_folder)

    def _lay_out(self) -> None:
        languages = self.source_language_edit, label("muted", "→"), self.target_language_edit
        row_of(*languages, spacing=4, within=self._languages)
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
        for index, (name, edit) in enumerate(pairs):
            name.setBuddy(edit)
            numbers.addWidget(name, index // 2, index % 2 * 3)
            numbers.addWidget(edit, index // 2, index % 2 * 3 + 1)
        column_of(
            form_row("preset", self.preset_menu),
            self._description,
            numbers,
            self._settings,
            row_of(1, self.settings_button),
            form_row("data", self.data_menu),
            row_of((self._data_path, 1), self._languages, spacing=8),
            form_row("device", self.device_menu),
            form_row("epochs", self.epochs_edit),
            form_row("patience", self.patience_edit),
            form_row("seed", self.seed_edit),
            self.probe_edit,
            form_row("folder", self.folder_button),
            self._folder_path,
            self._note,
            spacing=4,
            within=self,
        )

    def _show_choices(self) -> None:
        choices = self._choices
        self.preset_menu.set_entries(self._presets())
        self.preset_menu.show_choice(choices.preset)
        self._description.setText(preset(choices.preset).description)
        self._show_settings()
        self.data_menu.set_entries(
            entries_of({"copy": _COPY_LABEL} if choices.is_copy_task else _DATA_LABELS)
        )
        self.data_menu.show_choice("copy" if choices.is_copy_task else choices.data_kind)
        if choices.is_copy_task:
            self._data_path.setText("random sequences of symbols; nothing to download")
        elif choices.data_kind == "multi30k":
            self._data_path.setText("29,000 captions, downloaded once")
        else:
            self._data_path.setText(with_tilde(Path(choices.data_path)))
        self.device_menu.show_choice(choices.device)
        if self.probe_edit.text() != choices.probe:
            self.probe_edit.setText(choices.probe)
        for edit, names in self._edits().items():
            show_setting(edit, choices, *names)
        self._languages.setVisible(choices.has_languages)
        self.refresh_folder()
        self._show_note()

    def _presets(self) -> dict[str, tuple[str, str]]:
        """The entries of the menu of presets, with the duration of each on its own data."""
        entries = {}
        for name in sorted(PRESETS, key=lambda name: name != BEGINNERS_PRESET):
            own = replace(self._choices, preset=name, data_kind="multi30k", settings={})
            duration = estimated_duration(own, self._speeds)
            entries[name] = name, f"{name} · {duration}" if duration else name
        return entries

    def _show_note(self) -> None:
        """Shows a note about the schedule of this run."""
        try:
            text, summary = schedule_note(self._choices.run_config(), self._choices.source())
        except AugenmerkError:  # a wrong number or a missing folder is reported elsewhere
            text = summary = ""
        self.note_summary = summary
        self._note.set_text(text)

    def _show_settings(self) -> None:
        """The settings in short; the last ones that fitted together."""
        is_noam = rate_name(self._choices) == "training.noam_factor"
        self._rate_name.setText(RATE_NAMES[is_noam])
        try:
            run = self._choices.run_config()
        except ConfigError:
            if self._settings.has_rows:
                return
            run = preset(self._choices.preset)
        feed_forward = ("feed-forward", f"{run.model.feed_forward_width:,}")
        self._settings.show_rows([feed_forward, *key_settings(run)[NUM_EDITABLE_ROWS:]])

    def _change(self, **changes: object) -> None:
        self.set_choices(replace(self._choices, **changes))  # type: ignore[arg-type]

    def _on_preset(self, name: str) -> None:
        self.set_choices(self._choices.with_preset(name))

    def _on_data(self, key: str) -> None:
        if key == "folder":
            path = QFileDialog.getExistingDirectory(
                self, "A folder of sentence pairs (train.de, train.en, …)"
            )
        elif key == "file":
            path, _ = QFileDialog.getOpenFileName(self, "A file of sentence pairs")
        else:
            path = self._choices.data_path
        if key in ("folder", "file") and not path:  # the dialog was cancelled
            self._show_choices()
        elif key in _DATA_LABELS:
            self._change(data_kind=key, data_path=path)

    def _on_folder(self) -> None:
        start = self._choices.parent_folder
        path = QFileDialog.getExistingDirectory(
            self, "Folder for runs", str(start if is_folder(start) else Path.home())
        )
        if path:
            self._change(parent_folder=Path(path))


class SteadyPath(ElidingLabel):
    """A path that always has room for so many lines."""

    def __init__(self, num_lines: int) -> None:
        super().__init__("small", elide=Qt.TextElideMode.ElideMiddle)
        self._num_lines = num_lines
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.set_max_lines(num_lines)

    def heightForWidth(self, _width: int) -> int:
        margins = self.contentsMargins()
        height = self._num_lines * self.fontMetrics().lineSpacing()
        return height + margins.top() + margins.bottom()


class NamedValues(QWidget):
    """Names at the left, values at the right."""

    def __init__(self, role: str) -> None:
        """`role`: of the values, see `viz_app.theme`; small values have small names."""
        super().__init__()
        self._roles = ("small", "small") if role == "small" else ("muted", role)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnStretch(1, 1)
        self._rows: list[tuple[QLabel, ElidingLabel]] = []

    @property
    def has_rows(self) -> bool:
        """Whether anything was shown yet."""
        return bool(self._rows)

    def show_rows(self, rows: list[tuple[str, str]]) -> None:
        """Shows (name, value) pairs from top to bottom."""
        while len(self._rows) < len(rows):
            shown, value = label(self._roles[0]), ElidingLabel(self._roles[1])
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            self._grid.addWidget(shown, len(self._rows), 0)
            self._grid.addWidget(value, len(self._rows), 1)
            self._rows.append((shown, value))
        for (shown, value), row in zip_longest(self._rows, rows):
            shown.setVisible(row is not None)
            value.setVisible(row is not None)
            if row is not None:
                shown.setText(row[0])
                value.setText(row[1])
                value.setAccessibleName(row[0])


class AllSettings(QFrame):
    """Shows and edits the settings in the choices of a `RunForm`; both can be edited next to each
    other.

    Attributes:
        rows: the settings by dotted name.
        filter_edit: shows only the settings that contain this text.
        restore_button: resets all settings to the preset.
        close_button: hides all settings.
        problem: the reason why the settings do not fit together, on a line of its own, so that no
            row moves.
    """

    def __init__(self, form: RunForm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "panel")
        self._form = form
        self.filter_edit = QLineEdit()
        self.filter_edit.setPlaceholderText("Find a setting")
        self.filter_edit.setAccessibleName("find a setting")
        self.filter_edit.setClearButtonEnabled(True)
        self.restore_button = flat_button("", "Reset all settings to the preset")
        self.close_button = flat_button("Close", "Hides all settings. Edited settings stay.")
        self.problem = ElidingLabel("warm")
        self._headings = {part: label("heading") for part in PARTS}
        self.rows = {
            name: SettingRow(name, setting, form.edit_settings)
            for name, setting in dotted_settings().items()
        }
        self._lay_out()
        self.filter_edit.textChanged.connect(self._filter)
        self.restore_button.clicked.connect(form.restore_all)
        self.close_button.clicked.connect(lambda: form.settings_button.setChecked(False))
        form.settings_button.toggled.connect(lambda _is_opened: self.filter_edit.clear())
        form.changed.connect(self._show_choices)
        self._show_choices()

    def showEvent(self, event: QShowEvent) -> None:
        """Typing finds a setting."""
        super().showEvent(event)
        if not event.spontaneous():
            self.filter_edit.setFocus()

    def _show_choices(self) -> None:
        choices = self._form.choices()
        for row in self.rows.values():
            row.show_choices(choices)
        num = len(choices.differences())
        self.restore_button.setText(f"Restore all ({num})")
        self.restore_button.setEnabled(num > 0)
        problem = ""
        if not any(choices.problem(name) for name in self.rows):
            try:
                choices.run_config()
            except ConfigError as error:
                problem = display_text(error)
        self.problem.setText(problem)

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        for part, heading in self._headings.items():
            are_shown = [
                row.show_if_found(words)
                for name, row in self.rows.items()
                if name.startswith(f"{part}.")
            ]
            heading.setVisible(any(are_shown))

    def _lay_out(self) -> None:
        top = QWidget()
        top.setProperty("role", "form")
        buttons = self.restore_button, self.close_button
        head = row_of(label("heading", "All settings"), (self.filter_edit, 1), *buttons, spacing=8)
        column_of(head, self.problem, spacing=4, margins=(0, 0, 12, 0), within=top)
        parts: list[QWidget] = []
        for part, heading in self._headings.items():
            heading.setText(part.capitalize())
            parts += [
                heading,
                *(row for name, row in self.rows.items() if name.startswith(f"{part}.")),
            ]
        content = QWidget()
        column_of(*parts, 1, spacing=10, margins=(0, 0, 12, 0), within=content)
        content.setProperty("role", "transparent")
        margins = PANEL_MARGIN, PANEL_MARGIN - 4, 4, PANEL_MARGIN
        column_of(
            top,
            (VerticalScrollArea(content, self, takes_keys=True), 1),
            spacing=8,
            margins=margins,
            within=self,
        )


class SettingRow(QWidget):
    """The widgets of one setting.

    Attributes:
        control: a check box, a menu or a field, by the type of the setting.
        restore_button: shown where the setting differs from the preset.
        problem: advice on a refused text, to the right of it.
    """

    def __init__(self, dotted: str, setting: Setting, edit: Edit) -> None:
        super().__init__()
        self.setProperty("role", "form")
        self._dotted = dotted
        self._shown: tuple[object, ...] = ()
        self.name = label(
            "number",
            f"{setting.name} ({setting.unit})" if setting.unit else setting.name,
            wraps=True,
        )
        self.name.setToolTip(dotted)
        self.control: QCheckBox | ChoiceMenu | QLineEdit
        if bool in setting.kinds:
            self.control = QCheckBox()
            self.control.clicked.connect(lambda is_on: edit(setting.write(is_on), dotted))
        elif setting.choices:
            self.control = value_menu(setting.name, setting.choices)
            self.control.chosen.connect(lambda choice: edit(choice, dotted))
        else:
            self.control = number_edit(setting.name)
            scales(self.control.setFixedWidth, CONTROL_PX)
            self.control.textEdited.connect(lambda text: edit(text, dotted))
        self.control.setAccessibleName(setting.name)
        self.control.setAccessibleDescription(setting.description)
        self.name.setBuddy(self.control)
        self.restore_button = flat_button("", "")
        keep_room(self.restore_button)  # it is higher than a field
        self.restore_button.setAccessibleName(f"restore {setting.name}")
        self.restore_button.clicked.connect(lambda: edit("", dotted))
        expected = f"{setting.expected[:1].upper()}{setting.expected[1:]}."
        self.problem = ElidingLabel("warm", f"Enter {setting.expected}.\n{expected}")
        limits = "" if setting.choices or bool in setting.kinds else f" {expected}"
        self._text = label("small", setting.description + limits, wraps=True)
        self._lay_out()

    def show_choices(self, choices: RunChoices) -> None:
        """Shows the value, any difference from the preset, and the reason for a refusal."""
        name, control = self._dotted, self.control
        original, is_settled = choices.preset_text(name), choices.is_settled(name)
        differs, problem = choices.differs(name), choices.problem(name)
        shown = choices.text(name), original, is_settled, differs, problem
        if shown == self._shown:
            return
        self._shown = shown
        if isinstance(control, QCheckBox):
            control.setChecked(choices.value(name))
        elif isinstance(control, ChoiceMenu):
            control.show_choice(choices.value(name))
        else:
            show_setting(control, choices, name)
        control.setEnabled(not is_settled)
        set_role(self.name, "warm" if differs else "number")
        self.restore_button.setText(f"↺ {original}")
        self.restore_button.setToolTip(f"Restore the preset's value: {original}")
        self.restore_button.setVisible(differs)
        self.problem.setVisible(bool(problem))

    def show_if_found(self, words: list[str]) -> bool:
        """Shows the row if it contains all these words; returns whether it does."""
        text = f"{self._dotted} {self.name.text()} {self._text.text()}".casefold()
        is_found = all(word in text for word in words)
        self.setVisible(is_found)
        return is_found

    def _lay_out(self) -> None:
        scales(self.name.setFixedWidth, NAME_PX)
        first = row_of(self.name, self.control, self.restore_button, self.problem, 1, spacing=8)
        column_of(first, self._text, spacing=2, within=self)


def form_row(name: str, control: QWidget) -> QWidget:
    """A name at the left and its control at the right."""
    text = label("muted", name)
    text.setBuddy(control)
    row = QWidget()
    row.setProperty("role", "form")
    row_of(text, 1, control, within=row)
    return row


def value_menu(name: str, options: Iterable[str] = ()) -> ChoiceMenu:
    """A menu of values, with the keys of a form."""
    menu = ChoiceMenu("", {option: (option, option) for option in options}, has_arrow_keys=True)
    menu.setProperty("role", "value")
    menu.setAccessibleName(name)
    menu.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    menu.setCursor(Qt.CursorShape.PointingHandCursor)
    menu.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    return menu


def entries_of(labels: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The entries of a `ChoiceMenu`, from keys and labels."""
    return {key: (text, text) for key, text in labels.items()}


def show_setting(edit: QLineEdit, choices: RunChoices, *names: str) -> None:
    """Shows the typed values of these settings in one field, with the preset's value as its
    placeholder.

    Settings that were typed differently are shown as the placeholder, joined.
    """
    typed = {choices.text(name) for name in names}
    described = dotted_settings()[names[0]]
    if edit.text() not in typed or len(typed) > 1:
        edit.setText(typed.pop() if len(typed) == 1 else "")
    values = list(dict.fromkeys(choices.text(name) or choices.preset_text(name) for name in names))
    edit.setPlaceholderText(
        " + ".join(values) if len(values) > 1 else choices.preset_text(names[0])
    )
    edit.setToolTip(
        f"{described.description} Empty: the preset's value. Enter {described.expected}."
    )


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
