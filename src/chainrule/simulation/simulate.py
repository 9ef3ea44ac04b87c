"""simulate: the motion of a robot from a start, under torques and wrenches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from chainrule.arguments import is_lazy
from chainrule.calls import explains_arguments
from chainrule.core.at import takes_parameters, unbind
from chainrule.core.mechanism import Mechanism

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.simulation.device import Device
    from chainrule.simulation.impacts import Impacts, Stops
    from chainrule.simulation.integrators import Integrator
    from chainrule.simulation.sampled import Torque
    from chainrule.simulation.trajectory import Trajectory


@takes_parameters
@explains_arguments
def simulate(
    robot: Mechanism,
    q0: ArrayLike,
    qd0: ArrayLike | None = None,
    duration: float = 1.0,
    torque: Torque = None,
    *,
    integrator: str | Integrator = "rk4",
    dt: float | None = None,
    tip_wrench: Torque = None,
    external: Mapping[str, Torque] | None = None,
    frame: str = "world",
    prescribed: Mapping[str, Any] | None = None,
    stops: Stops | Impacts | None = None,
    events: Any = None,
    record: int = 1,
    loops: str = "projection",
    limits: bool = True,
    torque_limits: bool = True,
    diverged: str = "raise",
    progress: bool | None = None,
    device: str | None = None,
    dtype: Any = None,
) -> Trajectory:
    """The motion from a start (q0, qd0), for every row of a batch of starts.

    Dry friction holds joints at rest. Everything runs as machine code, unless a torque or a wrench is a function that
    only Python can call, or the integrator chooses its steps.

    Parameters
    ----------
    q0, qd0
        Configurations (..., nq) and velocities (..., n) at the start; None for at rest. A start with open loops
        is moved to the next one with closed loops, and a warning says how far.
    duration
        The length of the motion, in s.
    torque
        None, numbers (..., n), cr.Samples or a pair (t, values), a function of (t, q, qd), such a function marked
        cr.traceable so that it is compiled, a controller, or cr.Sampled(law, period) of one of the last three.
    integrator
        An integrator with its options, such as cr.RK4(dt=1e-3) or cr.DOP853(rtol=1e-10). In short its name, with the
        options as they are by default: "euler", "semi_implicit_euler", "rk4" or "implicit_midpoint" with steps of dt;
        "dop853", "radau" or "lsoda", which choose their steps to keep the error below rtol and atol.
    dt
        With a name: the step, or the interval between samples for an integrator that chooses its steps, in s; 1e-3 by
        default.
    tip_wrench, external
        The wrench (moment, force) that the end-effector applies to its surroundings, and a dictionary of wrenches that
        the world applies to links; the moment is about the origin of the tip or link. The same kinds as torque, but
        controllers.
    frame
        The axes of these wrenches: "world", those of the base, in which a constant force keeps its direction; "body",
        those of the link, which turn with it; "space", those of the base, with moments about its origin.
    prescribed
        Joints whose motion is given: {"crank": 10.0}, a constant speed in rad/s or m/s from where it starts;
        {"crank": lambda t: 0.3 * np.sin(5 * t)}, the position as a function of time in plain arithmetic, or one that
        returns (q, qd, qdd); or a pair (t, q) of samples, with a cubic spline through them. The torque that each needs
        is its `tau` in the result, whatever `torque` says and beyond its effort limit too. A start that does not fit
        is moved there, with a warning.
    stops
        What happens at the position limits: cr.Stops(stiffness, damping), cr.Impacts(restitution), or nothing.
    events
        One or several cr.Event or cr.Touch, or functions of (t, q, qd), at which the motion stops or which it records.
    record
        Every how many intervals dt a sample is kept.
    loops
        How loops are kept closed: "projection" after every step, "baumgarte", or "none".
    limits
        Refuse a start outside the position limits.
    torque_limits
        Torques saturate at the joints' effort limits.
    diverged
        "raise" an error where a motion diverges, or "keep" the other rows of a batch going.
    progress
        Show a progress bar; None for on a terminal only.
    device
        "cuda", or "cuda:1": all steps are taken on a graphics processor, a thread for each motion. Arrays of NumPy are
        sent there, and the result comes back. With q0 and qd0 of CuPy, PyTorch or JAX there, the result is a
        DeviceTrajectory, whose arrays stay there. Refused: torques that only Python can compute, events,
        integrators that choose or iterate their steps, and dry friction or stops with methods of order 2 and more.
    dtype
        "float32" or "float64", the numbers on the device: those of q0 unless given.

    Returns
    -------
    Trajectory
        Times, states, accelerations, torques, friction and work of the motion. With Dask arrays among q0, qd0, torque
        and bound parameters, a LazyTrajectory of Dask arrays, with a task for each chunk of the batch.

    Numbers that are bound by `robot.at({...})` are those of what moves, for all rows or for each: their batch
    broadcasts with that of q0, so that a sweep over a thousand bodies is one batch of one compiled loop. A controller
    keeps the parameters of the robot that it was made for.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.simulate([0.0, 0.0], None, 0.5, integrator=cr.RK4(dt=1e-2))
    <Trajectory of 'planar_2r': 51 samples, 0 to 0.5 s, rk4, finished>
    """
    options: dict[str, Any] = {
        "duration": duration, "integrator": integrator, "dt": dt, "tip_wrench": tip_wrench, "external": external,
        "frame": frame, "prescribed": prescribed, "stops": stops, "events": events, "record": record, "loops": loops,
        "limits": limits, "torque_limits": torque_limits, "diverged": diverged, "progress": progress,
    }  # fmt: skip
    robot, parameters = unbind(robot)
    if has_lazy(q0, qd0, torque, parameters):
        from chainrule.simulation.dask_batches import simulate_lazily

        lazy: Any = simulate_lazily(robot, q0, qd0, torque, parameters, options, device)
        return lazy
    from chainrule.simulation.run import read_request, run_request

    place = _read_device(device, dtype)
    asked, there = read_request(robot, q0, qd0, torque, parameters, place, **options)
    if place is not None:
        from chainrule.simulation.device import simulate_on_device

        result: Any = simulate_on_device(asked, asked.integrator, there, place, asked.limits)
        return result
    return run_request(asked)


def has_lazy(q0: Any, qd0: Any, torque: Any, parameters: Any) -> bool:
    """Whether any of what may be a batch is a Dask array."""
    numbers = parameters.values() if isinstance(parameters, Mapping) else ()
    return any(is_lazy(value) for value in (q0, qd0, torque, *numbers))


def _read_device(device: Any, dtype: Any) -> Device | None:
    """The device that is asked for, None for the CPU."""
    if device is None and dtype is None:
        return None
    from chainrule.simulation.device import read_device

    return read_device(device, dtype)
