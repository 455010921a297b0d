"""The conversions of results to tables of pandas, datasets of xarray, and plain values."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from ...errors import MissingExtensionError
from ...translation.experiment import Intervention, Output
from ...translation.experiment_file import part_to_json

if TYPE_CHECKING:
    import pandas
    import xarray

_PARTS_OF_EXPERIMENTS = (*get_args(Intervention), *get_args(Output))


def to_dict(result: object) -> Any:
    """The fields of a result as JSON has them. Numbers that are not finite become None.

    Interventions and outputs have the form of experiment files. Keys that are no text become one.
    """
    if isinstance(result, _PARTS_OF_EXPERIMENTS):
        return part_to_json(result)
    if is_dataclass(result) and not isinstance(result, type):
        return {field.name: to_dict(getattr(result, field.name)) for field in fields(result)}
    if isinstance(result, Mapping):
        return {str(key): to_dict(value) for key, value in result.items()}
    if isinstance(result, np.ndarray | np.generic):
        return to_dict(result.tolist())
    if isinstance(result, list | tuple):
        return [to_dict(member) for member in result]
    if isinstance(result, frozenset):
        return sorted(to_dict(member) for member in result)
    if isinstance(result, Enum):
        return result.value
    if isinstance(result, PurePath):
        return str(result)
    return None if isinstance(result, float) and not math.isfinite(result) else result


def to_frame(result: object) -> "pandas.DataFrame":
    """The table of a result. Raises `AnalysisError` if it is none."""
    pandas = _imported("pandas")
    from .columns import columns_of

    columns = dict(columns_of(result))
    for name, values in columns.items():
        if isinstance(values, list) and {type(value) for value in values} == {int, type(None)}:
            columns[name] = pandas.array(values, dtype="Int64")  # else 1 becomes 1.0 beside None
    return pandas.DataFrame(columns)


def to_xarray(result: object) -> "xarray.Dataset":
    """The arrays of a result. Raises `AnalysisError` if it has none."""
    xarray = _imported("xarray")
    from .arrays import arrays_of

    arrays = arrays_of(result)
    return xarray.Dataset(dict(arrays.variables), dict(arrays.coordinates), dict(arrays.attributes))


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise MissingExtensionError(
            f"This needs {name}, which is not installed: pip install “augenmerk[{name}]”."
        ) from error
