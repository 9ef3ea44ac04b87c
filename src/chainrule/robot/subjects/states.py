"""`robot.states`: states by the names of joints, and in the order of other programs."""

from __future__ import annotations

from chainrule.core.subject import RobotSubject, method
from chainrule.kinematics import configurations, elastic_joints, named_states, orders


class States(RobotSubject):
    """States in other forms: dictionaries, tables, the order of another program, rates of coordinates."""

    by_name = method(named_states.by_name)
    to_pandas = method(named_states.to_pandas)
    to_xarray = method(named_states.to_xarray)
    reorder = method(orders.reorder)
    order_of = method(orders.order_of)
    link_side = method(elastic_joints.link_side)
    motor_side = method(elastic_joints.motor_side)
    on_springs = method(elastic_joints.on_springs)
    coordinate_rates = method(configurations.coordinate_rates)
