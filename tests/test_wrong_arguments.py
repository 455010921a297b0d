"""No public function answers a wrong argument with a foreign traceback: it works, or says what to
pass instead."""

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import augenmerk as api
from augenmerk.core.checkpoint.file import save_checkpoint
from augenmerk.core.errors import ArgumentError, AugenmerkError
from tests.core.translators import ENGLISH, GERMAN, read_given, subword_translator, word_translator  # noqa: F401

TEXT, TARGET = GERMAN[0], ENGLISH[0]
HEAD, NETWORK = api.Head("cross", 0, 1), api.Network("decoder", 0)
OFF, BEYOND = api.HeadScaled(HEAD), api.HeadScaled(api.Head("cross", 9, 0))
PAIR = api.WordPair(TEXT, "a", "man", "dog")
GOLD = (
    api.GoldPair(1, ("Ein", "Mann"), ("A", "man"), frozenset({(0, 0)}), frozenset({(0, 0)})),
    api.GoldPair(2, ("Ein", "Hund"), ("A", "dog"), frozenset({(0, 0)}), frozenset({(0, 0)})),
)
DIGEST = "0" * 64
RESULTS = """Alternative AttentionMaps CellParts ComponentGroup Contributions Coverage DecoderLens Depth EncoderParts
ExperimentResult HeadImportance ImportSummary ImportedModel LabelledMap LogitLens MapDifference OccludedWord Origin
PairAttribution PartsTable RareWord RespelledWord RowParts SourceOcclusion Translation Word WordLink WordParts
AlignerRanking AlignerScore AlignmentScore Axis CorpusScores CountedText DeviceChoice Hypothesis Note TrainingEvent
TrainingFinished ScoreDifference SentenceDifference SystemComparison
Checkpoint CompiledExperiment CompiledTransformer DecodingRules PairPass SentenceChanges Transformer""".split()
"""Results, which the product makes."""
OF_TYPES = ("Intervention", "Output", "__version__")


def calls(
    model: api.Translator, folder: Path
) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Public functions, methods and classes by name, with right arguments."""
    translation = read_given(model, TEXT, TARGET)
    parts = api.word_parts(model, translation, 1)
    row = api.query_key_parts(model, translation, HEAD, 1)
    labelled = api.Selection().apply(translation.maps.cross, translation, "cross")
    experiment = api.Experiment(TEXT, interventions=(OFF,))
    saved = api.SavedExperiment(experiment, api.ModelReference("model", DIGEST))
    api.write_experiment_file(saved, folder / "a.augenmerk")
    save_checkpoint(model.checkpoint, folder / "a.safetensors")
    (folder / "pairs.tsv").write_text(f"{TEXT}\ta\tman\tdog\n", encoding="utf-8")
    importance = api.head_importance(model, [TEXT], [TARGET])
    lens, occlusion = (
        api.logit_lens(model, translation),
        api.occlude_source_words(model, translation),
    )
    about = {"translator": model, "translation": translation}
    sample = {"translator": model, "sources": [TEXT], "targets": [TARGET], "changes": [OFF]}
    pairs = {"translator": model, "pairs": [PAIR], "changes": [OFF]}
    classes: dict[str, dict[str, Any]] = {
        "Aligner": {
            "layer": 0,
            "head": 0,
            "label_mode": "read",
            "measure": "weight",
            "kind": "cross",
        },
        "AttentionRow": {"head": HEAD, "row": 0, "weights": [0.5, 0.5]},
        "Beam": {"size": 4, "length_penalty": 1.0},
        "CausalMaskLifted": {},
        "Experiment": {"source_text": TEXT, "output": api.Greedy(), "interventions": (OFF,)},
        "FeedForwardScaled": {"network": NETWORK, "factor": 0.5},
        "ForcedToken": {"step": 0, "token": "dog"},
        "GivenTarget": {"text": TARGET},
        "GoldPair": {
            name: getattr(GOLD[0], name)
            for name in ("line", "source", "target", "sure", "possible")
        },
        "Greedy": {},
        "Head": {"kind": "cross", "layer": 0, "head": 0},
        "HeadScaled": {"head": HEAD, "factor": 0.5},
        "ImportOptions": {field.name: field.default for field in fields(api.ImportOptions)},
        "ModelReference": {"name": "model", "digest": DIGEST},
        "Network": {"side": "decoder", "layer": 0},
        "SavedExperiment": {"experiment": experiment, "model": saved.model, "view": {"zoom": 1.0}},
        "Selection": {"label_mode": "read", "merge_words": True, "hide": frozenset({"end"})},
        "SoftmaxTemperature": {"head": HEAD, "temperature": 2.0},
        "SourceWordRemoved": {"place": 0},
        "SourceWordReplaced": {"place": 0, "text": "Hund"},
        "Translator": {
            "checkpoint": model.checkpoint,
            "device": model.device,
            "path": folder / "a.safetensors",
        },
        "WordPair": {"source": TEXT, "prefix": "", "word": "a", "foil": "dog", "place": ""},
    }
    functions: dict[str, dict[str, Any]] = {
        "align": about | {"aligner": api.Aligner(0, 0, "read", "weight")},
        "attribute_pairs": pairs,
        "compare_translations": {name: ["a", "b"] for name in ("first", "second", "references")},
        "contributions_of": about,
        "decoder_lens": about,
        "difference": {"first": labelled, "second": labelled},
        "encoder_parts": {"translator": model, "parts": parts},
        "evaluate": {"translator": model, "pairs": [(TEXT, TARGET)], "beam": 1, "changes": [OFF]},
        "experiment_from_json": {
            "value": api.experiment_to_json(experiment),
            "path": "experiment",
        },
        "experiment_to_json": {"experiment": experiment},
        "head_importance": sample,
        "import_model": {"source": folder / "nothing", "options": api.ImportOptions()},
        "left_out_words": about,
        "logit_lens": about,
        "map_provenance": {"translation": translation, "measure": "norm", "translator": model},
        "save_figure": {"figure": Figure(), "target": folder / "a.svg", "origin": saved},
        "measure": about | {"name": "norm", "kind": "cross", "label_mode": "read"},
        "logit_parts": about,
        "measure_parts": {"translator": model, "parts": parts, "components": [HEAD]},
        "model_digest": {"checkpoint": model.checkpoint},
        "occlude_source_words": about | {"replacement": "Hund", "places": [0]},
        "pairs_importance": pairs,
        "plot_map": {
            "translation": translation,
            "kind": "cross",
            "layer": 0,
            "head": 0,
            "ax": Figure().add_subplot(),
            "measure": "norm",
            "translator": model,
            "selection": api.Selection(),
        },
        "query_key_parts": about | {"head": HEAD, "query": 0},
        "rank_aligners": {
            "translator": model,
            "gold": GOLD,
            "others": {},
            "changes": [OFF],
            "target_code": "",
        },
        "read_experiment_file": {"path": folder / "a.augenmerk"},
        "read_gold": {"path": None},
        "read_pairs": {"path": folder / "pairs.tsv"},
        "train": {
            "config": "nothing",
            "data": "copy",
            "out": folder / "run",
            "settings": ["training.num_epochs=1"],
            "device": "cpu",
            "resume": False,
        },
        "word_parts": about | {"step": 0, "foil": "dog"},
        "write_experiment_file": {"saved": saved, "path": folder / "b.augenmerk", "durable": False},
    }
    methods: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "Translator.load": (
            api.Translator.load,
            {"path": folder / "a.safetensors", "device": "cpu"},
        ),
        "Translator.run": (model.run, {"experiment": experiment, "draft": translation}),
        "Translator.compare": (
            model.compare,
            {
                "experiment": experiment,
                "original": translation,
                "own": translation,
                "drops_misfits": True,
                "draft": translation,
            },
        ),
        "Translator.run_many": (
            lambda **named: list(model.run_many(**named)),
            {"experiments": [experiment], "need_maps": True, "draft": translation},
        ),
        "Translator.compile": (model.compile, {"experiment": experiment}),
        "Translator.check": (model.check, {"experiment": experiment}),
        "Translator.translate": (model.translate, {"text": TEXT, "beam": 2, "length_penalty": 1.0}),
        "Translator.coverage": (model.coverage, {"text": TEXT}),
        "Translator.rare_words": (model.rare_words, {"text": TEXT}),
        "Translator.score": (model.score, {"translation": translation, "experiment": experiment}),
        "Translator.score_many": (
            model.score_many,
            {"translation": translation, "experiments": [experiment]},
        ),
        "Translator.trace": (model.trace, {"experiment": translation, "sites": ["logits"]}),
        "Translator.pass_over": (model.pass_over, {"translation": translation}),
        "Translator.check_vocabularies": (model.check_vocabularies, {"translation": translation}),
        "Translator.translate_corpus": (
            model.translate_corpus,
            {"texts": [TEXT], "beam": 1, "length_penalty": 1.0, "changes": [OFF]},
        ),
        "AttentionMaps.of_kind": (translation.maps.of_kind, {"kind": "cross"}),
        "CellParts.table": (row.of_cell(0).table, {"opened_query": "heads 0", "opened_key": ""}),
        "Contributions.of_source": (
            api.contributions_of(model, translation).of_source,
            {"words": True},
        ),
        "Experiment.edited": (experiment.edited, {"source_text": TEXT}),
        "Experiment.with_interventions": (
            lambda added: experiment.with_interventions(added),
            {"added": OFF},
        ),
        "Experiment.without": (lambda removed: experiment.without(removed), {"removed": OFF}),
        "HeadImportance.of": (importance.of, {"part": HEAD}),
        "HeadImportance.of_kind": (importance.of_kind, {"kind": "cross"}),
        "HeadImportance.of_networks": (importance.of_networks, {"side": "decoder"}),
        "LogitLens.decided_at": (lens.decided_at, {"step": 0}),
        "RowParts.of_cell": (row.of_cell, {"key": 0, "baseline": "mean"}),
        "Selection.apply": (
            api.Selection().apply,
            {"weights": translation.maps.cross, "translation": translation, "kind": "cross"},
        ),
        "SourceOcclusion.change_of": (occlusion.change_of, {"word": occlusion.words[0]}),
        "Translation.word_log_probability": (
            translation.word_log_probability,
            {"word": translation.target_words[0]},
        ),
        "WordParts.value_of": (parts.value_of, {"component": HEAD}),
    }
    named = {**classes, **functions}
    return {name: (getattr(api, name), right) for name, right in named.items()} | methods


def wrong_values(right: Any, *others: Any) -> Iterator[Any]:
    """Another type, one instead of several, several instead of one, out of range, not a number,
    empty, the `others`."""
    yield from (
        None,
        5,
        -1,
        10**9,
        2.5,
        math.nan,
        math.inf,
        True,
        "x",
        "",
        b"x",
        [],
        [None],
        ["x"],
        {},
        object(),
    )
    yield from (
        np.float32("nan"),
        np.zeros(2),
        np.zeros((2, 2), dtype=np.float32),
        int,
        print,
        Path("x"),
    )
    yield from (
        [right],
        (right, right),
        {right: right} if isinstance(right, str | int) else {"x": right},
        repr(right),
    )
    if isinstance(right, list | tuple) and right:
        yield right[0]
    yield from (
        api.Head("cross", 9, 9),
        api.Network("encoder", 9),
        api.Experiment("Ein Hund."),
        OFF,
        PAIR,
    )
    yield from (*others, api.Selection(), (number for number in (1, 2)))


@pytest.mark.heavy
def test_every_public_name_is_tried(word_translator: api.Translator, tmp_path: Path) -> None:  # noqa: F811
    tried = {name.partition(".")[0] for name in calls(word_translator, tmp_path)}
    errors = {name for name in api.__all__ if name.endswith("Error")}
    untried = set(api.__all__) - tried - errors - set(RESULTS) - set(OF_TYPES)
    assert untried == {"tune_process"}, "it takes no arguments"


@pytest.mark.figures
@pytest.mark.slow
@pytest.mark.heavy
def test_a_wrong_argument_is_explained(
    word_translator: api.Translator,  # noqa: F811
    subword_translator: api.Translator,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    failures: list[str] = []
    num_refused = 0
    foreign = subword_translator.translate(TEXT)
    others = (
        word_translator,
        subword_translator,
        foreign,
        foreign.maps,
        api.word_parts(subword_translator, foreign, 1),
    )
    for name, (public, right) in calls(word_translator, tmp_path).items():
        if name not in ("import_model", "train"):  # there is nothing to import, and no such preset
            public(**right)
        for parameter in right:
            for value in wrong_values(right[parameter], *others):
                try:
                    public(**right | {parameter: value})
                except AugenmerkError as error:
                    num_refused += 1
                    if str(error).strip()[-1:] not in ".":
                        failures.append(f"{name}({parameter}={value!r:.60}): no sentence: {error}")
                except Exception as error:
                    failures.append(
                        f"{name}({parameter}={value!r:.60}): {type(error).__name__}: {error!s:.80}"
                    )
    assert failures == [], f"{len(failures)} of {len(failures) + num_refused} refusals"


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (
            lambda model, translation: translation.maps.of_kind("crosss"),
            ["crosss", "'encoder', 'decoder', 'cross'"],
        ),
        (
            lambda model, translation: api.Experiment(TEXT, interventions=OFF),
            ["interventions", "list", "HeadScaled"],
        ),
        (
            lambda model, translation: model.trace([translation, translation], "logits"),
            ["experiment", "a Translation"],
        ),
        (
            lambda model, translation: api.logit_lens(translation, model),
            ["translator", "logit_lens", "a Translator"],
        ),
        (
            lambda model, translation: api.head_importance(model, TEXT, TARGET),
            ["sources", "a list, each item text"],
        ),
        (
            lambda model, translation: api.Translator("opus.safetensors"),
            ["checkpoint", "Translator", "a Checkpoint"],
        ),
        (
            lambda model, translation: api.head_importance(model, [TEXT, 5], [TARGET]),
            ["`sources[1]`", "is 5. Pass text."],
        ),
        (
            lambda model, translation: api.Experiment(TEXT, interventions=[OFF, HEAD]),
            ["Intervention 1 is Head(", "HeadScaled"],
        ),
        (
            lambda model, translation: api.attribute_pairs(model, [PAIR, None]),
            ["`pairs[1]`", "is None. Pass a WordPair."],
        ),
        (
            lambda model, translation: list(
                model.run_many([api.Experiment(TEXT), api.Experiment(" ")])
            ),
            ["Experiment 1: "],
        ),
        (
            lambda model, translation: model.score_many(
                translation, [api.Experiment(TEXT, interventions=(BEYOND,))]
            ),
            ["Experiment 0: ", "cross layer 9"],
        ),
        (
            lambda model, translation: api.head_importance(model, [" "], [TARGET]),
            ["Not one of 1", "nothing to translate"],
        ),
        (lambda model, translation: api.head_importance(model, [], []), ["no sentence pair"]),
        (lambda model, _: api.Aligner(None, 3, "read", "weight"), ["Head 3 needs a layer"]),
        (lambda model, _: api.Aligner(0, 0, "read", "weight", "encoder"), ["encoder", "cross"]),
        (
            lambda model, _: api.attribute_pairs(model, [replace(PAIR, word=" ")]),
            ["Pair 0: ", "empty. Name a word"],
        ),
        (
            lambda model, _: api.attribute_pairs(model, [PAIR], changes=[OFF, OFF]),
            ["Two interventions"],
        ),
        (
            lambda model, translation: translation.word_log_probability(api.Word("far", 90, 91)),
            ["“far”", "target_words"],
        ),
        (
            lambda model, translation: api.occlude_source_words(model, translation).change_of(
                api.occlude_source_words(model, translation).words[0]
            ),
            ["belongs to another result", "Choose"],
        ),
        (
            lambda model, translation: (
                api.query_key_parts(model, translation, HEAD, 1).of_cell(0).table("heads 9")
            ),
            ["no group 'heads 9'", "Choose one of token"],
        ),
        (
            lambda model, translation: api.logit_lens(
                model, replace(translation, predicted_ids=(10**6,) * 3)
            ),
            ["no ids of tokens", "Translate the sentence"],
        ),
        (
            lambda model, translation: api.logit_lens(
                model, replace(translation, source_ids=(), read_ids=())
            ),
            ["no ids of tokens"],
        ),
        (
            lambda model, _: api.HeadImportance.of_kind(
                api.head_importance(model, [TEXT], [TARGET]), "x"
            ),
            ["`HeadImportance.of_kind`"],
        ),
        (
            lambda model, translation: replace(GOLD[0], sure=frozenset({(0, -1)})),
            ["link (0, -1)", "Correct it"],
        ),
        (lambda model, translation: replace(GOLD[0], sure=frozenset({(0,)})), ["sure", "Pass"]),
        (lambda model, translation: replace(GOLD[0], possible=frozenset()), ["sure link", "Add"]),
        (
            lambda model, translation: replace(GOLD[0], languages=("de",)),
            ["languages", "a tuple (text, text)"],
        ),
        (
            lambda model, translation: api.Head("crosss", 0, 0),
            ["kind", "Head", "'encoder', 'decoder', 'cross'"],
        ),
    ],
)
def test_the_message_names_the_argument_and_what_to_pass(
    word_translator: api.Translator,  # noqa: F811
    act: Callable[[api.Translator, api.Translation], object],
    words: list[str],
) -> None:
    with pytest.raises(AugenmerkError) as caught:
        act(word_translator, word_translator.translate(TEXT))
    for word in words:
        assert word in str(caught.value)


def test_a_folder_or_file_of_another_project_is_sent_to_import_model(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"PK\x03\x04")
    for source in (tmp_path, tmp_path / "pytorch_model.bin", "Helsinki-NLP/opus-mt-de-en"):
        with pytest.raises(api.CheckpointError, match="import_model"):
            api.Translator.load(source)


def test_checked_functions_keep_their_names_signatures_and_documentation() -> None:
    assert api.word_parts.__name__ == "word_parts"
    assert list(inspect.signature(api.word_parts).parameters) == [
        "translator",
        "translation",
        "step",
        "foil",
    ]
    assert "Args:" in (api.Translator.run.__doc__ or "")
    assert not is_dataclass(ArgumentError)
