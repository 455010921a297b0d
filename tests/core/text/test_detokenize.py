"""Tokens become a sentence as people write it."""

import pytest

from augenmerk.core.extensions.training.corpora.parallel import read_lines
from augenmerk.core.text.text_codec import capitalize_first, detokenize
from augenmerk.core.text.tokenizers import SpacyTokenizer


@pytest.mark.parametrize(
    ("tokens", "sentence"),
    [
        ("A man is standing on a ladder .", "A man is standing on a ladder."),
        ("a red , white and blue t - shirt", "a red, white and blue t-shirt"),
        ("they do n't run , are n't they ?", "they don't run, aren't they?"),
        ("the man 's dog ; the dogs ' owner", "the man's dog; the dogs' owner"),
        ('a sign that says " stop here " .', 'a sign that says "stop here".'),
        ('" stop " and " go " on signs', '"stop" and "go" on signs'),
        ("two ( or three ) dogs", "two (or three) dogs"),
        ("he can not sing", "he cannot sing"),
        ("the 1 st and the 22 nd", "the 1st and the 22nd"),
        ("the nd street", "the nd street"),
        ("it costs $ 5 , 50 % off", "it costs $5, 50% off"),
        ("left / right", "left/right"),
        ("a 3.5 - inch , x-large - 4.5 shoe", "a 3.5-inch, x-large-4.5 shoe"),
        ("* - a , b - *", "* - a, b - *"),
        ("' stop ' , he says", "'stop', he says"),
        ("' go ' to the dogs ' here '", "'go' to the dogs 'here'"),
        ("- a dash begins", "- a dash begins"),
        ("ends with a dash -", "ends with a dash -"),
        ("", ""),
        (".", "."),
        ("st", "st"),
        ("„", "„"),
    ],
)
def test_a_sentence_is_joined_as_people_write_it(tokens: str, sentence: str) -> None:
    assert detokenize(tokens.split()) == sentence


def test_letters_are_neither_lost_nor_added() -> None:
    tokens = "\" ' ( - / ' n't 's \" . , [ ] “ ” ‘ ’ - a - b ' s".split()
    assert detokenize(tokens).replace(" ", "") == "".join(tokens)


@pytest.mark.parametrize(
    ("text", "capitalized"),
    [
        ("ein mann", "Ein mann"),
        ('"ein mann', '"Ein mann'),
        ("über", "Über"),
        ("3 hunde", "3 hunde"),
        ("…", "…"),
        ("", ""),
    ],
)
def test_the_first_letter_is_made_a_capital(text: str, capitalized: str) -> None:
    assert capitalize_first(text) == capitalized


@pytest.mark.parametrize("split", ["train", "val", "test_2016_flickr"])
def test_the_real_english_sentences_come_back_but_for_one_in_two_hundred(
    multi30k_folder, split: str
) -> None:
    lines = [line.strip() for line in read_lines(multi30k_folder / f"{split}.en.gz")][:10_000]
    restored = [detokenize(words) for words in SpacyTokenizer("en").pipe(lines)]
    num_equal = sum(before == after for before, after in zip(lines, restored, strict=True))
    assert num_equal / len(lines) >= 0.995
