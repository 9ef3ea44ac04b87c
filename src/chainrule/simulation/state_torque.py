"""The torque of a source in one state: samples, a function, a controller."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from chainrule.arguments import Array, together
from chainrule.compile.backend import Traceable, active
from chainrule.core.derived import backend_of, merged_fingerprint
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_argument
from chainrule.errors import ShapeError
from chainrule.simulation.request import refuse_other_robot
from chainrule.simulation.sampled import Sampled
from chainrule.simulation.sources import ControllerSource, Samples, is_controller
from chainrule.spatial import Scalar


def torque_of(robot: Mechanism, t: float, q: Array, qd: Array, torque: Any) -> Array:
    """The torques (..., n) of what a user passes, in a state."""
    if isinstance(torque, Samples):
        return read_argument(robot, "state_dot", "tau", torque(t))
    if isinstance(torque, Sampled):
        raise ShapeError(
            "state_dot: cr.Sampled holds its torque between samples, which a function of (t, x) cannot; use "
            "robot.simulate, or pass the law itself"
        )
    if isinstance(torque, type):
        raise ShapeError(f"state_dot: torque is the class {torque.__name__}; make an object of it")
    if is_controller(torque):
        return _controller_torque(robot, t, q, qd, torque)
    value = torque(t, q, qd) if callable(torque) else torque
    return read_argument(robot, "state_dot", "tau", value)


def _controller_torque(robot: Mechanism, t: float, q: Array, qd: Array, controller: Any) -> Array:
    """The law of a controller, compiled."""
    refuse_other_robot(controller, robot, "state_dot")
    source = ControllerSource(controller, robot.nv)
    if source.states:
        raise ShapeError(
            f"state_dot: a {type(controller).__name__} has internal states, for which x = (q, qd) has no room; "
            "use robot.simulate, which integrates them"
        )

    signals = np.asarray(source.signals(np.array([float(t)]), q, qd))[..., 0, :]
    arrays = together({"x": q, "qd": qd, "t": signals, "parameters": source.parameters}, "state_dot")
    ends = np.cumsum([array.shape[-1] for array in arrays]).tolist()

    def torque_of(given: list[Scalar]) -> list[Scalar]:
        position, velocity, known, parameters = (given[a:b] for a, b in pairwise([0, *ends]))
        return list(source.compute(position, velocity, [], known, parameters)[0])

    backend = active(backend_of(robot))
    key = (merged_fingerprint(robot), source.fingerprint, "torque") if backend.compiles else ()
    law = backend.function(Traceable(torque_of, key, robot.name, "torque"), ends[-1:])
    return law(np.concatenate(arrays, axis=-1))
