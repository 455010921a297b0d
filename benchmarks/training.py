"""A training step of `notebook` against the same model written with `torch.nn.Transformer`."""

import math
import random

import torch
from torch import Tensor, nn

from benchmarks.ratio import Ratio, paired_medians
from core.config import preset
from core.corpora.batches import Batch, collate
from core.corpora.parallel import SentencePairs
from core.corpora.prepared import EncodedPairs, PreparedCorpus
from core.text.codec import CodecPair
from core.text.vocabulary import SPECIALS, Vocabulary
from core.training.session import TrainingSession

NUM_SOURCE, NUM_TARGET, PADDING = 7853, 5893, 1
BATCHES = 4


def run() -> list[Ratio]:
    """The ratio in CPU seconds, on as many threads as torch takes by itself."""
    corpus = made_up_corpus()
    session = TrainingSession(preset("notebook"), corpus, "cpu")
    batches = [collate(corpus.train, range(n * 128, (n + 1) * 128), PADDING) for n in range(BATCHES)]
    other = NaiveTrainer()
    ours_seconds, other_seconds = paired_medians(
        lambda: [session.step([batch]) for batch in batches],
        lambda: [other.step(batch) for batch in batches],
        repeats=5,
        warmup=1,
    )
    name = "training step of notebook / torch.nn.Transformer"
    return [Ratio(name, ours_seconds / BATCHES, other_seconds / BATCHES, 1.1, 1.3, "CPU seconds")]


def made_up_corpus() -> PreparedCorpus:
    """Random ids in batches of like length, as bucketing gives them: 11 to 15 tokens and the wrapping."""
    numbers = random.Random(0)
    source, target = [], []
    for _ in range(BATCHES * 128):
        source.append([2, *(numbers.randrange(4, NUM_SOURCE) for _ in range(numbers.randint(11, 14))), 3])
        target.append([2, *(numbers.randrange(4, NUM_TARGET) for _ in range(numbers.randint(11, 15))), 3])
    pairs = EncodedPairs(source, target)
    data = preset("notebook").data
    vocabularies = [
        Vocabulary.with_specials([*SPECIALS, *(f"w{index}" for index in range(4, size))])
        for size in (NUM_SOURCE, NUM_TARGET)
    ]
    codecs = CodecPair.build(data, vocabularies[0], vocabularies[1], None)
    return PreparedCorpus("made up", data, codecs, pairs, pairs, SentencePairs((), ()))


class NaiveTrainer:
    """The same architecture and step as its documentation would have one write it."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = NaiveTransformer()
        self.model.train()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=5e-4)
        self.criterion = nn.CrossEntropyLoss(ignore_index=PADDING)

    def step(self, batch: Batch) -> float:
        """One optimiser step."""
        self.optimizer.zero_grad()
        logits = self.model(batch.source, batch.target[:, :-1])
        loss = self.criterion(logits.reshape(-1, logits.size(-1)), batch.target[:, 1:].reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return float(loss.detach())


class NaiveTransformer(nn.Module):
    """`notebook` with `torch.nn.Transformer` inside."""

    def __init__(self) -> None:
        super().__init__()
        self.source_tokens, self.target_tokens = nn.Embedding(NUM_SOURCE, 256), nn.Embedding(NUM_TARGET, 256)
        self.source_positions, self.target_positions = nn.Embedding(100, 256), nn.Embedding(100, 256)
        self.dropout = nn.Dropout(0.1)
        self.transformer = nn.Transformer(256, 8, 3, 3, 512, 0.1, batch_first=True)
        self.transformer.encoder.norm = self.transformer.decoder.norm = None
        self.output = nn.Linear(256, NUM_TARGET)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Logits [B, T, V]."""
        causal = torch.ones(target.size(1), target.size(1), dtype=torch.bool).triu(1)
        hidden = self.transformer(
            self._embed(source, self.source_tokens, self.source_positions),
            self._embed(target, self.target_tokens, self.target_positions),
            tgt_mask=causal,
            src_key_padding_mask=source == PADDING,
            tgt_key_padding_mask=target == PADDING,
            memory_key_padding_mask=source == PADDING,
        )
        return self.output(hidden)

    def _embed(self, ids: Tensor, tokens: nn.Embedding, positions: nn.Embedding) -> Tensor:
        places = torch.arange(ids.size(1)).unsqueeze(0)
        return self.dropout(tokens(ids) * math.sqrt(256) + positions(places))
