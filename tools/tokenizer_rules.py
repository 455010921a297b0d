"""Write `resources/tokenizer-rules.json` from the rules of the installed spaCy.

    python -m tools.tokenizer_rules

Run it if a new version of spaCy has other rules; a test then fails.
"""

import json
from typing import Any

from augenmerk.core.resources import resource_path
from augenmerk.core.storage import write_text
from augenmerk.core.text.tokenizers import RULES_FILE, SHIPPED


def rules_of_spacy(language: str) -> dict[str, Any]:
    """Patterns and special cases of a language.

    Raises `ValueError` for rules that `WordRules` does not support.
    """
    import re

    import spacy
    from spacy.symbols import ORTH

    tokenizer = spacy.blank(language).tokenizer
    matches = {
        "prefix": tokenizer.prefix_search,
        "suffix": tokenizer.suffix_search,
        "infix": tokenizer.infix_finditer,
        "url": tokenizer.url_match,
    }
    patterns = {name: match.__self__ for name, match in matches.items()}
    methods = {"prefix": "search", "suffix": "search", "infix": "finditer", "url": "match"}
    if tokenizer.token_match is not None or not tokenizer.faster_heuristics:
        raise ValueError(f"{language} has a token_match, or no faster heuristics")
    if any(
        matches[name].__name__ != method or patterns[name].flags != re.UNICODE
        for name, method in methods.items()
    ):
        raise ValueError(f"{language} uses its patterns in another way")
    cases = {
        text: [token[ORTH] for token in tokens] for text, tokens in sorted(tokenizer.rules.items())
    }
    return {
        "patterns": {name: pattern.pattern for name, pattern in patterns.items()},
        "cases": cases,
    }


def main() -> None:
    """Write the file."""
    rules = {language: rules_of_spacy(language) for language in SHIPPED}
    write_text(resource_path(RULES_FILE), json.dumps(rules, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
