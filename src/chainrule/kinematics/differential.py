"""Velocities and singularities: what joint velocities make of a frame's motion, and how well."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, number, rows_of, together
from chainrule.core.mechanism import jacobian_frame
from chainrule.errors import ModelError, ShapeError, UnknownNameError, shown
from chainrule.kinematics.ellipsoids import KINDS, Ellipsoid
from chainrule.kinematics.singularities import Singularity, dependent_columns, lost_directions
from chainrule.kinematics.tasks import (
    PARTS,
    RANK,
    Truths,
    decomposed,
    padded,
    pseudo_inverse,
    rank_of,
    rows_of_part,
)
from chainrule.loops.motion import Loops

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from chainrule.core.results import Limits

SAMPLES = 6
"""Random configurations in which a Jacobian's rank is looked at; it is less than full in hardly any."""


class Differential(Loops):
    """Differential kinematics. Closed loops count: only motions that keep them closed are taken into account.

    `part` of a frame's motion: "all", six rows (omega, v); "translational" or "rotational", three. Where it is left
    out, the robot's own task is meant: the translation, if that tells all joint velocities of a robot with fewer than
    six degrees of freedom, as for a planar 2R arm; else all. Of "all", numbers depend on the unit of length.
    """

    if TYPE_CHECKING:

        @cached_property
        def limits(self) -> Limits: ...  # noqa: D102

        def random_state(self, rng: np.random.Generator | None = None, shape: Any = ()) -> Array: ...  # noqa: D102

    # --- velocities ---

    def velocity(self, q: ArrayLike, qd: ArrayLike, link: str | None = None, frame: str = "world") -> Array:
        """The twist (omega, v) = J qd of a link or frame: (..., 6), rad/s and m/s. frame: as of the Jacobian.

        >>> import chainrule as cr
        >>> cr.load("planar_2r").velocity([0.0, 0.0], [1.0, 0.0]).tolist()
        [0.0, 0.0, 1.0, 0.0, 2.0, 0.0]
        """
        q, qd = self._arguments("velocity", {"q": q, "qd": qd})
        return (self._rows(q, link, "all", frame) @ qd[..., None])[..., 0]

    def resolved_rate(
        self,
        q: ArrayLike,
        twist: ArrayLike,
        link: str | None = None,
        frame: str = "world",
        *,
        part: str = "all",
        damping: float = 0.0,
        null_velocity: ArrayLike | None = None,
    ) -> Array:
        """The joint velocities that come nearest to a twist: qd = J^T (J J^T + damping^2)^-1 V + N z, (..., n).

        Without damping, the smallest qd among the best ones, which grows without bound towards singularities and is
        finite again in them; with damping (in units of J), |J qd - V|^2 + damping^2 |qd|^2 is least, and |qd| is at
        most |V| / (2 damping). null_velocity z: what to do beside, N being the null space's projector.
        part="translational" or "rotational": V has three numbers, and the rest of the motion is free.
        """
        (q,) = self._arguments("resolved_rate", {"q": q})
        rows = rows_of_part(part)
        V = rows_of(twist, len(rows), "resolved_rate: twist", "angular and linear velocity" if part == "all" else part)
        z = np.zeros(self.model.nv) if null_velocity is None else null_velocity
        z = rows_of(z, self.model.nv, "resolved_rate: null_velocity", self._coordinates)
        together({"q": q, "twist": V, "null_velocity": z}, "resolved_rate")  # refuses batches that do not fit
        strength = number(damping, "resolved_rate: damping")
        if strength < 0:
            raise ShapeError(f"resolved_rate: damping must not be negative, got {damping!r}")
        J = self._moving(q, link, part, frame)
        qd = (pseudo_inverse(J, strength) @ V[..., None])[..., 0]
        if null_velocity is None:
            return qd
        return qd + (self._null(q, J) @ z[..., None])[..., 0]

    def null_space(self, q: ArrayLike, link: str | None = None, *, part: str = "all") -> Array:
        """The projector N = 1 - J^+ J onto joint velocities that do not move the frame: (..., n, n)."""
        (q,) = self._arguments("null_space", {"q": q})
        return self._null(q, self._moving(q, link, part))

    def _null(self, q: Array, J: Array) -> Array:
        return self._allowed(q) - pseudo_inverse(J) @ J

    def _rows(self, q: Array, link: str | None, part: str, frame: str = "world") -> Array:
        J = self._evaluate("jacobian", {"q": q}, link=self._name(link), frame=jacobian_frame(frame))
        return J if part == "all" else J[..., rows_of_part(part), :]

    def _moving(self, q: Array, link: str | None, part: str, frame: str = "world") -> Array:
        """Rows of J, for velocities that keep loops closed."""
        J = self._rows(q, link, part, frame)
        return J @ self._allowed(q) if self.model.constraints else J

    def _allowed(self, q: Array) -> Array:
        """The projector onto joint velocities that keep loops closed."""
        identity = np.eye(self.model.nv)
        if not self.model.constraints:
            return identity
        G = self.constraint_jacobian(q)
        return identity - pseudo_inverse(G) @ G

    # --- the task, and its rank ---

    def task_rank(self, link: str | None = None, *, part: str | None = None) -> int:
        """In how many independent directions a frame can move, in nearly every configuration."""
        name = self._name(link)
        return self._facts(name, self._part(part, name))[0]

    def _part(self, part: str | None, link: str) -> str:
        if part is not None:
            rows_of_part(part)
            return part
        whole = self._facts(link, "all")[0]
        return "translational" if self._facts(link, "translational")[0] == whole < 6 else "all"

    def _facts(self, link: str, part: str) -> tuple[int, tuple[int, ...]]:
        """The rank of a part nearly everywhere, and its rows that are not zero everywhere."""
        if (link, part) not in self._ranks:
            q = self.random_state(np.random.default_rng(0), (SAMPLES,))
            J = self._moving(q, link, part)
            size = np.abs(J).max(axis=(0, 2), initial=0.0)
            rows = tuple(row for row, x in zip(PARTS[part], size, strict=True) if x > RANK * size.max())
            rank = int(rank_of(J).max()) if self.model.nv else 0
            if part == "all" and not rank:
                raise ModelError(f"no joint of robot {self.model.name!r} moves {link!r}; name another link")
            self._ranks[link, part] = rank, rows
        return self._ranks[link, part]

    @cached_property
    def _ranks(self) -> dict[tuple[str, str], tuple[int, tuple[int, ...]]]:
        return {}

    def _defaults(self, name: str, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        if name != "manipulability":
            return super()._defaults(name, given)
        link = self._name((given or {}).get("link"))
        options = self._volume_options(link, self._part(None, link))
        if not options:
            raise ModelError(
                f"manipulability of {link!r} of robot {self.model.name!r} is spanned neither by the rows nor by the "
                "columns of its Jacobian, so it is no single kernel; robot.manipulability(q) computes it"
            )
        return options

    # --- singularities ---

    def singular_values(self, q: ArrayLike, link: str | None = None, *, part: str | None = None) -> Array:
        """Of the Jacobian, the largest first: (..., k), k the smaller number of its rows and columns."""
        (q,) = self._arguments("singular_values", {"q": q})
        return decomposed(self._moving(q, link, self._part(part, self._name(link))))[1]

    def condition_number(self, q: ArrayLike, link: str | None = None, *, part: str | None = None) -> Array:
        """The largest singular value over the smallest of those the task has: (...); infinite where it is singular."""
        s = self.singular_values(q, link, part=part)
        with np.errstate(all="ignore"):
            return np.abs(s[..., 0] / s[..., self.task_rank(link, part=part) - 1])  # LAPACK has zeros of either sign

    def is_singular(
        self, q: ArrayLike, link: str | None = None, *, part: str | None = None, tolerance: float = 1e-6
    ) -> Truths:
        """Whether the frame has lost a direction of motion that it has elsewhere: (...), booleans.

        It has where the condition number exceeds 1/tolerance.

        >>> import chainrule as cr
        >>> cr.load("planar_2r").is_singular([[0.3, 0.0], [0.3, 1.0], [0.3, 3.141592653589793]]).tolist()
        [True, False, True]
        """
        s = self.singular_values(q, link, part=part)
        return np.asarray(s[..., self.task_rank(link, part=part) - 1] <= _tolerance(tolerance) * s[..., 0])

    def singularity(
        self, q: ArrayLike, link: str | None = None, *, part: str | None = None, tolerance: float = 1e-6
    ) -> Singularity:
        """What one configuration has lost: the twists, and the joints that have lined up.

        >>> import chainrule as cr
        >>> print(cr.load("planar_2r").singularity([0.0, 0.0]))
        singular: rank 1 instead of 2
        lost twist (omega, v): (0, 0, 0, 1, 0, 0)
        joints that have lined up: joint1, joint2
        no motion at qd = (-0.5, 1)
        """
        self._refuse_loops("singularity")
        (q,) = self._arguments("singularity", {"q": q})
        if q.ndim != 1 or not np.isfinite(q).all():
            raise ShapeError(f"singularity takes one configuration of finite numbers, got shape {q.shape}")
        name, small = self._name(link), _tolerance(tolerance)
        chosen = self._part(part, name)
        full, rows = self._facts(name, chosen)[0], list(PARTS[chosen])
        J = self._moving(q, link, chosen)
        s = decomposed(J)[1]
        rank = int((s > small * s[0]).sum())
        lost, motion = np.zeros((0, 6)), np.zeros(self.model.nv)
        joints: tuple[str, ...] = ()
        if rank < full:
            v = np.random.default_rng(0).normal(size=self.model.nv)
            rate = self._evaluate("jacobian_derivative", {"q": q, "qd": v}, link=name, frame="world")[rows]
            lost = np.zeros((full - rank, 6))
            lost[:, rows] = lost_directions(J, rate, rank, full - rank)
            columns, motion = dependent_columns(J, small)
            joints = tuple(self._velocity_names[i] for i in columns)
        return Singularity(rank < full, chosen, rank, full, s, lost, joints, motion)

    def _refuse_loops(self, function: str) -> None:
        if self.model.constraints:
            raise ModelError(
                f"{function}: robot {self.model.name!r} has closed loops ({shown(self.constraint_names)}); this is for "
                "trees, so open them with robot.without_constraint(...)"
            )

    # --- manipulability ---

    def manipulability(self, q: ArrayLike, link: str | None = None, *, part: str | None = None) -> Array:
        """Yoshikawa's w = sqrt(det(J J^T)): (...). The volume of the velocity ellipsoid, zero where it is singular.

        In general the product of as many singular values as the task has directions (task_rank): sqrt(det(J^T J)) for
        a robot with fewer joints than rows, and without the rows of motions that a planar robot never makes.

        >>> import chainrule as cr
        >>> cr.load("planar_2r").manipulability([0.3, 1.0]).round(4) == np.sin(1.0).round(4)
        np.True_
        """
        name = self._name(link)
        chosen = self._part(part, name)
        options = self._volume_options(name, chosen)
        if options:
            return self._evaluate("manipulability", {"q": q}, **options)
        s = self.singular_values(q, name, part=chosen)
        return np.asarray(s[..., : self._facts(name, chosen)[0]].prod(axis=-1))

    def _volume_options(self, link: str, part: str) -> dict[str, Any]:
        """How w is a volume spanned by all rows of the task, or by all columns; empty if by neither."""
        rank, rows = self._facts(link, part)
        if self.model.constraints or rank not in (len(rows), self.model.nv):
            return {}
        return {"link": link, "axes": rows, "columns": rank != len(rows)}

    def manipulability_gradient(self, q: ArrayLike, link: str | None = None, *, part: str | None = None) -> Array:
        """The change of w with each velocity coordinate: (..., n), exact.

        dw = sum_i (prod_{j != i} s_j) u_i^T dJ v_i, with the singular vectors of J and its derivative along each
        joint. Where w is zero it has a corner, and a minimum: what comes is 0 for the singular value that vanishes.
        """
        self._refuse_loops("manipulability_gradient")
        (q,) = self._arguments("manipulability_gradient", {"q": q})
        name = self._name(link)
        chosen = self._part(part, name)
        rank = self._facts(name, chosen)[0]
        unit = np.eye(self.model.nv)
        state = {"q": q[..., None, :], "qd": unit}
        dJ = self._evaluate("jacobian_derivative", state, link=name, frame="world")[..., rows_of_part(chosen), :]
        U, s, Vt = decomposed(self._moving(q, link, chosen))
        ds = np.einsum("...mi,...kmn,...in->...ki", U[..., :rank], dJ, Vt[..., :rank, :])
        s = s[..., :rank]
        others = np.stack([np.delete(s, i, axis=-1).prod(axis=-1) for i in range(rank)], axis=-1)
        others = np.where(s <= 1e-14 * s[..., :1], 0.0, others)
        return np.einsum("...i,...ki->...k", others, ds)

    def manipulability_ellipsoid(
        self,
        q: ArrayLike,
        kind: str = "velocity",
        part: str = "translational",
        link: str | None = None,
        *,
        limits: bool = False,
    ) -> Ellipsoid:
        """What unit joint vectors make of a frame's motion: principal axes, in base axes, and lengths.

        kind "velocity": {J qd}, lengths s; "force": {F with |J^T F| = 1}, lengths 1/s along the same axes, infinite
        where the structure carries; "acceleration": {J M^-1 tau}, from rest and gravity aside. With limits, joint
        velocities or torques are counted in units of their limits. part="all" mixes units: it has six axes.
        """
        (q,) = self._arguments("manipulability_ellipsoid", {"q": q})
        if kind not in KINDS:
            raise UnknownNameError.of("kind of ellipsoid", kind, KINDS, "chainrule")
        J = self._moving(q, link, part)
        if kind == "acceleration":
            J = J @ self._mobility_matrix(q)
        if limits:
            most = self._finite_limits("velocity" if kind == "velocity" else "effort")
            J = J / most if kind == "force" else J * most
        U, s, _ = decomposed(J)
        lengths = padded(s, len(PARTS[part]))
        if kind == "force":
            with np.errstate(all="ignore"):
                lengths = np.where(lengths <= RANK * lengths[..., :1], np.inf, 1.0 / lengths)
        return Ellipsoid(kind, part, U, lengths)

    def dynamic_manipulability(self, q: ArrayLike, link: str | None = None, *, part: str | None = None) -> Array:
        """The volume of the acceleration ellipsoid, sqrt(det(J M^-2 J^T)): (...); |det J / det M| if J is square."""
        (q,) = self._arguments("dynamic_manipulability", {"q": q})
        name = self._name(link)
        chosen = self._part(part, name)
        s = decomposed(self._moving(q, link, chosen) @ self._mobility_matrix(q))[1]
        return np.asarray(s[..., : self._facts(name, chosen)[0]].prod(axis=-1))

    def _mobility_matrix(self, q: Array) -> Array:
        """M^-1, with closed loops N (N^T M N)^-1 N^T: joint accelerations for torques, from rest and gravity aside."""
        M = self._evaluate("mass_matrix", {"q": q})
        self._require_masses("apply_inverse_mass")
        if not self.model.constraints:
            return np.asarray(np.linalg.inv(M))
        P = self._allowed(q)
        return pseudo_inverse(P @ M @ P)

    def _finite_limits(self, which: str) -> Array:
        most: Array = getattr(self.limits, which)
        without = [name for name, x in zip(self._velocity_names, most, strict=True) if not 0 < x < np.inf]
        if without:
            raise ModelError(
                f"robot {self.model.name!r} has no {which} limit on {shown(without)}; give them with "
                f"robot.with_joint_properties({which}=...)"
            )
        return most


def _tolerance(value: Any) -> float:
    tolerance = number(value, "tolerance")
    if not 0 <= tolerance < 1:
        raise ShapeError(f"tolerance must be at least 0 and less than 1, got {value!r}")
    return tolerance
