"""A training step of `notebook` against naive eager code and `torch.nn.Transformer`; what feeding
it costs.

What was tried on the step, first on 128 pairs of 11 to 15 words, on one core of an AMD EPYC, family
26 (AVX-512), and what it gave in CPU seconds:

- matrix products, two thirds of the step, by oneDNN instead of MKL, which keeps to AVX2 on
  processors that are not Intel's (`core.extensions.training.kernels`): 1.01 → 0.69;
- log-sum-exp and softmax of the logits from one exponential instead of two: a twentieth of the
  step;
- the output layer in chunks of 256 rows, without padding; one projection for queries, keys and
  values; fused Adam; one random number for four elements of dropout: these are older, and together
  took the step from 1.22 to 1.01;
- micro-batches of similar lengths (`regrouped`), on sentences as long as those of Multi30k: 1.4
  times as fast with AVX-512, 1.6 times with AVX2.

CPU seconds a step of such sentences on that processor with one thread: naive eager code 1.87, ours
0.56 (3.3 times as fast); with AVX2 only 1.92 and 0.95 (2.0 times). With two threads, next to other
programs, ours is 1.84 times as fast as either. On an NVIDIA H100, by CUDA graphs in bfloat16, a
step takes 6.2 ms and naive eager code in 32 bits 31.9 ms (5.1 times).
"""

import math
import random
import time
from dataclasses import replace

import torch
from torch import Tensor, nn

from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.batches import Batch, collate, training_batches
from augenmerk.core.extensions.training.corpora.parallel import SentencePairs
from augenmerk.core.extensions.training.corpora.prepared import EncodedPairs, PreparedCorpus
from augenmerk.core.extensions.training.session import TrainingSession
from augenmerk.core.text.codec import CodecPair
from augenmerk.core.text.vocabulary import SPECIALS, Vocabulary
from benchmarks.naive_transformer import NUM_SOURCE, NUM_TARGET, PADDING, NaiveTrainer
from benchmarks.ratio import Ratio, paired_medians

BATCHES = 4
FEEDING_SHARE = 0.02


def run() -> list[Ratio]:
    """The ratios in CPU seconds, on as many threads as torch takes by itself."""
    corpus = made_up_corpus()
    session = TrainingSession(preset("notebook"), corpus, "cpu")
    batches = [
        collate(corpus.train, range(n * 128, (n + 1) * 128), PADDING) for n in range(BATCHES)
    ]
    ratios = []
    others: list[tuple[str, NaiveTrainer | TorchTrainer, float, float]] = [
        ("naive eager code", NaiveTrainer(), 1.6, 2.0),
        ("torch.nn.Transformer", TorchTrainer(), 1.4, 1.7),
    ]
    for name, other, required, aim in others:
        ours_seconds, other_seconds = (
            seconds / BATCHES
            for seconds in paired_medians(
                lambda: [session.step([batch]) for batch in batches],
                lambda other=other: [other.step(batch) for batch in batches],  # type: ignore[misc]
                repeats=5,
                warmup=1,
            )
        )
        title = f"training step of notebook / {name}"
        ratios.append(Ratio(title, ours_seconds, other_seconds, required, aim, "CPU seconds"))
    ratios.append(feeding(corpus, ratios[0].ours_seconds))
    if torch.cuda.is_available():
        ratios.append(on_gpu(corpus, batches))
    return ratios


def on_gpu(corpus: PreparedCorpus, batches: list[Batch]) -> Ratio:
    """A step by CUDA graphs in mixed precision against naive code in 32 bits."""
    run = preset("notebook")
    training = run.training.replace(precision="auto")
    session = TrainingSession(replace(run, training=training), corpus, "cuda:0")
    other = NaiveTrainer("cuda:0")
    ours_seconds, other_seconds = (
        seconds / BATCHES
        for seconds in paired_medians(
            # each waits for its loss, and so for the GPU
            lambda: [session.step([batch]) for batch in batches],
            lambda: [other.step(batch) for batch in batches],
            repeats=50,
            warmup=10,
            clock=time.perf_counter,
        )
    )
    return Ratio(
        "training step of notebook, GPU / naive eager code", ours_seconds, other_seconds, 4.0, 6.0
    )


def feeding(corpus: PreparedCorpus, step_seconds: float) -> Ratio:
    """The share of sorting, shuffling and padding in a step."""
    training = preset("notebook").training
    epochs, num_batches = 5, 0
    began = time.process_time()
    for epoch in range(1, epochs + 1):
        for indices in training_batches(corpus.train, training, epoch):
            collate(corpus.train, indices, PADDING)
            num_batches += 1
    seconds = (time.process_time() - began) / num_batches
    return Ratio(
        "feeding a step of notebook / the step",
        seconds,
        step_seconds,
        1 / FEEDING_SHARE,
        100,
        "CPU seconds",
    )


def made_up_corpus() -> PreparedCorpus:
    """Random ids in random order, with lengths like those of Multi30k: half of a batch is
    padding.
    """
    numbers = random.Random(0)
    source = []
    target = []
    for _ in range(BATCHES * 128):
        source_length = min(44, max(1, round(numbers.lognormvariate(2.47, 0.32))))
        target_length = max(1, round(source_length + numbers.gauss(0.67, 2.2)))
        source.append([2, *(numbers.randrange(4, NUM_SOURCE) for _ in range(source_length)), 3])
        target.append([2, *(numbers.randrange(4, NUM_TARGET) for _ in range(target_length)), 3])
    pairs = EncodedPairs(source, target)
    data = preset("notebook").data
    vocabularies = [
        Vocabulary.with_specials([*SPECIALS, *(f"w{index}" for index in range(4, size))])
        for size in (NUM_SOURCE, NUM_TARGET)
    ]
    codecs = CodecPair.build(data, vocabularies[0], vocabularies[1], None)
    return PreparedCorpus("made up", data, codecs, pairs, pairs, SentencePairs((), ()))


class TorchTrainer:
    """The same architecture and step as its documentation would have one write it."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = TorchTransformer()
        self.model.train()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=5e-4)
        self.criterion = nn.CrossEntropyLoss(ignore_index=PADDING)

    def step(self, batch: Batch) -> float:
        """One optimizer step."""
        self.optimizer.zero_grad()
        logits = self.model(batch.source, batch.target[:, :-1])
        loss = self.criterion(logits.reshape(-1, logits.size(-1)), batch.target[:, 1:].reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return float(loss.detach())


class TorchTransformer(nn.Module):
    """`notebook` with `torch.nn.Transformer` inside."""

    def __init__(self) -> None:
        super().__init__()
        self.source_tokens, self.target_tokens = (
            nn.Embedding(NUM_SOURCE, 256),
            nn.Embedding(NUM_TARGET, 256),
        )
        self.source_positions, self.target_positions = (
            nn.Embedding(100, 256),
            nn.Embedding(100, 256),
        )
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
