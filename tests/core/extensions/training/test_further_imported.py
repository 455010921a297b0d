"""An imported model is trained further by its file alone: it brings architecture, tokenizer and
vocabulary."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors.torch import save_file

from augenmerk.core.checkpoint.file import load_checkpoint, save_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.extensions.readers.importing import import_model
from augenmerk.core.extensions.readers.model import ImportOptions
from augenmerk.core.extensions.run_settings.presets import RATE_OF_FURTHER_TRAINING
from augenmerk.core.extensions.training.corpora.loading import load_corpus
from augenmerk.core.extensions.training.film import read_film
from augenmerk.core.extensions.training.folder import read_starts
from augenmerk.core.run_files import BEST, LAST
from tests.builders import command_line
from tests.core.extensions.readers import joeynmt_models, marian_models
from tests.core.extensions.readers.pickles import pickles_read_here
from tests.core.extensions.readers.published import EncoderDecoder, NotebookSeq2Seq, shaken
from tests.core.extensions.readers.test_state_dicts import ONLY_IN_TEST, SHAPE, sizes
from tests.core.translators import ENGLISH, GERMAN

pytestmark = [pytest.mark.training, pytest.mark.subprocess]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three splits, from which vocabularies can be rebuilt."""
    folder = tmp_path_factory.mktemp("data")
    for language, lines in (("de", GERMAN), ("en", ENGLISH)):
        splits = {
            "train": lines[:150],
            "val": lines[150:180],
            "test_2016_flickr": [*lines[180:], ONLY_IN_TEST],
        }
        for split, part in splits.items():
            (folder / f"{split}.{language}").write_text("\n".join(part) + "\n", encoding="utf-8")
    return folder


def marian(folder: Path, data: Path, **settings: object) -> Path:
    return marian_models.make_folder(folder, **settings)  # type: ignore[arg-type]  # as named


def joeynmt(folder: Path, data: Path, **settings: object) -> Path:
    return joeynmt_models.make_folder(folder, **settings).folder  # type: ignore[arg-type]  # as named


def notebook(folder: Path, data: Path) -> Path:
    return saved(NotebookSeq2Seq(*sizes("notebook", data), **SHAPE), folder)


def annotated(folder: Path, data: Path, edition: str, padding: int) -> Path:
    return saved(EncoderDecoder(*sizes(edition, data), padding, **SHAPE), folder)


def saved(model: NotebookSeq2Seq | EncoderDecoder, folder: Path) -> Path:
    folder.mkdir()
    save_file(shaken(model).state_dict(), folder / "model.safetensors")
    return folder / "model.safetensors"


BPE = {"level": "bpe", "lowercase": True}
FAMILIES: dict[str, Callable[[Path, Path], Path]] = {
    "Marian": marian,
    "Marian, two vocabularies": lambda folder, data: marian(folder, data, separate=True),
    "JoeyNMT, words": joeynmt,
    "JoeyNMT, SentencePiece, post-norm": lambda folder, data: joeynmt(
        folder, data, side=BPE, model={"tied_softmax": True}, both={"layer_norm": "post"}
    ),
    "JoeyNMT, characters": lambda folder, data: joeynmt(folder, data, side={"level": "char"}),
    "JoeyNMT, subword-nmt, all tied": lambda folder, data: joeynmt(
        folder,
        data,
        side=BPE,
        kind="subword-nmt",
        model={"tied_embeddings": True, "tied_softmax": True},
        joint=True,
    ),
    "notebook 6": notebook,
    "Annotated Transformer, 2018": lambda folder, data: annotated(
        folder, data, "annotated-2018", 1
    ),
    "Annotated Transformer, 2022": lambda folder, data: annotated(
        folder, data, "annotated-2022", 2
    ),
}


@pytest.mark.heavy
@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_the_loss_falls_and_the_result_opens_translates_and_evaluates(
    family: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pickles_read_here():
        source = FAMILIES[family](tmp_path / "theirs", data)
        import_model(source, ImportOptions(data=data, num_heads=4)).save(
            tmp_path / "imported.safetensors"
        )
    before = load_checkpoint(tmp_path / "imported.safetensors")
    out = tmp_path / "run"
    command = command_line(
        "train --initial-model {} --data {} --out {}", tmp_path / "imported.safetensors", data, out
    )
    assert main([*map(str, command), "--device", "cpu", "--epochs", "2", "--batch-size", "30"]) == 0
    first, last = load_checkpoint(out / BEST), load_checkpoint(out / LAST)
    assert last.history[1].training_loss < last.history[0].training_loss
    assert last.history[1].validation_loss < last.history[0].validation_loss
    assert (last.run.model, last.run.data) == (before.run.model, before.run.data)
    assert (last.decoding, last.origin) == (before.decoding, before.origin)
    assert last.codecs.to_dict() == before.codecs.to_dict()
    assert len(read_film(out)) == 3

    resumed = command_line("train --data {} --out {} --resume --epochs 3 --device cpu", data, out)
    assert main([*map(str, resumed)]) == 0
    again = load_checkpoint(out / LAST)
    assert (len(again.history), again.decoding, again.origin) == (3, before.decoding, before.origin)
    assert len(read_starts(out)) == 2

    capsys.readouterr()
    model = ["--checkpoint", str(out / BEST), "--device", "cpu"]
    assert main(["translate", GERMAN[0], *model]) == 0
    files = ["--source", str(data / "val.de"), "--reference", str(data / "val.en")]
    assert main(["evaluate", *files, *model]) == 0
    assert "loss of the references" in capsys.readouterr().out
    assert main(["info", str(out / BEST)]) == 0
    assert "learning_rate" in capsys.readouterr().out, "how it was trained here"
    assert first.run.training.initial_model == last.run.training.initial_model is not None


@pytest.fixture(scope="module")
def imported(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of JoeyNMT, of words."""
    folder = tmp_path_factory.mktemp("imported")
    with pickles_read_here():
        import_model(joeynmt(folder / "theirs", data)).save(folder / "imported.safetensors")
    return folder / "imported.safetensors"


def train(out: Path, *more: object) -> int:
    command = [
        *command_line("train --out {} --device cpu --max-steps 2 --batch-size 30", out),
        *more,
    ]
    return main([str(word) for word in command])


@pytest.mark.slow
def test_a_preset_or_a_file_of_training_settings_says_how_it_is_trained(
    imported: Path, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "slow.toml").write_text(
        "[training]\nlearning_rate = 1e-6\n[model]\ndropout = 0.3\n"
    )
    begun = ["--initial-model", imported, "--data", data]
    assert train(tmp_path / "plain", *begun) == 0
    assert (
        train(tmp_path / "preset", *begun, "--preset", "notebook", "--set", "data.max_length=9")
        == 0
    )
    assert train(tmp_path / "file", *begun, "--config", tmp_path / "slow.toml") == 0
    model = load_checkpoint(imported).run
    plain, by_preset, by_file = (
        load_checkpoint(tmp_path / name / LAST).run for name in ("plain", "preset", "file")
    )
    assert (plain.training.schedule, plain.training.learning_rate) == (
        "constant",
        RATE_OF_FURTHER_TRAINING,
    )
    assert (by_preset.training.batching, by_preset.training.learning_rate) == ("random", 5e-4)
    assert (by_preset.preset, by_preset.description) == ("notebook", model.description)
    assert by_file.training.learning_rate == 1e-6
    assert [run.model for run in (plain, by_preset)] == [model.model] * 2
    assert by_file.model == model.model.replace(dropout=0.3)
    assert by_preset.data == model.data.replace(max_length=9)
    assert [run.data for run in (plain, by_file)] == [model.data] * 2


def test_settings_that_contradict_it_are_refused_by_name(
    imported: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = ["--initial-model", imported, "--data", data]
    for setting, said in (
        ("model.width=64", "width is 32 there and 64 here"),
        ("data.source_case=lower", "source_case is 'keep' there and 'lower' here"),
        ("data.tokenization=spacy", "tokenization is 'imported' there and 'spacy' here"),
    ):
        assert train(tmp_path / "run", *begun, "--set", setting) == 2
        assert said in capsys.readouterr().err
    prepared = tmp_path / "prepared.safetensors"
    assert (
        main(
            ["data", "prepare", "--data", str(data), "--preset", "notebook", "--out", str(prepared)]
        )
        == 0
    )
    assert train(tmp_path / "run", "--initial-model", imported, "--data", prepared) == 2
    assert (
        "Use text (a folder, or two files), which is read with the model's vocabulary"
        in capsys.readouterr().err
    )
    assert train(tmp_path / "run", "--data", data, "--set", "data.tokenization=imported") == 2
    assert (
        "Train that model further (augenmerk train --initial-model FILE), or choose"
        in capsys.readouterr().err
    )
    assert not (tmp_path / "run").exists()


def test_languages_that_its_files_did_not_name_are_named_by_options(
    imported: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = load_checkpoint(imported)
    unnamed = model.run.data.replace(source_language="und", target_language="und")
    save_checkpoint(
        replace(model, run=replace(model.run, data=unnamed)), tmp_path / "unnamed.safetensors"
    )
    begun = ["--initial-model", tmp_path / "unnamed.safetensors", "--data", data]
    assert train(tmp_path / "run", *begun) == 2
    assert "train.und" in capsys.readouterr().err
    assert (
        train(tmp_path / "run", *begun, "--source-language", "de", "--target-language", "en") == 0
    )
    assert load_checkpoint(tmp_path / "run" / LAST).run.data.source_language == "de"


def test_an_imported_model_teaches_another_by_its_tokenizer(
    imported: Path, data: Path, tmp_path: Path
) -> None:
    shape = [
        f"model.{name}={value}"
        for name, value in (("width", 16), ("num_heads", 2), ("tied_embeddings", "none"))
    ]
    settings = [
        word for setting in (*shape, "training.distillation=0.5") for word in ("--set", setting)
    ]
    assert train(tmp_path / "run", "--teacher", imported, "--data", data, *settings) == 0
    teacher, student = load_checkpoint(imported), load_checkpoint(tmp_path / "run" / LAST)
    assert student.run.data == teacher.run.data
    assert (student.run.model.width, student.run.preset) == (16, "multi30k")


@pytest.mark.slow
def test_a_small_corpus_gets_batches_that_fit_unless_a_size_is_chosen(
    imported: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = command_line(
        "train --initial-model {} --data {} --device cpu --max-steps 1 --out", imported, data
    )
    assert main([str(word) for word in (*words, tmp_path / "run")]) == 0
    size = load_checkpoint(tmp_path / "run" / LAST).run.training.batch_size
    assert f"each batch has {size:,} tokens" in capsys.readouterr().err
    assert (
        main(command_line("train --resume --out {} --max-steps 2 --device cpu", tmp_path / "run"))
        == 0
    )
    assert main([str(word) for word in (*words, tmp_path / "other", "--batch-size", 9000)]) == 2
    assert "--set training.batch_size=" in capsys.readouterr().err


@pytest.fixture(scope="module")
def multilingual(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of several target languages: deu, fra and nld."""
    folder = tmp_path_factory.mktemp("multilingual")
    import_model(marian_models.make_folder(folder / "theirs", codes=True)).save(
        folder / "imported.safetensors"
    )
    return folder / "imported.safetensors"


@pytest.fixture
def french(data: Path, tmp_path: Path) -> Path:
    """The data with train.fr and val.fr as the targets."""
    folder = tmp_path / "french"
    folder.mkdir()
    for split in ("train", "val"):
        for language, name in (("de", "de"), ("en", "fr")):
            (folder / f"{split}.{name}").write_bytes((data / f"{split}.{language}").read_bytes())
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("into", "more"), [("fra", []), ("French", []), ("fr", ["--target-language", "fr"])]
)
def test_into_chooses_the_target_language_of_the_data(
    multilingual: Path, french: Path, tmp_path: Path, into: str, more: list[str]
) -> None:
    begun = [
        *command_line(
            "--initial-model {} --data {} --into {} --source-language de",
            multilingual,
            french,
            into,
        ),
        *more,
    ]
    assert train(tmp_path / "run", *begun) == 0
    last = load_checkpoint(tmp_path / "run" / LAST)
    assert last.run.data.target_code == ">>fra<<"
    frames = read_film(tmp_path / "run")
    assert frames[-1].translation.source_tokens[0] == ">>fra<<"
    corpus = load_corpus(french, last.run, codecs=last.codecs)
    code = last.codecs.source.vocabulary.ids[">>fra<<"]
    assert {ids[0] for ids in (*corpus.train.source, *corpus.validation.source)} == {code}
    assert (
        main(command_line("train --resume --out {} --max-steps 3 --device cpu", tmp_path / "run"))
        == 0
    )
    assert (
        main(
            ["translate", GERMAN[0], "--into", "fra", "--checkpoint", str(tmp_path / "run" / LAST)]
        )
        == 0
    )


@pytest.mark.slow
def test_a_sentence_of_the_film_gets_the_code_too(
    multilingual: Path, french: Path, tmp_path: Path
) -> None:
    begun = command_line(
        "--initial-model {} --data {} --into fr --source-language de", multilingual, french
    )
    assert train(tmp_path / "run", *begun, "--probe", "Ein Hund.") == 0
    assert read_film(tmp_path / "run")[-1].translation.source_text == ">>fra<< Ein Hund."


def test_a_target_language_that_is_the_source_is_refused(
    multilingual: Path, french: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = command_line(
        "--initial-model {} --data {} --into deu --source-language de", multilingual, french
    )
    assert train(tmp_path / "run", *begun) == 2
    assert (
        "The source and the target are both German: source_language is de"
        in capsys.readouterr().err
    )


def test_data_without_a_target_language_or_with_an_unknown_one_are_refused_with_the_codes(
    multilingual: Path,
    imported: Path,
    data: Path,
    french: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    begun = command_line(
        "--initial-model {} --data {} --source-language de --target-language fr",
        multilingual,
        french,
    )
    for more, said in (
        ([], "line 1 of the data does not say into which. Name the code (with --into"),
        (
            ["--into", "ita"],
            "--into: The target language 'ita' is none of this model. Choose one of deu, fra, nld",
        ),
        (
            ["--set", "data.target_code=>>ita<<"],
            "which is no target language of the model. It has deu, fra, nld",
        ),
        (["--set", "data.target_code=ita"], "Enter a code such as >>fra<<"),
    ):
        assert train(tmp_path / "run", *begun, *more) == 2
        told = capsys.readouterr().err
        assert said in told, told
    lines = (french / "train.de").read_text(encoding="utf-8").splitlines()
    (french / "train.de").write_text(
        "".join(f">>ita<< {line}\n" for line in lines), encoding="utf-8"
    )
    assert train(tmp_path / "run", *begun) == 2
    assert "The codes are deu, fra, nld." in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
    for model in (["--initial-model", imported], ["--preset", "notebook"]):
        assert train(tmp_path / "run", *model, "--data", data, "--into", "fr") == 2
        assert "The target language 'fr' has no effect" in capsys.readouterr().err


def test_lines_that_begin_with_codes_need_no_option(
    multilingual: Path, french: Path, tmp_path: Path
) -> None:
    for split in ("train", "val"):
        lines = (french / f"{split}.de").read_text(encoding="utf-8").splitlines()
        coded = (f">>{('fra', 'nld')[number % 2]}<< {line}\n" for number, line in enumerate(lines))
        (french / f"{split}.de").write_text("".join(coded), encoding="utf-8")
    begun = command_line(
        "--initial-model {} --data {} --source-language de --target-language fr",
        multilingual,
        french,
    )
    assert train(tmp_path / "run", *begun) == 0
    assert load_checkpoint(tmp_path / "run" / LAST).run.data.target_code is None


@pytest.mark.slow
def test_another_target_language_contradicts_a_resumed_run(
    multilingual: Path, french: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = ["--initial-model", multilingual, "--data", french, "--source-language", "de"]
    assert train(tmp_path / "run", *begun, "--into", "fra") == 0
    resumed = command_line(
        "train --resume --out {} --max-steps 3 --device cpu --into", tmp_path / "run"
    )
    assert main([*resumed, "nld"]) == 2
    assert "--into nld contradicts the run" in capsys.readouterr().err
    assert main([*resumed, "French"]) == 0
