"""From a query to what a head gives: each number against the one before, and against the model
itself."""

import numpy as np
import pytest
import torch
from PySide6.QtGui import QFontMetrics
from pytestqt.qtbot import QtBot

from augenmerk.core.maps.capture import trace_pair
from augenmerk.core.model.heads import Head, SentenceChanges
from augenmerk.core.model.intervention_tensors import compile_interventions
from augenmerk.core.model.sites import PairPass, attentions_of
from augenmerk.viz_app.extensions.learn.figures.one_weight import (
    HEADINGS,
    WeightTable,
    weight_steps,
)
from augenmerk.viz_app.theme import Theme
from tests.core.model.small_models import make_model

SOURCE, READ = [2, 5, 9, 4, 3], [2, 7, 6, 11]


@pytest.mark.parametrize(
    "head", [Head("encoder", 1, 3), Head("decoder", 2, 0), Head("cross", 0, 2)], ids=str
)
@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_scores_give_weights_and_weights_give_the_output(head: Head, temperature: float) -> None:
    model = make_model()
    changes = compile_interventions(model, [SentenceChanges(temperatures={head: temperature})])
    trace = trace_pair(PairPass(model, SOURCE, READ, changes))
    steps = weight_steps(trace, head, 2)
    assert steps.temperature == temperature
    powers = np.exp(steps.scores - steps.scores.max())
    np.testing.assert_allclose(steps.weights, powers / powers.sum(), atol=1e-5)
    values = trace.of_kind(head.kind).values[head.layer, head.head]
    np.testing.assert_allclose(steps.output, steps.weights @ values, atol=1e-5)
    assert np.isinf(steps.scores[3:]).all() == (head.kind == "decoder")


def test_the_outputs_of_all_heads_are_what_the_attention_gives() -> None:
    model = make_model()
    trace = trace_pair(PairPass(model, SOURCE, READ))
    module = attentions_of(model)["cross"][1]
    outputs = [
        weight_steps(trace, Head("cross", 1, head), 2).output for head in range(module.num_heads)
    ]
    mixed = (
        np.concatenate(outputs) @ module.out_proj.weight.detach().numpy().T
        + module.out_proj.bias.detach().numpy()
    )
    recorded: list[torch.Tensor] = []
    hook = module.register_forward_hook(lambda _, inputs, output: recorded.append(output[0]))
    with torch.inference_mode():
        model(torch.tensor([SOURCE]), torch.tensor([READ]))
    hook.remove()
    np.testing.assert_allclose(mixed, recorded[0][0, 2].numpy(), atol=1e-4)


def test_headings_have_a_shorter_form_where_the_longest_does_not_fit(
    qtbot: QtBot, theme: Theme
) -> None:
    table = WeightTable()
    qtbot.addWidget(table)
    model = make_model()
    steps = weight_steps(trace_pair(PairPass(model, SOURCE, READ)), Head("cross", 0, 2), 2)
    table.show_steps(steps, ("<sos>", "zwei", "kinder", ".", "<eos>"), "two", 1)
    metrics = QFontMetrics(theme.font("body"))
    shown = {}
    for width in (440, 900):
        table.resize(width, table.height())
        headings = table.headings()
        assert all(metrics.horizontalAdvance(text) <= place.width() for place, text in headings)
        shown[width] = [text for _, text in headings]
    longest = [forms[0] for forms in HEADINGS]
    assert shown[900] == longest
    assert shown[440] != longest
