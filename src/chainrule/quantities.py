"""Numbers with units: pint's quantities, converted to SI, or refused by their dimension.

pint is never imported. Its objects are recognized by their class, and convert themselves.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from chainrule.errors import ShapeError, short_repr

Units = str | Sequence[tuple[str, str]] | None
"""The SI unit that numbers are in; (name, unit) of each place of the last dimension; None where no unit is known."""

KINDS = {
    "1": "a number without unit",
    "rad": "an angle",
    "deg": "an angle",
    "m": "a length",
    "kg": "a mass",
    "s": "a time",
    "rad/s": "an angular velocity",
    "m/s": "a velocity",
    "rad/s^2": "an angular acceleration",
    "m/s^2": "an acceleration",
    "N m": "a torque",
    "N": "a force",
    "kg m^2": "a moment of inertia",
}
"""What is measured in a unit, for messages."""

PLAIN = frozenset({float, int, list, tuple, dict, str, bool, np.ndarray, np.float64, type(None)})
"""Types that have no unit."""

OTHER_PACKAGES = ("astropy", "unyt", "quantities")
"""Packages whose arrays with units NumPy would take as plain numbers."""


def _package_with_units(kind: type) -> str | None:
    """The package of units that a class comes from."""
    return None if kind in PLAIN else _find_package(kind)


@lru_cache(maxsize=256)
def _find_package(kind: Hashable) -> str | None:
    if not isinstance(kind, type):
        return None
    packages = {base.__module__.partition(".")[0] for base in kind.__mro__}
    return next((name for name in ("pint", *OTHER_PACKAGES) if name in packages), None)


def is_quantity(value: object) -> bool:
    """Whether a value is a quantity of pint: a number or an array with a unit."""
    return _package_with_units(type(value)) == "pint" and hasattr(value, "magnitude")


def in_si(value: Any, units: Units, what: str) -> Any:
    """The value in plain numbers: quantities in it, in lists too, converted to SI; anything else as it is.

    Plain numbers beside quantities count as SI. `what` names the argument in messages.
    """
    package = _package_with_units(type(value))
    if package is None:
        if isinstance(value, (list, tuple)) and "pint" in sys.modules and _holds_quantities(value):
            return _convert_list(value, units, what)
        if type(value) is np.ndarray and value.dtype == object and _holds_quantities(value.ravel().tolist()):
            return _convert_list(value.tolist(), units, what) if value.ndim else in_si(value.item(), units, what)
        return value
    if package == "pint" and is_quantity(value):
        return _convert(value, units, what)
    if package != "pint" and isinstance(value, np.ndarray):
        raise ShapeError(
            f"{what}: units of the package {package!r} are not known here; give plain numbers in SI units"
            f"{_unit_hint(units)}, or quantities of pint"
        )
    return value


def describe_unit(unit: str) -> str:
    """The kind of quantity and its unit, in words: "an angle (rad)"."""
    return f"{KINDS[unit]} ({unit})" if unit in KINDS and unit != "1" else KINDS.get(unit, f"a quantity in {unit}")


def _unit_hint(units: Units) -> str:
    return f" ({units})" if isinstance(units, str) and units != "1" else ""


MAX_DEPTH = 24
"""Lists within lists that are looked into: no array has more dimensions."""


def _holds_quantities(values: Sequence[Any], depth: int = 0) -> bool:
    """Whether a list, nested or not, has a quantity in it."""
    if depth > MAX_DEPTH:
        return False
    kinds = set(map(type, values))
    if any(_package_with_units(kind) == "pint" for kind in kinds):
        return True
    if not any(issubclass(kind, (list, tuple)) or kind is np.ndarray for kind in kinds):
        return False
    return any(
        _holds_quantities(entry if isinstance(entry, (list, tuple)) else entry.ravel().tolist(), depth + 1)
        for entry in values
        if isinstance(entry, (list, tuple)) or (type(entry) is np.ndarray and entry.dtype == object)
    )


def _convert_list(values: Sequence[Any], units: Units, what: str) -> list[Any]:
    """A list with quantities, in SI: the entries of the innermost lists have the units, each its own."""
    is_innermost = not any(isinstance(x, (list, tuple)) or np.ndim(getattr(x, "magnitude", x)) for x in values)
    if isinstance(units, str) or units is None or not is_innermost:
        return [in_si(x, units, what) for x in values]
    if len(units) != len(values):
        raise ShapeError(f"{what} must have {len(units)} numbers, got {len(values)}: {short_repr(list(values))}")
    return [in_si(x, unit, f"{what}: {name}") for x, (name, unit) in zip(values, units, strict=True)]


def _convert(value: Any, units: Units, what: str) -> Any:
    """The numbers of a quantity in SI units."""
    if units is None:
        raise ShapeError(f"{what} takes plain numbers, in the units that its documentation says, got {_text(value)}")
    if isinstance(units, str):
        return _convert_to(value, units, what)
    different = {unit for _, unit in units}
    if len(different) == 1 and not np.ndim(value.magnitude):
        return _convert_to(value, different.pop(), what)
    if np.shape(value.magnitude)[-1:] != (len(units),):
        raise ShapeError(f"{what} must have {len(units)} numbers in its last dimension, got {_text(value)}")
    if not units:
        return np.asarray(value.magnitude, dtype=float)
    columns = [_convert_to(value[..., i], unit, f"{what}: {name}") for i, (name, unit) in enumerate(units)]
    return np.stack([np.asarray(column, dtype=float) for column in columns], axis=-1)


def _convert_to(value: Any, unit: str, what: str) -> Any:
    if "rad" in unit and "hertz" in str(value.units):
        raise ShapeError(
            f"{what} takes {describe_unit(unit)}, got {_text(value)}, which may mean turns or radians per second; "
            "say revolutions_per_second or radian/second"
        )
    try:
        return value.to("" if unit == "1" else unit).magnitude
    except Exception as error:  # pint has errors of its own, and registries may lack units
        raise ShapeError(f"{what} takes {describe_unit(unit)}, got {_text(value)}") from error


def _text(value: Any) -> str:
    """A quantity for a message."""
    try:
        return f"{value!s:.60}"
    except Exception:
        return short_repr(value)
