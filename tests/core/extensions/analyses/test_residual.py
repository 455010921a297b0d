"""The split of residual streams: parts sum to the vectors that the model computes, at every point
of both streams."""

import pytest
import torch
from torch import Tensor, nn

from augenmerk.core.extensions.analyses.residual import ResidualStream, residual_streams
from augenmerk.core.model.heads import Head, Network, SentenceChanges
from augenmerk.core.model.intervention_tensors import compile_interventions
from augenmerk.core.model.sites import PairPass
from tests.core.model.small_models import KINDS, make_model

SOURCE, READ = [2, 5, 9, 4, 3], [2, 7, 6, 11]
OFF = [Head("encoder", 0, 1), Head("decoder", 1, 0), Head("cross", 2, 3)]
CHANGES = [
    SentenceChanges({}, {}),
    SentenceChanges(
        {**dict.fromkeys(OFF, 0.0), Network("decoder", 1): -0.5},
        {(Head("cross", 0, 1), 0): (0.0, 1.0, 0.0, 0.0, 0.0)},
    ),
    SentenceChanges(temperatures=dict.fromkeys(OFF, 3.0), lifts_mask=True),
]


def vectors(stream: ResidualStream, num_rows: int, depth: int | None = None) -> Tensor:
    """The sum of all parts, [N, D]: in the directions of the axes."""
    width = stream.sublayers[0].states.size(-1)
    axes = torch.eye(width, dtype=torch.float64)[:, None].expand(width, num_rows, width)
    parts = stream.split(axes, depth=depth)
    assert len(parts) == len(
        stream.components if depth is None else stream.components_before(depth)
    )
    return parts.sum(dim=0).T


@pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)
@pytest.mark.heavy
def test_parts_sum_to_the_input_of_every_sublayer_and_to_the_output(config) -> None:
    model = make_model(config)
    for changes in CHANGES:
        interventions = compile_interventions(model, [changes])
        caught: list[Tensor] = []
        outputs: list[Tensor] = []

        def catch(
            module: nn.Module, inputs: tuple[Tensor, ...], caught: list[Tensor] = caught
        ) -> None:
            caught.append(inputs[0][0])

        def catch_output(
            module: object, inputs: object, output: Tensor, outputs: list[Tensor] = outputs
        ) -> None:
            outputs.append(output[0])

        sublayers = [
            module
            for name, module in model.named_modules()
            if name.endswith(("self_attention", "cross_attention", "feed_forward"))
        ]
        hooks = [module.register_forward_pre_hook(catch) for module in sublayers]
        hooks += [
            norm.register_forward_hook(catch_output)
            for norm in (model.encoder_norm, model.decoder_norm)
        ]
        with torch.inference_mode():
            model(torch.tensor([SOURCE]), torch.tensor([READ]), interventions=interventions)
        for hook in hooks:
            hook.remove()
        streams = residual_streams(PairPass(model, SOURCE, READ, interventions))
        both = streams.encoder, streams.decoder
        places = [(stream, depth) for stream in both for depth in range(len(stream.sublayers))]
        assert len(places) == len(caught)
        for (stream, depth), expected in zip(places, caught, strict=True):
            sums = vectors(stream, len(expected), depth)
            torch.testing.assert_close(sums, expected.double(), rtol=0, atol=1e-4)
        for stream, expected in zip(both, outputs, strict=True):
            torch.testing.assert_close(
                vectors(stream, len(expected)), expected.double(), rtol=0, atol=1e-4
            )
