"""Synthetic motions: activities as smooth motions of a body, with seeded variation.

Way-points in space are solved by inverse kinematics on the arm, and joined by motions of least jerk from stop to stop.
All lengths scale with the body, so that way-points of one body hold for all of the same proportions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import NamedTuple

import numpy as np
from scipy.interpolate import PPoly

from chainrule.arguments import Array, number, whole_number
from chainrule.control.motions.curves import Curve, minimum_jerk, quintic
from chainrule.errors import ModelError, ShapeError
from chainrule.robot.bodies import rigid_body
from chainrule.robot.body_points import to_left
from chainrule.robot.robot import Robot
from chainrule.study.activities import Activities, Activity, ReachPoint, WayPoint, way_with_repeats
from chainrule.study.motions import MAX_SAMPLES, Grasp, Motion, sample
from chainrule.study.subjects import BASE_HEIGHT_M, Population, Subject, by_base

RANGE_TOLERANCE = 1e-9
"""By how much a motion may leave the joints' ranges, in rad: rounding."""

POSITION_TOLERANCE_M = 1e-5
"""How near the hand comes to a place."""

SOLVED_TOGETHER = 64
"""Motions whose way-points are solved in one batch."""

MIN_SAMPLES = 10
"""Of a motion: with fewer its extremes are missed."""


@dataclass(frozen=True)
class Variation:
    """Differences between motions of one activity. The first one of each is as the file says."""

    pace: float = 0.15
    """Standard deviation of the logarithm of the pace."""
    place: float = 0.01
    """Standard deviation of the places, in body heights, along each axis."""
    posture: float = 4.0
    """Standard deviation of the angles that the arm stays near to, in degrees."""
    repeat: int = 1
    """The largest difference in the number of repetitions."""

    def __post_init__(self) -> None:
        for name in ("pace", "place", "posture"):
            value = number(getattr(self, name), f"variation: {name}")
            if value < 0:
                raise ShapeError(f"variation: {name} is a standard deviation and must not be negative, got {value:g}")
        whole_number(self.repeat, "variation: repeat")


class Stop(NamedTuple):
    """A part of a motion: to a configuration within so many seconds, and whether the arm rests there for a while."""

    q: Array
    seconds: float
    pause: float = 0.0
    stops: bool = True
    grasp: bool = False
    release: bool = False
    push: Array | None = None


class Synthetic:
    """Motions of activities by subjects: each subject does each activity `variants` times."""

    def __init__(
        self,
        subjects: Sequence[Subject],
        content: Activities,
        chosen: Sequence[Activity],
        *,
        variants: int = 1,
        rate: float = 1000.0,
        pace: float = 1.0,
        seed: int = 0,
        variation: Variation | None = None,
    ) -> None:
        self.subjects = subjects if isinstance(subjects, Population) else list(subjects)
        self.content = content
        self.chosen = {activity.name: activity for activity in chosen}
        self.variants, self.rate, self.pace, self.seed = variants, rate, pace, seed
        self.variation = variation or Variation()
        for subject in () if isinstance(subjects, Population) else self.subjects:
            if subject.body is None:
                raise ModelError(
                    f"activities are motions of a person, and subject {subject.name!r} is a robot alone: take "
                    "cr.study.Subject.human(mass=..., height=...), or give the robot motions of its own, motions=..."
                )
        self._by_base = by_base(self.subjects)

    @property
    def activities(self) -> Mapping[str, str]:
        """Titles by name."""
        return {name: activity.title for name, activity in self.chosen.items()}

    @property
    def subject_count(self) -> int:
        """The number of subjects."""
        return len(self.subjects)

    def count(self, activity: str) -> int:
        """The number of motions, the same for each activity."""
        return len(self.subjects) * self.variants

    def samples(self, activity: str) -> int:
        """The number of samples of all motions, as if all had the pace of the first one."""
        return round(self.count(activity) * (self.chosen[activity].duration / self.pace * self.rate + 1))

    def describe(self) -> list[str]:
        """Sentences about the way in which motions are made."""
        v = self.variation
        lines = [
            "The motions are synthetic: way-points of the hand and of the joints, solved by inverse kinematics and "
            "joined by motions of least jerk. They are not recordings of people.",
            f"{self.rate:g} samples a second, at {self.pace:g} times the pace of the file of activities.",
        ]
        if self.variants > 1 or len(self.subjects) > 1:
            lines.append(
                f"Variants (seed {self.seed}): pace with a standard deviation of {v.pace:.0%}, places of "
                f"{v.place * 100:g} % of body height, postures of {v.posture:g} degrees, repetitions by {v.repeat}."
            )
        return lines

    def motions(self, activity: str, start: int = 0, stop: int | None = None) -> SyntheticMotions:
        """The motions of an activity, subject by subject, those with one base robot together."""
        numbers = range(self.count(activity))[start:stop]
        order = MotionOrder(self._by_base, self.variants)
        people: Mapping[int, Subject] | Population
        if isinstance(self.subjects, Population):
            people = self.subjects
        else:
            people = {k: self.subjects[k] for k, *_ in map(order.key, numbers)}
        return SyntheticMotions(
            people, self.content, self.chosen[activity], order, numbers, self.rate, self.pace, self.seed, self.variation
        )


class Key(NamedTuple):
    """A motion of an activity: whose, and which of its variants."""

    subject: int
    """The place among the subjects."""
    variant: int
    nominal: bool
    """Whether it is as the file says: the first one on each base robot."""


class MotionOrder(NamedTuple):
    """The order of the motions: subject by subject, those with one base robot together."""

    by_base: Sequence[Sequence[int]]
    """Places of the subjects with one base robot, for each of these robots."""
    variants: int

    def key(self, number: int) -> Key:
        """The motion of a number."""
        place, variant = divmod(number, self.variants)
        for group in self.by_base:
            if place < len(group):
                break
            place -= len(group)
        return Key(group[place], variant, place == variant == 0)


@dataclass(frozen=True, eq=False)
class SyntheticMotions:
    """Some motions of one activity, made one by one from their seeds."""

    people: Mapping[int, Subject] | Population
    content: Activities
    activity: Activity
    order: MotionOrder
    numbers: range
    rate: float
    pace: float
    seed: int
    variation: Variation

    def __iter__(self) -> Iterator[tuple[Subject, Motion]]:
        keys = map(self.order.key, self.numbers)
        for _, group in groupby(keys, key=lambda key: id(self.people[key.subject].base)):
            while block := list(islice(group, SOLVED_TOGETHER)):
                plans = self._plan(block)
                for row, key in enumerate(block, plans.rows - len(block)):
                    yield self.people[key.subject], plans.motion(row, self.rate, self.pace)

    def _plan(self, keys: Sequence[Key]) -> Plans:
        """Plans of motions on one base robot, the last ones of as many rows."""
        if not keys[0].nominal:
            keys = [keys[0]._replace(nominal=True), *keys]
        first = self.people[keys[0].subject]
        assert first.body is not None
        rngs = [np.random.default_rng([self.seed, self.activity.number, k, v]) for k, v, _ in keys]
        nominal = np.array([key.nominal for key in keys])
        return Plans(first.base, first.body.side, self.content, self.activity, rngs, nominal, self.variation)

    def subject_of(self, place: int) -> Subject:
        """The subject of the motion at a place among them."""
        return self.people[self.order.key(self.numbers[place]).subject]


class Plans:
    """An activity planned on one arm, in several variants, of which the first one is as the file says.

    Where a place leaves the arm free, the others stay near to that one.
    """

    def __init__(
        self,
        arm: Robot,
        side: str,
        content: Activities,
        activity: Activity,
        rngs: Sequence[np.random.Generator],
        nominal: Array,
        variation: Variation,
    ) -> None:
        self.arm, self.side, self.content, self.activity = arm, side, content, activity
        self.rows = len(rngs)
        spread = np.where(nominal, 0.0, 1.0)[:, None]

        def draw(size: int) -> Array:
            normal: Array = np.array([rng.normal(size=size) for rng in rngs])
            return spread * normal

        self.paces = np.exp(variation.pace * draw(1)[:, 0])
        most = variation.repeat if activity.repeat > 1 else 0
        self.repeats = [
            max(1, activity.repeat + int(s) * int(rng.integers(-most, most + 1)))
            for rng, s in zip(rngs, spread[:, 0], strict=True)
        ]
        names = dict.fromkeys([activity.start, *(point.to for point in activity.way)])
        self._place_noise = {name: variation.place * draw(3) for name in names}
        self._posture_noise = {name: np.radians(variation.posture) * draw(arm.nv) for name in names}
        self.start = self._posture(activity.start)
        self.way = [self._stops(point) for point in activity.way]

    def _posture(self, name: str, joints: Mapping[str, float] | None = None) -> Array:
        """A posture in all variants (V, n), within the ranges."""
        angles = {**self.content.postures[name], **(joints or {})}
        for joint in angles:
            if joint not in self.arm.joint_names:
                raise ModelError(f"posture {name!r} names joint {joint!r}, which the arm does not have")
        q = np.array([np.radians(angles.get(joint, 0.0)) for joint in self.arm.joint_names])
        noise = self._posture_noise.get(name, 0.0)
        return np.clip(q + noise, self.arm.limits.lower, self.arm.limits.upper) + np.zeros((len(self.paces), 1))

    def _stops(self, point: WayPoint) -> list[Stop]:
        """A way-point: one configuration, or one for each end of a stroke, in all variants."""
        push = None if point.push is None else self._axes(np.array(point.push))
        if point.to in self.content.postures:
            q, stops = self._posture(point.to, point.joints), True
            return [Stop(q, point.seconds, point.pause, stops, point.grasp, point.release, push)]
        place = self.content.places[point.to]
        assert point.near is not None  # the reader has seen to it
        near = self._posture(point.near, point.joints)
        middle = self._solve(place, near, point, np.zeros(3))
        if not point.strokes:
            stops = point.pause > 0 or point.grasp or point.release
            return [Stop(middle, point.seconds, point.pause, stops, point.grasp, point.release, push)]
        there, back = (self._solve(place, middle, point, sign * np.array(point.stroke)) for sign in (0.5, -0.5))
        strokes = [Stop(back if k % 2 else there, point.stroke_seconds, stops=False) for k in range(point.strokes)]
        arrival = Stop(middle, point.seconds, stops=False, push=push)
        end = Stop(middle, point.stroke_seconds / 2, point.pause, True, point.grasp, point.release)
        return [arrival, *strokes, end]

    def _axes(self, triple: Array) -> Array:
        """(forward, inward, up) in the axes of the base."""
        return triple * np.array([1.0, to_left(self.side), 1.0])

    def target(self, place: ReachPoint, extra: Array | float = 0.0) -> Array:
        """A place in the frame of the base arm, in m."""
        start = np.zeros(3)
        if place.point is not None:
            _, T = self.arm.model.locate(place.point)
            start = np.array([*T.translation], dtype=float)
        return start + BASE_HEIGHT_M * self._axes(np.array(place.by) + extra)

    def _solve(self, place: ReachPoint, near: Array, point: WayPoint, offset: Array) -> Array:
        """Configurations (V, n) with the hand at a place."""
        wanted = self.target(place, offset + self._place_noise[point.to])
        found = self.arm.inverse_kinematics(
            wanted, q0=near, task="position", posture=near[0], tolerance=POSITION_TOLERANCE_M
        )
        if not found.success.all():
            nominal = self.arm.inverse_kinematics(
                self.target(place, offset), q0=near[0], task="position", posture=near[0], tolerance=POSITION_TOLERANCE_M
            )
            if not nominal.success:
                raise ModelError(
                    f"activity {self.activity.name!r}: the hand does not reach {point.to!r}: it stays "
                    f"{float(nominal.error[0]):.3g} m away; move the place, or the posture {point.near!r}"
                )
            return np.where(found.success[:, None], found.q, nominal.q)
        return found.q

    def motion(self, row: int, rate: float, pace: float) -> Motion:
        """One variant, sampled."""
        quick = pace * self.paces[row]
        stops = [stop for part in way_with_repeats(self.way, self.repeats[row]) for stop in part]
        duration = sum(stop.seconds + stop.pause for stop in stops) / quick
        if not MIN_SAMPLES <= duration * rate <= MAX_SAMPLES:
            raise ShapeError(
                f"activity {self.activity.name!r} lasts {duration:.3g} s at this pace, which is {duration * rate:.3g} "
                f"samples at {rate:g} Hz; between {MIN_SAMPLES} and {MAX_SAMPLES:,} are wanted: change rate or pace"
            )
        curve, starts = join(self.start[row], [stop._replace(q=stop.q[row]) for stop in stops], quick, self.arm)
        t, q, qd, qdd = sample(curve, rate)
        held, contact = np.zeros(len(t), dtype=bool), None
        for stop, (begins, arrives, leaves) in zip(stops, starts, strict=True):
            middle = (arrives + leaves) / 2
            if stop.grasp:
                held |= t >= middle
            if stop.release:
                held &= t < middle
            if stop.push is not None:
                contact = np.zeros((len(t), 6)) if contact is None else contact
                contact[(t >= begins) & (t < arrives), 3:] = stop.push
        grasps: tuple[Grasp, ...] = ()
        if self.activity.object is not None and held.any():
            item = self.content.objects[self.activity.object]
            ball = {"shape": "sphere", "radius": item.radius} if item.radius else {}
            grasps = (Grasp(self.activity.object, rigid_body(mass=item.mass, **ball), held),)  # type: ignore[arg-type]
        return Motion(self.activity.name, t, q, qd, qdd, grasps, contact, synthetic=True)


def join(
    start: Array, stops: Sequence[Stop], pace: float, arm: Robot
) -> tuple[Curve, list[tuple[float, float, float]]]:
    """A curve from stop to stop, and for each the times when its leg begins, when it arrives, and when it leaves.

    Between two stops it is the motion of least jerk through the points on the way; one that leaves the joints' ranges
    is replaced by a curve that turns at its way-points.
    """
    pieces: list[Array] = []
    breaks, times = [0.0], []
    here, run_times, run_points = start, [0.0], [start]
    now = 0.0
    for k, stop in enumerate(stops):
        begins = now
        now += stop.seconds / pace
        run_times.append(now)
        run_points.append(stop.q)
        if stop.stops or stop.pause or k == len(stops) - 1:
            curve = _within_ranges(np.array(run_times), np.array(run_points), arm)
            pieces.append(curve.c)
            breaks += list(curve.x[1:])
            arrives = now
            if stop.pause:
                now += stop.pause / pace
                rest = np.zeros((6, 1, len(here)))
                rest[-1, 0] = stop.q
                pieces.append(rest)
                breaks.append(now)
            times.append((begins, arrives, now))
            run_times, run_points = [now], [stop.q]
        else:
            times.append((begins, now, now))
    return PPoly(np.concatenate(pieces, axis=1), np.array(breaks)), times


def _within_ranges(times: Array, points: Array, arm: Robot) -> Curve:
    low, high = arm.limits.lower - RANGE_TOLERANCE, arm.limits.upper + RANGE_TOLERANCE
    for method in (minimum_jerk, quintic):
        curve = method(times, points)
        q = curve(np.linspace(times[0], times[-1], 20 * len(times)))
        if ((q >= low) & (q <= high)).all():
            break
    return curve
