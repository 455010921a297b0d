"""What the comparison shows of its sentences."""

from dataclasses import replace

from augenmerk.core.translation.experiment import Experiment, SourceWordRemoved, SourceWordReplaced
from augenmerk.core.translation.result import ExperimentResult
from augenmerk.viz_app.extensions.tabs.compare.state import source_as_read
from tests.viz_app.synthetic import make_translation


def test_the_sentence_as_it_was_read_has_other_words_in_their_places() -> None:
    typed = "Zwei Hunde spielen, im Schnee."
    original = make_translation("zwei hunde spielen , im schnee .", "two dogs", text=typed)

    def read(*edits: SourceWordRemoved | SourceWordReplaced) -> str:
        changed = replace(original, experiment=Experiment(typed, interventions=edits))
        return source_as_read(ExperimentResult(changed, original, original.log_probabilities))

    assert read() == typed
    assert read(SourceWordReplaced(1, "Katzen")) == "Zwei Katzen spielen, im Schnee."
    assert read(SourceWordRemoved(0), SourceWordRemoved(3)) == "Hunde spielen im Schnee."
    assert (
        read(SourceWordRemoved(6), SourceWordReplaced(2, "rennen gern"))
        == "Zwei Hunde rennen gern, im Schnee"
    )
