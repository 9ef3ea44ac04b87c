"""Wrenches in symbols: what the end-effector applies to its surroundings, and what acts on links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from chainrule.algorithms.loads import WRENCH_FRAMES, on_links
from chainrule.algorithms.statics import static_torque
from chainrule.arguments import Array, one_of
from chainrule.core.derived import merged_model
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import find_link, read_wrenches
from chainrule.errors import ShapeError, short_repr, visible
from chainrule.model import Model
from chainrule.spatial import Wrench
from chainrule.symbolic.algebra.ring import Ring
from chainrule.symbolic.closed_form.symbol_table import NamedSymbol, SymbolTable

COMPONENTS = ("m_{}x", "m_{}y", "m_{}z", "f_{}x", "f_{}y", "f_{}z")
"""Names of the components of a wrench, moment first, with the label of the link in them."""


@dataclass(frozen=True)
class SymbolicWrench:
    """A wrench on a link or frame: its axes, its components, and the numbers of these at a sample state.

    A component is a symbol, or zero. `tip_wrench` is what the end-effector applies to its surroundings; any other
    wrench is what these apply to the link.
    """

    link: str
    frame: str
    components: tuple[sp.Expr, ...]
    numbers: tuple[float, ...]
    label: str = ""
    """The index of the link in the names of the components, "" for the tip."""

    @property
    def is_of_tip(self) -> bool:
        """Whether it is what the end-effector applies to its surroundings."""
        return not self.label

    @property
    def sign(self) -> int:
        """1 where it takes torques J^T F, -1 where it gives them."""
        return 1 if self.is_of_tip else -1

    @property
    def symbols(self) -> list[sp.Symbol]:
        """The components that are not zero."""
        return [x for x in self.components if x != 0]

    @property
    def values(self) -> dict[sp.Symbol, float]:
        """The number of each symbol at a sample state."""
        return {x: value for x, value in zip(self.components, self.numbers, strict=True) if x != 0}

    @property
    def entries(self) -> list[NamedSymbol]:
        """The symbols with their meanings and units."""
        of = "of the tip on its surroundings" if self.is_of_tip else f"on link {visible(self.link)}"
        words = {"m": ("moment", "N m"), "f": ("force", "N")}
        found = []
        for x in self.symbols:
            what, unit = words[x.name[0]]
            found.append(NamedSymbol(x.name, x, f"{what} {of} along {x.name[-1]}, {self.frame} axes", unit))
        return found

    def on(self, ring: Ring) -> Wrench:
        """The wrench over elements of a ring."""
        return Wrench.of([ring.variable(x) if x != 0 else 0 for x in self.components])

    def torque(self, model: Model, ring: Ring, q: Sequence[Any]) -> list[Any]:
        """Torques that the motors supply because of it."""
        return [self.sign * x for x in static_torque(model, q, self.link, self.on(ring), self.frame)]


def symbolic_wrenches(
    robot: Mechanism, tip_wrench: Any = None, external: Any = None, frame: str | None = None, *, plain: bool = False
) -> tuple[SymbolicWrench, ...]:
    """The wrenches of a call: that of the tip first, then those on links in the order in which they are named.

    Parameters
    ----------
    robot
        The robot.
    tip_wrench
        True for six symbols, or six numbers: those that are not zero become symbols with these numbers. The name of a
        frame is True with that frame.
    external
        True for all moving links, names of links or frames, or a dictionary from these to True or to six numbers.
    frame
        "world" by default, "body" or "space", as of the functions in numbers.
    plain
        Whether symbols are made without assumptions.
    """
    if isinstance(tip_wrench, str):
        one_of(WRENCH_FRAMES, tip_wrench, "frame of a wrench", "tip_wrench")
        if frame not in (None, tip_wrench):
            raise ShapeError(
                f"tip_wrench={tip_wrench!r} and frame={frame!r} contradict each other; give tip_wrench=True and frame"
            )
        frame, tip_wrench = tip_wrench, True
    axes = one_of(WRENCH_FRAMES, "world" if frame is None else frame, "frame of a wrench")
    rng = np.random.default_rng(5)
    found: list[SymbolicWrench] = []
    if tip_wrench is not None and tip_wrench is not False:
        given = _numbers(robot, find_link(robot), tip_wrench, rng, "tip_wrench")
        found.append(_wrench(find_link(robot), axes, given, "", plain=plain))
    labels: set[str] = set()
    for link, wrench in _by_link(robot, external).items():
        index, _ = merged_model(robot).locate(link)
        label = next(x for k in range(1, len(labels) + 2) if (x := f"e{index}" + f"_{k}" * (k > 1)) not in labels)
        labels.add(label)
        found.append(_wrench(link, axes, _numbers(robot, link, wrench, rng, "external"), label, plain=plain))
    return tuple(found)


def wrenches_on_links(
    model: Model, ring: Ring, wrenches: Iterable[SymbolicWrench], q: Sequence[Any]
) -> dict[int, Wrench]:
    """Wrenches that act on links, by index, each in its link's frame: those of the tip with the opposite sign."""
    total: dict[int, Wrench] = {}
    for wrench in wrenches:
        acting = [-wrench.sign * x for x in wrench.on(ring)]
        for index, F in on_links(model, [wrench.link], [acting], q, wrench.frame).items():
            total[index] = total.get(index, Wrench.zero()) + F
    return total


def in_numbers(wrenches: Iterable[SymbolicWrench]) -> dict[str, Any]:
    """The arguments of a function in numbers that mean the same wrenches at the sample state."""
    options: dict[str, Any] = {}
    for wrench in wrenches:
        options["frame"] = wrench.frame
        if wrench.is_of_tip:
            options["tip_wrench"] = wrench.numbers
        else:
            options.setdefault("external", {})[wrench.link] = wrench.numbers
    return options


def with_wrenches(table: SymbolTable, wrenches: Iterable[SymbolicWrench], owner: str) -> SymbolTable:
    """A table of symbols and those of wrenches; refused if one has the name of another symbol."""
    taken = {entry.symbol.name: entry.name for entry in table.entries}
    new = [entry for wrench in wrenches for entry in wrench.entries]
    for entry in new:
        if entry.name in taken:
            raise ShapeError(
                f"the symbol {entry.name} is the {entry.meaning}, and {taken[entry.name]!r} is called so as well; "
                "choose another name for that one"
            )
    return SymbolTable([*table.entries, *new], owner) if new else table


def _by_link(robot: Mechanism, external: Any) -> dict[str, Any]:
    """Wrenches by the names of their links: True, or six numbers."""
    if external is None or external is False:
        return {}
    if external is True:
        return {link.name: True for link in merged_model(robot).links[1:]}
    if isinstance(external, str):
        external = [external]
    if not isinstance(external, (Mapping, list, tuple, set, frozenset)):
        raise ShapeError(
            "external is True for all links, a list of names of links, or a dictionary of names and wrenches, got "
            f"{short_repr(external)}"
        )
    found = dict(external) if isinstance(external, Mapping) else dict.fromkeys(external, True)
    for name in found:
        robot.model.locate(name)
    return {name: wrench for name, wrench in found.items() if wrench is not None and wrench is not False}


def _numbers(robot: Mechanism, link: str, wrench: Any, rng: np.random.Generator, label: str) -> Array:
    """The numbers at a sample state, round ones where a wrench is all symbols."""
    sample = np.round(rng.uniform(-5.0, 5.0, 6), 1)
    if wrench is True:
        return np.where(sample == 0, 1.0, sample)
    given = read_wrenches(robot, label, external={link: wrench}).wrenches[0]
    if given.ndim != 1 or not np.isfinite(given).all():
        raise ShapeError(f"{label} of {link!r} must be six finite numbers, moment and force, got shape {given.shape}")
    return given


def _wrench(link: str, frame: str, numbers: Array, label: str, *, plain: bool) -> SymbolicWrench:
    names = [name.format(label) for name in COMPONENTS]
    assumptions = {} if plain else {"real": True}
    components = tuple(
        sp.Symbol(name, **assumptions) if x else sp.S.Zero for name, x in zip(names, numbers, strict=True)
    )
    return SymbolicWrench(link, frame, components, tuple(float(x) for x in numbers), label)
