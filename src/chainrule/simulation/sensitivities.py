"""sensitivities: a motion and its derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from chainrule.calls import explains_arguments
from chainrule.core.at import takes_parameters, unbind
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ShapeError

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
    from chainrule.simulation.integrators import FixedStep
    from chainrule.simulation.motion_derivatives import Sensitivities
    from chainrule.simulation.run import read_request

    robot, parameters = unbind(robot)
    place = None
    if device is not None or dtype is not None:
        from chainrule.simulation.device import read_device

        place = read_device(device, dtype, "sensitivities")
    request, there = read_request(
        robot, q0, qd0, torque, parameters, place, caller="sensitivities", duration=duration, integrator=integrator,
        dt=dt, external=external, frame=frame, limits=False, torque_limits=torque_limits,
    )  # fmt: skip
    chosen = request.integrator
    if not isinstance(chosen, FixedStep):
        raise ShapeError(f"sensitivities: {chosen.name} chooses its steps; take one of fixed steps, such as 'rk4'")
    if place is not None:
        from chainrule.simulation.device_derivatives import DeviceSensitivities

        return DeviceSensitivities(request, chosen, there, place.number)
    return Sensitivities(request, chosen)
