"""A study: motions of subjects through the kernels into statistics, one activity after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from chainrule.arguments import as_list, positive, whole_number
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.lazy import cached_property
from chainrule.robot.robot import Robot
from chainrule.simulation.progress import Progress
from chainrule.simulation.trajectory import Trajectory
from chainrule.study.activities import Activities
from chainrule.study.activities import activities as read_activities
from chainrule.study.finding import Finding
from chainrule.study.motions import Motion, Recorded
from chainrule.study.statistics import Collector, JointStatistics, union
from chainrule.study.subjects import Subject
from chainrule.study.synthesis import Synthetic, Variation
from chainrule.study.torques import MotionTorques, TorqueFunction

STATES_PER_ACTIVITY = 4000
"""States that are kept of an activity for the sizing of drives, about, besides the extreme ones."""

EVERYTHING = "all activities"


class Source(Protocol):
    """A source of motions, made or read one by one, so that memory stays bounded."""

    @property
    def activities(self) -> Mapping[str, str]:
        """Titles by name."""

    def motions(self, activity: str) -> Iterator[tuple[Subject, Motion]]:
        """The motions of an activity, the same ones at each call; the first one is shown as its example."""

    def count(self, activity: str) -> int:
        """The number of motions of an activity."""

    def describe(self) -> list[str]:
        """Sentences for the report about the motions: seed, filter, what is synthetic."""


@dataclass(frozen=True, eq=False)
class Study:
    """Motions of subjects, to be computed."""

    source: Source
    prepare: Callable[[Subject], Subject] | None = None
    """What is done to each subject before its torques are computed: motors added, another gravity."""

    def torques(self, activity: str) -> Iterator[MotionTorques]:
        """The motions of an activity with their torques, one by one."""
        functions: dict[int, TorqueFunction] = {}
        for subject, motion in self.source.motions(activity):
            if self.prepare is not None:
                subject = self.prepare(subject)
            if id(subject.base) not in functions:
                functions[id(subject.base)] = TorqueFunction(subject.base)
            yield functions[id(subject.base)](subject, motion)

    def run(self, progress: bool | None = None) -> Result:
        """All motions computed, and their statistics.

        progress: whether a bar is shown; on a terminal it is, after a second.
        """
        titles = self.source.activities
        if not titles:
            raise ShapeError("a study needs at least one motion, got none")
        total, done = sum(self.source.count(name) for name in titles), 0
        cells: list[JointStatistics] = []
        examples: dict[str, MotionTorques] = {}
        kept: dict[str, list[tuple[Subject, Motion]]] = {name: [] for name in titles}
        with Progress(total, progress, "computing torques", "motions") as bar:
            for name in titles:
                collector = Collector(name)
                for torques in self.torques(name):
                    if name not in examples:
                        examples[name] = torques
                    collector.add(torques)
                    kept[name].append((torques.subject, _thin(torques, self.source.count(name))))
                    done += 1
                    bar.at(done)
                cells += collector.finish(examples[name].subject.robot.layout.velocity_names)
        return Result(self, dict(titles), examples, cells, Kept(dict(titles), kept))


@dataclass(frozen=True, eq=False)
class Kept:
    """A source of the states that a study keeps."""

    activities: Mapping[str, str]
    states: Mapping[str, list[tuple[Subject, Motion]]]

    def count(self, activity: str) -> int:
        """The number of motions."""
        return len(self.states[activity])

    def motions(self, activity: str) -> Iterator[tuple[Subject, Motion]]:
        """The motions, with few samples each."""
        return iter(self.states[activity])

    def describe(self) -> list[str]:
        """Nothing that the source of the study does not say."""
        return []


@dataclass(frozen=True, eq=False)
class Result:
    """Statistics of a study, with an example of each activity."""

    study: Study
    titles: Mapping[str, str]
    """Of the activities, by name."""
    examples: Mapping[str, MotionTorques]
    """The first motion of each activity, with its torques."""
    cells: list[JointStatistics]
    """Of every joint in every activity."""
    kept: Kept
    """Some states of every motion, the extreme ones among them, from which drives are sized."""

    def __repr__(self) -> str:
        motions = sum(self.study.source.count(name) for name in self.titles)
        return f"<Result of a study of {self.robot.name!r}: {motions} motions, {len(self.titles)} activities>"

    @property
    def robot(self) -> Robot:
        """The robot of the first subject."""
        return next(iter(self.examples.values())).subject.robot

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the degrees of freedom."""
        return tuple(self.robot.layout.velocity_names)

    @property
    def sliding(self) -> tuple[str, ...]:
        """Those of them that slide, whose torques are forces in N, angles in m."""
        return tuple(place.name for place in self.robot.layout.velocities if place.unit != "rad")

    @cached_property
    def _by_place(self) -> dict[tuple[str, str], JointStatistics]:
        return {(cell.activity, cell.joint): cell for cell in self.cells}

    def cell(self, activity: str, joint: str) -> JointStatistics:
        """The statistics of a joint in an activity."""
        if activity not in self.titles:
            raise UnknownNameError.of("activity", activity, self.titles, "the study")
        if joint not in self.joints:
            raise UnknownNameError.of("joint", joint, self.joints, "the study")
        return self._by_place[activity, joint]

    @cached_property
    def overall(self) -> dict[str, JointStatistics]:
        """The statistics of each joint over all activities."""
        return {
            joint: union([self._by_place[activity, joint] for activity in self.titles], EVERYTHING)
            for joint in self.joints
        }

    def finding(self, measure: str = "peak") -> Finding:
        """Whether gravity exceeds all dynamic terms together, compared by "peak" or "rms"."""
        return Finding.of(self.cells, measure, self.sliding)


def _thin(torques: MotionTorques, motions: int) -> Motion:
    """Samples of a motion evenly spread in time, and those where torque, speed, power or their like are extreme."""
    motion = torques.motion
    even = np.zeros(len(motion), dtype=bool)
    even[:: max(1, len(motion) * motions // STATES_PER_ACTIVITY)] = True
    places = even.copy()
    for array in (torques.total, motion.qd, motion.qdd, torques.power):
        places[array.argmax(axis=0)] = places[array.argmin(axis=0)] = True
    return motion.at(np.flatnonzero(places), even[places])


def run(
    subjects: Subject | Robot | Sequence[Subject],
    activities: str | int | Sequence[str | int] | Activities = "all",
    *,
    motions: Mapping[str, Trajectory | Sequence[Trajectory]] | Trajectory | None = None,
    variants: int = 1,
    rate: float = 1000.0,
    pace: float = 1.0,
    seed: int = 0,
    variation: Variation | None = None,
    progress: bool | None = None,
) -> Result:
    """A study of subjects: torques of all motions, and their statistics.

    Parameters
    ----------
    subjects
        One or several of `Subject.human`, `percentile` or `population`; or a robot, which needs motions of its own.
    activities
        Names or numbers of the 24 activities of daily living, "all", or an `Activities` read from a file of the user.
    motions
        Recorded motions in place of activities: a Trajectory, or one or several by name.
    variants
        How often each subject does each activity, each time a little different; the first time as the file says.
    rate
        Samples a second of the synthetic motions.
    pace
        The factor of speed of the synthetic motions.
    seed, variation
        Choose the differences between variants.
    progress
        Whether a bar is shown; on a terminal it is, after a second.

    Returns
    -------
    Result
    """
    several = [subjects] if isinstance(subjects, (Subject, Robot)) else as_list(subjects, "subjects")
    people = [Subject.of(one) if isinstance(one, Robot) else one for one in several]
    if not people or not all(isinstance(one, Subject) for one in people):
        raise ShapeError("subjects: give a Subject, a Robot, or a list of them")
    if motions is not None:
        if len(people) != 1:
            raise ShapeError(f"recorded motions are those of one subject, got {len(people)} subjects")
        named = {"motion": motions} if isinstance(motions, Trajectory) else motions
        if not isinstance(named, Mapping):
            raise ShapeError(f"motions: give a Trajectory, or several by name, got {named!r:.60}")
        return Study(Recorded(people[0], named)).run(progress)
    if not (variation is None or isinstance(variation, Variation)):
        raise ShapeError(f"variation must be a chainrule.study.Variation, got {variation!r:.60}")
    content = activities if isinstance(activities, Activities) else read_activities()
    chosen = content.choose("all" if isinstance(activities, Activities) else activities)
    source = Synthetic(
        people, content, chosen,
        variants=whole_number(variants, "variants", 1),
        rate=positive(rate, "rate", "a positive number of samples a second", unit="Hz"),
        pace=positive(pace, "pace", "a positive factor of speed"),
        seed=whole_number(seed, "seed"), variation=variation,
    )  # fmt: skip
    return Study(source).run(progress)
