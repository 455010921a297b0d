"""An imported model of JoeyNMT computes what JoeyNMT computes of the same folder."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from augenmerk.core.extensions.readers.importing import import_model
from augenmerk.core.translation.compilation import max_steps
from augenmerk.core.translation.decoding import greedy_search
from augenmerk.core.translation.translator import Translator
from augenmerk.core.translation.typed_text import encode_source
from tests.core.extensions.readers.joeynmt_oracle import CONFIGURATIONS

MODELS = os.environ.get("AUGENMERK_JOEYNMT_MODELS", "")
pytestmark = [
    pytest.mark.skipif(
        not MODELS,
        reason="JoeyNMT is not installed here: it needs an older sentencepiece. Run "
        "tests/core/extensions/readers/joeynmt_oracle.py FOLDER by a Python that has it, "
        "and set AUGENMERK_JOEYNMT_MODELS=FOLDER",
    ),
    pytest.mark.subprocess,  # a pickled file is read by another process
    pytest.mark.slow,
]


class Pair:
    """What JoeyNMT computed, and the model as it is after importing, saving and opening it."""

    def __init__(self, name: str, folder: Path) -> None:
        model = Path(MODELS) / name
        import_model(model).save(folder / "imported.safetensors", half_precision=False)
        self.ours = Translator.load(folder / "imported.safetensors", "cpu")
        self.rows: list[dict[str, Any]] = json.loads(
            model.with_name(f"{name}.json").read_text(encoding="utf-8")
        )
        self.has_other_marks = "symbols" in CONFIGURATIONS[name]
        self.tensors = load_file(model.with_name(f"{name}.safetensors"))


@pytest.fixture(scope="module", params=CONFIGURATIONS)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return Pair(request.param, tmp_path_factory.mktemp("joeynmt"))


def test_ids_are_theirs(pair: Pair) -> None:
    codecs, run = pair.ours.checkpoint.codecs, pair.ours.run_config
    for row in pair.rows:
        # special tokens have their usual names here
        if pair.has_other_marks and "<s>" in row["text"]:
            continue
        words = codecs.source.encode_text(codecs.source.one_line(row["text"]))
        assert [token for word in words for token in word.ids] == row["source"][:-1], row["text"]
        places = [(word.char_start, word.char_end) for word in words]
        assert all(0 <= start <= end <= len(row["text"]) for start, end in places)
        assert places == sorted(places)
        # special tokens that somebody typed are left out
        if not {1, 2, 3} & set(row["source"][:-1]):
            assert list(encode_source(row["text"], codecs.source, run).ids) == row["source"]


@torch.inference_mode()
def test_logits_and_all_maps_are_theirs(pair: Pair) -> None:
    model = pair.ours.model.double()
    compared = 0
    for number, row in enumerate(pair.rows):
        if f"{number}.logits" not in pair.tensors:
            continue
        read = [pair.ours.rules.start_id, *row["target"]]
        output = model(torch.tensor([row["source"]]), torch.tensor([read]), need_maps=True)
        logits = pair.tensors[f"{number}.logits"].double()
        assert logits.std() > 0.1
        torch.testing.assert_close(output.logits[0], logits, rtol=1e-6, atol=1e-5)
        for kind, maps in (
            ("encoder", output.encoder_maps),
            ("decoder", output.decoder_maps),
            ("cross", output.cross_maps),
        ):
            theirs = pair.tensors[f"{number}.{kind}"].double()
            torch.testing.assert_close(maps[0], theirs, rtol=0, atol=1e-6)
        compared += 1
    assert compared >= 8


@torch.inference_mode()
def test_logits_and_maps_are_theirs_in_single_precision(pair: Pair) -> None:
    model = pair.ours.model.float()
    row = pair.rows[0]
    read = [pair.ours.rules.start_id, *row["target"]]
    output = model(torch.tensor([row["source"]]), torch.tensor([read]), need_maps=True)
    theirs = pair.tensors["0.logits"]
    torch.testing.assert_close(
        output.logits[0], theirs, rtol=1e-5, atol=1e-5 * max(1.0, float(theirs.std()))
    )
    torch.testing.assert_close(output.cross_maps[0], pair.tensors["0.cross"], rtol=0, atol=1e-5)


def test_greedy_translations_are_theirs_token_by_token(pair: Pair) -> None:
    ours = pair.ours
    ours.model.double()
    for row in pair.rows:
        ids = torch.tensor([row["source"]])
        limit = max_steps(len(row["source"]), ours.run_config, ours.rules)
        tokens = greedy_search(ours.model, ours.model.encode(ids), [limit], ours.rules)[0]
        assert tokens == row["greedy"]
        text = ours.checkpoint.codecs.target.text_of(tokens)
        assert text == row["greedy_text"] or (
            not text and row["greedy_text"] in ("<unk>", "⁇", "[UNK]")
        )
    assert len({tuple(row["greedy"]) for row in pair.rows}) > 5  # the source matters
