"""An imported Marian model computes what Hugging Face transformers computes of the same files."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from augenmerk.core.checkpoint.file import save_checkpoint
from augenmerk.core.extensions.analyses.logit_attribution import logit_parts, word_parts
from augenmerk.core.extensions.analyses.logit_lens import logits_by_depth
from augenmerk.core.extensions.analyses.query_key import query_key_parts
from augenmerk.core.extensions.readers.importing import import_model
from augenmerk.core.model.heads import Head
from augenmerk.core.model.sites import PairPass, trace_sites
from augenmerk.core.translation.beam import beam_search
from augenmerk.core.translation.compilation import max_steps
from augenmerk.core.translation.decoding import greedy_search
from augenmerk.core.translation.experiment import Experiment, GivenTarget
from augenmerk.core.translation.translator import Translator
from tests.builders import first_quick
from tests.core.extensions.readers.marian_models import (
    ENGLISH,
    Made,
    add_tokens,
    as_the_library_reads,
    make_folder,
)
from tests.core.extensions.readers.pickles import pickles_read_here

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "as opus-mt": {},
    "one layer, relu": {"encoder_layers": 1, "decoder_layers": 1, "activation_function": "relu"},
    "six layers, gelu": {"encoder_layers": 6, "decoder_layers": 6, "activation_function": "gelu"},
    "deep encoder": {"encoder_layers": 5, "decoder_layers": 1, "scale_embedding": False},
    "deep decoder, silu": {"encoder_layers": 1, "decoder_layers": 4, "activation_function": "silu"},
    "separate vocabularies": {"separate": True},
    "separate, gelu, not scaled": {
        "separate": True,
        "activation_function": "gelu",
        "scale_embedding": False,
    },
    "separate, output untied": {"separate": True, "tie_word_embeddings": False},
    "all untied": {"tie_word_embeddings": False, "encoder_layers": 3},
    "16 heads": {"d_model": 64, "encoder_attention_heads": 16, "decoder_attention_heads": 16},
    "8 and 4 heads": {
        "encoder_attention_heads": 8,
        "decoder_attention_heads": 4,
        "encoder_layers": 3,
    },
    "4 and 16 heads, widths by side": {
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 16,
        "encoder_ffn_dim": 20,
        "decoder_ffn_dim": 90,
        "activation_function": "relu",
    },
    "gelu_new": {"activation_function": "gelu_new"},
    "pickled": {"file": "bin", "seed": 3},
    "added tokens": {"added": {"tokens": ["<new>", "Straße"], "special": ["[SEP]"]}},
    "added tokens, rows without one": {"added": {"tokens": ["<new>"], "multiple": 64}, "seed": 4},
    "added tokens, separate vocabularies": {
        "added": {"tokens": ["<new>", "Straße"]},
        "separate": True,
    },
    "half precision": {"dtype": torch.float16, "seed": 1},
    "half precision with rounded positions, pickled": {
        "dtype": torch.float16,
        "file": "bin",
        "seed": 2,
    },
}
NUM_SOURCES = 50


class Pair:
    """A model as the library reads it, and as it is after importing, saving and opening it."""

    def __init__(self, folder: Path, made: Made) -> None:
        with pickles_read_here():
            imported = import_model(made.folder)
        path = folder / "imported.safetensors"
        save_checkpoint(imported.checkpoint, path, half_precision=imported.half_precision)
        self.ours, self.theirs, self.made = Translator.load(path, "cpu"), made.model, made
        config = self.theirs.config
        self.padding, self.start, self.end = (
            config.pad_token_id,
            config.decoder_start_token_id,
            config.eos_token_id,
        )

    def random_rows(self, count: int, num_tokens: int, seed: int) -> list[list[int]]:
        """Of different lengths; special tokens only at the end."""
        generator = torch.Generator().manual_seed(seed)
        lengths = torch.randint(1, 14, (count,), generator=generator).tolist()
        rows = (
            torch.randint(2, num_tokens - 1, (length,), generator=generator).tolist()
            for length in lengths
        )
        return [
            [*(token if token != self.padding else 2 for token in row), self.end] for row in rows
        ]

    def sources(self) -> torch.Tensor:
        return _padded(
            self.random_rows(NUM_SOURCES, self.theirs.config.vocab_size, 7), self.padding
        )


def _padded(rows: list[list[int]], padding: int) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [padding] * (longest - len(row)) for row in rows])


@pytest.fixture(scope="module", params=first_quick(CONFIGURATIONS.values()), ids=CONFIGURATIONS)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    folder, settings = tmp_path_factory.mktemp("marian"), dict(request.param)
    added = settings.pop("added", None)
    model = make_folder(folder / "model", **settings)
    return Pair(
        folder,
        as_the_library_reads(
            model if added is None else add_tokens(model, folder / "more", **added)
        ),
    )


pytestmark = pytest.mark.heavy  # the library computes too


@pytest.fixture(params=[torch.float32, torch.float64], ids=["single", "double"])
def in_precision(request: pytest.FixtureRequest, pair: Pair) -> Iterator[float]:
    """The tolerance in that precision.

    In double nothing but another formula can make a difference.
    """
    for model in (pair.ours.model, pair.theirs):
        model.to(request.param)
    yield 1e-4 if request.param == torch.float32 else 1e-8
    for model in (pair.ours.model, pair.theirs):
        model.to(torch.float32)


@pytest.fixture
def in_double(pair: Pair) -> Iterator[None]:
    """Both in double precision: in single, rounding decides now and then between two translations
    that are as good."""
    for model in (pair.ours.model, pair.theirs):
        model.double()
    yield
    for model in (pair.ours.model, pair.theirs):
        model.float()


@torch.inference_mode()
def test_logits_and_all_maps_are_theirs(pair: Pair, in_precision: float) -> None:
    source = pair.sources()[:8]
    targets = pair.random_rows(8, pair.theirs.config.decoder_vocab_size, 8)
    read = _padded([[pair.start, *row[:-1]] for row in targets], pair.padding)
    expected = pair.theirs(
        source,
        attention_mask=source != pair.padding,
        decoder_input_ids=read,
        output_attentions=True,
    )
    output = pair.ours.model(source, read, need_maps=True)
    assert expected.logits.std() > 0.5
    for row, target in enumerate(targets):
        num_source, num_target = int((source[row] != pair.padding).sum()), len(target)
        theirs = expected.logits[row, :num_target]
        # these weights spread logits more than trained ones do, and rounding with them
        spread = float(theirs.std())
        tolerance = in_precision * max(1.0, spread)
        torch.testing.assert_close(
            output.logits[row, :num_target], theirs, rtol=in_precision, atol=tolerance
        )
        for ours, kind, queries, keys in (
            (output.encoder_maps, expected.encoder_attentions, num_source, num_source),
            (output.decoder_maps, expected.decoder_attentions, num_target, num_target),
            (output.cross_maps, expected.cross_attentions, num_target, num_source),
        ):
            maps = torch.stack([layer[row, :, :queries, :keys] for layer in kind])
            assert ours[row].shape[:2] == maps.shape[:2]
            torch.testing.assert_close(
                ours[row, :, :, :queries, :keys], maps, rtol=0, atol=in_precision
            )


@pytest.mark.usefixtures("in_double")
@torch.inference_mode()
def test_greedy_output_is_theirs_token_by_token(pair: Pair) -> None:
    sources = pair.sources()
    expected = pair.theirs.generate(
        sources, attention_mask=sources != pair.padding, num_beams=1
    ).tolist()
    ours = pair.ours
    limits = [max_steps(14, ours.run_config, ours.rules)] * len(sources)
    ends = ours.rules.forced_ends(limits, [{}] * len(limits))
    sentences = greedy_search(
        ours.model, ours.model.encode(sources), limits, ours.rules, forced=ends
    )
    assert limits[0] == 23  # max_length counts the start token
    for row, theirs in zip(sentences, expected, strict=True):
        assert row == _until_end(theirs[1:], pair.end)
        assert row[-1] == pair.end
        assert pair.padding not in row
        text = pair.made.tokenizer.decode(row, skip_special_tokens=True)
        assert ours.checkpoint.codecs.target.text_of(row) == text
    assert len({tuple(row) for row in sentences}) > 5  # the source matters


@pytest.mark.usefixtures("in_double")
@torch.inference_mode()
def test_beam_scores_are_theirs_without_a_length_penalty(pair: Pair) -> None:
    sources = pair.sources()[:16]
    expected = pair.theirs.generate(
        sources,
        attention_mask=sources != pair.padding,
        num_beams=4,
        length_penalty=0.0,
        early_stopping=True,
        return_dict_in_generate=True,
        output_scores=True,
    )
    ours = pair.ours
    limit = max_steps(14, ours.run_config, ours.rules)
    encoding = ours.model.encode(sources)
    hypotheses = beam_search(ours.model, encoding, [limit] * len(sources), ours.rules, 4, 0.0)
    for row, (tokens, theirs) in enumerate(
        zip(hypotheses, expected.sequences.tolist(), strict=True)
    ):
        score = float(expected.sequences_scores[row])
        assert _score(ours, sources[row : row + 1], tokens, limit) == pytest.approx(score, abs=1e-3)
        assert tokens == _until_end(theirs[1:], pair.end)


def _score(ours: Translator, source: torch.Tensor, tokens: list[int], limit: int) -> float:
    """The log-probability of a translation; that of an end that was forced does not count."""
    padding = ours.model.padding_id
    read = torch.tensor([[ours.rules.start_id, *tokens[:-1]]])
    logits = ours.model(source[:, source[0] != padding], read).logits[0].log_softmax(dim=-1)
    counted = tokens[:-1] if len(tokens) == limit else tokens
    return math.fsum(float(logits[step, token]) for step, token in enumerate(counted))


def _until_end(row: list[int], end: int) -> list[int]:
    return row[: row.index(end) + 1]


def test_values_inside_and_the_lens_are_those_of_the_library(
    pair: Pair, in_precision: float
) -> None:
    (source,) = pair.random_rows(1, pair.theirs.config.vocab_size, 11)
    (target,) = pair.random_rows(1, pair.theirs.config.decoder_vocab_size, 12)
    read = [pair.start, *target]
    with torch.inference_mode():
        theirs = pair.theirs(
            input_ids=torch.tensor([source]),
            decoder_input_ids=torch.tensor([read]),
            output_hidden_states=True,
            output_attentions=True,
        )
        expected = {"logits": theirs.logits}
        for side, states in (
            ("encoder", theirs.encoder_hidden_states),
            ("decoder", theirs.decoder_hidden_states),
        ):
            expected[f"{side}.embedding"], *after = states
            expected |= {
                f"{side}.{layer}.feed_forward.after": values for layer, values in enumerate(after)
            }
        for site_name, maps in (
            ("encoder.{}.self_attention.weight", theirs.encoder_attentions),
            ("decoder.{}.self_attention.weight", theirs.decoder_attentions),
            ("decoder.{}.cross_attention.weight", theirs.cross_attentions),
        ):
            expected |= {site_name.format(layer): values for layer, values in enumerate(maps)}
        mine = PairPass(pair.ours.model, source, read)
        traced = trace_sites(mine, expected)
        for site, values in expected.items():
            torch.testing.assert_close(
                traced[site], values, rtol=in_precision, atol=in_precision, msg=site
            )
        lens = [logits for depth, logits in logits_by_depth(mine) if depth.ends_layer]
        for ours, states in zip(lens, theirs.decoder_hidden_states, strict=True):
            logits = pair.theirs.lm_head(states) + pair.theirs.final_logits_bias
            torch.testing.assert_close(ours, logits[0], rtol=in_precision, atol=10 * in_precision)


def test_parts_explain_the_numbers_of_the_library(pair: Pair) -> None:
    translation = pair.ours.run(
        Experiment("ein hund läuft im schnee", GivenTarget("a dog runs in snow"))
    )
    vocabulary = pair.ours.checkpoint.codecs.target.vocabulary
    source = torch.tensor([translation.source_ids])

    def theirs(read: Sequence[int]) -> Any:
        with torch.inference_mode():
            return pair.theirs(
                input_ids=source,
                decoder_input_ids=torch.tensor([list(read)]),
                output_attentions=True,
            )

    expected = theirs(translation.read_ids)
    tolerance = 1e-4 * max(1.0, float(expected.logits.std()))
    for parts in logit_parts(pair.ours, translation):
        chosen, foil = (vocabulary.ids[entry.entry] for entry in (parts.chosen, parts.foil))
        lead = float(expected.logits[0, parts.step, chosen] - expected.logits[0, parts.step, foil])
        assert parts.difference == pytest.approx(lead, abs=tolerance)
        assert abs(parts.values.sum() - parts.difference) <= 1e-5 * np.abs(parts.values).sum()
    for kind, maps in (
        ("encoder", expected.encoder_attentions),
        ("decoder", expected.decoder_attentions),
        ("cross", expected.cross_attentions),
    ):
        row = query_key_parts(pair.ours, translation, Head(kind, len(maps) - 1, 1), 1)  # type: ignore[arg-type]
        weights = np.exp(row.scores - np.logaddexp.reduce(row.scores))
        np.testing.assert_allclose(weights, maps[-1][0, 1, 1, : len(weights)].numpy(), atol=1e-4)
        cell = row.of_cell(0)
        assert abs(cell.products.sum() - cell.total) <= 1e-5 * max(1.0, np.abs(cell.products).sum())
    codec = pair.ours.checkpoint.codecs.target
    compounds = (codec.encode_text(first + second) for first in ENGLISH for second in ENGLISH)
    word = next(
        words[0]
        for words in compounds
        if len(words) == 1 and len(words[0].ids) > 1 and not any(words[0].unknown)
    )
    foil_word = word_parts(pair.ours, translation, 0, word.text).foil_word
    forced = theirs([pair.start, *word.ids[:-1]]).logits[0].log_softmax(dim=-1)
    score = sum(float(forced[step, token]) for step, token in enumerate(word.ids))
    assert foil_word.token == word.text
    assert foil_word.log_probability == pytest.approx(score, abs=10 * tolerance)
