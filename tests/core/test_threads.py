"""How threads wait is chosen before torch is loaded: by every entry point, and by scripts that call
`tune_process`."""

import os
import re
import sys
from pathlib import Path

import pytest

from tests.test_import_rules import run_python

pytestmark = pytest.mark.subprocess

WATCH = """
import os, sys

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            print("GOMP_SPINCOUNT is", os.environ.get("GOMP_SPINCOUNT"), "before torch")
            print("kernels:", os.environ.get("ONEDNN_PRIMITIVE_CACHE_CAPACITY"), "before torch")

sys.meta_path.insert(0, Watch())
os.environ.update(QT_QPA_PLATFORM="offscreen")
for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_NUM_THREADS", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"):
    os.environ.pop(name, None)
os.environ.update(dict(pair.split("=") for pair in sys.argv[1].split()))
"""
LAUNCH = "from augenmerk.viz_app.launch import main; "
ENTRIES = {
    "augenmerk": LAUNCH + "main(['translate', 'Ein Hund.'])",
    "augenmerk figure": LAUNCH + "main(['figure', '--text', 'Hund', '--out', sys.argv[2]])",
    "augenmerk app": LAUNCH + "main(['app', '--sentence', 'A', '--screenshot', sys.argv[2]])",
    "import augenmerk": "from augenmerk import tune_process; tune_process(); from augenmerk "
    "import Translator; print(Translator.load().translate('Ein Hund.').text)",
}


def output_of(code: str, environment: str = "", *arguments: str) -> str:
    result = run_python("-c", WATCH + code, environment, *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="chosen on Linux only")
@pytest.mark.figures
@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.slow
def test_spinning_is_chosen_before_torch(entry: str, tmp_path: object) -> None:
    output = output_of(ENTRIES[entry], "", f"{tmp_path}/picture.png")
    # as busy as the machine is
    assert re.search("GOMP_SPINCOUNT is (20000|0) before torch\n", output)
    assert "kernels: 64 before torch\n" in output


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="chosen on Linux only")
@pytest.mark.parametrize(
    ("loads", "count"),
    [
        ("0.31 1.40 0.90 1/165 99", 20_000),
        ("1.60 0.40 0.10 3/165 99", 0),
        ("1.60 0.40 0.10 1/165 99", 20_000),
        ("", 20_000),
    ],
    ids=["idle", "busy", "idle-again", "not-told"],
)
def test_threads_sleep_at_once_where_others_compute(loads: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / "loads"
    path.write_text(loads)
    code = (
        "from pathlib import Path; import augenmerk.core.process as t; t.LOADS = "
        f"Path({str(path)!r}); t.tune_process()"
    )
    assert output_of(f"{code}; print(os.environ['GOMP_SPINCOUNT'])") == f"{count}\n"


@pytest.mark.parametrize("setting", ["GOMP_SPINCOUNT=7", "OMP_WAIT_POLICY=passive"])
@pytest.mark.slow
def test_what_the_user_set_holds(setting: str) -> None:
    show = (
        "; from augenmerk.core import process; print(process.spinning()); "
        "print(os.environ.get('GOMP_SPINCOUNT'))"
    )
    expected = "7" if setting.startswith("GOMP") else "None"
    output = output_of(ENTRIES["import augenmerk"] + show, setting)
    assert f"GOMP_SPINCOUNT is {expected} before torch\n" in output
    assert f"Waiting threads spin as {setting} says: set by the environment\n{expected}\n" in output


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core, so one thread in any case")
@pytest.mark.parametrize(
    ("before", "environment", "number", "told"),
    [
        ("", "", 1, "so computing on 1 thread"),
        ("", "OMP_NUM_THREADS=2", 2, "computing on 2 threads, as OMP_NUM_THREADS says"),
        ("torch.set_num_threads(37); ", "", 37, "computing on 37 threads, as was set"),
    ],
)
@pytest.mark.slow
def test_beside_a_loaded_torch_only_the_number_is_chosen(
    before: str, environment: str, number: int, told: str
) -> None:
    code = (
        f"import torch; {before}import logging; logging.basicConfig(level='INFO', "
        "stream=sys.stdout); from augenmerk import tune_process; tune_process(); "
        "print(torch.get_num_threads(), os.environ.get('GOMP_SPINCOUNT'))"
    )
    output = output_of(code, environment)
    assert told in output
    assert output.endswith(f"{number} None\n")


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core, so one thread in any case")
@pytest.mark.parametrize("platform", ["darwin", "win32"])
@pytest.mark.slow
def test_threads_stay_as_they_are_where_spinning_is_not_chosen(platform: str) -> None:
    code = (
        "import torch; before = torch.get_num_threads(); from augenmerk.core import process; "
        f"sys.platform = {platform!r}; process.tune_process(); print(process.spinning()); "
        "print(torch.get_num_threads() - before)"
    )
    output = output_of(code)
    assert output.endswith("PyTorch's OpenMP has it: chosen on Linux only\n0\n")


KEPT_KERNELS = """
os.environ["ONEDNN_VERBOSE"] = "profile_create"
from augenmerk.core.process import tune_process
tune_process()
import torch
from augenmerk.core.inference.products import has_faster_kernels, product

if has_faster_kernels():
    weight = torch.randn(64, 64)
    for num_rows in [*range(100, 180), 100]:
        product(torch.randn(num_rows, 64), weight)
else:
    print("no kernels of oneDNN here")
"""


@pytest.mark.parametrize(
    ("setting", "again"), [("", "miss"), ("ONEDNN_PRIMITIVE_CACHE_CAPACITY=1024", "hit")]
)
@pytest.mark.slow
def test_few_kernels_are_kept_unless_the_user_says_so(setting: str, again: str) -> None:
    """By the log of oneDNN itself: a kernel that eighty others have followed is made anew."""
    output = output_of(KEPT_KERNELS, setting)
    if "no kernels of oneDNN here" in output:
        pytest.skip("this processor has no AVX-512, so PyTorch's own products serve")
    made = [
        line
        for line in output.splitlines()
        if "primitive,create:cache_" in line and "mb100ic64oc64" in line
    ]
    assert len(made) == 2
    assert "create:cache_miss" in made[0]
    assert f"create:cache_{again}" in made[1]
