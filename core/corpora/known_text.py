"""What kind of text a corpus is, where that is known: told by its sentences, not by the name of its folder."""

import hashlib
from collections.abc import Sequence

CAPTIONS = "picture captions"
_KINDS = {
    "67aa53ff412b6af1f47c604a623e112e2c28c61519aa7cf8a5348af21722b67a": CAPTIONS,
    "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6": CAPTIONS,
}
"""By digest: Multi30k's training sentences, German and English. Those of its other languages stand beside these."""


def kind_of_text(*sides: Sequence[str]) -> str:
    """As a plural, for the sentence “This model knows …”, if a side is a known corpus; empty if it is not."""
    return next(filter(None, (_KINDS.get(digest_of(sentences), "") for sentences in sides)), "")


def digest_of(sentences: Sequence[str]) -> str:
    """SHA-256 of the sentences, each without white space around it and with a line feed: 64 hexadecimal digits."""
    sha256 = hashlib.sha256()
    for sentence in sentences:
        sha256.update(sentence.strip().encode("utf-8", "surrogatepass") + b"\n")
    return sha256.hexdigest()
