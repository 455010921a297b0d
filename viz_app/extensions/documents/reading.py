"""Experiment and lesson files, checked for contents that the window can show; the view as values of
a file. No Qt.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from augenmerk.core.config import ModelConfig
from augenmerk.core.counting import display_text
from augenmerk.core.errors import ExperimentFileError
from augenmerk.core.extensions.lessons.lesson_file import Lesson, Scene, read_document
from augenmerk.core.model.heads import ATTENTION_KINDS, Head, heads_of
from augenmerk.core.quantities import counted
from augenmerk.core.resources import resource_path
from augenmerk.core.translation.experiment import (
    Experiment,
    ForcedToken,
    GivenTarget,
    SourceWordReplaced,
)
from augenmerk.core.translation.experiment_file import (
    SUFFIX,
    ModelReference,
    SavedExperiment,
    kind_of_file,
)

from ...state.experiment_state import ExperimentState
from ...state.map_view import Pair, Pointer, PointerStyle, PointerTarget
from ...state.map_view_settings import (
    EXTENSIBLE,
    FIT,
    MAX_CELL_PX,
    MapViewSettings,
    Zoom,
    choices_of,
)
from ...state.sentence_text import MAX_CHARACTERS
from ...state.tab_contents import declared_contents, missing_tab
from ...state.tabs import TABS, Content

OPTIONS = choices_of(MapViewSettings)
"""The options of the maps that files keep, by name, with their choices."""
MAX_POSITION = 100_000
NO_DIGEST = "0" * 64
_EXTENSION = re.compile(r"[a-z][a-z0-9-]{0,59}")
"""Names of extensions."""
SHIPPED_LESSONS = "lessons"
"""The folder of `resources/` with the lessons that ship."""


def saved_experiment(state: ExperimentState) -> SavedExperiment:
    """The current experiment, its view and its model."""
    model = state.model
    reference = (
        ModelReference(model.title, model.digest or NO_DIGEST)
        if model
        else ModelReference("none", NO_DIGEST)
    )
    return SavedExperiment(state.experiment, reference, view_values(state))


def with_contents(
    saved: SavedExperiment, state: ExperimentState, page: str | None = None
) -> SavedExperiment:
    """The same with the present content of one part of the window, if that is an analysis tab; None
    for all tabs.
    """
    contents = declared_contents()
    view = {name: value for name, value in saved.view.items() if name not in contents}
    content = {
        name: value
        for name, value in _contents(state).items()
        if page is None or name.startswith(f"{page}_")
    }
    return replace(saved, view=view | content)


def _contents(state: ExperimentState) -> dict[str, Any]:
    return {name: value for name in declared_contents() if (value := state.tabs[name]) is not None}


def view_values(state: ExperimentState) -> dict[str, Any]:
    """Map options, zoom, the chosen heads, the pinned cell, contents of missing tabs; positions
    count from 0.
    """
    settings, selection = state.settings, state.selection
    values: dict[str, Any] = {name: getattr(settings, name) for name in OPTIONS}
    values["zoom"] = settings.zoom
    values["several"] = tuple(
        sorted((head.kind, head.layer, head.head) for head in settings.several)
    )
    values["head"] = (selection.head.kind, selection.head.layer, selection.head.head)
    if selection.pinned is not None:
        values["pinned"] = (selection.pinned.query, selection.pinned.key)
    if selection.pointer is not None:
        values["pointer"] = (selection.pointer.target, selection.pointer.style)
    return values | dict(state.tabs.of_missing_tabs)


def with_current_names(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values of a file with the contents of earlier versions under their present names."""
    current_names = {
        f"{tab}_{content.earlier_name}": f"{tab}_{name}"
        for tab, declared in TABS.items()
        for name, content in declared.contents.items()
        if content.earlier_name
    }
    return {current_names.get(name, name): value for name, value in values.items()}


def check_view(state: ExperimentState, values: Mapping[str, Any]) -> None:
    """Raises `ExperimentFileError` for an invalid value, before the screen changes."""
    contents = declared_contents()
    for name, value in with_current_names(values).items():
        if name in EXTENSIBLE and isinstance(value, str) and _EXTENSION.fullmatch(value):
            continue  # perhaps of an extension that is not installed
        if name in OPTIONS:
            _check_option(name, value, OPTIONS[name])
        elif name in contents:
            _check_content(name, value, contents[name])
        elif name in _READERS:
            _READERS[name](value)
        elif not missing_tab(name):
            known = ", ".join(sorted((*OPTIONS, *_READERS, *contents)))
            raise ExperimentFileError(
                f"view.{name} is unknown to this version. Use one of {known}."
            )


def apply_view(state: ExperimentState, values: Mapping[str, Any]) -> None:
    """Applies a view checked by `check_view`; the pinned cell follows with the next result.

    Options that the view omits stay as the user chose them. Scenes of lessons omit none: see
    `read_for_window`.
    """
    values = with_current_names(values)
    state.opened = frozenset(values)
    for name in declared_contents().keys() & values:
        state.tabs[name] = values[name]
    known = {*OPTIONS, *_READERS}
    state.tabs.of_missing_tabs = {
        name: value for name, value in values.items() if name not in known and missing_tab(name)
    }
    for name in OPTIONS:
        if name in values:
            setattr(state.settings, name, values[name])
    if "zoom" in values:
        state.settings.zoom = _zoom(values["zoom"])
    if "head" in values:
        state.intents.choose_head(_head(values["head"], "head"))
    if several := _several(values.get("several", ())):  # last: choosing a single head resets it
        state.settings.several = several
        state.settings.scope = values.get("scope", "chosen")
    if "pinned" not in values:  # the pin of another scene does not belong here
        state.selection.pinned = None
    state.intents.pin_with_next_result(_pair(values["pinned"]) if "pinned" in values else None)
    state.selection.pointer = _pointer(values["pointer"]) if "pointer" in values else None


def shows(state: ExperimentState, saved: SavedExperiment) -> bool:
    """True if the screen has this experiment and view.

    Entries that the view lacks may have any value.
    """
    view = {
        "pinned": None,
        "pointer": None,
        **({"several": ()} if "head" in saved.view else {}),
        **saved.view,
    }
    shown = view_values(state) | _contents(state)
    has_view = all(shown.get(name) == value for name, value in view.items())
    return has_view and state.editor.step.restored().experiment == saved.experiment


def heads_missing(values: Mapping[str, Any], config: ModelConfig) -> str:
    """A sentence naming the heads of a checked view that a model lacks; empty if it lacks none."""
    heads = {_head(values["head"], "head")} if "head" in values else set()
    missing = (heads | _several(values.get("several", ()))).difference(heads_of(config))
    if not missing:
        return ""
    names = ", ".join(sorted(display_text(head.short_name) for head in missing))
    return (
        f"The view has heads that this model lacks: {names}. Its encoder has "
        f"{counted(config.num_encoder_layers, 'layer')} of {counted(config.num_heads, 'head')}, "
        f"its decoder {counted(config.num_decoder_layers, 'layer')} of "
        f"{counted(config.decoder_heads, 'head')}. Another head is shown."
    )


def tabs_missing(values: Mapping[str, Any]) -> str:
    """A sentence naming the tabs of contents in a checked view that are not installed; empty if
    there are none.
    """
    names = sorted(
        {missing_tab(name) for name in values if name not in (*OPTIONS, *_READERS)} - {""}
    )
    if not names:
        return ""
    tabs = ", ".join(f"“{name}”" for name in names)
    return (
        f"The file has contents of tabs that are not installed here: {tabs}. Saving it again "
        "keeps them."
    )


def _check_option(name: str, value: object, choices: tuple[object, ...]) -> None:
    if False in choices and not isinstance(value, bool):
        raise ExperimentFileError(f"view.{name} is {value!r}. Use true or false.")
    if value not in choices:
        expected = ", ".join(map(str, choices))
        raise ExperimentFileError(f"view.{name} is {value!r}. Use one of {expected}.")


def _check_content(name: str, value: object, content: Content) -> None:
    """Raises `ExperimentFileError` unless a tab can have this content."""
    default = content.default
    choices = (False, True) if isinstance(default, bool) else content.choices
    if choices:
        _check_option(name, value, choices)
    elif isinstance(default, str):
        if not isinstance(value, str) or len(value) > MAX_CHARACTERS:
            raise ExperimentFileError(
                f"view.{name} is not a text of at most {MAX_CHARACTERS:,} characters."
            )
    elif isinstance(default, float):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ExperimentFileError(f"view.{name} is {value!r}. Use a number from 0 to 1.")
    elif not _are_positions((value,)):
        raise ExperimentFileError(f"view.{name} is {value!r}. Use a position counted from 0.")


def _several(value: object) -> frozenset[Head]:
    heads = [_head(item, "several") for item in value] if isinstance(value, tuple) else None
    if heads is None or len({head.kind for head in heads}) > 1:
        raise ExperimentFileError(f"view.several is {value!r}. Use a list of heads of one kind.")
    return frozenset(heads)


def _zoom(value: object) -> Zoom:
    is_flag = isinstance(value, bool)
    if (
        isinstance(value, int | float)
        and not is_flag
        and (value == FIT or 0 < value <= MAX_CELL_PX)
    ):
        return float(value)
    raise ExperimentFileError(
        f"view.zoom is {value!r}. Use the height of a cell, at most {MAX_CELL_PX:g}, or {FIT:g} "
        "for the whole map."
    )


def _head(value: object, name: str) -> Head:
    if isinstance(value, tuple) and len(value) == 3 and _are_positions(value[1:]):
        kind = next((kind for kind in ATTENTION_KINDS if kind == value[0]), None)
        if kind is not None:
            return Head(kind, value[1], value[2])
    raise ExperimentFileError(
        f"view.{name} is {value!r}. Use a kind, a layer and a head counted from 0."
    )


def _pair(value: object) -> Pair:
    if isinstance(value, tuple) and len(value) == 2 and _are_positions(value):
        return Pair(*value)
    raise ExperimentFileError(f"view.pinned is {value!r}. Use the positions of a query and a key.")


def _pointer(value: object) -> Pointer:
    if isinstance(value, tuple) and len(value) == 2:
        target = next((name for name in get_args(PointerTarget) if name == value[0]), None)
        style = next((name for name in get_args(PointerStyle) if name == value[1]), None)
        if target is not None and style is not None:
            return Pointer(target, style)
    targets, styles = (", ".join(get_args(choices)) for choices in (PointerTarget, PointerStyle))
    raise ExperimentFileError(
        f"view.pointer is {value!r}. Use one of {targets}, and one of {styles}."
    )


def _are_positions(values: tuple[object, ...]) -> bool:
    return all(type(value) is int and 0 <= value <= MAX_POSITION for value in values)


_READERS: dict[str, Callable[[object], object]] = {
    "head": partial(_head, name="head"),
    "pinned": _pair,
    "pointer": _pointer,
    "several": _several,
    "zoom": _zoom,
}
"""Entries of a view that are not options: each function returns the value, or raises
`ExperimentFileError`."""


def is_experiment(path: Path) -> bool:
    """True if a file is an experiment, by its content, or by its name if the content is unreadable
    or unclear.
    """
    try:
        kind = kind_of_file(path)
    except ExperimentFileError:
        kind = "unknown"
    return kind == "experiment" or (kind == "unknown" and path.suffix == SUFFIX)


def is_shipped(path: Path) -> bool:
    """True if a file is one of the lessons that ship, which are never overwritten."""
    return path.absolute().parent == resource_path(SHIPPED_LESSONS).absolute()


def read_lesson(state: ExperimentState, path: Path) -> Lesson:
    """The lesson of a file that the window can show. Raises `ExperimentFileError`."""
    read = read_for_window(state, path)
    if not isinstance(read, Lesson):
        raise ExperimentFileError(f"{path} is an experiment, not a lesson. Choose another file.")
    return read


def read_for_window(state: ExperimentState, path: Path) -> SavedExperiment | Lesson:
    """The experiment or lesson of a file.

    Raises `ExperimentFileError`, naming the file, if it cannot be shown.

    Options that a scene of a lesson omits get their defaults, since its texts describe what
    everybody sees. Those that an experiment omits stay as the user chose them.
    """
    read = read_document(path)
    try:
        _check(state, read)
    except ExperimentFileError as error:
        raise ExperimentFileError(
            f"{path} cannot be shown. {error} Nothing was opened; correct the file, or choose "
            "another."
        ) from error
    if isinstance(read, Lesson):
        return replace(read, scenes=tuple(map(_with_all_options, read.scenes)))
    return replace(read, view=with_current_names(read.view))


def _with_all_options(scene: Scene) -> Scene:
    """The scene with current names, and the defaults of the options that its view omits."""
    defaults: dict[str, Any] = {
        field.name: field.default
        for field in fields(MapViewSettings)
        if field.name in (*OPTIONS, "zoom")
    }
    if scene.saved.view.get("several"):
        defaults["scope"] = "chosen"
    view = defaults | dict(with_current_names(scene.saved.view))
    return replace(scene, saved=replace(scene.saved, view=view))


def _check(state: ExperimentState, read: SavedExperiment | Lesson) -> None:
    """Raises `ExperimentFileError` if the window cannot show the document."""
    if not isinstance(read, Lesson):
        check_view(state, read.view)
        _check_sentence(read.experiment)
        check_length(read.experiment)
        return
    for index, scene in enumerate(read.scenes):
        try:
            _check(state, scene.saved)
        except ExperimentFileError as error:
            raise ExperimentFileError(f"scenes[{index}]: {error}") from error


def check_length(experiment: Experiment) -> None:
    """Raises `ExperimentFileError` if a text in the experiment is longer than the window takes."""
    output = experiment.output
    texts = [("sentence", experiment.source_text)]
    if isinstance(output, GivenTarget):
        texts.append(("translation", output.text))
    for intervention in experiment.interventions:
        if isinstance(intervention, SourceWordReplaced):
            texts.append((f"replacement of word {intervention.place + 1}", intervention.text))
        elif isinstance(intervention, ForcedToken):
            texts.append((f"token forced at step {intervention.step + 1}", intervention.token))
    for name, text in texts:
        if len(text) > MAX_CHARACTERS:
            raise ExperimentFileError(
                f"Its {name} has {len(text):,} characters; the window allows {MAX_CHARACTERS:,}. "
                "Shorten it, or use the command line."
            )


def _check_sentence(experiment: Experiment) -> None:
    """Raises `ExperimentFileError` if there is nothing to translate."""
    if not experiment.source_text.strip():
        raise ExperimentFileError("Its sentence is empty. Add a sentence to translate.")
