"""What is imported is whole and says where it comes from; what cannot be is refused, naming file
and expectation.
"""

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
import torch
from safetensors.torch import load_file, save_file

from augenmerk.core.checkpoint.file import ModelOrigin, load_checkpoint, save_checkpoint
from augenmerk.core.cli.main import main
from augenmerk.core.config import Activation
from augenmerk.core.errors import ImportStoppedError, ModelImportError, StorageError
from augenmerk.core.extensions import memory_limits
from augenmerk.core.extensions.analyses.alignment import GoldPair
from augenmerk.core.extensions.analyses.alignment_ranking import rank_aligners
from augenmerk.core.extensions.analyses.alti import contributions_of
from augenmerk.core.extensions.analyses.occlusion import occlude_source_words
from augenmerk.core.extensions.readers.importing import import_model, recognize
from augenmerk.core.extensions.readers.marian import ACTIVATIONS
from augenmerk.core.extensions.readers.model import ImportOptions
from augenmerk.core.maps.capture import trace_translation
from augenmerk.core.maps.measures import measure_maps
from augenmerk.core.maps.model_pass import Pass
from augenmerk.core.model import layers
from augenmerk.core.model.heads import Head
from augenmerk.core.translation.experiment import (
    Beam,
    Experiment,
    ForcedToken,
    GivenTarget,
    HeadScaled,
    SourceWordRemoved,
)
from augenmerk.core.translation.translator import Translator
from tests.builders import command_line
from tests.core.extensions.readers.marian_models import (
    add_tokens,
    as_the_library_reads,
    make_folder,
)
from tests.core.extensions.readers.pickles import pickles_read_here

# models are made by transformers, which takes three seconds to be imported
pytestmark = pytest.mark.heavy

SENTENCE = "Ein Mann läuft, und ein Hund spielt im Schnee."


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_folder(tmp_path_factory.mktemp("original") / "opus-mt-de-en", codes=True)


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """A copy to be spoiled."""
    copy = tmp_path / "opus-mt-de-en"
    copy.mkdir()
    for file in original.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    return copy


@pytest.fixture(scope="module")
def translator(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    path = tmp_path_factory.mktemp("imported") / "model.safetensors"
    save_checkpoint(import_model(original).checkpoint, path)
    return Translator.load(path, "cpu")


def change(path: Path, **values: object) -> None:
    settings = json.loads(path.read_text(encoding="utf-8"))
    for name, value in values.items():
        if value is None:
            settings.pop(name, None)
        else:
            settings[name] = value
    path.write_text(json.dumps(settings), encoding="utf-8")


def test_the_file_says_all_that_is_known(folder: Path, tmp_path: Path) -> None:
    (folder / "README.md").write_text(
        "---\nlanguage: de\nlicense: cc-by-4.0\n---\n# A model\n", encoding="utf-8"
    )
    imported = import_model(
        folder, options=ImportOptions(name="Helsinki-NLP/opus-mt-de-en", revision="abc")
    )
    save_checkpoint(imported.checkpoint, tmp_path / "model.safetensors")
    checkpoint = load_checkpoint(tmp_path / "model.safetensors")
    assert checkpoint.origin == ModelOrigin(
        "marian", "Helsinki-NLP/opus-mt-de-en", "abc", "cc-by-4.0"
    )
    assert checkpoint.decoding == imported.checkpoint.decoding
    assert checkpoint.decoding.beam == 4
    assert (checkpoint.run.data.source_language, checkpoint.run.data.target_language) == (
        "de",
        "en",
    )
    assert checkpoint.run == imported.checkpoint.run
    assert checkpoint.codecs.to_dict() == imported.checkpoint.codecs.to_dict()
    assert imported.summary.num_parameters == checkpoint.build_model().num_parameters


def test_a_folder_whose_name_is_not_utf8_is_imported(folder: Path, tmp_path: Path) -> None:
    renamed = folder.rename(tmp_path / os.fsdecode(b"m\xf6dell"))
    target = tmp_path / os.fsdecode(b"m\xf6dell.safetensors")
    assert (
        main(
            command_line(
                "import {} --out {} --source-language de --target-language en", renamed, target
            )
        )
        == 0
    )
    origin = load_checkpoint(target).origin
    assert origin is not None
    assert origin.source == "m\ufffddell"


def test_languages_are_told_by_options_then_files_then_names(folder: Path) -> None:
    change(folder / "tokenizer_config.json", source_lang="fr")
    assert recognize(folder).summary.languages == ("fr", "en")
    assert recognize(folder, ImportOptions(source_language="es")).summary.languages == ("es", "en")
    change(folder / "tokenizer_config.json", source_lang=None, target_lang=None)
    assert recognize(folder).summary.languages == ("de", "en")
    assert recognize(folder, ImportOptions(source_language="Dutch")).summary.languages == (
        "nl",
        "en",
    )
    with pytest.raises(
        ModelImportError,
        match=r"The target language is 'no code'\. Use a code such as de or deu, or an Engl",
    ):
        recognize(folder, ImportOptions(target_language="no code"))
    renamed = folder.rename(folder.parent / "mine")
    recognized = recognize(renamed)
    assert recognized.summary.languages == ("und", "und")
    assert recognized.read().checkpoint.run.data.target_language == "und"
    assert (
        import_model(
            renamed, ImportOptions(target_language="ROMANCE")
        ).checkpoint.codecs.target.language
        == "ROMANCE"
    )


@pytest.mark.parametrize("name", ["source.spm", "target.spm", "vocab.json"])
def test_a_pointer_of_git_lfs_in_the_place_of_a_file_is_named(folder: Path, name: str) -> None:
    (folder / name).write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 3\n", encoding="utf-8"
    )
    with pytest.raises(
        ModelImportError,
        match=rf"{name} is a pointer of Git LFS, not the file itself: fetch it with",
    ):
        recognize(folder)


@pytest.mark.parametrize("name", ["a\0b", "a" * 400, "ä" * 200])
def test_an_index_with_what_can_be_no_name_of_a_file_is_refused(folder: Path, name: str) -> None:
    (folder / "model.safetensors").unlink()
    index = {"weight_map": {"model.shared.weight": name}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    with pytest.raises(
        ModelImportError, match=r"refers to the file .* which is not a valid file name"
    ):
        recognize(folder)


def test_special_tokens_of_one_id_are_refused_before_a_file_is_written(folder: Path) -> None:
    change(folder / "generation_config.json", decoder_start_token_id=0)
    with pytest.raises(
        ModelImportError,
        match=r"generation_config\.json: two special tokens have the same id in the target .*start 0, end 0",
    ):
        recognize(folder)


def test_weights_of_16_bits_stay_so_on_the_disk(tmp_path: Path) -> None:
    imported = import_model(make_folder(tmp_path / "half", dtype=torch.float16))
    assert imported.half_precision
    save_checkpoint(imported.checkpoint, tmp_path / "half.safetensors", half_precision=True)
    loaded = load_file(tmp_path / "half.safetensors")
    assert {value.dtype for value in loaded.values()} == {torch.float16}
    for name, value in imported.checkpoint.weights.items():
        assert torch.equal(loaded[f"model.{name}"].float(), value)


def test_weights_in_several_files_are_put_together(folder: Path) -> None:
    whole = import_model(folder).checkpoint.weights
    weights = load_file(folder / "model.safetensors")
    names = sorted(weights)
    parts = {"part-1.safetensors": names[::2], "part-2.safetensors": names[1::2]}
    for part, held in parts.items():
        save_file({name: weights[name] for name in held}, folder / part)
    (folder / "model.safetensors").unlink()
    index = {
        "metadata": {},
        "weight_map": {name: part for part, held in parts.items() for name in held},
    }
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    read_weights = import_model(folder).checkpoint.weights
    assert read_weights.keys() == whole.keys()
    assert all(torch.equal(read_weights[name], whole[name]) for name in whole)


def test_embeddings_that_both_sides_share_with_no_output_layer_are_stored(tmp_path: Path) -> None:
    """As the library saves an untied model after `resize_token_embeddings`."""
    folder = make_folder(tmp_path / "model", tie_word_embeddings=False)
    weights = load_file(folder / "model.safetensors")
    for side in ("encoder", "decoder"):
        del weights[f"model.{side}.embed_tokens.weight"]
    save_file(weights, folder / "model.safetensors")
    import_model(folder).save(tmp_path / "out.safetensors")
    stored = load_checkpoint(tmp_path / "out.safetensors").weights
    for side in ("source", "target"):
        assert torch.equal(
            stored[f"{side}_embedding.tokens.weight"], weights["model.shared.weight"]
        )


def test_a_file_of_added_tokens_of_another_model_is_refused(folder: Path) -> None:
    (folder / "added_tokens.json").write_text('{"<new>": 3}', encoding="utf-8")
    assert "<new>" not in import_model(folder).checkpoint.codecs.source.vocabulary.ids, (
        "its id has another token"
    )
    (folder / "added_tokens.json").write_text('{"<new>": "x"}', encoding="utf-8")
    with pytest.raises(ModelImportError, match=r'added_tokens\.json: .*is "x"'):
        import_model(folder)
    change(folder / "tokenizer_config.json", added_tokens_decoder={"first": {"content": "<new>"}})
    with pytest.raises(
        ModelImportError, match=r"added_tokens_decoder\.first is .* be under the id of a token"
    ):
        import_model(folder)
    change(
        folder / "tokenizer_config.json",
        added_tokens_decoder={"171": {"content": "<new>", "lstrip": 3}},
    )
    with pytest.raises(ModelImportError, match=r"lstrip is 3; it must be true or false"):
        import_model(folder)


def test_added_tokens_are_words_of_a_sentence(folder: Path, tmp_path: Path) -> None:
    more = add_tokens(folder, tmp_path / "more", ["<new>", "Straße"], ["[SEP]"])
    import_model(more, ImportOptions(source_language="de", target_language="en")).save(
        tmp_path / "out.safetensors"
    )
    translator = Translator.load(tmp_path / "out.safetensors", "cpu")
    translation = translator.run(
        Experiment("Ein <new> läuft[SEP]", GivenTarget("a <new> runs[SEP]"))
    )
    assert [word.text for word in translation.source_words][:2] == ["Ein", "<new>"]
    assert not translation.unknown_source_positions
    assert "<new>" in translation.source_tokens
    assert "[SEP]" in translation.source_tokens
    decoded = as_the_library_reads(more).tokenizer.decode(
        translation.predicted_ids, skip_special_tokens=True
    )
    assert translator.checkpoint.codecs.target.text_of(translation.predicted_ids) == decoded
    assert [word.text for word in translation.target_words][:2] == ["a", "<new>"]


@pytest.mark.parametrize("prefix", ["_orig_mod.", "module.", "model.", "_orig_mod.model."])
@pytest.mark.parametrize("kind", ["safetensors", "pickled", "in parts", "in pickled parts"])
def test_prefixes_of_trainers_are_left_out(folder: Path, prefix: str, kind: str) -> None:
    expected = import_model(folder).checkpoint.weights
    weights = {
        prefix + name: value for name, value in load_file(folder / "model.safetensors").items()
    }
    weights["num_steps"] = torch.tensor(3)
    weights["model.encoder.embed_positions.position_ids"] = torch.arange(64)[None]
    (folder / "model.safetensors").unlink()
    name, save = (
        ("model.safetensors", save_file)
        if "pickled" not in kind
        else ("pytorch_model.bin", torch.save)
    )
    if "parts" in kind:
        names = sorted(weights)
        parts = {"part-1": names[::2], "part-2": names[1::2]}
        for part, held in parts.items():
            save({name: weights[name] for name in held}, folder / part)
        index = {"weight_map": {name: part for part, held in parts.items() for name in held}}
        (folder / f"{name}.index.json").write_text(json.dumps(index), encoding="utf-8")
    else:
        save(weights, folder / name)
    with pickles_read_here():
        read_weights = import_model(folder).checkpoint.weights
    assert read_weights.keys() == expected.keys()
    assert all(torch.equal(read_weights[name], expected[name]) for name in expected)


@pytest.mark.subprocess
@pytest.mark.slow
def test_pickled_weights_are_the_same(tmp_path: Path) -> None:
    plain, pickled = (
        import_model(make_folder(tmp_path / file, file=file)).checkpoint.weights
        for file in ("safetensors", "bin")
    )
    assert plain.keys() == pickled.keys()
    assert all(torch.equal(plain[name], pickled[name]) for name in plain)


def test_a_cache_of_the_hub_is_read_through_its_links(original: Path, tmp_path: Path) -> None:
    snapshot, blobs = (
        tmp_path / "models--x--y" / "snapshots" / "abc",
        tmp_path / "models--x--y" / "blobs",
    )
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, file in enumerate(original.iterdir()):
        (blobs / str(number)).write_bytes(file.read_bytes())
        (snapshot / file.name).symlink_to(Path("../../blobs") / str(number))
    assert recognize(snapshot).summary.num_parameters


SPOILED: dict[str, tuple[Callable[[Path], object], str]] = {
    "no vocabulary": (
        lambda folder: (folder / "vocab.json").unlink(),
        r"vocab\.json is missing; the folder holds",
    ),
    "no source.spm": (lambda folder: (folder / "source.spm").unlink(), r"source\.spm is missing"),
    "no target.spm": (lambda folder: (folder / "target.spm").unlink(), r"target\.spm is missing"),
    "no weights": (
        lambda folder: (folder / "model.safetensors").unlink(),
        r"transformers without its weights\. Fetch model\.safetensors",
    ),
    "no configuration": (
        lambda folder: (folder / "config.json").unlink(),
        r"has no config\.json and no .*; it holds",
    ),
    "link out of it": (
        lambda folder: (
            (folder / "vocab.json").unlink(),
            (folder / "vocab.json").symlink_to("/etc/hostname"),
        ),
        r"vocab\.json is a link to /etc/hostname, which lies outside the folder",
    ),
    "link to weights outside": (
        lambda folder: (
            (folder / "model.safetensors").rename(folder.parent / "w"),
            (folder / "model.safetensors").symlink_to(folder.parent / "w"),
        ),
        r"model\.safetensors is a link to .*, which lies outside the folder",
    ),
    "absolute path of weights": (
        lambda folder: (
            (folder / "model.safetensors").unlink(),
            (folder / "model.safetensors.index.json").write_text(
                '{"weight_map": {"a": "/etc/passwd"}}'
            ),
        ),
        r"refers to the file /etc/passwd, which lies outside it",
    ),
    "path upwards": (
        lambda folder: (
            (folder / "model.safetensors").unlink(),
            (folder / "model.safetensors.index.json").write_text(
                '{"weight_map": {"a": "../../x"}}'
            ),
        ),
        r"refers to the file \.\./\.\./x, which lies outside it",
    ),
    "another architecture": (
        lambda folder: change(
            folder / "config.json", model_type="bart", architectures=["BartModel"]
        ),
        r"is a model of the architecture BartModel \(type bart\)\. Choose a Marian model",
    ),
    "another type": (
        lambda folder: change(folder / "config.json", model_type="t5", architectures=None),
        r"is a model of the type t5\. Choose a Marian model",
    ),
    "another width": (
        lambda folder: change(folder / "config.json", d_model=64),
        r"model\.safetensors: model\.encoder\.layers\.0.* has the shape \[32, 32\], not \[64, 64\]",
    ),
    "too few layers": (
        lambda folder: change(folder / "config.json", encoder_layers=1),
        r"model\.safetensors holds model\.encoder\.layers\.1.* and \d+ more, which the configured",
    ),
    "too many layers": (
        lambda folder: change(folder / "config.json", decoder_layers=3),
        r"model\.safetensors has no model\.decoder\.layers\.2\.",
    ),
    "billions of layers": (
        lambda folder: change(folder / "config.json", encoder_layers=10**9),
        r"config\.json: encoder_layers is 1000000000\. Use a whole number from 1 to 128",
    ),
    "heads that do not divide": (
        lambda folder: change(folder / "config.json", encoder_attention_heads=5),
        r"encoder_attention_heads is 5; it must be a number that divides d_model, 32\. Use another copy\.$",
    ),
    "unknown activation": (
        lambda folder: change(folder / "config.json", activation_function="mish"),
        r"activation_function is \"mish\"\. Use one of \"relu\", \"gelu\", .*gelu_new.*silu",
    ),
    "activation that is a list": (
        lambda folder: change(folder / "config.json", activation_function=["relu"]),
        r"activation_function is a list of 1 item\. Use one of \"relu\", \"gelu\", .*gelu_new.*silu",
    ),
    "a number for a list of words": (
        lambda folder: change(folder / "generation_config.json", bad_words_ids=7),
        r"generation_config\.json: bad_words_ids is 7; it must be a list",
    ),
    "a number for a list of tokens": (
        lambda folder: change(folder / "generation_config.json", suppress_tokens=7),
        r"generation_config\.json: suppress_tokens is 7; it must be a list",
    ),
    "an end that is not an id": (
        lambda folder: change(folder / "generation_config.json", eos_token_id=9999),
        r"generation_config\.json: eos_token_id is 9999; it must be the id of one of 171 tokens",
    ),
    "vocabularies perhaps separate": (
        lambda folder: change(folder / "tokenizer_config.json", separate_vocabs="maybe"),
        r"tokenizer_config\.json: separate_vocabs is 'maybe'; it must be true or false",
    ),
    "a link to nothing": (
        lambda folder: (
            (folder / "vocab.json").unlink(),
            (folder / "vocab.json").symlink_to("gone.json"),
        ),
        r"vocab\.json is a broken link \(gone\.json\)",
    ),
    "a link to itself": (
        lambda folder: (
            (folder / "vocab.json").unlink(),
            (folder / "vocab.json").symlink_to("vocab.json"),
        ),
        r"vocab\.json is a broken link \(vocab\.json\)",
    ),
    "an spm whose table points anywhere": (
        lambda folder: (folder / "source.spm").write_bytes(
            (folder / "source.spm").read_bytes()
            + b"\x1a\x0c\x12\x0a\x04\x00\x00\x00\xff\xfe\xff\x7f\x61\x00"
        ),
        r"source\.spm is not a complete SentencePiece model \(its normalization table points outside itself\)",
    ),
    "vocabulary without an id": (
        lambda folder: (change(folder / "vocab.json", **{_token(folder, 17): None}),),
        r"vocab\.json has no token with the id 17, although config\.json says that it has 171 tokens",
    ),
    "vocabulary with an id twice": (
        lambda folder: change(folder / "vocab.json", **{_token(folder, 17): 18}),
        r"vocab\.json: the id 18 is that of",
    ),
    "vocabulary with an id beyond": (
        lambda folder: change(folder / "vocab.json", more=5000),
        r"vocab\.json: more is 5000\. Use a whole number from 0 to 170\.",
    ),
    "vocabulary without unk": (
        lambda folder: (
            change(folder / "vocab.json", **{"<unk>": None}),
            change(folder / "vocab.json", other=1),
        ),
        r"vocab\.json has no token <unk>",
    ),
    "a list for a vocabulary": (
        lambda folder: (folder / "vocab.json").write_text("[]"),
        r"vocab\.json: .*an empty list",
    ),
    "broken configuration": (
        lambda folder: (folder / "config.json").write_text('{"model_type": "mar'),
        r"config\.json: It is not complete JSON",
    ),
    "truncated weights": (
        lambda folder: os.truncate(folder / "model.safetensors", 20_000),
        r"model\.safetensors cannot be read .*may be cut off",
    ),
    "empty weights": (
        lambda folder: os.truncate(folder / "model.safetensors", 0),
        r"model\.safetensors cannot be read .*may be cut off",
    ),
    "truncated spm": (
        lambda folder: os.truncate(folder / "source.spm", 0),
        r"source\.spm is not a complete SentencePiece model",
    ),
    "an spm of noise": (
        lambda folder: (folder / "target.spm").write_bytes(b"nonsense" * 100),
        r"target\.spm is not a complete SentencePiece model",
    ),
    "padding that is not an id": (
        lambda folder: change(folder / "config.json", pad_token_id=171),
        r"config\.json: pad_token_id is 171; it must be the id of one of 171 tokens",
    ),
    "padding that is a piece": (
        lambda folder: change(folder / "config.json", pad_token_id=17),
        r"vocab\.json: the token 17, which is pad_token_id in config\.json, is '.+', not the padding token <pad>",
    ),
    "no padding": (
        lambda folder: (folder / "vocab.json").write_text(
            (folder / "vocab.json").read_text(encoding="utf-8").replace("<pad>", "word"),
            encoding="utf-8",
        ),
        r"vocab\.json: the token 170, which is pad_token_id in config\.json, is 'word', not the padding token <pad>",
    ),
    "weights that are integers": (
        lambda folder: _with_weights(folder, lambda value: value.to(torch.int8)),
        r"holds numbers of the kind torch\.int8",
    ),
}


def _token(folder: Path, token_id: int) -> str:
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    return next(token for token, other_id in vocabulary.items() if other_id == token_id)


def _with_weights(folder: Path, changed: Callable[[torch.Tensor], torch.Tensor]) -> None:
    weights = load_file(folder / "model.safetensors")
    save_file(
        {name: changed(value) for name, value in weights.items()}, folder / "model.safetensors"
    )


@pytest.mark.parametrize(("spoil", "message"), SPOILED.values(), ids=SPOILED)
def test_what_is_not_whole_is_refused_and_nothing_is_written(
    folder: Path, spoil: Callable[[Path], object], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(folder)
    with pytest.raises(ModelImportError, match=message):
        import_model(folder)
    out = folder.parent / "out" / "model.safetensors"
    assert main(["import", str(folder), "--out", str(out)]) == 2
    assert not out.parent.exists()
    assert capsys.readouterr().err.startswith("augenmerk: ")


@pytest.mark.parametrize(
    "spelling", ["plain", "dotted", "link", "link to the folder", "the file itself"]
)
def test_no_file_of_the_original_is_written_over(
    original: Path, tmp_path: Path, spelling: str, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = original / "model.safetensors"
    source = weights if spelling == "the file itself" else original
    (tmp_path / "link.safetensors").symlink_to(weights)
    (tmp_path / "folder").symlink_to(original)
    out = {
        "dotted": original / ".." / original.name / "model.safetensors",
        "link": tmp_path / "link.safetensors",
        "link to the folder": tmp_path / "folder" / "vocab.json",
    }.get(spelling, weights)
    before = {file: file.read_bytes() for file in original.iterdir()}
    assert main(["import", str(source), "--out", str(out)]) == 2
    assert f"augenmerk: Cannot write {out}: it is" in capsys.readouterr().err
    assert {file: file.read_bytes() for file in original.iterdir()} == before


def test_a_new_file_may_lie_in_the_originals_folder_but_not_hide_its_weights(folder: Path) -> None:
    imported = import_model(folder)
    for _ in range(2):  # what an earlier import wrote is no original
        imported.save(folder / "imported.safetensors")
    with pytest.raises(StorageError, match=r"it is .*source\.spm, one of the files"):
        imported.save(folder / "source.spm")
    with pytest.raises(StorageError, match=r"weights of the model in .* would be looked for in it"):
        imported.save(folder / "pytorch_model.bin")
    assert recognize(folder)


def test_an_older_file_stays_where_an_import_fails(folder: Path) -> None:
    out = folder.parent / "model.safetensors"
    out.write_text("older")
    (folder / "vocab.json").unlink()
    assert main(["import", str(folder), "--out", str(out)]) == 2
    assert out.read_text() == "older"


def test_too_little_memory_is_told_before_anything_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recognized = recognize(folder)
    monkeypatch.setattr(
        "augenmerk.core.extensions.readers.weights.available_memory", lambda: 200_000_000
    )
    with pytest.raises(
        ModelImportError, match=r"needs about 0\.3 GB of memory, and 0\.2 GB are free"
    ):
        recognized.read(on_phase=pytest.fail)


def test_free_memory_is_told_where_the_system_tells_it() -> None:
    free = memory_limits.available_memory()
    assert free is None or free > 2**20


def test_weights_that_are_not_finite_are_refused(folder: Path) -> None:
    _with_weights(folder, lambda value: value * float("nan") if value.dim() == 2 else value)
    with pytest.raises(ModelImportError, match=r"model\.safetensors: \S+ is not finite"):
        import_model(folder)


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [(torch.float16, 16), (torch.bfloat16, 32), (torch.float32, 32)],
    ids=["half", "bf16", "single"],
)
def test_the_precision_of_a_pickle_is_told_once_it_is_read(
    tmp_path: Path, dtype: torch.dtype, bits: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its size tells nothing: tables of positions, or values beside the weights, may take most of
    it."""
    folder = make_folder(tmp_path / "model", file="bin", dtype=dtype, max_position_embeddings=5000)
    assert recognize(folder).summary.half_precision is None
    out = tmp_path / "out.safetensors"
    with pickles_read_here():
        assert main(["import", str(folder), "--out", str(out)]) == 0
    said = capsys.readouterr()
    weights = load_file(out)
    assert {8 * value.element_size() for value in weights.values()} == {bits}
    num_parameters = sum(value.numel() for value in weights.values())
    pattern = rf"model will be stored in {bits} bits, about (\S+) MB \((\S+) MB in {48 - bits} bits"
    announced = re.search(pattern, said.err)
    assert announced is not None
    other_bytes = out.stat().st_size + num_parameters * (48 - 2 * bits) // 8
    assert float(announced[1]) == pytest.approx(out.stat().st_size / 1e6, abs=0.06), (
        "not of the weights alone"
    )
    assert float(announced[2]) == pytest.approx(other_bytes / 1e6, abs=0.06)
    assert (
        f"{num_parameters:,} parameters, {out.stat().st_size / 1e6:.1f} MB, {bits}-bit" in said.out
    )


def test_weights_that_the_stored_precision_cannot_hold_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = load_file(folder / "model.safetensors")
    out, name = folder.parent / "out.safetensors", "model.encoder.layers.0.fc1.bias"
    weights[name][3] = -1e6
    save_file(weights, folder / "model.safetensors")
    assert main(["import", str(folder), "--out", str(out), "--half"]) == 2
    message = capsys.readouterr().err
    assert (
        f"model.safetensors: {name} holds 1e+06, which 16-bit floats cannot hold, 6.55e+04 at most"
        in message
    )
    assert not out.exists()
    imported = import_model(folder)
    with pytest.raises(ModelImportError, match="16-bit floats cannot hold"):
        imported.save(out, half_precision=True)
    imported.save(out)
    load_checkpoint(out)
    matrices = {
        name: value.half() if value.dim() == 2 else value for name, value in weights.items()
    }
    save_file(matrices, folder / "model.safetensors")
    assert not import_model(folder).half_precision  # for the bias
    monkeypatch.setattr("augenmerk.core.extensions.readers.model.HALF_ABOVE_BYTES", 10)
    assert main(["import", str(folder), "--out", str(out)]) == 0  # nobody asked for 16 bits
    said = capsys.readouterr()
    assert "32-bit" in said.out
    assert f"stored in 32 bits, as {name} holds 1e+06, which 16-bit floats cannot hold" in said.err
    load_checkpoint(out)
    save_file(weights | {name: weights[name].double() * 1e300}, folder / "model.safetensors")
    with pytest.raises(
        ModelImportError,
        match=rf"model\.safetensors: {name} holds 1e\+306, which 32-bit floats cannot",
    ):
        import_model(folder)


@pytest.mark.slow
def test_large_models_and_those_of_16_bits_are_stored_in_16_bits_unless_another_precision_is_chosen(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    halves, out = (
        make_folder(tmp_path / "halves", dtype=torch.float16),
        tmp_path / "out.safetensors",
    )

    def stored_bits(source: Path, *choice: str) -> int:
        assert main(["import", str(source), "--out", str(out), *choice]) == 0
        said = capsys.readouterr()
        (bits,) = {8 * value.element_size() for value in load_file(out).values()}
        assert f", {bits}-bit" in said.out
        assert f"{source.name} will be stored in {bits} bits, about 1." in said.err
        assert ("--no-half" if bits == 16 else "--half") in said.err
        summary = recognize(
            source, ImportOptions(half_precision={(): None, ("--half",): True}.get(choice, False))
        ).summary
        assert (summary.bits, summary.disk_bytes - summary.other_bytes) == (
            bits,
            summary.num_parameters * bits // 8,
        )
        return bits

    assert [stored_bits(source) for source in (folder, halves)] == [32, 16]
    assert [stored_bits(source, "--half") for source in (folder, halves)] == [16, 16]
    assert [stored_bits(source, "--no-half") for source in (folder, halves)] == [32, 32]
    original = load_file(halves / "model.safetensors")["model.shared.weight"]
    assert torch.equal(load_file(out)["model.source_embedding.tokens.weight"], original.float())
    size = 4 * recognize(folder).summary.num_parameters
    monkeypatch.setattr("augenmerk.core.extensions.readers.model.HALF_ABOVE_BYTES", size)
    assert stored_bits(folder) == 32
    monkeypatch.setattr("augenmerk.core.extensions.readers.model.HALF_ABOVE_BYTES", size - 1)
    assert stored_bits(folder) == 16
    assert stored_bits(folder, "--no-half") == 32


def test_the_limit_of_what_is_stored_in_32_bits_is_100_megabytes(folder: Path) -> None:
    summary = recognize(folder).summary

    def stores_half(choice: bool | None, num_parameters: int, *, in_file: bool) -> bool:
        known = replace(summary, num_parameters=num_parameters, has_half_precision=in_file)
        return known.stored_as(choice).half_precision

    assert not stores_half(None, 25_000_000, in_file=False)
    assert stores_half(None, 25_000_001, in_file=False)
    assert stores_half(None, 10, in_file=True)
    assert not stores_half(False, 10**9, in_file=True)
    assert stores_half(True, 10, in_file=False)


def test_a_weight_that_is_not_finite_is_named_as_in_its_file(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    weights["model.shared.weight"][0, 0] = float("nan")
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(
        ModelImportError, match=r"model\.safetensors: model\.shared\.weight is not finite"
    ):
        import_model(folder)


def test_the_public_api_imports_and_saves(folder: Path, tmp_path: Path) -> None:
    import augenmerk as api

    imported = api.import_model(folder, api.ImportOptions(source_language="es"))
    imported.save(str(tmp_path / "model.safetensors"))
    translator = api.Translator.load(tmp_path / "model.safetensors", "cpu")
    assert translator.run_config.data.source_language == "es"
    assert translator.run(api.Experiment(SENTENCE)).text
    imported.save(tmp_path / "half.safetensors", half_precision=True)
    assert (tmp_path / "half.safetensors").stat().st_size < (
        tmp_path / "model.safetensors"
    ).stat().st_size
    with pytest.raises(api.ModelImportError, match=r"There is nothing at"):
        api.import_model(tmp_path / "no such folder")


def test_memory_disk_and_time_are_told_before_the_weights_are_read(
    folder: Path, tmp_path: Path
) -> None:
    summary = recognize(folder).summary
    assert summary.disk_bytes == 4 * summary.num_parameters + summary.other_bytes
    assert summary.memory_bytes > summary.disk_bytes - summary.other_bytes
    half = make_folder(tmp_path / "half", dtype=torch.float16)
    in_half = recognize(half).summary
    assert in_half.disk_bytes == 2 * in_half.num_parameters + in_half.other_bytes
    large = replace(summary, read_bytes=300_000_000, num_parameters=75_000_000, other_bytes=0)
    assert large.seconds == pytest.approx(5.0)
    assert replace(summary, is_pickled=True).seconds > summary.seconds
    assert not summary.misses_languages
    change(folder / "tokenizer_config.json", source_lang=None, target_lang=None)
    assert recognize(folder.rename(folder.parent / "mine")).summary.misses_languages


def test_the_padding_of_a_target_vocabulary_of_its_own_is_checked(tmp_path: Path) -> None:
    """Teacher forcing begins with that token, and pads with it: a piece of text there would be
    another model."""
    folder = make_folder(tmp_path / "two vocabularies", separate=True)
    vocabulary = json.loads((folder / "target_vocab.json").read_text(encoding="utf-8"))
    padding_id = vocabulary["<pad>"]
    word = next(token for token, token_id in vocabulary.items() if token_id == 7)
    swapped = {**vocabulary, word: padding_id, "<pad>": 7}
    (folder / "target_vocab.json").write_text(json.dumps(swapped), encoding="utf-8")
    refused = (
        rf"target_vocab\.json: the token {padding_id}, which is pad_token_id in config\.json, is "
    )
    with pytest.raises(ModelImportError, match=refused + rf"'{word}', not the padding token <pad>"):
        recognize(folder)
    shorter = {token: token_id for token, token_id in vocabulary.items() if token_id < padding_id}
    (folder / "target_vocab.json").write_text(json.dumps(shorter), encoding="utf-8")
    change(folder / "config.json", decoder_vocab_size=padding_id)
    change(folder / "generation_config.json", decoder_start_token_id=7)
    with pytest.raises(ModelImportError, match=refused + rf"beyond its {padding_id} tokens"):
        recognize(folder)


def test_activations_are_the_library_s_by_every_name_that_is_one_of_ours() -> None:
    from transformers.activations import ACT2FN

    values = torch.linspace(-12, 12, 481)
    ours = {name: layers.ACTIVATIONS[name](values.clone()) for name in get_args(Activation)}
    for name in ACT2FN:
        if name in ("prelu", "xielu"):  # have weights of their own
            continue
        equal = [
            own_name
            for own_name in ours
            if torch.allclose(ACT2FN[name](values.clone()), ours[own_name], atol=1e-6, rtol=0)
        ]
        assert equal == ([ACTIVATIONS[name]] if name in ACTIVATIONS else []), name


def test_an_import_can_be_stopped(folder: Path) -> None:
    with pytest.raises(ImportStoppedError, match="Nothing was written"):
        import_model(folder, should_stop=lambda: True)


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelImportError, match="There is nothing at"):
        recognize(tmp_path / "nothing")
    (tmp_path / "empty").touch()
    with pytest.raises(ModelImportError, match="is empty"):
        recognize(tmp_path / "empty")
    (tmp_path / "text").write_text("not a model, though long enough")
    with pytest.raises(ModelImportError, match="neither a PyTorch file nor a safetensors file"):
        recognize(tmp_path / "text")


def test_a_file_out_of_the_folder_names_the_folder(folder: Path) -> None:
    with pytest.raises(
        ModelImportError, match=rf"only the weights .* with the whole model, {folder}\.$"
    ):
        recognize(folder / "model.safetensors")


def test_our_own_file_needs_no_import(folder: Path, tmp_path: Path) -> None:
    save_checkpoint(import_model(folder).checkpoint, tmp_path / "own.safetensors")
    with pytest.raises(ModelImportError, match="is already an Augenmerk checkpoint"):
        recognize(tmp_path / "own.safetensors")


def test_the_command_says_what_was_imported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder.parent / "model.safetensors"
    assert main(["import", str(folder), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "opus-mt-de-en (Marian, by Hugging Face transformers), German to English" in said
    assert (
        "start a text with the code of its target language, or use --into: >>deu<< >>fra<< >>nld<<"
        in said
    )
    assert main(["info", str(out)]) == 0
    said = capsys.readouterr().out
    assert "imported    opus-mt-de-en (marian)" in said
    assert "languages   German to English" in said
    assert "max_steps                  23" in said
    assert main(["translate", SENTENCE, "--checkpoint", str(out)]) == 0
    assert capsys.readouterr().out.strip()


def test_what_is_not_applied_is_told(folder: Path) -> None:
    change(
        folder / "generation_config.json",
        no_repeat_ngram_size=3,
        bad_words_ids=[[170], [4, 5]],
        forced_eos_token_id=5,
    )
    notes = recognize(folder).summary.notes
    assert any("no_repeat_ngram_size = 3" in note for note in notes)
    assert any("[4, 5]" in note for note in notes)
    assert any("forced_eos_token_id = 5" in note for note in notes)
    decoding = import_model(folder).checkpoint.decoding
    assert decoding.forbidden_ids == (170,)
    assert not decoding.force_end


@pytest.mark.parametrize("length", [1e308, 24.0, True, 1, "24"])
def test_a_limit_that_is_no_number_of_tokens_is_told_of(folder: Path, length: object) -> None:
    change(folder / "generation_config.json", max_length=length)
    recognized = recognize(folder)
    assert f"max_length = {length!r} is not applied" in recognized.summary.notes
    assert recognized.read().checkpoint.decoding.max_steps is None


def test_numbers_beyond_all_measure_are_told_of(folder: Path) -> None:
    change(
        folder / "generation_config.json",
        num_beams=10**9,
        max_length=10**12,
        suppress_tokens=[3, 9999],
    )
    recognized = recognize(folder)
    assert {
        "num_beams = 1000000000 is not applied",
        "max_length = 1000000000000 is not applied",
    } < set(recognized.summary.notes)
    assert "suppress_tokens: 9999 is not applied" in recognized.summary.notes
    decoding = recognized.read().checkpoint.decoding
    assert (decoding.beam, decoding.max_steps) == (1, None)


def test_every_analysis_works_on_an_imported_model(translator: Translator) -> None:
    heads = (Head("encoder", 1, 3), Head("cross", 0, 1))
    experiment = Experiment(SENTENCE, interventions=tuple(HeadScaled(head, 0.0) for head in heads))
    result = translator.compare(experiment)
    for translation in (
        result.changed,
        result.original,
        translator.run(Experiment(SENTENCE, Beam(3, 1.0))),
    ):
        assert translation.predicted_tokens[-1] == "</s>"
        assert translation.read_tokens[0] == "<pad>"
        num_source, num_steps = len(translation.source_ids), len(translation.predicted_ids)
        assert translation.maps.encoder.shape == (2, 4, num_source, num_source)
        assert translation.maps.cross.shape == (2, 4, num_steps, num_source)
        contributions = contributions_of(translator, translation)
        total = contributions.source.sum(axis=-1) + contributions.prefix.sum(axis=-1)
        assert abs(total - 1).max() < 1e-5
        trace = trace_translation(translator, translation)
        assert abs(trace.cross.weights - translation.maps.cross).max() < 1e-5
        for measure in ("weight", "norm", "rollout"):
            assert measure_maps(Pass(translator.pass_over(translation)), measure, "cross").shape[
                -2:
            ] == (
                num_steps,
                num_source,
            )
    occlusion = occlude_source_words(translator, result.original)
    assert len(occlusion.words) == len(result.original.source_words)
    assert [word.text for word in result.original.source_words][:4] == ["Ein", "Mann", "läuft", ","]


def test_a_source_without_a_code_is_told_of_the_choice(translator: Translator) -> None:
    assert any(
        "translates into several languages" in note
        for note in translator.run(Experiment(SENTENCE)).notes
    )
    with_code = translator.run(Experiment(f">>fra<< {SENTENCE}"))
    assert with_code.source_tokens[:2] == (">>fra<<", "Ein")
    assert not with_code.notes or "several languages" not in with_code.notes[0]


def test_the_token_of_the_target_language_is_no_word_of_a_gold_pair(translator: Translator) -> None:
    words = ("Ein", "Mann"), ("A", "man")
    gold = [GoldPair(line, *words, links := frozenset({(0, 0), (1, 1)}), links) for line in (1, 2)]
    seen = []
    for code in ("", ">>fra<<"):
        ranking = rank_aligners(translator, gold, target_code=code)
        assert (ranking.num_choosing, ranking.num_reporting, ranking.num_skipped) == (1, 1, 0)
        seen.append(ranking.scores)
    assert seen[0] != seen[1], "the model reads the token"


def test_forced_tokens_edits_and_given_targets_work(translator: Translator) -> None:
    token = next(
        token
        for token in translator.checkpoint.codecs.target.vocabulary.tokens
        if token.startswith("▁d")
    )
    translation = translator.run(
        Experiment(SENTENCE, interventions=(ForcedToken(2, token), SourceWordRemoved(1)))
    )
    assert len(translation.predicted_ids) < 3 or translation.predicted_tokens[
        2
    ] == token.removeprefix("▁")
    assert "Mann" not in [word.text for word in translation.source_words]
    scored = translator.run(Experiment(SENTENCE, GivenTarget("A man runs, and a dog plays.")))
    assert scored.predicted_tokens[-1] == "</s>"
    texts = [SENTENCE, "Ein Hund.", "", "Viele Kinder spielen."]
    corpus = translator.translate_corpus(texts)
    alone = ["" if not text else translator.run(Experiment(text)).text for text in texts]
    assert [translation.text for translation in corpus] == alone
    marked = translator.run(Experiment("Ein </s> Mann <pad>"))
    assert marked.source_ids.count(translator.checkpoint.codecs.source.vocabulary.end_id) == 1


def test_the_models_own_beam_is_used_unless_another_is_asked_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder.parent / "model.safetensors"
    assert main(["import", str(folder), "--out", str(out)]) == 0
    translate = ["translate", SENTENCE, "--json", "--checkpoint", str(out)]
    for options, expected in (
        ([], {"type": "beam", "size": 4}),
        (["--beam", "1"], {"type": "greedy"}),
    ):
        capsys.readouterr()
        assert main([*translate, *options]) == 0
        output = json.loads(capsys.readouterr().out)["output"]
        assert {name: output[name] for name in expected} == expected


def test_an_imported_model_is_scored(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder.parent / "model.safetensors"
    save_checkpoint(import_model(folder).checkpoint, out)
    for name, lines in (
        ("a.de", (SENTENCE, "Ein Hund.")),
        ("a.en", ("A man runs, and a dog plays.", "A dog.")),
    ):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = command_line(
        "evaluate --source {} --reference {} --json", folder / "a.de", folder / "a.en"
    )
    capsys.readouterr()
    assert main([*command, "--checkpoint", str(out)]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["beam"] == 4
    translator = Translator.load(out, "cpu")
    expected = [
        -value
        for source, target in ((SENTENCE, "A man runs, and a dog plays."), ("Ein Hund.", "A dog."))
        for value in translator.run(Experiment(source, GivenTarget(target))).log_probabilities
    ]
    assert scores["loss"]["token_weighted"] == pytest.approx(
        sum(expected) / len(expected), rel=1e-5
    )


@pytest.mark.subprocess
def test_a_single_file_can_be_stopped_and_is_refused_where_memory_does_not_suffice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "model.pt"
    torch.save({"encoder.tok_embedding.weight": torch.ones(4, 4)}, file)
    with pytest.raises(ImportStoppedError, match="Nothing was written"):
        import_model(file, should_stop=lambda: True)
    weights = tmp_path / "model.safetensors"
    save_file({"encoder.tok_embedding.weight": torch.ones(4, 4)}, weights)
    monkeypatch.setattr(
        "augenmerk.core.extensions.readers.weights.available_memory", lambda: 200_000_000
    )
    for source in (file, weights):
        with pytest.raises(
            ModelImportError,
            match=rf"{source.name} needs about 0\.3 GB of memory, and 0\.2 GB are free",
        ):
            import_model(source)


@pytest.mark.heavy
def test_the_command_names_no_language_by_the_code_for_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_folder(tmp_path / "mine", tokenizer={"source_lang": None})
    assert main(["import", str(folder), "--out", str(tmp_path / "mine.safetensors")]) == 0
    assert "an unknown language to English" in capsys.readouterr().out
