"""Numbers or SymPy expressions, as a rigid body takes them, and arrays or SymPy matrices, as it gives them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from chainrule.arguments import (
    is_rotation,
    number,
    placement,
    real_array,
    refuse_improper_rotations,
    rows_of,
    symmetric,
    vector,
)
from chainrule.errors import ShapeError
from chainrule.spatial import Rotation, Symmetric, Transform, Vector
from chainrule.spatial.arrays import ArrayOfScalars


def is_symbolic(value: Any) -> bool:
    """Whether a value is an expression or a matrix of SymPy, or has one in it."""
    if type(value).__module__.partition(".")[0] == "sympy":
        return True
    if isinstance(value, ArrayOfScalars):
        value = value.table()
    if isinstance(value, (list, tuple)):
        return any(map(is_symbolic, value))
    return isinstance(value, np.ndarray) and value.dtype == object and any(map(is_symbolic, value.ravel().tolist()))


def scalar(value: Any, what: str, unit: str) -> Any:
    """One finite number, or an expression."""
    if not is_symbolic(value):
        return number(value, what, unit)
    from chainrule.symbolic.algebra.expressions import expression_or_matrix

    found = expression_or_matrix(value, what)
    if not hasattr(found, "is_number"):  # a matrix
        raise ShapeError(f"{what} must be one expression, got {value!s:.60}")
    return found


def vector_of(value: Any, what: str, unit: str) -> Vector:
    """A vector of three numbers or expressions."""
    if not is_symbolic(value):
        return vector(value, what, unit)
    return Vector(*_expressions(value, (3,), what, "x, y, z"))


def vectors_of(value: Any, length: int, what: str, names: str) -> list[Any]:
    """The scalars of an array (..., length), each an array of the batch's shape; or expressions."""
    if is_symbolic(value):
        return _expressions(value, (length,), what, names)
    array = rows_of(value, length, what, names)
    return [array[..., k] for k in range(length)]


def symmetric_of(value: Any, what: str) -> Symmetric:
    """A symmetric matrix from 3 (diagonal), 6 (xx, yy, zz, xy, xz, yz) or 3-by-3 numbers or expressions."""
    if not is_symbolic(value):
        return symmetric(value, what)
    count = len(_flatten(value))
    if count in (3, 6):
        return Symmetric(*_expressions(value, (count,), what, "xx, yy, zz, xy, xz, yz"))
    entries = _expressions(value, (3, 3), what, "3 by 3, or xx, yy, zz, xy, xz, yz")
    if any(entries[3 * i + j] != entries[3 * j + i] for i in range(3) for j in range(i)):
        raise ShapeError(f"{what} must be a symmetric matrix, got {value!s:.60}")
    return Symmetric.of([entries[0:3], entries[3:6], entries[6:9]])


def rotation_of(value: Any, what: str) -> Rotation:
    """A rotation matrix (3, 3) of numbers or expressions; also a Rotation of SciPy."""
    if is_rotation(value):
        value = value.as_matrix()
    if not is_symbolic(value):
        R = real_array(value, what)
        if R.shape != (3, 3) or not np.isfinite(R).all():
            raise ShapeError(f"{what} must be a rotation matrix of shape (3, 3), got shape {R.shape}")
        refuse_improper_rotations(R, what)
        return Rotation.of(R.tolist())
    entries = _expressions(value, (3, 3), what, "3 by 3")
    sp = import_module("sympy")
    R = sp.Matrix(3, 3, entries)
    if (R.T * R - sp.eye(3)).applyfunc(sp.simplify) != sp.zeros(3, 3) or sp.simplify(R.det()) == -1:
        raise ShapeError(
            f"{what} must be a rotation matrix, whose columns are orthonormal and right-handed; such as "
            "chainrule.spatial.Rotation.about((0, 0, 1), angle)"
        )
    return Rotation(Vector(*entries[:3]), Vector(*entries[3:6]), Vector(*entries[6:]))


def pose_of(origin: Any, xyz: Any, rpy: Any, what: str) -> Transform:
    """A pose from a transform, or from a place and roll, pitch, yaw in rad, of numbers or expressions."""
    if origin is None:
        at = Vector.zero() if xyz is None else vector_of(xyz, f"{what}: xyz", "m")
        turned = Vector.zero() if rpy is None else vector_of(rpy, f"{what}: rpy", "rad")
        return Transform(Rotation.from_rpy(*turned), at)
    if xyz is not None or rpy is not None:
        raise ShapeError(f"{what}: give either origin, or xyz and rpy")
    if isinstance(origin, Transform):
        return origin
    return Transform.of(origin) if is_symbolic(origin) else placement(origin, f"{what}: origin")


def result(found: ArrayOfScalars, expand: bool = False) -> Any:
    """An array of a vector or a matrix of numbers, its batch leading; a SymPy matrix of one of expressions."""
    if is_symbolic(found):
        matrix = import_module("sympy").ImmutableMatrix(_exact(found.table()))
        return matrix.expand() if expand else matrix
    return np.asarray(found, dtype=float)


def _exact(table: Any) -> Any:
    """Lists of scalars with whole numbers as integers, which SymPy simplifies."""
    if isinstance(table, (list, tuple)):
        return [_exact(x) for x in table]
    return int(table) if isinstance(table, float) and table.is_integer() else table


def plain(expression: Any) -> Any:
    """A number of SymPy as a float; other expressions as they are."""
    return float(expression) if getattr(expression, "is_number", False) else expression


def _flatten(value: Any) -> list[Any]:
    if isinstance(value, ArrayOfScalars):
        value = value.table()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        return [value]
    return [x for part in value for x in _flatten(part)]


def _expressions(value: Any, shape: tuple[int, ...], what: str, names: str) -> list[Any]:
    """The entries of nested lists, of a SymPy matrix or of an array, as expressions."""
    entries = _flatten(value)
    if len(entries) != int(np.prod(shape)):
        raise ShapeError(f"{what} must have {int(np.prod(shape))} entries ({names}), got {len(entries)}")
    return [scalar(x, what, "1") for x in entries]
