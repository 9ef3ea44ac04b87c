"""The rate of a robot's state, for an ODE solver of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.algorithms.loads import WRENCH_FRAMES
from chainrule.arguments import Array, flag, number, one_of, rows_of
from chainrule.core.at import reads_model
from chainrule.core.declaration import composition
from chainrule.core.derived import backend_of, remember
from chainrule.core.evaluation import evaluate
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_argument, refuse_zero_quaternions
from chainrule.dynamics.dynamics import forward_dynamics, friction_torque
from chainrule.errors import ModelError, ShapeError, quoted
from chainrule.loops.constraints import residual as constraint_residual
from chainrule.model import edits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MAX_OPENING = 1e-3
"""The residual of loops, in m or without unit, beyond which a state is none of the robot."""


@reads_model
@composition()
def state_dot(
    robot: Mechanism,
    t: float,
    x: ArrayLike,
    torque: Any = None,
    *,
    smoothing: float | None = None,
    torque_limits: bool = True,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
    out: Array | None = None,
) -> Array:
    """The rate dx/dt of the state x = (q, qd), for any ODE solver: (dq/dt, qdd), (..., nq + n).

    `solve_ivp(robot.textbook.state_dot, (0.0, 2.0), x0, args=(torque,))` integrates a motion with SciPy. `simulate`
    does more: it holds joints by dry friction, keeps loops closed to rounding, knows stops, and runs as machine code.

    Parameters
    ----------
    t
        The time, in s.
    x
        The state (..., nq + n): q, then qd. Quaternions in q may have any length but zero; dq/dt leaves it as it is.
    torque
        None, numbers (..., n), by name too, cr.Samples, a function of (t, q, qd), or a controller without internal
        states.
    smoothing
        With dry friction: the speed, in rad/s or m/s, within which it rises from nothing, as tanh(|qd| / smoothing).
        Joints then creep instead of sticking. With 0 it jumps, and holds joints whose speed is exactly zero: a solver
        takes very small steps where a joint turns back. Without it, robots with dry friction are refused.
    torque_limits
        Torques saturate at the joints' effort limits, as in simulate.
    tip_wrench, external, frame
        Constant wrenches, as in forward_dynamics.

    With closed loops, the accelerations keep them closed; a solver lets them come open slowly, as its tolerance says.
    A state whose loops are open is refused.

    >>> import numpy as np
    >>> from scipy.integrate import solve_ivp
    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> motion = solve_ivp(arm.textbook.state_dot, (0.0, 0.5), np.zeros(4), rtol=1e-9, atol=1e-9)
    >>> motion.y[:2, -1].round(5), arm.simulate([0.0, 0.0], None, 0.5).q[-1].round(5)
    (array([-1.00032,  0.6334 ]), array([-1.00032,  0.6334 ]))
    """
    nq, n = robot.nq, robot.nv
    state = rows_of(x, nq + n, "state_dot: x", "q and qd")
    q, qd = state[..., :nq], state[..., nq:]
    if robot.model.quaternions:
        refuse_zero_quaternions(robot, q, "state_dot: x")
        q = evaluate(robot, "integrate", q=q, v=np.zeros(n))
    if robot.model.constraints:
        _refuse_open_loops(robot, q)
    if smoothing is not None:
        smoothing = _smoothing(smoothing)
    one_of(WRENCH_FRAMES, frame, "frame")
    time = t if type(t) is float else number(t, "state_dot: t", "s")
    tau = _torque(robot, time, q, qd, torque)
    if flag(torque_limits, "state_dot: torque_limits"):
        tau = _saturate(robot, tau)
    qdd = _accelerations(robot, q, qd, tau, smoothing, tip_wrench, external, frame)
    rates = evaluate(robot, "states.coordinate_rates", q=q, v=qd) if nq != n else qd
    return np.concatenate([np.broadcast_to(rates, (*qdd.shape[:-1], nq)), qdd], axis=-1)


def _accelerations(robot: Mechanism, q: Array, qd: Array, tau: Array, smoothing: float | None, *wrenches: Any) -> Array:
    """Forward dynamics with dry friction as is asked for."""
    tip_wrench, on_links, frame = wrenches
    loads: dict[str, Any] = {}
    if tip_wrench is not None or on_links is not None:
        loads = {"tip_wrench": tip_wrench, "external": on_links, "frame": frame}
    rubbing = remember(robot, "joints with dry friction", lambda: _names_with_dry_friction(robot))
    if not rubbing or smoothing == 0:
        single: Callable[..., Array] = getattr(robot, "forward_dynamics", None) or (
            lambda *state, **options: forward_dynamics(robot, *state, **options)
        )  # on one state the method of a robot is machine code
        return single(q, qd, tau, **loads, stick=True) if rubbing else single(q, qd, tau, **loads)
    if smoothing is None:
        raise ModelError(
            f"state_dot: joints {quoted(rubbing)} of robot {robot.name!r} have dry friction, which jumps where "
            "a joint turns back, so that an ODE solver stalls there. Pass smoothing=0.01, a speed in rad/s or m/s in "
            "which friction rises, or smoothing=0 for the jump itself; or use robot.simulate, which holds joints"
        )
    smooth = remember(
        robot,
        "without dry friction",
        lambda: type(robot)(edits.without_dry_friction(robot.model), backend_of(robot)),
    )
    position = q if robot.model.friction_depends_on_position else None
    rest = q if smooth.model.friction_depends_on_position else None
    dry = friction_torque(robot, qd, position) - friction_torque(smooth, qd, rest)
    return forward_dynamics(smooth, q, qd, tau - dry * np.tanh(np.abs(qd) / smoothing), **loads)


def _smoothing(value: float) -> float:
    """A speed that is zero or more."""
    speed = number(value, "state_dot: smoothing")
    if not 0 <= speed < np.inf:
        raise ShapeError(f"state_dot: smoothing must be a speed, 0 or more, got {speed:g}")
    return speed


def _names_with_dry_friction(robot: Mechanism) -> tuple[str, ...]:
    return tuple(joint.name for joint in robot.model.joints if any(dof.has_dry_friction for dof in joint.dofs))


def _refuse_open_loops(robot: Mechanism, q: Array) -> None:
    """An error where the loops of a state are open."""
    gap = np.abs(constraint_residual(robot, q)).max(initial=0.0)
    if gap > MAX_OPENING:
        raise ShapeError(
            f"state_dot: the loops of robot {robot.name!r} are open by {gap:.2g} (m, or without unit for "
            "directions); start from q = robot.loops.close(q) and qd = robot.loops.consistent_velocity(q, qd), and "
            "tighten the solver's tolerances, or use robot.simulate, which keeps loops closed"
        )


def _saturate(robot: Mechanism, tau: Array) -> Array:
    """Torques cut off at the effort limits; a torque where nothing can act is refused."""
    effort = robot.limits.effort
    passive = (effort == 0) & (tau != 0)
    if passive.any():
        name = robot.velocity_names[int(np.argwhere(passive)[0][-1])]
        raise ShapeError(
            f"state_dot: joint {name!r} has an effort limit of 0, so that no torque can act there; give it "
            "none, or pass torque_limits=False"
        )
    return np.clip(tau, -effort, effort) if np.isfinite(effort).any() else tau


def _torque(robot: Mechanism, t: float, q: Array, qd: Array, torque: Any) -> Array:
    """The torques in a state, from all that a user may pass."""
    if torque is None:
        return np.zeros(robot.nv)
    if isinstance(torque, (np.ndarray, list)):
        return read_argument(robot, "state_dot", "tau", torque)
    from chainrule.simulation.state_torque import torque_of  # controllers and samples are heavy to import

    return torque_of(robot, t, q, qd, torque)
