"""What users pass in, turned into arrays, or into an error that names it."""

from __future__ import annotations

import math
import operator
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from os import fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chainrule.errors import ChainruleError, ShapeError, UnknownNameError, short_repr
from chainrule.quantities import Units, in_si
from chainrule.spatial import Quaternion, Symmetric, Transform, Vector
from chainrule.spatial.transform import LAST_ROW_TOLERANCE

Array = NDArray[np.float64]

ROTATION_TOLERANCE = 1e-6
"""The largest entry of R^T R - 1 with which a matrix R still counts as a rotation."""
MAX_DIMENSIONS = 24
"""Dimensions that an argument may have, its batch included: NumPy's loops have 32, of which functions need some."""
MAX_POSITION = 1e9
"""Positions of joints beyond this, in rad or m, are none."""

USABLE_MEMORY_SHARE = 0.8
"""The share of the machine's memory that one result may take."""
WRENCH_UNITS = (("mx", "N m"), ("my", "N m"), ("mz", "N m"), ("fx", "N"), ("fy", "N"), ("fz", "N"))
"""The name and the unit of each number of a wrench."""
TWIST_UNITS = (("wx", "rad/s"), ("wy", "rad/s"), ("wz", "rad/s"), ("vx", "m/s"), ("vy", "m/s"), ("vz", "m/s"))
"""The name and the unit of each number of a twist."""
ACCELERATION_UNITS = (
    *((name, "rad/s^2") for name in ("alpha_x", "alpha_y", "alpha_z")),
    *((name, "m/s^2") for name in ("ax", "ay", "az")),
)
"""The name and the unit of each number of an acceleration."""
MAX_STATES = 2**56
"""States that a batch may have: more numbers than any memory holds."""


def read_only(values: ArrayLike) -> Array:
    """A copy of an array that cannot be written to."""
    array = np.array(values, dtype=float)
    array.setflags(write=False)
    return array


def real_array(value: Any, what: str, units: Units = None) -> Array:
    """An array of floats from anything that is plainly one; of single precision if it was.

    Quantities of pint are converted to `units`, one for all or one for each place of the last dimension, and refused
    where no unit is known.
    """
    if np.ma.is_masked(value):
        raise ShapeError(f"{what} has masked entries, which are no numbers; fill them first")
    refuse_labels(value, what)
    refuse_lazy(value, what)
    value = in_si(value, units, what)
    try:
        array: NDArray[Any] = np.from_dlpack(value) if _only_dlpack(value) else np.asarray(value)
        if array.dtype == object:  # a table of quantities
            array = np.asarray(in_si(array, units, what))
    except ShapeError:
        raise
    except ValueError as error:
        raise ShapeError(f"{what} must be a rectangular array of numbers, got rows of different lengths") from error
    except Exception as error:  # foreign arrays raise what they like: a tensor with gradients, a tracer
        if hasattr(value, "__cuda_array_interface__"):
            raise ShapeError(
                f"{what} lies on a graphics processor, and this computes on the CPU; "
                "robot.compiled.kernel(name, target='cuda') "
                "computes there, as do robot.torch and robot.jax"
            ) from error
        raise ShapeError(f"{what} must be an array of numbers, got {type(value).__name__}: {error}") from error
    if array.dtype.kind not in "fiu":
        kind = type(value).__name__ if array.dtype.kind in "OUS" else f"numbers of type {array.dtype}"
        raise ShapeError(f"{what} must be real numbers, got {kind} ({_short_text(value)})")
    refuse_dimensions(array, what)
    return array if array.dtype == np.float32 else array.astype(np.float64, copy=False)


def refuse_labels(value: Any, what: str) -> None:
    """Raise where a table has names, which an argument of plain numbers would leave out of account."""
    package = type(value).__module__.partition(".")[0]
    if package not in ("pandas", "xarray"):
        return
    if package == "xarray" and len(getattr(value, "dims", ())) > 1:
        raise ShapeError(
            f"{what} takes numbers by their places, and the names of the dimensions {tuple(value.dims)} would not "
            "count; give .to_numpy(), with its batch in the order of that of the other arguments"
        )
    axes = getattr(value, "columns", getattr(value, "index", None))
    tables = (
        [axes]
        if axes is not None
        else [value.coords[d].values for d in getattr(value, "dims", ()) if d in value.coords]
    )
    if any(isinstance(label, str) for table in tables for label in table):
        raise ShapeError(
            f"{what} takes numbers by their places, and the names in this {type(value).__name__} would not count; give "
            ".to_numpy(), in the order that is asked for"
        )


def is_lazy(value: Any) -> bool:
    """Whether a value is a Dask array."""
    return type(value).__module__.startswith("dask.array")


def holds_lazy(value: Any, depth: int = 3) -> bool:
    """Whether a value is something of Dask, a table over it, or a list or dictionary that has some, `depth` deep."""
    kind = type(value)
    if kind in _NEVER_LAZY or not depth:
        return False
    if isinstance(value, (list, tuple)):
        return any(holds_lazy(entry, depth - 1) for entry in value)
    package = kind.__module__.partition(".")[0]
    if package == "xarray":
        return bool(getattr(value, "chunks", None))
    if isinstance(value, Mapping):
        return any(holds_lazy(entry, depth - 1) for entry in value.values())
    return package == "dask"


_NEVER_LAZY = frozenset({np.ndarray, float, int, bool, str, type(None)})


def refuse_lazy(value: Any, what: str) -> None:
    """Raise where a value has no numbers yet: to take them would compute it, behind the user's back."""
    if "dask" not in sys.modules or not holds_lazy(getattr(value, "magnitude", value)):
        return
    if isinstance(value, (list, tuple)):
        raise ShapeError(f"{what} is a list with Dask arrays; make one array of them, with dask.array.stack(..., -1)")
    if type(value).__module__.startswith(("dask.dataframe", "dask.delayed", "dask.bag")):
        raise ShapeError(
            f"{what} is a {type(value).__name__} of Dask; make a Dask array of it, with .to_dask_array(lengths=True) "
            "or dask.array.from_delayed, or call .compute() first"
        )
    raise ShapeError(f"{what} is lazy, and this takes numbers: call .compute() of the Dask array first")


def _only_dlpack(value: Any) -> bool:
    """Whether an array of another library shares its memory by DLPack, and in no other way that NumPy knows."""
    return (
        hasattr(value, "__dlpack__") and not hasattr(value, "__array__") and not hasattr(value, "__array_interface__")
    )


def _short_text(value: Any) -> str:
    try:
        return str(value)[:60]
    except Exception:
        return short_repr(value)


def refuse_dimensions(array: Array, what: str) -> None:
    """Raise where an array has more dimensions than functions can go through."""
    if array.ndim > MAX_DIMENSIONS:
        raise ShapeError(
            f"{what} has {array.ndim} dimensions, and at most {MAX_DIMENSIONS} are possible; reshape the batch"
        )


def number(value: Any, what: str, unit: str | None = None) -> float:
    """One finite number, in the given unit where it is a quantity."""
    array = real_array(value, what, unit)
    if array.ndim:
        raise ShapeError(f"{what} must be one number, got shape {array.shape}")
    refuse_nonfinite(array, what)
    return float(array)


def positive(
    value: Any,
    what: str,
    words: str = "positive",
    error: type[ChainruleError] = ShapeError,
    unit: str | None = None,
) -> float:
    """A finite number above zero; `words` say in the message what it must be."""
    x = number(value, what, unit)
    if not x > 0:
        raise error(f"{what} must be {words}, got {short_repr(value)}")
    return x


def whole_number(value: Any, what: str, least: int = 0, most: int | None = None) -> int:
    """A whole number, at least `least`, and at most `most` where that is given."""
    count = number(value, what)
    if isinstance(value, bool) or count != int(count) or count < least:
        raise ShapeError(f"{what} must be a whole number, at least {least}, got {short_repr(value)}")
    if most is not None and count > most:
        raise ShapeError(f"{what} must be at most {most}, got {short_repr(value)}")
    return int(count)


def flag(value: Any, what: str) -> bool:
    """A truth value: True or False, of Python or of NumPy, or 1 or 0."""
    is_number = isinstance(value, (int, np.integer)) and value in (0, 1)
    if not isinstance(value, (bool, np.bool_)) and not is_number:
        raise ShapeError(f"{what} must be True or False, got {short_repr(value)}")
    return bool(value)


def file_path(value: Any, what: str = "path") -> Path:
    """The path of a file, from a string or a path."""
    try:
        text = fspath(value)
    except Exception:
        text = None
    if not isinstance(text, str) or not text or "\0" in text:
        raise ShapeError(f"{what} must be the path of a file, a string or a pathlib.Path, got {short_repr(value)}")
    return Path(text)


def npz_path(value: Any, rule: str, what: str = "path") -> Path:
    """The path of an .npz file; where it has another suffix, the error tells the rule."""
    place = file_path(value, what)
    if place.suffix.lower() != ".npz":
        raise ShapeError(f"{rule}, got {str(value)!r}")
    return place


def as_list(value: Any, what: str) -> list[Any]:
    """The entries of anything that can be gone through."""
    try:
        return list(value)
    except Exception:
        raise ShapeError(f"{what} must be a list, got {type(value).__name__}") from None


def rows_of(value: Any, length: int, what: str, of: str, units: Units = None) -> Array:
    """An array whose last dimension is `length`."""
    array = real_array(value, what, units)
    if array.ndim == 0:
        raise ShapeError(f"{what} must have {length} numbers ({of}), got the single number {short_repr(value)}")
    if array.shape[-1] != length:
        raise ShapeError(
            f"{what} must have {length} numbers in its last dimension ({of}), got {array.shape[-1]} "
            f"in shape {array.shape}"
        )
    return array


def unit_vectors(value: Any, length: int, what: str, of: str) -> Array:
    """Directions (..., length) as vectors of length one; those of no length or not finite are refused."""
    array = rows_of(value, length, what, of).astype(float)
    largest = np.abs(array).max(axis=-1, keepdims=True, initial=0.0)
    if not ((largest > 0) & np.isfinite(largest)).all():
        raise ShapeError(
            f"{what} must not be zero, nor have numbers that are not finite; give a direction, such as (0, 0, -1)"
        )
    array = array / largest  # so that squares neither vanish nor overflow
    return array / np.linalg.norm(array, axis=-1, keepdims=True)


def together(arrays: dict[str, Array], function: str) -> list[Array]:
    """Give all arguments the same batch dimensions."""
    if len({a.shape[:-1] for a in arrays.values()}) == 1:
        return list(arrays.values())
    try:
        batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ShapeError(
            f"{function}: the leading (batch) dimensions of the arguments do not fit together: {shapes}"
        ) from None
    return [np.broadcast_to(a, (*batch, a.shape[-1])) for a in arrays.values()]


def result_array(out: Any, shape: tuple[int, ...], inputs: Sequence[Array], function: str) -> Array:
    """The array that a user wants a result to be written into: of the type that results of these inputs have."""
    dtype = np.dtype(np.float32 if all(a.dtype == np.float32 for a in inputs) else np.float64)
    return checked_out(out, shape, dtype, function)


def checked_out(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any], function: str) -> Array:
    """The array that a user wants a result to be written into: of its shape and type, writable, each number once."""
    if type(out) is np.ndarray and out.shape == shape and out.dtype == dtype and out.flags.carray:
        return out
    wanted = f"{function}: out must be a NumPy array of shape {shape} and type {dtype}"
    if type(out) not in (np.ndarray, np.memmap):
        raise ShapeError(f"{wanted}, got {short_repr(out)}")
    if out.shape != shape or out.dtype != dtype:
        raise ShapeError(f"{wanted}, got shape {out.shape} and type {out.dtype}")
    if not out.flags.writeable:
        raise ShapeError(f"{function}: out cannot be written to; its flag writeable is off")
    if out.size and any(n > 1 and stride == 0 for n, stride in zip(out.shape, out.strides, strict=True)):
        raise ShapeError(
            f"{function}: numbers of out share one place in memory (a stride of 0): give an array of its own"
        )
    result: Array = out
    return result


def vector(value: Any, what: str, unit: str | None = None) -> Vector:
    """Three finite numbers, in the given unit where they are quantities."""
    array = rows_of(value, 3, what, "x, y, z", unit)
    if array.shape != (3,):
        raise ShapeError(f"{what} must be three numbers (x, y, z), got shape {array.shape}")
    refuse_nonfinite(array, what)
    return Vector(*array.tolist())


def refuse_nonfinite(array: Array, what: str) -> None:
    if not np.isfinite(array).all():
        raise ShapeError(f"{what} must be finite, got {array.tolist()!s:.200}")


def refuse_undefined_rows(undefined: NDArray[np.bool_], function: str) -> None:
    """Raise where a yes-or-no question has no answer, its numbers being nan: a comparison with nan is plainly false."""
    if undefined.any():
        first = np.argwhere(undefined)[0]
        raise ShapeError(
            f"{function} is neither true nor false of a configuration that is not finite{_row(first)}; leave out rows "
            "with nan or inf, which np.isfinite(q).all(axis=-1) finds"
        )


def placement(value: ArrayLike | Transform | None, what: str) -> Transform:
    """A rigid transform, none being the identity."""
    return Transform.identity() if value is None else transform(value, what)


def transform(value: Any, what: str) -> Transform:
    """A rigid transform from a 4-by-4 matrix or anything that `pose_matrices` knows, refused if it is not one."""
    if isinstance(value, Transform):
        return value
    T = real_array(pose_matrices(value, what), what)
    if T.shape != (4, 4):
        raise ShapeError(f"{what} must be a 4-by-4 homogeneous matrix, got shape {T.shape}")
    return Transform.of(rigid_transforms(T, what).tolist())


def pose_matrices(value: Any, what: str, depth: int = 3) -> Any:
    """Matrices (..., 4, 4) of a pose or of several, in whichever of these forms they come; other things as they are.

    A `Transform`; `Rotation` and `RigidTransform` of SciPy, a rotation being at the origin; a pair of a point and a
    quaternion (x, y, z, w) or a `Rotation`, the point in m; `SE3` of Pinocchio; `RigidTransform` of Drake; messages
    such as geometry_msgs/Pose and Transform; lists of these, `depth` levels deep.
    """
    if type(value) is np.ndarray:
        return value
    matrix = _pose_matrix(value)
    if matrix is not None:
        return matrix
    if not isinstance(value, (list, tuple)) or not depth or all(isinstance(x, (float, int)) for x in value):
        return value
    if _is_point_and_rotation(value):
        return _from_point_and_rotation(value[0], value[1], what)
    each = [pose_matrices(entry, what, depth - 1) for entry in value]
    if all(new is old for new, old in zip(each, value, strict=True)):
        return value
    try:
        return np.stack([real_array(entry, what) for entry in each])
    except ValueError:
        raise ShapeError(f"{what} must be poses of one form, got a list of several") from None


def is_rotation(value: Any) -> bool:
    """Whether a value is a Rotation of SciPy, or several."""
    return type(value).__name__ == "Rotation" and type(value).__module__.startswith("scipy.")


def _pose_matrix(value: Any) -> Array | None:
    """The matrices of an object that is a pose, or several; None for others."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    if isinstance(value, Transform):
        return np.array(value.rows(), dtype=float)
    if is_rotation(value):
        R = value.as_matrix()
        return _homogeneous(R, np.zeros((*R.shape[:-2], 3)))
    if package == "scipy" and kind.__name__ == "RigidTransform":
        return np.array(value.as_matrix(), dtype=float)
    if package == "pinocchio" and hasattr(value, "homogeneous"):
        return np.array(value.homogeneous, dtype=float)
    if package == "pydrake" and hasattr(value, "GetAsMatrix4"):
        return np.array(value.GetAsMatrix4(), dtype=float)
    for point, rotation in (("position", "orientation"), ("translation", "rotation")):
        p, r = getattr(value, point, None), getattr(value, rotation, None)
        if all(hasattr(p, c) for c in "xyz") and all(hasattr(r, c) for c in "xyzw"):
            quaternion = [getattr(r, c) for c in "xyzw"]
            return _from_point_and_rotation([getattr(p, c) for c in "xyz"], quaternion, kind.__name__)
    return None


def _is_point_and_rotation(value: Sequence[Any]) -> bool:
    """Whether a pair is points (..., 3) and quaternions (..., 4), or points and a Rotation."""
    if len(value) != 2 or _last_length(value[0]) != 3:
        return False
    return is_rotation(value[1]) or _last_length(value[1]) == 4


def _last_length(value: Any) -> int | None:
    """The length of the innermost lists, or of the last dimension."""
    for _ in range(MAX_DIMENSIONS):
        if not isinstance(value, (list, tuple)) or not value or not isinstance(value[0], (list, tuple, np.ndarray)):
            break
        value = value[0]
    if isinstance(value, (list, tuple)):
        return len(value)
    shape = getattr(value, "shape", ())
    return shape[-1] if isinstance(shape, tuple) and shape else None


def _from_point_and_rotation(point: Any, rotation: Any, what: str) -> Array:
    p = rows_of(point, 3, f"{what}: its point", "x, y, z", "m")
    if is_rotation(rotation):
        return _homogeneous(rotation.as_matrix(), p)
    q = rows_of(rotation, 4, f"{what}: its quaternion", "x, y, z, w")
    if not (np.abs(q).max(axis=-1, initial=0.0) > 0).all() or not np.isfinite(q).all():
        raise ShapeError(
            f"{what}: its quaternion must be finite and not zero, which is no orientation; (0, 0, 0, 1) turns nothing"
        )
    R = Quaternion(*np.moveaxis(q, -1, 0)).rotation()
    return _homogeneous(np.stack([np.stack(list(row), axis=-1) for row in R], axis=-2), p)


def _homogeneous(R: Array, p: Array) -> Array:
    """Matrices (..., 4, 4) of rotations (..., 3, 3) and points (..., 3)."""
    T = np.zeros((*np.broadcast_shapes(R.shape[:-2], p.shape[:-1]), 4, 4))
    T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, p, 1.0
    return T


def rigid_transforms(value: Any, what: str, *, finite: bool = True) -> Array:
    """Rigid transforms (..., 4, 4), in any form that `pose_matrices` knows, refused if one of them is not rigid.

    With finite=False, a matrix with an entry that is not finite becomes nan as a whole.
    """
    T = real_array(pose_matrices(value, what), what).astype(float)
    if T.shape[-2:] != (4, 4):
        raise ShapeError(f"{what} must be 4-by-4 homogeneous matrices, got shape {T.shape}")
    if finite:
        refuse_nonfinite(T, what)
    else:
        T = np.where(np.isfinite(T).all(axis=(-1, -2), keepdims=True), T, np.nan)
    refuse_improper_rotations(T[..., :3, :3], what)
    with np.errstate(invalid="ignore"):
        wrong = np.argwhere(np.abs(T[..., 3, :] - [0, 0, 0, 1]).max(axis=-1) > LAST_ROW_TOLERANCE)
    if len(wrong):
        row = T[tuple(wrong[0])][3]
        swapped = np.abs(T[(*wrong[0], slice(None), 3)] - [0, 0, 0, 1]).max() <= LAST_ROW_TOLERANCE
        hint = "; it is transposed: give np.swapaxes(T, -1, -2)" if swapped else ""
        raise ShapeError(f"{what} must have the last row 0 0 0 1, got {row.tolist()}{_row(wrong[0])}{hint}")
    return T


def refuse_improper_rotations(R: Array, what: str) -> None:
    """Refuse matrices (..., 3, 3) that are not rotations; those that are not finite pass."""
    with np.errstate(invalid="ignore", over="ignore"):
        deviation = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(axis=(-1, -2), initial=0.0)
        mirrors = (np.cross(R[..., 0], R[..., 1]) * R[..., 2]).sum(axis=-1) < 0
        wrong = np.argwhere(((deviation > ROTATION_TOLERANCE) | mirrors) & np.isfinite(R).all(axis=(-1, -2)))
    if len(wrong):
        first = tuple(wrong[0])
        one = "has a matrix that is" if first else "is"
        fault = "mirrors" if mirrors[first] else f"is off by {deviation[first]:.2g} from orthogonal"
        raise ShapeError(
            f"{what} {one} not a rigid transform{_row(wrong[0])}: its rotation {fault}; give its upper left 3-by-3 "
            "block orthonormal columns that form a right-handed frame"
        )


def _row(place: NDArray[np.intp]) -> str:
    """The place in a batch, in words; none where there is no batch."""
    return f" (row {', '.join(map(str, place))})" if len(place) else ""


def symmetric(value: Any, what: str) -> Symmetric:
    """An inertia matrix in kg m^2 from 3 (diagonal), 6 (xx, yy, zz, xy, xz, yz) or 3-by-3 numbers."""
    array = real_array(value, what, "kg m^2")
    if array.shape in {(3,), (6,)}:
        return Symmetric(*array.tolist(), *([0.0] * (6 - len(array))))
    if array.shape != (3, 3):
        raise ShapeError(
            f"{what} must be 3 numbers (xx, yy, zz), 6 (xx, yy, zz, xy, xz, yz) or a 3-by-3 matrix, got shape "
            f"{array.shape}"
        )
    if np.abs(array - array.T).max() > 1e-9 * max(float(np.abs(array).max()), 1e-300):
        raise ShapeError(f"{what} must be a symmetric matrix, got {array.tolist()}")
    return Symmetric.of(array.tolist())


def named_dofs(joints: Sequence[str]) -> str:
    """The joints of a robot, for a message about lengths."""
    names = ", ".join(joints[:8]) + (", ..." if len(joints) > 8 else "")
    return names or "none"


def batch_shape(value: Any) -> tuple[int, ...]:
    """The dimensions of a batch, from a number or a sequence of them."""
    try:
        numbers = (operator.index(value),) if not isinstance(value, Sequence) else tuple(map(operator.index, value))
    except Exception:
        numbers = (-1,)
    if min(numbers, default=0) < 0:
        raise ShapeError(f"shape must be a size or a tuple of sizes, none negative, got {short_repr(value)}")
    if len(numbers) >= MAX_DIMENSIONS or max(numbers, default=0) > MAX_STATES or math.prod(numbers) > MAX_STATES:
        raise ShapeError(f"shape {short_repr(value)} is larger than any memory")
    return numbers


def refuse_beyond_memory(numbers: float, what: str, advice: str = "ask for less") -> None:
    """Raise where so many numbers of eight bytes would not fit into the machine's memory."""
    most = USABLE_MEMORY_SHARE * min(_machine_bytes(), 2.0**60)
    if 8 * numbers > most:
        raise ShapeError(
            f"{what} would take {8 * numbers / 2**30:.3g} GiB, and there are {most / 2**30:.3g} to use; {advice}"
        )


def _machine_bytes() -> float:
    """The memory that this process may use: of the machine, the container, `ulimit -v`; infinite if not known."""
    try:
        physical = float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return math.inf
    try:
        container = float(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
    except (OSError, ValueError):  # none, or "max"
        container = math.inf
    return min(physical, container, _address_space())


def _address_space() -> float:
    """The bytes that the process may still map (`ulimit -v`): a limit holds for what it has mapped already, too."""
    try:
        import resource
    except ImportError:  # Windows
        return math.inf
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return math.inf
    try:
        mapped = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except OSError:  # no Linux
        mapped = 0
    return float(max(0, limit - mapped))


def names(value: Any, what: str) -> tuple[str, ...]:
    """A list of names."""
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(name, str) for name in value):
        raise ShapeError(f"{what} must be a list of names, got {short_repr(value)}")
    return tuple(value)


def word(value: Any, what: str) -> str:
    """A string, such as a name."""
    if not isinstance(value, str):
        raise ShapeError(f"{what} must be a string, got {short_repr(value)}")
    return value


def one_of(known: Iterable[str], value: Any, what: str, where: str = "chainrule") -> str:
    """A word that is among the known ones."""
    words = tuple(known)
    if not isinstance(value, str) or value not in words:
        raise UnknownNameError.of(what, value, words, where)
    return str(value)
