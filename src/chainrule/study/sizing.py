"""Sizing of drives: the lightest or cheapest drive for each joint that delivers what the motions ask for.

A drive adds its own rotor inertia, friction and losses to what the joint needs, and its mass to what the joints before
it carry. So drives are chosen, put on the arm, and chosen again, until the choice stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from os import PathLike
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from chainrule.arguments import Array, one_of, positive
from chainrule.calls import explains_arguments
from chainrule.display.text import FieldsShown, Shown, Table
from chainrule.errors import ModelError
from chainrule.model import Link
from chainrule.robot.rigid_body import RigidBody
from chainrule.study.drives import Catalogue, Drive, drives
from chainrule.study.study import Result
from chainrule.study.subjects import PEOPLE_KEPT, Subject
from chainrule.study.torques import torques_of

MAX_ROUNDS = 12
"""Choices after which the drives must have settled: in each one they stay or get heavier."""

OBJECTIVES = ("mass", "cost")


class JointStates(NamedTuple):
    """States of a joint (P,): the torque on its link, speed, acceleration and position."""

    torque: Array
    speed: Array
    acceleration: Array
    position: Array

    def at(self, places: NDArray[np.intp] | NDArray[np.bool_]) -> JointStates:
        """Some of them."""
        return JointStates(*(array[places] for array in self))


@dataclass(frozen=True)
class Balancer:
    """A spring that carries weight at a joint: a zero-free-length spring between a point off the axis and the link.

    Its torque is sine * sin(q) + cosine * cos(q), whose amplitude is the stiffness times both distances from the axis
    (the gravity equilibrator).
    """

    sine: float
    cosine: float

    @property
    def strength(self) -> float:
        """The largest torque, in N m."""
        return float(np.hypot(self.sine, self.cosine))

    def torque(self, q: Array) -> Array:
        """In N m."""
        return self.sine * np.sin(q) + self.cosine * np.cos(q)

    @staticmethod
    def fit(states: JointStates) -> Balancer:
        """The balancer that leaves the least mean square to the motor."""
        shapes = np.column_stack([np.sin(states.position), np.cos(states.position)])
        sine, cosine = np.linalg.lstsq(shapes, states.torque, rcond=1e-9)[0]
        return Balancer(float(sine), float(cosine))


@dataclass(frozen=True, eq=False)
class Load:
    """States that the drive of a joint has to reach."""

    extreme: JointStates
    """States among which every extreme is."""
    steady: Mapping[str, JointStates]
    """States evenly spread in time, by activity."""
    balancer: Balancer | None = None

    @staticmethod
    def of(activities: Mapping[str, tuple[JointStates, NDArray[np.bool_]]], balanced: bool) -> Load:
        """The load of states, with marks where they are evenly spread in time, by activity."""
        balancer = None
        if balanced:
            balancer = Balancer.fit(_join(states.at(even) for states, even in activities.values()))
            activities = {
                name: (states._replace(torque=states.torque - balancer.torque(states.position)), even)
                for name, (states, even) in activities.items()
            }
        every = _join(states for states, _ in activities.values())
        return Load(outermost(every), {name: states.at(even) for name, (states, even) in activities.items()}, balancer)


def _join(parts: Iterable[JointStates]) -> JointStates:
    return JointStates(*map(np.concatenate, zip(*parts, strict=True)))


def outermost(states: JointStates) -> JointStates:
    """The states at the corners of the hulls of those with one sign of the speed and one of the torque.

    With these signs given, every use of a drive is a convex function of torque, speed and acceleration, so that the
    largest ones are at corners.
    """
    chosen = []
    for speed, torque in product((-1, 0, 1), (-1, 1)):
        places = np.flatnonzero((np.sign(states.speed) == speed) & (torque * states.torque >= 0))
        points = np.column_stack(states.at(places)[:3])
        spread = np.ptp(points, axis=0) if len(points) else np.zeros(3)
        if len(points) > 20 and (spread > 0).all():
            with suppress(QhullError):  # where the points lie in a plane, all of them are kept
                places = places[ConvexHull(points / spread).vertices]
        chosen.append(places)
    return states.at(np.unique(np.concatenate(chosen)))


@dataclass(frozen=True, eq=False, repr=False)
class Choice(FieldsShown):
    """The drive of a joint, and how far it is used."""

    joint: str
    drive: Drive | None
    """None where no drive of the catalogue is enough."""
    uses: Mapping[str, float]
    """The use of each limit, as a share of what the drive allows; of the strongest drive where none is enough."""
    balancer: Balancer | None = None

    @property
    def limit(self) -> str:
        """The limit that is used most."""
        return max(self.uses, key=lambda name: self.uses[name])

    @property
    def use(self) -> float:
        """Share of that limit that is used."""
        return self.uses[self.limit]

    @property
    def margin(self) -> float:
        """By which factor loads could grow, about: the inverse of the use."""
        return 1 / self.use if self.use else np.inf


@dataclass(frozen=True, eq=False, repr=False)
class Sizing(Shown):
    """A drive for each joint that turns."""

    choices: Mapping[str, Choice]
    catalogue: Catalogue
    objective: str
    safety: float
    rounds: int
    """How often drives were chosen until they stayed."""
    loads: Mapping[str, Load]
    sliding: tuple[str, ...] = ()
    """Joints that slide, for which no drive is chosen: those of the catalogue turn."""

    def _view(self) -> Iterator[str | Table]:
        yield f"Drives of {self.mass:.3g} kg from {self.catalogue.name}, least {self.objective}, safety {self.safety:g}"
        rows = [
            (joint, choice.drive.name if choice.drive else "none is enough", choice.limit, choice.use, choice.margin)
            for joint, choice in self.choices.items()
        ]
        yield Table(("joint", "drive", "limit", "share used", "margin"), rows)
        for joint in self.sliding:
            yield f"{joint} slides: no drive is chosen for it"

    @property
    def drives(self) -> dict[str, Drive]:
        """The drives that were chosen, by joint."""
        return {joint: choice.drive for joint, choice in self.choices.items() if choice.drive}

    @property
    def complete(self) -> bool:
        """Whether every joint that turns has a drive."""
        return len(self.drives) == len(self.choices)

    @property
    def mass(self) -> float:
        """Mass of all drives, in kg."""
        return sum(drive.mass for drive in self.drives.values())

    def subject(self, subject: Subject) -> Subject:
        """A subject with the masses of the drives on its links."""
        return with_drives(subject, self.drives)


@explains_arguments
def size(
    result: Result,
    catalogue: Catalogue | str | PathLike[str] | None = None,
    *,
    objective: str = "mass",
    safety: float = 1.2,
    balanced: bool = False,
    carried: bool = True,
) -> Sizing:
    """The drives of a study's joints. Those that slide get none, for the drives of a catalogue turn.

    Parameters
    ----------
    result
        Of a study.
    catalogue
        Motors and gears, or their file; those that come with chainrule unless given.
    objective
        What is made least: "mass" or "cost".
    safety
        The factor between what a drive allows and what is asked of it.
    balanced
        Whether a spring at each joint carries a part of the weight: a gravity equilibrator, fitted by least squares.
    carried
        Whether the drives' masses are on the arm: each on the link before its joint, at the joint. Otherwise they
        stand elsewhere, and pull at cables.

    Returns
    -------
    Sizing
    """
    chosen = catalogue if isinstance(catalogue, Catalogue) else drives(catalogue)
    one_of(OBJECTIVES, objective, "objective", "sizing")
    safety = positive(safety, "safety", "a positive factor")
    candidates = _candidates(chosen, objective)
    robot = result.robot
    if robot.model.constraints or robot.nq != robot.nv:
        raise ModelError(f"drives are sized for arms without closed loops and quaternions, which {robot.name!r} has")
    if len(result.sliding) == len(result.joints):
        raise ModelError(f"the catalogue's drives turn, and all joints of {robot.name!r} slide: no drives are sized")
    first = dict.fromkeys(result.joints, 0)  # a joint's drive only gets heavier, so that the choice settles
    mounted: dict[str, Drive] = {}
    rounds = 0
    while rounds < MAX_ROUNDS:
        rounds += 1
        loads = _loads(result, mounted if carried else {}, balanced)
        choices = {joint: _choose(joint, load, candidates, first[joint], safety) for joint, load in loads.items()}
        before, mounted = mounted, {joint: choice.drive for joint, choice in choices.items() if choice.drive}
        if mounted == before or not carried:
            break
        first |= {joint: candidates.index(drive) for joint, drive in mounted.items()}
    return Sizing(choices, chosen, objective, safety, rounds, loads, result.sliding)


def _candidates(catalogue: Catalogue, objective: str) -> list[Drive]:
    """The drives in the order in which they are wanted."""
    if objective == "mass":
        return catalogue.drives
    priced = [drive for drive in catalogue.drives if drive.cost is not None]
    if not priced:
        raise ModelError(f"{catalogue.name} has no motor and gear with a cost; add cost = ... or size by mass")
    return sorted(priced, key=lambda drive: (drive.cost, drive.mass))


def _loads(result: Result, mounted: Mapping[str, Drive], balanced: bool) -> dict[str, Load]:
    """The load of each joint with these drives on the arm."""
    prepare = lru_cache(PEOPLE_KEPT)(lambda subject: with_drives(subject, mounted))
    found: dict[str, tuple[Array, NDArray[np.bool_]]] = {}
    for activity in result.titles:
        parts, marks = [], []
        for torques in torques_of(result.kept.motions(activity), prepare):
            motion = torques.motion
            parts.append(np.stack([torques.total, motion.qd, motion.qdd, motion.q]))
            marks.append(np.ones(len(motion), dtype=bool) if motion.even is None else motion.even)
        found[activity] = (np.concatenate(parts, axis=1), np.concatenate(marks))
    return {
        joint: Load.of({name: (JointStates(*array[..., j]), even) for name, (array, even) in found.items()}, balanced)
        for j, joint in enumerate(result.joints)
        if joint not in result.sliding
    }


def uses(drive: Drive, load: Load) -> dict[str, float]:
    """The use of each limit of a drive."""
    steady = [drive.thermal_use(*states[:3]) for states in load.steady.values()]
    return drive.peak_use(*load.extreme[:3]) | {name: max(use[name] for use in steady) for name in steady[0]}


def _choose(joint: str, load: Load, candidates: Sequence[Drive], first: int, safety: float) -> Choice:
    """The first candidate that is enough, from one of them on."""
    nearest: dict[str, float] | None = None
    for drive in candidates[first:]:
        if nearest is not None:
            least = max(drive.peak_use(*load.extreme[:3]).values())
            if least * safety > 1 and least >= max(nearest.values()):
                continue  # no need for the longer sums
        found = uses(drive, load)
        if max(found.values()) * safety <= 1:
            return Choice(joint, drive, found, load.balancer)
        if nearest is None or max(found.values()) < max(nearest.values()):
            nearest = found
    return Choice(joint, None, nearest or {}, load.balancer)


def with_drives(subject: Subject, mounted: Mapping[str, Drive]) -> Subject:
    """A subject that carries drives: each at its joint, on the link before."""
    bodies: dict[str, RigidBody] = {}
    model = subject.robot.model
    for joint in model.joints:
        drive = mounted.get(joint.name)
        if drive is not None and joint.parent != model.links[0].name:
            body = RigidBody(Link(drive.name, drive.mass, joint.origin.translation))
            bodies[joint.parent] = bodies[joint.parent] + body if joint.parent in bodies else body
    return subject.carrying(bodies)
