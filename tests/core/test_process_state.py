"""The engine leaves the process of its user unchanged; only entry points and `tune_process` change
it.
"""

import pytest

from tests.test_import_rules import run_python

pytestmark = pytest.mark.subprocess

SNAPSHOT = """
import gc, hashlib, importlib, locale, logging, os, pkgutil, random, signal, sys, tempfile, threading, warnings

for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_NUM_THREADS", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"):
    os.environ.pop(name, None)
import numpy, torch

def state():
    return {
        **{"variable " + name: value for name, value in os.environ.items()},
        "folder": os.getcwd(),
        "threads of torch": (torch.get_num_threads(), torch.get_num_interop_threads()),
        "torch": (
            torch.get_default_dtype(), torch.get_default_device(), torch.is_grad_enabled(),
            torch.is_inference_mode_enabled(), torch.are_deterministic_algorithms_enabled(),
            torch.get_float32_matmul_precision(), torch.backends.cudnn.benchmark, torch.backends.mkldnn.enabled,
        ),
        "random numbers": [
            hashlib.sha256(repr(each).encode()).hexdigest()
            for each in (torch.get_rng_state().tolist(), random.getstate(), numpy.random.get_state())
        ],
        "floating-point errors": numpy.geterr(),
        "garbage": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()),
        "signals": [signal.getsignal(number) for number in sorted(signal.valid_signals())],
        "logging": (logging.root.level, list(logging.root.handlers), logging.raiseExceptions),
        "warnings": [entry for entry in warnings.filters if entry not in of_other_libraries],
        "hooks": (sys.excepthook, sys.unraisablehook, threading.excepthook, sys.getswitchinterval()),
        "locale": locale.setlocale(locale.LC_ALL),
    }

def check(after, before):
    names = before.keys() | after.keys()
    changed = {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}
    assert not changed, changed
"""
LOAD_OTHER_LIBRARIES = """
import sentencepiece, spacy, torch._dynamo, torch._inductor
of_other_libraries = list(warnings.filters)
torch.manual_seed(11)
before = state()
"""
IMPORT_ALL = """
import augenmerk
import augenmerk.core
for module in pkgutil.walk_packages(augenmerk.core.__path__, "augenmerk.core."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
check(state(), before)
"""
TRANSLATE = """
from augenmerk import Beam, Experiment, GivenTarget, Head, HeadScaled, Translator
translator = Translator.load(device="cpu")
for output in (None, Beam(2), GivenTarget("Two dogs .")):
    experiment = Experiment("Zwei Hunde .", interventions=(HeadScaled(Head("cross", 0, 0)),))
    translator.compare(experiment if output is None else Experiment("Zwei Hunde .", output, experiment.interventions))
translator.translate_corpus(["Zwei Hunde .", "Ein Mann ."], beam=2)
translator.translate_corpus(["Zwei Hunde .", "Ein Mann ."])
check(state(), before)
"""
TRAIN = """
from dataclasses import replace
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.prepared import prepare_copy_task
from augenmerk.core.extensions.training.loop import train
run = preset("copy-task-small")
run = replace(run, training=run.training.replace(max_steps=2, checkpoint_steps=1000))
train(run, prepare_copy_task(run.data, seed=1), tempfile.mkdtemp() + "/run", device="cpu")
check(state(), before)
"""


def check_that_it_runs(*parts: str) -> None:
    result = run_python("-c", "\n".join(parts))
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_importing_every_module_of_core_changes_nothing_in_the_process() -> None:
    check_that_it_runs(SNAPSHOT, LOAD_OTHER_LIBRARIES, IMPORT_ALL)


@pytest.mark.slow
def test_importing_the_public_api_before_torch_changes_no_environment_variable() -> None:
    check_that_it_runs(
        "import os; before = dict(os.environ); import augenmerk; augenmerk.Translator; assert "
        "os.environ == before"
    )


@pytest.mark.slow
def test_translating_changes_nothing_in_the_process() -> None:
    check_that_it_runs(SNAPSHOT, LOAD_OTHER_LIBRARIES, TRANSLATE)


@pytest.mark.slow
@pytest.mark.training
def test_training_changes_nothing_in_the_process() -> None:
    check_that_it_runs(SNAPSHOT, LOAD_OTHER_LIBRARIES, TRAIN)
