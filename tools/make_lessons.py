"""Write the shipped lessons to `resources/lessons`: `python -m tools.make_lessons`.

Loads the bundled model.

Run it after replacing the bundled model: a lesson names its model by a digest. In the text of a
scene, {weight} becomes the weight of the pinned cell and {translation} the model's translation. A
test recomputes both, and the other claims. Edit the texts where the new model behaves differently.
"""

from dataclasses import dataclass

from augenmerk.core.extensions.lessons.lesson_file import Lesson, Scene, write_lesson_file
from augenmerk.core.model.heads import Head
from augenmerk.core.quantities import percent
from augenmerk.core.resources import resource_path
from augenmerk.core.translation.experiment import (
    Experiment,
    HeadScaled,
    Intervention,
    SourceWordReplaced,
)
from augenmerk.core.translation.experiment_file import ModelReference, SavedExperiment, ViewValue
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.translator import Translator

LADDER = "Ein Mann in einem blauen Hemd steht auf einer Leiter."
DOGS = "Zwei Hunde spielen im Schnee."
MARKET = "Auf dem Markt verkauft eine junge Frau frische Blumen."
COOK = "Ein Koch schneidet in einer kleinen Küche Gemüse."
NEWSPAPER = "Der Mann, der ein rotes Hemd trägt, liest eine Zeitung."
SIGN = "Ein Mann hält ein Schild hoch."
OFFICE = "Ein Mann telefoniert in einem unaufgeräumten Büro."
NO_SHIRT = "Ein Mann trägt kein Hemd."
NUM_LAYERS, NUM_HEADS = 3, 8


@dataclass(frozen=True)
class Draft:
    """A scene whose token positions are not yet known.

    Attributes:
        title: see `Scene`.
        question: see `Scene`.
        text: with {weight} for the pinned cell and {translation} for the translation with all
            changes.
        sentence: in German.
        head: counted from 1: "cross 2·7".
        cell: the tokens of the pinned row and column; None pins nothing.
        changes: interventions.
        answer: see `Scene`.
    """

    title: str
    text: str
    question: str
    sentence: str
    head: str
    cell: tuple[str, str] | None = None
    changes: tuple[Intervention, ...] = ()
    answer: str = ""


def off(kind: str, *layers: int) -> tuple[Intervention, ...]:
    """All heads of these layers, counted from 0, switched off."""
    return tuple(
        HeadScaled(Head(kind, layer, head))  # type: ignore[arg-type]
        for layer in layers
        for head in range(NUM_HEADS)
    )


LESSONS = {
    "1-attention": (
        "Attention in five scenes",
        (
            Draft(
                "One cell",
                "Each row is an English token that the model predicts. Each column is a German "
                "token that it reads. To predict “blue”, this head gives {weight} of its "
                "attention to “blauen”.",
                "Which German word does this head look at to predict “ladder”?",
                LADDER,
                "cross 2·8",
                ("blue", "blauen"),
                answer="It looks at “leiter”.",
            ),
            Draft(
                "One row",
                "The weights of a row add up to 100%. The largest weight in the row of “ladder” "
                "is only {weight}, at “leiter”. This head spreads its attention.",
                "Choose another head of cross-attention. Is its row of “ladder” sharper or more "
                "spread out?",
                LADDER,
                "cross 1·6",
                ("ladder", "leiter"),
                answer="Nearly always sharper. Only cross 3·4 and 3·7 have no weight above 40% in "
                "this row either.",
            ),
            Draft(
                "Looking back",
                "The decoder also looks at the English tokens that it has read. To predict “on”, "
                "this head gives {weight} to “standing”. Later tokens are masked.",
                "Why is one half of this map empty?",
                LADDER,
                "decoder 1·1",
                ("on", "standing"),
                answer="A row sees only the tokens that have been read so far. The weights of all "
                "later ones are 0.",
            ),
            Draft(
                "Both directions",
                "In the encoder, German tokens can look at tokens before and after them. This "
                "head looks ahead: “blauen” gives {weight} to “hemd”, which comes after it.",
                "Why does the encoder need no causal mask?",
                LADDER,
                "encoder 1·2",
                ("blauen", "hemd"),
                answer="The whole German sentence is known from the start, and none of it has to "
                "be predicted.",
            ),
            Draft(
                "Without cross-attention",
                "All cross-attention heads are off. The decoder still writes English, but it "
                "cannot see the German sentence. Cross-attention is the only connection between "
                "the two.",
                "“A man in a blue shirt” is right. Does it come from the German?",
                LADDER,
                "cross 2·8",
                None,
                off("cross", 0, 1, 2),
                answer=(
                    "No, it is a coincidence. Without cross-attention, the translation is the "
                    "same for every German sentence. Captions are often about a man in a blue "
                    "shirt."
                ),
            ),
        ),
    ),
    "2-word-order": (
        "Word order",
        (
            Draft(
                "The same order",
                "German and English have the same word order here. From row to row, the largest "
                "weight mostly moves to the right. “in” gives {weight} to “im”.",
                "In which rows does the largest weight not move to the right?",
                DOGS,
                "cross 2·5",
                ("in", "im"),
                answer=(
                    "In the rows of “snow” and “<eos>”. “snow” keeps the column of the row above "
                    "it, “schnee”; “<eos>” goes back to the full stop."
                ),
            ),
            Draft(
                "The verb before its subject",
                "In the German sentence, the verb comes before its subject. To predict "
                "“selling”, this head goes back and gives {weight} to “verkauft”.",
                "Which English words come before “selling”, and where do they stand in German?",
                MARKET,
                "cross 2·8",
                ("selling", "verkauft"),
                answer=(
                    "“a”, “young” and “woman”. Their German partners, “eine”, “junge” and "
                    "“frau”, come after “verkauft”."
                ),
            ),
            Draft(
                "The place moves to the end",
                "German starts with the place. English puts it last. “market” gives {weight} to "
                "“markt”.",
                "Write down the English words in the order of their German partners.",
                MARKET,
                "cross 2·8",
                ("market", "markt"),
                answer="“at”, “the”, “market”, “selling”, “a”, “young”, “woman”, “fresh”, “flowers”.",
            ),
            Draft(
                "The object moves forward",
                "“gemüse” is the last German word, “vegetables” the fifth English word. Their "
                "cell, with {weight}, lies far from the diagonal.",
                "How many German words lie between the fifth one and “gemüse”?",
                COOK,
                "cross 3·3",
                ("vegetables", "gemüse"),
                answer="Two: “kleinen” and “küche”. If the order were the same, this row would "
                "look at “einer”.",
            ),
            Draft(
                "The verb at the end of a clause",
                "In a German relative clause, the verb comes last. To predict “wearing”, this "
                "head looks ahead and gives {weight} to “trägt”.",
                "Which other heads look at “trägt” to predict “wearing”?",
                NEWSPAPER,
                "cross 2·8",
                ("wearing", "trägt"),
                answer=(
                    "Cross 1·7, 2·4, 3·1, 3·5 and 3·8. In these heads, too, “trägt” has the "
                    "largest weight of this row."
                ),
            ),
            Draft(
                "One verb in two places",
                "“hält” and “hoch” are two parts of one German verb. To predict “up”, this head "
                "gives {weight} to the second part, “hoch”.",
                "Where does this head look to predict “holding”?",
                SIGN,
                "cross 2·4",
                ("up", "hoch"),
                answer="At the first part of the verb, “hält”, with 90%.",
            ),
        ),
    ),
    "3-why-heads-differ": (
        "Why heads differ",
        (
            Draft(
                "The token before",
                "In this head, most tokens look at the token before them. “auf” gives {weight} "
                "to “steht”.",
                "Find a token that does not look at the token before it.",
                LADDER,
                "encoder 2·6",
                ("auf", "steht"),
                answer="“mann” and “in” look mostly at “<sos>”, and “<eos>” looks at “leiter”, two "
                "tokens before it.",
            ),
            Draft(
                "The noun ahead",
                "This head does something else. “auf” gives {weight} to “leiter”, the noun that "
                "follows.",
                "Where do “in” and “ein” look?",
                LADDER,
                "encoder 1·3",
                ("auf", "leiter"),
                answer="At the noun that follows, too: “in” gives 83% to “hemd”, and “ein” gives "
                "55% to “mann”.",
            ),
            Draft(
                "The word that is translated",
                "This head finds the German word to translate next. “on” gives {weight} to “auf”.",
                "Find the largest cell of each row. Which rows do not point at the word they "
                "translate?",
                LADDER,
                "cross 2·8",
                ("on", "auf"),
                answer="Only that of the full stop, which points at “<eos>”. “is” and “standing” "
                "share “steht”.",
            ),
            Draft(
                "Another place for the same word",
                "To predict the English “in”, head cross 2·8 looks at the German “in”. This head "
                "gives {weight} to “steht”. Heads differ because each has its own queries and "
                "keys.",
                "What could the verb reveal about the next word?",
                LADDER,
                "cross 2·7",
                ("in", "steht"),
                answer=(
                    "Perhaps that a place follows, and whether English needs “in” or “on”. The "
                    "map cannot confirm this: it shows where a head looks, not why."
                ),
            ),
            Draft(
                "Nothing to look at",
                "A row adds up to 100% even if no German word is needed. To predict the full "
                "stop, this head gives {weight} to “<sos>”, the start token.",
                "Find another row of this head that gives more than half of its weight to “<sos>”.",
                LADDER,
                "cross 3·8",
                (".", "<sos>"),
                answer="The row of “<eos>” gives 86% to “<sos>”.",
            ),
            Draft(
                "Eight heads fewer",
                "All eight cross-attention heads of layer 2 are off. The translation is still "
                "“{translation}” The other layers still read the German sentence.",
                "Switch off the cross-attention of layer 1 as well. What changes?",
                LADDER,
                "cross 2·8",
                None,
                off("cross", 1),
                answer=(
                    "No word changes. Any one of the three layers is enough for this sentence. "
                    "Only with all three off does the translation lose it."
                ),
            ),
        ),
    ),
    "4-not-explanation": (
        "Attention is not explanation",
        (
            Draft(
                "A large weight",
                "“kein” means no. To predict “shirt”, this head gives {weight} to “k”, the first "
                "piece of “kein”. But the translation is wrong: “{translation}”",
                "What should the translation be?",
                NO_SHIRT,
                "cross 3·6",
                ("shirt", "k"),
                answer="“A man is not wearing a shirt.”",
            ),
            Draft(
                "Without the head",
                "Now that head is off. The translation is still “{translation}” A large weight "
                "may have no effect.",
                "Compare the probabilities of the tokens with and without the head. Which one "
                "changes most?",
                NO_SHIRT,
                "cross 3·6",
                None,
                off("cross", 2)[5:6],
                answer="That of “shirt”, and it even rises, from 53% to 55%.",
            ),
            Draft(
                "Without the word",
                "Now “ein” replaces “kein” in the German sentence. The translation is again "
                "“{translation}” The head looked at a word that changed no word of the "
                "translation.",
                "What evidence would convince you that a model understands “kein”?",
                NO_SHIRT,
                "cross 3·6",
                None,
                (SourceWordReplaced(3, "ein"),),
                answer=(
                    "Many pairs of sentences with and without “kein”, in which the translations "
                    "differ in exactly this negation."
                ),
            ),
            Draft(
                "A head that matters",
                "One encoder head is off, and “messy” becomes “unfined”, which is no word. The "
                "map does not explain this: to read “·ger”, a piece of “unaufgeräumten”, the "
                "head gives {weight} to the next piece, “·äum”.",
                "In which other heads of this layer does “·ger” look at “·äum” most? Switch one "
                "of them off instead.",
                OFFICE,
                "encoder 1·4",
                ("·ger", "·äum"),
                off("encoder", 0)[3:4],
                answer="In all but encoder 1·7. Without any one of these other heads, the "
                "translation stays right.",
            ),
            Draft(
                "Look, change, compare",
                "All 24 heads of decoder self-attention are off, and the translation is still "
                "“{translation}” A map shows where a head looks. Only a change shows what that "
                "is worth.",
                "Which of the three kinds of attention does this sentence need most? Try it.",
                LADDER,
                "decoder 1·1",
                None,
                off("decoder", 0, 1, 2),
                answer=(
                    "Cross-attention. Without it, the model cannot read the sentence, and the "
                    "ladder is gone: “A man in a blue shirt is walking down the street with a "
                    "smile on it.” Without encoder self-attention, the translation does not "
                    "change."
                ),
            ),
        ),
    ),
}


def head_of(name: str) -> Head:
    """The head with this name, such as "cross 2·7", which counts from 1."""
    kind, _, numbers = name.partition(" ")
    layer, _, head = numbers.partition("·")
    return Head(kind, int(layer) - 1, int(head) - 1)  # type: ignore[arg-type]


def pinned_cell(translation: Translation, head: Head, cell: tuple[str, str]) -> tuple[int, int]:
    """The positions of two tokens.

    If they occur more than once, the pair with the largest weight.
    """
    queries = translation.source_tokens if head.kind == "encoder" else translation.predicted_tokens
    keys = translation.read_tokens if head.kind == "decoder" else translation.source_tokens
    weights = translation.maps.of_kind(head.kind)[head.layer, head.head]
    pairs = [
        (query, key)
        for query, token in enumerate(queries)
        for key, other in enumerate(keys)
        if (token, other) == cell and key < weights.shape[1]
    ]
    return max(pairs, key=lambda pair: float(weights[pair]))


def scene_of(draft: Draft, translator: Translator, reference: ModelReference) -> Scene:
    """The scene, with positions from the bundled model's translation."""
    experiment = Experiment(draft.sentence, interventions=draft.changes)
    translation = translator.run(experiment)
    head = head_of(draft.head)
    view: dict[str, ViewValue] = {
        "picture": "heatmap",
        "measure": "weight",
        "shown": "changed",
        "label_mode": "predicted",
        "merges_words": False,  # the texts name weights of single tokens, none of them hidden
        "hides_wrapping": False,
        "hides_punctuation": False,
        "head": (head.kind, head.layer, head.head),
    }
    weight = "no pinned cell"
    if draft.cell is not None:
        view["pinned"] = pair = pinned_cell(translation, head, draft.cell)
        weight = percent(float(translation.maps.of_kind(head.kind)[head.layer, head.head][pair]))
    print(f"  {draft.title}: {translation.text} {draft.cell or ''} {weight}")
    text = draft.text.format(weight=weight, translation=translation.text)
    return Scene(
        draft.title,
        text,
        SavedExperiment(experiment, reference, view),
        draft.question,
        draft.answer,
    )


def main() -> None:
    """Write the files and print what each scene shows."""
    translator = Translator.load(device="cpu")
    reference = ModelReference(translator.name, translator.digest)
    for name, (title, drafts) in LESSONS.items():
        print(title)
        scenes = tuple(scene_of(draft, translator, reference) for draft in drafts)
        write_lesson_file(Lesson(title, scenes), resource_path(f"lessons/{name}.augenmerk"))


if __name__ == "__main__":
    main()
