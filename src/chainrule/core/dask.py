"""Dask arrays in, Dask arrays out: a function of a robot is called on each chunk, when its result is wanted.

`takes_dask` (`core/declaration.py`) makes a function of arrays one of Dask arrays. What is here knows nothing about the
function. Its answer to an empty batch tells the names, shapes and types of its results, and its errors what is wrong
with the arguments. Later the function itself is called on the chunks, so that numbers and errors are those of NumPy
arrays. The robot is pickled with each task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from inspect import Parameter, signature
from itertools import count, islice
from operator import itemgetter
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from chainrule.arguments import (
    Array,
    holds_lazy,
    is_lazy,
    is_rotation,
    pose_matrices,
    real_array,
    refuse_labels,
    refuse_lazy,
    together,
)
from chainrule.compile.runtime.threads import one_thread
from chainrule.core.dimensions import match_dimensions
from chainrule.core.joint_names import joint_dimension
from chainrule.core.reading import read_joints
from chainrule.errors import ShapeError
from chainrule.functions.table import ARGUMENTS, POSES, Dimensions
from chainrule.model import Quantity

P = ParamSpec("P")
R = TypeVar("R")

JOINT_ARGUMENTS: Mapping[str, Quantity] = {
    **{name: argument.quantity for name, argument in ARGUMENTS.items()},
    "joints": "position",
    "values": "position",
    "null_velocity": "velocity",
    "null_acceleration": "acceleration",
    "torque": "effort",
}
"""Arguments with numbers of the joints, which may come by name."""

LISTS = ("arguments", "tangents")
"""Arguments that are themselves arguments of a function, in a list or by name."""

NOT_LAZY = ("history", "device")
"""Options with which a function takes no Dask arrays: a record of one search, the memory of a graphics processor."""

# --- what travels to the workers ---


class ArgumentSlot(NamedTuple):
    """A place in the arguments of a function that a chunk is put into."""

    number: int
    labels: tuple[str, ...] | None = None
    """The names of joints in the last dimension, where names decide about places."""

    def fill(self, chunks: Sequence[Array]) -> Any:
        """The chunk, by names where it has some."""
        chunk = chunks[self.number]
        return chunk if self.labels is None else dict(zip(self.labels, np.moveaxis(chunk, -1, 0), strict=True))


class Container(NamedTuple):
    """A dictionary or a list among the arguments of a function, which may have places for chunks."""

    keys: tuple[Any, ...] | None
    """Those of a dictionary."""
    entries: tuple[Any, ...]

    def fill(self, chunks: Sequence[Array]) -> Any:
        """The dictionary or list, with chunks in their places."""
        values = [_fill(entry, chunks) for entry in self.entries]
        return values if self.keys is None else dict(zip(self.keys, values, strict=True))


def _fill(template: Any, chunks: Sequence[Array]) -> Any:
    return template.fill(chunks) if isinstance(template, (ArgumentSlot, Container)) else template


class Leaf(NamedTuple):
    """An array of a result: where it stands in it, its shape for one state, and its type."""

    path: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: Any


@dataclass(frozen=True, eq=False)
class OnChunks:
    """A function of a robot, with its arguments, as a function of chunks that gives the arrays of its result."""

    function: Callable[..., Any]
    robot: Any
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    dimensions: tuple[int, ...]
    """The dimensions of one state in each chunk."""
    leaves: tuple[Leaf, ...] = ()
    unknown: tuple[tuple[int, ...], ...] = ()
    """For each chunk, the dimensions of its batch that have no known sizes, from the last one, -1."""

    def __dask_tokenize__(self) -> Any:
        from dask.base import normalize_token

        where = (self.function.__module__, self.function.__qualname__)
        return where, normalize_token([self.robot, self.arguments, self.options, self.dimensions])

    def result(self, chunks: Sequence[Array]) -> Any:
        """The result of the function itself."""
        arguments = [_fill(argument, chunks) for argument in self.arguments]
        options = {name: _fill(option, chunks) for name, option in self.options.items()}
        return self.function(self.robot, *arguments, **options)

    def __call__(self, *chunks: Any) -> Any:
        """The array of the result, or a tuple of its arrays."""
        arrays = [_only_one(chunk) for chunk in chunks]
        batches = [a.shape[: a.ndim - own] for a, own in zip(arrays, self.dimensions, strict=True)]
        self._refuse_different(batches)
        batch = np.broadcast_shapes(*batches)
        with one_thread():
            result = self.result(arrays)
        found = tuple(self._array(result, leaf, batch) for leaf in self.leaves)
        return found[0] if len(found) == 1 else found

    def _refuse_different(self, batches: Sequence[tuple[int, ...]]) -> None:
        """Raise where sizes that were not known turn out to differ: one row would be taken for all rows of others."""
        sizes: dict[int, set[int]] = {}
        for batch, axes in zip(batches, self.unknown, strict=True):
            for axis in axes:
                sizes.setdefault(axis, set()).add(batch[axis])
        if any(len(found) > 1 for found in sizes.values()):
            raise ShapeError(
                f"{self.function.__name__}: chunks of Dask arrays whose sizes were not known have different numbers of "
                f"rows, {', '.join(map(str, batches))}: their rows do not belong together"
            )

    def _array(self, result: Any, leaf: Leaf, batch: tuple[int, ...]) -> Array:
        for name in leaf.path:
            result = result[name] if isinstance(result, Mapping) else getattr(result, name)
        array = np.asarray(result)
        if array.shape != (*batch, *leaf.shape):
            raise ShapeError(
                f"{self.function.__name__}: a chunk of shape {batch} gives a result of shape {array.shape}, which is "
                f"not one of shape {leaf.shape} for each state; make Dask arrays of all arguments that have a batch"
            )
        return array.astype(leaf.dtype, copy=False)


def _only_one(chunk: Any) -> Array:
    """The one chunk along dimensions of one state: it comes in a list for each of them."""
    while isinstance(chunk, list):
        (chunk,) = chunk
    return np.asarray(chunk)


# --- arguments ---


class LazyArguments:
    """The arguments of a call: arrays that are cut into chunks, and where these belong."""

    def __init__(
        self,
        function: Callable[..., Any],
        robot: Any,
        dimensions: Mapping[str, Dimensions],
        arguments: Sequence[Any],
        options: Mapping[str, Any],
    ) -> None:
        bound = signature(function).bind(robot, *arguments, **options)
        self.function, self.robot, self.given, self._own = function, robot, bound.arguments, dimensions
        bare = bound.arguments.get("function")  # of `robot.at`, which calls it
        self.caller = bare.__name__ if callable(bare) else function.__name__
        for name in NOT_LAZY:
            if self.given.get(name):
                raise ShapeError(
                    f"{self.caller}: {name}={self.given[name]!r} is for numbers that are here; call .compute() of the "
                    "Dask arrays first"
                )
        if self.given.get("out") is not None:
            raise ShapeError(f"{self.caller}: the results of Dask arrays are lazy: nothing can be written into out")
        self.given.update(
            match_dimensions(
                robot.model.layout, {name: x for name, x in self.given.items() if name in JOINT_ARGUMENTS}, self.caller
            )
        )
        self.arrays: list[Any] = []
        self.dimensions: list[int] = []
        self.labels: list[str] = []
        self.positional: tuple[Any, ...] = ()
        self.options: dict[str, Any] = {}
        for parameter in list(bound.signature.parameters.values())[1:]:
            if parameter.name in self.given:
                self._read(parameter, self.given[parameter.name])

    def _read(self, parameter: Parameter, value: Any) -> None:
        name = parameter.name
        if parameter.kind is Parameter.VAR_POSITIONAL:
            self.positional = tuple(self._template("q", x, f"{name}[{i}]") for i, x in enumerate(value))
        elif parameter.kind is Parameter.VAR_KEYWORD:
            self.options |= {key: self._entry(name, key, x, key) for key, x in value.items()}
        else:
            self.options[name] = self._template(name, value, name)

    def _template(self, name: str, value: Any, label: str, key: Any = None) -> Any:
        """An argument with places for chunks; one that is the same for all states stays as it is."""
        if isinstance(value, str) or value is None:
            return value
        if _is_lazy_table(value):
            return self._table(name, value, label)
        by_field = _by_field(value) if name in JOINT_ARGUMENTS else None
        if isinstance(value, Mapping) or by_field is not None:
            entries = dict(value if by_field is None else by_field)
            each = (self._entry(name, own, x, f"{label}[{own!r}]") for own, x in entries.items())
            return Container(tuple(entries), tuple(each))
        if name in LISTS and isinstance(value, (list, tuple)):
            return Container(None, tuple(self._template("q", x, f"{label}[{i}]") for i, x in enumerate(value)))
        numbers = value if is_lazy(value) else self._numbers(name, value, label)
        if numbers is None:
            return value
        own = self._own[name](self.given, numbers.shape, key) if name in self._own else 1
        return self._place(value, numbers, own, label)

    def _entry(self, name: str, key: Any, value: Any, label: str) -> Any:
        """An entry of a dictionary: of joints a number or several, of others an argument by itself."""
        if name not in JOINT_ARGUMENTS:
            return self._template(key if name in LISTS and key in JOINT_ARGUMENTS else name, value, label, key)
        value = value.data if _is_lazy_table(value) else value
        numbers = value if is_lazy(value) else self._numbers("", value, label)
        places = self.robot.model.layout.by_joint.get(key)
        own = 1 if places is not None and places.joint.kind.nv > 1 else 0
        return value if numbers is None else self._place(value, numbers, own, label)

    def _numbers(self, name: str, value: Any, label: str) -> Array | None:
        """A value that is not lazy as an array; None where it is none."""
        what = f"{self.caller}: {label}"
        refuse_lazy(value, what)
        if name in POSES:
            value = value.as_matrix() if is_rotation(value) else pose_matrices(value, what)
        if isinstance(value, np.ndarray):
            return value
        if isinstance(value, (list, tuple)):
            try:
                array = np.asarray(value)
            except ValueError:  # rows of different lengths: the function says so
                return None
            return array if array.dtype.kind in "fiu" else None
        if not isinstance(getattr(value, "shape", None), tuple):
            return None
        if name in JOINT_ARGUMENTS:
            return read_joints(self.robot, value, JOINT_ARGUMENTS[name], what)
        return real_array(value, what)

    def _table(self, name: str, value: Any, label: str) -> Any:
        """A DataArray over a Dask array: by the names of joints, or without names."""
        what = f"{self.caller}: {label}"
        if name not in JOINT_ARGUMENTS:
            refuse_labels(value, what)
            return self._template(name, value.data, label)
        labels, axis = joint_dimension(value, what)
        slot = self._place(value, np.moveaxis(value.data, axis, -1), 1, label)
        return ArgumentSlot(slot.number, labels)

    def _place(self, value: Any, numbers: Any, own: int, label: str) -> Any:
        """A place for the chunks of an array; the value itself where it has no batch and is not lazy."""
        if not is_lazy(numbers):
            if numbers.ndim <= own:
                return value
            import dask.array

            numbers = dask.array.from_array(numbers, chunks=-1)
        if not numbers.ndim and own == 1:  # one number for one place
            numbers = numbers[None]
        own = min(own, numbers.ndim)
        core = range(numbers.ndim - own, numbers.ndim)
        if not isinstance(numbers._meta, np.ndarray) or any(np.isnan(numbers.shape[axis]) for axis in core):
            raise ShapeError(
                f"{self.caller}: {label} is a Dask array of {type(numbers._meta).__name__}s of shape {numbers.shape}; "
                "it must have chunks of NumPy, and a last dimension of known length: call .compute_chunk_sizes()"
            )
        self.arrays.append(numbers.rechunk(dict.fromkeys(core, -1)))
        self.dimensions.append(own)
        self.labels.append(label)
        return ArgumentSlot(len(self.arrays) - 1)

    # --- results ---

    def on_chunks(self, robot: Any) -> Any:
        """The result of the function: Dask arrays in place of its arrays. A robot tells their shapes."""
        self._refuse_batches()
        call = OnChunks(self.function, robot, self.positional, self.options, tuple(self.dimensions))
        sample = self._sample(call)
        leaves = tuple(_leaves(sample))
        if not leaves:
            raise ShapeError(
                f"{self.caller}: the result has no arrays that could be lazy; call .compute() of the Dask arrays first"
            )
        try:
            arrays = self._blockwise(replace(call, robot=self.robot, leaves=leaves, unknown=self._find_unknown_sizes()))
        except ValueError as error:
            reason = str(error).partition("\n")[0]
            raise ShapeError(
                f"{self.caller}: the chunks of the Dask arrays do not fit together ({reason}); where their sizes are "
                "not known, call .compute_chunk_sizes() first"
            ) from error
        return _with_arrays(sample, dict(zip((leaf.path for leaf in leaves), arrays, strict=True)))

    def _refuse_batches(self) -> None:
        """Raise where batches do not fit together, as far as their sizes are known."""
        known = {}
        for label, array, own in zip(self.labels, self.arrays, self.dimensions, strict=True):
            if not np.isnan(array.shape).any():
                shape = array.shape if own == 1 else (*array.shape[: array.ndim - own], 1)
                known[label] = np.broadcast_to(0.0, shape)
        if known:
            together(known, self.caller)

    def _find_unknown_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The dimensions of the batch of each array that have no known sizes, from the last one."""
        batches = [a.shape[: a.ndim - own] for a, own in zip(self.arrays, self.dimensions, strict=True)]
        return tuple(tuple(k for k in range(-len(batch), 0) if np.isnan(batch[k])) for batch in batches)

    def _sample(self, call: OnChunks) -> Any:
        """The result for an empty batch."""
        shapes = [a.shape[a.ndim - own :] for a, own in zip(self.arrays, self.dimensions, strict=True)]
        empty = [np.zeros((0, *shape), a.dtype) for a, shape in zip(self.arrays, shapes, strict=True)]
        try:
            return call.result(empty)
        except ShapeError as error:
            text = str(error)
            for array, small in zip(self.arrays, empty, strict=True):
                text = text.replace(str(small.shape), str(array.shape))
            raise type(error)(text) from None

    def _blockwise(self, call: OnChunks) -> list[Any]:
        """Dask arrays of the results."""
        from dask.array import blockwise

        batch = tuple(range(max(a.ndim - own for a, own in zip(self.arrays, self.dimensions, strict=True))))
        inputs: list[Any] = []
        free = count(len(batch))
        for array, own in zip(self.arrays, self.dimensions, strict=True):
            inputs += [array, (*batch[len(batch) - array.ndim + own :], *islice(free, own))]

        def put(compute: Any, leaf: Leaf, token: str, *inputs: Any) -> Any:
            new = dict(zip(free, leaf.shape, strict=False))
            meta = np.zeros((0,) * (len(batch) + len(new)), leaf.dtype)
            options = {"new_axes": new, "dtype": leaf.dtype, "meta": meta, "token": token}
            return blockwise(compute, (*batch, *new), *inputs, **options)

        if len(call.leaves) == 1:
            return [put(call, call.leaves[0], self.caller, *inputs)]
        tuples = put(call, Leaf((), (), np.dtype(object)), self.caller, *inputs)  # computed once for all arrays of them
        return [
            put(itemgetter(number), leaf, f"{self.caller}-{leaf.path[-1]}", tuples, batch)
            for number, leaf in enumerate(call.leaves)
        ]


def _is_lazy_table(value: Any) -> bool:
    """Whether a value is a DataArray of xarray over a Dask array."""
    return type(value).__module__.startswith("xarray.") and hasattr(value, "data") and holds_lazy(value)


def _by_field(value: Any) -> dict[str, Any] | None:
    """The fields of a named tuple, or of an array that has some."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=True))
    if isinstance(value, np.ndarray) and value.dtype.names:
        return {name: value[name] for name in value.dtype.names}
    return None


# --- results ---


def _leaves(result: Any, path: tuple[Any, ...] = ()) -> Iterator[Leaf]:
    """The arrays of a result for an empty batch."""
    if isinstance(result, np.ndarray):
        if result.shape[:1] == (0,):  # others are the same for all states
            yield Leaf(path, result.shape[1:], result.dtype)
        return
    for name, part in parts_of(result).items():
        yield from _leaves(part, (*path, name))


def parts_of(result: Any) -> dict[Any, Any]:
    """The parts of a result by name."""
    if isinstance(result, Mapping):
        return dict(result)
    if is_dataclass(result):
        return {field.name: getattr(result, field.name) for field in fields(result) if field.init}
    return dict(zip(result._fields, result, strict=True)) if hasattr(result, "_fields") else {}


def _with_arrays(result: Any, arrays: Mapping[tuple[Any, ...], Any], path: tuple[Any, ...] = ()) -> Any:
    """A result with other arrays in their places."""
    if path in arrays:
        return arrays[path]
    parts = {name: _with_arrays(part, arrays, (*path, name)) for name, part in parts_of(result).items()}
    return with_parts(result, parts) if parts else result


def with_parts(result: Any, parts: Mapping[Any, Any]) -> Any:
    """A result with other parts in the places of its own."""
    if isinstance(result, Mapping):
        return type(result)(parts)  # type: ignore[call-arg]
    return replace(result, **parts) if is_dataclass(result) else type(result)(**parts)  # type: ignore[type-var]
