"""Words to ids and back: tokenizers, subwords, vocabularies, and the codec that joins them."""
