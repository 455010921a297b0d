"""The stacks as boxes are those of the model: what a layer has, in which order, and where residuals
are added."""

import pytest
import torch
from PySide6.QtCore import QSize
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication

from augenmerk.core.config import ModelConfig
from augenmerk.core.extensions.info.size import MODULES, size_rows
from augenmerk.core.extensions.run_settings.presets import PRESETS
from augenmerk.core.model.shapes import NoRandomNumbers
from augenmerk.core.model.transformer import Transformer
from augenmerk.viz_app.extensions.learn.checks import part_sizes
from augenmerk.viz_app.extensions.learn.figures.sizes import GROUPS
from augenmerk.viz_app.extensions.learn.figures.stack import (
    NORM,
    MeasuredModel,
    ModuleBox,
    Side,
    StackPicture,
    about,
    boxes_of,
)

CONFIG = ModelConfig(num_decoder_heads=4, decoder_feed_forward_width=1024, final_norm=True)
NAMES = {
    "self_attention": ("encoder self-attention", "decoder self-attention"),
    "cross_attention": ("cross-attention",),
    "feed_forward": ("encoder feed-forward", "decoder feed-forward"),
    "norm": ("encoder norms", "decoder norms"),
}


def called(config: ModelConfig, side: Side) -> list[str]:
    """The kinds of modules that a layer of the real model calls, in their order."""
    with NoRandomNumbers(), torch.device("meta"):
        model = Transformer(config, 50, 50, 0).eval()
    layer = (model.encoder_layers if side == "encoder" else model.decoder_layers)[0]
    order: list[str] = []
    for name, module in layer.named_modules():
        kind = name.rpartition(".")[2]
        if kind in NAMES:
            module.register_forward_hook(
                lambda module, inputs, output, kind=kind: order.append(kind)
            )
    ids = torch.full((1, 5), 3, device="meta")
    model(ids, ids)
    return order


def kind_of(box: ModuleBox) -> str:
    (kind,) = [kind for kind, modules in NAMES.items() if box.module in modules]
    return kind


@pytest.mark.heavy
@pytest.mark.parametrize("side", ["encoder", "decoder"])
@pytest.mark.parametrize("norm_position", ["pre", "post"])
def test_a_layer_has_its_modules_in_the_order_of_the_model(norm_position: str, side: Side) -> None:
    config = CONFIG.replace(norm_position=norm_position)
    boxes = [box for box in boxes_of(config, side, 50) if box.is_in_layer]
    assert [kind_of(box) for box in boxes] == called(config, side)


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_residuals_go_around_the_norm_in_pre_norm_and_below_it_in_post_norm(side: Side) -> None:
    for norm_position in ("pre", "post"):
        boxes = boxes_of(CONFIG.replace(norm_position=norm_position), side, 50)
        begins, ends = (
            [getattr(box, name) for box in boxes] for name in ("begins_residual", "ends_residual")
        )
        assert sum(begins) == sum(ends) == (2 if side == "encoder" else 3)
        for box in boxes:
            is_norm = box.text == NORM and box.is_in_layer
            is_sublayer = box.is_in_layer and not is_norm
            assert box.ends_residual == is_sublayer
            assert box.begins_residual == (is_norm if norm_position == "pre" else is_sublayer)


def test_boxes_say_what_the_settings_of_their_side_are() -> None:
    encoder = {box.module: box.text for box in boxes_of(CONFIG, "encoder", 7853)}
    decoder = {box.module: box.text for box in boxes_of(CONFIG, "decoder", 5893)}
    assert encoder["encoder self-attention"] == "self-attention · 8 heads"
    assert decoder["cross-attention"] == "cross-attention · 4 heads"
    assert (encoder["encoder feed-forward"], decoder["decoder feed-forward"]) == (
        "feed-forward · 512",
        "feed-forward · 1,024",
    )
    assert (encoder["source embedding"], decoder["output"]) == (
        "embedding · 7,853 tokens",
        "output · 5,893 tokens",
    )


def test_heads_are_named_in_all_boxes_of_attention_or_in_none(qapp: QApplication) -> None:
    drawing = StackPicture(MeasuredModel(ModelConfig(), (50, 50)), "plain", QSize(400, 600))
    metrics = QFontMetrics(qapp.font())
    attentions = [
        box for boxes in drawing.boxes.values() for box in boxes if box.text.endswith(" heads")
    ]
    assert len(attentions) == 3
    longest = max(metrics.horizontalAdvance(box.text) for box in attentions)
    for room, num_named in ((longest, 3), (longest - 1, 0)):
        shown = [drawing.text_of(box, metrics, room) for box in attentions]
        assert sum(text.endswith(" heads") for text in shown) == num_named


def test_every_module_has_a_box_a_group_and_a_sentence() -> None:
    for run in PRESETS.values():
        shown = {
            box.module for side in ("encoder", "decoder") for box in boxes_of(run.model, side, 50)
        }  # type: ignore[arg-type]
        assert shown == set(MODULES)
        rows = size_rows(run.model, 50, 50, 3, 3)
        texts = [about(module, run.model, rows) for module in MODULES]
        assert all(text.endswith(".") for text in texts)
        assert (run.model.tied_embeddings == "all") == (
            sum("The matrix is shared with" in text for text in texts) == 2
        )
    assert sorted(module for modules in GROUPS.values() for module in modules) == sorted(MODULES)


def test_without_a_norm_at_the_top_there_is_no_box_for_it() -> None:
    with_norm, without = (
        boxes_of(CONFIG.replace(final_norm=has), "decoder", 50) for has in (True, False)
    )
    assert [box.text for box in with_norm[-2:]] == [NORM, "output · 50 tokens"]
    assert len(without) == len(with_norm) - 1


def test_the_largest_part_depends_on_the_model() -> None:
    def largest(config: ModelConfig, *num_tokens: int) -> str:
        sizes = part_sizes(size_rows(config, *num_tokens, 1, 1))
        return max(sizes, key=lambda name: sizes[name])

    assert largest(ModelConfig(), 7853, 5893) == "tokens"
    assert largest(ModelConfig(), 50, 50) == "attention"
    assert largest(ModelConfig(feed_forward_width=2048), 50, 50) == "feed-forward"
