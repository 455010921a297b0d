"""What extensions make of a result, such as a table: see docs/extending.md. No torch."""

from types import FunctionType
from typing import TYPE_CHECKING, Any

from .registry import Registry
from .short_repr import ShortRepr

if TYPE_CHECKING:
    import pandas
    import xarray

CONVERSIONS: Registry[FunctionType] = Registry("augenmerk.conversions", FunctionType, "conversion")
"""Functions of any result, by the name of what they make."""


class Result(ShortRepr):
    """Base of results: what a notebook shows of them, and what becomes of them elsewhere."""

    def _repr_html_(self) -> str | None:
        """HTML for a notebook; None, so that it shows the `repr`, if no extension makes any."""
        convert = CONVERSIONS.get("html")
        return None if convert is None else convert(self)

    def to_dict(self) -> dict[str, Any]:
        """The result as numbers, texts, lists and dictionaries, as in JSON."""
        return CONVERSIONS["dict"](self)

    def to_frame(self) -> "pandas.DataFrame":
        """The result as a table of pandas. Raises `AnalysisError` if it is none."""
        return CONVERSIONS["frame"](self)

    def to_xarray(self) -> "xarray.Dataset":
        """The arrays of the result with named dimensions. Raises `AnalysisError` if it has none."""
        return CONVERSIONS["xarray"](self)
