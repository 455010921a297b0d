"""The tab *Word*: why the model chose a word rather than another, and at which depth it decided."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from augenmerk.core.extensions.analyses.parts_of_words import WordParts
from augenmerk.core.quantities import percent_in_words

from ....state.number_table import NumberTable
from ....state.sentence_text import visible
from ....state.tabs import Tab
from ....theme import current_theme, scaled, scales
from ....translate.analysis_tab import AnalysisContext
from ....widgets.buttons import ChoiceMenu, choice_buttons
from ....widgets.labels import label
from ....widgets.layouts import (
    VerticalScrollArea,
    add_parts,
    column_of,
    row_of,
    set_visible,
    take_out,
    wrapping_row,
)
from ....worker.jobs import Job
from ...widgets.changed_words import changed_pieces, styled
from ...widgets.one_line_edit import one_line_edit
from ...words.jobs import MeasurePartsJob
from ...words.lens_table import LensTable
from ...words.word_parts import PartBars
from ..computing_tab import ComputingTab
from .answers import WordAnswers
from .meanings import MEANINGS, WordView
from .shown_answer import (
    LayersAnswer,
    LensAnswer,
    NoAnswer,
    PartsAnswer,
    PreviousAnswer,
    ShownAnswer,
    Waiting,
)
from .state import WordState

if TYPE_CHECKING:  # torch belongs to the worker thread
    from augenmerk.core.extensions.analyses.decoder_lens import DecoderLens

NEXT_BEST = ""
"""The foil that the model would choose next."""
VIEWS: Mapping[WordView, tuple[str, str]] = {
    "parts": (
        "Parts",
        "The word's lead over its foil as a sum: one part for each head, network, and bias",
    ),
    "lens": (
        "Lens",
        "The most probable word at each step, if the decoder stopped after an earlier sublayer",
    ),
    "layers": (
        "Encoder layers",
        "The translation if the decoder read an earlier layer of the encoder",
    ),
}
MEASURE_TIP = "Switch every head and network off, one at a time, and show how much the lead changes"
OFF_MEANING = (
    "off: the measured change of the lead without this part. –: it cannot be switched off."
)
WAITING = "Computing…"
OTHER_WIDTH, LINE_ROOM = 120, 24
MAX_FOIL = 60
"""Characters of a foil, which is a word."""


class WordTab(ComputingTab):
    """Why this word: parts, logit lens, and DecoderLens of the experiment's translation.

    Attributes:
        word: the state.
        answers: those to its question that are known.
        words: the menu of the token.
        foils: the menu of its foil; `other` is a field for any other foil.
        lead: how much more probable the token is.
        views: a button for each view.
        bars: the parts.
        lens: the predictions by step and depth.
        layers: the translations, one line for each layer of the encoder.
    """

    stops_when_left: ClassVar[bool] = True

    def __init__(self, context: AnalysisContext, tab: Tab) -> None:
        super().__init__(context, tab)
        self.word = WordState(self.state)
        self.answers = WordAnswers(self.word)
        self._drawn: set[WordView] = set()  # those whose area has shown an answer
        self.words = ChoiceMenu("The word to explain", {}, has_arrow_keys=True)
        self.foils = ChoiceMenu(
            "The word to compare it with", {}, "rather than ", has_arrow_keys=True
        )
        self.other = one_line_edit(
            "Another word to compare with",
            "A word, or an exact token such as <eos>; Enter compares",
            "other word…",
        )
        self.other.setMaxLength(MAX_FOIL)
        self.lead = label("accent", wraps=True)
        self.views = choice_buttons(self, VIEWS, self.show_view)
        self.bars = PartBars(self.state)
        self.lens = LensTable()
        self.layers = QLabel()
        self.layers.setWordWrap(True)
        self.layers.setAccessibleName("Translations by encoder layer")
        self._off_meaning = label("small", OFF_MEANING, wraps=True)
        self._waiting = label("muted", WAITING)
        self._measure = self.add_job_bar("Measure all", MEASURE_TIP, self._on_measure)
        self._parts_area = VerticalScrollArea(_beside_scroll_bar(self.bars))
        layers = VerticalScrollArea(_beside_scroll_bar(self.layers))
        self._areas: dict[WordView, QWidget] = {
            "parts": self._parts_area,
            "lens": self.lens,
            "layers": layers,
        }
        self._lay_out()
        self._connect()
        self.word.follow_result()

    def explain(self, step: int, foil: str = NEXT_BEST) -> None:
        """Explains the token of a step, compared with a word or an entry of the vocabulary; empty:
        the next best.
        """
        self.word.ask(step, foil)
        self.show_view(self.word.view)

    def explain_word(self, step: int, foil: str) -> None:
        """Shows the parts of a token of the sentence."""
        self.show_view("parts")
        self.explain(step, foil)

    def show_view(self, view: WordView) -> None:
        """Shows parts, lens, or encoder layers."""
        self.request.forget_problem()
        self.word.view = view
        if self.is_in_sight:
            self.refresh()

    def forget_result(self) -> None:
        """Keeps the word if the sentence still has it, and the answers about the original."""
        self.word.follow_result()
        result = self.state.result
        self.answers.keep_about((result.original, result.changed) if result is not None else ())

    def refresh(self) -> None:
        """Requests the answer of the current view if it is unknown."""
        self.word.follow_result()
        job = self.answers.job
        is_asked = self._asked is not None and not self._asked.is_over and self._asked.job == job
        if (
            job is not None
            and job not in self.answers.known
            and not is_asked
            and not self.request.problem
        ):
            self._ask(job)
        self.redraw()

    def numbers(self) -> NumberTable | None:
        """The numbers of the current view."""
        return self.answers.numbers()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A low tab leaves its room to the bars."""
        super().resizeEvent(event)
        self.explanation.setVisible(not self.is_low)

    def redraw(self) -> None:
        """Shows the question, and the answer or what stands in for it."""
        view = self.word.view
        answer = self.answers.shown(self.request.is_running, was_drawn=view in self._drawn)
        has_area = not isinstance(answer, NoAnswer | Waiting)
        has_parts = has_area and view == "parts"
        is_measured = isinstance(answer, PartsAnswer) and bool(answer.measured)
        self._show_question()
        for name, area in self._areas.items():
            area.setVisible(has_area and name == view)
        self._waiting.setVisible(isinstance(answer, Waiting))
        self._off_meaning.setVisible(is_measured)
        set_visible(self._measure, has_parts and not is_measured, focus_to=self.views[view])
        self._draw(answer)
        self.lead.setVisible(has_parts)
        if has_area:
            self._drawn.add(view)

    def show_head(self) -> None:
        """Emphasizes the head among the parts."""
        self.bars.light_head()

    def _draw(self, answer: ShownAnswer) -> None:
        """Draws an answer into the area of its view."""
        match answer:
            case PartsAnswer():
                self.lead.setText(answer.lead)
                self.bars.show_parts(answer.parts, answer.measured, answer.parts_of_original)
            case LensAnswer():
                self.lens.show_lens(answer.lens, answer.step)
            case LayersAnswer():
                self.layers.setText(_layers_in_html(answer.lens))
            case NoAnswer() | Waiting() | PreviousAnswer():
                pass

    def _ask(self, job: Job) -> None:
        def take(answer: object) -> None:
            self.answers.known[job] = answer
            self.redraw_in_sight()

        self.ask(job, take)

    def _show_question(self) -> None:
        """Shows the chosen view, word and foil; none of them without a translation."""
        word = self.word
        tokens = self.word.tokens
        has_translation = word.translation is not None
        self._buttons.setVisible(has_translation)
        self.views[word.view].setChecked(True)
        self.explanation.setText(MEANINGS[word.view])
        set_visible(
            self._question, word.view == "parts" and has_translation, focus_to=self.views[word.view]
        )
        self.words.set_entries(
            {str(step): (f"“{visible(text)}”", visible(text)) for step, text in tokens.items()}
        )
        self.words.show_choice(str(max((step for step in tokens if step <= word.step), default=0)))
        likely = {
            foil.entry: (
                f"“{visible(foil.token)}”",
                f"{visible(foil.token)}   {percent_in_words(foil.probability)}",
            )
            for foil in word.foils
        }
        first = next(iter(likely.values()), ("the next best", ""))
        self.foils.set_entries({NEXT_BEST: (first[0], "the next best")} | likely)
        self.foils.show_choice(f"“{visible(word.foil)}”" if word.is_foil_typed else word.foil)

    def _on_other(self) -> None:
        if text := self.other.text().strip():
            self.other.clear()
            self.explain(self.word.step, text)

    def _on_measure(self) -> None:
        parts = self.answers.current
        if isinstance(parts, WordParts):
            self._ask(MeasurePartsJob(parts))

    def _on_picked(self) -> None:
        picked = self.state.selection.picked
        if (
            self.is_in_sight
            and picked.side == "target"
            and (steps := picked.tokens & self.word.tokens.keys())
        ):
            self.explain(min(steps))

    def _on_shown_maps(self) -> None:
        if self.is_in_sight:
            self.request.forget_problem()
            self.refresh()

    def _on_request(self) -> None:
        if self.request.problem:
            self.redraw_in_sight()

    def _connect(self) -> None:
        self.request.changed.connect(self._on_request)
        self.words.chosen.connect(lambda step: self.explain(int(step)))
        self.foils.chosen.connect(lambda foil: self.explain(self.word.step, foil))
        self.other.returnPressed.connect(self._on_other)
        self.lens.step_chosen.connect(self.explain)
        self.bars.reached.connect(
            lambda point: self._parts_area.ensureVisible(0, point.y(), 0, scaled(LINE_ROOM))
        )
        self.state.selection.events.picked.connect(self._on_picked, max_args=0)
        self.state.settings.events.shown.connect(self._on_shown_maps, max_args=0)

    def _lay_out(self) -> None:
        scales(self.other.setFixedWidth, OTHER_WIDTH)
        self._question = wrapping_row((self.words, self.foils, self.other), spacing=2)
        self._buttons = QWidget()
        row_of(*self.views.values(), 1, spacing=0, within=self._buttons)
        areas = column_of(self._waiting, *((area, 1) for area in self._areas.values()))
        take_out(self.problem)
        question = self._buttons, self._question, self.problem, self.lead
        add_parts(self.column, *question, (areas, 1), self._off_meaning, self._measure)


def _beside_scroll_bar(content: QWidget) -> QWidget:
    """The content with a margin, so that numbers keep clear of the scroll bar."""
    widget = QWidget()
    column_of(content, 1, margins=(0, 0, 6, 0), within=widget)
    return widget


def _layers_in_html(lens: "DecoderLens") -> str:
    """One line for each layer, words that differ from the previous line marked, and the meaning."""
    colors = current_theme().palette
    lines = []
    for layer, translation in enumerate(lens.layers):
        before = lens.layers[max(layer - 1, 0)]
        text = (
            styled(changed_pieces(before, translation), colors)
            if translation.target_words
            else "nothing"
        )
        name = f"layer {layer}" if layer else "embedding"
        lines.append(
            "<tr><td "
            f"style='color:{colors.muted};padding-right:10px'>{name}</td><td>{text}</td></tr>"
        )
    depth = lens.settled_at
    num_layers = len(lines) - 1
    if not depth:
        needed = "The embedding is enough for the same greedy translation."
    elif depth == num_layers:
        needed = "The translation needs the last layer."
    else:
        needed = f"Layer {depth} of {num_layers} is enough for the same greedy translation."
    marked = "Marked words differ from the line above." if num_layers else ""
    says = f"<p style='color:{colors.muted}'>{needed} {marked}</p>"
    return f"<table cellspacing='0' cellpadding='3'>{''.join(lines)}</table>{says}"
