"""Hooks of the user: all modules are called, every way to translate heeds what they change, and
nothing is kept."""

import gc
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import Any
from weakref import ref

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.nn.utils import parametrize
from torch.utils.hooks import RemovableHandle

from augenmerk.core.model.heads import ATTENTION_KINDS, Network
from augenmerk.core.model.layers import FeedForward, TokenAndPosition
from augenmerk.core.translation.experiment import (
    Beam,
    Experiment,
    FeedForwardScaled,
    GivenTarget,
    Greedy,
    Output,
)
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.running import Hypothesis
from augenmerk.core.translation.translator import Translator
from tests.builders import first_quick
from tests.core.translation.naive import naive_run
from tests.core.translation.random_models import make_translator

MODEL_NAMES = {
    "post": "words, post-norm, learned positions",
    "pre": "subwords, pre-norm, all tied",
    "marian": "words, post-norm, Marian's shape",
}
SENTENCES = ("ein mann steht", "zwei hund auf gras")
NEAR_TIE = 1e-4
MAX_NEAR_TIES = 1
"""Of the translations with one model and one hook."""

Ways = tuple[list[Translation], list[list[Hypothesis]]]


@pytest.fixture(scope="module", params=first_quick(MODEL_NAMES))
def translator(request: pytest.FixtureRequest) -> Translator:
    return make_translator(MODEL_NAMES[request.param])


@pytest.fixture(scope="module")
def plain(translator: Translator) -> Ways:
    """All ways, without a hook."""
    return all_ways(translator)


def growing(states: Tensor) -> Tensor:
    """Other values at every position, so that reading a token alone gives others than reading it
    among all."""
    factors = 0.5 + 0.15 * torch.arange(states.size(-2), dtype=states.dtype)
    return states * factors[:, None]


def with_output_changed(
    module: nn.Module, change: Callable[[Tensor], Tensor] = growing
) -> RemovableHandle:
    def hook(_module: nn.Module, _inputs: Any, output: Any) -> Any:
        return (change(output[0]), *output[1:]) if isinstance(output, tuple) else change(output)

    return module.register_forward_hook(hook)


def computing(model: nn.Module) -> dict[str, nn.Module]:
    """All named modules but the lists, which compute nothing."""
    return {
        name: module
        for name, module in model.named_modules()
        if not isinstance(module, nn.ModuleList)
    }


@contextmanager
def calls_counted(model: nn.Module) -> Iterator[Counter[str]]:
    counts: Counter[str] = Counter()
    with ExitStack() as hooks:
        for name, module in computing(model).items():

            def count(_module: nn.Module, _inputs: Any, _output: Any, name: str = name) -> None:
                counts[name] += 1

            hooks.callback(module.register_forward_hook(count).remove)
        yield counts


def tokens_of(translator: Translator, sentence: str, output: Output) -> tuple[int, ...]:
    return translator.run(Experiment(sentence, output)).predicted_ids


def all_ways(translator: Translator) -> Ways:
    """What every public way to translate gives."""
    outputs = (Greedy(), Beam(2), GivenTarget("a man stands"))
    experiments = [Experiment(sentence, output) for sentence in SENTENCES for output in outputs]
    translations = [translator.run(experiment) for experiment in experiments]
    translations += translator.run_many(experiments)
    translations += [translator.compare(experiments[0]).changed]
    return translations, [translator.translate_corpus(SENTENCES, beam=beam) for beam in (1, 2)]


def check_same(ways: Ways, expected: Ways) -> None:
    """But for rounding: matrix products round by how their memory is aligned."""
    assert ways[1] == expected[1]
    for mine, other in zip(ways[0], expected[0], strict=True):
        assert mine.predicted_ids == other.predicted_ids
        np.testing.assert_allclose(
            mine.log_probabilities, other.log_probabilities, rtol=0, atol=1e-4
        )
        for kind in ATTENTION_KINDS:
            np.testing.assert_allclose(
                mine.maps.of_kind(kind), other.maps.of_kind(kind), rtol=0, atol=1e-5
            )


HOOKED = (
    "source_embedding",
    "encoder_layers.0",
    "encoder_layers.1.feed_forward",
    "encoder_layers.0.self_attention.out_proj",
    "decoder_layers.0",
    "decoder_layers.0.self_attention",
    "decoder_layers.1.cross_attention",
    "decoder_layers.1.cross_residual",
    "decoder_layers.1.feed_forward.expand",
    "decoder_layers.0.self_residual.norm",
    "target_embedding",
    "output",
)


@pytest.mark.parametrize("translator", ["pre"], indirect=True)
def test_the_factor_of_a_network_multiplies_what_a_hook_made_of_its_output(
    translator: Translator,
) -> None:
    network, name = FeedForwardScaled(Network("decoder", 1), 0.5), "decoder_layers.1.feed_forward"
    experiment = Experiment(SENTENCES[0], GivenTarget("a man stands in the sea"), (network,))
    with ExitStack() as hooks:
        hooks.callback(with_output_changed(translator.model.get_submodule(name)).remove)
        expected = naive_run(translator, experiment, {name: growing})
        assert translator.run(experiment).log_probabilities == pytest.approx(
            expected.log_probabilities, abs=1e-4
        )


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("translator", "name"),
    first_quick(
        [
            (model, name)
            for index, name in enumerate(HOOKED)
            for model in ("pre", ("post", "marian")[index % 2])
        ]
    ),
    indirect=["translator"],
    scope="module",
)
def test_every_way_to_translate_heeds_what_a_hook_changes(
    translator: Translator, name: str
) -> None:
    experiments = [
        Experiment(sentence, GivenTarget("a man stands in the sea")) for sentence in SENTENCES
    ]
    # what could be kept is kept now
    plain = [translator.run(experiment) for experiment in experiments]
    module = translator.model.get_submodule(name)
    differences, near_ties = 0.0, 0
    with ExitStack() as hooks:
        hooks.callback(with_output_changed(module).remove)
        by_corpus = {beam: translator.translate_corpus(SENTENCES, beam=beam) for beam in (1, 2)}
        for index, sentence in enumerate(SENTENCES):
            for beam, output in ((1, Greedy()), (2, Beam(2))):
                experiment = Experiment(sentence, output)
                expected = naive_run(translator, experiment, {name: growing})
                if expected.margin < NEAR_TIE:
                    near_ties += 1
                    continue
                translation = translator.run(experiment)
                assert list(translation.predicted_ids) == expected.predicted_ids
                assert by_corpus[beam][index].text == translation.text
                np.testing.assert_allclose(
                    translation.log_probabilities, expected.log_probabilities, rtol=0, atol=1e-4
                )
                for kind in ATTENTION_KINDS:
                    expected_maps = getattr(expected, f"{kind}_maps").numpy()
                    np.testing.assert_allclose(
                        translation.maps.of_kind(kind), expected_maps, rtol=0, atol=1e-5
                    )
            differences += abs(
                translator.run(experiments[index]).log_probability - plain[index].log_probability
            )
    assert near_ties <= MAX_NEAR_TIES
    assert differences > 0.01  # the hook changes something at all


@pytest.mark.heavy
def test_after_hooks_are_removed_everything_is_as_before(
    translator: Translator, plain: Ways
) -> None:
    with ExitStack() as hooks:
        for name in ("encoder_layers.0", "decoder_layers.1", "output"):
            hooks.callback(with_output_changed(translator.model.get_submodule(name)).remove)
        changed = all_ways(translator)
    check_same(all_ways(translator), plain)
    with pytest.raises(AssertionError):
        check_same(changed, plain)


@pytest.mark.parametrize(
    "output", [Greedy(), Beam(2), GivenTarget("a man")], ids=lambda output: type(output).__name__
)
def test_every_module_that_computes_is_called_in_a_run(
    translator: Translator, output: Output
) -> None:
    experiment = Experiment(SENTENCES[0], output)
    translator.run(experiment)
    with calls_counted(translator.model) as counts:
        translator.run(experiment)
    assert counts.keys() == computing(translator.model).keys()


@pytest.mark.parametrize("beam", [1, 2])
def test_every_module_that_computes_is_called_for_a_corpus(
    translator: Translator, beam: int
) -> None:
    with calls_counted(translator.model) as counts:
        translator.translate_corpus(SENTENCES, beam=beam)
    assert counts.keys() == computing(translator.model).keys()


def test_the_encoder_is_called_once_and_the_decoder_once_a_token_and_for_the_result(
    translator: Translator,
) -> None:
    """As docs/hooks.md says."""
    for output in (Greedy(), Beam(2)):
        with calls_counted(translator.model) as counts:
            translation = translator.run(Experiment(SENTENCES[0], output))
        assert counts["encoder_layers.0"] == counts["source_embedding"] == 1
        searched = counts["decoder_layers.0"] - 1
        if output == Greedy():
            assert searched == len(translation.predicted_ids)
        else:  # the search goes on while another hypothesis could still win
            assert searched >= len(translation.predicted_ids)
        assert counts["output"] == counts[""] == counts["decoder_layers.0"]


@pytest.mark.parametrize("output", [Greedy(), Beam(2)], ids=["greedy", "beam"])
def test_each_call_reads_all_tokens_so_far(translator: Translator, output: Output) -> None:
    lengths: list[int] = []
    handle = translator.model.decoder_layers[0].register_forward_hook(
        lambda module, inputs, result: lengths.append(inputs[0].size(1))
    )
    translation = translator.run(Experiment(SENTENCES[0], output))
    handle.remove()
    assert lengths[:-1] == list(range(1, len(lengths)))
    assert lengths[-1] == len(translation.predicted_ids)


def test_a_repeated_sentence_is_encoded_again_while_a_hook_is_there(translator: Translator) -> None:
    translator.run(Experiment(SENTENCES[0]))
    for _ in range(2):
        with calls_counted(translator.model) as counts:
            translator.run(Experiment(SENTENCES[0]))
        assert counts["encoder_layers.1"] == 1


@pytest.mark.parametrize("output", [Greedy(), Beam(2)], ids=["greedy", "beam"])
def test_what_a_hook_keeps_is_not_written_to_afterwards(
    translator: Translator, output: Output
) -> None:
    recorded: list[tuple[str, Tensor, Tensor]] = []

    def keep(name: str, values: Any) -> None:
        tensors = [
            tensor
            for tensor in (values if isinstance(values, tuple) else (values,))
            if isinstance(tensor, Tensor)
        ]
        recorded.extend((name, tensor, tensor.clone()) for tensor in tensors)

    with ExitStack() as hooks:
        for name, module in computing(translator.model).items():

            def hook(_module: nn.Module, inputs: Any, result: Any, name: str = name) -> None:
                keep(f"input of {name}", inputs)
                keep(f"output of {name}", getattr(result, "logits", result))

            hooks.callback(module.register_forward_hook(hook).remove)
        translator.run(Experiment(SENTENCES[0], output))
        translator.translate_corpus(SENTENCES[:2], beam=1 if output == Greedy() else 2)
    assert recorded
    assert not {name for name, tensor, copy in recorded if not torch.equal(tensor, copy)}


class Halved(nn.Module):
    """A parametrization."""

    def forward(self, weight: Tensor) -> Tensor:
        return weight / 2


def halve_the_output(module: nn.Module, _inputs: Any, output: Any) -> Any:
    return output / 2 if module.__class__.__name__ == "TokenAndPosition" else None


def halve_the_input(module: nn.Module, inputs: tuple[Any, ...]) -> Any:
    return (inputs[0] / 2, *inputs[1:]) if module.__class__.__name__ == "FeedForward" else None


def parametrized(translator: Translator) -> Callable[[], None]:
    module = translator.model.encoder_layers[0].self_attention
    parametrize.register_parametrization(module, "in_proj_weight", Halved())
    return lambda: parametrize.remove_parametrizations(
        module, "in_proj_weight", leave_parametrized=False
    )


class Halving(nn.Module):
    """A module of the user in the place of the model's."""

    def __init__(self, replaced: nn.Module) -> None:
        super().__init__()
        self.replaced = replaced

    def forward(self, states: Tensor) -> Tensor:
        output: Tensor = self.replaced(states) / 2
        return output


def replaced(translator: Translator, stack: str) -> Callable[[], None]:
    layer = getattr(translator.model, stack)[0]
    own = layer.feed_forward
    layer.feed_forward = Halving(own)
    return lambda: setattr(layer, "feed_forward", own)


def cleared_then_hooked(translator: Translator) -> Callable[[], None]:
    for module in translator.model.modules():
        module._forward_hooks = OrderedDict()  # a common way to remove all hooks
    return with_output_changed(translator.model.encoder_layers[0]).remove


def with_own_forward(translator: Translator) -> Callable[[], None]:
    network = translator.model.encoder_layers[0].feed_forward
    network.forward = lambda states: type(network).forward(network, states) / 2
    return lambda: delattr(network, "forward")


class HalvedNetwork(FeedForward):
    """A type of the user."""

    def forward(self, states: Tensor) -> Tensor:
        return super().forward(states) / 2


def of_another_type(translator: Translator) -> Callable[[], None]:
    network = translator.model.encoder_layers[0].feed_forward
    network.__class__ = HalvedNetwork
    return lambda: setattr(network, "__class__", FeedForward)


def with_forward_of_its_class(_translator: Translator) -> Callable[[], None]:
    forward = FeedForward.forward
    FeedForward.forward = lambda network, states: forward(network, states) / 2
    return lambda: setattr(FeedForward, "forward", forward)


class NormedEmbedding(TokenAndPosition):
    """Embeddings with a norm, as other projects have them."""

    def forward(self, ids: Tensor, first_position: int = 0) -> Tensor:
        return self.norm(super().forward(ids, first_position))


def in_another_model(translator: Translator) -> Callable[[], None]:
    """A model that had its own modules before the translator got it."""
    own = translator.model
    translator.model = deepcopy(own)
    for embedding in (translator.model.source_embedding, translator.model.target_embedding):
        embedding.__class__ = NormedEmbedding
        embedding.norm = nn.LayerNorm(own.config.width)
    translator.model.eval()
    return lambda: setattr(translator, "model", own)


WAYS: dict[str, Callable[[Translator], Callable[[], None]]] = {
    "pre-hook": lambda translator: (
        translator.model.encoder_layers[1]
        .feed_forward.register_forward_pre_hook(halve_the_input)
        .remove
    ),
    "global hook": lambda _: register_module_forward_hook(halve_the_output).remove,
    "global pre-hook": lambda _: register_module_forward_pre_hook(halve_the_input).remove,
    "hook with keywords": lambda translator: (
        translator.model.encoder_layers[0]
        .register_forward_hook(
            lambda module, inputs, options, output: (output[0] / 2, output[1]),
            with_kwargs=True,
            always_call=True,
        )
        .remove
    ),
    "hook on the whole model": lambda translator: (
        translator.model.register_forward_hook(
            lambda module, inputs, output: replace(output, logits=output.logits.roll(1, dims=-1))
        ).remove
    ),
    "parametrization": parametrized,
    "hook after all were cleared": cleared_then_hooked,
    "forward of an instance": with_own_forward,
    "module of another type": of_another_type,
    "forward of a class": with_forward_of_its_class,
    "modules of another model": in_another_model,
    "replaced module of the encoder": lambda translator: replaced(translator, "encoder_layers"),
    "replaced module of the decoder": lambda translator: replaced(translator, "decoder_layers"),
}


@pytest.mark.heavy
@pytest.mark.parametrize("translator", ["pre"], indirect=True)
@pytest.mark.parametrize("way", first_quick(WAYS))
def test_all_ways_to_change_a_module_are_heeded_by_all_ways_to_translate(
    translator: Translator, plain: Ways, way: str
) -> None:
    # undoing it stores the weight again, and the other tests share the translator
    if way == "parametrization":
        translator = make_translator(MODEL_NAMES["pre"])
    undo = WAYS[way](translator)
    try:
        changed = all_ways(translator)
    finally:
        undo()
    check_same(all_ways(translator), plain)
    alone, together = changed[0][: len(changed[0]) // 2], changed[0][len(changed[0]) // 2 : -1]
    for mine, other, unchanged in zip(alone, together, plain[0], strict=False):
        assert mine.predicted_ids == other.predicted_ids
        assert mine.log_probabilities != unchanged.log_probabilities
    texts = [translation.text for translation in alone]
    assert [translation.text for translation in changed[1][0]] == texts[0::3]
    assert [translation.text for translation in changed[1][1]] == texts[1::3]


def test_a_model_that_is_no_longer_used_is_not_kept() -> None:
    translator = make_translator(MODEL_NAMES["pre"])
    translator.run(Experiment(SENTENCES[0]))
    model = ref(translator.model)
    del translator
    gc.collect()
    assert model() is None


def test_an_old_weight_norm_is_heeded(translator: Translator) -> None:
    """It computes the weight in a pre-hook of the module."""
    module = translator.model.decoder_layers[0].feed_forward.expand
    before = tokens_and_scores(translator)
    with pytest.warns(FutureWarning, match="weight_norm"):
        nn.utils.weight_norm(module)
    try:
        with torch.no_grad():
            module.weight_g.mul_(3)
        changed = tokens_and_scores(translator)
        with torch.no_grad():
            module.weight_g.div_(3)
    finally:
        nn.utils.remove_weight_norm(module)
    assert changed != before


def tokens_and_scores(translator: Translator) -> list[Sequence[float]]:
    return [
        translator.run(Experiment(SENTENCES[0], output)).log_probabilities
        for output in (Greedy(), Beam(2))
    ]
