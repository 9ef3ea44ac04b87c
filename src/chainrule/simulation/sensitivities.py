"""sensitivities: a motion and its derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from chainrule.algorithms.loads import WRENCH_FRAMES
from chainrule.arguments import one_of
from chainrule.calls import explains_arguments
from chainrule.core.at import takes_parameters, unbind
from chainrule.core.evaluation import require
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameters import read_parameters, refuse_moving
from chainrule.errors import ModelError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.simulation.integrators import Integrator
    from chainrule.simulation.motion_derivatives import Sensitivities
    from chainrule.simulation.sampled import Torque


@takes_parameters
@explains_arguments
def sensitivities(
    robot: Mechanism,
    q0: ArrayLike,
    qd0: ArrayLike | None = None,
    duration: float = 1.0,
    torque: Torque = None,
    *,
    integrator: str | Integrator = "rk4",
    dt: float | None = None,
    external: Mapping[str, Torque] | None = None,
    frame: str = "world",
    torque_limits: bool = True,
    device: str | None = None,
    dtype: Any = None,
) -> Sensitivities:
    """The motion that `simulate` computes, and its derivatives.

    Steps are of fixed length. Friction without jumps (viscous, Stribeck's curve without dry friction) is differentiated
    along; dry friction, stops and functions that only Python can call are refused.

    Parameters
    ----------
    q0, qd0, duration, torque, integrator, dt
        As in simulate. The duration is a whole number of steps.
    external, frame, torque_limits
        As in simulate. Where a torque saturates, nothing depends on it.
    device, dtype
        As in simulate: with device="cuda", the motion and its adjoint are computed on a graphics processor, each by one
        kernel. With q0 and qd0 there, the gradients stay there.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> motion = arm.sensitivities([0.3, 0.2], None, 0.5, [1.0, 0.0], dt=0.01)
    >>> dq, dqd = motion.forward(["qd0"])["qd0"]
    >>> motion.q.shape, dq.shape
    ((51, 2), (51, 2, 2))
    >>> gradient = motion.adjoint(dq=[[0, 0]] * 50 + [[1, 0]])  # of the first angle at the end
    >>> bool(abs(gradient["qd0"] - dq[-1, 0]).max() < 1e-12)
    True
    """
    from chainrule.simulation.integrators import FixedStep, choose_integrator
    from chainrule.simulation.motion_derivatives import Sensitivities
    from chainrule.simulation.request import SimulationRequest, SourceReader, read_duration, read_start

    robot, parameters = unbind(robot)
    require(robot, "forward_dynamics")
    if not robot.nv:
        raise ModelError(f"sensitivities: robot {robot.name!r} has no degrees of freedom, so that nothing moves")
    chosen = choose_integrator(integrator, dt)
    if not isinstance(chosen, FixedStep):
        raise ShapeError(f"sensitivities: {chosen.name} chooses its steps; take one of fixed steps, such as 'rk4'")
    bound = read_parameters(robot.model, "sensitivities", parameters)
    refuse_moving(robot.model, bound, "sensitivities")
    place = None
    if device is not None or dtype is not None:
        from chainrule.simulation.device import read_device, read_device_start

        place = read_device(device, dtype, "sensitivities")
    if place is None:
        start = read_start(robot, q0, qd0, False, None, bound)
    else:
        start, there = read_device_start(robot, q0, qd0, place, False, None, bound)
    sources = SourceReader(robot, start.batch)
    request = SimulationRequest(
        robot=robot,
        start=start,
        duration=read_duration(duration, chosen.dt),
        integrator=chosen,
        torque=sources.torque(torque, within_limits=torque_limits),
        wrenches=sources.wrenches(None, external),
        wrench_frame=one_of(WRENCH_FRAMES, frame, "frame"),
        torque_limits=torque_limits,
        bound=bound,
    )
    if place is not None:
        from chainrule.simulation.device_derivatives import DeviceSensitivities

        return DeviceSensitivities(request, chosen, there, place.number)
    return Sensitivities(request, chosen)
