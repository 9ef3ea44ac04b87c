"""A rigid body: mass, center of mass and inertia, and what follows from them, in numbers or in symbols."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chainrule.arguments import together
from chainrule.calls import explains_methods
from chainrule.errors import ModelError, ShapeError, UnknownNameError, quoted
from chainrule.model import Link
from chainrule.model.geometry import Shape
from chainrule.robot.body_values import is_symbolic, plain, result, rotation_of, vectors_of
from chainrule.robot.parts import short, tuple_text
from chainrule.spatial import Inertia, Symmetric, Transform, Twist, Vector, Wrench
from chainrule.spatial.physical import objection, principal_axes
from chainrule.spatial.vector import steiner

if TYPE_CHECKING:
    from chainrule.symbolic.documents.document import Document

TWIST = "angular velocity, then velocity, or their rates"
WRENCH = "moment, then force"
PRODUCTS = {(0, 1): "xy", (0, 2): "xz", (1, 2): "yz"}


class PrincipalAxes(NamedTuple):
    """Principal moments of inertia about the center of mass, and the axes that they belong to."""

    moments: Any
    """(3,), in kg m^2."""
    R: Any
    """R_bp (3, 3): its columns are the principal axes in the body's frame, so that R^T I R = diag(moments)."""


@explains_methods
@dataclass(frozen=True, repr=False)
class RigidBody:
    """Mass, center of mass and inertia of a body in its frame, and the shapes that it is made of.

    Two bodies in the same frame are joined with `+`. Results are arrays of NumPy, or expressions and matrices of SymPy
    where the body or an argument has symbols. Twists V = (omega, v) are those of the body's frame, in its own axes. A
    is their rate, component by component, and wrenches are (moment, force) about its origin.

    >>> import sympy as sp
    >>> import chainrule as cr
    >>> m, w, h, q = sp.symbols("m w h q", positive=True)
    >>> plate = cr.rigid_body(m, shape="box", size=(w, h, 0))
    >>> plate.about((0, 0, q))[0, 0]
    h**2*m/12 + m*q**2
    """

    link: Link
    """The numbers, which are those of a link."""
    shapes: tuple[tuple[Shape, Transform], ...] = ()
    """Each with its pose in the frame."""

    @property
    def spatial_inertia(self) -> Inertia:
        """About the frame's origin: as an array, the matrix G (6, 6)."""
        return self.link.spatial_inertia

    @property
    def mass(self) -> Any:
        """Mass, in kg."""
        return self.link.mass if is_symbolic(self.link.mass) else float(self.link.mass)

    @property
    def com(self) -> Any:
        """Center of mass (3,), in m."""
        return result(self.link.com)

    @property
    def inertia(self) -> Any:
        """Inertia matrix (3, 3) about the center of mass, in kg m^2."""
        return result(self.link.inertia)

    # --- other points and axes ---

    def about(self, point: Any) -> Any:
        """Inertia matrix (3, 3) about a point q (3,) of the frame, in m, by Steiner's theorem, in kg m^2.

        I_q = I + m (d^T d 1 - d d^T), with d = q - c from the center of mass to the point, and the axes of the frame.

        >>> import chainrule as cr
        >>> cr.rigid_body(2.0, inertia=(0.1, 0.2, 0.3)).about((0.0, 0.0, 0.5)).tolist()
        [[0.6, 0.0, 0.0], [0.0, 0.7, 0.0], [0.0, 0.0, 0.3]]
        """
        d = Vector(*vectors_of(point, 3, "RigidBody.about: point", "x, y, z")) - self.link.com
        return result(self.link.inertia + steiner(d, d * self.link.mass))

    def rotated(self, R: Any) -> RigidBody:
        """The body turned by R (3, 3) about the frame's origin: I' = R I R^T, and c' = R c.

        In axes {c} that have the orientation R_bc in this frame, the body is rotated(R_bc.T): I_c = R_bc^T I_b R_bc.

        >>> import chainrule as cr
        >>> quarter = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
        >>> cr.rigid_body(1.0, inertia=(1.0, 2.0, 2.5)).rotated(quarter).inertia.diagonal().tolist()
        [2.0, 1.0, 2.5]
        """
        turn = rotation_of(R, "RigidBody.rotated: R")
        link = Link(self.link.name, self.link.mass, turn * self.link.com, self.link.inertia.rotate(turn))
        T = Transform(turn, Vector(0.0, 0.0, 0.0))
        return RigidBody(link, () if is_symbolic(turn) else tuple((shape, T * at) for shape, at in self.shapes))

    def principal(self) -> PrincipalAxes:
        """Principal moments of inertia about the center of mass, and R_bp, whose columns are the principal axes.

        Moments are in ascending order. In symbols, where nobody knows their order, they are in that of the axes they
        are nearest to, and at most one product of inertia may be there; more lead to roots of a cubic equation.

        >>> import chainrule as cr
        >>> cr.rigid_body(1.0, inertia=(2.0, 2.0, 3.0, 1.0, 0.0, 0.0)).principal().moments.round(9).tolist()
        [1.0, 3.0, 3.0]
        """
        I = self.link.inertia
        if is_symbolic(I):
            return _principal_in_symbols(I)
        moments, R = principal_axes(I)
        return PrincipalAxes(moments, np.asarray(R, dtype=float))

    # --- motion ---

    def wrench(self, V: Any, A: Any = (0.0,) * 6) -> Any:
        """Wrench F = G A - [ad_V]^T G V that the motion takes: (..., 6), in N m and N.

        About the center of mass, these are Newton's and Euler's equations: f = m (v_dot + omega x v) and
        m = I omega_dot + omega x I omega. Gravity is a wrench that acts on the body, and not in it.

        >>> import chainrule as cr
        >>> cr.rigid_body(2.0, inertia=(0.1, 0.2, 0.3)).wrench([0, 0, 3.0, 1.0, 0, 0]).tolist()
        [0.0, 0.0, 0.0, 0.0, 6.0, 0.0]
        """
        twist, rate = self._motions("wrench", V=V, A=A)
        return result(self.spatial_inertia.rate_of_momentum(twist, rate), expand=True)

    def acceleration(self, V: Any, F: Any = (0.0,) * 6) -> Any:
        """Rate A = G^-1 (F + [ad_V]^T G V) of the twist under a wrench F that acts on the body: (..., 6).

        >>> import chainrule as cr
        >>> cr.rigid_body(2.0, inertia=(0.1, 0.2, 0.3)).acceleration([0] * 6, [0.1, 0, 0, 0, 4.0, 0]).tolist()
        [1.0, 0.0, 0.0, 0.0, 2.0, 0.0]
        """
        I = self.link.inertia
        if not is_symbolic((self.link.mass, I)) and (self.mass <= 0 or min(np.linalg.eigvalsh(self.inertia)) <= 0):
            raise ModelError(
                "RigidBody.acceleration: a body without mass, or without inertia about some axis, has no acceleration "
                "that follows from a wrench; give it a mass (kg) and an inertia (kg m^2) that is positive definite"
            )
        twist, acting = self._motions("acceleration", V=V, F=F)
        return result(self.spatial_inertia.acceleration(twist, Wrench(acting.angular, acting.linear)))

    def momentum(self, V: Any) -> Any:
        """Momentum G V, (angular about the origin, linear): (..., 6), in kg m^2/s and kg m/s."""
        (twist,) = self._motions("momentum", V=V)
        return result(self.spatial_inertia * twist, expand=True)

    def kinetic_energy(self, V: Any) -> Any:
        """Kinetic energy V^T G V / 2: (...,), in J."""
        (twist,) = self._motions("kinetic_energy", V=V)
        energy = self.spatial_inertia.kinetic_energy(twist)
        return energy if is_symbolic(energy) else np.asarray(energy)[()]

    def velocity_of(self, point: Any, V: Any) -> Any:
        """Velocity v + omega x p of a point p (..., 3) of the body, in the axes of its frame: (..., 3), in m/s.

        >>> import chainrule as cr
        >>> cr.rigid_body(1.0).velocity_of((3, 0, 0), [0, 0, 2, 0, 0, 0]).tolist()
        [0.0, 6.0, 0.0]
        """
        p, twist = self._point_and_motions("velocity_of", point, V=V)
        return result(twist.velocity_of(p))

    def acceleration_of(self, point: Any, V: Any, A: Any = (0.0,) * 6) -> Any:
        """Acceleration of a point p (..., 3) of the body, in the axes of its frame: (..., 3), in m/s^2.

        v_dot + omega_dot x p + omega x (v + omega x p).

        >>> import chainrule as cr
        >>> cr.rigid_body(1.0).acceleration_of((3, 0, 0), [0, 0, 2, 0, 0, 0]).tolist()
        [-12.0, 0.0, 0.0]
        """
        p, twist, rate = self._point_and_motions("acceleration_of", point, V=V, A=A)
        return result(rate.velocity_of(p) + twist.angular.cross(twist.velocity_of(p)))

    # --- symbols and steps ---

    def subs(self, values: Mapping[Any, Any]) -> RigidBody:
        """The body with numbers or other expressions for symbols, each given by itself or by its name.

        >>> import sympy as sp
        >>> import chainrule as cr
        >>> round(float(cr.rigid_body(sp.Symbol("m"), shape="sphere", radius=0.1).subs({"m": 2.0}).inertia[0, 0]), 9)
        0.008
        """
        own = {symbol.name: symbol for symbol in self.symbols}
        chosen = {}
        for key, value in values.items():
            if str(key) not in own:
                raise UnknownNameError.of("symbol", str(key), own, "the rigid body")
            chosen[own[str(key)]] = value

        def put(x: Any) -> Any:
            return plain(x.subs(chosen)) if is_symbolic(x) else x

        link = self.link
        com, inertia = Vector(*map(put, link.com)), Symmetric(*map(put, link.inertia.entries()))
        new = Link(link.name, put(link.mass), com, inertia)
        refuse_unphysical(new, "RigidBody.subs")
        return RigidBody(new, self.shapes)

    @property
    def symbols(self) -> tuple[Any, ...]:
        """The symbols of SymPy that the body has, by name."""
        scalars = (self.link.mass, *self.link.com, *self.link.inertia.entries())
        found = set().union(*(x.free_symbols for x in scalars if is_symbolic(x)))
        return tuple(sorted(found, key=lambda symbol: symbol.name))

    def derivation(self, method: str = "newton-euler", *, numbers: Mapping[str, Any] | None = None) -> Document:
        """A law of rigid bodies derived step by step, with this body's numbers beside the symbols.

        Parameters
        ----------
        method
            "newton-euler", from the forces on the parts of mass dm to Newton's and Euler's equations; "steiner",
            the inertia about another point; "rotation", the inertia in other axes, I' = R I R^T; "transport", the
            transport theorem, up to Euler's equation.
        numbers
            The numbers of symbols by their names, such as {"omega_x": 1.0}; round ones by default. A body in symbols
            may have numbers for its own.

        >>> import chainrule as cr
        >>> print(cr.rigid_body(2.0, inertia=(0.1, 0.2, 0.3)).derivation("steiner").title)
        Steiner's theorem
        """
        from chainrule.symbolic.derivations.bodies.derivation import derivation

        return derivation(self.link, method, numbers)

    def __add__(self, other: RigidBody) -> RigidBody:
        if not isinstance(other, RigidBody):
            return NotImplemented
        return RigidBody(self.link.together_with(other.link), (*self.shapes, *other.shapes))

    def __repr__(self) -> str:
        link = self.link
        if self.symbols:
            com, moments = (", ".join(map(str, x)) for x in (self.com, self.inertia.diagonal()))
            return f"<RigidBody: {link.mass} kg at ({com}) m, inertia xx, yy, zz ({moments}) kg m^2>"
        moments = tuple_text(np.diag(self.inertia))
        return f"<RigidBody: {short(self.mass)} kg at {tuple_text(self.com)} m, inertia xx, yy, zz {moments} kg m^2>"

    def _motions(self, caller: str, **given: Any) -> list[Twist]:
        """Arguments of six numbers each as twists, whose batches are broadcast."""
        return self._spread(caller, {}, given)[1]

    def _point_and_motions(self, caller: str, point: Any, **given: Any) -> tuple[Any, ...]:
        points, motions = self._spread(caller, {"point": point}, given)
        return (*points, *motions)

    def _spread(
        self, caller: str, points: Mapping[str, Any], motions: Mapping[str, Any]
    ) -> tuple[list[Vector], list[Twist]]:
        lengths = dict.fromkeys(points, 3) | dict.fromkeys(motions, 6)
        given = {**points, **motions}
        words = {name: "x, y, z" if n == 3 else WRENCH if name == "F" else TWIST for name, n in lengths.items()}
        scalars = {
            name: vectors_of(value, lengths[name], f"RigidBody.{caller}: {name}", words[name])
            for name, value in given.items()
        }
        if not is_symbolic(list(scalars.values())):
            arrays = together({name: np.stack(x, axis=-1) for name, x in scalars.items()}, f"RigidBody.{caller}")
            scalars = {name: list(np.moveaxis(x, -1, 0)) for name, x in zip(scalars, arrays, strict=True)}
        return [Vector(*scalars[name]) for name in points], [Twist.of(scalars[name]) for name in motions]


def refuse_symbols(body: RigidBody, caller: str) -> None:
    """Refuse a body in symbols where numbers are needed."""
    if body.symbols:
        names = quoted(symbol.name for symbol in body.symbols)
        raise ShapeError(
            f"{caller}: the body has the symbols {names}, and numbers are needed; put them in with body.subs({{...}})"
        )


def refuse_unphysical(link: Link, caller: str) -> None:
    """Refuse numbers that no rigid body has; symbols may stand for anything."""
    wrong = None
    if not is_symbolic((link.mass, link.com, link.inertia)):
        wrong = objection(link.mass, link.com, link.inertia)
    elif not is_symbolic(link.mass) and link.mass < 0:
        wrong = f"has a negative mass, {link.mass:g} kg"
    if wrong:
        raise ModelError(f"{caller}: the body {wrong}; correct its mass (kg) or its inertia (kg m^2)")


def _principal_in_symbols(I: Symmetric) -> PrincipalAxes:
    """Moments and axes of an inertia that has one product at most: a turn about the third axis."""
    sp = import_module("sympy")
    rows = sp.Matrix(result(I))
    there = [pair for pair in PRODUCTS if sp.simplify(rows[pair]) != 0]
    if len(there) > 1:
        names = " and ".join("I_" + PRODUCTS[pair] for pair in there)
        raise ShapeError(
            f"RigidBody.principal: {names} are not zero, so that the principal moments are roots of a cubic equation "
            "in symbols; put numbers in with body.subs({...}), or turn the body with body.rotated(R) first"
        )
    moments, R = [rows[k, k] for k in range(3)], sp.eye(3)
    for i, j in there:
        mean, half, product = (rows[i, i] + rows[j, j]) / 2, (rows[i, i] - rows[j, j]) / 2, rows[i, j]
        radius = sp.sqrt(half**2 + product**2)
        moments[i], moments[j] = mean + radius, mean - radius
        angle = sp.atan2(2 * product, rows[i, i] - rows[j, j]) / 2
        R[i, i] = R[j, j] = sp.cos(angle)
        R[i, j], R[j, i] = -sp.sin(angle), sp.sin(angle)
    return PrincipalAxes(sp.ImmutableMatrix(moments), sp.ImmutableMatrix(R))
