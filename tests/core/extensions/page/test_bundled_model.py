"""The bundled model in a page: the same ids, tokens, weights and notes as in the product, and
quickly."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from augenmerk.core.errors import TextError
from augenmerk.core.extensions.missing_words import missing_words_note
from augenmerk.core.extensions.training.corpora.parallel import read_lines
from augenmerk.core.model.heads import Head, Network
from augenmerk.core.text.text_codec import detokenize
from augenmerk.core.translation.experiment import (
    AttentionRow,
    Experiment,
    FeedForwardScaled,
    ForcedToken,
    HeadScaled,
    Intervention,
    SoftmaxTemperature,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.notes import texts_of
from augenmerk.core.translation.translator import Translator
from augenmerk.core.translation.typed_text import encode_source
from tests.core.extensions.page.node import Page
from tests.core.extensions.test_missing_words import CAPTION, ENDLESS, LIST, TWICE

pytestmark = [pytest.mark.subprocess, pytest.mark.heavy]

HARD = (
    "Ein Mann geht über die strasse.", "Schoss", "ZWEI HUNDE SPIELEN IM SCHNEE!!!", "  doppelte   Leerzeichen  ",
    "z.B. u.a. d.h. am 3.10.2024 um 12:30 Uhr", "http://www.example.de/a?b=c ist gut", "A.", "x.y.Z z.b.",
    "20km/h und 5 €, 3,5 Mio. $", "Er sagte: „Guten Tag!“ – und ging…", "'s ist 'ne Frau mit'm Hund", "'",
    "😀 Ein Hund 👨‍👩‍👧‍👦 spielt :-) ;-)", "İstanbul ΣΑΣ ǅ ẞ groß GROẞ", "Fu\u0308r a\u0301 cafe\u0301", "ö.ä.",
    "\u00a0Zwei\u2009Hunde\u200b spielen\u3000im", "你好 世界 мир Ελλάδα عربي", "a_b-c/d e–f (g) [h] {i} <j>",
    "…...!!??", "ﬁnden ﬂiegen ½ x² ①", "T-Shirt-Träger 2-3 Jungen", ("Ein\tTab\n"
        "und Zeile"), "▁unter▁strich _a_",
    "\U0001d49c\U0001d4b7 \U00020000 𐐀𐐨", "wg. bzw. usw. Dr. Prof. Str. Nr. 5", "groesse Fuesse Aepfel Oel Ueber ss",
    "a\u0000b \ufffd", '"Zwei" Männer\'s', "10% 5°C €5 #a @b", "Ein Mann's Hund/Katze und/oder", "\u1e9e\u0130i\u0307",
    "ΟΔΟΣ ΟΔΟΣ.", "\x1cHund\x1d \x85 a", "\ufeffEin Hund", "ein\u2028Hund\u2029da", "<sos> <eos> <unk> <pad>",
    "constructor toString __proto__ hasOwnProperty", "$& $1 $$ \\n {words} %s", "((((( ))))) [[[", "¯\\(ツ)/¯ o.O",
    "The dogs are playing in the snow.", "schoss dass", "Donaudampfschifffahrtsgesellschaftskapitän",
    "ssssaeaeoeoeueue", "-- - — ―",
    "Ein Mann , der", "a.b@c.de 192.168.0.1 1.000,50", "wort " * 130, "Überraschungseiersammler " * 40, "x" * 900,
    "ab\ud800cd", "ẞ" * 300,
)  # fmt: skip
SENTENCES = (
    "Ein Mann in einem blauen Hemd steht auf einer Leiter und putzt ein Fenster.",
    "Zwei Hunde spielen im Schnee und die kleine Katze sieht auf der strasse zu.",
)
SHORT = "Guten Morgen!", "Ein Zebra.", "Hallo Welt", "Gute Nacht!", "Ich schlafe nicht."
LISTS = "Anna, Peter, Lukas, Marie und Sophie", "Anna, Peter und Marie"
WITHOUT_A_KNOWN_WORD = "😀😀", "...", "привет", "12345", "7 7 7 1 2", "Hallo", "Hello"


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(device="cpu")


@pytest.fixture(scope="module")
def page(translator: Translator, tmp_path_factory: pytest.TempPathFactory) -> Page:
    return Page(translator, tmp_path_factory.mktemp("page"))


def each_intervention(translator: Translator, text: str) -> Iterator[tuple[Intervention, ...]]:
    """Each type of change to a sentence of at least four words: alone, then all together."""
    length = len(
        encode_source(text, translator.checkpoint.codecs.source, translator.run_config).ids
    )
    own_layer = length % 3
    head = Head("cross", own_layer, length % 8)
    single: tuple[tuple[Intervention, ...], ...] = (
        (HeadScaled(head), HeadScaled(Head("encoder", (own_layer + 1) % 3, (length + 3) % 8))),
        (HeadScaled(Head("decoder", own_layer, 2), 2.5), HeadScaled(head, -1.0)),
        tuple(
            HeadScaled(Head("cross", layer, number)) for layer in range(3) for number in range(8)
        ),
        (
            FeedForwardScaled(Network("encoder", own_layer)),
            FeedForwardScaled(Network("decoder", 2), 0.5),
        ),
        (SoftmaxTemperature(head, 4.0), SoftmaxTemperature(Head("decoder", 1, 1), 0.2)),
        (
            AttentionRow(Head("cross", 2, 4), 1, (*(0.0,) * (length - 1), 1.0)),
            AttentionRow(Head("encoder", 0, 3), 2, tuple(range(1, length + 1))),
            AttentionRow(Head("decoder", 1, 5), 2, (0.2, 0.7, 0.1)),
        ),
        (ForcedToken(1, "▁dog"), ForcedToken(40, "<eos>")),
        (SourceWordRemoved(0), SourceWordReplaced(2, "grosse Katze")),
        (SourceWordReplaced(1, "<unk>"),),
    )
    yield from single
    yield (*single[1], *single[3], *single[4], *single[6], *single[7][:1])


@pytest.mark.slow
def test_sentences_and_each_intervention_are_those_of_the_product(
    translator: Translator, page: Page
) -> None:
    changes = [*each_intervention(translator, SENTENCES[0])]
    page.check(
        [
            *map(Experiment, (*SENTENCES, *SHORT, *LISTS, *WITHOUT_A_KNOWN_WORD)),
            *(Experiment(SENTENCES[0], interventions=change) for change in changes[::2]),
        ]
    )


@pytest.mark.slow
def test_missing_words_are_noted_as_in_the_product(translator: Translator, page: Page) -> None:
    experiments = [
        *map(Experiment, (LIST, TWICE, ENDLESS, CAPTION, f"{LIST} {LIST}", "the " * 40)),
        Experiment(CAPTION, interventions=(ForcedToken(3, "<eos>"),)),
        Experiment(LIST, interventions=(ForcedToken(60, "<eos>"), SourceWordRemoved(20))),
    ]
    notes = [
        missing_words_note(translation, translator.run_config)
        for translation in translator.run_many(experiments)
    ]
    assert [note != "" for note in notes] == [True, True, True, False, True, False, True, True]
    page.check(experiments)


@pytest.mark.slow
def test_hard_lines_get_the_same_ids_and_notes(translator: Translator, page: Page) -> None:
    assert len(HARD) >= 50
    check_sources(translator, page, HARD)


@pytest.mark.slow
def test_texts_of_any_length_get_the_same_ids_and_notes(translator: Translator, page: Page) -> None:
    texts = ["Hund " * count for count in (1, 253, 254, 255, 1_000)]
    check_sources(translator, page, [*texts, "q" * 254, "qä" * 253, "ß " * 300, "Q\u0308" * 400])


def check_sources(translator: Translator, page: Page, lines: list[str] | tuple[str, ...]) -> None:
    """Raises unless ids, labels, notes and errors are the product's."""
    for line, answer in zip(lines, page.answers([("encode", line) for line in lines]), strict=True):
        value = answer.get("value", {})
        here = value and [
            value[name] for name in ("ids", "labels", "notes", "ignoredText", "unknownPositions")
        ]
        assert (here or answer["error"]) == source_or_error(translator, line), line[:80]


def source_or_error(translator: Translator, line: str) -> object:
    try:
        source = encode_source(line, translator.checkpoint.codecs.source, translator.run_config)
    except TextError as error:
        return str(error)
    return [
        list(source.ids),
        list(source.labels),
        list(texts_of(source.notes)),
        source.ignored_text,
        list(source.unknown_positions),
    ]


@pytest.mark.slow
def test_sources_of_the_corpus_get_the_same_ids(
    translator: Translator, page: Page, multi30k_folder: Path
) -> None:
    lines = [
        line
        for split in ("val", "test_2016_flickr")
        for line in read_lines(multi30k_folder / f"{split}.de.gz")
    ]
    assert len(lines) == 2_014
    check_sources(translator, page, lines)


@pytest.mark.slow
def test_target_sentences_of_the_corpus_are_joined_alike(
    translator: Translator, page: Page, multi30k_folder: Path
) -> None:
    codec = translator.checkpoint.codecs.target
    words = [
        [word.text for word in codec.encode_text(line)]
        for line in read_lines(multi30k_folder / "val.en.gz")
    ]
    answers = page.answers([("join", sentence) for sentence in words])
    assert [answer["value"] for answer in answers] == [detokenize(sentence) for sentence in words]


@pytest.mark.slow
def test_five_hundred_sentences_of_the_corpus_are_translated_alike(
    page: Page, multi30k_folder: Path
) -> None:
    lines = list(itertools.islice(read_lines(multi30k_folder / "val.de.gz"), 500))
    for first in range(0, len(lines), 50):
        page.check([Experiment(line) for line in lines[first : first + 50]])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_each_intervention_in_sixty_sentences_of_the_corpus_is_that_of_the_product(
    translator: Translator, page: Page, multi30k_folder: Path, part: int
) -> None:
    lines = [line for line in read_lines(multi30k_folder / "val.de.gz") if len(line.split()) >= 4][
        part:60:4
    ]
    for first in range(0, len(lines), 5):  # each start of node takes a second
        batch = [
            (line, interventions)
            for line in lines[first : first + 5]
            for interventions in each_intervention(translator, line)
        ]
        page.check([Experiment(line, interventions=interventions) for line, interventions in batch])
