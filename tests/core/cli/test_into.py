"""`--into`: every command gives each sentence the code of the target language that was chosen."""

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augenmerk.core.cli.main import main
from augenmerk.core.errors import AnalysisError, ConfigError
from augenmerk.core.extensions.analyses.alignment import read_gold
from augenmerk.core.extensions.analyses.alignment_ranking import rank_aligners
from augenmerk.core.extensions.readers.importing import import_model
from augenmerk.core.model.heads import Head
from augenmerk.core.text.languages import codes_for, with_code
from augenmerk.core.translation.experiment import (
    Experiment,
    GivenTarget,
    Greedy,
    HeadScaled,
    Output,
    SourceWordRemoved,
    SourceWordReplaced,
)
from augenmerk.core.translation.experiment_file import (
    ModelReference,
    SavedExperiment,
    write_experiment_file,
)
from augenmerk.core.translation.translator import Translator
from tests.builders import command_line
from tests.core.extensions.readers.marian_models import CODES, make_folder

SENTENCE = "Ein Mann sieht viele Kinder."
WITH_CODE = f">>fra<< {SENTENCE}"


@pytest.mark.parametrize(
    ("language", "codes"),
    [
        *((typed, [">>fra<<"]) for typed in ("fra", ">>fra<<", "fr", "French", " FRA ", "fr_FR")),
        ("zh", [">>zho_Hans<<", ">>zho_Hant<<"]),
        ("zho_Hant", [">>zho_Hant<<"]),
        *((typed, []) for typed in ("Italian", "it", "xyz", "", "française")),
    ],
)
def test_a_language_is_named_by_any_of_its_codes_or_its_name(
    language: str, codes: list[str]
) -> None:
    assert codes_for(language, (*CODES, ">>zho_Hans<<", ">>zho_Hant<<")) == codes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ein Mann.", ">>fra<< Ein Mann."),
        ("  >>deu<<Ein Mann.", ">>fra<< Ein Mann."),
        (">>deu<< >>nld<< Ein Mann.", ">>fra<< >>nld<< Ein Mann."),
        (">> Ein << Mann.", ">>fra<< >> Ein << Mann."),
        ("Ein >>deu<< Mann.", ">>fra<< Ein >>deu<< Mann."),
    ],
)
def test_a_code_takes_the_place_of_another_and_of_nothing_else(text: str, expected: str) -> None:
    assert with_code(text, ">>fra<<") == expected


def test_a_model_of_one_pair_has_no_choice(
    untrained_checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["translate", "x"], ["analyze", "x"], ["align", "--text", "x"]):
        assert main([*command, "--into", "fr", "--checkpoint", str(untrained_checkpoint)]) == 2
        assert (
            "--into: The target language 'fr' has no effect: this model translates only into "
            "English. Omit it." in capsys.readouterr().err
        )


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model from German to German, French and Dutch, with random weights."""
    folder = tmp_path_factory.mktemp("imported") / "opus-mt-de-mul"
    file = folder.parent / "opus-mt-de-mul.safetensors"
    import_model(make_folder(folder, codes=True, tokenizer={"target_lang": "mul"})).save(file)
    return file


@pytest.fixture
def lines(tmp_path: Path) -> dict[str, str]:
    """Files of sentences with and without a code, of translations, and of pairs of words."""
    files = {
        "plain": (SENTENCE, ">>nld<< Ein Hund läuft.", ""),
        "coded": (WITH_CODE, ">>fra<< Ein Hund läuft.", ""),
        "translations": ("A man sees many children.", "A dog runs.", ""),
        "pairs": (f"{SENTENCE}\tA\tman\tdog",),
        "coded pairs": (f"{WITH_CODE}\tA\tman\tdog",),
        "gold": (
            "line\tgerman\tenglish\tlinks",
            *(f"{line}\tEin Mann\tA man\t1-1 2-2" for line in (1, 2)),
        ),
    }
    for name, texts in files.items():
        (tmp_path / name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return {name: str(tmp_path / name) for name in files}


def printed(capsys: pytest.CaptureFixture[str], model: Path, *arguments: str) -> Any:
    capsys.readouterr()
    assert main([*arguments, "--checkpoint", str(model), "--device", "cpu"]) == 0
    return json.loads(capsys.readouterr().out)


def assert_same(numbers: Any, expected: Any, *left_out: str) -> None:
    """Equal but for rounding, seconds, and these members."""
    assert numbers.keys() == expected.keys()
    for name, value in expected.items():
        if name in ("seconds", *left_out):
            continue
        if isinstance(value, dict):
            assert_same(numbers[name], value, *left_out)
        elif np.asarray(value, dtype=object).dtype == object and not _is_numeric(value):
            assert numbers[name] == value, name
        else:
            np.testing.assert_allclose(
                np.array(numbers[name], float), np.array(value, float), atol=1e-4, err_msg=name
            )


def _is_numeric(value: Any) -> bool:
    try:
        return np.array(value).dtype.kind in "fi"
    except ValueError:  # lists of different lengths
        return False


@pytest.mark.heavy
class TestAModelOfSeveralLanguages:
    def test_a_sentence_gets_the_code(
        self, model: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        expected = printed(capsys, model, "translate", WITH_CODE, "--json")
        assert expected["source_tokens"][0] == ">>fra<<"
        for text, code in (
            (SENTENCE, "French"),
            (WITH_CODE, "fra"),
            (f">>nld<< {SENTENCE}", ">>fra<<"),
        ):
            assert_same(
                printed(capsys, model, "translate", text, "--into", code, "--json"), expected
            )
        target = ["--target", "A man.", "--json"]
        numbers = printed(capsys, model, "translate", SENTENCE, "--into", "fr", *target)
        assert_same(numbers, printed(capsys, model, "translate", WITH_CODE, *target))

    @pytest.mark.parametrize("form", [["--json"], ["--jsonl"], []], ids=["json", "jsonl", "plain"])
    def test_each_line_gets_the_code_and_empty_ones_stay_empty(
        self,
        model: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        form: list[str],
    ) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{SENTENCE}\n\n>>deu<< Ein Hund.\n"))
        status = main(["translate", "-", "--into", "fra", *form, "--checkpoint", str(model)])
        output = capsys.readouterr()
        if form == []:
            assert (status, output.out.splitlines()[1]) == (0, "")
            assert "several languages" not in output.err
            return
        values = (
            json.loads(output.out)
            if form == ["--json"]
            else list(map(json.loads, output.out.splitlines()))
        )
        assert [values[0]["source"], values[2]["source"]] == [WITH_CODE, ">>fra<< Ein Hund."]
        assert values[1] is None or values[1]["source"] == ""

    @pytest.mark.slow
    def test_a_corpus_is_scored_in_the_language(
        self, model: Path, lines: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = tmp_path / "hypotheses"
        pair = ["--reference", lines["translations"], "--json", "--hypotheses", str(out)]
        expected = printed(capsys, model, "evaluate", "--source", lines["coded"], *pair)
        hypotheses = out.read_text(encoding="utf-8")
        numbers = printed(
            capsys, model, "evaluate", "--source", lines["plain"], *pair, "--into", "French"
        )
        assert out.read_text(encoding="utf-8") == hypotheses
        assert (numbers["into"], expected["into"]) == (">>fra<<", None)
        assert_same(numbers, expected, "into")
        assert numbers["notes"]["no_target_language"] == []

    @pytest.mark.slow
    def test_every_command_says_that_a_language_is_missing(
        self, model: Path, lines: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["translate", SENTENCE, "--checkpoint", str(model)]) == 0
        (note,) = re.findall(
            "This model translates into several languages.*", capsys.readouterr().err
        )
        pair = [lines["plain"], lines["translations"]]
        in_short = f"1 of 3 sentences is read without a target language (number 1). {note}"
        commands = {
            ("analyze", SENTENCE): note,
            ("analyze", "Ein Mann.", "--compare", "Ein Mann."): f"compared sentence: {note}",
            # without the empty line
            ("analyze", "--statistics", lines["plain"]): in_short.replace("of 3", "of 2"),
            ("analyze", "--sample", *pair, "--importance"): in_short,
            ("analyze", lines["pairs"], "--metric", "difference"): in_short.replace("of 3", "of 1"),
            ("evaluate", "--source", pair[0], "--reference", pair[1]): in_short,
            ("align", "--text", SENTENCE, "--head", "cross:1:1"): note,
            (
                "align",
                "--gold",
                lines["gold"],
            ): "2 of 2 gold pairs are read without a target language (number 1, 2). ",
        }
        for command, expected in commands.items():
            assert main([*command, "--checkpoint", str(model)]) == 0, command
            output = capsys.readouterr()
            assert f"note: {expected}" in (
                output.out if command[0] == "evaluate" else output.err
            ), command
        numbers = printed(
            capsys, model, "evaluate", "--source", pair[0], "--reference", pair[1], "--json"
        )
        assert (numbers["notes"]["no_target_language"], numbers["notes"]["refused"]) == ([0], [2])
        assert (
            main(
                command_line(
                    "figure --text {} --checkpoint {} --out {}",
                    SENTENCE,
                    model,
                    tmp_path / "map.html",
                )
            )
            == 0
        )
        assert f"augenmerk: note: {note}" in capsys.readouterr().err

    def test_a_language_is_missing_where_its_code_is_not_read(self, model: Path) -> None:
        translator = Translator.load(model, "cpu")
        removed, replaced = SourceWordRemoved(0), SourceWordReplaced(0, ">>nld<<")
        hints = {
            (WITH_CODE, ()): False,
            (SENTENCE, ()): True,
            ("Ein >>fra<< Mann.", ()): True,
            (">>ita<< Ein Mann.", ()): True,
            (WITH_CODE, (removed,)): True,
            (WITH_CODE, (replaced,)): False,
            (SENTENCE, (replaced,)): False,
        }
        for (text, changes), is_missing in hints.items():
            translation = translator.run(Experiment(text, interventions=changes))
            assert (
                translation.hint.startswith("This model translates into several languages")
                == is_missing
            ), text
            assert (translation.hint in translation.notes) == is_missing

    @pytest.mark.parametrize(
        ("with_option", "with_code"),
        [
            ([SENTENCE], [WITH_CODE]),
            (
                ["Ein Mann.", "--compare", "Ein Hund läuft."],
                [">>fra<< Ein Mann.", "--compare", ">>fra<< Ein Hund läuft."],
            ),
            (["--statistics", "plain"], ["--statistics", "coded"]),
            (
                ["--sample", "plain", "translations", "--importance"],
                ["--sample", "coded", "translations", "--importance"],
            ),
            (["pairs", "--metric", "difference"], ["coded pairs", "--metric", "difference"]),
        ],
        ids=["sentence", "compare", "statistics", "sample", "pairs"],
    )
    def test_an_analysis_reads_the_code(
        self,
        model: Path,
        lines: dict[str, str],
        capsys: pytest.CaptureFixture[str],
        with_option: list[str],
        with_code: list[str],
    ) -> None:
        with_option, with_code = (
            [lines.get(text, text) for text in command] for command in (with_option, with_code)
        )
        numbers = printed(capsys, model, "analyze", *with_option, "--into", "fra")
        assert_same(numbers, printed(capsys, model, "analyze", *with_code), "left_out_words")

    def test_links_and_the_ranking_read_the_code(
        self, model: Path, lines: dict[str, str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        head = ["--head", "cross:1:1", "--json"]
        numbers = printed(capsys, model, "align", "--text", SENTENCE, "--into", "fra", *head)
        assert numbers == printed(capsys, model, "align", "--text", WITH_CODE, *head)
        rankings = [
            printed(capsys, model, "align", "--gold", lines["gold"], "--json", *into)["aligners"]
            for into in ([], ["--into", "fra"])
        ]
        assert rankings[0] != rankings[1]
        assert main(["align", "--into", "nld", "--checkpoint", str(model)]) == 2
        assert (
            "This model translates German to Dutch; the sample is German to English"
            in capsys.readouterr().err
        )

    def test_the_shipped_samples_need_a_target_language(
        self, model: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for command in (
            ["analyze", "--statistics"],
            ["analyze", SENTENCE, "--statistics"],
            ["align"],
        ):
            assert main([*command, "--checkpoint", str(model)]) == 2, command
            error = capsys.readouterr().err
            assert "and no target language is chosen" in error
            assert "Or choose its target language: --into." in error
        printed(capsys, model, "analyze", "--statistics", "--num-sentences", "2", "--into", "nld")
        translator = Translator.load(model, "cpu")
        with pytest.raises(AnalysisError, match="Or choose its target language: target_code"):
            rank_aligners(translator, read_gold())
        with pytest.raises(
            AnalysisError, match="translates German to Dutch; the sample is German to English"
        ):
            rank_aligners(translator, read_gold(), target_code="nld")
        with pytest.raises(ConfigError, match="'eng' is none of this model"):
            rank_aligners(translator, read_gold(), target_code="eng")

    def test_python_gives_a_sentence_the_code(self, model: Path) -> None:
        translator = Translator.load(model, "cpu")
        for text, into in (
            (SENTENCE, "French"),
            (WITH_CODE, "fra"),
            (f">>nld<< {SENTENCE}", ">>fra<<"),
        ):
            assert translator.translate(text, into=into).source_text == WITH_CODE
        hypotheses = translator.translate_corpus([SENTENCE, "", ">>nld<< Ein Hund."], into="fr")
        assert hypotheses == translator.translate_corpus([WITH_CODE, "", ">>fra<< Ein Hund."])
        assert [note.kind for hypothesis in hypotheses for note in hypothesis.notes].count(
            "no_target_language"
        ) == 0
        for act in (
            lambda into: translator.translate(SENTENCE, into=into),
            translator.code_of_language,
        ):
            for into in ("Italian", ""):
                with pytest.raises(
                    ConfigError, match=r"is none of this model\. Choose one of deu, fra, nld\."
                ):
                    act(into)
        with pytest.raises(ConfigError, match="none of this model"):
            translator.translate_corpus([], into="Italian")

    def test_a_picture_shows_the_code(self, model: Path, tmp_path: Path) -> None:
        page = tmp_path / "map.html"
        assert (
            main(
                command_line(
                    "figure --text {} --into fr --checkpoint {} --out {}", SENTENCE, model, page
                )
            )
            == 0
        )
        assert "&gt;&gt;fra&lt;&lt; Ein Mann" in page.read_text(encoding="utf-8")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (
                ["--into", "Italian"],
                (
                    "--into: The target language 'Italian' is none of this model. Choose one of deu, "
                    "fra, nld."
                ),
            ),
            (
                ["--into", "fra", "--remove-word", "1"],
                "the numbers of --remove-word would be unclear",
            ),
            (
                ["--into", "fra", "--replace-word", "1=Zwei"],
                "the numbers of --replace-word would be unclear",
            ),
        ],
    )
    def test_what_does_not_fit_is_refused(
        self, model: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
    ) -> None:
        assert main(["translate", SENTENCE, *arguments, "--checkpoint", str(model)]) == 2
        output = capsys.readouterr()
        assert message in output.err
        assert output.out == ""

    def test_the_changes_of_a_file_that_fit_its_own_sentence_do_not_fit_another_language(
        self, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        translator = Translator.load(model, "cpu")
        path = tmp_path / "my.augenmerk"
        reference = ModelReference(translator.name, translator.digest)

        def save(text: str, *changes: Any, output: Output | None = None) -> list[str]:
            write_experiment_file(
                SavedExperiment(Experiment(text, output or Greedy(), changes), reference), path
            )
            return ["translate", "--experiment", str(path), "--into", "fra", "--json"]

        head = HeadScaled(Head("cross", 0, 0))
        assert printed(capsys, model, *save(SENTENCE, head))["source"] == WITH_CODE
        assert printed(capsys, model, *save(WITH_CODE, SourceWordRemoved(1)))["source"] == WITH_CODE
        for text in (SENTENCE, f">>nld<< {SENTENCE}"):
            assert main([*save(text, SourceWordRemoved(1)), "--checkpoint", str(model)]) == 2
            assert (
                "has changes that fit only its own sentence: word 2 removed"
                in capsys.readouterr().err
            )
        command = [*save(SENTENCE, output=GivenTarget("Un chat.")), "--target", "Un homme."]
        fields = printed(capsys, model, *command)
        expected = translator.run(Experiment(WITH_CODE, GivenTarget("Un homme.")))
        assert fields["given"]["log_probabilities"] == pytest.approx(
            expected.log_probabilities, abs=1e-4
        )


@pytest.mark.slow
@pytest.mark.parametrize("text", [">>fra<<", " >>fra<< "])
def test_a_code_alone_is_nothing_to_translate(
    text: str, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["translate", text, "--checkpoint", str(model)]) == 2
    assert capsys.readouterr().out == ""
    source, reference = tmp_path / "a", tmp_path / "b"
    source.write_text(f"{text}\n{WITH_CODE}\n", encoding="utf-8")
    reference.write_text("Un homme.\nUn homme.\n", encoding="utf-8")
    numbers = printed(
        capsys, model, "evaluate", "--source", str(source), "--reference", str(reference), "--json"
    )
    assert (numbers["notes"]["refused"], numbers["loss"]["num_sentences"]) == ([0], 1)


def test_a_code_is_not_counted_as_a_word(model: Path) -> None:
    translator = Translator.load(model, "cpu")
    assert (
        translator.translate(WITH_CODE).num_source_words
        == translator.translate(SENTENCE).num_source_words
    )
    room = translator.run_config.model.max_positions
    (note,) = (
        note
        for note in translator.translate(">>fra<< " + "Mann " * room).notes
        if "beginning" in note
    )
    assert f" of {room} words" in note
    cut = translator.translate(">>fra<< " + "ß" * 900)
    assert any("the beginning of the first word" in note for note in cut.notes)
    assert len(cut.source_words) == 2
