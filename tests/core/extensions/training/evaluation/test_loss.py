"""The loss on a corpus: token by token, and as the published curve counts it."""

import math
from pathlib import Path

import pytest
import torch

from augenmerk.core.config import ModelConfig
from augenmerk.core.extensions.training.corpora.batches import Batch, collate
from augenmerk.core.extensions.training.corpora.prepared import EncodedPairs
from augenmerk.core.extensions.training.evaluation import CorpusLoss, corpus_loss, reference_loss
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.translation.translator import Translator
from tests.core.translators import read_given

PAIRS = EncodedPairs(
    [[2, 5, 3], [2, 6, 7, 8, 3], [2, 4, 3]], [[2, 8, 9, 9, 5, 4, 3], [2, 5, 3], [2, 9, 6, 3]]
)
BATCHES = [[0, 1], [2]]
CONFIG = ModelConfig(
    width=16,
    num_heads=2,
    num_encoder_layers=1,
    num_decoder_layers=1,
    feed_forward_width=16,
    dropout=0.5,
)


@pytest.fixture
def model() -> Transformer:
    torch.manual_seed(1)
    return Transformer(CONFIG, 10, 10, padding_id=1)


def batches(pad_to: int | None = None) -> list[Batch]:
    return [collate(PAIRS, indices, 1, pad_to) for indices in BATCHES]


def loss_of_pair(model: Transformer, index: int) -> float:
    """Minus the log-probabilities of one pair's target tokens, summed; one pair at a time, nothing
    padded.
    """
    model.eval()
    source, target = torch.tensor([PAIRS.source[index]]), torch.tensor([PAIRS.target[index]])
    with torch.no_grad():
        probabilities = model(source, target[:, :-1]).logits[0].softmax(dim=-1)
    return -sum(
        math.log(probabilities[row, token]) for row, token in enumerate(target[0, 1:].tolist())
    )


def test_each_token_weighs_the_same_and_each_batch_weighs_the_same(model: Transformer) -> None:
    sums = [loss_of_pair(model, index) for index in range(3)]
    loss = corpus_loss(model, batches())
    assert loss.num_tokens == 6 + 2 + 3
    assert loss.token_weighted == pytest.approx(sum(sums) / 11, rel=1e-5)
    assert loss.batch_mean == pytest.approx(((sums[0] + sums[1]) / 8 + sums[2] / 3) / 2, rel=1e-5)
    assert loss.token_weighted != pytest.approx(loss.batch_mean, rel=1e-5)


def test_padding_counts_for_nothing(model: Transformer) -> None:
    plain, padded = corpus_loss(model, batches()), corpus_loss(model, batches(pad_to=30))
    assert padded.token_weighted == pytest.approx(plain.token_weighted, rel=1e-5)
    assert padded.batch_mean == pytest.approx(plain.batch_mean, rel=1e-5)


@pytest.mark.parametrize("is_training", [True, False])
def test_there_is_no_dropout_and_the_mode_is_as_before(
    model: Transformer, is_training: bool
) -> None:
    model.train(is_training)
    state = torch.get_rng_state()
    assert corpus_loss(model, batches()) == corpus_loss(model, batches())
    assert model.training is is_training
    assert torch.equal(torch.get_rng_state(), state), (
        "a validation changes nothing of the training after it"
    )


def test_no_gradient_is_left(model: Transformer) -> None:
    corpus_loss(model, batches())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_perplexity_is_the_exponential_of_the_token_weighted_loss() -> None:
    assert CorpusLoss(1.671, 1.7, 10, 2).perplexity == pytest.approx(5.317, abs=1e-3)
    assert math.isfinite(CorpusLoss(1e6, 1e6, 1, 1).perplexity)


def test_the_loss_of_references_is_minus_the_mean_log_probability_of_their_tokens(
    untrained_checkpoint: Path,
) -> None:
    translator = Translator.load(untrained_checkpoint, "cpu")
    sources, references = (
        ["ein mann .", "zwei hunde laufen ."],
        ["a man .", "two dogs are running ."],
    )
    forced = [read_given(translator, *pair) for pair in zip(sources, references, strict=True)]
    tokens = [value for translation in forced for value in translation.log_probabilities]
    loss, _ = reference_loss(translator, sources, references)
    assert loss is not None
    assert loss.num_tokens == len(tokens)
    assert loss.token_weighted == pytest.approx(-sum(tokens) / len(tokens), abs=1e-4)


def test_pairs_that_the_model_has_no_room_for_are_left_out_of_the_loss(
    untrained_checkpoint: Path,
) -> None:
    translator = Translator.load(untrained_checkpoint, "cpu")
    long = " ".join(["hund"] * translator.run_config.model.max_positions)
    alone, _ = reference_loss(translator, ["ein hund ."], ["a dog ."])
    assert reference_loss(translator, ["ein hund .", long, "zwei"], ["a dog .", "a", long]) == (
        alone,
        [1, 2],
    )
    assert reference_loss(translator, [long], [long]) == (None, [0])
