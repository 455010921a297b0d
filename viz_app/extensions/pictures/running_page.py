"""A model as one HTML file that runs it in any current browser: no installation, no server, no
network. No Qt.

The page holds the packed model, the script that computes (in a worker) and the script that shows.
Names, colours and sentences come from the descriptions that the window uses. A policy in the page
forbids every request.
"""

import html
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from augenmerk.core.checkpoint.file import Checkpoint, model_digest
from augenmerk.core.extensions.page.packing import PackedModel, engine_script, pack_model
from augenmerk.core.extensions.page.scripts import joined_script
from augenmerk.core.extensions.provenance import facts_of_experiments, text_with_provenance
from augenmerk.core.maps.measures import MEASURES
from augenmerk.core.maps.roles import SampleRoles
from augenmerk.core.maps.selection import LABEL_MODES
from augenmerk.core.model.heads import ATTENTION_KINDS, KIND_TITLES, Head, HeadGroup, heads_of
from augenmerk.core.plain_text import one_line
from augenmerk.core.quantities import percent
from augenmerk.core.storage import write_text
from augenmerk.core.text.languages import two_letter_code
from augenmerk.core.text.phrases import PHRASES
from augenmerk.core.text.vocabulary import ENDS, STARTS
from augenmerk.core.translation.experiment import (
    MAX_FACTOR,
    MAX_TEMPERATURE,
    MIN_TEMPERATURE,
    Experiment,
)
from augenmerk.core.translation.experiment_file import experiment_to_json
from augenmerk.core.translation.result import Coverage

from ...state.head_roles import role_over_sample
from ...state.languages import language_names
from ...state.map_source import LEAST_DIFFERENCE
from ...state.map_text import (
    BEWARE,
    HATCHED,
    KIND_DIRECTIONS,
    KIND_NAMES,
    MERGING_TIP,
    NO_DIFFERENCE,
    OFF_NOTE,
    SHOWN_NOTES,
    row_meaning,
)
from ...state.map_view_settings import SHOWN_MAPS
from ...state.sentence_text import LOW_PROBABILITY
from ..examples.gallery import Example, copy_examples
from ..help.glossary import glossary
from .legend import MARK_MEANINGS
from .page_lesson import PageLesson, lesson_style
from .page_parts import (
    DIRECTION_STYLE,
    NOTHING_CHOSEN,
    PARTS,
    SCRIPTS,
    WORKERS,
    FirstView,
    cell_colors,
    json_in_page,
    page_policy,
    page_script,
    palette_style,
    part,
)

MODULES = (
    "../../../../core/extensions/page/phrases.js",
    "theme.js",
    "sentence.js",
    "drawing.js",
    "selection.js",
    "experiment.js",
    "client.js",
    "elements.js",
    "laboratory.js",
    "words.js",
    "heads.js",
    "maps.js",
    "recorded.js",
    "lesson.js",
    "running.js",
)
"""Those of the page's script, in the order in which they need each other."""
TERMS = ("query", "key", "softmax", "log-probability", "token", "<sos>", "<eos>")
"""Those of the glossary that a page explains."""
DEFAULT_TEXT = "Zwei Hunde spielen im Schnee."
OTHER_TEXT = "Expect mistakes in other text."


def save_running_page(
    checkpoint: Checkpoint,
    name: str,
    target: Path,
    first: FirstView = NOTHING_CHOSEN,
    examples: Sequence[Example] = (),
    lesson: PageLesson | None = None,
    roles: SampleRoles | None = None,
    *,
    bits: int = 16,
) -> PackedModel:
    """Writes the page, and returns the model as packed.

    Args:
        checkpoint: of the model.
        name: of the model, for people.
        target: the file.
        first: what is in view first.
        examples: sentences to choose from.
        lesson: of this model; None for a page without scenes.
        roles: of its heads; None if they were not measured.
        bits: see `pack_model`.

    Raises:
        CheckpointError: a page cannot run this model.
        StorageError: the file cannot be written.
    """
    packed = pack_model(checkpoint, name, bits=bits)
    page = running_page_html(checkpoint, name, packed, first, examples, lesson, roles)
    experiments = (
        [scene.experiment for scene in lesson.scenes]
        if lesson is not None
        else [Experiment(_first_text(first.text, _example_groups(checkpoint, examples)))]
    )
    origin = facts_of_experiments(name, model_digest(checkpoint), experiments)
    write_text(target, text_with_provenance(page, origin))
    return packed


def running_page_html(
    checkpoint: Checkpoint,
    name: str,
    packed: PackedModel,
    first: FirstView = NOTHING_CHOSEN,
    examples: Sequence[Example] = (),
    lesson: PageLesson | None = None,
    roles: SampleRoles | None = None,
) -> str:
    """The page as text; arguments as of `save_running_page`."""
    source, target = language_names(checkpoint.run)
    values = {
        "POLICY": page_policy(SCRIPTS, WORKERS),
        "TITLE": html.escape(
            one_line(f"Augenmerk · {lesson.title if lesson is not None else name}")
        ),
        "STYLE": palette_style()
        + DIRECTION_STYLE
        + part("running.css")
        + (lesson_style() if lesson is not None else ""),
        "MODEL": html.escape(f"{one_line(name)} · {packed.num_parameters:,} parameters"),
        "TERMS": html.escape(one_line(packed.terms)),
        "SOURCE": source.capitalize(),
        "TARGET": target.capitalize(),
        "MEANING": MEASURES["weight"].meaning,
        "BEWARE": BEWARE,
        "OFF": OFF_NOTE,
        "MARKS": html.escape("; ".join(MARK_MEANINGS.values())),
        "UNSURE": percent(LOW_PROBABILITY),
        "GLOSSARY": _glossary(),
        "MERGING": html.escape(MERGING_TIP),
        "LESSON": lesson.html() if lesson is not None else "",
        "DATA": json_in_page(_data(checkpoint, first, examples, roles)),
        "WORKER": f"{joined_script([PARTS / 'worker.js'], ['serve'])}.serve({engine_script()});",
        "SCRIPT": page_script(MODULES, ["showPage"]),
        **{key.upper(): value for key, value in packed.texts.items()},
    }
    return re.sub("@([A-Z]+)@", lambda match: values[match[1]], part("running.html"))


def _glossary() -> str:
    entries = (entry for entry in glossary() if entry.title in TERMS)
    return "".join(
        f"<dt>{html.escape(entry.title)}</dt><dd>{html.escape(entry.text)}</dd>"
        for entry in entries
    )


def _data(
    checkpoint: Checkpoint, first: FirstView, examples: Sequence[Example], roles: SampleRoles | None
) -> dict[str, Any]:
    """The input of the page's script, JSON-ready."""
    usual_head = examples[0].head if examples else Head("cross", 0, 0)
    run, counts = checkpoint.run, checkpoint.word_counts
    groups = _example_groups(checkpoint, examples)
    return {
        "kinds": _kinds(checkpoint, roles),
        "head": _head(usual_head if first.head is None else first.head),
        "phrases": dict(PHRASES),
        "text": _first_text(first.text, groups),
        "examples": [{"group": group, "members": members} for group, members in groups],
        "targetLanguage": two_letter_code(run.data.target_language),
        "isStartGiven": run.is_copy_task,
        "lowProbability": LOW_PROBABILITY,
        "unlikeTraining": f"{Coverage((), True, counts.kind if counts is not None else '').known} {OTHER_TEXT}",
        "limits": {"factor": MAX_FACTOR, "temperature": [MIN_TEMPERATURE, MAX_TEMPERATURE]},
        "colors": cell_colors(),
        "shown": [
            {
                "value": choice,
                "title": choice.capitalize(),
                "note": SHOWN_NOTES[choice] if choice != "changed" else "",
            }
            for choice in SHOWN_MAPS
        ],
        "hatched": HATCHED,
        "noDifference": NO_DIFFERENCE,
        "ends": sorted(STARTS | ENDS),
        "least": LEAST_DIFFERENCE,
    }


def _example_groups(
    checkpoint: Checkpoint, examples: Sequence[Example]
) -> list[tuple[str, list[dict[str, Any]]]]:
    data = checkpoint.run.data
    if checkpoint.run.is_copy_task:
        return [("Sequences", [_plain(example) for example in copy_examples(data.copy_symbols)])]
    explained = [example for example in examples if example.see]
    by_group = groupby(explained, key=lambda example: example.group)
    return [(group, [_example(example) for example in members]) for group, members in by_group]


def _first_text(text: str, groups: Sequence[tuple[str, list[dict[str, Any]]]]) -> str:
    """The sentence shown first: this one, or one that suits the model."""
    offered = [member["text"] for _, members in groups for member in members]
    return one_line(text) or (offered[0] if offered else DEFAULT_TEXT)


def _kinds(checkpoint: Checkpoint, roles: SampleRoles | None) -> list[dict[str, Any]]:
    """The kinds of attention with their names, numbers of layers and heads, and the roles of heads
    in their order.
    """
    heads = heads_of(checkpoint.run.model)
    return [
        {
            "kind": kind,
            "title": KIND_TITLES[kind],
            "name": KIND_NAMES[kind],
            "direction": KIND_DIRECTIONS[kind],
            "rows": {
                mode: row_meaning(kind, mode, language_names(checkpoint.run))
                for mode in LABEL_MODES
            },
            "side": HeadGroup(kind).side,
            "layers": 1 + max(head.layer for head in heads if head.kind == kind),
            "heads": 1 + max(head.head for head in heads if head.kind == kind),
            "roles": [
                {"name": roles.role(head), "text": role_over_sample(roles, head)}
                for head in heads
                if roles is not None and head.kind == kind
            ],
        }
        for kind in ATTENTION_KINDS
    ]


def _head(head: Head) -> dict[str, Any]:
    return {"kind": head.kind, "layer": head.layer, "head": head.head}


def _plain(text: str) -> dict[str, Any]:
    return {"text": text, "see": "", "head": None, "changes": []}


def _example(example: Example) -> dict[str, Any]:
    changes = experiment_to_json(example.experiment)["interventions"]
    return _plain(example.text) | {
        "see": example.see,
        "head": _head(example.head),
        "changes": changes,
    }
