"""What JoeyNMT itself computes: `python joeynmt_oracle.py FOLDER NAME…`, by a Python that has
JoeyNMT 2.3.

It cannot be in the environment of the other tests: it needs a `SetVocabulary` that sentencepiece
has only up to 0.2.0. For each NAME of `CONFIGURATIONS`, FOLDER/NAME gets a model as training leaves
it, and `expected.safetensors` and `expected.json` beside it: ids, logits, all maps, greedy
translations and scores.
"""

import copy
import io
import json
import random
import sys
from pathlib import Path
from typing import Any

GERMAN = (
    "ein mann hund steht läuft auf der straße und sieht viele kinder spielen im schnee bei den "
    "alten häusern frau trägt rotes kleid während zwei jungen einen ball werfen neben dem großen "
    "baum am fluss"
).split()
ENGLISH = (
    "a man dog stands runs on the street and sees many children playing in snow at old houses "
    "woman wears red dress while two boys throw ball next to big tree by river"
).split()
ODD = [
    "Ein  Hund",
    " ein hund ",
    "Ein Mann\tläuft",
    "ein\u00a0mann\u3000hund",
    "🐕 läuft 東京 im Schnee",
    "ΟΔΥΣΣΕΥΣ İstanbul",
    "e\u0301ine u\u0308ber ﬁne ½ ‘„“”’ ?",
    "a ! b , c . d : e ?! . ,",
    "\u200bein\u200bmann",
    "<unk> </s> <s> <pad> ein",
    "ein</w> @@ hund@@ mann",
    "한국어 \u1112\u1161\u11ab ก็",
    "x",
    "▁ein▁mann",
    "HÄUSERN, HÄUSERN!",
]
_SIDE = {"level": "word", "lowercase": False, "normalize": False, "max_length": 50}
_STACK = {
    "type": "transformer",
    "num_layers": 2,
    "num_heads": 4,
    "embeddings": {"embedding_dim": 32, "scale": True, "dropout": 0.1},
    "hidden_size": 32,
    "ff_size": 48,
    "dropout": 0.1,
    "layer_norm": "pre",
}
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "words, pre-norm": {},
    "words, post-norm, swish": {"both": {"layer_norm": "post", "activation": "swish"}},
    "words, lower-cased, all tied": {
        "side": {"lowercase": True},
        "model": {"tied_embeddings": True, "tied_softmax": True},
        "joint": True,
    },
    "words, normalized, softmax tied": {
        "side": {"normalize": True},
        "model": {"tied_softmax": True},
    },
    "words, embeddings tied alone": {
        "model": {"tied_embeddings": True},
        "joint": True,
        "both": {"num_layers": 1},
    },
    "sentencepiece, post-norm": {"side": {"level": "bpe"}, "both": {"layer_norm": "post"}},
    "sentencepiece bpe, joint, tied": {
        "side": {"level": "bpe", "lowercase": True},
        "spm": "bpe",
        "model": {"tied_embeddings": True, "tied_softmax": True},
        "joint": True,
    },
    "sentencepiece, normalized, six layers": {
        "side": {"level": "bpe", "normalize": True},
        "both": {"num_layers": 6, "num_heads": 8},
        "testing": {"max_output_length": 17, "generate_unk": False},
    },
    "sentencepiece, as deep models are begun": {
        "side": {"level": "bpe"},
        "both": {"layer_norm": "post", "num_layers": 4},
        "model": {"initializer": "xavier_normal"},
    },
    "characters, gelu": {
        "side": {"level": "char", "lowercase": True},
        "both": {"activation": "gelu"},
    },
    "subword-nmt, two sizes": {
        "side": {"level": "bpe", "lowercase": True},
        "kind": "subword-nmt",
        "encoder": {"num_layers": 3, "num_heads": 8, "ff_size": 20},
        "decoder": {"num_layers": 1, "num_heads": 4, "ff_size": 90},
    },
    "subword-nmt, joint, normalized": {
        "side": {"level": "bpe", "normalize": True},
        "kind": "subword-nmt",
        "model": {"tied_embeddings": True, "tied_softmax": True},
        "joint": True,
        "both": {"embeddings": {"embedding_dim": 32, "scale": False}},
    },
    "source scaled alone": {"decoder": {"embeddings": {"embedding_dim": 32, "scale": False}}},
    "target scaled alone, symbols renamed": {
        "encoder": {"embeddings": {"embedding_dim": 32}},
        "symbols": {
            "unk_token": "[UNK]",
            "pad_token": "[PAD]",
            "bos_token": "[BOS]",
            "eos_token": "[EOS]",
        },
        "testing": {
            "min_output_length": 4,
            "max_output_length": 30,
            "beam_size": 5,
            "beam_alpha": 1.0,
        },
    },
    "deep post-norm with a residual weight": {
        "both": {"layer_norm": "post", "num_layers": 5, "alpha": 1.7},
        "model": {"tied_softmax": True},
    },
}


def sentences(words: list[str], count: int, seed: int) -> list[str]:
    generator = random.Random(seed)
    return [
        " ".join(generator.choices(words, k=generator.randint(3, 12))).capitalize()
        + generator.choice(".!?")
        for _ in range(count)
    ]


TEXTS = sentences(GERMAN, 50, 5) + ODD


def configuration(folder: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Of `config.yaml`, with the paths of a machine that is gone."""
    side = {**_SIDE, **settings.get("side", {})}
    sides = {}
    for name, language in (("src", "de"), ("trg", "en")):
        sides[name] = {
            "lang": language,
            "voc_file": f"/home/gone/data/{name}_vocab.txt",
            **copy.deepcopy(side),
        }
        if side["level"] == "bpe":
            kind = settings.get("kind", "sentencepiece")
            sides[name]["tokenizer_type"] = kind
            file = (
                {"model_file": f"/home/gone/{name}.model"}
                if kind == "sentencepiece"
                else {"codes": f"{name}.codes"}
            )
            sides[name]["tokenizer_cfg"] = {"pretokenizer": "none", "num_merges": 60, **file}
    data = {"train": "gone/train", "dev": "gone/dev", **sides}
    if "symbols" in settings:
        data["special_symbols"] = dict(settings["symbols"])
    stack = {**copy.deepcopy(_STACK), **settings.get("both", {})}
    return {
        "name": "tiny",
        "joeynmt_version": "2.3.0",
        "model_dir": "/home/gone/model",
        "use_cuda": False,
        "data": data,
        "testing": {"beam_size": 1, **settings.get("testing", {})},
        "training": {"batch_size": 8},
        "model": {
            "initializer": "xavier_uniform",
            "tied_embeddings": False,
            "tied_softmax": False,
            **settings.get("model", {}),
            "encoder": {**copy.deepcopy(stack), **settings.get("encoder", {})},
            "decoder": {**copy.deepcopy(stack), **settings.get("decoder", {})},
        },
    }


def write_tokenizers(folder: Path, config: dict[str, Any], settings: dict[str, Any]) -> None:
    """Vocabularies and what pieces are cut by; a tenth of the pieces is left out of the
    vocabularies.
    """
    import sentencepiece
    from joeynmt.tokenizers import build_tokenizer
    from subword_nmt.learn_bpe import learn_bpe

    lines = {"src": sentences(GERMAN, 600, 3), "trg": sentences(ENGLISH, 600, 4)}
    if settings.get("joint"):
        lines = dict.fromkeys(lines, lines["src"] + lines["trg"])
    if config["data"]["src"].get("lowercase"):
        lines = {name: [line.lower() for line in text] for name, text in lines.items()}
    data = copy.deepcopy(config["data"])
    for name, text in lines.items():
        kind = config["data"][name].get("tokenizer_type")
        if kind == "sentencepiece":
            written = io.BytesIO()
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(text),
                model_writer=written,
                vocab_size=120,
                model_type=settings.get("spm", "unigram"),
                minloglevel=2,
                hard_vocab_limit=False,
            )
            (folder / f"{name}.model").write_bytes(written.getvalue())
            data[name]["tokenizer_cfg"]["model_file"] = str(folder / f"{name}.model")
        elif kind == "subword-nmt":
            with (folder / f"{name}.codes").open("w", encoding="utf-8") as file:
                learn_bpe(io.StringIO("\n".join(text) + "\n"), file, 60)
            data[name]["tokenizer_cfg"]["codes"] = str(folder / f"{name}.codes")
    tokenizers = build_tokenizer(data)
    generator = random.Random(5)
    for name, text in lines.items():
        tokenizer = tokenizers[data[name]["lang"]]
        pieces = sorted(
            {piece for line in text for piece in tokenizer(tokenizer.pre_process(line))}
        )
        chosen_pieces = [piece for piece in pieces if generator.random() > 0.1]
        generator.shuffle(chosen_pieces)
        symbols = settings.get("symbols", {})
        known = {"unk": "<unk>", "pad": "<pad>", "bos": "<s>", "eos": "</s>"}
        marks = [symbols.get(f"{mark}_token", token) for mark, token in known.items()]
        (folder / f"{name}_vocab.txt").write_text(
            "\n".join([*marks, *chosen_pieces]) + "\n", encoding="utf-8"
        )
    if settings.get("joint"):
        (folder / "trg_vocab.txt").write_bytes((folder / "src_vocab.txt").read_bytes())


def make(folder: Path, settings: dict[str, Any], seed: int) -> None:
    """A model with random weights, and what JoeyNMT makes of it."""
    from types import SimpleNamespace

    import torch
    import yaml
    from joeynmt.config import _check_special_symbols
    from joeynmt.model import build_model
    from joeynmt.vocabulary import build_vocab

    folder.mkdir(parents=True)
    config = configuration(folder, settings)
    write_tokenizers(folder, config, settings)
    (folder / "config.yaml").write_text(
        yaml.safe_dump(config, allow_unicode=True), encoding="utf-8"
    )
    data = copy.deepcopy(config["data"])
    data["special_symbols"] = SimpleNamespace(
        **_check_special_symbols(data.get("special_symbols", {}))
    )
    for name in ("src", "trg"):
        data[name]["voc_file"] = str(folder / f"{name}_vocab.txt")
    torch.manual_seed(seed)
    model = build_model(copy.deepcopy(config["model"]), *build_vocab(data))
    draw_weights(model)
    optimizer = torch.optim.Adam(model.parameters())
    sum(parameter.sum() for parameter in model.parameters()).backward()
    optimizer.step()
    state = {
        "model_state": model.state_dict(),
        "optimizer_state": optimizer.state_dict(),
        "scaler_state": None,
        "scheduler_state": None,
        "train_iter_state": torch.Generator().get_state(),
        "stats_state": {
            "steps": 300,
            "best_ckpt_score": float("inf"),
            "is_min_lr": False,
            "total_tokens": 12,
        },
    }
    torch.save(state, folder / "300.ckpt")
    (folder / "best.ckpt").symlink_to("300.ckpt")
    expect(folder)


def draw_weights(model: Any) -> None:
    """So that source, history and place sway each choice, and the end comes now and then."""
    import torch

    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter), alpha=0.2)
                continue
            is_scaled = model.src_embed.scale if "src_embed" in name else model.trg_embed.scale
            embedded = 1.0 if is_scaled or "output" in name else 5.0
            strength = (
                2.0 if "att" in name else embedded if "embed" in name or "output" in name else 0.5
            )
            parameter.normal_(std=strength * parameter.size(1) ** -0.5)
        model.decoder.output_layer.weight[3] *= 1.5


def expect(folder: Path) -> None:
    """Reads the folder as JoeyNMT does and writes what it computes."""
    import numpy as np
    import torch
    from joeynmt.batch import Batch
    from joeynmt.hub_interface import _from_pretrained
    from joeynmt.search import search
    from safetensors.torch import save_file

    model, data, args = _from_pretrained(folder)
    model = model.double().eval()
    tensors: dict[str, torch.Tensor] = {}
    rows: list[dict[str, Any]] = []
    maps: dict[str, torch.Tensor] = {}
    for name, module in model.named_modules():
        if name.endswith("_att.softmax"):
            module.register_forward_hook(
                lambda _, __, output, name=name: maps.__setitem__(name, output[0].float())
            )
    generator = random.Random(9)
    for number, text in enumerate(TEXTS):
        data.reset_cache()
        data.has_trg = False
        data.set_item(text)
        _, tokens, _ = data[0]
        ids, _, _ = model.src_vocab.sentences_to_ids([tokens], bos=False, eos=True)
        source = torch.tensor(ids)
        target = [
            generator.randrange(4, len(model.trg_vocab)) for _ in range(generator.randint(1, 12))
        ]
        row: dict[str, Any] = {"text": text, "source": ids[0], "target": target}
        batch = Batch(
            source,
            torch.tensor([len(ids[0])]),
            None,
            None,
            None,
            torch.tensor([0]),
            torch.device("cpu"),
            1,
            3,
        )
        for key, size in (("greedy", 1), ("beam", 4)):
            limit = args.test.max_output_length
            chosen, scores, _ = search(
                model,
                batch,
                limit,
                size,
                args.test.beam_alpha,
                min_output_length=args.test.min_output_length,
                generate_unk=args.test.generate_unk,
                return_prob="hyp",
            )
            words = model.trg_vocab.arrays_to_sentences(np.array(chosen), cut_at_eos=True)[0]
            row[key] = [int(token) for token in chosen[0]]
            row[f"{key}_scores"] = [float(score) for score in np.asarray(scores)[0]]
            generate = {"generate_unk": args.test.generate_unk}
            row[f"{key}_text"] = data.tokenizer["en"].post_process(words, **generate)
        if number < 6 or number >= len(TEXTS) - 2:
            read = torch.tensor([[model.bos_index, *target]])
            mask = torch.ones(1, 1, read.size(1), dtype=torch.bool)
            with torch.no_grad():
                encoded, _, _, _ = model(
                    return_type="encode",
                    src=source,
                    src_length=batch.src_length,
                    src_mask=batch.src_mask,
                )
                logits, _, _, _ = model(
                    return_type="decode",
                    trg_input=read,
                    encoder_output=encoded,
                    encoder_hidden=None,
                    src_mask=batch.src_mask,
                    unroll_steps=None,
                    trg_mask=mask,
                )
            tensors[f"{number}.logits"] = logits[0].float()
            for kind, side, name in (
                ("encoder", "encoder", "src_src_att"),
                ("decoder", "decoder", "trg_trg_att"),
                ("cross", "decoder", "src_trg_att"),
            ):
                layers = len(getattr(model, side).layers)
                by_layer = [
                    maps[f"{side}.layers.{layer}.{name}.softmax"] for layer in range(layers)
                ]
                tensors[f"{number}.{kind}"] = torch.stack(by_layer)
        rows.append(row)
    save_file(
        {name: value.contiguous() for name, value in tensors.items()},
        folder.parent / f"{folder.name}.safetensors",
    )
    (folder.parent / f"{folder.name}.json").write_text(json.dumps(rows), encoding="utf-8")


if __name__ == "__main__":
    for seed, (configured, chosen) in enumerate(CONFIGURATIONS.items()):  # whichever are asked for
        if configured in (sys.argv[2:] or CONFIGURATIONS):
            make(Path(sys.argv[1]) / configured, chosen, seed)
