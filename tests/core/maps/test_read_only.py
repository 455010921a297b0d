"""No array that leaves the engine can be written to: threads and caches share them."""

import copy
import pickle  # noqa: TID251 — as a process hands a result to another
from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np

from augenmerk.core.extensions.analyses.alti import contributions_of
from augenmerk.core.extensions.analyses.head_profiles import profile_heads
from augenmerk.core.extensions.analyses.logit_attribution import logit_parts
from augenmerk.core.extensions.analyses.logit_lens import logit_lens
from augenmerk.core.extensions.analyses.pairs import WordPair, attribute_pairs
from augenmerk.core.extensions.analyses.query_key import query_key_parts
from augenmerk.core.extensions.analyses.weight_origin import query_key_detail
from augenmerk.core.maps.capture import trace_translation
from augenmerk.core.maps.comparing import difference
from augenmerk.core.maps.measures import MEASURES, measure_maps
from augenmerk.core.maps.model_pass import Pass
from augenmerk.core.maps.selection import (
    COMBINATIONS,
    combine,
    hide,
    label_map,
    merge_words,
    sum_queries,
)
from augenmerk.core.model.heads import ATTENTION_KINDS, Head
from augenmerk.core.translation.translator import Translator
from tests.core.translators import ENGLISH, GERMAN, read_given


def arrays_of(result: object, name: str) -> Iterator[tuple[str, np.ndarray]]:
    """Every array that is a field of `result`."""
    for field in fields(result):  # type: ignore[arg-type]
        value = getattr(result, field.name)
        if isinstance(value, np.ndarray):
            yield f"{name}.{field.name}", value


def results(translator: Translator) -> Iterator[tuple[str, np.ndarray]]:
    """Every result that holds arrays, with its name."""
    translation = read_given(translator, GERMAN[0], ENGLISH[0])
    trace = trace_translation(translator, translation)
    for measure, described in MEASURES.items():
        for kind in described.kinds:
            yield (
                f"{measure} of {kind}",
                measure_maps(Pass.of(translator, translation), measure, kind),
            )
    profiles = profile_heads(translator, GERMAN[:2], ENGLISH[:2])
    for kind in ATTENTION_KINDS:
        yield from arrays_of(profiles.of_kind(kind), f"HeadProfiles of {kind}")
    labelled = label_map(translation.maps.cross, translation, "cross")
    for name, shown in {
        "label_map": labelled,
        "merge_words": merge_words(labelled),
        "hide": hide(labelled, {"end"}),
        "sum_queries": sum_queries(labelled, [0, 1]),
    }.items():
        yield from arrays_of(shown, name)
    yield from arrays_of(difference(labelled, labelled), "MapDifference")
    for how in COMBINATIONS:
        yield f"combine {how}", combine(translation.maps.cross, how)
        yield f"combine {how} of one", combine(translation.maps.cross, how, [(0, 0)])
    yield from arrays_of(logit_parts(translator, translation)[1], "WordParts")
    row = query_key_parts(translator, translation, Head("cross", 0, 0), 0)
    yield from arrays_of(row, "RowParts")
    yield from arrays_of(row.of_cell(0), "CellParts")
    yield from arrays_of(row.of_cell(0).table(), "PartsTable")
    yield from arrays_of(query_key_detail(trace, Head("cross", 0, 0), 0, 0), "QueryKeyDetail")


def test_what_leaves_the_engine_cannot_be_written_to(subword_translator: Translator) -> None:
    arrays = list(results(subword_translator))
    assert len(arrays) > 40
    assert [name for name, array in arrays if array.flags.writeable] == []


def test_the_caller_s_own_array_stays_writable(subword_translator: Translator) -> None:
    translation = read_given(subword_translator, GERMAN[0], ENGLISH[0])
    mine = translation.maps.cross.copy()
    assert not label_map(mine, translation, "cross").weights.flags.writeable
    assert mine.flags.writeable


def copies_of(result: object) -> Iterator[object]:
    """A result as other threads and processes get it, and as `dataclasses.replace` makes it."""
    yield copy.copy(result)
    yield copy.deepcopy(result)
    yield pickle.loads(pickle.dumps(result))
    yield replace(result)  # type: ignore[type-var]


def test_copies_of_results_cannot_be_written_to_either(subword_translator: Translator) -> None:
    translation = read_given(subword_translator, GERMAN[0], ENGLISH[0])
    row = query_key_parts(subword_translator, translation, Head("cross", 0, 0), 0)
    labelled = label_map(translation.maps.cross, translation, "cross")
    trace = trace_translation(subword_translator, translation)
    results = {
        "AttentionMaps": translation.maps,
        "Contributions": contributions_of(subword_translator, translation),
        "HeadTrace": trace.cross,
        "HeadProfiles": profile_heads(subword_translator, GERMAN[:2], ENGLISH[:2]).cross,
        "LabelledMap": labelled,
        "MapDifference": difference(labelled, labelled),
        "LogitLens": logit_lens(subword_translator, translation),
        "WordParts": logit_parts(subword_translator, translation)[1],
        "PairAttribution": attribute_pairs(
            subword_translator, [WordPair(GERMAN[0], "a", "man", "dog")]
        ),
        "RowParts": row,
        "CellParts": row.of_cell(0),
        "PartsTable": row.of_cell(0).table(),
        "QueryKeyDetail": query_key_detail(trace, Head("cross", 0, 0), 0, 0),
    }
    for name, result in results.items():
        assert type(result).__name__ == name
        for again in copies_of(result):
            expected = dict(arrays_of(result, name))
            assert expected
            for label, array in arrays_of(again, name):
                assert not array.flags.writeable, label
                np.testing.assert_array_equal(array, expected[label])
    (copied,) = copy.deepcopy([translation])
    assert not copied.maps.cross.flags.writeable
