"""Files and folders of other projects: what each is, and what to do with it. No torch.

`_formats` has a row for each kind: those here, and those of readers. Everything that opens or
imports a model asks this table, the kernel as one of the recognizers (`core/recognizers.py`).
"""

import os
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from ...errors import ModelImportError
from ...plain_text import one_line
from ...recognizers import Recognized, Recognizer
from ...storage import open_file, read_bytes
from ...strict_json import JsonError, parse, shown
from ...tensor_file import has_description
from ..download import WEB_PAGE_STARTS
from .reader import FolderReader, choose_one, file_readers, folder_readers

REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
"""The name of a repository at Hugging Face."""
PYTORCH_STARTS = (b"pk\x03\x04", b"\x80")
"""First bytes of files by torch.save, without capitals: a ZIP archive, or in older versions a
pickle."""
_START_BYTES = 256
_SEARCHED_BYTES = 2**20
_LENGTH_BYTES = 8
_MAX_NAMES = 10_000
_MAX_JSON_BYTES = 2**20
_MAX_JSON_DEPTH = 12
CHOOSE_MARIAN = "Choose a Marian model (MarianMTModel), such as those of OPUS-MT."
_ORIGINAL = "Import the model that it was made from, if that is a Marian model."
_PYTORCH_WEIGHTS = (
    "Import its weights for PyTorch, model.safetensors or pytorch_model.bin, if there are any."
)
_COMMAND = "in a terminal by augenmerk import {source} --out FILE.safetensors, or in Python by import_model."
COMMAND = f"Import it first: in the window by opening it, {_COMMAND}"
_COMMAND_FOR_FOLDER = (
    f"then import the whole folder: in the window by “Open a model folder…”, {_COMMAND}"
)
_WHOLE = "Choose the folder with the whole model{folder}."


@dataclass(frozen=True)
class Format:
    """A row of the table. It describes what has one of the names, starts or marks.

    Attributes:
        kind: what it is, after “X is”; `{base}` is the base model of an adapter.
        advice: what to do, with the `{source}` to import, or the `{folder}` to choose, if known;
            `{choose}` is the advice to choose something that can be imported.
        names: patterns, without capitals, of names, written `./NAME` for a file and `/NAME` for
            what is in a folder.
        needed_name: a name that must be among the others, too.
        starts: first bytes of a file, without capitals and leading white space.
        marks: parts of a file's content as `content_of` returns it.
        can_be_imported: whether `import_model` may be able to read it.
        is_whole: whether a file is a model of its own, even next to those of another unless that
            has its weights in it.
    """

    kind: str
    advice: str
    names: str = ""
    needed_name: str = ""
    starts: tuple[bytes, ...] = ()
    marks: tuple[bytes, ...] = ()
    can_be_imported: bool = False
    is_whole: bool = False

    def describes(self, names: Collection[str], content: bytes = b"") -> bool:
        """Whether it is the format of a file or folder with these names and this content."""
        if self.needed_name and self.needed_name not in names:
            return False
        return (
            any(
                fnmatchcase(name.lower(), pattern)
                for name in names
                for pattern in self.names.split()
            )
            or content[:_START_BYTES].lstrip().lower().startswith(self.starts)
            or any(mark in content for mark in self.marks)
        )


_LFS_POINTER = Format(
    "a pointer of Git LFS, not the file itself: fetch it with git lfs pull",
    "",
    starts=(b"version https://git-lfs.github.com/spec/",),
)
_WEB_PAGE = Format(
    "a web page, not a file of a model",
    "Follow the link on that page that downloads the file.",
    starts=WEB_PAGE_STARTS,
)
_SAFETENSORS = Format(
    "a safetensors file of another program",
    COMMAND,
    marks=(b'"data_offsets"',),
    can_be_imported=True,
)
_PYTORCH = Format("a PyTorch file", COMMAND, starts=PYTORCH_STARTS, can_be_imported=True)
_OWN = (
    Format(
        "a folder of maps by augenmerk translate",
        "To see the origin of its first file, run augenmerk info {source}/000001.npz.",
        names="/lines.jsonl /[0-9][0-9][0-9][0-9][0-9][0-9].npz",
    ),
    Format(
        "a file of numbers by Augenmerk",
        "To see their origin, run augenmerk info {source}.",
        marks=(b"/model/digest.npy", b"/provenance.npy"),
    ),
    Format(
        "an experiment or a lesson by Augenmerk, not a model",
        "To open it in the window, run augenmerk app {source}.",
        marks=(b'"format": "augenmerk"',),
    ),
    Format(
        "the output of augenmerk translate --jsonl, not a model",
        "To score it, run augenmerk evaluate --source FILE --reference FILE --compare {source} "
        "OTHER.",
        starts=(b'{"source": ',),
    ),
    Format(
        "a picture, not a model",
        "PNG, SVG, PDF and GIF pictures by Augenmerk hold their origin, for augenmerk info; those "
        "of other formats do not.",
        starts=(
            *(b"\xff\xd8\xff", b"\x89png", b"gif8", b"%pdf-", b"%!ps-adobe", b"\xc5\xd0\xd3\xc6"),
            *(b"ii*\0", b"mm\0*", b"<svg"),
        ),
        marks=(b"WEBPVP8",),
    ),
)
"""What Augenmerk and other programs write that is no model."""
_KINDS = (
    Format(
        "a model of Hugging Face transformers",
        COMMAND,
        names="/model.safetensors* /model-*.safetensors /pytorch_model*.bin*",
        can_be_imported=True,
    ),
    Format(
        "the folder of a training by Augenmerk",
        "Open a checkpoint in it, best.safetensors or last.safetensors.",
        names="/run.toml",
    ),
    Format(
        "an adapter (LoRA) for {base}",
        "Merge it into that model with merge_and_unload and save_pretrained of peft, then import "
        "the result.",
        names="*adapter_config.json *adapter_model.*",
        marks=(b".lora_A",),
    ),
    Format(
        "a model of CTranslate2",
        _ORIGINAL,
        names="/*vocabulary.txt /*vocabulary.json *.argosmodel",
        marks=(b"Spec\0",),
    ),
    Format("a model of ONNX", _ORIGINAL, names="*.onnx"),
    Format("a folder with a model of ONNX in its subfolder onnx", _ORIGINAL, names="/onnx"),
    Format("a model of OpenVINO", _ORIGINAL, names="*openvino_model.*"),
    Format(
        "a model of Marian in its own format",
        "Convert it with transformers 4: python -m "
        "transformers.models.marian.convert_marian_to_pytorch --src FOLDER --dest NEW_FOLDER. "
        "Then import that folder.",
        names="/*.npz *.intgemm*.bin",
        marks=(b"special:model.yml",),
    ),
    Format(
        "an archive",
        "Unpack it, and choose the folder or file of the model in it.",
        names="*.zip *.tar *.npz",
        starts=(b"\x1f\x8b", b"bzh", b"\xfd7zxz", b"7z\xbc\xaf", b"rar!", b"\x28\xb5\x2f\xfd"),
    ),
    Format(
        "a model of llama.cpp (GGUF), which cannot be imported",
        "{choose}",
        names="*.gguf",
        starts=(b"gguf",),
    ),
    Format(
        "a model of TensorFlow, Keras or Flax",
        _PYTORCH_WEIGHTS,
        names="*.h5 *.keras *.msgpack *saved_model.pb *ckpt*.index *ckpt*.data-*-of-*",
        starts=(b"\x89hdf",),
    ),
    Format(
        "a program of TorchScript",
        "Save its weights with torch.save(model.state_dict(), FILE), and import that file.",
        marks=(b"/constants.pkl",),
    ),
    Format(
        "a model of fairseq, which cannot be imported",
        "{choose}",
        names="/dict.*.txt",
        marks=(b"optimizer_history",),
    ),
    Format(
        "a model of OpenNMT-py, which cannot be imported",
        "{choose}",
        names="*_step_*.pt",
        marks=(b".linear_keys.",),
    ),
    Format(
        "a folder of checkpoints, not a model",
        "Choose one of the folders checkpoint-NUMBER in it.",
        names="/checkpoint-*",
    ),
    Format(
        "only one of the files of a model",
        _WHOLE,
        names="./generation_config.json ./special_tokens_map.json ./tokenizer*.json ./vocab.json "
        "./*_vocab.txt ./*.spm ./*.model ./optimizer.pt ./scheduler.pt ./training_args.bin "
        "./*.index.json ./*-of-*.safetensors ./*-of-*.bin",
    ),
    Format(
        "a model of Hugging Face transformers without its weights",
        f"Fetch model.safetensors or pytorch_model.bin, {_COMMAND_FOR_FOLDER}",
        names="/config.json",
    ),
    Format(
        "only a tokenizer",
        "Fetch the other files of the model, config.json and model.safetensors or "
        f"pytorch_model.bin, {_COMMAND_FOR_FOLDER}",
        names="/tokenizer.json /tokenizer_config.json /*.spm /spiece.model",
    ),
)
"""Rows before those that recognize a reader's model by its file of settings or its weight alone."""
_WEIGHTS_ALONE = (
    Format(
        "only the checkpoint of a JoeyNMT model",
        "Choose the folder with config.yaml, src_vocab.txt and trg_vocab.txt{folder}.",
        marks=(b"src_embed.lut.weight", b"trg_embed.lut.weight"),
    ),
    Format(
        "only the weights of a model of Hugging Face transformers",
        _WHOLE,
        marks=(
            *(b"model.encoder.layers.0.self_attn.q_proj.", b"model.layers.0.self_attn.q_proj."),
            *(b".SelfAttention.", b".word_embeddings.", b"h.0.attn."),
        ),
    ),
)


def _formats(path: Path, content: bytes) -> Iterator[Format]:
    """The rows of the table for what is at a path. The first one that describes it counts."""
    readers = folder_readers()
    of_folders = [
        Format(
            f"a model of {reader.name}",
            COMMAND,
            names=" ".join(f"/{name.lower()}" for name in reader.weights.split()),
            needed_name=f"/{reader.settings_file}",
            can_be_imported=True,
        )
        for reader in readers
        if _fits(reader, path)
    ]
    yield _LFS_POINTER
    yield from _OWN
    yield from of_folders
    yield from _KINDS
    # its reader says what is missing
    yield from (replace(row, names=row.needed_name.lower()) for row in of_folders)
    settings_files = " ".join(f"./{reader.settings_file.lower()}" for reader in readers)
    yield Format("only one of the files of a model", _WHOLE, names=settings_files)
    if _SAFETENSORS.describes((), content) or _PYTORCH.describes((), content):
        for reader in file_readers():
            marks = (reader.weight.encode(),)
            yield Format(
                f"a model of {reader.name}",
                COMMAND,
                marks=marks,
                can_be_imported=True,
                is_whole=True,
            )
    yield from (*_WEIGHTS_ALONE, _WEB_PAGE, _SAFETENSORS, _PYTORCH)


@dataclass(frozen=True)
class ForeignFile(Recognized):
    """What a file or folder is.

    Attributes:
        can_be_imported: whether importing it may work. If not, `source` may be the folder around
            it.
    """

    can_be_imported: bool = False


def recognize(path: Path) -> ForeignFile | None:
    """What a file or folder of another project is; None if it is one of Augenmerk's, or of no known
    kind.

    A file of a Hugging Face or JoeyNMT folder represents its folder. A path where nothing is may be
    the name of a repository.
    """
    if has_description(path):
        return None
    try:
        if path.is_dir():
            names = [f"/{entry.name}" for entry in islice(path.iterdir(), _MAX_NAMES)]
            content = b""
            config = _settings_in(path / "config.json")
            is_known = any(_fits(reader, path) for reader in _readers_of(path))
            if (
                not is_known
                and "model_type" in config
                and (architecture := other_architecture(config))
            ):
                return ForeignFile(f"{path} is a model of {architecture}. {CHOOSE_MARIAN}")
        else:
            names = [f"./{path.name}"]
            content = content_of(path)
    except FileNotFoundError:
        return _repository(path)
    except OSError:
        return None
    if not content and not path.is_dir():
        return None
    return recognize_names(str(path), names, content)


FOREIGN_FILES = Recognizer(recognize, choose_one)
"""For the kernel, which reports what cannot be opened."""


def _repository(path: Path) -> ForeignFile | None:
    """What to do with the name of a repository; None for other paths."""
    if path.suffix == ".safetensors" or not REPOSITORY.fullmatch(str(path)):
        return None
    advice = f"Is it a model at Hugging Face? {COMMAND.format(source=path)}"
    return ForeignFile(
        f"There is no file {path}. Check the path of the checkpoint (*.safetensors). {advice}"
    )


def recognize_names(path: str, names: Iterable[str], content: bytes = b"") -> ForeignFile | None:
    """The same of a folder elsewhere, by the names in it, as rows of the table have them."""
    names = list(names)
    row = next(
        (row for row in _formats(Path(path), content) if row.describes(names, content)), None
    )
    if row is None:
        return None
    source = Path(path) if row.is_whole and not _is_of_folder(Path(path)) else source_of(Path(path))
    base = _settings_in(source / "adapter_config.json").get("base_model_name_or_path")
    named_base = f"the model {one_line(base)[:100]}" if isinstance(base, str) else "another model"
    kind = row.kind.replace("{base}", named_base)
    folder = "" if source == Path(path) else f", {source}"
    advice = row.advice.format(source=source, folder=folder, choose=choose_one())
    return ForeignFile(
        f"{path} is {kind}. {advice}".rstrip(),
        source if row.can_be_imported or source != Path(path) else None,
        row.can_be_imported,
    )


def other_architecture(config: Mapping[str, object]) -> str:
    """The architecture in `config.json` of Hugging Face transformers, in words; empty for
    Marian's.
    """
    kind, named = config.get("model_type"), config.get("architectures")
    architecture = named[0] if isinstance(named, list) and named else None
    if kind == "marian" and architecture in (None, "MarianMTModel"):
        return ""
    kind = one_line(kind)[:100] if isinstance(kind, str) else shown(kind)
    is_named = isinstance(architecture, str)
    return (
        f"the architecture {one_line(architecture)[:100]} (type {kind})"
        if is_named
        else f"the type {kind}"
    )


def source_of(path: Path) -> Path:
    """What to import for this path: the folder around a file if it has the settings of a model,
    else the path.
    """
    settings_files = ("adapter_config.json", *(reader.settings_file for reader in folder_readers()))
    is_in_model = not path.is_dir() and any(
        (path.parent / name).is_file() for name in settings_files
    )
    return path.parent if is_in_model else path


def reader_of(folder: Path) -> FolderReader | None:
    """The reader of a model's folder; None if no reader knows its files.

    Without a reader whose settings fit, it is one for a file of this name, which says what is wrong
    with it.
    """
    readers = _readers_of(folder)
    return next(
        (reader for reader in readers if _fits(reader, folder)), readers[0] if readers else None
    )


def _is_of_folder(path: Path) -> bool:
    """Whether a file has a name under which the folder around it has its weights."""
    reader = reader_of(path.parent)
    return reader is not None and reader.has_weights_in(path.name)


def _readers_of(folder: Path) -> list[FolderReader]:
    return [reader for reader in folder_readers() if os.path.lexists(folder / reader.settings_file)]


def _fits(reader: FolderReader, folder: Path) -> bool:
    """Whether the values in the folder's file of settings are among those of the reader."""
    values = _settings_in(folder / reader.settings_file) if reader.settings else {}
    return all(values.get(name) in allowed for name, allowed in reader.settings.items())


def content_of(path: Path) -> bytes:
    """What tells the format of a file: its first bytes; of a ZIP archive its names, and its
    pickle's first bytes.

    Of a safetensors file it is the header, with the names of tensors. A pickle has names as text,
    and is not run.

    Raises:
        OSError: the file cannot be read.
    """
    with open_file(path) as file:
        content = file.read(_SEARCHED_BYTES)
        if is_safetensors(content):
            content = content[_LENGTH_BYTES:]
        elif content.startswith(b"PK\x03\x04"):
            # a damaged archive causes any error
            with suppress(Exception), zipfile.ZipFile(file) as archive:
                names = archive.namelist()[:_MAX_NAMES]
                content = content[:_START_BYTES] + "\n".join(f"/{name}" for name in names).encode(
                    errors="replace"
                )
                pickle = next((name for name in names if name.endswith("data.pkl")), None)
                if pickle is not None:
                    with archive.open(pickle) as stream:
                        content += stream.read(_SEARCHED_BYTES)
    return content


def is_safetensors(start: bytes) -> bool:
    """Whether a file with these first bytes is a safetensors file, whose header follows its length
    of 8 bytes.
    """
    return start[_LENGTH_BYTES : _LENGTH_BYTES + 1] == b"{"


def kind_of_other_file(path: Path) -> str:
    """What was put in the place of a model's file by mistake, with advice; empty for other files.

    Raises `ModelImportError`.
    """
    start = start_of(path)
    row = next((row for row in (_LFS_POINTER, _WEB_PAGE) if row.describes((), start)), None)
    if row is not None:
        return row.kind
    return "" if start.strip() else "empty"


def start_of(path: Path) -> bytes:
    """The first 256 bytes of a file. Raises `ModelImportError`."""
    try:
        with path.open("rb") as file:
            return file.read(_START_BYTES)
    except OSError as error:
        raise ModelImportError(
            f"Cannot read {path}: {error.strerror or error}. Check its permissions."
        ) from error


def _settings_in(path: Path) -> Mapping[str, object]:
    """The values in a JSON file; none if it cannot be read, which its reader reports."""
    with suppress(OSError, JsonError):
        value = parse(read_bytes(path, _MAX_JSON_BYTES), max_depth=_MAX_JSON_DEPTH).value
        return value if isinstance(value, dict) else {}
    return {}
