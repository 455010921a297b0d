"""Changing attention heads and feed-forward networks for each sentence, not the model itself.

A head's output can be multiplied by a factor before the output projection mixes it with the others
(Michel et al. 2019, "Are Sixteen Heads Really Better than One?", equation 2; 0 is the same as
deleting its columns there), and rows of its attention weights can be set (Bau et al. 2019,
"Identifying and Controlling Important Neurons in Neural Machine Translation", and many after them).
The output of a feed-forward network can be multiplied as well, before it is added to the residual
stream. Shape legend: `core.model`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from torch import Tensor

from .heads import AttentionKind, Side


@dataclass(frozen=True, eq=False)
class RowOverride:
    """One row of weights that replaces the result of the softmax.

    Attributes:
        head: counted from 0.
        query: position of the query.
        weights: of the keys from the first on; those after them get 0.
    """

    head: int
    query: int
    weights: Tensor


@dataclass(frozen=True, eq=False)
class AttentionChanges:
    """The interventions in one attention module, for each of B sentences.

    Attributes:
        scale: [B, H], factors of the heads' outputs; None for 1.
        rows: rows that are set, for each sentence; None if there are none.
        temperatures: [B, H], divisors of the heads' attention scores; None for 1.
    """

    scale: Tensor | None = None
    rows: tuple[tuple[RowOverride, ...], ...] | None = None
    temperatures: Tensor | None = None

    def select(self, batch: Tensor) -> "AttentionChanges":
        """Those of the sentences with these indices [B']."""
        return AttentionChanges(
            None if self.scale is None else self.scale[batch],
            None if self.rows is None else tuple(self.rows[index] for index in batch.tolist()),
            None if self.temperatures is None else self.temperatures[batch],
        )

    def tempered(self, queries: Tensor) -> Tensor:
        """Queries [B, H, Q, K] divided by the heads' temperatures, as their scores then are."""
        return (
            queries if self.temperatures is None else queries / self.temperatures[:, :, None, None]
        )

    def with_rows(self, weights: Tensor, first_query: int = 0) -> Tensor:
        """Weights [B, H, Q, M] of queries from `first_query` on, with the rows that are set."""
        if self.rows is None:
            return weights
        end = first_query + weights.size(2)
        set_rows = [
            (index, row)
            for index, rows in enumerate(self.rows)
            for row in rows
            if first_query <= row.query < end
        ]
        if not set_rows:
            return weights
        changed = weights.clone()
        for index, row in set_rows:
            changed_row = changed[index, row.head, row.query - first_query]
            changed_row.zero_()[: len(row.weights)] = row.weights
        return changed

    def of_hypotheses(
        self, query: int, ancestors: Tensor, *, sees_target: bool
    ) -> "AttentionChanges":
        """See `Interventions.of_hypotheses`; `sees_target`: whether keys are target tokens."""
        if self.rows is None:
            return self
        first = ancestors.size(2) - ancestors.size(1)

        def placed(weights: Tensor, keys: Tensor) -> Tensor:
            indices = keys.nonzero()[: len(weights), 0]
            return weights.new_zeros(len(keys)).index_copy(0, indices, weights)

        rows = tuple(
            tuple(
                RowOverride(
                    row.head,
                    first + index,
                    placed(row.weights, keys) if sees_target else row.weights,
                )
                for row in rows_of_sentence
                if row.query == query
                for index, keys in enumerate(own_keys)
            )
            for rows_of_sentence, own_keys in zip(self.rows, ancestors, strict=True)
        )
        return replace(self, rows=rows)

    def scaled(self, outputs: Tensor) -> Tensor:
        """The heads' outputs [B, H, Q, K], each times its factor."""
        return outputs if self.scale is None else outputs * self.scale[:, :, None, None]


NO_CHANGES = AttentionChanges()


@dataclass(frozen=True, eq=False)
class Interventions:
    """The interventions in each of B sentences. `core.model.intervention_tensors` makes them.

    Attributes:
        changes: of attention, by kind and layer, counted from 0; other modules are unchanged.
        factors: [B, 1, 1], of the outputs of feed-forward networks, by side and layer; 1 for
            others.
        lifts_mask: [B], True where the decoder also sees later target tokens; None if it never
            does.
    """

    changes: Mapping[tuple[AttentionKind, int], AttentionChanges] = field(default_factory=dict)
    factors: Mapping[tuple[Side, int], Tensor] = field(default_factory=dict)
    lifts_mask: Tensor | None = None

    def of(self, kind: AttentionKind, layer: int) -> AttentionChanges:
        """The changes in one attention module."""
        return self.changes.get((kind, layer), NO_CHANGES)

    def factor_of(self, side: Side, layer: int) -> Tensor | None:
        """The factor of one feed-forward network, [B, 1, 1]."""
        return self.factors.get((side, layer))

    def select(self, batch: Tensor) -> "Interventions":
        """Those of the sentences with these indices [B']."""
        return Interventions(
            {key: changes.select(batch) for key, changes in self.changes.items()},
            {key: factor[batch] for key, factor in self.factors.items()},
            None if self.lifts_mask is None else self.lifts_mask[batch],
        )

    def of_hypotheses(self, query: int, ancestors: Tensor) -> "Interventions":
        """Those of R hypotheses of each sentence, all at the position `query` of the target.

        In the decoder they stand side by side, as the last R queries of M.

        Args:
            query: the position.
            ancestors: [B, R, M], True where a key belongs to the hypothesis.
        """
        return replace(
            self,
            changes={
                key: change.of_hypotheses(query, ancestors, sees_target=key[0] == "decoder")
                for key, change in self.changes.items()
            },
        )


NO_INTERVENTIONS = Interventions()


def scaled(output: Tensor, factor: Tensor | None) -> Tensor:
    """The output [B, N, D] of a feed-forward network times its factor [B, 1, 1], if it has one."""
    return output if factor is None else output * factor
