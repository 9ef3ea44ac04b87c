"""Velocities and accelerations of the state, joint by joint: they make inertial, Coriolis and friction torques."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array
from chainrule.robot.robot import Robot
from chainrule.studio.inputs import GuardedControl
from chainrule.studio.panels.panel import Panel, by_user

if TYPE_CHECKING:
    from chainrule.studio.session import Session

LABELS = ("Velocity", "Acceleration")

FASTEST = 3.0
"""The end of a slider, in rad/s or m/s, for joints without a velocity limit."""

SECONDS_TO_STOP = 0.2
"""The time in which the largest acceleration of a slider stops the largest velocity."""


def velocity_ranges(robot: Robot) -> Array:
    """The largest velocity of each slider (n,): the limit of the joint, or FASTEST where there is none."""
    limits = robot.limits.velocity
    return np.where(np.isfinite(limits) & (limits > 0), limits, FASTEST)


SHARES = {"At rest": 0.0, "Random": 0.6}
"""What all joints can be set to: random velocities and accelerations up to a share of the sliders' ranges."""


class MotionPanel(Panel):
    """The velocity and acceleration of one joint after the other, or of all at random."""

    title = "Velocity and acceleration"
    tab = "Dynamics"
    open = False
    rate = 15.0

    def suits(self, robot: Robot) -> bool:
        """Whether anything moves."""
        return robot.nv > 0

    def build(self, session: Session) -> None:
        """Make the controls."""
        gui, names = session.client.gui, session.robot.velocity_names
        self._ranges = velocity_ranges(session.robot)
        self._joint = gui.add_dropdown("Joint", names, initial_value=names[0])
        sliders = [gui.add_slider(label, -1.0, 1.0, step=1e-3, initial_value=0.0) for label in LABELS]
        self._speed, self._rate = (GuardedControl(session, slider, lambda: self._follow(session)) for slider in sliders)
        self._choose(session)
        all_joints = gui.add_button_group("All joints", tuple(SHARES))
        self._joint.on_update(by_user(session, lambda: self._choose(session)))
        all_joints.on_click(session.guarded(lambda event: self._set(session, SHARES[event.target.value])))

    def _index(self, session: Session) -> int:
        return session.robot.velocity_names.index(self._joint.value)

    def _choose(self, session: Session) -> None:
        """Give the sliders the ranges and values of the chosen joint."""
        i, state = self._index(session), session.state
        unit = session.robot.model.layout.velocities[i].unit
        ends = float(self._ranges[i]), float(self._ranges[i]) / SECONDS_TO_STOP
        units, values = (f"{unit}/s", f"{unit}/s²"), (state.qd[i], state.qdd[i])
        for slider, word, unit_of, end, value in zip(
            (self._speed, self._rate), LABELS, units, ends, values, strict=True
        ):
            control = slider.control
            control.label = f"{word} {unit_of}"
            control.min, control.max, control.step = -end, end, end / 500
            slider.show(float(np.clip(value, -end, end)))

    def _follow(self, session: Session) -> None:
        i, state = self._index(session), session.state
        qd, qdd = state.qd.copy(), state.qdd.copy()
        qd[i], qdd[i] = self._speed.value, self._rate.value
        session.move(qd=qd, qdd=qdd, by=self)

    def _set(self, session: Session, share: float) -> None:
        """All joints at random velocities and accelerations, up to a share of the sliders' ranges."""
        rng = np.random.default_rng()
        qd, qdd = share * self._ranges * rng.uniform(-1.0, 1.0, (2, len(self._ranges)))
        session.move(qd=qd, qdd=qdd / SECONDS_TO_STOP)

    def update(self, session: Session) -> None:
        """Set the sliders to the state, unless they are what changed it."""
        if self not in session.movers:
            self._choose(session)
