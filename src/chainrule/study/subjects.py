"""Subjects of a study: a human arm by body mass, height, sex and side, a population of them, or any robot."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from scipy.special import ndtri

from chainrule.arguments import number, one_of, whole_number, word
from chainrule.display.text import FieldsShown
from chainrule.errors import ShapeError
from chainrule.robot.body_points import SIDES
from chainrule.robot.human_arm import human_arm
from chainrule.robot.rigid_body import RigidBody

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.robot.robot import Robot

BASE_MASS_KG, BASE_HEIGHT_M = 75.0, 1.75
"""The body whose kernels serve all others of its table and side."""


@dataclass(frozen=True)
class Person:
    """A person, by what the anthropometric tables ask for: kg and m."""

    mass: float
    height: float
    sex: str = "male"
    side: str = "right"
    table: str | None = None

    def arm(self, name: str = "human_arm") -> Robot:
        """The arm as a robot."""
        return human_arm(self.mass, self.height, self.table, name, side=self.side, sex=self.sex)


@dataclass(frozen=True, eq=False, repr=False)
class Subject(FieldsShown):
    """Whose motion is studied: a robot, and how it follows from the one that its kernel is made for."""

    name: str
    robot: Robot
    """With everything that it always carries: an exoskeleton, a tool."""
    base: Robot
    """A robot with the same joints, whose lengths are those of `robot` divided by the scale."""
    scale: float = 1.0
    body: Person | None = None

    @staticmethod
    def of(robot: Robot) -> Subject:
        """A robot as it is."""
        return Subject(robot.name, robot, robot)

    @staticmethod
    def human(
        mass: float = BASE_MASS_KG,
        height: float = BASE_HEIGHT_M,
        *,
        sex: str = "male",
        side: str = "right",
        table: str | None = None,
        exoskeleton: Mapping[str, RigidBody] | None = None,
        gravity: ArrayLike | None = None,
        name: str | None = None,
    ) -> Subject:
        """A human arm.

        Parameters
        ----------
        mass, height
            Of the body, in kg and m.
        sex, side, table
            As of `human_arm`: "male" or "female", "right" or "left", an anthropometric table.
        exoskeleton
            A rigid body for each link that carries a part of it, in the frame of the link: `chainrule.rigid_body`.
        gravity
            In the axes of the trunk (x forward, y to the left, z up), in m/s^2: (-9.81, 0, 0) for a person who lies on
            the back. Downwards unless given.
        name
            In reports.
        """
        body = Person(number(mass, "body mass", "kg"), number(height, "body height", "m"), sex, side, table)
        arm = body.arm()
        if gravity is not None:
            arm = arm.edit(gravity=gravity)
        label = (
            word(name, "name") if name is not None else f"{sex}, {body.mass:.3g} kg, {body.height:.3g} m, {side} arm"
        )
        base = _base_arm(table, sex, side)
        return Subject(label, arm, base, body.height / BASE_HEIGHT_M, body).carrying(
            {} if exoskeleton is None else exoskeleton
        )

    def carrying(self, bodies: Mapping[str, RigidBody]) -> Subject:
        """The subject with a body fixed to each of the links named, given in the frame of the link."""
        if not isinstance(bodies, Mapping):
            raise ShapeError(f"give a rigid body for each link by name, as {{'forearm': body}}, got {bodies!r:.60}")
        robot = self.robot
        for link, body in bodies.items():
            if not isinstance(body, RigidBody):
                raise ShapeError(f"what link {link!r} carries must be a chainrule.rigid_body(...), got {body!r:.60}")
            robot = robot.with_payload(body.mass, body.com, body.inertia, link=link)
        return replace(self, robot=robot)


@cache
def _base_arm(table: str | None, sex: str, side: str) -> Robot:
    """The arm that the kernels of a table and a side are made for."""
    return human_arm(BASE_MASS_KG, BASE_HEIGHT_M, table, side=side, sex=sex)


@dataclass(frozen=True)
class Survey:
    """Body height (m): mean and standard deviation. Body mass index (kg/m^2): median and deviation of its logarithm."""

    height: tuple[float, float]
    index: tuple[float, float]

    def body(self, height: float, index: float) -> tuple[float, float]:
        """Mass and height at numbers of standard deviations from the middle of both."""
        tall = self.height[0] + height * self.height[1]
        return float(self.index[0] * np.exp(index * self.index[1])) * tall**2, tall


SURVEYS = {"male": Survey((1.756, 0.0686), (27.39, 0.146)), "female": Survey((1.628, 0.0642), (25.26, 0.135))}
"""4082 men and 1986 women of the 2012 Anthropometric Survey of U.S. Army Personnel (ANSUR II, Natick/TR-15/007),
computed from its public data. The index is nearly log-normal there, and hardly depends on height (correlations of 0.00
and 0.06)."""

MAX_DEVIATION = 2.5
"""Draws are kept within so many standard deviations, where the survey has people."""

PEOPLE_KEPT = 2048
"""People of a population that stay in memory once they are made: 20 kB each."""


def percentile(share: float, sex: str = "male", side: str = "right", **options: Any) -> Subject:
    """The arm of a person who is at this percentile both of height and of body mass index.

    Other options are those of `Subject.human`: table, exoskeleton, gravity.

    >>> percentile(5, "female").name
    'percentile 5, female, 46.9 kg, 1.52 m, right arm'
    """
    one_of(SURVEYS, sex, "sex", "the survey")
    share = number(share, "percentile")
    if not 0.1 <= share <= 99.9:
        raise ShapeError(f"a percentile is between 0.1 and 99.9, got {share:g}")
    z = float(ndtri(share / 100))
    mass, height = SURVEYS[sex].body(z, z)
    label = f"percentile {share:g}, {sex}, {mass:.3g} kg, {height:.3g} m, {side} arm"
    return Subject.human(mass, height, sex=sex, side=side, name=label, **options)


class Population(Sequence[Subject]):
    """People drawn from the survey, each made when it is asked for: any number of them takes the memory of some.

    Sent to another process, it is drawn there again from its seed.
    """

    def __init__(self, size: int, sexes: Sequence[str], sides: Sequence[str], seed: int, options: Mapping[str, Any]):
        self.sexes, self.sides, self.seed, self.options = sexes, sides, seed, options
        self._numbers = range(size)
        self._person = lru_cache(maxsize=PEOPLE_KEPT)(self._draw)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, place: int) -> Subject: ...
    @overload
    def __getitem__(self, place: slice) -> list[Subject]: ...
    def __getitem__(self, place: int | slice) -> Subject | list[Subject]:
        chosen = self._numbers[place]
        return [self._person(k) for k in chosen] if isinstance(chosen, range) else self._person(chosen)

    def __add__(self, others: Sequence[Subject]) -> list[Subject]:
        return [*self, *others]

    def __radd__(self, others: Sequence[Subject]) -> list[Subject]:
        return [*others, *self]

    def __repr__(self) -> str:
        return f"<Population of {len(self)} people: {', '.join(self.sexes)}; {', '.join(self.sides)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _drawn_again, (pickle.dumps((len(self), self.sexes, self.sides, self.seed, self.options)),)

    @property
    def by_base(self) -> list[Sequence[int]]:
        """Numbers of the people who share a base arm."""
        step = len(self.sexes) * len(self.sides)
        return [self._numbers[first::step] for first in range(min(step, len(self)))]

    def _draw(self, k: int) -> Subject:
        from scipy.stats import truncnorm  # half a second to import

        rng = np.random.default_rng([self.seed, k])
        sex = self.sexes[k % len(self.sexes)]
        z = truncnorm.rvs(-MAX_DEVIATION, MAX_DEVIATION, size=2, random_state=rng)
        mass, height = SURVEYS[sex].body(*z)
        side = self.sides[k // len(self.sexes) % len(self.sides)]
        label = f"person {k + 1}, {sex}, {mass:.3g} kg, {height:.3g} m, {side} arm"
        return Subject.human(mass, height, sex=sex, side=side, name=label, **self.options)


@lru_cache(maxsize=4)
def _drawn_again(arguments: bytes) -> Population:
    """The population of these pickled arguments, the same object each time: people whom it has made stay made."""
    return Population(*pickle.loads(arguments))


def by_base(subjects: Sequence[Subject]) -> list[Sequence[int]]:
    """Places of the subjects who share a base robot, for each of these robots."""
    if isinstance(subjects, Population):
        return subjects.by_base
    groups: dict[int, list[int]] = {}
    for k, subject in enumerate(subjects):
        groups.setdefault(id(subject.base), []).append(k)
    return list(groups.values())


def population(count: int, *, sex: str = "both", side: str = "right", seed: int = 0, **options: Any) -> Population:
    """Arms of so many people, drawn from the survey: a sequence that makes each of them when it is asked for.

    Parameters
    ----------
    count
        How many. The first ones of a longer list are those of a shorter one.
    sex
        "male", "female" or "both", by turns.
    side
        "right", "left" or "both", by turns.
    seed
        The same seed draws the same people.
    options
        Those of `Subject.human`: table, exoskeleton, gravity.
    """
    people = Population(
        whole_number(count, "population: count", 1),
        list(SURVEYS) if one_of((*SURVEYS, "both"), sex, "sex", "the survey") == "both" else [sex],
        list(SIDES) if one_of((*SIDES, "both"), side, "side", "a body") == "both" else [side],
        whole_number(seed, "seed"),
        options,
    )
    people[0]  # wrong options are told here
    return people
