"""The codecs of both sides of a pair, as a model is stored with them."""

import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from ..config import DataConfig
from ..config.groups import LetterCase
from ..errors import CheckpointError
from ..registry import Registry
from .foreign_codec import ForeignCodec
from .subwords import Subwords
from .text_codec import CONTINUATION, EncodedWord, TextCodec, Word, fold_case
from .tokenizers import make_tokenizer
from .vocabulary import Vocabulary

__all__ = ["CONTINUATION", "CodecPair", "EncodedWord", "TextCodec", "Word", "fold_case"]

CODECS: Registry[type[ForeignCodec]] = Registry("augenmerk.codecs", type, "codec")
"""Codecs of imported models, by their names in files. All are extensions."""
_OWN = frozenset(("subwords", "source", "target"))


@dataclass(frozen=True, eq=False)
class CodecPair:
    """Source and target codec of a model; joint subwords share one model."""

    source: TextCodec
    target: TextCodec

    @cached_property
    def vocabulary_digest(self) -> str:
        """SHA-256 of the tokens of both sides, in their order.

        If it is equal, ids mean the same tokens.
        """
        tokens = json.dumps([self.source.vocabulary.tokens, self.target.vocabulary.tokens])
        return sha256(tokens.encode("ascii")).hexdigest()

    @classmethod
    def build(
        cls,
        config: DataConfig,
        source_vocabulary: Vocabulary,
        target_vocabulary: Vocabulary,
        subwords: Subwords | None,
    ) -> "CodecPair":
        """Codecs for `config` with these vocabularies."""

        def codec(language: str, case: LetterCase, vocabulary: Vocabulary) -> TextCodec:
            return TextCodec(language, make_tokenizer(config, language), case, vocabulary, subwords)

        return cls(
            codec(config.source_language, config.source_case, source_vocabulary),
            codec(config.target_language, config.target_case, target_vocabulary),
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything that is not in the `DataConfig`, as JSON-ready values."""
        if isinstance(self.source, ForeignCodec) and isinstance(self.target, ForeignCodec):
            return {
                self.source.name: {"source": self.source.to_dict(), "target": self.target.to_dict()}
            }
        if self.source.subwords is not None:
            return {"subwords": self.source.subwords.to_text()}
        return {
            "source": self.source.vocabulary.to_dict(),
            "target": self.target.vocabulary.to_dict(),
        }

    @classmethod
    def from_dict(cls, config: DataConfig, values: dict[str, Any]) -> "CodecPair":
        """The inverse of `to_dict`.

        Raises:
            CheckpointError: the description is damaged.
            MissingExtensionError: no installed extension has the codec.
        """
        foreign = (
            next((name for name in values if name not in _OWN), None)
            if isinstance(values, dict)
            else None
        )
        kind = CODECS[foreign] if foreign is not None else None
        try:
            if foreign is not None and kind is not None:
                return cls(
                    kind.from_dict(config.source_language, values[foreign]["source"]),
                    kind.from_dict(config.target_language, values[foreign]["target"]),
                )
            if "subwords" in values:
                subwords = Subwords.from_text(values["subwords"])
                vocabulary = subwords.vocabulary
                return cls.build(config, vocabulary, vocabulary, subwords)
            source, target = (Vocabulary.from_dict(values[side]) for side in ("source", "target"))
            if source.padding_id != target.padding_id:  # a model knows one
                raise ValueError("source and target are padded by different ids")
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise CheckpointError(
                f"The vocabularies in this file are damaged ({error!r}). Use another copy."
            ) from error
        return cls.build(config, source, target, None)
