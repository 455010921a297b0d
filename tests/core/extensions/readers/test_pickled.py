"""Pickles are read through one door: tensors come out, code never runs."""

import subprocess
import sys
import zipfile
from collections import OrderedDict
from pathlib import Path

import pytest
import torch

from augenmerk.core.errors import ImportStoppedError, ModelImportError
from augenmerk.core.extensions.readers import pickled
from augenmerk.core.extensions.readers.pickled import read_pickled
from augenmerk.core.extensions.readers.weights import read_safetensors
from tests.limits import files_limited

pytestmark = pytest.mark.subprocess


@pytest.mark.slow
def test_tensors_of_a_dictionary_come_out(tmp_path: Path) -> None:
    weight = torch.randn(3, 4)
    values = OrderedDict(
        weight=weight,
        shared=weight,
        view=weight.t(),
        row=weight[1],
        half=torch.ones(2, dtype=torch.float16),
        empty=torch.empty(0),
        scalar=torch.tensor(3.0),
        more={
            "step": 7,
            "names": ["a", None, True],
            "rate": 0.5,
            "pair": (weight, 1),
            "other": weight,
        },
    )
    torch.save(values, tmp_path / "model.pt")
    tensors = read_pickled(tmp_path / "model.pt")
    assert set(tensors) - set(values) == {
        "more.step",
        "more.names",
        "more.rate",
        "more.pair",
        "more.other",
    }
    for name in ("weight", "shared", "view", "row", "half", "empty", "scalar"):
        assert torch.equal(tensors[name], values[name])
        assert tensors[name].dtype == values[name].dtype
    assert tensors["shared"] is tensors["weight"], "one that occurs twice is read once"
    assert tensors["more"] is tensors["more.other"] is tensors["more.step"] is None
    nested = {"steps": 7, "saved": {"src_embed.lut.weight": weight, "more": 1}, "weight": weight}
    torch.save(nested, tmp_path / "nested.pt")
    tensors = read_pickled(tmp_path / "nested.pt")
    assert torch.equal(tensors["src_embed.lut.weight"], weight)
    assert {name for name, value in tensors.items() if value is not None} == {
        "src_embed.lut.weight"
    }


@pytest.mark.slow
def test_the_format_from_before_2020_is_read(tmp_path: Path) -> None:
    torch.save(
        {"weight": torch.arange(4.0)}, tmp_path / "old.pt", _use_new_zipfile_serialization=False
    )
    assert torch.equal(read_pickled(tmp_path / "old.pt")["weight"], torch.arange(4.0))


@pytest.mark.skipif(
    sys.platform == "win32", reason="limits of the file size are those of POSIX systems"
)
@pytest.mark.slow
def test_a_lack_of_room_for_temporary_files_is_not_blamed_on_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.save({"weight": torch.zeros(1_000_000)}, tmp_path / "model.pt")
    # also of the other process, which has the same limit
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    with files_limited(1_000_000), pytest.raises(ModelImportError) as caught:
        read_pickled(tmp_path / "model.pt")
    assert "pass through the folder for temporary files" in str(caught.value)
    assert "File too large" in str(caught.value)
    assert "TMPDIR" in str(caught.value)
    assert "damaged" not in str(caught.value)


def malicious(kind: str, path: Path, touched: Path) -> None:
    """A file that would make `touched` if anything ran what it says."""
    command = f"cposix\nsystem\n(S'touch {touched}'\ntR.".encode()
    if kind == "pickle alone":
        path.write_bytes(b"\x80\x02" + command)
        return
    torch.save({"weight": torch.ones(2)}, path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(name, b"\x80\x02" + command if name.endswith("data.pkl") else data)


@pytest.mark.parametrize("kind", ["pickle alone", "in an archive"])
@pytest.mark.slow
def test_code_is_refused_and_never_runs(kind: str, tmp_path: Path) -> None:
    path, touched = tmp_path / "model.pt", tmp_path / "touched"
    malicious(kind, path, touched)
    with pytest.raises(
        ModelImportError, match=r"which are never run \(posix\.system\)\. Use a PyTorch file"
    ) as raised:
        read_pickled(path)
    assert "torch.load" not in str(raised.value), "how to run it is not shown"
    assert not touched.exists()


@pytest.mark.slow
def test_a_whole_module_is_refused(tmp_path: Path) -> None:
    torch.save(torch.nn.Linear(2, 2), tmp_path / "module.pt")
    with pytest.raises(
        ModelImportError, match=r"never run \(torch\.nn\.modules\.linear\.Linear\)\. Use"
    ) as raised:
        read_pickled(tmp_path / "module.pt")
    assert str(raised.value).replace("\n", "").isprintable()


@pytest.mark.slow
@pytest.mark.parametrize(
    "is_archive", [True, False], ids=["archive", "the format from before 2020"]
)
def test_the_line_that_converts_a_whole_model_does_convert_it(
    tmp_path: Path, is_archive: bool
) -> None:
    module, path = (
        torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()),
        tmp_path / "it's whole.pt",
    )
    torch.save(module, path, _use_new_zipfile_serialization=is_archive)
    with pytest.raises(
        ModelImportError, match="only if you trust the file, as this line can execute code"
    ) as raised:
        read_pickled(path)
    line = str(raised.value).rpartition("from it: ")[2].partition(". Then import ")[0]
    subprocess.run([sys.executable, "-c", f"import torch; {line}"], check=True)
    weights = read_pickled(tmp_path / "it's whole-weights.pt")
    assert weights.keys() == {"0.weight", "0.bias"}
    assert torch.equal(weights["0.weight"], module[0].weight)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
            "a pointer of Git LFS, not the file itself",
        ),
        (b"<!DOCTYPE html>\n<html>", "a web page, not a file of a model"),
        (b'{"weights": []}', "not a PyTorch file: it does not begin as torch.save writes"),
        (b"\x1b[31m", "not a PyTorch file: it does not begin as torch.save writes"),
        (b"", "empty"),
    ],
)
def test_what_is_no_pickle_at_all_is_called_what_it_is(
    content: bytes, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / "pytorch_model.bin"
    path.write_bytes(content)
    with pytest.raises(
        ModelImportError, match=r"Use a PyTorch file that holds only the weights"
    ) as raised:
        read_pickled(path)
    assert str(raised.value).startswith(f"{path} is {expected}")
    assert str(raised.value).isprintable()
    with pytest.raises(ModelImportError) as raised:
        read_safetensors(path)
    assert ("Git LFS" in str(raised.value)) == (b"git-lfs" in content)


@pytest.mark.slow
def test_what_is_no_dictionary_of_tensors_is_refused(tmp_path: Path) -> None:
    torch.save([torch.ones(2)], tmp_path / "list.pt")
    with pytest.raises(ModelImportError, match="it holds a list, not a dictionary"):
        read_pickled(tmp_path / "list.pt")
    torch.save({"sparse": torch.ones(2, 2).to_sparse()}, tmp_path / "sparse.pt")
    with pytest.raises(ModelImportError, match=r"sparse\.pt: it"):
        read_pickled(tmp_path / "sparse.pt")


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04 and then nothing", b"\x80\x02", b"\x80\x02}q\x00.", b""]
)
@pytest.mark.slow
def test_a_damaged_file_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "damaged.pt"
    path.write_bytes(content)
    with pytest.raises(ModelImportError, match=r"damaged\.pt"):
        read_pickled(path)


@pytest.mark.slow
def test_a_cut_off_file_is_refused(tmp_path: Path) -> None:
    torch.save({"weight": torch.ones(1000)}, tmp_path / "model.pt")
    data = (tmp_path / "model.pt").read_bytes()
    (tmp_path / "model.pt").write_bytes(data[: len(data) // 2])
    with pytest.raises(ModelImportError, match=r"model\.pt: it cannot be read"):
        read_pickled(tmp_path / "model.pt")


@pytest.mark.slow
def test_a_small_file_of_a_huge_tensor_is_refused(tmp_path: Path) -> None:
    torch.save({"huge": torch.ones(1).expand(200_000_000)}, tmp_path / "huge.pt")
    with pytest.raises(ModelImportError, match=r"huge\.pt"):
        read_pickled(tmp_path / "huge.pt")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits on memory are Linux's")
def test_a_compressed_file_that_asks_for_too_much_memory_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.pt"
    torch.save({"zeros": torch.zeros(300_000_000, dtype=torch.float32)}, path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    assert path.stat().st_size < 20_000_000
    with pytest.raises(ModelImportError, match=r"bomb\.pt"):
        read_pickled(path)


def test_time_is_limited_and_reading_can_be_stopped(tmp_path: Path) -> None:
    torch.save({"weight": torch.ones(2)}, tmp_path / "model.pt")
    with pytest.raises(ModelImportError, match=r"was not read within 0\.01 seconds"):
        read_pickled(tmp_path / "model.pt", time_limit_s=0.01)
    with pytest.raises(ImportStoppedError):
        read_pickled(tmp_path / "model.pt", should_stop=lambda: True)


LIMITED = """
import resource, subprocess, sys
from pathlib import Path
from augenmerk.core.errors import ModelImportError
from augenmerk.core.extensions.readers import pickled

def set_limit():
    resource.setrlimit(getattr(resource, sys.argv[2]), (int(sys.argv[3]),) * 2)

class Child(subprocess.Popen):  # sets the limit in the process that reads, which needs more than this one
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options, preexec_fn=set_limit)

if sys.argv[4] == "child":
    subprocess.Popen, limit_of = Child, pickled._limit_of_user
    pickled._limit_of_user = lambda name: int(sys.argv[3]) if name == sys.argv[2] else limit_of(name)
else:
    set_limit()
try:
    print(*pickled.read_pickled(Path(sys.argv[1])))
except ModelImportError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits on memory exist on Linux only")
@pytest.mark.parametrize(
    ("limit", "value", "process", "expected"),
    [
        ("RLIMIT_CPU", 300, "parent", "weight"),
        ("RLIMIT_AS", 4_000_000_000, "parent", "weight"),
        (
            "RLIMIT_CPU",
            1,
            "child",
            "could not be read within the limit on processor time, 1 s (ulimit -t)",
        ),
        (
            "RLIMIT_AS",
            800_000_000,
            "child",
            "could not be read within the limit on memory, 0.8 GB (ulimit -v)",
        ),
        (
            "RLIMIT_AS",
            400_000_000,
            "child",
            "could not be read within the limit on memory, 0.4 GB (ulimit -v)",
        ),
        ("RLIMIT_FSIZE", 1_000_000, "child", "Allow larger files (ulimit -f), or set TMPDIR"),
    ],
)
def test_a_hard_limit_of_the_user_is_respected_and_the_file_is_not_blamed(
    tmp_path: Path, limit: str, value: int, process: str, expected: str
) -> None:
    torch.save({"weight": torch.ones(4_000, 10_000)}, tmp_path / "model.pt")
    command = [
        sys.executable,
        "-c",
        LIMITED,
        str(tmp_path / "model.pt"),
        limit,
        str(value),
        process,
    ]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert expected in done.stdout, done.stderr
    assert "damaged" not in done.stdout


@pytest.mark.slow
def test_a_folder_for_temporary_files_that_cannot_be_used_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.save({"weight": torch.ones(2)}, tmp_path / "model.pt")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(
        ModelImportError, match=r"gone, which cannot be used \(No such file.*set TMPDIR"
    ):
        read_pickled(tmp_path / "model.pt")


@pytest.mark.slow
def test_modules_beside_the_user_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.save({"weight": torch.ones(2)}, tmp_path / "model.pt")
    (tmp_path / "torch.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    assert torch.equal(read_pickled(tmp_path / "model.pt")["weight"], torch.ones(2))


def test_nothing_else_loads_pickles() -> None:
    root = Path(pickled.__file__).parents[1]
    for path in [*root.rglob("*.py"), *(root.parent / "viz_app").rglob("*.py")]:
        if path != Path(pickled.__file__):
            text = path.read_text(encoding="utf-8")
            assert "torch.load(" not in text
            assert "import pickle" not in text
