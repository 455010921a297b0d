import subprocess
import sys

import numpy as np
import pytest

from core.translation.result import Alternative, AttentionMaps, Translation, Word


@pytest.mark.subprocess
@pytest.mark.parametrize("module", ["core.translation.result", "core.translation.source"])
def test_results_and_sources_are_imported_without_torch(module: str) -> None:
    """A window holds these before torch is imported; spaCy would bring torch with it."""
    code = f"import sys, {module}; print(sorted({{'torch', 'spacy', 'torchtext'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_probabilities_add_up_and_maps_go_by_kind() -> None:
    maps = AttentionMaps(*(np.full((1, 1, 3, 3), value, dtype=np.float32) for value in (1, 2, 3)))
    translation = Translation(
        source_text="x y",
        text="A b",
        source_tokens=("x", "y"),
        read_tokens=("<sos>", "a", "·b"),
        predicted_tokens=("a", "·b", "<eos>"),
        log_probabilities=(-1.0, -2.0, -4.0),
        alternatives=((Alternative("a", -1.0),),) * 3,
        source_words=(),
        target_words=(Word("ab", 0, 2),),
        unknown_source_positions=(),
        ignored_text="",
        notes=(),
        maps=maps,
        seconds=0.1,
    )
    assert translation.log_probability == -7.0
    assert translation.word_log_probability(translation.target_words[0]) == -3.0
    assert [maps.of_kind(kind)[0, 0, 0, 0] for kind in ("encoder", "decoder", "cross")] == [1, 2, 3]
