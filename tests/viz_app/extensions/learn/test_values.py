"""Values in texts of chapters are those of the sentence, the head and the model shown."""

from dataclasses import replace
from pathlib import Path

from augenmerk.core.device import DeviceChoice
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.result import AttentionMaps
from augenmerk.viz_app.extensions.learn.values import values_of
from augenmerk.viz_app.state.experiment_state import ExperimentState
from augenmerk.viz_app.state.model_info import ModelInfo
from tests.viz_app.synthetic import make_translation


def test_the_width_of_a_head_is_that_of_the_chosen_kind_of_attention() -> None:
    run = preset("notebook")
    model = run.model.replace(width=256, num_heads=8, num_decoder_heads=4)
    state = ExperimentState()
    state.begin_model(
        ModelInfo("m", Path("m"), replace(run, model=model), DeviceChoice("cpu", "requested"), 1)
    )
    many, few = (make_translation(num_heads=count).maps for count in (8, 4))
    translation = replace(
        make_translation(), attention=AttentionMaps(many.encoder, few.decoder, few.cross)
    )
    names = ("heads-per-layer", "head-width", "root-head-width")
    values = {}
    for kind in ("encoder", "cross"):
        state.selection.head = Head(kind, 1, 2)
        values[kind] = tuple(values_of(state, names, translation).values())
    assert values == {"encoder": ("8", "32", "5.66"), "cross": ("4", "64", "8.00")}
