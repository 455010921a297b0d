"""Translators made in a moment: words, subwords, and a copy task that was really learned."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from augenmerk.core.checkpoint.file import Checkpoint
from augenmerk.core.config import RunConfig
from augenmerk.core.device import DeviceChoice
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.extensions.training.corpora.learning import learn_codecs, split_lines
from augenmerk.core.extensions.training.corpora.prepared import prepare_copy_task
from augenmerk.core.extensions.training.loop import train
from augenmerk.core.model.transformer import Transformer
from augenmerk.core.text.tokenizers import make_tokenizer
from augenmerk.core.translation.experiment import Experiment, GivenTarget, Intervention
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.translator import Translator
from tests.made_once import made_once

PEOPLE = {
    "Mann": "man",
    "Hund": "dog",
    "Junge": "boy",
    "Arbeiter": "worker",
    "Fußballspieler": "football player",
}
DEEDS = {
    "steht": "stands",
    "schläft": "sleeps",
    "wartet": "waits",
    "singt": "sings",
    "läuft": "walks",
}
PLACES = {
    "auf einer Leiter": "on a ladder",
    "im Gras": "in the grass",
    "vor dem Haus": "in front of the house",
    "am Strand": "at the beach",
    "neben einem blauen Auto": "next to a blue car",
    "auf der Straße": "on the street",
    "hinter dem Zaun": "behind the fence",
    "unter einem Baum": "under a tree",
}
GERMAN = [f"Ein {who} {does} {where}." for who in PEOPLE for does in DEEDS for where in PLACES]
ENGLISH = [
    f"A {who} {does} {where}."
    for who in PEOPLE.values()
    for does in DEEDS.values()
    for where in PLACES.values()
]
assert len(GERMAN) == len(ENGLISH) == 200

MAX_POSITIONS = 24
SHAPE = {
    "width": 32,
    "num_heads": 4,
    "num_encoder_layers": 2,
    "num_decoder_layers": 3,
    "feed_forward_width": 48,
    "max_positions": MAX_POSITIONS,
}


def read_given(
    translator: Translator, text: str, target: str, *interventions: Intervention
) -> Translation:
    """A given pair, read by teacher forcing."""
    return translator.run(Experiment(text, GivenTarget(target), interventions))


def untrained(run: RunConfig) -> Translator:
    """A translator with random weights and vocabularies from the made-up sentences."""
    words = [
        list(split_lines(lines, make_tokenizer(run.data, language), case))
        for lines, language, case in (
            (GERMAN, "de", run.data.source_case),
            (ENGLISH, "en", run.data.target_case),
        )
    ]
    codecs = learn_codecs(run.data, *words)
    source, target = codecs.source.vocabulary, codecs.target.vocabulary
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = Transformer(run.model, len(source), len(target), target.padding_id)
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if parameter.dim() == 2:
                    parameter.normal_(std=(1.0 if "tokens" in name else 2.0) * 32**-0.5)
    return Translator(
        Checkpoint(run, codecs, dict(model.named_parameters())), DeviceChoice("cpu", "requested")
    )


@pytest.fixture(scope="session")
def word_translator() -> Translator:
    """Whole words, lower-cased; post-norm and learned positions."""
    base = preset("notebook")
    return untrained(replace(base, model=base.model.replace(**SHAPE)))


@pytest.fixture(scope="session")
def subword_translator() -> Translator:
    """160 joint subwords; pre-norm, sinusoids, everything tied."""
    base = preset("multi30k")
    return untrained(
        replace(base, model=base.model.replace(**SHAPE), data=base.data.replace(num_subwords=160))
    )


@pytest.fixture(scope="session")
def copy_translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    """The small copy task after 240 steps: it repeats what it reads."""

    def train_it(folder: Path) -> None:
        base = preset("copy-task-small")
        run = replace(
            base,
            data=base.data.replace(copy_validation_pairs=15),
            training=base.training.replace(
                max_steps=240, warmup_steps=150, checkpoint_steps=1000, sample_size=1
            ),
        )
        train(run, prepare_copy_task(run.data, seed=1), folder / "run", device="cpu")

    folder = made_once(tmp_path_factory, "copy-task", train_it)
    return Translator.load(folder / "run" / "last.safetensors", "cpu")
