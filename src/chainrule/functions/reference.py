"""The reference path: the algorithms as they are written, evaluated on NumPy arrays, a scalar being a whole batch.

Slow and transparent, and the measure of every faster path.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chainrule.functions.table import FUNCTIONS
from chainrule.model import Model
from chainrule.model.parameters import with_parameters

Array = NDArray[np.float64]


def evaluate(
    model: Model, name: str, arguments: Sequence[Array], parameters: Sequence[str] = (), **options: Any
) -> Array:
    """One function of the table, on arguments with equal batch dimensions and their scalars in the last one.

    The numbers of parameters, if there are any, are the last arguments.
    """
    entry = FUNCTIONS[name]
    batch = np.broadcast_shapes(*(a.shape[:-1] for a in arguments))
    scalars = [scalars_of(a) for a in arguments]
    own = len(arguments) - len(parameters)
    with np.errstate(all="ignore"):
        open_model = with_parameters(model, parameters, scalars[own:], merged=not entry.whole)
        result = entry.compute(open_model, *scalars[:own], **options)
    return stack(result, batch, entry.shape(open_model, options))


def scalars_of(a: Array) -> list[Any]:
    """The last dimension as a list: floats for one state, arrays for a batch."""
    return a.tolist() if a.ndim == 1 else [a[..., i] for i in range(a.shape[-1])]


def stack(result: Any, batch: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """Nested lists of scalars as one array of shape (batch, shape)."""
    out = np.empty((*batch, *shape))
    flat = out.reshape((*batch, math.prod(shape)))
    for i, leaf in enumerate(leaves(result)):
        flat[..., i] = leaf
    return out


def leaves(result: Any) -> Iterator[Any]:
    """The scalars of nested lists, in order."""
    if isinstance(result, list):
        for item in result:
            yield from leaves(item)
    else:
        yield result
