from augenmerk.viz_app.state.changed_words import changed_pieces, new_words
from tests.viz_app.synthetic import make_translation


def _marks(before: str, after: str) -> list[tuple[str, str]]:
    pieces = changed_pieces(make_translation("x", before), make_translation("x", after))
    return [(piece.text.strip(), piece.mark) for piece in pieces if piece.text.strip()]


def test_words_that_were_replaced_are_new_and_the_rest_is_the_same() -> None:
    marks = _marks("a man is cleaning a window .", "a man is washing a window .")
    assert [mark for _, mark in marks] == ["same", "same", "same", "new", "same", "same", "same"]
    assert marks[3] == ("washing", "new")


def test_words_that_only_went_missing_are_put_back_as_gone() -> None:
    assert _marks("a very old man", "a man") == [("A", "same"), ("very old", "gone"), ("man", "same")]
    assert _marks("a man .", "a man . today") == [("A", "same"), ("man", "same"), (".", "same"), ("today", "new")]


def test_the_pieces_that_are_there_spell_the_sentence() -> None:
    before, after = make_translation("x", "a dog runs ."), make_translation("x", "two dogs run , too .")
    pieces = changed_pieces(before, after)
    assert "".join(piece.text for piece in pieces if piece.mark != "gone") == after.text


def test_an_empty_translation_has_only_words_that_are_gone() -> None:
    assert _marks("a man", "") == [("a man", "gone")]


def test_new_words_are_those_without_a_partner_in_the_same_order() -> None:
    after = make_translation("x", "a dog sees a man")
    new = new_words(make_translation("x", "a cat sees a man"), after)
    assert [word.text for word in new] == ["dog"]
