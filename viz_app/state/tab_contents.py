"""The contents of the analysis tabs, such as a word or a second sentence, which scenes of lessons keep. No Qt."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from psygnal import SignalGroupDescriptor

WordView = Literal["parts", "lens", "layers"]
HeadsQuestion = Literal["importance", "behaviour"]
SampleKind = Literal["gold", "examples", "multi30k", "file"]
CompareQuestion = Literal["sentence", "checkpoint"]


@dataclass
class TabContents:
    """The choices in each tab. Each change of a field is an event of that name, which begins with that of the tab.

    Attributes:
        steps_step: the decoding step.
        word_step: the decoding step of the explained token; None before one is chosen.
        word_rival: the word that it is compared with, as typed, or an entry of the vocabulary; empty for the next best.
        word_view: the parts of the logit, the predictions after each sublayer, or the translations from each encoder
            layer.
        alignment_threshold: weaker links are not drawn, except the strongest of each target word.
        heads_question, heads_sample: what is measured, and on which sentences; a file is not kept by lessons.
        compare_question: the choice between another sentence and another checkpoint.
        compare_text: the second sentence of the last request.
        compare_reads_first: whether the second is shown with the words of the first translation.
    """

    events: ClassVar[SignalGroupDescriptor] = SignalGroupDescriptor()

    steps_step: int = 0
    word_step: int | None = None
    word_rival: str = ""
    word_view: WordView = "parts"
    alignment_threshold: float = 0.2
    heads_question: HeadsQuestion = "importance"
    heads_sample: SampleKind = "gold"
    compare_question: CompareQuestion = "sentence"
    compare_text: str = ""
    compare_reads_first: bool = False


CONTENT_FIELDS = {field.name: field for field in fields(TabContents)}


def content(name: str) -> Any:
    """A property for the state of a tab: the field `name` of its `state.tabs`."""
    return property(
        lambda part: getattr(part.state.tabs, name), lambda part, value: setattr(part.state.tabs, name, value)
    )
