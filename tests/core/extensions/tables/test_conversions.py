"""Results as tables of pandas, datasets of xarray and plain values."""

import json
import subprocess
import sys
from dataclasses import is_dataclass

import numpy as np
import pytest

import augenmerk as api
from augenmerk.core.conversions import Result
from augenmerk.core.errors import AnalysisError, MissingExtensionError
from tests.core.translators import ENGLISH, GERMAN
from tests.results import HEAD, public_results

WITHOUT_TABLE = {"OccludedWord"}
WITHOUT_ARRAYS = WITHOUT_TABLE | {
    "AlignerRanking",
    "CorpusScores",
    "DecoderLens",
    "ExperimentResult",
    "ScoreDifference",
    "SystemComparison",
}


@pytest.fixture(scope="module")
def results(subword_translator: api.Translator) -> dict[str, Result]:
    """Those results that can be converted, by their types."""
    values = public_results(subword_translator)
    return {name: value for name, value in values.items() if isinstance(value, Result)}


@pytest.mark.heavy
def test_every_result_has_a_table_or_says_what_to_use(results: dict[str, Result]) -> None:
    refusals = {}
    for name, result in results.items():
        try:
            frame = result.to_frame()
        except AnalysisError as error:
            refusals[name] = str(error)
        else:
            assert len(frame) > 0
            assert len(frame.columns) > 1
    assert all("to_dict()" in text for text in refusals.values())
    assert set(refusals) == WITHOUT_TABLE


@pytest.mark.heavy
def test_every_result_has_arrays_or_says_what_to_use(results: dict[str, Result]) -> None:
    refusals = {}
    for name, result in results.items():
        try:
            dataset = result.to_xarray()
        except AnalysisError as error:
            refusals[name] = str(error)
        else:
            assert dataset.data_vars
            assert not dataset.indexes, "tokens repeat"
    assert all("to_dict()" in text for text in refusals.values())
    assert set(refusals) == WITHOUT_ARRAYS


@pytest.mark.heavy
def test_every_result_is_plain_values(results: dict[str, Result]) -> None:
    for name, result in results.items():
        assert is_dataclass(result)
        values = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert set(values) == set(vars(result)), name
    assert results["Translation"].to_dict()["experiment"]["output"] == {
        "type": "given",
        "text": ENGLISH[0],
    }


def test_a_table_of_steps_follows_the_translation(subword_translator: api.Translator) -> None:
    translation = subword_translator.translate(GERMAN[0])
    frame = translation.to_frame()
    assert tuple(frame["predicted_token"]) == translation.predicted_tokens
    assert frame["log_probability"].sum() == pytest.approx(translation.log_probability)
    assert frame["probability"].between(0, 1).all()


def test_a_table_of_cells_names_their_tokens(subword_translator: api.Translator) -> None:
    translation = subword_translator.translate(GERMAN[0])
    labelled = api.Selection().apply(translation.maps.cross, translation, "cross")
    frame = labelled.to_frame().set_index(["layer", "head", "query", "key"])
    row = frame.loc[HEAD.layer, HEAD.head, 1, 2]
    assert row["weight"] == translation.maps.cross[HEAD.layer, HEAD.head, 1, 2]
    assert row["query_token"] == translation.predicted_tokens[1]
    assert row["key_token"] == translation.source_tokens[2]


def test_dimensions_have_names_and_tokens_are_no_index(subword_translator: api.Translator) -> None:
    translation = subword_translator.translate(GERMAN[0])
    dataset = translation.to_xarray()
    assert dataset["cross"].dims == ("layer", "head", "step", "source")
    assert tuple(dataset["cross"]["source_token"].values) == translation.source_tokens
    picked = dataset["cross"].isel(layer=HEAD.layer, head=HEAD.head)
    np.testing.assert_array_equal(picked, translation.maps.cross[HEAD.layer, HEAD.head])
    np.testing.assert_array_equal(
        dataset["cross"].mean("head"), translation.maps.cross.mean(axis=1)
    )
    assert dataset.attrs["text"] == translation.text
    assert "encoder" in dataset, "whose layers may be others"


def test_a_translation_without_maps_has_its_steps(subword_translator: api.Translator) -> None:
    (translation,) = subword_translator.run_many([api.Experiment(GERMAN[0])], need_maps=False)
    dataset = translation.to_xarray()
    assert set(dataset.data_vars) == {"log_probability", "rank", "entropy"}
    assert translation.to_dict()["attention"] is None
    assert len(translation.to_frame()) == len(translation.predicted_tokens)


@pytest.mark.heavy
def test_layers_and_heads_are_whole_numbers_where_some_rows_have_none(
    results: dict[str, Result],
) -> None:
    for name in ("HeadImportance", "AlignerRanking", "DecoderLens", "WordParts", "LogitLens"):
        frame = results[name].to_frame()
        for column in {"layer", "head"} & set(frame.columns):
            numbers = [value for value in frame[column].tolist() if isinstance(value, int)]
            assert numbers, (name, column)
            assert len(numbers) == frame[column].count(), (name, column)


@pytest.mark.heavy
def test_the_arrays_of_scores_of_attention_are_labelled(results: dict[str, Result]) -> None:
    cell, row, table = (results[name] for name in ("CellParts", "RowParts", "PartsTable"))
    assert isinstance(cell, api.CellParts)
    dataset = cell.to_xarray()
    np.testing.assert_array_equal(dataset["value"], cell.products)
    assert dataset["value"].dims == ("query_component", "key_component")
    names = dataset["key_component_name"].to_numpy().tolist()
    assert names == list(map(str, cell.row.key_components))
    parts = row.to_xarray()
    products = (parts["query_part"] * parts["key_part"]).sum(
        ["width", "query_component", "key_component"]
    )
    np.testing.assert_allclose(products, parts["score"], rtol=1e-4, atol=1e-5)
    assert isinstance(table, api.PartsTable)
    np.testing.assert_array_equal(table.to_xarray()["value"], table.values)


def test_scores_are_tables_and_their_repr_has_all_of_them() -> None:
    first = [*ENGLISH[:20], *ENGLISH[40:60]]
    comparison = api.compare_translations(first, ENGLISH[:40], ENGLISH[:40])
    frame = comparison.to_frame()
    columns = ["metric", "first", "second", "difference", "low", "high", "p_value"]
    assert frame.columns.tolist() == columns
    assert frame["p_value"].tolist() == [score.p_value for score in comparison.scores]
    for score in comparison.scores:
        assert f"p_value={score.p_value:.3f})" in repr(score)
        both = f"{score.first:.2f} → {score.second:.2f} (p = {score.p_value:.3f})"
        assert both in repr(comparison)
    scores = api.CorpusScores(
        9, 38.1, (36.0, 40.0), 37.2, (35.0, 39.0), "s" * 90, 58.3, (57, 59), 1
    )
    assert "chrf=58.30 (57.00 to 59.00)" in repr(scores)
    assert scores.to_frame().loc[2].tolist() == ["chrf", 58.3, 57, 59]
    assert scores.to_dict()["chrf_interval"] == [57, 59]


@pytest.mark.parametrize(("method", "name"), [("to_frame", "pandas"), ("to_xarray", "xarray")])
def test_a_missing_library_is_named_with_its_extra(
    subword_translator: api.Translator, monkeypatch: pytest.MonkeyPatch, method: str, name: str
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    translation = subword_translator.translate(GERMAN[0])
    with pytest.raises(MissingExtensionError, match=rf"pip install “augenmerk\[{name}\]”"):
        getattr(translation, method)()


@pytest.mark.subprocess
@pytest.mark.heavy
def test_translating_and_analysing_load_no_library_for_tables() -> None:
    code = (
        "import sys, augenmerk\n"
        "print(*{'pandas', 'xarray', 'matplotlib', 'PySide6', 'torch'} & set(sys.modules))\n"
        "translator = augenmerk.Translator.load()\n"
        "translation = translator.translate('Zwei Hunde spielen.')\n"
        "augenmerk.logit_lens(translator, translation)\n"
        "translation._repr_html_(), translation.to_dict()\n"
        "print(*{'pandas', 'xarray', 'matplotlib', 'PySide6'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
