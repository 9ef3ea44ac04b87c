"""The problem of a derivation about one rigid body: its numbers over symbols, and a sample motion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from chainrule.arguments import number
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.lazy import cached_property
from chainrule.model import Link
from chainrule.spatial import Rotation, Symmetric, Transform, Twist, Vector
from chainrule.symbolic.derivations.quantities import NumberedSymbols
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Paragraph, TableBlock
from chainrule.symbolic.documents.printing import superscript_powers

AXES = "xyz"
ENTRIES = ("xx", "yy", "zz", "xy", "xz", "yz")

SAMPLE: dict[str, tuple[str, tuple[float, float, float]]] = {
    "omega": ("rad/s", (0.5, -1.0, 2.0)),
    "omegadot": ("rad/s^2", (0.2, 0.4, -1.0)),
    "v": ("m/s", (1.0, 0.5, -0.5)),
    "vdot": ("m/s^2", (0.1, -0.3, 0.6)),
    "q": ("m", (0.3, -0.2, 0.5)),
    "A": ("m", (0.4, -0.1, 0.2)),
    "Adot": ("m/s", (-0.3, 0.5, 0.1)),
}
"""Letter of a vector -> the unit of its entries, and round numbers for them."""

ANGLES: dict[str, tuple[str, float]] = {
    "phi": ("rad", 0.3), "theta": ("rad", -0.4), "psi": ("rad", 0.7),
    "phidot": ("rad/s", 1.0), "thetadot": ("rad/s", -0.5), "psidot": ("rad/s", 2.0),
}  # fmt: skip
"""Roll, pitch and yaw of a frame and their rates: units, and round numbers."""


@dataclass(frozen=True)
class BodyProblem(NumberedSymbols):
    """A rigid body over symbols, and the number and unit of each symbol, those of a sample motion included."""

    link: Link
    """The body: elements that are zero stay zero, others are symbols, or the expressions of a body in symbols."""
    body_values: Mapping[sp.Symbol, float]
    body_units: Mapping[sp.Symbol, str]
    chosen: Mapping[str, float]
    """Numbers of the user's, by the names of their symbols."""

    @staticmethod
    def of(link: Link, numbers: Mapping[str, Any] | None) -> BodyProblem:
        """The problem of a body; numbers for symbols that it does not have are refused."""
        if numbers is not None and not isinstance(numbers, Mapping):
            raise ShapeError(f"numbers must be a dictionary such as {{'omega_x': 1.0}}, got {type(numbers).__name__}")
        chosen = {str(name): number(x, f"derivation: {name}") for name, x in (numbers or {}).items()}
        named, values, units = _over_symbols(link, chosen)
        problem = BodyProblem(named, values, units, chosen)
        for name in chosen:
            if name not in (known := [symbol.name for symbol in problem.values]):
                raise UnknownNameError.of("symbol", name, known, "this derivation")
        return problem

    @cached_property
    def values(self) -> dict[sp.Symbol, float]:
        """The number of each symbol."""
        found = {s: x for letter in SAMPLE for s, x in zip(self.vector(letter), SAMPLE[letter][1], strict=True)}
        found |= {self.angle(name): x for name, (_, x) in ANGLES.items()}
        return {**self.body_values, **{s: self.chosen.get(s.name, x) for s, x in found.items()}}

    @cached_property
    def units(self) -> dict[sp.Symbol, str]:
        """The unit of each symbol."""
        found = {s: unit for letter, (unit, _) in SAMPLE.items() for s in self.vector(letter)}
        return {**found, **{self.angle(name): unit for name, (unit, _) in ANGLES.items()}, **self.body_units}

    @property
    def is_symbolic(self) -> bool:
        """Whether every number of the body is a symbol whose unit is known."""
        return set(self.body_values) == set(self.body_units)

    @property
    def subject(self) -> str:
        """The body, in words."""
        return "this rigid body"

    # --- the body and its motion over symbols ---

    def vector(self, letter: str) -> Vector:
        """A vector of three symbols."""
        return Vector(*(sp.Symbol(f"{letter}_{axis}", real=True) for axis in AXES))

    def angle(self, name: str) -> sp.Symbol:
        """An angle, or its rate."""
        return sp.Symbol(name, real=True)

    @property
    def is_at_center(self) -> bool:
        """Whether the frame's origin is the center of mass."""
        return all(x == 0 for x in self.link.com)

    @cached_property
    def about_origin(self) -> Symmetric:
        """The inertia matrix about the frame's origin."""
        return self.link.spatial_inertia.inertia

    def integral(self, integrand: Any, point: Vector) -> Any:
        """The integral over dm of a polynomial in a point of the body of degree two at most.

        The integrals of 1, of x and of x y are those that mass, center of mass and inertia stand for.
        """
        I = self.about_origin
        half = (I.xx + I.yy + I.zz) / 2
        second = {(2, 0, 0): half - I.xx, (0, 2, 0): half - I.yy, (0, 0, 2): half - I.zz,
                  (1, 1, 0): -I.xy, (1, 0, 1): -I.xz, (0, 1, 1): -I.yz}  # fmt: skip
        x, y, z = (c * self.link.mass for c in self.link.com)
        moments = {(0, 0, 0): self.link.mass, (1, 0, 0): x, (0, 1, 0): y, (0, 0, 1): z, **second}
        terms = sp.Poly(sp.expand(integrand), *point).terms()
        return sp.expand(sum((moments[powers] * factor for powers, factor in terms), sp.S.Zero))

    # --- numbers of the library ---

    @cached_property
    def numeric(self) -> Link:
        """The body in numbers."""
        com, inertia = (self.number(column_of(x)) for x in (self.link.com, self.link.inertia.entries()))
        return Link("body", float(self.number(self.link.mass)[0]), Vector(*com.tolist()), Symmetric(*inertia.tolist()))

    def numbers_of(self, *letters: str) -> list[float]:
        """The numbers of vectors, one after the other."""
        return [self.values[symbol] for letter in letters for symbol in self.vector(letter)]

    def wrench(self, link: Link) -> list[float]:
        """The wrench that the sample motion takes, (moment, force), by the algorithms' spatial inertia."""
        V, A = Twist.of(self.numbers_of("omega", "v")), Twist.of(self.numbers_of("omegadot", "vdot"))
        return list(link.spatial_inertia.rate_of_momentum(V, A).table())

    def inertia_about(self, point: Vector) -> list[list[float]]:
        """The inertia matrix about a point, by the generalized Steiner theorem of the algorithms."""
        moved = Transform(Rotation.identity(), point).inv * self.numeric.spatial_inertia
        return moved.inertia.table()

    # --- blocks ---

    def parameters(self, expressions: Iterable[Any]) -> list[Block]:
        """The table of the symbols in some expressions, with their numbers and units, three in each row."""
        used = set().union(*(sp.sympify(x).free_symbols for x in expressions))
        cells: list[tuple[object, ...]] = [
            (symbol, f"{value:.6g}", superscript_powers(self.units.get(symbol, "")))
            for symbol, value in self.values.items()
            if symbol in used
        ]
        cells += [("", "", "")] * (-len(cells) % 3)
        down = len(cells) // 3
        rows = tuple(tuple(x for k in range(3) for x in cells[k * down + i]) for i in range(down))
        return [Paragraph("What the symbols stand for:"), TableBlock(("symbol", "value", "unit") * 3, rows)]

    def body_equations(self) -> list[Block]:
        """Mass, center of mass and inertia."""
        link = self.link
        here = ("at the origin of its frame",) if self.is_at_center else (Formula("c"),)
        return [
            Paragraph((
                "The body has the mass ", Formula("m"), ", the centre of mass ", *here,
                " and the inertia ", Formula("I"), " about it, in the axes of its frame:",
            )),
            *([] if str(link.mass) == "m" else [Equation((Formula("m"), sp.sympify(link.mass)), "kg")]),
            *([] if self.is_at_center else [Equation((Formula("c"), column_of(link.com)), "m")]),
            Equation((Formula("I"), rows_of(link.inertia)), "kg m^2"),
        ]  # fmt: skip


def column_of(vector: Iterable[Any]) -> sp.ImmutableMatrix:
    """A vector of scalars as a column of SymPy."""
    return sp.ImmutableMatrix([_exact(x) for x in vector])


def rows_of(matrix: Any) -> sp.ImmutableMatrix:
    """A matrix of scalars as one of SymPy, with its entries expanded."""
    return sp.ImmutableMatrix(matrix.table()).applyfunc(lambda x: sp.expand(_exact(x)))


def _exact(x: Any) -> Any:
    return int(x) if isinstance(x, float) and x.is_integer() else x


def _over_symbols(link: Link, chosen: Mapping[str, float]) -> tuple[Link, dict[sp.Symbol, float], dict[sp.Symbol, str]]:
    """The body over symbols, and the numbers and units of these: names for numbers, or the symbols of the user."""
    scalars = (link.mass, *link.com, *link.inertia.entries())
    names = ["m", *(f"c_{axis}" for axis in AXES), *(f"I_{entry}" for entry in ENTRIES)]
    units = ["kg"] + ["m"] * 3 + ["kg m^2"] * 6
    own = sorted({s for x in scalars for s in sp.sympify(x).free_symbols}, key=lambda symbol: symbol.name)
    if own:
        clash = {symbol.name for symbol in own} & ({f"{v}_{axis}" for v in SAMPLE for axis in AXES} | ANGLES.keys())
        if clash:
            raise ShapeError(
                f"the body has the symbol {sorted(clash)[0]!r}, which the derivation uses for its sample motion; give "
                "the body other names, with body.subs({...})"
            )
        values = {symbol: chosen.get(symbol.name, 1.0 + 0.5 * k) for k, symbol in enumerate(own)}
        return Link(link.name, *_parts([_exact(x) for x in scalars])), values, {}
    symbols: list[Any] = []
    values, found = {}, {}
    for name, unit, x in zip(names, units, scalars, strict=True):
        symbol = sp.Symbol(name, real=True, positive=True if name == "m" or name in ("I_xx", "I_yy", "I_zz") else None)
        symbols.append(symbol if x else 0)
        if x:
            values[symbol], found[symbol] = chosen.get(name, float(x)), unit
    return Link(link.name, *_parts(symbols)), values, found


def _parts(scalars: list[Any]) -> tuple[Any, Vector, Symmetric]:
    return scalars[0], Vector(*scalars[1:4]), Symmetric(*scalars[4:])
