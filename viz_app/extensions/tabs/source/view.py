"""The tab *Source*: the share of the source in each output word, and the loss without each source
word.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QWidget

from augenmerk.core.counting import display_text
from augenmerk.core.errors import AnalysisError, ExperimentError
from augenmerk.core.extensions.analyses.occlusion import (
    SourceChanges,
    score_without_source_words,
    translate_without_source_words,
)
from augenmerk.core.quantities import number, percent
from augenmerk.core.translation.experiment import SourceWordRemoved, SourceWordReplaced
from augenmerk.core.translation.result import Translation, TranslationStoppedError

from ....state.experiment_state import Progress
from ....state.tabs import Tab
from ....translate.analysis_tab import AnalysisContext
from ....widgets.labels import label, show_text
from ....widgets.layouts import VerticalScrollArea, add_parts, column_of, row_of, take_out
from ....worker.jobs import Job, JobInterrupted, JobScope, OpenTranslator, ShouldStop, Tell
from ...widgets.bars import Bar, BarList
from ...widgets.one_line_edit import one_line_edit
from ..computing_tab import ComputingTab
from .state import OutputShare, SourceFindings, SourceState, SourceWord

GROUP_SIZE = 4
"""Words removed per batch; an interruption loses at most these translations."""


@dataclass(frozen=True, eq=False)
class SourceJob(Job):
    """The shares of source and prefix in each output word, and the translation's loss without each
    source word.

    Both are read by teacher forcing in a few passes, under the interventions of the translation's
    experiment.

    Attributes:
        translation: the translation.
        original: the original to compare with; None if nothing is changed.
        known: the findings of the original, if they are known.
    """

    translation: Translation
    original: Translation | None = None
    known: SourceFindings | None = None

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> SourceFindings:
        """See `Job.run`."""
        findings = self._find(self.translation, translator, should_stop)
        if self.original is None:
            return findings
        original = self.known or self._find(self.original, translator, should_stop)
        return replace(findings, original=original)

    def _find(
        self, translation: Translation, translator: OpenTranslator, should_stop: ShouldStop
    ) -> SourceFindings:
        from augenmerk.core.extensions.analyses.alti import contributions_of

        contributions = contributions_of(translator, translation, should_stop)
        if translation.num_source_words == 1:
            return SourceFindings(
                contributions,
                SourceChanges({}),
                "Without its only word, the source would be empty.",
            )
        try:
            changes = score_without_source_words(translator, translation, should_stop=should_stop)
        except (AnalysisError, ExperimentError) as error:  # too little would be left
            return SourceFindings(contributions, SourceChanges({}), display_text(error))
        return SourceFindings(contributions, changes)


@dataclass(frozen=True, eq=False)
class WithoutWordsJob(Job):
    """The translation without each of the source words. Continues after an interruption.

    Attributes:
        translation: of the whole sentence.
        places: of the words.
        found: the known translations by place.
    """

    translation: Translation
    places: tuple[int, ...]
    found: Mapping[int, str] = field(default_factory=dict)
    scope: ClassVar[JobScope] = "details"

    def run(
        self, translator: OpenTranslator, progress: Tell, should_stop: ShouldStop
    ) -> Mapping[int, str]:
        """See `Job.run`."""
        translations = dict(self.found)
        left = [index for index in self.places if index not in translations]
        while left:
            group, left = left[:GROUP_SIZE], left[GROUP_SIZE:]
            try:
                changed = translate_without_source_words(
                    translator, self.translation, group, should_stop=should_stop
                )
            except TranslationStoppedError:
                raise JobInterrupted(replace(self, found=translations)) from None
            translations |= {
                index: translation.text for index, translation in zip(group, changed, strict=True)
            }
            num_found, num_words = len(translations), len(self.places)
            progress(
                Progress(
                    num_found, num_words, f"{num_found} of {num_words} words", dict(translations)
                )
            )
        return translations


LEAST_SCALE = 0.5
"""A full bar of the source words represents at least this change of log-probability, in nats, so a
change that rounds to 0.00 has no visible bar."""
WAITING, CANCELLED = "…", "Computing shares and changes was cancelled."
HOW_TO_CHANGE = "Click a source word at the right to remove it, again to restore it."
IN_SHORT = "Left: an estimate of mixing by ALTI+. Right: an experiment."
"""The explanation in a low tab."""
TICKS = "Ticks on the bars: the original."
NO_TICKS = "\N{NO-BREAK SPACE}"
"""Keeps the line of `TICKS`."""
NOTHING_CLICKED = "in place of the word clicked last"
WORDS_TITLE = "Δ log-probability of the\ntranslation without the word"
ROWS_LEFT_OUT = (
    "Compared without your rows of attention over the source, which do not fit a shorter sentence."
)
ALTI_TIP = (
    "Ferrando et al. 2022, “Towards Opening the Black Box of Neural Machine Translation”. It "
    "follows how attention mixes vectors through all layers. Feed-forward networks move nothing "
    "between words."
)


class SourceTab(ComputingTab):
    """Shares of source and prefix by ALTI+; the change of the translation without each source word.

    Attributes:
        source: the state.
        shares: output words; the bar is the source's share, the rest the prefix's.
        words: source words; the bar is the change of log-probability without the word. A click
            removes it.
        replacement: the replacement of the word clicked last; `replace` applies it.
        warnings: output words that depend on the source very little.
    """

    stops_when_left: ClassVar[bool] = True

    def __init__(self, context: AnalysisContext, tab: Tab) -> None:
        super().__init__(context, tab)
        self.source = SourceState(self.state)
        self.explanation.setToolTip(ALTI_TIP)
        self.shares = BarList(
            "Share of the source",
            "Blue: from the source. Pale: from the previous words",
            rest="faint_accent",
            is_clickable=False,
        )
        self.words = BarList("Source words", HOW_TO_CHANGE)
        self.replacement = one_line_edit(
            "A word to replace the last source word you clicked",
            "A word, or <unk>, to replace the last source word you clicked",
        )
        self.replace = QPushButton("Replace")
        self.replace.setToolTip("Translate with this word instead of the last one you clicked")
        self.warnings = label("warm", wraps=True)
        self._shares_title = label("small", wraps=True)
        self._words_title = label("small", WORDS_TITLE, wraps=True)
        self._note_on_words = label("small", wraps=True)
        self._hint = label("small", wraps=True)
        self._waiting = self.add_wait_bar(CANCELLED, "Compute")
        self._lay_out()
        self.words.label_clicked.connect(self._on_word)
        self.words.bar_clicked.connect(lambda index, _: self._on_word(index))
        self.replace.clicked.connect(self._on_replace)
        self.replacement.returnPressed.connect(self._on_replace)
        self.source.follow_result()

    def forget_result(self) -> None:
        """Forgets the findings of the previous translation."""
        self.source.follow_result()

    def refresh(self) -> None:
        """Requests the findings if they are unknown."""
        translation = self.translation_to_ask_about
        if translation is not None and not self.request.is_running and not self.request.problem:
            if self.source.findings is None:
                self._waiting.describe("computing…")
                self.ask(
                    SourceJob(translation, self.source.original, self.source.known_original),
                    self._take,
                )
            else:
                self._ask_for_translations()
        self.redraw()

    def _ask_for_translations(self) -> None:
        """Requests the translations in the words' tool tips, at the lowest priority: each takes a
        search.
        """
        translation = self.translation_to_ask_about
        places = self.source.places_to_translate
        if translation is not None and places and self.is_in_sight:
            known = {**self.source.without}
            job = WithoutWordsJob(translation, tuple(sorted((*known, *places))), known)
            self._waiting.describe("", is_awaited=False)
            self.ask(job, self._take_translations, on_partial=self._take_translations)

    def redraw(self) -> None:
        """Shows the words and the findings."""
        has_translation = self.state.translation is not None
        self._body.setVisible(has_translation)
        self._hint.setVisible(has_translation and not self.is_presented)
        self._show_explanation()
        ticks = TICKS if self.source.original is not None else NO_TICKS
        self._hint.setText(f"{HOW_TO_CHANGE}\n{ticks}")
        self._show_replacement()
        self._show_shares()
        self._show_words()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A low tab shows more words instead of most of the explanation."""
        super().resizeEvent(event)
        self._show_explanation()

    def _show_explanation(self) -> None:
        self.explanation.setVisible(not self.is_presented)
        self.explanation.setText(IN_SHORT if self.is_low else self.tab.meaning)

    def _take(self, findings: SourceFindings) -> None:
        self.source.take(findings)
        self._ask_for_translations()
        self.redraw_in_sight()

    def _take_translations(self, translations: Mapping[int, str]) -> None:
        self.source.without = translations
        if self.is_in_sight:
            self._show_words()

    def _show_shares(self) -> None:
        translation = self.state.translation
        findings = self.source.findings
        shares = self.source.shares()
        mean = findings.mean_share() if findings is not None else None
        before = (
            findings.original.mean_share()
            if findings is not None and findings.original is not None
            else None
        )
        average = WAITING if findings is None else ""
        if mean is not None:
            average = f"{percent(mean)} on average"
            if before is not None:
                average += f", was {percent(before)}"
        self._shares_title.setText(f"share of the source\n{average}")
        if findings is None and translation is not None:
            self.shares.show_bars(
                [Bar(word.text, 0.0, WAITING) for word in translation.target_words]
            )
        else:
            self.shares.show_bars([_share_bar(share) for share in shares])
        messages = [share.warning.message for share in shares if share.warning is not None]
        more = f"\n… and {len(messages) - 3} more." if len(messages) > 3 else ""
        show_text(self.warnings, "\n".join(messages[:3]) + more)

    def _show_words(self) -> None:
        findings = self.source.findings
        words = self.source.words()
        note = findings.problem if findings is not None else ""
        if findings is not None and findings.changes.left_out:
            note = ROWS_LEFT_OUT
        show_text(self._note_on_words, note)
        changes = [
            abs(change)
            for word in words
            for change in (word.change, word.before)
            if change is not None
        ]
        scale = max([LEAST_SCALE, *changes])
        is_waiting = findings is None
        self.words.show_bars(
            [
                _word_bar(
                    word, scale, is_lit=word.place == self.source.place, is_waiting=is_waiting
                )
                for word in words
            ]
        )

    def _show_replacement(self) -> None:
        words = {word.place: word for word in self.source.words()}
        word = words.get(self.source.place) if self.source.place is not None else None
        has_translation = self.state.translation is not None
        for part in (self.replacement, self.replace):
            part.setVisible(has_translation and (word is not None or not self.is_presented))
            part.setEnabled(word is not None)
        self.replacement.setPlaceholderText(
            f"in place of “{word.text}”" if word is not None else NOTHING_CLICKED
        )

    def _on_word(self, index: int) -> None:
        word = self.source.words()[index]
        if word.place != self.source.place:
            self.replacement.clear()
        self.source.toggle(word.place)
        self.redraw()

    def _on_replace(self) -> None:
        if self.source.replace(self.replacement.text()):
            self.redraw()

    def _lay_out(self) -> None:
        # below the words: they must not move from under the mouse
        top = Qt.AlignmentFlag.AlignTop
        titles = row_of((self._shares_title, 1, top), (self._words_title, 1, top), spacing=14)
        shares = column_of(self.shares, 1)
        words = column_of(self.words, self._note_on_words, 1, spacing=4)
        self._body = QWidget()
        margins = (0, 0, 6, 0)  # numbers keep clear of the scroll bar
        lists = row_of((shares, 1), (words, 1), spacing=14)
        column_of(titles, lists, 1, spacing=4, margins=margins, within=self._body)
        take_out(self.problem)
        add_parts(
            self.column,
            (VerticalScrollArea(self._body), 1),
            self.problem,
            self._waiting,
            self.warnings,
            self._hint,
            row_of((self.replacement, 1), self.replace),
        )


def _share_bar(share: OutputShare) -> Bar:
    parts = "\n".join(f"{word}  {percent(part)}" for word, part in share.parts)
    shares = (
        f"{percent(share.source)} from the source, {percent(1 - share.source)} from the words "
        "before"
    )
    tip = f"{share.word}: {shares}\n{parts}"
    return Bar(
        share.word,
        share.source,
        percent(share.source),
        is_changed=share.warning is not None,
        is_new=share.is_new,
        tip=tip,
        before=share.before,
        before_text=percent(share.before) if share.before is not None else "",
    )


def _word_bar(word: SourceWord, scale: float, *, is_lit: bool, is_waiting: bool) -> Bar:
    text = word.text
    tip = ""
    if isinstance(word.edit, SourceWordReplaced):
        text = f"→ {word.edit.text}"
        tip = f"{word.text} → {word.edit.text}\nClick to put {word.text} back"
    elif isinstance(word.edit, SourceWordRemoved):
        tip = f"{word.text} is removed\nClick to put it back"
    elif word.change is not None:
        without = "is being translated…" if word.without is None else word.without or "nothing"
        tip = f"without {word.text}: {without}\nClick to remove it"
    if (word.change or 0.0) > 0:
        tip += "\nOrange: the translation is more probable without it"
    value = WAITING if is_waiting else ""
    if word.change is not None:
        value = number(word.change, signed=True)
    is_removed = isinstance(word.edit, SourceWordRemoved)
    return Bar(
        text,
        abs(word.change or 0.0) / scale,
        "removed" if is_removed else value,
        is_lit=is_lit,
        is_changed=word.edit is not None or (word.change or 0.0) > 0,
        is_new=word.edit is not None,
        is_struck=is_removed,
        tip=tip,
        before=abs(word.before) / scale if word.before is not None else None,
        before_text=number(word.before, signed=True) if word.before is not None else "",
    )
