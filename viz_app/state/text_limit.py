"""How long a sentence may be. No Qt."""

MAX_CHARACTERS = 5_000
"""Ten times the longest sentence of any corpus here. Beyond it, laying out the text and cutting it into words take
seconds: the time grows with the square of the length where there are no spaces."""


def limited(text: str) -> str:
    """The text, or as much of its beginning as is taken."""
    return text[:MAX_CHARACTERS]


def left_out(num_characters: int, what: str = "sentence") -> str:
    """What is said when so many characters of a sentence, or of something else, were left out."""
    noun = "character was" if num_characters == 1 else "characters were"
    return f"A {what} of at most {MAX_CHARACTERS:,} characters was expected: {num_characters:,} more {noun} left out."


def not_shown(num_characters: int) -> str:
    """What is said when the model's own translation is longer than is shown in one line of text."""
    noun = "character is" if num_characters == 1 else "characters are"
    return (
        f"The translation is longer than {MAX_CHARACTERS:,} characters: its last {num_characters:,} {noun} not shown "
        "in the sentence. The maps and the words have them all."
    )
