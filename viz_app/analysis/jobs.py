"""What the jobs of all tabs share. A job is a small frozen object that runs in the worker's thread."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from viz_app.state.progress import Progress
from viz_app.worker import TranslatorLike

if TYPE_CHECKING:
    from core.translation.translator import Translator

Tell = Callable[[Progress], None]
ShouldStop = Callable[[], bool]


def real(translator: TranslatorLike) -> "Translator":
    """The translator as what it is outside of tests."""
    from core.translation.translator import Translator

    assert isinstance(translator, Translator)
    return translator
