"""The presentation: one view of the window, as large as the screen, for people who sit far away."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QLabel, QMainWindow, QWidget

from augenmerk.core.model.heads import Head

from ...pages import TRANSLATE
from ...state import map_text
from ...state.experiment_state import ExperimentState
from ...state.head_roles import role_name
from ...state.map_view_settings import on_redraw
from ...theme import Theme, current_theme, scaled
from ...views.commands import HEAD_COMMANDS, NEXT_MAPS
from ...views.sentence import BUSY, BUSY_DELAY_MS
from ...widgets.commands import BoundCommand, Command, run_by_key
from ...widgets.layouts import (
    ContentHeightScrollArea,
    PageStack,
    WindowScrollArea,
    column_of,
    row_of,
)
from ...window_part import WindowPart
from .borrowed import Borrowed
from .change_labels import ChangeLabels
from .pointer import POINTER_COMMANDS
from .texts import caption_with_pointer, marked_translation, scene_text, sentence_pair
from .window_before import WindowBefore

LINES_PER_SCREEN, LETTERS_PER_SCREEN = 40, 53
"""Text is at least this part of the screen's height; on a screen that is narrower than 4:3, of its
width.
"""
WORDS_LARGER = (1.7, 1.4, 1.2, 1.0)
"""Than body text: the first that leaves room for everything else."""
TEXTS_SHARE = 0.3
"""Of the width, for the texts next to a view about the sentence."""
CONTENT_SIZE, NARROW_CONTENT_SIZE = (810, 200), (300, 200)
"""The least of a view at 100%; a narrower one scrolls up and down."""
_OTHER_KEYS = "O off or on · D original, changed, difference · Esc back"
KEYS = f"Page Up, Page Down or ← → ↑ ↓ heads and layers · {_OTHER_KEYS}"
KEYS_OF_SCENES = f"← → or Page Up, Page Down scenes · Shift+← → heads · ↑ ↓ layers · {_OTHER_KEYS}"
KEYS_OF_OTHERS = "Ctrl and + or − larger or smaller · Ctrl+K present something else · Esc back"
SCENES_OF_OTHERS = f"Page Up, Page Down scenes · {KEYS_OF_OTHERS}"


@dataclass(frozen=True)
class Presentable:
    """A view of the window that can fill the screen.

    Attributes:
        name: unique, for the files of lessons.
        title: in "Present: …".
        open: shows the view in its place in the window, and returns its widget, which lies in a row
            or column.
        state: returns the experiment whose sentence, translation and changes are shown with the
            view; None for none. Called after `open`.
        caption: a text next to a view about the sentence, such as the name of the head; None for
            other views.
        keys: commands for keys that the view leaves.
        set_presented: called with True before the view fills the screen, and with False when it is
            given back.
        has_sentences: whether it shows sentence and translation itself.
        follows_head: whether it shows something about the chosen head, which keys change.
    """

    name: str
    title: str
    open: Callable[[], QWidget]
    state: Callable[[], ExperimentState] | None = None
    caption: Callable[[], str] | None = None
    keys: Callable[[], tuple[BoundCommand, ...]] = tuple
    set_presented: Callable[[bool], object] = lambda _is_presented: None
    has_sentences: bool = False
    follows_head: bool = True

    @property
    def is_about_sentence(self) -> bool:
        """Whether sentence, translation and caption are shown next to it; else above it."""
        return self.caption is not None and not self.has_sentences


class _Holder(QWidget):
    """Makes its content as high as there is room: chapters scroll their text and figures
    themselves.
    """

    def hasHeightForWidth(self) -> bool:
        return False


class Presentation(QWidget):
    """Shows one view of the window instead of all others, on the full screen and with larger
    letters.

    Page Up, Page Down, ← and → step through the scenes of the lesson that is open, or without one
    through the heads.

    Attributes:
        view: the view that is presented; None while none is.
        scene_commands: step through the scenes of a lesson; they come before those of heads.
        scene_words: heading, text, question and shown answer of the scene; None if no lesson is
            shown.
        way_back: returns a function that shows the current page of the window again.
        scene: those of a lesson; hidden without one.
        source: the sentence.
        target: the words of the translation, new ones marked. Above a chapter, also the sentence.
        changes: those of the experiment.
        value: the cell under the mouse, or the pinned one.
        caption: of the view; `hint` names the keys until one is used.
    """

    def __init__(
        self,
        state: ExperimentState,
        window: QMainWindow,
        pages: PageStack,
        enlarge: Callable[..., None],
    ) -> None:
        """Args: state: the experiment of the Translate page. window: fills the screen meanwhile.
        pages: of the window, of which this becomes one. enlarge: sets the scale of the interface,
        and its percentage; a scale of None for the user's.
        """
        super().__init__()
        self._state, self._window, self._pages, self._enlarge = state, window, pages, enlarge
        self._shown_state = state
        self.view: Presentable | None = None
        self._borrowed: Borrowed | None = None
        self._before: WindowBefore | None = None
        self._follows = self._is_busy = False
        self._busy_timer = QTimer(self, singleShot=True, interval=BUSY_DELAY_MS)
        self._busy_timer.timeout.connect(lambda: self._show_busy(True))
        self.scene_commands: Sequence[BoundCommand] = ()
        self.scene_words: Callable[[], tuple[str, ...] | None] = lambda: None
        self.way_back: Callable[[], Callable[[], object]] = lambda: bool
        self._go_back: Callable[[], object] = bool
        self.scene, self.source, self.target, self.value, self.caption, self.hint = (
            QLabel() for _ in range(6)
        )
        self.changes = ChangeLabels()
        self._make_texts()
        self._content = column_of()
        holder, content = _Holder(), QWidget()
        holder.setLayout(self._content)
        column_of(holder, within=content)
        self._texts = QWidget()
        texts = (
            self.scene,
            self.source,
            self.target,
            self.changes,
            1,
            self.value,
            self.caption,
            1,
            self.hint,
        )
        self._words = column_of(*texts, within=self._texts)
        self._area = ContentHeightScrollArea(self._texts, self._height_for_texts)
        self._row = row_of(
            self._area,
            (WindowScrollArea(content, CONTENT_SIZE, NARROW_CONTENT_SIZE), 1),
            within=self,
        )
        self.setBackgroundRole(QPalette.ColorRole.Base)  # as the map
        self.setAutoFillBackground(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        pages.addWidget(self)

    def _follow(self) -> None:
        """Shows changes, from the first presentation on."""
        if self._follows:
            return
        self._follows = True
        state = self._state
        for changed in (
            state.result_changed,
            state.experiment_changed,
            state.roles_changed,
            state.measuring.changed,
        ):
            changed.connect(self.rebuild)
        state.request.changed.connect(self._on_request)
        on_redraw(state.settings, ("maps", "large map"), self.rebuild)
        for mark in ("head", "hovered", "pinned", "pointer"):
            getattr(state.selection.events, mark).connect(self.rebuild, max_args=0)

    def _make_texts(self) -> None:
        roles = {
            self.scene: "accent",
            self.source: "muted",
            self.value: "accent",
            self.hint: "muted",
        }
        for words in (self.scene, self.source, self.target, self.value, self.caption, self.hint):
            words.setWordWrap(True)
            words.setProperty("role", roles.get(words, ""))
            is_rich = words in (self.scene, self.target)
            words.setTextFormat(Qt.TextFormat.RichText if is_rich else Qt.TextFormat.PlainText)
        self.target.setAccessibleName("Translation")

    def present(self, view: Presentable) -> None:
        """Fills the screen with a view; another one that is presented is given back."""
        self._give_back()
        if self._before is None:
            self._go_back = self.way_back()
        widget = view.open()
        size = self.size() if self._before is not None else self._window.screen().size()
        if self._before is None:
            self._follow()
            self._before = WindowBefore(self._window, self._pages)
            self._before.replace_by(self)
        self._enlarge(scale_for(size.toTuple()), 100)
        view.set_presented(True)
        self._show_experiment_of(view.state() if view.state is not None else self._state)
        self.view, self._borrowed = view, Borrowed(widget, self._content)
        self.hint.setVisible(True)
        self.rebuild()
        self._fit()
        self.setFocus()

    def end(self) -> None:
        """Gives the view back, and shows the window as it was before; with a lesson, the page of
        its scene.
        """
        if self._before is None:
            return
        self._give_back()
        if self.scene_words() is None:
            self._go_back()
        self._enlarge(None)
        self._before.restore()
        self._before = None

    def _show_experiment_of(self, state: ExperimentState) -> None:
        """Shows sentence, translation and changes of another page's experiment."""
        for known, act in ((self._shown_state, "disconnect"), (state, "connect")):
            if known is not self._state:  # that of the Translate page always counts
                getattr(known.result_changed, act)(self.rebuild)
                getattr(known.request.changed, act)(self._on_request)
        self._shown_state = state

    def _give_back(self) -> None:
        if self.view is not None and self._borrowed is not None:
            self._borrowed.give_back()
            self.view.set_presented(False)
        self.view = self._borrowed = None

    def show_scene(self) -> None:
        """Another scene of the lesson, or its answer, by whichever key; the answer is scrolled into
        view.
        """
        self.hint.setVisible(False)
        self.rebuild()
        QTimer.singleShot(0, self, self._scroll_to_answer)

    def scroll_scene(self, by: int, is_answered: bool) -> bool:
        """Scrolls a scene that is too long by one page, as remote controls only have these keys.

        Returns False at the end: that of the scene's text before its answer is shown, that of
        everything afterwards (`is_answered`).
        """
        bar = self._area.verticalScrollBar()
        height = self._area.height()
        text = self.scene.geometry()
        if self.view is None or self.scene.isHidden():
            return False
        end = self._texts.height() if is_answered else text.bottom() + 1
        is_cut = (
            end > bar.value() + height if by > 0 else bar.value() > 0 and text.height() > height
        )
        if is_cut:
            bar.setValue(bar.value() + by * (height - 2 * current_theme().base_px))
        return is_cut

    def _scroll_to_answer(self) -> None:
        words = self.scene_words()
        bar = self._area.verticalScrollBar()
        bar.setValue(0)
        if words is not None and words[-1]:
            self._area.ensureVisible(0, self.scene.geometry().bottom() + 1, 0, 0)

    def rebuild(self) -> None:
        """Updates the texts."""
        view, state = self.view, self._shown_state
        if view is None:
            return
        shown = state.maps.translation
        scene = self.scene_words()
        self.scene.setText(scene_text(*scene) if scene is not None else "")
        self.scene.setVisible(scene is not None)
        self.target.setVisible(view.state is not None and not view.has_sentences)
        self.changes.show_changes(state)
        self.changes.setVisible(view.state is not None and bool(self.changes.texts))
        for words in (self.source, self.caption):
            words.setVisible(view.is_about_sentence)
        keys, others = (
            (KEYS, KEYS_OF_OTHERS) if scene is None else (KEYS_OF_SCENES, SCENES_OF_OTHERS)
        )
        self.hint.setText(keys if view.is_about_sentence and view.follows_head else others)
        self.source.setText(shown.experiment.source_text if shown is not None else "")
        marked = (
            marked_translation(state, shown)
            if shown is not None
            else "There is no translation yet."
        )
        # above the view, in one line with the sentence
        if shown is not None and not view.is_about_sentence:
            marked = sentence_pair(shown.experiment.source_text, marked)
        busy = (
            f' <span style="color: {current_theme().palette.accent}">{BUSY}</span>'
            if self._is_busy
            else ""
        )
        self.target.setText(f"{marked}{busy}")
        pair = state.selection.hovered or state.selection.pinned
        value = map_text.describe(state, pair) if pair is not None and shown is not None else None
        self.value.setText("\n".join(value or ("", "")))
        plain = view.caption() if view.caption is not None and shown is not None else ""
        rich = caption_with_pointer(state, plain)
        text_format = Qt.TextFormat.PlainText if rich is None else Qt.TextFormat.RichText
        self.caption.setTextFormat(text_format)
        self.caption.setText(plain if rich is None else rich)
        self._fit_words()

    def _on_request(self) -> None:
        """The old sentence and view stay while another result is computed; after a moment, this is
        shown.
        """
        if self.view is not None and self._shown_state.request.is_running:
            self._busy_timer.start()
        else:
            self._busy_timer.stop()
            self._show_busy(False)

    def _show_busy(self, is_busy: bool) -> None:
        if is_busy != self._is_busy:
            self._is_busy = is_busy
            self.rebuild()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows walk through heads and layers, or with a lesson ← and → through scenes: see
        `KEYS`.
        """
        own = (command.on(self) for command in PRESENTATION_COMMANDS)
        if self.view is not None and run_by_key(
            event, (*self.scene_commands, *own, *self.view.keys())
        ):
            self.hint.setVisible(False)

    def step_head(self, by: int) -> bool:
        """Chooses the next or previous head, across layers; False if none are shown."""
        head = self._state.selection.head
        num_layers, num_heads = self._state.maps.shape(head.kind)
        index = head.layer * num_heads + head.head + by
        if 0 <= index < num_layers * num_heads:
            self._state.intents.choose_head(Head(head.kind, *divmod(index, num_heads)))
        return self._state.result is not None

    def resizeEvent(self, event: QResizeEvent) -> None:
        """All letters grow with the screen."""
        super().resizeEvent(event)
        if self.view is not None:
            QTimer.singleShot(0, self, self._fit)  # a new scale lays everything out again

    def _fit(self) -> None:
        """Fits letters, margins and the place of the texts to the size."""
        if self.view is None:
            return
        self._enlarge(scale_for(self.size().toTuple()))
        body = current_theme().base_px
        is_beside = self._is_beside
        self._row.setDirection(
            QBoxLayout.Direction.LeftToRight if is_beside else QBoxLayout.Direction.TopToBottom
        )
        self._row.setContentsMargins(body, body, body, body // 2)
        for layout in (self._row, self._words):
            layout.setSpacing(body // 2)
        self._texts.setMinimumHeight(self._height_for_texts() if is_beside else 0)
        self._area.setFixedWidth(
            round(self.width() * TEXTS_SHARE) if is_beside else self.width() - 2 * body
        )
        self._fit_words()

    @property
    def _is_beside(self) -> bool:
        """Whether the texts are next to the view; else above it."""
        return (
            self.view is not None and self.view.is_about_sentence and self.width() > self.height()
        )

    def _height_for_texts(self) -> int:
        """Their greatest height: above a view, they leave it its least."""
        body = current_theme().base_px
        return self.height() - 2 * body - (0 if self._is_beside else scaled(CONTENT_SIZE[1]))

    def _fit_words(self) -> None:
        """Makes sentence and translation as large as the other texts allow; at last, only a value
        takes its lines.
        """
        body = current_theme().base_px
        is_about = self.view is not None and self.view.is_about_sentence
        for larger in (*WORDS_LARGER, 0.0) if is_about else WORDS_LARGER[-1:]:
            for words in (self.source, self.target):
                words.setStyleSheet(f"font-size: {round(body * (larger or WORDS_LARGER[-1]))}px")
            self.value.setVisible(is_about and (larger > 0 or bool(self.value.text().strip())))
            if self._texts.heightForWidth(self._area.width()) <= self._height_for_texts():
                break
        self._area.fit()


def scale_for(size: tuple[int, int]) -> float:
    """The scale at which body text has its part of a screen of this width and height."""
    width, height = size
    pixels = ceil(min(height / LINES_PER_SCREEN, width / LETTERS_PER_SCREEN))
    return max(1.0, pixels / Theme.light().base_px)


def keys_of(state: ExperimentState) -> tuple[BoundCommand, ...]:
    """The keys of views about the sentence."""
    return tuple(command.on(state) for command in (*HEAD_COMMANDS, NEXT_MAPS))


def caption(state: ExperimentState) -> str:
    """A line on the head and its maps, and one on the meaning of a row."""
    head = state.selection.head
    maps = state.maps
    parts = map_text.titles(state)
    if (
        state.settings.scope == "head"
        and state.roles.sample is not None
        and (role := role_name(state.roles, head))
    ):
        parts.append(role)
    if state.result is not None and state.result.is_changed:
        parts.append(maps.shown)
    notes = map_text.meaning_of_query(state, state.settings.known_picture), map_text.off_note(state)
    return f"{' · '.join(parts)}\n{' '.join(filter(None, notes))}"


_GROUP, _HEADS = "In the presentation", "Previous and next head"
PRESENTATION_COMMANDS = (
    Command[Presentation](
        "Previous head",
        lambda part: part.step_head(-1),
        local_keys=("PgUp",),
        group=_GROUP,
        line=_HEADS,
    ),
    Command[Presentation](
        "Next head",
        lambda part: part.step_head(1),
        local_keys=("PgDown",),
        group=_GROUP,
        line=_HEADS,
    ),
    Command[Presentation](
        "Back to the window", Presentation.end, local_keys=("Esc", "F5"), group=_GROUP
    ),
)
"""Keys in addition to those of heads, maps and scenes."""


class ViewProvider(ABC):
    """A page with views that can fill the screen."""

    @abstractmethod
    def views(self) -> Sequence[Presentable]:
        """All of them, listed without making the page."""

    @property
    @abstractmethod
    def view_in_sight(self) -> str:
        """The name of the view that the page shows; empty if it shows none."""


class Views:
    """The views of the window that can fill the screen, by name: see `documents.lesson.Views`."""

    def __init__(self, window: Any, presentation: Presentation) -> None:
        self._window, self._presentation = window, presentation

    def presentables(self) -> tuple[Presentable, ...]:
        """Everything that can fill the screen, in the order of the palette."""
        state = self._window.state
        analysis = self._window.analysis
        head = self._window.translate_page.head
        keys = partial(keys_of, state)
        large_map = Presentable(
            "map",
            "Chosen map",
            partial(self._open, lambda: head.map),
            lambda: state,
            partial(caption, state),
            keys,
            head.heatmap.set_presented,
        )
        tabs = (
            Presentable(
                name,
                f"{tab.name} tab",
                partial(self._open, partial(analysis.show_alone, name)),
                lambda: state,
                f"{tab.name}\n{tab.tip}".format,
                keys if tab.follows_head else tuple,
                partial(analysis.set_presented, name),
                tab.has_sentences,
                tab.follows_head,
            )
            for name, tab in analysis.tabs_by_name.items()
        )
        of_pages = (view for page in self._pages.values() for view in page.views())
        return large_map, *tabs, *of_pages

    @property
    def presentable(self) -> str:
        """The name of the main view of the current page, or of the analysis tab with the keyboard
        focus.
        """
        page = self._pages.get(self._window.pages.current)
        if page is not None and page.view_in_sight:
            return page.view_in_sight
        analysis = self._window.analysis
        name: str = analysis.tab_name
        return name if analysis.has_focus else "map"

    def view_titles(self) -> dict[str, str]:
        """The titles of all views but the chosen map, by their names."""
        return {view.name: view.title for view in self.presentables()[1:]}

    def show_view(self, name: str) -> None:
        """Shows a view in its place, or in the presentation; the chosen map if there is none of
        this name.
        """
        shown = self._presentation.view
        if not name and shown is None:
            self._window.pages.show(TRANSLATE)
            self.make_room_for_heads()
            return
        views = self.presentables()
        view = next((view for view in views if view.name == name), views[0])
        if name not in ("", view.name):
            self._window.top_bar.show_notice(
                f"There is no view “{name}” here: its extension is not installed"
            )
        if shown is None:
            view.open()
            if view is not views[0] and view.caption is not None:
                self._window.translate_page.arrangement.show_analysis(True)
        elif shown.name != view.name:
            self._presentation.present(view)

    def restore_analysis(self) -> None:
        """Opens or closes the analysis tabs as the user did last."""
        page, preferences = self._window.translate_page, self._window.preferences
        page.arrangement.show_analysis(preferences.is_analysis_open)

    def make_room_for_heads(self) -> None:
        """Closes the analysis tabs where all heads give way to them; what the user chose stays
        remembered.
        """
        self.restore_analysis()
        page, preferences = self._window.translate_page, self._window.preferences
        if preferences.is_analysis_open and page.isVisible() and page.heads.isHidden():
            page.arrangement.show_analysis(False)
            preferences.is_analysis_open = True

    @property
    def _pages(self) -> dict[str, ViewProvider]:
        return {
            name: part
            for name, part in self._window.pages.parts.items()
            if isinstance(part, ViewProvider)
        }

    def _open(self, open_view: Callable[[], QWidget]) -> QWidget:
        self._window.pages.show(TRANSLATE)
        return open_view()


class PresentationPart(WindowPart):
    """The presentation as a part of the window.

    Attributes:
        presentation: shows one view on the whole screen.
        views: all views that it can show.
    """

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        self.presentation = Presentation(
            window.state, window, window.screens, window.appearance.present_at
        )
        self.presentation.way_back = window.pages.way_back
        self.views = Views(window, self.presentation)
        window.pages.full_screen = self
        (self._entry,) = window.commands.add(self, (PRESENT,))
        window.commands.add(window.state, POINTER_COMMANDS, window.translate_page)

    def menu_entries(self) -> tuple[BoundCommand, ...]:
        """See `WindowPart`."""
        return (self._entry,)

    def palette(self) -> list[BoundCommand]:
        """A command for each view."""
        return [
            Command[str](f"Present: {view.title}", self.present).on(view.name)
            for view in self.views.presentables()
        ]

    def sheet(self) -> tuple[Command[Any], ...]:
        """See `WindowPart`."""
        return PRESENTATION_COMMANDS

    def present(self, name: str = "") -> None:
        """Fills the screen with a view, until Escape.

        Args:
            name: of one of the views; empty for the one in sight, or to end the presentation.
        """
        if not name and self.presentation.view is not None:
            self.presentation.end()
            return
        name = name or self.views.presentable
        self.presentation.present(
            next(view for view in self.views.presentables() if view.name == name)
        )

    def take(self, name: str = "") -> bool:
        """See `FullScreen`."""
        if self.presentation.view is None:
            return False
        self.views.show_view(name or self.views.presentable)
        return True

    def end(self) -> None:
        """See `FullScreen`."""
        self.presentation.end()


PRESENT = Command[PresentationPart]("Presentation mode", PresentationPart.present, keys=("F5",))
