# The tasks of this project. `make` or `make help` lists them.
#
# PYTHON=python3.12   use this interpreter (3.11 to 3.13) for the virtual environment
# TORCH=cpu           on Linux: install the CPU build of torch, even with an NVIDIA driver
# TORCH=cuda          on Linux: install the CUDA build, even without one
# KILLS=100           how often `make soak` kills a training
# MUTANTS=10000       how many damaged checkpoints `make fuzz` tries
# MINUTES=60          how long `make soak` uses a window
# TESTS="tests/core"  the tests to run, and other arguments for pytest
# MODEL=FOLDER        where `make model` keeps its stages (default: runs/bundled-model)
# ARGUMENTS=--dry-run for `make model`: all stages with 1% of the pairs; --data FOLDER: instead of a download
# UPGRADE="spacy uv"  the packages of which `make lock` takes the newest version that fits
# JOBS=1              number of tests run in parallel (default: one per processor core, at most 8); 0 allows a debugger

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help run test-quick test test-all test-cpus test-avx2 test-emulated test-wheel check check-static lint format \
	types contract javascript claims bench soak fuzz screenshot learn-picture train-picture curve model lock wheel clean
.NOTPARALLEL:

VENV := .venv
RUN := $(VENV)/bin/python
PINS := pyproject.toml hatch_build.py constraints.txt constraints-dev.txt tools/set_up.sh
TESTS ?=
JOBS ?= auto
PYTEST := -m pytest --numprocesses $(JOBS) --maxprocesses 8 --dist worksteal
LOCK := $(RUN) -m uv pip compile --quiet --universal --python-version 3.11 --no-emit-index-url \
	--custom-compile-command "make lock" $(addprefix --upgrade-package ,$(UPGRADE)) pyproject.toml
AVX2_ONLY := ATEN_CPU_CAPABILITY=avx2 FBGEMM_ENABLE_INSTRUCTIONS=AVX2 ONEDNN_MAX_CPU_ISA=AVX2
KILLS ?= 100
MUTANTS ?= 10000
MINUTES ?= 60
MODEL ?= runs/bundled-model
ARGUMENTS ?=
SENTENCE ?= Ein Mann in einem blauen Hemd steht auf einer Leiter.
SCREENSHOT ?= docs/images/translate.png

export PYTHON TORCH
unexport PYTHONDONTWRITEBYTECODE # without bytecode, each test process compiles all tests again: 8 seconds

help: ## List the targets
	@echo "Augenmerk makes the attention of a Transformer visible."
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  PYTHON=python3.12   use this interpreter (3.11 to 3.13)"
	@echo "  TORCH=cpu, cuda     on Linux: the build of torch (without an NVIDIA driver: cpu)"
	@echo "  TESTS=tests/core    run only these tests"
	@echo "  JOBS=1              number of tests run in parallel"
	@echo "  MODEL=FOLDER        model: where its stages are (default: runs/bundled-model)"
	@echo "  ARGUMENTS=--dry-run model: all stages with 1% of the pairs, in minutes"
	@echo "  KILLS=20            soak: number of kills"
	@echo "  MUTANTS=1000        fuzz: number of damaged checkpoints"
	@echo "  MINUTES=15          soak: minutes of using a window"

# --- use -------------------------------------------------------------------------------------------------------------

run: $(VENV)/.ready-app ## Set up .venv if needed, and open the window
	@$(RUN) -m augenmerk

screenshot: $(VENV)/.ready-app ## Draw the README's picture of the Translate page
	$(RUN) -m augenmerk app --sentence "$(SENTENCE)" --screenshot "$(SCREENSHOT)"

learn-picture: $(VENV)/.ready-app ## Draw the README's picture of the Learn page
	$(RUN) -m tools.learn_picture

train-picture: $(VENV)/.ready-app ## Draw the picture of the Train page in docs/, with a real training
	$(RUN) -m tools.train_picture

curve: $(VENV)/.ready-app ## Draw the curve of the preset notebook in docs/
	$(RUN) -m tools.notebook_curve

# --- verify ----------------------------------------------------------------------------------------------------------

test-quick: $(VENV)/.ready-dev ## Run the quick tests, in about a minute
	$(RUN) $(PYTEST) -m "not slow and not heavy and not subprocess and not training and not figures and not corpus" $(TESTS)

test: $(VENV)/.ready-dev ## Set up .venv if needed, and run the tests in four minutes, without the slow ones
	$(RUN) $(PYTEST) -m "not slow" $(TESTS)

test-all: $(VENV)/.ready-dev ## Run all tests
	$(RUN) $(PYTEST) $(TESTS)

test-cpus: test-avx2 test-emulated ## Run the numeric tests as on other processors, without AVX-512 and without FBGEMM

test-avx2: $(VENV)/.ready-dev
	$(AVX2_ONLY) $(RUN) $(PYTEST) tests/core/model tests/core/inference tests/core/translation tests/core/extensions/analyses

test-emulated: $(VENV)/.ready-dev
	@tools/emulated_tests.sh

test-wheel: wheel ## Install the wheel without extras into an empty environment and test it there
	@tools/set_up.sh wheel
	AUGENMERK_WHEEL_VENV=build/wheel-venv $(RUN) $(PYTEST) tests/test_plain_install.py tests/test_example_extension.py

check: check-static test-all ## Check lint, formatting, types and import contract, then run all tests

check-static: lint format types contract javascript ## Run the static checks: all of `check` except the tests

lint: $(VENV)/.ready-dev
	$(RUN) -m ruff check

format: $(VENV)/.ready-dev
	$(RUN) -m ruff format --check

types: $(VENV)/.ready-dev
	$(RUN) -m mypy

contract: $(VENV)/.ready-dev
	$(VENV)/bin/lint-imports

javascript: ## Check the scripts of pages with ESLint, Prettier and TypeScript, if npm is installed
	@tools/javascript/check.sh

claims: $(VENV)/.ready-dev ## Check what texts claim about the bundled model
	$(RUN) -m tools.claims

bench: $(VENV)/.ready-dev ## Measure speed and memory, as a table of ratios
	$(RUN) -m benchmarks

soak: $(VENV)/.ready-dev ## Kill a training 100 times, fill its disk, use a window for an hour: nothing may be lost
	AUGENMERK_KILLS=$(KILLS) $(RUN) -m pytest tests/core/extensions/training/test_crash.py tests/core/extensions/training/test_full_disk.py -s
	AUGENMERK_KILLS=$(KILLS) $(RUN) -m pytest tests/viz_app/test_shutdown.py -s
	$(RUN) -m tests.viz_app.soak_window --minutes $(MINUTES)

fuzz: $(VENV)/.ready-dev ## Open thousands of damaged files, random texts and settings (Linux)
	$(RUN) -m tests.fuzz --checkpoints $(MUTANTS) --bundled 300 --others 4000
	$(RUN) -m pytest tests/fuzz/test_properties.py --hypothesis-profile=long

model: $(VENV)/.ready-app ## Train the bundled model from the 29,000 pairs of Multi30k, or resume: by estimate 16 hours on one core
	$(RUN) -m tools.train_bundled_model --out $(MODEL) $(ARGUMENTS)

# --- ship ------------------------------------------------------------------------------------------------------------

wheel: $(VENV)/.ready-dev ## Build the wheel and the source archive into dist/
	PIP_CONSTRAINT=constraints-dev.txt PIP_BUILD_CONSTRAINT=constraints-dev.txt $(RUN) -m build

lock: $(VENV)/.ready-dev ## Resolve pyproject.toml into constraints.txt and constraints-dev.txt; UPGRADE=spacy takes a newer spacy
	$(LOCK) --extra hub --extra pandas --extra tensorboard --extra xarray --output-file constraints.txt
	$(LOCK) --extra dev --group build --constraint constraints.txt --output-file constraints-dev.txt

clean: ## Remove builds and caches, but not .venv
	rm -rf build dist tools/javascript/node_modules *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# --- set-up: once, and again when the pins change ----------------------------------------------------------------------

$(VENV)/.ready-app: $(PINS)
	@tools/set_up.sh app

$(VENV)/.ready-dev: $(PINS)
	@tools/set_up.sh dev
