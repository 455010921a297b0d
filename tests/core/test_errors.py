"""Messages for people are short enough to be read, whatever they quote."""

from pathlib import Path

import pytest

from augenmerk.core.errors import MAX_MESSAGE_CHARACTERS, AugenmerkError, CorpusError
from augenmerk.core.extensions.run_settings.toml_file import read_toml


def test_a_message_stays_as_it_is() -> None:
    text = "x" * MAX_MESSAGE_CHARACTERS
    assert str(CorpusError(text)) == text
    assert CorpusError(text).args == (text,)


def test_the_middle_of_a_very_long_message_is_left_out() -> None:
    text = str(CorpusError(f"There is no file {'x' * 1_000_000}. Check the path."))
    assert len(text) == MAX_MESSAGE_CHARACTERS + 3
    assert text.startswith("There is no file xxx")
    assert " … " in text
    assert text.endswith("xxx. Check the path.")


@pytest.mark.parametrize(
    "content", ["".join(f"a{number} = 1\n" for number in range(50_000)), f'"{"x" * 900_000}" = 1']
)
def test_a_hostile_file_of_settings_gets_a_short_message(tmp_path: Path, content: str) -> None:
    path = tmp_path / "run.toml"
    path.write_text(content)
    with pytest.raises(AugenmerkError) as caught:
        read_toml(path)
    assert len(str(caught.value)) <= MAX_MESSAGE_CHARACTERS + 3
    assert "Use preset, description, model, data and training" in str(caught.value)
