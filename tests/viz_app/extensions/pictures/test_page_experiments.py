"""The interface of a page that runs a model says and does what the window says and does: its
modules under node."""

import difflib
import itertools
import json
import random
import shlex
import shutil
import subprocess
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

from augenmerk.core.config import ModelConfig
from augenmerk.core.counting import display_text
from augenmerk.core.model.heads import (
    ATTENTION_KINDS,
    KIND_TITLES,
    Head,
    HeadGroup,
    Network,
    heads_of,
)
from augenmerk.core.quantities import number, percent
from augenmerk.core.text.phrases import PHRASES
from augenmerk.core.text.vocabulary import ENDS, STARTS
from augenmerk.core.translation.experiment import (
    MAX_FACTOR,
    MAX_TEMPERATURE,
    MIN_TEMPERATURE,
    AttentionRow,
    Experiment,
    FeedForwardScaled,
    ForcedToken,
    HeadScaled,
    Intervention,
    SoftmaxTemperature,
    SourceWordRemoved,
    SourceWordReplaced,
    in_groups,
)
from augenmerk.core.translation.experiment_file import (
    experiment_from_json,
    experiment_to_json,
    part_to_json,
)
from augenmerk.core.translation.result import Translation
from augenmerk.viz_app.extensions.documents.copying import to_command
from augenmerk.viz_app.extensions.pictures.page_parts import page_script
from augenmerk.viz_app.state import experiment_editor as edits
from augenmerk.viz_app.state.experiment_editor import ExperimentEditor, Step
from augenmerk.viz_app.state.experiment_state import ExperimentState, follow_tokens
from augenmerk.viz_app.state.map_source import LEAST_DIFFERENCE, top_values
from augenmerk.viz_app.state.map_view_settings import SHOWN_MAPS, MapViewSettings
from augenmerk.viz_app.state.sentence_text import elided
from tests.viz_app.synthetic import make_result, make_translation

pytestmark = [pytest.mark.slow, pytest.mark.subprocess]
MODULES = (
    "../../../../core/extensions/page/phrases.js",
    "selection.js",
    "experiment.js",
    "sentence.js",
)
NAMES = (
    *(
        "ChangeTexts",
        "addressOf",
        "experimentOf",
        "intervene",
        "without",
        "edited",
        "scaled",
        "toggled",
    ),
    *("newPlaces", "piecesOf", "percent", "decimal", "shownMaps", "elided", "followTokens"),
)
HEADS = heads_of(ModelConfig(num_encoder_layers=2, num_decoder_layers=2, num_heads=2))
KINDS = [
    {
        "kind": kind,
        "title": KIND_TITLES[kind],
        "side": HeadGroup(kind).side,
        "layers": 2,
        "heads": 2,
    }
    for kind in ATTENTION_KINDS
]
CHANGES: tuple[Intervention, ...] = (
    SourceWordRemoved(0),
    SourceWordReplaced(1, "große Katze"),
    *(HeadScaled(head, 0.0) for head in HEADS if head.kind == "cross"),
    *(HeadScaled(head, 0.25) for head in HEADS if head.kind == "encoder" and head.layer == 1),
    *(HeadScaled(Head("decoder", layer, 1)) for layer in (0, 1)),
    FeedForwardScaled(Network("decoder", 1), 1 / 3),
    FeedForwardScaled(Network("encoder", 0)),
    SoftmaxTemperature(Head("cross", 0, 1), 2.5),
    AttentionRow(Head("cross", 0, 0), 1, (0.0, 1.0, 0.0)),
    AttentionRow(Head("decoder", 0, 0), 1, (0.0, 1.0)),
    ForcedToken(2, "▁dog"),
    ForcedToken(3, "ing"),
    ForcedToken(5, "▁"),
)


def evaluated(expression: str, **values: Any) -> Any:
    """The value of a JavaScript expression with the modules' names and these values."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node: https://nodejs.org, or the package nodejs")
    script = (
        f"const {{ {', '.join(NAMES)} }} = {page_script(MODULES, NAMES)};\n"
        f"const {{ {', '.join(values)} }} = {json.dumps(values)};\n"
        f"process.stdout.write(JSON.stringify({expression}));"
    )
    done = subprocess.run(
        [node, "-"], input=script, capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("seed", range(4))
def test_changes_are_listed_as_in_the_window(seed: int) -> None:
    chosen = CHANGES if seed == 0 else tuple(random.Random(seed).sample(CHANGES, 9))
    experiment = Experiment("Zwei Hunde.", interventions=chosen)
    groups = evaluated(
        "new ChangeTexts(kinds, phrases).inGroups(experiment.interventions)",
        kinds=KINDS,
        phrases=dict(PHRASES),
        experiment=experiment_to_json(experiment),
    )
    expected = in_groups(experiment.interventions, HEADS)
    assert [group["text"] for group in groups] == [text for text, _ in expected]
    assert [group["interventions"] for group in groups] == [
        list(map(part_to_json, members)) for _, members in expected
    ]


@pytest.mark.parametrize(
    ("intent", "call"),
    [
        (edits.edit_text("Ein Hund."), 'edited(before, "Ein Hund.")'),
        (
            edits.intervene(SourceWordRemoved(1)),
            'intervene(before, { type: "source_word_removed", place: 1 })',
        ),
        (
            edits.force(2, "▁cat"),
            'intervene(before, { type: "forced_token", step: 2, token: "▁cat" })',
        ),
        (edits.remove(CHANGES[0]), "without(before, [before.interventions[0]])"),
        (
            edits.scale(Network("decoder", 1), 1.0),
            'scaled(before, { side: "decoder", layer: 1 }, 1)',
        ),
        (
            edits.scale(Network("encoder", 1), 0.5),
            'scaled(before, { side: "encoder", layer: 1 }, 0.5)',
        ),
        (edits.toggle(*HEADS), "toggled(before, heads)"),
        (
            edits.toggle(*(head for head in HEADS if head.kind == "cross")),
            "toggled(before, cross)",
        ),
    ],
)
def test_edits_are_those_of_the_window(intent: edits.Intent, call: str) -> None:
    before = Experiment("Zwei Hunde.", interventions=CHANGES)
    after = intent(ExperimentEditor(Step(before))).editor.experiment
    heads = [vars(head) for head in HEADS]
    cross = [vars(head) for head in HEADS if head.kind == "cross"]
    values = {"before": experiment_to_json(before), "heads": heads, "cross": cross}
    assert evaluated(call, **values) == experiment_to_json(after)
    notice = evaluated(
        f"new ChangeTexts(kinds, phrases).dropped(before, {call})",
        **values,
        kinds=KINDS,
        phrases=dict(PHRASES),
    )
    assert notice == (intent(ExperimentEditor(Step(before))).notice or "")


@pytest.mark.parametrize(
    ("before", "after", "notice"),
    [
        ("two dogs run .", "two big dogs run .", "Moved with their tokens: "),
        ("two dogs run .", "two cats run .", "Dropped because its token is gone: "),
        ("two dogs run .", "two dogs run .", ""),
    ],
)
def test_rows_follow_their_tokens_as_in_the_window(before: str, after: str, notice: str) -> None:
    rows = (
        AttentionRow(Head("cross", 0, 0), 2, (0.0, 1.0, 0.0)),
        AttentionRow(Head("decoder", 0, 0), 2, (0.0, 0.5, 0.5)),
    )
    rows = rows[:1] if "gone" in notice else rows
    old = make_translation(
        "zwei hunde .",
        before,
        interventions=rows,
        experiment=Experiment("zwei hunde .", interventions=rows),
    )
    new = make_translation("zwei hunde .", after, experiment=Experiment("zwei hunde ."))
    experiment = Experiment(old.source_text, interventions=(*rows, ForcedToken(1, "▁big")))
    expected = follow_tokens(ExperimentEditor(Step(experiment)), old, new)
    answer = evaluated(
        """[followTokens(experiment, before, after)].map((found) =>
          found && [found.experiment, new ChangeTexts(kinds, phrases).followed(found)])[0]""",
        experiment=experiment_to_json(experiment),
        before={
            "experiment": experiment_to_json(replace(old.experiment, source_text=old.source_text)),
            "changed": {"readTokens": old.read_tokens, "unreached": []},
        },
        after={"changed": {"readTokens": new.read_tokens}},
        kinds=KINDS,
        phrases=dict(PHRASES),
    )
    if expected is None:
        assert (answer, notice) == (None, "")
    else:
        assert answer == [experiment_to_json(expected.editor.experiment), expected.notice]
        assert answer[1].startswith(notice)


def test_long_texts_are_elided_as_in_the_window() -> None:
    texts = ["", "abc", "abcdefghij", "ä" * 50]
    assert evaluated("texts.map((text) => elided(text, 9))", texts=texts) == [
        elided(text, 9) for text in texts
    ]


DATA = {
    "kinds": KINDS,
    "limits": {"factor": MAX_FACTOR, "temperature": [MIN_TEMPERATURE, MAX_TEMPERATURE]},
}


def of_link(address: str) -> tuple[Experiment, list[str]]:
    answer = evaluated('experimentOf(address, data, "Hallo.")', address=address, data=DATA)
    return experiment_from_json(answer["experiment"]), answer["unread"]


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("#text=Zwei%20Hunde&off=cross:2:1", ["cross 2·1"]),
        ("#text=Zwei+Hunde&off=cross:2,encoder:1:1", ["encoder 1·1", "cross 2·1", "cross 2·2"]),
        (
            "#text=Zwei+Hunde&off=cross:*:2&off=encoder:1:1",
            ["encoder 1·1", "cross 1·2", "cross 2·2"],
        ),
        (
            "#text=Zwei+Hunde&off=cross:*:2&off=cross",
            ["cross 1·1", "cross 1·2", "cross 2·1", "cross 2·2"],
        ),
        (
            "#text=Zwei+Hunde&off=decoder",
            [display_text(head.short_name) for head in HEADS if head.kind == "decoder"],
        ),
        (
            "#text=Zwei+Hunde&feed-forward-off=decoder:2,encoder:1",
            ["feed-forward encoder 1", "feed-forward decoder 2"],
        ),
    ],
)
def test_links_name_groups_of_parts_as_the_commands_do(address: str, parts: list[str]) -> None:
    experiment, unread = of_link(address)
    assert (experiment.source_text, unread) == ("Zwei Hunde", [])
    assert [display_text(intervention) for intervention in experiment.interventions] == [
        f"{part} off" for part in parts
    ]
    again = evaluated(
        "addressOf(experiment, kinds)", experiment=experiment_to_json(experiment), kinds=KINDS
    )
    assert of_link(again) == (experiment, [])


@pytest.mark.parametrize("text", ["Zwei Hunde & 50% = ü+#?", ""])
def test_a_link_holds_the_whole_experiment_in_the_fields_of_the_command(text: str) -> None:
    experiment = Experiment(text, interventions=(*CHANGES, ForcedToken(4, "=&▁a b")))
    link = evaluated(
        "addressOf(experiment, kinds)", experiment=experiment_to_json(experiment), kinds=KINDS
    )
    assert of_link(link) == (experiment, [])
    fields = parse_qs(link.removeprefix("#"))
    options: dict[str, list[str]] = {}
    for word in shlex.split(to_command(experiment))[2:]:
        if word.startswith("--"):
            named = {"--head-off": "off", "--force": "force-token"}.get(
                word, word.removeprefix("--")
            )
            values = options.setdefault(named, [])
        elif options:
            values.append(word)
    joined = ("off", "feed-forward-off")
    assert {name: value for name, value in fields.items() if name not in ("text", *joined)} == {
        name: values for name, values in options.items() if name not in joined
    }
    heads = {
        f"{head.kind}:{head.layer + 1}:{head.head + 1}" for head in HEADS if head.kind == "cross"
    }
    assert (fields["off"], set(options["off"]) >= heads) == (
        ["cross,decoder:1:2,decoder:2:2"],
        True,
    )
    assert fields["feed-forward-off"] == [",".join(options["feed-forward-off"])]


@pytest.mark.parametrize(
    "field",
    [
        *(
            "off=cross:3",
            "off=cross:0:1",
            "off=cross:1:1:1",
            "off=middle",
            "off=cross:1,middle",
            "off=",
            "off",
        ),
        *("feed-forward-off=cross:1", "feed-forward-off=decoder:3", "feed-forward-off=decoder"),
        *(
            "scale-head=cross:1=2",
            "scale-head=cross:1:1=",
            "scale-head=cross:1:1=two",
            "scale-head=cross:1:1=1001",
        ),
        *("scale-feed-forward=decoder:2", "scale-feed-forward=cross:1=1"),
        *("temperature=cross:1:1=0", "temperature=cross:1:1=NaN", "temperature=cross:1:1=1e9"),
        *(
            "set-row=cross:1:1:1=0,0",
            "set-row=cross:1:1:1=1,-1",
            "set-row=cross:1:1:0=1",
            "set-row=cross:1:1=1",
        ),
        *(
            "set-row=decoder:1:1:2=1",
            "set-row=cross:1:1:1=1,,1",
            "set-row=cross:1:1:1=Infinity",
        ),
        *("force-token=dog", "force-token=0=dog", "force-token=1=", "force-token=1.5=dog"),
        *(
            "remove-word=0",
            "remove-word=",
            "replace-word=1",
            "replace-word=1=  ",
            "beam=4",
            "constructor=1",
        ),
    ],
)
def test_a_damaged_field_of_a_link_is_named_and_the_others_are_used(field: str) -> None:
    experiment, unread = of_link(f"#text=a&off=encoder:1:1&{field}&remove-word=1")
    assert unread == [field.removesuffix("=") if field in {"off=", "remove-word="} else field]
    assert [display_text(intervention) for intervention in experiment.interventions] == [
        "word 1 removed",
        "encoder 1·1 off",
    ]


def test_a_link_without_a_sentence_changes_the_first_one() -> None:
    assert of_link("#off=cross:1:1") == (
        Experiment("Hallo.", interventions=(HeadScaled(Head("cross", 0, 0)),)),
        [],
    )
    assert (
        evaluated('["", "#", "#scene=2"].map((each) => experimentOf(each, data, ""))', data=DATA)
        == [None] * 3
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Experiment("Ein Hund."), Experiment("Eine Katze.", interventions=CHANGES[:1])),
        (
            Experiment("Ein Hund."),
            Experiment("Ein Hund.", interventions=(ForcedToken(9, "dog"), CHANGES[0])),
        ),
        (Experiment("Ein Hund.", interventions=CHANGES[:1]), Experiment("Ein Hund.")),
    ],
)
def test_a_refusal_names_what_is_shown_as_in_the_window(
    before: Experiment, after: Experiment
) -> None:
    notice = evaluated(
        "new ChangeTexts(kinds, phrases).refusal(after, before)",
        kinds=KINDS,
        phrases=dict(PHRASES),
        before=experiment_to_json(before),
        after=experiment_to_json(after),
    )
    assert notice == edits.refused_notice(after, before)


def test_new_words_are_those_that_difflib_finds() -> None:
    chance = random.Random(0)
    pairs = [[chance.choices("abcd", k=chance.randrange(9)) for _ in range(2)] for _ in range(200)]
    by_pair = evaluated(
        "pairs.map(([before, after]) => [...newPlaces(before, after)])", pairs=pairs
    )
    for (before, after), places in zip(pairs, by_pair, strict=True):
        blocks = difflib.SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
        unchanged = {block.b + offset for block in blocks for offset in range(block.size)}
        assert places == [index for index in range(len(after)) if index not in unchanged], (
            before,
            after,
        )


def test_numbers_read_as_in_the_window() -> None:
    shares = [0.0, 0.001, 0.0049, 0.3, 0.996, 0.9999, 1.0]
    values = [0.0, -0.001, -2.186, 1.5, -36.464, -0.006]
    assert evaluated("shares.map(percent)", shares=shares) == [percent(share) for share in shares]
    assert evaluated("values.map(decimal)", values=values) == [number(value) for value in values]


def test_words_of_a_sentence_lose_no_character() -> None:
    text, words = "İn “the” snow.", ["the", "snow", "missing", "."]
    described = [{"text": word, "start": 0, "end": 1} for word in words]
    pieces = evaluated("piecesOf(text, words)", text=text, words=described)
    assert "".join(piece["text"] for piece in pieces) == text
    assert [piece["text"] for piece in pieces if piece["word"]] == ["the", "snow", "."]


def described(translation: Translation) -> dict[str, Any]:
    """What the page's engine knows of a translation's maps."""
    words = {"sourceWords": translation.source_words, "targetWords": translation.target_words}
    maps = {kind: translation.maps.of_kind(kind) for kind in ATTENTION_KINDS}
    return {
        "sourceTokens": translation.source_tokens,
        "readTokens": translation.read_tokens,
        "predictedTokens": translation.predicted_tokens,
        **{
            name: [
                {"text": word.text, "start": word.start, "end": word.end} for word in words[name]
            ]
            for name in words
        },
        "attention": {
            kind: {"shape": weights.shape, "values": weights.ravel().tolist()}
            for kind, weights in maps.items()
        },
    }


@pytest.mark.parametrize(
    "target", ["a sky|scra|per in snow .", "the Sky|scra|pers snow", "nothing alike"]
)
def test_maps_are_merged_and_compared_as_in_the_window(target: str) -> None:
    original = make_translation(
        "ein wolken|kratz|er im schnee .", "a sky|scra|per in the snow .", num_layers=2
    )
    off = Experiment("", interventions=(HeadScaled(Head("cross", 0, 1)),))
    changed = make_translation("ein wolken|kratz|er schnee .", target, num_layers=2, experiment=off)
    kinds = list(
        itertools.product(ATTENTION_KINDS, ("read", "predicted"), (True, False), SHOWN_MAPS)
    )
    answers = evaluated(
        """choices.map(([kind, mode, merges, shown]) => {
          const found = shownMaps(result, kind, { mode, merges, shown }, data);
          return { ...found, values: Array.from(found.values) }; // no value is null
        })""",
        choices=kinds,
        result={"changed": described(changed), "original": described(original)},
        data={"ends": sorted(STARTS | ENDS), "least": LEAST_DIFFERENCE},
    )
    for (kind, mode, merges, shown), answer in zip(kinds, answers, strict=True):
        state = ExperimentState(MapViewSettings(label_mode=mode, merges_words=merges, shown=shown))
        state.accept(make_result(changed, original))
        view = state.maps.view_all(kind)
        assert (answer["rows"]["labels"], answer["columns"]["labels"]) == (
            list(view.row_labels),
            list(view.column_labels),
        )
        axes = view.labelled.queries, view.labelled.keys
        for name, axis in zip(("rows", "columns"), axes, strict=True):
            assert answer[name]["are"] == axis.meaning
            assert [tuple(positions) for positions in answer[name]["positions"]] == list(
                axis.positions
            )
        values = np.array(answer["values"], dtype=np.float32).reshape(view.values.shape)
        np.testing.assert_allclose(values, view.values, rtol=0, atol=1e-6)
        assert answer["isSigned"] == state.maps.is_signed(kind)
        assert answer["top"] == pytest.approx(top_values(state.maps, kind)[0, 0])
        new = [
            [band["index"] for band in answer["changed"] if band["isRow"] == is_row]
            for is_row in (True, False)
        ]
        assert new == [sorted(entries) for entries in state.maps.new_entries(kind)], (
            kind,
            mode,
            merges,
            shown,
        )
