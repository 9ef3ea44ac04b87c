"""What is to be identified: unknown numbers by name, what limits them, and what is known of them beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from chainrule.algorithms.regressor import LINK_NUMBERS, PARTS, TorqueParameter, axes
from chainrule.arguments import Array
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ShapeError, UnknownNameError, quoted
from chainrule.lazy import cached_property
from chainrule.model.edits import add_payload
from chainrule.parameters.regressor import independent_columns, random_motions, regressor, sum_in_words
from chainrule.parameters.vector import parameter_table, with_values
from chainrule.spatial import Inertia, Symmetric, Transform, Vector

R = TypeVar("R", bound=Mechanism)

GAIN, OFFSET, STRIBECK, PAYLOAD = "gain", "torque_offset", "stribeck", "payload"
GROUPS = {"gains": GAIN, "offsets": OFFSET, "stribeck": STRIBECK}
"""Words for numbers of all joints that are none of `robot.parameters`."""

OF_ANY_SIGN = ("preload", "spring_preload")
"""Numbers of joints and springs that may be negative."""

SMALLEST_SHARE = 1e-2
"""The least eigenvalue of a prior's pseudo-inertia, lengths in units of the link's size, as a share of its mass."""

PAYLOAD_KG, PAYLOAD_SIZE_M = 1.0, 0.05
"""What is taken of a payload beforehand, which no file says: a body of 1 kg, of 5 cm, at its frame."""

BASIS = np.zeros((10, 4, 4))
"""The pseudo-inertia of a unit of each of a link's ten numbers: mass, mass times center, then inertia at the origin."""
BASIS[0, 3, 3] = 1.0
for _i in range(3):
    BASIS[1 + _i, _i, 3] = BASIS[1 + _i, 3, _i] = 1.0
    BASIS[4 + _i, :3, :3] = np.eye(3) / 2
    BASIS[4 + _i, _i, _i] -= 1.0
for _entry, (_i, _j) in enumerate(((0, 1), (0, 2), (1, 2))):
    BASIS[7 + _entry, _i, _j] = BASIS[7 + _entry, _j, _i] = -1.0


class UnknownBody(NamedTuple):
    """A link or payload of which some of the ten numbers are unknown."""

    places: NDArray[np.intp]
    """Where they are among the unknowns (k,)."""
    numbers: NDArray[np.intp]
    """Which of the ten they are (k,)."""
    known: Array
    """The pseudo-inertia of the others (4, 4)."""
    prior: Array
    """The pseudo-inertia that is taken beforehand (4, 4), positive definite."""


@dataclass(frozen=True)
class Unknowns:
    """Unknown numbers x, in which torques are linear: tau = Y (known + matrix @ x) + offsets."""

    robot: Mechanism
    names: tuple[str, ...]
    matrix: Array
    """What each unknown adds to the parameters (p, x); nothing for an offset."""
    known: Array
    """The parameters without the unknowns (p,)."""
    nominal: Array
    """What the robot itself has of them (x,)."""
    offset_of: tuple[int | None, ...]
    """The velocity whose torque an unknown is an offset of."""
    bodies: tuple[UnknownBody, ...]
    positive: NDArray[np.intp]
    """The places of the unknowns that are no link's and must not be negative."""
    gains: tuple[int, ...]
    """Velocities whose torques were measured as currents."""
    stribeck: tuple[int, ...]
    """Velocities whose Stribeck speed is unknown."""

    @cached_property
    def base(self) -> tuple[tuple[int, ...], Array]:
        """The unknowns whose columns are independent, and B with base parameters b = B x."""
        robot = self.robot
        q, qd, qdd = random_motions(robot, len(self.names) + robot.nv)
        return independent_columns(self.columns(regressor(robot, q, qd, qdd)).reshape(-1, len(self.names)))

    @property
    def base_names(self) -> tuple[str, ...]:
        """Each base parameter as a sum of unknowns."""
        return tuple(sum_in_words(row, self.names) for row in self.base[1])

    def columns(self, Y: Array) -> Array:
        """The columns of torques (..., nv, x) for the regressor (..., nv, p)."""
        columns = Y @ self.matrix
        for x, velocity in enumerate(self.offset_of):
            if velocity is not None:
                columns[..., velocity, x] = 1.0
        return np.asarray(columns)

    @cached_property
    def scales(self) -> Array:
        """The size of each unknown (x,), from the prior of its link; 0 where nothing is known."""
        sizes = np.zeros(len(self.names))
        sizes[self.positive] = np.abs(self.nominal[self.positive])
        for body in self.bodies:
            inverse = np.linalg.inv(body.prior)
            E = inverse @ BASIS[body.numbers]
            sizes[body.places] = np.einsum("kij,kji->k", E, E) ** -0.5
        return sizes

    def parameters(self, x: Array) -> Array:
        """All parameters of the robot (p,) for values of the unknowns."""
        return np.asarray(self.known + self.matrix @ x)

    def robot_with(self, robot: R, x: Array, speeds: Sequence[float]) -> R:
        """The robot with values of the unknowns, and with Stribeck speeds."""
        plain = [name for name in self.names if PAYLOAD not in name and not name.endswith(OFFSET)]
        values = dict(zip(self.names, x.tolist(), strict=True))
        model = robot.model
        for name in dict.fromkeys(name.partition(f".{PAYLOAD}.")[0] for name in self.names if PAYLOAD in name):
            m, hx, hy, hz, *I = (values[f"{name}.{PAYLOAD}.{number}"] for number in LINK_NUMBERS)
            model = add_payload(model, name, Inertia(m, Vector(hx, hy, hz), Symmetric(*I)))
        dofs = {joint.name: list(joint.dofs) for joint in model.joints}
        for axis in axes(model):
            if axis.place in self.stribeck:
                speed = speeds[self.stribeck.index(axis.place)]
                dofs[axis.body.joint.name][axis.k] = replace(axis.dof, stribeck=speed)
        joints = tuple(replace(joint, dofs=tuple(dofs[joint.name])) for joint in model.joints)
        return with_values(type(robot)(replace(model, joints=joints)), {name: values[name] for name in plain})


def read_unknowns(robot: Mechanism, asked: str | Sequence[str]) -> Unknowns:
    """The unknowns that a user asks for, by parts, links, joints, payloads and single names."""
    table, layout = parameter_table(robot), robot.model.layout.velocity_names
    words = [asked] if isinstance(asked, str) else list(asked)
    carriers = [*robot.link_names, *(frame.name for frame in robot.model.frames)]
    free: dict[int, None] = {}
    payloads, of_joints = dict[str, None](), {kind: dict[int, None]() for kind in GROUPS.values()}
    for word in words:
        owner, _, number = word.rpartition(".") if isinstance(word, str) else ("", "", "")
        chosen = [i for i, parameter in enumerate(table) if _is_meant(parameter, word, robot)]
        if word in GROUPS:
            has_speed = {axis.place for axis in axes(robot.model) if axis.dof.stribeck}
            all_joints = sorted(has_speed) if word == "stribeck" else range(robot.nv)
            of_joints[GROUPS[word]] |= dict.fromkeys(all_joints)
        elif number in of_joints and owner in layout:
            of_joints[number][layout.index(owner)] = None
        elif number == PAYLOAD and owner in carriers:
            payloads[owner] = None
        elif chosen:
            free |= dict.fromkeys(chosen)
        else:
            names = [parameter.name for parameter in table]
            links = {parameter.owner for parameter in table}
            known = [
                "all",
                *PARTS,
                *GROUPS,
                *sorted(links),
                *names,
                *(f"{link}.{PAYLOAD}" for link in carriers),
            ]
            raise UnknownNameError.of("parameter", word, known, f"identify, of robot {robot.name!r}")
    return _unknowns(robot, table, sorted(free), list(payloads), of_joints)


def _is_meant(parameter: TorqueParameter, word: object, robot: Mechanism) -> bool:
    """Whether a word asks for a parameter: its name, its owner, its part; a law of the user's own has no number."""
    joint = parameter.owner.partition(".")[0] if parameter.part != "links" else parameter.owner
    fits = word in ("all", parameter.name, parameter.part, parameter.owner, joint)
    return fits and parameter.number != "friction_function"


def _unknowns(
    robot: Mechanism,
    table: Sequence[TorqueParameter],
    free: Sequence[int],
    payloads: Sequence[str],
    of_joints: dict[str, dict[int, None]],
) -> Unknowns:
    velocities = robot.model.layout.velocity_names
    names = [table[i].name for i in free]
    parts = [np.eye(len(table))[:, free]]
    nominal = [float(table[i].value) for i in free]
    bodies = list(_links(robot, table, free))
    positive = [x for x, i in enumerate(free) if table[i].part != "links" and table[i].number not in OF_ANY_SIGN]
    for name in payloads:
        index, offset = robot.model.locate(name)
        link = robot.model.links[index].name
        first = next((i for i, p in enumerate(table) if p.part == "links" and p.owner == link), None)
        if first is None:
            raise ShapeError(f"identify: no joint moves {name!r}: its payload shows in no torque")
        if any(first <= i < first + 10 for i in free):
            raise ShapeError(
                f"identify: ask for the payload of {name!r}, or for link {link!r} itself: they move as one"
            )
        carried = np.zeros((len(table), 10))
        carried[first : first + 10] = carried_numbers(offset)
        size = PAYLOAD_KG * PAYLOAD_SIZE_M**2
        prior = np.diag([size, size, size, PAYLOAD_KG])
        bodies.append(UnknownBody(len(names) + np.arange(10), np.arange(10), np.zeros((4, 4)), prior))
        names += [f"{name}.{PAYLOAD}.{number}" for number in LINK_NUMBERS]
        parts.append(carried)
        nominal += [0.0] * 10
    offset_of: list[int | None] = [None] * len(names) + list(of_joints[OFFSET])
    names += [f"{velocities[i]}.{OFFSET}" for i in of_joints[OFFSET]]
    parts.append(np.zeros((len(table), len(of_joints[OFFSET]))))
    nominal += [0.0] * len(of_joints[OFFSET])
    known = np.array([0.0 if i in {*free} else float(p.value) for i, p in enumerate(table)])
    speeds = of_joints[STRIBECK]
    without = [
        velocities[i] for i in speeds if i not in {axis.place for axis in axes(robot.model) if axis.dof.stribeck}
    ]
    if without:
        raise ShapeError(
            f"identify: {quoted(without)} of robot {robot.name!r} have no Stribeck friction; start from a guess, "
            'robot.edit(joints={"*": {"coulomb": 0.5, "static": 1.0, "stribeck": 0.1}})'
        )
    if not names:
        raise ShapeError(f"identify: robot {robot.name!r} has none of the parameters that were asked for")
    return Unknowns(
        robot, tuple(names), np.hstack(parts), known, np.array(nominal), tuple(offset_of), tuple(bodies),
        np.array(positive, dtype=int), tuple(of_joints[GAIN]), tuple(speeds),
    )  # fmt: skip


def carried_numbers(offset: Transform) -> Array:
    """The ten numbers of a link for those of a body in a frame of it: (10, 10)."""
    columns = []
    for m, hx, hy, hz, *I in np.eye(10).tolist():
        moved = offset * Inertia(m, Vector(hx, hy, hz), Symmetric(*I))
        columns.append([moved.mass, *moved.moment, *moved.inertia.entries()])
    return np.array(columns, dtype=float).T


def _links(robot: Mechanism, table: Sequence[TorqueParameter], free: Sequence[int]) -> Iterator[UnknownBody]:
    """The links of which numbers are unknown."""
    of_link: dict[str, list[int]] = {}
    for x, i in enumerate(free):
        if table[i].part == "links":
            of_link.setdefault(table[i].owner, []).append(x)
    total = sum(float(p.value) for p in table if p.part == "links" and p.number == "mass") or 1.0
    for owner, places in of_link.items():
        numbers = np.array([list(LINK_NUMBERS).index(table[free[x]].number) for x in places])
        ten = np.array([float(p.value) for p in table if p.part == "links" and p.owner == owner])
        prior = _prior(np.tensordot(ten, BASIS, 1), total)
        known = prior.copy()
        for k in numbers:  # those that are free are taken out of the prior
            known -= component(prior, k) * BASIS[k]
        yield UnknownBody(np.array(places), numbers, known, prior)


def component(J: Array, k: int) -> float:
    """One of the ten numbers of a pseudo-inertia."""
    sigma = J[:3, :3]
    inertia = np.trace(sigma) * np.eye(3) - sigma
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    return float(J[3, 3] if k == 0 else J[k - 1, 3] if k < 4 else inertia[pairs[k - 4]])


def _prior(J: Array, total: float) -> Array:
    """The nearest pseudo-inertia of a body that exists: with a mass, and not flat."""
    mass = max(J[3, 3], 1e-3 * total)
    length = max(np.sqrt(max(np.trace(J[:3, :3]), 0.0) / mass), PAYLOAD_SIZE_M)
    scale = np.array([1 / length, 1 / length, 1 / length, 1.0])
    values, vectors = np.linalg.eigh(J * np.outer(scale, scale))
    clipped = np.maximum(values, SMALLEST_SHARE * mass)
    return np.asarray((vectors * clipped) @ vectors.T / np.outer(scale, scale))
