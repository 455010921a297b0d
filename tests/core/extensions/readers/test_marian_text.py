"""Ids and texts of Marian's codec are those of `MarianTokenizer`."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from augenmerk.core.extensions.readers.codecs import word_ranges
from augenmerk.core.extensions.readers.importing import import_model
from augenmerk.core.text.codec import CodecPair
from tests.builders import first_quick
from tests.core.extensions.readers.marian_models import (
    CODES,
    ENGLISH,
    GERMAN,
    add_tokens,
    as_the_library_reads,
    make_folder,
    quiet_transformers,
    sentences,
)

# models are made by transformers, which takes three seconds to be imported
pytestmark = pytest.mark.heavy

ODD = (
    *(
        "",
        " ",
        "   ",
        "\t",
        "\n",
        "  Ein  Mann ",
        "Ein\tMann\nläuft",
        "Ein\u00a0Mann\u2003läuft\u200b",
        "\ufeffEin Mann",
    ),
    *(
        "😀",
        "Ein 😀 Mann",
        "👩‍👩‍👧",
        "日本語のテキスト",
        "Ελληνικά кириллица",
        "ﬁnden ½ ㍿ Ａ",
        "A\u0308pfel Äpfel",
    ),
    *("</s>", "Ein </s> Mann", "<unk><pad>x</s></s>y", "<pad>", "<s> Ein", "Ein<unk>Mann"),
    *(
        ">>deu<< Ein Mann",
        ">>xxx<< Ein Mann",
        ">>deu<<Ein Mann",
        " >>deu<< Ein Mann",
        ">> a << b",
        ">>deu<<",
        ">>a",
    ),
    *(
        ">>deu<<>>fra<< Ein",
        "Ein >>deu<< Mann",
        "</s>>>deu<< Ein",
        "Mann.",
        "(Mann)!?...",
        "don't",
        "1.234,5 %",
    ),
    *(
        "<new>",
        "Ein <new> Mann",
        "Ein<new>er Mann<new>",
        "<new> <new>  <new>",
        "[SEP]<p q> Ein[SEP] ",
        "Straßen <w>.",
    ),
    *(
        "  und  Mann\tund",
        "Mann<w>und",
        "Mann Mann.",
        "xx x",
        "Ein <w> x\u00a0und §.",
        ">>>deu<< x",
        "läuft im im",
    ),
    *("▁Mann ▁ ▁▁", "‚Mann‘ „Hund“ – …", "\x00\x01 Mann\x7f", "a" * 300, "Ein " * 60),
)


def lines() -> list[str]:
    """1,000 of them: plain, odd, and plain ones with odd things put in."""
    generator = random.Random(2)
    texts = [*ODD, *sentences(list(GERMAN), 400, 21), *sentences(list(ENGLISH), 100, 22)]
    while len(texts) < 1000:
        line = generator.choice(texts[len(ODD) :])
        cut = generator.randrange(len(line) + 1)
        texts.append(line[:cut] + generator.choice([*ODD, "  ", "é", "ẞ", "#"]) + line[cut:])
    return texts


ADDED = ("<new>", "Straße", "<new>er", "😀", "läuft im", "x", ">>")
"""Tokens that are added; one of them begins as another, one ends in the middle of words."""


def flagged(**flags: bool) -> list[Any]:
    """Tokens that are added with flags; words of the sentences, too."""
    token = quiet_transformers().AddedToken
    return ["<new>", *(token(text, **flags) for text in ("Mann", "<w>", "x", "und", "§"))]


def without_newer_settings(folder: Path) -> None:
    """Turns the files of a tokenizer into those that older versions of the library wrote."""
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    del settings["added_tokens_decoder"]
    special = settings.pop("extra_special_tokens", [])
    path.write_text(json.dumps(settings), encoding="utf-8")
    marks = {
        "eos_token": "</s>",
        "unk_token": {"content": "<unk>"},
        "additional_special_tokens": special,
    }
    (folder / "special_tokens_map.json").write_text(json.dumps(marks), encoding="utf-8")


MODELS: dict[str, Callable[[Path], Path]] = {
    "joint": make_folder,
    "separate": lambda folder: make_folder(folder, separate=True),
    "codes": lambda folder: make_folder(folder, codes=True),
    "cleaned": lambda folder: make_folder(folder, tokenizer={"clean_up_tokenization_spaces": True}),
    "added tokens": lambda folder: add_tokens(
        make_folder(folder), folder / "more", [*ADDED], ["[SEP]", "<p q>"]
    ),
    "added tokens in a file of older versions": lambda folder: (
        more := add_tokens(make_folder(folder), folder / "more", [*ADDED], ["[SEP]"]),
        without_newer_settings(more),
    )[0],
    "added to a separate vocabulary": lambda folder: add_tokens(
        make_folder(folder, separate=True), folder / "more", [*ADDED]
    ),
    "added tokens that strip": lambda folder: add_tokens(
        make_folder(folder), folder / "more", flagged(lstrip=True, rstrip=True)
    ),
    "added words": lambda folder: add_tokens(
        make_folder(folder), folder / "more", flagged(single_word=True)
    ),
    "added words that strip": lambda folder: add_tokens(
        make_folder(folder), folder / "more", flagged(single_word=True, lstrip=True, rstrip=True)
    ),
    "rows without a token": lambda folder: add_tokens(
        make_folder(folder), folder / "more", [*ADDED], multiple=64
    ),
}


@pytest.fixture(scope="module", params=first_quick(MODELS.values()), ids=MODELS)
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Any, CodecPair]:
    """The library's tokenizer, and our codecs after they were stored and read."""
    folder = request.param(tmp_path_factory.mktemp("text") / "model")
    checkpoint = import_model(folder).checkpoint
    codecs = CodecPair.from_dict(checkpoint.run.data, checkpoint.codecs.to_dict())
    return as_the_library_reads(folder).tokenizer, codecs


def ids_of(codec: Any, line: str) -> list[int]:
    return [token for word in codec.encode_text(line) for token in word.ids]


def test_source_ids_are_theirs(made: tuple[Any, CodecPair]) -> None:
    tokenizer, codecs = made
    for line in lines():
        expected = tokenizer(line).input_ids
        assert [*ids_of(codecs.source, line), codecs.source.vocabulary.end_id] == expected, line


def test_target_ids_are_theirs(made: tuple[Any, CodecPair]) -> None:
    tokenizer, codecs = made
    for line in lines():
        expected = tokenizer(text_target=line).input_ids
        if tokenizer.separate_vocabs and max(expected) >= len(codecs.target.vocabulary):
            continue  # the library's own model has no such token
        assert [*ids_of(codecs.target, line), codecs.target.vocabulary.end_id] == expected, line


def test_texts_are_theirs(made: tuple[Any, CodecPair]) -> None:
    tokenizer, codecs = made
    num_tokens = len(tokenizer.target_encoder if tokenizer.separate_vocabs else tokenizer)
    generator = random.Random(4)
    rows = [tokenizer(text_target=line).input_ids for line in lines()[:300]]
    rows = [row for row in rows if max(row) < num_tokens]
    rows += [
        [generator.randrange(num_tokens) for _ in range(generator.randint(0, 15))]
        for _ in range(700)
    ]
    for row in rows:
        assert codecs.target.text_of(row) == tokenizer.decode(row, skip_special_tokens=True), row


def test_every_word_stands_where_it_was_typed(made: tuple[Any, CodecPair]) -> None:
    _, codecs = made
    for line in lines():
        end = 0
        for word in codecs.source.encode_text(line):
            assert len(word.ids) == len(word.labels) == len(word.unknown) > 0
            assert 0 <= word.char_start <= word.char_end <= len(line)
            assert word.char_start >= end - 1  # one character may be two words: ½
            end = max(end, word.char_end)
    words = codecs.source.encode_text("Ein Mann  läuft, (am Fluss).")
    assert [word.text for word in words] == ["Ein", "Mann", "läuft", ",", "(", "am", "Fluss", ")."]
    typed = "Ein Mann  läuft, (am Fluss)."
    assert [typed[word.char_start : word.char_end] for word in words] == [
        word.text for word in words
    ]


def test_words_of_a_translation_cover_it(made: tuple[Any, CodecPair]) -> None:
    _, codecs = made
    codec = codecs.target
    ids = [*ids_of(codec, "A man runs, (by 😀 river)."), codec.vocabulary.end_id]
    words = codec.decode(ids)
    assert "runs" in [word.text for word in words]
    covered = [position for word in words for position in range(word.start, word.end)]
    assert covered == sorted(set(covered))
    left = set(range(len(ids) - 1)) - set(covered)
    # a space before what is unknown
    assert {codec.vocabulary.tokens[ids[position]] for position in left} <= {"▁"}
    assert codec.label(codec.vocabulary.end_id) == "</s>"


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (["▁Hund", "e", "."], ["▁Hunde", "."]),
        (["▁don", "'", "t"], ["▁don't"]),
        (["▁", "(", "Hund", ")", "."], ["▁(", "Hund", ")."]),
        (["▁3", ".", "5"], ["▁3.5"]),
        (["▁", "Hund"], ["▁Hund"]),
        (["▁"], ["▁"]),
        (["▁..."], ["▁..."]),
        (["▁我", "喜欢", "猫", "。"], ["▁我", "喜欢", "猫", "。"]),
        (["e", "▁x"], ["e", "▁x"]),
        ([], []),
    ],
)
def test_words_are_told_apart_by_spaces_and_punctuation_at_their_edges(
    pieces: list[str], words: list[str]
) -> None:
    assert ["".join(pieces[start:end]) for start, end in word_ranges(pieces)] == words


def test_codes_of_target_languages_are_offered(tmp_path: Path) -> None:
    checkpoint = import_model(make_folder(tmp_path / "model", codes=True)).checkpoint
    assert checkpoint.codecs.source.target_codes == CODES
    plain = import_model(make_folder(tmp_path / "plain")).checkpoint
    assert plain.codecs.source.target_codes == ()
