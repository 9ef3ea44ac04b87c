"""Products of the Jacobians of functions with vectors, without forming the Jacobians.

A product is a step from one function to another. The Jacobian-vector product ("jvp") takes a tangent of each chosen
argument besides the function's arguments, and gives the rate of the result. The vector-Jacobian product ("vjp") takes a
cotangent of the result, and gives the gradient for the chosen arguments, one after the other. Either costs a small
multiple of the function. Steps follow each other: a jvp of a vjp is a Hessian-vector product.

Tangents of a configuration are velocities, nv numbers, so that a quaternion turns by an angular velocity. Or they are
the rates of its nq numbers as stored.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from chainrule.functions.table import Function
from chainrule.model import Model, edits
from chainrule.model.parameters import parameter_length

ProductKind = Literal["jvp", "vjp"]

PRODUCT_COST = 3
"""About how many times the instructions of a function one of its products has."""


class JacobianProduct(NamedTuple):
    """One step: the kind of product, the indices of arguments that vary, and what tangents of configurations are."""

    kind: ProductKind
    indices: tuple[int, ...]
    by_velocities: bool = False


def tangent_lengths(
    model: Model, entry: Function, lengths: Sequence[int], indices: Sequence[int], by_velocities: bool
) -> tuple[int, ...]:
    """The number of numbers in a tangent of each chosen argument."""
    return tuple(model.nv if by_velocities and is_configuration(entry, k) else lengths[k] for k in indices)


def is_configuration(entry: Function, place: int) -> bool:
    """Whether the argument at a place is a configuration, and not a velocity, a wrench, a parameter or a tangent."""
    return place < len(entry.takes) and entry.takes[place].is_configuration


def signature(model: Model, entry: Function, options: Mapping[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The lengths of the arguments of a function, or of its products, and the shape of the result for one state."""
    lengths = entry.argument_lengths(model, options)
    merged, parameters = model, options.get("parameters", ())
    if parameters:
        lengths += tuple(parameter_length(model, parameter) for parameter in parameters)
        merged = model if entry.whole else edits.merge_fixed(model)
    shape = entry.shape(merged, options)
    for product in options.get("products", ()):
        tangents = tangent_lengths(model, entry, lengths, product.indices, product.by_velocities)
        if product.kind == "jvp":
            lengths += tangents
        else:
            lengths, shape = (*lengths, math.prod(shape)), (sum(tangents),)
    return lengths, shape
