"""Notes on the sentences of a sample, counted by kind."""

from dataclasses import replace

from augenmerk.core.counting import display_text
from augenmerk.core.extensions.note_summaries import NOTE_KINDS, sentences_by_kind, summaries
from augenmerk.core.translation.notes import Note


def test_every_kind_has_its_words_and_its_sentences() -> None:
    cut, unknown = Note("cut", "It was cut."), Note("unknown", "Unk.")
    notes = [(cut,), (), (unknown, cut), *[(unknown, replace(unknown, text="Other."))] * 12]
    indices = sentences_by_kind(notes)
    assert list(indices) == list(NOTE_KINDS)
    assert (indices["cut"], indices["unknown"], indices["empty"]) == (
        [0, 2],
        list(range(2, 15)),
        [],
    )
    assert summaries(notes) == (
        "2 of 15 sentences are cut to fit into the model (number 0, 2). The first: It was cut.",
        (
            "13 of 15 sentences are read with unknown words (number 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "
            "…). The first: Unk."
        ),
    )
    (summary,) = summaries([(), (cut,)], "gold pairs")
    assert summary == "1 of 2 gold pairs is cut to fit into the model (number 1). It was cut."
    assert (
        display_text(summary)
        == "1 of 2 gold pairs is cut to fit into the model (number 2). It was cut."
    )
    (braces,) = summaries([(replace(cut, text="“{first}” was cut."),)])
    assert display_text(braces).endswith("(number 1). “{first}” was cut.")
    assert summaries([]) == summaries([()]) == ()
