"""Notebook 6 and the Annotated Transformer: what their own modules compute, and their
vocabularies."""

import argparse
import datetime
import gzip
import math
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from augenmerk.core.checkpoint.file import load_checkpoint, save_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.errors import ModelImportError
from augenmerk.core.extensions.readers.importing import import_model
from augenmerk.core.extensions.readers.model import ImportOptions
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.translator import Translator
from tests.builders import first_quick
from tests.core.extensions.readers.pickles import pickles_read_here
from tests.core.extensions.readers.published import (
    EncoderDecoder,
    NotebookSeq2Seq,
    save_whole,
    shaken,
)
from tests.core.translators import ENGLISH, GERMAN

REPOSITORY = Path(__file__).resolve().parents[4]
SHAPE = {"width": 32, "layers": 2, "heads": 4, "inner": 48}
ONLY_IN_TEST = "Papagei Papagei"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus with three splits; that of 2022 has words of the test split alone, a trap of
    that text.
    """
    folder = tmp_path_factory.mktemp("data")
    for language, lines in (("de", GERMAN), ("en", ENGLISH)):
        (folder / f"train.{language}").write_text("\n".join(lines[:150]) + "\n", encoding="utf-8")
        (folder / f"val.{language}").write_text("\n".join(lines[150:180]) + "\n", encoding="utf-8")
        with gzip.open(folder / f"test_2016_flickr.{language}.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join([*lines[180:], ONLY_IN_TEST]) + "\n")
    return folder


def sizes(edition: str, data: Path) -> tuple[int, int]:
    """Of the vocabularies, counted by hand."""
    from augenmerk.core.text.tokenizers import SpacyTokenizer

    counted = []
    for language in ("de", "en"):
        names = ["train", *(["val", "test"] if edition == "annotated-2022" else [])]
        lines = {
            "train": (GERMAN if language == "de" else ENGLISH)[:150],
            "val": (GERMAN if language == "de" else ENGLISH)[150:180],
            "test": [*(GERMAN if language == "de" else ENGLISH)[180:], ONLY_IN_TEST],
        }
        counts: dict[str, int] = {}
        for name in names:
            for words in SpacyTokenizer(language).pipe(lines[name]):
                for word in words:
                    word = word.lower() if edition == "notebook" else word
                    counts[word] = counts.get(word, 0) + 1
        specials = 2 if edition == "annotated-2018" and language == "de" else 4
        counted.append(specials + sum(count >= 2 for count in counts.values()))
    return counted[0], counted[1]


def import_file(path: Path, data: Path | None, **options: int) -> Translator:
    imported = import_model(path, ImportOptions(data=data, num_heads=options.get("num_heads", 4)))
    save_checkpoint(imported.checkpoint, path.with_suffix(".imported"))
    return Translator.load(path.with_suffix(".imported"), "cpu")


@torch.inference_mode()
def assert_same_logits(
    ours: Translator, theirs: nn.Module, padding: int, num_source: int, num_target: int
) -> None:
    generator = torch.Generator().manual_seed(3)
    source = torch.randint(4, num_source, (4, 11), generator=generator)
    target = torch.randint(4, num_target, (4, 9), generator=generator)
    source[1, 7:] = source[2, 3:] = padding
    target[1, 5:] = padding
    expected, logits = theirs(source, target), ours.model(source, target).logits
    real: Tensor = target != padding
    assert expected.std() > 0.5
    torch.testing.assert_close(
        logits[real], expected[real], rtol=0, atol=1e-5 * float(expected.abs().max())
    )


@pytest.mark.heavy
def test_notebook_6_computes_what_its_modules_compute(data: Path, tmp_path: Path) -> None:
    num_source, num_target = sizes("notebook", data)
    theirs = shaken(NotebookSeq2Seq(num_source, num_target, **SHAPE))
    save_file(theirs.state_dict(), tmp_path / "tut6-model.pt")
    ours = import_file(tmp_path / "tut6-model.pt", data)
    assert ours.run_config.preset == "notebook"
    assert ours.run_config.data == preset("notebook").data
    assert ours.checkpoint.codecs.source.vocabulary.tokens[:4] == (
        "<unk>",
        "<pad>",
        "<sos>",
        "<eos>",
    )
    assert_same_logits(ours, theirs, 1, num_source, num_target)
    assert ours.run(Experiment(GERMAN[0])).source_tokens[0] == "<sos>"
    counts = ours.checkpoint.word_counts
    assert counts is not None
    assert (counts.of("ein"), counts.of("Ein"), counts.of("papagei"), counts.kind) == (
        150,
        0,
        0,
        "",
    )


def test_the_first_edition_of_notebook_6_has_one_norm_a_layer(data: Path, tmp_path: Path) -> None:
    num_source, num_target = sizes("notebook", data)
    theirs = shaken(NotebookSeq2Seq(num_source, num_target, **SHAPE))
    for layer in (*theirs.encoder.layers, *theirs.decoder.layers):
        for name in ("enc_attn_layer_norm", "ff_layer_norm"):
            if hasattr(layer, name):
                getattr(layer, name).load_state_dict(layer.self_attn_layer_norm.state_dict())
    weights = {}
    for name, value in theirs.state_dict().items():
        if "self_attn_layer_norm" in name:
            weights[name.replace("self_attn_layer_norm", "layer_norm")] = value
        elif "_layer_norm" not in name:
            weights[name] = value
    save_file(weights, tmp_path / "model.safetensors")
    assert_same_logits(
        import_file(tmp_path / "model.safetensors", data), theirs, 1, num_source, num_target
    )


@pytest.mark.heavy
@pytest.mark.parametrize("edition", ["annotated-2018", "annotated-2022"])
@pytest.mark.parametrize("own_norm", [True, False], ids=["own norm", "torch's norm"])
def test_the_annotated_transformer_computes_what_its_modules_compute(
    edition: str, own_norm: bool, data: Path, tmp_path: Path
) -> None:
    num_source, num_target = sizes(edition, data)
    padding = 2 if edition == "annotated-2022" else 1
    theirs = shaken(EncoderDecoder(num_source, num_target, padding, **SHAPE, own_norm=own_norm))
    save_file(theirs.state_dict(), tmp_path / "multi30k_model_final.pt")
    ours = import_file(tmp_path / "multi30k_model_final.pt", data)
    assert ours.run_config.preset == edition
    assert ours.run_config.model.norm_kind == ("annotated" if own_norm else "torch")
    assert_same_logits(ours, theirs, padding, num_source, num_target)
    codecs = ours.checkpoint.codecs
    assert ("Papagei" in codecs.source.vocabulary.ids) == (edition == "annotated-2022")
    counts = ours.checkpoint.word_counts
    assert counts is not None
    assert (counts.of("Ein"), counts.of("Papagei")) == (150, 0), "of the training split alone"
    translation = ours.run(Experiment(GERMAN[0]))
    assert translation.read_tokens[0] == "<s>"
    if edition == "annotated-2022":
        assert codecs.target.vocabulary.tokens[:4] == ("<s>", "</s>", "<blank>", "<unk>")
        assert (translation.source_tokens[0], translation.source_tokens[-1]) == ("<s>", "</s>")
    else:
        assert codecs.target.vocabulary.tokens[:4] == ("<unk>", "<blank>", "<s>", "</s>")
        assert translation.source_tokens[0] == "Ein"


class Settings:
    """As a class of a trainer."""

    def __init__(self) -> None:
        self.width, self.names = 3, ["a"]


class OptionsDict(dict[str, object]):
    """As libraries have them that read settings."""


Weights = dict[str, Tensor]
OTHERS = {
    "weight": torch.ones(3, 4),
    "exp_avg": torch.full((3,), math.inf),
    "step": torch.tensor(7.0),
}


def named(prefix: str) -> Callable[[Weights], object]:
    return lambda weights: {prefix + name: value for name, value in weights.items()}


WAYS_OF_SAVING: dict[str, Callable[[Weights], object]] = {
    "compiled": named("_orig_mod."),
    "compiled, on several devices": named("module._orig_mod."),
    "only a part compiled": lambda weights: {
        name.replace("encoder.layers", "encoder._orig_mod.layers"): value
        for name, value in weights.items()
    },
    "moving average": lambda weights: {"n_averaged": torch.tensor(3), **named("module.")(weights)},
    "Lightning": lambda weights: {
        "epoch": 3,
        "pytorch-lightning_version": "2.5.0",
        "state_dict": {
            **named("model.")(weights),
            "loss.weight": torch.ones(5),
            "metric.total": torch.tensor(9),
        },
        "optimizer_states": [{"state": {0: OTHERS}, "param_groups": [{"lr": 0.1}]}],
        "callbacks": {
            "ModelCheckpoint": {"best_model_score": torch.tensor(math.inf), "path": Path("x")}
        },
        "hyper_parameters": {"lr": 1e-3, "args": argparse.Namespace(width=3)},
    },
    "state of a training": lambda weights: {
        "model_state_dict": named("module.")(weights),
        "optimizer_state_dict": {"state": {0: OTHERS}},
        "loss": np.float64(1.5),
        "losses": np.arange(3.0),
        "config": {"width": 3, "settings": Settings()},
        "args": argparse.Namespace(width=3, path=Path("x")),
        "date": datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
        "counts": defaultdict(int, {"a": 1}),
        "random": (
            torch.get_rng_state(),
            random.getstate(),
            np.random.default_rng(1).integers(9, size=3),
        ),
    },
    "values between the weights": lambda weights: {
        "step": torch.tensor(7),
        "best": torch.tensor(math.inf),
        "text": "a note",
        "optimizer": {"weight": OTHERS["weight"]},
        "encoder.position_ids": torch.arange(9),
        **weights,
        "config": {"width": 3},
    },
    "model and moving average": lambda weights: {
        "ema": {name: value + 1 for name, value in weights.items()},
        "model": weights,
    },
    "dictionary of another class": lambda weights: {"net": weights, "more": OptionsDict(a=1)},
}


@pytest.mark.heavy
@pytest.mark.parametrize("save", first_quick(WAYS_OF_SAVING.values()), ids=WAYS_OF_SAVING)
@pytest.mark.parametrize("family", ["notebook", "annotated"])
def test_weights_are_found_however_a_trainer_saved_them(
    family: str, save: Callable[[Weights], object], data: Path, tmp_path: Path
) -> None:
    if family == "notebook":
        theirs = shaken(NotebookSeq2Seq(*sizes("notebook", data), **SHAPE))
    else:
        theirs = shaken(EncoderDecoder(*sizes("annotated-2022", data), 2, **SHAPE))
    plain, saved = tmp_path / "plain.safetensors", tmp_path / "saved.pt"
    save_file(theirs.state_dict(), plain)
    torch.save(save(dict(theirs.state_dict())), saved)
    options = ImportOptions(data=data, num_heads=4)
    expected = import_model(plain, options).checkpoint.weights
    with pickles_read_here():
        read_weights = import_model(saved, options).checkpoint.weights
    assert read_weights.keys() == expected.keys()
    assert all(torch.equal(read_weights[name], expected[name]) for name in expected)


@pytest.mark.subprocess
@pytest.mark.slow
def test_nothing_that_is_left_out_is_imported_or_run(data: Path, tmp_path: Path) -> None:
    (tmp_path / "trainer.py").write_text(
        "class Settings:\n"
        "    def __setstate__(self, state): raise SystemExit('executed')\n"
        "class Runs:\n"
        "    def __reduce__(self): return print, ('executed',)\n"
        "class Reads:\n"
        "    def __reduce__(self): return eval, ('1+1',)\n"
    )
    weights = NotebookSeq2Seq(*sizes("notebook", data), **SHAPE).state_dict()
    save_file(weights, tmp_path / "weights.safetensors")
    script = (
        "import sys, torch, trainer; from safetensors.torch import load_file; "
        "torch.save({'model': load_file('weights.safetensors'), 'more': getattr(trainer, "
        "sys.argv[1])()}, 'model.pt')"
    )
    for kind in ("Settings", "Runs", "Reads"):
        subprocess.run([sys.executable, "-c", script, kind], cwd=tmp_path, check=True)
        if kind == "Settings":
            assert import_model(
                tmp_path / "model.pt", ImportOptions(data=data, num_heads=4)
            ).checkpoint.weights
        else:
            with pytest.raises(
                ModelImportError, match=r"never run \((builtins\.)?(print|eval)\)\. Use"
            ):
                import_model(tmp_path / "model.pt", ImportOptions(data=data, num_heads=4))


def test_several_models_in_a_file_are_named(data: Path, tmp_path: Path) -> None:
    weights = NotebookSeq2Seq(*sizes("notebook", data), **SHAPE).state_dict()
    torch.save({"teacher": weights, "student": dict(weights)}, tmp_path / "model.pt")
    with (
        pickles_read_here(),
        pytest.raises(ModelImportError, match=r"it holds several models \(teacher, student\)"),
    ):
        import_model(tmp_path / "model.pt", ImportOptions(data=data))
    both = {
        f"{name}.{weight}": value.clone()
        for name in ("a", "b")
        for weight, value in weights.items()
    }
    save_file(both, tmp_path / "model.safetensors")
    with pytest.raises(
        ModelImportError, match=r"model\.safetensors holds several models \(a, b\)\. Save"
    ):
        import_model(tmp_path / "model.safetensors", ImportOptions(data=data))


@pytest.mark.subprocess
@pytest.mark.slow
def test_a_pickled_state_dict_of_several_gpus_is_imported_by_the_command(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    num_source, num_target = sizes("annotated-2022", data)
    theirs = shaken(EncoderDecoder(num_source, num_target, 2, **SHAPE))
    theirs.generator.proj.weight = theirs.tgt_embed[0].lut.weight  # shared, as the text suggests
    file, out = tmp_path / "multi30k_model_final.pt", tmp_path / "out.safetensors"
    torch.save({f"module.{name}": value for name, value in theirs.state_dict().items()}, file)
    assert main(["import", str(file), "--data", str(data), "--heads", "4", "--out", str(out)]) == 0
    assert "The Annotated Transformer), German to English" in capsys.readouterr().out
    assert load_checkpoint(out).run.model.tied_embeddings == "output"
    assert_same_logits(Translator.load(out, "cpu"), theirs, 2, num_source, num_target)


@pytest.mark.subprocess
@pytest.mark.slow
def test_a_whole_model_is_imported_after_the_line_that_the_command_prints(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `iwslt.pt` of 2018 is: `torch.save(model)`."""
    num_source, num_target = sizes("annotated-2018", data)
    theirs = shaken(EncoderDecoder(num_source, num_target, 1, **SHAPE))
    out = tmp_path / "out.safetensors"
    save_whole(theirs, tmp_path / "iwslt.pt")
    command = ["import", "--data", str(data), "--heads", "4", "--out", str(out)]
    assert main([*command, str(tmp_path / "iwslt.pt")]) == 2
    said = capsys.readouterr().err
    assert (
        "Do this only if you trust the file, as this line can execute code from it: torch.save("
        in said
    )
    line = said.split("execute code from it: ")[1].split(". Then import")[0]
    subprocess.run([sys.executable, "-c", f"import torch; {line}"], cwd=REPOSITORY, check=True)
    assert main([*command, str(tmp_path / "iwslt-weights.pt")]) == 0
    assert_same_logits(Translator.load(out, "cpu"), theirs, 1, num_source, num_target)


@pytest.mark.heavy
def test_vocabularies_that_do_not_fit_are_refused(data: Path, tmp_path: Path) -> None:
    num_source, num_target = sizes("notebook", data)
    for number, theirs in enumerate(
        (
            NotebookSeq2Seq(num_source + 1, num_target, **SHAPE),
            EncoderDecoder(num_source, num_target + 9, 2, **SHAPE),
        )
    ):
        path = tmp_path / f"{number}.safetensors"
        save_file(theirs.state_dict(), path)
        with pytest.raises(
            ModelImportError, match=r"source and .* target tokens, but the vocabularies built from"
        ):
            import_file(path, data)
        with pytest.raises(ModelImportError, match="in the dialog, with --data in the terminal"):
            import_file(path, None)
        with pytest.raises(ModelImportError, match=r"has no train\.de, plain or \.gz"):
            import_file(path, tmp_path)
        with pytest.raises(
            ModelImportError,
            match=r"gone is not a folder\. Its vocabularies are not in the file\. Name the Multi30k folder",
        ):
            import_file(path, tmp_path / "gone")
        with pytest.raises(
            ModelImportError,
            match=r"Its number of heads is not in the file.*The published model has 8",
        ):
            import_model(path, ImportOptions(data=data))
        with pytest.raises(
            ModelImportError,
            match=r"Name the Multi30k folder.* Its number of heads is not in the file",
        ):
            import_model(path)
        for num_heads in (5, 0):
            with pytest.raises(
                ModelImportError,
                match=rf"{num_heads} heads do not divide a width of 32\. Enter the number of",
            ):
                import_file(path, data, num_heads=num_heads)


def test_half_a_state_dict_is_refused(data: Path, tmp_path: Path) -> None:
    theirs = NotebookSeq2Seq(*sizes("notebook", data), **SHAPE)
    weights = theirs.state_dict()
    del weights["decoder.layers.1.positionwise_feedforward.fc_2.bias"]
    save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(
        ModelImportError, match=r"has no decoder\.layers\.1\.positionwise_feedforward\.fc_2\.bias"
    ):
        import_file(tmp_path / "model.safetensors", data)
    other = EncoderDecoder(*sizes("annotated-2022", data), 2, **SHAPE).state_dict()
    other["tgt_embed.1.pe"] = other["tgt_embed.1.pe"].roll(1, dims=2)
    save_file(other, tmp_path / "other.safetensors")
    with pytest.raises(ModelImportError, match="not the table of sines and cosines"):
        import_file(tmp_path / "other.safetensors", data)


@pytest.mark.slow
def test_vocabularies_of_multi30k_have_the_published_sizes(
    multi30k_folder: Path, tmp_path: Path
) -> None:
    theirs = NotebookSeq2Seq(7853, 5893, width=8, layers=1, heads=2, inner=8)
    save_file(theirs.state_dict(), tmp_path / "model.safetensors")
    ours = import_file(tmp_path / "model.safetensors", multi30k_folder, num_heads=2)
    assert ours.checkpoint.codecs.target.vocabulary.tokens[4] == "a"


@pytest.mark.parametrize(
    ("number", "half", "message"),
    [
        (
            1e300,
            None,
            r"model\.safetensors: decoder\.fc_out\.bias holds 1e\+300, which 32-bit floats cannot hold",
        ),
        (
            1e6,
            True,
            r"model\.safetensors: decoder\.fc_out\.bias holds 1e\+06, which 16-bit floats cannot hold",
        ),
        (1e6, None, None),
    ],
)
def test_numbers_that_are_lost_in_the_precision_here_are_refused(
    data: Path, tmp_path: Path, number: float, half: bool | None, message: str | None
) -> None:
    weights = NotebookSeq2Seq(*sizes("notebook", data), **SHAPE).state_dict()
    weights["decoder.fc_out.bias"] = (
        weights["decoder.fc_out.bias"].double().index_fill(0, torch.tensor([0]), number)
    )
    save_file(weights, tmp_path / "model.safetensors")
    options = ImportOptions(data=data, num_heads=4, half_precision=half)
    if message is None:
        read_weights = import_model(tmp_path / "model.safetensors", options).checkpoint.weights
        assert read_weights["output.bias"][0] == number
    else:
        with pytest.raises(ModelImportError, match=message):
            import_model(tmp_path / "model.safetensors", options)
