from dataclasses import replace

from augenmerk.core.translation.experiment import Experiment, SourceWordRemoved, SourceWordReplaced
from augenmerk.core.translation.result import ExperimentResult
from augenmerk.viz_app.state.spans import Span, edited_spans, ignored_span, source_as_read, unknown_spans
from tests.viz_app.synthetic import make_translation


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


def test_the_sentence_as_it_was_read_has_other_words_in_their_places() -> None:
    typed = "Zwei Hunde spielen, im Schnee."
    original = make_translation("zwei hunde spielen , im schnee .", "two dogs", text=typed)

    def read(*edits: SourceWordRemoved | SourceWordReplaced) -> str:
        changed = replace(original, experiment=Experiment(typed, interventions=edits))
        return source_as_read(ExperimentResult(changed, original, original.log_probabilities))

    assert read() == typed
    assert read(SourceWordReplaced(1, "Katzen")) == "Zwei Katzen spielen, im Schnee."
    assert read(SourceWordRemoved(0), SourceWordRemoved(3)) == "Hunde spielen im Schnee."
    assert read(SourceWordRemoved(6), SourceWordReplaced(2, "rennen gern")) == "Zwei Hunde rennen gern, im Schnee"


def test_words_that_are_removed_or_replaced_are_found_where_they_were_typed() -> None:
    original = make_translation("🙂 hund und hund", text="🙂 Hund und Hund")
    edits = SourceWordRemoved(1), SourceWordReplaced(3, "Katze")
    changed = replace(original, experiment=Experiment(original.source_text, interventions=edits))
    assert edited_spans(ExperimentResult(changed, original, original.log_probabilities)) == (Span(3, 7), Span(12, 16))
