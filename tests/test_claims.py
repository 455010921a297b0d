"""What the texts say about the bundled model is so; `make claims` prints it, and notices where it
is not.
"""

from pathlib import Path

import pytest

from augenmerk.core.resources import bundled_model_path, resource_path
from augenmerk.core.translation.translator import Translator
from tools import claims

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(not bundled_model_path().is_file(), reason="the bundled model is not here"),
]


@pytest.fixture(scope="module")
def bundled() -> Translator:
    return Translator.load(device="cpu")


@pytest.mark.slow
def test_no_claim_is_stale(bundled: Translator) -> None:
    all_claims = list(claims.all_claims(bundled))
    stale = [
        f"{claim.where}: {claim.says}; today {claim.today}"
        for claim in all_claims
        if not claim.holds
    ]
    assert not stale, "change the texts: " + "\n".join(stale)
    places = {claim.where.split(":")[0].split(",")[0] for claim in all_claims}
    assert {"gallery.toml", "learn", "README.md", "model-notebook.md"} < places
    assert {path.name for path in resource_path("lessons").glob("*.augenmerk")} < places


@pytest.mark.slow
def test_beam_search_differs_from_greedy_decoding_as_often_as_the_chapter_says(
    bundled: Translator, multi30k_folder: Path
) -> None:
    (claim,) = claims.of_beams(bundled, multi30k_folder)
    assert claim.holds, claim.today


@pytest.mark.slow
def test_another_model_makes_claims_stale(untrained_checkpoint: Path) -> None:
    other = Translator.load(untrained_checkpoint, "cpu")
    assert not any(claim.holds for claim in claims.of_gallery(other) if "becomes" in claim.says)
    stale = {claim.says for claim in claims.of_chapters(other) if not claim.holds}
    assert "head looks at these for “shirt”" in stale
    assert "this head points clearly, and little is lost without it" in stale
    assert "Mostly this makes up for some of the loss" in stale
    assert "width 256" not in stale, "it is about a preset"


def test_words_that_are_gone_and_numbers_that_changed_are_stale(
    bundled: Translator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = (
        claims.README.read_text("utf-8")
        .replace("7.6 million", "8.1 million")
        .replace("44.47", "45.00")
    )
    (tmp_path / "README.md").write_text(changed, encoding="utf-8")
    monkeypatch.setattr(claims, "README", tmp_path / "README.md")
    stale = {claim.says for claim in claims.of_card_and_readme(bundled) if not claim.holds}
    assert stale == {"7.6 million parameters", "BLEU 45.00, greedy"}


def test_the_command_prints_each_claim_and_fails_when_one_is_stale(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    some = (
        claims.Claim("a file", "42%", "41%", holds=False),
        claims.Claim("a file", "one", "one", holds=True),
    )
    monkeypatch.setattr(claims, "all_claims", lambda translator: iter(some))
    assert claims.main([]) == 1
    printed = capsys.readouterr().out
    assert "NO a file\n      says:  42%\n      today: 41%" in printed
    assert "2 claims, 1 of them stale" in printed
