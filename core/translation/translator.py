"""From German text to a `Translation`: a loaded model and everything around it."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from core.checkpoint.file import Checkpoint, load_checkpoint
from core.checkpoint.history import EpochRecord
from core.corpora.batches import pad
from core.device import DeviceChoice, choose_device
from core.errors import CheckpointError, TextError
from core.model.gates import heads_off
from core.model.heads import Head
from core.model.transformer import Encoding, ModelOutput
from core.resources import bundled_model_path
from core.translation.beam import DEFAULT_LENGTH_PENALTY, beam_search, check_beam
from core.translation.decoding import DecodingRules, batches_by_length, greedy_from
from core.translation.result import Alternative, AttentionMaps, Translation, Word
from core.translation.source import EncodedSource, encode_source
from core.translation.target import EncodedTarget, encode_target

NUM_ALTERNATIVES = 5
CORPUS_BATCH = 64
"""Sentences that are translated side by side."""
MAX_BEAM_ROWS = 256
"""Beginnings that are read side by side; a wide beam takes fewer sentences at once."""


@dataclass(frozen=True)
class Hypothesis:
    """A translation without its maps, as corpora need it.

    Attributes:
        text: as people read it.
        words: as the model produced them, tokenized, in its own case.
    """

    text: str
    words: tuple[str, ...]


class Translator:
    """A loaded model, ready to translate.

    Attributes:
        checkpoint: where the model comes from, its settings and history included.
        name: for people.
        path: the file, or None for a model that was not loaded from one.
        device: where it runs, and why there.
        rules: start, end and forbidden tokens of its decoder.
    """

    def __init__(self, checkpoint: Checkpoint, device: DeviceChoice, path: Path | None = None) -> None:
        self.checkpoint = checkpoint
        self.device = device
        self.path = path
        self.name = path.name.removesuffix(".safetensors") if path else checkpoint.run.preset
        try:
            self.model = checkpoint.build_model().to(device.name)
        except CheckpointError as error:
            raise CheckpointError(f"{path or 'The model'}: {error}") from error
        if device.name == "cpu":
            self.model.lay_out_for_decoding()
        self.num_parameters = self.model.num_parameters
        self.run = checkpoint.run
        target = checkpoint.codecs.target
        self.rules = DecodingRules.of_vocabulary(target.vocabulary, forbid_unknown=target.subwords is not None)

    @classmethod
    def load(cls, path: Path | str | None = None, device: str = "auto") -> "Translator":
        """Loads a checkpoint; without a path, the bundled model.

        Raises:
            CheckpointError: the file cannot be used.
            DeviceError: the device is not here.
        """
        chosen = bundled_model_path() if path is None else Path(path)
        if path is None and not chosen.exists():
            raise CheckpointError(
                f"The bundled model is missing: there is no {chosen}. Name a checkpoint, or train one: "
                "`augenmerk train --preset multi30k --data multi30k --out runs/mine`."
            )
        return cls(load_checkpoint(chosen), choose_device(device), chosen)

    def warm_up(self) -> None:
        """Loads what the first sentence would have to wait for: spaCy and its rules."""
        self.checkpoint.codecs.source.encode_text("")

    @property
    def history(self) -> tuple[EpochRecord, ...]:
        """How the training went."""
        return self.checkpoint.history

    def translate(
        self,
        text: str,
        *,
        beam: int = 1,
        length_penalty: float = DEFAULT_LENGTH_PENALTY,
        off: Collection[Head] = (),
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Translation:
        """Translation of one text, with probabilities, alternatives and the maps of every head.

        Args:
            text: German.
            beam: 1 for greedy, else how many beginnings a beam search keeps.
            length_penalty: α of Wu et al. 2016 for a beam search, see `core.translation.beam`.
            off: heads that are switched off for it; their maps are still those of their weights.
            should_stop: asked before each step of a greedy translation.

        Raises:
            TranslationStoppedError: `should_stop` said so.
            TextError: there is nothing to translate, or far too much.
            ConfigError: the beam or the length penalty is out of range.
            AnalysisError: the model has no such head.
        """
        check_beam(beam, length_penalty)
        began = time.perf_counter()
        source = encode_source(text, self.checkpoint.codecs.source, self.run)
        ids = torch.tensor([source.ids], device=self.device.name)
        limit = self.max_steps(len(source.ids))
        with torch.inference_mode(), heads_off(self.model, off):
            encoding = self.model.encode(ids, need_maps=True)
            chosen = self._search(encoding, [limit], beam, length_penalty, should_stop)[0]
            read = torch.tensor([[self.rules.start_id, *chosen[:-1]]], device=self.device.name)
            output = self.model.decode(encoding, read, need_maps=True)
        return self.describe(source, self.chosen_target(chosen, limit), output, began)

    def translate_given(self, text: str, target_text: str, *, off: Collection[Head] = ()) -> Translation:
        """A given pair, read by teacher forcing: its maps, its probability, and what the model would have chosen.

        Args:
            text: German.
            target_text: its translation, as people write it.
            off: heads that are switched off for it.

        Raises:
            TextError: one of the two is empty or too long.
            AnalysisError: the model has no such head.
        """
        began = time.perf_counter()
        source = encode_source(text, self.checkpoint.codecs.source, self.run)
        target = encode_target(target_text, self.checkpoint.codecs.target, self.run)
        with torch.inference_mode(), heads_off(self.model, off):
            output = self._force(source.ids, target.ids, need_maps=True)
        return self.describe(source, target, output, began)

    def score(self, translation: Translation, *, off: Collection[Head] = ()) -> tuple[float, ...]:
        """Natural logs of the probabilities of the tokens of `translation`, T values, as this model would have it now.

        Args:
            translation: of this model, or of one with the same vocabularies.
            off: heads that are switched off.

        Raises:
            AnalysisError: the model has no such head.
        """
        with torch.inference_mode(), heads_off(self.model, off):
            output = self._force(translation.source_ids, translation.predicted_ids)
        return tuple(_of_tokens(output.logits[0].float().log_softmax(dim=-1), translation.predicted_ids))

    def _force(self, source: Sequence[int], predicted: Sequence[int], *, need_maps: bool = False) -> ModelOutput:
        read = [self.rules.start_id, *predicted[:-1]]
        device = self.device.name
        return self.model(
            torch.tensor([source], device=device), torch.tensor([read], device=device), need_maps=need_maps
        )

    def translate_corpus(
        self,
        texts: Sequence[str],
        *,
        beam: int = 1,
        length_penalty: float = DEFAULT_LENGTH_PENALTY,
        on_progress: Callable[[int], None] = lambda done: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[Hypothesis]:
        """Translations of many texts, batched by length.

        A text that `translate` would refuse, an empty line above all, gives an empty hypothesis.

        Args:
            texts: one sentence each.
            beam, length_penalty: as for `translate`.
            on_progress: told how many sentences are done, refused ones left out.
            should_stop: asked between batches; the rest is then left empty.

        Raises:
            ConfigError: the beam or the length penalty is out of range.
        """
        check_beam(beam, length_penalty)
        encoded = [self._encode_or_none(text) for text in texts]
        present = [index for index, source in enumerate(encoded) if source is not None]
        sources = [encoded[index] for index in present]
        hypotheses = [Hypothesis("", ())] * len(texts)
        done = 0
        batch_size = max(1, min(CORPUS_BATCH, MAX_BEAM_ROWS // beam))
        for group in batches_by_length([len(source.ids) for source in sources if source], batch_size):
            if should_stop():
                break
            translated = self._translate_batch([sources[place] for place in group], beam, length_penalty)
            for place, hypothesis in zip(group, translated, strict=True):
                hypotheses[present[place]] = hypothesis
            done += len(group)
            on_progress(done)
        return hypotheses

    def _encode_or_none(self, text: str) -> EncodedSource | None:
        try:
            return encode_source(text, self.checkpoint.codecs.source, self.run)
        except TextError:
            return None

    def _translate_batch(
        self, sources: Sequence[EncodedSource | None], beam: int, length_penalty: float
    ) -> list[Hypothesis]:
        ids = [source.ids for source in sources if source is not None]
        padded = pad(ids, self.model.padding_id).to(self.device.name)
        with torch.inference_mode():
            encoding = self.model.encode(padded)
            chosen = self._search(encoding, [self.max_steps(len(row)) for row in ids], beam, length_penalty)
        return [self._hypothesis(row) for row in chosen]

    def _search(
        self,
        encoding: Encoding,
        limits: Sequence[int],
        beam: int,
        length_penalty: float,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[list[int]]:
        if beam == 1:
            return greedy_from(self.model, encoding, limits, self.rules, should_stop)
        return beam_search(self.model, encoding, limits, self.rules, beam, length_penalty)

    def _hypothesis(self, chosen: Sequence[int]) -> Hypothesis:
        words = [word.text for word in self._decoded_words(chosen)]
        return Hypothesis(self._sentence(words), tuple(words))

    def max_steps(self, source_length: int) -> int:
        """Room enough for any sane translation; exactly the source's length where nothing marks the end."""
        if self.rules.end_id is None:
            return max(1, source_length - 1)
        return min(self.run.model.max_positions, 2 * source_length + 20)

    def _decoded_words(self, chosen: Sequence[int]) -> list[Word]:
        return [Word(word.text, word.start, word.end) for word in self.checkpoint.codecs.target.decode(chosen)]

    def _sentence(self, words: Sequence[str]) -> str:
        codec = self.checkpoint.codecs.target
        if self.rules.end_id is None:  # the start token is a symbol of the copy task, and part of its answer
            words = [codec.vocabulary.tokens[self.rules.start_id], *words]
        return codec.join(words)

    def chosen_target(self, chosen: Sequence[int], limit: int) -> EncodedTarget:
        """What the model chose, with a note if it did not come to an end."""
        codec = self.checkpoint.codecs.target
        words = self._decoded_words(chosen)
        notes: tuple[str, ...] = ()
        if self.rules.end_id is not None and chosen[-1] != self.rules.end_id:
            notes = (f"The translation was cut off after {limit} tokens: the model did not end it.",)
        return EncodedTarget(
            ids=tuple(chosen),
            labels=tuple(codec.label(token) for token in chosen),
            words=tuple(words),
            text=self._sentence([word.text for word in words]),
            notes=notes,
            is_given=False,
        )

    def describe(self, source: EncodedSource, target: EncodedTarget, output: ModelOutput, began: float) -> Translation:
        """All about one pair, given what the model put out for it, maps included; `began` by `time.perf_counter`."""
        log_probabilities = output.logits[0].float().log_softmax(dim=-1)
        start = self.checkpoint.codecs.target.label(self.rules.start_id)
        return Translation(
            source_text=source.text,
            text=target.text,
            source_tokens=source.labels,
            read_tokens=(start, *target.labels[:-1]),
            predicted_tokens=target.labels,
            log_probabilities=tuple(_of_tokens(log_probabilities, target.ids)),
            alternatives=self._alternatives(log_probabilities),
            source_words=source.words,
            target_words=target.words,
            unknown_source_positions=source.unknown_positions,
            ignored_text=source.ignored_text,
            notes=(*source.notes, *target.notes),
            maps=_to_maps(output),
            seconds=time.perf_counter() - began,
            source_ids=source.ids,
            read_ids=(self.rules.start_id, *target.ids[:-1]),
            predicted_ids=target.ids,
            is_given=target.is_given,
        )

    def _alternatives(self, log_probabilities: Tensor) -> tuple[tuple[Alternative, ...], ...]:
        """The best tokens of each row of [T, V] that could be chosen."""
        codec = self.checkpoint.codecs.target
        forbidden = list(self.rules.forbidden_ids)
        count = min(NUM_ALTERNATIVES, log_probabilities.size(1) - len(forbidden))
        allowed = log_probabilities.clone()
        allowed[:, forbidden] = float("-inf")
        best = allowed.topk(count)
        return tuple(
            tuple(Alternative(codec.label(token), value) for token, value in zip(tokens, values, strict=True))
            for tokens, values in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        )


def _of_tokens(log_probabilities: Tensor, ids: Sequence[int]) -> list[float]:
    """Those of one token of each row of [T, V]."""
    chosen = torch.tensor(ids, device=log_probabilities.device)
    values: list[float] = log_probabilities.gather(1, chosen[:, None])[:, 0].tolist()
    return values


def _to_maps(output: ModelOutput) -> AttentionMaps:
    def array(maps: Tensor | None):  # type: ignore[no-untyped-def]
        assert maps is not None
        return maps[0].float().cpu().numpy()

    return AttentionMaps(array(output.encoder_maps), array(output.decoder_maps), array(output.cross_maps))
