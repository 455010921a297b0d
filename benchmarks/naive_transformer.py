"""`notebook` as naive eager code, like its source: the reference for our training step.

It has separate projections of queries, keys and values, always computes attention weights, sends
every position including padding through the output layer, and uses PyTorch's own dropout and Adam
without `fused` or `foreach`. Shape legend: `core.model`.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from augenmerk.core.extensions.training.corpora.batches import Batch

NUM_SOURCE, NUM_TARGET, PADDING = 7853, 5893, 1
WIDTH = 256
HEADS = 8
LAYERS = 3
INNER = 512
POSITIONS = 100
DROPOUT = 0.1


class NaiveTrainer:
    """Model, Adam and criterion on `device`; `step` is one optimizer step."""

    def __init__(self, device: str = "cpu") -> None:
        torch.manual_seed(0)
        self.device = device
        self.model = NaiveTransformer()
        for parameter in self.model.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
        self.model.to(device).train()
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=5e-4, foreach=False, fused=False
        )
        self.criterion = nn.CrossEntropyLoss(ignore_index=PADDING)

    def step(self, batch: Batch) -> float:
        """Take one optimizer step and return the mean loss over the batch's tokens."""
        batch = batch.to(torch.device(self.device))
        self.optimizer.zero_grad()
        logits = self.model(batch.source, batch.target[:, :-1])
        loss = self.criterion(logits.reshape(-1, logits.size(-1)), batch.target[:, 1:].reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return float(loss.item())


class NaiveTransformer(nn.Module):
    """Encoder, decoder and output layer."""

    def __init__(self) -> None:
        super().__init__()
        self.source_embedding, self.target_embedding = (
            _Embedding(NUM_SOURCE),
            _Embedding(NUM_TARGET),
        )
        self.encoder = nn.ModuleList(_EncoderLayer() for _ in range(LAYERS))
        self.decoder = nn.ModuleList(_DecoderLayer() for _ in range(LAYERS))
        self.output = nn.Linear(WIDTH, NUM_TARGET)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Logits [B, T, V] for the ids [B, S] and [B, T]."""
        source_mask = (source != PADDING).unsqueeze(1).unsqueeze(2)
        causal = torch.tril(torch.ones(target.size(1), target.size(1), device=target.device)).bool()
        target_mask = (target != PADDING).unsqueeze(1).unsqueeze(2) & causal
        memory = self.source_embedding(source)
        for layer in self.encoder:
            memory = layer(memory, source_mask)
        states = self.target_embedding(target)
        for layer in self.decoder:
            states = layer(states, memory, target_mask, source_mask)
        logits: Tensor = self.output(states)
        return logits


class _Embedding(nn.Module):
    def __init__(self, num_tokens: int) -> None:
        super().__init__()
        self.tokens, self.positions = (
            nn.Embedding(num_tokens, WIDTH),
            nn.Embedding(POSITIONS, WIDTH),
        )
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, ids: Tensor) -> Tensor:
        places = torch.arange(ids.size(1), device=ids.device).unsqueeze(0).repeat(ids.size(0), 1)
        states: Tensor = self.dropout(self.tokens(ids) * math.sqrt(WIDTH) + self.positions(places))
        return states


class _Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.out = nn.Linear(WIDTH, WIDTH)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, queries: Tensor, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """[B, Q, D] and the weights [B, H, Q, M]."""
        size = queries.size(0)
        query, key, value = (
            layer(states).view(size, -1, HEADS, WIDTH // HEADS).permute(0, 2, 1, 3)
            for layer, states in ((self.query, queries), (self.key, memory), (self.value, memory))
        )
        scores = torch.matmul(query, key.permute(0, 1, 3, 2)) / math.sqrt(WIDTH // HEADS)
        weights = torch.softmax(scores.masked_fill(mask == 0, -1e10), dim=-1)
        mixed = torch.matmul(self.dropout(weights), value).permute(0, 2, 1, 3).contiguous()
        return self.out(mixed.view(size, -1, WIDTH)), weights


class _FeedForward(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.expand, self.contract = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, states: Tensor) -> Tensor:
        inner: Tensor = self.contract(self.dropout(functional.relu(self.expand(states))))
        return inner


class _EncoderLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention, self.feed_forward = _Attention(), _FeedForward()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        attended, _ = self.attention(states, states, mask)
        states = self.norms[0](states + self.dropout(attended))
        output: Tensor = self.norms[1](states + self.dropout(self.feed_forward(states)))
        return output


class _DecoderLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.self_attention, self.cross_attention, self.feed_forward = (
            _Attention(),
            _Attention(),
            _FeedForward(),
        )
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))
        self.dropout = nn.Dropout(DROPOUT)

    def forward(
        self, states: Tensor, memory: Tensor, target_mask: Tensor, source_mask: Tensor
    ) -> Tensor:
        attended, _ = self.self_attention(states, states, target_mask)
        states = self.norms[0](states + self.dropout(attended))
        attended, _ = self.cross_attention(states, memory, source_mask)
        states = self.norms[1](states + self.dropout(attended))
        output: Tensor = self.norms[2](states + self.dropout(self.feed_forward(states)))
        return output
