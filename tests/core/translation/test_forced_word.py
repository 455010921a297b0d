"""A forced word becomes tokens of the vocabulary: one, or several; what nothing can write is
refused.
"""

import pytest

from augenmerk.core.errors import ExperimentError
from augenmerk.core.translation.compilation import forced_word
from augenmerk.core.translation.experiment import Experiment, ForcedToken
from augenmerk.core.translation.translator import Translator


def test_a_word_of_a_word_vocabulary_is_one_token(word_translator: Translator) -> None:
    codec = word_translator.checkpoint.codecs.target
    assert forced_word(2, "dog", codec) == (ForcedToken(2, "dog"),)
    assert forced_word(2, " DOG ", codec)[-1].token == "dog"
    assert forced_word(2, "<unk>", codec) == (ForcedToken(2, "<unk>"),)
    for word in ("zebra", "", "  ", "·dog"):
        with pytest.raises(ExperimentError, match="The vocabulary of this model has no"):
            forced_word(2, word, codec)


def test_a_word_of_several_pieces_takes_several_steps(subword_translator: Translator) -> None:
    codec = subword_translator.checkpoint.codecs.target
    assert codec.subwords is not None
    pieces = codec.subwords.pieces_of("strange")
    assert len(pieces) > 1
    assert forced_word(3, "strange", codec) == tuple(
        ForcedToken(3 + index, piece) for index, piece in enumerate(pieces)
    )
    translation = subword_translator.run(
        Experiment("Ein Hund sitzt im Gras.", interventions=forced_word(1, "strange", codec))
    )
    assert translation.target_words[1].text.startswith("strange")


def test_a_word_is_no_later_piece_of_the_same_letters(subword_translator: Translator) -> None:
    codec = subword_translator.checkpoint.codecs.target
    assert codec.subwords is not None
    later = [
        token for token in codec.vocabulary.ids if token.isalpha() and not token.startswith("▁")
    ]
    both = [token for token in later if codec.subwords.pieces_of(token) == ("▁" + token,)]
    assert both, "the vocabulary is no test of this"
    for token in both:
        assert forced_word(1, token, codec) == (ForcedToken(1, "▁" + token),)
        assert forced_word(1, "·" + token, codec) == (ForcedToken(1, token),)
        assert forced_word(1, "▁" + token, codec) == (ForcedToken(1, "▁" + token),)


def test_the_end_can_be_forced(subword_translator: Translator) -> None:
    codec = subword_translator.checkpoint.codecs.target
    assert forced_word(1, "<eos>", codec) == (ForcedToken(1, "<eos>"),)
    assert (
        len(
            subword_translator.run(
                Experiment("Ein Hund.", interventions=forced_word(1, "<eos>", codec))
            ).predicted_ids
        )
        == 2
    )


def test_the_first_word_of_a_sentence_is_written_as_there(subword_translator: Translator) -> None:
    codec = subword_translator.checkpoint.codecs.target
    assert codec.case == "sentence"
    assert forced_word(0, "Dog", codec) == forced_word(0, "dog", codec)


def test_unknown_characters_are_refused(subword_translator: Translator) -> None:
    with pytest.raises(ExperimentError, match="The vocabulary of this model has no '漢'"):
        forced_word(0, "漢", subword_translator.checkpoint.codecs.target)


def test_a_symbol_of_the_copy_task(copy_translator: Translator) -> None:
    codec = copy_translator.checkpoint.codecs.target
    assert forced_word(0, "7", codec) == (ForcedToken(0, "7"),)
    assert (
        copy_translator.run(
            Experiment("1 2 3", interventions=forced_word(0, "7", codec))
        ).predicted_tokens[0]
        == "7"
    )
    with pytest.raises(ExperimentError):
        forced_word(0, "99", codec)
