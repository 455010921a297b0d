"""Marian models as large as OPUS-MT's, with random weights, as folders of Hugging Face
transformers.
"""

import io
import json
from collections.abc import Iterator
from itertools import count, islice, product
from pathlib import Path

import sentencepiece
import torch
from transformers import MarianConfig, MarianMTModel
from transformers.utils import logging

from augenmerk.core.resources import example_sentences

NUM_TOKENS = 58_101
"""Of OPUS-MT's models, both languages together."""
NUM_PIECES = 32_000
"""Of each of their SentencePiece models."""
_END, _UNKNOWN, _PADDING = "</s>", "<unk>", "<pad>"


def write_marian_folder(
    folder: Path,
    *,
    width: int = 512,
    num_heads: int = 8,
    num_layers: int = 6,
    num_tokens: int = NUM_TOKENS,
    max_length: int = 512,
) -> Path:
    """Write a model with equally many encoder and decoder layers, a fourfold inner width and shared
    embeddings.

    The default has 74 million parameters, as opus-mt-de-en; width 1,024 with 16 heads is as large
    as a `tc-big` model. Its SentencePiece models cover the example sentences and are padded to a
    realistic size.
    """
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    folder.mkdir(parents=True, exist_ok=True)
    pieces, model = _pieces()
    tokens = [_END, _UNKNOWN, *pieces]
    known = set(tokens)
    tokens += islice(
        (word for word in _made_up_pieces() if word not in known), num_tokens - len(tokens) - 1
    )
    tokens.append(_PADDING)
    padding = len(tokens) - 1
    config = MarianConfig(
        vocab_size=len(tokens),
        d_model=width,
        encoder_layers=num_layers,
        decoder_layers=num_layers,
        encoder_attention_heads=num_heads,
        decoder_attention_heads=num_heads,
        encoder_ffn_dim=4 * width,
        decoder_ffn_dim=4 * width,
        max_position_embeddings=512,
        activation_function="swish",
        scale_embedding=True,
        pad_token_id=padding,
        decoder_start_token_id=padding,
        eos_token_id=0,
        forced_eos_token_id=0,
    )
    torch.manual_seed(0)
    network = MarianMTModel(config).eval()
    _draw_weights(network)
    network.generation_config.bad_words_ids = [[padding]]
    network.generation_config.num_beams = 1
    network.generation_config.max_length = max_length
    network.save_pretrained(folder)
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(model)
    ids = {token: index for index, token in enumerate(tokens)}
    (folder / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(
        '{"source_lang": "de", "target_lang": "en"}', encoding="utf-8"
    )
    return folder


@torch.no_grad()
def _draw_weights(network: MarianMTModel) -> None:
    """Draw weights for which heads look at few places, and source and earlier tokens influence each
    choice.
    """
    last = f"decoder.layers.{network.config.decoder_layers - 1}"
    for name, parameter in network.named_parameters():
        if "embed_positions" in name or parameter.dim() != 2:
            continue
        strength = 0.5 if "out_proj" in name else 1.0
        if "q_proj" in name or "k_proj" in name:
            strength = 3.0
        if last in name and ".fc" in name:
            strength = 4.0
        # at 1, states keep their length
        parameter.normal_(std=strength * parameter.size(1) ** -0.5)
    # as in Marian, where decoding starts from zeros
    network.model.shared.weight[network.config.pad_token_id] = 0
    network.get_parameter(f"model.{last}.final_layer_norm.weight").mul_(4)


def _pieces() -> tuple[list[str], bytes]:
    """The pieces that occur, and a SentencePiece model of realistic size with them."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*example_sentences()] * 20),
        model_writer=written,
        vocab_size=400,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    model = written.getvalue()
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    known = [processor.id_to_piece(index) for index in range(processor.get_piece_size())]
    new = islice(
        (piece for piece in _made_up_pieces() if piece not in known), NUM_PIECES - len(known)
    )
    others = b"".join(map(_piece_field, new))
    return [piece for piece in known if piece not in ("<s>", _END, _UNKNOWN)], model + others


def _made_up_pieces() -> Iterator[str]:
    """An endless sequence of different pieces, half of which begin a word, such as "▁bato"."""
    consonants, vowels = "bdfghklmnprstvw", "aeiou"
    syllables = [consonant + vowel for consonant in consonants for vowel in vowels]
    for length in count(2):
        for combination in product(syllables, repeat=length):
            yield "\u2581" + "".join(combination)
            yield "".join(combination)


def _piece_field(text: str) -> bytes:
    """A piece with a very low score, as a field of the model's protocol-buffer message."""
    data = text.encode()
    piece = b"\x0a" + bytes([len(data)]) + data + b"\x15" + b"\x00\x00\xc8\xc2"  # text; score -100
    return b"\x0a" + bytes([len(piece)]) + piece
