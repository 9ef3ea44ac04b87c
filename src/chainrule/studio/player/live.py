"""A simulation that runs while it is watched: a law holds the robot, wrenches push it, and its past is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.control.laws.gains import BANDWIDTH_HZ, default_gains
from chainrule.robot.robot import Robot
from chainrule.simulation.impacts import Impacts, Stops
from chainrule.studio.player.history import RecentSamples
from chainrule.studio.player.laws import RELEASED, make_law

STEP_S = 1e-3
"""Steps of the simulation."""

HISTORY_S = 60.0
"""The past that can be seen again."""

SAMPLES_A_SECOND = 60
"""Samples that are kept of a second of the motion, at most."""

STOP_BANDWIDTH_HZ = 10.0
"""The natural frequency of a joint on the spring of its stop."""

LIMITS = ("Springs", "Hard stops", "Ignored")
"""What happens at the position limits."""


class Sample(NamedTuple):
    """One moment of a motion."""

    time: float
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    kinetic: float
    """Kinetic energy, in J."""
    potential: float
    """Potential energy of gravity and springs, in J."""


class Settings(NamedTuple):
    """The law and the limits of a simulation."""

    law: str = RELEASED
    bandwidth: float = BANDWIDTH_HZ
    """The natural frequency of the gains, in Hz."""
    limits: str = LIMITS[0]


def make_stops(robot: Robot, q: Array, limits: str) -> Stops | Impacts | None:
    """The stops at the position limits of a robot, as a choice on the page names them."""
    if limits == "Hard stops":
        return Impacts(0.0)
    if limits == "Springs" and np.isfinite([robot.limits.lower, robot.limits.upper]).any():
        kp, _, kd = default_gains(robot, q, bandwidth=STOP_BANDWIDTH_HZ)
        return Stops(kp, kd)
    return None


class Live:
    """A robot that moves under a law from a start, as far as it is told, with its last minute kept.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> live = Live(arm, np.zeros(2), np.zeros(2), Settings("PD"))
    >>> live.run_to(0.5)
    >>> live.push({"tip": np.array([0.0, 0.0, 0.0, 0.0, -9.0, 0.0])})
    >>> live.run_to(1.0)
    >>> bool(abs(live.sample.q[0]) > 1e-3), round(live.end, 9)
    (True, 1.0)
    """

    def __init__(
        self,
        robot: Robot,
        q: Array,
        qd: Array,
        settings: Settings,
        *,
        target: Array | None = None,
        parameters: Mapping[str, Array] | None = None,
        time: float = 0.0,
        history_s: float = HISTORY_S,
    ) -> None:
        self.robot, self.settings = robot, settings
        self.target = np.array(q if target is None else target, dtype=float)
        """The configuration that the law holds: that of the start unless another is given."""
        law = make_law(robot, settings.law, self.target, settings.bandwidth)
        self.holds = law is not None and law.target is not None
        """Whether the law brings the robot to a target."""
        self.simulation = robot.at(parameters or {}).simulation(
            q,
            qd,
            torque=law,
            dt=STEP_S,
            external={name: np.zeros(6) for name in pushable_links(robot)},
            stops=make_stops(robot, self.target, settings.limits),
            limits=False,
        )
        self.parameters = dict(parameters or {})
        """Numbers of the robot in place of its own: another gravity, a payload. The law does not know them."""
        self._zero = time
        self._loads: dict[str, Array] = {}
        self._size = self.simulation.state.shape[-1]
        self.history = RecentSamples(self._size + 2 * robot.nv + 2, round(history_s * SAMPLES_A_SECOND) + 1)
        self._keep()

    @property
    def start(self) -> float:
        """The time of the oldest sample, in s."""
        return self.history.first

    @property
    def end(self) -> float:
        """The time that the simulation has reached, in s."""
        return self._zero + self.simulation.t

    @property
    def sample(self) -> Sample:
        """The newest moment."""
        return self._sample(*self.history.at(np.inf))

    def at(self, time: float) -> Sample:
        """The kept moment that is nearest before a time."""
        return self._sample(*self.history.at(time))

    def series(self) -> tuple[Array, dict[str, Array]]:
        """Times (T,) of the kept moments, and torques "tau" (T, nv), energies "kinetic" and "potential" (T,)."""
        numbers = self.history.rows[:, self._size + self.robot.nv :]
        return self.history.times, {"tau": numbers[:, :-2], "kinetic": numbers[:, -2], "potential": numbers[:, -1]}

    def run_to(self, time: float) -> None:
        """Simulate up to a time; an error of the library where the motion diverges."""
        interval = round(1 / (SAMPLES_A_SECOND * STEP_S))
        left = round((time - self.end) / STEP_S)
        while left > 0:
            steps = min(left, interval)
            self.simulation.step(steps=steps)
            self._keep()
            left -= steps

    def rewind(self, time: float) -> None:
        """Go back to a kept moment; what came after it is forgotten."""
        at, row = self.history.at(time)
        self.simulation.state = row[: self._size]
        self._zero = at - self.simulation.t
        self.history.forget_after(at)

    def push(self, wrenches: Mapping[str, Array]) -> None:
        """Let these wrenches act from now on, and no others: {link: (6,)}, moment and force in world axes."""
        if self._loads.keys() == wrenches.keys() and all(
            np.array_equal(w, self._loads[n]) for n, w in wrenches.items()
        ):
            return
        self.simulation.push({**dict.fromkeys(self._loads, np.zeros(6)), **wrenches})
        self._loads = {name: np.array(wrench, dtype=float) for name, wrench in wrenches.items()}

    def change(self, parameters: Mapping[str, Array]) -> None:
        """Give the robot other numbers from now on, of the names that it was made with."""
        known = self.parameters
        if any(not np.array_equal(array, known[name]) for name, array in parameters.items()):
            self.simulation.change(parameters)
            self.parameters = dict(parameters)

    def aim(self, target: Array) -> None:
        """Give the law another configuration to hold; where it holds none, the robot is put there, at rest."""
        if not self.holds:
            self.place(target, np.zeros(self.robot.nv))
            return
        self.target = np.array(target, dtype=float)
        self._control()

    def place(self, q: Array, qd: Array) -> None:
        """Put the robot into another state, and hold it there where the law does."""
        state = self.simulation.state
        state[: self.robot.nq + self.robot.nv] = np.concatenate([q, qd])
        self.simulation.state = state
        self.target = np.array(q, dtype=float)
        self._control()
        self.history.drop_newest()
        self._keep()

    def _control(self) -> None:
        """Give the law its target."""
        law = make_law(self.robot, self.settings.law, self.target, self.settings.bandwidth)
        if law is not None:
            self.simulation.control(law)

    def _keep(self) -> None:
        """Keep the present moment."""
        found = self.simulation.record()
        q, qd = found["q"], found["qd"]
        here = self.robot.at(self.parameters)
        kinetic, potential = here.kinetic_energy(q, qd), here.potential_energy(q)
        self.history.append(
            self.end, np.concatenate([self.simulation.state, found["qdd"], found["tau"], [kinetic, potential]])
        )

    def _sample(self, time: float, row: Array) -> Sample:
        nq, nv = self.robot.nq, self.robot.nv
        qdd, tau, (kinetic, potential) = np.split(row[self._size :], [nv, 2 * nv])
        return Sample(time, row[:nq], row[nq : nq + nv], qdd, tau, float(kinetic), float(potential))


def pushable_links(robot: Robot) -> list[str]:
    """The links that move, and the frames on them: a wrench on the base moves nothing."""
    links = list(robot.link_names[1:])
    return [*links, *(frame.name for frame in robot.model.frames if frame.link in links)]
