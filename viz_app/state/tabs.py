"""The declarations of the analysis tabs. No Qt. See docs/extending.md."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any

from augenmerk.core.registry import Registry


@dataclass(frozen=True)
class Content:
    """A choice in a tab that scenes of lessons and the next start keep, such as a word.

    Attributes:
        default: its value until the user chooses another: a flag, a text, a number from 0 to 1, or
            a position, which counts from 0. None is a position that nobody has chosen.
        choices: its possible values; empty if there are more than a few.
        earlier_name: its name in files of earlier versions; empty if it is the same.
    """

    default: bool | str | float | int | None
    choices: tuple[str, ...] = ()
    earlier_name: str = ""


@dataclass(frozen=True, eq=False)
class Tab:
    """The declaration of a tab. The tab's code is imported when the tab is first shown.

    Attributes:
        name: on the tab's button.
        tip: of the button and of the command that opens the tab, without a full stop.
        meaning: a sentence about its purpose and its limits.
        code: the full name of its class, as “module:Class”.
        order: its place among the buttons, from small to large.
        search_words: of the command that opens the tab; see `Command`.
        has_sentences: whether it shows sentences and translations itself. Presented, it takes the
            width of the screen.
        follows_head: whether it shows something about the chosen head.
        explains_words: whether it overrides `explain_word`.
        contents: its choices that files keep, by name; see `viz_app.state.tab_contents`.
    """

    name: str
    tip: str
    meaning: str
    code: str
    order: int
    search_words: str = ""
    has_sentences: bool = False
    follows_head: bool = True
    explains_words: bool = False
    contents: Mapping[str, Content] = field(default_factory=dict)

    def make(self, context: Any) -> Any:
        """Imports the tab's code and makes the `AnalysisTab`. `context`: an `AnalysisContext`."""
        return resolve_name(self.code)(context, self)


TABS: Registry[Tab] = Registry("augenmerk.tabs", Tab, "analysis tab")
"""Every tab, by its name in files, in the order of their buttons. All are extensions."""
