"""The target language of a multilingual model, chosen next to the sentence."""

from augenmerk.core.text.languages import with_code

from ...state.languages import language_of, target_code
from ...views.sentence import SentencePanel
from ...widgets.buttons import ChoiceMenu
from ...widgets.layouts import set_visible
from .sentence_part import SentencePart


class TargetMenu(ChoiceMenu):
    """The target language of a multilingual model; hidden for all others.

    The sentence begins with the language's code, which is saved, undone and passed on like any
    other word.
    """

    def __init__(self, panel: SentencePanel) -> None:
        super().__init__("Target language", {}, "into: ")
        self._state, self._field = panel.state, panel.input
        self.chosen.connect(lambda code: self._field.set_text(with_code(self._field.text, code)))
        self.hide()
        panel.rows.add_beside_field(self)
        for event in (self._state.model_changed, self._state.experiment_changed):
            event.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        model = self._state.model
        known = model.target_codes if model is not None else ()
        codes = {code: (language_of(code), f"{language_of(code)}   {code}") for code in known}
        self.set_entries(dict(sorted(codes.items(), key=lambda entry: entry[1])))
        set_visible(self, bool(codes), focus_to=self._field)
        if codes:
            self.show_choice(target_code(model, self._state.experiment.source_text) or "choose")


class TargetPart(SentencePart[TargetMenu]):
    """Offers the target languages on each page that has a sentence."""

    make = TargetMenu
