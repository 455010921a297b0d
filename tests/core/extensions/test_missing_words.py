"""A translation that lacks many words of its text says so, and ordinary captions do not."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from augenmerk.core.extensions.missing_words import (
    REPEATS,
    SHORTER,
    missing_words_note,
    missing_words_rules,
)
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.parallel import read_lines
from augenmerk.core.maps.left_out import left_out_words
from augenmerk.core.translation.experiment import Experiment, ForcedToken, GivenTarget
from augenmerk.core.translation.translator import Translator

LIST = (
    "Ein Mann in einem roten Hemd und eine Frau in einem blauen Kleid und ein Kind in einer gelben "
    "Jacke und ein Hund mit einem Ball und eine Katze auf einem Baum und ein Vogel auf dem Dach und "
    "ein Pferd auf der Wiese und ein Junge auf dem Fahrrad spielen zusammen im Park."
)
TWICE = f"{LIST} {LIST[LIST.index('und eine Frau') :]}"
ENDLESS = (
    "Ein Junge in einem roten Pullover, der am Strand rennt und zwei Kinder spielen in dem Wasser "
    "aus einem Wasserspeier, der mit einem Mosaik verkleidet ist und eine grauhaarige Frau in gelbem "
    "Hemd sitzt unter einem blauen Schild und ein Mann macht in einem seichten Fluss inmitten der "
    "Felsen Pause."
)
"""Four captions, to which the bundled model answers “… a blue shirt and a blue shirt and …”."""
CAPTION = "Ein Mann in einem blauen Hemd steht auf einer Leiter und putzt ein Fenster."
MOST_CAPTIONS = 0.005


@pytest.fixture(scope="module")
def bundled() -> Translator:
    return Translator.load(device="cpu")


def note_on(translator: Translator, text: str) -> str:
    return missing_words_note(translator.translate(text), translator.run_config)


def pattern(note: str) -> str:
    return re.escape(note).replace(r"\{count\}", r"(\d+)")


@pytest.mark.heavy
@pytest.mark.parametrize(("text", "least"), [(LIST, 12), (TWICE, 50)])
def test_a_text_of_which_half_is_missing_is_reported(
    bundled: Translator, text: str, least: int
) -> None:
    """Cat, roof, horse and boy are missing, and what is said again."""
    assert len(left_out_words(bundled, bundled.translate(text))) < 3, "the other rule finds few"
    note = re.fullmatch(pattern(SHORTER), note_on(bundled, text))
    assert note is not None
    assert int(note[1]) >= least


def test_words_that_a_translation_repeats_do_not_hide_the_missing_ones(bundled: Translator) -> None:
    assert re.fullmatch(pattern(REPEATS), note_on(bundled, ENDLESS))


def test_a_text_that_says_everything_twice_lacks_nothing_if_its_translation_does_so(
    bundled: Translator,
) -> None:
    twice = bundled.translate(f"{CAPTION} {CAPTION}")
    once = bundled.translate(CAPTION)
    words = tuple(word for word in once.target_words if word.text != ".") * 2
    assert missing_words_note(replace(twice, target_words=words), bundled.run_config) == ""
    half = missing_words_note(replace(twice, target_words=once.target_words), bundled.run_config)
    assert half == SHORTER.format(count=2 * 14 - len(words) // 2)


def test_a_translation_that_a_change_cuts_is_reported(bundled: Translator) -> None:
    end = bundled.run(Experiment(CAPTION, interventions=(ForcedToken(3, "<eos>"),)))
    assert missing_words_note(end, bundled.run_config) == SHORTER.format(count=11)


def test_nothing_is_reported_where_the_rule_was_not_checked(
    bundled: Translator,
) -> None:
    run = bundled.run_config
    given = bundled.run(Experiment(LIST, GivenTarget("A man.")))
    assert missing_words_note(given, run) == "", "a given translation"
    english = bundled.translate(f"The {'man in the red shirt and the ' * 6}woman.")
    assert english.hint
    assert missing_words_note(english, run) == "", "text in another language"
    others = {"target_language": "fi"}, {"source_language": "en"}
    for languages in others:
        other = replace(run, data=replace(run.data, **languages))
        assert missing_words_rules(other) is None, languages
    assert missing_words_rules(preset("copy-task-small")) is None, "numbers"


@pytest.mark.slow
@pytest.mark.heavy
def test_captions_are_hardly_ever_reported_and_four_joined_ones_nearly_always(
    bundled: Translator, multi30k_folder: Path
) -> None:
    captions = [
        line
        for split in ("val", "test_2016_flickr")
        for line in read_lines(multi30k_folder / f"{split}.de.gz")
    ]
    assert len(captions) == 2_014
    assert share_reported(bundled, captions) <= MOST_CAPTIONS
    joined = list(islice(joined_captions(multi30k_folder, 4), 60))
    assert share_reported(bundled, joined) >= 0.9


def joined_captions(folder: Path, num_joined: int) -> Iterator[str]:
    """Captions of 10 to 30 words of the training data, joined by “und”."""
    lines = read_lines(folder / "train.de.gz")
    long = (line.rstrip(" .") for line in lines if 10 <= len(line.split()) <= 30)
    while members := list(islice(long, num_joined)):
        yield " und ".join(members) + "."


def share_reported(translator: Translator, texts: list[str]) -> float:
    translations = translator.run_many([Experiment(text) for text in texts], need_maps=False)
    run = translator.run_config
    return sum(missing_words_note(each, run) != "" for each in translations) / len(texts)
