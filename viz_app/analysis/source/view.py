"""The tab *Source*: what comes from the source, and what hangs on each of its words."""

import html
from typing import ClassVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from core.analysis.contributions import METHOD
from viz_app.analysis.source.job import ReplaceJob, SourceJob
from viz_app.analysis.source.state import OutputShare, SourceState
from viz_app.analysis.tab import LabTab, scrolled
from viz_app.state.switchboard import name_heads, pieces_of
from viz_app.state.translate_state import TranslateState
from viz_app.theme import Theme
from viz_app.views.marked_text import number, styled
from viz_app.widgets.bars import Bar, BarList
from viz_app.widgets.parts import label
from viz_app.worker import Failure

LEAST_SCALE = 0.5
"""A full bar of the words left out is never less than this loss of log-probability, in nats: what rounds to 0.00 has no
bar to be seen."""
HINT = "Click a source word at the right to leave it out and see what the translation becomes."
ALTI_TIP = (
    "Ferrando et al. 2022, “Towards Opening the Black Box of Neural Machine Translation”. It follows how attention "
    "mixes vectors through all layers; feed-forward networks are taken to move nothing between words."
)


class SourceTab(LabTab):
    """Shares of source and prefix by ALTI+; source words left out or replaced.

    Attributes:
        state: what the tab knows.
        shares: output words; the bar is the source's share, the rest the prefix's.
        words: source words; the bar is what the translation loses without the word.
        replacement: what to put in place of the chosen word; `replace` does it.
        outcome: what the translation becomes.
        warnings: output words that hang on the source very little.
    """

    name: ClassVar[str] = "Source"
    tip: ClassVar[str] = "How much of each output word comes from the source; leave out or replace a source word"
    meaning: ClassVar[str] = (
        f"Left, by {METHOD}: the share of the source in each output word; the rest is the words before. An estimate of "
        "mixing, not of cause. Right, an experiment: what the translation loses without each source word."
    )

    def __init__(self, page: TranslateState, theme: Theme, parent: QWidget | None = None) -> None:
        self.state = SourceState()
        super().__init__(page, theme, self.state.awaited, parent)
        self.explanation.setToolTip(ALTI_TIP)
        self.shares = BarList(
            theme, "Share of the source", "Blue: from the source. Pale: from the words before", rest="faint_accent"
        )
        self.words = BarList(theme, "Source words", "Click a word to leave it out; click it again to put it back")
        self.replacement = QLineEdit()
        self.replacement.setPlaceholderText("another word in its place")
        self.replacement.setToolTip("A word to stand in place of the chosen source word; empty: the word is left out")
        self.replace = QPushButton("Replace")
        self.replace.setToolTip("Translate with this word in place of the chosen one")
        self.outcome = QLabel()
        self.outcome.setTextFormat(Qt.TextFormat.RichText)
        self.outcome.setWordWrap(True)
        self.warnings = label("warm", wraps=True)
        self._shares_title, self._words_title = label("small", wraps=True), label("small", wraps=True)
        self._lay_out()
        self.words.label_clicked.connect(self._on_word)
        self.words.bar_clicked.connect(lambda index, _: self._on_word(index))
        self.replace.clicked.connect(self._on_replace)
        self.replacement.returnPressed.connect(self._on_replace)

    def apply_theme(self, theme: Theme) -> None:
        """Takes on new colours."""
        for part in (self.shares, self.words):
            part.apply_theme(theme)
        super().apply_theme(theme)

    def forget_sentence(self) -> None:
        """Another translation is shown, or none."""
        self.state.forget()
        self.replacement.clear()

    def refresh(self) -> None:
        """Asks for the findings if they are not there."""
        translation, off = self.page.translation, self.page.switchboard.off
        if off != self.state.off:
            self.cancel()
            self.state.follow_switches(off)
            self.replacement.clear()
        if translation is not None and self.state.is_lacking(translation):
            self.job_wanted.emit(SourceJob(translation, off))
        self.redraw()

    def refuse(self, request_id: int, failure: Failure, /) -> None:
        """A replacement that the model cannot read: the word is left out instead."""
        if request_id == self.awaited.request_id:
            self.state.replacement = ""
        super().refuse(request_id, failure)

    def in_the_circumstances(self) -> str:
        """Heads that are off are off here; a given translation is the one that is looked at."""
        off, translation = self.page.switchboard.off, self.page.translation
        is_given = translation is not None and translation.is_given
        what = "the given translation" if is_given else "the translation as it then is"
        if off:
            return f"Measured with {name_heads(off)} off, on {what}."
        return f"Measured on {what}." if is_given else ""

    def take(self, result: object) -> None:
        """Findings, or what a replacement did."""
        self.state.take(result)

    def redraw(self) -> None:
        """Shows the state."""
        super().redraw()
        findings = self.state.findings
        for part in (self._body, self.outcome, self.warnings, self.replacement, self.replace):
            part.setVisible(findings is not None)
        if findings is None:
            return
        shares = self.state.shares()
        mean = self.state.mean_share()
        self._shares_title.setText("share of the source" + (f"\n{mean:.0%} on average" if mean is not None else ""))
        self.shares.show_bars([self._share_bar(each) for each in shares])
        found = [each.warning.message for each in shares if each.warning is not None]
        self.warnings.setText("\n".join(found[:3]) + (f"\n… and {len(found) - 3} more." if len(found) > 3 else ""))
        self.warnings.setVisible(bool(found))
        self._show_words()
        has_place = self.state.place is not None
        self.replacement.setVisible(has_place)
        self.replace.setVisible(has_place)
        self.outcome.setText(self._outcome())

    def _share_bar(self, share: OutputShare) -> Bar:
        parts = "\n".join(f"{word}  {part:.0%}" for word, part in share.parts)
        tip = f"{share.word}: {share.source:.0%} from the source, {1 - share.source:.0%} from the words before\n{parts}"
        return Bar(share.word, share.source, f"{share.source:.0%}", is_changed=share.warning is not None, tip=tip)

    def _show_words(self) -> None:
        assert self.state.findings is not None
        probes = self.state.findings.probes
        self.words.setVisible(probes is not None)
        self._words_title.setText(
            "Δ log-probability of the\ntranslation without the word" if probes else self.state.findings.problem
        )
        if probes is None:
            return
        changes = [self.state.change_of(probe) for probe in probes.probes]
        largest = max((-change for change in changes), default=0.0)
        scale = max(largest, LEAST_SCALE)
        self.words.show_bars(
            [
                Bar(
                    probe.word.text,
                    max(0.0, -change) / scale,
                    number(change, signed=True),
                    is_lit=probe.place == self.state.place,
                    tip=f"without {probe.word.text}: {probe.text or 'nothing'}",
                )
                for probe, change in zip(probes.probes, changes, strict=True)
            ]
        )

    def _outcome(self) -> str:
        state, colors = self.state, self.theme.palette
        if state.findings is None or state.findings.probes is None:
            return ""
        muted = f"<span style='color:{colors.muted}'>"
        if state.place is None:
            return f"{muted}{HINT}</span>"
        translation = state.findings.contributions.translation
        word = html.escape(translation.source_words[state.place].text)
        what = f"“{html.escape(state.replacement)}” for “{word}”" if state.replacement else f"without “{word}”"
        probe = state.probe
        if probe is None:
            return f"{muted}{what}: …</span>"
        change = f"{muted} Δ log-probability of the old one {number(state.change_of(probe), signed=True)}</span>"
        if probe.is_same:
            return f"{muted}{what}:</span> the translation stays the same{change}"
        old = [each.text for each in translation.target_words]
        pieces = pieces_of(old, probe.words, probe.text) if probe.words else ()
        new = styled(pieces, colors.text, colors.muted, colors.warm)
        before = f"<p style='margin:0 0 3px 0'>{muted}before</span> {html.escape(translation.text)}</p>"
        return f"{before}<p style='margin:0'>{muted}{what}:</span> {new or 'nothing: it ends at once'}{change}</p>"

    def _on_word(self, index: int) -> None:
        assert self.state.findings is not None
        assert self.state.findings.probes is not None
        self.state.choose(self.state.findings.probes.probes[index].place)
        self.replacement.clear()
        self.cancel()
        self.awaited.forget()
        self.redraw()

    def _on_replace(self) -> None:
        self.awaited.problem = ""
        state = self.state
        if state.replace(self.replacement.text()) and state.place is not None and state.findings is not None:
            translation = state.findings.contributions.translation
            self.job_wanted.emit(ReplaceJob(translation, state.place, state.replacement, state.off))
        self.redraw()

    def _lay_out(self) -> None:
        self._body = QWidget()
        body = QVBoxLayout(self._body)
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(8)
        row = QHBoxLayout()
        row.addWidget(self.replacement, 1)
        row.addWidget(self.replace)
        columns = QHBoxLayout()
        columns.setSpacing(14)
        for title, bars in ((self._shares_title, self.shares), (self._words_title, self.words)):
            column = QVBoxLayout()
            column.setSpacing(4)
            column.addWidget(title)
            column.addWidget(bars)
            column.addStretch(1)
            columns.addLayout(column, 1)
        body.addLayout(columns)
        body.addStretch(1)
        self.column.addWidget(self.warnings)
        self.column.addWidget(scrolled(self._body), 1)
        self.column.addWidget(self.outcome)  # below: words must not move from under the mouse
        self.column.addLayout(row)
