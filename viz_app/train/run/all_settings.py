"""Every setting of a run as a form, generated from the declarations in `core.config`."""

from collections.abc import Callable

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QLineEdit, QWidget

from augenmerk.core.config.presets import PARTS, dotted_settings
from augenmerk.core.config.settings import Setting
from augenmerk.core.errors import ConfigError
from augenmerk.viz_app.theme import PANEL_MARGIN, scales, set_role
from augenmerk.viz_app.train.run.choices import RunChoices
from augenmerk.viz_app.train.run.form import RunForm, number_edit, show_setting, value_menu
from augenmerk.viz_app.widgets.buttons import ChoiceMenu, flat_button
from augenmerk.viz_app.widgets.labels import ElidingLabel, label
from augenmerk.viz_app.widgets.layouts import VerticalScrollArea, column_of, row_of

NAME_PX, CONTROL_PX = 190, 130
Edit = Callable[[str, str], None]


class AllSettings(QFrame):
    """Shows and edits the settings in the choices of a `RunForm`; both can be edited next to each other.

    Attributes:
        rows: the settings by dotted name.
        filter_edit: shows only the settings that contain this text.
        restore_button: resets all settings to the preset.
        close_button: hides all settings.
        problem: why the settings do not fit together, on a line of its own, so that no row moves.
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
        self.rows = {name: SettingRow(name, each, form.edit_settings) for name, each in dotted_settings().items()}
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
                problem = str(error)
        self.problem.setText(problem)

    def _filter(self, text: str) -> None:
        wanted = text.casefold().split()
        for part, heading in self._headings.items():
            are_shown = [row.show_if_found(wanted) for name, row in self.rows.items() if name.startswith(f"{part}.")]
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
            parts += [heading, *(each for name, each in self.rows.items() if name.startswith(f"{part}."))]
        content = QWidget()
        column_of(*parts, 1, spacing=10, margins=(0, 0, 12, 0), within=content)
        content.setProperty("role", "transparent")
        margins = PANEL_MARGIN, PANEL_MARGIN - 4, 4, PANEL_MARGIN
        column_of(top, (VerticalScrollArea(content, takes_keys=True), 1), spacing=8, margins=margins, within=self)


class SettingRow(QWidget):
    """The widgets of one setting.

    Attributes:
        control: a check box, a menu or a field, by the type of the setting.
        restore_button: shown where the setting differs from the preset.
        problem: what to enter instead of the typed text, to the right of it.
    """

    def __init__(self, dotted: str, setting: Setting, edit: Edit) -> None:
        super().__init__()
        self.setProperty("role", "form")
        self._dotted = dotted
        self._shown: tuple[object, ...] = ()
        self.name = label("number", f"{setting.name} ({setting.unit})" if setting.unit else setting.name, wraps=True)
        self.name.setToolTip(dotted)
        self.control: QCheckBox | ChoiceMenu | QLineEdit
        if bool in setting.kinds:
            self.control = QCheckBox()
            self.control.clicked.connect(lambda is_on: edit(setting.write(is_on), dotted))
        elif setting.choices:
            self.control = value_menu(setting.name, [(each, each) for each in setting.choices])
            self.control.chosen.connect(lambda choice: edit(choice, dotted))
        else:
            self.control = number_edit(setting.name)
            scales(self.control.setFixedWidth, CONTROL_PX)
            self.control.textEdited.connect(lambda text: edit(text, dotted))
        self.control.setAccessibleName(setting.name)
        self.control.setAccessibleDescription(setting.description)
        self.name.setBuddy(self.control)
        self.restore_button = flat_button("", "")
        policy = self.restore_button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # it is higher than a field
        self.restore_button.setSizePolicy(policy)
        self.restore_button.setAccessibleName(f"restore {setting.name}")
        self.restore_button.clicked.connect(lambda: edit("", dotted))
        expected = f"{setting.expected[:1].upper()}{setting.expected[1:]}."
        self.problem = ElidingLabel("warm", f"Enter {setting.expected}.\n{expected}")
        self._text = label("small", wraps=True)
        limits = "" if setting.choices or bool in setting.kinds else f" {expected}"
        self._text.setText(setting.description + limits)
        self._lay_out()

    def show_choices(self, choices: RunChoices) -> None:
        """Shows the value, whether it differs from the preset, and why it is refused."""
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

    def show_if_found(self, wanted: list[str]) -> bool:
        """Shows the row if it contains all these words; returns whether it does."""
        text = f"{self._dotted} {self.name.text()} {self._text.text()}".casefold()
        is_found = all(word in text for word in wanted)
        self.setVisible(is_found)
        return is_found

    def _lay_out(self) -> None:
        scales(self.name.setFixedWidth, NAME_PX)
        first = row_of(self.name, self.control, self.restore_button, self.problem, 1, spacing=8)
        column_of(first, self._text, spacing=2, within=self)
