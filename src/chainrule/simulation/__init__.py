"""Motions from torques: integrators, friction that sticks, compiled rollouts, events, trajectories."""

from __future__ import annotations

from typing import Any

from chainrule.simulation.request import ADAPTIVE, setup
from chainrule.simulation.trajectory import Trajectory


def simulate(*arguments: Any) -> Trajectory:
    """What Robot.simulate does, with its arguments in the order of `setup`."""
    asked = setup(*arguments)
    if asked.method in ADAPTIVE:
        from chainrule.simulation.adaptive import adaptive

        return adaptive(asked)
    from chainrule.simulation.fixed_step import Run

    return Run(asked).trajectory()
