"""Dask arrays in, Dask arrays out: nothing is computed now, and the robot travels to where it will be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from chainrule.arguments import Array


def is_lazy(value: object) -> bool:
    """Whether a value is a Dask array, which is to stay one."""
    return type(value).__module__.partition(".")[0] == "dask"


def lazily(compute: Callable[..., Array], arguments: Sequence[Any], shape: Sequence[int]) -> Any:
    """A Dask array of `compute(*arguments)`, whose answer for one state has the given shape."""
    import dask.array

    inputs = ",".join(f"(i{k})" for k in range(len(arguments)))
    outputs = ",".join(f"o{k}" for k in range(len(shape)))
    return dask.array.apply_gufunc(
        compute,
        f"{inputs}->({outputs})",
        *arguments,
        output_dtypes=np.float64,
        output_sizes={f"o{k}": size for k, size in enumerate(shape)},
        allow_rechunk=True,
    )
