"""What people give by mistake, or at the edges: numbers stay finite, and refusals say what to
do."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from augenmerk.core.checkpoint.file import save_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.errors import StorageError
from augenmerk.core.extensions.analyses.cli.analyze import write_numbers
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.maps.measures import MEASURES
from tests.builders import first_quick
from tests.core.translators import SHAPE, untrained

ONE_TOKEN = "Hund"
SENTENCE = "Ein Mann steht auf einer Leiter."
EDGES = {
    "word": ("notebook", {}),
    "subword": ("multi30k", {"num_subwords": 160}),
}


@pytest.fixture(scope="module", params=EDGES)
def tiny(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of one layer with one head, of words or of subwords."""
    name, data = EDGES[request.param]
    base = preset(name)
    shape = SHAPE | {"num_heads": 1, "num_encoder_layers": 1, "num_decoder_layers": 1}
    translator = untrained(
        replace(base, model=base.model.replace(**shape), data=base.data.replace(**data))
    )
    path = tmp_path_factory.mktemp("tiny") / f"{request.param}.safetensors"
    save_checkpoint(translator.checkpoint, path)
    return path


def told(capsys: pytest.CaptureFixture[str], checkpoint: Path, *arguments: str) -> dict:
    """The JSON that `analyze` or `align` printed."""
    capsys.readouterr()
    assert main([*arguments, "--checkpoint", str(checkpoint), "--device", "cpu"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys: pytest.CaptureFixture[str], checkpoint: Path, *arguments: str) -> str:
    """The one message of a command that refused; it printed nothing else."""
    capsys.readouterr()
    assert main([*arguments, "--checkpoint", str(checkpoint), "--device", "cpu"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "Traceback" not in output.err
    return output.err


def assert_finite(fields: dict) -> None:
    for name, value in fields.items():
        array = np.array(value)
        if array.dtype.kind in "fi":
            assert np.isfinite(array.astype(float)).all(), name


@pytest.mark.parametrize("measure", first_quick(MEASURES))
@pytest.mark.parametrize("text", [ONE_TOKEN, SENTENCE])
def test_one_layer_with_one_head_reads_sentences_of_any_length(
    tiny: Path, capsys, text: str, measure
) -> None:
    fields = told(
        capsys,
        tiny,
        "analyze",
        text,
        "--measure",
        measure,
        "--source-share",
        "--without-words",
        "<unk>",
    )
    assert_finite(fields)
    assert fields["source"] == text
    for kind in MEASURES[measure].kinds:
        assert np.shape(fields[kind])[:2] == (1, 1)
        if MEASURES[measure].rows_sum_to_one:
            np.testing.assert_allclose(np.sum(fields[kind], axis=-1), 1, atol=1e-4)
    shares = np.sum(fields["contribution_of_source"], axis=1) + np.sum(
        fields["contribution_of_prefix"], axis=1
    )
    np.testing.assert_allclose(shares, 1, atol=1e-4)


@pytest.mark.parametrize("text", [ONE_TOKEN, SENTENCE])
@pytest.mark.parametrize(
    "changes", [[], ["--off", "encoder:1:1", "decoder:1:1", "cross:1:1"], ["--beam", "3"]]
)
def test_one_layer_with_one_head_has_lenses_and_parts(
    tiny: Path, capsys, text: str, changes: list[str]
) -> None:
    options = ["--lens", "--decoder-lens", "--parts", "--query-key", "cross:1:1", "1", "1"]
    fields = told(capsys, tiny, "analyze", text, *options, *changes)
    for group in ("lens", "decoder_lens", "parts", "query_key_parts"):
        assert_finite(fields[group])
    assert np.shape(fields["lens"]["ranks"]) == (4, len(fields["predicted_tokens"]))
    assert len(fields["decoder_lens"]["translations"]) == 2
    steps = fields["parts"]["steps"]
    assert [fields["predicted_tokens"][step] for step in steps] == fields["parts"]["tokens"]
    assert steps == sorted(set(steps))
    totals = np.sum(fields["parts"]["values"], axis=1) + fields["parts"]["remainder"]
    np.testing.assert_allclose(totals, fields["parts"]["difference"], atol=1e-4)


def test_one_layer_with_one_head_has_roles_and_aligners(tiny: Path, tmp_path: Path, capsys) -> None:
    lines = tmp_path / "some.de"
    lines.write_text(f"{ONE_TOKEN}\n{SENTENCE}\n", encoding="utf-8")
    fields = told(capsys, tiny, "analyze", ONE_TOKEN, "--statistics", str(lines))
    assert_finite(fields)
    assert [np.shape(fields[f"{kind}_roles"]) for kind in ("encoder", "decoder", "cross")] == [
        (1, 1)
    ] * 3
    gold = tmp_path / "gold.tsv"
    row = "\tEin Mann steht .\tA man stands .\t1-1 2-2 3-3 4-4\n"
    gold.write_text(f"line\tgerman\tenglish\tlinks\n1{row}2{row}", encoding="utf-8")
    ranking = told(capsys, tiny, "align", "--gold", str(gold), "--json")
    assert ranking["aligners"]
    for aligner in ranking["aligners"]:
        assert aligner["layer"] in (None, 0)
        assert 0 <= aligner["reporting"]["aer"] <= 1


def test_links_of_one_word(tiny: Path, capsys) -> None:
    fields = told(
        capsys,
        tiny,
        "align",
        "--text",
        ONE_TOKEN,
        "--target",
        "dog",
        "--head",
        "cross:1:1",
        "--json",
    )
    assert fields["source"] == [ONE_TOKEN.lower()]
    assert [(link["source"], link["target"]) for link in fields["links"]] == [(0, 0)]


def test_a_sentence_of_one_mark_cannot_be_hidden_whole(tiny: Path, capsys) -> None:
    arguments = ["analyze", ".", "--checkpoint", str(tiny), "--hide", "start", "end", "punctuation"]
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "hid" in printed.err


@pytest.mark.parametrize("kind", first_quick(["encoder", "decoder", "cross"]))
@pytest.mark.heavy
def test_all_heads_of_a_layer_off_leave_finite_numbers(tiny: Path, capsys, kind: str) -> None:
    for measure in MEASURES:
        fields = told(
            capsys, tiny, "analyze", SENTENCE, "--off", f"{kind}:1:1", "--measure", measure, "--source-share"
        )  # fmt: skip
        assert_finite(fields)
        head = {"kind": kind, "layer": 0, "head": 0}
        assert fields["interventions"] == [{"type": "head_scaled", "head": head, "factor": 0}]
    if kind == "cross":
        np.testing.assert_allclose(fields["source_share"], 0)


def test_without_cross_attention_every_word_is_told(tiny: Path, capsys) -> None:
    fields = told(
        capsys,
        tiny,
        "analyze",
        SENTENCE,
        "--target",
        "a man stands",
        "--off",
        "cross:1:1",
        "--source-share",
        "--words",
    )
    assert len(fields["source_share_warnings"]) == 3
    assert fields["source_share_warnings"][0].startswith("Only 0% of “a” comes from the source")


def test_every_head_off_is_read_too(tiny: Path, capsys) -> None:
    off = ["encoder:1:1", "decoder:1:1", "cross:1:1"]
    assert_finite(told(capsys, tiny, "analyze", SENTENCE, "--off", *off, "--measure", "norm"))


@pytest.mark.parametrize(
    "command", [["analyze", SENTENCE], ["align", "--head", "cross:1:1", "--text", SENTENCE]]
)
@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("", "can read no word of the given translation"),
        (" \n\t", "can read no word of the given translation"),
        ("man " * 400, "room for"),
    ],
)
def test_a_target_that_cannot_be_read_is_refused(
    tiny: Path, capsys, command, target: str, message: str
) -> None:
    assert message in refused(capsys, tiny, *command, "--target", target)


def test_a_target_of_unknown_words_is_read_and_noted(tiny: Path, capsys) -> None:
    fields = told(capsys, tiny, "analyze", SENTENCE, "--target", "Qwxyz 漢字 ☃.", "--source-share")
    assert fields["translation"] == "Qwxyz 漢字 ☃."
    assert_finite(fields)
    assert main(["analyze", SENTENCE, "--target", "Qwxyz 漢字 ☃.", "--checkpoint", str(tiny)]) == 0
    assert "Unknown to the model in the given translation" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
@pytest.mark.parametrize("command", [["analyze"], ["align", "--text"]])
def test_no_sentence_at_all_is_refused(tiny: Path, capsys, command: list[str], text: str) -> None:
    assert re.search(
        "Enter|Shorten|Insert|sentence by sentence", refused(capsys, tiny, *command, text)
    )


@pytest.mark.parametrize("name", ["numbers.json", "numbers.npz"])
def test_numbers_for_a_folder_that_forbids_it_are_refused(
    tmp_path: Path, permissions_withheld, name: str
) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    with (
        permissions_withheld(folder, 0o500),
        pytest.raises(
            StorageError, match=r"Cannot write .*Permission denied.*choose another folder"
        ),
    ):
        write_numbers({"weight": np.ones(3)}, folder / name)
    assert list(folder.iterdir()) == []


def test_links_for_a_place_that_is_no_folder_are_refused(
    tiny: Path, tmp_path: Path, capsys
) -> None:
    lines = tmp_path / "some.de"
    lines.write_text("Ein Mann .\n", encoding="utf-8")
    target = lines / "ibm.tsv"
    message = refused(
        capsys, tiny, "align", "--ibm-1", str(lines), str(lines), "--write-ibm-1", str(target)
    )
    assert f"Cannot write {target}" in message
    assert "choose another folder" in message
