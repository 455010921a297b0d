"""Runs the script of a page under node, next to the product's own results."""

import base64
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from augenmerk.core.extensions.missing_words import missing_words_note
from augenmerk.core.extensions.page.packing import PackedModel, engine_script, pack_model
from augenmerk.core.model.heads import ATTENTION_KINDS
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.experiment_file import experiment_to_json, part_to_json
from augenmerk.core.translation.result import Translation
from augenmerk.core.translation.translator import Translator

TOLERANCE = 1e-4
RUNNER = Path(__file__).parent / "run.mjs"


class Page:
    """The script with a packed model, by default that of the translator with all bits, in files of
    `folder`."""

    def __init__(
        self, translator: Translator, folder: Path, packed: PackedModel | None = None
    ) -> None:
        self.translator = translator
        self._script, self._model = folder / "script.js", folder / "model.json"
        self._script.write_text(engine_script(), encoding="utf-8")
        texts = (packed or pack_model(translator.checkpoint, translator.name, bits=32)).texts
        self._model.write_text(json.dumps(dict(texts)), encoding="ascii")

    def answers(self, requests: Sequence[tuple[str, Any]]) -> list[dict[str, Any]]:
        """The answer to each action and its value: `value` and `milliseconds`, or `error`."""
        node = shutil.which("node")
        if node is None:
            pytest.skip("needs node: https://nodejs.org, or the package nodejs")
        done = subprocess.run(
            [node, str(RUNNER), str(self._script), str(self._model)],
            input=json.dumps(requests),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=280,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        answers: list[dict[str, Any]] = json.loads(done.stdout)["answers"]
        return answers

    def run(self, experiments: Sequence[Experiment]) -> list[dict[str, Any]]:
        """The answer to each experiment."""
        return self.answers([("run", experiment_to_json(experiment)) for experiment in experiments])

    def check(self, experiments: Sequence[Experiment]) -> None:
        """Raises unless tokens, texts, notes, probabilities and weights are the product's."""
        expected = self.translator.run_many(experiments)
        for translation, answer in zip(expected, self.run(experiments), strict=True):
            check_same(translation, answer["value"])
            note = missing_words_note(translation, self.translator.run_config)
            assert answer["value"]["missingWords"] == note, translation.experiment


def check_same(expected: Translation, answer: dict[str, Any]) -> None:
    """Raises unless a translation from the script is the product's."""
    about = expected.experiment
    for name, value in {
        "text": expected.text,
        "sourceTokens": expected.source_tokens,
        "readTokens": expected.read_tokens,
        "predictedTokens": expected.predicted_tokens,
        "sourceIds": expected.source_ids,
        "predictedIds": expected.predicted_ids,
        "sourcePlaces": expected.source_places,
        "unknownSourcePositions": expected.unknown_source_positions,
        "ignoredText": expected.ignored_text,
        "notes": expected.notes,
    }.items():
        assert answer[name] == (list(value) if isinstance(value, tuple) else value), (name, about)
    for name, words in (
        ("sourceWords", expected.source_words),
        ("targetWords", expected.target_words),
    ):
        assert answer[name] == [vars(word) for word in words], (name, about)
    assert answer["unreached"] == [
        part_to_json(intervention) for intervention in expected.unreached
    ]
    assert answer["logProbabilities"] == pytest.approx(expected.log_probabilities, abs=TOLERANCE), (
        about
    )
    for alternatives, here in zip(expected.alternatives, answer["alternatives"], strict=True):
        assert [alternative["logProbability"] for alternative in here] == pytest.approx(
            [alternative.log_probability for alternative in alternatives], abs=TOLERANCE
        )
        assert (here[0]["token"], here[0]["entry"]) == (
            alternatives[0].token,
            alternatives[0].entry,
        )
    for kind in ATTENTION_KINDS:
        maps = answer["attention"][kind]
        values = np.frombuffer(base64.b64decode(maps["values"]), "<f4").reshape(maps["shape"])
        np.testing.assert_allclose(
            values, expected.maps.of_kind(kind), rtol=0, atol=TOLERANCE, err_msg=str(about)
        )
    _check_coverage(expected, answer["coverage"])


def _check_coverage(expected: Translation, answer: dict[str, Any] | None) -> None:
    coverage = expected.coverage
    assert (coverage is None) == (answer is None)
    if coverage is None or answer is None:
        return
    assert answer["isUnlikeTraining"] == coverage.is_unlike_training
    assert answer["isForeign"] == coverage.is_foreign
    assert answer["known"] == ("" if coverage.lacks is None else coverage.known)
    for name, words in (
        ("rareWords", coverage.rare_words),
        ("respelledWords", coverage.respelled_words),
    ):
        assert [
            (word["text"], word["start"], word["end"], word["explanation"]) for word in answer[name]
        ] == [(word.text, word.start, word.end, word.explanation) for word in words]
