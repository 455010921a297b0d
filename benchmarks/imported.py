"""An imported Marian model of the size of OPUS-MT's against CTranslate2 with the same weights;
opening it; its maps.

The weights are random, 6 + 6 layers × 8 heads of width 512, 74 million parameters. Both decode
greedily in float32 on one thread. Ours yields every map, probability and alternative; CTranslate2,
from its own converter, yields tokens.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
import torch
from ctranslate2.converters import TransformersConverter

from augenmerk.core.checkpoint.file import save_checkpoint
from augenmerk.core.extensions.readers.importing import import_model
from augenmerk.core.resources import example_sentences
from augenmerk.core.text.codec import TextCodec
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.running import Runner
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.state.experiment_state import ExperimentState
from benchmarks.drawing import made_up_translation
from benchmarks.marian_model import write_marian_folder
from benchmarks.ratio import Ratio, paired_medians

NUM_TOKENS = 15
REQUIRED_TRANSLATING = 1 / 1.5
OPENING_SECONDS, GRID_SECONDS = 3.0, 0.060
BIG_LAYERS, BIG_HEADS = 6, 16
_OPENING = """
import sys, time
from augenmerk.core.process import tune_process
tune_process()
from augenmerk.core.translation.translator import Translator
began = time.perf_counter(), time.process_time()
Translator.load(sys.argv[1], "cpu").warm_up()
print(time.perf_counter() - began[0], time.process_time() - began[1])
"""


def run() -> list[Ratio]:
    """The ratios; what must not take longer than so many seconds is compared with those."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_marian_folder(folder / "marian")
        model = import_model(folder / "marian").checkpoint
        file = folder / "model.safetensors"
        # as OPUS-MT's are read: of 16 bits on the disk
        save_checkpoint(model, file, half_precision=True)
        return [_translating(folder), *_opening(file), _drawing()]


def _translating(folder: Path) -> Ratio:
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        whole = folder / "whole.safetensors"
        save_checkpoint(import_model(folder / "marian").checkpoint, whole)
        translator = Translator.load(whole, "cpu")
        rules = replace(translator.rules, max_steps=NUM_TOKENS, forces_end=False)
        translator.runner = Runner(translator.checkpoint, rules)
        other = _ctranslate2(folder / "marian", folder / "ctranslate2")
        codec = translator.checkpoint.codecs.source
        text = min(
            example_sentences(), key=lambda sentence: abs(_length(codec, sentence) - NUM_TOKENS)
        )
        translation = translator.run(Experiment(text))
        pieces = [codec.vocabulary.tokens[token] for token in translation.source_ids]

        def theirs() -> list[str]:
            results = other.translate_batch(
                [pieces],
                beam_size=1,
                max_decoding_length=NUM_TOKENS,
                return_end_token=True,
            )
            return list(results[0].hypotheses[0])

        target = translator.checkpoint.codecs.target.vocabulary
        mine = [target.tokens[token] for token in translation.predicted_ids]
        if mine != theirs():
            raise SystemExit(f"the two do not do the same work:\n{mine}\n{theirs()}")
        medians = paired_medians(lambda: translator.run(translation.experiment), theirs, repeats=15)
    finally:
        torch.set_num_threads(num_threads)
    name = f"imported, {len(pieces)} to {len(mine)} tokens, all maps / CTranslate2, no maps"
    return Ratio(name, *medians, REQUIRED_TRANSLATING, 1.0, "CPU seconds, 1 thread")


def _length(codec: TextCodec, text: str) -> int:
    return sum(len(word.ids) for word in codec.encode_text(text))


def _ctranslate2(folder: Path, target: Path) -> Any:
    """The Marian model in `folder`, converted by CTranslate2 itself."""
    with warnings.catch_warnings():
        # the tokenizer recommends sacremoses, which it does not use
        warnings.simplefilter("ignore")
        TransformersConverter(str(folder)).convert(str(target))
    return ctranslate2.Translator(
        str(target), device="cpu", compute_type="float32", inter_threads=1, intra_threads=1
    )


def _opening(file: Path) -> list[Ratio]:
    """Median of three, in a new process that has imported torch, as the window has by then."""
    seconds = []
    for _ in range(3):
        ran = subprocess.run(
            [sys.executable, "-c", _OPENING, str(file)], check=True, capture_output=True, text=True
        )
        seconds.append([float(value) for value in ran.stdout.split()])
    wall, cpu = np.median(seconds, axis=0)
    name = f"opening {file.stat().st_size / 1e6:.0f} MB of 16-bit weights / {OPENING_SECONDS:.0f} s"
    return [
        Ratio(name, wall, OPENING_SECONDS, 1.0, 2.0, "wall seconds"),
        Ratio(name, cpu, OPENING_SECONDS, 1.0, 2.0, "CPU seconds"),
    ]


def _drawing() -> Ratio:
    """Thumbnails of all maps of a model as `tc-big`, made and painted."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QSize
    from PySide6.QtGui import QPixmap
    from PySide6.QtWidgets import QApplication

    from augenmerk.viz_app.heatmap.head_grid import HeadGrid

    app = QApplication.instance() or QApplication([])
    arriving = [
        made_up_translation(seed, num_layers=BIG_LAYERS, num_heads=BIG_HEADS) for seed in range(12)
    ]
    state = ExperimentState()
    state.show_translation(arriving[0])
    grid = HeadGrid(state)
    grid.available = QSize(540, 640)
    grid.resize(540, 640)
    picture = QPixmap(grid.size())
    seconds = []
    for translation in arriving[1:]:
        began = time.process_time()
        state.show_translation(translation)  # other maps each time: no picture of them is there yet
        grid.render(picture)
        seconds.append(time.process_time() - began)
    num_maps = 3 * BIG_LAYERS * BIG_HEADS
    grid.deleteLater()
    app.processEvents()
    name = f"{num_maps} maps in the window / {GRID_SECONDS * 1e3:.0f} ms"
    return Ratio(name, statistics.median(seconds), GRID_SECONDS, 1.0, 2.0, "CPU seconds")
