"""The shipped samples are German, and German to English: a model of other languages is not measured
on them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from augenmerk.core.checkpoint.file import load_checkpoint, save_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.errors import AnalysisError
from augenmerk.core.extensions.analyses.alignment import GoldPair, read_gold
from augenmerk.core.extensions.analyses.alignment_ranking import rank_aligners
from augenmerk.core.extensions.analyses.samples import require_languages_of_sample
from augenmerk.core.extensions.run_settings.presets import preset
from augenmerk.core.translation.translator import Translator

ADVICE = "Take another sample.", "Or choose a language."
MARIAN = {
    "tokenization": "imported",
    "wrap_source": False,
    "end_source": True,
    "source_case": "keep",
    "target_case": "keep",
}


def translating(
    source: str, target: str, codes: tuple[str, ...] = (), **data: object
) -> Translator:
    """As much of a translator as tells its languages."""
    run = preset("notebook")
    run = replace(
        run, data=replace(run.data, source_language=source, target_language=target, **data)
    )
    return cast(Translator, SimpleNamespace(run_config=run, target_codes=codes))


def test_a_sample_in_other_languages_is_refused_by_their_names() -> None:
    require_languages_of_sample(translating("de", "en"), *ADVICE)
    require_languages_of_sample(translating("deu", "eng", **MARIAN), *ADVICE)
    require_languages_of_sample(translating("de", "fr"), *ADVICE, needs_target=False)
    with pytest.raises(
        AnalysisError, match=r"German to French; the sample is German to English\. .* Take"
    ):
        require_languages_of_sample(translating("de", "fr"), *ADVICE)
    with pytest.raises(AnalysisError, match=r"English to German; the sample is German\."):
        require_languages_of_sample(translating("en", "de"), *ADVICE, needs_target=False)
    with pytest.raises(AnalysisError, match="translates an unknown language to English"):
        require_languages_of_sample(translating("und", "en", **MARIAN), *ADVICE)


def test_the_chosen_target_language_decides_about_a_sample() -> None:
    run = translating("de", "gem", (">>eng<<", ">>nld<<"), **MARIAN)
    require_languages_of_sample(run, *ADVICE, target_code=">>eng<<")
    with pytest.raises(
        AnalysisError, match=r"German to Germanic languages, and no .* Or choose a language\."
    ):
        require_languages_of_sample(run, *ADVICE)
    with pytest.raises(
        AnalysisError, match=r"translates German to Dutch; .*Take another sample\.$"
    ):
        require_languages_of_sample(run, *ADVICE, target_code=">>nld<<")
    require_languages_of_sample(run, *ADVICE, needs_target=False, target_code=">>nld<<")
    with pytest.raises(
        AnalysisError,
        match=r"no target language is chosen; the sample is German\..* Or choose a lang",
    ):
        require_languages_of_sample(run, *ADVICE, needs_target=False)


def test_the_copy_task_has_no_sample() -> None:
    copying = cast(
        Translator, SimpleNamespace(run_config=preset("copy-task-small"), target_codes=())
    )
    with pytest.raises(AnalysisError, match="This model copies symbols; the sample is German"):
        require_languages_of_sample(copying, *ADVICE, needs_target=False)


@pytest.fixture
def english_to_german(untrained_checkpoint: Path, tmp_path: Path) -> Path:
    checkpoint = load_checkpoint(untrained_checkpoint)
    data = checkpoint.run.data.replace(source_language="en", target_language="de")
    path = tmp_path / "en-de.safetensors"
    save_checkpoint(replace(checkpoint, run=replace(checkpoint.run, data=data)), path)
    return path


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["analyze", "--statistics"], "--statistics FILE."),
        (["analyze", "A man.", "--statistics"], "--statistics FILE."),
        (["align"], "aligned by hand: --gold."),
        (["align", "--text", "A man."], "--gold, or a head for the links: --head."),
    ],
    ids=" ".join,
)
def test_commands_name_the_option_for_another_sample(
    english_to_german: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], advice: str
) -> None:
    assert main([*arguments, "--checkpoint", str(english_to_german)]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert "This model translates English to German; the sample is German" in output.err
    assert advice in output.err


@pytest.mark.heavy
def test_python_ranks_no_heads_of_other_languages_on_the_shipped_pairs(
    english_to_german: Path,
) -> None:
    translator = Translator.load(english_to_german, "cpu")
    with pytest.raises(
        AnalysisError, match=r"English to German; the sample is German to .*read_gold\(path\)"
    ):
        rank_aligners(translator, read_gold()[:2])
    links = frozenset({(0, 0)})
    assert rank_aligners(
        translator, [GoldPair(line, ("a",), ("b",), links, links) for line in (1, 2)]
    ).is_complete


@pytest.fixture
def write_lines(tmp_path: Path) -> Callable[..., str]:
    def write(name: str, *lines: str) -> str:
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return str(tmp_path / name)

    return write


def test_a_sample_of_ones_own_is_measured_in_any_languages(
    english_to_german: Path, write_lines: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    row = "n't do\ttue nicht\t1-2 2-1"
    gold = write_lines("gold.tsv", "line\tgerman\tenglish\tlinks", f"1\t{row}", f"2\t{row}")
    english, german = (
        write_lines("some.en", "don't", "do"),
        write_lines("some.de", "tue nicht", "tue"),
    )
    model = ["--checkpoint", str(english_to_german)]
    assert main(["analyze", "--statistics", english, *model]) == 0
    assert main(["align", "--text", "a man .", "--head", "cross:1:1", *model]) == 0
    links = write_lines("links.tsv")
    assert (
        main(["align", "--gold", gold, "--ibm-1", english, german, "--write-ibm-1", links, *model])
        == 0
    )
    assert Path(links).read_text().splitlines()[1:] == ["1\t1-2 2-1", "2\t1-2 2-1"], (
        "“don't” is two English words"
    )
