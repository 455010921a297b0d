"""Setting rows of attention by hand as a part of the window."""

from typing import Any

from ...window_part import WindowPart
from .editor import offer_rows


class RowsPart(WindowPart):
    """Offers to set rows in the menu of a cell of the large map."""

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        window.translate_page.head.cell_offers.append(offer_rows)
