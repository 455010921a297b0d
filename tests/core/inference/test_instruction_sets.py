"""What `make test-avx2` and `make test-emulated` rely on: the instructions that are said to be
missing really are."""

import os

import pytest
import torch

from augenmerk.core.inference.products import has_half_matrices, product
from augenmerk.core.translation.translator import Translator

SENTENCE, TOKENS = (
    "Zwei Hunde spielen im Schnee.",
    ("two", "dogs", "play", "in", "the", "snow", ".", "<eos>"),
)
AVX2_ONLY = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "FBGEMM_ENABLE_INSTRUCTIONS": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
}


@pytest.mark.skipif(
    any(os.environ.get(name) != value for name, value in AVX2_ONLY.items()),
    reason="make test-avx2 runs it",
)
def test_no_library_uses_avx_512_when_told_not_to(capfd: pytest.CaptureFixture[str]) -> None:
    assert torch.backends.cpu.get_cpu_capability() == "AVX2"
    with torch.backends.mkldnn.verbose(torch.backends.mkldnn.VERBOSE_ON):  # type: ignore[no-untyped-call]
        product(torch.ones(64, 64), torch.ones(64, 64))
    kernels = [line for line in capfd.readouterr().out.splitlines() if ",exec,cpu," in line]
    assert kernels
    assert all(":avx2" in line for line in kernels), kernels


def test_the_bundled_model_chooses_the_same_tokens_on_every_processor() -> None:
    """Without FBGEMM too: `make test-emulated` runs it on a processor without AVX, as every ARM
    processor is."""
    translator = Translator.load(None, "cpu")
    if os.environ.get("AUGENMERK_EMULATED") == "Nehalem":
        assert not has_half_matrices()
    assert translator.translate(SENTENCE).predicted_tokens == TOKENS
