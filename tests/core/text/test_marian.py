"""Marian's pieces and their places in the line, which need no protobuf."""

import sys

import pytest
import sentencepiece

from augenmerk.core.extensions.readers.codecs import pieces_of_text
from tests.core.extensions.readers.marian_models import spm

LINES = (
    "Ein Hund läuft.",
    "  Ein\u3000Hund\tläuft \n",
    "\ufeffﬁnden ½ ㍿ Ａ e\u0301 👩\u200d👩\u200d👧!",
    "日本語 Ελληνικά \x00\x01\xad",
    "   ",
)


@pytest.mark.parametrize("kind", ["unigram", "bpe", "char"])
def test_pieces_and_places_are_those_that_sentencepiece_reports_in_bytes(kind: str) -> None:
    processor = sentencepiece.SentencePieceProcessor(model_proto=spm("source", kind))
    for line in LINES:
        written = line.encode()
        expected = processor.encode(line, return_type="proto").pieces
        pieces = pieces_of_text(processor, line)
        assert [piece.text for piece in pieces] == [piece.piece for piece in expected]
        for piece, reported in zip(pieces, expected, strict=True):
            assert piece.end == len(written[: reported.end].decode())
            assert (
                line[piece.start : piece.end]
                == written[reported.begin : reported.end].decode().lstrip()
            )


def test_cutting_a_line_needs_no_protobuf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only development packages bring it."""
    processor = sentencepiece.SentencePieceProcessor(model_proto=spm("source"))
    monkeypatch.setattr(sentencepiece, "_protobuf_loaded", False)
    monkeypatch.setitem(sys.modules, "sentencepiece.sentencepiece_pb2", None)
    monkeypatch.delattr(sentencepiece, "sentencepiece_pb2", raising=False)  # from another test
    assert "".join(piece.text for piece in pieces_of_text(processor, "Ein Hund.")) == "▁Ein▁Hund."
