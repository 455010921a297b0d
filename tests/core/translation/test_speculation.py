"""Whatever the draft, each token is the best one of its row in the pass that describes the
result."""

import gzip
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from augenmerk.core.inference.compiled import (
    PLAIN_VARIABLE,
    CachedState,
    CompiledTransformer,
    Decoder,
)
from augenmerk.core.inference.products import has_half_matrices
from augenmerk.core.model.heads import ATTENTION_KINDS, networks_of
from augenmerk.core.translation import decoding
from augenmerk.core.translation.compilation import CompiledExperiment
from augenmerk.core.translation.decoding import (
    DecodeRequest,
    TargetPass,
    forbidding,
    greedy_search,
    verified_greedy,
)
from augenmerk.core.translation.experiment import (
    CausalMaskLifted,
    Experiment,
    FeedForwardScaled,
    Greedy,
    HeadScaled,
)
from augenmerk.core.translation.result import TranslationStoppedError
from augenmerk.core.translation.translator import Translator
from tests.core.model.small_models import KINDS, NUM_SOURCE, NUM_TARGET, make_model, random_ids
from tests.core.translation.random_experiments import ValuesForModel, random_experiment
from tests.core.translation.random_models import MODELS, all_heads, make_translator

NEAR_TIE = 1e-4
NUM_EXPERIMENTS = 12


@pytest.fixture(autouse=True)
def compiled_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain models make no guesses, and keep no encoding."""
    monkeypatch.delenv(PLAIN_VARIABLE, raising=False)


def decode(
    translator: Translator,
    compiled: Sequence[CompiledExperiment],
    drafts: Sequence[Sequence[int]],
    **options,
):
    model = translator.current_model()
    encoding = translator.runner.encode(model, compiled, need_maps=False)
    requests = [
        DecodeRequest(experiment.max_steps, experiment.forced, draft)
        for experiment, draft in zip(compiled, drafts, strict=True)
    ]
    return verified_greedy(model, encoding, requests, translator.rules, **options)


def plainly(translator: Translator, compiled: CompiledExperiment) -> list[int]:
    model = translator.current_model()
    encoding = translator.runner.encode(model, [compiled], need_maps=False)
    return greedy_search(
        model, encoding, [compiled.max_steps], translator.rules, forced=[compiled.forced]
    )[0]


def allowed_rows(
    translator: Translator, compiled: CompiledExperiment, target_pass: TargetPass
) -> Tensor:
    """Logits [T, V] of the pass; minus infinity where a token may not be chosen."""
    logits = target_pass.output.logits[target_pass.row, : len(target_pass.ids)]
    rows = forbidding(translator.model, translator.rules, logits).applied_to(logits[None])[0]
    for step, token in compiled.forced.items():
        if step < len(rows):
            rows[step] = -torch.inf
            rows[step, token] = 0
    return rows


def assert_fixed_point(
    translator: Translator, compiled: CompiledExperiment, target_pass: TargetPass
) -> None:
    assert (
        allowed_rows(translator, compiled, target_pass).argmax(dim=-1).tolist() == target_pass.ids
    )
    ends = [token == translator.rules.end_id for token in target_pass.ids]
    assert not any(ends[:-1])
    assert ends[-1] or len(target_pass.ids) == compiled.max_steps


def is_same_to_a_near_tie(rows: Tensor, ids: Sequence[int], plain: Sequence[int]) -> bool:
    """Whether all tokens are the same (True), or all before the first step whose two best are
    almost equal (False)."""
    best = rows.topk(2).values
    for mine, other, (first, second) in zip(ids, plain, best.tolist(), strict=False):
        if mine != other:
            assert first - second <= NEAR_TIE
            return False
    assert len(ids) == len(plain)
    return True


def greedy_experiment(translator: Translator, generator: random.Random) -> Experiment:
    """A random one for the model, greedy whatever was drawn."""
    drawn = random_experiment(generator, ValuesForModel(translator))
    return replace(
        drawn,
        output=Greedy(),
        interventions=tuple(
            intervention
            for intervention in drawn.interventions
            if not isinstance(intervention, CausalMaskLifted)
        ),
    )


def drafts_like(ids: Sequence[int], num_tokens: int, generator: random.Random) -> list[list[int]]:
    """Right, wrong in one place, cut, with a token too many or too few, noise, nothing."""
    position, token = generator.randrange(len(ids)), generator.randrange(num_tokens)
    return [
        list(ids),
        [*ids[:position], token, *ids[position + 1 :]],
        list(ids[:position]),
        [*ids[:position], *ids[position + 1 :]],
        [*ids[:position], token, *ids[position:]],
        [*ids, *ids],
        [generator.randrange(num_tokens) for _ in range(30)],
        [],
    ]


@pytest.mark.heavy
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.slow
def test_the_draft_changes_nothing(name: str) -> None:
    translator, generator, num_near_ties = make_translator(name), random.Random(name), 0
    num_tokens = translator.model.output.out_features
    for _ in range(NUM_EXPERIMENTS):
        experiment = greedy_experiment(translator, generator)
        compiled = translator.compile(experiment)
        plain = plainly(translator, compiled)
        drafts = drafts_like(plain, num_tokens, generator)
        alone = [decode(translator, [compiled], [draft])[0] for draft in drafts]
        together = decode(translator, [compiled] * len(drafts), drafts)
        for target_pass in [*alone, *together]:
            assert_fixed_point(translator, compiled, target_pass)
            rows = allowed_rows(translator, compiled, target_pass)
            num_near_ties += not is_same_to_a_near_tie(rows, target_pass.ids, plain)
    assert num_near_ties <= 2


@pytest.mark.heavy
def test_different_sentences_side_by_side() -> None:
    translator, generator = make_translator("words, post-norm, learned positions"), random.Random(3)
    experiments = [greedy_experiment(translator, generator) for _ in range(9)]
    compiled = [translator.compile(experiment) for experiment in experiments]
    plain = [plainly(translator, experiment) for experiment in compiled]
    drafts = [
        draft for experiment in plain for draft in drafts_like(experiment, 20, generator)[1:2]
    ]
    for experiment, target_pass, expected in zip(
        compiled, decode(translator, compiled, drafts), plain, strict=True
    ):
        assert_fixed_point(translator, experiment, target_pass)
        assert target_pass.ids == expected


@pytest.fixture(scope="module")
def bundled() -> Translator:
    return Translator.load(None, "cpu")


def passes_and_steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What compiled models compute from here on."""
    seen: list[str] = []
    for name, kind in (("read_all", "pass"), ("guess", "step")):
        real = getattr(CachedState, name)

        def noticing(state: CachedState, *args, real=real, kind=kind, **options):
            seen.append(kind)
            return real(state, *args, **options)

        monkeypatch.setattr(CachedState, name, noticing)
    return seen


@pytest.mark.heavy
def test_a_right_draft_takes_one_pass_and_no_step(
    bundled: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    translation = bundled.translate("Zwei Hunde spielen im Schnee.")
    seen = passes_and_steps(monkeypatch)
    again = bundled.run(translation.experiment, draft=translation)
    assert seen == ["pass"]
    assert again.predicted_ids == translation.predicted_ids
    assert again.log_probabilities == translation.log_probabilities
    seen.clear()
    bundled.run(translation.experiment)
    assert seen == ["step"] * len(translation.predicted_ids) + ["pass"]


@pytest.mark.heavy
def test_a_new_draft_goes_on_like_the_old_one(
    bundled: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = bundled.translate(
        "Ein Mann in einem blauen Hemd steht auf einer Leiter und putzt ein Fenster."
    )
    new = "Eine Frau in einem blauen Hemd steht auf einer Leiter und putzt ein Fenster."
    expected = bundled.translate(new)
    seen = passes_and_steps(monkeypatch)
    assert bundled.run(expected.experiment, draft=old).predicted_ids == expected.predicted_ids
    assert seen.count("step") <= 4
    assert seen.count("pass") <= 3


def test_comparing_drafts_with_the_original(
    bundled: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = bundled.translate("Zwei Hunde spielen im Schnee.")
    heads = [HeadScaled(head) for head in all_heads(bundled)[:1]]
    seen = passes_and_steps(monkeypatch)
    comparison = bundled.compare(original.experiment.with_interventions(*heads), original=original)
    assert comparison.changed.predicted_ids == original.predicted_ids
    assert seen == ["pass"]


def encodings(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each pass of the encoder of a compiled model from here on, whether it yields maps."""
    seen: list[bool] = []
    real = CompiledTransformer.encode

    def noticing(model: CompiledTransformer, *args, need_maps: bool = False, **options):
        seen.append(need_maps)
        return real(model, *args, need_maps=need_maps, **options)

    monkeypatch.setattr(CompiledTransformer, "encode", noticing)
    return seen


@pytest.mark.slow
@pytest.mark.heavy
def test_what_leaves_the_encoder_as_it_is_takes_its_last_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "words, post-norm, learned positions"
    translator, generator = make_translator(name), random.Random(5)
    plain = greedy_experiment(translator, generator).baseline
    seen = encodings(monkeypatch)
    translator.score(translator.run(plain), plain)
    assert seen == [True]
    translator.run(replace(plain, source_text=f"{plain.source_text} {plain.source_text}"))
    assert seen == [True, True], "another source"
    translator.score(translator.run(plain), plain)
    assert seen == [True, True, True]
    heads = [HeadScaled(head) for head in all_heads(translator) if head.head == 0]
    for change in (*heads, *map(FeedForwardScaled, networks_of(translator.model.config))):
        changed = plain.with_interventions(change)
        seen.clear()
        translation = translator.run(changed)
        assert seen == ([True] if change.part.side == "encoder" else []), change
        expected = make_translator(name).run(changed)
        assert translation.predicted_ids == expected.predicted_ids
        assert translation.log_probabilities == pytest.approx(expected.log_probabilities, abs=1e-5)
        for kind in ATTENTION_KINDS:
            assert translation.maps.of_kind(kind) == pytest.approx(
                expected.maps.of_kind(kind), abs=1e-6
            )
    seen.clear()
    translator.run(plain)
    assert seen == [], "changes of the encoder do not replace it"


def test_an_encoding_without_maps_serves_no_result_with_maps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    translator = make_translator("words, post-norm, learned positions")
    plain = greedy_experiment(translator, random.Random(5)).baseline
    known = make_translator("words, post-norm, learned positions").run(plain)
    seen = encodings(monkeypatch)
    translator.score(known, plain)
    translation = translator.run(plain)
    assert seen == [False, True]
    assert translation.maps.encoder == pytest.approx(known.maps.encoder, abs=1e-6)


def test_tokens_of_another_vocabulary_are_no_draft(bundled: Translator) -> None:
    plain = bundled.translate("Zwei Hunde spielen im Schnee.")
    for wrong in (8000, -1):
        other = replace(plain, predicted_ids=(*plain.predicted_ids[:2], wrong, 3))
        assert bundled.run(plain.experiment, draft=other).predicted_ids == plain.predicted_ids


def test_it_can_be_stopped_before_the_pass_and_at_each_step(bundled: Translator) -> None:
    translation = bundled.translate("Zwei Hunde spielen im Schnee.")
    for draft in (None, translation):
        with pytest.raises(TranslationStoppedError):
            bundled.run(translation.experiment, draft=draft, should_stop=lambda: True)
    answers = iter([False, False, True])
    with pytest.raises(TranslationStoppedError):
        bundled.run(translation.experiment, should_stop=lambda: next(answers))


def test_passes_that_differ_by_rounding_end_all_the_same(
    bundled: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Near-ties that flip with the length of the pass: from then on all passes are of one
    length."""
    compiled = bundled.compile(Experiment("Zwei Hunde spielen im Schnee."))
    expected = decode(bundled, [compiled], [()])[0].ids
    real, lengths = decoding._pass, []

    def flipping(state, sentences, rules, forbidden, need_maps, longest, *others):
        output, best = real(state, sentences, rules, forbidden, need_maps, longest, *others)
        lengths.append(output.logits.size(1))
        if not longest and len(best[0]) > 3:
            best[0][3] = 5 + len(lengths) % 2
        return output, best

    monkeypatch.setattr(decoding, "_pass", flipping)
    target_pass = decode(bundled, [compiled], [expected])[0]
    assert target_pass.ids == expected
    assert lengths[-1] == compiled.max_steps
    assert len(lengths) < 8


@pytest.mark.heavy
def test_only_rows_after_the_first_wrong_token_are_computed_again(
    bundled: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = bundled.compile(Experiment("Zwei Hunde spielen im Schnee."))
    (expected,) = decode(bundled, [compiled], [()], need_maps=True)
    (whole,) = decode(bundled, [compiled], [expected.ids], need_maps=True)
    nums_rows, read = [], Decoder.read

    def count(decoder, states, state, mask, need_maps):
        if need_maps:
            nums_rows.append(states.size(1))
        return read(decoder, states, state, mask, need_maps)

    monkeypatch.setattr(Decoder, "read", count)
    draft = [*expected.ids[:4], expected.ids[4] + 1, *expected.ids[5:]]
    (parts,) = decode(bundled, [compiled], [draft], need_maps=True)
    assert nums_rows == [len(draft), len(expected.ids) - 5]
    assert parts.ids == expected.ids
    for name in ("logits", "decoder_maps", "cross_maps"):
        actual, wanted = getattr(parts.output, name), getattr(whole.output, name)
        torch.testing.assert_close(actual, wanted, rtol=0, atol=1e-4)


@pytest.mark.skipif(not has_half_matrices(), reason="needs a processor with AVX2 and FBGEMM")
@pytest.mark.parametrize("kind", KINDS)
@torch.inference_mode()
def test_weights_of_32_bits_are_guessed_with_in_16(kind: str) -> None:
    model = CompiledTransformer(make_model(KINDS[kind]))
    assert model.guessing is not model.decoder
    encoding = model.encode(random_ids(2, 9, NUM_SOURCE))
    mine, other = model.start_decoding(encoding, 6), model.start_decoding(encoding, 6)
    for tokens in random_ids(2, 6, NUM_TARGET).unbind(1):
        exact, guessed = mine.read(tokens), other.guess(tokens)
        assert 0 < (exact - guessed).abs().max() < 0.05 * exact.std()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_fixed_point_on_2000_sentences(bundled: Translator, multi30k_folder: Path) -> None:
    """Drafts: none, the translation of the sentence before, and its own with a head off."""
    names = ("test_2016_flickr.de.gz", "val.de.gz")
    texts = [gzip.decompress((multi30k_folder / name).read_bytes()).decode() for name in names]
    lines = "".join(texts).splitlines()[:2000]
    generator, heads, num_near_ties, before = random.Random(0), all_heads(bundled), 0, []
    for first in range(0, len(lines), 16):
        experiments = [Experiment(line) for line in lines[first : first + 16]]
        compiled = [bundled.compile(experiment) for experiment in experiments]
        model = bundled.current_model()
        encoding = bundled.runner.encode(model, compiled, need_maps=False)
        limits = [experiment.max_steps for experiment in compiled]
        plain = greedy_search(model, encoding, limits, bundled.rules)
        off = [
            bundled.compile(experiment.with_interventions(HeadScaled(generator.choice(heads))))
            for experiment in experiments
        ]
        without = [target_pass.ids for target_pass in decode(bundled, off, plain)]
        for drafts in ([()] * len(plain), [*before, *plain][: len(plain)], without):
            passes = decode(bundled, compiled, drafts)
            for experiment, one, expected in zip(compiled, passes, plain, strict=True):
                assert_fixed_point(bundled, experiment, one)
                rows = allowed_rows(bundled, experiment, one)
                num_near_ties += not is_same_to_a_near_tie(rows, one.ids, expected)
        before = plain
    print(f"near-ties that fell another way: {num_near_ties} of {3 * len(lines):,} translations")
    assert num_near_ties <= 3 * len(lines) // 1000
