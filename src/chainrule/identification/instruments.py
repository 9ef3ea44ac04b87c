"""Motions without noise for instrumental variables: simulations of an estimate under the controller of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from chainrule.errors import ShapeError
from chainrule.identification.recordings import STILL, Recordings
from chainrule.kinematics.configurations import difference
from chainrule.simulation.simulate import simulate
from chainrule.simulation.trajectory import Trajectory

SIMULATED = "simulated"
"""The word for instruments that are simulated."""

SIMULATIONS = 2
"""Simulations of a recording: of the estimate by least squares, and of the one that this leads to."""

STEP = 1e-3
"""The step of simulations, in s."""

FOLLOWS = 0.5
"""The share of a joint's rms motion by which a simulation may miss the recording; beyond it is another motion."""


def simulated_instruments(robot: Any, recordings: Recordings, controller: Any) -> list[Trajectory]:
    """For each recording a simulation of the robot from its start, at its times; controllers begin at time 0."""
    count = len(recordings.sources)
    laws = list(controller) if isinstance(controller, Sequence) else [controller] * count
    if controller is None or len(laws) != count:
        raise ShapeError(
            f'identify: instruments="simulated" needs controller=..., one for all {count} motions or a list with one '
            f"for each; got {'none' if controller is None else len(laws)}"
        )
    found = []
    for (number, motion), law in zip(recordings.trajectories(), laws, strict=True):
        start = motion.q[..., 0, :], motion.qd[..., 0, :]
        free = simulate(robot, *start, motion.duration + STEP, law, dt=STEP, progress=False)
        found.append(replace(free, t=free.t + motion.t[0]).resample(motion.t))
        missed, moved = (
            np.sqrt((difference(robot, a, motion.q) ** 2).reshape(-1, robot.nv).mean(axis=0))
            for a in (found[-1].q, motion.q[..., :1, :])
        )
        worst = int((missed - FOLLOWS * moved).argmax())
        if not missed[worst] <= FOLLOWS * moved[worst] + STILL:
            raise ShapeError(
                f"identify: the simulation under controller=... does not follow motions[{number}]: "
                f"{robot.model.layout.velocity_names[worst]!r}, which moves {moved[worst]:.2g}, is off by "
                f"{missed[worst]:.2g} (rms); give the controller that made this recording, its time 0 being the start"
            )
    return found
