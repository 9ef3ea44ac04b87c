"""The Robot: a model and the functions of its state, batched over leading dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from chainrule.algorithms.matrix_form import matrix_form
from chainrule.algorithms.terms import term_names
from chainrule.algorithms.vector_form import UNITS
from chainrule.arguments import Array, batch_shape, names, rows_of
from chainrule.core.mechanism import angle_order, jacobian_frame
from chainrule.core.results import Limits, MatrixForm, NewtonEulerTable
from chainrule.errors import ModelError, ShapeError
from chainrule.functions import reference
from chainrule.kinematics.pose_vectors import PoseVectors
from chainrule.kinematics.workspace import Reaching
from chainrule.model import Dof, Model, edits
from chainrule.robot.building import Construction
from chainrule.robot.drawing import Drawing
from chainrule.robot.edits import Editing
from chainrule.robot.positioning import Positioning
from chainrule.robot.writing import Writing

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from chainrule.control.laws.controller import Controller
    from chainrule.simulation.request import Impacts, Stops
    from chainrule.simulation.sources import Samples
    from chainrule.simulation.trajectory import Trajectory

    Torque: TypeAlias = ArrayLike | Samples | Controller | Callable[[Any, Any, Any], Any] | None


class Robot(Construction, Editing, Writing, Reaching, PoseVectors, Positioning, Drawing):
    """A robot: an immutable model and the functions of its state.

    States are arrays whose last dimension is the joint's, `q` (..., nq) and `qd`, `qdd`, `tau` (..., nv); leading
    dimensions are a batch of the user's, and broadcast. SI units throughout. Spatial vectors have their angular
    part first.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.gravity_torque([0.0, 0.0]).round(3).tolist()
    [29.43, 9.81]
    """

    def __init__(self, model: Model) -> None:
        if not isinstance(model, Model):
            raise ModelError(f"a Robot is made of a Model, not of {model!r:.60}; cr.load takes names and paths")
        self.model = model

    # --- what it is ---

    @property
    def name(self) -> str:
        """What the robot is called."""
        return self.model.name

    @property
    def nq(self) -> int:
        """The number of coordinates in q."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """The number of degrees of freedom."""
        return self.model.nv

    @property
    def n(self) -> int:
        """The number of degrees of freedom, nv."""
        return self.model.nv

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Joints with coordinates of their own, in the order of those in q; neither fixed nor mimic ones."""
        return tuple(joint.name for joint in self.model.moving)

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        """All links, the base first."""
        return tuple(link.name for link in self.model.links)

    @property
    def end_effector(self) -> str:
        """The link or frame that is meant where none is named."""
        return self.model.tip

    @property
    def gravity(self) -> Array:
        """The gravity vector in base axes, in m/s^2."""
        return np.array(list(self.model.gravity), dtype=float)

    @cached_property
    def mass(self) -> float:
        """Mass of all links but the base, in kg."""
        return float(sum(link.mass for link in self._merged.links[1:]))

    @cached_property
    def limits(self) -> Limits:
        """Limits on position, speed and effort, an array of (n,) each."""
        dofs = [dof for joint in self.model.moving for dof in joint.dofs]
        return Limits(*(_read_only([getattr(dof, key) for dof in dofs]) for key in Limits._fields))

    def __repr__(self) -> str:
        return f"<Robot {self.name!r}: {self.n} degrees of freedom, {len(self.link_names)} links>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Robot) and self.model == other.model

    def __hash__(self) -> int:
        return hash(self.name)

    # --- configurations ---

    def neutral(self) -> Array:
        """The configuration of all zeros, and of unit quaternions."""
        return np.array([x for joint in self.model.moving for x in joint.kind.neutral()], dtype=float)

    def random_state(self, rng: np.random.Generator | None = None, shape: int | Sequence[int] = ()) -> Array:
        """Random configurations q, of the given batch shape: uniform within the limits.

        Where there is no limit, angles are within +-pi and lengths within +-1 m; orientations are uniform. Closed
        loops are closed from there.
        """
        rng = np.random.default_rng() if rng is None else rng
        if not isinstance(rng, np.random.Generator):
            raise ShapeError(f"rng must be a NumPy random generator, such as np.random.default_rng(0), got {rng!r:.60}")
        batch = batch_shape(shape)
        return self._random_closed(rng, batch) if self.model.constraints else self._random_open(rng, batch)

    def _random_open(self, rng: np.random.Generator, batch: tuple[int, ...]) -> Array:
        """Random configurations of the tree."""
        parts = []
        for joint in self.model.moving:
            if joint.kind.nq != joint.kind.nv:
                quaternion = rng.normal(size=(*batch, 4))
                quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
                position = rng.uniform(-1, 1, (*batch, joint.kind.nq - 4))
                parts.append(np.concatenate([position, quaternion], axis=-1))
            else:
                ranges = [_range(dof, unit) for dof, unit in zip(joint.dofs, joint.kind.units, strict=True)]
                low, high = np.array(ranges).T
                parts.append(rng.uniform(low, high, (*batch, joint.kind.nv)))
        return np.concatenate([np.zeros((*batch, 0)), *parts], axis=-1)

    def integrate(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The configuration reached from q by the velocity v in unit time, on the configuration manifold."""
        return self._evaluate("integrate", {"q": q, "v": v})

    def coordinate_rates(self, q: ArrayLike, v: ArrayLike) -> Array:
        """dq/dt at the velocity v: v itself, but for joints with quaternions: (..., nq)."""
        return self._evaluate("coordinate_rates", {"q": q, "v": v})

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """The velocity v that leads from q0 to q1 in unit time: integrate(q0, difference(q0, q1)) is q1."""
        return self._evaluate("difference", {"q0": q0, "q1": q1})

    # --- kinematics ---

    def pose(self, q: ArrayLike, link: str | None = None) -> Array:
        """Pose of a link or frame in the base frame, the end-effector's unless one is named: (..., 4, 4).

        The product of exponentials: T(q) = e^[S1]q1 .. e^[Sn]qn M.

        >>> import chainrule as cr
        >>> cr.load("planar_2r").pose([0.0, 0.0])[:3, 3].tolist()
        [2.0, 0.0, 0.0]
        """
        return self._evaluate("pose", {"q": q}, link=self._name(link))

    def poses(self, q: ArrayLike) -> Array:
        """Poses of all links in the base frame, in the order of link_names: (..., links, 4, 4)."""
        return self._evaluate("poses", {"q": q})

    def twists(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Twists (omega, v) of all links, each in its own frame: (..., links, 6), rad/s and m/s."""
        return self._evaluate("twists", {"q": q, "qd": qd})

    def accelerations(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Rates of those twists: (..., links, 6), rad/s^2 and m/s^2; gravity plays no part."""
        return self._evaluate("accelerations", {"q": q, "qd": qd, "qdd": qdd})

    def jacobian(self, q: ArrayLike, link: str | None = None, frame: str = "space") -> Array:
        """J with J qd the twist (omega, v) of a link or frame: (..., 6, n).

        frame: "space", the twist at the base's origin in base axes; "body", in the link's own frame; "world", the
        angular velocity and the velocity of the frame's origin, in base axes.
        """
        return self._evaluate("jacobian", {"q": q}, link=self._name(link), frame=jacobian_frame(frame))

    def jacobian_derivative(self, q: ArrayLike, qd: ArrayLike, link: str | None = None, frame: str = "space") -> Array:
        """dJ/dt along qd: (..., 6, n). The acceleration of the link is J qdd + dJ/dt qd."""
        return self._evaluate(
            "jacobian_derivative", {"q": q, "qd": qd}, link=self._name(link), frame=jacobian_frame(frame)
        )

    def analytic_jacobian(self, q: ArrayLike, link: str | None = None, *, order: str = "rpy") -> Array:
        """Rates of the pose vector (x, y, z, and three angles) for each qd: (..., 6, n).

        Linear rows first, as that vector is written. order: of the angles, as of pose_vector; roll, pitch and yaw about
        the fixed x, y and z axes unless another is named. Where angles_are_singular, at a pitch of +-pi/2, rates of the
        angles grow without bound.
        """
        return self._evaluate("analytic_jacobian", {"q": q}, link=self._name(link), order=angle_order(order))

    # --- dynamics ---

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        tip_wrench: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
    ) -> Array:
        """Torques that produce the accelerations qdd: tau = M qdd + h + J^T F_tip, (..., n).

        The recursive Newton-Euler algorithm, with rotors, springs and friction. tip_wrench (..., 6) is what the
        end-effector applies to its surroundings, in its own frame; wrenches[link] what the world applies to a link
        or frame, in that frame. Both are (moment, force), in N m and N. With closed loops, those of the actuated
        joints, as in loop_torques.
        """
        if self.model.constraints:
            return self.loop_torques(q, qd, qdd, None, tip_wrench, wrenches).tau
        return self._loaded("inverse_dynamics", {"q": q, "qd": qd, "qdd": qdd}, tip_wrench, wrenches)

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        tip_wrench: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
    ) -> Array:
        """Accelerations that the torques tau produce: qdd = M^-1 (tau - h - J^T F_tip), (..., n).

        The articulated-body algorithm; the inverse of inverse_dynamics, with the same wrenches. With closed loops,
        M qdd + h = tau + G^T lambda and G qdd + gamma = 0 are solved together.
        """
        return self._loaded("forward_dynamics", {"q": q, "qd": qd, "tau": tau}, tip_wrench, wrenches)

    def simulate(
        self,
        q0: ArrayLike,
        qd0: ArrayLike | None = None,
        duration: float = 1.0,
        torque: Torque = None,
        method: str = "rk4",
        dt: float = 1e-3,
        *,
        tip_wrench: Torque = None,
        wrenches: Mapping[str, Torque] | None = None,
        record_every: int = 1,
        stops: Stops | Impacts | None = None,
        torque_limits: bool = True,
        limits: bool = True,
        events: Any = None,
        stabilisation: str = "projection",
        progress: bool | None = None,
        diverged: str = "raise",
        rtol: float = 1e-8,
        atol: float = 1e-10,
    ) -> Trajectory:
        """The motion from a start (q0, qd0) during so many seconds, for every row of a batch of starts.

        torque: None, numbers (..., n), cr.Samples, a function of (t, q, qd), the same marked cr.traceable so that it
        is compiled, or a controller. tip_wrench and wrenches likewise, six numbers each, meant as in
        inverse_dynamics. Without a function that only Python can call, all of it runs as machine code.

        method: "euler", "semi_implicit_euler", "rk4" or "implicit_midpoint" with steps of dt seconds, recorded every
        record_every steps; "dop853", "radau" or "lsoda" with steps of their own choice to the tolerances rtol and
        atol, recorded every dt times record_every seconds.

        Dry friction holds joints at rest. torque_limits: torques saturate at the joints' effort limits. stops: what
        happens at the position limits, cr.Stops(stiffness, damping) or cr.Impacts(restitution); nothing if None.
        limits: refuse a start outside of them. events: cr.Event, at which the simulation stops or which it notes.
        stabilisation: how loops are kept closed, "projection", "baumgarte" or "none". progress: show a bar; None for
        on a terminal only. diverged: "raise" an error, or "keep" the other rows of a batch going.
        """
        from chainrule.simulation import simulate

        return simulate(
            self, q0, qd0, duration, torque, tip_wrench, wrenches, method, dt, record_every, stops, torque_limits,
            limits, events, stabilisation, progress, diverged, rtol, atol,
        )  # fmt: skip

    def mass_matrix(self, q: ArrayLike) -> Array:
        """M(q), symmetric and positive definite, rotors included: (..., n, n)."""
        return self._evaluate("mass_matrix", {"q": q})

    def apply_inverse_mass(self, q: ArrayLike, x: ArrayLike) -> Array:
        """M(q)^-1 x, without forming M: (..., n)."""
        return self._evaluate("apply_inverse_mass", {"q": q, "x": x})

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """C(q, qd) with dM/dt - 2 C skew-symmetric, and C qd the centrifugal and Coriolis torques: (..., n, n)."""
        return self._evaluate("coriolis_matrix", {"q": q, "qd": qd})

    def gravity_torque(self, q: ArrayLike) -> Array:
        """g(q): torques that hold the robot still against gravity: (..., n)."""
        return self._evaluate("gravity_torque", {"q": q})

    def friction_torque(self, qd: ArrayLike) -> Array:
        """Torques that overcome friction; Coulomb friction counts as zero at rest: (..., n)."""
        return self._evaluate("friction_torque", {"qd": qd})

    def spring_torque(self, q: ArrayLike) -> Array:
        """Torques that hold the joint springs: (..., n)."""
        return self._evaluate("spring_torque", {"q": q})

    def bias(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tip_wrench: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
    ) -> Array:
        """h(q, qd): everything but M qdd, friction and springs included: (..., n)."""
        return self._loaded("bias", {"q": q, "qd": qd}, tip_wrench, wrenches)

    def torque_terms(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> dict[str, Array]:
        """The torque by its causes: inertial, centrifugal, coriolis, gravity, friction, spring, and their total.

        Centrifugal terms go with squares of a joint's own speed, Coriolis terms with products of two speeds.
        """
        values = self._evaluate("torque_terms", {"q": q, "qd": qd, "qdd": qdd})
        return {term: values[..., i, :] for i, term in enumerate(term_names(self.model))}

    def joint_wrenches(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        tip_wrench: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
        *,
        joints: Sequence[str] | None = None,
    ) -> Array:
        """The whole wrench (moment, force) that each joint's structure carries, not only its motor: (..., joints, 6).

        From parent to child, in the child link's frame; for the joints of joint_names, or for those that are named,
        fixed and mimic ones too.
        """
        chosen = self.joint_names if joints is None else names(joints, "joints")
        known = {joint.name for joint in self.model.joints}
        for name in chosen:
            if name not in known:
                edits.find_joint(self.model, name)
        state = {"q": q, "qd": qd, "qdd": qdd}
        return self._loaded("joint_wrenches", state, tip_wrench, wrenches, joints=chosen)

    def static_torque(self, q: ArrayLike, tip_wrench: ArrayLike, link: str | None = None) -> Array:
        """J^T F: torques that let a link or frame apply a wrench to its surroundings at rest, without gravity.

        The wrench (moment, force) is in that frame's own axes.
        """
        name = self._name(link)
        wrench = rows_of(tip_wrench, 6, "static_torque: tip_wrench", "moment and force")
        return self._evaluate("static_torque", {"q": q, "tip_wrench": wrench}, loads=(name,))

    # --- energy and momentum ---

    def kinetic_energy(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """qd^T M qd / 2, in J: (...)."""
        return self._evaluate("kinetic_energy", {"q": q, "qd": qd})

    def potential_energy(self, q: ArrayLike) -> Array:
        """Of gravity on every link but the base, zero at the base's origin, and of the springs, in J: (...)."""
        return self._evaluate("potential_energy", {"q": q})

    def momentum(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Angular momentum about the base's origin, and linear momentum, in base axes: (..., 6)."""
        return self._evaluate("momentum", {"q": q, "qd": qd})

    def centroidal_momentum(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Angular momentum about the centre of mass, and linear momentum, in base axes: (..., 6)."""
        return self._evaluate("centroidal_momentum", {"q": q, "qd": qd})

    def centroidal_momentum_matrix(self, q: ArrayLike) -> Array:
        """A with A qd the centroidal momentum: (..., 6, n)."""
        return self._evaluate("centroidal_momentum_matrix", {"q": q})

    def center_of_mass(self, q: ArrayLike) -> Array:
        """Of all moving links, in the base frame, in m: (..., 3)."""
        return self._evaluate("center_of_mass", {"q": q})

    def center_of_mass_jacobian(self, q: ArrayLike) -> Array:
        """J with J qd the velocity of the centre of mass, in base axes: (..., 3, n)."""
        return self._evaluate("center_of_mass_jacobian", {"q": q})

    # --- the forms the textbooks print ---

    def newton_euler_table(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> NewtonEulerTable:
        """The vector form (Craig): omega, omega-dot, v-dot, v-dot of the mass centre, F, N, f, n of each link."""
        state = {"q": q, "qd": qd, "qdd": qdd}
        values = self._evaluate("newton_euler", state)
        columns = {column: values[..., i, :] for i, column in enumerate(UNITS)}
        return NewtonEulerTable(self._moving_links, UNITS, **columns, tau=self.inverse_dynamics(q, qd, qdd))

    def matrix_form(self, q: ArrayLike, qd: ArrayLike) -> MatrixForm:
        """The closed matrix form: S, A, L = (1 - A)^-1, J = L S, the block inertia, M = J^T I J and C.

        M includes the rotors; tau = M qdd + C qd + g, to which friction and springs are added.
        """
        arrays = self._arguments("matrix_form", {"q": q, "qd": qd})
        self._require_masses("matrix_form")
        batch = arrays[0].shape[:-1]
        with np.errstate(all="ignore"):
            form = matrix_form(self._merged, *(reference.scalars_of(a) for a in arrays))
        matrices = {field.name: getattr(form, field.name) for field in fields(form)}
        widths = {"S": self.n, "J": self.n}
        stacks = {
            name: reference.stacked(m, batch, (len(m), widths.get(name, len(m))) if name != "g" else (self.n,))
            for name, m in matrices.items()
        }
        return MatrixForm(self._moving_links, **stacks)

    @cached_property
    def _moving_links(self) -> tuple[str, ...]:
        return tuple(link.name for link in self._merged.links[1:])


def _read_only(values: Sequence[float]) -> Array:
    array = np.array(values, dtype=float)
    array.setflags(write=False)
    return array


def _range(dof: Dof, unit: str) -> tuple[float, float]:
    wide = np.pi if unit == "rad" else 1.0
    if np.isfinite(dof.lower) and np.isfinite(dof.upper):
        return dof.lower, dof.upper
    if np.isfinite(dof.lower):
        return dof.lower, max(dof.lower, -wide) + 2 * wide
    if np.isfinite(dof.upper):
        return min(dof.upper, wide) - 2 * wide, dof.upper
    return -wide, wide
