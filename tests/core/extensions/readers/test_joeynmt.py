"""Models of JoeyNMT compute what its modules, written anew, compute; what cannot be read is refused
with a reason.
"""

import json
import math
import os
from collections.abc import Callable
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file

from augenmerk.core.checkpoint.file import ModelOrigin, load_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.config import DecodingConfig
from augenmerk.core.errors import ImportStoppedError, ModelImportError
from augenmerk.core.extensions.readers.importing import import_model, recognize
from augenmerk.core.extensions.readers.model import ImportOptions
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.beam import beam_search, length_penalty_of
from augenmerk.core.translation.compilation import max_steps
from augenmerk.core.translation.decoding import greedy_search
from augenmerk.core.translation.experiment import Beam, Experiment, HeadScaled, SourceWordRemoved
from augenmerk.core.translation.translator import Translator
from tests.builders import first_quick
from tests.core.extensions.readers.joeynmt_models import START, Made, make_folder, save
from tests.core.extensions.readers.pickles import pickles_read_here
from tests.core.extensions.readers.test_pickled import malicious

pytestmark = pytest.mark.subprocess  # a pickled file is read by another process

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "words, pre-norm": {},
    "words, post-norm, all tied, one layer": {
        "model": {"tied_embeddings": True, "tied_softmax": True},
        "joint": True,
        "both": {"layer_norm": "post", "num_layers": 1, "activation": "swish"},
    },
    "sentencepiece, softmax tied, residual weights": {
        "side": {"level": "bpe", "lowercase": True},
        "model": {"tied_softmax": True, "initializer": "xavier_normal"},
        "both": {"layer_norm": "post", "num_layers": 4, "num_heads": 8},
    },
    "characters, scaled on one side": {
        "side": {"level": "char"},
        "decoder": {
            "embeddings": {"embedding_dim": 32},
            "num_heads": 8,
            "ff_size": 20,
            "num_layers": 1,
        },
        "encoder": {"activation": "gelu"},
        "both": {"activation": "gelu"},
        "testing": {"min_output_length": 6, "max_output_length": 15},
    },
    "subword-nmt, six layers": {
        "side": {"level": "bpe", "normalize": True},
        "kind": "subword-nmt",
        "both": {"num_layers": 6},
        "model": {"tied_embeddings": True},
        "joint": True,
    },
}


@pytest.fixture(scope="module", params=first_quick(CONFIGURATIONS.values()), ids=CONFIGURATIONS)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Made, Translator]:
    folder = tmp_path_factory.mktemp("joeynmt")
    settings = dict(request.param)
    made = make_folder(folder / "model", **settings)
    for stack in (made.model.encoder, made.model.decoder):
        if settings.get("model", {}).get("initializer") == "xavier_normal":
            is_encoder = stack is made.model.encoder
            for layer in stack.layers:
                layer.alpha = 0.81 * (4**4 * 4) ** (1 / 16) if is_encoder else 12 ** (1 / 4)
    with pickles_read_here():
        import_model(made.folder).save(folder / "imported.safetensors")
    return made, Translator.load(folder / "imported.safetensors", "cpu")


def random_rows(count: int, num_tokens: int, most: int) -> list[list[int]]:
    generator = torch.Generator().manual_seed(7)
    lengths = torch.randint(1, most, (count,), generator=generator).tolist()
    return [
        torch.randint(4, num_tokens, (length,), generator=generator).tolist() for length in lengths
    ]


@torch.inference_mode()
def test_logits_and_all_maps_are_theirs(pair: tuple[Made, Translator]) -> None:
    made, ours = pair
    for model, tolerance in ((made.model.float(), 1e-5), (made.model.double(), 1e-6)):
        ours.model.to(next(model.parameters()).dtype)
        sources, targets = (
            random_rows(4, len(made.source), 14),
            random_rows(4, len(made.target), 12),
        )
        for source, target in zip(sources, targets, strict=True):
            read = [START, *target]
            expected = model(source, read)
            output = ours.model(torch.tensor([source]), torch.tensor([read]), need_maps=True)
            spread = max(1.0, float(expected.std()))
            torch.testing.assert_close(
                output.logits[0], expected, rtol=tolerance, atol=tolerance * spread
            )
            for maps, side, name in (
                (output.encoder_maps, "encoder", "src_src_att"),
                (output.decoder_maps, "decoder", "trg_trg_att"),
                (output.cross_maps, "decoder", "src_trg_att"),
            ):
                torch.testing.assert_close(maps[0], model.maps(side, name), rtol=0, atol=tolerance)


@pytest.mark.heavy
@torch.inference_mode()
def test_greedy_translations_are_theirs_token_by_token(pair: tuple[Made, Translator]) -> None:
    made, ours = pair
    made.model.double()
    ours.model.double()
    is_limited = ours.checkpoint.decoding.max_steps is not None
    options = {"limit": 15, "least": 6} if is_limited else {}
    sentences = []
    for words in random_rows(25, len(made.source), 10):
        source = [*words, 3]
        limit = max_steps(len(source), ours.run_config, ours.rules)
        sentences.append(
            greedy_search(
                ours.model, ours.model.encode(torch.tensor([source])), [limit], ours.rules
            )[0]
        )
        assert sentences[-1] == made.model.greedy(source, **options)
    assert len(set(map(tuple, sentences))) > 5  # the source matters
    assert all(row.index(3) >= ours.rules.min_steps for row in sentences if 3 in row)


@pytest.mark.slow
@pytest.mark.heavy
@torch.inference_mode()
def test_hypotheses_have_their_scores_and_ranks(tmp_path: Path) -> None:
    made = make_folder(
        tmp_path / "model", testing={"beam_size": 4, "beam_alpha": 1.0}, both={"num_layers": 1}
    )
    with pickles_read_here():
        import_model(made.folder).save(tmp_path / "model.safetensors")
    ours = Translator.load(tmp_path / "model.safetensors", "cpu")
    ours.model.double()
    made.model.double()
    chosen: dict[float, list[list[int]]] = {}
    num_same = 0
    for alpha in (-1.0, 0.6, 1.0, 3.0):
        for words in random_rows(15, len(made.source), 8):
            source = torch.tensor([[*words, 3]])
            theirs = made.model.beam(source[0].tolist(), 4, alpha)
            scores = []
            for _, hypothesis in theirs:
                read = torch.tensor([[START, *hypothesis[:-1]]])
                logits = ours.model(source, read).logits[0].log_softmax(dim=-1)
                total = float(logits.gather(1, torch.tensor(hypothesis)[:, None]).sum())
                scores.append(total / length_penalty_of(len(hypothesis), max(alpha, 0.0)))
            assert scores == pytest.approx([score for score, _ in theirs])
            assert scores == sorted(scores, reverse=True)
            limit = max_steps(source.size(1), ours.run_config, ours.rules)
            (best,) = beam_search(
                ours.model, ours.model.encode(source), [limit], ours.rules, 4, max(alpha, 0.0)
            )
            num_same += best == theirs[0][1]
            chosen.setdefault(alpha, []).append(best)
    assert num_same > 40, (
        "of 60: their search keeps ended hypotheses in the beam, so it looks at fewer others"
    )
    lengths = [sum(map(len, rows)) for rows in chosen.values()]
    assert lengths == sorted(lengths), "larger values favour longer translations"
    assert lengths[0] < lengths[-1]


@pytest.mark.parametrize(
    ("settings", "penalty"),
    [
        ({"beam_alpha": 1.0}, 1.0),
        ({"beam_alpha": 0.6, "alpha": 2}, 2.0),
        ({"beam_alpha": -1}, 0.0),
        ({}, 0.0),
        ({"beam_alpha": 1.0, "beam_size": 1}, None),
        ({"beam_alpha": 11}, 0.0),
    ],
)
def test_the_length_penalty_of_the_configuration_is_used(
    folder: Path,
    tmp_path: Path,
    settings: dict[str, float],
    penalty: float | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in ({"beam_size": 3} | settings).items():
        change(folder, f"testing.{name}", value)
    out = tmp_path / "out.safetensors"
    with pickles_read_here():
        assert main(["import", str(folder), "--out", str(out)]) == 0
    assert ("beam_alpha = 11 is not applied" in capsys.readouterr().err) == (
        settings.get("beam_alpha") == 11
    )
    assert load_checkpoint(out).decoding.length_penalty == penalty
    command = ["translate", "ein mann läuft .", "--json", "--checkpoint", str(out)]
    for options, expected in (
        ([], penalty),
        (["--length-penalty", "2.5"], 2.5),
        (["--beam", "1"], None),
    ):
        if penalty is not None or not options:
            assert main([*command, *options]) == 0
            assert json.loads(capsys.readouterr().out)["output"].get("length_penalty") == expected


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Words, pre-norm."""
    return make_folder(tmp_path_factory.mktemp("original") / "tiny-de-en").folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """A copy to be spoiled."""
    return copied(original, tmp_path / "tiny-de-en")


def copied(original: Path, copy: Path) -> Path:
    copy.mkdir()
    for file in original.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    return copy


def change(folder: Path, path: str, value: object) -> None:
    """Sets a value of the configuration; None takes it out."""
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    section = config
    *names, last = path.split(".")
    for name in names:
        section = section.setdefault(name, {})
    if value is None:
        section.pop(last, None)
    else:
        section[last] = value
    (folder / "config.yaml").write_text(
        yaml.safe_dump(config, allow_unicode=True), encoding="utf-8"
    )


@pytest.mark.slow
def test_a_model_is_imported_and_used(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "README.md").write_text("---\nlicense: cc-by-4.0\n---\n# A model\n", encoding="utf-8")
    change(folder, "testing.beam_size", 5)
    change(folder, "testing.beam_alpha", 1.0)
    change(folder, "testing.no_repeat_ngram_size", 4)
    assert main(["import", str(folder), "--out", str(tmp_path / "out.safetensors")]) == 0
    said = capsys.readouterr()
    assert "tiny-de-en (JoeyNMT 2), German to English" in said.out
    assert "licence cc-by-4.0" in said.out
    assert "no_repeat_ngram_size = 4 is not applied" in said.err
    assert "beam_alpha" not in said.err
    checkpoint = load_checkpoint(tmp_path / "out.safetensors")
    assert checkpoint.origin == ModelOrigin("joeynmt", "tiny-de-en", "", "cc-by-4.0")
    assert checkpoint.decoding == DecodingConfig(
        forbidden_ids=(2,), steps_per_source_token=1.5, min_steps=1, beam=5, length_penalty=1.0
    )
    translator = Translator.load(tmp_path / "out.safetensors", "cpu")
    experiment = Experiment("ein mann läuft . Quatsch")
    greedy, beam = (
        translator.run(experiment),
        translator.run(Experiment("ein mann läuft .", output=Beam(3))),
    )
    assert greedy.source_tokens == ("ein", "mann", "läuft", ".", "Quatsch", "</s>")
    assert greedy.unknown_source_positions == (4,)
    assert greedy.read_tokens[0] == "<s>"
    assert greedy.text
    assert beam.text
    changed = translator.run(
        Experiment(
            "ein mann läuft .",
            interventions=(SourceWordRemoved(1), HeadScaled(Head("cross", 0, 1), 0.0)),
        )
    )
    assert changed.source_tokens == ("ein", "läuft", ".", "</s>")


def test_translations_that_cannot_end_are_told_of(folder: Path) -> None:
    change(folder, "testing.min_output_length", 12)
    change(folder, "testing.max_output_length", 12)
    with pickles_read_here():
        assert not import_model(folder).summary.notes
    change(folder, "testing.max_output_length", 11)
    told = "min_output_length = 12 is above max_output_length = 11: no translation can end"
    with pickles_read_here():
        assert import_model(folder).summary.notes == (told,)


def test_languages_and_the_name_are_told_by_options_then_the_configuration(folder: Path) -> None:
    assert recognize(folder).summary.languages == ("de", "en")
    options = ImportOptions(name="mine", target_language="Dutch")
    assert (
        recognize(folder, options).summary.name,
        recognize(folder, options).summary.languages[1],
    ) == ("mine", "nl")
    change(folder, "data.src.lang", None)
    assert recognize(folder).summary.misses_languages
    config = folder / "config.yaml"
    # which YAML reads as false
    config.write_text(config.read_text().replace("lang: en", "lang: no"))
    assert recognize(folder).summary.languages[1] == "no"


def test_the_number_of_parameters_is_told_before_the_weights_are_read(
    pair: tuple[Made, Translator],
) -> None:
    told = recognize(pair[0].folder).summary
    assert told.num_parameters == pair[1].num_parameters
    assert told.is_pickled


def test_the_checkpoint_is_the_one_that_is_named_the_best_or_the_last(folder: Path) -> None:
    weights = {"model_state": torch.load(folder / "best.ckpt")["model_state"]}
    for name in ("900.ckpt", "1200.ckpt", "latest.ckpt"):
        torch.save(weights, folder / name)

    def chosen() -> str:
        phases: list[str] = []
        with pytest.raises(ImportStoppedError):  # before it is read
            import_model(folder, on_phase=phases.append, should_stop=lambda: True)
        return phases[-1]

    for expected, missing in (("best", ""), ("latest", "best"), ("1200", "latest")):
        if missing:
            (folder / f"{missing}.ckpt").unlink()
        assert chosen() == f"Reading {expected}.ckpt"
    change(folder, "testing.load_model", "C:\\gone\\900.ckpt")
    assert chosen() == "Reading 900.ckpt"


@pytest.mark.slow
def test_special_tokens_come_first_and_no_token_twice(folder: Path) -> None:
    """As JoeyNMT reads a list: without special tokens, with them elsewhere, and under other
    names."""
    plain = import_model(folder).checkpoint.codecs.source.vocabulary
    lines = (folder / "src_vocab.txt").read_text(encoding="utf-8").splitlines()
    reordered = [*lines[4:8], lines[3], lines[1], lines[4], *lines[8:], lines[0], lines[2]]
    (folder / "src_vocab.txt").write_text("\n".join(reordered) + "\n", encoding="utf-8")
    assert import_model(folder).checkpoint.codecs.source.vocabulary == plain
    change(folder, "data.special_symbols", {"bos_token": "[BOS]", "unk_token": "[UNK]"})
    reordered.remove("<s>")
    reordered.remove("<unk>")
    (folder / "src_vocab.txt").write_text("\n".join(reordered) + "\n", encoding="utf-8")
    (folder / "trg_vocab.txt").write_text(
        (folder / "trg_vocab.txt")
        .read_text(encoding="utf-8")
        .replace("<unk>", "[UNK]")
        .replace("<s>\n", "[BOS]\n"),
        encoding="utf-8",
    )
    renamed = import_model(folder).checkpoint.codecs.source.vocabulary
    assert renamed.tokens[:4] == ("[UNK]", "<pad>", "<s>", "</s>")
    assert renamed.tokens[4:] == plain.tokens[4:]


@pytest.mark.slow
def test_tables_of_positions_that_are_no_waves_are_kept(folder: Path) -> None:
    weights = torch.load(folder / "best.ckpt")["model_state"]
    assert import_model(folder).checkpoint.run.model.positions == "sinusoidal"
    weights["decoder.pe.pe"] = weights["decoder.pe.pe"] * 1.001
    save(folder, weights)
    checkpoint = import_model(folder).checkpoint
    assert checkpoint.run.model.positions == "learned"
    assert torch.equal(
        checkpoint.weights["target_embedding.positions"], weights["decoder.pe.pe"][0]
    )


def test_the_precision_of_a_checkpoint_is_told_as_it_is_stored(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = torch.load(folder / "best.ckpt")["model_state"]
    save(folder, {name: value.half() for name, value in weights.items()})
    with pickles_read_here():
        assert main(["import", str(folder), "--out", str(tmp_path / "out.safetensors")]) == 0
    said = capsys.readouterr()
    assert "tiny-de-en will be stored in 16 bits" in said.err
    assert ", 16-bit" in said.out
    assert {value.dtype for value in load_file(tmp_path / "out.safetensors").values()} == {
        torch.float16
    }


def test_a_checkpoint_of_a_compiled_model_is_read(folder: Path) -> None:
    with pickles_read_here():
        expected = import_model(folder).checkpoint.weights
        weights = torch.load(folder / "best.ckpt")["model_state"]
        save(folder, {f"_orig_mod.{name}": value for name, value in weights.items()})
        read_weights = import_model(folder).checkpoint.weights
    assert all(torch.equal(read_weights[name], expected[name]) for name in expected)


def spoil_weights(
    change_weights: Callable[[dict[str, torch.Tensor]], object],
) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        weights = dict(torch.load(folder / "best.ckpt")["model_state"])
        change_weights(weights)
        save(folder, weights)

    return spoil


SPOILED: dict[str, tuple[Callable[[Path], object], str]] = {
    "no configuration": (
        lambda folder: (folder / "config.yaml").unlink(),
        r"has no .* and no config\.yaml.*; it holds",
    ),
    "no source vocabulary": (
        lambda folder: (folder / "src_vocab.txt").unlink(),
        r"src_vocab\.txt is missing; the folder holds best\.ckpt, config\.yaml",
    ),
    "no weights": (
        lambda folder: (folder / "best.ckpt").unlink(),
        r"has no weights \(best\.ckpt\); it holds config\.yaml",
    ),
    "a link out of it": (
        lambda folder: (
            (folder / "src_vocab.txt").unlink(),
            (folder / "src_vocab.txt").symlink_to("/etc/hostname"),
        ),
        r"src_vocab\.txt is a link to /etc/hostname, which lies outside the folder",
    ),
    "weights by a link out of it": (
        lambda folder: (
            (folder / "best.ckpt").rename(folder.parent / "3.ckpt"),
            (folder / "best.ckpt").symlink_to(folder.parent / "3.ckpt"),
        ),
        r"best\.ckpt is a link to .*3\.ckpt, which lies outside the folder",
    ),
    "pieces at an absolute path": (
        lambda folder: (
            change(folder, "data.src.level", "bpe"),
            change(folder, "data.src.tokenizer_cfg.model_file", "/etc/passwd"),
        ),
        r"has no passwd, which config\.yaml names \(data\.src\.tokenizer_cfg\.model_file: /etc/passwd\)",
    ),
    "no merges": (
        lambda folder: (
            change(folder, "data.src.level", "bpe"),
            change(folder, "data.src.tokenizer_type", "subword-nmt"),
        ),
        r"tokenizer_cfg\.codes is missing; it must be the name of a file in the folder",
    ),
    "merges that are none": (
        lambda folder: (
            change(folder, "data.src.level", "bpe"),
            change(folder, "data.src.tokenizer_type", "subword-nmt"),
            change(folder, "data.src.tokenizer_cfg.codes", "x/config.yaml"),
        ),
        r"config\.yaml cannot be used as merges of subword-nmt \(the merge 1 is",
    ),
    "pieces that are none": (
        lambda folder: (
            change(folder, "data.src.level", "bpe"),
            change(folder, "data.src.tokenizer_cfg.model_file", "src_vocab.txt"),
        ),
        r"src_vocab\.txt is not a complete SentencePiece model",
    ),
    "a vocabulary of a pointer": (
        lambda folder: (folder / "src_vocab.txt").write_text(
            "version https://git-lfs.github.com/spec/v1\n"
        ),
        r"src_vocab\.txt is a pointer of Git LFS, not the file itself",
    ),
    "a vocabulary of bytes": (
        lambda folder: (folder / "src_vocab.txt").write_bytes(b"ein\n\xff\n"),
        r"src_vocab\.txt is not a text file: the byte at offset 4",
    ),
    "a recurrent encoder": (
        lambda folder: change(folder, "model.encoder.type", "recurrent"),
        r"model\.encoder is of the type recurrent \(gru\)\. Both sides must be transformers",
    ),
    "a recurrent decoder": (
        lambda folder: (
            change(folder, "model.decoder.type", "recurrent"),
            change(folder, "model.decoder.rnn_type", "lstm"),
        ),
        r"model\.decoder is of the type recurrent \(lstm\)",
    ),
    "an encoder of no type": (
        lambda folder: change(folder, "model.encoder.type", None),
        r"model\.encoder is of the type recurrent",
    ),
    "version 1": (
        lambda folder: (change(folder, "data.src", "de"), change(folder, "joeynmt_version", None)),
        r"is of version 1 of JoeyNMT\. Only models of version 2",
    ),
    "version 3": (
        lambda folder: change(folder, "joeynmt_version", "3.0.0"),
        r"is of version 3\.0\.0 of JoeyNMT",
    ),
    "settings of another program": (
        lambda folder: (folder / "config.yaml").write_text(
            "models: [model.npz]\nvocabs: [a.yml]\n"
        ),
        r"config\.yaml has no section data; it holds models, vocabs",
    ),
    "settings with code": (
        lambda folder: (folder / "config.yaml").write_text(
            "data: !!python/object/apply:os.system ['true']\n"
        ),
        r"config\.yaml is not plain YAML text \(could not determine a constructor for the tag",
    ),
    "settings without an end": (
        lambda folder: (folder / "config.yaml").write_text("[" * 50_000),
        r"config\.yaml is not plain YAML text",
    ),
    "a list for settings": (
        lambda folder: (folder / "config.yaml").write_text("- data\n"),
        r"the whole text is a list of 1 item, not names with values",
    ),
    "norms in two places": (
        lambda folder: change(folder, "model.decoder.layer_norm", "post"),
        r"model\.decoder\.layer_norm is 'post'; it must be \"pre\", as in the encoder",
    ),
    "norms in no place": (
        lambda folder: change(folder, "model.encoder.layer_norm", None),
        r"model\.encoder\.layer_norm is missing; it must be \"pre\" or \"post\"",
    ),
    "two activations": (
        lambda folder: change(folder, "model.decoder.activation", "gelu"),
        r"model\.decoder\.activation is 'gelu'; it must be \"relu\", as in the encoder",
    ),
    "an activation that is not supported": (
        lambda folder: change(folder, "model.encoder.activation", "tanh"),
        r'model\.encoder\.activation is "tanh"\. Use one of "relu", "gelu", "swish"',
    ),
    "a residual weight with pre-norm": (
        lambda folder: change(folder, "model.decoder.alpha", 1.5),
        r"model\.decoder\.alpha is 1\.5; it must be unset .* residuals by 1 in the encoder and 1\.5 in the decoder",
    ),
    "deep pre-norm": (
        lambda folder: change(folder, "model.initializer", "xavier_normal"),
        r"model\.initializer is 'xavier_normal'; it must be unset .* residuals by 1\.01 in the encoder and 1\.57",
    ),
    "two widths": (
        lambda folder: change(folder, "model.decoder.hidden_size", 64),
        r"model\.decoder\.hidden_size is 64; it must be 32",
    ),
    "embeddings of another width": (
        lambda folder: change(folder, "model.encoder.embeddings.embedding_dim", 16),
        r"model\.encoder\.embeddings\.embedding_dim is 16; it must be 32",
    ),
    "a number of heads that does not divide": (
        lambda folder: change(folder, "model.encoder.num_heads", 5),
        r"model\.encoder\.num_heads is 5; it must be a number that divides the hidden_size of 32\.",
    ),
    "no source": (
        lambda folder: change(folder, "data.src", None),
        r"config\.yaml: data\.src is missing, not names with values",
    ),
    "no level": (
        lambda folder: change(folder, "data.trg.level", None),
        r"config\.yaml: data\.trg\.level is missing; it must be one of word, char, bpe",
    ),
    "a pretokenizer": (
        lambda folder: change(folder, "data.src.tokenizer_cfg.pretokenizer", "moses"),
        r"data\.src\.tokenizer_cfg\.pretokenizer is 'moses'; it must be \"none\": no other is supported",
    ),
    "an unknown level": (
        lambda folder: change(folder, "data.trg.level", "byte"),
        r'data\.trg\.level is "byte"\. Use one of "word", "char", "bpe"',
    ),
    "an unknown kind of pieces": (
        lambda folder: (
            change(folder, "data.src.level", "bpe"),
            change(folder, "data.src.tokenizer_type", "fastbpe"),
        ),
        r'data\.src\.tokenizer_type is "fastbpe"\. Use one of "sentencepiece", "subword-nmt"',
    ),
    "language tags": (
        lambda folder: change(folder, "data.special_symbols.lang_tags", ["<de>", "<en>"]),
        r"data\.special_symbols\.lang_tags is a list of 2 items; it must be unset: models with prompts or language",
    ),
    "another order of ids": (
        lambda folder: change(folder, "data.special_symbols.pad_id", 0),
        r"data\.special_symbols\.pad_id is 0; it must be 1, as JoeyNMT puts special tokens first",
    ),
    "special tokens of one name": (
        lambda folder: change(folder, "data.special_symbols.pad_token", "<s>"),
        r"two of the special tokens have one name \(<unk> <s> <s> </s>\)",
    ),
    "vocabularies that cannot be tied": (
        lambda folder: change(folder, "model.tied_embeddings", True),
        r"model\.tied_embeddings is true; it must be false, as source and target have different vocabularies",
    ),
    "a flag that is none": (
        lambda folder: change(folder, "data.src.lowercase", "yes please"),
        r"data\.src\.lowercase is 'yes please'; it must be true or false",
    ),
}
SPOILED_WEIGHTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a missing token": (
        lambda folder: (folder / "src_vocab.txt").write_text(
            "<unk>\n<pad>\n<s>\n</s>\nein\nmann\n"
        ),
        r"src_embed\.lut\.weight has the shape \[20, 32\], not \[6, 32\]",
    ),
    "a softmax that is not tied": (
        lambda folder: change(folder, "model.tied_softmax", True),
        r"decoder\.output_layer\.weight is not the same matrix as trg_embed\.lut\.weight",
    ),
    "more layers than there are": (
        lambda folder: change(folder, "model.encoder.num_layers", 3),
        r"best\.ckpt has no encoder\.layers\.2\.",
    ),
    "fewer layers than there are": (
        lambda folder: change(folder, "model.decoder.num_layers", 1),
        r"best\.ckpt holds decoder\.layers\.1\..* and \d+ more, which the configured architecture does not have",
    ),
    "weights of another shape": (
        spoil_weights(
            lambda weights: weights.update({"encoder.layers.0.layer_norm.weight": torch.ones(7)})
        ),
        r"encoder\.layers\.0\.layer_norm\.weight has the shape \[7\], not \[32\]",
    ),
    "a table of another shape": (
        spoil_weights(lambda weights: weights.update({"encoder.pe.pe": torch.ones(1, 5, 7)})),
        r"encoder\.pe\.pe has the shape \[1, 5, 7\], not \[1, 5, 32\]",
    ),
    "weights that are not finite": (
        spoil_weights(lambda weights: weights["src_embed.lut.weight"].fill_(math.nan)),
        r"src_embed\.lut\.weight is not finite",
    ),
    "a weight that is not a tensor": (
        spoil_weights(lambda weights: weights.update({"src_embed.lut.weight": {"a": 1}})),
        r"best\.ckpt has no src_embed\.lut\.weight, a tensor of the shape",
    ),
    "no weights": (
        lambda folder: torch.save({"steps": 3}, folder / "best.ckpt"),
        r"best\.ckpt holds no weights, only steps\. Choose a state dict",
    ),
    "weights that are cut off": (
        lambda folder: os.truncate(folder / "best.ckpt", 3000),
        r"best\.ckpt: it cannot be read; it is damaged or cut off",
    ),
}


@pytest.mark.parametrize(("spoil", "message"), first_quick(SPOILED.values()), ids=SPOILED)
def test_what_cannot_be_read_is_refused_with_the_file_and_what_was_expected(
    folder: Path, spoil: Callable[[Path], object], message: str
) -> None:
    spoil(folder)
    with pytest.raises(ModelImportError, match=message):
        recognize(folder)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("data: *f\nmodel: {}\n", "data is a list of 9 items, not names with values"),
        ("joeynmt_version: *f\ndata: {src: {}}\nmodel: {}\n", "is of version a list of 9 items"),
        (
            "data: {src: {}}\nmodel: {tied_embeddings: *f, encoder: {type: *f}}\n",
            "type is a list of 9 items",
        ),
        (
            "data: {src: {has_prompt: *f}}\nmodel: {encoder: {type: recurrent, rnn_type: *f}}\n",
            "rnn_type is a list of 9 items",
        ),
    ],
)
def test_a_short_text_of_many_values_is_refused_at_once(
    folder: Path, settings: str, message: str
) -> None:
    items = [
        f"{name}: &{name} [{', '.join([f'*{last}'] * 9)}]" for last, name in pairwise("abcdef")
    ]
    (folder / "config.yaml").write_text("\n".join(["a: &a [x, x]", *items, settings]))
    with pytest.raises(ModelImportError, match=message):
        recognize(folder)


def test_a_short_text_that_merges_many_values_is_refused_at_once(folder: Path) -> None:
    merged = [
        f"{name}: &{name} {{<<: [{', '.join([f'*{last}'] * 9)}]}}"
        for last, name in pairwise("abcdef")
    ]
    (folder / "config.yaml").write_text("\n".join(["a: &a {x: 1}", *merged]))
    with pytest.raises(ModelImportError, match=r"a part of it has more than 10,000 members"):
        recognize(folder)
    (folder / "config.yaml").write_text("a: &a 1\nb: [" + ", ".join(["*a"] * 101) + "]")
    with pytest.raises(ModelImportError, match="more than 100 aliases"):
        recognize(folder)


@pytest.mark.slow
@pytest.mark.parametrize(("spoil", "message"), SPOILED_WEIGHTS.values(), ids=SPOILED_WEIGHTS)
def test_weights_that_do_not_fit_are_refused_before_a_file_is_written(
    folder: Path, tmp_path: Path, spoil: Callable[[Path], object], message: str
) -> None:
    spoil(folder)
    with pytest.raises(ModelImportError, match=message):
        import_model(folder).save(tmp_path / "out.safetensors")
    assert not (tmp_path / "out.safetensors").exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pickle alone", "archive"])
def test_a_checkpoint_with_code_is_refused_and_nothing_of_it_runs(folder: Path, kind: str) -> None:
    touched = folder / "touched"
    malicious(kind, folder / "best.ckpt", touched)
    with (
        nullcontext() if kind == "archive" else pickles_read_here(),
        pytest.raises(
            ModelImportError, match=r"best\.ckpt: it holds code or objects, which are never run"
        ),
    ):
        import_model(folder)
    assert not touched.exists()


def test_a_checkpoint_alone_names_its_folder(folder: Path) -> None:
    with (
        pickles_read_here(),
        pytest.raises(
            ModelImportError,
            match=r"is only the checkpoint of a JoeyNMT model\. .* and trg_vocab\.txt, .*tiny-de-en\.$",
        ),
    ):
        recognize(folder / "best.ckpt")
