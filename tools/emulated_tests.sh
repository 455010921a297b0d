#!/usr/bin/env bash
# Runs some tests on emulated processors: Haswell has only AVX2; Nehalem has no AVX, so
# FBGEMM refuses to run, as on ARM. Needs qemu-user and installs it if run as root.
set -euo pipefail
cd "$(dirname "$0")/.."
emulator=qemu-x86_64

if [ "$(uname -s) $(uname -m)" = "Linux x86_64" ] && ! command -v $emulator >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        { apt-get update -qq && apt-get install -y -qq qemu-user; } >/dev/null 2>&1 || true
    fi
fi
if [ "$(uname -m)" != x86_64 ] || ! command -v $emulator >/dev/null 2>&1; then
    echo "Skipped: the tests on emulated processors need Linux on x86-64 and qemu-user (Debian, Ubuntu: apt-get install qemu-user)"
    exit
fi

# Importing torch takes 15 seconds, and tests run about 50 times slower: no limits of time.
run_on() {
    processor=$1
    shift
    echo "On an emulated $processor:"
    AUGENMERK_EMULATED=$processor OPENBLAS_CORETYPE=$processor $emulator -cpu "$processor" \
        .venv/bin/python -m pytest -q -n 0 --timeout 0 -p no:cacheprovider "$@" 2>&1 |
        grep -v "TCG doesn't support requested feature"
}

run_on Haswell \
    "tests/core/translation/test_speculation.py::test_weights_of_32_bits_are_guessed_with_in_16[post-final]" \
    "tests/core/extensions/training/test_kernels.py::test_results_and_gradients_are_those_of_pytorch_to_rounding[True-shape0]" \
    "tests/core/inference/test_compiled.py::test_steps_give_the_logits_of_one_pass[post-final]" \
    "tests/core/inference/test_instruction_sets.py::test_the_bundled_model_chooses_the_same_tokens_on_every_processor" \
    "tests/core/extensions/analyses/test_logit_attribution.py::test_the_parts_of_every_step_sum_to_the_lead_of_the_token_over_its_foil[copy task]"
run_on Nehalem \
    "tests/core/inference/test_instruction_sets.py::test_the_bundled_model_chooses_the_same_tokens_on_every_processor"
