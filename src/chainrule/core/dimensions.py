"""Batch dimensions with names: tables of xarray in one call are matched by their dimensions, not by places.

Rows of pandas have labels, which have to agree. The packages are not imported: their objects are recognized by their
classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from chainrule.core.joint_names import is_data_array, joint_dimension
from chainrule.core.tables import batch_dimensions
from chainrule.errors import ShapeError, quoted, short_repr
from chainrule.model import Layout


class Labeled(NamedTuple):
    """A DataArray among the arguments of a call."""

    argument: str
    key: Any
    """The joint whose numbers it has, in a dictionary; None where it has those of all joints."""
    array: Any
    own: tuple[str, ...]
    """The dimensions that are not of the batch."""

    @property
    def batch(self) -> tuple[str, ...]:
        """The names of the dimensions of its batch."""
        return tuple(dimension for dimension in self.array.dims if dimension not in self.own)

    def spread(self, dimensions: tuple[str, ...]) -> Any:
        """The same numbers with these dimensions as the batch: length one where it has no such dimension."""
        further = [dimension for dimension in dimensions if dimension not in self.array.dims]
        return self.array.expand_dims(further).transpose(*dimensions, *self.own)


def match_dimensions(layout: Layout, arguments: Mapping[str, Any], caller: str) -> dict[str, Any]:
    """Arguments of a call whose DataArrays have the same dimensions in the same order, that of the first ones.

    Labels along a dimension have to be the same in all of them, and so have those of the rows of DataFrames. Dimensions
    called "batch", or "batch0", "batch1", .., as `to_xarray` calls those of an array, go by place.
    """
    given = dict(arguments)
    if all(type(value).__module__ in ("numpy", "builtins") and not isinstance(value, dict) for value in given.values()):
        return given
    _refuse_other_rows(given, caller)
    found = [each for name, value in given.items() for each in _tables_of(layout, name, value, caller)]
    labeled = [each for each in found if each.batch != tuple(batch_dimensions(len(each.batch)))]
    dimensions = tuple(dict.fromkeys(dimension for each in labeled for dimension in each.batch))
    if len(labeled) < 2 or not dimensions:
        return given
    for dimension in dimensions:
        _refuse_other_labels(dimension, [each for each in labeled if dimension in each.batch], caller)
    for each in labeled:
        if each.key is None:
            given[each.argument] = each.spread(dimensions)
        else:
            given[each.argument] = {**given[each.argument], each.key: each.spread(dimensions)}
    return given


def refuse_named_batch(layout: Layout, value: Any, what: str) -> Any:
    """The value, unless its batch has named dimensions: those of arguments that are read by themselves match nothing.

    Such are torques, and targets of controllers, which meet the batch of the starts later.
    """
    for each in _tables_of(layout, "value", value, what):
        if each.batch != tuple(batch_dimensions(len(each.batch))):
            raise ShapeError(
                f"{what} goes by place beside other arguments, and the dimensions {each.batch} of this DataArray would "
                "not count; give .to_numpy(), with its batch and joints in the order of those of the start"
            )
    return value


def _tables_of(layout: Layout, name: str, value: Any, caller: str) -> list[Labeled]:
    """The DataArrays in an argument: itself, or entries of a dictionary of joints or of a Dataset."""
    if is_data_array(value):
        _, axis = joint_dimension(value, f"{caller}: {name}")
        return [Labeled(name, None, value, (value.dims[axis],))]
    if not isinstance(value, Mapping):
        return []
    found = []
    for key, entry in value.items():
        if is_data_array(entry):
            places = layout.by_joint.get(key)
            has_several = places is not None and max(places.joint.kind.nq, places.joint.kind.nv) > 1
            found.append(Labeled(name, key, entry, tuple(entry.dims[-1:]) if has_several else ()))
    return found


def _refuse_other_labels(dimension: str, tables: list[Labeled], caller: str) -> None:
    """Raise where two DataArrays have other labels, or the same ones in another order, along one dimension."""
    marked = [each for each in tables if dimension in each.array.coords]
    for each in marked[1:]:
        one, other = marked[0].array.coords[dimension].values, each.array.coords[dimension].values
        if one.shape != other.shape or not (one == other).all():
            raise ShapeError(
                f"{caller}: {marked[0].argument} and {each.argument} have different labels along dimension "
                f"{dimension!r}, {short_repr(one.tolist())} and {short_repr(other.tolist())}; put them in one order "
                "first, with xarray.align or reindex_like"
            )


def _refuse_other_rows(given: Mapping[str, Any], caller: str) -> None:
    """Raise where the rows of two DataFrames have different labels."""
    frames = {name: x for name, x in given.items() if hasattr(x, "columns") and hasattr(x, "index")}
    first, *others = frames or {"": None}
    for name in others:
        if len(frames[name]) == len(frames[first]) and not frames[name].index.equals(frames[first].index):
            raise ShapeError(
                f"{caller}: the rows of {quoted([first, name])} have different labels; put them in one order first, "
                "with reindex, or drop the labels, with reset_index(drop=True)"
            )
