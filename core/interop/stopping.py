"""An import that somebody stopped."""

from augenmerk.core.errors import ModelImportError


class ImportStoppedError(ModelImportError):
    """The import was stopped; nothing was written."""

    def __init__(self) -> None:
        super().__init__("The import was stopped. Nothing was written; start it again if it is wanted.")
