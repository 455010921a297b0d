"""The table of models on text as it is and as people type it: `python -m tools.compare_models`."""

import gzip
from pathlib import Path

import pytest

from augenmerk.core.extensions.training.distortions import DISTORTIONS
from augenmerk.core.extensions.training.evaluation import evaluate
from augenmerk.core.resources import bundled_model_path
from augenmerk.core.translation.translator import Translator
from tests.core.translators import ENGLISH, GERMAN
from tools.compare_models import main, typed_sources

LINES = [*GERMAN[:6], "Eine große Frau fährt über die Straße.", "Ein Mädchen isst."]
REFERENCES = [*ENGLISH[:6], "A tall woman is driving across the street.", "A girl is eating."]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, lines in (("de", LINES), ("en", REFERENCES)):
        (tmp_path / f"val.{name}.gz").write_bytes(
            gzip.compress("".join(f"{line}\n" for line in lines).encode())
        )
    return ["--source", str(tmp_path / "val.de.gz"), "--reference", str(tmp_path / "val.en.gz")]


@pytest.mark.slow
def test_every_way_of_typing_has_a_row_with_the_score_that_evaluate_gives(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(bundled_model_path())
    assert main([model, model, *files]) == 0
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert head.count("multi30k-de-en.safetensors") == 2
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == [
        "as in the corpus",
        *DISTORTIONS,
    ]
    translator = Translator.load(bundled_model_path(), "cpu")
    scored = {
        kind: evaluate(translator, lines, REFERENCES)[0] for kind, lines in typed_sources(LINES)
    }
    usual = scored["as in the corpus"].bleu_tokenized_lowercased
    for row in rows:
        kind, first, second = row.strip("| ").split(" | ")
        score = scored[kind].bleu_tokenized_lowercased
        assert first == (
            f"{score:.2f}" if score == usual else f"{score:.2f} ({score - usual:+.2f})"
        )
        assert second == f"{first}; +0.00 [+0.00, +0.00], p 1.000", (
            "a model is not better than itself"
        )


def test_typed_lines_are_the_same_each_time_and_never_empty() -> None:
    typed = dict(typed_sources([*LINES, "."]))
    assert typed == dict(typed_sources([*LINES, "."]))
    assert typed["as in the corpus"] == [*LINES, "."]
    assert typed["umlauts"][6] == "Eine große Frau faehrt ueber die Straße."
    assert typed["no-final-stop"][-1] == "."
    assert all(
        lines != typed["as in the corpus"]
        for kind, lines in typed.items()
        if kind != "as in the corpus"
    )


@pytest.mark.slow
@pytest.mark.heavy
def test_only_the_first_sentences_can_be_asked_for(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main([str(bundled_model_path()), *files, "--sentences", "2"])
    few = capsys.readouterr().out
    main([str(bundled_model_path()), *files])
    assert capsys.readouterr().out != few
