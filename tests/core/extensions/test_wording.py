from augenmerk.core.counting import display_text
from augenmerk.core.errors import CorpusError
from augenmerk.core.extensions.wording import Wording, window_text


def test_an_error_is_worded_for_the_place_where_it_is_read() -> None:
    option = Wording("with --data", "under “data”")
    inner = CorpusError("{path} is missing. Choose another {option}.", path="{a}/b", option=option)
    error = CorpusError("The run cannot go on. {reason}", reason=inner)
    start = "The run cannot go on. {a}/b is missing. Choose another"
    assert str(error) == display_text(error) == f"{start} with --data."
    assert window_text(error) == f"{start} under “data”."
    assert display_text(error) == f"{start} with --data."
