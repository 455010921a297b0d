"""The explanation of the pinned weight as a part of the window."""

from collections.abc import Sequence
from typing import Any

from ...views.commands import HEAD_PANEL_COMMANDS
from ...widgets.commands import Command
from ...window_part import WindowPart
from .card import PRODUCT_COMMANDS, QueryKeyCard

WEIGHT_COMMANDS = (
    Command[QueryKeyCard](
        "Why does this head look there? Explain the pinned weight",
        QueryKeyCard.ask_why,
        search_words="row, column, cell; attribution to components of query and key",
    ),
)


class WeightsPart(WindowPart):
    """Explains the pinned weight on a card over the large map.

    Attributes:
        card: the explanation.
    """

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        page = window.translate_page
        self.card = QueryKeyCard(page.state, page.controller, page.head)
        window.commands.add(self.card, WEIGHT_COMMANDS, page, after=HEAD_PANEL_COMMANDS[-1])

    def sheet(self) -> Sequence[Command[Any]]:
        """See `WindowPart`."""
        return PRODUCT_COMMANDS
