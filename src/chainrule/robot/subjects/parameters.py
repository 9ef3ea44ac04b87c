"""`robot.parameters`: the numbers in which a robot's torques are linear."""

from __future__ import annotations

from chainrule.arguments import Array
from chainrule.core.subject import RobotSubject, method
from chainrule.parameters import regressor as regression
from chainrule.parameters import vector


class Parameters(RobotSubject):
    """Masses, inertias, rotors, friction and springs as one vector p with tau = Y(q, qd, qdd) p."""

    @property
    def values(self) -> Array:
        """The parameters p: (p,). See `chainrule.parameters.vector`."""
        return vector.values(self.robot)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each parameter: "forearm.mass", "forearm.mcx", "forearm.Ixx", "elbow.viscous"."""
        return vector.names(self.robot)

    indices = method(vector.indices)
    with_values = method(vector.with_values)
    regressor = method(regression.regressor)
    base = method(regression.base)
