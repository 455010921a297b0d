"""One side of a pair, from text to ids and back."""

import json
from typing import Any

import pytest

from augenmerk.core.config import DataConfig
from augenmerk.core.errors import CheckpointError
from augenmerk.core.extensions.training.corpora.learning import (
    learn_codecs,
    split_lines,
    vocabulary_of_copy_task,
)
from augenmerk.core.text.codec import CodecPair, TextCodec, fold_case
from augenmerk.core.text.tokenizers import SymbolTokenizer

GERMAN = ["Ein Mann in einem blauen Hemd.", "Ein Mann über der Straße.", "Zwei Männer in Hemden."]
ENGLISH = ["A man in a blue shirt.", "A man across the street.", "Two men in shirts."]
WORDS = DataConfig(min_frequency=1)
SUBWORDS = DataConfig(num_subwords=60, target_case="sentence", keep_spaces=False)
SYMBOLS = DataConfig(
    tokenization="symbols", source_case="keep", target_case="keep", wrap_source=False
)


def learn(config: DataConfig) -> CodecPair:
    untrained = CodecPair.build(
        config, vocabulary_of_copy_task(2), vocabulary_of_copy_task(2), None
    )
    source = list(split_lines(GERMAN, untrained.source.tokenizer, config.source_case))
    target = list(split_lines(ENGLISH, untrained.target.tokenizer, config.target_case))
    return learn_codecs(config, source, target)


@pytest.fixture(scope="module")
def of_words() -> CodecPair:
    return learn(WORDS)


@pytest.fixture(scope="module")
def of_subwords() -> CodecPair:
    return learn(SUBWORDS)


@pytest.fixture(scope="module")
def of_symbols() -> CodecPair:
    symbols = vocabulary_of_copy_task(10)
    return CodecPair.build(SYMBOLS, symbols, symbols, None)


class TestCase:
    def test_kept_lowered_or_lowered_at_the_beginning_of_the_sentence(self) -> None:
        words = ["Der", "Mann", "ÄRGERT", "sich"]
        assert fold_case(words, "keep") == words
        assert fold_case(words, "lower") == ["der", "mann", "ärgert", "sich"]
        assert fold_case(words, "sentence") == ["der", "Mann", "ÄRGERT", "sich"]

    def test_only_the_first_letter_of_the_sentence_is_lowered(self) -> None:
        assert fold_case(["DJs", "Dance"], "sentence") == ["dJs", "Dance"]

    @pytest.mark.parametrize("case", ["keep", "lower", "sentence"])
    def test_letters_in_two_parts_are_composed(self, case: Any) -> None:
        assert fold_case(["u\u0308ber"], case) == ["über"]
        assert fold_case([], case) == []


class TestEncoding:
    def test_words_carry_their_ids_and_their_place_in_the_line(self, of_words: CodecPair) -> None:
        line = "  Ein  Elefant in einem Hemd."
        words = of_words.source.encode_text(line)
        assert [word.text for word in words] == ["ein", "elefant", "in", "einem", "hemd", "."]
        assert [line[word.char_start : word.char_end] for word in words] == [
            "Ein",
            "Elefant",
            "in",
            "einem",
            "Hemd",
            ".",
        ]
        assert [word.unknown for word in words] == [
            (False,),
            (True,),
            (False,),
            (False,),
            (False,),
            (False,),
        ]
        tokens = of_words.source.vocabulary.tokens
        assert [tokens[word.ids[0]] for word in words] == [
            "ein",
            "<unk>",
            "in",
            "einem",
            "hemd",
            ".",
        ]
        assert [word.labels for word in words][1] == ("elefant",), "people see what they typed"

    def test_places_hold_where_composing_letters_shortens_a_word(self, of_words: CodecPair) -> None:
        line = "Ein Mann u\u0308ber Hemd"
        words = of_words.source.encode_text(line)
        assert [word.text for word in words] == ["ein", "mann", "über", "hemd"]
        assert [line[word.char_start : word.char_end] for word in words] == [
            "Ein",
            "Mann",
            "u\u0308ber",
            "Hemd",
        ]
        assert not any(any(word.unknown) for word in words)

    @pytest.mark.parametrize("line", GERMAN)
    @pytest.mark.parametrize("pair", ["of_words", "of_subwords"])
    def test_a_typed_line_gets_the_ids_of_the_same_line_in_a_corpus(
        self, request, pair: str, line: str
    ) -> None:
        codec: TextCodec = request.getfixturevalue(pair).source
        (words,) = split_lines([line], codec.tokenizer, codec.case)
        typed = [token_id for word in codec.encode_text(line) for token_id in word.ids]
        assert typed == codec.encode_words(words)

    def test_pieces_of_a_word_share_its_place_and_later_ones_show_a_dot(
        self, of_subwords: CodecPair
    ) -> None:
        words = of_subwords.source.encode_text("Ein Straßenmann")
        assert [(word.char_start, word.char_end) for word in words] == [(0, 3), (4, 15)]
        labels = words[1].labels
        assert len(labels) == len(words[1].ids) > 1
        assert all(label.startswith("·") for label in labels[1:])
        assert "".join(label.removeprefix("·") for label in labels) == "straßenmann"
        assert [of_subwords.source.label(token_id) for token_id in words[1].ids] == list(labels)

    def test_a_symbol_that_the_copy_task_does_not_have_gets_no_id(
        self, of_symbols: CodecPair
    ) -> None:
        words = of_symbols.source.encode_text("1 11 2")
        assert [word.ids for word in words] == [(1,), (), (2,)]

    def test_nothing_is_encoded_to_nothing(
        self, of_words: CodecPair, of_subwords: CodecPair
    ) -> None:
        assert of_words.source.encode_text("  ") == of_subwords.source.encode_text("") == []


class TestDecoding:
    @pytest.mark.parametrize("line", ENGLISH)
    @pytest.mark.parametrize("pair", ["of_words", "of_subwords"])
    def test_what_was_encoded_comes_back_as_a_sentence(self, request, pair: str, line: str) -> None:
        codec: TextCodec = request.getfixturevalue(pair).target
        ids = [token_id for word in codec.encode_text(line) for token_id in word.ids]
        assert codec.join([word.text for word in codec.decode([2, *ids, 3, 1, 1])]) == line

    def test_words_cover_the_ids_they_were_made_of(self, of_subwords: CodecPair) -> None:
        codec = of_subwords.target
        encoded = codec.encode_text("two streetmen .")
        ids = [2, *(token_id for word in encoded for token_id in word.ids), 3]
        decoded = codec.decode(ids)
        assert [word.text for word in decoded] == ["two", "streetmen", "."]
        lengths = [len(word.ids) for word in encoded]
        assert [word.end - word.start for word in decoded] == lengths
        assert decoded[0].start == 1, "behind the start mark"
        assert [after.start for after in decoded[1:]] == [before.end for before in decoded[:-1]]

    def test_the_unknown_word_is_shown_and_the_other_specials_are_not(
        self, of_words: CodecPair
    ) -> None:
        assert [word.text for word in of_words.target.decode([2, 0, 1, 3])] == ["<unk>"]

    def test_the_start_symbol_of_the_copy_task_is_one_of_its_words(
        self, of_symbols: CodecPair
    ) -> None:
        assert [word.text for word in of_symbols.target.decode([1, 10, 1, 0])] == ["1", "10", "1"]
        assert of_symbols.target.join(["1", "10", "1"]) == "1 10 1"
        assert of_symbols.target.text_of([10, 2]) == "1 10 2", "it is read, not chosen"

    def test_a_capital_is_restored_only_where_case_was_folded(self, of_words: CodecPair) -> None:
        assert of_words.target.join(["a", "man", "."]) == "A man."
        keeping = learn(DataConfig(min_frequency=1, target_case="keep"))
        assert keeping.target.join(["a", "man", "."]) == "a man."

    def test_white_space_that_was_a_word_is_not_said(self, of_words: CodecPair) -> None:
        assert of_words.target.join(["a", " ", "man"]) == "A man"


class TestLearning:
    def test_words_have_a_vocabulary_for_each_side(self, of_words: CodecPair) -> None:
        assert "mann" in of_words.source.vocabulary.ids
        assert "mann" not in of_words.target.vocabulary.ids

    def test_subwords_are_joint(self, of_subwords: CodecPair) -> None:
        assert of_subwords.source.vocabulary == of_subwords.target.vocabulary
        assert of_subwords.source.subwords is of_subwords.target.subwords
        assert len(of_subwords.source.vocabulary) == 60


@pytest.mark.parametrize("pair", ["of_words", "of_subwords", "of_symbols"])
def test_codecs_survive_the_way_through_json(request, pair: str) -> None:
    codecs: CodecPair = request.getfixturevalue(pair)
    config = {"of_words": WORDS, "of_subwords": SUBWORDS, "of_symbols": SYMBOLS}[pair]
    again = CodecPair.from_dict(config, json.loads(json.dumps(codecs.to_dict())))
    assert again.to_dict() == codecs.to_dict()
    assert again.target.vocabulary == codecs.target.vocabulary
    line = "1 2 3" if pair == "of_symbols" else "Ein Mann über Straßen"
    assert again.source.encode_text(line) == codecs.source.encode_text(line)
    if pair == "of_symbols":
        assert isinstance(again.source.tokenizer, SymbolTokenizer)


@pytest.mark.parametrize(
    "values",
    [
        {},
        5,
        "source",
        None,
        [],
        {"source": {}, "target": {}},
        {"subwords": ""},
        {"subwords": None},
        {"subwords": "AAAA"},
        {"source": {"tokens": ["a"]}, "target": 5},
    ],
)
def test_damaged_codecs_are_refused_with_a_message(values: Any) -> None:
    with pytest.raises(
        CheckpointError, match=r"vocabularies in this file are damaged.*Use another copy"
    ):
        CodecPair.from_dict(WORDS, values)
