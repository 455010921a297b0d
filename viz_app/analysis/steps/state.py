"""Going through decoding step by step: where one stands, what was changed, what came of it. No Qt, no torch."""

from dataclasses import dataclass

from core.translation.steps import DecodingPath, DecodingStep, Edit, ForcedToken, shares_of

from core.model.heads import FixedRow, Head
from core.translation.result import FloatArray
from viz_app.state.progress import Awaited
from viz_app.state.translate_state import TranslateState


@dataclass(frozen=True, eq=False)
class Decoded:
    """What the worker found out.

    Attributes:
        actions: what was done by hand, in the order in which it was done.
        own: the model's own decoding.
        path: the decoding with all that was done.
    """

    actions: tuple[Edit, ...]
    own: DecodingPath
    path: DecodingPath


class StepsState:
    """What the tab *Steps* knows.

    Attributes:
        position: the step that is looked at.
        actions: what was done by hand, in order; the last one may still be awaited.
        decoded: the answer that is shown, None before the first.
        off: heads that are off in it.
        draft: weights that are being set by hand for a row, [S]; None while they are those that were used.
        awaited: the decoding that is to come.
    """

    def __init__(self, page: TranslateState) -> None:
        self._page = page
        self.position = 0
        self.actions: tuple[Edit, ...] = ()
        self.decoded: Decoded | None = None
        self.off: frozenset[Head] = frozenset()
        self.draft: tuple[float, ...] | None = None
        self.awaited = Awaited()

    def follow_switches(self) -> None:
        """Other heads are off than in what is known: it is forgotten, with what was done by hand."""
        self.forget()
        self.off = self._page.switchboard.off

    @property
    def is_lacking(self) -> bool:
        """Whether the decoding has to be asked for."""
        return (
            self._page.translation is not None
            and self.decoded is None
            and not self.awaited.is_awaiting
            and not self.awaited.problem
        )

    @property
    def path(self) -> DecodingPath | None:
        """The decoding that is shown."""
        return self.decoded.path if self.decoded else None

    @property
    def step(self) -> DecodingStep | None:
        """The step that is looked at."""
        return self.path.steps[self.position] if self.path else None

    @property
    def is_changed(self) -> bool:
        """Whether anything was done by hand."""
        return bool(self.actions)

    def forget(self) -> None:
        """Another sentence."""
        self.position, self.actions, self.decoded, self.draft = 0, (), None, None
        self.awaited.forget()

    def take(self, decoded: Decoded) -> None:
        """Shows an answer; the position stays if there is such a step."""
        self.decoded, self.actions, self.draft = decoded, decoded.actions, None
        self.position = min(self.position, len(decoded.path.steps) - 1)

    def fail(self) -> None:
        """The last action came to nothing."""
        self.actions = self.decoded.actions if self.decoded else ()

    def go(self, position: int) -> bool:
        """Looks at another step; False if there is none."""
        if self.path is None or position not in range(len(self.path.steps)):
            return False
        self.position, self.draft = position, None
        return True

    def force(self, token_id: int) -> bool:
        """Chooses a token at this step; False if it is chosen already."""
        if self.step is None or self.step.chosen.token_id == token_id:
            return False
        self.actions = (*self.actions, ForcedToken(self.position, token_id))
        return True

    def row(self) -> FloatArray | None:
        """The weights that this step used in the chosen head, [S]; None where the choice is no cross head."""
        choice, step = self._page.choice, self.step
        if step is None or choice.kind != "cross":
            return None
        num_layers, num_heads = step.cross_rows.shape[:2]
        if choice.layer >= num_layers or choice.head >= num_heads:
            return None
        return step.cross_rows[choice.layer, choice.head]

    def draw(self, position: int, share: float | None) -> None:
        """Sets one weight of the row by hand, from 0 to 1; None gives this source token all."""
        row = self.row()
        if row is None or position not in range(len(row)):
            return
        if share is None:
            self.draft = tuple(float(place == position) for place in range(len(row)))
        else:
            weights = list(self.draft or row.tolist())
            weights[position] = min(1.0, max(0.0, share))
            self.draft = tuple(weights)

    def set_row(self) -> None:
        """The row as it was drawn, scaled to sum to 1, is to be used at this step.

        Raises:
            AnalysisError: every weight was drawn as 0.
        """
        if self.draft is not None:
            choice = self._page.choice
            shares = shares_of(self.draft, len(self.draft))
            self.actions = (*self.actions, FixedRow(choice.layer, choice.head, self.position, shares))

    def undo(self) -> None:
        """The last action is taken back."""
        self.actions = self.actions[:-1]

    def reset(self) -> None:
        """Everything is taken back."""
        self.actions = ()

    def row_of_map(self) -> int | None:
        """The row of the page's maps that this step used; None if they are the maps of another decoding by then."""
        translation, path = self._page.translation, self.path
        if translation is None or path is None or self.off or len(translation.read_ids) <= self.position:
            return None
        is_drawn = any(isinstance(edit, FixedRow) and edit.step <= self.position for edit in path.edits)
        upto = self.position + 1
        is_same = translation.read_ids[:upto] == path.translation.read_ids[:upto]
        return self.position if is_same and not is_drawn else None
