"""A lesson as a worksheet: its sentences and questions with space to write, without what the scenes say. No Qt."""

import html
import re
from collections.abc import Sequence
from pathlib import Path

from core.model.heads import AttentionKind, Head
from core.plain_text import one_line
from core.storage import write_text
from core.translation.experiment import GivenTarget, HeadScaled, Intervention
from core.translation.lesson_file import Lesson, Scene

NUM_LINES = 3
"""To write on, below each question."""
MARKDOWN_LINE = "\\_" * 40
NO_QUESTION = "What do you see?"
_MARKDOWN_SIGN = re.compile(r"([\\`*_{}\[\]<>#|~&!])")
STYLE = """
body { max-width: 44rem; margin: 2rem auto; padding: 0 1.5rem; background: #fff; color: #1d2126; font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .4rem; }
section { break-inside: avoid; overflow-wrap: anywhere; }
blockquote { margin: .4rem 0; font-size: 1.1rem; }
p { margin: .4rem 0; }
.name { display: inline-block; width: 16rem; border-bottom: 1px solid #9aa0a8; }
.note { color: #5a626b; font-size: .9rem; }
.line { height: 2.2rem; border-bottom: 1px solid #9aa0a8; }
"""  # noqa: E501


def save_worksheet(lesson: Lesson, target: Path) -> None:
    """Writes the worksheet: as Markdown if the file's name ends so, else as HTML. Raises `StorageError`."""
    write_text(target, worksheet_markdown(lesson) if target.suffix.lower() == ".md" else worksheet_html(lesson))


def worksheet_html(lesson: Lesson) -> str:
    """One page without scripts, for the printer and the browser."""
    lines = '<div class="line"></div>' * NUM_LINES
    parts = []
    for number, scene in enumerate(lesson.scenes, start=1):
        notes = "".join(f'<p class="note">{_escaped(note)}</p>\n' for note in _notes(scene))
        parts.append(
            f"<section>\n<h2>{number}. {_escaped(scene.title)}</h2>\n"
            f'<blockquote lang="de">{_escaped(scene.saved.experiment.source_text)}</blockquote>\n{notes}'
            f"<p>{_escaped(scene.question or NO_QUESTION)}</p>\n{lines}\n</section>\n"
        )
    title = _escaped(lesson.title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f'<p class="note">Name: <span class="name"></span></p>\n{"".join(parts)}</body>\n</html>\n'
    )


def worksheet_markdown(lesson: Lesson) -> str:
    """The same as Markdown."""
    parts = [f"# {_marked(lesson.title)}\n\nName:\n"]
    for number, scene in enumerate(lesson.scenes, start=1):
        notes = "".join(f"{_marked(note)}\n\n" for note in _notes(scene))
        parts.append(
            f"## {number}. {_marked(scene.title)}\n\n> {_marked(scene.saved.experiment.source_text)}\n\n{notes}"
            f"{_marked(scene.question or NO_QUESTION)}\n" + f"\n{MARKDOWN_LINE}\n" * NUM_LINES
        )
    return "\n".join(parts)


def _notes(scene: Scene) -> list[str]:
    """What belongs to the experiment besides its sentence: where to look, and what is changed."""
    experiment, view = scene.saved.experiment, scene.saved.view
    notes = []
    match view.get("head"):
        case (str() as kind, int() as layer, int() as head):
            notes.append(f"Head: {kind}, layer {layer + 1}, head {head + 1}")
    if isinstance(experiment.output, GivenTarget):
        notes.append(f"Given translation: {experiment.output.text}")
    if experiment.interventions:
        notes.append(f"Changed: {'; '.join(_changes(experiment.interventions))}")
    return notes


def _changes(interventions: Sequence[Intervention]) -> list[str]:
    """One text for each change, but a single one for all heads of a layer that are switched off."""
    changes, off = [], dict[tuple[AttentionKind, int], list[int]]()
    for each in interventions:
        if isinstance(each, HeadScaled) and each.factor == 0:
            off.setdefault((each.head.kind, each.head.layer), []).append(each.head.head)
        else:
            changes.append(str(each))
    for (kind, layer), heads in off.items():
        if len(heads) == 1:
            changes.append(str(HeadScaled(Head(kind, layer, heads[0]))))
        else:
            changes.append(f"{kind}, layer {layer + 1}: heads {_ranges(sorted(heads))} off")
    return changes


def _ranges(places: Sequence[int]) -> str:
    """Places counted from 0, as people write them: 1–3, 5."""
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return ", ".join(f"{run[0] + 1}–{run[-1] + 1}" if len(run) > 1 else f"{run[0] + 1}" for run in runs)


def _escaped(text: str) -> str:
    return html.escape(one_line(text))


def _marked(text: str) -> str:
    """With a backslash before what Markdown would take for a sign."""
    return _MARKDOWN_SIGN.sub(r"\\\1", one_line(text))
