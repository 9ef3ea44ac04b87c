"""Wrenches on links, as users give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from chainrule.arguments import WRENCH_UNITS, Array, rows_of
from chainrule.core.foreign import refuse_symbols
from chainrule.errors import ShapeError, short_repr
from chainrule.functions.table import WRENCH_LENGTH
from chainrule.model import Model


class Loads(NamedTuple):
    """Wrenches (moment, force) that the world applies to links or frames."""

    links: tuple[str, ...] = ()
    wrenches: tuple[Array, ...] = ()
    labels: tuple[str, ...] = ()
    """What each is called in messages."""


NO_LOADS = Loads()


def read_loads(model: Model, caller: str, tip_wrench: Any = None, external: Mapping[str, Any] | None = None) -> Loads:
    """The loads of a call.

    `tip_wrench` is what the end-effector applies to its surroundings, so that it counts with the opposite sign;
    `external[link]` is what the world applies to that link.
    """
    if tip_wrench is None and external is None:
        return NO_LOADS
    if external is not None and not isinstance(external, Mapping):
        raise ShapeError(
            f"{caller}: external must be a dictionary of link names and wrenches, got {short_repr(external)}"
        )
    links: list[str] = []
    arrays: list[Array] = []
    labels: list[str] = []
    for name, wrench in (external or {}).items():
        model.locate(name)
        links.append(name)
        labels.append(f"external[{name!r}]")
        arrays.append(_six(wrench, f"{caller}: {labels[-1]}"))
    if tip_wrench is not None:
        links.append(model.tip)
        labels.append("tip_wrench")
        arrays.append(-_six(tip_wrench, f"{caller}: tip_wrench"))
    return Loads(tuple(links), tuple(arrays), tuple(labels))


def load_on(link: str, wrench: Any, caller: str, label: str = "tip_wrench") -> Loads:
    """One wrench on one link."""
    return Loads((link,), (_six(wrench, f"{caller}: {label}"),), (label,))


def _six(wrench: Any, what: str) -> Array:
    refuse_symbols(wrench, what)
    return rows_of(wrench, WRENCH_LENGTH, what, "moment and force", WRENCH_UNITS)
