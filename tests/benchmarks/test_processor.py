"""The line that says which processor a table was measured on."""

import pytest

from benchmarks import __main__ as benchmarks
from benchmarks.processor import describe, describe_processor

ZEN_3 = (
    "processor\t: 0\n"
    "cpu family\t: 25\n"
    "model\t\t: 1\n"
    "model name\t: AMD EPYC 7763\n"
    "\n"
    "processor\t: 1\n"
    "model\t\t: 9\n"
)


def test_name_family_and_instruction_sets_are_named() -> None:
    line = describe(ZEN_3, {"avx2": True, "avx512_f": False, "avx512_vnni": False}, {})
    assert line == "Processor: AMD EPYC 7763, family 25 model 1, AVX2, no AVX-512"
    line = describe(
        ZEN_3, {"cpu_name": "AMD EPYC", "avx2": True, "avx512_f": True, "avx512_bf16": True}, {}
    )
    assert line == "Processor: AMD EPYC, family 25 model 1, AVX2 AVX-512 AVX512-BF16"


def test_variables_that_limit_the_libraries_are_named() -> None:
    environment = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "", "PATH": "/bin"}
    line = describe(ZEN_3, {"avx2": True, "avx512_f": True}, environment)
    assert line.endswith("AVX2 AVX-512, limited by ATEN_CPU_CAPABILITY=avx2")


def test_without_cpuinfo_it_still_names_something() -> None:
    assert describe("", {"cpu_name": "Apple M2", "neon": True}, {}) == "Processor: Apple M2, NEON"


def test_the_table_begins_with_the_processor(capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmarks.main([]) == 0
    assert capsys.readouterr().out.splitlines()[0] == describe_processor()
