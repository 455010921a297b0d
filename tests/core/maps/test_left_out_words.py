"""Content words that no output token needs are reported as left out; people have checked how often
that is right.
"""

import csv
import math
from pathlib import Path

import pytest
import torch

from augenmerk.core.extensions.training.corpora.parallel import read_lines
from augenmerk.core.maps.left_out import (
    LEAST_FACTOR,
    left_out_note,
    left_out_words,
    left_out_words_of,
)
from augenmerk.core.text.languages import FUNCTION_WORDS
from augenmerk.core.translation.experiment import Experiment, GivenTarget, SourceWordRemoved
from augenmerk.core.translation.result import TranslationStoppedError
from augenmerk.core.translation.translator import Translator

JUDGEMENTS = Path(__file__).with_name("left_out_words.tsv")
"""Words of `test_2016_flickr`: line and place count from 1. All words that the rule marked when it
was checked, and all that were left out of the translations of the first `NUM_READ` lines.
“translated”: the translation expresses the word, perhaps in an idiom."""
NUM_READ = 60
LEAST_PRECISION, LEAST_RECALL, LEAST_JUDGED = 0.85, 0.3, 0.95
LEFT_OUT = {
    "Eine alte Frau strickt gemütlich einen Pullover und wartet geduldig auf ihren Sohn.": {
        "gemütlich",
        "geduldig",
    },
    "Ein Junge wartet geduldig auf seinen Vater.": {"geduldig"},
    "Eine Frau in einer Strickjacke liest zu Hause ein Buch.": {"liest", "hause"},
    "Der Zug fährt um 17 Uhr nach München.": {"münchen"},
}
TRANSLATED = (
    "Eine Frau putzt den Teppich mit einem Staubsauger.",
    "Ein Hund läuft ohne Leine durch den Park.",
    "Ein Mann kauft 12 Eier auf dem Markt.",
    "Der Arzt untersucht den Patienten im Krankenhaus.",
    "Ein alter Mann spielt Schach gegen einen Roboter.",
    "Eine Frau steht mit einem Regenschirm in der Schlange vor dem Museum.",
    "Zwei Hunde spielen im Schnee mit einem roten Ball.",
    "Ein Mann faehrt fuer eine Party mit dem Zug.",
)


@pytest.fixture(scope="module")
def bundled() -> Translator:
    return Translator.load(device="cpu")


def reported(translator: Translator, text: str) -> set[str]:
    return {word.text for word in left_out_words(translator, translator.translate(text))}


@pytest.mark.heavy
def test_words_missing_from_the_translation_are_reported(bundled: Translator) -> None:
    assert {text: reported(bundled, text) for text in LEFT_OUT} == LEFT_OUT


@pytest.mark.parametrize("text", TRANSLATED)
def test_nothing_is_reported_of_a_sentence_that_is_translated_in_full(
    bundled: Translator, text: str
) -> None:
    assert reported(bundled, text) == set()


def test_the_words_are_those_without_which_the_plain_model_finds_the_translation_more_probable(
    bundled: Translator,
) -> None:
    """Computed word by word, by the model itself."""
    translation = bundled.translate(next(iter(LEFT_OUT)))
    limit, expected = math.log(LEAST_FACTOR), []
    for word in translation.source_words:
        ids = [*translation.source_ids[: word.start], *translation.source_ids[word.end :]]
        with torch.inference_mode():
            logits = bundled.model(
                torch.tensor([ids]), torch.tensor([translation.read_ids])
            ).logits[0]
        after = logits.log_softmax(-1)[torch.arange(len(logits)), list(translation.predicted_ids)]
        gains = after - torch.tensor(translation.log_probabilities)
        is_content = word.text not in {*FUNCTION_WORDS["de"].split(), "."}
        if is_content and gains.sum() >= limit and gains.min() > -limit:
            expected.append(word)
    assert len(expected) == 2
    assert left_out_words(bundled, translation) == tuple(expected)


def test_words_of_a_beam_and_under_a_change_of_the_source_are_those_of_the_sentence_as_read(
    bundled: Translator,
) -> None:
    text = next(iter(LEFT_OUT))
    assert {
        word.text for word in left_out_words(bundled, bundled.translate(text, beam=4))
    } <= LEFT_OUT[text]
    removed = bundled.run(Experiment(text, interventions=(SourceWordRemoved(4),)))
    assert {word.text for word in left_out_words(bundled, removed)} == {"geduldig"}


@pytest.mark.heavy
def test_many_translations_give_the_words_of_each(bundled: Translator) -> None:
    experiments = [Experiment(text) for text in (*LEFT_OUT, TRANSLATED[0], "Hund")]
    given = bundled.run(Experiment(next(iter(LEFT_OUT)), GivenTarget("A woman.")))
    with_maps = [*bundled.run_many(experiments), given]
    without_maps = [*bundled.run_many(experiments, need_maps=False), given]
    expected = [left_out_words(bundled, translation) for translation in with_maps]
    assert [{word.text for word in words} for words in expected] == [
        *LEFT_OUT.values(),
        set(),
        set(),
        set(),
    ]
    assert left_out_words_of(bundled, with_maps) == expected
    assert left_out_words_of(bundled, without_maps) == expected
    assert left_out_words_of(bundled, []) == []


def test_nothing_is_reported_without_a_rule_for_the_text(
    bundled: Translator, copy_translator: Translator
) -> None:
    text = next(iter(LEFT_OUT))
    translation = bundled.run(Experiment(text, GivenTarget("A woman.")))
    assert left_out_words(bundled, translation) == (), "a given translation"
    assert reported(bundled, "A woman secretly calls her lawyer in the evening.") == set(), (
        "not German"
    )
    assert reported(bundled, "Hund") == set(), "nothing would be left"
    assert reported(bundled, "Der, die und das.") == set(), "only function words"
    assert reported(copy_translator, "1 5 7 3 9") == set(), "the copy task has no function words"


def test_a_stop_is_obeyed(bundled: Translator) -> None:
    translation = bundled.translate(next(iter(LEFT_OUT)))
    with pytest.raises(TranslationStoppedError):
        left_out_words(bundled, translation, should_stop=lambda: True)


def test_the_note_names_the_word() -> None:
    assert (
        left_out_note("grill")
        == "No word of the translation depends on “grill”: it was probably left out."
    )


@pytest.mark.slow
@pytest.mark.heavy
def test_most_reported_words_are_really_left_out(
    bundled: Translator, multi30k_folder: Path
) -> None:
    with JUDGEMENTS.open(encoding="utf-8", newline="") as file:
        judged = {
            (int(row["line"]), int(row["place"])): row
            for row in csv.DictReader(file, delimiter="\t")
        }
    lines = read_lines(multi30k_folder / "test_2016_flickr.de.gz")
    marked, sentences = [], {line for line, _ in judged} | set(range(1, NUM_READ + 1))
    for line in sorted(sentences):
        translation = bundled.translate(lines[line - 1])
        words = left_out_words(bundled, translation)
        for number, word in enumerate(translation.source_words, 1):
            row = judged.get((line, number))
            assert row is None or row["word"] == word.text, "the judgements are of this corpus"
            if word in words:
                marked.append((line, number))
    verdicts = [judged[key]["verdict"] for key in marked if key in judged]
    assert len({line for line, _ in marked}) >= 100
    assert len(verdicts) / len(marked) >= LEAST_JUDGED, (
        "marks that nobody checked: judge them again"
    )
    assert verdicts.count("left out") / len(verdicts) >= LEAST_PRECISION
    omissions = [
        key for key, row in judged.items() if key[0] <= NUM_READ and row["verdict"] == "left out"
    ]
    assert sum(key in marked for key in omissions) / len(omissions) >= LEAST_RECALL
