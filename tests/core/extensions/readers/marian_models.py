"""Marian models made in a moment: a SentencePiece model trained here, random weights, the library's
own classes.

The library takes three seconds to be imported: it is, when a first model is made, and tests that
make one are `heavy`.
"""

import io
import json
import random
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sentencepiece
import torch

if TYPE_CHECKING:
    from transformers import MarianMTModel, MarianTokenizer

GERMAN = tuple(
    "ein mann hund steht läuft auf der straße und sieht viele kinder spielen im schnee bei den "
    "alten häusern frau trägt rotes kleid während zwei jungen einen ball werfen neben dem großen "
    "baum am fluss".split()
)
ENGLISH = tuple(
    "a man dog stands runs on the street and sees many children playing in snow at old houses "
    "woman wears red dress while two boys throw ball next to big tree by river".split()
)
CODES = (">>deu<<", ">>fra<<", ">>nld<<")


def sentences(words: list[str], count: int, seed: int) -> list[str]:
    generator = random.Random(seed)
    return [
        " ".join(generator.choices(words, k=generator.randint(3, 12))).capitalize()
        + generator.choice(".!?")
        for _ in range(count)
    ]


@cache
def quiet_transformers() -> Any:
    """The library, told to be silent."""
    import transformers
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    return transformers


@cache
def spm(side: str, kind: str = "unigram", size: int = 120) -> bytes:
    """A SentencePiece model of one side."""
    written = io.BytesIO()
    words = GERMAN if side == "source" else ENGLISH
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences(list(words), 600, seed=3)),
        model_writer=written,
        vocab_size=size,
        model_type=kind,
        minloglevel=2,
        hard_vocab_limit=False,
    )
    return written.getvalue()


def pieces_of(model: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [processor.id_to_piece(index) for index in range(processor.get_piece_size())]


def vocabularies(*, separate: bool, codes: bool = False) -> tuple[dict[str, int], dict[str, int]]:
    """Of source and target; a tenth of the pieces is left out, and ids are in an order of their
    own.
    """
    source, target = pieces_of(spm("source")), pieces_of(spm("target"))
    generator = random.Random(5)

    def numbered(pieces: list[str]) -> dict[str, int]:
        different = sorted(set(pieces) - {"<s>", "</s>", "<unk>"})
        remaining = [piece for piece in different if generator.random() > 0.1]
        generator.shuffle(remaining)
        return {
            token: index
            for index, token in enumerate(
                ["</s>", "<unk>", *(CODES if codes else ()), *remaining, "<pad>"]
            )
        }

    if separate:
        vocabularies = [numbered(source), numbered(target)]
        most = max(map(len, vocabularies)) - 1
        for vocabulary in vocabularies:  # `config.pad_token_id` is one for both
            del vocabulary["<pad>"]
            while len(vocabulary) < most:
                vocabulary[f"filler{len(vocabulary)}"] = len(vocabulary)
            vocabulary["<pad>"] = most
        return vocabularies[0], vocabularies[1]
    joint = numbered(source + target)
    return joint, joint


@dataclass(frozen=True)
class Made:
    """A folder, and the library's own reading of it."""

    folder: Path
    model: "MarianMTModel"
    tokenizer: "MarianTokenizer"


def make_folder(
    folder: Path,
    *,
    separate: bool = False,
    codes: bool = False,
    seed: int = 0,
    file: str = "safetensors",
    dtype: torch.dtype = torch.float32,
    tokenizer: dict[str, Any] | None = None,
    **settings: Any,
) -> Path:
    """Writes a whole model with random weights."""
    transformers = quiet_transformers()
    folder.mkdir(parents=True, exist_ok=True)
    source, target = vocabularies(separate=separate, codes=codes)
    config = transformers.MarianConfig(
        **{
            "vocab_size": len(source),
            "decoder_vocab_size": len(target),
            "d_model": 32,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 48,
            "decoder_ffn_dim": 48,
            "max_position_embeddings": 64,
            "activation_function": "swish",
            "scale_embedding": True,
            "pad_token_id": source["<pad>"],
            "decoder_start_token_id": target["<pad>"],
            "eos_token_id": target["</s>"],
            "forced_eos_token_id": target["</s>"],
            "share_encoder_decoder_embeddings": not separate,
            **settings,
        }
    )
    torch.manual_seed(seed)
    model = transformers.MarianMTModel(config).eval()
    _draw_weights(model, target["</s>"])
    model = model.to(dtype)
    model.generation_config.bad_words_ids = [[target["<pad>"]]]
    model.generation_config.num_beams = 4
    model.generation_config.max_length = 24
    model.generation_config.forced_eos_token_id = target["</s>"]
    model.save_pretrained(folder)
    if file == "bin":
        torch.save(dict(model.state_dict()), folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
    (folder / "source.spm").write_bytes(spm("source"))
    (folder / "target.spm").write_bytes(spm("target"))
    (folder / "vocab.json").write_text(json.dumps(source), encoding="utf-8")
    about: dict[str, Any] = {"source_lang": "de", "target_lang": "en", **(tokenizer or {})}
    if separate:
        (folder / "target_vocab.json").write_text(json.dumps(target), encoding="utf-8")
        about["separate_vocabs"] = True
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    return folder


@torch.no_grad()
def add_tokens(
    folder: Path,
    copy: Path,
    tokens: list[Any],
    special: list[str] | None = None,
    *,
    multiple: int = 1,
) -> Path:
    """Writes a copy of a model that was given tokens by the library's own functions, with random
    embeddings."""
    made = as_the_library_reads(folder)
    model, tokenizer = made.model, made.tokenizer
    old = tokenizer.vocab_size
    tokenizer.add_tokens(tokens)
    if special is not None:
        tokenizer.add_special_tokens({"additional_special_tokens": special})
    model.resize_token_embeddings(-(-len(tokenizer) // multiple) * multiple, mean_resizing=False)
    torch.manual_seed(1)
    model.model.encoder.embed_tokens.weight[old:].normal_(std=model.config.d_model**-0.5)
    if model.final_logits_bias.size(1) > old:
        # so that they are chosen now and then
        model.final_logits_bias[:, old : len(tokenizer)] = 0.1
        model.final_logits_bias[:, len(tokenizer) :] = -100.0
    model.save_pretrained(copy)
    tokenizer.save_pretrained(copy)
    return copy


@torch.no_grad()
def _draw_weights(model: "MarianMTModel", end_id: int) -> None:
    """So that source, history and place sway each choice, and the end comes now and then."""
    for name, parameter in model.named_parameters():
        if "embed_positions" in name:
            continue
        if parameter.dim() == 2:
            strength = (
                3.0
                if "attn" in name
                else 0.5
                if "fc" in name
                else 1.0
                if model.config.scale_embedding
                else 5.0
            )
            parameter.normal_(std=strength * parameter.size(1) ** -0.5)
        else:
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    model.model.decoder.layers[-1].final_layer_norm.weight.mul_(
        4 if model.config.scale_embedding else 1
    )
    model.lm_head.weight[end_id] *= 2
    model.final_logits_bias.normal_(std=0.3)


def as_the_library_reads(folder: Path) -> Made:
    """In 32-bit floats, with the attention that gives its maps."""
    transformers = quiet_transformers()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends sacremoses, which it does not use
        tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
        model = transformers.MarianMTModel.from_pretrained(
            folder, attn_implementation="eager", dtype=torch.float32
        ).eval()
    return Made(folder, model, tokenizer)
