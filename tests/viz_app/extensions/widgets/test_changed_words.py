"""Words that changed, in the sentence that has them or lost them."""

from augenmerk.viz_app.extensions.widgets.changed_words import breakable, changed_pieces
from tests.viz_app.synthetic import make_translation


def _marks(before: str, after: str) -> list[tuple[str, str]]:
    pieces = changed_pieces(make_translation("x", before), make_translation("x", after))
    return [(piece.text.strip(), piece.mark) for piece in pieces if piece.text.strip()]


def test_words_that_were_replaced_are_new_and_the_rest_is_the_same() -> None:
    marks = _marks("a man is cleaning a window .", "a man is washing a window .")
    assert [mark for _, mark in marks] == ["same", "same", "same", "new", "same", "same", "same"]
    assert marks[3] == ("washing", "new")


def test_words_that_only_went_missing_are_put_back_as_gone() -> None:
    assert _marks("a very old man", "a man") == [
        ("A", "same"),
        ("very old", "gone"),
        ("man", "same"),
    ]
    assert _marks("a man .", "a man . today") == [
        ("A", "same"),
        ("man", "same"),
        (".", "same"),
        ("today", "new"),
    ]


def test_the_pieces_that_are_there_spell_the_sentence() -> None:
    before, after = (
        make_translation("x", "a dog runs ."),
        make_translation("x", "two dogs run , too ."),
    )
    pieces = changed_pieces(before, after)
    assert "".join(piece.text for piece in pieces if piece.mark != "gone") == after.text


def test_words_that_went_missing_keep_a_space_between_them_and_their_neighbours() -> None:
    for before, after in (
        ("with a man", "a man"),
        ("a tall man", "a man"),
        ("a man today", "a man"),
    ):
        pieces = changed_pieces(make_translation("x", before), make_translation("x", after))
        whole = "".join(piece.text for piece in pieces)
        assert whole.lower().split() == before.split()
        assert whole == " ".join(whole.split())


def test_an_empty_translation_has_only_words_that_are_gone() -> None:
    assert _marks("a man", "") == [("a man", "gone")]


def test_very_long_words_may_break_and_nothing_else_changes() -> None:
    text = f"Ein {'fune' * 20} und {'x' * 24}."
    broken = breakable(text)
    assert broken.replace("\u200b", "") == text
    assert max(map(len, broken.replace("\u200b", " ").split())) == 24
    assert breakable("Ein Mann in einem blauen Hemd.") == "Ein Mann in einem blauen Hemd."
