"""The list of chapters on the left of the Learn page, with the language menu."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QPushButton

from augenmerk.core.text.languages import language_name
from augenmerk.viz_app.learn.chapter import Chapter, languages
from augenmerk.viz_app.theme import scaled
from augenmerk.viz_app.widgets.buttons import ChoiceMenu
from augenmerk.viz_app.widgets.layouts import column_of

WIDTH, NARROW_WIDTH = 238, 50


class ChapterList(QFrame):
    """A button for each chapter; a narrow list shows only numbers.

    Attributes:
        buttons: in the order of the chapters.
        language_menu: the language of the texts; hidden while there is only one.

    Signals:
        chosen(int): a chapter was clicked, counted from 0.
    """

    chosen = Signal(int)

    def __init__(self, chapters: Sequence[Chapter], language: str) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        known = {code: (code.upper(), language_name(code)) for code in languages()}
        self.language_menu = ChoiceMenu("The language of the texts", known)
        self.language_menu.setVisible(len(known) > 1)
        self._is_narrow = False
        self._group = QButtonGroup(self)
        self.buttons: list[QPushButton] = []
        for place in range(len(chapters)):
            button = QPushButton()
            button.setCheckable(True)
            button.setProperty("role", "chapter")
            button.clicked.connect(partial(self.chosen.emit, place))
            self._group.addButton(button)
            self.buttons.append(button)
        menu = (self.language_menu, 0, Qt.AlignmentFlag.AlignHCenter)
        column_of(*self.buttons, 1, menu, spacing=2, margins=(6, 8, 6, 8), within=self)
        self.show_chapters(chapters, language)

    def show_chapters(self, chapters: Sequence[Chapter], language: str) -> None:
        """Shows the titles of the same chapters in another language."""
        self._chapters = chapters
        self.language_menu.show_choice(language)
        self._name_buttons()

    def show_place(self, place: int) -> None:
        """Marks the open chapter."""
        self.buttons[place].setChecked(True)

    def set_narrow(self, is_narrow: bool) -> None:
        """Shows only numbers, or titles too."""
        self._is_narrow = is_narrow
        self.setFixedWidth(scaled(NARROW_WIDTH if is_narrow else WIDTH))
        self._name_buttons()

    def _name_buttons(self) -> None:
        for number, (button, chapter) in enumerate(zip(self.buttons, self._chapters, strict=True), start=1):
            button.setText(str(number) if self._is_narrow else f"{number}  {chapter.title}")
            button.setToolTip(chapter.title)
