"""A study: motions of subjects through the kernels into statistics, one activity after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby
from os import PathLike
from typing import TYPE_CHECKING, Any

from chainrule.arguments import as_list, positive, whole_number
from chainrule.calls import explains_arguments
from chainrule.core.progress import ProgressBar
from chainrule.display.text import Shown, Table
from chainrule.errors import ShapeError, UnknownNameError, quoted, short_repr
from chainrule.lazy import cached_property
from chainrule.robot.robot import Robot
from chainrule.simulation.trajectory import Trajectory
from chainrule.study.activities import Activities, find_activity
from chainrule.study.activities import activities as read_activities
from chainrule.study.finding import GravityFinding
from chainrule.study.motions import Motion, MotionSource, Recorded
from chainrule.study.pieces import PieceResult, StudyPiece, split
from chainrule.study.statistics import PARTS, JointStatistics, union
from chainrule.study.subjects import Population, Subject
from chainrule.study.synthesis import Synthetic, Variation
from chainrule.study.torques import MotionTorques, torques_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EVERYTHING = "all activities"


@dataclass(frozen=True, eq=False)
class Study:
    """Motions of subjects, to be computed."""

    source: MotionSource
    prepare: Callable[[Subject], Subject] | None = None
    """What is done to each subject before its torques are computed: motors added, another gravity."""

    def torques(self, activity: str) -> Iterator[MotionTorques]:
        """The motions of an activity with their torques, one by one."""
        return torques_of(self.source.motions(activity), self.prepare)

    def subject(self, activity: str, number: int) -> Subject:
        """The subject of a motion."""
        subject = self.source.motions(activity, number, number + 1).subject_of(0)
        return subject if self.prepare is None else self.prepare(subject)

    def pieces(self) -> Iterator[StudyPiece]:
        """The motions in pieces, activity by activity, each of which can be computed by itself."""
        for name in self.source.activities:
            yield from split(self.source, name, self.prepare)

    def run(self, progress: bool | None = None, *, cluster: Any = None, workers: int | None = None) -> Result:
        """All motions computed, and their statistics.

        Parameters
        ----------
        progress
            Whether a bar is shown; on a terminal it is, after a second.
        cluster, workers
            The Dask cluster that computes, or a number of processes on this machine, as of `run`. The result is the
            same.
        """
        from chainrule.cluster.studies import compute_pieces

        titles = self.source.activities
        if not titles:
            raise ShapeError("a study needs at least one motion, got none")
        total, done = sum(self.source.count(name) for name in titles), 0
        cells: list[JointStatistics] = []
        examples: dict[str, MotionTorques] = {}
        kept: dict[str, Mapping[int, Motion]] = {}
        parts = compute_pieces(self.pieces(), cluster, workers)
        with ProgressBar(total, progress, "computing torques", "motions") as bar, closing(parts):
            for name, group in groupby(parts, key=lambda pair: pair[0].activity):
                whole: PieceResult | None = None
                for piece, part in group:
                    whole = part if whole is None else whole.join(part)
                    done += piece.count
                    bar.at(done)
                assert whole is not None
                assert whole.example is not None  # the first piece has it
                examples[name] = replace(whole.example, subject=self.subject(name, 0))
                cells += whole.collector.finish(examples[name].subject.robot.model.layout.velocity_names)
                whole.kept.drop_lesser()
                kept[name] = whole.kept.motions
        return Result(self, dict(titles), examples, cells, KeptMotions(self, kept))


@dataclass(frozen=True, eq=False)
class KeptMotions:
    """States that a study keeps of each activity: of motions by number, with few samples each."""

    study: Study
    states: Mapping[str, Mapping[int, Motion]]

    def motions(self, activity: str) -> Iterator[tuple[Subject, Motion]]:
        """The motions with their subjects."""
        for number, motion in self.states[activity].items():
            yield self.study.subject(activity, number), motion


@dataclass(frozen=True, eq=False, repr=False)
class Result(Shown):
    """Statistics of a study, with an example of each activity."""

    study: Study
    titles: Mapping[str, str]
    """Of the activities, by name."""
    examples: Mapping[str, MotionTorques]
    """The first motion of each activity, with its torques."""
    cells: list[JointStatistics]
    """Of every joint in every activity."""
    kept: KeptMotions
    """Some states, the extreme ones among them, from which drives are sized."""

    def _view(self) -> Iterator[str | Table]:
        motions = sum(self.study.source.count(name) for name in self.titles)
        kinds = "1 activity" if len(self.titles) == 1 else f"{len(self.titles)} activities"
        yield f"Result of a study of {self.robot.name!r}: {motions} motion{'s' * (motions != 1)}, {kinds}"
        yield self.table()

    def table(self, activity: str | None = None) -> Table:
        """A row for each joint: largest and RMS torque, speed, power, shares of the torque's parts.

        Over all activities, or in one of them by its name or title. It prints as a table, and `rows` has its cells.
        """
        units = {place.name: place.unit for place in self.robot.model.layout.velocities}
        rows = []
        for joint in self.joints:
            cell = self.overall[joint] if activity is None else self.cell(activity, joint)
            shares = (float(cell.share(part)) for part in self.parts)
            unit = "N" if joint in self.sliding else "N m"
            speed, power = float(cell["speed"].peak), float(cell["power"].maximum)
            rows.append((joint, cell.peak_torque, cell.rms_torque, unit, speed, f"{units[joint]}/s", power, *shares))
        header = (
            "joint",
            "peak",
            "RMS",
            "unit",
            "speed",
            "unit",
            "power, W",
            *(f"share of {part}" for part in self.parts),
        )
        return Table(header, rows)

    @property
    def robot(self) -> Robot:
        """The robot of the first subject."""
        return next(iter(self.examples.values())).subject.robot

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the degrees of freedom."""
        return tuple(self.robot.model.layout.velocity_names)

    @property
    def sliding(self) -> tuple[str, ...]:
        """Those of them that slide, whose torques are forces in N, angles in m."""
        return tuple(place.name for place in self.robot.model.layout.velocities if place.unit != "rad")

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """Names of the terms of the torques that occur: in some joint and activity they are not zero."""
        return tuple(name for name in self.cells[0].magnitudes if any(cell.magnitudes[name] for cell in self.cells))

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Parts of the torques that are shown: gravity and the dynamic torque, others where they occur."""
        return tuple(
            part for part in PARTS if part in ("gravity", "dynamic") or any(cell[part].peak for cell in self.cells)
        )

    @cached_property
    def _by_place(self) -> dict[tuple[str, str], JointStatistics]:
        return {(cell.activity, cell.joint): cell for cell in self.cells}

    def cell(self, activity: str, joint: str) -> JointStatistics:
        """The statistics of a joint in an activity, which goes by its name or its title."""
        if joint not in self.joints:
            raise UnknownNameError.of("joint", joint, self.joints, "the study")
        return self._by_place[self.activity(activity), joint]

    def activity(self, asked: str | None = None) -> str:
        """The name of the activity that has this name or title, in any case; of the only one, where none is asked for.

        >>> from chainrule import study
        >>> result = study.run(study.Subject.human(), ["reach_head_level", "comb_hair"], rate=50)
        >>> result.activity("Arm reach to head level")
        'reach_head_level'
        """
        if asked is None:
            if len(self.titles) > 1:
                raise ShapeError(f"the study has {len(self.titles)} activities, say which: {quoted(self.titles)}")
            return next(iter(self.titles))
        name = find_activity(asked, self.titles, "the study")
        if name is None:
            raise UnknownNameError.of("activity", asked, self.titles, "the study")
        return name

    def plot(
        self,
        activity: str | None = None,
        path: str | PathLike[str] | None = None,
        *,
        joints: Sequence[str] | None = None,
        size: Sequence[float] | None = None,
    ) -> Figure:
        """Draw an activity: (a) its curves over time, and (b) boxes of the same quantities, joints side by side.

        Angle, speed, acceleration and torque, in degrees where a joint turns. Curves are those of the first motion: the
        total torque with its parts, gravity, the dynamic torque (inertial, centrifugal and Coriolis terms together),
        contact where the hand pushes, and other terms where there are some. Boxes are those of all motions of the
        activity: quartiles and median, whiskers to 1.5 interquartile ranges, crosses beyond.

        Parameters
        ----------
        activity
            Its name or its title; of a study of one activity it can be left out.
        path
            A .png, .pdf or .svg file to write. Without one the figure appears in a notebook, and with plt.show().
        joints
            Names of the joints that are drawn. Unless given, all of them, or the eight with the largest torques of
            more, which the title then says.
        size
            Width and height of the figure, in inches.
        """
        from chainrule.study.activity_plot import plot

        name = self.activity(activity)
        cells = [self.cell(name, joint) for joint in self.joints]
        return plot(self.examples[name], cells, self.titles[name], path, joints=joints, size=size)

    @cached_property
    def overall(self) -> dict[str, JointStatistics]:
        """The statistics of each joint over all activities."""
        return {
            joint: union([self._by_place[activity, joint] for activity in self.titles], EVERYTHING)
            for joint in self.joints
        }

    def finding(self, measure: str = "peak") -> GravityFinding:
        """Whether gravity exceeds all dynamic terms together, compared by "peak" or "rms"."""
        return GravityFinding.of(self.cells, measure, self.sliding)


@explains_arguments
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
    cluster: Any = None,
    workers: int | None = None,
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
    cluster
        The address of a Dask scheduler that computes, "tcp://host:8786", or a Client or Cluster of Dask; the client
        that is in use, if there is one, and otherwise this process.
    workers
        So many processes on this machine in place of a cluster.

    Returns
    -------
    Result
    """
    people = subjects if isinstance(subjects, Population) else _people(subjects)
    if motions is not None:
        if len(people) != 1:
            raise ShapeError(f"recorded motions are those of one subject, got {len(people)} subjects")
        named = {"motion": motions} if isinstance(motions, Trajectory) else motions
        if not isinstance(named, Mapping):
            raise ShapeError(f"motions: give a Trajectory, or several by name, got {named!r:.60}")
        return Study(Recorded(people[0], named)).run(progress, cluster=cluster, workers=workers)
    asked = activities if isinstance(activities, (list, tuple)) else (activities,)
    if any(isinstance(one, Trajectory) for one in asked):
        raise ShapeError('activities are names; motions of your own go in by name: motions={"lift": trajectory}')
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
    return Study(source).run(progress, cluster=cluster, workers=workers)


def _people(subjects: Any) -> list[Subject]:
    several = [subjects] if isinstance(subjects, (Subject, Robot)) else as_list(subjects, "subjects")
    people = [Subject.of(one) if isinstance(one, Robot) else one for one in several]
    if not people or not all(isinstance(one, Subject) for one in people):
        raise ShapeError(
            "subjects: give cr.study.Subject.human(mass=..., height=...), a Robot and motions of its own, or a list of "
            f"such subjects, got {short_repr(subjects)}"
        )
    return people
