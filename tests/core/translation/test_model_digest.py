"""A digest identifies what a model computes; a result carries that of its model, and is not read by
any other.
"""

import copy
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from augenmerk.core.checkpoint import file as checkpoint_file
from augenmerk.core.checkpoint.file import (
    Checkpoint,
    load_checkpoint,
    model_digest,
    save_checkpoint,
)
from augenmerk.core.device import DeviceChoice
from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.analyses.alignment_ranking import Aligner, align
from augenmerk.core.extensions.analyses.alti import contributions_of
from augenmerk.core.extensions.analyses.decoder_lens import decoder_lens
from augenmerk.core.extensions.analyses.head_profiles import profile_heads
from augenmerk.core.extensions.analyses.importance import head_importance
from augenmerk.core.extensions.analyses.logit_attribution import (
    encoder_parts,
    logit_parts,
    measure_parts,
    word_parts,
)
from augenmerk.core.extensions.analyses.logit_lens import logit_lens
from augenmerk.core.extensions.analyses.occlusion import (
    occlude_source_words,
    score_without_source_words,
    translate_without_source_words,
)
from augenmerk.core.extensions.analyses.pairs import WordPair, attribute_pairs, pairs_importance
from augenmerk.core.extensions.analyses.query_key import query_key_parts
from augenmerk.core.inference.compiled import PLAIN_VARIABLE
from augenmerk.core.maps.capture import trace_translation
from augenmerk.core.maps.left_out import left_out_words
from augenmerk.core.maps.measures import MEASURES, measure
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import Experiment, HeadScaled
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.translator import Translator
from tests.builders import first_quick
from tests.core.translators import ENGLISH, GERMAN, read_given

TEXT = GERMAN[0]
HEAD = Head("cross", 0, 1)
READERS: dict[str, Callable[[Translator, Translation], Any]] = {
    "word_parts": lambda model, translation: word_parts(model, translation, 1),
    "logit_parts": lambda model, translation: logit_parts(model, translation)[0],
    "query_key_parts": lambda model, translation: query_key_parts(model, translation, HEAD, 1),
    "logit_lens": logit_lens,
    "decoder_lens": decoder_lens,
    "contributions_of": contributions_of,
    "occlude_source_words": occlude_source_words,
    "one replaced word": lambda model, translation: occlude_source_words(
        model, translation, replacement="Hund", places=[1]
    ),
    "score_without_source_words": score_without_source_words,
    "translate_without_source_words": lambda model, translation: translate_without_source_words(
        model, translation, [0]
    ),
    "left_out_words": left_out_words,
    "align": lambda model, translation: align(model, translation, Aligner(0, 0, "read", "weight")),
    **{
        f"measure {name} {kind}": lambda model, translation, name=name, kind=kind: measure(
            model, translation, name, kind
        )
        for name, definition in MEASURES.items()
        for kind in definition.kinds
    },
    "trace_translation": trace_translation,
    "trace": lambda model, translation: (
        model.trace(translation, "logits")["logits"].detach().numpy()
    ),
    "pass_over": lambda model, translation: model.pass_over(translation),
    "score": lambda model, translation: model.score(translation, Experiment(TEXT)),
    "score_many": lambda model, translation: model.score_many(translation, [Experiment(TEXT)]),
}
SAMPLES: dict[str, Callable[[Translator], Any]] = {
    "head_importance": lambda model: head_importance(model, [TEXT], [ENGLISH[0]]),
    "pairs_importance": lambda model: pairs_importance(model, [WordPair(TEXT, "a", "man", "dog")]),
    "attribute_pairs": lambda model: attribute_pairs(model, [WordPair(TEXT, "a", "man", "dog")]),
    "profile_heads": lambda model: profile_heads(model, [TEXT]),
}
WITHOUT_DIGEST = (
    "score",
    "pass_over",
    "trace",
    "translate_",
    "left_out_words",
    "align",
    "score_without",
    "measure ",
)
"""Functions that return plain values."""


def translator_of(checkpoint: Checkpoint) -> Translator:
    """A translator of its own, whose weights a test may change."""
    return Translator(checkpoint, DeviceChoice("cpu", "requested"))


@pytest.fixture
def own(word_translator: Translator) -> Translator:
    """A model of its own, whose weights a test may change."""
    return translator_of(word_translator.checkpoint)


@pytest.fixture(scope="session")
def later(word_translator: Translator) -> Translator:
    """A later checkpoint of the run of `word_translator`: the same vocabularies, other weights."""
    generator = torch.Generator().manual_seed(3)
    weights = {
        name: value + 0.2 * torch.randn(value.shape, generator=generator)
        for name, value in word_translator.checkpoint.weights.items()
    }
    return translator_of(
        replace(word_translator.checkpoint, weights={k: v.detach() for k, v in weights.items()})
    )


def bias(translator: Translator) -> torch.nn.Parameter:
    """A parameter that every translation depends on."""
    parameter = translator.model.output.bias
    assert isinstance(parameter, torch.nn.Parameter)
    return parameter


# --- the digest -----------------------------------------------------------------------------------


def test_a_model_as_it_was_loaded_has_the_digest_of_its_file(
    word_translator: Translator, tmp_path: Path
) -> None:
    for half_precision in (False, True):
        path = tmp_path / "model.safetensors"
        save_checkpoint(word_translator.checkpoint, path, half_precision=half_precision)
        assert Translator.load(path, "cpu").digest == model_digest(load_checkpoint(path))


def write_in_place(translator: Translator) -> None:
    with torch.no_grad():
        bias(translator).add_(0.1)


def write_to_data(translator: Translator) -> None:
    bias(translator).data[0] += 0.1


def give_another_tensor(translator: Translator) -> None:
    bias(translator).data = bias(translator).data + 0.1


def give_another_parameter(translator: Translator) -> None:
    translator.model.output.bias = torch.nn.Parameter(bias(translator).detach() + 0.1)


def step_an_optimizer(translator: Translator) -> None:
    bias(translator).grad = torch.ones_like(bias(translator))
    torch.optim.SGD([bias(translator)], 0.1).step()


@pytest.mark.heavy  # imports the optimizers
@pytest.mark.parametrize("is_plain", [False, True], ids=["compiled", "plain"])
@pytest.mark.parametrize(
    "change",
    [write_in_place, write_to_data, give_another_tensor, give_another_parameter, step_an_optimizer],
)
def test_changed_weights_have_another_digest_and_restored_ones_the_first(
    own: Translator,
    change: Callable[[Translator], None],
    is_plain: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(PLAIN_VARIABLE, str(int(is_plain)))
    loaded, before = own.digest, bias(own).detach().clone()
    assert own.translate(TEXT).model_digest == loaded == model_digest(own.checkpoint)
    change(own)
    changed = own.digest
    assert changed != loaded
    assert own.translate(TEXT).model_digest == changed == own.digest
    with torch.no_grad():
        bias(own).copy_(before)
    assert own.digest == loaded


def test_the_digest_of_changed_weights_is_that_of_the_file_they_are_saved_to(
    own: Translator, tmp_path: Path
) -> None:
    write_in_place(own)
    save_checkpoint(
        replace(own.checkpoint, weights=dict(own.model.named_parameters())),
        tmp_path / "a.safetensors",
    )
    assert own.digest == Translator.load(tmp_path / "a.safetensors", "cpu").digest


def hooks(translator: Translator) -> Iterator[tuple[Callable[[], object], Callable[[], object]]]:
    """Ways to change what modules compute, each with the way back."""
    model, handles = translator.model, list[Any]()
    norm = model.decoder_layers[0]

    def pop() -> None:
        handles.pop().remove()

    yield lambda: handles.append(norm.register_forward_hook(lambda *_: None)), pop
    yield lambda: handles.append(norm.register_forward_pre_hook(lambda *_: None)), pop
    yield lambda: setattr(norm, "forward", norm.forward), lambda: delattr(norm, "forward")
    old = model.decoder_norm
    yield (
        lambda: setattr(model, "decoder_norm", torch.nn.Sequential(old)),
        lambda: setattr(model, "decoder_norm", old),
    )


@pytest.mark.heavy
def test_a_hooked_model_has_a_digest_of_its_own_until_the_hook_is_gone(own: Translator) -> None:
    loaded = own.digest
    digests = {loaded}
    for add, remove in hooks(own):
        for _ in range(2):  # nobody can tell whether the second hook computes the same
            add()
            assert own.digest == own.digest
            assert len(own.digest) == len(loaded)
            assert own.digest not in digests
            assert own.translate(TEXT).model_digest == own.digest
            digests.add(own.digest)
            remove()
            assert own.digest == loaded


def test_weights_are_hashed_once_and_again_only_after_a_change(
    own: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[object] = []
    real = checkpoint_file._hash_tensors
    monkeypatch.setattr(
        checkpoint_file, "_hash_tensors", lambda *inputs: (hashed.append(inputs), real(*inputs))
    )
    for text in (TEXT, GERMAN[1], TEXT):
        own.translate(text)
    assert own.digest == own.translate(TEXT).model_digest
    assert len(hashed) == 1
    write_in_place(own)
    for text in (TEXT, GERMAN[1], TEXT):
        own.translate(text)
    assert len(hashed) == 2


@pytest.mark.heavy
@pytest.mark.parametrize("is_plain", [False, True], ids=["compiled", "plain"])
def test_noticing_a_change_costs_little_next_to_a_translation(
    is_plain: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PLAIN_VARIABLE, str(int(is_plain)))
    translator = Translator.load(device="cpu")

    def seconds(act: Callable[[], object]) -> float:
        def once() -> float:
            began = time.process_time()
            act()
            return time.process_time() - began

        act()
        return min(once() for _ in range(5))

    assert (
        seconds(lambda: translator.digest)
        < seconds(lambda: translator.translate("Zwei Hunde spielen im Schnee.")) / 4
    )


# --- results of another model ---------------------------------------------------------------------


@pytest.mark.parametrize("read", first_quick(READERS.values()), ids=READERS)
def test_the_result_of_a_model_with_other_vocabularies_is_refused(
    word_translator: Translator,
    subword_translator: Translator,
    read: Callable[[Translator, Translation], Any],
) -> None:
    for one, other in (
        (word_translator, subword_translator),
        (subword_translator, word_translator),
    ):
        for foreign in (other.translate(TEXT), read_given(other, TEXT, ENGLISH[0])):
            with pytest.raises(AnalysisError, match="other vocabularies") as caught:
                read(one, foreign)
            assert one.name in str(caught.value)


def test_the_parts_of_a_word_by_a_model_with_other_vocabularies_are_refused(
    word_translator: Translator, subword_translator: Translator
) -> None:
    parts = word_parts(subword_translator, subword_translator.translate(TEXT), 1)
    for read in (encoder_parts, measure_parts):
        with pytest.raises(AnalysisError, match="other vocabularies"):
            read(word_translator, parts)


def test_vocabularies_of_other_sizes_are_others_even_where_the_tokens_agree(
    word_translator: Translator,
) -> None:
    codecs = copy.copy(word_translator.checkpoint.codecs)
    vocabulary = codecs.target.vocabulary
    target = copy.copy(codecs.target)
    target.vocabulary = replace(vocabulary, tokens=(*vocabulary.tokens, "zebra"))
    wider = replace(codecs, target=target)
    assert wider.vocabulary_digest != codecs.vocabulary_digest
    assert replace(codecs).vocabulary_digest == codecs.vocabulary_digest


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_with_the_same_vocabularies_its_tokens_are_read_under_the_given_model(
    word_translator: Translator, later: Translator, read: Callable[[Translator, Translation], Any]
) -> None:
    earlier = read_given(word_translator, TEXT, ENGLISH[0])
    translation = read(later, earlier)
    expected = read(later, read_given(later, TEXT, ENGLISH[0]))
    digest = getattr(translation, "model_digest", None)
    assert digest in (None, later.digest)
    numbers = list(numbers_in(expected))
    np.testing.assert_allclose(list(numbers_in(translation)), numbers, atol=1e-4)


def numbers_in(result: Any) -> Iterator[float]:
    """All numbers of a result, except those of the translation that it is about, and of the time it
    took."""
    if isinstance(result, int | float | np.number):
        yield float(result)
    elif isinstance(result, np.ndarray):
        yield from map(float, result.flat)
    elif isinstance(result, Mapping):
        yield from numbers_in(list(result.values()))
    elif isinstance(result, list | tuple):
        for member in result:
            yield from numbers_in(member)
    elif is_dataclass(result):
        names = {field.name for field in fields(result)} - {"translation", "seconds", "experiment"}
        yield from numbers_in([getattr(result, name) for name in sorted(names)])


@pytest.mark.parametrize("name", [name for name in READERS if not name.startswith(WITHOUT_DIGEST)])
def test_a_result_about_a_translation_names_the_model_that_computed_it(
    word_translator: Translator, name: str
) -> None:
    if name == "trace_translation":
        pytest.skip("its arrays are for other functions of the core")
    assert (
        READERS[name](word_translator, word_translator.translate(TEXT)).model_digest
        == word_translator.digest
    )


@pytest.mark.parametrize("measure", SAMPLES.values(), ids=SAMPLES)
def test_a_result_about_a_sample_names_its_model(
    word_translator: Translator, measure: Callable[[Translator], Any]
) -> None:
    assert measure(word_translator).model_digest == word_translator.digest


def test_an_original_of_another_model_is_computed_again(
    word_translator: Translator, later: Translator
) -> None:
    experiment = Experiment(TEXT, interventions=(HeadScaled(HEAD),))
    own = word_translator.compare(experiment)
    comparison = word_translator.compare(experiment, original=own.original)
    assert comparison.original is own.original
    other = later.compare(experiment, original=own.original)
    assert other.original.model_digest == later.digest
    assert other.original.log_probabilities == pytest.approx(
        later.translate(TEXT).log_probabilities, abs=1e-5
    )


def test_a_guess_by_another_model_changes_nothing(
    word_translator: Translator, subword_translator: Translator
) -> None:
    expected = word_translator.translate(TEXT)
    draft = subword_translator.translate(TEXT)
    assert (
        word_translator.run(Experiment(TEXT), draft=draft).predicted_ids == expected.predicted_ids
    )
