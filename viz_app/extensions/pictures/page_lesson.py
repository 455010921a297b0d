"""A lesson in a page that runs its model: scenes are live, or recorded if the page cannot compute
them. No Qt.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from augenmerk.core.errors import ExperimentFileError
from augenmerk.core.extensions.lessons.lesson_file import Lesson, Scene
from augenmerk.core.maps.measures import MEASURES
from augenmerk.core.maps.selection import LabelMode
from augenmerk.core.model.heads import Head
from augenmerk.core.plain_text import one_line
from augenmerk.core.translation.experiment import Beam, Experiment, GivenTarget
from augenmerk.core.translation.experiment_file import experiment_to_json

from ...state.map_view import Pair, Pointer
from ...state.map_view_settings import ShownMaps
from .html_page import PageContent, maps_html
from .page_parts import json_in_page, part


@dataclass(frozen=True, eq=False)
class PageScene:
    """A scene of the page.

    Attributes:
        title: the heading.
        text: the words below it; may be empty.
        question: of the scene; may be empty.
        experiment: without parts that do not fit the model.
        head: the one that is chosen.
        label_mode: of the rows.
        merges_words: whether maps show words instead of pieces.
        shown: which maps.
        pinned: the cell that is pinned.
        pointer: the pointer at it.
        answer: of the question; empty if there is none. With choices, it names the right one and
            the reason for it.
        choices: the possible answers; empty if the answer is free text.
        right: the index of the right choice.
        recorded: the maps of a scene that is not live; None if it is.
        reason: why it is not live, as `why_recorded`.
        note: a sentence about a difference between the scene in the window and in the page; may be
            empty.
    """

    title: str
    text: str
    question: str
    experiment: Experiment
    head: Head
    label_mode: LabelMode
    merges_words: bool = True
    shown: ShownMaps = "changed"
    pinned: Pair | None = None
    pointer: Pointer | None = None
    answer: str = ""
    choices: tuple[str, ...] = ()
    right: int = 0
    recorded: PageContent | None = None
    reason: str = ""
    note: str = ""

    def described(self) -> dict[str, Any]:
        """The scene for the page's script, JSON-ready; recorded maps are a part of the page of
        their own.
        """
        return {
            "title": self.title,
            "text": self.text,
            "question": self.question,
            "answer": self.answer,
            "choices": list(self.choices),
            "right": self.right,
            "reason": self.reason,
            "note": self.note,
            "experiment": experiment_to_json(self.experiment),
            "head": [self.head.kind, self.head.layer, self.head.head],
            "mode": self.label_mode,
            "merges": self.merges_words,
            "shown": self.shown,
            "pinned": [self.pinned.query, self.pinned.key] if self.pinned is not None else None,
            "pointer": [self.pointer.target, self.pointer.style]
            if self.pointer is not None
            else None,
        }


def why_recorded(scene: Scene) -> str:
    """The reason why a page cannot compute a scene, in a few words; empty if it can."""
    experiment, view = scene.saved.experiment, scene.saved.view
    measure = str(view.get("measure", "weight"))
    hides = view.get("hides_wrapping", False) or view.get("hides_punctuation", False)
    reasons = {
        "a lifted mask": experiment.lifts_mask,  # which needs a given translation
        "beam search": isinstance(experiment.output, Beam),
        "a given translation": isinstance(experiment.output, GivenTarget),
        f"the measure “{MEASURES[measure].name}”" if measure in MEASURES else measure: measure
        != "weight",
        f"the view “{scene.page}”": bool(scene.page),
        "hidden tokens": bool(hides),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def check_model(lesson: Lesson, name: str, digest: str) -> None:
    """Checks that every scene was made with the model that the page runs.

    Args:
        lesson: any.
        name, digest: of the model.

    Raises:
        ExperimentFileError: a scene was made with another model; the message names it.
    """
    for number, scene in enumerate(lesson.scenes, start=1):
        made_with = scene.saved.model
        if made_with.digest != digest:
            other = (
                f"“{name}”"
                if name != made_with.name
                else "another model of this name, with other weights"
            )
            raise ExperimentFileError(
                f"Scene {number} of “{lesson.title}”, “{scene.title}”, was made with the model "
                f"“{made_with.name}”, and the page would run {other}. Choose the lesson's model, "
                "or update the scene with this one."
            )


@dataclass(frozen=True, eq=False)
class PageLesson:
    """A lesson of the page.

    Attributes:
        title: one line.
        scenes: in their order.
    """

    title: str
    scenes: Sequence[PageScene]

    def html(self) -> str:
        """The part of the page that `lesson.js` reads: bar, data, and recorded maps."""
        recorded = "\n".join(
            f'<section class="scene" data-place="{index}" hidden>\n{maps_html(scene.recorded)}\n</section>'
            for index, scene in enumerate(self.scenes)
            if scene.recorded is not None
        )
        data = {"title": self.title, "scenes": [scene.described() for scene in self.scenes]}
        values = {
            "TITLE": html.escape(one_line(self.title)),
            "RECORDED": recorded,
            "DATA": json_in_page(data),
        }
        return re.sub("@([A-Z]+)@", lambda match: values[match[1]], part("lesson.html"))


def lesson_style() -> str:
    """The style of a lesson; the one of recorded maps holds for these alone."""
    return f"{part('lesson.css')}.scene {{\n{part('scene.css')}}}\n"
