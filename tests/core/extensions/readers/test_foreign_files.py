"""Formats of other projects are called what they are, with advice, by everything that opens or
imports a model."""

import argparse
import io
import json
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from augenmerk.core.checkpoint.file import load_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.errors import CheckpointError, ModelImportError
from augenmerk.core.extensions.readers.foreign_files import recognize
from augenmerk.core.extensions.readers.importing import import_model
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.experiment_file import (
    ModelReference,
    SavedExperiment,
    write_experiment_file,
)
from augenmerk.core.translation.translator import Translator

ONE, WEIGHT = torch.ones(2, 2), b"model.encoder.layers.0.self_attn.q_proj.weight"


def folder_of(**files: object) -> Callable[[Path], Path]:
    """A function that writes a folder; two underscores in a name are a dot, and one at the end
    makes a folder.
    """

    def make(path: Path) -> Path:
        path.mkdir()
        for name, content in files.items():
            file = path / name.replace("__", ".").rstrip("_")
            if name.endswith("_"):
                file.mkdir()
            elif isinstance(content, dict):
                file.write_text(json.dumps(content), encoding="utf-8")
            else:
                file.write_bytes(content if isinstance(content, bytes) else str(content).encode())
        return path

    return make


def file_of(name: str, content: bytes = b"content") -> Callable[[Path], Path]:
    def make(path: Path) -> Path:
        path.mkdir()
        (path / name).write_bytes(content)
        return path / name

    return make


def weights_in(name: str, *names: str) -> Callable[[Path], Path]:
    def make(path: Path) -> Path:
        path.mkdir()
        save_file({weight: ONE.clone() for weight in names}, path / name)
        return path / name

    return make


def pickle_of(values: object) -> Callable[[Path], Path]:
    def make(path: Path) -> Path:
        path.mkdir()
        torch.save(values, path / "model.pt")
        return path / "model.pt"

    return make


def archive_of(*names: str) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name in names:
            archive.writestr(name, "content")
    return written.getvalue()


def tar_of(name: str) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(WEIGHT)
        archive.addfile(member, io.BytesIO(WEIGHT))
    return written.getvalue()


def numpy_of(**arrays: np.ndarray) -> bytes:
    written = io.BytesIO()
    np.savez(written, **arrays)
    return written.getvalue()


CTRANSLATE2 = b"\x06\0\0\0\x10\0TransformerSpec\0\x07\0\0\0"
HDF5, GZIP = b"\x89HDF\r\n\x1a\n" + bytes(9), b"\x1f\x8b" + bytes(9)
ONLY_MARIAN = r"Choose a Marian model \(MarianMTModel\), such as those of OPUS-MT\.$"
ONLY, CONVERTED = (
    r"Choose the folder of a Marian \(OPUS-MT\)",
    r"Import the model that it was made from",
)
IMPORT_FOLDER = (
    "then import the whole folder: in the window by “Open a model folder…”, in a terminal by "
    "augenmerk import"
)
TYPES = {
    "t5": "T5ForConditionalGeneration",
    "mbart": "MBartForConditionalGeneration",
    "m2m_100": "M2M100ForConditionalGeneration",
    "bert": "BertModel",
    "gpt2": "GPT2LMHeadModel",
    "fsmt": "FSMTForConditionalGeneration",
}
FORMATS: dict[str, tuple[Callable[[Path], Path], str]] = {
    **{
        f"{kind} of transformers": (
            folder_of(
                config__json={"model_type": kind, "architectures": [name]}, model__safetensors=b"x"
            ),
            rf"is a model of the architecture {name} \(type {kind}\)\. {ONLY_MARIAN}",
        )
        for kind, name in TYPES.items()
    },
    "type without a name": (
        folder_of(config__json={"model_type": [1]}),
        r"is a model of the type a list of 1 item",
    ),
    "adapter": (
        folder_of(
            adapter_config__json={
                "base_model_name_or_path": "Helsinki-NLP/opus-mt-de-en",
                "peft_type": "LORA",
            },
            adapter_model__safetensors=b"x",
        ),
        r"is an adapter \(LoRA\) for the model Helsinki-NLP/opus-mt-de-en\. Merge it into that model with",
    ),
    "adapter that names no model": (
        folder_of(adapter_model__bin=b"x"),
        r"is an adapter \(LoRA\) for another model\.",
    ),
    "weights of an adapter": (
        weights_in("adapter.safetensors", "base_model.model.q_proj.lora_A.weight"),
        r"is an adapter \(LoRA\) for another model\. Merge it into that model with",
    ),
    "CTranslate2": (
        folder_of(model__bin=CTRANSLATE2, config__json={}, shared_vocabulary__json="[]"),
        rf"is a model of CTranslate2\. {CONVERTED}",
    ),
    "file of CTranslate2": (
        file_of("model.bin", CTRANSLATE2),
        rf"is a model of CTranslate2\. {CONVERTED}",
    ),
    "Argos Translate": (
        file_of("de_en.argosmodel", archive_of("model/model.bin")),
        "is a model of CTranslate2",
    ),
    "ONNX": (file_of("model.onnx", b"\x08\x07"), rf"is a model of ONNX\. {CONVERTED}"),
    "folder of ONNX": (
        folder_of(config__json={"model_type": "marian"}, decoder_model__onnx=b"x"),
        "a model of ONNX",
    ),
    "folder around ONNX": (
        folder_of(config__json={"model_type": "marian"}, onnx_=None),
        rf"is a folder with a model of ONNX in its subfolder onnx\. {CONVERTED}",
    ),
    "OpenVINO": (
        folder_of(openvino_model__xml=b'<?xml version="1.0"?>\n<net name="nmt">'),
        "a model of OpenVINO",
    ),
    "Marian": (
        file_of("model.npz", numpy_of(**{"special:model.yml": np.zeros(3), "Wemb": np.zeros(3)})),
        r"is a model of Marian in its own format\. Convert it with transformers 4: python -m .* Then import",
    ),
    "folder of Marian": (
        folder_of(opus__spm32k__npz=b"x", decoder__yml="x", source__spm="x"),
        r"is a model of Marian in its own format\.",
    ),
    "Bergamot": (
        folder_of(model__deen__intgemm__alphas__bin=b"x", lex__bin=b"x"),
        "a model of Marian in its own",
    ),
    "GGUF": (
        file_of("model.bin", b"GGUF\x03\0\0\0" + bytes(20)),
        rf"is a model of llama\.cpp \(GGUF\), which cannot be imported\. {ONLY}",
    ),
    "Keras": (
        file_of("model.keras", archive_of("metadata.json", "model.weights.h5")),
        "a model of TensorFlow, Keras or Flax",
    ),
    "HDF5": (
        file_of("weights", HDF5),
        r"is a model of TensorFlow, Keras or Flax\. Import its weights for PyTorch",
    ),
    "weights for TensorFlow alone": (
        folder_of(config__json={"model_type": "marian"}, tf_model__h5=HDF5),
        "a model of TensorFlow, Keras or Flax",
    ),
    "saved model": (
        folder_of(saved_model__pb=b"x", variables_=None),
        "a model of TensorFlow, Keras or Flax",
    ),
    "checkpoint of TensorFlow": (
        folder_of(checkpoint="x", model__ckpt_9__index=b"x"),
        "a model of TensorFlow, Keras or Flax",
    ),
    "Flax": (
        file_of("flax_model.msgpack"),
        r"is a model of TensorFlow, Keras or Flax\. Import its weights for PyTorch",
    ),
    "TorchScript": (
        file_of("model.pt", archive_of("m/data.pkl", "m/constants.pkl", "m/code/__torch__.py")),
        r"is a program of TorchScript\. Save its weights with",
    ),
    "NumPy": (file_of("weights.npz", numpy_of(a=np.zeros(3))), "is an archive"),
    "zip": (file_of("model.zip", archive_of("model/config.json")), r"is an archive\. Unpack it"),
    "gzip": (file_of("model.tar.gz", GZIP), r"is an archive\. Unpack it"),
    "tar": (file_of("model.tar", tar_of("model")), r"is an archive\. Unpack it"),
    "output of a trainer": (
        folder_of(**{"checkpoint-500_": None, "checkpoint-1500_": None, "runs_": None}),
        r"is a folder of checkpoints, not a model\. Choose one of the folders checkpoint-NUMBER in it\.$",
    ),
    "state of a training": (
        file_of("optimizer.pt", archive_of("o/data.pkl")),
        "only one of the files of a model",
    ),
    "one of several parts": (
        weights_in("model-00001-of-00003.safetensors", "model.shared.weight"),
        r"is only one of the files of a model\. Choose the folder with the whole model\.$",
    ),
    "settings": (file_of("config.json", b"{}"), "only one of the files of a model"),
    "SentencePiece": (file_of("source.spm"), "only one of the files of a model"),
    "tokenizer": (
        folder_of(tokenizer_config__json={}, source__spm=b"x", vocab__json={}),
        rf"is only a tokenizer\. Fetch the other files of the model, .*, {IMPORT_FOLDER}",
    ),
    "settings alone": (
        folder_of(config__json={"model_type": "marian"}),
        rf"Fetch model\.safetensors or pytorch_model\.bin, {IMPORT_FOLDER}",
    ),
    "fairseq": (
        pickle_of(
            {
                "args": argparse.Namespace(arch="transformer"),
                "model": {"encoder.version": ONE, "encoder.layers.0.self_attn.k_proj.weight": ONE},
                "optimizer_history": [{"num_updates": 3}],
                "extra_state": {"epoch": 3},
            }
        ),
        rf"is a model of fairseq, which cannot be imported\. {ONLY}",
    ),
    "OpenNMT-py": (
        pickle_of(
            {
                "model": {"encoder.transformer.0.self_attn.linear_keys.weight": ONE},
                "vocab": {"src": ["a"]},
                "opt": argparse.Namespace(layers=6),
            }
        ),
        rf"is a model of OpenNMT-py, which cannot be imported\. {ONLY}",
    ),
    "pickled weights of transformers": (
        pickle_of({"state_dict": {"encoder.block.0.layer.0.SelfAttention.q.weight": ONE}}),
        r"is only the weights of a model of Hugging Face transformers\. Choose the folder with the whole model\.$",
    ),
    "folder of fairseq": (
        folder_of(dict__de__txt="x", dict__en__txt="x", checkpoint_best__pt=b"x"),
        "of fairseq",
    ),
    "folder of OpenNMT-py": (
        folder_of(model_step_9000__pt=b"x"),
        rf"is a model of OpenNMT-py, which cannot be imported\. {ONLY}",
    ),
    "weights of OpenNMT-py": (
        weights_in("m.safetensors", "decoder.transformer_layers.0.self_attn.linear_keys.weight"),
        "is a model of OpenNMT-py",
    ),
    "weights of transformers": (
        weights_in("w.safetensors", "model.encoder.layers.0.self_attn.q_proj.weight"),
        r"is only the weights of a model of Hugging Face transformers\. Choose the folder with the whole model",
    ),
    "weights of BERT": (
        weights_in("w.safetensors", "bert.embeddings.word_embeddings.weight"),
        "Hugging Face transf",
    ),
    "weights of JoeyNMT": (
        weights_in("w.safetensors", "src_embed.lut.weight"),
        r"is only the checkpoint of a JoeyNMT model\. Choose the folder with config\.yaml",
    ),
    "pointer of Git LFS": (
        file_of("model.safetensors", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
        r"is a pointer of Git LFS, not the file itself: fetch it with git lfs pull\.$",
    ),
    "web page": (
        file_of("model.safetensors", b"<!DOCTYPE html>\n<html>"),
        "is a web page, not a file of a model. Follow the link",
    ),
    "own run": (
        folder_of(run__toml="x", best__safetensors=b"x", last__safetensors=b"x"),
        r"is the folder of a training by Augenmerk\. Open a checkpoint in it, best\.safetensors or",
    ),
}


@pytest.mark.parametrize(("make", "message"), FORMATS.values(), ids=FORMATS)
def test_a_foreign_format_is_explained_in_the_same_words_wherever_it_is_opened(
    make: Callable[[Path], Path], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make(tmp_path / "case")
    with pytest.raises(ModelImportError, match=message) as raised:
        import_model(path)
    said = str(raised.value)
    assert said.startswith(f"{path} is ")
    assert "\n" not in said
    for load in (load_checkpoint, Translator.load):
        with pytest.raises(CheckpointError) as loaded:
            load(path)
        assert str(loaded.value) == said
    assert main(["import", str(path), "--out", str(tmp_path / "out.safetensors")]) == 2
    assert main(["translate", "x", "--checkpoint", str(path)]) == 2
    assert capsys.readouterr().err == 2 * f"augenmerk: {said}\n"
    assert not (tmp_path / "out.safetensors").exists()


IMPORTABLE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "Marian": (
        folder_of(
            config__json={"model_type": "marian"},
            model__safetensors=b"x",
            tf_model__h5=HDF5,
            rust_model__ot=b"x",
        ),
        r"is a model of Marian \(OPUS-MT\)",
    ),
    "Marian of no named type": (
        folder_of(config__json={}, model__safetensors=b"x"),
        "is a model of Hugging Face transformers",
    ),
    "JoeyNMT": (
        folder_of(config__yaml="data: {}", best__ckpt=b"x", src__model=b"x"),
        "is a model of JoeyNMT",
    ),
    "JoeyNMT without its weights": (folder_of(config__yaml="data: {}"), "is a model of JoeyNMT"),
    "notebook 6": (
        weights_in("tut6.safetensors", "encoder.tok_embedding.weight"),
        "is a model of notebook 6",
    ),
    "The Annotated Transformer": (
        pickle_of({"src_embed.0.lut.weight": ONE}),
        "is a model of The Annotated Transformer",
    ),
    "safetensors": (
        weights_in("any.safetensors", "any.weight"),
        "is a safetensors file of another program",
    ),
    "PyTorch": (file_of("tut6-model.pt", archive_of("archive/data.pkl")), "is a PyTorch file"),
    "older PyTorch": (
        file_of("tut6-model.pt", b"\x80\x02\x8a\nl\xfc\x9cF\xf9"),
        "is a PyTorch file",
    ),
}


@pytest.mark.parametrize(("make", "message"), IMPORTABLE.values(), ids=IMPORTABLE)
def test_what_can_be_imported_says_how(
    make: Callable[[Path], Path], message: str, tmp_path: Path
) -> None:
    path = make(tmp_path / "case")
    with pytest.raises(CheckpointError, match=message) as raised:
        Translator.load(path)
    assert (
        "Import it first: in the window by opening it, in a terminal by augenmerk import "
        f"{path} --out FILE.safetensors, or in Python by import_model." in str(raised.value)
    )


def test_a_file_of_a_folder_is_imported_with_its_folder(tmp_path: Path) -> None:
    folder = folder_of(config__yaml="data: {}", best__ckpt=archive_of("archive/data.pkl"))(
        tmp_path / "case"
    )
    with pytest.raises(CheckpointError, match=f"augenmerk import {folder} --out FILE"):
        load_checkpoint(folder / "best.ckpt")


def test_a_whole_file_is_imported_alone_unless_its_folder_has_its_weights_in_it(
    tmp_path: Path,
) -> None:
    for name, source in (
        ("other.pt", tmp_path / "case" / "other.pt"),
        ("best.ckpt", tmp_path / "case"),
    ):
        folder = folder_of(config__yaml="data: {}")(tmp_path / "case")
        torch.save({"encoder.tok_embedding.weight": ONE}, folder / name)
        recognized = recognize(folder / name)
        assert recognized is not None
        assert recognized.source == source
        assert "is a model of notebook 6. Import it first" in recognized.message
        shutil.rmtree(folder)


def test_a_text_about_weights_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("encoder.tok_embedding.weight")
    assert recognize(tmp_path / "notes.txt") is None


def test_the_name_of_a_repository_is_imported_first() -> None:
    with pytest.raises(
        CheckpointError, match="augenmerk import Helsinki-NLP/opus-mt-de-en --out FILE"
    ):
        Translator.load("Helsinki-NLP/opus-mt-de-en")
    with pytest.raises(CheckpointError, match=r"\(\*\.safetensors\)\.$"):
        Translator.load("nowhere")


def test_a_training_that_begins_with_a_foreign_file_is_refused_in_these_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_of(
        adapter_config__json={"base_model_name_or_path": "a/b"}, adapter_model__bin=b"x"
    )(tmp_path / "x")
    out, data = str(tmp_path / "out"), str(tmp_path)
    for option in ("--initial-model", "--teacher"):
        assert (
            main(
                ["train", "--preset", "multi30k", "--data", data, "--out", out, option, str(folder)]
            )
            == 2
        )
        assert capsys.readouterr().err.startswith(
            f"augenmerk: {folder} is an adapter (LoRA) for the model a/b. Merge"
        )


def test_our_own_files_are_not_foreign(tmp_path: Path) -> None:
    assert recognize(bundled_model_path()) is None
    assert recognize(tmp_path / "missing") is None
    assert recognize(tmp_path) is None
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(bundled_model_path().read_bytes()[:100_000])
    assert recognize(damaged) is None
    (tmp_path / "notes.txt").write_text("a text")
    assert recognize(tmp_path / "notes.txt") is None


def test_what_augenmerk_itself_writes_is_called_what_it_is(
    untrained_checkpoint: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    maps, lines = tmp_path / "maps", tmp_path / "lines.jsonl"
    monkeypatch.setattr("sys.stdin", io.StringIO("Ein Mann."))
    translate = ["translate", "-", "--jsonl", "--checkpoint", str(untrained_checkpoint)]
    assert main([*translate, "--attention", str(maps)]) == 0
    lines.write_text(capsys.readouterr().out, encoding="utf-8")
    experiment = tmp_path / "saved.augenmerk"
    saved = SavedExperiment(Experiment("Ein Mann."), ModelReference("model", "ab" * 32))
    write_experiment_file(saved, experiment)
    names = {
        maps: "a folder of maps by augenmerk translate",
        maps / "000001.npz": "a file of numbers by Augenmerk",
        lines: "the output of augenmerk translate --jsonl",
        experiment: "an experiment or a lesson by Augenmerk",
    }
    for path, name in names.items():
        for command in (
            ["info", "--checkpoint", str(path)],
            ["import", str(path), "--out", str(tmp_path / "model.safetensors")],
        ):
            assert main(command) == 2
            assert f"{path} is {name}" in capsys.readouterr().err
    (maps / "lines.jsonl").unlink()
    with pytest.raises(CheckpointError, match="a folder of maps by augenmerk translate"):
        load_checkpoint(maps)


@pytest.mark.parametrize("kind", ["jpeg", "png", "gif", "eps", "tiff", "webp", "pdf"])
def test_a_picture_is_called_a_picture(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "picture"
    Image.new("RGB", (3, 3)).save(path, kind)
    with pytest.raises(CheckpointError, match="is a picture, not a model"):
        load_checkpoint(path)
