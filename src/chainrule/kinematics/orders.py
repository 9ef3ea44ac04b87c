"""States in the order and in the conventions of others: Pinocchio, MuJoCo, Drake, or a list of names.

The numbers of a joint with one coordinate differ in their place alone. The free joint differs in more:

| | q | velocity |
| --- | --- | --- |
| here | position, quaternion (x, y, z, w) | angular, linear, both in the body's axes |
| Pinocchio | position, quaternion (x, y, z, w) | linear, angular, both in the body's axes |
| MuJoCo | position, quaternion (w, x, y, z) | linear in world axes, angular in the body's |
| Drake | quaternion (w, x, y, z), position | angular, linear, both in world axes |

Pinocchio has a cosine and a sine for a continuous joint of a URDF. All three have numbers of their own for mimic
joints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chainrule.arguments import Array, one_of, rows_of, together
from chainrule.core.joint_names import known_names
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_state, refuse_zero_quaternions
from chainrule.display.text import lines_of
from chainrule.errors import ModelError, ShapeError, UnknownNameError, quoted, short_repr
from chainrule.model import Free, Joint, Mimic, Spherical
from chainrule.spatial import Quaternion, Rotation, Transform, Vector
from chainrule.spatial.scalar import atan2, cos, sin

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Columns = list[Array]

MIMIC_TOLERANCE = 1e-2
"""How far a mimic joint of another program may be from its rule, in rad or m: soft constraints give way a little."""


class Convention(NamedTuple):
    """A program's way to write the state of a free joint, and the quaternion of a spherical one."""

    scalar_first: bool = False
    """Whether quaternions are (w, x, y, z)."""
    position_first: bool = True
    linear_first: bool = False
    angular_in_world: bool = False
    linear_in_world: bool = False


CONVENTIONS = {
    "pinocchio": Convention(linear_first=True),
    "mujoco": Convention(scalar_first=True, linear_first=True, linear_in_world=True),
    "drake": Convention(scalar_first=True, position_first=False, angular_in_world=True, linear_in_world=True),
}
"""The programs whose conventions are known."""


class JointSlot(NamedTuple):
    """A joint in another program: its name there, where its numbers are, and its placement below the free joint."""

    name: str
    q: slice
    v: slice
    placement: Transform = Transform.identity()

    @property
    def nq(self) -> int:
        """The number of its coordinates."""
        return int(self.q.stop - self.q.start)

    @property
    def nv(self) -> int:
        """The number of its velocities."""
        return int(self.v.stop - self.v.start)


@dataclass(frozen=True, eq=False)
class StateOrder:
    """The order and the conventions of another program, for states of one robot.

    `.._to` takes a state of this library and gives that of the other; `.._from` the way back, its configuration being
    the other's as well. Batches as everywhere: (..., numbers). `robot.states.order_of` and `robot.states.reorder` make
    one.

    >>> import chainrule as cr
    >>> order = cr.load("planar_2r").floating().states.order_of("mujoco")
    >>> order.q_to([1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0, 0.1, 0.2]).tolist()
    [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0, 0.1, 0.2]
    """

    robot: Mechanism
    program: str
    """ "pinocchio", "mujoco", "drake", or "names"."""
    convention: Convention
    pairs: tuple[tuple[Joint, JointSlot], ...]
    """Each joint of the robot and its slot, in the other's order."""

    @property
    def names(self) -> tuple[str, ...]:
        """The joints in the other's order, by their names here; mimic joints too where the other has them."""
        return tuple(joint.name for joint, _ in self.pairs)

    @property
    def nq(self) -> int:
        """The number of coordinates there."""
        return max((slot.q.stop for _, slot in self.pairs), default=0)

    @property
    def nv(self) -> int:
        """The number of velocities there."""
        return max((slot.v.stop for _, slot in self.pairs), default=0)

    def __repr__(self) -> str:
        return "\n".join(lines_of([f"<Order of {self.program} for robot {self.robot.name!r}: {quoted(self.names)}>"]))

    # --- configurations ---

    def q_to(self, q: ArrayLike) -> Array:
        """The other's configuration (..., order.nq)."""
        (own,) = read_state(self.robot, "q_to", q=q)
        out = np.zeros((*own.shape[:-1], self.nq))
        for joint, slot in self.pairs:
            out[..., slot.q] = np.stack(self._position_to(joint, slot, own), axis=-1)
        return out

    def q_from(self, q: ArrayLike) -> Array:
        """The configuration (..., nq) of one of the other's."""
        theirs = self._read_theirs(q, self.nq, "q_from: q")
        out = np.tile(np.array(self.robot.model.layout.neutral, dtype=float), (*theirs.shape[:-1], 1))
        for joint, slot in self._independent():
            columns = self._position_from(joint, slot, theirs)
            out[..., self.robot.model.layout.by_joint[joint.name].q] = np.stack(columns, axis=-1)
        self._check_followers(out, theirs)
        refuse_zero_quaternions(self.robot, out, "q_from: q")
        return out

    def _position_to(self, joint: Joint, slot: JointSlot, q: Array) -> Columns:
        if joint.mimic is not None:
            return _on_circle(self._of_follower(joint, joint.mimic, q)[0], slot)
        own = _columns(q, self.robot.model.layout.by_joint[joint.name].q)
        if len(own) == 1:
            return _on_circle(own[0], slot)
        if isinstance(joint.kind, Spherical):
            return self._quaternion_to(own)
        if not isinstance(joint.kind, Free):
            return own
        change = slot.placement.inv * joint.origin
        if change != Transform.identity():
            position = list(change * Vector(*own[:3]))
            own = [*(x + 0.0 * own[0] for x in position), *(change.rotation.quaternion() * Quaternion(*own[3:]))]
        position, quaternion = own[:3], self._quaternion_to(own[3:])
        return [*position, *quaternion] if self.convention.position_first else [*quaternion, *position]

    def _position_from(self, joint: Joint, slot: JointSlot, q: Array) -> Columns:
        theirs = _columns(q, slot.q)
        if slot.nv == 1:
            return [atan2(theirs[1], theirs[0])] if slot.nq == 2 else theirs
        if isinstance(joint.kind, Spherical):
            return self._quaternion_from(theirs)
        if not isinstance(joint.kind, Free):
            return theirs
        position, quaternion = (theirs[:3], theirs[3:]) if self.convention.position_first else (theirs[4:], theirs[:4])
        own = [*position, *self._quaternion_from(quaternion)]
        change = joint.origin.inv * slot.placement
        if change != Transform.identity():
            moved = [x + 0.0 * own[0] for x in change * Vector(*own[:3])]
            own = [*moved, *(change.rotation.quaternion() * Quaternion(*own[3:]))]
        return own

    def _quaternion_to(self, xyzw: Columns) -> Columns:
        return [xyzw[3], *xyzw[:3]] if self.convention.scalar_first else xyzw

    def _quaternion_from(self, theirs: Columns) -> Columns:
        return [*theirs[1:], theirs[0]] if self.convention.scalar_first else theirs

    # --- velocities, accelerations, efforts ---

    def v_to(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The other's velocity (..., order.nv) at the configuration q and the velocity v of this library."""
        own_q, own_v = read_state(self.robot, "v_to", q=q, qd=v)
        return self._rates_to(own_q, own_v, self._twist_to)

    def v_from(self, q: ArrayLike, v: ArrayLike) -> Array:
        """The velocity (..., nv) of the other's velocity v at its configuration q."""
        own_q, theirs = self._state_from(q, {"v": v}, "v_from")
        return self._rates_from(own_q, theirs, self._twist_from)

    def a_to(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """The other's acceleration, the rate of its velocity: (..., order.nv)."""
        own_q, own_v, own_a = read_state(self.robot, "a_to", q=q, qd=v, qdd=a)

        def convert(R: Rotation, acceleration: Columns, joint: Joint) -> Columns:
            w, u = _parts(own_v, self.robot.model.layout.by_joint[joint.name].v)
            turned = Vector(*acceleration[3:]) + w.cross(u) if self.convention.linear_in_world else None
            return self._twist_to(R, [*acceleration[:3], *(acceleration[3:] if turned is None else turned)], joint)

        out = self._rates_to(own_q, own_a, convert)
        for joint, slot in self.pairs:
            if joint.mimic is not None:
                leader = self.robot.model.layout.by_joint[joint.mimic.joint].v.start
                out[..., slot.v.start] += self._of_follower(joint, joint.mimic, own_q)[2] * own_v[..., leader] ** 2
        return out

    def a_from(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """The acceleration (..., nv) of the other's acceleration a, at its configuration q and velocity v."""
        own_q, theirs_v, theirs = self._state_from(q, {"v": v, "a": a}, "a_from")
        own_v = self._rates_from(own_q, theirs_v, self._twist_from)

        def convert(R: Rotation, acceleration: Columns, joint: Joint) -> Columns:
            own = self._twist_from(R, acceleration, joint)
            if not self.convention.linear_in_world:
                return own
            w, u = _parts(own_v, self.robot.model.layout.by_joint[joint.name].v)
            return [*own[:3], *(Vector(*own[3:]) - w.cross(u))]

        return self._rates_from(own_q, theirs, convert)

    def tau_to(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """The other's efforts (..., order.nv): those that do the same work. Mimic joints get none of their own."""
        own_q, own = read_state(self.robot, "tau_to", q=q, tau=tau)
        out = self._rates_to(own_q, own, self._twist_to)
        for joint, slot in self.pairs:
            if joint.mimic is not None:
                out[..., slot.v] = 0.0
        return out

    def tau_from(self, q: ArrayLike, tau: ArrayLike) -> Array:
        """The efforts (..., nv) of the other's: efforts on mimic joints act on the joints that they follow."""
        own_q, theirs = self._state_from(q, {"tau": tau}, "tau_from")
        out = self._rates_from(own_q, theirs, self._twist_from)
        for joint, slot in self.pairs:
            if joint.mimic is not None:
                leader = self.robot.model.layout.by_joint[joint.mimic.joint].v.start
                out[..., leader] += self._of_follower(joint, joint.mimic, own_q)[1] * theirs[..., slot.v.start]
        return out

    def _rates_to(self, q: Array, rates: Array, convert: Callable[[Rotation, Columns, Joint], Columns]) -> Array:
        out = np.zeros((*rates.shape[:-1], self.nv))
        for joint, slot in self.pairs:
            if joint.mimic is not None:
                leader = self.robot.model.layout.by_joint[joint.mimic.joint].v.start
                out[..., slot.v.start] = self._of_follower(joint, joint.mimic, q)[1] * rates[..., leader]
                continue
            own = _columns(rates, self.robot.model.layout.by_joint[joint.name].v)
            if isinstance(joint.kind, Free):
                own = convert(self._orientation(joint, slot, q), own, joint)
            out[..., slot.v] = np.stack(own, axis=-1)
        return out

    def _rates_from(self, q: Array, rates: Array, convert: Callable[[Rotation, Columns, Joint], Columns]) -> Array:
        out = np.zeros((*rates.shape[:-1], self.robot.nv))
        for joint, slot in self._independent():
            theirs = _columns(rates, slot.v)
            if isinstance(joint.kind, Free):
                theirs = convert(self._orientation(joint, slot, q), theirs, joint)
            out[..., self.robot.model.layout.by_joint[joint.name].v] = np.stack(theirs, axis=-1)
        return out

    def _orientation(self, joint: Joint, slot: JointSlot, q: Array) -> Rotation:
        """The orientation of a free body in the other's world."""
        own = _columns(q, self.robot.model.layout.by_joint[joint.name].q)
        return (slot.placement.inv * joint.origin).rotation @ Quaternion(*own[3:]).rotation()

    def _twist_to(self, R: Rotation, own: Columns, joint: Joint) -> Columns:
        w, u = Vector(*own[:3]), Vector(*own[3:])
        angular = [*(R * w)] if self.convention.angular_in_world else [*w]
        linear = [*(R * u)] if self.convention.linear_in_world else [*u]
        return [*linear, *angular] if self.convention.linear_first else [*angular, *linear]

    def _twist_from(self, R: Rotation, theirs: Columns, joint: Joint) -> Columns:
        first, last = Vector(*theirs[:3]), Vector(*theirs[3:])
        w, u = (last, first) if self.convention.linear_first else (first, last)
        angular = [*(R.inv * w)] if self.convention.angular_in_world else [*w]
        linear = [*(R.inv * u)] if self.convention.linear_in_world else [*u]
        return [*angular, *linear]

    # --- shared ---

    def _of_follower(self, joint: Joint, rule: Mimic, q: Array) -> tuple[Any, Any, Any]:
        """A mimic joint's coordinate in the configuration q, and its derivatives by that of the joint it follows."""
        return joint.follow(q[..., self.robot.model.layout.by_joint[rule.joint].q.start])

    def _independent(self) -> Iterator[tuple[Joint, JointSlot]]:
        return ((joint, slot) for joint, slot in self.pairs if joint.mimic is None)

    def _read_theirs(self, value: ArrayLike, length: int, what: str) -> Array:
        return rows_of(value, length, what, f"in the order of {self.program}: {quoted(self.names, 8)}").astype(float)

    def _state_from(self, q: ArrayLike, rates: dict[str, ArrayLike], caller: str) -> list[Array]:
        """This library's configuration, and the other's rates, with equal batches."""
        arrays = {name: self._read_theirs(value, self.nv, f"{caller}: {name}") for name, value in rates.items()}
        return together({"q": self.q_from(q), **arrays}, caller)

    def _check_followers(self, q: Array, theirs: Array) -> None:
        """Raise where a mimic joint of the other's is far from its rule."""
        for joint, slot in self.pairs:
            if joint.mimic is None or slot.nq != 1:
                continue
            apart = np.abs(self._of_follower(joint, joint.mimic, q)[0] - theirs[..., slot.q.start])
            if (apart > MIMIC_TOLERANCE).any():
                raise ShapeError(
                    f"q_from: joint {joint.name!r} follows {joint.mimic.joint!r}, and is off by {np.nanmax(apart):.3g} "
                    "from what its rule says"
                )


def _columns(array: Array, where: slice) -> Columns:
    return [array[..., i] for i in range(where.start, where.stop)]


def _parts(v: Array, where: slice) -> tuple[Vector, Vector]:
    """Angular and linear velocity of a free joint."""
    own = _columns(v, where)
    return Vector(*own[:3]), Vector(*own[3:])


def _on_circle(angle: Array, slot: JointSlot) -> Columns:
    return [cos(angle), sin(angle)] if slot.nq == 2 else [angle]


# --- orders ---


def reorder(robot: Mechanism, names: Sequence[str]) -> StateOrder:
    """The order of arrays whose joints come in the order of `names`, with this library's conventions.

    Every joint with coordinates of its own is named once; mimic joints may be named too.

    >>> import chainrule as cr
    >>> order = cr.load("planar_2r").states.reorder(["joint2", "joint1"])
    >>> order.q_from([0.2, 0.1]).tolist()
    [0.1, 0.2]
    """
    if isinstance(names, (str, bytes)):
        raise ShapeError(f"reorder takes a list of joints' names, got {short_repr(names)}")
    chosen = known_names(names, "reorder: names")
    joints = _moving_joints(robot)
    for name in chosen:
        if name not in joints:
            raise UnknownNameError.of("moving joint", name, joints, f"robot {robot.name!r}")
    slots = _lay_out([joints[name] for name in chosen], lambda joint: joint.kind.nq)
    return _order(robot, "names", Convention(), zip([joints[name] for name in chosen], slots, strict=True))


def order_of(robot: Mechanism, program: Any) -> StateOrder:
    """The order and the conventions of Pinocchio, MuJoCo or Drake, to convert whole states.

    Parameters
    ----------
    program
        "pinocchio", "mujoco" or "drake": the order that the program gives to the joints of this robot's URDF. Or its
        model itself, a `pinocchio.Model`, `mujoco.MjModel` or finalized `MultibodyPlant`, whose joints are matched by
        their names; a free joint may have any name.

    Returns
    -------
    Order
        `q_to`, `q_from`, `v_to`, `v_from`, `a_to`, `a_from`, `tau_to` and `tau_from`.

    Examples
    --------
    >>> import chainrule as cr
    >>> cr.load("planar_2r").floating().states.order_of("drake").v_to([0, 0, 0, 0, 0, 0, 1, 0, 0], range(8)).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    """
    package = type(program).__module__.partition(".")[0]
    readers = {"pinocchio": _pinocchio_slots, "mujoco": _mujoco_slots, "pydrake": _drake_slots}
    if package in readers:
        return _match_joints(robot, package.removeprefix("py"), readers[package](program))
    name = one_of(CONVENTIONS, program, "order", "order_of")
    joints = list(_moving_joints(robot).values())
    if name == "pinocchio":
        joints = _by_name_of_siblings(robot)

    def size(joint: Joint) -> int:
        on_circle = name == "pinocchio" and joint.kind.nv == 1 and joint.kind.name == "continuous"
        return 2 if on_circle else joint.kind.nq

    for joint in joints:
        if name != "drake" and joint.kind.name == "planar":
            raise ModelError(f"order_of: {name} has other coordinates for the planar joint {joint.name!r}; lock it")
        if name == "drake" and isinstance(joint.kind, Spherical):
            raise ModelError(f"order_of: drake has other coordinates for the spherical joint {joint.name!r}; lock it")
    return _order(robot, name, CONVENTIONS[name], zip(joints, _lay_out(joints, size), strict=True))


def _moving_joints(robot: Mechanism) -> dict[str, Joint]:
    """Joints that move, mimic ones too, in the order of the model."""
    return {joint.name: joint for joint in robot.model.joints if joint.kind.nv}


def _by_name_of_siblings(robot: Mechanism) -> list[Joint]:
    """Joints that move, depth first, siblings in the order of their names: as Pinocchio reads a URDF."""
    children: dict[str, list[Joint]] = {}
    for joint in robot.model.joints:
        children.setdefault(joint.parent, []).append(joint)
    found: list[Joint] = []
    waiting = sorted(children.get(robot.model.links[0].name, []), key=lambda joint: joint.name, reverse=True)
    while waiting:
        joint = waiting.pop()
        if joint.kind.nv:
            found.append(joint)
        waiting += sorted(children.get(joint.child, []), key=lambda below: below.name, reverse=True)
    return found


def _lay_out(joints: Sequence[Joint], size: Callable[[Joint], int]) -> list[JointSlot]:
    """Slots one after the other."""
    slots, i, j = [], 0, 0
    for joint in joints:
        slots.append(JointSlot(joint.name, slice(i, i + size(joint)), slice(j, j + joint.kind.nv)))
        i, j = slots[-1].q.stop, slots[-1].v.stop
    return slots


def _match_joints(robot: Mechanism, program: str, slots: Sequence[JointSlot]) -> StateOrder:
    """The order of a program's own model: joints by name, a free joint by its kind."""
    joints = _moving_joints(robot)
    free = [joint for joint in joints.values() if isinstance(joint.kind, Free)]
    pairs = []
    for slot in slots:
        joint = joints.get(slot.name)
        if joint is None and (slot.nq, slot.nv) == (7, 6) and len(free) == 1:
            joint = free[0]
        if joint is None:
            raise UnknownNameError.of("moving joint", slot.name, joints, f"order_of: robot {robot.name!r}")
        sizes = {(joint.kind.nq, joint.kind.nv)} | ({(2, 1)} if joint.kind.nv == 1 else set())
        if (slot.nq, slot.nv) not in sizes:
            raise ModelError(
                f"order_of: joint {joint.name!r} has {joint.kind.nq} coordinates and {joint.kind.nv} velocities here, "
                f"and {slot.nq} and {slot.nv} in {program}"
            )
        pairs.append((joint, slot))
    return _order(robot, program, CONVENTIONS[program], pairs)


def _order(robot: Mechanism, program: str, convention: Convention, pairs: Any) -> StateOrder:
    """An order that has every joint of the robot once."""
    known = tuple(pairs)
    present = [joint.name for joint, _ in known]
    missing = [name for name in robot.joint_names if name not in present]
    if missing:
        raise UnknownNameError(
            f"the order of {program} lacks {quoted(missing)} of robot {robot.name!r}; name every joint, or lock those "
            "that the other does not have: robot.lock({...})"
        )
    return StateOrder(robot, program, convention, known)


def _pinocchio_slots(model: Any) -> list[JointSlot]:
    """The joints of a pinocchio.Model."""
    slots = []
    for i in range(1, model.njoints):
        q, v, nq, nv = (int(part[i]) for part in (model.idx_qs, model.idx_vs, model.nqs, model.nvs))
        if nv:
            placement = Transform.of(np.array(model.jointPlacements[i].homogeneous).tolist())
            kept = placement if (nq, nv) == (7, 6) else Transform.identity()
            slots.append(JointSlot(str(model.names[i]), slice(q, q + nq), slice(v, v + nv), kept))
    return slots


def _mujoco_slots(model: Any) -> list[JointSlot]:
    """The joints of a mujoco.MjModel."""
    sizes = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}  # mjtJoint: free, ball, slide, hinge
    slots = []
    for i in range(int(model.njnt)):
        nq, nv = sizes[int(model.jnt_type[i])]
        q, v = int(model.jnt_qposadr[i]), int(model.jnt_dofadr[i])
        slots.append(JointSlot(str(model.joint(i).name), slice(q, q + nq), slice(v, v + nv)))
    return slots


def _drake_slots(plant: Any) -> list[JointSlot]:
    """The joints of a finalized MultibodyPlant of Drake."""
    if not hasattr(plant, "is_finalized") or not plant.is_finalized():
        raise ShapeError("order_of: of Drake, a finalized MultibodyPlant is taken; call plant.Finalize() first")
    joints = sorted((plant.get_joint(i) for i in plant.GetJointIndices()), key=lambda joint: joint.velocity_start())
    slots = []
    for joint in joints:
        nq, nv, i, j = joint.num_positions(), joint.num_velocities(), joint.position_start(), joint.velocity_start()
        if nv:
            slots.append(JointSlot(str(joint.name()), slice(i, i + nq), slice(j, j + nv)))
    return slots
