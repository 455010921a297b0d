from tests.viz_app.synthetic import make_translation
from viz_app.state.spans import Span, ignored_span, unknown_spans


def test_unknown_words_are_found_where_they_were_typed() -> None:
    text = "Ein Xylofon und ein Xylofon"
    translation = make_translation("ein xylofon und ein xylofon", text=text, unknown=(2, 5))
    assert unknown_spans(translation) == (Span(4, 11), Span(20, 27))


def test_only_the_unknown_one_of_two_equal_words_is_marked_by_its_position() -> None:
    translation = make_translation("zug fährt zug", text="Zug fährt Zug", unknown=(3,))
    assert unknown_spans(translation) == (Span(10, 13),)


def test_positions_count_utf16_units_as_text_cursors_do() -> None:
    translation = make_translation("🙂 hund xyz", text="🙂 Hund xyz", unknown=(3,))
    assert unknown_spans(translation) == (Span(8, 11),)


def test_the_ignored_end_is_found_at_the_end() -> None:
    text = "eins zwei drei\nzwei drei"
    translation = make_translation("eins zwei drei", text=text, ignored_text="zwei drei")
    assert ignored_span(translation) == Span(15, 24)
    assert ignored_span(make_translation()) is None
