"""Writes the lessons that ship to `resources/lessons`: `python -m tools.make_lessons`. Loads the bundled model.

Needed when the bundled model is replaced, as a lesson names its model by a digest. In a scene's text, {weight} becomes
the weight of the pinned cell, and {translation} what the model says. A test recomputes both, and the other claims.
Change the texts where the model does something else now.
"""

from dataclasses import dataclass

from augenmerk.core.model.heads import Head
from augenmerk.core.resources import resource_path
from augenmerk.core.translation.experiment import Experiment, HeadScaled, Intervention, SourceWordReplaced
from augenmerk.core.translation.experiment_file import ModelReference, SavedExperiment, ViewValue
from augenmerk.core.translation.lesson_file import Lesson, Scene, write_lesson_file
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.translator import Translator

LADDER = "Ein Mann in einem blauen Hemd steht auf einer Leiter."
DOGS = "Zwei Hunde spielen im Schnee."
MARKET = "Auf dem Markt verkauft eine junge Frau frische Blumen."
COOK = "Ein Koch schneidet in einer kleinen Küche Gemüse."
NEWSPAPER = "Der Mann, der ein rotes Hemd trägt, liest eine Zeitung."
SIGN = "Ein Mann hält ein Schild hoch."
WORKSHOP = "Ein Mann repariert ein Fahrrad in einer Fahrradwerkstatt."
NO_SHIRT = "Ein Mann trägt kein Hemd."
NUM_LAYERS, NUM_HEADS = 3, 8


@dataclass(frozen=True)
class Draft:
    """A scene before its positions are known.

    Attributes:
        title, question: see `Scene`.
        text: the scene's, with {weight} for that of the pinned cell and {translation} for that with all changes.
        sentence: in German.
        head: as people count: "cross 2·7".
        cell: tokens of the row and the column that are pinned, the first such; empty if nothing is.
        changes: interventions.
    """

    title: str
    text: str
    question: str
    sentence: str
    head: str
    cell: tuple[str, str] | None = None
    changes: tuple[Intervention, ...] = ()


def off(kind: str, *layers: int) -> tuple[Intervention, ...]:
    """All heads of these layers, counted from 0, switched off."""
    return tuple(HeadScaled(Head(kind, layer, head)) for layer in layers for head in range(NUM_HEADS))  # type: ignore[arg-type]


LESSONS = {
    "1-attention": (
        "Attention in five scenes",
        (
            Draft(
                "One cell",
                "Each row is an English token while it is predicted. Each column is a German token. While the model "
                "predicts “blue”, this head gives {weight} of its attention to “blauen”.",
                "Which German word does this head look at while the model predicts “ladder”?",
                LADDER,
                "cross 2·5",
                ("blue", "blauen"),
            ),
            Draft(
                "One row",
                "The weights of a row add up to 100%. The largest weight in the row of “ladder” is {weight}, at “in”. "
                "This head spreads its attention.",
                "Choose another head. Is its row of “ladder” more or less spread?",
                LADDER,
                "cross 1·1",
                ("ladder", "in"),
            ),
            Draft(
                "Looking back",
                "The decoder also looks at the English tokens that it has read. While the model predicts “on”, "
                "this head gives {weight} to “standing”. Tokens that come later are masked.",
                "Why is one half of this map empty?",
                LADDER,
                "decoder 1·1",
                ("on", "standing"),
            ),
            Draft(
                "Both directions",
                "Inside the encoder, German tokens look at German tokens, before and after them. “blauen” gives "
                "{weight} to “hemd”, which comes after it.",
                "Why does the encoder need no causal mask?",
                LADDER,
                "encoder 1·7",
                ("blauen", "hemd"),
            ),
            Draft(
                "Without cross-attention",
                "All cross-attention heads are switched off. The decoder still writes English, but it cannot see the "
                "German sentence. Cross-attention connects the two.",
                "Can any word of the new translation come from the German sentence? Give a reason.",
                LADDER,
                "cross 2·5",
                None,
                off("cross", 0, 1, 2),
            ),
        ),
    ),
    "2-word-order": (
        "Word order",
        (
            Draft(
                "The same order",
                "German and English have the same order here. From row to row, the largest weight mostly moves to the "
                "right. “in” gives {weight} to “im”.",
                "In which rows does the largest weight not move to the right?",
                DOGS,
                "cross 2·5",
                ("in", "im"),
            ),
            Draft(
                "The verb before its subject",
                "In the German sentence, the verb comes before its subject. For “selling”, this head goes back to "
                "“verkauft” with {weight}.",
                "Which English words come before “selling”, and where do they stand in German?",
                MARKET,
                "cross 2·1",
                ("selling", "verkauft"),
            ),
            Draft(
                "The place moves to the end",
                "The German sentence begins with the place. In English, the place comes last. “market” gives {weight} "
                "to “markt”.",
                "Write the English words in the order of their German partners.",
                MARKET,
                "cross 2·4",
                ("market", "markt"),
            ),
            Draft(
                "The object moves forward",
                "“gemüse” is the last German word. “vegetables” is the fourth English word. The cell of the two lies "
                "far from the diagonal, with {weight}.",
                "How many columns lie between this cell and the diagonal?",
                COOK,
                "cross 3·3",
                ("vegetables", "gemüse"),
            ),
            Draft(
                "The verb at the end of a clause",
                "In a relative clause, the German verb comes last. For “wearing”, this head looks ahead to “trägt” "
                "with {weight}.",
                "Which other heads look at “trägt” while “wearing” is predicted?",
                NEWSPAPER,
                "cross 3·2",
                ("wearing", "trägt"),
            ),
            Draft(
                "One verb in two places",
                "The two words “hält” and “hoch” are one German verb. For “up”, this head looks at the second part, "
                "“hoch”, with {weight}.",
                "Where does this head look while the model predicts “holding”?",
                SIGN,
                "cross 3·2",
                ("up", "hoch"),
            ),
        ),
    ),
    "3-why-heads-differ": (
        "Why heads differ",
        (
            Draft(
                "The token before",
                "Many tokens in this head look at the token before them. “auf” gives {weight} to “steht”.",
                "Find a token in this map that does not look at the token before it.",
                LADDER,
                "encoder 3·3",
                ("auf", "steht"),
            ),
            Draft(
                "The noun ahead",
                "This head has learned something else. “auf” gives {weight} to “leiter”, the noun that follows it.",
                "Where do “in” and “ein” look?",
                LADDER,
                "encoder 1·8",
                ("auf", "leiter"),
            ),
            Draft(
                "The word that is translated",
                "This head finds the German word that is being translated. “on” gives {weight} to “auf”.",
                "Read the largest cell of each row. Which rows do not point at their translation?",
                LADDER,
                "cross 2·5",
                ("on", "auf"),
            ),
            Draft(
                "Another place for the same word",
                "Head cross 1·3 looks at the German “in” while the model predicts the English “in”. This head looks at "
                "“steht” with {weight}. Heads differ because each has its own queries and keys.",
                "What could the verb tell the model about the next word?",
                LADDER,
                "cross 2·1",
                ("in", "steht"),
            ),
            Draft(
                "Nothing to look at",
                "A row adds up to 100% even where no German word is needed. While the model predicts the full stop, "
                "this head gives {weight} to “<sos>”, the start token.",
                "Find another row of this head that looks at “<sos>”.",
                LADDER,
                "cross 3·6",
                (".", "<sos>"),
            ),
            Draft(
                "Eight heads fewer",
                "All eight cross-attention heads of layer 2 are switched off. The translation stays “{translation}” "
                "The other layers still read the German.",
                "Switch off the cross-attention of layer 1 as well. What changes?",
                LADDER,
                "cross 2·5",
                None,
                off("cross", 1),
            ),
        ),
    ),
    "4-not-explanation": (
        "Attention is not explanation",
        (
            Draft(
                "A large weight",
                "“kein” means no. While the model predicts “shirt”, this head gives {weight} to “·ein”, the second "
                "piece of “kein”. The translation is wrong all the same: “{translation}”",
                "What should the translation be?",
                NO_SHIRT,
                "cross 2·8",
                ("shirt", "·ein"),
            ),
            Draft(
                "Without the head",
                "That head is switched off now. The translation is still “{translation}” A large weight "
                "need not have an effect.",
                "Compare the probabilities of the tokens with and without the head. Which changes most?",
                NO_SHIRT,
                "cross 2·8",
                None,
                off("cross", 1)[7:8],
            ),
            Draft(
                "Without the word",
                "Now “kein” is replaced by “ein” in the German sentence. The translation is again “{translation}” "
                "The head looked at a word without which the model says the same.",
                "What would you have to see to say that the model understood “kein”?",
                NO_SHIRT,
                "cross 2·8",
                None,
                (SourceWordReplaced(3, "ein"),),
            ),
            Draft(
                "A head that matters",
                "One encoder head is switched off. “shop” becomes “outfit”. The map does not show this: at “·werk”, "
                "a piece of the compound, the largest weight of this head is only {weight}, at “in”.",
                "Switch the head on again. Which heads of the encoder look at “·werk” most?",
                WORKSHOP,
                "encoder 2·5",
                ("·werk", "in"),
                off("encoder", 1)[4:5],
            ),
            Draft(
                "Look, change, compare",
                "All 24 decoder heads are switched off. The translation becomes “{translation}” A map shows where a "
                "head looks. Only a change shows what that is worth.",
                "Which of the three kinds of attention does the model need most for this sentence? Try it.",
                LADDER,
                "decoder 1·1",
                None,
                off("decoder", 0, 1, 2),
            ),
        ),
    ),
}


def head_of(name: str) -> Head:
    """A head as people count, such as "cross 2·7", by its positions, which count from 0."""
    kind, _, place = name.partition(" ")
    layer, _, head = place.partition("·")
    return Head(kind, int(layer) - 1, int(head) - 1)  # type: ignore[arg-type]


def pinned_cell(translation: Translation, head: Head, cell: tuple[str, str]) -> tuple[int, int]:
    """The positions of two tokens; of the query the first from which the key is looked at most."""
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
    """The scene, with the positions that the bundled model's translation gives."""
    experiment = Experiment(draft.sentence, interventions=draft.changes)
    translation = translator.run(experiment)
    head = head_of(draft.head)
    view: dict[str, ViewValue] = {
        "picture": "heatmap",
        "measure": "weight",
        "shown": "changed",
        "label_mode": "predicted",
        "merges_words": False,  # weights as the texts name them: of tokens, none of them hidden
        "hides_wrapping": False,
        "hides_punctuation": False,
        "head": (head.kind, head.layer, head.head),
    }
    weight = "no cell is pinned"
    if draft.cell is not None:
        view["pinned"] = pair = pinned_cell(translation, head, draft.cell)
        weight = f"{100 * translation.maps.of_kind(head.kind)[head.layer, head.head][pair]:.0f}%"
    print(f"  {draft.title}: {translation.text} {draft.cell or ''} {weight}")
    text = draft.text.format(weight=weight, translation=translation.text)
    return Scene(draft.title, text, SavedExperiment(experiment, reference, view), draft.question)


def main() -> None:
    """Writes the files, and prints what there is to see in each scene."""
    translator = Translator.load(device="cpu")
    reference = ModelReference(translator.name, translator.digest)
    for name, (title, drafts) in LESSONS.items():
        print(title)
        scenes = tuple(scene_of(draft, translator, reference) for draft in drafts)
        write_lesson_file(Lesson(title, scenes), resource_path(f"lessons/{name}.augenmerk"))


if __name__ == "__main__":
    main()
