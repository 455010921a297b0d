"""More training pairs out of the training pairs alone: `python -m tools.diversify`."""

from pathlib import Path

import pytest

from augenmerk.core.checkpoint.file import load_checkpoint, model_digest
from augenmerk.core.extensions.training.corpora.parallel import SentencePairs, read_folder
from augenmerk.core.resources import bundled_model_path
from tools.diversify import diversify, main

GERMAN = (
    "Zwei Hunde spielen im Schnee.",
    "Ein Mann steht auf einer Leiter.",
    "Eine Frau liest ein Buch.",
)
ENGLISH = ("Two dogs are playing in the snow.", "A man is standing on a ladder.", "A woman reads.")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for split in ("train", "val"):
        for language, lines in (("de", GERMAN), ("en", ENGLISH)):
            (folder / f"{split}.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_pairs_that_were_there_before_and_empty_sides_are_left_out() -> None:
    original = SentencePairs(("eins", "zwei"), ("one", "two"))
    forward, backward = (
        SentencePairs(("eins", "zwei"), ("one", "both")),
        SentencePairs(("", "zwo"), ("one", "two")),
    )
    pairs = diversify(original, [forward, backward])
    assert pairs == SentencePairs(("eins", "zwei", "zwei", "zwo"), ("one", "two", "both", "two"))


@pytest.mark.heavy
def test_a_folder_holds_the_pairs_and_what_a_model_says_of_their_sources(
    data: Path, tmp_path: Path
) -> None:
    model, out = bundled_model_path(), tmp_path / "more"
    digest = model_digest(load_checkpoint(model))
    interrupted = out / f"by-{model.stem}-{digest[:8]}.txt"
    out.mkdir()
    interrupted.write_text("Kept from an interrupted call.\n", encoding="utf-8")
    assert main([str(data), "--out", str(out), "--forward", str(model), "--beam", "1"]) == 0
    corpus = read_folder(out, "de", "en")
    assert corpus.train.source[:3] == GERMAN
    assert corpus.train.target[:3] == ENGLISH
    assert corpus.validation == SentencePairs(GERMAN, ENGLISH)
    assert corpus.train.target[3] == "Kept from an interrupted call."
    new = dict(zip(corpus.train.source[3:], corpus.train.target[3:], strict=True))
    assert new[GERMAN[2]] == "A woman is reading a book."
    assert interrupted.read_text(encoding="utf-8").count("\n") == 3


@pytest.mark.heavy
def test_models_of_different_runs_may_have_the_same_file_name(
    data: Path, tmp_path: Path, untrained_checkpoint: Path
) -> None:
    models = [tmp_path / run / "last.safetensors" for run in ("first", "second")]
    for model, source in zip(models, (bundled_model_path(), untrained_checkpoint), strict=True):
        model.parent.mkdir()
        model.write_bytes(source.read_bytes())
    out = tmp_path / "more"
    assert main([str(data), "--out", str(out), "--forward", *map(str, models), "--beam", "1"]) == 0
    texts = [path.read_text(encoding="utf-8") for path in out.glob("by-last-*.txt")]
    assert len(set(texts)) == len(texts) == 2


def test_a_model_of_the_other_direction_is_refused(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "more"
    assert main([str(data), "--out", str(out), "--backward", str(bundled_model_path())]) == 2
    assert (
        "translates de into en. Choose a model that translates en into de"
        in capsys.readouterr().err
    )
    assert not out.exists()
