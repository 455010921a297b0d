"""The tokens of a translation with each feed-forward network off in turn."""

from collections.abc import Mapping

import numpy as np
from PySide6.QtWidgets import QWidget

from augenmerk.core.counting import display_text
from augenmerk.core.model.heads import Network
from augenmerk.core.quantities import percent_in_words
from augenmerk.core.translation.experiment import Experiment, GivenTarget
from augenmerk.core.translation.result import Translation

from ....state.experiment_editor import toggle
from ....widgets.labels import label
from ....widgets.layouts import add_parts
from ....worker.jobs import Job
from ...widgets.labelled_matrix import MatrixCell, MatrixStyle
from ..job import NetworksOffJob
from ..values import plain, whole_percent
from .figure import LearnContext, MatrixFigure

NONE_DEPENDS = (
    "No choice depends on a single network: in every row, each token stays the most probable."
)
SOME_DEPEND = "Framed: without the network, another token takes the lead"


class NetworksFigure(MatrixFigure):
    """A row for each network that is off, a column for each token of the original translation.

    A cell is the probability of the token. It is framed if another token is the most probable
    there, although with all networks the token itself is. A click on a row switches its network off
    or on.

    Attributes:
        networks: of the rows; None for the first, in which all are on.
        says: the words that depend on a network, or the numbers of the cell under the mouse.
    """

    needs_answer = True
    caption = "Probabilities with one network off. Click a row to switch it off or on"
    name = "Tokens without a network"
    matrix_style = MatrixStyle(
        colors="sequential",
        cell_heights=(13, 60),
        aimed_height=280,
        cell_text=whole_percent,
        is_clickable=True,
        legend=lambda top: ("0%", "", "100%"),
    )
    answer: Mapping[Network | None, Translation] | None

    def __init__(
        self, context: LearnContext, options: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(context, options, parent)
        self.networks: tuple[Network | None, ...] = ()
        self.matrix.tip_of = self._tip_of
        self.matrix.hovered.connect(self._say)
        self.matrix.clicked.connect(self._toggle)
        self.says = label("muted", wraps=True)
        add_parts(self.column, self.matrix, self.says)

    def job(self) -> Job | None:
        """All networks, with the translation that the model makes without changes."""
        original = self.state.original
        if self.translation_to_ask_about is None or original is None:
            return None
        return NetworksOffJob(Experiment(original.source_text, GivenTarget(original.text)))

    def redraw(self) -> None:
        """Shows the table."""
        translations = self.answer
        if translations is None or not self.has_answer:
            return
        self.networks = tuple(translations)
        off = self.state.experiment.networks_off
        names = [_row_name(network, is_off=network in off) for network in translations]
        values = np.exp(
            [translation.log_probabilities for translation in translations.values()],
            dtype=np.float32,
        )
        self._say(None)
        self.show_matrix(values, names, plain(translations[None].predicted_tokens))
        self.matrix.mark(self.dependent)

    @property
    def dependent(self) -> list[MatrixCell]:
        """The cells whose token loses the lead without the network of the row."""
        assert self.answer is not None
        ranks = np.array([self.answer[network].ranks for network in self.networks])
        return [
            MatrixCell(0, int(row), int(step))
            for row, step in np.argwhere((ranks > 1) & (ranks[0] == 1))
        ]

    def _say(self, cell: MatrixCell | None) -> None:
        if cell is not None:
            self.says.setText(self._tip_of(cell).replace("\n", " · "))
        elif self.answer is not None:
            changes = ", ".join(map(self._change, self.dependent))
            self.says.setText(f"{SOME_DEPEND}: {changes}." if changes else NONE_DEPENDS)

    def _change(self, cell: MatrixCell) -> str:
        """“decoder 1: “flowers” instead of “at””."""
        assert self.answer is not None
        network = self.networks[cell.row]
        without = self.answer[network]
        now, before = plain(
            (without.alternatives[cell.column][0].token, without.predicted_tokens[cell.column])
        )
        return f"{_row_name(network)}: “{now}” instead of “{before}”"

    def _tip_of(self, cell: MatrixCell) -> str:
        assert self.answer is not None
        network = self.networks[cell.row]
        candidates = self.answer[network].alternatives[cell.column]
        tokens = plain(candidate.token for candidate in candidates)
        chances = [percent_in_words(candidate.probability) for candidate in candidates]
        title = (
            f"Without the {display_text(network)}" if network is not None else "With all networks"
        )
        return "\n".join((title, *map(" ".join, zip(tokens, chances, strict=True))))

    def _toggle(self, cell: MatrixCell) -> None:
        network = self.networks[cell.row]
        if network is not None:
            self.state.submit(toggle(network))


def _row_name(network: Network | None, *, is_off: bool = False) -> str:
    if network is None:
        return "all on"
    return f"{network.side} {network.layer + 1}" + (", off now" if is_off else "")
