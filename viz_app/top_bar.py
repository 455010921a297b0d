"""The bar at the top of the window: name, pages, status, model and device."""

from typing import Protocol

from PySide6.QtCore import QEvent, QSize, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from augenmerk.viz_app.models.model_button import ModelButton
from augenmerk.viz_app.theme import PAGE_MARGIN, THEME_CHOICES, ThemeChoice, scaled, scales
from augenmerk.viz_app.widgets.eliding_label import ElidingLabel
from augenmerk.viz_app.widgets.menu_button import MenuButton

PAGES = ("Translate", "Learn", "Train")
NOTICE_MS, NARROW = 5_000, 880
THEME_NAMES: dict[ThemeChoice, str] = {"system": "Same as the system", "light": "Light", "dark": "Dark"}


class MenuFiller(Protocol):
    """Whoever has entries for a menu."""

    def fill_menu(self, menu: QMenu) -> None:
        """Adds them."""
        ...


class TopBar(QWidget):
    """Tabs at the left, model and device at the right.

    Attributes:
        tabs: one button for each page.
        model_button: the model in use; its menu opens another.
        status, device: of the training; where the model runs and why.

    Signals:
        page_chosen(int)
        theme_chosen(str)
        presentation_requested(), full_screen_requested()
        scale_stepped(int): the interface is to be a step larger, or smaller if negative.
        usual_scale_requested()
        explanation_requested(), keys_requested(), palette_requested()
        about_requested(), quit_requested()
    """

    page_chosen = Signal(int)
    theme_chosen = Signal(str)
    presentation_requested = Signal()
    full_screen_requested = Signal()
    scale_stepped = Signal(int)
    usual_scale_requested = Signal()
    explanation_requested = Signal()
    keys_requested = Signal()
    palette_requested = Signal()
    about_requested = Signal()
    quit_requested = Signal()

    def __init__(self, theme_choice: ThemeChoice, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tabs = [self._tab(index, name) for index, name in enumerate(PAGES)]
        self.status, self.device = ElidingLabel("accent"), ElidingLabel("muted")
        self._status_text = ""
        self._notice_timer = QTimer(self, singleShot=True)
        self._notice_timer.timeout.connect(lambda: self.status.setText(self._status_text))
        self.model_button = ModelButton()
        self.menu_button = MenuButton("☰", "Experiments, lessons, export, colours, size, presentation, about, quit")
        self.menu_button.setMenu(self._make_menu(theme_choice))
        self._lay_out()

    def show_page(self, index: int) -> None:
        """Checks a tab; no signal."""
        self.tabs[index].setChecked(True)

    def show_model(self, summary: str, device: str) -> None:
        """Names the model and the device."""
        self.model_button.show_name(summary)
        self.show_device(device)

    def show_device(self, device: str) -> None:
        """Names the device; where the bar is too narrow for it, it stands in the tool tip of the model alone."""
        self.device.setText(device)
        self.model_button.set_device(device)

    def show_status(self, text: str) -> None:
        """The status of a training; empty if there is none."""
        self._status_text = text
        if not self._notice_timer.isActive():
            self.status.setText(text)

    def show_notice(self, text: str) -> None:
        """Shows a message for some seconds, then the status again."""
        self.status.setText(text)
        self._notice_timer.start(NOTICE_MS)

    def offer_export(self, menu: QMenu) -> None:
        """Adds the export menu to the window's menu."""
        window_menu = self.menu_button.menu()
        first = window_menu.actions()[0]
        window_menu.insertMenu(first, menu)
        window_menu.insertSeparator(first)

    def _tab(self, index: int, name: str) -> QToolButton:
        tab = QToolButton()
        tab.setText(name)
        tab.setCheckable(True)
        tab.setProperty("role", "tab")
        tab.setToolTip(f"{name} (Ctrl+{index + 1})")
        tab.clicked.connect(lambda: self.page_chosen.emit(index))
        return tab

    def offer_experiments(self, experiments: MenuFiller, lessons: QMenu) -> None:
        """Puts what can be done with the current experiment, and the menu of lessons, into the window's menu."""
        menu = QMenu("Experiment", self.menu_button)
        experiments.fill_menu(menu)
        window_menu = self.menu_button.menu()
        first = window_menu.actions()[0]
        window_menu.insertMenu(first, menu)
        window_menu.insertMenu(first, lessons)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrow bar leaves the name to the window's title, and the sizes of the model to its tool tip."""
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """Another text, or larger letters: what fits is another."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return done

    def minimumSizeHint(self) -> QSize:
        """That of a narrow bar."""
        hint = super().minimumSizeHint()
        if self._name.isHidden():
            return hint
        return hint - QSize(self._name.sizeHint().width() + self.model_button.saved_if_brief(), 0)

    def _fit(self) -> None:
        """Leaves out what the tool tip of the model has too, where not all fits: the device, then the sizes.

        What fits is computed from widths alone, whatever is left out now: so the layout that follows changes nothing.
        """
        is_narrow = self.width() < scaled(NARROW)
        row = self.layout()
        assert row is not None
        if self._name.isHidden() != is_narrow:
            self._name.setVisible(not is_narrow)
            row.invalidate()  # it still has the width from before; each time would ask for a layout for ever
        hidden_device = self.device.sizeHint().width() + row.spacing() if self.device.isHidden() else 0
        whole_width = row.sizeHint().width() + hidden_device + self.model_button.saved_now()
        width_without_device = whole_width - self.device.sizeHint().width() - row.spacing()
        self.device.setVisible(whole_width <= self.width())
        self.model_button.set_brief(is_narrow or width_without_device > self.width())

    def _make_menu(self, theme_choice: ThemeChoice) -> QMenu:
        menu = QMenu(self.menu_button)
        menu.addAction("Colours").setEnabled(False)
        group = QActionGroup(menu)
        for choice in THEME_CHOICES:
            action = QAction(THEME_NAMES[choice], group, checkable=True, checked=choice == theme_choice)
            action.triggered.connect(lambda _=False, chosen=choice: self.theme_chosen.emit(chosen))
            menu.addAction(action)
        menu.addSeparator()
        menu.addAction("Presentation\tF5").triggered.connect(self.presentation_requested)
        menu.addAction("Full screen\tF11").triggered.connect(self.full_screen_requested)
        menu.addAction("Larger\tCtrl++").triggered.connect(lambda: self.scale_stepped.emit(1))
        menu.addAction("Smaller\tCtrl+-").triggered.connect(lambda: self.scale_stepped.emit(-1))
        menu.addAction("100%\tCtrl+0").triggered.connect(self.usual_scale_requested)
        menu.addSeparator()
        menu.addAction("What is this?\tF1").triggered.connect(self.explanation_requested)
        menu.addAction("All keys\t?").triggered.connect(self.keys_requested)
        menu.addAction("Commands\tCtrl+K").triggered.connect(self.palette_requested)
        menu.addSeparator()
        menu.addAction("About Augenmerk").triggered.connect(self.about_requested)
        menu.addAction("Quit").triggered.connect(self.quit_requested)
        return menu

    def _lay_out(self) -> None:
        name = self._name = QLabel("Augenmerk")
        name.setProperty("role", "title")
        scales(name.setContentsMargins, 0, 0, 22, 0)  # hidden with it
        row = QHBoxLayout(self)
        scales(row.setContentsMargins, PAGE_MARGIN, 8, PAGE_MARGIN - 6, 8)
        scales(row.setSpacing, 4)
        row.addWidget(name)
        group = QButtonGroup(self)
        for tab in self.tabs:
            group.addButton(tab)
            row.addWidget(tab)
        self.tabs[0].setChecked(True)
        row.addStretch(1)
        row.addWidget(self.status)
        row.addSpacing(14)
        row.addWidget(self.model_button)
        row.addSpacing(10)
        row.addWidget(self.device)
        row.addSpacing(10)
        row.addWidget(self.menu_button)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
