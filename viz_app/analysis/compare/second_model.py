"""A second checkpoint beside the model in use."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from augenmerk.core.resources import bundled_model_path

if TYPE_CHECKING:
    from augenmerk.core.translation.translator import Translator


class SecondModel:
    """Opened in the worker's thread when it is first needed, kept until it is closed, then freed.

    Attributes:
        path: the file; None for the bundled model.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._translator: Translator | None = None
        self._is_closed = False

    @property
    def name(self) -> str:
        """For people; with its folder where the name alone would not tell one run from another."""
        path = self.path or bundled_model_path()
        name = path.name.removesuffix(".safetensors")
        return f"{path.absolute().parent.name}/{name}" if name in ("best", "last") else name

    @property
    def is_open(self) -> bool:
        """Whether the file was read, and is not closed yet."""
        return self._translator is not None

    def translator(self, device: str) -> "Translator":
        """The model, opened now if it is not. For the worker's thread alone.

        Raises:
            CheckpointError: the file cannot be used.
        """
        found = self._translator
        if found is None:
            from augenmerk.core.translation.translator import Translator

            found = Translator.load(self.path, device)
            with self._lock:
                self._translator = None if self._is_closed else found
        return found

    def close(self) -> None:
        """Gives the memory back, at the latest when the answer in hand is done."""
        with self._lock:
            self._is_closed, self._translator = True, None
