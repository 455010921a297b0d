"""What analysis tabs show, for scenes of lessons: choices that `Tab.contents` declares. No Qt."""

import re
from collections.abc import Mapping
from typing import Any

from psygnal import Signal

from .tabs import TABS, Content

_OF_MISSING_TAB = re.compile(r"([a-z][a-z0-9-]{0,59})_[a-z][a-z0-9_]{0,59}")


def declared_contents() -> Mapping[str, Content]:
    """The contents of all tabs by their names in files: tab, underscore, choice."""
    return {
        f"{tab}_{name}": content
        for tab, declared in TABS.items()
        for name, content in declared.contents.items()
    }


def missing_tab(name: str) -> str:
    """The tab of a content whose extension is not installed; empty for other names."""
    match = _OF_MISSING_TAB.fullmatch(name)
    return match[1] if match is not None and match[1] not in TABS else ""


class TabContents:
    """The values of all contents, by their names in files.

    Attributes:
        of_missing_tabs: those of the file opened last whose extensions are not installed; files
            keep them.

    Signals:
        changed(str): the content of this name.
    """

    changed = Signal(str)

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self.of_missing_tabs: Mapping[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        return self._values[name] if name in self._values else declared_contents()[name].default

    def __setitem__(self, name: str, value: Any) -> None:
        if value != self[name]:
            self._values[name] = value
            self.changed.emit(name)


def content(name: str) -> Any:
    """A property for the state of a tab: the content `name` of its `state.tabs`."""
    return property(
        lambda part: part.state.tabs[name],
        lambda part, value: part.state.tabs.__setitem__(name, value),
    )
