"""Models of JoeyNMT made in a moment: its modules written anew under their published names, in its
folders."""

import copy
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import Tensor, nn

from tests.core.extensions.readers.joeynmt_oracle import configuration
from tests.core.extensions.readers.marian_models import pieces_of, spm
from tests.core.extensions.readers.published import shaken

UNKNOWN, PADDING, START, END = range(4)
MARKS = ("<unk>", "<pad>", "<s>", "</s>")
SOURCE_WORDS = tuple(
    "ein mann hund steht läuft auf der straße und sieht viele kinder spielen im schnee .".split()
)
TARGET_WORDS = tuple(
    "a man dog stands runs on the street and sees many children play in snow .".split()
)
CODES = "#version: 0.2\nn d</w>\nu nd</w>\nm a\ni n</w>\ne in</w>\nma n\nman n</w>\n"


def _norm(width: int) -> nn.LayerNorm:
    return nn.LayerNorm(width, eps=1e-6)


class JoeyAttention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.k_layer, self.v_layer, self.q_layer, self.output_layer = (
            nn.Linear(width, width) for _ in range(4)
        )

    def forward(self, query: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        def split(states: Tensor) -> Tensor:
            return states.unflatten(1, (self.heads, -1)).transpose(0, 1)

        keys, values, queries = (
            split(self.k_layer(memory)),
            split(self.v_layer(memory)),
            split(self.q_layer(query)),
        )
        scores = queries @ keys.transpose(1, 2) / math.sqrt(keys.size(2))
        self.weights = (scores if mask is None else scores.masked_fill(~mask, -math.inf)).softmax(
            -1
        )
        return self.output_layer((self.weights @ values).transpose(0, 1).flatten(1))


class JoeyFeedForward(nn.Module):
    def __init__(self, width: int, inner: int, activation: nn.Module) -> None:
        super().__init__()
        self.layer_norm = _norm(width)
        self.pwff_layer = nn.Sequential(
            nn.Linear(width, inner),
            activation,
            nn.Identity(),
            nn.Linear(inner, width),
            nn.Identity(),
        )


class JoeyLayer(nn.Module):
    def __init__(self, stack: dict[str, Any], *, reads_source: bool) -> None:
        super().__init__()
        width, heads = stack["hidden_size"], stack["num_heads"]
        activation = {"relu": nn.ReLU(), "gelu": nn.GELU(), "swish": nn.SiLU()}[
            stack.get("activation", "relu")
        ]
        if reads_source:
            self.trg_trg_att, self.src_trg_att = (
                JoeyAttention(width, heads),
                JoeyAttention(width, heads),
            )
            self.x_layer_norm, self.dec_layer_norm = _norm(width), _norm(width)
        else:
            self.src_src_att, self.layer_norm = JoeyAttention(width, heads), _norm(width)
        self.feed_forward = JoeyFeedForward(width, stack["ff_size"], activation)
        self.is_pre, self.alpha, self.reads_source = (
            stack["layer_norm"] == "pre",
            stack.get("alpha", 1.0),
            reads_source,
        )

    def forward(
        self, states: Tensor, mask: Tensor | None = None, memory: Tensor | None = None
    ) -> Tensor:
        def sublayer(norm: nn.Module, transform: Any, states: Tensor) -> Tensor:
            output = transform(norm(states) if self.is_pre else states) + self.alpha * states
            return output if self.is_pre else norm(output)

        if self.reads_source:
            states = sublayer(
                self.x_layer_norm, lambda read: self.trg_trg_att(read, read, mask), states
            )
            states = sublayer(
                self.dec_layer_norm, lambda read: self.src_trg_att(read, memory, None), states
            )
        else:
            states = sublayer(
                self.layer_norm, lambda read: self.src_src_att(read, read, None), states
            )
        return sublayer(self.feed_forward.layer_norm, self.feed_forward.pwff_layer, states)


class JoeyPositions(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        table = torch.zeros(5000, width)
        angles = torch.arange(5000)[:, None].float() * torch.exp(
            torch.arange(0, width, 2) * -(math.log(10000) / width)
        )
        table[:, 0::2], table[:, 1::2] = angles.sin(), angles.cos()
        self.register_buffer("pe", table[None])


class JoeyStack(nn.Module):
    def __init__(self, stack: dict[str, Any], num_output: int | None = None) -> None:
        super().__init__()
        is_decoder = num_output is not None
        self.layers = nn.ModuleList(
            JoeyLayer(stack, reads_source=is_decoder) for _ in range(stack["num_layers"])
        )
        self.pe = JoeyPositions(stack["hidden_size"])
        if stack["layer_norm"] == "pre":
            self.layer_norm = _norm(stack["hidden_size"])
        if num_output is not None:
            self.output_layer = nn.Linear(stack["hidden_size"], num_output, bias=False)

    def run(self, states: Tensor, *others: Tensor) -> Tensor:
        states = states + self.pe.pe[0, : len(states)]
        for layer in self.layers:
            states = layer(states, *others)
        return self.layer_norm(states) if hasattr(self, "layer_norm") else states


class JoeyLookup(nn.Module):
    def __init__(self, count: int, embeddings: dict[str, Any]) -> None:
        super().__init__()
        self.lut = nn.Embedding(count, embeddings["embedding_dim"])
        self.scale = math.sqrt(embeddings["embedding_dim"]) if embeddings.get("scale") else 1.0

    def forward(self, ids: list[int]) -> Tensor:
        return self.lut(torch.tensor(ids)) * self.scale


class JoeyModel(nn.Module):
    """Of one sentence."""

    def __init__(self, settings: dict[str, Any], num_source: int, num_target: int) -> None:
        super().__init__()
        encoder, decoder = settings["encoder"], settings["decoder"]
        self.src_embed = JoeyLookup(num_source, encoder["embeddings"])
        tied = settings["tied_embeddings"]
        self.trg_embed = self.src_embed if tied else JoeyLookup(num_target, decoder["embeddings"])
        self.encoder, self.decoder = JoeyStack(encoder), JoeyStack(decoder, num_target)
        if settings["tied_softmax"]:
            self.decoder.output_layer.weight = self.trg_embed.lut.weight

    def forward(self, source: list[int], target: list[int]) -> Tensor:
        """Logits [T, V]."""
        memory = self.encoder.run(self.src_embed(source))
        mask = torch.ones(len(target), len(target), dtype=torch.bool).tril()
        return self.decoder.output_layer(self.decoder.run(self.trg_embed(target), mask, memory))

    def maps(self, side: str, name: str) -> Tensor:
        """[L, H, Q, K] of the last sentence."""
        return torch.stack([getattr(layer, name).weights for layer in getattr(self, side).layers])

    @torch.no_grad()
    def greedy(self, source: list[int], *, limit: int | None = None, least: int = 1) -> list[int]:
        tokens: list[int] = []
        for step in range(int(1.5 * len(source)) if limit is None else limit):
            logits = self(source, [START, *tokens])[-1]
            logits[START] = -math.inf
            if step < least:
                logits[END] = -math.inf
            tokens.append(int(logits.argmax()))
            if tokens[-1] == END:
                break
        return tokens

    @torch.no_grad()
    def beam(self, source: list[int], size: int, alpha: float) -> list[tuple[float, list[int]]]:
        """The finished hypotheses of its beam search with their scores, best first.

        As in `joeynmt.search.beam_search` of version 2.3: each step is scored with `alpha`, ended
        hypotheses stay in their places, and a place where one ended counts as finished ever after.
        """
        live, ended, is_finished = [(0.0, [START])], [], [False] * size
        for step in range(int(1.5 * len(source))):
            totals = []
            for total, read in live:
                log_probabilities = self(source, read)[-1].log_softmax(-1)
                log_probabilities[[START, PADDING, *([END] if step < 1 else [])]] = -math.inf
                totals.append(total + log_probabilities)
            penalty = ((5.0 + (step + 1)) / 6.0) ** alpha if alpha > 0 else 1.0
            scores, places = (torch.cat(totals) / penalty).topk(size)
            num_tokens = len(totals[0])
            live = [
                (score * penalty, [*live[index // num_tokens][1], index % num_tokens])
                for score, index in zip(scores.tolist(), places.tolist(), strict=True)
            ]
            is_last = step + 1 == int(1.5 * len(source))
            is_finished = [
                done or read[-1] == END or is_last
                for done, (_, read) in zip(is_finished, live, strict=True)
            ]
            for done, score, (_, read) in zip(is_finished, scores.tolist(), live, strict=True):
                if done and (
                    read.count(END) == 1 if read[-1] == END else is_last and END not in read
                ):
                    ended.append((score, read[1:]))
            if all(is_finished):
                break
        return sorted(ended, key=lambda hypothesis: hypothesis[0], reverse=True)


@dataclass(frozen=True)
class Made:
    """A folder, and what computes as JoeyNMT would."""

    folder: Path
    model: JoeyModel
    source: tuple[str, ...]
    target: tuple[str, ...]


def tokens_of(config: dict[str, Any], *, joint: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Vocabularies without special tokens."""
    side = config["data"]["src"]
    if side["level"] == "char":
        vocabularies = [
            tuple(dict.fromkeys("▁" + "".join(words))) for words in (SOURCE_WORDS, TARGET_WORDS)
        ]
    elif side.get("tokenizer_type") == "sentencepiece":
        vocabularies = [tuple(pieces_of(spm(side))[3::2]) for side in ("source", "target")]
    elif side.get("tokenizer_type") == "subword-nmt":
        letters = [piece for letter in "aeimnrsud" for piece in (letter, f"{letter}@@")]
        vocabularies = [("ein", "mann", "und", "ma@@", *letters)] * 2
    else:
        vocabularies = [SOURCE_WORDS, TARGET_WORDS]
    both = tuple(dict.fromkeys((*vocabularies[0], *vocabularies[1])))
    return (both, both) if joint else (vocabularies[0], vocabularies[1])


def make_folder(folder: Path, seed: int = 0, **settings: Any) -> Made:
    """Writes a whole model with random weights; `settings` as in `joeynmt_oracle`."""
    folder.mkdir(parents=True)
    config = configuration(folder, copy.deepcopy(settings))
    source, target = (
        (*MARKS, *tokens) for tokens in tokens_of(config, joint=settings.get("joint", False))
    )
    (folder / "config.yaml").write_text(
        yaml.safe_dump(config, allow_unicode=True), encoding="utf-8"
    )
    for name, side, tokens in (("src", "source", source), ("trg", "target", target)):
        (folder / f"{name}_vocab.txt").write_text(
            "".join(f"{token}\n" for token in tokens), encoding="utf-8"
        )
        if config["data"][name].get("tokenizer_type") == "sentencepiece":
            (folder / f"{name}.model").write_bytes(spm(side))
        elif config["data"][name].get("tokenizer_type") == "subword-nmt":
            (folder / f"{name}.codes").write_text(CODES, encoding="utf-8")
    model = JoeyModel(config["model"], len(source), len(target))
    shaken(model, seed)
    with torch.no_grad():
        model.decoder.output_layer.weight[END] *= 4
    save(folder, model.state_dict())
    return Made(folder, model, source, target)


def save(folder: Path, weights: dict[str, Tensor], name: str = "best.ckpt") -> None:
    """A checkpoint as training leaves it."""
    others = {
        "optimizer_state": {"state": {0: {"step": torch.tensor(1.0)}}},
        "stats_state": {"steps": 3},
    }
    torch.save({"model_state": weights, **others}, folder / name)
