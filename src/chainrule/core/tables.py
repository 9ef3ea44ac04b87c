"""Tables of pandas and xarray, with names and units. The packages are imported by the call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chainrule.arguments import Array
from chainrule.errors import import_optional


def data_frame(
    columns: Mapping[str, Any], units: Mapping[str, str], index: Any = None, index_name: str | None = None
) -> Any:
    """A DataFrame of named columns; `frame.attrs["units"]` is the unit of each."""
    pandas = import_optional("pandas", "to_pandas")
    frame = pandas.DataFrame(dict(columns), index=index)
    frame.index.name = index_name
    frame.attrs["units"] = dict(units)
    return frame


def data_array(values: Array, names: Sequence[str], units: Sequence[str], dimension: str, times: Array) -> Any:
    """A DataArray (..., time, names) whose last dimension has names, and the coordinate "<dimension>_unit" units."""
    xarray = import_optional("xarray", "to_xarray")
    coords = {
        dimension: list(names),
        f"{dimension}_unit": (dimension, list(units)),
        "time": ("time", times, {"units": "s"}),
    }
    return xarray.DataArray(values, dims=[*batch_dimensions(values.ndim - 2), "time", dimension], coords=coords)


def batch_dimensions(count: int) -> list[str]:
    """The names of the dimensions of a batch."""
    return ["batch"] if count == 1 else [f"batch{k}" for k in range(count)]
