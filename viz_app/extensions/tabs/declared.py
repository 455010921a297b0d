"""The tabs of this project, found by entry points. Their code is imported when they are shown."""

from typing import get_args

from augenmerk.core.extensions.analyses.contributions import METHOD

from ...state.tabs import Content, Tab
from .compare.questions import CompareQuestion
from .heads.meanings import MEANINGS as MEANINGS_OF_HEADS
from .heads.meanings import HeadsQuestion, SampleKind
from .word.meanings import MEANINGS as MEANINGS_OF_WORD
from .word.meanings import WordView

STEPS = Tab(
    "Steps",
    "Go through decoding token by token; force another token; set a row of attention",
    "One decoding step. Left: the candidates. Click one to force it, and again to let the model "
    "choose. Right: where the chosen head looks. Click to set the row.",
    "augenmerk.viz_app.extensions.tabs.steps.view:StepsTab",
    order=10,
    contents={"step": Content(0)},
)
WORD = Tab(
    "Word",
    "Why this word? Its logit as a sum over heads and feed-forward networks; the logit lens",
    MEANINGS_OF_WORD["parts"],
    "augenmerk.viz_app.extensions.tabs.word.view:WordTab",
    order=20,
    search_words="parts direct logit attribution, encoder layers, DecoderLens",
    explains_words=True,
    contents={
        "step": Content(None),
        "foil": Content("", earlier_name="rival"),
        "view": Content("parts", get_args(WordView)),
    },
)
ALIGNMENT = Tab(
    "Alignment",
    "Word links of the chosen head or measure; find the best aligner",
    "Solid: the source word at which the chosen head looks most, in the current measure and row "
    "naming. Dashed: weaker links. A link shows where the model looks, which may not be the "
    "word's translation.",
    "augenmerk.viz_app.extensions.tabs.alignment.view:AlignmentTab",
    order=30,
    contents={"threshold": Content(0.2)},
)
HEADS = Tab(
    "Heads",
    "Importance and role of every head over a sample of sentences",
    MEANINGS_OF_HEADS["importance"],
    "augenmerk.viz_app.extensions.tabs.heads.view:HeadsTab",
    order=40,
    contents={
        "question": Content("importance", get_args(HeadsQuestion)),
        "sample": Content("gold", get_args(SampleKind)),
    },
)
SOURCE = Tab(
    "Source",
    "How much of each output word comes from the source; remove or replace a source word",
    f"Left, by {METHOD}: the share of the source in each output word; the rest comes from the "
    "words before. This estimates mixing, not cause. Right, an experiment: how much the "
    "translation's log-probability changes without each source word.",
    "augenmerk.viz_app.extensions.tabs.source.view:SourceTab",
    order=50,
    follows_head=False,
)
COMPARE = Tab(
    "Compare",
    "Two sentences in one model, or one sentence in two checkpoints, with the difference",
    "The chosen head in both, and second minus first for common words. The difference shows "
    "where attention moved, not why a word changed.",
    "augenmerk.viz_app.extensions.tabs.compare.view:CompareTab",
    order=60,
    has_sentences=True,
    contents={
        "question": Content("sentence", get_args(CompareQuestion)),
        "text": Content(""),
        "reads_first": Content(False),
    },
)
